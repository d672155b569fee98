import Foundation
import NTGraph
import NTImage
import NTOpenCL
import NTRuntime
import NTTensor
import Needletail
import TestSupport
import XCTest

/// Pictures prepared on an OpenCL device against those prepared by the host: the same bits for every format, orientation, crop and colour.
final class PixelStagingTests: XCTestCase {
    /// Random bytes in any format, with bytes between the rows.
    private struct RandomPicture: PixelSource {
        let format: PixelFormat
        let width: Int
        let height: Int
        let bytes: [UInt8]
        let embeddedOrientation = ImageOrientation.up

        init(_ format: PixelFormat, _ width: Int, _ height: Int) {
            (self.format, self.width, self.height) = (format, width, height)
            var state: UInt64 = 88_172_645_463_325_252
            bytes = (0..<((width * format.bytesPerPixel + 6) * height + (width + 7) * (height + 1))).map { _ in
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return UInt8(truncatingIfNeeded: state >> 24)
            }
        }

        func withPixels<Result>(for geometry: ImageGeometry?, _ body: (PixelView) throws -> Result) throws -> Result {
            try bytes.withUnsafeBytes { bytes in
                let base = try XCTUnwrap(bytes.baseAddress)
                let bytesPerRow = width * format.bytesPerPixel + 6
                return try body(
                    PixelView(
                        format: format, width: width, height: height, base: base, bytesPerRow: bytesPerRow,
                        chromaBase: format.isBiplanar ? base + bytesPerRow * height : nil, chromaBytesPerRow: (width + 1) / 2 * 2 + 4))
            }
        }
    }

    private static func backends() throws -> [OpenCLBackend] {
        let device = try OpenCLBackend.devices().device(0)
        return try [DeviceStyle.Family.wideCores, .manyCores].map {
            try OpenCLBackend(device: device, family: $0, features: DeviceFeatures(preparesPixels: true))
        }
    }

    /// Plans that give their input back, by shape.
    private final class Plans {
        let backend: OpenCLBackend
        private var made: [[Int]: (ExecutionPlan, ExecutionState)] = [:]

        init(_ backend: OpenCLBackend) { self.backend = backend }

        func found(_ preprocessor: ImagePreprocessor, _ source: some PixelSource) throws -> [Float] {
            let shape = [1, preprocessor.color.channelCount, preprocessor.geometry.height, preprocessor.geometry.width]
            if made[shape] == nil {
                var builder = GraphBuilder(name: "pixels")
                let x = builder.input("image", .float32(try Shape(checking: shape)))
                try builder.output(try builder.add(Unary(.linear(1, 0)), x, layer: "same"), name: "y")
                let plan = try ExecutionPlan(builder.graph, backend: backend)
                made[shape] = (plan, try plan.makeState())
            }
            let (plan, state) = try XCTUnwrap(made[shape])
            let target = UnsafeMutableBufferPointer(start: state.inputs[0].base.assumingMemoryBound(to: Float.self), count: preprocessor.elementCount)
            target.update(repeating: -1)
            var taken = false
            try preprocessor.writePlanar(source, into: target) { view, tables in
                taken = try plan.stage(PixelUpload(view, tables, preprocessor), input: 0, image: 0, in: state)
                return taken
            }
            XCTAssertTrue(taken)
            XCTAssertEqual(target[0], -1, "the host prepared the picture too")
            try plan.run(state)
            return Array(UnsafeBufferPointer(start: state.outputs[0].base.assumingMemoryBound(to: Float.self), count: preprocessor.elementCount))
        }
    }

    private func expected(_ preprocessor: ImagePreprocessor, _ source: some PixelSource) throws -> [Float] {
        var out = [Float](repeating: .nan, count: preprocessor.elementCount)
        try out.withUnsafeMutableBufferPointer { try preprocessor.writePlanar(source, into: $0) }
        return out
    }

