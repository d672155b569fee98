import Foundation
import NTFiles
import XCTest

final class FilesTests: XCTestCase {
    private var folder = ""

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Files.makeFolder(folder + "/a/b")
    }

    override func tearDown() { Files.remove(folder) }

    private func problem(_ body: () throws -> Void) -> FileError.Problem? {
        do { try body() } catch { return (error as? FileError)?.problem }
        return nil
    }

    func testWritesInOneStepAndThroughLinks() throws {
        let (file, link) = (folder + "/a/file", folder + "/link")
        XCTAssertEqual(symlink("a/file", link), 0)
        for text in ["first", "the second, longer"] {
            try Files.write(Data(text.utf8), to: link)
            XCTAssertEqual(try Files.read(file, limit: 100), Data(text.utf8))
        }
        XCTAssertEqual(try Files.destination(link), folder + "/a/file")
        XCTAssertEqual(try Files.names(inFolder: folder + "/a").sorted(), ["b", "file"], "nothing else is left")
        XCTAssertEqual(problem { try Files.write(Data(), to: folder + "/a") }, .isFolder)
        XCTAssertEqual(problem { try Files.write(Data(), to: folder + "/none/file") }, .failed(action: "written", code: ENOENT))
        XCTAssertEqual(problem { try Files.makeFolder(file + "/below") }, .failed(action: "written", code: ENOTDIR))
        XCTAssertEqual(symlink("round", folder + "/round"), 0)
        XCTAssertEqual(problem { _ = try Files.destination(folder + "/round") }, .failed(action: "followed", code: ELOOP))
    }

    func testReadsOnlyWhatIsAFile() throws {
        let (pipe, file) = (folder + "/pipe", folder + "/file")
        XCTAssertEqual(mkfifo(pipe, 0o600), 0)
        XCTAssertEqual(problem { _ = try Files.read(pipe, limit: 10) }, .isPipe)
        XCTAssertEqual(problem { _ = try Files.read(folder, limit: 10) }, .isFolder)
        XCTAssertEqual(problem { _ = try Files.read("/dev/zero", limit: 10, pipes: true) }, .isDevice)
        XCTAssertEqual(problem { _ = try Files.read(folder + "/none", limit: 10) }, .missing)
        XCTAssertEqual(problem { _ = try Files.read("/proc/cpuinfo", limit: 10) }, .tooLarge(byteCount: nil, limit: 10))
        XCTAssertEqual(problem { try Files.write(Data(), to: pipe) }, .isPipe)
        XCTAssertEqual(problem { try Files.write(Data(), to: "/dev/full") }, .isDevice)
        Files.remove(folder, emptyAlone: true)
        XCTAssertEqual(Files.kind(pipe), .pipe)
        try Files.write(Data(), to: file)
        XCTAssertEqual(truncate(file, 1 << 40), 0)
        XCTAssertEqual(problem { _ = try Files.read(file, limit: 1 << 20) }, .tooLarge(byteCount: 1 << 40, limit: 1 << 20))
    }

    /// A writer that comes late, writes in pieces with pauses, or writes nothing: all of it is read.
    func testAPipeIsReadUntilItsWriterCloses() throws {
        for pieces in [["one ", "two ", "three"], []] {
            let pipe = folder + "/pipe\(pieces.count)"
            XCTAssertEqual(mkfifo(pipe, 0o600), 0)
            DispatchQueue.global().async {
                usleep(100_000)
                let descriptor = open(pipe, O_WRONLY)
                for piece in pieces {
                    usleep(50_000)
                    _ = write(descriptor, piece, piece.utf8.count)
                }
                close(descriptor)
            }
            XCTAssertEqual(try Files.read(pipe, limit: 1000, pipes: true), Data(pieces.joined().utf8))
        }
    }

    func testNamesThatAreNoText() throws {
        let names: [[UInt8]] = [
            Array("caf".utf8) + [0xe9], [0xff, 0x80], Array("café".utf8), Array("\u{10fee9}".utf8), [0xe2, 0x82], Array("é".utf8) + [0xc3],
        ]
        for bytes in names {
            let text = FileName.text(bytes)
            XCTAssertEqual(FileName.withBytes(of: text) { name in (0..<strlen(name)).map { UInt8(bitPattern: name[Int($0)]) } }, bytes)
            let path = URL(fileURLWithPath: folder).appendingPathComponent(text).path
            try Files.write(Data(bytes), to: path)
            XCTAssertEqual(try Files.read(path, limit: 100), Data(bytes))
        }
        XCTAssertEqual(Set(try Files.names(inFolder: folder)), Set(names.map { FileName.text($0) } + ["a"]))
        XCTAssertEqual(FileName.shown(FileName.text(names[0])), "caf\\xE9")
        XCTAssertEqual(FileName.shown("café"), "café")
    }
}
