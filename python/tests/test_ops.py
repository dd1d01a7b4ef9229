# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Networks, ops, values and their attributes."""

import array
import inspect

import numpy as np
import pytest

import xir
from xir import F


def test_the_ops_of_a_network(tiny):
    assert [op.cls.key.split("::")[-1] for op in tiny] == ["Input", "Conv2d", "ReLU", "MaxPool2d", "Output"]
    assert len(tiny) == 5 and tiny.op(tiny["conv"].id) == tiny["conv"] and "conv" in tiny and "x" not in tiny
    assert tiny["conv"] in tiny and tiny["conv"].next == tiny["relu"] and tiny["relu"].prev == tiny["conv"]
    assert [op.name for op in tiny.ops("icraft::xir::ReLU")] == ["relu"] == [op.name for op in tiny.ops("ReLU")]
    assert tiny.value("image") == tiny.inputs[0] and tiny.outputs == (tiny["pool"].output,)
    with pytest.raises(KeyError, match="no op named 'x'"):
        tiny["x"]


def test_attributes(tiny):
    conv = tiny["conv"]
    assert (conv.stride_height, conv.pad_top, conv.padding_mode) == (1, 1, "ZEROS")
    conv.stride_height = 2
    conv["padding_mode"] = "REFLECT"
    assert conv["stride_height"] == 2 == conv.get("stride_height") and conv.padding_mode == "REFLECT"
    assert conv.get("nothing") is None and "stride_height" in conv and "nothing" not in conv
    assert conv.input == tiny.inputs[0] and conv.weights.is_params and conv.bias is None
    assert not hasattr(conv, "nothing")


def test_targets(tiny):
    conv = tiny["conv"]
    assert conv.target == "host" and tiny.check(target="buyi") == [] == tiny.check(target="zhuge:330")
    conv.stride_width = 3
    tiny.infer()
    found = tiny.check(target="buyi")[0]
    assert found.path == "/ops/1/stride_width" and "(8 - 3 + 1 + 1) % 3 is 1: buyi needs strides that divide" in str(found)
    assert found[-5:] == (found.target, found.rule, found.found, found.needed, found.mend) == (
        "buyi", "conv-stride", "(8 - 3 + 1 + 1) % 3 is 1", "strides that divide", "legalize cuts padding or the map")
    assert any("buyi needs maps of 8 or 16 bits" in str(f) for f in tiny.check(target="buyi", typed=True))
    conv.target = "buyi"
    assert conv.target == "buyi" and tiny["relu"].target == "host"
    conv.target = "zhuge:340"
    assert conv.target == "zhuge:340"
    with pytest.raises(xir.Error, match="did you mean 'buyi'"):
        conv.target = "buyy"
    with pytest.raises(xir.Error, match="no target 'buyi:1'") as raised:
        tiny.check(target="buyi:1")
    assert raised.value.findings[0].rule is None
    with pytest.raises(TypeError):
        conv.target = 3


@pytest.mark.parametrize("value, error, says", [
    (0, xir.BoundsError, "least stride_height"), (2**70, xir.BoundsError, "64 bits"), (-2**70, xir.BoundsError, "64"),
    ("two", TypeError, "stride_height"), (1.5, TypeError, "stride_height"), (float("nan"), TypeError, "stride_height"),
    ([1, 2], TypeError, "stride_height"), (True, TypeError, "stride_height"), (object(), TypeError, "object"),
    ("a\0b", TypeError, "stride_height"), ("\ud800", ValueError, "surrogates"), (None, xir.Error, "stride_height"),
    ({"a": 1}, TypeError, "stride_height"), (2**63, xir.Error, "stride_height"),
])
def test_a_refused_attribute_says_what_it_may_be(tiny, value, error, says):
    with pytest.raises(error, match=says):
        tiny["conv"].stride_height = value
    assert tiny["conv"].stride_height == 1 and tiny.check() == []


def test_a_misspelled_attribute_has_a_suggestion(tiny):
    with pytest.raises(AttributeError, match="did you mean 'stride_height'"):
        tiny["conv"].strid_height = 1
    with pytest.raises(xir.UnknownError) as caught:
        F.ReLU(tiny["conv"], alpa=1.0)
    assert caught.value.findings[0].code == "unknown" and "alpha" in str(caught.value)


