# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The build backend of the package (PEP 517): it configures and builds the tree with CMake, and zips what the component
`wheel` installs: the package, with libxir.so and the program xir in folders of it. It needs what building.md lists for
the library and `python3-dev`, and nothing from the network.

    pip install --no-index --no-build-isolation ./python
    pip install … --config-settings build-dir=build/release ./python      builds in a folder of the tree, if it exists
                                                                          what has been built is not built again
    pip install … --config-settings cmake-args="-DXIR_LTO=ON" ./python     optimises across files, which takes longer
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[1]


def _version():
    return re.search(r"^project\(xir VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def _tag():
    return f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata(long=True):
    """Returns the metadata. CMake installs its short form."""
    text = (TOP / "python/METADATA.in").read_text()
    text = text.replace("@PROJECT_VERSION@", _version()).replace(
        "@XIR_LICENCE@", (TOP / "cmake/licence.txt").read_text().strip())
    return text + ("\n" + (TOP / "docs/python.md").read_text() if long else "")


def _wheel_file():
    return f"Wheel-Version: 1.0\nGenerator: xir\nRoot-Is-Purelib: false\nTag: {_tag()}\n"


def _cmake(*args):
    subprocess.run(["cmake", *map(str, args)], check=True)


def _build(folder, settings, stage):
    """Builds in a folder, and installs the component into `stage`."""
    if not (folder / "CMakeCache.txt").exists():
        off = [f"-DXIR_BUILD_{part}=OFF" for part in ("EXAMPLES", "PLUGINS", "BENCH", "TESTS")]
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        _cmake("-S", TOP, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release", *off, "-DXIR_BUILD_PYTHON=ON",
               "-DXIR_BUILD_TOOLS=ON", "-DXIR_LTO=OFF",
               *shlex.split(settings.get("cmake-args", "")))
    jobs = os.environ.get("JOBS") or str(os.cpu_count() or 1)
    _cmake("--build", folder, "--target", "xir_python", "xir", "--parallel", jobs)
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
            mode = 0o755 if ".so" in path.name or path.parent.name == "bin" else 0o644
            wheel.add(path.relative_to(stage).as_posix(), path.read_bytes(), mode)
        wheel.add(f"{info}/METADATA", _metadata().encode())
        wheel.add(f"{info}/entry_points.txt", (TOP / "python/entry_points.txt").read_bytes())
        wheel.add(f"{info}/WHEEL", _wheel_file().encode())
        wheel.close()
    return name


def _sources():
    """The files of the tree: those that git knows, or all but build folders."""
    if (TOP / ".git").exists() and shutil.which("git"):
        names = subprocess.run(["git", "-C", TOP, "ls-files", "-z"], check=True, capture_output=True).stdout
        return sorted(TOP / os.fsdecode(name) for name in names.split(b"\0") if name)
    return sorted(path for path in TOP.rglob("*")
                  if path.is_file() and not {"build", ".git"} & set(path.relative_to(TOP).parts))


def build_sdist(sdist_directory, config_settings=None):
    """Packs the tree, and returns the name of the archive. Its pyproject.toml is the one of python/, for its top."""
    top = f"xir-{_version()}"
    project = (TOP / "python/pyproject.toml").read_text().replace('backend-path = ["."]', 'backend-path = ["python"]')
    with tarfile.open(pathlib.Path(sdist_directory, f"{top}.tar.gz"), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in _sources():
            if path.exists():
                archive.add(path, f"{top}/{path.relative_to(TOP).as_posix()}", recursive=False)
        for name, text in (("pyproject.toml", project), ("PKG-INFO", _metadata())):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{top}.tar.gz"


def get_requires_for_build_sdist(config_settings=None):
    """Nothing of PyPI is needed."""
    return []


def get_requires_for_build_wheel(config_settings=None):
    """Nothing of PyPI is needed."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Writes the metadata alone, and returns the name of its folder."""
    info = pathlib.Path(metadata_directory, f"xir-{_version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(_metadata())
    (info / "WHEEL").write_text(_wheel_file())
    shutil.copy(TOP / "python/entry_points.txt", info)
    return info.name
