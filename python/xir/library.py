# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Lists of passes, targets and symbols; the costs of ops; questions whether a target runs an op."""

import collections

from . import _xir, errors
from ._xir import Network, Op, Value
from .converting import runnable
from .memory import liveness
from .names import one_of, unknown


# ---- lists ------------------------------------------------------------------------------------------------------

class PassOption(collections.namedtuple("PassOption", "name kind default doc")):
    """An option of a pass: its kind is "int", "real", "bool" or "text", its default as a pipeline would write it."""

    __slots__ = ()


class Pass(collections.namedtuple("Pass", "name doc level needs options")):
    """A pass. It needs other passes to run before it; a run with a lower level skips it."""

    __slots__ = ()

    def __str__(self):
        return f"{self.name}: {self.doc}"


def passes():
    """Returns the passes, those of plug-ins and of Python too: a list of Pass."""
    return [Pass(*row, needs, [PassOption(*option) for option in options]) for *row, needs, options in _xir.passes()]


class TargetRule(collections.namedtuple("TargetRule", "cls name needs mend source kind")):
    """A rule of a target about the ops of a class; None: about those with a trait. Its kind is "rule", "note",
    "excludes" or "compiled"."""

    __slots__ = ()


class Target(collections.namedtuple("Target", "name key doc accelerator cores rules")):
    """A target, for which ops are compiled."""

    __slots__ = ()

    def __str__(self):
        return f"{self.name}: {self.doc}"


def targets():
    """Returns the targets, those of plug-ins too: a list of Target."""
    return [Target(*row, cores.split(), [TargetRule(*rule) for rule in rules])
            for *row, cores, rules in _xir.targets()]


def symbols(net):
    """Returns the symbols of the dims of a network: a dict from names to (least, greatest)."""
    return {name: (least, most) for name, least, most in _xir.symbols(net)}


def _bind(self, **dims):
    """Gives symbols fewer values: one, or an interval. All types of the network follow; an expression whose symbols all
    have one value becomes a number. Symbols are keywords; an interval is a tuple (least, most)."""
    names = _xir.dim_names(self)
    for name in dims:
        if name not in names:
            raise unknown("the network has no symbol", name, names)
    _xir.bind(self, tuple((name, *(value if isinstance(value, tuple) else (value, value)))
                          for name, value in dims.items()))
    return self


def _declare(self, name, least=0, most=2**31 - 1):
    """Declares a symbol, or narrows the interval of the one that has the name."""
    _xir.declare(self, name, least, most)


# ---- targets ----------------------------------------------------------------------------------------------------

class Answer(list):
    """Findings about an op on a target; true if the target runs it."""

    legal = False

    def __bool__(self):
        return self.legal


def try_op(op, target):
    """Asks whether a target ("buyi", "zhuge:330") would run an op as it is: an Answer, which is true or false and the
    list of findings, with what would mend them."""
    legal, findings = _xir.try_op(op, target)
    answer = Answer(findings)
    answer.legal = legal
    return answer


# ---- costs ------------------------------------------------------------------------------------------------------

class Cost(collections.namedtuple("Cost", "multiply_adds element_ops bytes_read bytes_written parameters "
                                          "parameter_bytes")):
    """The cost of an op; None: not known, as of a dim that is open. docs/cost.md defines the figures."""

    __slots__ = ()


def _op_cost(self):
    """The Cost of the op, for the current types of its inputs and outputs."""
    return Cost(*_xir.op_cost(self))


_FIGURES = Cost._fields


class Row(collections.namedtuple("Row", ("name", "ops", *_FIGURES, "unknown"))):
    """A row of Stats: ops of a class or a scope, or one op. Figures add up what is known; `unknown` is a Cost that
    counts, for each figure, the ops that have none."""

    __slots__ = ()


