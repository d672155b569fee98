"""Networks of the layers of any rank, under the exact shape mapping. See netcase.py for the files."""
import numpy as np
import torch

from netcase import Net, random

T = lambda a: torch.from_numpy(np.asarray(a, np.float64))
erf = lambda x: torch.erf(T(x)).numpy()


def nd_elementwise():
    n = Net("nd_elementwise", True, x=random(70, 2, 3, 4), y=random(71, 3, 1), u=random(72, 2, 3, low=-0.9, high=0.9),
            p=random(73, 2, 3, low=1.1, high=3), z=np.float32([[0, 1, 2], [1, 0, 3]]))
    x, y, u, p, z, b = n["x"], n["y"], n["u"], n["p"], n["z"], n.b
    for name, f, src in [
        ("ceil", np.ceil, "x"), ("floor", np.floor, "x"), ("sign", np.sign, "x"), ("round", np.round, "x"), ("exp2", np.exp2, "x"),
        ("sin", np.sin, "x"), ("cos", np.cos, "x"), ("tan", np.tan, "u"), ("asin", np.arcsin, "u"), ("acos", np.arccos, "u"),
        ("atan", np.arctan, "x"), ("sinh", np.sinh, "x"), ("cosh", np.cosh, "x"), ("tanh", np.tanh, "x"),
        ("asinh", np.arcsinh, "x"), ("acosh", np.arccosh, "p"), ("atanh", np.arctanh, "u"), ("erf", erf, "x"),
    ]:
        getattr(b, "add_" + name)(name, src, name)
        n.expect(name, f(n[src]))
    b.add_clip("clip", "x", "clip", -0.5, 1)
    n.expect("clip", np.clip(x, -0.5, 1))
    for mode, want in [("EXACT", x * (1 + erf(x / np.sqrt(2))) / 2),
                       ("TANH_APPROXIMATION", x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))) / 2),
                       ("SIGMOID_APPROXIMATION", x / (1 + np.exp(-1.702 * x)))]:
        b.add_gelu(mode, "x", mode, mode)
        n.expect(mode, want)
    b.add_clamped_relu("clamped", "x", "clamped", 0.25, 1.25)
    n.expect("clamped", np.minimum(np.where(x >= 0, x, 0.25 * x), 1.25))
    for name, f, ins in [
        ("add_broadcastable", np.add, "xy"), ("subtract_broadcastable", np.subtract, "xy"), ("multiply_broadcastable", np.multiply, "xy"),
        ("divide_broadcastable", np.divide, "xy"), ("floor_div_broadcastable", np.floor_divide, "xy"),
        ("mod_broadcastable", np.mod, "xy"), ("max_broadcastable", np.maximum, "xy"), ("min_broadcastable", np.minimum, "xy"),
        ("pow_broadcastable", np.power, "pz"),
    ]:
        getattr(b, "add_" + name)(name, list(ins), name)
        n.expect(name, f(n[ins[0]], n[ins[1]]))
    for name, args, f in [
        ("equal", dict(alpha=1), lambda a, c: a == c), ("not_equal", dict(alpha=1), lambda a, c: a != c),
        ("less_than", dict(use_less_than_equal=False, alpha=1), lambda a, c: a < c),
        ("greater_than", dict(use_greater_than_equal=True, alpha=1), lambda a, c: a >= c),
    ]:
        getattr(b, "add_" + name)(name, ["z"], name, **args)
        n.expect(name, f(z, 1))
        pair = {k: v for k, v in args.items() if k != "alpha"}
        getattr(b, "add_" + name)(name + "2", ["z", "p"], name + "2", **pair)
        n.expect(name + "2", f(z, p))
    for mode, f in [("OR", np.logical_or), ("AND", np.logical_and), ("XOR", np.logical_xor)]:
        b.add_logical(mode, ["z", "less_than"], mode, mode)
        n.expect(mode, f(z != 0, z < 1))
    b.add_logical("NOT", ["z"], "NOT", "NOT")
    n.expect("NOT", z == 0)
    b.add_where_broadcastable("where", ["z", "u", "p"], "where")
    n.expect("where", np.where(z != 0, u, p))
    n.save()


