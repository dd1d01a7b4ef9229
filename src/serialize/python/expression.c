/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* pnnx.Expression: a formula such as add(mul(@0,2.5),size(@1,0)), as Python's operators and PyTorch's functions. What a
 * term is decides how: an operation of two numbers is Python's, any other one PyTorch's. The formula is parsed into a
 * tree; where that is high, its lower parts become statements before it, since Python's parser bounds nesting. */
#include <stdio.h>
#include "number.h"
#include "python/python.h"

typedef struct term term;
struct term {
    enum { INPUT, LITERAL, UNARY, BINARY, SIZE, NAMED } of;
    python_kind kind;
    uint8_t     height;       /* of what is printed into one line                             */
    uint32_t    which;        /* INPUT, SIZE: the input; UNARY, BINARY: the row of the function */
    bool        whole;        /* SIZE: all dims                                               */
    int64_t     dim;          /* SIZE                                                         */
    xir_str     text;         /* LITERAL: Python's; NAMED: an identifier                      */
    term       *a, *b;
};

enum { MOST_DEPTH = 200, MOST_HEIGHT = 40 };

typedef struct parser {
    python_op  *c;
    const char *p, *end;
    int         depth;
} parser;

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Functions of one operand, of a number and of a tensor; "%" is the operand. NULL: a number becomes a tensor first. */
static const struct { const char *name, *number, *tensor; bool uses_math; } unaries[] = {
    { "abs",   "abs(%)",        "torch.abs(%)",   false }, { "neg",   "-%",          "-%",             false },
    { "floor", "math.floor(%)", "torch.floor(%)", true  }, { "ceil",  "math.ceil(%)", "torch.ceil(%)", true  },
    { "round", "round(%)",      "torch.round(%)", false }, { "trunc", "math.trunc(%)", "torch.trunc(%)", true },
    { "int",   "int(%)",        "%.to(torch.int64)", false },
    { "torch.long", "int(%)",   "%.to(torch.int64)", false }, { "torch.bool", "bool(%)", "%.to(torch.bool)", false },
    { "torch.float", "float(%)", "%.to(torch.float32)", false },
    { "acos",  NULL, "torch.acos(%)",  false }, { "acosh", NULL, "torch.acosh(%)", false },
    { "asin",  NULL, "torch.asin(%)",  false }, { "asinh", NULL, "torch.asinh(%)", false },
    { "atan",  NULL, "torch.atan(%)",  false }, { "atanh", NULL, "torch.atanh(%)", false },
    { "cos",   NULL, "torch.cos(%)",   false }, { "cosh",  NULL, "torch.cosh(%)",  false },
    { "sin",   NULL, "torch.sin(%)",   false }, { "sinh",  NULL, "torch.sinh(%)",  false },
    { "tan",   NULL, "torch.tan(%)",   false }, { "tanh",  NULL, "torch.tanh(%)",  false },
    { "erf",   NULL, "torch.erf(%)",   false }, { "exp",   NULL, "torch.exp(%)",   false },
    { "expm1", NULL, "torch.expm1(%)", false }, { "log",   NULL, "torch.log(%)",   false },
    { "log10", NULL, "torch.log10(%)", false }, { "log1p", NULL, "torch.log1p(%)", false },
    { "sqrt",  NULL, "torch.sqrt(%)",  false }, { "rsqrt", NULL, "torch.rsqrt(%)", false },
    { "sign",  NULL, "torch.sign(%)",  false }, { "square", NULL, "torch.square(%)", false },
    { "reciprocal", NULL, "torch.reciprocal(%)", false },
};

/* Functions of two operands. An operator is the same for numbers and tensors. */
static const struct { const char *name, *operator, *number, *tensor; } binaries[] = {
    { "add", " + ",           NULL, NULL }, { "sub",       " - ", NULL, NULL }, { "mul", " * ",    NULL, NULL },
    { "div", " / ",           NULL, NULL }, { "floor_divide", " // ", NULL, NULL }, { "pow", " ** ", NULL, NULL },
    { "remainder", " % ",     NULL, NULL }, { "and",       " & ", NULL, NULL }, { "or",  " | ",    NULL, NULL },
    { "xor", " ^ ",           NULL, NULL }, { "lshift",    " << ", NULL, NULL }, { "rshift", " >> ", NULL, NULL },
    { "max",       NULL, "max", "torch.maximum" }, { "min",       NULL, "min", "torch.minimum" },
    { "maximum",   NULL, "max", "torch.maximum" }, { "minimum",   NULL, "min", "torch.minimum" },
    { "fmod",      NULL, NULL,  "torch.fmod" },    { "atan2",     NULL, NULL,  "torch.atan2" },
    { "logaddexp", NULL, NULL,  "torch.logaddexp" },
};

