# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The build backend of the package (PEP 517): it configures and builds the tree with CMake, and zips what the component
`wheel` installs: the package, with libxir.so next to its extension. It needs what building.md lists for the library and
`python3-dev`, and nothing from the network.

    pip install --no-index --no-build-isolation ./python
    pip install … --config-settings build-dir=build/release ./python      builds in a folder of the tree, if it exists
                                                                          what has been built is not built again
    pip install … --config-settings cmake-args="-DXIR_LTO=OFF" ./python
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[1]


def _version():
    return re.search(r"^project\(xir VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def _licence():
    return (TOP / "cmake/licence.txt").read_text().strip()


def _tag():
    return f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata():
    return "\n".join([
        "Metadata-Version: 2.1", "Name: xir", f"Version: {_version()}",
        "Summary: Compiler intermediate representation of neural networks", "Requires-Python: >=3.11",
        f"License: {_licence()}",
        "Description-Content-Type: text/markdown", "", (TOP / "docs/python.md").read_text()])


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: xir\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _cmake(*args):
    subprocess.run(["cmake", *map(str, args)], check=True)


def _build(folder, settings, stage):
    """Builds in a folder, and installs the component into `stage`."""
    if not (folder / "CMakeCache.txt").exists():
        off = [f"-DXIR_BUILD_{part}=OFF" for part in ("TOOLS", "EXAMPLES", "PLUGINS", "BENCH", "TESTS")]
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        _cmake("-S", TOP, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release", *off, "-DXIR_BUILD_PYTHON=ON",
               *shlex.split(settings.get("cmake-args", "")))
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 1)
    _cmake("--build", folder, "--target", "xir_python", "--parallel", jobs)
    _cmake("--install", folder, "--prefix", stage, "--component", "wheel", "--strip")


class _Wheel:
    """A zip file with the list of what is in it. Equal contents give equal bytes."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = f"{info}/RECORD"
        self.lines = []

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.lines.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self):
        self.zip.writestr(zipfile.ZipInfo(self.record, (1980, 1, 1, 0, 0, 0)),
                          "".join(self.lines) + f"{self.record},,\n")
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Builds the wheel, and returns its name."""
    settings = config_settings or {}
    info = f"xir-{_version()}.dist-info"
    name = f"xir-{_version()}-{_tag()}.whl"
    with tempfile.TemporaryDirectory() as temporary:
        folder = TOP / settings.get("build-dir", pathlib.Path(temporary, "build"))
        stage = pathlib.Path(temporary, "stage")
        _build(folder, settings, stage)
        wheel = _Wheel(pathlib.Path(wheel_directory, name), info)
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            wheel.add(path.relative_to(stage).as_posix(), path.read_bytes(), 0o755 if ".so" in path.name else 0o644)
        wheel.add(f"{info}/METADATA", _metadata().encode())
        wheel.add(f"{info}/WHEEL", _wheel_file().encode())
        wheel.close()
    return name


def get_requires_for_build_wheel(config_settings=None):
    """Nothing of PyPI is needed."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata alone, and returns the name of its folder."""
    info = pathlib.Path(metadata_directory, f"xir-{_version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(_metadata())
    (info / "WHEEL").write_text(_wheel_file())
    return info.name
