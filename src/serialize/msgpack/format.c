/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The format as a whole. In a file the network's map has two more keys than in JSON: the bytes of its Params, and the
 * order in which a raw file's table has them, if that differs. The keys may stand anywhere in the map: their places are
 * recorded, and read once the network is complete. */
#include <stdio.h>
#include "codec/read.h"
#include "format.h"
#include "packed.h"
#include "raw/payload.h"

static const char params_key[] = "params", table_key[] = "params_table";

/* ---- writing ----------------------------------------------------------------------------------------------- */

typedef struct writing { payload_plan plan; const format_writing *how; } writing;

/* Writes the bytes of a payload, or copies them if they are few, and hashes them. */
static bool write_bytes(sink *s, writing *w, const raw_item *it) {
    const bool few = it->size < PACKED_DIRECT;
    if (few) s->ops->bytes(s, payload_bytes(it), it->size);
    else packed_begin_bytes(s, it->size);
    return !s->status && payload_put(&w->plan, few ? NULL : w->how, it);
}

/* The MD5 is known at the end, before its key is written. */
static void write_params(encoder *e, void *user) {
    writing *w = user;
    payload_plan *plan = &w->plan;
    sink *s = e->sink;
    bool on = payload_begin(plan) == XIR_OK;
    s->ops->list(s, plan->n);
    for (size_t i = 0; i < plan->n && on && !s->status; i++) {
        const raw_item *it = payload_at(plan, i);
        s->ops->list(s, 2);
        s->ops->integer(s, it->value->id);
        on = write_bytes(s, w, it);
        s->ops->end(s);
        s->ops->piece(s);
    }
    s->ops->end(s);
    if ((payload_end(plan, on && !s->status) || !on) && !s->status) s->status = XIR_E_IO;
}

static void write_table(encoder *e, void *user) {
    const payload_plan *plan = &((const writing *)user)->plan;
    sink *s = e->sink;
    s->ops->list(s, plan->n);
    for (size_t i = 0; i < plan->n; i++) s->ops->integer(s, payload_in_table(plan, i)->value->id);
    s->ops->end(s);
}

/* Finds contents that only other formats can hold, before anything is read for writing. */
typedef struct check { const format_writing *how; xir_status status; } check;

static bool check_size(void *user, xir_value *v) {
    check *c = user;
    const blob *data = value_params(v)->data;
    if (!data || data->size <= UINT32_MAX) return true;
    c->status = file_fail(c->how->why, XIR_E_LIMIT, c->how->path, XIR_NO_BYTE,
                          "%s has %" PRIu64 " bytes, MessagePack allows at most 4294967295; Json&Raw can hold them",
                          raw_name_of(v).text, data->size);
    return false;
}

static xir_status check_network(xir_network *net, const format_writing *how) {
    static const char *const own[] = { params_key, table_key };
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (!net->extra || !xir_map_find(net->extra, xir_str_of(own[i]))) continue;
        return file_fail(how->why, XIR_E_UNSUPPORTED, how->path, XIR_NO_BYTE,
                         "the network has an undeclared key \"%s\", which MessagePack uses for parameters; "
                         "Json&Raw can hold it",
                         own[i]);
    }
    if (how->no_params) return XIR_OK;
    check c = { .how = how };
    return net_walk_params(net, check_size, &c) || c.status ? c.status : diag_memory(how->why);
}

/* A write callback that discards everything. */
static bool swallow(void *user, const void *data, size_t size) {
    (void)user;
    (void)data;
    (void)size;
    return true;
}

/* Something is nested too deep: finds out which op, for the finding. */
static xir_status find_deep(const xir_network *net, const format_writing *how) {
    enum { NETWORK_AND_OPS = 2 };
    size_t i = 0;
    for (const xir_op *op = net->first; op; op = op->next, i++) {
        packed_sink p;
        encoder e;
        packed_sink_init(&p, net->ctx, NETWORK_AND_OPS, swallow, NULL);
        encoder_init(&e, net->ctx, net, &p.sink);
        encode_op(&e, op);
        xir_status status = p.sink.status;
        uint32_t deepest = p.deepest;
        encoder_free(&e);
        packed_sink_free(&p);
        if (status == XIR_E_MEMORY) return diag_memory(how->why);
        if (status != XIR_E_LIMIT) continue;
        char path[40];
        snprintf(path, sizeof path, "/ops/%zu", i);
        return diag_fail(how->why, XIR_E_LIMIT, xir_str_of(path),
                         "%.*s '%.*s' (op_id %" PRId64 ") holds values nested deeper than %" PRIu32 "%s",
                         CLIP(op->cls->key), CLIP(name_text(op_label(op))), op->id, deepest,
                         deepest < PACKED_DEEPEST ? ""
                         : ", the depth that readers of MessagePack accept; Json&Raw can hold them");
    }
    return diag_fail(how->why, XIR_E_LIMIT, XIR_STR(""),
                     "the network's tags or undeclared keys are nested deeper than readers of MessagePack accept; "
                     "Json&Raw can hold them");
}

