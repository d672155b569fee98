import Foundation
import NTFiles

/// NumPy's `.npy` files, versions 1 to 3, as NumPy's format document describes them: C or Fortran order, either byte order.
package enum NPY {
    /// The most bytes of a file that is read: 1 GiB.
    package static let maximumByteCount = 1 << 30

    /// Reads a tensor from the bytes of a `.npy` file.
    package static func decode(_ data: Data) throws -> Tensor {
        let bytes = [UInt8](data.prefix(12))
        guard bytes.count >= 10, bytes[0] == 0x93, Array(bytes[1..<6]) == Array("NUMPY".utf8) else {
            throw TensorError.badNPY(reason: "the magic bytes are missing")
        }
        let wide = bytes[6] >= 2
        guard (1...3).contains(bytes[6]), !wide || bytes.count >= 12 else {
            throw TensorError.badNPY(reason: "version \(bytes[6]) is unknown")
        }
        let headerStart = wide ? 12 : 10
        let headerLength =
            wide
            ? Int(bytes[8]) | Int(bytes[9]) << 8 | Int(bytes[10]) << 16 | Int(bytes[11]) << 24
            : Int(bytes[8]) | Int(bytes[9]) << 8
        guard headerLength <= 1 << 16, headerStart + headerLength <= data.count else {
            throw TensorError.badNPY(reason: "the header is truncated")
        }
        let start = data.startIndex
        let headerData = data[(start + headerStart)..<(start + headerStart + headerLength)]
        let header = try Header(String(decoding: headerData, as: UTF8.self))
        let shape = try Shape(checking: header.fortranOrder ? header.dims.reversed() : header.dims)
        let payload = data[(start + headerStart + headerLength)...]
        guard payload.count == shape.count * header.element.byteCount else {
            throw TensorError.wrongByteCount(expected: shape.count * header.element.byteCount, found: payload.count)
        }
        let tensor = try header.element.tensor(shape, payload)
        return header.fortranOrder ? try reversingAxes(tensor) : tensor
    }

    /// Reads a tensor from a file, or from a pipe until its writer closes it. Throws `FileError` when it cannot be read or is too large, `TensorError` when
    /// it is malformed.
    package static func read(contentsOf url: URL) throws -> Tensor {
        try decode(try Files.read(url.path, limit: maximumByteCount, pipes: true))
    }

    /// The bytes of a `.npy` file (version 1.0, C order) holding `tensor`. A bfloat16 tensor is written as float32.
    package static func encode(_ tensor: Tensor) throws -> Data {
        let tensor = tensor.dtype == .bfloat16 ? try tensor.asFloat32() : tensor
        let dims = tensor.shape.dims.map(String.init).joined(separator: ", ")
        let tuple = tensor.shape.rank == 1 ? "(\(dims),)" : "(\(dims))"
        var header = "{'descr': '\(code(of: tensor.dtype))', 'fortran_order': False, 'shape': \(tuple), }"
        let unpadded = 10 + header.utf8.count + 1
        header += String(repeating: " ", count: (64 - unpadded % 64) % 64) + "\n"
        var data = Data([0x93] + Array("NUMPY".utf8) + [1, 0])
        let length = header.utf8.count
        data.append(contentsOf: [UInt8(length & 0xff), UInt8(length >> 8)])
        data.append(contentsOf: header.utf8)
        withExtendedLifetime(tensor) { data.append(contentsOf: tensor.bytes) }
        return data
    }

    private static func code(of dtype: DType) -> String {
        let name = NPYElement.types.first { $0.value == dtype }?.key ?? "f4"
        return (dtype.byteCount == 1 ? "|" : "<") + name
    }

    private static func reversingAxes(_ tensor: Tensor) throws -> Tensor {
        let dims = Array(tensor.shape.dims.reversed())
        let size = tensor.dtype.byteCount
        let sourceStrides = Array(tensor.shape.strides.reversed())
        return try Tensor(TensorType(tensor.dtype, Shape(dims))) { target in
            var index = [Int](repeating: 0, count: dims.count)
            for element in 0..<tensor.count {
                var offset = 0
                for axis in dims.indices { offset += index[axis] * sourceStrides[axis] }
                let source = UnsafeRawBufferPointer(rebasing: tensor.bytes[(offset * size)..<((offset + 1) * size)])
                UnsafeMutableRawBufferPointer(rebasing: target[(element * size)...]).copyMemory(from: source)
                for axis in dims.indices.reversed() {
                    index[axis] += 1
                    if index[axis] < dims[axis] { break }
                    index[axis] = 0
                }
            }
        }
    }

    /// The Python dictionary literal at the head of the file.
    private struct Header {
        var element: NPYElement
        var fortranOrder: Bool
        var dims: [Int]

        init(_ text: String) throws {
            func value(_ key: String) throws -> Substring {
                for quote in ["'", "\""] {
                    guard let range = text.range(of: quote + key + quote) else { continue }
                    let rest = text[range.upperBound...].drop { $0 == " " }
                    if rest.first == ":" { return rest.dropFirst().drop { $0 == " " } }
                }
                throw TensorError.badNPY(reason: "the header lacks \(key)")
            }
            let descr = try value("descr")
            let name = descr.dropFirst().prefix { $0 != "'" && $0 != "\"" }
            guard let element = NPYElement(String(name)) else {
                throw TensorError.badNPY(reason: "element type \(name.prefix(16)) is not supported")
            }
            self.element = element
            let order = try value("fortran_order")
            guard order.hasPrefix("True") || order.hasPrefix("False") else {
                throw TensorError.badNPY(reason: "fortran_order is neither True nor False")
            }
            fortranOrder = order.hasPrefix("True")
            let tuple = try value("shape")
            guard tuple.first == "(", let end = tuple.firstIndex(of: ")") else {
                throw TensorError.badNPY(reason: "the shape is no tuple")
            }
            dims = try tuple[tuple.index(after: tuple.startIndex)..<end].split(separator: ",").compactMap { part in
                let trimmed = part.trimmingCharacters(in: .whitespaces)
                if trimmed.isEmpty { return nil }
                // Python 2 wrote long integers so: 3L.
                guard let extent = Int(trimmed.hasSuffix("L") ? String(trimmed.dropLast()) : trimmed), extent >= 0 else {
                    throw TensorError.badNPY(reason: "extent \(trimmed.prefix(16)) is no number")
                }
                return extent
            }
        }
    }
}
