import NTGraph

/// The attributes of a golden: a JSON object of flags, numbers, texts and lists of numbers.
struct GoldenAttributes: Decodable {
    private enum Item: Decodable {
        case flag(Bool)
        case number(Double)
        case text(String)
        case list([Double])

        init(from decoder: Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let value = try? container.decode(Bool.self) {
                self = .flag(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else {
                self = .list(try container.decode([Double].self))
            }
        }
    }

    private let items: [String: Item]

    init(from decoder: Decoder) throws { items = try decoder.singleValueContainer().decode([String: Item].self) }

    private func missing(_ name: String) -> GraphError { GraphError("the golden lacks attribute '\(name)'") }

    func flag(_ name: String) throws -> Bool {
        guard case .flag(let value) = items[name] else { throw missing(name) }
        return value
    }

    func number(_ name: String) throws -> Float {
        guard case .number(let value) = items[name] else { throw missing(name) }
        return Float(value)
    }

    func integer(_ name: String) throws -> Int { Int(try number(name)) }

    func text(_ name: String) throws -> String {
        guard case .text(let value) = items[name] else { throw missing(name) }
        return value
    }

    func numbers(_ name: String) throws -> [Double] {
        guard case .list(let value) = items[name] else { throw missing(name) }
        return value
    }

    func integers(_ name: String) throws -> [Int] { try numbers(name).map { Int($0) } }

    func size(_ name: String) throws -> Size2D {
        let values = try integers(name)
        guard values.count == 2 else { throw missing(name) }
        return Size2D(values[0], values[1])
    }

    func padding(_ name: String) throws -> Padding2D {
        let values = try integers(name)
        guard values.count == 4 else { throw missing(name) }
        return Padding2D(top: values[0], left: values[1], bottom: values[2], right: values[3])
    }

    func choice<T: RawRepresentable>(_ name: String) throws -> T where T.RawValue == String {
        guard let value = T(rawValue: try text(name)) else { throw missing(name) }
        return value
    }

    var activation: UnaryFunction { (try? text("activation")) == "relu" ? .relu : .identity }

    func coordinates() throws -> Resize.Coordinates {
        switch try text("coordinates") {
        case "alignCorners": return .alignCorners
        case "asymmetric": return .asymmetric
        case "halfPixel": return .halfPixel
        case "upsample": return .upsample
        case "explicit":
            let values = try numbers("explicit").map { Float($0) }
            guard values.count == 4 else { throw missing("explicit") }
            return .explicit(startY: values[0], stepY: values[1], startX: values[2], stepX: values[3])
        default: throw missing("coordinates")
        }
    }

    func unaryFunction() throws -> UnaryFunction {
        let name = try text("function")
        let p = try numbers("parameters").map { Float($0) }
        switch (name, p.count) {
        case ("clip", 2): return .clip(p[0], p[1])
        case ("hardSigmoid", 2): return .hardSigmoid(p[0], p[1])
        case ("scaledTanh", 2): return .scaledTanh(p[0], p[1])
        case ("linear", 2): return .linear(p[0], p[1])
        case ("leakyReLU", 1): return .leakyReLU(p[0])
        case ("thresholdedReLU", 1): return .thresholdedReLU(p[0])
        case ("elu", 1): return .elu(p[0])
        case ("threshold", 1): return .threshold(p[0])
        case ("power", 1): return .power(p[0])
        case ("rsqrt", 1): return .rsqrt(p[0])
        case ("inverse", 1): return .inverse(p[0])
        case ("log", 1): return .log(p[0])
        default:
            guard let function = Self.plainFunctions.first(where: { $0.description == name }) else { throw missing("function \(name)") }
            return function
        }
    }

    static let plainFunctions: [UnaryFunction] = [
        .identity, .relu, .sigmoid, .hardSwish, .silu, .tanh, .softsign, .softplus, .geluExact, .geluTanh, .geluSigmoid, .sqrt, .square, .exp,
        .exp2, .abs, .negate, .sign, .ceil, .floor, .round, .sin, .cos, .tan, .asin, .acos, .atan, .sinh, .cosh, .asinh, .acosh, .atanh, .erf,
        .logicalNot,
    ]
}
