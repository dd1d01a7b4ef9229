# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Parts of the package that are written in Python: context managers, mappings of notes, runs by name, pipelines, tables."""

import collections
from _collections_abc import Mapping, MutableMapping      # of collections.abc, whose import takes longer

from . import _xir, errors
from ._xir import Array, Network, Op, Value
from .later import context, set_later      # noqa: F401, for the package


# ---- files ------------------------------------------------------------------------------------------------------

_VERIFY = (None, "never", "header", "touch", "full", "meanwhile")      # ORDER VERIFY: xir_verify


def load(path, *, lazy=False, params=True, format=None, verify=None, progress=None):
    """Loads a network from a file. `path` may also be the bytes that a file has: bytes, a bytearray, a memoryview,
    or an object with `read`. `lazy` maps parameters instead of reading them. `params` is False for the structure
    alone, or the path of the file that has them. The format is detected unless it is given. `verify` says how
    parameters are checked: "never", "header", "full" by their MD5, or "touch", which is the default if `lazy`:
    once a mapped file has changed, every use of a parameter is an OSError. A view from before cannot be protected.
    "meanwhile" compares the MD5 by a thread: a save waits for it, and fails if it differs or the file has changed.
    `progress` is a function of (done, total, "bytes"), whose exception ends the call, or True: then a notebook
    shows a bar, and a terminal a line. Ctrl-C ends it, too."""
    if verify not in _VERIFY:
        raise errors.make("unknown", [], f"verify is one of {', '.join(map(repr, _VERIFY))}, not {verify!r}", 0)
    if isinstance(path, (bytes, bytearray, memoryview)):
        return read(path, format=format, progress=progress)
    if hasattr(path, "read"):
        return read(path.read(), name=str(getattr(path, "name", "")), format=format, progress=progress)
    if progress is None or progress is False:
        return _xir.load(path, lazy, params, format, _verification(verify, lazy))
    from .progress import watched
    with watched(progress, f"reading {path}", "bytes") as told:
        return _xir.load(path, lazy, params, format, _verification(verify, lazy), told)


def _verification(verify, lazy):
    return _VERIFY.index(verify or ("touch" if lazy else None))


def read(data, *, name="", format=None, progress=None):
    """Returns a network from the bytes of a file. `name` stands for the file in findings; `progress` is as in load."""
    if progress is None or progress is False:
        return _xir.read(data, name, format)
    from .progress import watched
    with watched(progress, f"reading {name or 'bytes'}", "bytes") as told:
        return _xir.read(data, name, format, told)


def parse(text, *, name=""):
    """Returns the network of a text, as str(net) gives it. All faults are found; the message shows each line that has
    one, and a caret under the place."""
    try:
        return _xir.read(text.encode(), name, "text")
    except errors.Error as error:
        error.args = ("\n".join(_pointed(finding, text) for finding in error.findings),)
        raise


def _pointed(finding, text):
    if not finding.line:
        return str(finding)
    line = text.encode().split(b"\n")[finding.line - 1].decode(errors="replace")
    return f"{finding}\n    {line}\n    {' ' * (finding.column - 1)}^"


def finish_save(path, *, params=None):
    """Puts in place what an unfinished save of this structure has saved. A save is unfinished if it was interrupted
    while it replaced the structure and its parameters: until then loading the structure fails. `params` names the
    parameter file if the save gave it a name of its own. Returns True if there was something to do."""
    return _xir.finish_save(path, params)


# ---- notes ------------------------------------------------------------------------------------------------------

class Notes(MutableMapping):
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

@context
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
    """Infers the outputs of all ops again, in execution order. Types that differ are replaced."""
    _xir.infer(self)


def _check(self, target=None, *, typed=False):
    """Runs the check of docs/errors.md: every op, value, type, id, the order, and the rules of a network. Ops of
    another format are checked by what they would become. If a target is named ("buyi", "zhuge:330"), also reports ops
    that it does not run; `typed` also asks its rules about element types of networks without quantised values. Returns
    a list of Finding, empty if all is well."""
    return _xir.check(self, target, typed)


def _cleanup(self):
    """Removes ops whose outputs are not used."""
    Pipeline("dce").run(self)
    return self


def _fix(self, name, value):
    """Makes an input of the network, or an input with a default, a constant: in all uses Params with its name and its
    layout, which share the bytes of the array, take its place. `value` is a number, for each of its elements, or
    anything with the buffer protocol."""
    _xir.fix(self, name, value if isinstance(value, (bool, int, float)) else _array(value))
    return self


def _array(given):
    """An Array of what has the buffer protocol, or of what NumPy makes an array of."""
    if isinstance(given, Array):
        return given
    try:
        return Array(given)
    except (TypeError, ValueError, BufferError, errors.Error):
        array = _made_plain(given)
        if array is None:
            raise
    return Array(array)


