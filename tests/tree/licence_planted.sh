#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# licence_planted.sh TOP: scripts/licence.sh finds sources without its lines or with another licence, and mends both.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/cmake"
echo Apache-2.0 >"$work/cmake/licence.txt"
printf '#!/bin/sh\necho bare\n' >"$work/bare.sh"
printf '/* SPDX-License-Identifier: MIT\n * SPDX-FileCopyrightText: XIR contributors */\n\nint other;\n' >"$work/other.c"
printf 'text\n' >"$work/page.md"

if sh "$1/scripts/licence.sh" --check "$work" >"$work/found"; then echo "nothing was found"; exit 1; fi
[ "$(grep -c 'another one' "$work/found")" = 2 ] || { cat "$work/found"; exit 1; }
sh "$1/scripts/licence.sh" "$work"
sh "$1/scripts/licence.sh" --check "$work"
head -n 2 "$work/bare.sh" | tail -n 1 | grep -q 'SPDX-License-Identifier: Apache-2.0'
[ "$(grep -c SPDX "$work/other.c")" = 2 ] && [ "$(tail -n 1 "$work/other.c")" = "int other;" ]
echo "not an identifier" >"$work/cmake/licence.txt"
if sh "$1/scripts/licence.sh" "$work" 2>/dev/null; then echo "a licence of two words was taken"; exit 1; fi
