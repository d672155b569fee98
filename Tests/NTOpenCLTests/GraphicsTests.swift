import CNTGraphicsStandIn
import COpenCL
import Foundation
import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// What the backend does for graphics processors, on devices that describe themselves as such. The other tests run on these too.
final class GraphicsTests: XCTestCase {
    private func backend(_ name: String, cache: ProgramCache? = DeviceFixture.cache, tuning: TuningTable = TuningTable()) throws -> OpenCLBackend {
        let device = try XCTUnwrap(try DeviceFixture.standIns(name).first)
        return try OpenCLBackend(device: device, cache: cache, tuning: tuning)
    }

    /// A described device gets what graphics processors get, and describes itself as it is afterwards.
    func testADescribedDeviceIsTakenForWhatItSays() throws {
        XCTAssertFalse(nt_stand_in("no such device"))
        let real = try OpenCLBackend.devices().device(0)
        for (name, units, group, local) in [
            ("sm_70", 80, 1024, 49152), ("sm_90", 132, 1024, 49152), ("gfx90a", 104, 256, 65536), ("gfx1100", 48, 256, 65536),
        ] {
            let list = try DeviceFixture.standIns(name)
            XCTAssertEqual(list.count, OpenCLBackend.devices().devices.count)
            let device = try XCTUnwrap(list.first)
            XCTAssertEqual(device.kind, .gpu)
            XCTAssertEqual([device.computeUnits, device.maximumWorkGroupSize, device.localMemoryBytes], [units, group, local])
            let backend = try OpenCLBackend(device: device, cache: DeviceFixture.cache)
            XCTAssertEqual(backend.style.family, .manyCores)
            XCTAssertEqual([backend.style.groupSide, backend.style.vectorWidth], [16, 4])
            XCTAssertTrue(try DeviceFeatures(for: device, environment: [:]).preparesPixels)
            // Halves are stored by core OpenCL: no extension is asked for.
            XCTAssertEqual(device.hasHalfPrecision, name.hasPrefix("gfx"))
            XCTAssertEqual(backend.meaning(of: .fast), "fast is float16 here")
        }
        let after = try OpenCLBackend.devices().device(0)
        XCTAssertEqual([after.name, after.vendor, after.platformName], [real.name, real.vendor, real.platformName])
        XCTAssertEqual(after.computeUnits, real.computeUnits)
    }

    /// Convolutions whose pixels, channels and outputs no tile divides: aligned and not, with windows across borders, groups, a residual.
    private func layers() throws -> DeviceCase {
        try DeviceCase("layers", [[2, 3, 11, 9]]) { builder, inputs, numbers in
            func weights(_ shape: Shape) throws -> ValueID { try builder.constant(try numbers.tensor(shape, -0.3, 0.3)) }
            let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let first = try builder.add(
                Convolution(strides: Size2D(1, 2), padding: same, hasBias: true, activation: .relu), inputs[0], try weights([36, 3, 3, 3]),
                try weights([36]), layer: "first")
            let wide = try builder.add(
                Convolution(padding: same, hasBias: true, hasResidual: true, activation: .clip(-1, 1)), first, try weights([36, 36, 3, 3]),
                try weights([36]), first, layer: "wide")
            let parts = try builder.add(Convolution(padding: same, groups: 3), wide, try weights([15, 12, 3, 3]), layer: "parts")
            let odd = try builder.add(Convolution(activation: .sigmoid), parts, try weights([70, 15, 1, 1]), layer: "odd")
            let even = try builder.add(
                Convolution(hasBias: true), wide, try weights([68, 36, 1, 1]), try weights([68]), layer: "even")
            let flat = try builder.add(Reshape([2, 68 * 11 * 5]), even, layer: "flat")
            return [odd, try builder.add(Dense(), flat, try weights([10, 68 * 11 * 5]), layer: "dense")]
        }
    }

