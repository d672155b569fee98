/// The type of the factors in a step's multiply-adds. Sums are float32, those of float16 in parts of at most 32 products float16.
package enum Arithmetic: String, Sendable, Hashable, CaseIterable {
    case float32, bfloat16, float16
}
