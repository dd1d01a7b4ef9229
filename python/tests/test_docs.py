# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The blocks of docs/python.md run, one after the other, and that of README.md."""

import re
import shutil

from conftest import TOP


def test_the_tour(tmp_path, monkeypatch, digits):
    shutil.copy(digits, tmp_path)
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (TOP / "docs/python.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)


def test_the_readme(tmp_path, monkeypatch, capsys):
    """Its one block runs where the example model is."""
    (block,) = re.findall(r"^```python\n(.*?)^```", (TOP / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples/models").mkdir(parents=True)
    shutil.copy(TOP / "examples/models/digits.onnx", tmp_path / "examples/models")
    exec(compile(block, "README.md", "exec"), {})
    assert "/c1/Conv 1 (3, 3, 1, 16)" in capsys.readouterr().out
    assert (tmp_path / "digits.fb").exists()
