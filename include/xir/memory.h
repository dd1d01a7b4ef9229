/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory plans: an offset for every buffer, so that buffers that live at the same time share no bytes, and so that they
 * need few bytes in all. A plan knows nothing of networks; the last section makes buffers of the values of one.
 *
 *     const xir_buffer buffers[] = { { .from = 0, .to = 1, .size = 64 }, { .from = 1, .to = 2, .size = 32 },
 *                                    { .from = 2, .to = 2, .size = 64 } };
 *     xir_memory_plan *plan = xir_memory_plan_new(ctx, buffers, 3, NULL, why);
 *     if (plan) use(xir_memory_plan_offsets(plan));                                 // 0, 64, 0
 *     xir_memory_plan_free(plan);
 *
 * A plan depends on the buffers and the options alone: it has the same offsets on every machine. Where buffers are
 * equal, their order decides which of them gets which offset, and nothing else.
 *
 * Work is counted in steps, never in seconds. A step is one look at one buffer, and takes 1 to 4 ns. */
#ifndef XIR_MEMORY_H
#define XIR_MEMORY_H

#include <xir/liveness.h>
#include <xir/place.h>

XIR_BEGIN

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

/* A buffer is in the bytes from its offset on, from the moment `from` to the moment `to`. Moments are numbers of any
 * kind, such as positions of ops. A buffer without bytes shares none and gets the offset 0.
 *
 * A buffer that is not fixed takes its size rounded up to its alignment. A fixed one takes exactly its size. */
typedef struct xir_buffer {
    int64_t  from, to;   /* the first and the last moment of its life, both included                    */
    uint64_t size;       /* bytes                                                                       */
    uint64_t align;      /* its offset is a multiple of this power of two; 0 is 1                       */
    uint64_t offset;     /* of a fixed buffer; others ignore it                                         */
    bool     fixed;      /* the plan keeps `offset`, and places the others around it. One without bytes
                            ends nowhere: it raises no peak and exceeds no limit                        */
    uint32_t group;      /* buffers of one group may share bytes at any time; 0: of no group. A plan
                            does not use that: it only accepts fixed buffers that do                    */
} xir_buffer;

/* ---- plans ------------------------------------------------------------------------------------------------------- */

/* The effort of a plan. It needs at most as many bytes as a plan of less effort. */
typedef enum xir_effort {
    XIR_EFFORT_DEFAULT,  /* XIR_EFFORT_ORDERS                                                           */
    XIR_EFFORT_SWEEP,    /* 0: moment by moment into the smallest gap; O(n log n). If buffers are fixed,
                            the orders too                                                              */
    XIR_EFFORT_ORDERS,   /* 1: also in several orders: by size, life and start; the best plan wins      */
    XIR_EFFORT_SEARCH,   /* 2: also a search from the best plan downwards, until no plan needs fewer
                            bytes, or no step is left                                                   */
    XIR_EFFORT_COUNT
} xir_effort;

typedef struct xir_memory_options {
    uint32_t   size;     /* XIR_INIT(xir_memory_options)                                                */
    xir_effort effort;
    uint64_t   limit;    /* bytes that there are. The first plan within them is good enough for a
                            search; 0: there is no limit                                                */
    uint64_t   steps;    /* the most steps of a search; 0: 2^29, which take 1 to 2 s. The orders have a
                            budget of their own, which is linear in the buffers                         */
    /* A search calls it now and then, from the thread that plans. True ends it: XIR_E_CANCELLED. NULL: never. */
    bool     (*cancel)(void *user);
    void      *user;
} xir_memory_options;

typedef struct xir_memory_plan xir_memory_plan;

