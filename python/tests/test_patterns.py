# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Patterns and rewriting."""

import warnings

import pytest

import xir
from xir import F, P


@pytest.fixture
def copies():
    """x -> Copy -> y * sigmoid(y) -> Copy -> ReLU"""
    net = xir.Network("copies")
    x = F.Copy(net.input("x", "fp32 NHWC [1,4,4,2]"), name="c1")
    x = F.Copy(F.Multiply(x, F.Sigmoid(x, name="gate"), name="product"), name="c2")
    net.output(F.ReLU(x, name="relu"))
    return net


def keys(net):
    return [op.cls.key.split("::")[-1] for op in net]


def test_a_value_replaces_the_root(copies):
    assert copies.rewrite(P.op("Copy", P.any("x")), lambda m: m["x"]) == 2
    x = P.any("x")
    silu = P.op("Multiply", P.op("Sigmoid", x), x, commutes=True)
    assert copies.rewrite(silu, lambda m: F.SiLU(m["x"])) == 1
    assert keys(copies) == ["Input", "SiLU", "ReLU", "Output"] and copies.check() == []
    assert copies["product"].input == copies.inputs[0]      # it has the name of the root


def test_only_new_ops_take_the_name_of_the_root():
    net = xir.Network()
    x = F.ReLU(net.input("x", "fp32 NC [1,4]"))      # without a name
    net.output(F.Copy(x, name="copy"))
    assert net.rewrite(P.op("Copy", P.any("x")), lambda m: m["x"]) == 1 and x.op.name == ""
    assert net.rewrite(P.op("ReLU", P.any("x")), lambda m: F.Abs(F.Neg(m["x"]))) == 1
    assert [op.name for op in net] == ["x", "", "", ""]
    net["x"].next.name = "neg"
    assert net.rewrite(P.op("Neg", P.any("x")), lambda m: F.Sign(m["x"])) == 1 and net["neg"].cls.key.endswith("Sign")


def test_matches_say_what_they_matched(copies):
    x = P.any("x")
    found = list(copies.matches(P.op("Multiply", x, P.op("Sigmoid", x, name="gate"))))
    assert [m.root.name for m in found] == ["product"] and found[0].op("gate").name == "gate"
    assert found[0]["x"] == copies["c1"].output and found[0].op("x") == copies["c1"] and "product" in repr(found[0])
    with pytest.raises(KeyError, match="no part named 'y'"):
        found[0]["y"]


def test_what_a_part_tests(copies):
    def names(part):
        return [m.root.name for m in copies.matches(part)]

    copies["relu"].alpha = 0.5
    assert names(P.op("ReLU", alpha=0.5)) == ["relu"] and names(P.op("ReLU", alpha=0.25)) == []
    assert names(P.op("ReLU", alpha=...)) == ["relu"] and names(P.op("ReLU", attrs={"nothing": ...})) == []
    assert names(P.op("ReLU", alpha=lambda a: a > 0.4)) == ["relu"] and names(P.op("ReLU", alpha=lambda a: a > 1)) == []
    assert names(P.op("Copy", where=lambda op: op.name == "c2")) == ["c2"]
    assert names(P.op("Copy", P.any(where=lambda v: v.op.name == "x"))) == ["c1"]
    assert names(P.op("Copy|onnx::Relu", P.op(None, P.any(), P.rest()))) == ["c2"]      # Input has no inputs
    assert names(P.op("Copy", uses=2)) == ["c1"] and names(P.op("Copy", element="@fp(16)")) == []
    assert names(P.op("Multiply", P.either(P.op("ReLU"), P.op("Copy")))) == []
    assert names(P.op("Multiply", P.either(P.op("ReLU"), P.op("Copy")), P.any())) == ["product"]
    assert names(P.op("ReLU", P.op("Abs", P.op("Copy"), optional=True))) == ["relu"]


def test_the_function_edits_the_network_itself(copies):
    def bypass(m):
        copies.bypass(m.root)
        return True

    assert copies.rewrite(P.op("Copy"), bypass) == 2 and "Copy" not in keys(copies) and copies.check() == []
    assert copies.rewrite(P.op("ReLU"), lambda m: None) == 0


