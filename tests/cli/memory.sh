# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Memory runs out anywhere in the program, in the library, or in the system's libraries: a message says so, the exit
# code is 3, no other message blames the file, and an output file is complete or missing. tests/cli/memory.c, which is
# preloaded, does it all.
. "$SRC/tests/cli/lib.sh"
short=$BUILD/tests/cli/memory.so
[ -f "$short" ] || skip "memory cannot be made short: a sanitizer, or a C library that is not glibc"
cp "$data/small.json" "$data/small.raw" "$data/small.onnx" "$data/chain.onnx" .
run 0 convert small.json small.fb; run 0 convert small.json small.imodel; run 0 run small.fb --output expected
edit small.json bad.json 's/"stride_width":[0-9]*/"stride_width":0/'; cp small.raw bad.raw
edit small.json other.json 's/conv1/conv9/'; cp small.raw other.raw
head -c 300 small.json >torn.json

# short STEP INPUT "FILES" WORDS…: runs xir once normally, with standard input INPUT, and then without every STEP-th
# allocation; it writes FILES.
short() {
    step=$1 input=$2 files=$3
    shift 3
    ran="xir $*, of which $files come"
    rm -rf tried && mkdir -p tried/good && rm -f $files
    "$XIR" "$@" <"$input" >tried/good/out 2>tried/good/err
    echo $? >tried/good/code
    [ -z "$files" ] || mv $files tried/good
    XIR_MEMORY=$PWD/tried XIR_MEMORY_STEP=${XIR_MEMORY_STEP:-$step} LD_PRELOAD=$short "$XIR" "$@" <"$input"
    [ -s tried/count ] && ! grep -q '^[12] runs' tried/count || bad "$ran: nothing was tried"
    [ ! -s tried/faults ] || { cp tried/faults err; cp tried/count out; bad "$ran"; }
}
none=/dev/null

# Reading a network.
short 1 $none "" info small.json
short 5 $none "" info --json small.fb
short 5 $none "" info small.onnx
short 9 $none "" info small.fb small.json
short 9 $none "" stats small.json
short 9 $none "" stats small.onnx --by op --plot
short 9 $none "" trace small.onnx "#1" --passes to-xir
short 9 $none "" trace small.onnx "#1" --back --passes fuse
run 0 opt small.onnx traced.json --provenance
short 2 $none "" trace traced.json conv1 --passes fuse
short 2 $none "" trace traced.json conv1 --back --passes fuse
short 19 $none "" compare small.json small.fb
short 29 $none "" compare small.json expected --seed 0 --json
short 1 $none "" show small.fb
short 9 $none "" show small.fb --op conv1
short 5 small.imodel "" show -
short 1 $none "" check small.json
short 3 $none "" check small.fb
short 3 $none "" check small.imodel
short 3 $none "" check chain.onnx
short 3 $none "" check --lazy small.json
run 0 plan small.json placed.json
short 1 $none "" check placed.json
short 1 $none "" plan small.json
short 1 $none "" plan small.json --how memory=etm --csv
printf 'id,lower,upper,size,offset\nb1,0,3,4,0\nb2,3,9,4,0\n' >two.csv
short 1 $none "" plan --from-csv two.csv
short 1 $none "" check bad.json
short 1 $none "" check torn.json
short 9 $none "" check --json bad.json small.fb
short 9 $none "" check --json torn.json
short 3 small.json "" check - --params small.raw
short 3 $none "" diff small.json other.json
short 5 $none "" diff small.json small.fb --params --json
short 5 $none "" diff bad.json small.fb --params --json

# Writing one.
short 1 $none "new.fb" convert --lazy small.json new.fb
short 1 $none "new.json new.raw" convert --lazy small.fb new.json
short 3 $none "new.imodel" convert --lazy small.fb new.imodel
short 3 $none "new.json new.raw" convert --lazy small.imodel new.json
short 3 $none "new.fb" convert small.imodel new.fb
short 3 $none "new.json new.raw" convert small.onnx new.json
short 5 small.fb "" convert - - --to imodel
short 5 $none "new.json params" convert small.fb new.json --out-params params --indent

# Changing and running one.
short 3 $none "new.fb" opt small.onnx new.fb --prove
short 3 $none "new.json new.raw" opt small.json new.json --passes "fix(fold,dce)" --set fold.limit=1M --disable dce \
    --verify
short 3 $none "new.json new.raw" opt small.json new.json --provenance
short 3 $none "new.fb" extract small.json new.fb --begin relu1 --end conv2
short 9 $none "new.onnx" extract chain.onnx new.onnx --end "#2"
short 3 $none "" opt small.json --passes nosuch
short 9 $none "" opt small.json --json --passes dce --disable dce   # no times
short 3 $none "" run small.fb
short 3 $none "" run small.json --compare expected
short 5 $none "" run small.onnx
short 9 $none "" run small.fb --json --compare expected

# Drawing it.
short 3 $none "new.svg" view small.json new.svg --select conv1
short 5 $none "new.dot" view small.json new.dot --select "#1" --diff other.json
short 9 $none "new.html" view small.onnx new.html

# Commands that need no network, and invalid command lines.
short 3 $none "" ops Conv2d
short 7 $none "" ops
short 5 $none "" ops Conv2d --json
short 5 $none "" ops Conv2d --markdown
short 3 $none "" ops Conv9d
short 5 $none "" passes
short 5 $none "" passes --json
short 3 $none "" passes fald
short 3 $none "" schema --fbs
short 41 $none "" schema --json-schema
short 1 $none "" help convert
short 9 $none "" help --man
short 41 $none "" completion zsh
short 1 $none "" --version
short 1 $none "" chek small.json
short 1 $none "" check --lasy small.json
short 3 $none "" check --from jsom small.json
short 3 $none "" --plugin "$BUILD/tests/plugin/flatten.so" ops Flatten
finish
