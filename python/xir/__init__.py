# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""XIR from Python: networks, their operations, values and parameters. docs/python.md shows how to use it."""

from . import errors as _errors
from . import _xir
from ._xir import Array, Class, Network, Op, Type, Value, classes, default_pipeline, load_plugin
from .errors import *      # noqa: F401,F403, the exceptions
from .errors import Error, Finding, Warning      # noqa: F401, A004
from . import network as _network      # adds what is written in Python to the classes
from .converting import Format, convert, formats
from .debugging import Comparison, Figures, Pair, Provenance, Reduction, Trace, compare, reduce, trace
from .functions import F
from .library import Answer, Cost, Pass, Stats, Target, passes, symbols, targets, try_op
from .memory import Life, Liveness, Part, Plan, liveness, needed, plan, plan_buffers
from .network import Difference, Pipeline, diff, finish_save, load, optimize, params, parse, pass_, read
from .parts import Region, Tile, Tiles, extract, groups, inline, outline, region_path, regions, tiles
from .quantise import calibrate, quantize
from . import habits as _habits, running as _running, types as _types
from . import patterns as P
from .patterns import Match, Pattern
from .visiting import Interpreter, Rule, rewrite
from .opclass import Bool, Bools, Int, Ints, Real, Reals, Text, Texts

__version__ = _xir.version()
__all__ = [
    "Answer", "Array", "Bool", "Bools", "Class", "Comparison", "Cost", "Difference", "Error", "F", "Figures", "Finding",
    "Format", "Int", "Interpreter", "Ints", "Life", "Liveness", "Match", "Network", "Op", "P", "Pair", "Part", "Pass", "Pattern", "Pipeline",
    "Plan", "Provenance", "Real", "Reals", "Reduction", "Region", "Rule", "Stats", "Target", "Text", "Texts", "Tile", "Tiles", "Trace",
    "Type", "Value", "Warning",
    "calibrate", "classes", "compare", "convert", "default_pipeline", "diff", "extract", "finish_save", "formats",
    "groups", "inline", "liveness", "load", "load_plugin", "needed", "optimize", "outline", "params", "parse", "pass_", "passes",
    "plan", "plan_buffers", "quantize", "read", "reduce", "region_path", "regions", "rewrite", "symbols", "targets", "tiles",
    "trace", "try_op",
]
