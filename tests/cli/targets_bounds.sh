# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# The bounds of Buyi's scales over a network that the vendor's compiler has made, if XIR_CORPUS names the folder of real
# files: it breaks none, and each of 12 copies in which one bound is broken gives findings of one rule alone.
. "$SRC/tests/cli/lib.sh"
real=${XIR_CORPUS:-}/icraft/superpoint_test_softmax_BY.json
[ -f "$real" ] || skip "XIR_CORPUS names no folder of real files"

run 0 check --no-params --target buyi "$real" --json
json "d['errors'] == 0 and all(not f.get('rule') for f in d['findings'])"

# The weights of one product have 256 equal scales, and one map has 64 of the scale 1 at its three places.
weights='256\*143\/18\/0\.0005455017'
map='\[axis=-1\]64\*1\.4582796)","scale":"@exp_scales(\[axis=-1\]64\*1\/0\/1)","storage_dtype":"@sint('
grep -q "$(printf %s "$weights" | sed 's/\\\//\//g')" "$real" || bad "the weights are others"

# breaks RULE FROM TO: a copy breaks the rule, and no other.
broken=0
breaks() {
    edit "$real" broken.json "s/$2/$3/g"
    run 1 check --no-params --target buyi broken.json --json
    json "d['errors'] and {f.get('rule') for f in d['findings'] if f['severity'] == 'error'} == {'$1'}"
    broken=$((broken + 1))
}
breaks hard-scales "$weights" '256*256\/18\/0.0009765625'
breaks hard-scales "$weights" '256*0\/18\/0'
breaks hard-scales "$weights" '256*127\/18\/0.00048446655'
breaks hard-scales "$weights" '255*143\/18\/0.0005455017,143\/17\/0.0010910034'
breaks hard-scales "$weights" '256*143\/7\/1.1171875'
breaks hard-scales "$weights" '256*143\/22\/0.000034093857'
breaks hard-scales "$weights)\",\"storage_dtype\":\"@sint(8)" '256*143\/18\/0.0005455017)","storage_dtype":"@sint(16)'
breaks hard-scales "$weights)\",\"storage_dtype\":\"@sint(8)" '256*143\/18\/0.0005455017)","storage_dtype":"@sint(4)'
scaled='[axis=-1]64*1.4582796)","scale":"@exp_scales([axis=-1]64*'
breaks map-scale "${map}8)" "${scaled}2\\/0\\/2)\",\"storage_dtype\":\"@sint(8)"
breaks map-scale "${map}8)" "${scaled}1\\/1\\/0.5)\",\"storage_dtype\":\"@sint(8)"
breaks elements "${map}8)" "${scaled}1\\/0\\/1)\",\"storage_dtype\":\"@sint(4)"
breaks elements "${map}8)" "${scaled}1\\/0\\/1)\",\"storage_dtype\":\"@sint(32)"
[ $broken = 12 ] || bad "$broken copies"
finish
