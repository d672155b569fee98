"""Runs a Keras network in double precision with numpy alone, straight from the Keras weights.

It shares nothing with the .mlmodel writer but the list of layers: it is what the models and the
engine are held against.
"""

import numpy as np

from keras_networks import Layer, Network


def probabilities(network: Network, pixels: np.ndarray) -> np.ndarray:
    """The probability of each label, float64 (labels). `pixels`: (1, C, H, W), values 0...255."""
    values: dict[str, np.ndarray] = {}
    for layer in network.layers:
        if layer.kind == "InputLayer":
            image = pixels[0].astype(np.float64).transpose(1, 2, 0)
            values[layer.name] = image * network.scale + network.bias
        else:
            values[layer.name] = _run(layer, [values[name] for name in layer.inputs])
    return values[network.layers[-1].name].reshape(-1)


def _run(layer: Layer, inputs: list[np.ndarray]) -> np.ndarray:
    """One layer on (H, W, C) arrays."""
    x, config, weights = inputs[0], layer.config, layer.weights
    match layer.kind:
        case "Conv2D":
            y = _convolve(x, weights["kernel"], config["strides"], config["padding"])
            y = y + weights["bias"] if config["use_bias"] else y
            return _activate(y, config["activation"])
        case "DepthwiseConv2D":
            y = _depthwise(x, weights["depthwise_kernel"], config["strides"], config["padding"])
            return _activate(y, config["activation"])
        case "SeparableConv2D":
            y = _depthwise(x, weights["depthwise_kernel"], config["strides"], config["padding"])
            y = _convolve(y, weights["pointwise_kernel"], [1, 1], "valid")
            return _activate(y, config["activation"])
        case "BatchNormalization":
            deviation = np.sqrt(weights["moving_variance"].astype(np.float64) + config["epsilon"])
            return (x - weights["moving_mean"]) / deviation * weights["gamma"] + weights["beta"]
        case "Activation":
            return _activate(x, config["activation"])
        case "MaxPooling2D":
            windows = _windows(x, config["pool_size"], config["strides"], config["padding"], -np.inf)
            return windows.max(axis=(-2, -1))
        case "GlobalAveragePooling2D":
            return x.mean(axis=(0, 1))
        case "Reshape":
            return x.reshape(config["target_shape"])
        case "Add":
            return sum(inputs[1:], start=x)
        case "Dropout":
            return x
    raise SystemExit(f"{layer.name}: no rule for a {layer.kind} layer")


def _activate(x: np.ndarray, name: str) -> np.ndarray:
    match name:
        case "linear":
            return x
        case "relu":
            return np.maximum(x, 0)
        case "relu6":
            return np.clip(x, 0, 6)
        case "softmax":
            shifted = np.exp(x - x.max(axis=-1, keepdims=True))
            return shifted / shifted.sum(axis=-1, keepdims=True)
    raise SystemExit(f"no rule for the activation {name}")


def _windows(x: np.ndarray, kernel, strides, padding: str, fill: float) -> np.ndarray:
    """Every window of an (H, W, C) array: (outH, outW, C, kH, kW). "same" gives the odd one to the end."""
    if padding == "same":
        amounts = []
        for size, k, stride in zip(x.shape, kernel, strides):
            total = max(0, (-(-size // stride) - 1) * stride + k - size)
            amounts.append((total // 2, total - total // 2))
        x = np.pad(x, [*amounts, (0, 0)], constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, tuple(kernel), axis=(0, 1))
    return view[::strides[0], ::strides[1]]


def _convolve(x: np.ndarray, kernel: np.ndarray, strides, padding: str) -> np.ndarray:
    windows = _windows(x, kernel.shape[:2], strides, padding, 0.0)
    return np.einsum("xycij,ijco->xyo", windows, kernel.astype(np.float64), optimize=True)


def _depthwise(x: np.ndarray, kernel: np.ndarray, strides, padding: str) -> np.ndarray:
    windows = _windows(x, kernel.shape[:2], strides, padding, 0.0)
    return np.einsum("xycij,ijcm->xycm", windows, kernel.astype(np.float64),
                     optimize=True).reshape(*windows.shape[:2], -1)
