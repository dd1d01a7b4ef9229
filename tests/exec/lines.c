/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops along lines, and ops on maps, on every path and with 1, 2 and 7 threads, bit by bit: selections and cumulative
 * sums are those of plain loops; an op on a map in any order of its axes gives the elements that it gives in NHWC. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "element_loops.h"
#include "support/again.h"
#include "support/net.h"
#include "support/often.h"
#include "support/story.h"

enum { MOST_OUT = 2 };

/* ---- ways to run ------------------------------------------------------------------------------------------------ */

static void run_net(const xir_network *net, xir_array *const *in, size_t n, xir_array **out, const char *story) {
    const size_t n_out = xir_network_outputs(net, NULL, 0);
    xir_diags_clear(why);
    const xir_status status = xir_network_run(net, (const xir_array *const *)in, n, out, n_out, NULL, why);
    if (status) fail_msg("%s: %s", story, xir_status_name(status));
}

/* Runs in all ways, which must agree. */
static void run_ways(const xir_network *net, xir_array *const *in, size_t n, xir_array **out, const char *story) {
    static const char *const threads[] = { "1", "2", "7" };
    const size_t n_out = xir_network_outputs(net, NULL, 0);
    assert_in_range(n_out, 1, MOST_OUT);
    for (size_t p = 0; element_loops_at(p); p++) {
        for (size_t t = 0; t < COUNT(threads); t++) {
            xir_array *other[MOST_OUT] = { NULL };
            if (IS_SANITIZED && p + t && t + 1 < COUNT(threads)) continue;   /* each path with 7 threads is enough */
            way_set(element_loops_at(p)->name, threads[t]);
            run_net(net, in, n, p + t ? other : out, story);
            way_reset();
            for (size_t o = 0; p + t && o < n_out; o++) {
                size_t size = 0, again = 0;
                const void *first = xir_array_data(out[o], &size), *second = xir_array_data(other[o], &again);
                if (size != again || (size && memcmp(first, second, size)))
                    fail_msg("%s: output %zu differs: %s, %s threads", story, o, element_loops_at(p)->name, threads[t]);
                xir_array_free(other[o]);
            }
        }
    }
}

static int64_t whole_at(const xir_array *array, size_t i) {
    int64_t v = 0;
    DOES(xir_array_i64s(array, i, 1, &v));
    return v;
}

/* Small numbers, so that many are equal; of reals some are special. Whole bytes only are changed. */
static xir_array *some_array(const xir_type *type) {
    xir_array *array = xir_array_random(ctx, type, chance(1 << 20), why);
    assert_non_null(array);
    const element_format f = element_format_of(type);
    static const double special[] = { 0, -0.0, INFINITY, -INFINITY, NAN, 1, -1 };
    for (size_t i = 0; f.bits % 8 == 0 && i < xir_array_count(array); i++) {
        if (f.kind == ELEMENT_FLOAT && chance(6) == 0)
            element_put_real(f, xir_array_edit(array), i, special[chance(COUNT(special))]);
        if (f.kind != ELEMENT_FLOAT && chance(2))
            element_put_i64(f, xir_array_edit(array), i, (int64_t)chance(9) * (chance(2) ? 1 : -1));
    }
    return array;
}

/* ---- lines ------------------------------------------------------------------------------------------------------ */

typedef struct shape { size_t rank, dims[3], axis; } shape;

static const shape shapes[] = {
    { 3, { 3, 50, 7 }, 1 },   { 3, { 3, 50, 7 }, 2 },   { 3, { 3, 50, 7 }, 0 },   { 1, { 2500 }, 0 },
    { 2, { 3, 1030 }, 1 },    { 2, { 20, 700 }, 0 },    { 3, { 2, 9, 300 }, 1 },  { 2, { 1, 1 }, 1 },
    { 2, { 5, 1 }, 1 },       { 2, { 0, 5 }, 1 },       { 3, { 4, 3, 0 }, 1 },    { 2, { 1, 1025 }, 0 },
};

static const char *const types[] = { "fp32", "fp64", "fp16", "bf16", "sint8", "uint8", "sint16", "sint32", "sint64",
                                     "uint64", "sint4" };

static size_t product(const shape *s, size_t from, size_t to) {
    size_t n = 1;
    for (size_t k = from; k < to; k++) n *= s->dims[k];
    return n;
}

/* The network of a call with an input of a type and shape. */
static xir_network *line_net(const char *type, const shape *s, const char *call, char text[300]) {
    size_t k = (size_t)snprintf(text, 300, "x: %s", type);
    for (size_t i = 0; i < s->rank; i++) k += (size_t)snprintf(text + k, 300 - k, " %zu", s->dims[i]);
    snprintf(text + k, 300 - k, "; %s", call);
    return story_net(text);
}

