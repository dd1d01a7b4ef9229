/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Cases of operations as text: the outputs of an op for given inputs, or the reason why it is refused. tests/ops/ has a
 * file of them for each family. A case is a line; a backslash at its end continues it, and # begins a comment:
 *
 *     Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) stride_width=2 -> fp32 NHWC 1x6x3x16
 *     Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x4x16) !! invalid inputs/1 "channels = I * groups"
 *
 * NAME           the end of a class's key, icraft::xir::NAME or xir::NAME, or a whole key; a target may follow: @buyit,
 *                @zhuget(330)
 * input          TYPE is an argument of the network; TYPE = 1 2 3 runs with these elements; - is absent; param TYPE is
 *                a constant without bytes, param TYPE = 1 2 3 one with these elements
 * TYPE           ELEMENT LAYOUT DIMS and distributions, @merged_distr([3]^ZERO:{v:[0, 5), u:[5, 6)})
 * ELEMENT        fp16 fp32 fp64 bf16 tf32 bool iN uN, any text of an element type like @fpe(7,8), or a quantised type
 *                that stands for fp32 and is stored as sint(N), or with qu and nu as uint(N):
 *                q8{@scales([axis=-1]3*0.5) [1, 2, 3]}   QuantizedType, with zero points if there is a list
 *                n8{@norm_ratios([axis=-1]0.5)}          NormalizedType; if scales follow, NormalizedQuantizedType
 * LAYOUT         NHWC, NCHWc32; - is the default of the rank
 * DIMS           1x?x3, ? is unknown; - is rank 0
 * attribute      name=VALUE: 3, 0.5, -inf, true, null, a WORD of an enum or its number, "text", [1,2], ["a","b"],
 *                {"key": 1}, @layout(NC) and other texts of objects, (TYPE) or (ELEMENT), param(TYPE) or
 *                param(TYPE = 1 2), also in lists, [{[3],[8]}] for aligned units. Where a scalar object is expected, a
 *                number is an integer or a real by its spelling. Attributes that are not named have their defaults.
 * -> TYPE, …     the types of the outputs; TYPE = 1 2 3 with the computed elements. An op without inference gets them.
 * takes N M      after the outputs: the result of xir_op_work, multiply-adds and element operations
 * !! CODE PATH "part"
 *                the op is refused with this status (invalid, bounds, …), a path that ends like this (. is any), and a
 *                message that contains this; after -> TYPE: an op whose types cannot be inferred gets these, and cannot
 *                be run
 *
 * For a good case the network is built. Its outputs are as stated; it validates; inferring again changes nothing; a
 * clone is equal; its JSON is read and written again as the same JSON. If a dim of an input becomes unknown, known dims
 * of the outputs are unchanged or become unknown. Hostile inputs and attributes do no harm.
 *
 * For a bad case, the op is refused and the network is unchanged. If the network has such an op nevertheless, as one
 * from a file may, validation finds the same fault. Faults that only inference detects (unsupported, limit) are
 * excepted. */
#ifndef SUPPORT_OP_CASE_H
#define SUPPORT_OP_CASE_H

#include <stdio.h>
#include "support/net.h"

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* A text being read, and where its contents are stored. */
typedef struct op_text {
    const char  *at;          /* the next byte; a zero byte ends it    */
    xir_network *net;         /* whose Params are made              */
    void        *blocks;      /* live as long as the text           */
    char         fault[512];  /* why the text cannot be read        */
} op_text;

/* Zeroed memory that lives until op_text_free. */
void *op_text_keep(op_text *t, size_t size);
void  op_text_free(op_text *t);
/* Returns false; the first message is kept. */
bool  op_text_fail(op_text *t, const char *format, ...) XIR_PRINTF(2, 3);
/* The next byte after blanks; reads that byte if it is `c`; fails if it is not. */
char  op_text_next(op_text *t);
bool  op_text_skip(op_text *t, char c);
bool  op_text_expect(op_text *t, char c);
/* Returns true if the byte continues a word: a letter, a digit or _. */
bool  op_text_in_word(char c);
/* Reads this word if it comes next, as a whole word. */
bool  op_text_word(op_text *t, const char *word);
/* Reads an object from its text: "@name", and the parentheses if they follow. NULL with the fault. */
const xir_object *op_text_object(op_text *t);
/* The same before the inputs of an op: parentheses belong to the object only if a second pair follows. */
const xir_object *op_text_target(op_text *t);
bool  op_text_i64(op_text *t, int64_t *out);
/* Reads [1, 2]. The items are kept. */
bool  op_text_i64s(op_text *t, xir_i64s *out);

