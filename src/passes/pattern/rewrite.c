/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Rewriting, in rounds. The first round visits all ops in order. A rewrite marks the ops that it touched. Soon after,
 * the ops below them go on the list of the next round, as far down as a pattern can reach through inner ops. Marks take
 * a byte per slot. An index by class (rule_index.h) leaves the rules that fit an op. */
#include <inttypes.h>
#include <stdlib.h>
#include "pattern/rule_index.h"
#include "provenance.h"
#include "sized.h"
#include "support/type_words.h"
#include "support/upkeep.h"

/* Waits for the next round; was changed; its values lost uses; was reached from such ops; has too many users to visit
 * them after each rewrite. */
enum { MARK_WAITING = 1, MARK_TOUCHED = 2, MARK_READ = 4, MARK_SEEN = 8, MARK_LATER = 16 };

typedef struct op_list { xir_op **items; size_t n, room; } op_list;
typedef struct params_list { xir_value **items; size_t n, room; } params_list;

struct xir_rewriter {
    xir_network    *net;
    const xir_rule *rules;
    size_t          n_rules;
    rule_index      index;
    uint8_t        *marks;             /* by slot                                                  */
    size_t          n_marks;
    op_list         now, next, touched, read, front, later;   /* ops with these marks; front: SEEN */
    params_list     params;            /* touched values that no op makes; may have duplicates     */
    uint32_t        round_slots;       /* number of slots before the round                         */
    bool            lost;              /* an op was made in an unexpected place                    */
    bool            moved;             /* ops were moved to where the walk may miss them           */
    bool            stopped;
    const among    *in;                /* the ops that matches may have; NULL: all                 */
    const xir_op   *cycle;             /* where the last replacement would have made a cycle; NULL */
    xir_status      status;
    size_t          done[XIR_RULES];
    uint64_t        reported;          /* bits of the rules with a note                            */
};

/* ---- lists ------------------------------------------------------------------------------------------------------ */

static void put(xir_rewriter *at, op_list *list, xir_op *op) {
    if (list->n == list->room &&
        !mem_reserve(&at->net->alloc, (void **)&list->items, &list->room, list->n + 1, sizeof *list->items)) {
        at->status = XIR_E_MEMORY;
        return;
    }
    list->items[list->n++] = op;
}

/* Makes room for the marks of all present slots; new marks are clear. */
static bool reserve_marks(xir_rewriter *at) {
    size_t need = at->net->n_slots, had = at->n_marks;
    if (need <= had) return true;
    if (!mem_reserve(&at->net->alloc, (void **)&at->marks, &at->n_marks, need, 1)) {
        at->status = XIR_E_MEMORY;
        return false;
    }
    memset(at->marks + had, 0, at->n_marks - had);
    return true;
}

static bool mark(xir_rewriter *at, const xir_op *op, uint8_t with) {
    bool had = at->marks[op->slot] & with;
    at->marks[op->slot] |= with;
    return !had;
}

static void enqueue(xir_rewriter *at, op_list *list, xir_op *op) {
    if (rules_at(&at->index, op) && is_among(at->in, op) && mark(at, op, MARK_WAITING)) put(at, list, op);
}

static bool touch(xir_rewriter *at, xir_op *op) {
    if (op->slot >= at->n_marks && !reserve_marks(at)) return false;
    if (!mark(at, op, MARK_TOUCHED)) return false;
    put(at, &at->touched, op);
    return true;
}

/* ---- ops that a rewrite touches --------------------------------------------------------------------------------- */

/* The surroundings of a match before its callback runs. */
typedef struct surroundings {
    xir_op        *after[XIR_PATTERN_ROWS];   /* the op after each op of the match                */
    const xir_use *use;                       /* a use of the root's first used output             */
    uint32_t       slots;
} surroundings;

static void note_surroundings(const xir_rewriter *at, const xir_match *m, surroundings *s) {
    s->slots = at->net->n_slots;
    s->use = NULL;
    for (uint64_t rows = m->pattern->op_rows; rows; rows &= rows - 1) {
        int i = __builtin_ctzll(rows);
        s->after[i] = m->ops[i] ? m->ops[i]->next : NULL;
    }
    for (uint32_t i = 0; i < m->root->n_outputs && !s->use; i++) s->use = op_outputs(m->root)[i].uses;
}

