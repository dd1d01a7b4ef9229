/* Rows of op types over the rows and columns of feature maps: convolutions, pools, resizes. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "onnx_rows.h"

/* ---- windows ------------------------------------------------------------------------------------------------------- */

/* The words of our attributes for each spatial axis, counted from the last one. */
static const char *const axis_words[3][4] = {
    { "width",  "pad_left",  "pad_right",  "W" },
    { "height", "pad_top",   "pad_bottom", "H" },
    { "depth",  "pad_front", "pad_back",   "D" },
};

enum { MOST_CELLS = 1 << 24 };   // along an axis, so that nothing overflows

/* Windows of a node over the last dims of its input. */
typedef struct windows {
    size_t  n;   /* spatial axes */
    int64_t input[3], size[3], stride[3], dilation[3], before[3], after[3];
} windows;

/* A list of as many items as there are axes, or twice as many; numbers that no window has are refused. */
static bool window_items(onnx_at *at, const char *name, size_t n, int64_t least, items *out) {
    if (!map_attr_items(at, name, out)) return false;
    if (out->n != n) return map_refused(at, "%s has %zu items, not %zu", name, out->n, n);
    for (size_t i = 0; i < n; i++) {
        if (out->v[i] < least || out->v[i] > MOST_CELLS) return map_refused(at, "%s is %lld", name, (long long)out->v[i]);
    }
    return true;
}

static bool read_windows(onnx_at *at, xir_value *x, const xir_value *kernel, windows *w) {
    items list;
    if (map_failed(at)) return false;
    size_t rank = map_rank_of(x);
    if (rank < 3 || rank > 5 || (kernel && map_rank_of(kernel) != rank)) return map_no_form(at, "%zu dims", rank);
    w->n = rank - 2;
    for (size_t k = 0; k < w->n; k++) {
        w->input[k] = map_dim_of(x, 2 + k);
        w->size[k] = kernel ? map_dim_of(kernel, 2 + k) : 1;
        w->stride[k] = w->dilation[k] = 1;
        w->before[k] = w->after[k] = 0;
        if (w->input[k] > MOST_CELLS || w->size[k] > MOST_CELLS) return map_no_form(at, "very large dims");
    }
    if (window_items(at, "kernel_shape", w->n, 1, &list)) memcpy(w->size, list.v, w->n * sizeof *list.v);
    if (window_items(at, "strides", w->n, 1, &list))      memcpy(w->stride, list.v, w->n * sizeof *list.v);
    if (window_items(at, "dilations", w->n, 1, &list))    memcpy(w->dilation, list.v, w->n * sizeof *list.v);
    if (window_items(at, "pads", 2 * w->n, 0, &list)) {
        memcpy(w->before, list.v, w->n * sizeof *list.v);
        memcpy(w->after, list.v + w->n, w->n * sizeof *list.v);
    }
    return !map_failed(at);
}

/* Padding by auto_pad: as many places as the stride divides the input into, rounded up. */
static bool pad_same(onnx_at *at, xir_value *x, windows *w) {
    bool lower = map_attr_is(at, "auto_pad", "SAME_LOWER");
    if (!lower && !map_attr_is(at, "auto_pad", "SAME_UPPER")) return true;
    if (!map_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; k < w->n; k++) {
        int64_t places = (w->input[k] + w->stride[k] - 1) / w->stride[k];
        int64_t total = (places - 1) * w->stride[k] + w->dilation[k] * (w->size[k] - 1) + 1 - w->input[k];
        if (total < 0) total = 0;
        w->before[k] = lower ? total - total / 2 : total / 2;
        w->after[k] = total - w->before[k];
    }
    return true;
}

/* Padding at the end so that a window which starts inside is counted although it does not end there. */
static bool pad_ceil(onnx_at *at, xir_value *x, windows *w) {
    if (!map_attr_int(at, "ceil_mode", 0)) return true;
    if (!map_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; k < w->n; k++) {
        int64_t room = w->input[k] + w->before[k] + w->after[k] - w->dilation[k] * (w->size[k] - 1) - 1;
        if (room % w->stride[k]) w->after[k] += w->stride[k] - room % w->stride[k];
    }
    return true;
}

