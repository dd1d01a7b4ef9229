/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of patterns, and patterns of parts. A part is a row with copies of all that it points to, and a number, which
 * is higher than those of its inputs. So the parts that a root leads to, sorted by number, are the rows of a table. A
 * pattern keeps the builder alive, so that a part that is asked for is never another one at the same address. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include "pattern/pattern.h"
#include "sized.h"

struct xir_part {
    xir_parts       *of;
    xir_pattern_row  row;       /* without inputs */
    xir_part *const *inputs;
    uint32_t         n_inputs, number;
};

struct xir_parts {
    xir_context  *ctx;
    atomic_size_t references;   /* one for the caller, and one per pattern */
    arena         arena;
    uint32_t      n;
    xir_status    status;       /* the first failure, and its sentence */
    char          sentence[SENTENCE_ROOM];
};

xir_parts *xir_parts_new(xir_context *ctx) {
    xir_parts *of = mem_new(&ctx->alloc, sizeof *of);
    if (!of) return NULL;
    memset((void *)of, 0, sizeof *of);
    of->ctx = ctx;
    atomic_init(&of->references, 1);
    arena_init(&of->arena, &ctx->alloc);
    context_retain(ctx);
    return of;
}

void xir_parts_free(xir_parts *of) {
    if (!of || atomic_fetch_sub_explicit(&of->references, 1, memory_order_acq_rel) > 1) return;
    xir_context *ctx = of->ctx;
    arena_free(&of->arena);
    mem_free(&ctx->alloc, of, sizeof *of);
    xir_context_free(ctx);
}

xir_status xir_parts_status(const xir_parts *of) { return of ? of->status : XIR_E_MISSING; }

/* ---- parts ------------------------------------------------------------------------------------------------------ */

/* Remembers the first failure. */
static XIR_PRINTF(3, 4) xir_part *fail(xir_parts *of, xir_status code, const char *format, ...) {
    if (of->status) return NULL;
    of->status = code;
    va_list list;
    va_start(list, format);
    text_vprint(of->sentence, sizeof of->sentence, format, list);
    va_end(list);
    return NULL;
}

static xir_part *no_memory(xir_parts *of) { return fail(of, XIR_E_MEMORY, "out of memory"); }

/* Replaces a text by a copy. NULL stays NULL. */
static bool keep(xir_parts *of, const char **text) {
    xir_str copy;
    if (!*text) return true;
    if (!arena_text(&of->arena, (xir_str){ *text, strlen(*text) + 1 }, &copy)) return false;
    *text = copy.data;
    return true;
}

static bool keep_texts(xir_parts *of, xir_pattern_row *row) {
    bool ok = keep(of, &row->keys) && keep(of, &row->element);
    for (size_t i = 0; i < XIR_ROW_MAX_ATTRS && ok; i++)
        ok = keep(of, &row->attrs[i].name) && keep(of, &row->attrs[i].text);
    if (ok && row->type) {
        row->type = (const xir_type *)pool_intern(&of->ctx->pool, (const xir_object *)row->type);
        ok = row->type;
    }
    return ok;
}

/* Checks a row and its inputs; false with the failure remembered. */
static bool check(xir_parts *of, const xir_pattern_row *row, xir_part *const *inputs, size_t n) {
    if (row->kind <= XIR_PATTERN_NONE || row->kind > XIR_PATTERN_REST)
        return fail(of, XIR_E_INVALID, "part %u has no kind", of->n);
    if (row->n_inputs) return fail(of, XIR_E_INVALID, "the row of part %u has inputs of its own", of->n);
    if (n > XIR_ROW_MAX_INPUTS) {
        return fail(of, XIR_E_LIMIT, "part %u: expected at most %d inputs, found %zu", of->n, XIR_ROW_MAX_INPUTS, n);
    }
    if (n && !inputs) return fail(of, XIR_E_MISSING, "part %u: its inputs are NULL", of->n);
    for (size_t i = 0; i < n; i++) {
        if (!inputs[i]) return fail(of, XIR_E_MISSING, "part %u: input %zu is NULL", of->n, i);
        if (inputs[i]->of != of) return fail(of, XIR_E_INVALID, "part %u: input %zu is of another builder", of->n, i);
    }
    return true;
}

xir_part *xir_part_new(xir_parts *of, const xir_pattern_row *row, size_t row_size, xir_part *const *inputs, size_t n) {
    if (!of) return NULL;
    if (!row) return fail(of, XIR_E_MISSING, "the row of part %u is NULL", of->n);
    if (row_size < SIZE_TO(xir_pattern_row, where_value))
        return fail(of, XIR_E_ABI, "expected a row of sizeof(xir_pattern_row) bytes, found %zu", row_size);
    if (row_size > sizeof *row && sized_beyond(row, sizeof *row, row_size) < row_size)
        return fail(of, XIR_E_UNSUPPORTED, "part %u sets a member that this version does not know", of->n);
    xir_pattern_row known;
    memset(&known, 0, sizeof known);
    memcpy(&known, row, row_size < sizeof known ? row_size : sizeof known);
    if (!check(of, &known, inputs, n)) return NULL;
    if (of->n == UINT32_MAX) return fail(of, XIR_E_LIMIT, "there are too many parts");
    xir_part *part = keep_texts(of, &known) ? arena_take(&of->arena, sizeof *part) : NULL;
    xir_part **own = part ? arena_take(&of->arena, (n + 1) * sizeof *own) : NULL;
    if (!own) return no_memory(of);
    for (size_t i = 0; i < n; i++) own[i] = inputs[i];
    *part = (xir_part){ .of = of, .row = known, .inputs = own, .n_inputs = (uint32_t)n, .number = of->n++ };
    return part;
}