/* Plans `n` buffers; NULL options are the default. The buffers are only read, and are not needed afterwards. Up to
 * XIR_EFFORT_ORDERS about 110 bytes of memory for each buffer are used, and up to 200 if most of the buffers live at
 * the same time. Several threads may plan at a time, and may ask one plan. Returns NULL with a finding, whose path is
 * "/I" for buffer I:
 *   XIR_E_MISSING  `ctx`, or `buffers` without `n` being 0, is NULL
 *   XIR_E_INVALID  a life ends before it begins; an alignment is not a power of two; a fixed offset is not a multiple
 *                  of the alignment; fixed buffers that live at the same time overlap and are not of one group
 *   XIR_E_BOUNDS   the effort is not one of the enum; a buffer ends beyond 2^63 - 1
 *   XIR_E_LIMIT    the buffers need more than `limit`, or no plan within it was found: the sentence says which.
 *                  There are more than 2^32 - 2 buffers, or no plan that ends within 2^63 - 1 was found
 *   XIR_E_CANCELLED                `cancel` returned true
 *   XIR_E_ABI, XIR_E_UNSUPPORTED   the options do not have their size, or set members that this library does not know
 *   XIR_E_MEMORY
 * xir_memory_plan_free accepts NULL. */
XIR_API xir_memory_plan *xir_memory_plan_new(xir_context *ctx, const xir_buffer *buffers, size_t n,
                                             const xir_memory_options *options, xir_diags *why);
XIR_API void             xir_memory_plan_free(xir_memory_plan *plan);

/* The number of buffers, and the offset of each, in their order. They live as long as the plan. 0 and NULL for NULL. */
XIR_API size_t          xir_memory_plan_count(const xir_memory_plan *plan);
XIR_API const uint64_t *xir_memory_plan_offsets(const xir_memory_plan *plan);

typedef struct xir_memory_peak {
    uint32_t   size;     /* XIR_INIT(xir_memory_peak)                                                   */
    bool       least;    /* no plan needs fewer bytes: the peak is the bound, or the search proved it   */
    uint64_t   bytes;    /* that the plan needs: the greatest end of a buffer                           */
    uint64_t   bound;    /* that every plan needs: the greatest sum of bytes that live together, those of
                            groups not counted; and the ends of fixed buffers                           */
    int64_t    moment;   /* the first at which the most bytes live; 0 if there are no buffers           */
    uint64_t   steps;    /* that were taken                                                             */
} xir_memory_peak;

/* XIR_E_MISSING if `plan` is NULL, XIR_E_ABI. */
XIR_API xir_status xir_memory_plan_peak(const xir_memory_plan *plan, xir_memory_peak *out, xir_diags *why);

/* ---- the checker ------------------------------------------------------------------------------------------------- */

/* Checks offsets for `n` buffers, however they were made, with code of its own: buffers that live at the same time
 * share no bytes unless they are of one group; fixed ones are where they should be; offsets are multiples of the
 * alignment; all ends are at most `limit`, 0 for no limit. Sizes are not rounded up. O(n log n). XIR_OK, or a finding
 * for each fault, with a path "/I":
 *   XIR_E_INVALID  a buffer overlaps another, which is named; it is off its alignment; a fixed one is elsewhere; or a
 *                  buffer is malformed: its life ends before it begins, its alignment is not a power of two
 *   XIR_E_LIMIT    a buffer ends beyond the limit, or beyond 2^64 - 1; there are more than 2^32 - 2 buffers
 *   XIR_E_MISSING  `ctx`, or `buffers` or `offsets` without `n` being 0, is NULL
 *   XIR_E_MEMORY
 * Of a buffer that overlaps several, one is named; and buffers are not compared with those that are in a finding
 * because they overlap another. If a buffer is malformed or ends beyond 2^64 - 1, none are compared. Returns the status
 * of the first finding. */
