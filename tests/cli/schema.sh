# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir schema: descriptions of files for other programs.
. "$SRC/tests/cli/lib.sh"

run 0 schema --fbs; quiet; same out "$SRC/docs/xir.fbs"
run 0 schema --json-schema; quiet
json 'd["$schema"] == "https://json-schema.org/draft/2020-12/schema" and d["properties"]["_type_key"]["const"] == "icraft::xir::Network"'
run 2 schema; err "--fbs or --json-schema"; silent
run 2 schema --fbs --json-schema; silent
run 2 schema --fbs file; silent
if [ -c /dev/full ]; then
    "$XIR" schema --fbs >/dev/full 2>err; [ $? -eq 3 ] || bad "into a full device"
fi
finish
