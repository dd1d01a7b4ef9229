# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calls that people try first: positions, mappings, completion, numbers for scalars, types of NumPy, transactions."""

import numpy as np
import pytest

import xir
from xir import F


def test_texts(tiny):
    assert str(tiny["relu"]).startswith("%relu = ReLU(") and "\n" not in str(tiny["conv"])
    assert repr(tiny["relu"]) == f"<xir.Op {tiny['relu'].id} icraft::xir::ReLU 'relu'>"
    relu = tiny["relu"]
    tiny.remove(relu)
    assert "erased" in str(relu)


def test_positions(tiny):
    assert tiny[0].cls.key.endswith("::Input") and tiny[-1].cls.key.endswith("::Output") and tiny[1] == tiny["conv"]
    assert tiny[1:3] == [tiny["conv"], tiny["relu"]] and tiny[::-1] == list(tiny)[::-1] and tiny[9:] == []
    assert tiny[np.int64(1)] == tiny["conv"]
    for bad in (5, -6, 2**70):
        with pytest.raises(IndexError):
            tiny[bad]
    with pytest.raises(KeyError, match="no op named 'cnov'; did you mean 'conv'"):
        tiny["cnov"]
    with pytest.raises(KeyError, match="no value named 'iamge'; did you mean 'image'"):
        tiny.value("iamge")
    for bad in (None, 1.5, ("conv",)):
        with pytest.raises(TypeError):
            tiny[bad]


def test_ops_by_class(tiny, digits):
    net = xir.load(digits)
    assert list(net.ops("Conv")) == list(net.ops("onnx::Conv")) and len(list(net.ops("Conv"))) > 2
    assert list(tiny.ops("Conv")) == [] == list(tiny.ops("onnx::Conv"))      # known, and not there
    for bad, says in (("Conv2", "Conv2d"), ("ReLUU", "ReLU"), ("onnx::Cnov", "onnx::Conv")):
        with pytest.raises(xir.UnknownError, match=f"did you mean '{says}'"):
            tiny.ops(bad)
    with pytest.raises(xir.UnknownError, match="did you mean 'Conv2d'"):
        xir.Class("Cnov2d")
    with pytest.raises(xir.UnknownError):
        tiny.ops("")


def test_attributes_are_a_mapping(tiny):
    conv = tiny["conv"]
    attrs = conv.attrs
    assert dict(attrs)["stride_height"] == 1 and len(attrs) == len(conv.cls.fields)
    attrs["stride_height"] = 2
    attrs["note"] = "mine"
    assert conv.stride_height == 2 and conv.extra == {"note": "mine"} and list(attrs)[-1] == "note"
    assert "note" in attrs and "nothing" not in attrs and attrs.get("nothing") is None
    del attrs["note"]
    assert "note" not in conv
    with pytest.raises(KeyError, match="did you mean 'stride_height'"):
        attrs["strid_height"]
    with pytest.raises(xir.Error):
        del attrs["stride_height"]
    tiny.remove(conv)
    with pytest.raises(xir.StaleError):
        attrs["stride_height"]


def test_names_are_completed(tiny, digits):
    conv = tiny["conv"]
    assert {"stride_height", "weights", "bias", "input", "output", "erase", "attrs"} <= set(dir(conv))
    net = xir.load(digits)
    assert "name" in dir(net["/c1/Conv"])
    tiny.remove(conv)
    assert "erase" in dir(conv)


def test_a_wrong_name_has_a_suggestion(tiny):
    with pytest.raises(AttributeError, match="did you mean 'stride_height'"):
        tiny["conv"].strid_height
    assert not hasattr(tiny["conv"], "nothing") and getattr(tiny["conv"], "nothing", 5) == 5


def test_ports_by_name(tiny):
    conv = tiny["conv"]
    assert conv.inputs["weights"] == conv.weights == conv.inputs[1] and conv.inputs["bias"] is None
    assert conv.outputs["output"] == conv.output and isinstance(conv.inputs, tuple) and conv.inputs[:1] == (conv.input,)
    with pytest.raises(KeyError, match="did you mean 'weights'"):
        conv.inputs["weihgts"]
    with pytest.raises(KeyError, match="no output"):
        conv.outputs["x"]
    with pytest.raises(IndexError):
        conv.inputs[9]
    net = xir.Network()
    x, y = net.input("x", "fp32 NC [1,4]"), net.input("y", "fp32 NC [1,4]")
    joined = F.Concat(x, y, axis=1).op
    assert joined.inputs[joined.cls.inputs[0]["name"]] == (x, y)
    assert {"inputs": conv.inputs}["inputs"] == tuple(conv.inputs) and hash(conv.inputs) == hash(tuple(conv.inputs))


