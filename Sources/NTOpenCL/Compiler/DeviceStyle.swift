/// How kernels are shaped for a kind of device: defaults, which tuning may replace.
package struct DeviceStyle: Sendable, Hashable {
    package enum Family: String, Sendable, Hashable {
        /// Few cores with wide vectors: long work-items that hold register tiles.
        case wideCores
        /// Many cores that hide latency with work-items: groups that share local memory.
        case manyCores
    }

    package var family: Family
    /// Floats of the vectors that kernels are written in: 4, 8 or 16.
    package var vectorWidth: Int
    /// Rows that the register tiles of convolutions on wide cores are chosen from.
    package var tileRows: [Int]
    /// Work-items along each side of a group on many cores: 8 or 16.
    package var groupSide: Int
    /// Pixels in a row that one work-item of a depthwise convolution computes.
    package var depthwisePixels: Int
    package var computeUnits: Int
    package var maximumWorkGroupSize: Int
    package var localMemoryBytes: Int

    /// The defaults for a device of this kind.
    package init(for device: OpenCLDevice, family: Family? = nil) {
        self.family = family ?? (device.kind == .gpu ? .manyCores : .wideCores)
        let widest = self.family == .manyCores ? 4 : 16
        vectorWidth = [16, 8, 4].first { $0 <= min(widest, max(4, device.nativeFloatVector)) } ?? 4
        // 10 and 5 rows leave little over in images of 7, 14, 28, 56, 112 pixels a side; few heights make few programs.
        tileRows = vectorWidth == 16 ? [1, 4, 10] : [1, 5]
        let sides = device.maximumWorkItemSizes.prefix(2)
        groupSide = device.maximumWorkGroupSize >= 256 && sides.allSatisfy { $0 >= 16 } ? 16 : 8
        depthwisePixels = self.family == .manyCores ? 1 : vectorWidth == 16 ? 7 : 4
        computeUnits = device.computeUnits
        localMemoryBytes = device.localMemoryBytes
        maximumWorkGroupSize = min(device.maximumWorkGroupSize, device.maximumWorkItemSizes.first ?? 1)
    }

    /// The device class in words, for descriptions.
    package var summary: String {
        family == .wideCores ? "wide cores with vectors of \(vectorWidth) floats" : "many cores with groups of \(groupSide)x\(groupSide)"
    }

    /// The widest vector that divides `count`, at most `vectorWidth`.
    func vector(dividing count: Int) -> Int { [16, 8, 4].first { $0 <= vectorWidth && count % $0 == 0 } ?? 1 }
}
