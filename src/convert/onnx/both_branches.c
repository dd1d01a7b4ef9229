/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* An If whose condition is computed by the network: both branches are computed, and Where picks. This is right where a
 * branch may be computed although it is not picked, and cheap where one of them costs next to nothing:
 *   - each branch has at most 64 ops and results, all ops are XIR's, none has an effect;
 *   - each op has a result whatever its inputs are: the branch that is not picked may be guarded by the condition;
 *   - both branches return the same types;
 *   - both together take at most a tenth more multiply-adds than the more expensive one.
 * Otherwise the node stays as it was. */
#include <xir/cost.h>
#include "onnx/control.h"

enum { MOST_OPS = 64, BRANCHES = 2 };

typedef struct branches_plan {
    size_t        branch;           /* that is being converted                                   */
    bool          tries;            /* counts among the trials of the conversion                 */
    const xir_op *last;             /* op before those of the second branch; NULL: they are first */
    uint64_t      cost[BRANCHES];   /* multiply-adds                                             */
} branches_plan;

static const char *const attribute_of[BRANCHES] = { "then_branch", "else_branch" };

/* ---- ops that always have a result ------------------------------------------------------------------------------ */

/* When an op of a class has no result, or an undefined one. */
typedef enum undefined_when { ALWAYS, OF_INTEGERS, TO_INTEGERS, INDEXES, LISTS } undefined_when;

static const struct { const char *key; undefined_when when; } undefined[] = {
    { "icraft::xir::Cast",           TO_INTEGERS },   /* of a real that they do not have   */
    { "icraft::xir::Div",            OF_INTEGERS },   /* by 0                              */
    { "icraft::xir::DivideScalar",   OF_INTEGERS },
    { "icraft::xir::Expand",         LISTS       },   /* that do not fit, if data says so  */
    { "icraft::xir::Gather",         INDEXES     },   /* beyond the ends                   */
    { "icraft::xir::GatherElements", ALWAYS      },
    { "icraft::xir::HardOp",         ALWAYS      },   /* nobody knows                      */
    { "icraft::xir::MultiYolo",      ALWAYS      },
    { "icraft::xir::Pad",            LISTS       },
    { "icraft::xir::Pow",            OF_INTEGERS },   /* to a negative power               */
    { "icraft::xir::Region",         ALWAYS      },
    { "icraft::xir::Reshape",        LISTS       },
    { "icraft::xir::Resize",         LISTS       },
    { "icraft::xir::Route",          ALWAYS      },
    { "icraft::xir::SSDOutput",      ALWAYS      },
    { "icraft::xir::ScatterND",      ALWAYS      },
    { "icraft::xir::Slice",          LISTS       },
    { "icraft::xir::Tile",           LISTS       },
    { "icraft::xir::TopK",           LISTS       },
    { "icraft::xir::Unknown",        ALWAYS      },
    { "icraft::xir::Unsupport",      ALWAYS      },
    { "icraft::xir::Yolo",           ALWAYS      },
    { "xir::Call",                   ALWAYS      },
    { "xir::ConstantOfShape",        ALWAYS      },   /* a known one is a constant         */
    { "xir::GRU",                    LISTS       },
    { "xir::GatherND",               ALWAYS      },
    { "xir::LSTM",                   LISTS       },
    { "xir::Mod",                    OF_INTEGERS },
    { "xir::RNN",                    LISTS       },
    { "xir::Range",                  ALWAYS      },   /* a step of 0                       */
};

static bool is_of_library(xir_str key) {
    return (key.size > 5 && !memcmp(key.data, "xir::", 5)) || (key.size > 13 && !memcmp(key.data, "icraft::xir::", 13));
}

/* Returns true if the indexes of a Gather are known and within the axis. */
static bool indexes_are_within(conversion *c, const xir_op *op) {
    const xir_value *x = xir_op_input(op, 0), *indexes = xir_op_input(op, 1);
    xir_attr axis;
    xir_ints list;
    if (xir_op_get(op, XIR_STR("axis"), &axis) || axis.kind != XIR_KIND_I64 || !conversion_ints(c, indexes, &list))
        return false;
    const int64_t rank = (int64_t)v_rank(x), k = axis.as.i64 < 0 ? axis.as.i64 + rank : axis.as.i64;
    const int64_t dim = k >= 0 && k < rank ? v_dim(x, (size_t)k) : -1;
    for (size_t i = 0; i < list.n; i++)
        if (list.v[i] < -dim || list.v[i] >= dim) return false;   /* also without a known dim */
    return true;
}

