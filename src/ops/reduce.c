/* Reductions. Dims that are reduced have one element or are gone; what is said of the others (letters of the layout,
 * distributions, arrays of quantised types) goes with them. Padding takes no part, so a reduced dim leaves none behind. */
#include <inttypes.h>
#include "axes.h"
#include "element.h"
#include "sort.h"
#include "graph.h"
#include "types.h"

/* ---- which dims -------------------------------------------------------------------------------------------------- */

/* What is reduced: gone.data[k] is 1 if dim k is, otherwise 0. */
typedef struct reduction {
    bool     keepdim;
    dim_list gone;
} reduction;

/* One dim, or all; `r->gone` is made unless it fails. */
static xir_status read_dim(xir_infer *at, const xir_int_imm *dim, bool keepdim, reduction *r) {
    r->keepdim = keepdim;
    if (!dim) return mark_all(at, &r->gone);
    dim = xir_int_imm_of((const xir_object *)dim);   // a file may have put anything there
    if (!dim) return xir_infer_fail(at, XIR_E_TYPE, "dim", "dim is no integer");
    return mark_axes(at, "dim", (xir_i64s){ &dim->value, 1 }, &r->gone);
}

/* A list of dims; an empty one is all of them. */
static xir_status read_dims_list(xir_infer *at, xir_i64s dim, bool keepdim, reduction *r) {
    r->keepdim = keepdim;
    return dim.size ? mark_axes(at, "dim", dim, &r->gone) : mark_all(at, &r->gone);
}

static bool reduces(const reduction *r, size_t k) { return r->gone.data[k] != 0; }

/* ---- distributions ------------------------------------------------------------------------------------------------ */

/* What a distribution has to do with the dims that are reduced. One that is no good for its tensor says nothing. */
typedef enum said { SAYS_NOTHING, OF_REDUCED, OF_KEPT, OF_BOTH } said;

static said speaks_of(const xir_distr *distr, const reduction *r) {
    bool reduced = false, kept = false;
    if (!distr || distr->merged_axis.size == 0) return SAYS_NOTHING;
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = from_start(distr->merged_axis.data[i], r->gone.size);
        if (axis < 0) return SAYS_NOTHING;
        *(reduces(r, (size_t)axis) ? &reduced : &kept) = true;
    }
    return reduced && kept ? OF_BOTH : reduced ? OF_REDUCED : OF_KEPT;
}

static const xir_distr *distr_of(const xir_type *type, size_t i) {
    return xir_distr_of(xir_type_tensor(type)->merged_distrs.data[i]);
}

/* ---- checks ------------------------------------------------------------------------------------------------------- */

static xir_status no_elements(xir_infer *at, const char *what) {
    return xir_infer_fail(at, XIR_E_INVALID, "inputs/0", "%s has no elements along the reduced dims, the %s of none is not defined",
                          input_name(at, 0), what);
}

/* Whether something is reduced though there is nothing: a dim of 0, or padding alone. */
static bool reduces_nothing(xir_infer *at, const reduction *r) {
    const xir_type *type = xir_infer_input(at, 0);
    const xir_tensor_type *tensor = xir_type_tensor(type);
    for (size_t k = 0; k < r->gone.size; k++) {
        if (reduces(r, k) && tensor->shape.data[k] == 0) return true;
    }
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = distr_of(type, i);
        if (speaks_of(distr, r) == OF_REDUCED && xir_distr_total_valid(distr) == 0) return true;
    }
    return false;
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

static bool checkable(xir_infer *at) { return inputs_known(at, 1) && !inputs_tiled(at, 1); }

/* Where dim k is in the output, -1 if it has no place there. */
static void places(const reduction *r, dim_list *to) {
    for (size_t k = 0, next = 0; k < r->gone.size; k++) {
        to->data[k] = reduces(r, k) ? -1 : (int64_t)(r->keepdim ? k : next);
        next += !reduces(r, k);
    }
}

static void remaining(const xir_type *type, const reduction *r, dim_list *dims) {
    const int64_t *shape = xir_type_tensor(type)->shape.data;
    size_t n = 0;
    for (size_t k = 0; k < r->gone.size; k++) {
        if (!reduces(r, k)) dims->data[n++] = shape[k] < 0 ? UNKNOWN_DIM : shape[k];
        else if (r->keepdim) dims->data[n++] = 1;
    }
    dims->size = n;
}

/* Copies the letters of the dims that stay into `text`, which has room for all dims. False if they are no layout of them: it
 * does not fit the rank, or says something twice. The input is not tiled, so a letter is a byte. */
