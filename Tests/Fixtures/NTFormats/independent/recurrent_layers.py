"""Recurrent layers."""

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder

from layercase import rnd, save


def recurrent():
    s, f, h = 3, 4, 2
    x = rnd(s, 1, f, 1, 1)
    steps = x.reshape(s, f)
    sig = lambda v: 1 / (1 + np.exp(-v))
    shapes = {"x": [s, 1, f, 1, 1]}

    def network(name, build, expected):
        builder = NeuralNetworkBuilder([("x", datatypes.Array(f))], [("y", None)])
        build(builder)
        save("rank5 " + name, builder, {"x": x}, {"y": expected}, shapes=shapes, exact=False)
    wx, wh, b = rnd(h, f), rnd(h, h), rnd(h)
    for reverse in (False, True):
        for sequence in (False, True):
            y, ys = np.zeros(h), []
            for v in (steps[::-1] if reverse else steps):
                y = np.tanh(wx @ v + wh @ y + b)
                ys.append(y)
            ys = ys[::-1] if reverse else ys
            network(f"simpleRecurrent {reverse} {sequence}", lambda n: rnn(n, wh, wx, b, h, f, sequence, reverse),
                    np.array(ys) if sequence else y)
    z3 = lambda: [rnd(h, f) for _ in range(3)]
    gx, gh, gb = z3(), [rnd(h, h) for _ in range(3)], [rnd(h) for _ in range(3)]
    for reverse in (False, True):
        y, ys = np.zeros(h), []
        for v in (steps[::-1] if reverse else steps):
            z = sig(gx[0] @ v + gh[0] @ y + gb[0])
            r = sig(gx[1] @ v + gh[1] @ y + gb[1])
            o = np.tanh(gx[2] @ v + gh[2] @ (r * y) + gb[2])
            y = (1 - z) * o + z * y
            ys.append(y)
        ys = ys[::-1] if reverse else ys
        network(f"gru {reverse}", lambda n: gru(n, gh, gx, gb, h, f, reverse), np.array(ys))

    def lstm_run(steps, wx, wh, b, p, forget):
        y, c, ys = np.zeros(h), np.zeros(h), []
        for v in steps:
            gate = lambda k: wx[k] @ v + wh[k] @ y + b[k]
            i = sig(gate(0) + p[0] * c)
            fo = sig(gate(1) + p[1] * c + (1 if forget else 0))
            z = np.tanh(gate(3))
            c2 = fo * c + i * z
            o = sig(gate(2) + p[2] * c2)
            c, y = c2, np.tanh(c2) * o
            ys.append(y)
        return ys
    four = lambda *shape: [rnd(*shape) for _ in range(4)]
    # The builder's order is input gate, forget gate, output gate, block input.
    lx, lh, lb, lp = four(h, f), four(h, h), four(h), [rnd(h) for _ in range(3)]
    for reverse in (False, True):
        for forget in (False, True):
            ys = lstm_run(steps[::-1] if reverse else steps, lx, lh, lb, lp, forget)
            ys = ys[::-1] if reverse else ys
            network(f"uniDirectionalLSTM {reverse} {forget}", lambda n: lstm(n, lh, lx, lb, lp, h, f, forget, reverse), np.array(ys))
    bx, bh, bb, bp = four(h, f), four(h, h), four(h), [rnd(h) for _ in range(3)]
    forward, backward = lstm_run(steps, lx, lh, lb, lp, False), lstm_run(steps[::-1], bx, bh, bb, bp, False)
    both = np.concatenate([np.array(forward), np.array(backward[::-1])], 1)
    network("biDirectionalLSTM sequence", lambda n: bilstm(n, (lh, lx, lb, lp), (bh, bx, bb, bp), h, f, True), both)
    network("biDirectionalLSTM last", lambda n: bilstm(n, (lh, lx, lb, lp), (bh, bx, bb, bp), h, f, False),
            np.concatenate([forward[-1], backward[-1]]))


def fill(params, values):
    params.floatValue.extend(np.asarray(values, dtype=np.float32).ravel().tolist())


def layer(n, name, inputs=("x",), outputs=("y",)):
    one = n.nn_spec.layers.add()
    one.name = name
    one.input.extend(inputs)
    one.output.extend(outputs)
    return one


def rnn(n, wh, wx, b, h, f, sequence, reverse):
    p = layer(n, "r").simpleRecurrent
    p.inputVectorSize, p.outputVectorSize, p.sequenceOutput, p.hasBiasVector, p.reverseInput = f, h, sequence, True, reverse
    p.activation.tanh.SetInParent()
    fill(p.weightMatrix, wx), fill(p.recursionMatrix, wh), fill(p.biasVector, b)


def gru(n, wh, wx, b, h, f, reverse):
    p = layer(n, "g").gru
    p.inputVectorSize, p.outputVectorSize, p.sequenceOutput, p.hasBiasVectors, p.reverseInput = f, h, True, True, reverse
    p.activations.add().sigmoid.SetInParent()
    p.activations.add().tanh.SetInParent()
    for k, gate in enumerate(("update", "reset", "output")):
        fill(getattr(p, gate + "GateWeightMatrix"), wx[k])
        fill(getattr(p, gate + "GateRecursionMatrix"), wh[k])
        fill(getattr(p, gate + "GateBiasVector"), b[k])


def lstm_weights(p, wh, wx, b, peep):
    for k, gate in enumerate(("inputGate", "forgetGate", "outputGate", "blockInput")):
        fill(getattr(p, gate + "WeightMatrix"), wx[k])
        fill(getattr(p, gate + "RecursionMatrix"), wh[k])
        fill(getattr(p, gate + "BiasVector"), b[k])
        if k < 3:
            fill(getattr(p, gate + "PeepholeVector"), peep[k])


def lstm_options(p, sequence, forget):
    p.params.sequenceOutput, p.params.hasBiasVectors, p.params.forgetBias, p.params.hasPeepholeVectors = sequence, True, forget, True


def lstm(n, wh, wx, b, peep, h, f, forget, reverse):
    p = layer(n, "l").uniDirectionalLSTM
    p.inputVectorSize, p.outputVectorSize, p.reverseInput = f, h, reverse
    lstm_options(p, True, forget)
    p.activations.add().sigmoid.SetInParent()
    p.activations.add().tanh.SetInParent()
    p.activations.add().tanh.SetInParent()
    lstm_weights(p.weightParams, wh, wx, b, peep)


def bilstm(n, forward, backward, h, f, sequence):
    p = layer(n, "l").biDirectionalLSTM
    p.inputVectorSize, p.outputVectorSize = f, h
    lstm_options(p, sequence, False)
    for list_ in (p.activationsForwardLSTM, p.activationsBackwardLSTM):
        list_.add().sigmoid.SetInParent()
        list_.add().tanh.SetInParent()
        list_.add().tanh.SetInParent()
    for weights in (forward, backward):
        lstm_weights(p.weightParams.add(), *weights)
