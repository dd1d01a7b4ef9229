/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that move elements. */
#include <math.h>
#include <stdio.h>
#include "pnnx/pnnx.h"
#include "spec/borders.h"
#include "spec/one_axis.h"
#include "spec/slicing.h"

/* Returns true if a list is an input that is computed. */
static bool is_computed(xir_node *at) { return xir_node_has(at, 1) && !xir_node_is_constant(at, 1); }

/* A list of numbers: an attribute, or an input that is constant. */
static bool fixed_list(xir_node *at, const char *name, xir_ints *out) {
    if (xir_node_has(at, 1) && !is_computed(at)) return xir_node_ints(at, 1, out);
    if (is_computed(at)) return xir_node_unsupported(at, "%s is computed", name);
    if (xir_node_items(at, name, out)) return true;
    return xir_node_unsupported(at, "%s is missing", name);
}

bool pnnx_back_reshape(xir_node *at) {
    xir_ints shape;
    xir_value *x = xir_node_input(at, 0);
    if (is_computed(at))
        return xir_node_becomes_foreign(at, INS(x, pnnx_listed(at, xir_node_input(at, 1))), NO_SETS);
    if (!x || !fixed_list(at, "shape", &shape)) return false;
    for (size_t i = 0; i < shape.n; i++) if (shape.v[i] == 0) return xir_node_unsupported(at, "a dim of 0");
    return xir_node_becomes_foreign(at, INS(x), SETS(LIST("shape", &shape)));
}

bool pnnx_back_permute(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    return x && xir_node_items(at, "dims", &dims) && xir_node_becomes_foreign(at, INS(x), SETS(LIST("dims", &dims)));
}

/* PyTorch keeps dims that are not 1, so those of open dims would have no rank: their first part is taken. */
static bool squeeze_open(xir_node *at, xir_value *x, const xir_ints *axes) {
    const size_t rank = v_rank(x);
    const xir_type *whole = xir_type_sint(xir_node_context(at), 64);
    const xir_ints gone = axes_marked(at, "attribute/axis", rank, axes);
    for (size_t i = gone.n; i-- > 0 && x;)
        if (gone.v[i]) x = xir_node_make(at, "Gather", INS(x, xir_node_scalar(at, whole, 0)),
                                         SETS(INT("axis", (int64_t)i)));
    return x && xir_node_result(at, 0, x);
}

bool pnnx_back_squeeze(xir_node *at) {
    xir_ints axes;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "axis", &axes)) return false;
    for (size_t i = 0; i < axes.n; i++) {
        const int64_t axis = axes.v[i] < 0 ? axes.v[i] + (int64_t)v_rank(x) : axes.v[i];
        if (axis >= 0 && axis < (int64_t)v_rank(x) && v_dim(x, (size_t)axis) < 0) return squeeze_open(at, x, &axes);
    }
    if (axes.n) return xir_node_becomes_foreign(at, INS(x), SETS(LIST("dim", &axes)));
    return xir_node_becomes_foreign(at, INS(x), NO_SETS);
}

bool pnnx_back_expand(xir_node *at) {
    xir_ints sizes;
    xir_value *x = xir_node_input(at, 0);
    if (is_computed(at))
        return xir_node_becomes_foreign(at, INS(x, pnnx_listed(at, xir_node_input(at, 1))), NO_SETS);
    if (!x || !fixed_list(at, "sizes", &sizes)) return false;
    for (size_t i = 0; i < v_rank(x) && v_rank(x) <= sizes.n; i++) {   /* a 1 keeps a dim, too */
        int64_t *size = &sizes.v[sizes.n - v_rank(x) + i];
        if (*size == 1) *size = -1;
    }
    return xir_node_becomes_foreign(at, INS(x), SETS(LIST("sizes", &sizes)));
}

bool pnnx_back_tile(xir_node *at) {
    xir_ints dims;
    xir_value *x = xir_node_input(at, 0);
    return x && fixed_list(at, "dims", &dims) && xir_node_becomes_foreign(at, INS(x), SETS(LIST("dims", &dims)));
}

/* Concat and Stack: any number of inputs. */
bool pnnx_back_cat(xir_node *at) {
    const int64_t axis = xir_node_int(at, xir_node_attr(at, "axis") ? "axis" : "dim", 0);
    return xir_node_becomes_foreign(at, node_inputs(at), SETS(INT("dim", axis)));
}

/* Numbers beyond 32 bits mean the end. */
static void clip(xir_ints *list) {
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i] > PNNX_END) list->v[i] = PNNX_END;
        if (list->v[i] < -PNNX_END) list->v[i] = -PNNX_END;
    }
}