def _made_plain(given):
    """A contiguous array in the byte order of the machine, with elements that buffers have; None if there is none."""
    try:
        import numpy
        array = numpy.asarray(given)
    except Exception:      # noqa: BLE001, code of the caller: the first exception says more
        return None
    if array.dtype.kind not in "biufV" or array.dtype.fields:
        return None
    if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8", "int2", "int4", "uint2", "uint4")):
        try:      # elements of ml_dtypes
            array = array.astype("f4" if "float" in array.dtype.name else "i1")
        except (TypeError, ValueError):
            return None
    return numpy.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape)


def constant(given):
    """An array that a function of F makes parameters of, or None. The numbers of lists are float32, as single ones."""
    array = _made_plain(given)
    is_list = array is not None and isinstance(given, (list, tuple))
    return array.astype("f4") if is_list and array.dtype == "f8" else array


for _name, _method in dict(at=_at, scope=_scope, infer=_infer, check=_check, cleanup=_cleanup, fix=_fix).items():
    _method.__name__ = _name
    setattr(Network, _name, _method)


# ---- parameters -------------------------------------------------------------------------------------------------

def params(net, array, *, name="", layout=None):
    """Returns Params of a network that borrow the bytes of `array`, which has the buffer protocol; `array` lives as
    long as they are needed, and must not be changed. They are in the network once an op uses them."""
    return _xir.make_params(net, array, name, layout)


def _numpy(self):
    """A read-only ndarray of the elements. Those that NumPy does not have are of ml_dtypes if it is installed and has
    them, otherwise their values as float32."""
    import numpy
    array = self if isinstance(self, Array) else self.array()
    if array._has_format:
        return numpy.asarray(memoryview(array))
    dtype = _ml_dtype(str(array.type.element))
    if dtype is None:
        made = numpy.frombuffer(array._floats(), "f4")
    elif dtype.itemsize == 2:      # the same bytes
        made = numpy.frombuffer(array.bytes, "u2").view(dtype)
    else:      # ml_dtypes has them in a byte each
        made = numpy.frombuffer(array._integers(), "i8").astype(dtype)
    made = made.reshape(array.shape)
    made.flags.writeable = False
    return made


def _ml_dtype(element):
    """The type of ml_dtypes for a word of an element type, or None."""
    word = {"bf16": "bfloat16"}.get(element, element)
    if word not in ("bfloat16", "int2", "int4", "uint2", "uint4"):
        return None
    try:
        import ml_dtypes
        import numpy
        return numpy.dtype(getattr(ml_dtypes, word))
    except (ImportError, AttributeError):
        return None


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


@context
def _edit(self):
    """A context: an ndarray of a copy of the bytes, which become those of the Params when the block ends without an
    exception. Writing to the array later changes nothing."""
    import numpy
    array = self.array(True)
    yield numpy.asarray(memoryview(array))
    self._set_array(array)


for _type in (Array, Value):
    _type.numpy = _numpy
    _type.__array__ = _as_array
Value.raw = _raw
Value.__dlpack__ = lambda self, **how: self.array().__dlpack__(**how)
Value.__dlpack_device__ = lambda self: (1, 0)
Value.edit = _edit
Array.__repr__ = lambda self: f"<xir.Array {self.type}>"


def _insert(self, make):
    """Puts what `make(value)` returns between the value and all its users, except those that `make` adds."""
    users = self.users
    made = make(self)
    made = made.output if isinstance(made, Op) else made
    made.connect(users)
    return made


Value.insert = _insert


# ---- pipelines --------------------------------------------------------------------------------------------------

class Step(collections.namedtuple("Step", "text depth added fate runs changes ns ops_before ops_after")):
    """A step of a pipeline that has run.

    text
    depth
    added       inserted, because another pass needs it
    fate        "ran", "disabled", "above the level"
    runs
    changes
    ns
    ops_before
    ops_after
    """

    __slots__ = ()


class Proof(collections.namedtuple("Proof", "networks outputs largest computed reused ns")):
    """The result of a proof.

    networks  number of runs; 0: none possible yet, 1: nothing to compare with
    outputs   arrays that were compared
    largest   the largest difference between two numbers
    computed  ops that were computed, in all networks
    reused    ops whose values were known from the network before
    ns        the time of all checks
    """

    __slots__ = ()


class Report(list):
    """The steps of a run. `proof` is a Proof, or None if nothing was to be proven. `findings` is what the passes said:
    warnings and notes."""

    proof = None
    findings = ()

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


class Event(collections.namedtuple("Event", "name text net run changes")):
    """The argument of a watch: a pass that is about to run, or has run.

    name     of the pass
    text     the step, "fold{limit=1M}"
    net      to be read only
    run      the number of the run, from 1
    changes  after the pass: the changes that it has counted
    """

    __slots__ = ()


