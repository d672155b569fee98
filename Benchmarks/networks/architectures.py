"""The five networks, by the published layer tables."""

from .network import Network, same


def mobilenet_v1() -> Network:
    """Howard et al. 2017, width 1.0; stride-2 layers pad as TensorFlow's SAME."""
    net = Network("mobilenet_v1", (3, 224, 224), seed=1)
    x = net.relu6(net.convolution("image", 32, 3, 2, same(224, 3, 2)))
    channels = 32
    for filters, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        x = net.relu6(net.convolution(x, channels, 3, stride, same(net.size(x), 3, stride), groups=channels))
        x = net.relu6(net.convolution(x, filters))
        channels = filters
    net.softmax(net.dense(net.mean(x), 1000))
    return net.finish()


def mobilenet_v2() -> Network:
    """Sandler et al. 2018, width 1.0; symmetric padding."""
    net = Network("mobilenet_v2", (3, 224, 224), seed=2)
    x = net.relu6(net.convolution("image", 32, 3, 2))
    channels = 32
    for expansion, filters, count, first in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                             (6, 160, 3, 2), (6, 320, 1, 1)]:
        for index in range(count):
            stride, wide, source = first if index == 0 else 1, channels * expansion, x
            if expansion != 1:
                x = net.relu6(net.convolution(x, wide))
            x = net.relu6(net.convolution(x, wide, 3, stride, groups=wide))
            x = net.convolution(x, filters)
            x = net.add(source, x) if stride == 1 and channels == filters else x
            channels = filters
    x = net.relu6(net.convolution(x, 1280))
    net.softmax(net.dense(net.mean(x), 1000))
    return net.finish()


def squeezenet() -> Network:
    """Iandola et al. 2016, version 1.1."""
    net = Network("squeezenet_1_1", (3, 224, 224), seed=3)
    x = net.relu(net.convolution("image", 64, 3, 2, (0, 0, 0, 0)))
    for index, (narrow, wide) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)]):
        if index in (0, 2, 4):
            x = net.maximum(x, 3, 2)
        x = net.relu(net.convolution(x, narrow))
        x = net.concat(net.relu(net.convolution(x, wide)), net.relu(net.convolution(x, wide, 3)))
    x = net.relu(net.convolution(x, 1000, deviation=16.0))
    net.softmax(net.mean(x))
    return net.finish()


def resnet50() -> Network:
    """He et al. 2015, with the stride in the 3x3 layer."""
    net = Network("resnet50", (3, 224, 224), seed=4)
    x = net.relu(net.convolution("image", 64, 7, 2))
    x = net.maximum(x, 3, 2, (1, 1, 1, 1))
    for stage, (narrow, count) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for index in range(count):
            stride = 2 if stage > 0 and index == 0 else 1
            y = net.relu(net.convolution(x, narrow))
            y = net.relu(net.convolution(y, narrow, 3, stride))
            y = net.convolution(y, 4 * narrow, deviation=0.5)
            source = net.convolution(x, 4 * narrow, stride=stride) if index == 0 else x
            x = net.relu(net.add(y, source))
    net.softmax(net.dense(net.mean(x), 1000))
    return net.finish()


def mini_xception() -> Network:
    """Arriaga et al. 2017, seven emotions, 64x64 grey; SAME padding as TensorFlow's."""
    net = Network("mini_xception", (1, 64, 64), seed=5)
    x = net.relu(net.convolution("image", 8, 3, padding=(0, 0, 0, 0)))
    x = net.relu(net.convolution(x, 8, 3, padding=(0, 0, 0, 0)))
    channels = 8
    for filters in (16, 32, 64, 128):
        source = net.convolution(x, filters, stride=2)
        y = net.relu(net.convolution(net.convolution(x, channels, 3, groups=channels), filters))
        y = net.convolution(net.convolution(y, filters, 3, groups=filters), filters)
        x = net.add(net.maximum(y, 3, 2, same(net.size(y), 3, 2)), source)
        channels = filters
    net.softmax(net.mean(net.convolution(x, 7, 3)))
    return net.finish()


ALL = {"mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2, "squeezenet_1_1": squeezenet, "resnet50": resnet50,
       "mini_xception": mini_xception}
