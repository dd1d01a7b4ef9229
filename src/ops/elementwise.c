/* Element by element. Operands of one type may be tiled: what lies where is the same on both sides. */
#include <inttypes.h>
#include "graph.h"
#include "shape.h"

/* The operand whose layout and element type the sum has. */
static size_t leading(xir_infer *at) {
    return xir_type_rank(xir_infer_input(at, 1)) > xir_type_rank(xir_infer_input(at, 0));
}

/* The channels of a shape in the layout of `like`: the axis C, else O, else I, else the last one; 1 without dims. */
static int64_t channels_of(const xir_type *like, const dim_list *dims) {
    const xir_layout *layout = xir_type_layout(like);
    if (dims->size == 0) return 1;
    for (const char *letter = "COI"; *letter && layout; letter++) {
        int64_t i = xir_layout_index(layout, *letter);
        if (i >= 0 && (size_t)i < dims->size) return dims->data[i];
    }
    return dims->data[dims->size - 1];
}

static xir_status check_factors(xir_infer *at, const char *attribute, xir_refs factors, int64_t channels) {
    if (factors.size <= 1 || channels < 0 || (uint64_t)channels == factors.size) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, attribute, "%zu factors are neither one nor one for each of %" PRId64 " channels",
                          factors.size, channels);
}

/* Makes `out`, unless it fails. */
static xir_status add_shape(xir_infer *at, dim_list *out) {
    const xir_add_attrs *a = xir_infer_attrs(at);
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    xir_status status = same_elements(at, 0, 1);
    if (!status) status = broadcast(at, lhs, rhs, out);
    if (status) return status;
    int64_t channels = channels_of(leading(at) ? rhs : lhs, out);
    status = check_factors(at, "alpha", a->alpha, channels);
    if (!status) status = check_factors(at, "beta", a->beta, channels);
    if (status) dims_free(out);
    return status;
}

xir_status add_check(xir_infer *at) {
    dim_list dims;
    if (!inputs_known(at, 2) || inputs_tiled(at, 2)) return XIR_OK;
    xir_status status = add_shape(at, &dims);
    if (!status) dims_free(&dims);
    return status;
}

xir_status add_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    dim_list dims;
    if (inputs_known(at, 2) && xir_type_equal(lhs, rhs)) return xir_infer_give(at, lhs);
    xir_status status = need_inputs(at, 2);
    if (!status) status = add_shape(at, &dims);
    if (status) return status;
    /* Which elements of a sum of different types are valid is not known: none is said to be invalid. */
    status = xir_infer_give_like(at, leading(at) ? rhs : lhs, dims.data, dims.size);
    dims_free(&dims);
    return status;
}

/* ---- cast ---------------------------------------------------------------------------------------------------- */

/* Counts the elements that are no padding. False if it cannot be said: a dim is unknown, distributions overlap or do not fit
 * their dims, or the type is tiled and says nothing of its padding. */
static bool valid_elements(const xir_type *type, int64_t *out) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    size_t rank = tensor->shape.size;
    if (rank > 64 || (xir_type_is_layouted(type) && tensor->merged_distrs.size == 0)) return false;
    uint64_t merged = 0;
    *out = 1;
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        int64_t total = 1;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = from_start(distr->merged_axis.data[k], rank);
            if (axis < 0 || merged >> axis & 1 || tensor->shape.data[axis] < 0) return false;
            if (!mul_i64(total, tensor->shape.data[axis], &total)) return false;
            merged |= UINT64_C(1) << axis;
        }
        if (total != xir_distr_total(distr) || !mul_i64(*out, xir_distr_total_valid(distr), out)) return false;
    }
    for (size_t i = 0; i < rank; i++) {
        if (merged >> i & 1) continue;
        if (tensor->shape.data[i] < 0 || !mul_i64(*out, tensor->shape.data[i], out)) return false;
    }
    return true;
}

/* A cast moves elements and converts them: rank, layout and padding may change, how many valid elements there are may not. */
xir_status cast_check(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype || !inputs_known(at, 1)) return XIR_OK;   // the rows say that it is missing
    int64_t from, to;
    if (!valid_elements(xir_infer_input(at, 0), &from) || !valid_elements((const xir_type *)a->target_dtype, &to)) return XIR_OK;
    if (from == to) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "target_dtype", "the target has %" PRId64 " valid elements, the input %" PRId64,
                          to, from);
}

xir_status cast_infer(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype) return xir_infer_fail(at, XIR_E_MISSING, "target_dtype", "the target type is missing");
    return xir_infer_give(at, (const xir_type *)a->target_dtype);
}
