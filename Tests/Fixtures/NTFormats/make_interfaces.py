"""Small networks whose interface matters: colours, labels, flexible shapes, faults. One file a case; ModelInterfaceTests states what is
expected of each."""
import pathlib

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder, flexible_shape_utils
from coremltools.proto import Model_pb2

FOLDER = pathlib.Path(__file__).resolve().parent


def save(name, spec):
    (FOLDER / f"if_{name}.mlmodel").write_bytes(spec.SerializeToString())


def network(mode=None, inputs=(("x", (3, 2, 2)),), outputs=(("y", (3, 2, 2)),), exact=False):
    f = lambda pairs: [(n, datatypes.Array(*s)) for n, s in pairs]
    return NeuralNetworkBuilder(f(inputs), f(outputs), mode=mode, disable_rank5_shape_mapping=exact)


def image(spec, color, width=2, height=2, feature=None):
    t = (feature or spec.description.input[0]).type
    t.Clear()
    t.imageType.width, t.imageType.height, t.imageType.colorSpace = width, height, color


def colours():
    for name, color in [("rgb", 20), ("bgr", 30), ("gray", 10)]:
        channels = 1 if name == "gray" else 3
        b = network(inputs=[("x", (channels, 2, 2))])
        b.add_activation("a", "LINEAR", "x", "y", [1, 0])
        image(b.spec, color)
        b.spec.neuralNetwork.ClearField("preprocessing")
        p = b.spec.neuralNetwork.preprocessing.add()  # an empty name, as old files have it
        s = p.scaler
        s.channelScale, s.redBias, s.greenBias, s.blueBias, s.grayBias = 0.5, 1, 2, 3, 4
        save(name, b.spec)
    b = network()
    b.add_activation("a", "LINEAR", "x", "y", [1, 0])
    image(b.spec, 20)
    p = b.spec.neuralNetwork.preprocessing.add()
    p.featureName = "x"
    p.meanImage.meanImage.extend(range(12))
    save("mean", b.spec)
    del p.meanImage.meanImage[5:]
    save("mean_short", b.spec)
    b = network()
    b.add_activation("a", "LINEAR", "x", "y", [1, 0])
    image(b.spec, 30)
    image(b.spec, 30, feature=b.spec.description.output[0])
    save("image_output", b.spec)


def classifiers():
    for name, labels in [("strings", ["a", "b", "a, c"]), ("numbers", [7, -1, 1 << 40])]:
        b = network("classifier", [("x", (4,))], [("probabilities", (3,))])
        b.add_inner_product("d", np.arange(12, dtype=np.float32).reshape(3, 4), None, 4, 3, False, "x", "logits")
        b.add_softmax("s", "logits", "hidden")
        b.set_class_labels(labels, "classLabel", "hidden")
        spec = b.spec
        spec.description.predictedProbabilitiesName = "probabilities"
        spec.neuralNetworkClassifier.labelProbabilityLayerName = "" if name == "strings" else "hidden"
        save(name, spec)
    spec.neuralNetworkClassifier.int64ClassLabels.vector.append(5)
    save("labels_differ", spec)


def flexible():
    b = network(inputs=[("x", (3, 8, 8))])
    b.add_pooling("p", 0, 0, 1, 1, "AVERAGE", "VALID", "x", "y", is_global=True)
    image(b.spec, 20, 8, 8)
    flexible_shape_utils.update_image_size_range(b.spec, "x", flexible_shape_utils.NeuralNetworkImageSizeRange((4, 16), (4, -1)))
    save("image_range", b.spec)
    b = network(inputs=[("x", (3, 8, 8))])
    b.add_pooling("p", 0, 0, 1, 1, "AVERAGE", "VALID", "x", "y", is_global=True)
    image(b.spec, 20, 0, 0)
    save("image_open", b.spec)
    b = network(inputs=[("x", (1, 4))], exact=True)
    b.add_activation("a", "RELU", "x", "y")
    flexible_shape_utils.add_multiarray_ndshape_enumeration(b.spec, "x", [(1, 6), (2, 4)])
    save("array_shapes", b.spec)


def runtime_weights():
    """A convolution whose weights are computed, between two layers that backends have kernels for."""
    b = network(inputs=[("x", (2, 3, 3)), ("w", (2, 2, 1, 1))], outputs=[("y", (2, 3, 3))], exact=True)
    b.spec.specificationVersion = 4
    b.add_activation("before", "RELU", "x", "positive")
    b.add_activation("weights", "LINEAR", "w", "scaled", [2, 0])
    b.add_convolution("convolution", 2, 2, 1, 1, 1, 1, "valid", 1, None, None, False, input_name=["positive", "scaled"],
                      output_name="mixed")
    b.add_activation("after", "RELU", "mixed", "y")
    b.spec.description.input[0].type.multiArrayType.shape[:] = [1, 2, 3, 3]
    save("runtime_weights", b.spec)


def faults():
    b = network()
    b.add_activation("a", "RELU", "x", "h")
    b.add_activation("b", "RELU", "h", "y")
    spec = b.spec
    layers = spec.neuralNetwork.layers
    base = Model_pb2.Model.FromString(spec.SerializeToString())

    def fault(name, edit):
        m = Model_pb2.Model.FromString(base.SerializeToString())
        edit(m, m.neuralNetwork.layers)
        save("bad_" + name, m)

    def cycle(m, l):
        l[0].input[0] = "y"

    fault("cycle", cycle)
    fault("undefined", lambda m, l: l[1].input.__setitem__(0, "nowhere"))
    fault("twice", lambda m, l: l[1].output.__setitem__(0, "h"))
    fault("dangling", lambda m, l: l[1].output.__setitem__(0, "z"))
    fault("no_inputs", lambda m, l: l[1].ClearField("input"))
    fault("no_type", lambda m, l: l[1].ClearField("activation"))

    def custom(m, l):
        l[1].ClearField("activation")
        l[1].custom.className = "MyLayer"

    fault("custom", custom)

    def unknown(m, l):
        l[1].ClearField("activation")
        raw = l[1].SerializeToString() + bytes([0xFA, 0xFF, 0x03, 0x02, 0x08, 0x01])  # field 8191
        l[1].ParseFromString(raw)

    fault("unknown", unknown)

    def weights(m, l):
        l[1].ClearField("activation")
        p = l[1].innerProduct
        p.inputChannels, p.outputChannels = 12, 5
        p.weights.floatValue.extend([0] * 59)

    fault("weights", weights)

    def random_layer(m, l):
        l[1].ClearField("activation")
        l[1].randomNormalLike.mean = 0

    fault("random", random_layer)
    m = Model_pb2.Model.FromString(base.SerializeToString())
    p = Model_pb2.Model()
    p.specificationVersion = 1
    p.description.CopyFrom(m.description)
    p.pipeline.models.add().CopyFrom(m)
    q = p.pipeline.models.add()
    q.specificationVersion = 3
    q.visionFeaturePrint.scene.version = 1
    p.pipeline.names.extend(["first", "second"])
    save("pipeline", p)
    q.description.CopyFrom(m.description)
    q.specificationVersion = 6
    q.mlProgram.version = 1
    save("program", q)


if __name__ == "__main__":
    colours()
    classifiers()
    flexible()
    runtime_weights()
    faults()
