import NTGraph
import NTTensor

/// A graph of one operator (and what surrounds it) with inputs.
struct DeviceCase {
    var name: String
    var graph: Graph
    var inputs: [Tensor]
    var tolerance: Float = 1e-5

    /// One operator over `inputs`, followed by constants.
    init(
        _ op: any Operator, _ shapes: [Shape], constants: [Shape] = [], range: ClosedRange<Float> = -1...1,
        constantValues: [[Float]] = [], tolerance: Float = 1e-5, seed: UInt64 = 1
    ) throws {
        var numbers = SeededNumbers(seed)
        let inputs = try shapes.map { try numbers.tensor($0, range.lowerBound, range.upperBound) }
        var builder = GraphBuilder(name: "case")
        var ids: [ValueID] = []
        for (index, shape) in shapes.enumerated() { ids.append(builder.input("x\(index)", .float32(shape))) }
        for shape in constants { ids.append(try builder.constant(try numbers.tensor(shape))) }
        for values in constantValues { ids.append(try builder.constant(try Tensor([values.count], values))) }
        let outputs = try builder.apply(op, ids, layer: "layer")
        for (index, output) in outputs.enumerated() { try builder.output(output, name: "y\(index)") }
        name = "\(op.kind) \(shapes.map(\.description)) \(op.attributeText)"
        graph = builder.graph
        self.inputs = inputs
        self.tolerance = tolerance
    }

    /// A graph made by `body` from inputs of these shapes; its outputs are what `body` returns.
    init(
        _ name: String, _ shapes: [Shape], range: ClosedRange<Float> = -1...1, tolerance: Float = 1e-5, seed: UInt64 = 1,
        _ body: (inout GraphBuilder, [ValueID], inout SeededNumbers) throws -> [ValueID]
    ) throws {
        var numbers = SeededNumbers(seed)
        inputs = try shapes.map { try numbers.tensor($0, range.lowerBound, range.upperBound) }
        var builder = GraphBuilder(name: name)
        let ids = shapes.enumerated().map { builder.input("x\($0)", .float32($1)) }
        for (index, id) in try body(&builder, ids, &numbers).enumerated() { try builder.output(id, name: "y\(index)") }
        graph = builder.graph
        self.name = name
        self.tolerance = tolerance
    }
}
