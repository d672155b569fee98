/// How the work-items of a group that run as one hand values to each other without local memory, see `groups.cl`.
package enum Subgroups: String, Sendable, Hashable {
    /// NVIDIA's instruction; its OpenCL has no sub-groups.
    case ptx
    /// `cl_khr_subgroup_shuffle`.
    case shuffle
    /// `cl_intel_subgroups`.
    case intelShuffle
    /// Sub-groups without shuffles: their items meet in local memory and wait for each other alone.
    case plain

    /// What a device says it has, the best first. The specification's own need OpenCL C 2.0.
    package static func all(of device: OpenCLDevice) -> [Subgroups] {
        func has(_ name: String) -> Bool { device.extensions.contains(name) || device.languageFeatures.contains(name) }
        let isNew = device.languageVersion >= 20
        var result: [Subgroups] = []
        if device.vendor.hasPrefix("NVIDIA"), device.extensions.contains(where: { $0.hasPrefix("cl_nv_") }) { result.append(.ptx) }
        if isNew, has("cl_khr_subgroup_shuffle") { result.append(.shuffle) }
        if has("cl_intel_subgroups") { result.append(.intelShuffle) }
        if isNew, has("cl_khr_subgroups") || has("__opencl_c_subgroups") { result.append(.plain) }
        return result
    }

    /// The number that `groups.cl` knows it by.
    var macro: String {
        switch self {
        case .ptx: "1"
        case .shuffle: "2"
        case .intelShuffle: "3"
        case .plain: "4"
        }
    }

    /// The version of OpenCL C that has it on a device.
    func language(of device: OpenCLDevice) -> String {
        switch self {
        case .ptx, .intelShuffle: "CL1.2"
        case .shuffle, .plain: device.languageVersion >= 30 ? "CL3.0" : "CL2.0"
        }
    }
}
