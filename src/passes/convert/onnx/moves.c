/* Op types that make constants, and op types that move elements. */
#include <stdio.h>
#include "convert/onnx/rows.h"

/* ---- constants -------------------------------------------------------------------------------------------------- */

bool onnx_constant(xir_node *at) {
    const xir_any *a;
    const double *reals;
    size_t n;
    xir_ints list;
    if (xir_node_attr(at, "value")) {
        xir_value *v = xir_node_attr_params(at, "value");
        return v && xir_node_result(at, 0, v);
    }
    if ((a = xir_node_attr(at, "value_int"))) {
        xir_ints one = xir_node_make_ints(at, 1, a->as.integer);
        xir_value *v = one.v ? xir_node_integers(at, &one) : NULL;
        return xir_node_result(at, 0, make_reshaped(at, v, &(xir_ints){ NULL, 0 }));
    }
    if ((a = xir_node_attr(at, "value_float"))) {
        return xir_node_result(at, 0, xir_node_scalar(at, xir_type_float(at->c->ctx, XIR_FLOAT_FP32),
                                                xir_node_real(at, "value_float", 0)));
    }
    if (xir_node_items(at, "value_ints", &list)) return xir_node_result(at, 0, xir_node_integers(at, &list));
    a = xir_node_attr(at, "value_floats");
    if (a && a->kind == XIR_ANY_PARAMS) return xir_node_result(at, 0, xir_node_attr_params(at, "value_floats"));
    if (xir_node_real_items(at, "value_floats", &reals, &n)) {
        return xir_node_result(at, 0,
                               xir_node_constant(at, xir_type_float(at->c->ctx, XIR_FLOAT_FP32), NULL, reals, n));
    }
    if (!xir_node_attr(at, "sparse_value") && !xir_node_attr(at, "value_string") &&
        !xir_node_attr(at, "value_strings")) {
        return xir_node_invalid(at, XIR_E_MISSING, "attribute/value",
                                "expected value, value_int, value_float or a similar attribute, found none");
    }
    return xir_node_unsupported(at, "a constant of texts, or sparse");
}

bool onnx_shape(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t start = xir_node_int(at, "start", 0);
    if (!xir_node_attr(at, "end")) return xir_node_becomes(at, "Shape", INS(x), SETS(INT("start", start)));
    return xir_node_becomes(at, "Shape", INS(x), SETS(INT("start", start), INT("end", xir_node_int(at, "end", 0))));
}

bool onnx_size(xir_node *at) {
    const xir_ints all = { NULL, 0 };
    return xir_node_becomes(at, "Prod", INS(xir_node_unary(at, "Shape", xir_node_input(at, 0))),
                            SETS(LIST("dim", &all)));
}

bool onnx_constant_of_shape(xir_node *at) {
    xir_value *shape = xir_node_input(at, 0), *value = xir_node_attr_params(at, "value");
    const xir_type *element = xir_type_float(at->c->ctx, XIR_FLOAT_FP32);
    xir_set of = REAL("value", 0);
    if (xir_node_failed(at)) return false;
    if (value) {
        int64_t n, whole = 0;
        double real = 0;
        element = v_element(value);
        const void *bytes = xir_params_has_data(value) ? xir_params_data(value, NULL) : NULL;
        if (xir_type_elements(xir_value_type(value), &n) != XIR_OK || n != 1) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/value",
                                    "value: expected a tensor with one element, found %lld", (long long)n);
        }
        if (!bytes || !element_readable(element))
            return xir_node_unsupported(at, "a value that is missing or not a number");
        elements_to_reals(element, bytes, 0, 1, &real);
        elements_to_ints(element, bytes, 0, 1, &whole);
        of = xir_type_kind_of(element) == XIR_TYPE_FLOAT ? (xir_set)REAL("value", real) : (xir_set)INT("value", whole);
    }
    return xir_node_becomes(at, "ConstantOfShape", INS(shape), SETS(of, OBJ("element_dtype", element)));
}

