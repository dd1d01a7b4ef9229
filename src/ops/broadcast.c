/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Element types and valid elements of broadcast and reduced inputs. Where an input is repeated, summed or taken along a
 * diagonal, no distribution of the output may describe the result; then inference fails. */
#include <inttypes.h>
#include "broadcast.h"
#include "graph.h"
#include "types.h"

bool same_placement(const xir_type *a, const xir_type *b) {
    const xir_tensor_type *x = xir_type_as_tensor(a), *y = xir_type_as_tensor(b);
    if (x->shape.size != y->shape.size || x->merged_distrs.size != y->merged_distrs.size) return false;
    for (size_t i = 0; i < x->shape.size; i++) {
        if (x->shape.data[i] != y->shape.data[i]) return false;
    }
    for (size_t i = 0; i < x->merged_distrs.size; i++) {
        if (!xir_object_equal(x->merged_distrs.data[i], y->merged_distrs.data[i])) return false;
    }
    return xir_object_equal((const xir_object *)x->layout, (const xir_object *)y->layout);
}

size_t leading_input(xir_infer *at, size_t n) {
    size_t leading = 0;
    for (size_t i = 1; i < n; i++) {
        if (xir_type_rank(xir_infer_input(at, i)) > xir_type_rank(xir_infer_input(at, leading))) leading = i;
    }
    return leading;
}

/* ---- valid elements ------------------------------------------------------------------------------------------ */

void distrs_init(xir_infer *at, distr_list *list) {
    list->alloc = context_alloc(xir_infer_context(at));
    list->data = list->few;
    list->size = 0;
    list->room = sizeof list->few / sizeof list->few[0];
}

void distrs_free(distr_list *list) {
    if (list->data != list->few) mem_free(list->alloc, (void *)list->data, list->room * sizeof *list->data);
}

static xir_status distrs_add(xir_infer *at, distr_list *list, const xir_distr *distr) {
    if (list->size == list->room) {
        size_t room = list->room * 2;
        const xir_object **data = mem_new(list->alloc, room * sizeof *data);
        if (!data) return infer_no_memory(at);
        memcpy((void *)data, (const void *)list->data, list->size * sizeof *data);
        distrs_free(list);
        list->data = data;
        list->room = room;
    }
    list->data[list->size++] = (const xir_object *)distr;
    return XIR_OK;
}

/* Distributions are compared pairwise. Real tensors have far fewer dims. */
enum { MOST_DISTRS = 64 };

static bool all_valid(const xir_distr *distr) { return xir_distr_total_valid(distr) == xir_distr_total(distr); }

/* Returns how many dims two distributions have in common. */
static size_t shared_dims(const xir_distr *a, const xir_distr *b) {
    size_t n = 0;
    for (size_t i = 0; i < a->merged_axis.size; i++) {
        for (size_t k = 0; k < b->merged_axis.size; k++) {
            if (a->merged_axis.data[i] != b->merged_axis.data[k]) continue;
            n++;
            break;
        }
    }
    return n;
}

/* Merges a distribution of input i, in dims of the output, with those of earlier inputs. An all-valid one is
 * dropped. */
static xir_status distrs_join(xir_infer *at, size_t i, const xir_distr *distr, distr_list *list) {
    for (size_t k = 0; k < list->size; k++) {
        const xir_distr *other = (const xir_distr *)list->data[k];
        size_t shared = shared_dims(distr, other);
        if (shared == 0) continue;
        if (all_valid(distr) || xir_object_equal(&distr->head, &other->head)) return XIR_OK;
        if (all_valid(other) && shared == distr->merged_axis.size && shared == other->merged_axis.size) {
            list->data[k] = &distr->head;
            return XIR_OK;
        }
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                              "%s and the inputs before it disagree on the valid elements of dim %" PRId64,
                              input_name(at, i), distr->merged_axis.data[0]);
    }
    return distrs_add(at, list, distr);
}

/* Returns true if a list contains a dim twice. */
static bool repeated(const dim_list *axes) {
    for (size_t i = 0; i < axes->size; i++) {
        for (size_t k = 0; k < i; k++) {
            if (axes->data[i] == axes->data[k]) return true;
        }
    }
    return false;
}

