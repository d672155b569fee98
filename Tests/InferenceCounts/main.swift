import CNTCallCounter
import Foundation
import NTImage
import NTRuntime
import Needletail

// Counts what inferences call: one line per case, of `name key=value ...`. A figure is the most that any of the counted runs made.
//
//   inference-counts MODEL...     self-checks first: each must count what it does on purpose

/// What each kind of count is made of, done on purpose.
func checkCounter() throws {
    try Counts(runs: 3) { keep([UInt8](repeating: 1, count: 100_000)) }.print("check-allocation")
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    try Counts(runs: 3) {
        pthread_mutex_lock(mutex)
        pthread_mutex_unlock(mutex)
    }.print("check-lock")
    let lock = NSLock()
    try Counts(runs: 3) { lock.withLock {} }.print("check-foundation")
    try Counts(runs: 3) { nt_call_counts_wait() }.print("check-wait")
    let semaphore = DispatchSemaphore(value: 0)
    try Counts(runs: 3) { _ = semaphore.wait(timeout: .now() + .milliseconds(2)) }.print("check-semaphore")
    try Counts(runs: 3) {}.print("check-nothing")
}

@inline(never)
func keep(_ bytes: [UInt8]) { bytes.withUnsafeBytes { precondition($0[99] == 1) } }

func check(_ url: URL) throws {
    let model = try Model(contentsOf: url)
    for threads in 1...2 {
        let session = try Session(model, configuration: SessionConfiguration(backend: .cpu, threadCount: threads))
        for batch in [1, 3] {
            let plan = try session.plan(PlanKey(shapes: [:], batch: batch)).plan
            let state = try plan.makeState()
            try Counts { try plan.run(state) }.print("plan-\(model.name)-threads\(threads)-batch\(batch)")
        }
        guard let name = model.firstImageInputName, let input = model.imageInput(named: name) else { continue }
        let tensor = try Tensor.zeros(shape: [1, input.color.channelCount, input.height, input.width])
        try Counts { _ = try session.run([name: tensor]) as [String: FeatureValue] }.print("tensor-\(model.name)-threads\(threads)")
        let frame = try Image(format: .bgra8, width: 640, height: 480) { memory, bytesPerRow in
            memory.initializeMemory(as: UInt8.self, repeating: 90, count: bytesPerRow * 480)
        }
        let images = [name: ImageRequest(source: frame, cropAndScale: .centerCrop)]
        try Counts { try session.withImages(images, tensors: [:]) { _, _ in } }.print("frame-\(model.name)-threads\(threads)")
        try Counts { _ = try session.run(images: images) }.print("image-\(model.name)-threads\(threads)")
    }
}

guard nt_call_counts_available() else {
    print("unavailable")
    exit(0)
}
let guarded: [StaticString] = ["libFoundation", "lib_Foundation", "libdispatch"]
let names = guarded.map { UnsafeRawPointer($0.utf8Start).assumingMemoryBound(to: CChar.self) as UnsafePointer<CChar>? }
guard names.withUnsafeBufferPointer({ nt_call_counts_guard($0.baseAddress, Int32($0.count)) }) > 0 else {
    print("no library to guard")
    exit(1)
}
do {
    try checkCounter()
    for path in CommandLine.arguments.dropFirst() { try check(URL(fileURLWithPath: path)) }
} catch {
    print("error: \(error)")
    exit(1)
}
