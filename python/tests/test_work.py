# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Files, arrays, runs, pipelines, differences, threads."""

import copy
import threading
import warnings

import numpy as np
import pytest

import xir
from xir import F


def test_the_digits_are_recognised(digits):
    net = xir.load(digits, lazy=True)
    converted = xir.load(digits)
    xir.Pipeline("to-xir").run(converted)
    before = converted.run(image=np.load(digits.parent / "digits_inputs.npy")[:1])["logits"]
    report = xir.optimize(net, prove=True, verify=True)
    assert report.changes and net.check() == [] and len(net) == 15
    after = net.run(np.load(digits.parent / "digits_inputs.npy")[:1])["logits"]
    assert np.allclose(before, after, atol=1e-4) and np.allclose(after,
        np.load(digits.parent / "digits_logits.npy")[:1],
                                                                 atol=1e-3)


@pytest.mark.parametrize("suffix", ["fb", "imodel", "json"])
def test_files_come_back(tiny, tmp_path, suffix):
    path = tmp_path / f"net.{suffix}"
    tiny.save(path)
    again = xir.load(str(path))
    assert again.equal(tiny) and not xir.diff(path, tiny, params=True)
    assert xir.load(path, params=False).equal(tiny, False)
    assert xir.load(path, lazy=True).equal(tiny)


def test_a_save_that_was_interrupted(tmp_path, tiny):
    path = tmp_path / "net.json"
    tiny.save(path)
    assert xir.finish_save(path) is False and xir.finish_save(path, params=tmp_path / "net.raw") is False
    record = tmp_path / "net.json.xir-save"
    record.write_text("something else")
    with pytest.raises(xir.CorruptError, match="it is not the record of a save"):
        xir.load(path)
    with pytest.raises(xir.CorruptError):
        xir.finish_save(path)
    record.unlink()
    assert xir.load(path).equal(tiny)


def test_errors_of_files(tmp_path, tiny):
    with pytest.raises(OSError) as caught:
        xir.load(tmp_path / "nothing.onnx")
    assert caught.value.findings[0].code == "io"
    (tmp_path / "bad.json").write_text('{"ops": [}')
    with pytest.raises(ValueError, match="bad.json:1:"):
        xir.load(tmp_path / "bad.json")
    with pytest.raises(xir.Error):
        xir.load(tmp_path)
    with pytest.raises(xir.UnknownError):
        tiny.save(tmp_path / "x", format="nothing")
    with pytest.raises(ValueError):
        xir.load("a\0b")
    with pytest.raises(TypeError):
        xir.load(5.0)
    with pytest.raises(xir.Error):
        xir.read(b"")


def test_buffers_that_are_not_numbers_of_a_network(tiny):
    good = np.zeros((2, 2), "f4")
    for bad in (good[:, ::2], np.asfortranarray(np.zeros((2, 3), "f4")), good.astype(">f4"), good.astype("O"),
                np.zeros(2, "U3"), np.zeros(2, "c8"), np.zeros(2, "f4,i4"), "text", None, [1.0], object()):
        with pytest.raises((xir.Error, TypeError, ValueError, BufferError)):
            xir.params(tiny, bad)
    for dtype in "?bBhHiIqQefd":
        numbers = np.arange(6).reshape(2, 3).astype(dtype)
        made = xir.params(tiny, numbers)
        assert np.array_equal(made.numpy(), numbers) and made.numpy().dtype == numbers.dtype
        assert np.asarray(made).tolist() == numbers.tolist() and made.raw() == numbers.tobytes()
    assert xir.params(tiny, np.float32(3).reshape(())).numpy().shape == ()
    assert xir.params(tiny, np.zeros((0, 3), "f4")).numpy().shape == (0, 3)
    with pytest.raises(xir.BoundsError):
        xir.params(tiny, good, layout="NHWC")
    with pytest.raises(BufferError):
        memoryview(tiny["conv"].output)
    with pytest.raises(TypeError):
        tiny["conv"].output.numpy()


