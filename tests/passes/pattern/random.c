/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random patterns on random networks: the matcher finds what exhaustive search finds. The search tries every
 * combination of answers to the choices of the rows (which alternative, which order, present or absent), and for
 * each combination goes down from the root once. */
#include <string.h>
#include "support/story.h"
#include <xir/ops.h>
#include <xir/pattern.h>
#include "graph.h"

enum { ROWS = 9 };

static const xir_class_decl *(*const unary[])(void) = { xir_relu_class, xir_sigmoid_class, xir_tanh_class };
static const xir_class_decl *(*const binary[])(void) = { xir_add_class, xir_multiply_class };

/* ---- random networks -------------------------------------------------------------------------------------------- */

static xir_network *random_net(size_t ops) {
    xir_network *net = new_net();
    xir_at at = xir_at_end(net);
    xir_value *values[40];
    size_t n = 0;
    const xir_type *type = FP32("*", 4);
    const float fours[2][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } };
    values[n++] = xir_input(at, "x", type);
    for (int i = 0; i < 2; i++) values[n++] = xir_params_copy(net, XIR_STR("p"), type, fours[i], sizeof fours[i]);
    for (size_t i = 0; i < ops; i++) {
        /* Recent values more often, to get chains. */
        xir_value *a = values[chance(2) ? n - 1 - chance(n < 4 ? n : 4) : chance(n)], *b = values[chance(n)];
        if (chance(2)) {
            values[n++] =
                xir_op_build_value(at, unary[chance(COUNT(unary))](), &(xir_relu_in){ .input = a }, NULL, NULL);
        } else if (chance(5)) {
            const xir_add_in in = { .lhs = a, .rhs = b };
            values[n++] = xir_op_build_value(at, binary[chance(COUNT(binary))](), &in, NULL, NULL);
        } else {
            xir_op *two = xir_add_split(at, (xir_split_in){ .input = a },
                                        XIR_ATTRS(split, (axis, 0), (sections, XIR_I64S(2, 2))));
            xir_value *one = xir_op_output(two, (int64_t)chance(2)), *other = xir_op_output(two, (int64_t)chance(2));
            values[n++] = XIR_OP(at, concat, .inputs = XIR_VALUES(one, other), .attrs = XIR_ATTRS(concat, (axis, 0)));
        }
        if (!values[n - 1]) xir_diags_print(xir_network_diags(net), stderr);
        assert_non_null(values[n - 1]);
    }
    xir_output(at, XIR_VALUES(values[n - 1]));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

/* ---- random patterns -------------------------------------------------------------------------------------------- */

static bool is_op(const xir_pattern_row *r) { return r->kind == XIR_PATTERN_OP && !r->optional; }

/* Makes rows one after the other. Later rows name unused earlier rows first, so that most tables are valid. */
static size_t random_rows(xir_pattern_row *rows) {
    size_t n = 2 + chance(ROWS - 1);
    uint64_t named = 0;
    for (size_t i = 0; i < n; i++) {
        xir_pattern_row *r = &rows[i];
        *r = (xir_pattern_row){ XIR_ROW_ANY };
        bool last = i + 1 == n;
        uint64_t kind = i == 0 ? chance(3) : last ? 3 + chance(5) : chance(10);
        if (kind == 1) r->kind = XIR_PATTERN_PARAMS;
        if (kind >= 3) r->kind = XIR_PATTERN_OP;
        if (kind == 8) r->kind = XIR_PATTERN_EITHER;
        if (kind == 9) r->kind = XIR_PATTERN_OUTPUT;
        if (i == 0) {
            r->kind = r->kind == XIR_PATTERN_EITHER || r->kind == XIR_PATTERN_OUTPUT ? XIR_PATTERN_ANY : r->kind;
            continue;
        }
        if (r->kind == XIR_PATTERN_OP) {
            r->n_inputs = 1 + chance(2);
            bool two = r->n_inputs == 2;
            if (chance(6) == 0) r->classes[0] = NULL;                       /* any class */
            else if (chance(6) == 0) r->classes[0] = two ? xir_concat_class : xir_split_class;
            else r->classes[0] = two ? binary[chance(COUNT(binary))] : unary[chance(COUNT(unary))];
            if (r->classes[0] && chance(3) == 0)
                r->classes[1] = two ? binary[chance(COUNT(binary))] : unary[chance(COUNT(unary))];
            r->commutes = two && chance(2);
            r->optional = !last && chance(5) == 0;
            if (r->classes[0] == xir_split_class) r->output = (uint8_t)chance(2);
            if (chance(8) == 0) r->uses = 1 + chance(2);
        }
        if (r->kind == XIR_PATTERN_EITHER) r->n_inputs = 1 + chance(3);
        if (r->kind == XIR_PATTERN_OUTPUT) r->n_inputs = 1, r->output = (uint8_t)chance(2);
        for (size_t j = 0; j < r->n_inputs; j++) {
            size_t to = chance(i);
            for (size_t k = 0; k < i && chance(4); k++) {
                if (!(named >> k & 1)) to = k;
            }
            if (r->kind == XIR_PATTERN_OUTPUT && !is_op(&rows[to])) *r = (xir_pattern_row){ XIR_ROW_ANY };
            if (!r->n_inputs) break;
            r->inputs[j] = (uint8_t)to;
            named |= (uint64_t)1 << to;
        }
    }
    return n;
}

