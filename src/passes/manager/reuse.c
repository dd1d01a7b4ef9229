/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values that a proof need not compute again. Values have numbers, and two values have the same number only if their
 * arrays have the same type and the same bytes: a hash finds the candidates, and then the bytes are compared. So no
 * collision makes a false proof, and no pass has to be believed. An op of the next network gives what an op of the
 * last one gave if both compute the same (same_op.h). That holds before the run for what follows from the inputs and
 * Params alone, and during the run for ops whose inputs turn out to have the bytes that they had before, such as those
 * after ops that a pass has replaced without changing a bit.
 *
 * Params are known by the address of their bytes, which nobody writes while a kept array shares them. Other Params are
 * read once. */
#include "reuse.h"
#include "graph.h"
#include "hash.h"
#include "same_op.h"

/* An item with a number. */
typedef struct item {
    xir_array *array;      /* NULL: dropped, because there was no room */
    uint64_t   digest;
    uint32_t   next;       /* the next one with such a digest          */
    uint32_t   renamed;    /* only while unused ones are removed       */
    bool       of_params;  /* or given: takes no room                  */
    bool       promised;   /* to the present run, which needs it       */
} item;

/* An op and the hash of what it computes. */
typedef struct known_op { const xir_op *op; uint64_t hash; } known_op;

/* The numbers of a network's values. */
typedef struct numbering {
    const xir_network *net;      /* NULL: none                           */
    size_t            *first;    /* by slot: the first value of an op    */
    uint32_t          *values;
    uint32_t          *params;   /* by params->number                    */
    size_t             n_slots, n_values, n_params;
} numbering;

struct reuse {
    xir_context   *ctx;
    uint64_t       room, taken;
    item          *items;        /* from 1 */
    size_t         n, item_room;
    uint32_t      *heads;        /* by digest; a power of two */
    size_t         n_heads;
    pointer_table  by_bytes;     /* items of Params, by the address of the bytes */
    numbering      last, now;
    known_op      *ops;          /* of `last`, by what they compute, one of those that compute the same; a power of
                                    two, open addressing                                                         */
    size_t         op_room;
    bool           failed;       /* out of memory during this run */
};

/* ---- numberings ------------------------------------------------------------------------------------------------- */

static void numbering_free(const reuse *k, numbering *n) {
    const xir_allocator *alloc = &k->ctx->alloc;
    mem_free(alloc, n->first, n->n_slots * sizeof *n->first);
    mem_free(alloc, n->values, n->n_values * sizeof *n->values);
    mem_free(alloc, n->params, n->n_params * sizeof *n->params);
    *n = (numbering){ .net = NULL };
}

static bool numbering_make(const reuse *k, numbering *n, const xir_network *net) {
    const xir_allocator *alloc = &k->ctx->alloc;
    *n = (numbering){ .net = net, .n_slots = net->n_slots + (size_t)1, .n_values = 1,
                      .n_params = net->n_params + (size_t)1 };
    for (const xir_op *op = net->first; op; op = op->next) n->n_values += op->n_outputs;
    n->first = mem_new(alloc, n->n_slots * sizeof *n->first);
    n->values = mem_new(alloc, n->n_values * sizeof *n->values);
    n->params = mem_new(alloc, n->n_params * sizeof *n->params);
    if (!n->first || !n->values || !n->params) {
        numbering_free(k, n);
        return false;
    }
    memset(n->values, 0, n->n_values * sizeof *n->values);
    memset(n->params, 0, n->n_params * sizeof *n->params);
    size_t at = 0;
    for (const xir_op *op = net->first; op; op = op->next) {
        n->first[op->slot] = at;
        at += op->n_outputs;
    }
    return true;
}

static uint32_t *number_at(const numbering *n, const xir_value *v) {
    const xir_op *op = value_op(v);
    if (!op || op->net != n->net || !(op->flags & OP_PLACED)) return NULL;
    return &n->values[n->first[op->slot] + (size_t)(v - op_outputs(op))];
}

/* ---- items ------------------------------------------------------------------------------------------------------ */

static size_t size_of(const xir_array *array) {
    size_t size;
    (void)xir_array_data(array, &size);
    return size;
}

