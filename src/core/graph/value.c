/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values and their uses: queries, names, replacement. */
#include <inttypes.h>
#include <xir/icraft.h>
#include "compose_walk.h"
#include "library.h"

xir_network *xir_value_network(const xir_value *v) { return v ? value_net(v) : NULL; }
int64_t      xir_value_id(const xir_value *v)      { return v ? v->id : -1; }
xir_str      xir_value_name(const xir_value *v) {
    return v ? value_text(v) : (xir_str){ "", 0 };
}

const xir_type *xir_value_type(const xir_value *v) { return v ? v->type : NULL; }

const xir_mtype *xir_value_mtype(const xir_value *v) {
    if (!v) return NULL;
    return value_more_of(v) && value_more_of(v)->mtype ? value_more_of(v)->mtype : value_net(v)->ctx->host_mem;
}

xir_op *xir_value_op(const xir_value *v)        { return v ? value_op(v) : NULL; }
size_t  xir_value_index(const xir_value *v)     { return v && value_op(v) ? (size_t)(v - op_outputs(value_op(v))) : 0; }
bool    xir_value_is_params(const xir_value *v) { return v && value_is_params(v); }

xir_status graph_register(xir_context *ctx) {
    ctx->is_params = xir_value_is_params;
    ctx->composed.infer = composed_infer;
    ctx->composed.check = composed_check;
    ctx->composed.work = composed_work;
    ctx->composed.takes = composed_takes;
    ctx->composed.needs = composed_needs;
    return XIR_OK;
}

const xir_use *xir_value_uses(const xir_value *v)  { return v ? v->uses : NULL; }
const xir_use *xir_use_next(const xir_use *use)    { return use->next; }
xir_op        *xir_use_op(const xir_use *use)      { return use->user; }
size_t         xir_use_index(const xir_use *use)   { return (size_t)(use - op_inputs(use->user)); }

size_t xir_value_use_count(const xir_value *v) {
    if (!v) return 0;
    size_t n = 0;
    for (const xir_use *u = v->uses; u; u = u->next) n++;
    return n;
}

size_t xir_value_users(const xir_value *v, xir_user *out, size_t room) {
    if (!v) return 0;
    size_t n = 0;
    for (const xir_use *u = v->uses; u; u = u->next, n++) {
        if (n < room) out[n] = (xir_user){ u->user, xir_use_index(u) };
    }
    return n;
}

static xir_status check_user(xir_network *net, const xir_user *user, size_t i) {
    if (!user->op) return net_fail(net, XIR_E_MISSING, "user %zu has no op", i);
    if (user->op->net != net) return net_fail(net, XIR_E_INVALID, "user %zu belongs to another network", i);
    if (user->op->flags & OP_ERASED) return net_fail(net, XIR_E_INVALID, "user %zu is erased", i);
    if (user->index < user->op->n_inputs) return XIR_OK;
    return net_fail(net, XIR_E_BOUNDS, "user %zu is input %zu of an op that has %" PRIu32, i, user->index,
                    user->op->n_inputs);
}

xir_status xir_value_connect(xir_value *v, const xir_user *users, size_t n) {
    if (!v) return XIR_E_MISSING;
    xir_network *net = value_net(v);
    if (value_op(v) && value_op(v)->flags & OP_ERASED)
        return net_fail(net, XIR_E_INVALID, "the op of the value to connect is erased");
    if (value_is_spent(v)) return value_not_spent(v);
    bool in = false;
    for (size_t i = 0; i < n; i++) {
        xir_status status = check_user(net, &users[i], i);
        if (status) return status;
        in |= op_is_in(users[i].op);
    }
    xir_status status = in && value_is_params(v) && v->id < 0 ? value_number(v) : XIR_OK;
    if (status) return status;
    for (size_t i = 0; i < n; i++) {
        xir_use *use = &op_inputs(users[i].op)[users[i].index];
        use_unlink(use);
        use_link(use, users[i].op, v);
    }
    if (n) net->epoch++;
    if (in) value_met(v);
    return XIR_OK;
}

xir_status xir_value_set_name(xir_value *v, xir_str text) {
    if (!v) return XIR_E_MISSING;
    if (value_is_spent(v)) return value_not_spent(v);
    xir_network *net = value_net(v);
    if (text.size == 0 && !value_more_of(v)) return XIR_OK;
    const label *n = net_name(net, text);
    value_more *more = n ? value_need_more(v) : NULL;
    if (!more) return net_no_memory(net);
    more->name = n;
    value_named(v);
    net->epoch++;
    return XIR_OK;
}

