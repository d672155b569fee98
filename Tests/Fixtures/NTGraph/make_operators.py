#!/usr/bin/env python3
"""Writes operators.json: for each operator some applications with the results that NumPy and PyTorch give in double precision.

Inputs are not stored: both sides make them from a seed (see `values`). Needs numpy and torch (CPU). Run it in its own folder.
"""
import json
import math

import numpy as np
import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
cases = []


def values(shape, seed, low=-4.0, high=4.0, integers=False):
    """A hash of the element's index, 0 to 1 in steps of 1/256, spread over low...high; whole numbers when asked for."""
    count = int(np.prod(shape, dtype=np.int64))
    index = np.arange(count, dtype=np.uint64) + np.uint64(seed * 1000003 + 1)
    hashed = (index * np.uint64(2654435761)) % np.uint64(1 << 32)
    hashed = hashed ^ (hashed >> np.uint64(15))
    fraction = ((hashed * np.uint64(2246822519)) % np.uint64(1 << 32) >> np.uint64(24)).astype(np.float64) / 256
    result = low + (high - low) * fraction
    if integers:
        result = np.floor(result)
    return result.astype(np.float32).astype(np.float64).reshape(shape)


class Input:
    seed = 0

    def __init__(self, shape, low=-4.0, high=4.0, integers=False, literal=None):
        Input.seed += 1
        self.spec = {"shape": list(shape), "seed": Input.seed, "low": low, "high": high, "integers": integers}
        if literal is not None:
            self.spec["literal"] = [float(v) for v in literal]
            self.array = np.array(literal, dtype=np.float64).reshape(shape)
        else:
            self.array = values(shape, Input.seed, low, high, integers)
        self.tensor = torch.from_numpy(np.array(self.array))


def add(kind, attributes, inputs, outputs):
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    arrays = [np.asarray(o.detach().numpy() if isinstance(o, torch.Tensor) else o, dtype=np.float64) for o in outputs]
    cases.append(
        {
            "kind": kind,
            "attributes": attributes,
            "inputs": [i.spec for i in inputs],
            "outputs": [
                {"shape": list(a.shape), "values": [float(f"{v:.9g}") if math.isfinite(v) else str(v) for v in a.ravel()]} for a in arrays
            ],
        }
    )


RELU = {"activation": "relu"}


