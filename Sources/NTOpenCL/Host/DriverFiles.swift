import Foundation
import NTFiles

/// The drivers that an OpenCL loader is told of: `.icd` files of one line, the name of a library.
struct DriverFiles {
    /// The folder, file or library that says which drivers there are.
    let place: String
    /// What names a driver, and the library that it names; nil for a file that cannot be read or is empty.
    let drivers: [(file: String, library: String?)]

    /// Where loaders look: OCL_ICD_VENDORS, else OPENCL_VENDOR_PATH, a folder, an `.icd` file or a library, else /etc/OpenCL/vendors; and the libraries in
    /// OCL_ICD_FILENAMES.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        place = ["OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"].compactMap { environment[$0] }.first { !$0.isEmpty } ?? "/etc/OpenCL/vendors"
        let libraries = (environment["OCL_ICD_FILENAMES"] ?? "").split(separator: ":").map { (String($0), String?.some(String($0))) }
        if let names = try? FileManager.default.contentsOfDirectory(atPath: place) {
            let folder = place
            drivers = names.filter { $0.hasSuffix(".icd") }.sorted().map { ("\(folder)/\($0)", Self.library(in: "\(folder)/\($0)")) } + libraries
        } else if place.hasSuffix(".icd") {
            drivers = [(place, Self.library(in: place))] + libraries
        } else {
            // A folder that is not there names nothing; a library may be one that the system finds by its name.
            drivers = (place.contains(".so") ? [(place, place)] : []) + libraries
        }
    }

    private static func library(in file: String) -> String? {
        guard let data = try? Files.read(file, limit: 4096) else { return nil }
        let line = data.split(separator: UInt8(ascii: "\n"), maxSplits: 1).first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let name = line.trimmingCharacters(in: .whitespaces)
        return name.isEmpty ? nil : name
    }

    /// What is wrong with each driver that cannot be loaded or is none, for people.
    var problems: [String] {
        drivers.compactMap { file, library in
            guard let library else { return "'\(file)' names no library" }
            // Kept: not every driver can be loaded a second time.
            guard let handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE) else {
                let words = dlerror().map { String(cString: $0) } ?? "no reason given"
                return file == library ? "'\(file)' does not load: \(words)" : "'\(file)' names '\(library)', which does not load: \(words)"
            }
            defer { dlclose(handle) }
            // What cl_khr_icd has a driver offer under its plain name.
            let isDriver = dlsym(handle, "clGetExtensionFunctionAddress") != nil
            return isDriver ? nil : "'\(file)' names '\(library)', which is no OpenCL driver"
        }
    }
}