def test_several_outputs_are_replaced():
    net = xir.Network()
    x = net.input("x", "fp32 NC [1,4]")
    net.output(*F.Split(x, chunks=2, axis=-1) if "chunks" in [f["name"] for f in xir.Class("Split").fields]
               else F.Split(x, sections=(2, 2), axis=-1))
    kinds = [value.type for value in net.outputs]
    split = net.outputs[0].op

    def swap(m):
        seen.append(m.root)
        return tuple(F.ReLU(F.Slice(m.root.inputs[0], begin=(0, 2 * i), end=(1, 2 * i + 2), stride=(1, 1)))
                     for i in (0, 1))

    seen = []
    assert net.rewrite(P.op("Split"), swap) == 1 and seen == [split] and split.erased
    assert [value.type for value in net.outputs] == kinds and net.check() == []


def test_exceptions_come_out_as_they_are(copies):
    def fail(*_):
        raise ZeroDivisionError("no more")

    for part, function in ((P.op("ReLU"), fail), (P.op("ReLU", where=fail), None), (P.op("ReLU", alpha=fail), None),
                           (P.op("ReLU", P.any(where=fail)), None)):
        with pytest.raises(ZeroDivisionError, match="no more"):
            copies.rewrite(part, function or (lambda m: None))
        if function is None:
            with pytest.raises(ZeroDivisionError, match="no more"):
                list(copies.matches(part))
    assert copies.check() == [] and len(copies) == 7


def test_wrong_results_and_parts(copies):
    other = copies.clone()
    for result, error in (("x", TypeError), (other["c1"].output, xir.InvalidError), ((), xir.BoundsError)):
        with pytest.raises(error):
            copies.rewrite(P.op("ReLU"), lambda m: result)
    with pytest.raises(xir.StaleError):
        copies.rewrite(P.op("ReLU"), lambda m: (copies.remove(m.root), copies.inputs[0])[1])
    for make, error in ((lambda: P.op("Nothing"), xir.UnknownError), (lambda: P.op("ReLU", 1), TypeError),
                        (lambda: P.op("ReLU", where=1), TypeError), (lambda: P.any(1), TypeError),
                        (lambda: xir.Pattern(P.any()), xir.InvalidError), (lambda: xir.Pattern("x"), TypeError),
                        (lambda: xir.Pattern(P.op("ReLU", alpha=None)), TypeError),
                        (lambda: xir.Pattern(P.op("ReLU", alpha=2**64)), xir.BoundsError),
                        (lambda: xir.Pattern(P.op("ReLU", *[P.any() for _ in range(17)])), xir.LimitError),
                        (lambda: xir.Pattern(P.op("ReLU", element="@what")), xir.Error)):
        with pytest.raises(error):
            make()
    deep = P.any()
    for _ in range(10_000):
        deep = P.op("ReLU", deep)
    with pytest.raises(xir.LimitError):
        xir.Pattern(deep)


def test_a_predicate_cannot_edit(copies):
    with pytest.raises(xir.BusyError):
        copies.rewrite(P.op("Copy", where=lambda op: setattr(op, "name", "x")), lambda m: m.root.input)
    assert copies["c1"].name == "c1"


def test_a_rewriting_that_does_not_end(copies):
    with pytest.raises(xir.LimitError, match="may not terminate"):
        copies.rewrite(xir.Pattern(P.op("ReLU", P.any("x")), name="endless"), lambda m: F.ReLU(m["x"]), limit=9)


def test_a_value_of_another_type_is_a_warning(copies):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert copies.rewrite(P.op("ReLU", P.any("x")), lambda m: F.MaxPool2d(m["x"], k=2, stride=2)) == 0
    assert "expected a value of type" in str(caught[0].message) and len(copies) == 7


def test_rewriting_in_rewriting(copies):
    """The function runs passes, rewrites, and drops what it holds."""
    def function(m):
        m.root.network.rewrite(P.op("Sigmoid", P.any("x")), lambda n: F.Tanh(n["x"]))
        xir.Pipeline("infer").run(m.root.network)
        return m["x"]

    assert copies.clone().rewrite(P.op("Copy", P.any("x")), function) == 2
