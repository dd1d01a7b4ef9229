/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reads the texts of formulas, and makes their ops on the way: see text.h. After a failure nothing is made any more,
 * and the text is read to its end. */
#include <math.h>
#include "formula/text.h"
#include "number.h"

/* A value, or a number that is not a value yet. */
typedef struct term { xir_value *v; double n; bool is_number; } term;

typedef struct reading {
    xir_node     *at;
    const char   *text, *p;
    xir_values    in;
    const double *numbers;
    term          named[26];   /* by letter */
} reading;

static term of_value(xir_value *v) { return (term){ .v = v }; }
static term of_number(double n) { return (term){ .n = n, .is_number = true }; }

static term wrong(reading *r) {
    (void)xir_node_unsupported(r->at, "the conversion is invalid: a formula '%s'", r->text);
    r->p = "";
    return of_value(NULL);
}

/* A term as a value: a number has the elements of the other one, or of x. */
static xir_value *value_of(const reading *r, term t, term other) {
    const xir_value *like = other.is_number ? r->in.data[0] : other.v;
    return t.is_number ? xir_node_scalar(r->at, v_element(like), t.n) : t.v;
}

/* ---- words ------------------------------------------------------------------------------------------------------ */

static void skip(reading *r) { while (*r->p == ' ') r->p++; }

static bool takes(reading *r, const char *word) {
    const size_t n = strlen(word);
    skip(r);
    if (strncmp(r->p, word, n) != 0) return false;
    r->p += n;
    return true;
}

