import Foundation
import Needletail

/// `needletail devices`: what there is to run on.
enum DevicesCommand: Command {
    static let name = "devices"
    static let operands = "[--json]"
    static let summary = "List the CPU and the OpenCL devices."
    static let flags = [CommonFlags.json]

    static func run(_ arguments: Arguments) throws -> Int32 {
        guard arguments.positional.isEmpty else { throw UsageError("unexpected argument '\(arguments.positional[0])'") }
        let cpu = Devices.cpu
        let (devices, reason) = Devices.openCL()
        if arguments.has("--json") {
            var object: [String: Any] = [
                "cpu": [
                    "name": cpu.name, "isa": cpu.instructionSet, "cores": cpu.coreCount,
                    "l1Bytes": cpu.cacheByteCounts[0], "l2Bytes": cpu.cacheByteCounts[1], "l3Bytes": cpu.cacheByteCounts[2],
                ] as [String: Any],
                "opencl": devices.map { device in
                    [
                        "index": device.index, "name": device.name, "platform": device.platform, "vendor": device.vendor,
                        "version": device.version, "driver": device.driver, "type": device.type.rawValue,
                        "computeUnits": device.computeUnits, "memoryBytes": device.memoryByteCount,
                        "halfPrecision": device.hasHalfPrecision,
                    ] as [String: Any]
                },
            ]
            if let reason { object["openclReason"] = reason }
            try Console.print(Console.json(object))
            return 0
        }
        try Console.print("cpu       \(cpu.name), \(cpu.instructionSet), \(cpu.coreCount) cores")
        for device in devices {
            let memory = String(format: "%.1f GiB", Double(device.memoryByteCount) / Double(1 << 30))
            try Console.print(
                "opencl \(device.index)  \(device.name) (\(device.type.rawValue), \(device.computeUnits) units, \(memory)), "
                    + "\(device.platform), driver \(device.driver)")
        }
        if let reason { try Console.print("opencl    \(devices.isEmpty ? "none" : "left out"): \(reason)") }
        return 0
    }
}
