/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The window attributes of convolutions, pools and Unfold, in one struct for one, two and three spatial axes.
 *
 * Inference and the executor never see each other, and each computes with windows by its own formulas, so that one
 * checks the other. But the names of the attributes are the same for both, and for passes and conversion. They are read
 * here once, in a header over <xir/ops.h> that these layers may include and that computes nothing. */
#ifndef ATTRS_WINDOW_ATTRS_H
#define ATTRS_WINDOW_ATTRS_H

#include <xir/ops.h>

enum { WINDOW_AXES = 3 };

/* A window along one axis. */
typedef struct steps {
    int64_t     size;       /* 0 for convolutions: it is in the kernel        */
    int64_t stride, dilation, before, after;
    int64_t     extra;      /* output_pad of transposed convolutions              */
} steps;

typedef struct window_attrs {
    size_t      n;                    /* spatial axes                                       */
    steps       along[WINDOW_AXES];   /* n of them: W; H and W; D, H and W                  */
    int64_t     groups;               /* of convolutions                                    */
    xir_padding mode;                 /* XIR_PADDING_ZEROS if the class has no other        */
    bool        transposed;
    bool        max;                  /* a pool that takes the greatest                     */
    bool        padding_counts;       /* for means: count_include_pad                       */
    int64_t     divisor;              /* for means: divisor_override; 0: the number of cells */
} window_attrs;

#define STEPS_D(a)    .stride = (a)->stride_depth,  .before = (a)->pad_front, .after = (a)->pad_back
#define STEPS_H(a)    .stride = (a)->stride_height, .before = (a)->pad_top,   .after = (a)->pad_bottom
#define STEPS_W(a)    .stride = (a)->stride_width,  .before = (a)->pad_left,  .after = (a)->pad_right
#define DILATED_D(a)  STEPS_D(a), .dilation = (a)->dilation_depth
#define DILATED_H(a)  STEPS_H(a), .dilation = (a)->dilation_height
#define DILATED_W(a)  STEPS_W(a), .dilation = (a)->dilation_width

/* ---- convolutions --------------------------------------------------------------------------------------------- */

#define CONV_ATTRS(count, ...) \
    { .n = count, .along = { __VA_ARGS__ }, .groups = a->groups, .mode = a->padding_mode }
#define SPREAD_ATTRS(count, ...)   { .n = count, .along = { __VA_ARGS__ }, .groups = a->groups, .transposed = true }
#define SPREAD_D(a)  { DILATED_D(a), .extra = (a)->output_pad_depth  }
#define SPREAD_H(a)  { DILATED_H(a), .extra = (a)->output_pad_height }
#define SPREAD_W(a)  { DILATED_W(a), .extra = (a)->output_pad_width  }

static inline window_attrs conv1d_windows(const xir_conv1d_attrs *a) {
    return (window_attrs)CONV_ATTRS(1, { DILATED_W(a) });
}
static inline window_attrs conv2d_windows(const xir_conv2d_attrs *a) {
    return (window_attrs)CONV_ATTRS(2, { DILATED_H(a) }, { DILATED_W(a) });
}
static inline window_attrs conv3d_windows(const xir_conv3d_attrs *a) {
    return (window_attrs)CONV_ATTRS(3, { DILATED_D(a) }, { DILATED_H(a) }, { DILATED_W(a) });
}
static inline window_attrs conv_transpose1d_windows(const xir_conv_transpose1d_attrs *a) {
    return (window_attrs)SPREAD_ATTRS(1, SPREAD_W(a));
}
static inline window_attrs conv_transpose2d_windows(const xir_conv_transpose2d_attrs *a) {
    return (window_attrs)SPREAD_ATTRS(2, SPREAD_H(a), SPREAD_W(a));
}
static inline window_attrs conv_transpose3d_windows(const xir_conv_transpose3d_attrs *a) {
    return (window_attrs)SPREAD_ATTRS(3, SPREAD_D(a), SPREAD_H(a), SPREAD_W(a));
}

/* ---- pools ---------------------------------------------------------------------------------------------------- */

