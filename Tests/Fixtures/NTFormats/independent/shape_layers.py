"""Shapes, slices, gathering and scattering."""

import numpy as np

from layercase import nd, old, rnd


def shapes():
    x = rnd(4, 3, 2)
    hwc = x.transpose(1, 2, 0)
    old("flatten first", lambda n: n.add_flatten("f", 0, "x", "y"), x, x.ravel())
    old("flatten last", lambda n: n.add_flatten("f", 1, "x", "y"), x, hwc.ravel())
    old("reshape first", lambda n: n.add_reshape("r", "x", "y", (2, 6, 2), 0), x, x.reshape(2, 6, 2))
    old("reshape last", lambda n: n.add_reshape("r", "x", "y", (2, 6, 2), 1), x, hwc.reshape(6, 2, 2).transpose(2, 0, 1))

    def there_and_back(n):
        n.add_reshape("r", "x", "a", (3, 4, 2, 1), 0)
        n.add_permute("p", (1, 2, 0, 3), "a", "b")
        n.add_reshape("s", "b", "y", (1, 24, 1, 1), 0)
    old("reshape to sequence and permute", there_and_back, x, x.reshape(3, 4, 2, 1).transpose(1, 2, 0, 3).ravel())
    for axes in ((0, 3, 1, 2), (0, 2, 3, 1), (0, 1, 3, 2)):
        old(f"permute {axes}", lambda n: n.add_permute("p", axes, "x", "y"), x, x.transpose([a - 1 for a in axes[1:]]))
    z = rnd(2, 3, 2)
    old("concat", lambda n: n.add_elementwise("c", ["a", "b"], "y", "CONCAT"), {"a": x, "b": z}, np.concatenate([x, z]))
    def sequences(n):
        n.add_elementwise("c", ["a", "b"], "s", "SEQUENCE_CONCAT")
        n.add_sequence_repeat("r", 2, "s", "t")
        n.add_reshape("f", "t", "y", (1, 96, 1, 1), 0)
    w = rnd(4, 3, 2)
    old("sequence concat and repeat", sequences, {"a": x, "b": w}, np.tile(np.concatenate([x.ravel(), w.ravel()]), 2))
    old("split", lambda n: n.add_split("s", "x", ["y", "z"]), x, {"y": x[:2], "z": x[2:]})
    for axis, place in (("channel", 0), ("height", 1), ("width", 2)):
        wide = rnd(5, 6, 7)
        for start, end, stride in ((1, 4, 1), (0, -1, 2), (2, -2, 1)):
            part = [slice(None)] * 3
            part[place] = slice(start, end, stride)
            old(f"slice {axis} {start} {end} {stride}", lambda n: n.add_slice("s", "x", "y", axis, start, end, stride), wide, wide[tuple(part)])
    constant = rnd(4, 3, 2)
    def loaded(n):
        n.add_load_constant("k", "k", constant.ravel(), [4, 3, 2])
        n.add_elementwise("a", ["x", "k"], "y", "ADD")
    old("loadConstant", loaded, x, x + constant)

    v = rnd(2, 3, 4)
    nd("transpose", lambda n: n.add_transpose("t", (2, 0, 1), "x", "y"), v, v.transpose(2, 0, 1))
    five = rnd(2, 3, 2, 2, 3)
    nd("transpose rank 5", lambda n: n.add_transpose("t", (4, 1, 3, 0, 2), "x", "y"), five, five.transpose(4, 1, 3, 0, 2))
    nd("reshapeStatic", lambda n: n.add_reshape_static("r", "x", "y", (4, -1)), v, v.reshape(4, 6))
    nd("rankPreservingReshape", lambda n: n.add_rank_preserving_reshape("r", "x", "y", (4, 0, -1)), v, v.reshape(4, 3, 2))
    nd("reshapeLike", lambda n: n.add_reshape_like("r", ["x", "z"], "y"), {"x": v, "z": rnd(6, 4)}, v.reshape(6, 4))
    def dynamic(n):
        n.add_get_shape("g", "z", "s")
        n.add_reshape_dynamic("r", ["x", "s"], "y")
    nd("getShape and reshapeDynamic", dynamic, {"x": v, "z": rnd(6, 4)}, v.reshape(6, 4))
    nd("squeeze", lambda n: n.add_squeeze("s", "x", "y", axes=[0, -2]), v.reshape(1, 6, 1, 4), v.reshape(6, 4))
    nd("squeeze all", lambda n: n.add_squeeze("s", "x", "y", squeeze_all=True), v.reshape(1, 6, 1, 4), v.reshape(6, 4))
    nd("expandDims", lambda n: n.add_expand_dims("e", "x", "y", [0, -1]), v, v[None, ..., None])
    nd("flattenTo2D", lambda n: n.add_flatten_to_2d("f", "x", "y", axis=-1), v, v.reshape(6, 4))
    a, b = rnd(2, 3, 4), rnd(2, 2, 4)
    nd("concatND", lambda n: n.add_concat_nd("c", ["a", "b"], "y", 1), {"a": a, "b": b}, np.concatenate([a, b], 1))
    c = rnd(2, 3, 4)
    nd("concatND interleaved", lambda n: n.add_concat_nd("c", ["a", "b"], "y", 1, interleave=True), {"a": a, "b": c},
       np.stack([a, c], 2).reshape(2, 6, 4))
    nd("stack", lambda n: n.add_stack("s", ["a", "b"], "y", axis=-1), {"a": a, "b": c}, np.stack([a, c], -1))
    nd("splitND sizes", lambda n: n.add_split_nd("s", "x", ["y", "z"], -1, split_sizes=[1, 3]), v, {"y": v[..., :1], "z": v[..., 1:]})
    nd("splitND equal", lambda n: n.add_split_nd("s", "x", ["y", "z"], 2, num_splits=2), v, {"y": v[..., :2], "z": v[..., 2:]})
    nd("tile", lambda n: n.add_tile("t", "x", "y", [2, 3]), v, np.tile(v, (2, 3)))
    nd("broadcastToStatic", lambda n: n.add_broadcast_to_static("b", "x", "y", (5, 2, 3, 4)), v, np.broadcast_to(v, (5, 2, 3, 4)))
    nd("broadcastToLike", lambda n: n.add_broadcast_to_like("b", ["x", "z"], "y"), {"x": v, "z": rnd(5, 2, 3, 4)}, np.broadcast_to(v, (5, 2, 3, 4)))
    nd("reverse", lambda n: n.add_reverse("r", "x", "y", [True, False, True]), v, v[::-1, :, ::-1])
    nd("constantPad", lambda n: n.add_constant_pad("p", ["x"], "y", 1.5, False, [1, 0, 0, 2, 3, 1]), v,
       np.pad(v, ((1, 0), (0, 2), (3, 1)), constant_values=1.5))
    nd("constantPad to size", lambda n: n.add_constant_pad("p", ["x"], "y", 0, True, [0, 4, 5, 0, 0, 0]), v, np.pad(v, ((0, 2), (2, 0), (0, 0))))
    w = rnd(5, 5, 5)
    nd("sliceStatic", lambda n: n.add_slice_static("s", "x", "y", [1, 2, 3], [3, -3, 2], [2, 2, 2], [True, False, True], [False, True, True]),
       w, w[:3:2, 2::2, ::2])
    nd("sliceStatic squeeze",
       lambda n: n.add_slice_static("s", "x", "y", [1, 2, 3], [3, -3, 2], [2, 2, 2], [True, False, True], [False, True, True], [False, True, False]),
       w, w[:3:2, 2, ::2])
    nd("sliceStatic backwards", lambda n: n.add_slice_static("s", "x", "y", [-1, 4, 3], [0, 0, 0], [-1, -2, -1], [False] * 3, [True, False, True]),
       w, w[-1::-1, 4:0:-2, 3::-1])
    def slice_dynamic(n):
        n.add_load_constant_nd("b", "b", np.array([1.0, 0, 2]), [3])
        n.add_load_constant_nd("e", "e", np.array([3.0, 5, -1]), [3])
        n.add_slice_dynamic("s", ["x", "b", "e"], "y", strides=[1, 2, 1], begin_masks=[False] * 3, end_masks=[False] * 3)
    nd("sliceDynamic", slice_dynamic, w, w[1:3, 0:5:2, 2:-1])
    nd("sliceBySize", lambda n: n.add_slice_by_size("s", ["x", "b"], "y", axis=1, size=2), {"x": w, "b": np.array([2.0])}, w[:, 2:4])
    nd("slidingWindows", lambda n: n.add_sliding_windows("s", "x", "y", 1, 3, 2), w, np.stack([w[:, 0:3], w[:, 2:5]], 1))
    nd("fillLike", lambda n: n.add_fill_like("f", "x", "y", 1.5), v, np.full_like(v, 1.5))
    def fills(n):
        n.add_fill_static("f", "f", (3, 4), 2.0)
        n.add_get_shape("g", "x", "s")
        n.add_fill_dynamic("d", "s", "d", 3.0)
        n.add_add_broadcastable("a", ["f", "d"], "e")
        n.add_add_broadcastable("b", ["e", "x"], "y")
    nd("fillStatic and fillDynamic", fills, v, v + 5)
    def ranges(n):
        n.add_range_static("r", "r", None, 9.0, 1.0, 2.0)
        n.add_load_constant_nd("e", "e", np.array([4.0]), [1])
        n.add_range_dynamic("d", ["e"], "d", 0.0, 1.0)
        n.add_add_broadcastable("a", ["r", "d"], "s")
        n.add_add_broadcastable("b", ["s", "x"], "y")
    nd("rangeStatic and rangeDynamic", ranges, v, v + np.arange(1, 9, 2) + np.arange(4))
    m = rnd(2, 4, 5)
    nd("matrixBandPart", lambda n: n.add_matrix_band_part("m", "x", "y", 1, 2), m, np.tril(np.triu(m, -1), 2))
    nd("matrixBandPart open", lambda n: n.add_matrix_band_part("m", "x", "y", -1, 0), m, np.tril(m))
    for k in (-1, 0, 1):
        nd(f"lowerTriangular {k}", lambda n: n.add_lower_triangular("m", "x", "y", k), m, np.tril(m, k))
        nd(f"upperTriangular {k}", lambda n: n.add_upper_triangular("m", "x", "y", k), m, np.triu(m, k))


