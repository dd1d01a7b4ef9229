# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Fixtures of the tests: small networks, made when a test asks for one."""

import os
import pathlib

import numpy as np
import pytest

import xir
from xir import F

TOP = pathlib.Path(os.environ.get("XIR_SOURCE", pathlib.Path(__file__).parents[2]))


@pytest.fixture
def digits():
    return TOP / "examples/models/digits.onnx"


@pytest.fixture
def slow():
    """Matrix products that take some seconds, and an array for their input."""
    net = xir.Network()
    x = net.input("x", "fp32 NC [3000,3000]")
    for _ in range(8):
        x = F.Matmul(x, np.ones((3000, 3000), "f4"))
    net.output(x)
    return net, np.ones((3000, 3000), "f4")


@pytest.fixture
def tiny():
    """image -> conv -> relu -> pool"""
    net = xir.Network("tiny")
    x = net.input("image", "fp32 NHWC [1,8,8,3]")
    x = F.Conv2d(x, np.ones((3, 3, 3, 4), "f4"), pad=1, name="conv")
    x = F.ReLU(x, name="relu")
    net.output(F.MaxPool2d(x, k=2, stride=2, name="pool"))
    return net


def pytest_runtest_logreport(report):
    """A skipped test is a line of the file that XIR_SKIPS names, as in every test of the tree."""
    if report.skipped and os.environ.get("XIR_SKIPS"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        name = report.nodeid.split("::")[-1].split("[")[0]
        with open(os.environ["XIR_SKIPS"], "a") as file:
            file.write(f"{name} {str(reason).removeprefix('Skipped: ')}\n")