XIR_API xir_status xir_memory_plan_check(xir_context *ctx, const xir_buffer *buffers, const uint64_t *offsets, size_t n,
                                         uint64_t limit, xir_diags *why);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Buffers as lines of numbers, in the columns of MiniMalloc: the first line names the columns, in any order.
 *
 *     id,lower,upper,size          id              any text; buffer, buffer_id
 *     0,0,3,64                     lower           the first moment of the life; start, begin
 *     1,3,9,32                     upper           the first moment after it; `end` is the last moment of it
 *                                  size            bytes
 *                                  alignment       a power of two; may be missing
 *                                  offset          of a plan; may be missing
 *
 * Reads the text into *buffers, an array of *n that xir_memory_csv_free takes back; *offsets gets an array of as many
 * if there is a column of offsets, otherwise NULL. Buffers are not fixed. Empty lines at the end are ignored.
 * XIR_E_SYNTAX for a line with another number of fields, for a field that is not an integer, and for columns that are
 * missing, appear twice or are others ("gaps", "hint"); XIR_E_BOUNDS for numbers that are negative or too large; with
 * the line. XIR_E_MISSING if `ctx` or a result is NULL, XIR_E_MEMORY. On failure nothing is stored. */
XIR_API xir_status xir_memory_csv_read(xir_context *ctx, xir_str text, xir_buffer **buffers, uint64_t **offsets,
                                       size_t *n, xir_diags *why);
XIR_API void       xir_memory_csv_free(xir_context *ctx, xir_buffer *buffers, uint64_t *offsets, size_t n);

/* ---- from a network ---------------------------------------------------------------------------------------------- */

/* The buffers of the values of a network: one for each set of values in the same bytes (views, in_place and parts of
 * liveness.h). Views of Params have none. Moments are positions of the order of ops.
 *
 * An xir::Call has one more, which has no first value, while it runs. The values that its body makes are in it, also
 * those of calls in the body, each at its byte: their plan depends on the body and the alignment alone. Values of a
 * body that stand for inputs and outputs of the call are in the buffers of these. Values of other sub ops have none. */
typedef struct xir_memory_buffers xir_memory_buffers;

typedef struct xir_memory_buffers_options {
    uint32_t size;         /* XIR_INIT(xir_memory_buffers_options)                                      */
    uint64_t align;        /* of every buffer; 0 is 1                                                   */
    int64_t  upper;        /* a value of unknown bytes is counted with this number for each symbol and each
                              unknown dim, or with the nearest one in the symbol's interval; 0: that is an error */
    /* Unless NULL: returns false for values that need no place. The others share their bytes as before. */
    bool   (*takes)(void *user, const xir_value *value);
    /* Unless NULL: returns true, and the offset, for values that have a place already. The first of a set decides. The
     * buffer of a call is fixed if all that its body makes has places, which are as in the plan of the body. */
    bool   (*is_fixed)(void *user, const xir_value *value, uint64_t *offset);
    void    *user;
} xir_memory_buffers_options;

/* Makes the buffers, in time linear in the ops. The network must outlive the result, the liveness need not; later
 * changes of the network do not change it. Returns NULL with a finding:
 *   XIR_E_MISSING  `l` is NULL
 *   XIR_E_BOUNDS   the bytes of a value are unknown or exceed 2^64 - 1, with its path, "/ops/3/outputs/0", or that of
 *                  the call in whose body it is; or `upper` is negative
 *   XIR_E_LIMIT    the bytes of the body of a call exceed 2^63 - 1, or more than 32 calls are within each other
 *   XIR_E_ABI, XIR_E_UNSUPPORTED   the options do not have their size, or set members that this library does not know
 *   XIR_E_MEMORY
 * xir_memory_buffers_free accepts NULL. */
XIR_API xir_memory_buffers *xir_memory_buffers_new(const xir_liveness *l, const xir_memory_buffers_options *options,
                                                   xir_diags *why);
XIR_API void                xir_memory_buffers_free(xir_memory_buffers *buffers);

/* The number of buffers, the buffers, and the first value of one; 0 and NULL past the end and for NULL; NULL for what
 * the body of a call makes. Buffers are in the order in which their first values are made. */
