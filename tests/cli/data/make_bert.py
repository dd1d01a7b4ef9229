#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Writes bert.onnx: an encoder layer as BERT has it, of four dims, with random weights. Its inputs index tables (words,
token types, places), and a mask leaves words out. Needs nothing but Python."""
import random
import struct
import sys

SIZE, HEADS, LENGTH, WORDS, PLACES = 4, 2, 5, 20, 6
FLOAT, INT64 = 1, 7
nodes, weights = [], []


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n & (1 << 64) - 1)


def item(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def attribute(name, value):
    if isinstance(value, int):
        return item(1, name) + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return item(1, name) + varint(2 << 3 | 5) + struct.pack("<f", value) + number(20, 1)
    return item(1, name) + b"".join(number(8, v) for v in value) + number(20, 7)


def add(kind, inputs, output, **attributes):
    names = b"".join(item(1, name) for name in inputs) + item(2, output) + item(3, output)
    nodes.append(names + item(4, kind) + b"".join(item(5, attribute(*pair)) for pair in attributes.items()))
    return output


def weight(name, dims, values=None, kind=FLOAT):
    count = 1
    for dim in dims:
        count *= dim
    values = values or [random.gauss(0, 0.5) for _ in range(count)]
    data = struct.pack("<%d%s" % (count, "f" if kind == FLOAT else "q"), *values)
    weights.append(b"".join(number(1, dim) for dim in dims) + number(2, kind) + item(8, name) + item(9, data))
    return name


def port(name, kind, dims):
    shape = b"".join(item(1, number(1, dim)) for dim in dims)
    return item(1, name) + item(2, item(1, number(1, kind) + item(2, shape)))


def norm(value, output):
    return add("LayerNormalization", [value, "gain", "shift"], output, axis=-1, epsilon=1e-12)


def head(letter, perm):
    product = add("MatMul", ["embedded", weight("w" + letter, [SIZE, SIZE])], letter + "1")
    biased = add("Add", [weight("b" + letter, [SIZE]), product], letter + "2")
    split = add("Reshape", [biased, "by_head"], letter + "3")
    return add("Transpose", [split], letter, perm=perm)


random.seed(1)
weight("gain", [SIZE], [1.0] * SIZE)
weight("shift", [SIZE], [0.0] * SIZE)
weight("one", [], [1.0])
weight("by_head", [4], [0, 0, HEADS, SIZE // HEADS], INT64)
add("Gather", [weight("words", [WORDS, SIZE]), "input_ids"], "word")
add("Gather", [weight("types", [2, SIZE]), "token_type_ids"], "type")
add("Gather", [weight("places", [PLACES, SIZE]), "position_ids"], "place")
norm(add("Add", [add("Add", ["word", "type"], "typed"), "place"], "placed"), "embedded")
add("Unsqueeze", ["attention_mask", weight("axes", [2], [1, 2], INT64)], "mask1")
add("Sub", ["one", add("Cast", ["mask1"], "mask2", to=FLOAT)], "mask3")
add("Mul", ["mask3", weight("lowest", [], [-3.4028234663852886e38])], "mask")
scores = add("MatMul", [head("q", [0, 2, 1, 3]), head("k", [0, 2, 3, 1])], "scores")
masked = add("Add", [add("Div", [scores, weight("root", [], [2 ** 0.5])], "scaled"), "mask"], "masked")
mixed = add("MatMul", [add("Softmax", [masked], "attention", axis=-1), head("v", [0, 2, 1, 3])], "mixed")
turned = add("Transpose", [mixed], "turned", perm=[0, 2, 1, 3])
joined = add("Reshape", [turned, weight("whole", [3], [0, 0, SIZE], INT64)], "joined")
norm(add("Add", ["embedded", joined], "sum"), "hidden")

inputs = ["input_ids", "token_type_ids", "position_ids", "attention_mask"]
graph = b"".join(item(1, node) for node in nodes) + item(2, "bert") + b"".join(item(5, w) for w in weights)
graph += b"".join(item(11, port(name, INT64, [1, LENGTH])) for name in inputs)
graph += item(12, port("hidden", FLOAT, [1, LENGTH, SIZE]))
with open(sys.argv[1] if len(sys.argv) > 1 else "bert.onnx", "wb") as file:
    file.write(number(1, 8) + item(2, "make_bert") + item(7, graph) + item(8, item(1, "") + number(2, 17)))