static void drop(reuse *k, item *it) {
    if (it->array && !it->of_params) k->taken -= size_of(it->array);
    xir_array_free(it->array);
    it->array = NULL;
}

/* Drops every second array until the others have room: those that stay are spread over the network, so that a run
 * from any place has one not far before it. */
static void make_room(reuse *k) {
    bool odd = true;
    for (size_t left = 1; k->taken > k->room && left;) {
        left = 0;
        for (size_t i = 1; i <= k->n && k->taken > k->room; i++) {
            item *it = &k->items[i];
            if (!it->array || it->of_params || it->promised) continue;
            left++;
            odd = !odd;
            if (!odd) drop(k, it);
        }
    }
}

static void keep(reuse *k, item *it, const xir_array *array) {
    it->array = xir_array_retain((xir_array *)(uintptr_t)array);
    if (it->of_params) return;
    k->taken += size_of(array);
    make_room(k);
}

static bool more_heads(reuse *k) {
    const size_t n = k->n_heads ? 2 * k->n_heads : 64;
    uint32_t *heads = mem_new(&k->ctx->alloc, n * sizeof *heads);
    if (!heads) return false;
    memset(heads, 0, n * sizeof *heads);
    for (size_t i = 1; i <= k->n; i++) {
        uint32_t *head = &heads[k->items[i].digest & (n - 1)];
        k->items[i].next = *head;
        *head = (uint32_t)i;
    }
    mem_free(&k->ctx->alloc, k->heads, k->n_heads * sizeof *k->heads);
    k->heads = heads;
    k->n_heads = n;
    return true;
}

static bool is_same(const item *it, uint64_t digest, const xir_array *array) {
    if (!it->array || it->digest != digest) return false;
    if (it->array == array) return true;
    size_t a_size, b_size;
    const void *a = xir_array_data(it->array, &a_size), *b = xir_array_data(array, &b_size);
    return a_size == b_size && xir_type_equal(xir_array_type(it->array), xir_array_type(array)) &&
           (a == b || memcmp(a, b, a_size) == 0);
}

/* The number of an array's contents, perhaps a new one; 0 without memory. */
static uint32_t number_of_array(reuse *k, const xir_array *array, bool of_params) {
    size_t size;
    const void *data = xir_array_data(array, &size);
    const uint64_t digest = hash_bytes(xir_object_hash((const xir_object *)xir_array_type(array)), data, size);
    for (uint32_t i = k->n_heads ? k->heads[digest & (k->n_heads - 1)] : 0; i; i = k->items[i].next)
        if (is_same(&k->items[i], digest, array)) return i;
    if (k->n >= UINT32_MAX - 2 || (k->n + 1 > k->n_heads && !more_heads(k)) ||
        !mem_reserve(&k->ctx->alloc, (void **)&k->items, &k->item_room, k->n + 2, sizeof *k->items)) {
        k->failed = true;
        return 0;
    }
    uint32_t *head = &k->heads[digest & (k->n_heads - 1)], number = (uint32_t)++k->n;
    k->items[number] = (item){ .digest = digest, .next = *head, .of_params = of_params };
    *head = number;
    keep(k, &k->items[number], array);
    return number;
}

/* The number of Params; 0 if they have no bytes. */
static uint32_t number_of_params(reuse *k, const numbering *n, const xir_value *v) {
    uint32_t *number = &n->params[value_params(v)->number];
    if (*number) return *number;
    uint64_t size;
    const void *bytes = xir_params_data(v, &size);
    const uint32_t *found = bytes ? pointer_table_find(&k->by_bytes, bytes) : NULL;
    if (found) {
        const xir_array *array = k->items[*found].array;
        if (size_of(array) == size && xir_type_equal(xir_array_type(array), v->type)) return *number = *found;
    }
    xir_array *array = xir_array_from_params(v, NULL);
    if (!array) return 0;
    *number = number_of_array(k, array, true);
    item *it = &k->items[*number];
    if (*number && !it->of_params) {   /* computed before: the bytes of the Params take no room */
        drop(k, it);
        it->of_params = true;
        keep(k, it, array);
    }
    if (*number && bytes && !pointer_table_add(&k->by_bytes, bytes, *number)) k->failed = true;
    xir_array_free(array);
    return *number;
}

