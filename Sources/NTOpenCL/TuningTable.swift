import Foundation
import NTFiles

/// Tiles found by measuring, per convolution shape, for one device and driver. Kept as JSON under the user's cache folder; a file that cannot be read
/// or names tiles that no kernel is written for counts as empty.
package struct TuningTable: Sendable, Codable, Equatable {
    /// Tiles by `ConvolutionShape.key`.
    package private(set) var tiles: [String: ConvolutionTile] = [:]
    /// Whether a depthwise convolution and the 1x1 that reads it are one kernel, by `SeparableShape.key`.
    package private(set) var fusions: [String: Bool] = [:]

    package init() {}

    /// A table of a version that knew fewer choices lacks them.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        tiles = try container.decode([String: ConvolutionTile].self, forKey: .tiles)
        fusions = try container.decodeIfPresent([String: Bool].self, forKey: .fusions) ?? [:]
    }

    private enum CodingKeys: String, CodingKey { case tiles, fusions }

    func isFused(_ shape: SeparableShape) -> Bool? { fusions[shape.key] }

    mutating func set(isFused: Bool, for shape: SeparableShape) { fusions[shape.key] = isFused }

    func tile(for shape: ConvolutionShape, style: DeviceStyle) -> ConvolutionTile? {
        tiles[shape.key].flatMap { $0.isSupported(style) && $0.fits(shape) ? $0 : nil }
    }

    mutating func set(_ tile: ConvolutionTile, for shape: ConvolutionShape) { tiles[shape.key] = tile }

    /// The most bytes of a file that is read.
    private static let maximumBytes = 4 << 20

    /// Where the table of a device lies, or nil when the cache is off.
    package static func file(for device: OpenCLDevice, in location: CacheLocation = CacheLocation()) -> URL? {
        location.file("tuning", for: device)
    }

    /// The table kept in a file; empty when there is none that can be read.
    package init(contentsOf file: URL?) {
        self.init()
        guard let file, let data = try? Files.read(file.path, limit: Self.maximumBytes),
            let table = try? JSONDecoder().decode(TuningTable.self, from: data)
        else { return }
        self = table
    }

    /// Writes what this table has beyond `base` into the file, in which other processes may have written meanwhile: they take turns, and what they found
    /// of other shapes stays. `notify` hears of a long wait for them. Throws `FileError` when the folder cannot be written.
    package func write(to file: URL, beyond base: TuningTable, notify: (String) -> Void = { _ in }) throws {
        try Files.makeFolder(Files.folder(of: file.path))
        let lock = BuildLock(folder: file, patience: .ofProcess, notify: notify)
        defer { withExtendedLifetime(lock) {} }
        var all = TuningTable(contentsOf: file)
        for (key, tile) in tiles where base.tiles[key] != tile { all.tiles[key] = tile }
        for (key, isFused) in fusions where base.fusions[key] != isFused { all.fusions[key] = isFused }
        try all.write(to: file)
    }

    private func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        try Files.write(try encoder.encode(self), to: file.path)
    }
}
