import Foundation
import NTFiles
import Needletail

/// `needletail`: classify, predict, describe, measure.
@main
enum Program {
    static var commands: [any Command.Type] {
        [
            ClassifyCommand.self, PredictCommand.self, DescribeCommand.self, CompileCommand.self, DevicesCommand.self, BenchCommand.self,
            TuneCommand.self,
        ]
    }

    static func main() {
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        fillStandardDescriptors()
        exit(run(arguments))
    }

    /// Whoever starts the program with a standard stream closed would otherwise find its text in the next file that is opened. What fills the place
    /// refuses to be written and read as a closed one does.
    private static func fillStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) < 0 {
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    /// The words after the program's name. `CommandLine.arguments` would lose what is no UTF-8, which file names may be.
    private static var arguments: [String] {
        (1..<max(1, Int(CommandLine.argc))).compactMap { index in
            CommandLine.unsafeArgv[index].map { word in FileName.text(Array(UnsafeRawBufferPointer(start: word, count: strlen(word)))) }
        }
    }

    /// Exit statuses: 0 done, 1 the work failed, 2 the command line is wrong.
    static func run(_ words: [String]) -> Int32 {
        do {
            return try perform(words)
        } catch let error as UsageError {
            Console.complain("\(error.description); needletail \(words.first ?? "") --help explains")
            return 2
        } catch {
            Console.complain(String(describing: error))
            return 1
        }
    }

    private static func perform(_ words: [String]) throws -> Int32 {
        guard let verb = words.first, verb != "--help", verb != "-h", verb != "help" else {
            if words.isEmpty {
                Console.complain("a verb is missing; needletail --help lists them")
                return 2
            }
            // `help VERB` is `VERB --help`.
            if words.count > 1, words[1] != "help", !words[1].hasPrefix("-") { return try perform([words[1], "--help"]) }
            try Console.print(overview)
            return 0
        }
        if verb == "--version" {
            try Console.print("needletail \(PackageInfo.version)")
            return 0
        }
        guard let command = commands.first(where: { $0.name == verb }) else {
            Console.complain("unknown verb '\(verb)'; needletail --help lists them")
            return 2
        }
        let rest = Array(words.dropFirst())
        if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
            try Console.print(command.usage)
            return 0
        }
        let arguments = try Arguments(rest, flags: command.flags)
        try PackageInfo.checkEnvironment()
        return try command.run(arguments)
    }

    private static var overview: String {
        var text = "usage: needletail VERB ...\n\nRuns image networks on the CPU's SIMD units or an OpenCL device.\n\n"
        for command in commands {
            text += "  " + command.name.padding(toLength: 12, withPad: " ", startingAt: 0) + command.summary + "\n"
        }
        text += """

            needletail VERB --help explains a verb.

            Exit status: 0 done; 1 the work, or a part of it, failed (the reason is on standard error); 2 the command line is wrong.

            Environment:

            """
        for variable in PackageInfo.environmentVariables {
            text += "  " + variable.name.padding(toLength: 24, withPad: " ", startingAt: 0) + variable.meaning + "\n"
        }
        return text
    }
}