typedef struct window_sets {
    set    data[24];
    char   names[12][24];
    size_t n, named;
} window_sets;

static void put_window(window_sets *s, const char *word, const char *axis, int64_t v) {
    char *name = s->names[s->named++];
    snprintf(name, sizeof s->names[0], "%s_%s", word, axis);
    s->data[s->n++] = (set)INT(name, v);
}

static void put_windows(window_sets *s, const windows *w, bool pool, bool dilated) {
    s->n = s->named = 0;
    for (size_t k = 0; k < w->n; k++) {
        const char *const *words = axis_words[w->n - 1 - k];
        if (pool) put_window(s, "pool", words[0], w->size[k]);
        put_window(s, "stride", words[0], w->stride[k]);
        if (dilated) put_window(s, "dilation", words[0], w->dilation[k]);
        s->data[s->n++] = (set)INT(words[1], w->before[k]);
        s->data[s->n++] = (set)INT(words[2], w->after[k]);
    }
}

xir_value *seed_make_conv(onnx_at *at, xir_value *x, xir_value *kernel, xir_value *bias) {
    static const char *const letters[] = { "OIL", "OIHW", "OIDHW" };
    windows w;
    window_sets s;
    char cls[32];
    if (!read_windows(at, x, kernel, &w) || !pad_same(at, x, &w)) return NULL;
    put_windows(&s, &w, false, true);
    s.data[s.n++] = (set)INT("groups", map_attr_int(at, "group", 1));
    x = map_lettered(at, x, map_feature_letters[w.n - 1]);
    kernel = map_lettered(at, kernel, letters[w.n - 1]);
    return map_make1(at, map_class_of_rank(cls, "Conv", w.n), INS(x, kernel, bias), (sets){ s.data, s.n });
}

bool row_conv(onnx_at *at) { return map_give(at, 0, seed_make_conv(at, map_in(at, 0), map_in(at, 1), map_opt(at, 2))); }

/* What is added at the end of the output follows from output_padding, or from output_shape and the padding that it
 * leaves. */
bool row_conv_transpose(onnx_at *at) {
    static const char *const letters[] = { "IOL", "IOHW", "IODHW" };
    xir_value *x = map_in(at, 0), *kernel = map_in(at, 1), *bias = map_opt(at, 2);
    windows w;
    window_sets s;
    char cls[32];
    items more, shape;
    if (!read_windows(at, x, kernel, &w)) return false;
    if (!window_items(at, "output_padding", w.n, 0, &more)) more = (items){ .n = w.n };
    bool upper = map_attr_is(at, "auto_pad", "SAME_UPPER"), same = upper || map_attr_is(at, "auto_pad", "SAME_LOWER");
    bool shaped = map_attr_items(at, "output_shape", &shape);
    if (shaped && shape.n < w.n) return map_refused(at, "output_shape has %zu items", shape.n);
    for (size_t k = 0; shaped && k < shape.n; k++) {
        if (shape.v[k] < 0 || shape.v[k] > MOST_CELLS) return map_refused(at, "output_shape is %lld", (long long)shape.v[k]);
    }
    if ((shaped || same) && !map_need_dims(at, x, 2, SIZE_MAX)) return false;
    for (size_t k = 0; (shaped || same) && k < w.n; k++) {
        int64_t out = shaped ? shape.v[shape.n - w.n + k] : w.input[k] * w.stride[k];
        int64_t total = w.stride[k] * (w.input[k] - 1) + more.v[k] + (w.size[k] - 1) * w.dilation[k] + 1 - out;
        if (total < 0) more.v[k] -= total, total = 0;
        w.before[k] = upper ? total / 2 : total - total / 2;
        w.after[k] = total - w.before[k];
    }
    put_windows(&s, &w, false, true);
    for (size_t k = 0; k < w.n; k++) put_window(&s, "output_pad", axis_words[w.n - 1 - k][0], more.v[k]);
    s.data[s.n++] = (set)INT("groups", map_attr_int(at, "group", 1));
    x = map_lettered(at, x, map_feature_letters[w.n - 1]);
    kernel = map_lettered(at, kernel, letters[w.n - 1]);
    return map_gives(at, map_class_of_rank(cls, "ConvTranspose", w.n), INS(x, kernel, bias), (sets){ s.data, s.n });
}

