# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# Reads the public headers and calls declaration(name, ret, params, n, p), which another program defines, for every
# function in them: its name, the type of its result, its parameters as one text, and split in p[1] to p[n]. Functions
# with any number of arguments, like those that make messages, are left out.
#
#     awk -f declarations.awk -f PROGRAM.awk include/xir/*.h

# Joins the lines of all headers, without preprocessor lines and // comments.
{
    if ($0 ~ /^ *#/ || continued) { continued = /\\$/; next }
    line = $0
    sub(/\/\/.*/, "", line)
    text = text " " line
}

function trim(s) { gsub(/^ +| +$/, "", s); return s }

# Splits parameters at the commas that are outside parentheses.
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

function read_declaration(decl,    open, head, name, ret, params, n, p) {
    gsub(/  +/, " ", decl)
    if (decl ~ /\.\.\./) return
    open = index(decl, "(")
    head = trim(substr(decl, 1, open - 1))
    match(head, /[a-z_0-9]+$/)
    name = substr(head, RSTART)
    ret = trim(substr(head, 1, RSTART - 1))
    params = substr(decl, open + 1)
    sub(/\)[^)]*$/, "", params)
    n = split_params(params, p)
    declaration(name, ret, params, n, p)
}

END {
    while ((start = index(text, "/*")))
        text = substr(text, 1, start - 1) substr(text, start + index(substr(text, start), "*/") + 1)
    count = split(text, statements, ";")
    for (s = 1; s <= count; s++) {
        start = index(statements[s], "XIR_API ")
        if (start) read_declaration(substr(statements[s], start + 8))
    }
}
