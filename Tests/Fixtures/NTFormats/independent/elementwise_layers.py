"""Activations, functions and arithmetic of elements."""

import numpy as np
from scipy.special import erf

from layercase import nd, old, rnd


def activations():
    x = rnd(3, 4, 5, low=-3, high=3)
    x[0, 0, :3] = [0.5, 1.0, 0.0]
    a, b = rnd(3, low=0.1, high=1), rnd(3, low=0.5, high=2)
    sig = lambda v: 1 / (1 + np.exp(-v))
    table = {
        "LINEAR": ([0.5, -1.25], 0.5 * x - 1.25), "RELU": (None, np.maximum(x, 0)),
        "LEAKYRELU": ([0.25], np.where(x >= 0, x, 0.25 * x)), "THRESHOLDEDRELU": (0.5, np.where(x >= 0.5, x, 0)),
        "TANH": (None, np.tanh(x)), "SCALED_TANH": ([1.5, 0.75], 1.5 * np.tanh(0.75 * x)), "SIGMOID": (None, sig(x)),
        "SIGMOID_HARD": ([0.25, 0.5], np.clip(0.25 * x + 0.5, 0, 1)), "ELU": (0.75, np.where(x >= 0, x, 0.75 * np.expm1(x))),
        "SOFTSIGN": (None, x / (1 + np.abs(x))), "SOFTPLUS": (None, np.log1p(np.exp(x))),
        "PRELU": (a.astype(np.float32), np.where(x >= 0, x, a[:, None, None] * x)),
        "PARAMETRICSOFTPLUS": ([a.astype(np.float32), b.astype(np.float32)],
                               a[:, None, None] * np.log1p(np.exp(b[:, None, None] * x))),
    }
    for kind, (params, y) in table.items():
        old(f"activation {kind}", lambda n: n.add_activation("act", kind, "x", "y", params), x, y)
    one = np.array([0.25], dtype=np.float32)
    old("activation PRELU one slope", lambda n: n.add_activation("act", "PRELU", "x", "y", one), x, np.where(x >= 0, x, 0.25 * x))
    # ReLU6 as converters write it: relu, times -1, max with -6, times -1.
    def relu6(n):
        n.add_activation("r", "RELU", "x", "a")
        n.add_activation("n", "LINEAR", "a", "b", [-1.0, 0])
        n.add_unary("t", "b", "c", "threshold", alpha=-0.75)
        n.add_activation("m", "LINEAR", "c", "y", [-1.0, 0])
    old("relu6 chain", relu6, x, np.clip(x, 0, 0.75))
    nd("clampedReLU", lambda n: n.add_clamped_relu("act", "x", "y", alpha=0.5, beta=1.5), x, np.minimum(1.5, np.where(x >= 0, x, 0.5 * x)))

    p = rnd(3, 4, 5, low=0.25, high=2)
    z = 1.5 * p + 0.25
    table = {"sqrt": np.sqrt(z), "rsqrt": 1 / np.sqrt(z + 0.125), "inverse": 1 / (z + 0.125), "power": z ** 1.5, "exp": np.exp(z),
             "log": np.log(z), "abs": np.abs(z), "threshold": np.maximum(z, 1.5)}
    for mode, y in table.items():
        old(f"unary {mode}", lambda n: n.add_unary("u", "x", "y", mode, alpha=1.5, shift=0.25, scale=1.5, epsilon=0.125), p, y)
    old("unary rsqrt standard epsilon", lambda n: n.add_unary("u", "x", "y", "rsqrt", epsilon=0), p * 1e-3, 1 / np.sqrt(p * 1e-3 + 1e-6))

    u, g = rnd(2, 7, low=-0.9, high=0.9), rnd(2, 7, low=1.1, high=4)
    functions = {
        "exp2": (u, np.exp2), "sin": (u, np.sin), "cos": (u, np.cos), "tan": (u, np.tan), "asin": (u, np.arcsin), "acos": (u, np.arccos),
        "atan": (u, np.arctan), "sinh": (u, np.sinh), "cosh": (u, np.cosh), "tanh": (u, np.tanh), "asinh": (u, np.arcsinh),
        "acosh": (g, np.arccosh), "atanh": (u, np.arctanh), "erf": (u, erf), "ceil": (g, np.ceil), "floor": (g, np.floor),
        "sign": (u, np.sign), "round": (g, np.rint),
    }
    for name, (value, function) in functions.items():
        nd(name, lambda n: getattr(n, "add_" + name)("f", "x", "y"), value, function(value))
    nd("clip", lambda n: n.add_clip("f", "x", "y", -0.25, 0.5), u, np.clip(u, -0.25, 0.5))
    nd("gelu EXACT", lambda n: n.add_gelu("f", "x", "y", "EXACT"), u, 0.5 * u * (1 + erf(u / np.sqrt(2))))
    nd("gelu TANH", lambda n: n.add_gelu("f", "x", "y", "TANH_APPROXIMATION"), u,
       0.5 * u * (1 + np.tanh(np.sqrt(2 / np.pi) * (u + 0.044715 * u ** 3))))
    nd("gelu SIGMOID", lambda n: n.add_gelu("f", "x", "y", "SIGMOID_APPROXIMATION"), u, u * sig(1.702 * u))


