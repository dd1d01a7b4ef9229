/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Groups of repeated ops. Two ops are alike if their classes, attributes, types and constants are, and their inputs
 * come from the same distance in the execution order, or from the same op. A repeat is a range of nodes in which each
 * is like the one `period` before it, for two periods at least. Hashes only say where to look: what is alike has been
 * compared.
 *
 * A candidate for a period is the distance to the last node of the same hash, so that work is nearly linear; a limit
 * makes it so for a network that is made to be slow. The longest periods come first, and shorter ones are repeats
 * inside their blocks. A block begins where it cuts the fewest groups, then the fewest values. */
#include <string.h>
#include "make.h"

enum { LEAST_PERIOD = 3, WORK_PER_NODE = 64 };

typedef struct run { uint32_t begin, end, period; } run;

typedef struct repeats {
    const picture *p;
    draw_spans    *spans;
    uint32_t      *edges;     /* see draw_edges_to                                                          */
    uint32_t      *code;      /* by node: equal for ops of the same class, attributes, types and constants  */
    uint64_t      *hash;      /* by node: of what is around it, too                                         */
    uint32_t      *cut;       /* by node: how many values pass between the node before it and it            */
    uint16_t      *depth;     /* by node: how many groups have both the node before it and it               */
    run           *runs;
    size_t         n_runs;
    uint64_t       work;      /* comparisons that are left */
} repeats;

/* ---- ops that are alike ------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t h, uint64_t word) {
    h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

static uint64_t hash_text(uint64_t h, xir_str s) {
    for (size_t i = 0; i < s.size; i++) h = (h ^ (unsigned char)s.data[i]) * UINT64_C(0x100000001B3);
    return mix(h, s.size);
}

/* Of the attributes of most kinds; the others are only compared. */
static uint64_t hash_attr(uint64_t h, const xir_attr *a) {
    if (a->is_null) return mix(h, 1);
    switch (a->kind) {
    case XIR_KIND_BOOL: return mix(h, a->as.boolean);
    case XIR_KIND_I64:  return mix(h, (uint64_t)a->as.i64);
    case XIR_KIND_U64:  return mix(h, a->as.u64);
    case XIR_KIND_ENUM: return mix(h, (uint64_t)a->as.enumerator);
    case XIR_KIND_TEXT: return hash_text(h, a->as.text);
    case XIR_KIND_REF:  return mix(h, a->as.ref ? xir_object_hash(a->as.ref) : 0);
    case XIR_KIND_I64S:
        for (size_t i = 0; i < a->as.i64s.size; i++) h = mix(h, (uint64_t)a->as.i64s.data[i]);
        return mix(h, a->as.i64s.size);
    default: return h;
    }
}

static uint64_t hash_type(uint64_t h, const xir_value *v) {
    const xir_type *type = v ? xir_value_type(v) : NULL;
    return mix(h, type ? xir_object_hash(xir_type_object(type)) : 0);
}

static uint64_t hash_op(const xir_op *op) {
    const xir_class *cls = xir_op_class(op);
    uint64_t h = hash_text(0, xir_class_key(cls));
    xir_attr attr;
    for (size_t i = 0; i < xir_class_field_count(cls); i++)
        if (!xir_op_get(op, xir_class_field_at(cls, i)->name, &attr)) h = hash_attr(h, &attr);
    const xir_map *extra = xir_op_extra(op);
    for (size_t i = 0; extra && i < extra->size; i++) h = hash_text(h, extra->entries[i].key);
    for (size_t i = 0; i < xir_op_output_count(op); i++) h = hash_type(h, xir_op_output(op, (int64_t)i));
    return mix(h, xir_op_input_count(op));
}

static bool same_type(const xir_value *a, const xir_value *b) {
    const xir_type *x = xir_value_type(a), *y = xir_value_type(b);
    return x == y || (x && y && xir_type_equal(x, y));
}

