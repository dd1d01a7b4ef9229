/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A comparison from inside: two sides, what of one belongs to what of the other, and what was found so far. */
#ifndef COMPARE_COMPARISON_H
#define COMPARE_COMPARISON_H

#include <string.h>
#include <xir/xir.h>
#include "no_memory.h"

/* A value without a number, or without a partner. */
#define NO_NUMBER UINT32_MAX

/* The values that ops of the execution order make, numbered in this order. */
typedef struct compare_side {
    const xir_network *net;        /* NULL: the other side of a folder                                    */
    size_t             n, slots;
    uint32_t          *first;      /* by slot of an op: the number of its first output, or NO_NUMBER      */
    const xir_value  **values;     /* by number, like the lists below                                     */
    uint32_t          *partner;    /* the number in the other side, or NO_NUMBER                          */
    uint32_t          *pair;       /* the index of the pair, or NO_NUMBER                                 */
    unsigned char     *by;         /* of a value with a partner: an xir_compare_by                        */
    bool              *is_output;  /* the Output op reads the value                                       */
} compare_side;

/* The files of a folder, sorted by name. */
typedef struct compare_folder {
    char     *path;
    char    **files;
    size_t    n, room;
    uint32_t *file_of;             /* by number of a value of the network: its file, or NO_NUMBER         */
    bool     *taken;               /* by file: a value has it                                             */
} compare_folder;

/* For each figure, the sum and the number of its finite values: their quotient is the mean. */
enum { FIGURES = 5 };
typedef struct compare_sums {
    double sum[FIGURES];
    size_t n[FIGURES];
} compare_sums;

/* An order of elements that is not row-major in the value's own dims: an array of these dims, with its axes in this
 * order, has its elements where the first network has them. */
enum { MOST_AXES = 16, MOST_KEPT_AXES = 8 };
typedef struct compare_order {
    unsigned char rank;            /* 0: the order is known from the types alone, or not kept */
    bool          plain;           /* row-major, though the types say that axes have moved    */
    unsigned char axes[MOST_KEPT_AXES];
    int64_t       dims[MOST_KEPT_AXES];
} compare_order;

struct xir_compare {
    xir_context         *ctx;
    const xir_allocator *alloc;
    xir_compare_options  how;
    compare_side         a, b;
    compare_folder       folder;
    xir_compare_pair    *pairs;
    compare_sums        *sums;     /* by pair, and so are */
    compare_order       *orders;   /* the orders in which values of the second side were found */
    size_t               n_pairs, samples;
};

/* Returns `n` zeroed items, NULL without memory; none for 0 items is one item. Give back with the same numbers. */
static inline void *compare_new(const xir_allocator *alloc, size_t n, size_t size) {
    if (n >= SIZE_MAX / size) return NULL;
    void *items = alloc->resize(alloc->user, NULL, 0, (n + 1) * size);
    if (items) memset(items, 0, (n + 1) * size);
    return items;
}

static inline void compare_drop(const xir_allocator *alloc, void *items, size_t n, size_t size) {
    if (items) alloc->resize(alloc->user, items, (n + 1) * size, 0);
}

/* ---- pairs.c ----------------------------------------------------------------------------------------------------- */

/* The number of a value; NO_NUMBER for Params, values of sub ops and of other networks. */
uint32_t   compare_number(const compare_side *side, const xir_value *value);
bool       compare_is_input(const compare_side *side, const xir_value *value);
/* Numbers the values of a network. False without memory. */
bool       compare_open_side(compare_side *side, const xir_network *net, const xir_allocator *alloc);
void       compare_close_side(compare_side *side, const xir_allocator *alloc);
/* Finds the partners of all values of two networks. */
xir_status compare_find_partners(xir_compare *c, xir_diags *why);

/* ---- folder.c ---------------------------------------------------------------------------------------------------- */

/* Lists the folder, and finds the files of all values of the network. */
xir_status compare_open_folder(xir_compare *c, xir_diags *why);
void       compare_close_folder(xir_compare *c);
/* Reads the file of the i-th value, which has one. */
xir_status compare_read_file(const xir_compare *c, size_t i, xir_array **out, xir_diags *why);

/* ---- follow.c ---------------------------------------------------------------------------------------------------- */

/* The positions of the elements of one type in another one. */
typedef enum compare_places {
    PLACES_SAME,      /* in the same order, row-major         */
    PLACES_MOVED,     /* the axes are in another order        */
    PLACES_NONE       /* nobody can say                       */
} compare_places;

compare_places compare_places_of(const xir_type *from, const xir_type *to);
/* The same for an array of a file: letters do not count. */
compare_places compare_places_of_file(const xir_type *from, const xir_type *to);
/* The order in which channels were moved to the last axis, or from there, whatever else the dims allow; false if they
 * do not allow that. */
bool           compare_other_order(const xir_type *from, const xir_type *to, bool last, compare_order *order);
/* Sets *out to the array with its elements in the order of another type, for the caller to free; to NULL if nobody can
 * say which that is. `order` gets the order that it had, if that is another one. */
xir_status     compare_follow(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                              compare_order *order, xir_diags *why);
/* The elements of a flat array that are in an order, in that of the first network; and back. *out is NULL if the array
 * does not have as many. */
xir_status     compare_unfold(const xir_compare *c, const xir_array *array, const compare_order *order, xir_array **out,
                              xir_diags *why);
xir_status     compare_fold(const xir_compare *c, const xir_array *array, const compare_order *order, xir_array **out,
                            xir_diags *why);
/* The same elements in the same order under the dims and the layout of another type; NULL if it has other dims. */
xir_status     compare_relabel(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                               xir_diags *why);
/* As compare_follow, and with the dims and elements of that type. */
xir_status     compare_fit(const xir_compare *c, const xir_array *array, const xir_type *to, xir_array **out,
                           xir_diags *why);

/* ---- figures.c --------------------------------------------------------------------------------------------------- */

typedef struct compare_measure {
    xir_compare_figures figures;
    uint64_t            differ, of, at;
    double              expected, found;   /* at `at` */
} compare_measure;

/* Measures two arrays of as many elements each, in the same order. */
xir_status compare_measure_pair(const xir_compare *c, const xir_array *expected, const xir_array *found,
                                compare_measure *out, xir_diags *why);
bool       compare_is_bad(const xir_compare *c, const compare_measure *m);
/* Adds a sample to a pair. The second is for a sample of another shape. */
void       compare_note(xir_compare *c, size_t pair, const compare_measure *m);
void       compare_note_shape(xir_compare *c, size_t pair);

#endif
