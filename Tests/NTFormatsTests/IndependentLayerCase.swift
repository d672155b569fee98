import Foundation
import NTTensor
import TestSupport

/// A small network with inputs and the outputs it must give, from `Tests/Fixtures/NTFormats/independent`.
struct IndependentLayerCase {
    private struct Entry: Decodable {
        struct Piece: Decodable {
            var shape: [Int]
            var bytes: [Int]
        }

        var name: String
        var model: [Int]
        var batch: Int
        var inputShapes: [String: [Int]]
        var inputs: [String: Piece]
        var outputs: [String: Piece]
        var checksShape: Bool
        var tolerance: Double
    }

    let name: String
    let model: [UInt8]
    let batch: Int
    let inputShapes: [String: [Int]]
    let inputs: [String: Tensor]
    let outputs: [String: Tensor]
    /// Whether the outputs' shapes count too, and not only their elements. The rank-5 world leaves a result's shape to the reader.
    let checksShape: Bool
    let tolerance: Double

    static func all() throws -> [IndependentLayerCase] {
        let folder = Fixtures.folder.appendingPathComponent("NTFormats/independent")
        let bytes = try [UInt8](Data(contentsOf: folder.appendingPathComponent("layers.bin")))
        let list = try Data(contentsOf: folder.appendingPathComponent("layers.json"))
        func part(_ place: [Int]) -> ArraySlice<UInt8> { bytes[place[0]..<(place[0] + place[1])] }
        func tensors(_ pieces: [String: Entry.Piece]) throws -> [String: Tensor] {
            try pieces.mapValues { piece in
                try Tensor(.float32(Shape(piece.shape))) { $0.copyBytes(from: part(piece.bytes)) }
            }
        }
        return try JSONDecoder().decode([Entry].self, from: list).map { entry in
            IndependentLayerCase(
                name: entry.name, model: Array(part(entry.model)), batch: entry.batch, inputShapes: entry.inputShapes,
                inputs: try tensors(entry.inputs), outputs: try tensors(entry.outputs), checksShape: entry.checksShape,
                tolerance: entry.tolerance)
        }
    }
}
