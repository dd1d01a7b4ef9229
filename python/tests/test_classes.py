# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Classes of operations written in Python."""

import gc
import itertools
import threading

import numpy as np
import pytest

import xir
from xir import F

number = itertools.count()


class Swish(xir.Op, key="test::Swish"):
    """x * sigmoid(beta * x)

    The first line is the class's."""
    beta = xir.Real(1.0, least=0, doc="the steepness")

    def infer(self, input):
        return input

    def check(self, input):
        if self.beta == 13:
            raise ValueError("13 is unlucky")

    def run(self, input):
        return input * self.gate(input)

    def gate(self, input):
        return 1 / (1 + np.exp(-self.beta * input))


@pytest.fixture
def net():
    net = xir.Network("swish")
    net.output(Swish(net.input("x", "fp32 NC [1,4]"), beta=2.0, name="swish"))
    return net


def make(infer=lambda self, x: x, run=None, **more):
    members = {"infer": infer, **({"run": run} if run else {}), **more}
    name = f"Made{next(number)}"
    return type(xir.Op)(name, (xir.Op,), members, key=f"test::{name}")


def test_a_class_is_like_those_of_the_library(net):
    op, x = net["swish"], np.array([[-1, 0, 1, 2]], "f4")
    assert op.cls.key == "test::Swish" and op.cls.doc == "x * sigmoid(beta * x)" and op.beta == 2.0
    assert op.input == net.inputs[0] and net.check() == [] and list(net.ops(Swish)) == [op]
    assert np.allclose(list(net.run(x).values())[0], x / (1 + np.exp(-2 * x)))
    assert xir.read(net.write("fb")).equal(net) and xir.read(net.write("imodel"))["swish"].beta == 2.0
    assert F["test::Swish"].cls == op.cls and "steepness" in F["test::Swish"].__doc__
    assert F.Swish.cls.key == "icraft::xir::SiLU"      # an old key of the library comes first
    assert xir.optimize(net, prove=True, verify=True) is not None and net["swish"]


def test_rows_are_checked(net):
    x = net.inputs[0]
    with pytest.raises(xir.BoundsError, match="least beta"):
        Swish(x, beta=-1)
    with pytest.raises(xir.InvalidError, match="test::Swish: ValueError: 13 is unlucky"):
        Swish(x, beta=13)
    with pytest.raises(xir.UnknownError, match="gamma"):
        Swish(x, gamma=1)
    with pytest.raises(TypeError):
        Swish(x, x)
    net["swish"].beta = 13
    assert "13 is unlucky" in net.check()[0].message and "13 is unlucky" in net["swish"].check()[0].message


def test_every_kind_of_row():
    seen = []

    class Rows(xir.Op, key="test::Rows", outputs=("a", "b"), pure=False):
        flag = xir.Bool(True)
        count = xir.Int(3, least=1, greatest=9)
        scale = xir.Real()
        text = xir.Text("näme")
        flags, counts, scales, texts = xir.Bools(), xir.Ints(doc="some"), xir.Reals(), xir.Texts()

        def infer(self, first, second=None, *more):
            seen.append((vars(self), second, len(more)))
            return first, xir.Type("int8 NC [?,2]")

        def run(self, first, second=None, *more):
            return first, np.full((3, 2), self.count)

    net = xir.Network()
    x = net.input("x", "fp32 NC [1,2]")
    with pytest.raises(xir.MissingError, match="scale"):
        Rows(x)
    a, b = Rows(x, None, x, x, scale=0.5, flags=[True, False], counts=(1, 2), scales=[1], texts=["a", "b\n"])
    assert seen[-1] == ({"flag": True, "count": 3, "scale": 0.5, "text": "näme", "flags": (True, False),
                         "counts": (1, 2), "scales": (1.0,), "texts": ("a", "b\n")}, None, 2)
    assert a.type == x.type and str(b.type) == "int8 NC [?,2]" and [p["kind"] for p in a.op.cls.inputs] == [
        "one", "optional", "any"]
    net.output(a, b)
    first, second = net.run(np.ones((1, 2), "f4")).values()
    assert first.tolist() == [[1, 1]] and second.tolist() == [[3, 3]] * 3 and second.dtype == "int8"
    assert xir.read(net.write("fb")).equal(net) and F.Rows.cls == a.op.cls


