/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Places of findings in a text. A finding about a part of a network has a path, one about bytes has a byte. A format
 * finds the bytes of paths; lines and columns are counted here in one pass over the text. */
#include <stdlib.h>
#include "formats.h"

/* Findings that get a place: by a path, by a byte. */
typedef struct named { xir_str path; size_t diag; } named;
typedef struct asking { size_t byte, diag; } asking;

typedef struct placing {
    const xir_diags  *from;
    named            *names;    /* in path order                                       */
    xir_format_place *places;   /* of each                                             */
    asking           *list;     /* findings that got a byte, in text order             */
    bool             *placed;   /* by finding                                          */
    size_t            n, n_places, n_list;
} placing;

/* ---- order ----------------------------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = place_order(x->path, y->path);
    return order ? order : (x->diag > y->diag) - (x->diag < y->diag);
}

static int by_byte(const void *a, const void *b) {
    const asking *x = a, *y = b;
    if (x->byte != y->byte) return x->byte < y->byte ? -1 : 1;
    return (x->diag > y->diag) - (x->diag < y->diag);
}

/* ---- findings -------------------------------------------------------------------------------------------------- */

static void sort_out(placing *p, bool paths, xir_str text, xir_str file) {
    for (size_t i = 0; i < p->n; i++) {
        const xir_diag *diag = xir_diags_at(p->from, i);
        if (diag->line || (diag->file.size && !xir_str_equal(diag->file, file))) continue;
        bool is_path = paths && (!diag->path.size || diag->path.data[0] == '/');
        if (diag->byte <= text.size) p->list[p->n_list++] = (asking){ (size_t)diag->byte, i };
        else if (is_path) p->names[p->n_places++] = (named){ diag->path, i };
    }
}

static xir_status find_places(placing *p, xir_context *ctx, const format *f, xir_str text) {
    if (!p->n_places) return XIR_OK;
    qsort(p->names, p->n_places, sizeof *p->names, by_path);
    for (size_t i = 0; i < p->n_places; i++) p->places[i] = (xir_format_place){ p->names[i].path, SIZE_MAX };
    xir_status status = f->find_places(ctx, text, p->places, p->n_places, f->decl ? f->decl->user : NULL);
    for (size_t i = 0; i < p->n_places; i++) {
        if (p->places[i].byte <= text.size) p->list[p->n_list++] = (asking){ p->places[i].byte, p->names[i].diag };
    }
    return status;
}

static void copy_findings(placing *p, xir_str text, xir_str file, xir_diags *out) {
    if (p->n_list) qsort(p->list, p->n_list, sizeof *p->list, by_byte);
    uint32_t line = 1;
    size_t at = 0, line_start = 0;
    for (size_t i = 0; i < p->n_list; i++) {
        for (; at < p->list[i].byte; at++) {
            if (text.data[at] != '\n') continue;
            line++;
            line_start = at + 1;
        }
        xir_diag diag = *xir_diags_at(p->from, p->list[i].diag);
        diag.file = file;
        diag.byte = at;
        diag.line = line;
        diag.column = (uint32_t)(at - line_start + 1);
        xir_diags_append(out, &diag);
        p->placed[p->list[i].diag] = true;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (p->placed[i]) continue;
        xir_diag diag = *xir_diags_at(p->from, i);
        if (!diag.file.size) diag.file = file;
        xir_diags_append(out, &diag);
    }
    diags_append_more(out, p->from);
}

xir_status format_place_findings(xir_context *ctx, const format *f, xir_str text, xir_str file, const xir_diags *from,
                                 xir_diags *out) {
    placing p = { .from = from, .n = xir_diags_count(from) };
    size_t one = sizeof *p.names + sizeof *p.places + sizeof *p.list + sizeof *p.placed;
    if (!p.n) return XIR_OK;
    char *block = mem_new(&ctx->alloc, p.n * one);
    if (!block) return diag_memory(out);
    memset(block, 0, p.n * one);
    p.names = (named *)(void *)block;
    p.places = (xir_format_place *)(void *)(p.names + p.n);
    p.list = (asking *)(void *)(p.places + p.n);
    p.placed = (bool *)(void *)(p.list + p.n);
    if (text.data) sort_out(&p, f->find_places, text, file);
    xir_status status = find_places(&p, ctx, f, text);
    if (!status) copy_findings(&p, text, file, out);
    else if (status == XIR_E_MEMORY) diag_memory(out);
    else diag_fail(out, status, XIR_STR(""), "the format %s does not find places in its text", f->name);
    mem_free(&ctx->alloc, block, p.n * one);
    return status;
}

xir_status xir_format_place_findings(xir_context *ctx, const char *format_name, xir_str text, xir_str file,
                                     const xir_diags *from, xir_diags *out) {
    format f;
    if (!format_named(ctx, format_name, &f, out)) return XIR_E_UNKNOWN;
    return format_place_findings(ctx, &f, text, file, from, out);
}
