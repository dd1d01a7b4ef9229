#include "broadcast.h"
#include "pieces.h"

/* The strides of an input along the dims of the output. */
static xir_status find_strides(xir_kernel *at, size_t input, const xir_type *to, size_t *strides) {
    const xir_type *type = xir_kernel_input_type(at, input);
    size_t rank = xir_type_rank(to), own = xir_type_rank(type), stride = 1;
    if (own > rank) return xir_kernel_fail(at, XIR_E_INVALID, NULL, "input %zu has more dims than the output", input);
    for (size_t k = 0; k < rank; k++) {
        size_t o = rank - 1 - k;
        int64_t dim = k < own ? xir_type_dim(type, (int64_t)(own - 1 - k), false) : 1;
        if (dim != 1 && dim != xir_type_dim(to, (int64_t)o, false)) {
            return xir_kernel_fail(at, XIR_E_INVALID, NULL,
                                   "dim -%zu of input %zu does not broadcast to that of the output", k + 1, input);
        }
        strides[o] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
    return XIR_OK;
}

static bool goes_on(const broadcast *b, size_t k) {
    for (size_t i = 0; i < b->n_inputs; i++) {
        if (b->strides[i][k] != b->strides[i][k + 1] * b->dims[k + 1]) return false;
    }
    return true;
}

/* Removes dim k, which is merged into the next one or has size 1. */
static void drop(broadcast *b, size_t k) {
    b->rank--;
    for (size_t j = k; j < b->rank; j++) {
        b->dims[j] = b->dims[j + 1];
        for (size_t i = 0; i < b->n_inputs; i++) b->strides[i][j] = b->strides[i][j + 1];
    }
}

xir_status broadcast_open(broadcast *b, xir_kernel *at, size_t n) {
    const xir_type *to = xir_kernel_output_type(at, 0);
    *b = (broadcast){ .n_inputs = n, .rank = xir_type_rank(to), .rows = 1, .length = 1, .kernel = at };
    int64_t elements;
    if (xir_type_elements(to, &elements))
        return xir_kernel_fail(at, XIR_E_UNSUPPORTED, "outputs/0", "the dims are unknown");
    size_t *room = xir_kernel_alloc(at, (b->rank + 1) * (n + 2), sizeof *room);
    if (!room) return XIR_E_MEMORY;
    b->dims = room;
    b->index = room + b->rank + 1;
    for (size_t i = 0; i < n; i++) {
        b->strides[i] = room + (b->rank + 1) * (i + 2);
        xir_status status = find_strides(at, i, to, b->strides[i]);
        if (status) return status;
    }
    for (size_t k = 0; k < b->rank; k++) b->dims[k] = (size_t)xir_type_dim(to, (int64_t)k, false);
    for (size_t k = b->rank; k-- > 0;) {
        if (b->dims[k] == 1) drop(b, k);
    }
    for (size_t k = b->rank; k-- > 1;) {
        if (!goes_on(b, k - 1)) continue;
        b->dims[k] *= b->dims[k - 1];
        drop(b, k - 1);
    }
    if (b->rank) {
        b->rank--;
        b->length = b->dims[b->rank];
        for (size_t i = 0; i < n; i++) b->step[i] = b->strides[i][b->rank];
    }
    for (size_t k = 0; k < b->rank; k++) b->rows *= b->dims[k];
    if (elements == 0) b->rows = 0;
    return XIR_OK;
}

/* Advances to the next row. */
static void next_row(broadcast *b) {
    for (size_t i = 0; i < b->n_inputs; i++) b->at[i] -= b->step[i] * (b->length - b->row);
    for (size_t k = b->rank; k-- > 0;) {
        bool carry = ++b->index[k] == b->dims[k];
        for (size_t i = 0; i < b->n_inputs; i++) b->at[i] += b->strides[i][k];
        if (!carry) break;
        b->index[k] = 0;
        for (size_t i = 0; i < b->n_inputs; i++) b->at[i] -= b->strides[i][k] * b->dims[k];
    }
}

bool broadcast_next(broadcast *b) {
    if (b->rest) {
        for (size_t i = 0; i < b->n_inputs; i++) b->at[i] += b->step[i] * b->row;
    } else {
        if (b->rows == 0) return false;
        b->rows--;
        if (b->begun) next_row(b);
        b->begun = true;
        b->rest = b->length;
    }
    b->row = b->rest < PIECE ? b->rest : PIECE;
    b->rest -= b->row;
    return !xir_kernel_stops(b->kernel, b->row);
}
