# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Runs: inputs by name, results by name, values in between."""

from . import _xir, errors
from ._xir import Array, Network, Value
from .converting import runnable
from .names import unknown, value_named
from .network import _array
from .progress import watched

_PLAIN = {"bool", "fp16", "fp32", "fp64", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}


class Outputs(dict):
    """The results of a run by the names of the outputs; `values()` has the order of the network. `kept` has the values
    that were asked for, which item access finds, too."""

    kept = {}

    def __missing__(self, key):
        if key in self.kept:
            return self.kept[key]
        raise unknown("the run has no result", key, [name for name in (*self, *self.kept) if isinstance(name, str)])


def numbers(array):
    """An array of NumPy, or the Array itself where NumPy is not installed."""
    try:
        return array.numpy()
    except ImportError:
        return array


def typed_array(given, type):
    """Returns an Array for an input of a type. Elements that NumPy has must be the input's own; others, such as bf16 or
    quantised ones, are made of the numbers. A list of numbers takes the elements of the input."""
    element = type.element if type is not None and type.shape is not None else None
    foreign = element is not None and str(element) not in _PLAIN
    if isinstance(given, (list, tuple, int, float)) and not foreign and element is not None:
        import numpy
        given = numpy.asarray(given, element.dtype)
    array = _array(given)
    return array.cast(element) if foreign and array.type.element != element else array


# ---- inputs -----------------------------------------------------------------------------------------------------

def _places(inputs):
    """The positions of inputs by name; -1 for a name of several."""
    places = {}
    for i, value in enumerate(inputs):
        places[value.name] = -1 if value.name in places else i
    return places


def _given(net, arrays, named):
    """Returns the arrays given for each input: a list, and a dict of those that name something else."""
    inputs = net.inputs
    if len(arrays) == 1 and isinstance(arrays[0], dict):
        arrays, named = (), {**arrays[0], **named}
    if len(arrays) > len(inputs):
        raise errors.make("bounds", [], f"the network has {len(inputs)} input{'s' if len(inputs) != 1 else ''}, "
                          f"{len(arrays)} arrays are given", 0)
    given = list(arrays) + [None] * (len(inputs) - len(arrays))
    places = _places(inputs)
    rest = {}
    for name, array in named.items():
        if name not in places:
            rest[name] = array
        elif places[name] < 0:
            raise errors.TypeError(f"several inputs are named '{name}': their arrays are given by position")
        elif given[places[name]] is not None:
            raise errors.TypeError(f"the input '{name}' is given twice")
        else:
            given[places[name]] = array
    return given, rest


def _no_input(net, name):
    if any(v.name == name and v.is_default for v in net.params):
        return errors.UnknownError(f"the network has no input '{name}'; a default has this name: its make_input() makes "
                                   "an input of it")
    return unknown("the network has no input", name, [value.name for value in net.inputs])


def _prepared(net, arrays, named):
    """The network that is run, and its inputs as Arrays."""
    given, rest = _given(net, arrays, named)
    known = [None if a is None else typed_array(a, v.type) for a, v in zip(given, net.inputs)]
    made = runnable(net, known, rest)
    places = _places(made.inputs)
    known += [None] * (len(made.inputs) - len(known))
    for name, array in rest.items():
        if name not in places:
            raise _no_input(net, name)
        known[places[name]] = typed_array(array, made.inputs[places[name]].type)
    missing = [value.name or str(i) for i, value in enumerate(made.inputs) if known[i] is None]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise errors.MissingError(f"the input{'s' if len(missing) > 1 else ''} {names} "
                                  f"{'are' if len(missing) > 1 else 'is'} not given")
    return made, known


def sample_of(net, given):
    """The Arrays of a sample: an array, a tuple of arrays in the order of the inputs, or a dict of arrays by name."""
    arrays = given if isinstance(given, tuple) else (given,)
    if isinstance(given, dict):
        arrays, rest = _given(net, (), given)
        if rest:
            raise _no_input(net, next(iter(rest)))
        for value, array in zip(net.inputs, arrays):
            if array is None:
                raise errors.MissingError(f"the input '{value.name}' is not given")
    types = [value.type for value in net.inputs] + [None] * len(arrays)
    return tuple(map(typed_array, arrays, types))


# ---- values -----------------------------------------------------------------------------------------------------

def _asked(net, made, key):
    """The value of the run for what the caller has named: what the network has counts first, then what its conversion
    has made."""
    if made is net:
        return key if isinstance(key, Value) and key.network is net else value_named(net, key)
    try:
        value = key if isinstance(key, Value) else value_named(net, key)
    except errors.UnknownError:
        return value_named(made, key)
    return value_named(made, value.name)


