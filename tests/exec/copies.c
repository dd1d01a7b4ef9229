/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Copies, and loops over whole tensors that threads share, against plain loops: joins, gathers, rotations, windows, and
 * sums that wrap. Each is computed with 1, 2 and 7 threads, which cut short loops too; all give the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "support/again.h"
#include "support/net.h"
#include "support/story.h"

enum { MOST_INPUTS = 4 };

static const char *const types[] = { "fp32", "sint8", "fp16", "sint64", "sint4", "bool" };

/* ---- ways to run ------------------------------------------------------------------------------------------------ */

/* A network of one op, and its inputs: random numbers; if `dim` is not 0, input 1 has indices in [-dim, dim). */
typedef struct one_op {
    xir_network *net;
    xir_array   *in[MOST_INPUTS], *out;
    size_t       n;
} one_op;

static xir_array *some_indices(const xir_type *type, size_t dim) {
    xir_array *array = xir_array_random(ctx, type, 1, why);
    int64_t *to = xir_array_edit(array);
    for (size_t i = 0; i < xir_array_count(array); i++) to[i] = (int64_t)chance(2 * (unsigned)dim) - (int64_t)dim;
    return array;
}

static one_op prepare(const char *text, size_t dim) {
    one_op o = { .net = story_net(text) };
    xir_value *values[MOST_INPUTS] = { NULL };
    o.n = xir_network_inputs(o.net, values, MOST_INPUTS);
    assert_in_range(o.n, 1, MOST_INPUTS);
    for (size_t k = 0; k < o.n; k++) {
        const xir_type *type = xir_value_type(values[k]);
        o.in[k] = dim && k == 1 ? some_indices(type, dim) : xir_array_random(ctx, type, chance(1 << 20), why);
        assert_non_null(o.in[k]);
    }
    return o;
}

static xir_status run(one_op *o, const char *threads, xir_array **out) {
    xir_diags_clear(why);
    way_set(NULL, threads);
    const xir_status status = xir_network_run(o->net, (const xir_array *const *)o->in, o->n, out, 1, NULL, why);
    way_reset();
    return status;
}

static void run_ways(one_op *o, const char *text) {
    static const char *const ways[] = { "2", "7" };
    if (run(o, "1", &o->out)) fail_msg("%s: %s", text, xir_diags_at(why, 0)->message.data);
    for (size_t w = 0; w < COUNT(ways); w++) {
        xir_array *other = NULL;
        size_t size = 0, again = 0;
        if (run(o, ways[w], &other)) fail_msg("%s, %s threads", text, ways[w]);
        const void *first = xir_array_data(o->out, &size), *second = xir_array_data(other, &again);
        if (size != again || (size && memcmp(first, second, size)))
            fail_msg("%s, %s threads: other bytes", text, ways[w]);
        xir_array_free(other);
    }
}

static void finish(one_op *o) {
    for (size_t k = 0; k < o->n; k++) xir_array_free(o->in[k]);
    xir_array_free(o->out);
    xir_network_free(o->net);
}

static int64_t whole(const xir_array *array, size_t i) {
    int64_t v = 0;
    DOES(xir_array_i64s(array, i, 1, &v));
    return v;
}

/* ---- joins ------------------------------------------------------------------------------------------------------ */

static const struct { size_t outer, parts[3], inner; } joined[] = {
    { 1, { 1, 1, 1 }, 1 },       { 3, { 1, 2, 3 }, 5 },  { 17, { 70, 1, 300 }, 1 }, { 1, { 900, 0, 3000 }, 1 },
    { 2, { 0, 3, 0 }, 1030 },    { 5, { 0, 0, 0 }, 3 },  { 0, { 1, 2, 3 }, 4 },     { 1, { 5, 1, 7 }, 700 },
    { 600, { 1, 1, 1 }, 1 },     { 65, { 2, 0, 33 }, 1 },
};