enum { UNARIES = sizeof unaries / sizeof *unaries, BINARIES = sizeof binaries / sizeof *binaries };

static uint32_t unary_of(xir_str name) {
    uint32_t i = 0;
    while (i < UNARIES && !xir_str_equal(name, xir_str_of(unaries[i].name))) i++;
    return i;
}

static uint32_t binary_of(xir_str name) {
    uint32_t i = 0;
    while (i < BINARIES && !xir_str_equal(name, xir_str_of(binaries[i].name))) i++;
    return i;
}

/* ---- printing ---------------------------------------------------------------------------------------------------- */

static void put_term(python_op *c, const term *t, bool inside);

/* A term where a tensor is expected. */
static void put_tensor(python_op *c, const term *t) {
    const bool wraps = t->kind != PYTHON_TENSOR;
    c->w->uses_tensors |= wraps;
    if (wraps) buffer_str(&c->w->forward, "as_tensor(");
    put_term(c, t, false);
    if (wraps) buffer_char(&c->w->forward, ')');
}

static void put_unary(python_op *c, const term *t, bool inside) {
    buffer *out = &c->w->forward;
    const bool of_number = unaries[t->which].number && t->a->kind == PYTHON_NUMBER;
    const char *form = of_number ? unaries[t->which].number : unaries[t->which].tensor, *hole = strchr(form, '%');
    const bool sign = *form == '-', bracketed = hole[1] == ')', wrap = inside && sign;
    c->w->uses_math |= of_number && unaries[t->which].uses_math;
    if (wrap) buffer_char(out, '(');
    buffer_put(out, form, (size_t)(hole - form));
    if (of_number || t->a->kind == PYTHON_TENSOR) put_term(c, t->a, !bracketed);
    else put_tensor(c, t->a);
    buffer_str(out, hole + 1);
    if (wrap) buffer_char(out, ')');
}

static void put_binary(python_op *c, const term *t, bool inside) {
    buffer *out = &c->w->forward;
    const char *operator = binaries[t->which].operator;
    const bool numbers = t->kind == PYTHON_NUMBER;
    if (operator) {
        if (inside) buffer_char(out, '(');
        put_term(c, t->a, true);
        buffer_str(out, operator);
        put_term(c, t->b, true);
        if (inside) buffer_char(out, ')');
        return;
    }
    buffer_str(out, numbers ? binaries[t->which].number : binaries[t->which].tensor);
    buffer_char(out, '(');
    if (numbers) put_term(c, t->a, false);
    else put_tensor(c, t->a);
    buffer_str(out, ", ");
    if (numbers) put_term(c, t->b, false);
    else put_tensor(c, t->b);
    buffer_char(out, ')');
}

static void put_size(python_op *c, const term *t) {
    char text[40];
    if (t->whole) buffer_str(&c->w->forward, "list(");
    python_put_input(c, t->which, true);
    snprintf(text, sizeof text, ".size(%" PRId64 ")", t->dim);
    buffer_str(&c->w->forward, t->whole ? ".size())" : text);
}

/* `inside` an operator or before a dot: what is not one operand gets parentheses. */
static void put_term(python_op *c, const term *t, bool inside) {
    buffer *out = &c->w->forward;
    const bool negative = t->of == LITERAL && *t->text.data == '-' && inside;
    switch (t->of) {
    case INPUT: python_put_input(c, t->which, false); break;
    case LITERAL:
    case NAMED:
        if (negative) buffer_char(out, '(');
        buffer_put(out, t->text.data, t->text.size);
        if (negative) buffer_char(out, ')');
        break;
    case UNARY:  put_unary(c, t, inside); break;
    case BINARY: put_binary(c, t, inside); break;
    case SIZE:   put_size(c, t); break;
    }
}

