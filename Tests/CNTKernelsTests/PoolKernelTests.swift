import CNTKernels
import CNTPlatform
import XCTest

final class PoolKernelTests: XCTestCase {
    func testPixelsAndSums() {
        for index in 0..<nt_pool_kernel_count() {
            let kernel = nt_pool_kernel_at(index)!.pointee
            guard kernel.element == NT_ELEMENT_FLOAT32, kernel.isa & availableISA == kernel.isa else { continue }
            for channels in [1, 3, 4, 7, 8, 9, 15, 16, 17, 35] {
                for count in [0, 1, 2, 9] { checkPixel(kernel, channels, count) }
                checkSum(kernel, channels)
            }
        }
    }

    private func checkPixel(_ kernel: nt_pool_kernel, _ channels: Int, _ count: Int) {
        var random = KernelNumbers(seed: channels + count)
        let (pixels, step, stride) = (3, channels + 1, channels + 2)
        let taps = (0..<count).map { _ in
            KernelMemory(2 * step + channels, offset: 1) { $0 % step < channels ? random.next(-20...20) : .nan }
        }
        if count > 1 {
            taps[0].start[channels - 1] = .nan
            taps[1].start[step] = .infinity
            taps[0].start[step] = -.infinity
        }
        let pointers = taps.map { UnsafePointer<Float>?($0.start) }
        for function in [NT_POOL_MAXIMUM, NT_POOL_AVERAGE, NT_POOL_L2] {
            let y = KernelMemory(2 * stride + channels)
            kernel.pixels(Int32(function), pointers, count, channels, 0.25, pixels, step, y.start, stride)
            XCTAssertTrue(y.isIntact)
            for i in 0..<y.count {
                let (pixel, c) = (i / stride, i % stride)
                let values = c < channels ? taps.map { $0.start[pixel * step + c] } : [.nan]
                let expected: Float
                if values.contains(where: \.isNaN) {
                    expected = .nan
                } else if function == NT_POOL_MAXIMUM {
                    expected = values.max() ?? 0
                } else if function == NT_POOL_AVERAGE {
                    expected = values.reduce(0, +) * 0.25
                } else {
                    expected = values.reduce(0) { $0 + $1 * $1 }.squareRoot()
                }
                XCTAssertTrue(y.start[i] == expected || (y.start[i].isNaN && expected.isNaN), "\(function) \(channels) \(count)")
            }
        }
    }

    private func checkSum(_ kernel: nt_pool_kernel, _ channels: Int) {
        var random = KernelNumbers(seed: channels)
        let (rows, columns, stride) = (3, 5, channels + 2)
        let x = KernelMemory(rows * columns * stride) { $0 % stride < channels ? random.next(-9...9) : .nan }
        let y = KernelMemory(channels)
        kernel.sum(x.start, rows, columns, columns * stride, stride, channels, 0.5, y.start)
        XCTAssertTrue(y.isIntact)
        for c in 0..<channels {
            XCTAssertEqual(y.start[c], (0..<(rows * columns)).reduce(0) { $0 + x.start[$1 * stride + c] } * 0.5)
        }
    }
}
