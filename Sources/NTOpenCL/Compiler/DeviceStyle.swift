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
    /// Work-items of a group per dimension.
    package var maximumWorkItemSizes: [Int]
    package var localMemoryBytes: Int
    /// How items that share a sum meet before they meet in local memory; nil where they do that alone.
    package private(set) var subgroups: Subgroups?
    /// The OpenCL C that kernels with shared sums are written in.
    private var language = "CL1.2"

    /// Work-items along the sides of the smallest group that shares local memory, and the bytes that the smallest tile needs there.
    private static let leastSide = 8
    private static let leastLocalBytes = 4 << 10

    /// The defaults for a device of this kind. Where kernels are compiled for each layer, many shapes of tiles cost no more than few.
    package init(for device: OpenCLDevice, family: Family? = nil, compilesPerLayer: Bool = false, usesSubgroups: Bool = false) {
        maximumWorkItemSizes = device.maximumWorkItemSizes.map { max(1, $0) }
        let sides = maximumWorkItemSizes.prefix(2)
        maximumWorkGroupSize = max(1, min(device.maximumWorkGroupSize, sides.first ?? 1))
        localMemoryBytes = device.localMemoryBytes
        let sharesLocalMemory =
            maximumWorkGroupSize >= Self.leastSide * Self.leastSide && sides.count == 2 && sides.allSatisfy { $0 >= Self.leastSide }
            && localMemoryBytes >= Self.leastLocalBytes
        self.family = sharesLocalMemory ? family ?? (device.kind == .gpu ? .manyCores : .wideCores) : .wideCores
        let widest = self.family == .manyCores ? 4 : 16
        vectorWidth = [16, 8, 4].first { $0 <= min(widest, max(4, device.nativeFloatVector)) } ?? 4
        // 10 and 5 rows leave little over in images of 7, 14, 28, 56, 112 pixels a side; few heights make few programs.
        tileRows = vectorWidth == 16 ? (compilesPerLayer ? [1, 4, 7, 8, 10, 12] : [1, 4, 10]) : [1, 5]
        groupSide = maximumWorkGroupSize >= 256 && sides.allSatisfy { $0 >= 16 } ? 16 : Self.leastSide
        depthwisePixels = vectorWidth == 16 ? 7 : 4
        computeUnits = device.computeUnits
        if usesSubgroups, self.family == .manyCores { use(Subgroups.all(of: device).first, of: device) }
    }

    /// The style after a kernel was found to allow less than this one asks: groups that are no larger, less local memory, or else kernels that share
    /// none. Nil where nothing can be smaller.
    func within(_ limit: KernelLimit, _ allowed: Int) -> DeviceStyle? {
        var result = self
        switch limit {
        case .workItems:
            guard allowed > 0, allowed < maximumWorkGroupSize else { return nil }
            result.maximumWorkGroupSize = allowed
            if allowed < 256 { result.groupSide = Self.leastSide }
        case .localBytes:
            guard family == .manyCores else { return nil }
            result.localMemoryBytes = min(allowed, localMemoryBytes / 2)
        }
        let isShareable = result.maximumWorkGroupSize >= Self.leastSide * Self.leastSide && result.localMemoryBytes >= Self.leastLocalBytes
        if !isShareable { (result.family, result.subgroups, result.language) = (.wideCores, nil, "CL1.2") }
        return result
    }

    /// Has shared sums meet by one of the device's means, or in local memory alone.
    package mutating func use(_ means: Subgroups?, of device: OpenCLDevice) {
        (subgroups, language) = (means, means?.language(of: device) ?? "CL1.2")
    }

    /// The device class in words, for descriptions.
    package var summary: String {
        family == .wideCores ? "wide cores with vectors of \(vectorWidth) floats" : "many cores with groups of \(groupSide)x\(groupSide)"
    }

    /// The widest vector that divides `count`, at most `vectorWidth`.
    func vector(dividing count: Int) -> Int { [16, 8, 4].first { $0 <= vectorWidth && count % $0 == 0 } ?? 1 }

    /// A program whose groups of `group` items share sums.
    func sharing(_ source: KernelSource, macros: [String: String], group: Int) -> ProgramKey {
        var key = ProgramKey(source: source, macros: macros)
        key.macros["GROUP"] = "\(group)"
        if group > 1, let subgroups {
            key.macros["SUBGROUPS"] = subgroups.macro
            key.language = language
        }
        return key
    }

    /// Items of a group that share `sums` sums, at most `wanted`: as many as the device takes and its local memory has room for. 1 where these are too few to
    /// be worth it.
    func groupSize(wanted: Int, sums: Int = 1) -> Int {
        guard family == .manyCores else { return 1 }
        let size = min(wanted, maximumWorkGroupSize, localMemoryBytes / (4 * (sums + 1)))
        return size < 32 ? 1 : size
    }

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
        let local = items.enumerated().map { axis, extent in
            var size = 1
            while size * 2 <= min(room, extent, axis < maximumWorkItemSizes.count ? maximumWorkItemSizes[axis] : 1) { size *= 2 }
            room /= size
            return size
        }
        return (zip(items, local).map { ($0 + $1 - 1) / $1 * $1 }, local)
    }
}
