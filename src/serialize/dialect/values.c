/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The value that a name or a number refers to. A use before the definition makes a value without a producer; the
 * definition then takes over its uses and its id. A value that is still undefined at the end stays, for a check to
 * find. */
#include "dialect/dialect.h"

static bool is_open(const xir_value *v) { return !value_op(v) && !value_is_params(v); }

bool dialect_expect_names(dialect *d, size_t n) {
    if (dialect_failed(d)) return false;
    return name_table_reserve(&d->names, n) || trace_memory(&d->trace);
}

bool dialect_expect_numbers(dialect *d, size_t n) {
    dialect_list *numbers = &d->numbers;
    if (dialect_failed(d)) return false;
    if (n <= numbers->size) return true;
    if (!mem_reserve(d->alloc, &numbers->data, &numbers->room, n, sizeof(xir_value *))) return trace_memory(&d->trace);
    memset((xir_value **)numbers->data + numbers->size, 0, (n - numbers->size) * sizeof(xir_value *));
    numbers->size = n;
    return true;
}

/* A value without a value_more gets one together with its label, in one allocation. */
bool dialect_name_value(dialect *d, xir_value *v, xir_str text) {
    if (!text.size) return true;
    if (value_more_of(v)) {
        const label *name = net_name(d->net, text);
        if (name) value_more_of(v)->name = name;
        return name || trace_memory(&d->trace);
    }
    size_t size = sizeof(value_more) + sizeof(label) + text.size;
    value_more *more = text.size <= INT32_MAX ? arena_take(&d->net->arena, size) : NULL;
    if (!more) return trace_memory(&d->trace);
    label *name = (label *)(void *)(more + 1);
    name->size = (uint32_t)text.size;
    memcpy(name->bytes, text.data, text.size);
    *more = (value_more){ .net = d->net, .name = name };
    value_set_more(v, more);
    return true;
}

/* ---- finding --------------------------------------------------------------------------------------------------- */

/* The slot of a number; NULL with a failure. */
static xir_value **numbered(dialect *d, dialect_ref ref) {
    if (ref.hash - 1 < d->numbers.size) return (xir_value **)d->numbers.data + (ref.hash - 1);
    DIALECT_FAIL(d, XIR_NO_BYTE, XIR_E_BOUNDS, "found value %" PRIu64 ", but there are only %zu", ref.hash - 1,
                 d->numbers.size);
    return NULL;
}

xir_value *dialect_find(dialect *d, dialect_ref ref) {
    if (ref.value) return ref.value;
    if (ref.text.size) return name_find(&d->names, ref.text, ref.hash);
    return ref.hash && ref.hash - 1 < d->numbers.size ? ((xir_value **)d->numbers.data)[ref.hash - 1] : NULL;
}

static xir_value *make_orphan(dialect *d, dialect_ref ref) {
    xir_value **place = ref.text.size ? NULL : numbered(d, ref);
    if (!place && !ref.text.size) return NULL;
    xir_value *v = value_make_orphan(d->net, NULL);
    bool ok = v && dialect_name_value(d, v, ref.text) && (place || name_add(&d->names, v, ref.hash));
    if (!ok) {
        trace_memory(&d->trace);
        return NULL;
    }
    if (place) *place = v;
    return v;
}

xir_value *dialect_use(dialect *d, dialect_ref ref) {
    if (dialect_failed(d)) return NULL;
    xir_value *v = dialect_find(d, ref);
    if (!v && !(v = make_orphan(d, ref))) return NULL;
    if (v->id < 0) v->id = d->net->next_value_id++;   /* constants get their id at their first use */
    return v;
}

/* ---- defining -------------------------------------------------------------------------------------------------- */

static bool mark_again(dialect *d, xir_value *v) {
    const xir_map *tags = NULL;
    return dialect_tag(d, &tags, source_tag_key(SOURCE_DUPLICATE).data, xir_any_bool(true)) &&
           dialect_value_tags(d, v, tags);
}

/* Of two constants the first gets the mark, because the second is unused and will be dropped; otherwise the later value
 * gets it. */
static bool is_again(dialect *d, xir_value *known, xir_value *v) { return mark_again(d, value_op(v) ? v : known); }

/* A declaration of a use is kept, unless the definition says otherwise. */
static bool take_over(dialect *d, xir_value *known, xir_value *v) {
    const xir_map *tags = v->type || value_more_of(v) == NULL ? NULL : value_more_of(v)->tags;
    v->id = known->id;
    if (!v->type && !tags) {
        v->type = known->type;
        if (xir_value_tags(known) && !dialect_value_tags(d, v, value_more_of(known)->tags)) return false;
    }
    value_adopt(known, v);
    return true;
}

static bool define_number(dialect *d, xir_value *v, dialect_ref ref) {
    xir_value **place = numbered(d, ref), *known = place ? *place : NULL;
    if (!place) return false;
    bool open = known && is_open(known) && !d->about->renames;
    if (open && !take_over(d, known, v)) return false;
    if (!open && v->id < 0 && value_op(v)) v->id = d->net->next_value_id++;
    if (known && !open && !d->about->renames) return is_again(d, known, v);
    *place = v;
    return true;
}

bool dialect_define(dialect *d, xir_value *v, dialect_ref ref) {
    if (dialect_failed(d)) return false;
    if (!ref.text.size) {
        if (ref.hash) return define_number(d, v, ref);
        if (value_op(v)) v->id = d->net->next_value_id++;
        return true;
    }
    xir_value *known = name_find(&d->names, ref.text, ref.hash);
    if (known && (d->about->renames || is_open(known))) {
        name_replace(&d->names, known, v, ref.hash);
        if (!d->about->renames) return take_over(d, known, v);
        if (v->id < 0 && value_op(v)) v->id = d->net->next_value_id++;
        return true;
    }
    if (v->id < 0 && value_op(v)) v->id = d->net->next_value_id++;
    if (!known) return name_add(&d->names, v, ref.hash) || trace_memory(&d->trace);
    return is_again(d, known, v);
}

bool dialect_declare(dialect *d, xir_value *v, const dialect_declared *declared) {
    if (dialect_failed(d)) return false;
    if (v->type || value_is_params(v) || xir_map_find(xir_value_tags(v), xir_str_of(d->type_key))) return true;
    v->type = declared->type;
    return dialect_value_tags(d, v, declared->tags);
}