xir_status xir_value_set_id(xir_value *v, int64_t id) {
    if (!v) return XIR_E_MISSING;
    if (value_is_spent(v)) return value_not_spent(v);
    xir_network *net = value_net(v);
    if (id < 0) return net_fail(net, XIR_E_BOUNDS, "value id %" PRId64 " is below 0", id);
    const bool loose = !value_op(v) && !value_is_params(v);   /* a table that is made later would not have it */
    if ((loose || id < net->next_value_id) && !net_build_ids(net)) return net_no_memory(net);
    const xir_value *other = id < net->next_value_id ? net_find_value(net, id) : NULL;
    for (uint32_t i = 0; value_op(v) && i < value_op(v)->n_outputs && !other; i++) {
        /* not in the table if it is not placed */
        if (op_outputs(value_op(v))[i].id == id) other = &op_outputs(value_op(v))[i];
    }
    if (other && other != v) return net_fail(net, XIR_E_EXISTS, "value id %" PRId64 " is taken", id);
    if (value_op(v) && !op_is_in(value_op(v))) {
        v->id = id;   /* entered into the table when its op is placed */
        if (id >= net->next_value_id && id < INT64_MAX) net->next_value_id = id + 1;
        return XIR_OK;
    }
    if (!value_set_id(v, id)) return net_no_memory(net);
    net->epoch++;
    return XIR_OK;
}

xir_status xir_value_set_type(xir_value *v, const xir_type *type) {
    if (!v) return XIR_E_MISSING;
    if (value_is_spent(v)) return value_not_spent(v);
    xir_network *net = value_net(v);
    const xir_type *own = net_type(net, type);
    if (type && !own) return net_no_memory(net);
    v->type = own;
    net->epoch++;
    return XIR_OK;
}

xir_status xir_value_set_mtype(xir_value *v, const xir_mtype *mtype) {
    if (!v) return XIR_E_MISSING;
    if (value_is_spent(v)) return value_not_spent(v);
    xir_network *net = value_net(v);
    if (!mtype || xir_mtype_kind_of(mtype) == XIR_MTYPE_HOST) {
        if (value_more_of(v)) value_more_of(v)->mtype = NULL;
        net->epoch++;
        return XIR_OK;
    }
    const xir_mtype *own = (const xir_mtype *)net_intern(net, (const xir_object *)mtype);
    value_more *more = own ? value_need_more(v) : NULL;
    if (!more) return net_no_memory(net);
    more->mtype = own;
    net->epoch++;
    return XIR_OK;
}

const xir_map *xir_value_extra(const xir_value *v) { return v && value_more_of(v) ? value_more_of(v)->extra : NULL; }

const xir_map *xir_value_tags(const xir_value *v) { return v && value_more_of(v) ? value_more_of(v)->tags : NULL; }

xir_status xir_value_set_tag(xir_value *v, xir_str key, const xir_any *tag) {
    if (!v) return XIR_E_MISSING;
    if (value_is_spent(v)) return value_not_spent(v);
    xir_network *net = value_net(v);
    xir_status status = tag ? any_check_params(net, tag) : XIR_OK;
    if (status) return status;
    const xir_map *tags = NULL;
    value_more *more = value_need_more(v);
    if (!more || !map_with(&net->arena, more->tags, key, tag, &tags)) return net_no_memory(net);
    more->tags = tags;
    net->epoch++;
    return XIR_OK;
}

xir_value *xir_value_new(xir_network *net, xir_str text, const xir_type *type, const xir_mtype *mtype) {
    if (!net) return NULL;
    if (!type) return net_no_type(net, "value", text), NULL;
    const bool host = !mtype || xir_mtype_kind_of(mtype) == XIR_MTYPE_HOST;
    const xir_type *own = net_type(net, type);
    const label *n = own ? net_name(net, text) : NULL;
    const xir_mtype *memory = n && !host ? (const xir_mtype *)net_intern(net, (const xir_object *)mtype) : NULL;
    xir_value *v = n && (host || memory) ? value_make_orphan(net, own) : NULL;
    if (!v) return net_no_memory(net), NULL;
    value_more_of(v)->name = n;
    value_more_of(v)->mtype = memory;
    value_named(v);
    return v;
}

xir_status xir_value_replace(xir_value *old, xir_value *now) {
    if (!old) return XIR_E_MISSING;
    xir_network *net = value_net(old);
    if (!now) return net_null(net, "value");
    if (value_net(now) != net)
        return net_fail(net, XIR_E_INVALID, "the value to replace with belongs to another network");
    if (value_is_spent(now)) return value_not_spent(now);
    if (old == now) return XIR_OK;
    bool in = false;
    for (const xir_use *u = old->uses; u && !in && value_is_params(now) && now->id < 0; u = u->next)
        in = op_is_in(u->user);
    xir_status status = in ? value_number(now) : XIR_OK;
    if (status) return status;
    const bool moves = old->uses != NULL;
    uses_move(old, now);
    if (!moves) return XIR_OK;
    value_met(now);
    net->epoch++;
    return XIR_OK;
}

void value_adopt(xir_value *orphan, xir_value *v) {
    ids_forget_value(orphan);
    while (orphan->uses) {
        xir_use *use = orphan->uses;
        xir_op *user = use->user;
        use_unlink(use);
        use_link(use, user, v);
    }
}
