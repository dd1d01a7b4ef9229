# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calls of the library beyond editing: lists, costs, regions, comparisons, reductions, provenance, visits."""

import json
import re
import signal
import subprocess
import threading

import numpy as np
import pytest
from conftest import TOP
from test_process import BUILD

import xir
from xir import F


def optimised(digits):
    net = xir.load(digits)
    xir.optimize(net)
    return net


# ---- lists ------------------------------------------------------------------------------------------------------

def test_passes():
    """Those that the library registers, in their order, with what they need and their options."""
    ids = re.findall(r"^PASS\((\w+)\)", (TOP / "src/passes/passes.def").read_text(), re.MULTILINE)
    rows = {row.name: row for row in xir.passes()}
    assert {name.replace("_", "-") for name in ids} <= set(rows)
    assert "to-xir" in rows and rows["fold"].level == "exact" and rows["fold"].doc in str(rows["fold"])
    limit = next(option for option in rows["fold"].options if option.name == "limit")
    assert limit.kind == "int" and limit.default and limit.doc
    for row in rows.values():
        assert set(row.needs) <= set(rows) and row.doc


def test_targets():
    rows = {row.name: row for row in xir.targets()}
    assert {"host", "buyi", "zhuge"} <= set(rows) and rows["zhuge"].cores[:2] == ["330", "340"]
    assert rows["buyi"].accelerator and not rows["host"].accelerator and "buyi" in str(rows["buyi"])
    rules = rows["buyi"].rules
    assert any(rule.cls == "icraft::xir::Conv2d" and rule.needs for rule in rules)


def test_symbols(digits):
    net = xir.parse('xir 1\n%x = Input() : fp32 NC [?,4]\nOutput(%x)\n')
    net.declare("n", 1, 8)
    net.inputs[0].type = net.type_of("fp32 NC [n,4]")
    assert xir.symbols(net) == {"n": (1, 8)} and net.inputs[0].shape == ("n", 4)
    with pytest.raises(xir.UnknownError, match="no symbol 'm'; there are n"):
        net.bind(m=1)
    with pytest.raises(xir.BoundsError):
        net.bind(n=9)
    net.bind(n=(2, 4))
    assert xir.symbols(net) == {"n": (2, 4)}
    net.bind(n=3)
    assert net.inputs[0].shape == (3, 4) and xir.symbols(net) == {}
    made = net.type_of("fp32 NC [max(a, b), 2]")
    assert len(made.shape) == 2 and net.type_of("fp32") == xir.Type("fp32")
    for bad in ("fp32 [a +]", "fp32 N [a,b]"):
        with pytest.raises(xir.Error):
            net.type_of(bad)


def test_a_target_is_asked_about_an_op(tiny):
    conv = tiny["conv"]
    assert xir.try_op(conv, "buyi") and xir.try_op(conv, "host") == []
    conv.stride_width = 3
    tiny.infer()
    answer = xir.try_op(conv, "buyi")
    assert not answer and "strides that divide" in str(answer[0]) and tiny.check() == []
    for bad in ("buyy", "buyi:1"):
        with pytest.raises(xir.Error):
            xir.try_op(conv, bad)


# ---- costs ------------------------------------------------------------------------------------------------------

def test_costs(tiny):
    cost = tiny["conv"].cost
    assert cost.multiply_adds == 8 * 8 * 4 * 27 and cost.parameters == 108 and cost.parameter_bytes == 432
    assert cost.bytes_written == 8 * 8 * 4 * 4
    tiny["conv"].output.type = tiny.type_of("fp32 NHWC [1,?,8,4]")
    assert tiny["conv"].cost.bytes_written is None


@pytest.mark.skipif(not (BUILD / "tools/xir").exists() and not (BUILD / "xir").exists(),
                    reason="the program is not built")
