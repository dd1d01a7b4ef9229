# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Interpreters, and rules as decorators.

    class Ranges(xir.Interpreter):
        def visit(self, op, inputs, outputs):
            print(op.name, [array.max() for array in outputs])

    Ranges(net).run(image)"""

from . import _xir, errors
from ._xir import Array, Network
from .names import one_of
from .network import _LEVELS, pass_
from .patterns import Part, Pattern
from .running import Outputs, _prepared, numbers, typed_array


class Interpreter:
    """Runs a network op by op, and shows each op with its values to a method: `visit_CLASS` if there is one for the
    last word of the class, such as visit_Conv2d, otherwise `visit`. Both get the op, and the arrays of its inputs, None
    for absent ones, and of its outputs, which the reference executor has computed. What the method returns takes the
    place of the outputs for all later ops: an array, a tuple with one for each output, or None to keep them. Of a
    network with the operators of another format, a converted copy runs.

    While it runs, the network is in use: changing it raises BusyError."""

    def __init__(self, net, *, threads=1, max_work=0, max_memory=0):
        if not isinstance(net, Network):
            raise errors.TypeError(f"an interpreter takes a network, not {type(net).__name__}")
        self.net = net
        self._how = (threads, max_work, max_memory)
        self._run = None

    def visit(self, op, inputs, outputs):
        """Sees each op for which there is no method of its own. Does nothing."""

    def run(self, *arrays, **named):
        """Runs the network; inputs are given as to net.run. Returns the results by name."""
        if self._run is not None:
            raise errors.BusyError("the interpreter is running already")
        net, known = _prepared(self.net, arrays, named)
        self._run = _xir.run_begin(net, tuple(known), *self._how)
        try:
            results = net.outputs
            while (op := self._run.step()) is not None:
                self._show(op)
            return Outputs((value.name or i, self.value(value)) for i, value in enumerate(results))
        finally:
            run, self._run = self._run, None
            run.close()

    def value(self, value):
        """The array of a value while the network runs: of Params, of what the op has read or made, and of what later
        ops read."""
        if self._run is None:
            raise errors.make("stale", [], "the interpreter is not running", 0)
        return numbers(self._run.value(value))

    def _show(self, op):
        key = op.cls.key.split("::")[-1].replace(".", "_")
        method = getattr(self, f"visit_{key}", self.visit)
        values = op.outputs
        made = method(op, tuple(None if value is None else self.value(value) for value in op.inputs),
                      tuple(self.value(value) for value in values))
        if made is None:
            return
        made = made if isinstance(made, tuple) else (made,)
        if len(made) != len(values):
            raise errors.make("bounds", [], f"the op has {len(values)} outputs, the method returned {len(made)} arrays", 0)
        for value, array in zip(values, made):
            self._run.set(value, array if isinstance(array, Array) else typed_array(array, value.type))


class Rule:
    """A pattern and the function that makes what replaces its matches. Calling it rewrites a network until the pattern
    matches nowhere, and returns the number of rewrites; as a pass it has its name in pipelines."""

    def __init__(self, pattern, function, name):
        self.pattern, self.function, self.name = pattern, function, name
        self.__doc__ = function.__doc__

    def __call__(self, net, *, limit=0):
        return net.rewrite(self.pattern, self.function, limit=limit)

    def __repr__(self):
        return f"<xir.Rule {self.name!r}>"


def rewrite(pattern, *, name=None, level="exact"):
    """Makes a rule of a function that gets a match and returns what `net.rewrite` expects:

        x = xir.P.any("x")

        @xir.rewrite(xir.P.op("Multiply", x, xir.P.op("Sigmoid", x), commutes=True))
        def to_silu(match):
            return F.SiLU(match["x"])

    The rule is a function of a network, and a pass of the function's name, "to-silu"."""
    if not isinstance(pattern, (Part, Pattern)):
        raise errors.TypeError(f"a rule is made of a pattern, not of {type(pattern).__name__}; write @xir.rewrite(P.op(…))")
    one_of("level", level, list(_LEVELS))
    made = pattern if isinstance(pattern, Pattern) else Pattern(pattern)

    def decorate(function):
        word = name or function.__name__.replace("_", "-")
        rule = Rule(made, function, word)

        def run(net, options):
            return rule(net)
        run.__doc__ = function.__doc__ or f"rewrites matches by {function.__name__}"
        pass_(word, level=level)(run)
        return rule
    return decorate