static xir_array *input_of(const xir_network *net) {
    xir_value *x = NULL;
    xir_network_inputs(net, &x, 1);
    return some_array(xir_value_type(x));
}

/* Returns true if element i is greater than element j; NaN is greater than any number. */
static bool is_greater(const xir_array *x, size_t i, size_t j) {
    const element_format f = element_format_of(xir_array_type(x));
    const void *bytes = xir_array_data(x, NULL);
    if (f.kind == ELEMENT_FLOAT) {
        const double a = element_real(f, bytes, i), b = element_real(f, bytes, j);
        return isnan(a) ? !isnan(b) : a > b;
    }
    const int64_t a = element_i64(f, bytes, i), b = element_i64(f, bytes, j);
    return f.kind == ELEMENT_UNSIGNED ? (uint64_t)a > (uint64_t)b : a > b;
}

/* Argmax or Argmin along an axis of the input of another network. */
static xir_network *extreme_net(const xir_network *like, size_t axis, bool least) {
    const xir_int_imm *along = (const xir_int_imm *)xir_scalar_int(ctx, (int64_t)axis);
    xir_network *net = new_net();
    xir_value *of = NULL, *x, *z;
    xir_network_inputs(like, &of, 1);
    x = xir_input(xir_at_end(net), "x", xir_value_type(of));
    z = least ? XIR_OP(xir_at_end(net), argmin, .input = x, .attrs = XIR_ATTRS(argmin, (dim, along)))
              : XIR_OP(xir_at_end(net), argmax, .input = x, .attrs = XIR_ATTRS(argmax, (dim, along)));
    xir_output(xir_at_end(net), XIR_VALUES(z));
    DOES(xir_network_status(net));
    return net;
}

static void extremes_are_the_first_ones(void **state) {
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            for (int least = 0; least < 2; least++) {
                const shape *of = &shapes[s];
                const size_t n = of->dims[of->axis], after = product(of, of->axis + 1, of->rank);
                char text[300];
                xir_network *like = line_net(types[t], of, "z = Copy x; out z", text);
                xir_network *net = extreme_net(like, of->axis, least);
                xir_network_free(like);
                xir_array *x = input_of(net), *z = NULL;
                run_ways(net, &x, 1, &z, text);
                for (size_t i = 0; i < xir_array_count(z); i++) {
                    const size_t start = i / after * n * after + i % after;
                    size_t best = 0;
                    for (size_t k = 1; k < n; k++) {
                        const size_t now = start + k * after, then = start + best * after;
                        if (least ? is_greater(x, then, now) : is_greater(x, now, then)) best = k;
                    }
                    if (whole_at(z, i) != (int64_t)best) fail_msg("%s: line %zu", text, i);
                }
                xir_array_free(x);
                xir_array_free(z);
                xir_network_free(net);
            }
        }
    }
}

/* Taken one after the other: the first of the greatest that is left. Indices have the element type of the input, so
 * that they are compared up to its width. */
static void top_elements(void **state) {
    (void)state;
    static const size_t some[] = { 0, 1, 3, 1000 };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const shape *of = &shapes[s];
            const size_t n = of->dims[of->axis], before = product(of, 0, of->axis),
                         after = product(of, of->axis + 1, of->rank), least = (s + t) % 2;
            const size_t k = some[(s * 3 + t) % 4] < n ? some[(s * 3 + t) % 4] : n;
            char call[160], text[300];
            snprintf(call, sizeof call, "k: params sint64 1 = %zu; z, i = TopK x k [axis=%zu%s]; out z i", k, of->axis,
                     least ? " largest=false" : "");
            xir_network *net = line_net(types[t], of, call, text);
            xir_array *x = input_of(net), *z[2] = { NULL };
            run_ways(net, &x, 1, z, text);
            const element_format f = element_format_of(xir_array_type(x));
            bool *taken = calloc(n + 1, sizeof *taken);
            for (size_t line = 0; line < before * after; line++) {
                const size_t start = line / after * n * after + line % after;
                memset(taken, 0, n + 1);
                for (size_t j = 0; j < k; j++) {
                    size_t best = n;
                    for (size_t m = 0; m < n; m++) {
                        const size_t now = start + m * after, then = start + best * after;
                        if (taken[m]) continue;
                        if (best == n || (least ? is_greater(x, then, now) : is_greater(x, now, then))) best = m;
                    }
                    taken[best] = true;
                    const size_t o = (line / after * k + j) * after + line % after;
                    uint64_t value = 0, expected = 0, index = 0;
                    element_put_i64(f, &index, 0, (int64_t)best);
                    memcpy(&value, (const char *)xir_array_data(z[0], NULL) + (f.bits % 8 ? 0 : o * f.bits / 8),
                           f.bits / 8);
                    memcpy(&expected, (const char *)xir_array_data(x, NULL) +
                           (f.bits % 8 ? 0 : (start + best * after) * f.bits / 8), f.bits / 8);
                    const bool same = f.kind == ELEMENT_FLOAT
                        ? element_real(f, &index, 0) == xir_array_real(z[1], o)
                        : element_i64(f, &index, 0) == whole_at(z[1], o);
                    const bool nan = f.kind == ELEMENT_FLOAT && isnan(xir_array_real(z[0], o)) &&
                                     isnan(xir_array_real(x, start + best * after));
                    if (!same || (value != expected && !nan)) fail_msg("%s: line %zu, element %zu", text, line, j);
                }
            }
            free(taken);
            for (size_t i = 0; i < 2; i++) xir_array_free(z[i]);
            xir_array_free(x);
            xir_network_free(net);
        }
    }
}