static xir_status write_failed(const packed_sink *p, const xir_network *net, const format_writing *how) {
    switch (p->sink.status) {
    case XIR_E_MEMORY: return diag_memory(how->why);
    case XIR_E_LIMIT:
        if (!p->too_large) return find_deep(net, how);
        return file_fail(how->why, XIR_E_LIMIT, how->path, XIR_NO_BYTE,
                         "a text or list is longer than 4294967295, the most that MessagePack allows; "
                         "Json&Raw can hold it");
    case XIR_E_INVALID: return codec_malformed(how->why, how->path, p->sink.malformed);
    case XIR_E_UNSUPPORTED:
        return file_fail(how->why, XIR_E_UNSUPPORTED, how->path, XIR_NO_BYTE, "%s", codec_plain_only);
    default: return p->sink.status;   /* XIR_E_IO: the callback's failure has a finding */
    }
}

static xir_status write_network(xir_network *net, const format_writing *how) {
    writing w = { .how = how };
    payload_plan *plan = &w.plan;
    xir_status status = check_network(net, how);
    if (status) return status;
    status = how->no_params ? payload_plan_none(plan, net, how->why)
                            : payload_plan_list(plan, net, how->path, how->why);
    if (!status && !how->no_params) status = payload_plan_digest(plan, true);
    if (!status) {
        packed_sink p;
        encoder e;
        packed_sink_init(&p, net->ctx, 0, how->write, how->user);
        encoder_init(&e, net->ctx, net, &p.sink);
        encoder_more table = { .key = table_key, .write = write_table, .user = &w };
        encoder_more first = { .key = params_key, .write = write_params, .user = &w };
        if (plan->table_differs) first.next = &table;
        e.more = plan->n ? &first : NULL;
        encode_network(&e, plan->params_bytes, plan->params_md5);
        status = packed_sink_end(&p);
        if (plan->list.status) status = plan->list.status;    /* with a finding */
        else if (status) status = write_failed(&p, net, how);
        encoder_free(&e);
        packed_sink_free(&p);
    }
    payload_plan_free(plan);
    return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

/* The positions of the items of the two keys; NULL: missing. */
typedef struct key_items { const void *params, *table; } key_items;

static bool note_place(decoder *d, source *s, xir_str key, bool *taken, void *user) {
    key_items *at = user;
    const void **place = xir_str_equal(key, xir_str_of(params_key)) ? &at->params
                         : xir_str_equal(key, xir_str_of(table_key)) ? &at->table : NULL;
    if (!place) return true;
    if (*place) return key_again(d, s, d->root.at, key);
    *place = s->at;
    *taken = true;
    s->ops->skip(s);
    return true;
}

/* The contents of the two lists: payloads in file order. */
typedef struct listed {
    size_t      n, n_table;   /* payloads; ids of the table           */
    size_t      n_params;     /* of the network                       */
    payload    *list;
    uint32_t   *place;        /* by number of the Params: 1 + index of the payload; 0: none          */
    raw_rank   *ids;          /* of all Params, sorted; then as much spare room */
    xir_value **params;
} listed;

static bool listed_init(listed *l, const xir_network *net) {
    const xir_allocator *a = &net->alloc;
    *l = (listed){ .n_params = net->n_params };
    size_t room = l->n_params + 1;   /* at least 1 */
    l->list = mem_new(a, room * sizeof *l->list);
    l->place = mem_new(a, room * sizeof *l->place);
    l->ids = mem_new(a, 2 * room * sizeof *l->ids);
    l->params = mem_new(a, room * sizeof *l->params);
    if (!l->list || !l->place || !l->ids || !l->params) return false;
    memset(l->place, 0, room * sizeof *l->place);
    uint32_t i = 0;
    for (xir_value *v = net->all_params; v && i < l->n_params; v = value_params(v)->next, i++) {
        l->params[i] = v;
        l->ids[i] = (raw_rank){ (uint64_t)v->id, i };
    }
    rank_sort(l->ids, l->ids + room, i);
    l->n_params = i;
    return true;
}

static void listed_free(listed *l, const xir_network *net) {
    const xir_allocator *a = &net->alloc;
    size_t room = (size_t)net->n_params + 1;
    mem_free(a, l->list, room * sizeof *l->list);
    mem_free(a, l->place, room * sizeof *l->place);
    mem_free(a, l->ids, 2 * room * sizeof *l->ids);
    mem_free(a, l->params, room * sizeof *l->params);
}

/* The Params with the id that comes next. NULL with a finding. */
static xir_value *read_params_id(source *s, const listed *l) {
    const void *at = s->at;
    int64_t id;
    if (!s->ops->integer(s, &id)) return NULL;
    size_t low = 0, high = l->n_params;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (l->ids[middle].key < (uint64_t)id) low = middle + 1;
        else high = middle;
    }
    if (low < l->n_params && l->ids[low].key == (uint64_t)id) return l->params[l->ids[low].index];
    source_fail(s, at, XIR_E_CORRUPT, "found bytes for v_id %" PRId64 ", but the network has no Params with this id",
                id);
    return NULL;
}

