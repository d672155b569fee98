import COpenCL

/// What a device may allow one kernel less of than others.
package enum KernelLimit: String, Sendable {
    case workItems = "work-items in a group"
    case localBytes = "bytes of local memory"
}

/// What goes wrong between here and a device.
package enum OpenCLError: Error, Sendable, Equatable, CustomStringConvertible {
    /// No device can be used; the reason says whether a driver, a platform or a device is missing.
    case noDevice(reason: String)
    /// The device number that was asked for does not exist.
    case noSuchDevice(index: Int, devices: [String])
    /// The device exists and takes no work.
    case notAvailable(device: String)
    /// An OpenCL call failed.
    case call(name: String, code: Int32)
    /// The device's compiler refused a program.
    case build(program: String, options: String, code: Int32, log: String)
    /// Something is larger than the device allows.
    case tooLarge(what: String, byteCount: Int, limit: Int, device: String)
    /// A layer's kernel asks for more than the device allows this kernel, and nothing smaller is left to try.
    case kernelLimit(KernelLimit, kernel: String, layers: [String], wanted: Int, allowed: Int)
    /// The device lacks a feature that was asked for.
    case unsupported(String)
    /// A layer read an index outside its tensor, as the operator's definition forbids.
    case indexOutOfRange(layers: [String])

    package var description: String {
        switch self {
        case .noDevice(let reason): "no OpenCL device: \(reason)"
        case .noSuchDevice(let index, let devices):
            "OpenCL device \(index) does not exist; expected " + devices.enumerated().map { "\($0) for \($1)" }.joined(separator: ", ")
        case .notAvailable(let device): "the OpenCL device '\(device)' is not available: another program holds it, or its driver has stopped it"
        case .call(let name, NT_CALL_MISSING): "\(name) failed: \(Self.name(of: NT_CALL_MISSING))"
        case .call(let name, let code): "\(name) failed: \(Self.name(of: code))\(condition.advice)"
        case .build(let program, let options, let code, let log):
            "the OpenCL program '\(program)' (\(options)) does not build: \(Self.name(of: code))\n\(log)"
        case .tooLarge(let what, let byteCount, let limit, let device):
            "\(what): \(byteCount) bytes are needed; '\(device)' allows \(limit)"
        case .kernelLimit(let limit, let kernel, let layers, let wanted, let allowed):
            "the kernel '\(kernel)' of layer \(layers.map { "'\($0)'" }.joined(separator: ", ")) needs \(wanted) \(limit.rawValue); "
                + "the OpenCL device allows it \(allowed)"
        case .unsupported(let reason): reason
        case .indexOutOfRange(let layers): "an index lies outside its tensor in layer \(layers.map { "'\($0)'" }.joined(separator: " or "))"
        }
    }

    /// CL_PLATFORM_NOT_FOUND_KHR of cl_khr_icd: no driver is installed.
    static let platformNotFound: Int32 = -1001

    /// The name of an OpenCL status code in cl.h.
    package static func name(of code: Int32) -> String {
        if let name = names[code] { return code == NT_CALL_MISSING ? name : "\(name) (\(code))" }
        return "status \(code)"
    }

    private static let names: [Int32: String] = [
        NT_CALL_MISSING: "the OpenCL loader lacks it", CL_DEVICE_NOT_FOUND: "CL_DEVICE_NOT_FOUND", CL_DEVICE_NOT_AVAILABLE: "CL_DEVICE_NOT_AVAILABLE",
        CL_COMPILER_NOT_AVAILABLE: "CL_COMPILER_NOT_AVAILABLE",
        CL_MEM_OBJECT_ALLOCATION_FAILURE: "CL_MEM_OBJECT_ALLOCATION_FAILURE", CL_OUT_OF_RESOURCES: "CL_OUT_OF_RESOURCES",
        CL_OUT_OF_HOST_MEMORY: "CL_OUT_OF_HOST_MEMORY",
        CL_PROFILING_INFO_NOT_AVAILABLE: "CL_PROFILING_INFO_NOT_AVAILABLE", CL_MEM_COPY_OVERLAP: "CL_MEM_COPY_OVERLAP",
        CL_BUILD_PROGRAM_FAILURE: "CL_BUILD_PROGRAM_FAILURE", CL_MAP_FAILURE: "CL_MAP_FAILURE",
        CL_MISALIGNED_SUB_BUFFER_OFFSET: "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        CL_INVALID_VALUE: "CL_INVALID_VALUE", CL_INVALID_DEVICE_TYPE: "CL_INVALID_DEVICE_TYPE",
        CL_INVALID_PLATFORM: "CL_INVALID_PLATFORM", CL_INVALID_DEVICE: "CL_INVALID_DEVICE",
        CL_INVALID_CONTEXT: "CL_INVALID_CONTEXT", CL_INVALID_QUEUE_PROPERTIES: "CL_INVALID_QUEUE_PROPERTIES",
        CL_INVALID_COMMAND_QUEUE: "CL_INVALID_COMMAND_QUEUE", CL_INVALID_MEM_OBJECT: "CL_INVALID_MEM_OBJECT",
        CL_INVALID_BINARY: "CL_INVALID_BINARY", CL_INVALID_BUILD_OPTIONS: "CL_INVALID_BUILD_OPTIONS",
        CL_INVALID_PROGRAM: "CL_INVALID_PROGRAM", CL_INVALID_PROGRAM_EXECUTABLE: "CL_INVALID_PROGRAM_EXECUTABLE",
        CL_INVALID_KERNEL_NAME: "CL_INVALID_KERNEL_NAME", CL_INVALID_KERNEL: "CL_INVALID_KERNEL",
        CL_INVALID_ARG_INDEX: "CL_INVALID_ARG_INDEX", CL_INVALID_ARG_VALUE: "CL_INVALID_ARG_VALUE",
        CL_INVALID_ARG_SIZE: "CL_INVALID_ARG_SIZE", CL_INVALID_KERNEL_ARGS: "CL_INVALID_KERNEL_ARGS",
        CL_INVALID_WORK_DIMENSION: "CL_INVALID_WORK_DIMENSION", CL_INVALID_WORK_GROUP_SIZE: "CL_INVALID_WORK_GROUP_SIZE",
        CL_INVALID_WORK_ITEM_SIZE: "CL_INVALID_WORK_ITEM_SIZE", CL_INVALID_GLOBAL_OFFSET: "CL_INVALID_GLOBAL_OFFSET",
        CL_INVALID_EVENT_WAIT_LIST: "CL_INVALID_EVENT_WAIT_LIST", CL_INVALID_EVENT: "CL_INVALID_EVENT",
        CL_INVALID_OPERATION: "CL_INVALID_OPERATION", CL_INVALID_BUFFER_SIZE: "CL_INVALID_BUFFER_SIZE",
        CL_INVALID_GLOBAL_WORK_SIZE: "CL_INVALID_GLOBAL_WORK_SIZE", CL_INVALID_PROPERTY: "CL_INVALID_PROPERTY",
        platformNotFound: "CL_PLATFORM_NOT_FOUND_KHR",
    ]
}
