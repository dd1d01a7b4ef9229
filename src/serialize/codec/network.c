/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading networks, and reading parts into existing networks. */
#include "codec/read.h"
#include "task.h"

/* ---- networks ---------------------------------------------------------------------------------------------- */

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
        if (!task_at(s->at) && !trace_memory(&d->trace)) break;
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

bool keep_network_text(decoder *d, network_key key, xir_str text) {
    return key == NETWORK_XIR_VERSION ? set_version(d, text) : keep_text(d, key, text);
}

static bool read_network_class(source *s) {
    const void *at = s->at;
    xir_str key;
    if (!s->ops->text(s, &key)) return false;
    return xir_str_equal(key, network_class_key) ||
           source_fail(s, at, XIR_E_TYPE, "expected %s, found %.*s", network_class_key.data, CLIP(key));
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
        return source_fail(s, at, n.kind == NUMBER_REAL ? XIR_E_TYPE : XIR_E_BOUNDS,
                           "expected a number of bytes");
    }
    d->net->params_bytes = n.kind == NUMBER_I64 ? (uint64_t)n.i64 : n.u64;
    return true;
}

static bool read_network_key(decoder *d, source *s, network_key key) {
    xir_str text;
    switch (key) {
    case NETWORK_TYPE:         return read_network_class(s);
    case NETWORK_AI_TARGET:    return read_ai_target(d, s);
    case NETWORK_PARAMS_BYTES: return read_params_bytes(d, s);
        case NETWORK_TAGS: {
        xir_map tags;
        return decode_map(d, s, &tags, false) && keep_map(d, &tags, &d->net->tags);
    }
    case NETWORK_OPS:
        /* The version decides how reals are held: it must come before the first real. */
        if (d->net->absent >> NETWORK_XIR_VERSION & 1 &&
            s->ops->member(&d->root, xir_str_of(network_keys[NETWORK_XIR_VERSION]), &text) && !set_version(d, text)) {
            return false;
        }
        return read_ops(d, s);
    default: return s->ops->text(s, &text) && keep_network_text(d, key, text);
    }
}

static int find_network_key(xir_str key) {
    int i = 0;
    while (i < NETWORK_KEYS && !xir_str_equal(key, xir_str_of(network_keys[i]))) i++;
    return i;
}

/* The scratch arena is emptied after each op, so undeclared keys of the network are copied at once. */
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
        f->key = xir_str_of(network_keys[key]);   /* must outlive the scratch arena */
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
        return source_fail(s, at, XIR_E_MISSING, "a network needs %s", network_keys[needed[i]]);
    }
    bool old = version_before(net->version, 3, 31);
    if (old && !(net->absent >> NETWORK_AI_TARGET & 1)) net->absent |= NETWORK_HAD_AI_TARGET;
    return true;
}

/* ---- attributes of ops that were opaque -------------------------------------------------------------------- */

/* Reads the members of a map of attributes, which has been entered: rows and undeclared entries. */
static bool read_attrs(decoder *d, source *s, codec_plan *plan, void *body, members *m, xir_str *name) {
    const xir_class *cls = plan->cls;
    uint32_t next = 0;
    for (bool first = true;; first = false) {
        int what, stepped = next_member(s, plan, first, &next, name, &what);
        if (stepped != 1) return stepped == 0;
        if (what >= 0) {
            if (!members_note(d, s, m, cls, what, *name) || !decode_op_field(d, s, &cls->fields[what], body))
                return false;
        } else if (!add_extra(d, s, &m->extra, *name, true)) {
            return false;
        }
    }
}

static bool is_orphan(const xir_value *v) { return v->id >= 0 && !value_op(v) && !value_is_params(v); }

/* From now on, values that sub ops use and that have no producer yet are found by their ids. */
static bool enter_orphans(decoder *d) {
    if (!net_reserve_ids(d->net, 0, d->n_values)) return false;
    for (size_t i = 0; i < d->n_values; i++) {
        if (is_orphan(d->values[i].value)) value_set_id(d->values[i].value, d->values[i].id);
    }
    return true;
}

static void leave_orphans(decoder *d) {
    for (size_t i = 0; i < d->n_values; i++) {
        if (is_orphan(d->values[i].value)) ids_forget_value(d->values[i].value);
    }
}

bool decode_attrs(decoder *d, source *s, xir_op *op, const xir_class *cls) {
    const void *at = s->at;
    decoder_join(d, s);
    d->adopts = op_is_in(op);
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
    const void *old_attrs = op->attrs;
    op->cls = cls;
    if (ok && !cls->plain && op_adopt_children(op, attrs)) ok = trace_memory(&d->trace);
    if (ok) op->attrs = attrs;
    bool in = ok && op_is_in(op);
    if (in && (!enter_orphans(d) || op_reserve_ids(op))) ok = trace_memory(&d->trace);
    if (!ok) {
        if (in) leave_orphans(d);
        op->cls = old;
        op->attrs = old_attrs;
        decoder_undo(d);
        return false;
    }
    /* Memory is reserved: from here on nothing fails. */
    for (const adopted *a = d->adopted; a; a = a->before) value_adopt(a->orphan, a->value);
    d->adopted = NULL;
    if (in) op_number_attrs(op);
    if (op_more_of(op)) {
        op_more_of(op)->extra = kept;
        op_more_of(op)->absent = absent;
    }
    op->net->epoch++;
    return true;
}

/* ---- parts for an existing network ------------------------------------------------------------------------- */

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
    d->adopted = NULL;
    for (made_op *made = d->made; made; made = made->before) op_forget(made->op);
    while (net->all_params != d->old_params) {
        xir_value *v = net->all_params;
        ids_forget_value(v);
        net->all_params = value_params(v)->next;
    }
    net->n_params = d->old_n_params;
    net->next_op_id = d->old_next_op_id;
    net->next_value_id = d->old_next_value_id;
}
