/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The differences between two networks: which op of one corresponds to which op of the other, and how the two differ.
 * Ops are matched by name, by id, by content and by their neighbours, not by position; values by the ops that make
 * them, and Params by where they are used. So ids may differ, and the order of keys does not matter. Everything here
 * takes near-linear time in the sizes of both networks.
 *
 *     xir_diff *d = xir_diff_new(a, b, NULL, why);
 *     for (size_t i = 0; i < xir_diff_count(d); i++) show(xir_diff_at(d, i));
 *     xir_diff_free(d);
 */
#ifndef XIR_DIFF_H
#define XIR_DIFF_H

#include <xir/network.h>
#include <xir/params.h>

XIR_BEGIN

/* ---- elements -------------------------------------------------------------------------------------------------- */

/* The differences of the elements of two tensors. */
typedef struct xir_elements_diff {
    uint32_t size;              /* XIR_INIT(xir_elements_diff)                                                  */
    bool     by_bytes;          /* the types differ, or their elements are not numbers: all below refers to bytes */
    bool     integers;          /* the elements are integers: the _int members are exact, the reals are not set */
    bool     is_unsigned;       /* with `integers`: int_a and int_b are the bits of unsigned numbers            */
    bool     not_compared;      /* of Params: elements have other places, and no letters say which: all else is 0 */
    uint64_t differ, of;        /* how many elements differ, of how many; surplus elements of the longer differ */
    uint64_t at;                /* the element with the largest difference; by bytes, the first that differs    */
    double   largest, a, b;     /* for reals: the largest difference, and the two numbers there                 */
    uint64_t largest_int;
    int64_t  int_a, int_b;
} xir_elements_diff;

/* Compares `bytes_a` bytes at `a`, elements of `type_a` as files store them, with those at `b`. Neither needs any
 * alignment. Floats that differ by at most `tolerance` are equal; NaN equals NaN and is infinitely far from any number.
 * Integers are compared exactly. Fills `out`: `differ` is 0 if nothing differs. XIR_E_ABI if `out` does not have its
 * size. */
XIR_API xir_status xir_elements_compare(const xir_type *type_a, const void *a, uint64_t bytes_a,
                                        const xir_type *type_b, const void *b, uint64_t bytes_b, double tolerance,
                                        xir_elements_diff *out);

/* The same for the bytes of two Params. Where their layouts have the same letters in another order, elements are
 * compared with those at the same place of each letter; `at` is a place of `a`. XIR_E_TYPE if either is not Params,
 * XIR_E_MISSING if either has no bytes, XIR_E_MEMORY. */
XIR_API xir_status xir_params_compare(const xir_value *a, const xir_value *b, double tolerance, xir_elements_diff *out);

/* ---- making ---------------------------------------------------------------------------------------------------- */

enum {
    XIR_DIFF_IGNORE_NAMES = 1,  /* of ops, values and the network; ops are not matched by name either    */
    XIR_DIFF_IGNORE_ORDER = 2,  /* no op counts as moved                                                 */
};

typedef struct xir_diff_options {
    uint32_t size;              /* XIR_INIT(xir_diff_options)                                            */
    bool     match_only;        /* only match ops: no differences are computed                           */
    bool     ids;               /* also compare ids of ops and values                                    */
    bool     params;            /* compare Params by their bytes, otherwise only by type and size        */
    double   tolerance;         /* for floats, see xir_elements_compare                                  */
    uint64_t ignore;            /* a sum of XIR_DIFF_IGNORE_…                                            */
} xir_diff_options;

typedef struct xir_diff xir_diff;

/* Compares two networks of one context. NULL options are the default. Both networks must outlive the result. Several
 * threads may query it while neither network is edited. After an edit, only the matching of ops (xir_diff_in_a, _in_b)
 * may still be queried. Returns NULL with a finding in `why`, which may be NULL:
 *   XIR_E_MISSING   `a` or `b` is NULL
 *   XIR_E_INVALID   they belong to different contexts, or the tolerance is negative or not a number
 *   XIR_E_ABI, XIR_E_UNSUPPORTED   the options do not have their size, or set members that this library does not know
 *   XIR_E_MEMORY
 * Free with xir_diff_free, which accepts NULL. */
XIR_API xir_diff *xir_diff_new(const xir_network *a, const xir_network *b, const xir_diff_options *options,
                               xir_diags *why);
XIR_API void      xir_diff_free(xir_diff *diff);

/* Return the networks that were compared; NULL for NULL. */
XIR_API const xir_network *xir_diff_a(const xir_diff *diff);
XIR_API const xir_network *xir_diff_b(const xir_diff *diff);