/* A term that is too high becomes a statement of its own, and a name. */
static bool lower(python_op *c, term *t) {
    if (t->height < MOST_HEIGHT) return true;
    const xir_str name = python_identifier(c->w, 't', (xir_str){ NULL, 0 });
    if (!name.size) return python_no_memory(c->w);
    buffer_str(&c->w->forward, "        ");
    buffer_put(&c->w->forward, name.data, name.size);
    buffer_str(&c->w->forward, " = ");
    put_term(c, t, false);
    buffer_char(&c->w->forward, '\n');
    *t = (term){ .of = NAMED, .kind = t->kind, .text = name };
    return true;
}

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

static term *read_term(parser *s);

static term *failed(const parser *s, const char *why) {
    const size_t left = (size_t)(s->end - s->p);
    python_refuse(s->c, XIR_E_SYNTAX, "the expression: %s at '%.*s'", why, CLIP_TO(((xir_str){ s->p, left }), 40));
    return NULL;
}

static bool takes(parser *s, char c) {
    if (s->p >= s->end || *s->p != c) return false;
    s->p++;
    return true;
}

static term *new_term(parser *s, term t) {
    term *made = arena_copy(&s->c->w->scratch, &t, sizeof t);
    if (!made) python_no_memory(s->c->w);
    return made;
}

static term *literal(parser *s, const char *text, size_t size) {
    return new_term(s, (term){ .of = LITERAL, .kind = PYTHON_NUMBER, .text = { text, size } });
}

static term *operation(parser *s, uint32_t which, bool binary, term *a, term *b) {
    if (a->kind == PYTHON_OTHER || a->kind == PYTHON_LIST || (b && (b->kind == PYTHON_OTHER || b->kind == PYTHON_LIST)))
        return failed(s, "an operand that is a list or a tuple");
    const bool numbers = a->kind == PYTHON_NUMBER && (!b || b->kind == PYTHON_NUMBER) &&
                         (binary ? binaries[which].operator || binaries[which].number : unaries[which].number != NULL);
    const uint8_t height = b && b->height > a->height ? b->height : a->height;
    term *t = new_term(s, (term){ .of = binary ? BINARY : UNARY, .which = which, .a = a, .b = b,
                                  .kind = numbers ? PYTHON_NUMBER : PYTHON_TENSOR, .height = (uint8_t)(height + 1) });
    return t && lower(s->c, t) ? t : NULL;
}

static term *size_of(parser *s, term *x, const term *dim) {
    int32_t v = 0;
    if (x->of != INPUT || x->kind != PYTHON_TENSOR) return failed(s, "a size of what is not an input");
    const bool whole = !dim, known = whole || (dim->of == LITERAL && pnnx_scalar_kind(dim->text) == XIR_PNNX_INT &&
                                               pnnx_take_int(dim->text, &v) == dim->text.size);
    if (!known) return failed(s, "a size of a dim that is not a number");
    return new_term(s, (term){ .of = SIZE, .kind = whole ? PYTHON_LIST : PYTHON_NUMBER, .which = x->which,
                               .whole = whole, .dim = v });
}

static term *call(parser *s, xir_str name, bool bare) {
    term *args[3] = { NULL, NULL, NULL };
    size_t n = 0;
    do {
        if (n == 3) return failed(s, "too many operands");
        if (!(args[n++] = read_term(s))) return NULL;
    } while (!bare && takes(s, ','));
    if (!bare && !takes(s, ')')) return failed(s, "expected )");
    if (xir_str_equal(name, XIR_STR("size")) && n < 3) return size_of(s, args[0], args[1]);
    const bool rsub = xir_str_equal(name, XIR_STR("rsub"));
    const uint32_t product = binary_of(XIR_STR("mul")), unary = unary_of(name);
    const uint32_t binary = binary_of(rsub ? XIR_STR("sub") : name);
    if (n == 3 && (rsub || xir_str_equal(name, XIR_STR("add")) || xir_str_equal(name, XIR_STR("sub")))) {
        term **scaled = rsub ? &args[0] : &args[1];   /* alpha */
        if (!(*scaled = operation(s, product, true, *scaled, args[2]))) return NULL;
        n = 2;
    }
    if (binary < BINARIES && n == 2) return operation(s, binary, true, args[rsub ? 1 : 0], args[rsub ? 0 : 1]);
    if (unary < UNARIES && n == 1) return operation(s, unary, false, args[0], NULL);
    python_refuse(s->c, XIR_E_UNSUPPORTED, "the expression: '%.*s' with %zu operand%s", CLIP(name), n,
                  n == 1 ? "" : "s");
    return NULL;
}