def test_the_stats_are_those_of_the_program(digits, tmp_path):
    program = next(path for path in (BUILD / "tools/xir", BUILD / "xir", BUILD / "tools/xir/xir") if path.is_file())
    path = tmp_path / "a.fb"
    net = optimised(digits)
    net.save(path)
    said = json.loads(subprocess.run([program, "stats", "--json", path], check=True, capture_output=True).stdout)
    stats = net.stats()
    text = json.dumps(said)
    for name in ("multiply_adds", "element_ops", "parameters"):
        assert str(getattr(stats.all, name)) in text, (name, said)


def test_stats(digits, capsys):
    net = optimised(digits)
    stats = net.stats()
    assert sum(row.ops for row in stats) == len(net) == stats.all.ops and not stats.converted and stats.peak > 0
    assert stats[0].name == "icraft::xir::Conv2d" and stats[0].multiply_adds >= stats[1].multiply_adds
    by_op = net.stats("op")
    assert [row.name for row in by_op] == [op.name for op in net]
    assert sum(row.multiply_adds for row in by_op) == stats.all.multiply_adds
    assert net.stats("scope").all == stats.all
    stats.table()
    assert "icraft::xir::Conv2d" in capsys.readouterr().out
    assert xir.load(digits).stats().converted
    with pytest.raises(xir.UnknownError):
        net.stats("clas")


# ---- regions ----------------------------------------------------------------------------------------------------

def test_outline_and_inline(tiny):
    text = str(tiny)
    image = np.ones((1, 8, 8, 3), "f4")
    before = tiny.run(image)["pool"]
    conv, relu = tiny["conv"], tiny["relu"]
    assert xir.region_path([conv, relu]) == [] and xir.region_path([conv, tiny["pool"]]) == [conv, relu, tiny["pool"]]
    call = xir.outline([conv, relu], name="block")
    assert call.cls.key.endswith("::Call") and tiny["block"] == call and len(tiny) == 4 and tiny.check() == []
    assert conv.parent == call and np.array_equal(tiny.run(image)["pool"], before)
    xir.inline(call)
    assert call.erased and str(tiny) == text and conv == tiny["conv"]
    with pytest.raises(xir.InvalidError):
        xir.outline([conv, tiny["pool"]])
    for bad, error in ((lambda: xir.outline([]), xir.InvalidError), (lambda: xir.inline(conv), TypeError),
                       (lambda: xir.outline([conv], target="buyy"), xir.Error),
                       (lambda: xir.outline(["conv"]), TypeError)):
        with pytest.raises(error):
            bad()
    assert str(tiny) == text


def test_groups(tiny):
    made = xir.groups(tiny, lambda op: op.cls.key.endswith(("Conv2d", "ReLU")))
    assert made == [[tiny["conv"], tiny["relu"]]]
    assert xir.groups(tiny, lambda op: {"conv": 1, "relu": 2}.get(op.name)) == [[tiny["conv"]], [tiny["relu"]]]
    with pytest.raises(ZeroDivisionError):
        xir.groups(tiny, lambda op: 1 / 0)
    with pytest.raises(xir.BusyError):
        xir.groups(tiny, lambda op: setattr(op, "name", "x"))


def test_extract(tiny):
    image = np.ones((1, 8, 8, 3), "f4")
    out = tiny.run(image, values=["conv", "relu"])
    part = xir.extract(tiny, "conv", "relu")
    assert [op.name for op in part][1:-1] == ["relu"] and part.check() == []
    assert np.array_equal(part.run(out["conv"])["relu"], out["relu"])
    assert [op.name for op in xir.extract(tiny, end=tiny["conv"].output)][1:-1] == ["conv"]
    only = xir.extract(tiny, ops=[tiny["relu"]])
    assert np.array_equal(list(only.run(out["conv"]).values())[0], out["relu"])
    with pytest.raises(xir.UnknownError, match="did you mean 'conv'"):
        xir.extract(tiny, "cnov")
    with pytest.raises(xir.InvalidError):
        xir.extract(tiny, "pool", "conv")
    with pytest.raises(xir.InvalidError):
        xir.extract(tiny.clone(), ops=[tiny["relu"]])


