"""Writes a network as ONNX, opset 13, input `image` (N, C, H, W), output `output` (N, classes)."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .network import Network, Node


def write(network: Network, path: Path, batch: int = 1) -> None:
    nodes, constants = [], []
    for node in network.nodes:
        nodes += translate(node, constants)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, *network.shape])
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, [batch, *network.nodes[-1].shape])
    graph = helper.make_graph(nodes, network.name, [image], [output], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    path.write_bytes(model.SerializeToString(deterministic=True))


def translate(node: Node, constants: list) -> list:
    """The ONNX nodes of one node; its weights go to `constants`."""
    inputs = list(node.inputs)
    for suffix, array in (("weights", node.weights), ("bias", node.bias)):
        if array is not None:
            inputs.append(f"{node.name}_{suffix}")
            constants.append(numpy_helper.from_array(np.ascontiguousarray(array, dtype=np.float32), inputs[-1]))
    window = {"kernel_shape": [node.kernel] * 2, "strides": [node.stride] * 2, "pads": list(node.padding)}
    match node.kind:
        case "convolution":
            return [helper.make_node("Conv", inputs, [node.name], node.name, group=node.groups, **window)]
        case "maximum":
            return [helper.make_node("MaxPool", inputs, [node.name], node.name, **window)]
        case "relu":
            return [helper.make_node("Relu", inputs, [node.name], node.name)]
        case "relu6":
            limits = {"relu6_low": 0.0, "relu6_high": 6.0}
            if not any(constant.name in limits for constant in constants):
                constants += [numpy_helper.from_array(np.float32(value).reshape(()), name) for name, value in limits.items()]
            return [helper.make_node("Clip", [*inputs, *limits], [node.name], node.name)]
        case "add":
            return [helper.make_node("Add", inputs, [node.name], node.name)]
        case "concat":
            return [helper.make_node("Concat", inputs, [node.name], node.name, axis=1)]
        case "mean":
            return [helper.make_node("GlobalAveragePool", inputs, [node.name + "_pooled"], node.name + "_pooled"),
                    helper.make_node("Flatten", [node.name + "_pooled"], [node.name], node.name)]
        case "dense":
            return [helper.make_node("Gemm", inputs, [node.name], node.name, transB=1)]
        case "softmax":
            return [helper.make_node("Softmax", inputs, [node.name], node.name, axis=1)]
    raise ValueError(f"{node.name}: {node.kind} has no ONNX form")
