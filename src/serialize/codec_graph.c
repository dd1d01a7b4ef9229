/* Reading values, ops and networks. A value is written in full at each of its uses; the copies are one value, found by v_id,
 * and must say the same. Most uses repeat, byte for byte, what was written at the producer, or at the same input of an
 * earlier op: then nothing is decoded.
 *
 * A value may be used before its producer comes, or without one: an orphan stands for it. */
#include "codec_read.h"

/* ---- tables of ids ------------------------------------------------------------------------------------------------- */

/* An item's number in a list whose items begin with their id. */
typedef struct id_list { const void *data; size_t size, stride; } id_list;

static int64_t id_at(const id_list *list, size_t i) {
    int64_t id;
    memcpy(&id, (const char *)list->data + i * list->stride, sizeof id);
    return id;
}

static size_t first_slot(const decoder *d, const seen_table *t, int64_t id) {
    uint64_t block = ((uint64_t)id >> 8 ^ d->seed) * 0x9E3779B97F4A7C15u;
    return (size_t)((block >> 24) + (uint64_t)id) & (t->room - 1);
}

static void put_seen(const decoder *d, seen_table *t, const id_list *list, size_t i) {
    size_t at = first_slot(d, t, id_at(list, i));
    while (t->slots[at]) at = (at + 1) & (t->room - 1);
    t->slots[at] = (uint32_t)i + 1;
}

/* Brings the table up to date. Files whose ids grow never ask, so it is not made for them. */
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

/* The number of an id in the list; SIZE_MAX if it is not there or there is no memory, which is recorded. */
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

static bool add_value(decoder *d, int64_t id, xir_value *v, const void *at) {
    if (d->n_values == d->value_room &&
        !mem_reserve(context_alloc(d->ctx), (void **)&d->values, &d->value_room, d->n_values + 1, sizeof *d->values)) {
        return trace_memory(&d->trace);
    }
    d->values[d->n_values++] = (seen_value){ id, v, at };
    if (id > d->most_value_id) d->most_value_id = id;
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------------------ */

/* What a file says of a value. */
typedef struct value_in {
    const void      *at;
    const xir_type  *type;
    const xir_mtype *mtype;    /* NULL: host */
    xir_str          name;
    xir_map          tags, extra;
    int64_t          id;
    bool             params, allow;
    uint32_t         seen;     /* bits of value_key */
} value_in;

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

/* Ids are from 0 on; what is below stands for "none" outside networks, where reading numbers anew. */
static bool read_id(decoder *d, source *s, const char *what, int64_t *out) {
    const void *at = s->at;
    if (!s->ops->integer(s, out)) return false;
    if ((*out < 0 && !d->existing) || *out == INT64_MAX) {
        return trace_fail(&d->trace, XIR_E_BOUNDS, s->ops->offset(s, at), "%s %" PRId64 " is outside 0 to %" PRId64, what, *out, INT64_MAX - 1);
    }
    return true;
}

static bool read_value_class(decoder *d, source *s, bool *is_params) {
    const void *at = s->at;
    xir_str key;
    if (!s->ops->text(s, &key)) return false;
    *is_params = xir_str_equal(key, params_class_key);
    if (*is_params || xir_str_equal(key, value_class_key)) return true;
    return trace_fail(&d->trace, XIR_E_TYPE, s->ops->offset(s, at), "%s or %s was expected, %.*s was found", value_class_key.data,
                      params_class_key.data, CLIP(key));
}

static bool read_value_key(decoder *d, source *s, value_key key, codec_memo *likely, value_in *in) {
    switch (key) {
    case VALUE_ALLOW: return s->ops->boolean(s, &in->allow);
    case VALUE_TYPE:  return read_value_class(d, s, &in->params);
    case VALUE_DTYPE: return read_type(d, s, likely, &in->type);
    case VALUE_MTYPE: return read_mtype(d, s, &in->mtype);
    case VALUE_NAME:  return s->ops->text(s, &in->name);
    case VALUE_TAGS:  return decode_map(d, s, &in->tags);
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

/* What a value begins with, up to its dtype, is one of a few texts. */
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

static void remember_begin(decoder *d, const source *s, const void *begin, const value_in *in) {
    uint32_t known = UINT32_C(1) << VALUE_ALLOW | UINT32_C(1) << VALUE_TYPE | UINT32_C(1) << VALUE_DTYPE;
    if (!s->ops->skip_members || in->seen & ~known) return;
    d->value_begin[in->params + in->allow] = (value_stretch){ .memo = source_memo(s, begin, NULL), .seen = in->seen, .params = in->params,
                                                              .allow = in->allow };
}

/* From the dtype to the v_id most values have the same: a place, no name, no tags. */
static bool recall_middle(decoder *d, source *s, value_in *in) {
    const value_stretch *v = &d->value_middle;
    if (!v->memo.start || in->seen & v->seen || !s->ops->skip_members(s, &v->memo)) return false;
    in->mtype = v->mtype;
    in->seen |= v->seen;
    return true;
}

static void remember_middle(decoder *d, const source *s, const void *begin, uint32_t between, const value_in *in) {
    uint32_t all = UINT32_C(1) << VALUE_MTYPE | UINT32_C(1) << VALUE_NAME | UINT32_C(1) << VALUE_TAGS | UINT32_C(1) << VALUE_ID;
    if (!s->ops->skip_members || between != all || in->name.size || in->tags.size) return;
    d->value_middle = (value_stretch){ .memo = source_memo(s, begin, NULL), .seen = all, .mtype = in->mtype };
}

/* The members of a value's map. */
static bool read_value_members(decoder *d, source *s, codec_memo *likely, value_in *in, gathered *extra, frame *f) {
    int next = VALUE_TYPE;
    const void *begin = s->at, *middle = NULL;   /* behind the dtype */
    uint32_t before = 0;                         /* what was seen there */
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
            if (key == VALUE_DTYPE && !extra->size) remember_begin(d, s, begin, in);
            if (key == VALUE_ID && middle) remember_middle(d, s, middle, in->seen & ~before, in);
        }
        recall = false;
        f->key = d->value[key].name;
        next = key + 1;
        if (!read_value_key(d, s, (value_key)key, likely, in)) return false;
        if (key == VALUE_DTYPE) {
            middle = s->at;
            before = in->seen;
        }
    }
}

/* Reads a value's map, whose shape has been asked. */
static bool read_value(decoder *d, source *s, codec_memo *likely, value_in *in) {
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
        return trace_fail(&d->trace, XIR_E_MISSING, s->ops->offset(s, in->at), "a value needs %s", value_keys[needed[i]]);
    }
    if (!in->params && in->seen >> VALUE_ALLOW & 1) {
        return trace_fail(&d->trace, XIR_E_TYPE, s->ops->offset(s, in->at), "only %s has %s", params_class_key.data, value_keys[VALUE_ALLOW]);
    }
    return true;
}

