#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Makes the models of this folder: small networks with open dims, in the nodes that PyTorch's exporters write.

    python3 make.py FOLDER

The wire format is written by hand, and the weights come from a fixed seed, so the files are the same everywhere.
"""
import random
import struct
import sys

FLOAT, INT64, BOOL = 1, 7, 9


# ---- the wire ------------------------------------------------------------------------------------------------------

def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def message(field, *parts):
    data = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def tensor(name, kind, dims, values):
    code = {FLOAT: "f", INT64: "q", BOOL: "?"}[kind]
    raw = struct.pack("<%d%s" % (len(values), code), *values)
    return b"".join(number(1, d) for d in dims) + number(2, kind) + message(8, name) + message(9, raw)


def value_info(name, kind, dims):
    shape = b"".join(message(1, message(2, d) if isinstance(d, str) else number(1, d) if d is not None else b"")
                     for d in dims)
    return message(1, name) + message(2, message(1, number(1, kind), message(2, shape)))


def attribute(name, v):
    if isinstance(v, int):
        return message(5, message(1, name), number(3, v), number(20, 2))
    if isinstance(v, float):
        return message(5, message(1, name), varint(2 << 3 | 5), struct.pack("<f", v), number(20, 1))
    if isinstance(v, str):
        return message(5, message(1, name), message(4, v), number(20, 3))
    if isinstance(v, bytes):
        return message(5, message(1, name), message(5, v), number(20, 4))
    return message(5, message(1, name), *[number(8, i) for i in v], number(20, 7))


# ---- graphs --------------------------------------------------------------------------------------------------------

class Graph:
    def __init__(self, name, opset=17):
        self.name, self.opset, self.count = name, opset, 0
        self.nodes, self.inits, self.inputs, self.outputs = [], [], [], []
        self.random = random.Random(name)

    def input(self, name, kind, *dims):
        self.inputs.append(value_info(name, kind, dims))
        return name

    def output(self, value, name, kind, *dims):
        self.nodes.append(message(1, message(1, value), message(2, name), message(4, "Identity")))
        self.outputs.append(value_info(name, kind, dims))

    def fresh(self, word):
        self.count += 1
        return "%s_%d" % (word, self.count)

    def ints(self, *values):
        return self.constant(INT64, [len(values)], values)

    def one(self, value):
        return self.constant(INT64, [], [value])

    def real(self, value):
        return self.constant(FLOAT, [], [value])

    def constant(self, kind, dims, values):
        name = self.fresh("c")
        self.inits.append(message(5, tensor(name, kind, dims, values)))
        return name

    def weight(self, *dims):
        n = 1
        for d in dims:
            n *= d
        return self.constant(FLOAT, dims, [round(self.random.uniform(-0.5, 0.5), 3) for _ in range(n)])

    def node(self, op, *inputs, outs=1, **attrs):
        names = [self.fresh(op) for _ in range(outs)]
        parts = [message(1, i) for i in inputs] + [message(2, o) for o in names]
        parts += [message(3, "/" + names[0]), message(4, op)]
        parts += [attribute(k, v) for k, v in sorted(attrs.items())]
        self.nodes.append(message(1, *parts))
        return names[0] if outs == 1 else names

    def bytes(self):
        graph = b"".join(self.nodes) + message(2, self.name) + b"".join(self.inits)
        graph += b"".join(message(11, i) for i in self.inputs) + b"".join(message(12, o) for o in self.outputs)
        return number(1, 8) + message(2, "make.py") + message(7, graph) + message(8, number(2, self.opset))

    # -- what exporters write for one line of a model

    def size(self, x, axis):
        """x.size(axis), as the old exporter writes it."""
        return self.node("Gather", self.node("Shape", x), self.one(axis), axis=0)

    def size15(self, x, axis):
        """x.shape[axis], as dynamo writes it: a list of one."""
        return self.node("Shape", x, start=axis, end=axis + 1)

    def line(self, *items):
        """A shape from numbers and scalars."""
        parts = [self.ints(i) if isinstance(i, int) else self.node("Unsqueeze", i, self.ints(0)) for i in items]
        return self.node("Concat", *parts, axis=0)

    def view(self, x, *items):
        return self.node("Reshape", x, self.line(*items))

    def expand(self, x, *items):
        """x.expand(…): sizes of -1 become 1 by a Where."""
        shape = self.line(*items)
        ones = self.node("ConstantOfShape", self.ints(len(items)), value=tensor("", INT64, [1], [1]))
        keeps = self.node("Equal", shape, self.node("Mul", ones, self.one(-1)))
        return self.node("Expand", x, self.node("Where", keeps, ones, shape))

    def linear(self, x, n, m):
        return self.node("Add", self.node("MatMul", x, self.weight(n, m)), self.weight(m))

    def norm(self, x, n):
        return self.node("LayerNormalization", x, self.weight(n), self.weight(n), axis=-1, epsilon=1e-5)

    def batch_norm(self, x, n):
        spread = self.constant(FLOAT, [n], [0.5 + i / n for i in range(n)])
        return self.node("BatchNormalization", x, self.weight(n), self.weight(n), self.weight(n), spread, epsilon=1e-5)

    def gelu(self, x):
        erf = self.node("Erf", self.node("Div", x, self.real(2 ** 0.5)))
        return self.node("Mul", self.node("Mul", x, self.node("Add", erf, self.real(1.0))), self.real(0.5))

    def heads(self, x, width, n):
        """x.view(B, T, heads, -1).transpose(1, 2)"""
        x = self.view(self.linear(x, width, width), self.size(x, 0), self.size(x, 1), n, -1)
        return self.node("Transpose", x, perm=[0, 2, 1, 3])

    def joined(self, x, width):
        """x.transpose(1, 2).contiguous().view(B, T, width)"""
        x = self.node("Transpose", x, perm=[0, 2, 1, 3])
        return self.linear(self.view(x, self.size(x, 0), self.size(x, 1), width), width, width)

    def scores(self, q, k, scale):
        return self.node("Mul", self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2])), self.real(scale))

    def feed(self, x, width):
        return self.linear(self.gelu(self.linear(x, width, 2 * width)), 2 * width, width)


# ---- the models ----------------------------------------------------------------------------------------------------

def mlp():
    g = Graph("mlp")
    x = g.input("image", FLOAT, "batch", 1, 4, 4)
    x = g.view(x, g.size(x, 0), -1)
    x = g.node("Relu", g.node("Gemm", x, g.weight(8, 16), g.weight(8), transB=1))
    x = g.node("Gemm", x, g.weight(3, 8), g.weight(3), transB=1)
    g.output(x, "scores", FLOAT, "batch", 3)
    return g


def vit():
    g = Graph("vit")
    width, n = 8, 2
    image = g.input("image", FLOAT, "batch", 3, 8, 8)
    x = g.node("Conv", image, g.weight(width, 3, 4, 4), g.weight(width), kernel_shape=[4, 4], strides=[4, 4])
    shape = g.node("Slice", g.node("Shape", x), g.ints(0), g.ints(2), g.ints(0))    # flatten(2)
    x = g.node("Reshape", x, g.node("Concat", shape, g.ints(-1), axis=0))
    x = g.node("Transpose", x, perm=[0, 2, 1])
    token = g.expand(g.weight(1, 1, width), g.size(x, 0), -1, -1)
    x = g.node("Add", g.node("Concat", token, x, axis=1), g.weight(1, 5, width))
    y = g.linear(g.norm(x, width), width, 3 * width)
    y = g.view(y, g.size(y, 0), g.size(y, 1), 3, n, width // n)
    y = g.node("Transpose", y, perm=[2, 0, 3, 1, 4])
    q, k, v = [g.node("Gather", y, g.one(i), axis=0) for i in range(3)]
    y = g.node("MatMul", g.node("Softmax", g.scores(q, k, 0.5), axis=-1), v)
    x = g.node("Add", x, g.joined(y, width))
    x = g.node("Add", x, g.feed(g.norm(x, width), width))
    x = g.node("Gather", g.norm(x, width), g.one(0), axis=1)
    g.output(g.linear(x, width, 4), "scores", FLOAT, "batch", 4)
    return g


def yolo():
    g = Graph("yolo")
    image = g.input("images", FLOAT, "batch", 3, "height", "width")

    def conv(x, n, m, size=3, stride=1):
        x = g.node("Conv", x, g.weight(m, n, size, size), g.weight(m), kernel_shape=[size, size],
                   strides=[stride, stride], pads=[size // 2] * 4)
        return g.node("Mul", x, g.node("Sigmoid", x))

    a = conv(conv(image, 3, 4, 3, 2), 4, 6, 3, 2)
    b = conv(a, 6, 8, 3, 2)
    pool = g.node("MaxPool", b, kernel_shape=[5, 5], pads=[2, 2, 2, 2], strides=[1, 1])
    b = conv(g.node("Concat", b, pool, axis=1), 16, 8, 1)
    up = g.node("Resize", b, "", g.constant(FLOAT, [4], [1, 1, 2, 2]), coordinate_transformation_mode="asymmetric",
                mode="nearest", nearest_mode="floor")
    a = conv(g.node("Concat", up, a, axis=1), 14, 6)
    rows, cells = [], []
    for x, n in ((a, 6), (b, 8)):
        y = g.node("Conv", x, g.weight(7, n, 1, 1), g.weight(7), kernel_shape=[1, 1])
        rows.append(g.view(y, g.size(y, 0), 7, -1))
        # meshgrid(arange(w), arange(h))
        h, w = g.size(y, 2), g.size(y, 3)
        along = [g.node("Range", g.one(0), n, g.one(1)) for n in (h, w)]
        ys = g.node("Expand", g.node("Unsqueeze", along[0], g.ints(1)), g.line(h, w))
        xs = g.node("Expand", g.node("Unsqueeze", along[1], g.ints(0)), g.line(h, w))
        cell = g.node("Concat", g.node("Unsqueeze", xs, g.ints(-1)), g.node("Unsqueeze", ys, g.ints(-1)), axis=-1)
        cells.append(g.node("Cast", g.node("Reshape", cell, g.ints(-1, 2)), to=FLOAT))
    x = g.node("Concat", *rows, axis=2)
    centre, size, classes = g.node("Split", x, g.ints(2, 2, 3), outs=3, axis=1)
    cells = g.node("Unsqueeze", g.node("Transpose", g.node("Concat", *cells, axis=0), perm=[1, 0]), g.ints(0))
    centre = g.node("Add", centre, cells)
    x = g.node("Concat", centre, g.node("Exp", size), g.node("Sigmoid", classes), axis=1)
    g.output(x, "boxes", FLOAT, "batch", 7, None)
    return g


def tagger():
    g = Graph("tagger")
    width, hidden = 6, 4
    tokens = g.input("tokens", INT64, "batch", "length")
    x = g.node("Gather", g.weight(10, width), tokens)
    x = g.node("Transpose", x, perm=[1, 0, 2])
    state = g.node("ConstantOfShape", g.line(2, g.size(x, 1), hidden), value=tensor("", FLOAT, [1], [0.0]))
    y, _, _ = g.node("LSTM", x, g.weight(2, 4 * hidden, width), g.weight(2, 4 * hidden, hidden),
                     g.weight(2, 8 * hidden), "", state, state, outs=3, direction="bidirectional", hidden_size=hidden)
    y = g.node("Transpose", y, perm=[0, 2, 1, 3])
    y = g.node("Reshape", y, g.ints(0, 0, -1))
    y = g.node("Transpose", y, perm=[1, 0, 2])
    g.output(g.node("LogSoftmax", g.linear(y, 2 * hidden, 5), axis=-1), "tags", FLOAT, "batch", "length", 5)
    return g


def bert():
    g = Graph("bert")
    width, n = 8, 2
    ids, types, mask = [g.input(i, INT64, "batch", "length") for i in ("input_ids", "token_type_ids", "attention_mask")]
    places = g.node("Slice", g.constant(INT64, [1, 32], range(32)), g.ints(0),
                    g.node("Unsqueeze", g.size(ids, 1), g.ints(0)), g.ints(1))
    x = g.node("Add", g.node("Gather", g.weight(20, width), ids), g.node("Gather", g.weight(2, width), types))
    x = g.norm(g.node("Add", x, g.node("Gather", g.weight(32, width), places)), width)
    hidden = g.node("Cast", g.node("Unsqueeze", g.node("Unsqueeze", mask, g.ints(1)), g.ints(2)), to=FLOAT)
    hidden = g.node("Mul", g.node("Sub", g.real(1.0), hidden), g.real(-10000.0))
    q, k, v = [g.heads(x, width, n) for _ in range(3)]
    p = g.node("Softmax", g.node("Add", g.scores(q, k, 0.5), hidden), axis=-1)
    x = g.norm(g.node("Add", x, g.joined(g.node("MatMul", p, v), width)), width)
    x = g.norm(g.node("Add", x, g.feed(x, width)), width)
    pooled = g.node("Tanh", g.linear(g.node("Gather", x, g.one(0), axis=1), width, width))
    g.output(x, "last_hidden_state", FLOAT, "batch", "length", width)
    g.output(pooled, "pooler_output", FLOAT, "batch", width)
    return g


def gpt():
    g = Graph("gpt")
    width, n = 8, 2
    ids = g.input("input_ids", INT64, "batch", "length")
    key = g.input("past_key", FLOAT, "batch", n, "past", width // n)
    value = g.input("past_value", FLOAT, "batch", n, "past", width // n)
    past, now = g.size(key, 2), g.size(ids, 1)
    total = g.node("Add", past, now)
    places = g.node("Unsqueeze", g.node("Range", past, total, g.one(1)), g.ints(0))
    x = g.node("Add", g.node("Gather", g.weight(20, width), ids), g.node("Gather", g.weight(32, width), places))
    y = g.norm(x, width)
    q, k, v = [g.heads(y, width, n) for _ in range(3)]
    k, v = g.node("Concat", key, k, axis=2), g.node("Concat", value, v, axis=2)
    low = g.constant(BOOL, [1, 1, 32, 32], [j <= i for i in range(32) for j in range(32)])
    ends = g.node("Unsqueeze", total, g.ints(0))
    low = g.node("Slice", low, g.node("Unsqueeze", past, g.ints(0)), ends, g.ints(2))
    low = g.node("Slice", low, g.ints(0), ends, g.ints(3))
    p = g.node("Softmax", g.node("Where", low, g.scores(q, k, 0.5), g.real(-10000.0)), axis=-1)
    x = g.node("Add", x, g.joined(g.node("MatMul", p, v), width))
    x = g.node("Add", x, g.feed(g.norm(x, width), width))
    last = g.node("Slice", x, g.ints(-1), g.ints(2 ** 63 - 1), g.ints(1))
    g.output(g.linear(g.node("Squeeze", last, g.ints(1)), width, 20), "logits", FLOAT, "batch", 20)
    g.output(k, "present_key", FLOAT, "batch", n, "past + length", width // n)
    g.output(v, "present_value", FLOAT, "batch", n, "past + length", width // n)
    return g


def encoder():
    """As dynamo writes it: shapes of one item, masks from ranges, and names that the program gives."""
    g = Graph("encoder", 18)
    width, n = 8, 2
    x = g.input("features", FLOAT, "s0", "s1", width)
    mask = g.input("padding", BOOL, "s0", "s1")
    batch, length = g.size15(x, 0), g.size15(x, 1)
    last = g.node("Squeeze", length, g.ints(0))
    rows = g.node("Unsqueeze", g.node("Range", g.one(0), last, g.one(1)), g.ints(1))
    cols = g.node("Unsqueeze", g.node("Range", g.one(0), last, g.one(1)), g.ints(0))
    near = g.node("LessOrEqual", g.node("Abs", g.node("Sub", rows, cols)), g.one(2))
    seen = g.node("And", near, g.node("Not", g.node("Unsqueeze", mask, g.ints(1, 2))))
    seen = g.node("Expand", seen, g.node("Concat", batch, g.ints(1), length, length, axis=0))
    low = g.node("Trilu", g.node("Expand", g.real(1.0), g.node("Concat", length, length, axis=0)), upper=0)

    def heads(y):
        y = g.node("Reshape", g.linear(y, width, width), g.node("Concat", batch, length, g.ints(n, width // n), axis=0),
                   allowzero=1)
        return g.node("Transpose", y, perm=[0, 2, 1, 3])

    y = g.norm(x, width)
    q, k, v = heads(y), heads(y), heads(y)
    score = g.node("Mul", g.scores(q, k, 0.5), low)
    p = g.node("Softmax", g.node("Where", seen, score, g.real(-10000.0)), axis=-1)
    y = g.node("Transpose", g.node("MatMul", p, v), perm=[0, 2, 1, 3])
    y = g.node("Reshape", y, g.node("Concat", batch, length, g.ints(width), axis=0), allowzero=1)
    x = g.node("Add", x, g.linear(y, width, width))
    odd = g.node("Slice", x, g.ints(1), g.ints(2 ** 63 - 1), g.ints(1), g.ints(2))
    padded = g.node("Pad", x, g.node("Concat", g.ints(0, 0, 0, 0), g.node("Mod", length, g.ints(2)), g.ints(0), axis=0),
                    g.real(0.0))
    pairs = g.node("Reshape", padded, g.node("Concat", batch, g.ints(-1, 2 * width), axis=0))
    twice = g.node("Tile", x, g.node("Concat", g.ints(1), length, g.ints(1), axis=0))
    g.output(x, "encoded", FLOAT, "s0", "s1", width)
    g.output(odd, "odd", FLOAT, "s0", None, width)
    g.output(pairs, "pairs", FLOAT, "s0", None, 2 * width)
    g.output(g.node("ReduceMean", twice, g.ints(1), keepdims=0), "mean", FLOAT, "s0", width)
    return g


def efficientnet():
    """Inverted bottlenecks with a squeeze: channels are scaled by what their means say."""
    g = Graph("efficientnet")
    image = g.input("image", FLOAT, "batch", 3, 16, 16)

    def conv(x, n, m, size=1, stride=1, group=1, act=True):
        x = g.node("Conv", x, g.weight(m, n // group, size, size), kernel_shape=[size, size], strides=[stride, stride],
                   pads=[size // 2] * 4, group=group)
        x = g.batch_norm(x, m)
        return g.node("Mul", x, g.node("Sigmoid", x)) if act else x

    def block(x, n, m, stride):
        wide = 2 * n
        y = conv(conv(x, n, wide), wide, wide, 3, stride, wide)
        s = g.node("ReduceMean", y, axes=[2, 3], keepdims=1) if stride > 1 else g.node("GlobalAveragePool", y)
        s = g.node("Conv", s, g.weight(2, wide, 1, 1), g.weight(2), kernel_shape=[1, 1])
        s = g.node("Conv", g.node("Mul", s, g.node("Sigmoid", s)), g.weight(wide, 2, 1, 1), g.weight(wide),
                   kernel_shape=[1, 1])
        y = conv(g.node("Mul", y, g.node("Sigmoid", s)), wide, m, act=False)
        return g.node("Add", y, x) if stride == 1 and n == m else y

    x = conv(image, 3, 4, 3, 2)
    x = block(block(block(x, 4, 4, 1), 4, 6, 2), 6, 6, 1)
    x = g.node("Flatten", g.node("GlobalAveragePool", conv(x, 6, 8)), axis=1)
    g.output(g.node("Gemm", x, g.weight(5, 8), g.weight(5), transB=1), "scores", FLOAT, "batch", 5)
    return g


def convnext():
    """Large kernels for each channel; the norms are over channels, between two transposes."""
    g = Graph("convnext")
    image = g.input("image", FLOAT, "batch", 3, 16, 16)

    def across(x, n, last=False):
        x = g.norm(g.node("Transpose", x, perm=[0, 2, 3, 1]), n)
        return x if last else g.node("Transpose", x, perm=[0, 3, 1, 2])

    def block(x, n):
        y = g.node("Conv", x, g.weight(n, 1, 7, 7), g.weight(n), kernel_shape=[7, 7], pads=[3, 3, 3, 3], group=n)
        y = g.node("Mul", g.feed(across(y, n, True), n), g.weight(n))
        return g.node("Add", x, g.node("Transpose", y, perm=[0, 3, 1, 2]))

    x = g.node("Conv", image, g.weight(4, 3, 4, 4), g.weight(4), kernel_shape=[4, 4], strides=[4, 4])
    x = block(across(x, 4), 4)
    x = g.node("Conv", across(x, 4), g.weight(6, 4, 2, 2), g.weight(6), kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("ReduceMean", block(x, 6), axes=[-2, -1], keepdims=0)
    g.output(g.node("Gemm", g.norm(x, 6), g.weight(5, 6), g.weight(5), transB=1), "scores", FLOAT, "batch", 5)
    return g


def swin():
    """Attention within windows, of every second block shifted by half a window; then patches are merged."""
    g = Graph("swin")
    n, side, w = 2, 4, 2
    image = g.input("image", FLOAT, "batch", 3, 8, 8)

    def roll(x, by):
        """torch.roll of the two middle dims: two Slices and a Concat each."""
        for axis in (1, 2):
            x = g.node("Concat", g.node("Slice", x, g.ints(by), g.ints(2 ** 63 - 1), g.ints(axis)),
                       g.node("Slice", x, g.ints(0), g.ints(by), g.ints(axis)), axis=axis)
        return x

    def windows(x, width):
        x = g.node("Reshape", x, g.ints(-1, side // w, w, side // w, w, width))
        x = g.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5])
        return g.node("Reshape", x, g.ints(-1, w * w, width))

    def joined(x, width):
        x = g.node("Reshape", x, g.ints(-1, side // w, side // w, w, w, width))
        x = g.node("Transpose", x, perm=[0, 1, 3, 2, 4, 5])
        return g.node("Reshape", x, g.ints(-1, side, side, width))

    def block(x, width, shifted):
        y = g.norm(x, width)
        y = windows(roll(y, 1) if shifted else y, width)
        y = g.node("Reshape", g.linear(y, width, 3 * width), g.ints(-1, w * w, 3, n, width // n))
        q, k, v = [g.node("Gather", g.node("Transpose", y, perm=[2, 0, 3, 1, 4]), g.one(i), axis=0) for i in range(3)]
        bias = g.node("Gather", g.weight(9, n), g.constant(INT64, [16], [(i * 5 + i // 4) % 9 for i in range(16)]))
        bias = g.node("Transpose", g.node("Reshape", bias, g.ints(w * w, w * w, n)), perm=[2, 0, 1])
        p = g.node("Add", g.node("MatMul", g.node("Mul", q, g.real((width // n) ** -0.5)),
                                 g.node("Transpose", k, perm=[0, 1, 3, 2])), g.node("Unsqueeze", bias, g.ints(0)))
        if shifted:
            mask = [-100.0 if (i % 4 in (2, 3)) != (j % 4 in (2, 3)) and b else 0.0
                    for b in range(4) for i in range(4) for j in range(4)]
            p = g.node("Add", g.node("Reshape", p, g.ints(-1, 4, n, w * w, w * w)),
                       g.constant(FLOAT, [1, 4, 1, 4, 4], mask))
            p = g.node("Reshape", p, g.ints(-1, n, w * w, w * w))
        y = g.node("Transpose", g.node("MatMul", g.node("Softmax", p, axis=-1), v), perm=[0, 2, 1, 3])
        y = joined(g.linear(g.node("Reshape", y, g.ints(-1, w * w, width)), width, width), width)
        x = g.node("Add", x, roll(y, side - 1) if shifted else y)
        return g.node("Add", x, g.feed(g.norm(x, width), width))

    x = g.node("Conv", image, g.weight(4, 3, 2, 2), g.weight(4), kernel_shape=[2, 2], strides=[2, 2])
    x = block(block(g.norm(g.node("Transpose", x, perm=[0, 2, 3, 1]), 4), 4, False), 4, True)
    parts = [g.node("Slice", x, g.ints(i, j), g.ints(side, side), g.ints(1, 2), g.ints(2, 2))
             for j in (0, 1) for i in (0, 1)]
    x = g.node("MatMul", g.norm(g.node("Concat", *parts, axis=-1), 16), g.weight(16, 8))
    x = g.node("Transpose", g.norm(x, 8), perm=[0, 3, 1, 2])
    x = g.node("Flatten", g.node("GlobalAveragePool", x), axis=1)
    g.output(g.linear(x, 8, 5), "scores", FLOAT, "batch", 5)
    return g


def unet():
    """A step of a diffusion: group norms as exporters take them apart, attention, and the embedding of a time."""
    g = Graph("unet")
    x = g.input("sample", FLOAT, "batch", 4, 8, 8)
    time = g.input("timestep", INT64, "batch")

    def group_norm(x, n, groups=2):
        shape = g.node("Shape", x)
        y = g.node("InstanceNormalization", g.node("Reshape", x, g.ints(0, groups, -1)),
                   g.constant(FLOAT, [groups], [1.0] * groups), g.constant(FLOAT, [groups], [0.0] * groups),
                   epsilon=1e-5)
        y = g.node("Reshape", y, shape)
        return g.node("Add", g.node("Mul", y, g.weight(n, 1, 1)), g.weight(n, 1, 1))

    def silu(x):
        return g.node("Mul", x, g.node("Sigmoid", x))

    def conv(x, n, m, size=3, stride=1):
        return g.node("Conv", x, g.weight(m, n, size, size), g.weight(m), kernel_shape=[size, size],
                      strides=[stride, stride], pads=[size // 2] * 4)

    def block(x, n, m):
        y = conv(silu(group_norm(x, n)), n, m)
        e = g.node("Gemm", silu(embedded), g.weight(m, 8), g.weight(m), transB=1)
        y = g.node("Add", y, g.node("Unsqueeze", g.node("Unsqueeze", e, g.ints(2)), g.ints(3)))
        y = conv(silu(group_norm(y, m)), m, m)
        return g.node("Add", y, conv(x, n, m, 1) if n != m else x)

    def attend(x, n):
        shape = g.node("Shape", x)
        y = g.node("Reshape", group_norm(x, n), g.ints(0, n, -1))
        y = g.node("Transpose", y, perm=[0, 2, 1])
        q, k, v = [g.linear(y, n, n) for _ in range(3)]
        p = g.node("Softmax", g.node("Mul", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 1])),
                                     g.real(n ** -0.5)), axis=-1)
        y = g.node("Transpose", g.linear(g.node("MatMul", p, v), n, n), perm=[0, 2, 1])
        return g.node("Add", x, g.node("Reshape", y, shape))

    t = g.node("Cast", g.node("Unsqueeze", time, g.ints(1)), to=FLOAT)
    t = g.node("Mul", t, g.constant(FLOAT, [1, 2], [1.0, 0.01]))
    t = g.node("Concat", g.node("Cos", t), g.node("Sin", t), axis=-1)
    embedded = g.node("Gemm", silu(g.node("Gemm", t, g.weight(8, 4), g.weight(8), transB=1)), g.weight(8, 8),
                      g.weight(8), transB=1)
    a = block(conv(x, 4, 4), 4, 4)
    b = attend(block(conv(a, 4, 4, 3, 2), 4, 6), 6)
    up = g.node("Resize", b, "", g.constant(FLOAT, [4], [1, 1, 2, 2]), coordinate_transformation_mode="asymmetric",
                mode="nearest", nearest_mode="floor")
    y = block(g.node("Concat", conv(up, 6, 6), a, axis=1), 10, 4)
    g.output(conv(silu(group_norm(y, 4)), 4, 4), "noise", FLOAT, "batch", 4, 8, 8)
    return g


def distilbert():
    """BERT with lengths that the exporter knew, in the form that ONNX Runtime makes one Attention of."""
    g = Graph("distilbert")
    width, n, length = 8, 2, 6
    ids, mask = [g.input(i, INT64, "batch", length) for i in ("input_ids", "attention_mask")]
    x = g.node("Add", g.node("Gather", g.weight(20, width), ids),
               g.node("Gather", g.weight(length, width), g.constant(INT64, [1, length], range(length))))
    x = g.norm(x, width)
    hidden = g.node("Cast", g.node("Unsqueeze", g.node("Unsqueeze", mask, g.ints(1)), g.ints(2)), to=FLOAT)
    hidden = g.node("Mul", g.node("Sub", g.real(1.0), hidden), g.real(-10000.0))
    for _ in range(2):
        q, k, v = [g.node("Reshape", g.linear(x, width, width), g.ints(0, 0, n, width // n)) for _ in range(3)]
        q, v = [g.node("Transpose", y, perm=[0, 2, 1, 3]) for y in (q, v)]
        p = g.node("Div", g.node("MatMul", q, g.node("Transpose", k, perm=[0, 2, 3, 1])), g.real(2.0))
        p = g.node("Softmax", g.node("Add", p, hidden), axis=-1)
        y = g.node("Transpose", g.node("MatMul", p, v), perm=[0, 2, 1, 3])
        y = g.linear(g.node("Reshape", y, g.ints(0, 0, width)), width, width)
        x = g.norm(g.node("Add", y, x), width)
        x = g.norm(g.node("Add", g.feed(x, width), x), width)
    g.output(x, "last_hidden_state", FLOAT, "batch", length, width)
    return g


if __name__ == "__main__":
    for make in (mlp, vit, yolo, tagger, bert, gpt, encoder, efficientnet, convnext, swin, unet, distilbert):
        model = make()
        with open("%s/%s.onnx" % (sys.argv[1], model.name), "wb") as file:
            file.write(model.bytes())
