# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Words: of names that are not found, of values, and of the options of passes."""

from . import _xir, errors


def unknown(sentence, word, names):
    """The exception for a name that is not one of `names`: it says which one is near, or lists the first of them."""
    names = [name for name in names if name]
    near = _xir.nearest(word, names) if isinstance(word, str) else None
    more = f"; did you mean '{near}'?" if near else ""
    if not near and names:
        more = f"; there are {', '.join(names[:10])}" + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    return errors.make("unknown", [], f"{sentence} {word!r}{more}", 0)


def one_of(what, word, words):
    """Returns the position of a word among those that are allowed."""
    if word not in words:
        raise unknown(f"{what} is not", word, [each for each in words if isinstance(each, str)])
    return words.index(word)


def value_named(net, word):
    """Returns the value that a text stands for: the name of a value, or of an op, whose first output is meant; OP:n,
    output n of an op; #17, the value of that id."""
    if isinstance(word, _xir.Value):
        raise errors.InvalidError("the value is of another network")
    if not isinstance(word, str):
        raise errors.TypeError(f"a value is named by a text, not by {type(word).__name__}")
    op, _, number = word.rpartition(":")
    for find in (lambda: net.value(word), lambda: net[word].outputs[0],
                 lambda: net[op].outputs[int(number)], lambda: net.value(int(word.removeprefix("#")))):
        try:
            return find()
        except (errors.UnknownError, IndexError, ValueError):
            continue
    names = {name: None for each in net for name in (each.name, *(value.name for value in each.outputs))}
    raise unknown("the network has no value", word, names)


def quoted(text):
    """A text as pipelines have it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def step(name, options):
    """The step of a pipeline for a pass with options as keywords: f(limit=3) is f{limit=3}."""
    words = [f"{key.replace('_', '-')}={quoted(value) if isinstance(value, str) else str(value).lower()}"
             for key, value in options.items()]
    return f"{name}{{{','.join(words)}}}" if words else name
