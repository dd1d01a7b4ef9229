/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The nodes that a conversion leaves. Some of them only wait for others: an input has no type, or is not constant,
 * because the node that makes it stays. The report names causes, those that keep most nodes first, and counts. */
#include <stdio.h>
#include <stdlib.h>
#include "walk/walk.h"

/* Returns the row of a node, or of what nodes wait for, or NULL if there is none. */
static const stayed *row_of(const stayed_list *s, const void *key) {
    const uint32_t *known = pointer_table_find(&s->of, key);
    return known && *known < s->n && !s->rows[*known].gone ? &s->rows[*known] : NULL;
}

/* Returns the cause for which a node waits: the node that makes the input, if it stays, too; else the input itself,
 * which other nodes may wait for as well. NULL: nothing. */
static const void *awaited(const conversion *c, const xir_value *v) {
    const xir_op *producer = v ? xir_value_op(v) : NULL;
    return producer && row_of(&c->stayed, producer) ? (const void *)producer : v;
}

/* A key may be that of a node that is gone. */
static bool put(stayed_list *s, const void *key, uint32_t row) {
    uint32_t *of = pointer_table_add(&s->of, key, row);
    if (of) *of = row;
    return of;
}

bool stayed_add(conversion *c, const xir_node *at) {
    stayed_list *s = &c->stayed;
    const size_t size = strlen(at->reason) + 1;
    const void *what = awaited(c, at->waits_for);
    if (!mem_reserve(context_alloc(c->ctx), (void **)&s->rows, &s->room, s->n + 1, sizeof *s->rows)) return false;
    char *reason = arena_take(&c->scratch, size);
    if (!reason) return false;
    memcpy(reason, at->reason, size);
    const stayed *known = what ? row_of(s, what) : NULL;
    const uint32_t own = (uint32_t)s->n, cause = known ? known->cause : own;
    s->rows[s->n++] = (stayed){ .op = at->op, .cause = cause, .reason = at->fate == NODE_STAYS ? reason : NULL };
    s->rows[cause].keeps++;
    return put(s, at->op, own) && (known || !what || put(s, what, own));
}

void stayed_forget(conversion *c, size_t from) {
    stayed_list *s = &c->stayed;
    for (size_t i = from; i < s->n; i++) {
        if (!s->rows[i].gone) s->rows[s->rows[i].cause].keeps--;
        s->rows[i].gone = true;
    }
}

/* Causes of one class with one reason are reported as one: the first of them, and how many follow. */
typedef struct cause_group {
    const stayed *first;
    size_t        causes, keeps;
} cause_group;

/* Causes of one group next to each other, in order. */
static int compare_causes(const void *a, const void *b) {
    const stayed *x = *(const stayed *const *)a, *y = *(const stayed *const *)b;
    const uintptr_t p = (uintptr_t)x->op->cls, q = (uintptr_t)y->op->cls;
    if (p != q) return p > q ? 1 : -1;
    const int reasons = strcmp(x->reason, y->reason);
    return reasons ? reasons : (x->cause > y->cause) - (x->cause < y->cause);
}

/* Most nodes first, then by order. */
static int compare_groups(const void *a, const void *b) {
    const cause_group *x = a, *y = b;
    if (x->keeps != y->keeps) return x->keeps > y->keeps ? -1 : 1;
    return (x->first->cause > y->first->cause) - (x->first->cause < y->first->cause);
}

/* Strict: each cause is an error of its own. */
static size_t group_causes(const stayed **causes, size_t n, bool strict, cause_group *groups) {
    size_t n_groups = 0;
    qsort((void *)causes, n, sizeof *causes, compare_causes);
    for (size_t i = 0; i < n; i++) {
        const stayed *c = causes[i], *last = i ? causes[i - 1] : NULL;
        const bool same = !strict && last && last->op->cls == c->op->cls && strcmp(last->reason, c->reason) == 0;
        if (!same) groups[n_groups++] = (cause_group){ .first = c };
        groups[n_groups - 1].causes++;
        groups[n_groups - 1].keeps += c->keeps;
    }
    qsort(groups, n_groups, sizeof *groups, compare_groups);
    return n_groups;
}

static xir_status say_group(conversion *c, const cause_group *group) {
    const xir_severity severity = c->strict ? XIR_ERROR : XIR_NOTE;
    const xir_status code = c->strict ? XIR_E_UNKNOWN : XIR_OK;
    const size_t more = group->causes - 1, waiting = group->keeps - group->causes;
    const char *reason = group->first->reason;
    const convert_class *cls = conversion_class(c, group->first->op->cls);
    char alike[64] = "", waits[64] = "";
    if (!cls) return XIR_E_MEMORY;
    if (more) snprintf(alike, sizeof alike, "%zu more of its type", more);
    if (waiting) snprintf(waits, sizeof waits, "%zu that wait%s for %s", waiting, waiting == 1 ? "s" : "",
                          more ? "them" : "it");
    const xir_node at = { .c = c, .op = group->first->op, .cls = cls };
    if (!more && !waiting) node_say(&at, severity, code, NULL, "not converted: %s", reason);
    else node_say(&at, severity, code, NULL, "not converted, nor %s %s%s%s: %s",
                  (more ? more : waiting) == 1 ? "is" : "are", alike, more && waiting ? ", nor " : "", waits, reason);
    return XIR_OK;
}

xir_status stayed_report(conversion *c) {
    const stayed_list *s = &c->stayed;
    const xir_allocator *alloc = context_alloc(c->ctx);
    size_t n = 0, stays = 0;
    const stayed **causes = mem_new(alloc, (s->n + 1) * sizeof *causes);
    cause_group *groups = mem_new(alloc, (s->n + 1) * sizeof *groups);
    xir_status status = causes && groups ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; !status && i < s->n; i++) {
        if (s->rows[i].gone) continue;
        if (s->rows[s->rows[i].cause].reason) stays++;   /* nodes that are wrong have their findings */
        if (s->rows[i].cause == i && s->rows[i].reason) causes[n++] = &s->rows[i];
    }
    if (!status) n = group_causes(causes, n, c->strict, groups);
    for (size_t i = 0; i < n && !status; i++) status = say_group(c, &groups[i]);
    if (n && !status) {
        xir_diags_add(c->why, XIR_NOTE, XIR_OK, XIR_STR(""), "%s%zu of %zu %ss %s not converted, for %zu reason%s",
                      c->prefix, stays, c->nodes, convert_node(c->dialect), stays == 1 ? "is" : "are", n,
                      n == 1 ? "" : "s");
    }
    mem_free(alloc, (void *)causes, (s->n + 1) * sizeof *causes);
    mem_free(alloc, groups, (s->n + 1) * sizeof *groups);
    return status;
}
