/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* identity: removes ops whose output equals their input.
 *
 *     x:fp32[1,8]NC = input()               x:fp32[1,8]NC = input()
 *     a:fp32[1,8]NC = reshape(x)            y:fp32[1,8]NC = relu(x)
 *     b:fp32[1,8]NC = slice(a)       ->     output(y)
 *     y:fp32[1,8]NC = relu(b)
 *     output(y)
 *
 * An op is removed only if input and output have the same type, layout letters included, and lie in the same memory,
 * so no reader of the output infers anything else. A reshape that changes the letters of the dims therefore stays.
 * Equality is exact, -0 and NaN included: x * 1 is removed; x + 0.0 is not, because -0 + 0 is 0. The names of
 * network results are preserved (upkeep.h). */
#include <math.h>
#include <xir/ops.h>
#include "support/listed.h"
#include "support/numbers.h"
#include "support/upkeep.h"

/* Returns true if an op with one input, whose type is the type of the output, returns it unchanged. */
typedef bool rule(const xir_op *op, const xir_i64s *dims);

static bool always(const xir_op *op, const xir_i64s *dims) {
    (void)op;
    (void)dims;
    return true;
}

/* If one dim is unknown, the others determine it, unless one of them is 0. */
static bool reshape_is(const xir_op *op, const xir_i64s *dims) {
    (void)op;
    size_t unknown = 0, zero = 0;
    for (size_t i = 0; i < dims->size; i++) {
        unknown += dims->data[i] < 0;
        zero += dims->data[i] == 0;
    }
    return unknown == 0 || (unknown == 1 && zero == 0);
}

/* Only dims of 1 may change places. */
static bool transpose_is(const xir_op *op, const xir_i64s *dims) {
    const xir_transpose_attrs *a = op->attrs;
    int64_t last = -1, n = (int64_t)dims->size;
    if (a->dims.size != dims->size) return false;
    for (size_t i = 0; i < dims->size; i++) {
        int64_t axis = from_end(a->dims.data[i], n);
        if (axis < 0 || axis >= n) return false;
        if (dims->data[axis] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

static bool expand_is(const xir_op *op, const xir_i64s *dims) {
    const xir_expand_attrs *a = op->attrs;
    if (a->sizes.size != dims->size) return false;
    for (size_t i = 0; i < dims->size; i++) {
        if (a->sizes.data[i] != -1 && a->sizes.data[i] != dims->data[i]) return false;
    }
    return true;
}

static bool are_all(const xir_i64s *list, int64_t number) {
    for (size_t i = 0; i < list->size; i++) {
        if (list->data[i] != number) return false;
    }
    return true;
}

static bool tile_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return are_all(&((const xir_tile_attrs *)op->attrs)->dims, 1);
}

static bool pad_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return are_all(&((const xir_pad_attrs *)op->attrs)->padding, 0);
}

static bool roll_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return are_all(&((const xir_roll_attrs *)op->attrs)->shifts, 0);
}

/* A slice with step 1 and as many elements as the dim has takes all of it. For an unknown dim only "to the end"
 * does. */
static bool slice_is(const xir_op *op, const xir_i64s *dims) {
    const xir_slice_attrs *a = op->attrs;
    if (a->begin.size != dims->size || a->end.size != dims->size || a->stride.size != dims->size) return false;
    for (size_t i = 0; i < dims->size; i++) {
        bool known = dims->data[i] >= 0, to_the_end = a->begin.data[i] == 0 && a->end.data[i] >= INT32_MAX;
        bool whole = a->stride.data[i] == 1 && (known || to_the_end);
        if (!whole && (!known || dims->data[i] > 1)) return false;
    }
    return true;
}

static bool split_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return op->n_outputs == 1;
}

static bool concat_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return op->n_inputs == 1;
}

static bool swap_order_is(const xir_op *op, const xir_i64s *dims) {
    const xir_swap_order_attrs *a = op->attrs;
    (void)dims;
    for (size_t i = 0; i < a->order.size; i++) {
        if (a->order.data[i] != (int64_t)i) return false;
    }
    return true;
}

static bool channel_shuffle_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return ((const xir_channel_shuffle_attrs *)op->attrs)->groups == 1;
}

static bool pixel_shuffle_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return ((const xir_pixel_shuffle_attrs *)op->attrs)->upscale_factor == 1;
}

