import NTTensor

/// Writes attributes, or reads them, in the order in which an operator passes them.
package struct AttributeCoder {
    private var reader: RecordReader?
    private var writer = RecordWriter()
    /// Attributes coded so far.
    package private(set) var count = 0

    /// A coder that writes.
    package init() {}

    /// A coder that reads what one has written. Errors are `GraphError`s.
    package init(_ reader: RecordReader) { self.reader = reader }

    /// What was written.
    package var bytes: [UInt8] { writer.bytes }
    /// Whether all was read.
    package var isAtEnd: Bool { reader?.isAtEnd ?? true }

    package mutating func int(_ value: inout Int) throws { try code(&value, { try $0.int() }, { $0.int($1) }) }
    package mutating func ints(_ value: inout [Int]) throws { try code(&value, { try $0.ints() }, { $0.ints($1) }) }
    package mutating func bool(_ value: inout Bool) throws { try code(&value, { try $0.int() != 0 }, { $0.int($1 ? 1 : 0) }) }
    package mutating func float(_ value: inout Float) throws { try code(&value, { try $0.float() }, { $0.float($1) }) }

    package mutating func shape(_ value: inout Shape) throws { try code(&value, { Shape(try $0.ints()) }, { $0.ints($1.dims) }) }

    package mutating func size(_ value: inout Size2D) throws {
        try code(&value, { Size2D(try $0.int(), try $0.int()) }, { $0.ints([$1.height, $1.width], counted: false) })
    }

    package mutating func padding(_ value: inout Padding2D) throws {
        try code(
            &value, { Padding2D(top: try $0.int(), left: try $0.int(), bottom: try $0.int(), right: try $0.int()) },
            { $0.ints([$1.top, $1.left, $1.bottom, $1.right], counted: false) })
    }

    /// One of an enumeration's names.
    package mutating func choice<Choice: RawRepresentable>(_ value: inout Choice) throws where Choice.RawValue == String {
        try code(
            &value,
            { reader in
                let name = try reader.text()
                guard let choice = Choice(rawValue: name) else { throw GraphError("there is no choice '\(name)'") }
                return choice
            }, { $0.text($1.rawValue) })
    }

    /// One of an enumeration's numbers.
    package mutating func choice<Choice: RawRepresentable>(_ value: inout Choice) throws where Choice.RawValue == Int {
        try code(
            &value,
            { reader in
                let number = try reader.int()
                guard let choice = Choice(rawValue: number) else { throw GraphError("there is no choice \(number)") }
                return choice
            }, { $0.int($1.rawValue) })
    }

    package mutating func function(_ value: inout UnaryFunction) throws {
        try code(
            &value,
            { reader in
                let (number, alpha, beta) = (try reader.int(), try reader.float(), try reader.float())
                guard let function = UnaryFunction(number: number, alpha, beta) else { throw GraphError("there is no function \(number)") }
                return function
            },
            { writer, function in
                let (number, alpha, beta) = function.parts
                writer.int(number)
                writer.float(alpha)
                writer.float(beta)
            })
    }

    package mutating func padMode(_ value: inout Pad.Mode) throws {
        try code(
            &value,
            { reader in
                let (number, filler) = (try reader.int(), try reader.float())
                switch number {
                case 0: return .constant(filler)
                case 1: return .reflection
                case 2: return .replication
                default: throw GraphError("there is no padding \(number)")
                }
            },
            { writer, mode in
                let (number, filler): (Int, Float) =
                    switch mode {
                    case .constant(let value): (0, value)
                    case .reflection: (1, 0)
                    case .replication: (2, 0)
                    }
                writer.int(number)
                writer.float(filler)
            })
    }

    package mutating func coordinates(_ value: inout Resize.Coordinates) throws {
        try code(
            &value,
            { reader in
                let number = try reader.int()
                let (a, b, c, d) = (try reader.float(), try reader.float(), try reader.float(), try reader.float())
                switch number {
                case 0: return .alignCorners
                case 1: return .asymmetric
                case 2: return .halfPixel
                case 3: return .upsample
                case 4: return .explicit(startY: a, stepY: b, startX: c, stepX: d)
                default: throw GraphError("there are no coordinates \(number)")
                }
            },
            { writer, coordinates in
                let (number, values): (Int, [Float]) =
                    switch coordinates {
                    case .alignCorners: (0, [0, 0, 0, 0])
                    case .asymmetric: (1, [0, 0, 0, 0])
                    case .halfPixel: (2, [0, 0, 0, 0])
                    case .upsample: (3, [0, 0, 0, 0])
                    case .explicit(let startY, let stepY, let startX, let stepX): (4, [startY, stepY, startX, stepX])
                    }
                writer.int(number)
                for value in values { writer.float(value) }
            })
    }

    package mutating func addressing(_ value: inout Scatter.Addressing) throws {
        try code(
            &value,
            { reader in
                let (number, axis) = (try reader.int(), try reader.int())
                switch number {
                case 0: return .slices(axis: axis)
                case 1: return .elements(axis: axis)
                case 2: return .coordinates
                default: throw GraphError("there is no addressing \(number)")
                }
            },
            { writer, addressing in
                let parts =
                    switch addressing {
                    case .slices(let axis): [0, axis]
                    case .elements(let axis): [1, axis]
                    case .coordinates: [2, 0]
                    }
                writer.ints(parts, counted: false)
            })
    }

    private mutating func code<Value>(
        _ value: inout Value, _ read: (inout RecordReader) throws -> Value, _ write: (inout RecordWriter, Value) -> Void
    ) throws {
        count += 1
        guard var reader else { return write(&writer, value) }
        value = try read(&reader)
        self.reader = reader
    }
}
