"""Writes a network as a Core ML neural network, specification version 1: image input `image`, array output `output`.

The bytes are protocol buffers, put together here from the field numbers of Apple's published Model.proto and
NeuralNetwork.proto, so that the networks can be made where nothing but NumPy and PyTorch is installed.
`make_networks.py --check` reads them back with coremltools.
"""

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from .network import Network, Node, Padding

#: ImageFeatureType.ColorSpace by channels, and ArrayFeatureType's DOUBLE.
COLOR_SPACE = {1: 10, 3: 20}
DOUBLE = 65600


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def block(field: int, *parts: bytes) -> bytes:
    """A message, string or packed list: field number, length, content."""
    content = b"".join(parts)
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field: int, value: int) -> bytes:
    """A whole number or a truth value. Zero is the default and not written."""
    return varint(field << 3) + varint(value) if value else b""


def real(field: int, value: float) -> bytes:
    """A float; zero is not written."""
    return varint(field << 3 | 5) + struct.pack("<f", value) if value else b""


def numbers(field: int, values: Iterable[int]) -> bytes:
    return block(field, *map(varint, values))


def text(field: int, value: str) -> bytes:
    return block(field, value.encode())


def weights(field: int, array: np.ndarray) -> bytes:
    """WeightParams with float32 values in C order."""
    return block(field, block(1, np.ascontiguousarray(array, dtype="<f4").tobytes()))


def valid_padding(field: int, padding: Padding) -> bytes:
    """ValidPadding: the borders above and below, then left and right."""
    top, left, bottom, right = padding
    edges = [block(10, number(1, start), number(2, end)) for start, end in ((top, bottom), (left, right))]
    return block(field, block(1, *edges))


def write(network: Network, path: Path) -> None:
    channels, height, width = network.shape
    picture = block(4, number(1, width), number(2, height), number(3, COLOR_SPACE[channels]))
    array = block(5, numbers(1, [network.nodes[-1].shape[0]]), number(2, DOUBLE))
    description = block(
        2, block(1, text(1, "image"), block(3, picture)), block(10, text(1, "output"), block(3, array)))
    layers = b"".join(layer for node in network.nodes for layer in translate(node))
    path.write_bytes(number(1, 1) + description + block(500, layers))


def layer(name: str, inputs: list[str], field: int, *body: bytes) -> bytes:
    """A NeuralNetworkLayer whose kind is the message of number `field`; its output has its own name."""
    return block(1, text(1, name), *(text(2, source) for source in inputs), text(3, name), block(field, *body))


def translate(node: Node) -> list[bytes]:
    """The layers of a node: one, but for relu6, which the format has no name for."""
    name, inputs = node.name, node.inputs
    match node.kind:
        case "convolution":
            return [layer(name, inputs, 100, convolution(node))]
        case "maximum":
            return [layer(name, inputs, 120, pooling(node))]
        case "relu":
            return [layer(name, inputs, 130, block(10))]
        case "relu6":
            return relu6(name, inputs)
        case "add":
            return [layer(name, inputs, 230)]
        case "concat":
            return [layer(name, inputs, 320)]
        case "mean":
            one = numbers(10, [1, 1]) + numbers(20, [1, 1]) + valid_padding(30, (0, 0, 0, 0))
            return [layer(name, inputs, 120, number(1, 1), one, number(50, 1), number(60, 1))]
        case "dense":
            out, channels = node.weights.shape
            return [layer(name, inputs, 140, number(1, channels), number(2, out), number(10, 1), weights(20, node.weights),
                          weights(21, node.bias))]
        case "softmax":
            return [layer(name, inputs, 175)]
    raise ValueError(f"{name}: {node.kind} has no Core ML form")


def is_same(padding: Padding) -> bool:
    """Whether the padding is TensorFlow's SAME with an odd row or column, which the file names instead of counting."""
    return padding[:2] != padding[2:]


def convolution(node: Node) -> bytes:
    out, channels, height, width = node.weights.shape
    border = block(51) if is_same(node.padding) else valid_padding(50, node.padding)
    return b"".join([
        number(1, out), number(2, channels), number(10, node.groups), numbers(20, [height, width]),
        numbers(30, [node.stride, node.stride]), numbers(40, [1, 1]), border, number(70, 1), weights(90, node.weights),
        weights(91, node.bias)])


def pooling(node: Node) -> bytes:
    border = block(31) if is_same(node.padding) else valid_padding(30, node.padding)
    return numbers(10, [node.kernel] * 2) + numbers(20, [node.stride] * 2) + border + number(50, 1)


def relu6(name: str, inputs: list[str]) -> list[bytes]:
    """relu, then the smaller of it and 6 as -max(-x, -6): linear, threshold, linear."""
    negate = block(5, real(1, -1.0))
    threshold = number(1, 7) + real(2, -6.0) + real(3, 1e-6) + real(5, 1.0)
    return [
        layer(f"{name}_relu", inputs, 130, block(10)), layer(f"{name}_neg", [f"{name}_relu"], 130, negate),
        layer(f"{name}_clip", [f"{name}_neg"], 220, threshold), layer(name, [f"{name}_clip"], 130, negate)]
