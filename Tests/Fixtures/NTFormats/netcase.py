"""Writes one small network with its inputs and the outputs it must give.

For a network NAME three files: NAME.mlmodel; NAME.npy, one float32 vector holding the inputs' elements and then the expected outputs'
elements, in the order of NAME.json; NAME.json, {"inputs": [[name, shape]...], "outputs": [[name, shape]...]}. Expected values are
computed in float64 by the caller.
"""
import json
import pathlib

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

FOLDER = pathlib.Path(__file__).resolve().parent


class Net:
    """Collects layers through `b`, a NeuralNetworkBuilder, and expected outputs through `expect`."""

    def __init__(self, name, exact, **inputs):
        self.name, self.exact = name, exact
        self.inputs = {k: np.asarray(v, np.float32) for k, v in inputs.items()}
        self.outputs = {}
        features = [(k, datatypes.Array(*v.shape)) for k, v in self.inputs.items()]
        self.b = NeuralNetworkBuilder(
            features, [("placeholder", datatypes.Array(1))], disable_rank5_shape_mapping=exact)

    def __getitem__(self, key):
        """An input in float64."""
        return self.inputs[key].astype(np.float64)

    def expect(self, name, value, declared=None):
        """States what output `name` must be; `declared` is the shape that the description gives it (None: none)."""
        self.outputs[name] = (np.asarray(value, np.float64), declared)

    def save(self, edit=None):
        spec = self.b.spec
        del spec.description.output[:]
        for name, (value, declared) in self.outputs.items():
            feature = spec.description.output.add()
            feature.name = name
            feature.type.multiArrayType.dataType = 65568
            feature.type.multiArrayType.shape.extend(declared or [])
        if edit:
            edit(spec)
        (FOLDER / f"{self.name}.mlmodel").write_bytes(spec.SerializeToString())
        arrays = list(self.inputs.values()) + [v for v, _ in self.outputs.values()]
        flat = np.concatenate([a.astype(np.float32).ravel() for a in arrays])
        np.save(FOLDER / f"{self.name}.npy", flat)
        text = {
            "inputs": [[k, list(v.shape)] for k, v in self.inputs.items()],
            "outputs": [[k, list(v.shape)] for k, (v, _) in self.outputs.items()],
        }
        (FOLDER / f"{self.name}.json").write_text(json.dumps(text) + "\n")


def random(seed, *shape, low=-2.0, high=2.0):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)
