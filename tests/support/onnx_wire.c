/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each number of onnx.proto appears once, in the reader that looks for it. */
#include "onnx_wire.h"
#include <math.h>
#include <string.h>

/* ---- protobuf --------------------------------------------------------------------------------------------------- */

pb_walk pb_begin(pb_bytes message) {
    return (pb_walk){ message.data, message.size ? message.data + message.size : message.data, false };
}

static bool broken(pb_walk *walk) {
    walk->broken = true;
    walk->at = walk->end;
    return false;
}

static bool read_varint(pb_walk *walk, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && walk->at < walk->end; shift += 7) {
        unsigned char byte = *walk->at++;
        if (shift == 63 && byte > 1) return broken(walk);   // more than 64 bits
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return broken(walk);
}

static bool read_fixed(pb_walk *walk, size_t size, uint64_t *out) {
    if ((size_t)(walk->end - walk->at) < size) return broken(walk);
    *out = 0;
    for (size_t i = 0; i < size; i++) *out |= (uint64_t)walk->at[i] << (8 * i);
    walk->at += size;
    return true;
}

/* Groups (wire types 3 and 4) are older than onnx.proto, which does not use them: they are refused, not skipped. */
bool pb_next(pb_walk *walk, pb_field *out) {
    uint64_t key, size;
    if (walk->at == walk->end) return false;
    if (!read_varint(walk, &key)) return false;
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) return broken(walk);
    *out = (pb_field){ .number = (uint32_t)(key >> 3), .wire = (pb_wire)(key & 7) };
    switch (key & 7) {
    case PB_VARINT:  return read_varint(walk, &out->value);
    case PB_FIXED64: return read_fixed(walk, 8, &out->value);
    case PB_FIXED32: return read_fixed(walk, 4, &out->value);
    case PB_BYTES:
        if (!read_varint(walk, &size)) return false;
        if (size > (size_t)(walk->end - walk->at)) return broken(walk);
        out->bytes = (pb_bytes){ walk->at, (size_t)size };
        walk->at += size;
        return true;
    default: return broken(walk);
    }
}

bool pb_next_of(pb_walk *walk, uint32_t number, pb_field *out) {
    while (pb_next(walk, out)) {
        if (out->number == number) return true;
    }
    return false;
}

size_t pb_count(pb_bytes message, uint32_t number) {
    size_t n = 0;
    pb_field field;
    for (pb_walk walk = pb_begin(message); pb_next_of(&walk, number, &field);) n++;
    return n;
}

pb_numbers pb_numbers_of(pb_bytes message, uint32_t number, pb_wire wire) {
    return (pb_numbers){ .fields = pb_begin(message), .number = number, .wire = wire };
}

bool pb_numbers_next(pb_numbers *numbers, uint64_t *out) {
    pb_field field;
    while (numbers->packed.at == numbers->packed.end) {
        if (!pb_next_of(&numbers->fields, numbers->number, &field)) return false;
        if (field.wire == numbers->wire) {
            *out = field.value;
            return true;
        }
        if (field.wire != PB_BYTES) return broken(&numbers->fields);
        numbers->packed = pb_begin(field.bytes);
    }
    bool read = numbers->wire == PB_VARINT ? read_varint(&numbers->packed, out)
                                           : read_fixed(&numbers->packed, numbers->wire == PB_FIXED64 ? 8 : 4, out);
    return read || broken(&numbers->fields);
}

bool pb_is(pb_bytes text, const char *expected) {
    size_t size = strlen(expected);
    return text.size == size && (size == 0 || memcmp(text.data, expected, size) == 0);
}

bool pb_same(pb_bytes a, pb_bytes b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

float pb_float(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, sizeof f);
    return f;
}

