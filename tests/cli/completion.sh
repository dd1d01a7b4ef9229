# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir completion: scripts for three shells, from the tables of commands and options.
. "$SRC/tests/cli/lib.sh"

for shell in bash zsh fish; do
    run 0 completion $shell; quiet; cp out script.$shell
    for word in info completion input-shape max-findings Conv2d zhuge fold-batchnorm imodel; do
        grep -q -- "$word" script.$shell || bad "the script of $shell does not have $word"
    done
done
run 2 completion; err "usage: xir completion SHELL"
run 2 completion tcsh; silent; err "completion takes bash, zsh or fish, not 'tcsh'"

# The names of a plug-in are in it.
custompass=$BUILD/plugins/custompass.so
[ ! -e "$custompass" ] || { run 0 completion bash --plugin "$custompass"; out " inverse"; }

# Syntax, where the shells are installed.
if has zsh; then zsh -n script.zsh >out 2>err || bad "zsh does not take its script"; fi
if has fish; then fish --no-execute script.fish >out 2>err || bad "fish does not take its script"; fi

# offers EXPECTED WORDS…: what bash offers for the last word, in one line; the words are split as bash splits them.
cat >complete.bash <<'END'
. ./script.bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_xir
echo "${COMPREPLY[*]}"
END
sorted() { tr ' ' '\n' | sort | tr '\n' ' '; }
offers() {
    want=$1
    shift
    ran="completion of $*"
    bash complete.bash "$@" >out 2>err || bad "$ran: bash fails"
    [ "$(sorted <out)" = "$(echo "$want" | sorted)" ] || bad "$ran: not '$want'"
    quiet
}
if has bash; then
    bash -n script.bash >out 2>err || bad "bash does not take its script"
    mkdir models && : >models/a.json && : >model.fb
    offers "info" xir inf
    offers "calibrate check compare convert completion" xir c
    offers "--version" xir --v
    offers "--max-bytes --max-unpacked --max-values --max-read-memory --max-findings" xir --max
    offers "model.fb models" xir info mod
    offers "models/a.json" xir convert model.fb models/
    offers "--json" xir info --js
    offers "" xir info --no-such
    offers "imodel" xir convert a.json b --to im
    offers "imodel" xir convert a.json b --to = im
    offers "onnx" xir info --from = on
    offers "needed exact fast max" xir opt --level ""
    offers "fold fold-batchnorm fold-products" xir opt --disable fol
    offers "infer,fold infer,fold-batchnorm infer,fold-products" xir opt --passes infer,fol
    offers "fix(dce" xir opt --passes "fix(dc"
    offers "models" xir run model.fb --output mod
    offers "" xir run model.fb --seed ""
    offers "model.fb models" xir run model.fb --input x = mod
    offers "Conv2d" xir ops Conv2
    offers "buyi" xir ops buy
    offers "dce" xir passes dc
    offers "bash" xir completion ba
    offers "schema" xir help sche
    offers "--fbs" xir schema --f
    offers "" xir schema f
    offers "model.fb models" xir --plugin mod
    offers "info" xir --plugin x.so inf
    offers "info" xir --plugin = x.so inf
    offers "--compact" xir --max-bytes 7 show --com
    offers "models" xir opt a.json --dump-dir mod
fi
finish
