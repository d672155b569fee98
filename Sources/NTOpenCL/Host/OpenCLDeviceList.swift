import COpenCL
import Foundation

/// The devices of all platforms, numbered across them: the graphics processors of every platform keep the order in which the platforms list them.
package struct OpenCLDeviceList: Sendable {
    package let devices: [OpenCLDevice]
    /// Why there is no device, or which drivers were left out; nil when all went well.
    package let reason: String?

    /// Asks every installed driver. Never throws: a driver or a platform that fails is left out and named in `reason`.
    package init(api: OpenCLInterface = .system, environment: [String: String] = ProcessInfo.processInfo.environment) {
        let pocl = PoCLCache.current
        // Drivers that no loader asks do not matter.
        if let problem = nt_opencl_problem() {
            (devices, reason) = ([], String(cString: problem))
            return
        }
        let drivers = DriverFiles(environment: environment)
        let broken = drivers.problems
        var devices: [OpenCLDevice] = []
        var problems: [String] = []
        var withoutDevice: [String] = []
        do {
            for platform in try Self.platforms(api) {
                do {
                    let name = try Self.platformName(platform, api)
                    let found = try Self.devices(of: platform, name, api)
                    if found.isEmpty { withoutDevice.append(name) }
                    devices += found
                } catch {
                    problems.append("\(error)")
                }
            }
            if devices.isEmpty, problems.isEmpty { problems.append("the installed drivers offer no device") }
            if withoutDevice.contains(PoCLCache.platformName), let problem = pocl.problem { problems.append(problem) }
        } catch OpenCLError.call(_, OpenCLError.platformNotFound) {
            if drivers.drivers.isEmpty {
                problems.append("no OpenCL driver is installed: '\(drivers.place)' names none")
            } else if broken.count < drivers.drivers.count {
                problems.append("the installed drivers offer no platform")
            }
        } catch {
            problems.append("\(error)")
        }
        self.devices = devices
        reason = problems.isEmpty && broken.isEmpty ? nil : (problems + broken).joined(separator: "; ")
    }

    /// The device of a number. Throws when there is none.
    package func device(_ index: Int) throws(OpenCLError) -> OpenCLDevice {
        if devices.isEmpty { throw OpenCLError.noDevice(reason: reason ?? "") }
        guard devices.indices.contains(index) else {
            throw OpenCLError.noSuchDevice(index: index, devices: devices.map(\.summary))
        }
        return devices[index]
    }

    /// The number of the first graphics processor that can compile programs, or nil.
    package var firstGPU: Int? { devices.firstIndex { $0.kind == .gpu && $0.isAvailable && $0.hasCompiler } }

    private static func platforms(_ api: OpenCLInterface) throws(OpenCLError) -> [cl_platform_id] {
        var count: cl_uint = 0
        try api.check("clGetPlatformIDs") { clGetPlatformIDs(0, nil, &count) }
        try DeviceQuery.check(Int(count) * MemoryLayout<cl_platform_id>.size, of: "clGetPlatformIDs")
        guard count > 0 else { return [] }
        var ids = [cl_platform_id?](repeating: nil, count: Int(count))
        try api.check("clGetPlatformIDs") { clGetPlatformIDs(count, &ids, nil) }
        return ids.compactMap { $0 }
    }

    private static func devices(of platform: cl_platform_id, _ name: String, _ api: OpenCLInterface) throws -> [OpenCLDevice] {
        var count: cl_uint = 0
        let all = cl_device_type(CL_DEVICE_TYPE_ALL)
        let status = api.status("clGetDeviceIDs") { clGetDeviceIDs(platform, all, 0, nil, &count) }
        if status == CL_DEVICE_NOT_FOUND { return [] }
        guard status == CL_SUCCESS else { throw OpenCLError.call(name: "clGetDeviceIDs", code: status) }
        try DeviceQuery.check(Int(count) * MemoryLayout<cl_device_id>.size, of: "clGetDeviceIDs")
        guard count > 0 else { return [] }
        var ids = [cl_device_id?](repeating: nil, count: Int(count))
        try api.check("clGetDeviceIDs") { clGetDeviceIDs(platform, all, count, &ids, nil) }
        return try ids.compactMap { $0 }.map { try OpenCLDevice($0, platform: platform, platformName: name, api: api) }
    }

    private static func platformName(_ platform: cl_platform_id, _ api: OpenCLInterface) throws(OpenCLError) -> String {
        var size = 0
        let property = cl_platform_info(CL_PLATFORM_NAME)
        try api.check("clGetPlatformInfo") { clGetPlatformInfo(platform, property, 0, nil, &size) }
        try DeviceQuery.check(size, of: "clGetPlatformInfo")
        var bytes = [UInt8](repeating: 0, count: max(1, size))
        try api.check("clGetPlatformInfo") { clGetPlatformInfo(platform, property, size, &bytes, nil) }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
