/* Element by element. Operands that lie alike may be tiled: what lies where is the same on both sides. */
#include <inttypes.h>
#include <stdio.h>
#include "elementwise.h"
#include "graph.h"
#include "types.h"

/* ---- elements ------------------------------------------------------------------------------------------------ */

xir_status function_infer(xir_infer *at) {
    const xir_type *element;
    xir_status status = computed_element(at, 0, &element);
    return status ? status : same_infer(at);
}

/* ---- shapes -------------------------------------------------------------------------------------------------- */

bool join_dim(int64_t a, int64_t b, int64_t *out) {
    if (a >= 0 && b >= 0 && a != b && a != 1 && b != 1) return false;
    *out = a == 1 ? b : b == 1 ? a : a >= 0 ? a : b;
    if (*out < 0) *out = UNKNOWN_DIM;
    return true;
}

bool lie_alike(const xir_type *a, const xir_type *b) {
    const xir_tensor_type *x = xir_type_tensor(a), *y = xir_type_tensor(b);
    if (x->shape.size != y->shape.size || x->merged_distrs.size != y->merged_distrs.size) return false;
    for (size_t i = 0; i < x->shape.size; i++) {
        if (x->shape.data[i] != y->shape.data[i]) return false;
    }
    for (size_t i = 0; i < x->merged_distrs.size; i++) {
        if (!xir_object_equal(x->merged_distrs.data[i], y->merged_distrs.data[i])) return false;
    }
    return xir_object_equal((const xir_object *)x->layout, (const xir_object *)y->layout);
}

size_t leading_input(xir_infer *at, size_t n) {
    size_t leading = 0;
    for (size_t i = 1; i < n; i++) {
        if (xir_type_rank(xir_infer_input(at, i)) > xir_type_rank(xir_infer_input(at, leading))) leading = i;
    }
    return leading;
}

int64_t channels_of(const xir_type *like, const int64_t *dims, size_t rank) {
    const xir_layout *layout = xir_type_layout(like);
    if (rank == 0) return 1;
    for (const char *letter = "COI"; *letter && layout; letter++) {
        int64_t i = xir_layout_index(layout, *letter);
        if (i >= 0 && (size_t)i < rank) return dims[i];
    }
    return dims[rank - 1];
}

/* ---- valid elements ------------------------------------------------------------------------------------------ */

void distrs_init(xir_infer *at, distr_list *list) {
    list->alloc = context_alloc(xir_infer_context(at));
    list->data = list->few;
    list->size = 0;
    list->room = sizeof list->few / sizeof list->few[0];
}

void distrs_free(distr_list *list) {
    if (list->data != list->few) mem_free(list->alloc, (void *)list->data, list->room * sizeof *list->data);
}

static xir_status distrs_add(xir_infer *at, distr_list *list, const xir_distr *distr) {
    if (list->size == list->room) {
        size_t room = list->room * 2;
        const xir_object **data = mem_new(list->alloc, room * sizeof *data);
        if (!data) return no_memory(at);
        memcpy((void *)data, (const void *)list->data, list->size * sizeof *data);
        distrs_free(list);
        list->data = data;
        list->room = room;
    }
    list->data[list->size++] = (const xir_object *)distr;
    return XIR_OK;
}

/* Each is compared with each: no tensor has so many dims. */
enum { MOST_DISTRS = 64 };

static bool all_valid(const xir_distr *distr) { return xir_distr_total_valid(distr) == xir_distr_total(distr); }

/* How many of the dims of one distribution another one speaks of too. */
static size_t shared_dims(const xir_distr *a, const xir_distr *b) {
    size_t n = 0;
    for (size_t i = 0; i < a->merged_axis.size; i++) {
        for (size_t k = 0; k < b->merged_axis.size; k++) {
            if (a->merged_axis.data[i] != b->merged_axis.data[k]) continue;
            n++;
            break;
        }
    }
    return n;
}

/* Adds what an input says of dims of the output to what others have said. Saying that all is valid says nothing. */
static xir_status distrs_join(xir_infer *at, size_t i, const xir_distr *distr, distr_list *list) {
    for (size_t k = 0; k < list->size; k++) {
        const xir_distr *other = (const xir_distr *)list->data[k];
        size_t shared = shared_dims(distr, other);
        if (shared == 0) continue;
        if (all_valid(distr) || xir_object_equal(&distr->head, &other->head)) return XIR_OK;
        if (all_valid(other) && shared == distr->merged_axis.size && shared == other->merged_axis.size) {
            list->data[k] = &distr->head;
            return XIR_OK;
        }
        return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                              "%s and the inputs before it say different things of which elements of dim %" PRId64
                              " are valid", input_name(at, i), distr->merged_axis.data[0]);
    }
    return distrs_add(at, list, distr);
}

