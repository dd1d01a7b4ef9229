/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of xir run. */
#ifndef RUN_H
#define RUN_H

#include "cli.h"

/* The inputs or the outputs of a network: one array each, owned. */
typedef struct ports {
    xir_value **values;
    xir_array **arrays;
    const xir_type **types;   /* of the arrays, also of those that are still to be drawn */
    size_t      n;
} ports;
void ports_make(ports *p, size_t n);   /* room for n of them */
void ports_free(ports *p);

typedef struct run_options {
    const char *out_dir, *compare_dir;     /* NULL: not asked                 */
    bool        each;                      /* inputs hold many: run each      */
} run_options;
extern run_options run_args;

/* Returns the exit code for a failed computation: an op that the executor cannot compute is a matter of the
 * network. */
int exit_of_run(xir_status status);

/* Makes inputs of Params that are the defaults of inputs, where --input gives them another value. */
int inputs_take_defaults(xir_network *net);
/* Reads the arrays that --input names. */
int inputs_read(const xir_network *net, ports *in, xir_diags *why);
/* Decides the types of the arrays; those that no --input names get random numbers later. */
int inputs_type(ports *in, xir_diags *why);
/* Converts a network of foreign operations; the arrays say which dims and elements its inputs have. */
int inputs_convert(xir_network *net, const ports *in, xir_diags *why);
/* Draws the arrays that are missing, once the network's operations are known, and with them the numbers that its inputs
 * take: indices within a table, for example. Takes what all inputs cost from the limits. */
int inputs_draw(const xir_network *net, ports *in, uint64_t seed, xir_run_options *limits, xir_diags *why);

/* Writes the outputs to --output, compares them with --compare, and prints a line for each; with --json, `j`, an
 * object. */
int outputs_report(const ports *out, double tolerance, json_out *j, xir_diags *why);

#endif
