import NTGraph
import NTTensor

// Recurrent layers, unrolled: one set of nodes per step of the sequence, whose length is known when the graph is built.
extension NeuralNetworkImporter {
    /// What a recurrent sum is limited to before its activation, and a cell unless the file says otherwise.
    private static let stateLimit: Float = 50

    /// A sequence and the states it starts from. `input` is [Seq B, I], states are [B, O].
    private struct Recurrence {
        var input: ValueID
        var steps: Int
        var rows: Int
        var size: Int
        var isReversed: Bool

        /// Steps in the order in which they are taken.
        var order: [Int] { isReversed ? (0..<steps).reversed() : Array(0..<steps) }
    }

    private mutating func recurrence(_ blob: Blob, reversed: Bool) throws -> Recurrence {
        try require(
            blob.rank == 5 && blob.dims.suffix(2) == [1, 1], "expected an input of shape [Seq, B, C, 1, 1], found \(blob.dims)")
        try check(1, "inputVectorSize", against: blob.dims[2])
        let size = try parameters.int(2)
        try require((1...Window.maximumExtent).contains(size), "outputVectorSize \(size) is out of range")
        let input = try reshape(blob.id, [blob.dims[0] * blob.dims[1], blob.dims[2]])
        return Recurrence(input: input, steps: blob.dims[0], rows: blob.dims[1], size: size, isReversed: reversed)
    }

    private mutating func state(_ blobs: [Blob], _ index: Int, _ r: Recurrence) throws -> ValueID {
        guard index < blobs.count else {
            return try constant([Float](repeating: 0, count: r.rows * r.size), [r.rows, r.size])
        }
        let count = blobs[index].dims.reduce(1, *)
        try require(count == r.rows * r.size, "expected a state of \(r.rows)x\(r.size), found shape \(blobs[index].dims)")
        return try reshape(blobs[index].id, [r.rows, r.size])
    }

    /// Matrices stacked row upon row: [gates O, columns].
    private mutating func stacked(_ fields: [Int], _ name: String, _ dims: [Int], of message: ProtobufMessage) throws -> ValueID {
        let pieces = try fields.map { try constant(try weights($0, name, dims, of: message)) }
        return try builder.apply(Concat(axis: 0), pieces, layer: current.name)[0]
    }

    /// W x for all steps at once, [Seq B, gates O].
    private mutating func projected(
        _ r: Recurrence, weights: [Int], biases: [Int]?, of message: ProtobufMessage, extra: [Float]? = nil
    ) throws -> ValueID {
        let columns = builder.shape(r.input)[1]
        let w = try stacked(weights, "weights", [r.size, columns], of: message)
        var id = try add(Dense(), r.input, w)
        if let biases { id = try add(Binary(.add), id, try stacked(biases, "biases", [r.size], of: message)) }
        if let extra { id = try add(Binary(.add), id, try constant(extra, [extra.count])) }
        return id
    }

    private mutating func row(_ id: ValueID, _ step: Int, _ r: Recurrence, gate: Int, gates: Int) throws -> ValueID {
        let op = Slice(begins: [step * r.rows, gate * r.size], extents: [r.rows, gates * r.size], strides: [1, 1])
        return try add(op, id)
    }

    private mutating func limited(_ id: ValueID, _ activation: UnaryFunction) throws -> ValueID {
        try add(Unary(activation), try add(Unary(.clip(-Self.stateLimit, Self.stateLimit)), id))
    }

    private func activations(_ field: Int, count: Int) throws -> [UnaryFunction] {
        let found = try parameters.messages(field, limit: 16)
        try require(found.count == count, "expected \(count) activations, found \(found.count)")
        return try found.map { message in
            var function: UnaryFunction?
            try message.forEachField { number, payload in
                if case .bytes(let slice) = payload { function = try Self.function(number, try message.nested(slice)) }
            }
            guard let function else { throw unsupported("a recurrent activation is of a type that such layers do not take") }
            return function
        }
    }