def test_an_edit_that_raises_changes_nothing(tiny):
    weights = tiny["conv"].weights
    with pytest.raises(ZeroDivisionError):
        with weights.edit() as w:
            w[:] = 5
            1 / 0
    assert weights.numpy().max() == 1
    with weights.edit() as w:
        w *= 0.5
    w[:] = 9
    assert weights.numpy().max() == 0.5


def test_runs(tiny):
    out = tiny.run(image=np.ones((1, 8, 8, 3), "f4"))
    assert list(out.values())[0].shape == (1, 4, 4, 4)
    for bad in ({}, {"image": np.ones((1, 8, 8, 3), "f8")}, {"image": np.ones((1, 8, 8, 4), "f4")}, {"x": np.ones(1)}):
        with pytest.raises(xir.Error):
            tiny.run(**bad)
    with pytest.raises(xir.Error):
        tiny.run(np.ones((1, 8, 8, 3), "f4"), np.ones(1))


def test_inputs_become_constants(tiny):
    image = np.random.default_rng(1).standard_normal((1, 8, 8, 3)).astype("f4")
    before = list(tiny.run(image).values())[0]
    for bad, error in (("x", xir.UnknownError), ("image", TypeError)):
        with pytest.raises(error):
            tiny.fix(bad, None if error is TypeError else 1)
    with pytest.raises(xir.BoundsError, match="image"):
        tiny.fix("image", np.ones((1, 8, 8, 4), "f4"))
    fixed = tiny.clone()
    assert fixed.fix("image", image) is fixed and not fixed.inputs and fixed.check() == []
    assert np.array_equal(before, list(fixed.run().values())[0])
    ones = list(tiny.run(np.full((1, 8, 8, 3), 2, "f4")).values())[0]
    assert np.array_equal(ones, list(tiny.fix("image", 2).run().values())[0])


def test_threads_do_not_change_results(tiny):
    image = np.random.default_rng(1).standard_normal((1, 8, 8, 3)).astype("f4")
    alone = list(tiny.run(image).values())[0]
    assert np.array_equal(alone, list(tiny.run(image, threads=4).values())[0])
    for bad, error in ((-1, xir.BoundsError), (1.5, TypeError), (2**70, OverflowError)):
        with pytest.raises(error):
            tiny.run(image, threads=bad)


def test_options_of_a_proof(tiny):
    image = np.ones((3, 8, 8, 3), "f4")
    report = xir.Pipeline("infer,identity").run(tiny, prove={"inputs": {"image": image}, "each": True, "seed": 7})
    assert report.proof.networks and report.proof.largest == 0 and xir.Pipeline("infer").run(tiny).proof is None

    @xir.pass_("test-doubles")
    def doubles(net, o):
        with net["conv"].weights.edit() as w:
            w *= 2
        return 1

    with pytest.raises(xir.InvalidError, match="differ"):
        xir.Pipeline("test-doubles").run(tiny.clone(), prove=True)
    xir.Pipeline("test-doubles").run(tiny.clone(), prove={"absolute": 1e9})
    for bad, error in (({"nothing": 1}, xir.UnknownError), ({"inputs": {"image": "x"}}, TypeError),
                       ({"inputs": {"x": image}}, xir.UnknownError), ({"seed": "x"}, TypeError)):
        with pytest.raises(error):
            xir.Pipeline("infer").run(tiny, prove=bad)


def test_pipelines(tiny, capsys):
    F.ReLU(tiny["conv"], name="unused")
    tiny["unused"].move(tiny["pool"])
    report = xir.Pipeline("infer,fix(dce)").run(tiny, verify=True)
    report.table()
    assert report.changes == 1 and "dce" in capsys.readouterr().out
    for bad, error in (("nothing", xir.UnknownError), ("infer,", xir.SyntaxError), ("dce{x=1}", xir.UnknownError)):
        with pytest.raises(error):
            xir.Pipeline(bad).run(tiny)


