import Needletail

/// An error in how the program was called: printed with a hint at `--help`; exit status 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A flag a verb understands.
struct Flag {
    let name: String
    /// What stands for the value in the help text; nil for a switch.
    let value: String?
    let help: String
    /// Whether the flag may be given several times.
    var repeats = false
}

/// A command line, taken apart by the flags its verb declares. Flags may stand anywhere; `--` ends them; `--name=value` works too.
struct Arguments {
    private(set) var positional: [String] = []
    private var values: [String: [String]] = [:]
    private var switches: Set<String> = []

    init(_ words: [String], flags: [Flag]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--" {
                positional += words
                return
            }
            guard word.hasPrefix("-"), word.count > 1 else {
                positional.append(word)
                continue
            }
            var name = word
            var inline: String?
            if word.hasPrefix("--"), let equals = word.firstIndex(of: "=") {
                name = String(word[..<equals])
                inline = String(word[word.index(after: equals)...])
            }
            if name == "-o" { name = "--output" }
            guard let flag = flags.first(where: { $0.name == name }) else { throw UsageError("unknown flag \(name)") }
            try take(flag, inline: inline, from: &words)
        }
    }

    private mutating func take(_ flag: Flag, inline: String?, from words: inout ArraySlice<String>) throws {
        guard flag.value != nil else {
            guard inline == nil else { throw UsageError("\(flag.name) takes no value") }
            switches.insert(flag.name)
            return
        }
        guard let value = inline ?? words.popFirst() else { throw UsageError("\(flag.name) needs a value") }
        guard flag.repeats || values[flag.name] == nil else { throw UsageError("\(flag.name) is given twice") }
        values[flag.name, default: []].append(value)
    }

    /// Whether a switch is given.
    func has(_ name: String) -> Bool { switches.contains(name) }

    /// A flag's value, or nil.
    func string(_ name: String) -> String? { values[name]?.last }

    /// All values of a flag that repeats.
    func strings(_ name: String) -> [String] { values[name] ?? [] }

    /// A flag's value as a whole number within `range`.
    func integer(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let text = string(name) else { return nil }
        guard let value = Int(text), range.contains(value) else {
            throw UsageError("\(name): expected a whole number from \(range.lowerBound) to \(range.upperBound), found '\(text)'")
        }
        return value
    }

    /// A flag's value as a number within `range`.
    func number(_ name: String, in range: ClosedRange<Double>) throws -> Double? {
        guard let text = string(name) else { return nil }
        guard let value = Double(text), range.contains(value) else {
            throw UsageError("\(name): expected a number from \(range.lowerBound) to \(range.upperBound), found '\(text)'")
        }
        return value
    }

    /// A flag's value as one of an enumeration's names.
    func choice<Choice: RawRepresentable & CaseIterable>(_ name: String, of type: Choice.Type) throws -> Choice?
    where Choice.RawValue == String {
        guard let text = string(name) else { return nil }
        guard let value = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\(name): expected one of \(known), found '\(text)'")
        }
        return value
    }
}