/* Windows of one element with stride 1 and no padding. */
#define W_IS_ONE(a) ((a)->pool_width == 1 && (a)->stride_width == 1 && (a)->pad_left == 0 && (a)->pad_right == 0)
#define H_IS_ONE(a) ((a)->pool_height == 1 && (a)->stride_height == 1 && (a)->pad_top == 0 && (a)->pad_bottom == 0)
#define D_IS_ONE(a) ((a)->pool_depth == 1 && (a)->stride_depth == 1 && (a)->pad_front == 0 && (a)->pad_back == 0)
#define ITSELF(a)   ((a)->divisor_override == 0 || (a)->divisor_override == 1)
#define POOL(id, condition)                                       \
    static bool id##_is(const xir_op *op, const xir_i64s *dims) { \
        const xir_##id##_attrs *a = op->attrs;                    \
        (void)dims;                                               \
        return condition;                                         \
    }
POOL (max_pool1d, W_IS_ONE(a))
POOL (max_pool2d, W_IS_ONE(a) && H_IS_ONE(a))
POOL (max_pool3d, W_IS_ONE(a) && H_IS_ONE(a) && D_IS_ONE(a))
POOL (avg_pool1d, W_IS_ONE(a) && ITSELF(a))
POOL (avg_pool2d, W_IS_ONE(a) && H_IS_ONE(a) && ITSELF(a))
POOL (avg_pool3d, W_IS_ONE(a) && H_IS_ONE(a) && D_IS_ONE(a) && ITSELF(a))

static bool divide_scalar_is(const xir_op *op, const xir_i64s *dims) {
    (void)dims;
    return ((const xir_divide_scalar_attrs *)op->attrs)->divisor == 1 &&
           element_is_number(element_format_of(op_outputs(op)[0].type));
}

/* AlignAxis and PruneAxis change distributions, which are part of the type, if they do anything. Likewise Squeeze
 * changes the rank, and Cast the element type. */
static const struct {
    const xir_class_decl *(*cls)(void);
    rule                   *is;
    bool                    stores;   /* it computes numbers and stores them, where others copy bytes */
} rows[] = {
    { xir_align_axis_class,      always                   },
    { xir_avg_pool1d_class,      avg_pool1d_is, true      },
    { xir_avg_pool2d_class,      avg_pool2d_is, true      },
    { xir_avg_pool3d_class,      avg_pool3d_is, true      },
    { xir_cast_class,            always                   },
    { xir_channel_shuffle_class, channel_shuffle_is       },
    { xir_concat_class,          concat_is                },
    { xir_copy_class,            always                   },
    { xir_divide_scalar_class,   divide_scalar_is, true   },
    { xir_expand_class,          expand_is                },
    { xir_max_pool1d_class,      max_pool1d_is, true      },
    { xir_max_pool2d_class,      max_pool2d_is, true      },
    { xir_max_pool3d_class,      max_pool3d_is, true      },
    { xir_pad_class,             pad_is, true             },
    { xir_pixel_shuffle_class,   pixel_shuffle_is         },
    { xir_prune_axis_class,      always                   },
    { xir_reshape_class,         reshape_is               },
    { xir_roll_class,            roll_is                  },
    { xir_slice_class,           slice_is                 },
    { xir_split_class,           split_is                 },
    { xir_squeeze_class,         always                   },
    { xir_swap_order_class,      swap_order_is            },
    { xir_tile_class,            tile_is                  },
    { xir_transpose_class,       transpose_is             },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- ops that return one of two inputs --------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 65536 };   /* of a constant that is examined */

/* The number that all elements of a constant equal, bit for bit; false if they differ. */
static bool only_number(const xir_value *v, double *out) {
    element_format form = element_format_of(value_is_constant(v) ? v->type : NULL);
    uint64_t size;
    int64_t n;
    if (!element_is_number(form) || form.bits % 8 || xir_type_elements(v->type, &n) || n < 1 || n > MOST_NUMBERS)
        return false;
    const char *bytes = whole_params(v);
    if (!bytes) return false;
    (void)xir_params_data(v, &size);
    size_t one = (size_t)size / (size_t)n;
    *out = element_real(form, bytes, 0);
    return memcmp(bytes, bytes + one, (size_t)size - one) == 0;   /* each equals the next one */
}

static bool no_scales(const xir_scales *scales) { return scales && xir_scales_count(scales) == 0; }

