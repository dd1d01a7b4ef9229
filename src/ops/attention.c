/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention. Inputs of rank 3 and rank 4 are both read as [batch, heads, length, size]; for rank 3 the attributes give
 * the number of heads. */
#include <inttypes.h>
#include "axes.h"
#include "element.h"
#include "sort.h"
#include "graph.h"

enum { QUERY, KEY, VALUE, MASK };

/* The dims of one input by role; negative: unknown. */
typedef struct heads_dims { int64_t batch, heads, length, size; } heads_dims;

static const char *attribute_of(size_t i) { return i == QUERY ? "q_num_heads" : "kv_num_heads"; }

static xir_status read_heads(xir_infer *at, size_t i, int64_t heads, heads_dims *out) {
    const xir_type *type = xir_infer_input(at, i);
    const char *attribute = attribute_of(i);
    int64_t dim[4];
    size_t rank = xir_type_rank(type);
    for (size_t k = 0; k < rank; k++) dim[k] = type_dim(type, (int64_t)k);
    if (rank == 4) {
        *out = (heads_dims){ dim[0], dim[1], dim[2], dim[3] };
        if (heads > 0 && out->heads >= 0 && heads != out->heads) {
            return xir_infer_fail(at, XIR_E_INVALID, attribute, "%s is %" PRId64 ", but %s has %" PRId64 " heads",
                                  attribute, heads, input_name(at, i), out->heads);
        }
        if (out->heads < 0 && heads > 0) out->heads = heads;
        return XIR_OK;
    }
    if (heads < 1) {
        return xir_infer_fail(at, XIR_E_MISSING, attribute,
                              "%s has 3 dims: expected the number of heads of its last dim in %s, found %" PRId64,
                              input_name(at, i), attribute, heads);
    }
    if (dim[2] >= 0 && dim[2] % heads) {
        return xir_infer_fail(at, XIR_E_INVALID, attribute,
                              "the last dim of %s is %" PRId64 ": expected a multiple of %" PRId64 " heads",
                              input_name(at, i), dim[2], heads);
    }
    *out = (heads_dims){ dim[0], heads, dim[1], 
                          dim[2] < 0 ? dim_of_expr(expr_floor_div(at->pool, expr_of_dim(dim[2]), heads))
                                     : dim[2] / heads };
    return XIR_OK;
}

static xir_status agree(xir_infer *at, size_t i, size_t j, const char *what, int64_t a, int64_t b) {
    if (!dims_differ(at, a, b)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, path_of_input(j).text,
                          "the %s of %s is %s, that of %s is %s: expected the same", what, input_name(at, i),
                          dim_words(at, a).text, input_name(at, j), dim_words(at, b).text);
}

/* The mask is broadcast from the right to [batch, heads, length, keys]. */
static xir_status check_mask(xir_infer *at, const heads_dims *q, const heads_dims *k) {
    static const char *const names[] = { "batch", "heads", "length", "keys" };
    const xir_type *type = xir_infer_input(at, MASK);
    const int64_t scores[] = { q->batch, q->heads, q->length, k->length };
    size_t rank = xir_type_rank(type);
    if (xir_type_kind_of(xir_type_element(type)) != XIR_TYPE_BOOL) {
        xir_status status = need_reals(at, MASK);
        if (!status) status = same_elements(at, QUERY, MASK);
        if (status) return status;
    }
    if (rank > 4) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/3", "%s has %zu dims: expected at most 4",
                              input_name(at, MASK), rank);
    }
    for (size_t i = 0; i < rank; i++) {
        int64_t dim = type_dim(type, (int64_t)i), score = scores[4 - rank + i];
        if (!dims_differ(at, dim, 1) || !dims_differ(at, dim, score)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/3", "dim %zu of %s is %s: expected 1 or %s (%s)", i,
                              input_name(at, MASK), dim_words(at, dim).text, dim_words(at, score).text,
                              names[4 - rank + i]);
    }
    return XIR_OK;
}

static size_t count_inputs(xir_infer *at) { return xir_infer_input(at, MASK) ? 4 : 3; }

/* Checks all inputs and returns the dims of the output by role. */
static xir_status attention_shape(xir_infer *at, heads_dims *out) {
    const xir_attention_attrs *a = xir_infer_attrs(at);
    size_t rank = xir_type_rank(xir_infer_input(at, QUERY));
    heads_dims q, k, v;
    if (rank != 3 && rank != 4) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "%s has %zu dims: expected 3 or 4", input_name(at, QUERY),
                              rank);
    }
    for (size_t i = QUERY; i <= VALUE; i++) {
        size_t found = xir_type_rank(xir_infer_input(at, i));
        if (found != rank) {
            return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text,
                                  "%s has %zu dims, %s has %zu: expected the same", input_name(at, i), found,
                                  input_name(at, QUERY), rank);
        }
        xir_status status = need_reals(at, i);
        if (!status && i) status = same_elements(at, QUERY, i);
        if (status) return status;
    }
    xir_status status = read_heads(at, QUERY, a->q_num_heads, &q);
    if (!status) status = read_heads(at, KEY, a->kv_num_heads, &k);
    if (!status) status = read_heads(at, VALUE, a->kv_num_heads, &v);
    if (!status) status = agree(at, QUERY, KEY, "batch", q.batch, k.batch);
    if (!status) status = agree(at, QUERY, VALUE, "batch", q.batch, v.batch);
    if (!status) status = agree(at, KEY, VALUE, "batch", k.batch, v.batch);
    if (!status) status = agree(at, KEY, VALUE, "number of heads", k.heads, v.heads);
    if (!status) status = agree(at, KEY, VALUE, "length", k.length, v.length);
    if (!status) status = agree(at, QUERY, KEY, "size of a head", q.size, k.size);
    if (status) return status;
    int64_t groups = k.heads < 0 ? v.heads : k.heads;
    if (q.heads >= 0 && groups >= 0 && (groups == 0 ? q.heads != 0 : q.heads % groups != 0)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                              "%s has %" PRId64 " heads: expected a multiple of the %" PRId64 " heads of %s",
                              input_name(at, QUERY), q.heads, groups, input_name(at, KEY));
    }
    if (q.batch < 0) q.batch = k.batch < 0 ? v.batch : k.batch;
    if (k.length < 0) k.length = v.length;
    if (count_inputs(at) == 4 && (status = check_mask(at, &q, &k))) return status;
    *out = (heads_dims){ q.batch, q.heads, q.length, v.size };
    return XIR_OK;
}

