import Foundation
import NTImage
import Synchronization
import XCTest

/// Prepared pixels against Pillow's `transpose`, `crop` and `resize(BILINEAR, box:)`.
final class ResizeTests: XCTestCase {
    struct Case: Decodable {
        var source: [Int]
        var target: [Int]
        var crop: String
        var roi: [Double]
        var orientation: UInt32
        var color: String
        var pixels: Data

        var preprocessor: ImagePreprocessor {
            get throws {
                let option = try XCTUnwrap(CropAndScale.allCases.first { "\($0)" == crop })
                let geometry = ImageGeometry(
                    width: target[0], height: target[1], cropAndScale: option,
                    regionOfInterest: NormalizedRect(x: roi[0], y: roi[1], width: roi[2], height: roi[3]),
                    orientation: ImageOrientation(exif: orientation))
                return ImagePreprocessor(geometry: geometry, color: try XCTUnwrap(ImageColor.allCases.first { "\($0)" == color }))
            }
        }

        var name: String { "\(source) to \(target) \(crop) \(color) roi \(roi) orientation \(orientation)" }
    }

    /// Bit for bit. (Pillow's one-step result may take rows first, which changes some values by 1; the script checks that.)
    func testEqualToPillowAtEveryCeiling() throws {
        let cases = try Fixture.cases("resize.json", as: Case.self)
        XCTAssertGreaterThan(cases.count, 70)
        try underEveryCeiling { ceiling in
            for each in cases {
                let preprocessor = try each.preprocessor
                let source = try FormulaImage.make(each.source[0], each.source[1])
                var planar = [Float](repeating: .nan, count: preprocessor.elementCount)
                var interleaved = planar
                try planar.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(source, into: $0) }
                try interleaved.withUnsafeMutableBufferPointer { try preprocessor.writeInterleaved(source, into: $0) }
                let channels = preprocessor.color.channelCount
                let plane = each.target[0] * each.target[1]
                XCTAssertEqual(each.pixels.count, planar.count, each.name)
                var worst: Float = 0
                for index in 0..<plane * channels {
                    worst = max(worst, abs(interleaved[index] - Float(each.pixels[index])))
                    XCTAssertEqual(interleaved[index], planar[index % channels * plane + index / channels], each.name)
                }
                XCTAssertFalse(interleaved.contains { $0.isNaN }, each.name)
                XCTAssertEqual(worst, 0, "\(each.name), \(ceiling)")
            }
        }
    }

    /// Four colours in four quadrants: each corner region, in each orientation, shows the one colour that belongs there upright.
    func testRegionsOfInterestInEveryOrientation() throws {
        // Upright: red top left, green top right, blue bottom left, white bottom right.
        let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
        let corners: [(x: Double, y: Double, color: Int)] = [(0, 0.5, 0), (0.5, 0.5, 1), (0, 0, 2), (0.5, 0, 3)]
        for orientation in ImageOrientation.allCases {
            let (width, height) = (6, 4)
            let stored = try Image(format: .rgba8, width: width, height: height) { memory, bytesPerRow in
                for y in 0..<height {
                    for x in 0..<width {
                        // Stored to upright by the definition of EXIF's eight numbers.
                        let (right, down) = (x >= width / 2, y >= height / 2)
                        let (ux, uy): (Bool, Bool) =
                            switch orientation {
                            case .up: (right, down)
                            case .upMirrored: (!right, down)
                            case .down: (!right, !down)
                            case .downMirrored: (right, !down)
                            case .leftMirrored: (down, right)
                            case .right: (!down, right)
                            case .rightMirrored: (!down, !right)
                            case .left: (down, !right)
                            }
                        let color = colors[(ux ? 1 : 0) + (uy ? 2 : 0)]
                        for c in 0..<3 { (memory + y * bytesPerRow + 4 * x + c).storeBytes(of: color[c], as: UInt8.self) }
                    }
                }
            }
            for corner in corners {
                for option in CropAndScale.allCases {
                    let geometry = ImageGeometry(
                        width: 5, height: 5, cropAndScale: option,
                        regionOfInterest: NormalizedRect(x: corner.x, y: corner.y, width: 0.5, height: 0.5), orientation: orientation)
                    var out = [Float](repeating: -1, count: 75)
                    try out.withUnsafeMutableBufferPointer { try ImagePreprocessor(geometry: geometry).writePlanar(stored, into: $0) }
                    let expected = colors[corner.color].map(Float.init)
                    for c in 0..<3 {
                        XCTAssertEqual(out[c * 25 + 12], expected[c], "\(orientation) \(corner) \(option)")
                        guard option == .scaleFill || option == .centerCrop else { continue }
                        XCTAssertTrue(out[c * 25..<c * 25 + 25].allSatisfy { $0 == expected[c] }, "\(orientation) \(corner) \(option)")
                    }
                }
            }
        }
    }

    /// A wide picture fitted into a square: black bars above and below, of equal height.
    /// A picture prepared in shares, one after another from the last on or at the same time, has the bits of one prepared at once.
    func testSharesGiveTheSameBits() throws {
        let orders: [@Sendable (Int, @Sendable (Int) -> Void) -> Void] = [
            { count, body in for share in (0..<count).reversed() { body(share) } },
            { count, body in DispatchQueue.concurrentPerform(iterations: count, execute: body) },
        ]
        let (width, height) = (1030, 778)
        let planes = PaddedBuffer(width, height * 3 / 2, format: .gray8, padding: 6)
        let base = UnsafeRawPointer(try XCTUnwrap(planes.memory.baseAddress))
        let biplanar = LentPixels(
            view: try PixelView(
                format: .nv12FullRange, width: width, height: height, base: base, bytesPerRow: planes.bytesPerRow,
                chromaBase: base + height * planes.bytesPerRow, chromaBytesPerRow: planes.bytesPerRow))
        defer { withExtendedLifetime(planes) {} }
        let sources: [(any PixelSource, ImageColor)] = [
            (try FormulaImage.make(width, height, format: .bgra8), .rgb), (try FormulaImage.make(width, height, format: .gray8), .grayscale),
            (try FormulaImage.make(width, height, format: .rgb8), .rgb), (biplanar, .bgr),
        ]
        for (index, (source, color)) in sources.enumerated() {
            for orientation in (UInt32(1)...8).map({ ImageOrientation(exif: $0) }) {
                for (crop, height) in [(CropAndScale.centerCrop, 61), (.scaleFit, 97)] {
                    let preprocessor = ImagePreprocessor(
                        geometry: ImageGeometry(width: 83, height: height, cropAndScale: crop, orientation: orientation), color: color)
                    func prepared(_ sharing: WorkSharing?) throws -> [Float] {
                        var out = [Float](repeating: .nan, count: preprocessor.elementCount)
                        try out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(source, into: $0, sharing: sharing) }
                        return out
                    }
                    let expected = try prepared(nil)
                    XCTAssertFalse(expected.contains { $0.isNaN })
                    for threads in [2, 3, 5] {
                        for order in orders {
                            let shares = Mutex(0)
                            let sharing = WorkSharing(threadCount: threads) { count, body in
                                shares.withLock { $0 = count }
                                order(count, body)
                            }
                            XCTAssertEqual(try prepared(sharing), expected, "source \(index) turned by \(orientation), \(crop), \(threads) threads")
                            shares.withLock { XCTAssertGreaterThan($0, 1) }
                        }
                    }
                }
            }
        }
    }

    func testScaleFitIsCentredOnBlack() throws {
        let source = try Image(format: .gray8, width: 40, height: 20) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 200, count: bytesPerRow * 20)
        }
        let preprocessor = ImagePreprocessor(geometry: ImageGeometry(width: 10, height: 10, cropAndScale: .scaleFit), color: .rgb)
        var out = [Float](repeating: -1, count: 300)
        try out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(source, into: $0) }
        for (index, value) in out.enumerated() {
            let y = index % 100 / 10
            XCTAssertEqual(value, (2..<7).contains(y) ? 200 : 0, "row \(y)")
        }
    }

    func testImpossibleArgumentsAreErrors() throws {
        let source = try FormulaImage.make(8, 8)
        func kind(_ geometry: ImageGeometry, count: Int = 10_000) -> ImageError.Kind? {
            var out = [Float](repeating: 0, count: count)
            do {
                try out.withUnsafeMutableBufferPointer { try ImagePreprocessor(geometry: geometry).writePlanar(source, into: $0) }
                return nil
            } catch {
                return (error as? ImageError)?.kind
            }
        }
        XCTAssertNil(kind(ImageGeometry(width: 4, height: 4)))
        XCTAssertEqual(kind(ImageGeometry(width: 0, height: 4)), .invalidArgument)
        XCTAssertEqual(kind(ImageGeometry(width: 4, height: -1)), .invalidArgument)
        XCTAssertEqual(kind(ImageGeometry(width: .max, height: .max)), .tooLarge)
        XCTAssertEqual(kind(ImageGeometry(width: 4, height: 4), count: 47), .invalidArgument)
        let bad: [NormalizedRect] = [
            .init(x: 0, y: 0, width: 0, height: 1), .init(x: 0.6, y: 0, width: 0.5, height: 1), .init(x: -0.1, y: 0, width: 1, height: 1),
            .init(x: .nan, y: 0, width: 1, height: 1), .init(x: 0, y: 0, width: .infinity, height: 1),
        ]
        for roi in bad { XCTAssertEqual(kind(ImageGeometry(width: 4, height: 4, regionOfInterest: roi)), .invalidArgument, "\(roi)") }
        XCTAssertThrowsError(try Image(format: .rgba8, width: 0, height: 3) { _, _ in }) {
            XCTAssertEqual(($0 as? ImageError)?.kind, .invalidArgument)
        }
        XCTAssertThrowsError(try Image(format: .rgba8, width: 1 << 20, height: 1 << 20) { _, _ in }) {
            XCTAssertEqual(($0 as? ImageError)?.kind, .tooLarge)
        }
    }

    /// Shared preprocessors on many threads give the same bits as one.
    func testConcurrentUse() throws {
        let image = try FormulaImage.make(97, 61)
        let preprocessors = ImageOrientation.allCases.map {
            ImagePreprocessor(geometry: ImageGeometry(width: 23, height: 19, cropAndScale: .centerCrop, orientation: $0))
        }
        @Sendable func run(_ preprocessor: ImagePreprocessor) -> [Float] {
            var out = [Float](repeating: 0, count: preprocessor.elementCount)
            try? out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(image, into: $0) }
            return out
        }
        let expected = preprocessors.map(run)
        DispatchQueue.concurrentPerform(iterations: 64) { index in
            XCTAssertEqual(run(preprocessors[index % 8]), expected[index % 8])
        }
    }
}
