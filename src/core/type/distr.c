/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A distribution is a list of runs from 0 to its total in which valid and invalid runs alternate: xir_run.m is 1 in a
 * valid run and 0 in an invalid one. A builder keeps its list in this form after every call. So its cost depends on the
 * runs, not on the number of elements, and building is copying. */
#include <math.h>
#include <xir/icraft.h>
#include "forms.h"
#include "types.h"

static xir_runs sections(const xir_distr *distr) { return distr ? distr->sections : (xir_runs){ 0 }; }

/* ---- asking ------------------------------------------------------------------------------------------------ */

int64_t xir_distr_total(const xir_distr *distr) { return runs_total(sections(distr)); }

int64_t xir_distr_total_valid(const xir_distr *distr) {
    xir_runs runs = sections(distr);
    int64_t total = 0, start = 0;
    for (size_t i = 0; i < runs.size; start = runs.data[i++].end) {
        if (runs.data[i].m) total += runs.data[i].end - start;
    }
    return total;
}

int64_t xir_distr_total_invalid(const xir_distr *distr) {
    return xir_distr_total(distr) - xir_distr_total_valid(distr);
}

bool xir_distr_is_valid(const xir_distr *distr, int64_t i) {
    const xir_run *run = runs_find(sections(distr), i);
    return run && run->m != 0;
}

/* ---- builder ----------------------------------------------------------------------------------------------- */

struct xir_distr_builder {
    xir_context *ctx;
    run_list     runs;
    xir_uvalue   uvalue;
    bool         legacy;
    size_t       n_axes;
    int64_t      axes[];
};

static xir_distr_builder *builder_new(xir_context *ctx, const int64_t *axes, size_t n_axes) {
    if (n_axes > SIZE_MAX / 2 / sizeof *axes) return NULL;
    xir_distr_builder *b = mem_new(context_alloc(ctx), sizeof *b + n_axes * sizeof *axes);
    if (!b) return NULL;
    *b = (xir_distr_builder){ .ctx = ctx, .uvalue = XIR_UVALUE_ZERO, .n_axes = n_axes };
    run_list_init(&b->runs, context_alloc(ctx));
    if (n_axes) memcpy(b->axes, axes, n_axes * sizeof *axes);
    return b;
}

xir_distr_builder *xir_distr_new(xir_context *ctx, const int64_t *axes, size_t n_axes, int64_t total) {
    xir_distr_builder *b = total < 0 ? NULL : builder_new(ctx, axes, n_axes);
    if (b) run_list_add(&b->runs, total, 1, 0, 0);   /* the first run needs no memory */
    return b;
}

xir_distr_builder *xir_distr_edit(xir_context *ctx, const xir_distr *distr) {
    if (!distr) return NULL;
    xir_distr_builder *b = builder_new(ctx, distr->merged_axis.data, distr->merged_axis.size);
    if (!b) return NULL;
    b->uvalue = distr->uvalue;
    b->legacy = distr->legacy;
    if (run_list_append(&b->runs, distr->sections, 0, xir_distr_total(distr)) != XIR_OK) {
        xir_distr_free(b);
        return NULL;
    }
    return b;
}

void xir_distr_free(xir_distr_builder *b) {
    if (!b) return;
    run_list_free(&b->runs);
    mem_free(context_alloc(b->ctx), b, sizeof *b + b->n_axes * sizeof *b->axes);
}

static xir_status mark(xir_distr_builder *b, int64_t start, int64_t end, bool valid) {
    return b ? run_list_set(&b->runs, start, end, valid) : XIR_E_MEMORY;
}

xir_status xir_distr_set_valid(xir_distr_builder *b, int64_t start, int64_t end) {
    return mark(b, start, end, true);
}
xir_status xir_distr_set_invalid(xir_distr_builder *b, int64_t start, int64_t end) {
    return mark(b, start, end, false);
}