/* The only factor of a list; 0 if there are several. */
static double only_factor(const xir_refs *list) {
    return list->size == 1 ? xir_scalar_as_real((const xir_scalar *)list->data[0]) : 0;
}

/* Returns true if the op returns input `i` unchanged if all elements of the other input are `k`. */
typedef bool pair_rule(const xir_op *op, uint32_t i, double k);

/* x + k is exactly x if k is -0, and for integers if k is 0. For floats x + 0 turns -0 into 0. */
static bool add_is(const xir_op *op, uint32_t i, double k) {
    const xir_add_attrs *a = op->attrs;
    double of_x = only_factor(i ? &a->beta : &a->alpha), of_k = only_factor(i ? &a->alpha : &a->beta), sum = of_k * k;
    bool exact = sum == 0 && (signbit(sum) || !element_is_float(element_format_of(op_outputs(op)[0].type)));
    return of_x == 1 && of_k != 0 && exact && no_scales(a->cut_scale);
}

static bool multiply_is(const xir_op *op, uint32_t i, double k) {
    (void)i;
    return k == 1 && no_scales(((const xir_multiply_attrs *)op->attrs)->cut_scale);
}

static bool div_is(const xir_op *op, uint32_t i, double k) {
    (void)op;
    return i == 0 && k == 1;
}

static const struct {
    const xir_class_decl *(*cls)(void);
    pair_rule              *is;
} pairs[] = {
    { xir_add_class,      add_is      },
    { xir_div_class,      div_is      },
    { xir_multiply_class, multiply_is },
};
enum { PAIRS = sizeof pairs / sizeof *pairs };

/* ---- the pass ---------------------------------------------------------------------------------------------------- */

typedef struct decls { const xir_class_decl *rows[ROWS], *pairs[PAIRS]; } decls;

static xir_value *same_of_two(const xir_op *op, pair_rule *is) {
    for (uint32_t i = 0; i < 2 && op->n_inputs == 2; i++) {
        xir_value *x = op_inputs(op)[i].value, *other = op_inputs(op)[1 - i].value;
        double k;
        if (!x || !other || !element_is_number(element_format_of(x->type)) || !same_kind(x, op_outputs(op))) continue;
        if (only_number(other, &k) && is(op, i, k)) return x;
    }
    return NULL;
}

/* The least signed integer is out of the range that results are stored in, but a quantised value may have it. */
static bool may_be_least(const xir_value *x) {
    const xir_type *element = xir_type_element(x->type);
    const xir_type *stored = xir_type_is_quantized(element) ? xir_type_storage(element) : NULL;
    const xir_integer_type *of = stored ? xir_integer_type_of(xir_type_object(stored)) : NULL;
    return of && of->sign;
}

/* The input that the op returns unchanged; NULL if none. */
static xir_value *same_value(const xir_op *op, const decls *d) {
    if (op->n_outputs != 1 || !op->n_inputs || !op_inputs(op)[0].value || xir_op_extra(op)) return NULL;
    for (size_t i = 0; i < PAIRS; i++) {
        if (op->cls->decl == d->pairs[i]) return same_of_two(op, pairs[i].is);
    }
    xir_value *x = op_inputs(op)[0].value;
    const xir_i64s *dims = value_dims(x);
    if (!dims || op_is_listed(op) || !same_kind(x, &op_outputs(op)[0])) return NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (op->cls->decl != d->rows[i]) continue;
        return rows[i].is(op, dims) && !(rows[i].stores && may_be_least(x)) ? x : NULL;
    }
    return NULL;
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    decls d;
    for (size_t i = 0; i < ROWS; i++) d.rows[i] = rows[i].cls();
    for (size_t i = 0; i < PAIRS; i++) d.pairs[i] = pairs[i].cls();
    xir_status status = XIR_OK;
    for (xir_op *op = net->first, *next; op && !status; op = next) {
        next = op->next;
        xir_value *x = same_value(op, &d);
        if (!x || value_op(x) == op || (value_is_params(x) && is_product_operand(op))) continue;
        size_t moved = 0;
        status = value_replace(x, &op_outputs(op)[0], false, &moved);
        bool goes = !status && op_is_unused(op);
        if (goes) op_drop(op);
        xir_pass_changed(at, goes || moved);
    }
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

const xir_pass_decl pass_identity = {
    XIR_PASS_HEAD("identity", "removes ops whose output equals their input"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
