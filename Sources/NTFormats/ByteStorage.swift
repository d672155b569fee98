import Foundation
import NTFiles
import NTTensor

/// The bytes of a file, mapped into memory or read; immutable and alive as long as anything points into them.
///
/// Small files are read, so that another process that shortens them meanwhile does no harm; large ones are mapped, so that weights cost
/// no copy.
package final class ByteStorage: @unchecked Sendable {
    /// Files from this size on are mapped.
    static let mappingThreshold = 1 << 20
    /// The largest file that is opened: 2 GiB, protobuf's own limit.
    package static let maximumByteCount = Int(Int32.max)

    let bytes: UnsafeRawBufferPointer
    /// The time of the file's last change; zero for bytes that are in memory alone.
    let changed: (seconds: UInt64, nanoseconds: UInt64)
    private let isMapped: Bool

    /// A copy of `data`.
    package init(copying data: [UInt8]) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, data.count), alignment: 64)
        memory.copyBytes(from: data)
        bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<data.count])
        (isMapped, changed) = (false, (0, 0))
    }

    /// The bytes of a file, mapped when it is large or `isMapped` says so. Throws `FormatError`: missing, unreadable, no regular file, empty, too large; a folder is
    /// `badPackage`.
    package init(contentsOf url: URL, isMapped isWanted: Bool = false, maximumByteCount: Int = ByteStorage.maximumByteCount) throws {
        let path = url.path
        let file: OpenFile
        do { file = try OpenFile(path) } catch { throw FormatError(error) }
        let count = file.byteCount
        guard count > 0 else { throw FormatError(.empty, path: path, "the file is empty") }
        guard count <= maximumByteCount else {
            throw FormatError(.tooLarge, path: path, "\(count) bytes are more than the \(maximumByteCount) of a model file")
        }
        changed = file.changed
        isMapped = isWanted || count >= Self.mappingThreshold
        if isMapped {
            guard let memory = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), memory != MAP_FAILED else {
                throw FormatError(.unreadable, path: path, "cannot be mapped: \(String(cString: strerror(errno)))")
            }
            bytes = UnsafeRawBufferPointer(start: memory, count: count)
            return
        }
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 64)
        var done = 0
        while done < count {
            let step = read(file.descriptor, memory.baseAddress! + done, count - done)
            if step < 0, errno == EINTR { continue }
            if step <= 0 { break }
            done += step
        }
        bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(memory)[..<done])
        if done != count { throw FormatError(.unreadable, path: path, "expected \(count) bytes, could read \(done)") }
    }

    /// Maps the pages of a range at once, where the kernel can; does nothing unless the file is mapped.
    func prefetch(_ range: Range<Int>) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let (start, end) = (range.lowerBound / page * page, (range.upperBound + page - 1) / page * page)
        guard isMapped, start < end, let base = bytes.baseAddress else { return }
        let populateForReading: Int32 = 22
        madvise(UnsafeMutableRawPointer(mutating: base + start), end - start, populateForReading)
    }

    /// Lets go of the whole pages in a range, which are read from the file again when they are wanted; does nothing unless the file is mapped.
    func release(_ range: Range<Int>) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let (start, end) = ((range.lowerBound + page - 1) / page * page, range.upperBound / page * page)
        guard isMapped, start < end, let base = bytes.baseAddress else { return }
        madvise(UnsafeMutableRawPointer(mutating: base + start), end - start, Int32(MADV_DONTNEED))
    }

    deinit {
        if isMapped { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) } else { bytes.deallocate() }
    }
}

/// A part of a `ByteStorage`, which it keeps alive.
package struct ByteSlice: Sendable {
    package let storage: ByteStorage
    /// Lies inside the storage.
    package let range: Range<Int>

    package init(_ storage: ByteStorage) { (self.storage, range) = (storage, 0..<storage.bytes.count) }

    init(_ storage: ByteStorage, _ range: Range<Int>) { (self.storage, self.range) = (storage, range) }

    package var count: Int { range.count }

    /// The bytes, valid while the storage lives.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage.bytes[range]) }

    /// Tensors of fewer bytes are copied at once.
    private static let deferralThreshold = 1 << 16

    /// Little-endian float32 values as a tensor: over the same memory when it is aligned, a copy otherwise, made when it is wanted. The count must fit.
    func floatTensor(_ shape: Shape) throws -> Tensor {
        guard count == shape.count * 4 else { throw TensorError.wrongByteCount(expected: shape.count * 4, found: count) }
        let type = TensorType.float32(shape)
        let source = DeferredBytes(
            write: { range, target in
                target.copyMemory(from: self.bytes.baseAddress.unsafelyUnwrapped + range.lowerBound, byteCount: range.count)
            }, release: { self.storage.release(self.range) })
        if let base = bytes.baseAddress, Int(bitPattern: base) % 4 == 0 {
            return try Tensor(type, buffer: TensorBuffer(borrowing: bytes, owner: storage, source: source))
        }
        if count < Self.deferralThreshold { return try Tensor(type) { $0.copyMemory(from: bytes) } }
        return try Tensor(type, buffer: TensorBuffer(byteCount: count, from: source))
    }

    /// Little-endian halves as a float32 tensor, made when it is wanted. The count must fit.
    func halfTensor(_ shape: Shape) throws -> Tensor {
        guard count == shape.count * 2 else { throw TensorError.wrongByteCount(expected: shape.count * 2, found: count) }
        let source = DeferredBytes(
            write: { range, target in
                let source = self.bytes
                let floats = target.bindMemory(to: Float.self, capacity: range.count / 4)
                for (place, index) in (range.lowerBound / 4..<range.upperBound / 4).enumerated() {
                    let bits = UInt16(littleEndian: source.loadUnaligned(fromByteOffset: index * 2, as: UInt16.self))
                    floats[place] = HalfPrecision.float(fromHalf: bits)
                }
            }, release: { self.storage.release(self.range) })
        if shape.count * 4 < Self.deferralThreshold {
            return try Tensor(.float32(shape)) { if let base = $0.baseAddress { source.write(0..<$0.count, base) } }
        }
        return try Tensor(.float32(shape), buffer: TensorBuffer(byteCount: shape.count * 4, from: source))
    }
}