/* A map that the network keeps; NULL if it is empty. False without memory. */
static bool keep_map(decoder *d, const xir_map *from, const xir_map **out) {
    *out = NULL;
    if (!from->size) return true;
    xir_any map = { .kind = XIR_ANY_MAP, .as.map = *from }, copy;
    xir_map *kept = arena_take(&d->net->arena, sizeof *kept);
    if (!kept || !any_copy(&d->net->arena, &map, &copy)) return trace_memory(&d->trace);
    *kept = copy.as.map;
    *out = kept;
    return true;
}

static bool same_value(const xir_value *v, const value_in *in) {
    const value_more *m = v->more;
    bool constant = m && m->params;
    if (v->type != in->type || constant != in->params || (m ? m->mtype : NULL) != in->mtype) return false;
    if (!m) return !in->name.size && !in->tags.size && !in->extra.size;
    return xir_str_equal(name_text(m->name), in->name) && xir_map_equal(m->tags, &in->tags) && xir_map_equal(m->extra, &in->extra) &&
           (!constant || m->params->allow_no_data == in->allow);
}

/* What few values have. */
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

/* In a network that was there before, ids of what is not placed yet are in no table. */
static bool set_value_id(decoder *d, xir_value *v, int64_t id) {
    if (id < 0) return true;
    if (!d->existing || value_is_params(v)) return value_set_id(v, id) || trace_memory(&d->trace);
    v->id = id;
    return true;
}

/* The path of the item that begins at a byte, looked for from the beginning: this happens once at most. */
static bool find_place(decoder *d, source *s, const void *at, const frame *up, buffer *out) {
    if (s->at == at) {
        trace_path(out, up);
        return true;
    }
    shape found = s->ops->shape(s);
    frame f = { .up = up, .index = found == SHAPE_LIST ? 0 : SIZE_MAX };
    xir_any ignored;
    if (found != SHAPE_LIST && found != SHAPE_MAP) return decode_any(d, s, &ignored) && false;
    if (!s->ops->enter(s)) return false;
    for (bool first = true;; first = false) {
        if (found == SHAPE_LIST && !first) f.index++;
        if ((found == SHAPE_LIST ? s->ops->item(s, first) : s->ops->key(s, first, &f.key)) != 1) return false;
        if (find_place(d, s, at, &f, out)) return true;
        if (s->trace->status) return false;
    }
}

/* Two copies of a value say different things: both places are named. */
static bool differs(decoder *d, const source *s, const value_in *in, const void *first) {
    trace silent = { .ctx = d->ctx };
    source again = d->root;
    again.trace = &silent;
    buffer path;
    buffer_init(&path, context_alloc(d->ctx));
    bool found = first && find_place(d, &again, first, NULL, &path);
    uint64_t byte = s->ops->offset(s, in->at);
    if (found) {
        trace_fail(&d->trace, XIR_E_CORRUPT, byte, "this copy of v_id %" PRId64 " differs from the one at %.*s", in->id, CLIP(((xir_str){ path.data, path.size })));
    } else {
        trace_fail(&d->trace, XIR_E_CORRUPT, byte, "this copy of v_id %" PRId64 " differs from the network's", in->id);
    }
    buffer_free(&path);
    return false;
}

