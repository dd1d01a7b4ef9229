/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading a network: the file is verified without its ops and read table by table, then each op is verified and read.
 * Last, Params get their bytes, without copying any. */
#include "flat/read.h"
#include "task.h"

/* ---- source ------------------------------------------------------------------------------------------------- */

/* There is no cursor: the source only locates findings. */
static uint64_t on_offset(const source *s, const void *at) {
    return (uint64_t)((const char *)at - (const char *)s->start);
}

static const source_ops flat_source = { .offset = on_offset };

/* ---- ops ---------------------------------------------------------------------------------------------------- */

/* Reserves memory for at most as many ops as the bytes of the file can hold. */
static void expect_ops(flat_reader *r, uint32_t n) {
    enum { LEAST = 64 };
    size_t likely = n < r->size / LEAST ? n : r->size / LEAST;
    decoder_expect(&r->d, likely);
    if (likely > r->met_room &&
        mem_reserve(context_alloc(r->d.ctx), (void **)&r->met, &r->met_room, likely, sizeof *r->met)) {
        memory_advise_huge(r->met, r->met_room * sizeof *r->met);
    }
}

/* Verifies and reads item i of the list of ops; `tag` and `item` are in the file. */
static xir_op *read_listed(flat_reader *r, const flat_slot *slot, size_t i, const uint8_t *tag, const uint8_t *item) {
    const flat_table *as = *tag < slot->family->n ? slot->family->members[*tag] : NULL;
    xir_op *op = as ? flat_op_again(r, item, as) : NULL;
    if (op || r->d.trace.status || r->v->trace.status) return op;
    if (!flat_verify_later(r->v, slot, i, flat_place(r, item), flat_place(r, tag))) return NULL;
    if (!*tag) {
        FLAT_FAIL(r, item, XIR_E_TYPE, "expected an op, found nothing");
        return NULL;
    }
    return flat_read_op(r, flat_follow(item), as, &op) ? op : NULL;
}

static bool read_ops(flat_reader *r, const flat_view *t, const flat_slot *slot) {
    const uint8_t *field = flat_field_at(t, slot->slot + 1u);
    if (!field) return true;
    const uint8_t *vector = flat_follow(field), *tags = flat_follow(t->at + flat_field(t, slot->slot)) + 4;
    uint32_t n = little_u32(vector);
    frame list = { .up = r->d.trace.top, .key = slot->name, .index = SIZE_MAX }, f = { .up = &list, .index = 0 };
    r->d.trace.top = &f;
    r->depth++;
    expect_ops(r, n);
    for (; f.index < n; f.index++) {
        const uint8_t *item = vector + 4 + 4 * f.index;
        xir_op *op = read_listed(r, slot, f.index, tags + f.index, item);
        if (!op) break;
        op_link(op, NULL);
        decoder_rewind(&r->d);
        if (!task_at(flat_follow(item)) && !trace_memory(&r->d.trace)) break;
    }
    r->depth--;
    r->d.trace.top = list.up;
    return f.index == n;
}

/* ---- keys of the network ------------------------------------------------------------------------------------ */

static void has_key(flat_reader *r, network_key key) { r->d.net->absent &= ~(UINT32_C(1) << key); }

static bool read_texts(flat_reader *r, const flat_view *t, const flat_table *as) {
    static const struct { int slot; network_key key; } texts[] = {
        { NET_SLOT_XIR_VERSION,       NETWORK_XIR_VERSION       }, { NET_SLOT_NAME,           NETWORK_NAME           },
        { NET_SLOT_FRAMEWORK,         NETWORK_FRAMEWORK         }, { NET_SLOT_ICRAFT_VERSION, NETWORK_ICRAFT_VERSION },
        { NET_SLOT_FRAMEWORK_VERSION, NETWORK_FRAMEWORK_VERSION }, { NET_SLOT_PARAMS_MD5,     NETWORK_PARAMS_MD5     },
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const uint8_t *field = flat_field_at(t, as->slots[texts[i].slot].slot);
        if (!field) continue;
        if (!keep_network_text(&r->d, texts[i].key, flat_text_at(field))) return false;
        has_key(r, texts[i].key);
    }
    return true;
}

