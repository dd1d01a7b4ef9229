/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Arrays of scales and ratios from other ones. */
#include <xir/icraft.h>
#include "types.h"

/* Makes the array of a list and frees the list; NULL with a finding. */
static const xir_object *finish(xir_context *ctx, class_number number, run_list *runs, int64_t axis,
                                xir_status status, xir_diags *why) {
    const xir_object *array = NULL;
    if (!status) array = array_make(context_pool(ctx), number, run_list_runs(runs), axis);
    run_list_free(runs);
    if (array) return array;
    if (status != XIR_E_LIMIT) return out_of_memory(why);
    return refuse(why, status, "", "expected up to 2^63 - 1 items in an array, found more");
}

static const xir_object *concat(xir_context *ctx, class_number number, xir_runs a, int64_t axis, xir_runs b,
                                int64_t b_axis, xir_diags *why) {
    if (axis != b_axis) {
        return refuse(why, XIR_E_INVALID, "", "expected an array along axis %lld, found one along %lld",
                      (long long)axis, (long long)b_axis);
    }
    run_list runs;
    run_list_init(&runs, context_alloc(ctx));
    xir_status status = run_list_append(&runs, a, 0, runs_total(a));
    if (!status) status = run_list_append(&runs, b, 0, runs_total(b));
    return finish(ctx, number, &runs, axis, status, why);
}

/* The total is checked before anything is repeated, so that an absurd count fails at once. */
static const xir_object *repeat(xir_context *ctx, class_number number, xir_runs a, int64_t axis, size_t times,
                                xir_diags *why) {
    int64_t one = runs_total(a), total = 0;
    bool fits = one == 0 || (times <= INT64_MAX && mul_i64(one, (int64_t)times, &total));
    xir_status status = fits ? XIR_OK : XIR_E_LIMIT;
    run_list runs;
    run_list_init(&runs, context_alloc(ctx));
    if (fits && a.size == 1) status = run_list_add(&runs, total, a.data->m, a.data->exp, a.data->value);
    else if (total) while (times-- && !status) status = run_list_append(&runs, a, 0, one);
    return finish(ctx, number, &runs, axis, status, why);
}

static const xir_object *slice(xir_context *ctx, class_number number, xir_runs a, int64_t axis, size_t start,
                               size_t end, xir_diags *why) {
    uint64_t total = (uint64_t)runs_total(a);
    if (start > end || end > total) {
        return refuse(why, XIR_E_BOUNDS, "", "expected a part of %llu items, found [%zu, %zu)",
                      (unsigned long long)total, start, end);
    }
    run_list runs;
    run_list_init(&runs, context_alloc(ctx));
    return finish(ctx, number, &runs, axis, run_list_append(&runs, a, (int64_t)start, (int64_t)end), why);
}

static class_number class_of(const xir_scales *scales) {
    return xir_scales_is_exp(scales) ? CLASS_exp_scales : CLASS_scales;
}

static const void *none(xir_diags *why, const char *what) {
    return refuse(why, XIR_E_MISSING, "", "expected an array of %s, found none", what);
}

const xir_scales *xir_scales_concat(xir_context *ctx, const xir_scales *a, const xir_scales *b,
                                    xir_diags *why) {
    if (!a || !b) return none(why, "scales");
    if (class_of(a) != class_of(b)) {
        return refuse(why, XIR_E_TYPE, "", "expected %s scales, found %s ones",
                      xir_scales_is_exp(a) ? "exponent" : "plain", xir_scales_is_exp(b) ? "exponent" : "plain");
    }
    return (const xir_scales *)concat(ctx, class_of(a), a->items, a->axis, b->items, b->axis, why);
}

const xir_scales *xir_scales_repeat(xir_context *ctx, const xir_scales *scales, size_t times,
                                    xir_diags *why) {
    if (!scales) return none(why, "scales");
    return (const xir_scales *)repeat(ctx, class_of(scales), scales->items, scales->axis, times, why);
}

const xir_scales *xir_scales_slice(xir_context *ctx, const xir_scales *scales, size_t start, size_t end,
                                   xir_diags *why) {
    if (!scales) return none(why, "scales");
    return (const xir_scales *)slice(ctx, class_of(scales), scales->items, scales->axis, start, end, why);
}

const xir_norm_ratios *xir_norm_ratios_concat(xir_context *ctx, const xir_norm_ratios *a,
                                              const xir_norm_ratios *b, xir_diags *why) {
    if (!a || !b) return none(why, "ratios");
    return (const xir_norm_ratios *)concat(ctx, CLASS_norm_ratios, a->items, a->axis, b->items, b->axis, why);
}

const xir_norm_ratios *xir_norm_ratios_repeat(xir_context *ctx, const xir_norm_ratios *ratios, size_t times,
                                              xir_diags *why) {
    if (!ratios) return none(why, "ratios");
    return (const xir_norm_ratios *)repeat(ctx, CLASS_norm_ratios, ratios->items, ratios->axis, times, why);
}

const xir_norm_ratios *xir_norm_ratios_slice(xir_context *ctx, const xir_norm_ratios *ratios, size_t start,
                                             size_t end, xir_diags *why) {
    if (!ratios) return none(why, "ratios");
    return (const xir_norm_ratios *)slice(ctx, CLASS_norm_ratios, ratios->items, ratios->axis, start, end, why);
}
