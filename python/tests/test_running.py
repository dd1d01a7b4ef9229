# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Runs and conversions as the program does them: foreign networks, values in between, many samples, files."""

import gc
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import xir
from xir import F


@pytest.fixture
def samples(digits):
    return np.load(digits.parent / "digits_inputs.npy")


@pytest.fixture
def logits(digits):
    return np.load(digits.parent / "digits_logits.npy")


def test_a_foreign_network_runs(digits, samples, logits):
    """A copy is converted, once for each state of the network."""
    net = xir.load(digits)
    before = net.clone()
    assert np.allclose(net.run(samples[:1])["logits"], logits[:1], atol=1e-3)
    assert net.equal(before)
    copy = net._kept[2]
    assert np.array_equal(net.run(image=samples[:1])["logits"], copy.run(samples[:1])["logits"])
    assert net._kept[2] is copy
    with net["/c1/Conv"].inputs[1].edit() as w:
        w[:] = 0
    changed = net.run(samples[:1])["logits"]
    assert net._kept[2] is not copy and not np.allclose(changed, logits[:1], atol=1e-3)


def test_many_samples(digits, samples, logits):
    net = xir.load(digits)
    assert np.allclose(net.run(samples, each=True, threads=2)["logits"], logits, atol=1e-3)
    with pytest.raises(xir.BoundsError, match="whole parts"):
        _two().run(np.zeros((3, 4), "f4"), np.zeros((4, 4), "f4"), each=True)
    with pytest.raises(xir.MissingError, match="'b' is not given"):
        _two().run(np.zeros((3, 4), "f4"), each=True)
    with pytest.raises(xir.UnknownError):
        net.run(samples, each=True, nothing=1)


def _two():
    net = xir.Network()
    net.output(F.Add(net.input("a", "fp32 NC [1,4]"), net.input("b", "fp32 NC [1,4]"), name="sum"))
    return net


def test_missing_inputs_are_named():
    with pytest.raises(xir.MissingError, match="the inputs 'a', 'b' are not given"):
        _two().run()
    with pytest.raises(xir.UnknownError, match="no input 'aa'; did you mean 'a'"):
        _two().run(aa=np.zeros((1, 4), "f4"))
    with pytest.raises(xir.BoundsError, match="2 inputs, 3 arrays"):
        _two().run(*[np.zeros((1, 4), "f4")] * 3)


def test_inputs_are_given_as_a_dict(tmp_path):
    net, a, b = _two(), np.ones((1, 4), "f4"), np.full((1, 4), 2, "f4")
    assert (net.run({"a": a, "b": b})["sum"] == 3).all() and (net.run({"a": a}, b=b)["sum"] == 3).all()
    assert net.run({"a": np.ones((3, 4), "f4"), "b": np.ones((3, 4), "f4")}, each=True)["sum"].shape == (3, 4)
    for bad, error in (({"a": a}, xir.MissingError), ({"a": a, "b": b, "c": a}, xir.UnknownError)):
        with pytest.raises(error):
            net.run(bad)
        with pytest.raises(error):
            xir.calibrate(net, [bad], tmp_path / "c.json")
    assert xir.calibrate(net, [{"b": b, "a": a}, (a, b)], tmp_path / "c.json") == 2
    assert not xir.compare(net, net.clone(), [{"b": b, "a": a}]).bad
    net = xir.Network()      # "values" is also an option of run
    net.output(F.ReLU(net.input("values", "fp32 NC [1,4]"), name="y"))
    assert (net.run({"values": a})["y"] == 1).all()


def test_names_that_two_have():
    """Inputs are given by position then; outputs after the first are found by theirs."""
    net, a, b = xir.Network(), np.ones((1, 4), "f4"), np.full((1, 4), -2, "f4")
    x, y = (net.input("x", "fp32 NC [1,4]") for _ in range(2))
    net.output(F.ReLU(x, name="z"), F.Abs(y, name="z"))
    out = net.run(a, b)
    assert list(out) == ["z", 1] and (out["z"] == 1).all() and (out[1] == 2).all()
    with pytest.raises(xir.TypeError, match="several inputs are named 'x'"):
        net.run(x=a)


