import CNTPlatform
import Foundation
import NTCPU
import NTFormats
import NTGraph
import NTRuntime

extension Model {
    /// Checks a model and writes it as `NAME.mlmodelc` into a new temporary folder, which the caller may move it from. `Model` reads such folders as it
    /// reads the model itself.
    ///
    /// The folder holds the model as it was and, for a network, its compiled form: the optimised graph for the default input shapes and the weights
    /// as this processor's kernels want them, to be mapped by sessions of the CPU backend with this precision. Other sessions start from the
    /// model, as does one that finds the compiled form damaged, or made from another model or by another version.
    /// Throws `NeedletailError` naming the path when the model is missing or malformed, a layer cannot run, or the folder cannot be written.
    public static func compile(contentsOf url: URL, precision: ComputePrecision = .float32) throws -> URL {
        let model = try Model(contentsOf: url)
        return try NeedletailError.wrapping(.invalidModel, context: url.path) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            let compiled = folder.appendingPathComponent(model.name + ".mlmodelc")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            do { try model.write(compiled, precision) } catch {
                try? FileManager.default.removeItem(at: folder)
                throw error
            }
            return compiled
        }
    }

    /// Compiles a model to a folder of the caller's choice, see `compile(contentsOf:precision:)`. A folder of an earlier compilation is replaced in one
    /// step, so that whoever loads it meanwhile sees the one or the other. Throws as well when something else is in the way.
    public static func compile(contentsOf url: URL, to target: URL, precision: ComputePrecision = .float32) throws {
        let model = try Model(contentsOf: url)
        try NeedletailError.wrapping(.invalidModel, context: target.path) {
            let files = FileManager.default
            let parent = target.deletingLastPathComponent()
            var isFolder: ObjCBool = false
            guard files.fileExists(atPath: parent.path, isDirectory: &isFolder), isFolder.boolValue else {
                throw NeedletailError(.invalidInput, "\(target.path): there is no folder '\(parent.path)'")
            }
            let exists = (try? target.checkResourceIsReachable()) ?? false
            if exists { try checkIsReplaceable(target) }
            let folder = parent.appendingPathComponent(".\(UUID().uuidString).mlmodelc")
            defer { try? files.removeItem(at: folder) }
            try model.write(folder, precision)
            try Self.put(folder, at: target, replaces: exists)
        }
    }

    /// Throws unless a folder is a compiled model and holds nothing else, which replacing it would delete.
    private static func checkIsReplaceable(_ target: URL) throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: target.path)) ?? []
        guard names.contains(ModelPackage.compiledModelName) else {
            throw NeedletailError(.invalidInput, "\(target.path): is in the way, and no compiled model")
        }
        if let other = names.first(where: { $0 != ModelPackage.compiledModelName && $0 != CompiledModel.fileName }) {
            throw NeedletailError(.invalidInput, "\(target.path): holds '\(other)' beside a compiled model, and would be replaced whole")
        }
    }

    /// Moves a new folder to its place; what was there is then at the new folder's.
    private static func put(_ folder: URL, at target: URL, replaces: Bool) throws {
        var code = replaces ? nt_exchange_paths(folder.path, target.path) : 0
        if replaces, code == 0 { return }
        if code == EINVAL || code == ENOSYS {
            // A file system that cannot exchange: for a moment there is nothing in the place.
            let aside = folder.appendingPathExtension("old")
            defer { try? FileManager.default.removeItem(at: aside) }
            code = rename(target.path, aside.path) == 0 ? 0 : errno
            if code == 0, rename(folder.path, target.path) == 0 { return }
        }
        if code == 0, rename(folder.path, target.path) != 0 { code = errno }
        if !replaces, code == ENOTEMPTY || code == EEXIST {
            // Another compilation was first; this one is as good.
            try checkIsReplaceable(target)
            code = nt_exchange_paths(folder.path, target.path)
        }
        guard code == 0 else {
            throw NeedletailError(.invalidInput, "\(target.path): cannot be put in place: \(String(cString: strerror(code)))")
        }
    }

    /// Writes the model and its compiled form into a new folder.
    private func write(_ folder: URL, _ precision: ComputePrecision) throws {
        guard let path = asset.path else { throw NeedletailError(.invalidModel, "\(name): the model is in memory, not in a file") }
        let source = try ModelPackage.modelFile(for: URL(fileURLWithPath: path)).resolvingSymlinksInPath()
        let copy = folder.appendingPathComponent(ModelPackage.compiledModelName)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try FileManager.default.copyItem(at: source, to: copy)
        guard isNetwork else { return }
        // From the copy, whatever happens to the file meanwhile.
        let graph = try Passes.optimize(try ModelAsset.load(contentsOf: copy).makeGraph())
        let recorder = WeightRecorder()
        let options = CompileOptions(precision: precision.runtimePrecision, packedWeights: recorder)
        // What is fused, and with it which layouts are wanted, depends on whether there is more than one thread.
        for threads in [1, 2] {
            _ = try ExecutionPlan(graph, backend: CPUBackend(threadCount: threads), options: options)
        }
        try CompiledModelWriter.write(
            graph, entries: recorder.entries, target: "\(precision.rawValue) on \(String(cString: nt_isa_name(nt_isa_bits())))",
            writer: PackageInfo.version, model: copy, to: folder.appendingPathComponent(CompiledModel.fileName))
    }
}
