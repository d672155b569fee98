/// One kind of stage of a network's program: a kernel with all its numbers known, so that the compiler can use them.
struct StageKind: Sendable, Hashable {
    var program: ProgramKey
    var entry: String
    /// Work-items per dimension.
    var grid: [Int]
    /// Storages are numbered in the order of the arguments.
    var arguments: [KernelArgument]

    init(_ launch: Launch) {
        (program, entry, grid) = (launch.program, launch.entry, launch.global)
        var count = 0
        arguments = launch.arguments.map { argument in
            guard case .storage = argument else { return argument }
            count += 1
            return .storage(count - 1)
        }
    }

    var items: Int { grid.reduce(1, *) }

    /// The call for work-item `item`, to the function that ends in `suffix`.
    func call(suffix: String) -> String {
        let width = grid[0]
        let height = grid.count > 1 ? grid[1] : 1
        let places = ["item % \(width)", "item / \(width) % \(height)", "item / \(width * height)"]
        let values = arguments.map { argument in
            switch argument {
            case .storage(let index): "NT_AT(\(index))"
            case .int(let value): "\(Int32(clamping: value))"
            case .float(let value): "as_float(0x\(String(value.bitPattern, radix: 16))u)"
            }
        }
        return "\(entry)\(suffix)(\((places + values).joined(separator: ", ")));"
    }
}

/// The text of a program that runs all stages of a network in one launch.
struct NetworkText: Sendable, Hashable {
    var kinds: [StageKind] = []
    /// Buffers that the arguments lie in.
    var baseCount = 0

    /// Numbers in a row of the table.
    var rowLength = 4

    /// Each distinct kernel once, as functions, then the entry.
    var text: String {
        var parts = ["#define NT_IN_NETWORK", KernelSource.file("common")]
        var numbers: [ProgramKey: Int] = [:]
        var cases: [String] = []
        for (index, kind) in kinds.enumerated() {
            let number = numbers[kind.program] ?? numbers.count
            if numbers.updateValue(number, forKey: kind.program) == nil { parts.append(Self.functions(of: kind.program, suffix: "_k\(number)")) }
            cases.append("case \(index): \(kind.call(suffix: "_k\(number)")) break;")
        }
        let bases = (0..<baseCount).map { "base\($0)" }
        parts += [
            "#define NT_BASES " + bases.joined(separator: ", "),
            "#define NT_BASE_PARAMETERS " + bases.map { "global uchar *\($0)" }.joined(separator: ", "), "#define NT_ROW \(rowLength)",
            "#define NT_CASES \\\n" + cases.joined(separator: " \\\n"), KernelSource.network.file,
        ]
        return parts.joined(separator: "\n")
    }

    /// A program's kernels as functions whose names end in `suffix`, with no macro left behind.
    private static func functions(of program: ProgramKey, suffix: String) -> String {
        let text = program.source.file
        let words = Words(of: text)
        let macros = program.macros.sorted { $0.key < $1.key } + [("NT_VARIANT", suffix)]
        return macros.map { "#define \($0.0) \($0.1)\n" }.joined()
            + KernelSource.functions(widths: program.widths, suffix: suffix)
            + words.names.map { "#define \($0) \($0)\(suffix)\n" }.joined() + text + "\n"
            + (macros.map(\.0) + words.names + words.macros).map { "#undef \($0)\n" }.joined()
    }

    /// What a kernel file defines: macros, and functions and types, which alone begin with `nt_`.
    private struct Words {
        var macros: [String] = []
        var names: [String] = []

        init(of text: String) {
            var (foundMacros, foundNames): (Set<String>, Set<String>) = ([], [])
            var last = ""
            for piece in text.utf8.split(whereSeparator: { !Self.isWord($0) && $0 != UInt8(ascii: "#") }) {
                let word = String(decoding: piece, as: UTF8.self)
                if last == "#define" { foundMacros.insert(word) }
                if word.hasPrefix("nt_") { foundNames.insert(word) }
                last = word
            }
            (macros, names) = (foundMacros.sorted(), foundNames.sorted())
        }

        private static func isWord(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
