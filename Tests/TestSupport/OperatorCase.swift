import NTGraph
import NTTensor

/// A small graph with inputs, to run on a backend and compare with the reference.
package struct OperatorCase: Sendable, CustomStringConvertible {
    package let name: String
    /// The kinds of the operators it covers, as `Operator.kind` has them.
    package let kinds: [String]
    /// What a float32 backend may be off by.
    package let tolerance: Tolerance
    private let body: @Sendable (inout CaseBuilder) throws -> Void

    /// A case whose graph `body` builds.
    package init(
        _ name: String, kinds: [String], tolerance: Tolerance = .exact,
        _ body: @escaping @Sendable (inout CaseBuilder) throws -> Void
    ) {
        (self.name, self.kinds, self.tolerance, self.body) = (name, kinds, tolerance, body)
    }

    /// A case of one node on graph inputs and constants.
    package init(_ name: String, _ op: any Operator, _ operands: [Operand], tolerance: Tolerance = .exact) {
        self.init("\(op.kind) \(name)", kinds: [op.kind], tolerance: tolerance) { builder in
            let ids = try operands.map { operand in
                operand.isConstant
                    ? try builder.constant(operand.shape, operand.fill) : try builder.input(operand.shape, operand.fill)
            }
            for id in try builder.apply(op, ids) { try builder.output(id) }
        }
    }

    package var description: String { name }

    /// The graph and values for its inputs, the same ones each time.
    package func make() throws -> (graph: Graph, inputs: [Tensor]) {
        var builder = CaseBuilder(name: name)
        try body(&builder)
        return (builder.graph, builder.inputs)
    }
}

/// An input of a node under test.
package struct Operand: Sendable {
    package let shape: Shape
    package let fill: Fill
    package let isConstant: Bool

    /// A graph input.
    package static func input(_ shape: Shape, _ fill: Fill = .small) -> Operand {
        Operand(shape: shape, fill: fill, isConstant: false)
    }
    /// A constant.
    package static func constant(_ shape: Shape, _ fill: Fill = .small) -> Operand {
        Operand(shape: shape, fill: fill, isConstant: true)
    }
}

/// Builds a graph for a test, with data made from the case's name.
package struct CaseBuilder {
    private var builder: GraphBuilder
    package var random: TestRandom
    package private(set) var inputs: [Tensor] = []
    private var outputCount = 0
    private var nodeCount = 0

    package init(name: String) { (builder, random) = (GraphBuilder(name: name), TestRandom(name: name)) }

    package var graph: Graph { builder.graph }

    package func shape(_ id: ValueID) -> Shape { builder.shape(id) }

    /// Adds a graph input `x0`, `x1`, ... and its value.
    package mutating func input(_ shape: Shape, _ fill: Fill = .small) throws -> ValueID {
        inputs.append(try random.tensor(shape, fill))
        return builder.input("x\(inputs.count - 1)", .float32(shape))
    }

    /// Adds a constant.
    package mutating func constant(_ shape: Shape, _ fill: Fill = .small) throws -> ValueID {
        try builder.constant(try random.tensor(shape, fill))
    }

    /// Adds a scalar constant.
    package mutating func scalar(_ value: Float) throws -> ValueID { try builder.constant(try Tensor([], [value])) }

    package mutating func apply(_ op: any Operator, _ ids: [ValueID]) throws -> [ValueID] {
        nodeCount += 1
        return try builder.apply(op, ids, layer: "\(op.kind)\(nodeCount)")
    }

    /// Adds a node of one output.
    package mutating func add(_ op: any Operator, _ ids: ValueID...) throws -> ValueID {
        nodeCount += 1
        guard let output = try builder.apply(op, ids, layer: "\(op.kind)\(nodeCount)").first else {
            throw GraphError("\(op.kind) has no output")
        }
        return output
    }

    /// Adds a convolution with constant weights [O, C / groups, KH, KW] and, when `bias`, a constant bias.
    package mutating func convolution(
        _ x: ValueID, outputs: Int, kernel: Size2D, strides: Size2D = .one, padding: Padding2D = .zero, groups: Int = 1,
        bias: Bool = true, activation: UnaryFunction = .identity, fill: Fill = .integers(-2...2)
    ) throws -> ValueID {
        let channels = shape(x)[1] / max(1, groups)
        var operands = [x, try constant([outputs, channels, kernel.height, kernel.width], fill)]
        if bias { operands.append(try constant([outputs], fill)) }
        let op = Convolution(
            strides: strides, padding: padding, groups: groups, hasBias: bias, activation: activation)
        return try apply(op, operands)[0]
    }

    /// Marks an output, called `y0`, `y1`, ...
    package mutating func output(_ id: ValueID) throws {
        try builder.output(id, name: "y\(outputCount)")
        outputCount += 1
    }
}
