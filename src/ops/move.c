/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Array items and distributions are moved run by run. If merged dims are sliced, the outer ones are walked element by
 * element, up to 65536 of them. */
#include <inttypes.h>
#include "axes.h"
#include "graph.h"
#include "move.h"

/* ---- inputs ------------------------------------------------------------------------------------------------- */

xir_status need_movable(xir_infer *at, size_t n) { return inputs_checkable(at, n) ? XIR_OK : need_inputs(at, n); }

int64_t tile_partner(const xir_layout *layout, size_t k) {
    char letter = xir_layout_axis(layout, k);
    if (letter == '\0' || letter == '*') return -1;
    return xir_layout_index(layout, (char)(letter ^ 0x20));
}

xir_status need_untiled(xir_infer *at, const char *what, size_t k) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    if (tile_partner(layout, k) < 0) return XIR_OK;
    xir_str text = xir_layout_text(layout);
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, what, "dim %zu is part of a tiled axis of %s (%.*s): its tiles cannot "
                          "be carried over to the output", k, input_name(at, 0), (int)text.size, text.data);
}

bool copy_dims(xir_infer *at, dim_list *out) {
    return dims_copy(at, out, xir_infer_input(at, 0));
}

xir_status read_axis(xir_infer *at, const char *what, int64_t axis, size_t rank, size_t *out) {
    int64_t found = from_start(axis, rank);
    *out = (size_t)found;
    return found < 0 ? axis_outside(at, what, axis, rank) : XIR_OK;
}

/* Copies the text of each axis; layouts are short. */
xir_status layout_of_axes(xir_infer *at, const xir_type *like, const int64_t *from, size_t n, const xir_layout **out) {
    const xir_layout *layout = xir_type_layout(like);
    size_t rank = xir_type_rank(like);
    *out = NULL;
    if (!layout || xir_layout_rank(layout) != rank) return XIR_OK;
    dim_list starts;
    if (!dims_init(at, &starts, rank + 1)) return XIR_E_MEMORY;
    form_text walk = layout_walk(layout);
    layout_axis axis;
    for (size_t i = 0; i < rank && layout_next(&walk, &axis); i++) {
        starts.data[i] = (int64_t)axis.start;
        starts.data[i + 1] = (int64_t)(axis.start + axis.size);
    }
    char few[128];
    size_t size = 0, room = sizeof few;
    char *text = few;
    for (size_t i = 0; i < n; i++) size += from[i] < 0 ? 1 : (size_t)(starts.data[from[i] + 1] - starts.data[from[i]]);
    if (size > room) text = mem_new(context_alloc(at->ctx), room = size);
    if (!text) {
        dims_free(&starts);
        return infer_no_memory(at);
    }
    size = 0;
    for (size_t i = 0; i < n; i++) {
        if (from[i] < 0) text[size++] = '*';
        else {
            size_t start = (size_t)starts.data[from[i]], length = (size_t)starts.data[from[i] + 1] - start;
            memcpy(text + size, layout->axes.data + start, length);
            size += length;
        }
    }
    *out = layout_make(at->pool, (xir_str){ text, size }, 0, NULL);
    if (text != few) mem_free(context_alloc(at->ctx), text, room);
    dims_free(&starts);
    return *out ? XIR_OK : infer_no_memory(at);
}

/* ---- stretches ---------------------------------------------------------------------------------------------- */

enum { MOST_STRETCHES = 1 << 20 };

static bool goes_on(const stretch *last, int64_t start, int64_t step) {
    if (start == NEW_ELEMENTS || last->start == NEW_ELEMENTS) return start == last->start;
    int64_t next;
    return last->step == step && mul_i64(last->count, step, &next) && add_i64(last->start, next, &next) &&
           next == start;
}

