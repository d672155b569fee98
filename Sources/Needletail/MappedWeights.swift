import NTFormats
import NTRuntime
import NTTensor
import Synchronization

/// Packed weights of a model's compiled form, for one plan.
final class MappedWeights: PackedWeights {
    private let compiled: CompiledModel
    private let missed = Atomic<Bool>(false)

    init(_ compiled: CompiledModel) { self.compiled = compiled }

    /// Whether something was asked for that the form has not: the plan has read the constant instead.
    var hasMissed: Bool { missed.load(ordering: .relaxed) }

    func stored(_ constant: NTTensor.Tensor, recipe: String, byteCount: Int) -> UnsafeRawPointer? {
        let found = compiled.packed(constant, recipe: recipe, byteCount: byteCount)
        if found == nil { missed.store(true, ordering: .relaxed) }
        return found
    }

    func record(_ constant: NTTensor.Tensor, recipe: String, byteCount: Int, buffer: TensorBuffer) {}
}