/* Touches the new ops before an op, or at the end; returns how many were new. */
static size_t touch_new(xir_rewriter *at, xir_op *before, uint32_t slots) {
    size_t n = 0;
    for (xir_op *op = before ? before->prev : at->net->last; op && op->slot >= slots; op = op->prev) {
        if (!touch(at, op)) break;
        n++;
    }
    return n;
}

static void touch_value(xir_rewriter *at, xir_value *v) {
    if (value_op(v)) {
        touch(at, value_op(v));
        return;
    }
    params_list *list = &at->params;
    if (!mem_reserve(&at->net->alloc, (void **)&list->items, &list->room, list->n + 1, sizeof *list->items)) {
        at->status = XIR_E_MEMORY;
        return;
    }
    list->items[list->n++] = v;
}

/* Returns true if an op can be inside a pattern, below its root. */
static bool may_be_inside(const xir_rewriter *at, const xir_op *op) {
    return class_row_of(&at->index, op->cls)->inside;
}

/* Returns true if a user of a value may match now because the value has fewer uses. */
static bool matters_as_read(const xir_rewriter *at, const xir_value *v) {
    return at->index.tests_leaves || (value_op(v) && may_be_inside(at, value_op(v)));
}

static void touch_around(xir_rewriter *at, const xir_match *m, const surroundings *s) {
    const xir_pattern *p = m->pattern;
    if (!reserve_marks(at)) return;
    size_t made = at->net->n_slots - s->slots, found = 0;
    for (uint64_t rows = p->op_rows; rows; rows &= rows - 1) {
        int i = __builtin_ctzll(rows);
        xir_op *op = m->ops[i];
        if (!op) continue;
        if (op->flags & OP_PLACED) touch(at, op);
        if (made && (!s->after[i] || s->after[i]->flags & OP_PLACED)) found += touch_new(at, s->after[i], s->slots);
    }
    for (uint64_t rows = p->leaf_rows; rows; rows &= rows - 1) {
        int i = __builtin_ctzll(rows);
        if (!m->values[i] || !matters_as_read(at, m->values[i])) continue;
        if (!m->ops[i]) touch_value(at, m->values[i]);
        else if (mark(at, m->ops[i], MARK_READ)) put(at, &at->read, m->ops[i]);
    }
    at->lost |= found < made;
    if (s->use && s->use->value) touch_value(at, s->use->value);
}

/* ---- ops that wait after a rewrite ------------------------------------------------------------------------------ */

/* The users of a value wait and join the front; false if there are more than `most`: then some of them do not. */
static bool wake_users(xir_rewriter *at, const xir_value *v, size_t most) {
    const xir_use *u = v->uses;
    for (; u && most && !at->status; u = u->next, most--) {
        xir_op *user = u->user;
        if (!(user->flags & OP_PLACED) || !is_among(at->in, user) || !mark(at, user, MARK_SEEN)) continue;
        put(at, &at->front, user);
        enqueue(at, &at->next, user);
    }
    return !u;
}

/* The same for all outputs. The users of an op with too many are visited once, at the end of the round. */
static void wake_below(xir_rewriter *at, xir_op *op, size_t most) {
    bool all = true;
    for (uint32_t i = 0; i < op->n_outputs; i++) all &= wake_users(at, &op_outputs(op)[i], most);
    if (!all && mark(at, op, MARK_LATER)) put(at, &at->later, op);
}

/* Clears the marks of the ops of a list, and empties it. */
static void clear(xir_rewriter *at, op_list *list, uint8_t marks) {
    for (size_t i = 0; i < list->n; i++) at->marks[list->items[i]->slot] &= (uint8_t)~marks;
    list->n = 0;
}

/* Goes down from the front level by level. A breadth-first search reaches each op on its shortest path, so it visits
 * each op once. It continues only below ops that can be inside a pattern. */
static void wake_levels(xir_rewriter *at, size_t most) {
    for (size_t level = 2, from = 0; level < at->index.depth; level++) {
        for (size_t end = at->front.n; from < end && !at->status; from++) {
            if (may_be_inside(at, at->front.items[from])) wake_below(at, at->front.items[from], most);
        }
    }
    clear(at, &at->front, MARK_SEEN);
}

