/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The functions of NNabla as they are numbered in NNB files, for programs that make or examine such networks. An op of
 * class "nnb::Affine" is a function; docs/nnb.md describes the files. */
#ifndef XIR_NNB_H
#define XIR_NNB_H

#include <xir/diag.h>
#include <xir/network.h>

XIR_BEGIN

/* A number of a function. It stands for one list of arguments for ever; a function that got another argument has
 * several numbers. All texts are constant. Names of inputs and outputs are separated by blanks: "x weight* bias*?". One
 * that ends in `*` is a parameter in NNabla, one that ends in `?` may be absent, one that ends in `...` may be any
 * number of them. */
typedef struct xir_nnb_function {
    uint16_t    id;
    uint16_t    api_level;   /* the first that has the number; 0: no exporter writes it              */
    bool        runtime;     /* NNabla's C runtime computes it                                        */
    const char *name;        /* "Affine"                                                              */
    const char *code;        /* a letter for each argument: i, f, B (a byte), iI (a list), fF, C        */
    const char *inputs, *outputs;
    const char *arguments;   /* their names; words in braces: "mode{nearest|linear}"                  */
} xir_nnb_function;

/* The i-th function in ascending order of ids, NULL past the end; the function of an id, NULL if no function has it. */
XIR_API const xir_nnb_function *xir_nnb_function_at(size_t i);
XIR_API const xir_nnb_function *xir_nnb_function_find(uint32_t id);

/* Checks a network of functions of NNabla, and adds all findings, with the numbers that functions and variables have in
 * the file: "/functions/3/argument/pad", "/variables/12". Checked are numbers and api levels of functions, how many
 * ends and which arguments they have, types and shapes of variables, and the buffers: whether they are large enough,
 * and whether a variable is made before it is used and not overwritten before. Returns the status of the first error;
 * XIR_OK for other networks; XIR_E_MEMORY. The network is only read. */
XIR_API xir_status xir_nnb_check(const xir_network *net, xir_diags *why);

XIR_END

#endif
