"""Weight encodings, image preprocessing and batches."""

import numpy as np
import torch.nn.functional as F
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

from convolution_layers import add_conv, conv
from layercase import new, random, rnd, save, t


def encodings():
    x, w, b = rnd(4, 6, 5), rnd(6, 4, 3, 3), rnd(6)

    def built():
        builder = new({"x": x}, {"y": None}, False)
        add_conv(builder, w, b)
        return builder
    half = built()
    p = half.spec.neuralNetwork.layers[0].convolution
    for params, values in ((p.weights, w), (p.bias, b)):
        params.ClearField("floatValue")
        params.float16Value = values.astype(np.float16).tobytes()
    save("weights float16", half, {"x": x}, {"y": conv(x, w.astype(np.float16).astype(np.float64), b.astype(np.float16).astype(np.float64))}, exact=False)
    for bits in range(1, 9):
        for mode in ("linear", "lookup", "linear one"):
            builder = built()
            params = builder.spec.neuralNetwork.layers[0].convolution.weights
            params.ClearField("floatValue")
            integers = random.integers(0, 1 << bits, w.size)
            # Most significant bit first, the tail filled with zeros.
            stream = "".join(format(v, f"0{bits}b") for v in integers)
            stream += "0" * (-len(stream) % 8)
            params.rawValue = bytes(int(stream[k:k + 8], 2) for k in range(0, len(stream), 8))
            params.quantization.numberOfBits = bits
            if mode == "lookup":
                table = rnd(1 << bits)
                params.quantization.lookupTableQuantization.floatValue.extend(table)
                decoded = table[integers]
            else:
                count = 6 if mode == "linear" else 1
                scale, bias = rnd(count, low=0.01, high=0.1), rnd(count)
                params.quantization.linearQuantization.scale.extend(scale)
                params.quantization.linearQuantization.bias.extend(bias)
                decoded = (integers.reshape(6, -1) * scale[:, None] + bias[:, None]).ravel()
            save(f"weights {mode} {bits}", builder, {"x": x}, {"y": conv(x, decoded.reshape(w.shape), b)}, exact=False)
    wt = rnd(4, 3, 2, 2)
    builder = new({"x": x}, {"y": None}, False)
    add_conv(builder, wt, None, (2, 2), deconv=True)
    params = builder.spec.neuralNetwork.layers[0].convolution.weights
    params.ClearField("floatValue")
    integers, scale, bias = random.integers(0, 256, wt.shape), rnd(3, low=0.01, high=0.1), rnd(3)
    params.rawValue = integers.astype(np.uint8).tobytes()
    params.quantization.numberOfBits = 8
    params.quantization.linearQuantization.scale.extend(scale)
    params.quantization.linearQuantization.bias.extend(bias)
    decoded = integers * scale[None, :, None, None] + bias[None, :, None, None]
    save("weights linear deconvolution", builder, {"x": x},
         {"y": F.conv_transpose2d(t(x)[None], t(decoded), stride=2).numpy()}, exact=False)
    m = random.integers(-127, 128, (5, 12))
    builder = new({"x": rnd(12)}, {"y": None}, False)
    v = rnd(12)
    builder.add_inner_product("d", np.zeros((5, 12)), None, 12, 5, False, "x", "y")
    params = builder.spec.neuralNetwork.layers[0].innerProduct
    params.int8DynamicQuantize = True
    params.weights.ClearField("floatValue")
    params.weights.int8RawValue = m.astype(np.int8).tobytes()
    params.weights.quantization.numberOfBits = 8
    params.weights.quantization.linearQuantization.scale.append(0.03125)
    save("weights int8", builder, {"x": v}, {"y": (m * 0.03125) @ v}, exact=False)


def images():
    for mapping in (False, True):
        for color, channels in (("RGB", 3), ("BGR", 3), ("GRAYSCALE", 1)):
            x = np.floor(random.uniform(0, 256, (channels, 4, 5)))
            builder = NeuralNetworkBuilder([("image", datatypes.Array(channels, 4, 5))], [("y", None)], disable_rank5_shape_mapping=mapping)
            builder.add_activation("a", "LINEAR", "image", "y", [2.0, 0.5])
            feature = builder.spec.description.input[0].type
            feature.ClearField("multiArrayType")
            feature.imageType.width, feature.imageType.height = 5, 4
            feature.imageType.colorSpace = {"RGB": 20, "BGR": 30, "GRAYSCALE": 10}[color]
            step = builder.nn_spec.preprocessing.add()
            step.featureName = "image" if mapping else ""
            step.scaler.channelScale = 0.0078125
            step.scaler.redBias, step.scaler.greenBias, step.scaler.blueBias, step.scaler.grayBias = -1.0, -0.75, -0.5, 0.25
            biases = {"RGB": [-1.0, -0.75, -0.5], "BGR": [-0.5, -0.75, -1.0], "GRAYSCALE": [0.25]}[color]
            y = 2 * (x * 0.0078125 + np.array(biases)[:, None, None]) + 0.5
            save(f"image {color} {'rank4' if mapping else 'rank5'}", builder, {"image": x[None]}, {"y": y}, exact=False)
            both = np.stack([x, x[:, ::-1]])
            save(f"image {color} {'rank4' if mapping else 'rank5'} batch", builder, {"image": both},
                 {"y": np.stack([y, y[:, ::-1]])}, batch=2, exact=False)
    x, mean = np.floor(random.uniform(0, 256, (3, 4, 5))), rnd(3, 4, 5, low=0, high=128)
    builder = NeuralNetworkBuilder([("image", datatypes.Array(3, 4, 5))], [("y", None)])
    builder.add_activation("a", "LINEAR", "image", "y", [2.0, 0.5])
    feature = builder.spec.description.input[0].type
    feature.ClearField("multiArrayType")
    feature.imageType.width, feature.imageType.height, feature.imageType.colorSpace = 5, 4, 20
    step = builder.nn_spec.preprocessing.add()
    step.featureName = "image"
    step.meanImage.meanImage.extend(mean.ravel())
    save("image mean", builder, {"image": x[None]}, {"y": 2 * (x - mean) + 0.5}, exact=False)


def batches():
    w, b, d, db = rnd(6, 3, 3, 3), rnd(6), rnd(4, 6), rnd(4)
    x = rnd(3, 3, 6, 6)

    def net(n):
        add_conv(n, w, b, mode="same")
        n.add_pooling("p", 1, 1, 1, 1, "AVERAGE", "VALID", "y", "p", is_global=True)
    def reference(v):
        return conv(v, w, b, pad=((1, 1), (1, 1))).mean((2, 3)) @ d.T + db
    for exact in (False, True):
        shape = (1, 3, 6, 6) if exact else (3, 6, 6)
        builder = NeuralNetworkBuilder([("x", datatypes.Array(*shape))], [("out", None)], disable_rank5_shape_mapping=exact)
        net(builder)
        if exact:
            builder.add_reshape_static("r", "p", "f", (1, 6))
            builder.add_inner_product("d", d, db, 6, 4, True, "f", "out")
        else:
            builder.add_flatten("r", 0, "p", "f")
            builder.add_inner_product("d", d, db, 6, 4, True, "f", "out")
        for batch in (1, 3):
            value = x[:batch].reshape((batch,) + shape[-3:])
            save(f"batch {batch} {'exact' if exact else 'rank5'}", builder, {"x": value}, {"out": reference(x[:batch])}, batch=batch, exact=False)
