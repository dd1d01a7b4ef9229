# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The exceptions of the package: one class for each status of the library."""

import warnings as _warnings
from collections import namedtuple as _namedtuple      # typing takes half of the time of an import


class Finding(_namedtuple("Finding", "severity code message file line column byte path target rule found needed mend",
                          defaults=(None,) * 5)):
    """A sentence with a place, as the library reports it: its severity ("error", "warning", "note"); the short name of
    a status ("bounds"); the message; the file, empty if the input was not one; the line from 1, or 0, and the column
    from 1, in bytes; the offset in the file, or None; the path, "/ops/17/inputs/1/dtype", empty for the whole. If it is
    about a rule of a target: the target; the name of the rule, what was found, what is needed and what mends it, each
    None if the rule does not say it. Otherwise all five are None."""

    __slots__ = ()

    def __str__(self):
        place = self.file
        if self.line:
            place += f":{self.line}:{self.column}"
        elif self.byte is not None and self.file:
            place += f"@{self.byte:#x}"
        kind = "" if self.severity == "error" else self.severity
        return ": ".join(part for part in (place, self.path, kind, self.message) if part)


class Error(Exception):
    """A failed call. `findings` is a list of Finding, in the order in which the library made them."""

    findings = ()

    def __str__(self):
        return str(self.args[-1]) if self.args else ""


class Warning(UserWarning):
    """A warning of the library."""


class MemoryError(Error, MemoryError):
    """Memory has run out."""


class IOError(Error, OSError):
    """The operating system refused to read or write."""


class SyntaxError(Error, ValueError):
    """Text or bytes that break the rules of their format."""


class TypeError(Error, TypeError):
    """A value of the wrong kind or class."""


class BoundsError(Error, ValueError, IndexError):
    """A number, an index or a length outside of what is allowed."""


class MissingError(Error, ValueError):
    """Something required is missing."""


class ExistsError(Error, ValueError):
    """An id, a name or a key is already taken."""


class UnknownError(Error, KeyError, AttributeError):
    """A class, an attribute, a word or a format that is not registered."""


class InUseError(Error, RuntimeError):
    """Refused, because something still refers to it."""


class CorruptError(Error, ValueError):
    """A file that contradicts itself."""


class InvalidError(Error, ValueError):
    """Well-formed, but against a rule of operations or networks."""


class StaleError(Error, ReferenceError):
    """The op or value of the object has been erased."""


class LimitError(Error, ValueError):
    """More, deeper or larger than the limits allow."""


class AbiError(Error, ImportError):
    """A plug-in that was made for another version."""


class UnsupportedError(Error, NotImplementedError):
    """This build or machine cannot do it, or no rule applies."""


class CancelledError(Error):
    """The call was interrupted."""


class BusyError(Error, RuntimeError):
    """Another thread, or a call that has not returned, uses the network."""


_BY_STATUS = {
    "memory": MemoryError, "io": IOError, "syntax": SyntaxError, "type": TypeError, "bounds": BoundsError,
    "missing": MissingError, "exists": ExistsError, "unknown": UnknownError, "in use": InUseError,
    "corrupt": CorruptError, "invalid": InvalidError, "stale": StaleError, "limit": LimitError, "abi": AbiError,
    "unsupported": UnsupportedError, "cancelled": CancelledError,
}


def make(status, findings, message, more):
    """Returns the exception of a status. Without findings, its text is `message`."""
    errors = [f for f in findings if f.severity == "error"]
    text = "\n".join(map(str, errors or findings)) or message
    if more:
        text += f"\nand {more} more"
    error = _BY_STATUS.get(status, Error)(text)
    error.findings = list(findings)
    return error


def warn(findings, notes):
    """Sends warnings, and notes if they are wanted, to Python's module `warnings`."""
    for finding in findings:
        if finding.severity == "warning" or (notes and finding.severity == "note"):
            _warnings.warn(str(finding), Warning, stacklevel=3)
