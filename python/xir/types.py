# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Short texts of types: "fp32 NHWC [1,416,416,3]"."""

from _operator import index      # of operator, whose import takes longer

from . import errors
from ._xir import Type, parse_object, tensor

_FLOATS = {"fp16": "@fp(16)", "fp32": "@fp(32)", "fp64": "@fp(64)", "bf16": "@bf(16)", "tf32": "@tf(32)"}
_NUMPY = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16"}
_SHORT = {spelling: word for word, spelling in _FLOATS.items()}
_TEXT = r"\s*(?P<element>\S+?)(?:\s+(?P<layout>[A-Za-z*0-9]+))?(?:\s*\[(?P<dims>[^\]]*)\])?\s*\Z"


def _element(word):
    import re      # slow to import: not needed before the first type
    if word == "bool":
        return "@bool"
    integer = re.fullmatch(r"(u?)(?:s?)int(\d+)", word)
    if integer:
        return f"@{'u' if integer[1] else 's'}int({integer[2]})"
    word = _NUMPY.get(word, word)
    return _FLOATS.get(word, word)


def _word(given):
    """The text of an element type of NumPy or Python: numpy.float32, numpy.dtype("f4"), float."""
    if isinstance(given, type) or hasattr(given, "itemsize"):
        try:
            import numpy
            return numpy.dtype(given).name
        except (ImportError, TypeError):
            pass
    raise errors.make("type", [], f"a type is a text, or a type of elements, not {type(given).__name__}", 0)


def _dims(shape):
    try:
        dims = tuple(shape)
    except TypeError:
        raise errors.make("type", [], f"a shape is a sequence of dims, not {type(shape).__name__}", 0) from None
    made = []
    for dim in dims:
        unknown = dim is None or dim == "?" or (not isinstance(dim, str) and dim == -1)
        try:
            made.append(-1 if unknown else index(dim))
        except TypeError:
            raise errors.make("syntax", [], f"'{dim}' is not a dim: expected a number or ?", 0) from None
    return tuple(made)


def parse(text, shape=None, layout=None):
    """Returns the Type of a text: an element type, then its layout and dims. A dim that is unknown is "?". The dims may
    be given apart, with or without a layout; then a tensor stands for its elements."""
    if shape is not None:
        if isinstance(text, Type):
            element = text.element or text
        else:
            element = parse(text)
            element = element.element or element
        made = _dims(shape)
        if any(dim < -1 for dim in made):
            raise errors.make("bounds", [], "a dim is negative", 0)
        return tensor(element, layout, made)
    if layout is not None:
        raise errors.make("syntax", [], "a type has a layout, but no dims", 0)
    if not isinstance(text, str):
        text = _word(text)
    if text.lstrip().startswith("{"):
        return parse_object(text)
    import json
    import re
    found = re.match(_TEXT, text)
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
        import json
        import re
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


def _dtype(self):
    """The type of the elements as NumPy has it; None if neither NumPy nor ml_dtypes has it."""
    import re
    import numpy
    name = str(self.element or self)
    plain = {short: word for word, short in _NUMPY.items()}.get(name, name)
    if re.fullmatch(r"float(16|32|64)|u?int(8|16|32|64)|bool", plain):
        return numpy.dtype(plain)
    try:
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, plain))
    except (ImportError, AttributeError, TypeError):
        return None


Type.dtype = property(_dtype)
Type.__str__ = _spell
Type.__repr__ = lambda self: f"xir.Type({str(self)!r})"
Type.__reduce__ = lambda self: (parse_object, (self.json(),))