/* The value that a use means: the one of this id, or a new one. */
static bool use_value(decoder *d, source *s, const value_in *in, xir_value **out) {
    const seen_value *seen = find_value(d, in->id);
    if (d->trace.status) return false;
    xir_value *known = seen ? seen->value : d->existing && in->id >= 0 ? net_find_value(d->net, in->id) : NULL;
    if (known) {
        *out = known;
        return same_value(known, in) || differs(d, s, in, seen ? seen->at : NULL);
    }
    xir_value *v = in->params ? params_make(d->net, in->type) : value_make_orphan(d->net, in->type);
    if (!v) return trace_memory(&d->trace);
    *out = v;
    return set_value_id(d, v, in->id) && set_more(d, v, in) && add_value(d, in->id, v, in->at);
}

bool decode_params(decoder *d, source *s, xir_value **out) {
    if (s->ops->params && s->ops->params(s, out)) return true;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, params_class_key.data);
    codec_memo likely = { 0 };
    value_in in;
    if (!read_value(d, s, &likely, &in)) return false;
    if (!in.params) {
        return trace_fail(&d->trace, XIR_E_TYPE, s->ops->offset(s, in.at), "%s was expected, %s was found", params_class_key.data, value_class_key.data);
    }
    return use_value(d, s, &in, out);
}

/* ---- ops ------------------------------------------------------------------------------------------------------------------ */

typedef struct op_in {
    codec_plan       *plan;
    const void       *at;
    const xir_target *target;    /* NULL: host */
    xir_str           name;
    int64_t           id;
    bool              has_id;
    xir_map           tags;
    gathered          inputs;    /* xir_value *             */
    gathered          outputs;   /* value_in                */
    gathered          types;     /* of the outputs          */
    codec_memo        output_memos[RECENT];
} op_in;

/* Whether the class's ops can be read by stretches. */
static bool has_stretches(const source *s, const codec_plan *plan) {
    return s->ops->skip_members && plan->cls->plain && plan->cls->n_fields + 8 <= 64;
}

static bool recall(source *s, const codec_memo *memo, xir_value **out) {
    if (!memo->start || !s->ops->repeats(s, memo)) return false;
    *out = (xir_value *)(uintptr_t)memo->object;
    return true;
}

/* The first input is usually what an op just made, the others what they were at the last op of the class. */
static bool recall_input(decoder *d, source *s, const codec_memo *before, bool first, xir_value **out) {
    if (!first && recall(s, before, out)) return true;
    for (uint32_t i = 0; i < RECENT; i++) {
        if (recall(s, &d->recent_values[(d->next_value - 1 - i) % RECENT], out)) return true;
    }
    return first && recall(s, before, out);
}

static bool read_input(decoder *d, source *s, op_in *op) {
    size_t i = op->inputs.size, slot = i < PLAN_SLOTS ? i : PLAN_SLOTS - 1;
    codec_plan *plan = op->plan;
    xir_value *v = NULL;
    if (!recall_input(d, s, &plan->inputs[slot], i == 0, &v)) {
        const void *start = s->at;
        shape found = s->ops->shape(s);
        value_in in;
        if (found == SHAPE_NULL) {
            if (!s->ops->null(s)) return false;
        } else if (found != SHAPE_MAP) {
            return source_expected(s, "a value or null");
        } else {
            if (!read_value(d, s, &plan->input_types[slot], &in) || !use_value(d, s, &in, &v)) return false;
            /* What an orphan stands for may come yet. */
            if (v->producer || value_is_params(v)) plan->inputs[slot] = source_memo(s, start, v);
        }
    }
    xir_value **out = gather(d, &op->inputs, sizeof *out);
    if (out) *out = v;
    return out != NULL;
}

static bool read_output(decoder *d, source *s, op_in *op) {
    size_t i = op->outputs.size, slot = i < PLAN_SLOTS ? i : PLAN_SLOTS - 1;
    const void *start = s->at;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, value_class_key.data);
    value_in *in = gather(d, &op->outputs, sizeof *in);
    if (!in || !read_value(d, s, &op->plan->output_types[slot], in)) return false;
    if (in->params) {
        return trace_fail(&d->trace, XIR_E_TYPE, s->ops->offset(s, start), "%s was expected, %s was found", value_class_key.data, params_class_key.data);
    }
    if (i < RECENT) op->output_memos[i] = source_memo(s, start, NULL);
    const xir_type **type = gather(d, &op->types, sizeof *type);
    if (type) *type = in->type;
    return type != NULL;
}