bool onnx_range(xir_node *at) {
    return xir_node_becomes(at, "Range", INS(xir_node_input(at, 0), xir_node_input(at, 1), xir_node_input(at, 2)),
                            NO_SETS);
}

/* The matrix is a constant if its dims are known. */
bool onnx_eye_like(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t k = xir_node_int(at, "k", 0), type = xir_node_int(at, "dtype", 0);
    if (xir_node_failed(at)) return false;
    const xir_type *element = xir_node_attr(at, "dtype") ? onnx_element(at->c->ctx, type) : v_element(x);
    if (v_rank(x) != 2)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected 2 dims, found %zu", v_rank(x));
    if (!element) return xir_node_unsupported(at, "elements of TensorProto.DataType %lld", (long long)type);
    if (!xir_node_need_dims(at, x, 0, 2)) return false;
    xir_ints dims = xir_node_dims(at, x);
    int64_t count = dims.v ? product_of(&dims, 0, 2) : -1;
    if (count < 0 || count > MOST_LISTED) return xir_node_unsupported(at, "a large matrix");
    size_t n = (size_t)count;
    double *v = arena_take(&at->c->scratch, (n + 1) * sizeof *v);
    if (!v) return node_no_memory(at);
    for (size_t i = 0; i < n; i++) v[i] = (int64_t)i % dims.v[1] - (int64_t)i / dims.v[1] == k;
    return xir_node_result(at, 0, xir_node_constant(at, element, &dims, v, n));
}

/* ---- places of lists -------------------------------------------------------------------------------------------- */

/* The place of a list in the file, for findings: before version `since` an attribute, from then on an input. */
static const char *place_of(const xir_node *at, const char *name, size_t input, int64_t since, char room[48]) {
    const bool attribute = xir_node_attr(at, name) || (!xir_node_has(at, input) && at->cls->version < since);
    if (attribute) snprintf(room, 48, "attribute/%s", name);
    else snprintf(room, 48, "input/%zu", input);
    return room;
}

/* ---- other dims ------------------------------------------------------------------------------------------------- */

/* The requested shape of a Reshape, and for each item the dim of x that it keeps: KEEPS_NONE if it is a number,
 * KEEPS_UNKNOWN if nothing is known about it. If the shape can't be represented so, the node stays. */
enum { KEEPS_NONE = -1, KEEPS_UNKNOWN = -2 };

static bool asked_shape(xir_node *at, const xir_value *x, xir_ints *shape, xir_ints *keeps) {
    const known_ints *known = NULL;
    if (!xir_node_items(at, "shape", shape)) {
        known = xir_node_failed(at) ? NULL : conversion_known(at->c, xir_op_input(at->op, 1));
        if (!known && !xir_node_ints(at, 1, shape)) return false;
        if (known) *shape = xir_node_make_ints(at, known->n, 1);
    }
    *keeps = xir_node_make_ints(at, shape->n, KEEPS_NONE);
    for (size_t i = 0; i < keeps->n; i++) {
        bool open = known && known->open && known->open[i];
        if (known && !open) shape->v[i] = known->v[i];
        if (open) keeps->v[i] = known->of[i] == x ? known->v[i] : KEEPS_UNKNOWN;
        else if (shape->v[i] == 0 && !xir_node_int(at, "allowzero", 0)) keeps->v[i] = (int64_t)i;
    }
    return !xir_node_failed(at);
}

/* Items that keep a dim become that dim. An item that is -1 or unknown, and does not follow from the others, ends as
 * -1. */
