# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Classes of operations written in Python:

    class Swish(xir.Op, key="acme::Swish"):
        \"\"\"x * sigmoid(beta * x)\"\"\"
        beta = xir.Real(1.0, least=0, doc="the steepness")

        def infer(self, input):             # types of the inputs; returns that of the output
            return input

        def run(self, input):               # arrays of numpy; returns that of the output
            return input / (1 + np.exp(-self.beta * input))

    y = Swish(x, beta=2.0)

The inputs are the parameters of `infer`; one with the default None may be absent, and *inputs are any number. `check`
raises an exception if attributes or types do not fit. All three must depend on their arguments alone.

A class may instead say which ops it is composed of. Then what it does not define follows from them, and its inputs are
named: "r?" may be absent, "*xs" are any number.

    class Gated(xir.Op, key="acme::Gated", inputs=("x", "gate", "r?"),
                composed="%s = Sigmoid(%gate); %m = Multiply(%x, %s); %output = Add(%m, %r)?"):
        \"\"\"x where the gate is open\"\"\"
"""

from . import _xir, errors
from ._xir import Op, Type
from .functions import F

# ORDER KIND: xir_kind
_BOOL, _I64, _REAL, _TEXT, _BOOLS, _I64S, _REALS, _TEXTS = 0, 1, 3, 4, 9, 10, 11, 12


class Row:
    """An attribute of a class."""

    _kind, _type, _bounded = 0, bool, False

    def __init__(self, default=..., *, least=None, greatest=None, doc=""):
        if not self._bounded and not (least is greatest is None):
            raise errors.TypeError(f"{type(self).__name__} has no bounds")
        for what in (default, least, greatest):
            if what is not None and what is not ... and not isinstance(what, self._type):
                raise errors.TypeError(f"'{what}' is not a value of {type(self).__name__}")
        if default is not ... and default != default:
            raise errors.make("invalid", [], "a default is a number, not NaN", 0)
        self._row = (doc, self._kind, default is ..., None if default is ... else default, least, greatest)


class Bool(Row):
    """A bool. Without a default, it must be given."""


class Int(Row):
    """An integer of 64 bits, with bounds."""
    _kind, _type, _bounded = _I64, int, True


class Real(Row):
    """A real number, with bounds. Networks hold it as float32."""
    _kind, _type, _bounded = _REAL, (int, float), True


class Text(Row):
    """A text."""
    _kind, _type = _TEXT, str


class _List(Row):
    def __init__(self, *, doc=""):
        self._row = (doc, self._kind, False, None, None, None)


class Bools(_List):
    """A list of bools, empty by default."""
    _kind = _BOOLS


class Ints(_List):
    """A list of integers, empty by default."""
    _kind = _I64S


class Reals(_List):
    """A list of real numbers, empty by default."""
    _kind = _REALS


class Texts(_List):
    """A list of texts, empty by default."""
    _kind = _TEXTS


def _ports(infer):
    import inspect      # slow to import, and rarely needed
    kinds = inspect.Parameter
    ports = []
    for port in list(inspect.signature(infer).parameters.values())[1:]:
        if port.kind is kinds.VAR_POSITIONAL:
            ports.append((port.name, "any"))
        elif port.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD) and port.default in (kinds.empty, None):
            ports.append((port.name, "optional" if port.default is None else "one"))
        else:
            raise errors.TypeError(f"the parameter '{port.name}' of infer is not an input")
    return tuple(ports)


def _named_ports(inputs):
    if isinstance(inputs, str) or not all(isinstance(name, str) and name.strip("*?") for name in inputs):
        raise errors.TypeError("inputs are a tuple of names")
    return tuple((name.strip("*?"), "any" if name.startswith("*") else "optional" if name.endswith("?") else "one")
                 for name in inputs)


def _tuple(result):
    return result if isinstance(result, tuple) else (result,)


def _made(plain, attributes):
    made = plain()
    made.__dict__.update(attributes)
    return made


def _infer(plain, outputs):
    expected = None if any(kind == "any" for _, kind in outputs) else len(outputs)

    def call(attributes, types):
        results = _tuple(_made(plain, attributes).infer(*types))
        for result in results:
            if not isinstance(result, (Type, str)):
                raise errors.TypeError(f"infer returned {type(result).__name__}, expected a type for each output")
        if expected is not None and len(results) != expected:
            raise errors.TypeError(f"infer returned {len(results)} types, the op has {expected} outputs")
        where = {id(given): i for i, given in enumerate(types) if given is not None}
        return tuple(where.get(id(result), result) for result in results)
    return call


def _check(plain):
    return lambda attributes, types: _made(plain, attributes).check(*types) and None


def _run(plain):
    import numpy

    def array(given):
        if given is None:
            return None
        dims, real, data = given
        return numpy.frombuffer(data, "f8" if real else "i8").reshape(dims)

    def call(attributes, inputs, outputs):
        results = _tuple(_made(plain, attributes).run(*map(array, inputs)))
        if len(results) != len(outputs):
            raise errors.TypeError(f"run returned {len(results)} arrays, the op has {len(outputs)} outputs")
        made = []
        for i, (result, (dims, real)) in enumerate(zip(results, outputs)):
            result = numpy.ascontiguousarray(result, "f8" if real else "i8").reshape(numpy.shape(result))
            if dims is not None and result.shape != dims:
                raise errors.TypeError(f"output {i} has the dims {dims}, run returned {result.shape}")
            made.append((result.shape, result.tobytes()))
        return tuple(made)
    return call


def _define(cls, *, key=None, inputs=None, outputs=("output",), pure=True, composed=None, within=0.0, **rest):
    super(Op, cls).__init_subclass__(**rest)
    if Op not in cls.__bases__:
        raise errors.TypeError("a class of operations is derived from xir.Op alone")
    own = {name: what for name, what in vars(cls).items() if name not in ("__dict__", "__weakref__", "__slots__")}
    fields = tuple((name, *what._row) for name, what in own.items() if isinstance(what, Row))
    if "infer" not in own and composed is None:
        raise errors.TypeError(f"{cls.__name__} has no infer, and is not composed")
    if ("infer" in own) is not (inputs is None):
        raise errors.TypeError(f"{cls.__name__}: its inputs are the parameters of infer, or, without it, named by inputs")
    outputs = tuple((name.lstrip("*"), "any" if name.startswith("*") else "one") for name in outputs)
    plain = type(cls.__name__, (), {name: what for name, what in own.items() if not isinstance(what, Row)})
    cls._class = _xir.register_class(key or f"python::{cls.__name__}", (cls.__doc__ or "").strip().split("\n")[0], pure,
                                     fields, _ports(own["infer"]) if inputs is None else _named_ports(inputs), outputs,
                                     _infer(plain, outputs) if "infer" in own else None,
                                     _check(plain) if "check" in own else None, _run(plain) if "run" in own else None,
                                     composed, within)
    function = F[cls._class.key]
    cls.__new__ = lambda _, *args, **named: function(*args, **named)


Op.__init_subclass__ = classmethod(_define)
