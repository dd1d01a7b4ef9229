/* The spelling "blocks" of a program: one block with its calls, and a call of it. */
#ifndef SERIALIZE_DEEPX_WRAP_H
#define SERIALIZE_DEEPX_WRAP_H

#include "deepx/deepx.h"

typedef struct deepx_wrap {
    const xir_network *net;
    deepx_printer     *p;
    text_table         names;     /* of inputs and results */
    const xir_op     **makers;    /* of each result its newtensor */
    size_t             n;         /* results */
    char               name[24];
} deepx_wrap;

/* Appends the head of the block. False with the printer's fault: XIR_E_MEMORY, or XIR_E_UNSUPPORTED if the calls cannot
 * be in a block. deepx_wrap_free follows in any case. */
bool deepx_wrap_begin(deepx_wrap *w, const xir_network *net, deepx_printer *p);
/* Whether a call is in the block: all but those that make its results. */
bool deepx_wrap_has(const deepx_wrap *w, const xir_op *op);
/* Appends the end of the block and what follows it. */
bool deepx_wrap_end(deepx_wrap *w);
void deepx_wrap_free(deepx_wrap *w);

#endif
