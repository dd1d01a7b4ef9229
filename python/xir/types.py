# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Texts of types: "fp32 NHWC [1,416,416,3]", as files of text have them, with the words of NumPy as well."""

from _operator import index      # of operator, whose import takes longer

from . import errors
from ._xir import Type, nearest, parse_object, read_object, tensor, write_object

_NUMPY = {"float16": "fp16", "float32": "fp32", "float64": "fp64", "bfloat16": "bf16"}
_WORDS = ("bool", "fp16", "fp32", "fp64", "bf16", "tf32", "fpe7m8", "fpe6m9",
          *(f"{sign}int{bits}" for sign in ("", "u") for bits in (4, 8, 16, 32, 64)))


def _read(text):
    """The object of a text, which may begin with a word of NumPy."""
    import re      # slow to import: not needed before the first type
    word, given = re.match(r"\s*(\w+)", text), text
    if word:
        text = _NUMPY.get(word[1], re.sub(r"\Asint(?=\d+\Z)", "int", word[1])) + text[word.end():]
    try:
        return read_object(text)
    except (errors.SyntaxError, errors.TypeError, errors.UnknownError) as error:
        first = error.findings[0]
        near = nearest(word[1], _WORDS) if word and first.column == 1 else None
        message = f"'{given}' is not a type: {first.message}" + (f"; did you mean '{near}'?" if near else "")
        raise errors.make(first.code, [first._replace(message=message, line=0, column=0)], "", 0) from None


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
    return parse_object(text) if text.lstrip().startswith("{") else _read(text)


def _spell(self):
    """The text; the dims of a network's symbols are their expressions."""
    text, dims = write_object(self), self.shape or ()
    if all(isinstance(dim, int) or dim == "?" for dim in dims):
        return text
    plain = ",".join("?" if isinstance(dim, str) else str(dim) for dim in dims)
    head, _, tail = text.rpartition(f"[{plain}]")
    return f"{head}[{','.join(map(str, dims))}]{tail}"


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
