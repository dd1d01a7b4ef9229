/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A mix from inside: the values of a network, the ops that decide how they are stored, and the samples. */
#ifndef QUANT_MIX_H
#define QUANT_MIX_H

#include <xir/ops.h>
#include <xir/xir.h>

#define NO_INDEX UINT32_MAX

/* Sums of products over elements and samples: of what is expected, of what was found, of both, of the error. */
typedef struct mix_sums { double expected, found, both, error; } mix_sums;

/* A value that an op of the execution order makes. */
typedef struct mix_value {
    const xir_value *value;
    uint32_t         bits;     /* with which it is stored if no op has a row; 0: it is not          */
    uint32_t         root;     /* the value whose bits it has: itself, or the one that moves read    */
    mix_sums         sums;     /* of it by itself                                                    */
} mix_value;

/* Ops that get their bits together: one that makes stored values, and those that make floats for it alone. */
typedef struct mix_group {
    double   cosine;
    uint32_t values;
    uint32_t plain, bits;      /* without a row, and now; 0: floats */
    bool     chosen;
} mix_group;

/* An op of a group; sorted by cosine, then by group, then by position. */
typedef struct mix_item {
    const xir_op *op;
    double        cosine;
    uint32_t      group, position;
} mix_item;

struct xir_mix {
    xir_context         *ctx;
    const xir_allocator *alloc;
    const xir_network   *net;
    xir_network         *plain;        /* quantised with the fewest bits */
    char                *options;
    double               below, least_snr, budget;
    xir_run_options      run;
    size_t               n_slots, n_values, n_groups, n_items, n_stored;
    uint32_t            *first;        /* by slot of an op: the number of its first output, or NO_INDEX */
    uint32_t            *group_of;     /* by slot: the group of an op, or NO_INDEX                      */
    mix_value           *values;
    mix_group           *groups;
    mix_item            *items;
    xir_array          **samples;      /* n_in arrays for each                                          */
    xir_array          **results;      /* n_out arrays for each                                         */
    size_t               n_samples, sample_room, n_in, n_out;
    bool                 failed;
    xir_mix_state        state;
};

/* ---- mix.c ------------------------------------------------------------------------------------------------------- */

xir_status  mix_memory(xir_diags *why);
xir_status  mix_fail(xir_diags *why, xir_status code, const char *sentence);
/* `n` zeroed items, one at least; NULL without memory. Freed with the same numbers. */
void       *mix_new(const xir_allocator *alloc, size_t n, size_t size);
void        mix_drop(const xir_allocator *alloc, void *items, size_t n, size_t size);
/* The op of the network that an op of a quantised copy is; NULL: the pass has made it. */
const xir_op *mix_partner(const xir_mix *m, const xir_op *op);
/* The number of a value of the network; NO_INDEX for Params and values of sub ops. */
uint32_t    mix_number(const xir_mix *m, const xir_value *value);
/* The number of the value that a value of a quantised copy stands for, through Quantize and Cast ops of the pass. */
uint32_t    mix_source(const xir_mix *m, const xir_value *value);
/* Returns true if the elements are stored: normalised or quantised. */
bool        mix_is_stored(const xir_value *value);
/* Counts the values that have more bits in a quantised copy than in the plain one, or are floats. */
size_t      mix_raised(const xir_mix *m, const xir_network *net);
/* Quantises a copy of the network with a CSV; NULL: none. NULL with a finding. */
xir_network *mix_quantise(const xir_mix *m, const char *csv, xir_status *status, xir_diags *why);
double      mix_cosine(const mix_sums *s);

/* ---- mix_run.c --------------------------------------------------------------------------------------------------- */

/* Measures each value by itself on the last sample, and keeps the results of the network. */
xir_status mix_measure(xir_mix *m, xir_diags *why);
/* Runs a quantised copy on all samples: the least cosine and dB of its results. */
xir_status mix_results(const xir_mix *m, const xir_network *net, double *cosine, double *snr, xir_diags *why);

/* ---- mix_rows.c -------------------------------------------------------------------------------------------------- */

/* A growing text. */
typedef struct mix_text {
    const xir_allocator *alloc;
    char                *data;
    size_t               size, room;
    bool                 failed;
} mix_text;

/* Appends the CSV of the groups that are chosen; `failed` without memory. */
void mix_print_rows(const xir_mix *m, mix_text *out);
void mix_append(mix_text *out, xir_str text);
void mix_text_free(mix_text *out);
/* Returns true if a row can name an op. */
bool mix_has_name(const xir_network *net, const xir_op *op);

#endif
