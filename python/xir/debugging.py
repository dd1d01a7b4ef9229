# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Finds the layer that is wrong, the smallest network that shows a fault, and what passes make of an op."""

import collections
import itertools
import os

from . import _xir, errors
from ._xir import Network, Op, Value
from .converting import runnable
from .names import unknown
from .network import Pipeline
from .progress import watched
from .running import sample_of


# ---- comparing --------------------------------------------------------------------------------------------------

class Figures(collections.namedtuple("Figures", "largest relative cosine snr saturated")):
    """The distance between the elements that were found and those that were expected.

    largest    the largest difference
    relative   it as a part of the largest expected element
    cosine     of the angle between both as vectors
    snr        in dB; infinite without a difference
    saturated  how many of those found are at a limit of their type, from 0 to 1
    """

    __slots__ = ()


class Pair(collections.namedtuple("Pair", "a b by bad same_shape samples worst mean differ of at expected found")):
    """A value of each network.

    a, b          the values; of a folder, b is None
    by            why they are a pair: "source", "name", "match", "file", "position"
    bad           beyond the tolerance in one of the samples
    same_shape    False: in one of the samples no element has a place in the other
    samples       that the figures are of
    worst, mean   Figures of the samples
    differ, of    elements beyond the tolerance, of how many, in the sample that has most
    at            where the largest difference is; there `expected` and `found`
    """

    __slots__ = ()

    def __str__(self):
        word = "differs" if self.bad else "agrees"
        return f"'{self.a.name}' {word}: by at most {self.worst.largest:g}, snr {self.worst.snr:.1f} dB"


class Comparison(list):
    """The pairs of values of two networks, in the execution order of the first one.

    first_bad  the first Pair that differs, or None
    suspects   the ops of the first and of the second network that make it from values of other pairs
    samples    runs
    bad        how many pairs differ
    alone      how many values of each network are in no pair
    """

    first_bad = None
    suspects = ((), ())
    samples = bad = 0
    alone = (0, 0)

    def table(self):
        """Prints a line for each pair."""
        for pair in self:
            print(pair)


def _told(samples, total, told):
    """The samples; the function gets the number of those that are done when the next one is asked for."""
    for done, sample in enumerate(samples, 1):
        yield sample
        if told:
            told(done, total)


def compare(a, b, samples, *, absolute=0.0, relative=0.0, snr=None, alone=False, threads=1, max_work=0, max_memory=0,
            progress=None):
    """Runs two networks on the same samples and compares each value that both have; the first is right. Instead of a
    second network `b` may be a folder with the arrays that a device has dumped. `samples` is an iterable, which may be
    a generator, of arrays, or of tuples of arrays if the network has several inputs. Elements differ beyond `absolute`
    and `relative` (both 0: 1e-4), or values beyond `snr` dB. `alone` shows what is lost since the pair before. Networks
    with other operators than XIR's are converted, in copies. `progress` is a function of (samples so far, their number
    or 0, "sample"), or True (xir.load). Ctrl-C ends it. Returns a Comparison."""
    first = runnable(a)
    second, folder = (runnable(b), None) if isinstance(b, Network) else (None, os.fspath(b))
    total = len(samples) if hasattr(samples, "__len__") else 0
    given = (sample_of(first, sample) for sample in samples)
    with watched(progress, "comparing", "sample") as told:
        pairs, bad, of_a, of_b, n, n_bad, alone_a, alone_b = _xir.compare(
            first, second, folder, _told(given, total, told), absolute, relative, snr, alone,
            threads, max_work, max_memory)
    made = Comparison(Pair(a, b, by, bad_, same, k, Figures(*worst), Figures(*mean), *rest)
                      for a, b, by, bad_, same, k, worst, mean, *rest in pairs)
    made.first_bad = made[bad - 1] if bad else None
    made.suspects, made.samples, made.bad, made.alone = (of_a, of_b), n, n_bad, (alone_a, alone_b)
    return made


# ---- reducing ---------------------------------------------------------------------------------------------------

class Reduction(collections.namedtuple("Reduction", "net runs kept stopped")):
    """The smallest network that was found.

    net      the network
    runs     networks that were asked about
    kept     how many of them were smaller than all before
    stopped  by `max_runs`: smaller ones may exist
    """

    __slots__ = ()


def reduce(net, interesting, *, max_runs=0, parts=False, progress=None):
    """Returns the smallest network that was found; `net` is not changed, and Params share its bytes. The result is
    still interesting, in a Reduction: `interesting(net)` returns true for networks that show the fault, None if
    that cannot be said. The network that it gets must not be changed, and is of no use after the call. `parts`
    tries parts of the network alone, whose names are kept. `progress` is a function of (networks so far,
    `max_runs`, "network"), or True (xir.load). An exception or Ctrl-C ends the search."""
    with watched(progress, "reducing", "network") as told:
        asked = itertools.count(1)

        def ask(part):
            told(next(asked), max_runs)
            return interesting(part)
        return Reduction(*_xir.reduce(net, ask if told else interesting, max_runs, parts))


