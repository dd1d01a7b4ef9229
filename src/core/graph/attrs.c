/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attributes are immutable and shared. An op with default attributes points to its class's defaults, and equal bodies
 * of numbers, texts, lists of them and objects are stored once as long as the network remembers them, in a small memo
 * that keeps the latest few of each hash. So most ops of a network own no attributes, and an answer of inference that
 * is remembered for one body (infer_memo) serves all ops that have it.
 *
 * What a program gives becomes what is stored in one pass over the rows of its class, then one lookup and at most one
 * copy. The pass only sees that a row may be at fault: body_check then finds out, and writes the findings. */
#include "graph.h"
#include "number.h"

/* ---- one pass over the rows -------------------------------------------------------------------------------------- */

/* The work of the pass, and its result. */
typedef struct preparing {
    bool     presets;   /* give absent references and empty lists of references the default of their row  */
    bool     rounds;    /* round reals to float32                                                         */
    bool     doubtful;  /* out: a row may be at fault                                                     */
    uint64_t hash;      /* out: of the bytes of a plain body                                              */
} preparing;

static bool are_own_params(const xir_network *net, const xir_field *f, xir_value *const *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const xir_value *v = values[i];
        if (v ? !value_is_params(v) || value_net(v) != net : !(f->flags & XIR_FIELD_OPTIONAL)) return false;
    }
    return true;
}

static bool prepare_refs(const xir_class *cls, const xir_field *f, xir_refs *list, const preparing *p) {
    if (list->size == 0 && p->presets) *list = *(const xir_refs *)body_at(cls->defaults, f);
    for (size_t i = 0; i < list->size; i++) {
        if (!ref_is_good(f, list->data[i])) return false;
    }
    return true;
}

/* References of a plain body are interned in the network; the class's defaults, which are good, remain the context's.
 * False without memory. */
static bool prepare_ref(xir_network *net, const xir_class *cls, const xir_field *f, const xir_object **ref,
                        const preparing *p, bool *good) {
    const xir_object *preset = *(const xir_object **)body_at(cls->defaults, f);
    if (!*ref && p->presets) *ref = preset;
    if (*ref && *ref == preset) return true;
    if (*ref && cls->plain && !(*ref = net_intern(net, *ref))) return false;
    *good &= ref_is_good(f, *ref);
    return true;
}

/* Makes of a body what the network stores. False without memory. */
static bool prepare(xir_network *net, const xir_class *cls, void *body, preparing *p) {
    uint64_t hash = (uint64_t)(uintptr_t)cls;
    bool good = true;
    for (const xir_field *f = cls->fields, *end = f + cls->n_fields; f < end; f++) {
        void *at = body_at(body, f);
        uint64_t word = 0;
        switch (f->kind) {   /* in a case of one kind, number_is_good is a comparison or two */
        case XIR_KIND_BOOL:
            word = *(const unsigned char *)at;
            break;
        case XIR_KIND_ENUM:
            word = *(const unsigned *)at;
            good &= number_is_good(f, at);
            break;
        case XIR_KIND_I64:
            word = *(const uint64_t *)at;
            good &= number_is_good(f, at);
            break;
        case XIR_KIND_U64:
            word = *(const uint64_t *)at;
            good &= number_is_good(f, at);
            break;
        case XIR_KIND_REAL:
            if (p->rounds) *(double *)at = number_to_f32(*(const double *)at);
            memcpy(&word, at, sizeof word);
            good &= number_is_good(f, at);
            break;
        case XIR_KIND_REF:
            if (!prepare_ref(net, cls, f, at, p, &good)) return false;
            word = (uintptr_t)*(const xir_object *const *)at;
            break;
        case XIR_KIND_REFS:
            good &= prepare_refs(cls, f, at, p);
            break;
        case XIR_KIND_REALS:
            if (p->rounds && !field_round(&net->arena, f, body)) return false;
            break;
        case XIR_KIND_PARAMS:
            good &= are_own_params(net, f, at, 1);
            break;
        case XIR_KIND_PARAMSS:
            good &= are_own_params(net, f, ((const xir_values *)at)->data, ((const xir_values *)at)->size);
            break;
        case XIR_KIND_MAP:
            good &= ((const xir_map *)at)->size == 0;   /* it may have Params */
            break;
        default: break;   /* texts, and lists without bounds */
        }
        hash = hash_mix(hash ^ word, 0x9E3779B97F4A7C15u);
    }
    p->doubtful = !good;
    p->hash = hash;
    return true;
}

