import CNTPlatform
import NTCPU
import NTGraph
import NTRuntime
import NTTensor
import TestSupport
import XCTest

final class RandomGraphTests: XCTestCase {
    override func tearDown() {
        nt_isa_set_float16_model(false)
        nt_isa_set_amx_model(false)
    }

    /// Random networks, as they are and optimised, agree with the reference, on one thread and on several.
    func testRandomNetworks() throws {
        let backends = [CPUBackend(threadCount: 1), CPUBackend(threadCount: 3)]
        for seed in 0..<300 {
            let (graph, inputs) = try RandomGraph.make(seed: seed)
            let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
            for (kind, version) in [("plain", graph), ("optimised", try Passes.optimize(graph))] {
                for backend in backends {
                    let problems = try BackendCheck.run(
                        version, inputs: inputs, on: backend,
                        tolerance: Tolerance(relative: 1e-4, absolute: 1e-4), expected: expected)
                    for problem in problems { XCTFail("seed \(seed), \(kind), \(backend.threadCount) threads: \(problem)") }
                }
            }
        }
    }

    /// The same in bfloat16 and float16, whose roundings add up over a few layers to some percent, or parts of one, of the largest value.
    func testRandomNetworksInHalves() throws { try checkRandomNetworksInHalves([.bfloat16, .float16]) }

    /// The same in bfloat16 with products on AMX's tiles, or their model, where they are chosen.
    func testRandomNetworksOnTiles() throws {
        try XCTSkipUnless(CPUBackend.resolved(.bfloat16) == .bfloat16, "this processor has no AVX512-BF16")
        nt_isa_set_amx_model(true)
        try checkRandomNetworksInHalves([.bfloat16])
    }

    private func checkRandomNetworksInHalves(_ precisions: [Precision]) throws {
        nt_isa_set_float16_model(true)
        let backend = CPUBackend(threadCount: 2)
        for seed in 0..<300 {
            let (graph, inputs) = try RandomGraph.make(seed: seed)
            let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
            let largest = expected.flatMap { $0.floatArray() }.filter(\.isFinite).reduce(0) { max($0, abs($1)) }
            for precision in precisions {
                let share = precision == .bfloat16 ? 0.05 : 0.007
                let problems = try BackendCheck.run(
                    try Passes.optimize(graph), inputs: inputs, on: backend, options: CompileOptions(precision: precision),
                    tolerance: Tolerance(relative: share, absolute: share * Double(largest) + 1e-5), expected: expected)
                for problem in problems { XCTFail("seed \(seed) in \(precision): \(problem)") }
            }
        }
    }

    private static func run(_ plan: ExecutionPlan, _ inputs: [Tensor], _ state: ExecutionState? = nil) throws -> [[UInt32]] {
        let targets = try plan.graph.outputs.map { try TensorBuffer(byteCount: plan.graph[$0].type.byteCount) }
        let state = try state ?? plan.makeState()
        try plan.run(
            state, inputs: inputs.map(\.bytes),
            outputs: targets.map { UnsafeMutableRawBufferPointer(start: $0.base, count: $0.byteCount) })
        return targets.map { Array(UnsafeRawBufferPointer(start: $0.base, count: $0.byteCount).bindMemory(to: UInt32.self)) }
    }

    /// The bits do not depend on the number of threads.
    func testThreadsDoNotChangeBits() throws {
        let one = CPUBackend(threadCount: 1)
        let others = [2, 3, 4].map { CPUBackend(threadCount: $0) }
        nt_isa_set_float16_model(true)
        for (precision, onTiles) in [(Precision.float32, false), (.float32Winograd, false), (.bfloat16, false), (.bfloat16, true), (.float16, false)]
        {
            nt_isa_set_amx_model(onTiles)
            let options = CompileOptions(precision: precision)
            for test in Self.wideCases {
                let (graph, inputs) = try test.make()
                let expected = try Self.run(ExecutionPlan(graph, backend: one, options: options), inputs)
                for backend in others {
                    let plan = try ExecutionPlan(graph, backend: backend, options: options)
                    let found = try Self.run(plan, inputs)
                    XCTAssertEqual(found, expected, "\(test.name) in \(precision) on \(backend.threadCount) threads")
                }
            }
        }
    }