/* ---- exhaustive search ------------------------------------------------------------------------------------------ */

typedef struct trial {
    const xir_pattern_row *rows;
    uint32_t               answers[ROWS + 1];   /* for each row: its alternative, order or presence */
    bool                   bound[ROWS + 1];
    const xir_value       *values[ROWS + 1];
    const xir_op          *ops[ROWS + 1];
} trial;

static bool fits(trial *t, uint8_t row, xir_value *v);

static bool op_fits(trial *t, uint8_t row, const xir_op *op, uint32_t order) {
    const xir_pattern_row *r = &t->rows[row];
    const xir_class *cls = xir_op_class(op);
    bool good = !r->classes[0];
    for (size_t i = 0; i < XIR_ROW_MAX_CLASSES && r->classes[i]; i++) good |= xir_op_is(op, r->classes[i]());
    if (!good || !cls) return false;
    size_t n = xir_op_input_count(op) > r->n_inputs ? xir_op_input_count(op) : r->n_inputs;
    for (size_t i = 0; i < n && r->n_inputs; i++) {
        size_t from = order && i < 2 ? 1 - i : i;
        xir_value *v = xir_op_input(op, (int64_t)(from < xir_op_input_count(op) ? from : n));
        if (i >= r->n_inputs ? v != NULL : !fits(t, r->inputs[i], v)) return false;
    }
    return true;
}

static bool bind_row(trial *t, uint8_t row, const xir_op *op, const xir_value *v) {
    t->bound[row] = true;
    t->values[row] = v;
    t->ops[row] = op;
    return true;
}

static bool has_uses(const xir_pattern_row *r, const xir_value *v) {
    return !r->uses || (v && xir_value_use_count(v) == r->uses);
}

static bool fits(trial *t, uint8_t row, xir_value *v) {
    const xir_pattern_row *r = &t->rows[row];
    if (t->bound[row]) return t->values[row] == v;
    xir_op *op = v ? xir_value_op(v) : NULL;
    switch (r->kind) {
    case XIR_PATTERN_ANY:    return v && bind_row(t, row, op, v);
    case XIR_PATTERN_PARAMS: return v && xir_value_is_params(v) && bind_row(t, row, op, v);
    case XIR_PATTERN_EITHER: return bind_row(t, row, op, v) && fits(t, r->inputs[t->answers[row]], v);
    case XIR_PATTERN_OUTPUT:
        if (!op || xir_op_output(op, r->output) != v) return false;
        return bind_row(t, row, op, v) && fits(t, r->inputs[0], xir_op_output(op, t->rows[r->inputs[0]].output));
    default:
        if (r->optional && t->answers[row] / 2) return bind_row(t, row, NULL, v) && fits(t, r->inputs[0], v);
        return op && xir_op_output(op, r->output) == v && has_uses(r, v) && bind_row(t, row, op, v) &&
               op_fits(t, row, op, t->answers[row] % 2);
    }
}

