/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Matching: a goal is a row and the value that it must stand for. Goals are solved one after the other, from the root
 * on, and each row is bound once. Where there is a choice (alternatives, commuting inputs, optional ops), the matcher
 * tries the first one with all remaining goals; if that fails, it undoes the bindings and tries the next. Depth and
 * memory depend on the pattern, not on the network: nothing is allocated. */
#include "pattern/pattern.h"
#include "support/numbers.h"

/* "This row stands for this value." The remaining goals form a chain. */
typedef struct goal {
    xir_value         *value;   /* NULL: an absent input */
    const struct goal *next;
    uint8_t            row;
} goal;

/* A row is expanded at most once on the way to a match. So there are at most as many goals as edges, plus one per
 * row for an alternative or an absent op. */
enum { MOST_GOALS = XIR_PATTERN_EDGES + XIR_PATTERN_ROWS };

typedef struct matcher {
    const xir_pattern *p;
    xir_match         *m;
    const among       *in;      /* NULL: all ops          */
    uint64_t           bound;   /* one bit per bound row */
    uint32_t           top;     /* goals in use */
    goal               goals[MOST_GOALS];
} matcher;

static bool solve(matcher *mt, const goal *g);

static const goal *push(matcher *mt, uint8_t row, xir_value *value, const goal *next) {
    goal *g = &mt->goals[mt->top++];
    *g = (goal){ value, next, row };
    return g;
}

static void bind(matcher *mt, uint8_t row, xir_op *op, xir_value *value) {
    mt->bound |= (uint64_t)1 << row;
    mt->m->ops[row] = op;
    mt->m->values[row] = value;
}

/* ---- tests of a row --------------------------------------------------------------------------------------------- */

static bool has_uses(const xir_value *v, size_t n) {
    const xir_use *u = v->uses;
    for (; u && n; u = u->next) n--;
    return !u && !n;
}

static bool test_value(const node *n, const xir_value *v) {
    if (!v || (n->uses && !has_uses(v, n->uses))) return false;
    if (n->element && !(xir_type_as_tensor(v->type) && xir_type_equal(xir_type_element(v->type), n->element)))
        return false;
    if (n->type && !(v->type && xir_type_equal(v->type, n->type))) return false;
    return !n->where_value || n->where_value(v, n->user);
}

static inline bool value_fits(const node *n, const xir_value *v) { return !n->tests_value || test_value(n, v); }

static bool leaf_fits(const node *n, const xir_value *v) {
    double x;
    if (!v) return n->optional;
    if (n->kind == XIR_PATTERN_PARAMS && !value_is_params(v)) return false;
    if (n->kind == XIR_PATTERN_NUMBER && !(number_of_params(v, &x) && number_near(x, n->number, n->within)))
        return false;
    return value_fits(n, v);
}

/* The attribute of a dialect's op, if it is a single value. */
static bool attr_of_any(const xir_any *any, xir_attr *out) {
    *out = (xir_attr){ .kind = XIR_KIND_COUNT };
    switch (any->kind) {
    case XIR_ANY_NULL:   out->is_null = true; break;
    case XIR_ANY_BOOL:   out->kind = XIR_KIND_BOOL; out->as.boolean = any->as.boolean; break;
    case XIR_ANY_INT:    out->kind = XIR_KIND_I64; out->as.i64 = any->as.integer; break;
    case XIR_ANY_UINT:   out->kind = XIR_KIND_U64; out->as.u64 = any->as.uinteger; break;
    case XIR_ANY_REAL:   out->kind = XIR_KIND_REAL; out->as.real = any->as.real; break;
    case XIR_ANY_TEXT:   out->kind = XIR_KIND_TEXT; out->as.text = any->as.text; break;
    case XIR_ANY_MAP:    out->kind = XIR_KIND_MAP; out->as.map = any->as.map; break;
    case XIR_ANY_PARAMS: out->kind = XIR_KIND_PARAMS; out->as.params = any->as.params; break;
    case XIR_ANY_LIST:   break;   /* only presence can be tested */
    }
    return true;
}

