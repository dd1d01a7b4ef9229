# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calls that people try first: attributes as a mapping, completion of names, shapes and types of values, arrays of any
kind, transactions."""

from _collections_abc import MutableMapping      # of collections.abc, whose import takes longer

from . import _xir, errors
from ._xir import Array, Network, Op, Value
from .later import context
from .network import _array
from .types import parse


# ---- attributes -------------------------------------------------------------------------------------------------

class Attrs(MutableMapping):
    """All attributes of an op, those that its class declares first: a mapping whose changes are changes of the op."""

    __slots__ = ("_op",)

    def __init__(self, op):
        self._op = op

    def _names(self):
        return [field["name"] for field in self._op.cls.fields]

    def __getitem__(self, name):
        return self._op[name]

    def __setitem__(self, name, value):
        self._op[name] = value

    def __delitem__(self, name):
        del self._op[name]

    def __contains__(self, name):
        return name in self._op

    def __iter__(self):
        names = self._names()
        return iter(names + [name for name in self._op.extra if name not in names])

    def __len__(self):
        return sum(1 for _ in self)

    def __repr__(self):
        return repr(dict(self))


def _dir(self):
    names = set(dir(type(self)))
    try:
        cls = self.cls
    except errors.Error:
        return sorted(names)
    return sorted(names.union(row["name"] for row in (*cls.fields, *cls.inputs, *cls.outputs)))


Op.attrs = property(Attrs, doc="All attributes, declared or not: a mutable mapping.")
Op.__dir__ = _dir


# ---- values -----------------------------------------------------------------------------------------------------

def _of_type(name, doc):
    def get(self):
        kind = self.type
        return None if kind is None else getattr(kind, name)
    return property(get, doc=doc)


Value.shape = _of_type("shape", "The dims: a tuple of ints, and of texts for unknown ones; None if it is not a tensor.")
Value.dtype = _of_type("dtype", "The type of the elements as NumPy has it; None if it does not.")
Value.layout = _of_type("layout", "What the dims mean, \"NHWC\"; None if it is not a tensor.")
Value.producer = property(lambda self: self.op, doc="The op whose output it is; None for Params.")


def _set_array(self, given, *, cast=False):
    """Gives Params other bytes: an Array, which is read-only from then on, or what NumPy makes an array of. With `cast`
    the numbers become elements of the type of the Params; otherwise they must be of it."""
    if self._set_same(given):
        return
    kind = self.type
    array = _array(given)
    element = kind.element
    if array.type.element != element:
        if not cast:
            raise errors.make("type", [], f"the elements are {array.type.element}, the Params have {element}: cast=True "
                              "converts them", 0)
        array = array.cast(element)
    if isinstance(kind.shape, tuple) and array.shape != kind.shape:
        raise errors.make("bounds", [], f"the array has the shape {array.shape}, the Params have {kind.shape}", 0)
    self._set_array(array)


Value.set_array = _set_array
_set_array.__name__ = "set_array"


# ---- transactions -----------------------------------------------------------------------------------------------

@context
def _transaction(self):
    """A context: an exception puts the network back to what it was at the beginning. Ops and values that existed then
    are the same objects again, and what was made since is stale. The copy that this takes shares the bytes of
    parameters. Transactions nest."""
    begun = self._begin()
    try:
        yield self
    except BaseException:
        self._undo(begun)
        raise


_transaction.__name__ = "transaction"
Network.transaction = _transaction


def _split(text):
    """The dims of a list, whose expressions may have commas within parentheses: "max(a, b), 3"."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part.strip() for part in parts] if text.strip() else []


def _type_of(self, text):
    """Returns a type of this network: like xir.Type, but dims may be names of symbols, which are declared, and
    expressions over them: net.type_of("fp32 NC [batch, 2*length + 1]")."""
    if not isinstance(text, str) or "[" not in text:
        return parse(text)
    head, _, rest = text.rpartition("[")
    dims = _split(rest.rstrip().removesuffix("]"))
    plain = parse(f"{head}[{','.join('?' * len(dims))}]")
    return _xir.type_with_dims(self, plain, tuple(dims))


_type_of.__name__ = "type_of"
Network.type_of = _type_of
Array.dtype = property(lambda self: self.type.dtype, doc="The type of the elements as NumPy has it.")
