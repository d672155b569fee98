import Foundation
import NTGraph
import NTRuntime
import NTTensor

/// The optional self-check: the first predictions of a plan against the reference, output by output and, when they differ, layer by layer.
package final class Verification: @unchecked Sendable {
    private let lock = NSLock()
    private var isDone = false
    private var found: VerificationResult?
    private var spent = 0.0

    /// What the check has found; nil before the check.
    var result: VerificationResult? { lock.withLock { found } }

    /// Seconds that the check has taken.
    var seconds: Double { lock.withLock { spent } }

    /// Counts the time since `start` as the check's.
    func spend(since start: ContinuousClock.Instant) { lock.withLock { spent += (ContinuousClock.now - start) / .seconds(1) } }

    /// Whether no prediction has been compared yet.
    var isPending: Bool { lock.withLock { !isDone } }

    /// The relative difference that a plan may show: the largest absolute difference over the largest absolute value.
    private let tolerance: Double
    private let precision: ComputePrecision

    /// float32 sums of thousands of terms stay well within 1e-3; float16 rounds every layer's values to 11 bits, and probabilities of a MobileNet
    /// have been seen to move by 0.07 of the largest, of a SqueezeNet with random weights by 0.12. bfloat16 rounds to 8: they move by 0.13 and, on
    /// images of noise, by 0.58, of that SqueezeNet by 0.45, with other engines alike. What a broken kernel or device gives is as large as the result itself.
    init(_ precision: ComputePrecision) {
        self.precision = precision
        tolerance =
            switch precision {
            case .float32, .float32Winograd: 1e-3
            case .float16: 0.3
            case .bfloat16, .fast: 0.6
            }
    }

    /// Compares `state`'s outputs with the reference for `state`'s inputs, once. Throws naming the first layer that differs.
    func check(_ plan: ExecutionPlan, _ state: ExecutionState, model: String) throws {
        guard
            lock.withLock({ () -> Bool in
                defer { isDone = true }
                return !isDone
            })
        else { return }
        let start = ContinuousClock.now
        defer { spend(since: start) }
        let graph = plan.graph
        let inputs = try zip(graph.inputs, state.inputs).map { id, buffer in
            try NTTensor.Tensor(graph[id].type) {
                $0.copyMemory(from: UnsafeRawBufferPointer(start: buffer.base, count: graph[id].type.byteCount))
            }
        }
        let expected = try ReferenceBackend.evaluate(graph, inputs: inputs)
        var result = VerificationResult(difference: nil, remarks: [])
        for (id, input) in zip(graph.inputs, inputs) {
            guard let text = withExtendedLifetime(input, { VerificationResult.nonFinite(input.floats) }) else { continue }
            result.remarks.append("input '\(graph[id].name)' \(text)")
        }
        for (index, id) in graph.outputs.enumerated() {
            let found = UnsafeBufferPointer(
                start: state.outputs[index].base.assumingMemoryBound(to: Float.self), count: graph[id].type.shape.count)
            let (difference, remark) = withExtendedLifetime(expected) { Verification.compare(found, expected[index].floats) }
            if let remark { result.remarks.append("output '\(graph[id].name)' \(remark)") }
            guard let difference else { continue }
            result.difference = max(result.difference ?? 0, difference)
            guard difference > tolerance || difference.isNaN else { continue }
            throw NeedletailError(
                .executionFailed,
                "\(model): output '\(graph[id].name)' on \(plan.backend.name) differs from the reference by \(difference) "
                    + "(relative to its largest value); \(try firstDifference(plan, inputs))")
        }
        lock.withLock { found = result }
    }

    /// The largest absolute difference over the largest absolute expected value, over values that are finite on both sides (nil when there are values and
    /// none is); NaN when one side is finite and the other is not, or both are infinite with opposite signs. And what is to be said of values that
    /// are not finite on both sides: on one NaN, on the other infinite is as good, since the order of sums decides between them.
    package static func compare(
        _ found: UnsafeBufferPointer<Float>, _ expected: UnsafeBufferPointer<Float>
    ) -> (difference: Double?, remark: String?) {
        var (largest, scale, finite) = (0.0, 0.0, 0)
        for (a, b) in zip(found, expected) {
            if a.isFinite != b.isFinite || (a.isInfinite && b.isInfinite && a != b) { return (.nan, nil) }
            guard b.isFinite else { continue }
            finite += 1
            largest = max(largest, abs(Double(a) - Double(b)))
            scale = max(scale, abs(Double(b)))
        }
        let (here, there) = (VerificationResult.nonFinite(found), VerificationResult.nonFinite(expected))
        let remark = here.flatMap { here in there.map { here == $0 ? "\(here) in both" : "\(here); in the reference it \($0)" } }
        return (finite == 0 && !found.isEmpty ? nil : scale > 0 ? largest / scale : largest, remark)
    }

    /// Says where the difference starts: every value of the graph on both backends, layer by layer.
    private func firstDifference(_ plan: ExecutionPlan, _ inputs: [NTTensor.Tensor]) throws -> String {
        let options = CompileOptions(precision: precision.runtimePrecision)
        let check = try SelfCheck(plan.graph, tested: plan.backend, options: options, trusted: ReferenceBackend())
        let report = try withExtendedLifetime(inputs) { try check.run(inputs.map(\.bytes), tolerance: tolerance) }
        if let layer = report.firstNonFiniteLayer {
            // Looked at, each value is in float32, and infinite only for the layers that read it.
            if precision == .float16, let cause = report.firstLayerBeyondFloat16 {
                return "layer '\(cause)' gives values beyond 65504, where float16 ends"
            }
            return "layer '\(layer)' gives values that are not finite"
        }
        if let layer = report.firstDifferentLayer { return "the difference starts at layer '\(layer)'" }
        return "no single layer differs when each value is looked at"
    }
}