/* A dim that is taken backward is turned around first. */
static xir_value *turned(xir_node *at, xir_value *x, slicing *s) {
    xir_ints flipped = xir_node_make_ints(at, v_rank(x), 0);
    size_t n = 0;
    for (size_t i = 0; i < flipped.n; i++) {
        if (s->step.v[i] > 0) continue;
        const int64_t dim = v_dim(x, i);
        if (dim < 0) return xir_node_unsupported(at, "an open dim backward"), NULL;
        const slice_part p = slicing_picks(s, i, dim);
        if (p.first < 0 || p.end > p.first) return xir_node_unsupported(at, "no elements"), NULL;
        s->begin.v[i] = dim - 1 - p.first;
        s->end.v[i] = dim - 1 - p.end;
        s->step.v[i] = -s->step.v[i];
        flipped.v[n++] = (int64_t)i;
    }
    flipped.n = n;
    if (!n) return x;
    const xir_type *type = xir_value_type(x);
    return foreign_value(at, "pnnx::torch.flip", INS(x), SETS(LIST("dims", &flipped)), type);
}

/* A slice whose bounds are computed. */
static bool sliced_by(xir_node *at, xir_value *x, const slicing *s) {
    const size_t n = s->step.n;
    for (size_t i = 0; i < n; i++)
        if (s->step.v[i] < 1) return xir_node_unsupported(at, "computed bounds backward");
    xir_value *starts = pnnx_slice_listed(at, s->bounds, 0, n), *ends = pnnx_slice_listed(at, s->bounds, n, n);
    const xir_ints dims = xir_node_series(at, 0, n), none = xir_node_make_ints(at, n, PNNX_END);
    return xir_node_becomes_foreign(at, INS(x, NULL, NULL, NULL, starts, ends),
                                    SETS(LIST("dims", &dims), LIST("steps", &s->step), LIST("selects", &none)));
}

bool pnnx_back_slice(xir_node *at) {
    slicing s;
    xir_value *x = xir_node_input(at, 0);
    if (!slicing_of_op(at, x, &s)) return false;
    if (s.computed) return sliced_by(at, x, &s);
    x = turned(at, x, &s);
    xir_ints dims = xir_node_make_ints(at, s.step.n, 0);
    clip(&s.begin), clip(&s.end);
    int64_t *begin = s.begin.v, *end = s.end.v, *step = s.step.v;
    size_t n = 0;
    for (size_t i = 0; i < dims.n; i++) {
        const bool to_end = end[i] == PNNX_END || (v_dim(x, i) >= 0 && end[i] >= v_dim(x, i));
        if (begin[i] == 0 && step[i] == 1 && to_end) continue;
        begin[n] = begin[i], end[n] = end[i], step[n] = step[i], dims.v[n++] = (int64_t)i;
    }
    s.begin.n = s.end.n = s.step.n = dims.n = n;
    if (!n) return xir_node_result(at, 0, xir_node_make(at, "Copy", INS(x), NO_SETS));
    if (n == 1)
        return xir_node_becomes_foreign(at, INS(x), SETS(INT("dim", dims.v[0]), INT("start", begin[0]),
                                                         INT("end", end[0]), INT("step", step[0])));
    const xir_ints none = xir_node_make_ints(at, n, PNNX_END);
    return xir_node_becomes_foreign(at, INS(x), SETS(LIST("dims", &dims), LIST("starts", &s.begin),
                                                     LIST("ends", &s.end), LIST("steps", &s.step),
                                                     LIST("selects", &none)));
}

bool pnnx_back_split(xir_node *at) {
    xir_ints sections;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "sections", &sections)) return false;
    return xir_node_becomes_foreign(at, INS(x), SETS(INT("dim", xir_node_int(at, "axis", -1)),
                                                     LIST("split_size_or_sections", &sections)));
}

bool pnnx_back_unbind(xir_node *at) {
    return xir_node_becomes_foreign(at, INS(xir_node_input(at, 0)), SETS(INT("dim", xir_node_int(at, "dim", 0))));
}

