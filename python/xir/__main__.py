# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The program xir: python3 -m xir check net.onnx."""

import os
import pathlib
import shutil
import sys


def program():
    """Returns the path of the program: of the package in a wheel, of the build folder, of the prefix that the package
    is installed in, or of the system; None if it is not installed."""
    package = pathlib.Path(__file__).resolve().parent
    build = package.parent.parent
    places = [package / "bin/xir"]
    if (build / "CMakeCache.txt").exists():
        places.append(build / "tools/xir")
    found = next((path for path in places if path.is_file()), None) or _other(package)
    return None if found is None else os.fspath(found)


def _other(package):
    """The program of the prefix or of the PATH, but not the entry point that has called this."""
    found = shutil.which("xir")
    places = [parent / "bin/xir" for parent in list(package.parents)[:5]] + ([pathlib.Path(found)] if found else [])
    return next((path for path in places if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"), None)


def main():
    path = program()
    if path is None:
        sys.exit("xir: the program is not installed with the package")
    os.execv(path, ["xir", *sys.argv[1:]])


if __name__ == "__main__":
    main()