    /// Tiles of every extent that the kernel is written for, alone and with inner products shared among groups.
    func testTiles() throws {
        let item = try layers()
        let expected = try ReferenceBackend.evaluate(item.graph, inputs: item.inputs)
        let shapes = ["110/5x36x3x9g1", "110/5x36x36x9g1", "110/5x5x12x9g3", "110/110x70x15x1g1", "110/110x68x36x1g1", "2/2x10x3740x1g1"]
        let tiles = [(16, 8, 8, 8, 1), (16, 2, 4, 16, 3), (8, 4, 4, 16, 64), (8, 1, 8, 4, 2)]
        for (index, (side, rows, columns, depth, splits)) in tiles.enumerated() {
            let (precision, type, tolerance) = index % 2 == 0 ? (Precision.float32, "float", Float(1e-5)) : (.float16, "half", 0.01)
            let tile = "{\"local\":{\"side\":\(side),\"rows\":\(rows),\"columns\":\(columns),\"depth\":\(depth),\"splits\":\(splits)}}"
            let entries = shapes.map { "\"\($0) \(type)\":\(tile)" }.joined(separator: ",")
            let table = try JSONDecoder().decode(TuningTable.self, from: Data("{\"tiles\":{\(entries)}}".utf8))
            let plan = try ExecutionPlan(
                item.graph, backend: try backend("sm_90", tuning: table), options: CompileOptions(precision: precision))
            let convolutions = plan.steps.map(\.step).filter { $0.kernels.contains { $0.hasPrefix("tiled gemm") } }
            XCTAssertEqual(convolutions.count, shapes.count)
            for step in convolutions {
                XCTAssertEqual(step.choice, "the tile tuned on this device", "\(step.layers)")
                XCTAssertTrue(step.kernels.contains { $0.hasPrefix("tiled gemm \(side * rows)x\(side * columns)") }, "\(step.kernels)")
                XCTAssertTrue(splits == 1 || step.layers != ["dense"] || step.kernels.contains("sum"), "\(step.kernels)")
            }
            let found = try compute(plan, try plan.makeState(), inputs: item.inputs)
            for (a, b) in zip(found, expected) { assertEqual(a, b, tolerance: tolerance, "\(tile) in \(type)") }
        }
    }

    /// Sums of small whole numbers are exact in any order: parts of an inner product lose or repeat nothing, whatever their number.
    func testSharedInnerProductsAreExact() throws {
        for splits in [1, 5, 64] {
            var numbers = SeededNumbers(3)
            func whole(_ shape: Shape) throws -> Tensor { try Tensor(shape, try numbers.tensor(shape, -3, 3).floatArray().map { $0.rounded() }) }
            var builder = GraphBuilder(name: "exact")
            let x = builder.input("x", .float32([1, 28, 6, 5]))
            let same = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let y = try builder.add(Convolution(padding: same), x, try builder.constant(try whole([33, 28, 3, 3])), layer: "layer")
            try builder.output(y, name: "y")
            let input = try whole([1, 28, 6, 5])
            let text = "{\"tiles\":{\"30/5x33x28x9g1 float\":{\"local\":{\"side\":8,\"rows\":4,\"columns\":4,\"depth\":16,\"splits\":\(splits)}}}}"
            let table = try JSONDecoder().decode(TuningTable.self, from: Data(text.utf8))
            let plan = try ExecutionPlan(builder.graph, backend: try backend("gfx90a", tuning: table))
            XCTAssertEqual(plan.steps.map(\.step.choice), ["the tile tuned on this device"])
            let found = try compute(plan, try plan.makeState(), inputs: [input])
            let expected = try ReferenceBackend.evaluate(builder.graph, inputs: [input])
            XCTAssertTrue(found[0].floatArray() == expected[0].floatArray(), "\(splits) parts")
        }
    }

    /// A driver may allow a kernel smaller groups than the device has, for its registers: plans keep to it, by smaller tiles or, where no group may be
    /// shared, by kernels that need none.
    func testKernelsThatAllowSmallerGroups() throws {
        defer { nt_stand_in_answer(nil, 0, nil, 0, 0) }
        let layers = try layers()
        let all = try (KernelCheckTests.cases() + [layers]).map { ($0, try ReferenceBackend.evaluate($0.graph, inputs: $0.inputs)) }
        // 192 leaves convolutions groups of 64, 64 every kernel that shares memory; less leaves none of these.
        for (allowed, cases) in [(192, all.suffix(1)), (64, all[...]), (1, all[...])] {
            var size = allowed
            nt_stand_in_answer("clGetKernelWorkGroupInfo", UInt32(CL_KERNEL_WORK_GROUP_SIZE), &size, 8, 8)
            defer { nt_stand_in_answer(nil, 0, nil, 0, 0) }
            let backend = try backend("sm_90")
            for (item, expected) in cases {
                let plan = try ExecutionPlan(item.graph, backend: backend)
                for (a, b) in zip(try compute(plan, try plan.makeState(), inputs: item.inputs), expected) {
                    assertEqual(a, b, "\(item.name), groups of \(allowed)")
                }
                guard item.name == layers.name else { continue }
                let kernels = plan.steps.flatMap(\.step.kernels)
                XCTAssertTrue(kernels.contains { $0.contains("gemm") }, "\(kernels)")
                XCTAssertEqual(kernels.contains { $0.hasPrefix("tiled gemm") }, allowed >= 64, "\(kernels)")
            }
        }
    }

