import CNTKernelSources

/// A file of Kernels/OpenCL that makes a program of its own, with `common.cl` and `functions.cl` before it.
enum KernelSource: String, Sendable, Hashable, CaseIterable {
    case pointwise, convolution
    case convolutionTiled = "convolution_tiled"
    case depthwise, pool, lanes, spatial, transposed, matmul, peak, picking, pixels, separable

    private static let widths = [1, 4, 8, 16]

    /// The whole program's text: loads and stores, the functions for the vector widths in `widths`, the kernels.
    func text(widths: Set<Int>) -> String {
        // Whole numbers need neither.
        if self == .pixels { return Self.file(rawValue) }
        var parts = [Self.file("common")]
        for width in Self.widths where width == 1 || widths.contains(width) {
            parts.append("#define FT nt_float\(width)\n#define FN(name) nt_##name##_\(width)\n")
            parts.append(Self.file("functions"))
            parts.append("#undef FT\n#undef FN\n")
        }
        parts.append(Self.file(rawValue))
        return parts.joined(separator: "\n")
    }

    private static func file(_ name: String) -> String {
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

    var optionText: String {
        let defines = macros.sorted { $0.key < $1.key }.map { $0.value.isEmpty ? "-D \($0.key)" : "-D \($0.key)=\($0.value)" }
        return (["-cl-std=CL1.2"] + defines).joined(separator: " ")
    }

    var sourceText: String {
        source.text(widths: Set([macros["W"], macros["VW"]].compactMap { $0.flatMap { Int($0) } }))
    }
}
