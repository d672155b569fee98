import Foundation
import NTFiles
import NTFormats
import NTGraph
import NTImage
import NTRuntime

/// Measures a session from a picture to its label: reading and decoding, preparing, running, finding the best class.
public final class PictureBenchmark {
    /// What is classified again and again.
    public enum Source: Sendable {
        /// A JPEG, PNG or WebP file, read and decoded each time.
        case file(URL)
        /// A frame of blue, green, red and alpha bytes in memory, as cameras give it, filled with a pattern.
        case frame(width: Int, height: Int)
    }

    /// One part of the way.
    public enum Stage: Int, CaseIterable, Sendable {
        case decode, prepare, infer, label
    }

    /// What a measurement found.
    public struct Measurement: Sendable {
        /// Whole runs.
        public let total: Benchmark.Latency
        /// Median milliseconds per stage.
        public let stages: [Stage: Double]
    }

    public let session: Session
    /// The best class of the last run: the first output's largest value, and the label when the model has labels.
    public private(set) var top: (index: Int, label: String?, value: Float) = (0, nil, 0)
    private let source: Source
    private let cropAndScale: CropAndScale
    private let inputIndex: Int
    private let geometry: ImageGeometry
    private let frame: Image?
    private let state: ExecutionState
    private let entry: PlanEntry

    /// Prepares and runs once. Throws `NeedletailError` when the model has no image input, or the picture cannot be read.
    public init(_ session: Session, _ source: Source, cropAndScale: CropAndScale = .centerCrop) throws {
        self.session = session
        self.source = source
        self.cropAndScale = cropAndScale
        entry = session.defaultPlan
        let graph = entry.plan.graph
        guard let name = session.model.firstImageInputName, let input = session.model.imageInput(named: name),
            let index = graph.inputs.firstIndex(where: { graph[$0].name == name })
        else { throw NeedletailError(.unsupportedModel, "\(session.model.name): the model has no image input") }
        inputIndex = index
        geometry = ImageGeometry(width: input.width, height: input.height, cropAndScale: cropAndScale.imageOption)
        if case .frame(let width, let height) = source {
            frame = try NeedletailError.wrapping(.invalidImage) { try PictureBenchmark.pattern(width: width, height: height) }
        } else {
            frame = nil
        }
        state = try NeedletailError.wrapping(.executionFailed) { [entry] in try entry.plan.makeState() }
        for place in graph.inputs.indices where place != index {
            try session.fill(state.inputs[place], with: nil, input: graph[graph.inputs[place]])
        }
        _ = try once()
    }

    /// Runs for about `seconds`, at least once.
    public func run(seconds: Double) throws -> Measurement {
        var (totals, stages) = ([Double](), [[Double]](repeating: [], count: Stage.allCases.count))
        let start = ContinuousClock.now
        repeat {
            let times = try once()
            totals.append(times.reduce(0, +))
            for (stage, time) in times.enumerated() { stages[stage].append(time) }
        } while (ContinuousClock.now - start) / .seconds(1) < seconds
        let medians = Stage.allCases.map { ($0, Benchmark.Latency(sorted: stages[$0.rawValue].sorted()).median) }
        return Measurement(total: Benchmark.Latency(sorted: totals.sorted()), stages: Dictionary(uniqueKeysWithValues: medians))
    }

    /// One picture from its bytes to the best class; milliseconds per stage.
    private func once() throws -> [Double] {
        let clock = ContinuousClock()
        let start = clock.now
        let picture = try picture()
        let decoded = clock.now
        let request = ImageRequest(source: picture, cropAndScale: cropAndScale.imageOption)
        try session.prepare(request, input: inputIndex, in: entry, state, batchIndex: 0, sharesPicture: true)
        let prepared = clock.now
        try session.execute(entry, state)
        let inferred = clock.now
        top = try best()
        let end = clock.now
        return [decoded - start, prepared - decoded, inferred - prepared, end - inferred].map { $0 / .milliseconds(1) }
    }

    private func picture() throws -> Image {
        if let frame { return frame }
        guard case .file(let url) = source else { throw NeedletailError(.invalidImage, "no picture") }
        // A pipe could be read once only.
        if url.isFileURL, Files.kind(url.path) == .pipe {
            throw NeedletailError(.invalidImage, FileError(url.path, .isPipe, expected: "a file to read again and again").description)
        }
        return try NeedletailError.wrapping(.invalidImage) { try EncodedImage(contentsOf: url).decoded(for: geometry) }
    }

    private func best() throws -> (index: Int, label: String?, value: Float) {
        guard let output = state.outputs.first else { throw NeedletailError(.unsupportedModel, "\(session.model.name): no output") }
        let values = UnsafeBufferPointer(
            start: output.base.assumingMemoryBound(to: Float.self), count: entry.plan.graph.types(entry.plan.graph.outputs)[0].shape.count)
        var index = 0
        for place in values.indices where values[place] > values[index] { index = place }
        let labels = session.model.description.classLabels
        return (index, labels?.count == values.count ? labels?[index].description : nil, values.isEmpty ? 0 : values[index])
    }

    /// A frame whose bytes change from pixel to pixel.
    private static func pattern(width: Int, height: Int) throws -> Image {
        try Image(format: .bgra8, width: width, height: height) { memory, bytesPerRow in
            for y in 0..<height {
                let row = memory + y * bytesPerRow
                for x in 0..<width {
                    let value = UInt32(truncatingIfNeeded: (x &* x &+ y &* 31) / 17)
                    row.storeBytes(of: value &* 0x0103_0507 | 0xff00_0000, toByteOffset: 4 * x, as: UInt32.self)
                }
            }
        }
    }
}