/* Whether a dim is in a list twice. */
static bool repeated(const dim_list *axes) {
    for (size_t i = 0; i < axes->size; i++) {
        for (size_t k = 0; k < i; k++) {
            if (axes->data[i] == axes->data[k]) return true;
        }
    }
    return false;
}

/* Where the dims of one distribution are in the output, into `axes`; *kept says whether anything is left of it. */
static xir_status carry_axes(xir_infer *at, size_t i, const xir_distr *distr, const int64_t *to, const dim_list *dims,
                             dim_list *axes, bool *kept) {
    const xir_type *type = xir_infer_input(at, i);
    size_t rank = xir_type_rank(type), gone = 0;
    bool widened = false;
    for (size_t k = 0; k < axes->size; k++) {
        int64_t axis = from_start(distr->merged_axis.data[k], rank);
        if (axis < 0) {
            return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text, "a distribution of %s is over dim %" PRId64
                                  ", it has %zu dims", input_name(at, i), distr->merged_axis.data[k], rank);
        }
        axes->data[k] = to[axis];
        gone += to[axis] < 0;
        widened |= to[axis] >= 0 && xir_type_dim(type, axis, false) != dims->data[to[axis]];
    }
    *kept = gone == 0 && !widened && !repeated(axes);
    if (*kept || gone == axes->size || all_valid(distr)) return XIR_OK;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, path_of_input(i).text,
                          "which elements of dim %" PRId64 " of %s are valid can't be said of the output, where %s",
                          distr->merged_axis.data[0], input_name(at, i),
                          gone ? "dims that it is merged with are summed" : widened ? "it is repeated" : "it is a diagonal");
}

xir_status carry_distrs(xir_infer *at, size_t i, const int64_t *to, const dim_list *dims, distr_list *list) {
    xir_refs distrs = xir_type_tensor(xir_infer_input(at, i))->merged_distrs;
    xir_status status = XIR_OK;
    for (size_t k = 0; k < distrs.size && !status; k++) {
        const xir_distr *distr = (const xir_distr *)distrs.data[k];
        dim_list axes;
        bool kept = false;
        if (list->size == MOST_DISTRS || distr->merged_axis.size > MOST_DISTRS) {
            return xir_infer_fail(at, XIR_E_LIMIT, path_of_input(i).text,
                                  "more than %d distributions, or one over more than %d dims", MOST_DISTRS, MOST_DISTRS);
        }
        if (!dims_init(at, &axes, distr->merged_axis.size)) return XIR_E_MEMORY;
        status = carry_axes(at, i, distr, to, dims, &axes, &kept);
        if (!status && kept) {
            distr = distr_make(at->home, (xir_i64s){ axes.data, axes.size }, distr->sections, distr->uvalue, distr->legacy);
            status = distr ? distrs_join(at, i, distr, list) : no_memory(at);
        }
        dims_free(&axes);
    }
    return status;
}

/* The dims of input i in an output that it is broadcast to from the right; `to` is made. Those in front of it are below 0. */
static bool dims_from_right(xir_infer *at, size_t i, const dim_list *dims, dim_list *to) {
    size_t rank = xir_type_rank(xir_infer_input(at, i));
    if (!dims_init(at, to, rank)) return false;
    for (size_t k = 0; k < rank; k++) to->data[k] = (int64_t)dims->size - (int64_t)rank + (int64_t)k;
    return true;
}

xir_status carry_from_right(xir_infer *at, size_t i, const dim_list *dims, distr_list *list) {
    const xir_type *type = xir_infer_input(at, i);
    dim_list to;
    if (xir_type_tensor(type)->merged_distrs.size == 0) return XIR_OK;
    if (!dims_from_right(at, i, dims, &to)) return XIR_E_MEMORY;
    xir_status status = carry_distrs(at, i, to.data, dims, list);
    dims_free(&to);
    return status;
}

static xir_status broadcast_element(xir_infer *at, size_t i, const dim_list *dims, const xir_type **out) {
    dim_list to;
    if (!dims_from_right(at, i, dims, &to)) return XIR_E_MEMORY;
    xir_status status = moved_element(at, i, to.data, dims, out);
    dims_free(&to);
    return status;
}