def test_outputs_are_attributes():
    net = xir.Network()
    values, indices = F.TopK(net.input("x", "fp32 NC [1,9]"), np.array([3]), axis=1)
    op = values.op
    assert op.values == values == op.outputs["values"] and op.indices == indices == op.outputs["indices"]
    assert "indices" in dir(op)
    with pytest.raises(AttributeError, match="cannot be set"):
        op.indices = values


def test_scalars_are_numbers_and_layouts_texts():
    net = xir.Network()
    x = net.input("x", "fp32 NC [1,4]")
    add = F.Add(x, x, alpha=[2.0], beta=(3,), name="add").op
    assert add.alpha == (2.0,) and add.beta[0] == 3
    add.alpha = [np.float32(0.5)]
    assert add.alpha == (0.5,)
    reshaped = F.Reshape(x, shape=[4, 1], layout="CN").op
    assert reshaped.layout == "CN"
    reshaped.layout = "NC"
    assert reshaped.layout == "NC"
    reshaped["layout"] = "@layout(CN)"
    net.output(reshaped)
    assert reshaped.layout == "CN" and net.check() == []
    with pytest.raises(xir.Error):
        reshaped.layout = "QQ"
    top = F.Max(x, dim=1).op
    assert top.dim == 1
    top.dim = None
    assert top.dim is None
    cast = F.Cast(x, target_dtype="fp16 NC [1,4]").op
    assert cast.output.dtype == np.float16


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                                   "float16", "float32", "float64"])
def test_types_of_numpy(dtype):
    made = xir.Type(dtype, [1, 2], "NC")
    assert made.dtype == np.dtype(dtype) and made.shape == (1, 2) and made.layout == "NC"
    for given in (np.dtype(dtype), getattr(np, dtype if dtype != "bool" else "bool_")):
        assert xir.Type(given, (1, 2), "NC") == made and xir.Type(given) == made.element
    assert xir.Type(made, [3]).shape == (3,) and xir.Type(made) == made


def test_types_that_are_refused():
    assert xir.Type("float32", [None, "?", -1, 2]).shape == ("?", "?", "?", 2)
    assert xir.Type(float, []).dtype == np.float64
    for bad in (lambda: xir.Type("float32", [1.5]), lambda: xir.Type("float32", 5), lambda: xir.Type("float32", [-2]),
                lambda: xir.Type(np.dtype("c8"), [1]), lambda: xir.Type("float32", layout="NC"), lambda: xir.Type(None),
                lambda: xir.Type("float32", [1, 2], "N"), lambda: xir.Type("float32", ["x"]),
                lambda: xir.Type(object())):
        with pytest.raises(xir.Error):
            bad()


def test_values_have_shapes(tiny):
    conv = tiny["conv"]
    assert conv.output.shape == (1, 8, 8, 4) and conv.output.dtype == np.float32 and conv.output.layout == "NHWC"
    assert conv.output.producer == conv and conv.weights.producer is None and conv.weights.shape == (3, 3, 3, 4)


def test_arrays_of_any_kind_become_parameters(tiny):
    weights = tiny["conv"].weights
    given = np.full((3, 3, 3, 4), 2, "f4")
    weights.set_array(given)
    given[:] = 0       # the Params have a copy
    assert weights.numpy().min() == 2
    weights.set_array(np.full((3, 3, 3, 8), 3, ">f8")[..., ::2], cast=True)
    assert weights.numpy().max() == 3 and weights.numpy().dtype == np.float32
    weights.set_array(np.zeros((3, 3, 3, 4)).tolist(), cast=True)
    weights.set_array(xir.Array(np.ones((3, 3, 3, 4), "f4")))
    for bad, error in ((np.zeros((3, 3, 3, 4)), TypeError), (np.zeros((3, 3), "f4"), xir.BoundsError),
                       (np.zeros(0, "f4"), xir.BoundsError), ("x", TypeError), (None, TypeError)):
        with pytest.raises(error):
            weights.set_array(bad)
    assert weights.numpy().max() == 1
    with pytest.raises(TypeError):
        tiny["conv"].output.set_array(np.zeros((1, 8, 8, 4), "f4"))


# ---- transactions -----------------------------------------------------------------------------------------------

class Stop(Exception):
    pass


def put_back(net, change):
    with pytest.raises(Stop):
        with net.transaction():
            change()
            raise Stop


