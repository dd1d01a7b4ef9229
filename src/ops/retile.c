/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reshapes from and to tiles, on Buyi and Zhuge. A tiled axis counts as one logical dim, its channels without
 * padding, at the place of its unit. The reshape applies to the logical dims. In the output the first channels are
 * valid and the rest of the last tile is padding. */
#include <inttypes.h>
#include "graph.h"
#include "reshape.h"

/* One side of the reshape. A tensor has at most one tiled axis. */
typedef struct side {
    const xir_layout *layout;
    xir_i64s dims;              /* the physical dims                                          */
    size_t   tiles, unit;       /* dims of the tiled axis, or the rank if untiled            */
    size_t   channels;          /* the logical dim of the tiled axis                          */
    int64_t  size, total;       /* channels of a unit, and of all tiles; -1: unknown          */
    dim_list logical;           /* the dims, with the tiled axis as one; allocated            */
    dim_list where;             /* the physical dim (or unit) of each logical dim; allocated  */
} side;

static void side_free(side *s) {
    dims_free(&s->logical);
    dims_free(&s->where);
}

/* Finds the tiled axis; the size of its logical dim is still unknown. Allocates the lists unless it fails. */
static xir_status side_init(xir_infer *at, side *s, const char *path, xir_i64s dims, const xir_layout *layout) {
    size_t n = 0;
    *s = (side){ .layout = layout, .dims = dims, .tiles = dims.size, .unit = dims.size, .channels = dims.size };
    xir_str text = xir_layout_text(layout);
    if (xir_layout_rank(layout) != dims.size) {
        return xir_infer_fail(at, XIR_E_INVALID, path, "the layout %.*s has %zu axes, but there are %zu dims",
                              (int)text.size, text.data, xir_layout_rank(layout), dims.size);
    }
    for (size_t k = 0; k < dims.size; k++) {
        int64_t unit = xir_layout_unit(layout, k), partner = unit ? tile_partner(layout, k) : -1;
        if (unit == 0) continue;
        if (partner < 0 || s->unit < dims.size) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, path,
                                  "the layout %.*s is unsupported: expected one tiled axis", (int)text.size, text.data);
        }
        if (dims.data[k] >= 0 && dims.data[k] != unit) {
            return xir_infer_fail(at, XIR_E_INVALID, path,
                                  "the layout %.*s has units of %" PRId64 ", but dim %zu is %" PRId64, (int)text.size,
                                  text.data, unit, k, dims.data[k]);
        }
        s->unit = k;
        s->size = unit;
        s->tiles = (size_t)partner;
    }
    bool tiled = s->unit < dims.size;
    if (!dims_init(at, &s->logical, dims.size - tiled)) return XIR_E_MEMORY;
    if (!dims_init(at, &s->where, dims.size - tiled)) {
        dims_free(&s->logical);
        return XIR_E_MEMORY;
    }
    for (size_t k = 0; k < dims.size; k++) {
        if (tiled && k == s->tiles) continue;
        if (tiled && k == s->unit) s->channels = n;
        s->logical.data[n] = tiled && k == s->unit ? UNKNOWN_DIM : dims.data[k];
        s->where.data[n++] = (int64_t)k;
    }
    if (!tiled) return XIR_OK;
    if (dims.data[s->tiles] < 0 || !mul_i64(dims.data[s->tiles], s->size, &s->total)) s->total = UNKNOWN_DIM;
    return XIR_OK;
}

