/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Finds the place at which two networks begin to differ: all values of the last two networks are computed for one
 * sample, and compared in the order of the run. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "proof.h"

typedef struct seen_value {
    xir_str    name;
    int64_t    id;
    xir_array *array;
} seen_value;

/* All values of a run, recorded in order. */
typedef struct seen {
    const xir_proof *p;
    seen_value      *items;
    size_t           n, room;
    bool             failed;
} seen;

static bool remember(void *user, const xir_value *value, const xir_array *array) {
    seen *s = user;
    if (s->p->cancel && s->p->cancel(s->p->user)) return false;
    s->failed |= !mem_reserve(&s->p->ctx->alloc, (void **)&s->items, &s->room, s->n + 1, sizeof *s->items);
    if (s->failed) return false;
    xir_array *kept = xir_array_retain((xir_array *)(uintptr_t)array);
    s->items[s->n++] = (seen_value){ xir_value_name(value), xir_value_id(value), kept };
    return true;
}

/* Orders by name, and values without a name by id. */
static int by_name(const void *a, const void *b) {
    const seen_value *x = a, *y = b;
    int order = str_order(x->name, y->name);
    return order || x->name.size ? order : (x->id > y->id) - (x->id < y->id);
}

typedef struct search {
    const xir_proof *p;
    const seen      *was;
    xir_diags       *why;
    bool             found;
} search;

void proof_describe_difference(const char *what, xir_str name, int64_t id, const xir_array *now,
                               const xir_difference *d, xir_diags *why) {
    size_t count = xir_array_count(now);
    char called[120];
    if (name.size) snprintf(called, sizeof called, "'%.*s'", CLIP_TO(name, 80));
    else snprintf(called, sizeof called, "%" PRId64, id);
    diag_fail(why, XIR_E_INVALID, XIR_STR(""),
              "%s %s: %zu of %zu elements %s, the first is number %zu: it was %.9g and is %.9g now; the largest "
              "difference is %.3g", what, called, d->count, count, d->count == 1 ? "differs" : "differ", d->first,
              d->b, d->a, d->largest);
}

/* Returns true if the value differs from the earlier value of its name. A new value, or one with another shape, can't
 * be compared. */
static bool find_first(void *user, const xir_value *value, const xir_array *array) {
    search *s = user;
    const seen_value key = { xir_value_name(value), xir_value_id(value), NULL };
    const seen_value *was = s->was->n ? bsearch(&key, s->was->items, s->was->n, sizeof key, by_name) : NULL;
    xir_difference d;
    if (s->p->cancel && s->p->cancel(s->p->user)) return false;
    if (!was || xir_array_compare(array, was->array, s->p->absolute, s->p->relative, &d) != XIR_OK) return true;
    if (!d.same_shape || !d.count) return true;
    proof_describe_difference("the first value that differs is", key.name, key.id, array, &d, s->why);
    s->found = true;
    return false;
}

void proof_report_first(xir_proof *p, const xir_network *net, size_t sample, xir_array *const *now, xir_diags *why) {
    uint64_t room;
    const uint64_t held = proof_held(p, p->inputs, p->n_inputs * p->n_samples, now, p->n_outputs * p->n_samples);
    if (proof_room(p, held, &room, NULL)) return;
    const uint64_t half = room - room / 2;
    seen was = { .p = p };
    search s = { p, &was, why, false };
    const xir_array *const *inputs = (const xir_array *const *)p->inputs + sample * p->n_inputs;
    xir_array **outputs = proof_new_arrays(p->ctx, p->n_outputs);
    const xir_run_options remembering = XIR_INIT(xir_run_options, .watch = remember, .user = &was,
                                                 .threads = p->threads, .max_work = p->max_work,
                                                 .max_memory = half),
                          searching = XIR_INIT(xir_run_options, .watch = find_first, .user = &s, .threads = p->threads,
                                               .max_work = p->max_work, .max_memory = half,
                                               .arena = proof_is_planned(net));
    if (outputs && p->last &&
        xir_network_run(p->last, inputs, p->n_inputs, outputs, p->n_outputs, &remembering, NULL) == XIR_OK) {
        for (size_t i = 0; i < p->n_outputs; i++) {
            xir_array_free(outputs[i]);
            outputs[i] = NULL;
        }
        if (was.n) qsort(was.items, was.n, sizeof *was.items, by_name);
        (void)xir_network_run(net, inputs, p->n_inputs, outputs, p->n_outputs, &searching, NULL);
    }
    for (size_t i = 0; i < was.n; i++) xir_array_free(was.items[i].array);
    mem_free(&p->ctx->alloc, was.items, was.room * sizeof *was.items);
    proof_free_arrays(p->ctx, outputs, p->n_outputs);
}
