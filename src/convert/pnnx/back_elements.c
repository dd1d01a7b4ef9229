/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The way back of operations that compute each element by itself. Each becomes a pnnx.Expression of one function; those
 * that only feed another one become part of it at the end (pnnx_finish). */
#include <math.h>
#include <stdio.h>
#include "formula/simpler.h"
#include "pnnx/pnnx.h"
#include "spec/moving.h"
#include "support/numbers.h"
#include "number.h"
#include "source_tags.h"

enum { MOST_TEXT = 1 << 12, MOST_NUMBER = 40 };

/* ---- one function ----------------------------------------------------------------------------------------------- */

static const struct { const char *cls, *name; } functions[] = {
    { "Abs", "abs" },       { "ACos", "acos" },   { "ACosh", "acosh" },   { "ASin", "asin" },
        { "ASinh", "asinh" },
    { "ATan", "atan" },     { "ATanh", "atanh" }, { "Ceil", "ceil" },     { "Cos", "cos" },         { "Cosh", "cosh" },
    { "Erf", "erf" },       { "Exp", "exp" },     { "Floor", "floor" },   { "Log", "log" },         { "Neg", "neg" },
    { "Reciprocal", "reciprocal" },               { "Round", "round" },   { "Sign", "sign" },       { "Sin", "sin" },
    { "Sinh", "sinh" },     { "Sqrt", "sqrt" },   { "Tan", "tan" },       { "Multiply", "mul" },    { "Pow", "pow" },
    { "Maximum", "max" },   { "Minimum", "min" },
};

/* Powers of integers are of the type that both operands have in common in PyTorch, and so are those of two kinds of
 * reals: the type of a result must be that of the base. */
static bool powers_keep_type(xir_node *at) {
    const xir_value *x = xir_node_input(at, 0), *y = xir_node_input(at, 1);
    if (!x || !y) return false;
    return xir_type_equal(v_element(x), v_element(y)) || (v_is_real(x) && v_is_integer(y)) ||
           xir_node_unsupported(at, "a power whose exponents are of another type");
}

/* A number as the text of a formula reads it: a real has a point or an exponent. */
static bool number_text(double v, const xir_type *element, char out[MOST_NUMBER]) {
    size_t n;
    if (xir_type_kind_of(element) == XIR_TYPE_INTEGER)
        return fabs(v) < 0x1p63 && v == trunc(v) && snprintf(out, MOST_NUMBER, "%lld", (long long)v) > 0;
    if (xir_type_kind_of(element) != XIR_TYPE_FLOAT || isnan(v)) return false;
    if (isinf(v)) return v > 0 && snprintf(out, MOST_NUMBER, "inf") > 0;
    if (xir_type_storage_bits(element) > 32) n = number_put_real(out, v);
    else n = number_put_f32(out, (float)v);
    out[n] = '\0';
    if (!strpbrk(out, ".e")) memcpy(out + n, ".0", 3);
    return true;
}

/* An operand: a number, if it is one and does not give the result its rank, or "@N". */
static bool operand_text(xir_node *at, size_t i, size_t rank, bool may_be_number, xir_value **in, size_t *n,
                         char out[MOST_NUMBER]) {
    const double *v;
    size_t count;
    xir_value *x = xir_node_input(at, i);
    if (!x) return false;
    if (may_be_number && xir_node_is_constant(at, i) && v_rank(x) <= rank && xir_node_reals(at, i, &v, &count) &&
        count == 1 && fabs(*v) < 0x1p53 + (isinf(*v) ? HUGE_VAL : 0) && number_text(*v, v_element(x), out)) return true;
    const size_t place = *n && in[0] == x ? 0 : *n;
    snprintf(out, MOST_NUMBER, "@%zu", place);
    if (place == *n) in[(*n)++] = x;
    return true;
}

