"""Writes a network as a Core ML neural network, specification version 1: image input `image`, array output `output`."""

from pathlib import Path

from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

from .network import Network, Node


def write(network: Network, path: Path) -> None:
    count = network.nodes[-1].shape[0]
    builder = NeuralNetworkBuilder([("image", datatypes.Array(*network.shape))], [("output", datatypes.Array(count))])
    for node in network.nodes:
        translate(node, builder)
    builder.set_pre_processing_parameters(["image"])
    del builder.nn_spec.preprocessing[:]
    path.write_bytes(builder.spec.SerializeToString(deterministic=True))


def translate(node: Node, builder: NeuralNetworkBuilder) -> None:
    name, source = node.name, node.inputs[0]
    top, left, bottom, right = node.padding
    edges = {"padding_top": top, "padding_bottom": bottom, "padding_left": left, "padding_right": right}
    mode = "SAME" if (top, left) != (bottom, right) else "VALID"
    match node.kind:
        case "convolution":
            out, channels, height, width = node.weights.shape
            builder.add_convolution(name, channels, out, height, width, node.stride, node.stride, mode.lower(), node.groups,
                                    node.weights.transpose(2, 3, 1, 0), node.bias, True, input_name=source,
                                    output_name=name, **edges)
        case "maximum":
            builder.add_pooling(name, node.kernel, node.kernel, node.stride, node.stride, "MAX", mode, source, name, **edges)
        case "relu":
            builder.add_activation(name, "RELU", source, name)
        case "relu6":
            builder.add_activation(name + "_relu", "RELU", source, name + "_relu")
            builder.add_activation(name + "_neg", "LINEAR", name + "_relu", name + "_neg", [-1.0, 0.0])
            builder.add_unary(name + "_clip", name + "_neg", name + "_clip", "threshold", alpha=-6.0)
            builder.add_activation(name, "LINEAR", name + "_clip", name, [-1.0, 0.0])
        case "add":
            builder.add_elementwise(name, node.inputs, name, "ADD")
        case "concat":
            builder.add_elementwise(name, node.inputs, name, "CONCAT")
        case "mean":
            builder.add_pooling(name, 1, 1, 1, 1, "AVERAGE", "VALID", source, name, is_global=True)
        case "dense":
            out, channels = node.weights.shape
            builder.add_inner_product(name, node.weights, node.bias, channels, out, True, source, name)
        case "softmax":
            builder.add_softmax(name, source, name)
        case _:
            raise ValueError(f"{node.name}: {node.kind} has no Core ML form")