def test_undeclared_attributes_and_tags_are_mappings(tiny):
    conv = tiny["conv"]
    conv.extra["note"] = {"b": [1, 2.5, None], "a": "text", "deep": {"x": True}}
    conv["more"] = 2**64 - 1
    assert dict(conv.extra) == {"note": {"a": "text", "b": [1, 2.5, None], "deep": {"x": True}}, "more": 2**64 - 1}
    assert conv["note"]["a"] == "text" and "more" in conv
    del conv.extra["note"]
    del conv["more"]
    with pytest.raises(KeyError):
        del conv.extra["note"]
    conv.tags.update(one=1, two="zwei")
    assert sorted(conv.tags) == ["one", "two"] and conv.output.tags == {}
    tiny.tags["author"] = "me"
    conv.output.tags["range"] = (0, 1)
    again = xir.read(tiny.write("fb"))
    assert again.tags == {"author": "me"} and again["conv"].output.tags == {"range": [0, 1]}
    with pytest.raises(xir.ExistsError):
        conv.extra["stride_height"] = 1
    loop = []
    loop.append(loop)
    with pytest.raises((RecursionError, xir.LimitError)):
        conv.extra["loop"] = loop
    for bad in (object(), {1: 2}, b"bytes", {1, 2}):
        with pytest.raises(TypeError):
            conv.extra["bad"] = bad


def test_attributes_are_of_what_numpy_has(tiny):
    """Lists may be arrays and ranges, elements NumPy's types. None is refused where a number belongs."""
    x = tiny["conv"].output
    for dims in (np.array([0, 3, 1, 2]), [np.int64(0), 3, 1, 2], array.array("q", [0, 3, 1, 2])):
        assert F.Transpose(x, dims=dims, layout="NCHW").op.dims == (0, 3, 1, 2)
    assert F.Transpose(x, dims=range(4), layout="NHWC").op.dims == (0, 1, 2, 3)
    scaled = F.Add(x, x, alpha=np.array([0.5], "f4"), beta=np.array([2.0])).op
    assert scaled.alpha == (0.5,) and scaled.beta == (2.0,)
    tiny["relu"].extra["list"] = np.arange(4).reshape(2, 2)
    assert tiny["relu"].extra["list"] == [[0, 1], [2, 3]]
    for given in (np.float16, np.dtype("f2"), "float16"):      # a Cast has a tensor type
        with pytest.raises(xir.TypeError, match="expected a icraft::xir::TensorType, found a icraft::xir::FloatType"):
            F.Cast(x, target_dtype=given)
    tiny["conv"].pad_top = 3
    for bad in (None, np.array([1]), np.bool_(True)):
        with pytest.raises(TypeError):
            tiny["conv"].pad_top = bad
    assert tiny["conv"].pad_top == 3
    assert F.Conv2d(tiny.inputs[0], tiny["conv"].weights, pad=None).op.pad_top == 0


def test_arrays_among_the_inputs(tiny):
    """Views, other byte orders and lists are constants, too; what is changed afterwards does not change the network."""
    x = tiny.inputs[0]
    oihw = np.arange(4 * 3, dtype="f4").reshape(4, 3, 1, 1)
    hwio = np.ascontiguousarray(oihw.transpose(2, 3, 1, 0))
    for given in (oihw.transpose(2, 3, 1, 0), hwio.astype(">f4"), hwio[..., ::-1][..., ::-1], hwio.tolist(),
                  np.asfortranarray(hwio)):
        made = F.Conv2d(x, given).op
        assert made.weights.type == xir.Type("fp32 HWIO [1,1,3,4]") and (made.weights.numpy() == hwio).all()
    mine = hwio.copy()
    made = F.Conv2d(x, mine).op
    mine[:] = 0
    assert (made.weights.numpy() == hwio).all()
    for bad in (object(), "text", {}, np.array([1j]), np.array(["a"])):
        with pytest.raises((TypeError, ValueError)):
            F.Conv2d(x, bad)
    with pytest.raises(xir.UnknownError, match="did you mean 'pad'"):
        F.Conv2d(x, hwio, padd=1)


