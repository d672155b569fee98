/// Where each arena storage lies: a chunk (one buffer) and an offset in it.
struct ArenaPlan: Sendable {
    struct Place: Sendable, Equatable {
        var chunk: Int
        var offset: Int
        var byteCount: Int
    }

    /// Per storage; nil for what is not in the arena.
    var places: [Place?]
    var chunkByteCounts: [Int]

    var byteCount: Int { chunkByteCounts.reduce(0, +) }
}

/// Assigns arena memory: storages whose lifetimes do not meet share bytes, and a result takes over its operand's place where the launch allows.
struct ArenaPlanner {
    /// Storage offsets are multiples of this.
    var alignment: Int
    /// The largest chunk.
    var maximumChunkBytes: Int

    private struct Block {
        var storages: [Int]
        var byteCount: Int
        var first: Int
        var last: Int
    }

    /// `inputs` live from before the first launch, `outputs` until after the last. Every storage is at most `maximumChunkBytes`.
    func plan(_ storages: [Storage], launches: [Launch], inputs: [Int], outputs: [Int]) -> ArenaPlan {
        var blocks: [Block] = []
        var owner = [Int?](repeating: nil, count: storages.count)
        var lastUse = [Int](repeating: -1, count: storages.count)
        for (index, launch) in launches.enumerated() { for storage in launch.reads + launch.writes { lastUse[storage] = index } }
        for storage in outputs { lastUse[storage] = launches.count }
        func open(_ storage: Int, at time: Int) {
            guard case .arena = storages[storage].kind, owner[storage] == nil else { return }
            owner[storage] = blocks.count
            blocks.append(
                Block(
                    storages: [storage], byteCount: rounded(storages[storage].byteCount), first: time,
                    last: max(time, lastUse[storage])))
        }
        for storage in inputs { open(storage, at: -1) }
        for (index, launch) in launches.enumerated() {
            for storage in launch.writes {
                guard case .arena = storages[storage].kind, owner[storage] == nil else { continue }
                let replaced = launch.replaceable.first { candidate in
                    guard let block = owner[candidate] else { return false }
                    return blocks[block].last == index && lastUse[candidate] == index
                        && blocks[block].byteCount >= rounded(storages[storage].byteCount)
                        && launch.reads.filter { owner[$0] == block }.count == 1
                }
                if let replaced, let block = owner[replaced] {
                    owner[storage] = block
                    blocks[block].storages.append(storage)
                    blocks[block].last = max(index, lastUse[storage])
                } else {
                    open(storage, at: index)
                }
            }
            for storage in launch.reads { open(storage, at: index) }
        }
        for storage in outputs { open(storage, at: launches.count) }
        return place(blocks, storageCount: storages.count)
    }

    private func rounded(_ byteCount: Int) -> Int { (max(byteCount, 1) + alignment - 1) / alignment * alignment }

    /// Largest first, each at the lowest free offset among the blocks that live at the same time.
    private func place(_ blocks: [Block], storageCount: Int) -> ArenaPlan {
        var plan = ArenaPlan(places: [ArenaPlan.Place?](repeating: nil, count: storageCount), chunkByteCounts: [])
        var placed: [(block: Block, place: ArenaPlan.Place)] = []
        let limit = maximumChunkBytes / alignment * alignment
        for block in blocks.sorted(by: { ($0.byteCount, $1.first) > ($1.byteCount, $0.first) }) {
            var chosen: ArenaPlan.Place?
            for chunk in 0...plan.chunkByteCounts.count {
                let busy = placed.filter { other in
                    other.place.chunk == chunk && other.block.first <= block.last && block.first <= other.block.last
                }.sorted { $0.place.offset < $1.place.offset }
                var offset = 0
                for other in busy where offset + block.byteCount > other.place.offset {
                    offset = max(offset, other.place.offset + other.place.byteCount)
                }
                if offset + block.byteCount <= max(limit, block.byteCount) || chunk == plan.chunkByteCounts.count {
                    chosen = ArenaPlan.Place(chunk: chunk, offset: offset, byteCount: block.byteCount)
                    break
                }
            }
            guard let chosen else { continue }
            if chosen.chunk == plan.chunkByteCounts.count { plan.chunkByteCounts.append(0) }
            plan.chunkByteCounts[chosen.chunk] = max(plan.chunkByteCounts[chosen.chunk], chosen.offset + chosen.byteCount)
            placed.append((block, chosen))
            for storage in block.storages { plan.places[storage] = chosen }
        }
        return plan
    }
}
