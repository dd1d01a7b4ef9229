# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Operations as functions: F.Conv2d(x, weights, stride=2). They are made from the classes of the library and of the
plug-ins that are loaded, when they are first used."""

import keyword
import re

from ._xir import Class, Function, classes, dialect_class
from .errors import UnknownError

# The shorthands of xir/sugar.h, for any number of axes: one number for those of the attributes that a class has.
_SHORTHANDS = {
    "stride":   ("stride_depth", "stride_height", "stride_width"),
    "dilation": ("dilation_depth", "dilation_height", "dilation_width"),
    "pad":      ("pad_front", "pad_back", "pad_top", "pad_bottom", "pad_left", "pad_right"),
    "k":        ("pool_depth", "pool_height", "pool_width"),
}
_LAYOUT = re.compile(r"\b([NHWDCIOL*]+)(?:,)? in any order")


class Operator(Function):
    """A function that adds an operation of one class to the network of its inputs."""

    @property
    def __name__(self):
        return self.cls.key.split("::")[-1]

    @property
    def __doc__(self):
        cls = self.cls
        lines = [cls.doc, ""]
        for title, ports in (("inputs", cls.inputs), ("outputs", cls.outputs)):
            lines += [title] + [f"    {port['name']}: {port['doc']}" for port in ports] + [""]
        if cls.fields:
            lines += ["attributes"] + [f"    {_field_text(field)}" for field in cls.fields] + [""]
        for title, notes in (("computes", cls.formula), ("gives", cls.gives), ("unlike", cls.unlike)):
            if notes:
                lines += [title] + [f"    {note}" for note in notes] + [""]
        return "\n".join(lines).rstrip() + "\n"

    @property
    def __signature__(self):
        import inspect      # slow to import, and rarely needed
        kinds = inspect.Parameter
        inputs = []
        for port in self.cls.inputs:
            kind = kinds.VAR_POSITIONAL if port["kind"] == "any" else kinds.POSITIONAL_OR_KEYWORD
            default = None if port["kind"] == "optional" else kinds.empty
            inputs.append(kinds(_word(port["name"]), kind, default=default))
        taken = {port.name for port in inputs}
        fields = {field["name"] for field in self.cls.fields}
        covered = {name for word, names in _shorthands(fields).items() for name in names}
        named = [kinds(_word(field["name"]), kinds.KEYWORD_ONLY, default=field["default"] if field["has_default"]
                       else kinds.empty if field["required"] and field["name"] not in covered else None)
                 for field in self.cls.fields if field["name"] not in taken]
        named += [kinds(word, kinds.KEYWORD_ONLY, default=None)
                  for word in (*_shorthands(fields), "name", "net") if word not in taken | fields]
        return inspect.Signature(inputs + named)

    def __repr__(self):
        return f"<function xir.F.{self.__name__}>"


def _word(name):
    """The name of an argument: an attribute that is a keyword of Python is written `lambda_`."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _field_text(field):
    text = f"{field['name']}: {field['type']}"
    if field["has_default"]:
        text += f" = {field['default']}"
    if field["least"] is not None:
        text += f", from {field['least']}"
    if field["greatest"] is not None:
        text += f", to {field['greatest']}"
    return f"{text}: {field['doc']}"


def _shorthands(fields):
    return {word: tuple(name for name in names if name in fields) for word, names in _SHORTHANDS.items()
            if word not in fields and not fields.isdisjoint(names)}


def _make(cls):
    fields = {field["name"] for field in cls.fields}
    shorthands = _shorthands(fields) | {_word(name): (name,) for name in fields if keyword.iskeyword(name)}
    layouts = tuple(found[1] if (found := _LAYOUT.search(port["doc"])) else None for port in cls.inputs)
    required = tuple(field["name"] for field in cls.fields if field["required"])
    return Operator(cls, shorthands, layouts, required)


def _is_addable(cls):
    return cls.is_op and not cls.is_abstract


def _find(name):
    """Returns the class icraft::xir::NAME, or the only one of a plug-in or a program whose key ends with ::NAME."""
    try:
        cls = Class(name)
    except UnknownError:
        found = [cls for cls in classes() if _is_addable(cls) and cls.key.endswith(f"::{name}")]
        if not found:
            raise
        if len(found) > 1:
            keys = ", ".join(cls.key for cls in found)
            raise UnknownError(f"'{name}' stands for several classes: use one of {keys} as F[key]") from None
        return found[0]
    return _addable(cls)


def _addable(cls):
    if not _is_addable(cls):
        raise UnknownError(f"'{cls.key}' is not a class of operations that can be added")
    return cls


class Functions:
    """F.NAME is the function of the class icraft::xir::NAME, or of a plug-in's class ::NAME if only one has that name;
    F["onnx::Conv"] that of any key. An op of another format has the attributes that are given, whose types are not
    known before conversion, and `outputs=2` says how many outputs it has."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = _make(_find(name))
        setattr(self, name, made)
        return made

    def __getitem__(self, key):
        return _make(_addable(dialect_class(key) or Class(key)))

    def __dir__(self):
        return sorted({cls.key.split("::")[-1] for cls in classes() if _is_addable(cls)})


Class.__reduce__ = lambda self: (Class, (self.key,))
F = Functions()
