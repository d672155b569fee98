import CNTPlatform
import Foundation
import NTCPU
import NTFiles
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
            try Files.makeFolder(compiled.path)
            do { try model.write(compiled, precision) } catch {
                Files.remove(folder.path)
                throw error
            }
            return compiled
        }
    }

    /// Compiles a model to a folder of the caller's choice, see `compile(contentsOf:precision:)`. A folder of an earlier compilation is replaced in one
    /// step, so that whoever loads it meanwhile sees the one or the other. A link is followed: it stays, and what it leads to is replaced. What an
    /// interrupted compilation to the same place has left beside it is removed. Throws as well when something else is in the way.
    public static func compile(contentsOf url: URL, to target: URL, precision: ComputePrecision = .float32) throws {
        let model = try Model(contentsOf: url)
        try NeedletailError.wrapping(.invalidModel, context: target.path) {
            let target = URL(fileURLWithPath: try Files.destination(target.path))
            let parent = target.deletingLastPathComponent()
            guard Files.kind(parent.path) == .folder else {
                throw NeedletailError(.invalidInput, "\(target.path): there is no folder '\(parent.path)'")
            }
            let exists = Files.kind(target.path) != nil
            if exists { try checkIsReplaceable(target) }
            UnfinishedFolder.removeAbandoned(beside: target.path)
            let unfinished = try UnfinishedFolder(beside: target.path)
            try withExtendedLifetime(unfinished) {
                let folder = URL(fileURLWithPath: unfinished.path)
                try model.write(folder, precision)
                try Self.put(folder, at: target, replaces: exists)
            }
        }
    }

    /// Removes what compilations of this process have not finished, when it is about to be ended by a signal.
    package static func removeUnfinishedCompilations() { UnfinishedFolder.removeAll() }

    /// Throws unless a folder is a compiled model and holds nothing else, which replacing it would delete.
    private static func checkIsReplaceable(_ target: URL) throws {
        let names = (try? Files.names(inFolder: target.path)) ?? []
        guard names.contains(ModelPackage.compiledModelName) else {
            throw NeedletailError(.invalidInput, "\(target.path): is in the way, and no compiled model")
        }
        if let other = names.first(where: { $0 != ModelPackage.compiledModelName && $0 != CompiledModel.fileName }) {
            throw NeedletailError(.invalidInput, "\(target.path): holds '\(other)' beside a compiled model, and would be replaced whole")
        }
    }

    /// Moves a new folder to its place; what was there is then at the new folder's.
    private static func put(_ folder: URL, at target: URL, replaces: Bool) throws {
        var code = replaces ? exchange(folder, target) : 0
        if replaces, code == 0 { return }
        if code == EINVAL || code == ENOSYS {
            // A file system that cannot exchange: for a moment there is nothing in the place.
            let aside = folder.appendingPathExtension("old")
            defer { Files.remove(aside.path) }
            try Files.move(target.path, to: aside.path)
            return try Files.move(folder.path, to: target.path)
        }
        if code == 0 {
            code = FileName.withBytes(of: folder.path) { from in FileName.withBytes(of: target.path) { rename(from, $0) == 0 ? 0 : errno } }
        }
        if !replaces, code == ENOTEMPTY || code == EEXIST {
            // Another compilation was first; this one is as good.
            try checkIsReplaceable(target)
            code = exchange(folder, target)
        }
        guard code == 0 else {
            throw NeedletailError(.invalidInput, "\(target.path): cannot be put in place: \(String(cString: strerror(code)))")
        }
    }

    /// Lets two folders change places; the `errno` of what went wrong, or 0.
    private static func exchange(_ a: URL, _ b: URL) -> Int32 {
        FileName.withBytes(of: a.path) { first in FileName.withBytes(of: b.path) { nt_exchange_paths(first, $0) } }
    }

    /// Writes the model and its compiled form into an empty folder.
    private func write(_ folder: URL, _ precision: ComputePrecision) throws {
        guard let path = asset.path else { throw NeedletailError(.invalidModel, "\(name): the model is in memory, not in a file") }
        let source = try ModelPackage.modelFile(for: URL(fileURLWithPath: path))
        let copy = folder.appendingPathComponent(ModelPackage.compiledModelName)
        try Files.copy(source.path, toNew: copy.path)
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
