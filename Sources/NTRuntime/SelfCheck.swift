import NTGraph
import NTTensor

/// Compares what two backends make of every value of a graph: finds the layer where a device goes wrong.
package struct SelfCheck: Sendable {
    /// What was found.
    package struct Report: Sendable {
        /// The largest difference of a graph output, relative to the output's largest magnitude.
        package var largestDifference: Double
        /// The layer that gives the value with the largest difference.
        package var worstLayer: String?
        /// The first layer whose values differ by more than the tolerance.
        package var firstDifferentLayer: String?
        /// The first layer that gives NaN or infinity where the other backend does not.
        package var firstNonFiniteLayer: String?
        /// The first layer that gives finite values beyond float16's largest, 65504: infinite wherever they are kept in float16.
        package var firstLayerBeyondFloat16: String?

        /// Whether nothing was found.
        package var isClean: Bool { firstDifferentLayer == nil && firstNonFiniteLayer == nil }
    }

    private let names: [String]
    private let isOutput: [Bool]
    private let tested: ExecutionPlan
    private let trusted: ExecutionPlan

    /// Compiles `graph`, with every value of it as an output, on both backends.
    package init(_ graph: Graph, tested: any Backend, options: CompileOptions = CompileOptions(), trusted: any Backend) throws {
        var open = graph
        var names: [String] = []
        var outputs: [ValueID] = []
        for node in graph.nodes {
            for output in node.outputs {
                names.append(node.name)
                outputs.append(output)
            }
        }
        open.outputs = outputs
        self.names = names
        let wanted = Set(graph.outputs)
        isOutput = outputs.map(wanted.contains)
        self.tested = try ExecutionPlan(open, backend: tested, options: options)
        self.trusted = try ExecutionPlan(open, backend: trusted)
    }

    /// Runs both plans on `inputs`, which follow `graph.inputs`: contiguous float32, aligned to 64 bytes. `tolerance` is relative to each value's
    /// largest magnitude.
    package func run(_ inputs: [UnsafeRawBufferPointer], tolerance: Double = 1e-3) throws -> Report {
        let (found, expected) = (try values(tested, inputs), try values(trusted, inputs))
        defer { withExtendedLifetime((found, expected)) {} }
        var report = Report(largestDifference: 0)
        for (index, name) in names.enumerated() {
            let (a, b) = (found[index].floats, expected[index].floats)
            var (difference, magnitude, isFinite, isBeyond) = (0.0, 0.0, true, false)
            for element in 0..<a.count {
                magnitude = max(magnitude, b[element].isFinite ? Double(abs(b[element])) : 0)
                isBeyond = isBeyond || (a[element].isFinite && abs(a[element]) >= 65520)
                if a[element].isFinite, b[element].isFinite {
                    difference = max(difference, Double(abs(a[element] - b[element])))
                } else if b[element].isFinite {
                    isFinite = false
                }
            }
            let relative = magnitude > 0 ? difference / magnitude : difference
            if !isFinite, report.firstNonFiniteLayer == nil { report.firstNonFiniteLayer = name }
            if isBeyond, report.firstLayerBeyondFloat16 == nil { report.firstLayerBeyondFloat16 = name }
            if relative > tolerance, report.firstDifferentLayer == nil { report.firstDifferentLayer = name }
            if isOutput[index], relative > report.largestDifference || report.worstLayer == nil {
                (report.largestDifference, report.worstLayer) = (relative, name)
            }
        }
        return report
    }

    private func values(_ plan: ExecutionPlan, _ inputs: [UnsafeRawBufferPointer]) throws -> [Tensor] {
        let buffers = try plan.graph.outputs.map { try TensorBuffer(byteCount: plan.graph[$0].type.byteCount) }
        let targets = zip(buffers, plan.graph.outputs).map {
            UnsafeMutableRawBufferPointer(start: $0.base, count: plan.graph[$1].type.byteCount)
        }
        try plan.run(try plan.makeState(), inputs: inputs, outputs: targets)
        return try zip(buffers, plan.graph.outputs).map { try Tensor(plan.graph[$1].type, buffer: $0) }
    }
}
