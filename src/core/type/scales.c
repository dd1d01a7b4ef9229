/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays of scales, exponent scales and ratios: a list of runs and an axis. The two classes of scales have the same
 * body, so that a pointer to scales may be to either. The value of a run is the scale or ratio. For an exponent
 * scale it is the origin, the float32 that m * 2^-exp stands for and from which it may differ. */
#include <math.h>
#include <xir/icraft.h>
#include "forms.h"
#include "types.h"

_Static_assert(offsetof(xir_scales, items) == offsetof(xir_exp_scales, items), "one body");
_Static_assert(offsetof(xir_scales, axis) == offsetof(xir_exp_scales, axis), "one body");

/* ---- making ------------------------------------------------------------------------------------------------ */

const xir_scales *scales_make(object_pool *pool, bool exp, xir_runs runs, int64_t axis) {
    xir_scales scales = { { .cls = pool->ctx->types[exp ? CLASS_exp_scales : CLASS_scales] }, runs, axis };
    return (const xir_scales *)pool_intern(pool, &scales.head);
}

const xir_norm_ratios *norm_ratios_make(object_pool *pool, xir_runs runs, int64_t axis) {
    xir_norm_ratios ratios = { { .cls = pool->ctx->types[CLASS_norm_ratios] }, axis, runs };
    return (const xir_norm_ratios *)pool_intern(pool, &ratios.head);
}

const xir_object *array_make(object_pool *pool, class_number number, xir_runs runs, int64_t axis) {
    if (number == CLASS_norm_ratios) return (const xir_object *)norm_ratios_make(pool, runs, axis);
    return (const xir_object *)scales_make(pool, number == CLASS_exp_scales, runs, axis);
}

static const xir_object *from_items(xir_context *ctx, class_number number, const int64_t *m, const int64_t *exp,
                                    const double *value, size_t n, int64_t axis) {
    const xir_object *array = NULL;
    run_list runs;
    run_list_init(&runs, context_alloc(ctx));
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        status = run_list_add(&runs, 1, m ? m[i] : 0, exp ? exp[i] : 0, (float)value[i]);
    }
    if (!status) array = array_make(context_pool(ctx), number, run_list_runs(&runs), axis);
    run_list_free(&runs);
    return array;
}

const xir_scales *xir_scales_from(xir_context *ctx, const double *scale, size_t n, int64_t axis) {
    return (const xir_scales *)from_items(ctx, CLASS_scales, NULL, NULL, scale, n, axis);
}

const xir_scales *xir_exp_scales_from(xir_context *ctx, const int64_t *m, const int64_t *exp,
                                      const double *origin, size_t n,
                                      int64_t axis) {
    return (const xir_scales *)from_items(ctx, CLASS_exp_scales, m, exp, origin, n, axis);
}

const xir_norm_ratios *xir_norm_ratios_from(xir_context *ctx, const double *ratio, size_t n, int64_t axis) {
    return (const xir_norm_ratios *)from_items(ctx, CLASS_norm_ratios, NULL, NULL, ratio, n, axis);
}

static bool is_ratios(const xir_object *array) { return array->cls == array->cls->ctx->types[CLASS_norm_ratios]; }
static xir_runs array_runs(const xir_object *array) {
    return is_ratios(array) ? ((const xir_norm_ratios *)array)->items : ((const xir_scales *)array)->items;
}
static int64_t array_axis(const xir_object *array) {
    return is_ratios(array) ? ((const xir_norm_ratios *)array)->axis : ((const xir_scales *)array)->axis;
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static xir_runs scale_runs(const xir_scales *scales) { return scales ? scales->items : (xir_runs){ 0 }; }
static xir_runs ratio_runs(const xir_norm_ratios *ratios) { return ratios ? ratios->items : (xir_runs){ 0 }; }

static const xir_run *item(xir_runs runs, size_t i) {
    return i < (uint64_t)runs_total(runs) ? runs_find(runs, (int64_t)i) : NULL;
}

size_t  xir_scales_count(const xir_scales *scales)  { return (size_t)runs_total(scale_runs(scales)); }
int64_t xir_scales_axis(const xir_scales *scales)   { return scales ? scales->axis : 0; }
bool    xir_scales_is_exp(const xir_scales *scales) { return object_what(scales) == WHAT_EXP; }

double scale_power(int64_t m, int64_t exp) {
    int64_t power = exp > 5000 ? 5000 : exp < -5000 ? -5000 : exp;
    return ldexp((double)m, (int)-power);
}

double xir_scales_at(const xir_scales *scales, size_t i) {
    const xir_run *run = item(scale_runs(scales), i);
    if (!run) return 0;
    return xir_scales_is_exp(scales) ? scale_power(run->m, run->exp) : (double)run->value;
}

bool xir_scales_exp_at(const xir_scales *scales, size_t i, int64_t *m, int64_t *exp, double *origin) {
    const xir_run *run = xir_scales_is_exp(scales) ? item(scale_runs(scales), i) : NULL;
    if (!run) return false;
    *m = run->m;
    *exp = run->exp;
    *origin = (double)run->value;
    return true;
}

size_t  xir_norm_ratios_count(const xir_norm_ratios *ratios) { return (size_t)runs_total(ratio_runs(ratios)); }
int64_t xir_norm_ratios_axis(const xir_norm_ratios *ratios)  { return ratios ? ratios->axis : 0; }

double xir_norm_ratios_at(const xir_norm_ratios *ratios, size_t i) {
    const xir_run *run = item(ratio_runs(ratios), i);
    return run ? (double)run->value : 0;
}

xir_status xir_array_object_check(xir_infer *at) {
    const xir_object *array = xir_infer_attrs(at);
    xir_runs runs = array_runs(array);
    bool good = runs_canonical(runs);
    for (size_t i = 0; i < runs.size && array->cls->what != WHAT_EXP; i++) {
        good &= runs.data[i].m == 0 && runs.data[i].exp == 0;
    }
    if (good) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "items",
                          "expected runs with growing ends and different neighbours, found others");
}