double pb_double(uint64_t bits) {
    double f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* ---- onnx.proto ------------------------------------------------------------------------------------------------- */

/* A member that occurs once in its message. */
typedef enum slot_kind { SLOT_BYTES, SLOT_I64, SLOT_U64, SLOT_FLOAT, SLOT_TRUE_IF_ANY, SLOT_TRUE_IF_1 } slot_kind;
typedef struct slot {
    uint32_t  number;
    slot_kind kind;
    void     *out;
} slot;

static bool fill(const slot *s, const pb_field *field) {
    static const pb_wire wires[] = { PB_BYTES, PB_VARINT, PB_VARINT, PB_FIXED32, PB_BYTES, PB_VARINT };
    if (field->wire != wires[s->kind]) return false;
    switch (s->kind) {
    case SLOT_BYTES:       *(pb_bytes *)s->out = field->bytes; break;
    case SLOT_I64:         *(int64_t *)s->out = (int64_t)field->value; break;
    case SLOT_U64:         *(uint64_t *)s->out = field->value; break;
    case SLOT_FLOAT:       *(double *)s->out = pb_float(field->value); break;
    case SLOT_TRUE_IF_ANY: *(bool *)s->out = true; break;
    case SLOT_TRUE_IF_1:   *(bool *)s->out = field->value == 1; break;
    }
    return true;
}

/* Fills the slots from the fields with their numbers, and checks the other fields. */
static bool read_slots(pb_bytes bytes, const slot *slots, size_t n) {
    pb_field field;
    pb_walk walk = pb_begin(bytes);
    while (pb_next(&walk, &field)) {
        for (size_t i = 0; i < n; i++) {
            if (slots[i].number == field.number && !fill(&slots[i], &field)) return false;
        }
    }
    return !walk.broken;
}
#define READ(bytes, ...) \
    read_slots(bytes, (const slot[]){ __VA_ARGS__ }, sizeof((const slot[]){ __VA_ARGS__ }) / sizeof(slot))

bool onnx_read_model(pb_bytes bytes, onnx_model *out) {
    *out = (onnx_model){ .whole = bytes };
    return READ(bytes, { 7, SLOT_BYTES, &out->graph });
}

bool onnx_read_node(pb_bytes bytes, onnx_node *out) {
    *out = (onnx_node){ .whole = bytes };
    return READ(bytes, { 3, SLOT_BYTES, &out->name }, { 4, SLOT_BYTES, &out->op_type },
                { 7, SLOT_BYTES, &out->domain });
}

bool onnx_read_attribute(pb_bytes bytes, onnx_attribute *out) {
    *out = (onnx_attribute){ .whole = bytes };
    return READ(bytes, { 1, SLOT_BYTES, &out->name }, { 2, SLOT_FLOAT, &out->f }, { 3, SLOT_I64, &out->i },
                { 4, SLOT_BYTES, &out->s }, { 5, SLOT_BYTES, &out->t }, { 6, SLOT_BYTES, &out->g },
                { 20, SLOT_U64, &out->type });
}

bool onnx_read_tensor(pb_bytes bytes, onnx_tensor *out) {
    *out = (onnx_tensor){ .whole = bytes };
    return READ(bytes, { 2, SLOT_U64, &out->element }, { 8, SLOT_BYTES, &out->name }, { 9, SLOT_BYTES, &out->raw },
                { 14, SLOT_TRUE_IF_1, &out->external });
}

bool onnx_read_value(pb_bytes bytes, onnx_value *out) {
    *out = (onnx_value){ .whole = bytes };
    pb_bytes type = { NULL, 0 }, tensor = { NULL, 0 };
    return READ(bytes, { 1, SLOT_BYTES, &out->name }, { 2, SLOT_BYTES, &type }) &&
           READ(type, { 1, SLOT_BYTES, &tensor }, { 1, SLOT_TRUE_IF_ANY, &out->is_tensor }) &&
           READ(tensor, { 1, SLOT_U64, &out->element });
}

int64_t onnx_opset(const onnx_model *model, const char *domain) {
    enum { MODEL_OPSET = 8 };
    int64_t found = -1;
    pb_field field;
    for (pb_walk walk = pb_begin(model->whole); pb_next_of(&walk, MODEL_OPSET, &field);) {
        pb_bytes of = { NULL, 0 };
        int64_t version = 0;
        if (field.wire != PB_BYTES || !READ(field.bytes, { 1, SLOT_BYTES, &of }, { 2, SLOT_I64, &version })) return -1;
        if (pb_is(of, domain) || (!*domain && pb_is(of, "ai.onnx"))) found = version;
    }
    return found;
}

bool onnx_find_attribute(const onnx_node *node, const char *name, onnx_attribute *out) {
    pb_field field;
    for (pb_walk walk = pb_begin(node->whole); pb_next_of(&walk, ONNX_NODE_ATTRIBUTE, &field);) {
        if (field.wire == PB_BYTES && onnx_read_attribute(field.bytes, out) && pb_is(out->name, name)) return true;
    }
    return false;
}

size_t onnx_tensor_dims(const onnx_tensor *tensor, int64_t *out, size_t room) {
    enum { TENSOR_DIMS = 1 };
    size_t n = 0;
    uint64_t dim;
    for (pb_numbers dims = pb_numbers_of(tensor->whole, TENSOR_DIMS, PB_VARINT); pb_numbers_next(&dims, &dim); n++) {
        if (n < room) out[n] = (int64_t)dim;
    }
    return n;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

/* For each type: the field that holds the elements if they are not in raw_data, and the width of one element. */
typedef struct element_row {
    uint8_t size;     /* of one in raw_data       */
    uint8_t field;    /* of TensorProto; 0: none  */
    pb_wire wire;
} element_row;
static const element_row element_rows[] = {
    [ONNX_FLOAT]  = { 4, 4, PB_FIXED32 }, [ONNX_DOUBLE]  = { 8, 10, PB_FIXED64 },
    [ONNX_UINT8]  = { 1, 5, PB_VARINT },  [ONNX_INT8]    = { 1, 5, PB_VARINT },
    [ONNX_UINT16] = { 2, 5, PB_VARINT },  [ONNX_INT16]   = { 2, 5, PB_VARINT },
    [ONNX_INT32]  = { 4, 5, PB_VARINT },  [ONNX_INT64]   = { 8, 7, PB_VARINT },
    [ONNX_UINT32] = { 4, 11, PB_VARINT }, [ONNX_UINT64]  = { 8, 11, PB_VARINT },
    [ONNX_BOOL]   = { 1, 5, PB_VARINT },
    [ONNX_FLOAT16] = { 2, 5, PB_VARINT }, [ONNX_BFLOAT16] = { 2, 5, PB_VARINT },
    [ONNX_COMPLEX64] = { 8, 0, PB_VARINT }, [ONNX_COMPLEX128] = { 16, 0, PB_VARINT },
};

static const element_row *row_of(uint64_t element) {
    static const element_row none = { 0, 0, PB_VARINT };
    return element < sizeof element_rows / sizeof element_rows[0] ? &element_rows[element] : &none;
}

size_t onnx_element_size(uint64_t element) { return row_of(element)->size; }

onnx_elements onnx_elements_of(const onnx_tensor *tensor) {
    const element_row *row = row_of(tensor->element);
    onnx_elements e = { .element = tensor->element };
    if (tensor->external || !row->field) return e;   // without numbers the walk is empty
    e.is_raw = tensor->raw.data != NULL;
    e.raw = tensor->raw;
    if (!e.is_raw) e.numbers = pb_numbers_of(tensor->whole, row->field, row->wire);
    return e;
}

static double half(uint64_t bits) {
    double sign = bits & 0x8000 ? -1 : 1, fraction = (double)(bits & 0x3ff);
    int exponent = (int)(bits >> 10 & 0x1f);
    if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24));
}

