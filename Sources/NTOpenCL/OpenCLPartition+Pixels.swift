import NTRuntime

extension OpenCLPartition: PixelStaging {
    /// Inputs of shape [N][1 or 3][height][width].
    func takesPixels(input: Int) -> Bool {
        inputShapes.indices.contains(input) && Self.takesPixels(inputShapes[input], features)
    }

    static func takesPixels(_ shape: [Int], _ features: DeviceFeatures) -> Bool {
        features.preparesPixels && shape.count == 4 && [1, 3].contains(shape[1])
    }

    func stage(_ pixels: PixelUpload, input: Int, image: Int, in state: any PartitionState) throws -> Bool {
        guard takesPixels(input: input), let state = state as? OpenCLState else { return false }
        let shape = inputShapes[input]
        guard shape[1...] == [pixels.color.channelCount, pixels.resampling.height, pixels.resampling.width] else { return false }
        return try state.pixels.stage(
            pixels, input: input, image: image, into: state.buffers[inputStorages[input]], targetBytes: shape.reduce(4, *))
    }

    func discardStaged(_ state: any PartitionState) { _ = (state as? OpenCLState)?.pixels.takeStaged() }
}