static void parts_follow_each_other(void **state) {
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(joined); s++) {
            const size_t outer = joined[s].outer, inner = joined[s].inner, *parts = joined[s].parts;
            const size_t all = parts[0] + parts[1] + parts[2];
            char text[300];
            snprintf(text, sizeof text, "x: %s %zu %zu %zu; y: %s %zu %zu %zu; z: %s %zu %zu %zu; "
                     "u = Concat x y z x [axis=1]; out u", types[t], outer, parts[0], inner, types[t], outer, parts[1],
                     inner, types[t], outer, parts[2], inner);
            if (!again_takes()) continue;
            one_op o = prepare(text, 0);
            run_ways(&o, text);
            const size_t row = all + parts[0], count = outer * row * inner;
            assert_int_equal(xir_array_count(o.out), count);
            for (size_t i = 0; i < count; i++) {
                size_t k = i / inner % row, p = 0;
                for (; p < 3 && k >= parts[p]; p++) k -= parts[p];
                const size_t own = p < 3 ? p : 0, from = (i / inner / row * parts[own] + k) * inner + i % inner;
                if (xir_array_real(o.out, i) != xir_array_real(o.in[own], from)) fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

static void stacks(void **state) {
    (void)state;
    static const size_t shapes[][2] = { { 1, 1 }, { 3, 700 }, { 2500, 1 }, { 1, 3000 }, { 0, 3 }, { 65, 33 } };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const size_t outer = shapes[s][0], inner = shapes[s][1], count = outer * 3 * inner;
            char text[200];
            snprintf(text, sizeof text, "x: %s %zu %zu; y: %s %zu %zu; z = Stack x y x [dim=1]; out z", types[t], outer,
                     inner, types[t], outer, inner);
            if (!again_takes()) continue;
            one_op o = prepare(text, 0);
            run_ways(&o, text);
            assert_int_equal(xir_array_count(o.out), count);
            for (size_t i = 0; i < count; i++) {
                const size_t from = i / inner / 3 * inner + i % inner, own = i / inner % 3 == 1;
                if (xir_array_real(o.out, i) != xir_array_real(o.in[own], from)) fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

/* ---- gathers ---------------------------------------------------------------------------------------------------- */

static const struct { size_t before, dim, after, n; } gathered[] = {
    { 1, 1, 1, 1 },    { 1, 5, 3000, 1 }, { 3, 7, 5, 40 },  { 2, 3, 1, 3000 },  { 1, 2500, 1, 2500 }, { 65, 3, 33, 2 },
    { 2, 4, 1030, 3 }, { 0, 3, 4, 5 },    { 3, 4, 0, 5 },   { 3, 4, 5, 0 },     { 70, 2, 1, 1 },
};

static size_t index_of(const xir_array *indices, size_t i, size_t dim) {
    const int64_t index = whole(indices, i);
    return (size_t)(index < 0 ? index + (int64_t)dim : index);
}

static void slices_are_gathered(void **state) {
    (void)state;
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(gathered); s++) {
            const size_t before = gathered[s].before, dim = gathered[s].dim, after = gathered[s].after,
                         n = gathered[s].n;
            char text[200];
            snprintf(text, sizeof text, "x: %s %zu %zu %zu; i: sint64 %zu; z = Gather x i [axis=1]; out z", types[t],
                     before, dim, after, n);
            if (!again_takes()) continue;
            one_op o = prepare(text, dim);
            run_ways(&o, text);
            assert_int_equal(xir_array_count(o.out), before * n * after);
            for (size_t i = 0; i < before * n * after; i++) {
                const size_t index = index_of(o.in[1], i / after % n, dim);
                const size_t from = (i / after / n * dim + index) * after + i % after;
                if (xir_array_real(o.out, i) != xir_array_real(o.in[0], from)) fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

static void elements_are_gathered(void **state) {
    (void)state;
    static const size_t shapes[][3] = {
        { 1, 1, 1 }, { 3, 5, 700 }, { 40, 70, 1 }, { 2, 1, 1030 }, { 0, 3, 4 }, { 3, 0, 4 }, { 70, 33, 3 },
    };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            for (size_t axis = 0; axis < 3; axis++) {
                size_t dims[3] = { shapes[s][0], shapes[s][1], shapes[s][2] };
                const size_t count = dims[0] * dims[1] * dims[2];
                dims[axis] = 6;                                     // of data
                char text[200];
                snprintf(text, sizeof text, "x: %s %zu %zu %zu; i: sint64 %zu %zu %zu; z = GatherElements x i "
                         "[axis=%zu]; out z", types[t], dims[0], dims[1], dims[2], shapes[s][0], shapes[s][1],
                         shapes[s][2], axis);
                if (!again_takes()) continue;
                one_op o = prepare(text, 6);
                run_ways(&o, text);
                assert_int_equal(xir_array_count(o.out), count);
                for (size_t i = 0; i < count; i++) {
                    const size_t *own = shapes[s];
                    size_t at[3] = { i / own[2] / own[1], i / own[2] % own[1], i % own[2] };
                    at[axis] = index_of(o.in[1], i, 6);
                    const size_t from = (at[0] * dims[1] + at[1]) * dims[2] + at[2];
                    if (xir_array_real(o.out, i) != xir_array_real(o.in[0], from)) fail_msg("%s: element %zu", text, i);
                }
                finish(&o);
            }
        }
    }
}

/* Each position has two indices. */
static void slices_at_positions(void **state) {
    (void)state;
    static const struct { size_t dim, after, n; } rows[] = {
        { 1, 1, 1 }, { 5, 1, 3000 }, { 3, 70, 65 }, { 2, 1030, 3 }, { 3, 0, 4 }, { 3, 4, 0 }, { 40, 3, 700 },
    };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(rows); s++) {
            const size_t dim = rows[s].dim, after = rows[s].after, n = rows[s].n;
            char text[200];
            snprintf(text, sizeof text, "x: %s %zu %zu %zu; i: sint64 %zu 2; z = GatherND x i; out z", types[t], dim,
                     dim, after, n);
            if (!again_takes()) continue;
            one_op o = prepare(text, dim);
            run_ways(&o, text);
            assert_int_equal(xir_array_count(o.out), n * after);
            for (size_t i = 0; i < n * after; i++) {
                const size_t k = i / after * 2, first = index_of(o.in[1], k, dim);
                const size_t second = index_of(o.in[1], k + 1, dim);
                const size_t from = (first * dim + second) * after + i % after;
                if (xir_array_real(o.out, i) != xir_array_real(o.in[0], from)) fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

/* Whichever thread finds one first. */
static void the_first_wrong_index_is_named(void **state) {
    (void)state;
    static const char *const calls[] = { "Gather x i", "GatherElements x i", "GatherND x i" };
    static const char *const threads[] = { "1", "2", "7" };
    enum { MANY = 5000 };
    for (size_t c = 0; c < COUNT(calls); c++) {
        for (size_t first = 0; first < MANY; first += 1 + chance(MANY / 6)) {
            char text[100], expected[100];
            snprintf(text, sizeof text, "x: fp32 %d; i: sint64 %d%s; z = %s; out z", MANY, MANY,
                     c == 2 ? " 1" : "", calls[c]);
            snprintf(expected, sizeof expected, "index %d, element %zu of indices, is outside dim 0", MANY, first);
            if (!again_takes()) continue;
            one_op o = prepare(text, MANY);
            int64_t *indices = xir_array_edit(o.in[1]);
            indices[first] = MANY;
            for (size_t i = first + 1; i < MANY; i += 1 + chance(300)) indices[i] = -MANY - 1;
            for (size_t t = 0; t < COUNT(threads); t++) {
                assert_int_equal(run(&o, threads[t], &o.out), XIR_E_BOUNDS);
                assert_null(o.out);
                assert_int_equal(xir_diags_count(why), 1);
                if (!strstr(xir_diags_at(why, 0)->message.data, expected))
                    fail_msg("%s: %s, expected %s", text, xir_diags_at(why, 0)->message.data, expected);
            }
            xir_diags_clear(why);
            finish(&o);
        }
    }
}

/* ---- rotations and windows -------------------------------------------------------------------------------------- */

static void rotations_of_all_elements(void **state) {
    (void)state;
    static const int shifts[] = { 0, 1, -1, 64, 1024, -3000, 5000 };
    static const size_t shapes[][2] = { { 1, 1 }, { 3, 1000 }, { 1, 4099 }, { 0, 4 }, { 70, 64 } };
    for (size_t t = 0; t < COUNT(types); t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            for (size_t k = 0; k < COUNT(shifts); k++) {
                const int64_t n = (int64_t)(shapes[s][0] * shapes[s][1]);
                char text[200];
                snprintf(text, sizeof text, "x: %s %zu %zu; z = Roll x [shifts=%d]; out z", types[t], shapes[s][0],
                         shapes[s][1], shifts[k]);
                if (!again_takes()) continue;
                one_op o = prepare(text, 0);
                run_ways(&o, text);
                for (int64_t i = 0; i < n; i++) {
                    const int64_t from = ((i - shifts[k]) % n + n) % n;
                    if (xir_array_real(o.out, (size_t)i) != xir_array_real(o.in[0], (size_t)from))
                        fail_msg("%s: element %lld", text, (long long)i);
                }
                finish(&o);
            }
        }
    }
}

/* A row of the output for each place; in a row, the cells of each channel. */
static void windows_are_unfolded(void **state) {
    (void)state;
    static const size_t shapes[][4] = {
        { 1, 3, 2, 1 }, { 3, 9, 11, 5 }, { 1, 30, 40, 3 }, { 2, 3, 2, 70 }, { 0, 4, 4, 1 },
    };
    for (size_t t = 0; t < COUNT(types) - 1; t++) {
        for (size_t s = 0; s < COUNT(shapes); s++) {
            const size_t n = shapes[s][0], h = shapes[s][1], w = shapes[s][2], c = shapes[s][3], cells = 6;
            const size_t tall = h - 2, broad = w + 1, row = c * cells;   // 3 x 2 cells, zeros left and right
            char text[200];
            snprintf(text, sizeof text, "x: %s NHWC %zu %zu %zu %zu; z = Unfold x [kernel_height=3 kernel_width=2 "
                     "pad_left=1 pad_right=1]; out z", types[t], n, h, w, c);
            if (!again_takes()) continue;
            one_op o = prepare(text, 0);
            run_ways(&o, text);
            assert_int_equal(xir_array_count(o.out), n * tall * broad * row);
            for (size_t i = 0; i < n * tall * broad * row; i++) {
                const size_t place = i / row % (tall * broad), tap = i % cells, channel = i % row / cells;
                const size_t y = place / broad + tap / 2, x = place % broad + tap % 2;
                const size_t from = ((i / row / (tall * broad) * h + y) * w + x - 1) * c + channel;
                const double expected = x < 1 || x > w ? 0 : xir_array_real(o.in[0], from);
                if (xir_array_real(o.out, i) != expected) fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

/* ---- sums that wrap --------------------------------------------------------------------------------------------- */

static void large(xir_array *array) {
    int64_t *to = xir_array_edit(array);
    for (size_t i = 0; i < xir_array_count(array); i++)
        to[i] = (int64_t)((uint64_t)chance(1u << 30) << 34 | chance(1u << 30)) * (chance(2) ? 1 : -1);
}

static void products_of_wide_integers(void **state) {
    (void)state;
    static const struct { const char *x, *k, *b; size_t batches, rows, depth, columns; bool x_has, k_has; } rows[] = {
        { "3 20 30", "3 30 17", "17",      3, 20, 30, 17, true,  true  },
        { "3 20 30", "30 17",   "20 1",    3, 20, 30, 17, true,  false },
        { "20 30",   "5 30 7",  "5 20 7",  5, 20, 30, 7,  false, true  },
        { "1 1",     "1 1",     "1",       1, 1,  1,  1,  true,  true  },
        { "2 3 0",   "2 0 4",   "4",       2, 3,  0,  4,  true,  true  },
        { "0 3 4",   "0 4 2",   "2",       0, 3,  4,  2,  true,  true  },
        { "1000 3",  "3 1",     "1",       1, 1000, 3, 1, true,  true  },
    };
    for (size_t s = 0; s < COUNT(rows); s++) {
        char text[200];
        snprintf(text, sizeof text, "x: sint64 %s; k: sint64 %s; b: sint64 %s; z = Matmul x k b; out z", rows[s].x,
                 rows[s].k, rows[s].b);
        if (!again_takes()) continue;
        one_op o = prepare(text, 0);
        const size_t m = rows[s].rows, d = rows[s].depth, n = rows[s].columns;
        for (size_t i = 0; i < 3; i++) large(o.in[i]);
        run_ways(&o, text);
        for (size_t i = 0; i < rows[s].batches * m * n; i++) {
            const size_t batch = i / n / m, r = i / n % m, c = i % n;
            const size_t bias = xir_array_count(o.in[2]) == n ? c : xir_array_count(o.in[2]) == m ? r : i;
            uint64_t sum = (uint64_t)whole(o.in[2], bias);
            for (size_t k = 0; k < d; k++)
                sum += (uint64_t)whole(o.in[0], ((rows[s].x_has ? batch * m : 0) + r) * d + k) *
                       (uint64_t)whole(o.in[1], ((rows[s].k_has ? batch * d : 0) + k) * n + c);
            if ((uint64_t)whole(o.out, i) != sum) fail_msg("%s: element %zu", text, i);
        }
        finish(&o);
    }
}

/* Sums over letters that only one operand has, and of three operands. */
static void equations_by_definition(void **state) {
    (void)state;
    static const size_t sizes[][3] = {
        { 1, 1, 1 }, { 30, 7, 20 }, { 3, 900, 2 }, { 700, 3, 1 }, { 4, 0, 3 }, { 0, 3, 4 },
    };
    static const char *const elements[] = { "fp32", "fp64", "sint64" };
    for (size_t t = 0; t < COUNT(elements); t++) {
        for (size_t s = 0; s < COUNT(sizes); s++) {
            const size_t a = sizes[s][0], b = sizes[s][1], c = sizes[s][2];
            char text[300];
            snprintf(text, sizeof text, "x: %s %zu %zu; y: %s %zu %zu; z: %s %zu; u = Einsum x y z "
                     "[equation=ab,bc,a->ca]; out u", elements[t], a, b, elements[t], b, c, elements[t], a);
            if (!again_takes()) continue;
            one_op o = prepare(text, 0);
            if (t == 2) for (size_t i = 0; i < 3; i++) large(o.in[i]);
            run_ways(&o, text);
            assert_int_equal(xir_array_count(o.out), a * c);
            for (size_t i = 0; i < a * c; i++) {
                double real = 0;
                uint64_t wrapped = 0;
                for (size_t k = 0; k < b; k++) {
                    const size_t x = i % a * b + k, y = k * c + i / a, z = i % a;
                    if (t < 2) real += xir_array_real(o.in[0], x) * xir_array_real(o.in[1], y) *
                                       xir_array_real(o.in[2], z);
                    else wrapped += (uint64_t)whole(o.in[0], x) * (uint64_t)whole(o.in[1], y) *
                                    (uint64_t)whole(o.in[2], z);
                }
                const double expected = t == 0 ? (double)(float)real : real;
                if (t < 2 ? xir_array_real(o.out, i) != expected : (uint64_t)whole(o.out, i) != wrapped)
                    fail_msg("%s: element %zu", text, i);
            }
            finish(&o);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_follow_each_other),
        cmocka_unit_test(stacks),
        cmocka_unit_test(slices_are_gathered),
        cmocka_unit_test(elements_are_gathered),
        cmocka_unit_test(slices_at_positions),
        cmocka_unit_test(the_first_wrong_index_is_named),
        cmocka_unit_test(rotations_of_all_elements),
        cmocka_unit_test(windows_are_unfolded),
        cmocka_unit_test(products_of_wide_integers),
        cmocka_unit_test(equations_by_definition),
    };
    return RUN_GROUP(tests);
}
