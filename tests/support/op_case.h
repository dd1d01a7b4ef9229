/* Cases of operations as text: what an op gives for which inputs, or why it is refused. tests/ops/ has a file of them
 * for each family. A case is a line, a backslash at its end continues it, and # begins a comment:
 *
 *     Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x3x16) stride_width=2 -> fp32 NHWC 1x6x3x16
 *     Conv2d(fp32 NHWC 1x8x8x3, fp32 HWIO 3x3x4x16) !! invalid inputs/1 "channels = I * groups"
 *
 * NAME           the end of a class's key, icraft::xir::NAME or xir::NAME, or a whole key; a target may follow: @buyit,
 *                @zhuget(330)
 * input          TYPE, an argument of the network, which TYPE = 1 2 3 runs with these elements; - is absent; param TYPE is a
 *                constant without bytes, param TYPE = 1 2 3 one
 *                with these elements
 * TYPE           ELEMENT LAYOUT DIMS and distributions, @merged_distr([3]^ZERO:{v:[0, 5), u:[5, 6)})
 * ELEMENT        fp16 fp32 fp64 bf16 tf32 bool iN uN, any text of an element type like @fpe(7,8), or a quantised type on sint(N),
 *                or with qu and nu uint(N), that stands for fp32:
 *                q8{@scales([axis=-1]3*0.5) [1, 2, 3]}   QuantizedType, with zero points if there is a list
 *                n8{@norm_ratios([axis=-1]0.5)}          NormalizedType; with scales behind it NormalizedQuantizedType
 * LAYOUT         NHWC, NCHWc32; - is the default of the rank
 * DIMS           1x?x3, ? is unknown; - is rank 0
 * attribute      name=VALUE: 3, 0.5, -inf, true, null, a WORD of an enum or its number, "text", [1,2], ["a","b"], {"key": 1},
 *                @layout(NC) and other texts of objects, (TYPE) or (ELEMENT), param(TYPE) or param(TYPE = 1 2), which a list may
 *                hold, [{[3],[8]}] for aligned units. A number where a scalar object is expected is an integer or a real by its
 *                spelling. What is not named has its default.
 * -> TYPE, …     the types of the outputs, TYPE = 1 2 3 with what is computed. An op without inference is given them.
 * takes N M      behind the outputs: what xir_op_work says, the multiply-adds and the element operations
 * !! CODE PATH "part"
 *                it is refused with this status (invalid, bounds, …), a path that ends like this (. is any), and a sentence that
 *                has this in it; behind -> TYPE: an op whose types do not follow is given these, and cannot be run
 *
 * Of a good case the network is made, and: the outputs are as said; it validates; inferring again changes nothing; a
 * clone is equal; JSON that is read gives the same JSON; with a dim of an input unknown, known dims of the outputs stay
 * as they are and others become unknown; and inputs and attributes that mean harm do none.
 *
 * Of a bad case: the op is refused and the network is as before; and the same fault is found by validation where the
 * op is there nevertheless, as one from a file may be. Faults that only inference tells (unsupported, limit) are
 * left out of that. */
#ifndef SUPPORT_OP_CASE_H
#define SUPPORT_OP_CASE_H

#include <stdio.h>
#include "support/net.h"

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* A text being read, and where what it means is put. */
typedef struct op_text {
    const char  *at;          /* the next byte; a zero byte ends it */
    xir_network *net;         /* whose Params are made              */
    void        *blocks;      /* memory that lives as long          */
    char         fault[512];  /* why it can't be read               */
} op_text;

/* Zeroed memory until the text is done with. */
void *op_text_keep(op_text *t, size_t size);
void  op_text_free(op_text *t);
/* Always false; the first sentence stays. */
bool  op_text_fail(op_text *t, const char *format, ...) XIR_PRINTF(2, 3);
/* The next byte that is no blank; reads it if it is `c`; fails unless it is. */
char  op_text_next(op_text *t);
bool  op_text_skip(op_text *t, char c);
bool  op_text_expect(op_text *t, char c);
/* Whether a word goes on with it: a letter, a digit or _. */
bool  op_text_in_word(char c);
/* Reads this word, if it is the next and ends there. */
bool  op_text_word(op_text *t, const char *word);
/* Reads "@name" and, if one follows, what is in the parentheses behind it: an object by its text. NULL with the
 * fault. */
const xir_object *op_text_object(op_text *t);
/* The same with inputs behind it: parentheses are the object's only if others follow. */
const xir_object *op_text_target(op_text *t);
bool  op_text_i64(op_text *t, int64_t *out);
/* Reads [1, 2]. The items are kept. */
bool  op_text_i64s(op_text *t, xir_i64s *out);

/* A type, an element type alone, `(TYPE)` or `(ELEMENT)`; NULL with the fault. */
const xir_type *op_text_type(op_text *t);
const xir_type *op_text_any_type(op_text *t);
/* Params behind the word `param`: TYPE, or TYPE = elements. NULL with the fault. */
xir_value *op_text_params(op_text *t);
/* What may stand behind a type, "= 1 2 3", as Params of it; NULL if nothing does. False with the fault. */
bool op_text_elements(op_text *t, const xir_type *type, xir_value **out);
/* A type as a table has it, until the call after the next three. */
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

/* Reads a line; its network has the arguments then, not the op. False with c->t.fault. Ends with op_case_end in any
 * case. */
bool op_case_begin(op_case *c, const char *text, const char *file, int line, op_counts *counts);
void op_case_end(op_case *c);
/* Adds the op. NULL if it is refused. */
xir_op *op_case_add(op_case *c);

/* Says what is wrong with a case; the first time its line too. */
void op_case_fail(op_case *c, const char *expected, const char *format, ...) XIR_PRINTF(3, 4);
bool op_case_can_infer(const op_case *c);
/* The op as a reader would bring it in: nothing checked, an output for each of the class, of any type. */
xir_op *op_case_bring_in(op_case *c, void *body);
/* The findings of a list, one a line, until the next call. */
const char *op_case_findings(const xir_diags *diags);
/* The types of an op's outputs; returns how many there are. */
size_t op_case_types(const xir_op *op, const xir_type **out);

/* Of a good case: an unknown dim makes others unknown and changes nothing else. */
void op_case_with_unknown_dims(op_case *c, xir_op *op);
/* Types and attributes that nobody has checked are judged without harm. */
void op_case_with_harm(op_case *c, xir_op *op);
/* Puts variant i of an attribute that means harm into the body, `room` for its list; false past the last. */
bool op_case_harmful_attr(const xir_field *f, void *body, size_t i, int64_t room[16]);

/* ---- running ---------------------------------------------------------------------------------------------------- */

/* Runs a case; prints it with what was expected and what was found if that is not the same. */
void op_case_run(const char *text, const char *file, int line, op_counts *counts);
/* Runs all cases of a file, or does something else with each line that is one. */
typedef void op_line_fn(const char *text, const char *file, int line, op_counts *counts);
void op_cases_run(const char *path, op_counts *counts);
void op_cases_each(const char *path, op_line_fn *each, op_counts *counts);
/* The names of all tables of a folder of tests, "ops", without it and .txt, sorted; NULL at the end. Each and the
 * list are to be freed. */
char **op_tables(const char *folder);
/* The path of one, until the next call. */
const char *op_table_path(const char *folder, const char *name);

#endif
