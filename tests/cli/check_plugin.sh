# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# xir check --plugin X.so without a file tries the plug-in, in another process: mistakes of its author are named, also
# those by which it crashes. tests/trial/mistakes.c has all mistakes that do not end a process.
. "$SRC/tests/cli/lib.sh"
mistakes=$BUILD/tests/plugin/mistakes.so

# The plug-ins of the tree have no fault.
for name in customop customkernel custompass customtarget; do
    run 0 check --plugin "$BUILD/plugins/$name.so"; out "$name.so: no fault found"; not_err "warning"
done
run 0 check --plugin "$BUILD/tests/plugin/flatten.so"; out "no fault found, 1 note"; err "it has no kernel"
run 0 check --plugin "$BUILD/tests/plugin/axes.so"; out "no fault found"
run 0 check --plugin "$BUILD/tests/plugin/npu.so"; out "no fault found"
run 0 check --json --plugin "$BUILD/plugins/customkernel.so"
json 'd["classes"] == 1 and d["ops"] == 40 and d["runs"] > 20 and d["errors"] == 0 and d["exit_code"] == 0'

# A mistake is an error with the class and the op.
XIR_MISTAKE=over; export XIR_MISTAKE
run 1 check --plugin "$mistakes"; out "mistakes.so: 1 error"
err "mistake::Over: SHARES (OVER, input) is wrong: element "
XIR_MISTAKE=counts
run 1 check --json --plugin "$mistakes"; json '"its kernel is not pure" in d["findings"][0]["message"]'

# A crash is one of the plug-in, not of the program. UndefinedBehaviorSanitizer ends a process by another signal.
crashes() { grep -qE "$1 crashes \((Segmentation fault|Illegal instruction)\) for $2\(" err || bad "$ran: $2 crashes"; }
XIR_MISTAKE=reads
run 1 check --plugin "$mistakes"; crashes "with inputs that are absent or of odd types" mistake::Reads
XIR_MISTAKE=forgets
run 1 check --plugin "$mistakes"; crashes "a request for memory that is refused" mistake::Forgets
XIR_MISTAKE=loops
run 1 check --plugin "$mistakes"
err "with attributes of a hostile file: no answer within 4 s of processor time for mistake::Loops("
XIR_MISTAKE=waits
run 1 check --plugin "$mistakes"; err "CHECK and INFER: no answer within 60 s for mistake::Waits("
XIR_MISTAKE=stuck
run 1 check --plugin "$mistakes"; err "the plug-in: it does not return while it is loaded"

# A plug-in whose classes have faults of all kinds, one that cannot be loaded, and a line without anything to check.
run 1 check --plugin "$BUILD/tests/plugin/faulty.so"; err "faulty::None"; err "faulty::Two"; err "faulty::Null"
err "faulty::Abort: its kernel crashes (Aborted)"; crashes "faulty::Write: its kernel" faulty::Write
crashes "faulty::Deep: its kernel" faulty::Deep
XIR_MISTAKE=text
run 2 check --plugin "$mistakes"; err "or the rows do not end with END"
run 3 check --plugin nowhere.so; err "cannot be loaded"
run 2 check; err "usage: xir check FILE"; silent
finish