xir_status add_stretch(stretch_list *list, int64_t start, int64_t count, int64_t step) {
    list->whole = false;
    if (count <= 0) return XIR_OK;
    if (count == 1 && start != NEW_ELEMENTS) step = 1;   // any step is right; 1 is the easiest to extend
    stretch *last = list->size ? &list->data[list->size - 1] : NULL;
    if (last && goes_on(last, start, step)) {
        last->count += count;
        return XIR_OK;
    }
    if (list->size == MOST_STRETCHES) {
        return xir_infer_fail(list->at, XIR_E_LIMIT, "inputs/0", "the slices of %s need more than %d pieces",
                              input_name(list->at, 0), MOST_STRETCHES);
    }
    if (list->size == list->room) {
        bool few = list->data == list->few;
        void *items = few ? NULL : list->data;
        size_t room = few ? 0 : list->room;
        if (!mem_reserve(context_alloc(list->at->ctx), &items, &room, list->size + 1, sizeof *list->data)) {
            return infer_no_memory(list->at);
        }
        if (few) memcpy(items, list->few, list->size * sizeof *list->data);
        list->data = items;
        list->room = room;
    }
    list->data[list->size++] = (stretch){ start, count, step };
    return XIR_OK;
}

static void stretches_init(stretch_list *list, xir_infer *at) {
    *list = (stretch_list){ .at = at, .whole = true, .data = list->few,
                            .room = sizeof list->few / sizeof list->few[0] };
}

static void stretches_free(stretch_list *list) {
    if (list->data != list->few) mem_free(context_alloc(list->at->ctx), list->data, list->room * sizeof *list->data);
}

xir_status refuse_unknown(xir_infer *at, size_t k) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                          "dim %zu of %s is unknown: its scales and valid elements cannot be sliced", k,
                          input_name(at, 0));
}

/* ---- items -------------------------------------------------------------------------------------------------- */

size_t axes_along(const xir_type *type, int64_t axis, int64_t axes[2]) {
    int64_t k = from_start(axis, xir_type_rank(type));
    if (k < 0) return 0;
    const xir_layout *layout = xir_type_layout(type);
    int64_t partner = xir_type_is_layouted(type) ? tile_partner(layout, (size_t)k) : -1;
    axes[0] = k;
    if (partner < 0 || (uint64_t)partner >= xir_type_rank(type)) return 1;   // the layout may not fit the type
    bool upper = xir_layout_unit(layout, (size_t)k) == 0;   // the tiles come before their units
    axes[0] = upper ? k : partner;
    axes[1] = upper ? partner : k;
    return 2;
}

int64_t extent(xir_i64s dims, const int64_t *axes, size_t n) {
    int64_t all = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t k = from_start(axes[i], dims.size);
        if (k < 0 || dims.data[k] < 0 || !mul_i64(all, dims.data[k], &all)) return UNKNOWN_DIM;
    }
    return all;
}

int64_t moved_axis(const move *m, int64_t axis, size_t rank) {
    int64_t k = from_start(axis, rank), now = m->to ? m->to[k] : k;
    return axis < 0 ? now - (int64_t)m->dims->size : now;
}

/* Sliced merged dims. `inner` is the number of items in one step of level l, `inner_out` that of the output. */
enum { MOST_LEVELS = 64, MOST_STEPS = 1 << 16, MOST_RUNS = 1 << 20 };
typedef struct slicing {
    xir_infer    *at;
    size_t        n, last;      /* the last level that is sliced */
    stretch_list *taken;
    dim_list      dims, inner, inner_out;
    xir_runs      items;
    xir_run       fill;
    run_list     *out;
    int64_t       steps;
} slicing;

/* Takes `count` items from `start`, `step` apart. */
static xir_status pick_items(run_list *out, xir_runs items, int64_t start, int64_t count, int64_t step) {
    if (step == 1) return run_list_append(out, items, start, start + count);
    while (count > 0) {
        const xir_run *run = runs_find(items, start);
        if (!run) return XIR_E_BOUNDS;
        int64_t begin = run == items.data ? 0 : run[-1].end, n = count;   // how many lie in this run
        if (step > 0) n = (run->end - 1 - start) / step + 1;
        if (step < 0) n = (start - begin) / -step + 1;
        if (n > count) n = count;
        xir_status status = run_list_add(out, n, run->m, run->exp, run->value);
        if (status) return status;
        count -= n;
        if (count) start += n * step;
    }
    return XIR_OK;
}

