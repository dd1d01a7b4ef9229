# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Output on terminals: tables are cut to their width, between characters; --color decides about colours; a name that
# does not exist is answered with the nearest ones.
. "$SRC/tests/cli/lib.sh"
cp "$SRC"/examples/models/digits.onnx "$data/small.json" "$data/small.raw" .
run 0 opt digits.onnx digits.fb --provenance

# narrow COLUMNS WORDS…: no line is wider; each is the beginning of a line without that limit, and "..." follows.
narrow() {
    columns=$1
    shift
    COLUMNS=$columns "$XIR" "$@" >cut 2>err || bad "xir $* at $columns columns"
    run 0 "$@"
    awk -v most="$columns" 'length > most { print; bad = 1 } END { exit bad }' cut >wide ||
        bad "xir $* at $columns columns: $(head -1 wide)"
    [ "$(wc -l <cut)" -eq "$(wc -l <out)" ] || bad "xir $* at $columns columns has another number of lines"
    awk -v most="$columns" 'NR == FNR { whole[FNR] = $0; next }
        length(whole[FNR]) <= most { if ($0 != whole[FNR]) bad = 1; next }
        $0 != substr(whole[FNR], 1, most - 3) "..." { bad = 1 }
        END { exit bad }' out cut || bad "xir $* at $columns columns: $(head -3 cut)"
}
for columns in 40 60; do
    narrow $columns ops
    narrow $columns info digits.onnx
done
for words in "passes" "compare digits.onnx digits.fb" "plan digits.fb" "opt digits.onnx --time" "stats digits.onnx"; do
    COLUMNS=40 "$XIR" $words >cut 2>err || bad "xir $words at 40 columns"
    # The sums below a table are sentences.
    awk 'length > 40 && !/^(without|[0-9]+ pairs, |[0-9]+ values in |most alive|bytes |peak |parameters )/ { print; bad = 1 } END { exit bad }' \
        cut >wide || bad "xir $words at 40 columns: $(head -1 wide)"
    grep -q '[a-z]' cut || bad "xir $words prints nothing"
done

# A character of several bytes is not cut.
long=$(awk 'BEGIN { for (i = 0; i < 40; i++) printf "\303\244" }')
printf 'xir 1\n.name "%s" .framework "" "" .icraft "" \n%%x = Input() : fp32 NC [1,2]\nOutput(%%x)\n' "$long" >long.xir
COLUMNS=40 "$XIR" info long.xir >out 2>err || bad "info of a long name"
grep -q '^name        \(ä\)\{25\}\.\.\.$' out || bad "a long name"
COLUMNS=3 "$XIR" info long.xir >out 2>err || bad "three columns"
awk 'length > 3 { bad = 1 } END { exit bad }' out || bad "three columns: wider"

# Colours: on terminals, unless NO_COLOR or TERM forbids it, or as --color says.
escape=$(printf '\033')
coloured() { grep -q "$escape\[" out || bad "$ran: no colours"; }
plain() { ! grep -q "$escape" out err || bad "$ran: colours"; }
for words in "stats digits.onnx" "check digits.onnx"; do
    run 0 $words --color always; coloured
    sed "s/$escape\[[0-9]*m//g" out >uncoloured
    run 0 $words --color=never; plain; same out uncoloured
    run 0 $words; plain; same out uncoloured
    run 0 $words --color auto; plain
    run 2 $words --color sometimes; silent; err "--color takes auto, always or never, not 'sometimes'"
done
edit small.json other.json 's/"name":"conv1"/"name":"conv9"/'
run 1 diff small.json other.json --no-params --color always; coloured; cp out first
run 1 diff small.json other.json --no-params; plain
sed "s/$escape\[[0-9]*m//g" first >uncoloured; same out uncoloured
NO_COLOR=1 "$XIR" stats digits.onnx >out 2>err || bad "NO_COLOR"; plain

# Near names: all that are equally near.
run 2 ops conv; silent; err "there is no class 'conv'; did you mean 'Conv1d', 'Conv2d' or 'Conv3d'?"
run 2 trace digits.onnx c1; silent; err "there is no op 'c1'; did you mean '/c1/Conv'?"
run 2 trace digits.onnx conv; silent; err "'/c1/Conv', '/c2/Conv', '/dw/Conv' or '/pw/Conv'?"
run 2 show digits.onnx --op zzzzzz; silent; err "--op takes the name of an op"
finish
