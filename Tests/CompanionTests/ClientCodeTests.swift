import CoreGraphics
import CoreImage
import CoreMedia
import CoreVideo
import ImageIO
import UIKit
import XCTest

// What client code defines for itself: it must go on compiling beside the module's own.
extension CGImagePropertyOrientation {
    init(_ orientation: UIImage.Orientation) {
        switch orientation {
        case .up: self = .up
        case .upMirrored: self = .upMirrored
        case .down: self = .down
        case .downMirrored: self = .downMirrored
        case .left: self = .left
        case .leftMirrored: self = .leftMirrored
        case .right: self = .right
        case .rightMirrored: self = .rightMirrored
        @unknown default: self = .up
        }
    }
}

/// Code as it stands in phone apps, compiled and run.
final class ClientCodeTests: XCTestCase {
    func testOrientationIsAnOpenEnumeration() {
        XCTAssertNotNil(CGImagePropertyOrientation(rawValue: 0))
        XCTAssertEqual(CGImagePropertyOrientation(rawValue: 6), .right)
        XCTAssertEqual(CGImagePropertyOrientation(UIImage.Orientation.right).rawValue, 6)
        let expected: [UInt32] = [1, 3, 8, 6, 2, 4, 5, 7]
        XCTAssertEqual(UIImage.Orientation.allCases.map { CGImagePropertyOrientation($0).rawValue }, expected)
        XCTAssertEqual(UIImage.Orientation.allCases.map(\.rawValue), Array(0...7))
    }

    /// The usual way from a picture to a pixel buffer.
    private func pixelBuffer(from image: CGImage, width: Int, height: Int) -> CVPixelBuffer? {
        let attributes =
            [
                kCVPixelBufferCGImageCompatibilityKey: kCFBooleanTrue!,
                kCVPixelBufferCGBitmapContextCompatibilityKey: kCFBooleanTrue!,
            ] as CFDictionary
        var buffer: CVPixelBuffer?
        let status = CVPixelBufferCreate(kCFAllocatorDefault, width, height, kCVPixelFormatType_32ARGB, attributes, &buffer)
        guard status == kCVReturnSuccess, let pixelBuffer = buffer else { return nil }
        CVPixelBufferLockBaseAddress(pixelBuffer, CVPixelBufferLockFlags(rawValue: 0))
        defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, CVPixelBufferLockFlags(rawValue: 0)) }
        let context = CGContext(
            data: CVPixelBufferGetBaseAddress(pixelBuffer), width: width, height: height, bitsPerComponent: 8,
            bytesPerRow: CVPixelBufferGetBytesPerRow(pixelBuffer), space: CGColorSpaceCreateDeviceRGB(),
            bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue)
        context?.draw(image, in: CGRect(x: 0, y: 0, width: width, height: height))
        return pixelBuffer
    }

    func testPictureToPixelBuffer() throws {
        let image = try Quadrants.image(width: 8, height: 4)
        let buffer = try XCTUnwrap(pixelBuffer(from: image, width: 4, height: 4))
        XCTAssertEqual(CVPixelBufferGetWidth(buffer), 4)
        XCTAssertEqual(CVPixelBufferGetBytesPerRow(buffer) % 64, 0)
        let base = try XCTUnwrap(CVPixelBufferGetBaseAddress(buffer)).assumingMemoryBound(to: UInt8.self)
        let row = CVPixelBufferGetBytesPerRow(buffer)
        XCTAssertEqual(Array(UnsafeBufferPointer(start: base, count: 4)), [255, 255, 0, 0], "red at the top left, alpha first")
        XCTAssertEqual(Array(UnsafeBufferPointer(start: base + 3 * row + 12, count: 4)), [255, 255, 255, 255])
    }

    /// Drawing a turned picture upright through UIKit's image contexts.
    func testDrawingUpright() throws {
        let image = UIImage(cgImage: try Quadrants.image(width: 6, height: 4), scale: 1, orientation: .right)
        XCTAssertEqual(image.size, CGSize(width: 4, height: 6))
        UIGraphicsBeginImageContextWithOptions(image.size, true, 1)
        image.draw(in: CGRect(origin: .zero, size: image.size))
        let drawn = UIGraphicsGetImageFromCurrentImageContext()
        UIGraphicsEndImageContext()
        let upright = try XCTUnwrap(drawn?.cgImage)
        // Turned clockwise, blue of the bottom left comes to the top left.
        XCTAssertEqual(try Quadrants.corners(upright), ["blue", "red", "white", "green"])
        XCTAssertNil(UIGraphicsGetCurrentContext())
    }

    func testSampleBuffer() throws {
        var buffer: CVPixelBuffer?
        let options: [String: Any] = [kCVPixelBufferIOSurfacePropertiesKey as String: [:] as [String: Any]]
        CVPixelBufferCreate(nil, 6, 4, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange, options as CFDictionary, &buffer)
        let frame = try XCTUnwrap(buffer)
        XCTAssertTrue(CVPixelBufferIsPlanar(frame))
        XCTAssertEqual(CVPixelBufferGetPlaneCount(frame), 2)
        XCTAssertEqual(CVPixelBufferGetHeightOfPlane(frame, 1), 2)
        XCTAssertNil(CVPixelBufferGetBaseAddressOfPlane(frame, 2))
        var description: CMVideoFormatDescription?
        CMVideoFormatDescriptionCreateForImageBuffer(allocator: kCFAllocatorDefault, imageBuffer: frame, formatDescriptionOut: &description)
        var timing = CMSampleTimingInfo(
            duration: CMTime(value: 1, timescale: 30), presentationTimeStamp: CMTimeMake(value: 3, timescale: 30), decodeTimeStamp: .invalid)
        var sample: CMSampleBuffer?
        CMSampleBufferCreateReadyWithImageBuffer(
            allocator: kCFAllocatorDefault, imageBuffer: frame, formatDescription: try XCTUnwrap(description), sampleTiming: &timing,
            sampleBufferOut: &sample)
        let made = try XCTUnwrap(sample)
        XCTAssertTrue(CMSampleBufferGetImageBuffer(made) === frame)
        XCTAssertEqual(CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(made)), 0.1, accuracy: 1e-12)
    }
}
