#!/bin/sh
# run.sh BUILD WORK: installs the build tree BUILD into WORK, moves the installed tree, and uses it
# as a package by find_package and by pkg-config, shared and static, from C and from C++.
# CMAKE, GENERATOR, MAKE, CC, FLAGS, CONFIG, VERSION, LIBDIR and BINDIR come from tests/CMakeLists.txt.
set -eu

build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)

say() { printf '%s\n' "-- $*"; }

rm -rf "$work"
mkdir -p "$work"
"$CMAKE" --install "$build" --config "$CONFIG" --prefix "$work/first" >"$work/install.log" ||
    { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/a prefix"       # relocated, and with a space
prefix="$work/a prefix"

say "program"
if [ -x "$prefix/$BINDIR/xir" ]; then
    "$prefix/$BINDIR/xir" --version
fi

say "find_package"
"$CMAKE" -S "$here" -B "$work/cmake" -G "$GENERATOR" -DCMAKE_MAKE_PROGRAM="$MAKE" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
    -DCMAKE_C_FLAGS="$FLAGS" -DCMAKE_CXX_FLAGS="$FLAGS" -DXIR_EXPECTED_VERSION="$VERSION" >"$work/cmake.log" 2>&1 &&
    "$CMAKE" --build "$work/cmake" >>"$work/cmake.log" 2>&1 || { cat "$work/cmake.log"; exit 1; }
for program in "$work"/cmake/main_*; do
    "$program"
done

if ! command -v pkg-config >/dev/null 2>&1; then
    say "no pkg-config, not tried"
    exit 0
fi

say "pkg-config"
PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig"
export PKG_CONFIG_PATH
test "$(pkg-config --modversion xir)" = "$VERSION"

# What pkg-config prints is quoted for a shell, so it goes through eval.
shared=$(pkg-config --cflags --libs xir)
static=$(pkg-config --static --cflags --libs xir | sed 's/-lxir/-l:libxir.a/')
expected="-DEXPECTED='\"$VERSION\"'"

compile() { # COMPILER SOURCE OUTPUT ARGUMENTS
    eval "\"\$1\" $FLAGS $expected \"\$here/\$2\" -o \"\$work/\$3\" $4"
}

compile "$CC" main.c shared_c "$shared"
LD_LIBRARY_PATH="$prefix/$LIBDIR" "$work/shared_c"
compile "$CC" main.c static_c "$static"
"$work/static_c"

case $CC in
*clang) cxx=$CC++ ;;
*gcc)   cxx=${CC%gcc}g++ ;;
*)      cxx=c++ ;;
esac
if command -v "$cxx" >/dev/null 2>&1; then
    compile "$cxx" main.cpp shared_cpp "$shared"
    LD_LIBRARY_PATH="$prefix/$LIBDIR" "$work/shared_cpp"
    compile "$cxx" main.cpp static_cpp "$static"
    "$work/static_cpp"
fi
say "done"
