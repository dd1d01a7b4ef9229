"""Rounds of work with networks of their own, which are freed, leave no memory taken."""

import os

import numpy as np
import pytest

import xir
from xir import F


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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
    xir.params(net, np.ones((3, 3), "f4"), layout="NC").numpy()
    net.run(np.zeros((1, 1, 8, 8), "f4"))
    again = xir.read(net.write("fb"))
    assert not xir.diff(net, again) and not net.check()
    repr(net), str(net), [repr(op) + op.json() + str(op.output) for op in net.ops("ReLU")]


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="a sanitizer keeps freed memory")
def test_rounds_leave_no_memory(digits):
    for _ in range(100):
        round_of_work(digits)
    before = resident()
    for _ in range(int(os.environ.get("XIR_PYTHON_ROUNDS", 300))):
        round_of_work(digits)
    assert resident() - before < 1 << 20
