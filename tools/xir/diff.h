/* xir diff: which ops of two networks are the same (match.c), what of them differs (diff.c, fields.c), by how much (values.c),
 * and how that is said (report.c). */
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
    bool     integers;            /* then exactly:                                                    */
    uint64_t largest_integer;
    int64_t  ia, ib;
    bool     is_unsigned;         /* ia and ib are bits of unsigned numbers                           */
} value_diff;

/* Compares the bytes of two Params, which both have bytes. Floats that differ by at most `tolerance` are the same. */
value_diff compare_values(const xir_value *a, const xir_value *b, double tolerance);

/* ---- the whole ----------------------------------------------------------------------------------- */

/* Params that were compared: those that several ops use are compared where they are used first. */
typedef struct params_pair {
    const xir_value *a, *b;
} params_pair;

typedef struct diffing {
    mates         m;
    bool          json, with_params, with_ids;
    double        tolerance;
    size_t        added, removed, moved, changed;   /* ops                                       */
    size_t        records;                          /* differences of any kind                   */
    size_t        renumbered;                       /* ops and values that have another id       */
    bool          network;                          /* the network's own fields differ           */
    const xir_op *shown;                            /* whose heading was printed last            */
    params_pair  *seen;                             /* open addressing                           */
    size_t        seen_room, seen_count;
} diffing;

/* Where a difference is: in which ops, and in which field of them. */
typedef struct spot {
    const xir_op *a, *b;     /* both NULL: in the network */
    text         *field;     /* "outputs/0/dtype"         */
} spot;

/* Goes into a part of a field; leave with what it returned. */
size_t into(const spot *s, xir_str part);
size_t into_index(const spot *s, size_t i);
void   leave(const spot *s, size_t size);

/* ---- saying it ----------------------------------------------------------------------------------- */

/* One field has other values, given as JSON; NULL where there is none. Frees the texts. */
void report_change(diffing *d, const spot *s, text *a, text *b);
/* The same where they are words about the file, not what it says. */
void report_words(diffing *d, const spot *s, text *a, text *b);
void report_values(diffing *d, const spot *s, const value_diff *v, const xir_type *type);
/* "added", "removed" or "moved"; `after` is the op before it in either network. */
void report_op(diffing *d, const char *change, const spot *s, const xir_op *after_a, const xir_op *after_b);
/* "icraft::xir::Conv2d 'c1' (op 3)" */
void describe(text *t, const xir_op *op);

/* ---- fields: each goes into the part of this name, NULL: where it is ----------------------------- */

void compare_texts(diffing *d, const spot *s, const char *part, xir_str a, xir_str b);
void compare_numbers(diffing *d, const spot *s, const char *part, int64_t a, int64_t b);
void compare_objects(diffing *d, const spot *s, const char *part, const xir_object *a, const xir_object *b);
void compare_maps(diffing *d, const spot *s, const char *part, const xir_map *a, const xir_map *b);
/* What a value says of itself; not who makes it. */
void compare_value(diffing *d, const spot *s, const xir_value *a, const xir_value *b);
void compare_params(diffing *d, const spot *s, const xir_value *a, const xir_value *b);
/* Undeclared attributes too; not sub ops. */
void compare_attrs(diffing *d, const spot *s);

#endif