    /// All steps in their own order, or the last one taken, as [Seq or 1, B, O, 1, 1].
    private mutating func sequence(_ rows: [Int: ValueID], _ last: ValueID, _ r: Recurrence, all: Bool) throws -> Blob {
        let pieces = all ? (0..<r.steps).compactMap { rows[$0] } : [last]
        let id = try builder.apply(Concat(axis: 0), pieces, layer: current.name)[0]
        return Blob(id: id, dims: [all ? r.steps : 1, r.rows, r.size, 1, 1])
    }

    private mutating func defineState(_ id: ValueID, _ r: Recurrence, output index: Int) throws {
        if index < current.outputs.count { try define(Blob(id: id, dims: [1, r.rows, r.size, 1, 1]), output: index) }
    }

    mutating func simpleRecurrent() throws {
        let blobs = try inputs(1...2)
        let r = try recurrence(blobs[0], reversed: try parameters.bool(100))
        let activation = try activations(10, count: 1)[0]
        let x = try projected(r, weights: [30], biases: try parameters.bool(20) ? [32] : nil, of: parameters)
        let recursion = try constant(try weights(31, "recursion weights", [r.size, r.size]))
        var y = try state(blobs, 1, r)
        var rows: [Int: ValueID] = [:]
        for step in r.order {
            let sum = try add(Binary(.add), try row(x, step, r, gate: 0, gates: 1), try add(Dense(), y, recursion))
            y = try limited(sum, activation)
            rows[step] = y
        }
        try define(try sequence(rows, y, r, all: try parameters.bool(15)))
        try defineState(y, r, output: 1)
    }

    mutating func gatedRecurrent() throws {
        let blobs = try inputs(1...2)
        let r = try recurrence(blobs[0], reversed: try parameters.bool(100))
        let functions = try activations(10, count: 2)
        let x = try projected(r, weights: [30, 31, 32], biases: try parameters.bool(20) ? [70, 71, 72] : nil, of: parameters)
        let gatesRecursion = try stacked([50, 51], "recursion weights", [r.size, r.size], of: parameters)
        let outputRecursion = try constant(try weights(52, "recursion weights", [r.size, r.size]))
        var y = try state(blobs, 1, r)
        var rows: [Int: ValueID] = [:]
        for step in r.order {
            let sums = try add(Binary(.add), try row(x, step, r, gate: 0, gates: 2), try add(Dense(), y, gatesRecursion))
            let parts = try builder.apply(Split(axis: 1, sizes: [r.size, r.size]), [sums], layer: current.name)
            let (update, reset) = (try limited(parts[0], functions[0]), try limited(parts[1], functions[0]))
            let memory = try add(Dense(), try add(Binary(.multiply), y, reset), outputRecursion)
            let output = try limited(
                try add(Binary(.add), try row(x, step, r, gate: 2, gates: 1), memory), functions[1])
            let kept = try add(Binary(.multiply), update, y)
            let fresh = try add(Binary(.multiply), try add(Unary(.linear(-1, 1)), update), output)
            y = try add(Binary(.add), fresh, kept)
            rows[step] = y
        }
        try define(try sequence(rows, y, r, all: try parameters.bool(15)))
        try defineState(y, r, output: 1)
    }

