/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Channels in sets: see ratios.h. A set is a tree of channels whose root has the ratio. Which channel of an input an
 * output's channel is from is not known here: inference carries ratios, so it is asked with a number for each set in
 * the place of a ratio, and its answer is read. */
#include "ratios.h"
#include <math.h>
#include <xir/icraft.h>
#include "types.h"

void ratio_plan_init(ratio_plan *p, const xir_allocator *alloc) {
    *p = (ratio_plan){ .alloc = alloc };
    pointer_table_init(&p->of, alloc);
}

void ratio_plan_free(ratio_plan *p) {
    pointer_table_free(&p->of);
    mem_free(p->alloc, p->maps, p->map_room * sizeof *p->maps);
    mem_free(p->alloc, p->parent, p->room * sizeof *p->parent);
    mem_free(p->alloc, p->ratio, p->room * sizeof *p->ratio);
    mem_free(p->alloc, p->before, p->room * sizeof *p->before);
}

enum { MOST_CHANNELS = 1 << 29 };

/* ---- channels ---------------------------------------------------------------------------------------------------- */

static bool reserve(ratio_plan *p, size_t n) {
    if (n <= p->room) return true;
    size_t room = p->room * 2 > n ? p->room * 2 : n + 64;
    uint32_t *parent = mem_new(p->alloc, room * sizeof *parent);
    double *ratio = mem_new(p->alloc, room * sizeof *ratio), *before = mem_new(p->alloc, room * sizeof *before);
    if (!parent || !ratio || !before) {
        mem_free(p->alloc, parent, room * sizeof *parent);
        mem_free(p->alloc, ratio, room * sizeof *ratio);
        mem_free(p->alloc, before, room * sizeof *before);
        return false;
    }
    if (p->n) {
        memcpy(parent, p->parent, p->n * sizeof *parent);
        memcpy(ratio, p->ratio, p->n * sizeof *ratio);
        memcpy(before, p->before, p->n * sizeof *before);
    }
    mem_free(p->alloc, p->parent, p->room * sizeof *parent);
    mem_free(p->alloc, p->ratio, p->room * sizeof *ratio);
    mem_free(p->alloc, p->before, p->room * sizeof *before);
    p->parent = parent;
    p->ratio = ratio;
    p->before = before;
    p->room = room;
    return true;
}

const map_channels *ratios_add(ratio_plan *p, const xir_value *map, size_t n, int64_t axis) {
    if (n > MOST_CHANNELS - p->n || !reserve(p, p->n + n) ||
        !mem_reserve(p->alloc, (void **)&p->maps, &p->map_room, p->n_maps + 1, sizeof *p->maps) ||
        !pointer_table_add(&p->of, map, (uint32_t)p->n_maps)) return NULL;
    p->maps[p->n_maps] = (map_channels){ (uint32_t)p->n, (uint32_t)n, axis };
    for (size_t i = p->n; i < p->n + n; i++) {
        p->parent[i] = (uint32_t)i;
        p->ratio[i] = 0;
        p->before[i] = 1;
    }
    p->n += n;
    return &p->maps[p->n_maps++];
}

const map_channels *ratios_of(const ratio_plan *p, const xir_value *map) {
    const uint32_t *i = map ? pointer_table_find(&p->of, map) : NULL;
    return i ? &p->maps[*i] : NULL;
}

uint32_t ratios_root(const ratio_plan *p, uint32_t channel) {
    while (p->parent[channel] != channel) {
        p->parent[channel] = p->parent[p->parent[channel]];
        channel = p->parent[channel];
    }
    return channel;
}

double ratio_at(const ratio_plan *p, const xir_value *map, size_t i) {
    const map_channels *c = ratios_of(p, map);
    return c && c->n ? p->ratio[ratios_root(p, c->first + (uint32_t)(i % c->n))] : 1;
}

static void join(ratio_plan *p, uint32_t a, uint32_t b) {
    a = ratios_root(p, a);
    b = ratios_root(p, b);
    if (a == b) return;
    const uint32_t to = a < b ? a : b, from = a < b ? b : a;
    p->parent[from] = to;
    p->ratio[to] = fmax(p->ratio[to], p->ratio[from]);
}

