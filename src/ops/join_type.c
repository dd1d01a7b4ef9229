/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The type of joined tensors. Scales, ratios and zero points are concatenated if they lie along the joined dim, and so
 * are the runs of distributions; those along other dims must be the same in all inputs. */
#include <inttypes.h>
#include "graph.h"
#include "join.h"

/* ---- arrays --------------------------------------------------------------------------------------------------- */

/* Maps a dim of an input to the output. */
static int64_t joined_dim(const join *j, int64_t k) { return j->stack && (uint64_t)k >= j->axis ? k + 1 : k; }

/* Maps an axis of an input to the output; a negative axis stays negative. */
static int64_t joined_axis(const join *j, int64_t axis, size_t rank) {
    int64_t k = from_start(axis, rank);
    if (k < 0) return axis;
    return axis < 0 ? joined_dim(j, k) - (int64_t)j->dims->size : joined_dim(j, k);
}

/* Returns how many elements input i has along the joined dim, tiles and unit together; -1 if unknown. */
static int64_t share(xir_infer *at, const join *j, size_t i) {
    const int64_t axes[2] = { (int64_t)j->axis, j->partner };
    if (j->stack) return 1;
    return extent(xir_type_as_tensor(xir_infer_input(at, i))->shape, axes, j->partner < 0 ? 1 : 2);
}

/* The array of a kind that input i has. Zero points are converted to runs in `room`. */
static xir_status array_of(xir_infer *at, size_t i, array_kind kind, run_list *room, xir_runs *items, int64_t *axis) {
    const xir_type *type = xir_infer_input(at, i);
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    *axis = kind == ARRAY_RATIOS ? xir_norm_ratios_axis(ratios) : xir_scales_axis(scales);
    *items = (xir_runs){ 0 };
    if (kind == ARRAY_SCALES && scales) *items = scales->items;
    if (kind == ARRAY_RATIOS && ratios) *items = ratios->items;
    if (kind != ARRAY_ZEROS) return XIR_OK;
    run_list_cut(room, 0);
    xir_status status = zeros_as_runs(at, xir_type_zero_points(type), room);
    *items = run_list_runs(room);
    return status;
}

/* Returns true if the items of input i lie along the joined dim, one for each element. */
static bool lie_along(xir_infer *at, const join *j, size_t i, int64_t axis, xir_runs items) {
    int64_t axes[2], count = runs_total(items), have = share(at, j, i);
    size_t n = j->stack ? 0 : axes_along(xir_infer_input(at, i), axis, axes);
    return n && axes[0] == (int64_t)j->axis && (have < 0 ? count > 1 : have == count);
}

static bool same_items(xir_runs a, xir_runs b) {
    if (a.size != b.size) return false;
    for (size_t i = 0; i < a.size; i++) {
        if (a.data[i].end != b.data[i].end || a.data[i].m != b.data[i].m || a.data[i].exp != b.data[i].exp)
            return false;
        if (memcmp(&a.data[i].value, &b.data[i].value, sizeof a.data[i].value) != 0) return false;
    }
    return true;
}

/* Returns true if the items of input i describe its elements as those of input 0 do, wherever the input lies along the
 * joined dim. */
static bool items_agree(xir_infer *at, const join *j, xir_runs first, int64_t first_axis, size_t i, int64_t axis,
                         xir_runs items) {
    if (lie_along(at, j, i, axis, items)) return false;
    if (first.size == 1 && items.size == 1) {
        xir_run a = first.data[0], b = items.data[0];
        a.end = b.end = 1;
        return same_items((xir_runs){ &a, 1 }, (xir_runs){ &b, 1 });
    }
    size_t rank = xir_type_rank(xir_infer_input(at, i));
    return same_items(first, items) && (items.size == 0 || from_start(axis, rank) == from_start(first_axis, rank));
}

/* Sets *same if the arrays of a kind are the same in all inputs and none lies along the joined dim. */
static xir_status all_items_agree(xir_infer *at, const join *j, array_kind kind, bool *same) {
    size_t n = xir_infer_input_count(at);
    run_list room[2];
    xir_runs first, items;
    int64_t first_axis, axis;
    run_list_init(&room[0], context_alloc(at->ctx));
    run_list_init(&room[1], context_alloc(at->ctx));
    xir_status status = array_of(at, 0, kind, &room[0], &first, &first_axis);
    *same = true;
    for (size_t i = 0; i < n && *same && !status; i++) {
        status = array_of(at, i, kind, &room[1], &items, &axis);
        if (!status) *same = items_agree(at, j, first, first_axis, i, axis, items);
    }
    run_list_free(&room[0]);
    run_list_free(&room[1]);
    return status;
}

