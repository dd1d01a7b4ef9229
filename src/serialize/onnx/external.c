/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tensors in other files: reads where they are, and takes those parts of the files. */
#include "onnx/external.h"

typedef struct tensor_place {
    wire_bytes     location, offset, length, checksum;
    const uint8_t *at;
} tensor_place;

static dialect_parts *find_file(proto_reader *r, const tensor_place *p, const proto_tensor *t) {
    named_fault fault;
    dialect_parts *parts = dialect_file(&r->d, proto_str(p->location), &fault);
    if (!parts) {
        dialect_no_file(&r->d, proto_byte(r, p->at), &fault, "the external data of tensor '%.*s' in \"%.*s\"",
                        CLIP(proto_str(t->name)), CLIP(proto_str(p->location)));
    }
    return parts;
}

static bool read_entry(proto_reader *r, wire_bytes message, tensor_place *p) {
    wire_bytes key = { 0 }, value = { 0 };
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = PROTO_TEXT(r, &f, &key, "key");
        else if (f.number == 2) ok = PROTO_TEXT(r, &f, &value, "value");
    }
    if (!ok || !proto_end(r, &w)) return false;
    const struct { const char *key; wire_bytes *out; } known[] = {
        { "location", &p->location }, { "offset", &p->offset }, { "length", &p->length },
        { "checksum", &p->checksum } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (!xir_str_equal(proto_str(key), xir_str_of(known[i].key))) continue;
        if (known[i].out->at) return PROTO_FAIL(r, message.at, XIR_E_EXISTS, "%s appears twice", known[i].key);
        *known[i].out = value.at ? value : (wire_bytes){ message.at, 0 };
        return true;
    }
    return PROTO_FAIL(r, message.at, XIR_E_UNKNOWN,
                      "external data has no key \"%.*s\", expected location, offset, length or checksum",
                     CLIP(proto_str(key)));
}

static bool read_place(proto_reader *r, const proto_tensor *t, tensor_place *p) {
    enum { EXTERNAL_DATA = 13 };
    *p = (tensor_place){ .at = t->whole.at };
    frame list = proto_enter(r, XIR_STR("external_data")), item = { .up = &list, .index = 0 };
    wire_field f;
    bool ok = true;
    for (wire w = wire_of(t->whole); ok && wire_next(&w, &f);) {
        if (f.number != EXTERNAL_DATA) continue;
        if (!PROTO_WANT(r, &f, WIRE_BYTES, "external_data")) return false;
        if (!item.index) p->at = f.at;
        r->d.trace.top = &item;
        ok = read_entry(r, f.bytes, p);
        r->d.trace.top = list.up;
        item.index++;
    }
    return ok &&
           (p->location.at || PROTO_FAIL(r, p->at, XIR_E_MISSING, "the external data of tensor '%.*s' has no location",
                                              CLIP(proto_str(t->name))));
}

/* Decimal digits only. */
static bool read_number(proto_reader *r, wire_bytes text, const char *what, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < text.size; i++) {
        uint8_t digit = (uint8_t)(text.at[i] - '0');
        if (digit > 9) {
            return PROTO_FAIL(r, text.at, text.at[0] == '-' ? XIR_E_BOUNDS : XIR_E_SYNTAX,
                              "the %s \"%.*s\" is not a number, expected decimal digits", what,
                             CLIP(proto_str(text)));
        }
        if (!mul_u64(*out, 10, out) || !add_u64(*out, digit, out)) {
            return PROTO_FAIL(r, text.at, XIR_E_BOUNDS, "the %s \"%.*s\" does not fit 64 bits", what,
                              CLIP(proto_str(text)));
        }
    }
    return text.size || PROTO_FAIL(r, text.at, XIR_E_SYNTAX, "the %s is empty", what);
}

static bool read_data(proto_reader *r, const proto_tensor *t, const tensor_place *p, const uint64_t *bytes,
                      blob **out) {
    uint64_t offset = 0, length = 0;
    if (p->offset.at && !read_number(r, p->offset, "offset", &offset)) return false;
    if (p->length.at && !read_number(r, p->length, "length", &length)) return false;
    if (p->length.at && bytes && length != *bytes) {
        return PROTO_FAIL(r, p->length.at, XIR_E_CORRUPT,
                          "tensor '%.*s' has %" PRIu64 " bytes in \"%.*s\", but its type takes %" PRIu64,
                         CLIP(proto_str(t->name)), length, CLIP(proto_str(p->location)), *bytes);
    }
    dialect_parts *parts = find_file(r, p, t);
    if (!parts) return false;
    uint64_t size = parts->whole->size;
    if (!p->length.at) length = bytes ? *bytes : offset < size ? size - offset : 0;
    if (offset > size || length > size - offset) {
        return PROTO_FAIL(r, p->at, XIR_E_CORRUPT, "tensor '%.*s' takes %" PRIu64 " bytes of \"%.*s\" from %" PRIu64
                         " on, but the file ends at %" PRIu64, CLIP(proto_str(t->name)), length,
                         CLIP(proto_str(p->location)), offset, size);
    }
    return !length || (*out = dialect_part(&r->d, parts, offset, length)) != NULL;
}

bool proto_external_data(proto_reader *r, const proto_tensor *t, const uint64_t *bytes, blob **out) {
    tensor_place p;
    if (!read_place(r, t, &p)) return false;
    PROTO_ENTER(r, at, "external_data");
    bool ok = false;
    if (t->has_raw || t->data) {
        PROTO_FAIL(r, p.at, XIR_E_EXISTS, "tensor '%.*s' has elements both in the model and in another file",
                   CLIP(proto_str(t->name)));
    } else if (t->element == 8) {
        PROTO_FAIL(r, p.at, XIR_E_TYPE, "tensor '%.*s' has texts, which cannot be in another file",
                   CLIP(proto_str(t->name)));
    } else if (!r->d.how->path) {
        PROTO_FAIL(r, p.at, XIR_E_MISSING,
                   "tensor '%.*s' is in \"%.*s\", but there is no folder to search: the model did not "
                  "come from a file", CLIP(proto_str(t->name)), CLIP(proto_str(p.location)));
    } else {
        ok = read_data(r, t, &p, bytes, out);
    }
    PROTO_LEAVE(r, at);
    return ok;
}
