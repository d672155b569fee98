"""Writes a network as TensorFlow Lite (NHWC), for engines built on XNNPACK. Activations are fused into the layer before.

Padding that is neither SAME nor VALID becomes a PAD operator, as TensorFlow's converter writes it.
"""

from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from .network import Network, Node, same

OPERATORS = schema.BuiltinOperator
OPTIONS = schema.BuiltinOptions
FUSED = {"relu": schema.ActivationFunctionType.RELU, "relu6": schema.ActivationFunctionType.RELU6}


class Writer:
    """Collects tensors, buffers and operators of the one subgraph."""

    def __init__(self, network: Network, batch: int):
        self.network, self.batch = network, batch
        self.tensors, self.operators, self.codes = [], [], []
        self.buffers = [schema.BufferT()]
        self.index: dict[str, int] = {}
        self.shapes = {"image": network.shape} | {node.name: node.shape for node in network.nodes}
        self.kinds = {node.name: node.kind for node in network.nodes}

    def tensor(self, name: str, shape, data: np.ndarray | None = None) -> int:
        """Adds a tensor; with `data` a constant."""
        buffer = 0
        if data is not None:
            buffer = len(self.buffers)
            data = np.ascontiguousarray(data)
            self.buffers.append(schema.BufferT(data=data.view(np.uint8).reshape(-1)))
        kind = schema.TensorType.INT32 if data is not None and data.dtype == np.int32 else schema.TensorType.FLOAT32
        self.tensors.append(schema.TensorT(shape=list(shape), type=kind, buffer=buffer, name=name))
        self.index[name] = len(self.tensors) - 1
        return self.index[name]

    def activation(self, name: str, shape) -> int:
        """Adds the tensor of a value of (C, H, W) or (C,)."""
        return self.tensor(name, [self.batch, *shape[1:], shape[0]] if len(shape) == 3 else [self.batch, *shape])

    def operator(self, code: int, inputs: list[int], output: int, options_type: int = 0, options=None) -> None:
        if code not in self.codes:
            self.codes.append(code)
        self.operators.append(schema.OperatorT(
            opcodeIndex=self.codes.index(code), inputs=inputs, outputs=[output], builtinOptionsType=options_type,
            builtinOptions=options))

    def padded(self, node: Node) -> tuple[int, int]:
        """The input tensor, padded by an operator where it has to be, and the padding kind of the layer itself."""
        source = node.inputs[0]
        channels, height, width = self.shapes[source]
        if node.padding == same(height, node.kernel, node.stride):
            return self.index[source], schema.Padding.SAME
        if any(node.padding):
            if node.kind == "maximum" and self.kinds[source] not in FUSED:
                raise ValueError(f"{node.name}: zeros around values that may be negative")
            top, left, bottom, right = node.padding
            amounts = np.array([[0, 0], [top, bottom], [left, right], [0, 0]], dtype=np.int32)
            name = node.name + "_padded"
            output = self.activation(name, (channels, height + top + bottom, width + left + right))
            self.operator(OPERATORS.PAD, [self.index[source], self.tensor(name + "_amounts", (4, 2), amounts)], output,
                          OPTIONS.PadOptions, schema.PadOptionsT())
            return output, schema.Padding.VALID
        return self.index[source], schema.Padding.VALID

    def add(self, node: Node, output_name: str, fused: int) -> None:
        """One node whose activation, if any, is `fused`; its value is called `output_name`."""
        if node.kind in ("convolution", "maximum"):
            self.window(node, output_name, fused)
            return
        inputs = [self.index[name] for name in node.inputs]
        output = self.activation(output_name, node.shape)
        match node.kind:
            case "add":
                self.operator(OPERATORS.ADD, inputs, output, OPTIONS.AddOptions,
                              schema.AddOptionsT(fusedActivationFunction=fused))
            case "concat":
                self.operator(OPERATORS.CONCATENATION, inputs, output, OPTIONS.ConcatenationOptions,
                              schema.ConcatenationOptionsT(axis=3))
            case "mean":
                axes = self.tensor(node.name + "_axes", (2,), np.array([1, 2], dtype=np.int32))
                self.operator(OPERATORS.MEAN, [*inputs, axes], output, OPTIONS.ReducerOptions,
                              schema.ReducerOptionsT(keepDims=False))
            case "dense":
                inputs += [self.tensor(node.name + "_weights", node.weights.shape, node.weights.astype(np.float32)),
                           self.tensor(node.name + "_bias", node.bias.shape, node.bias.astype(np.float32))]
                self.operator(OPERATORS.FULLY_CONNECTED, inputs, output, OPTIONS.FullyConnectedOptions,
                              schema.FullyConnectedOptionsT())
            case "softmax":
                self.operator(OPERATORS.SOFTMAX, inputs, output, OPTIONS.SoftmaxOptions, schema.SoftmaxOptionsT(beta=1.0))
            case _:
                raise ValueError(f"{node.name}: {node.kind} has no TensorFlow Lite form")

    def window(self, node: Node, output_name: str, fused: int) -> None:
        """A convolution, depthwise convolution or max pooling."""
        source, padding = self.padded(node)
        output = self.activation(output_name, node.shape)
        common = {"padding": padding, "strideW": node.stride, "strideH": node.stride, "fusedActivationFunction": fused}
        if node.kind == "maximum":
            self.operator(OPERATORS.MAX_POOL_2D, [source], output, OPTIONS.Pool2DOptions,
                          schema.Pool2DOptionsT(filterWidth=node.kernel, filterHeight=node.kernel, **common))
            return
        deep = node.groups > 1
        if deep and (node.groups, 1) != (node.weights.shape[0], node.weights.shape[1]):
            raise ValueError(f"{node.name}: only depthwise groups have a TensorFlow Lite form")
        weights = node.weights.transpose(1, 2, 3, 0) if deep else node.weights.transpose(0, 2, 3, 1)
        inputs = [source, self.tensor(node.name + "_weights", weights.shape, weights.astype(np.float32)),
                  self.tensor(node.name + "_bias", node.bias.shape, node.bias.astype(np.float32))]
        if deep:
            self.operator(OPERATORS.DEPTHWISE_CONV_2D, inputs, output, OPTIONS.DepthwiseConv2DOptions,
                          schema.DepthwiseConv2DOptionsT(depthMultiplier=1, **common))
        else:
            self.operator(OPERATORS.CONV_2D, inputs, output, OPTIONS.Conv2DOptions, schema.Conv2DOptionsT(**common))


def write(network: Network, path: Path, batch: int = 1) -> None:
    writer = Writer(network, batch)
    image = writer.activation("image", network.shape)
    nodes = network.nodes
    for position, node in enumerate(nodes):
        if node.kind in FUSED:
            continue
        following = nodes[position + 1] if position + 1 < len(nodes) else None
        if following is not None and following.kind in FUSED and following.inputs == [node.name]:
            writer.add(node, following.name, FUSED[following.kind])
        else:
            writer.add(node, node.name, schema.ActivationFunctionType.NONE)
    graph = schema.SubGraphT(tensors=writer.tensors, inputs=[image], outputs=[writer.index["output"]],
                             operators=writer.operators, name=network.name)
    codes = [schema.OperatorCodeT(deprecatedBuiltinCode=code, builtinCode=code) for code in writer.codes]
    model = schema.ModelT(version=3, operatorCodes=codes, subgraphs=[graph], buffers=writer.buffers,
                          description="benchmark network")
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
