/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* AlignAxis pads dims, PruneAxis removes the padding. A distribution describes which elements of the padded dims are
 * valid: a box at the start of the merged dims, [0, old) of each dim, stored as runs in row-major order. The array
 * items of a quantised type follow the elements of a resized dim. */
#include <inttypes.h>
#include "graph.h"
#include "move.h"

/* ---- boxes ---------------------------------------------------------------------------------------------------- */

/* A box at the start of n dims: [0, old[i]) of [0, now[i]). `inner` is the number of elements in one step of dim i. */
typedef struct box {
    size_t   n;
    dim_list old, now, inner;
    size_t   last;   /* the last dim that the box does not fill; n: it fills all dims */
} box;

static bool box_init(xir_infer *at, box *b, size_t n) {
    b->n = n;
    if (!dims_init(at, &b->old, n)) return false;
    if (!dims_init(at, &b->now, n)) {
        dims_free(&b->old);
        return false;
    }
    if (!dims_init(at, &b->inner, n)) {
        dims_free(&b->old);
        dims_free(&b->now);
        return false;
    }
    return true;
}

static void box_free(box *b) {
    dims_free(&b->old);
    dims_free(&b->now);
    dims_free(&b->inner);
}

/* Fills in `inner` and returns the product of `now`; false if it exceeds int64. */
static bool box_inner(box *b, int64_t *total) {
    *total = 1;
    for (size_t i = b->n; i-- > 0;) {
        b->inner.data[i] = *total;
        if (!mul_i64(*total, b->now.data[i], total)) return false;
    }
    return true;
}

static void box_last(box *b) {
    b->last = b->n;
    for (size_t i = 0; i < b->n; i++) {
        if (b->old.data[i] != b->now.data[i]) b->last = i;
    }
}

typedef bool run_fn(void *user, int64_t count, bool valid);

/* Visits the runs of dims i and up, in order. The visitor returns false to stop. */
static bool box_runs(const box *b, size_t i, run_fn *visit, void *user) {
    int64_t old = b->old.data[i], now = b->now.data[i], inner = b->inner.data[i];
    if (b->last == b->n) return visit(user, now * inner, true);
    if (i == b->last) {
        if (!visit(user, old * inner, true)) return false;
    } else {
        for (int64_t k = 0; k < old; k++) {
            if (!box_runs(b, i + 1, visit, user)) return false;
        }
    }
    return visit(user, (now - old) * inner, false);
}

/* ---- resizing -------------------------------------------------------------------------------------------------- */

/* The layout fixes the unit of a tiled axis, and arrays count both of its dims, so only a back end can resize them. */
static xir_status may_resize(xir_infer *at, size_t axis, int64_t old, int64_t now) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_layout *layout = xir_type_layout(type);
    if (old == now || !layout || !xir_type_is_layouted(type)) return XIR_OK;
    const xir_scales *scales = xir_type_scale(type);
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    bool arrays = (scales && xir_scales_count(scales) > 1) || (ratios && xir_norm_ratios_count(ratios) > 1);
    if (!arrays && !xir_layout_unit(layout, axis)) return XIR_OK;
    xir_str text = xir_layout_text(layout);
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "dim %zu of a tiled input (%.*s) cannot be resized to "
                          "%" PRId64 " from %" PRId64 ": tiled inputs need the back end's inference", axis,
                          (int)text.size, text.data, now, old);
}

/* Returns true if a distribution covers a dim. */
static bool covers(const xir_distr *distr, size_t axis, size_t rank) {
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        if (from_start(distr->merged_axis.data[i], rank) == (int64_t)axis) return true;
    }
    return false;
}

/* ---- AlignAxis ------------------------------------------------------------------------------------------------- */

/* The most runs of one distribution. More than that cannot be real padding. */
enum { MOST_RUNS = 1 << 20 };

static bool add_run(void *user, int64_t count, bool valid) { return run_list_add(user, count, valid, 0, 0) == XIR_OK; }

/* The distribution over the dims of one unit. */
static const xir_distr *aligned_distr(xir_infer *at, const box *b, const dim_list *axes) {
    const xir_distr *distr = NULL;
    run_list runs;
    run_list_init(&runs, context_alloc(at->ctx));
    if (box_runs(b, 0, add_run, &runs)) {
        distr = distr_make(at->pool, (xir_i64s){ axes->data, axes->size }, run_list_runs(&runs),
                           XIR_UVALUE_ZERO, false);
    }
    run_list_free(&runs);
    if (!distr) infer_no_memory(at);
    return distr;
}