static xir_status slice_level(slicing *c, size_t l, int64_t base);

/* Takes element k of level l, with all inner levels. */
static xir_status slice_element(slicing *c, size_t l, int64_t base, int64_t k) {
    int64_t start = base + k * c->inner.data[l];
    if (c->steps++ >= MOST_STEPS) return XIR_E_LIMIT;
    return l == c->last ? run_list_append(c->out, c->items, start, start + c->inner.data[l])
           : slice_level(c, l + 1, start);
}

static xir_status slice_level(slicing *c, size_t l, int64_t base) {
    const stretch_list *taken = &c->taken[l];
    const stretch whole = { 0, c->dims.data[l], 1 };
    size_t n = taken->whole ? 1 : taken->size;
    int64_t inner = c->inner.data[l];
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) {
        stretch s = taken->whole ? whole : taken->data[i];
        if (s.start == NEW_ELEMENTS) {
            int64_t count;
            if (!mul_i64(s.count, c->inner_out.data[l], &count)) return XIR_E_LIMIT;
            status = run_list_add(c->out, count, c->fill.m, c->fill.exp, c->fill.value);
        } else if (l == c->last && (s.step == 1 || inner == 1)) {
            status = inner == 1 ? pick_items(c->out, c->items, base + s.start, s.count, s.step)
                                : run_list_append(c->out, c->items, base + s.start * inner,
                                                  base + (s.start + s.count) * inner);
        } else {
            for (int64_t k = 0; k < s.count && !status; k++) status = slice_element(c, l, base, s.start + k * s.step);
        }
        if (!status && c->out->size > MOST_RUNS) return XIR_E_LIMIT;
    }
    return status;
}

/* Finds the sliced levels and how many items one step of each has; false if they exceed 64 bits. */
static bool measure(slicing *c) {
    int64_t inner = 1, inner_out = 1;
    for (size_t l = c->n; l-- > 0;) {
        int64_t count = 0;
        c->inner.data[l] = inner;
        c->inner_out.data[l] = inner_out;
        for (size_t i = 0; i < c->taken[l].size; i++) {
            if (!add_i64(count, c->taken[l].data[i].count, &count)) return false;
        }
        if (c->taken[l].whole) count = c->dims.data[l];
        if (!mul_i64(inner, c->dims.data[l], &inner) || !mul_i64(inner_out, count, &inner_out)) return false;
    }
    return true;
}

static xir_status slice_items(slicing *c, size_t i, const move *m, const int64_t *axes) {
    xir_i64s shape = xir_type_as_tensor(xir_infer_input(c->at, i))->shape;
    c->last = c->n;
    for (size_t l = 0; l < c->n; l++) {
        int64_t k = from_start(axes[l], shape.size);
        c->dims.data[l] = shape.data[k];
        if (c->dims.data[l] < 0 && c->n == 1) c->dims.data[l] = runs_total(c->items);   // the items give the size
        xir_status status = m->take(m, c->at, (size_t)k, &c->taken[l]);
        if (status) return status;
        if (!c->taken[l].whole) c->last = l;
    }
    if (c->last == c->n) return run_list_append(c->out, c->items, 0, runs_total(c->items));
    for (size_t l = 0; l < c->n; l++) {
        if (c->dims.data[l] < 0) return refuse_unknown(c->at, (size_t)from_start(axes[l], shape.size));
    }
    return measure(c) ? slice_level(c, 0, 0) : XIR_E_LIMIT;
}