def test_operators_of_other_formats(tmp_path):
    net = xir.Network("made")
    x = net.input("x", "fp32 NCHW [1,3,8,8]")
    conv = F["onnx::Conv"](x, np.ones((4, 3, 3, 3), "f4"), kernel_shape=np.array([3, 3]), name="c")
    a, b = F["onnx::Split"](conv, axis=1, outputs=2, name="s")
    end = F["onnx::Relu"](a, name="r")
    net.output(end, b)
    assert net.check() == [] and dict(conv.op.attrs) == {"kernel_shape": [3, 3]}
    out = net.run({"x": np.ones((1, 3, 8, 8), "f4")})
    assert out["r"].shape == (1, 2, 6, 6) and (out["r"] == 27).all() and (out[1] == 27).all()
    with pytest.raises(xir.TypeError, match="'r' has no type, and ONNX needs one: set it, or convert"):
        net.save(tmp_path / "made.onnx")
    typed = net.clone()
    xir.Pipeline("to-xir,xir-to-onnx").run(typed)
    assert [value.type.shape for value in typed.outputs] == [(1, 2, 6, 6)] * 2
    typed.save(tmp_path / "typed.onnx")
    end.type = b.type = "fp32 [1,2,6,6]"
    net.save(tmp_path / "made.onnx")
    again = xir.load(tmp_path / "made.onnx")
    assert again.check() == [] and (again.run(np.ones((1, 3, 8, 8), "f4"))["r"] == 27).all()
    again["c"]["kernel_shape"] = [3]
    again["r"].extra["foo"] = 1
    assert sorted(found.code for found in again.check()) == ["bounds", "unknown"]
    for bad, error in ((lambda: F["nope::Conv"], xir.UnknownError),
                       (lambda: F["onnx::Split"](x, outputs=-1), ValueError),
                       (lambda: F["onnx::Split"](x, outputs="2"), TypeError),
                       (lambda: F["onnx::Split"](x, axis=object()), TypeError)):
        with pytest.raises(error):
            bad()
    assert len(again) == 5


def test_types():
    for text in ("fp32 NHWC [1,416,416,3]", "int8", "uint12", "bool", "bf16 ** [2,3]", "fp32 []"):
        assert xir.Type(str(xir.Type(text))) == xir.Type(text)
    for text in ("fpe7m8 * [2]", "fp32 NHWC [1,2,2,1] {merged_distrs=[@merged_distr([1]^ZERO:{v:[0, 2)})]}",
                 "QuantizedType{scale=@scales([axis=-1]0.5), storage_dtype=int8, expressed_dtype=fp32} NC [1,2]"):
        assert str(xir.Type(text)) == text and eval(repr(xir.Type(text))) == xir.Type(text)
    with pytest.raises(xir.UnknownError, match=r"'fp33 \[2\]' is not a type.*did you mean 'fp32'"):
        xir.Type("fp33 [2]")
    made = xir.Type("fp32 NC [?,3]")
    assert made.shape == ("?", 3) and made.layout == "NC" and str(made.element) == "fp32"
    for bad in ("", "fp31", "fp32 [x]", "fp32 NHWC", 5, "fp32 [-1]", "fp32 [99999999999999999999]", "a\"b"):
        with pytest.raises(xir.Error):
            xir.Type(bad)


def test_outputs_are_appended(tiny):
    """A network has one Output, however often it is asked for, and it comes last."""
    relu, pool = tiny["relu"].output, tiny["pool"].output
    end = tiny.output(relu)
    late = F.Sigmoid(relu, name="late")
    assert tiny.output(late) == end and tiny.outputs == (pool, relu, late) and tiny.check() == []
    assert sum(op.cls.key.endswith("::Output") for op in tiny) == 1


def test_inputs_are_edited(tiny):
    relu, conv, pool = tiny["relu"], tiny["conv"], tiny["pool"]
    pool.input = conv
    assert conv.output.users and {op.name for op, _ in conv.output.users} == {"relu", "pool"}
    relu.erase()
    with pytest.raises(xir.InUseError, match="pool"):
        conv.erase()
    with pytest.raises(xir.BoundsError):
        pool.set_input(9, None)
    with pytest.raises(xir.BoundsError):
        pool.set_input(-9, None)
    pool.inputs = [None]
    assert pool.input is None and tiny.check()[0].severity == "error"
    pool.set_input(-1, conv.output)
    assert tiny.check() == []


def test_functions_have_signatures(tiny):
    signature = inspect.signature(F.Conv2d)
    assert list(signature.parameters)[:3] == ["input", "weights", "bias"]
    assert signature.parameters["stride_width"].default == 1
    assert "padding_mode" in F.Conv2d.__doc__ and "PyTorch" in F.Conv2d.__doc__
    assert "Conv2d" in dir(F) and F.Conv2d is F.Conv2d and F["icraft::xir::Maxpool"].cls == F.MaxPool2d.cls


