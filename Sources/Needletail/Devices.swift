import CNTPlatform
import Foundation
import NTOpenCL

/// What there is to run on.
public enum Devices {
    /// The processor.
    public struct CPU: Sendable {
        public let name: String
        /// The best tier in use: `portable`, `avx2`, `avx512`, `avx512bf16`, `avx512fp16`, `amx`.
        public let instructionSet: String
        /// Cores that this process may use.
        public let coreCount: Int
        /// Bytes of data cache that one core sees, levels 1 to 3.
        public let cacheByteCounts: [Int]
    }

    /// This machine's processor.
    public static var cpu: CPU {
        CPU(
            name: String(cString: nt_cpu_brand()), instructionSet: String(cString: nt_isa_name(nt_isa_bits())),
            coreCount: Int(nt_usable_cores()), cacheByteCounts: (1...3).map { Int(nt_cache_bytes(Int32($0))) })
    }

    /// An OpenCL device.
    public struct OpenCL: Sendable {
        /// The kind of device.
        public enum Kind: String, Sendable { case cpu, gpu, accelerator, other }

        /// Its number over all platforms, what `SessionConfiguration.deviceIndex` takes.
        public let index: Int
        public let name: String
        public let platform: String
        public let vendor: String
        /// The OpenCL version in the device's own words.
        public let version: String
        public let driver: String
        public let type: Kind
        public let computeUnits: Int
        public let memoryByteCount: Int
        /// Whether it computes in half precision.
        public let hasHalfPrecision: Bool
    }

    /// The OpenCL devices of all platforms; why there are none, or which drivers were left out and why.
    public static func openCL() -> (devices: [OpenCL], reason: String?) {
        let list = OpenCLBackend.devices()
        let devices = list.devices.enumerated().map { index, device in
            OpenCL(
                index: index, name: device.name, platform: device.platformName, vendor: device.vendor,
                version: device.version, driver: device.driverVersion, type: OpenCL.Kind(rawValue: device.kind.rawValue) ?? .other,
                computeUnits: device.computeUnits, memoryByteCount: device.globalMemoryBytes, hasHalfPrecision: device.hasHalfPrecision)
        }
        return (devices, list.reason)
    }
}