def test_regions(digits):
    """The parts of a partition, run one after the other, compute what the whole does."""
    net = optimised(digits)
    xir.Pipeline('partition{target=buyi}').run(net)
    parts = xir.regions(net)
    assert {part.target for part in parts} == {"host", "buyi"} and len(parts) > 1
    image = np.load(digits.parent / "digits_inputs.npy")[:1]
    whole = net.run(image)
    known = {net.inputs[0].id: image}
    for part in parts:
        arrays = [known[value.id] for value in part.net.inputs]
        for value, array in zip(part.net.outputs, part.net.run(*arrays).values()):
            known[value.id] = array
    assert np.allclose(known[net.outputs[0].id], list(whole.values())[0], atol=1e-5)


# ---- comparisons ------------------------------------------------------------------------------------------------

def test_compare(tiny):
    other = tiny.clone()
    image = np.random.default_rng(2).standard_normal((1, 8, 8, 3)).astype("f4")
    same = xir.compare(tiny, other, [image, image])
    assert same.first_bad is None and same.samples == 2 and {pair.a.name for pair in same} == {"conv", "relu", "pool"}
    with other["conv"].weights.edit() as w:
        w *= 1.5
    found = xir.compare(tiny, other, (image for _ in range(3)))
    assert found.first_bad.a == tiny["conv"].output and found.first_bad.b == other["conv"].output
    assert found.suspects == ([tiny["conv"]], [other["conv"]]) and found.samples == 3 and found.bad == 3
    assert found.first_bad.worst.largest > 1e-3 and "differs" in str(found.first_bad)
    assert xir.compare(tiny, other, [image], snr=1.0).first_bad is None
    alone = xir.compare(tiny, other, [image], alone=True)
    assert alone.bad == 1
    found.table()
    for bad, error in ((lambda: xir.compare(tiny, other, [1 / 0 for _ in [0]]), ZeroDivisionError),
                       (lambda: xir.compare(tiny, other, [image], absolute=-1.0), xir.Error),
                       (lambda: xir.compare(tiny, other, [np.ones(3, "f4")]), xir.Error),
                       (lambda: xir.compare(tiny, "/nothing", [image]), OSError),
                       (lambda: xir.compare(tiny, other, [(image, image)]), xir.Error)):
        with pytest.raises(error):
            bad()
    assert tiny.check() == []


def test_compare_foreign_networks_and_folders(digits, tmp_path):
    net = xir.load(digits)
    image = np.load(digits.parent / "digits_inputs.npy")[:1]
    assert xir.compare(net, optimised(digits), [image], absolute=1e-3, relative=1e-3).first_bad is None
    made = optimised(digits)
    out = made.run(image, values="all")
    for name, array in out.kept.items():
        np.save(tmp_path / f"{name.replace('/', '_')}.npy", array)
    found = xir.compare(made, tmp_path, [image])
    assert len(found) >= 3 and found.first_bad is None and all(pair.b is None for pair in found)


def test_reduce(digits):
    net = optimised(digits)
    conv = [op.name for op in net.ops("Conv2d")][1]
    seen = []

    def interesting(part):
        seen.append(part)
        return any(op.cls.key.endswith("::Conv2d") for op in part)
    made = xir.reduce(net, interesting)
    assert len(made.net) == 3 and made.runs >= made.kept > 0 and not made.stopped and made.net.check() == []
    with pytest.raises(xir.StaleError):
        len(seen[0])
    parts = xir.reduce(net, lambda part: conv in part, parts=True)
    assert [op.name for op in parts.net][1:-1] == [conv]
    assert xir.reduce(net, interesting, max_runs=2).stopped
    for bad, error in ((lambda part: 1 / 0, ZeroDivisionError), (lambda part: False, xir.InvalidError),
                       (lambda part: part[1].erase(), xir.BusyError)):
        with pytest.raises(error):
            xir.reduce(net, bad)