def indexing():
    x = rnd(4, 5, 3)
    i = np.array([[2.0, -1], [0, 3]])
    nd("gather", lambda n: n.add_gather("g", ["x", "i"], "y", 1), {"x": x, "i": i}, np.take(x, i.astype(int), 1))
    along = np.floor(rnd(4, 2, 3, low=-5, high=5))
    nd("gatherAlongAxis", lambda n: n.add_gather_along_axis("g", ["x", "i"], "y", 1), {"x": x, "i": along}, np.take_along_axis(x, along.astype(int), 1))
    points = np.array([[[1.0, 2], [3, -1]], [[0, 0], [-2, 4]]])
    p = points.astype(int)
    nd("gatherND", lambda n: n.add_gather_nd("g", ["x", "i"], "y"), {"x": x, "i": points}, x[p[..., 0], p[..., 1]])
    modes = {"UPDATE": lambda a, b: b, "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "MAX": np.maximum, "MIN": np.minimum}
    slices, at = rnd(4, 2, 3, low=0.5, high=2), np.array([3.0, -5])
    for mode, f in modes.items():
        y = x.copy()
        for k, place in enumerate(at.astype(int)):
            y[:, place] = f(y[:, place], slices[:, k])
        nd(f"scatter {mode}", lambda n: n.add_scatter("s", ["x", "i", "u"], "y", 1, mode), {"x": x, "i": at, "u": slices}, y)
    spots, values = np.array([[1.0, 2], [-1, 0]]), rnd(2, 3)
    y = x.copy()
    for (a, b), value in zip(spots.astype(int), values):
        y[a, b] += value
    nd("scatterND ADD", lambda n: n.add_scatter_nd("s", ["x", "i", "u"], "y", "ADD"), {"x": x, "i": spots, "u": values}, y)
    where = np.array([[[0.0, 1, -1]], [[2, 2, 2]], [[4, 0, 1]], [[3, 3, -5]]])
    value = rnd(4, 1, 3)
    y = x.copy()
    np.put_along_axis(y, where.astype(int), value, 1)
    nd("scatterAlongAxis UPDATE", lambda n: n.add_scatter_along_axis("s", ["x", "i", "u"], "y", 1, "UPDATE"), {"x": x, "i": where, "u": value}, y)
    lengths = np.array([2.0, 3, 0, 5])
    y = x.copy()
    for b, length in enumerate(lengths.astype(int)):
        y[b, :length] = x[b, :length][::-1]
    nd("reverseSeq", lambda n: n.add_reverse_sequence("r", ["x", "l"], "y", 0, 1), {"x": x, "l": lengths}, y)
    labels = np.array([2.0, 0, -1])
    hot = np.full((3, 4), 0.25)
    hot[np.arange(3), labels.astype(int)] = 2
    nd("oneHot", lambda n: n.add_one_hot("o", ["x"], "y", 4, -1, 2.0, 0.25), labels, hot)
    nd("oneHot first", lambda n: n.add_one_hot("o", ["x"], "y", 4, 0, 2.0, 0.25), labels, hot.T)
