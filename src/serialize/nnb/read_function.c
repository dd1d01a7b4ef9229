/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions: a record of 20 bytes, then arguments whose kinds follow from the number. A record may end before its last
 * arguments: the exporter writes some without (trap 6 of docs/nnb.md), and where a record ends only the next block
 * says. The arguments of a number that is not in the table are kept as bytes. */
#include "nnb/nnb.h"
#include <math.h>
#include "number.h"
#include "task.h"

enum { AVERAGE_POOLING = 6 };

typedef struct record {
    const uint8_t       *p;
    uint32_t             at, number;   /* offset in the data; position in the list  */
    uint32_t             index;        /* its entry                                 */
    uint16_t             id, impl;
    nnb_block            in, out;
    const nnb_signature *sig;          /* NULL: not in the table                    */
    size_t               n_args;       /* that the record has                       */
} record;

static bool find_record(nnb_reader *r, uint32_t nth, record *out) {
    const uint64_t place = r->functions.at + 4 * (uint64_t)nth;
    const uint32_t k = little_u32(r->data + place);
    *out = (record){ .number = nth, .index = k };
    if (!nnb_resolve(r, k, place, "a function", &out->at)) return false;
    if (r->data_size - out->at < NNB_RECORD)
        return NNB_FAIL(r, out->at, XIR_E_CORRUPT, "the record of function %" PRIu32 " has at least %d bytes, "
                        "but the data ends after %" PRIu32, nth, NNB_RECORD, r->data_size - out->at);
    out->p = r->data + out->at;
    out->id = little_u16(out->p);
    out->impl = little_u16(out->p + 2);
    return true;
}

static bool take_ends(nnb_reader *r, record *f) {
    const uint8_t *p = f->p;
    return nnb_take_list(r, little_u32(p + 4), little_u32(p + 8), f->at + 8, "the inputs of a function", &f->in) &&
           nnb_take_list(r, little_u32(p + 12), little_u32(p + 16), f->at + 16, "the outputs of a function", &f->out);
}

/* Returns true if input 1 is a weight with one stored element: the binary one is computed with. */
static bool stores_one(uint16_t id) { return id == 108 || id == 110 || id == 232 || id == 233; }

