/// A partition's launches as stages of few launches: each holds as many kinds of kernels as a program is worth.
struct NetworkPlan: Sendable {
    /// A buffer that arguments lie in.
    enum Base: Sendable {
        /// Constants of one buffer.
        case constants(DeviceBuffer)
        /// A chunk of the state's arena.
        case arena(Int)
        /// A storage of its own.
        case storage(Int)
    }

    /// Stages that one launch runs.
    struct Segment: Sendable {
        var program: ProgramKey
        var stages: Range<Int>
    }

    let bases: [Base]
    let segments: [Segment]
    /// One row per stage, as `network.cl` reads them.
    let table: [Int32]
    let stageCount: Int
    /// Groups of a launch.
    let groups: Int

    /// Numbers between the counters of two stages.
    static let counterStride = 32
    /// Kinds of kernels in a program: compilers take more than twice the time for twice as many.
    private static let maximumKinds = 24
    private static let maximumBases = 24

    var counterByteCount: Int { (stageCount + 1) * Self.counterStride * 4 }

    /// Nil when an argument lies where no row can say, or kernels need groups of their own.
    init?(_ launches: [Launch], storages: [Storage], arena: ArenaPlan, style: DeviceStyle) {
        guard style.family == .wideCores, !launches.isEmpty else { return nil }
        var finder = PlaceFinder(storages: storages, arena: arena)
        var (segments, rows): ([Segment], [[Int32]]) = ([], [])
        var (kinds, start): ([StageKind], Int) = ([], 0)
        var kindNumbers: [StageKind: Int] = [:]
        var (spans, afters): ([Spans], [Int]) = ([], [])
        func close(at end: Int) {
            segments.append(Segment(program: ProgramKey(source: .network, macros: [:], network: NetworkText(kinds: kinds)), stages: start..<end))
            (kinds, start) = ([], end)
            kindNumbers = [:]
        }
        for (index, launch) in launches.enumerated() {
            let kind = StageKind(launch)
            guard let items = Int32(exactly: kind.items) else { return nil }
            if kindNumbers[kind] == nil {
                if kinds.count == Self.maximumKinds { close(at: index) }
                kindNumbers[kind] = kinds.count
                kinds.append(kind)
            }
            let places = launch.storages.map { finder.place(of: $0) }
            guard !places.contains(where: { $0 == nil }), finder.bases.count <= Self.maximumBases else { return nil }
            let span = Spans(reads: launch.reads.compactMap { finder.span(of: $0) }, writes: launch.writes.compactMap { finder.span(of: $0) })
            afters.append(spans.lastIndex { $0.conflicts(with: span) } ?? -1)
            spans.append(span)
            let step = max(1, kind.items / (style.computeUnits * 16))
            rows.append(
                [Int32(kindNumbers[kind] ?? 0), items, Int32(step), Int32(afters[index])]
                    + places.compactMap { $0 }.flatMap { [$0.base, $0.word] })
        }
        close(at: launches.count)
        let length = rows.map(\.count).max() ?? 4
        table = rows.flatMap { $0 + [Int32](repeating: 0, count: length - $0.count) }
        bases = finder.bases
        self.segments = segments.map { segment in
            var segment = segment
            segment.program.network.baseCount = finder.bases.count
            segment.program.network.rowLength = length
            return segment
        }
        stageCount = launches.count
        groups = style.computeUnits
    }

    /// The memory that a stage reads and writes.
    private struct Spans {
        var reads: [PlaceFinder.Span]
        var writes: [PlaceFinder.Span]

        /// Whether one of the two writes what the other reads or writes.
        func conflicts(with later: Spans) -> Bool {
            writes.contains { write in (later.reads + later.writes).contains { write.meets($0) } }
                || reads.contains { read in later.writes.contains { read.meets($0) } }
        }
    }
}

extension Launch {
    /// The storages among the arguments, in order.
    fileprivate var storages: [Int] {
        arguments.compactMap { if case .storage(let index) = $0 { index } else { nil } }
    }
}

/// Finds the buffers that storages lie in, and numbers them.
private struct PlaceFinder {
    /// Bytes of a base.
    struct Span {
        var base: Int32
        var bytes: Range<Int>

        func meets(_ other: Span) -> Bool { base == other.base && bytes.overlaps(other.bytes) }
    }

    let storages: [Storage]
    let arena: ArenaPlan
    private(set) var bases: [NetworkPlan.Base] = []
    private var constants: [ObjectIdentifier: Int32] = [:]
    private var chunks: [Int: Int32] = [:]
    private var own: [Int: Int32] = [:]

    init(storages: [Storage], arena: ArenaPlan) { (self.storages, self.arena) = (storages, arena) }

    private static func number<Key>(_ key: Key, _ known: inout [Key: Int32], _ bases: inout [NetworkPlan.Base], _ base: NetworkPlan.Base) -> Int32 {
        if let found = known[key] { return found }
        let next = Int32(truncatingIfNeeded: bases.count)
        known[key] = next
        bases.append(base)
        return next
    }

    /// The base and the byte where a storage begins.
    mutating func span(of storage: Int) -> Span? {
        let count = storages[storage].byteCount
        switch storages[storage].kind {
        case .constant(let buffer):
            let (whole, offset) = buffer.origin
            return Span(
                base: Self.number(ObjectIdentifier(whole), &constants, &bases, .constants(whole)), bytes: offset..<(offset + count))
        case .arena:
            guard let place = arena.places[storage] else { return nil }
            return Span(
                base: Self.number(place.chunk, &chunks, &bases, .arena(place.chunk)), bytes: place.offset..<(place.offset + place.byteCount))
        case .shared, .status: return Span(base: Self.number(storage, &own, &bases, .storage(storage)), bytes: 0..<max(1, count))
        }
    }

    /// The base, and in 4-byte words where a storage begins; nil when a row cannot say so.
    mutating func place(of storage: Int) -> (base: Int32, word: Int32)? {
        guard let span = span(of: storage), span.bytes.lowerBound % 4 == 0, let word = Int32(exactly: span.bytes.lowerBound / 4) else { return nil }
        return (span.base, word)
    }
}