static bool pool(onnx_at *at, const char *family, bool dilated) {
    xir_value *x = map_in(at, 0);
    windows w;
    window_sets s;
    char cls[32];
    if (!read_windows(at, x, NULL, &w) || !pad_same(at, x, &w) || !pad_ceil(at, x, &w)) return false;
    if (at->n_out > 1) return map_no_form(at, "the places of the greatest elements");
    put_windows(&s, &w, true, dilated);
    if (!dilated) s.data[s.n++] = (set)INT("count_include_pad", map_attr_int(at, "count_include_pad", 0));
    if (!dilated && map_attr_int(at, "count_include_pad", 0) && map_attr_int(at, "ceil_mode", 0)) {
        return map_no_form(at, "padding counts but not that of ceil_mode");
    }
    x = map_lettered(at, x, map_feature_letters[w.n - 1]);
    return map_gives(at, map_class_of_rank(cls, family, w.n), INS(x), (sets){ s.data, s.n });
}
bool row_max_pool(onnx_at *at)     { return pool(at, "MaxPool", true); }
bool row_average_pool(onnx_at *at) { return pool(at, "AvgPool", false); }

static bool global_pool(onnx_at *at, const char *cls) {
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    const items axes = items_from(2, map_rank_of(x) - 2);
    return map_give(at, 0, seed_make_reduced(at, cls, x, &axes, true));
}
bool row_global_average_pool(onnx_at *at) { return global_pool(at, "Mean"); }
bool row_global_max_pool(onnx_at *at)     { return global_pool(at, "Max"); }

/* ---- other sizes --------------------------------------------------------------------------------------------------- */

/* The new dims, from scales or sizes. Where a scale does not give a whole number, ONNX goes on with the scale, not with the
 * quotient of the sizes: that is another function than ours. */
static bool new_sizes(onnx_at *at, xir_value *x, size_t scales_at, size_t sizes_at, items *out) {
    const onnx_number *known;
    size_t n;
    if (map_has_in(at, sizes_at)) return map_in_items(at, sizes_at, out);
    if (!map_in_known(at, scales_at, &known, &n)) return map_no_form(at, "the scales are not constant");
    if (n != map_rank_of(x)) return map_refused(at, "%zu scales for %zu dims", n, map_rank_of(x));
    out->n = n;
    for (size_t i = 0; i < n && n <= MOST_ITEMS; i++) {
        double size = (double)map_dim_of(x, i) * known[i].f;
        out->v[i] = known[i].f == 1 ? map_dim_of(x, i) : (int64_t)floor(size);
        if (known[i].f == 1) continue;
        if (map_dim_of(x, i) < 0) return map_no_form(at, "needs dims that are not known");
        if (size != floor(size)) return map_no_form(at, "a scale that gives no whole number");
    }
    return true;
}

/* Whether a place lies midway between two cells, which the nearest rounds down and ours up. */
static bool any_midway(const items *from, const items *to) {
    for (size_t i = 2; i < to->n; i++) {
        for (int64_t p = 0; p < to->v[i]; p++) {
            if (((2 * p + 1) * from->v[i]) % (2 * to->v[i]) == 0) return true;
        }
    }
    return false;
}

typedef enum resize_way { BY_CENTRES, BY_CORNERS, BY_WHOLE_FACTORS } resize_way;

