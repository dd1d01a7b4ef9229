/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declarations for the files of the family `attention`: dims and ops, and the parts of an attention that were
 * found. */
#ifndef PASSES_FUSE_ATTENTION_H
#define PASSES_FUSE_ATTENTION_H

#include "fuse/fuse.h"
#include "support/upkeep.h"
#include "symbol.h"

/* The most masks of one attention, the most ops that it can consist of, and the largest rank that is looked at. */
enum { MOST_MASKS = 4, MOST_INNER = 24, MOST_DIMS = 5 };

/* One mask, in the way in which the network applies it: added, or chosen by a condition. */
typedef struct mask_part {
    xir_value *addend;      /* NULL: chosen                                                            */
    bool       apart;       /* the addend has one more dim: scores are [batch, windows, heads, …] there, or
                             * [batch, heads, …], where the batch had the heads                        */
    xir_value *condition, *number;
    double     low;         /* the number, which scores become                                         */
    bool       keeps;       /* the condition is true where a score stays                               */
} mask_part;

typedef struct attention {
    const xir_type *scores;                /* the type of the scores                                    */
    xir_value      *q, *k, *v;
    int64_t         k_order[MOST_DIMS];    /* the transposition that k needs                            */
    bool            k_moves;
    double          scale, softcap;
    mask_part       masks[MOST_MASKS];     /* as they are applied, the last one first                   */
    size_t          n_masks;
    xir_value      *wide;                  /* the scores while they have one more dim; NULL: never       */
    xir_value      *folded;                /* q before, if q, k and v had their heads in the batch and are
                                            * [batch, heads, length, size] now; NULL: they are unchanged      */
    xir_op         *inner[MOST_INNER];     /* ops that nothing else needs: the users before what they use */
    size_t          n_inner;
} attention;

/* The dims of a type; empty if it is not a tensor. */
static inline xir_i64s dims_of(const xir_type *type) {
    const xir_tensor_type *tensor = type ? xir_type_as_tensor(type) : NULL;
    return tensor ? tensor->shape : (xir_i64s){ NULL, 0 };
}

static inline size_t rank_of(const xir_value *v) { return dims_of(v->type).size; }
static inline int64_t dim_at(const xir_value *v, size_t i) { return dims_of(v->type).data[i]; }

/* Returns true if two dims are equal whatever the symbols stand for. */
static inline bool dims_agree(int64_t a, int64_t b) { return a == b && (a >= 0 || dim_is_symbolic(a)); }

/* Returns true if two tensors have the same elements in provably the same dims. */
bool same_tensors(const xir_type *a, const xir_type *b);
/* Returns true if the dims of a value are exactly these. */
bool has_dims(const xir_value *v, const int64_t *dims, size_t n);
/* Returns true if a Transpose has this order. */
bool transposes_by(const xir_op *op, const int64_t *order, size_t n);
/* The op, if a pass may look through it: on the host, one output, all inputs that its class needs, no attributes that
 * the class does not declare, no feature map in normalised numbers. NULL otherwise. */
xir_op *plain_maker(const xir_value *v);

/* attention_masks.c: whether our Attention can apply the masks; and the mask that it gets, NULL for none. *ok is false
 * if a call failed. Then the dims of an addend with windows, [batch, windows, heads, length, keys]; false if they are
 * not known. And a Reshape to at most 5 dims. */
bool       masks_fit(const attention *a);
xir_value *make_mask(xir_at at, const attention *a, bool *ok);
bool       window_dims(const xir_value *addend, int64_t out[5]);
xir_value *reshaped(xir_at at, xir_value *v, const int64_t *dims, size_t n);

/* attention_windows.c: whether a mask is for windows of a batch without a number; whether windows can be heads then.
 * Query, key or value with windows as heads, the result without, and the mask; NULL if a call failed. */
bool       windows_are_open(const attention *a);
bool       windows_fit(const attention *a);
xir_value *windows_to_heads(xir_at at, const attention *a, xir_value *v);
xir_value *windows_from_heads(xir_at at, const attention *a, xir_value *v, const xir_layout *layout);
xir_value *make_window_mask(xir_at at, const attention *a);

#endif
