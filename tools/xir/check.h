/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of xir check. */
#ifndef CHECK_H
#define CHECK_H

#include "cli.h"

typedef struct checking {
    xir_network       *net, *copy;    /* what is checked, and a copy that inference may change          */
    xir_diags         *why;
    bool               foreign;       /* it has ops of a dialect, or functions of NNabla                */
    /* classes: not known here; without inference; whose results do not follow from the inputs; of elements, unknown */
    tally              unknown, uninferred, open, unknown_types;
    struct wrong_type *wrong;         /* outputs whose declared types are wrong (check_infer.c)         */
    size_t             n_wrong, wrong_room;
    uint32_t          *wrong_of;      /* by slot of the copy: index + 1 of the last; 0: no wrong type   */
} checking;

/* The place of an op: in the network, or in a list of sub ops of another one. A path is written only for a finding. */
typedef struct op_place {
    const struct op_place *outer;   /* NULL: the network */
    xir_str                field;
    size_t                 index;
} op_place;

/* Begins once the copy is made. */
void inference_begin(checking *c);
/* Compares the declared types of an op's outputs with those that inference gives for `copy`, the same op of the copy,
 * which has the declared types again at the end. `place` is that of the op, for findings. */
void inference_check(checking *c, const xir_op *op, xir_op *copy, const op_place *place);
void inference_end(checking *c);

/* The last line about a file, for people. `whole`: all that can be checked has been. */
void print_summary(const char *name, bool whole, size_t errors, size_t warnings, size_t notes);

/* Tries the plug-ins of the command line (check_plugin.c). Returns the exit code. */
int check_plugins(bool as_json);

#endif
