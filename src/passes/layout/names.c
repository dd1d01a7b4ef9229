/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The names and tags by which users know values. The tag source.dims, which names the dims of a value as its source
 * does, follows the axes. */
#include "layout/layout.h"
#include "source_tags.h"
#include "support/names.h"

bool name_exists(const xir_value *v) { return value_more_of(v) && value_more_of(v)->name->size; }

bool name_is_better(const xir_value *of, const xir_value *than) {
    return name_exists(of) && (!name_exists(than) || name_is_made_from(xir_value_name(than), xir_value_name(of)));
}

bool tags_follow(xir_value *v, axis_order by) {
    bool same = by == ORDER_SAME || order_is_merged(by) || !value_more_of(v);
    const xir_any *dims = same ? NULL : source_tag_find(value_more_of(v)->tags, SOURCE_DIMS);
    size_t rank = xir_type_rank(v->type);
    if (!dims || dims->kind != XIR_ANY_LIST || dims->as.list.size != rank || rank > MOST_AXES) return true;
    xir_any items[MOST_AXES];
    for (size_t i = 0; i < rank; i++) items[i] = dims->as.list.items[order_at(by, i)];
    xir_any now = xir_any_list(items, rank);
    return source_tag_set(v, SOURCE_DIMS, &now) == XIR_OK;
}

bool name_move(xir_value *from, xir_value *to, axis_order by) {
    if (!value_more_of(from) || (!name_exists(from) && !value_more_of(from)->tags)) return true;
    value_more *more = value_need_more(to);
    if (!more) return false;
    const xir_map *tags = value_more_of(from)->tags;
    more->name = value_more_of(from)->name;
    if (tags) more->tags = tags;
    value_more_of(from)->name = &name_empty;
    value_more_of(from)->tags = NULL;
    return !tags || tags_follow(to, by);
}

bool names_swap(xir_value *a, xir_value *b, axis_order to_b, axis_order to_a) {
    value_more *x = value_need_more(a), *y = value_need_more(b);
    if (!x || !y) return false;
    const label *name = x->name;
    const xir_map *tags = x->tags;
    x->name = y->name;
    x->tags = y->tags;
    y->name = name;
    y->tags = tags;
    return tags_follow(a, to_a) && tags_follow(b, to_b);
}