static xir_status join_array(void *user, xir_infer *at, array_kind kind, xir_runs items, xir_run fill, int64_t *axis,
                             run_list *out) {
    const join *j = user;
    const int64_t first_axis = *axis;
    size_t n = xir_infer_input_count(at), rank = xir_type_rank(xir_infer_input(at, 0));
    bool led = false, same, none = kind == ARRAY_ZEROS;
    for (size_t i = 0; i < n && none; i++) none = xir_type_zero_points(xir_infer_input(at, i)).size == 0;
    if (none) return XIR_OK;
    run_list room;
    run_list_init(&room, context_alloc(at->ctx));
    xir_status status = all_items_agree(at, j, kind == ARRAY_ZEROS ? ARRAY_SCALES : kind, &same);
    bool axis_shared = kind != ARRAY_RATIOS;   // scales and zero points have a single one
    if (!status && same && axis_shared) status = all_items_agree(at, j, ARRAY_ZEROS, &same);
    if (!status && same) {
        *axis = joined_axis(j, first_axis, rank);
        size_t times = j->stack && rank == 0 && kind == ARRAY_RATIOS ? n : 1;   // the new dim: one element an input
        while (times-- && !status)
            status = run_list_append(out, items, 0, runs_total(items)) ? infer_no_memory(at) : XIR_OK;
    }
    for (size_t i = 0; i < n && !same && !status; i++) {
        xir_runs now;
        int64_t along, count = share(at, j, i);
        status = array_of(at, i, kind, &room, &now, &along);
        if (status) break;
        xir_run one = now.size ? now.data[0] : fill;
        if (lie_along(at, j, i, along, now)) {
            status = run_list_append(out, now, 0, runs_total(now));
            if (!led) *axis = along;
            led = true;
        } else if (count < 0 || now.size > 1 || (now.size == 0 && kind != ARRAY_ZEROS)) {
            status = cannot_follow(at, i, kind, along);
            break;
        } else status = run_list_add(out, count, one.m, one.exp, one.value);
        if (status == XIR_E_MEMORY) infer_no_memory(at);
        else if (status) {
            status = xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                                    "the number of elements of all inputs together exceeds 64 bits");
        }
    }
    if (!same && !led) *axis = first_axis < 0 ? (int64_t)j->axis - (int64_t)j->dims->size : (int64_t)j->axis;
    run_list_free(&room);
    return status;
}

/* ---- valid elements ------------------------------------------------------------------------------------------- */

/* The most distributions of all inputs together: each of them is looked up in every input. */
enum { MOST_DISTRS = 1 << 10, MOST_RUNS = 1 << 20 };

static bool same_axes(const xir_distr *a, const xir_distr *b, size_t rank) {
    if (a->merged_axis.size != b->merged_axis.size) return false;
    for (size_t i = 0; i < a->merged_axis.size; i++) {
        if (from_start(a->merged_axis.data[i], rank) != from_start(b->merged_axis.data[i], rank)) return false;
    }
    return true;
}

/* The distribution of input i over the same dims as another one; NULL: all elements are valid. */
static const xir_distr *distr_like(xir_infer *at, size_t i, const xir_distr *like) {
    const xir_tensor_type *type = xir_type_as_tensor(xir_infer_input(at, i));
    for (size_t k = 0; k < type->merged_distrs.size; k++) {
        const xir_distr *distr = (const xir_distr *)type->merged_distrs.data[k];
        if (distr && same_axes(distr, like, type->shape.size)) return distr;
    }
    return NULL;
}

static xir_status unknown_share(xir_infer *at) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs",
                          "a dim is unknown: the valid elements of the output cannot be determined");
}

/* Concatenates the distributions over the dims of `like`, joining the dim at `place`. The dims before it are walked
 * element by element. */
enum { MOST_STEPS = 1 << 16 };
static xir_status interleave(xir_infer *at, const xir_distr *like, size_t place, run_list *runs) {
    size_t n = xir_infer_input_count(at), n_axes = like->merged_axis.size;
    int64_t outer = extent(xir_type_as_tensor(xir_infer_input(at, 0))->shape, like->merged_axis.data, place);
    xir_status status = XIR_OK;
    if (outer > MOST_STEPS) return XIR_E_LIMIT;
    for (int64_t o = 0; o < outer && !status; o++) {
        for (size_t i = 0; i < n && !status; i++) {
            const xir_distr *distr = distr_like(at, i, like);
            int64_t count = extent(xir_type_as_tensor(xir_infer_input(at, i))->shape, like->merged_axis.data, n_axes);
            if (distr) count = xir_distr_total(distr);
            if (count < 0) return unknown_share(at);
            if (!distr) status = run_list_add(runs, count / outer, 1, 0, 0);
            else status = run_list_append(runs, distr->sections, count / outer * o, count / outer * (o + 1));
        }
        if (!status && runs->size > MOST_RUNS) return XIR_E_LIMIT;
    }
    return outer < 0 ? unknown_share(at) : status;
}

/* Compares the distributions of all inputs over the dims of `like`: whether each fits its dims, all elements are valid,
 * and all distributions are equal. */
static xir_status compare_distrs(xir_infer *at, const xir_distr *like, bool *valid, bool *same) {
    size_t n = xir_infer_input_count(at);
    *valid = *same = true;
    for (size_t i = 0; i < n; i++) {
        const xir_distr *distr = distr_like(at, i, like);
        int64_t have = extent(xir_type_as_tensor(xir_infer_input(at, i))->shape, like->merged_axis.data,
                              like->merged_axis.size);
        if (distr && have >= 0 && have != xir_distr_total(distr)) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                                  "a distribution counts %" PRId64 " elements: expected %" PRId64 ", the product of "
                                  "its dims", xir_distr_total(distr), have);
        }
        *valid &= all_valid(distr);
        *same &= distr && same_items(distr->sections, like->sections);
    }
    return XIR_OK;
}