/* Pairs from the last dim that is padded. */
bool pnnx_back_pad(xir_node *at) {
    static const pad_words words = { { "constant", "reflect", "replicate" } };
    borders b;
    xir_value *x = xir_node_input(at, 0);
    if (!fixed_borders_of_op(at, x, &b)) return false;
    const char *word = border_word(at, &b, &words);
    const int64_t *cells = b.cells.v;
    const size_t rank = b.cells.n / 2;
    size_t first = 0;
    if (!word) return false;
    while (first < rank && cells[2 * first] == 0 && cells[2 * first + 1] == 0) first++;
    if (first == rank) return xir_node_result(at, 0, xir_node_make(at, "Copy", INS(x), NO_SETS));
    if (b.mode && (rank - first > 3 || rank - first + 2 > rank ||
                   (rank != rank - first + 1 && rank != rank - first + 2)))
        return xir_node_unsupported(at, "mirrored elements of other dims than the spatial ones");
    xir_ints pairs = xir_node_make_ints(at, 2 * (rank - first), 0);
    for (size_t i = 0; i < pairs.n; i++) pairs.v[i] = cells[2 * (rank - 1 - i / 2) + i % 2];
    const bool real = xir_type_kind_of(v_element(x)) == XIR_TYPE_FLOAT;
    const xir_any none = xir_any_null();
    xir_set set = { .name = "value", .kind = XIR_SET_ANY, .p = &none };
    if (!isfinite(b.value)) return xir_node_unsupported(at, "cells of %g", b.value);
    if (!b.mode) set = real ? (xir_set)REAL("value", b.value) : (xir_set)INT("value", (int64_t)b.value);
    return xir_node_becomes_foreign(at, INS(x), SETS(WORD("mode", xir_str_of(word)), LIST("pad", &pairs), set));
}

bool pnnx_back_roll(xir_node *at) {
    xir_ints shifts, dims;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_items(at, "shifts", &shifts)) return false;
    const bool some = xir_node_items(at, "dims", &dims) && dims.n;
    if (!some && shifts.n == 1) return xir_node_becomes_foreign(at, INS(x), SETS(LIST("shifts", &shifts)));
    if (!some) return xir_node_unsupported(at, "several shifts of all elements");
    return xir_node_becomes_foreign(at, INS(x), SETS(LIST("dims", &dims), LIST("shifts", &shifts)));
}

/* Returns true if positions that are computed can't be negative. */
static bool counts_up(const xir_value *index) {
    static const char *const classes[] = { "pnnx::torch.argmax", "pnnx::torch.argmin", "pnnx::torch.topk",
                                           "pnnx::torch.masked_select", "pnnx::torch.max", "pnnx::torch.min" };
    const xir_op *op = xir_value_op(index);
    const xir_integer_type *integer = xir_integer_type_of(xir_type_object(v_element(index)));
    const xir_any *formula = xir_map_find(xir_op_extra(op), XIR_STR("expr"));
    if (integer && !integer->sign) return true;
    for (size_t i = 0; op && i < COUNT(classes); i++)
        if (xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(classes[i]))) return true;
    return formula && formula->kind == XIR_ANY_TEXT && formula->as.text.size > 10 &&
           memcmp(formula->as.text.data, "remainder(", 10) == 0;
}

/* Positions in elements that PyTorch takes: 64-bit integers or, where it takes them, those of 32 bits. */
static xir_value *as_places(xir_node *at, xir_value *index, bool narrow) {
    const xir_integer_type *own = xir_integer_type_of(xir_type_object(v_element(index)));
    if (narrow && own && own->sign && xir_type_storage_bits(v_element(index)) == 32) return index;
    return xir_node_cast(at, index, xir_type_sint(xir_node_context(at), 64));
}

/* PyTorch's positions do not count from the end, XIR's may: those that are computed are taken modulo the dim. */
static xir_value *from_start(xir_node *at, xir_value *index, xir_value *x, size_t axis, bool narrow) {
    if (xir_node_failed(at) || !index) return index;
    const bool up = counts_up(index);
    const int64_t n = v_dim(x, axis);
    index = as_places(at, index, narrow);
    if (!index || up || n == 0) return index;   /* of no elements nothing is picked */
    if (n > 0)
        return xir_node_make(at, "Mod", INS(index, xir_node_scalar(at, v_element(index), (double)n)), NO_SETS);
    char text[60];
    const xir_type *type = xir_value_type(index);
    snprintf(text, sizeof text, "remainder(@0,size(@1,%zu))", axis);
    return foreign_value(at, "pnnx::pnnx.Expression", INS(index, x), SETS(WORD("expr", xir_str_of(text))), type);
}

/* Constant positions, counted from the start. */
static xir_value *constant_from_start(xir_node *at, size_t i, const xir_value *x, size_t axis) {
    xir_ints places;
    bool negative = false;
    if (!xir_node_ints(at, i, &places) || !xir_node_need_dims(at, x, axis, axis + 1)) return NULL;
    for (size_t k = 0; k < places.n; k++) {
        negative |= places.v[k] < 0;
        places.v[k] += places.v[k] < 0 ? v_dim(x, axis) : 0;
    }
    xir_value *index = xir_node_input(at, i);
    const xir_ints dims = xir_node_dims(at, index);
    const bool whole = index && xir_type_equal(v_element(index), xir_type_sint(xir_node_context(at), 64));
    return negative || !whole ? make_reshaped(at, xir_node_integers(at, &places), &dims) : index;
}

