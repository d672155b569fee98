import CNTKernels
import CNTPlatform
import XCTest

/// Programs that run on many images at once.
final class ProgramTests: XCTestCase {
    /// y = x + 1 for the one number of an image; code 7 for a negative one.
    private static let addOne: nt_step_fn = { call in
        guard let x = call!.pointee.inputs.0, let y = call!.pointee.outputs.0 else { return 1 }
        if x[0] < 0 { return 7 }
        y[0] = x[0] + 1
        return 0
    }

    /// The code of a run, and what it wrote.
    private func run(_ x: [Float], states count: Int, pool: OpaquePointer?) -> (code: Int32, y: [Float], failedStep: Int) {
        let none = nt_place(buffer: -1, offset: 0)
        func step(_ from: Int32, _ to: Int32) -> nt_step {
            nt_step(
                run: Self.addOne, parameters: nil, inputs: (nt_place(buffer: from, offset: 0), none, none, none),
                outputs: (nt_place(buffer: to, offset: 0), none), parts: 1)
        }
        let steps = [step(0, 1), step(1, 2)]
        let source = KernelMemory(x.count * 3) { $0 % 3 == 0 ? x[$0 / 3] : .nan }
        let target = KernelMemory(x.count * 2)
        var program = nt_program_state()
        var states: [nt_program_state] = []
        var tables: [UnsafeMutablePointer<UnsafeMutablePointer<Float>?>] = []
        let middle = (0..<count).map { _ in KernelMemory(1) }
        for index in 0..<count {
            let table = UnsafeMutablePointer<UnsafeMutablePointer<Float>?>.allocate(capacity: 3)
            table.initialize(repeating: nil, count: 3)
            table[1] = middle[index].start
            tables.append(table)
            program.buffers = table
            states.append(program)
        }
        defer { for table in tables { table.deallocate() } }
        let buffers = [
            nt_image_buffer(buffer: 0, memory: source.start, stride: 3), nt_image_buffer(buffer: 2, memory: target.start, stride: 2),
        ]
        let code = withExtendedLifetime(middle) {
            steps.withUnsafeBufferPointer { list in
                withUnsafePointer(to: nt_program(steps: list.baseAddress, count: 2, threads: 1)) {
                    nt_program_run_images($0, &states, buffers, 2, x.count, pool)
                }
            }
        }
        XCTAssertTrue(source.isIntact && target.isIntact)
        return (code, (0..<x.count).map { target.start[2 * $0] }, states[0].failed_step)
    }

    func testImages() {
        for threads in [1, 2, 3] {
            let pool = nt_thread_pool_create(threads)
            defer { nt_thread_pool_destroy(pool) }
            for count in [1, 2, 7, 40] {
                let x = (0..<count).map(Float.init)
                for chosen in [pool, nil] {
                    let found = run(x, states: threads, pool: chosen)
                    XCTAssertEqual(found.code, 0)
                    XCTAssertEqual(found.y, x.map { $0 + 2 }, "\(threads) threads")
                }
            }
        }
    }

    /// An image that a step cannot work on ends the run with that step's code.
    func testFailure() {
        let pool = nt_thread_pool_create(2)
        defer { nt_thread_pool_destroy(pool) }
        for place in [0, 5, 9] {
            var x = [Float](repeating: 4, count: 10)
            x[place] = -3
            XCTAssertEqual(run(x, states: 2, pool: pool).code, 7)
            XCTAssertEqual(run(x, states: 2, pool: pool).failedStep, 0)
            x[place] = -1  // becomes 0 in the first step, which refuses it as well
            XCTAssertEqual(run(x, states: 2, pool: nil).code, 7)
        }
    }
}
