import CNTPlatform
import NTCPU
import NTOpenCL
import NTRuntime

/// Finds the backend that a configuration asks for.
enum BackendResolver {
    /// One thread per core that this process may use.
    static var defaultThreadCount: Int { Int(nt_usable_cores()) }

    /// The backend and why it was taken. Throws `NeedletailError` of code `backendUnavailable` when it is absent.
    static func resolve(_ configuration: SessionConfiguration) throws -> (any Backend, reason: String) {
        switch configuration.backend {
        case .cpu: return (cpu(configuration), "asked for")
        case .reference: return (ReferenceBackend(), "asked for")
        case .opencl:
            let devices = OpenCLBackend.devices()
            let index = configuration.deviceIndex ?? devices.firstGPU ?? 0
            let backend = try NeedletailError.wrapping(.backendUnavailable, context: "opencl") {
                try OpenCLBackend(deviceIndex: index)
            }
            return (backend, "asked for, device \(index)")
        case .auto: return automatic(configuration)
        }
    }

    private static func automatic(_ configuration: SessionConfiguration) -> (any Backend, reason: String) {
        let devices = OpenCLBackend.devices()
        guard let index = configuration.deviceIndex ?? devices.firstGPU else {
            return (cpu(configuration), "auto: \(devices.reason ?? "no OpenCL GPU among \(devices.devices.count) devices")")
        }
        if configuration.precision == .bfloat16 { return (cpu(configuration), "auto: bfloat16 is the CPU's") }
        do {
            return (try OpenCLBackend(deviceIndex: index), "auto: OpenCL device \(index)")
        } catch {
            return (cpu(configuration), "auto: OpenCL device \(index) failed (\(error))")
        }
    }

    private static func cpu(_ configuration: SessionConfiguration) -> any Backend {
        CPUBackend(threadCount: configuration.threadCount ?? defaultThreadCount)
    }
}
