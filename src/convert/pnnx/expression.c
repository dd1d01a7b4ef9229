/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* pnnx.Expression: a formula such as add(mul(@0,2.5),@1), whose operands @N are the op's inputs. It becomes an
 * operation for each function. Numbers are folded while parsing; a dim that is known, size(@0,2), is a number. A list
 * in brackets is a list of integers, or the list of index tensors of an index_put. */
#include <math.h>
#include "number.h"
#include "node/lists.h"
#include "formula/parts.h"
#include "formula/text.h"
#include "pnnx/pnnx.h"

/* An operand: a tensor, or a number of Python. A tensor of rank 0 may be such a number, too: then its integers and
 * reals have 64 bits. */
typedef enum term_kind { TERM_FAILED, TERM_VALUE, TERM_INT, TERM_REAL, TERM_BOOL, TERM_NONE } term_kind;
typedef struct term {
    term_kind  kind;
    bool       is_python;
    xir_value *v;
    double     number;
} term;

typedef struct parser {
    xir_node   *at;
    const char *p, *end;
    int         depth;
} parser;

static term failed(const parser *s, const char *why) {
    xir_node_unsupported(s->at, "the expression: %s at '%.*s'", why, (int)(s->end - s->p < 40 ? s->end - s->p : 40),
                         s->p);
    return (term){ .kind = TERM_FAILED };
}

static term of_value(xir_value *v, bool is_python) {
    return (term){ .kind = v ? TERM_VALUE : TERM_FAILED, .is_python = is_python, .v = v };
}
static term of_number(term_kind kind, double v) { return (term){ .kind = kind, .is_python = true, .number = v }; }

static const xir_type *number_type(xir_node *at, term_kind kind) {
    xir_context *ctx = xir_node_context(at);
    return kind == TERM_BOOL ? xir_type_bool(ctx) : kind == TERM_INT ? xir_type_sint(ctx, 64)
                                                                     : xir_type_float(ctx, XIR_FLOAT_FP64);
}

/* A term as a tensor; a number alone has 64 bits. */
static xir_value *as_value(xir_node *at, term t) {
    if (t.kind == TERM_VALUE || t.kind == TERM_FAILED) return t.v;
    if (t.kind == TERM_NONE) return xir_node_unsupported(at, "the expression has no number"), NULL;
    return xir_node_scalar(at, number_type(at, t.kind), t.number);
}

/* x in real elements: integers become fp32, numbers of Python fp64. */
static xir_value *as_real(xir_node *at, xir_value *v, bool is_python) {
    if (!v || v_is_real(v)) return v;
    return xir_node_cast(at, v, xir_type_float(xir_node_context(at), is_python ? XIR_FLOAT_FP64 : XIR_FLOAT_FP32));
}

/* An integer; beyond 2^53 a double would not be exact. */
#define MOST_EXACT ((int64_t)1 << 53)
static term of_integer(const parser *s, double v) {
    if (fabs(v) <= (double)MOST_EXACT) return of_number(TERM_INT, v);
    return failed(s, "an integer that is too large");
}

/* Two operands of one element type. A number takes that of the tensor, unless it is of a higher category. */
static bool as_values(xir_node *at, const term *a, const term *b, xir_value *out[2]) {
    const bool is_python = a->is_python && b->is_python;
    const term *const terms[] = { a, b };
    for (size_t i = 0; i < 2; i++) {
        const term *t = terms[i], *other = terms[1 - i];
        if (t->kind == TERM_FAILED || other->kind == TERM_FAILED) return false;
        if (t->kind == TERM_VALUE || other->kind != TERM_VALUE) {
            out[i] = as_value(at, *t);
            continue;
        }
        const xir_type *element = v_element(other->v);
        if (t->kind == TERM_REAL && !v_is_real(other->v))
            element = xir_type_float(xir_node_context(at), is_python ? XIR_FLOAT_FP64 : XIR_FLOAT_FP32);
        else if (t->kind == TERM_INT && v_is_bool(other->v)) element = number_type(at, TERM_INT);
        out[i] = xir_node_scalar(at, element, t->number);
    }
    return pnnx_promote(at, &out[0], &out[1]);
}

/* ---- functions of one operand ----------------------------------------------------------------------------------- */

