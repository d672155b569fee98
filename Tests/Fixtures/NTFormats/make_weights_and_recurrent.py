"""Recurrent layers, and one convolution and dense layer in every weight encoding. See netcase.py for the files."""
import numpy as np
import torch
import torch.nn.functional as F

from netcase import Net, random

T = lambda a: torch.from_numpy(np.asarray(a, np.float64))
sigmoid = lambda x: 1 / (1 + np.exp(-x))
f64 = lambda a: np.asarray(a, np.float64)


def recurrent():
    S, I, O = 3, 2, 4
    n = Net("recurrent", False, x=random(120, S, 1, I, 1, 1), h0=random(121, 1, 1, O, 1, 1), c0=random(122, 1, 1, O, 1, 1))
    x, b = n["x"].reshape(S, I), n.b
    h0, c0 = n["h0"].ravel(), n["c0"].ravel()
    W, R, B, P = random(123, 4, O, I), random(124, 4, O, O), random(125, 4, O), random(126, 3, O)
    lift = lambda rows: np.reshape(rows, (-1, 1, O, 1, 1))

    y, rows = h0, []
    for t in range(S):
        y = np.tanh(f64(W[0]) @ x[t] + f64(R[0]) @ y + B[0])
        rows.append(y)
    b.add_simple_rnn("rnn", R[0], W[0], B[0], O, I, "TANH", ["x", "h0"], ["rnn", "rnnState"], True, False)
    n.expect("rnn", lift(rows))
    n.expect("rnnState", y, declared=[O])

    y, rows = np.zeros(O), []
    for t in reversed(range(S)):
        z = sigmoid(f64(W[0]) @ x[t] + f64(R[0]) @ y + B[0])
        r = sigmoid(f64(W[1]) @ x[t] + f64(R[1]) @ y + B[1])
        o = np.tanh(f64(W[2]) @ x[t] + f64(R[2]) @ (y * r) + B[2])
        y = (1 - z) * o + z * y
        rows.insert(0, y)
    b.add_gru("gru", list(R[:3]), list(W[:3]), list(B[:3]), O, I, ["x"], ["gru"], "TANH", "SIGMOID", True, True)
    n.expect("gru", lift(rows))

    def lstm(order, h, c, peep, forget=0):
        rows = {}
        for t in order:
            a = [f64(W[k]) @ x[t] + f64(R[k]) @ h + B[k] for k in range(4)]  # i f o z, the builder's order
            i, f = sigmoid(a[0] + peep * P[0] * c), sigmoid(a[1] + peep * P[1] * c + forget)
            c = c * f + i * np.tanh(a[3])
            h = np.tanh(c) * sigmoid(a[2] + peep * P[2] * c)
            rows[t] = h
        return [rows[t] for t in sorted(rows)], h, c

    rows, h, c = lstm(range(S), h0, c0, 1)
    b.add_unilstm("lstm", list(R), list(W), list(B), O, I, ["x", "h0", "c0"], ["lstm", "lstmHidden", "lstmCell"],
                  peep=list(P), output_all=True)
    n.expect("lstm", lift(rows))
    n.expect("lstmHidden", h, declared=[O])
    n.expect("lstmCell", c, declared=[O])
    rows, h, c = lstm(range(S), np.zeros(O), np.zeros(O), 0, 1)
    b.add_unilstm("lstmLast", list(R), list(W), list(B), O, I, ["x"], ["lstmLast"], forget_bias=True)
    n.expect("lstmLast", h, declared=[O])
    front, back = lstm(range(S), np.zeros(O), np.zeros(O), 0)[0], lstm(reversed(range(S)), np.zeros(O), np.zeros(O), 0)[0]
    b.add_bidirlstm("both", list(R), list(W), list(B), list(R), list(W), list(B), O, I, ["x"], ["both"], output_all=True)
    n.expect("both", np.concatenate([front, back], 1)[:, None, :, None, None])
    n.save()


def pack(codes, bits):
    """Numbers of `bits` bits, the highest bit first, the last byte filled with zeros."""
    flat = ((codes.ravel()[:, None] >> np.arange(bits - 1, -1, -1)) & 1).ravel().astype(np.uint8)
    return np.packbits(flat).tobytes()


def encodings():
    O, I, K = 6, 4, 3
    n = Net("encodings", False, x=random(130, I, 5, 5))
    x, b = n["x"], n.b
    rng = np.random.RandomState(131)
    edits = {}
    for bits in range(1, 9):
        for kind in ("linear", "perChannel", "lookup"):
            codes = rng.randint(0, 2 ** bits, (O, I, K, K))
            name = f"{kind}{bits}"
            b.add_convolution(name, I, O, K, K, 1, 1, "valid", 1, np.zeros((K, K, I, O), np.float32), None, False,
                              input_name="x", output_name=name)
            if kind == "lookup":
                table = random(132 + bits, 2 ** bits)
                w, params = table[codes], ([], [], table)
            else:
                count = O if kind == "perChannel" else 1
                scale, bias = random(140 + bits, count, low=0.01, high=0.1), random(150 + bits, count)
                w = codes * f64(scale).reshape(-1, 1, 1, 1) + f64(bias).reshape(-1, 1, 1, 1)
                params = (scale, bias, [])
            edits[name] = (bits, pack(codes, bits), params)
            n.expect(name, F.conv2d(T(x)[None], T(w))[0].numpy())
    half = rng.uniform(-1, 1, (O, I, K, K)).astype(np.float16)
    b.add_convolution("half", I, O, K, K, 1, 1, "valid", 1, np.zeros((K, K, I, O), np.float32), None, False,
                      input_name="x", output_name="half")
    n.expect("half", F.conv2d(T(x)[None], T(half))[0].numpy())
    signed = rng.randint(-128, 128, (3, 100)).astype(np.int8)
    b.add_inner_product("int8", np.zeros((3, 100), np.float32), None, 100, 3, False, "x", "int8")
    n.expect("int8", (signed * f64(np.float32(0.05))) @ x.ravel(), declared=[3])

    def edit(spec):
        for layer in spec.neuralNetwork.layers:
            if layer.name == "int8":
                p = layer.innerProduct.weights
                p.Clear()
                p.int8RawValue = signed.tobytes()
                p.quantization.numberOfBits = 8
                p.quantization.linearQuantization.scale.append(0.05)
                continue
            p = layer.convolution.weights
            p.Clear()
            if layer.name == "half":
                p.float16Value = half.tobytes()
                continue
            bits, raw, (scale, bias, table) = edits[layer.name]
            p.rawValue = raw
            p.quantization.numberOfBits = bits
            if len(table):
                p.quantization.lookupTableQuantization.floatValue.extend(table)
            else:
                p.quantization.linearQuantization.scale.extend(scale)
                p.quantization.linearQuantization.bias.extend(bias)

    n.save(edit)


if __name__ == "__main__":
    recurrent()
    encodings()
