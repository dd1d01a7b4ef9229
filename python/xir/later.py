# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""A quick `import xir`: attributes whose module is imported when they are first used, and contexts without
contextlib, which takes longer to import than the rest of a module."""


class Later:
    """An attribute of a class that a module of the package sets when it is imported."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __get__(self, one, kind=None):
        __import__(f"xir.{self.module}")
        return getattr(kind if one is None else one, self.name)


def set_later(kind, module, names):
    """Sets attributes of a class that a module will set, too."""
    for name in names.split():
        setattr(kind, name, Later(module, name))


class Context:
    """The context of a generator: what it yields is entered; an exception is raised at its yield."""

    def __init__(self, steps):
        self.steps = steps

    def __enter__(self):
        return next(self.steps)

    def __exit__(self, kind, error, trace):
        if error is None:
            next(self.steps, None)
            return False
        try:
            self.steps.throw(error)
        except BaseException as raised:      # noqa: BLE001, the same one goes on
            if raised is error:
                error.__traceback__ = trace      # without this frame, which would keep the exception alive
                return False
            raise
        return False


def context(function):
    """A decorator: calls of the generator function are contexts."""
    def call(*args, **named):
        return Context(function(*args, **named))
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function      # whose signature is shown
    return call
