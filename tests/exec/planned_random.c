/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random plans. A run in a right one computes the same bits as without. If an offset moved, two were swapped, or a life
 * was cut, the checker finds those that overlap, as a comparison of bytes and moments does, and a run computes other
 * bits. */
#include <stdarg.h>
#include <stdio.h>
#include <xir/exec.h>
#include <xir/memory.h>
#include "support/often.h"
#include "support/story.h"

enum { VALUES = 16, MOMENTS = 2 * VALUES + 8, BYTES = 1 << 13, FLOATS = 12 };

/* ---- networks ---------------------------------------------------------------------------------------------------- */

typedef struct telling {
    char   text[4000];
    size_t size, length[VALUES];   /* of the text; of each vector */
    bool   read[VALUES];
} telling;

static void tell(telling *t, const char *format, ...) XIR_PRINTF(2, 3);
static void tell(telling *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->text + t->size, sizeof t->text - t->size, format, args);
    va_end(args);
}

/* An op over earlier vectors, "v3 = Add v1 v2". Returns how many vectors it makes. */
static unsigned tell_op(telling *t, unsigned i) {
    const unsigned a = i - 1 - (unsigned)chance(i < 5 ? i : 5), b = (unsigned)chance(i);
    const size_t length = t->length[a], both = length + t->length[b], half = (length + 1) / 2;
    const bool same = length == t->length[b], fits = both <= 8 * FLOATS, two = length > 1 && i + 1 < VALUES;
    const uint64_t which = chance(9), from = chance(length - half + 1);
    t->length[i] = length;
    t->read[a] = true;
    t->read[b] |= which == 5 ? fits : which < 2 && same;
    tell(t, "; v%u", i);
    if (which == 7 && two) {
        t->length[i] = half;
        t->length[i + 1] = length - half;
        tell(t, ", v%u = Split v%u [sections=%zu,%zu axis=0]", i + 1, a, half, length - half);
        return 2;
    }
    tell(t, " = ");
    switch (which) {
    case 0: tell(t, same ? "Add v%u v%u" : "Neg v%u", a, b); break;
    case 1: tell(t, same ? "Multiply v%u v%u" : "Tanh v%u", a, b); break;
    case 2: tell(t, length == FLOATS ? "Add v%u w" : "Neg v%u", a); break;
    case 3: tell(t, "CumSum v%u", a); break;
    case 4:
        t->length[i] = half;
        tell(t, "Slice v%u [begin=%d end=%d stride=1]", a, (int)from, (int)(from + half));
        break;
    case 5:
        if (fits) t->length[i] = both;
        tell(t, fits ? "Concat v%u v%u [axis=0]" : "Neg v%u", a, b);
        break;
    case 6: tell(t, "Reshape v%u [shape=%zu layout=@layout(*)]", a, length); break;
    default: tell(t, "Sigmoid v%u", a); break;
    }
    return 1;
}