static bool read_ai_target(flat_reader *r, const flat_view *t, const flat_slot *slot, frame *f) {
    const uint8_t *field = flat_field_at(t, slot->slot + 1u);
    const xir_object *target;
    if (!field) return true;
    f->key = slot->name;
    if (!flat_read_object(r, flat_follow(field), flat_member(t, slot), &target)) return false;
    r->d.net->ai_target = (const xir_target *)target;
    has_key(r, NETWORK_AI_TARGET);
    return true;
}

/* Keys without a slot: whether params_bytes was present, an ai_target of an unknown class, or one that is null. */
static bool read_extra_key(flat_reader *r, source *s, xir_str key, gathered *extra) {
    bool null = s->ops->shape(s) == SHAPE_NULL;
    if (null && xir_str_equal(key, xir_str_of(network_keys[NETWORK_PARAMS_BYTES]))) {
        r->d.net->absent |= UINT32_C(1) << NETWORK_PARAMS_BYTES;
        return s->ops->null(s);
    }
    if (xir_str_equal(key, xir_str_of(network_keys[NETWORK_AI_TARGET])) && !r->d.net->ai_target) {
        const xir_object *target = NULL;
        if (!(null ? s->ops->null(s) : decode_object(&r->d, s, r->d.ctx->types[CLASS_target], &target))) return false;
        r->d.net->ai_target = (const xir_target *)target;
        has_key(r, NETWORK_AI_TARGET);
        return true;
    }
    for (int i = 0; i < NETWORK_KEYS; i++) {
        if (!xir_str_equal(key, xir_str_of(network_keys[i]))) continue;
        return source_fail(s, s->at, XIR_E_EXISTS, "\"%.*s\" has a slot and cannot be in extra", CLIP(key));
    }
    return add_extra(&r->d, s, extra, key, false);
}

static bool read_extra(flat_reader *r, const uint8_t *field) {
    source s;
    flat_json(r, &s, flat_text_at(field), r->depth - 1);
    const void *at = s.at;
    if (s.ops->shape(&s) != SHAPE_MAP) return source_expected(&s, "a map");
    if (!s.ops->enter(&s)) return false;
    gathered extra = { 0 };
    frame f = { .up = r->d.trace.top, .index = SIZE_MAX };
    r->d.trace.top = &f;
    int stepped;
    for (bool first = true; (stepped = s.ops->key(&s, first, &f.key)) == 1; first = false) {
        if (!read_extra_key(r, &s, f.key, &extra)) break;
        f.key = (xir_str){ NULL, 0 };
    }
    r->d.trace.top = f.up;
    xir_map map;
    return stepped == 0 && json_at_end(&s) && sort_extra(&r->d, &s, at, &extra, &map) &&
           keep_map(&r->d, &map, &r->d.net->extra);
}