static bool read_values(decoder *d, source *s, op_in *op, bool (*read)(decoder *, source *, op_in *)) {
    if (s->ops->shape(s) != SHAPE_LIST) return source_expected(s, "a list");
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = 0 };
    d->trace.top = &f;
    int stepped;
    while ((stepped = s->ops->item(s, f.index == 0)) == 1 && read(d, s, op)) f.index++;
    d->trace.top = f.up;
    return stepped == 0;
}

static bool read_target(decoder *d, source *s, const xir_target **out) {
    const xir_object *target;
    if (!decode_object(d, s, d->ctx->types[CLASS_target], &target)) return false;
    *out = target->cls == d->ctx->types[CLASS_host_target] ? NULL : (const xir_target *)target;
    return true;
}

static bool read_op_id(decoder *d, source *s, op_in *in) {
    const void *at = s->at;
    if (!read_id(d, s, "op_id", &in->id)) return false;
    in->has_id = true;
    if (in->id < 0) return true;
    bool taken = d->existing && net_find_op(d->net, in->id);
    if (!taken && in->id <= d->most_op_id) {
        taken = find_seen(d, &d->op_table, &(id_list){ d->op_ids, d->n_op_ids, sizeof *d->op_ids }, in->id) != SIZE_MAX;
        if (d->trace.status) return false;
    }
    if (taken) return trace_fail(&d->trace, XIR_E_EXISTS, s->ops->offset(s, at), "op_id %" PRId64 " is another op's already", in->id);
    if (d->n_op_ids == d->op_id_room &&
        !mem_reserve(context_alloc(d->ctx), (void **)&d->op_ids, &d->op_id_room, d->n_op_ids + 1, sizeof *d->op_ids)) {
        return trace_memory(&d->trace);
    }
    d->op_ids[d->n_op_ids++] = in->id;
    if (in->id > d->most_op_id) d->most_op_id = in->id;
    return true;
}

static bool read_op_base(decoder *d, source *s, int what, op_in *op) {
    switch (what) {
    case KEY_TYPE: {
        xir_str known;
        return s->ops->text(s, &known);
    }
    case KEY_TARGET:  return read_target(d, s, &op->target);
    case KEY_INPUTS:  return read_values(d, s, op, read_input);
    case KEY_NAME:    return s->ops->text(s, &op->name);
    case KEY_OUTPUTS: return read_values(d, s, op, read_output);
    case KEY_TAGS:    return decode_map(d, s, &op->tags);
    case KEY_ID:      return read_op_id(d, s, op);
    default: return false;
    }
}

/* ---- the members of an op ------------------------------------------------------------------------------------------- */

/* The stretch behind the item of a key; NULL if none begins there. */
static stretch *stretch_behind(codec_plan *plan, int what) {
    switch (what) {
    case KEY_INPUTS:  return &plan->stretches[1];
    case KEY_NAME:    return &plan->stretches[2];
    case KEY_ID:      return &plan->stretches[3];
    case KEY_OUTPUTS: return &plan->stretches[4];
    default:          return NULL;
    }
}

static xir_str base_name(int what) {
    switch (what) {
    case KEY_INPUTS: return XIR_STR("inputs");
    case KEY_NAME:   return XIR_STR("name");
    case KEY_ID:     return XIR_STR("op_id");
    default:         return XIR_STR("outputs");
    }
}

/* A stretch that is read the long way, to be remembered. Only what a plain body, the target and no tags hold can be taken over
 * from the op before. */
typedef struct stretching {
    stretch    *of;       /* NULL: nothing is remembered */
    const void *begin;
    uint64_t    seen;
    bool        good;
} stretching;

static void end_stretch(stretching *t, const void *end, uint32_t next, int what) {
    if (!t->of) return;
    *t->of = (stretch){ .seen = t->seen, .next = next, .what = what };
    if (t->good) t->of->memo = (codec_memo){ t->begin, (size_t)((uintptr_t)end - (uintptr_t)t->begin), NULL };
    t->of = NULL;
}

/* Reads the members of an op's map, which has been entered. Bits of the stretches that were passed go into `passed`. */
static bool read_op_members(decoder *d, source *s, void *body, members *m, op_in *op, xir_str *name, uint32_t *passed) {
    codec_plan *plan = op->plan;
    const xir_class *cls = plan->cls;
    bool stretches = has_stretches(s, plan);
    stretching now = { 0 };
    stretch *ahead = stretches ? &plan->stretches[0] : NULL;
    uint32_t next = 0;
    for (bool first = true;; first = false) {
        const void *begin = s->at;
        int what;
        if (ahead) *passed |= UINT32_C(1) << (ahead - plan->stretches);
        if (ahead && ahead->memo.start && !(m->seen[0] & ahead->seen) && s->ops->skip_members(s, &ahead->memo)) {
            m->seen[0] |= ahead->seen;
            next = ahead->next;
            what = ahead->what;
            ahead = NULL;
            if (what == KEY_NONE) continue;
            *name = base_name(what);
        } else {
            if (ahead) now = (stretching){ .of = ahead, .begin = begin, .good = true };
            ahead = NULL;
            int stepped = next_member(s, plan, first, &next, name, &what);
            if (stepped == 0) end_stretch(&now, begin, next, KEY_NONE);
            if (stepped != 1) return stepped == 0;
            if (what == KEY_NONE) {
                now.good = false;
                if (!add_extra(d, s, &m->extra, *name, true)) return false;
                continue;
            }
            if (!members_note(d, s, m, cls, what, *name)) return false;
            now.seen |= UINT64_C(1) << (member_bit(cls, what) % 64);
        }
        if (stretches && (ahead = stretch_behind(plan, what)) != NULL) end_stretch(&now, s->at, next, what);
        if (!(what >= 0 ? decode_op_field(d, s, &cls->fields[what], body) : read_op_base(d, s, what, op))) return false;
        if (op->tags.size) now.good = false;
    }
}