static bool settle_shape(xir_node *at, const xir_value *x, xir_ints *shape, const xir_ints *keeps, const char *where) {
    xir_ints dims = xir_node_dims(at, x), kept = xir_node_make_ints(at, v_rank(x), 0);
    int64_t rest = -1, known = 1, m = 1;
    size_t open = 0;
    bool counted = true;   /* whether x's number of elements, without kept unknown dims, is known */
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < shape->n; i++) {
        if (keeps->v[i] == KEEPS_UNKNOWN) {
            shape->v[i] = XIR_UNKNOWN_DIM;
            counted = false;
            open++;
        } else if (keeps->v[i] >= 0) {
            if (keeps->v[i] >= (int64_t)dims.n) {
                return xir_node_invalid(at, XIR_E_BOUNDS, where,
                                        "shape[%zu] is 0, which keeps a dim, but input 0 has only %zu dims", i, dims.n);
            }
            shape->v[i] = dims.v[keeps->v[i]];
            open += shape->v[i] < 0;
            kept.v[keeps->v[i]] += shape->v[i] < 0;
        } else if (shape->v[i] < -1) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "shape[%zu]: expected at least -1, found %lld", i,
                                    (long long)shape->v[i]);
        } else if (shape->v[i] == -1) {
            if (rest >= 0) {
                return xir_node_invalid(at, XIR_E_INVALID, where,
                                        "shape[%lld] and shape[%zu] are -1; expected at most one",
                                        (long long)rest, i);
            }
            rest = (int64_t)i;
        }
        if (shape->v[i] >= 0 && __builtin_mul_overflow(m, shape->v[i], &m))
            return xir_node_unsupported(at, "very large dims");
    }
    for (size_t i = 0; i < dims.n; i++) {
        if (dims.v[i] < 0) counted &= kept.v[i] == 1;
        else if (__builtin_mul_overflow(known, dims.v[i], &known)) return xir_node_unsupported(at, "very large dims");
    }
    if (!counted) {
        bool many = open + (rest >= 0) > 1;
        return !many || xir_node_unsupported(at, "several dims of the shape are unknown");
    }
    if (rest < 0 ? m != known : m <= 0 ? known != 0 : known % m != 0) {
        return xir_node_invalid(at, XIR_E_INVALID, where,
                                "expected a shape for the %lld elements of input 0, found one for %s%lld",
                                (long long)known, rest < 0 ? "" : "a multiple of ", (long long)m);
    }
    if (rest >= 0 && open && m > 0) shape->v[rest] = known / m;   // the kept dim may now be the rest
    return open < 2 || xir_node_unsupported(at, "several dims of the shape are unknown");
}

bool onnx_reshape(xir_node *at) {
    xir_ints shape, keeps;
    xir_value *x = xir_node_input(at, 0);
    const char *where = xir_node_attr(at, "shape") ? "attribute/shape" : "input/1";
    if (xir_node_failed(at) || !asked_shape(at, x, &shape, &keeps) ||
        !settle_shape(at, x, &shape, &keeps, where)) return false;
    return xir_node_result(at, 0, make_reshaped(at, x, &shape));
}

bool onnx_flatten(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at)) return false;
    xir_ints dims = xir_node_dims(at, x), flat = xir_node_make_ints(at, 2, 1);
    int64_t axis = xir_node_int(at, "axis", 1), found = axis;
    if (axis < 0) axis += (int64_t)dims.n;
    if (xir_node_failed(at)) return false;
    if (axis < 0 || (size_t)axis > dims.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/axis", "axis: expected %lld to %zu, found %lld",
                                -(long long)dims.n, dims.n, (long long)found);
    }
    flat.v[0] = product_of(&dims, 0, (size_t)axis);
    flat.v[1] = product_of(&dims, (size_t)axis, dims.n);
    return xir_node_result(at, 0, make_reshaped(at, x, &flat));
}

bool onnx_squeeze(xir_node *at) {
    char room[48];
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_list(at, "axes", 1, &axes)) {
        if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
        axes = (xir_ints){ NULL, 0 };
    }
    const char *where = place_of(at, "axes", 1, 13, room);
    xir_ints dims = xir_node_dims(at, x);
    if (xir_node_failed(at)) return false;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, where, axes.v[i], dims.n, &axis)) return false;
        if (dims.v[axis] == 1 || dims.v[axis] < 0) continue;
        return xir_node_invalid(at, XIR_E_INVALID, where,
                                "dim %lld of input 0, which is removed: expected 1, found %lld", (long long)axis,
                                (long long)dims.v[axis]);
    }
    if (!xir_value_is_params(x)) return xir_node_becomes(at, "Squeeze", INS(x), SETS(LIST("axis", &axes)));
    xir_ints rest = xir_node_make_ints(at, dims.n, 1);
    rest.n = 0;
    for (size_t i = 0; i < dims.n; i++) {
        bool gone = axes.n == 0 && dims.v[i] == 1;
        for (size_t k = 0; k < axes.n; k++)
            gone |= axes.v[k] == (int64_t)i || axes.v[k] + (int64_t)dims.n == (int64_t)i;
        if (!gone) rest.v[rest.n++] = dims.v[i];
    }
    return xir_node_result(at, 0, make_reshaped(at, x, &rest));
}

