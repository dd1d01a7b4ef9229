/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The polynomials and atoms of a pool, between the files symbol_*.c.
 *
 * A polynomial is a sum of terms, a term a number times a product of atoms. An atom is a symbol, floor(p/c) with c > 1,
 * max(p, q) or min(p, q). Terms are in one order, the constant is last, none has the factor 0; the atoms of a term are
 * in one order too. The orders depend on names and numbers alone, so equal polynomials have equal terms in every
 * pool. */
#ifndef CORE_SYMBOL_TABLE_H
#define CORE_SYMBOL_TABLE_H

#include "context.h"
#include "symbol.h"

/* The greatest values of the limits of a context (xir_limits). Past the limits a polynomial is unknown; they bound the
 * cost of every operation, whatever a file says. `weight` counts the terms and atoms of the text, `depth` the atoms
 * inside each other. */
enum { POLY_TERMS = 16, POLY_DEGREE = 8, POLY_WEIGHT_MOST = 4096, POLY_DEPTH_MOST = 32 };
#define POLY_FACTOR (INT64_C(1) << 62)   /* factors are below it, in magnitude */

typedef struct poly_term {
    int64_t  factor;
    uint32_t n;                    /* of atoms; a power is an atom several times */
    uint32_t atoms[POLY_DEGREE];
} poly_term;

typedef struct poly {
    bool      unknown;
    uint32_t  n;
    poly_term terms[POLY_TERMS];
} poly;

typedef enum atom_kind { ATOM_SYMBOL, ATOM_FLOOR, ATOM_MAX, ATOM_MIN } atom_kind;

typedef struct atom {
    atom_kind kind;
    uint32_t  weight, depth;
    uint32_t  number;      /* of a symbol                            */
    uint64_t  hash;
    symbol    range;       /* its name if it is a symbol; its values, see atom_range */
    uint64_t  as_of;       /* how many intervals had been narrowed when these were found */
    int64_t   divisor;     /* of a floor                             */
    expr      a, b;        /* the parts; a floor has only the first  */
} atom;

typedef struct poly_record {
    expr      handle;
    uint32_t  n;
    poly_term terms[];
} poly_record;

typedef struct symbol_table {
    object_pool        *pool;
    atom               *atoms;      /* a part comes before the atom that it is in */
    size_t              n_atoms, atom_room;
    uint32_t           *symbols;    /* their atoms, by number                     */
    size_t              n_symbols, symbol_room;
    uint64_t            narrowed;   /* how many times an interval was             */
    uint32_t           *by_hash;    /* 1 + an atom, open addressing               */
    size_t              hash_room;
    const poly_record **records;    /* by handle, open addressing                 */
    size_t              n_records, record_room;
    _Atomic bool        no_memory;
} symbol_table;

/* The pool's table, made on first use; NULL without memory. */
symbol_table *symbol_table_of(object_pool *pool);
void symbols_free(object_pool *pool);

/* ---- types (symbol_dims.c, intern.c) --------------------------------------------------------------------------- */

/* Notes the pool in the copy of a tensor type, whose dims are in its arena; false without memory. */
bool tensor_set_pool(object_pool *pool, xir_tensor_type *copy);
/* pool_intern_held for a tensor type with symbolic dims that may be of another pool. */
const xir_object *tensor_intern_moved(object_pool *pool, const xir_tensor_type *type);
/* pool_intern_held for an object whose handles are of this pool. */
const xir_object *pool_intern_settled(object_pool *pool, const xir_object *object);

/* ---- polynomials ------------------------------------------------------------------------------------------- */

static inline void poly_number(poly *out, int64_t v) {
    out->unknown = v <= -POLY_FACTOR || v >= POLY_FACTOR;
    out->n = v != 0;
    out->terms[0].factor = v;
    out->terms[0].n = 0;
}
void poly_atom(poly *out, uint32_t i);
bool poly_is_number(const poly *p, int64_t *out);
int64_t poly_constant(const poly *p);
/* Between polynomials and expressions. Loading a handle that the pool does not have is unknown. A reader's pool makes
 * the same expression first, if its base has it. */
void poly_load(const object_pool *pool, expr e, poly *out);
expr poly_store(object_pool *pool, const poly *p);

/* *out = a + factor * b, a * b; `out` may be a or b. */
void poly_add(const symbol_table *t, poly *out, const poly *a, int64_t factor, const poly *b);
void poly_mul(const symbol_table *t, poly *out, const poly *a, const poly *b);
/* floor(a / c) for c > 0. */
void poly_floor(object_pool *pool, poly *out, const poly *a, int64_t c);
/* The greatest number that divides all factors, of the constant too if `all`; 0 for a polynomial without terms. */
int64_t poly_common(const poly *p, bool all);
void poly_extreme(object_pool *pool, poly *out, bool max, const poly *a, const poly *b);

/* A lower bound of all values; INT64_MIN if they are unbounded. */
int64_t poly_least(const object_pool *pool, const poly *p);

/* The order of terms and atoms. */
int term_order(const symbol_table *t, const poly_term *a, const poly_term *b);
int expr_order(const symbol_table *t, expr a, expr b);

/* ---- atoms ------------------------------------------------------------------------------------------------- */

/* The atom with the kind, name, divisor and parts of `like`, made at first use; false without memory or past the
 * bounds. */
bool atom_of(object_pool *pool, const atom *like, uint32_t *out);
/* Its values. After an interval was narrowed, those of an atom with parts are found again when they are asked for. */
const symbol *atom_range(const object_pool *pool, uint32_t i);
const poly_record *record_of(const symbol_table *t, expr handle);
/* The pool that has the expression: this one or its base. */
static inline const object_pool *pool_with(const object_pool *pool, expr e) {
    return pool->base && !record_of(pool->symbols, e) ? pool->base : pool;
}

/* Returns true if a polynomial of so many terms, a term of so many atoms is within the limits. Without a table every
 * polynomial is a number. */
static inline bool terms_fit(const symbol_table *t, uint32_t n) {
    return n <= (t ? t->pool->ctx->limits.max_expr_terms : POLY_TERMS);
}
static inline bool degree_fits(const symbol_table *t, uint32_t n) {
    return n <= (t ? t->pool->ctx->limits.max_expr_degree : POLY_DEGREE);
}

/* Rounds down; c > 0. */
static inline int64_t floor_div_i64(int64_t a, int64_t c) { return a / c - (a % c < 0); }

#endif
