#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

# calls.sh NM SHARED EXCEPTIONS OBJECTS: which layer may call which, by the symbols of the library's objects.
#
#   - a lower layer does not call a higher one: base < common < object < type < graph < verbs < icraft < ops, memory,
#     serialize, passes, exec, quant < convert, targets < library < draw, compare, reduce, trial; these four and quant
#     call others than common only by the names that the shared library exports;
#   - ops, memory, serialize, passes, exec and quant call one another only by the names that the shared library exports;
#     so does convert call them, but for src/passes/manager and src/passes/support, on which it stands;
#   - the rooms of src/convert are layers too: node < spec < formula < rows < walk < a dialect < src/convert itself, and
#     a dialect does not call another one;
#   - folders do not call each other in a circle;
#   - files that call each other in a circle are in the same folder. In src/convert each such circle is listed, and has
#     at most 12 files.
#
# EXCEPTIONS has a line for each call that breaks a rule, "caller callee symbol reason", for each circle of files,
# "circle folder folder reason", for each folder that calls back, "folders caller callee reason", and for each circle in
# src/convert, "inside folder file,file reason". An exception that is not needed is an error. table.sh says what OBJECTS
# is.
set -u

. "$(dirname "$0")/table.sh"

awk '
function folder(file) { sub(/\/[^\/]*$/, "", file); return file }
function layer(file, p) { split(file, p, "/"); return p[2] == "core" ? p[3] : p[2] }
function fail(text) { print text; failed = 1 }
function excepted(key) { if (!(key in except)) return 0; needed[key] = 1; return 1 }

# The folder below src/convert; "" for files of src/convert itself.
function room(file, p) { return split(file, p, "/") > 3 ? p[3] : "" }
function floor_of(name) { return name == "" ? 7 : name in floor ? floor[name] : 6 }

# True if a layer may call a private function of a file of another layer.
function sees(a, b, to) {
    if (b == "common") return 1
    if (a == "convert" && b == "passes") return to ~ /^src\/passes\/(manager|support)\//
    if (a == "convert" || a == "targets") return rank[b] < rank["ops"]
    return rank[b] < rank[a] && rank[a] < rank["draw"] && a != "quant"
}

# Tarjan: the nodes of a circle, files or folders, get the same number.
function visit(v, i, w, list, k) {
    number[v] = low[v] = ++count
    stack[++depth] = v
    on[v] = 1
    k = split(calls[v], list, " ")
    for (i = 1; i <= k; i++) {
        w = list[i]
        if (!(w in number)) { visit(w); if (low[w] < low[v]) low[v] = low[w] }
        else if (on[w] && number[w] < low[v]) low[v] = number[w]
    }
    if (low[v] != number[v]) return
    circles++
    do { w = stack[depth--]; on[w] = 0; circle[w] = circles; members[circles] = members[circles] " " w } while (w != v)
}

# A list of files of one folder, in order: "a.c,b.c".
function names_of(list, n, file, i, k, text) {
    n = split(list, file, " ")
    for (i = 1; i <= n; i++) sub(/^.*\//, "", file[i])
    for (i = 2; i <= n; i++)
        for (k = i; k > 1 && file[k] < file[k - 1]; k--) { text = file[k]; file[k] = file[k - 1]; file[k - 1] = text }
    text = file[1]
    for (i = 2; i <= n; i++) text = text "," file[i]
    return text
}

BEGIN {
    split("base object type graph verbs icraft", names, " ")
    for (i in names) rank[names[i]] = i + 0
    rank["common"] = 1.5
    rank["ops"] = rank["memory"] = rank["serialize"] = rank["passes"] = rank["exec"] = rank["quant"] = 7
    rank["convert"] = rank["targets"] = 8
    rank["library"] = 9
    rank["draw"] = rank["compare"] = rank["reduce"] = rank["trial"] = 10
    split("node spec formula rows walk", names, " ")
    for (i in names) floor[names[i]] = i
}
$1 == "public" { public[$2] = 1 }
$1 == "except" { except[$2 " " $3 " " $4] = 1 }
$1 == "define" { where[$3] = $2; files[$2] = 1 }
$1 == "use"    { user[++uses] = $2; used[uses] = $3 }
END {
    for (i = 1; i <= uses; i++) {
        from = user[i]; name = used[i]
        if (!(name in where) || where[name] == from) continue
        to = where[name]
        if (!((from " " to) in seen)) calls[from] = calls[from] " " to
        seen[from " " to] = name
        pair = folder(from) " " folder(to)
        if (folder(from) != folder(to) && !(pair in between) && !excepted("folders " pair)) {
            between[pair] = from " calls " name " of " to
            calls["/" folder(from)] = calls["/" folder(from)] " /" folder(to)
        }
        a = layer(from); b = layer(to)
        if (!(a in rank) || !(b in rank)) { fail(from ": its folder is in no layer"); continue }
        if (a == b && a != "convert") continue
        checked++
        up = rank[b] > rank[a]
        if (a == b) {
            up = floor_of(room(to)) > floor_of(room(from))
            if (room(to) != room(from) && floor_of(room(to)) == 6 && floor_of(room(from)) == 6 &&
                !excepted(from " " to " " name)) fail(from " calls another dialect: " name " of " to)
        }
        if (up) { if (!excepted(from " " to " " name)) fail(from " calls upward: " name " of " to) }
        else if (a != b && !(name in public) && !sees(a, b, to) && !excepted(from " " to " " name))
            fail(from " calls a private name of another layer: " name " of " to)
    }
    for (f in files) if (!(f in number)) visit(f)
    for (f in files) if (!(("/" folder(f)) in number)) visit("/" folder(f))
    for (pair in seen) {
        split(pair, p, " ")
        if (circle[p[1]] != circle[p[2]] || folder(p[1]) == folder(p[2])) continue
        if (!excepted("circle " folder(p[1]) " " folder(p[2])))
            fail("a circle of files crosses folders: " p[1] " calls " seen[pair] " of " p[2])
    }
    for (pair in between) {
        split(pair, p, " ")
        if (circle["/" p[1]] == circle["/" p[2]]) fail("folders call each other in a circle: " between[pair])
    }
    for (i = 1; i <= circles; i++) {
        n = split(members[i], p, " ")
        if (n < 2 || p[1] !~ /^src\/convert\//) continue
        if (n > 12) fail("a circle of " n " files, expected at most 12: " names_of(members[i]))
        if (!excepted("inside " folder(p[1]) " " names_of(members[i])))
            fail("a circle that is not listed, of files of " folder(p[1]) ": " names_of(members[i]))
    }
    for (key in except) if (!(key in needed)) fail("not needed any more: " key)
    if (checked < 1000) fail("only " checked " calls between layers were seen")
    if (!failed) print checked " calls between layers and rooms, all of them down"
    exit failed
}' "$work/table"