static uint32_t number_of(reuse *k, const numbering *n, const xir_value *v) {
    if (value_is_params(v)) return number_of_params(k, n, v);
    const uint32_t *number = number_at(n, v);
    return number ? *number : 0;
}

static uint32_t number_now(void *user, const xir_value *v)  { return number_of(user, &((reuse *)user)->now, v); }
static uint32_t number_last(void *user, const xir_value *v) { return number_of(user, &((reuse *)user)->last, v); }

static contents contents_now(reuse *k)  { return (contents){ number_now, k }; }
static contents contents_last(reuse *k) { return (contents){ number_last, k }; }

/* ---- ops that compute the same ---------------------------------------------------------------------------------- */

static bool is_comparable(const xir_op *op) { return op->n_outputs && !(op->flags & OP_DRAFT); }

/* The entry of an op of the last network that computes the same as `op`, or the free one where it belongs. */
static known_op *find_op(const reuse *k, const contents *of, const xir_op *op, uint64_t hash, const contents *last) {
    size_t i = hash & (k->op_room - 1);
    for (; k->ops[i].op; i = (i + 1) & (k->op_room - 1))
        if (k->ops[i].hash == hash && op_computes_same(of, op, last, k->ops[i].op)) break;
    return &k->ops[i];
}

/* Gives the outputs of an op the numbers of an op of the last network that computes the same. */
static void match(reuse *k, const xir_op *op) {
    uint64_t hash;
    const contents now = contents_now(k), last = contents_last(k);
    if (!k->op_room || !is_comparable(op) || !op_hash_contents(&now, op, &hash)) return;
    const xir_op *same = find_op(k, &now, op, hash, &last)->op;
    for (uint32_t o = 0; same && o < op->n_outputs; o++)
        *number_at(&k->now, &op_outputs(op)[o]) = *number_at(&k->last, &op_outputs(same)[o]);
}

static bool has_numbers(const numbering *n, const xir_op *op) {
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (!*number_at(n, &op_outputs(op)[i])) return false;
    return true;
}

/* Enters the ops of the last network; false without memory. */
static bool enter_ops(reuse *k) {
    const xir_allocator *alloc = &k->ctx->alloc;
    const contents last = contents_last(k);
    mem_free(alloc, k->ops, k->op_room * sizeof *k->ops);
    k->ops = NULL;
    k->op_room = 0;
    size_t room = 16;
    while (room < 2 * k->last.net->n_ops) room *= 2;
    k->ops = mem_new(alloc, room * sizeof *k->ops);
    if (!k->ops) return false;
    memset(k->ops, 0, room * sizeof *k->ops);
    k->op_room = room;
    for (const xir_op *op = k->last.net->first; op; op = op->next) {
        uint64_t hash;
        if (!is_comparable(op) || !has_numbers(&k->last, op) || !op_hash_contents(&last, op, &hash)) continue;
        *find_op(k, &last, op, hash, &last) = (known_op){ op, hash };
    }
    return !k->failed;
}

/* ---- removing what the last network does not have --------------------------------------------------------------- */

static void mark(reuse *k, const uint32_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i]) k->items[numbers[i]].renamed = 1;
}

static void rename_all(const reuse *k, uint32_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (numbers[i]) numbers[i] = k->items[numbers[i]].renamed;
}

static void remove_unused(reuse *k) {
    size_t n = 0;
    for (size_t i = 1; i <= k->n; i++) k->items[i].renamed = 0;
    mark(k, k->last.values, k->last.n_values);
    mark(k, k->last.params, k->last.n_params);
    for (size_t i = 1; i <= k->n; i++) {
        item *it = &k->items[i];
        if (it->renamed) it->renamed = (uint32_t)++n;
        else drop(k, it);
    }
    rename_all(k, k->last.values, k->last.n_values);
    rename_all(k, k->last.params, k->last.n_params);
    for (size_t i = 1; i <= k->n; i++)
        if (k->items[i].renamed) k->items[k->items[i].renamed] = k->items[i];
    k->n = n;
    if (k->n_heads) memset(k->heads, 0, k->n_heads * sizeof *k->heads);
    pointer_table_free(&k->by_bytes);
    for (size_t i = 1; i <= k->n; i++) {
        uint32_t *head = &k->heads[k->items[i].digest & (k->n_heads - 1)];
        k->items[i].next = *head;
        *head = (uint32_t)i;
        size_t size;
        const void *bytes = k->items[i].of_params ? xir_array_data(k->items[i].array, &size) : NULL;
        if (bytes && !pointer_table_add(&k->by_bytes, bytes, (uint32_t)i)) k->failed = true;
    }
}