bool onnx_unsqueeze(xir_node *at) {
    char room[48];
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    const char *where = place_of(at, "axes", 1, 13, room);
    if (!xir_node_list(at, "axes", 1, &axes)) {
        return xir_node_invalid(at, XIR_E_MISSING, where, "axes is missing");
    }
    return xir_node_result(at, 0, xir_node_unsqueezed(at, x, &axes, where));
}

bool onnx_transpose(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints perm;
    if (xir_node_failed(at)) return false;
    size_t rank = v_rank(x);
    if (!xir_node_items(at, "perm", &perm)) {
        perm = xir_node_make_ints(at, rank, 0);
        for (size_t i = 0; i < perm.n; i++) perm.v[i] = (int64_t)(rank - 1 - i);
    }
    if (xir_node_failed(at)) return false;
    if (perm.n != rank) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/perm",
                                "perm: expected %zu items, one for each dim of input 0, found %zu", rank, perm.n);
    }
    xir_ints seen = xir_node_make_ints(at, rank, 0);
    for (size_t i = 0; i < seen.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "attribute/perm", perm.v[i], rank, &axis)) return false;
        if (seen.v[axis]++) {
            return xir_node_invalid(at, XIR_E_INVALID, "attribute/perm",
                                    "perm: expected each dim once, found %lld twice", (long long)perm.v[i]);
        }
        perm.v[i] = axis;
    }
    return xir_node_result(at, 0, xir_node_transposed(at, x, perm.v, rank, NULL));
}

/* The sizes of an Expand; unknown ones are 0. */
static bool asked_sizes(xir_node *at, xir_value *x, xir_ints *out) {
    const known_ints *known = xir_node_failed(at) ? NULL : conversion_known(at->c, xir_op_input(at->op, 1));
    if (!known) return xir_node_ints(at, 1, out);
    *out = xir_node_make_ints(at, known->n, 0);
    for (size_t i = 0; i < out->n; i++) {
        bool open = known->open && known->open[i];
        size_t from_end = known->n - i;
        int64_t dim = from_end <= v_rank(x) ? v_dim(x, v_rank(x) - from_end) : 1;
        bool own = open && from_end <= v_rank(x) && known->of[i] == x && known->v[i] == (int64_t)(v_rank(x) - from_end);
        /* a dim that is not 1 stays unchanged, whatever is requested, and so does a dim that is requested itself */
        if (own) out->v[i] = 1;
        else if (open && dim >= 0 && dim != 1) out->v[i] = dim;
        else if (open) return xir_node_unsupported(at, "several dims of the shape are unknown");
        else out->v[i] = known->v[i];
    }
    return out->v;
}

bool onnx_expand(xir_node *at) {
    xir_ints asked;
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at) || !asked_sizes(at, x, &asked)) return false;
    size_t rank = v_rank(x), n = asked.n > rank ? asked.n : rank;
    xir_ints sizes = xir_node_make_ints(at, n, -1);
    for (size_t i = 0; i < sizes.n; i++) {
        int64_t size = i >= n - asked.n ? asked.v[i - (n - asked.n)] : -1, dim = i >= n - rank
            ? v_dim(x, i - (n - rank)) : 1;
        if (size >= 0 && dim >= 0 && size != dim && size != 1 && dim != 1) {
            return xir_node_invalid(at, XIR_E_INVALID, "input/1",
                                    "shape[%zu]: expected 1 or %lld, like dim %zu of input 0, found %lld",
                                    i - (n - asked.n), (long long)dim, i - (n - rank), (long long)size);
        }
        sizes.v[i] = size == 1 && i >= n - rank ? -1 : size;   // a size of 1 would shrink the dim
    }
    return xir_node_becomes(at, "Expand", INS(x), SETS(LIST("sizes", &sizes)));
}

