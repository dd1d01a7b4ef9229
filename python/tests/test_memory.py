# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Rounds of work with networks of their own, which are freed, leave no memory taken."""

import os
import pickle

import numpy as np
import pytest

import xir
from xir import F, P


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Twice(xir.Op, key="memory::Twice"):
    def infer(self, x):
        if x.shape[0] == 9:
            raise ValueError("nine")
        return x

    def run(self, x):
        return x * 2


@xir.pass_("memory-nothing")
def nothing(net, o):
    return 0


def functions_of_the_caller():
    """Patterns, watches, a class and a pass of Python; what they raise."""
    net = xir.Network("made")
    x = net.input("x", "fp32 NC [1,4]")
    net.output(F.Multiply(Twice(x, name="twice"), F.Sigmoid(x)))
    part = P.any("x", where=lambda value: True)
    assert len(list(net.matches(P.op("Sigmoid", part)))) == 1
    assert net.rewrite(P.op("Sigmoid", part), lambda m: F.Tanh(m["x"])) == 1
    net.run(np.ones((1, 4), "f4"), threads=2)
    xir.Pipeline("infer,memory-nothing").run(net, prove=True, watches=[lambda event: event.net.name])
    for use in (lambda: Twice(net.input("y", "fp32 NC [9,4]")), lambda: net.rewrite(P.op("Tanh"), lambda m: 1 / 0),
                lambda: xir.Pipeline("infer").run(net, watches=[lambda event: 1 / 0]), lambda: P.op("Nothing")):
        with pytest.raises((xir.Error, ZeroDivisionError)):
            use()
    buffers = []
    data = pickle.dumps(net, 5, buffer_callback=buffers.append)
    assert pickle.loads(data, buffers=buffers).equal(net) and net.draw(format="dot")


class Seen(xir.Interpreter):
    def visit_ReLU(self, op, inputs, outputs):
        return outputs[0] * 1


def the_rest_of_the_library(net):
    """Runs with values, transactions, regions, records, comparisons, reductions; what they refuse."""
    image = np.zeros((1, 1, 8, 8), "f4")
    net.run(image, values="all").kept, net.run(np.zeros((2, 1, 8, 8), "f4"), each=True, values=[net[2].output])
    conv = next(net.ops("Conv2d"))
    with pytest.raises(ZeroDivisionError):
        with net.transaction():
            F.Abs(conv.output, name="gone")
            net.remove(conv)
            1 / 0
    net.type_of("fp32 [n,2*n]"), xir.convert(net, "onnx"), net.write("nnb"), net.stats(), conv.cost, dir(conv)
    xir.inline(xir.outline([conv])), xir.groups(net, lambda op: 1), xir.regions(net), list(net.walk(values=True))
    xir.extract(net, end=conv.output), xir.try_op(conv, "buyi"), xir.passes(), xir.targets(), xir.formats()
    with net.clone().record() as record:
        record.became(1), record.sources, record.history(record.net[1])
    xir.compare(net, net.clone(), [image])
    xir.reduce(net, lambda part: len(part) > 4, max_runs=5)
    Seen(net).run(image)
    for use in (lambda: net.run(image, values=["x"]), lambda: xir.reduce(net, lambda part: 1 / 0), lambda: net["x"],
                lambda: xir.groups(net, lambda op: 1 / 0), lambda: net.run(), lambda: xir.convert(net, "x"),
                lambda: conv.nothing, lambda: conv.inputs["x"], lambda: net.ops("x"), lambda: net.save("a.onnx", x=1)):
        with pytest.raises((xir.Error, ZeroDivisionError)):
            use()


def round_of_work(digits):
    net = xir.load(digits, lazy=True)
    xir.optimize(net)
    conv = next(net.ops("Conv2d"))
    with conv.weights.edit() as w:
        w *= 0.5
    with net.at(after=conv), net.scope("x"):
        conv.output.insert(lambda x: F.ReLU(x, name="extra"))
    relu = net["x/extra"]
    relu.extra["note"] = {"list": [1, "two", 3.0]}
    relu.tags["t"] = conv.weights
    del relu.extra["note"], relu.tags["t"]
    net.bypass(relu)
    for use in (lambda: relu.name, lambda: setattr(conv, "stride_height", 0), lambda: F.ReLU(conv, alpa=1),
                lambda: conv.nothing, lambda: xir.Type("fp31"), lambda: xir.Pipeline("x").run(net)):
        with pytest.raises((xir.Error, AttributeError)):
            use()
    borrowed = xir.params(net, np.ones((3, 3), "f4"), layout="NC")
    assert borrowed.numpy().sum() == 9 and borrowed.__dlpack__(max_version=(1, 0)) and borrowed.__dlpack__(copy=True)
    functions_of_the_caller()
    the_rest_of_the_library(net)
    net.run(np.zeros((1, 1, 8, 8), "f4"))
    again = xir.read(net.write("fb"))
    assert not xir.diff(net, again) and not net.check()
    repr(net), str(net), net.summary(), [repr(op) + op.json() + str(op.output) for op in net.ops("ReLU")]


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer keeps freed memory")
def test_rounds_leave_no_memory(digits):
    for _ in range(100):
        round_of_work(digits)
    before = resident()
    for _ in range(int(os.environ.get("XIR_PYTHON_ROUNDS", 1000))):
        round_of_work(digits)
    assert resident() - before < 1 << 20