def test_values_in_between(tiny):
    image = np.random.default_rng(1).standard_normal((1, 8, 8, 3)).astype("f4")
    conv = tiny["conv"].output
    out = tiny.run(image, values=["conv", "relu", "image", conv, f"#{conv.id}", "conv:0"])
    assert list(out) == ["pool"] and set(out.kept) == {"conv", "relu", "image", conv, f"#{conv.id}", "conv:0"}
    assert np.array_equal(np.maximum(out.kept["conv"], 0), out["relu"]) and np.array_equal(out["image"], image)
    assert np.array_equal(out[conv], out["conv"])
    assert np.array_equal(tiny.run(image, values=tiny["conv"].weights.name or tiny["conv"].weights).kept.popitem()[1],
                          tiny["conv"].weights.numpy())
    every = tiny.run(image, values="all")
    assert set(every.kept) == {"conv", "relu", "pool"} and np.array_equal(every.kept["relu"], out["relu"])
    with pytest.raises(xir.UnknownError, match="did you mean 'conv'"):
        tiny.run(image, values=["cnov"])
    with pytest.raises(xir.UnknownError, match="no result 'relo'"):
        out["relo"]
    with pytest.raises(TypeError):
        tiny.run(image, values=[5])
    other = tiny.clone()
    with pytest.raises(xir.Error):
        tiny.run(image, values=[xir.Network("n").input("x", "fp32 [1]")])
    assert np.array_equal(other.run(image, values="conv").kept["conv"], out["conv"])


def test_values_of_a_foreign_network_have_its_order(digits, samples):
    out = xir.load(digits).run(samples[:1], values=["/c1/Conv", "/c1/Conv_output_0"])
    assert out["/c1/Conv"].shape == (1, 16, 8, 8)
    assert np.array_equal(out["/c1/Conv"], out["/c1/Conv_output_0"])


def test_kept_values_are_not_copied():
    """A network of 64 MiB of values: keeping them all takes no more memory than the values."""
    net = xir.Network()
    x = net.input("x", "fp32 NC [1,4194304]")
    for i in range(4):
        x = F.Abs(x, name=f"a{i}")
    net.output(x)
    given = np.zeros((1, 1 << 22), "f4")
    kept = net.run(given, values="all").kept
    assert len(kept) == 4 and all(not value.flags.owndata for value in kept.values())
    assert len({value.__array_interface__["data"][0] for value in kept.values()}) == 4


@pytest.mark.parametrize("given", [
    np.zeros((1, 8, 8, 6), "f4")[..., ::2], np.asfortranarray(np.zeros((1, 8, 8, 3), "f4")),
    np.zeros((1, 8, 8, 3), ">f4"), np.zeros((1, 8, 8, 3), "f4").tolist(), memoryview(np.zeros((1, 8, 8, 3), "f4")),
])
def test_arrays_of_any_order(tiny, given):
    assert tiny.run(given)["pool"].shape == (1, 4, 4, 4)


@pytest.mark.parametrize("given, error", [
    (np.zeros((1, 8, 8, 3), "f8"), TypeError), (np.zeros((1, 8, 8, 3), "O"), TypeError), ("text", TypeError),
    (np.zeros((8, 8, 3), "f4"), xir.Error), (np.zeros((0, 8, 8, 3), "f4"), xir.Error), (object(), TypeError),
    (np.zeros((1, 8, 8, 3), "c8"), TypeError), (np.zeros(4, "f4,i4"), TypeError), ([[1], [1, 2]], Exception),
])
def test_arrays_that_are_refused(tiny, given, error):
    with pytest.raises(error):
        tiny.run(given)
    assert tiny.check() == []


def test_read_only_arrays_are_fine(tiny):
    given = np.ones((1, 8, 8, 3), "f4")
    given.flags.writeable = False
    assert tiny.run(given)["pool"].max() > 0


def test_elements_that_numpy_lacks_are_cast():
    """As xir run does: bf16 comes from float32."""
    net = xir.Network()
    net.output(F.Abs(net.input("x", "bf16 NC [1,4]"), name="y"))
    out = net.run(np.array([[-1, 2, -3, 1.001]], "f4"))["y"]
    assert out.tolist() == [[1, 2, 3, 1]]


@pytest.mark.parametrize("element", ["i1", "i2", "i4", "i8", "f4", "f8"])
def test_inputs_without_a_type_take_that_of_the_array(element):
    """A program of DeepX does not declare its inputs."""
    net = xir.Network()
    of = np.dtype(element)
    net.output(F.Abs(net.input("x", str(xir.Type(of, (2, 3)))), name="y"))
    again = xir.read(net.write("deepx"), format="deepx")
    assert again.inputs[0].type is None
    out = again.run(np.full((2, 3), -2, of))["y"]
    assert out.dtype == of and (out == 2).all()


