"""A network as a list of nodes, with weights drawn and calibrated while it is built.

Every convolution is drawn at random and then scaled and shifted, channel by channel, so that its output on random
images has mean 0 and deviation 1: what a trained network looks like after its batch norms are folded. So activations
stay of order one at any depth, and the softmax at the end is not saturated.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn.functional as functional

Padding = tuple[int, int, int, int]


def same(size: int, kernel: int, stride: int) -> Padding:
    """TensorFlow's SAME as (top, left, bottom, right): the odd one goes to the bottom and right."""
    total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
    return (total // 2, total // 2, total - total // 2, total - total // 2)


@dataclass
class Node:
    """One layer. `kind` is convolution, maximum, add, concat, relu, relu6, mean, dense or softmax."""

    kind: str
    name: str
    inputs: list[str]
    shape: tuple[int, ...]
    """Of the output, without the batch: (C, H, W), or (C,) from `mean` on."""
    kernel: int = 1
    stride: int = 1
    padding: Padding = (0, 0, 0, 0)
    groups: int = 1
    weights: np.ndarray | None = field(default=None, repr=False)
    """(out, in / groups, kH, kW) of a convolution, (out, in) of a dense layer."""
    bias: np.ndarray | None = field(default=None, repr=False)


class Network:
    """Builds nodes one after another and keeps what the calibration images become at each of them."""

    def __init__(self, name: str, shape: tuple[int, int, int], seed: int):
        self.name, self.shape = name, shape
        self.nodes: list[Node] = []
        self.random = np.random.default_rng(seed)
        images = self.random.uniform(0, 255, (4, *shape)).astype(np.float32)
        self.values = {"image": torch.from_numpy(images)}
        self.multiply_adds = 0

    def _add(self, kind: str, inputs: list[str], value: torch.Tensor, **attributes) -> str:
        name = f"{kind}_{sum(node.kind == kind for node in self.nodes) + 1}"
        self.nodes.append(Node(kind, name, inputs, tuple(value.shape[1:]), **attributes))
        self.values[name] = value
        return name

    def size(self, value: str) -> int:
        """Rows of `value`."""
        return self.values[value].shape[2]

    def convolution(self, x: str, filters: int, kernel=1, stride=1, padding: Padding | None = None, groups=1,
                    deviation=1.0) -> str:
        """A convolution with bias, its output of mean about 0 and the given deviation. Padding: half the kernel by default."""
        padding = padding if padding is not None else (kernel // 2,) * 4
        value = self.values[x]
        channels = value.shape[1] // groups
        weights = torch.from_numpy(self.random.standard_normal((filters, channels, kernel, kernel)).astype(np.float32))
        source = functional.pad(value, (padding[1], padding[3], padding[0], padding[2]))
        raw = functional.conv2d(source, weights, stride=stride, groups=groups)
        scale = deviation / (raw.std(dim=(0, 2, 3)) + 1e-3 * raw.std() + 1e-6)
        noise = 0.1 * deviation * torch.from_numpy(self.random.standard_normal(filters).astype(np.float32))
        bias = noise - raw.mean(dim=(0, 2, 3)) * scale
        result = raw * scale[:, None, None] + bias[:, None, None]
        self.multiply_adds += result[0].numel() * channels * kernel * kernel
        return self._add("convolution", [x], result, kernel=kernel, stride=stride, padding=padding, groups=groups,
                         weights=(weights * scale[:, None, None, None]).numpy(), bias=bias.numpy())

    def dense(self, x: str, count: int) -> str:
        """A fully connected layer whose outputs have deviation 1."""
        value = self.values[x]
        weights = torch.from_numpy(self.random.standard_normal((count, value.shape[1])).astype(np.float32))
        raw = value @ weights.T
        weights, bias = weights / raw.std(), 0.1 * self.random.standard_normal(count).astype(np.float32)
        self.multiply_adds += weights.numel()
        return self._add("dense", [x], raw / raw.std() + torch.from_numpy(bias), weights=weights.numpy(), bias=bias)

    def relu(self, x: str) -> str:
        return self._add("relu", [x], functional.relu(self.values[x]))

    def relu6(self, x: str) -> str:
        return self._add("relu6", [x], functional.relu6(self.values[x]))

    def maximum(self, x: str, kernel: int, stride: int, padding: Padding = (0, 0, 0, 0)) -> str:
        """Max pooling; padding never wins."""
        source = functional.pad(self.values[x], (padding[1], padding[3], padding[0], padding[2]), value=-torch.inf)
        return self._add("maximum", [x], functional.max_pool2d(source, kernel, stride), kernel=kernel, stride=stride,
                         padding=padding)

    def add(self, a: str, b: str) -> str:
        return self._add("add", [a, b], self.values[a] + self.values[b])

    def concat(self, a: str, b: str) -> str:
        return self._add("concat", [a, b], torch.cat([self.values[a], self.values[b]], dim=1))

    def mean(self, x: str) -> str:
        """Global average pooling, to (C,)."""
        return self._add("mean", [x], self.values[x].mean(dim=(2, 3)))

    def softmax(self, x: str) -> str:
        return self._add("softmax", [x], functional.softmax(self.values[x], dim=1))

    def finish(self) -> "Network":
        """Names the last node `output` and lets go of the calibration images."""
        self.nodes[-1].name = "output"
        self.values = {}
        return self