/* Joins the distributions over the dims of `like`, the first one over these dims. NULL if the result is all valid.
 * `axes` has room. */
static xir_status join_distr(xir_infer *at, const join *j, const xir_distr *like, int64_t *axes,
                             const xir_distr **out) {
    size_t rank = xir_type_rank(xir_infer_input(at, 0)), n_axes = like->merged_axis.size, place = n_axes;
    bool valid, same;
    *out = NULL;
    for (size_t k = 0; k < n_axes; k++) {
        int64_t axis = from_start(like->merged_axis.data[k], rank);
        if (axis < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                                  "a distribution is over dim %" PRId64 ", but the input has %zu dims",
                                  like->merged_axis.data[k], rank);
        }
        if (!j->stack && axis == (int64_t)j->axis) place = k;
        axes[k] = joined_axis(j, like->merged_axis.data[k], rank);
    }
    xir_status status = compare_distrs(at, like, &valid, &same);
    if (status) return status;
    run_list runs;
    run_list_init(&runs, context_alloc(at->ctx));
    if (valid) {
        int64_t total = extent((xir_i64s){ j->dims->data, j->dims->size }, axes, n_axes);
        if (total > 0) status = run_list_add(&runs, total, 1, 0, 0);
    } else if (place < n_axes) {
        status = interleave(at, like, place, &runs);
    } else if (same) {
        status = run_list_append(&runs, like->sections, 0, xir_distr_total(like));
    } else {
        status = xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs", "the valid elements along dim %" PRId64 " differ "
                                "between the inputs: they cannot be carried over to the output",
                                like->merged_axis.data[0]);
    }
    if (status && !at->status) {
        status = status == XIR_E_MEMORY ? infer_no_memory(at)
               : xir_infer_fail(at, XIR_E_LIMIT, "inputs", "the distribution of the output needs too many runs");
    }
    if (!status && runs.size) {
        *out = distr_make(at->pool, (xir_i64s){ axes, n_axes }, run_list_runs(&runs), like->uvalue, like->legacy);
        if (!*out) status = infer_no_memory(at);
    }
    run_list_free(&runs);
    return status;
}

/* Joins the distributions of all inputs into `out`, which has room. */
static xir_status join_distrs(xir_infer *at, const join *j, const xir_object **out, size_t *n_out) {
    size_t n = xir_infer_input_count(at);
    xir_status status = XIR_OK;
    *n_out = 0;
    for (size_t i = 0; i < n && !status; i++) {
        xir_refs distrs = xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs;
        for (size_t k = 0; k < distrs.size && !status; k++) {
            const xir_distr *like = (const xir_distr *)distrs.data[k], *now;
            bool done = !like;
            for (size_t before = 0; before < i && !done; before++) done = distr_like(at, before, like);
            dim_list axes;
            if (done || distr_like(at, i, like) != like) continue;
            if (!dims_init(at, &axes, like->merged_axis.size)) return XIR_E_MEMORY;
            status = join_distr(at, j, like, axes.data, &now);
            if (!status && now) out[(*n_out)++] = (const xir_object *)now;
            dims_free(&axes);
        }
    }
    return status;
}

xir_status give_join(xir_infer *at, join *j) {
    size_t n = xir_infer_input_count(at), n_distrs = 0;
    const xir_type *element = xir_type_element(xir_infer_input(at, 0));
    xir_status status = xir_type_is_quantized(element) ? change_arrays(at, 0, join_array, j, &element) : XIR_OK;
    const xir_layout *layout = fitting_layout(j->layout, j->dims);
    for (size_t i = 0; i < n; i++) n_distrs += xir_type_as_tensor(xir_infer_input(at, i))->merged_distrs.size;
    if (status) return status;
    if (n_distrs == 0) return xir_infer_result_tensor(at, element, layout, j->dims->data, j->dims->size);
    if (n_distrs > MOST_DISTRS) {
        return xir_infer_fail(at, XIR_E_LIMIT, "inputs",
                              "the inputs have %zu distributions together: expected at most %d", n_distrs, MOST_DISTRS);
    }
    const xir_object **distrs = mem_new(context_alloc(at->ctx), n_distrs * sizeof *distrs);
    if (!distrs) return infer_no_memory(at);
    size_t n_out;
    status = join_distrs(at, j, distrs, &n_out);
    if (!status) {
        const xir_type *type = type_tensor(at->pool, element, layout, (xir_i64s){ j->dims->data, j->dims->size },
                                           (xir_refs){ distrs, n_out });
        status = type ? xir_infer_result(at, type) : infer_no_memory(at);
    }
    mem_free(context_alloc(at->ctx), (void *)distrs, n_distrs * sizeof *distrs);
    return status;
}
