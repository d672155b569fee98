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
    /// Pixels in a row that one work-item of a depthwise convolution computes on wide cores.
    package var depthwisePixels: Int
    package var computeUnits: Int
    package var maximumWorkGroupSize: Int
    package var localMemoryBytes: Int

    /// The defaults for a device of this kind. Where kernels are compiled for each layer, many shapes of tiles cost no more than few.
    package init(for device: OpenCLDevice, family: Family? = nil, compilesPerLayer: Bool = false) {
        self.family = family ?? (device.kind == .gpu ? .manyCores : .wideCores)
        let widest = self.family == .manyCores ? 4 : 16
        vectorWidth = [16, 8, 4].first { $0 <= min(widest, max(4, device.nativeFloatVector)) } ?? 4
        // 10 and 5 rows leave little over in images of 7, 14, 28, 56, 112 pixels a side; few heights make few programs.
        tileRows = vectorWidth == 16 ? (compilesPerLayer ? [1, 4, 7, 8, 10, 12] : [1, 4, 10]) : [1, 5]
        let sides = device.maximumWorkItemSizes.prefix(2)
        groupSide = device.maximumWorkGroupSize >= 256 && sides.allSatisfy { $0 >= 16 } ? 16 : 8
        depthwisePixels = vectorWidth == 16 ? 7 : 4
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

    /// A one-dimensional range of at least `items` work-items.
    func range(items: Int) -> (global: [Int], local: [Int]) {
        let wanted = family == .manyCores ? 128 : items >= 4096 ? 64 : 1
        let local = min(wanted, maximumWorkGroupSize)
        return ([(items + local - 1) / local * local], [local])
    }

    /// A range of several dimensions whose kernel checks every bound: groups of one on wide cores, of up to 128 on many.
    func range(_ items: [Int]) -> (global: [Int], local: [Int]) {
        guard family == .manyCores else { return (items, [Int](repeating: 1, count: items.count)) }
        var room = min(128, maximumWorkGroupSize)
        let local = items.map { extent in
            var size = 1
            while size * 2 <= min(room, extent) { size *= 2 }
            room /= size
            return size
        }
        return (zip(items, local).map { ($0 + $1 - 1) / $1 * $1 }, local)
    }
}