/* Returns true if all integers that say how the first input is taken are known. */
static bool lists_are_known(conversion *c, const xir_op *op) {
    for (size_t i = 1; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        xir_ints list;
        if (!v || !v_is_integer(v)) continue;
        if (!conversion_ints(c, v, &list)) return false;
        for (size_t k = 0; k < list.n; k++)
            if (list.v[k] == OPEN_ITEM) return false;
    }
    return true;
}

/* An unknown dim is not the same as any other one. */
static bool same_dims(const xir_value *a, const xir_value *b) {
    const xir_i64s x = xir_type_as_tensor(xir_value_type(a))->shape, y = xir_type_as_tensor(xir_value_type(b))->shape;
    bool same = x.size == y.size;
    for (size_t i = 0; i < x.size && same; i++) same = x.data[i] == y.data[i] && x.data[i] != XIR_UNKNOWN_DIM;
    return same;
}

/* Returns true if no dim can be one that the op does not take: all are numbers, or inputs and outputs have the same
 * expressions. An output whose dims depend on data does not have those of an input. */
static bool dims_always_fit(const xir_op *op) {
    const size_t n_in = xir_op_input_count(op);
    const xir_value *open = NULL;
    for (size_t i = 0, n = op_values(op); i < n; i++) {
        const xir_value *v = op_value(op, i);
        if (!v) continue;
        if (!xir_type_as_tensor(xir_value_type(v))) return false;
        if (!v_is_open(v)) continue;
        if (i >= n_in && !open) return false;
        if (!same_dims(v, open ? open : v)) return false;
        open = v;
    }
    return true;
}

static bool always_has_result(conversion *c, const xir_op *op) {
    const xir_str key = xir_class_key(xir_op_class(op));
    if (!is_of_library(key) || xir_op_has_trait(op, XIR_TRAIT_IMPURE) || !dims_always_fit(op)) return false;
    for (size_t i = 0; i < sizeof undefined / sizeof *undefined; i++) {
        if (!xir_str_equal(key, xir_str_of(undefined[i].key))) continue;
        const xir_value *x = xir_op_input(op, 0), *y = xir_op_output(op, 0);
        switch (undefined[i].when) {
        case ALWAYS:      return false;
        case OF_INTEGERS: if (!v_is_real(y)) return false; break;
        case TO_INTEGERS: if (!x || (v_is_real(x) && v_is_integer(y))) return false; break;
        case INDEXES:     if (!indexes_are_within(c, op)) return false; break;
        case LISTS:       if (!lists_are_known(c, op)) return false; break;
        }
    }
    return true;
}

/* Looks at the ops of the branch that has been converted. Returns false if one of them rules it out. */
static bool measure(xir_node *at, branches_plan *p) {
    const xir_op *before = p->branch ? p->last : at->opened->mark, *last = xir_op_prev(at->op);
    uint64_t *sum = &p->cost[p->branch];
    size_t n = 0;
    for (const xir_op *op = last; op && op != before; op = xir_op_prev(op)) {
        xir_cost cost = XIR_INIT(xir_cost);
        if (++n > MOST_OPS || !always_has_result(at->c, op) || xir_op_cost(op, &cost, NULL)) return false;
        *sum = xir_cost_add(*sum, cost.multiply_adds);
    }
    p->last = last;
    return *sum != XIR_COST_UNKNOWN;
}

static bool costs_little(const branches_plan *p) {
    const uint64_t a = p->cost[0], b = p->cost[1];
    return (a < b ? a : b) <= (a < b ? b : a) / 10;
}

/* ---- the walk --------------------------------------------------------------------------------------------------- */

static void end_trial(xir_node *at) {
    branches_plan *p = at->opened ? at->opened->plan : NULL;
    if (p && p->tries) at->c->in.trials--;
    if (p) p->tries = false;
}

/* Everything that was tried is undone; the node stays for the reason that it has without this. A branch that can't be
 * read and a lack of memory remain what they are. */
