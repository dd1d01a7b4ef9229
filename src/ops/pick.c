/* What has moved, and what is no more: distributions say which elements are padding, and a pick may take any of them. */
#include <inttypes.h>
#include "graph.h"
#include "pick.h"
#include "types.h"

xir_status picked_axis(xir_infer *at, int64_t axis, size_t *out) {
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    int64_t found = from_start(axis, rank);
    *out = (size_t)found;
    if (found >= 0) return XIR_OK;
    if (rank == 0) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "%s has no dims: there is no axis to pick along", input_name(at, 0));
    }
    return xir_infer_fail(at, XIR_E_BOUNDS, "axis", "axis %" PRId64 " is outside [-%zu, %zu), the axes of %s", axis, rank, rank,
                          input_name(at, 0));
}

/* ---- distributions --------------------------------------------------------------------------------------------- */

/* The distribution over the dims that its dims have become; NULL without memory. */
static const xir_object *follow(xir_infer *at, const xir_distr *distr, const int64_t *to, size_t rank) {
    dim_list axes;
    if (!dims_init(at, &axes, distr->merged_axis.size)) return NULL;
    for (size_t k = 0; k < axes.size; k++) axes.data[k] = to[from_start(distr->merged_axis.data[k], rank)];
    const xir_distr *made = distr_make(at->home, (xir_i64s){ axes.data, axes.size }, distr->sections, distr->uvalue, distr->legacy);
    dims_free(&axes);
    if (!made) no_memory(at);
    return (const xir_object *)made;
}

xir_status picked_distrs(xir_infer *at, size_t i, const int64_t *to, int64_t cut, const xir_object **room, xir_refs *out) {
    const xir_type *type = xir_infer_input(at, i);
    xir_refs distrs = xir_type_tensor(type)->merged_distrs;
    size_t rank = xir_type_rank(type), n = 0;
    for (size_t k = 0; k < distrs.size; k++) {
        const xir_distr *distr = (const xir_distr *)distrs.data[k];
        bool whole = distr != NULL;
        for (size_t j = 0; whole && j < distr->merged_axis.size; j++) {
            int64_t axis = from_start(distr->merged_axis.data[j], rank);
            whole = axis >= 0 && to[axis] >= 0;
        }
        if (whole) {
            if (!(room[n++] = follow(at, distr, to, rank))) return XIR_E_MEMORY;
            continue;
        }
        if (!distr || xir_distr_total_unvalid(distr) == 0) continue;   // a broken file has none
        if (cut >= 0 && distr->merged_axis.size == 1 && from_start(distr->merged_axis.data[0], rank) == cut) continue;
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                              "which elements of the output would be padding does not follow from the distributions of %s: take "
                              "the padding out before", input_name(at, i));
    }
    *out = (xir_refs){ room, n };
    return XIR_OK;
}

xir_status need_whole(xir_infer *at, size_t i) {
    xir_refs distrs = xir_type_tensor(xir_infer_input(at, i))->merged_distrs;
    for (size_t k = 0; k < distrs.size; k++) {
        if (!distrs.data[k] || xir_distr_total_unvalid((const xir_distr *)distrs.data[k]) == 0) continue;
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text, "some elements of %s are padding: take it out before",
                              input_name(at, i));
    }
    return XIR_OK;
}

/* ---- results ---------------------------------------------------------------------------------------------------- */

xir_status give_picked(xir_infer *at, const int64_t *to, int64_t cut, const dim_list *dims) {
    const xir_type *data = xir_infer_input(at, 0), *element, *type;
    const xir_layout *layout = xir_type_layout(data);
    size_t n = xir_type_tensor(data)->merged_distrs.size;
    if (layout && xir_layout_rank(layout) != dims->size) layout = NULL;

    const xir_object *few[4], **room = few;
    const xir_allocator *alloc = context_alloc(at->ctx);
    xir_refs distrs;
    if (n > sizeof few / sizeof few[0] && !(room = mem_new(alloc, n * sizeof *room))) return no_memory(at);
    xir_status status = moved_element(at, 0, to, dims, &element);
    if (!status) status = picked_distrs(at, 0, to, cut, room, &distrs);
    if (!status) {
        type = type_tensor(at->home, element, layout, (xir_i64s){ dims->data, dims->size }, distrs);
        status = type ? xir_infer_give(at, type) : no_memory(at);
    }
    if (room != few) mem_free(alloc, (void *)room, n * sizeof *room);
    return status;
}

xir_status indices_in_dim(xir_infer *at, size_t i, int64_t dim) {
    integer_list indices;
    if (dim < 0) return XIR_OK;
    xir_status status = read_integers(at, i, &indices);
    for (size_t k = 0; !status && k < indices.size; k++) {
        int64_t index = indices.data[k];
        if (index >= -dim && index < dim) continue;
        status = xir_infer_fail(at, XIR_E_BOUNDS, path_of_input(i).text, "index %" PRId64 " is outside an axis of %" PRId64
                                " elements", index, dim);
    }
    return status;
}
