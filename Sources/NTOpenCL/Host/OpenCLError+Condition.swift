import COpenCL

extension OpenCLError {
    /// What an error means for a program that wants to go on.
    package enum Condition: Sendable, Equatable {
        /// There is no driver, no device, or not the one that was asked for.
        case absent
        /// The device, or the host for it, has too little memory.
        case outOfMemory
        /// The device exists and takes no work now: another program holds it.
        case busy
        /// The device stopped working; its context and everything in it are gone.
        case lost
        /// The device's compiler refused a program.
        case buildFailed
        case other

        /// The same in words, to follow a status code; empty for what says nothing more.
        var advice: String {
            switch self {
            case .absent: " (no OpenCL driver or device)"
            case .outOfMemory: " (memory is short)"
            case .busy: " (the device is busy: another program holds it)"
            case .lost: " (the device is lost; a new session may find it again)"
            case .buildFailed, .other: ""
            }
        }
    }

    package var condition: Condition {
        switch self {
        case .noDevice, .noSuchDevice: .absent
        case .build(_, _, let code, _): Self.condition(of: code, in: "clBuildProgram", otherwise: .buildFailed)
        case .tooLarge: .outOfMemory
        case .notAvailable: .busy
        case .call(let name, let code): Self.condition(of: code, in: name, otherwise: .other)
        case .kernelLimit, .unsupported, .indexOutOfRange: .other
        }
    }

    /// Whether another backend may do what the device could not; what its layers found in a model's values comes out the same everywhere.
    package var isOfDevice: Bool {
        switch self {
        case .indexOutOfRange: false
        default: true
        }
    }

    /// Calls that wait for the device: a failure there is one of the work already begun.
    private static let waiting: Set = ["clFinish", "clWaitForEvents", "clEnqueueReadBuffer", "clEnqueueMapBuffer", "clGetEventProfilingInfo"]
    /// Calls that only prepare.
    private static let opening: Set = ["clCreateContext", "clCreateCommandQueue", "clGetDeviceIDs", "clGetDeviceInfo"]
    /// What NVIDIA's driver reports after a kernel has broken the context.
    private static let brokenContext: Int32 = -9999

    private static func condition(of code: Int32, in call: String, otherwise: Condition) -> Condition {
        switch code {
        case CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY: .outOfMemory
        // While work is being prepared it is memory that runs out; a device that fails amid a run reports the same status to whoever waits.
        case CL_OUT_OF_RESOURCES: waiting.contains(call) ? .lost : .outOfMemory
        case CL_DEVICE_NOT_AVAILABLE: opening.contains(call) ? .busy : .lost
        case CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, brokenContext: .lost
        case platformNotFound, CL_DEVICE_NOT_FOUND, NT_CALL_MISSING: .absent
        default: otherwise
        }
    }
}
