/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The trial of a plug-in: class by class, legal ops are drawn, and each is tried in all steps. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "sized.h"
#include "trying.h"

enum { DEFAULT_OPS = 40, SEARCHES = 150, VARIATIONS = 40, DEPENDED = 8, MOST_DEPENDED = 20, REFUSED = 3 };
enum { SENTENCE = 900 };

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void add(trying *t, xir_severity severity, const char *format, va_list args) {
    char sentence[SENTENCE];
    const xir_str key = xir_class_key(t->cls);
    vsnprintf(sentence, sizeof sentence, format, args);
    xir_diags_add(t->why, severity, severity == XIR_ERROR ? XIR_E_INVALID : XIR_OK, XIR_STR(""), "%.*s: %s",
                  xir_str_shown_(key.size), key.data, sentence);
}

void trial_fault(trying *t, fault_kind kind, const char *format, ...) {
    if (t->told[kind] || t->memory.ran_out) return;
    t->told[kind] = true;
    t->done.faults++;
    va_list args;
    va_start(args, format);
    add(t, XIR_ERROR, format, args);
    va_end(args);
}

static void warn(trying *t, const char *format, ...) XIR_PRINTF(2, 3);
static void warn(trying *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(t, XIR_WARNING, format, args);
    va_end(args);
}

static void note(trying *t, const char *format, ...) XIR_PRINTF(2, 3);
static void note(trying *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(t, XIR_NOTE, format, args);
    va_end(args);
}

void trial_step(trying *t, const char *step) {
    if (t->how->doing) t->how->doing(t->how->user, xir_class_key(t->cls), step, xir_str_of(t->line));
}

/* ---- the search for legal ops ------------------------------------------------------------------------------------ */

/* The most frequent refusal of the search. */
typedef struct refusals {
    size_t tries;
    bool   uninferred;       /* one is that the class has no inference */
    char   last[300];
} refusals;

static void note_refusal(trying *t, const made *m, refusals *r) {
    const xir_diag *d = trial_finding(m);
    if (!d) {
        if (xir_network_status(m->net) != XIR_E_MEMORY)
            trial_fault(t, FAULT_SILENT, "%s is refused (%s) without a sentence", t->line,
                        xir_status_name(xir_network_status(m->net)));
        return;
    }
    snprintf(r->last, sizeof r->last, "%.*s", xir_str_shown_(d->message.size), d->message.data);
    /* The library itself names what no class may do. */
    const char *s = r->last;
    r->uninferred = r->uninferred || strstr(s, " has no type inference");
    if (strstr(s, ": its inference gives "))
        trial_fault(t, FAULT_RESULTS, "%s: %s", t->line, strstr(s, ": its inference gives ") + 2);
    else if (strstr(s, " and does not say why"))
        trial_fault(t, FAULT_SILENT, "CHECK or INFER refuses %s (%s) without a sentence: call xir_infer_fail", t->line,
                    xir_status_name(d->code));
    else if (strstr(s, "expected dims from -1 on "))
        trial_fault(t, FAULT_RESULTS, "%s: INFER gives a dim below -1", t->line);
}

/* Looks for a legal op, from a random draw or from one that is near the last legal op. */
static bool search(trying *t, drawn *d, bool near, refusals *r, made *out) {
    if (near) trial_vary(t, d, XIR_STR(""));
    else trial_draw(t, d);
    for (int k = 0; k < VARIATIONS; k++) {
        trial_show(t, d);
        trial_step(t, "CHECK and INFER");
        *out = trial_make(t, d);
        if (!out->net) return false;
        if (out->op) return true;
        r->tries++;
        note_refusal(t, out, r);
        const xir_diag *found = trial_finding(out);
        char blamed[64] = "";
        if (found) snprintf(blamed, sizeof blamed, "%.*s", xir_str_shown_(found->path.size), found->path.data);
        trial_unmake(out);
        trial_vary(t, d, xir_str_of(blamed));
    }
    return false;
}

/* ---- one class --------------------------------------------------------------------------------------------------- */

/* All steps of a legal op. Those that take long are done with a few ops; *depended counts those that show much: more
 * than one real number. */
static void try_op(trying *t, const drawn *d, made *m, size_t number, size_t *depended) {
    t->done.ops++;
    trial_ask(t, d, m);
    trial_kernel(t, d, m);
    if (*depended < DEPENDED && number < MOST_DEPENDED) {
        trial_shares(t, d, m);
        *depended += trial_depends(t, m);
    }
    trial_tiles(t, d);
    if (number < REFUSED) trial_refused(t, d);
    trial_hostile(t, m);
}

