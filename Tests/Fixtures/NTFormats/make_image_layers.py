"""Networks of the older, image-shaped layers: [C, H, W] inputs under the rank-5 mapping. See netcase.py for the files."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from netcase import Net, random

T = lambda a: torch.from_numpy(np.asarray(a, np.float64))
sigmoid = lambda x: 1 / (1 + np.exp(-x))


def activations():
    n = Net("activations", False, x=random(1, 3, 4, 5))
    x, b = n["x"], n.b
    c = lambda v: np.asarray(v, np.float64)[:, None, None]
    a1, a2 = np.float32([0.1, 0.5, -0.3]), np.float32([1.5, 0.7, 2.0])
    for name, kind, params, want in [
        ("relu", "RELU", None, np.maximum(x, 0)),
        ("leaky", "LEAKYRELU", [0.25], np.where(x < 0, 0.25 * x, x)),
        ("thresholded", "THRESHOLDEDRELU", 0.5, np.where(x >= 0.5, x, 0)),
        ("prelu", "PRELU", a1, np.where(x < 0, c(a1) * x, x)),
        ("prelu1", "PRELU", np.float32([0.5]), np.where(x < 0, 0.5 * x, x)),
        ("tanh", "TANH", None, np.tanh(x)),
        ("scaledTanh", "SCALED_TANH", [1.5, 0.5], 1.5 * np.tanh(0.5 * x)),
        ("sigmoid", "SIGMOID", None, sigmoid(x)),
        ("hardSigmoid", "SIGMOID_HARD", [0.25, 0.5], np.clip(0.25 * x + 0.5, 0, 1)),
        ("linear", "LINEAR", [2.0, -0.5], 2 * x - 0.5),
        ("elu", "ELU", 0.75, np.where(x < 0, 0.75 * np.expm1(x), x)),
        ("softsign", "SOFTSIGN", None, x / (1 + abs(x))),
        ("softplus", "SOFTPLUS", None, np.log1p(np.exp(x))),
        ("parametric", "PARAMETRICSOFTPLUS", [a1, a2], c(a1) * np.log1p(np.exp(c(a2) * x))),
    ]:
        b.add_activation(name, kind, "x", name, params)
        n.expect(name, want)
    s, h, alpha, eps = 1.5, 4.0, 1.25, 1e-3
    y = s * x + h
    for mode, want in [
        ("sqrt", np.sqrt(y)), ("rsqrt", 1 / np.sqrt(y + eps)), ("inverse", 1 / (y + eps)), ("power", y ** alpha),
        ("exp", np.exp(y)), ("log", np.log(y)), ("abs", abs(y)), ("threshold", np.maximum(alpha, y)),
    ]:
        b.add_unary("u" + mode, "x", "u" + mode, mode, alpha=alpha, shift=h, scale=s, epsilon=eps)
        n.expect("u" + mode, want)
    n.save()


def same(size, kernel, stride, dilation=1, heavy_last=True):
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size)
    return (total // 2, total - total // 2) if heavy_last else (total - total // 2, total // 2)


def convolutions():
    n = Net("convolutions", False, x=random(2, 4, 7, 8), v=random(3, 2, 4, 5), d=random(4, 12))
    x, b = n["x"], n.b
    w = random(5, 3, 3, 4, 6)  # H W I O
    bias = random(6, 6)
    wt = T(w).permute(3, 2, 0, 1)
    conv = lambda pad, **k: F.conv2d(F.pad(T(x)[None], pad), wt, T(bias), **k)[0].numpy()

    def add(name, want, **k):
        args = dict(kernel_channels=4, output_channels=6, height=3, width=3, stride_height=1, stride_width=1,
                    border_mode="valid", groups=1, W=w, b=bias, has_bias=True, input_name="x", output_name=name)
        args.update(k)
        b.add_convolution(name, **args)
        n.expect(name, want)

    add("valid", conv((0, 0, 0, 0)))
    add("padded", conv((2, 1, 1, 0), stride=(2, 1)), stride_height=2, padding_top=1, padding_left=2, padding_right=1)
    sh, sw = same(7, 3, 2), same(8, 3, 2)
    add("same", conv((sw[0], sw[1], sh[0], sh[1]), stride=2), border_mode="same", stride_height=2, stride_width=2)
    sh, sw = same(7, 3, 2, heavy_last=False), same(8, 3, 2, heavy_last=False)
    add("sameTop", conv((sw[0], sw[1], sh[0], sh[1]), stride=2), border_mode="same", stride_height=2, stride_width=2,
        same_padding_asymmetry_mode="TOP_LEFT_HEAVY")
    add("dilated", conv((0, 0, 0, 0), dilation=(2, 3)), dilation_factors=[2, 3])
    wg = random(7, 3, 2, 2, 6)
    add("grouped", F.conv2d(T(x)[None], T(wg).permute(3, 2, 0, 1), groups=2)[0].numpy(), W=wg, height=3, width=2,
        groups=2, kernel_channels=2, b=None, has_bias=False)
    wd = random(8, 3, 3, 1, 4)
    add("depthwise", F.conv2d(T(x)[None], T(wd).permute(3, 2, 0, 1), T(bias[:4]), groups=4, padding=1)[0].numpy(), W=wd,
        groups=4, kernel_channels=1, output_channels=4, b=bias[:4], padding_top=1, padding_bottom=1, padding_left=1, padding_right=1)

    v = T(n["v"])[None]
    wt2 = random(9, 3, 4, 2, 3)  # H W kernelChannels(in) O/g: the builder's order for deconvolution
    tw = T(wt2).permute(2, 3, 0, 1)

    def deconv(name, want, **k):
        args = dict(kernel_channels=2, output_channels=3, height=3, width=4, stride_height=2, stride_width=3,
                    border_mode="valid", groups=1, W=wt2, b=bias[:3], has_bias=True, is_deconv=True, input_name="v",
                    output_name=name)
        args.update(k)
        b.add_convolution(name, **args)
        n.expect(name, want)

    full = F.conv_transpose2d(v, tw, T(bias[:3]), stride=(2, 3))[0].numpy()
    deconv("deconv", full)
    deconv("deconvCut", full[:, 1:-1, 2:-1], padding_top=1, padding_bottom=1, padding_left=2, padding_right=1)
    deconv("deconvSame", full[:, 0:8, 0:15], border_mode="same")  # surplus 1 and 1: all of it at the end
    wg2 = random(10, 3, 3, 2, 2)
    deconv("deconvGroups", F.conv_transpose2d(v, T(wg2).permute(2, 3, 0, 1), stride=2, groups=2)[0].numpy(), W=wg2, width=3,
           stride_width=2, groups=2, output_channels=4, has_bias=False, b=None)

    wi, bi = random(11, 5, 4 * 7 * 8), random(12, 5)
    b.add_inner_product("dense", wi, bi, 4 * 7 * 8, 5, True, "x", "dense")
    n.expect("dense", (wi.astype(np.float64) @ x.ravel() + bi), declared=[5])
    wi2 = random(13, 3, 5)
    b.add_inner_product("dense2", wi2, None, 5, 3, False, "dense", "dense2")
    b.add_softmax("softmax", "dense2", "softmax")
    logits = wi2.astype(np.float64) @ (wi.astype(np.float64) @ x.ravel() + bi)
    e = np.exp(logits - logits.max())
    n.expect("softmax", (e / e.sum())[:, None, None])
    b.add_inner_product("denseVector", wi2[:, :1] * np.ones((3, 12), np.float32), None, 12, 3, False, "d", "denseVector")
    n.expect("denseVector", (wi2[:, :1].astype(np.float64) * np.ones((3, 12))) @ n["d"], declared=[3])
    n.save()


def pool(x, kind, kernel, stride, pads, exclude=True, last=False):
    """Pooling by its definition. pads: top, bottom, left, right."""
    C, H, W = x.shape
    outs = []
    for size, k, s, (p, q) in [(H, kernel[0], stride[0], pads[:2]), (W, kernel[1], stride[1], pads[2:])]:
        if last:
            o = math.ceil((size + 2 * p - k) / s) + 1
            if p > 0 and (o - 1) * s >= size + p:
                o -= 1
        else:
            o = (size + p + q - k) // s + 1
        outs.append(o)
    y = np.zeros((C, *outs))
    for i in range(outs[0]):
        for j in range(outs[1]):
            r0, c0 = i * stride[0] - pads[0], j * stride[1] - pads[2]
            r1, c1 = min(r0 + kernel[0], H + pads[1]), min(c0 + kernel[1], W + pads[3])
            w = x[:, max(r0, 0):min(r1, H), max(c0, 0):min(c1, W)]
            if kind == "MAX":
                y[:, i, j] = w.max((1, 2))
            elif kind == "AVERAGE":
                y[:, i, j] = w.sum((1, 2)) / (w.shape[1] * w.shape[2] if exclude else (r1 - r0) * (c1 - c0))
            else:
                y[:, i, j] = np.sqrt((w * w).sum((1, 2)))
    return y


def pools():
    n = Net("pools", False, x=random(20, 3, 8, 7))
    x, b = n["x"], n.b
    for name, kind, k, s, pad, kw in [
        ("max", "MAX", (2, 3), (2, 2), "VALID", {}),
        ("maxPad", "MAX", (3, 3), (2, 1), "VALID", dict(padding_top=1, padding_bottom=1, padding_left=1, padding_right=1)),
        ("average", "AVERAGE", (3, 2), (1, 2), "VALID", dict(padding_top=1, padding_bottom=0, padding_left=0, padding_right=1)),
        ("averageCounting", "AVERAGE", (3, 3), (2, 2), "VALID",
         dict(padding_top=1, padding_bottom=1, padding_left=1, padding_right=1, exclude_pad_area=False)),
        ("l2", "L2", (2, 2), (2, 2), "VALID", {}),
        ("maxSame", "MAX", (3, 3), (2, 2), "SAME", {}),
        ("averageSame", "AVERAGE", (3, 2), (3, 3), "SAME", {}),
        ("maxLast", "MAX", (3, 3), (2, 2), "INCLUDE_LAST_PIXEL", {}),
        ("maxLastPad", "MAX", (3, 3), (2, 3), "INCLUDE_LAST_PIXEL", dict(padding_top=1, padding_bottom=1, padding_left=1, padding_right=1)),
        ("averageLast", "AVERAGE", (2, 3), (3, 2), "INCLUDE_LAST_PIXEL", {}),
        ("averageLastCounting", "AVERAGE", (2, 2), (2, 3), "INCLUDE_LAST_PIXEL",
         dict(padding_top=1, padding_bottom=1, padding_left=1, padding_right=1, exclude_pad_area=False)),
    ]:
        b.add_pooling(name, k[0], k[1], s[0], s[1], kind, pad, "x", name, **{**dict(exclude_pad_area=True), **kw})
        pads = [kw.get("padding_" + e, 0) for e in ("top", "bottom", "left", "right")]
        if pad == "SAME":
            pads = [*same(8, k[0], s[0]), *same(7, k[1], s[1])]
        n.expect(name, pool(x, kind, k, s, pads, kw.get("exclude_pad_area", True), pad == "INCLUDE_LAST_PIXEL"))
    b.add_pooling("globalAverage", 0, 0, 1, 1, "AVERAGE", "VALID", "x", "globalAverage", is_global=True)
    n.expect("globalAverage", x.mean((1, 2)), declared=[3])
    b.add_pooling("globalMax", 0, 0, 1, 1, "MAX", "VALID", "x", "globalMax", is_global=True)
    n.expect("globalMax", x.max((1, 2), keepdims=True))
    n.save()


if __name__ == "__main__":
    activations()
    convolutions()
    pools()
