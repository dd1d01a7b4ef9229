# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The command line: help, versions, and invalid command lines (2).
. "$SRC/tests/cli/lib.sh"

run 0 --version; out "xir "; out "binary interface "; out "OpenSSL "; out "libdeflate "; out "formats: json,"; quiet
cp out first
run 0 -V; same out first
run 0 --version --json; quiet
json '[d["version"], sorted(d["libraries"])] == ["'"$(sed -n 's/^xir \([0-9.]*\).*/\1/p' first)"'", ["OpenSSL", "libdeflate", "msgpack-c"]]'
json 'd["abi"] > 0 and all(v[0].isdigit() for v in d["libraries"].values()) and {"json", "fb", "onnx"} <= set(d["formats"])'
json 'd["commit"] is None or len(d["commit"]) >= 7'
run 2 --version --yaml; silent; err "--version takes --json alone, not '--yaml'"
run 0 --help; out "convert"; out "Exit codes:"; quiet
run 0 -h; out "convert"
run 0 help; out "convert"
for sub in info show convert extract check diff compare reduce opt plan trace run stats view ops passes schema help \
    completion; do
    run 0 $sub --help; out "usage: xir $sub"; quiet; cp out first
    run 0 help $sub; same out first
    run 0 $sub -h; same out first
    run 2 $sub --no-such-thing; silent; err "$sub has no option '--no-such-thing'"
    run 2 $sub -x; silent
done
run 0 show --help no such --file        # a request for help is answered
run 0 diff a b c d --help

run 2; err "usage: xir COMMAND"; silent
run 2 chek; err "did you mean 'check'?"
run 2 frobnicate; err "no command 'frobnicate'"
run 2 --frobnicate; err "expected a command, found '--frobnicate'"
run 2 help frobnicate; run 2 help show diff
run 2 show; err "usage: xir show FILE"
run 2 show a b
run 2 convert a
run 2 diff a
run 2 ops a b
run 2 diff --tolernace 1 a b; err "did you mean '--tolerance'?"
run 2 show --compact=yes a; err "--compact takes no argument"
run 2 show a --from; err "--from needs an argument"
run 2 show --from yaml "$data/small.json"; err "there is no format 'yaml'"
run 2 show --from jsn "$data/small.json"; err "did you mean 'json'?"
run 2 check --params p --no-params "$data/small.json"; err "contradict"
run 2 info --params p --no-params "$data/small.json"; err "contradict"
run 2 show --params p --no-params "$data/small.json"; err "contradict"

# Options in any order, with '=' or without; operands after "--".
cp "$data/small.json" ./--compact
run 0 show --compact -- --compact; same out "$data/small.json"
run 0 show "$data/small.json" --compact --from=json; same out "$data/small.json"
run 0 show --from json "$data/small.json" --compact; same out "$data/small.json"

# Control bytes in names do not reach the terminal.
run 3 show "$(printf 'no\033[31mfile')"; err 'no\x1b[31mfile'

# No colours if the output is not a terminal.
run 2 chek; ! grep -q "$(printf '\033')" err || bad "colours in a file"
finish
