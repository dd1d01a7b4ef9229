# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Regions: sets of ops that are treated as one; parts of networks."""

import collections

from . import _xir, errors
from ._xir import Network, Op, Value
from .names import value_named


def _ops(ops):
    """The network of ops, and the ops as a tuple."""
    made = (ops,) if isinstance(ops, Op) else tuple(ops)
    for op in made:
        if not isinstance(op, Op):
            raise errors.TypeError(f"a region consists of ops, not of {type(op).__name__}")
    if not made:
        raise errors.make("invalid", [], "a region has at least one op", 0)
    return made[0].network, made


def region_path(ops):
    """Returns the ops of a shortest path that leaves a set of ops and comes back; an empty list if there is none: then
    the set is convex, and can run as one op."""
    net, made = _ops(ops)
    return _xir.region_path(net, made)


def groups(net, kind):
    """Gathers the ops of each kind into groups, greedily along data edges. The groups are convex, so that all can
    be outlined. `kind(op)` returns an integer, equal for ops that may be in one group, or True; None, False or a
    negative one keeps the op out. Returns a list of lists of ops."""
    return _xir.groups(net, kind)


def outline(ops, *, name="", target=None):
    """Moves a convex set of ops into the body of one new op of the class xir::Call and returns it."""
    net, made = _ops(ops)
    return _xir.outline(net, made, name, target)


def inline(call):
    """Puts the ops of a call's body in its place and erases the call: the exact inverse of outline."""
    _xir.inline(call)


def _values(net, values):
    values = (values,) if isinstance(values, (str, Value, Op)) else values
    return tuple(value_named(net, value) if isinstance(value, str) else value for value in values)


def extract(net, begin=(), end=(), *, ops=None):
    """Returns a network of its own that computes the `end` values from the `begin` values: the ops that the end
    values need, back to the begin values, and the Params that these ops use, with shared bytes. With `ops` it
    computes a convex set of ops. Values are given as such or by name (`xir.names.value_named`). Without `begin` it
    starts at the inputs of the network, without `end` it ends at the outputs that depend on `begin`."""
    if ops is not None:
        owner, made = _ops(ops)
        if owner is not net:
            raise errors.make("invalid", [], "the ops are of another network", 0)
        return _xir.extract_ops(net, made)
    return _xir.extract(net, _values(net, begin), _values(net, end))


class Region(collections.namedtuple("Region", "net target group ops")):
    """A part of a divided network.

    net     a network of its own, whose inputs and outputs have the ids that they have in the whole
    target  that it is for
    group   its number; None: the host's part
    ops     how many ops of the whole it has
    """

    __slots__ = ()


def regions(net):
    """Returns the parts into which the pass `partition` has divided a network, in an order in which they can run one
    after the other: a list of Region."""
    return [Region(*row) for row in _xir.divide(net)]


class Tile(collections.namedtuple("Tile", "parts network")):
    """One tile of a region.

    parts    a dict from the outputs of the region to slices, a tuple for each: `array[parts[value]]`
    network  computes these parts; None unless `tiles` was asked for networks
    """

    __slots__ = ()


class Tiles(collections.namedtuple("Tiles", "staged peak op read read_once made made_once tiles network")):
    """Tiles of a region, and their cost in bytes of maps.

    staged     tiles make one value inside piece by piece, before the other ops run
    peak       the most that are alive; at most the budget
    op         while this op runs
    read       parts of inputs that all tiles read; read_once without tiles
    made       parts that the ops of all tiles make; made_once without tiles
    tiles      a list of Tile
    network    joins all tiles: it computes what the region does; None unless networks were asked for
    """

    __slots__ = ()


def tiles(ops, budget, letters="HW", *, whole=False, networks=False):
    """Returns the Tiles of a convex set of ops: the largest parts of its outputs, along the axes of the letters, whose
    maps fit `budget` bytes. With `whole`, no tile has a stage; with `networks`, the network of each tile is made, and
    one that joins them."""
    net, made = _ops(ops)
    *cost, parts, joined = _xir.tiles(net, made, budget, letters, whole, networks)
    return Tiles(*cost, [Tile({value: tuple(slice(*pair) for pair in pairs) for value, pairs in of}, network)
                         for of, network in parts], joined)
