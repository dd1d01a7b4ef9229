# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Progress of a long call: reported to a function of the caller, shown as a bar in a notebook, or in a line on a terminal."""

import sys
import time

PATIENCE, EACH = 0.3, 0.2      # seconds until the line appears, and between its updates, as of the program


class Line:
    """A line on a terminal, which is rewritten, and removed at the end."""

    shown = False

    def __init__(self, verb):
        self.verb, self.next = verb, time.monotonic() + PATIENCE

    def update(self, done, total, what):
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + EACH
        self.shown = True
        words = _words(done, total, what)[:60]
        text = f"xir: {self.verb}"[:79 - len(words)] + words
        sys.stderr.write("\r\033[K" + "".join(c if c.isprintable() else "?" for c in text))
        sys.stderr.flush()

    def end(self):
        if self.shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class Bar:
    """A bar in a notebook, which is empty at the end."""

    handle = None

    def __init__(self, verb, display):
        self.verb, self.display, self.next = verb, display, 0

    def _show(self, html):
        shown = self.display.HTML(html)
        if self.handle is None:
            self.handle = self.display.display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def update(self, done, total, what):
        if time.monotonic() < self.next and done != total:
            return
        self.next = time.monotonic() + EACH
        import html
        bar = f'<progress value="{done}" max="{total}"></progress>' if total else "<progress></progress>"
        self._show(f"{bar} {html.escape(self.verb + _words(done, total, what))}")

    def end(self):
        if self.handle is not None:
            self._show("")


class Told:
    """A function of the caller."""

    def __init__(self, call):
        self.update = call

    def end(self):
        pass


def _words(done, total, what):
    if what == "bytes":
        return f", {100 * done // total} %" if total else ""
    return f", {what} {done} of {total}" if total else f": {what}" if what else ""


def _notebook():
    """The module IPython.display, if this is a notebook that has imported it."""
    display, python = sys.modules.get("IPython.display"), sys.modules.get("IPython")
    shell = python and python.get_ipython()
    return display if shell is not None and hasattr(shell, "kernel") else None


def _shown(progress, verb):
    if callable(progress):
        return Told(progress)
    display = progress and _notebook()
    if display:
        return Bar(verb, display)
    return Line(verb) if progress and sys.stderr is not None and sys.stderr.isatty() else None


class watched:
    """A context for a long call: gives a function of (done, total), or None. `progress` is that of the caller: a
    function of (done, total, what), True for a bar or a line, or None. `what` is counted: "bytes", "op"."""

    def __init__(self, progress, verb, what):
        self.shown, self.what = _shown(progress, verb), what

    def __enter__(self):
        if self.shown is None:
            return None
        return lambda done, total: self.shown.update(done, total, self.what)

    def __exit__(self, *error):
        if self.shown is not None:
            self.shown.end()


class Passes(watched):
    """The same for passes: a watch of a pipeline, which counts the runs of passes. Their number is not known before."""

    runs = 0

    def __init__(self, progress):
        super().__init__(progress, "running passes", "")

    def __enter__(self):
        return self if self.shown is not None else None

    def before(self, event):
        self.shown.update(self.runs, 0, event.name)

    def after(self, event):
        self.runs += 1
