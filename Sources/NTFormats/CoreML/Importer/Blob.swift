import NTGraph

/// A named tensor of the network under construction.
///
/// `dims` is the shape that Core ML's rules see: [Seq, B, C, H, W] in older files, anything in newer ones. The graph may hold the same
/// elements under another shape: images of rank 5 are kept as [Seq B, C, H, W], so that older networks become plain N C H W graphs.
struct Blob {
    var id: ValueID
    var dims: [Int]

    var rank: Int { dims.count }

    /// The extent along an axis counted from the back (-1 is the last).
    func extent(fromBack axis: Int) -> Int { dims[dims.count + axis] }

    /// The product of all extents but the last three.
    var leadCount: Int { dims.dropLast(3).reduce(1, *) }
}
