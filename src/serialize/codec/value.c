/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading values. A file writes a value in full at each use. The copies are one value, found by v_id, and must be
 * equal. A value may be used before its producer is defined, or have none: an orphan stands for it. */
#include "codec/read.h"

/* ---- tables of ids ----------------------------------------------------------------------------------------- */

/* A list whose items begin with their id. */
typedef struct id_list { const void *data; size_t size, stride; } id_list;

static int64_t id_at(const id_list *list, size_t i) {
    int64_t id;
    memcpy(&id, (const char *)list->data + i * list->stride, sizeof id);
    return id;
}

/* Not a hash map of pointers: the keys are ids in the list. Ids usually grow, and neighbours share a cache line. */
static size_t first_slot(const decoder *d, const seen_table *t, int64_t id) {
    uint64_t block = ((uint64_t)id >> 8 ^ d->seed) * 0x9E3779B97F4A7C15u;
    return (size_t)((block >> 24) + (uint64_t)id) & (t->room - 1);
}

static void put_seen(const decoder *d, seen_table *t, const id_list *list, size_t i) {
    size_t at = first_slot(d, t, id_at(list, i));
    while (t->slots[at]) at = (at + 1) & (t->room - 1);
    t->slots[at] = (uint32_t)i + 1;
}

/* Brings the table up to date. Files whose ids grow never look one up, so for them it is never built. */
static bool update_table(decoder *d, seen_table *t, const id_list *list) {
    if (list->size >= UINT32_MAX) return trace_fail(&d->trace, XIR_E_LIMIT, XIR_NO_BYTE, "more than 2^32 ids");
    if (list->size * 2 > t->room) {
        size_t room = t->room ? t->room : 64;
        while (room < list->size * 2) room *= 2;
        room *= 2;
        uint32_t *slots = mem_new(context_alloc(d->ctx), room * sizeof *slots);
        if (!slots) return trace_memory(&d->trace);
        mem_free(context_alloc(d->ctx), t->slots, t->room * sizeof *t->slots);
        memset(slots, 0, room * sizeof *slots);
        *t = (seen_table){ .slots = slots, .room = room };
    }
    while (t->count < list->size) put_seen(d, t, list, t->count++);
    return true;
}

/* The index of an id in the list; SIZE_MAX if it is missing or memory ran out, which is recorded. */
static size_t find_seen(decoder *d, seen_table *t, const id_list *list, int64_t id) {
    if (!list->size || !update_table(d, t, list)) return SIZE_MAX;
    for (size_t at = first_slot(d, t, id); t->slots[at]; at = (at + 1) & (t->room - 1)) {
        if (id_at(list, t->slots[at] - 1) == id) return t->slots[at] - 1;
    }
    return SIZE_MAX;
}

static seen_value *find_value(decoder *d, int64_t id) {
    if (id > d->most_value_id) return NULL;
    size_t i = find_seen(d, &d->value_table, &(id_list){ d->values, d->n_values, sizeof *d->values }, id);
    return i == SIZE_MAX ? NULL : &d->values[i];
}

/* One large block, in huge pages if possible: growing step by step takes a fourteenth of the time that reading
 * FlatBuffers takes. */
static void expect(decoder *d, void **items, size_t *room, size_t n, size_t size) {
    if (n > *room && mem_reserve(context_alloc(d->ctx), items, room, n, size)) memory_advise_huge(*items, *room * size);
}

void decoder_expect(decoder *d, size_t ops) {
    expect(d, (void **)&d->values, &d->value_room, ops, sizeof *d->values);
    expect(d, (void **)&d->op_ids, &d->op_id_room, ops, sizeof *d->op_ids);
}

static bool add_value(decoder *d, int64_t id, xir_value *v, const void *at) {
    if (d->n_values == d->value_room &&
        !mem_reserve(context_alloc(d->ctx), (void **)&d->values, &d->value_room, d->n_values + 1, sizeof *d->values)) {
        return trace_memory(&d->trace);
    }
    d->values[d->n_values++] = (seen_value){ id, v, at };
    if (id > d->most_value_id) d->most_value_id = id;
    return true;
}