/* The function of a class, with its variants. */
static const char *function_of(xir_node *at) {
    const xir_str cls = xir_node_type(at);
    const bool whole = v_is_integer(xir_op_output(at->op, 0));
    const double *alpha, *beta;
    size_t n, m;
    if (xir_str_equal(cls, XIR_STR("Pow")) && !powers_keep_type(at)) return NULL;
    for (size_t i = 0; i < COUNT(functions); i++)
        if (xir_str_equal(cls, xir_str_of(functions[i].cls))) return functions[i].name;
    if (xir_str_equal(cls, XIR_STR("Div")) || xir_str_equal(cls, XIR_STR("DivideScalar"))) {
        if (xir_node_is(at, "rounding_mode", "NONE")) return "div";
        if (xir_node_is(at, "rounding_mode", "FLOOR")) return "floor_divide";
        return xir_node_unsupported(at, "a quotient that is rounded towards zero"), NULL;
    } else if (xir_str_equal(cls, XIR_STR("Mod"))) {
        if (xir_node_bool(at, "fmod", false)) return "fmod";
        if (whole) return "remainder";
    } else if (xir_str_equal(cls, XIR_STR("Add")) && xir_node_real_items(at, "alpha", &alpha, &n) &&
               xir_node_real_items(at, "beta", &beta, &m) && n == 1 && m == 1 && *alpha == 1) {
        if (*beta == 1) return "add";
        if (*beta == -1) return "sub";
    }
    return xir_node_unsupported(at, "this form of it"), NULL;
}

/* size(@0), or a list of some of the dims. */
static bool dims_of(xir_node *at) {
    enum { ROOM = 24 };
    xir_value *x = xir_node_input(at, 0);
    const int64_t rank = (int64_t)v_rank(x);
    int64_t from, to;
    if (!part_of_shape(at, x, &from, &to)) return false;
    char *text = node_take(at, (size_t)(rank + 2) * ROOM);
    if (!text) return node_no_memory(at);
    if (from >= to) return xir_node_unsupported(at, "no dims");
    size_t n = (size_t)sprintf(text, "size(@0)");
    for (int64_t i = from; (from || to < rank) && i < to; i++)
        n = (i == from ? 0 : n) +
            (size_t)sprintf(text + (i == from ? 0 : n), "%ssize(@0,%lld)", i == from ? "[" : ",", (long long)i);
    if (from || to < rank) text[n++] = ']';
    return xir_node_becomes_foreign(at, INS(x), SETS(WORD("expr", ((xir_str){ text, n }))));
}

bool pnnx_back_expression(xir_node *at) {
    char a[MOST_NUMBER], b[MOST_NUMBER] = "", *text = node_take(at, 3 * MOST_NUMBER);
    xir_value *in[2] = { NULL };
    size_t n = 0;
    if (xir_op_is(at->op, xir_shape_class())) return dims_of(at);
    const char *name = function_of(at);
    if (!text) return node_no_memory(at);
    if (!name) return false;
    if (op_requantises(at)) return xir_node_unsupported(at, "requantisation");
    const bool two = at->n_in == 2;
    const size_t rank = v_rank(xir_op_output(at->op, 0)), other = two ? v_rank(xir_node_input(at, 1)) : 0;
    /* one operand must be a tensor, of the rank of the result */
    const bool constant = two && xir_node_is_constant(at, 1);
    if (!operand_text(at, 0, other, two && !constant && other == rank, in, &n, a)) return false;
    if (two && !operand_text(at, 1, v_rank(xir_node_input(at, 0)), n == 1, in, &n, b)) return false;
    if (xir_node_attr(at, "divisor") &&
        !number_text(xir_node_real(at, "divisor", 1), v_element(in[0]), b)) return xir_node_unsupported(at,
                                                            "this divisor");
    snprintf(text, 3 * MOST_NUMBER, "%s(%s%s%s)", name, a, *b ? "," : "", b);
    return xir_node_becomes_foreign(at, (xir_values){ in, n }, SETS(WORD("expr", xir_str_of(text))));
}

bool pnnx_back_clamp(xir_node *at) {
    const double least = xir_node_real(at, "min", -INFINITY), most = xir_node_real(at, "max", INFINITY);
    const bool low = isfinite(least), high = isfinite(most);
    const xir_any none = xir_any_null();
    xir_value *x = xir_node_input(at, 0);
    if (isnan(least) || isnan(most) || least == INFINITY || most == -INFINITY)
        return xir_node_unsupported(at, "limits that leave no number");
    if (!x || (!low && !high)) return xir_node_unsupported(at, "no limits");
    if (v_is_integer(x) && ((low && least != trunc(least)) || (high && most != trunc(most))))
        return xir_node_unsupported(at, "limits between integers");
    if (v_is_integer(x) && ((low && fabs(least) >= 0x1p63) || (high && fabs(most) >= 0x1p63)))
        return xir_node_unsupported(at, "limits beyond 64 bits");
    xir_set sets[] = { { .name = "min", .kind = XIR_SET_ANY, .p = &none },
                       { .name = "max", .kind = XIR_SET_ANY, .p = &none } };
    if (low) sets[0] = v_is_integer(x) ? (xir_set)INT("min", (int64_t)least) : (xir_set)REAL("min", least);
    if (high) sets[1] = v_is_integer(x) ? (xir_set)INT("max", (int64_t)most) : (xir_set)REAL("max", most);
    return xir_node_becomes_foreign(at, INS(x), (xir_sets){ sets, 2 });
}

