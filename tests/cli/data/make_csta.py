# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Writes net.csta: a module of TensorStack, a ReLU, in a scrambled container. Nothing here is shared with the library:
`unscramble` is written from the description of the files alone, and checks what was made."""
import struct


def word(v):
    return struct.pack("<I", v & 0xFFFFFFFF)


def text(s):
    return word(len(s)) + s


def chars(s):
    return word(1) + b"\x0d" + word(1) + word(len(s)) + s


def node(params, inputs):
    bubble = b"".join(text(name) + value for name, value in params)
    return word(len(params)) + bubble + word(len(inputs)) + b"".join(word(i) for i in inputs)


def module():
    dtype = word(1) + b"\x05" + word(0) + word(10)
    shape = word(1) + b"\x05" + word(1) + word(2) + word(-1) + word(4)
    x = node([(b"#dtype", dtype), (b"#name", chars(b"x")), (b"#op", chars(b"<param>")), (b"#shape", shape)], [])
    y = node([(b"#name", chars(b"y")), (b"#op", chars(b"relu"))], [0])
    return word(0) + word(0x19910929) + bytes(120) + word(1) + word(0) + word(1) + word(1) + word(2) + x + y


def piece(v):
    if v is None:
        return b"\x00\x00"
    if isinstance(v, bool):
        return b"\x07" + bytes([v])
    if isinstance(v, int):
        return b"\x01" + word(v)
    if isinstance(v, float):
        return b"\x02" + struct.pack("<f", v)
    if isinstance(v, str):
        return b"\x03" + text(v.encode())
    if isinstance(v, bytes):
        return b"\x04" + text(v)
    if isinstance(v, list):
        return b"\x05" + word(len(v)) + b"".join(piece(i) for i in v)
    return b"\x06" + word(len(v)) + b"".join(text(k.encode()) + piece(i) for k, i in v.items())


def combine(data):
    key = b"seetatech.com"
    total = sum(c * 10 ** (len(key) - 1 - i) for i, c in enumerate(key))
    mask = struct.pack("<Q", total)
    whole = len(data) // 16 * 16
    return bytes(c ^ mask[i % 8] for i, c in enumerate(data[:whole])) + data[whole:]


def unscramble(data):
    assert data[:4] == b"fast"
    return combine(data[4:])


if __name__ == "__main__":
    tree = {"version": 6, "backbone": {"tsm": module(), "name": "relu"}, "scale": 0.5, "on": True, "none": None,
            "rest": [1, "two", b"\x00\xff", {"b": 1, "a": 2}]}
    plain = word(0x19910929) + piece(tree)
    scrambled = b"fast" + combine(plain)
    assert unscramble(scrambled) == plain
    open("net.csta", "wb").write(scrambled)
