import NTTensor

/// Weights in the layouts of a backend's kernels, kept between processes. Safe from any thread.
///
/// A backend asks before it packs, and offers what it has packed. The key is the constant itself, by the identity of its buffer, and a recipe:
/// a text that names the layout with everything that decides the packed bytes beside the constant's own (the kernel, the extents, the strides).
/// Two layouts never share a recipe; a layout that changes gets another.
package protocol PackedWeights: AnyObject, Sendable {
    /// What `recipe` made of `constant` before: `byteCount` bytes aligned to 64, valid and unchanged while the store lives. Nil when there is
    /// nothing of that key and size.
    func stored(_ constant: Tensor, recipe: String, byteCount: Int) -> UnsafeRawPointer?

    /// Takes note of what `recipe` has made of `constant`: the first `byteCount` bytes of `buffer`, which do not change any more.
    func record(_ constant: Tensor, recipe: String, byteCount: Int, buffer: TensorBuffer)
}