/* A constant of one element that does not give the result its rank, as a number of 32 bits. */
static bool number_of(xir_node *at, size_t i, size_t rank, const char *name, xir_set *out) {
    const double *v;
    size_t n;
    xir_value *x = xir_node_input(at, i);
    if (!x || !xir_node_is_constant(at, i) || v_rank(x) > rank || !xir_node_reals(at, i, &v, &n) || n != 1)
        return false;
    const bool real = xir_type_kind_of(v_element(x)) == XIR_TYPE_FLOAT;
    if (real ? !isfinite(*v) || (double)(float)*v != *v || !pnnx_reads_real(*v)
             : !v_is_integer(x) || fabs(*v) >= PNNX_END) return false;
    *out = real ? (xir_set)REAL(name, *v) : (xir_set)INT(name, (int64_t)*v);
    return true;
}

bool pnnx_back_compare(xir_node *at) {
    xir_set other;
    xir_value *x = xir_node_input(at, 0);
    if (x && !xir_value_is_params(x) && number_of(at, 1, v_rank(x), "other", &other))
        return xir_node_becomes_foreign(at, INS(x), (xir_sets){ &other, 1 });
    return xir_node_becomes_foreign(at, INS(xir_node_input(at, 0), xir_node_input(at, 1)), NO_SETS);
}

bool pnnx_back_where(xir_node *at) {
    return xir_node_becomes_foreign(at, INS(xir_node_input(at, 2), xir_node_input(at, 0), xir_node_input(at, 1)),
                                    NO_SETS);
}

bool pnnx_back_cast(xir_node *at) {
    xir_value *x = xir_node_input(at, 0);
    const xir_type *to = v_element(xir_op_output(at->op, 0));
    const char *word = pnnx_element_word(at, to);
    if (!x || !word) return xir_node_unsupported(at, "elements that PyTorch does not have");
    if (!node_casts_in_place(at, x, xir_op_output(at->op, 0))) return false;
    return xir_node_becomes_foreign(at, INS(x), SETS(XIR_SETB("copy", false), WORD("dtype", xir_str_of(word))));
}

/* ---- constants -------------------------------------------------------------------------------------------------- */

/* The text of a scalar that an expression without operands makes, an integer or a real of 64 bits. */
static bool scalar_text(const xir_value *v, char out[MOST_NUMBER]) {
    char bytes[8];
    double real;
    const xir_type *element = v_element(v);
    if (v_rank(v) || xir_type_storage_bits(element) != 64 || xir_params_read(v, 0, bytes, sizeof bytes)) return false;
    elements_to_reals(element, bytes, 0, 1, &real);
    const bool reads = v_is_integer(v) ? pnnx_reads_integer(real) : pnnx_reads_real(real);
    return reads && number_text(real, element, out);
}

/* PNNX has no weights of rank 0: a scalar is an expression, or the element of a weight with one. */
xir_value *pnnx_constant(xir_node *at, xir_value *v) {
    char text[MOST_NUMBER];
    const xir_type *type = xir_value_type(v);
    const xir_values none = { NULL, 0 };
    if (scalar_text(v, text)) {
        return foreign_value(at, "pnnx::pnnx.Expression", none, SETS(WORD("expr", xir_str_of(text))), type);
    }
    const xir_ints one = { (int64_t[]){ 1 }, 1 };
    const bool plain = v_rank(v) > 0;
    xir_value *data = plain ? v : make_reshaped(at, v, &one);
    if (!data || !xir_value_is_params(data)) return NULL;   /* its element has a scale for each place */
    xir_value *made = foreign_value(at, "pnnx::pnnx.Attribute", none, SETS(OBJ("@data", data)), xir_value_type(data));
    if (plain) return made;
    return foreign_value(at, "pnnx::Tensor.select", INS(made), SETS(INT("dim", 0), INT("index", 0)), type);
}

/* ---- expressions of expressions --------------------------------------------------------------------------------- */

/* The formula of an op that others may contain; empty for any other op. */
static xir_str formula_of(const xir_op *op) {
    const xir_any *found = xir_map_find(xir_op_extra(op), XIR_STR("expr"));
    const bool is_expression = found && xir_str_equal(xir_class_key(xir_op_class(op)),
                                                      XIR_STR("pnnx::pnnx.Expression"));
    if (!is_expression || found->kind != XIR_ANY_TEXT || xir_op_output_count(op) != 1 || xir_op_input_count(op) < 1)
        return (xir_str){ NULL, 0 };
    const xir_str text = found->as.text;
    const bool is_list = text.size && (text.data[0] == '[' || text.data[0] == '(');
    return is_list ? (xir_str){ NULL, 0 } : text;
}

