/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the files that write a network of PNNX's operators as a module of PyTorch (docs/pnnx.md). Nothing of the
 * network becomes Python's text unchecked:
 *
 *   names     identifiers, a prefix and letters, digits and _ (names.c)
 *   texts     string literals, or words of PyTorch from a list (names.c)
 *   types     rows of a table with all parameters that may be written (operators.c)
 *   formulas  are parsed, and printed from what was parsed (expression.c)
 *
 * The whole text is made in memory before the first byte is written. */
#ifndef SERIALIZE_PYTHON_PYTHON_H
#define SERIALIZE_PYTHON_PYTHON_H

#include "pnnx/pnnx.h"

/* The Python type of a value. Numbers and lists become tensors where a tensor is expected. */
typedef enum python_kind { PYTHON_TENSOR, PYTHON_NUMBER, PYTHON_LIST, PYTHON_OTHER } python_kind;

typedef struct python_value { xir_str name; python_kind kind; } python_value;

typedef struct python_writer {
    xir_network          *net;
    const format_writing *how;
    buffer                init, forward;        /* statements of both methods                        */
    pnnx_printer          types;                /* prints types of values                            */
    arena                 scratch;
    text_table            rows;                 /* the numbers of the rows of operators.c, by type   */
    text_table            taken;                /* identifiers                                       */
    uint64_t              next;                 /* the number that the next made identifier may get  */
    pointer_table         places;               /* of values, in `values`                            */
    python_value         *values;
    size_t                n_values, value_room;
    const char           *indent;               /* of statements in __init__                         */
    bool                  has_weights;          /* the module loads an archive                       */
    bool                  fills, uses_math, uses_tensors;   /* what the module must define or import */
    xir_status            status;               /* of the first failure                              */
} python_writer;

/* The operator that is being written. */
typedef struct python_op {
    python_writer           *w;
    const xir_op            *op;
    const struct python_row *row;
    const xir_map           *extra;
    xir_str                  type;
    uint64_t                 used;     /* a bit for each input that was written; the last one is for all beyond it */
} python_op;

/* ---- operators.c ------------------------------------------------------------------------------------------------- */

typedef bool python_write_fn(python_op *c);

/* The form of an operator. */
typedef enum python_form {
    PYTHON_CALL,       /* TYPE(arguments)                                                                   */
    PYTHON_METHOD,     /* of the first argument                                                             */
    PYTHON_PACK,       /* TYPE([inputs], keywords)                                                          */
    PYTHON_MODULE,     /* made in __init__ with the keywords, called with the arguments                     */
    PYTHON_HOOK,       /* by a function                                                                     */
} python_form;

typedef enum python_results {
    PYTHON_ONE,        /* a tensor                                                                          */
    PYTHON_PAIR,       /* a tuple of two, of which the operator may have the first alone                     */
    PYTHON_ALL,        /* a list or tuple of as many as the operator has                                     */
    PYTHON_INDICES,    /* a tensor, or with return_indices=True two                                          */
    PYTHON_BY_DIM,     /* a tensor, or with the parameter dim two                                            */
} python_results;

/* Names are separated by blanks. `args` are in the order of PyTorch's function, inputs and parameters alike; `keys` are
 * parameters, written as keywords. A parameter that is None is left out, since that is what it is without.
 *   name?  may be missing, in `args`     name!  must not be missing, in `keys`
 *   name#  may be a number or a list     -name  is accepted, and not written
 * `weights` are the tensors of a module; "bias=affine": the module has it if affine=True. */
typedef struct python_row {
    const char      *type;
    python_form      form;
    python_results   results;
    const char      *args, *keys, *weights;
    python_write_fn *hook;       /* PYTHON_HOOK: writes it; otherwise it changes parameters first, or NULL */
    const char      *as;         /* the name in Python, if it is not the type */
} python_row;

bool              python_rows_begin(python_writer *w);
const python_row *python_row_of(const python_writer *w, xir_str type);

/* ---- names.c ----------------------------------------------------------------------------------------------------- */

/* Makes an identifier that no other value or module has: a letter, _, and the name with _ in place of each character
 * that is not a letter or digit of ASCII. Empty without memory. */
xir_str python_identifier(python_writer *w, char prefix, xir_str name);
/* A literal in quotes; false if the text is not UTF-8. */
bool python_put_text(buffer *out, xir_str text);
/* The parameter `key`: a number, a word of PyTorch such as torch.float, a list of these, or a text if it may be one. */
bool python_put_any(python_op *c, buffer *out, xir_str key, const xir_any *v);
/* The shape and the elements of a value as declared, "(1, None, 3), torch.float32"; false if it has none. */
bool python_put_type(python_writer *w, buffer *out, const xir_value *v);

/* ---- python.c ---------------------------------------------------------------------------------------------------- */

/* Reports a failure with the operator. Returns false. */
bool python_refuse(python_op *c, xir_status status, const char *sentence, ...) XIR_PRINTF(3, 4);
bool python_no_memory(python_writer *w);
/* Returns the identifier and type of a value, or NULL if no operator has defined it yet. Valid until the next value is
 * defined. */
const python_value *python_value_of(python_writer *w, const xir_value *v);
/* Gives a value an identifier. */
bool python_define(python_writer *w, const xir_value *v, python_kind kind);

/* ---- call.c ------------------------------------------------------------------------------------------------------ */

/* Writes an operator by its row. */
bool python_write_op(python_op *c);
/* The parameter of a name; NULL if it is missing or None. */
const xir_any *python_param(const python_op *c, const char *name);
/* The same, to be changed in this operator alone; null removes it. NULL also after a failure. */
xir_any *python_edit(python_op *c, const char *name);
/* The position of the input of a name: by the file's names, or by its place among the row's arguments. SIZE_MAX: the
 * operator does not have it. */
size_t python_input(const python_op *c, const char *name);
/* Writes input `i` into forward; `as_tensor`: a number or a list becomes a tensor. */
void python_put_input(python_op *c, size_t i, bool as_tensor);
/* Writes all inputs, with a comma and a blank between them. */
void python_put_inputs(python_op *c, bool as_tensors);
/* Returns true if the only output is a tuple or a list, which another operator takes apart. */
bool python_is_unpacked(const python_op *c);
/* Begins a statement of forward: the outputs as they are unpacked, and " = ". */
bool python_put_targets(python_op *c, python_results results, python_kind kind);
/* Writes the module's construction and its weights into __init__, and the beginning of its call into forward. */
bool python_make_module(python_op *c, xir_str *module);
void python_put_module(python_op *c, xir_str module);
/* Writes the row's keywords. */
bool python_put_keys(python_op *c, buffer *out, bool first);

/* expression.c, index.c, special.c */
python_write_fn python_expression, python_attribute, python_list, python_tuple, python_unpacked, python_slice,
                python_slice_copy, python_index, python_index_put, python_reshape, python_reduce, python_resize,
                python_attention, python_recurrent, python_dropout, python_pool_to, python_each_dim, python_unsqueeze;

#endif
