"""The blocks of docs/python.md run, one after the other."""

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
