/* identity: ops that give what they are given go.
 *
 *     x:fp32[1,8]NC = input()               x:fp32[1,8]NC = input()
 *     a:fp32[1,8]NC = reshape(x)            y:fp32[1,8]NC = relu(x)
 *     b:fp32[1,8]NC = slice(a)       ->     output(y)
 *     y:fp32[1,8]NC = relu(b)
 *     output(y)
 *
 * An op goes only if input and output have the same type, layout letters included, and lie in the same memory: then nobody who
 * reads the output infers anything else. So a reshape that gives the dims other letters stays. What is exact counts, -0 and NaN
 * included: x * 1 goes, x + 0.0 does not, since -0 + 0 is 0. Names of results stay (upkeep.h). */
#include <xir/ops.h>
#include "upkeep.h"

/* The input that the op gives back, of those with its output's type; NULL: it may change something. */
typedef bool rule(const xir_op *op, const xir_i64s *dims);

static bool always(const xir_op *op, const xir_i64s *dims) {
    (void)op;
    (void)dims;
    return true;
}

/* Of dims with one that is unknown the others say what it is, unless one of them is 0. */
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

/* As many elements as there are, at a step of 1, are all of them; of an unknown dim only what says "to the end" is all. */
static bool slice_is(const xir_op *op, const xir_i64s *dims) {
    const xir_slice_attrs *a = op->attrs;
    if (a->begin.size != dims->size || a->end.size != dims->size || a->stride.size != dims->size) return false;
    for (size_t i = 0; i < dims->size; i++) {
        bool whole = a->stride.data[i] == 1 && (dims->data[i] >= 0 || (a->begin.data[i] == 0 && a->end.data[i] >= INT32_MAX));
        if (!whole && (dims->data[i] < 0 || dims->data[i] > 1)) return false;
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

/* Windows of one element, one after the other. */
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

/* AlignAxis and PruneAxis change distributions, a part of the type, if they do anything; so does Squeeze the rank, Cast what it casts. */
static const struct {
    const xir_class_decl *(*cls)(void);
    rule                   *is;
} rows[] = {
    { xir_align_axis_class,      always             },
    { xir_avg_pool1d_class,      avg_pool1d_is      },
    { xir_avg_pool2d_class,      avg_pool2d_is      },
    { xir_avg_pool3d_class,      avg_pool3d_is      },
    { xir_cast_class,            always             },
    { xir_channel_shuffle_class, channel_shuffle_is },
    { xir_concat_class,          concat_is          },
    { xir_copy_class,            always             },
    { xir_expand_class,          expand_is          },
    { xir_max_pool1d_class,      max_pool1d_is      },
    { xir_max_pool2d_class,      max_pool2d_is      },
    { xir_max_pool3d_class,      max_pool3d_is      },
    { xir_pad_class,             pad_is             },
    { xir_pixel_shuffle_class,   pixel_shuffle_is   },
    { xir_prune_axis_class,      always             },
    { xir_reshape_class,         reshape_is         },
    { xir_roll_class,            roll_is            },
    { xir_slice_class,           slice_is           },
    { xir_split_class,           split_is           },
    { xir_squeeze_class,         always             },
    { xir_swap_order_class,      swap_order_is      },
    { xir_tile_class,            tile_is            },
    { xir_transpose_class,       transpose_is       },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* What the op gives back unchanged; NULL: nothing. */
static xir_value *same_value(const xir_op *op, const xir_class_decl *const *decls) {
    if (op->n_outputs != 1 || !op->n_inputs || !op->inputs[0].value) return NULL;
    xir_value *x = op->inputs[0].value;
    const xir_i64s *dims = value_dims(x);
    if (!dims || x->producer == op || !same_kind(x, &op->outputs[0]) || (op->more && op->more->extra)) return NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (op->cls->decl == decls[i]) return rows[i].is(op, dims) ? x : NULL;
    }
    return NULL;
}

static xir_status run(xir_pass *at) {
    xir_network *net = at->net;
    const xir_class_decl *decls[ROWS];
    for (size_t i = 0; i < ROWS; i++) decls[i] = rows[i].cls();
    xir_status status = XIR_OK;
    results_begin(net);
    for (xir_op *op = net->first, *next; op && !status; op = next) {
        next = op->next;
        xir_value *x = same_value(op, decls);
        if (!x) continue;
        size_t moved = 0;
        status = value_take_place(x, &op->outputs[0], false, &moved);
        bool goes = !status && op_is_unused(op);
        if (goes) op_drop(op);
        xir_pass_changed(at, goes || moved);
    }
    results_end(net);
    return status == XIR_E_MEMORY ? pass_no_memory(at) : status;
}

const xir_pass_decl pass_identity = {
    XIR_PASS_HEAD("identity", "takes out ops that give what they are given"),
    .level = XIR_LEVEL_EXACT,
    .run = run,
};