void ratios_even(ratio_plan *p, const xir_value *map) {
    const map_channels *c = ratios_of(p, map);
    for (uint32_t i = 1; c && i < c->n; i++) join(p, c->first, c->first + i);
}

void ratios_join_maps(ratio_plan *p, const xir_value *a, const xir_value *b) {
    const map_channels *x = ratios_of(p, a), *y = ratios_of(p, b);
    if (!x || !y || !x->n || !y->n) return;
    if (x->n == y->n && x->axis == y->axis) {
        for (uint32_t i = 0; i < x->n; i++) join(p, x->first + i, y->first + i);
        return;
    }
    ratios_even(p, a);
    ratios_even(p, b);
    join(p, x->first, y->first);
}

bool ratios_are_even(const ratio_plan *p, const xir_value *map) {
    const map_channels *c = ratios_of(p, map);
    for (uint32_t i = 1; c && i < c->n; i++)
        if (ratios_root(p, c->first + i) != ratios_root(p, c->first) ||
            p->before[c->first + i] != p->before[c->first]) return false;
    return true;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* An element type with other ratios. */
static const xir_type *with_ratios(object_pool *pool, const xir_type *element, const xir_norm_ratios *ratios) {
    const xir_object *object = (const xir_object *)element;
    const xir_normalized_type *n = xir_normalized_type_of(object);
    const xir_normalized_quantized_type *nq = xir_normalized_quantized_type_of(object);
    if (n) {
        xir_normalized_type now = *n;
        now.normratio = ratios;
        now.head.hash = 0;
        return (const xir_type *)pool_intern(pool, &now.head);
    }
    if (!nq) return element;
    xir_normalized_quantized_type now = *nq;
    now.normratio = ratios;
    now.head.hash = 0;
    return (const xir_type *)pool_intern(pool, &now.head);
}

const xir_type *ratios_element(const ratio_plan *p, xir_context *ctx, const xir_value *map) {
    const map_channels *c = ratios_of(p, map);
    const xir_type *element = xir_type_element(map->type);
    run_list runs;
    if (!c || !c->n) return element;
    run_list_init(&runs, p->alloc);
    bool fits = true;
    for (uint32_t i = 0; i < c->n && fits; i++)
        fits = !run_list_add(&runs, 1, 0, 0, (float)p->ratio[ratios_root(p, c->first + i)]);
    const xir_norm_ratios *ratios = fits ? norm_ratios_make(context_pool(ctx), run_list_runs(&runs), c->axis) : NULL;
    run_list_free(&runs);
    return ratios ? with_ratios(context_pool(ctx), element, ratios) : NULL;
}

/* ---- what carries ratios ----------------------------------------------------------------------------------------- */

/* Numbers stand for channels: floats from 2 on, by their bits, so there are as many as ratios_add allows. Inference
 * gives new elements the ratio 1, which is not one of them. */
static const uint32_t first_number = 0x40000000;   /* 2.0f */

static float number_of(uint32_t channel) {
    float number;
    const uint32_t bits = first_number + channel;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static bool channel_of(float number, uint32_t *channel) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    *channel = bits - first_number;
    return bits >= first_number;
}

/* A question to inference, whose inputs have types with numbers in the place of ratios. */
typedef struct question {
    ratio_plan      *p;
    xir_op          *op;
    object_pool      pool;
    const xir_type **types;      /* of the inputs as they are */
} question;

static const xir_type *numbered(question *q, const xir_value *map) {
    const map_channels *c = ratios_of(q->p, map);
    const xir_tensor_type *t = xir_type_as_tensor(map->type);
    run_list runs;
    run_list_init(&runs, q->p->alloc);
    bool fits = t != NULL;
    for (uint32_t i = 0; i < c->n && fits; i++)
        fits = !run_list_add(&runs, 1, 0, 0, number_of(ratios_root(q->p, c->first + i)));
    const xir_norm_ratios *ratios = fits ? norm_ratios_make(&q->pool, run_list_runs(&runs), c->axis) : NULL;
    run_list_free(&runs);
    const xir_type *element = ratios ? with_ratios(&q->pool, t->element_dtype, ratios) : NULL;
    return element ? type_tensor(&q->pool, element, xir_type_layout(map->type), t->shape, t->merged_distrs) : NULL;
}

static bool number_inputs(question *q) {
    for (uint32_t i = 0; i < q->op->n_inputs; i++) {
        xir_value *v = op_inputs(q->op)[i].value;
        if (!ratios_of(q->p, v)) continue;
        const xir_type *type = numbered(q, v);
        if (!type) return false;
        v->type = type;
    }
    return true;
}

static void restore_inputs(const question *q) {
    for (uint32_t i = 0; i < q->op->n_inputs; i++)
        if (op_inputs(q->op)[i].value) op_inputs(q->op)[i].value->type = q->types[i];
}

/* Adds an output whose type has numbers, and joins its channels. New elements have the ratio of the first channel. */
static bool take_answer(const question *q, const xir_value *output, const xir_type *type) {
    const xir_norm_ratios *ratios = xir_type_norm_ratios(type);
    const int64_t n = ratios ? runs_total(ratios->items) : 0, rank = (int64_t)xir_type_rank(type);
    const map_channels *c = ratios_add(q->p, output, (size_t)n, ratios->axis < 0 ? ratios->axis : ratios->axis - rank);
    if (!c) return false;
    const uint32_t first = c->first;
    for (size_t r = 0, i = 0; r < ratios->items.size; r++) {
        uint32_t from;
        const bool known = channel_of(ratios->items.data[r].value, &from);
        for (; (int64_t)i < ratios->items.data[r].end; i++)
            join(q->p, first + (uint32_t)i, known ? from : first);
    }
    return true;
}

/* Asks once. *answered is false if inference does not carry these numbers. XIR_E_MEMORY. */
static xir_status ask(question *q, bool *answered) {
    xir_infer at;
    *answered = false;
    if (!number_inputs(q)) return XIR_E_MEMORY;
    infer_start(&at, q->op->net, q->op->cls, q->op->attrs, op_target(q->op), NULL, 0, xir_op_name(q->op), NULL);
    at.pool = &q->pool;
    at.op = q->op;
    at.n_inputs = q->op->n_inputs;
    xir_status status = infer_run(&at);
    *answered = !status && at.n_out == q->op->n_outputs;
    for (size_t i = 0; i < at.n_out && *answered; i++) *answered = xir_type_norm_ratios(at.out[i]) != NULL;
    bool kept = true;
    for (size_t i = 0; i < at.n_out && *answered && kept; i++) kept = take_answer(q, &op_outputs(q->op)[i], at.out[i]);
    infer_end(&at);
    return kept && status != XIR_E_MEMORY ? XIR_OK : XIR_E_MEMORY;
}

/* The inputs get the same ratios; `even`: one for all channels, which any op that carries ratios carries. */
static void join_inputs(const question *q, bool even) {
    const xir_value *first = NULL;
    for (uint32_t i = 0; i < q->op->n_inputs; i++) {
        const xir_value *v = op_inputs(q->op)[i].value;
        if (!ratios_of(q->p, v)) continue;
        if (even) ratios_even(q->p, v);
        if (first) ratios_join_maps(q->p, first, v);
        else first = v;
    }
}

xir_status ratios_carry(ratio_plan *p, xir_op *op) {
    question q = { .p = p, .op = op };
    const size_t size = (op->n_inputs + 1) * sizeof *q.types;
    q.types = mem_new(p->alloc, size);
    if (!q.types) return XIR_E_MEMORY;
    for (uint32_t i = 0; i < op->n_inputs; i++)
        q.types[i] = op_inputs(op)[i].value ? op_inputs(op)[i].value->type : NULL;
    pool_init_reader(&q.pool, &op->net->pool);
    bool answered = false;
    xir_status status = ask(&q, &answered);
    restore_inputs(&q);
    for (int even = 0; even < 2 && !status && !answered; even++) {
        join_inputs(&q, even == 1);
        status = ask(&q, &answered);
        restore_inputs(&q);
    }
    pool_free(&q.pool);
    mem_free(p->alloc, (void *)q.types, size);
    return status || answered ? status : XIR_E_INVALID;
}