@pytest.mark.parametrize("to", ["xir", "onnx", "pnnx", "nnb", "tsm", "deepx"])
def test_conversions(digits, samples, logits, to):
    net = xir.load(digits)
    made = xir.convert(net, to)
    assert net.equal(xir.load(digits)) and made is not net
    keys = {op.cls.key.split("::")[0] for op in made} - {"icraft"}
    assert keys == (set() if to == "xir" else {to})
    (result,) = made.run(samples[:1]).values()
    assert np.allclose(result, logits[:1], atol=1e-3)
    again = xir.convert(made, "xir")
    assert np.allclose(list(again.run(samples[:1]).values())[0], result, atol=1e-4)


@pytest.mark.parametrize("name", ["a.onnx", "a.pnnx.param", "a.nnb", "a.tsm", "a.ir", "a.json", "a.fb", "a.xir"])
def test_saving_converts(digits, samples, logits, tmp_path, name):
    net = xir.load(digits)
    xir.optimize(net)
    before = net.clone()
    net.save(tmp_path / name)
    assert net.equal(before)
    (result,) = xir.load(tmp_path / name).run(samples[:1]).values()
    assert np.allclose(np.asarray(result).reshape(1, -1), logits[:1], atol=1e-3)


def test_saving_without_conversion(tiny, tmp_path):
    with pytest.raises(xir.Error):
        tiny.save(tmp_path / "a.onnx", convert=False)
    assert not (tmp_path / "a.onnx").exists()
    assert tiny.write("onnx")[:1] and xir.load(tiny.write("onnx")).run(np.ones((1, 8, 8, 3), "f4"))


def test_options_of_files_and_conversions(tiny, tmp_path):
    tiny.save(tmp_path / "a.json", indent=True)
    assert "\n    " in (tmp_path / "a.json").read_text()
    tiny.save(tmp_path / "b.json", params=False)
    assert not (tmp_path / "b.raw").exists()
    tiny.save(tmp_path / "c.json", params=tmp_path / "mine.raw")
    assert (tmp_path / "mine.raw").exists()
    tiny.save(tmp_path / "d.fb", align=64)
    assert xir.load(tmp_path / "d.fb").equal(tiny)
    assert "#" not in tiny.write("text", ids=False).decode().splitlines()[3]
    for bad, says in (({"indnt": 1}, "did you mean 'indent'"), ({"inline": "some"}, "inline"), ({"opset": 1}, "opset")):
        with pytest.raises(xir.UnknownError, match=says):
            tiny.save(tmp_path / "a.json", **bad)
    with pytest.raises(xir.UnknownError, match="did you mean 'strict'"):
        xir.convert(tiny, "onnx", strct=True)
    with pytest.raises(xir.UnknownError, match="did you mean 'onnx'"):
        xir.convert(tiny, "onx")
    with pytest.raises(TypeError):
        xir.convert("net", "onnx")
    with pytest.raises(TypeError, match="an option of save"):
        tiny.write("json", params="a.raw")
    names = {f.name for f in xir.formats()}
    assert {"onnx", "json", "fb", "text"} <= names and all(f.suffixes for f in xir.formats())


def test_what_stays_is_told(tmp_path):
    """An op of an operator set that nobody knows stays, and is a warning with its reason."""
    net = xir.parse('xir 1\n%x = Input() : fp32 NC [1,4]\n%y = onnx::com.example.Foo(%x) "foo" : fp32 NC [1,4]\n'
                    'Output(%y)\n')
    with pytest.warns(xir.Warning, match="not converted"):
        made = xir.convert(net, "xir")
    assert [op.cls.key for op in made.ops("Foo")] == ["onnx::com.example.Foo"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xir.Warning)
        with pytest.raises(NotImplementedError, match="no kernel"):
            net.run(np.zeros((1, 4), "f4"))


def test_bytes_and_files_are_loaded(tiny, digits):
    data = tiny.write("fb")
    for given in (data, bytearray(data), memoryview(data)):
        assert xir.load(given).equal(tiny)
    with open(digits, "rb") as file:
        assert xir.load(file).equal(xir.load(digits))
    with pytest.raises(xir.Error):
        xir.load(b"nothing that is a network")


def test_an_interrupt_ends_a_run(slow):
    net, given = slow
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        net.run(given)
        pytest.fail("the run ended before the interrupt")
    assert time.monotonic() - start < 20 and net.check() == []
    timer.join()
    gc.collect()
