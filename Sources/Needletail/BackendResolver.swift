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
        case .cpu: return (try cpu(configuration), "asked for" + arithmeticNote(configuration))
        case .reference:
            try requireFloat32(configuration, "reference")
            return (ReferenceBackend(), "asked for")
        case .opencl:
            let devices = OpenCLBackend.devices()
            let index = configuration.deviceIndex ?? devices.firstGPU ?? 0
            let backend = try NeedletailError.wrapping(.backendUnavailable, context: "opencl") {
                try OpenCLBackend(deviceIndex: index, features: configuration.deviceFeatures)
            }
            return (backend, "asked for, device \(index)")
        case .auto: return try automatic(configuration)
        }
    }

    private static func automatic(_ configuration: SessionConfiguration) throws -> (any Backend, reason: String) {
        let devices = OpenCLBackend.devices()
        guard let index = configuration.deviceIndex ?? devices.firstGPU else {
            let reason = devices.reason ?? "no OpenCL GPU among \(devices.devices.count) devices"
            return (try cpu(configuration), "auto: " + reason + arithmeticNote(configuration))
        }
        do {
            return (try OpenCLBackend(deviceIndex: index, features: configuration.deviceFeatures), "auto: OpenCL device \(index)")
        } catch {
            return (try cpu(configuration), "auto: OpenCL device \(index) failed (\(error))" + arithmeticNote(configuration))
        }
    }

    private static func cpu(_ configuration: SessionConfiguration) throws -> any Backend {
        guard configuration.precision != .float16 else {
            throw NeedletailError(.backendUnavailable, "the cpu backend has no float16; use float32, bfloat16 or fast")
        }
        return CPUBackend(threadCount: configuration.threadCount ?? defaultThreadCount)
    }

    /// What the CPU computes in when it is not what was asked for.
    private static func arithmeticNote(_ configuration: SessionConfiguration) -> String {
        guard configuration.precision == .bfloat16, !CPUBackend.hasBFloat16 else { return "" }
        return "; computed in float32, for this processor has no AVX512-BF16"
    }

    /// Throws when half precision is asked of a backend that has float32 alone.
    private static func requireFloat32(_ configuration: SessionConfiguration, _ backend: String) throws {
        guard configuration.precision == .float32 || configuration.precision == .fast else {
            throw NeedletailError(
                .backendUnavailable, "the \(backend) backend has no \(configuration.precision.rawValue); use float32 or fast")
        }
    }
}
