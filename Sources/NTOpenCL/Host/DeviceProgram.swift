import COpenCL

/// A built program. Shared by threads.
final class DeviceProgram: @unchecked Sendable {
    let program: cl_program
    let api: OpenCLInterface

    private init(_ program: cl_program, api: OpenCLInterface) {
        self.program = program
        self.api = api
    }

    deinit { api.release(kind: "program") { clReleaseProgram(program) } }

    /// Compiles source text. Throws with the compiler's log when it is refused.
    static func build(source: String, name: String, options: String, on context: DeviceContext) throws(OpenCLError) -> DeviceProgram {
        let api = context.api
        let program: cl_program = try api.create("clCreateProgramWithSource", kind: "program") { code in
            api.source(source).withCString { text in
                var pointer: UnsafePointer<CChar>? = text
                return clCreateProgramWithSource(context.context, 1, &pointer, nil, &code)
            }
        }
        let result = DeviceProgram(program, api: api)
        try result.compile(name: name, options: options, device: context.device)
        return result
    }

    /// Loads a binary that `binary(for:)` gave. Throws when the driver refuses it.
    static func load(binary: [UInt8], name: String, options: String, on context: DeviceContext) throws(OpenCLError) -> DeviceProgram {
        let api = context.api
        let program: cl_program = try api.create("clCreateProgramWithBinary", kind: "program") { code in
            var device: cl_device_id? = context.device.id
            var size = binary.count
            var status = cl_int(CL_SUCCESS)
            let program = binary.withUnsafeBufferPointer { bytes in
                var pointer = bytes.baseAddress
                return clCreateProgramWithBinary(context.context, 1, &device, &size, &pointer, &status, &code)
            }
            if code == CL_SUCCESS, status != CL_SUCCESS { code = status }
            if code != CL_SUCCESS, let program {
                clReleaseProgram(program)
                return nil
            }
            return program
        }
        let result = DeviceProgram(program, api: api)
        try result.compile(name: name, options: options, device: context.device)
        return result
    }

    private func compile(name: String, options: String, device: OpenCLDevice) throws(OpenCLError) {
        var target: cl_device_id? = device.id
        let code = api.status("clBuildProgram") { clBuildProgram(program, 1, &target, options, nil, nil) }
        guard code == CL_SUCCESS else {
            let cause = device.platformName == PoCLCache.platformName ? PoCLCache.current.buildProblem : nil
            throw OpenCLError.build(
                program: name, options: options, code: code, log: [log(device.id), cause ?? ""].filter { !$0.isEmpty }.joined(separator: "\n"))
        }
    }

    private func log(_ device: cl_device_id) -> String {
        var size = 0
        let property = cl_program_build_info(CL_PROGRAM_BUILD_LOG)
        let name = "clGetProgramBuildInfo"
        guard api.status(name, { clGetProgramBuildInfo(program, device, property, 0, nil, &size) }) == CL_SUCCESS, size > 1, size <= 16 << 20
        else { return "" }
        var bytes = [UInt8](repeating: 0, count: size)
        guard api.status(name, { clGetProgramBuildInfo(program, device, property, size, &bytes, nil) }) == CL_SUCCESS else { return "" }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The device's binary, or nil when the driver keeps it to itself.
    func binary() -> [UInt8]? {
        var size = 0
        let sizeProperty = cl_program_info(CL_PROGRAM_BINARY_SIZES)
        let status = api.status("clGetProgramInfo") {
            clGetProgramInfo(program, sizeProperty, MemoryLayout<Int>.size, &size, nil)
        }
        guard status == CL_SUCCESS, size > 0, size <= ProgramCache.maximumEntryBytes else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        let read = bytes.withUnsafeMutableBufferPointer { target in
            var pointer = target.baseAddress
            return api.status("clGetProgramInfo") {
                clGetProgramInfo(
                    program, cl_program_info(CL_PROGRAM_BINARIES), MemoryLayout<UnsafeMutablePointer<UInt8>?>.size, &pointer, nil)
            }
        }
        return read == CL_SUCCESS ? bytes : nil
    }
}
