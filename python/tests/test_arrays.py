# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Arrays for other libraries: the buffer protocol, DLPack, ml_dtypes; and files that change."""

import ctypes
import gc
import os
import sys
import types

import numpy as np
import pytest

import xir
from xir import F


@pytest.fixture
def net():
    net = xir.Network()
    weights = xir.params(net, np.arange(8, dtype="f4").reshape(2, 4), name="w", layout="NC")
    net.output(F.Concat(net.input("x", "fp32 NC [1,4]"), weights, axis=0))
    return net


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class Versioned(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32 * 2), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
                ("flags", ctypes.c_uint64), ("tensor", Tensor)]


def versioned(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Versioned.from_address(pointer(capsule, b"dltensor_versioned"))


def test_read_only_bytes_need_version_1(net):
    weights = net.params[0]
    for how in ({}, {"copy": False}, {"max_version": (0, 8)}):
        with pytest.raises(BufferError, match="version 1"):
            weights.__dlpack__(**how)
    capsule = weights.__dlpack__(max_version=(1, 0))
    of = versioned(capsule)
    assert list(of.version) == [1, 0] and of.flags == 1 and list(of.tensor.device) == [1, 0]
    assert (of.tensor.code, of.tensor.bits, of.tensor.lanes) == (2, 32, 1)
    assert of.tensor.shape[:2] == [2, 4] and of.tensor.strides[:2] == [4, 1]
    assert of.tensor.data == weights.numpy().ctypes.data      # shared
    del net, weights
    gc.collect()
    assert (ctypes.c_float * 8).from_address(of.tensor.data)[:] == list(range(8))
    del capsule


def test_a_consumer_takes_a_copy(net):
    class Copied:
        def __dlpack__(self, **how):
            return net.params[0].__dlpack__(copy=True)

        def __dlpack_device__(self):
            return net.params[0].__dlpack_device__()

    taken = np.from_dlpack(Copied())
    gc.collect()
    assert taken.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]] and taken.ctypes.data != net.params[0].numpy().ctypes.data
    assert versioned(net.params[0].__dlpack__(copy=True, max_version=(1, 1))).flags == 2
    for how, error in (({"stream": 1}, BufferError), ({"dl_device": (2, 0)}, BufferError),
                       ({"max_version": 1}, TypeError), ({"dl_device": ("a", 0)}, TypeError), ({"what": 1}, TypeError)):
        with pytest.raises(error):
            net.params[0].__dlpack__(**how)


def test_bytes_that_are_not_aligned_are_copied():
    net = xir.Network()
    odd = np.frombuffer(b"\0" + np.arange(4, dtype="f4").tobytes(), "u1")[1:].view("f4")
    weights = xir.params(net, odd)
    assert weights.numpy().ctypes.data % 4 and weights.numpy().tolist() == [0, 1, 2, 3]
    of = versioned(capsule := weights.__dlpack__(max_version=(1, 0)))
    assert of.tensor.data % 4 == 0 and of.flags == 2 and capsule
    with pytest.raises(BufferError, match="aligned"):
        weights.__dlpack__(max_version=(1, 0), copy=False)


def special(element, data, dims):
    """Params of a type that NumPy does not have."""
    net = xir.Network()
    value = xir.params(net, np.frombuffer(data, "u1"), name="w")
    net.output(F.Concat(net.input("x", "uint8 * [4]"), value, axis=0))
    value.type = f"{element} * [{dims}]"
    return value


def test_elements_that_numpy_does_not_have(monkeypatch):
    bf16 = special("bf16", bytes([0x80, 0x3f, 0x00, 0xc0]), 2)
    assert bf16.numpy().tolist() == [1.0, -2.0] and bf16.numpy().dtype == "f4" and len(bf16.raw()) == 4
    with pytest.raises(BufferError):
        memoryview(bf16.array())
    assert np.frombuffer(bf16.array().bytes, "u1").tolist() == [0x80, 0x3f, 0x00, 0xc0]
    of = versioned(capsule := bf16.__dlpack__(max_version=(1, 0)))
    assert (of.tensor.code, of.tensor.bits) == (4, 16) and capsule
    stand_in = types.ModuleType("ml_dtypes")      # the real one is not in Debian 12
    stand_in.bfloat16 = np.dtype("V2")
    monkeypatch.setitem(sys.modules, "ml_dtypes", stand_in)
    made = bf16.numpy()
    assert made.dtype == "V2" and made.tobytes() == bf16.raw() and not made.flags.writeable
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    assert bf16.numpy().dtype == "f4"


