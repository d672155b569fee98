import Foundation

/// A file that is being written from its start. Closed with the last reference to this object.
final class NewFile {
    let path: String
    private var descriptor: Int32
    /// Bytes written so far.
    private(set) var byteCount = 0

    /// Makes the file. Throws when there is one already, or the folder cannot be written.
    init(_ path: String) throws(FileError) {
        descriptor = FileName.withBytes(of: path) { open($0, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666) }
        self.path = path
        guard descriptor >= 0 else { throw FileError(path, .failed(action: "written", code: errno)) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(path, .failed(action: "written", code: count < 0 ? errno : EIO)) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            byteCount += count
        }
    }

    /// Appends zeros up to an offset.
    func pad(to offset: Int) throws(FileError) {
        guard offset > byteCount else { return }
        let zeros = UnsafeMutableRawBufferPointer.allocate(byteCount: min(offset - byteCount, 1 << 16), alignment: 64)
        defer { zeros.deallocate() }
        zeros.initializeMemory(as: UInt8.self, repeating: 0)
        while byteCount < offset { try append(UnsafeRawBufferPointer(rebasing: zeros[..<min(zeros.count, offset - byteCount)])) }
    }

    /// Closes the file; an error that the system kept until then is thrown.
    func finish() throws(FileError) {
        let code = close(descriptor) == 0 ? 0 : errno
        descriptor = -1
        guard code == 0 else { throw FileError(path, .failed(action: "written", code: code)) }
    }
}
