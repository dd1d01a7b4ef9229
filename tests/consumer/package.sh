#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# package.sh BUILD WORK: makes the packages of Debian and the archives of the build tree BUILD in WORK, unpacks them,
# and compares what is in them with what docs/building.md says. The program and the Python package run from there.
# CPACK, CONFIG, VERSION, LIBDIR, PYTHON and PYTHON_DIR come from tests/CMakeLists.txt; PYTHON is empty if there is no
# Python package.
set -eu

build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

skip() {
    echo "-- skipped: $*"
    [ -z "${XIR_SKIPS:-}" ] || echo "all $*" >"$XIR_SKIPS"
    exit 77
}
bad() {
    echo "$*"
    exit 1
}

[ -z "${XIR_SKIPS:-}" ] || rm -f "$XIR_SKIPS"
for tool in "$CPACK" dpkg-deb dpkg-shlibdeps file; do
    command -v "$tool" >/dev/null 2>&1 || skip "no $tool"
done
rm -rf "$work"
mkdir -p "$work"
cd "$work"

# pack CONFIG ARGUMENTS: runs cpack here.
pack() {
    config=$1
    shift
    "$CPACK" --config "$build/$config" -B "$work" -C "$CONFIG" "$@" >log 2>&1 || { cat log; exit 1; }
    rm -rf _CPack_Packages
}
pack CPackConfig.cmake -G DEB -D CPACK_DEBIAN_COMPRESSION_TYPE=none    # which takes less time
machine=$(dpkg --print-architecture)

# field PACKAGE NAME: a field of a package's control file.
field() { dpkg-deb -f "$1_${VERSION}_$machine.deb" "$2"; }
# has PACKAGE FILE…, has_not PACKAGE FILE…: the files of a package, below /usr.
has() {
    package=$1
    shift
    for file in "$@"; do
        grep -qx "./usr/$file" "$package.list" || bad "$package has no $file"
    done
}
has_not() {
    package=$1
    shift
    for file in "$@"; do
        ! grep -x "./usr/$file" "$package.list" || bad "$package has $file"
    done
}

packages="xir libxir-dev"
[ -z "$PYTHON" ] || packages="$packages python3-xir"
[ "$(ls ./*.deb | wc -l)" -eq "$(echo $packages | wc -w)" ] || bad "packages: $(ls ./*.deb)"
description=$(sed -n 's/^project(xir .* DESCRIPTION "\(.*\)")$/\1/p' "$top/CMakeLists.txt")
for package in $packages; do
    deb=${package}_${VERSION}_$machine.deb
    dpkg-deb -c "$deb" | awk '$1 !~ /^d/ { print $6 }' | sort >$package.list
    [ "$(field $package Version)" = "$VERSION" ] || bad "$package: version $(field $package Version)"
    [ "$(field $package Description | head -n 1)" = "$description" ] || bad "$package: $(field $package Description)"
    dpkg-deb -x "$deb" unpacked
    cmp "unpacked/usr/share/doc/$package/copyright" "$top/LICENSE"
done
cat ./*.list | sort | uniq -d >twice
[ ! -s twice ] || { echo "in two packages:"; cat twice; exit 1; }

case $VERSION in    # until 1.0 the name of the library contains the minor version
0.*) soversion=${VERSION%.*} ;;
*)   soversion=${VERSION%%.*} ;;
esac
has xir bin/xir "$LIBDIR/libxir.so.$soversion" "$LIBDIR/libxir.so.$VERSION" share/man/man1/xir.1 \
    share/bash-completion/completions/xir share/doc/xir/licences/Apache-2.0
has_not xir "$LIBDIR/libxir.a" "$LIBDIR/libxir.so" 'include/.*' "$LIBDIR/cmake/.*" "$LIBDIR/pkgconfig/.*" '.*/python3.*'
has libxir-dev include/xir/xir.h include/xir/xir.hpp include/xir/ops/all.def "$LIBDIR/libxir.a" "$LIBDIR/libxir.so" \
    "$LIBDIR/pkgconfig/xir.pc" "$LIBDIR/cmake/xir/xirConfig.cmake" share/doc/xir/docs/tutorial.md
has_not libxir-dev 'bin/.*' "$LIBDIR/libxir.so..*" '.*/python3.*'

# depends PACKAGE PATTERN…: what it depends on; the packages of libraries have their versions in their names.
depends() {
    package=$1
    shift
    for pattern in "$@"; do
        field "$package" Depends | tr ',' '\n' | grep -Eq "^ *$pattern( |$)" ||
            bad "$package does not depend on $pattern: $(field "$package" Depends)"
    done
}
depends xir libc6 'libssl[0-9.]+[a-z0-9]*' 'libmsgpack[-a-z]*[0-9]*' 'libdeflate[0-9]+'
depends libxir-dev "xir \(= $VERSION\)"
[ "$(field libxir-dev Recommends)" = "libssl-dev, libmsgpack-dev, libdeflate-dev" ] || bad "libxir-dev recommends"

unpacked/usr/bin/xir --version | grep -q "^xir $VERSION"
unpacked/usr/bin/xir opt "$top/examples/models/digits.onnx" digits.fb --prove
unpacked/usr/bin/xir check digits.fb
if [ -n "$PYTHON" ]; then
    has python3-xir "$PYTHON_DIR/xir/__init__.py" "$PYTHON_DIR/xir/_xir.abi3.so" \
        "$PYTHON_DIR/xir-$VERSION.dist-info/METADATA"
    has_not python3-xir 'bin/.*' 'include/.*' '.*libxir.*'
    depends python3-xir "xir \(= $VERSION\)" 'python3 \(>= 3\.[0-9]+\)' 'python3 \(<< 3\.[0-9]+\)'
    grep -qx "Summary: $description" "unpacked/usr/$PYTHON_DIR/xir-$VERSION.dist-info/METADATA"
    PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=unpacked/usr/$PYTHON_DIR "$PYTHON" -c "
import xir
assert xir.__file__.startswith('$work/unpacked/'), xir.__file__
assert len(list(xir.load('digits.fb').ops())) > 10"
fi

# The archive of what is installed has the files of all packages, but for Debian's copies of the licence.
pack CPackConfig.cmake -G TGZ
name=$(basename "xir-$VERSION"-*.tar.gz .tar.gz)
tar -tzf "$name.tar.gz" | sed -n "s|^$name/|./usr/|p" | grep -v '/$' | sort >archive
sort ./*.list | grep -v '/copyright$' >expected
cmp expected archive || { diff expected archive; exit 1; }

# The archive of sources has what a checkout has, and nothing that was built.
pack CPackSourceConfig.cmake
tar -tzf "xir-$VERSION.tar.gz" >sources
for file in CMakeLists.txt .ci/run cmake/licence.txt src/passes/dce.c tests/consumer/package.sh python/backend.py; do
    grep -qx "xir-$VERSION/$file" sources || bad "no $file in the archive of sources"
done
! grep -E "^xir-$VERSION/(build|\.git)/|__pycache__" sources || bad "the archive of sources has these"
echo "-- done: $(cat ./*.list | wc -l) files in $(echo $packages | wc -w) packages, $(wc -l <sources) sources"
