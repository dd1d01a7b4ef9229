/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writes networks, ops, values and objects to a sink. Declared rows and undeclared attributes are merged in the order
 * of their keys. A row that the file did not have is left out as long as it holds its default. */
#include "codec/codec.h"
#include "file.h"
#include "task.h"

void encoder_init(encoder *e, xir_context *ctx, const xir_network *net, sink *s) {
    *e = (encoder){ .sink = s, .ctx = ctx, .net = net };
    arena_init(&e->arena, context_alloc(ctx));
    codec_plans_init(&e->plans, &e->arena, s->ops->bake);
    e->single = net && version_before(net->version, 3, 31);
}

/* Keys of networks or values, which are baked when the first of them is written: a single attribute has none. */
static const codec_key *baked(const encoder *e, codec_key *keys, const char *const *texts, int n) {
    for (int i = 0; i < n && !keys[i].name.size; i++) codec_bake(&keys[i], e->sink->ops->bake, texts[i], i);
    return keys;
}

void encoder_free(encoder *e) {
    codec_plans_free(&e->plans);
    arena_free(&e->arena);
}

static codec_plan *plan_of(encoder *e, const xir_class *cls) {
    codec_plan *plan = codec_plan_of(&e->plans, cls);
    if (!plan) e->sink->status = XIR_E_MEMORY;
    return plan;
}

