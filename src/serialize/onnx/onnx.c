/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX as a format. */
#include "onnx/read.h"
#include "onnx/write.h"

/* The wire types that a field of ModelProto may have, as bits. */
static uint32_t kinds_of(uint32_t field) {
    const uint32_t varint = 1u << WIRE_VARINT, bytes = 1u << WIRE_BYTES;
    switch (field) {
    case 1: case 5: return varint;
    case 2: case 3: case 4: case 6: case 7: case 8: case 14: case 20: case 25: case 26: return bytes;
    default: return 0;
    }
}

/* The format has no magic number. Every writer begins with ir_version, a small number. Then come fields of a
 * ModelProto, as far as the head shows; the last one usually reaches beyond the head. */
static bool looks_like_model(const uint8_t *head, size_t size) {
    enum { MOST_VERSION = 127 };
    if (size < 4 || head[0] != (1 << 3 | WIRE_VARINT) || head[1] == 0 || head[1] > MOST_VERSION) return false;
    wire w = wire_of((wire_bytes){ head, size });
    wire_field f;
    size_t n = 0;
    while (wire_next(&w, &f)) {
        if (!(kinds_of(f.number) >> f.kind & 1)) return false;
        n++;
    }
    if (w.fault == WIRE_GOOD) return n > 1;
    /* The head ends inside this field: its key must be valid. */
    const uint8_t *at = head;
    wire again = wire_of((wire_bytes){ head, size });
    while (wire_next(&again, &f)) at = again.at;
    bool cut = w.fault == WIRE_CUT || w.fault == WIRE_LENGTH, wide = at[0] >= 0x80;
    if (!cut || (wide && at + 1 == head + size)) return false;
    uint32_t key = wide ? (at[0] & 0x7fu) | (uint32_t)at[1] << 7 : at[0];
    return kinds_of(key >> 3) >> (key & 7) & 1;
}

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    return looks_like_model(file->head, file->head_size) ? XIR_PROBE_LIKELY : XIR_PROBE_NO;
}

/* The fields that are complete in the head must have the wire types of a model; unknown fields are skipped. */
static bool may_begin(const uint8_t *head, size_t size) {
    wire w = wire_of((wire_bytes){ head, size });
    wire_field f;
    while (wire_next(&w, &f)) {
        const uint32_t kinds = kinds_of(f.number);
        if (kinds && !(kinds >> f.kind & 1)) return false;
    }
    return w.fault == WIRE_GOOD || w.fault == WIRE_CUT || w.fault == WIRE_LENGTH;
}

const format format_onnx = {
    .name = "onnx", .meaning = "ONNX model", .suffixes = "onnx", .probe = probe, .may_begin = may_begin,
    .traits = XIR_FORMAT_DIALECT | XIR_FORMAT_SPLITS, .read = proto_read, .write = proto_write,
    .params_written = "onnx.data", .splits = proto_splits, .write_params = proto_write_params,
};