static bool is_used_once(const xir_value *v) {
    const xir_use *use = xir_value_uses(v);
    return use && !xir_use_next(use);
}

enum { MOST_INPUTS = 16, MOST_FORMULA = 1 << 9 };
typedef struct merged { char text[2 * MOST_FORMULA]; size_t size, n_in; xir_value *in[MOST_INPUTS]; bool fits; } merged;

static void put_text(merged *m, const char *text, size_t n) {
    if (m->size + n >= MOST_FORMULA) m->fits = false;
    else memcpy(m->text + m->size, text, n), m->size += n;
}

static void put_input(merged *m, xir_value *v) {
    char name[24];
    size_t i = 0;
    while (i < m->n_in && m->in[i] != v) i++;
    if (i == MOST_INPUTS) m->fits = false;
    if (!m->fits) return;
    if (i == m->n_in) m->in[m->n_in++] = v;
    put_text(m, name, (size_t)snprintf(name, sizeof name, "@%zu", i));
}

/* The number after an @; `p` is moved past it. */
static size_t operand_at(xir_str text, size_t *p) {
    size_t i = 0;
    for ((*p)++; *p < text.size && text.data[*p] >= '0' && text.data[*p] <= '9' && i < 1 << 20; (*p)++)
        i = 10 * i + (size_t)(text.data[*p] - '0');
    return i;
}

/* The op that makes operand i of a formula, if its own formula can stand in its place: nothing else has the result, and
 * the formula has it once. */
static xir_op *inner_of(const xir_op *op, xir_str text, size_t i) {
    size_t times = 0;
    xir_value *v = i < xir_op_input_count(op) ? xir_op_input(op, (int64_t)i) : NULL;
    if (!v || !is_used_once(v) || !formula_of(xir_value_op(v)).size) return NULL;
    for (size_t p = 0; p < text.size;) {
        if (text.data[p] == '@') times += operand_at(text, &p) == i;
        else p++;
    }
    return times == 1 ? xir_value_op(v) : NULL;
}

/* The formula of an op; operands that are formulas for this op alone are in its place if `deep`. */
static void put_formula(merged *m, const xir_op *op, bool deep) {
    const xir_str text = formula_of(op);
    for (size_t p = 0; p < text.size && m->fits;) {
        if (text.data[p] != '@') {
            put_text(m, text.data + p++, 1);
            continue;
        }
        const size_t i = operand_at(text, &p);
        xir_value *v = i < xir_op_input_count(op) ? xir_op_input(op, (int64_t)i) : NULL;
        const xir_op *inner = deep ? inner_of(op, text, i) : NULL;
        if (inner) put_formula(m, inner, false);
        else if (v) put_input(m, v);
        else m->fits = false;
    }
}

/* Puts formulas into the one that they feed. Sets *changed. */
static xir_status merge(xir_op *op, bool *changed) {
    merged m = { .fits = true };
    xir_op *gone[MOST_INPUTS];
    size_t n = 0;
    const size_t n_in = xir_op_input_count(op);
    for (size_t i = 0; i < n_in && n_in <= MOST_INPUTS; i++) {
        xir_op *inner = inner_of(op, formula_of(op), i);
        if (inner) gone[n++] = inner;
    }
    if (!n) return XIR_OK;
    put_formula(&m, op, true);
    if (!m.fits) return XIR_OK;
    const xir_any text = xir_any_text((xir_str){ m.text, m.size });
    xir_status status = xir_op_set_extra(op, XIR_STR("expr"), &text);
    if (!status) status = xir_op_set_inputs(op, m.in, m.n_in);
    for (size_t i = 0; i < n && !status; i++) status = xir_op_erase(gone[i]);
    *changed = true;
    return status;
}

xir_status pnnx_finish(xir_network *net, bool *changed) {
    xir_status status = pnnx_drop_lists(net, changed);
    if (!status) status = pnnx_join_attention(net, changed);
    if (!status) status = pnnx_name_weights(net, changed);
    if (!status) status = pnnx_part_inputs(net, changed);
    for (xir_op *op = xir_network_first(net), *next; op && !status; op = next) {
        next = xir_op_next(op);
        if (formula_of(op).size) status = merge(op, changed);
    }
    return status;
}
