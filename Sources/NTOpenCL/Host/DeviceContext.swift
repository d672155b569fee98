import COpenCL
import Foundation

/// A context on one device, with the programs built on it. Shared by threads.
final class DeviceContext: @unchecked Sendable {
    let api: OpenCLInterface
    let device: OpenCLDevice
    let context: cl_context
    /// Recording and replaying of launches, where the device has it.
    let commandBuffers: CommandBufferCalls?
    private let cache: ProgramCache?
    private let notify: @Sendable (String) -> Void
    private let lock = NSLock()
    private var programs: [ProgramKey: DeviceProgram] = [:]
    private let transferLock = NSLock()
    private var transferQueue: CommandQueue?
    private var builds = 0
    private var loads = 0

    /// Programs compiled from source by this context, cache hits left out.
    var buildCount: Int { lock.withLock { builds } }
    /// Programs taken from the disk cache by this context.
    var loadCount: Int { lock.withLock { loads } }

    /// `notify` hears, for people, of work that begins and takes minutes, and of long waits for other processes.
    init(
        _ device: OpenCLDevice, api: OpenCLInterface, cache: ProgramCache?, notify: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(OpenCLError) {
        self.api = api
        self.notify = notify
        self.device = device
        self.cache = cache
        commandBuffers = CommandBufferCalls(device, api: api)
        context = try api.create("clCreateContext", kind: "context") { code in
            var id: cl_device_id? = device.id
            var properties: [cl_context_properties] = [
                cl_context_properties(CL_CONTEXT_PLATFORM), cl_context_properties(Int(bitPattern: device.platform)), 0,
            ]
            return clCreateContext(&properties, 1, &id, nil, nil, &code)
        }
    }

    deinit {
        transferQueue = nil
        programs = [:]
        api.release(kind: "context") { clReleaseContext(context) }
    }

    /// The program of a key: built once per context, loaded from the disk cache when it is there.
    func program(_ key: ProgramKey) throws(OpenCLError) -> DeviceProgram {
        lock.lock()
        defer { lock.unlock() }
        if let known = programs[key] { return known }
        let text = key.sourceText
        let options = key.optionText
        let entry = cache.map { _ in CacheEntryKey(source: text, options: options, device: device) }
        let isKeptByDriver = isKeptByDriver(key)
        func ready() -> DeviceProgram? { isKeptByDriver ? noted(entry, key, text) : cached(entry, key, options) }
        if let program = ready() { return program }
        // One process builds at a time: PoCL's own cache fails builds that run at once, and the others find what the first has stored.
        let buildLock = cache?.lockBuilds(notify)
        defer { withExtendedLifetime(buildLock) {} }
        if buildLock?.hadToWait == true, let program = ready() { return program }
        if key.source == .network, device.platformName != PoCLCache.platformName {
            notify("single=on: '\(device.name)' compiles the network as one program now, for which drivers other than PoCL may need minutes")
        }
        let program = try DeviceProgram.build(source: text, name: key.source.rawValue, options: options, on: self)
        programs[key] = program
        builds += 1
        if let cache, let entry, let binary = isKeptByDriver ? [] : program.binary() { cache.store(binary, for: entry) }
        return program
    }

    /// Whether the cache only notes that a program has been built. PoCL compiles a kernel anew for its first launch, keeps that, and finds it by the
    /// source; asking for the binary has it compile a second kernel, which for a network takes seconds and which no launch uses.
    private func isKeptByDriver(_ key: ProgramKey) -> Bool { key.source == .network && device.platformName == PoCLCache.platformName }

    /// The program that the disk cache holds, or nil. The lock is held.
    private func cached(_ entry: CacheEntryKey?, _ key: ProgramKey, _ options: String) -> DeviceProgram? {
        guard let cache, let entry, let binary = cache.load(entry),
            let program = try? DeviceProgram.load(binary: binary, name: key.source.rawValue, options: options, on: self)
        else { return nil }
        programs[key] = program
        loads += 1
        return program
    }

    /// The program that the disk cache notes as built, from the driver's own cache, or nil. The lock is held.
    private func noted(_ entry: CacheEntryKey?, _ key: ProgramKey, _ text: String) -> DeviceProgram? {
        guard let cache, let entry, cache.load(entry) != nil,
            let program = try? DeviceProgram.build(source: text, name: key.source.rawValue, options: key.optionText, on: self)
        else { return nil }
        programs[key] = program
        loads += 1
        return program
    }

    /// Copies bytes to a buffer, from byte `offset` of it on, and waits.
    func upload(_ bytes: UnsafeRawBufferPointer, to buffer: DeviceBuffer, offset: Int = 0) throws(OpenCLError) {
        transferLock.lock()
        defer { transferLock.unlock() }
        let queue: CommandQueue
        if let known = transferQueue {
            queue = known
        } else {
            queue = try CommandQueue(self)
            transferQueue = queue
        }
        do {
            try queue.write(bytes, to: buffer, offset: offset)
            try queue.finish()
        } catch {
            queue.abandon()
            throw error
        }
    }
}
