import Foundation
import XCTest

/// `needletail-bench choice` on this machine: the chosen kernels are the fastest, or nearly so, for the benchmark networks' products; and `kernels`.
final class KernelChoiceTests: XCTestCase {
    private let program = Tool.executable.deletingLastPathComponent().appendingPathComponent("needletail-bench")

    /// What needs more than one kernel to choose from, by what the processor says of itself.
    private func arithmetic() throws -> [String] {
        let flags = Set(try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8).split(whereSeparator: \.isWhitespace))
        return ["float32"] + (flags.contains("avx512_bf16") ? ["bfloat16"] : []) + (flags.contains("avx512_fp16") ? ["float16"] : [])
    }

    /// Every arithmetic has its kernels, its peak and one mark; times are never zero, however small the product.
    func testKernelsAreListedByArithmetic() throws {
        for (sizes, hasStrassen) in [(["1", "1", "1"], false), (["196", "512", "512"], true), (["7", "5", "3"], false)] {
            let result = try Tool.run(["kernels"] + sizes, program: program)
            XCTAssertEqual(result.status, 0, result.errors)
            let parts = result.output.components(separatedBy: "\n\n").dropFirst().map { $0.split(separator: "\n") }
            XCTAssertEqual(parts.compactMap { $0.first?.split(separator: ",").first.map(String.init) }, try arithmetic())
            for (part, name) in zip(parts, try arithmetic()) {
                let strassen = part.first { $0.hasPrefix("strassen") }
                if name == "float32" { XCTAssertEqual(strassen != nil, hasStrassen, result.output) }
                let plain = part.dropFirst().filter { !$0.hasPrefix("strassen") }
                XCTAssertEqual(plain.filter { $0.contains("<-") }.count, 1, result.output)
                for row in part.dropFirst() {
                    let time = row.components(separatedBy: " us").first?.split(separator: " ").last.flatMap { Double($0) }
                    XCTAssertGreaterThan(try XCTUnwrap(time), 0, String(row))
                }
            }
        }
    }

    /// OpenBLAS is not bound by the ceiling, and so not held to what is left under it.
    func testOpenBLASIsHeldToTheProcessorsPeak() throws {
        let result = try Tool.run(["kernels", "256", "256", "256"], environment: ["NEEDLETAIL_MAX_ISA": "portable"], program: program)
        let row = try XCTUnwrap(result.output.split(separator: "\n").first { $0.hasPrefix("OpenBLAS") })
        let percent = row.components(separatedBy: " %").first?.split(separator: " ").last.flatMap { Double($0) }
        XCTAssertLessThan(try XCTUnwrap(percent), 115, String(row))
        XCTAssertTrue(row.contains("not bound by NEEDLETAIL_MAX_ISA"), String(row))
    }

    func testWrongWordsAreNamed() throws {
        for (words, text) in [
            (["kernels"], "found 0"), (["kernels", "1", "2", "3", "4"], "found 4"), (["kernels", "0", "1", "1"], "M: expected"),
            (["kernels", "1", "-1", "1"], "N: expected"), (["kernels", "1", "1", "99999999999999999999"], "K: expected"),
            (["kernels", "1", "1", "two"], "found 'two'"), (["kernels", "1", "1", ""], "found ''"),
            (["kernels", "1048576", "1048576", "1048576"], "multiply-adds"), (["kernels", "1048576", "1024", "1"], "three matrices"),
            (["peak", "x"], "found 'x'"), (["layers", "mobilenet_v1", "alexnet"], "the networks are"),
            (["layers", "mobilenet_v1", "--threads", "1000000000"], "--threads"), (["layers", "mobilenet_v1", "--seconds", "inf"], "--seconds"),
            (["choice", "alexnet"], "mobilenet_v1"),
        ] {
            let result = try Tool.run(words, program: program)
            XCTAssertEqual(result.status, 2, "\(words)")
            XCTAssertTrue(result.errors.contains(text), "\(words): \(result.errors)")
        }
    }

    /// Kernels are timed in turns and the best rounds compared, at length where the choice looks wrong. Neighbours' work can still hit one kernel each
    /// time, so the whole is tried again before it fails.
    func testChosenKernelsAreWithinATenthOfTheFastest() throws {
        var last = ""
        for _ in 0..<3 {
            let result = try Tool.run(["choice"], program: program)
            XCTAssertFalse(result.wasKilled, result.errors)
            let lines = result.output.split(separator: "\n")
            XCTAssertGreaterThan(lines.count, 40, result.output)
            for name in try arithmetic() { XCTAssertTrue(lines.contains { $0.hasPrefix("\(name), ") }, "\(name) is not looked at") }
            if result.status == 0 { return }
            if try !isCalibrated(), worstRatio(result.output) < 1.5 { return }
            last = result.output.split(separator: "\n").filter { $0.contains("wrong") }.joined(separator: "\n") + result.errors
        }
        XCTFail(last)
    }

    /// Whether this is a processor of the make that the estimates in `gemm.c` were fitted to. On others, whose ports for loads and multiplications
    /// differ, they have not been measured, and the choice is held to half as long again as the fastest.
    private func isCalibrated() throws -> Bool { try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8).contains("AuthenticAMD") }

    /// The largest ratio among the products marked as wrong.
    private func worstRatio(_ output: String) -> Double {
        let ratios = output.split(separator: "\n").filter { $0.contains("<- wrong") }.compactMap { line in
            line.replacingOccurrences(of: "<- wrong", with: "").split(separator: " ").last.flatMap { Double($0) }
        }
        return ratios.max() ?? .infinity
    }
}
