import Foundation
import NTOpenCL

/// Measures which tiles suit an OpenCL device for a model's convolutions and dense layers, and keeps the findings for later sessions.
public enum DeviceTuning {
    /// One distinct shape's result.
    public struct Finding: Sendable {
        /// The first layer of the shape.
        public let layer: String
        /// Milliseconds on the device with the default tile, and with the best.
        public let before: Double
        public let after: Double
    }

    /// What was measured and where it is kept.
    public struct Report: Sendable {
        /// The table that later sessions on this device read.
        public let file: URL
        /// One for each shape measured, those with most arithmetic first.
        public let findings: [Finding]
        /// Distinct shapes in the model, of which time may not have sufficed for all.
        public let shapeCount: Int
        /// Milliseconds of the network's shortest run with the defaults and with the findings, in turns. Findings that made it no faster were dropped. Nil when
        /// nothing but the defaults was found.
        public let network: (before: Double, after: Double)?
    }

    /// Measures every distinct shape of `model` with `batch` images at a time on the device of that number (the first GPU, else the first device, when
    /// nil) and writes the table that later sessions on this device read, those shapes first that the table lacks. After `seconds`, when given, or once
    /// `isOver` says so, no further tile is measured; what was found is then tried on the whole network, some seconds more, and kept. `progress` hears how
    /// many measurements are done, of how many, and the layer that is next; nil when it is the whole network's turn. Throws `NeedletailError` when there is
    /// no device, or the cache is off or cannot be written. Takes seconds to minutes.
    public static func tune(
        _ model: Model, deviceIndex: Int? = nil, precision: ComputePrecision = .float32, batch: Int = 1, seconds: Double? = nil,
        progress: (_ done: Int, _ total: Int, _ layer: String?) -> Void = { _, _, _ in }, isOver: () -> Bool = { false }
    ) throws -> Report {
        let configuration = SessionConfiguration(backend: .opencl, deviceIndex: deviceIndex, precision: precision)
        let session = try Session(model, configuration: configuration)
        let graph = try session.plan(PlanKey(shapes: [:], batch: batch)).plan.graph
        return try NeedletailError.wrapping(.backendUnavailable, context: "tune") {
            guard let backend = session.backend as? OpenCLBackend, let file = TuningTable.file(for: backend.device) else {
                throw NeedletailError(.backendUnavailable, "tune: the cache is off, so findings cannot be kept")
            }
            // Before the measuring, so that a folder that cannot be written costs no time.
            try backend.tuning.write(to: file, beyond: backend.tuning, notify: StandardError.say)
            // Within a limit, more shapes are worth more than steadier times.
            let result = try OpenCLTuner(backend).tune(
                graph, precision: precision.runtimePrecision, secondsPerTile: seconds == nil ? 0.02 : 0.006, seconds: seconds ?? .infinity,
                progress: progress, isOver: isOver)
            try result.table.write(to: file, beyond: backend.tuning, notify: StandardError.say)
            let findings = result.findings.map { Finding(layer: $0.layer, before: $0.before * 1000, after: $0.after * 1000) }
            return Report(
                file: file, findings: findings, shapeCount: result.shapeCount,
                network: result.network.map { ($0.before * 1000, $0.after * 1000) })
        }
    }
}
