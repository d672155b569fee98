/// Computes nodes whose inputs are all constants, within the limits of `GraphBuilder`. A node that fails to compute stays, to say so when it runs.
package struct ConstantFolding: Pass {
    package init() {}

    package func run(_ graph: inout Graph) throws -> Bool {
        Rewriter.sweep(&graph) { rewriter, index, node in
            let constants = node.inputs.compactMap { rewriter.constant($0) }
            guard !constants.isEmpty, constants.count == node.inputs.count else { return false }
            if let unary = node.op as? Unary, unary.function == .identity, rewriter.isGraphOutput(node.outputs[0]) { return false }
            let (inputs, outputs) = (rewriter.types(node.inputs), rewriter.types(node.outputs))
            guard outputs.reduce(0, { $0 + $1.shape.count }) <= GraphBuilder.maximumFoldedCount,
                node.op.flops(inputs: inputs, outputs: outputs) <= GraphBuilder.maximumFoldedCount * 8,
                let results = try? node.op.evaluate(constants), results.map(\.type) == outputs
            else { return false }
            rewriter.replaceWithConstants(index, results)
            return true
        }
    }
}
