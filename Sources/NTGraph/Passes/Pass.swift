/// A rewrite of a graph that keeps what it computes: the outputs' number, order, names and types, and their values within rounding.
/// Intermediate values may vanish; a value that is a graph output, or that several nodes read, is never fused away.
package protocol Pass: Sendable {
    /// Rewrites the graph. Returns whether anything changed.
    @discardableResult
    func run(_ graph: inout Graph) throws -> Bool
}
