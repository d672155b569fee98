import Foundation
import NTGraph
import NTRuntime
import NTTensor

/// The optional self-check: the first predictions of a plan against the reference, output by output and, when they differ, layer by layer.
final class Verification: @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false

    /// The relative difference that float32 plans may show: the largest absolute difference over the largest absolute value.
    static let tolerance = 1e-3

    /// Compares `state`'s outputs with the reference for `state`'s inputs, once. Throws naming the first layer that differs.
    func check(_ plan: ExecutionPlan, _ state: ExecutionState, model: String) throws {
        guard lock.withLock({ () -> Bool in defer { isDone = true }; return !isDone }) else { return }
        let graph = plan.graph
        let inputs = try zip(graph.inputs, state.inputs).map { id, buffer in
            try NTTensor.Tensor(graph[id].type) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: buffer.base, count: graph[id].type.byteCount))
            }
        }
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        for (index, id) in graph.outputs.enumerated() {
            let found = UnsafeBufferPointer(
                start: state.outputs[index].base.assumingMemoryBound(to: Float.self), count: graph[id].type.shape.count)
            let difference = withExtendedLifetime(expected) { Verification.difference(found, expected[index].floats) }
            guard difference > Verification.tolerance || difference.isNaN else { continue }
            throw NeedletailError(
                .executionFailed,
                "\(model): output '\(graph[id].name)' on \(plan.backend.name) differs from the reference by \(difference) "
                    + "(relative to its largest value); \(try firstDifference(plan, inputs))")
        }
    }

    /// The largest absolute difference over the largest absolute expected value; NaN when one side is not finite and the other is.
    static func difference(_ found: UnsafeBufferPointer<Float>, _ expected: UnsafeBufferPointer<Float>) -> Double {
        var (largest, scale) = (0.0, 0.0)
        for (a, b) in zip(found, expected) {
            if a.isFinite != b.isFinite { return .nan }
            guard b.isFinite else { continue }
            largest = max(largest, abs(Double(a) - Double(b)))
            scale = max(scale, abs(Double(b)))
        }
        return scale > 0 ? largest / scale : largest
    }

    /// Runs ever longer heads of the graph to find the layer where the difference starts.
    private func firstDifference(_ plan: ExecutionPlan, _ inputs: [NTTensor.Tensor]) throws -> String {
        let graph = plan.graph
        var (low, high) = (0, graph.nodes.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if try differs(plan, inputs, through: middle) { high = middle } else { low = middle + 1 }
        }
        return "the difference starts at layer '\(graph.nodes[high].name)' (\(graph.nodes[high].op.kind))"
    }

    private func differs(_ plan: ExecutionPlan, _ inputs: [NTTensor.Tensor], through last: Int) throws -> Bool {
        var head = plan.graph
        head.nodes = Array(head.nodes[...last])
        head.outputs = head.nodes[last].outputs
        let part = try ExecutionPlan(head, backend: plan.backend)
        let state = try part.makeState()
        for (buffer, tensor) in zip(state.inputs, inputs) {
            if let base = tensor.bytes.baseAddress { buffer.base.copyMemory(from: base, byteCount: tensor.byteCount) }
        }
        try part.run(state)
        let expected = try ReferenceBackend.evaluate(head, inputs: inputs)
        return zip(state.outputs, expected).contains { buffer, tensor in
            let found = UnsafeBufferPointer(start: buffer.base.assumingMemoryBound(to: Float.self), count: tensor.count)
            let difference = withExtendedLifetime(tensor) { Verification.difference(found, tensor.floats) }
            return difference > Verification.tolerance || difference.isNaN
        }
    }
}