bool onnx_tile(xir_node *at) {
    xir_ints repeats;
    xir_value *x = xir_node_input(at, 0);
    if (!xir_node_ints(at, 1, &repeats)) return false;
    if (at->cls->version < 6) return xir_node_unsupported(at, "tiles along one axis");
    if (repeats.n != v_rank(x)) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/1",
                                "expected %zu repeats, one for each dim, found %zu", v_rank(x), repeats.n);
    }
    return xir_node_becomes(at, "Tile", INS(x), SETS(LIST("dims", &repeats)));
}

/* ---- parts and joins -------------------------------------------------------------------------------------------- */

bool onnx_slice(xir_node *at) {
    char room[48];
    xir_ints starts, ends, axes, steps;
    xir_value *x = xir_node_input(at, 0);
    if (xir_node_failed(at)) return false;
    if (!xir_node_list(at, "starts", 1, &starts)) {
        return xir_node_invalid(at, XIR_E_MISSING, place_of(at, "starts", 1, 10, room), "starts is missing");
    }
    if (!xir_node_list(at, "ends", 2, &ends)) {
        return xir_node_invalid(at, XIR_E_MISSING, place_of(at, "ends", 2, 10, room), "ends is missing");
    }
    if (!xir_node_list(at, "axes", 3, &axes)) axes = xir_node_series(at, 0, starts.n);
    if (!xir_node_has(at, 4)) steps = xir_node_make_ints(at, starts.n, 1);
    else if (!xir_node_ints(at, 4, &steps)) return false;
    size_t rank = v_rank(x);
    xir_ints begin = xir_node_make_ints(at, rank, 0), end = xir_node_make_ints(at, rank, INT64_MAX);
    xir_ints stride = xir_node_make_ints(at, rank, 1);
    if (xir_node_failed(at)) return false;
    if (starts.n != ends.n || starts.n != axes.n || starts.n != steps.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, NULL,
                                "starts, ends, axes and steps: expected as many items of each, found %zu, %zu, %zu and "
                                "%zu",
                                starts.n, ends.n, axes.n, steps.n);
    }
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, place_of(at, "axes", 3, 10, room), axes.v[i], rank, &axis)) return false;
        if (steps.v[i] == 0) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "input/4", "steps[%zu]: expected a number other than 0", i);
        }
        begin.v[axis] = starts.v[i];
        end.v[axis] = ends.v[i];
        stride.v[axis] = steps.v[i];
    }
    return xir_node_becomes(at, "Slice", INS(x),
                            SETS(LIST("begin", &begin), LIST("end", &end), LIST("stride", &stride)));
}

