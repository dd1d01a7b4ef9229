# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Makes the wrappers that hold every public call to the rule of docs/errors.md: a call that takes a list of findings, or
# that builds or edits a network, leaves an error there when it fails. The wrappers are made from the headers, so a new
# call cannot be forgotten. They are written to `code`, and to `options` the options with which the linker puts them in
# place:
#
#     awk -v code=FILE.c -v options=FILE.ld -f declarations.awk -f findings.awk include/xir/*.h
#
# A call is wrapped if it returns a status or a pointer and has a parameter `xir_diags *`; or if it returns a status, or
# makes ops or Params, and its first parameter is the network, op or value that it changes.

BEGIN {
    print "/* Made by findings.awk from the public headers. */\n#include \"support/findings.h\"\n" >code
    printf "" >options
}

function name_of(p) {
    if (match(p, /\(\*[a-z_0-9]+\)/)) return substr(p, RSTART + 2, RLENGTH - 3)
    sub(/\[.*/, "", p)
    match(p, /[a-z_0-9]+ *$/)
    return trim(substr(p, RSTART))
}

function declaration(name, ret, params, n, p,    i, names, list, status, edits, makes, net, before) {
    status = ret == "xir_status"
    if ((!status && ret !~ /\*$/) || name ~ /^xir_diags?_/) return
    for (i = 1; i <= n; i++) {
        names = names (i > 1 ? ", " : "") name_of(p[i])
        if (p[i] ~ /xir_diags \*/ && p[i] !~ /const xir_diags/) list = name_of(p[i])
    }
    p[1] = trim(p[1])
    edits = status && name !~ /^xir_(params|json_print)/
    makes = name ~ /^xir_(op_new|op_create|op_clone|op_set_output|network_add|value_new)$/ ||
            name ~ /^xir_params_(new|new_untyped|copy|copy_in|borrow|elements)$/
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
    else print "    size_t had = " before ";" >code
    print "    " ret " result = __real_" name "(" names ");" >code
    print "    if (" (status ? "result" : "!result") ")" >code
    if (net) print "        check_network(\"" name "\", changed);" >code
    else print "        check(\"" name "\", " list ", had, " (status ? "result" : "XIR_OK") ");" >code
    print "    return result;\n}\n" >code
}
