import Foundation
import Synchronization

/// Held while a program is built, so that processes sharing a cache folder build one after another. Freed with the last reference, and by the system when
/// the process dies.
final class BuildLock {
    /// Whether another process held it first.
    let hadToWait: Bool
    private let descriptor: Int32

    /// Waits for the lock of a folder, a file beside it. Nil when it cannot be made, or another process keeps it for longer than `patience` lasts.
    /// `notify` hears of a long wait.
    init?(folder: URL, patience: BuildPatience, notify: (String) -> Void) {
        let path = folder.path + ".lock"
        let opened = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard opened >= 0 else { return nil }
        let start = ContinuousClock.now
        let most = patience.seconds
        var (waited, isTold) = (0.0, false)
        defer { patience.spend(waited) }
        while flock(opened, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, waited < most else {
                close(opened)
                return nil
            }
            if !isTold, waited >= patience.secondsUntilNotice {
                isTold = true
                notify("waiting, \(Int(most.rounded(.up))) s at most, for another process that builds OpenCL programs and holds '\(path)'")
            }
            usleep(20_000)
            waited = (ContinuousClock.now - start) / .seconds(1)
        }
        descriptor = opened
        hadToWait = waited > 0
    }

    deinit { close(descriptor) }
}

/// How long builds wait for other processes, all waits together: once that is used up, a lock that is held is done without. Shared by threads.
package final class BuildPatience: Sendable {
    /// What this process has.
    package static let ofProcess = BuildPatience(seconds: 120)

    let secondsUntilNotice: Double
    private let rest: Mutex<Double>

    package init(seconds: Double, secondsUntilNotice: Double = 1.5) {
        rest = Mutex(seconds)
        self.secondsUntilNotice = secondsUntilNotice
    }

    /// What is left.
    package var seconds: Double { rest.withLock { $0 } }

    fileprivate func spend(_ seconds: Double) { rest.withLock { $0 = max(0, $0 - seconds) } }
}
