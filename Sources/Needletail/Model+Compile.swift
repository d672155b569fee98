import Foundation
import NTFormats

extension Model {
    /// Checks a model and writes it as `NAME.mlmodelc` into a new temporary folder, which the caller may move it from. `Model` reads such folders as it
    /// reads the model itself. Throws `NeedletailError` naming the path when the model is missing or malformed, or the folder cannot be written.
    public static func compile(contentsOf url: URL) throws -> URL {
        let model = try Model(contentsOf: url)
        return try NeedletailError.wrapping(.invalidModel, context: url.path) {
            let source = try ModelPackage.modelFile(for: url).resolvingSymlinksInPath()
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let compiled = folder.appendingPathComponent(model.name + ".mlmodelc")
            try FileManager.default.createDirectory(at: compiled, withIntermediateDirectories: true)
            try FileManager.default.copyItem(at: source, to: compiled.appendingPathComponent(ModelPackage.compiledModelName))
            return compiled
        }
    }
}
