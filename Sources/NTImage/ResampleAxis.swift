import CNTKernels

/// One axis of an antialiased linear resize: which source elements make each output element, with which weights.
///
/// The filter is a triangle whose half-width is the scale when shrinking and 1 when enlarging, as in Pillow's BILINEAR; weights are
/// rounded to multiples of 2^-22. Reference: the documentation and observable results of Pillow's `Image.resize(box:)`.
final class ResampleAxis {
    /// Output elements.
    let count: Int
    /// Weights stored for each output element: a multiple of 4, or 8 for one-byte pixels; unused ones are 0.
    let taps: Int
    /// First source element of each window, counted from `origin`.
    private(set) var first: [Int32]
    /// Elements of each window that have a weight.
    private(set) var used: [Int32]
    private(set) var high: [Int16]
    private(set) var low: [Int16]
    /// The weights in the form that some kernels want; empty until `place`.
    private var digits: [Int8] = []
    /// Source elements that any window touches.
    let span: Range<Int>
    /// Windows run from high to low source elements as the output index grows.
    let isMirrored: Bool
    /// The most elements any window has.
    let longest: Int

    /// - Parameters:
    ///   - domain: the elements, in turned coordinates, that the filter may see.
    ///   - box: the part to resample, inside the domain.
    ///   - count: output elements.
    ///   - pixelBytes: 4 or 1.
    ///   - length: elements of the whole axis; with `mirrored`, turned element i is stored element length - 1 - i.
    init(domain: Range<Int>, box: (lower: Double, upper: Double), count: Int, pixelBytes: Int, length: Int, mirrored: Bool) {
        let offset = Double(domain.lowerBound)
        // Box edges in single precision, as Pillow takes them.
        let (lower, upper) = (Float(box.lower - offset), Float(box.upper - offset))
        let scale = Double(upper - lower) / Double(count)
        let support = max(scale, 1)
        let inverse = 1 / support
        let most = Int(support.rounded(.up)) * 2 + 1
        let granularity = pixelBytes == 1 ? 8 : 4
        let taps = (most + granularity - 1) / granularity * granularity
        var first = [Int32](repeating: 0, count: count)
        var used = first
        var high = [Int16](repeating: 0, count: count * taps)
        var low = high
        var weights = [Double](repeating: 0, count: most)
        var (lowest, highest, longest) = (Int.max, 0, 0)
        for i in 0..<count {
            let center = Double(lower) + (Double(i) + 0.5) * scale
            let start = min(max(Int(center - support + 0.5), 0), domain.count - 1)
            let end = max(min(Int(center + support + 0.5), domain.count), start + 1)
            let n = min(end - start, most)
            var sum = 0.0
            for k in 0..<n {
                let distance = abs((Double(k + start) - center + 0.5) * inverse)
                weights[k] = distance < 1 ? 1 - distance : 0
                sum += weights[k]
            }
            if sum == 0 {
                weights[0] = 1
                sum = 1
            }
            for k in 0..<n {
                let fixed = Int(0.5 + weights[k] / sum * Double(1 << 22))
                let slot = i * taps + (mirrored ? n - 1 - k : k)
                high[slot] = Int16(fixed >> 8)
                low[slot] = Int16(fixed & 255)
            }
            let stored = mirrored ? length - domain.lowerBound - start - n : domain.lowerBound + start
            first[i] = Int32(stored)
            used[i] = Int32(n)
            lowest = min(lowest, stored)
            highest = max(highest, stored + n)
            longest = max(longest, n)
        }
        // Kernels take four output elements at a time.
        for _ in 0..<(4 - count % 4) % 4 { first.append(first[count - 1]) }
        (self.count, self.taps, self.first, self.used, self.high, self.low) = (count, taps, first, used, high, low)
        (span, isMirrored, self.longest) = (lowest..<highest, mirrored, longest)
    }

    /// Moves windows left where `taps` elements from their beginning would pass the end of the `available` elements from `origin`,
    /// and counts all windows from `origin`. A window that cannot be moved that far stays: the row then needs slack after its end.
    /// - Returns: whether every window lies inside.
    func place(origin: Int, available: Int) -> Bool {
        var inside = true
        for i in 0..<count {
            let start = Int(first[i]) - origin
            let excess = start + taps - available
            guard excess > 0 else {
                first[i] = Int32(start)
                continue
            }
            guard excess <= start, Int(used[i]) + excess <= taps else {
                inside = false
                first[i] = Int32(start)
                continue
            }
            first[i] = Int32(start - excess)
            shiftWeights(of: i, by: excess)
        }
        for i in count..<first.count { first[i] = first[count - 1] }
        var digits = [Int8](repeating: 0, count: nt_resample_digit_bytes(Int32(count), Int32(taps)))
        withTable { table in
            digits.withUnsafeMutableBufferPointer { nt_resample_digits(table, $0.baseAddress) }
        }
        self.digits = digits
        return inside
    }

    private func shiftWeights(of i: Int, by excess: Int) {
        let base = i * taps
        for k in stride(from: taps - 1, through: 0, by: -1) {
            high[base + k] = k >= excess ? high[base + k - excess] : 0
            low[base + k] = k >= excess ? low[base + k - excess] : 0
        }
    }

    /// Lends the table in the kernels' form.
    func withTable<Result>(_ body: (UnsafePointer<nt_resample_table>) -> Result) -> Result {
        first.withUnsafeBufferPointer { first in
            high.withUnsafeBufferPointer { high in
                low.withUnsafeBufferPointer { low in
                    digits.withUnsafeBufferPointer { digits in
                        var table = nt_resample_table(
                            first: first.baseAddress, high: high.baseAddress, low: low.baseAddress, digits: digits.baseAddress,
                            taps: Int32(taps), count: Int32(count))
                        return body(&table)
                    }
                }
            }
        }
    }
}
