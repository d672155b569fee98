import CNTKernelSources

/// A file of Kernels/OpenCL that makes a program of its own, with `common.cl` and `functions.cl` before it.
enum KernelSource: String, Sendable, Hashable, CaseIterable {
    case pointwise, convolution
    case convolutionTiled = "convolution_tiled"
    case depthwise, pool, lanes, dense, spatial, transposed, matmul, peak, picking, pixels, separable
    /// The entry of a program that holds a network's kernels as functions.
    case network

    private static let widths = [1, 4, 8, 16]

    /// The whole program's text: loads and stores, the functions for the vector widths in `widths`, the kernels.
    func text(widths: Set<Int>) -> String {
        // Whole numbers need neither.
        if self == .pixels { return file }
        return [Self.file("common"), Self.functions(widths: widths, suffix: ""), file].joined(separator: "\n")
    }

    /// `functions.cl` for some vector widths and for single numbers, `suffix` behind the names.
    static func functions(widths: Set<Int>, suffix: String) -> String {
        Self.widths.filter { $0 == 1 || widths.contains($0) }.map { width in
            """
            #define FT nt_float\(width)
            #define FN(name) nt_##name##_\(width)\(suffix)
            \(file("functions"))
            #undef FT
            #undef FN

            """
        }.joined()
    }

    /// The file itself, after `groups.cl` where items of a group share sums.
    var file: String {
        switch self {
        case .pool, .lanes, .dense: Self.file("groups") + "\n" + Self.file(rawValue)
        default: Self.file(rawValue)
        }
    }

    static func file(_ name: String) -> String {
        var length = 0
        guard let text = nt_kernel_source(name, &length) else { return "#error \(name).cl is not embedded" }
        return String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
    }
}

/// Which program: a source and the macros it is built with.
struct ProgramKey: Sendable, Hashable {
    var source: KernelSource
    /// Macros in any order; a value of "" means defined.
    var macros: [String: String]
    /// The version of OpenCL C, as `-cl-std` names it.
    var language = "CL1.2"
    /// The kernels of a network's program; empty for any other.
    var network = NetworkText()

    var optionText: String {
        let defines = macros.sorted { $0.key < $1.key }.map { $0.value.isEmpty ? "-D \($0.key)" : "-D \($0.key)=\($0.value)" }
        return (["-cl-std=\(language)"] + defines).joined(separator: " ")
    }

    var sourceText: String { source == .network ? network.text : source.text(widths: widths) }

    /// The vector widths that the kernels ask for.
    var widths: Set<Int> { Set([macros["W"], macros["VW"]].compactMap { $0.flatMap { Int($0) } }) }
}
