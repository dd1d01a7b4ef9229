/* Rows of op types that make constants, and that put the same elements elsewhere. */
#include <string.h>
#include "onnx_rows.h"

/* ---- constants ----------------------------------------------------------------------------------------------------- */

bool row_constant(onnx_at *at) {
    onnx_attribute a;
    onnx_tensor tensor;
    if (onnx_find_attribute(&at->node, "value", &a)) {
        return onnx_read_tensor(a.t, &tensor) ? map_give_constant(at, 0, &tensor) : map_refused(at, "the value is broken");
    }
    bool integer = onnx_find_attribute(&at->node, "value_int", &a), real = onnx_find_attribute(&at->node, "value_float", &a);
    onnx_number *one = map_pool_take(at, 1);
    if ((!integer && !real) || !one) return map_no_form(at, "a constant of texts, or sparse");
    *one = (onnx_number){ .real = real, .i = map_attr_int(at, "value_int", 0), .f = map_attr_real(at, "value_float", 0) };
    const xir_type *element = integer ? map_int64(at) : map_fp32(at);
    if (!map_give(at, 0, seed_make_number(at, element, integer ? (double)one->i : one->f))) return false;
    map_give_known(at, 0, one, 1);
    return true;
}

bool row_shape(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    int64_t start = map_attr_int(at, "start", 0);
    if (!map_has_attr(at, "end")) return map_gives(at, "Shape", INS(x), SETS(INT("start", start)));
    return map_gives(at, "Shape", INS(x), SETS(INT("start", start), INT("end", map_attr_int(at, "end", 0))));
}

bool row_size(onnx_at *at) {
    const items all = { .n = 0 };
    return map_gives(at, "Prod", INS(seed_make_of(at, "Shape", map_in(at, 0))), SETS(ITEMS("dim", &all)));
}

bool row_constant_of_shape(onnx_at *at) {
    const onnx_number *known;
    size_t n;
    xir_value *shape = map_in_known(at, 0, &known, &n) ? map_in_params(at, 0) : map_in(at, 0);
    const xir_type *element = map_fp32(at);
    onnx_attribute a;
    onnx_tensor tensor;
    onnx_number value = { .real = true };
    if (onnx_find_attribute(&at->node, "value", &a)) {
        if (!onnx_read_tensor(a.t, &tensor)) return map_refused(at, "the value is broken");
        onnx_elements elements = onnx_elements_of(&tensor);
        element = onnx_element_type(at->ctx, tensor.element);
        if (!element || !onnx_elements_next(&elements, &value)) return map_no_form(at, "a value that is no number");
    }
    const set of = value.real ? (set)REALN("value", value.f) : (set)INT("value", value.i);
    return map_gives(at, "ConstantOfShape", INS(shape), SETS(of, OBJECT("element_dtype", element)));
}

bool seed_row_range(onnx_at *at) {
    const onnx_number *known;
    size_t n, constant = 0;
    xir_value *v[3];
    for (size_t i = 0; i < 3; i++) constant += map_in_known(at, i, &known, &n);
    for (size_t i = 0; i < 3; i++) v[i] = constant == 3 ? map_in_params(at, i) : map_in(at, i);
    if (!map_gives(at, "Range", INS(v[0], v[1], v[2]), NO_SETS)) return false;
    if (constant < 3) map_by_data(at, 0, 0);
    return true;
}

/* ---- other dims ---------------------------------------------------------------------------------------------------- */

bool row_reshape(onnx_at *at) {
    items shape;
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (!map_list(at, "shape", 1, &shape)) return map_refused(at, "there is no shape");
    for (size_t i = 0; i < shape.n && !map_attr_int(at, "allowzero", 0); i++) {
        if (shape.v[i] == 0 && i < map_rank_of(x)) shape.v[i] = map_dim_of(x, i);
    }
    return map_give(at, 0, seed_make_reshaped(at, x, &shape));
}

bool row_flatten(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    items dims = map_dims_of(x);
    int64_t axis = map_attr_int(at, "axis", 1);
    if (axis < 0) axis += (int64_t)dims.n;
    if (axis < 0 || (size_t)axis > dims.n) return map_refused(at, "no axis %lld", (long long)axis);
    const items flat = { 2, { items_product(&dims, 0, (size_t)axis), items_product(&dims, (size_t)axis, dims.n) } };
    return map_give(at, 0, seed_make_reshaped(at, x, &flat));
}