/* Rows that the file left out hold their default, not what the last op had. */
static void reset_absent(const xir_class *cls, void *body, uint64_t absent) {
    for (; absent; absent &= absent - 1) {
        const xir_field *f = &cls->fields[__builtin_ctzll(absent)];
        size_t size = f->kind == XIR_KIND_BOOL ? sizeof(bool) : f->kind == XIR_KIND_ENUM ? sizeof(int) : 8;
        memcpy(body_at(body, f), body_at(cls->defaults, f), size);
    }
}

static bool read_op(decoder *d, source *s, void *body, members *m, op_in *op) {
    codec_plan *plan = op->plan;
    const xir_class *cls = plan->cls;
    bool again = has_stretches(s, plan) && plan->last_attrs;
    memcpy(body, again ? plan->last_body : cls->defaults, cls->body_size);
    if (again) op->target = plan->last_target;
    uint32_t passed = 0;
    if (!members_begin(d, s, m, cls) || !s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_op_members(d, s, body, m, op, &f.key, &passed);
    d->trace.top = f.up;
    if (!ok || !has_stretches(s, plan)) return ok;
    reset_absent(cls, body, members_absent(m, cls));
    if (!(m->seen[0] >> member_bit(cls, KEY_TARGET) & 1)) op->target = NULL;
    plan->last_target = op->target;
    /* What was not passed says something about an earlier op. */
    for (uint32_t i = 0; i < STRETCHES; i++) {
        if (!(passed >> i & 1)) plan->stretches[i].memo.start = NULL;
    }
    return true;
}

/* What an op begins with says its class, if _type_key is in it. */
static codec_plan *recall_plan(decoder *d, const source *s) {
    for (uint32_t i = 0; i < RECENT; i++) {
        codec_plan *plan = d->recent_plans[i];
        const stretch *begin = plan ? &plan->stretches[0] : NULL;
        if (!begin || !begin->memo.start || !(begin->seen >> member_bit(plan->cls, KEY_TYPE) & 1)) continue;
        source copy = *s;
        if (s->ops->skip_members(&copy, &begin->memo)) return plan;
    }
    return NULL;
}

/* The plan of the op that comes. */
static codec_plan *find_plan(decoder *d, source *s) {
    uint64_t byte = source_here(s);
    xir_str key;
    if (!s->ops->member(s, XIR_STR("_type_key"), &key)) {
        xir_any ignored;
        source copy = *s;
        if (decode_any(d, &copy, &ignored)) trace_fail(&d->trace, XIR_E_MISSING, byte, "an op needs _type_key");
        return NULL;
    }
    const xir_class *cls = xir_class_find(d->ctx, key);
    if (cls && !cls->is_op) {
        trace_fail(&d->trace, XIR_E_TYPE, byte, "an op was expected, %.*s was found", CLIP(key));
        return NULL;
    }
    if (!cls) cls = class_opaque(d->ctx, key, true);
    codec_plan *plan = cls ? codec_plan_of(&d->plans, cls) : NULL;
    if (!plan) trace_memory(&d->trace);
    return plan;
}

static codec_plan *plan_of_op(decoder *d, source *s) {
    codec_plan *plan = s->ops->skip_members ? recall_plan(d, s) : NULL;
    if (plan) return plan;
    plan = find_plan(d, s);
    for (uint32_t i = 0; plan && i < RECENT; i++) {
        if (d->recent_plans[i] == plan) return plan;
    }
    if (plan) d->recent_plans[d->next_plan++ % RECENT] = plan;
    return plan;
}

/* The uses of an orphan become the value's. */
static void adopt_uses(xir_value *orphan, xir_value *v) {
    while (orphan->uses) {
        xir_use *use = orphan->uses;
        xir_op *user = use->user;
        use_unlink(use);
        use_link(use, user, v);
    }
}

static bool define_output(decoder *d, source *s, xir_op *op, uint32_t i, const value_in *in) {
    xir_value *v = &op->outputs[i];
    seen_value *seen = find_value(d, in->id);
    if (d->trace.status) return false;
    bool taken = d->existing && in->id >= 0 && net_find_value(d->net, in->id);
    if (taken || (seen && (seen->value->producer || value_is_params(seen->value)))) {
        return trace_fail(&d->trace, XIR_E_EXISTS, s->ops->offset(s, in->at), "v_id %" PRId64 " is another value's already", in->id);
    }
    if (!set_value_id(d, v, in->id) || !set_more(d, v, in)) return false;
    if (!seen) return add_value(d, in->id, v, in->at);
    if (!same_value(seen->value, in)) return differs(d, s, in, seen->at);
    adopt_uses(seen->value, v);
    *seen = (seen_value){ in->id, v, in->at };
    return true;
}

/* The op's outputs have their places: now what the file says of them. */
static bool define_outputs(decoder *d, source *s, xir_op *op, const op_in *in) {
    const value_in *outputs = in->outputs.data;
    frame list = { .up = d->trace.top, .key = XIR_STR("outputs"), .index = SIZE_MAX };
    frame item = { .up = &list, .index = 0 };
    d->trace.top = &item;
    while (item.index < op->n_outputs && define_output(d, s, op, (uint32_t)item.index, &outputs[item.index])) item.index++;
    d->trace.top = list.up;
    for (uint32_t i = 0; i < op->n_outputs && i < RECENT; i++) {
        codec_memo *memo = &d->recent_values[d->next_value++ % RECENT];
        *memo = in->output_memos[i];
        memo->object = &op->outputs[i];
    }
    return item.index == op->n_outputs;
}

/* What the plan's last op had is not looked up again. */
static const void *share_attrs(decoder *d, codec_plan *plan, const void *body) {
    const xir_class *cls = plan->cls;
    if (!cls->plain) return net_attrs(d->net, cls, body);
    if (plan->last_attrs && memcmp(plan->last_body, body, cls->body_size) == 0) return plan->last_attrs;
    memcpy(plan->last_body, body, cls->body_size);
    plan->last_attrs = net_attrs(d->net, cls, body);
    return plan->last_attrs;
}

static bool set_op_more(decoder *d, xir_op *op, const op_in *in, const xir_map *extra, uint64_t absent) {
    if (!in->tags.size && !extra->size && !absent) return true;
    op_more *more = op_need_more(op);
    if (!more) return trace_memory(&d->trace);
    more->absent = absent;
    return keep_map(d, &in->tags, &more->tags) && keep_map(d, extra, &more->extra);
}

/* Of a network that was there before: what is made is forgotten after a failure. */
static bool note_op(decoder *d, xir_op *op) {
    if (!d->existing) return true;
    made_op *made = arena_take(&d->keep, sizeof *made);
    if (!made) return false;
    *made = (made_op){ op, d->made };
    d->made = made;
    return true;
}

static bool build_op(decoder *d, source *s, op_in *in, const void *body, const xir_map *extra, uint64_t absent, xir_op **out) {
    const void *attrs = share_attrs(d, in->plan, body);
    xir_value *const *inputs = in->inputs.data;
    size_t n = in->inputs.size;
    while (n && !inputs[n - 1]) n--;   /* absent inputs at the end are left out */
    xir_op *op = attrs ? op_make(d->net, in->plan->cls, attrs, n) : NULL;
    if (!op || !op_make_outputs(op, in->types.data, in->types.size) || !note_op(d, op)) return trace_memory(&d->trace);
    op->name = net_name(d->net, in->name);
    if (!op->name) return trace_memory(&d->trace);
    if (in->target) op->target = in->target;
    for (size_t i = 0; i < n; i++) use_link(&op->inputs[i], op, inputs[i]);
    if (!set_op_more(d, op, in, extra, absent)) return false;
    if (!define_outputs(d, s, op, in)) return false;
    if (!in->plan->cls->plain && op_adopt_children(op, attrs)) return trace_memory(&d->trace);
    if (in->id >= 0 && d->existing) op->id = in->id;
    else if (in->id >= 0 && !op_set_id(op, in->id)) return trace_memory(&d->trace);
    *out = op;
    return true;
}

bool decode_op(decoder *d, source *s, xir_op **out) {
    enum { BODY = 256, FEW = 4 };
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, "an op");
    codec_plan *plan = plan_of_op(d, s);
    if (!plan) return false;
    const xir_class *cls = plan->cls;
    _Alignas(16) char space[BODY];
    xir_value *inputs[FEW];
    value_in outputs[2];
    const xir_type *types[2];
    void *body = cls->body_size <= BODY ? space : arena_take(&d->scratch, cls->body_size);
    if (!body) return trace_memory(&d->trace);
    op_in in = { .plan = plan, .at = s->at, .id = -1, .inputs = { inputs, 0, FEW }, .outputs = { outputs, 0, 2 },
                 .types = { (void *)types, 0, 2 } };
    members m;
    xir_map extra;
    if (!read_op(d, s, body, &m, &in)) return false;
    if (!in.has_id) return trace_fail(&d->trace, XIR_E_MISSING, s->ops->offset(s, in.at), "an op needs op_id");
    if (!sort_extra(d, s, in.at, &m.extra, &extra)) return false;
    return build_op(d, s, &in, body, &extra, members_absent(&m, cls), out);
}

