# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# A long operation shows its progress on a terminal, in one line that disappears at the end, and nowhere else. The
# operation here is long because standard input waits until the line is shown, so nothing depends on speed.
. "$SRC/tests/cli/lib.sh"
cp "$data/small.json" "$data/small.raw" .
command -v python3 >/dev/null || skip "no python3"
python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip "no terminals"

# terminal.py TERM WAIT WORDS…: runs xir with stderr on a terminal of 60 columns, and feeds small.json to it once WAIT
# has been shown, or half a second later if WAIT is empty. Then it writes the output of the terminal to ./err and
# standard output to ./out, and exits with the code of xir. After a minute xir is killed: that is a failure.
cat >terminal.py <<'END'
import fcntl, os, pty, select, struct, subprocess, sys, termios, time
term, wait, words = sys.argv[1], sys.argv[2].encode(), sys.argv[3:]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
out = open("out", "wb")
p = subprocess.Popen([os.environ["XIR"]] + words, stdin=subprocess.PIPE, stdout=out, stderr=slave,
                     env=dict(os.environ, TERM=term))
os.close(slave)
end = time.monotonic() + 60

def more():
    """Returns what the terminal says next; nothing at its end."""
    if not select.select([master], [], [], max(0, end - time.monotonic()))[0]:
        p.kill()
        p.wait()
        sys.exit(99)
    try:
        return os.read(master, 4096)
    except OSError:
        return b""

said, part = b"", b"first"
while wait and wait not in said and part:
    said += (part := more())
if not wait:
    time.sleep(0.5)
try:
    p.stdin.write(open("small.json", "rb").read())
    p.stdin.close()
except BrokenPipeError:
    pass
while part:
    said += (part := more())
open("err", "wb").write(said)
sys.exit(p.wait() if wait in said else 98)
END
terminal() {
    want=$1
    shift
    ran="on a terminal: xir $*"
    python3 terminal.py "$@"
    got=$?
    [ "$got" -eq "$want" ] || bad "$ran: exit code $got, not $want"
}

erased=$(printf '\r\033[K')
terminal 0 xterm "reading <stdin>" show --compact -
same out small.json
err "${erased}xir: reading <stdin>, "
[ "$(tail -c 4 err)" = "$erased" ] || bad "the line is left"

# The pass that runs is named; this one runs until its input ends, after the line was shown.
terminal 0 xterm "small.json: wait" opt small.json --plugin "$BUILD/tests/plugin/waiting.so" --passes infer,wait
err "xir: optimising small.json: wait, "
[ "$(tail -c 4 err)" = "$erased" ] || bad "the line is left"

# Half of the work on a file is done once it is read: its reader, which waits, comes next.
printf 'any bytes' >net.slow
terminal 0 xterm "net.slow, 50 %" convert --eager net.slow slow.json --plugin "$BUILD/tests/plugin/waiting.so"
err "${erased}xir: reading net.slow, 50 %, "

# A run names the op that it computes, among those of the network.
cat >wait.xir <<'END'
xir 1
%x = Input() : fp32 NC [1,4]
%y = ReLU(%x) : fp32 NC [1,4]
%z = waiting::Wait(%y) : fp32 NC [1,4]
%o = ReLU(%z) : fp32 NC [1,4]
Output(%o)
END
terminal 0 xterm "wait.xir, op 3 of 5" run wait.xir --plugin "$BUILD/tests/plugin/waiting.so"
err "${erased}xir: running wait.xir, op 3 of 5, "
[ "$(tail -c 4 err)" = "$erased" ] || bad "the line is left"

# Findings are printed whole, after the line has disappeared.
terminal 0 xterm "reading <stdin>" info -; out "ops         7"
err "<stdin>: warning: there is no parameter file"
tr '\r' '\n' <err | grep -q "reading.*warning" && bad "both in one line"

# Not on a dumb terminal, and not if stderr is not a terminal.
terminal 0 dumb "" show --compact -; same out small.json
quiet
(sleep 0.5; cat small.json) | "$XIR" show --compact - >out 2>err || bad "from a pipe"
same out small.json; quiet
finish