static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '.';
}

static term *real_word(parser *s, xir_str word) {
    static const struct { const char *word, *literal; } words[] = {
        { "True", "True" }, { "False", "False" }, { "inf", "float('inf')" }, { "-inf", "float('-inf')" },
        { "nan", "float('nan')" }, { "nan.0", "float('nan')" }, { "-nan.0", "float('nan')" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (xir_str_equal(word, xir_str_of(words[i].word)))
            return literal(s, words[i].literal, strlen(words[i].literal));
    return NULL;
}

/* A number ends where an operand does. */
static bool ends(const parser *s, const char *p) { return p == s->end || *p == ',' || *p == ')' || *p == ']'; }

/* The imaginary part of a complex number, "+4.0e+00j" or "+-4.0e+00j"; 0: there is none. */
static size_t imaginary_at(const parser *s, const char *p, xir_str *out) {
    number v;
    const char *first = p;
    if (p >= s->end || (*p != '+' && *p != '-')) return 0;
    if (*p == '+') p++;
    *out = (xir_str){ p, number_parse(p, (size_t)(s->end - p), &v) };
    p += out->size;
    return out->size && p < s->end && *p == 'j' && ends(s, p + 1) ? (size_t)(p + 1 - first) : 0;
}

static term *complex_number(parser *s, xir_str real, xir_str imaginary) {
    const size_t room = real.size + imaginary.size + sizeof "complex(, )";
    char *text = arena_take(&s->c->w->scratch, room);
    if (!text) return python_no_memory(s->c->w), NULL;
    const int n = snprintf(text, room, "complex(%.*s, %.*s)", (int)real.size, real.data, (int)imaginary.size,
                           imaginary.data);
    return literal(s, text, (size_t)n);
}

static term *read_number(parser *s) {
    number v;
    xir_str imaginary;
    const char *first = s->p, *p = first + 1;
    const size_t size = number_parse(first, (size_t)(s->end - first), &v);
    const size_t more = size ? imaginary_at(s, first + size, &imaginary) : 0;
    if (more) {
        s->p += size + more;
        return complex_number(s, (xir_str){ first, size }, imaginary);
    }
    if (size && ends(s, first + size)) {
        s->p += size;
        return literal(s, first, size);
    }
    while (p < s->end && is_name(*p)) p++;
    term *t = *first == '-' && ends(s, p) ? real_word(s, (xir_str){ first, (size_t)(p - first) }) : NULL;
    if (!t) return s->c->w->status ? NULL : failed(s, "not a number");
    s->p = p;
    return t;
}

static term *read_input(parser *s) {
    size_t i = 0;
    const char *first = s->p;
    while (s->p < s->end && is_digit(*s->p) && i < 1 << 20) i = 10 * i + (size_t)(*s->p++ - '0');
    if (s->p == first) return failed(s, "expected the number of an input");
    if (i >= s->c->op->n_inputs) return failed(s, "an input that the operator does not have");
    const python_value *v = python_value_of(s->c->w, op_inputs(s->c->op)[i].value);
    return new_term(s, (term){ .of = INPUT, .kind = v->kind, .which = (uint32_t)i });
}

static term *read_plain(parser *s) {
    const char c = s->p < s->end ? *s->p : '\0';
    if (takes(s, '@')) return read_input(s);
    if (is_digit(c) || c == '-') return read_number(s);
    xir_str name = { s->p, 0 };
    while (s->p < s->end && is_name(*s->p)) s->p++, name.size++;
    if (!name.size) return failed(s, "expected an operand");
    if (takes(s, '(')) return call(s, name, false);
    term *word = real_word(s, name);
    if (word || s->c->w->status) return word;
    if (unary_of(name) < UNARIES && takes(s, ',')) return call(s, name, true);   /* the converter writes log1p,@0 */
    return failed(s, "an unknown word");
}

static term *read_term(parser *s) {
    if (++s->depth > MOST_DEPTH) return failed(s, "nested too deeply");
    term *t = read_plain(s);
    s->depth--;
    return t;
}

/* ---- the operator ------------------------------------------------------------------------------------------------ */

typedef struct items { const term **v; size_t n, room; } items;

static bool add_item(python_op *c, items *all, const term *t) {
    const bool ok = t && mem_reserve(&c->w->net->ctx->alloc, (void **)&all->v, &all->room, all->n + 1, sizeof *all->v);
    if (ok) all->v[all->n++] = t;
    return ok || (t && python_no_memory(c->w));
}

/* The terms of a text: one, or those of a list in brackets. */
static bool read_terms(python_op *c, xir_str text, items *all, bool *is_list) {
    parser s = { .c = c, .p = text.data, .end = text.data + text.size };
    if (!text.size) return failed(&s, "it is empty"), false;
    const char close = *s.p == '[' ? ']' : *s.p == '(' ? ')' : '\0';
    if (close) {
        *is_list = true;
        s.p++;
    }
    bool more = !close || !takes(&s, close);
    while (more) {
        if (!add_item(c, all, read_term(&s))) return false;
        more = close && takes(&s, ',');
        if (close && !more && !takes(&s, close)) return failed(&s, "expected , or the end of the list"), false;
    }
    return s.p == s.end || (failed(&s, "expected the end"), false);
}

static bool put_terms(python_op *c, const items *all, bool is_list) {
    buffer *out = &c->w->forward;
    if (!python_put_targets(c, PYTHON_ONE, is_list ? PYTHON_LIST : all->v[0]->kind)) return false;
    if (is_list) buffer_char(out, '[');
    for (size_t i = 0; i < all->n; i++) {
        if (i) buffer_str(out, ", ");
        put_term(c, all->v[i], false);
    }
    buffer_str(out, is_list ? "]\n" : "\n");
    c->used = UINT64_MAX;
    return true;
}

/* A parameter that is a number, a text, or a list of numbers or texts. */
static bool read_param(python_op *c, const xir_any *v, items *all, bool *is_list) {
    char digits[PNNX_FLOAT_ROOM];
    if (v->kind == XIR_ANY_TEXT) return read_terms(c, v->as.text, all, is_list);
    parser s = { .c = c };
    size_t n = 0;
    switch (v->kind) {
    case XIR_ANY_LIST:
        for (size_t i = 0; i < v->as.list.size; i++) {
            bool inner = false;
            if (v->as.list.items[i].kind == XIR_ANY_LIST || !read_param(c, &v->as.list.items[i], all, &inner) || inner)
                return python_refuse(c, XIR_E_SYNTAX, "the expression is a list of lists");
        }
        *is_list = true;
        return true;
    case XIR_ANY_BOOL: return add_item(c, all, real_word(&s, v->as.boolean ? XIR_STR("True") : XIR_STR("False")));
    case XIR_ANY_INT:  n = number_put_i64(digits, v->as.integer); break;
    case XIR_ANY_REAL: n = pnnx_put_float(digits, (float)number_to_f32(v->as.real)); break;
    default: return python_refuse(c, XIR_E_UNSUPPORTED, "the expression is not a number or a formula");
    }
    s.p = digits;
    s.end = digits + n;
    const term *t = *digits == '-' || is_digit(*digits) ? read_number(&s) : real_word(&s, (xir_str){
                                                                                  digits, n });
    if (!t) return python_refuse(c, XIR_E_SYNTAX, "the expression is not a number");
    char *kept = arena_copy(&c->w->scratch, t->text.data, t->text.size);
    if (!kept) return python_no_memory(c->w);
    term copy = *t;
    copy.text.data = kept;
    return add_item(c, all, new_term(&s, copy));
}

/* An Expression, or a list of bounds of slices. */
bool python_expression(python_op *c) {
    const bool bounds = xir_str_equal(c->type, XIR_STR("pnnx.SliceIndexes"));
    const xir_any *v = python_param(c, bounds ? "indexes" : "expr");
    items all = { NULL, 0, 0 };
    bool is_list = false;
    if (!v) return python_refuse(c, XIR_E_UNSUPPORTED, "expected an operand, found None");
    bool ok = read_param(c, v, &all, &is_list);
    if (ok && bounds && !is_list) ok = python_refuse(c, XIR_E_SYNTAX, "its indexes are not a list");
    if (ok) ok = put_terms(c, &all, is_list);
    mem_free(&c->w->net->ctx->alloc, (void *)all.v, all.room * sizeof *all.v);
    return ok;
}
