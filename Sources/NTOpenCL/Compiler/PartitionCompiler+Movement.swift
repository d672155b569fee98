import NTGraph
import NTTensor

/// Operators that only move elements: windows where strides suffice, copies where they do not.
extension PartitionCompiler {
    func emitMovement(_ op: any Operator) throws {
        let x = try input(0)
        switch op {
        case let op as Reshape: bind(try reshape(x, to: op.shape.dims))
        case let op as Transpose: bind(x.transposed(op.permutation))
        case let op as BroadcastTo: bind(x.broadcast(to: op.shape.dims))
        case let op as Slice:
            var result = x
            for axis in x.dims.indices {
                if x.count > 0, op.extents[axis] > 0 { result.offset += op.begins[axis] * x.strides[axis] }
                result.dims[axis] = op.extents[axis]
                result.strides[axis] = x.strides[axis] * op.strides[axis]
            }
            bind(result)
        case let op as Split:
            let axis = try OperatorError.normalizedAxis(op.axis, rank: x.rank)
            var start = 0
            for (index, size) in op.sizes.enumerated() {
                bind(x.sliced(axis: axis, start: start, extent: size), output: index)
                start += size
            }
        case let op as Reverse:
            var result = x
            for axis in try Set(op.axes.map({ try OperatorError.normalizedAxis($0, rank: x.rank) })) {
                result.offset += max(0, x.dims[axis] - 1) * x.strides[axis]
                result.strides[axis] = -x.strides[axis]
            }
            bind(result)
        case let op as Concat: try emitConcat(op)
        case let op as Tile: try emitTile(op)
        case let op as RearrangeBlocks: try emitRearrange(op)
        default: throw GraphError(layer: node.name, "there is no OpenCL kernel for \(op.kind)")
        }
    }

    private func reshape(_ x: DeviceTensor, to dims: [Int]) throws -> DeviceTensor {
        if let window = x.reshaped(dims) { return window }
        let copy = try dense(x, order: DeviceTensor.rowMajor(x.rank))
        return DeviceTensor(storage: copy.storage, dims: dims, order: DeviceTensor.rowMajor(dims.count), type: copy.type)
    }

    private func emitConcat(_ op: Concat) throws {
        let inputs = try node.inputs.map { try tensor($0) }
        let dims = outputShape().dims
        let axis = try OperatorError.normalizedAxis(op.axis, rank: dims.count)
        let out = try makeTensor(
            dims, order: inputs.first { $0.count > 0 }?.denseOrder ?? DeviceTensor.rowMajor(dims.count), type: resultType(inputs))
        var start = 0
        for input in inputs {
            try emitPointwise([input], into: out.sliced(axis: axis, start: start, extent: input.dims[axis]))
            start += input.dims[axis]
        }
        bind(out)
    }

    private func emitTile(_ op: Tile) throws {
        let x = try input(0)
        let dims = outputShape().dims
        let out = try makeTensor(dims, order: x.denseOrder, type: x.type)
        // Each axis is seen as (repeat, extent), the repeat standing still in the input.
        let split = zip(op.repeats, x.dims).flatMap { [$0, $1] }
        var source = x
        (source.dims, source.strides) = (split, x.strides.flatMap { [0, $0] })
        if let target = out.reshaped(split) { try emitPointwise([source], into: target) }
        bind(out)
    }

    private func emitRearrange(_ op: RearrangeBlocks) throws {
        let x = try input(0)
        let (expanded, permutation) = op.decomposition(of: inputShape(0))
        let out = try makeTensor(outputShape().dims, order: DeviceTensor.channelsLast(4), type: x.type)
        guard out.count > 0 else { return bind(out) }
        let source = try reshape(x, to: expanded.dims).transposed(permutation)
        guard let target = out.reshaped(source.dims) else { throw GraphError(layer: node.name, "\(op.kind): blocks do not divide") }
        try emitPointwise([source], into: target)
        bind(out)
    }
}