static bool find_attr(const xir_op *op, const node_attr *a, xir_attr *out) {
    const xir_field *f = a->field ? a->field : xir_class_field(op->cls, a->name);
    if (f) {
        body_get(f, op->attrs, out);
        return true;
    }
    const xir_any *any = xir_op_extra(op) ? xir_map_find(op_more_of(op)->extra, a->name) : NULL;
    return any && attr_of_any(any, out);
}

static bool is_default(const xir_op *op, const node_attr *a) {
    const xir_field *f = a->field ? a->field : xir_class_field(op->cls, a->name);
    return f && field_equal(f, op->attrs, op->cls->defaults);
}

static bool attr_fits(const xir_op *op, const node_attr *a, void *user) {
    xir_attr x;
    if (a->is.test == XIR_TEST_DEFAULT) return is_default(op, a);
    if (!find_attr(op, a, &x)) return false;
    if (a->is.test == XIR_TEST_WHERE) return a->is.where(&x, user);
    if (x.is_null) return false;
    switch (a->is.test) {
    case XIR_TEST_PRESENT: return true;
    case XIR_TEST_BOOL:    return x.kind == XIR_KIND_BOOL && x.as.boolean == (a->is.i64 != 0);
    case XIR_TEST_I64:
        if (x.kind == XIR_KIND_U64) return a->is.i64 >= 0 && x.as.u64 == (uint64_t)a->is.i64;
        return x.kind == XIR_KIND_I64 && x.as.i64 == a->is.i64;
    case XIR_TEST_REAL:
        return x.kind == XIR_KIND_REAL ? number_near(x.as.real, a->is.real, 1e-6)
                                       : x.kind == XIR_KIND_I64 && number_near((double)x.as.i64, a->is.real, 1e-6);
    case XIR_TEST_TEXT:
        if (x.kind == XIR_KIND_TEXT) return xir_str_equal(x.as.text, a->text);
        if (x.kind == XIR_KIND_ENUM) {
            const xir_enum *words = xir_class_field(op->cls, a->name)->members;
            return x.as.enumerator >= 0 && (size_t)x.as.enumerator < words->size &&
                   xir_str_equal(xir_str_of(words->names[x.as.enumerator]), a->text);
        }
        return false;
    default:
        return false;
    }
}

static bool class_fits(const node *n, const xir_class *cls) {
    for (uint32_t i = 0; i < n->n_classes; i++) {
        if (n->classes[i] == cls) return true;
    }
    return !n->classes;
}

static bool has_traits(const node *n, const xir_class *cls) {
    return n->traits >> 32 ? xir_class_has_trait(cls, n->traits) : (cls->traits & n->traits) == n->traits;
}

/* The cheap tests, which do not look at the inputs. */
static bool op_may_fit(const node *n, const xir_op *op) {
    if (!class_fits(n, op->cls) || !(op->flags & OP_PLACED) || !has_traits(n, op->cls)) return false;
    if (n->targets && !(n->targets >> xir_target_kind_of(op_target(op)) & 1)) return false;
    for (uint32_t i = n->n_inputs; n->asks_inputs && !n->rest && i < op->n_inputs; i++) {
        if (op_inputs(op)[i].value) return false;
    }
    return true;
}

static bool op_fits(const node *n, const xir_op *op) {
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        if (!attr_fits(op, &n->attrs[i], n->user)) return false;
    }
    return !n->where || n->where(op, n->user);
}

/* ---- goals ------------------------------------------------------------------------------------------------------ */

static bool is_leaf(const node *n) { return n->kind <= XIR_PATTERN_NUMBER; }

/* Solves a row at once if it is already bound or has no inputs (false: no match); otherwise it becomes a goal. */
static bool take_input(matcher *mt, uint8_t row, xir_value *v, const goal **next) {
    const node *n = &mt->p->nodes[row];
    if (mt->bound >> row & 1) return mt->m->values[row] == v;
    if (is_leaf(n)) {
        if (!leaf_fits(n, v)) return false;
        bind(mt, row, v ? value_op(v) : NULL, v);
        return true;
    }
    if (n->kind == XIR_PATTERN_OP && !n->optional && !(v && value_op(v) && class_fits(n, value_op(v)->cls)))
        return false;
    *next = push(mt, row, v, *next);
    return true;
}