def convolutions():
    for n, c, h, w, o, kh, kw, s, d, p, g, bias, residual, act in [
        (1, 3, 6, 5, 4, 3, 3, (1, 1), (1, 1), (1, 1, 1, 1), 1, True, False, False),
        (2, 4, 7, 6, 6, 2, 3, (2, 1), (1, 2), (0, 2, 1, 1), 2, True, False, True),
        (1, 5, 6, 6, 5, 3, 3, (2, 2), (1, 1), (0, 0, 1, 1), 5, False, False, False),
        (1, 3, 4, 4, 6, 3, 3, (1, 1), (1, 1), (1, 1, 1, 1), 3, True, True, True),
        (1, 6, 3, 3, 4, 1, 1, (1, 1), (1, 1), (0, 0, 0, 0), 1, False, True, False),
        (1, 2, 9, 9, 3, 3, 3, (3, 2), (2, 3), (2, 1, 0, 3), 1, True, False, False),
    ]:
        x, weight = Input((n, c, h, w)), Input((o, c // g, kh, kw), -1, 1)
        inputs = [x, weight]
        top, left, bottom, right = p
        y = F.conv2d(F.pad(x.tensor, (left, right, top, bottom)), weight.tensor, None, s, 0, d, g)
        if bias:
            inputs.append(Input((o,)))
            y = y + inputs[-1].tensor.reshape(1, o, 1, 1)
        if residual:
            inputs.append(Input(tuple(y.shape)))
            y = y + inputs[-1].tensor
        attributes = {"strides": list(s), "dilations": list(d), "padding": list(p), "groups": g, "hasBias": bias, "hasResidual": residual}
        if act:
            y, attributes = torch.relu(y), {**attributes, **RELU}
        add("Convolution", attributes, inputs, y)
    for n, c, h, w, o, kh, kw, s, d, crop, extra, g, bias, act in [
        (1, 3, 4, 3, 2, 3, 3, (1, 1), (1, 1), (0, 0), (0, 0), 1, True, False),
        (2, 4, 3, 4, 6, 3, 2, (2, 2), (1, 1), (1, 0), (1, 1), 2, True, True),
        (1, 3, 4, 4, 3, 4, 4, (2, 2), (1, 1), (1, 1), (0, 0), 3, False, False),
        (1, 2, 3, 3, 3, 2, 3, (3, 1), (2, 2), (1, 2), (2, 0), 1, False, False),
    ]:
        x, weight = Input((n, c, h, w)), Input((c, o // g, kh, kw), -1, 1)
        inputs = [x, weight] + ([Input((o,))] if bias else [])
        y = F.conv_transpose2d(x.tensor, weight.tensor, inputs[2].tensor if bias else None, s, crop, extra, g, d)
        attributes = {
            "strides": list(s), "dilations": list(d), "cropping": [crop[0], crop[1], crop[0], crop[1]], "outputPadding": list(extra),
            "groups": g, "hasBias": bias,
        }
        if act:
            y, attributes = torch.relu(y), {**attributes, **RELU}
        add("ConvolutionTranspose", attributes, inputs, y)


def products():
    for shape, o, bias, act in [((5,), 3, True, False), ((2, 7), 4, False, False), ((2, 3, 4), 5, True, True)]:
        x, weight = Input(shape), Input((o, shape[-1]), -1, 1)
        inputs = [x, weight] + ([Input((o,))] if bias else [])
        y = F.linear(x.tensor, weight.tensor, inputs[2].tensor if bias else None)
        add("Dense", {"hasBias": bias, **(RELU if act else {})}, inputs, torch.relu(y) if act else y)
    for a, b, ta, tb in [
        ((3, 4), (4, 5), False, False), ((4, 3), (4, 5), True, False), ((2, 3, 4), (5, 4), False, True), ((2, 1, 4, 3), (3, 2, 4), True, True),
    ]:
        x, y = Input(a), Input(b)
        left = x.tensor.transpose(-1, -2) if ta else x.tensor
        right = y.tensor.transpose(-1, -2) if tb else y.tensor
        add("MatMul", {"transposeA": ta, "transposeB": tb}, [x, y], left @ right)


def functions():
    a, b = 0.75, -0.5
    t = torch
    table = [
        ("identity", [], lambda x: x, -3, 3), ("relu", [], t.relu, -3, 3), ("clip", [0, 6], lambda x: t.clamp(x, 0, 6), -9, 9),
        ("clip", [-1.5, 0.25], lambda x: t.clamp(x, -1.5, 0.25), -3, 3), ("leakyReLU", [0.125], lambda x: F.leaky_relu(x, 0.125), -3, 3),
        ("thresholdedReLU", [a], lambda x: F.threshold(x, a, 0.0), -3, 3), ("sigmoid", [], t.sigmoid, -9, 9),
        ("hardSigmoid", [0.25, 0.5], lambda x: t.clamp(0.25 * x + 0.5, 0, 1), -4, 4), ("hardSwish", [], F.hardswish, -5, 5),
        ("silu", [], F.silu, -9, 9), ("tanh", [], t.tanh, -4, 4), ("scaledTanh", [a, b], lambda x: a * t.tanh(b * x), -4, 4),
        ("elu", [a], lambda x: F.elu(x, a), -4, 2), ("softsign", [], F.softsign, -4, 4), ("softplus", [], lambda x: t.log1p(t.exp(x)), -9, 9),
        ("geluExact", [], lambda x: F.gelu(x), -4, 4), ("geluTanh", [], lambda x: F.gelu(x, approximate="tanh"), -4, 4),
        ("geluSigmoid", [], lambda x: x * t.sigmoid(1.702 * x), -4, 4), ("linear", [a, b], lambda x: a * x + b, -4, 4),
        ("threshold", [b], lambda x: t.clamp(x, min=b), -3, 3), ("power", [1.5], lambda x: x**1.5, 0, 4), ("rsqrt", [0.5], lambda x: t.rsqrt(x + 0.5), 0, 9),
        ("inverse", [0.5], lambda x: 1 / (x + 0.5), 0, 9), ("log", [0.5], lambda x: t.log(x + 0.5), 0, 9), ("sqrt", [], t.sqrt, 0, 9),
        ("square", [], t.square, -3, 3), ("exp", [], t.exp, -4, 4), ("exp2", [], t.exp2, -4, 4), ("abs", [], t.abs, -3, 3),
        ("negate", [], t.neg, -3, 3), ("sign", [], t.sign, -3, 3), ("ceil", [], t.ceil, -3, 3), ("floor", [], t.floor, -3, 3),
        ("round", [], t.round, -3, 3), ("sin", [], t.sin, -4, 4), ("cos", [], t.cos, -4, 4), ("tan", [], t.tan, -1.4, 1.4),
        ("asin", [], t.asin, -1, 1), ("acos", [], t.acos, -1, 1), ("atan", [], t.atan, -4, 4), ("sinh", [], t.sinh, -4, 4),
        ("cosh", [], t.cosh, -4, 4), ("asinh", [], t.asinh, -4, 4), ("acosh", [], t.acosh, 1, 5), ("atanh", [], t.atanh, -0.9, 0.9),
        ("erf", [], t.erf, -3, 3), ("logicalNot", [], lambda x: (x == 0).double(), -1, 2),
    ]
    for name, parameters, function, low, high in table:
        x = Input((2, 12), low, high, integers=name == "logicalNot")
        add("Unary", {"function": name, "parameters": parameters}, [x], function(x.tensor))
    special = Input((6,), literal=[-100, -20, -0.0, 20, 100, 700])
    for name, parameters, function in [("sigmoid", [], t.sigmoid), ("softplus", [], F.softplus), ("silu", [], F.silu), ("tanh", [], t.tanh)]:
        add("Unary", {"function": name, "parameters": parameters}, [special], function(special.tensor))
    binary = {
        "add": t.add, "subtract": t.sub, "multiply": t.mul, "divide": t.div, "floorDivide": lambda x, y: t.floor(x / y),
        "modulo": t.remainder, "power": t.pow, "maximum": t.maximum, "minimum": t.minimum, "equal": t.eq, "notEqual": t.ne, "less": t.lt,
        "lessEqual": t.le, "greater": t.gt, "greaterEqual": t.ge, "logicalAnd": t.logical_and, "logicalOr": t.logical_or,
        "logicalXor": t.logical_xor,
    }
    for name, function in binary.items():
        whole = name.startswith("logical") or "qual" in name or name in ("less", "greater", "modulo", "floorDivide")
        low = 0.25 if name == "power" else -3
        x = Input((2, 3, 4), low, 4, integers=whole)
        y = Input((3, 1), 1 if name in ("divide", "modulo", "floorDivide") else -2, 3, integers=whole)
        add("Binary", {"function": name}, [x, y], function(x.tensor, y.tensor).double())
    x, y = Input((1, 4)), Input((3, 1))
    add("Binary", {"function": "subtract", **RELU}, [x, y], t.relu(x.tensor - y.tensor))
    c, x, y = Input((3, 1), 0, 2, integers=True), Input((2, 3, 4)), Input((4,))
    add("Select", {}, [c, x, y], t.where(c.tensor != 0, x.tensor, y.tensor))
    for shape, axis, act in [((2, 3, 4, 2), 1, False), ((2, 3, 5), -1, True), ((4, 3), 0, False)]:
        extent = shape[axis]
        x, s, o = Input(shape), Input((extent,), -2, 2), Input((extent,))
        view = [1] * len(shape)
        view[axis] = extent
        y = x.tensor * s.tensor.reshape(view) + o.tensor.reshape(view)
        add("ChannelAffine", {"axis": axis, **(RELU if act else {})}, [x, s, o], t.relu(y) if act else y)
        add("PReLU", {"axis": axis}, [x, s], t.where(x.tensor < 0, x.tensor * s.tensor.reshape(view), x.tensor))


def movements():
    x = Input((2, 3, 4))
    add("Reshape", {"shape": [4, 6]}, [x], x.array.reshape(4, 6))
    for shape, order in [((2, 3, 4, 5), (0, 2, 3, 1)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 2, 2, 3), (4, 1, 0, 3, 2))]:
        x = Input(shape)
        add("Transpose", {"permutation": list(order)}, [x], x.array.transpose(order))
    for shapes, axis in [([(2, 3, 2), (2, 1, 2), (2, 2, 2)], 1), ([(2, 3), (2, 2)], -1), ([(1, 2), (3, 2)], 0)]:
        parts = [Input(s) for s in shapes]
        add("Concat", {"axis": axis}, parts, np.concatenate([p.array for p in parts], axis))
    for shape, axis, sizes in [((2, 6, 2), 1, [1, 2, 3]), ((4, 3), -1, [2, 1]), ((5,), 0, [5])]:
        x = Input(shape)
        add("Split", {"axis": axis, "sizes": sizes}, [x], np.split(x.array, np.cumsum(sizes)[:-1], axis))
    x = Input((4, 5, 6))
    add("Slice", {"begins": [1, 4, 0], "extents": [2, 3, 3], "strides": [1, -2, 2]}, [x], x.array[1:3, 4::-2, 0:6:2])
    x = Input((7,))
    add("Slice", {"begins": [6], "extents": [7], "strides": [-1]}, [x], x.array[::-1])
    x = Input((2, 3, 2))
    add("Tile", {"repeats": [2, 1, 3]}, [x], np.tile(x.array, (2, 1, 3)))
    x = Input((3, 1))
    add("BroadcastTo", {"shape": [2, 3, 4]}, [x], np.broadcast_to(x.array, (2, 3, 4)))
    x = Input((2, 3, 4))
    add("Reverse", {"axes": [0, -1]}, [x], np.flip(x.array, (0, 2)))
    for shape, axis, index in [((4, 3), 0, [[3, -1], [0, 2]]), ((2, 4, 3), 1, [1, 1, -4]), ((2, 5), -1, 4)]:
        x, i = Input(shape), Input(np.shape(index), literal=np.array(index, dtype=float).ravel())
        add("Gather", {"axis": axis}, [x, i], np.take(x.array, index, axis))
    before, after = (0, 1, 2), (1, 0, 3)
    for mode, numpy_mode, value in [("constant", "constant", 1.5), ("reflection", "reflect", None), ("replication", "edge", None)]:
        x = Input((3, 2, 4))
        keywords = {"constant_values": value} if value is not None else {}
        y = np.pad(x.array, list(zip(before, after)), numpy_mode, **keywords)
        add("Pad", {"mode": mode, "value": value or 0, "before": list(before), "after": list(after)}, [x], y)


def normalizations():
    for shape, axis in [((5,), 0), ((2, 3, 4), 1), ((2, 6), -1)]:
        x = Input(shape)
        add("Softmax", {"axis": axis, "isLog": False}, [x], torch.softmax(x.tensor, axis))
        add("Softmax", {"axis": axis, "isLog": True}, [x], torch.log_softmax(x.tensor, axis))
    x = Input((3,), literal=[1000, 999, -1000])
    add("Softmax", {"axis": 0, "isLog": False}, [x], torch.softmax(x.tensor, 0))
    for channels, size in [(7, 3), (4, 5), (3, 1)]:
        x = Input((2, channels, 2, 2))
        y = F.local_response_norm(x.tensor, size, alpha=0.5, beta=0.75, k=2)
        add("LocalResponseNormalization", {"size": size, "alpha": 0.5, "beta": 0.75, "k": 2}, [x], y)
    for shape, axes in [((2, 3, 4, 2), (2, 3)), ((2, 8), (-1,)), ((2, 3, 2, 2), (0, 2, 3))]:
        x = Input(shape)
        mean = x.array.mean(axes, keepdims=True)
        variance = x.array.var(axes, keepdims=True)
        base = {"axes": list(axes), "epsilon": 0.25}
        kind = "MeanVarianceNormalization"
        add(kind, {**base, "normalizesVariance": True, "epsilonOutside": False}, [x], (x.array - mean) / np.sqrt(variance + 0.25))
        add(kind, {**base, "normalizesVariance": True, "epsilonOutside": True}, [x], (x.array - mean) / (np.sqrt(variance) + 0.25))
        add(kind, {**base, "normalizesVariance": False, "epsilonOutside": False}, [x], x.array - mean)
        y = x.array / np.sqrt((x.array**2).sum(axes, keepdims=True) + 0.25)
        add("L2Normalization", base, [x], y)


def pools():
    for shape, k, s, p, ceil in [
        ((1, 2, 6, 5), (2, 2), (2, 2), (0, 0), False), ((2, 1, 7, 7), (3, 3), (2, 2), (1, 1), False), ((1, 2, 8, 6), (3, 3), (2, 2), (0, 0), True),
        ((1, 2, 7, 5), (3, 2), (2, 2), (1, 1), True), ((1, 1, 6, 6), (3, 3), (3, 3), (1, 1), True), ((1, 2, 4, 4), (4, 4), (1, 1), (0, 0), False),
    ]:
        x = Input(shape)
        base = {"kernel": list(k), "strides": list(s), "padding": [p[0], p[1], p[0], p[1]], "rounding": "ceilIncludingLastPixel" if ceil else "floor"}
        add("Pool", {**base, "function": "maximum"}, [x], F.max_pool2d(x.tensor, k, s, p, ceil_mode=ceil))
        for counts in (False, True):
            y = F.avg_pool2d(x.tensor, k, s, p, ceil_mode=ceil, count_include_pad=counts)
            add("Pool", {**base, "function": "average", "countsPadding": counts}, [x], y)
        if not ceil:
            padded = F.pad(x.tensor, (p[1], p[1], p[0], p[0]))
            add("Pool", {**base, "function": "l2"}, [x], torch.sqrt(F.avg_pool2d(padded**2, k, s, divisor_override=1)))
    x = Input((1, 1, 7, 7))
    base = {"kernel": [2, 2], "strides": [1, 1], "padding": [0, 0, 0, 0], "rounding": "floor"}
    add("Pool", {**base, "function": "maximum", "dilations": [3, 2]}, [x], F.max_pool2d(x.tensor, 2, 1, 0, (3, 2)))


def reductions():
    n = np
    table = {
        "sum": n.sum, "mean": n.mean, "product": n.prod, "maximum": n.max, "minimum": n.min,
        "l1": lambda x, axis, keepdims: n.abs(x).sum(axis, keepdims=keepdims),
        "l2": lambda x, axis, keepdims: n.sqrt((x**2).sum(axis, keepdims=keepdims)),
        "sumSquare": lambda x, axis, keepdims: (x**2).sum(axis, keepdims=keepdims),
        "logSum": lambda x, axis, keepdims: n.log(x.sum(axis, keepdims=keepdims)),
        "sumLog": lambda x, axis, keepdims: n.log(x + 0.5).sum(axis, keepdims=keepdims),
        "logSumExp": lambda x, axis, keepdims: n.log(n.exp(x).sum(axis, keepdims=keepdims)),
    }
    for name, function in table.items():
        for shape, axes, keeps in [((2, 3, 4), (1,), True), ((2, 3, 4), (0, -1), False), ((2, 3), (), True)]:
            x = Input(shape, 0.5 if "og" in name else -2, 3)
            y = function(x.array, axis=axes or None, keepdims=keeps)
            add("Reduce", {"function": name, "axes": list(axes), "keepsDimensions": keeps, "epsilon": 0.5}, [x], y)
    for shape, axis, keeps in [((2, 5, 3), 1, True), ((2, 5), -1, False), ((6,), 0, False)]:
        x = Input(shape)
        for smallest in (False, True):
            y = (n.argmin if smallest else n.argmax)(x.array, axis)
            y = n.expand_dims(y, axis) if keeps else y
            add("ArgReduce", {"isMinimum": smallest, "axis": axis, "keepsDimension": keeps}, [x], y)
            order = n.argsort(x.array if smallest else -x.array, axis, kind="stable")
            order = n.take(order, range(3), axis)
            add("TopK", {"k": 3, "axis": axis, "isSmallest": smallest}, [x], [n.take_along_axis(x.array, order, axis), order])


def spatial():
    x = Input((1, 2, 3, 4))
    for size in [(6, 8), (2, 3), (5, 7)]:
        attributes = {"mode": "bilinear", "size": list(size)}
        y = F.interpolate(x.tensor, size, mode="bilinear", align_corners=True)
        add("Resize", {**attributes, "coordinates": "alignCorners"}, [x], y)
        y = F.interpolate(x.tensor, size, mode="bilinear", align_corners=False)
        add("Resize", {**attributes, "coordinates": "halfPixel"}, [x], y)
        nearest = {"mode": "nearest", "size": list(size)}
        add("Resize", {**nearest, "coordinates": "asymmetric"}, [x], F.interpolate(x.tensor, size, mode="nearest"))
        add("Resize", {**nearest, "coordinates": "halfPixel"}, [x], F.interpolate(x.tensor, size, mode="nearest-exact"))
    for coordinates in ("asymmetric", "upsample", "explicit"):
        size = (5, 6)

        def place(i, n, m, vertical):
            if coordinates == "asymmetric":
                return i * n / m
            if coordinates == "upsample":
                return i * (n - n / m) / (m - 1)
            return 0.5 + i * 0.25 if vertical else -1 + i * 0.75

        ys = np.clip([place(i, 3, 5, True) for i in range(5)], 0, 2)
        xs = np.clip([place(i, 4, 6, False) for i in range(6)], 0, 3)
        # Bilinear interpolation as the product of two hat functions.
        rows = np.maximum(0, 1 - np.abs(ys[:, None] - np.arange(3)))
        columns = np.maximum(0, 1 - np.abs(xs[:, None] - np.arange(4)))
        y = np.einsum("ih,jw,nchw->ncij", rows, columns, x.array)
        attributes = {"mode": "bilinear", "size": list(size), "coordinates": coordinates, "explicit": [0.5, 0.25, -1, 0.75]}
        add("Resize", attributes, [x], y)
    x = Input((1, 8, 2, 3))
    add("RearrangeBlocks", {"mode": "pixelShuffle", "block": 2}, [x], F.pixel_shuffle(x.tensor, 2))
    y = np.empty((1, 2, 4, 6))
    for by in range(2):
        for bx in range(2):
            y[:, :, by::2, bx::2] = x.array[:, (by * 2 + bx) * 2 : (by * 2 + bx) * 2 + 2]
    add("RearrangeBlocks", {"mode": "depthToSpace", "block": 2}, [x], y)
    x = Input((2, 2, 4, 6))
    y = np.concatenate([x.array[:, :, by::2, bx::2] for by in range(2) for bx in range(2)], 1)
    add("RearrangeBlocks", {"mode": "spaceToDepth", "block": 2}, [x], y)


def selections():
    x, i = Input((2, 4, 3)), Input((2, 2, 3), low=-4, high=4, integers=True)
    index = i.array.astype(int) % 4
    add("GatherAlongAxis", {"axis": 1}, [x, i], np.take_along_axis(x.array, index, 1))
    x, i = Input((3, 4, 2)), Input((2, 3, 2), literal=[0, 1, 2, -1, -3, 0, 1, 1, 2, 2, 0, 0])
    at = i.array.astype(int)
    add("GatherND", {}, [x, i], x.array[at[..., 0], at[..., 1]])
    combine = [lambda a, b: b, np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum]
    for mode, f in enumerate(combine):
        x, i, u = Input((4, 3)), Input((3,), literal=[2, 0, -2]), Input((3, 3), low=0.5, high=3)
        y = x.array.copy()
        for row, place in enumerate([2, 0, 2]):
            y[place] = f(y[place], u.array[row])
        add("Scatter", {"addressing": "slices", "axis": 0, "mode": mode}, [x, i, u], y)
    x, i, u = Input((2, 4)), Input((2, 3), literal=[3, 0, 3, -1, 1, 2]), Input((2, 3))
    y = x.array.copy()
    np.add.at(y, (np.arange(2)[:, None], i.array.astype(int)), u.array)
    add("Scatter", {"addressing": "elements", "axis": 1, "mode": 1}, [x, i, u], y)
    x, i, u = Input((3, 4, 2)), Input((2, 2), literal=[0, 1, 2, -1]), Input((2, 2))
    y = x.array.copy()
    y[[0, 2], [1, 3]] = u.array
    add("Scatter", {"addressing": "coordinates", "axis": 0, "mode": 0}, [x, i, u], y)
    x = Input((2, 4, 3))
    add("CumulativeSum", {"axis": 1, "isExclusive": False, "isReversed": False}, [x], x.array.cumsum(1))
    y = np.flip(np.flip(x.array, 2).cumsum(2), 2) - x.array
    add("CumulativeSum", {"axis": -1, "isExclusive": True, "isReversed": True}, [x], y)
    x, n = Input((4, 2, 3)), Input((3,), literal=[4, 0, 3])
    y = x.array.copy()
    for column, length in enumerate([4, 0, 3]):
        y[:length, :, column] = y[:length, :, column][::-1]
    add("ReverseSequence", {"batchAxis": 2, "sequenceAxis": 0}, [x, n], y)
    for sampling in range(4):
        for form in range(4):
            x = Input((2, 2, 5, 6))
            top, left, bottom, right = 0.5, 1.0, 3.0, 4.5
            middle = ((top + bottom) / 2, (left + right) / 2, bottom - top, right - left)
            box = [(top, left, bottom, right), (left, top, right, bottom), middle, (middle[1], middle[0], middle[3], middle[2])][form]
            image = [1] if form % 2 else []
            boxes = Input((1, 4 + len(image)), literal=[*image, *(v * 2 for v in box)])
            def line(first, last, count):
                extent, steps = last - first + 1, np.arange(count)
                if sampling < 2:
                    return np.linspace(first, last, count)
                if sampling == 2:
                    return first + np.minimum(extent - 1, np.linspace(0, extent - extent / count, count))
                return first + np.minimum(extent - 1, (steps + 0.5) * max(1, extent - 1) / count)
            rows = np.maximum(0, 1 - np.abs(line(top, bottom, 3)[:, None] - np.arange(5)))
            columns = np.maximum(0, 1 - np.abs(line(left, right, 4)[:, None] - np.arange(6)))
            source = x.array[1:] if image else x.array
            y = np.einsum("ih,jw,nchw->ncij", rows, columns, source)
            attributes = {"size": [3, 4], "sampling": sampling, "format": form, "isNormalized": False, "spatialScale": 0.5}
            add("CropResize", attributes, [x, boxes], y)


for section in (convolutions, products, functions, movements, normalizations, pools, reductions, spatial, selections):
    section()
with open("operators.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases) + "\n]\n")
print(len(cases), "cases")
