/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The wire format of protobuf: a message is a sequence of fields, each a number and a payload. A walk steps over them
 * in memory and copies nothing. Every key, number and length is checked against the end of its message before it is
 * used, so a walk cannot leave its bytes, whatever they are; after the first fault it is at its end.
 *
 * Groups (wire types 3 and 4) are refused: no message of ONNX has ever had one, and skipping groups is the only
 * thing here that would need a depth. */
#ifndef SERIALIZE_ONNX_WIRE_H
#define SERIALIZE_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "little.h"

typedef struct wire_bytes {
    const uint8_t *at;
    size_t         size;
} wire_bytes;

typedef enum wire_kind { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 } wire_kind;

enum { WIRE_MOST_FIELD = (1 << 29) - 1 };

/* Before this version of ONNX's files (ir_version) each initializer had to be declared as an input: they are constants.
 * From it on such an initializer is the default of an input. */
enum { ONNX_DEFAULTS_SINCE = 4 };

typedef struct wire_field {
    const uint8_t *at;        /* the first byte of its key     */
    uint32_t       number;
    wire_kind      kind;
    uint64_t       value;     /* of numbers                    */
    wire_bytes     bytes;     /* of WIRE_BYTES                 */
} wire_field;

typedef enum wire_fault {
    WIRE_GOOD,
    WIRE_CUT,          /* the message ends within a field            */
    WIRE_WIDE,         /* a number of more than 64 bits              */
    WIRE_NUMBER,       /* a field number of 0, or above 2^29 - 1     */
    WIRE_GROUP,        /* a group begins or ends                     */
    WIRE_UNKNOWN,      /* wire type 6 or 7                           */
    WIRE_LENGTH,       /* a length that reaches beyond the message   */
    WIRE_FAULTS
} wire_fault;

typedef struct wire {
    const uint8_t *at, *end;
    wire_fault     fault;
    const uint8_t *where;     /* the first byte of the fault          */
    uint64_t       length;    /* WIRE_LENGTH: the length               */
} wire;

static inline wire wire_of(wire_bytes message) {
    return (wire){ .at = message.at, .end = message.size ? message.at + message.size : message.at };
}

/* Steps to the next field; false at the end and after a fault. */
bool wire_next_slow(wire *w, wire_field *out);
static inline bool wire_next(wire *w, wire_field *out) {
    const uint8_t *at = w->at;
    size_t left = (size_t)(w->end - at);
    /* Nearly all keys and most numbers are one byte, most lengths one or two. */
    if (left >= 3 && at[0] >= 8 && at[0] < 0x80) {
        unsigned kind = at[0] & 7;
        bool wide = at[1] >= 0x80;
        size_t size = wide ? (at[1] & 0x7fu) | (size_t)at[2] << 7 : at[1], head = wide ? 3 : 2;
        if (kind == WIRE_BYTES && size <= left - head && (!wide || at[2] < 0x80)) {
            *out = (wire_field){ .at = at, .number = at[0] >> 3, .kind = WIRE_BYTES, .bytes = { at + head, size } };
            w->at = at + head + size;
            return true;
        }
        if (kind == WIRE_VARINT && !wide) {
            *out = (wire_field){ .at = at, .number = at[0] >> 3, .kind = WIRE_VARINT, .value = size };
            w->at = at + 2;
            return true;
        }
    }
    return wire_next_slow(w, out);
}

/* Steps to the next number of a packed field. False at the end and after a fault. */
bool wire_next_number(wire *w, wire_kind kind, uint64_t *out);

/* Bytes in base64: wire_base64_size says the characters that the text takes. */
static inline size_t wire_base64_size(size_t bytes) { return (bytes + 2) / 3 * 4; }
void wire_put_base64(wire_bytes bytes, char *out);

/* The message for a fault. */
const char *wire_fault_text(wire_fault fault);

#endif
