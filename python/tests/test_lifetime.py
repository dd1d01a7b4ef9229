# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Wrappers outlive what they stand for, and say so."""

import ctypes
import gc
import weakref

import numpy as np
import pytest

import xir
from xir import F


def test_a_wrapper_holds_its_network(tiny):
    conv = tiny["conv"]
    weights = conv.weights
    del tiny
    gc.collect()
    assert conv.name == "conv" and weights.numpy().sum() == 108


def test_an_array_outlives_edits_and_the_network(tiny):
    view = tiny["conv"].weights.numpy()
    with tiny["conv"].weights.edit() as w:
        w[:] = 7
    assert tiny["conv"].weights.numpy().min() == 7
    del tiny, w
    gc.collect()
    assert view.sum() == 108
    with pytest.raises(ValueError):
        view[0] = 1


def test_everything_about_an_erased_op_raises(tiny):
    pool, relu = tiny["pool"], tiny["relu"]
    value = relu.output
    tiny.remove(relu)
    assert relu.erased and not pool.erased
    assert "erased" in repr(relu) and "erased" in repr(value)
    for use in (lambda: relu.name, lambda: relu.inputs, lambda: relu.alpha, lambda: relu["alpha"], lambda: relu.foo,
                lambda: value.name, lambda: value.users, lambda: relu.next, lambda: relu.check(), lambda: relu.erase(),
                lambda: setattr(relu, "name", "x"), lambda: setattr(relu, "alpha", 1.0), lambda: F.ReLU(value),
                lambda: pool.set_input(0, value), lambda: tiny.remove(relu), lambda: value.replace(pool.output),
                lambda: relu.tags["x"], lambda: dict(relu.extra), lambda: relu.move(None), lambda: pool.move(relu)):
        with pytest.raises(xir.StaleError):
            use()
    assert pool.input is None


def test_a_loop_continues_after_the_op_that_it_erases(tiny):
    seen = []
    for op in tiny:
        seen.append(op.name)
        if op.name == "conv":
            tiny.remove(tiny["relu"])
            tiny.remove(op)
    assert seen == ["image", "conv", "pool", ""] and len(tiny) == 3


def test_ops_that_a_loop_adds_are_not_visited(tiny):
    for op in tiny.ops("ReLU"):
        with tiny.at(after=op):
            op.output.insert(F.ReLU)
    assert len(list(tiny.ops("ReLU"))) == 2
    assert tiny.check() == []


def test_identity(tiny):
    a, b = tiny["conv"], tiny["conv"]
    assert a == b and hash(a) == hash(b) and a != tiny["relu"] and a != "conv"
    assert a.output == b.outputs[0] and hash(a.output) == hash(b.output)
    assert {a: 1}[b] == 1 and a.output != a.weights
    assert a.cls == b.cls == xir.Class("Conv2d") and a.output.type == b.output.type


def test_an_output_is_found_again_after_outputs_have_moved():
    net = xir.Network()
    first = net.input("a", "fp32 [1]")
    more = [net.input(f"i{i}", "fp32 [1]") for i in range(40)]
    assert first.name == "a" and [value.name for value in more] == [f"i{i}" for i in range(40)]


def test_a_value_of_another_network(tiny):
    other = tiny.clone()
    with pytest.raises(xir.InvalidError):
        tiny["pool"].set_input(0, other["relu"].output)
    with pytest.raises(xir.InvalidError):
        F.Add(tiny["relu"], other["relu"])
    with pytest.raises(xir.InvalidError):
        tiny["pool"].move(other["relu"])


def test_the_op_that_a_cursor_is_at_is_erased(tiny):
    relu = tiny["relu"]
    with tiny.at(before=relu):
        tiny.remove(relu)
        with pytest.raises(xir.StaleError):
            F.ReLU(tiny["conv"])


def test_a_pipeline_erases_what_is_not_used(tiny):
    extra = F.ReLU(tiny["conv"], name="extra").op
    tiny["extra"].move(tiny["pool"])
    tiny.cleanup()
    assert extra.erased
    with pytest.raises(xir.StaleError):
        extra.name


def test_a_borrowed_buffer_lives_as_long_as_its_bytes_are_needed():
    class Bytes(np.ndarray):
        pass

    net = xir.Network()
    numbers = np.arange(4, dtype="f4").view(Bytes)
    alive = weakref.ref(numbers)
    made = xir.params(net, numbers, name="w")
    del numbers
    gc.collect()
    assert alive() is not None and made.numpy().tolist() == [0, 1, 2, 3]
    view = made.numpy()
    del made, net
    gc.collect()
    assert alive() is not None and view.tolist() == [0, 1, 2, 3]
    del view
    gc.collect()
    assert alive() is None


def test_types_and_objects_of_another_network(tiny):
    other = xir.read(tiny.write("json", check=False), format="json")
    kind, scale = other["conv"].output.type, other["conv"].cut_scale
    net = xir.Network("n")
    x = net.input("x", kind)
    tiny["conv"].cut_scale = scale
    tiny["conv"].output.type = kind
    del other
    gc.collect()
    assert x.type == kind == tiny["conv"].output.type and tiny["conv"].cut_scale == scale and tiny.check() == []


def test_code_of_the_caller_erases_what_is_being_changed(tiny):
    class Index:
        def __index__(self):
            tiny.remove(op)
            return 1

    class Users(list):
        def __iter__(self):
            tiny.remove(op)
            return super().__iter__()

    for use in (lambda: setattr(op, "stride_height", Index()), lambda: op.tags.update(a=Index()),
                lambda: op.extra.update(a=Index()), lambda: op.output.tags.update(a=Index()),
                lambda: op.__setitem__("a", Index()), lambda: op.output.connect(Users()),
                lambda: setattr(op, "id", Index()),
                lambda: F.ReLU(op.output, alpha=Index())):
        op = tiny["conv"]
        with pytest.raises(xir.StaleError):
            use()
        tiny = mended(tiny)


def mended(net):
    """Returns the network with another conv in the place of the one that has been removed."""
    relu = net["relu"]
    with net.at(before=relu):
        relu.input = F.Conv2d(net.inputs[0], np.ones((3, 3, 3, 4), "f4"), pad=1, name="conv")
    return net


def test_nothing_of_an_op_is_deleted(tiny):
    for thing, name in ((tiny["conv"], "name"), (tiny["conv"], "stride_height"), (tiny["conv"], "inputs"),
                        (tiny["conv"].output, "name"), (tiny["conv"].output, "type"), (tiny, "name")):
        with pytest.raises(AttributeError):
            delattr(thing, name)
    assert tiny.check() == []


def test_a_message_is_cut_inside_a_character(tiny):
    for start in ("", "a"):
        for use in (lambda: xir.Class(start + "é" * 300), lambda: tiny[start + "é" * 300]):
            with pytest.raises(xir.UnknownError):
                use()


def test_a_buffer_is_never_in_the_order_of_fortran():
    strides, c_order, f_order, any_order = 0x18, 0x38, 0x58, 0x98      # PyBUF_STRIDES and the like
    view = ctypes.create_string_buffer(256)                             # a Py_buffer

    def ask(shape, flags):
        array = xir.Array(np.zeros(shape, "f4"))
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(array), view, flags)
        ctypes.pythonapi.PyBuffer_Release(view)

    for flags in (strides, c_order, any_order):
        ask((2, 3), flags)
    for shape in ((3,), (1, 3), (3, 1)):
        ask(shape, f_order)
    with pytest.raises(BufferError):
        ask((2, 3), f_order)
