import NTRuntime

/// The times of many profiled runs, to take medians of.
struct ProfileSamples {
    /// Runs that are kept at most.
    static let maximumCount = 20_000

    private var steps: [[Double]]
    /// Per step, kernel and run.
    private var kernels: [[[Double]]]
    private var gaps: [Double] = []
    private var runs: [Double] = []

    init(stepCount: Int) {
        steps = [[Double]](repeating: [], count: stepCount)
        kernels = [[[Double]]](repeating: [], count: stepCount)
    }

    var runCount: Int { runs.count }
    var runMilliseconds: Double { Self.median(runs) * 1000 }
    var gapMilliseconds: Double? { gaps.isEmpty ? nil : Self.median(gaps) * 1000 }

    /// Adds one run that `profile` has the times of.
    mutating func add(_ profile: RunProfile, runSeconds: Double) {
        for (index, seconds) in profile.seconds.enumerated() {
            steps[index].append(seconds)
            for (place, time) in profile.kernelSeconds[index].enumerated() {
                if kernels[index].count <= place { kernels[index].append([]) }
                kernels[index][place].append(time)
            }
        }
        if let gap = profile.gapSeconds { gaps.append(gap) }
        runs.append(runSeconds)
    }

    /// The medians of a step.
    func row(_ index: Int, backend: String, _ step: StepDescription) -> Profile.Row {
        let own = kernels[index]
        return Profile.Row(
            backend: backend, layers: step.layers, operators: step.operators,
            kernels: step.kernels.enumerated().map { place, name in
                Profile.Kernel(name: name, milliseconds: own.indices.contains(place) ? Self.median(own[place]) * 1000 : nil)
            },
            choice: step.choice, output: step.output, milliseconds: Self.median(steps[index]) * 1000, flops: step.flops,
            performedFlops: step.performedFlops, arithmetic: step.arithmetic.rawValue, byteCount: step.byteCount)
    }

    private static func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
}
