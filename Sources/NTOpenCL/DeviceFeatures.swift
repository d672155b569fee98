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

    package init(
        preparesPixels: Bool = false, sharesMemory: Bool = false, replaysLaunches: Bool = false, fusesSeparable: Bool = false
    ) {
        (self.preparesPixels, self.sharesMemory, self.replaysLaunches) = (preparesPixels, sharesMemory, replaysLaunches)
        self.fusesSeparable = fusesSeparable
    }

    /// The defaults for a device, changed by NEEDLETAIL_OPENCL: words `pixels`, `shared`, `replay`, `fuse` with `=on` or `=off`, apart by commas. Words that are not
    /// known change nothing.
    ///
    /// Pictures are prepared on graphics processors alone: on PoCL's CPU device a 1920x1080 BGRA frame takes 7 times as long as on the host's SIMD kernels.
    /// Launches are replayed on graphics processors that list cl_khr_command_buffer. On CPU devices it costs: mini-Xception takes 0.426 ms with replay and
    /// 0.422 without on PoCL, which queues a recording's commands one by one, and 0.341 and 0.316 on Intel's runtime.
    package init(for device: OpenCLDevice, environment: [String: String] = ProcessInfo.processInfo.environment) {
        preparesPixels = device.kind == .gpu || device.kind == .accelerator
        sharesMemory = device.hasUnifiedMemory
        fusesSeparable = true
        let isListed = device.extensions.contains("cl_khr_command_buffer")
        replaysLaunches = isListed && device.kind == .gpu
        for word in (environment["NEEDLETAIL_OPENCL"] ?? "").split(separator: ",") {
            let parts = word.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let value = ["on": true, "off": false][parts[1]] else { continue }
            switch parts[0] {
            case "pixels": preparesPixels = value
            case "shared": sharesMemory = value
            case "replay": replaysLaunches = value && isListed
            case "fuse": fusesSeparable = value
            default: break
            }
        }
    }

    /// The features in words, for people.
    var words: [String] {
        [
            preparesPixels ? "resizes pictures" : nil, sharesMemory ? "shares memory" : nil, replaysLaunches ? "replays launches" : nil,
        ].compactMap { $0 }
    }
}
