import Foundation

/// Files and folders by path. Every failure is a `FileError` that names the path.
package enum Files {
    /// What a path leads to, links followed.
    package enum Kind: Sendable { case file, folder, pipe, device }

    /// Nil when there is nothing, or nothing that may be looked at.
    package static func kind(_ path: String) -> Kind? {
        var status = stat()
        guard FileName.withBytes(of: path, { stat($0, &status) }) == 0 else { return nil }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return .file
        case S_IFDIR: return .folder
        case S_IFIFO: return .pipe
        default: return .device
        }
    }

    /// A file's bytes, at most `limit`, see `OpenFile`.
    package static func read(_ path: String, limit: Int, pipes: Bool = false) throws(FileError) -> Data {
        try OpenFile(path, pipes: pipes).read(limit: limit)
    }

    /// The path that links lead to in the end, whether or not there is something; the path itself when it is no link.
    package static func destination(_ path: String) throws(FileError) -> String {
        var (path, count) = (path, 0)
        while true {
            let bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(PATH_MAX))
            defer { bytes.deallocate() }
            let found = bytes.baseAddress.map { start in FileName.withBytes(of: path) { readlink($0, start, bytes.count) } } ?? -1
            guard found >= 0 else { return path }
            count += 1
            guard count <= 40, found < bytes.count else { throw FileError.failed(path, "followed", ELOOP) }
            let target = FileName.text(bytes[..<found].map { UInt8(bitPattern: $0) })
            path = target.hasPrefix("/") ? target : folder(of: path) + "/" + target
        }
    }

    /// The folder that a path lies in.
    package static func folder(of path: String) -> String {
        var name = path[...]
        while name.count > 1, name.hasSuffix("/") { name = name.dropLast() }
        guard let slash = name.lastIndex(of: "/") else { return "." }
        return slash == name.startIndex ? "/" : String(name[..<slash])
    }

    /// Writes a file in one step: readers see what was there or all of `data`. A link is followed. What is there and no file is an error.
    package static func write(_ data: Data, to path: String) throws(FileError) {
        let target = try destination(path)
        switch kind(target) {
        case .file, nil: break
        case .folder: throw FileError(path, .isFolder)
        case .pipe: throw FileError(path, .isPipe)
        case .device: throw FileError(path, .isDevice)
        }
        let temporary = folder(of: target) + "/.\(UUID().uuidString).part"
        do {
            let file = try NewFile(temporary)
            let copy = NSData(data: data)
            try file.append(UnsafeRawBufferPointer(start: copy.bytes, count: copy.length))
            try withExtendedLifetime(copy) { () throws(FileError) in try file.finish() }
            try move(temporary, to: target)
        } catch {
            remove(temporary)
            throw FileError(path, error.problem)
        }
    }

    /// Writes a new file whose pieces begin at their offsets, in order; bytes between them are zero. Throws when there is one already.
    package static func write(pieces: [(offset: Int, bytes: UnsafeRawBufferPointer)], toNew path: String) throws(FileError) {
        let file = try NewFile(path)
        for piece in pieces {
            try file.pad(to: piece.offset)
            try file.append(piece.bytes)
        }
        try file.finish()
    }

    /// Copies a regular file to a new one.
    package static func copy(_ path: String, toNew target: String) throws(FileError) {
        let source = try OpenFile(path)
        let file = try NewFile(target)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 64)
        defer { piece.deallocate() }
        while true {
            let found = Foundation.read(source.descriptor, piece.baseAddress, piece.count)
            if found < 0, errno == EINTR { continue }
            guard found >= 0 else { throw FileError.failed(path, "read", errno) }
            if found == 0 { return try file.finish() }
            try file.append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[..<found]))
        }
    }

    /// Moves a file or folder to a place where nothing, a file or an empty folder is.
    package static func move(_ path: String, to target: String) throws(FileError) {
        let code = FileName.withBytes(of: path) { from in FileName.withBytes(of: target) { rename(from, $0) == 0 ? 0 : errno } }
        guard code == 0 else { throw FileError(target, .failed(action: "put in place", code: code)) }
    }

    /// Makes a folder and those above it that are missing.
    package static func makeFolder(_ path: String) throws(FileError) {
        if FileName.withBytes(of: path, { mkdir($0, 0o777) }) == 0 { return }
        var code = errno
        if code == EEXIST {
            guard kind(path) == .folder else { throw FileError(path, .failed(action: "written", code: ENOTDIR)) }
            return
        }
        let parent = folder(of: path)
        if code == ENOENT, parent != path {
            try makeFolder(parent)
            code = FileName.withBytes(of: path) { mkdir($0, 0o777) } == 0 ? 0 : errno
        }
        guard code == 0 || code == EEXIST else { throw FileError(path, .failed(action: "written", code: code)) }
    }

    /// The names in a folder, without `.` and `..`.
    package static func names(inFolder path: String) throws(FileError) -> [String] {
        guard let folder = FileName.withBytes(of: path, { opendir($0) }) else { throw FileError.failed(path, "opened", errno) }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = FileName.text(bytes)
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Removes a file, or a folder with all that is in it, as far as it goes; with `emptyAlone` no folder that holds anything.
    package static func remove(_ path: String, emptyAlone: Bool = false) {
        if FileName.withBytes(of: path, { unlink($0) }) == 0 { return }
        var status = stat()
        guard FileName.withBytes(of: path, { lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else { return }
        if !emptyAlone { for name in (try? names(inFolder: path)) ?? [] { remove(path + "/" + name) } }
        _ = FileName.withBytes(of: path) { rmdir($0) }
    }
}
