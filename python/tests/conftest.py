"""What the tests share: small networks, made when a test asks for one."""

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
def tiny():
    """image -> conv -> relu -> pool"""
    net = xir.Network("tiny")
    x = net.input("image", "fp32 NHWC [1,8,8,3]")
    x = F.Conv2d(x, np.ones((3, 3, 3, 4), "f4"), pad=1, name="conv")
    x = F.ReLU(x, name="relu")
    net.output(F.MaxPool2d(x, k=2, stride=2, name="pool"))
    return net
