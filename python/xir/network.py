"""What is written in Python: context managers, mappings of notes, runs by name, pipelines, tables."""

import collections
import collections.abc
import contextlib
import html
import types
from typing import NamedTuple, Optional

from . import _xir, errors
from ._xir import Array, Network, Op, Value


# ---- files ------------------------------------------------------------------------------------------------------

def load(path, *, lazy=False, params=True, format=None):
    """Returns the network of a file. `lazy` maps parameters instead of reading them. `params` is False for the
    structure alone, or the path of the file that has them. The format is detected unless it is given."""
    return _xir.load(path, lazy, params, format)


def read(data, *, name="", format=None):
    """Returns a network from the bytes of a file. `name` stands for the file in findings."""
    return _xir.read(data, name, format)


def _save(self, path, *, format=None, indent=False, check=True):
    """Saves the network; the suffix decides the format unless it is given. If it fails, an old file remains."""
    _xir.save(self, path, format, indent, check)


def _write(self, format, *, check=True):
    """Returns the bytes that a file of the format would have."""
    return _xir.write(self, format, check)


# ---- notes ------------------------------------------------------------------------------------------------------

class Notes(collections.abc.MutableMapping):
    """Tags or undeclared attributes: a mapping whose changes are changes of the network."""

    __slots__ = ("_get", "_set")

    def __init__(self, get, set):
        self._get, self._set = get, set

    def __getitem__(self, key):
        return self._get()[key]

    def __setitem__(self, key, value):
        self._set(key, value)

    def __delitem__(self, key):
        if key not in self._get():
            raise KeyError(key)
        self._set(key)

    def __iter__(self):
        return iter(self._get())

    def __len__(self):
        return len(self._get())

    def __repr__(self):
        return repr(self._get())


def _tags(self):
    """The tags: notes that files carry. A mutable mapping."""
    return Notes(self._tags, self._set_tag)


def _extra(self):
    """The attributes that the class does not declare. A mutable mapping."""
    return Notes(self._extra, self._set_extra)


for _type in (Network, Op, Value):
    _type.tags = property(_tags)
for _type in (Network, Op):
    _type.extra = property(_extra)


# ---- the cursor -------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def _cursor(net, scope, before):
    old = net._cursor
    net._cursor = (scope, before)
    try:
        yield net
    finally:
        net._cursor = old


def _at(self, *, before=None, after=None):
    """A context: functions of F put their ops before or after an op, in the order of the calls."""
    if (before is None) == (after is None):
        raise errors.TypeError("at takes one of before and after")
    return _cursor(self, self._cursor[0], before if after is None else after.next)


def _scope(self, name):
    """A context: functions of F put NAME/ before the names of their ops."""
    return _cursor(self, f"{self._cursor[0] or ''}{name}/", self._cursor[1])


# ---- work -------------------------------------------------------------------------------------------------------

def _infer(self):
    """Infers the types of all outputs again, in execution order."""
    _xir.infer(self)


def _check(self):
    """Checks everything that a saved network must keep. Returns a list of Finding, empty if all is well."""
    return _xir.check(self)


def _cleanup(self):
    """Removes ops whose outputs are not used."""
    Pipeline("dce").run(self)
    return self


def _bind(self, **dims):
    """Gives symbols of dims one value each, or an interval (least, most)."""
    _xir.bind(self, tuple((name, *(value if isinstance(value, tuple) else (value, value)))
                          for name, value in dims.items()))
    return self


class Outputs(dict):
    """The results of a run by the names of the outputs; `values()` has the order of the network."""


def _run(self, *arrays, **named):
    """Computes the network with the reference executor. Inputs are given by position or by name, as anything with the
    buffer protocol. Returns a dict from the names of outputs, or their positions, to xir.Array or numpy.ndarray."""
    inputs = self.inputs
    given = list(arrays) + [None] * (len(inputs) - len(arrays))
    names = {value.name: i for i, value in enumerate(inputs)}
    for name, array in named.items():
        if name not in names:
            raise errors.UnknownError(f"the network has no input '{name}'; it has {', '.join(names) or 'no names'}")
        if given[names[name]] is not None:
            raise errors.TypeError(f"the input '{name}' is given twice")
        given[names[name]] = array
    for i, array in enumerate(given):
        if array is None:
            raise errors.MissingError(f"the input '{inputs[i].name if i < len(inputs) else i}' is not given")
    results = _xir.run(self, tuple(a if isinstance(a, Array) else Array(a) for a in given))
    return Outputs({value.name or i: _numbers(result) for i, (value, result) in enumerate(zip(self.outputs, results))})


