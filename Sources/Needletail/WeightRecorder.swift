import NTFormats
import NTRuntime
import NTTensor
import Synchronization

/// Takes note of what plans pack, each layout of a constant once.
final class WeightRecorder: PackedWeights {
    private struct Key: Hashable {
        var constant: ObjectIdentifier
        var byteOffset: Int
        var recipe: String

        init(_ constant: NTTensor.Tensor, _ recipe: String) {
            (self.constant, byteOffset, self.recipe) = (ObjectIdentifier(constant.buffer), constant.byteOffset, recipe)
        }
    }

    private struct Notes {
        var entries: [CompiledModelWriter.Entry] = []
        var places: [Key: Int] = [:]
    }

    private let notes = Mutex(Notes())

    /// What was packed, in the order of packing. The constants must still live.
    var entries: [CompiledModelWriter.Entry] { notes.withLock { $0.entries } }

    func stored(_ constant: NTTensor.Tensor, recipe: String, byteCount: Int) -> UnsafeRawPointer? {
        notes.withLock { notes in
            guard let place = notes.places[Key(constant, recipe)], notes.entries[place].byteCount == byteCount else { return nil }
            return UnsafeRawPointer(notes.entries[place].buffer.base)
        }
    }

    func record(_ constant: NTTensor.Tensor, recipe: String, byteCount: Int, buffer: TensorBuffer) {
        notes.withLock { notes in
            notes.places[Key(constant, recipe)] = notes.entries.count
            notes.entries.append(CompiledModelWriter.Entry(constant: constant, recipe: recipe, byteCount: byteCount, buffer: buffer))
        }
    }
}