def _watch(watch):
    """The two functions of a watch: of an object with `before` or `after`, or of a function that is called after."""
    before, after = getattr(watch, "before", None), getattr(watch, "after", None)
    if before is None and after is None and callable(watch):
        after = watch
    if before is None and after is None:
        raise errors.TypeError("a watch is a function, or an object that has before or after")
    return tuple(call and (lambda *event, call=call: call(Event(*event))) for call in (before, after))


_PROOF = {"inputs": {}, "each": False, "seed": 0, "absolute": 0.0, "relative": 0.0, "max_work": 0,
          "max_memory": 0}


def _proof_options(prove):
    if isinstance(prove, Mapping):
        for name in prove:
            if name not in _PROOF:
                raise errors.make("unknown", [], f"a proof has no option {name!r}; it has {', '.join(_PROOF)}", 0)
        inputs, *rest = (_PROOF | dict(prove)).values()
        return tuple((name, _array(array)) for name, array in inputs.items()), *rest
    return ((), *list(_PROOF.values())[1:]) if prove else None


class Pipeline:
    """Passes in the order in which they run: Pipeline("infer,fix(dce)")."""

    def __init__(self, text):
        self.text = text

    def run(self, net, *, verify=False, prove=False, level=0, watches=(), progress=None):
        """Runs the passes on a network. `verify` checks it after every pass; `prove` compares what it computes: True,
        or a dict with any of `inputs` (arrays by name; others are random), `each` (each sample of the inputs is a run),
        `seed`, `absolute` and `relative` (tolerances), `max_work` and `max_memory`. A watch is a function of an Event
        that is called after every pass, or an object with methods `before` and `after`; its exception ends the run.
        `progress` is a function of (runs of passes so far, 0, name of the next pass), or True (`load`). Returns the
        Report. If a pass fails, the network is as that pass has left it."""
        from .progress import Passes
        with Passes(progress) as shown:
            pairs = tuple(_watch(watch) for watch in (*watches, *([shown] if shown else [])))
            steps, proof, findings = _xir.pipeline(self.text, net, verify, _proof_options(prove), level, pairs)
        report = Report(Step(*row) for row in steps)
        report.findings = findings
        report.proof = proof and Proof(*proof)
        return report

    def __repr__(self):
        return f"xir.Pipeline({self.text!r})"


def optimize(net, *, bind=None, verify=False, prove=False, progress=None):
    """Runs the default pipeline, as `xir opt` does. `bind` gives symbols of dims values first; `progress` is as in
    Pipeline.run. Returns the Report."""
    if bind:
        net.bind(**bind)
    return Pipeline(_xir.default_pipeline()).run(net, verify=verify, prove=prove, progress=progress)


_LEVELS = {"needed": 1, "exact": 2, "fast": 3, "max": 4}
_KINDS = {int: 0, float: 1, bool: 2, str: 3}


_mine = set()      # the names of passes that Python has registered, which it may register again


def _annotated(function):
    """The options that a function declares as keywords with defaults: f(net, *, limit: int = 10)."""
    import inspect      # slow to import, and rarely needed
    kinds = inspect.Parameter
    found = {}
    for row in list(inspect.signature(function).parameters.values())[1:]:
        if row.kind is not kinds.KEYWORD_ONLY:
            continue
        kind = row.annotation if isinstance(row.annotation, type) else \
            {"int": int, "float": float, "bool": bool, "str": str}.get(row.annotation, type(row.default))
        if row.default is kinds.empty or kind not in _KINDS:
            raise errors.TypeError(f"the option '{row.name}' of a pass needs a default that is an int, a float, a bool or a "
                                   "text")
        found[row.name] = kind(row.default)
    return found


def _option_rows(options):
    rows = []
    for key, value in options.items():
        if type(value) not in _KINDS:
            raise errors.TypeError(f"the option '{key}' is not an int, a float, a bool or a text")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        rows.append((key.replace("_", "-"), _KINDS[type(value)], text, key))
    return tuple(rows)


def pass_(name=None, *, level="exact", options=None):
    """Registers a function as a pass, which returns the number of changes:

        @xir.pass_
        def drop_relus(net, *, limit: int = 10): ...

    Keywords of the function are its options. Without a name the pass has that of the function, "drop-relus". With
    `options`, a dict of defaults, the function gets them as attributes of a second argument. Ints, floats, bools and
    texts are options. The docstring's first line is that of the pass. It stays registered as long as the process;
    defining it again replaces it in pipelines that are made from then on."""
    if callable(name):
        return pass_(None, level=level, options=options)(name)

    def decorate(function):
        if level not in _LEVELS:
            raise errors.UnknownError(f"'{level}' is not a level; they are {', '.join(_LEVELS)}")
        declared = _annotated(function) if options is None else {}
        word = function.__name__.replace("_", "-") if name is None else name

        from types import SimpleNamespace

        def call(net, given):
            named = {key.replace("-", "_"): value for key, value in given.items()}
            return function(net, **named) if declared or alone else function(net, SimpleNamespace(**named))

        alone = options is None and not declared and _takes_one(function)
        doc = (function.__doc__ or word).strip().split("\n")[0]
        _xir.register_pass(word, doc, _LEVELS[level], _option_rows(options or declared), call, word in _mine)
        _mine.add(word)
        return function
    return decorate