bool onnx_elements_next(onnx_elements *elements, onnx_number *out) {
    uint64_t bits = 0;
    if (elements->is_raw) {
        size_t size = onnx_element_size(elements->element);
        if (elements->raw.size < size) return false;
        pb_walk walk = { elements->raw.data, elements->raw.data + size, false };
        read_fixed(&walk, size, &bits);
        elements->raw = (pb_bytes){ elements->raw.data + size, elements->raw.size - size };
    } else if (!pb_numbers_next(&elements->numbers, &bits)) {
        return false;
    }
    *out = (onnx_number){ .real = false };
    switch (elements->element) {
    case ONNX_INT8:     out->i = (int8_t)bits; break;
    case ONNX_INT16:    out->i = (int16_t)bits; break;
    case ONNX_INT32:    out->i = (int32_t)bits; break;
    case ONNX_UINT8:    out->i = (uint8_t)bits; break;
    case ONNX_UINT16:   out->i = (uint16_t)bits; break;
    case ONNX_UINT32:   out->i = (uint32_t)bits; break;
    case ONNX_BOOL:     out->i = bits != 0; break;
    case ONNX_FLOAT:    *out = (onnx_number){ .real = true, .f = (double)pb_float(bits) }; break;
    case ONNX_DOUBLE:   *out = (onnx_number){ .real = true, .f = pb_double(bits) }; break;
    case ONNX_FLOAT16:  *out = (onnx_number){ .real = true, .f = half(bits) }; break;
    case ONNX_BFLOAT16: *out = (onnx_number){ .real = true, .f = (double)pb_float(bits << 16) }; break;
    default:            out->i = (int64_t)bits; break;   // INT64, UINT64
    }
    return true;
}