static void forget(reuse *k) {
    const xir_allocator *alloc = &k->ctx->alloc;
    for (size_t i = 1; i <= k->n; i++) drop(k, &k->items[i]);
    numbering_free(k, &k->last);
    numbering_free(k, &k->now);
    pointer_table_free(&k->by_bytes);
    mem_free(alloc, k->items, k->item_room * sizeof *k->items);
    mem_free(alloc, k->heads, k->n_heads * sizeof *k->heads);
    mem_free(alloc, k->ops, k->op_room * sizeof *k->ops);
    k->items = NULL;
    k->heads = NULL;
    k->ops = NULL;
    k->n = k->item_room = k->n_heads = k->op_room = 0;
    k->failed = false;
}

/* Those that no op has been asked about yet. */
static void number_all_params(reuse *k) {
    for (const xir_op *op = k->last.net->first; op; op = op->next)
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            if (v) (void)number_of(k, &k->last, v);
        }
}

/* ---- for proofs ------------------------------------------------------------------------------------------------- */

reuse *reuse_new(xir_context *ctx, uint64_t room) {
    reuse *k = mem_new(&ctx->alloc, sizeof *k);
    if (!k) return NULL;
    *k = (reuse){ .ctx = ctx, .room = room };
    pointer_table_init(&k->by_bytes, &ctx->alloc);
    return k;
}

void reuse_free(reuse *k) {
    if (!k) return;
    forget(k);
    mem_free(&k->ctx->alloc, k, sizeof *k);
}

uint64_t reuse_bytes(const reuse *k) { return k ? k->taken : 0; }

void reuse_begin(reuse *k, const xir_network *net, const xir_array *const *inputs, size_t n) {
    const xir_op *in = xir_network_input_op(net), *out = xir_network_output_op(net);
    numbering_free(k, &k->now);
    for (size_t i = 1; i <= k->n; i++) k->items[i].promised = false;   /* of a run that was not ended */
    if (!numbering_make(k, &k->now, net)) return;
    for (uint32_t i = 0; in && i < in->n_outputs && i < n; i++)
        *number_at(&k->now, &op_outputs(in)[i]) = inputs[i] ? number_of_array(k, inputs[i], true) : 0;
    for (const xir_op *op = net->first; op && !k->failed; op = op->next)
        if (op != in && op != out) match(k, op);
}

const xir_array *reuse_find(reuse *k, const xir_value *value) {
    uint32_t *number = k->now.net && !k->failed ? number_at(&k->now, value) : NULL;
    if (!number) return NULL;
    if (!*number) match(k, value_op(value));
    if (!*number || !k->items[*number].array) return NULL;
    k->items[*number].promised = true;
    return k->items[*number].array;
}

void reuse_note(reuse *k, const xir_value *value, const xir_array *array) {
    uint32_t *number = k->now.net && !k->failed ? number_at(&k->now, value) : NULL;
    if (!number) return;
    if (!*number) *number = number_of_array(k, array, false);
    else if (!k->items[*number].array) keep(k, &k->items[*number], array);
}

void reuse_end(reuse *k, bool keep_it) {
    const bool good = k->now.net && !k->failed;
    for (size_t i = 1; i <= k->n; i++) k->items[i].promised = false;
    if (good && keep_it) {
        numbering_free(k, &k->last);
        k->last = k->now;
        k->now = (numbering){ .net = NULL };
        number_all_params(k);
    } else {
        numbering_free(k, &k->now);
    }
    if (good && k->last.net) remove_unused(k);
    if (!good || !k->last.net || !enter_ops(k)) forget(k);
}
