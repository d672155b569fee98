"""Collects small neural networks with inputs and the outputs that they must give, and writes them down."""

import json
import pathlib

import numpy as np
import torch
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

FOLDER = pathlib.Path(__file__).parent
blob = bytearray()
cases = []
random = np.random.default_rng(7)


def rnd(*shape, low=-1.0, high=1.0):
    """Numbers that float32 holds exactly enough: rounded to 1/256."""
    return np.round(random.uniform(low, high, shape) * 256) / 256


def put(data):
    start = len(blob)
    blob.extend(data)
    return [start, len(data)]


def tensor(value):
    value = np.asarray(value, dtype=np.float64)
    return {"shape": list(value.shape), "bytes": put(value.astype("<f4").tobytes())}


def t(x):
    return torch.from_numpy(np.ascontiguousarray(x, dtype=np.float64))


def save(name, builder, inputs, outputs, spec=None, batch=1, shapes=None, exact=True, tolerance=1e-4):
    spec = spec or builder.spec
    cases.append({
        "name": name, "model": put(spec.SerializeToString()), "batch": batch, "inputShapes": shapes or {},
        "inputs": {k: tensor(v) for k, v in inputs.items()}, "outputs": {k: tensor(v) for k, v in outputs.items()},
        "checksShape": exact, "tolerance": tolerance})


def new(inputs, outputs, exact):
    return NeuralNetworkBuilder(
        [(k, datatypes.Array(*v.shape)) for k, v in inputs.items()], [(k, None) for k in outputs],
        disable_rank5_shape_mapping=exact)


def old(name, build, x, expected, **options):
    """A network in the world of rank 5: arrays are [C] or [C, H, W]."""
    inputs = x if isinstance(x, dict) else {"x": x}
    outputs = expected if isinstance(expected, dict) else {"y": expected}
    builder = new(inputs, outputs, False)
    build(builder)
    save("rank5 " + name, builder, inputs, outputs, exact=False, **options)


def nd(name, build, x, expected, **options):
    """A network whose arrays are taken as they are."""
    inputs = x if isinstance(x, dict) else {"x": x}
    outputs = expected if isinstance(expected, dict) else {"y": expected}
    builder = new(inputs, outputs, True)
    build(builder)
    save("nd " + name, builder, inputs, outputs, **options)


def write():
    (FOLDER / "layers.bin").write_bytes(bytes(blob))
    (FOLDER / "layers.json").write_text(json.dumps(cases, separators=(",", ":"), sort_keys=True) + "\n")
    print(len(cases), "cases,", len(blob), "bytes")
