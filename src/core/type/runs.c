/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lists of runs. Neighbouring runs always differ, so each sequence of items has exactly one list, and a million equal
 * items cost as much as one. */
#include "types.h"

void run_list_init(run_list *l, const xir_allocator *alloc) {
    *l = (run_list){ .alloc = alloc, .data = l->few, .room = RUNS_FEW };
}

void run_list_free(run_list *l) {
    if (l->data != l->few) mem_free(l->alloc, l->data, l->room * sizeof *l->data);
    run_list_init(l, l->alloc);
}

static bool reserve(run_list *l, size_t need) {
    if (need <= l->room) return true;
    bool few = l->data == l->few;
    void *items = few ? NULL : l->data;
    size_t room = few ? 0 : l->room;
    if (!mem_reserve(l->alloc, &items, &room, need, sizeof *l->data)) return false;
    if (few) memcpy(items, l->few, l->size * sizeof *l->data);
    l->data = items;
    l->room = room;
    return true;
}

static bool same_items(const xir_run *a, const xir_run *b) {
    return a->m == b->m && a->exp == b->exp && memcmp(&a->value, &b->value, sizeof a->value) == 0;
}

xir_status run_list_add(run_list *l, int64_t count, int64_t m, int64_t exp, float value) {
    if (count < 0) return XIR_E_BOUNDS;
    if (count == 0) return XIR_OK;
    xir_run run = { .m = m, .exp = exp, .value = value };
    xir_run *last = l->size ? &l->data[l->size - 1] : NULL;
    if (!add_i64(last ? last->end : 0, count, &run.end)) return XIR_E_LIMIT;
    if (last && same_items(last, &run)) {
        last->end = run.end;
        return XIR_OK;
    }
    if (!reserve(l, l->size + 1)) return XIR_E_MEMORY;
    l->data[l->size++] = run;
    return XIR_OK;
}

/* The first run that ends after item i. */
static size_t first_past(xir_runs runs, int64_t i) {
    size_t low = 0, high = runs.size;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs.data[middle].end > i) high = middle;
        else low = middle + 1;
    }
    return low;
}

xir_status run_list_append(run_list *l, xir_runs runs, int64_t start, int64_t end) {
    if (start < 0 || start > end || end > runs_total(runs)) return XIR_E_BOUNDS;
    int64_t total = runs_total(run_list_runs(l));
    for (size_t i = first_past(runs, start); i < runs.size && start < end; i++) {
        const xir_run *run = &runs.data[i];
        int64_t stop = run->end < end ? run->end : end;
        xir_status status = run_list_add(l, stop - start, run->m, run->exp, run->value);
        if (status) {
            run_list_cut(l, total);
            return status;
        }
        start = stop;
    }
    return XIR_OK;
}

void run_list_cut(run_list *l, int64_t total) {
    if (total >= runs_total(run_list_runs(l))) return;
    l->size = first_past(run_list_runs(l), total - 1) + (total > 0);
    if (total > 0) l->data[l->size - 1].end = total;
}

/* The runs that overlap the range are replaced by at most three: the rest of the first, the range, the rest of the
 * last. A rest that equals the range is merged with it, and so is a neighbour if there is no such rest. */
xir_status run_list_set(run_list *l, int64_t start, int64_t end, int64_t m) {
    xir_runs old = run_list_runs(l);
    if (start < 0 || start > end || end > runs_total(old)) return XIR_E_BOUNDS;
    if (start == end) return XIR_OK;
    size_t first = first_past(old, start), last = first_past(old, end - 1), n = 0;
    xir_run now = { .end = end, .m = m }, pieces[3];
    if (start > (first ? old.data[first - 1].end : 0)) {
        xir_run left = old.data[first];
        left.end = start;
        if (!same_items(&left, &now)) pieces[n++] = left;
    } else if (first && same_items(&old.data[first - 1], &now)) {
        first--;
    }
    bool rest = end < old.data[last].end;
    if (!rest && last + 1 < old.size && same_items(&old.data[last + 1], &now)) now.end = old.data[++last].end;
    if (rest && same_items(&old.data[last], &now)) now.end = old.data[last].end, rest = false;
    pieces[n++] = now;
    if (rest) pieces[n++] = old.data[last];

    size_t gone = last + 1 - first;
    if (!reserve(l, l->size - gone + n)) return XIR_E_MEMORY;
    memmove(l->data + first + n, l->data + last + 1, (l->size - last - 1) * sizeof *l->data);
    memcpy(l->data + first, pieces, n * sizeof *pieces);
    l->size += n - gone;
    return XIR_OK;
}

const xir_run *runs_find(xir_runs runs, int64_t i) {
    size_t at = i < 0 ? runs.size : first_past(runs, i);
    return at < runs.size ? &runs.data[at] : NULL;
}

bool runs_canonical(xir_runs runs) {
    for (size_t i = 0; i < runs.size; i++) {
        if (runs.data[i].end <= (i ? runs.data[i - 1].end : 0)) return false;
        if (i && same_items(&runs.data[i - 1], &runs.data[i])) return false;
    }
    return true;
}