def _numbers(array):
    try:
        return array.numpy()
    except ImportError:
        return array


for _name, _method in dict(save=_save, write=_write, at=_at, scope=_scope, infer=_infer, check=_check,
                           cleanup=_cleanup, bind=_bind, run=_run).items():
    _method.__name__ = _name
    setattr(Network, _name, _method)


# ---- parameters -------------------------------------------------------------------------------------------------

def params(net, array, *, name="", layout=None):
    """Returns Params of a network that borrow the bytes of `array`, which has the buffer protocol; `array` lives as
    long as they are needed, and must not be changed. They are in the network once an op uses them."""
    return _xir.make_params(net, array, name, layout)


def _numpy(self):
    """A read-only ndarray of the elements. Elements that NumPy does not have are given as float32."""
    import numpy
    array = self if isinstance(self, Array) else self.array()
    if array._has_format:
        return numpy.asarray(memoryview(array))
    made = numpy.frombuffer(array._floats(), "f4").reshape(array.shape)
    made.flags.writeable = False
    return made


def _as_array(self, dtype=None, copy=None):
    import numpy
    made = _numpy(self)
    if dtype is not None and made.dtype != dtype:
        if copy is False:
            raise ValueError("the elements have another type: a copy is needed")
        return made.astype(dtype)
    return numpy.array(made) if copy else made


def _raw(self):
    """The bytes of Params, as files have them."""
    return self.array().raw()


@contextlib.contextmanager
def _edit(self):
    """A context: an ndarray of a copy of the bytes, which become those of the Params when the block ends without an
    exception. Writing to the array later changes nothing."""
    import numpy
    array = self.array(True)
    yield numpy.asarray(memoryview(array))
    self.set_array(array)


for _type in (Array, Value):
    _type.numpy = _numpy
    _type.__array__ = _as_array
Value.raw = _raw
Value.edit = _edit
Array.__repr__ = lambda self: f"<xir.Array {self.type}>"


def _insert(self, make):
    """Puts what `make(value)` returns between the value and all its users, except those that `make` adds."""
    users = self.users
    made = make(self)
    made.connect(users)
    return made


Value.insert = _insert


# ---- pipelines --------------------------------------------------------------------------------------------------

class Step(NamedTuple):
    """A step of a pipeline that has run."""
    text: str
    depth: int
    added: bool         # inserted, because another pass needs it
    fate: str           # "ran", "disabled", "above the level"
    runs: int
    changes: int
    ns: int
    ops_before: int
    ops_after: int


class Report(list):
    """The steps of a run."""

    @property
    def changes(self):
        return sum(step.changes for step in self if not step.depth)

    def table(self):
        """Prints the steps, their changes and times."""
        width = max([4] + [len(step.text) + 2 * step.depth for step in self])
        print(f"{'pass':{width}}  {'runs':>5}  {'changes':>8}  {'ops from':>8}  {'to':>8}  {'time':>10}")
        for step in self:
            text = "  " * step.depth + step.text
            numbers = (f"{step.runs:5}  {step.changes:8}  {step.ops_before:8}  {step.ops_after:8}  "
                       f"{step.ns / 1e6:7.2f} ms" if step.fate == "ran" else step.fate)
            print(f"{text:{width}}  {numbers}")


class Pipeline:
    """Passes in the order in which they run: Pipeline("infer,fix(dce)")."""

    def __init__(self, text):
        self.text = text

    def run(self, net, *, verify=False, prove=False, level=0):
        """Runs the passes on a network. `verify` checks it after every pass; `prove` compares what it computes.
        Returns the Report. If a pass fails, the network is as that pass has left it."""
        return Report(Step(*row) for row in _xir.pipeline(self.text, net, verify, prove, level))

    def __repr__(self):
        return f"xir.Pipeline({self.text!r})"


