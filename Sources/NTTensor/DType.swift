/// The type of a tensor's elements.
package enum DType: String, Sendable, Hashable, CaseIterable {
    case float32, float16, bfloat16, float64
    case int8, uint8, int16, uint16, int32, int64
    case bool

    /// Bytes of one element.
    package var byteCount: Int {
        switch self {
        case .int8, .uint8, .bool: 1
        case .float16, .bfloat16, .int16, .uint16: 2
        case .float32, .int32: 4
        case .float64, .int64: 8
        }
    }
}