#define MEAN_ATTRS(count, ...) \
    { .n = count, .along = { __VA_ARGS__ }, .padding_counts = a->count_include_pad, .divisor = a->divisor_override }
#define MEAN_D(a)  { STEPS_D(a), .size = (a)->pool_depth,  .dilation = 1 }
#define MEAN_H(a)  { STEPS_H(a), .size = (a)->pool_height, .dilation = 1 }
#define MEAN_W(a)  { STEPS_W(a), .size = (a)->pool_width,  .dilation = 1 }
#define MOST_D(a)  { DILATED_D(a), .size = (a)->pool_depth  }
#define MOST_H(a)  { DILATED_H(a), .size = (a)->pool_height }
#define MOST_W(a)  { DILATED_W(a), .size = (a)->pool_width  }

static inline window_attrs avg_pool1d_windows(const xir_avg_pool1d_attrs *a) {
    return (window_attrs)MEAN_ATTRS(1, MEAN_W(a));
}
static inline window_attrs avg_pool2d_windows(const xir_avg_pool2d_attrs *a) {
    return (window_attrs)MEAN_ATTRS(2, MEAN_H(a), MEAN_W(a));
}
static inline window_attrs avg_pool3d_windows(const xir_avg_pool3d_attrs *a) {
    return (window_attrs)MEAN_ATTRS(3, MEAN_D(a), MEAN_H(a), MEAN_W(a));
}
static inline window_attrs max_pool1d_windows(const xir_max_pool1d_attrs *a) {
    return (window_attrs){ .n = 1, .along = { MOST_W(a) }, .max = true };
}
static inline window_attrs max_pool2d_windows(const xir_max_pool2d_attrs *a) {
    return (window_attrs){ .n = 2, .along = { MOST_H(a), MOST_W(a) }, .max = true };
}
static inline window_attrs max_pool3d_windows(const xir_max_pool3d_attrs *a) {
    return (window_attrs){ .n = 3, .along = { MOST_D(a), MOST_H(a), MOST_W(a) }, .max = true };
}

/* ---- Unfold --------------------------------------------------------------------------------------------------- */

static inline window_attrs unfold_windows(const xir_unfold_attrs *a) {
    return (window_attrs){ .n = 2, .along = { { DILATED_H(a), .size = a->kernel_height },
                                              { DILATED_W(a), .size = a->kernel_width } } };
}

/* ---- by class ------------------------------------------------------------------------------------------------- */

/* The attributes of a convolution or pool; n is 0 for any other class. */
static inline window_attrs window_attrs_of(const xir_class_decl *decl, const void *attrs) {
    if (decl == xir_conv2d_class())           return conv2d_windows(attrs);
    if (decl == xir_conv1d_class())           return conv1d_windows(attrs);
    if (decl == xir_conv3d_class())           return conv3d_windows(attrs);
    if (decl == xir_max_pool2d_class())       return max_pool2d_windows(attrs);
    if (decl == xir_max_pool1d_class())       return max_pool1d_windows(attrs);
    if (decl == xir_max_pool3d_class())       return max_pool3d_windows(attrs);
    if (decl == xir_avg_pool2d_class())       return avg_pool2d_windows(attrs);
    if (decl == xir_avg_pool1d_class())       return avg_pool1d_windows(attrs);
    if (decl == xir_avg_pool3d_class())       return avg_pool3d_windows(attrs);
    if (decl == xir_conv_transpose2d_class()) return conv_transpose2d_windows(attrs);
    if (decl == xir_conv_transpose1d_class()) return conv_transpose1d_windows(attrs);
    if (decl == xir_conv_transpose3d_class()) return conv_transpose3d_windows(attrs);
    return (window_attrs){ .n = 0 };
}

#undef STEPS_D
#undef STEPS_H
#undef STEPS_W
#undef DILATED_D
#undef DILATED_H
#undef DILATED_W
#undef CONV_ATTRS
#undef SPREAD_ATTRS
#undef SPREAD_D
#undef SPREAD_H
#undef SPREAD_W
#undef MEAN_ATTRS
#undef MEAN_D
#undef MEAN_H
#undef MEAN_W
#undef MOST_D
#undef MOST_H
#undef MOST_W

#endif