def test_interrupts_end_comparisons_and_reductions(tiny, slow):
    net, given = slow
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        xir.compare(net, net.clone(), [given])
        pytest.fail("the comparison ended before the interrupt")
    timer.join()
    net[1].name = "free again"

    def ask(part):
        signal.raise_signal(signal.SIGINT)
        return True
    with pytest.raises(KeyboardInterrupt):
        xir.reduce(tiny, ask)
    tiny["conv"].name = "free again"


# ---- provenance -------------------------------------------------------------------------------------------------

def test_provenance(digits):
    net = xir.load(digits)
    assert net.provenance is None
    conv = net["/c1/Conv"].id
    with net.record() as record:
        xir.optimize(net)
        assert net.provenance.steps == record.steps and "to-xir" in record.steps
        (now,) = record.became("/c1/Conv")[:1]
        assert conv in record.of(now) and conv in record.of(now.output) and now in net
        assert [source.name for source in record.sources][1] == "/c1/Conv"
        assert conv in [origin.id for origin in record.history(now)]
        assert isinstance(record.values_of(net.outputs[0]), list)
        with pytest.raises(xir.UnknownError, match="did you mean '/c1/Conv'"):
            record.became("/c1/Conf")
        with pytest.raises(xir.InUseError):
            net.record()
        record.write_tags()
    assert net.provenance is None and "source.ops" in now.tags
    with pytest.raises(xir.MissingError):
        record.sources
    with net.record(tags=True) as again:
        assert conv in again.of(now)


def test_a_transaction_puts_the_recorder_back(tiny):
    with tiny.record() as record:
        with pytest.raises(ZeroDivisionError):
            with tiny.transaction():
                tiny.bypass(tiny["relu"])
                1 / 0
        assert tiny.provenance is not None and record.became("relu") == [tiny["relu"]]


def test_trace(digits):
    net = xir.load(digits)
    steps = xir.trace(net, "/c1/Conv")
    assert steps[0].step.startswith("to-xir") and "Conv2d" in str(steps[0]) and net.equal(xir.load(digits))
    assert steps == xir.trace(net, net["/c1/Conv"])
    assert xir.trace(net, "/c1/Conv", "identity") == []
    name = optimised(digits).ops("Conv2d").__next__().name
    back = xir.trace(net, name, back=True)
    assert back and "onnx::" in str(back[-1])
    with pytest.raises(xir.UnknownError):
        xir.trace(net, "nothing")


# ---- visits -----------------------------------------------------------------------------------------------------

def test_walk(tiny):
    call = xir.outline([tiny["conv"], tiny["relu"]], name="block")
    names = [op.name for op in tiny.walk()]
    assert names.index("block") < names.index("conv") < names.index("relu") < names.index("pool")
    assert len(list(tiny.walk(ops=False, params=True))) == 1
    assert {value.name for value in tiny.walk(ops=False, values=True)} >= {"image", "conv", "relu", "pool"}
    seen = []
    for op in tiny.walk():
        seen.append(op.name)
        if op == call:
            xir.inline(call)
            tiny.bypass(tiny["relu"])
    assert "relu" not in seen and "conv" in seen


def test_replace(tiny):
    relu = tiny["relu"]
    made = tiny.replace(relu, lambda x: F.Sigmoid(x))
    assert relu.erased and tiny["relu"].cls.key.endswith("Sigmoid")
    assert tiny["pool"].input == made and tiny.check() == []
    with tiny.at(before=made.op):
        other = F.Tanh(tiny["conv"])
    tiny.replace(made, other)
    assert tiny["pool"].input == other and made.users == []
    with tiny.at(after=other.op):
        last = F.Abs(other)
    tiny.replace(other, last)
    assert tiny["pool"].input == last and last.op.input == other
    for bad, error in ((lambda: tiny.replace("relu", last), TypeError),
                       (lambda: tiny.replace(tiny["pool"], lambda *inputs: None), TypeError),
                       (lambda: tiny.replace(tiny["pool"], (last, last)), xir.BoundsError)):
        with pytest.raises(error):
            bad()
