"""Convolutions and pooling, over images and volumes."""

import numpy as np
import torch
import torch.nn.functional as F

from layercase import nd, old, rnd, t


def same(n, k, s, d=1, top_left=False):
    total = max(0, (-(-n // s) - 1) * s + (k - 1) * d + 1 - n)
    return ((total + 1) // 2, total // 2) if top_left else (total // 2, (total + 1) // 2)


def conv(x, w, b=None, stride=(1, 1), dilation=(1, 1), groups=1, pad=((0, 0), (0, 0))):
    x = F.pad(t(x)[None] if x.ndim == 3 else t(x), (*pad[1], *pad[0]))
    y = F.conv2d(x, t(w), None if b is None else t(b), stride=stride, dilation=dilation, groups=groups)
    return y.numpy()


def add_conv(b, w, bias=None, stride=(1, 1), dilation=(1, 1), groups=1, mode="valid", deconv=False, shape=None, pads=None,
             asymmetric="BOTTOM_RIGHT_HEAVY", inputs="x"):
    # The builder wants [height, width, in / groups, out].
    o, i, h, wd = w.shape
    layer_w = w.transpose(2, 3, 1, 0) if not deconv else w.transpose(2, 3, 0, 1)
    out = o if not deconv else i * groups
    kernel = i if not deconv else o
    options = dict(zip(["padding_top", "padding_bottom", "padding_left", "padding_right"], pads or [0, 0, 0, 0]))
    b.add_convolution(
        "conv", kernel, out, h, wd, stride[0], stride[1], mode, groups, layer_w, bias, bias is not None,
        is_deconv=deconv, output_shape=shape, input_name=inputs, output_name="y", dilation_factors=list(dilation),
        same_padding_asymmetry_mode=asymmetric, **options)


def convolutions():
    x, w, b = rnd(4, 7, 6), rnd(6, 4, 3, 2), rnd(6)
    old("convolution valid", lambda n: add_conv(n, w, b), x, conv(x, w, b))
    old("convolution pads stride", lambda n: add_conv(n, w, b, (2, 1), pads=[1, 0, 2, 1]), x,
        conv(x, w, b, (2, 1), pad=((1, 0), (2, 1))))
    for top_left in (False, True):
        mode = "TOP_LEFT_HEAVY" if top_left else "BOTTOM_RIGHT_HEAVY"
        pad = (same(7, 3, 2, 1, top_left), same(6, 2, 2, 1, top_left))
        old(f"convolution same {mode}", lambda n: add_conv(n, w, b, (2, 2), mode="same", asymmetric=mode), x,
            conv(x, w, b, (2, 2), pad=pad))
    pad = (same(7, 3, 1, 2), same(6, 2, 1, 2))
    old("convolution same dilated", lambda n: add_conv(n, w, None, dilation=(2, 2), mode="same"), x,
        conv(x, w, None, dilation=(2, 2), pad=pad))
    wg = rnd(6, 2, 3, 3)
    old("convolution groups", lambda n: add_conv(n, wg, b, groups=2), x, conv(x, wg, b, groups=2))
    wd = rnd(4, 1, 3, 3)
    old("convolution depthwise", lambda n: add_conv(n, wd, None, groups=4, mode="same"), x,
        conv(x, wd, None, groups=4, pad=((1, 1), (1, 1))))
    batch = rnd(2, 4, 5, 5)
    nd("convolution batch", lambda n: add_conv(n, w, b), batch, conv(batch, w, b))
    dynamic = {"x": rnd(1, 4, 5, 5), "w": rnd(3, 4, 3, 3)}

    def dynamic_weights(n):
        n.add_convolution("conv", 4, 3, 3, 3, 1, 1, "valid", 1, None, None, False, input_name=["x", "w"], output_name="y")
    nd("convolution weights as input", dynamic_weights, dynamic, conv(dynamic["x"], dynamic["w"]))

    def deconv(x, w, b, stride, groups=1, crop=((0, 0), (0, 0)), out=None):
        y = F.conv_transpose2d(t(x)[None], t(w), None if b is None else t(b), stride=stride, groups=groups).numpy()
        if out is not None:
            grown = np.zeros(y.shape[:2] + out) + (0 if b is None else b[:, None, None])
            part = y[:, :, :out[0], :out[1]]
            grown[:, :, :part.shape[2], :part.shape[3]] = part
            return grown
        (tp, bt), (l, r) = crop
        return y[:, :, tp:y.shape[2] - bt, l:y.shape[3] - r]
    wt, bt = rnd(4, 3, 3, 3), rnd(3)
    old("deconvolution valid", lambda n: add_conv(n, wt, bt, (2, 2), deconv=True), x, deconv(x, wt, bt, (2, 2)))
    old("deconvolution pads", lambda n: add_conv(n, wt, bt, (2, 2), deconv=True, pads=[1, 1, 1, 0]), x,
        deconv(x, wt, bt, (2, 2), crop=((1, 1), (1, 0))))
    old("deconvolution same", lambda n: add_conv(n, wt, bt, (2, 2), deconv=True, mode="same"), x,
        deconv(x, wt, bt, (2, 2), crop=((0, 1), (0, 1))))
    # PyTorch: padding 1, output_padding 1.
    y = F.conv_transpose2d(t(x)[None], t(wt), t(bt), stride=2, padding=1, output_padding=1).numpy()
    old("deconvolution output shape", lambda n: add_conv(n, wt, bt, (2, 2), deconv=True, pads=[1, 1, 1, 1], shape=(14, 12)), x, y)
    wg2 = rnd(4, 2, 2, 2)
    old("deconvolution groups", lambda n: add_conv(n, wg2, None, (2, 2), groups=2, deconv=True), x,
        deconv(x, wg2, None, (2, 2), groups=2))

    def volume(name, x, w, b, stride, dilation, pad, mode, groups=1):
        def build(n):
            n.add_convolution3d(
                "conv", input_channels=x.shape[1], output_channels=w.shape[0], depth=w.shape[2], height=w.shape[3], width=w.shape[4],
                W=w, b=b, has_bias=b is not None, groups=groups, stride_depth=stride[0], stride_height=stride[1],
                stride_width=stride[2], dilation_depth=dilation[0], dilation_height=dilation[1], dilation_width=dilation[2],
                padding_mode=mode, padding_front=pad[0], padding_back=pad[1], padding_top=pad[2], padding_bottom=pad[3],
                padding_left=pad[4], padding_right=pad[5], input_name="x", output_name="y")
        if mode == "same":
            amounts = [same(n, k, s, d) for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation)]
            pad = [v for pair in amounts for v in pair]
        padded = F.pad(t(x), (pad[4], pad[5], pad[2], pad[3], pad[0], pad[1]))
        y = F.conv3d(padded, t(w), None if b is None else t(b), stride=stride, dilation=dilation, groups=groups).numpy()
        nd(name, build, x, y)
    x3, w3, b3 = rnd(2, 2, 5, 6, 4), rnd(4, 2, 3, 2, 2), rnd(4)
    volume("convolution3d custom", x3, w3, b3, (1, 2, 1), (1, 1, 2), [1, 0, 1, 2, 0, 1], "custom")
    volume("convolution3d same", x3, w3, None, (2, 1, 2), (1, 1, 1), [0] * 6, "same")
    volume("convolution3d groups", x3, rnd(4, 1, 2, 2, 2), b3, (1, 1, 1), (1, 1, 1), [0] * 6, "valid", groups=2)





def pool(x, kind, k, s, pads, exclude, out=None):
    """Plain loops over windows; pads is (top, bottom, left, right)."""
    c, h, w = x.shape
    oh = (h + pads[0] + pads[1] - k[0]) // s[0] + 1 if out is None else out[0]
    ow = (w + pads[2] + pads[3] - k[1]) // s[1] + 1 if out is None else out[1]
    y = np.zeros((c, oh, ow))
    for i in range(oh):
        for j in range(ow):
            t0, l0 = i * s[0] - pads[0], j * s[1] - pads[2]
            rows = range(max(t0, 0), min(t0 + k[0], h))
            cols = range(max(l0, 0), min(l0 + k[1], w))
            window = x[:, rows.start:rows.stop, cols.start:cols.stop]
            if kind == "MAX":
                y[:, i, j] = window.max((1, 2))
            elif kind == "L2":
                y[:, i, j] = np.sqrt((window ** 2).sum((1, 2)))
            else:
                full = (min(t0 + k[0], h + pads[1]) - t0) * (min(l0 + k[1], w + pads[3]) - l0)
                y[:, i, j] = window.sum((1, 2)) / (window[0].size if exclude else full)
    return y


def pooling():
    x = rnd(3, 7, 8)

    def build(kind, k, s, mode, exclude=True, pads=(0, 0, 0, 0), glob=False, same_mode="BOTTOM_RIGHT_HEAVY"):
        return lambda n: n.add_pooling(
            "pool", k[0], k[1], s[0], s[1], kind, mode, "x", "y", exclude_pad_area=exclude, is_global=glob, padding_top=pads[0],
            padding_bottom=pads[1], padding_left=pads[2], padding_right=pads[3], same_padding_asymmetry_mode=same_mode)
    for kind, exclude in (("MAX", True), ("AVERAGE", True), ("AVERAGE", False), ("L2", True)):
        label = f"pooling {kind}" + ("" if exclude else " counting padding")
        k, s, pads = (3, 2), (2, 3), (1, 1, 0, 1)
        old(label + " pads", build(kind, k, s, "VALID", exclude, pads), x, pool(x, kind, k, s, pads, exclude))
        pads = (*same(7, 3, 2), *same(8, 2, 3))
        old(label + " same", build(kind, k, s, "SAME", exclude), x, pool(x, kind, k, s, pads, exclude))
        pads = (*same(7, 3, 2, 1, True), *same(8, 2, 3, 1, True))
        old(label + " same top", build(kind, k, s, "SAME", exclude, same_mode="TOP_LEFT_HEAVY"), x,
            pool(x, kind, k, s, pads, exclude))
        reference = {"MAX": x.max((1, 2)), "AVERAGE": x.mean((1, 2)), "L2": np.sqrt((x ** 2).sum((1, 2)))}[kind]
        old(label + " global", build(kind, (1, 1), (1, 1), "VALID", exclude, glob=True), x, reference)
    for h, k, s, p in ((6, 3, 2, 0), (7, 3, 2, 1), (5, 2, 2, 0), (6, 3, 3, 1), (13, 3, 2, 0)):
        z = rnd(2, h, h)
        out = -(-(h + 2 * p - k) // s) + 1
        if p > 0 and (out - 1) * s >= h + p:
            out -= 1
        for kind in ("MAX", "AVERAGE"):
            old(f"pooling {kind} last pixel {h} {k} {s} {p}",
                build(kind, (k, k), (s, s), "INCLUDE_LAST_PIXEL", True, (p, p, p, p)), z,
                pool(z, kind, (k, k), (s, s), (p, p, p, p), True, (out, out)))
    v = rnd(1, 2, 5, 6, 4)

    def pool3(kind, exclude, mode, pads=None):
        def build(n):
            extra = dict(zip(["custom_padding_front", "custom_padding_back", "custom_padding_top", "custom_padding_bottom",
                              "custom_padding_left", "custom_padding_right"], pads or [0] * 6))
            n.add_pooling3d("pool", "x", "y", kind, 2, 3, 2, 1, 2, 2, padding_mode=mode,
                            average_pooling_count_excludes_padding=exclude, **extra)
        k, s = (2, 3, 2), (1, 2, 2)
        amounts = pads or [v for n, kk, ss in zip(v_shape, k, s) for v in (same(n, kk, ss) if mode == "SAME" else (0, 0))]
        value = -np.inf if kind == "MAX" else 0
        f, ba, tp, bo, le, ri = amounts
        padded = F.pad(t(v), (le, ri, tp, bo, f, ba), value=float(value))
        if kind == "MAX":
            y = F.max_pool3d(padded, k, s)
        else:
            ones = F.pad(torch.ones_like(t(v)), (le, ri, tp, bo, f, ba))
            total, inside = F.avg_pool3d(padded, k, s), F.avg_pool3d(ones, k, s)
            y = total / inside if exclude else total
        return build, y.numpy()
    v_shape = v.shape[2:]
    for kind, exclude, mode, pads in (("MAX", True, "CUSTOM", [1, 0, 1, 1, 0, 1]), ("AVERAGE", True, "CUSTOM", [1, 1, 1, 1, 0, 1]),
                                      ("AVERAGE", False, "SAME", None), ("MAX", True, "VALID", None)):
        builder, y = pool3(kind, exclude, mode, pads)
        nd(f"pooling3d {kind} {mode} {exclude}", builder, v, y)
    nd("globalPooling3d AVERAGE", lambda n: n.add_global_pooling3d("pool", "x", "y", "AVERAGE"), v, v.mean((2, 3, 4), keepdims=True))
    nd("globalPooling3d MAX", lambda n: n.add_global_pooling3d("pool", "x", "y", "MAX"), v, v.max((2, 3, 4), keepdims=True))