def test_clones_and_differences(tiny):
    other = copy.copy(tiny)
    assert other.equal(tiny) and xir.diff(tiny, other) == []
    other["conv"].pad_top = 2
    other.infer()
    found = {(d.kind, d.a.name if d.a else "", d.field) for d in xir.diff(tiny, other)}
    assert ("changed", "conv", "pad_top") in found
    with copy.deepcopy(other)["conv"].weights.edit() as w:
        w[:] = 0
    assert other["conv"].weights.numpy().min() == 1
    assert str(xir.diff(tiny, other)[0])


def test_texts_of_networks(tiny):
    assert "MaxPool2d" in tiny.summary() and "tiny" in repr(tiny) and "<table>" in tiny._repr_html_()
    assert "conv" in repr(tiny["conv"]) and "fp32" in repr(tiny["conv"].output) and '"conv"' in tiny["conv"].json()


def test_a_network_is_a_text_and_back(tiny):
    text = str(tiny)
    assert " = ReLU(%conv) ~ : " in text
    again = xir.parse(text)
    assert str(again) == text and not xir.diff(tiny, again, params=True)


def test_all_faults_of_a_text_are_shown():
    with pytest.raises(xir.Error) as raised:
        xir.parse("xir 1\n%x = Inptu() : fp32\nOutput(%z)\n", name="n")
    assert len(raised.value.findings) == 2
    assert str(raised.value).splitlines()[1:3] == ["    %x = Inptu() : fp32", "         ^"]
    assert "no op makes %z" in str(raised.value)


def test_findings_have_places(tiny):
    tiny["pool"].set_input(0, None)
    finding = tiny.check()[0]
    assert finding.path.startswith("/ops/") and finding.message and str(finding)


def test_warnings_are_pythons(tiny, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tiny.save(tmp_path / "a.fb")


def test_a_network_at_work_is_busy(tiny):
    """Threads that edit a network while others check, run and save it get an exception, and the network stays whole."""
    caught, wrong = [], []

    def work(call):
        for _ in range(60):
            try:
                call()
            except xir.BusyError as error:
                caught.append(error)
            except Exception as error:      # noqa: BLE001, whatever it is, the test fails
                wrong.append(error)

    image = np.ones((1, 8, 8, 3), "f4")
    calls = [lambda: tiny.run(image), tiny.check, tiny.infer, lambda: tiny.write("fb"),
             lambda: setattr(tiny["conv"], "pad_top", 1), lambda: [op.name for op in tiny]]
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and tiny.check() == []


begun, ends = threading.Event(), threading.Event()


@xir.pass_("waits-for-the-test", level="exact")
def waits(net, o):
    """Lasts until the test has seen what it is about."""
    begun.set()
    ends.wait(60)
    return 0


def test_a_run_begins_while_a_value_is_converted(tiny):
    threads = []

    class Number(int):
        def __index__(self):
            begun.clear(), ends.clear()
            threads.append(threading.Thread(target=xir.Pipeline("waits-for-the-test").run, args=(tiny,)))
            threads[-1].start()
            assert begun.wait(60)
            return 1

        def __float__(self):
            return float(self.__index__())

    class Index:
        __index__ = Number.__index__

    op = tiny["conv"]
    for use in (lambda: tiny.tags.update(a=Index()), lambda: tiny.extra.update(a=Index()), lambda: tiny.op(Index()),
                lambda: setattr(op, "id", Index()), lambda: xir.params(tiny, Number())):
        with pytest.raises(xir.BusyError):
            use()
        ends.set()
        threads.pop().join()
    assert not tiny.tags and not tiny.extra and tiny.check() == []


def test_an_op_of_a_busy_network(tiny):
    op, erased = tiny["conv"], tiny["relu"]
    tiny.bypass(erased)
    begun.clear(), ends.clear()
    thread = threading.Thread(target=xir.Pipeline("waits-for-the-test").run, args=(tiny,))
    thread.start()
    assert begun.wait(60)
    texts = repr(op), repr(erased)
    with pytest.raises(xir.BusyError):
        op.erased
    with pytest.raises(xir.BusyError):
        erased.erased
    ends.set()
    thread.join()
    assert texts == ("<xir.Op, in use>", "<xir.Op, in use>")
    assert not op.erased and erased.erased and repr(erased) == "<xir.Op, erased>"
