import CNTKernels

/// Weights as `nt_gemm_pack` lays them out, one packed block per group.
///
/// The constant holds each output's weights in one piece, groups and outputs in order: the weight of group g, column (output) j, tap t,
/// channel k is element (g * outputs + j) * taps * depth + t * tapStride + k * depthStride.
struct GEMMPacking {
    let kernel: UnsafePointer<nt_gemm_kernel>
    var groups = 1
    /// Columns of one group: its output channels.
    var outputs: Int
    var taps = 1
    var depth: Int
    var tapStride = 0
    var depthStride = 1

    /// Floats of one group's block.
    var groupCount: Int { nt_gemm_packed_count(kernel, outputs, taps, depth) }

    /// Names the layout, see `PackedWeights`.
    var recipe: String {
        "gemm \(String(cString: kernel.pointee.name)) groups \(groups) outputs \(outputs) taps \(taps) depth \(depth) strides "
            + "\(taps == 1 ? 0 : tapStride) \(depthStride)"
    }

    /// Packs every group, panel by panel. `elements` gives the constant's elements of a range, valid until it is called again.
    /// Writes `groups * groupCount` floats.
    func pack(_ target: UnsafeMutablePointer<Float>, elements: (Range<Int>) throws -> UnsafePointer<Float>) rethrows {
        let (width, each) = (Int(kernel.pointee.vectors * kernel.pointee.lanes), taps * depth)
        var place = target
        for group in 0..<groups {
            for first in stride(from: 0, to: outputs, by: width) {
                let columns = min(width, outputs - first)
                let start = (group * outputs + first) * each
                nt_gemm_pack(
                    kernel, columns, taps, depth, try elements(start..<(start + columns * each)), each, tapStride, depthStride, place)
                place += nt_gemm_packed_count(kernel, columns, taps, depth)
            }
        }
    }
}
