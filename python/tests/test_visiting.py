# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Interpreters, rules as decorators, passes whose options are keywords."""

import numpy as np
import pytest

import xir
from xir import F, P

IMAGE = np.random.default_rng(3).standard_normal((1, 8, 8, 3)).astype("f4")


class Seen(xir.Interpreter):
    """Notes every op with its arrays."""

    def __init__(self, net, **how):
        super().__init__(net, **how)
        self.ops, self.relus = [], 0

    def visit(self, op, inputs, outputs):
        self.ops.append((op.name, [None if a is None else a.shape for a in inputs], [a.shape for a in outputs]))

    def visit_ReLU(self, op, inputs, outputs):
        self.relus += 1
        assert np.array_equal(np.maximum(inputs[0], 0), outputs[0])


def test_an_interpreter_sees_ops_and_values(tiny):
    seen = Seen(tiny)
    out = seen.run(IMAGE)
    assert np.array_equal(out["pool"], tiny.run(IMAGE)["pool"]) and seen.relus == 1
    assert [name for name, *_ in seen.ops] == ["image", "conv", "pool", ""]
    assert seen.ops[1][1:] == ([(1, 8, 8, 3), (3, 3, 3, 4), None], [(1, 8, 8, 4)]) or seen.ops[1][2] == [(1, 8, 8, 4)]
    assert np.array_equal(seen.run(image=IMAGE)["pool"], out["pool"])
    tiny["conv"].name = "free again"


def test_an_interpreter_exchanges_values(tiny):
    class Half(xir.Interpreter):
        def visit_Conv2d(self, op, inputs, outputs):
            return outputs[0] / 2

    net = tiny.clone()
    with net["conv"].weights.edit() as w:
        w /= 2
    assert np.allclose(Half(tiny).run(IMAGE)["pool"], net.run(IMAGE)["pool"], atol=1e-5)


def test_what_an_interpreter_refuses(tiny):
    class Wrong(xir.Interpreter):
        made = None

        def visit_Conv2d(self, op, inputs, outputs):
            return type(self).made() if self.made else None

    for made, error in ((lambda: np.ones(3, "f4"), xir.Error), (lambda: np.ones((1, 8, 8, 4)), TypeError),
                        (lambda: (1, 2), xir.BoundsError), (lambda: 1 / 0, ZeroDivisionError),
                        (lambda: setattr(tiny["conv"], "name", "x"), xir.BusyError),
                        (lambda: interpreter.run(IMAGE), xir.BusyError), (lambda: "text", TypeError)):
        Wrong.made = staticmethod(made)
        interpreter = Wrong(tiny)
        with pytest.raises(error):
            interpreter.run(IMAGE)
        tiny["conv"].name = "conv"      # it has been closed
    with pytest.raises(xir.MissingError):
        xir.Interpreter(tiny).run()
    with pytest.raises(TypeError):
        xir.Interpreter("net")
    with pytest.raises(xir.LimitError):
        xir.Interpreter(tiny, max_work=10).run(IMAGE)
    with pytest.raises(xir.StaleError):
        xir.Interpreter(tiny).value(tiny["conv"].output)


def test_an_interpreter_of_a_foreign_network(digits):
    samples = np.load(digits.parent / "digits_inputs.npy")
    seen = Seen(xir.load(digits))
    assert np.array_equal(seen.run(samples[:1])["logits"], seen.net.run(samples[:1])["logits"]) and seen.relus


def silu_net():
    net = xir.Network()
    x = net.input("x", "fp32 NC [1,4]")
    net.output(F.Multiply(x, F.Sigmoid(x), name="y"))
    return net


def test_rules():
    part = P.any("x")

    @xir.rewrite(P.op("Multiply", part, P.op("Sigmoid", part), commutes=True))
    def test_to_silu(match):
        """x * sigmoid(x) is SiLU"""
        return F.SiLU(match["x"])

    net = silu_net()
    assert test_to_silu(net) == 1 and net["y"].cls.key.endswith("SiLU") and test_to_silu(net) == 0
    net = silu_net()
    assert xir.Pipeline("fix(test-to-silu,dce)").run(net, verify=True, prove=True).changes >= 1
    assert net["y"].cls.key.endswith("SiLU")
    row = next(row for row in xir.passes() if row.name == "test-to-silu")
    assert row.doc == "x * sigmoid(x) is SiLU" and "test-to-silu" in repr(test_to_silu)
    for bad, error in ((lambda: xir.rewrite(lambda m: m), TypeError), 
                       (lambda: xir.rewrite(part, level="x"), xir.UnknownError),
                       (lambda: xir.rewrite(P.op("SiLU", part), name="infer")(lambda m: None),
                        xir.ExistsError)):
        with pytest.raises(error):
            bad()

    @xir.rewrite(P.op("SiLU", part), name="test-fails")
    def fails(match):
        return 1 / 0
    with pytest.raises(ZeroDivisionError):
        fails(net)


def test_options_are_keywords(tiny):
    seen = []

    @xir.pass_
    def test_notes(net, *, limit: int = 3, rate: float = 1, word: "str" = "a", on: bool = False):
        """Notes its options."""
        seen.append((limit, rate, word, on))
        return 0

    xir.Pipeline("test-notes").run(tiny)
    xir.Pipeline("test-notes{limit=5,rate=0.5,word=b,on}").run(tiny)
    assert seen == [(3, 1.0, "a", False), (5, 0.5, "b", True)]
    row = next(row for row in xir.passes() if row.name == "test-notes")
    assert [(option.name, option.kind, option.default) for option in row.options] == [
        ("limit", "int", "3"), ("rate", "real", "1.0"), ("word", "text", "a"), ("on", "bool", "false")]
    with pytest.raises(xir.UnknownError, match="limit"):
        xir.Pipeline("test-notes{limt=5}").run(tiny)

    @xir.pass_("test-notes")
    def again(net):
        """Another one."""
        seen.append("again")
    xir.Pipeline("test-notes").run(tiny)
    assert seen[-1] == "again" and sum(row.name == "test-notes" for row in xir.passes()) == 1
    with pytest.raises(TypeError, match="needs a default"):
        @xir.pass_
        def bad(net, *, limit):
            return 0
    with pytest.raises(TypeError):
        @xir.pass_
        def worse(net, *, limit: list = []):
            return 0
