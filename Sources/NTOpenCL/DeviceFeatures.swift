import Foundation

/// What a backend does beside running kernels one by one. Each has a default for the kind of device and can be turned on or off to compare.
package struct DeviceFeatures: Sendable, Hashable {
    /// Pictures go up as bytes and are cropped, turned and resized on the device.
    package var preparesPixels: Bool

    package init(preparesPixels: Bool) { self.preparesPixels = preparesPixels }

    /// The defaults for a device, changed by NEEDLETAIL_OPENCL: words `pixels=on` or `pixels=off`, apart by commas. Words that are not known change nothing.
    ///
    /// Pictures are prepared on graphics processors alone: on PoCL's CPU device a 1920x1080 BGRA frame takes 7 times as long as on the host's SIMD kernels.
    package init(for device: OpenCLDevice, environment: [String: String] = ProcessInfo.processInfo.environment) {
        preparesPixels = device.kind == .gpu || device.kind == .accelerator
        for word in (environment["NEEDLETAIL_OPENCL"] ?? "").split(separator: ",") {
            let parts = word.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, let value = ["on": true, "off": false][parts[1]] else { continue }
            switch parts[0] {
            case "pixels": preparesPixels = value
            default: break
            }
        }
    }
}