static bool add_op_id(decoder *d, int64_t id) {
    if (d->n_op_ids == d->op_id_room &&
        !mem_reserve(context_alloc(d->ctx), (void **)&d->op_ids, &d->op_id_room, d->n_op_ids + 1, sizeof *d->op_ids)) {
        return trace_memory(&d->trace);
    }
    d->op_ids[d->n_op_ids++] = id;
    if (id > d->most_op_id) d->most_op_id = id;
    return true;
}

static bool has_op_id(decoder *d, int64_t id) {
    return id <= d->most_op_id &&
           find_seen(d, &d->op_table, &(id_list){ d->op_ids, d->n_op_ids, sizeof *d->op_ids }, id) != SIZE_MAX;
}

bool note_op_id(decoder *d, int64_t id, bool *taken) {
    *taken = has_op_id(d, id);
    if (d->trace.status || *taken) return !d->trace.status;
    return add_op_id(d, id);
}

bool decoder_is_new_slow(decoder *d, int64_t op_id, int64_t value_id) {
    return !has_op_id(d, op_id) && !find_value(d, value_id) && !d->trace.status;
}

bool decoder_take_new(decoder *d, xir_op *op, int64_t op_id, int64_t value_id, const void *at) {
    xir_value *output = op_outputs(op);
    d->n_ops++;
    if (!op_set_id(op, op_id) || !value_set_id(output, value_id)) return trace_memory(&d->trace);
    return add_op_id(d, op_id) && add_value(d, value_id, output, at);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static bool read_type(decoder *d, source *s, codec_memo *likely, const xir_type **out) {
    if (likely->start && s->ops->repeats(s, likely)) {
        *out = likely->object;
        return true;
    }
    for (uint32_t i = 0; i < RECENT; i++) {
        const codec_memo *memo = &d->recent_types[i];
        if (memo->start && s->ops->repeats(s, memo)) {
            *likely = *memo;
            *out = memo->object;
            return true;
        }
    }
    const void *start = s->at;
    if (s->ops->shape(s) == SHAPE_NULL) {
        *out = NULL;
        return s->ops->null(s);
    }
    const xir_object *type;
    if (!decode_object(d, s, d->ctx->types[CLASS_type], &type)) return false;
    *out = (const xir_type *)type;
    *likely = source_memo(s, start, type);
    d->recent_types[d->next_type++ % RECENT] = *likely;
    return true;
}

static bool read_mtype(decoder *d, source *s, const xir_mtype **out) {
    const xir_object *mtype;
    if (!decode_object(d, s, d->ctx->types[CLASS_mtype], &mtype)) return false;
    *out = mtype->cls == d->ctx->types[CLASS_host_mem] ? NULL : (const xir_mtype *)mtype;
    return true;
}

/* Ids start at 0. Outside networks a negative id means "none": reading assigns a new one. */
bool read_id(decoder *d, source *s, const char *what, int64_t *out) {
    const void *at = s->at;
    if (!s->ops->integer(s, out)) return false;
    if ((*out < 0 && (!d->existing || d->adopts)) || *out == INT64_MAX) {
        return source_fail(s, at, XIR_E_BOUNDS, "%s %" PRId64 " is outside 0 to %" PRId64, what, *out, INT64_MAX - 1);
    }
    return true;
}

static bool read_value_class(source *s, bool *is_params) {
    const void *at = s->at;
    xir_str key;
    if (!s->ops->text(s, &key)) return false;
    *is_params = xir_str_equal(key, params_class_key);
    if (*is_params || xir_str_equal(key, value_class_key)) return true;
    return source_fail(s, at, XIR_E_TYPE, "expected %s or %s, found %.*s", value_class_key.data,
                      params_class_key.data, CLIP(key));
}

static bool read_value_key(decoder *d, source *s, value_key key, codec_memo *likely, value_in *in) {
    switch (key) {
    case VALUE_ALLOW: return s->ops->boolean(s, &in->allow);
    case VALUE_TYPE:  return read_value_class(s, &in->params);
    case VALUE_DTYPE: return read_type(d, s, likely, &in->type);
    case VALUE_MTYPE: return read_mtype(d, s, &in->mtype);
    case VALUE_NAME:  return s->ops->text(s, &in->name);
    case VALUE_TAGS:  return decode_map(d, s, &in->tags, false);
    case VALUE_ID:    return read_id(d, s, "v_id", &in->id);
    case VALUE_KEYS:  break;
    }
    return false;
}

static int find_value_key(xir_str key) {
    int i = 0;
    while (i < VALUE_KEYS && !xir_str_equal(key, xir_str_of(value_keys[i]))) i++;
    return i;
}

/* The members of a value up to its dtype are one of a few texts. */
static bool recall_begin(decoder *d, source *s, value_in *in) {
    for (size_t i = 0; i < sizeof d->value_begin / sizeof d->value_begin[0]; i++) {
        const value_stretch *v = &d->value_begin[i];
        if (!v->memo.start || !s->ops->skip_members(s, &v->memo)) continue;
        in->params = v->params;
        in->allow = v->allow;
        in->seen = v->seen;
        return true;
    }
    return false;
}

static void remember_begin(decoder *d, const source *s, const void *begin, uint32_t left, const value_in *in) {
    uint32_t known = UINT32_C(1) << VALUE_ALLOW | UINT32_C(1) << VALUE_TYPE | UINT32_C(1) << VALUE_DTYPE;
    if (!s->ops->skip_members || in->seen & ~known) return;
    d->value_begin[in->params + in->allow] = (value_stretch){
        .memo = source_stretch(begin, s->at, left - s->left), .seen = in->seen, .params = in->params,
        .allow = in->allow };
}

/* From the dtype to the v_id most values are the same: a memory type, no name, no tags. */
static bool recall_middle(decoder *d, source *s, value_in *in) {
    const value_stretch *v = &d->value_middle;
    if (!v->memo.start || in->seen & v->seen || !s->ops->skip_members(s, &v->memo)) return false;
    in->mtype = v->mtype;
    in->seen |= v->seen;
    return true;
}

static void remember_middle(decoder *d, const source *s, const void *begin, uint32_t left, uint32_t between,
                            const value_in *in) {
    uint32_t all = UINT32_C(1) << VALUE_MTYPE | UINT32_C(1) << VALUE_NAME | UINT32_C(1) << VALUE_TAGS |
                   UINT32_C(1) << VALUE_ID;
    if (!s->ops->skip_members || between != all || in->name.size || in->tags.size) return;
    d->value_middle = (value_stretch){ .memo = source_stretch(begin, s->at, left - s->left), .seen = all,
                                       .mtype = in->mtype };
}

/* The members of a value's map. */
static bool read_value_members(decoder *d, source *s, codec_memo *likely, value_in *in, gathered *extra, frame *f) {
    int next = VALUE_TYPE;
    const void *begin = s->at, *middle = NULL;   /* after the dtype */
    uint32_t before = 0;                         /* `seen` at that point */
    uint32_t begin_left = s->left, middle_left = 0;
    bool recall = s->ops->skip_members && recall_begin(d, s, in);
    for (bool first = true;; first = false) {
        int key;
        if (recall) {
            key = VALUE_DTYPE;
        } else if (middle == s->at && recall_middle(d, s, in)) {
            key = VALUE_ID;
        } else {
            if (next < VALUE_KEYS && s->ops->key_is(s, first, &d->value[next])) {
                key = next;
                f->key = d->value[key].name;
            } else {
                f->key = (xir_str){ NULL, 0 };
                int stepped = s->ops->key(s, first, &f->key);
                if (stepped != 1) return stepped == 0;
                key = find_value_key(f->key);
            }
            if (key == VALUE_KEYS) {
                if (!add_extra(d, s, extra, f->key, false)) return false;
                before = 0;
                middle = NULL;
                continue;
            }
            if (in->seen >> key & 1) return key_again(d, s, in->at, f->key);
            in->seen |= UINT32_C(1) << key;
            if (key == VALUE_DTYPE && !extra->size) remember_begin(d, s, begin, begin_left, in);
            if (key == VALUE_ID && middle) remember_middle(d, s, middle, middle_left, in->seen & ~before, in);
        }
        recall = false;
        f->key = d->value[key].name;
        next = key + 1;
        if (!read_value_key(d, s, (value_key)key, likely, in)) return false;
        if (key == VALUE_DTYPE) {
            middle = s->at;
            middle_left = s->left;
            before = in->seen;
        }
    }
}

bool read_value(decoder *d, source *s, codec_memo *likely, value_in *in) {
    *in = (value_in){ .at = s->at };
    gathered extra = { 0 };
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_value_members(d, s, likely, in, &extra, &f);
    d->trace.top = f.up;
    if (!ok || !sort_extra(d, s, in->at, &extra, &in->extra)) return false;
    static const value_key needed[] = { VALUE_TYPE, VALUE_ID, VALUE_DTYPE };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (in->seen >> needed[i] & 1) continue;
        return source_fail(s, in->at, XIR_E_MISSING, "a value needs %s", value_keys[needed[i]]);
    }
    if (!in->params && in->seen >> VALUE_ALLOW & 1) {
        return source_fail(s, in->at, XIR_E_TYPE, "only %s has %s", params_class_key.data, value_keys[VALUE_ALLOW]);
    }
    return true;
}

