import NTGraph
import NTRuntime
import NTTensor

/// Runs cases on a backend and compares with `ReferenceBackend`.
package enum BackendCheck {
    /// Runs `test` on `backend` through an `ExecutionPlan`, twice on one state, and compares every output with the reference's.
    ///
    /// Returns what is wrong, in words; empty when all is well. Outputs are filled with NaN before each run, memory behind them is
    /// watched, inputs must come back unchanged, and the second run must give the first one's bits.
    /// `tolerance` stands in for the case's own, for lower precision. Nodes that the backend refuses run on the reference: see `fallbacks`.
    package static func run(
        _ test: OperatorCase, on backend: any Backend, options: CompileOptions = CompileOptions(), tolerance: Tolerance? = nil
    ) -> [String] {
        do {
            let (graph, inputs) = try test.make()
            return try run(
                graph, inputs: inputs, on: backend, options: options, tolerance: tolerance ?? test.tolerance
            ).map { "\(test.name): \($0)" }
        } catch {
            return ["\(test.name): \(error)"]
        }
    }

    /// The same for a graph and its inputs. `expected` defaults to the reference's outputs.
    package static func run(
        _ graph: Graph, inputs: [Tensor], on backend: any Backend, options: CompileOptions = CompileOptions(),
        tolerance: Tolerance, expected: [Tensor]? = nil
    ) throws -> [String] {
        let expected = try expected ?? ReferenceBackend.evaluate(graph, inputs: inputs)
        let plan = try ExecutionPlan(graph, backend: backend, options: options)
        let state = try plan.makeState()
        var problems: [String] = []
        let held = try inputs.map { try GuardedBuffer(copying: $0.bytes) }
        let first = try outputs(of: plan, state, held, &problems)
        let second = try outputs(of: plan, state, held, &problems)
        for (index, tensor) in expected.enumerated() {
            problems += tolerance.mismatches(first[index], expected: tensor.floatArray(), what: "output \(index)")
            if first[index].map(\.bitPattern) != second[index].map(\.bitPattern) {
                problems.append("output \(index): a second run gave other bits")
            }
        }
        for (index, pair) in zip(inputs, held).enumerated() where !pair.0.bytes.elementsEqual(pair.1.bytes) {
            problems.append("input \(index) was written to")
        }
        return problems
    }

    /// Optimises the random graphs of some seeds, runs them on `backend` and compares with what the reference makes of the graphs as they were.
    /// What passes write and backends fuse meets here in many combinations. Returns what is wrong, in words.
    package static func runRandomGraphs(
        _ seeds: Range<Int>, on backend: any Backend, options: CompileOptions = CompileOptions(),
        tolerance: Tolerance = Tolerance(relative: 2e-5, absolute: 1e-4)
    ) -> [String] {
        seeds.flatMap { seed -> [String] in
            do {
                let (graph, inputs) = try RandomGraph.make(seed: seed)
                let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
                let optimized = try Passes.optimize(graph)
                let problems = try run(
                    optimized, inputs: inputs, on: backend, options: options, tolerance: tolerance, expected: expected)
                return problems.map { "random graph \(seed): \($0)\n\(optimized.dump())" }
            } catch {
                return ["random graph \(seed): \(error)"]
            }
        }
    }

    /// The kinds of the nodes of a case that `backend` refuses, with its reasons.
    package static func fallbacks(_ test: OperatorCase, on backend: any Backend) throws -> [Fallback] {
        try Partitioner.partition(try test.make().graph, for: backend).fallbacks
    }

    private static func outputs(
        of plan: ExecutionPlan, _ state: ExecutionState, _ inputs: [GuardedBuffer], _ problems: inout [String]
    ) throws -> [[Float]] {
        let targets = try plan.graph.outputs.map { try GuardedBuffer(byteCount: plan.graph[$0].type.byteCount) }
        try plan.run(state, inputs: inputs.map { UnsafeRawBufferPointer($0.bytes) }, outputs: targets.map(\.bytes))
        for (index, target) in targets.enumerated() where !target.isIntact {
            problems.append("output \(index): memory outside the output was written")
        }
        return targets.map { Array($0.bytes.bindMemory(to: Float.self)) }
    }
}

/// Bytes aligned to 64 with a watched margin on both sides. Everything starts as NaN, when read as float32.
final class GuardedBuffer {
    private static let margin = 256
    private static let pattern: UInt8 = 0xff
    private let buffer: TensorBuffer
    private let byteCount: Int

    init(byteCount: Int) throws {
        self.byteCount = byteCount
        buffer = try TensorBuffer(byteCount: byteCount + 2 * Self.margin)
        buffer.base.initializeMemory(as: UInt8.self, repeating: Self.pattern, count: buffer.byteCount)
    }

    convenience init(copying source: UnsafeRawBufferPointer) throws {
        try self.init(byteCount: source.count)
        bytes.copyMemory(from: source)
    }

    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: buffer.base + Self.margin, count: byteCount)
    }

    /// Whether the margins are as they were.
    var isIntact: Bool {
        let all = UnsafeRawBufferPointer(start: buffer.base, count: buffer.byteCount)
        return all.prefix(Self.margin).allSatisfy { $0 == Self.pattern }
            && all.suffix(Self.margin).allSatisfy { $0 == Self.pattern }
    }
}