/* One entry: [v_id, bytes]. */
static bool item_payload(decoder *d, source *s, void *user) {
    (void)d;
    listed *l = user;
    const void *at = s->at;
    if (s->ops->shape(s) != SHAPE_LIST || packed_count(packed_head_at(at), at) != 2) {
        return source_fail(s, at, XIR_E_TYPE, "expected a list of a v_id and its bytes");
    }
    if (!s->ops->enter(s) || s->ops->item(s, true) != 1) return false;
    xir_value *v = read_params_id(s, l);
    const uint8_t *data;
    uint32_t size;
    if (!v || s->ops->item(s, false) != 1 || !packed_bytes(s, &data, &size) || s->ops->item(s, false) != 0)
        return false;
    uint32_t *place = &l->place[value_params(v)->number];
    if (*place) return source_fail(s, at, XIR_E_EXISTS, "v_id %" PRId64 " has bytes twice", v->id);
    /* Each Params occurs at most once, so there is room. */
    l->list[l->n] = (payload){ .value = v, .offset = s->ops->offset(s, data), .size = size, .entry = (uint32_t)l->n };
    *place = (uint32_t)++l->n;
    return true;
}

/* An id of the table: the position of a payload there. */
static bool item_entry(decoder *d, source *s, void *user) {
    (void)d;
    listed *l = user;
    const void *at = s->at;
    xir_value *v = read_params_id(s, l);
    if (!v) return false;
    uint32_t *place = &l->place[value_params(v)->number];
    if (!*place)
        return source_fail(s, at, XIR_E_CORRUPT, "v_id %" PRId64 " has no entry in params, or appears here twice",
                           v->id);
    l->list[*place - 1].entry = (uint32_t)l->n_table++;
    *place = 0;
    return true;
}

/* Reads a list whose place was recorded. */
static bool read_list(decoder *d, source *s, const void *at, const char *key, item_fn *read, listed *l) {
    frame f = { .up = NULL, .key = xir_str_of(key), .index = SIZE_MAX };
    s->at = at;
    s->depth = 1;
    d->trace.top = &f;
    bool ok = each_item(d, s, read, l);
    d->trace.top = NULL;
    return ok;
}

static bool read_lists(decoder *d, source *s, const key_items *at, listed *l) {
    if (!read_list(d, s, at->params, params_key, item_payload, l)) return false;
    if (!at->table) return true;
    if (!read_list(d, s, at->table, table_key, item_entry, l)) return false;
    return l->n_table == l->n ||
           source_fail(s, at->table, XIR_E_CORRUPT, "params has %zu entries, params_table %zu", l->n, l->n_table);
}

static bool attach(decoder *d, source *s, const key_items *at, const format_reading *how, blob *whole) {
    if (!at->params && !at->table) return true;
    if (!at->params) return source_fail(s, at->table, XIR_E_MISSING, "expected params next to params_table");
    listed l;
    bool ok = listed_init(&l, d->net) || trace_memory(&d->trace);
    ok = ok && read_lists(d, s, at, &l);
    if (ok && !how->no_params)
        ok = payload_attach(d->net, whole, l.list, l.n, payload_compare_of(how->compare, how->meanwhile), how->name,
                            how->why) == XIR_OK;
    listed_free(&l, d->net);
    return ok;
}

static bool read_into(xir_network *net, const format_reading *how, blob *whole) {
    decoder d;
    source s;
    packed_levels open;
    key_items at = { NULL, NULL };
    decoder_init(&d, how->ctx, net, &packed_source, how->name, (xir_str){ NULL, 0 }, how->why);
    packed_begin(&d, &s, &open, whole->bytes, (size_t)whole->size);
    d.other_key = note_place;
    d.user = &at;
    bool ok = packed_scan(&d.trace, whole->bytes, (size_t)whole->size, s.deepest) && decode_network(&d, &s) &&
              attach(&d, &s, &at, how, whole);
    decoder_free(&d);
    return ok;
}