/* Reads input 0: its channels are the valid ones. */
static xir_status read_input(xir_infer *at, side *s) {
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    xir_status status = side_init(at, s, "inputs/0", input->shape, input->layout);
    if (status) return status;
    for (size_t i = 0; i < input->merged_distrs.size && !status; i++) {
        const xir_distr *distr = (const xir_distr *)input->merged_distrs.data[i];
        const int64_t axes[2] = { (int64_t)s->tiles, (int64_t)s->unit };
        if (!distr) continue;
        bool channels = s->unit < s->dims.size && xir_type_distr((const xir_type *)input, axes, 2) == distr;
        int64_t valid = xir_distr_total_valid(distr), total = xir_distr_total(distr);
        bool first = valid == 0 || distr->sections.data[0].end == valid;
        /* Valid elements come first, then only padding. */
        if (valid && !distr->sections.data[0].m) first = false;
        if (channels && first && (s->total < 0 || s->total == total)) s->logical.data[s->channels] = valid;
        else if (channels || valid != total) {
            status = xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                                    "distribution %zu has padding that is not at the end of the tiled axis: it cannot "
                                    "be carried over to the output", i);
        }
    }
    int64_t *channels = s->channels < s->logical.size ? &s->logical.data[s->channels] : NULL;
    if (channels && *channels < 0) *channels = s->total;   // a type without a distribution has no padding
    if (status) side_free(s);
    return status;
}

/* A mapping of arrays: `to` gives the logical dim of the output for each one of the input, -1 if none. */
typedef struct retiling {
    const side    *in, *out;
    const int64_t *to;
} retiling;

/* Lays items along a logical dim of the output. */
static xir_status put_items(xir_infer *at, const side *out, size_t dim, xir_runs items, int64_t count, xir_run fill,
                            bool from_end, int64_t *axis, run_list *runs) {
    int64_t where = out->where.data[dim], padding = dim == out->channels ? out->total - count : 0;
    *axis = from_end ? where - (int64_t)out->dims.size : where;
    xir_status status = items.size == 1 ? run_list_add(runs, count, items.data->m, items.data->exp, items.data->value)
                                        : run_list_append(runs, items, 0, count);
    if (!status) status = run_list_add(runs, padding, fill.m, fill.exp, fill.value);
    return status ? infer_no_memory(at) : XIR_OK;
}

static xir_status retile_array(void *user, xir_infer *at, array_kind kind, xir_runs items, xir_run fill, int64_t *axis,
                               run_list *out) {
    const retiling *r = user;
    const side *in = r->in;
    int64_t was = *axis, k = from_start(was, in->dims.size), count = runs_total(items);
    if (count == 0) return XIR_OK;
    size_t dim = 0;
    if (k >= 0 && (size_t)k == in->tiles && in->unit < in->dims.size) k = (int64_t)in->unit;
    while (k >= 0 && in->where.data[dim] != k) dim++;
    bool tiled = k >= 0 && dim == in->channels;
    int64_t have = k < 0 ? -1 : tiled ? in->total : in->logical.data[dim], valid = k < 0 ? -1 : in->logical.data[dim];
    if (k < 0 || have != count) {
        if (items.size > 1) return cannot_follow(at, 0, kind, was);
        bool stays = k >= 0 && r->to[dim] >= 0;   // a single item holds for all elements
        int64_t where = stays ? r->out->where.data[r->to[dim]] : -1;
        *axis = stays && was < 0 ? where - (int64_t)r->out->dims.size : where;
        return run_list_append(out, items, 0, count) ? infer_no_memory(at) : XIR_OK;
    }
    run_list used;   // the items without padding
    run_list_init(&used, context_alloc(at->ctx));
    xir_status status = run_list_append(&used, items, 0, valid) ? infer_no_memory(at) : XIR_OK;
    size_t last = r->out->logical.size - 1;
    if (status || used.size == 0) {}
    else if (r->to[dim] >= 0) {
        status = put_items(at, r->out, (size_t)r->to[dim], run_list_runs(&used), valid, fill, was < 0, axis, out);
    } else if (used.size > 1) status = cannot_follow(at, 0, kind, was);
    else if (r->out->logical.size == 0 || r->out->logical.data[last] < 0) {
        *axis = -1;
        status = run_list_append(out, run_list_runs(&used), 0, 1) ? infer_no_memory(at) : XIR_OK;
    } else {
        status = put_items(at, r->out, last, run_list_runs(&used), r->out->logical.data[last], fill, true, axis, out);
    }
    run_list_free(&used);
    return status;
}

