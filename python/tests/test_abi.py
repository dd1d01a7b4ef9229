# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The extension uses the limited API of Python 3.11 and nothing else of Python."""

import pathlib
import re
import shutil
import subprocess

import pytest

import xir


def test_only_the_limited_api():
    listed = pathlib.Path("/usr/lib/python3.11/test/test_stable_abi_ctypes.py")      # of libpython3.11-testsuite
    if not shutil.which("nm") or not listed.exists():
        pytest.skip("nm, or the list of the limited API, is not installed")
    names = set(re.findall(r'"(_?Py\w+)"', listed.read_text()))
    command = ["nm", "-D", "--undefined-only", xir._xir.__file__]
    used = set(re.findall(r"\b(_?Py\w+)$", subprocess.run(command, check=True, capture_output=True, text=True).stdout,
                          re.MULTILINE))
    used -= {"PyModule_Create2"}      # it has another name in builds that trace references, so that the list lacks it
    assert len(used) > 50 and used <= names, used - names