@pytest.mark.parametrize("name", ["net.fb", "net.imodel", "net.json", "net.onnx", "net.pnnx.param", "net.nnb"])
def test_a_mapped_file_that_shrinks_is_an_os_error(tiny, tmp_path, name):
    """Never a signal, also for parameters that were used before, in every format that maps them."""
    path = tmp_path / name
    if "fb" not in name and "imodel" not in name and "json" not in name:
        xir.Pipeline("xir-to-" + name.split(".")[1]).run(tiny)
    tiny.save(path)
    net = xir.load(path, lazy=True)
    parameter = max(net.params, key=lambda value: value.numpy().size)
    before = parameter.numpy().copy()
    assert before.size and (parameter.numpy() == before).all()
    for file in tmp_path.iterdir():
        os.truncate(file, min(file.stat().st_size, 16))
    with pytest.raises(OSError):
        parameter.numpy()


def test_a_watched_file_that_changes_is_an_os_error(net, tmp_path):
    path = tmp_path / "net.fb"
    net.save(path)
    watched, before = xir.load(path, lazy=True), xir.load(path, lazy=True, verify="touch")
    held = before.params[0].numpy()
    with open(path, "ab") as file:
        file.write(b"more")
    os.utime(path, (1, 1))
    for use in (before.params[0].numpy, watched.params[0].numpy,
                watched.params[0].raw, lambda: memoryview(watched.params[0]),
                lambda: np.asarray(watched.params[0]), lambda: watched.run(np.zeros((1, 4), "f4")),
                lambda: watched.save(tmp_path / "again.fb")):
        with pytest.raises(OSError):
            use()
    assert held.sum() == 28
    with pytest.raises(xir.UnknownError, match="verify"):
        xir.load(path, verify="sometimes")


def tiled(a, axes, outer, units):
    """numpy's twin of tile: axes in the order of `outer`, then the units of letters, the last ones finest."""
    shape = dict(zip(axes, a.shape))
    whole = {c: int(np.prod([n for letter, n in units if letter == c] or [1])) for c in axes}
    a = np.pad(a, [(0, -shape[c] % whole[c]) for c in axes])
    dims, names = [], []
    for c, n in zip(axes, a.shape):
        parts = [n // whole[c]] + [n for letter, n in units if letter == c]
        dims += parts
        names += [(c, i) for i in range(len(parts))]
    count = dict.fromkeys(axes, 0)
    order = [names.index((c, 0)) for c in outer]
    for letter, _ in units:
        count[letter] += 1
        order.append(names.index((letter, count[letter])))
    return a.reshape(dims).transpose(order)


@pytest.mark.parametrize("axes, layout, outer, units", [
    ("NCHW", "NCHWc32", "NCHW", [("C", 32)]), ("NHWC", "NCHWc4", "NCHW", [("C", 4)]),
    ("HWIO", "OIHW16o", "OIHW", [("O", 16)]), ("OIHW", "OIHW4i16o", "OIHW", [("I", 4), ("O", 16)]),
    ("OIHW", "OIHWi2o3i2", "OIHW", [("I", 2), ("O", 3), ("I", 2)]), ("NHWC", "CWHN", "CWHN", [])])
@pytest.mark.parametrize("element", ["i1", "f2", "f4", "i8", "?"])
def test_arrays_are_tiled_as_numpy_does(axes, layout, outer, units, element):
    plain = np.random.default_rng(1).integers(0, 100, (3, 5, 2, 7)).astype(element)
    array = xir.Array(plain).tile(layout, axes)
    assert np.array_equal(array.numpy(), tiled(plain, axes, outer, units))
    back = array.untile(axes, plain.shape)
    assert np.array_equal(back.numpy(), plain) and f" {axes} [" in str(back.type)
    assert np.array_equal(xir.Array(array.numpy()).untile(axes, plain.shape, layout=layout).numpy(), plain)


def test_arrays_are_permuted_padded_and_cast_as_numpy_does():
    plain = np.arange(24, dtype="f4").reshape(2, 3, 4) - 5.75
    array = xir.Array(plain, "NHC")
    assert np.array_equal(array.permute(2, 0, -2).numpy(), plain.transpose(2, 0, 1))
    assert " CNH " in str(array.permute(2, 0, 1).type)
    assert np.array_equal(array.pad((1, 0, 2), (0, 1, 0), -1).numpy(),
                          np.pad(plain, ((1, 0), (0, 1), (2, 0)), constant_values=-1))
    assert np.array_equal(array.pad((-1, 0, 0), (0, 0, -2)).numpy(), plain[1:, :, :-2])
    for element, letter in (("int8", "i1"), ("fp16", "f2"), ("fp64", "f8"), ("bool", "?"), ("int64", "i8")):
        assert np.array_equal(array.cast(element).numpy(), plain.astype(letter))
    with pytest.raises(xir.BoundsError, match="permutation"):
        array.permute(0, 1, 1)
    with pytest.raises(xir.InvalidError, match="lacks the axis"):
        array.tile("NC")
    with pytest.raises(xir.BoundsError):
        array.tile("NCHc4").untile("NHC", (2, 3, 5))
    with pytest.raises(ValueError):
        array.pad((1, 2), (1,))
