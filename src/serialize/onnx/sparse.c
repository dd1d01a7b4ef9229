/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* SparseTensorProto. An initializer becomes the dense tensor that it stands for, with a mark, so that computing with it
 * needs no special case; an attribute keeps its three parts. The size of all dense tensors is limited relative to their
 * file. */
#include "onnx/read.h"

typedef struct sparse {
    wire_bytes whole, values, indices;
    size_t     n_dims;      /* at the end of `dims` */
    int64_t   *dims;
} sparse;

/* Copies the dims into the scratch arena, since the parts have dims of their own. */
static bool scan(proto_reader *r, wire_bytes message, sparse *s) {
    *s = (sparse){ .whole = message };
    r->dims.size = 0;
    wire_field f;
    wire w = wire_of(message);
    bool ok = true;
    while (ok && wire_next(&w, &f)) {
        if (f.number == 1) ok = PROTO_ONCE(r, &f, &s->values, "values");
        else if (f.number == 2) ok = PROTO_ONCE(r, &f, &s->indices, "indices");
        else if (f.number == 3) ok = proto_int64s(r, &f, &r->dims, XIR_STR("dims"));
    }
    if (!ok || !proto_end(r, &w)) return false;
    if (!s->values.at || !s->indices.at) {
        return PROTO_FAIL(r, message.at, XIR_E_MISSING, "a sparse tensor needs %s", s->values.at ? "indices"
                          : "values");
    }
    s->n_dims = r->dims.size;
    s->dims = arena_take(&r->d.scratch, s->n_dims * sizeof *s->dims);
    if (!s->dims) return trace_memory(&r->d.trace);
    if (s->n_dims) memcpy(s->dims, r->dims.data, s->n_dims * sizeof *s->dims);
    return true;
}

static xir_value *read_part(proto_reader *r, wire_bytes tensor, xir_str field, proto_tensor *t) {
    frame at = proto_enter(r, field);
    r->d.trace.top = &at;
    xir_value *v = proto_scan_tensor(r, tensor, t) ? proto_make_tensor(r, t) : NULL;
    r->d.trace.top = at.up;
    return v;
}

bool proto_sparse_any(proto_reader *r, wire_bytes message, xir_any *out) {
    sparse s;
    proto_tensor t;
    xir_entry *entries = arena_take(&r->d.net->arena, 3 * sizeof *entries);
    if (!entries) return trace_memory(&r->d.trace);
    if (!scan(r, message, &s)) return false;
    xir_any *dims = arena_take(&r->d.net->arena, s.n_dims * sizeof *dims);
    if (!dims) return trace_memory(&r->d.trace);
    for (size_t i = 0; i < s.n_dims; i++) dims[i] = xir_any_int(s.dims[i]);
    xir_value *indices = read_part(r, s.indices, XIR_STR("indices"), &t);
    xir_value *values = indices ? read_part(r, s.values, XIR_STR("values"), &t) : NULL;
    if (!values) return false;
    indices->id = r->d.net->next_value_id++;
    values->id = r->d.net->next_value_id++;
    entries[0] = (xir_entry){ XIR_STR("dims"), xir_any_list(dims, s.n_dims) };
    entries[1] = (xir_entry){ XIR_STR("indices"), { .kind = XIR_ANY_PARAMS, .as.params = indices } };
    entries[2] = (xir_entry){ XIR_STR("values"), { .kind = XIR_ANY_PARAMS, .as.params = values } };
    *out = xir_any_map(entries, 3);
    return true;
}

/* ---- dense ----------------------------------------------------------------------------------------------------- */

typedef struct dense {
    const sparse *s;
    const xir_value *values, *indices;
    uint64_t elements, bytes;
    size_t width;
} dense;

static const uint8_t *data_of(const xir_value *v) {
    return value_params(v)->data ? value_params(v)->data->bytes : NULL;
}