/* Values that nothing reads are results. */
static xir_network *random_net(void) {
    telling t = { .size = 0, .length = { FLOATS, FLOATS } };
    tell(&t, "w: params %d; v0: fp32 %d; v1: fp32 %d", FLOATS, FLOATS, FLOATS);
    for (unsigned i = 2; i < VALUES;) i += tell_op(&t, i);
    tell(&t, "; out");
    for (unsigned i = 0; i < VALUES; i++)
        if (!t.read[i]) tell(&t, " v%u", i);
    return story_net(t.text);
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

typedef struct planned {
    xir_network        *net;
    xir_memory_buffers *buffers;
    size_t              n;
    uint64_t            offsets[VALUES + 2];
} planned;

static void take_offsets(planned *p, const xir_buffer *buffers) {
    xir_memory_plan *plan = xir_memory_plan_new(ctx, buffers, p->n, NULL, why);
    memcpy(p->offsets, xir_memory_plan_offsets(plan), p->n * sizeof *p->offsets);
    xir_memory_plan_free(plan);
}

static void make_plan(planned *p, const xir_liveness_options *how) {
    p->net = random_net();
    xir_liveness *lives = xir_liveness_new(p->net, how, why);
    p->buffers = xir_memory_buffers_new(lives, &XIR_INIT(xir_memory_buffers_options, .align = how->part_align), why);
    p->n = xir_memory_buffers_count(p->buffers);
    assert_true(p->n <= COUNT(p->offsets));
    take_offsets(p, xir_memory_buffers_data(p->buffers));
    xir_liveness_free(lives);
}

/* Something may be wrong with the plan now. */
static void change_plan(planned *p) {
    const size_t i = chance(p->n), k = chance(p->n);
    xir_buffer cut[COUNT(p->offsets)];
    memcpy(cut, xir_memory_buffers_data(p->buffers), p->n * sizeof *cut);
    switch (chance(3)) {
    case 0: p->offsets[i] = p->offsets[i] + 4 * chance(64) - 4 * chance(p->offsets[i] / 4 + 1); break;
    case 1: {
        const uint64_t was = p->offsets[i];
        p->offsets[i] = p->offsets[k];
        p->offsets[k] = was;
        break;
    }
    default:
        if (chance(2)) cut[i].to -= (int64_t)chance((uint64_t)(cut[i].to - cut[i].from) + 1);
        else cut[i].from += (int64_t)chance((uint64_t)(cut[i].to - cut[i].from) + 1);
        take_offsets(p, cut);
    }
}

/* Byte by byte, moment by moment. */
static bool has_overlap(const planned *p) {
    const xir_buffer *all = xir_memory_buffers_data(p->buffers);
    static unsigned char taken[BYTES];
    for (int64_t moment = 0; moment < MOMENTS; moment++) {
        memset(taken, 0, sizeof taken);
        for (size_t i = 0; i < p->n; i++) {
            if (all[i].from > moment || all[i].to < moment) continue;
            assert_true(p->offsets[i] + all[i].size <= BYTES);
            for (uint64_t at = p->offsets[i]; at < p->offsets[i] + all[i].size; at++)
                if (taken[at]++) return true;
        }
    }
    return false;
}

static void assign(const planned *p) {
    for (xir_op *op = xir_network_first(p->net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            xir_value *v = xir_op_output(op, (int64_t)i);
            const size_t number = xir_memory_buffers_find(p->buffers, v);
            const uint64_t inside = xir_memory_buffers_offset(p->buffers, v);
            if (number != SIZE_MAX) DOES(xir_value_set_mtype(v, xir_mtype_chunk(ctx, 0, p->offsets[number] + inside)));
        }
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static size_t run(const xir_network *net, bool in_plan, xir_array **out) {
    xir_value *values[2];
    xir_array *in[2];
    const size_t n = xir_network_outputs(net, NULL, 0);
    xir_network_inputs(net, values, 2);
    for (size_t i = 0; i < 2; i++) in[i] = xir_array_random(ctx, xir_value_type(values[i]), i, why);
    DOES(xir_network_run(net, (const xir_array *const *)in, 2, out, n, &XIR_INIT(xir_run_options, .arena = in_plan),
                         why));
    for (size_t i = 0; i < 2; i++) xir_array_free(in[i]);
    return n;
}

static bool computes_the_same(const xir_network *net) {
    xir_array *plain[VALUES], *other[VALUES];
    bool same = true;
    const size_t n = run(net, false, plain);
    run(net, true, other);
    for (size_t i = 0; i < n; i++) {
        size_t size;
        const void *data = xir_array_data(plain[i], &size);
        same = same && memcmp(data, xir_array_data(other[i], NULL), size) == 0;
        xir_array_free(plain[i]);
        xir_array_free(other[i]);
    }
    return same;
}

static void free_plan(planned *p) {
    xir_memory_buffers_free(p->buffers);
    xir_network_free(p->net);
}

/* Whatever shares bytes in them, and also where parts do. */
static void right_plans_compute_the_same_bits(void **state) {
    (void)state;
    size_t inside = 0;
    for (size_t i = 0; i < OFTEN(2000); i++) {
        planned p;
        chance_begin(i);
        const xir_liveness_options how =
            XIR_INIT(xir_liveness_options, .views = chance(4) != 0, .in_place = chance(4) != 0, .parts = chance(4) != 0,
                     .part_align = 4 << 2 * chance(2));
        make_plan(&p, &how);
        assign(&p);
        if (!computes_the_same(p.net)) fail_msg("plan %zu computes other bits", i);
        if (xir_memory_check(p.net, &XIR_INIT(xir_memory_check_options, .align = how.part_align), why))
            fail_msg("plan %zu: %.*s", i, (int)xir_diags_at(why, 0)->message.size, xir_diags_at(why, 0)->message.data);
        for (xir_op *op = xir_network_first(p.net); op; op = xir_op_next(op)) {
            for (size_t k = 0; k < xir_op_output_count(op); k++)
                inside += xir_memory_buffers_offset(p.buffers, xir_op_output(op, (int64_t)k)) != 0;
        }
        free_plan(&p);
    }
    printf("%zu parts are inside of others\n", inside);
    assert_true(inside > OFTEN(2000) / 4);
}

static void wrong_plans_are_found_and_compute_other_bits(void **state) {
    (void)state;
    size_t wrong = 0, noticed = 0;
    for (size_t i = 0; i < OFTEN(2000); i++) {
        planned p;
        chance_begin(i);
        make_plan(&p, &XIR_INIT(xir_liveness_options, .views = true, .in_place = true));
        change_plan(&p);
        const bool overlaps = has_overlap(&p);
        const xir_buffer *buffers = xir_memory_buffers_data(p.buffers);
        const xir_status found = xir_memory_plan_check(ctx, buffers, p.offsets, p.n, 0, why);
        if (overlaps != (found == XIR_E_INVALID)) fail_msg("plan %zu: the checker says %s", i, xir_status_name(found));
        xir_diags_clear(why);
        assign(&p);
        const bool same = computes_the_same(p.net);
        if (!overlaps && !same) fail_msg("plan %zu: another right plan computes other bits", i);
        wrong += overlaps;
        noticed += overlaps && !same;
        free_plan(&p);
    }
    printf("%zu of %zu wrong plans compute other bits\n", noticed, wrong);
    assert_true(wrong > OFTEN(2000) / 4 && noticed * 100 >= wrong * 95);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_plans_compute_the_same_bits),
        cmocka_unit_test(wrong_plans_are_found_and_compute_other_bits),
    };
    return RUN_GROUP(tests);
}
