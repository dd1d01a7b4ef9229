/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The trial of a plug-in. A draw is an op that is not made yet: kinds and numbers, so that it can be made again in
 * another network. Steps make ops of draws, ask them, and name what is wrong. */
#ifndef TRIAL_TRYING_H
#define TRIAL_TRYING_H

#include <xir/xir.h>
#include "no_memory.h"

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* An allocator on top of another one: it refuses one request if asked to, fills new memory with a byte, and finds
 * writes past the end of a block. */
typedef struct trial_memory {
    const xir_allocator *under;
    struct trial_block  *first;
    uint64_t             count;     /* requests since the last refusal was set                           */
    uint64_t             refuse;    /* the request that is refused, from 1; 0: none                      */
    bool                 refused;   /* it has been                                                       */
    bool                 spoiled;   /* a block that is freed had been written past its end               */
    bool                 ran_out;   /* the allocator under it has refused: findings would mean little    */
    unsigned char        fill;
} trial_memory;

void *trial_resize(void *user, void *block, size_t old_size, size_t size);
/* Returns true if a block, freed by now or not, was written past its end, and forgets it. */
bool trial_memory_is_spoiled(trial_memory *m);

/* ---- draws ------------------------------------------------------------------------------------------------------- */

enum { MOST_INPUTS = 12, MOST_OUTPUTS = 16, MOST_FIELDS = 48, MOST_ITEMS = 8, MOST_RANK = 5, LINE_ROOM = 600 };

typedef enum drawn_element {
    DRAWN_FP32, DRAWN_FP64, DRAWN_I64, DRAWN_I32, DRAWN_BOOL, DRAWN_U8, DRAWN_FP16, DRAWN_BF16, DRAWN_ELEMENTS
} drawn_element;

/* The type of an input, or of Params. Dims are XIR_UNKNOWN_DIM or from 0 on. */
typedef struct drawn_type {
    drawn_element element;
    size_t        rank;
    int64_t       dims[MOST_RANK];
    unsigned      layout;           /* 0: the default of the rank; others: one of those of the rank      */
} drawn_type;

typedef struct drawn_input {
    bool       present, constant;
    drawn_type type;
} drawn_input;

/* An attribute that is not the default. `n` is the length of a list, and of a text. */
typedef struct drawn_field {
    bool       set, is_null;
    size_t     n;
    int64_t    whole[MOST_ITEMS];
    double     real[MOST_ITEMS];
    unsigned   object;              /* what a reference refers to: drawn_object in make.c                 */
    drawn_type type;                /* of Params, and of a type that is referred to                      */
} drawn_field;

typedef struct drawn {
    size_t      n_inputs, n_fields;
    drawn_input inputs[MOST_INPUTS];
    drawn_field fields[MOST_FIELDS];
    uint64_t    seed;               /* of its constants                                                  */
} drawn;

/* A network with an Input for the inputs that are variable, and the op. */
typedef struct made {
    xir_network *net;
    xir_op      *op;                /* NULL: it was refused, and the network has the finding              */
} made;

/* The faults that are named once a class. */
typedef enum fault_kind {
    FAULT_SILENT, FAULT_RESULTS, FAULT_CHECK_PURE, FAULT_INFER_PURE, FAULT_CHANGES, FAULT_OPEN,
    FAULT_KNOWN, FAULT_WORK, FAULT_NEEDS_FAILS, FAULT_MEMORY, FAULT_KERNEL_FAILS, FAULT_KERNEL_PURE,
    FAULT_KERNEL_CHANGES, FAULT_KERNEL_BEYOND, FAULT_DIFFERS, FAULT_PARTS, FAULT_OVER, FAULT_VIEW, FAULT_PLAN,
    FAULT_NEEDS_LITTLE, FAULT_NEEDS_MUCH, FAULT_LAYOUT, FAULT_TILES, FAULT_KINDS
} fault_kind;

typedef struct trying {
    xir_context             *ctx;       /* of the trial, with the plug-in                                 */
    trial_memory             memory;
    const xir_trial_options *how;
    xir_trial                done;
    xir_diags               *why;       /* of the caller                                                  */
    const xir_class         *cls;
    uint64_t                 seed;
    bool                     told[FAULT_KINDS];
    bool                     has_kernel;
    size_t                   exact, much;  /* ops whose NEEDS was compared; those of which it names more   */
    char                     line[LINE_ROOM];   /* shows the draw that is tried                           */
} trying;

/* A random number below n. */
uint64_t trial_below(trying *t, uint64_t n);
bool     trial_once_in(trying *t, uint64_t n);

/* A random draw; one that differs in one thing, or in what `blamed` names: "inputs/1", "axis". */
void trial_draw(trying *t, drawn *d);
void trial_vary(trying *t, drawn *d, xir_str blamed);

/* Makes the op of a draw in a network of its own, which trial_unmake frees. net is NULL without memory, also if that
 * was refused on purpose for what the op is made of. */
made trial_make(trying *t, const drawn *d);
void trial_unmake(made *m);
/* Writes the draw as one line into t->line: "acme::Foo(fp32 NHWC [1,2,2,3], _) axis=1". */
void trial_show(trying *t, const drawn *d);

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* The arrays of a run, by input of the op; NULL for constants and absent inputs. */
typedef struct arrays {
    size_t     n_in, n_out;
    xir_array *in[MOST_INPUTS], *out[MOST_OUTPUTS];
    xir_numbers range[MOST_INPUTS];     /* that the inputs take */
} arrays;

/* Random inputs, within what TAKES rows name. False if the types cannot be had as arrays. */
bool       trial_inputs(trying *t, const made *m, uint64_t seed, arrays *a);
xir_status trial_run(const made *m, arrays *a, xir_diags *why);   /* a->out must be empty */
void       trial_free_outputs(arrays *a);
void       trial_free(arrays *a);
bool       trial_same_array(const xir_array *a, const xir_array *b);
/* Returns true if single elements of the array can be set (trial_set). */
bool       trial_can_set(const xir_array *a);
void       trial_set(xir_array *a, size_t i, double v);

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Says what runs now; then the class, the step and the line are shown to options.doing. */
void trial_step(trying *t, const char *step);
/* Names a fault, unless the class has one of this kind. The sentence goes on from "acme::Foo: ". */
void trial_fault(trying *t, fault_kind kind, const char *format, ...) XIR_PRINTF(3, 4);

/* The first finding of a network, or of a list, which may be NULL; NULL if there is none. */
const xir_diag *trial_finding(const made *m);
const xir_diag *trial_first(const xir_diags *found);

/* Each tries one legal op. */
void trial_ask(trying *t, const drawn *d, const made *m);          /* ask.c: pure, open dims, work       */
void trial_hostile(trying *t, const made *m);                      /* hostile.c                          */
void trial_kernel(trying *t, const drawn *d, const made *m);       /* run.c                              */
bool trial_depends(trying *t, const made *m);                      /* depends.c: NEEDS, SHARES (OVER), LAYOUT;
                                                                      true if that was worth while */
void trial_shares(trying *t, const drawn *d, const made *m);       /* shares.c: in the memory of a plan  */
void trial_tiles(trying *t, const drawn *d);                       /* tiles.c                            */
void trial_refused(trying *t, const drawn *d);                     /* refused.c                          */

#endif
