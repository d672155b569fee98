import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// Depthwise and 1x1 convolutions in one kernel.
final class SeparableTests: XCTestCase {
    /// A depthwise convolution, its 1x1 reader and a copy of that; inputs of the image, and of the residual when there is one.
    static func pair(
        channels: Int, outputs: Int, height: Int, width: Int, stride: Int, kernel: Int, residual: Bool, batch: Int = 1, seed: UInt64 = 3
    ) throws -> DeviceCase {
        let edge = kernel / 2
        let size = (height: (height + 2 * edge - kernel) / stride + 1, width: (width + 2 * edge - kernel) / stride + 1)
        let shapes = [Shape([batch, channels, height, width])] + (residual ? [Shape([batch, outputs, size.height, size.width])] : [])
        let padding = Padding2D(top: edge, left: edge, bottom: edge, right: edge)
        let name = "separable \(channels) to \(outputs), \(height)x\(width), stride \(stride), kernel \(kernel), batch \(batch)"
        return try DeviceCase(name, shapes, seed: seed) { builder, inputs, numbers in
            // What is added is a convolution's result that nothing else reads, so that the sum may take its place.
            let shortcut =
                try residual
                ? builder.add(
                    Convolution(), inputs[1], try builder.constant(try numbers.tensor(Shape([outputs, outputs, 1, 1]))), layer: "shortcut")
                : inputs[0]
            let start = try builder.add(Unary(.linear(2, 0.25)), inputs[0], layer: "before")
            let depthwise = try builder.add(
                Convolution(
                    strides: Size2D(stride, stride), padding: padding, groups: channels, hasBias: true,
                    activation: residual ? .relu : .clip(-0.5, 0.75)),
                start, try builder.constant(try numbers.tensor(Shape([channels, 1, kernel, kernel]))),
                try builder.constant(try numbers.tensor(Shape([channels]))), layer: "depthwise")
            let weights = try builder.constant(try numbers.tensor(Shape([outputs, channels, 1, 1])))
            guard residual else { return [try builder.add(Convolution(activation: .relu), depthwise, weights, layer: "pointwise")] }
            let bias = try builder.constant(try numbers.tensor(Shape([outputs])))
            let sum = try builder.add(Convolution(hasBias: true, hasResidual: true), depthwise, weights, bias, shortcut, layer: "pointwise")
            return [try builder.add(Unary(.abs), sum, layer: "after")]
        }
    }

    static func results(_ item: DeviceCase, _ entry: DeviceFixture.Entry, fused: Bool, precision: Precision = .float32) throws -> (
        values: [Tensor], layers: [[String]]
    ) {
        var features = DeviceFeatures(fusesSeparable: fused)
        features.leastSeparableWork = 0
        let backend = try OpenCLBackend(
            device: entry.backend.device, family: entry.backend.style.family, cache: DeviceFixture.cache, tuning: TuningTable(),
            features: features)
        let plan = try ExecutionPlan(item.graph, backend: backend, options: CompileOptions(precision: precision))
        return (try compute(plan, try plan.makeState(), inputs: item.inputs), plan.steps.map(\.step.layers))
    }

    /// Rows that runs divide and do not, channels of several vector widths, images across borders, batches, residuals whose memory the sum takes.
    func testPairs() throws {
        var cases: [(DeviceCase, Bool)] = []
        for (channels, outputs, height, width, stride, kernel) in [
            (16, 16, 15, 20, 1, 3), (16, 1, 14, 14, 1, 3), (48, 17, 29, 40, 2, 3), (80, 40, 21, 10, 1, 3), (272, 33, 15, 29, 1, 5),
        ] {
            for residual in [false, true] {
                cases.append(
                    (
                        try Self.pair(
                            channels: channels, outputs: outputs, height: height, width: width, stride: stride, kernel: kernel, residual: residual,
                            batch: width == 14 ? 2 : 1), true
                    ))
            }
        }
        // Too small, too much left over, no whole vector of channels, too many channels.
        for (channels, height, width) in [(16, 13, 13), (16, 20, 16), (24, 14, 20), (528, 14, 14)] {
            cases.append(
                (try Self.pair(channels: channels, outputs: 9, height: height, width: width, stride: 1, kernel: 3, residual: true), false))
        }
        for entry in try DeviceFixture.entries.get() {
            let style = entry.backend.style
            for (item, isWorth) in cases {
                let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
                let (fused, apart) = (try Self.results(item, entry, fused: true), try Self.results(item, entry, fused: false))
                XCTAssertFalse(apart.layers.contains(["depthwise", "pointwise"]))
                // Narrower vectors have runs of their own.
                if style.family == .manyCores || style.vectorWidth == 16 {
                    XCTAssertEqual(
                        fused.layers.contains(["depthwise", "pointwise"]), isWorth && style.family == .wideCores, "\(item.name) on \(entry.name)")
                }
                assertEqual(fused.values[0], expected[0], "\(item.name) on \(entry.name)")
                if entry.backend.device.storesHalfPrecision {
                    let half = try Self.results(item, entry, fused: true, precision: .float16)
                    assertEqual(half.values[0], expected[0], tolerance: 0.01, "\(item.name) in half precision on \(entry.name)")
                }
                XCTAssertEqual(fused.values[0].floatArray(), apart.values[0].floatArray(), "\(item.name) on \(entry.name)")
            }
        }
    }

