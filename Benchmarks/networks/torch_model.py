"""A network as a PyTorch module with the same weights."""

import torch
import torch.nn.functional as functional

from .network import Network, Node


class TorchModel(torch.nn.Module):
    """Computes what the network's files compute: (N, C, H, W) values in 0-255 to (N, classes) probabilities."""

    def __init__(self, network: Network):
        super().__init__()
        self.nodes = network.nodes
        self.weights = torch.nn.ParameterDict()
        for node in network.nodes:
            for kind, array in (("weights", node.weights), ("bias", node.bias)):
                if array is not None:
                    self.weights[f"{node.name}_{kind}"] = torch.nn.Parameter(torch.from_numpy(array), requires_grad=False)
        readers = {source: index for index, node in enumerate(self.nodes) for source in node.inputs}
        #: Per node the values that no later node reads.
        self.released = [[name for name, last in readers.items() if last == index] for index in range(len(self.nodes))]

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        values = {"image": image}
        for node, released in zip(self.nodes, self.released):
            values[node.name] = self.compute(node, [values[name] for name in node.inputs])
            for name in released:
                del values[name]
        return values[self.nodes[-1].name]

    def compute(self, node: Node, inputs: list[torch.Tensor]) -> torch.Tensor:
        x = inputs[0]
        match node.kind:
            case "convolution":
                x, padding = pad(x, node, 0.0)
                return functional.conv2d(x, self.weights[f"{node.name}_weights"], self.weights[f"{node.name}_bias"], node.stride,
                                         padding, groups=node.groups)
            case "maximum":
                x, padding = pad(x, node, -torch.inf)
                return functional.max_pool2d(x, node.kernel, node.stride, padding)
            case "relu":
                return functional.relu(x)
            case "relu6":
                return functional.relu6(x)
            case "add":
                return inputs[0] + inputs[1]
            case "concat":
                return torch.cat(inputs, dim=1)
            case "mean":
                return x.mean(dim=(2, 3))
            case "dense":
                return functional.linear(x, self.weights[f"{node.name}_weights"], self.weights[f"{node.name}_bias"])
            case "softmax":
                return functional.softmax(x, dim=1)
        raise ValueError(f"{node.name}: {node.kind} has no PyTorch form")


def pad(x: torch.Tensor, node: Node, value: float) -> tuple[torch.Tensor, tuple[int, int]]:
    """The input and the padding that the operator itself can add: uneven padding is added before."""
    top, left, bottom, right = node.padding
    if (top, left) == (bottom, right):
        return x, (top, left)
    return functional.pad(x, (left, right, top, bottom), value=value), (0, 0)