static const struct { const char *name, *cls; bool of_reals; } unaries[] = {
    { "abs",   "Abs",   false }, { "acos",  "ACos",  true  }, { "acosh", "ACosh", true  }, { "asin", "ASin", true  },
    { "asinh", "ASinh", true  }, { "atan",  "ATan",  true  }, { "atanh", "ATanh", true  }, { "ceil", "Ceil", false },
    { "cos",   "Cos",   true  }, { "cosh",  "Cosh",  true  }, { "erf",   "Erf",   true  }, { "exp",  "Exp",  true  },
    { "floor", "Floor", false }, { "log",   "Log",   true  }, { "neg",   "Neg",   false }, { "sign", "Sign", false },
    { "round", "Round", false }, { "sin",   "Sin",   true  }, { "sinh",  "Sinh",  true  }, { "sqrt", "Sqrt", true  },
    { "tan",   "Tan",   true  }, { "tanh",  "Tanh",  true  }, { "reciprocal", "Reciprocal", true },
};
/* Functions that several operations make. */
static const char *const others[] = { "expm1", "log10", "log1p", "rsqrt", "square", "trunc", "int", "torch.bool",
                                      "torch.float", "torch.long" };

static bool is_unary(xir_str name) {
    for (size_t i = 0; i < COUNT(unaries); i++) if (xir_str_equal(name, xir_str_of(unaries[i].name))) return true;
    for (size_t i = 0; i < COUNT(others); i++) if (xir_str_equal(name, xir_str_of(others[i]))) return true;
    return false;
}

/* sign(x) floor(|x|) */
static xir_value *truncated(xir_node *at, xir_value *x) {
    if (!x || !v_is_real(x)) return x;
    return xir_node_product(at, xir_node_unary(at, "Sign", x),
                            xir_node_unary(at, "Floor", xir_node_unary(at, "Abs", x)));
}

static xir_value *make_other(xir_node *at, xir_str name, xir_value *x, bool is_python) {
    xir_context *ctx = xir_node_context(at);
    if (xir_str_equal(name, XIR_STR("square"))) return xir_node_product(at, x, x);
    if (xir_str_equal(name, XIR_STR("trunc"))) return truncated(at, x);
    if (xir_str_equal(name, XIR_STR("int")) || xir_str_equal(name, XIR_STR("torch.long")))
        return xir_node_cast(at, truncated(at, x), xir_type_sint(ctx, 64));
    if (xir_str_equal(name, XIR_STR("torch.bool")))
        return xir_node_make(at, "NotEqual", INS(x, xir_node_scalar(at, v_element(x), 0)), NO_SETS);
    if (xir_str_equal(name, XIR_STR("torch.float"))) return xir_node_cast(at, x, xir_type_float(ctx, XIR_FLOAT_FP32));
    x = as_real(at, x, is_python);
    if (xir_str_equal(name, XIR_STR("expm1"))) return make_affine(at, xir_node_unary(at, "Exp", x), 1, -1);
    if (xir_str_equal(name, XIR_STR("log10")))
        return make_affine(at, xir_node_unary(at, "Log", x), 0.43429448190325182765, 0);
    if (xir_str_equal(name, XIR_STR("log1p"))) return xir_node_unary(at, "Log", make_affine(at, x, 1, 1));
    return xir_node_unary(at, "Reciprocal", xir_node_unary(at, "Sqrt", x));   /* rsqrt */
}

static term unary(parser *s, xir_str name, term t) {
    if (t.kind == TERM_FAILED) return t;
    if (t.kind == TERM_INT || t.kind == TERM_REAL) {   /* what lists are made of */
        if (xir_str_equal(name, XIR_STR("int")) || xir_str_equal(name, XIR_STR("trunc")))
            return of_integer(s, trunc(t.number));
        if (xir_str_equal(name, XIR_STR("floor"))) return of_integer(s, floor(t.number));
        if (xir_str_equal(name, XIR_STR("ceil"))) return of_integer(s, ceil(t.number));
        if (xir_str_equal(name, XIR_STR("round"))) return of_integer(s, nearbyint(t.number));
        if (xir_str_equal(name, XIR_STR("neg"))) return of_number(t.kind, -t.number);
        if (xir_str_equal(name, XIR_STR("abs"))) return of_number(t.kind, fabs(t.number));
        if (xir_str_equal(name, XIR_STR("sqrt"))) return of_number(TERM_REAL, sqrt(t.number));
    }
    xir_value *x = as_value(s->at, t);
    if (!x) return (term){ .kind = TERM_FAILED };
    for (size_t i = 0; i < COUNT(unaries); i++) {
        if (!xir_str_equal(name, xir_str_of(unaries[i].name))) continue;
        if (unaries[i].of_reals) x = as_real(s->at, x, t.is_python);
        const char *cls = unaries[i].cls;
        const bool rounds = cls[0] == 'C' || cls[0] == 'F' || cls[0] == 'R';
        if (x && rounds && !unaries[i].of_reals && !v_is_real(x))
            return of_value(x, t.is_python);   /* Ceil, Floor, Round */
        return of_value(xir_node_unary(s->at, cls, x), t.is_python);
    }
    return of_value(make_other(s->at, name, x, t.is_python), t.is_python);
}