/* How the places of the output lie in the input; false after a failure. */
static bool way_of(onnx_at *at, const items *from, const items *to, bool old, bool nearest, resize_way *out) {
    char place[48], round[48];
    map_upper(place, at, "coordinate_transformation_mode", old ? "ASYMMETRIC" : "HALF_PIXEL");
    map_upper(round, at, "nearest_mode", old ? "FLOOR" : "ROUND_PREFER_FLOOR");
    bool pytorch = strcmp(place, "PYTORCH_HALF_PIXEL") == 0, whole = true;
    for (size_t i = 2; i < to->n; i++) {
        whole = whole && from->v[i] > 0 && to->v[i] % from->v[i] == 0;
        if (pytorch && to->v[i] == 1) return map_no_form(at, "a single element, which is the first one there");
    }
    if (nearest && strcmp(place, "ASYMMETRIC") == 0 && strcmp(round, "FLOOR") == 0 && whole) {
        *out = BY_WHOLE_FACTORS;
    } else if (pytorch || strcmp(place, "HALF_PIXEL") == 0) {
        bool up = strcmp(round, "ROUND_PREFER_CEIL") == 0, down = strcmp(round, "ROUND_PREFER_FLOOR") == 0;
        if (nearest && !up && !(down && !any_midway(from, to))) return map_no_form(at, "another nearest element");
        *out = BY_CENTRES;
    } else if (!nearest && strcmp(place, "ALIGN_CORNERS") == 0) {
        *out = BY_CORNERS;
    } else {
        return map_no_form(at, "coordinates of another kind");
    }
    return true;
}

bool row_resize(onnx_at *at) {
    char mode[48];
    items to, from;
    resize_way way;
    xir_value *x = map_in(at, 0);
    bool old = at->opset < 11;   // Upsample too
    if (map_failed(at) || !new_sizes(at, x, old ? 1 : 2, old ? SIZE_MAX : 3, &to)) return false;
    from = map_dims_of(x);
    for (size_t i = 0; i < to.n; i++) {
        if (to.v[i] > MOST_CELLS || (i < from.n && from.v[i] > MOST_CELLS)) return map_no_form(at, "very large dims");
    }
    if (from.n != 4 || to.n != 4 || to.v[0] != from.v[0] || to.v[1] != from.v[1]) {
        return map_no_form(at, "other dims than rows and columns may change");
    }
    map_upper(mode, at, "mode", "nearest");
    bool nearest = strcmp(mode, "NEAREST") == 0, cubic = strcmp(mode, "CUBIC") == 0;
    if (nearest && !map_need_dims(at, x, 2, 4)) return false;
    if (map_attr_int(at, "exclude_outside", 0) || map_attr_real(at, "cubic_coeff_a", -0.75) != -0.75) {
        return map_no_form(at, "another cubic");
    }
    if (!way_of(at, &from, &to, old, nearest, &way)) return false;
    x = map_lettered(at, x, "NCHW");
    const items dsize = { 2, { to.v[2], to.v[3] } };
    if (way == BY_CENTRES && !cubic) {
        return map_gives(at, "Resize", INS(x),
                         SETS(ITEMS("dsize", &dsize),
                              WORD("interpolation", nearest ? "INTER_NEAREST" : "INTER_LINEAR")));
    }
    return map_gives(at, "Upsample", INS(x),
                     SETS(INT("height", dsize.v[0]), INT("width", dsize.v[1]),
                          WORD("interpolation", nearest ? "NEAREST" : cubic ? "BICUBIC" : "BILINEAR"),
                          INT("align_corners", way == BY_CORNERS)));
}

bool row_grid_sample(onnx_at *at) {
    char mode[48], padding[48];
    xir_value *x = map_in(at, 0);
    if (map_failed(at)) return false;
    if (map_rank_of(x) != 4) return map_no_form(at, "%zu dims", map_rank_of(x));
    map_upper(mode, at, "mode", "bilinear");
    const char *word = strcmp(mode, "BILINEAR") == 0 ? "LINEAR" : strcmp(mode, "BICUBIC") == 0 ? "CUBIC" : mode;
    return map_gives(at, "GridSample", INS(map_lettered(at, x, "NCHW"), map_in(at, 1)),
             SETS(WORD("interpolation", word), WORD("padding_mode", map_upper(padding, at, "padding_mode", "zeros")),
                  INT("align_corners", map_attr_int(at, "align_corners", 0))));
}