static xir_network *read_network(const format_reading *how, blob *whole) {
    xir_network *net = network_new(how->ctx);
    if (!net) {
        diag_memory(how->why);
        return NULL;
    }
    memcpy(net->version, (const uint32_t[4]){ 3, 33, 1, 0 }, sizeof net->version);   /* if the file has none */
    if (read_into(net, how, whole)) return net;
    xir_network_free(net);
    return NULL;
}

/* ---- parts ------------------------------------------------------------------------------------------------- */

static xir_status write_part(const format_part *part, const format_writing *how) {
    packed_sink p;
    encoder e;
    packed_sink_init(&p, part->ctx, 0, how->write, how->user);
    encoder_init(&e, part->ctx, part->net, &p.sink);
    encode_part(&e, part);
    xir_status status = packed_sink_end(&p);
    if (status == XIR_E_MEMORY) diag_memory(how->why);
    else if (status == XIR_E_INVALID) codec_malformed(how->why, "", p.sink.malformed);
    else if (status == XIR_E_LIMIT)
        diag_fail(how->why, status, XIR_STR(""),
                  "the nesting or a count exceeds what readers of MessagePack accept");
    encoder_free(&e);
    packed_sink_free(&p);
    return status;
}

static bool at_end(source *s) {
    return s->at == s->end || source_fail(s, s->at, XIR_E_SYNTAX, "expected the end, found more bytes");
}

static bool read_part(format_part *part, const void *data, size_t size, xir_diags *why) {
    decoder d;
    source s;
    packed_levels open;
    decoder_init(&d, part->ctx, part->net, &packed_source, XIR_STR(""), (xir_str){ NULL, 0 }, why);
    packed_begin(&d, &s, &open, data, size);
    bool ok = packed_scan(&d.trace, data, size, s.deepest) && decode_part(&d, &s, part, at_end);
    decoder_free(&d);
    return ok;
}

/* ---- detection --------------------------------------------------------------------------------------------- */

static bool is_network_key(xir_str key) {
    for (int i = 0; i < NETWORK_KEYS; i++) {
        if (xir_str_equal(key, xir_str_of(network_keys[i]))) return true;
    }
    return xir_str_equal(key, xir_str_of(params_key)) || xir_str_equal(key, xir_str_of(table_key));
}

/* Returns true if a first key may be an undeclared one: if it sorts before _type_key, or if the class of networks is
 * named soon after it. No binary format begins with what would be such a map and key. */
static bool is_undeclared_key(xir_str key, const uint8_t *end) {
    const char *after = key.data + key.size;
    if (memmem(after, (size_t)((const char *)end - after), network_class_key.data, network_class_key.size))
        return true;
    for (size_t i = 0; i < key.size; i++) {
        if ((unsigned char)key.data[i] < ' ' || key.data[i] == 0x7F) return false;
    }
    return key.size && str_order(key, xir_str_of(network_keys[NETWORK_TYPE])) < 0;
}

static xir_probe_grade probe(const xir_probe *file, void *user) {
    (void)user;
    const uint8_t *head = file->head, *end = head + file->head_size;
    const packed_head *h = packed_head_at(head);
    if (h->shape != SHAPE_MAP || file->head_size <= h->size || !packed_count(h, head)) return XIR_PROBE_NO;
    const uint8_t *p = head + h->size;
    h = packed_head_at(p);
    if (h->shape != SHAPE_TEXT || (size_t)(end - p) < h->size) return XIR_PROBE_NO;
    xir_str key = { (const char *)p + h->size, packed_count(h, p) };
    if (key.size > (size_t)(end - p) - h->size) return XIR_PROBE_NO;
    return is_network_key(key) ? XIR_PROBE_YES : is_undeclared_key(key, end) ? XIR_PROBE_LIKELY : XIR_PROBE_NO;
}

/* A map whose first key is a text. */
static bool may_begin(const uint8_t *head, size_t size) {
    const packed_head *h = packed_head_at(head);
    return h->shape == SHAPE_MAP && size > h->size && packed_count(h, head) &&
           packed_head_at(head + h->size)->shape == SHAPE_TEXT;
}

const format format_msgpack = {
    .name = "imodel", .meaning = "MessagePack network", .suffixes = "imodel msg", .most_param = UINT32_MAX,
    .probe = probe, .may_begin = may_begin, .read = read_network,
    .compare_claims = payload_compare_size, .write = write_network, .read_part = read_part, .write_part = write_part,
};
