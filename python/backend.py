# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""The build backend of the package (PEP 517): it configures and builds the tree with CMake, and zips what the component
`wheel` installs: the package, with libxir.so and the program xir in folders of it. It needs what building.md lists for
the library and `python3-dev`, and nothing from the network. Libraries whose archives are installed become part of
libxir.so. If the wheel then needs the C library alone, its tag says which version; otherwise it is for this system.

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
import struct
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parents[1]


def _version():
    return re.search(r"^project\(xir VERSION ([\d.]+)", (TOP / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


_OF_GLIBC = re.compile(r"lib(c|m|dl|rt|pthread)\.so\.\d+|ld-linux.*|libxir\.so.*")


def _needs(data):
    """Returns the libraries that a file of ELF needs, and the greatest number N of the versions GLIBC_2.N."""
    if data[:5] != b"\x7fELF\x02":      # only that of 64 bits is read
        return ["?"], 0
    at, = struct.unpack_from("<Q", data, 40)
    size, n = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQI", data, at + i * size) for i in range(n)]
    needed = []
    for _, kind, _, _, offset, length, link in sections:
        if kind != 6:      # SHT_DYNAMIC
            continue
        texts = sections[link][4]
        for tag, value in struct.iter_unpack("<QQ", data[offset:offset + length]):
            if tag == 1:      # DT_NEEDED
                needed.append(data[texts + value:data.index(b"\0", texts + value)].decode())
    return needed, max((int(version) for version in re.findall(rb"\0GLIBC_2\.(\d+)", data)), default=0)


def _tag(stage):
    """The tag of what is staged: by the versions of the C library's symbols, if no other library is needed."""
    system, machine = sysconfig.get_platform().replace(".", "_").split("-", 1)
    files = [_needs(data) for data in (path.read_bytes() for path in stage.rglob("*") if path.is_file())
             if data[:4] == b"\x7fELF"]
    if system == "linux" and all(_OF_GLIBC.fullmatch(name) for names, _ in files for name in names):
        system = f"manylinux_2_{max(version for _, version in files)}"
    return f"cp311-abi3-{system}_{machine.replace('-', '_')}"


def _metadata(long=True):
    """Returns the metadata. CMake installs its short form."""
    text = (TOP / "python/METADATA.in").read_text()
    text = text.replace("@PROJECT_VERSION@", _version()).replace(
        "@XIR_LICENCE@", (TOP / "cmake/licence.txt").read_text().strip())
    return text + ("\n" + (TOP / "docs/python.md").read_text() if long else "")


def _wheel_file(tag):
    return f"Wheel-Version: 1.0\nGenerator: xir\nRoot-Is-Purelib: false\nTag: {tag}\n"


def _cmake(*args):
    subprocess.run(["cmake", *map(str, args)], check=True)


def _build(folder, settings, stage):
    """Builds in a folder, and installs the component into `stage`."""
    if not (folder / "CMakeCache.txt").exists():
        off = [f"-DXIR_BUILD_{part}=OFF" for part in ("EXAMPLES", "PLUGINS", "BENCH", "TESTS")]
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        _cmake("-S", TOP, "-B", folder, *ninja, "-DCMAKE_BUILD_TYPE=Release", *off, "-DXIR_BUILD_PYTHON=ON",
               "-DXIR_BUILD_TOOLS=ON", "-DXIR_LTO=OFF", "-DXIR_STATIC_LIBRARIES=ON",
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
    with tempfile.TemporaryDirectory() as temporary:
        folder = TOP / settings.get("build-dir", pathlib.Path(temporary, "build"))
        stage = pathlib.Path(temporary, "stage")
        _build(folder, settings, stage)
        tag = _tag(stage)
        name = f"xir-{_version()}-{tag}.whl"
        wheel = _Wheel(pathlib.Path(wheel_directory, name), info)
        for path in sorted(path for path in stage.rglob("*") if path.is_file()):
            mode = 0o755 if ".so" in path.name or path.parent.name == "bin" else 0o644
            wheel.add(path.relative_to(stage).as_posix(), path.read_bytes(), mode)
        wheel.add(f"{info}/METADATA", _metadata().encode())
        wheel.add(f"{info}/entry_points.txt", (TOP / "python/entry_points.txt").read_bytes())
        wheel.add(f"{info}/WHEEL", _wheel_file(tag).encode())
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
    """Writes the metadata alone, and returns the name of its folder. The tag is known once the wheel is built."""
    info = pathlib.Path(metadata_directory, f"xir-{_version()}.dist-info")
    info.mkdir()
    (info / "METADATA").write_text(_metadata())
    shutil.copy(TOP / "python/entry_points.txt", info)
    return info.name
