# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Long calls show how far they are, and end by an exception or Ctrl-C; nothing depends on how long they take."""

import io
import signal
import sys
import types

import numpy as np
import pytest

import xir
from xir import F
from xir import progress as shown


class Calls(list):
    """A function that notes its calls, and raises an exception at one of them."""

    def __init__(self, stop=None, error=ZeroDivisionError):
        self.stop, self.error = stop, error

    def __call__(self, done, total, what):
        self.append((done, total, what))
        if len(self) - 1 == self.stop:
            raise self.error


@pytest.fixture
def large():
    """Parameters of 3 MB, so that a file is more than a few calls."""
    net = xir.Network("large")
    x = net.input("x", "fp32 NC [1,900]")
    net.output(F.Matmul(x, np.arange(810000, dtype="f4").reshape(900, 900), name="m"))
    return net


def rises_to_the_end(calls, what):
    assert calls and {row[2] for row in calls} == {what}
    assert [row[0] for row in calls] == sorted(row[0] for row in calls)
    assert calls[-1][0] == calls[-1][1] > 0


@pytest.mark.parametrize("suffix", ["fb", "imodel", "json", "xir", "onnx"])
def test_files_tell_bytes(large, tmp_path, suffix):
    path, saved, loaded = tmp_path / f"net.{suffix}", Calls(), Calls()
    large.save(path, progress=saved)
    rises_to_the_end(saved, "bytes")
    net = xir.load(path, progress=loaded)
    rises_to_the_end(loaded, "bytes")
    assert len(saved) >= 3 and len(loaded) >= 3 and len(net.params) == 1
    read = Calls()
    xir.read(large.write("fb", progress=read), progress=read)
    assert read[-1][0] == read[-1][1]


@pytest.mark.parametrize("suffix", ["fb", "json", "onnx"])
def test_an_exception_ends_a_call_anywhere(large, tmp_path, suffix):
    path = tmp_path / f"net.{suffix}"
    large.save(path)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    for call in (lambda calls: xir.load(path, progress=calls), lambda calls: large.save(path, progress=calls)):
        ended, stop = 0, 0
        while True:
            calls = Calls(stop)
            try:
                call(calls)
            except ZeroDivisionError:
                ended += 1
            if len(calls) <= stop:
                break
            stop += 1
            assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == files
        assert ended == stop >= 3
    assert large.check() == [] and xir.load(path).params[0].numpy()[1, 0] == 900


def test_ctrl_c_ends_files(large, tmp_path):
    def interrupt(done, total, what):
        signal.raise_signal(signal.SIGINT)

    path = tmp_path / "net.fb"
    large.save(path)
    before = path.read_bytes()
    for call in (lambda: xir.load(path, progress=interrupt), lambda: large.save(path, progress=interrupt),
                 lambda: xir.read(before, progress=interrupt), lambda: large.write("fb", progress=interrupt)):
        with pytest.raises(KeyboardInterrupt):
            call()
    assert path.read_bytes() == before and [file.name for file in tmp_path.iterdir()] == ["net.fb"]
    with pytest.raises(TypeError):
        xir.load(path, progress=lambda: None)


def test_a_callback_uses_other_networks(large, tmp_path):
    path, sizes = tmp_path / "net.fb", []
    large.save(path)

    def other(done, total, what):
        sizes.append(len(xir.load(path)))
        with pytest.raises(xir.BusyError):
            large.infer()

    large.save(tmp_path / "other.fb", progress=other)
    assert sizes and set(sizes) == {3}


def test_runs_tell_ops_and_samples(tiny):
    image, ops, samples = np.ones((3, 8, 8, 3), "f4"), Calls(), Calls()
    alone = tiny.run(image[:1], progress=ops)
    rises_to_the_end(ops, "op")
    assert ops[-1][1] == len(tiny) and list(alone.values())[0].shape == (1, 4, 4, 4)
    tiny.run(image, each=True, progress=samples)
    assert samples == [(1, 3, "sample"), (2, 3, "sample"), (3, 3, "sample")]
    for stop in range(len(ops)):
        with pytest.raises(ZeroDivisionError):
            tiny.run(image[:1], progress=Calls(stop))
    assert tiny.check() == [] and np.array_equal(list(tiny.run(image[:1]).values())[0], list(alone.values())[0])


