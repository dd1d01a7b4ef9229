/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tree of groups. A single op is not a group. Of several groups with the same ops one is left, which has what is
 * worth reading of each: "layer1/0", the name of scopes in a row; "layers", with 12 copies. */
#include <string.h>
#include "make.h"

/* ---- order: by the first node; an outer one before its inner ones; of equal ones the first that was found -------- */

static bool is_before(const draw_span *a, const draw_span *b) {
    if (a->begin != b->begin) return a->begin < b->begin;
    return a->end > b->end;
}

/* Merges runs of 1, 2, 4, … spans. */
static bool sort(draw_spans *spans) {
    draw_span *from = spans->items, *to = draw_new(spans->alloc, spans->n, sizeof *to);
    if (!to) return false;
    for (size_t width = 1; width < spans->n; width *= 2) {
        for (size_t at = 0; at < spans->n; at += 2 * width) {
            const size_t middle = at + width < spans->n ? at + width : spans->n;
            const size_t end = middle + width < spans->n ? middle + width : spans->n;
            size_t a = at, b = middle, out = at;
            while (a < middle || b < end)
                to[out++] = a < middle && (b == end || !is_before(&from[b], &from[a])) ? from[a++] : from[b++];
        }
        draw_span *turn = from;
        from = to;
        to = turn;
    }
    spans->items = from;
    draw_free(spans->alloc, to);
    return true;
}

/* ---- one group for spans of the same nodes ----------------------------------------------------------------------- */

static bool is_named(draw_reason reason) { return reason == DRAW_OF_SCOPE || reason == DRAW_OF_TAG; }

/* `inner` becomes a part of `outer`; false: they stay two. */
static bool join(draw_span *outer, const draw_span *inner) {
    if (outer->begin != inner->begin || outer->end != inner->end) return false;
    if (outer->reason == DRAW_OF_NETWORK) {
        if (inner->reason != DRAW_OF_SCOPE) return false;
        outer->prefix = inner->prefix;
        outer->named = inner->named;
        return true;
    }
    if (inner->reason == DRAW_OF_COPY) return is_named(outer->reason);
    if (inner->reason == DRAW_OF_REPEATS) {
        if (!is_named(outer->reason)) return false;
        outer->reason = DRAW_OF_REPEATS;
        outer->number = inner->number;
        return true;
    }
    if (outer->reason != DRAW_OF_SCOPE || inner->reason != DRAW_OF_SCOPE) return false;
    /* Both names are parts of the name of the first op. */
    outer->label.size = (size_t)(inner->label.data - outer->label.data) + inner->label.size;
    outer->prefix = inner->prefix;
    outer->named = inner->named;
    return true;
}

/* Leaves out groups of one op, and joins. Returns how many are left. */
static size_t reduce(draw_span *spans, size_t n) {
    size_t left = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && spans[i].end - spans[i].begin < 2) continue;
        if (left && join(&spans[left - 1], &spans[i])) continue;
        spans[left++] = spans[i];
    }
    return left;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static void add_group(picture *p, const draw_span *span, uint32_t parent) {
    draw_group *g = &p->groups[p->n_groups++];
    const draw_group *above = parent == DRAW_NONE ? NULL : &p->groups[parent];
    *g = (draw_group){ .parent = parent, .begin = span->begin, .end = span->end, .reason = span->reason,
                       .number = span->number, .label = span->label,
                       .depth = above ? above->depth + 1 : 0,
                       .prefix = span->prefix ? span->prefix : above ? above->prefix : 0,
                       .named = span->prefix ? span->named : above ? above->named : 0 };
}

/* Groups are added in preorder: the parent of the next one is the last one that has not ended before it begins. */
static void add_groups(picture *p, const draw_span *spans, size_t n) {
    uint32_t last = DRAW_NONE;
    for (size_t i = 0; i < n; i++) {
        while (last != DRAW_NONE && p->groups[last].parent != DRAW_NONE && p->groups[last].end <= spans[i].begin) {
            p->groups[last].next = (uint32_t)p->n_groups;
            last = p->groups[last].parent;
        }
        add_group(p, &spans[i], last);
        last = (uint32_t)p->n_groups - 1;
    }
    for (; last != DRAW_NONE; last = p->groups[last].parent) p->groups[last].next = (uint32_t)p->n_groups;
}

/* The innermost group of each node. */
static void find_nodes_groups(picture *p) {
    uint32_t group = 0;
    size_t next = 1;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        while (p->groups[group].end <= i && group) group = p->groups[group].parent;
        while (next < p->n_groups && p->groups[next].begin == i) group = (uint32_t)next++;
        p->nodes[i].group = group;
    }
}

bool draw_make_groups(picture *p, draw_spans *spans) {
    if (!spans->failed && !sort(spans)) spans->failed = true;
    if (spans->failed) return false;
    const size_t n = reduce(spans->items, spans->n);
    p->groups = draw_new(p->alloc, n, sizeof *p->groups);
    if (!p->groups) return false;
    add_groups(p, spans->items, n);
    find_nodes_groups(p);
    return true;
}