/* ---- what is stored ---------------------------------------------------------------------------------------------- */

static bool same_spans(const xir_class *cls, const void *a, const void *b) {
    for (uint32_t i = 0; i < cls->more->n_spans; i++) {
        const class_span *s = &cls->more->spans[i];
        if (memcmp((const char *)a + s->start, (const char *)b + s->start, s->size) != 0) return false;
    }
    return true;
}

/* The places of the bodies with this hash. */
static attrs_memo *memo_of(xir_network *net, uint64_t hash) {
    return &net->attrs[hash % (ATTRS_MEMO / ATTRS_WAYS) * ATTRS_WAYS];
}

/* Remembers a body in the place of the oldest one. */
static void remember(attrs_memo *memo, const xir_class *cls, const void *attrs, uint64_t hash) {
    memmove((void *)(memo + 1), (const void *)memo, (ATTRS_WAYS - 1) * sizeof *memo);
    *memo = (attrs_memo){ cls, attrs, hash };
}

/* Stores a body with lists or the like. */
static const void *store(xir_network *net, const xir_class *cls, const void *body) {
    uint64_t hash = (uint64_t)(uintptr_t)cls;
    if (body_equal(cls, body, cls->defaults)) return cls->defaults;
    if (cls->valued) body_hash_into(cls, body, &hash);
    attrs_memo *memo = cls->valued ? memo_of(net, hash) : NULL;
    for (size_t i = 0; memo && i < ATTRS_WAYS; i++) {
        const attrs_memo *m = &memo[i];
        if (m->cls == cls && m->hash == hash && body_same(cls, m->attrs, body)) return m->attrs;
    }
    void *copy = arena_take(&net->arena, cls->body_size);
    if (!copy || !body_copy(&net->pool, &net->arena, cls, copy, body)) return NULL;
    if (memo) remember(memo, cls, copy, hash);
    return copy;
}

/* Stores a body that prepare has made. NULL without memory. */
static const void *store_prepared(xir_network *net, const xir_class *cls, const void *body, uint64_t hash) {
    if (!cls->plain) return store(net, cls, body);
    attrs_memo *memo = memo_of(net, hash);
    for (size_t i = 0; i < ATTRS_WAYS; i++) {
        const attrs_memo *m = &memo[i];
        if (m->cls == cls && m->hash == hash && same_spans(cls, m->attrs, body)) return m->attrs;
    }
    const void *attrs = cls->defaults;
    if (!same_spans(cls, body, attrs)) attrs = arena_copy(&net->arena, body, cls->body_size);
    if (attrs) remember(memo, cls, attrs, hash);
    return attrs;
}

const void *net_attrs(xir_network *net, const xir_class *cls, const void *body) {
    _Alignas(16) char space[512];
    if (cls->n_fields == 0 || body == cls->defaults) return cls->defaults;
    if (!cls->plain || cls->body_size > sizeof space) return store(net, cls, body);
    preparing p = { .presets = false };
    memcpy(space, body, cls->body_size);
    return prepare(net, cls, space, &p) ? store_prepared(net, cls, space, p.hash) : NULL;
}

/* ---- faults ------------------------------------------------------------------------------------------------------ */

static xir_status no_params(xir_network *net, const xir_value *v) {
    if (!value_is_params(v)) return net_fail(net, XIR_E_TYPE, "expected Params, found an op's value");
    if (value_net(v) != net) return net_fail(net, XIR_E_INVALID, "Params in an attribute belong to another network");
    return XIR_OK;
}