/* Processes one unit: changes `dims` and, if `distr` is not NULL, creates *distr. `axes` and `b` have its size. */
static xir_status align_unit(xir_infer *at, size_t which, const xir_aligned_unit *unit, dim_list *dims,
                             dim_list *axes, box *b, const xir_distr **distr) {
    xir_refs old = xir_type_as_tensor(xir_infer_input(at, 0))->merged_distrs;
    const char *where = "aligned_units";
    size_t rank = dims->size;
    for (size_t i = 0; i < axes->size; i++) {
        int64_t axis = from_start(unit->index.data[i], rank), size = unit->unit.data[i];
        if (axis < 0) {
            return xir_infer_fail(at, XIR_E_BOUNDS, where,
                                  "dim %" PRId64 " of unit %zu is outside the %zu dims of input",
                                  unit->index.data[i], which, rank);
        }
        if (size < 1) {
            return xir_infer_fail(at, XIR_E_BOUNDS, where,
                                  "dim %" PRId64 " is aligned to a multiple of %" PRId64 ": expected at least 1", axis,
                                  size);
        }
        for (size_t k = 0; k < i; k++) {
            if (axes->data[k] != axis) continue;
            return xir_infer_fail(at, XIR_E_INVALID, where, "unit %zu lists dim %" PRId64 " twice", which, axis);
        }
        for (size_t k = 0; k < old.size; k++) {
            if (!covers((const xir_distr *)old.data[k], (size_t)axis, rank)) continue;
            return xir_infer_fail(at, XIR_E_EXISTS, where, "dim %" PRId64 " of input already has a distribution", axis);
        }
        axes->data[i] = axis;
        int64_t dim = dims->data[axis], more = dim < 0 ? 0 : (size - dim % size) % size;
        b->old.data[i] = dim;
        if (dim < 0) b->now.data[i] = times_dim(at, dim_of_expr(expr_ceil_div(at->pool, expr_of_dim(dim), size)), size);
        else if (!add_i64(dim, more, &b->now.data[i])) {
            return xir_infer_fail(at, XIR_E_LIMIT, where,
                                  "dim %" PRId64 " rounded up to a multiple of %" PRId64 " exceeds 64 bits", axis,
                                  size);
        }
        if (dim < 0 && distr) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "dim %" PRId64 " is unknown: the valid elements "
                                  "of the aligned dim cannot be determined", axis);
        }
        xir_status status = may_resize(at, (size_t)axis, dim, b->now.data[i]);
        if (status) return status;
        dims->data[axis] = b->now.data[i];
    }
    if (!distr) return XIR_OK;

    int64_t total, runs = 1;
    if (!box_inner(b, &total)) {
        return xir_infer_fail(at, XIR_E_LIMIT, where, "the number of elements in the dims of unit %zu exceeds 64 bits",
                              which);
    }
    box_last(b);
    for (size_t i = 0; b->last < b->n && i < b->last && runs <= MOST_RUNS; i++) {
        if (!mul_i64(runs, b->old.data[i], &runs)) runs = INT64_MAX;
    }
    if (runs > MOST_RUNS) {
        return xir_infer_fail(at, XIR_E_LIMIT, where, "unit %zu needs more than %d runs of valid elements",
                              which, MOST_RUNS);
    }
    *distr = aligned_distr(at, b, axes);
    return *distr ? XIR_OK : XIR_E_MEMORY;
}

/* Checks all units. With `distrs` (room for one each) it also creates the distributions of the output. `seen` maps each
 * dim to its unit. */
