# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Memory of values, plans of networks and of buffers, lives of values."""

import random
import signal
import threading

import numpy as np
import pytest

import xir
from xir import F


def chain():
    net = xir.Network()
    x = net.input("x", "fp32 [1,16]")
    a = F.Sigmoid(x, name="a")
    b = F.Sigmoid(a, name="b")
    net.output(F.Add(a, b, name="c"))
    return net


def test_a_value_has_a_memory():
    net = chain()
    a = net["a"].output
    assert a.memory == "@hostm"
    for text in ("@etm(4096)", "@ocm(64)", "@chunk(3@128)", "@hostm"):
        a.memory = text
        assert a.memory == text
    for wrong in ("@etm(", "fp32", "@fp(32)", '"', ""):
        with pytest.raises(xir.Error):
            a.memory = wrong
    for wrong in (4096, None):
        with pytest.raises(TypeError):
            a.memory = wrong
    with pytest.raises(AttributeError):
        del a.memory
    assert a.memory == "@hostm"


def test_a_network_is_planned():
    net = chain()
    places = xir.plan(net, memory="etm", align=16, in_place=False)
    assert [value.name for value in places] == ["x", "a", "b", "c"]
    assert places[net["a"].output] == net["a"].output.memory and places[net["a"].output].startswith("@etm(")
    assert net.check() == []
    x = np.arange(16, dtype="f4").reshape(1, 16)
    assert np.array_equal(net.run(x)["c"], net.run(x, arena=True)["c"])
    net["b"].output.memory = net["a"].output.memory
    assert "overlap" in net.check()[0].message
    assert not np.array_equal(net.run(x)["c"], net.run(x, arena=True)["c"])
    places = xir.plan(net, memory="etm", levels="ocm=64,etm", double="x")
    assert places[net["b"].output] == "@ocm(0)" and net.inputs[0].tags["double_addr"] == 4160
    assert xir.plan(net, clear=True) == {} and net["a"].output.memory == "@hostm"
    with pytest.raises(xir.MissingError, match="has an address"):
        net.run(x, arena=True)
    with pytest.raises(xir.LimitError):
        xir.plan(net, limit=100)
    with pytest.raises(xir.Error, match="no option"):
        xir.plan(net, sideways=1)


def test_a_plan_is_proven():
    assert len(xir.plan(chain(), prove=True, verify=True)) == 4


@pytest.mark.parametrize("make", [list, tuple, iter, np.array])
def test_buffers_are_planned(make):
    plan = xir.plan_buffers(make([[0, 1, 64], [1, 2, 32], [2, 2, 64]]))
    assert list(plan.offsets) == [0, 64, 0] and plan.bytes == plan.bound == 96 and plan.least
    assert isinstance(plan.offsets, np.ndarray) == (make is np.array)


def test_alignments_and_fixed_offsets():
    assert xir.plan_buffers([(0, 2, 10, 16), (1, 1, 10, 16), (0, 0, 4)]).offsets[1] % 16 == 0
    assert xir.plan_buffers([(0, 2, 10, 1, 50), (1, 1, 10)], effort=2).offsets == [50, 0]
    assert xir.plan_buffers([]).offsets == []


def test_bad_buffers_are_refused():
    for wrong in ([(0, 1)], [(0, 1, 2, 3, 4, 5)], [(0, 1, -1)], [(2, 1, 8)], [(0, 1, 8, 3)], [(0, 1, 1 << 70)]):
        with pytest.raises(xir.Error):
            xir.plan_buffers(wrong)
    for wrong in (np.zeros((2, 3), "f8"), np.zeros(3, "i8"), np.zeros((2, 6), "i8"), np.zeros((3, 4), "i8").T):
        with pytest.raises(TypeError):
            xir.plan_buffers(wrong)
    with pytest.raises(xir.LimitError):
        xir.plan_buffers([(0, 1, 64), (1, 2, 64)], limit=100)
    with pytest.raises(ValueError):
        xir.plan_buffers([], effort=3)


def test_values_have_lives():
    net = chain()
    lives = xir.liveness(net)
    assert (lives.peak, lives.op.name, lives.exact, lives.bytes[0]) == (192, "c", True, 64)
    a, b, c = (net[name].output for name in "abc")
    assert (lives.lives[a].first, lives.lives[a].last, lives.lives[a].bytes) == (1, 3, 64)
    shared = xir.liveness(net, views=True, in_place=True)
    assert shared.lives[c].within == a and shared.lives[b].within == b and shared.peak == 128
    assert (shared.lives[c].begin, shared.lives[c].end, shared.lives[c].offset) == (1, 4, 0)


def test_parts_are_in_the_whole():
    net = xir.Network()
    x = net.input("x", "fp32 [1,4,4]")
    a, b = F.CumSum(x, name="a"), F.CumSum(x, name="b")
    net.output(F.CumSum(F.Concat(a, b, axis=1, name="d"), name="e"))
    lives = xir.liveness(net, parts=True).lives
    assert lives[net["b"].output].within == net["d"].output and lives[net["b"].output].offset == 64
    open_net = xir.Network()
    y = open_net.input("y", "fp32 [?]")
    open_net.output(F.Sigmoid(y, name="z"))
    assert xir.liveness(open_net).lives[open_net["z"].output].bytes is None


