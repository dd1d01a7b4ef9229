# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Plans of memory: of networks, of buffers, and what they are made from, the lives of values."""

import array
import collections

from . import _xir, errors
from .names import step
from .network import Pipeline


def plan(net, *, verify=False, prove=False, progress=None, **options):
    """Gives the values of a network addresses, by the pass `plan`, whose options are keywords: `memory="etm"`,
    `align=64`, `limit`, `effort`, `in_place`, `parts`, `reuse`, `keep` and others. Returns a dict from each value that
    has an address to its memory, "@etm(4096)". `verify`, `prove` and `progress` are those of Pipeline.run. With
    `clear=True` all addresses are removed."""
    Pipeline(step("plan", options)).run(net, verify=verify, prove=prove, progress=progress)
    return {value: value.memory for op in net for value in op.outputs if value.memory != "@hostm"}


class Plan(collections.namedtuple("Plan", "offsets bytes bound least moment steps")):
    """Offsets of buffers.

    offsets  of each buffer, in order; a numpy array if the buffers were one
    bytes    that the plan needs
    bound    that every plan needs
    least    no plan needs fewer bytes
    moment   the first at which the most bytes live
    steps    that were taken
    """

    __slots__ = ()


def _rows(buffers):
    """The rows as int64s, and their number of columns."""
    rows = [tuple(row) for row in buffers]
    columns = max(map(len, rows), default=3)
    if columns > 5 or min(map(len, rows), default=3) < 3:
        raise errors.make("bounds", [], "a buffer has from, to, size, and perhaps an alignment and an offset", 0)
    fill = (0, 0, 0, 0, -1)
    try:
        return array.array("q", (int(x) for row in rows for x in row + fill[len(row):columns])), columns
    except OverflowError:
        raise errors.make("bounds", [], "a number of a buffer is not an int64", 0) from None


def plan_buffers(buffers, *, effort=1, limit=0, steps=0):
    """Returns a Plan of buffers, so that those that live at the same time share no bytes. A buffer is a row: the first
    and the last moment of its life, both included, its size in bytes, and perhaps its alignment, a power of two, and an
    offset that it must have (-1: any). Rows are tuples, or those of an int64 array of two dims. `effort` is 0, 1 or 2,
    `limit` the bytes that there are, `steps` the most that a search takes. Ctrl-C ends it."""
    if effort not in (0, 1, 2):
        raise errors.make("bounds", [], f"effort is 0, 1 or 2, not {effort!r}", 0)
    try:
        view = memoryview(buffers)
    except TypeError:
        view = None
    if view is None:
        data, columns = _rows(buffers)
    elif view.ndim == 2 and view.format in ("l", "q") and view.itemsize == 8 and view.c_contiguous and \
            3 <= view.shape[1] <= 5:
        data, columns = view, view.shape[1]
    else:
        raise errors.make("type", [], "buffers are rows, or a contiguous int64 array of 3 to 5 columns", 0)
    offsets, *rest = _xir.plan_buffers(data, columns, effort, limit, steps)
    if view is None:
        return Plan(list(memoryview(offsets).cast("Q")), *rest)
    import numpy
    return Plan(numpy.frombuffer(offsets, "u8"), *rest)


class Life(collections.namedtuple("Life", "first last bytes within begin end offset")):
    """The life of a value: positions of ops, both included.

    first   the op that makes it
    last    the last op that reads it
    bytes   that it takes, shared or not; None if unknown
    within  the value in whose bytes it is, itself if it shares none; None for a view of parameters
    begin   from when those bytes are needed
    end     until when
    offset  where the value begins in them
    """

    __slots__ = ()


class Liveness(collections.namedtuple("Liveness", "peak op exact bytes lives")):
    """The values that exist at each op.

    peak   the most bytes that are alive at one op
    op     that op
    exact  no value has unknown bytes
    bytes  that are alive at each op
    lives  a dict from values to their Life
    """

    __slots__ = ()


def liveness(net, *, views=False, in_place=False, parts=False):
    """Returns the Liveness of a network. With `views`, `in_place` and `parts`, values share bytes where their classes
    allow it."""
    peak, op, exact, alive, lives = _xir.liveness(net, views, in_place, parts)
    return Liveness(peak, op, exact, alive, {value: Life(*rest) for value, *rest in lives})


class Part(collections.namedtuple("Part", "slices exact")):
    """A part of a value.

    slices  a slice of each dim, so that `array[part.slices]` is the part of an array; None: nothing
    exact   nothing smaller is needed
    """

    __slots__ = ()


def needed(op, part, *, output=0):
    """Returns a Part for each input of an op: what the op needs of it for a part of an output. `part` has a slice,
    without a step, for each dim of the output: `numpy.s_[:, 8:16]`; dims that it leaves out are whole."""
    dims = op.outputs[output].type.shape
    slices = part if isinstance(part, tuple) else (part,)
    if len(slices) > len(dims) or not all(isinstance(s, slice) and s.step in (None, 1) for s in slices):
        raise errors.make("bounds", [], f"a part is a slice for each of {len(dims)} dims, without steps", 0)
    if any(n is None or n < 0 for n in dims):
        raise errors.make("bounds", [], "a dim of the output is not known", 0)
    slices += (slice(None),) * (len(dims) - len(slices))
    boxes = _xir.needed(op, output, [s.indices(n)[:2] for s, n in zip(slices, dims)])
    return [Part(None, True) if box is None else Part(tuple(slice(*pair) for pair in box[1]), box[0]) for box in boxes]
