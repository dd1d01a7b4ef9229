/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The walk over protobuf against the simplest one that can be written: they give the same fields for any bytes, or a
 * fault at the same place; and the same numbers in fields. */
#include <string.h>
#include "fuzz.h"
#include "onnx/wire.h"

/* One number at `at`: its length in bytes, 0 if there is none. */
static size_t plain_varint(const uint8_t *data, size_t size, size_t at, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < 10 && at + i < size; i++) {
        if (i == 9 && data[at + i] > 1) return 0;
        *out |= (uint64_t)(data[at + i] & 0x7f) << (7 * i);
        if (!(data[at + i] & 0x80)) return i + 1;
    }
    return 0;
}

/* One field at *at, which moves to the end of the field; false if there is none. */
static bool plain_field(const uint8_t *data, size_t size, size_t *at, wire_field *out) {
    uint64_t key, length;
    size_t n = plain_varint(data, size, *at, &key), start = *at;
    if (!n || key >> 3 == 0 || key >> 3 > WIRE_MOST_FIELD) return false;
    *out = (wire_field){ .at = data + start, .number = (uint32_t)(key >> 3), .kind = (wire_kind)(key & 7) };
    *at += n;
    switch (key & 7) {
    case 0:
        n = plain_varint(data, size, *at, &out->value);
        *at += n;
        return n != 0;
    case 1: case 5:
        n = (key & 7) == 1 ? 8 : 4;
        if (size - *at < n) return false;
        for (size_t i = 0; i < n; i++) out->value |= (uint64_t)data[*at + i] << (8 * i);
        *at += n;
        return true;
    case 2:
        n = plain_varint(data, size, *at, &length);
        if (!n || length > size - *at - n) return false;
        out->bytes = (wire_bytes){ data + *at + n, (size_t)length };
        *at += n + (size_t)length;
        return true;
    default: return false;
    }
}

static void walk(const uint8_t *data, size_t size, int depth) {
    wire w = wire_of((wire_bytes){ data, size });
    wire_field f, plain;
    size_t at = 0;
    while (wire_next(&w, &f)) {
        must(plain_field(data, size, &at, &plain));
        must(f.at == plain.at && f.number == plain.number && f.kind == plain.kind && f.value == plain.value);
        must(f.bytes.size == plain.bytes.size && (!f.bytes.size || f.bytes.at == plain.bytes.at));
        must(w.at == data + at);
        if (f.kind == WIRE_BYTES && f.bytes.size && depth < 20) walk(f.bytes.at, f.bytes.size, depth + 1);
    }
    if (w.fault == WIRE_GOOD) {
        must(at == size);
        return;
    }
    must(!plain_field(data, size, &at, &plain));
    must(w.fault < WIRE_FAULTS && *wire_fault_text(w.fault) && w.where >= data && w.where <= data + size);
    must(!wire_next(&w, &f) && w.at == w.end);
}

static void numbers(const uint8_t *data, size_t size) {
    wire w = wire_of((wire_bytes){ data, size });
    uint64_t v, plain;
    size_t at = 0;
    while (wire_next_number(&w, WIRE_VARINT, &v)) {
        at += plain_varint(data, size, at, &plain);
        must(v == plain && w.at == data + at);
    }
    must((w.fault == WIRE_GOOD) == (at == size));
    must(w.fault == WIRE_GOOD || !plain_varint(data, size, at, &plain));
    size_t n = 0;
    for (w = wire_of((wire_bytes){ data, size }); wire_next_number(&w, WIRE_FIXED32, &v); n++) {}
    must(n == size / 4 && (w.fault == WIRE_GOOD) == (size % 4 == 0));
    for (n = 0, w = wire_of((wire_bytes){ data, size }); wire_next_number(&w, WIRE_FIXED64, &v); n++) {}
    must(n == size / 8 && (w.fault == WIRE_GOOD) == (size % 8 == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    walk(data, size, 0);
    numbers(data, size);
    return 0;
}
