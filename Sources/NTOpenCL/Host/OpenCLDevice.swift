import COpenCL

/// A device of some platform and what it says about itself. Platforms' devices live as long as the process.
package struct OpenCLDevice: @unchecked Sendable {
    package enum Kind: String, Sendable { case cpu, gpu, accelerator, other }

    package let id: cl_device_id
    package let platform: cl_platform_id
    package var platformName: String
    package let name: String
    package let vendor: String
    /// The OpenCL version with the platform's own remarks.
    package let version: String
    package let driverVersion: String
    package let kind: Kind
    package let computeUnits: Int
    package let clockMHz: Int
    package let globalMemoryBytes: Int
    /// The largest single buffer.
    package let maximumAllocationBytes: Int
    package let localMemoryBytes: Int
    package let maximumWorkGroupSize: Int
    package let maximumWorkItemSizes: [Int]
    /// Where a buffer inside a buffer may begin, in bytes: a power of two, at most 64 KiB.
    package let subBufferAlignment: Int
    /// Floats in the native vector, 0 when the device does not say.
    package let nativeFloatVector: Int
    /// Host and device share memory.
    package let hasUnifiedMemory: Bool
    package let hasCompiler: Bool
    package let isAvailable: Bool
    package let extensions: [String]
    /// The newest OpenCL C that the compiler knows, 12 for 1.2.
    package let languageVersion: Int
    /// Optional features of OpenCL C 3.0, `__opencl_c_subgroups` for example.
    package let languageFeatures: [String]

    /// Whether the device computes in half precision.
    package var hasHalfPrecision: Bool { extensions.contains("cl_khr_fp16") }

    /// Whether tensors are kept in half precision when asked for. Kernels compute in float and only load and store halves, which every OpenCL device can;
    /// graphics processors convert them in one instruction, those among them whose drivers do not list cl_khr_fp16 too.
    package var storesHalfPrecision: Bool { hasHalfPrecision || kind == .gpu }

    /// For people: `AMD EPYC (Portable Computing Language, 3.1+debian)`.
    package var summary: String { "\(name) (\(platformName), driver \(driverVersion))" }

    init(_ id: cl_device_id, platform: cl_platform_id, platformName: String, api: OpenCLInterface) throws {
        let query = DeviceQuery(id: id, api: api)
        self.id = id
        self.platform = platform
        self.platformName = platformName
        name = try query.string(CL_DEVICE_NAME)
        vendor = try query.string(CL_DEVICE_VENDOR)
        version = try query.string(CL_DEVICE_VERSION)
        driverVersion = try query.string(CL_DRIVER_VERSION)
        let type = try query.number(CL_DEVICE_TYPE, as: cl_device_type.self)
        kind =
            type & UInt64(CL_DEVICE_TYPE_GPU) != 0
            ? .gpu
            : type & UInt64(CL_DEVICE_TYPE_CPU) != 0
                ? .cpu : type & UInt64(CL_DEVICE_TYPE_ACCELERATOR) != 0 ? .accelerator : .other
        // Work is dealt out by it: beyond any device's number it would be dealt out to nobody.
        computeUnits = min(max(1, Int(try query.number(CL_DEVICE_MAX_COMPUTE_UNITS, as: cl_uint.self))), 8192)
        clockMHz = Int((try? query.number(CL_DEVICE_MAX_CLOCK_FREQUENCY, as: cl_uint.self)) ?? 0)
        globalMemoryBytes = Int(clamping: try query.number(CL_DEVICE_GLOBAL_MEM_SIZE, as: cl_ulong.self))
        maximumAllocationBytes = Int(clamping: try query.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, as: cl_ulong.self))
        localMemoryBytes = Int(clamping: try query.number(CL_DEVICE_LOCAL_MEM_SIZE, as: cl_ulong.self))
        maximumWorkGroupSize = max(1, try query.number(CL_DEVICE_MAX_WORK_GROUP_SIZE, as: Int.self))
        maximumWorkItemSizes = try query.numbers(CL_DEVICE_MAX_WORK_ITEM_SIZES, as: Int.self)
        let alignment = Int(try query.number(CL_DEVICE_MEM_BASE_ADDR_ALIGN, as: cl_uint.self)) / 8
        subBufferAlignment = (6...16).map { 1 << $0 }.first { $0 >= alignment } ?? 1 << 16
        nativeFloatVector = Int((try? query.number(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, as: cl_uint.self)) ?? 0)
        hasUnifiedMemory = ((try? query.number(CL_DEVICE_HOST_UNIFIED_MEMORY, as: cl_bool.self)) ?? 0) != 0
        hasCompiler = try query.number(CL_DEVICE_COMPILER_AVAILABLE, as: cl_bool.self) != 0
        isAvailable = try query.number(CL_DEVICE_AVAILABLE, as: cl_bool.self) != 0
        extensions = try query.string(CL_DEVICE_EXTENSIONS).split(separator: " ").map(String.init)
        // `OpenCL C 2.0 ...`; a device of OpenCL 3.0 may name an older one there than it has.
        let named = ((try? query.string(CL_DEVICE_OPENCL_C_VERSION)) ?? "").split(whereSeparator: { $0 == " " || $0 == "." }).compactMap { Int($0) }
        let versions = query.names(CL_DEVICE_OPENCL_C_ALL_VERSIONS).map { Int($0.version >> 22) * 10 + Int($0.version >> 12 & 0x3ff) }
        languageVersion = max(named.count >= 2 ? named[0] * 10 + named[1] : 12, versions.max() ?? 0)
        languageFeatures = query.names(CL_DEVICE_OPENCL_C_FEATURES).map(\.name)
    }
}