/* Runs after every few ops, while the ops that they touched are still in the cache. */
static void gather(xir_rewriter *at) {
    enum { MOST = 16 };
    if (!at->touched.n && !at->read.n) return;
    for (size_t i = 0; i < at->touched.n && !at->status; i++) {
        xir_op *op = at->touched.items[i];
        if (!(op->flags & OP_PLACED)) continue;
        enqueue(at, &at->next, op);
        wake_below(at, op, MOST);
    }
    for (size_t i = 0; i < at->read.n && !at->status; i++) wake_below(at, at->read.items[i], MOST);
    wake_levels(at, MOST);
    clear(at, &at->read, MARK_READ);
    clear(at, &at->touched, MARK_TOUCHED);
}

static int by_id(const void *a, const void *b) {
    int64_t x = (*(xir_value *const *)a)->id, y = (*(xir_value *const *)b)->id;
    return (x > y) - (x < y);
}

/* Wakes the users of each value once: many rewrites may have touched the same value. */
static void wake_below_params(xir_rewriter *at) {
    params_list *list = &at->params;
    if (list->n > 1) qsort(list->items, list->n, sizeof *list->items, by_id);
    for (size_t i = 0; i < list->n && !at->status; i++) {
        if (!i || list->items[i] != list->items[i - 1]) wake_users(at, list->items[i], SIZE_MAX);
    }
    list->n = 0;
}

static void end_round(xir_rewriter *at) {
    for (xir_op *op = at->lost || at->moved ? at->net->first : NULL; op && !at->status; op = op->next) {
        if (at->moved || op->slot >= at->round_slots) touch(at, op);
    }
    gather(at);
    for (size_t i = 0; i < at->later.n && !at->status; i++) wake_below(at, at->later.items[i], SIZE_MAX);
    wake_below_params(at);
    wake_levels(at, SIZE_MAX);
    clear(at, &at->later, MARK_LATER);
    at->lost = at->moved = false;
    op_list done = at->now;
    at->now = at->next;
    at->next = done;
    at->next.n = 0;
    at->round_slots = at->net->n_slots;
}

/* ---- the loop --------------------------------------------------------------------------------------------------- */

static xir_status fail_limit(const xir_pattern *p, size_t limit, xir_diags *why) {
    return diag_fail(why, XIR_E_LIMIT, XIR_STR(""),
                     "pattern '%s' reached the limit of %zu rewrites and matches again; "
                     "its rewriting may not terminate", p->name, limit);
}

/* Reports a failed callback with the finding of the network, if there is one. */
static xir_status fail_callback(const xir_network *net, const xir_pattern *p, size_t before, xir_diags *why) {
    size_t n = xir_diags_count(net->diags);
    const xir_diag *last = n > before ? xir_diags_at(net->diags, n - 1) : NULL;
    xir_status code = last ? last->code : net->status ? net->status : XIR_E_INVALID;
    if (code == XIR_E_MEMORY) return diag_memory(why);
    xir_str words = last ? last->message : XIR_STR("the callback failed");
    return diag_fail(why, code, XIR_STR(""), "rewriting pattern '%s': %.*s", p->name, (int)words.size, words.data);
}

/* A note about a rule whose new value cannot stand for the old one: said once, since it may happen at every match. */
static void say_left(xir_rewriter *at, size_t rule, const xir_match *m, xir_status code, const char *sentence,
                     xir_diags *why) {
    const xir_op *root = m->root;
    at->reported |= (uint64_t)1 << rule;
    xir_diags_add(why, XIR_NOTE, code, XIR_STR(""), "pattern '%s' was not rewritten at %.*s '%.*s' (op %" PRId64 "): %s",
                  at->rules[rule].pattern->name, (int)root->cls->key.size, root->cls->key.data,
                  CLIP_TO(name_text(op_label(root)), 100), root->id, sentence);
}

static void say_why_left(xir_rewriter *at, size_t rule, const xir_match *m, xir_diags *why) {
    char expected[TYPE_WORDS], found[TYPE_WORDS], sentence[2 * TYPE_WORDS + 64];
    const xir_network *net = at->net;
    if (at->reported >> rule & 1) return;
    if (net->refused) {
        snprintf(sentence, sizeof sentence, "expected a value of type %s, found %s",
                 type_words(net->ctx, net->replaced->type, expected), type_words(net->ctx, net->refused, found));
        say_left(at, rule, m, XIR_E_TYPE, sentence, why);
    } else if (at->cycle) {
        snprintf(sentence, sizeof sentence, "what it makes would depend on itself, through op %" PRId64, at->cycle->id);
        say_left(at, rule, m, XIR_E_INVALID, sentence, why);
    }
}

