# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Tests of a whole process: plug-ins, fork, the end of the interpreter, pickles, a wheel."""

import copy
import importlib.util
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import tarfile
import textwrap

import numpy as np
import pytest
from conftest import TOP

import xir
from xir import F

BUILD = pathlib.Path(os.environ.get("XIR_BUILD", "/nonexistent"))


def python(code, *args, leaks=True):
    """Runs a program in a fresh interpreter, and returns what it prints. Without `leaks`, a sanitizer looks for none."""
    environment = dict(os.environ)
    if not leaks and "ASAN_OPTIONS" in environment:
        environment["ASAN_OPTIONS"] += ":detect_leaks=0"
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), *args], text=True, capture_output=True,
                          env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not (BUILD / "plugins/customop.so").exists(), reason="the plug-ins are not built")
def test_a_plugin_in_a_fresh_interpreter():
    assert python("""
        import sys, xir
        before = len(xir.classes())
        xir.load_plugin(sys.argv[1]); xir.load_plugin(sys.argv[1])
        net = xir.Network()
        x = net.input("x", "fp32 NHWC [1,4,4,3]")
        print(len(xir.classes()) - before, "ImageMake" in dir(xir.F), xir.F.ImageMake.cls.key, "sleep_time" in str(
            __import__("inspect").signature(xir.F.ImageMake)))
        """, BUILD / "plugins/customop.so").split() == ["3", "True", "customop::ImageMake", "True"]
    with pytest.raises(OSError):
        xir.load_plugin(BUILD / "plugins/nothing.so")
    with pytest.raises(xir.Error):
        xir.load_plugin(xir._xir.__file__)


def test_one_interpreter_has_the_module():
    """Another one is refused, and the end of that changes nothing; the same one may import as often as it likes."""
    assert python("""
        import sys, _xxsubinterpreters as interpreters, xir
        net = xir.Network()
        for _ in range(2):
            other = interpreters.create()
            try:
                interpreters.run_string(other, "import xir")
            except interpreters.RunFailedError as error:
                print("another interpreter" in str(error))
            interpreters.destroy(other)
        old = xir._xir
        for name in [name for name in sys.modules if name.startswith("xir")]: del sys.modules[name]
        import xir
        print(xir._xir is old, type(xir.Network()) is type(net), len(net))
        """).split() == ["True", "True", "True", "True", "0"]


def test_the_end_of_the_interpreter():
    """Networks, views, borrowed arrays, passes and classes exist when it ends, in globals, cycles and threads, one of
    which is at work, and keeps what it has."""
    assert python("""
        import threading, numpy as np, xir
        from xir import F
        class Made(xir.Op):
            def infer(self, x): return x
            def run(self, x): return x
        class Holder:
            def __del__(self):
                try:
                    print(len(self.net), self.net.check() == [], self.op.name)
                    self.net.run(np.zeros((1, 4), "f4"))
                except Exception as error:
                    print(type(error).__name__)
        @xir.pass_("nothing")
        def nothing(net, o): return 0
        holder = Holder(); holder.me = holder
        holder.net = net = xir.Network()
        net.output(F.Add(Made(net.input("x", "fp32 NC [1,4]"), name="made"),
                         xir.params(net, np.ones((1, 4), "f4"), layout="NC")))
        holder.op, view = net["made"], net.params[0].numpy()
        capsule = net.params[0].__dlpack__(max_version=(1, 0))
        def work():
            while True: xir.Pipeline("infer,nothing").run(net.clone()); net.run(np.zeros((1, 4), "f4"))
        thread = threading.Thread(target=work, daemon=True); thread.start()
        net.run(np.zeros((1, 4), "f4"))
        """, leaks=False).split()[:1] in (["4"], [])