/* Sets the result: the physical dims from 'shape', and the distribution of the valid channels. */
static xir_status give_retiled(xir_infer *at, const side *in, side *out, const dim_list *dims) {
    const xir_object *distr = NULL;
    const xir_type *element, *type;
    dim_list to;
    if (!dims_init(at, &to, in->logical.size)) return XIR_E_MEMORY;
    find_whole((xir_i64s){ in->logical.data, in->logical.size }, (xir_i64s){ out->logical.data, out->logical.size },
               to.data);
    xir_status status = change_arrays(at, 0, retile_array, &(retiling){ in, out, to.data }, &element);
    dims_free(&to);
    if (status) return status;
    if (out->unit < out->dims.size) {
        const int64_t axes[2] = { (int64_t)out->tiles, (int64_t)out->unit };
        int64_t valid = out->logical.data[out->channels];
        run_list runs;
        run_list_init(&runs, context_alloc(at->ctx));   // the first runs fit without an allocation
        run_list_add(&runs, valid, 1, 0, 0);
        run_list_add(&runs, out->total - valid, 0, 0, 0);
        distr = (const xir_object *)distr_make(at->pool, (xir_i64s){ axes, 2 }, run_list_runs(&runs), XIR_UVALUE_ZERO,
                                               false);
        if (!distr) return infer_no_memory(at);
    }
    const xir_refs distrs = { &distr, distr != NULL };
    type = type_tensor(at->pool, element, out->layout, (xir_i64s){ dims->data, dims->size }, distrs);
    return type ? xir_infer_result(at, type) : infer_no_memory(at);
}

/* Finds the logical dims of the output, whose channels are the remaining elements, and its physical dims. */
static xir_status read_output(xir_infer *at, const side *in, side *out, dim_list *dims) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    const xir_i64s logical = { in->logical.data, in->logical.size }, wanted = { out->logical.data, out->logical.size };
    dim_list made;
    xir_status status = reshape_dims(at, logical, wanted, &made);
    if (status) return status;
    memcpy(out->logical.data, made.data, made.size * sizeof *made.data);
    dims_free(&made);
    int64_t valid = out->unit < out->dims.size ? out->logical.data[out->channels] : 0;
    if (out->unit < out->dims.size) {
        if (valid < 0 || out->total < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                                  "a dim is unknown: the padding in the tiles of the output cannot be determined");
        }
        if (valid > out->total || out->total - valid >= out->size) {
            return xir_infer_fail(at, XIR_E_INVALID, "shape",
                                  "%" PRId64 " channels remain, which do not fit %" PRId64 " tiles of %" PRId64, valid,
                                  out->dims.data[out->tiles], out->size);
        }
    }
    if (!dims_init(at, dims, a->shape.size)) return XIR_E_MEMORY;
    for (size_t k = 0; k < dims->size; k++) dims->data[k] = a->shape.data[k];
    for (size_t i = 0; i < out->logical.size; i++) {
        if (i != out->channels) dims->data[out->where.data[i]] = out->logical.data[i];
    }
    return XIR_OK;
}

xir_status retile(xir_infer *at, bool give) {
    const xir_reshape_attrs *a = xir_infer_attrs(at);
    side in, out;
    dim_list dims;
    if (!a->layout) return give ? xir_infer_fail(at, XIR_E_MISSING, "layout", "the layout is missing") : XIR_OK;
    xir_status status = read_input(at, &in);
    if (status) return status;
    status = side_init(at, &out, "shape", a->shape, a->layout);
    if (!status) {
        status = read_output(at, &in, &out, &dims);
        if (!status) {
            if (give) status = give_retiled(at, &in, &out, &dims);
            dims_free(&dims);
        }
        side_free(&out);
    }
    side_free(&in);
    return status;
}
