/// The type of the factors in a step's multiply-adds, whose sums are float32 always.
package enum Arithmetic: String, Sendable, Hashable, CaseIterable {
    case float32, bfloat16
}
