# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Ctrl-C and other requests to end: xir ends at once, with a message and an exit code of its own, and leaves files
# unchanged.
. "$SRC/tests/cli/lib.sh"

cp "$data/small.json" "$data/small.raw" .
cp small.json old.json
mkfifo fifo

# ended NAME CODE: xir, which has opened the pipe and waits for more, receives the signal.
ended() {
    ran="xir convert fifo old.json, SIG$1"
    env --default-signal=INT "$XIR" convert fifo old.json --from json --no-params >out 2>err &
    exec 9>fifo
    head -c 100 small.json >&9
    kill -s "$1" $!
    wait $!
    got=$?
    exec 9>&-
    [ "$got" -eq "$2" ] || bad "$ran: exit code $got, not $2"
    lines err 1; err "xir: interrupted; files that were being written are unchanged"; silent
    same old.json small.json
    ls -A | grep -q tmp && bad "$ran: a temporary file is left"
}
ended INT 130
ended TERM 143
ended HUP 129

# A signal that its caller ignores, as a shell does for jobs in the background, is ignored: xir reads to the end of the
# pipe.
ran="xir info fifo, SIGINT ignored"
"$XIR" info fifo --from json >out 2>err &
exec 9>fifo
kill -s INT $!
cat small.json >&9
exec 9>&-
wait $!
got=$?
[ "$got" -eq 0 ] || bad "$ran: exit code $got, not 0"
not_err interrupted; out "ops         7"
finish