@pytest.mark.parametrize("infer, says", [
    (lambda self, x: 1 / 0, "ZeroDivisionError"), (lambda self, x: None, "NoneType"), (lambda self, x: 5, "int"),
    (lambda self, x: "fp31", "fp31"), (lambda self, x: (x, x), "output"), (lambda self, x: (), "output"),
    (lambda self, x: self.nothing, "nothing"), (lambda self, x: x.element.shape[0], "subscriptable"),
])
def test_an_inference_that_fails(net, infer, says):
    with pytest.raises(xir.Error, match=says):
        make(infer)(net.inputs[0])
    assert len(net) == 3 and net.check() == []


def test_an_inference_recurses(net):
    def infer(self, x):
        other = xir.Network()
        made(other.input("y", "fp32 NC [1,4]"))
        return x

    made = make(infer)
    with pytest.raises((xir.Error, RecursionError)):
        made(net.inputs[0])
    assert len(net) == 3


@pytest.mark.parametrize("run, says", [
    (lambda self, x: 1 / 0, "ZeroDivisionError"), (lambda self, x: None, "."), (lambda self, x: x[:, :1], "dims"),
    (lambda self, x: (x, x), "2 arrays"), (lambda self, x: "x", "."), (lambda self, x: [[1]], "dims"),
    (lambda self, x: x.__setitem__(0, 1), "read-only"),
])
def test_a_run_that_fails(run, says):
    net = xir.Network()
    net.output(make(run=run)(net.input("x", "fp32 NC [1,4]")))
    with pytest.raises(xir.Error, match=says):
        net.run(np.zeros((1, 4), "f4"))


def test_functions_do_not_change_the_networks_that_exist(net):
    """They may make networks of their own."""
    caught = []

    def attempt(*calls):
        for call in calls:
            with pytest.raises(xir.BusyError) as error:
                call()
            caught.append(error)

    def infer(self, x):
        attempt(lambda: net["swish"].name, lambda: setattr(net, "name", "x"), lambda: F.ReLU(net.inputs[0]),
                lambda: net.remove(net["swish"]), lambda: list(net), lambda: net.infer())
        return x

    def run(self, x):
        own = xir.Network()
        own.output(F.ReLU(own.input("x", "fp32 NC [1,4]")))
        attempt(lambda: setattr(net["swish"], "name", "x"), lambda: net.remove(net["swish"]),
                lambda: xir.Pipeline("infer").run(net), lambda: net.infer())
        return list(own.run(x.astype("f4")).values())[0]

    made = make(infer, run)
    with net.at(after=net["swish"]):
        net["swish"].output.insert(lambda x: made(x, name="made"))
    assert len(caught) >= 6 and net.check() == []
    net.infer()
    net.run(np.ones((1, 4), "f4"))
    xir.Pipeline("fold,infer").run(net, prove=True)
    assert net["made"] and net.check() == []


def test_another_thread_finds_the_network_in_use(net):
    caught = []

    def attempt():
        try:
            net["swish"].name = "x"
        except xir.BusyError as error:
            caught.append(error)

    def infer(self, x):
        thread = threading.Thread(target=attempt)
        thread.start()
        thread.join()
        return x

    make(infer)(net["swish"])
    assert len(caught) == 1


def test_what_functions_get_may_be_kept(net):
    kept = []

    def infer(self, x):
        kept.append((self, x, x.element))
        return x

    def run(self, x):
        kept.append(x)
        return x

    other = xir.read(net.write("fb"))
    with other.at(after=other["swish"]):
        other["swish"].output.insert(make(infer, run))
    other.run(np.ones((1, 4), "f4"))
    del other
    gc.collect()
    assert str(kept[0][1]) == "fp32 NC [1,4]" and str(kept[0][2]) == "fp32" and 3 < kept[-1].sum() < 4


def test_symbols_of_dims_are_kept():
    net = xir.Network()
    x = net.input("x", "fp32 NC [?,4]")
    assert make()(x).type == x.type


def test_an_interrupt_in_a_run():
    def run(self, x):
        raise KeyboardInterrupt

    net = xir.Network()
    net.output(make(run=run)(net.input("x", "fp32 NC [1,4]")))
    with pytest.raises((KeyboardInterrupt, xir.InvalidError), match="KeyboardInterrupt|^$"):
        net.run(np.zeros((1, 4), "f4"))
        sum(range(100_000))      # signals are looked at
    try:
        sum(range(100_000))
    except KeyboardInterrupt:
        pass


