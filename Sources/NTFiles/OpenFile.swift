import Foundation

/// A file that is open for reading. Opening never waits: a pipe or device where a file is expected is an error, not a program that hangs.
package final class OpenFile {
    package let path: String
    /// For reading and mapping; closed with the last reference to this object.
    package let descriptor: Int32
    /// Of a regular file, when it was opened; 0 for a pipe.
    package let byteCount: Int
    /// The time of a file's last change.
    package let changed: (seconds: UInt64, nanoseconds: UInt64)
    package let isPipe: Bool

    /// Opens a regular file or, with `pipes`, a pipe. Throws `FileError`.
    package init(_ path: String, pipes: Bool = false) throws(FileError) {
        let expected = pipes ? "a file or a pipe" : "a file"
        let opened = FileName.withBytes(of: path) { Foundation.open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) }
        guard opened >= 0 else {
            let code = errno
            if code == ENOTDIR { throw FileError(path, .missing) }
            throw code == ENXIO ? FileError(path, .isDevice, expected: expected) : FileError.failed(path, "opened", code)
        }
        var status = stat()
        let problem: FileError.Problem?
        if fstat(opened, &status) != 0 {
            problem = .failed(action: "examined", code: errno)
        } else {
            switch status.st_mode & S_IFMT {
            case S_IFREG: problem = nil
            case S_IFIFO: problem = pipes ? nil : .isPipe
            case S_IFDIR: problem = .isFolder
            default: problem = .isDevice
            }
        }
        if let problem {
            close(opened)
            throw FileError(path, problem, expected: expected)
        }
        (self.path, descriptor) = (path, opened)
        isPipe = status.st_mode & S_IFMT == S_IFIFO
        byteCount = isPipe ? 0 : Int(status.st_size)
        changed = (UInt64(bitPattern: Int64(status.st_mtim.tv_sec)), UInt64(bitPattern: Int64(status.st_mtim.tv_nsec)))
    }

    deinit { close(descriptor) }

    /// All bytes: a file's from its start, a pipe's until its last writer closes it, however long that and the first writer take.
    /// Throws `FileError`, also when there are more than `limit`, of which no more are read then.
    package func read(limit: Int) throws(FileError) -> Data {
        guard byteCount <= limit else { throw FileError(path, .tooLarge(byteCount: byteCount, limit: limit)) }
        if isPipe { try awaitWriter() }
        // A file that grows meanwhile is read as far as it was long; a length of 0 is that of files that do not tell.
        if byteCount > 0 { return try readWhole() }
        var data = Data()
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let found = try piece.withUnsafeMutableBytes { bytes in Result { () throws(FileError) in try readSome(bytes) } }.get()
            if found == 0 { return data }
            data.append(contentsOf: piece[..<found])
            guard data.count <= limit else { throw FileError(path, .tooLarge(byteCount: nil, limit: limit)) }
        }
    }

    private func readWhole() throws(FileError) -> Data {
        guard let memory = malloc(byteCount) else { throw FileError(path, .failed(action: "read", code: ENOMEM)) }
        var count = 0
        do {
            while count < byteCount {
                let found = try readSome(UnsafeMutableRawBufferPointer(start: memory + count, count: byteCount - count))
                if found == 0 { break }
                count += found
            }
        } catch {
            free(memory)
            throw error
        }
        return Data(bytesNoCopy: memory, count: count, deallocator: .free)
    }

    /// Reads at most as many bytes as there is room for; 0 at the end.
    private func readSome(_ bytes: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        while true {
            let found = Foundation.read(descriptor, bytes.baseAddress, bytes.count)
            if found >= 0 { return found }
            guard errno == EINTR else { throw FileError.failed(path, "read", errno) }
        }
    }

    /// Waits until a pipe has had a writer, and lets reads wait from then on. Without a writer yet a read would take the pipe for empty.
    private func awaitWriter() throws(FileError) {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, -1) < 0 {
            guard errno == EINTR else { throw FileError.failed(path, "waited for", errno) }
        }
        guard fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK) == 0 else { throw FileError.failed(path, "read", errno) }
    }
}
