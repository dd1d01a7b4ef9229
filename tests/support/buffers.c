/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/buffers.h"
#include <inttypes.h>
#include <stdio.h>

buffers buffers_of(const char *text) {
    buffers b = { .n = 0 };
    for (char *at = (char *)(uintptr_t)text; *at;) {
        xir_buffer *it = &b.of[b.n++];
        it->from = strtoll(at, &at, 10);
        if (*at == '-') it->to = strtoll(at + 1, &at, 10);
        if (*at == ':') it->size = strtoull(at + 1, &at, 10);
        if (*at == '/') it->align = strtoull(at + 1, &at, 10);
        if (*at == '@') it->offset = strtoull(at + 1, &at, 10), it->fixed = true;
        if (*at == '#') it->group = (uint32_t)strtoul(at + 1, &at, 10);
        while (*at == ' ') at++;
    }
    return b;
}

static bool lives_meet(const xir_buffer *a, const xir_buffer *b) { return a->from <= b->to && b->from <= a->to; }

/* Fixes a buffer after the others that it meets. */
static void fix(buffers *b, xir_buffer *it) {
    uint64_t at = 0;
    for (size_t i = 0; i < b->n; i++) {
        const xir_buffer *o = &b->of[i];
        if (o != it && o->fixed && lives_meet(o, it) && o->offset + o->size > at) at = o->offset + o->size;
    }
    at += chance(3) ? 0 : chance(100);
    const uint64_t align = it->align ? it->align : 1;
    it->offset = (at + align - 1) / align * align;
    it->fixed = true;
}

buffers buffers_random(const buffers_how *how) {
    buffers b = { .n = how->n };
    for (size_t i = 0; i < b.n; i++) {
        xir_buffer *it = &b.of[i];
        it->from = (int64_t)chance(how->moments);
        it->to = it->from + (int64_t)chance(chance(3) ? 1 + how->longest / 4 : how->longest);
        it->size = 1 + chance(how->largest);
        if (how->aligned) it->align = chance(3) ? 8 : (uint64_t)1 << chance(6);
        if (how->grouped) it->group = (uint32_t)chance(4);
        if (how->fixed && !chance(6)) fix(&b, it);
    }
    return b;
}

void buffers_shuffle(buffers *b) {
    for (size_t i = b->n; i > 1; i--) {
        const size_t with = chance(i);
        const xir_buffer it = b->of[i - 1];
        b->of[i - 1] = b->of[with];
        b->of[with] = it;
    }
}

xir_memory_peak plan_peak(const xir_memory_plan *plan) {
    xir_memory_peak peak = XIR_INIT(xir_memory_peak);
    DOES(xir_memory_plan_peak(plan, &peak, why));
    return peak;
}

xir_memory_plan *plan_buffers(const buffers *b, const xir_memory_options *how) {
    xir_memory_plan *plan = xir_memory_plan_new(ctx, b->of, b->n, how, why);
    if (!plan) {
        xir_diags_print(why, stderr);
        fail_msg("there is no plan");
    }
    const uint64_t *offsets = xir_memory_plan_offsets(plan);
    const xir_memory_peak peak = plan_peak(plan);
    assert_int_equal(xir_memory_plan_count(plan), b->n);
    assert_true(peak.bytes >= peak.bound);
    DOES(xir_memory_plan_check(ctx, b->of, offsets, b->n, peak.bytes, why));
    assert_true(offsets_are_right(b, offsets, peak.bytes));
    return plan;
}

uint64_t peak_with(const buffers *b, xir_effort effort) {
    xir_memory_plan *plan = plan_buffers(b, &XIR_INIT(xir_memory_options, .effort = effort));
    const uint64_t bytes = plan_peak(plan).bytes;
    xir_memory_plan_free(plan);
    return bytes;
}

static bool is_right(const xir_buffer *it, uint64_t offset, uint64_t limit) {
    return !(it->align && offset % it->align) && (!it->fixed || offset == it->offset) &&
           (!limit || !it->size || (offset <= limit && it->size <= limit - offset));
}

bool offsets_are_right(const buffers *b, const uint64_t *offsets, uint64_t limit) {
    for (size_t i = 0; i < b->n; i++) {
        const xir_buffer *x = &b->of[i];
        if (!is_right(x, offsets[i], limit)) return false;
        for (size_t j = 0; j < i; j++) {
            const xir_buffer *y = &b->of[j];
            if (!lives_meet(x, y) || (x->group && x->group == y->group)) continue;
            if (offsets[i] < offsets[j] + y->size && offsets[j] < offsets[i] + x->size) return false;
        }
    }
    return true;
}