/* Params of a type are alike, as inputs are. */
static bool same_extra(const xir_map *a, const xir_map *b) {
    if (a == b) return true;
    if (!a || !b || a->size != b->size) return false;
    for (size_t i = 0; i < a->size; i++) {
        const xir_any *x = &a->entries[i].value, *y = &b->entries[i].value;
        if (!xir_str_equal(a->entries[i].key, b->entries[i].key)) return false;
        if (x->kind == XIR_ANY_PARAMS && y->kind == XIR_ANY_PARAMS ? !same_type(x->as.params, y->as.params)
                                                                   : !xir_any_equal(x, y))
            return false;
    }
    return true;
}

static bool same_attrs(const xir_op *a, const xir_op *b) {
    const xir_class *cls = xir_op_class(a);
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_attr x, y;
        if (f->kind == XIR_KIND_PARAMS || f->kind == XIR_KIND_PARAMSS) continue;
        if (xir_op_get(a, f->name, &x) || xir_op_get(b, f->name, &y) || x.is_null != y.is_null) return false;
        if (x.is_null || memcmp(&x.as, &y.as, sizeof x.as) == 0) continue;   /* equal bytes are equal values */
        if (!xir_op_attr_is(b, f->name, &x)) return false;
    }
    return same_extra(xir_op_extra(a), xir_op_extra(b));
}

/* The inputs that no op makes are alike if both are Params of a type, or both are absent. */
static bool same_op(const xir_op *a, const xir_op *b) {
    if (xir_op_class(a) != xir_op_class(b) || xir_op_input_count(a) != xir_op_input_count(b) ||
        xir_op_output_count(a) != xir_op_output_count(b))
        return false;
    for (size_t i = 0; i < xir_op_output_count(a); i++)
        if (!same_type(xir_op_output(a, (int64_t)i), xir_op_output(b, (int64_t)i))) return false;
    for (size_t i = 0; i < xir_op_input_count(a); i++) {
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = xir_op_input(b, (int64_t)i);
        if (!x != !y || (x && (xir_value_is_params(x) != xir_value_is_params(y) || !same_type(x, y)))) return false;
    }
    return same_attrs(a, b);
}

/* ---- codes ------------------------------------------------------------------------------------------------------- */

/* A table of nodes by hash. */
typedef struct table { uint32_t *slots; size_t mask; } table;

static bool table_make(table *t, const picture *p) {
    size_t room = 16;
    while (room < 2 * p->n_nodes) room *= 2;
    t->mask = room - 1;
    t->slots = draw_new(p->alloc, room, sizeof *t->slots);
    return t->slots != NULL;
}

/* The slot of a node: where it is, or where it belongs. A slot has a node plus one. Equal: by their code if they have
 * one, otherwise by comparison. */
static uint32_t *table_find(repeats *r, table *t, uint32_t node, bool compare) {
    const xir_op *op = r->p->nodes[node].op;
    size_t at = (size_t)(r->hash[node] ^ r->hash[node] >> 32) & t->mask;
    for (;; at = (at + 1) & t->mask) {
        const uint32_t other = t->slots[at] - 1;
        if (!t->slots[at]) return &t->slots[at];
        if (r->hash[other] != r->hash[node]) continue;
        if (!compare || !r->work) return &t->slots[at];
        r->work--;
        if (same_op(r->p->nodes[other].op, op)) return &t->slots[at];
    }
}