static bool give_up(xir_node *at) {
    char text[DECIDERS_ROOM];
    end_trial(at);
    if (at->fate == NODE_STAYS) at->fate = NODE_GOES;
    if (!xir_node_failed(at)) {
        at->waits_for = xir_op_input(at->op, 0);
        xir_node_unsupported(at, "the branch depends on %s",
                             conversion_deciders(at->c, at->waits_for, text, sizeof text));
    }
    return onnx_keep(at, onnx_type_if);
}

static bool join(xir_node *at) {
    xir_value *condition = xir_op_input(at->op, 0);
    if (v_rank(condition)) condition = make_reshaped(at, condition, &(xir_ints){ NULL, 0 });
    for (size_t i = 0; i < at->n_out; i++) {
        xir_value *yes = node_result_of_body(at, i), *no = node_result_of_body(at, at->n_out + i);
        if (!node_wants(at, i)) continue;
        if (!yes || !no || !xir_type_as_tensor(xir_value_type(yes)) ||
            !xir_type_equal(xir_value_type(yes), xir_value_type(no)) || (yes != no && !same_dims(yes, no)))
            return xir_node_unsupported(at, "the branches return different types");
        onnx_give(at, i, yes == no ? yes : xir_node_make(at, "Where", INS(yes, no, condition), NO_SETS));
    }
    return !xir_node_failed(at);
}

static bool resume_both(xir_node *at);

/* Copies a branch before the node. Its results follow those of the branch before it. */
static bool begin_branch(xir_node *at, branches_plan *p, size_t branch) {
    xir_value **results;
    size_t n;
    opened_node *o = onnx_open(at, attribute_of[branch], false, resume_both);
    if (!o || xir_network_op_count(o->body) > MOST_OPS + 2 || !node_copy_body(at, NULL, 0, branch, &results, &n) ||
        n < at->n_out) return give_up(at);
    o->plan = p;
    p->branch = branch;
    for (size_t i = 0; i < at->n_out; i++) node_set_result_of_body(at, branch * at->n_out + i, results[i]);
    if (xir_node_failed(at)) return give_up(at);
    at->c->in.trials += !p->tries;
    p->tries = true;
    return node_go_back(at);
}

static bool resume_both(xir_node *at) {
    branches_plan *p = at->opened->plan;
    if (!measure(at, p)) return give_up(at);
    if (!p->branch) return begin_branch(at, p, 1);
    if (!costs_little(p) || !join(at)) return give_up(at);
    end_trial(at);
    return true;
}

/* Returns false if two types that the file declares are different; a type that it does not declare may be any. */
static bool may_be_equal(const xir_type *a, const xir_type *b) {
    if (!a || !b) return true;
    const size_t rank = xir_type_rank(a);
    if (!xir_type_equal(xir_type_element(a), xir_type_element(b)) || xir_type_rank(b) != rank) return false;
    for (size_t k = 0; k < rank; k++) {
        const int64_t x = xir_type_dim(a, (int64_t)k, false), y = xir_type_dim(b, (int64_t)k, false);
        if (x >= 0 && y >= 0 && x != y) return false;
    }
    return true;
}

/* Returns false if the file declares a result that is a sequence or a map. */
static bool may_be_tensor(const xir_value *v) {
    const xir_any *said = xir_map_find(xir_value_tags(v), XIR_STR("onnx.type"));
    return !said || (said->kind == XIR_ANY_TEXT && said->as.text.size > 7 && !memcmp(said->as.text.data, "tensor(", 7));
}

static bool types_agree(xir_node *at) {
    bool agree = true;
    for (size_t i = 0; i < at->n_out && agree; i++)
        agree = may_be_tensor(xir_op_output(at->op, (int64_t)i)) &&
                may_be_equal(onnx_body_type(at, attribute_of[0], i), onnx_body_type(at, attribute_of[1], i));
    return agree;
}

bool onnx_both_branches(xir_node *at) {
    const xir_value *condition = xir_op_input(at->op, 0);
    int64_t n = 0;
    const bool one = condition && xir_type_as_tensor(xir_value_type(condition)) && v_is_bool(condition) &&
                     xir_type_elements(xir_value_type(condition), &n) == XIR_OK && n == 1 &&
                     at->n_out <= MOST_OPS && types_agree(at);
    branches_plan *p = arena_take(&at->c->scratch, sizeof *p);
    if (!p) return node_no_memory(at);
    *p = (branches_plan){ .branch = 0 };
    return one ? begin_branch(at, p, 0) : give_up(at);
}
