import CoreGraphics
import CoreVideo
import Foundation
import NTImage
import XCTest

final class PixelBufferTests: XCTestCase {
    func testImpossibleBuffers() {
        var buffer: CVPixelBuffer?
        XCTAssertEqual(CVPixelBufferCreate(nil, 0, 4, kCVPixelFormatType_32BGRA, nil, &buffer), kCVReturnInvalidSize)
        XCTAssertEqual(CVPixelBufferCreate(nil, .max, 4, kCVPixelFormatType_32BGRA, nil, &buffer), kCVReturnInvalidSize)
        XCTAssertEqual(CVPixelBufferCreate(nil, 4, 4, 0x7878_7878, nil, &buffer), kCVReturnInvalidPixelFormat)
        XCTAssertNil(buffer)
        var bytes = [UInt8](repeating: 0, count: 64)
        bytes.withUnsafeMutableBytes { raw in
            guard let base = raw.baseAddress else { return XCTFail("no memory") }
            XCTAssertEqual(
                CVPixelBufferCreateWithBytes(nil, 4, 4, kCVPixelFormatType_32BGRA, base, 15, nil, nil, nil, &buffer), kCVReturnInvalidArgument)
        }
        XCTAssertNil(buffer)
    }

    /// Bytes of the caller's, with padded rows: not copied, given back once.
    func testCallersBytes() throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let memory = UnsafeMutableRawPointer.allocate(byteCount: 20 * 2, alignment: 16)
        defer { memory.deallocate() }
        memory.initializeMemory(as: UInt8.self, repeating: 99, count: 40)
        for (index, color) in Quadrants.colors.enumerated() {
            for c in 0..<3 { memory.storeBytes(of: color.bytes[2 - c], toByteOffset: index / 2 * 20 + index % 2 * 4 + c, as: UInt8.self) }
        }
        var buffer: CVPixelBuffer?
        CVPixelBufferCreateWithBytes(
            kCFAllocatorDefault, 2, 2, kCVPixelFormatType_32BGRA, memory, 20,
            { context, _ in
                if let context { Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue().count += 1 }
            }, Unmanaged.passUnretained(counter).toOpaque(), nil, &buffer)
        do {
            let made = try XCTUnwrap(buffer)
            XCTAssertEqual(CVPixelBufferGetBaseAddress(made), memory)
            XCTAssertEqual(try Quadrants.corners(made), ["red", "green", "blue", "white"])
        }
        XCTAssertEqual(counter.count, 0)
        buffer = nil
        XCTAssertEqual(counter.count, 1)
    }

    func testPlanes() throws {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, 5, 3, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, nil, &buffer)
        let made = try XCTUnwrap(buffer)
        let luma = try XCTUnwrap(CVPixelBufferGetBaseAddressOfPlane(made, 0))
        let chroma = try XCTUnwrap(CVPixelBufferGetBaseAddressOfPlane(made, 1))
        luma.initializeMemory(as: UInt8.self, repeating: 235, count: 3 * CVPixelBufferGetBytesPerRowOfPlane(made, 0))
        chroma.initializeMemory(as: UInt8.self, repeating: 128, count: 2 * CVPixelBufferGetBytesPerRowOfPlane(made, 1))
        XCTAssertEqual([CVPixelBufferGetWidthOfPlane(made, 1), CVPixelBufferGetHeightOfPlane(made, 1)], [3, 2])
        XCTAssertEqual(try Quadrants.corners(made), ["white", "white", "white", "white"])
    }

    func testFloatBuffersAreRefusedAsPictures() throws {
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, 4, 4, kCVPixelFormatType_OneComponent16Half, nil, &buffer)
        XCTAssertThrowsError(try Quadrants.corners(XCTUnwrap(buffer))) { XCTAssertEqual(($0 as? ImageError)?.kind, .unsupported) }
    }
}
