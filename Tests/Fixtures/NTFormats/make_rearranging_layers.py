"""Networks of the older layers that move, scale and combine images. See netcase.py for the files."""
import numpy as np
import torch
import torch.nn.functional as F

from netcase import Net, random

T = lambda a: torch.from_numpy(np.asarray(a, np.float64))


def elementwise():
    n = Net("elementwise", False, x=random(30, 3, 4, 5), y=random(31, 3, 4, 5), c=random(32, 3, 1, 1), m=random(33, 1, 4, 5))
    x, y, c, m, b = n["x"], n["y"], n["c"], n["m"], n.b
    for name, inputs, mode, want in [
        ("add2", ["x", "y"], "ADD", x + y), ("add3", ["x", "y", "c"], "ADD", x + y + c), ("addMap", ["x", "m"], "ADD", x + m),
        ("multiply2", ["x", "c"], "MULTIPLY", x * c), ("max", ["x", "y"], "MAX", np.maximum(x, y)),
        ("min", ["x", "y"], "MIN", np.minimum(x, y)), ("average", ["x", "y", "x"], "AVE", (2 * x + y) / 3),
    ]:
        b.add_elementwise(name, inputs, name, mode)
        n.expect(name, want)
    b.add_elementwise("addAlpha", ["x"], "addAlpha", "ADD", alpha=1.5)
    n.expect("addAlpha", x + 1.5)
    b.add_elementwise("multiplyAlpha", ["x"], "multiplyAlpha", "MULTIPLY", alpha=-2)
    n.expect("multiplyAlpha", -2 * x)
    s, t = random(34, 3), random(35, 3, 4, 5)
    col = lambda v: v.astype(np.float64).reshape(-1, 1, 1)
    b.add_scale("scaleChannel", s, s * 2, True, "x", "scaleChannel", [3], [3])
    n.expect("scaleChannel", x * col(s) + col(s) * 2)
    b.add_scale("scaleOne", np.float32([0.5]), None, False, "x", "scaleOne", [1])
    n.expect("scaleOne", x * 0.5)
    b.add_scale("scaleFull", t, s, True, "x", "scaleFull", [3, 4, 5], [3])
    n.expect("scaleFull", x * t.astype(np.float64) + col(s))
    b.add_bias("biasMap", t[:1], "x", "biasMap", [1, 4, 5])
    n.expect("biasMap", x + t[:1].astype(np.float64))
    b.add_bias("biasChannel", s, "x", "biasChannel", [3])
    n.expect("biasChannel", x + col(s))
    b.add_load_constant("constant", "constant", t, [3, 4, 5])
    b.add_elementwise("addConstant", ["x", "constant"], "addConstant", "ADD")
    n.expect("addConstant", x + t)
    b.add_flatten("fx", 0, "x", "fx")
    b.add_flatten("fy", 0, "y", "fy")
    b.add_elementwise("dot", ["fx", "fy"], "dot", "DOT")
    n.expect("dot", np.reshape((x * y).sum(), (1, 1, 1)))
    b.add_elementwise("cosine", ["fx", "fy"], "cosine", "COS")
    n.expect("cosine", np.reshape((x * y).sum() / np.sqrt((x * x).sum() * (y * y).sum()), (1, 1, 1)))
    n.save()


