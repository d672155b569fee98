/// What can be wrong with a tensor from outside.
package enum TensorError: Error, Sendable, Equatable, CustomStringConvertible {
    case badShape(dims: [Int], reason: String)
    case wrongByteCount(expected: Int, found: Int)
    case wrongDType(expected: DType, found: DType)
    case wrongShape(expected: Shape, found: Shape)
    case outOfMemory(byteCount: Int)
    case badNPY(reason: String)

    package var description: String {
        switch self {
        case .badShape(let dims, let reason): "shape \(dims) is refused: \(reason)"
        case .wrongByteCount(let expected, let found): "expected \(expected) bytes, found \(found)"
        case .wrongDType(let expected, let found):
            "expected elements of type \(expected.rawValue), found \(found.rawValue)"
        case .wrongShape(let expected, let found): "expected shape \(expected), found \(found)"
        case .outOfMemory(let byteCount): "cannot allocate \(byteCount) bytes"
        case .badNPY(let reason): "not a readable .npy file: \(reason)"
        }
    }
}