    /// One direction of a long short-term memory. Gates stand in the order input, forget, block input, output.
    private mutating func memory(
        _ r: Recurrence, _ message: ProtobufMessage, _ functions: [UnaryFunction], hidden: ValueID, cell: ValueID
    ) throws -> (rows: [Int: ValueID], hidden: ValueID, cell: ValueID) {
        let options = try parameters.message(15)
        let limit = try options?.float(60) ?? 0
        let isCoupled = try options?.bool(50) ?? false
        var extra: [Float]?
        if try options?.bool(30) ?? false { extra = (0..<(4 * r.size)).map { $0 / r.size == 1 ? 1 : 0 } }
        let biases = try options?.bool(20) ?? false ? [40, 41, 42, 43] : nil
        let x = try projected(r, weights: [1, 2, 3, 4], biases: biases, of: message, extra: extra)
        let recursion = try stacked([20, 21, 22, 23], "recursion weights", [r.size, r.size], of: message)
        var peepholes: [ValueID] = []
        if try options?.bool(40) ?? false {
            peepholes = try [60, 61, 62].map { try constant(try weights($0, "peepholes", [r.size], of: message)) }
        }
        func peeked(_ importer: inout NeuralNetworkImporter, _ sum: ValueID, _ index: Int, _ cell: ValueID) throws -> ValueID {
            guard index < peepholes.count else { return sum }
            return try importer.add(Binary(.add), sum, try importer.add(Binary(.multiply), cell, peepholes[index]))
        }
        let cellLimit = limit == 0 ? Self.stateLimit : abs(limit)
        var (y, c, rows) = (hidden, cell, [Int: ValueID]())
        for step in r.order {
            let sums = try add(Binary(.add), try row(x, step, r, gate: 0, gates: 4), try add(Dense(), y, recursion))
            let parts = try builder.apply(Split(axis: 1, sizes: [Int](repeating: r.size, count: 4)), [sums], layer: current.name)
            let input = try limited(try peeked(&self, parts[0], 0, c), functions[0])
            let forget =
                isCoupled
                ? try add(Unary(.linear(-1, 1)), input) : try limited(try peeked(&self, parts[1], 1, c), functions[0])
            let block = try limited(parts[2], functions[1])
            let next = try add(
                Binary(.add), try add(Binary(.multiply), c, forget), try add(Binary(.multiply), input, block))
            c = try add(Unary(.clip(-cellLimit, cellLimit)), next)
            let output = try limited(try peeked(&self, parts[3], 2, c), functions[0])
            y = try add(Binary(.multiply), try add(Unary(functions[2]), c), output)
            rows[step] = y
        }
        return (rows, y, c)
    }

    /// Outputs: the sequence, then the last hidden and cell states.
    mutating func unidirectionalLSTM() throws {
        let blobs = try inputs(1...3)
        let r = try recurrence(blobs[0], reversed: try parameters.bool(100))
        guard let message = try parameters.message(20) else { throw failure("expected weights, found none") }
        let result = try memory(
            r, message, try activations(10, count: 3), hidden: try state(blobs, 1, r), cell: try state(blobs, 2, r))
        try define(try sequence(result.rows, result.hidden, r, all: try parameters.message(15)?.bool(10) ?? false))
        try defineState(result.hidden, r, output: 1)
        try defineState(result.cell, r, output: 2)
    }

    /// Outputs: both directions' sequences side by side, then the last hidden and cell states, forward and backward.
    mutating func bidirectionalLSTM() throws {
        let blobs = try inputs(1...5)
        let messages = try parameters.messages(20, limit: 8)
        try require(messages.count == 2, "expected weights for 2 directions, found \(messages.count)")
        let all = try parameters.message(15)?.bool(10) ?? false
        var sequences: [Blob] = []
        for (index, message) in messages.enumerated() {
            let r = try recurrence(blobs[0], reversed: index == 1)
            let result = try memory(
                r, message, try activations(10 + index, count: 3), hidden: try state(blobs, 1 + 2 * index, r),
                cell: try state(blobs, 2 + 2 * index, r))
            sequences.append(try sequence(result.rows, result.hidden, r, all: all))
            try defineState(result.hidden, r, output: 1 + 2 * index)
            try defineState(result.cell, r, output: 2 + 2 * index)
        }
        let id = try add(Concat(axis: 1), sequences[0].id, sequences[1].id)
        var dims = sequences[0].dims
        dims[2] *= 2
        try define(Blob(id: id, dims: dims))
    }
}
