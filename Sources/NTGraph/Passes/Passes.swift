/// The passes in their order.
package enum Passes {
    /// Rewrites that make a graph simpler; run again and again until none of them finds anything.
    package static let simplifications: [any Pass] = [
        DeadNodeElimination(), ConstantFolding(), IdentityElimination(), MovementMerging(), ReductionNormalization(),
        ConstantOperands(), ClampMerging(), ActivationRecognition(), AffineMerging(), AffineFolding(), PaddingFolding(),
    ]

    /// Rewrites that move operators into others' epilogues, after the simplifications.
    package static let fusions: [any Pass] = [ActivationFusion(), ResidualFusion(), ActivationFusion(), DeadNodeElimination()]

    /// The most times that the simplifications run over one graph; real networks need two or three.
    static let maximumRounds = 16

    /// The graph that backends compile: simplified and fused, computing the same outputs within rounding.
    package static func optimize(_ graph: Graph) throws -> Graph {
        var graph = graph
        for _ in 0..<maximumRounds {
            var hasChanged = false
            for pass in simplifications where try pass.run(&graph) { hasChanged = true }
            if !hasChanged { break }
        }
        for pass in fusions { try pass.run(&graph) }
        return graph
    }
}
