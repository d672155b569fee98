import Foundation
import NTCPU
import NTFormats
import NTGraph
import NTImage
import NTRuntime
import NTTensor

/// A picture and how it is to be looked at.
package struct ImageRequest {
    package var source: any PixelSource
    package var cropAndScale: NTImage.CropAndScale
    /// In the upright picture, origin at the lower left.
    package var regionOfInterest: NormalizedRect
    /// Replaces the orientation that the source carries.
    package var orientation: ImageOrientation?
    /// What it is brought to; nil for the input's default size.
    package var size: (width: Int, height: Int)?

    package init(
        source: any PixelSource, cropAndScale: NTImage.CropAndScale, regionOfInterest: NormalizedRect = .full,
        orientation: ImageOrientation? = nil, size: (width: Int, height: Int)? = nil
    ) {
        self.source = source
        self.cropAndScale = cropAndScale
        self.regionOfInterest = regionOfInterest
        self.orientation = orientation
        self.size = size
    }
}

extension Session {
    /// Runs the model on pictures by input name, each brought to its input's size in one pass, and on tensors for other inputs.
    package func run(
        images: [String: ImageRequest], tensors: [String: Tensor] = [:]
    ) throws -> [String: FeatureValue] {
        try withImages(images, tensors: tensors) { entry, state in try outputs(entry, state) }
    }

    /// Runs the model on pictures and calls `body` while the outputs lie in the request's own memory.
    package func withImages<Result>(
        _ images: [String: ImageRequest], tensors: [String: Tensor], _ body: (PlanEntry, ExecutionState) throws -> Result
    ) throws -> Result {
        let session = current
        do {
            return try session.attempt(images, tensors, body)
        } catch {
            return try session.replacement(after: error).attempt(images, tensors, body)
        }
    }

    private func attempt<Result>(
        _ images: [String: ImageRequest], _ tensors: [String: Tensor], _ body: (PlanEntry, ExecutionState) throws -> Result
    ) throws -> Result {
        let entry = try plan(try PlanKey(model, images: images, tensors: tensors))
        return try entry.withState { state in
            for (index, id) in entry.plan.graph.inputs.enumerated() {
                let value = entry.plan.graph[id]
                if let image = images[value.name] {
                    try prepare(image, input: index, in: entry, state, batchIndex: 0, sharesPicture: true)
                } else {
                    try fill(state.inputs[index], with: tensors[value.name], input: value)
                }
            }
            try execute(entry, state)
            return try body(entry, state)
        }
    }

    /// Writes a tensor as element `place` of `count` of an input; an optional input that is not given gets the file's default value, else zeros.
    func fill(_ buffer: TensorBuffer, with tensor: Tensor?, input: Value, place: Int = 0, of count: Int = 1) throws {
        let byteCount = buffer.byteCount / count
        let target = buffer.base + place * byteCount
        guard let tensor else {
            guard model.asset.isOptional(input: input.name) else {
                throw NeedletailError(.invalidInput, "\(model.name): input '\(input.name)' (\(input.type)) is missing")
            }
            let value = model.asset.defaultValue(input: input.name)
            target.initializeMemory(as: Float.self, repeating: value, count: byteCount / MemoryLayout<Float>.stride)
            return
        }
        guard tensor.storage.byteCount == byteCount else {
            throw NeedletailError(
                .invalidInput, "\(model.name): input '\(input.name)': expected \(input.type.shape), found \(tensor.storage.shape)")
        }
        if let base = tensor.storage.bytes.baseAddress { target.copyMemory(from: base, byteCount: byteCount) }
    }

    /// Pictures brought to their inputs' sizes, as tensors (1, C, H, W).
    package func tensors(of images: [String: ImageRequest]) throws -> [String: Tensor] {
        try Dictionary(
            uniqueKeysWithValues: images.map { name, image in
                guard let feature = model.imageInput(named: name) else {
                    throw NeedletailError(.invalidInput, "\(model.name): input '\(name)' takes no image")
                }
                let size = image.size ?? (feature.width, feature.height)
                let shape = try NeedletailError.wrapping(.invalidImage) {
                    try Shape(checking: [1, feature.color.channelCount, size.height, size.width])
                }
                let buffer = try TensorBuffer(byteCount: shape.count * MemoryLayout<Float>.stride)
                try render(image, input: name, into: buffer, batchIndex: 0)
                return (name, try Tensor(NTTensor.Tensor(.float32(shape), buffer: buffer)))
            })
    }

    /// Brings one picture to its input's size and writes it as image `batchIndex` of the buffer; `sharesPicture` on all threads of the session.
    package func render(
        _ image: ImageRequest, input: String, into buffer: TensorBuffer, batchIndex: Int, sharesPicture: Bool = false
    ) throws {
        try render(image, input: input, into: buffer, batchIndex: batchIndex) { preprocessor, target in
            // The threads of a batch prepare a picture each.
            try preprocessor.writePlanar(image.source, into: target, sharing: sharesPicture ? pictureSharing : nil)
        }
    }

    /// Makes image `batchIndex` of a graph input for the state's next run: on the backend's device from the picture's bytes where it can, else here.
    /// Several threads may prepare different images of one state; where only one does, a large picture may take all threads of the session
    /// (`sharesPicture`).
    package func prepare(
        _ image: ImageRequest, input index: Int, in entry: PlanEntry, _ state: ExecutionState, batchIndex: Int, sharesPicture: Bool = false
    ) throws {
        let name = entry.plan.graph[entry.plan.graph.inputs[index]].name
        guard entry.plan.takesPixels(input: index) else {
            return try render(image, input: name, into: state.inputs[index], batchIndex: batchIndex, sharesPicture: sharesPicture)
        }
        // The self-check compares with what the reference makes of the host's own picture.
        let alsoWrites = configuration.verifiesFirstPrediction && entry.verification.isPending
        try render(image, input: name, into: state.inputs[index], batchIndex: batchIndex) { preprocessor, target in
            try preprocessor.writePlanar(image.source, into: target, alsoWrites: alsoWrites) { view, tables in
                try NeedletailError.wrapping(.executionFailed, context: model.name) {
                    let pixels = PixelUpload(view, tables, preprocessor)
                    return try entry.plan.stage(pixels, input: index, image: batchIndex, in: state)
                }
            }
        }
    }

    private func render(
        _ image: ImageRequest, input: String, into buffer: TensorBuffer, batchIndex: Int,
        _ body: (ImagePreprocessor, UnsafeMutableBufferPointer<Float>) throws -> Void
    ) throws {
        guard let feature = model.imageInput(named: input) else {
            throw NeedletailError(.invalidInput, "\(model.name): input '\(input)' takes no image")
        }
        let size = image.size ?? (feature.width, feature.height)
        let geometry = ImageGeometry(
            width: size.width, height: size.height, cropAndScale: image.cropAndScale,
            regionOfInterest: image.regionOfInterest, orientation: image.orientation)
        let preprocessor = ImagePreprocessor(geometry: geometry, color: feature.color)
        let count = preprocessor.elementCount
        guard (batchIndex + 1) * count * MemoryLayout<Float>.stride <= buffer.byteCount else {
            throw NeedletailError(
                .invalidInput, "\(model.name): input '\(input)': an image of \(count) values does not fit \(buffer.byteCount) bytes")
        }
        let target = UnsafeMutableBufferPointer(
            start: buffer.base.assumingMemoryBound(to: Float.self) + batchIndex * count, count: count)
        try NeedletailError.wrapping(.invalidImage) { try body(preprocessor, target) }
    }
}
