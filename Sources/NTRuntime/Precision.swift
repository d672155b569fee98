/// The arithmetic a plan may use inside. Inputs and outputs are float32 always.
package enum Precision: String, Sendable, Hashable, CaseIterable {
    /// float32 throughout: the default.
    case float32
    /// Half precision for activations and weights where the device has it; sums in float32.
    case float16
    /// bfloat16 for activations and weights of convolutions and dense layers; sums in float32.
    case bfloat16
    /// The fastest of the above that the device has in hardware.
    case fast
}