def elementwise():
    a, b = rnd(2, 3, 4, low=0.5, high=3), rnd(3, 1, low=0.5, high=3)
    i, j = np.floor(rnd(2, 3, 4, low=0, high=3)), np.floor(rnd(3, 4, low=0, high=3))
    two = {
        "add_broadcastable": a + b, "subtract_broadcastable": a - b, "multiply_broadcastable": a * b, "divide_broadcastable": a / b,
        "pow_broadcastable": a ** b, "floor_div_broadcastable": np.floor(a / b), "mod_broadcastable": np.mod(a, b),
        "max_broadcastable": np.maximum(a, b), "min_broadcastable": np.minimum(a, b),
    }
    for name, y in two.items():
        nd(name, lambda n: getattr(n, "add_" + name)("f", ["a", "b"], "y"), {"a": a, "b": b}, y)
    compare = {
        "equal": np.equal, "not_equal": np.not_equal,
    }
    for name, f in compare.items():
        nd(name, lambda n: getattr(n, "add_" + name)("f", ["a", "b"], "y"), {"a": i, "b": j}, f(i, j))
        nd(name + " number", lambda n: getattr(n, "add_" + name)("f", ["a"], "y", alpha=1.0), {"a": i}, f(i, 1))
    for use_equal, less, greater in ((False, np.less, np.greater), (True, np.less_equal, np.greater_equal)):
        nd(f"less {use_equal}", lambda n: n.add_less_than("f", ["a", "b"], "y", use_less_than_equal=use_equal), {"a": i, "b": j}, less(i, j))
        nd(f"greater {use_equal}", lambda n: n.add_greater_than("f", ["a", "b"], "y", use_greater_than_equal=use_equal),
           {"a": i, "b": j}, greater(i, j))
        nd(f"greater {use_equal} number", lambda n: n.add_greater_than("f", ["a"], "y", use_greater_than_equal=use_equal, alpha=1.0),
           {"a": i}, greater(i, 1))
    for mode, f in (("AND", np.logical_and), ("OR", np.logical_or), ("XOR", np.logical_xor)):
        nd(f"logical {mode}", lambda n: n.add_logical("f", ["a", "b"], "y", mode), {"a": i, "b": j}, f(i, j))
    nd("logical NOT", lambda n: n.add_logical("f", ["a"], "y", "NOT"), {"a": i}, np.logical_not(i))
    nd("where_broadcastable", lambda n: n.add_where_broadcastable("f", ["c", "a", "b"], "y"), {"c": i, "a": a, "b": b}, np.where(i != 0, a, b))

    x1, x2, x3 = rnd(3, 4, 5), rnd(3, 4, 5), rnd(3, 4, 5)
    three = {"ADD": x1 + x2 + x3, "MULTIPLY": x1 * x2 * x3, "MAX": np.maximum(np.maximum(x1, x2), x3),
             "MIN": np.minimum(np.minimum(x1, x2), x3), "AVE": (x1 + x2 + x3) / 3}
    for mode, y in three.items():
        old(f"elementwise {mode}", lambda n: n.add_elementwise("e", ["a", "b", "c"], "y", mode), {"a": x1, "b": x2, "c": x3}, y)
    channel, plane = rnd(3, 1, 1), rnd(1, 4, 5)
    old("add channel", lambda n: n.add_elementwise("e", ["a", "b"], "y", "ADD"), {"a": x1, "b": channel}, x1 + channel)
    old("multiply plane", lambda n: n.add_elementwise("e", ["a", "b"], "y", "MULTIPLY"), {"a": x1, "b": plane}, x1 * plane)
    old("add number", lambda n: n.add_elementwise("e", ["x"], "y", "ADD", alpha=1.5), x1, x1 + 1.5)
    old("multiply number", lambda n: n.add_elementwise("e", ["x"], "y", "MULTIPLY", alpha=1.5), x1, x1 * 1.5)
    v, w = rnd(6, 1, 1), rnd(6, 1, 1)
    old("dot", lambda n: n.add_elementwise("e", ["a", "b"], "y", "DOT"), {"a": v, "b": w}, [(v * w).sum()])
    old("dot cosine", lambda n: n.add_elementwise("e", ["a", "b"], "y", "COS"), {"a": v, "b": w},
        [(v * w).sum() / np.linalg.norm(v) / np.linalg.norm(w)])
    for label, shape_scale, scale, shape_bias, bias in (
            ("channel", [3], rnd(3), [3], rnd(3)), ("one", [1], rnd(1), [3], rnd(3)), ("plane", [1, 4, 5], rnd(1, 4, 5), [1], rnd(1)),
            ("full", [3, 4, 5], rnd(3, 4, 5), [3, 4, 5], rnd(3, 4, 5)), ("channel full", [3, 1, 1], rnd(3), [3, 4, 5], rnd(3, 4, 5))):
        spread = lambda value, shape: np.reshape(value, shape + [1, 1] if len(shape) == 1 else shape)
        old(f"scale {label}", lambda n: n.add_scale("s", scale, bias, True, "x", "y", shape_scale=shape_scale, shape_bias=shape_bias), x1,
            x1 * spread(scale, shape_scale) + spread(bias, shape_bias))
        old(f"bias {label}", lambda n: n.add_bias("s", bias, "x", "y", shape_bias=shape_bias), x1, x1 + spread(bias, shape_bias))
    s = rnd(3)
    old("scale without bias", lambda n: n.add_scale("s", s, None, False, "x", "y", shape_scale=[3]), x1, x1 * s[:, None, None])