class Stats(list):
    """Returns the costs of the ops of a network: a list of Row, the most multiply-adds first, in the order of the
    network by op.

    all        a Row of all ops
    converted  the figures are those of a converted copy
    peak       the most bytes of values that are alive at one op; None: unknown
    """

    def table(self):
        """Prints the rows and their sum."""
        width = max([4] + [len(row.name) for row in self])
        print(f"{'':{width}}  {'ops':>7}  " + "  ".join(f"{name:>15}" for name in _FIGURES))
        for row in (*self, self.all):
            figures = (f"{getattr(row, name):>15}" for name in _FIGURES)
            print(f"{row.name:{width}}  {row.ops:>7}  " + "  ".join(figures))


def _scope(name, depth):
    """The scope of a name: its parts without the last one."""
    parts = name.strip("/").split("/") if "/" in name else name.split(".")
    return "/".join(parts[:-1][:depth])


def _sum(name, costs):
    known = [sum(cost[i] or 0 for cost in costs) for i in range(len(_FIGURES))]
    return Row(name, len(costs), *known, Cost(*(sum(cost[i] is None for cost in costs) for i in range(len(_FIGURES)))))


def _stats(self, by="class", *, depth=1):
    """Returns the Stats of the network, a row for each "class", "op" or "scope" of names, whose `depth` first parts
    count. A network with the operators of another format is converted first, in a copy."""
    one_of("by", by, ("class", "op", "scope"))
    net = runnable(self)
    costs = [(op, Cost(*cost)) for op, cost in _xir.costs(net)]
    groups = collections.defaultdict(list)
    for i, (op, cost) in enumerate(costs):
        name = op.cls.key if by == "class" else op.name if by == "op" else _scope(op.name, depth)
        groups[name, i if by == "op" else 0].append(cost)
    made = Stats(_sum(name, rows) for (name, _), rows in groups.items())
    if by != "op":
        made.sort(key=lambda row: (-row.multiply_adds, row.name))
    made.all = _sum("all", [cost for _, cost in costs])
    made.converted = net is not self
    try:
        lives = liveness(net)
        made.peak = lives.peak if lives.exact else None
    except errors.Error:
        made.peak = None
    return made


# ---- visits -----------------------------------------------------------------------------------------------------

def _walk(self, *, ops=True, values=False, params=False):
    """Visits everything: every op, and its sub ops right after it; with `values` every value once, and with `params`
    all Params once. What is erased before it is reached is not visited."""
    for item in _xir.walk(self, ops, values, params):
        if isinstance(item, Op) and item.erased:
            continue
        if isinstance(item, Value) and item.op is not None and item.op.erased:
            continue
        yield item


def _replace(self, old, new):
    """Puts a value in the place of another one, or an op in the place of another one, which is erased: users of each
    output become users of the same output of the new op. `new` may be a function of the inputs of the old op; what
    it adds comes before it. An op without a name takes the old one's."""
    if isinstance(old, Value) and not callable(new):
        old.connect_others(new)
        return new
    if not isinstance(old, Op):
        raise errors.TypeError(f"replace takes an op or a value, not {type(old).__name__}")
    if callable(new) and not isinstance(new, (Op, Value)):
        with self.at(before=old):
            new = new(*old.inputs)
    outputs = new.outputs if isinstance(new, Op) else new if isinstance(new, tuple) else (new,)
    for value in outputs:
        if not isinstance(value, Value):
            raise errors.TypeError(f"an op is replaced by an op or by values, not by {type(value).__name__}")
    if len(outputs) != len(old.outputs):
        raise errors.make("bounds", [], f"the op has {len(old.outputs)} outputs, {len(outputs)} values are to replace "
                          "them", 0)
    name = old.name
    for before, now in zip(old.outputs, outputs):
        before.connect_others(now)
    made = outputs[0].op if outputs else new
    self.remove(old)
    if made is not None and name and not made.name:
        made.name = name
    return new


def _connect_others(self, now):
    """Turns every use into a use of another value, except those by the op that makes that value."""
    value = now.output if isinstance(now, Op) else now
    maker = value.op
    value.connect([user for user in self.users if user[0] != maker])


for _name, _method in dict(bind=_bind, declare=_declare, stats=_stats, walk=_walk, replace=_replace).items():
    _method.__name__ = _name
    setattr(Network, _name, _method)
Value.connect_others = _connect_others
Op.cost = property(_op_cost, doc=_op_cost.__doc__)
