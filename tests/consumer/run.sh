#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# run.sh BUILD WORK: installs the build tree BUILD into WORK, moves the installed tree, and uses it as a package by
# find_package and by pkg-config, shared and static, from C and from C++. CMAKE, GENERATOR, MAKE, CC, FLAGS, CONFIG,
# VERSION, LIBDIR and BINDIR come from tests/CMakeLists.txt.
set -eu

build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

say() { printf '%s\n' "-- $*"; }
skip() {
    say "skipped: $*"
    [ -z "${XIR_SKIPS:-}" ] || echo "part $*" >"$XIR_SKIPS"
    exit 77
}

[ -z "${XIR_SKIPS:-}" ] || rm -f "$XIR_SKIPS"
rm -rf "$work"
mkdir -p "$work"
"$CMAKE" --install "$build" --config "$CONFIG" --prefix "$work/first" >"$work/install.log" ||
    { cat "$work/install.log"; exit 1; }
mv "$work/first" "$work/a prefix"       # relocated, and with a space
prefix="$work/a prefix"

case $VERSION in    # until 1.0 the name of the library contains the minor version
0.*) soversion=${VERSION%.*} ;;
*)   soversion=${VERSION%%.*} ;;
esac
test -e "$prefix/$LIBDIR/libxir.so.$soversion" || { echo "no libxir.so.$soversion"; exit 1; }

say "program"
if [ -x "$prefix/$BINDIR/xir" ]; then
    "$prefix/$BINDIR/xir" --version
    for printed in man/man1/xir.1 man/man1/xir-opt.1 bash-completion/completions/xir zsh/site-functions/_xir \
        fish/vendor_completions.d/xir.fish; do
        test -s "$prefix/share/$printed" || { echo "no share/$printed"; exit 1; }
    done
    if [ -d "$build/man3" ]; then    # where Perl is
        test -s "$prefix/share/man/man3/xir_network.h.3" || { echo "no page of a header"; exit 1; }
    fi
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
    skip "no pkg-config"
fi

say "pkg-config"
PKG_CONFIG_PATH="$prefix/$LIBDIR/pkgconfig"
export PKG_CONFIG_PATH
test "$(pkg-config --modversion xir)" = "$VERSION"

# The output of pkg-config is quoted for a shell, so it goes through eval.
shared=$(pkg-config --cflags --libs xir)
static=$(pkg-config --static --cflags --libs xir | sed 's/-lxir/-l:libxir.a/')
expected="-DEXPECTED='\"$VERSION\"'"

# Compiles a file of the working directory under the name that findings show.
compile_here() { # SOURCE OUTPUT [COMPILER]
    eval "\"\${3:-\$CC}\" $FLAGS \"\$1\" -o \"\$2\" $shared"
}
compile() { # COMPILER SOURCE OUTPUT ARGUMENTS
    eval "\"\$1\" $FLAGS $expected \"\$here/\$2\" -o \"\$work/\$3\" $4"
}

compile "$CC" main.c shared_c "$shared"
LD_LIBRARY_PATH="$prefix/$LIBDIR" "$work/shared_c"
compile "$CC" main.c static_c "$static"
"$work/static_c"

# A program that names the components that it uses contains no others: it is 1.3 MB, and more than 4 with all of them.
say "a small program"
compile "$CC" small.c small "$static -Wl,--gc-sections"
"$work/small" "$work/small.fb"
if [ -x "$prefix/$BINDIR/xir" ]; then "$prefix/$BINDIR/xir" check "$work/small.fb"; fi
strip -o "$work/small.stripped" "$work/small"
bytes=$(wc -c <"$work/small.stripped")
case $CONFIG$FLAGS in
Debug*|*coverage*|*sanitize*) ;;
*) test "$bytes" -le 2000000 || { echo "small has $bytes bytes"; exit 1; } ;;
esac

# The commands of docs/writing-an-op.md and docs/writing-a-pass.md, on the files that they show.
say "plug-in"
cc() { "$CC" $FLAGS "$@"; }
xir() { "$prefix/$BINDIR/xir" "$@"; }
flags=$(pkg-config --cflags xir)
# follow PAGE FOLDER NAME FILE…: copies the files to a folder and runs the page's commands there, which make NAME.so.
follow() {
    page=$top/docs/$1 folder=$work/$2 name=$3
    shift 3
    mkdir "$folder"
    cp "$@" "$folder"
    cd "$folder"
    awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page" >commands
    grep -q "^cc .*$name.c" commands && grep -q "^xir .*$name.so" commands || { echo "no commands in $page"; exit 1; }
    while IFS= read -r line; do
        case $line in   # the output of pkg-config is quoted for a shell
        *'$(pkg-config --cflags xir)'*)
            line="${line%%'$(pkg-config --cflags xir)'*}$flags${line#*'$(pkg-config --cflags xir)'}" ;;
        esac
        [ -x "$prefix/$BINDIR/xir" ] || case $line in xir*) continue ;; esac
        eval "$line" </dev/null
    done <commands
}
cp "$top/examples/models/digits.onnx" "$work/net.onnx"
follow writing-a-pass.md pass custompass "$top"/plugins/custompass/*.[ch] "$top"/plugins/custompass/*.xir \
    "$work/net.onnx"
follow writing-an-op.md plugin flatten "$here/../plugin/flatten.c" "$here/../plugin/flatten.def"
if [ -e "$prefix/$LIBDIR/xir/customop.so" ] && [ -x "$prefix/$BINDIR/xir" ]; then
    xir ops --plugin "$prefix/$LIBDIR/xir/customop.so" DetPostZG | grep -q valid_chn
fi

# Code that users copy compiles without a warning.
for source in "$top"/examples/*.c "$top"/examples/npu/*.c "$top"/examples/tern/*.c "$top"/plugins/*/*.c \
    "$top"/tests/plugin/flatten.c "$top"/tests/plugin/npu.c; do
    eval "\"\$CC\" -std=c11 -Wall -Wextra -Wpedantic -Werror $flags -iquote \"\${source%/*}\" -fsyntax-only \"\$source\""
