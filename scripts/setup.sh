#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# setup.sh [--newest] [NEED…]: installs what is missing on Debian 12. NEED is one or more of
#
#   build   compiler, make, cmake, ninja, pkg-config, OpenSSL, msgpack-c, libdeflate, ccache (always included)
#   test    cmocka, and the programs and libraries that the tests compare with
#   clang   the second compiler
#   fuzz    clang with its run-time library for fuzzing
#   peers   the libraries that xir-bench can measure next to XIR
#
# If everything is installed, it does nothing and does not use the network. Without ccache it succeeds, and says so in a
# line. --newest also upgrades these packages, and those that they depend on directly, if there are newer ones; it
# succeeds without a network too. Then it prints a line for each package: its name and version.
set -eu

newest=
if [ "${1:-}" = --newest ]; then
    newest=yes
    shift
fi

# Programs are listed as command:package: one that is installed in another way counts as well.
programs="gcc:gcc make:make cmake:cmake ninja:ninja-build pkg-config:pkg-config"
packages="libc6-dev libssl-dev libmsgpack-dev libdeflate-dev"
optional="ccache:ccache"

for need in "$@"; do
    case $need in
    build) ;;
    test)
        programs="$programs g++:g++ /usr/bin/python3:python3 flatc:flatbuffers-compiler strace:strace xz:xz-utils"
        programs="$programs doxygen:doxygen mandoc:mandoc file:file dpkg-shlibdeps:dpkg-dev"
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

say() { echo "setup.sh: $*" >&2; }

# missing PROGRAM:PACKAGE…: the packages of those programs that do not exist.
missing() {
    for pair in "$@"; do
        command -v "${pair%%:*}" >/dev/null 2>&1 || printf ' %s' "${pair#*:}"
    done
}

# Without a terminal sudo cannot ask for a password.
as_root=
[ "$(id -u)" -eq 0 ] || as_root="sudo -n"
[ -z "$as_root" ] || ! [ -t 0 ] || as_root="sudo"
can_install() { [ -z "$as_root" ] || command -v sudo >/dev/null 2>&1; }

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

needed=$(missing $programs)
if command -v dpkg-query >/dev/null 2>&1; then
    installed=" $(dpkg-query -W -f '${db:Status-Status}:${Package} ' 2>/dev/null) "
    for package in $packages; do
        case $installed in
        *" installed:$package "*) ;;
        *) needed="$needed $package" ;;
        esac
    done
elif [ -n "$needed" ]; then
    say "missing:$needed. Please install them; these are the names of Debian's packages."
    exit 1
fi

updated=
if [ -n "$needed" ]; then
    if ! can_install; then
        say "missing:$needed"
        say "neither root nor sudo: as root, run: apt-get install --no-install-recommends$needed"
        exit 1
    fi
    echo "setup.sh: installing$needed"
    apt update || say "apt-get update failed; continuing with the package lists of this machine"
    updated=yes
    if ! apt install --no-install-recommends $needed; then
        say "apt-get could not install:$needed"
        say "its messages are above; is there a network, and is this Debian 12?"
        exit 1
    fi
fi

# Optional packages must not take long, nor ask for a password.
hasty() {
    ${as_root:+sudo -n} timeout 20 apt-get -q -y -o Acquire::Retries=0 "$@" </dev/null >/dev/null 2>&1
}
get() { hasty install --download-only --no-install-recommends $wanted; }

wanted=$(missing $optional)
if [ -n "$wanted" ]; then
    if ! can_install || ! command -v apt-get >/dev/null 2>&1; then
        say "optional, and missing:$wanted"
    elif { get || { [ -z "$updated" ] && hasty update --error-on=any && get; }; } &&
        apt install --no-download --no-install-recommends $wanted; then
        echo "setup.sh: installed$wanted"
    else
        say "optional, and apt-get could not install:$wanted"
    fi
fi

[ -n "$newest" ] || exit 0

for pair in $programs $optional; do
    packages="$packages ${pair#*:}"
done

# Those of the packages, and of the packages in their Depends, that are installed and not the newest.
outdated() {
    depends=$(dpkg-query -W -f '${Depends}\n' $packages 2>/dev/null | tr ',|' '\n\n' | sed 's/^ *//; s/[ :(].*//')
    LC_ALL=C apt-cache policy $packages $depends | awk '
        /^[^ ]/                                                  { name = $1; sub(/:$/, "", name) }
        $1 == "Installed:"                                       { has = $2 }
        $1 == "Candidate:" && has != "(none)" && has != $2       { print name }' | sort -u
}

if ! can_install || ! command -v apt-get >/dev/null 2>&1; then
    say "nothing is upgraded: that takes apt-get, and root or sudo"
elif [ -z "$updated" ] && ! apt -o Acquire::Retries=1 update --error-on=any >/dev/null 2>&1; then
    say "nothing is upgraded: apt-get update failed; is there a network?"
else
    old=$(outdated)
    [ -z "$old" ] || apt install --only-upgrade --no-install-recommends $old ||
        say "apt-get could not upgrade:" $old
fi

dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\n' 2>/dev/null | awk -v names="$packages" '
    $1 == "installed" { version[$2] = $3 }
    END {
        n = split(names, name, " ")
        for (i = 1; i <= n; i++)
            if (!seen[name[i]]++) print name[i], name[i] in version ? version[name[i]] : "(not a package here)"
    }' | LC_ALL=C sort
