# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The page of xir view in a browser, Debian's chromium, with the fonts DejaVu, for pictures. Its driver is of npm:
# npm install --global --ignore-scripts playwright-core, or XIR_PLAYWRIGHT=…/node_modules/playwright-core
. "$SRC/tests/cli/lib.sh"

driver=${XIR_PLAYWRIGHT-}
[ -n "$driver" ] || driver=$(npm root --global 2>/dev/null)/playwright-core
for program in node chromium; do command -v $program >/dev/null || skip "no $program"; done
[ -d "$driver" ] || skip "no playwright-core, neither of XIR_PLAYWRIGHT nor a global one"
fc-match system-ui 2>/dev/null | grep -q DejaVu || skip "the system's font is not DejaVu Sans"
ran=run.mjs
node "$SRC/tests/view/run.mjs" "$driver" "$XIR" "$SRC" >out 2>err || bad "the page"
cat out
out "checks"
finish