/* ---- patterns --------------------------------------------------------------------------------------------------- */

/* The parts that a root leads to; one more than fit are not counted. */
typedef struct reached {
    const xir_part *parts[XIR_PATTERN_ROWS + 1];
    size_t          n;
} reached;

static void reach(reached *r, const xir_part *part) {
    for (size_t i = 0; i < r->n; i++) {
        if (r->parts[i] == part) return;
    }
    if (r->n <= XIR_PATTERN_ROWS) r->parts[r->n++] = part;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = (*(const xir_part *const *)a)->number, y = (*(const xir_part *const *)b)->number;
    return (x > y) - (x < y);
}

static uint8_t row_of(const reached *r, const xir_part *part) {
    uint8_t row = 0;
    while (r->parts[row] != part) row++;
    return row;
}

/* Checks the root and the declaration. */
static xir_status check_pattern(const xir_parts *of, const xir_part *root, const xir_pattern_decl *decl,
                                xir_diags *why) {
    if (!of) return diag_null(why, "builder");
    if (!decl) return diag_null(why, "declaration of a pattern");
    const char *name = decl->abi == XIR_ABI && decl->name ? decl->name : "";
    if (of->status == XIR_E_MEMORY) return diag_memory(why);
    if (of->status) return diag_fail(why, of->status, XIR_STR(""), "pattern '%s': %s", name, of->sentence);
    if (!root) return diag_fail(why, XIR_E_MISSING, XIR_STR(""), "pattern '%s': its root is NULL", name);
    if (root->of != of)
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "pattern '%s': its root is of another builder", name);
    if (decl->abi == XIR_ABI && decl->size >= SIZE_TO(xir_pattern_decl, user) && (decl->rows || decl->n_rows))
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "pattern '%s' of parts has rows too", name);
    return XIR_OK;
}

/* Hands the rows to xir_pattern_new, with a declaration that has them. */
static xir_pattern *from_rows(const xir_parts *of, const reached *r, const xir_pattern_decl *decl, xir_diags *why) {
    xir_pattern_row *rows = mem_new(&of->ctx->alloc, r->n * sizeof *rows);
    if (!rows) return diag_memory(why), NULL;
    for (size_t i = 0; i < r->n; i++) {
        const xir_part *part = r->parts[i];
        rows[i] = part->row;
        rows[i].n_inputs = part->n_inputs;
        for (size_t k = 0; k < part->n_inputs; k++) rows[i].inputs[k] = row_of(r, part->inputs[k]);
    }
    xir_pattern_decl own = *decl;
    own.rows = rows;
    own.n_rows = r->n;
    own.row_size = sizeof *rows;
    xir_pattern *p = xir_pattern_new(of->ctx, &own, why);
    mem_free(&of->ctx->alloc, rows, r->n * sizeof *rows);
    return p;
}

xir_pattern *xir_parts_pattern(xir_parts *of, const xir_part *root, const xir_pattern_decl *given, xir_diags *why) {
    xir_pattern_decl decl;
    if (check_pattern(of, root, given, why) != XIR_OK || !pattern_take_decl(&decl, given, why)) return NULL;
    reached r = { .n = 0 };
    reach(&r, root);
    for (size_t i = 0; i < r.n && r.n <= XIR_PATTERN_ROWS; i++) {
        for (size_t k = 0; k < r.parts[i]->n_inputs; k++) reach(&r, r.parts[i]->inputs[k]);
    }
    if (r.n > XIR_PATTERN_ROWS) {
        diag_fail(why, XIR_E_LIMIT, XIR_STR(""), "pattern '%s': expected at most %d parts, found more",
                  decl.name ? decl.name : "", XIR_PATTERN_ROWS);
        return NULL;
    }
    qsort((void *)r.parts, r.n, sizeof *r.parts, by_number);
    xir_pattern *p = from_rows(of, &r, &decl, why);
    if (!p) return NULL;
    p->parts = of;
    atomic_fetch_add_explicit(&of->references, 1, memory_order_relaxed);
    for (size_t i = 0; i < r.n; i++) p->numbers[i] = r.parts[i]->number;
    return p;
}

/* ---- matches ---------------------------------------------------------------------------------------------------- */

/* The row of a part in the pattern of a match; XIR_PATTERN_ROWS if it has none. */
static uint32_t row_in(const xir_match *m, const xir_part *part) {
    const xir_pattern *p = m ? m->pattern : NULL;
    if (!p || !part || p->parts != part->of) return XIR_PATTERN_ROWS;
    uint32_t low = 0, high = p->n_nodes;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (p->numbers[middle] < part->number) low = middle + 1;
        else high = middle;
    }
    return low < p->n_nodes && p->numbers[low] == part->number ? low : XIR_PATTERN_ROWS;
}

xir_op *xir_match_part_op(const xir_match *m, const xir_part *part) {
    const uint32_t row = row_in(m, part);
    return row < XIR_PATTERN_ROWS ? m->ops[row] : NULL;
}

xir_value *xir_match_part_value(const xir_match *m, const xir_part *part) {
    const uint32_t row = row_in(m, part);
    return row < XIR_PATTERN_ROWS ? m->values[row] : NULL;
}
