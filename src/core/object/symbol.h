/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Integers that are not known yet: expressions over named symbols, for dims ("batch", "floor((length + 1)/2)") and for
 * small integer values.
 *
 * An expression is an int64_t: a number from -2^62 on is itself, EXPR_UNKNOWN is nothing known, everything else below
 * -2^62 is a handle. It stands for a canonical polynomial with integer coefficients over symbols and over the atoms
 * floor(p/c), max(p, q) and min(p, q). A handle is computed from the contents of its polynomial, whose text and terms
 * belong to a pool: so equal polynomials have equal handles, in one pool and across pools, and a pool never has two
 * polynomials for one handle. A polynomial that would grow past the bounds of symbol_table.h, or whose coefficients
 * would overflow, is unknown; that is never an error. Out of memory makes an expression unknown too, and the pool
 * remembers it: see expr_no_memory.
 *
 * A dim of a type is a number from 0 on, -1 if unknown, or a handle, so code that asks `dim < 0` needs to know no more.
 * Types with a handle live in the pool of a network. Symbols have intervals; whatever is simplified or proven here
 * holds for all their values. An interval never grows. */
#ifndef CORE_SYMBOL_H
#define CORE_SYMBOL_H

#include <xir/type.h>
#include "object.h"

typedef int64_t expr;

#define EXPR_UNKNOWN INT64_MIN
#define EXPR_LEAST   (-(INT64_C(1) << 62))   /* the least number */

static inline bool expr_is_number(expr e)   { return e >= EXPR_LEAST; }
static inline bool expr_is_symbolic(expr e) { return e < EXPR_LEAST && e != EXPR_UNKNOWN; }

/* Between dims of types and expressions. A number below 0 is not a dim: it becomes unknown. */
static inline expr    expr_of_dim(int64_t dim) { return dim < 0 && dim >= EXPR_LEAST ? EXPR_UNKNOWN : dim; }
static inline int64_t dim_of_expr(expr e) {
    return e == EXPR_UNKNOWN || (e < 0 && e >= EXPR_LEAST) ? XIR_UNKNOWN_DIM : e;
}
static inline bool dim_is_symbolic(int64_t dim) { return expr_is_symbolic(dim); }

/* Returns true if a list of dims has a handle. */
static inline bool dims_symbolic(xir_i64s dims) {
    for (size_t i = 0; i < dims.size; i++) {
        if (dims.data[i] < EXPR_LEAST) return true;
    }
    return false;
}
/* The pool of the symbols of an interned type; NULL if none of its dims is symbolic. */
object_pool *tensor_pool(const xir_tensor_type *type);

/* ---- symbols ----------------------------------------------------------------------------------------------- */

typedef struct symbol {
    xir_str name;          /* UTF-8 without control characters, 1 to SYMBOL_NAME_MOST bytes */
    int64_t least, most;   /* its values, from 0 on                                         */
} symbol;
enum { SYMBOL_NAME_MOST = 255 };
#define SYMBOL_MOST INT64_C(0x7fffffff)   /* the greatest value of a symbol without an interval of its own */

/* The symbols of a pool by number, in the order in which they were declared; NULL past the last one. */
const symbol *symbol_at(const object_pool *pool, size_t i);
/* The expression that is the symbol; EXPR_UNKNOWN if the pool has none of the name. */
expr symbol_find(const object_pool *pool, xir_str name);
/* The number of the symbol that the expression is; SIZE_MAX if it is another one. */
size_t symbol_of(const object_pool *pool, expr e);
/* Adds a symbol, or narrows the interval of the one that has the name; `*out` is the expression. XIR_E_SYNTAX if the
 * name is invalid, XIR_E_BOUNDS if the interval is empty or not within [0, 2^62), XIR_E_EXISTS if it has no value in
 * common with the one that the symbol has, XIR_E_LIMIT if there are too many symbols, XIR_E_MEMORY; `why` says it. */
xir_status symbol_declare(object_pool *pool, xir_str name, int64_t least, int64_t most, expr *out, xir_diags *why);

/* Returns true if memory ran out while an expression was made or a list was looked for, since the last question. */
bool expr_no_memory(object_pool *pool);
/* Returns true if the pool has a polynomial for a handle. */
bool expr_is_of(const object_pool *pool, expr e);

