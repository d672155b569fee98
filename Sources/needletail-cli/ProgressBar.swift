import Foundation

/// How far long work is and how long it will take, on standard error: a line that is rewritten on a terminal, now and then a line elsewhere.
struct ProgressBar {
    private let unit: String
    private let last: String
    private let limit: Double?
    private let isTerminal = Console.isTerminal
    private let start = ContinuousClock.now
    private var shown: ContinuousClock.Instant?

    /// `unit` is what is counted, in words; `last` what is done after the counting; `limit` the seconds after which counting ends anyhow.
    init(unit: String, last: String, limit: Double?) { (self.unit, self.last, self.limit) = (unit, last, limit) }

    /// Shows that `done` of `total` are done, unless it has shown something just before; and when counting is over, at whatever share, that the last work
    /// begins.
    mutating func show(done: Int, total: Int, isLast: Bool) {
        let now = ContinuousClock.now
        let pause = Duration.seconds(isTerminal ? 0.1 : 10)
        guard isTerminal && (shown == nil || isLast) || now - (shown ?? start) >= pause else { return }
        shown = now
        let facts = facts(done: done, total: total, isLast: isLast, seconds: (now - start) / .seconds(1))
        guard isTerminal else { return Console.note(facts.joined(separator: ", ")) }
        Console.progress(Self.line(facts, share: share(done, total), columns: Self.columns))
    }

    /// Takes the line off the terminal.
    func clear() { if isTerminal { Console.progress(nil) } }

    private func share(_ done: Int, _ total: Int) -> Double { total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1 }

    /// `42%`, `120 of 286 tiles`, `0:35`, `about 0:48 left`
    private func facts(done: Int, total: Int, isLast: Bool, seconds: Double) -> [String] {
        let percent = "\(Int(share(done, total) * 100))%"
        guard !isLast else { return [percent, last, Self.clock(seconds)] }
        var parts = [percent, "\(done) of \(total) \(unit)", Self.clock(seconds)]
        let rest = [done > 0 ? seconds / Double(done) * Double(total - done) : nil, limit.map { $0 - seconds }].compactMap { $0 }.min()
        if let rest { parts.append("about \(Self.clock(max(0, rest))) left") }
        return parts
    }

    /// A bar with the facts behind it, or as many of these as a narrow terminal has room for.
    private static func line(_ parts: [String], share: Double, columns: Int) -> String {
        // A character in the last column would begin a new line.
        let (room, facts) = (columns - 1, parts.joined(separator: ", "))
        let cells = min(40, room - facts.count - 3)
        guard cells >= 8 else { return facts.count <= room ? facts : line(parts.dropLast(), share: share, columns: columns) }
        let filled = Int(share * Double(cells))
        return "[\(String(repeating: "#", count: filled))\(String(repeating: "-", count: cells - filled))] \(facts)"
    }

    /// `1:05`, `1:00:05`
    private static func clock(_ seconds: Double) -> String {
        let whole = Int(min(seconds, 359_999))
        let minutes = String(format: whole >= 3600 ? "%02d:%02d" : "%d:%02d", whole / 60 % 60, whole % 60)
        return whole >= 3600 ? "\(whole / 3600):\(minutes)" : minutes
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