xir_status attention_check(xir_infer *at) {
    const xir_attention_attrs *a = xir_infer_attrs(at);
    heads_dims out;
    if (a->scale && !xir_float_imm_of((const xir_object *)a->scale) && !xir_int_imm_of((const xir_object *)a->scale)) {
        return xir_infer_fail(at, XIR_E_TYPE, "scale", "scale is not a number");
    }
    size_t n = count_inputs(at);
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return XIR_OK;
    return attention_shape(at, &out);
}

/* The dims that a distribution covers: the last one, others. A distribution that does not fit its tensor covers
 * none. */
typedef struct coverage { bool last, others; } coverage;

static coverage covers(const xir_distr *distr, size_t rank) {
    coverage s = { false, false };
    for (size_t k = 0; distr && k < distr->merged_axis.size; k++) {
        int64_t axis = from_start(distr->merged_axis.data[k], rank);
        if (axis < 0) return (coverage){ false, false };
        *(axis == (int64_t)rank - 1 ? &s.last : &s.others) = true;
    }
    return s;
}

static const xir_distr *distr_of(xir_infer *at, size_t i, size_t k) {
    return xir_distr_of(xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs.data[k]);
}

static size_t count_distrs(xir_infer *at, size_t i) {
    return xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs.size;
}

static xir_status not_carried(xir_infer *at, size_t i, size_t k, const char *why) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "distribution %zu of %s is over its last dim%s: the valid elements of the output cannot be "
                          "determined", k, input_name(at, i), why);
}

/* Collects the distributions of the output: those of query over batch, heads and length, and those of value over the
 * size. Padding in the reduced dims, the size of query and the keys, does not reach the output. In rank 3 the last dim
 * also contains the heads, so value's distribution carries over only if query has as many heads. `out` has room for
 * all. */
static xir_status keep_distrs(xir_infer *at, const xir_object **out, size_t *n) {
    const xir_attention_attrs *a = xir_infer_attrs(at);
    size_t rank = xir_type_rank(xir_infer_input(at, QUERY));
    *n = 0;
    for (size_t k = 0; k < count_distrs(at, QUERY); k++) {
        const xir_distr *distr = distr_of(at, QUERY, k);
        coverage s = covers(distr, rank);
        if (s.others && !s.last) out[(*n)++] = (const xir_object *)distr;
        else if (s.last && (s.others || rank == 3) && xir_distr_total_invalid(distr)) {
            return not_carried(at, QUERY, k, s.others ? " and others" : ", which has heads too");
        }
    }
    for (size_t k = 0; k < count_distrs(at, VALUE); k++) {
        const xir_distr *distr = distr_of(at, VALUE, k);
        coverage s = covers(distr, rank);
        bool same = rank == 4 || a->q_num_heads == a->kv_num_heads;
        if (s.last && !s.others && same) out[(*n)++] = (const xir_object *)distr;
        else if (s.last && xir_distr_total_invalid(distr)) {
            return not_carried(at, VALUE, k, s.others ? " and others" : ", which has fewer heads");
        }
    }
    return XIR_OK;
}

xir_status attention_infer(xir_infer *at) {
    heads_dims out;
    const xir_type *query = xir_infer_input(at, QUERY), *element;
    xir_status status = need_inputs(at, count_inputs(at));
    if (!status) status = attention_shape(at, &out);
    for (size_t i = QUERY; i <= VALUE && !status; i++) status = computed_element(at, i, &element);
    if (status) return status;

    bool rank4 = xir_type_rank(query) == 4;
    int64_t few[4] = { out.batch, rank4 ? out.heads : out.length, rank4 ? out.length : UNKNOWN_DIM, out.size };
    if (!rank4 && out.size < 0) few[2] = times_dim(at, out.size, out.heads);
    if (!rank4 && out.size >= 0 && !mul_i64(out.heads, out.size, &few[2])) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs/2",
                              "the product of %" PRId64 " heads and size %" PRId64 " exceeds 64 bits", out.heads,
                              out.size);
    }
    dim_list dims;
    if (!dims_init(at, &dims, rank4 ? 4 : 3)) return XIR_E_MEMORY;
    for (size_t k = 0; k < dims.size; k++) dims.data[k] = few[k];

    const xir_allocator *alloc = context_alloc(at->ctx);
    const xir_object *some[4], **distrs = some;
    size_t room = count_distrs(at, QUERY) + count_distrs(at, VALUE), n;
    if (room > sizeof some / sizeof some[0]) distrs = mem_new(alloc, room * sizeof *distrs);
    if (!distrs) return infer_no_memory(at);
    status = keep_distrs(at, distrs, &n);
    if (!status) status = give_tensor(at, query, xir_type_element(query), &dims, (xir_refs){ distrs, n });
    if (distrs != some) mem_free(alloc, (void *)distrs, room * sizeof *distrs);
    dims_free(&dims);
    return status;
}