static bool same_value(const xir_value *v, const value_in *in) {
    const value_more *m = value_more_of(v);
    bool constant = m && m->params;
    if (v->type != in->type || constant != in->params || (m ? m->mtype : NULL) != in->mtype) return false;
    if (!m) return !in->name.size && !in->tags.size && !in->extra.size;
    return xir_str_equal(name_text(m->name), in->name) && xir_map_equal(m->tags, &in->tags) &&
           xir_map_equal(m->extra, &in->extra) && (!constant || m->params->allow_no_data == in->allow);
}

/* The parts that few values have. */
static bool set_more(decoder *d, xir_value *v, const value_in *in) {
    if (!in->params && !in->name.size && !in->mtype && !in->tags.size && !in->extra.size) return true;
    value_more *m = value_need_more(v);
    const label *text = m ? net_name(d->net, in->name) : NULL;
    if (!text) return trace_memory(&d->trace);
    m->name = text;
    m->mtype = in->mtype;
    if (in->params) m->params->allow_no_data = in->allow;
    return keep_map(d, &in->tags, &m->tags) && keep_map(d, &in->extra, &m->extra);
}

/* In a network that existed before, ids of values that are not placed yet are in no table. */
static bool set_value_id(decoder *d, xir_value *v, int64_t id) {
    if (id < 0) return true;
    if (!d->existing || value_is_params(v)) return value_set_id(v, id) || trace_memory(&d->trace);
    v->id = id;
    return true;
}