/* ---- arithmetic -------------------------------------------------------------------------------------------- */

/* Unknown operands give an unknown result (but 0 times anything is 0). Numbers alone need no table, and overflow is
 * unknown. The pool is that of the network. */
expr expr_add(object_pool *pool, expr a, expr b);
expr expr_sub(object_pool *pool, expr a, expr b);
expr expr_mul(object_pool *pool, expr a, expr b);
expr expr_max(object_pool *pool, expr a, expr b);
expr expr_min(object_pool *pool, expr a, expr b);
/* Rounded down, and up. The divisor is a number above 0, or divides exactly. */
expr expr_floor_div(object_pool *pool, expr a, expr b);
expr expr_ceil_div(object_pool *pool, expr a, expr b);
/* The q with q * b = a for all values of the symbols; EXPR_UNKNOWN if it is not provable. Where b is 0, q may be any
 * value that is right elsewhere. */
expr expr_exact_div(object_pool *pool, expr a, expr b);

/* ---- proofs ------------------------------------------------------------------------------------------------ */

/* The least and the greatest value that an expression may have; INT64_MIN and INT64_MAX where nothing is known. */
void expr_range(const object_pool *pool, expr e, int64_t *least, int64_t *most);
/* Each is true only if it holds for all values of the symbols; false says nothing. Equal expressions are `a == b`. */
bool expr_at_least(object_pool *pool, expr a, expr b);      /* a >= b                       */
bool expr_never_equal(object_pool *pool, expr a, expr b);

/* An expression that is equal to `e` wherever more >= less: maxima and minima that this decides are replaced. */
expr expr_given(object_pool *pool, expr e, expr more, expr less);

/* ---- values for symbols ------------------------------------------------------------------------------------ */

/* Returns the expression for a symbol of `from` in the pool of the result. */
typedef expr expr_choice(void *user, const object_pool *from, size_t symbol);
/* The expression with another expression for each symbol, simplified again. */
expr expr_remake(object_pool *to, const object_pool *from, expr e, expr_choice *choose, void *user);
/* The same expression in another pool. A symbol that `to` has with an interval that is not within the one of `from`
 * makes it unknown; one that it does not have is declared there. */
expr expr_translate(object_pool *to, const object_pool *from, expr e);
/* The value for given values of the symbols, by number (`n` of them); false if a value is missing or it overflows. */
bool expr_evaluate(const object_pool *pool, expr e, const int64_t *values, size_t n, int64_t *out);
/* Visits the numbers of all symbols that occur, some more than once; false stops. */
bool expr_walk(const object_pool *pool, expr e, bool (*visit)(void *user, size_t symbol), void *user);

/* ---- texts ------------------------------------------------------------------------------------------------- */

/* "4*batch + 1", "floor((length + 1)/2)"; "?" if unknown. A name that is not a word is quoted: 'batch size'. */
void expr_print(const object_pool *pool, expr e, buffer *out);
/* The text of a dim, cut to the room, which is terminated if `size` is not 0; returns the length of the whole text. A
 * pool is needed for symbolic ones only. Without memory they are "?". */
size_t dim_text(const object_pool *pool, int64_t dim, char *out, size_t size);
/* The same by value, for sentences. */
typedef struct dim_word { char text[80]; } dim_word;
static inline dim_word word_of_dim(const object_pool *pool, int64_t dim) {
    dim_word word;
    dim_text(pool, dim, word.text, sizeof word.text);
    return word;
}
/* Reads such a text, and a//b, ceil(a/b), spaces and redundant parentheses too. Symbols that the pool does not have are
 * declared. False with the error set for anything else; a text that is right but past the bounds of polynomials is
 * EXPR_UNKNOWN. */
bool expr_parse(object_pool *pool, xir_str text, expr *out, form_error *why);
/* The same, but declares nothing: XIR_E_UNKNOWN for a symbol that the pool does not have. */
bool expr_parse_known(object_pool *pool, xir_str text, expr *out, form_error *why);
/* Returns true if the text may be the name of a symbol. */
bool symbol_name_ok(xir_str name);

#endif
