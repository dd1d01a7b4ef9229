# The page of xir view in a browser, Debian's chromium. Its driver is an npm package, which building and testing do not
# need: a developer who has it names its folder. npm install --ignore-scripts playwright-core, then
# XIR_PLAYWRIGHT=…/node_modules/playwright-core
. "$SRC/tests/cli/lib.sh"

if [ ! -d "${XIR_PLAYWRIGHT-}" ] || ! command -v node >/dev/null || ! command -v chromium >/dev/null; then
    skip "XIR_PLAYWRIGHT names no folder of playwright-core, or there is no node or chromium"
fi
ran=run.mjs
node "$SRC/tests/view/run.mjs" "$XIR_PLAYWRIGHT" "$XIR" "$SRC" >out 2>err || bad "the page"
cat out
out "checks"
finish
