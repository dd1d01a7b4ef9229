#include <inttypes.h>
#include "graph.h"
#include "move.h"

/* ---- inputs ------------------------------------------------------------------------------------------------- */

bool tiles_allowed(xir_infer *at) {
    const xir_target *target = xir_infer_target(at);
    xir_target_kind kind = target ? xir_target_kind_of(target) : XIR_TARGET_HOST;
    return kind == XIR_TARGET_BUYI || kind == XIR_TARGET_ZHUGE;
}

bool movable_known(xir_infer *at, size_t n) {
    return inputs_known(at, n) && (!inputs_tiled(at, n) || tiles_allowed(at));
}

xir_status need_movable(xir_infer *at, size_t n) { return movable_known(at, n) ? XIR_OK : need_inputs(at, n); }

int64_t tile_partner(const xir_layout *layout, size_t k) {
    char letter = xir_layout_axis(layout, k);
    if (letter == '\0' || letter == '*') return -1;
    return xir_layout_index(layout, (char)(letter ^ 0x20));
}

xir_status need_untiled(xir_infer *at, const char *what, size_t k) {
    const xir_layout *layout = xir_type_layout(xir_infer_input(at, 0));
    if (!tiles_allowed(at) || tile_partner(layout, k) < 0) return XIR_OK;
    xir_str text = xir_layout_text(layout);
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, what, "dim %zu is part of a tiled axis of %s (%.*s): what becomes of its tiles "
                          "can't be said", k, input_name(at, 0), (int)text.size, text.data);
}

xir_status read_axis(xir_infer *at, const char *what, int64_t axis, size_t rank, size_t *out) {
    int64_t found = from_start(axis, rank);
    *out = (size_t)found;
    if (found >= 0) return XIR_OK;
    return xir_infer_fail(at, XIR_E_BOUNDS, what, "dim %" PRId64 " is outside the %zu dim%s of %s", axis, rank,
                          rank == 1 ? "" : "s", input_name(at, 0));
}

/* The text of each axis is copied; layouts are short. */
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
        return no_memory(at);
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
    *out = layout_make(at->home, (xir_str){ text, size }, 0, NULL);
    if (text != few) mem_free(context_alloc(at->ctx), text, room);
    dims_free(&starts);
    return *out ? XIR_OK : no_memory(at);
}

/* ---- stretches ---------------------------------------------------------------------------------------------- */

enum { MOST_STRETCHES = 1 << 20 };

static bool goes_on(const stretch *last, int64_t start, int64_t step) {
    if (start == NEW_ELEMENTS || last->start == NEW_ELEMENTS) return start == last->start;
    int64_t next;
    return last->step == step && mul_i64(last->count, step, &next) && add_i64(last->start, next, &next) && next == start;
}

xir_status add_stretch(stretch_list *list, int64_t start, int64_t count, int64_t step) {
    list->whole = false;
    if (count <= 0) return XIR_OK;
    if (count == 1 && start != NEW_ELEMENTS) step = 1;   // any; this one goes on most often
    stretch *last = list->size ? &list->data[list->size - 1] : NULL;
    if (last && goes_on(last, start, step)) {
        last->count += count;
        return XIR_OK;
    }
    if (list->size == MOST_STRETCHES) {
        return xir_infer_fail(list->at, XIR_E_LIMIT, "inputs/0", "what is said of the elements of %s would be said in more than "
                              "%d pieces", input_name(list->at, 0), MOST_STRETCHES);
    }
    if (list->size == list->room) {
        bool few = list->data == list->few;
        void *items = few ? NULL : list->data;
        size_t room = few ? 0 : list->room;
        if (!mem_reserve(context_alloc(list->at->ctx), &items, &room, list->size + 1, sizeof *list->data)) {
            return no_memory(list->at);
        }
        if (few) memcpy(items, list->few, list->size * sizeof *list->data);
        list->data = items;
        list->room = room;
    }
    list->data[list->size++] = (stretch){ start, count, step };
    return XIR_OK;
}

xir_status give_moved(xir_infer *at, const move *m, const xir_layout *layout) {
    const xir_type *type = xir_infer_input(at, 0), *element = xir_type_element(type);
    if (xir_type_is_quantized(element)) {
        xir_status status = computed_element(at, 0, &element);
        if (status) return status;
    }
    return xir_infer_give_tensor(at, element, layout, m->dims->data, m->dims->size);
}
