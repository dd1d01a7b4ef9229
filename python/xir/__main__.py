# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The program xir: python3 -m xir check net.onnx."""

import os
import pathlib
import shutil
import sys


def program():
    """Returns the path of the program: of the package in a wheel, of the build folder, or of the system; None if it
    is not installed."""
    package = pathlib.Path(__file__).resolve().parent
    build = package.parent.parent
    places = [package / "bin/xir"]
    if (build / "CMakeCache.txt").exists():
        places.append(build / "tools/xir")
    found = next((path for path in places if path.is_file()), None) or _other()
    return None if found is None else os.fspath(found)


def _other():
    """The program of the PATH, unless it is the entry point that has called this."""
    path = shutil.which("xir")
    return path if path and pathlib.Path(path).read_bytes()[:4] == b"\x7fELF" else None


def main():
    path = program()
    if path is None:
        sys.exit("xir: the program is not installed with the package")
    os.execv(path, ["xir", *sys.argv[1:]])


if __name__ == "__main__":
    main()
