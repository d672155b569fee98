import Foundation
import NTFiles
import Synchronization

/// A hidden folder beside the place that it is going to be moved to. It is locked while its process lives, so that one of a process that was killed is
/// known and can be removed.
final class UnfinishedFolder {
    let path: String
    private let descriptor: Int32

    /// The folders of this process, and whether it is about to end and makes no more.
    private struct Living {
        var paths: Set<String> = []
        var isEnding = false
    }

    private static let living = Mutex(Living())

    /// Makes the folder. Throws `FileError`.
    init(beside target: String) throws(FileError) {
        while true {
            let path = Self.prefix(target) + UUID().uuidString + Self.suffix
            try Self.make(path)
            let opened = Self.open(path)
            let code = errno
            // Another process may take it for abandoned until it is locked.
            if opened < 0, code == ENOENT {
                Self.forget(path)
                continue
            }
            guard opened >= 0 else {
                Self.forget(path)
                throw FileError(path, .failed(action: "opened", code: code))
            }
            // A file system without locks keeps what is abandoned.
            flock(opened, LOCK_EX)
            guard Self.isOpen(opened, at: path) else {
                close(opened)
                Self.forget(path)
                continue
            }
            (self.path, descriptor) = (path, opened)
            return
        }
    }

    /// Removes what is at the folder's path now.
    deinit {
        Files.remove(path)
        Self.forget(path)
        close(descriptor)
    }

    /// Makes a folder, so that at every moment it either is not there or is known to be this process's.
    private static func make(_ path: String) throws(FileError) {
        let result: Result<Void, FileError> = living.withLock { living in
            guard !living.isEnding else { return .failure(FileError(path, .failed(action: "made", code: EINTR))) }
            do throws(FileError) {
                try Files.makeFolder(path)
            } catch {
                return .failure(error)
            }
            living.paths.insert(path)
            return .success(())
        }
        try result.get()
    }

    private static func forget(_ path: String) { living.withLock { _ = $0.paths.remove(path) } }

    /// Removes the folders of this process, which is about to end and can make no more.
    static func removeAll() {
        let paths = living.withLock { living in
            living.isEnding = true
            return living.paths
        }
        // A file may be made in a folder while it is being emptied.
        for path in paths {
            for _ in 0..<20 where Files.kind(path) != nil {
                Files.remove(path)
                usleep(5_000)
            }
        }
    }

    /// Removes the folders for this target whose processes are gone.
    static func removeAbandoned(beside target: String) {
        let folder = Files.folder(of: target)
        let prefix = String(prefix(target).dropFirst(folder.count + 1))
        for name in (try? Files.names(inFolder: folder)) ?? [] where name.hasPrefix(prefix) && name.hasSuffix(suffix) {
            let path = folder + "/" + name
            let opened = open(path)
            guard opened >= 0 else { continue }
            if flock(opened, LOCK_EX | LOCK_NB) == 0 { Files.remove(path) }
            close(opened)
        }
    }

    private static let suffix = ".part"

    /// What the paths of folders for this target begin with.
    private static func prefix(_ target: String) -> String {
        let folder = Files.folder(of: target)
        let name = target.split(separator: "/").last.map(String.init) ?? ""
        return "\(folder)/.\(name)."
    }

    private static func open(_ path: String) -> Int32 {
        FileName.withBytes(of: path) { Foundation.open($0, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
    }

    private static func isOpen(_ descriptor: Int32, at path: String) -> Bool {
        var (opened, found) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, FileName.withBytes(of: path, { lstat($0, &found) }) == 0 else { return false }
        return opened.st_dev == found.st_dev && opened.st_ino == found.st_ino
    }
}
