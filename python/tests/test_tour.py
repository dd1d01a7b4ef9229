# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""docs/python-tour.md: 40 cells of at most five lines run one after the other."""

import re
import shutil

from conftest import TOP


def cells():
    return re.findall(r"^```python\n(.*?)^```", (TOP / "docs/python-tour.md").read_text(), re.MULTILINE | re.DOTALL)


def test_the_tour_is_short():
    found = cells()
    assert len(found) == 40 and max(len(cell.splitlines()) for cell in found) <= 5
    assert max(len(line) for cell in found for line in cell.splitlines()) <= 100


def test_the_cells_run(tmp_path, monkeypatch):
    for name in ("digits.onnx", "digits_inputs.npy", "digits_logits.npy"):
        shutil.copy(TOP / "examples/models" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    for i, cell in enumerate(cells(), 1):
        exec(compile(cell, f"cell {i}", "exec"), names)
