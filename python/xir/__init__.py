# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""XIR from Python: networks, their operations, values and parameters. docs/python.md shows how to use it."""

from . import errors as _errors
from . import _xir
from ._xir import Array, Class, Network, Op, Type, Value, classes, default_pipeline, load_plugin
from .errors import *      # noqa: F401,F403, the exceptions
from .errors import Error, Finding, Warning      # noqa: F401, A004
from . import network as _network      # adds what is written in Python to the classes
from .network import Difference, Pipeline, diff, finish_save, load, optimize, params, parse, pass_, read
from . import habits as _habits, types as _types

# Modules that are imported when one of their names is first used: all of them take longer than the library itself.
_MODULES = {
    "converting": "Format convert formats",
    "debugging":  "Comparison Figures Pair Provenance Reduction Trace compare reduce trace",
    "functions":  "F",
    "library":    "Answer Cost Pass Stats Target passes symbols targets try_op",
    "memory":     "Life Liveness Part Plan liveness needed plan plan_buffers",
    "parts":      "Region Tile Tiles extract groups inline outline region_path regions tiles",
    "quantise":   "Mix calibrate mix quantize",
    "patterns":   "Match Pattern",
    "visiting":   "Interpreter Rule rewrite",
    "opclass":    "Bool Bools Int Ints Real Reals Text Texts",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}

for _class, _module, _names in (
    (Network, "converting", "save write"), (Network, "running", "run"), (Network, "debugging", "record provenance"),
    (Network, "library", "bind declare stats walk replace"), (Network, "patterns", "rewrite matches"),
    (Value, "library", "connect_others"), (Op, "library", "cost"), (Op, "opclass", "__init_subclass__"),
    (Class, "functions", "__reduce__"),
):
    _network.set_later(_class, _module, _names)


def __getattr__(name):
    whole = name in _MODULES or name in ("names", "ports", "progress", "running")
    module = "patterns" if name == "P" else name if whole else _HOMES.get(name)
    if module is None:
        raise AttributeError(f"module 'xir' has no attribute {name!r}")
    made = __import__(f"xir.{module}", fromlist=("",))
    made = made if whole or name == "P" else getattr(made, name)
    globals()[name] = made
    return made


def __dir__():
    return sorted({*globals(), *_HOMES, "P"})


__version__ = _xir.version()
__all__ = [
    "Answer", "Array", "Bool", "Bools", "Class", "Comparison", "Cost", "Difference", "Error", "F", "Figures", "Finding",
    "Format", "Int", "Interpreter", "Ints", "Life", "Liveness", "Match", "Mix", "Network", "Op", "P", "Pair", "Part", "Pass", "Pattern", "Pipeline",
    "Plan", "Provenance", "Real", "Reals", "Reduction", "Region", "Rule", "Stats", "Target", "Text", "Texts", "Tile", "Tiles", "Trace",
    "Type", "Value", "Warning",
    "calibrate", "classes", "compare", "convert", "default_pipeline", "diff", "extract", "finish_save", "formats",
    "groups", "inline", "liveness", "load", "load_plugin", "mix", "needed", "optimize", "outline", "params", "parse", "pass_", "passes",
    "plan", "plan_buffers", "quantize", "read", "reduce", "region_path", "regions", "rewrite", "symbols", "targets", "tiles",
    "trace", "try_op",
]