bool onnx_split(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    xir_ints sections;
    int64_t axis, sum = 0, n = (int64_t)xir_op_output_count(at->op);
    if (xir_node_failed(at) || !xir_node_axis(at, "attribute/axis", xir_node_int(at, "axis", 0), v_rank(x),
                                              &axis)) return false;
    int64_t dim = v_dim(x, (size_t)axis);
    char room[48];
    const char *where = place_of(at, "split", 1, 13, room);
    if (!xir_node_list(at, "split", 1, &sections)) {
        if (xir_node_failed(at) || !xir_node_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        n = xir_node_int(at, "num_outputs", n);
        if (n < 1 || n > 1 << 16) {
            return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/num_outputs",
                                    "num_outputs: expected at least 1, found %lld", (long long)n);
        }
        sections = xir_node_make_ints(at, (size_t)n, (dim + n - 1) / n);
        if (!sections.v) return false;
        int64_t last = dim - (n - 1) * ((dim + n - 1) / n);
        if (last < 0) return xir_node_invalid(at, XIR_E_INVALID, NULL,
                                              "dim %lld has %lld elements, which can't be split into %lld outputs", (long long)axis,
                                              (long long)dim, (long long)n);
        sections.v[n - 1] = last;
    }
    for (size_t i = 0; i < sections.n; i++) {
        if (sections.v[i] < 0 || __builtin_add_overflow(sum, sections.v[i], &sum)) {
            return xir_node_invalid(at, XIR_E_BOUNDS, where, "split[%zu]: expected at least 0, found %lld", i,
                                    (long long)sections.v[i]);
        }
    }
    if (dim >= 0 && sum != dim) {
        return xir_node_invalid(at, XIR_E_INVALID, where, "expected sections with %lld elements together, like dim "
                                "%lld, found %lld", (long long)dim, (long long)axis, (long long)sum);
    }
    if (sections.n < at->n_out) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where, "expected %zu sections, one for each output, found %zu",
                                at->n_out, sections.n);
    }
    xir_op *op = xir_node_make_op(at, "Split", INS(x), SETS(LIST("sections", &sections), INT("axis", axis)));
    for (size_t i = 0; op && i < at->n_out; i++) xir_node_result(at, i, xir_op_output(op, (int64_t)i));
    return !xir_node_failed(at);
}

bool onnx_concat(xir_node *at) {
    int64_t axis;
    char where[32];
    xir_value **inputs = arena_take(&at->c->scratch, (at->n_in + 1) * sizeof *inputs);
    if (!inputs) return node_no_memory(at);
    for (size_t i = 0; i < at->n_in; i++) inputs[i] = xir_node_input(at, i);
    if (xir_node_failed(at) || !xir_node_axis(at, "attribute/axis", xir_node_int(at, "axis", 1), v_rank(inputs[0]),
                                              &axis)) return false;
    for (size_t i = 1; i < at->n_in; i++) {
        snprintf(where, sizeof where, "input/%zu", i);
        if (!xir_node_same_elements(at, 0, inputs[0], i, inputs[i])) return false;
        if (v_rank(inputs[i]) != v_rank(inputs[0])) {
            return xir_node_invalid(at, XIR_E_INVALID, where,
                                    "input %zu: expected %zu dims, like input 0, found %zu", i, v_rank(inputs[0]),
                                    v_rank(inputs[i]));
        }
        for (size_t k = 0; k < v_rank(inputs[0]); k++) {
            int64_t a = v_dim(inputs[0], k), b = v_dim(inputs[i], k);
            if ((int64_t)k == axis || a == b || a < 0 || b < 0) continue;
            return xir_node_invalid(at, XIR_E_INVALID, where,
                                    "dim %zu of input %zu: expected %lld, like input 0, found %lld",
                                    k, i, (long long)a, (long long)b);
        }
    }
    return xir_node_becomes(at, "Concat", (xir_values){ inputs, at->n_in }, SETS(INT("axis", axis)));
}

bool onnx_pad(xir_node *at) {
    xir_ints pads, axes;
    double value;
    xir_value *x = xir_node_input(at, 0);
    char room[48];
    const char *name = at->cls->version < 2 ? "paddings" : "pads", *where = place_of(at, name, 1, 11, room);
    if (!xir_node_one_of(at, "mode", "constant", "constant|reflect|edge|wrap")) return false;
    if (!xir_node_list(at, name, 1, &pads))
        return xir_node_invalid(at, XIR_E_MISSING, where, "%s is missing", name);
    if (!xir_node_number(at, "value", 2, 0, &value)) return false;
    size_t rank = v_rank(x);
    if (xir_node_has(at, 3)) {
        if (!xir_node_ints(at, 3, &axes)) return false;
    } else {
        axes = xir_node_series(at, 0, rank);
    }
    if (xir_node_failed(at)) return false;
    if (pads.n != 2 * axes.n) {
        return xir_node_invalid(at, XIR_E_BOUNDS, where,
                                "%s: expected %zu items, before and after %zu dims, found %zu",
                                name, 2 * axes.n, axes.n, pads.n);
    }
    xir_ints padding = xir_node_make_ints(at, 2 * rank, 0);
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!xir_node_axis(at, "input/3", axes.v[i], rank, &axis)) return false;
        padding.v[2 * axis] = pads.v[i];
        padding.v[2 * axis + 1] = pads.v[axes.n + i];
    }
    if (xir_node_is(at, "mode", "wrap")) return xir_node_unsupported(at, "padding that wraps around");
    const char *mode = xir_node_is(at, "mode", "reflect") ? "REFLECTION" : xir_node_is(at, "mode", "edge")
        ? "REPLICATION" : "CONSTANT";
    if (v_is_integer(x) && !(value >= -0x1p63 && value < 0x1p63))
        return xir_node_unsupported(at, "integers padded with %g", value);
    const xir_set fill = v_is_integer(x) ? (xir_set)INT("value", (int64_t)value) : (xir_set)REAL("value", value);
    return xir_node_becomes(at, "Pad", INS(x), SETS(LIST("padding", &padding), WORD("mode", xir_str_of(mode)), fill));
}

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

