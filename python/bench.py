# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The costs of the package: python3 -P python/bench.py, with PYTHONPATH as in docs/python.md. Times are CPU times, the
best of three. With python3-onnx installed, both read one ONNX file. --large adds 4 GiB.
The size of the extension is that of the build: a Release build, without debug information, is what users have."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import xir
from xir import F

OPS = 100_000


def best(call, n=1):
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) / n


def say(what, seconds, limit=None):
    for unit, size in (("s ", 1), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if seconds >= size or unit == "ns":
            print(f"{what:48} {seconds / size:8.2f} {unit}" + (f"   at most {limit}" if limit else ""))
            return


def read_attribute(op):
    for _ in range(1_000_000):
        op.alpha


def set_attribute(op):
    for i in range(100_000):
        op.alpha = 0.5


def names(net):
    for op in net:
        op.name


def dicts(net):
    return [{"name": op.name, "alpha": op.get("alpha")} for op in net]


def transaction(net):
    with net.transaction():
        pass


def add(n):
    net = xir.Network("bench")
    x = net.input("x", "fp32 NHWC [1,4,4,1]")
    for _ in range(n):
        x = F.ReLU(x)
    net.output(x)
    return net


def mapped():
    """An array of 4 GiB of mapped parameters, in a file that is sparse."""
    with tempfile.TemporaryDirectory() as folder:
        net = xir.Network("large")
        x = net.input("x", "fp32 NC [1,16384]")
        weights = xir.params(net, np.zeros((1 << 16, 1 << 14), "f4"), name="w", layout="NC")
        F.Concat(x, weights, axis=0)
        path = pathlib.Path(folder, "large.json")      # .fb holds less than 4 GiB
        net.save(path, check=False)
        large = xir.load(path, lazy=True)
        say("numpy() of 4 GiB of mapped parameters", best(lambda: large.params[0].numpy()), "20 us")


def rename(things, prefix):
    for i, thing in enumerate(things):
        thing.name = f"{prefix}{i}"


def next_name():
    numbers = itertools.count()
    return lambda name: f"n{next(numbers)}"


def weights_of(n):
    """A network of n matrix products, each with parameters of its own."""
    net = xir.Network("weights")
    x = net.input("x", "fp32 NC [1,8]")
    for i in range(n):
        x = F.Matmul(x, np.zeros((8, 8), "f4"), name=f"m{i}")
    net.output(x)
    return net


def replace_weights(net, numbers):
    for value in net.params:
        value.set_array(numbers)


def replace_tensors(model, numbers):
    import onnx.numpy_helper
    for tensor in model.graph.initializer:
        tensor.CopyFrom(onnx.numpy_helper.from_array(numbers, tensor.name))


def prefix_all(net, prefix):
    for op in net:
        op.name = prefix + op.name
        for value in op.outputs:
            value.name = prefix + value.name
    for value in net.params:
        value.name = prefix + value.name


def onnx_edits(folder):
    """Loading, renaming and new weights, next to the package onnx."""
    import onnx.compose
    path, numbers = pathlib.Path(folder, "weights.onnx"), np.ones((8, 8), "f4")
    weights_of(OPS // 10).save(path)
    mine, model = xir.load(path), onnx.load(path)
    for what, a, b in (
            ("load", lambda: xir.load(path), lambda: onnx.load(path)),
            ("rename all ops", lambda: rename(mine, "n"), lambda: rename(model.graph.node, "n")),
            ("rename all ops by a function", lambda: mine.rename(next_name(), values=False),
             lambda: rename(model.graph.node, "n")),
            ("a prefix for all names, in a loop", lambda: prefix_all(mine, "a/"),
             lambda: onnx.compose.add_prefix_graph(model.graph, "a/", inplace=True)),
            ("a prefix for all names", lambda: mine.rename("a/{}".format),
             lambda: onnx.compose.add_prefix_graph(model.graph, "a/", inplace=True)),
            ("replace all weights", lambda: replace_weights(mine, numbers), lambda: replace_tensors(model, numbers))):
        mine_takes, onnx_takes = best(a), best(b)
        say(f"{what}, {OPS // 10} products", mine_takes)
        say(f"    onnx: {onnx_takes / mine_takes:.1f} times", onnx_takes)


def onnx_peer():
    """Names and attributes of one ONNX file, with XIR and with the package onnx."""
    try:
        import onnx.helper
    except ImportError:
        print("python3-onnx is not installed")
        return
    net = xir.Network("bench")
    x = net.input("x", "fp32 NHWC [1,4,4,1]")
    for i in range(OPS):
        x = F.ReLU(x, alpha=0.5, name=f"n{i}")
    net.output(x)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "chain.onnx")
        xir.Pipeline("xir-to-onnx").run(net)
        net.save(path)
        mine, model = xir.load(path), onnx.load(path)
        onnx_edits(folder)
    say("one file: for op in net: op.name", best(lambda: names(mine), OPS))
    say("one file: names and attributes into dicts", best(lambda: [{"name": op.name, **op.extra} for op in mine]))
    op, node = mine.op(2), model.graph.node[1]
    say("one file: attribute by name", best(lambda: [op["alpha"] for _ in range(10_000)], 10_000))
    say("onnx: for node in graph.node: node.name", best(lambda: [node.name for node in model.graph.node], OPS))
    say("onnx: names and attributes into dicts", best(lambda: [
        {"name": n.name, **{a.name: onnx.helper.get_attribute_value(a) for a in n.attribute}}
        for n in model.graph.node]))
    say("onnx: attribute by name", best(lambda: [
        next(a for a in node.attribute if a.name == "alpha").f for _ in range(10_000)], 10_000))


def main():
    start = os.times()
    for _ in range(10):
        subprocess.run([sys.executable, "-c", "import xir"], check=True)
    middle = os.times()
    for _ in range(10):
        subprocess.run([sys.executable, "-c", "pass"], check=True)
    end = os.times()
    cpu = [t.children_user + t.children_system for t in (start, middle, end)]
    say("import xir", (cpu[1] - cpu[0] - (cpu[2] - cpu[1])) / 10, "12 ms")
    say("F.ReLU(x)", best(lambda: add(OPS), OPS), "2 us")
    net = add(OPS)
    op = next(net.ops("ReLU"))
    say("op.alpha", best(lambda: read_attribute(op), 1_000_000), "100 ns")
    say("op.alpha = 0.5", best(lambda: set_attribute(op), 100_000), "400 ns")
    say("for op in net: op.name, an op", best(lambda: names(net), OPS), "200 ns")
    say("names and attributes of 10^5 ops into dicts", best(lambda: dicts(net)), "0.15 s")
    if "--large" in sys.argv:      # needs 4 GiB of memory and of disk
        mapped()
    onnx_peer()
    say("a transaction of 10^5 ops that ends well", best(lambda: transaction(net)))
    say("op.inputs", best(lambda: [op.inputs for _ in range(100_000)], 100_000))
    print(f"{'the extension':48} {os.path.getsize(xir._xir.__file__) / 1000:8.0f} KB   at most 300 KB")


main()
