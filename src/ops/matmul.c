/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matrix products, as in NumPy's matmul: leading dims are broadcast; a vector is a row on the left and a column on the
 * right, and that dim is not in the result. */
#include <inttypes.h>
#include "broadcast.h"

/* An operand and the two dims of its matrix. A vector has one dim, which stands for both. */
typedef struct matrix {
    const xir_type *type;
    size_t          rank, batches;
    int64_t         rows, columns;
    bool            vector;
} matrix;

static xir_status read_matrix(xir_infer *at, size_t i, matrix *m) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type);
    if (rank == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, path_of_input(i).text, "%s has no dims: expected at least one",
                              input_name(at, i));
    }
    bool vector = rank == 1;
    *m = (matrix){ .type = type, .rank = rank, .batches = vector ? 0 : rank - 2, .vector = vector,
                   .rows = type_dim(type, vector ? -1 : -2), .columns = type_dim(type, -1) };
    return XIR_OK;
}

/* Batch dim k, from the right. */
static int64_t batch_dim(const matrix *m, size_t k) {
    return k <= m->batches ? type_dim(m->type, (int64_t)(m->batches - k)) : 1;
}

/* The bias is broadcast to the product and cannot enlarge it; extra leading dims of 1 are allowed. */
static xir_status check_bias(xir_infer *at, const dim_list *out) {
    const xir_type *bias = xir_infer_input(at, 2);
    size_t rank = xir_type_rank(bias);
    for (size_t k = 1; k <= rank; k++) {
        int64_t b = type_dim(bias, (int64_t)(rank - k));
        if (!dims_differ(at, b, 1)) continue;
        if (k > out->size) {
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/2",
                                  "dim -%zu of b is %s, but the product has %zu dim%s: expected 1", k,
                                  dim_words(at, b).text, out->size, out->size == 1 ? "" : "s");
        }
        int64_t dim = out->data[out->size - k];
        if (!dims_differ(at, b, dim)) continue;
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/2", "dim -%zu of b is %s, that of the product is %s: expected "
                              "the same or 1", k, dim_words(at, b).text, dim_words(at, dim).text);
    }
    return XIR_OK;
}

static xir_status check_elements(xir_infer *at) {
    size_t n = xir_infer_input(at, 2) ? 3 : 2;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = need_numbers(at, i);
    if (!status) status = same_elements(at, 0, 1);
    if (status || n == 2) return status;
    /* Narrow integers are summed in a wider type, and the bias may have that type. */
    const xir_type *x = xir_infer_input(at, 0), *bias = xir_infer_input(at, 2);
    if (xir_type_is_quantized(xir_type_element(bias)) || holds_integers(x) == holds_integers(bias)) return XIR_OK;
    return same_elements(at, 0, 2);
}

/* The shape of the product; creates `out`. */
static xir_status matmul_shape(xir_infer *at, dim_list *out) {
    matrix x, k;
    xir_status status = check_elements(at);
    if (!status) status = read_matrix(at, 0, &x);
    if (!status) status = read_matrix(at, 1, &k);
    if (status) return status;
    if (dims_differ(at, x.columns, k.rows)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1", "k has %s rows, x has %s columns: expected the same",
                              dim_words(at, k.rows).text, dim_words(at, x.columns).text);
    }
    size_t batches = x.batches > k.batches ? x.batches : k.batches, rank = batches + !x.vector + !k.vector;
    if (!dims_init(at, out, rank)) return XIR_E_MEMORY;
    for (size_t i = 1; i <= batches; i++) {
        int64_t a = batch_dim(&x, i), b = batch_dim(&k, i);
        if (join_dim(at, a, b, &out->data[batches - i])) continue;
        dims_free(out);
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                              "batch dim -%zu of x is %s, that of k is %s: expected the same or 1", i,
                              dim_words(at, a).text, dim_words(at, b).text);
    }
    if (!x.vector) out->data[batches] = x.rows;
    if (!k.vector) out->data[rank - 1] = k.columns;
    if (xir_infer_input(at, 2)) status = check_bias(at, out);
    if (status) dims_free(out);
    return status;
}

static xir_status check_computed(xir_infer *at) {
    if (!xir_infer_input_is_params(at, 0) || !xir_infer_input_is_params(at, 1)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/1",
                          "x and k are both Params: expected at least one computed value");
}

xir_status matmul_check(xir_infer *at) {
    dim_list dims;
    xir_status status = check_computed(at);
    if (status) return status;
    size_t n = xir_infer_input(at, 2) ? 3 : 2;
    if (!inputs_known(at, n) || inputs_tiled(at, n)) return XIR_OK;
    status = matmul_shape(at, &dims);
    if (!status) dims_free(&dims);
    return status;
}

/* Maps the dims of operand i to those of the product. */
static xir_status carry_matrix(xir_infer *at, size_t i, const dim_list *dims, distr_list *list) {
    if (xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs.size == 0) return XIR_OK;
    matrix x, k;
    dim_list to;
    read_matrix(at, 0, &x);
    read_matrix(at, 1, &k);
    const matrix *m = i ? &k : &x;
    size_t batches = dims->size - !x.vector - !k.vector;
    if (!dims_init(at, &to, m->rank)) return XIR_E_MEMORY;
    for (size_t d = 0; d < m->batches; d++) to.data[d] = (int64_t)(batches - m->batches + d);
    if (m->vector) to.data[0] = -1;
    else {
        to.data[m->rank - 2] = i ? -1 : (int64_t)batches;
        to.data[m->rank - 1] = i ? (int64_t)dims->size - 1 : -1;
    }
    xir_status status = carry_distrs(at, i, to.data, dims, list);
    dims_free(&to);
    return status;
}

xir_status matmul_infer(xir_infer *at) {
    const xir_type *x = xir_infer_input(at, 0), *element, *other;
    dim_list dims;
    xir_status status = check_computed(at);
    if (!status) status = need_inputs(at, xir_infer_input(at, 2) ? 3 : 2);
    if (!status) status = matmul_shape(at, &dims);
    if (status) return status;
    distr_list list;
    distrs_init(at, &list);
    status = computed_element(at, 0, &element);
    if (!status) status = computed_element(at, 1, &other);
    if (!status) status = carry_matrix(at, 0, &dims, &list);
    if (!status) status = carry_matrix(at, 1, &dims, &list);
    if (!status && xir_infer_input(at, 2)) status = carry_from_right(at, 2, &dims, &list);
    if (!status)
        status = give_with(at, element, xir_type_rank(x) == dims.size ? xir_type_layout(x) : NULL, &dims, &list);
    distrs_free(&list);
    dims_free(&dims);
    return status;
}