/* One op, rules in their order until one rewrites. */
static xir_status visit(xir_rewriter *at, xir_op *op, size_t limit, xir_diags *why) {
    xir_match m;
    surroundings s;
    provenance_scope scope;
    for (uint64_t rules = rules_at(&at->index, op); rules; rules &= rules - 1) {
        int i = __builtin_ctzll(rules);
        const xir_rule *rule = &at->rules[i];
        if (!pattern_match(rule->pattern, op, at->in, &m)) continue;
        if (at->done[i] == limit) return fail_limit(rule->pattern, limit, why);
        size_t before = xir_diags_count(at->net->diags);
        note_surroundings(at, &m, &s);
        at->net->refused = NULL;
        at->cycle = NULL;
        provenance_begin_many(at->net, &scope);
        for (uint64_t rows = scope.p ? m.pattern->op_rows : 0; rows; rows &= rows - 1) {
            const xir_op *of = m.ops[__builtin_ctzll(rows)];
            if (of) provenance_scope_op(&scope, of);
        }
        xir_verdict verdict = rule->rewrite(at, &m, rule->user);
        provenance_end(at->net, &scope);
        if (verdict == XIR_REWRITE_LEFT) say_why_left(at, (size_t)i, &m, why);
        if (verdict == XIR_REWRITE_FAILED) return fail_callback(at->net, rule->pattern, before, why);
        if (verdict == XIR_REWRITE_DONE) {
            at->done[i]++;
            touch_around(at, &m, &s);
        }
        if (at->status) return diag_memory(why);
        if (verdict == XIR_REWRITE_DONE || at->stopped) return XIR_OK;
    }
    return XIR_OK;
}

enum { FEW = 64 };   /* ops per batch */

static xir_status visit_few(xir_rewriter *at, xir_op *const *ops, size_t n, size_t limit, xir_diags *why) {
    for (size_t i = 0; i < n; i++) {
        if (!(ops[i]->flags & OP_PLACED)) continue;
        xir_status status = visit(at, ops[i], limit, why);
        if (status || at->stopped) return status;
    }
    if (!reserve_marks(at)) return diag_memory(why);
    gather(at);
    return at->status ? diag_memory(why) : XIR_OK;
}

/* Visits all ops once, in order. If a callback erases the next op, the walk goes on from the last op of the batch that
 * is still placed. */
static xir_status visit_all(xir_rewriter *at, size_t limit, xir_diags *why) {
    xir_op *few[FEW], *next = at->net->first;
    while (next) {
        size_t n = 0;
        for (; next && n < FEW; next = next->next) few[n++] = next;
        xir_status status = visit_few(at, few, n, limit, why);
        if (status || at->stopped) return status;
        if (!next || next->flags & OP_PLACED) continue;
        while (n && !(few[n - 1]->flags & OP_PLACED)) n--;
        next = n ? few[n - 1]->next : at->net->first;
    }
    return XIR_OK;
}

/* The same for the ops of a view. Erased ones keep their records. */
static xir_status visit_view(xir_rewriter *at, size_t limit, xir_diags *why) {
    const xir_view *view = at->in->view;
    xir_status status = XIR_OK;
    for (size_t i = 0; i < view->n_ops && !status && !at->stopped; i += FEW)
        status = visit_few(at, view->ops + i, view->n_ops - i < FEW ? view->n_ops - i : FEW, limit, why);
    return status;
}

static xir_status visit_waiting(xir_rewriter *at, size_t limit, xir_diags *why) {
    for (size_t i = 0; i < at->now.n; i += FEW) {
        size_t n = at->now.n - i < FEW ? at->now.n - i : FEW;
        for (size_t j = i; j < i + n; j++) at->marks[at->now.items[j]->slot] &= (uint8_t)~MARK_WAITING;
        xir_status status = visit_few(at, at->now.items + i, n, limit, why);
        if (status || at->stopped) return status;
    }
    return XIR_OK;
}

static xir_status run(xir_rewriter *at, size_t limit, xir_diags *why) {
    if (!rule_index_make(&at->index, at->rules, at->n_rules, &at->net->alloc) || !reserve_marks(at))
        return diag_memory(why);
    at->round_slots = at->net->n_slots;
    xir_status status = at->in ? visit_view(at, limit, why) : visit_all(at, limit, why);
    while (!status && !at->stopped) {
        end_round(at);
        if (at->status) return diag_memory(why);
        if (!at->now.n) break;
        status = visit_waiting(at, limit, why);
    }
    return status;
}