static bool remaining_letters(const xir_layout *layout, const reduction *r, char *text, size_t *size) {
    layout_axis a;
    uint32_t seen = 0;
    size_t k = 0;
    *size = 0;
    for (form_text t = layout_walk(layout); layout_next(&t, &a); k++) {
        if (k == r->gone.size) return false;
        if (reduces(r, k)) continue;
        uint32_t bit = a.letter == '*' ? 0 : UINT32_C(1) << (a.letter & 31);
        if (seen & bit) return false;
        seen |= bit;
        text[(*size)++] = a.letter;
    }
    return k == r->gone.size;
}

/* NULL without memory. */
static const xir_layout *remaining_layout(xir_infer *at, const xir_layout *layout, const reduction *r, size_t rank) {
    if (r->keepdim) return xir_layout_rank(layout) == rank ? layout : layout_default(at->home, rank);
    char few[32], *text = few;
    size_t room = r->gone.size, size;
    if (room > sizeof few) text = mem_new(context_alloc(at->ctx), room);
    if (!text) return NULL;
    bool fits = remaining_letters(layout, r, text, &size);
    const xir_layout *out = fits ? layout_make(at->home, (xir_str){ text, size }, 0, NULL) : layout_default(at->home, rank);
    if (text != few) mem_free(context_alloc(at->ctx), text, room);
    return out;
}

/* A distribution with its dims where they are in the output. NULL without memory. */
static const xir_distr *moved_distr(xir_infer *at, const xir_distr *distr, const dim_list *to) {
    dim_list axes;
    if (!dims_init(at, &axes, distr->merged_axis.size)) return NULL;
    for (size_t i = 0; i < axes.size; i++) axes.data[i] = to->data[from_start(distr->merged_axis.data[i], to->size)];
    const xir_distr *out = distr_make(at->home, (xir_i64s){ axes.data, axes.size }, distr->sections, distr->uvalue, distr->legacy);
    dims_free(&axes);
    return out;
}

/* The distributions that stay, into `out`, which has room for all. */
static xir_status remaining_distrs(xir_infer *at, const reduction *r, const dim_list *to, const xir_object **out, size_t *n) {
    const xir_type *type = xir_infer_input(at, 0);
    xir_refs distrs = xir_type_tensor(type)->merged_distrs;
    *n = 0;
    for (size_t i = 0; i < distrs.size; i++) {
        const xir_distr *distr = distr_of(type, i);
        said what = speaks_of(distr, r);
        if (what == OF_BOTH && xir_distr_total_unvalid(distr)) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/0", "distribution %zu of %s is over dims that are reduced and dims "
                                  "that stay: which elements of the result are valid can't be said", i, input_name(at, 0));
        }
        if (what != OF_KEPT) continue;
        if (!r->keepdim) distr = moved_distr(at, distr, to);
        if (!distr) return no_memory(at);
        out[(*n)++] = (const xir_object *)distr;
    }
    return XIR_OK;
}

typedef enum result { INDICES, MOVED, COMPUTED } result;

static xir_status result_element(xir_infer *at, result what, const dim_list *to, const dim_list *dims, const xir_type **out) {
    if (what == MOVED) return moved_element(at, 0, to->data, dims, out);
    if (what == COMPUTED) return computed_element(at, 0, out);
    *out = type_integer(at->home, true, 64);
    return *out ? XIR_OK : no_memory(at);
}

static xir_status give_reduced(xir_infer *at, const reduction *r, result what, dim_list *to, dim_list *dims) {
    const xir_type *type = xir_infer_input(at, 0), *element;
    const xir_allocator *alloc = context_alloc(at->ctx);
    places(r, to);
    remaining(type, r, dims);
    xir_status status = result_element(at, what, to, dims, &element);
    if (status) return status;
    const xir_layout *layout = remaining_layout(at, xir_type_layout(type), r, dims->size);
    if (!layout) return no_memory(at);

    const xir_object *few[4], **distrs = few;
    size_t room = xir_type_tensor(type)->merged_distrs.size, n;
    if (room > sizeof few / sizeof few[0]) distrs = mem_new(alloc, room * sizeof *distrs);
    if (!distrs) return no_memory(at);
    status = remaining_distrs(at, r, to, distrs, &n);
    if (!status) {
        const xir_type *out = type_tensor(at->home, element, layout, (xir_i64s){ dims->data, dims->size }, (xir_refs){ distrs, n });
        status = out ? xir_infer_give(at, out) : no_memory(at);
    }
    if (distrs != few) mem_free(alloc, (void *)distrs, room * sizeof *distrs);
    return status;
}

/* Frees what `r` has. */
static xir_status give(xir_infer *at, reduction *r, result what) {
    size_t rank = r->gone.size;
    dim_list to, dims;
    xir_status status = XIR_E_MEMORY;
    if (dims_init(at, &to, rank)) {
        if (dims_init(at, &dims, rank)) {
            status = give_reduced(at, r, what, &to, &dims);
            dims.size = rank;   // as it was allocated
            dims_free(&dims);
        }
        dims_free(&to);
    }
    dims_free(&r->gone);
    return status;
}

