/* Attributes are immutable and shared. An op with default attributes points to its class's defaults, and equal
 * bodies of classes without lists are stored once as long as the network remembers them, in a small direct-mapped
 * memo. Networks repeat the same few attribute sets, so most ops own none, and a remembered set has already been
 * checked. */
#include <stdarg.h>
#include <stdio.h>
#include "graph.h"

static bool same_spans(const xir_class *cls, const void *a, const void *b) {
    for (uint32_t i = 0; i < cls->more->n_spans; i++) {
        const class_span *s = &cls->more->spans[i];
        if (memcmp((const char *)a + s->start, (const char *)b + s->start, s->size) != 0) return false;
    }
    return true;
}

static attrs_memo *memo_of(xir_network *net, const xir_class *cls, const void *body) {
    uint64_t hash = (uint64_t)(uintptr_t)cls;
    body_hash_into(cls, body, &hash);
    return &net->attrs[(hash ^ (hash >> 17)) % ATTRS_MEMO];
}

/* Most ops of a class repeat the attributes of the previous one: this costs a comparison and no hash. */
static attrs_memo *last_of(xir_network *net, const xir_class *cls) {
    uintptr_t bits = (uintptr_t)cls >> 6;
    return &net->last_attrs[(bits ^ (bits >> 5)) % CLASS_MEMO];
}

void attrs_forget(xir_network *net) {
    memset(net->attrs, 0, sizeof net->attrs);
    memset(net->last_attrs, 0, sizeof net->last_attrs);
    repeats_forget(net);
}

static const void *remembered(const attrs_memo *memo, const xir_class *cls, const void *body) {
    return memo->cls == cls && same_spans(cls, memo->attrs, body) ? memo->attrs : NULL;
}

static const void *store(xir_network *net, const xir_class *cls, const void *body) {
    void *copy = arena_take(&net->arena, cls->body_size);
    return copy && body_copy(&net->pool, &net->arena, cls, copy, body) ? copy : NULL;
}

/* Interns references in the network; the class's defaults remain the context's. */
static bool adopt_refs(xir_network *net, const xir_class *cls, void *body) {
    for (uint32_t i = 0; i < cls->more->n_refs; i++) {
        const xir_field *f = &cls->fields[cls->more->refs[i]];
        const xir_object **ref = body_at(body, f);
        const xir_object *preset = *(const xir_object **)body_at(cls->defaults, f);
        if (!*ref || *ref == preset) continue;
        *ref = net_intern(net, *ref);
        if (!*ref) return false;
    }
    return true;
}

static const void *store_plain(xir_network *net, const xir_class *cls, const void *body) {
    void *copy = arena_take(&net->arena, cls->body_size);
    if (!copy) return NULL;
    memcpy(copy, body, cls->body_size);
    return copy;
}

const void *net_attrs(xir_network *net, const xir_class *cls, const void *body) {
    if (cls->n_fields == 0) return cls->defaults;
    if (!cls->plain) return body_equal(cls, body, cls->defaults) ? cls->defaults : store(net, cls, body);
    _Alignas(16) char space[512];
    if (cls->body_size > sizeof space) return store(net, cls, body);
    memcpy(space, body, cls->body_size);
    if (!adopt_refs(net, cls, space)) return NULL;
    if (same_spans(cls, space, cls->defaults)) return cls->defaults;
    attrs_memo *last = last_of(net, cls);
    const void *attrs = remembered(last, cls, space);
    if (attrs) return attrs;
    attrs_memo *memo = memo_of(net, cls, space);
    attrs = remembered(memo, cls, space);
    if (!attrs) attrs = store_plain(net, cls, space);
    if (attrs) *last = *memo = (attrs_memo){ cls, attrs, false };
    return attrs;
}

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

const void *net_checked_attrs(xir_network *net, const xir_class *cls, const void *body, bool round, xir_str op_name) {
    if (cls->n_fields == 0 || (!body && cls->more->defaults_good)) return cls->defaults;
    _Alignas(16) char space[512];
    char *made = cls->body_size <= sizeof space ? space : mem_new(&net->alloc, cls->body_size);
    const void *attrs = NULL;
    const bool sound = round || network_keeps_doubles(net);   /* what is stored has been rounded if it must be */
    if (!made) goto memory;
    memcpy(made, body ? body : cls->defaults, cls->body_size);
    if (body) body_fill_presets(cls, made);
    attrs_memo *memo = NULL, *last = last_of(net, cls);
    if (cls->plain) {
        if (!adopt_refs(net, cls, made)) goto memory;
        attrs = last->checked ? remembered(last, cls, made) : NULL;   /* then nothing is left to do */
        if (attrs) goto done;
    }
    if (body && round && !network_keeps_doubles(net) && !body_round(&net->arena, cls, made)) goto memory;
    if (cls->plain) {
        memo = memo_of(net, cls, made);
        attrs = memo->checked ? remembered(memo, cls, made) : NULL;
    }
    if (!attrs) {
        xir_status status = body_check(cls, made, op_name, XIR_STR(""), net->diags);
        if (!status && !cls->plain) status = check_owner(net, cls, made);
        if (status) {
            if (!net->status) net->status = status;
            goto done;
        }
        if (cls->plain) {
            attrs = same_spans(cls, made, cls->defaults) ? cls->defaults : store_plain(net, cls, made);
            if (attrs) *memo = (attrs_memo){ cls, attrs, sound };
        } else {
            attrs = body_equal(cls, made, cls->defaults) ? cls->defaults : store(net, cls, made);
        }
        if (!attrs) goto memory;
    }
    if (memo) *last = (attrs_memo){ cls, attrs, sound };
    goto done;
memory:
    net_no_memory(net);
done:
    if (made && made != space) mem_free(&net->alloc, made, cls->body_size);
    return attrs;
}
