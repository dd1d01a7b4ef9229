# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Short texts of types: "fp32 NHWC [1,416,416,3]"."""

import json
import re

from . import errors
from ._xir import Type, parse_object, tensor

_FLOATS = {"fp16": "@fp(16)", "fp32": "@fp(32)", "fp64": "@fp(64)", "bf16": "@bf(16)", "tf32": "@tf(32)"}
_SHORT = {spelling: word for word, spelling in _FLOATS.items()}
_TEXT = re.compile(r"\s*(?P<element>\S+?)(?:\s+(?P<layout>[A-Za-z*0-9]+))?(?:\s*\[(?P<dims>[^\]]*)\])?\s*\Z")


def _element(word):
    if word == "bool":
        return "@bool"
    integer = re.fullmatch(r"(u?)(?:s?)int(\d+)", word)
    if integer:
        return f"@{'u' if integer[1] else 's'}int({integer[2]})"
    return _FLOATS.get(word, word)


def parse(text):
    """Returns the Type of a text: an element type, then its layout and dims. A dim that is unknown is "?"."""
    if not isinstance(text, str):
        raise errors.make("type", [], f"a type is a text, not {type(text).__name__}", 0)
    if text.lstrip().startswith("{"):
        return parse_object(text)
    found = _TEXT.match(text)
    if not found:
        raise errors.make("syntax", [], f"'{text}' is not a type: expected \"fp32 NHWC [1,8,8,3]\"", 0)
    element = parse_object(json.dumps(_element(found["element"]), ensure_ascii=False))
    if found["dims"] is None:
        if found["layout"]:
            raise errors.make("syntax", [], f"'{text}' has a layout, but no dims", 0)
        return element
    dims = [dim.strip() for dim in found["dims"].split(",")] if found["dims"].strip() else []
    for dim in dims:
        if dim != "?" and not re.fullmatch(r"[0-9]{1,18}", dim):
            raise errors.make("syntax", [], f"'{dim}' is not a dim: expected a number or ?", 0)
    return tensor(element, found["layout"], tuple(-1 if dim == "?" else int(dim) for dim in dims))


def _spell(self):
    if self.shape is None:
        try:
            text = json.loads(self.json())
        except ValueError:
            text = self.json()
        if not isinstance(text, str):
            return self.json()
        if text == "@bool":
            return "bool"
        integer = re.fullmatch(r"@(u|s)int\((\d+)\)", text)
        if integer:
            return f"{'u' if integer[1] == 'u' else ''}int{integer[2]}"
        return _SHORT.get(text, text)
    dims = ",".join(map(str, self.shape))
    return f"{self.element} {self.layout + ' ' if self.layout else ''}[{dims}]"


Type.__str__ = _spell
Type.__repr__ = lambda self: f"xir.Type({str(self)!r})"
Type.__reduce__ = lambda self: (parse_object, (self.json(),))