/* ---- functions of two operands ---------------------------------------------------------------------------------- */

typedef enum binary_kind {
    ADD, SUB, MUL, DIV, FLOOR_DIVIDE, REMAINDER, FMOD, POW, ATAN2, MAX, MIN, LOGADDEXP, AND, OR, XOR, LSHIFT, RSHIFT,
    NO_BINARY
} binary_kind;

static binary_kind binary_of(xir_str name) {
    static const char *const names[] = { "add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "pow",
                                         "atan2", "max", "min", "logaddexp", "and", "or", "xor", "lshift", "rshift" };
    if (xir_str_equal(name, XIR_STR("maximum"))) return MAX;
    if (xir_str_equal(name, XIR_STR("minimum"))) return MIN;
    if (xir_str_equal(name, XIR_STR("rsub"))) return NO_BINARY;
    size_t i = 0;
    while (i < COUNT(names) && !xir_str_equal(name, xir_str_of(names[i]))) i++;
    return (binary_kind)i;
}

/* Python's results for two numbers; NaN-like results are left to operations. */
static bool folded(binary_kind kind, term a, term b, term *out) {
    if ((a.kind != TERM_INT && a.kind != TERM_REAL) || (b.kind != TERM_INT && b.kind != TERM_REAL)) return false;
    const term_kind both = a.kind == TERM_INT && b.kind == TERM_INT ? TERM_INT : TERM_REAL;
    const double x = a.number, y = b.number;
    switch (kind) {
    case ADD: *out = of_number(both, x + y); return true;
    case SUB: *out = of_number(both, x - y); return true;
    case MUL: *out = of_number(both, x * y); return true;
    case DIV: *out = of_number(TERM_REAL, x / y); return y != 0;
    case FLOOR_DIVIDE: *out = of_number(both, floor(x / y)); return y != 0;
    case REMAINDER: *out = of_number(both, x - floor(x / y) * y); return y != 0;
    case POW: *out = of_number(y < 0 ? TERM_REAL : both, pow(x, y)); return x != 0 || y >= 0;
    case MAX: *out = of_number(both, x > y ? x : y); return true;
    case MIN: *out = of_number(both, x < y ? x : y); return true;
    default: return false;
    }
}

/* Returns true if a mask has ones from bit 0 on, and no others: then "and" is a remainder. */
static bool are_low_bits(double mask) {
    int bits = 0;
    return mask >= 0 && mask < 1 << 30 && frexp(mask + 1, &bits) == 0.5;
}

/* And, or, xor of integers. With low bits alone, x or m = x + m - (x and m), x xor m = x + m - 2 (x and m). */
static xir_value *make_bits(xir_node *at, binary_kind kind, term a, term b) {
    if (a.kind != TERM_VALUE && b.kind != TERM_VALUE) return xir_node_unsupported(at, "bits of two numbers"), NULL;
    if (a.kind != TERM_VALUE) return make_bits(at, kind, b, a);
    if (v_is_real(a.v)) return xir_node_unsupported(at, "bits of reals"), NULL;
    const pnnx_bit_function f = kind == AND ? PNNX_AND : kind == OR ? PNNX_OR : PNNX_XOR;
    xir_value *v[2];
    if (b.kind == TERM_VALUE || !are_low_bits(b.number))
        return as_values(at, &a, &b, v) ? pnnx_make_bits(at, f, v[0], v[1]) : NULL;
    xir_value *both = xir_node_make(at, "Mod", INS(a.v, xir_node_scalar(at, v_element(a.v), b.number + 1)), NO_SETS);
    if (!both || kind == AND) return both;
    return xir_node_sum(at, make_affine(at, a.v, 1, b.number), both, 1, kind == OR ? -1 : -2);
}