xir_status any_check_params(xir_network *net, const xir_any *any) {
    xir_status status = XIR_OK;
    if (any->kind == XIR_ANY_PARAMS) return no_params(net, any->as.params);
    if (any->kind == XIR_ANY_LIST) {
        for (size_t i = 0; i < any->as.list.size && !status; i++)
            status = any_check_params(net, &any->as.list.items[i]);
    } else if (any->kind == XIR_ANY_MAP) {
        for (size_t i = 0; i < any->as.map.size && !status; i++)
            status = any_check_params(net, &any->as.map.entries[i].value);
    }
    return status;
}

/* Refuses Params of another network in a body whose rows are valid. */
static xir_status check_owner(xir_network *net, const xir_class *cls, const void *body) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < cls->n_fields && !status; i++) {
        const xir_field *f = &cls->fields[i];
        const void *at = body_at(body, f);
        if (f->kind == XIR_KIND_PARAMS) {
            if (*(xir_value *const *)at) status = no_params(net, *(xir_value *const *)at);
        } else if (f->kind == XIR_KIND_PARAMSS) {
            const xir_values *list = at;
            for (size_t j = 0; j < list->size && !status; j++) status = no_params(net, list->data[j]);
        } else if (f->kind == XIR_KIND_MAP) {
            const xir_any map = { .kind = XIR_ANY_MAP, .as.map = *(const xir_map *)at };
            status = any_check_params(net, &map);
        }
    }
    return status;
}

static xir_status check_some(xir_network *net, const xir_class *cls, const void *body, uint64_t which,
                             xir_str op_name) {
    xir_status status = XIR_OK;
    for (uint32_t i = 0; i < cls->n_fields && i < 64 && !status; i++) {
        if (which >> i & 1)
            status = field_check(cls, &cls->fields[i], body, op_name, XIR_STR(""), net->diags);
    }
    if (!status && !cls->plain) return check_owner(net, cls, body);
    if (status && !net->status) net->status = status;
    return status;
}

const void *draft_attrs(xir_network *net, const xir_class *cls, const void *body, uint64_t which, xir_str op_name) {
    _Alignas(16) char space[512];
    char *made = cls->body_size <= sizeof space ? space : mem_new(&net->alloc, cls->body_size);
    if (!made) return net_no_memory(net), NULL;
    memcpy(made, body, cls->body_size);
    body_fill_presets(cls, made);
    const bool good = check_some(net, cls, made, which, op_name) == XIR_OK;
    const void *attrs = good ? net_attrs(net, cls, made) : NULL;
    if (good && !attrs) net_no_memory(net);
    if (made != space) mem_free(&net->alloc, made, cls->body_size);
    return attrs;
}

/* Adds a finding for each fault of a prepared body. XIR_OK: it has no faults. */
static xir_status find_faults(xir_network *net, const xir_class *cls, const void *body, xir_str op_name) {
    xir_status status = body_check(cls, body, op_name, XIR_STR(""), net->diags);
    if (!status && !cls->plain) status = check_owner(net, cls, body);
    if (status && !net->status) net->status = status;
    return status;
}

xir_status net_check_set(xir_network *net, const xir_class *cls, uint64_t unset, xir_str op_name) {
    xir_status status = class_check_set(cls, unset, op_name, XIR_STR(""), net->diags);
    if (status && !net->status) net->status = status;
    return status;
}

const void *net_checked_attrs(xir_network *net, const xir_class *cls, const void *body, bool round, xir_str op_name) {
    if (!body && net_check_set(net, cls, cls->more->required, op_name)) return NULL;
    if (cls->n_fields == 0 || (!body && cls->more->defaults_good)) return cls->defaults;
    _Alignas(16) char space[512];
    char *made = cls->body_size <= sizeof space ? space : mem_new(&net->alloc, cls->body_size);
    if (!made) return net_no_memory(net), NULL;
    memcpy(made, body ? body : cls->defaults, cls->body_size);
    preparing p = { .presets = true, .rounds = round && !network_keeps_doubles(net) };
    const void *attrs = NULL;
    const bool prepared = prepare(net, cls, made, &p);
    const bool faulty = prepared && p.doubtful && find_faults(net, cls, made, op_name);
    if (prepared && !faulty) attrs = store_prepared(net, cls, made, p.hash);
    if (!attrs && !faulty) net_no_memory(net);
    if (made != space) mem_free(&net->alloc, made, cls->body_size);
    return attrs;
}