def nd_shapes():
    n = Net("nd_shapes", True, x=random(80, 2, 3, 4), y=random(81, 2, 3, 4), s=random(82, 1, 3, 1, 2), v=random(83, 5), k=random(84, 2, 3, 4, 5, 2))
    x, y, s, v, k, b = n["x"], n["y"], n["s"], n["v"], n["k"], n.b
    b.add_squeeze("squeeze", "s", "squeeze", axes=[0, -2])
    n.expect("squeeze", s[0, :, 0])
    b.add_squeeze("squeezeAll", "s", "squeezeAll", squeeze_all=True)
    n.expect("squeezeAll", s[0, :, 0])
    b.add_expand_dims("expand", "v", "expand", [0, -1])
    n.expect("expand", v[None, :, None])
    b.add_flatten_to_2d("flat2", "x", "flat2", axis=-1)
    n.expect("flat2", x.reshape(6, 4))
    b.add_reshape_static("reshape", "x", "reshape", [4, -1, 2])
    n.expect("reshape", x.reshape(4, 3, 2))
    b.add_rank_preserving_reshape("keepRank", "x", "keepRank", [0, 2, -1])
    n.expect("keepRank", x.reshape(2, 2, 6))
    b.add_reshape_like("like", ["x", "reshape"], "like")
    n.expect("like", x.reshape(4, 3, 2))
    b.add_get_shape("shape", "y", "shape")
    n.expect("shape", [2, 3, 4])
    b.add_load_constant_nd("reversed", "reversed", np.float32([4, 3, 2]), [3])
    b.add_reshape_dynamic("dynamic", ["x", "reversed"], "dynamic")
    n.expect("dynamic", x.reshape(4, 3, 2))
    b.add_transpose("transpose", [4, 0, 3, 1, 2], "k", "transpose")
    n.expect("transpose", k.transpose(4, 0, 3, 1, 2))
    b.add_tile("tile", "x", "tile", [2, 1, 3])
    n.expect("tile", np.tile(x, (2, 1, 3)))
    b.add_fill_like("fillLike", "x", "fillLike", 2.5)
    n.expect("fillLike", np.full_like(x, 2.5))
    b.add_fill_static("fillStatic", "fillStatic", [2, 2], -1)
    n.expect("fillStatic", np.full((2, 2), -1))
    b.add_fill_dynamic("fillDynamic", "shape", "fillDynamic", 3)
    n.expect("fillDynamic", np.full((2, 3, 4), 3))
    b.add_broadcast_to_static("broadcast", "squeeze", "broadcast", [4, 3, 2])
    n.expect("broadcast", np.broadcast_to(s[0, :, 0], (4, 3, 2)))
    b.add_broadcast_to_like("broadcastLike", ["squeeze", "dynamic"], "broadcastLike")
    n.expect("broadcastLike", np.broadcast_to(s[0, :, 0], (4, 3, 2)))
    b.add_range_static("range", "range", end=7, start=1, step=2)
    n.expect("range", [1, 3, 5])
    b.add_concat_nd("concat", ["x", "y"], "concat", axis=-1)
    n.expect("concat", np.concatenate([x, y], -1))
    b.add_concat_nd("interleave", ["x", "y"], "interleave", axis=1, interleave=True)
    n.expect("interleave", np.stack([x, y], 2).reshape(2, 6, 4))
    b.add_stack("stack", ["x", "y"], "stack", axis=-1)
    n.expect("stack", np.stack([x, y], -1))
    b.add_split_nd("split", "x", ["splitA", "splitB"], -1, num_splits=2)
    n.expect("splitA", x[..., :2])
    n.expect("splitB", x[..., 2:])
    b.add_split_nd("parts", "x", ["partA", "partB"], axis=1, split_sizes=[1, 2])
    n.expect("partA", x[:, :1])
    n.expect("partB", x[:, 1:])
    b.add_constant_pad("pad", ["x"], "pad", 1.5, pad_amounts=[0, 1, 2, 0, 1, 1])
    n.expect("pad", np.pad(x, [(0, 1), (2, 0), (1, 1)], constant_values=1.5))
    b.add_constant_pad("padTo", ["x"], "padTo", 0, True, [0, 4, 5, 0, 0, 0])
    n.expect("padTo", np.pad(x, [(0, 2), (2, 0), (0, 0)]))
    b.add_slice_static("slice", "x", "slice", [0, -1, 3], [2, -4, 0], [1, -2, -2], [False] * 3, [True, False, False], [False] * 3)
    n.expect("slice", x[:, -1:-4:-2, 3:0:-2])
    b.add_slice_static("sliceSqueeze", "x", "sliceSqueeze", [1, 0, 1], [2, 3, 4], [1, 1, 1], [False] * 3, [False] * 3,
                       squeeze_masks=[True, False, False])
    n.expect("sliceSqueeze", x[1, :, 1:])
    b.add_load_constant_nd("begin", "begin", np.float32([1]), [1])
    b.add_slice_by_size("bySize", ["x", "begin"], "bySize", 1, 2)
    n.expect("bySize", x[:, 1:3])
    b.add_sliding_windows("windows", "x", "windows", 2, 3, 1)
    n.expect("windows", np.stack([x[..., 0:3], x[..., 1:4]], 2))
    b.add_reverse("reverse", "x", "reverse", [True, False, True])
    n.expect("reverse", x[::-1, :, ::-1])
    n.save()


