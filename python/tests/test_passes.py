# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Passes in Python."""

import gc
import itertools
import os
import signal

import pytest

import xir
from xir import F

number = itertools.count()


def register(function, **how):
    name = f"test-{next(number)}"
    xir.pass_(name, **how)(function)
    return name


def test_a_pass_changes_the_network_that_runs(tiny):
    def drop(net, o):
        """Drops ReLUs."""
        seen.append(o.limit)
        relus = list(net.ops("ReLU"))[:o.limit]
        for op in relus:
            net.bypass(op)
        return len(relus)

    seen = []
    name = register(drop, options={"limit": 5, "a_b": False})
    relu = tiny["relu"]
    report = xir.Pipeline(f"fix({name}{{limit=3,a-b}}),infer").run(tiny, verify=True)
    assert report.changes == 1 and seen == [3, 3] and relu.erased and tiny.check() == []


def test_an_exception_becomes_a_finding(tiny):
    def fail(net, o):
        net["conv"].name = "renamed"
        raise ZeroDivisionError("no more")

    with pytest.raises(xir.InvalidError, match="ZeroDivisionError: no more") as caught:
        xir.Pipeline(register(fail)).run(tiny)
    assert isinstance(caught.value.__cause__, ZeroDivisionError) and tiny["renamed"]


@pytest.mark.parametrize("result", ["one", -1, 2**70, 1.5])
def test_a_pass_returns_a_number(tiny, result):
    with pytest.raises(xir.InvalidError):
        xir.Pipeline(register(lambda net, o: result)).run(tiny)


def test_interrupts_are_not_findings(tiny):
    def interrupt(net, o):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        xir.Pipeline(register(interrupt)).run(tiny)


def test_a_change_that_is_not_counted_is_found(tiny):
    with pytest.raises(xir.InvalidError):
        xir.Pipeline(register(lambda net, o: setattr(net["conv"], "name", "x"))).run(tiny, verify=True)


def test_a_pass_runs_and_recurses(tiny):
    """A pass may run, check and clone its network, and run pipelines on it; references to it may all be dropped."""
    kept = []

    def recurse(net, o):
        kept.append(net["conv"])
        net.check(), net.write("fb"), net.clone()
        xir.Pipeline("infer").run(net)
        gc.collect()

    name = register(recurse)
    xir.Pipeline(f"{name},{name}").run(tiny.clone())
    assert kept[0].name == "conv" and kept[0] == kept[1]


def test_wrong_declarations(tiny):
    for name, how, error in (("infer", {}, xir.ExistsError), ("", {}, xir.InvalidError), ("test-l", {"level": "x"},
                             xir.UnknownError), ("test-o", {"options": {"a": None}}, TypeError)):
        with pytest.raises(error):
            xir.pass_(name, **how)(lambda net, o: 0)


def test_a_signal_ends_a_pipeline(tiny):
    """The handler runs while the library works, without the GIL."""
    def slow(net, o):
        os.kill(os.getpid(), signal.SIGALRM)
        return 1

    def handler(number, frame):
        raise InterruptedError("by a signal")

    old = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises((InterruptedError, xir.InvalidError), match="by a signal"):
            xir.Pipeline(f"fix({register(slow)})").run(tiny)
    finally:
        signal.signal(signal.SIGALRM, old)


def test_watches(tiny):
    """A watch sees every pass, and cannot change the network."""
    class Watch:
        def before(self, event):
            seen.append(("before", event.name, event.run))

        def after(self, event):
            assert event.net == net or event.net["pool"].name == "pool"
            seen.append(("after", event.text, event.changes))

    net, seen = tiny, []
    F.ReLU(tiny["conv"], name="unused")
    tiny["unused"].move(tiny["pool"])
    xir.Pipeline("dce").run(tiny, watches=[Watch(), lambda event: seen.append(event.run)])
    assert seen == [("before", "dce", 1), ("after", "dce", 1), 1]
    with pytest.raises(xir.InvalidError, match="a watch on 'infer': BusyError") as caught:
        xir.Pipeline("infer").run(tiny, watches=[lambda event: setattr(event.net["conv"], "name", "x")])
    assert isinstance(caught.value.__cause__, xir.BusyError) and tiny["conv"]
    with pytest.raises(KeyboardInterrupt):
        xir.Pipeline("infer").run(tiny, watches=[lambda event: (_ for _ in ()).throw(KeyboardInterrupt)])
    with pytest.raises(TypeError):
        xir.Pipeline("infer").run(tiny, watches=[1])
    tiny["conv"].name = "free again"