/* The goal of the first input comes first. */
static bool take_inputs(matcher *mt, const node *n, const xir_op *op, uint32_t exchanged, const goal **next) {
    for (uint32_t i = n->n_inputs; i-- > 0;) {
        uint32_t from = i < 2 ? i ^ exchanged : i;
        if (!take_input(mt, n->inputs[i], from < op->n_inputs ? op_inputs(op)[from].value : NULL, next)) return false;
    }
    return true;
}

/* The row stands for an op, and the rows of its inputs for the op's operands. */
static bool solve_op(matcher *mt, uint8_t row, xir_op *op, xir_value *value, const goal *next) {
    const node *n = &mt->p->nodes[row];
    if (!op_may_fit(n, op) || !is_among(mt->in, op)) return false;
    bind(mt, row, op, value);
    uint64_t bound = mt->bound;
    uint32_t top = mt->top;
    bool tested = false;
    for (uint32_t exchanged = 0; exchanged <= n->commutes; exchanged++) {
        const goal *g = next;
        mt->bound = bound;
        mt->top = top;
        if (!take_inputs(mt, n, op, exchanged, &g)) continue;
        if (!tested && !(op_fits(n, op) && value_fits(n, value))) return false;
        tested = true;
        if (solve(mt, g)) return true;
    }
    return false;
}

/* The value must be the output that the row names. */
static bool solve_output(matcher *mt, uint8_t row, xir_value *v, const goal *next) {
    xir_op *op = v ? value_op(v) : NULL;
    return op && v == &op_outputs(op)[mt->p->nodes[row].output] && solve_op(mt, row, op, v, next);
}

/* The value must be another output of the op of a bound row. */
static bool solve_sibling(matcher *mt, const goal *g) {
    const node *n = &mt->p->nodes[g->row];
    xir_op *op = g->value ? value_op(g->value) : NULL;
    uint8_t of = n->inputs[0], output = mt->p->nodes[of].output;
    if (!op || n->output >= op->n_outputs || g->value != &op_outputs(op)[n->output] || output >= op->n_outputs ||
        !value_fits(n, g->value)) return false;
    bind(mt, g->row, op, g->value);
    return solve(mt, push(mt, of, &op_outputs(op)[output], g->next));
}

static bool solve_either(matcher *mt, const goal *g) {
    const node *n = &mt->p->nodes[g->row];
    if (!value_fits(n, g->value)) return false;
    bind(mt, g->row, g->value ? value_op(g->value) : NULL, g->value);
    uint64_t bound = mt->bound;
    uint32_t top = mt->top;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        mt->bound = bound;
        mt->top = top;
        if (solve(mt, push(mt, n->inputs[i], g->value, g->next))) return true;
    }
    return false;
}

static bool solve_optional(matcher *mt, const goal *g) {
    uint64_t bound = mt->bound;
    uint32_t top = mt->top;
    if (solve_output(mt, g->row, g->value, g->next)) return true;
    mt->bound = bound;
    mt->top = top;
    bind(mt, g->row, NULL, g->value);
    return solve(mt, push(mt, mt->p->nodes[g->row].inputs[0], g->value, g->next));
}

/* Returns true if the outputs of all inner ops are used only inside the match. The first outside use ends the search,
 * so its cost depends on the pattern. */
static bool is_closed(const matcher *mt) {
    for (uint64_t rows = mt->p->op_rows & mt->bound; rows; rows &= rows - 1) {
        const xir_op *op = mt->m->ops[__builtin_ctzll(rows)];
        if (!op || op == mt->m->root) continue;
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            for (const xir_use *u = op_outputs(op)[i].uses; u; u = u->next) {
                if (!xir_match_has(mt->m, u->user)) return false;
            }
        }
    }
    return true;
}

/* All goals are solved. Clears the rows that were not reached, because the closed test looks at all rows. */
static bool finish(matcher *mt) {
    const xir_pattern *p = mt->p;
    for (uint64_t rows = ~mt->bound & UINT64_MAX >> (64 - p->n_nodes); rows; rows &= rows - 1) {
        const int i = __builtin_ctzll(rows);
        mt->m->ops[i] = NULL, mt->m->values[i] = NULL;
    }
    return (!p->closed || is_closed(mt)) && (!p->check || p->check(mt->m, p->user));
}