def nd_selection():
    n = Net("nd_selection", True, x=random(90, 3, 4, 5), i=np.float32([2, 0, -1]), l=np.float32([2, 4, 1]), d=np.float32([1, 2, 0]),
            g=np.float32(np.random.RandomState(91).randint(-4, 4, (3, 2, 5))), c=np.float32([[0, 1], [2, -1]]),
            ux=random(92, 3, 4, 5), ug=random(93, 3, 2, 5), uc=random(94, 2, 5), h=np.float32([[0, 2], [-1, 1]]))
    x, b = n["x"], n.b
    i, g, c, h = (n[key].astype(int) for key in "igch")
    b.add_gather("gather", ["x", "i"], "gather", axis=1)
    n.expect("gather", x[:, i])
    b.add_gather_along_axis("gatherAlong", ["x", "g"], "gatherAlong", axis=1)
    n.expect("gatherAlong", np.take_along_axis(x, g % 4, 1))
    b.add_gather_nd("gatherND", ["x", "c"], "gatherND")
    n.expect("gatherND", x[c[:, 0], c[:, 1]])
    y = x.copy()
    for j, at in enumerate(i):
        y[at] += n["ux"][j]
    b.add_scatter("scatter", ["x", "i", "ux"], "scatter", axis=0, mode="ADD")
    n.expect("scatter", y)
    y = x.copy()
    for r, q, t in np.ndindex(*g.shape):
        y[r, g[r, q, t], t] = max(y[r, g[r, q, t], t], n["ug"][r, q, t])
    b.add_scatter_along_axis("scatterAlong", ["x", "g", "ug"], "scatterAlong", axis=1, mode="MAX")
    n.expect("scatterAlong", y)
    y = x.copy()
    y[c[:, 0], c[:, 1]] = n["uc"]
    b.add_scatter_nd("scatterND", ["x", "c", "uc"], "scatterND", mode="UPDATE")
    n.expect("scatterND", y)
    for bottom in (False, True):
        name = "bottom" if bottom else "top"
        order = np.argsort(x if bottom else -x, axis=1)[:, :3]
        b.add_topk(name, ["x"], [name + "Values", name + "Indices"], 3, 1, bottom)
        n.expect(name + "Values", np.take_along_axis(x, order, 1))
        n.expect(name + "Indices", order)
    b.add_argsort("argsort", "x", "argsort", axis=-1, descending=True)
    n.expect("argsort", np.argsort(-x, axis=-1))
    b.add_argmax("argmax", "x", "argmax", axis=-2, keepdims=False)
    n.expect("argmax", x.argmax(1))
    b.add_argmin("argmin", "x", "argmin", axis=2, keepdims=True)
    n.expect("argmin", x.argmin(2)[..., None])
    b.add_matrix_band_part("band", "x", "band", 1, 0)
    n.expect("band", np.stack([np.triu(np.tril(m), -1) for m in x]))
    b.add_lower_triangular("lower", "x", "lower", 1)
    n.expect("lower", np.stack([np.tril(m, 1) for m in x]))
    b.add_upper_triangular("upper", "x", "upper", 1)
    n.expect("upper", np.stack([np.triu(m, 1) for m in x]))
    b.add_one_hot("oneHot", ["h"], "oneHot", one_hot_vector_size=4, axis=1, on_value=2, off_value=-1)
    n.expect("oneHot", np.moveaxis(np.where(np.eye(4)[h % 4] == 1, 2, -1), -1, 1))
    b.add_cumsum("cumsum", ["x"], "cumsum", axis=1)
    n.expect("cumsum", x.cumsum(1))
    b.add_cumsum("cumsumBack", ["x"], "cumsumBack", axis=-1, reverse=True, exclusive=True)
    n.expect("cumsumBack", x[..., ::-1].cumsum(-1)[..., ::-1] - x)
    y = x.copy()
    for r, length in enumerate(n["l"].astype(int)):
        y[r, :length] = x[r, :length][::-1]
    b.add_reverse_sequence("reverseSequence", ["x", "l"], "reverseSequence", batch_axis=0, seq_axis=1)
    n.expect("reverseSequence", y)
    n.save()


