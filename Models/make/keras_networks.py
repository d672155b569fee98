"""The two Keras networks as data: layers in order, their weights, labels and preprocessing."""

import ast
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

import packages

EMOTION_LABELS = ["Angry", "Disgust", "Fear", "Happy", "Sad", "Surprise", "Neutral"]


@dataclass
class Layer:
    """One Keras layer: its class, name, configuration, the names of the layers it reads, and its weights
    by their short name ("kernel", "depthwise_kernel", "gamma" ...), float32 in Keras's own layout."""
    kind: str
    name: str
    config: dict
    inputs: list[str]
    weights: dict[str, np.ndarray]


@dataclass
class Network:
    """A classifier. An input pixel p in 0...255 enters the first layer as p * scale + bias."""
    title: str
    layers: list[Layer]
    labels: list[str]
    side: int
    channels: int
    scale: float
    bias: float


def mobilenet(cache: Path) -> Network:
    """ImageNet MobileNet v1, width 0.25, 224 x 224 RGB, x/127.5 - 1."""
    topology = json.loads(packages.read(packages.MOBILENET_LAYERS, cache))["modelTopology"]
    weights = _weights(packages.read(packages.MOBILENET_WEIGHTS, cache))
    text = packages.read(packages.MOBILENET_LABELS, cache).decode("utf-8")
    return Network("MobileNet", _layers(topology["model_config"], weights), _labels(text),
                   side=224, channels=3, scale=1 / 127.5, bias=-1.0)


def emotion(cache: Path) -> Network:
    """Seven emotions, mini-Xception, 64 x 64 grey, (x/255 - 0.5) * 2."""
    data = packages.read(packages.EMOTION_MODEL, cache)
    with h5py.File(io.BytesIO(data), "r") as file:
        config = json.loads(file.attrs["model_config"])
    return Network("Emotion", _layers(config, _weights(data)), EMOTION_LABELS,
                   side=64, channels=1, scale=2 / 255, bias=-1.0)


def _layers(model_config: dict, weights: dict[str, dict[str, np.ndarray]]) -> list[Layer]:
    result = []
    for entry in model_config["config"]["layers"]:
        name = entry["config"]["name"]
        nodes = entry["inbound_nodes"]
        inputs = [link[0] for link in nodes[0]] if nodes else []
        result.append(Layer(entry["class_name"], name, entry["config"], inputs, weights.get(name, {})))
    return result


def _weights(data: bytes) -> dict[str, dict[str, np.ndarray]]:
    """Layer name -> short weight name -> array, from a Keras HDF5 file of weights or of a whole model."""
    result: dict[str, dict[str, np.ndarray]] = {}
    with h5py.File(io.BytesIO(data), "r") as file:
        root = file["model_weights"] if "model_weights" in file else file

        def visit(path: str, item) -> None:
            if isinstance(item, h5py.Dataset):
                short = path.rsplit("/", 1)[1].split(":")[0]
                result.setdefault(path.split("/", 1)[0], {})[short] = item[()].astype(np.float32)

        root.visititems(visit)
    return result


def _labels(javascript: str) -> list[str]:
    """The labels of `0: 'tench, Tinca tinca', 2: 'great white shark, ' + 'white shark' ...`, in index order."""
    body = javascript[javascript.index("{", javascript.index("IMAGENET_CLASSES")):]
    literal = r"'(?:[^'\\]|\\.)*'"
    pattern = re.compile(rf"(\d+):\s*({literal}(?:\s*\+\s*{literal})*)")
    table = {}
    for index, parts in pattern.findall(body):
        table[int(index)] = "".join(ast.literal_eval(part) for part in re.findall(literal, parts))
    if sorted(table) != list(range(1000)):
        raise SystemExit(f"imagenet_classes.js: {len(table)} labels, expected 1000")
    return [table[index] for index in range(1000)]
