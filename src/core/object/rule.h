/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The view of a class's own rule: CHECK of any class, INFER of an op. The rule of an object sees only class and
 * attributes. */
#ifndef CORE_RULE_H
#define CORE_RULE_H

#include <xir/needed.h>
#include <xir/takes.h>
#include "object.h"

/* The figures that a WORK function has given so far. */
typedef struct infer_work_seen {
    uint64_t multiply_adds, element_ops;
    uint64_t parts;          /* bit i: it has said how much of input i is read              */
    uint64_t part_bytes;     /* that is read of these inputs                                */
    uint32_t wrong;          /* 1 + index of an input that the rule counts twice or beyond its end; 0: none */
    bool     open;           /* it has asked for an unknown dim                             */
    bool     part_open;      /* so it had when it said how much is read                     */
    bool     said;           /* it has given a result,                                      */
    bool     no_products;    /* without multiply-adds,                                      */
    bool     unsaid;         /* or said that it cannot                                      */
} infer_work_seen;

/* The ranges that a TAKES function narrows, and the ranges of the outputs; NULL: any numbers. */
typedef struct infer_takes_seen {
    xir_numbers       *in;
    const xir_numbers *out;
    size_t           n_out;
} infer_takes_seen;

/* An attribute of the op of a tile: an integer, a list of integers, or the type of its output. */
enum { MOST_TILE_ATTRS = 12 };
typedef struct tile_attr {
    const char *name;
    enum { TILE_I64, TILE_I64S, TILE_TYPE } kind;
    size_t      n;
    int64_t     numbers[2 * XIR_BOX_DIMS];
} tile_attr;

/* The question to a NEEDS function, and its answer. */
typedef struct infer_needs_seen {
    size_t    output;
    xir_box   part;          /* of the output                                                       */
    xir_box  *in;            /* of each input; whole before the function is asked                   */
    bool      tile;          /* the op of a tile is asked for, too:                                 */
    bool      possible;      /* the class can compute a part by itself,                             */
    xir_box   makes;         /* this one, which contains `part`,                                    */
    tile_attr attrs[MOST_TILE_ATTRS];   /* with these attributes                                    */
    size_t    n_attrs;
} infer_needs_seen;

/* The finding of a rule of a target (xir_rule_found). */
typedef struct rule_finding { char where[48], text[240]; } rule_finding;

/* Inferred types are written to `out` (room for `room`). */
struct xir_infer {
    xir_context      *ctx;
    object_pool             *pool;
    const xir_class  *cls;
    const void       *attrs;
    const xir_target *target;
    const xir_op     *op;           /* NULL before it exists: then the inputs are in `values`  */
    xir_value *const *values;
    /* In a run, whose inputs are arrays: the op, whose inputs say which are Params; NULL: `values` say it */
    const xir_op     *run;
    size_t            n_inputs;
    const xir_type  **out;
    size_t            n_out, room;
    bool              out_on_heap;
    bool              read_values;  /* the answer depends on bytes                            */
    bool              as_host;      /* the host's function runs for another target            */
    xir_status        status;
    xir_diags        *why;
    xir_str           path;         /* put before `where`                                     */
    size_t            place;        /* of an op in the order, from 1: "/ops/<place - 1>"; 0: not given */
    xir_str           op_name;
    infer_work_seen   work;
    infer_takes_seen  takes;        /* NULLs except in a TAKES function */
    infer_needs_seen *needs;        /* NULL except in a NEEDS function */
    rule_finding     *found;        /* NULL: the caller does not ask    */
    const xir_type   *few[4];
};

/* Returns true if there is an input at position `i`, with or without a type. (infer.c) */
bool infer_has_input(const xir_infer *at, size_t i);
/* Adds a finding about the op: class and name before the sentence, and the place, with `where` unless it is NULL.
 * (rule.c) */
void rule_say(xir_infer *at, xir_severity severity, xir_status code, const char *where, const xir_diag_rule *rule,
              const char *sentence);
/* The result of a failed rule. A rule of a program or plug-in may fail without a finding; then this adds one.
 * (rule.c) */
xir_status rule_failed(xir_infer *at, xir_status status);

/* Run a rule; and the class's own check, XIR_OK if it has none. */
static inline xir_status rule_run(xir_infer *at, xir_infer_fn *rule) {
    xir_status status = rule(at);
    return status && !at->status ? rule_failed(at, status) : status;
}
static inline xir_status rule_check(xir_infer *at) {
    xir_infer_fn *check = at->cls->more->check;
    return check ? rule_run(at, check) : XIR_OK;
}

#endif