/* GatherElements. */
bool pnnx_back_gather(xir_node *at) {
    const one_axis a = one_axis_of(at, "attribute/axis", 0);
    xir_value *index = xir_node_input(at, 1);
    if (!index) return false;
    index = xir_node_is_constant(at, 1) ? constant_from_start(at, 1, a.x, a.axis)
                                        : from_start(at, index, a.x, a.axis, false);
    return row_becomes(at, INS(a.x, index), NO_SETS);
}

/* Rows of a constant matrix. */
bool pnnx_back_embedding(xir_node *at) {
    int64_t axis;
    xir_value *x = xir_node_params(at, 0), *index = xir_node_input(at, 1);
    if (xir_node_failed(at) || xir_node_is_constant(at, 1)) return xir_node_unsupported(at, "constant positions");
    if (!node_axis(at, "axis", 0, v_rank(x), &axis)) return false;
    if (v_rank(x) != 2 || axis || v_rank(index) == 0) return xir_node_unsupported(at, "rows of something else");
    return xir_node_becomes_foreign(at, INS(from_start(at, index, x, 0, true), x),
                                    SETS(INT("embedding_dim", v_dim(x, 1)), INT("num_embeddings", v_dim(x, 0)),
                                         XIR_SETB("sparse", false)));
}

/* Positions in one dim. */
bool pnnx_back_index_select(xir_node *at) {
    xir_value *x = xir_node_input(at, 0), *index = xir_node_input(at, 1);
    const int64_t axis = xir_node_int(at, "axis", 0);
    int64_t k;
    if (!xir_node_axis(at, "attribute/axis", axis, v_rank(x), &k)) return false;
    if (xir_node_is_constant(at, 1)) {
        xir_ints one;
        if (v_rank(index) == 0 && xir_node_ints(at, 1, &one) && one.n == 1)
            return xir_node_becomes_foreign(at, INS(x), SETS(INT("dim", k), INT("index", one.v[0])));
        index = constant_from_start(at, 1, x, (size_t)k);
    }
    if (!index) return false;
    if (v_rank(index) == 1) {
        if (xir_str_equal(at->to->type, XIR_STR("torch.index_select")))
            return xir_node_becomes_foreign(at, INS(x, from_start(at, index, x, (size_t)k, true)), SETS(INT("dim", k)));
        return xir_node_unsupported(at, "several positions");
    }
    if (xir_str_equal(at->to->type, XIR_STR("Tensor.select"))) return xir_node_unsupported(at, "several positions");
    /* positions in several dims: as one, and the results in theirs */
    const xir_ints flat = { (int64_t[]){ -1 }, 1 }, dims = xir_node_dims(at, xir_op_output(at->op, 0));
    for (size_t i = 0; i < dims.n; i++) if (dims.v[i] < 0) return xir_node_unsupported(at, "open dims");
    xir_value *picked = xir_node_make(at, "Gather", INS(x, make_reshaped(at, index, &flat)), SETS(INT("axis", k)));
    return xir_node_result(at, 0, picked ? make_reshaped(at, picked, &dims) : NULL);
}

bool pnnx_back_topk(xir_node *at) {
    xir_ints k;
    xir_value *x = xir_node_input(at, 0);
    if (!x || !xir_node_ints(at, 1, &k) || k.n != 1)
        return xir_node_unsupported(at, "a number of elements that is computed");
    const xir_type *places = xir_value_type(xir_op_output(at->op, 1));
    const xir_type *types[2] = { xir_value_type(xir_op_output(at->op, 0)) };
    const xir_ints dims = xir_node_dims(at, xir_op_output(at->op, 1));
    types[1] = node_type(at, xir_type_sint(xir_node_context(at), 64), xir_type_layout(places), &dims);
    if (!types[1]) return node_no_memory(at);
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, INS(x),
                                       SETS(INT("dim", xir_node_int(at, "axis", -1)), INT("k", k.v[0]),
                                            XIR_SETB("largest", xir_node_bool(at, "largest", true)),
                                            XIR_SETB("sorted", xir_node_bool(at, "sorted", true))), types, 2);
    at->main = op;
    if (!op) return false;
    xir_node_result(at, 0, xir_op_output(op, 0));
    return at->n_out < 2 || xir_node_result(at, 1, xir_node_cast(at, xir_op_output(op, 1), xir_type_element(places)));
}
