/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions of a model on the way back (back_functions.c makes them of calls; back_function_texts.c names and
 * writes them). */
#ifndef CONVERT_ONNX_BACK_FUNCTIONS_H
#define CONVERT_ONNX_BACK_FUNCTIONS_H

#include "onnx/back.h"
#include "manager/pass.h"

/* One function: the key of its nodes' class without the prefix, "domain.name", and its overload. */
typedef struct made_function { xir_str domain, name, overload; } made_function;

typedef struct writing {
    xir_pass      *pass;
    xir_network   *net;         /* of the model                                                        */
    const xir_allocator *alloc;
    arena          room;
    text_table     names;       /* "domain:overload:name" of all functions                             */
    text_table     domain_of;   /* a domain of the operator sets -> its number                         */
    text_table     bodies;      /* the text of a function without names -> its number                  */
    made_function *functions;
    size_t         n_functions, function_room;
    xir_any       *texts;       /* of the tag onnx.functions, those of the file first                  */
    size_t         n_texts, text_room;
    xir_entry     *domains;     /* operator sets that functions have, each once                        */
    size_t         n_domains, domain_room;
    uint64_t       number;      /* of the next name that is made                                       */
    size_t         n_inlined;
    bool           overloads;
} writing;

/* A network with its pass is given. functions_end accepts what was begun. */
void functions_begin(writing *w);
void functions_end(writing *w);
/* Notes the functions that the model has: they keep their names. XIR_E_MEMORY. */
xir_status functions_note(writing *w);
/* Finds the function that a body of ONNX's operators is, apart from names, or writes it, with the name of the call.
 * XIR_E_MEMORY, or why no function can have this body. */
xir_status functions_find(writing *w, const xir_op *call, xir_network *body, made_function *f, xir_diags *why);
/* The class of its nodes; NULL: out of memory. */
const xir_class *functions_class(writing *w, const made_function *f);
/* Gives the model the functions, their operator sets, and a version of the format that has functions. XIR_E_MEMORY. */
xir_status functions_store(writing *w);

#endif
