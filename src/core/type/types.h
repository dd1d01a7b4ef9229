/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Constructors of layouts, types and their arrays, like the public ones but for any pool; and lists of runs. */
#ifndef CORE_TYPES_H
#define CORE_TYPES_H

#include "context.h"
#include "forms.h"

/* ---- runs -------------------------------------------------------------------------------------------------- */

/* A growing list of runs in canonical form: ends grow, and neighbours differ (reals by their bits). A short list, which
 * most are, allocates nothing. The struct must not be moved. */
enum { RUNS_FEW = 4 };
typedef struct run_list {
    const xir_allocator *alloc;
    xir_run *data;
    size_t   size, room;
    xir_run  few[RUNS_FEW];
} run_list;

void run_list_init(run_list *l, const xir_allocator *alloc);
void run_list_free(run_list *l);
/* Appends `count` equal items. XIR_E_BOUNDS if `count` is negative, XIR_E_LIMIT beyond INT64_MAX items; then the
 * list is unchanged. */
xir_status run_list_add(run_list *l, int64_t count, int64_t m, int64_t exp, float value);
/* Appends the items [start, end) of runs. Fails like run_list_add. */
xir_status run_list_append(run_list *l, xir_runs runs, int64_t start, int64_t end);
/* Sets m of the items [start, end), and everything else to 0. XIR_E_BOUNDS outside. Linear in the runs after the
 * start of the range. */
xir_status run_list_set(run_list *l, int64_t start, int64_t end, int64_t m);
/* Removes the items from `total` on. */
void run_list_cut(run_list *l, int64_t total);
static inline xir_runs run_list_runs(const run_list *l) { return (xir_runs){ l->data, l->size }; }

/* The number of items; the run of item i, NULL if there is no such item. Logarithmic. */
static inline int64_t runs_total(xir_runs runs) { return runs.size ? runs.data[runs.size - 1].end : 0; }
const xir_run *runs_find(xir_runs runs, int64_t i);
bool           runs_canonical(xir_runs runs);

/* ---- constructors: NULL without memory --------------------------------------------------------------------- */

/* The context must have this `kind`. */
const xir_target *target_make(object_pool *pool, xir_target_kind kind, xir_str core);
const xir_mtype  *mtype_make(object_pool *pool, xir_mtype_kind kind, uint64_t addr, uint64_t offset);

/* NULL with the error set if `axes` is not a layout; `base` is added to the error's place. */
/* A failed layout_make in a sentence: the text, what is wrong with it, and where. */
#define LAYOUT_REFUSED "layout '%.*s': %s, at character %zu"
const xir_layout *layout_make(object_pool *pool, xir_str axes, size_t base, form_error *why);
const xir_layout *layout_default(object_pool *pool, size_t rank);

/* Walks the axes of a layout; NULL has none:
 *     for (form_text t = layout_walk(layout); layout_next(&t, &a);) … */
typedef struct layout_axis {
    char    letter;
    int64_t unit;          /* 0 for upper-case letters and '*' */
    size_t  start, size;   /* in the text                      */
} layout_axis;
form_text layout_walk(const xir_layout *layout);
bool      layout_next(form_text *t, layout_axis *out);
/* Finds axis `i`; false if the layout has fewer. */
bool      layout_find(const xir_layout *layout, size_t i, layout_axis *out);
/* Returns true for a layout without tiles that has this rank. NULL has none. */
bool      layout_is_plain(const xir_layout *layout, size_t rank);
/* '*' counts as upper. A lower-case letter has a unit. */
bool      layout_is_upper(int c);
bool      layout_is_lower(int c);
#define AXIS_LETTER "an axis letter (N L H W D C I O * or n l h w d c i o)"
/* Writes the letters of the axes, up to `room`, and returns how many there are. */
size_t    layout_letters(const xir_layout *layout, char *out, size_t room);

/* `runs` must be canonical, with m 1 if valid and 0 if not. */
const xir_distr  *distr_make(object_pool *pool, xir_i64s axes, xir_runs runs, xir_uvalue uvalue, bool legacy);

/* `runs` must be canonical. */
const xir_scales      *scales_make(object_pool *pool, bool exp, xir_runs runs, int64_t axis);
const xir_norm_ratios *norm_ratios_make(object_pool *pool, xir_runs runs, int64_t axis);
/* Any of the three classes: scales, exponent scales, ratios. */
const xir_object      *array_make(object_pool *pool, class_number number, xir_runs runs, int64_t axis);
/* m * 2^-exp; exact except for an m above 2^53 and results outside the range of double. */
double scale_power(int64_t m, int64_t exp);

enum { TYPE_BITS_MOST = 65536 };   /* the widest integer; the bound of its row in types.def */
const xir_type *type_bool(object_pool *pool);
const xir_type *type_integer(object_pool *pool, bool sign, int64_t bits);   /* also NULL if the width is invalid */
const xir_type *type_float(object_pool *pool, xir_float_format format);
const xir_type *type_tensor(object_pool *pool, const xir_type *element, const xir_layout *layout, xir_i64s shape,
                            xir_refs distrs);

/* A dim by index, from the end if negative, as the type has it: symbolic ones too. 0 past the end. */
int64_t type_dim(const xir_type *type, int64_t i);

/* The index of the distribution over exactly these dims; the number of distributions if there is none. */
size_t tensor_find_distr(const xir_tensor_type *tensor, const int64_t *axes, size_t n);

/* ---- failing ------------------------------------------------------------------------------------------------ */

/* Add a finding and return NULL, so that a constructor can `return refuse(…)`. */
const void *refuse(xir_diags *why, xir_status code, const char *where, const char *format, ...) XIR_PRINTF(4, 5);
const void *out_of_memory(xir_diags *why);

/* ---- targets ------------------------------------------------------------------------------------------------ */

static inline bool target_is_host(const xir_target *target) {
    return !target || object_what(target) == 1 + XIR_TARGET_HOST;
}

/* Stores the rows of targets.def in a context that has their classes. */
void targets_builtin(xir_context *ctx);

/* Seals the classes of rows on the stage; rows of classes may then refer to them, so they come before other classes. On
 * failure the context is unchanged. Entering, with the context's lock and after stage_enter, cannot fail. */
xir_status targets_stage(class_stage *stage, const xir_target_row *const *rows, size_t n, xir_diags *why);
void       targets_enter(xir_context *ctx, size_t n);

/* ---- rules ------------------------------------------------------------------------------------------------- */

/* Receives faults: one call per fault; `where` is a path below the object. */
typedef struct fault_sink {
    void (*fault)(void *user, const char *where, const char *sentence);
    void  *user;
    size_t count;
} fault_sink;
void fault(fault_sink *sink, const char *where, const char *format, ...) XIR_PRINTF(3, 4);

void layout_faults(const xir_layout *layout, fault_sink *sink);
/* Checks layout and distributions against the shape. */
void tensor_faults(const xir_tensor_type *tensor, fault_sink *sink);

/* The rules of types.def. Arrays, distributions and layouts made here always satisfy them; they are for bodies that a
 * program filled by hand. */
xir_status xir_tensor_type_check(xir_infer *at);
xir_status xir_layout_object_check(xir_infer *at);
xir_status xir_distr_object_check(xir_infer *at);
xir_status xir_array_object_check(xir_infer *at);
xir_status xir_scale_object_check(xir_infer *at);

#endif