def _wanted(net, made, values):
    """Returns the run that C keeps, and the values of the run by the key that the caller asked with."""
    if values is None or values == "all":
        return (True if values else None), {}
    asked = {key: _asked(net, made, key) for key in ((values,) if isinstance(values, (str, Value)) else values)}
    return tuple(asked.values()), asked


def _kept(pairs, asked, inputs):
    """The dict of kept values. Inputs and Params are not computed, so that the run does not keep them."""
    if not asked:
        kept = {}
        for value, array in pairs:
            key = value.name if value.name and value.name not in kept else f"#{value.id}"
            kept[key] = numbers(array)
        return kept
    found = dict(pairs) | inputs
    return {key: numbers(found[value] if value in found else value.array()) for key, value in asked.items()}


def _once(made, arrays, wanted, asked, how, told=None):
    results, pairs = _xir.run(made, tuple(arrays), *how, wanted, told)
    out = Outputs()
    for i, (value, array) in enumerate(zip(made.outputs, results)):
        out[i if not value.name or value.name in out else value.name] = numbers(array)
    if wanted is not None:
        out.kept = _kept(pairs, asked, dict(zip(made.inputs, arrays)))
    return out


# ---- many samples -----------------------------------------------------------------------------------------------

def _parts(net, given):
    """The parts of arrays that hold many inputs along their first dim: a list of lists."""
    import numpy
    parts = None
    cut = []
    for value, array in zip(net.inputs, given):
        array = array if isinstance(array, numpy.ndarray) else numpy.asarray(array)
        shape = value.type.shape if value.type is not None and value.type.shape else (1,)
        each = shape[0] if isinstance(shape[0], int) and shape[0] > 0 else 1
        n = array.shape[0] // each if array.ndim else 0
        if not n or array.shape[0] % each or (parts is not None and parts != n):
            raise errors.make("bounds", [], f"each: the first dim of '{value.name}' is "
                              f"{array.shape[0] if array.ndim else 'missing'} in the array and {each} in the network; "
                              "inputs must have whole parts, and the same number of them", 0)
        parts = n
        cut.append([array[i * each:(i + 1) * each] for i in range(n)])
    if parts is None:
        raise errors.make("bounds", [], "each: the network has no inputs", 0)
    return [list(row) for row in zip(*cut)]


def _joined(outs):
    import numpy

    def join(name, arrays):
        if not arrays[0].ndim:
            raise errors.make("bounds", [], f"each: '{name}' has no dims to join along", 0)
        return numpy.concatenate(arrays)
    made = Outputs((name, join(name, [out[name] for out in outs])) for name in outs[0])
    made.kept = {name: join(name, [out.kept[name] for out in outs]) for name in outs[0].kept}
    return made


# ---- the method -------------------------------------------------------------------------------------------------

def _run(self, *arrays, each=False, values=None, threads=1, max_work=0, max_memory=0, arena=False, progress=None,
         **named):
    """Runs the network. The reference executor computes it, in up to `threads` threads, whose number does not change
    the results. Inputs are given by position, by name or as a dict by name, as anything that NumPy makes an array of. A
    network with the operators of another format is converted first, in a copy that is kept until it is changed.

    Returns a dict from the names of outputs to arrays; an output without a name, or with that of an earlier one, is
    found by its position. `values` names values in between that it
    has, too, in `kept`: "all", or a list of texts (`xir.names.value_named`) and values; they are not copied. With
    `each` arrays hold many inputs along their first dim: each is run, and the results are joined. `max_work` limits
    steps, `max_memory` the bytes of values; 0 sets no limit. `arena` computes in the memory that the network plans
    (xir.plan). `progress` is a function of (done, total, "op"), or with `each` "sample", whose exception ends the run;
    or True (xir.load). Ctrl-C ends a run."""
    how = (threads, max_work, max_memory, arena)
    if not each:
        made, known = _prepared(self, arrays, named)
        with watched(progress, "running", "op") as told:
            return _once(made, known, *_wanted(self, made, values), how, told)
    given, rest = _given(self, arrays, named)
    if rest:
        raise _no_input(self, next(iter(rest)))
    if any(array is None for array in given):
        _prepared(self, arrays, named)      # which names what is missing
    outs = []
    parts = _parts(self, given)
    with watched(progress, "running", "sample") as told:
        for part in parts:
            made, known = _prepared(self, part, {})
            outs.append(_once(made, known, *_wanted(self, made, values), how))
            if told:
                told(len(outs), len(parts))
    return _joined(outs)


_run.__name__ = "run"
Network.run = _run