XIR_API size_t            xir_memory_buffers_count(const xir_memory_buffers *buffers);
XIR_API const xir_buffer *xir_memory_buffers_data(const xir_memory_buffers *buffers);
XIR_API const xir_value  *xir_memory_buffers_value(const xir_memory_buffers *buffers, size_t i);
/* The buffer of a value; SIZE_MAX if it has none. The second call returns the byte of the buffer at which the value
 * begins: parts (liveness.h) are inside of it; 0 if it has none. */
XIR_API size_t            xir_memory_buffers_find(const xir_memory_buffers *buffers, const xir_value *value);
XIR_API uint64_t          xir_memory_buffers_offset(const xir_memory_buffers *buffers, const xir_value *value);

/* xir_memory_plan_new of the buffers. After XIR_E_LIMIT a note says which op runs when the most bytes live,
 * and which values those are, the largest eight. */
XIR_API xir_memory_plan *xir_memory_buffers_plan(const xir_memory_buffers *buffers, const xir_memory_options *options,
                                                 xir_diags *why);

/* Gives all values of the buffers their memory types: on-chip or external memory at `at` + the offset of their buffer,
 * or the chunk with the number `at`, at that offset; parts begin further inside. Other values keep theirs.
 * XIR_E_MISSING if an argument is NULL, XIR_E_INVALID if the plan is not one of so many buffers, or a value is no
 * longer one of the network; XIR_E_BOUNDS if the kind has no addresses, or an address exceeds 2^63 - 1; XIR_E_MEMORY.
 * On failure nothing is changed. */
XIR_API xir_status xir_memory_assign(xir_network *net, const xir_memory_buffers *buffers, const xir_memory_plan *plan,
                                     xir_mtype_kind kind, uint64_t at, xir_diags *why);

typedef struct xir_memory_check_options {
    uint32_t size;         /* XIR_INIT(xir_memory_check_options)                                        */
    uint64_t onchip;       /* the bytes of on-chip memory; 0: as many as addresses                      */
    uint64_t align;        /* addresses are multiples of it; 0 is 1                                     */
} xir_memory_check_options;

/* Checks the memory types of a network's values and of the Params that its ops read, wherever they come from. Params
 * live all the time. What is on the host or has unknown bytes is passed over, and so are values that sub ops make,
 * except in the bodies of calls. Two values that live at the same time share no bytes, except where
 *   - they have the same address, and are in the same bytes by the rows of their classes (liveness.h, views and in
 *     place; a view of Params is in these), or one is the first output of an op that is made over an input: its row
 *     names the input, nothing reads that later, the op reads it through no other input, it is not a result of the
 *     network, and both have as many elements of as many bits;
 *   - an op of a class without rules (HardOp, unknown classes) reads or makes both: it may know what it does;
 *   - one is an input and the other an output of an op that joins or divides (DIVIDES, PICKS or JOINS in its SHARES
 *     row);
 *   - they are in the bytes of one value whose parts are all at their places in it, and nothing is written over bytes
 *     that are still needed.
 * In the body of an xir::Call, a value that stands for an input or output of the call is where that is. What the body
 * makes shares no bytes with what lives at the same time, in the body and outside of it.
 *
 * XIR_OK, or a finding for each value that breaks a rule, with a path: "/ops/3/outputs/0", "/ops/3/body/2/outputs/0";
 * of Params, that of the first input that reads them, "/ops/3/inputs/1":
 *   XIR_E_INVALID  the value overlaps another, which is named; or its address is off the alignment
 *   XIR_E_LIMIT    it ends beyond the on-chip memory or beyond 2^64 - 1; or so many values overlap, without being in
 *                  the same bytes by their rows, that not all can be compared
 *   XIR_E_MISSING  `net` is NULL
 *   XIR_E_ABI, XIR_E_UNSUPPORTED, XIR_E_MEMORY, and those of xir_liveness_new, if a value has an address
 * Returns the status of the first one. O(n log n) for what xir_memory_assign made, and if few other
 * values overlap. Only reads. */
XIR_API xir_status xir_memory_check(const xir_network *net, const xir_memory_check_options *options, xir_diags *why);

XIR_END

#endif