    func testPicturesWithSmallerGroups() throws {
        var size = 6
        nt_stand_in_answer("clGetKernelWorkGroupInfo", UInt32(CL_KERNEL_WORK_GROUP_SIZE), &size, 8, 8)
        defer { nt_stand_in_answer(nil, 0, nil, 0, 0) }
        for item in PixelCase.all.prefix(4) { XCTAssertEqual(try item.found(try backend("sm_90")), item.expected) }
    }

    /// Where nothing smaller is left, the error names kernel, layer, what is wanted and what allowed, before anything runs.
    func testKernelsThatNeedMoreThanThereIs() throws {
        var bytes: UInt64 = 1 << 30
        nt_stand_in_answer("clGetKernelWorkGroupInfo", UInt32(CL_KERNEL_LOCAL_MEM_SIZE), &bytes, 8, 8)
        defer { nt_stand_in_answer(nil, 0, nil, 0, 0) }
        let item = try DeviceCase(Unary(.relu), [[4]])
        for backend in [try backend("sm_90"), try OpenCLBackend(device: OpenCLBackend.devices().device(0), cache: nil, features: DeviceFeatures())] {
            XCTAssertThrowsError(try ExecutionPlan(item.graph, backend: backend)) {
                let expected = OpenCLError.kernelLimit(
                    .localBytes, kernel: "nt_pointwise", layers: ["layer"], wanted: 1 << 30, allowed: backend.device.localMemoryBytes)
                XCTAssertEqual($0 as? OpenCLError, expected)
            }
        }
    }

    /// Work-groups of a step by its label: `tiled gemm 64x32, 8 parts`.
    private func groups(_ label: String, pixels: Int, outputs: Int) throws -> Int {
        let numbers = label.split { !$0.isNumber }.compactMap { Int($0) }
        let parts = numbers.count > 2 ? numbers[2] : 1
        return (pixels + numbers[0] - 1) / numbers[0] * ((outputs + numbers[1] - 1) / numbers[1]) * parts
    }

    private func label(_ name: String, pixels side: Int, batch: Int = 1, channels: Int, outputs: Int, kernel: Int) throws -> String {
        let half = kernel / 2
        let item = try DeviceCase(
            Convolution(padding: Padding2D(top: half, left: half, bottom: half, right: half)), [[batch, channels, side, side]],
            constants: [[outputs, channels, kernel, kernel]])
        let steps = try ExecutionPlan(item.graph, backend: try backend(name, cache: nil)).steps
        return try XCTUnwrap(steps.flatMap(\.step.kernels).first { $0.contains(" gemm ") })
    }

    /// Layers of networks at batch 1 that have some work give every compute unit a group; few outputs by sharing inner products. Many pixels take large tiles.
    func testWorkIsSpreadOverComputeUnits() throws {
        for (name, units) in [("sm_90", 132), ("gfx90a", 104)] {
            for (side, channels, outputs, kernel) in [
                (56, 64, 64, 3), (28, 128, 128, 3), (14, 256, 256, 3), (7, 512, 512, 3), (7, 2048, 512, 1), (14, 1024, 256, 1), (7, 1024, 1024, 1),
                (1, 2048, 1000, 1),
            ] {
                let label = try label(name, pixels: side, channels: channels, outputs: outputs, kernel: kernel)
                let found = try groups(label, pixels: side * side, outputs: outputs)
                XCTAssertGreaterThanOrEqual(found, units, "\(side)x\(side), \(channels) to \(outputs), \(kernel)x\(kernel) on \(name): \(label)")
            }
            XCTAssertEqual(try label(name, pixels: 56, batch: 8, channels: 256, outputs: 256, kernel: 3), "tiled gemm 128x128")
        }
    }
}
