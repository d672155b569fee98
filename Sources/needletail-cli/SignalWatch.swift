import Dispatch
import Foundation

/// Hears of the signals that ask the program to end, but for those that whoever started it wants ignored.
final class SignalWatch {
    private let sources: [(number: Int32, source: any DispatchSourceSignal)]

    /// From now on `body` is called with a signal's number in the place of what the signal does.
    init(_ body: @escaping @Sendable (Int32) -> Void) {
        sources = [SIGINT, SIGTERM, SIGHUP].compactMap { number in
            var before = sigaction()
            sigaction(number, nil, &before)
            let isDefault = before.__sigaction_handler.sa_handler == nil
            guard isDefault else { return nil }
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { body(number) }
            source.resume()
            return (number, source)
        }
    }

    /// Signals do again what they did.
    func cancel() {
        for (number, source) in sources {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }

    /// Ends the program by a signal.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