def test_an_exception_puts_the_network_back(tiny):
    before, text = tiny.clone(), str(tiny)
    conv, weights, pool, out = tiny["conv"], tiny["conv"].weights, tiny["pool"], tiny["conv"].output
    table, made = {conv: "conv", weights: "weights", out: "out"}, []

    def change():
        made.extend((F.Sigmoid(out, name="new"), tiny.input("more", "fp32 [1]")))
        with weights.edit() as w:
            w[:] = 7
        conv.stride_height = 2
        pool.name = "x"
        tiny.bypass(tiny["relu"])
        conv.tags["a"] = 1

    put_back(tiny, change)
    assert tiny.equal(before) and str(tiny) == text and tiny.check() == []
    assert conv == tiny["conv"] and hash(conv) == hash(tiny["conv"]) and table[tiny["conv"]] == "conv"
    assert table[tiny["conv"].weights] == "weights" and table[tiny["conv"].output] == "out"
    assert conv.stride_height == 1 and weights.numpy().max() == 1 and pool.name == "pool" and conv.weights == weights
    assert conv in tiny and "new" not in tiny
    with pytest.raises(xir.StaleError):
        made[0].name
    with pytest.raises(xir.StaleError):
        made[0].op.name
    conv.stride_height = 2
    assert tiny["conv"].stride_height == 2


def test_a_transaction_that_ends_well_keeps_its_changes(tiny):
    conv = tiny["conv"]
    with tiny.transaction() as net:
        assert net is tiny
        conv.stride_height = 2
        made = F.Sigmoid(conv.output, name="new")
    assert tiny["conv"] == conv and conv.stride_height == 2 and made.op == tiny["new"]


def test_transactions_nest_and_repeat(tiny):
    conv, relu = tiny["conv"], tiny["relu"]
    with pytest.raises(Stop):
        with tiny.transaction():
            conv.pad_top = 2
            late = F.Sigmoid(conv.output, name="late").op
            for _ in range(3):
                put_back(tiny, lambda: (setattr(conv, "pad_top", 5), tiny.bypass(relu)))
                assert conv.pad_top == 2 and late == tiny["late"] and relu.name == "relu"
            raise Stop
    assert conv.pad_top == 1 and relu == tiny["relu"] and tiny.check() == []
    with pytest.raises(xir.StaleError):
        late.name
    for i in range(50):
        put_back(tiny, lambda: F.Sigmoid(conv.output, name=f"n{i}"))
        again = F.Sigmoid(conv.output, name=f"k{i}").op
        put_back(tiny, lambda: again.erase())
        assert again == tiny[f"k{i}"] and not again.erased
    assert len(tiny) == 55 and conv == tiny["conv"] and hash(conv) == hash(tiny[1])


def test_a_loop_goes_on_after_the_network_was_put_back(tiny):
    seen = []
    for op in tiny:
        put_back(tiny, lambda: tiny.remove(op))
        seen.append(op.name)
    assert seen == ["image", "conv", "relu", "pool", ""] and len(tiny) == 5


def test_an_op_that_was_erased_before_stays_erased(tiny):
    relu = tiny["relu"]
    tiny.bypass(relu)
    put_back(tiny, lambda: None)
    assert relu.erased and "erased" in repr(relu) and "erased" in str(relu) and "relu" not in tiny


def test_the_cursor_is_put_back(tiny):
    with tiny.at(before=tiny["relu"]):
        put_back(tiny, lambda: F.Sigmoid(tiny["conv"].output))
        F.Abs(tiny["conv"].output, name="abs")
    assert tiny["abs"].next == tiny["relu"]


def test_types_of_before_stay(tiny):
    tiny.declare("n", 1, 8)
    value = tiny["conv"].output
    kind = tiny.type_of("fp32 NC [n, 2*n + 1]")
    assert kind.shape == ("n", "2*n + 1") or len(kind.shape) == 2
    put_back(tiny, lambda: None)
    text = str(kind)
    other = xir.Network()
    assert other.input("x", kind).shape is not None and text == str(kind) and value.type.shape == (1, 8, 8, 4)


def test_a_network_at_work_has_no_transactions(tiny):
    caught = []

    @xir.pass_("test-transaction")
    def within(net, o):
        with pytest.raises(xir.BusyError):
            with net.transaction():
                pass
        caught.append(1)
        return 0
    xir.Pipeline("test-transaction").run(tiny)
    assert caught == [1]


def test_a_keyboard_interrupt_puts_the_network_back(tiny):
    with pytest.raises(KeyboardInterrupt):
        with tiny.transaction():
            tiny["conv"].name = "x"
            raise KeyboardInterrupt
    assert "conv" in tiny
