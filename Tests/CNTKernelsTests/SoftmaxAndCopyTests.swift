import CNTKernels
import CNTPlatform
import Foundation
import XCTest

final class SoftmaxAndCopyTests: XCTestCase {
    func testSoftmax() {
        for index in 0..<nt_softmax_kernel_count() {
            let kernel = nt_softmax_kernel_at(index)!.pointee
            guard kernel.isa & availableISA == kernel.isa else { continue }
            for (outer, extent, inner) in [(1, 1, 1), (2, 7, 1), (1, 16, 1), (3, 33, 1), (1, 1000, 1), (2, 5, 3), (1, 9, 21)] {
                for isLog in [false, true] {
                    var random = KernelNumbers(seed: extent)
                    let x = KernelMemory(outer * extent * inner) { _ in random.unit() * 20 }
                    let y = KernelMemory(x.count) { x.start[$0] }
                    kernel.run(outer, extent, inner, isLog ? 1 : 0, y.start, y.start)
                    XCTAssertTrue(y.isIntact)
                    for o in 0..<outer {
                        for i in 0..<inner {
                            let lane = (0..<extent).map { Double(x.start[(o * extent + $0) * inner + i]) }
                            let top = lane.max()!
                            let total = lane.reduce(0) { $0 + exp($1 - top) }
                            for k in 0..<extent {
                                let expected = isLog ? lane[k] - top - log(total) : exp(lane[k] - top) / total
                                XCTAssertEqual(
                                    Double(y.start[(o * extent + k) * inner + i]), expected, accuracy: 1e-6 * max(1, abs(expected)))
                            }
                        }
                    }
                }
            }
        }
    }

    private func copy(_ dims: [Int], _ from: [Int], _ to: [Int]) -> nt_copy {
        var copy = nt_copy()
        copy.rank = Int32(dims.count)
        withUnsafeMutableBytes(of: &copy.dims) { $0.bindMemory(to: Int.self).baseAddress!.update(from: dims, count: dims.count) }
        withUnsafeMutableBytes(of: &copy.from) { $0.bindMemory(to: Int.self).baseAddress!.update(from: from, count: from.count) }
        withUnsafeMutableBytes(of: &copy.to) { $0.bindMemory(to: Int.self).baseAddress!.update(from: to, count: to.count) }
        return copy
    }

    /// Transposes, slices, broadcasts and reversals against plain loops, before and after simplification.
    func testStridedCopies() {
        let cases: [(dims: [Int], from: [Int], to: [Int], start: Int)] = [
            ([], [], [], 0), ([5], [1], [1], 0), ([5], [0], [1], 0), ([5], [-1], [1], 4), ([3, 4], [4, 1], [4, 1], 0),
            ([2, 3, 17, 19], [3 * 17 * 19, 17 * 19, 19, 1], [17 * 19 * 3, 1, 19 * 3, 3], 0),
            ([2, 17, 19, 3], [17 * 19 * 3, 19 * 3, 3, 1], [3 * 17 * 19, 19, 1, 17 * 19], 0),
            ([1, 33, 1, 18], [33 * 18, 18, 18, 1], [33 * 18, 1, 7, 33], 0), ([4, 5], [0, 1], [5, 1], 0), ([4, 0, 3], [3, 3, 1], [3, 3, 1], 0),
        ]
        for test in cases {
            for simplifies in [false, true] {
                let span = zip(test.dims, test.to).reduce(1) { $0 + max(0, $1.0 - 1) * $1.1 }
                let source = KernelMemory(4096) { Float($0) }
                let target = KernelMemory(span)
                var plan = copy(test.dims, test.from, test.to)
                if simplifies { nt_copy_simplify(&plan) }
                nt_copy_run(&plan, source.start + test.start, target.start)
                XCTAssertTrue(target.isIntact)
                let total = test.dims.reduce(1, *)
                for element in 0..<total {
                    var (rest, from, to) = (element, test.start, 0)
                    for axis in test.dims.indices.reversed() {
                        from += rest % test.dims[axis] * test.from[axis]
                        to += rest % test.dims[axis] * test.to[axis]
                        rest /= test.dims[axis]
                    }
                    XCTAssertEqual(target.start[to], Float(from), "\(test) simplified \(simplifies)")
                }
            }
        }
    }
}
