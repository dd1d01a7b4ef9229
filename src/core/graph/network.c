/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Making and freeing networks, their fields, and lookups. Indexes are built on first use, under a lock, because several
 * threads may ask at once. */
#include <limits.h>
#include "graph.h"
#include "number.h"

/* ORDER FRAMEWORK */
static const char *const framework_words[XIR_FRAMEWORK_COUNT] = { "PYTORCH", "CAFFE", "TENSORFLOW", "DARKNET", "ONNX" };

static const char newest_icraft[] = "v3.33.1", newest_xir[] = "3.33.1.0";
static const char md5_of_nothing[] = "d41d8cd98f00b204e9800998ecf8427e";

xir_network *network_new(xir_context *ctx) {
    xir_network *net = mem_new(&ctx->alloc, sizeof *net);
    if (!net) return NULL;
    memset((void *)net, 0, sizeof *net);
    net->ctx = ctx;
    net->alloc = ctx->alloc;
    net->diags = xir_diags_new(ctx);
    if (!net->diags) {
        mem_free(&ctx->alloc, net, sizeof *net);
        return NULL;
    }
    xir_diags_set_max(net->diags, SIZE_MAX);    /* building stops at the first failure unless the program continues */
    atomic_init(&net->references, 1);
    atomic_init(&net->has_ids, false);
    atomic_init(&net->asked_names, false);
    atomic_init(&net->has_index, false);
    atomic_init(&net->op_names.is_known, false);
    atomic_init(&net->value_names.is_known, false);
    pthread_mutex_init(&net->cache_lock, NULL);
    context_retain(ctx);
    pool_init(&net->pool, ctx, NULL);
    arena_init(&net->arena, &net->alloc);
    net->next_temp_id = -2;   /* -1 means "unset" in files */
    net->host = ctx->host;
    net->targets[net->n_targets++] = net->host;
    return net;
}

xir_network *xir_network_new(xir_context *ctx, const char *name, xir_framework framework,
                             const char *framework_version) {
    xir_network *net = network_new(ctx);
    if (!net) return NULL;
    const char *word = (unsigned)framework < XIR_FRAMEWORK_COUNT ? framework_words[framework] : "";
    net->ai_target = xir_target_of_kind(ctx, XIR_TARGET_BUYI, NULL);
    net->ai_target_new = true;
    if (!net->ai_target || xir_network_set_text(net, XIR_TEXT_NAME, xir_str_of(name)) ||
        xir_network_set_text(net, XIR_TEXT_FRAMEWORK, xir_str_of(word)) ||
        xir_network_set_text(net, XIR_TEXT_FRAMEWORK_VERSION, xir_str_of(framework_version)) ||
        xir_network_set_text(net, XIR_TEXT_ICRAFT_VERSION, xir_str_of(newest_icraft)) ||
        xir_network_set_text(net, XIR_TEXT_XIR_VERSION, xir_str_of(newest_xir)) ||
        xir_network_set_text(net, XIR_TEXT_PARAMS_MD5, xir_str_of(md5_of_nothing))) {
        xir_network_free(net);
        return NULL;
    }
    return net;
}

void net_check_release(net_check *check) {
    if (check && atomic_fetch_sub_explicit(&check->references, 1, memory_order_acq_rel) == 1) check->drop(check);
}

void net_share_check(const xir_network *net, xir_network *copy) {
    if (net->check) atomic_fetch_add_explicit(&net->check->references, 1, memory_order_relaxed);
    copy->check = net->check;
}

void xir_network_free(xir_network *net) {
    if (!net || atomic_fetch_sub_explicit(&net->references, 1, memory_order_acq_rel) != 1) return;
    net_check_release(net->check);
    for (xir_value *v = net->all_params; v; v = value_params(v)->next) blob_release(value_params(v)->data);
    ids_free(net);
    labels_free(net);
    mem_free(&net->alloc, net->by_index, net->by_index_room * sizeof *net->by_index);
    mem_free(&net->alloc, net->inferred, net->inferred_room * sizeof *net->inferred);
    composed_memo_free(net);
    pool_free(&net->pool);
    arena_free(&net->arena);
    xir_diags_free(net->diags);
    pthread_mutex_destroy(&net->cache_lock);
    xir_context *ctx = net->ctx;
    mem_free(&ctx->alloc, net, sizeof *net);
    xir_context_free(ctx);
}

