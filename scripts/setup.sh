#!/bin/sh
# setup.sh [NEED…]: installs what is missing on Debian 12. NEED is one or more of
#
#   build   compiler, make, cmake, ninja, pkg-config, OpenSSL, msgpack-c, libdeflate (always included)
#   test    cmocka, and the programs and libraries that the tests compare with
#   clang   the second compiler
#   fuzz    clang with its run-time library for fuzzing
#   peers   the libraries that xir-bench can measure next to XIR
#
# If everything is installed, it does nothing and does not use the network.
set -eu

# Programs are listed as command:package: one that is installed in another way counts as well.
programs="gcc:gcc make:make cmake:cmake ninja:ninja-build pkg-config:pkg-config"
packages="libc6-dev libssl-dev libmsgpack-dev libdeflate-dev"

for need in "$@"; do
    case $need in
    build) ;;
    test)
        programs="$programs g++:g++ /usr/bin/python3:python3 flatc:flatbuffers-compiler strace:strace"
        packages="$packages libcmocka-dev nlohmann-json3-dev libonnx-testdata libflatbuffers-dev python3-msgpack"
        packages="$packages python3-jsonschema libonnx-dev libprotobuf-dev"
        packages="$packages python3-dev python3-dbg libpython3.11-testsuite python3-numpy python3-pytest"
        packages="$packages python3-hypothesis python3-venv python3-pip mypy" ;;
    clang)
        programs="$programs clang:clang g++:g++" ;;
    fuzz)
        programs="$programs clang:clang"
        packages="$packages libclang-rt-14-dev" ;;
    peers)
        programs="$programs g++:g++"
        packages="$packages nlohmann-json3-dev libsimdjson-dev libflatbuffers-dev flatbuffers-compiler"
        packages="$packages libmsgpack-cxx-dev libonnx-dev libprotobuf-dev libmlir-22-dev llvm-22-dev python3-onnx" ;;
    *)
        echo "setup.sh: unknown need '$need', expected build, test, clang, fuzz or peers" >&2
        exit 2 ;;
    esac
done

missing=
for pair in $programs; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair#*:}"
done

if command -v dpkg-query >/dev/null 2>&1; then
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' 2>/dev/null) "
    for package in $packages; do
        case $installed in
        *" installed:$package "*) ;;
        *) missing="$missing $package" ;;
        esac
    done
elif [ -n "$missing" ]; then
    echo "setup.sh: missing:$missing. Please install them; these are the names of Debian's packages." >&2
    exit 1
fi

[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root="sudo"
    # Without a terminal sudo cannot ask for a password.
    [ -t 0 ] || as_root="sudo -n"
else
    echo "setup.sh: missing:$missing" >&2
    echo "setup.sh: neither root nor sudo: as root, run: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi

echo "setup.sh: installing$missing"
apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" </dev/null
}
apt update || echo "setup.sh: apt-get update failed; continuing with the package lists of this machine" >&2
if ! apt install --no-install-recommends $missing; then
    echo "setup.sh: apt-get could not install:$missing" >&2
    echo "setup.sh: its messages are above; is there a network, and is this Debian 12?" >&2
    exit 1
fi
