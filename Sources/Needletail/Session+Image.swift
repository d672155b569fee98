import Foundation
import NTFormats
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

    package init(
        source: any PixelSource, cropAndScale: NTImage.CropAndScale, regionOfInterest: NormalizedRect = .full,
        orientation: ImageOrientation? = nil
    ) {
        self.source = source
        self.cropAndScale = cropAndScale
        self.regionOfInterest = regionOfInterest
        self.orientation = orientation
    }
}

extension Session {
    /// Runs the model on pictures by input name, each brought to its input's default size in one pass, and on tensors for other inputs.
    package func run(
        images: [String: ImageRequest], tensors: [String: Tensor] = [:]
    ) throws -> [String: FeatureValue] {
        try withImages(images, tensors: tensors) { entry, state in try outputs(entry, state) }
    }

    /// Runs the model on pictures and calls `body` while the outputs lie in the request's own memory.
    package func withImages<Result>(
        _ images: [String: ImageRequest], tensors: [String: Tensor], _ body: (PlanEntry, ExecutionState) throws -> Result
    ) throws -> Result {
        let entry = try plan(try PlanKey(model.asset, inputs: tensors))
        return try entry.states.withState { state in
            for (index, id) in entry.plan.graph.inputs.enumerated() {
                let value = entry.plan.graph[id]
                if let image = images[value.name] {
                    try render(image, input: value.name, into: state.inputs[index], batchIndex: 0)
                } else if let tensor = tensors[value.name] {
                    try copy(tensor, to: state.inputs[index], input: value.name, type: value.type)
                } else if model.asset.isOptional(input: value.name) {
                    state.inputs[index].base.initializeMemory(as: UInt8.self, repeating: 0, count: state.inputs[index].byteCount)
                } else {
                    throw NeedletailError(.invalidInput, "\(model.name): input '\(value.name)' (\(value.type)) is missing")
                }
            }
            try execute(entry, state)
            return try body(entry, state)
        }
    }

    /// Pictures brought to their inputs' sizes, as tensors (1, C, H, W).
    package func tensors(of images: [String: ImageRequest]) throws -> [String: Tensor] {
        try Dictionary(uniqueKeysWithValues: images.map { name, image in
            guard let feature = model.imageInput(named: name) else {
                throw NeedletailError(.invalidInput, "\(model.name): input '\(name)' takes no image")
            }
            let shape: Shape = [1, feature.color.channelCount, feature.height, feature.width]
            let buffer = try TensorBuffer(byteCount: shape.count * MemoryLayout<Float>.stride)
            try render(image, input: name, into: buffer, batchIndex: 0)
            return (name, try Tensor(NTTensor.Tensor(.float32(shape), buffer: buffer)))
        })
    }

    /// Brings one picture to its input's size and writes it as image `batchIndex` of the buffer.
    package func render(_ image: ImageRequest, input: String, into buffer: TensorBuffer, batchIndex: Int) throws {
        guard let feature = model.imageInput(named: input) else {
            throw NeedletailError(.invalidInput, "\(model.name): input '\(input)' takes no image")
        }
        let geometry = ImageGeometry(
            width: feature.width, height: feature.height, cropAndScale: image.cropAndScale,
            regionOfInterest: image.regionOfInterest, orientation: image.orientation)
        let preprocessor = ImagePreprocessor(geometry: geometry, color: feature.color)
        let count = preprocessor.elementCount
        guard (batchIndex + 1) * count * MemoryLayout<Float>.stride <= buffer.byteCount else {
            throw NeedletailError(
                .invalidInput, "\(model.name): input '\(input)': an image of \(count) values does not fit \(buffer.byteCount) bytes")
        }
        let target = UnsafeMutableBufferPointer(
            start: buffer.base.assumingMemoryBound(to: Float.self) + batchIndex * count, count: count)
        try NeedletailError.wrapping(.invalidImage) { try preprocessor.writePlanar(image.source, into: target) }
    }

    func copy(_ tensor: Tensor, to buffer: TensorBuffer, input: String, type: TensorType) throws {
        guard tensor.storage.byteCount == buffer.byteCount else {
            throw NeedletailError(
                .invalidInput, "\(model.name): input '\(input)': expected \(type.shape), found \(tensor.storage.shape)")
        }
        if let base = tensor.storage.bytes.baseAddress {
            buffer.base.copyMemory(from: base, byteCount: tensor.storage.byteCount)
        }
    }
}