done

# The pages that a reader follows, in a folder outside the tree, with only the installed tree.
if [ -x "$prefix/$BINDIR/xir" ]; then
    mkdir "$work/bin"
    printf '#!/bin/sh\nexec "%s" %s -Werror "$@"\n' "$(command -v "$CC")" "$FLAGS" >"$work/bin/cc"
    chmod +x "$work/bin/cc"
    ln -s "a prefix" "$work/prefix"     # readers type $(pkg-config …) without quotes
    for page in tutorial embedding; do
        say "$page.md"
        mkdir "$work/$page"
        (cd "$work/$page"
            PATH=$work/bin:$work/prefix/$BINDIR:$PATH
            PKG_CONFIG_PATH=$work/prefix/$LIBDIR/pkgconfig
            LD_LIBRARY_PATH=$work/prefix/$LIBDIR
            export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
            sh "$here/walk.sh" "$(pkg-config --variable=docdir xir)/docs/$page.md")
    done
fi

say "licence, and the links of the documentation"
grep -q 'TERMS AND CONDITIONS' "$prefix/share/doc/xir/licences/Apache-2.0"
sh "$top/tests/tree/links.sh" "$prefix/share/doc/xir"

# The program of README.md, and the finding that it prints when the kernel is wrong.
say "README.md"
mkdir -p "$work/readme/wrong"
cd "$work/readme"
awk '/^```c$/ { on = 1; next } /^```$/ { if (on) exit } on' "$top/README.md" >tiny.c
grep '^tiny.c:' "$top/README.md" >expected
compile_here tiny.c tiny
LD_LIBRARY_PATH="$prefix/$LIBDIR" ./tiny
grep -q conv1 tiny.json
cd wrong
sed 's/3, 3, 3, 16/3, 3, 5, 16/' ../tiny.c >tiny.c
compile_here tiny.c tiny
if LD_LIBRARY_PATH="$prefix/$LIBDIR" ./tiny 2>said; then echo "an invalid kernel is not a failure"; exit 1; fi
cmp ../expected said
cd "$work/plugin"

# load PROGRAM PLUGIN STATUS WORDS: the exit status of a program that loads the plug-in, and what it prints.
load() {
    got=0
    ASAN_OPTIONS=detect_odr_violation=0 LD_LIBRARY_PATH="$prefix/$LIBDIR" "$work/$1" "$2" >said || got=$?
    [ "$got" -eq "$3" ] && grep -q "$4" said || { echo "$1 $2: $got, not $3, or no '$4':"; cat said; exit 1; }
}
# A program with libxir.so; one with libxir.a that exports it to the plug-in, or hides it; a plug-in that needs
# libxir.so.
whole=$(printf '%s' "$static" | sed 's/-l:libxir.a/-rdynamic -Wl,--whole-archive -l:libxir.a -Wl,--no-whole-archive/')
compile "$CC" plugin.c loads_shared "$shared"
compile "$CC" plugin.c loads_whole "$whole"
compile "$CC" plugin.c loads_static "$static"
eval "cc -shared -fPIC -iquote . flatten.c -o linked.so $shared"
load loads_shared ./flatten.so 0 whatever::Flatten
load loads_shared flatten.so 0 whatever::Flatten
load loads_shared ./linked.so 0 whatever::Flatten
load loads_whole ./flatten.so 0 whatever::Flatten
load loads_whole ./linked.so 0 whatever::Flatten
load loads_static ./flatten.so 15 "undefined symbol: xir_"
load loads_static ./linked.so 14 "another copy of the library"
cd "$here"

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
    cd "$work/readme"
    cp tiny.c tiny.cpp
    compile_here tiny.cpp tiny_cpp "$cxx"
    LD_LIBRARY_PATH="$prefix/$LIBDIR" ./tiny_cpp
    eval "\"\$cxx\" -std=c++17 -Wall -Wextra -Wpedantic -Werror -fno-exceptions -fno-rtti $FLAGS \
        \"\$top/examples/quickstart.cpp\" -o quickstart_cpp $shared"
    LD_LIBRARY_PATH="$prefix/$LIBDIR" ./quickstart_cpp | grep -q 'tiny.fb holds the same network'
    eval "\"\$cxx\" -std=c++14 -fsyntax-only $FLAGS \"\$top/examples/quickstart.cpp\" $shared" 2>&1 |
        grep -q 'xir.hpp needs C++17 or newer'
    if [ -x "$prefix/$BINDIR/xir" ]; then
        "$prefix/$BINDIR/xir" check tiny.fb
    fi
    cd "$here"
else
    skip "no $cxx"
fi
say "done"
