#!/bin/sh
# demo.sh: builds the library and the program, runs examples/quickstart, looks at what it wrote with
# `xir`, takes it through every format and back, and asks about operations, built in and of a plug-in.
# Everything is written to build/demo.
set -eu

top=$(cd "$(dirname "$0")/.." && pwd)
sh "$top/scripts/build.sh" release

demo=$top/build/demo
rm -rf "$demo"
mkdir -p "$demo"
cd "$demo"

# A command, as it would be typed, and what it prints.
run() {
    printf '\n$ %s\n' "$*"
    "$@"
}

PATH=$top/build/release/examples:$top/build/release/tools:$PATH
run quickstart

run xir info    whatever.json
run xir check   whatever.json
run xir info --lazy whatever.fb
run xir convert whatever.json copy.fb
run xir convert copy.fb       copy.imodel
run xir convert copy.imodel   copy.json
run cmp whatever.fb     copy.fb
run cmp whatever.imodel copy.imodel
run xir diff --params whatever.json copy.json
run cmp whatever.json copy.json
run cmp whatever.raw  copy.raw
echo "not a bit is different"
run xir ops     Softmax
run xir ops     --plugin "$top/build/release/plugins/customop.so" DetPost

printf '\nThe files are in %s:\n' "$demo"
ls -l
printf '\nThe program is %s\n' "$top/build/release/tools/xir"
