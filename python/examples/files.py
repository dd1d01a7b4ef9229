# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Writes the files that page.py reads into the working folder: model.onnx, whose batch is a symbol, and a.json and
b.json, which differ in a parameter. The ONNX file is written by the rules of protobuf, without a library for it."""

import random
import struct

import xir
from xir import F


def number(n):
    """A varint."""
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(tag, value):
    """A field of a message: an int, or what has a length: a text, bytes, or a list of fields."""
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    data = value.encode() if isinstance(value, str) else b"".join(value) if isinstance(value, list) else value
    return number(tag << 3 | 2) + number(len(data)) + data


def tensor(name, dims):
    """A TensorProto of small random floats."""
    count = 1
    for dim in dims:
        count *= dim
    floats = struct.pack(f"<{count}f", *(random.uniform(-0.5, 0.5) for _ in range(count)))
    return [*(field(1, dim) for dim in dims), field(2, 1), field(8, name), field(9, floats)]


def attribute(name, ints):
    """An AttributeProto with a list of integers."""
    return [field(1, name), *(field(8, i) for i in ints), field(20, 7)]


def node(kind, name, inputs, output, *attributes):
    """A NodeProto."""
    return [*(field(1, each) for each in inputs), field(2, output), field(3, name), field(4, kind),
            *(field(5, each) for each in attributes)]


def value(name, dims):
    """A ValueInfoProto of floats; a text is a symbol."""
    shape = [field(1, [field(2, dim) if isinstance(dim, str) else field(1, dim)]) for dim in dims]
    return [field(1, name), field(2, [field(1, [field(1, 1), field(2, shape)])])]


def model():
    """A ModelProto: a convolution, ReLU, the mean of each channel, a matrix product."""
    nodes = [
        node("Conv", "/layer1/0/conv1/Conv", ["image", "w", "b"], "c", attribute("strides", [1, 1]),
             attribute("pads", [1, 1, 1, 1]), attribute("kernel_shape", [3, 3])),
        node("Relu", "/layer1/0/relu/Relu", ["c"], "r"),
        node("GlobalAveragePool", "/pool/GlobalAveragePool", ["r"], "p"),
        node("Flatten", "/Flatten", ["p"], "f"),
        node("MatMul", "/fc/MatMul", ["f", "m"], "logits"),
    ]
    tensors = [tensor("w", (8, 3, 3, 3)), tensor("b", (8,)), tensor("m", (8, 10))]
    graph = [*(field(1, each) for each in nodes), field(2, "model"), *(field(5, each) for each in tensors),
             field(11, value("image", ["batch", 3, 8, 8])), field(12, value("logits", ["batch", 10]))]
    return b"".join([field(1, 8), field(7, graph), field(8, [field(2, 17)])])


def small(weight):
    """A network with one parameter."""
    net = xir.Network("small")
    x = net.input("x", "fp32 NC [1,4]")
    numbers = memoryview(struct.pack("<4f", 1, 2, 3, weight)).cast("f", (1, 4))
    net.output(F.Add(x, xir.params(net, numbers, name="w", layout="NC"), name="add"))
    return net


random.seed(1)
with open("model.onnx", "wb") as file:
    file.write(model())
small(4.0).save("a.json")
small(5.0).save("b.json")