static xir_value *make_binary(xir_node *at, binary_kind kind, xir_value *a, xir_value *b, bool is_python) {
    const bool whole = !v_is_real(a);
    switch (kind) {
    case ADD: return xir_node_sum(at, a, b, 1, 1);
    case SUB: return xir_node_sum(at, a, b, 1, -1);
    case MUL: return xir_node_product(at, a, b);
    case DIV: return xir_node_quotient(at, as_real(at, a, is_python), as_real(at, b, is_python));
    case FLOOR_DIVIDE: return xir_node_make(at, "Div", INS(a, b), SETS(WORD("rounding_mode", XIR_STR("FLOOR"))));
    case REMAINDER: return make_formula(at, whole ? "Mod(x, y)" : "x - Floor(x / y) * y", INS(a, b), NULL);
    case FMOD: return xir_node_make(at, "Mod", INS(a, b), SETS(INT("fmod", 1)));
    case POW: return xir_node_make(at, "Pow", INS(a, b), NO_SETS);
    case ATAN2: return make_atan2(at, as_real(at, a, is_python), as_real(at, b, is_python));
    case MAX: return xir_node_make(at, "Maximum", INS(a, b), NO_SETS);
    case MIN: return xir_node_make(at, "Minimum", INS(a, b), NO_SETS);
    case LOGADDEXP: return make_formula(at, "m = Maximum(x, y); Log(Exp(x - m) + Exp(y - m)) + m", INS(a, b), NULL);
    case AND: return xir_node_make(at, "And", INS(a, b), NO_SETS);
    case OR:  return xir_node_make(at, "Or", INS(a, b), NO_SETS);
    case XOR: return xir_node_make(at, "Xor", INS(a, b), NO_SETS);
    case LSHIFT:
    case RSHIFT:
        if (!whole) return xir_node_unsupported(at, "a shift of reals"), NULL;
        return make_formula(at, kind == LSHIFT ? "x * Pow(2, y)" : "Div(x, Pow(2, y), rounding_mode='FLOOR')",
                            INS(a, b), NULL);
    default: return NULL;
    }
}

/* Returns the logical function that computes the same of two bools: PyTorch adds bools by "or". */
static binary_kind of_truths(binary_kind kind) {
    return kind == ADD || kind == MAX ? OR : kind == MUL || kind == MIN ? AND : kind;
}

static term binary(parser *s, binary_kind kind, term a, term b) {
    term out;
    xir_value *v[2];
    const bool is_python = a.is_python && b.is_python;
    if (folded(kind, a, b, &out)) return out.kind == TERM_INT ? of_integer(s, out.number) : out;
    const bool logic = kind == AND || kind == OR || kind == XOR;
    const bool truths = (a.kind == TERM_BOOL || (a.kind == TERM_VALUE && v_is_bool(a.v))) &&
                        (b.kind == TERM_BOOL || (b.kind == TERM_VALUE && v_is_bool(b.v)));
    if (logic && !truths && a.kind != TERM_FAILED && b.kind != TERM_FAILED)
        return of_value(make_bits(s->at, kind, a, b), is_python);
    if (!as_values(s->at, &a, &b, v)) return (term){ .kind = TERM_FAILED };
    if (truths && !is_python) kind = of_truths(kind);
    return of_value(make_binary(s->at, kind, v[0], v[1], is_python), is_python);
}

/* ---- parsing ---------------------------------------------------------------------------------------------------- */

static term read_term(parser *s);

static bool takes(parser *s, char c) {
    if (s->p >= s->end || *s->p != c) return false;
    s->p++;
    return true;
}

/* size(x,d) of a dim; a dim that is open is computed. */
static term size_of(parser *s, term x, term axis) {
    xir_node *at = s->at;
    int64_t k;
    if (x.kind != TERM_VALUE || axis.kind != TERM_INT) return failed(s, "a size of something else");
    if (!xir_node_axis(at, "attribute/expr", (int64_t)axis.number, v_rank(x.v), &k))
        return (term){ .kind = TERM_FAILED };
    if (v_dim(x.v, (size_t)k) >= 0) return of_number(TERM_INT, (double)v_dim(x.v, (size_t)k));
    xir_value *dim = xir_node_make(at, "Shape", INS(x.v), SETS(INT("start", k), INT("end", k + 1)));
    return of_value(make_shaped(at, dim, NULL, 0), true);
}