xir_status xir_distr_append(xir_distr_builder *b, int64_t count, bool valid) {
    return b ? run_list_add(&b->runs, count, valid, 0, 0) : XIR_E_MEMORY;
}

/* All or nothing: if a mask fails half way, it is undone. */
xir_status xir_distr_append_mask(xir_distr_builder *b, const bool *mask, size_t n) {
    if (!b) return XIR_E_MEMORY;
    int64_t total = runs_total(run_list_runs(&b->runs));
    for (size_t i = 0, same; i < n; i += same) {
        for (same = 1; i + same < n && mask[i + same] == mask[i]; same++) {}
        xir_status status = run_list_add(&b->runs, (int64_t)same, mask[i], 0, 0);
        if (status) {
            run_list_cut(&b->runs, total);
            return status;
        }
    }
    return XIR_OK;
}

/* The old spelling cannot express that invalid elements do not exist. */
void xir_distr_set_zero(xir_distr_builder *b, bool zero) {
    if (!b) return;
    b->uvalue = zero ? XIR_UVALUE_ZERO : XIR_UVALUE_NONE;
    if (!zero) b->legacy = false;
}

const xir_distr *distr_make(object_pool *pool, xir_i64s axes, xir_runs runs, xir_uvalue uvalue, bool legacy) {
    xir_distr distr = { { .cls = pool->ctx->types[CLASS_distr] }, axes, runs, uvalue, legacy };
    return (const xir_distr *)pool_intern(pool, &distr.head);
}

const xir_distr *xir_distr_build(xir_distr_builder *b, xir_diags *why) {
    if (!b) return out_of_memory(why);
    xir_i64s axes = { b->axes, b->n_axes };
    xir_runs runs = run_list_runs(&b->runs);
    const xir_distr *distr = distr_make(context_pool(b->ctx), axes, runs, b->uvalue, b->legacy);
    return distr ? distr : out_of_memory(why);
}

xir_status xir_distr_object_check(xir_infer *at) {
    const xir_distr *distr = xir_infer_attrs(at);
    bool good = runs_canonical(distr->sections);
    for (size_t i = 0; i < distr->sections.size; i++) {
        const xir_run *run = &distr->sections.data[i];
        good &= (run->m == 0 || run->m == 1) && run->exp == 0 && run->value == 0 && !signbit(run->value);
    }
    if (good) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "sections",
                          "expected sections with growing ends, alternating between valid (m 1) and invalid (m 0), "
                          "found others");
}

/* ---- form -------------------------------------------------------------------------------------------------- */

static void print(const xir_object *object, buffer *out) {
    const xir_distr *distr = (const xir_distr *)object;
    buffer_str(out, "@merged_distr([");
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        if (i) buffer_str(out, ", ");
        form_put_i64(out, distr->merged_axis.data[i]);
    }
    buffer_char(out, ']');
    if (distr->uvalue == XIR_UVALUE_NONE) buffer_str(out, "^NONE");
    else if (!distr->legacy) buffer_str(out, "^ZERO");
    buffer_str(out, ":{");
    int64_t start = 0;
    for (size_t i = 0; i < distr->sections.size; i++) {
        const xir_run *run = &distr->sections.data[i];
        if (i) buffer_str(out, ", ");
        buffer_str(out, run->m ? "v:[" : "u:[");
        form_put_i64(out, start);
        buffer_str(out, ", ");
        form_put_i64(out, run->end);
        buffer_char(out, ')');
        start = run->end;
    }
    buffer_str(out, "})");
}

/* Reads items separated by ", ", up to `close`; the opening bracket has been read. */
typedef bool item_fn(form_text *t, void *user);
static bool items(form_text *t, char close, item_fn *item, void *user) {
    if (form_skip(t, close)) return true;
    for (;;) {
        if (!item(t, user)) return false;
        if (form_skip(t, close)) return true;
        if (form_next(t) != ',') return form_expected(t, XIR_E_SYNTAX, t->at, "',' or '%c'", close);
        if (!form_literal(t, ", ")) return false;
    }
}

