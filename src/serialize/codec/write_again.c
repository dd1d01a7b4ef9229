/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Members that were written before are copied. In the list of a network's ops all ops stand at one depth, and their
 * values at another, so the members that follow from the same things have the same bytes in each op. Only ops of plain
 * classes without an op_more, and values without a value_more, have such members. A new op takes the place of another
 * one that has the same hash. */
#include "codec/codec.h"

static size_t slot_of(const void *a, const void *b, size_t n) {
    const uint64_t mixed = (uint64_t)((uintptr_t)a ^ (uintptr_t)b) * UINT64_C(0x9E3779B97F4A7C15);
    return (size_t)(mixed >> 32) % n;
}

bool encoder_may_repeat(encoder *e) {
    if (!e->sink->ops->out) return false;
    if (!e->again) e->again = arena_take(&e->arena, sizeof *e->again);
    if (e->again) memset((void *)e->again, 0, sizeof *e->again);
    return e->again != NULL;
}

encoder_run *encoder_run_of(encoder *e, const xir_op *op) {
    if (op_more_of(op) || !op->cls->plain) return NULL;
    const xir_target *target = op_target(op);
    encoder_run *run = &e->again->runs[slot_of(op->attrs, op->cls, ENCODER_RUNS)];
    if (run->what[0] == op->attrs && run->what[1] == op->cls && run->what[2] == target) return run;
    run->what[0] = op->attrs;
    run->what[1] = op->cls;
    run->what[2] = target;
    run->kept.size = 0;
    run->is_known = false;
    return run;
}

encoder_alike *encoder_alike_of(encoder *e, const xir_value *v) {
    if (value_more_of(v)) return NULL;
    encoder_alike *alike = &e->again->alike[slot_of(v->type, NULL, ENCODER_ALIKE)];
    if (alike->type == v->type) return alike;
    alike->type = v->type;
    alike->is_known = false;
    return alike;
}

/* Long members are written in full each time: copying them gains little, and all that is kept stays until the file is
 * written. */
enum { KEPT_MOST = 1 << 14 };

bool encoder_keep(encoder *e, encoder_kept *kept, size_t begun, size_t end) {
    const size_t n = end - begun, need = kept->size + n;
    if (e->sink->status || need > KEPT_MOST) return false;
    if (need > kept->room) {
        char *bytes = arena_take(&e->arena, 2 * need);
        if (!bytes) return false;
        if (kept->size) memcpy(bytes, kept->bytes, kept->size);
        kept->bytes = bytes;
        kept->room = 2 * need;
    }
    if (n) memcpy(kept->bytes + kept->size, e->sink->ops->out(e->sink)->data + begun, n);
    kept->size = need;
    return true;
}

bool encoder_put(encoder *e, const char *bytes, size_t size) {
    buffer *out = e->sink->ops->out(e->sink);
    if (e->sink->status) return false;
    if (!buffer_reserve(out, size)) {
        e->sink->status = XIR_E_MEMORY;
        return false;
    }
    if (size) memcpy(out->data + out->size, bytes, size);
    out->size += size;
    return true;
}

void encoder_put_value(encoder *e, const encoder_alike *alike, const xir_value *v) {
    sink *s = e->sink;
    if (s->ops->nest) s->ops->nest(s, alike->levels);
    if (!encoder_put(e, alike->kept.bytes, alike->before)) return;
    s->ops->bare(s, v->id);
    encoder_put(e, alike->kept.bytes + alike->before, alike->kept.size - alike->before);
}
