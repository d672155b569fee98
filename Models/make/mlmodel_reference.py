"""Runs the layers of a written .mlmodel in double precision with numpy, to check the file itself.

Knows only the layers that mlmodel_writer and Benchmarks/make_networks.py write, by the rules of the NeuralNetwork
message: it reads the protobuf fields, not the weights that the file was made from.
"""

import numpy as np


def probabilities(spec, pixels: np.ndarray) -> np.ndarray:
    """The blob `classLabelProbs`, float64 (labels). `pixels`: (1, C, H, W), values 0...255."""
    network = spec.neuralNetworkClassifier
    return blobs(network, pixels)[network.labelProbabilityLayerName].reshape(-1)


def blobs(network, pixels: np.ndarray) -> dict[str, np.ndarray]:
    """Every blob of a network with the one input `image`, as (C, H, W)."""
    values = {"image": _preprocess(network, pixels[0].astype(np.float64))}
    for layer in network.layers:
        values[layer.output[0]] = _run(layer, [values[name] for name in layer.input])
    return values


def _preprocess(network, image: np.ndarray) -> np.ndarray:
    if not network.preprocessing:
        return image
    scaler = network.preprocessing[0].scaler
    biases = [scaler.grayBias] if image.shape[0] == 1 else [scaler.redBias, scaler.greenBias, scaler.blueBias]
    return image * scaler.channelScale + np.array(biases)[:, None, None]


def _run(layer, inputs: list[np.ndarray]) -> np.ndarray:
    """One layer on (C, H, W) arrays."""
    x = inputs[0]
    match layer.WhichOneof("layer"):
        case "convolution":
            return _convolution(layer.convolution, x)
        case "batchnorm":
            rule = layer.batchnorm
            gamma, beta, mean, variance = (np.array(field.floatValue, dtype=np.float64)[:, None, None]
                                           for field in (rule.gamma, rule.beta, rule.mean, rule.variance))
            return (x - mean) / np.sqrt(variance + rule.epsilon) * gamma + beta
        case "activation":
            if layer.activation.WhichOneof("NonlinearityType") == "ReLU":
                return np.maximum(x, 0)
            return x * layer.activation.linear.alpha + layer.activation.linear.beta
        case "unary":
            return np.maximum(x, layer.unary.alpha)
        case "pooling":
            rule = layer.pooling
            if rule.globalPooling:
                return x.mean(axis=(1, 2), keepdims=True)
            return _windows(x, rule.kernelSize, rule.stride, _amounts(rule, x), -np.inf).max(axis=(-2, -1))
        case "add":
            return sum(inputs[1:], start=x)
        case "concat":
            return np.concatenate(inputs)
        case "innerProduct":
            rule = layer.innerProduct
            weights = np.array(rule.weights.floatValue, dtype=np.float64).reshape(rule.outputChannels, rule.inputChannels)
            return (weights @ x.reshape(-1) + np.array(rule.bias.floatValue))[:, None, None]
        case "softmax":
            shifted = np.exp(x - x.max(axis=0))
            return shifted / shifted.sum(axis=0)
        case "flatten":
            return x.reshape(-1, 1, 1)
    raise SystemExit(f"{layer.name}: no rule for a {layer.WhichOneof('layer')} layer")


def _amounts(rule, x: np.ndarray) -> list[tuple[int, int]]:
    """Padding before and after on height and width."""
    kind = rule.WhichOneof("ConvolutionPaddingType" if hasattr(rule, "nGroups") else "PoolingPaddingType")
    if kind != "same":
        edges = rule.valid.paddingAmounts.borderAmounts
        return [(edge.startEdgeSize, edge.endEdgeSize) for edge in edges] or [(0, 0), (0, 0)]
    result = []
    for size, kernel, stride in zip(x.shape[1:], rule.kernelSize, rule.stride):
        total = max(0, (-(-size // stride) - 1) * stride + kernel - size)
        result.append((total // 2, total - total // 2))
    return result


def _windows(x: np.ndarray, kernel, stride, amounts, fill: float) -> np.ndarray:
    """(C, outH, outW, kH, kW)"""
    padded = np.pad(x, [(0, 0), *amounts], constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(padded, tuple(kernel), axis=(1, 2))
    return view[:, ::stride[0], ::stride[1]]


def _convolution(rule, x: np.ndarray) -> np.ndarray:
    groups = max(1, rule.nGroups)
    weights = np.array(rule.weights.floatValue, dtype=np.float64)
    weights = weights.reshape(rule.outputChannels, rule.kernelChannels, *rule.kernelSize)
    windows = _windows(x, rule.kernelSize, rule.stride, _amounts(rule, x), 0.0)
    parts = [np.einsum("cxyij,ocij->oxy", part, kernels, optimize=True)
             for part, kernels in zip(np.split(windows, groups), np.split(weights, groups))]
    result = np.concatenate(parts)
    return result + np.array(rule.bias.floatValue)[:, None, None] if rule.hasBias else result