xir_status either_element(xir_infer *at, const dim_list *dims, const xir_type **out) {
    const xir_type *other = xir_type_element(xir_infer_input(at, 1));
    *out = xir_type_element(xir_infer_input(at, 0));
    if (!xir_type_is_quantized(*out) && !xir_type_is_quantized(other)) return XIR_OK;
    xir_status status = broadcast_element(at, 0, dims, out);
    if (!status) status = broadcast_element(at, 1, dims, &other);
    if (status || xir_type_equal(*out, other)) return status;
    return xir_infer_fail(at, XIR_E_UNSUPPORTED, "inputs/1", "%s and %s are quantised in different ways: the type of what is "
                          "taken from both does not follow, give the types of the outputs", input_name(at, 0), input_name(at, 1));
}

xir_status give_with(xir_infer *at, const xir_type *element, const xir_layout *layout, const dim_list *dims,
                     const distr_list *list) {
    if (layout && xir_layout_rank(layout) != dims->size) layout = NULL;
    if (list->size == 0) return xir_infer_give_tensor(at, element, layout, dims->data, dims->size);
    const xir_type *type = type_tensor(at->home, element, layout, (xir_i64s){ dims->data, dims->size },
                                       (xir_refs){ list->data, list->size });
    return type ? xir_infer_give(at, type) : no_memory(at);
}

xir_status give_joined(xir_infer *at, size_t n, const xir_type *element, const dim_list *dims) {
    distr_list list;
    distrs_init(at, &list);
    xir_status status = XIR_OK;
    for (size_t i = 0; i < n && !status; i++) status = carry_from_right(at, i, dims, &list);
    if (!status) status = give_with(at, element, xir_type_layout(xir_infer_input(at, leading_input(at, n))), dims, &list);
    distrs_free(&list);
    return status;
}

/* ---- pairs of a back end ------------------------------------------------------------------------------------- */

/* Channels in tiles. */
typedef struct tiled_dim {
    int64_t axes[2];         /* of the tiles, of the unit                            */
    int64_t tiles, unit;
    int64_t valid, padded;   /* channels without and with padding; -1: not known     */
} tiled_dim;

static bool read_tiled(const xir_type *type, tiled_dim *t) {
    const xir_layout *layout = xir_type_layout(type);
    for (const char *letter = "COI"; *letter && layout; letter++) {
        t->axes[0] = xir_layout_index(layout, *letter);
        t->axes[1] = xir_layout_index(layout, (char)(*letter | 0x20));
        if (t->axes[0] < 0 || t->axes[1] < 0) continue;
        t->tiles = xir_type_dim(type, t->axes[0], false);
        t->unit = xir_type_dim(type, t->axes[1], false);
        if (t->tiles < 0 || t->unit < 0 || !mul_i64(t->tiles, t->unit, &t->padded)) t->padded = UNKNOWN_DIM;
        const xir_distr *distr = xir_type_distr(type, t->axes, 2);
        t->valid = distr ? xir_distr_total_valid(distr) : t->padded;
        return true;
    }
    return false;
}

/* Whether a tensor that is not tiled is one number, or one number for each of these channels. */
static bool is_factor(const xir_type *type, const tiled_dim *t) {
    int64_t n;
    size_t rank = xir_type_rank(type);
    if (xir_type_elements(type, &n) != XIR_OK) return false;
    if (n == 1) return true;
    return (n == t->valid || n == t->padded) && channels_of(type, xir_type_tensor(type)->shape.data, rank) == n;
}

/* Whether a tiled tensor has nothing but channels, in the same tiles. */
static bool is_tiled_factor(const xir_type *type, const tiled_dim *t) {
    tiled_dim own;
    return xir_type_rank(type) == 2 && read_tiled(type, &own) && own.tiles == t->tiles && own.unit == t->unit;
}

/* Whether two tensors are in the same layout and tiles, so that other dims may broadcast. */
static bool same_tiles(const xir_type *lhs, const xir_type *rhs, const tiled_dim *l, const tiled_dim *r) {
    return l->tiles >= 0 && l->tiles == r->tiles && l->unit == r->unit &&
           xir_object_equal((const xir_object *)xir_type_layout(lhs), (const xir_object *)xir_type_layout(rhs));
}

/* What a back end's rules say of a tiled pair; where there is no rule, nothing. */
static xir_status check_tiled_pair(xir_infer *at) {
    const xir_target *target = xir_infer_target(at);
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    tiled_dim l, r;
    dim_list dims;
    if (!target || !xir_class_infers_on(xir_infer_class(at), (int)xir_target_kind_of(target))) return XIR_OK;
    xir_status status = same_elements(at, 0, 1);
    if (status || !read_tiled(lhs, &l) || !read_tiled(rhs, &r) || !same_tiles(lhs, rhs, &l, &r)) return status;
    status = broadcast(at, lhs, rhs, &dims);
    if (!status) dims_free(&dims);
    return status;
}