static term call(parser *s, xir_str name, bool bare) {
    term args[3] = { { .kind = TERM_FAILED } };
    size_t n = 0;
    do {
        if (n == COUNT(args)) return failed(s, "too many operands");
        args[n++] = read_term(s);
        if (args[n - 1].kind == TERM_FAILED) return args[n - 1];
    } while (!bare && takes(s, ','));
    if (!bare && !takes(s, ')')) return failed(s, "expected )");
    const binary_kind kind = binary_of(name);
    if (xir_str_equal(name, XIR_STR("size")) && n == 2) return size_of(s, args[0], args[1]);
    if (xir_str_equal(name, XIR_STR("size")) && n == 1 && args[0].kind == TERM_VALUE)
        return of_value(xir_node_unary(s->at, "Shape", args[0].v), true);
    if (xir_str_equal(name, XIR_STR("rsub")) && n >= 2) {
        if (n == 3) args[0] = binary(s, MUL, args[0], args[2]);
        return binary(s, SUB, args[1], args[0]);
    }
    if (kind < NO_BINARY && n == 3 && (kind == ADD || kind == SUB))
        args[1] = binary(s, MUL, args[1], args[2]), n = 2;   /* alpha */
    if (kind < NO_BINARY && n == 2) return binary(s, kind, args[0], args[1]);
    if (is_unary(name) && n == 1) return unary(s, name, args[0]);
    xir_node_unsupported(s->at, "the expression: %.*s with %zu operand%s", CLIP_TO(name, 40), n, n == 1 ? "" : "s");
    return (term){ .kind = TERM_FAILED };
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

/* A number ends where an operand does. */
static bool ends(const parser *s) { return s->p == s->end || *s->p == ',' || *s->p == ')' || *s->p == ']'; }

static term read_number(parser *s) {
    number v;
    const size_t size = number_parse(s->p, (size_t)(s->end - s->p), &v);
    parser after = *s;
    after.p += size;
    if (!size && *s->p == '-') {
        while (++after.p < s->end && is_name(*after.p)) {}
        v.kind = NUMBER_REAL;
        if (!node_real_word((xir_str){ s->p, (size_t)(after.p - s->p) }, &v.real)) return failed(s, "not a number");
    }
    if (after.p == s->p || !ends(&after)) return failed(s, "not a number");
    s->p = after.p;
    if (v.kind == NUMBER_REAL || v.kind == NUMBER_OVERFLOW) return of_number(TERM_REAL, v.real);
    const bool exact = v.kind == NUMBER_I64 && v.i64 >= -MOST_EXACT && v.i64 <= MOST_EXACT;
    return exact ? of_number(TERM_INT, (double)v.i64) : failed(s, "an integer that is too large");
}

static term read_plain(parser *s) {
    const char c = s->p < s->end ? *s->p : '\0';
    if (takes(s, '@')) {
        size_t i = 0;
        const char *first = s->p;
        while (s->p < s->end && *s->p >= '0' && *s->p <= '9' && i < 1 << 20) i = 10 * i + (size_t)(*s->p++ - '0');
        if (s->p == first) return failed(s, "expected the number of an input");
        xir_value *v = xir_node_input(s->at, i);
        return of_value(v, v && v_rank(v) == 0 && xir_type_storage_bits(v_element(v)) == 64);
    }
    if ((c >= '0' && c <= '9') || c == '-') return read_number(s);
    xir_str name = { s->p, 0 };
    while (s->p < s->end && is_name(*s->p)) s->p++, name.size++;
    if (!name.size) return failed(s, "expected an operand");
    if (takes(s, '(')) return call(s, name, false);
    if (xir_str_equal(name, XIR_STR("True"))) return of_number(TERM_BOOL, 1);
    if (xir_str_equal(name, XIR_STR("False"))) return of_number(TERM_BOOL, 0);
    if (xir_str_equal(name, XIR_STR("None"))) return (term){ .kind = TERM_NONE };
    double real;
    if (node_real_word(name, &real)) return of_number(TERM_REAL, real);
    if (is_unary(name) && takes(s, ',')) return call(s, name, true);   /* the converter writes log1p,@0 */
    return failed(s, "an unknown word");
}

static term read_term(parser *s) {
    enum { MOST_DEPTH = 200 };
    if (++s->depth > MOST_DEPTH) return failed(s, "nested too deeply");
    const term t = read_plain(s);
    s->depth--;
    return t;
}

/* A list of integers; or of tensors that index together: one, or several side by side, [n, count]. */
static bool read_list(parser *s, char close) {
    enum { MOST = 64 };
    list_items items = make_items(s->at, MOST, 0);
    xir_value *tensors[MOST];
    size_t n = 0;
    if (!items.v) return false;
    for (items.n = 0; items.n < MOST && s->p < s->end && *s->p != close; items.n++) {
        const term t = read_term(s);
        list_item *item = &items.v[items.n];
        if (t.kind == TERM_FAILED) return false;
        if (t.kind == TERM_INT) *item = item_number((int64_t)t.number);
        else if (t.kind != TERM_VALUE) return failed(s, "a list of something else"), false;
        else if (v_rank(t.v) > 0) tensors[n++] = t.v;
        else *item = (list_item){ .v = EXPR_UNKNOWN, .origin = FROM_ITEM, .of = t.v, .axis = 0 };
        if (!takes(s, ',') && s->p < s->end && *s->p != close) return failed(s, "expected ,"), false;
    }
    if (!takes(s, close) || s->p != s->end) return failed(s, "expected the end of the list"), false;
    if (n && n != items.n) return failed(s, "a list of tensors and numbers"), false;
    for (size_t i = 0; i < n; i++)
        if (v_rank(tensors[i]) != 1 && (n > 1 || !v_is_bool(tensors[i])))
            return failed(s, "a list of tensors of several dims"), false;
    if (n == 1) return xir_node_result(s->at, 0, tensors[0]);
    if (n) return xir_node_becomes(s->at, "Stack", (xir_values){ tensors, n }, SETS(INT("dim", 1)));
    return xir_node_result(s->at, 0, make_list(s->at, &items));
}

/* The text of a list of texts, "[@0,@1]". */
static xir_str joined(xir_node *at, const xir_list *list) {
    size_t size = 2;
    for (size_t i = 0; i < list->size; i++)
        size += list->items[i].kind == XIR_ANY_TEXT ? list->items[i].as.text.size + 1 : 0;
    char *text = node_take(at, size), *p = text;
    if (!text) return node_no_memory(at), (xir_str){ NULL, 0 };
    *p++ = '[';
    for (size_t i = 0; i < list->size; i++) {
        if (list->items[i].kind != XIR_ANY_TEXT) continue;
        const xir_str item = list->items[i].as.text;
        if (p > text + 1) *p++ = ',';
        if (item.size) memcpy(p, item.data, item.size);
        p += item.size;
    }
    *p++ = ']';
    return (xir_str){ text, (size_t)(p - text) };
}

bool pnnx_expression(xir_node *at) {
    const xir_any *text = xir_node_attr(at, "expr");   /* the row requires it */
    xir_ints numbers;
    term t = { .kind = TERM_FAILED };
    const bool is_list = text->kind == XIR_ANY_LIST;
    const bool of_texts = is_list && text->as.list.size && text->as.list.items[0].kind == XIR_ANY_TEXT;
    if (is_list && !of_texts && xir_node_items(at, "expr", &numbers))
        return xir_node_result(at, 0, xir_node_integers(at, &numbers));
    if (of_texts || text->kind == XIR_ANY_TEXT) {
        const xir_str formula = of_texts ? joined(at, &text->as.list) : text->as.text;
        parser s = { .at = at, .p = formula.data, .end = formula.data + formula.size };
        if (!formula.size) return xir_node_unsupported(at, "an empty expression");
        if (takes(&s, '[')) return read_list(&s, ']');
        if (takes(&s, '(')) return read_list(&s, ')');
        t = read_term(&s);
        if (t.kind != TERM_FAILED && s.p != s.end) t = failed(&s, "expected the end");
    } else if (text->kind == XIR_ANY_INT || text->kind == XIR_ANY_BOOL) {
        t = of_number(text->kind == XIR_ANY_BOOL ? TERM_BOOL : TERM_INT, (double)xir_node_int(at, "expr", 0));
    } else if (text->kind == XIR_ANY_REAL) {
        t = of_number(TERM_REAL, text->as.real);
    } else {
        return xir_node_unsupported(at, "expected an operand that is a number, found None");
    }
    return t.kind != TERM_FAILED && xir_node_result(at, 0, as_value(at, t));
}