/* Puts the values at their indices: one index per value, into the flattened tensor, or one per dim. */
static bool scatter(proto_reader *r, const dense *d, uint8_t *out) {
    const uint8_t *values = data_of(d->values), *indices = data_of(d->indices);
    size_t n = (size_t)xir_type_dim(d->values->type, 0, false), per = xir_type_rank(d->indices->type) == 1 ? 0
        : d->s->n_dims;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = 0;
        for (size_t j = 0; j < per; j++) {
            int64_t index = (int64_t)little_u64(indices + 8 * (i * per + j));
            if (index < 0 || index >= d->s->dims[j]) {
                return PROTO_FAIL(r, d->s->indices.at, XIR_E_BOUNDS,
                                  "index %zu of value %zu is %" PRId64 ", expected 0 to %" PRId64, j, i,
                                 index, d->s->dims[j] - 1);
            }
            at = at * (uint64_t)d->s->dims[j] + (uint64_t)index;
        }
        if (!per) at = little_u64(indices + 8 * i);
        if (at >= d->elements) {
            return PROTO_FAIL(r, d->s->indices.at, XIR_E_BOUNDS,
                              "value %zu is at %" PRId64 ", but the tensor has %" PRIu64 " elements", i,
                             (int64_t)at, d->elements);
        }
        memcpy(out + at * d->width, values + i * d->width, d->width);
    }
    return true;
}

/* Returns true if the parts are consistent. */
static bool check_parts(proto_reader *r, const dense *d) {
    const xir_type *values = d->values->type, *indices = d->indices->type;
    bool good = values && xir_type_rank(values) == 1 && indices &&
                xir_type_equal(xir_type_element(indices), dialect_element(&r->d, 7)) &&
                    xir_type_storage_bits(values) % 8 == 0;
    int64_t n = good ? xir_type_dim(values, 0, false) : 0;
    size_t rank = good ? xir_type_rank(indices) : 0;
    if (good) good = xir_type_dim(indices, 0, false) == n && (rank == 1 || rank == 2);
    if (good && rank == 2) good = xir_type_dim(indices, 1, false) == (int64_t)d->s->n_dims;
    return good || PROTO_FAIL(r, d->s->whole.at, XIR_E_INVALID,
                              "a sparse tensor needs values [n] and int64 indices [n] or [n,rank]");
}

static bool check_size(proto_reader *r, dense *d) {
    uint64_t bits = xir_type_storage_bits(d->values->type);
    xir_status status = dialect_size(d->s->dims, d->s->n_dims, bits, &d->elements, &d->bytes);
    if (status) return PROTO_FAIL(r, d->s->whole.at, status, "the dims of a sparse tensor are negative or too large");
    if (!r->d.how->no_params && d->bytes > r->dense) {
        return PROTO_FAIL(r, d->s->whole.at, XIR_E_LIMIT,
                          "a sparse tensor of %zu bytes would take %" PRIu64 ", but the limit of its file "
                          "leaves %" PRIu64, d->s->whole.size, d->bytes, r->dense);
    }
    r->dense -= r->d.how->no_params ? 0 : d->bytes;
    d->width = (size_t)bits / 8;
    return true;
}

/* Removes the two Params that were made last: they are not part of the network. */
static void forget_parts(proto_reader *r) {
    for (int i = 0; i < 2; i++) {
        params *p = value_params(r->d.net->all_params);
        blob_release(p->data);
        r->d.net->all_params = p->next;
        r->d.net->n_params--;
    }
}

xir_value *proto_read_sparse(proto_reader *r, wire_bytes message, wire_bytes *name) {
    sparse s;
    proto_tensor indices, values;
    dense d = { .s = &s };
    if (!scan(r, message, &s) || !(d.indices = read_part(r, s.indices, XIR_STR("indices"), &indices)) ||
        !(d.values = read_part(r, s.values, XIR_STR("values"), &values))) return NULL;
    *name = values.name;
    if (!check_parts(r, &d) || !check_size(r, &d)) return NULL;
    const xir_type *type = dialect_tensor(&r->d, xir_type_element(d.values->type), s.dims, s.n_dims);
    blob *data = NULL;
    if (!type) return NULL;
    if (!r->d.how->no_params) {
        if (!(data = blob_new(r->d.alloc, d.bytes))) {
            trace_memory(&r->d.trace);
            return NULL;
        }
        if (d.bytes) memset((void *)(uintptr_t)data->bytes, 0, (size_t)d.bytes);
        if (!scatter(r, &d, (uint8_t *)(uintptr_t)data->bytes)) {
            blob_release(data);
            return NULL;
        }
    }
    forget_parts(r);
    const xir_map *tags = NULL;
    xir_value *v = dialect_params(&r->d, proto_str(*name), type, data);
    bool ok = v && dialect_tag(&r->d, &tags, "onnx.sparse", xir_any_bool(true)) && dialect_value_tags(&r->d, v, tags);
    return ok ? v : NULL;
}
