/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/affine.h"

int64_t channel_dim(const xir_type *type) {
    const xir_layout *layout = xir_type_layout(type);
    size_t rank = xir_type_rank(type);
    int64_t at = layout && xir_layout_rank(layout) == rank ? xir_layout_index(layout, 'C') : -1;
    return at >= 0 ? at : (int64_t)rank - 1;
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

static bool read_constant(const xir_value *v, int64_t channels, channel_numbers *out) {
    int64_t n;
    uint64_t size, need;
    if (!value_is_constant(v) || !element_is_float(out->form = element_format_of(v->type))) return false;
    if (xir_type_elements(v->type, &n) != XIR_OK || xir_type_bytes(v->type, &need) != XIR_OK) return false;
    if (n != channels && n != 1) return false;
    out->one = n == 1;
    out->bytes = xir_params_data(v, &size);
    return out->bytes && size == need;
}

/* Returns true if a constant that broadcasts to a type lies along this dim alone. Dims are aligned on the right. */
static bool lies_along(const xir_type *constant, const xir_type *type, int64_t dim) {
    int64_t rank = (int64_t)xir_type_rank(type), less = rank - (int64_t)xir_type_rank(constant);
    for (int64_t i = 0; i < rank - less; i++) {
        if (i + less != dim && xir_type_dim(constant, i, false) != 1) return false;
    }
    return less >= 0;
}

/* The channels: a dim of a type, and its size. */
typedef struct channel_place { const xir_type *type; int64_t dim, size; } channel_place;

static bool read_broadcast(const xir_value *v, channel_place of, channel_numbers *out, bool *uniform) {
    bool good = read_constant(v, of.size, out) && lies_along(v->type, of.type, of.dim);
    *uniform = out->one && of.size != 1;
    return good;
}

static bool one_scalar(xir_refs list, double *out) {
    if (list.size != 1 || !list.data[0]) return false;
    *out = xir_scalar_as_real((const xir_scalar *)list.data[0]);
    return true;
}

static bool no_scales(const xir_scales *scales) { return scales && !scales->items.size; }

/* ---- ops -------------------------------------------------------------------------------------------------------- */

static bool batch_norm_of(const xir_op *op, const xir_value **factors, const xir_value **addends) {
    const xir_batch_norm1d_attrs *one = xir_batch_norm1d_of(op);
    const xir_batch_norm2d_attrs *two = xir_batch_norm2d_of(op);
    const xir_batch_norm3d_attrs *three = xir_batch_norm3d_of(op);
    *factors = one ? one->variance : two ? two->variance : three ? three->variance : NULL;
    *addends = one ? one->mean : two ? two->mean : three ? three->mean : NULL;
    return *factors && *addends;
}

/* The other one of two inputs. */
static const xir_value *partner(const xir_op *op, const xir_value *data, bool *data_is_first) {
    const xir_value *lhs = xir_op_input(op, 0), *rhs = xir_op_input(op, 1);
    *data_is_first = lhs == data;
    return lhs == data ? rhs : rhs == data ? lhs : NULL;
}

bool affine_of(const xir_op *op, const xir_value *data, int64_t dim, int64_t size, affine *out) {
    const xir_add_attrs *add = xir_add_of(op);
    const xir_multiply_attrs *multiply = xir_multiply_of(op);
    const xir_div_attrs *div = xir_div_of(op);
    const xir_divide_scalar_attrs *by = xir_divide_scalar_of(op);
    const xir_value *factors, *addends;
    const channel_place of = { data->type, dim, size };
    double lhs, rhs;
    bool first;
    *out = (affine){ .factor = 1, .addend = 1 };
    if (op->n_outputs != 1 || !element_is_float(element_format_of(data->type))) return false;
    if (!xir_type_equal(data->type, op_outputs(op)[0].type)) return false;
    if (batch_norm_of(op, &factors, &addends)) {
        return channel_dim(data->type) == dim && read_constant(factors, size, &out->factors) &&
               read_constant(addends, size, &out->addends);
    }
    if (by) {
        out->uniform = true;
        out->factor = 1 / by->divisor;
        return by->rounding_mode == XIR_ROUNDING_NONE;
    }
    const xir_value *other = partner(op, data, &first);
    if (multiply) return no_scales(multiply->cut_scale) && read_broadcast(other, of, &out->factors, &out->uniform);
    if (div) {
        out->divides = true;
        return first && div->rounding_mode == XIR_ROUNDING_NONE &&
               read_broadcast(other, of, &out->factors, &out->uniform);
    }
    if (!add || !no_scales(add->cut_scale) || !one_scalar(add->alpha, &lhs) || !one_scalar(add->beta, &rhs))
        return false;
    out->factor = first ? lhs : rhs;
    out->addend = first ? rhs : lhs;
    return read_broadcast(other, of, &out->addends, &out->uniform);
}

/* ---- its numbers ------------------------------------------------------------------------------------------------ */

double affine_factor(const affine *a, size_t c) {
    if (!a->factors.bytes) return a->factor;
    double x = element_real(a->factors.form, a->factors.bytes, a->factors.one ? 0 : c);
    return a->factor * (a->divides ? 1 / x : x);
}

double affine_addend(const affine *a, size_t c) {
    return a->addends.bytes ? a->addend * element_real(a->addends.form, a->addends.bytes, a->addends.one ? 0 : c) : 0;
}

bool affine_adds_nothing(const affine *a, int64_t channels) {
    bool nothing = true;
    for (int64_t c = 0; c < channels && nothing; c++) nothing = affine_addend(a, (size_t)c) == 0;
    return nothing;
}
