/* The way back of recurrences: one layer of RNN, LSTM or GRU. NNabla's gates are i f g o and r z n, XIR's i o f g and
 * z r n. A gate has one matrix for input and state, and one bias, but for the last one of GRU. NNabla has no absent
 * states, no backward direction alone, and the batch second. */
#include <math.h>
#include "convert/nnb/nnb.h"

enum { X, W, R, B, LENGTHS, H, C, PEEPHOLES };

typedef struct cell {
    size_t  states;
    int64_t gates, order[4], steps, batch, features, hidden, directions;
    bool    relu, backward, batch_first;
} cell;

/* Whether the activations are the usual ones; those of an RNN may also be Relu. */
static bool usual(xir_node *at, cell *c) {
    static const char *const words[] = { "Sigmoid", "Tanh", "Tanh" };
    const xir_any *a = xir_node_attr(at, "activations"), *x = xir_node_attr(at, "activation_alpha"),
                  *y = xir_node_attr(at, "activation_beta");
    const size_t n = a ? a->as.list.size : 0;
    size_t due = 0, relu = 0;
    if ((x && x->as.list.size) || (y && y->as.list.size)) return false;
    for (size_t i = 0; i < n; i++) {
        const xir_str word = a->as.list.items[i].as.text;
        const char *expected = c->gates == 1 ? "Tanh" : words[i % (c->gates - 1)];
        due += xir_str_equal(word, xir_str_of(expected));
        relu += c->gates == 1 && xir_str_equal(word, XIR_STR("Relu"));
    }
    c->relu = n && relu == n;
    return due == n || c->relu;
}

static bool read_cell(xir_node *at, cell *c) {
    const char kind = xir_node_type(at).data[0];   /* LSTM, GRU, RNN */
    const xir_value *x = xir_node_input(at, X), *w = xir_node_params(at, W), *r = xir_node_params(at, R);
    *c = kind == 'L' ? (cell){ .states = 2, .gates = 4, .order = { 0, 3, 1, 2 } }
       : kind == 'G' ? (cell){ .states = 1, .gates = 3, .order = { 1, 0, 2 } } : (cell){ .states = 1, .gates = 1 };
    if (xir_node_failed(at) || !xir_node_need_dims(at, x, 0, SIZE_MAX)) return false;
    if (v_rank(x) != 3 || v_rank(w) != 3 || v_rank(r) != 3) return xir_node_unsupported(at, "other dims");
    c->batch_first = xir_node_int(at, "layout", 0) != 0;
    c->backward = xir_node_is(at, "direction", "REVERSE");
    c->directions = xir_node_is(at, "direction", "BIDIRECTIONAL") ? 2 : 1;
    c->hidden = xir_node_int(at, "hidden_size", 1);
    c->steps = v_dim(x, c->batch_first), c->batch = v_dim(x, !c->batch_first), c->features = v_dim(x, 2);
    if (c->steps < 1 || c->batch < 1 || c->features < 1) return xir_node_unsupported(at, "no elements");
    if (xir_node_has(at, LENGTHS) || xir_node_has(at, PEEPHOLES))
        return xir_node_unsupported(at, "lengths or peepholes");
    if (isfinite(xir_node_real(at, "clip", INFINITY))) return xir_node_unsupported(at, "clipped activations");
    if (xir_node_bool(at, "input_forget", false)) return xir_node_unsupported(at, "coupled gates");
    if (kind == 'G' && !xir_node_bool(at, "linear_before_reset", false))
        return xir_node_unsupported(at, "a reset before the product");
    return usual(at, c) || xir_node_unsupported(at, "other activations");
}

/* ---- weights ---------------------------------------------------------------------------------------------------- */

/* The elements of an input, which has as many as expected. */
static const double *elements(xir_node *at, size_t input, int64_t expected) {
    const double *v;
    size_t n;
    if (!xir_node_reals(at, input, &v, &n)) return NULL;
    return (int64_t)n == expected ? v : (xir_node_unsupported(at, "weights of other dims"), NULL);
}

/* [directions, gates, hidden, features + hidden] */
static xir_value *weights(xir_node *at, const cell *c) {
    const int64_t columns = c->features + c->hidden, rows = c->directions * c->gates * c->hidden;
    const double *w = elements(at, W, rows * c->features), *r = elements(at, R, rows * c->hidden);
    double *to = arena_take(&at->c->scratch, (size_t)(rows * columns) * sizeof *to);
    if (xir_node_failed(at)) return NULL;
    if (!to) return node_no_memory(at), NULL;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t gate = i / c->hidden % c->gates, other = c->order[gate] - gate;
        double *row = to + (i + other * c->hidden) * columns;
        memcpy(row, w + i * c->features, (size_t)c->features * sizeof *row);
        memcpy(row + c->features, r + i * c->hidden, (size_t)c->hidden * sizeof *row);
    }
    int64_t dims[] = { c->directions, c->gates, c->hidden, columns }, plain[] = { c->directions, c->hidden, columns };
    const xir_ints list = c->gates > 1 ? (xir_ints){ dims, 4 } : (xir_ints){ plain, 3 };
    return xir_node_constant(at, v_element(xir_node_input(at, W)), &list, to, (size_t)(rows * columns));
}