static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_part(char c) { return is_lower(c) || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_'; }

enum { MOST_WORD = 32 };
static bool take_word(reading *r, char out[MOST_WORD]) {
    size_t n = 0;
    skip(r);
    while (n + 1 < MOST_WORD && is_part(*r->p)) out[n++] = *r->p++;
    out[n] = '\0';
    return n && !is_digit(*out);
}

static double take_number(reading *r) {
    number v;
    const size_t n = number_parse(r->p, strlen(r->p), &v);
    if (!n) return wrong(r).n;
    r->p += n;
    return v.kind == NUMBER_I64 ? (double)v.i64 : v.kind == NUMBER_U64 ? (double)v.u64 : v.real;
}

/* Takes "name =" if that is next, but not "name ==". */
static bool take_name(reading *r, char out[MOST_WORD]) {
    const char *before = r->p;
    if (take_word(r, out) && is_lower(*out) && takes(r, "=") && *r->p != '=') return true;
    r->p = before;
    return false;
}

/* ---- operands --------------------------------------------------------------------------------------------------- */

static term read_choice(reading *r);

/* Reads on after "Class(": its inputs, and then its attributes. */
static term read_call(reading *r, const char *cls) {
    enum { MOST_INPUTS = 3, MOST_SETS = 3 };
    term args[MOST_INPUTS];
    xir_value *in[MOST_INPUTS];
    char names[MOST_SETS][MOST_WORD];
    xir_set sets[MOST_SETS];
    size_t n = 0, n_sets = 0;
    do {
        if (n == MOST_INPUTS || n_sets == MOST_SETS) return wrong(r);
        char *name = names[n_sets];
        if (!take_name(r, name)) {
            args[n++] = read_choice(r);
        } else if (takes(r, "'")) {
            const size_t size = strcspn(r->p, "'");
            sets[n_sets++] = (xir_set)WORD(name, ((xir_str){ r->p, size }));
            r->p += size + (r->p[size] == '\'');
        } else {
            sets[n_sets++] = (xir_set)REAL(name, read_choice(r).n);
        }
    } while (takes(r, ","));
    if (!n || !takes(r, ")")) return wrong(r);
    if (strcmp(cls, "Row") == 0) cls = r->at->cls->row->cls;
    for (size_t i = 0; i < n; i++) in[i] = value_of(r, args[i], args[args[0].is_number && n > 1]);
    if (strcmp(cls, "like") == 0) return of_value(xir_node_cast(r->at, in[0], v_element(r->in.data[0])));
    return of_value(xir_node_make(r->at, cls, (xir_values){ in, n }, (xir_sets){ sets, n_sets }));
}

static term read_letter(const reading *r, char letter) {
    if (letter >= 'w') {
        const size_t i = letter == 'w' ? 3 : (size_t)(letter - 'x');
        return of_value(i < r->in.size ? r->in.data[i] : NULL);
    }
    return letter <= 'd' && r->numbers ? of_number(r->numbers[letter - 'a']) : r->named[letter - 'a'];
}

static term read_operand(reading *r) {
    char word[MOST_WORD];
    if (takes(r, "(")) {
        const term t = read_choice(r);
        return takes(r, ")") ? t : wrong(r);
    }
    if (takes(r, "-")) {
        const term t = read_operand(r);
        return t.is_number ? of_number(-t.n) : of_value(xir_node_unary(r->at, "Neg", t.v));
    }
    skip(r);
    if (is_digit(*r->p)) return of_number(take_number(r));
    if (!take_word(r, word)) return wrong(r);
    if (takes(r, "(")) return read_call(r, word);
    if (!word[1] && is_lower(*word)) return read_letter(r, *word);
    if (strcmp(word, "inf") == 0) return of_number(INFINITY);
    double otherwise = 0;
    if (*r->p == ':') r->p++, otherwise = take_number(r);
    return of_number(xir_node_real(r->at, word, otherwise));
}

/* ---- operations ------------------------------------------------------------------------------------------------- */

static term product(const reading *r, term a, term b) {
    if (a.is_number && b.is_number) return of_number(a.n * b.n);
    if (a.is_number || b.is_number)
        return of_value(xir_node_scaled(r->at, a.is_number ? b.v : a.v, a.is_number ? a.n : b.n));
    return of_value(xir_node_product(r->at, a.v, b.v));
}

static term quotient(const reading *r, term a, term b) {
    if (a.is_number && b.is_number) return of_number(a.n / b.n);
    if (b.is_number)
        return of_value(xir_node_make(r->at, "DivideScalar", INS(a.v), SETS(REAL("divisor", b.n))));
    return of_value(xir_node_quotient(r->at, value_of(r, a, b), b.v));
}

/* A number that is taken away is one less than 0 that is added. */
static term sum(const reading *r, term a, term b, double sign) {
    if (a.is_number && b.is_number) return of_number(a.n + sign * b.n);
    if (b.is_number) b.n *= sign, sign = 1;
    return of_value(xir_node_sum(r->at, value_of(r, a, b), value_of(r, b, a), 1, sign));
}

static term read_product(reading *r) {
    term t = read_operand(r);
    for (;;) {
        if (takes(r, "*")) t = product(r, t, read_operand(r));
        else if (takes(r, "/")) t = quotient(r, t, read_operand(r));
        else return t;
    }
}

static term read_sum(reading *r) {
    term t = read_product(r);
    for (;;) {
        if (takes(r, "+")) t = sum(r, t, read_product(r), 1);
        else if (takes(r, "-")) t = sum(r, t, read_product(r), -1);
        else return t;
    }
}

static term read_comparison(reading *r) {
    static const char *const signs[] = { "<=", "<", ">=", ">", "==", "!=" };
    static const char *const classes[] = { "LessEqual", "Less", "GreaterEqual", "Greater", "Equal", "NotEqual" };
    const term t = read_sum(r);
    size_t i = 0;
    while (i < COUNT(signs) && !takes(r, signs[i])) i++;
    if (i == COUNT(signs)) return t;
    const term other = read_sum(r);
    xir_value *first = value_of(r, t, other);
    return of_value(xir_node_make(r->at, classes[i], INS(first, value_of(r, other, t)), NO_SETS));
}

static term read_choice(reading *r) {
    const term t = read_comparison(r);
    if (!takes(r, "?")) return t;
    const term yes = read_choice(r);
    if (!takes(r, ":")) return wrong(r);
    const term no = read_choice(r);
    xir_value *first = value_of(r, yes, no);
    return of_value(xir_node_make(r->at, "Where", INS(first, value_of(r, no, yes), t.v), NO_SETS));
}

xir_value *make_formula(xir_node *at, const char *text, xir_values in, const double *numbers) {
    char name[MOST_WORD];
    reading r = { .at = at, .text = text, .p = text, .in = in, .numbers = numbers };
    if (xir_node_failed(at) || !in.size) return NULL;
    while (take_name(&r, name)) {
        const term t = read_choice(&r);
        if (name[1] || !takes(&r, ";")) return wrong(&r).v;
        r.named[*name - 'a'] = t;
    }
    const term t = read_choice(&r);
    if (*r.p) return wrong(&r).v;
    return value_of(&r, t, t);
}

bool formula_gives(xir_node *at, const char *text, const double *numbers) {
    return xir_node_result(at, 0, make_formula(at, text, node_inputs(at), numbers));
}