static xir_status align_units(xir_infer *at, dim_list *dims, const xir_object **distrs) {
    const xir_align_axis_attrs *a = xir_infer_attrs(at);
    xir_status status = XIR_OK;
    dim_list seen;
    if (!dims_init(at, &seen, dims->size)) return XIR_E_MEMORY;
    for (size_t i = 0; i < seen.size; i++) seen.data[i] = -1;
    for (size_t i = 0; i < a->aligned_units.size && !status; i++) {
        const xir_aligned_unit *unit = xir_aligned_unit_of(a->aligned_units.data[i]);
        if (!unit) status = xir_infer_fail(at, XIR_E_TYPE, "aligned_units", "unit %zu is not an AlignedUnit", i);
        else if (unit->index.size != unit->unit.size || unit->index.size == 0) {
            status = xir_infer_fail(at, XIR_E_INVALID, "aligned_units",
                                    "unit %zu has %zu dims and %zu units: expected the same number of both, at least "
                                    "one", i, unit->index.size, unit->unit.size);
        }
        if (status) break;
        dim_list axes;
        box b;
        const xir_distr *distr = NULL;
        if (!dims_init(at, &axes, unit->index.size)) status = XIR_E_MEMORY;
        else if (!box_init(at, &b, unit->index.size)) {
            dims_free(&axes);
            status = XIR_E_MEMORY;
        }
        if (status) break;
        status = align_unit(at, i, unit, dims, &axes, &b, distrs ? &distr : NULL);
        for (size_t k = 0; k < axes.size && !status; k++) {
            int64_t *other = &seen.data[axes.data[k]];
            if (*other >= 0) {
                status = xir_infer_fail(at, XIR_E_INVALID, "aligned_units",
                                        "dim %" PRId64 " is in unit %" PRId64 " and in unit %zu: expected it in one",
                                        axes.data[k], *other, i);
            }
            *other = (int64_t)i;
        }
        if (distrs) distrs[i] = (const xir_object *)distr;
        dims_free(&axes);
        box_free(&b);
    }
    dims_free(&seen);
    return status;
}

xir_status align_axis_check(xir_infer *at) {
    dim_list dims;
    if (!inputs_known(at, 1)) return XIR_OK;
    if (!dims_copy(at, &dims, xir_infer_input(at, 0))) return XIR_E_MEMORY;
    xir_status status = align_units(at, &dims, NULL);
    dims_free(&dims);
    return status;
}

static xir_status need_tensor(xir_infer *at) {
    const xir_type *type = xir_infer_input(at, 0);
    if (!type) return xir_infer_fail(at, XIR_E_MISSING, "inputs/0", "input is absent or has no type");
    return xir_type_as_tensor(type) ? XIR_OK : xir_infer_fail(at, XIR_E_TYPE, "inputs/0", "input is not a tensor");
}

/* Padding extends a dim at its end. */
static xir_status align_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    int64_t old = type_dim(xir_infer_input(at, 0), (int64_t)k), now = m->dims->data[k];
    if (old == now) return XIR_OK;
    xir_status status = add_stretch(out, 0, old, 1);
    return status ? status : add_stretch(out, NEW_ELEMENTS, now - old, 0);
}

xir_status align_axis_infer(xir_infer *at) {
    const xir_align_axis_attrs *a = xir_infer_attrs(at);
    xir_status status = need_tensor(at);
    if (status) return status;
    const xir_type *type = xir_infer_input(at, 0), *element;
    xir_refs old = xir_type_as_tensor(type)->merged_distrs;
    size_t n = old.size + a->aligned_units.size;
    dim_list dims;
    if (!dims_copy(at, &dims, type)) return XIR_E_MEMORY;
    const xir_object **distrs = mem_new(context_alloc(at->ctx), n ? n * sizeof *distrs : 1);
    if (!distrs) status = infer_no_memory(at);
    else {
        if (old.size) memcpy((void *)distrs, (const void *)old.data, old.size * sizeof *distrs);
        status = align_units(at, &dims, distrs + old.size);
        if (!status)
            status = move_element(at, 0, &(move){ .dims = &dims, .take = align_take, .padding = true }, &element);
        if (!status) status = give_tensor(at, type, element, &dims, (xir_refs){ distrs, n });
        mem_free(context_alloc(at->ctx), (void *)distrs, n ? n * sizeof *distrs : 1);
    }
    dims_free(&dims);
    return status;
}

/* ---- PruneAxis ------------------------------------------------------------------------------------------------- */

/* Walks the runs of a distribution and of a box in parallel. */
typedef struct run_walk {
    xir_runs runs;
    size_t   at;
    int64_t  position;
} run_walk;