/* ---- which op is which ----------------------------------------------------------------------------------------- */

/* Returns the matching op of the other network, for sub ops too; NULL if no op matches, if the op belongs to another
 * network, and for NULL. */
XIR_API xir_op *xir_diff_in_b(const xir_diff *diff, const xir_op *of_a);
XIR_API xir_op *xir_diff_in_a(const xir_diff *diff, const xir_op *of_b);

/* ---- what differs ---------------------------------------------------------------------------------------------- */

/* The kind of a difference. The kinds of all differences of an op are combined as bits. */
typedef enum xir_diff_kind {
    XIR_DIFF_REMOVED = 1,       /* the op is only in a                                                  */
    XIR_DIFF_ADDED   = 2,       /* the op is only in b                                                  */
    XIR_DIFF_MOVED   = 4,       /* one of the fewest ops that must move for a and b to have one order   */
    XIR_DIFF_CHANGED = 8        /* a field of the op or of the network differs                          */
} xir_diff_kind;

/* The content of a field in one network. */
typedef enum xir_diff_what {
    XIR_DIFF_NOTHING,           /* it does not have the field                                           */
    XIR_DIFF_ATTR,              /* an attribute, or another field as one: a text, a number, an object   */
    XIR_DIFF_ANY,               /* an undeclared attribute, or an item of a map                         */
    XIR_DIFF_INPUT,             /* the value of an input that differs. NULL: the input is absent        */
    XIR_DIFF_VALUE,             /* an output or Params that the other network does not have             */
    XIR_DIFF_BYTES,             /* Params with bytes, while those of the other network have none        */
    XIR_DIFF_ELEMENTS           /* Params whose bytes differ: see `elements`                            */
} xir_diff_what;

typedef struct xir_diff_side {
    xir_diff_what what;
    union {
        xir_attr         attr;  /* is_null: the object is absent             */
        const xir_any   *any;
        const xir_value *value; /* INPUT, VALUE, BYTES, ELEMENTS             */
    } as;
} xir_diff_side;

/* One difference. Everything it points to lives as long as the result and the networks. */
typedef struct xir_diff_item {
    xir_diff_kind            kind;
    xir_op                  *a, *b;             /* the op in each network; both NULL: the network itself        */
    xir_op                  *after_a, *after_b; /* not for CHANGED: the preceding op in each; NULL: it is the first */
    xir_str                  field;             /* CHANGED: "outputs/0/dtype/shape", a zero byte follows        */
    const xir_field         *attr;              /* CHANGED: the declared attribute itself, otherwise NULL       */
    xir_diff_side            in_a, in_b;
    const xir_elements_diff *elements;          /* for XIR_DIFF_ELEMENTS, otherwise NULL                        */
} xir_diff_item;

/* The differences: first those of the network itself; then, for each list of ops, the removed ops in the order of
 * `a`, followed by additions, moves and changes in the order of `b`. The sub ops of an op (XIR_KIND_OPS) follow it.
 * The count of a NULL diff is 0; the item past the end is NULL. */
XIR_API size_t                xir_diff_count(const xir_diff *diff);
XIR_API const xir_diff_item *xir_diff_at(const xir_diff *diff, size_t i);

/* Returns the differences of one op of either network, without those of its sub ops; for a NULL op, those of the
 * network itself. They are consecutive, and `n` receives their number. Without differences it returns NULL. */
XIR_API const xir_diff_item *xir_diff_of(const xir_diff *diff, const xir_op *op, size_t *n);

/* Returns the kinds of these differences as bits of xir_diff_kind. 0: the op is equal in both networks. */
XIR_API unsigned xir_diff_kinds(const xir_diff *diff, const xir_op *op);

/* The numbers of ops that differ, by kind. An op that moved and changed counts in both. */
typedef struct xir_diff_counts {
    uint32_t size;              /* XIR_INIT(xir_diff_counts)                                              */
    bool     network;           /* fields of the network itself differ                                    */
    uint64_t removed, added, moved, changed;
    uint64_t renumbered;        /* ops and values that differ only in the id, if nothing else differs     */
    uint64_t exchanged;         /* ops whose names look exchanged: matched by name, each of two has, in `b`, the class,
                                   attributes and types that the other one has in `a`                     */
    xir_op  *exchanged_a[2];    /* the first two of them, in `a`; NULL without any                       */
} xir_diff_counts;

/* Fills `out`; for a NULL diff all is 0. XIR_E_ABI if `out` does not have its size. */
XIR_API xir_status xir_diff_summary(const xir_diff *diff, xir_diff_counts *out);

XIR_END

#endif