def _takes_one(function):
    import inspect
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(row.kind in positional for row in inspect.signature(function).parameters.values()) == 1


# ---- differences ------------------------------------------------------------------------------------------------

class Difference(collections.namedtuple("Difference", "kind a b field elements")):
    """A difference between two networks.

    kind      "removed", "added", "moved", "changed"
    a         the op in each network; both None: the network itself
    b
    field     of "changed": "outputs/0/dtype/shape"
    elements  of parameters: how many differ, of how many, the largest difference, and of what: "elements"; "bytes" if
              the types differ, without a largest difference; "" if they lie in other places and were not compared
    """

    __slots__ = ()

    def __str__(self):
        op = self.b if self.b is not None else self.a
        name = "network" if op is None else f"{op.cls.key} '{op.name}'"
        text = f"{self.kind}: {name}{' ' + self.field if self.field else ''}"
        if self.elements:
            differ, of, largest, unit = self.elements
            text += f": {differ} of {of} {unit}" if unit else ": not compared, the elements have other places"
            text += f", by at most {largest:g}" if unit == "elements" else ""
        return text


def diff(a, b, *, params=False):
    """Compares two networks, or files of networks. Returns a list of Difference. `params` compares parameters by their
    bytes."""
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
    """A table: the name, the numbers of ops and parameters, inputs, outputs, classes."""
    return "\n".join(f"{name:>10}  {value}" for name, value in _rows(self))


def _escape(text):
    import html
    return html.escape(str(text))


_DRAWN = ("dot", "svg", "html")      # ORDER DRAW: xir_draw_format


def _draw(self, path=None, *, format=None, depth=0, left_to_right=False):
    """Draws the network. The format is "svg", "dot" or "html", a page that opens and closes groups, as `xir view`
    does. Writes it to a file, whose suffix says the format, or returns the text. `depth`: how many levels of
    groups are open."""
    word = format or (str(path).rsplit(".", 1)[-1] if path is not None else "svg")
    if word not in _DRAWN:
        raise errors.make("unknown", [], f"'{word}' is not a picture; they are {', '.join(_DRAWN)}", 0)
    drawn = _xir.draw(self, _DRAWN.index(word), depth, left_to_right)
    if path is None:
        return drawn.decode()
    with open(path, "wb") as file:
        file.write(drawn)
    return None


_PAGE_OPS = 20_000      # the page of a larger network is for a file: net.draw("large.html")


def _html(self):
    cells = "".join(f"<tr><th>{_escape(name)}</th><td>{_escape(value)}</td></tr>" for name, value in _rows(self))
    page = ""
    if 0 < len(self) <= _PAGE_OPS:
        page = f'<iframe srcdoc="{_escape(self.draw(format="html"))}" width="100%" height="500"></iframe>'
    return f"<table>{cells}</table>{page}"


# ---- pickles ----------------------------------------------------------------------------------------------------

_NO_MD5 = 4      # no digest of parameters is computed that are not written


def _reduce(self, protocol):
    """The structure as FlatBuffers, and a buffer for each of the parameters: protocol 5 keeps these out of band."""
    import pickle
    arrays = [value.array() if value.has_data else None for value in self.params]
    buffers = [array and (pickle.PickleBuffer(array.bytes) if protocol >= 5 else array.raw()) for array in arrays]
    return _unpickle, (_xir.write(self, "fb", False, False, False, False, 0, _NO_MD5), buffers)


def _unpickle(structure, buffers):
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", errors.Warning)      # parameters come next
        net = _xir.read(structure, "", "fb")
    if len(buffers) != len(net.params):
        raise errors.make("corrupt", [], f"the pickle of a network has {len(buffers)} buffers: expected "
                          f"{len(net.params)}, one for each of its parameters", 0)
    for value, buffer in zip(net.params, buffers):
        if buffer is not None and memoryview(buffer).nbytes:
            _xir.set_bytes(value, buffer)
    return net


Network.__reduce_ex__ = _reduce
Network.draw = _draw


Network.__str__ = lambda self: _xir.write(self, "text", False, True, False, False, 0, 0).decode()
Network.summary = _text
Network.__repr__ = lambda self: f"<xir.Network {self.name!r}, {len(self)} ops>"
Network._repr_html_ = _html
Network.__copy__ = Network.clone
Network.__deepcopy__ = lambda self, memo: self.clone()
