/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One scale as an object of its own: what an item of an array of scales is. A plain scale is a float32. An exponent
 * scale is m * 2^-exp, and its origin is the float32 that it stands for and from which it may differ. */
#include <math.h>
#include "forms.h"
#include "number.h"
#include "types.h"

static const xir_object *made(object_pool *pool, const xir_object *object, form_error *e) {
    const xir_object *own = pool_intern(pool, object);
    return own ? own : form_fail(e, XIR_E_MEMORY, 0, "out of memory");
}

static const xir_object *plain_made(object_pool *pool, double origin, form_error *e) {
    const xir_scale scale = { { .cls = pool->ctx->types[CLASS_scale] }, origin };
    return made(pool, &scale.head, e);
}

static const xir_object *exp_made(object_pool *pool, int64_t m, int64_t exp, double origin, form_error *e) {
    const xir_exp_scale scale = { { .cls = pool->ctx->types[CLASS_exp_scale] }, m, exp, origin };
    return made(pool, &scale.head, e);
}

/* A spelling has a float32, so an object that keeps a double could not be read again. */
xir_status xir_scale_object_check(xir_infer *at) {
    const xir_object *scale = xir_infer_attrs(at);
    double origin = scale->cls->what == WHAT_EXP ? ((const xir_exp_scale *)scale)->origin_scale
                                                 : ((const xir_scale *)scale)->origin_scale;
    if (isnan(origin) || number_to_f32(origin) == origin) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "origin_scale", "%.17g is not a float32: expected one", origin);
}

/* "@scale(0.377)" */
static void print_plain(const xir_object *object, buffer *out) {
    buffer_str(out, "@scale(");
    form_put_f32(out, (float)((const xir_scale *)object)->origin_scale);
    buffer_char(out, ')');
}

static const xir_object *parse_plain(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    float origin;
    (void)cls;
    if (!form_open(&t, text, "scale", e) || !form_f32(&t, "a scale", &origin) || !form_close(&t)) return NULL;
    return plain_made(pool, (double)origin, e);
}

/* "@exp_scale(<3, 3>, 0.377)" */
static void print_exp(const xir_object *object, buffer *out) {
    const xir_exp_scale *scale = (const xir_exp_scale *)object;
    buffer_str(out, "@exp_scale(<");
    form_put_i64(out, scale->m);
    buffer_str(out, ", ");
    form_put_i64(out, scale->exp);
    buffer_str(out, ">, ");
    form_put_f32(out, (float)scale->origin_scale);
    buffer_char(out, ')');
}

static const xir_object *parse_exp(object_pool *pool, const xir_class *cls, xir_str text, form_error *e) {
    form_text t;
    int64_t m, exp;
    float origin;
    (void)cls;
    if (!form_open(&t, text, "exp_scale", e) || !form_literal(&t, "<") || !form_i64(&t, "a factor m", &m) ||
        !form_literal(&t, ", ") || !form_i64(&t, "an exponent", &exp) || !form_literal(&t, ">, ") ||
        !form_f32(&t, "an origin", &origin) || !form_close(&t)) {
        return NULL;
    }
    return exp_made(pool, m, exp, (double)origin, e);
}

const xir_form xir_scale_form     = { "scale",     print_plain, parse_plain };
const xir_form xir_exp_scale_form = { "exp_scale", print_exp,   parse_exp   };
