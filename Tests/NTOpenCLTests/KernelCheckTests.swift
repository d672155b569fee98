import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import TestSupport
import XCTest

/// Each kernel once, on tensors small enough for a simulator. `Scripts/check-opencl-kernels` runs these under oclgrind, which reports accesses out of
/// bounds and races between work-items.
final class KernelCheckTests: XCTestCase {
    /// A graph for each kernel.
    static func cases() throws -> [DeviceCase] {
        let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
        return [
            try DeviceCase(Convolution(strides: Size2D(2, 2), padding: same, hasBias: true), [[1, 3, 5, 4]], constants: [[5, 3, 3, 3], [5]]),
            try DeviceCase(Convolution(padding: same), [[1, 6, 4, 3]], constants: [[17, 6, 3, 3]]),
            try DeviceCase(Convolution(hasBias: true, activation: .relu), [[1, 8, 3, 4]], constants: [[33, 8, 1, 1], [33]]),
            try DeviceCase(Convolution(padding: same, groups: 2), [[1, 4, 3, 3]], constants: [[6, 2, 3, 3]]),
            try DeviceCase(Convolution(padding: same, groups: 8), [[1, 8, 4, 9]], constants: [[8, 1, 3, 3]]),
            try DeviceCase(Convolution(strides: Size2D(3, 3), padding: same, groups: 5), [[1, 5, 7, 7]], constants: [[5, 1, 3, 3]]),
            try DeviceCase(ConvolutionTranspose(strides: Size2D(2, 2)), [[1, 3, 2, 3]], constants: [[3, 5, 3, 3]]),
            try DeviceCase(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: same), [[1, 5, 5, 4]]),
            try DeviceCase(Pool(.average, kernel: Size2D(4, 4)), [[1, 8, 4, 4]]),
            try DeviceCase(Dense(hasBias: true), [[1, 9]], constants: [[7, 9], [7]]),
            try DeviceCase(MatMul(), [[2, 3, 5], [5, 9]]), try DeviceCase(Binary(.add), [[2, 3, 5], [3, 1]]),
            try DeviceCase(Transpose([2, 0, 1]), [[2, 3, 5]]), try DeviceCase(Softmax(axis: 1), [[2, 70]]),
            try DeviceCase(Reduce(.sum, axes: [1]), [[2, 70, 3]]), try DeviceCase(Reduce(.maximum, axes: [0]), [[4, 5]]),
            try DeviceCase(MeanVarianceNormalization(axes: [1, 2], epsilon: 1e-3), [[2, 9, 8]]),
            try DeviceCase(Pool(.average, kernel: Size2D(6, 7)), [[1, 5, 6, 7]]), try DeviceCase(ArgReduce(axis: 1), [[3, 70]]),
            try DeviceCase(ArgReduce(axis: 1), [[3, 6]]), try DeviceCase(TopK(k: 3, axis: 1), [[2, 6]]),
            try DeviceCase(LocalResponseNormalization(size: 3, alpha: 1, beta: 0.5, k: 1), [[1, 5, 2, 2]]),
            try DeviceCase(Resize(.bilinear, to: Size2D(5, 4), coordinates: .halfPixel), [[1, 2, 3, 3]]),
            try DeviceCase(Pad(.reflection, before: [0, 1], after: [0, 2]), [[2, 4]]),
            try DeviceCase(Gather(axis: 0), [[4, 3]], constantValues: [[3, 0, -1]]),
        ]
    }

    func testEveryKernelOnce() throws {
        for item in try Self.cases() {
            let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
            for entry in try DeviceFixture.entries.get() {
                for (a, b) in zip(try compute(item.graph, on: entry.backend, inputs: item.inputs), expected) {
                    assertEqual(a, b, "\(item.name) on \(entry.name)")
                }
            }
        }
    }

    /// The kernels whose places to read and write are data.
    func testPickingKernelsOnce() throws {
        for kind in ["GatherAlongAxis", "GatherND", "Scatter", "CumulativeSum", "ReverseSequence", "CropResize"] {
            let cases = OperatorCases.covering(kind)
            XCTAssertFalse(cases.isEmpty, kind)
            for entry in try DeviceFixture.entries.get() {
                for item in cases { XCTAssertEqual(BackendCheck.run(item, on: entry.backend), [], "\(item.name) on \(entry.name)") }
            }
        }
    }

    func testSeparableKernelOnce() throws {
        let item = try SeparableTests.pair(channels: 16, outputs: 21, height: 14, width: 14, stride: 1, kernel: 3, residual: true)
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == .wideCores {
            let found = try SeparableTests.results(item, entry, fused: true)
            XCTAssertTrue(found.layers.contains(["depthwise", "pointwise"]), entry.name)
            assertEqual(found.values[0], expected[0], entry.name)
        }
    }

    /// Kernels as functions of one launch, which shares them out by itself.
    func testNetworkKernelOnce() throws {
        let item = try SingleLaunchTests.branches()
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        for entry in try DeviceFixture.entries.get() where entry.backend.style.family == .wideCores {
            // A simulator takes any program at once; a compiler that takes minutes for such ones is spared.
            let device = entry.backend.device
            guard try DeviceFeatures(for: device, environment: [:]).runsInOneLaunch || device.platformName == "Oclgrind" else { continue }
            let found = try compute(item.graph, on: try SingleLaunchTests.backend(entry), inputs: item.inputs)
            for (a, b) in zip(found, expected) { assertEqual(a, b, entry.name) }
        }
    }

    func testPixelKernelsOnce() throws {
        for entry in try DeviceFixture.entries.get() {
            let backend = try PixelTests.withPixels(entry)
            for (index, item) in PixelCase.all.enumerated() {
                XCTAssertEqual(try item.found(backend), item.expected, "case \(index) on \(entry.name)")
            }
        }
    }
}