static void try_class(trying *t) {
    const size_t most = t->how->ops ? t->how->ops : DEFAULT_OPS;
    refusals r = { 0 };
    size_t n = 0, depended = 0;
    drawn d, legal;
    memset(t->told, 0, sizeof t->told);
    t->has_kernel = false;
    t->exact = t->much = 0;
    t->done.classes++;
    for (int k = 0; k < SEARCHES && n < most && !t->memory.ran_out; k++) {
        made m = { NULL, NULL };
        const bool near = n && trial_once_in(t, 2);
        if (near) d = legal;
        if (!search(t, &d, near, &r, &m)) continue;
        t->has_kernel = t->has_kernel || xir_op_can_run(m.op);
        try_op(t, &d, &m, n++, &depended);
        trial_unmake(&m);
        legal = d;
    }
    if (t->memory.ran_out) return;
    if (!n && r.uninferred)
        note(t, "it has no type inference: its ops were not tried");
    else if (!n)
        warn(t, "none of %zu random ops is accepted, so most was not tried; the last refusal: %s", r.tries, r.last);
    else if (!t->has_kernel)
        note(t, "it has no kernel: what it computes was not tried");
}

/* ---- the plug-in ------------------------------------------------------------------------------------------------- */

static xir_status load(trying *t, const char *path, size_t *before) {
    xir_diags *found = xir_diags_new(t->ctx);
    xir_status status = found ? XIR_OK : XIR_E_MEMORY;
    for (size_t i = 0; i < t->how->n_before && !status; i++) status = xir_plugin_load(t->ctx, t->how->before[i], found);
    for (*before = 0; xir_context_class_at(t->ctx, *before);) ++*before;
    if (!status) status = xir_plugin_load(t->ctx, path, found);
    for (size_t i = 0; i < xir_diags_count(found); i++) xir_diags_append(t->why, xir_diags_at(found, i));
    xir_diags_free(found);
    return status;
}

/* Classes that cannot have ops in a network by themselves are left out. */
static bool is_tried(const xir_class *cls) {
    return xir_class_is_op(cls) && !(xir_class_traits(cls) & (XIR_TRAIT_ABSTRACT | XIR_TRAIT_SOURCE | XIR_TRAIT_SINK));
}

static xir_status try_all(trying *t, const char *path) {
    size_t at, number = 0;
    const xir_status status = load(t, path, &at);
    if (status) return status;
    for (; (t->cls = xir_context_class_at(t->ctx, at)) && !t->memory.ran_out; at++)
        if (is_tried(t->cls) && number++ >= t->how->skip) try_class(t);
    if (t->memory.ran_out) return no_memory(t->why);
    return t->done.faults ? XIR_E_INVALID : XIR_OK;
}

#define OPTIONS SIZED(xir_trial_options, user)
#define RESULT  SIZED(xir_trial, faults)

static xir_status check_arguments(const xir_context *ctx, const char *path, const xir_trial *out, xir_diags *why) {
    if (!ctx || !path)
        return xir_diags_add(why, XIR_ERROR, XIR_E_MISSING, XIR_STR(""), "%s is NULL", ctx ? "path" : "ctx");
    return out ? sized_check(RESULT, out, why) : XIR_OK;
}

xir_status xir_plugin_try(xir_context *ctx, const char *path, const xir_trial_options *options, xir_trial *out,
                          xir_diags *why) {
    xir_trial_options how;
    xir_status status = check_arguments(ctx, path, out, why);
    if (!status) status = sized_take(OPTIONS, &how, options, why);
    if (status) return status;
    trying t = { .how = &how, .why = why, .seed = how.seed + 1,
                 .memory = { .under = xir_context_allocator(ctx), .fill = 0xa5 } };
    t.ctx = xir_context_new(&(xir_allocator){ trial_resize, &t.memory });
    if (!t.ctx) return no_memory(why);
    status = try_all(&t, path);
    xir_context_free(t.ctx);
    const xir_trial done = { .classes = t.done.classes, .ops = t.done.ops, .runs = t.done.runs,
                             .faults = t.done.faults };
    if (out) (void)sized_fill(RESULT, out, &done, why);   // its size has been checked
    return status;
}
