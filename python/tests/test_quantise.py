# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calibration and quantisation of networks."""

import json

import numpy as np
import pytest

import xir
from xir import F


def product():
    net = xir.Network()
    x = net.input("x", "fp32 [1,8]")
    weights = np.random.default_rng(1).normal(size=(8, 4)).astype("f4")
    net.output(F.Matmul(F.Sigmoid(x, name="s"), weights, name="y"))
    return net


def samples(n):
    return (np.random.default_rng(i).normal(size=(1, 8)).astype("f4") for i in range(n))


def test_a_network_is_calibrated_and_quantised(tmp_path):
    net, path = product(), tmp_path / "c.json"
    assert xir.calibrate(net, samples(5), path, threads=2) == 5
    values = json.loads(path.read_text())["values"]
    least = min(float(x.min()) for x in samples(5))
    assert set(values) == {"x", "s", "y"} and values["x"]["min"] == pytest.approx(least)
    x = next(samples(1))
    expected = net.run(x)["y"]
    report = xir.quantize(net, verify=True, scheme="onnx", calibration=str(path))
    assert report.changes > 0 and net["s.quantized"].output.name == "s.quantized"
    assert np.abs(net.run(x)["y"] - expected).max() < 0.05
    assert xir.quantize(net, calibration=str(path)).changes == 0


def test_products_alone_are_counted(tmp_path):
    path = tmp_path / "c.json"
    xir.calibrate(product(), [next(samples(1))], path, products=True)
    assert list(json.loads(path.read_text())["values"]) == ["s"]


def test_channels_have_ranges(tmp_path):
    net, path = product(), tmp_path / "c.json"
    xir.calibrate(net, samples(3), path, channels=True)
    most = np.concatenate(list(samples(3))).max(axis=0)
    assert json.loads(path.read_text())["values"]["x"]["channels"]["max"] == pytest.approx(list(most))
    xir.quantize(net, scheme="buyi", ratios="channel", calibration=str(path), verify=True)


def test_floats_of_fewer_bits():
    net = product()
    xir.quantize(net, type="bf16")
    assert "bf16" in str(net["s"].output.type)


def test_what_is_refused(tmp_path):
    net = product()
    with pytest.raises(xir.Error):
        xir.calibrate(net, [np.zeros((1, 7), "f4")], tmp_path / "c.json")
    with pytest.raises(xir.Error):
        xir.calibrate(net, [np.full((1, 8), np.nan, "f4")], tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()
    with pytest.raises(xir.Error):
        xir.calibrate(net, samples(1), tmp_path / "no" / "c.json")
    with pytest.raises(xir.Error):
        xir.quantize(net, scheme="none")
    with pytest.raises(xir.Error):
        xir.calibrate(net, samples(1), tmp_path / "c.json", threads=-1)


def test_the_worst_ops_get_more_bits(tmp_path):
    net = xir.Network()
    x = net.input("x", "fp32 [1,8]")
    rng = np.random.default_rng(1)
    for i in range(6):
        x = F.Tanh(F.Matmul(x, rng.normal(size=(8, 8)).astype("f4"), name=f"y{i}"), name=f"t{i}")
    net.output(F.Copy(x, name="out"))
    path, csv = tmp_path / "c.json", tmp_path / "f.csv"
    xir.calibrate(net, samples(8), path)
    others = [next(samples(seed)) for seed in range(20, 28)]
    options = dict(scheme="buyi", calibration=str(path))
    mixed = xir.mix(net, others, csv, least=50, budget=1, **options)
    assert mixed.plain_snr < 50 <= mixed.snr and mixed.good and 0 < mixed.raised <= mixed.stored
    rows = csv.read_text().splitlines()
    assert rows[0] == "op,type,bits,per,saturation"
    assert len(rows) - 1 == sum(chosen for *_, chosen in mixed.ops)
    assert [cosine for _, _, cosine, _ in mixed.ops] == sorted(cosine for _, _, cosine, _ in mixed.ops)
    assert {bits for _, bits, _, chosen in mixed.ops if chosen} <= {16, None} and "dB become" in str(mixed)
    exact = [net.run(o)["out"] for o in others]
    xir.quantize(net, verify=True, precision=str(csv), **options)
    error = sum(((net.run(o)["out"] - e) ** 2).sum() for o, e in zip(others, exact))
    assert 10 * np.log10(sum((e ** 2).sum() for e in exact) / error) == pytest.approx(mixed.snr, abs=1e-6)
    with pytest.raises(xir.Error):
        xir.mix(net, others, csv, **options)           # it is quantised already
    with pytest.raises(xir.Error):
        xir.mix(product(), [], csv, **options)