xir_context *xir_network_context(const xir_network *net) { return net ? net->ctx : NULL; }
xir_status   xir_network_status(const xir_network *net)  { return net ? net->status : XIR_E_MISSING; }
xir_diags   *xir_network_diags(xir_network *net)         { return net ? net->diags : NULL; }

void xir_network_clear_status(xir_network *net) {
    if (!net) return;
    net->status = XIR_OK;
    xir_diags_clear(net->diags);
}

void xir_network_move_diags(xir_network *net, xir_diags *to) {
    if (!net || !to || to == net->diags) return;
    diags_append(to, net->diags);
    xir_diags_clear(net->diags);
}

/* ---- fields ------------------------------------------------------------------------------------------------ */

/* "3.33.1.0" as four numbers; anything that is not a number counts as 0. */
static void parse_version(xir_str text, uint32_t out[4]) {
    memset(out, 0, 4 * sizeof *out);
    size_t part = 0;
    for (size_t i = 0; i < text.size && part < 4; i++) {
        char c = text.data[i];
        if (c == '.') part++;
        else if (is_digit(c) && out[part] < 100000000) out[part] = out[part] * 10 + (uint32_t)(c - '0');
    }
}

xir_str xir_network_text_of(const xir_network *net, xir_network_text which) {
    if (!net) return (xir_str){ "", 0 };
    return (unsigned)which < XIR_TEXT_COUNT ? net->text[which] : (xir_str){ NULL, 0 };
}

xir_status xir_network_set_text(xir_network *net, xir_network_text which, xir_str text) {
    if (!net) return XIR_E_MISSING;
    if ((unsigned)which >= XIR_TEXT_COUNT) return net_fail(net, XIR_E_BOUNDS, "a network has no text %d", (int)which);
    xir_str copy;
    if (!arena_text(&net->arena, text, &copy)) return net_no_memory(net);
    net->text[which] = copy;
    if (which == XIR_TEXT_XIR_VERSION) {
        parse_version(copy, net->version);
        repeats_forget(net);   /* the version decides whether reals are rounded */
    }
    return XIR_OK;
}

bool network_since(const xir_network *net, uint32_t major, uint32_t minor) {
    return net->version[0] > major || (net->version[0] == major && net->version[1] >= minor);
}

uint64_t          xir_network_params_bytes(const xir_network *net) { return net ? net->params_bytes : 0; }
const xir_target *xir_network_ai_target(const xir_network *net)    { return net ? net->ai_target : NULL; }

bool xir_network_has_ai_target(const xir_network *net) { return net && net->ai_target && !net->ai_target_new; }

xir_status xir_network_set_ai_target(xir_network *net, const xir_target *target) {
    if (!net) return XIR_E_MISSING;
    const xir_target *own = target ? (const xir_target *)net_intern(net, (const xir_object *)target) : NULL;
    if (target && !own) return net_no_memory(net);
    net->ai_target = own;
    net->ai_target_new = false;
    net->absent &= ~(UINT32_C(1) << 1);   /* the second key: see network_key in codec.h */
    return XIR_OK;
}

const xir_map *xir_network_tags(const xir_network *net)  { return net ? net->tags : NULL; }
const xir_map *xir_network_extra(const xir_network *net) { return net ? net->extra : NULL; }

static xir_status set_map(xir_network *net, const xir_map **map, xir_str key, const xir_any *value) {
    xir_status status = value ? any_check_params(net, value) : XIR_OK;
    if (status) return status;
    return map_with(&net->arena, *map, key, value, map) ? XIR_OK : net_no_memory(net);
}

xir_status xir_network_set_tag(xir_network *net, xir_str key, const xir_any *value) {
    if (!net) return XIR_E_MISSING;
    return set_map(net, &net->tags, key, value);
}

/* The keys that every network has cannot be undeclared keys. */
static bool declared(xir_str key) {
    static const char *const keys[] = { "_type_key", "ai_target", "framework_kind", "framework_version",
                                        "icraft_version",
                                        "icraft_xir_version", "name", "ops", "params_bytes", "params_md5", "tags" };
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (xir_str_equal(xir_str_of(keys[i]), key)) return true;
    }
    return false;
}

xir_status xir_network_set_extra(xir_network *net, xir_str key, const xir_any *value) {
    if (!net) return XIR_E_MISSING;
    if (declared(key)) return net_fail(net, XIR_E_EXISTS, "every network has '%.*s'", (int)key.size, key.data);
    return set_map(net, &net->extra, key, value);
}

