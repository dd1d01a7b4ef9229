/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Nodes that are like earlier ones, as nearly all are: names of ASCII, an op type that is known, attributes of the same
 * bytes as those of a late node of the type, and nothing else. They are read in one pass, which stops at the first
 * byte that it does not expect; then the node is read in the ordinary way (node.c), which finds what is wrong with it,
 * if anything is. */
#include "onnx/read.h"

/* The keys of fields of a NodeProto that hold bytes. */
enum { NODE_INPUT = 1 << 3 | WIRE_BYTES, NODE_OUTPUT = 2 << 3 | WIRE_BYTES, NODE_NAME = 3 << 3 | WIRE_BYTES,
       NODE_TYPE = 4 << 3 | WIRE_BYTES, NODE_ATTRIBUTE = 5 << 3 | WIRE_BYTES };

/* ---- op types -------------------------------------------------------------------------------------------------- */

/* Returns the slot that remembers a name of this begin and end. */
static proto_known *place_of(proto_reader *r, xir_str name, uint64_t *begin, uint64_t *end) {
    const size_t n = name.size < 8 ? name.size : 8;
    *begin = *end = 0;
    if (n == 8) {
        *begin = hash_word(name.data, 8);
        *end = hash_word(name.data + name.size - 8, 8);
    } else {
        for (size_t i = 0; i < n; i++) *begin |= (uint64_t)(unsigned char)name.data[i] << 8 * i;
    }
    return &r->known[((*begin ^ *end << 1 ^ name.size) * 0x9E3779B97F4A7C15u) >> 58];
}

static bool is_known(const proto_known *k, xir_str name, uint64_t begin, uint64_t end) {
    if (!name.size || k->name.size != name.size || k->begin != begin || k->end != end) return false;
    return name.size <= 16 || memcmp(k->name.data, name.data, name.size) == 0;
}

void proto_know_type(proto_reader *r, xir_str name) {
    uint64_t begin, end;
    proto_known *k = place_of(r, name, &begin, &end);
    if (!name.size || is_known(k, name, begin, end) || memchr(name.data, '.', name.size)) return;
    *k = (proto_known){ begin, end, name, dialect_node_type_number(&r->d) };
}

static const dialect_type *find_type(proto_reader *r, xir_str name) {
    uint64_t begin, end;
    const proto_known *k = place_of(r, name, &begin, &end);
    return is_known(k, name, begin, end) ? &r->d.types[k->type] : NULL;
}

/* ---- the message ----------------------------------------------------------------------------------------------- */

static bool add_name(proto_reader *r, dialect_ref *list, uint32_t *n, uint32_t most, xir_str text) {
    return *n < most && dialect_ascii_name(&r->d, text, &list[(*n)++]);
}

/* The attributes that a late node of the type has in these bytes; 0: none has. */
static size_t find_attributes(const dialect_type *type, const uint8_t *at, size_t left, const xir_map **extra) {
    for (size_t i = 0; i < DIALECT_LATE; i++) {
        const xir_str bytes = type->late[i].bytes;
        if (!bytes.size || bytes.size > left || memcmp(at, bytes.data, bytes.size) != 0) continue;
        *extra = type->late[i].extra;
        return bytes.size;
    }
    return 0;
}

static bool scan(proto_reader *r, const uint8_t *at, const uint8_t *end, dialect_again *out) {
    out->type = NULL;
    out->extra = NULL;
    out->name = (xir_str){ NULL, 0 };
    out->n_in = out->n_out = 0;
    while (at < end) {
        if (*at == NODE_ATTRIBUTE) {
            const bool first = out->type && !out->extra;
            const size_t size = first ? find_attributes(out->type, at, (size_t)(end - at), &out->extra) : 0;
            if (!size) return false;
            at += size;
            continue;
        }
        if (end - at < 2 || at[1] >= 0x80 || at[1] > end - at - 2) return false;
        const xir_str text = { (const char *)at + 2, at[1] };
        bool plain = false;
        switch (*at) {
        case NODE_INPUT:  plain = add_name(r, out->in, &out->n_in, DIALECT_AGAIN_IN, text); break;
        case NODE_OUTPUT: plain = add_name(r, out->out, &out->n_out, DIALECT_AGAIN_OUT, text); break;
        case NODE_NAME:
            plain = proto_is_ascii((wire_bytes){ at + 2, at[1] });
            out->name = text;
            break;
        case NODE_TYPE: plain = !out->type && (out->type = find_type(r, text)); break;
        default: break;
        }
        if (!plain) return false;
        at += 2 + text.size;
    }
    return out->type != NULL;
}

/* ---- the ops --------------------------------------------------------------------------------------------------- */

static bool make_first(proto_reader *r) {
    const proto_waiting *w = &r->waiting[r->first_waiting];
    const frame *now = r->d.trace.top;
    const frame at = { .up = now->up, .index = w->index };
    r->first_waiting = (r->first_waiting + 1) % PROTO_WAITING;
    r->n_waiting--;
    r->d.trace.top = &at;
    const bool ok = dialect_node_again(&r->d, &w->node);
    r->d.trace.top = now;
    return ok;
}

bool proto_make_waiting(proto_reader *r) {
    while (r->n_waiting)
        if (!make_first(r)) return false;
    return true;
}

bool proto_read_again(proto_reader *r, wire_bytes message, size_t index) {
    proto_prefetch(message.at);
    if (r->n_waiting == PROTO_WAITING && !make_first(r)) return false;
    proto_waiting *w = &r->waiting[(r->first_waiting + r->n_waiting) % PROTO_WAITING];
    if (!scan(r, message.at, message.at + message.size, &w->node)) return false;
    w->index = index;
    r->n_waiting++;
    return true;
}
