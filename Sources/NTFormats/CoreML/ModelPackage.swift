import Foundation
import NTFiles

/// Finds the model file that a URL means: the file itself, the root model of an `.mlpackage` folder, or the model of a folder compiled here.
package enum ModelPackage {
    /// The model inside a folder that `Model.compile` wrote.
    package static let compiledModelName = "model.mlmodel"
    /// The most bytes of a manifest.
    private static let maximumManifestByteCount = 1 << 20

    /// The file that holds the model. Throws `FormatError`: missing, or a folder that is no sound package.
    package static func modelFile(for url: URL) throws -> URL {
        // What cannot be looked at gives its reason when it is opened.
        Files.kind(url.path) == .folder ? try rootModel(of: url) : url
    }

    private static func rootModel(of folder: URL) throws -> URL {
        func failure(_ reason: String) -> FormatError { FormatError(.badPackage, path: folder.path, reason) }
        let manifestURL = folder.appendingPathComponent("Manifest.json")
        guard Files.kind(manifestURL.path) != nil else {
            let compiled = folder.appendingPathComponent(compiledModelName)
            if Files.kind(compiled.path) != nil { return compiled }
            if Files.kind(folder.appendingPathComponent("coremldata.bin").path) != nil {
                throw FormatError(
                    .unsupported, path: folder.path, "is a compiled model (.mlmodelc); use the .mlmodel or .mlpackage it was made from")
            }
            throw failure("is a folder without Manifest.json or \(compiledModelName), so neither an .mlpackage nor a compiled model")
        }
        let manifest = try ByteStorage(contentsOf: manifestURL, maximumByteCount: maximumManifestByteCount)
        guard let root = try? JSONSerialization.jsonObject(with: Data(manifest.bytes)) as? [String: Any] else {
            throw failure("Manifest.json is no JSON object")
        }
        guard let identifier = root["rootModelIdentifier"] as? String else { throw failure("Manifest.json lacks rootModelIdentifier") }
        guard let items = root["itemInfoEntries"] as? [String: Any], let item = items[identifier] as? [String: Any] else {
            throw failure("Manifest.json has no entry for the root model '\(FormatError.shortened(identifier))'")
        }
        guard let path = item["path"] as? String, !path.isEmpty else { throw failure("the root model's entry in Manifest.json lacks path") }
        let parts = path.split(separator: "/")
        guard !path.hasPrefix("/"), !parts.contains("..") else {
            throw failure("the root model's path '\(FormatError.shortened(path))' leads out of the package")
        }
        let model = folder.appendingPathComponent("Data").appendingPathComponent(path)
        guard Files.kind(model.path) != nil else {
            throw failure("the root model 'Data/\(FormatError.shortened(path))' is missing")
        }
        return model
    }
}
