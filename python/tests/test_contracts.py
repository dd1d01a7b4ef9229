# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Docstrings of what wraps a function of C begin with the contract in the header, in Python's words: contracts.txt has
a row for each public name. Methods of the extension have signatures, with the names that the stubs have."""

import ast
import inspect
import pathlib
import re

from conftest import TOP

import xir

OWN = {"infer", "check"}      # of an Op: a class of Python has its own, so that the stubs say little
KINDS = (xir.Network, xir.Op, xir.Value, xir.Type, xir.Array, xir.Class, xir.Pattern)


def comments():
    """The comment of each function that headers declare: the one that opens a line before it, without a blank line in
    between. A dict from names to paragraphs."""
    found = {}
    for path in sorted((TOP / "include/xir").glob("*.h")):
        for block in re.split(r"\n\s*\n", path.read_text()):
            parts = re.split(r"^/\*(.*?)\*/$", block, flags=re.DOTALL | re.MULTILINE)
            for text, code in zip(parts[1::2], parts[2::2]):
                text = re.sub(r"^ \* ?", "", text, flags=re.MULTILINE)
                paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
                code = re.sub(r"/\*.*?\*/", "", code, flags=re.DOTALL)
                for name in re.findall(r"^(?:XIR_API|static inline)\b[^;({]*?\b(xir_\w+)\s*\(", code, re.MULTILINE):
                    found[name] = paragraphs
    return found


def rows():
    """The words for all rows, and the rows: (names, function, the last column)."""
    words, found = [], []
    for line in (pathlib.Path(__file__).parent / "contracts.txt").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] == "*":
            words.append(cells[1])
        elif len(cells) == 3 and not line.startswith("#"):
            found.append((cells[0].split(), cells[1], cells[2]))
    return words, found


def in_python(text, own, everywhere):
    """A text in Python's words. Each word of the row is needed."""
    for word in own + everywhere:
        old, _, new = (part.strip() for part in word.partition("=>"))
        assert old in text or word in everywhere, f"'{old}' is not in '{text}'"
        text = re.sub(" ?" + re.escape(old) if not new or new[0] == "," else re.escape(old), lambda _: new, text)
    return re.sub(r"\bXIR_E_(\w+)", lambda code: exception(code[1]), text)


def exception(code):
    name = (code if code == "IO" else code.title().replace("_", "")) + "Error"
    assert issubclass(getattr(xir, name), xir.Error)
    return name


def expected(comments, function, own, everywhere):
    name, _, which = function.partition("#")
    name, _, count = name.partition("/")
    paragraph = comments[name][int(which or 1) - 1]
    sentences = re.split(r"(?<=[.])\s+(?=[A-Z*`])", paragraph)
    return in_python(" ".join(sentences[:int(count or 1)]), own, everywhere)


def public():
    """All names, with their docstrings."""
    found = {name: getattr(xir, name) for name in xir.__all__ if not isinstance(getattr(xir, name), type)}
    for kind in KINDS:
        found |= {f"{kind.__name__}.{name}": getattr(kind, name)
                  for name in dir(kind) if not name.startswith("_") and name not in dir(object)}
    return found


def test_docstrings_are_the_contracts():
    known, (everywhere, table), wrong = comments(), rows(), []
    names = public()
    for each, function, last in table:
        for name in each:
            what = names.pop(name, None)
            if what is None:
                wrong.append(f"{name} does not exist, or has a row before")
            elif function == "-":
                assert last, name
            else:
                text = expected(known, function, [part for part in last.split(" ; ") if part], everywhere)
                if not " ".join(what.__doc__.split()).startswith(text):
                    wrong.append(f"{name}: the docstring does not begin with the contract of {function}\n    {text}")
    wrong += [f"{name} has no row in contracts.txt: {what.__doc__}" for name, what in names.items()]
    assert len(known) > 700 and not wrong, "\n".join(wrong)


def in_stubs(kind):
    """The parameters of each method in the stubs: lists of (name, has a default, has to be given by position)."""
    stubs = ast.parse((TOP / "python/xir/__init__.pyi").read_text()).body
    body = next(each.body for each in stubs if isinstance(each, ast.ClassDef) and each.name == kind.__name__)
    found = {}
    for method in body:
        if isinstance(method, ast.FunctionDef):
            args = method.args
            plain = [arg.arg for arg in [*args.posonlyargs, *args.args][1:]]
            rows = [(name, i >= len(plain) - len(args.defaults), i < len(args.posonlyargs) - 1)
                    for i, name in enumerate(plain)]
            rows += [("*" + args.vararg.arg, False, False)] if args.vararg else []
            found[method.name] = rows + [(arg.arg, value is not None, False)
                                         for arg, value in zip(args.kwonlyargs, args.kw_defaults)]
    return found


def test_methods_of_the_extension_have_the_signatures_of_the_stubs():
    found = 0
    for kind in KINDS[:-1]:
        stubs = in_stubs(kind)
        for name, what in vars(kind).items():
            if inspect.ismethoddescriptor(what) and what.__doc__ and not name.startswith("__") and name not in OWN:
                mine = list(inspect.signature(what).parameters.values())[1:]
                assert [(str(one).split("=")[0], one.default is not one.empty, one.kind is one.POSITIONAL_ONLY)
                        for one in mine] == stubs[name], \
                    f"{kind.__name__}.{name}"
                found += 1
    assert found >= 29
