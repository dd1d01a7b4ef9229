# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Each function of the headers is called by the extension, or has a row in docs/python-c.md that says why not; and
what the package exports has stubs and docstrings."""

import re

from conftest import TOP

import xir


def functions():
    """The functions that headers write out, less icraft.h: a dict from names to headers."""
    found = {}
    for path in sorted((TOP / "include/xir").glob("*.h")):
        if path.name == "icraft.h" or path.name.startswith("gone"):
            continue
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)
        for declaration in re.findall(r"^XIR_API\b[^;]*;", text, re.MULTILINE):
            name = re.search(r"\b(xir_\w+)\s*\(", declaration)
            if name and " extern " not in declaration:
                found[name[1]] = path.name
    return found


def called():
    names = set()
    for path in (TOP / "python/src").glob("*.[ch]"):
        names |= set(re.findall(r"\bxir_\w+", re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)))
    return names


def rows():
    """The rows of the table: (header, names, reason)."""
    for line in (TOP / "docs/python-c.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and len(cells) == 3 and cells[0].endswith(".h"):
            yield cells[0], re.findall(r"`(xir_\w+\*?)`", cells[1]), cells[2]


def test_every_function_is_called_or_has_a_reason():
    public, used = functions(), called()
    assert len(public) > 700 and len(set(public) & used) > 300
    missing = {name: header for name, header in public.items() if name not in used}
    wrong = []
    for header, names, reason in rows():
        if not re.match(r"otherwise: |C\b|inside\b|later\b", reason):
            wrong.append(f"{header}: the page does not list the reason '{reason}'")
        for name in names:
            found = [each for each in missing if missing[each] == header and
                     (each.startswith(name[:-1]) if name.endswith("*") else each == name)]
            if not found:
                wrong.append(f"{header}: {name} is called, has a row before, or does not exist")
            for each in found:
                missing.pop(each)
    wrong += [f"{header}: {name} is neither called nor in docs/python-c.md" for name, header in missing.items()]
    assert not wrong, "\n".join(wrong)


def test_what_is_exported_has_stubs_and_docstrings():
    stub = (TOP / "python/xir/__init__.pyi").read_text()
    for name in xir.__all__:
        assert re.search(rf"(def|class) {name}\b|\bas {name}\b|^{name} ?[:=]", stub, re.MULTILINE), name
        assert (getattr(xir, name).__doc__ or "").strip() or name == "F", name
    for kind in (xir.Network, xir.Op, xir.Value, xir.Type, xir.Array, xir.Interpreter, xir.Provenance):
        body = re.search(rf"^class {kind.__name__}\b.*?(?=^\S|\Z)", stub, re.MULTILINE | re.DOTALL)[0]
        for name in dir(kind):
            if not name.startswith("_") and name not in dir(object):
                assert re.search(rf"\b{name}\b", body), f"{kind.__name__}.{name} has no stub"
                what = getattr(kind, name)
                assert what.__doc__, f"{kind.__name__}.{name} has no docstring"