xir_status move_items(xir_infer *at, size_t i, const move *m, const int64_t *axes, size_t n, xir_runs items,
                      xir_run fill, run_list *out) {
    const input_path path = path_of_input(i);
    if (!m->take || n == 0) {
        return run_list_append(out, items, 0, runs_total(items)) ? infer_no_memory(at) : XIR_OK;
    }
    if (n > MOST_LEVELS) {
        return xir_infer_fail(at, XIR_E_LIMIT, path.text,
                              "a distribution of %s is over %zu dims: expected at most %d for slicing",
                              input_name(at, i), n, MOST_LEVELS);
    }
    slicing c = { .at = at, .n = n, .items = items, .fill = fill, .out = out };
    stretch_list few[2];
    xir_status status = XIR_E_MEMORY;
    c.taken = n <= 2 ? few : mem_new(context_alloc(at->ctx), n * sizeof *c.taken);
    if (!c.taken) return infer_no_memory(at);
    for (size_t l = 0; l < n; l++) stretches_init(&c.taken[l], at);
    if (dims_init(at, &c.dims, n)) {
        if (dims_init(at, &c.inner, n)) {
            if (dims_init(at, &c.inner_out, n)) {
                status = slice_items(&c, i, m, axes);
                dims_free(&c.inner_out);
            }
            dims_free(&c.inner);
        }
        dims_free(&c.dims);
    }
    for (size_t l = 0; l < n; l++) stretches_free(&c.taken[l]);
    if (c.taken != few) mem_free(context_alloc(at->ctx), c.taken, n * sizeof *c.taken);
    if (!status || at->status) return status;   // the error is already reported
    if (status == XIR_E_MEMORY) return infer_no_memory(at);
    if (status == XIR_E_LIMIT) {
        return xir_infer_fail(at, status, path.text,
                              "the scales or valid elements of %s need too many runs after slicing", input_name(at, i));
    }
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path.text, "the scales or valid elements of %s do not fit its dims",
                          input_name(at, i));
}

/* ---- valid elements ----------------------------------------------------------------------------------------- */

static xir_status distr_lost(xir_infer *at, size_t which) {
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "the dims of distribution %zu of %s are merged, split or "
                          "mixed with others: it cannot be carried over to the output", which, input_name(at, 0));
}

/* Finds the dims of the output that neighbouring dims of the input become in the same row-major order, and returns
 * their number. Returns 0 if they do not become whole dims; then `axes` is unchanged. `axes` has room for all dims
 * of the output. */
static size_t ordered_dims(const move *m, xir_i64s shape, xir_i64s was, int64_t *axes) {
    size_t rank = m->dims->size, begin = 0, end;
    int64_t first = was.size ? from_start(was.data[0], shape.size) : -1, before = 1, inside = 1, product = 1;
    if (first < 0 || (uint64_t)first + was.size > shape.size) return 0;
    for (size_t k = 0; k < (size_t)first + was.size; k++) {
        int64_t *count = k < (size_t)first ? &before : &inside;
        if (k >= (size_t)first && from_start(was.data[k - (size_t)first], shape.size) != (int64_t)k) return 0;
        if (shape.data[k] < 1 || !mul_i64(*count, shape.data[k], count)) return 0;
    }
    while (begin < rank && product < before) {
        if (m->dims->data[begin] < 0 || !mul_i64(product, m->dims->data[begin++], &product)) return 0;
    }
    if (product != before) return 0;
    while (begin < rank && inside > 1 && m->dims->data[begin] == 1) begin++;
    for (end = begin, product = 1; end < rank && product < inside; end++) {
        if (m->dims->data[end] < 0 || !mul_i64(product, m->dims->data[end], &product)) return 0;
    }
    if (product != inside) return 0;
    for (size_t k = begin; k < end; k++) axes[k - begin] = (int64_t)k - (was.data[0] < 0 ? (int64_t)rank : 0);
    return end - begin;
}