bool row_squeeze(onnx_at *at) {
    items axes;
    xir_value *x = map_in(at, 0);
    if (!map_list(at, "axes", 1, &axes)) {
        if (map_failed(at) || !map_need_dims(at, x, 0, SIZE_MAX)) return false;
        axes.n = 0;
    }
    return map_gives(at, "Squeeze", INS(x), SETS(ITEMS("axis", &axes)));
}

bool row_unsqueeze(onnx_at *at) {
    items axes;
    xir_value *x = map_in(at, 0);
    if (!map_list(at, "axes", 1, &axes)) return map_refused(at, "there are no axes");
    return map_give(at, 0, seed_make_unsqueezed(at, x, &axes));
}

bool row_transpose(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    items perm;
    if (map_failed(at)) return false;
    if (!map_attr_items(at, "perm", &perm)) {
        perm.n = map_rank_of(x);
        for (size_t i = 0; i < perm.n; i++) perm.v[i] = (int64_t)(perm.n - 1 - i);
    }
    return map_give(at, 0, make_transposed(at, x, &perm));
}

bool row_expand(onnx_at *at) {
    items sizes;
    xir_value *x = map_in(at, 0);
    if (map_failed(at) || !map_in_items(at, 1, &sizes)) return false;
    while (sizes.n < map_rank_of(x)) {   // dims before those of the shape stay
        memmove(sizes.v + 1, sizes.v, sizes.n * sizeof *sizes.v);
        sizes.v[0] = 1;
        sizes.n++;
    }
    size_t before = sizes.n - map_rank_of(x);
    for (size_t i = before; i < sizes.n; i++) {
        if (sizes.v[i] == 1) sizes.v[i] = -1;   // ours would have it shrink
    }
    return map_gives(at, "Expand", INS(x), SETS(ITEMS("sizes", &sizes)));
}

bool row_tile(onnx_at *at) {
    items repeats;
    xir_value *x = map_in(at, 0);
    return map_in_items(at, 1, &repeats) && map_gives(at, "Tile", INS(x), SETS(ITEMS("dims", &repeats)));
}

bool row_slice(onnx_at *at) {
    items starts, ends, axes, steps, begin, end, stride;
    xir_value *x = map_in(at, 0);
    if (map_failed(at) || !map_list(at, "starts", 1, &starts) || !map_list(at, "ends", 2, &ends)) return false;
    if (!map_list(at, "axes", 3, &axes)) axes = items_from(0, starts.n);
    if (!map_has_in(at, 4)) steps = items_of_one(starts.n);
    else if (!map_in_items(at, 4, &steps)) return false;
    if (map_failed(at)) return false;
    if (starts.n != ends.n || starts.n != axes.n || starts.n != steps.n) return map_refused(at, "lists of other lengths");
    size_t rank = map_rank_of(x);
    begin = end = stride = items_of_one(rank);
    for (size_t i = 0; i < rank; i++) begin.v[i] = 0, end.v[i] = INT64_MAX;
    for (size_t i = 0; i < axes.n; i++) {
        int64_t axis;
        if (!map_to_axis(at, axes.v[i], rank, &axis)) return false;
        begin.v[axis] = starts.v[i];
        end.v[axis] = ends.v[i];
        stride.v[axis] = steps.v[i];
    }
    const set attrs[] = { ITEMS("begin", &begin), ITEMS("end", &end), ITEMS("stride", &stride) };
    if (!map_gives(at, "Slice", INS(x), (sets){ attrs, COUNT(attrs) })) return false;
    for (size_t i = 0; i < rank; i++) {
        if (begin.v[i] || end.v[i] != INT64_MAX) map_by_bounds(at, 0, i);
    }
    return true;
}

