import CoreGraphics
import CoreImage
import CoreVideo
import Foundation
import ImageIO
import NTImage
import XCTest

final class CIImageTests: XCTestCase {
    private let upright = ["red", "green", "blue", "white"]
    /// Corners after turning upright from each orientation.
    private let turned: [UInt32: [String]] = [
        1: ["red", "green", "blue", "white"], 2: ["green", "red", "white", "blue"], 3: ["white", "blue", "green", "red"],
        4: ["blue", "white", "red", "green"], 5: ["red", "blue", "green", "white"], 6: ["blue", "red", "white", "green"],
        7: ["white", "green", "blue", "red"], 8: ["green", "white", "red", "blue"],
    ]

    func testOrientedInEveryWay() throws {
        let image = CIImage(cgImage: try Quadrants.image(width: 12, height: 8))
        for (number, corners) in turned {
            let oriented = image.oriented(forExifOrientation: Int32(number))
            XCTAssertEqual(oriented.extent, CGRect(x: 0, y: 0, width: number > 4 ? 8 : 12, height: number > 4 ? 12 : 8))
            XCTAssertEqual(try Quadrants.corners(oriented), corners, "orientation \(number)")
            let rendered = try XCTUnwrap(CIContext().createCGImage(oriented, from: oriented.extent))
            XCTAssertEqual([rendered.width, rendered.height], number > 4 ? [8, 12] : [12, 8])
            XCTAssertEqual(try Quadrants.corners(rendered), corners, "orientation \(number), rendered")
            // Turned twice, and then turned by an explicit orientation, as a request handler does.
            for (second, _) in turned {
                let twice = try Quadrants.corners(oriented.oriented(forExifOrientation: Int32(second)))
                let preprocessor = ImagePreprocessor(
                    geometry: ImageGeometry(width: 16, height: 16, orientation: ImageOrientation(exif: second)))
                XCTAssertEqual(try Quadrants.corners(preprocessor.prepared(oriented)), twice, "\(number) then \(second)")
            }
        }
    }

    func testCropAndScale() throws {
        let image = CIImage(cgImage: try Quadrants.image(width: 12, height: 8))
        let blue = image.cropped(to: CGRect(x: 0, y: 0, width: 6, height: 4))
        XCTAssertEqual(blue.extent, CGRect(x: 0, y: 0, width: 6, height: 4))
        XCTAssertEqual(try Quadrants.corners(blue), ["blue", "blue", "blue", "blue"])
        let green = image.oriented(.right).cropped(to: CGRect(x: 4, y: 0, width: 4, height: 6))
        XCTAssertEqual(try Quadrants.corners(green), ["green", "green", "green", "green"])
        let small = image.transformed(by: CGAffineTransform(scaleX: 0.5, y: 0.5))
        XCTAssertEqual(small.extent, CGRect(x: 0, y: 0, width: 6, height: 4))
        XCTAssertEqual(try Quadrants.corners(small), upright)
        let moved = image.transformed(by: CGAffineTransform(translationX: 100, y: -30))
        XCTAssertEqual(try Quadrants.corners(moved), upright)
        let half = image.transformed(by: CGAffineTransform(rotationAngle: .pi))
        XCTAssertEqual(try Quadrants.corners(half), ["white", "blue", "green", "red"])
        let quarter = image.transformed(by: CGAffineTransform(rotationAngle: .pi / 2))
        XCTAssertEqual(try Quadrants.corners(quarter), try Quadrants.corners(image.oriented(.left)))
        // The bounding box's corners lie outside of a square turned by 45 degrees; its top right quadrant is then on top.
        let slanted = CIImage(cgImage: try Quadrants.image(width: 9, height: 9)).transformed(by: CGAffineTransform(rotationAngle: .pi / 4))
        XCTAssertEqual(try Quadrants.corners(slanted), ["black", "black", "black", "black"])
        let middle = slanted.cropped(to: CGRect(x: -1, y: 8, width: 2, height: 2))
        XCTAssertEqual(try Quadrants.corners(middle)[0], "green")
    }

    func testRenderToPixelBuffer() throws {
        let image = CIImage(cgImage: try Quadrants.image(width: 8, height: 8))
        var buffer: CVPixelBuffer?
        CVPixelBufferCreate(nil, 4, 4, kCVPixelFormatType_32BGRA, nil, &buffer)
        let target = try XCTUnwrap(buffer)
        CIContext().render(image, to: target)
        XCTAssertEqual(try Quadrants.corners(target), ["blue", "blue", "blue", "blue"], "the lower left of the image")
        CIContext(options: nil).render(image, to: target, bounds: image.extent, colorSpace: nil)
        XCTAssertEqual(try Quadrants.corners(target), upright)
        CIContext().render(image.transformed(by: CGAffineTransform(translationX: 2, y: 2)), to: target)
        XCTAssertEqual(try Quadrants.corners(target), ["black", "blue", "black", "black"])
    }

    func testNothingThereIsAnError() throws {
        let image = CIImage(cgImage: try Quadrants.image(width: 8, height: 8)).cropped(to: CGRect(x: 20, y: 0, width: 4, height: 4))
        XCTAssertThrowsError(try Quadrants.corners(image))
        XCTAssertNil(CIContext().createCGImage(image, from: CGRect(x: 0, y: 0, width: 4, height: 4)))
        XCTAssertNil(CIImage(data: Data("no picture".utf8)))
    }
}
