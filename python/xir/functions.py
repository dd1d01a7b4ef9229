"""Operations as functions: F.Conv2d(x, weights, stride=2). They are made from the classes of the library and of the
plug-ins that are loaded, when they are first used."""

import inspect
import keyword
import re

from ._xir import Class, Function, classes
from .errors import UnknownError

# The shorthands of xir/sugar.h: one number for several attributes.
_SHORTHANDS = {
    "stride":   ("stride_height", "stride_width"),
    "dilation": ("dilation_height", "dilation_width"),
    "pad":      ("pad_top", "pad_bottom", "pad_left", "pad_right"),
    "k":        ("pool_height", "pool_width"),
}
_LAYOUT = re.compile(r"\b([NHWDCIOL*]+)(?:,)? in any order")


class Operator(Function):
    """A function that adds an operation of one class to the network of its inputs."""

    @property
    def __name__(self):
        return _short(self.cls.key)

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
        kinds = inspect.Parameter
        inputs = []
        for port in self.cls.inputs:
            kind = kinds.VAR_POSITIONAL if port["kind"] == "any" else kinds.POSITIONAL_OR_KEYWORD
            default = None if port["kind"] == "optional" else kinds.empty
            inputs.append(kinds(_word(port["name"]), kind, default=default))
        taken = {port.name for port in inputs}
        named = [kinds(_word(field["name"]), kinds.KEYWORD_ONLY,
                       default=field["default"] if field["has_default"] else kinds.empty if field["required"] else None)
                 for field in self.cls.fields if field["name"] not in taken]
        named += [kinds(word, kinds.KEYWORD_ONLY, default=None)
                  for word in ("name", "net") if word not in taken | {field.name for field in named}]
        return inspect.Signature(inputs + named)

    def __repr__(self):
        return f"<function xir.F.{self.__name__}>"


def _short(key):
    return key.removeprefix("icraft::xir::")


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


def _make(cls):
    fields = {field["name"] for field in cls.fields}
    shorthands = {word: tuple(name for name in names if name in fields) for word, names in _SHORTHANDS.items()
                  if word not in fields and fields.issuperset(names)}
    shorthands |= {_word(name): (name,) for name in fields if keyword.iskeyword(name)}
    layouts = tuple(found[1] if (found := _LAYOUT.search(port["doc"])) else None for port in cls.inputs)
    return Operator(cls, shorthands, layouts)


class Functions:
    """F.NAME is the function of the class icraft::xir::NAME; F["onnx::Conv"] that of any key."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = self[name]
        setattr(self, name, made)
        return made

    def __getitem__(self, key):
        cls = Class(key)
        if not cls.is_op or cls.is_abstract:
            raise UnknownError(f"'{key}' is not a class of operations that can be added")
        return _make(cls)

    def __dir__(self):
        return sorted(_short(cls.key) for cls in classes() if cls.is_op and not cls.is_abstract and
                      cls.key.startswith("icraft::xir::"))


F = Functions()