/* ---- networks -------------------------------------------------------------------------------------------------------------- */

static bool read_ops(decoder *d, source *s) {
    if (s->ops->shape(s) != SHAPE_LIST) return source_expected(s, "a list");
    if (!s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = 0 };
    d->trace.top = &f;
    int stepped;
    for (; (stepped = s->ops->item(s, f.index == 0)) == 1; f.index++) {
        xir_op *op;
        if (!decode_op(d, s, &op)) break;
        op_link(op, NULL);
        decoder_rewind(d);
    }
    d->trace.top = f.up;
    return stepped == 0;
}

static bool keep_text(decoder *d, network_key key, xir_str text) {
    return xir_network_set_text(d->net, network_key_text(key), text) == XIR_OK || trace_memory(&d->trace);
}

static bool set_version(decoder *d, xir_str text) {
    if (!keep_text(d, NETWORK_XIR_VERSION, text)) return false;
    d->round = !version_before(d->net->version, 3, 30);
    return true;
}

static bool read_network_class(decoder *d, source *s) {
    const void *at = s->at;
    xir_str key;
    if (!s->ops->text(s, &key)) return false;
    return xir_str_equal(key, network_class_key) ||
           trace_fail(&d->trace, XIR_E_TYPE, s->ops->offset(s, at), "%s was expected, %.*s was found", network_class_key.data, CLIP(key));
}

