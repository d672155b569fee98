"""Resampling, cropping, padding and rearranging of pixels."""

import numpy as np
import torch.nn.functional as F

from layercase import nd, old, rnd, t


def grid(mode, extent, count):
    if mode == "STRICT_ALIGN_ENDPOINTS_MODE" or (mode == "ALIGN_ENDPOINTS_MODE" and count > 1):
        points = np.linspace(0, extent - 1, count)
    elif mode == "ALIGN_ENDPOINTS_MODE":
        points = np.array([(extent - 1) / 2])
    elif mode == "UPSAMPLE_MODE":
        points = np.linspace(0, extent - extent / count, count)
    else:
        spacing = max(1, extent - 1) / count
        points = spacing / 2 + spacing * np.arange(count)
    return np.clip(points, 0, extent - 1)


def sample(x, rows, cols):
    def mix(x, points, axis):
        low = np.floor(points).astype(int)
        high = np.minimum(low + 1, x.shape[axis] - 1)
        shape = [1] * x.ndim
        shape[axis] = len(points)
        weight = (points - low).reshape(shape)
        return np.take(x, low, axis) * (1 - weight) + np.take(x, high, axis) * weight
    return mix(mix(x, rows, x.ndim - 2), cols, x.ndim - 1)


def space():
    x = rnd(2, 5, 4)
    old("upsample NN", lambda n: n.add_upsample("u", 2, 3, "x", "y", "NN"), x, x.repeat(2, 1).repeat(3, 2))
    upsample = {"DEFAULT": lambda e, f: grid("UPSAMPLE_MODE", e, e * f), "ALIGN_CORNERS_TRUE": lambda e, f: np.linspace(0, e - 1, e * f),
                "ALIGN_CORNERS_FALSE": lambda e, f: np.clip((np.arange(e * f) + 0.5) / f - 0.5, 0, e - 1)}
    for mode, points in upsample.items():
        old(f"upsample BILINEAR {mode}", lambda n: n.add_upsample("u", 2, 3, "x", "y", "BILINEAR", mode), x, sample(x, points(5, 2), points(4, 3)))
    for mode in ("STRICT_ALIGN_ENDPOINTS_MODE", "ALIGN_ENDPOINTS_MODE", "UPSAMPLE_MODE", "ROI_ALIGN_MODE"):
        for size in ((8, 3), (1, 7), (1, 1)):
            old(f"resizeBilinear {mode} {size}", lambda n: n.add_resize_bilinear("r", "x", "y", size[0], size[1], mode), x,
                sample(x, grid(mode, 5, size[0]), grid(mode, 4, size[1])))
    boxes = np.array([[0.25, 0.5, 3.5, 2.75], [1.0, 0.0, 4.0, 3.0], [2.0, 1.0, 2.5, 3.75]])
    orders = {"CORNERS_HEIGHT_FIRST": [0, 1, 2, 3], "CORNERS_WIDTH_FIRST": [1, 0, 3, 2]}

    def crops(mode, size):
        result = []
        for y0, x0, y1, x1 in boxes:
            def points(a, b, count):
                if mode == "UPSAMPLE_MODE":
                    return np.linspace(a, a + (b - a + 1) - (b - a + 1) / count, count)
                if mode == "ROI_ALIGN_MODE":
                    spacing = max(1, b - a) / count
                    return a + spacing / 2 + spacing * np.arange(count)
                if mode == "ALIGN_ENDPOINTS_MODE" and count == 1:
                    return np.array([(a + b) / 2])
                return np.linspace(a, b, count)
            # The points stay inside the box, whatever the mode.
            rows, columns = np.clip(points(y0, y1, size[0]), y0, y1), np.clip(points(x0, x1, size[1]), x0, x1)
            result.append(sample(x, np.clip(rows, 0, 4), np.clip(columns, 0, 3)))
        return np.array(result)
    for mode in ("STRICT_ALIGN_ENDPOINTS_MODE", "ALIGN_ENDPOINTS_MODE", "UPSAMPLE_MODE", "ROI_ALIGN_MODE"):
        for order, places in orders.items():
            nd(f"cropResize {mode} {order}",
               lambda n: n.add_crop_resize("c", ["x", "b"], "y", 3, 1, mode, False, order, 0.5),
               {"x": x[None, None], "b": (boxes * 2)[:, places].reshape(3, 1, 4, 1, 1)}, crops(mode, (3, 1)).reshape(3, 1, 2, 3, 1))
    centre = np.stack([(boxes[:, 0] + boxes[:, 2]) / 2 / 4, (boxes[:, 1] + boxes[:, 3]) / 2 / 3, (boxes[:, 2] - boxes[:, 0]) / 4,
                       (boxes[:, 3] - boxes[:, 1]) / 3], 1)
    for order, places in {"CENTER_SIZE_HEIGHT_FIRST": [0, 1, 2, 3], "CENTER_SIZE_WIDTH_FIRST": [1, 0, 3, 2]}.items():
        rows = np.concatenate([np.zeros((3, 1)), centre[:, places]], 1)
        nd(f"cropResize normalised {order}",
           lambda n: n.add_crop_resize("c", ["x", "b"], "y", 2, 4, "STRICT_ALIGN_ENDPOINTS_MODE", True, order, 1.0),
           {"x": x[None, None], "b": rows.reshape(3, 1, 5, 1, 1)}, crops("STRICT_ALIGN_ENDPOINTS_MODE", (2, 4)).reshape(3, 1, 2, 2, 4))
    old("crop", lambda n: n.add_crop("c", 1, 0, 2, 1, [0, 0], ["x"], "y"), x, x[:, 2:4, 1:])
    old("crop to second", lambda n: n.add_crop("c", 0, 0, 0, 0, [2, 1], ["x", "z"], "y"), {"x": x, "z": rnd(2, 3, 2)}, x[:, 2:5, 1:3])
    for kind, mode in (("constant", "constant"), ("reflection", "reflect"), ("replication", "edge")):
        extra = {"constant_values": 1.5} if kind == "constant" else {}
        old(f"padding {kind}", lambda n: n.add_padding("p", 1, 2, 3, 1, 1.5, "x", "y", kind), x, np.pad(x, ((0, 0), (3, 1), (1, 2)), mode, **extra))
    z = rnd(8, 4, 6)
    c, h, w = z.shape
    old("reorganizeData SPACE_TO_DEPTH", lambda n: n.add_reorganize_data("r", "x", "y", "SPACE_TO_DEPTH", 2), z,
        z.reshape(c, h // 2, 2, w // 2, 2).transpose(2, 4, 0, 1, 3).reshape(c * 4, h // 2, w // 2))
    old("reorganizeData DEPTH_TO_SPACE", lambda n: n.add_reorganize_data("r", "x", "y", "DEPTH_TO_SPACE", 2), z,
        z.reshape(2, 2, c // 4, h, w).transpose(2, 3, 0, 4, 1).reshape(c // 4, h * 2, w * 2))
    old("reorganizeData PIXEL_SHUFFLE", lambda n: n.add_reorganize_data("r", "x", "y", "PIXEL_SHUFFLE", 2), z,
        F.pixel_shuffle(t(z)[None], 2).numpy())
