import CNTKernels
import NTTensor

/// How a value's elements lie in memory.
enum Layout: Equatable {
    /// Contiguous in logical order.
    case rowMajor
    /// An image [N, C, H, W] as N H W C: the channels of a pixel side by side, pixels `stride` floats apart, rows and images dense.
    case pixels(stride: Int)
    /// An image in an element of two in a slot of four bytes, bfloat16 or float16: pixels `stride` slots apart, rows and images dense.
    case pairs(element: Int32, stride: Int)

    var isPairs: Bool {
        if case .pairs = self { return true }
        return false
    }
}

/// Where a value lies: a buffer of the plan, an offset in slots of four bytes, a layout.
struct Placement: Equatable {
    var buffer: Int
    var offset = 0
    var layout: Layout

    /// Floats to step in memory for one step along each logical axis. The layout must not be pairs, whose channels have no such step.
    func strides(_ shape: Shape) -> [Int] {
        switch layout {
        case .rowMajor: return shape.strides
        case .pixels(let stride), .pairs(_, let stride): return [shape[2] * shape[3] * stride, 1, shape[3] * stride, stride]
        }
    }

    /// The same memory seen in logical order, when it is contiguous in that order too.
    func rowMajorView(_ shape: Shape) -> Placement? {
        guard case .pixels(let stride) = layout else { return self }
        let single = shape[2] * shape[3] == 1 && (stride == shape[1] || shape[0] == 1)
        guard single || (shape[1] == 1 && stride == 1) else { return nil }
        return Placement(buffer: buffer, offset: offset, layout: .rowMajor)
    }

    /// The same memory seen as pixels, when it is that already: one pixel, or one channel.
    func pixelView(_ shape: Shape) -> Placement? {
        guard case .rowMajor = layout else { return self }
        guard shape.rank == 4, shape[2] * shape[3] == 1 || shape[1] == 1 else { return nil }
        return Placement(buffer: buffer, offset: offset, layout: .pixels(stride: shape[1]))
    }

    /// Slots from pixel to pixel. The layout must be pixels or pairs.
    var pixelStride: Int {
        switch layout {
        case .pixels(let stride), .pairs(_, let stride): return stride
        case .rowMajor: return 1
        }
    }

    /// What the kernels call the type of the elements.
    var element: Int32 {
        if case .pairs(let element, _) = layout { return element }
        return Int32(NT_ELEMENT_FLOAT32)
    }
}

/// A block of memory that values lie in.
struct PlannedBuffer {
    enum Kind {
        /// In the arena of a state; `count` slots of four bytes.
        case arena(count: Int)
        /// The partition's input or output of this index.
        case input(Int)
        case output(Int)
        case constant(Tensor)
    }

    var kind: Kind
    /// The steps that use it first and last.
    var firstStep = Int.max
    var lastStep = -1
    /// Whether several values lie in it, so that none may be overwritten in place.
    var isShared = false
}