def nd_mathematics():
    n = Net("nd_mathematics", True, x=random(100, 2, 3, 4), y=random(101, 4, 5), m=random(102, 3, 4), p=random(103, 2, 3, 4, low=0.2, high=2),
            t=np.float32([[2], [0], [3]]), q=random(104, 2, 4, 3, 3), w=random(105, 4))
    x, p, q, b = n["x"], n["p"], n["q"], n.b
    for name, f in [("l1", lambda a, **k: abs(a).sum(**k)), ("l2", lambda a, **k: np.sqrt((a * a).sum(**k))), ("max", np.max),
                    ("min", np.min), ("sum", np.sum), ("prod", np.prod), ("mean", np.mean),
                    ("logsum", lambda a, **k: np.log(a.sum(**k))), ("sumsquare", lambda a, **k: (a * a).sum(**k)),
                    ("logsumexp", lambda a, **k: np.log(np.exp(a).sum(**k)))]:
        for label, kw, axes in [("", dict(axes=[-1, 0], keepdims=False), (0, 2)), ("Keep", dict(axes=[1], keepdims=True), (1,)),
                                ("All", dict(reduce_all=True, keepdims=False), None)]:
            getattr(b, "add_reduce_" + name)(name + label, "p", name + label, **kw)
            want = f(p, axis=axes, keepdims=kw["keepdims"])
            n.expect(name + label, np.reshape(want, want.shape or (1,)))
    b.add_reduce_mean("pixels", "q", "pixels", axes=[2, 3], keepdims=True)
    n.expect("pixels", q.mean((2, 3), keepdims=True))
    b.add_softmax_nd("softmax1", "x", "softmax1", axis=1)
    n.expect("softmax1", np.exp(x) / np.exp(x).sum(1, keepdims=True))
    b.add_softmax_nd("softmaxLast", "x", "softmaxLast", axis=-1)
    n.expect("softmaxLast", np.exp(x) / np.exp(x).sum(-1, keepdims=True))
    b.add_batched_mat_mul("product", ["x", "y"], "product")
    n.expect("product", x @ n["y"])
    b.add_batched_mat_mul("productT", ["x", "m"], "productT", transpose_b=True)
    n.expect("productT", x @ n["m"].T)
    b.add_batched_mat_mul("vector", ["x", "w"], "vector")
    n.expect("vector", x @ n["w"][:, None])
    w, bias = random(106, 4, 6), random(107, 6)
    b.add_batched_mat_mul("weights", ["x"], "weights", weight_matrix_rows=4, weight_matrix_columns=6, W=w, bias=bias)
    n.expect("weights", x @ w.astype(np.float64) + bias)
    wi = random(108, 5, 4)
    b.add_inner_product("dense3", wi, bias[:5], 4, 5, True, "x", "dense3")
    n.expect("dense3", x @ wi.astype(np.float64).T + bias[:5])
    wd = random(109, 5, 36)
    b.add_inner_product("dense4", wd, None, 36, 5, False, "q", "dense4")
    n.expect("dense4", (q.reshape(2, 36) @ wd.astype(np.float64).T)[:, :, None, None])
    g, o = random(110, 3, 4), random(111, 3, 4)
    b.add_layer_normalization("layerNorm", "x", "layerNorm", [3, 4], g, o, eps=0.01)
    mu, var = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    n.expect("layerNorm", (x - mu) / np.sqrt(var + 0.01) * g + o)
    table = random(112, 3, 4)  # embedding size, vocabulary
    b.add_embedding_nd("embedding", "t", "embedding", vocab_size=4, embedding_size=3, W=table, b=bias[:3])
    n.expect("embedding", table.T[[2, 0, 3]].astype(np.float64) + bias[:3])
    b.add_copy("copy", "x", "copy")
    n.expect("copy", x)
    n.save()


if __name__ == "__main__":
    nd_elementwise()
    nd_shapes()
    nd_selection()
    nd_mathematics()