def test_every_class_has_a_function():
    for cls in xir.classes():
        if cls.is_op and not cls.is_abstract:
            function = F[cls.key]
            assert inspect.signature(function).parameters["name"].default is None
            assert function.__doc__ and repr(function)


def test_wrong_calls_of_functions(tiny):
    conv = tiny["conv"]
    with pytest.raises(TypeError):
        F.ReLU()
    with pytest.raises(TypeError):
        F.ReLU(np.zeros(3, "f4"))
    with pytest.raises(TypeError):
        F.ReLU(conv, conv)
    with pytest.raises(TypeError):
        F.ReLU(conv, input=conv)
    with pytest.raises(TypeError):
        F.ReLU("conv")
    with pytest.raises(xir.UnknownError, match="no class 'Nothing'"):
        F.Nothing
    with pytest.raises(xir.Error):
        F.MaxPool2d(conv)
    with pytest.raises(xir.Error):
        F.Conv2d(conv, np.zeros((1, 1, 9, 1), "f4"))
    assert len(tiny) == 5 and tiny.check() == []


def test_scopes_and_cursors():
    net = xir.Network("n")
    x = net.input("x", "fp32 NHWC [1,2,2,1]")
    with net.scope("a"):
        with net.scope("b"):
            x = F.ReLU(x, name="r")
        y = F.ReLU(x, name="s")
    with net.at(before=x.op):
        z = F.ReLU(net.inputs[0], name="t")
    assert [op.name for op in net] == ["x", "t", "a/b/r", "a/s"] and y.name == "a/s" and z.op.next == x.op
    with pytest.raises(TypeError):
        net.at()


def all_names(net):
    return [item.name for item in net.walk(values=True, params=True)]


def test_names_are_changed_all_at_once(tiny):
    values = [value.name for value in [*tiny.inputs, *tiny.params]]
    assert tiny.rename({"conv": "stem/conv", "relu": "act"}, values=False) == 2
    assert [op.name for op in tiny][1:4] == ["stem/conv", "act", "pool"] and "conv" not in tiny
    assert tiny["stem/conv"].next == tiny["act"] and [v.name for v in [*tiny.inputs, *tiny.params]] == values
    named = [name for name in all_names(tiny) if name]
    assert tiny.rename(lambda name: "a/" + name) == len(named) > len(tiny)
    assert [name for name in all_names(tiny) if name] == ["a/" + name for name in named]
    assert tiny.value("a/image") == tiny.inputs[0] and tiny["a/pool"].name == "a/pool"
    assert tiny.rename(lambda name: None) == 0 == tiny.rename({}) == tiny.rename({"": "x"})
    assert tiny.rename(lambda name: "ä", ops=False) == len(named) - len(tiny) + sum(not op.name for op in tiny)
    assert tiny["a/pool"].name == "a/pool" and tiny.inputs[0].name == "ä"


def test_a_failed_rename_changes_nothing(tiny):
    before, calls = all_names(tiny), []

    def third(name):
        calls.append(name)
        if len(calls) == 3:
            raise ZeroDivisionError
        return "x"

    with pytest.raises(ZeroDivisionError):
        tiny.rename(third)
    with pytest.raises(xir.UnknownError, match="named 'cnv'; did you mean 'conv'"):
        tiny.rename({"pool": "p", "cnv": "c"})
    with pytest.raises(xir.UnknownError, match="named 'imag'; did you mean 'image'"):
        tiny.rename({"pool": "p", "imag": "c"})
    for names in (lambda name: 3, {"pool": b"p"}, {"pool": "\udc80"}, 3, None, ["pool"], {3: "p"}):
        with pytest.raises((TypeError, ValueError)):
            tiny.rename(names)
    with pytest.raises(xir.BusyError):
        tiny.rename(lambda name: tiny.remove(tiny["pool"]) or name)
    with pytest.raises(xir.BusyError):
        tiny.rename(lambda name: tiny.rename(lambda name: "y") and name)

    class Key(str):
        def __hash__(self):
            return hash("pool")

        def __eq__(self, other):
            tiny.remove(tiny["pool"])

    with pytest.raises(xir.BusyError):
        tiny.rename({Key("p"): "q"})
    assert all_names(tiny) == before
    assert tiny.rename({"pool": "p"}) >= 1      # the network is free again