    /// Small layers are left alone unless asked for.
    func testSmallLayersAreNotFused() throws {
        let item = try Self.pair(channels: 16, outputs: 16, height: 15, width: 20, stride: 1, kernel: 3, residual: false)
        let device = try DeviceFixture.backend().device
        let backend = try OpenCLBackend(device: device, cache: DeviceFixture.cache, features: DeviceFeatures(fusesSeparable: true))
        XCTAssertTrue(try ExecutionPlan(item.graph, backend: backend).steps.allSatisfy { $0.step.layers.count == 1 })
    }

    /// What a table says decides, against what would be done without it; another shape's entry does not. The table survives its file.
    func testAStoredChoiceIsTaken() throws {
        let small = try Self.pair(channels: 16, outputs: 16, height: 15, width: 20, stride: 1, kernel: 3, residual: true)
        let expected = try ReferenceBackend.evaluate(small.graph, inputs: small.inputs)
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == .wideCores && entry.backend.style.vectorWidth == 16 {
            let key = "1x15x20 16x16 3x3 1x1 float"
            for (least, stored, isFused) in [
                (0, "{\"\(key)\":false}", false), (.max, "{\"\(key)\":true}", true), (0, "{}", true), (.max, "{}", false),
                (0, "{\"2x15x20 16x16 3x3 1x1 float\":false}", true),
            ] {
                var features = DeviceFeatures(fusesSeparable: true)
                features.leastSeparableWork = least
                let table = try JSONDecoder().decode(TuningTable.self, from: Data("{\"tiles\":{},\"fusions\":\(stored)}".utf8))
                XCTAssertEqual(try JSONDecoder().decode(TuningTable.self, from: try JSONEncoder().encode(table)), table)
                let backend = try OpenCLBackend(
                    device: entry.backend.device, family: .wideCores, cache: DeviceFixture.cache, tuning: table, features: features)
                let plan = try ExecutionPlan(small.graph, backend: backend)
                let fused = plan.steps.map(\.step).first { $0.layers == ["depthwise", "pointwise"] }
                XCTAssertEqual(fused != nil, isFused, "\(stored) on \(entry.name)")
                if stored.contains("true") { XCTAssertTrue(fused?.choice.hasSuffix("measured on this device to be faster") ?? false) }
                assertEqual(try compute(plan, try plan.makeState(), inputs: small.inputs)[0], expected[0], entry.name)
            }
        }
        // Tables that were written before there were such choices are still good.
        XCTAssertEqual(try JSONDecoder().decode(TuningTable.self, from: Data("{\"tiles\":{}}".utf8)), TuningTable())
    }

    /// The tuner measures a pair both ways, keeps one, and runs take it.
    func testTheTunerChooses() throws {
        let item = try Self.pair(channels: 16, outputs: 16, height: 15, width: 20, stride: 1, kernel: 3, residual: false)
        let entry = try DeviceFixture.entries.get()[0]
        var features = DeviceFeatures(fusesSeparable: true)
        features.leastSeparableWork = .max
        let backend = try OpenCLBackend(
            device: entry.backend.device, family: .wideCores, cache: DeviceFixture.cache, tuning: TuningTable(), features: features)
        let result = try OpenCLTuner(backend).tune(item.graph, secondsPerTile: 0.002)
        let (table, findings, shapeCount) = (result.table, result.findings, result.shapeCount)
        XCTAssertEqual(findings.map(\.layer), ["pointwise", "depthwise + pointwise"])
        XCTAssertEqual(shapeCount, 2)
        XCTAssertTrue(findings.allSatisfy { $0.after > 0 && $0.after <= $0.before })
        let choice = try XCTUnwrap(table.fusions.values.first)
        XCTAssertEqual(table.fusions.count, 1)
        let plan = try ExecutionPlan(item.graph, backend: backend.with(tuning: table))
        XCTAssertEqual(plan.steps.contains { $0.step.layers == ["depthwise", "pointwise"] }, choice)
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        assertEqual(try compute(plan, try plan.makeState(), inputs: item.inputs)[0], expected[0], "tuned")
        // Where fusing is off nothing is measured.
        let off = try OpenCLBackend(
            device: entry.backend.device, family: .wideCores, cache: DeviceFixture.cache, tuning: TuningTable(), features: DeviceFeatures())
        XCTAssertEqual(try OpenCLTuner(off).tune(item.graph, secondsPerTile: 0).table.fusions, [:])
    }

    /// A value that others read, or that is an output, is written.
    func testWhatOthersReadIsNotFused() throws {
        let item = try DeviceCase("read twice", [[1, 16, 14, 14]]) { builder, inputs, numbers in
            let padding = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let filter = try builder.constant(try numbers.tensor([16, 1, 3, 3]))
            let weights = try builder.constant(try numbers.tensor([16, 16, 1, 1]))
            let first = try builder.add(Convolution(padding: padding, groups: 16), inputs[0], filter, layer: "first")
            let second = try builder.add(Convolution(hasResidual: true), first, weights, first, layer: "second")
            let third = try builder.add(Convolution(padding: padding, groups: 16), second, filter, layer: "third")
            return [try builder.add(Convolution(), third, weights, layer: "fourth"), third]
        }
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        for entry in try DeviceFixture.entries.get() {
            let found = try Self.results(item, entry, fused: true)
            XCTAssertTrue(found.layers.allSatisfy { $0.count == 1 })
            for (a, b) in zip(found.values, expected) { assertEqual(a, b, entry.name) }
        }
    }
}