static void cumulative_sums(void **state) {
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const shape *of = &shapes[s];
            const bool exclusive = (s + t) % 2, reverse = (s + t) / 2 % 2;
            const size_t n = of->dims[of->axis], before = product(of, 0, of->axis),
                         after = product(of, of->axis + 1, of->rank);
            char call[90], text[300];
            snprintf(call, sizeof call, "z = CumSum x [axis=%zu exclusive=%s reverse=%s]; out z", of->axis,
                     exclusive ? "true" : "false", reverse ? "true" : "false");
            xir_network *net = line_net(types[t], of, call, text);
            xir_array *x = input_of(net), *z = NULL;
            run_ways(net, &x, 1, &z, text);
            const element_format f = element_format_of(xir_array_type(x));
            for (size_t line = 0; line < before * after; line++) {
                double real = 0;
                uint64_t whole = 0;
                for (size_t m = 0; m < n; m++) {
                    const size_t k = reverse ? n - 1 - m : m, o = line / after * n * after + line % after + k * after;
                    const double was = real;
                    const uint64_t former = whole;
                    real += f.kind == ELEMENT_FLOAT ? xir_array_real(x, o) : 0;
                    whole += f.kind == ELEMENT_FLOAT ? 0 : (uint64_t)whole_at(x, o);
                    uint64_t stored = 0;
                    if (f.kind == ELEMENT_FLOAT) {
                        element_put_real(f, &stored, 0, exclusive ? was : real);
                        const double v = xir_array_real(z, o), expected = element_real(f, &stored, 0);
                        if (memcmp(&v, &expected, sizeof v) && !(isnan(v) && isnan(expected)))
                            fail_msg("%s: element %zu is %g, not %g", text, o, v, expected);
                    } else {
                        element_put_i64(f, &stored, 0, (int64_t)(exclusive ? former : whole));
                        if (element_i64(f, &stored, 0) != whole_at(z, o)) fail_msg("%s: element %zu", text, o);
                    }
                }
            }
            xir_array_free(x);
            xir_array_free(z);
            xir_network_free(net);
        }
    }
}

/* A uint64 sum of 2^63 or more is divided as an unsigned number. */
static void means_of_large_integers(void **state) {
    (void)state;
    xir_network *net = story_net("x: uint64 3 2; z = Mean x [dim=1]; out z");
    xir_value *value = NULL;
    xir_network_inputs(net, &value, 1);
    xir_array *x = xir_array_random(ctx, xir_value_type(value), 1, why), *z = NULL;
    const uint64_t numbers[] = { UINT64_C(1) << 63, 2, UINT64_MAX - 9, 3, 7, 8 };
    memcpy(xir_array_edit(x), numbers, sizeof numbers);
    run_ways(net, &x, 1, &z, "the mean of large integers");
    assert_int_equal(whole_at(z, 0), (UINT64_C(1) << 62) + 1);
    assert_int_equal(whole_at(z, 1), (UINT64_MAX - 6) / 2);
    assert_int_equal(whole_at(z, 2), 7);
    xir_array_free(x);
    xir_array_free(z);
    xir_network_free(net);
}

/* ---- maps ------------------------------------------------------------------------------------------------------- */