def normalizations():
    n = Net("normalizations", False, x=random(40, 6, 3, 4))
    x, b = n["x"], n.b
    g, o, mean, var = random(41, 6), random(42, 6), random(43, 6), random(44, 6, low=0.1, high=2)
    col = lambda v: v.astype(np.float64)[:, None, None]
    b.add_batchnorm("batchnorm", 6, g, o, mean, var, "x", "batchnorm", epsilon=1e-3)
    n.expect("batchnorm", col(g) * (x - col(mean)) / np.sqrt(col(var) + np.float64(np.float32(1e-3))) + col(o))
    b.add_batchnorm("batchnormDefault", 6, g, o, mean, var, "x", "batchnormDefault", epsilon=0)
    n.expect("batchnormDefault", col(g) * (x - col(mean)) / np.sqrt(col(var) + 1e-5) + col(o))
    b.add_batchnorm("instance", 6, g, o, None, None, "x", "instance", True, True, epsilon=0.01)
    mu, v = x.mean((1, 2), keepdims=True), x.var((1, 2), keepdims=True)
    n.expect("instance", col(g) * (x - mu) / np.sqrt(v + 0.01) + col(o))
    b.add_mvn("mvnAcross", "x", "mvnAcross", True, True, 0.01)
    n.expect("mvnAcross", (x - x.mean()) / np.sqrt(x.var() + 0.01))
    b.add_mvn("mvnMean", "x", "mvnMean", False, False)
    n.expect("mvnMean", x - mu)
    b.add_l2_normalize("l2", "x", "l2", 0.01)
    n.expect("l2", x / np.sqrt((x * x).sum() + 0.01))
    for size, k in [(3, 2.0), (4, 0.0)]:
        b.add_lrn(f"lrn{size}", "x", f"lrn{size}", 0.5, 0.75, size, k)
        want = np.zeros_like(x)
        for ch in range(6):
            lo = ch - (size - 1) // 2
            win = x[max(lo, 0):lo + size]
            want[ch] = x[ch] / ((k or 1) + 0.5 / size * (win * win).sum(0)) ** 0.75
        n.expect(f"lrn{size}", want)
    b.add_softmax("softmaxPixels", "x", "softmaxPixels")
    e = np.exp(x)
    n.expect("softmaxPixels", e / e.sum(0))
    n.save()


def spatial():
    n = Net("spatial", False, x=random(50, 4, 4, 6), r=random(51, 4, 2, 3))
    x, b = n["x"], n.b
    b.add_crop("crop", 1, 2, 0, 1, [0, 0], ["x"], "crop")  # left, right, top, bottom
    n.expect("crop", x[:, 0:3, 1:4])
    b.add_crop("cropLike", 0, 0, 0, 0, [1, 2], ["x", "r"], "cropLike")
    n.expect("cropLike", x[:, 1:3, 2:5])
    pads = dict(left=2, right=1, top=0, bottom=3)
    for kind, mode, kw in [("constant", "constant", dict(constant_values=1.5)), ("reflection", "reflect", {}), ("replication", "edge", {})]:
        b.add_padding("pad" + kind, pads["left"], pads["right"], pads["top"], pads["bottom"], 1.5, "x", "pad" + kind, kind)
        n.expect("pad" + kind, np.pad(x, [(0, 0), (0, 3), (2, 1)], mode, **kw))
    b.add_upsample("nearest", 2, 3, "x", "nearest", "NN")
    n.expect("nearest", x.repeat(2, 1).repeat(3, 2))

    def sample(gy, gx):
        def axis(g, size):
            g = np.clip(g, 0, size - 1)
            lo = np.floor(g).astype(int)
            return lo, np.minimum(lo + 1, size - 1), g - lo
        (y0, y1, fy), (x0, x1, fx) = axis(gy, 4), axis(gx, 6)
        rows = x[:, y0] * (1 - fy)[:, None] + x[:, y1] * fy[:, None]
        return rows[:, :, x0] * (1 - fx) + rows[:, :, x1] * fx

    line = lambda a, b_, k: np.linspace(a, b_, k)
    b.add_upsample("bilinear", 2, 3, "x", "bilinear", "BILINEAR")
    n.expect("bilinear", sample(line(0, 4 - 4 / 8, 8), line(0, 6 - 6 / 18, 18)))
    b.add_upsample("aligned", 2, 2, "x", "aligned", "BILINEAR", "ALIGN_CORNERS_TRUE")
    n.expect("aligned", F.interpolate(T(x)[None], scale_factor=2, mode="bilinear", align_corners=True)[0].numpy())
    b.add_upsample("halfPixel", 2.5, 1.5, "x", "halfPixel", "BILINEAR", "ALIGN_CORNERS_FALSE")
    n.expect("halfPixel", F.interpolate(T(x)[None], size=(10, 9), mode="bilinear", align_corners=False)[0].numpy())
    for mode, h, w, gy, gx in [
        ("STRICT_ALIGN_ENDPOINTS_MODE", 3, 1, line(0, 3, 3), line(0, 0, 1)),
        ("ALIGN_ENDPOINTS_MODE", 1, 4, np.array([1.5]), line(0, 5, 4)),
        ("UPSAMPLE_MODE", 7, 5, line(0, 4 - 4 / 7, 7), line(0, 6 - 6 / 5, 5)),
        ("ROI_ALIGN_MODE", 3, 4, (np.arange(3) + 0.5) * 3 / 3, (np.arange(4) + 0.5) * 5 / 4),
    ]:
        b.add_resize_bilinear(mode, "x", mode, h, w, mode)
        n.expect(mode, sample(gy, gx))
    d = x.reshape(4, 2, 2, 3, 2).transpose(2, 4, 0, 1, 3).reshape(16, 2, 3)
    b.add_reorganize_data("toDepth", "x", "toDepth", "SPACE_TO_DEPTH", 2)
    n.expect("toDepth", d)
    b.add_reorganize_data("toSpace", "x", "toSpace", "DEPTH_TO_SPACE", 2)
    n.expect("toSpace", x.reshape(2, 2, 1, 4, 6).transpose(2, 3, 0, 4, 1).reshape(1, 8, 12))
    n.save()


