import Foundation

/// Held while a program is built, so that processes sharing a cache folder build one after another. Freed with the last reference, and by the system when
/// the process dies.
final class BuildLock {
    /// Whether another process held it first.
    let hadToWait: Bool
    private let descriptor: Int32

    /// The longest wait for another process, in seconds; after that the build goes ahead without the lock.
    static let longestWait = 120.0

    /// Waits for the lock of a folder, a file beside it. Nil when it cannot be made, or another process keeps the lock too long.
    init?(folder: URL) {
        let opened = open(folder.path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard opened >= 0 else { return nil }
        let deadline = ContinuousClock.now + .seconds(Self.longestWait)
        var waited = false
        while flock(opened, LOCK_EX | LOCK_NB) != 0 {
            waited = true
            guard errno == EWOULDBLOCK || errno == EINTR, ContinuousClock.now < deadline else {
                close(opened)
                return nil
            }
            usleep(20_000)
        }
        descriptor = opened
        hadToWait = waited
    }

    deinit { close(descriptor) }
}
