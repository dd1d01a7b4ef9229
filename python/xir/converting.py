# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Conversions between the operators of formats, and files in these formats."""

import collections
import os
import warnings

from . import _xir, errors
from ._xir import Network
from .names import one_of, step, unknown
from .network import Pipeline
from .progress import watched

Format = collections.namedtuple("Format", "name meaning suffixes reads writes pair text operators dialect indents "
                                          "aligns plains splits")
Format.__doc__ = """A file format: its word and meaning, the suffixes of its files, what can be done with it, and the
format whose operators it has, "nnb" of "c"; None: it has those of XIR, and of every other format, too."""


def formats():
    """Returns the file formats, those of plug-ins too: a list of Format."""
    return [Format(*row) for row in _xir.formats()]


# ---- operators --------------------------------------------------------------------------------------------------

def _dialect(word):
    """The prefix of the operators that a word stands for, and the passes to them: (prefix, passes before, pass)."""
    if word == "xir":
        return None, None, None
    rows = {row[0].removesuffix("::"): row for row in _xir.dialects()}
    row = rows.get(word) or rows.get(next((f.operators for f in formats() if f.name == word), None))
    if row is None:
        raise unknown("there are no operators of", word, ["xir", *rows])
    if row[3] is None:
        raise errors.make("unsupported", [], f"nothing converts to the operators of {row[1]}", 0)
    return row[0], row[4], row[3]


def _has_others(net, prefix):
    """True if some op, except Input and Output, has a class of another dialect, or of XIR."""
    ends = ("icraft::xir::Input", "icraft::xir::Output")
    return any(not op.cls.key.startswith(prefix) and op.cls.key not in ends for op in net)


def _option_names(name):
    return {option[0].replace("-", "_") for row in _xir.passes() if row[0] == name for option in row[4]}


def _has_left(net, prefix):
    """True if a network has ops of another dialect than one, or, if that is not XIR's own (None), ops of XIR."""
    return bool(_xir.dialects_of(net) - {prefix}) or (prefix is not None and _has_others(net, prefix))


def _tell(copy, report, prefix=None):
    """Warns of ops that a conversion has left, with the reasons that it gave."""
    if _has_left(copy, prefix):
        said = [finding for finding in report.findings if finding.severity == "note"]
        for finding in said or ["some ops are not converted"]:
            warnings.warn(str(finding), errors.Warning, stacklevel=4)


def _steps(net, to, options):
    """The steps to the operators of `to`, and whether they are needed."""
    prefix, before, back = _dialect(to)
    there = _xir.dialects_of(net)
    first = bool(there - {prefix})
    second = prefix is not None and (first or _has_others(net, prefix))
    names = {"to-xir": _option_names("to-xir"), back: _option_names(back) if back else set()}
    for name in options:
        if not any(name in each for each in names.values()):
            raise unknown(f"a conversion to {to} has no option", name, sorted(set().union(*names.values())))
    mine = {name: value for name, value in options.items() if name in names[back]} if back else {}
    rest = {name: value for name, value in options.items() if name not in mine}
    steps = [step("to-xir", rest)] if first else []
    if second:
        steps += [text for text in (before, step(back, mine)) if text]
    return steps


def convert(net, to, *, progress=None, **options):
    """Returns a new network with the operators of a format, "onnx", "pnnx", "nnb", "tsm", "deepx", or of "xir". The
    options are those of the passes `to-xir` and `xir-to-FORMAT`, as keywords. Ops that stay are warnings. `progress` is
    as in Pipeline.run."""
    if not isinstance(net, Network):
        raise errors.TypeError(f"convert takes a network, not {type(net).__name__}")
    copy = net.clone()
    steps = _steps(copy, to, options)
    if steps:
        _tell(copy, Pipeline(",".join(steps)).run(copy, progress=progress), _dialect(to)[0])
    return copy


# ---- for runs ---------------------------------------------------------------------------------------------------

def _input_shapes(inputs, arrays):
    """The option of to-xir that knows the dims of the arrays where the file leaves them open."""
    words = []
    for value, array in zip(inputs, arrays):
        shape = value.type and value.type.shape
        if array is None or not value.name or any(c in value.name for c in '";=\0'):
            continue
        typed = shape is not None
        if typed and (all(isinstance(dim, int) for dim in shape) or len(shape) != len(array.shape)):
            continue
        word = f"{value.name}={','.join(map(str, array.shape))}"
        element = str(array.type.element).replace("uint", "u").replace("int", "i")    # u8, i64: as the option has them
        words.append(word if typed else f"{word}:{element}")
    return {"input-shape": ";".join(words)} if words else {}


