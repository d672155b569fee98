/// Times a body.
enum Stopwatch {
    /// The best seconds per call over short rounds that together take about `seconds`, after one untimed call. Rounds are as short as
    /// the clock allows, so that some of them escape the work of other programs.
    static func best(seconds: Double = 0.3, _ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        try body()
        let start = clock.now
        try body()
        let once = max((clock.now - start) / .seconds(1), 1e-9)
        let calls = max(1, Int(2e-4 / once))
        var best = Double.infinity
        repeat {
            let begin = clock.now
            for _ in 0..<calls { try body() }
            best = min(best, (clock.now - begin) / .seconds(1) / Double(calls))
        } while (clock.now - start) / .seconds(1) < seconds
        return best
    }
}
