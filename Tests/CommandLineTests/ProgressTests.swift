import Foundation
import TestSupport
import XCTest

/// What `tune` shows while it measures.
final class ProgressTests: FolderTestCase {
    private let emotion = Fixtures.models.appendingPathComponent("Emotion.mlmodel").path
    private var cache: [String: String] { ["NEEDLETAIL_CACHE": folder.path] }

    /// What a program writes to a terminal that is its standard error, and its exit status. `interrupts` sends SIGINT at that text.
    private func onTerminal(
        _ arguments: [String], columns: UInt16, term: String = "xterm", interruptsAt text: String? = nil
    ) throws -> (text: String, status: Int32) {
        let master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        XCTAssertGreaterThanOrEqual(master, 0)
        defer { close(master) }
        // TIOCSPTLCK and TIOCGPTN, which Swift does not import: the other end is unlocked and has a number.
        var (isLocked, number): (Int32, UInt32) = (0, 0)
        XCTAssertEqual(ioctl(master, 0x4004_5431, &isLocked), 0)
        XCTAssertEqual(ioctl(master, 0x8004_5430, &number), 0)
        let slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        XCTAssertGreaterThanOrEqual(slave, 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        XCTAssertEqual(ioctl(slave, UInt(TIOCSWINSZ), &size), 0)
        let process = Process()
        process.executableURL = Tool.executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(cache.merging(["TERM": term]) { $1 }) { $1 }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
        try process.run()
        close(slave)
        var (found, buffer, isInterrupted) = ("", [UInt8](repeating: 0, count: 4096), false)
        while true {
            let count = read(master, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            // The end of a terminal that nobody has open is an error.
            guard count > 0 else { break }
            found += String(decoding: buffer.prefix(count), as: UTF8.self)
            if let text, !isInterrupted, found.contains(text) {
                isInterrupted = true
                process.interrupt()
            }
        }
        process.waitUntilExit()
        XCTAssertEqual(isInterrupted, text != nil, found)
        return (found, process.terminationStatus)
    }

    /// What stands on the line after each rewriting; every part begins by wiping the one before.
    private func lines(_ text: String) -> [String] { text.components(separatedBy: "\r\u{1b}[K") }

    func testABarOnATerminal() throws {
        for columns in [100, 30] {
            let (text, status) = try onTerminal(["tune", emotion, "--seconds", "0.5"], columns: UInt16(columns))
            XCTAssertEqual(status, 0, text)
            let lines = self.lines(text)
            XCTAssertFalse(text.contains("\n"), text)
            XCTAssertTrue(lines.allSatisfy { $0.count < columns }, "\(lines)")
            XCTAssertEqual([lines.first, lines.last], ["", ""], "the line is clean before and after")
            let end = try XCTUnwrap(lines.last { !$0.isEmpty })
            let begin = try XCTUnwrap(lines.first { !$0.isEmpty })
            if columns == 100 {
                XCTAssertNotNil(begin.wholeMatch(of: /\[-{40}\] 0%, 0 of \d+ tiles, 0:\d\d, about 0:0\d left/), begin)
                XCTAssertNotNil(end.wholeMatch(of: /\[#*-+\] \d\d?%, (\d+ of \d+ tiles|trying the whole network), 0:\d\d.*/), end)
            } else {
                XCTAssertNotNil(begin.wholeMatch(of: /0%, 0 of \d+ tiles, 0:\d\d/), begin)
                XCTAssertNotNil(end.wholeMatch(of: /(\[#*-+\] )?\d\d?%.*/), end)
            }
        }
    }

    /// What was found is kept, and the line is clean.
    func testAnInterruptedBar() throws {
        let (text, status) = try onTerminal(["tune", emotion], columns: 100, interruptsAt: "] 1%, ")
        XCTAssertEqual(status, 0, text)
        XCTAssertEqual(lines(text).last, "", text)
        XCTAssertFalse(text.contains("50%") || text.contains("100%"), text)
    }

    func testNoBarElsewhere() throws {
        let (text, status) = try onTerminal(["tune", emotion, "--seconds", "0.5", "--json"], columns: 100)
        XCTAssertEqual(status, 0)
        XCTAssertEqual(text, "")
        let (plain, _) = try onTerminal(["tune", emotion, "--seconds", "0.5"], columns: 100, term: "dumb")
        XCTAssertFalse(plain.contains("\u{1b}"), "a terminal that rewrites no line")
        let file = try Tool.run(["tune", emotion, "--seconds", "0.5"], environment: cache)
        XCTAssertEqual(file.status, 0)
        XCTAssertFalse(file.errors.contains("\r"), file.errors)
        XCTAssertNotNil(file.errors.wholeMatch(of: /(\d+%, [^\n]*\n)*/), file.errors)
    }
}
