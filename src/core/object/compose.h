/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The COMPOSED row of a class: its ops mean a small network of other ops, the parts. The row is a text, which is read
 * once, when the class is registered; declare.h has its grammar. Here it is a list of parts in the order in which they
 * run. The parts' classes are registered before, so no class is part of itself, by whatever way.
 *
 * Values are numbered: first the input ports of the class, then the results of the parts. What is said about a value is
 * in arrays by this number. A composition never changes, and lives as long as its class. */
#ifndef CORE_COMPOSE_H
#define CORE_COMPOSE_H

#include "object.h"

struct class_stage;

/* A number: of attributes of the class and of dims of values. */
typedef enum compose_term_kind {
    COMPOSE_INTEGER, COMPOSE_REAL,
    COMPOSE_ATTR,                     /* of the class: a bool, an integer or a real          */
    COMPOSE_DIM, COMPOSE_LETTER,         /* a dim of a value: by index, by the letter of its axis */
    COMPOSE_SUM, COMPOSE_DIFFERENCE, COMPOSE_PRODUCT, COMPOSE_QUOTIENT
} compose_term_kind;

typedef struct compose_term {
    compose_term_kind        kind;
    char             letter;
    bool             is_real;      /* the result is a real number                         */
    bool             is_constant;  /* it depends on nothing                               */
    uint32_t         value;        /* of a dim                                            */
    int64_t          integer;      /* also the index of a dim                             */
    double           real;
    const xir_field *field;
    const struct compose_term *a, *b;
} compose_term;

/* The result of a term. `unknown`: it depends on a dim that is not known. */
typedef struct compose_number { int64_t integer; double real; bool is_real, unknown; } compose_number;

typedef enum compose_operand_kind {
    OPERAND_NONE,      /* absent                                                              */
    OPERAND_VALUE,     /* a value                                                             */
    OPERAND_REST,      /* all inputs of the class at its last port, which takes any number    */
    OPERAND_PARAMS,    /* an attribute of the class that is Params; it may be null            */
    OPERAND_NUMBER     /* a constant with one element of the type of the part's first value   */
} compose_operand_kind;

typedef struct compose_operand {
    compose_operand_kind        kind;
    bool                needed;    /* the part needs it: without it, an optional part is left out */
    uint32_t            value;
    const xir_field    *field;
    const compose_term *number;
} compose_operand;

/* An attribute of a part that depends on the op. Constant ones are in the part's body. */
typedef enum compose_setting_kind {
    SETS_COPY,          /* an attribute of the class                        */
    SETS_NUMBER,        /* a term                                           */
    SETS_LIST,          /* a list of terms                                  */
    SETS_LAYOUT,        /* the layout of a value,                           */
    SETS_TYPE,          /* its type,                                        */
    SETS_ELEMENT        /* or the type of its elements                      */
} compose_setting_kind;

typedef struct compose_setting {
    compose_setting_kind               kind;
    const xir_field           *to, *from;
    const compose_term *const *terms;
    uint32_t                   n, value;
    uint32_t                   letters;   /* the number of terms at its beginning that are dims of one value */
} compose_setting;

typedef struct compose_part {
    const xir_class       *cls;
    xir_str                label;        /* of its first result: "c"                                         */
    bool                   optional;     /* without an operand that it needs, it is its first one            */
    uint32_t               first;        /* the number of its first result                                   */
    uint32_t               n_results, n_operands, n_settings;
    const compose_operand *operands;
    const compose_setting *settings;
    const void            *body;         /* defaults and constants                                           */
    bool                   any_floats;   /* its class has a rule for floats, and it has no list of factors   */
    bool                   numbers;      /* its operands after the first are numbers that depend on no dims, */
    bool                   kept;         /* or the first one again, and no attribute is of the op: with
                                            FLOATS_KEPT, its result has the type of its first operand        */
    uint32_t               like;         /* 1 + an earlier part of the same class and attributes, where both
                                            have one value as operand; 0: none                               */
} compose_part;

typedef struct composition {
    xir_str             text;
    double              within;       /* the relative tolerance of another kernel                            */
    uint32_t            n_parts, n_inputs, n_values, n_outputs;
    uint32_t            most_operands;
    uint32_t            depth;        /* how deeply compositions are nested in it, from 1                    */
    uint32_t            total;        /* parts, and those of composed parts                                  */
    const compose_part *parts;
    const uint32_t     *outputs;      /* the value of each output of the class                               */
    const uint32_t     *blame;        /* of each value: the only input of the class that it depends on;
                                         UINT32_MAX: none, or several                                        */
    const xir_str      *labels;       /* of each value                                                       */
} composition;

/* Limits of a composition: bytes of its text, parts, values that a part reads; nested compositions, and the parts of
 * all of them; parentheses in a term. */
enum {
    COMPOSE_TEXT = 1 << 16, COMPOSE_PARTS = 256, COMPOSE_OPERANDS = 64, COMPOSE_DEPTH = 16, COMPOSE_TOTAL = 1024,
    COMPOSE_NESTED = 32
};

/* Computes a term. `dim` gives a dim that the term asks for, negative if it is not known; NULL for constant terms.
 * False if the result exceeds 64 bits, or something is divided by 0. */
typedef int64_t compose_dim_fn(void *user, const compose_term *term);
bool compose_compute(const compose_term *term, const void *attrs, compose_dim_fn *dim, void *user, compose_number *out);

/* Gives a class that has been sealed its composition, if it has a COMPOSED row, and what follows from it where the
 * class has no row of its own. XIR_E_SYNTAX, XIR_E_UNKNOWN, XIR_E_INVALID, XIR_E_LIMIT, XIR_E_MEMORY with a finding
 * that has the place in the text. Does not require the context's lock, but `registering`. (compose_read.c) */
xir_status class_compose(const struct class_stage *stage, xir_class *cls, xir_diags *why);

/* The sharing row that follows from the rows of the parts. (compose_shares.c) */
class_shares compose_shares(const composition *c);

#endif