bool row_split(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    items sections;
    int64_t axis;
    if (map_failed(at) || !map_to_axis(at, map_attr_int(at, "axis", 0), map_rank_of(x), &axis)) return false;
    if (!map_list(at, "split", 1, &sections)) {
        int64_t dim = map_dim_of(x, (size_t)axis), n = (int64_t)at->n_out;
        if (map_failed(at) || !map_need_dims(at, x, (size_t)axis, (size_t)axis + 1)) return false;
        if (n == 0) return map_refused(at, "there are no outputs");
        sections = items_from(0, at->n_out);
        for (int64_t i = 0; i < n; i++) sections.v[i] = (dim + n - 1) / n;
        sections.v[n - 1] = dim - (n - 1) * ((dim + n - 1) / n);
    }
    xir_op *op = map_make(at, "Split", INS(x), SETS(ITEMS("sections", &sections), INT("axis", axis)));
    if (op && xir_op_output_count(op) != at->n_out) return map_refused(at, "%zu outputs", xir_op_output_count(op));
    for (size_t i = 0; op && i < at->n_out; i++) map_give(at, i, xir_op_output(op, (int64_t)i));
    return !map_failed(at);
}

bool row_concat(onnx_at *at) {
    xir_value *inputs[MOST_PORTS];
    int64_t axis;
    inputs[0] = map_in(at, 0);
    for (size_t i = 1; i < at->n_in; i++) inputs[i] = map_in(at, i);
    if (map_failed(at) || !map_to_axis(at, map_attr_int(at, "axis", 1), map_rank_of(inputs[0]), &axis)) return false;
    return map_gives(at, "Concat", (ins){ inputs, at->n_in }, SETS(INT("axis", axis)));
}

bool row_pad(onnx_at *at) {
    items pads, padding;
    double value;
    char word[48];
    xir_value *x = map_in(at, 0);
    if (!map_list(at, "pads", 1, &pads)) return map_refused(at, "there are no pads");
    if (!map_number(at, 2, "value", 0, &value)) return false;
    size_t rank = map_rank_of(x);
    if (pads.n != 2 * rank) return map_refused(at, "%zu pads for %zu dims", pads.n, rank);
    padding.n = pads.n;
    for (size_t i = 0; i < rank; i++) padding.v[2 * i] = pads.v[i], padding.v[2 * i + 1] = pads.v[rank + i];
    const char *mode = map_upper(word, at, "mode", "constant");
    mode = strcmp(mode, "REFLECT") == 0 ? "REFLECTION" : strcmp(mode, "EDGE") == 0 ? "REPLICATION" : mode;
    return map_gives(at, "Pad", INS(x), SETS(ITEMS("padding", &padding), WORD("mode", mode), REALN("value", value)));
}

/* [n, b, b, c, h, w] or [n, c, b, b, h, w], and back. */
bool row_depth_to_space(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    int64_t b = map_attr_int(at, "blocksize", 1);
    if (map_failed(at)) return false;
    if (map_rank_of(x) != 4 || b < 1 || b > 1 << 10) return map_refused(at, "a block of %lld", (long long)b);
    if (map_attr_is(at, "mode", "CRD")) {
        return map_gives(at, "PixelShuffle", INS(map_lettered(at, x, "NCHW")), SETS(INT("upscale_factor", b)));
    }
    if (!map_need_dims(at, x, 1, SIZE_MAX)) return false;
    items d = map_dims_of(x);
    const items apart = { 6, { d.v[0], b, b, d.v[1] / (b * b), d.v[2], d.v[3] } }, perm = { 6, { 0, 3, 4, 1, 5, 2 } };
    const items back = { 4, { d.v[0], d.v[1] / (b * b), d.v[2] * b, d.v[3] * b } };
    return map_give(at, 0, seed_make_reshaped(at, make_transposed(at, seed_make_reshaped(at, x, &apart), &perm), &back));
}

bool row_space_to_depth(onnx_at *at) {
    xir_value *x = map_in(at, 0);
    int64_t b = map_attr_int(at, "blocksize", 1);
    if (map_failed(at)) return false;
    if (map_rank_of(x) != 4 || b < 1 || b > 1 << 10) return map_refused(at, "a block of %lld", (long long)b);
    if (!map_need_dims(at, x, 1, SIZE_MAX)) return false;
    items d = map_dims_of(x);
    const items apart = { 6, { d.v[0], d.v[1], d.v[2] / b, b, d.v[3] / b, b } }, perm = { 6, { 0, 3, 5, 1, 2, 4 } };
    const items back = { 4, { d.v[0], d.v[1] * b * b, d.v[2] / b, d.v[3] / b } };
    return map_give(at, 0, seed_make_reshaped(at, make_transposed(at, seed_make_reshaped(at, x, &apart), &perm), &back));
}
