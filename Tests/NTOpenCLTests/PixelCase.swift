import NTGraph
import NTOpenCL
import NTRuntime
import NTTensor
import XCTest

/// A picture of random bytes with random tables, and what plain loops make of it.
struct PixelCase {
    var encoding: PixelUpload.Encoding
    var color: PixelUpload.Color
    var resampling: PixelResampling
    var planes: [(bytes: [UInt8], bytesPerRow: Int, width: Int, height: Int)]

    init(
        _ encoding: PixelUpload.Encoding, _ color: PixelUpload.Color, columns: Int, rows: Int, transposed: Bool, drawn: (Int, Int),
        at place: (Int, Int),
        image: (Int, Int), padding: Int = 3, seed: UInt64
    ) {
        var numbers = SeededNumbers(seed)
        func axis(_ count: Int, extent: Int) -> PixelResampling.Axis {
            let taps = min(extent, 4)
            let used = (0..<count).map { _ in Int32(1 + numbers.next() % UInt64(taps)) }
            let first = used.map { Int32(numbers.next() % UInt64(extent - Int($0) + 1)) }
            var weights = [Int32](repeating: 0, count: taps * count)
            for element in 0..<count {
                // Sums of weights stay near 1, above it too, so that values are held to 255.
                for tap in 0..<Int(used[element]) { weights[tap * count + element] = Int32(numbers.next() % (9 << 19)) / used[element] }
            }
            return PixelResampling.Axis(first: first, used: used, taps: taps, weights: weights)
        }
        let x = axis(drawn.0, extent: transposed ? rows : columns)
        let y = axis(drawn.1, extent: transposed ? columns : rows)
        resampling = PixelResampling(
            columns: columns, rows: rows, isTransposed: transposed, x: x, y: y, left: place.0, top: place.1, width: image.0, height: image.1)
        (self.encoding, self.color) = (encoding, color)
        func plane(_ width: Int, _ height: Int) -> (bytes: [UInt8], bytesPerRow: Int, width: Int, height: Int) {
            ((0..<(width + padding) * height).map { _ in UInt8(truncatingIfNeeded: numbers.next() >> 20) }, width + padding, width, height)
        }
        switch encoding {
        case .gray: planes = [plane(columns, rows)]
        case .packed(let byteCount, _, _, _): planes = [plane(columns * byteCount, rows)]
        case .biplanar: planes = [plane(columns, rows), plane((columns + 1) / 2 * 2, (rows + 1) / 2)]
        }
    }

    /// A case of each program, small.
    static var all: [PixelCase] {
        let encodings: [PixelUpload.Encoding] = [
            .gray, .packed(byteCount: 3, red: 2, green: 1, blue: 0), .packed(byteCount: 4, red: 1, green: 2, blue: 3), .biplanar(videoRange: true),
            .biplanar(videoRange: false),
        ]
        var cases: [PixelCase] = []
        for encoding in encodings {
            for color in [PixelUpload.Color.rgb, .bgr, .luma] {
                for transposed in [false, true] {
                    cases.append(
                        PixelCase(
                            encoding, color, columns: 7, rows: 5, transposed: transposed, drawn: (6, 4), at: (1, 2), image: (9, 6),
                            seed: UInt64(cases.count + 1)))
                }
            }
        }
        return cases
    }

    var imageShape: [Int] { [color.channelCount, resampling.height, resampling.width] }

    /// Lends the upload; the rows end with their last byte.
    func withUpload<Result>(_ body: (PixelUpload) throws -> Result) rethrows -> Result {
        try planes[0].bytes.withUnsafeBytes { first in
            try (planes.count > 1 ? planes[1].bytes : [0]).withUnsafeBytes { second in
                let bases = [first, second]
                return try body(
                    PixelUpload(
                        planes: planes.enumerated().map {
                            PixelUpload.Plane(
                                base: bases[$0].baseAddress!, bytesPerRow: $1.bytesPerRow, width: $1.width, height: $1.height)
                        }, encoding: encoding, color: color, resampling: resampling))
            }
        }
    }

    /// Red, green, blue of a stored pixel, or its one value.
    private func pixel(_ column: Int, _ row: Int) -> [Int] {
        func byte(_ plane: Int, _ row: Int, _ at: Int) -> Int { Int(planes[plane].bytes[row * planes[plane].bytesPerRow + at]) }
        var values: [Int]
        switch encoding {
        case .gray: return [byte(0, row, column)]
        case .packed(let count, let red, let green, let blue):
            values = [red, green, blue].map { byte(0, row, column * count + $0) }
        case .biplanar(let isVideo):
            let (u, v) = (byte(1, row / 2, column / 2 * 2) - 128, byte(1, row / 2, column / 2 * 2 + 1) - 128)
            let y = (byte(0, row, column) - (isVideo ? 16 : 0)) * (isVideo ? 76309 : 65536) + 32768
            let sums =
                isVideo ? [y + 104597 * v, y - 25675 * u - 53279 * v, y + 132201 * u] : [y + 91881 * v, y - 22553 * u - 46802 * v, y + 116130 * u]
            values = sums.map { min(max($0 >> 16, 0), 255) }
        }
        if color == .luma { values = [(values[0] * 19595 + values[1] * 38470 + values[2] * 7471 + 32768) >> 16] }
        return values
    }

    private func sum(_ axis: PixelResampling.Axis, _ element: Int, _ value: (Int) -> [Int]) -> [Int] {
        var total = [1 << 21, 1 << 21, 1 << 21]
        for tap in 0..<Int(axis.used[element]) {
            for (part, source) in value(Int(axis.first[element]) + tap).enumerated() {
                total[part] += Int(axis.weights[tap * axis.count + element]) * source
            }
        }
        return total.map { min(max($0 >> 22, 0), 255) }
    }

    /// [channels][height][width].
    var expected: [Float] {
        let r = resampling
        var out = [Float](repeating: 0, count: imageShape.reduce(1, *))
        for x in 0..<r.x.count {
            let lines = (0..<(r.isTransposed ? r.columns : r.rows)).map { line in
                sum(r.x, x) { r.isTransposed ? pixel(line, $0) : pixel($0, line) }
            }
            for y in 0..<r.y.count {
                let value = sum(r.y, y) { lines[$0] }
                for channel in 0..<color.channelCount {
                    let part = encoding == .gray || color == .luma ? 0 : color == .bgr ? 2 - channel : channel
                    out[(channel * r.height + r.top + y) * r.width + r.left + x] = Float(value[part])
                }
            }
        }
        return out
    }

    /// A plan that gives its one input back, for `count` images.
    func plan(_ backend: OpenCLBackend, count: Int = 1) throws -> ExecutionPlan {
        var builder = GraphBuilder(name: "pixels")
        let x = builder.input("image", .float32(Shape([count] + imageShape)))
        try builder.output(try builder.add(Unary(.linear(1, 0.5)), x, layer: "half more"), name: "y")
        return try ExecutionPlan(builder.graph, backend: backend)
    }

    /// What the device makes of it, without the half that the plan adds.
    func found(_ backend: OpenCLBackend) throws -> [Float] {
        let plan = try plan(backend)
        let state = try plan.makeState()
        XCTAssertTrue(try withUpload { try plan.stage($0, input: 0, image: 0, in: state) })
        try plan.run(state)
        return UnsafeBufferPointer(start: state.outputs[0].base.assumingMemoryBound(to: Float.self), count: imageShape.reduce(1, *)).map { $0 - 0.5 }
    }
}