static bool same_run(void *user, int64_t count, bool valid) {
    run_walk *b = user;
    if (count == 0) return true;
    if (b->at >= b->runs.size || (b->runs.data[b->at].m != 0) != valid) return false;
    b->position += count;
    if (b->runs.data[b->at].end < b->position) return false;
    if (b->runs.data[b->at].end == b->position) b->at++;
    return true;
}

/* Returns true if the valid elements of a distribution over `b->now` form a box; fills in `b->old`. */
static bool find_box(const xir_distr *distr, box *b) {
    if (!xir_distr_is_valid(distr, 0)) return false;
    for (size_t i = 0; i < b->n; i++) {
        int64_t low = 1, high = b->now.data[i];   // the first invalid index is in [low, high]
        while (low < high) {
            int64_t middle = low + (high - low) / 2;
            if (xir_distr_is_valid(distr, middle * b->inner.data[i])) low = middle + 1;
            else high = middle;
        }
        b->old.data[i] = low;
    }
    box_last(b);
    return box_runs(b, 0, same_run, &(run_walk){ distr->sections, 0, 0 });
}

/* Applies one distribution to its dims: changes `dims`. */
static xir_status prune_one(xir_infer *at, int64_t index, const xir_distr *distr, box *b, dim_list *dims) {
    size_t rank = dims->size;
    int64_t total, axis = -1;
    if (b->n == 0)
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0",
                              "distribution %" PRId64 " is over no dims: expected at least one", index);
    for (size_t i = 0; i < b->n; i++) {
        axis = from_start(distr->merged_axis.data[i], rank);
        if (axis < 0) {
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/0",
                                  "distribution %" PRId64 " is over dim %" PRId64 ", but input has %zu dims", index,
                                  distr->merged_axis.data[i], rank);
        }
        b->now.data[i] = dims->data[axis];
        /* If a single dim is unknown, the distribution gives its size. */
        if (dims->data[axis] < 0 && b->n == 1) b->now.data[i] = xir_distr_total(distr);
        if (b->now.data[i] < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "dim %" PRId64 " is unknown and merged with "
                                  "others: its size after pruning distribution %" PRId64 " cannot be determined", axis,
                                  index);
        }
    }
    if (!box_inner(b, &total) || total != xir_distr_total(distr)) {
        return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "distribution %" PRId64 " counts %" PRId64 " elements: "
                              "expected %" PRId64 ", the product of its dims", index, xir_distr_total(distr), total);
    }
    bool single = b->n == 1;
    if (single) b->old.data[0] = xir_distr_total_valid(distr);
    else if (xir_distr_total_valid(distr) != total && !find_box(distr, b)) {
        return xir_infer_fail(at, XIR_E_INVALID, "index", "distribution %" PRId64 " cannot be pruned: its valid "
                              "elements are not the first ones of each of its %zu merged dims", index, b->n);
    } else if (xir_distr_total_valid(distr) == total) {
        memcpy(b->old.data, b->now.data, b->n * sizeof *b->old.data);
    }
    for (size_t i = 0; i < b->n; i++) {
        axis = from_start(distr->merged_axis.data[i], rank);
        xir_status status = may_resize(at, (size_t)axis, b->now.data[i], b->old.data[i]);
        if (status) return status;
        dims->data[axis] = b->old.data[i];
    }
    return XIR_OK;
}

/* Fails if another distribution covers one of the dims: both would have to count it. */
static xir_status alone(xir_infer *at, xir_refs distrs, size_t which, size_t rank) {
    const xir_distr *distr = (const xir_distr *)distrs.data[which];
    for (size_t i = 0; i < distrs.size; i++) {
        for (size_t k = 0; i != which && k < distr->merged_axis.size; k++) {
            int64_t axis = from_start(distr->merged_axis.data[k], rank);
            if (axis < 0 || !covers((const xir_distr *)distrs.data[i], (size_t)axis, rank)) continue;
            return xir_infer_fail(at, XIR_E_INVALID, "inputs/0",
                                  "distributions %zu and %zu are both over dim %" PRId64 ": expected one", which, i,
                                  axis);
        }
    }
    return XIR_OK;
}