static const char *const on_maps[] = {
    "MaxPool2d y [pool_width=3 pool_height=2 stride_width=2 pad_left=1 pad_right=1 pad_top=1 dilation_height=2]",
    "AvgPool2d y [pool_width=3 pool_height=2 stride_height=2 pad_left=1 pad_bottom=1 count_include_pad=false]",
    "AvgPool2d y [pool_width=2 pool_height=3 pad_top=1 pad_bottom=1 divisor_override=5]",
    "Upsample y [height=11 width=13 interpolation=BILINEAR]",
    "Upsample y [height=5 width=14 interpolation=BICUBIC align_corners=true]",
    "Upsample y [height=9 width=4 interpolation=NEAREST]",
    "GridSample y g", "GridSample y g [interpolation=NEAREST]",
    "GridSample y g [interpolation=CUBIC padding_mode=BORDER]",
};

/* A NaN may have other bits. */
static void check_equal(const xir_array *z, const xir_array *first, const char *text) {
    const bool real = element_format_of(xir_array_type(z)).kind == ELEMENT_FLOAT;
    size_t size, other;
    const void *bytes = xir_array_data(z, &size), *expected = xir_array_data(first, &other);
    assert_int_equal(xir_array_count(z), xir_array_count(first));
    if (size == other && (!size || memcmp(bytes, expected, size) == 0)) return;
    for (size_t i = 0; i < xir_array_count(z); i++) {
        const double a = xir_array_real(z, i), b = xir_array_real(first, i);
        if (real && isnan(a) ? !isnan(b) : memcmp(&a, &b, sizeof a))
            fail_msg("%s: element %zu is %g, in NHWC %g", text, i, a, b);
    }
}

/* The map is transposed, the op is computed, and its result is transposed back. */
static void maps_in_any_order(void **state) {
    (void)state;
    static const char *const orders[] = { "0123", "0312", "0321", "3120", "2130", "1032", "0132" };
    static const char letters[] = "NHWC";
    static const size_t dims[][4] = {
        { 2, 6, 9, 5 }, { 1, 7, 70, 3 }, { 3, 5, 4, 130 }, { 1, 3, 3, 1 }, { 0, 6, 9, 5 },
    };
    static const char *const elements[] = { "fp32", "fp16", "sint8", "uint64", "sint4" };
    for (size_t c = 0; c < COUNT(on_maps); c++) {
        for (size_t e = 0; e < COUNT(elements); e += IS_SANITIZED ? 2 : 1) {
            const bool grid = strstr(on_maps[c], " g") != NULL, real = elements[e][0] == 'f';
            if (strstr(on_maps[c], "divisor") && !real) continue;   /* sums leave the range of the type */
            for (size_t d = 0; d < COUNT(dims); d++) {
                xir_array *in[2] = { NULL }, *first = NULL;
                for (size_t o = 0; o < COUNT(orders); o += IS_SANITIZED ? 2 : 1) {
                    char text[600], there[40], back[40], layout[5] = "";
                    int to[4], from[4];
                    for (int k = 0; k < 4; k++) to[k] = orders[o][k] - '0', from[to[k]] = k, layout[k] = letters[to[k]];
                    snprintf(there, sizeof there, "%d,%d,%d,%d", to[0], to[1], to[2], to[3]);
                    snprintf(back, sizeof back, "%d,%d,%d,%d", from[0], from[1], from[2], from[3]);
                    snprintf(text, sizeof text, "x: %s NHWC %zu %zu %zu %zu; %sy = Transpose x [dims=%s "
                             "layout=@layout(%s)]; u = %s; z = Transpose u [dims=%s layout=@layout(NHWC)]; out z",
                             elements[e], dims[d][0], dims[d][1], dims[d][2], dims[d][3],
                             grid ? "g: fp32 NHWC 3 3 70 2; " : "", there, layout, on_maps[c], back);
                    if (grid) memcpy(strstr(text, "NHWC 3 3") + 5, (char[]){ (char)('0' + dims[d][0]) }, 1);
                    xir_network *net = story_net(text);
                    xir_value *values[2] = { NULL };
                    const size_t n = xir_network_inputs(net, values, 2);
                    for (size_t i = 0; i < n && !in[i]; i++)
                        in[i] = i ? xir_array_random(ctx, xir_value_type(values[i]), d, why)
                                  : some_array(xir_value_type(values[i]));
                    xir_array *z = NULL;
                    run_ways(net, in, n, &z, text);
                    if (first) check_equal(z, first, text);
                    if (first) xir_array_free(z);
                    else first = z;
                    xir_network_free(net);
                }
                for (size_t i = 0; i < 2; i++) xir_array_free(in[i]);
                xir_array_free(first);
            }
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(extremes_are_the_first_ones), cmocka_unit_test(top_elements),
        cmocka_unit_test(cumulative_sums), cmocka_unit_test(means_of_large_integers),
        cmocka_unit_test(maps_in_any_order),
    };
    return RUN_GROUP(tests);
}