def test_wrong_classes():
    for wrong, error in ((lambda: xir.Real("x"), TypeError), (lambda: xir.Text("x", least=1), TypeError),
                         (lambda: xir.Int(1.5), TypeError), (lambda: xir.Ints(1), TypeError),
                         (lambda: type("A", (xir.Op,), {}), TypeError),
                         (lambda: make(lambda self, *, x: x), TypeError),
                         (lambda: make(lambda self, x=1: x), TypeError),
                         (lambda: make(a=xir.Int(2**64)), OverflowError), (lambda: make(a=xir.Int(5, greatest=1)),
                                                                           xir.InvalidError),
                         (lambda: make(a=xir.Real(float("nan"), least=0)), xir.InvalidError),
                         (lambda: make(a=xir.Text("a\0b")), xir.SyntaxError),
                         (lambda: type("A", (Swish,), {"infer": lambda self, x: x}), TypeError),
                         (lambda: type(xir.Op)("A", (xir.Op,), {"infer": lambda self, x: x}, key="test::Swish"),
                          xir.ExistsError), (lambda: xir.Op(), TypeError)):
        with pytest.raises(error):
            wrong()


# ---- composed classes -------------------------------------------------------------------------------------------

class Gated(xir.Op, key="test::Gated", inputs=("x", "gate", "r?"),
            composed="%s = Sigmoid(%gate); %m = Multiply(%x, %s); %o = Add(%m, shift);\n%output = Add(%o, %r)?"):
    """x where the gate is open, shifted, plus r"""
    shift = xir.Real(0.0, doc="added to all")


class Joined(xir.Op, key="test::Joined", inputs=("first", "*more"), outputs=("low", "high"), within=1e-3,
             composed="%j = Concat(%first, %more){axis=-1}; %low, %high = Split(%j){sections=[half, half]}"):
    """Maps joined and halved"""
    half = xir.Int(1, least=1)


def test_a_class_is_composed():
    net, x = xir.Network(), np.array([[1, 2], [3, 4]], "f4")
    a, b = net.input("a", "fp32 NC [2,2]"), net.input("b", "fp32 NC [2,2]")
    y, z = Gated(a, b, shift=0.5, name="y"), Gated(a, b, a, name="z")
    net.output(y, z, *Joined(a, b, y, z, half=4, name="j"))
    gate = x / (1 + np.exp(-x))
    out = list(net.run(a=x, b=x).values())
    assert net.check() == [] and np.allclose(out[0], gate + 0.5) and np.allclose(out[1], gate + x)
    assert np.allclose(out[2], np.concatenate([x, x], 1)) and np.allclose(out[3], np.concatenate(out[:2], 1))
    parts = xir.read(net.write("fb"))
    xir.Pipeline("to-parts").run(parts)
    assert not [op for op in parts.ops() if op.cls.key.startswith("test::")]
    assert all(np.array_equal(p, q) for p, q in zip(parts.run(a=x, b=x).values(), out))
    xir.Pipeline("fuse-to{class=test::Gated}").run(parts)
    assert sorted(op.shift for op in parts.ops(Gated)) == [0, 0.5]


def test_what_is_defined_takes_the_place_of_what_follows():
    class Twice(xir.Op, key="test::ComposedTwice", composed="%output = Add(%x, %x)", within=0.5):
        def infer(self, x):
            return x

        def run(self, x):
            return 2.25 * x

    net = xir.Network()
    net.output(Twice(net.input("x", "fp32 NC [1,2]")))
    assert list(net.run(np.ones((1, 2), "f4")).values())[0].tolist() == [[2.25, 2.25]]
    xir.Pipeline("to-parts").run(net)
    assert list(net.run(np.ones((1, 2), "f4")).values())[0].tolist() == [[2, 2]]


def test_a_composition_that_means_nothing_is_refused():
    for composed, error, message in (("%output = Foo(%x)", xir.UnknownError, "column 11: there is no class Foo"),
                                     ("%output = Add(%x)", xir.InvalidError, "needs its input 'rhs'"),
                                     ("%output Add", ValueError, "line 1, column 9: expected '='")):
        with pytest.raises(error, match=message):
            type(xir.Op)("Bad", (xir.Op,), {}, key=f"test::Bad{next(number)}", inputs=("x",), composed=composed)
    for arguments in ({"composed": "%output = ReLU(%x)"}, {"inputs": ("x",)}, {}, {"composed": "", "inputs": "x"}):
        with pytest.raises(TypeError):
            type(xir.Op)("Bad", (xir.Op,), {}, key=f"test::Bad{next(number)}", **arguments)
    with pytest.raises(TypeError, match="parameters of infer"):
        type(xir.Op)("Bad", (xir.Op,), {"infer": lambda self, x: x}, key="test::BadToo", inputs=("x",))
