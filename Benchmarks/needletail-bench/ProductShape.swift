import NTGraph
import NTTensor

/// A matrix product that a network makes: C[M][N] = A[M][K] B[K][N], K being `taps` pixels of `channels`.
struct ProductShape: Hashable {
    let m: Int
    let n: Int
    let taps: Int
    let channels: Int

    var k: Int { taps * channels }
}

extension ProductShape {
    /// The distinct products of a graph: its convolutions but the depthwise ones, and its dense layers.
    static func all(in graph: Graph) -> Set<ProductShape> {
        var shapes: Set<ProductShape> = []
        for node in graph.nodes {
            guard node.inputs.count > 1, let output = graph.types(node.outputs).first?.shape else { continue }
            let weights = graph[node.inputs[1]].type.shape
            switch node.op {
            case let op as Convolution where weights[1] > 1 || op.groups == 1:
                let pixels = output[0] * output[2] * output[3]
                shapes.insert(ProductShape(m: pixels, n: weights[0] / op.groups, taps: weights[2] * weights[3], channels: weights[1]))
            case is Dense:
                shapes.insert(ProductShape(m: output.count / weights[0], n: weights[0], taps: 1, channels: weights[1]))
            default: continue
            }
        }
        return shapes
    }
}