/* A type, an element type alone, `(TYPE)` or `(ELEMENT)`; NULL with the fault. */
const xir_type *op_text_type(op_text *t);
const xir_type *op_text_any_type(op_text *t);
/* Params after the word `param`: TYPE, or TYPE = elements. NULL with the fault. */
xir_value *op_text_params(op_text *t);
/* The elements that may follow a type, "= 1 2 3", as Params of that type; NULL if none follow. False with the fault. */
bool op_text_elements(op_text *t, const xir_type *type, xir_value **out);
/* A type in the words of a table; valid until the fourth call from now. */
const char *op_type_words(const xir_type *type);

/* The VALUE of an attribute, into the body. */
bool op_text_attr(op_text *t, const xir_field *field, void *body);

/* ---- a case ----------------------------------------------------------------------------------------------------- */

typedef struct op_counts {
    size_t good, bad, failed;
    FILE  *out;                /* where failures are printed */
} op_counts;

enum { MOST_INPUTS = 64, MOST_OUTPUTS = 64 };

typedef struct op_case {
    op_text           t;
    const char       *text, *file;
    int               line;
    op_counts        *counts;
    bool              failed;
    const xir_class  *cls;
    const xir_target *target;
    xir_network      *net;
    void             *body;
    const xir_type   *args[MOST_INPUTS];       /* of the network                */
    size_t            n_args;
    xir_value        *inputs[MOST_INPUTS];     /* NULL: absent, or an argument: */
    bool              is_arg[MOST_INPUTS];
    xir_value        *given[MOST_INPUTS];      /* of the arguments, NULL: none   */
    size_t            n_inputs;
    bool              bad;
    const xir_type   *outputs[MOST_OUTPUTS];
    xir_value        *results[MOST_OUTPUTS];   /* NULL: any                      */
    size_t            n_outputs;
    bool              has_work;
    int64_t           work[2];                  /* multiply-adds, element operations */
    xir_status        code;
    char              path[128], part[256];
} op_case;

/* Reads a line; the network then has the arguments, but not the op. False with c->t.fault. Call op_case_end in either
 * case. */
bool op_case_begin(op_case *c, const char *text, const char *file, int line, op_counts *counts);
void op_case_end(op_case *c);
/* Adds the op. NULL if it is refused. */
xir_op *op_case_add(op_case *c);

/* Prints what is wrong with a case; the first time with its line. */
void op_case_fail(op_case *c, const char *expected, const char *format, ...) XIR_PRINTF(3, 4);
bool op_case_can_infer(const op_case *c);
/* Adds the op as a reader adds it: without checks, with the outputs of its class, of any type. */
xir_op *op_case_bring_in(op_case *c, void *body);
/* The findings of a list, one a line; valid until the next call. */
const char *op_case_findings(const xir_diags *diags);
/* The types of an op's outputs; returns how many there are. */
size_t op_case_types(const xir_op *op, const xir_type **out);

/* For a good case: an unknown dim makes others unknown and changes nothing else. */
void op_case_with_unknown_dims(op_case *c, xir_op *op);
/* For a good case: what inference says of symbolic dims holds for the values of the symbols. */
void op_case_with_symbols(op_case *c, xir_op *op);
/* Inferring and validating unchecked types and attributes does no harm. */
void op_case_with_harm(op_case *c, xir_op *op);
/* Puts variant i of a hostile attribute into the body, with its list in `room`; false after the last variant. */
bool op_case_harmful_attr(const xir_field *f, void *body, size_t i, int64_t room[16]);

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Runs a case. If it fails, prints it with what was expected and what was found. */
void op_case_run(const char *text, const char *file, int line, op_counts *counts);
/* Runs all cases of a file, or calls a function for each case. */
typedef void op_line_fn(const char *text, const char *file, int line, op_counts *counts);
void op_cases_run(const char *path, op_counts *counts);
void op_cases_each(const char *path, op_line_fn *each, op_counts *counts);
/* The names of all tables in a folder of tests, "ops", without the folder and .txt, sorted; NULL at the end. Free each
 * name and the list. */
char **op_tables(const char *folder);
/* The path of one of them; valid until the next call. */
const char *op_table_path(const char *folder, const char *name);

#endif