/* The path of the item that begins at a byte, searched from the beginning: this happens once at most. */
static bool find_place(decoder *d, source *s, const void *at, const frame *up, buffer *out) {
    if (s->at == at) {
        trace_path(out, up);
        return true;
    }
    shape found = s->ops->shape(s);
    frame f = { .up = up, .index = found == SHAPE_LIST ? 0 : SIZE_MAX };
    if (found != SHAPE_LIST && found != SHAPE_MAP) return skip_item(d, s) && false;
    if (!s->ops->enter(s)) return false;
    for (bool first = true;; first = false) {
        if (found == SHAPE_LIST && !first) f.index++;
        if ((found == SHAPE_LIST ? s->ops->item(s, first) : s->ops->key(s, first, &f.key)) != 1) return false;
        if (find_place(d, s, at, &f, out)) return true;
        if (s->trace->status) return false;
    }
}

/* Two copies of a value differ: the finding names both places. */
static bool differs(decoder *d, const source *s, const value_in *in, const void *first) {
    trace silent = { .ctx = d->ctx };
    source again = d->root;
    again.trace = &silent;
    buffer path;
    buffer_init(&path, context_alloc(d->ctx));
    bool walks = again.ops && again.ops->enter;   /* otherwise the place is just a byte: texts have no root */
    bool found = first && walks && find_place(d, &again, first, NULL, &path);
    uint64_t byte = s->ops->offset(s, in->at);
    if (first && !walks) {
        trace_fail(&d->trace, XIR_E_CORRUPT, byte,
                   "this copy of v_id %" PRId64 " differs from the one at byte %" PRIu64, in->id,
                   s->ops->offset(s, first));
    } else if (found) {
        trace_fail(&d->trace, XIR_E_CORRUPT, byte, "this copy of v_id %" PRId64 " differs from the one at %.*s", in->id,
                   (int)path.size, path.data);
    } else {
        trace_fail(&d->trace, XIR_E_CORRUPT, byte, "this copy of v_id %" PRId64 " differs from the network's", in->id);
    }
    buffer_free(&path);
    return false;
}