/* Maps a distribution to the dims of the output; NULL if all elements are valid. `axes` has room. */
static xir_status move_distr(xir_infer *at, const move *m, size_t which, const xir_distr *old, int64_t *axes,
                             const xir_distr **out) {
    xir_i64s shape = xir_type_as_tensor(xir_infer_input(at, 0))->shape, was = old->merged_axis;
    int64_t total = xir_distr_total(old), have = extent(shape, was.data, was.size), now = 1;
    bool all = xir_distr_total_valid(old) == total;
    size_t n = 0;
    *out = NULL;
    for (size_t i = 0; i < was.size; i++) {
        int64_t k = from_start(was.data[i], shape.size);
        if (k < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0",
                                  "distribution %zu is over dim %" PRId64 ", but %s has %zu dims", which, was.data[i],
                                  input_name(at, 0), shape.size);
        }
        if (m->to && m->to[k] < 0) continue;
        axes[n++] = moved_axis(m, was.data[i], shape.size);
    }
    if (have >= 0 && have != total) {
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "distribution %zu counts %" PRId64 " elements: "
                              "expected %" PRId64 ", the product of its dims", which, total, have);
    }
    size_t ordered = m->ordered && n < was.size ? ordered_dims(m, shape, was, axes) : 0;
    if (ordered) {
        *out = distr_make(at->pool, (xir_i64s){ axes, ordered }, old->sections, old->uvalue, old->legacy);
        return *out ? XIR_OK : infer_no_memory(at);
    }
    now = extent((xir_i64s){ m->dims->data, m->dims->size }, axes, n);
    run_list runs;
    run_list_init(&runs, context_alloc(at->ctx));
    xir_status status = XIR_OK;
    if (all) {
        if (n && now < 0 && !m->take && n == was.size) now = total;
        if (n && now > 0) status = run_list_add(&runs, now, 1, 0, 0);
    } else {
        status = move_items(at, 0, m, was.data, was.size, old->sections, (xir_run){ .m = !m->padding }, &runs);
        bool followed = n == was.size || (now >= 0 && now == runs_total(run_list_runs(&runs)));
        if (!status && !followed) status = distr_lost(at, which);
        if (!status && n == 0 && runs.size && !runs.data[0].m) status = distr_lost(at, which);
    }
    if (!status && n && runs.size) {
        *out = distr_make(at->pool, (xir_i64s){ axes, n }, run_list_runs(&runs), old->uvalue, old->legacy);
        if (!*out) status = infer_no_memory(at);
    }
    run_list_free(&runs);
    return status;
}

/* Maps all distributions into `out`, which has room. */
static xir_status move_distrs(xir_infer *at, const move *m, xir_refs old, const xir_object **out, size_t *n) {
    xir_status status = XIR_OK;
    *n = 0;
    for (size_t i = 0; i < old.size && !status; i++) {
        const xir_distr *distr = (const xir_distr *)old.data[i], *now;
        dim_list axes;
        if (!distr) continue;
        size_t room = distr->merged_axis.size > m->dims->size ? distr->merged_axis.size : m->dims->size;
        if (!dims_init(at, &axes, room)) return XIR_E_MEMORY;
        status = move_distr(at, m, i, distr, axes.data, &now);
        if (!status && now) out[(*n)++] = (const xir_object *)now;
        dims_free(&axes);
    }
    return status;
}

const xir_layout *fitting_layout(const xir_layout *layout, const dim_list *dims) {
    return xir_layout_rank(layout) == dims->size ? layout : NULL;
}

xir_status give_moved(xir_infer *at, const move *m) {
    const xir_tensor_type *input = xir_type_as_tensor(xir_infer_input(at, 0));
    const xir_type *element = input->element_dtype;
    xir_refs old = input->merged_distrs;
    xir_status status = xir_type_is_quantized(element) ? move_element(at, 0, m, &element) : XIR_OK;
    const xir_layout *layout = fitting_layout(m->layout, m->dims);
    if (status) return status;
    if (old.size == 0) return xir_infer_result_tensor(at, element, layout, m->dims->data, m->dims->size);
    const xir_object *few[4], **distrs = few;
    size_t n, bytes = old.size * sizeof *distrs;
    if (old.size > sizeof few / sizeof few[0]) distrs = mem_new(context_alloc(at->ctx), bytes);
    if (!distrs) return infer_no_memory(at);
    status = move_distrs(at, m, old, distrs, &n);
    if (!status) {
        const xir_type *type = type_tensor(at->pool, element, layout, (xir_i64s){ m->dims->data, m->dims->size },
                                           (xir_refs){ distrs, n });
        status = type ? xir_infer_result(at, type) : infer_no_memory(at);
    }
    if (distrs != few) mem_free(context_alloc(at->ctx), (void *)distrs, bytes);
    return status;
}