static bool solve(matcher *mt, const goal *g) {
    for (; g; g = g->next) {
        const node *n = &mt->p->nodes[g->row];
        if (mt->bound >> g->row & 1) {
            if (mt->m->values[g->row] != g->value) return false;
            continue;
        }
        if (n->kind == XIR_PATTERN_OP && n->optional) return solve_optional(mt, g);
        if (n->kind == XIR_PATTERN_OP) return solve_output(mt, g->row, g->value, g->next);
        if (n->kind == XIR_PATTERN_OUTPUT) return solve_sibling(mt, g);
        if (n->kind == XIR_PATTERN_EITHER) return solve_either(mt, g);
        if (!leaf_fits(n, g->value)) return false;
        bind(mt, g->row, g->value ? value_op(g->value) : NULL, g->value);
    }
    return finish(mt);
}

/* ---- entry points ----------------------------------------------------------------------------------------------- */

static bool solve_root(matcher *mt, uint8_t row, xir_op *op) {
    uint8_t output = mt->p->nodes[row].output;
    return solve_op(mt, row, op, output < op->n_outputs ? &op_outputs(op)[output] : NULL, NULL);
}

bool pattern_match(const xir_pattern *p, xir_op *root, const among *in, xir_match *out) {
    if (!root || !pattern_may_start(p, root->cls)) return false;
    matcher mt;   /* the goals are left uninitialised: there may be many */
    mt.p = p;
    mt.m = out;
    mt.in = in;
    mt.bound = 0;
    mt.top = 0;
    out->pattern = p;
    out->root = root;
    const node *n = &p->nodes[p->root];
    if (n->kind == XIR_PATTERN_OP) return solve_root(&mt, (uint8_t)p->root, root);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const node *it = &p->nodes[n->inputs[i]];
        mt.bound = 0;
        mt.top = 0;
        xir_value *value = it->output < root->n_outputs ? &op_outputs(root)[it->output] : NULL;
        if (!value_fits(n, value)) continue;
        bind(&mt, (uint8_t)p->root, root, value);
        if (solve_root(&mt, n->inputs[i], root)) return true;
    }
    return false;
}

bool xir_pattern_match(const xir_pattern *p, xir_op *root, xir_match *out) { return pattern_match(p, root, NULL, out); }

static bool at_end(xir_match *m) {
    m->pattern = NULL;
    m->root = NULL;
    return false;
}

bool xir_pattern_next(const xir_pattern *p, xir_network *net, xir_match *m) {
    for (xir_op *op = m->root ? m->root->next : net->first; op; op = op->next) {
        if (pattern_may_start(p, op->cls) && pattern_match(p, op, NULL, m)) return true;
    }
    return at_end(m);
}

bool xir_pattern_match_in(const xir_pattern *p, const xir_view *view, xir_op *root, xir_match *out) {
    const among in = { view, UINT32_MAX };
    return xir_view_has(view, root) && pattern_match(p, root, &in, out);
}

bool xir_pattern_next_in(const xir_pattern *p, const xir_view *view, xir_match *m) {
    const among in = { view, UINT32_MAX };
    const int64_t n = (int64_t)xir_view_op_count(view), last = m->root ? xir_view_index_of(view, m->root) : -1;
    for (int64_t i = m->root && last < 0 ? n : last + 1; i < n; i++) {
        xir_op *op = view->ops[i];
        if (pattern_may_start(p, op->cls) && pattern_match(p, op, &in, m)) return true;
    }
    return at_end(m);
}

bool xir_match_has(const xir_match *m, const xir_op *op) {
    for (uint64_t rows = m->pattern->op_rows; rows; rows &= rows - 1) {
        if (m->ops[__builtin_ctzll(rows)] == op) return true;
    }
    return false;
}

size_t xir_match_outside_users(const xir_match *m, const xir_value *value, xir_user *out, size_t room) {
    size_t n = 0;
    for (const xir_use *u = xir_value_uses(value); u; u = xir_use_next(u)) {
        if (xir_match_has(m, xir_use_op(u))) continue;
        if (n < room) out[n] = (xir_user){ xir_use_op(u), xir_use_index(u) };
        n++;
    }
    return n;
}