/* The number of answers to a row's choice. */
static uint32_t answers_of(const xir_pattern_row *r) {
    if (r->kind == XIR_PATTERN_EITHER) return (uint32_t)r->n_inputs;
    if (r->kind != XIR_PATTERN_OP) return 1;
    return r->optional ? 3 : r->commutes ? 2 : 1;   /* for an optional one: the two orders, or absent */
}

static bool closed(const trial *t, size_t n, const xir_op *root) {
    for (size_t i = 0; i < n; i++) {
        if (!t->bound[i] || t->rows[i].kind != XIR_PATTERN_OP || !t->ops[i] || t->ops[i] == root) continue;
        for (size_t j = 0; j < xir_op_output_count(t->ops[i]); j++) {
            for (const xir_use *u = xir_value_uses(xir_op_output(t->ops[i], (int64_t)j)); u; u = xir_use_next(u)) {
                bool inside = false;
                for (size_t k = 0; k < n; k++)
                    inside |= t->bound[k] && t->rows[k].kind == XIR_PATTERN_OP && t->ops[k] == xir_use_op(u);
                if (!inside) return false;
            }
        }
    }
    return true;
}

/* Returns true if the pattern matches; `found`, unless NULL, must be one of the matches. */
static bool try_all(const xir_pattern_row *rows, size_t n, bool is_closed, xir_op *root, const xir_match *found,
                    bool *found_is_one) {
    trial t = { .rows = rows };
    bool any = false;
    for (bool more = true; more;) {
        memset(t.bound, 0, sizeof t.bound);
        xir_value *v = xir_op_output(root, rows[n - 1].output);
        bind_row(&t, (uint8_t)(n - 1), root, v);
        if (has_uses(&rows[n - 1], v) && op_fits(&t, (uint8_t)(n - 1), root, t.answers[n - 1] % 2) &&
            (!is_closed || closed(&t, n, root))) {
            any = true;
            bool same = found != NULL;
            for (size_t i = 0; i < n && same; i++) {
                same = xir_match_value(found, (unsigned)i) == (t.bound[i] ? t.values[i] : NULL) &&
                       xir_match_op(found, (unsigned)i) == (t.bound[i] ? t.ops[i] : NULL);
            }
            *found_is_one |= same;
        }
        more = false;
        for (size_t i = 0; i < n && !more; i++) {   /* the next answers, as an odometer */
            more = ++t.answers[i] < answers_of(&rows[i]);
            if (!more) t.answers[i] = 0;
        }
    }
    return any;
}

static void the_matcher_finds_what_exhaustive_search_finds(void **state) {
    (void)state;
    size_t good = 0, matches = 0, tried = 0;
    for (int i = 0; i < 30000; i++) {
        xir_pattern_row rows[ROWS + 1];
        xir_pattern_decl decl = { XIR_PATTERN_HEAD("random", rows) };
        decl.n_rows = random_rows(rows);
        decl.closed = chance(4) == 0;
        xir_pattern *p = xir_pattern_new(ctx, &decl, NULL);
        if (!p) continue;
        good++;
        xir_network *net = random_net(3 + chance(20));
        xir_match m = { 0 };
        xir_op *next = xir_network_first(net);
        while (next) {
            bool there = xir_pattern_next(p, net, &m), is_one = false;
            for (; next && (!there || next != m.root); next = xir_op_next(next)) {
                tried++;
                if (try_all(rows, decl.n_rows, decl.closed, next, NULL, &is_one))
                    fail_msg("case %d: op %d is not found", i, (int)xir_op_id(next));
            }
            if (!there) break;
            matches++;
            if (!try_all(rows, decl.n_rows, decl.closed, m.root, &m, &is_one))
                fail_msg("case %d: op %d does not fit", i, (int)xir_op_id(m.root));
            if (!is_one) fail_msg("case %d: op %d fits, but not so", i, (int)xir_op_id(m.root));
            next = xir_op_next(m.root);
        }
        xir_network_free(net);
        xir_pattern_free(p);
    }
    if (good < 5000 || matches < 3000) fail_msg("%zu patterns, %zu matches: too few for a conclusion", good, matches);
    if (getenv("XIR_TEST_TALK")) print_message("%zu patterns, %zu matches, %zu other ops\n", good, matches, tried);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_matcher_finds_what_exhaustive_search_finds),
    };
    return RUN_GROUP(tests);
}