static bool read_ai_target(decoder *d, source *s) {
    if (s->ops->shape(s) == SHAPE_NULL) return s->ops->null(s);
    const xir_object *target;
    if (!decode_object(d, s, d->ctx->types[CLASS_target], &target)) return false;
    d->net->ai_target = (const xir_target *)target;
    return true;
}

static bool read_params_bytes(decoder *d, source *s) {
    const void *at = s->at;
    number n;
    if (!s->ops->number(s, &n)) return false;
    if (n.kind == NUMBER_REAL || (n.kind == NUMBER_I64 && n.i64 < 0)) {
        return trace_fail(&d->trace, n.kind == NUMBER_REAL ? XIR_E_TYPE : XIR_E_BOUNDS, s->ops->offset(s, at), "a number of bytes was expected");
    }
    d->net->params_bytes = n.kind == NUMBER_I64 ? (uint64_t)n.i64 : n.u64;
    return true;
}

static bool read_network_key(decoder *d, source *s, network_key key) {
    xir_str text;
    switch (key) {
    case NETWORK_TYPE:         return read_network_class(d, s);
    case NETWORK_AI_TARGET:    return read_ai_target(d, s);
    case NETWORK_PARAMS_BYTES: return read_params_bytes(d, s);
    case NETWORK_XIR_VERSION:  return s->ops->text(s, &text) && set_version(d, text);
    case NETWORK_TAGS: {
        xir_map tags;
        return decode_map(d, s, &tags) && keep_map(d, &tags, &d->net->tags);
    }
    case NETWORK_OPS:
        /* How reals are held must be known before the first one. */
        if (d->net->absent >> NETWORK_XIR_VERSION & 1 && s->ops->member(&d->root, xir_str_of(network_keys[NETWORK_XIR_VERSION]), &text) &&
            !set_version(d, text)) {
            return false;
        }
        return read_ops(d, s);
    default: return s->ops->text(s, &text) && keep_text(d, key, text);
    }
}

static int find_network_key(xir_str key) {
    int i = 0;
    while (i < NETWORK_KEYS && !xir_str_equal(key, xir_str_of(network_keys[i]))) i++;
    return i;
}

/* Ops are read into the scratch arena's place again and again, so what else is undeclared is kept at once. */
static bool add_network_extra(decoder *d, source *s, xir_str key, gathered *extra) {
    gathered one = { 0 };
    if (!add_extra(d, s, &one, key, false)) return false;
    const xir_entry *entry = one.data;
    if (extra->size == extra->room &&
        !mem_reserve(context_alloc(d->ctx), &extra->data, &extra->room, extra->size + 1, sizeof *entry)) {
        return trace_memory(&d->trace);
    }
    xir_entry *out = (xir_entry *)extra->data + extra->size;
    if (!arena_text(&d->net->arena, entry->key, &out->key) || !any_copy(&d->net->arena, &entry->value, &out->value)) {
        return trace_memory(&d->trace);
    }
    extra->size++;
    return true;
}

static bool read_network_members(decoder *d, source *s, const void *at, gathered *extra, frame *f) {
    xir_network *net = d->net;
    for (bool first = true;; first = false) {
        f->key = (xir_str){ NULL, 0 };
        int stepped = s->ops->key(s, first, &f->key);
        if (stepped != 1) return stepped == 0;
        int key = find_network_key(f->key);
        if (key == NETWORK_KEYS) {
            bool taken = false;
            if (d->other_key && !d->other_key(d, s, f->key, &taken, d->user)) return false;
            if (!taken && !add_network_extra(d, s, f->key, extra)) return false;
            continue;
        }
        if (!(net->absent >> key & 1)) return key_again(d, s, at, f->key);
        f->key = xir_str_of(network_keys[key]);   /* outlives the scratch arena */
        if (!read_network_key(d, s, (network_key)key)) return false;
        net->absent &= ~(UINT32_C(1) << key);
    }
}