typedef struct axis_list {
    const xir_allocator *alloc;
    int64_t *data;
    size_t   size, room;
} axis_list;

static bool read_axis(form_text *t, void *user) {
    axis_list *l = user;
    int64_t axis;
    if (!form_i64(t, "an axis", &axis)) return false;
    if (!mem_reserve(l->alloc, (void **)&l->data, &l->room, l->size + 1, sizeof *l->data)) {
        form_fail(t->why, XIR_E_MEMORY, t->at, "out of memory");
        return false;
    }
    l->data[l->size++] = axis;
    return true;
}

/* "v:[0, 32)" */
static bool read_section(form_text *t, void *user) {
    run_list *runs = user;
    int c = form_next(t);
    if (c != 'v' && c != 'u') return form_expected(t, XIR_E_SYNTAX, t->at, "'v' or 'u'");
    t->at++;
    if (!form_literal(t, ":[")) return false;
    int64_t total = runs_total(run_list_runs(runs)), start, end;
    size_t start_at = t->at;
    if (!form_i64(t, "the start of a section", &start)) return false;
    if (start != total) {
        form_fail(t->why, XIR_E_BOUNDS, start_at, "expected a section that starts at %lld, found one that starts at %lld",
                  (long long)total, (long long)start);
        return false;
    }
    if (!form_literal(t, ", ")) return false;
    size_t end_at = t->at;
    if (!form_i64(t, "the end of a section", &end)) return false;
    if (end <= start) {
        form_fail(t->why, XIR_E_BOUNDS, end_at, "expected an end after %lld, found %lld", (long long)start,
                  (long long)end);
        return false;
    }
    if (!form_literal(t, ")")) return false;
    xir_status status = run_list_add(runs, end - start, c == 'v', 0, 0);
    if (status) form_fail(t->why, status, end_at, "out of memory");
    return status == XIR_OK;
}

/* "^ZERO" or "^NONE"; nothing in files before version 3.5. */
static bool read_uvalue(form_text *t, xir_uvalue *uvalue, bool *legacy) {
    *uvalue = XIR_UVALUE_ZERO;
    *legacy = form_next(t) != '^';
    if (*legacy) return true;
    const xir_enum *words = xir_uvalue_enum();
    size_t at = ++t->at;
    for (size_t i = 0; i < words->size; i++) {
        size_t n = strlen(words->names[i]);
        if (t->size - at >= n && memcmp(t->data + at, words->names[i], n) == 0) {
            t->at += n;
            *uvalue = (xir_uvalue)i;
            return true;
        }
    }
    return form_expected(t, XIR_E_UNKNOWN, at, "ZERO or NONE");
}

static const xir_object *parse(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    axis_list axes = { .alloc = context_alloc(pool->ctx) };
    run_list runs;
    xir_uvalue uvalue;
    bool legacy;
    const xir_distr *distr = NULL;
    (void)cls;
    run_list_init(&runs, context_alloc(pool->ctx));
    bool good = form_open(&t, text, "merged_distr", e) &&
                form_literal(&t, "[") && items(&t, ']', read_axis, &axes) &&
                read_uvalue(&t, &uvalue, &legacy) &&
                form_literal(&t, ":{") && items(&t, '}', read_section, &runs) && form_close(&t);
    if (good) {
        distr = distr_make(pool, (xir_i64s){ axes.data, axes.size }, run_list_runs(&runs), uvalue, legacy);
        if (!distr) form_fail(e, XIR_E_MEMORY, 0, "out of memory");
    }
    run_list_free(&runs);
    mem_free(axes.alloc, axes.data, axes.room * sizeof *axes.data);
    return (const xir_object *)distr;
}

const xir_form xir_distr_form = { "merged_distr", print, parse };