def rearranging():
    n = Net("rearranging", False, x=random(60, 4, 3, 2), y=random(61, 2, 3, 2))
    x, y, b = n["x"], n["y"], n.b
    b.add_flatten("flatFirst", 0, "x", "flatFirst")
    n.expect("flatFirst", x.ravel(), declared=[24])
    b.add_flatten("flatLast", 1, "x", "flatLast")
    n.expect("flatLast", x.transpose(1, 2, 0).reshape(24, 1, 1))
    b.add_reshape("reshapeFirst", "x", "reshapeFirst", (2, 6, 2), 0)
    n.expect("reshapeFirst", x.reshape(2, 6, 2))
    b.add_reshape("reshapeLast", "x", "reshapeLast", (2, 6, 2), 1)
    n.expect("reshapeLast", x.transpose(1, 2, 0).reshape(6, 2, 2).transpose(2, 0, 1))
    b.add_permute("permute", (0, 3, 1, 2), "x", "permute")
    n.expect("permute", x.transpose(2, 0, 1))
    b.add_permute("permuteSequence", (1, 0, 3, 2), "x", "permuteSequence")  # [Seq, C, H, W] to [C, Seq, W, H]
    n.expect("permuteSequence", x.transpose(0, 2, 1)[:, None, None])
    b.add_elementwise("concat", ["x", "y", "x"], "concat", "CONCAT")
    n.expect("concat", np.concatenate([x, y, x]))
    b.add_elementwise("sequences", ["x", "x"], "sequences", "SEQUENCE_CONCAT")
    n.expect("sequences", np.stack([x, x])[:, None])
    b.add_split("split", "x", ["splitA", "splitB"])
    n.expect("splitA", x[:2])
    n.expect("splitB", x[2:])
    b.add_sequence_repeat("repeat", 3, "y", "repeat")
    n.expect("repeat", np.stack([y] * 3)[:, None])
    b.add_slice("sliceChannel", "x", "sliceChannel", "channel", 0, -1, 2)
    n.expect("sliceChannel", x[0:-1:2])
    b.add_slice("sliceHeight", "x", "sliceHeight", "height", 1, 3, 1)
    n.expect("sliceHeight", x[:, 1:3])
    b.add_slice("sliceWidth", "x", "sliceWidth", "width", 1, 2, 1)
    n.expect("sliceWidth", x[:, :, 1:])
    p = abs(x) + 0.1
    b.add_unary("abs", "x", "abs", "abs")
    b.add_unary("p", "abs", "p", "power", alpha=1, shift=0.1)
    for mode, f in [("sum", np.sum), ("avg", np.mean), ("prod", np.prod), ("sumsquare", lambda a, **k: (a * a).sum(**k)),
                    ("L1", lambda a, **k: abs(a).sum(**k)), ("L2", lambda a, **k: np.sqrt((a * a).sum(**k))),
                    ("max", np.max), ("min", np.min), ("logsum", lambda a, **k: np.log(a + 0.01).sum(**k))]:
        for axis, dims in [("CHW", (0, 1, 2)), ("HW", (1, 2)), ("C", 0), ("H", 1), ("W", 2)]:
            source, name = ("p", f"{mode}{axis}") if mode == "logsum" else ("x", f"{mode}{axis}")
            b.add_reduce(name, source, name, axis, mode, 0.01)
            n.expect(name, f(p if mode == "logsum" else x, axis=dims, keepdims=True))
    b.add_reduce("argmax", "x", "argmax", "H", "argmax")
    n.expect("argmax", x.argmax(1)[:, None])
    n.save()


if __name__ == "__main__":
    elementwise()
    normalizations()
    spatial()
    rearranging()