    /// Shrinking and enlarging, odd sizes, whole pictures and regions between pixels.
    func testEqualToTheHost() throws {
        let regions: [NormalizedRect] = [.full, NormalizedRect(x: 0.13, y: 0.31, width: 0.5, height: 0.4)]
        for backend in try Self.backends() {
            let plans = Plans(backend)
            var number = 0
            for format in PixelFormat.allCases {
                let picture = RandomPicture(format, 37, 22)
                for orientation in ImageOrientation.allCases {
                    for crop in NTImage.CropAndScale.allCases {
                        for color in ImageColor.allCases {
                            let size = [(11, 9), (16, 40), (50, 7)][number % 3]
                            let geometry = ImageGeometry(
                                width: size.0, height: size.1, cropAndScale: crop, regionOfInterest: regions[number % 2], orientation: orientation)
                            number += 1
                            let preprocessor = ImagePreprocessor(geometry: geometry, color: color)
                            let (a, b) = (try plans.found(preprocessor, picture), try expected(preprocessor, picture))
                            XCTAssertTrue(a == b, "\(format) \(orientation) \(crop) \(color) \(size) on \(backend.style.family)")
                        }
                    }
                }
            }
            XCTAssertEqual(number, 9 * 8 * 5 * 3)
        }
    }

    /// A camera frame's size.
    func testAFrame() throws {
        for backend in try Self.backends() {
            let plans = Plans(backend)
            for (format, orientation) in [(PixelFormat.bgra8, ImageOrientation.up), (.nv12VideoRange, .right), (.rgb8, .left)] {
                let geometry = ImageGeometry(width: 224, height: 224, cropAndScale: .centerCrop, orientation: orientation)
                let preprocessor = ImagePreprocessor(geometry: geometry, color: .rgb)
                let frame = RandomPicture(format, 640, 481)
                XCTAssertTrue(try plans.found(preprocessor, frame) == expected(preprocessor, frame), "\(format)")
            }
        }
    }

    /// Sessions give the same bits whichever side prepares the picture, alone, in batches and under the self-check.
    func testSessions() throws {
        let folder = Fixtures.models.appendingPathComponent("photos")
        for (model, names) in [("Emotion.mlmodel", ["face.png"]), ("MobileNet.mlmodel", ["cat.png", "coffee.jpg", "astronaut.jpg"])] {
            var labels: [[[Classification]]] = []
            for (onDevice, verifies) in [(false, false), (true, false), (true, true)] {
                var configuration = SessionConfiguration(backend: .opencl, verifiesFirstPrediction: verifies)
                configuration.deviceFeatures = DeviceFeatures(preparesPixels: onDevice)
                let classifier = try ImageClassifier(contentsOf: Fixtures.models.appendingPathComponent(model), configuration: configuration)
                let plan = classifier.session.defaultPlan.plan
                XCTAssertEqual(plan.takesPixels(input: 0), onDevice)
                let files = names.map { folder.appendingPathComponent($0) }
                var found = try files.map { try classifier.classify(imageAt: $0, top: 3) }
                found += try classifier.classify(imagesAt: files + [folder.appendingPathComponent("none.png")] + files).filter {
                    (try? $0.get()) != nil
                }.map { try $0.get() }
                XCTAssertEqual(found.count, 3 * names.count)
                if verifies { XCTAssertLessThan(try XCTUnwrap(classifier.session.verification), 1e-3) }
                labels.append(found)
            }
            XCTAssertEqual(labels[0], labels[1], model)
            XCTAssertEqual(labels[0], labels[2], model)
        }
    }

    /// An error of whoever takes the pixels comes through as it is.
    func testErrorsOfTheTakerComeThrough() throws {
        let preprocessor = ImagePreprocessor(geometry: ImageGeometry(width: 4, height: 4), color: .rgb)
        var out = [Float](repeating: 0, count: preprocessor.elementCount)
        struct Broken: Error {}
        XCTAssertThrowsError(
            try out.withUnsafeMutableBufferPointer {
                try preprocessor.writePlanar(RandomPicture(.rgba8, 9, 9), into: $0) { _, _ in throw Broken() }
            }
        ) { XCTAssertTrue($0 is Broken) }
    }
}