    /// Chains with large images between them are one step, unless so many threads share it that they would do much twice; to the same bits.
    func testLargeImagesStayWithinAStep() throws {
        let item = OperatorCase("joined chains", kinds: []) { b in
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            var x = try b.input([1, 3, 209, 201], .unit)
            x = try b.convolution(x, outputs: 32, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one, activation: .relu, fill: .unit)
            for (outputs, stride) in [(128, 1), (96, 2), (24, 1)] {
                let channels = b.shape(x)[1]
                x = try b.convolution(
                    x, outputs: channels, kernel: Size2D(3, 3), strides: Size2D(stride, stride), padding: one, groups: channels, activation: .relu,
                    fill: .unit)
                x = try b.convolution(x, outputs: outputs, kernel: .one, activation: .relu, fill: .unit)
            }
            try b.output(x)
        }
        let (graph, inputs) = try item.make()
        for precision in [Precision.float32, .bfloat16] {
            var results: [[[UInt32]]] = []
            var joined: [Bool] = []
            for threads in [1, 3, 16] {
                let plan = try ExecutionPlan(
                    graph, backend: CPUBackend(threadCount: threads), options: CompileOptions(precision: precision))
                joined.append(plan.steps.contains { $0.step.kernel.contains(", depthwise+pointwise") })
                results.append(try Self.run(plan, inputs))
            }
            XCTAssertEqual(joined, [true, true, false], "\(precision)")
            XCTAssertEqual(results[1], results[0], "\(precision)")
            XCTAssertEqual(results[2], results[0], "\(precision)")
        }
    }

    /// The wide case is one that Strassen's method computes, fused and alone, where the precision allows it.
    func testStrassenIsUsedWhereAllowed() throws {
        let (graph, _) = try Self.wideCases[3].make()
        func kernels(_ precision: Precision) throws -> [String] {
            try ExecutionPlan(graph, backend: CPUBackend(threadCount: 1), options: CompileOptions(precision: precision)).steps.map(\.step.kernel)
        }
        let allowed = try kernels(.float32Winograd)
        XCTAssertTrue(allowed.contains { $0.hasPrefix("depthwise+pointwise strassen") }, "\(allowed)")
        XCTAssertTrue(allowed.contains { $0.hasPrefix("strassen 1x1") }, "\(allowed)")
        XCTAssertFalse(try kernels(.float32).contains { $0.contains("strassen") })
    }