def test_concats_of_googlenet_copy_little():
    """Branches of its blocks write into the Concat, in NCHW, and the peak is the same."""
    net = xir.Network()

    def conv(x, channels, k, pad=0):
        w = xir.params(net, np.zeros((channels, x.type.shape[1], k, k), "f4"), layout="OIHW")
        return F.ReLU(F.Conv2d(x, w, pad=pad))

    def block(x, a, before_b, b, before_c, c, d):
        return F.Concat(conv(x, a, 1), conv(conv(x, before_b, 1), b, 3, 1), conv(conv(x, before_c, 1), c, 3, 1),
                        conv(F.MaxPool2d(x, k=3, stride=1, pad=1), d, 1), axis=1)

    x = F.MaxPool2d(conv(net.input("x", "fp32 NCHW [1,64,56,56]"), 192, 3, 1), k=2, stride=2)
    x = block(block(x, 64, 96, 128, 16, 32, 32), 128, 128, 192, 32, 96, 64)
    x = F.MaxPool2d(x, k=2, stride=2)
    x = block(block(x, 192, 96, 208, 16, 48, 64), 160, 112, 224, 24, 64, 64)
    net.output(F.MaxPool2d(x, k=14, stride=14))
    plain = xir.liveness(net, views=True, in_place=True)
    parts = xir.liveness(net, views=True, in_place=True, parts=True)
    assert parts.peak <= plain.peak
    joined = [(v, op.output) for op in net.ops("Concat") for v in op.inputs]
    inside = [v for v, whole in joined if parts.lives[v].within == parts.lives[whole].within]
    assert len(joined) == 16
    assert sum(parts.lives[v].bytes for v in inside) >= 0.9 * sum(parts.lives[v].bytes for v, _ in joined)


def test_parts_need_parts():
    net = xir.Network()
    x = net.input("x", "fp32 NHWC [1,16,12,4]")
    w = xir.params(net, np.ones((3, 3, 4, 4), "f4"), layout="HWIO")
    c = F.Conv2d(x, w, pad_top=1, pad_bottom=1, pad_left=1, pad_right=1, name="c")
    net.output(F.Softmax(c, name="s"))
    of_x, of_w = xir.needed(net["c"], np.s_[:, 4:6])
    assert of_x == (np.s_[0:1, 3:7, 0:12, 0:4], True) and of_w.slices == np.s_[0:3, 0:3, 0:4, 0:4]
    assert xir.needed(net["s"], np.s_[:, :1, :1, :1])[0].slices == np.s_[0:1, 0:1, 0:1, 0:4]
    assert xir.needed(net["c"], np.s_[:, 4:4])[0].slices is None
    for wrong in (np.s_[::2], 3, np.s_[:, :, :, :, :]):
        with pytest.raises(xir.Error):
            xir.needed(net["c"], wrong)
    with pytest.raises(IndexError):
        xir.needed(net["c"], np.s_[:], output=1)


def test_tiles_fit_a_budget():
    net = xir.Network()
    x = net.input("x", "fp32 NHWC [1,32,24,4]")
    rng = np.random.default_rng(1)
    a, b = (xir.params(net, rng.standard_normal((3, 3, 4, 4)).astype("f4"), layout="HWIO") for _ in "ab")
    pads = dict(pad_top=1, pad_bottom=1, pad_left=1, pad_right=1)
    c = F.Conv2d(x, a, name="c", **pads)
    net.output(F.Add(F.Conv2d(c, b, name="d", **pads), x, name="s"))
    block = [net["c"], net["d"], net["s"]]
    whole = xir.tiles(block, 1 << 20)
    assert len(whole.tiles) == 1 and whole.read == whole.read_once and whole.made == whole.made_once
    assert whole.network is None and whole.tiles[0].network is None
    cut = xir.tiles(block, 16 << 10, "H", networks=True)
    assert cut.peak <= 16 << 10 < whole.peak and len(cut.tiles) > 1
    assert cut.made >= cut.made_once and cut.op in block
    data = rng.standard_normal((1, 32, 24, 4)).astype("f4")
    (right,), (joined,) = net.run(data).values(), cut.network.run(data).values()
    assert (np.asarray(right) == np.asarray(joined)).all()
    for tile in cut.tiles:
        ((value, slices),) = tile.parts.items()
        assert value == net["s"].output
        (part,) = tile.network.run(data).values()
        assert (np.asarray(part) == np.asarray(right)[slices]).all()
    with pytest.raises(xir.Error, match="s|c|d"):
        xir.tiles(block, 64)
    with pytest.raises(xir.Error):
        xir.tiles(block, 1 << 20, "Q")
    with pytest.raises(xir.Error):
        xir.tiles([], 1 << 20)


def test_an_interrupt_ends_a_search():
    """Fixed buffers leave gaps of 999 bytes, for which the others are packed."""
    dice = random.Random(0)
    rows = [(0, 9, 1, 1, 1000 * (i + 1)) for i in range(12)]
    rows += [(dice.randrange(4), 5 + dice.randrange(4), dice.randrange(250, 420)) for _ in range(36)]
    timer = threading.Timer(0.3, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        xir.plan_buffers(rows, effort=2, steps=2**62)
        pytest.fail("the search ended before the interrupt")
    timer.join()
