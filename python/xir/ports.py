# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The inputs and outputs of an op: tuples whose items are found by position, and by the names of ports."""

from .names import unknown


class Ports(tuple):
    """Values by position or by the name of a port: op.inputs["weights"]. A port that takes any number has a tuple."""

    __slots__ = ()
    _places = {}
    _what = "the op has no input"

    def __getitem__(self, key):
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        at = self._places.get(key)
        if at is None:
            raise unknown(self._what, key, self._places)
        if at < 0:
            return tuple.__getitem__(self, slice(-1 - at, None))
        return tuple.__getitem__(self, at) if at < len(self) else None

    def __reduce__(self):
        return tuple, (tuple(self),)


def make(places, outputs):
    """The type of the inputs, or the outputs, of a class. Its ports have these places; -1 - i is a port that takes any
    number from i on."""
    what = "the op has no output" if outputs else "the op has no input"
    return type("Outputs" if outputs else "Inputs", (Ports,), {"__slots__": (), "_places": places, "_what": what})
