"""Writes a Keras classifier as a Core ML NeuralNetworkClassifier, layer for layer.

Nothing is folded: batch norms stay layers of their own, "same" stays the SAME padding rule, and relu6 is the chain
of ReLU, negation, threshold and negation that Core ML's own converters write.
"""

import coremltools as ct
import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

from keras_networks import Layer, Network


def specification(network: Network, description: str, licence: str, author: str):
    """The Model message (specification version 1): image input `image`, outputs `classLabelProbs` and `classLabel`."""
    shape = (network.channels, network.side, network.side)
    builder = NeuralNetworkBuilder([("image", datatypes.Array(*shape))],
                                   [("classLabelProbs", datatypes.Array(len(network.labels)))], mode="classifier")
    blobs: dict[str, str] = {}
    for layer in network.layers:
        if layer.kind == "InputLayer":
            blobs[layer.name] = "image"
        else:
            blobs[layer.name] = _add(builder, layer, [blobs[name] for name in layer.inputs])
    builder.add_flatten("flatten_probabilities", 0, blobs[network.layers[-1].name], "classLabelProbs")
    builder.set_class_labels(network.labels, predicted_feature_name="classLabel",
                             prediction_blob="classLabelProbs")
    _preprocess(builder, network)
    spec = builder.spec
    spec.description.predictedProbabilitiesName = "classLabelProbs"
    metadata = spec.description.metadata
    metadata.shortDescription, metadata.license, metadata.author = description, licence, author
    spec.description.input[0].shortDescription = f"{network.side} x {network.side} image to classify"
    for output in spec.description.output:
        output.shortDescription = {"classLabel": "Most likely label",
                                   "classLabelProbs": "Probability of each label"}[output.name]
    return spec


def save(spec, path) -> None:
    """Writes the message with fixed field order, so that equal models are equal files."""
    with open(path, "wb") as file:
        file.write(spec.SerializeToString(deterministic=True))


def _preprocess(builder: NeuralNetworkBuilder, network: Network) -> None:
    if network.channels == 1:
        builder.set_pre_processing_parameters(image_input_names=["image"], image_scale=network.scale,
                                              gray_bias=network.bias)
    else:
        builder.set_pre_processing_parameters(image_input_names=["image"], image_scale=network.scale, is_bgr=False,
                                              red_bias=network.bias, green_bias=network.bias, blue_bias=network.bias)


def _add(builder: NeuralNetworkBuilder, layer: Layer, inputs: list[str]) -> str:
    """Adds the layer and returns the name of the blob that it writes."""
    name, config, weights = layer.name, layer.config, layer.weights
    source, target = inputs[0], f"{name}_output"
    match layer.kind:
        case "Conv2D":
            _convolution(builder, name, weights["kernel"], weights.get("bias"), 1, config, source, target)
        case "DepthwiseConv2D":
            kernel = weights["depthwise_kernel"].transpose(0, 1, 3, 2)
            _convolution(builder, name, kernel, None, kernel.shape[3], config, source, target)
        case "SeparableConv2D":
            kernel, middle = weights["depthwise_kernel"].transpose(0, 1, 3, 2), f"{name}_depthwise_output"
            _convolution(builder, f"{name}_depthwise", kernel, None, kernel.shape[3], config, source, middle)
            unit = {"padding": "valid", "strides": [1, 1]}
            _convolution(builder, name, weights["pointwise_kernel"], None, 1, unit, middle, target)
        case "BatchNormalization":
            builder.add_batchnorm(name, weights["gamma"].size, weights["gamma"], weights["beta"],
                                  weights["moving_mean"], weights["moving_variance"], source, target,
                                  epsilon=config["epsilon"])
        case "Activation":
            _activation(builder, name, config["activation"], source, target)
        case "MaxPooling2D":
            builder.add_pooling(name, *config["pool_size"], *config["strides"], "MAX",
                                config["padding"].upper(), source, target)
        case "GlobalAveragePooling2D":
            builder.add_pooling(name, 1, 1, 1, 1, "AVERAGE", "VALID", source, target, is_global=True)
        case "Add":
            builder.add_elementwise(name, inputs, target, "ADD")
        case "Reshape" | "Dropout":
            # The pooled (C, 1, 1) needs no reshape for the 1 x 1 convolution after it.
            return source
        case _:
            raise SystemExit(f"{name}: no rule for a {layer.kind} layer")
    return target


def _convolution(builder, name: str, kernel: np.ndarray, bias, groups: int, config: dict,
                 source: str, target: str) -> None:
    """`kernel`: (kH, kW, in / groups, out)."""
    height, width, per_group, out = kernel.shape
    builder.add_convolution(name, per_group, out, height, width, *config["strides"], config["padding"], groups,
                            np.ascontiguousarray(kernel), bias, bias is not None, input_name=source, output_name=target)


def _activation(builder, name: str, function: str, source: str, target: str) -> None:
    match function:
        case "relu":
            builder.add_activation(name, "RELU", source, target)
        case "relu6":
            builder.add_activation(f"{name}_relu", "RELU", source, f"{name}_positive")
            builder.add_activation(f"{name}_neg", "LINEAR", f"{name}_positive", f"{name}_negated", [-1.0, 0.0])
            builder.add_unary(f"{name}_clip", f"{name}_negated", f"{name}_clipped", "threshold", alpha=-6.0)
            builder.add_activation(f"{name}_neg2", "LINEAR", f"{name}_clipped", target, [-1.0, 0.0])
        case "softmax":
            builder.add_softmax(name, source, target)
        case _:
            raise SystemExit(f"{name}: no rule for the activation {function}")
