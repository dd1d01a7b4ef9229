# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""python/examples/page.py runs as it is written, over the files of files.py; so do the blocks of docs/python.md for a
type checker, and the stubs are those of the classes."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import TOP

import xir
from xir import stubs

EXAMPLES = TOP / "python/examples"


def run(folder, file):
    return subprocess.run([sys.executable, "-W", "error", EXAMPLES / file], cwd=folder, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def test_the_page_runs_as_written(tmp_path):
    run(tmp_path, "files.py")
    said = run(tmp_path, "page.py")
    assert "onnx::GlobalAveragePool" in said and "'w'" not in said and "drop-copies" in said
    assert "inputs/1/data: 1 of 4 elements, by at most 1" in said
    net = xir.load(tmp_path / "model.fb")
    conv = net["/layer1/0/conv1/Conv"]
    assert conv.stride_height == 2 and {op.name for op, _ in conv.output.users} == {"extra"} and net.check() == []


def test_the_stubs_are_those_of_the_classes():
    """Classes that other tests have made are not in the file."""
    text = subprocess.run([sys.executable, "-c", "from xir import stubs; print(stubs.stub(), end='')"], check=True,
                          text=True, stdout=subprocess.PIPE).stdout
    assert text == (TOP / "python/xir/F.pyi").read_text(), "run python3 -m xir.stubs python/xir/F.pyi"
    for cls in xir.classes():
        if cls.is_op and not cls.is_abstract:
            compile(stubs.function(cls), cls.key, "exec")


@pytest.fixture(scope="module")
def types_read(tmp_path_factory):
    """mypy's cache: the stubs of Python and of the package are read once for all pages."""
    return tmp_path_factory.mktemp("types")


# Where the package is, as its users have it.
FOLDER = os.path.dirname(os.path.dirname(xir.__file__))
once = pytest.mark.skipif("LD_PRELOAD" in os.environ or hasattr(sys, "gettotalrefcount"),
                          reason="the type checker says the same with a sanitizer and with assertions")


def page_in(folder, what):
    """The Python of a page, as a file."""
    file = folder / f"{what}.py"
    if what == "page":
        file.write_text((EXAMPLES / "page.py").read_text())
    else:
        page = TOP / ("docs/python.md" if what == "docs" else "docs/python-tour.md")
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        file.write_text("\n".join(blocks))
    return file


@once
@pytest.mark.parametrize("what", ["docs", "page", "tour"])
def test_a_type_checker_accepts(tmp_path, types_read, what):
    mypy = pytest.importorskip("mypy.api", reason="mypy is not installed")
    if os.path.basename(FOLDER) not in ("site-packages", "dist-packages"):      # mypy looks there by itself
        os.environ["MYPYPATH"] = FOLDER
    # What is not annotated in the page is the page's own function.
    more = ["--disable-error-code", "no-untyped-def"] if what == "page" else []
    said, wrong, code = mypy.run(["--strict", "--cache-dir", str(types_read), *more, str(page_in(tmp_path, what))])
    assert code == 0, said + wrong


@once
def test_pyright_accepts(tmp_path):
    """Another type checker, the npm package pyright, in the folder that XIR_PYRIGHT names."""
    if "XIR_PYRIGHT" not in os.environ:
        pytest.skip("XIR_PYRIGHT names no folder of pyright")
    for what in ("docs", "page", "tour"):
        page_in(tmp_path, what)
    (tmp_path / "wrong.py").write_text("import xir\nnet = xir.Network(1)\nnet.nosuch\n")
    config = {"extraPaths": [FOLDER], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    ran = subprocess.run(["node", os.environ["XIR_PYRIGHT"] + "/index.js", "-p", str(tmp_path), "--outputjson",
                          "--pythonpath", sys.executable], check=False, text=True, stdout=subprocess.PIPE)
    found = [(os.path.basename(d["file"]), d["range"]["start"]["line"], d["rule"])
             for d in json.loads(ran.stdout)["generalDiagnostics"] if d["severity"] == "error"]
    assert found == [("wrong.py", 1, "reportArgumentType"), ("wrong.py", 2, "reportAttributeAccessIssue")]
