import NTGraph
import NTTensor

extension ModelAsset {
    /// The most images of one run.
    package static let maximumBatch = 1 << 16

    /// Builds the network's graph.
    ///
    /// Inputs, in the description's order and under its names, all float32:
    /// * an image: [N, C, H, W], values 0 to 255 in the model's own channel order; the model's preprocessing is part of the graph;
    /// * a multi-array: the shape of the file. When `batch` is above 1, N is put in front of it (shapes of 1 and 3 extents under the
    ///   older rank-5 mapping), takes the place of B (rank 5), or takes the place of a leading 1 (shapes that enter as they are).
    ///
    /// Outputs, under the description's names:
    /// * a classifier's probabilities come first: [N, labels], named `predictedProbabilitiesName` (the blob's name if that is empty),
    ///   in the order of `classLabels`; the label itself is no graph output;
    /// * an image: [N, C, H, W];
    /// * a multi-array: the blob's own shape. Networks of the rank-5 world give the declared shape when it has as many elements, else
    ///   [C, H, W], with N in front when `batch` is above 1; [Seq, B, C, H, W] when there is more than one step.
    ///
    /// - Parameters:
    ///   - inputShapes: shapes for inputs with flexible or open extents: [H, W], [C, H, W] or [N, C, H, W] for images, the array's own
    ///     shape (without the batch) for others; [Seq, B, C, H, W] for sequences of arrays under the older rank-5 mapping. Inputs not
    ///     named take their default shape.
    ///   - batch: N, at least 1.
    /// Throws `FormatError` naming the file and the layer when the model is no network, or the network cannot be built.
    package func makeGraph(inputShapes: [String: [Int]] = [:], batch: Int = 1) throws -> Graph {
        guard let network else {
            throw FormatError(.unsupported, path: path, "models of type \(typeName) cannot be run; neural networks can")
        }
        guard (1...Self.maximumBatch).contains(batch) else {
            throw FormatError(.invalidArgument, path: path, "batch \(batch) lies outside 1...\(Self.maximumBatch)")
        }
        do {
            var importer = try NeuralNetworkImporter(self, network: network, batch: batch)
            return try importer.makeGraph(inputShapes: inputShapes)
        } catch let error as FormatError {
            throw error.at(path)
        } catch let error as GraphError {
            throw FormatError(.invalidModel, path: path, layer: error.layer, error.reason)
        } catch let error as TensorError {
            throw FormatError(.invalidModel, path: path, error.description)
        }
    }

    /// The inputs of the graph for the default shapes, in order. Throws `FormatError` when there can be none.
    package func graphInputs() throws -> [Value] {
        guard let network else { throw FormatError(.unsupported, path: path, "models of type \(typeName) cannot be run; neural networks can") }
        do {
            var importer = try NeuralNetworkImporter(self, network: network, batch: 1)
            return try importer.makeInputs()
        } catch let error as FormatError {
            throw error.at(path)
        } catch let error as GraphError {
            throw FormatError(.invalidModel, path: path, layer: error.layer, error.reason)
        }
    }

    /// The name of the graph output that holds a classifier's probabilities, or nil for other models.
    package func probabilitiesName(in graph: Graph) -> String? {
        type == .neuralNetworkClassifier ? graph.outputs.first.map { graph[$0].name } : nil
    }
}
