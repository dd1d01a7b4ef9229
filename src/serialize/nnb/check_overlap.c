/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parameters that functions write: running statistics. If the data of such a parameter overlaps that of another one,
 * the runtime changes both. Data that is only read may be shared. */
#include <stdlib.h>
#include "nnb/check.h"

typedef struct piece {
    const char *begin, *end;
    uint32_t    variable;
    int32_t     function;    /* the first that writes it; -1: none does */
    uint32_t    input;       /* its number there                        */
} piece;

static bool is_true(const nnb_record *f, const char *argument) {
    const xir_map *extra = xir_op_extra(f->op);
    const xir_any *v = nnb_find(extra, xir_str_of(argument));
    return v && ((v->kind == XIR_ANY_BOOL && v->as.boolean) || (v->kind == XIR_ANY_INT && v->as.integer));
}

/* The inputs that a function writes: from *first on, *n of them. */
static void written_inputs(const nnb_record *f, uint32_t *first, uint32_t *n) {
    const bool norm = f->id == 22 || f->id == 326 || f->id == 270 || f->id == 263;
    *n = 0;
    if (norm && is_true(f, "batch_stat")) *first = 3, *n = 2;                   /* mean, variance */
    if (f->id == 23 && is_true(f, "update_running_mean")) *first = 1, *n = 2;   /* rmean, t       */
}

/* Marks what functions write in `of`, by variable. Returns whether there is anything. */
static bool find_written(const nnb_checking *c, piece *of) {
    bool any = false;
    for (size_t i = 0; i < c->m->records.size; i++) {
        const nnb_record *f = nnb_record_at(c->m, i);
        uint32_t first = 0, n;
        written_inputs(f, &first, &n);
        for (uint32_t k = first; k < first + n && k < f->in.n; k++) {
            piece *p = &of[nnb_int_at(c->m, f->in.first + k)];
            if (p->function < 0) p->function = (int32_t)i, p->input = k;
            any = true;
        }
    }
    return any;
}

static int piece_order(const void *a, const void *b) {
    const piece *x = a, *y = b;
    if (x->begin != y->begin) return (uintptr_t)x->begin < (uintptr_t)y->begin ? -1 : 1;
    return (x->variable > y->variable) - (x->variable < y->variable);
}

static void say_overlap(nnb_checking *c, const piece *a, const piece *b) {
    const piece *written = b->function >= 0 ? b : a, *other = written == b ? a : b;
    char place[80];
    snprintf(place, sizeof place, "/functions/%d/input/%u", (int)written->function, (unsigned)written->input);
    nnb_say(c, XIR_ERROR, XIR_E_INVALID, place, "the function writes variable %u, whose data overlaps that of variable "
            "%u: expected data of its own", (unsigned)written->variable, (unsigned)other->variable);
}

/* Each piece is compared with the one before it that ends last, and with the one of those that are written. */
static void sweep(nnb_checking *c, const piece *pieces, size_t n) {
    const piece *longest = NULL, *written = NULL;
    for (size_t i = 0; i < n; i++) {
        const piece *p = &pieces[i], *before = p->function >= 0 ? longest : written;
        if (before && (uintptr_t)p->begin < (uintptr_t)before->end) say_overlap(c, before, p);
        if (!longest || (uintptr_t)p->end > (uintptr_t)longest->end) longest = p;
        if (p->function >= 0 && (!written || (uintptr_t)p->end > (uintptr_t)written->end)) written = p;
    }
}

bool nnb_check_overlaps(nnb_checking *c) {
    const size_t n = c->m->variables.size;
    piece *pieces = arena_take(&c->m->scratch, n * sizeof *pieces);
    size_t used = 0;
    if (!pieces) return nnb_model_memory(c->m);
    for (size_t i = 0; i < n; i++) pieces[i] = (piece){ .variable = (uint32_t)i, .function = -1 };
    if (!find_written(c, pieces)) return true;
    for (size_t i = 0; i < n; i++) {
        const nnb_variable *v = nnb_variable_at(c->m, i);
        const blob *data = v->stored && v->bytes ? value_params(v->params)->data : NULL;
        if (!data) continue;
        pieces[used] = pieces[i];
        pieces[used].begin = (const char *)data->bytes;
        pieces[used++].end = (const char *)data->bytes + v->bytes;
    }
    if (used) qsort(pieces, used, sizeof *pieces, piece_order);
    sweep(c, pieces, used);
    return true;
}