static int compare_keys(xir_str a, xir_str b) {
    size_t n = a.size < b.size ? a.size : b.size;
    int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* ---- values without a class -------------------------------------------------------------------------------- */

const char codec_plain_only[] = "a tag, or an undeclared key of a value or of the network, has Params: files have plain "
                                "data there";

xir_status codec_malformed(xir_diags *why, const char *path, xir_str text) {
    return file_fail(why, XIR_E_INVALID, path, XIR_NO_BYTE, "the text '%.*s' is not UTF-8, as all texts in files are",
                     CLIP(text));
}

static void encode_map(encoder *e, const xir_map *map) {
    sink *s = e->sink;
    size_t n = map ? map->size : 0;
    s->ops->map(s, NULL, n);
    for (size_t i = 0; i < n; i++) {
        s->ops->name(s, map->entries[i].key);
        encode_any(e, &map->entries[i].value);
    }
    s->ops->end(s);
}

void encode_any(encoder *e, const xir_any *any) {
    sink *s = e->sink;
    if (s->status) return;   /* ends the recursion too: a sink limits depth */
    switch (any->kind) {
    case XIR_ANY_NULL:   s->ops->null(s); break;
    case XIR_ANY_BOOL:   s->ops->boolean(s, any->as.boolean); break;
    case XIR_ANY_INT:    s->ops->integer(s, any->as.integer); break;
    case XIR_ANY_UINT:   s->ops->uinteger(s, any->as.uinteger); break;
    case XIR_ANY_REAL:   s->ops->real(s, any->as.real); break;
    case XIR_ANY_TEXT:   s->ops->text(s, any->as.text); break;
    case XIR_ANY_MAP:    encode_map(e, &any->as.map); break;
    case XIR_ANY_PARAMS:
        if (e->plain) s->status = XIR_E_UNSUPPORTED;
        else encode_value(e, any->as.params);
        break;
    case XIR_ANY_LIST:
        s->ops->list(s, any->as.list.size);
        for (size_t i = 0; i < any->as.list.size; i++) encode_any(e, &any->as.list.items[i]);
        s->ops->end(s);
        break;
    }
}

/* ---- rows -------------------------------------------------------------------------------------------------- */

static void encode_runs(encoder *e, const xir_runs *runs) {
    sink *s = e->sink;
    s->ops->list(s, runs->size);
    for (size_t i = 0; i < runs->size; i++) {
        const xir_run *run = &runs->data[i];
        s->ops->list(s, 4);
        s->ops->integer(s, run->end);
        s->ops->integer(s, run->m);
        s->ops->integer(s, run->exp);
        s->ops->real(s, (double)run->value);
        s->ops->end(s);
    }
    s->ops->end(s);
}

static void encode_params(encoder *e, const xir_values *list, bool single) {
    sink *s = e->sink;
    if (single && list->size == 1) {
        encode_value(e, list->data[0]);
        return;
    }
    s->ops->list(s, list->size);
    for (size_t i = 0; i < list->size; i++) encode_value(e, list->data[i]);
    s->ops->end(s);
}

void encode_field(encoder *e, const xir_field *f, const void *at) {
    sink *s = e->sink;
    switch (f->kind) {
    case XIR_KIND_BOOL:   s->ops->boolean(s, *(const bool *)at); break;
    case XIR_KIND_I64:    s->ops->integer(s, *(const int64_t *)at); break;
    case XIR_KIND_U64:    s->ops->uinteger(s, *(const uint64_t *)at); break;
    case XIR_KIND_REAL:   s->ops->real(s, *(const double *)at); break;
    case XIR_KIND_TEXT:   s->ops->text(s, *(const xir_str *)at); break;
    case XIR_KIND_ENUM: {
        int member = *(const int *)at;
        bool known = member >= 0 && (size_t)member < f->members->size;
        if (known) s->ops->text(s, xir_str_of(f->members->names[member]));
        else s->ops->integer(s, member);
        break;
    }
    case XIR_KIND_REF:    encode_object(e, *(const xir_object *const *)at); break;
    case XIR_KIND_PARAMS: encode_value(e, *(xir_value *const *)at); break;
    case XIR_KIND_MAP:    encode_map(e, at); break;
    case XIR_KIND_BOOLS: {
        const xir_bools *list = at;
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) s->ops->boolean(s, list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_I64S: {
        const xir_i64s *list = at;
        if (f->flags & XIR_FIELD_OPTIONAL && !list->data) {
            s->ops->null(s);
            break;
        }
        const int64_t least = field_is_shape(e->ctx, f) ? XIR_UNKNOWN_DIM : INT64_MIN;   // symbolic dims are below
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) s->ops->integer(s, list->data[i] < least ? least : list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_REALS: {
        const xir_reals *list = at;
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) s->ops->real(s, list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_TEXTS: {
        const xir_texts *list = at;
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) s->ops->text(s, list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_REFS: {
        const xir_refs *list = at;
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) encode_object(e, list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_RUNS:    encode_runs(e, at); break;
    case XIR_KIND_PARAMSS: encode_params(e, at, e->single && f->flags & XIR_FIELD_SINGLE); break;
    case XIR_KIND_OPS: {
        const xir_ops *list = at;
        s->ops->list(s, list->size);
        for (size_t i = 0; i < list->size; i++) encode_op(e, list->data[i]);
        s->ops->end(s);
        break;
    }
    case XIR_KIND_COUNT: break;
    }
}

uint64_t codec_left_out(const xir_class *cls, const void *body, uint64_t absent) {
    uint64_t out = 0;
    for (; absent; absent &= absent - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(absent);
        if (i < cls->n_fields && field_equal(&cls->fields[i], body, cls->defaults)) out |= UINT64_C(1) << i;
    }
    return out;
}

bool codec_is_bare(const xir_object *object) {
    return !(object->extra && object->extra->size) && !codec_left_out(object->cls, object, object->absent);
}

static inline bool is_left_out(const codec_key *key, uint64_t out) {
    return out && key->what >= 0 && key->what < 64 && out >> key->what & 1;
}

/* Writes undeclared attributes from number `x` on: those whose keys sort before `before`, or all. Returns the number of
 * the next one. */
static size_t encode_extra(encoder *e, const xir_map *extra, size_t x, const xir_str *before) {
    for (; x < extra->size && (!before || compare_keys(extra->entries[x].key, *before) < 0); x++) {
        e->sink->ops->name(e->sink, extra->entries[x].key);
        encode_any(e, &extra->entries[x].value);
    }
    return x;
}

typedef void base_fn(encoder *e, const codec_key *key, const void *owner);

/* The members of a map: keys and undeclared attributes merged, rows that are left out skipped. */
static void encode_members(encoder *e, const codec_plan *plan, const void *body, uint64_t out, const xir_map *extra,
                           base_fn *base, const void *owner) {
    sink *s = e->sink;
    size_t x = 0, n = extra ? extra->size : 0;
    for (uint32_t i = 0; i < plan->n_keys; i++) {
        const codec_key *key = &plan->keys[i];
        if (x < n) x = encode_extra(e, extra, x, &key->name);
        if (is_left_out(key, out)) continue;
        s->ops->key(s, key);
        if (key->field) encode_field(e, key->field, body_at(body, key->field));
        else base(e, key, owner);
    }
    if (x < n) encode_extra(e, extra, x, NULL);
}

/* ---- objects ----------------------------------------------------------------------------------------------- */

static void object_base(encoder *e, const codec_key *key, const void *owner) {
    (void)key;   /* always _type_key */
    e->sink->ops->text(e->sink, ((const xir_object *)owner)->cls->key);
}

static bool encode_scalar(encoder *e, const xir_object *object) {
    const xir_class *cls = object->cls;
    sink *s = e->sink;
    if (cls == e->ctx->types[CLASS_float_imm])     s->ops->real(s, ((const xir_float_imm *)object)->value);
    else if (cls == e->ctx->types[CLASS_int_imm])  s->ops->integer(s, ((const xir_int_imm *)object)->value);
    else if (cls == e->ctx->types[CLASS_bool_imm]) s->ops->boolean(s, ((const xir_bool_imm *)object)->value);
    else return false;
    return true;
}

void encode_object(encoder *e, const xir_object *object) {
    sink *s = e->sink;
    if (s->status) return;
    if (!object) {
        s->ops->null(s);
        return;
    }
    if (s->ops->form && codec_is_bare(object) && encode_scalar(e, object)) return;
    size_t begun = s->ops->begin(s, object);
    if (begun == SINK_DONE) return;
    const xir_class *cls = object->cls;
    if (cls->more->form && s->ops->form) {
        s->ops->form(s, object);
    } else {
        const codec_plan *plan = plan_of(e, cls);
        if (!plan) return;
        uint64_t out = codec_left_out(cls, object, object->absent);
        size_t n = plan->n_keys - (size_t)__builtin_popcountll(out) + (object->extra ? object->extra->size : 0);
        s->ops->map(s, cls, n);
        encode_members(e, plan, object, out, object->extra, object_base, object);
        s->ops->end(s);
    }
    s->ops->learn(s, object, begun);
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static void encode_value_key(encoder *e, const xir_value *v, const codec_key *key) {
    sink *s = e->sink;
    const value_more *more = value_more_of(v);
    s->ops->key(s, key);
    switch ((value_key)key->what) {
    case VALUE_ALLOW: s->ops->boolean(s, more->params->allow_no_data); break;
    case VALUE_TYPE:  s->ops->text(s, more && more->params ? params_class_key : value_class_key); break;
    case VALUE_DTYPE: encode_object(e, (const xir_object *)v->type); break;
    case VALUE_MTYPE: encode_object(e,
                                    (const xir_object *)(more && more->mtype ? more->mtype : e->ctx->host_mem)); break;
    case VALUE_NAME:  s->ops->text(s, more ? name_text(more->name) : XIR_STR("")); break;
    case VALUE_TAGS:  encode_map(e, more ? more->tags : NULL); break;
    case VALUE_ID:    s->ops->integer(s, v->id); break;
    case VALUE_KEYS:  break;
    }
}

void encode_value(encoder *e, const xir_value *v) {
    sink *s = e->sink;
    if (s->status) return;
    if (!v) {
        s->ops->null(s);
        return;
    }
    size_t begun = s->ops->begin_value(s, v), before = 0, after = 0;
    if (begun == SINK_DONE) return;
    encoder_alike *alike = e->repeats ? encoder_alike_of(e, v) : NULL;
    if (alike && alike->is_known) {
        encoder_put_value(e, alike, v);
        s->ops->learn_value(s, v, begun);
        return;
    }
    const bool was_plain = e->plain;
    e->plain = true;
    int first = value_is_params(v) ? VALUE_ALLOW : VALUE_TYPE;
    const xir_map *extra = xir_value_extra(v);
    size_t x = 0, n = extra ? extra->size : 0;
    const codec_key *of_value = baked(e, e->value, value_keys, VALUE_KEYS);
    s->ops->map(s, NULL, (size_t)(VALUE_KEYS - first) + n);
    for (int i = first; i < VALUE_KEYS; i++) {
        if (x < n) x = encode_extra(e, extra, x, &of_value[i].name);
        if (alike && i == VALUE_ID) {
            s->ops->key(s, &of_value[i]);
            before = s->ops->out(s)->size;
            s->ops->integer(s, v->id);
            after = s->ops->out(s)->size - s->ops->after;
        } else {
            encode_value_key(e, v, &of_value[i]);
        }
    }
    if (x < n) encode_extra(e, extra, x, NULL);
    e->plain = was_plain;
    s->ops->end(s);
    if (alike && !s->status) {
        alike->kept.size = 0;
        alike->before = before - begun;
        alike->levels = s->ops->nest ? s->ops->nest(s, 0) : 0;
        alike->is_known = encoder_keep(e, &alike->kept, begun, before) &&
                          encoder_keep(e, &alike->kept, after, s->ops->out(s)->size);
    }
    s->ops->learn_value(s, v, begun);
}

/* ---- ops --------------------------------------------------------------------------------------------------- */

/* Absent inputs at the end are left out. */
static void encode_inputs(encoder *e, const xir_op *op) {
    sink *s = e->sink;
    size_t n = op->n_inputs;
    while (n && !op_inputs(op)[n - 1].value) n--;
    s->ops->list(s, n);
    for (size_t i = 0; i < n; i++) encode_value(e, op_inputs(op)[i].value);
    s->ops->end(s);
}

static void op_base(encoder *e, const codec_key *key, const void *owner) {
    sink *s = e->sink;
    const xir_op *op = owner;
    switch (key->what) {
    case KEY_TYPE:   s->ops->text(s, op->cls->key); break;
    case KEY_TARGET: encode_object(e, (const xir_object *)op_target(op)); break;
    case KEY_INPUTS: encode_inputs(e, op); break;
    case KEY_NAME:   s->ops->text(s, name_text(op_label(op))); break;
    case KEY_ID:     s->ops->integer(s, op->id); break;
    case KEY_TAGS:
        e->plain = true;
        encode_map(e, xir_op_tags(op));
        e->plain = false;
        break;
    case KEY_OUTPUTS:
        s->ops->list(s, op->n_outputs);
        for (uint32_t i = 0; i < op->n_outputs; i++) encode_value(e, &op_outputs(op)[i]);
        s->ops->end(s);
        break;
    default: break;
    }
}

static bool varies(const codec_key *key) {
    return key->what == KEY_INPUTS || key->what == KEY_NAME || key->what == KEY_ID || key->what == KEY_OUTPUTS;
}

/* The members of an op, those of its run as bytes if these are known, which they are afterwards. */
static void encode_repeated(encoder *e, const codec_plan *plan, encoder_run *run, const xir_op *op) {
    sink *s = e->sink;
    const bool known = run->is_known;
    bool kept = true;
    uint32_t piece = 0, at = 0;
    if (!known) run->kept.size = 0;    /* an attempt before may have ended half way */
    for (uint32_t i = 0; i < plan->n_keys && !s->status;) {
        const codec_key *key = &plan->keys[i];
        if (varies(key)) {
            s->ops->key(s, key);
            op_base(e, key, op);
            i++;
        } else if (known) {
            encoder_put(e, run->kept.bytes + at, run->ends[piece] - at);
            at = run->ends[piece];
            i = run->next[piece++];
        } else {
            const size_t begun = s->ops->out(s)->size;
            for (; i < plan->n_keys && !varies(&plan->keys[i]); i++) {
                s->ops->key(s, &plan->keys[i]);
                if (plan->keys[i].field) encode_field(e, plan->keys[i].field, body_at(op->attrs, plan->keys[i].field));
                else op_base(e, &plan->keys[i], op);
            }
            kept = kept && encoder_keep(e, &run->kept, begun, s->ops->out(s)->size);
            run->ends[piece] = (uint32_t)run->kept.size;
            run->next[piece++] = i;
        }
    }
    run->is_known = kept && !s->status;
}

void encode_op(encoder *e, const xir_op *op) {
    sink *s = e->sink;
    if (s->status) return;
    const codec_plan *plan = plan_of(e, op->cls);
    if (!plan) return;
    const bool repeats = e->repeats;
    encoder_run *run = repeats ? encoder_run_of(e, op) : NULL;
    e->repeats = run != NULL;
    const xir_map *extra = xir_op_extra(op);
    const uint64_t absent = op_more_of(op) ? op_more_of(op)->absent : 0;
    uint64_t out = absent ? codec_left_out(op->cls, op->attrs, absent) : 0;
    const bool was_plain = e->plain;
    e->plain = false;
    s->ops->map(s, op->cls, plan->n_keys - (size_t)__builtin_popcountll(out) + (extra ? extra->size : 0));
    if (run) encode_repeated(e, plan, run, op);
    else encode_members(e, plan, op->attrs, out, extra, op_base, op);
    s->ops->end(s);
    e->plain = was_plain;
    e->repeats = repeats;
}

/* ---- networks ---------------------------------------------------------------------------------------------- */

bool codec_has_key(const xir_network *net, network_key key, uint64_t params_bytes, xir_str params_md5) {
    bool was_there = !(net->absent >> key & 1);
    switch (key) {
    case NETWORK_AI_TARGET:
        if (version_before(net->version, 3, 31)) return net->absent & NETWORK_HAD_AI_TARGET;
        return was_there || net->ai_target;
    case NETWORK_FRAMEWORK:
    case NETWORK_FRAMEWORK_VERSION:
    case NETWORK_NAME:
    case NETWORK_ICRAFT_VERSION:
    case NETWORK_XIR_VERSION:
        return was_there || net->text[network_key_text(key)].size;
    case NETWORK_PARAMS_BYTES: return was_there || params_bytes;
    case NETWORK_PARAMS_MD5:   return was_there || params_md5.size;
    default: return true;
    }
}

static void encode_network_key(encoder *e, const codec_key *key, uint64_t params_bytes, xir_str params_md5) {
    sink *s = e->sink;
    const xir_network *net = e->net;
    s->ops->key(s, key);
    switch ((network_key)key->what) {
    case NETWORK_TYPE:         s->ops->text(s, network_class_key); break;
    case NETWORK_AI_TARGET:    encode_object(e, (const xir_object *)net->ai_target); break;
    case NETWORK_PARAMS_BYTES: s->ops->uinteger(s, params_bytes); break;
    case NETWORK_PARAMS_MD5:   s->ops->text(s, params_md5); break;
    case NETWORK_TAGS:         encode_map(e, net->tags); break;
    case NETWORK_OPS:
        s->ops->list(s, net->n_ops);
        e->repeats = encoder_may_repeat(e);
        for (const xir_op *op = net->first; op && !s->status; op = op->next) {
            if (!task_worked(TASK_PER_OBJECT)) s->status = XIR_E_MEMORY;
            encode_op(e, op);
            s->ops->piece(s);
        }
        e->repeats = false;
        s->ops->end(s);
        break;
    default: s->ops->text(s, net->text[network_key_text((network_key)key->what)]); break;
    }
}

void encode_network(encoder *e, uint64_t params_bytes, xir_str params_md5) {
    sink *s = e->sink;
    const xir_network *net = e->net;
    const xir_map *extra = net->extra;
    size_t x = 0, n = extra ? extra->size : 0, keys = n;
    for (const encoder_more *more = e->more; more; more = more->next) keys++;
    for (int i = 0; i < NETWORK_KEYS; i++) keys += codec_has_key(net, (network_key)i, params_bytes, params_md5);
    e->plain = true;
    const codec_key *of_network = baked(e, e->network, network_keys, NETWORK_KEYS);
    s->ops->map(s, NULL, keys);
    for (int i = 0; i < NETWORK_KEYS; i++) {
        for (const encoder_more *more = i == NETWORK_PARAMS_BYTES ? e->more : NULL; more; more = more->next) {
            s->ops->name(s, xir_str_of(more->key));
            more->write(e, more->user);
        }
        if (x < n) x = encode_extra(e, extra, x, &of_network[i].name);
        if (codec_has_key(net, (network_key)i, params_bytes, params_md5)) {
            encode_network_key(e, &of_network[i], params_bytes, params_md5);
        }
    }
    if (x < n) encode_extra(e, extra, x, NULL);
    s->ops->end(s);
}