/* ---- forms ------------------------------------------------------------------------------------------------- */

/* "@scales([axis=-1]384*1,0.5)", "@exp_scales([axis=4]2*3/3/0.375)", "@norm_ratios([axis=-1]1.1)" */

static void print(const xir_object *object, buffer *out) {
    bool exp = object->cls->what == WHAT_EXP;
    xir_runs runs = array_runs(object);
    buffer_char(out, '@');
    buffer_str(out, object->cls->more->form->name);
    buffer_str(out, "([axis=");
    form_put_i64(out, array_axis(object));
    buffer_char(out, ']');
    int64_t start = 0;
    for (size_t i = 0; i < runs.size; start = runs.data[i++].end) {
        const xir_run *run = &runs.data[i];
        if (i) buffer_char(out, ',');
        if (run->end - start > 1) {
            form_put_i64(out, run->end - start);
            buffer_char(out, '*');
        }
        if (exp) {
            form_put_i64(out, run->m);
            buffer_char(out, '/');
            form_put_i64(out, run->exp);
            buffer_char(out, '/');
        }
        form_put_f32(out, run->value);
    }
    buffer_char(out, ')');
}

/* Returns true if digits and '*' come next. An item without a count may begin with digits too. */
static bool has_count(const form_text *t) {
    size_t at = t->at;
    while (at < t->size && t->data[at] >= '0' && t->data[at] <= '9') at++;
    return at > t->at && at < t->size && t->data[at] == '*';
}

static bool read_item(form_text *t, bool exp, run_list *runs) {
    size_t start = t->at;
    int64_t count = 1, m = 0, power = 0;
    float value;
    if (has_count(t)) {
        if (!form_i64(t, "a count", &count) || !form_literal(t, "*")) return false;
        if (count < 1) return form_expected(t, XIR_E_BOUNDS, start, "a count of at least 1");
    }
    if (exp) {
        if (!form_i64(t, "a factor m", &m) || !form_literal(t, "/")) return false;
        if (!form_i64(t, "an exponent", &power) || !form_literal(t, "/")) return false;
    }
    if (!form_f32(t, exp ? "an origin" : "a number", &value)) return false;
    xir_status status = run_list_add(runs, count, m, power, value);
    if (status) {
        form_fail(t->why, status, start, status == XIR_E_LIMIT ? "expected up to 2^63 - 1 items in all, found more"
                                                               : "out of memory");
    }
    return status == XIR_OK;
}

static const xir_object *parse(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    class_number number = cls->what == WHAT_EXP   ? CLASS_exp_scales
                        : cls->what == WHAT_PLAIN ? CLASS_scales
                                                  : CLASS_norm_ratios;
    form_text t;
    int64_t axis;
    if (!form_open(&t, text, cls->more->form->name, e)) return NULL;
    if (!form_literal(&t, "[axis=") || !form_i64(&t, "an axis", &axis) || !form_literal(&t, "]")) return NULL;
    run_list runs;
    run_list_init(&runs, context_alloc(pool->ctx));
    const xir_object *array = NULL;
    bool good = true;
    if (form_next(&t) != ')') {
        do good = read_item(&t, number == CLASS_exp_scales, &runs);
        while (good && form_skip(&t, ','));
    }
    if (good && form_next(&t) != ')') good = form_expected(&t, XIR_E_SYNTAX, t.at, "',' or ')'");
    if (good && form_close(&t)) {
        array = array_make(pool, number, run_list_runs(&runs), axis);
        if (!array) form_fail(e, XIR_E_MEMORY, 0, "out of memory");
    }
    run_list_free(&runs);
    return array;
}

const xir_form xir_scales_form      = { "scales",      print, parse };
const xir_form xir_exp_scales_form  = { "exp_scales",  print, parse };
const xir_form xir_norm_ratios_form = { "norm_ratios", print, parse };