def test_a_child_after_fork_uses_the_networks(digits):
    net = xir.load(digits)
    xir.optimize(net)
    child = os.fork()
    if not child:
        try:
            F.ReLU(net.outputs[0])
            xir.Pipeline("infer,dce").run(net, verify=True)
            net.run(np.zeros((1, 1, 8, 8), "f4"))
            os._exit(0 if xir.read(net.write("fb")).equal(net) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert net.check() == []


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles(tiny, protocol):
    tiny.tags["note"] = {"a": [1, 2.5]}
    again = pickle.loads(pickle.dumps(tiny, protocol))
    assert again.equal(tiny) and again.tags["note"] == {"a": [1, 2.5]} and again["conv"].weights.numpy().sum() == 108


def test_parameters_are_out_of_band(tiny):
    buffers = []
    data = pickle.dumps(tiny, 5, buffer_callback=buffers.append)
    assert [buffer.raw().nbytes for buffer in buffers] == [432] and len(data) < len(pickle.dumps(tiny, 5)) - 400
    again = pickle.loads(data, buffers=buffers)
    assert again.equal(tiny)
    assert again["conv"].weights.numpy().ctypes.data == tiny["conv"].weights.numpy().ctypes.data      # not copied
    with pytest.raises(xir.Error):
        pickle.loads(data, buffers=[b"short"])
    make, (structure, parts) = tiny.__reduce_ex__(5)
    assert make(structure, parts).equal(tiny)
    for wrong in ([], parts * 2):
        with pytest.raises(xir.CorruptError, match="expected 1"):
            make(structure, wrong)
    for kind in (tiny["conv"].output.type, xir.Class("ReLU")):
        assert pickle.loads(pickle.dumps(kind)) == kind == copy.copy(kind)
    for thing in (tiny["conv"], tiny["conv"].output, tiny["conv"].weights.array()):
        with pytest.raises(TypeError):
            pickle.dumps(thing)


def test_pictures(tiny, tmp_path):
    page = tiny._repr_html_()
    assert page.startswith("<table>") and "<iframe srcdoc=" in page and "MaxPool2d" in page
    assert tiny.draw().startswith("<svg") or "<svg" in tiny.draw()
    assert "digraph" in tiny.draw(format="dot") and tiny.draw(tmp_path / "net.html") is None
    assert "<!doctype html>" in (tmp_path / "net.html").read_text().lower()
    with pytest.raises(xir.UnknownError):
        tiny.draw(tmp_path / "net.png")
    assert xir.Network("<b>")._repr_html_().count("&lt;b&gt;") == 1


def test_the_sources_are_packed(tmp_path):
    """An archive that pip could build from: the project's file at its top, and what it builds."""
    sys.path.insert(0, str(TOP / "python"))
    try:
        import backend
    finally:
        sys.path.pop(0)
    with tarfile.open(tmp_path / backend.build_sdist(tmp_path)) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
        project = archive.extractfile(next(name for name in archive.getnames() if name.endswith("/pyproject.toml")
                                           and name.count("/") == 1)).read().decode()
    assert {"pyproject.toml", "PKG-INFO", "CMakeLists.txt", "LICENSE", "python/backend.py", "include/xir/xir.h"} <= names
    assert 'backend-path = ["python"]' in project and not any(name.startswith("build/") for name in names)


def test_the_program_is_a_module():
    if not (BUILD / "tools/xir").exists():
        pytest.skip("the program is not built")
    said = subprocess.run([sys.executable, "-m", "xir", "--version"], check=True, text=True, capture_output=True).stdout
    assert xir.__version__ in said


def test_the_program_of_the_prefix_is_found(tmp_path, monkeypatch):
    """CMake installs the package and the program apart; an entry point of that name is not the program."""
    from xir import __main__ as module
    package, program = tmp_path / "lib/python3.11/dist-packages/xir", tmp_path / "bin/xir"
    package.mkdir(parents=True)
    program.parent.mkdir()
    monkeypatch.setattr(module, "__file__", str(package / "__main__.py"))
    monkeypatch.setenv("PATH", str(program.parent))
    assert module.program() is None
    program.write_bytes(b"#!/bin/sh\n")
    program.chmod(0o755)
    assert module.program() is None
    program.write_bytes(b"\x7fELF and more")
    assert module.program() == str(program)


def test_the_tag_of_a_wheel(tmp_path):
    """It has the version of the C library that the symbols need, unless other libraries are needed."""
    spec = importlib.util.spec_from_file_location("backend", TOP / "python/backend.py")
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    extension = pathlib.Path(xir._xir.__file__)
    needed, version = backend._needs(extension.read_bytes())
    assert {"libc.so.6"} <= set(needed) and 2 <= version < 100
    shutil.copy(extension, tmp_path)
    (tmp_path / "other.so").write_bytes(b"no ELF")
    if all(backend._OF_GLIBC.fullmatch(name) for name in needed):      # but for sanitizers and coverage
        assert f"-manylinux_2_{version}_" in backend._tag(tmp_path)
    (tmp_path / "strange.so").write_bytes(b"\x7fELF\x01 is of 32 bits")
    assert "-linux_" in backend._tag(tmp_path)


@pytest.mark.skipif("LD_PRELOAD" in os.environ or hasattr(sys, "gettotalrefcount"),
                    reason="a wheel is not for a sanitizer, nor for the interpreter with assertions")
@pytest.mark.skipif(not (BUILD / "CMakeCache.txt").exists(), reason="XIR_BUILD is not the build folder")
def test_a_wheel_in_an_empty_environment(tmp_path):
    """The wheel of this build is made offline, installed, and runs the page. NumPy is the system's."""
    for module in ("venv", "ensurepip", "pip"):
        pytest.importorskip(module)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP"))}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "env"],
                   check=True, env=environment)
    inside = tmp_path / "env/bin/python3"
    subprocess.run([inside, "-m", "pip", "install", "-q", "--no-index", "--no-build-isolation", "--config-settings",
                    f"build-dir={BUILD}", TOP / "python"], check=True, env=environment)
    moved = tmp_path / "moved"      # libxir.so is found next to the extension, not in the build folder
    site = next((tmp_path / "env/lib").glob("python3*/site-packages"))
    assert [path.name for path in (site / "xir").glob("*.so*")] == ["_xir.abi3.so"]
    assert list((site / "xir").glob("**/libxir.so*"))
    for command in ([inside, "-m", "xir"], [tmp_path / "env/bin/xir"]):
        said = subprocess.run([*command, "info", TOP / "examples/models/digits.onnx"], check=True, text=True,
                              env=environment, stdout=subprocess.PIPE, cwd=tmp_path).stdout
        assert "Conv" in said
    assert subprocess.run([inside, "-m", "xir", "nothing"], env=environment, stderr=subprocess.DEVNULL).returncode
    said = subprocess.run([inside, "-c", "import xir; print(xir.__file__); [print(line.split()[-1]) for line in "
                           "open('/proc/self/maps') if 'libxir' in line]"], check=True, text=True, env=environment,
                          stdout=subprocess.PIPE, cwd=tmp_path).stdout
    assert all(str(site) in line for line in said.split()), said
    licences = next(site.glob("xir-*.dist-info")) / "licenses"
    assert sorted(path.name for path in licences.iterdir()) == ["Apache-2.0", "LICENSE", "THIRD_PARTY.md"]
    assert "TERMS AND CONDITIONS" in (licences / "Apache-2.0").read_text()
    shutil.copytree(TOP / "python/examples", moved)
    for file in ("files.py", "page.py"):
        subprocess.run([inside, file], check=True, env=environment, stdout=subprocess.DEVNULL, cwd=moved)