def test_passes_are_named(tiny, digits, tmp_path):
    calls = Calls()
    xir.Pipeline("infer,dce").run(tiny, progress=calls)
    assert calls == [(0, 0, "infer"), (1, 0, "dce")]
    for call in (lambda calls: xir.convert(tiny, "onnx", progress=calls),
                 lambda calls: xir.optimize(tiny.clone(), progress=calls),
                 lambda calls: xir.plan(tiny.clone(), progress=calls)):
        calls = Calls()
        call(calls)
        assert calls and all(isinstance(what, str) and what for _, _, what in calls)
        with pytest.raises(xir.Error) as raised:
            call(Calls(0))
        assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(xir.UnknownError):
        xir.quantize(tiny.clone(), progress=calls, nothing=1)


def test_samples_are_counted(tiny, tmp_path):
    images, calls = [np.ones((1, 8, 8, 3), "f4")] * 3, Calls()
    assert xir.calibrate(tiny, images, tmp_path / "c.json", progress=calls) == 3
    assert calls == [(1, 3, "sample"), (2, 3, "sample"), (3, 3, "sample")]
    calls = Calls()
    xir.compare(tiny, tiny.clone(), iter(images), progress=calls)
    assert [row[0] for row in calls] == [1, 2, 3] and calls[0][1] == 0
    for call in (lambda calls: xir.calibrate(tiny, images, tmp_path / "d.json", progress=calls),
                 lambda calls: xir.compare(tiny, tiny.clone(), images, progress=calls)):
        with pytest.raises(ZeroDivisionError):
            call(Calls(1))
    assert not (tmp_path / "d.json").exists()


def test_an_interrupt_ends_a_calibration(slow, tmp_path):
    import threading
    net, array = slow
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        xir.calibrate(net, [array] * 2, tmp_path / "c.json")
    timer.join()
    assert not (tmp_path / "c.json").exists()


def test_a_reduction_counts_its_networks(tiny):
    calls = Calls()
    made = xir.reduce(tiny, lambda part: len(part) > 3, max_runs=9, progress=calls)
    assert calls == [(i, 9, "network") for i in range(1, len(calls) + 1)] and len(calls) >= made.runs > 1
    with pytest.raises(ZeroDivisionError):
        xir.reduce(tiny, lambda part: True, progress=Calls(1))


# ---- what True shows --------------------------------------------------------------------------------------------

class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_line_on_a_terminal(large, tmp_path, monkeypatch):
    path = tmp_path / "a\x1bb.fb"
    large.save(path)
    monkeypatch.setattr(shown, "PATIENCE", 0)
    monkeypatch.setattr(shown, "EACH", 0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    xir.load(path, progress=True)
    written = sys.stderr.getvalue()
    assert ", 100 %" in written and written.endswith("\r\033[K") and "\x1bb" not in written
    monkeypatch.setattr(sys, "stderr", Terminal())
    xir.Pipeline("infer,dce").run(large, progress=True)
    assert "xir: running passes: dce" in sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", Terminal())
    large.run(np.ones((1, 900), "f4"), progress=True)
    assert "xir: running, op 3 of 3" in sys.stderr.getvalue()
    for quiet in (False, None):
        monkeypatch.setattr(sys, "stderr", Terminal())
        xir.load(path, progress=quiet)
        assert not sys.stderr.getvalue()


def test_nothing_is_shown_elsewhere(large, tmp_path, monkeypatch):
    monkeypatch.setattr(shown, "PATIENCE", 0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    large.save(tmp_path / "net.fb", progress=True)
    assert not sys.stderr.getvalue()
    monkeypatch.setattr(sys, "stderr", None)
    large.save(tmp_path / "net.fb", progress=True)


def test_a_bar_in_a_notebook(large, tmp_path, monkeypatch):
    cells = []

    class Handle:
        def update(self, html):
            cells.append(html)

    def display(html, display_id):
        cells.append(html)
        return Handle()

    notebook = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=1))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(HTML=str, display=display))
    monkeypatch.setattr(shown, "EACH", 0)
    large.save(tmp_path / "<net>.fb", progress=True)
    assert len(cells) > 3 and cells[-1] == "" and "<progress value=" in cells[1]
    assert "&lt;net&gt;.fb, 100 %" in cells[-2]
    cells.clear()
    with pytest.raises(ZeroDivisionError):
        with shown.watched(True, "reading", "bytes") as told:
            told(1, 2)
            raise ZeroDivisionError
    assert cells[-1] == ""
    notebook.get_ipython = lambda: None      # IPython is imported, but not by a notebook
    cells.clear()
    large.save(tmp_path / "net.fb", progress=True)
    assert not cells
