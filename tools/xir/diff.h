/* xir diff: which ops of two networks are the same (match.c), what of them differs (diff.c), and by how much (values.c). */
#ifndef DIFF_H
#define DIFF_H

#include "cli.h"

/* ---- matching ------------------------------------------------------------------------------------ */

/* The ops of two networks, and their mates in the other one by slot; NULL: none. */
typedef struct mates {
    const xir_network *a, *b;
    xir_op           **of_a, **of_b;
    uint32_t          *index_a, *index_b;   /* by slot: positions in the lists that are looked at */
} mates;

void    mates_init(mates *m, const xir_network *a, const xir_network *b);
void    mates_free(mates *m);
xir_op *mate_of_a(const mates *m, const xir_op *op);
xir_op *mate_of_b(const mates *m, const xir_op *op);

/* Finds mates among two lists, which are the ops of the networks or the sub ops of two mates. */
void match_ops(mates *m, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b);

/* Marks what has moved: with the fewest ops moved, the order of the mates is the same. moved[i] is about a[i]. */
void find_moved(const mates *m, xir_op *const *a, size_t n_a, xir_op *const *b, size_t n_b, bool *moved);

bool same_class(const xir_class *a, const xir_class *b);

/* ---- values -------------------------------------------------------------------------------------- */

/* How the bytes of two Params differ. */
typedef struct value_diff {
    bool     differ;
    bool     by_bytes;            /* of a type whose elements mean nothing here: counts are of bytes */
    uint64_t count, of;           /* how many elements differ, of how many                            */
    uint64_t at;                  /* where the difference is largest; the first place, by bytes       */
    double   largest, a, b;       /* there                                                            */
    bool     integers;            /* exactly: */
    uint64_t largest_integer;
    int64_t  ia, ib;
    bool     is_unsigned;
} value_diff;

/* Compares the bytes of two Params, which both have bytes. Floats that differ by at most `tolerance` are the same. */
value_diff compare_values(const xir_value *a, const xir_value *b, double tolerance);

#endif