bool decode_network(decoder *d, source *s) {
    xir_network *net = d->net;
    const void *at = s->at;
    d->root = *s;
    if (s->ops->shape(s) != SHAPE_MAP) return source_expected(s, network_class_key.data);
    if (!s->ops->enter(s)) return false;
    net->absent = (UINT32_C(1) << NETWORK_KEYS) - 1;
    gathered extra = { 0 };
    frame f = { .up = NULL, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_network_members(d, s, at, &extra, &f);
    d->trace.top = NULL;
    xir_map map;
    ok = ok && sort_extra(d, s, at, &extra, &map) && keep_map(d, &map, &net->extra);
    mem_free(context_alloc(d->ctx), extra.data, extra.room * sizeof(xir_entry));
    if (!ok) return false;
    static const network_key needed[] = { NETWORK_TYPE, NETWORK_OPS };
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!(net->absent >> needed[i] & 1)) continue;
        return trace_fail(&d->trace, XIR_E_MISSING, s->ops->offset(s, at), "a network needs %s", network_keys[needed[i]]);
    }
    bool old = version_before(net->version, 3, 31);
    if (old && !(net->absent >> NETWORK_AI_TARGET & 1)) net->absent |= NETWORK_HAD_AI_TARGET;
    return true;
}

/* ---- attributes that were undeclared --------------------------------------------------------------------------------- */

/* The members of a map of attributes: rows, and what is still undeclared. */
static bool read_attrs(decoder *d, source *s, codec_plan *plan, void *body, members *m, xir_str *name) {
    const xir_class *cls = plan->cls;
    uint32_t next = 0;
    for (bool first = true;; first = false) {
        int what, stepped = next_member(s, plan, first, &next, name, &what);
        if (stepped != 1) return stepped == 0;
        if (what >= 0) {
            if (!members_note(d, s, m, cls, what, *name) || !decode_op_field(d, s, &cls->fields[what], body)) return false;
        } else if (!add_extra(d, s, &m->extra, *name, true)) {
            return false;
        }
    }
}

bool decode_attrs(decoder *d, source *s, xir_op *op, const xir_class *cls) {
    const void *at = s->at;
    decoder_join(d, s);
    codec_plan *plan = codec_plan_of(&d->plans, cls);
    void *body = arena_take(&d->scratch, cls->body_size);
    if (!plan || !body) return trace_memory(&d->trace);
    memcpy(body, cls->defaults, cls->body_size);
    members m;
    if (!members_begin(d, s, &m, cls) || !s->ops->enter(s)) return false;
    frame f = { .up = d->trace.top, .index = SIZE_MAX };
    d->trace.top = &f;
    bool ok = read_attrs(d, s, plan, body, &m, &f.key);
    d->trace.top = f.up;
    xir_map extra;
    const xir_map *kept = NULL;
    ok = ok && sort_extra(d, s, at, &m.extra, &extra) && keep_map(d, &extra, &kept);
    const void *attrs = ok ? net_attrs(d->net, cls, body) : NULL;
    uint64_t absent = members_absent(&m, cls);
    if (ok && (!attrs || ((absent || kept) && !op_need_more(op)))) ok = trace_memory(&d->trace);
    const xir_class *old = op->cls;
    op->cls = cls;
    if (ok && !cls->plain && op_adopt_children(op, attrs)) ok = trace_memory(&d->trace);
    if (!ok) {
        op->cls = old;
        decoder_undo(d);
        return false;
    }
    op->attrs = attrs;
    if (op->more) {
        op->more->extra = kept;
        op->more->absent = absent;
    }
    op->net->epoch++;
    return true;
}

/* ---- parts for a network that was there before ---------------------------------------------------------------------------- */

void decoder_join(decoder *d, const source *s) {
    xir_network *net = d->net;
    d->existing = true;
    d->root = *s;
    d->round = !version_before(net->version, 3, 30);
    d->old_params = net->all_params;
    d->old_n_params = net->n_params;
    d->old_next_op_id = net->next_op_id;
    d->old_next_value_id = net->next_value_id;
}

void decoder_undo(decoder *d) {
    xir_network *net = d->net;
    for (made_op *made = d->made; made; made = made->before) op_forget(made->op);
    while (net->all_params != d->old_params) {
        xir_value *v = net->all_params;
        ids_forget_value(v);
        net->all_params = v->more->params->next;
    }
    net->n_params = d->old_n_params;
    net->next_op_id = d->old_next_op_id;
    net->next_value_id = d->old_next_value_id;
}