# ---- provenance -------------------------------------------------------------------------------------------------

class Source(collections.namedtuple("Source", "id name cls")):
    """An op of a network as it was when its recorder began; `cls` is the key of its class, or None."""

    __slots__ = ()


class Origin(collections.namedtuple("Origin", "step is_params id name cls")):
    """A source of an op before a step: an op, or Params."""

    __slots__ = ()


class Provenance:
    """The recorder of a network: which ops of the network as it was its ops stand for. `net.record()` begins one, and
    as a context ends it."""

    __slots__ = ("_net",)

    def __init__(self, net):
        self._net = net

    @property
    def net(self):
        """The network."""
        return self._net

    def of(self, thing):
        """The ids of the sources that an op or a value stands for."""
        return _xir.record_of(thing)

    def values_of(self, value):
        """The ids of the values, as they were, that a value stands for."""
        return _xir.record_values(value)

    def became(self, source):
        """Returns what stands for a source now, given by its id, its name or as a Source: ops, then Params. An empty
        list: it was removed."""
        if isinstance(source, str):
            sources = self.sources
            found = [each.id for each in sources if each.name == source]
            if not found:
                raise unknown("the network had no op named", source, [each.name for each in sources])
            return [item for id in found for item in _xir.record_became(self.net, id)]
        return _xir.record_became(self.net, source.id if isinstance(source, Source) else source)

    def history(self, op):
        """Returns the sources of an op, step by step, the last one first: a list of Origin."""
        return [Origin(*row) for row in _xir.record_history(op)]

    @property
    def sources(self):
        """The ops that the network had: a list of Source."""
        return [Source(*row) for row in _xir.record_sources(self.net)]

    @property
    def steps(self):
        """The names of the steps so far; a pipeline begins one before every pass."""
        return _xir.record_steps(self.net)

    def step(self, name):
        """Begins a step of this name."""
        _xir.record_step(self.net, name)

    def write_tags(self):
        """Writes the tags that say the same in a file."""
        _xir.record_tags(self.net, True)

    def close(self):
        """Ends the recorder."""
        _xir.record_end(self.net)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"<xir.Provenance of {self.net!r}>"


def _record(self, *, tags=False):
    """Begins to note what ops are made from: a Provenance. With `tags` it goes on from the tags that a file has."""
    _xir.record(self, tags)
    return Provenance(self)


def _provenance(self):
    """The Provenance of the network, or None: net.record() begins one."""
    return Provenance(self) if _xir.is_recorded(self) else None


_record.__name__ = "record"
Network.record = _record
Network.provenance = property(_provenance, doc=_provenance.__doc__)


# ---- tracing ----------------------------------------------------------------------------------------------------

class Trace(collections.namedtuple("Trace", "step items")):
    """A step that changed what stands for an op, and what stands for it after, or with `back` what stood there before:
    a list of (id, key or None for Params, name)."""

    __slots__ = ()

    def __str__(self):
        items = ", ".join(f"#{id} {key or 'Params'} '{name}'" for id, key, name in self.items) or "removed"
        return f"{self.step}: {items}"


def _item(thing):
    return (thing.id, thing.cls.key, thing.name) if isinstance(thing, Op) else (thing.id, None, thing.name)


def trace(net, op, passes=None, *, back=False):
    """Follows an op, by its name, id or as an Op, through passes, which run on a copy; without `passes` the default
    pipeline. With `back` the op is one of the result, by name or id, and the steps are those that made it, the last one
    first. Returns a list of Trace."""
    word = op.id if isinstance(op, Op) else op
    copy = net.clone()
    pipeline = Pipeline(passes if passes is not None else _xir.default_pipeline())
    with copy.record() as record:
        if back:
            pipeline.run(copy)
            found = copy[word] if isinstance(word, str) else copy.op(word)
            steps = {}
            for item in record.history(found):
                key = None if item.is_params else item.cls or "an op"
                steps.setdefault(item.step, []).append((item.id, key, item.name))
            return [Trace(step, items) for step, items in steps.items()]
        source = (copy[word] if isinstance(word, str) else copy.op(word)).id
        made, last = [], [_item(copy.op(source))]

        def look(event):
            nonlocal last
            now = [_item(thing) for thing in record.became(source)]
            if now != last:
                made.append(Trace(event.text, now))
                last = now

        pipeline.run(copy, watches=[look])
        return made
