/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The report of a run: one row per pass. */
#include "manager/report.h"

xir_pass_report *xir_pass_report_new(xir_context *ctx) {
    xir_pass_report *r = mem_new(&ctx->alloc, sizeof *r);
    if (!r) return NULL;
    *r = (xir_pass_report){ .ctx = ctx };
    arena_init(&r->arena, &ctx->alloc);
    context_retain(ctx);
    return r;
}

void xir_pass_report_free(xir_pass_report *r) {
    if (!r) return;
    xir_context *ctx = r->ctx;
    arena_free(&r->arena);
    mem_free(&ctx->alloc, r->rows, r->room * sizeof *r->rows);
    mem_free(&ctx->alloc, r, sizeof *r);
    xir_context_free(ctx);
}

const xir_pass_row *xir_pass_report_at(const xir_pass_report *r, size_t i) { return i < r->n ? &r->rows[i].row : NULL; }

void report_clear(xir_pass_report *r) {
    arena_free(&r->arena);
    r->n = 0;
}

xir_pass_row *report_row_of(xir_pass_report *r, size_t step, const pipeline_step *s, xir_network *net) {
    for (size_t i = 0; i < r->n && step != REPORT_ADDED; i++)
        if (r->rows[i].step == step) return &r->rows[i].row;
    xir_str text;
    if (!mem_reserve(&r->ctx->alloc, (void **)&r->rows, &r->room, r->n + 1, sizeof *r->rows)) return NULL;
    if (!arena_text(&r->arena, s->text, &text)) return NULL;
    report_row *made = &r->rows[r->n++];
    *made = (report_row){ .step = step };
    made->row = (xir_pass_row){ .text = text, .pass = s->pass, .depth = s->depth, .added = step == REPORT_ADDED,
                                .ops_before = net->n_ops, .ops_after = net->n_ops };
    return &made->row;
}

bool report_has_run(const xir_pass_report *r, const xir_pass_decl *pass) {
    for (size_t i = 0; i < r->n; i++)
        if (r->rows[i].row.pass == pass && r->rows[i].row.runs) return true;
    return false;
}

void report_sum_groups(xir_pass_report *r) {
    for (size_t i = 0; i < r->n; i++) {
        xir_pass_row *group = &r->rows[i].row;
        for (size_t k = i + 1; !group->pass && k < r->n && r->rows[k].row.depth > group->depth; k++)
            if (r->rows[k].row.pass) group->ns += r->rows[k].row.ns;
    }
}
