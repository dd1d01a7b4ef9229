/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rarer steps of a walk, and faults. */
#include "onnx/wire.h"

static bool fault(wire *w, wire_fault what, const uint8_t *where) {
    w->fault = what;
    w->where = where;
    w->at = w->end;
    return false;
}

/* At most ten bytes; the last one contributes one bit. */
static bool read_varint(wire *w, uint64_t *out) {
    const uint8_t *start = w->at;
    uint64_t v = 0;
    for (unsigned shift = 0; w->at < w->end; shift += 7) {
        uint8_t byte = *w->at++;
        if (shift == 63 && byte > 1) return fault(w, WIRE_WIDE, start);
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = v;
            return true;
        }
    }
    return fault(w, WIRE_CUT, start);
}

static bool read_fixed(wire *w, size_t size, uint64_t *out) {
    if ((size_t)(w->end - w->at) < size) return fault(w, WIRE_CUT, w->at);
    *out = size == 8 ? little_u64(w->at) : little_u32(w->at);
    w->at += size;
    return true;
}

static bool read_bytes(wire *w, wire_bytes *out) {
    const uint8_t *start = w->at;
    uint64_t size;
    if (!read_varint(w, &size)) return false;
    if (size > (size_t)(w->end - w->at)) {
        w->length = size;
        return fault(w, WIRE_LENGTH, start);
    }
    *out = (wire_bytes){ w->at, (size_t)size };
    w->at += size;
    return true;
}

bool wire_next_slow(wire *w, wire_field *out) {
    const uint8_t *start = w->at;
    uint64_t key;
    if (w->at == w->end || !read_varint(w, &key)) return false;
    if (key >> 3 == 0 || key >> 3 > WIRE_MOST_FIELD) return fault(w, WIRE_NUMBER, start);
    *out = (wire_field){ .at = start, .number = (uint32_t)(key >> 3), .kind = (wire_kind)(key & 7) };
    switch (key & 7) {
    case WIRE_VARINT:  return read_varint(w, &out->value);
    case WIRE_FIXED64: return read_fixed(w, 8, &out->value);
    case WIRE_FIXED32: return read_fixed(w, 4, &out->value);
    case WIRE_BYTES:   return read_bytes(w, &out->bytes);
    case 3: case 4:    return fault(w, WIRE_GROUP, start);
    default:           return fault(w, WIRE_UNKNOWN, start);
    }
}

bool wire_next_number(wire *w, wire_kind kind, uint64_t *out) {
    if (w->at == w->end) return false;
    return kind == WIRE_VARINT ? read_varint(w, out) : read_fixed(w, kind == WIRE_FIXED64 ? 8 : 4, out);
}

const char *wire_fault_text(wire_fault what) {
    static const char *const words[WIRE_FAULTS] = {
        [WIRE_GOOD]    = "no fault",
        [WIRE_CUT]     = "the message ends within a field",
        [WIRE_WIDE]    = "a number has more than 64 bits",
        [WIRE_NUMBER]  = "a field number must be from 1 to 536870911",
        [WIRE_GROUP]   = "a group begins here: ONNX has no groups",
        [WIRE_UNKNOWN] = "an unknown wire type, expected 0, 1, 2 or 5",
        [WIRE_LENGTH]  = "a length reaches beyond the end of its message",
    };
    return words[what];
}

/* ---- base64 ---------------------------------------------------------------------------------------------------- */

void wire_put_base64(wire_bytes bytes, char *out) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.size; i += 3) {
        const size_t left = bytes.size - i;
        uint32_t v = (uint32_t)bytes.at[i] << 16;
        if (left > 1) v |= (uint32_t)bytes.at[i + 1] << 8;
        if (left > 2) v |= bytes.at[i + 2];
        *out++ = digits[v >> 18];
        *out++ = digits[v >> 12 & 63];
        *out++ = left > 1 ? digits[v >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[v & 63] : '=';
    }
}
