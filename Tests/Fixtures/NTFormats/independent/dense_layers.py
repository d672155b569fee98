"""Dense layers, normalisations and reductions."""

import numpy as np

from layercase import nd, old, rnd


def dense():
    w, b = rnd(5, 12), rnd(5)

    def build(n):
        n.add_inner_product("d", w, b, 12, 5, True, "x", "y")
    x = rnd(3, 2, 2)
    old("innerProduct flattens", build, x, w @ x.ravel() + b)
    v = rnd(12)
    old("innerProduct vector", build, v, w @ v + b)
    for shape in ((12,), (3, 12), (2, 3, 12)):
        z = rnd(*shape)
        nd(f"innerProduct rank {len(shape)}", build, z, z @ w.T + b)
    z = rnd(2, 3, 2, 2)
    nd("innerProduct rank 4", build, z, (z.reshape(2, 12) @ w.T + b).reshape(2, 5, 1, 1))
    z = rnd(2, 1, 3, 2, 2)
    nd("innerProduct rank 5", build, z, (z.reshape(2, 12) @ w.T + b).reshape(2, 1, 5, 1, 1))
    table, tb = rnd(4, 9), rnd(4)
    old("embedding", lambda n: n.add_embedding("e", table, tb, 9, 4, True, "x", "y"), np.array([7.0]), table[:, 7] + tb)
    i = np.array([[3.0], [0.0], [8.0]])
    nd("embeddingND", lambda n: n.add_embedding_nd("e", "x", "y", 9, 4, table, tb), i, table.T[i[:, 0].astype(int)] + tb)
    a, c = rnd(2, 3, 4), rnd(2, 4, 5)
    nd("batchedMatmul", lambda n: n.add_batched_mat_mul("m", ["a", "b"], "y"), {"a": a, "b": c}, a @ c)
    nd("batchedMatmul transposed", lambda n: n.add_batched_mat_mul("m", ["a", "b"], "y", transpose_a=True, transpose_b=True),
       {"a": rnd(2, 4, 3) * 0 + a.transpose(0, 2, 1), "b": c.transpose(0, 2, 1)}, a @ c)
    nd("batchedMatmul vector", lambda n: n.add_batched_mat_mul("m", ["a", "b"], "y"), {"a": a[0, 0], "b": c[0]}, (a[0, 0] @ c[0])[None])
    m, mb = rnd(4, 6), rnd(6)
    nd("batchedMatmul weights", lambda n: n.add_batched_mat_mul("m", ["x"], "y", weight_matrix_rows=4, weight_matrix_columns=6, W=m, bias=mb),
       a, a @ m + mb)


def normalisation():
    x = rnd(3, 4, 5)
    gamma, beta, mean, var = rnd(3), rnd(3), rnd(3), rnd(3, low=0.25, high=2)
    c = lambda v: v[:, None, None]
    old("batchnorm", lambda n: n.add_batchnorm("b", 3, gamma, beta, mean, var, "x", "y", epsilon=1e-3), x,
        c(gamma) * (x - c(mean)) / np.sqrt(c(var) + 1e-3) + c(beta))
    tiny = var * 1e-5
    old("batchnorm standard epsilon", lambda n: n.add_batchnorm("b", 3, gamma, beta, mean, tiny, "x", "y", epsilon=0), x,
        c(gamma) * (x - c(mean)) / np.sqrt(c(tiny) + 1e-5) + c(beta))
    own = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-3)
    old("batchnorm instance",
        lambda n: n.add_batchnorm("b", 3, gamma, beta, None, None, "x", "y", compute_mean_var=True, instance_normalization=True, epsilon=1e-3),
        x, c(gamma) * own + c(beta))
    z = rnd(2, 3, 4, 5)
    whole = (z - z.mean((0, 2, 3), keepdims=True)) / np.sqrt(z.var((0, 2, 3), keepdims=True) + 1e-3)
    def statistics(n):
        # The builder refuses the flags together, the format allows them.
        n.add_batchnorm("b", 3, gamma, beta, None, None, "x", "y", compute_mean_var=True, instance_normalization=True, epsilon=1e-3)
        n.nn_spec.layers[0].batchnorm.instanceNormalization = False
    nd("batchnorm batch statistics", statistics, z, c(gamma) * whole + c(beta))
    for across, axes in ((True, (0, 1, 2)), (False, (1, 2))):
        for variance in (True, False):
            y = x - x.mean(axes, keepdims=True)
            y = y / np.sqrt(x.var(axes, keepdims=True) + 1e-3) if variance else y
            old(f"mvn {across} {variance}", lambda n: n.add_mvn("m", "x", "y", across, variance, 1e-3), x, y)
    old("l2normalize", lambda n: n.add_l2_normalize("l", "x", "y", epsilon=1e-3), x, x / np.sqrt((x ** 2).sum() + 1e-3))
    soft = lambda v, axis: np.exp(v - v.max(axis, keepdims=True)) / np.exp(v - v.max(axis, keepdims=True)).sum(axis, keepdims=True)
    old("softmax", lambda n: n.add_softmax("s", "x", "y"), x * 4, soft(x * 4, 0))
    for axis in (0, 1, -1):
        nd(f"softmaxND {axis}", lambda n: n.add_softmax_nd("s", "x", "y", axis), x * 4, soft(x * 4, axis))
    v = rnd(2, 2, 3, 2, 2)
    nd("softmaxND rank 5", lambda n: n.add_softmax_nd("s", "x", "y", 1), v, soft(v, 1))
    wide = rnd(7, 2, 3)
    for size, k in ((5, 1.0), (3, 2.0), (4, 1.0)):
        y = np.zeros_like(wide)
        for channel in range(7):
            low = channel - (size - 1) // 2
            window = wide[max(0, low):min(7, low + size)]
            y[channel] = wide[channel] / (k + 0.5 / size * (window ** 2).sum(0)) ** 0.75
        old(f"lrn {size}", lambda n: n.add_lrn("l", "x", "y", 0.5, 0.75, size, k), wide, y)
    g, bt = rnd(4, 5), rnd(4, 5)
    own = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
    nd("layerNormalization", lambda n: n.add_layer_normalization("l", "x", "y", [4, 5], g, bt, 1e-5), x, own * g + bt)


