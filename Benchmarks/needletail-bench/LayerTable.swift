import CNTKernels
import NTCPU
import NTGraph
import NTRuntime
import NTTensor

/// A benchmark network on the cpu backend, step by step.
enum LayerTable {
    static func run(_ arguments: [String]) throws {
        var (threads, seconds, names) = (1, 2.0, [String]())
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--threads":
                guard let value = rest.popFirst().flatMap({ Int($0) }), (1...256).contains(value) else {
                    throw UsageError(message: "--threads takes a whole number from 1 to 256")
                }
                threads = value
            case "--seconds":
                guard let value = rest.popFirst().flatMap({ Double($0) }), (0.001...86_400).contains(value) else {
                    throw UsageError(message: "--seconds takes a number from 0.001 to 86400")
                }
                seconds = value
            default: names.append(argument)
            }
        }
        let isSummary = names == ["all"]
        let chosen = NetworkBuilder.all.filter { isSummary || names.contains($0.name) }
        guard !chosen.isEmpty, isSummary || names.allSatisfy({ name in chosen.contains { $0.name == name } }) else {
            throw UsageError(message: "the networks are \(NetworkBuilder.all.map(\.name).joined(separator: ", ")) and all")
        }
        let peak = Peak.best() * Double(threads)
        for network in chosen { try measure(network.name, try network.make(), threads, seconds, peak, isSummary) }
    }

    private static func measure(
        _ name: String, _ graph: Graph, _ threads: Int, _ seconds: Double, _ peak: Double, _ isSummary: Bool
    ) throws {
        let backend = CPUBackend(threadCount: threads)
        let plan = try ExecutionPlan(graph, backend: backend)
        let state = try plan.makeState()
        let inputs = try graph.inputs.map { id in
            try Tensor(float32: graph[id].type.shape) { for index in $0.indices { $0[index] = Float(index % 255) / 127.5 - 1 } }
        }
        let outputs = try graph.outputs.map { try TensorBuffer(byteCount: graph[$0].type.byteCount) }
        let (sources, targets) = (
            inputs.map(\.bytes), outputs.map { UnsafeMutableRawBufferPointer(start: $0.base, count: $0.byteCount) }
        )
        defer { withExtendedLifetime((inputs, outputs)) {} }
        let best = try Stopwatch.best(seconds: seconds) { try plan.run(state, inputs: sources, outputs: targets) }
        let flops = Double(plan.steps.reduce(0) { $0 + $1.step.flops })
        let gflops = flops / best / 1e9
        print(
            "\(Column.left(name, 16))\(Column.number(best * 1e3, 9, 3)) ms \(Column.number(gflops, 7, 1)) GFLOP/s "
                + "\(Column.number(gflops / peak * 100, 4, 0)) % of \(threads) x peak")
        if !isSummary { try profile(plan, state, sources, targets, peak) }
    }

    private static func profile(
        _ plan: ExecutionPlan, _ state: ExecutionState, _ inputs: [UnsafeRawBufferPointer],
        _ outputs: [UnsafeMutableRawBufferPointer], _ peak: Double
    ) throws {
        // The fastest of several runs for each step, so that neighbours' work does not show.
        var best = [Double](repeating: .infinity, count: plan.steps.count)
        for _ in 0..<100 {
            let profile = RunProfile(stepCount: plan.steps.count)
            try plan.run(state, inputs: inputs, outputs: outputs, profile: profile)
            for index in best.indices { best[index] = min(best[index], profile.seconds[index]) }
        }
        for (index, entry) in plan.steps.enumerated() {
            let gflops = Double(entry.step.flops) / best[index] / 1e9
            print(
                Column.number(best[index] * 1e6, 9, 1) + " us" + Column.number(gflops, 8, 1) + " GFLOP/s"
                    + Column.number(gflops / peak * 100, 5, 0) + " %  "
                    + Column.left(entry.step.output, 16) + " " + Column.left(entry.step.kernel, 40)
                    + entry.step.layers.joined(separator: "+"))
        }
        print(Column.number(best.reduce(0, +) * 1e6, 9, 1) + " us in all steps")
    }
}
