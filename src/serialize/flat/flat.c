/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* FlatBuffers as a format. */
#include "flat/build.h"
#include "flat/flat.h"
#include "flat/wire.h"
#include "raw/payload.h"

/* Returns true if two slots that only make sense together are both present or both absent. */
static bool both(const flat_view *t, uint32_t a, uint32_t b) { return !flat_field(t, a) == !flat_field(t, b); }

/* The format has no magic number. A file looks like a network if its root, close to the beginning, is a table whose
 * vtable has nothing that a Network's cannot have. Text, and numbers that cannot be the root's offset, are refused. */
static bool looks_like_network(const uint8_t *head, size_t size) {
    enum { SLOT_PARAMS_BYTES = 5, SLOT_OPS = 8, SLOT_TARGET = 10, SLOTS = 12, MOST_SLOTS = 32, MOST_SIZE = 160 };
    if (size < 16) return false;
    uint32_t root = little_u32(head);
    if (root < 4 || root % 4 || root > size - 4) return false;
    int64_t at = (int64_t)root - (int32_t)little_u32(head + root);
    if (at < 4 || at % 2 || at > (int64_t)size - FLAT_VTABLE_HEAD) return false;
    const uint8_t *vtable = head + at;
    uint32_t vsize = little_u16(vtable), table = little_u16(vtable + 2);
    if (vsize < FLAT_VTABLE_HEAD || vsize % 2 || vsize > FLAT_VTABLE_HEAD + 2 * MOST_SLOTS) return false;
    if (vsize > size - (size_t)at) return false;
    if (table < 4 || table > MOST_SIZE) return false;
    flat_view t = { head + root, vtable, vsize };
    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint32_t field = flat_field(&t, slot), bytes = slot == SLOT_PARAMS_BYTES ? 8 : slot == SLOT_TARGET ? 1 : 4;
        if (field && (field < 4 || field + bytes > table || (root + field) % bytes)) return false;
    }
    return both(&t, SLOT_OPS, SLOT_OPS + 1) && (flat_field(&t, SLOT_TARGET) || !flat_field(&t, SLOT_TARGET + 1));
}

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    return looks_like_network(file->head, file->head_size) ? XIR_PROBE_LIKELY : XIR_PROBE_NO;
}

/* Every writer builds the root last and puts it first: a file without it in its first bytes is something else. */
static bool may_begin(const uint8_t *head, size_t size) {
    const uint32_t root = size >= 4 ? little_u32(head) : 0;
    if (root < 4 || root % 4 || root > size - 4) return false;
    const int64_t at = (int64_t)root - (int32_t)little_u32(head + root);
    if (at > (int64_t)size - FLAT_VTABLE_HEAD) return true;
    if (at < 4 || at % 2) return false;
    const uint32_t vsize = little_u16(head + at), table = little_u16(head + at + 2);
    return vsize >= FLAT_VTABLE_HEAD && vsize % 2 == 0 && table >= 4;
}

const format format_flat = {
    .name = "fb", .meaning = "FlatBuffers network", .suffixes = "fb", .traits = XIR_FORMAT_ALIGNS, .probe = probe,
    .most_params = FLAT_MOST_BYTES,
    .may_begin = may_begin, .read = flat_read, .compare_claims = payload_compare_size, .write = flat_write,
    .read_part = flat_read_part, .write_part = flat_write_part,
};

xir_status xir_flat_verify(xir_context *ctx, const void *data, size_t size, xir_str name, xir_diags *why) {
    flat_schema schema;
    bool made = flat_schema_init(&schema, ctx);
    xir_status status = made ? flat_check(&schema, schema.network, data, size, name, why) : diag_memory(why);
    flat_schema_free(&schema);
    return status;
}
