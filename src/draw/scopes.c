/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups by calls, by the names of ops, and by a tag. All are runs of the execution order: a scope that continues after
 * other ops is another group. An op without a name is in the scopes that both the named op before it and the one after
 * it have. */
#include <string.h>
#include "make.h"

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* An op in a call is drawn if the call is opened. The calls of an op, the outermost first; returns how many. */
static size_t calls_of(const xir_op *op, const xir_op *calls[DRAW_DEEP]) {
    size_t n = 0;
    for (const xir_op *call = xir_op_parent(op); call; call = xir_op_parent(call)) n++;
    const size_t most = n < DRAW_DEEP ? n : DRAW_DEEP;
    for (const xir_op *call = xir_op_parent(op); call; call = xir_op_parent(call))
        if (--n < DRAW_DEEP) calls[n] = call;
    return most;
}

void draw_find_calls(const picture *p, draw_spans *spans) {
    const xir_op *open[DRAW_DEEP], *calls[DRAW_DEEP];
    size_t span[DRAW_DEEP], depth = 0;
    for (size_t i = 0; i < p->n_nodes && !spans->failed; i++) {
        const size_t n = calls_of(p->nodes[i].op, calls);
        size_t same = 0;
        while (same < n && same < depth && open[same] == calls[same]) same++;
        for (depth = same; depth < n; depth++) {
            const xir_str name = xir_op_name(calls[depth]);
            open[depth] = calls[depth];
            span[depth] = draw_span_add(spans, (draw_span){ .begin = (uint32_t)i, .reason = DRAW_OF_CALL,
                                                            .label = name.size ? name : XIR_STR("Call") });
        }
        for (size_t k = 0; k < depth && !spans->failed; k++) spans->items[span[k]].end = (uint32_t)i + 1;
    }
}

/* ---- scopes ------------------------------------------------------------------------------------------------------ */

/* A scope of the current op: the part of the name, and its group. */
typedef struct open_scope {
    xir_str part;
    size_t  span;
} open_scope;

typedef struct scopes {
    draw_spans *spans;
    open_scope  open[DRAW_DEEP];
    size_t      depth;
} scopes;

/* The next part of a name from *at on that is followed by a separator; the last part of a name is not a scope. */
static bool next_part(xir_str name, char separator, size_t *at, xir_str *part) {
    while (*at < name.size && name.data[*at] == separator) ++*at;
    if (*at == name.size) return false;
    const char *end = memchr(name.data + *at, separator, name.size - *at);
    if (!end) return false;
    *part = (xir_str){ name.data + *at, (size_t)(end - name.data) - *at };
    *at = (size_t)(end - name.data) + 1;
    return *at < name.size;
}

static void close_to(scopes *s, size_t depth, size_t end) {
    while (s->depth > depth) {
        const size_t span = s->open[--s->depth].span;
        if (!s->spans->failed) s->spans->items[span].end = (uint32_t)end;
    }
}

/* The scopes of the node `named` replace the open ones, from the first that differs on. The old ones end at `end`. */
static void enter(scopes *s, xir_str name, size_t named, size_t begin, size_t end) {
    const char separator = memchr(name.data, '/', name.size) ? '/' : '.';
    xir_str part;
    size_t at = 0, depth = 0;
    bool same = true;
    while (depth < DRAW_DEEP && next_part(name, separator, &at, &part)) {
        same = same && depth < s->depth && xir_str_equal(s->open[depth].part, part);
        if (!same) {
            close_to(s, depth, end);
            s->open[depth] = (open_scope){ part, draw_span_add(s->spans, (draw_span){
                .begin = (uint32_t)begin, .reason = DRAW_OF_SCOPE, .label = part, .prefix = (uint32_t)at,
                .named = (uint32_t)named }) };
            s->depth = depth + 1;
        }
        depth++;
    }
    close_to(s, depth, end);
}

/* A constant is in the scopes of its user, which follows it. The name of a user is read once for all the constants
 * before it: as long as nothing else is entered, its scopes stay open. */
void draw_find_scopes(const picture *p, draw_spans *spans) {
    scopes s = { .spans = spans };
    size_t end = 0;                    /* after the last op with a name        */
    size_t entered = p->n_nodes;       /* whose scopes are open; n_nodes: none */
    for (size_t i = 0, user = 0; i < p->n_nodes && !spans->failed; i++) {
        if (user < i) user = i;
        const xir_op *call = xir_op_parent(p->nodes[i].op);
        while (user + 1 < p->n_nodes && p->nodes[user].constant && xir_op_parent(p->nodes[user + 1].op) == call) user++;
        if (i && xir_op_parent(p->nodes[i - 1].op) != call) {
            close_to(&s, 0, end);
            entered = p->n_nodes;
        }
        const xir_str name = xir_op_name(p->nodes[user].op);
        if (!name.size) continue;
        if (user != entered) enter(&s, name, user, i, end);
        entered = user;
        end = i + 1;
    }
    close_to(&s, 0, end);
}

/* ---- tags -------------------------------------------------------------------------------------------------------- */

static xir_str words_of(const xir_any *value, xir_str key) {
    if (value->kind == XIR_ANY_TEXT) return value->as.text;
    if (value->kind == XIR_ANY_BOOL) return value->as.boolean ? XIR_STR("true") : XIR_STR("false");
    return key;
}

void draw_find_tags(const picture *p, draw_spans *spans) {
    const xir_any *last = NULL;
    size_t span = 0;
    for (size_t i = 0; i < p->n_nodes && !spans->failed; i++) {
        const xir_any *value = xir_map_find(xir_op_tags(p->nodes[i].op), p->how.tag);
        if (value && !(last && xir_any_equal(value, last)))
            span = draw_span_add(spans, (draw_span){ .begin = (uint32_t)i, .reason = DRAW_OF_TAG,
                                                     .label = words_of(value, p->how.tag) });
        if (value && !spans->failed) spans->items[span].end = (uint32_t)i + 1;
        last = value;
    }
}
