import Foundation

/// What a backend does beside running kernels one by one. Each has a default for the kind of device and can be turned on or off to compare.
package struct DeviceFeatures: Sendable, Hashable {
    /// Pictures go up as bytes and are cropped, turned and resized on the device.
    package var preparesPixels: Bool
    /// Inputs and outputs lie in host memory that the device uses in place.
    package var sharesMemory: Bool
    /// A state's launches are recorded once and replayed by one call.
    package var replaysLaunches: Bool

    /// Depthwise convolutions run in one kernel with the 1x1 convolutions that read them, where the shapes are worth it.
    package var fusesSeparable: Bool
    /// Multiply-adds of the 1x1 convolution on one image from which that is worth it.
    package var leastSeparableWork = 2_000_000

    /// Items that share a sum meet in their sub-groups first: reductions, softmax, normalisations, global pools and dense layers on many cores. On wide cores
    /// no items share one.
    package var usesSubgroups: Bool

    /// A network's kernels are one program and run in one launch, where that is worth the compiler's time: what lies between launches then takes no time,
    /// and each kernel is compiled for the numbers of its layer.
    package var runsInOneLaunch: Bool
    /// Launches from which that is worth it.
    package var leastLaunches = 6
    /// Multiply-adds and the like, as 2, of a run above which it is not.
    package var mostSingleLaunchWork = 4_000_000_000

    package init(
        preparesPixels: Bool = false, sharesMemory: Bool = false, replaysLaunches: Bool = false, fusesSeparable: Bool = false,
        runsInOneLaunch: Bool = false, usesSubgroups: Bool = false
    ) {
        (self.preparesPixels, self.sharesMemory, self.replaysLaunches) = (preparesPixels, sharesMemory, replaysLaunches)
        (self.fusesSeparable, self.runsInOneLaunch, self.usesSubgroups) = (fusesSeparable, runsInOneLaunch, usesSubgroups)
    }

    /// What NEEDLETAIL_OPENCL can turn on and off.
    package enum Setting: String, CaseIterable { case pixels, shared, replay, fuse, single, subgroups }

    /// The settings in NEEDLETAIL_OPENCL: names with `=on` or `=off`, apart by commas. Throws naming what is not known, and a setting that is both on and off.
    package static func settings(environment: [String: String]) throws(OpenCLError) -> [(setting: Setting, isOn: Bool)] {
        var result: [(Setting, Bool)] = []
        for word in (environment["NEEDLETAIL_OPENCL"] ?? "").split(separator: ",") {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts == [""] { continue }
            guard parts.count == 2, let setting = Setting(rawValue: parts[0]), let isOn = ["on": true, "off": false][parts[1]] else {
                let known = Setting.allCases.map(\.rawValue).joined(separator: ", ")
                throw OpenCLError.unsupported("NEEDLETAIL_OPENCL: expected \(known), each with =on or =off, found '\(word.prefix(40))'")
            }
            guard !result.contains(where: { $0.0 == setting && $0.1 != isOn }) else {
                throw OpenCLError.unsupported(
                    "NEEDLETAIL_OPENCL: expected \(setting.rawValue) to be either on or off, found '\(environment["NEEDLETAIL_OPENCL"]?.prefix(200) ?? "")'"
                )
            }
            result.append((setting, isOn))
        }
        return result
    }

    /// The defaults for a device, changed by NEEDLETAIL_OPENCL, see `settings`. Throws when that holds what is not known.
    ///
    /// Pictures are prepared on graphics processors alone: on PoCL's CPU device a 1920x1080 BGRA frame takes 7 times as long as on the host's SIMD kernels.
    /// Launches are replayed on graphics processors that list cl_khr_command_buffer. On CPU devices it costs: mini-Xception takes 0.426 ms with replay and
    /// 0.422 without on PoCL, which queues a recording's commands one by one, and 0.341 and 0.316 on Intel's runtime.
    package init(for device: OpenCLDevice, environment: [String: String] = ProcessInfo.processInfo.environment) throws(OpenCLError) {
        preparesPixels = device.kind == .gpu || device.kind == .accelerator
        sharesMemory = device.hasUnifiedMemory
        fusesSeparable = true
        runsInOneLaunch = device.kind == .cpu && device.platformName == PoCLCache.platformName
        let isListed = device.extensions.contains("cl_khr_command_buffer")
        replaysLaunches = isListed && device.kind == .gpu
        let hasSubgroups = !Subgroups.all(of: device).isEmpty
        usesSubgroups = hasSubgroups && device.kind == .gpu
        // Kernels that know their layer's numbers win in smaller layers.
        if runsInOneLaunch { leastSeparableWork = 100_000 }
        for (setting, isOn) in try Self.settings(environment: environment) {
            switch setting {
            case .pixels: preparesPixels = isOn
            case .shared: sharesMemory = isOn
            case .replay: replaysLaunches = isOn && isListed
            case .fuse: fusesSeparable = isOn
            case .single: runsInOneLaunch = isOn
            case .subgroups: usesSubgroups = isOn && hasSubgroups
            }
        }
    }

    /// The features in words, for people.
    var words: [String] {
        [
            preparesPixels ? "resizes pictures" : nil, sharesMemory ? "shares memory" : nil, replaysLaunches ? "replays launches" : nil,
            runsInOneLaunch ? "runs small networks in one launch" : nil, usesSubgroups ? "sums in sub-groups" : nil,
        ].compactMap { $0 }
    }
}