/* Checks and changes `dims`; gone->data[i] is set for each pruned distribution i. */
static xir_status prune(xir_infer *at, dim_list *dims, dim_list *gone) {
    const xir_prune_axis_attrs *a = xir_infer_attrs(at);
    xir_refs distrs = xir_type_as_tensor(xir_infer_input(at, 0))->merged_distrs;
    for (size_t i = 0; i < distrs.size; i++) gone->data[i] = false;
    for (size_t i = 0; i < a->index.size; i++) {
        int64_t index = from_start(a->index.data[i], distrs.size);
        if (index < 0) {
            return xir_infer_fail(at, XIR_E_BOUNDS, "index", "%" PRId64 " is outside the %zu distribution%s of input",
                                  a->index.data[i], distrs.size, distrs.size == 1 ? "" : "s");
        }
        if (gone->data[index]) {
            return xir_infer_fail(at, XIR_E_INVALID, "index", "distribution %" PRId64 " is listed twice", index);
        }
        gone->data[index] = true;
        const xir_distr *distr = (const xir_distr *)distrs.data[index];
        xir_status status = alone(at, distrs, (size_t)index, dims->size);
        box b;
        if (!status && !box_init(at, &b, distr->merged_axis.size)) status = XIR_E_MEMORY;
        if (status) return status;
        status = prune_one(at, index, distr, &b, dims);
        box_free(&b);
        if (status) return status;
    }
    return XIR_OK;
}

xir_status prune_axis_check(xir_infer *at) {
    const xir_type *type = xir_infer_input(at, 0);
    dim_list dims, gone;
    if (!inputs_known(at, 1)) return XIR_OK;
    if (!dims_copy(at, &dims, type)) return XIR_E_MEMORY;
    xir_status status = XIR_E_MEMORY;
    if (dims_init(at, &gone, xir_type_as_tensor(type)->merged_distrs.size)) {
        status = prune(at, &dims, &gone);
        dims_free(&gone);
    }
    dims_free(&dims);
    return status;
}

typedef struct pruning {
    move            m;   /* first: the slice function gets a pointer to it */
    const dim_list *gone;
} pruning;

/* If a dim has a distribution of its own, its valid elements are kept; of merged dims, the first ones. */
static xir_status prune_take(const move *m, xir_infer *at, size_t k, stretch_list *out) {
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    const dim_list *gone = ((const pruning *)m)->gone;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < gone->size; i++) {
        const xir_distr *distr = (const xir_distr *)input->merged_distrs.data[i];
        if (!gone->data[i] || distr->merged_axis.size != 1 || !covers(distr, k, input->shape.size)) continue;
        int64_t start = 0;
        if (xir_distr_total_valid(distr) == xir_distr_total(distr)) return XIR_OK;
        for (size_t r = 0; r < distr->sections.size && !status; start = distr->sections.data[r++].end) {
            status = add_stretch(out, start, distr->sections.data[r].m ? distr->sections.data[r].end - start : 0, 1);
        }
        return status;
    }
    return input->shape.data[k] == m->dims->data[k] ? XIR_OK : add_stretch(out, 0, m->dims->data[k], 1);
}

xir_status prune_axis_infer(xir_infer *at) {
    xir_status status = need_tensor(at);
    if (status) return status;
    const xir_type *type = xir_infer_input(at, 0), *element;
    xir_refs old = xir_type_as_tensor(type)->merged_distrs;
    size_t n = 0, bytes = old.size ? old.size * sizeof *old.data : 1;
    dim_list dims, gone;
    if (!dims_copy(at, &dims, type)) return XIR_E_MEMORY;
    if (!dims_init(at, &gone, old.size)) {
        dims_free(&dims);
        return XIR_E_MEMORY;
    }
    const xir_object **stay = mem_new(context_alloc(at->ctx), bytes);
    const pruning p = { { .dims = &dims, .take = prune_take }, &gone };
    status = stay ? prune(at, &dims, &gone) : infer_no_memory(at);
    if (!status) status = move_element(at, 0, &p.m, &element);
    for (size_t i = 0; !status && i < old.size; i++) {
        if (!gone.data[i]) stay[n++] = old.data[i];
    }
    if (!status) status = give_tensor(at, type, element, &dims, (xir_refs){ stay, n });
    mem_free(context_alloc(at->ctx), (void *)stay, bytes);
    dims_free(&gone);
    dims_free(&dims);
    return status;
}