bool use_value(decoder *d, source *s, const value_in *in, xir_value **out) {
    const seen_value *seen = find_value(d, in->id);
    if (d->trace.status) return false;
    xir_value *known = seen ? seen->value : d->existing && in->id >= 0 ? net_find_value(d->net, in->id) : NULL;
    if (known) {
        *out = known;
        return same_value(known, in) || differs(d, s, in, seen ? seen->at : NULL);
    }
    int64_t elements = 0;
    if (in->params && in->type && xir_type_elements(in->type, &elements) == XIR_OK &&
        (uint64_t)elements > d->ctx->limits.max_elements)
        return source_fail(s, in->at, XIR_E_LIMIT, "v_id %" PRId64 " has %" PRId64 " elements: the limit is %" PRIu64,
                           in->id, elements, d->ctx->limits.max_elements);
    xir_value *v = in->params ? params_make(d->net, in->type) : value_make_orphan(d->net, in->type);
    if (!v) return trace_memory(&d->trace);
    *out = v;
    return set_value_id(d, v, in->id) && set_more(d, v, in) && add_value(d, in->id, v, in->at);
}

bool define_value(decoder *d, source *s, xir_op *op, uint32_t i, const value_in *in) {
    xir_value *v = &op_outputs(op)[i];
    seen_value *seen = find_value(d, in->id);
    if (d->trace.status) return false;
    xir_value *there = d->existing && in->id >= 0 && !seen ? net_find_value(d->net, in->id) : NULL;
    bool waits = there && d->adopts && !value_op(there) && !value_is_params(there);
    if ((there && !waits) || (seen && (value_op(seen->value) || value_is_params(seen->value)))) {
        return source_fail(s, in->at, XIR_E_EXISTS, "v_id %" PRId64 " is already used by another value", in->id);
    }
    if (!set_value_id(d, v, in->id) || !set_more(d, v, in)) return false;
    if (waits) {
        if (!same_value(there, in)) return differs(d, s, in, NULL);
        adopted *a = arena_take(&d->scratch, sizeof *a);
        if (!a) return trace_memory(&d->trace);
        *a = (adopted){ there, v, d->adopted };
        d->adopted = a;
    }
    if (!seen) return add_value(d, in->id, v, in->at);
    if (!same_value(seen->value, in)) return differs(d, s, in, seen->at);
    value_adopt(seen->value, v);
    *seen = (seen_value){ in->id, v, in->at };
    return true;
}

bool refresh_value(decoder *d, xir_value **value) {
    if (!*value || value_op(*value) || value_is_params(*value)) return true;
    const seen_value *seen = find_value(d, (*value)->id);
    if (seen) *value = seen->value;
    return !d->trace.status;
}

bool decode_params(decoder *d, source *s, xir_value **out) {
    if (s->ops->params && s->ops->params(s, out)) return true;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, params_class_key.data);
    codec_memo likely = { 0 };
    value_in in;
    if (!read_value(d, s, &likely, &in)) return false;
    if (!in.params) {
        return source_fail(s, in.at, XIR_E_TYPE, "expected %s, found %s", params_class_key.data,
                           value_class_key.data);
    }
    return use_value(d, s, &in, out);
}

