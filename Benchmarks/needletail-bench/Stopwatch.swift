/// Times a body.
enum Stopwatch {
    /// The best seconds per call over short rounds that together take about `seconds`, after one untimed call. Rounds are as short as
    /// the clock allows, so that some of them escape the work of other programs.
    static func best(seconds: Double = 0.3, _ body: () throws -> Void) rethrows -> Double {
        let clock = ContinuousClock()
        func time(_ calls: Int) throws -> Double {
            let start = clock.now
            for _ in 0..<calls { try body() }
            return (clock.now - start) / .seconds(1) / Double(calls)
        }
        try body()
        // The clock takes as long as the smallest products: more calls until it does not count.
        var calls = 1
        var best = try time(calls)
        while best * Double(calls) < 1e-4, calls < 1 << 24 {
            calls *= 2
            best = try time(calls)
        }
        try repeated(seconds: seconds) { best = min(best, try time(calls)) }
        return best
    }

    /// Calls a body that takes the time itself, again and again for about `seconds`.
    static func repeated(seconds: Double = 0.3, _ body: () throws -> Void) rethrows {
        let clock = ContinuousClock()
        let start = clock.now
        repeat { try body() } while (clock.now - start) / .seconds(1) < seconds
    }
}
