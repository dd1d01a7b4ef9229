#!/bin/sh
# calls.sh NM SHARED EXCEPTIONS OBJECTS: which layer may call which, by the symbols of the library's objects.
#
#   - a lower layer does not call a higher one: base < object < type < graph < verbs < ops, memory, serialize, passes,
#     exec < library < draw; draw calls them only by the names that the shared library exports;
#   - ops, memory, serialize, passes and exec call one another only by the names that the shared library exports;
#   - files that call each other in a circle are in the same folder.
#
# EXCEPTIONS has a line for each call that breaks a rule, "caller callee symbol reason", and for each circle, "circle
# folder folder reason". An exception that is not needed is an error. table.sh says what OBJECTS is.
set -u

. "$(dirname "$0")/table.sh"

awk '
function folder(file) { sub(/\/[^\/]*$/, "", file); return file }
function layer(file, p) { split(file, p, "/"); return p[2] == "core" ? p[3] : p[2] }
function fail(text) { print text; failed = 1 }
function excepted(key) { if (!(key in except)) return 0; needed[key] = 1; return 1 }

# Tarjan: the files of a circle get the same number.
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
    do { w = stack[depth--]; on[w] = 0; circle[w] = circles } while (w != v)
}

BEGIN {
    split("base object type graph verbs", names, " ")
    for (i in names) rank[names[i]] = i
    rank["ops"] = rank["memory"] = rank["serialize"] = rank["passes"] = rank["exec"] = 6
    rank["library"] = 7
    rank["draw"] = 8
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
        a = layer(from); b = layer(to)
        if (!(a in rank) || !(b in rank)) { fail(from ": its folder is in no layer"); continue }
        if (a == b) continue
        checked++
        if (rank[b] > rank[a]) { if (!excepted(from " " to " " name)) fail(from " calls upward: " name " of " to) }
        else if ((rank[b] == rank[a] || a == "draw") && !(name in public) && !excepted(from " " to " " name))
            fail(from " calls a private name of another layer: " name " of " to)
    }
    for (f in files) if (!(f in number)) visit(f)
    for (pair in seen) {
        split(pair, p, " ")
        if (circle[p[1]] != circle[p[2]] || folder(p[1]) == folder(p[2])) continue
        if (!excepted("circle " folder(p[1]) " " folder(p[2])))
            fail("a circle of files crosses folders: " p[1] " calls " seen[pair] " of " p[2])
    }
    for (key in except) if (!(key in needed)) fail("not needed any more: " key)
    if (checked < 1000) fail("only " checked " calls between layers were seen")
    if (!failed) print checked " calls between layers, all of them down"
    exit failed
}' "$work/table"
