# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# docs/ops.md is what the program prints, and every operation has a formula and describes its outputs.
. "$SRC/tests/cli/lib.sh"

run 0 ops --markdown; quiet
cmp -s out "$SRC/docs/ops.md" || {
    bad "docs/ops.md is not what the classes say. Renew it: xir ops --markdown > docs/ops.md"
    diff "$SRC/docs/ops.md" out | head -20
}
run 0 ops
grep -qF -- "- **$(wc -l <out) operations**" "$SRC/README.md" || bad "README.md has another number of operations than xir ops lists"
run 0 ops --json
json '[c["type_key"] for c in d if not c["formula"] or not c["gives"]] == []'
finish
