# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir convert: the same bytes are written again, and parameters are written where the options say.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .

run 0 convert small.json a.json; quiet; silent; same a.json small.json; same a.raw small.raw
run 0 convert small.json b.json --lazy; quiet; same b.json small.json; same b.raw small.raw
run 0 convert small.json c.json --out-params c.bin; quiet; same c.json small.json; same c.bin small.raw; gone c.raw
run 0 convert small.json d.json --no-params; quiet; same d.json small.json; gone d.raw
run 0 convert small.json e.json --indent; same e.raw small.raw
run 0 convert e.json f.json; same f.json small.json
cp small.json noname; run 0 convert --params small.raw noname g.json; quiet; same g.json small.json
same g.raw small.raw
run 0 convert small.json --to json g.onnx; same g.onnx small.json; same g.raw small.raw

# It looks for X.raw, then X.params; without both it warns.
cp small.json h.json; cp small.raw h.params
run 0 convert h.json i.json; quiet; same i.raw small.raw
rm h.params; run 0 convert h.json j.json; err "warning: there is no parameter file next to it"; same j.json small.json
gone j.raw
run 0 convert h.json j.json --no-params; quiet
run 0 convert h.json k.json --out-params k.raw; err "k.raw: warning: is not written"; gone k.raw
run 3 convert h.json l.json --params missing.raw; err "missing.raw"; gone l.json; gone l.raw
run 2 convert h.json l.json --params small.raw --no-params; run 2 convert h.json l.json --out-params q --no-params
run 2 convert small.json l.json --out-params l.json; gone l.json
run 2 convert small.json l.raw --to json; gone l.raw

# A network without parameters next to a raw file of something else: that is neither read nor removed, unless it is
# named.
sed 's/"ops":.*,"params_bytes":[0-9]*/"ops":[],"params_bytes":0/; s/"params_md5":"[0-9a-f]*"/"params_md5":""/' small.json >bare.json
cp small.raw stale.raw
run 0 convert bare.json stale.json; quiet; same stale.raw small.raw
run 0 info stale.json; quiet; run 0 convert stale.json bare2.json; quiet; gone bare2.raw
run 1 info stale.json --params stale.raw; err "stale.raw"
same stale.raw small.raw

# A network that a format cannot hold is refused before parameters are read: this raw file is not one.
sed 's/"shape":\[3,3,3,4\]/"shape":[30000,30000,3,4]/g' small.json >large.json; : >large.raw
run 3 convert large.json l.fb; gone l.fb
err "large.json: the parameters take 432000"; err "and a file of format fb holds at most 2147483647: JSON with a raw file next to it"
run 3 convert large.json l.imodel; err "and one in a file of format imodel at most 4294967295"; gone l.imodel
run 3 opt large.json l.fb --passes ""; err "a file of format fb holds at most"; gone l.fb
run 1 convert large.json l.json; err "large.raw"; gone l.json
# The same of a model of 3 GiB, which is a hole: its structure is mapped, and more may not be read.
{
    printf '\010\010\072\242\200\200\200\014\012\007\012\001w\042\002Op\052\223\200\200\200\014'
    printf '\010\003\010\200\200\200\200\004\020\002\102\001w\112\200\200\200\200\014'
} >hole.onnx
if truncate -s +3221225472 hole.onnx 2>err; then
    run 3 convert --max-bytes 1000000 hole.onnx l.fb; err "the parameters take 3221225472 bytes"; gone l.fb
    run 1 convert --eager --max-bytes 1000000 hole.onnx l.json; err "the limit is 1000000"
fi
rm -f hole.onnx

# Standard input and output.
"$XIR" convert - - <small.json >out 2>err || bad "through pipes"; same out small.json; err "<stdin>: warning"
"$XIR" convert - - --params small.raw --out-params m.raw <small.json >out 2>err || bad "parameters from a file"; quiet
same out small.json; same m.raw small.raw
"$XIR" convert small.json n.json --params - <small.raw >out 2>err || bad "parameters from standard input"; quiet
same n.raw small.raw
"$XIR" convert small.json o.json --out-params - >out 2>err || bad "parameters to standard output"; quiet
same out small.raw; same o.json small.json
"$XIR" convert small.json - --to json >out 2>err || bad "to standard output"
err "warning: the parameters are not written"; same out small.json
"$XIR" convert - p.json --params - <small.json >out 2>err; [ $? -eq 2 ] || bad "both from standard input"; gone p.json
run 2 convert small.json - --out-params -
run 0 convert small.json /dev/null; err "warning: the parameters are not written"

# Onto itself, also while it is mapped.
cp small.json r.json; cp small.raw r.raw
run 0 convert r.json r.json; same r.json small.json; same r.raw small.raw
run 0 convert r.json r.json --lazy; same r.json small.json; same r.raw small.raw
ln -s r.json link.json; run 0 convert small.json link.json; same r.json small.json
[ -L link.json ] || bad "the link was replaced"

# It does not validate: everything that decodes is written. But a file whose bytes contradict its structure is refused.
edit small.json odd.json -e 's/"stride_width":1/"stride_width":0/' -e 's/"shape":\[1,4,4,4\]/"shape":[1,4,4,5]/g'; cp small.raw odd.raw
run 0 convert odd.json s.json; same s.json odd.json; same s.raw small.raw
cp small.json t.json; cp small.raw t.raw; poke t.raw 100 '\001'
run 1 convert t.json u.json; err "t.raw"; err "MD5"; gone u.json; gone u.raw
head -c 563 small.raw >t.raw; run 1 convert t.json u.json; err "t.raw"; gone u.json
run 0 convert t.json u.json --no-params; same u.json small.json

# The spelling of the file's version is kept: no ai_target in an old file, doubles unchanged; undeclared things are
# kept.
edit small.json old.json -e 's/"ai_target":"@buyit",//' -e 's/3.33.1.0/3.6.2.82/' -e 's/"alpha":0.0/"alpha":0.1/' -e 's/"name":"conv2"/"mine":{"x":[1,2.5,null]},&/'
run 0 convert old.json v.json --no-params; same v.json old.json

# Only old keys of classes are not kept, and a warning says so.
edit small.json alias.json 's/icraft::xir::ReLU/icraft::xir::Relu/'
run 0 convert alias.json w.json --no-params; same w.json small.json
err "alias.json: note: 1 op of class icraft::xir::Relu, an old key, is written as icraft::xir::ReLU"; lines err 1
run 0 convert alias.json alias.json --no-params; lines err 1; same alias.json small.json
run 0 convert alias.json alias.json --no-params; quiet
finish