def reductions():
    x = rnd(3, 4, 5, low=0.5, high=2)
    axes = {"CHW": (0, 1, 2), "C": (0,), "H": (1,), "W": (2,)}
    functions = {
        "sum": lambda a: x.sum(a, keepdims=True), "avg": lambda a: x.mean(a, keepdims=True), "prod": lambda a: x.prod(a, keepdims=True),
        "logsum": lambda a: np.log(x + 0.25).sum(a, keepdims=True), "sumsquare": lambda a: (x ** 2).sum(a, keepdims=True),
        "L1": lambda a: np.abs(x).sum(a, keepdims=True), "L2": lambda a: np.sqrt((x ** 2).sum(a, keepdims=True)),
        "max": lambda a: x.max(a, keepdims=True), "min": lambda a: x.min(a, keepdims=True),
    }
    for mode, f in functions.items():
        old(f"reduce {mode} HW", lambda n: n.add_reduce("r", "x", "y", "HW", mode, epsilon=0.25), x, f((1, 2)))
    for axis, a in axes.items():
        old(f"reduce avg {axis}", lambda n: n.add_reduce("r", "x", "y", axis, "avg"), x, x.mean(a, keepdims=True))
    for axis in ("C", "H", "W"):
        old(f"reduce argmax {axis}", lambda n: n.add_reduce("r", "x", "y", axis, "argmax"), x, np.expand_dims(x.argmax(axes[axis][0]), axes[axis]))
    nds = {
        "l1": lambda a, k: np.abs(x).sum(a, keepdims=k), "l2": lambda a, k: np.sqrt((x ** 2).sum(a, keepdims=k)),
        "max": lambda a, k: x.max(a, keepdims=k), "min": lambda a, k: x.min(a, keepdims=k), "sum": lambda a, k: x.sum(a, keepdims=k),
        "prod": lambda a, k: x.prod(a, keepdims=k), "mean": lambda a, k: x.mean(a, keepdims=k),
        "logsum": lambda a, k: np.log(x.sum(a, keepdims=k)), "sumsquare": lambda a, k: (x ** 2).sum(a, keepdims=k),
        "logsumexp": lambda a, k: np.log(np.exp(x).sum(a, keepdims=k)),
    }
    for name, f in nds.items():
        nd(f"reduce_{name}", lambda n: getattr(n, "add_reduce_" + name)("r", "x", "y", axes=[-1, 0], keepdims=False, reduce_all=False), x, f((0, 2), False))
    nd("reduce_sum keeps", lambda n: n.add_reduce_sum("r", "x", "y", axes=[1], keepdims=True, reduce_all=False), x, x.sum(1, keepdims=True))
    nd("reduce_sum all", lambda n: n.add_reduce_sum("r", "x", "y", axes=[1], keepdims=False, reduce_all=True), x, [x.sum()])
    for name in ("argmax", "argmin"):
        f = getattr(np, name)
        nd(name, lambda n: getattr(n, "add_" + name)("r", "x", "y", -2, keepdims=False), x, f(x, 1))
        nd(name + " keeps", lambda n: getattr(n, "add_" + name)("r", "x", "y", -2, keepdims=True), x, np.expand_dims(f(x, 1), 1))
    for bottom in (False, True):
        order = np.argsort(x if bottom else -x, axis=1, kind="stable")[:, :3]
        nd(f"topK {bottom}", lambda n: n.add_topk("t", ["x"], ["v", "i"], 3, 1, bottom), x, {"v": np.take_along_axis(x, order, 1), "i": order})
        nd(f"argSort {bottom}", lambda n: n.add_argsort("t", "x", "y", axis=2, descending=not bottom), x,
           np.argsort(x if bottom else -x, axis=2, kind="stable"))
    for exclusive in (False, True):
        for reverse in (False, True):
            z = x[:, ::-1] if reverse else x
            y = np.cumsum(z, 1) - (z if exclusive else 0)
            nd(f"cumSum {exclusive} {reverse}", lambda n: n.add_cumsum("c", ["x"], "y", axis=1, reverse=reverse, exclusive=exclusive), x,
               y[:, ::-1] if reverse else y)
