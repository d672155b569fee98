/// The arithmetic a plan may use inside. Inputs and outputs are float32 always.
package enum Precision: String, Sendable, Hashable, CaseIterable {
    /// float32 throughout, every sum of products as it stands: the default.
    case float32
    /// float32 with fewer multiplications where they can be had: 3 x 3 convolutions by Winograd's method, wide 1 x 1 ones by Strassen's, some
    /// 1e-5 of a layer's largest value away from plain sums. Backends without them compute float32.
    case float32Winograd = "float32-winograd"
    /// Half precision for activations and weights where the device has it; sums in float32, of up to 64 products in half precision on the CPU.
    case float16
    /// bfloat16 for activations and weights of convolutions and dense layers; sums, and Winograd's method where it wins, in float32.
    case bfloat16
    /// The fastest of the above that the device has in hardware.
    case fast
}