def runnable(net, arrays=(), defaults=()):
    """Returns the network, or a copy with XIR's operators if it has others. The copy is kept until the network is
    changed. `defaults` names inputs whose default is not taken."""
    if not _xir.dialects_of(net):
        return net
    options = _input_shapes(net.inputs, arrays)
    key = (options.get("input-shape"), frozenset(defaults))
    kept = net._kept
    if kept and kept[:2] == (net._edits, key):
        return kept[2]
    copy = net.clone()
    for value in copy.params:
        if value.name in defaults and value.is_default:
            value.make_input()
    _tell(copy, Pipeline(step("to-xir", options)).run(copy))
    net._kept = (net._edits, key, copy)
    return copy


# ---- files ------------------------------------------------------------------------------------------------------

_INSIDE = (None, "all", "none")
# ORDER: XIR_SAVE_NO_MD5, _EXTERNAL, _INLINE, _RAW, _NO_IDS
_FLAGS = {"md5": 4, "external": 8, "inline": (0, 16, 32), "ids": 64}
_FILE = {"indent": False, "align": 0, "plain": False, "params": None, "md5": True, "external": False, "inline": None,
         "ids": True}


def _file_options(options):
    """Returns the arguments of C's `save` for the options of a file, and the other options, which are those of a conversion."""
    of = _FILE | {name: value for name, value in options.items() if name in _FILE}
    flags = _FLAGS["inline"][one_of("inline", of["inline"], _INSIDE)]
    flags |= (0 if of["md5"] else _FLAGS["md5"]) | (_FLAGS["external"] if of["external"] else 0)
    flags |= 0 if of["ids"] else _FLAGS["ids"]
    params = of["params"]
    if params is True:
        params = None
    rest = {name: value for name, value in options.items() if name not in _FILE}
    return (bool(of["indent"]), bool(of["plain"]), int(of["align"]), params, flags), rest


def _for_file(net, word, convert_it, options):
    """The network that is written, with the operators that the format asks for."""
    to = next((f for f in formats() if f.name == word), None)
    if to is None or not to.dialect or not convert_it:
        if options:
            raise unknown("a file has no option", next(iter(options)), sorted(_FILE))
        return net
    prefix, _, back = _dialect(to.operators)
    known = [*_FILE, *sorted(_option_names("to-xir") | _option_names(back))]
    for name in options:
        if name not in known:
            raise unknown(f"a file of {word} has no option", name, known)
    return convert(net, to.operators, **options) if _has_left(net, prefix) else net


def _save(self, path, *, format=None, convert=True, check=True, progress=None, **options):
    """Saves the network to a file. The new file is flushed, then replaces the old one atomically; if anything
    fails, the old file is unchanged. The suffix decides the format unless it is given. A format with operators of
    its own gets these: a copy is converted, unless `convert` is False. Options are those of the file: `indent`,
    `align`, `plain`, `params` (a path for the parameters, or False for none), `md5`, `external`, `inline` ("all",
    "none") and `ids`; and those of the conversion (`xir.convert`). `progress` is as in xir.load. Ctrl-C ends it."""
    how, rest = _file_options(options)
    word = format or _xir.detect(os.fsdecode(path))
    net = _for_file(self, word, convert, rest)
    with watched(progress, f"writing {path}", "bytes") as told:
        _xir.save(net, path, format, check, *how, told)


def _write(self, format, *, convert=True, check=True, progress=None, **options):
    """Returns the bytes that a file of the format would have; options are those of save."""
    (indent, plain, align, params, flags), rest = _file_options(options)
    if params not in (None, False):
        raise errors.TypeError("write returns one file: a path for the parameters is an option of save")
    net = _for_file(self, format, convert, rest)
    with watched(progress, f"writing {format}", "bytes") as told:
        return _xir.write(net, format, check, params is not False, indent, plain, align, flags, told)


_save.__name__, _write.__name__ = "save", "write"
Network.save, Network.write = _save, _write