/* ---- finding ----------------------------------------------------------------------------------------------- */

size_t   xir_network_op_count(const xir_network *net)   { return net ? net->n_ops : 0; }
uint32_t xir_network_slot_count(const xir_network *net) { return net ? net->n_slots : 0; }
xir_op  *xir_network_first(const xir_network *net)      { return net ? net->first : NULL; }
xir_op  *xir_network_last(const xir_network *net)       { return net ? net->last : NULL; }

int64_t xir_network_next_op_id(const xir_network *net)    { return net ? net->next_op_id : 0; }

xir_op *xir_network_next_of_class(const xir_network *net, const xir_op *op, const xir_class_decl *decl) {
    if (!net) return NULL;
    for (xir_op *next = op ? op->next : net->first; next; next = next->next) {
        if (next->cls->decl == decl) return next;
    }
    return NULL;
}


static bool index_ops(xir_network *net) {
    if (atomic_load_explicit(&net->has_index, memory_order_acquire)) return true;
    pthread_mutex_lock(&net->cache_lock);
    if (!atomic_load_explicit(&net->has_index, memory_order_relaxed) &&
        mem_reserve(&net->alloc, (void **)&net->by_index, &net->by_index_room, net->n_ops + 1, sizeof *net->by_index)) {
        size_t i = 0;
        for (xir_op *op = net->first; op; op = op->next) net->by_index[i++] = op;
        atomic_store_explicit(&net->has_index, true, memory_order_release);
    }
    bool ok = atomic_load_explicit(&net->has_index, memory_order_relaxed);
    pthread_mutex_unlock(&net->cache_lock);
    return ok;
}

xir_op *xir_network_op_at(const xir_network *net, int64_t i) {
    if (!net) return NULL;
    int64_t n = (int64_t)net->n_ops;
    if (i < 0) i += n;
    if (i < 0 || i >= n) return NULL;
    if (i == 0) return net->first;
    if (i == n - 1) return net->last;
    return index_ops(net_cache(net)) ? net->by_index[i] : NULL;
}

int64_t xir_network_index_of(const xir_network *net, const xir_op *op) {
    if (!net || !op || op->net != net || !(op->flags & OP_PLACED) || !index_ops(net_cache(net))) return -1;
    size_t low = 0, high = net->n_ops;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (net->by_index[middle]->position < op->position) low = middle + 1;
        else high = middle;
    }
    return (int64_t)low;
}

xir_op *xir_network_op_by_id(const xir_network *net, int64_t id) {
    if (!net) return NULL;
    xir_op *op = net_find_op(net, id);
    return op && !(op->flags & OP_ERASED) ? op : NULL;
}

xir_value *xir_network_value_by_id(const xir_network *net, int64_t id) { return net ? net_find_value(net, id) : NULL; }

size_t xir_network_values_by_id(const xir_network *net, const int64_t *ids, size_t n, xir_value **out) {
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += (out[i] = xir_network_value_by_id(net, ids[i])) != NULL;
    return found;
}

xir_op *xir_network_input_op(const xir_network *net) {
    if (!net) return NULL;
    for (xir_op *op = net->first; op; op = op->next) {
        if (op->cls->traits & XIR_TRAIT_SOURCE) return op;
    }
    return NULL;
}

xir_op *xir_network_output_op(const xir_network *net) {
    if (!net) return NULL;
    for (xir_op *op = net->last; op; op = op->prev) {
        if (op->cls->traits & XIR_TRAIT_SINK) return op;
    }
    return NULL;
}

size_t xir_network_inputs(const xir_network *net, xir_value **out, size_t room) {
    if (!net) return 0;
    xir_op *op = xir_network_input_op(net);
    if (!op) return 0;
    for (uint32_t i = 0; i < op->n_outputs && i < room; i++) out[i] = &op_outputs(op)[i];
    return op->n_outputs;
}

size_t xir_network_outputs(const xir_network *net, xir_value **out, size_t room) {
    if (!net) return 0;
    const xir_op *op = xir_network_output_op(net);
    if (!op) return 0;
    for (uint32_t i = 0; i < op->n_inputs && i < room; i++) out[i] = op_inputs(op)[i].value;
    return op->n_inputs;
}

size_t xir_network_params(const xir_network *net, xir_value **out, size_t room) {
    if (!net) return 0;
    value_room g = { out, room, 0 };
    net_walk_params(net, value_gather, &g);
    return g.n;
}
