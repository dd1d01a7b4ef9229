# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir reduce: commands that do not end, leave something, or answer at random; limits; Ctrl-C.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .
TMPDIR=$PWD/tmp; export TMPDIR; mkdir tmp
clean() { [ -z "$(ls tmp)" ] || bad "$ran: files are left in the folder of candidates"; }
printf '"%s" info "$1" | grep -q ReLU' "$XIR" >has_relu

# Commands that hang, fork, delete or change their file, or answer at random.
run 0 reduce small.json hang.json --check 'sh has_relu {} || sleep 100' --timeout 5 --max-runs 3; out ReLU; clean
run 1 reduce small.json no.json --check 'sleep 100; {}' --timeout 0.3; err "did not end within 0.3 s (--timeout)"; clean
run 0 reduce small.json fork.json --check '(sleep 100 &) ; sh has_relu {}' --timeout 20 --max-runs 3; quiet; clean
run 0 reduce small.json gone.json --check 'sh has_relu {} && rm -f {} && echo x >{}.more' --max-runs 3; quiet
run 0 info gone.json; out ReLU
echo 0 >count
run 0 reduce small.json random.json --check 'n=$(($(cat count) + 1)); echo $n >count; [ $n -lt 4 ] # {}'
err "random.json: warning: the answers are not stable"; run 0 check random.json

# The best so far is on disk; a limit of runs ends the search.
run 0 reduce small.json few.json --check 'sh has_relu {}' --max-runs 2; out "after 2 runs; stopped before the end"
run 0 info few.json; out ReLU
mkfifo started
ran="xir reduce, SIGINT"
env --default-signal=INT "$XIR" reduce small.json kept.json --check \
    'sh has_relu {} || exit 1; [ -e kept.json ] && { echo >started; sleep 100; }; exit 0' --timeout 60 >out 2>err &
pid=$!
cat started >/dev/null
kill -s INT $pid
wait $pid; got=$?
[ $got -eq 130 ] || bad "$ran: exit code $got, not 130"
err "xir: interrupted; the smallest network so far is kept"; clean
run 0 info kept.json; out ReLU
finish