def optimize(net, *, bind=None, verify=False, prove=False):
    """Runs the default pipeline, as `xir opt` does. `bind` gives symbols of dims values first. Returns the Report."""
    if bind:
        net.bind(**bind)
    return Pipeline(_xir.default_pipeline()).run(net, verify=verify, prove=prove)


_LEVELS = {"needed": 1, "exact": 2, "fast": 3, "max": 4}
_KINDS = {int: 0, float: 1, bool: 2, str: 3}


def pass_(name, *, level="exact", options=None):
    """Registers a function as a pass: it gets a network and its options as attributes, and returns the number of
    changes. `options` has the defaults, ints, floats, bools or texts, whose types the values have. The docstring's
    first line is that of the pass. It stays registered as long as the process."""
    def decorate(function):
        rows = []
        for key, value in (options or {}).items():
            if type(value) not in _KINDS:
                raise errors.TypeError(f"the option '{key}' is not an int, a float, a bool or a text")
            text = str(value).lower() if isinstance(value, bool) else str(value)
            rows.append((key.replace("_", "-"), _KINDS[type(value)], text, key))

        def call(net, given):
            return function(net, types.SimpleNamespace(**{key.replace("-", "_"): v for key, v in given.items()}))

        doc = (function.__doc__ or name).strip().split("\n")[0]
        if level not in _LEVELS:
            raise errors.UnknownError(f"'{level}' is not a level; they are {', '.join(_LEVELS)}")
        _xir.register_pass(name, doc, _LEVELS[level], tuple(rows), call)
        return function
    return decorate


# ---- differences ------------------------------------------------------------------------------------------------

class Difference(NamedTuple):
    """A difference between two networks."""
    kind: str                   # "removed", "added", "moved", "changed"
    a: Optional[Op]             # the op in each network; both None: the network itself
    b: Optional[Op]
    field: str                  # of "changed": "outputs/0/dtype/shape"
    elements: Optional[tuple]   # of parameters: how many elements differ, of how many, the largest difference

    def __str__(self):
        op = self.b if self.b is not None else self.a
        name = "network" if op is None else f"{op.cls.key} '{op.name}'"
        text = f"{self.kind}: {name}{' ' + self.field if self.field else ''}"
        if self.elements:
            text += f": {self.elements[0]} of {self.elements[1]} elements, by at most {self.elements[2]:g}"
        return text


def diff(a, b, *, params=False):
    """Returns the differences between two networks, or files of networks: a list of Difference. `params` compares
    parameters by their bytes."""
    a, b = (net if isinstance(net, Network) else load(net, lazy=True) for net in (a, b))
    return [Difference(*row) for row in _xir.diff(a, b, params)]


# ---- showing ----------------------------------------------------------------------------------------------------

def _rows(net):
    counts = collections.Counter(op.cls.key for op in net)
    rows = [("name", net.name), ("framework", f"{net.framework} {net.framework_version}".strip()),
            ("xir", net.xir_version), ("ops", len(net)), ("params", len(net.params))]
    rows += [("input", f"{value.name!r} {value.type}") for value in net.inputs]
    rows += [("output", f"{value.name!r} {value.type}") for value in net.outputs]
    return rows + [(f"{n}", key) for key, n in counts.most_common()]


def _text(self):
    return "\n".join(f"{name:>10}  {value}" for name, value in _rows(self))


def _html(self):
    cells = "".join(f"<tr><th>{html.escape(str(name))}</th><td>{html.escape(str(value))}</td></tr>"
                    for name, value in _rows(self))
    return f"<table>{cells}</table>"


Network.__str__ = _text
Network.__repr__ = lambda self: f"<xir.Network {self.name!r}, {len(self)} ops>"
Network._repr_html_ = _html
Network.__copy__ = Network.clone
Network.__deepcopy__ = lambda self, memo: self.clone()