static void free_list(xir_rewriter *at, op_list *list) {
    mem_free(&at->net->alloc, (void *)list->items, list->room * sizeof *list->items);
}

/* Copies rules into this library's struct. */
static xir_status read_rules(xir_rule *out, const xir_rule *rules, size_t n, size_t size, xir_diags *why) {
    if (size < SIZE_TO(xir_rule, user) && n) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "expected a rule of sizeof(xir_rule) bytes, found %zu", size);
    }
    for (size_t i = 0; i < n; i++) {
        const char *rule = (const char *)rules + i * size;
        if (size > sizeof *out && sized_beyond(rule, sizeof *out, size) < size) {
            return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""),
                             "rule %zu sets a member that this version does not know", i);
        }
        memset(&out[i], 0, sizeof *out);
        memcpy(&out[i], rule, size < sizeof *out ? size : sizeof *out);
    }
    return XIR_OK;
}

static xir_status rewrite(xir_network *net, const among *in, const xir_rule *rules, size_t n, size_t rule_size,
                          size_t limit, size_t *rewrites, xir_diags *why) {
    xir_rule known[XIR_RULES];
    xir_rewriter at = { .net = net, .in = in, .rules = known, .n_rules = n };
    if (n > XIR_RULES)
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "expected at most %d rules, found %zu", XIR_RULES, n);
    xir_status status = read_rules(known, rules, n, rule_size, why);
    if (status) return status;
    xir_rewriter *outer = net->rewriter;
    net->rewriter = &at;
    status = run(&at, limit ? limit : (in ? in->view->n_ops : net->n_ops) * 10 + 1000, why);
    net->rewriter = outer;
    for (size_t i = 0; i < n && rewrites; i++) *rewrites += at.done[i];
    free_list(&at, &at.now);
    free_list(&at, &at.next);
    free_list(&at, &at.touched);
    free_list(&at, &at.read);
    free_list(&at, &at.front);
    free_list(&at, &at.later);
    mem_free(&net->alloc, (void *)at.params.items, at.params.room * sizeof *at.params.items);
    mem_free(&net->alloc, at.marks, at.n_marks);
    rule_index_free(&at.index);
    return status;
}

xir_status xir_network_rewrite(xir_network *net, const xir_rule *rules, size_t n, size_t rule_size, size_t limit,
                               size_t *rewrites, xir_diags *why) {
    if (rewrites) *rewrites = 0;
    return net ? rewrite(net, NULL, rules, n, rule_size, limit, rewrites, why) : diag_null(why, "network");
}

/* Gives the view the ops that it has now. */
static xir_status renew(xir_view *view, const among *in, xir_diags *why) {
    const xir_network *net = view->net;
    const size_t bytes = (net->n_ops + 1) * sizeof(xir_op *);
    xir_op **ops = mem_new(&net->alloc, bytes);
    if (!ops) return diag_memory(why);
    size_t n = 0;
    for (xir_op *op = net->first; op; op = op->next) {
        if (is_among(in, op)) ops[n++] = op;
    }
    xir_status status = view_remake(view, ops, n);
    mem_free(&net->alloc, (void *)ops, bytes);
    return status ? diag_memory(why) : XIR_OK;
}

xir_status xir_view_rewrite(xir_view *view, const xir_rule *rules, size_t n, size_t rule_size, size_t limit,
                            size_t *rewrites, xir_diags *why) {
    if (rewrites) *rewrites = 0;
    xir_status status = view_check(view, why);
    if (status) return status;
    const among in = { view, view->net->n_slots };
    view->busy = true;
    status = rewrite(view->net, &in, rules, n, rule_size, limit, rewrites, why);
    const xir_status renewed = xir_view_is_stale(view) ? renew(view, &in, why) : XIR_OK;
    view->busy = false;
    return status ? status : renewed;
}

/* ---- for callbacks ---------------------------------------------------------------------------------------------- */

xir_network *xir_rewriter_network(const xir_rewriter *at) { return at->net; }
void         xir_rewriter_touch(xir_rewriter *at, xir_op *op) { if (op) touch(at, op); }
void         xir_rewriter_stop(xir_rewriter *at) { at->stopped = true; }
void         rewriter_moved(xir_rewriter *at) { at->moved = true; }
void         rewriter_cycle(xir_rewriter *at, const xir_op *through) { at->cycle = through; }
void         rewriter_replaced(xir_rewriter *at, xir_value *now) {
    if (reserve_marks(at)) touch_value(at, now);
}