/* ---- pairs --------------------------------------------------------------------------------------------------- */

xir_status check_pair(xir_infer *at) {
    dim_list dims;
    if (!inputs_known(at, 2) || xir_infer_input(at, 0) == xir_infer_input(at, 1)) return XIR_OK;
    if (inputs_tiled(at, 2)) return check_tiled_pair(at);
    xir_status status = same_elements(at, 0, 1);
    if (!status) status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &dims);
    if (status) return status;
    dims_free(&dims);
    return XIR_OK;
}

xir_status give_pair(xir_infer *at, const xir_type *element) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1);
    if (inputs_known(at, 2) && inputs_tiled(at, 2) && lie_alike(lhs, rhs)) {
        const xir_tensor_type *like = xir_type_tensor(lhs);
        const xir_type *type = type_tensor(at->home, element, like->layout, like->shape, like->merged_distrs);
        return type ? xir_infer_give(at, type) : no_memory(at);
    }
    dim_list dims;
    xir_status status = need_inputs(at, 2);
    if (!status) status = broadcast(at, lhs, rhs, &dims);
    if (status) return status;
    status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

xir_status pair_check(xir_infer *at) {
    xir_status status = need_numbers(at, 0);
    if (!status) status = need_numbers(at, 1);
    return status ? status : check_pair(at);
}

/* Results are computed from both. */
xir_status pair_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *element;
    xir_status status = computed_element(at, 0, &element);
    if (!status) status = computed_element(at, 1, &element);
    if (status) return status;
    if (inputs_known(at, 2) && xir_type_equal(lhs, xir_infer_input(at, 1))) return xir_infer_give(at, lhs);
    return give_pair(at, xir_type_element(lhs));
}

/* Results are those of one or the other. */
xir_status either_infer(xir_infer *at) {
    const xir_type *lhs = xir_infer_input(at, 0), *rhs = xir_infer_input(at, 1), *element;
    dim_list dims;
    if (inputs_known(at, 2) && xir_type_equal(lhs, rhs)) return xir_infer_give(at, lhs);
    xir_status status = need_inputs(at, 2);
    if (!status) status = broadcast(at, lhs, rhs, &dims);
    if (status) return status;
    status = either_element(at, &dims, &element);
    if (!status) status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

xir_status tiled_pair_infer(xir_infer *at) {
    const xir_type *types[] = { xir_infer_input(at, 0), xir_infer_input(at, 1) }, *element;
    if (!inputs_known(at, 2) || !inputs_tiled(at, 2) || lie_alike(types[0], types[1])) return pair_infer(at);
    xir_status status = computed_element(at, 0, &element);
    if (!status) status = computed_element(at, 1, &element);
    if (!status) status = same_elements(at, 0, 1);
    if (status) return status;
    tiled_dim t[2];
    bool tiled[] = { read_tiled(types[0], &t[0]), read_tiled(types[1], &t[1]) };
    for (size_t i = 0; i < 2; i++) {
        const xir_type *other = types[1 - i];
        if (!tiled[i]) continue;
        bool fits = xir_type_is_layouted(other) ? is_tiled_factor(other, &t[i]) : is_factor(other, &t[i]);
        if (fits && xir_type_rank(other) < xir_type_rank(types[i])) return xir_infer_give(at, types[i]);
    }
    if (!tiled[0] || !tiled[1] || !same_tiles(types[0], types[1], &t[0], &t[1])) return need_inputs(at, 2);
    dim_list dims;
    status = broadcast(at, types[0], types[1], &dims);
    if (status) return status;
    status = give_joined(at, 2, element, &dims);
    dims_free(&dims);
    return status;
}

/* ---- sums ---------------------------------------------------------------------------------------------------- */

static xir_status check_factors(xir_infer *at, const char *attribute, xir_refs factors, int64_t channels) {
    if (factors.size <= 1 || channels < 0 || (uint64_t)channels == factors.size) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, attribute, "%zu factors are neither one nor one for each of %" PRId64 " channels",
                          factors.size, channels);
}