static bool block_of(xir_node *at, const xir_value *x, int64_t *b) {
    *b = xir_node_int(at, "blocksize", 1);
    if (xir_node_failed(at)) return false;
    if (*b < 1 || *b > 1 << 10) {
        return xir_node_invalid(at, XIR_E_BOUNDS, "attribute/blocksize", "blocksize: expected at least 1, found %lld",
                                (long long)*b);
    }
    if (v_rank(x) != 4)
        return xir_node_invalid(at, XIR_E_BOUNDS, "input/0", "expected 4 dims, found %zu", v_rank(x));
    return xir_node_need_dims(at, x, 1, SIZE_MAX);
}

static xir_value *blocks_moved(xir_node *at, xir_value *x, const int64_t apart[6], const int64_t perm[6],
                               const int64_t back[4]) {
    const xir_ints six = { (int64_t *)(uintptr_t)apart, 6 }, four = { (int64_t *)(uintptr_t)back, 4 };
    return make_reshaped(at, xir_node_transposed(at, make_reshaped(at, x, &six), perm, 6, NULL), &four);
}

/* From [n, b, b, c, h, w], or in mode CRD [n, c, b, b, h, w], to [n, c, h, b, w, b]. */
bool onnx_depth_to_space(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t b;
    if (!xir_node_one_of(at, "mode", "DCR", "DCR|CRD") || !block_of(at, x, &b)) return false;
    int64_t n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    if (c % (b * b)) return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                             "expected a multiple of %lld channels, found %lld",
                                             (long long)(b * b), (long long)c);
    if (xir_node_is(at, "mode", "CRD")) {
        xir_value *y = xir_node_make(at, "PixelShuffle", INS(xir_node_channels_last(at, x)),
                                     SETS(INT("upscale_factor", b)));
        return xir_node_result(at, 0, xir_node_channels_second(at, y));
    }
    static const int64_t perm[] = { 0, 3, 4, 1, 5, 2 };
    const int64_t apart[] = { n, b, b, c / (b * b), h, w }, back[] = { n, c / (b * b), h * b, w * b };
    return xir_node_result(at, 0, blocks_moved(at, x, apart, perm, back));
}

bool onnx_space_to_depth(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    int64_t b;
    if (!block_of(at, x, &b)) return false;
    int64_t n = v_dim(x, 0), c = v_dim(x, 1), h = v_dim(x, 2), w = v_dim(x, 3);
    if (h % b || w % b) {
        return xir_node_invalid(at, XIR_E_INVALID, "input/0",
                                "expected multiples of %lld rows and columns, found %lld and %lld",
                                (long long)b, (long long)h, (long long)w);
    }
    static const int64_t perm[] = { 0, 3, 5, 1, 2, 4 };
    const int64_t apart[] = { n, c, h / b, b, w / b, b }, back[] = { n, c * b * b, h / b, w / b };
    return xir_node_result(at, 0, blocks_moved(at, x, apart, perm, back));
}
