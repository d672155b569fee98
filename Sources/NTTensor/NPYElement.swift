import Foundation

/// How a `.npy` file keeps an element: its type and byte order, as NumPy's array interface spells them (`<f4`, `>i2`, `|u1`).
struct NPYElement {
    /// The types that are read as they are.
    static let types: [String: DType] = [
        "f4": .float32, "f2": .float16, "f8": .float64, "i1": .int8, "u1": .uint8, "i2": .int16, "u2": .uint16, "i4": .int32,
        "i8": .int64, "b1": .bool,
    ]

    /// Those that are read as a type that holds their values: unsigned numbers of 32 bits exactly, of 64 bits to 53 significant bits.
    private static let widened: [String: DType] = ["u4": .int64, "u8": .float64]

    /// What the elements are read as.
    let dtype: DType
    /// Bytes of one element in the file.
    let byteCount: Int
    private let isWidened: Bool
    private let isBigEndian: Bool

    /// Nil for types that are not read.
    init?(_ code: String) {
        guard let order = code.first, "<>=|".contains(order) else { return nil }
        let name = String(code.dropFirst())
        guard let dtype = Self.types[name] ?? Self.widened[name] else { return nil }
        isWidened = Self.types[name] == nil
        byteCount = name == "u4" ? 4 : dtype.byteCount
        // A byte order is left out (|) of single bytes alone.
        guard order != "|" || byteCount == 1 else { return nil }
        (self.dtype, isBigEndian) = (dtype, order == ">")
    }

    /// The tensor of these bytes, `byteCount` for each element.
    func tensor(_ shape: Shape, _ bytes: Data) throws -> Tensor {
        try Tensor(TensorType(dtype, shape)) { target in
            guard isWidened else {
                _ = bytes.copyBytes(to: target)
                if isBigEndian { swapBytes(target) }
                return
            }
            bytes.withUnsafeBytes { source in
                for index in 0..<shape.count {
                    if byteCount == 4 {
                        let bits = source.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)
                        target.storeBytes(of: Int64(isBigEndian ? bits.byteSwapped : bits), toByteOffset: 8 * index, as: Int64.self)
                    } else {
                        let bits = source.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
                        target.storeBytes(of: Double(isBigEndian ? bits.byteSwapped : bits), toByteOffset: 8 * index, as: Double.self)
                    }
                }
            }
        }
    }

    private func swapBytes(_ bytes: UnsafeMutableRawBufferPointer) {
        func swap<Word: FixedWidthInteger>(_: Word.Type) {
            for index in bytes.indices where index % MemoryLayout<Word>.size == 0 {
                let word = bytes.load(fromByteOffset: index, as: Word.self)
                bytes.storeBytes(of: word.byteSwapped, toByteOffset: index, as: Word.self)
            }
        }
        switch byteCount {
        case 2: swap(UInt16.self)
        case 4: swap(UInt32.self)
        case 8: swap(UInt64.self)
        default: break
        }
    }
}