/* Maps the dims of a distribution to those of the output, into `axes`; *kept is false if nothing is left of it. */
static xir_status carry_axes(xir_infer *at, size_t i, const xir_distr *distr, const int64_t *to, const dim_list *dims,
                             dim_list *axes, bool *kept) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type), gone = 0;
    bool widened = false;
    for (size_t k = 0; k < axes->size; k++) {
        int64_t axis = from_start(distr->merged_axis.data[k], rank);
        if (axis < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                                  "a distribution of %s is over dim %" PRId64 ", but the input has %zu dims",
                                  input_name(at, i), distr->merged_axis.data[k], rank);
        }
        axes->data[k] = to[axis];
        gone += to[axis] < 0;
        widened |= to[axis] >= 0 && type_dim(type, axis) != dims->data[to[axis]];
    }
    *kept = gone == 0 && !widened && !repeated(axes);
    if (*kept || gone == axes->size || all_valid(distr)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "the valid elements of dim %" PRId64 " of %s cannot be carried over to the output: %s",
                          distr->merged_axis.data[0], input_name(at, i),
                          gone ? "the op sums dims that are merged with it"
                               : widened ? "the op repeats it" : "the op takes its diagonal");
}

xir_status carry_distrs(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, distr_list *list) {
    xir_refs distrs = xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs;
    xir_status status = XIR_OK;
    for (size_t k = 0; k < distrs.size && !status; k++) {
        const xir_distr *distr = (const xir_distr *)distrs.data[k];
        dim_list axes;
        bool kept = false;
        if (list->size == MOST_DISTRS || distr->merged_axis.size > MOST_DISTRS) {
            return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                                  "there are more than %d distributions, or one is over more than %d dims", MOST_DISTRS,
                                  MOST_DISTRS);
        }
        if (!dims_init(at, &axes, distr->merged_axis.size)) return XIR_E_MEMORY;
        status = carry_axes(at, i, distr, to, dims, &axes, &kept);
        if (!status && kept) {
            distr = distr_make(at->pool, (xir_i64s){ axes.data, axes.size }, distr->sections, distr->uvalue,
                               distr->legacy);
            status = distr ? distrs_join(at, i, distr, list) : infer_no_memory(at);
        }
        dims_free(&axes);
    }
    return status;
}

/* Maps the dims of input i, broadcast from the right, to the dims of an output; creates `to`. Leading dims of an input
 * with more dims than the output map to negative numbers. */
static bool dims_from_right(xir_infer *at, size_t i, const dim_list *dims, dim_list *to) {
    size_t rank = xir_type_rank(xir_infer_input(at, i));
    if (!dims_init(at, to, rank)) return false;
    for (size_t k = 0; k < rank; k++) to->data[k] = (int64_t)dims->size - (int64_t)rank + (int64_t)k;
    return true;
}

xir_status carry_from_right(xir_infer *at, size_t i, const dim_list *dims, distr_list *list) {
    const xir_type *type = xir_infer_input(at, i);
    dim_list to;
    if (xir_type_as_tensor(type)->merged_distrs.size == 0) return XIR_OK;
    if (!dims_from_right(at, i, dims, &to)) return XIR_E_MEMORY;
    xir_status status = carry_distrs(at, i, to.data, dims, list);
    dims_free(&to);
    return status;
}

static xir_status broadcast_element(xir_infer *at, size_t i, const dim_list *dims, const xir_type **out) {
    dim_list to;
    if (!dims_from_right(at, i, dims, &to)) return XIR_E_MEMORY;
    xir_status status = moved_element(at, i, to.data, dims, out);
    dims_free(&to);
    return status;
}

xir_status either_element(xir_infer *at, const dim_list *dims, const xir_type **out) {
    const xir_type *other = xir_type_element(xir_infer_input(at, 1));
    *out = xir_type_element(xir_infer_input(at, 0));
    if (!xir_type_is_quantized(*out) && !xir_type_is_quantized(other)) return XIR_OK;
    xir_status status = broadcast_element(at, 0, dims, out);
    if (!status) status = broadcast_element(at, 1, dims, &other);
    if (status || xir_type_equal(*out, other)) return status;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/1", "%s and %s are quantised differently, so the type of the "
                          "result does not follow: set the types of the outputs", input_name(at, 0), input_name(at, 1));
}

xir_status give_with(xir_infer *at, const xir_type *element, const xir_layout *layout, const dim_list *dims,
                     const distr_list *list) {
    if (layout && xir_layout_rank(layout) != dims->size) layout = NULL;
    if (list->size == 0) return xir_infer_result_tensor(at, element, layout, dims->data, dims->size);
    const xir_type *type = type_tensor(at->pool, element, layout, (xir_i64s){ dims->data, dims->size },
                                       (xir_refs){ list->data, list->size });
    return type ? xir_infer_result(at, type) : infer_no_memory(at);
}

xir_status give_joined(xir_infer *at, size_t n, const xir_type *element, const dim_list *dims) {
    distr_list list;
    distrs_init(at, &list);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = carry_from_right(at, i, dims, &list);
    if (!status)
        status = give_with(at, element, xir_type_layout(xir_infer_input(at, leading_input(at, n))), dims, &list);
    distrs_free(&list);
    return status;
}
