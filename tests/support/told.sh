#!/bin/sh
# told.sh INCLUDE OUT: writes to OUT.c the wrappers that hold every public call against the rule of docs/errors.md: a call that was
# given a list of findings, or that builds and edits a network, has left an error there when it returns a failure. They are made
# from the headers, so that a new call cannot be forgotten. OUT.ld has the options with which the linker puts them in place.
#
# A call is wrapped if it returns a status or a pointer and has a parameter `xir_diags *`, or if it returns a status, or is one of
# those that make ops and Params, and its first parameter is the network, op or value that it changes.
set -eu

cat "$1"/xir/*.h | awk -v code="$2.c" -v options="$2.ld" '
# The text without comments, preprocessor lines and line ends.
{
    if ($0 ~ /^ *#/ || continued) { continued = /\\$/; next }
    line = $0
    sub(/\/\/.*/, "", line)
    text = text " " line
}

function trim(s) { gsub(/^ +| +$/, "", s); return s }

# Splits parameters at commas outside of brackets.
function split_params(s, out,    i, c, depth, n) {
    n = 1; out[1] = ""
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) out[++n] = ""
        else out[n] = out[n] c
    }
    return n
}

function name_of(p) {
    if (match(p, /\(\*[a-z_0-9]+\)/)) return substr(p, RSTART + 2, RLENGTH - 3)
    sub(/\[.*/, "", p)
    match(p, /[a-z_0-9]+ *$/)
    return trim(substr(p, RSTART))
}

function wrap(decl,    open, head, name, ret, params, n, p, i, names, list, status, edits, makes, net, before) {
    open = index(decl, "(")
    head = trim(substr(decl, 1, open - 1))
    match(head, /[a-z_0-9]+$/)
    name = substr(head, RSTART)
    ret = trim(substr(head, 1, RSTART - 1))
    status = ret == "xir_status"
    if ((!status && ret !~ /\*$/) || name ~ /^xir_diags?_/) return
    params = substr(decl, open + 1)
    sub(/\)[^)]*$/, "", params)
    if (params ~ /\.\.\./) return
    n = split_params(params, p)
    for (i = 1; i <= n; i++) {
        names = names (i > 1 ? ", " : "") name_of(p[i])
        if (p[i] ~ /xir_diags \*/ && p[i] !~ /const xir_diags/) list = name_of(p[i])
    }
    p[1] = trim(p[1])
    edits = status && name !~ /^xir_(params|json_print)/
    makes = name ~ /^xir_(op_new|op_clone|network_add|params_new|params_copy|params_borrow)$/
    if (!list && (edits || makes)) {
        if (p[1] ~ /^xir_network \*/) net = name_of(p[1])
        if (p[1] ~ /^xir_op \*/) net = "xir_op_network(" name_of(p[1]) ")"
        if (p[1] ~ /^xir_value \*/) net = "xir_value_network(" name_of(p[1]) ")"
    }
    if (!list && !net) return
    print "-Wl,--wrap=" name >options
    before = list ? "xir_diags_count_of(" list ", XIR_ERROR)" : "0"
    print ret " __real_" name "(" params ");" >code
    print ret " __wrap_" name "(" params ");" >code
    print ret " __wrap_" name "(" params ") {" >code
    if (net) print "    xir_network *changed = " name_of(p[1]) " ? " net " : NULL;" >code
    else print "    size_t before = " before ";" >code
    print "    " ret " result = __real_" name "(" names ");" >code
    print "    if (" (status ? "result" : "!result") ")" >code
    if (net) print "        check_network(\"" name "\", changed);" >code
    else print "        check(\"" name "\", " list ", before, " (status ? "result" : "XIR_OK") ");" >code
    print "    return result;\n}\n" >code
}

END {
    while ((start = index(text, "/*"))) text = substr(text, 1, start - 1) substr(text, start + index(substr(text, start), "*/") + 1)
    n = split(text, decls, ";")
    print "/* Made by told.sh from the public headers. */\n#include \"support/told.h\"\n" >code
    printf "" >options
    for (i = 1; i <= n; i++) {
        at = index(decls[i], "XIR_API ")
        if (!at) continue
        decl = substr(decls[i], at + 8)
        gsub(/  +/, " ", decl)
        wrap(decl)
    }
}'
