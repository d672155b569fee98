import NTTensor

/// What a node computes. A value type per operator: its attributes are stored properties, its inputs are the node's.
///
/// Values in a graph are float32 tensors in logical layout (N C H W for images); integers and truth values are carried as whole floats.
/// A backend may keep them in another layout or precision inside its partition. `evaluate` is at once the specification, the oracle of the
/// tests, the constant folder and the last-resort fallback: plain loops that accumulate in Double and round once at the store.
///
/// Compiled models keep an operator as its kind and what `codeAttributes` writes.
package protocol Operator: Sendable {
    /// The operator's name in dumps and messages: the name of the type.
    static var kind: String { get }

    /// The types of the outputs for inputs of these types. Throws `OperatorError` when they do not fit, naming expected and found.
    func outputTypes(for inputs: [TensorType]) throws -> [TensorType]

    /// The outputs' values. The inputs fit: `outputTypes(for:)` has accepted them.
    func evaluate(_ inputs: [Tensor]) throws -> [Tensor]

    /// Attributes as text, for dumps: `strides=2x2 pads=1,1,1,1`.
    var attributeText: String { get }

    /// An operator of any attributes, for `codeAttributes` to read into.
    static var blank: Self { get }

    /// Writes every attribute, or reads every attribute, in one order: each stored property is passed to `coder` once.
    mutating func codeAttributes(_ coder: inout AttributeCoder) throws

    /// Multiply-adds (as 2) and other arithmetic for inputs and outputs of these types, for throughput figures.
    func flops(inputs: [TensorType], outputs: [TensorType]) -> Int
}

extension Operator {
    package static var kind: String { _typeName(Self.self, qualified: false) }
    package var kind: String { Self.kind }

    package var attributeText: String {
        Mirror(reflecting: self).children.map { child in "\(child.label ?? "_")=\(child.value)" }.joined(separator: " ")
    }

    /// One operation per output element unless an operator says better.
    package func flops(inputs: [TensorType], outputs: [TensorType]) -> Int { outputs.reduce(0) { $0 + $1.shape.count } }
}

/// Why inputs do not fit an operator. The graph's builder adds the layer's name.
package struct OperatorError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Throws unless `condition` holds.
    package static func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
        if !condition { throw OperatorError(message()) }
    }

    /// Throws unless the number of inputs is in `range`.
    package static func requireCount(_ inputs: [TensorType], _ range: ClosedRange<Int>) throws {
        try require(
            range.contains(inputs.count),
            "expected \(range.lowerBound == range.upperBound ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)") inputs, found \(inputs.count)"
        )
    }

    /// `axis` counted from the front; negative axes count from the back. Throws when it lies outside `rank`.
    package static func normalizedAxis(_ axis: Int, rank: Int) throws -> Int {
        let result = axis < 0 ? axis + rank : axis
        try require(result >= 0 && result < rank, "axis \(axis) lies outside rank \(rank)")
        return result
    }
}