bool nnb_scan_functions(nnb_reader *r) {
    const uint64_t listed = r->listed;
    record f;
    for (uint32_t i = 0; i < r->functions.n; i++) {
        if (!find_record(r, i, &f) || !take_ends(r, &f)) return false;
        for (uint32_t k = 0; k < f.out.n; k++) {
            const uint32_t v = little_u32(r->data + f.out.at + 4 * (size_t)k);
            if (v < r->variables.n) r->v[v].made = true;
        }
        const uint32_t w = f.in.n > 1 && stores_one(f.id) ? little_u32(r->data + f.in.at + 4) : UINT32_MAX;
        if (w < r->variables.n) r->v[w].one = true;
    }
    r->listed = listed;
    return true;
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

size_t nnb_record_arguments(const nnb_signature *s, uint32_t room, uint32_t *end) {
    size_t n = 0;
    *end = NNB_RECORD;
    for (; n < s->n && s->arguments[n].at + s->arguments[n].size <= room; n++)
        *end = s->arguments[n].at + s->arguments[n].size;
    return n;
}

/* The arguments of the record, and their bytes with the lists in place of pointers: equal ones are read once. */
static bool gather(nnb_reader *r, record *f, xir_str *out) {
    const uint32_t next = nnb_next_block(r, f->index, f->at);
    const uint32_t room = (next > f->at ? next : r->data_size) - f->at;
    buffer *b = &r->args;
    uint32_t end;
    b->size = 0;
    f->n_args = nnb_record_arguments(f->sig, room, &end);
    for (size_t i = 0; i < f->n_args; i++) {
        const nnb_argument *a = &f->sig->arguments[i];
        buffer_put(b, f->p + a->at, a->kind == NNB_LIST ? 4 : a->size);
        if (a->kind != NNB_LIST) continue;
        nnb_block list;
        if (!nnb_take_list(r, little_u32(f->p + a->at), little_u32(f->p + a->at + 4), f->at + a->at + 4, "an argument",
                           &list))
            return false;
        buffer_put(b, r->data + list.at, 4 * (size_t)list.n);
    }
    const uint32_t which = (uint32_t)f->id << 8 | (uint32_t)f->n_args;
    buffer_put(b, &which, sizeof which);
    char *kept = b->failed ? NULL : arena_copy(&r->d.scratch, b->data, b->size);
    *out = (xir_str){ kept, b->size };
    return kept || trace_memory(&r->d.trace);
}

static const xir_type *tensor_of(dialect *d, const xir_type *element, const int64_t *dims, size_t rank) {
    element = net_type(d->net, element);
    if (!element) trace_memory(&d->trace);
    return dialect_tensor(d, element, dims, rank);
}

/* A number that JSON does not have is Params of one element. */
static bool take_float(nnb_reader *r, const uint8_t *p, xir_any *out) {
    const uint32_t bits = little_u32(p);
    float v;
    memcpy(&v, &bits, sizeof v);
    if (isfinite(v)) {
        *out = xir_any_real(v);
        return true;
    }
    dialect *d = &r->d;
    const xir_type *type = tensor_of(d, xir_type_float(d->ctx, XIR_FLOAT_FP32), NULL, 0);
    blob *data = type ? dialect_part(d, NULL, (uint64_t)(p - d->base), sizeof bits) : NULL;
    return data && dialect_any_params(d, dialect_params(d, XIR_STR(""), type, data), out);
}

static bool take_list(nnb_reader *r, const uint8_t *p, xir_any *out) {
    const uint32_t n = little_u32(p), at = little_u32(r->index + 4 * (size_t)little_u32(p + 4));
    xir_any *items = arena_take(&r->d.net->arena, n * sizeof *items);
    if (!items) return trace_memory(&r->d.trace);
    for (uint32_t i = 0; i < n; i++) items[i] = xir_any_int((int32_t)little_u32(r->data + at + 4 * (size_t)i));
    *out = xir_any_list(items, n);
    return true;
}

static bool take_argument(nnb_reader *r, const record *f, const nnb_argument *a, xir_any *out) {
    const uint8_t *p = f->p + a->at;
    switch (a->kind) {
    case NNB_FLOAT: return take_float(r, p, out);
    case NNB_LIST:  return take_list(r, p, out);
    case NNB_BYTE:  *out = *p > 1 ? xir_any_int(*p) : xir_any_bool(*p == 1); return true;
    default:        break;
    }
    const int32_t v = (int32_t)little_u32(p);
    const xir_str word = nnb_word(a, v);
    *out = word.size ? xir_any_text(word) : xir_any_int(v);
    return true;
}

/* The last byte of AveragePooling 6 changed its meaning (trap 7): files with a revision have including_pad there. */
static xir_str argument_name(const nnb_reader *r, const record *f, size_t i) {
    const bool old = f->id == AVERAGE_POOLING && r->api > NNB_REVISION && i + 1 == f->sig->n;
    return old ? XIR_STR("including_pad") : f->sig->arguments[i].name;
}

static bool add_arguments(nnb_reader *r, record *f) {
    xir_str bytes;
    if (!gather(r, f, &bytes)) return false;
    if (dialect_node_attrs_again(&r->d, bytes)) return true;
    for (size_t i = 0; i < f->n_args; i++) {
        xir_any v;
        bool ok = take_argument(r, f, &f->sig->arguments[i], &v) &&
                  dialect_node_attr_kept(&r->d, argument_name(r, f, i), v);
        if (!ok) return false;
    }
    return true;
}

/* The bytes after the record, up to the next block: how many are arguments is unknown. */
static bool add_bytes(nnb_reader *r, const record *f) {
    dialect *d = &r->d;
    const uint32_t next = nnb_next_block(r, f->index, f->at);
    const uint32_t end = next > f->at ? next - f->at : r->data_size - f->at;
    const uint32_t size = end > NNB_RECORD ? end - NNB_RECORD : 0;
    xir_any v;
    if (!size) return true;
    if (!nnb_spend(r, size, f->at)) return false;
    const xir_type *type = tensor_of(d, xir_type_uint(d->ctx, 8), &(int64_t){ size }, 1);
    blob *data = type ? dialect_part(d, NULL, (uint64_t)(f->p - d->base) + NNB_RECORD, size) : NULL;
    return data && dialect_any_params(d, dialect_params(d, XIR_STR(""), type, data), &v) &&
           dialect_node_attr_kept(d, XIR_STR(NNB_ATTR_BYTES), v);
}

/* ---- ops ------------------------------------------------------------------------------------------------------- */

/* An ordinal that no variable has is a value that nothing defines. */
static bool add_ends(nnb_reader *r, const record *f) {
    for (uint32_t i = 0; i < f->in.n + (uint64_t)f->out.n; i++) {
        const bool in = i < f->in.n;
        const uint64_t at = in ? f->in.at + 4 * (uint64_t)i : f->out.at + 4 * (uint64_t)(i - f->in.n);
        const uint32_t v = little_u32(r->data + at);
        if (v >= r->variables.n)
            return NNB_FAIL(r, at, XIR_E_BOUNDS, "%s %" PRIu32 " of function %" PRIu32 " is variable %" PRIu32 ", "
                            "but there are only %" PRIu32, in ? "input" : "output", in ? i : i - f->in.n, f->number, v,
                            r->variables.n);
        bool ok = in ? dialect_node_in_ref(&r->d, dialect_number(v)) : dialect_node_out_ref(&r->d, dialect_number(v));
        if (!ok) return false;
    }
    return true;
}

/* Affine_3: the function and its number in the file. */
static xir_str op_name(const record *f, xir_str type, char *text) {
    memcpy(text, type.data, type.size);
    text[type.size] = '_';
    return (xir_str){ text, type.size + 1 + number_put_u64(text + type.size + 1, f->number) };
}

/* Returns true if the arguments of an op say its number. */
static bool says_number(nnb_reader *r, const record *f, const xir_op *op, bool *says) {
    nnb_signature *sig = r->signatures.by_id[f->id];
    const xir_map *extra = xir_op_extra(op);
    char why[NNB_WHY];
    if (!sig->family && !(sig->family = nnb_family_of(&r->signatures, sig->name)))
        return trace_memory(&r->d.trace);
    if (!sig->asked || sig->last != extra) {
        sig->says = nnb_pick(sig->family, extra, r->api, why) == sig;
        sig->last = extra;
        sig->asked = true;
    }
    *says = sig->says;
    return true;
}

static bool tag_op(nnb_reader *r, const record *f, xir_op *op) {
    bool says = false;
    if (f->sig && f->sig->storable && !says_number(r, f, op, &says)) return false;
    if (says && !f->impl) return true;
    op_more *more = op_need_more(op);
    if (!more) return trace_memory(&r->d.trace);
    return (says || dialect_tag(&r->d, &more->tags, NNB_TAG_ID, xir_any_int(f->id))) &&
           (!f->impl || dialect_tag(&r->d, &more->tags, NNB_TAG_IMPL, xir_any_int(f->impl)));
}

static bool type_outputs(nnb_reader *r, const record *f, xir_op *op) {
    char text[16];
    for (uint32_t i = 0; i < f->out.n; i++) {
        const uint32_t v = little_u32(r->data + f->out.at + 4 * (size_t)i);
        dialect_declared declared = { NULL, NULL };
        xir_value *out = &op_outputs(op)[i];
        bool ok = nnb_declare(r, v, &declared) && dialect_name_value(&r->d, out, nnb_variable_name(v, text)) &&
                  dialect_value_tags(&r->d, out, declared.tags);
        if (!ok) return false;
        out->type = declared.type;
    }
    return true;
}

static bool read_function(nnb_reader *r, uint32_t nth) {
    enum { NAME_ROOM = 64 };
    char type[NAME_ROOM], name[NAME_ROOM + 16];
    record f;
    bool memory = false;
    if (!find_record(r, nth, &f) || !take_ends(r, &f)) return false;
    f.sig = nnb_signature_of(&r->signatures, f.id, &memory);
    if (memory) return trace_memory(&r->d.trace);
    xir_str key = f.sig ? f.sig->name : XIR_STR("");
    if (!f.sig) {
        const int n = snprintf(type, sizeof type, NNB_UNKNOWN "%u", (unsigned)f.id);
        if (!arena_text(&r->d.scratch, (xir_str){ type, (size_t)n }, &key)) return trace_memory(&r->d.trace);
    }
    dialect_node_begin(&r->d);
    if (!dialect_node_type(&r->d, XIR_STR(""), key) || !add_ends(r, &f)) return false;
    if (!(f.sig && f.sig->storable ? add_arguments(r, &f) : add_bytes(r, &f))) return false;
    xir_op *op = dialect_node_end(&r->d, op_name(&f, key, name));
    return op && type_outputs(r, &f, op) && tag_op(r, &f, op);
}

bool nnb_read_functions(nnb_reader *r) {
    for (uint32_t i = 0; i < r->functions.n; i++) {
        if (!read_function(r, i)) return false;
        if (!task_did(NNB_RECORD)) return trace_memory(&r->d.trace);
    }
    return true;
}
