import Foundation
import NTGraph
import NTTensor
import TestSupport
import XCTest

final class OperatorGoldenTests: XCTestCase {
    /// One rounding to float32 at the store of a result in double precision.
    private static let tolerance = Tolerance(relative: 1.2e-7, absolute: 1e-12)

    func testOperatorsGiveTheResultsOfNumPyAndPyTorch() throws {
        let goldens = try OperatorGolden.load()
        XCTAssertGreaterThan(goldens.count, 200)
        for (index, golden) in goldens.enumerated() {
            let op = try golden.makeOperator()
            let what = "\(index) \(golden.kind) \(op.attributeText)"
            let inputs = try golden.inputTensors()
            let types = try op.outputTypes(for: inputs.map(\.type))
            XCTAssertEqual(types, golden.outputs.map { .float32(Shape($0.shape)) }, what)
            let results = try op.evaluate(inputs)
            XCTAssertEqual(results.map(\.type), types, what)
            for (result, expected) in zip(results, golden.outputs) {
                let values = expected.values.map { Float($0.value) }
                XCTAssertEqual(Self.tolerance.mismatches(result.floatArray(), expected: values, what: what), [])
            }
        }
    }

    func testEveryOperatorHasGoldensAndCases() throws {
        let goldens = Set(try OperatorGolden.load().map(\.kind))
        for kind in OperatorCatalogue.kinds {
            XCTAssertTrue(goldens.contains(kind), "\(kind) lacks a golden in make_operators.py")
            XCTAssertGreaterThan(OperatorCases.covering(kind).count, 1, "\(kind) lacks cases in OperatorCases")
        }
        XCTAssertEqual(Set(OperatorCatalogue.kinds).count, OperatorCatalogue.kinds.count)
    }

    /// A type that conforms to `Operator` and is missing in the catalogue would escape the tests above.
    func testTheCatalogueIsComplete() throws {
        let folder = Fixtures.root.appendingPathComponent("Sources/NTGraph/Operators")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let pattern = try NSRegularExpression(pattern: #"struct (\w+): Operator\b"#)
        var declared: Set<String> = []
        for file in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            for match in pattern.matches(in: text, range: NSRange(text.startIndex..., in: text)) {
                if let range = Range(match.range(at: 1), in: text) { declared.insert(String(text[range])) }
            }
        }
        XCTAssertEqual(declared, Set(OperatorCatalogue.kinds))
    }

    /// Every function of one and of two arguments is among the goldens.
    func testEveryFunctionHasAGolden() throws {
        let goldens = try OperatorGolden.load()
        let unary = Set(try goldens.filter { $0.kind == "Unary" }.map { try $0.attributes.text("function") })
        let binary = Set(try goldens.filter { $0.kind == "Binary" }.map { try $0.attributes.text("function") })
        XCTAssertEqual(binary, Set(BinaryFunction.allCases.map(\.rawValue)))
        XCTAssertTrue(unary.isSuperset(of: GoldenAttributes.plainFunctions.map(\.description)))
        let source = try String(contentsOf: Fixtures.root.appendingPathComponent("Sources/NTGraph/UnaryFunction.swift"), encoding: .utf8)
        var declared: Set<String> = []
        for line in source.split(separator: "\n") where line.hasPrefix("    case ") && !line.contains(":") {
            let names = line.dropFirst(9).replacingOccurrences(of: #"\([^)]*\)"#, with: "", options: .regularExpression)
            declared.formUnion(names.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        XCTAssertEqual(declared, unary)
    }
}