/* [1, directions, gates, hidden], GRU's with one gate more: the state's part of the last one. */
static xir_value *bias(xir_node *at, const cell *c) {
    const int64_t own = c->gates * c->hidden, lists = c->gates + (c->gates == 3), n = c->directions * lists * c->hidden;
    const double *b = elements(at, B, 2 * c->directions * own);
    double *to = arena_take(&at->c->scratch, (size_t)n * sizeof *to);
    if (xir_node_failed(at)) return NULL;
    if (!to) return node_no_memory(at), NULL;
    for (int64_t d = 0; d < c->directions; d++)
        for (int64_t i = 0; i < own; i++) {
            const int64_t gate = i / c->hidden;
            const double *of_x = b + 2 * d * own + i, *of_h = of_x + own;
            double *v = to + (d * lists + c->order[gate]) * c->hidden + i % c->hidden;
            const bool apart = c->gates == 3 && gate == 2;
            *v = apart ? *of_x : *of_x + *of_h;
            if (apart) v[c->hidden] = *of_h;
        }
    int64_t gated[] = { 1, c->directions, lists, c->hidden }, plain[] = { 1, c->directions, c->hidden };
    const xir_ints list = c->gates > 1 ? (xir_ints){ gated, 4 } : (xir_ints){ plain, 3 };
    return xir_node_constant(at, v_element(xir_node_input(at, B)), &list, to, (size_t)n);
}

/* ---- the function ----------------------------------------------------------------------------------------------- */

static xir_value *axes_swapped(xir_node *at, xir_value *x, size_t rank) {
    static const int64_t order[] = { 1, 0, 2, 3 };
    return xir_node_failed(at) || !x ? NULL : xir_node_transposed(at, x, order, rank, NULL);
}

/* [1, directions, batch, hidden] */
static xir_value *state(xir_node *at, const cell *c, size_t input) {
    const xir_ints dims = { (int64_t[]){ 1, c->directions, c->batch, c->hidden }, 4 };
    xir_value *v = xir_node_optional_input(at, input);
    if (!v) return xir_node_filled(at, v_element(xir_node_input(at, X)), &dims, 0);
    return make_shaped(at, c->batch_first ? axes_swapped(at, v, 3) : v, dims.v, dims.n);
}

static xir_value *turned(xir_node *at, const cell *c, xir_value *x) {
    return c->backward ? make_part(at, x, 0, INT64_MAX, INT64_MIN, -1) : x;
}

bool nnb_back_recurrent(xir_node *at) {
    static const int64_t order[] = { 0, 2, 1, 3 };
    cell c;
    if (!read_cell(at, &c)) return false;
    xir_value *x = xir_node_input(at, X), *in[6];
    const xir_type *element = v_element(x), *types[3];
    size_t n = 0;
    in[n++] = turned(at, &c, c.batch_first ? axes_swapped(at, x, 3) : x);
    for (size_t i = 0; i < c.states; i++) in[n++] = state(at, &c, H + i);
    in[n++] = weights(at, &c);
    if (xir_node_has(at, B)) in[n++] = bias(at, &c);
    int64_t joined[] = { c.steps, c.batch, c.directions * c.hidden };
    const int64_t apart[] = { c.steps, c.batch, c.directions, c.hidden }, last[] = { c.directions, c.batch, c.hidden };
    xir_ints kept = { (int64_t[]){ 1, c.directions, c.batch, c.hidden }, 4 };
    types[0] = node_type(at, element, NULL, &(xir_ints){ joined, 3 });
    types[1] = types[2] = node_type(at, element, NULL, &kept);
    if (xir_node_failed(at)) return false;
    if (!types[0] || !types[1]) return node_no_memory(at);
    const xir_set sets[] = { INT("num_layers", 1), REAL("dropout", 0), XIR_SETB("bidirectional", c.directions > 1),
                             XIR_SETB("training", false),
                             WORD("nonlinearity", xir_str_of(c.relu ? "relu" : "tanh")) };
    xir_op *op = xir_node_make_foreign(at, at->to->row->name, (xir_values){ in, n },
                                       (xir_sets){ sets, c.gates > 1 ? 4 : 5 }, types, 1 + c.states);
    at->main = op;
    if (!op) return false;
    xir_value *y = make_shaped(at, turned(at, &c, xir_op_output(op, 0)), apart, 4);   /* steps, batch, directions */
    y = c.batch_first ? axes_swapped(at, y, 4) : y ? xir_node_transposed(at, y, order, 4, NULL) : NULL;
    if (!y || !xir_node_result(at, 0, y)) return false;
    for (size_t i = 0; i < c.states; i++) {
        xir_value *v = make_shaped(at, xir_op_output(op, 1 + (int64_t)i), last, 3);
        if (c.batch_first) v = axes_swapped(at, v, 3);
        if (1 + i < at->n_out && (!v || !xir_node_result(at, 1 + i, v))) return false;
    }
    return true;
}