/* ---- Max, Min, Argmax, Argmin ---------------------------------------------------------------------------------------- */

/* The rows of the four are the same. */
#define SAME_ROWS(a, b, row) _Static_assert(offsetof(a, row) == offsetof(b, row), "one function reads the attributes of both")
SAME_ROWS(xir_max_attrs, xir_min_attrs,    dim);
SAME_ROWS(xir_max_attrs, xir_argmax_attrs, dim);
SAME_ROWS(xir_max_attrs, xir_argmin_attrs, dim);
SAME_ROWS(xir_max_attrs, xir_min_attrs,    keepdim);
SAME_ROWS(xir_max_attrs, xir_argmax_attrs, keepdim);
SAME_ROWS(xir_max_attrs, xir_argmin_attrs, keepdim);

static xir_status read_max(xir_infer *at, reduction *r) {
    const xir_max_attrs *a = xir_infer_attrs(at);
    return read_dim(at, a->dim, a->keepdim, r);
}

static xir_status check_max(xir_infer *at) {
    reduction r;
    xir_status status = read_max(at, &r);
    if (status) return status;
    if (reduces_nothing(at, &r)) status = no_elements(at, "extremum");
    dims_free(&r.gone);
    return status;
}

static xir_status infer_max(xir_infer *at, result what) {
    reduction r;
    xir_status status = need_inputs(at, 1);
    if (!status) status = read_max(at, &r);
    return status ? status : give(at, &r, what);
}

xir_status max_check(xir_infer *at) { return checkable(at) ? check_max(at) : XIR_OK; }
xir_status max_infer(xir_infer *at) { return infer_max(at, MOVED); }

xir_status argmax_check(xir_infer *at) {
    if (!checkable(at)) return XIR_OK;
    xir_status status = need_numbers(at, 0);
    return status ? status : check_max(at);
}

xir_status argmax_infer(xir_infer *at) { return infer_max(at, INDICES); }

/* ---- Mean, Sum, Prod -------------------------------------------------------------------------------------------------- */

SAME_ROWS(xir_sum_attrs, xir_mean_attrs, dim);
SAME_ROWS(xir_sum_attrs, xir_prod_attrs, dim);
SAME_ROWS(xir_sum_attrs, xir_mean_attrs, keepdim);
SAME_ROWS(xir_sum_attrs, xir_prod_attrs, keepdim);

static xir_status read_sum(xir_infer *at, reduction *r) {
    const xir_sum_attrs *a = xir_infer_attrs(at);
    return read_dims_list(at, a->dim, a->keepdim, r);
}

static xir_status infer_sum(xir_infer *at, result what) {
    reduction r;
    xir_status status = need_inputs(at, 1);
    if (!status) status = read_sum(at, &r);
    return status ? status : give(at, &r, what);
}

/* Only reals have a number that says that there is none. */
xir_status mean_check(xir_infer *at) {
    reduction r;
    if (!checkable(at)) return XIR_OK;
    xir_status status = need_numbers(at, 0);
    if (!status) status = read_sum(at, &r);
    if (status) return status;
    xir_type_kind kind = xir_type_kind_of(xir_type_element(xir_infer_input(at, 0)));
    if (kind != XIR_TYPE_FLOAT && reduces_nothing(at, &r)) status = no_elements(at, "mean");
    dims_free(&r.gone);
    return status;
}

xir_status mean_infer(xir_infer *at) { return infer_sum(at, MOVED); }

xir_status sum_check(xir_infer *at) {
    reduction r;
    if (!checkable(at)) return XIR_OK;
    xir_status status = need_numbers(at, 0);
    if (!status) status = read_sum(at, &r);
    if (!status) dims_free(&r.gone);
    return status;
}

xir_status sum_infer(xir_infer *at) { return infer_sum(at, COMPUTED); }

/* ---- CumSum ------------------------------------------------------------------------------------------------------------ */

xir_status cum_sum_check(xir_infer *at) {
    const xir_cum_sum_attrs *a = xir_infer_attrs(at);
    if (!checkable(at)) return XIR_OK;
    size_t rank = xir_type_rank(xir_infer_input(at, 0));
    xir_status status = need_numbers(at, 0);
    if (!status && from_start(a->axis, rank) < 0) status = axis_outside(at, "axis", a->axis, rank);
    return status;
}

xir_status cum_sum_infer(xir_infer *at) {
    const xir_type *element;
    xir_status status = need_inputs(at, 1);
    if (!status) status = computed_element(at, 0, &element);
    return status ? status : xir_infer_give(at, xir_infer_input(at, 0));
}