/// Reads a device's properties.
struct DeviceQuery {
    let id: cl_device_id
    let api: OpenCLInterface

    /// Throws when a driver says that an answer takes more bytes than any does.
    static func check(_ byteCount: Int, of call: String) throws(OpenCLError) {
        guard (0...(1 << 20)).contains(byteCount) else {
            throw OpenCLError.unsupported("a driver claims that an answer of \(call) takes \(UInt(bitPattern: byteCount)) bytes")
        }
    }

    func string(_ property: Int32) throws(OpenCLError) -> String {
        var size = 0
        try api.check("clGetDeviceInfo") { clGetDeviceInfo(id, cl_device_info(property), 0, nil, &size) }
        try Self.check(size, of: "clGetDeviceInfo")
        guard size > 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: size)
        try api.check("clGetDeviceInfo") { clGetDeviceInfo(id, cl_device_info(property), size, &bytes, nil) }
        let text = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        return String(text.drop { $0 == " " })
    }

    /// Names with versions; none where the device does not know the property.
    func names(_ property: Int32) -> [(version: UInt32, name: String)] {
        let byteCount = MemoryLayout<cl_name_version>.size
        guard let bytes = try? numbers(property, as: UInt8.self), bytes.count % byteCount == 0 else { return [] }
        return stride(from: 0, to: bytes.count, by: byteCount).map { at in
            let version = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[at + $1]) << (8 * UInt32($1)) }
            return (version, String(decoding: bytes[(at + 4)..<(at + byteCount)].prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    func number<T: FixedWidthInteger>(_ property: Int32, as type: T.Type) throws(OpenCLError) -> T {
        var value: T = 0
        try api.check("clGetDeviceInfo") {
            clGetDeviceInfo(id, cl_device_info(property), MemoryLayout<T>.size, &value, nil)
        }
        return value
    }

    func numbers<T: FixedWidthInteger>(_ property: Int32, as type: T.Type) throws(OpenCLError) -> [T] {
        var size = 0
        try api.check("clGetDeviceInfo") { clGetDeviceInfo(id, cl_device_info(property), 0, nil, &size) }
        try Self.check(size, of: "clGetDeviceInfo")
        var values = [T](repeating: 0, count: size / MemoryLayout<T>.size)
        guard !values.isEmpty else { return [] }
        try api.check("clGetDeviceInfo") { clGetDeviceInfo(id, cl_device_info(property), values.count * MemoryLayout<T>.size, &values, nil) }
        return values
    }
}