    /// Networks of a size that is shared among threads, on data that rounds.
    private static let wideCases: [OperatorCase] = [
        // Small images, whose stages are fused at one thread alone, with few channels, which half precision leaves in float32, and chains in a row.
        OperatorCase("narrow chains", kinds: []) { b in
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            var x = try b.input([1, 24, 7, 5], .unit)
            for outputs in [16, 48, 7, 24, 24, 8, 16, 40] {
                let channels = b.shape(x)[1]
                x = try b.convolution(x, outputs: channels, kernel: Size2D(3, 3), padding: one, groups: channels, activation: .relu, fill: .unit)
                x = try b.convolution(x, outputs: outputs, kernel: .one, activation: outputs == 7 ? .identity : .relu, fill: .unit)
            }
            try b.output(x)
        },
        OperatorCase("separable", kinds: []) { b in
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            var x = try b.input([1, 3, 65, 63], .unit)
            x = try b.convolution(x, outputs: 24, kernel: Size2D(3, 3), strides: Size2D(2, 2), padding: one, activation: .relu, fill: .unit)
            for outputs in [40, 40] {
                let wide = try b.convolution(x, outputs: 96, kernel: .one, activation: .clip(0, 6), fill: .unit)
                let filtered = try b.convolution(
                    wide, outputs: 96, kernel: Size2D(3, 3), padding: one, groups: 96, activation: .clip(0, 6), fill: .unit)
                x = try b.convolution(filtered, outputs: outputs, kernel: .one, fill: .unit)
            }
            try b.output(try b.add(Pool(.average, kernel: Size2D(33, 32)), x))
        },
        OperatorCase("residual", kinds: []) { b in
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            let x = try b.input([2, 32, 17, 19], .unit)
            let first = try b.convolution(x, outputs: 96, kernel: Size2D(3, 3), padding: one, activation: .silu, fill: .unit)
            let second = try b.convolution(first, outputs: 32, kernel: Size2D(3, 3), padding: one, fill: .unit)
            let sum = try b.add(Binary(.add, activation: .relu), second, x)
            let joined = try b.add(Concat(axis: 1), sum, try b.convolution(sum, outputs: 50, kernel: .one, fill: .unit))
            try b.output(try b.add(Pool(.maximum, kernel: Size2D(3, 3), strides: Size2D(2, 2)), joined))
        },
        OperatorCase("wide", kinds: []) { b in
            let one = Padding2D(top: 1, left: 1, bottom: 1, right: 1)
            var x = try b.input([2, 256, 14, 14], .unit)
            for (outputs, stride) in [(512, 1), (256, 2), (512, 1)] {
                let channels = b.shape(x)[1]
                x = try b.convolution(
                    x, outputs: channels, kernel: Size2D(3, 3), strides: Size2D(stride, stride), padding: one, groups: channels, activation: .relu,
                    fill: .unit)
                x = try b.convolution(x, outputs: outputs, kernel: .one, activation: .silu, fill: .unit)
            }
            let y = try b.convolution(x, outputs: 512, kernel: .one, fill: .unit)
            try b.output(try b.add(Binary(.add, activation: .relu), y, x))
        },
    ]

    /// Many requests at once over one plan, each with a state of its own, some of them finding the workers busy.
    func testConcurrentRequests() throws {
        let (graph, inputs) = try Self.wideCases[0].make()
        let backend = CPUBackend(threadCount: 2)
        let plan = try ExecutionPlan(graph, backend: backend)
        let expected = try Self.run(plan, inputs)
        let results = Results()
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let state = try plan.makeState()
                for _ in 0..<20 { results.add(try Self.run(plan, inputs, state) == expected) }
            } catch {
                results.add(false)
            }
        }
        XCTAssertEqual(results.count(of: true), 80)
    }

    private final class Results: @unchecked Sendable {
        private let lock = NSLock()
        private var values: [Bool] = []
        func add(_ value: Bool) { lock.withLock { values.append(value) } }
        func count(of value: Bool) -> Int { lock.withLock { values.filter { $0 == value }.count } }
    }

    /// An index that is out of range is an error that names the layer, on every run, and leaves the backend usable.
    func testGatherOutOfRange() throws {
        var builder = GraphBuilder(name: "gather")
        let x = builder.input("x", .float32([4, 3]))
        let indices = builder.input("indices", .float32([2]))
        let picked = try builder.add(Gather(axis: 0), x, indices, layer: "pick")
        try builder.output(picked, name: "y")
        let plan = try ExecutionPlan(builder.graph, backend: CPUBackend(threadCount: 2))
        let data = try Tensor([4, 3], (0..<12).map(Float.init))
        for bad: [Float] in [[0, 4], [-5, 0], [0.5, 0], [.nan, 0], [.infinity, 0]] {
            XCTAssertThrowsError(try Self.run(plan, [data, try Tensor([2], bad)])) { XCTAssertTrue("\($0)".contains("pick"), "\($0)") }
        }
        XCTAssertEqual(try Self.run(plan, [data, try Tensor([2], [-1, 0])])[0].map(Float.init(bitPattern:)), [9, 10, 11, 0, 1, 2])
    }
}
