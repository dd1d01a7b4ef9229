# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Patterns: what a part of a network looks like. `xir.P` is this module:

    x = xir.P.any("x")
    silu = xir.P.op("Multiply", x, xir.P.op("Sigmoid", x), commutes=True)
    net.rewrite(silu, lambda m: F.SiLU(m["x"]))

A part that is used twice is one value. docs/patterns.md says what the members of a part test."""

import builtins

from . import _xir, errors
from ._xir import Class, Network

# ORDER PATTERN: xir_pattern_kind
_ANY, _PARAMS, _NUMBER, _OP, _OUTPUT, _EITHER, _REST = range(1, 8)


class Part:
    """A value of a pattern, and what makes it. Immutable."""

    __slots__ = ("_kind", "_keys", "_inputs", "_attrs", "_where", "_where_value", "_commutes", "_output", "_optional",
                 "_uses", "_element", "_number", "_within", "_name")

    def __init__(self, kind, name, inputs=(), *, keys=None, attrs=(), where=None, where_value=None, commutes=False,
                 output=0, optional=False, uses=0, element=None, number=0.0, within=0.0):
        for part in inputs:
            if not isinstance(part, Part):
                raise errors.TypeError(f"an input of a part is a part, not {type(part).__name__}")
        if name is not None and not isinstance(name, str):
            raise errors.TypeError(f"the name of a part is a str, not {type(name).__name__}")
        for what in (where, where_value):
            if what is not None and not callable(what):
                raise errors.TypeError("a predicate is a function")
        self._kind, self._name, self._inputs, self._keys, self._attrs = kind, name, tuple(inputs), keys, attrs
        self._where, self._where_value, self._commutes, self._output = where, where_value, commutes, output
        self._optional, self._uses, self._element = optional, uses, element
        self._number, self._within = number, within

    def _row(self, number_of):
        return (self._kind, self._keys, tuple(number_of[part] for part in self._inputs), self._attrs, self._where,
                self._where_value, self._commutes, self._output, self._optional, self._uses, self._element,
                float(self._number), float(self._within))


def _key(word):
    return word if "::" in word and not word.startswith("icraft::") else Class(word).key


def any(name=None, *, optional=False, uses=0, element=None, where=None):
    """Any value; with `optional` also an absent input. `where` is a predicate of the value, `uses` the number of its
    uses, `element` its element type as files have it, "@fp(32)"."""
    return Part(_ANY, name, optional=optional, uses=uses, element=element, where_value=where)


def params(name=None, *, optional=False, uses=0, element=None, where=None):
    """Params."""
    return Part(_PARAMS, name, optional=optional, uses=uses, element=element, where_value=where)


def number(x, name=None, *, within=0.0, optional=False):
    """Params of one element that equals `x`, up to a relative `within`; 0: 1e-6."""
    return Part(_NUMBER, name, number=x, within=within, optional=optional)


def op(classes, *inputs, name=None, where=None, where_value=None, commutes=False, output=0, optional=False, uses=0,
       element=None, attrs=None, **named):
    """The output of an op of one of the classes, "Conv2d|onnx::Conv"; None: of any class. Without inputs, those of the
    op are not tested. Further keywords, and the dict `attrs`, are attributes: a value that they equal, `...` if they
    need only exist, or a predicate of the value. `where` is a predicate of the op. With `commutes` the first two
    inputs may be swapped; with `optional` the op may be missing: the part is then its first input."""
    keys = None if classes is None else "|".join(_key(word.strip()) for word in classes.split("|"))
    tests, asked = [], []
    for key, value in {**(attrs or {}), **named}.items():
        (asked if callable(value) else tests).append((key, value))
    if asked:
        tests += [(key, ...) for key, _ in asked]
        rest = where

        def where(found):
            return builtins.all(test(found.get(key)) for key, test in asked) and (rest is None or rest(found))
    return Part(_OP, name, inputs, keys=keys, attrs=tuple(tests), where=where, where_value=where_value,
                commutes=commutes, output=output, optional=optional, uses=uses, element=element)


def output(of, index, name=None):
    """Another output of the op of a part."""
    return Part(_OUTPUT, name, (of,), output=index)


def either(*parts, name=None):
    """The first of the parts that fits."""
    return Part(_EITHER, name, parts)


def rest(name=None):
    """As the last input: all further inputs, or none."""
    return Part(_REST, name)


class Match:
    """A match of a pattern: m["x"] is the value of the part named x, m.op("x") its op. Both are None for what is
    absent."""

    __slots__ = ("root", "_values", "_ops")

    def __init__(self, root, values, ops):
        self.root, self._values, self._ops = root, values, ops

    def _find(self, where, name):
        if name not in where:
            raise errors.make("unknown", [], f"the pattern has no part named {name!r}", 0)
        return where[name]

    def __getitem__(self, name):
        return self._find(self._values, name)

    def op(self, name):
        """The op that makes the value of a part; None for Params and what is absent."""
        return self._find(self._ops, name)

    def __repr__(self):
        return f"<xir.Match at {self.root!r}>"


_xir.set_match(Match)


class Pattern(_xir.Pattern):
    """A part and everything that it leads to, ready to be matched: `match(op)`. With `closed`, outputs of its ops,
    except the root's, must be used only by ops of the pattern."""

    __slots__ = ()

    def __new__(cls, part, *, name="pattern", closed=False):
        if not isinstance(part, Part):
            raise errors.TypeError(f"a pattern is made of a part, not {type(part).__name__}")
        parts, number_of, todo = [], {}, [(part, False)]
        while todo:
            this, done = todo.pop()
            if this in number_of:
                continue
            if done:
                number_of[this] = len(parts)
                parts.append(this)
            else:
                todo.append((this, True))
                todo += [(before, False) for before in reversed(this._inputs)]
        if len(parts) > 64:
            raise errors.make("limit", [], f"a pattern has at most 64 parts, this one has {len(parts)}", 0)
        return super().__new__(cls, name, tuple(this._row(number_of) for this in parts),
                               tuple(this._name for this in parts), closed)


def _made(pattern):
    return pattern if isinstance(pattern, Pattern) else Pattern(pattern)


def _rewrite(self, pattern, function, *, limit=0):
    """Rewrites until the pattern, or the pattern of a part, matches nowhere. `function(match)` returns a value that
    replaces the root's, a tuple of values for all its outputs, None to leave the match alone, or True if it has changed
    the network itself. Functions of F put their ops before the root. Returns the number of rewrites; one that reaches
    `limit` (0: ten times the ops, plus 1000) is an error."""
    return _xir.rewrite(self, _made(pattern), function, limit)


def _matches(self, pattern):
    """The matches of a pattern or a part, in the execution order of their roots. Edits meanwhile are fine."""
    pattern = _made(pattern)
    for root in self:
        match = pattern.match(root)
        if match:
            yield match


_rewrite.__name__, _matches.__name__ = "rewrite", "matches"
Network.rewrite, Network.matches = _rewrite, _matches