xir_status add_check(xir_infer *at) {
    const xir_add_attrs *a = xir_infer_attrs(at);
    dim_list dims;
    xir_status status = pair_check(at);
    if (status || !inputs_known(at, 2) || inputs_tiled(at, 2)) return status;
    /* One factor fits any channels. */
    if (a->alpha.size <= 1 && a->beta.size <= 1) return XIR_OK;
    status = broadcast(at, xir_infer_input(at, 0), xir_infer_input(at, 1), &dims);
    if (status) return status;
    int64_t channels = channels_of(xir_infer_input(at, leading_input(at, 2)), dims.data, dims.size);
    status = check_factors(at, "alpha", a->alpha, channels);
    if (!status) status = check_factors(at, "beta", a->beta, channels);
    dims_free(&dims);
    return status;
}

/* ---- quotients ----------------------------------------------------------------------------------------------- */

/* An integer type has no room for the true quotient. */
static xir_status check_rounding(xir_infer *at, size_t i, xir_rounding mode) {
    const xir_type *type = xir_infer_input(at, i);
    if (mode != XIR_ROUNDING_NONE || !holds_integers(type)) return XIR_OK;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, "rounding_mode", "NONE divides truly, which %s of %s can't hold: TRUNC or FLOOR was "
                          "expected", element_word(element_of(type), room, sizeof room), input_name(at, i));
}

xir_status div_check(xir_infer *at) {
    const xir_div_attrs *a = xir_infer_attrs(at);
    xir_status status = pair_check(at);
    return status ? status : check_rounding(at, 0, a->rounding_mode);
}

xir_status divide_scalar_check(xir_infer *at) {
    const xir_divide_scalar_attrs *a = xir_infer_attrs(at);
    xir_status status = need_numbers(at, 0);
    if (!status) status = check_rounding(at, 0, a->rounding_mode);
    if (status || (float)a->divisor != 0 || !holds_integers(xir_infer_input(at, 0))) return status;
    return xir_infer_fail(at, XIR_E_INVALID, "divisor", "integers can't be divided by 0");
}

/* As in ONNX: the remainder with the sign of rhs is one of integers. */
xir_status mod_check(xir_infer *at) {
    const xir_mod_attrs *a = xir_infer_attrs(at);
    const xir_type *lhs = xir_infer_input(at, 0);
    xir_status status = pair_check(at);
    if (status || a->fmod || !holds_reals(lhs)) return status;
    char room[40];
    return xir_infer_fail(at, XIR_E_TYPE, "fmod", "the elements of lhs are %s: without fmod integers were expected",
                          element_word(element_of(lhs), room, sizeof room));
}

/* ---- cast ---------------------------------------------------------------------------------------------------- */

/* Counts the elements that are no padding. False if it cannot be said: a dim is unknown, distributions overlap or do not fit
 * their dims, or the type is tiled and says nothing of its padding. */
static bool valid_elements(const xir_type *type, int64_t *out) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    size_t rank = tensor->shape.size;
    if (rank > 64 || (xir_type_is_layouted(type) && tensor->merged_distrs.size == 0)) return false;
    uint64_t merged = 0;
    *out = 1;
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        int64_t total = 1;
        for (size_t k = 0; k < distr->merged_axis.size; k++) {
            int64_t axis = from_start(distr->merged_axis.data[k], rank);
            if (axis < 0 || merged >> axis & 1 || tensor->shape.data[axis] < 0) return false;
            if (!mul_i64(total, tensor->shape.data[axis], &total)) return false;
            merged |= UINT64_C(1) << axis;
        }
        if (total != xir_distr_total(distr) || !mul_i64(*out, xir_distr_total_valid(distr), out)) return false;
    }
    for (size_t i = 0; i < rank; i++) {
        if (merged >> i & 1) continue;
        if (tensor->shape.data[i] < 0 || !mul_i64(*out, tensor->shape.data[i], out)) return false;
    }
    return true;
}

/* A cast moves elements and converts them: rank, layout and padding may change, how many valid elements there are may not. */
xir_status cast_check(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype || !inputs_known(at, 1)) return XIR_OK;   // the rows say that it is missing
    int64_t from, to;
    if (!valid_elements(xir_infer_input(at, 0), &from) || !valid_elements((const xir_type *)a->target_dtype, &to)) return XIR_OK;
    if (from == to) return XIR_OK;
    return xir_infer_fail(at, XIR_E_INVALID, "target_dtype", "the target has %" PRId64 " valid elements, the input %" PRId64,
                          to, from);
}

xir_status cast_infer(xir_infer *at) {
    const xir_cast_attrs *a = xir_infer_attrs(at);
    if (!a->target_dtype) return xir_infer_fail(at, XIR_E_MISSING, "target_dtype", "the target type is missing");
    return xir_infer_give(at, (const xir_type *)a->target_dtype);
}