/* Gives each node the number of the first one that is alike as its code. */
static bool find_codes(repeats *r) {
    const picture *p = r->p;
    table t;
    if (!table_make(&t, p)) return false;
    for (uint32_t i = 0; i < p->n_nodes; i++) {
        r->hash[i] = hash_op(p->nodes[i].op);
        uint32_t *slot = table_find(r, &t, i, true);
        if (!*slot) *slot = i + 1;
        r->code[i] = r->work ? *slot - 1 : i;
    }
    draw_free(p->alloc, t.slots);
    /* The surroundings of a node: a block often has ops that are alike, but their makers are not. */
    for (uint32_t i = 0; i < p->n_nodes; i++) r->hash[i] = mix(1, r->code[i]);
    for (uint32_t i = (uint32_t)p->n_nodes; i-- > 0;) {
        for (uint32_t e = r->edges[i]; e < r->edges[i + 1]; e++) {
            const uint32_t from = p->edges[e].from;
            r->hash[i] = mix(r->hash[i], ((uint64_t)(i - from) << 32) + r->code[from]);
        }
    }
    return true;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* Node i is like the one a period before it. */
static bool is_repeated(repeats *r, uint32_t i, uint32_t period) {
    const picture *p = r->p;
    const uint32_t j = i - period, n = r->edges[i + 1] - r->edges[i];
    if (r->work) r->work--;
    if (!r->work || r->code[i] != r->code[j] || r->edges[j + 1] - r->edges[j] != n) return false;
    for (uint32_t k = 0; k < n; k++) {
        const draw_edge *a = &p->edges[r->edges[i] + k], *b = &p->edges[r->edges[j] + k];
        const uint32_t output = a->value - p->nodes[a->from].value;
        if (a->input != b->input || output != b->value - p->nodes[b->from].value) return false;
        if (a->from != b->from && a->from - i != b->from - j) return false;
    }
    return true;
}

static bool add_run(repeats *r, run found) {
    run *runs = draw_room(r->p->alloc, r->runs, r->n_runs + 1, sizeof *runs);
    if (!runs) return false;
    r->runs = runs;
    runs[r->n_runs++] = found;
    return true;
}

/* The longest run with this period around node i. `done` is where the last search for the period ended. */
static bool search(repeats *r, uint32_t i, uint32_t period, uint32_t *done) {
    const uint32_t n = (uint32_t)r->p->n_nodes;
    uint32_t begin = i, end = i;
    while (end < n && is_repeated(r, end, period)) end++;
    while (begin > *done && begin - 1 >= period && is_repeated(r, begin - 1, period)) begin--;
    *done = end > i ? end : i + 1;
    return end - begin < period || add_run(r, (run){ begin - period, end, period });
}

static bool find_runs(repeats *r) {
    const picture *p = r->p;
    table last;
    uint32_t *done = draw_new(p->alloc, p->n_nodes + 1, sizeof *done);   /* by period */
    bool ok = table_make(&last, p) && done;
    for (uint32_t i = 0; i < p->n_nodes && ok && r->work; i++) {
        uint32_t *slot = table_find(r, &last, i, false);
        const uint32_t period = *slot ? i - (*slot - 1) : 0;
        if (period >= LEAST_PERIOD && done[period] <= i) ok = search(r, i, period, &done[period]);
        *slot = i + 1;
    }
    draw_free(p->alloc, last.slots);
    draw_free(p->alloc, done);
    return ok;
}

/* Long periods first, then by place: Shell's sort, with gaps of a fixed ratio. No two runs are equal. */
static bool is_before(const run *a, const run *b) {
    return a->period != b->period ? a->period > b->period : a->begin < b->begin;
}

static void sort(run *runs, size_t n) {
    size_t gap = 1;
    while (gap < n / 9 + 1) gap = 3 * gap + 1;
    for (; gap; gap /= 3) {
        for (size_t i = gap; i < n; i++) {
            const run x = runs[i];
            size_t at = i;
            for (; at >= gap && is_before(&x, &runs[at - gap]); at -= gap) runs[at] = runs[at - gap];
            runs[at] = x;
        }
    }
}

/* ---- groups of them ---------------------------------------------------------------------------------------------- */

static void measure(repeats *r) {
    const picture *p = r->p;
    for (size_t e = 0; e < p->n_edges; e++) {
        const draw_edge *x = &p->edges[e];
        if (x->stub) continue;
        r->cut[x->from + 1]++;   /* differences: a sum of them wraps back */
        r->cut[x->to + 1]--;
    }
    for (size_t i = 1; i <= p->n_nodes; i++) r->cut[i] += r->cut[i - 1];
    for (size_t s = 0; s < r->spans->n; s++)
        for (uint32_t i = r->spans->items[s].begin + 1; i < r->spans->items[s].end && r->work; i++, r->work--)
            r->depth[i]++;
}

static bool is_better(const repeats *r, uint32_t a, uint32_t b) {
    return r->depth[a] != r->depth[b] ? r->depth[a] < r->depth[b] : r->cut[a] < r->cut[b];
}

/* Blocks from `begin` on cross no group: none that has two of them ends inside one. */
static bool is_free(const repeats *r, uint32_t begin, uint32_t period, uint32_t blocks) {
    const uint32_t end = begin + blocks * period, level = r->depth[begin + period];
    for (uint32_t i = begin + 1; i < end; i++) {
        const bool between = (i - begin) % period == 0;
        if (between ? r->depth[i] != level : r->depth[i] < level) return false;
    }
    return r->depth[begin] <= level && r->depth[end] <= level;
}

static void add_groups(repeats *r, uint32_t begin, uint32_t period, uint32_t blocks) {
    const uint32_t end = begin + blocks * period;
    for (uint32_t i = begin + 1; i < end; i++) r->depth[i] += (i - begin) % period ? 2 : 1;
    draw_span_add(r->spans, (draw_span){ .begin = begin, .end = end, .reason = DRAW_OF_REPEATS, .number = blocks });
    for (uint32_t k = 0; k < blocks; k++)
        draw_span_add(r->spans, (draw_span){ .begin = begin + k * period, .end = begin + (k + 1) * period,
                                             .reason = DRAW_OF_COPY, .number = k + 1 });
}

static void group(repeats *r, run x) {
    const uint32_t length = x.end - x.begin;
    if (r->work < length) {
        r->work = 0;
        return;
    }
    r->work -= length;
    uint32_t best = x.begin;
    for (uint32_t i = x.begin; i < x.begin + x.period && i + 2 * x.period <= x.end; i++)
        if (is_better(r, i, best)) best = i;
    const uint32_t blocks = (x.end - best) / x.period;
    if (r->depth[best] < UINT16_MAX / 2 && is_free(r, best, x.period, blocks)) add_groups(r, best, x.period, blocks);
}

void draw_find_repeats(const picture *p, draw_spans *spans) {
    repeats r = { .p = p, .spans = spans, .work = (uint64_t)WORK_PER_NODE * p->n_nodes + 1000 };
    if (spans->failed || p->n_nodes < 2 * LEAST_PERIOD) return;
    r.edges = draw_edges_to(p);
    r.code = draw_new(p->alloc, p->n_nodes, sizeof *r.code);
    r.hash = draw_new(p->alloc, p->n_nodes, sizeof *r.hash);
    bool ok = r.edges && r.code && r.hash && find_codes(&r) && find_runs(&r);
    draw_free(p->alloc, r.hash);
    r.cut = ok && r.n_runs ? draw_new(p->alloc, p->n_nodes + 2, sizeof *r.cut) : NULL;
    r.depth = ok && r.n_runs ? draw_new(p->alloc, p->n_nodes + 2, sizeof *r.depth) : NULL;
    if (r.n_runs && (!r.cut || !r.depth)) ok = false;
    if (ok && r.n_runs) {
        measure(&r);
        sort(r.runs, r.n_runs);
        for (size_t i = 0; i < r.n_runs && r.work; i++) group(&r, r.runs[i]);
    }
    draw_free(p->alloc, r.edges);
    draw_free(p->alloc, r.code);
    draw_free(p->alloc, r.cut);
    draw_free(p->alloc, r.depth);
    draw_free(p->alloc, r.runs);
    if (!ok) spans->failed = true;
}
