# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""XIR from Python: networks, their operations, values and parameters. docs/python.md shows how to use it."""

from . import errors as _errors
from . import _xir
from ._xir import Array, Class, Network, Op, Type, Value, classes, default_pipeline, load_plugin
from .errors import *      # noqa: F401,F403, the exceptions
from .errors import Error, Finding, Warning      # noqa: F401, A004
from . import network as _network      # adds what is written in Python to the classes
from .functions import F
from .memory import Life, Liveness, Plan, liveness, plan, plan_buffers
from .network import Difference, Pipeline, diff, finish_save, load, optimize, params, parse, pass_, read
from .quantise import calibrate, quantize
from . import types as _types
from . import patterns as P
from .patterns import Match, Pattern
from .opclass import Bool, Bools, Int, Ints, Real, Reals, Text, Texts

__version__ = _xir.version()
__all__ = [
    "Array", "Bool", "Bools", "Class", "Difference", "Error", "F", "Finding", "Life", "Liveness", "Match", "Network", "Op", "P", "Pattern",
    "Pipeline", "Plan", "Type", "Value", "Warning",
    "calibrate", "classes", "default_pipeline", "diff", "finish_save", "liveness", "load", "load_plugin", "optimize", "params", "parse", "pass_",
    "plan", "plan_buffers", "quantize", "read",
]
