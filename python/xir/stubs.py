# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Writes F.pyi, the stub of the functions of `xir.F` for type checkers, from the classes that are registered:

    python3 -m xir.stubs [FILE [PLUGIN…]]

FILE is the stub next to this module unless it is given. With plug-ins, their classes are in it too."""

import keyword
import pathlib
import sys
import textwrap

from . import Class, classes, load_plugin
from .functions import Operator, _is_addable, _make

_HEAD = '''"""The functions of xir.F: one for each class of operations. Written by python3 -m xir.stubs."""

from typing import Any, Literal, Sequence

from . import Network, Op, Operand, Type, Value
'''
_TYPES = {
    "bool": "bool", "int64": "int", "uint64": "int", "float": "float", "string": "str", "params": "Value",
    "map": "dict[str, Any]", "list<bool>": "Sequence[bool]", "list<int64>": "Sequence[int]",
    "list<float>": "Sequence[float]", "list<string>": "Sequence[str]", "list<params>": "Sequence[Value]",
    "list<op>": "Sequence[Op]", "runs": "Sequence[tuple[int, int, int, float]]",
}


def _hint(kind):
    """The type of Python for that of an attribute, as xir_field_type_text prints it."""
    if kind.endswith("?"):
        return f"{_hint(kind[:-1])} | None"
    if kind.startswith("enum "):
        return f"Literal[{', '.join(repr(word) for word in kind[5:].split('|'))}]"
    if kind.startswith("list<ref"):
        return "Sequence[float]" if "Imm" in kind else "Sequence[Type]"
    if kind.startswith("ref<"):
        known = {"ref<ScalarImm>": "float", "ref<FloatImm>": "float", "ref<IntImm>": "int", "ref<Bool>": "bool",
                 "ref<Layout>": "str"}
        if kind in known:
            return known[kind]
    return "Type | str" if kind.startswith("ref") else _TYPES[kind]


def _argument(parameter, field):
    """An argument by keyword; `field` is None for a shorthand."""
    if field is None:
        return f"{parameter.name}: int = ..."
    hint = _hint(field["type"])
    if parameter.default is parameter.empty:
        return f"{parameter.name}: {hint}"
    default = field["default"]
    plain = isinstance(default, (bool, int, float, str)) and not field["type"].startswith(("ref", "list", "map"))
    plain = plain and default not in (float("inf"), -float("inf")) and default == default
    return f"{parameter.name}: {hint} = {default!r}" if plain else f"{parameter.name}: {hint} = ..."


def _result(cls):
    kinds = [port["kind"] for port in cls.outputs]
    return "Any" if "any" in kinds else ("Op", "Value")[len(kinds)] if len(kinds) < 2 else "tuple[Value, ...]"


def function(cls):
    """Returns the stub of the function of a class."""
    made: Operator = _make(cls)
    fields = {f"{field['name']}_" if keyword.iskeyword(field["name"]) else field["name"]: field for field in cls.fields}
    inputs, named = [], []
    for parameter in made.__signature__.parameters.values():
        if parameter.kind is parameter.VAR_POSITIONAL:
            inputs.append(f"*{parameter.name}: Operand | None")
        elif parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            inputs.append(f"{parameter.name}: Operand" + (" | None = ..." if parameter.default is None else ""))
        elif parameter.name in ("name", "net") and parameter.name not in fields:
            named.append(f"{parameter.name}: {'str' if parameter.name == 'name' else 'Network'} | None = ...")
        else:
            named.append(_argument(parameter, fields.get(parameter.name)))
    star = [] if any(argument.startswith("*") for argument in inputs) else ["*"]
    arguments = ", ".join(argument.replace(" ", "\0") for argument in inputs + star + named)      # not cut inside
    text = textwrap.fill(f"def {made.__name__}({arguments})\0->\0{_result(cls).replace(' ', chr(0))}:", 120,
                         subsequent_indent="    " * 2, break_long_words=False, break_on_hyphens=False)
    text = text.replace("\0", " ")
    doc = " ".join(cls.doc.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'{text}\n    """{doc}"""\n'


def stub():
    """Returns the whole stub: the classes whose functions are F.NAME, in the order of their names."""
    chosen = {}
    for cls in classes():
        name = cls.key.split("::")[-1]
        if _is_addable(cls) and name.isidentifier() and not keyword.iskeyword(name):
            if name not in chosen or cls.key.startswith("icraft::xir::"):
                chosen[name] = cls
    aliases = {}
    for cls in chosen.values():
        for key in cls.aliases:
            name = key.split("::")[-1]
            if name.isidentifier() and name not in chosen and Class(key) == cls:
                aliases[name] = cls.key.split("::")[-1]
    functions = "\n".join(function(chosen[name]) for name in sorted(chosen))
    return f"{_HEAD}\n{functions}\n" + "".join(f"{name} = {aliases[name]}\n" for name in sorted(aliases))


def main(path=None, *plugins):
    for plugin in plugins:
        load_plugin(plugin)
    (pathlib.Path(path) if path else pathlib.Path(__file__).with_name("F.pyi")).write_text(stub())


if __name__ == "__main__":
    main(*sys.argv[1:])