static bool read_network(flat_reader *r, const uint8_t *table) {
    const flat_table *as = r->schema->network;
    xir_network *net = r->d.net;
    flat_view t = flat_view_of(table);
    net->absent = (UINT32_C(1) << NETWORK_KEYS) - 1;
    has_key(r, NETWORK_TYPE);
    has_key(r, NETWORK_OPS);
    has_key(r, NETWORK_TAGS);
    has_key(r, NETWORK_PARAMS_BYTES);
    frame f = { .up = NULL, .index = SIZE_MAX };
    r->d.trace.top = &f;
    r->depth = 1;
    const uint8_t *field = flat_field_at(&t, as->slots[NET_SLOT_PARAMS_BYTES].slot);
    net->params_bytes = field ? little_u64(field) : 0;
    xir_map tags = { 0 };
    /* The version decides how reals are held and must come before the first real: read texts first. */
    bool ok = read_texts(r, &t, as) && read_ai_target(r, &t, &as->slots[NET_SLOT_AI_TARGET], &f);
    if (ok && (field = flat_field_at(&t, as->slots[NET_SLOT_TAGS].slot))) {
        f.key = as->slots[NET_SLOT_TAGS].name;
        ok = flat_read_map(r, field, false, &tags) && keep_map(&r->d, &tags, &net->tags);
    }
    if (ok && (field = flat_field_at(&t, as->slots[NET_SLOT_EXTRA].slot))) {
        f.key = as->slots[NET_SLOT_EXTRA].name;
        ok = read_extra(r, field);
    }
    decoder_rewind(&r->d);
    f.key = (xir_str){ NULL, 0 };
    ok = ok && read_ops(r, &t, &as->slots[NET_SLOT_OPS]);
    r->d.trace.top = NULL;
    bool old = version_before(net->version, 3, 31);
    if (old && !(net->absent >> NETWORK_AI_TARGET & 1)) net->absent |= NETWORK_HAD_AI_TARGET;
    return ok;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static bool reader_init(flat_reader *r, const format_reading *how, const flat_schema *schema, xir_network *net,
                        const blob *whole) {
    xir_context *ctx = how->ctx;
    uint32_t deepest = ctx->limits.max_depth;
    memset(r, 0, sizeof *r);
    decoder_init(&r->d, ctx, net, &flat_source, how->name, (xir_str){ NULL, 0 }, how->why);
    decoder_source(&r->d, &r->s, &flat_source, whole->bytes, (size_t)whole->size);
    r->d.root = r->s;
    r->schema = schema;
    r->base = whole->bytes;
    r->size = (uint32_t)whole->size;
    r->deepest = deepest < CODEC_DEEPEST ? deepest : CODEC_DEEPEST;
    r->heaviest = whole->size > 1 << 20 ? (uint32_t)whole->size : 1 << 20;
    r->budget = 16 * whole->size + (UINT64_C(16) << 20);
    codec_plans_init(&r->plans, &r->d.keep, NULL);
    arena_init(&r->lists, context_alloc(ctx));
    r->n_pages = (size_t)(whole->size / FLAT_PAGE + 1);
    r->pages = mem_new(context_alloc(ctx), r->n_pages * sizeof *r->pages);
    if (!r->pages) return trace_memory(&r->d.trace);
    memset(r->pages, 0, r->n_pages * sizeof *r->pages);
    return true;
}

static void forget_met(flat_reader *r) {
    const xir_allocator *alloc = context_alloc(r->d.ctx);
    arena_free(&r->lists);
    codec_plans_free(&r->plans);
    mem_free(alloc, r->pages, r->n_pages * sizeof *r->pages);
    mem_free(alloc, r->met, r->met_room * sizeof *r->met);
    r->pages = NULL;
    r->met = NULL;
    r->met_room = 0;
}

/* Verifies and reads the structure. */
static bool read_structure(flat_reader *r, flat_verifier *v, const format_reading *how, const flat_schema *schema,
                           const blob *whole, xir_network *net) {
    const flat_slot *ops = &schema->network->slots[NET_SLOT_OPS];
    bool ok = reader_init(r, how, schema, net, whole);
    r->v = v;
    ok = ok && !flat_verifier_init(v, schema, schema->network, ops, whole->bytes, whole->size, how->name, how->why) &&
         read_network(r, flat_follow(whole->bytes));
    forget_met(r);
    flat_verifier_free(v);
    return ok;
}

/* If an op cannot be read, nobody has verified those after it. What is corrupt counts before what cannot be read, so
 * then the whole is verified, and its finding takes the place of those of the reader. */
static bool read_all(const format_reading *how, const flat_schema *schema, blob *whole, xir_network *net) {
    flat_verifier v = { .trace.ctx = how->ctx };
    flat_reader r;
    format_reading aside = *how;
    if (!(aside.why = xir_diags_new(how->ctx))) return diag_memory(how->why) == XIR_OK;
    bool ok = read_structure(&r, &v, &aside, schema, whole, net);
    r.d.trace.why = how->why;
    if (ok || !flat_check(schema, schema->network, whole->bytes, whole->size, how->name, how->why))
        diags_append(how->why, aside.why);
    xir_diags_free(aside.why);
    ok = ok && (how->no_params || flat_read_payloads(&r, flat_follow(whole->bytes), how, whole));
    mem_free(context_alloc(how->ctx), r.payloads, r.payload_room * sizeof *r.payloads);
    decoder_free(&r.d);
    return ok;
}

xir_network *flat_read(const format_reading *how, blob *whole) {
    xir_context *ctx = how->ctx;
    flat_schema schema;
    xir_network *net = NULL;
    if (!flat_schema_init(&schema, ctx) || !(net = network_new(ctx))) {
        diag_memory(how->why);
        flat_schema_free(&schema);
        return NULL;
    }
    memcpy(net->version, (const uint32_t[4]){ 3, 33, 1, 0 }, sizeof net->version);   /* if the file has none */
    const bool ok = read_all(how, &schema, whole, net);
    flat_schema_free(&schema);
    if (ok) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- parts -------------------------------------------------------------------------------------------------- */

/* An object without a table is written in `extra`. */
static bool read_spelled(flat_reader *r, const flat_view *t, const xir_object **out) {
    const uint8_t *field = flat_field_at(t, r->schema->part->slots[PART_SLOT_EXTRA].slot);
    xir_str key;
    source s;
    if (!field) return FLAT_FAIL(r, t->at, XIR_E_MISSING, "there is no object");
    flat_json(r, &s, flat_text_at(field), r->depth);
    if (s.ops->shape(&s) != SHAPE_MAP) return source_expected(&s, "a map");
    if (!s.ops->enter(&s)) return false;
    if (s.ops->key(&s, true, &key) != 1 || !xir_str_equal(key, r->schema->part->slots[PART_SLOT_OBJECT].name)) {
        return FLAT_FAIL(r, t->at, XIR_E_MISSING, "there is no object");
    }
    return decode_object(&r->d, &s, NULL, out) && s.ops->key(&s, false, &key) == 0 && json_at_end(&s);
}

static bool read_part(flat_reader *r, const uint8_t *root, format_part *part) {
    const flat_slot *slot = &r->schema->part->slots[PART_SLOT_OBJECT];
    flat_view t = flat_view_of(root);
    const uint8_t *field = flat_field_at(&t, slot->slot + 1u), *table = field ? flat_follow(field) : NULL;
    const flat_table *as = table ? flat_member(&t, slot) : NULL;
    bool is_op = as && as->shape == FLAT_OP, is_value = as && (as->shape == FLAT_VALUE || as->shape == FLAT_PARAMS);
    const xir_object *object = NULL;
    xir_op *op = NULL;
    xir_value *v = NULL;
    bool ok = false;
    if (part->kind == PART_OBJECT && !as) ok = read_spelled(r, &t, &object);
    else if (part->kind == PART_OBJECT && !is_op && !is_value) ok = flat_read_object(r, table, as, &object);
    else if (part->kind == PART_OP && is_op) ok = flat_read_op(r, table, as, &op);
    else if (part->kind == PART_VALUE && is_value) ok = flat_use_value(r, table, as, &v);
    else {
        static const char *const words[] = { "an object", "an op", "a value" };
        FLAT_FAIL(r, root, XIR_E_TYPE, "expected %s, found %s", words[part->kind], as ? as->name : "something else");
    }
    part->it = object ? (const void *)object : op ? (const void *)op : v;
    return ok;
}

bool flat_read_part(format_part *part, const void *data, size_t size, xir_diags *why) {
    const format_reading how = { .ctx = part->ctx, .why = why };
    const blob whole = { .bytes = data, .size = size };
    flat_schema schema;
    flat_reader r;
    bool ok = flat_schema_init(&schema, part->ctx);
    if (!ok) diag_memory(why);
    ok = ok && flat_check(&schema, schema.part, data, size, XIR_STR(""), why) == XIR_OK;
    if (ok) {
        ok = reader_init(&r, &how, &schema, part->net, &whole);
        if (part->net) decoder_join(&r.d, &r.s);
        ok = ok && read_part(&r, flat_follow(whole.bytes), part);
        if (!ok && part->net) decoder_undo(&r.d);
        forget_met(&r);
        mem_free(context_alloc(part->ctx), r.payloads, r.payload_room * sizeof *r.payloads);
        decoder_free(&r.d);
    }
    flat_schema_free(&schema);
    return ok;
}
