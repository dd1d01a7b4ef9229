/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Dims of operators that compute sums: windows, products, recurrent networks, signals. */
#include "onnx/types.h"

/* ---- windows ---------------------------------------------------------------------------------------------------- */

/* Item `i` of a list of integers; `otherwise` if there is no list. Lists are short: a window has few axes. */
static int64_t item(xir_node *at, const char *name, size_t i, int64_t otherwise) {
    const xir_any *a = xir_node_attr(at, name);
    if (!a || a->kind != XIR_ANY_LIST || i >= a->as.list.size) return otherwise;
    return a->as.list.items[i].kind == XIR_ANY_INT ? a->as.list.items[i].as.integer : otherwise;
}

/* The elements from the first to the last of a window. */
static int64_t extent(xir_node *at, size_t k, int64_t size) {
    return size < 1 ? -1 : dim_sum(dim_product(item(at, "dilations", k, 1), size - 1), 1);
}

static bool is_same(const xir_node *at) {
    return xir_node_is(at, "auto_pad", "SAME_UPPER") || xir_node_is(at, "auto_pad", "SAME_LOWER");
}

/* Returns how many windows an axis has. */
static int64_t places(xir_node *at, size_t k, size_t n, int64_t whole, int64_t size) {
    const int64_t stride = item(at, "strides", k, 1), window = extent(at, k, size);
    const bool ceils = xir_node_int(at, "ceil_mode", 0), valid = xir_node_is(at, "auto_pad", "VALID");
    if (whole < 0 || stride < 1) return -1;
    if (is_same(at)) return whole / stride + (whole % stride != 0);
    const int64_t before = valid ? 0 : item(at, "pads", k, 0), after = valid ? 0 : item(at, "pads", k + n, 0);
    const int64_t room = dim_sum(dim_sum(whole, before), after);
    if (window < 0) return -1;
    if (room < window) return ceils && window - room < stride && dim_sum(whole, before) > 0 ? 1 : -1;
    const int64_t rest = room - window;
    /* one more window that starts in the padding at the end does not count */
    const bool more = ceils && rest % stride && dim_sum(rest - rest % stride, stride) >= 0 &&
                      dim_sum(rest - rest % stride, stride) < dim_sum(whole, before);
    return rest / stride + 1 + more;
}

/* The kernel: its dims from the second on, or the attribute. */
static int64_t window_size(xir_node *at, size_t k, const xir_ints *kernel) {
    const int64_t size = kernel && k + 2 < kernel->n ? kernel->v[k + 2] : -1;
    return size >= 0 ? size : item(at, "kernel_shape", k, -1);
}

bool onnx_shape_convolution(xir_node *at, xir_ints *dims) {
    const size_t w = xir_str_equal(at->cls->type, XIR_STR("QLinearConv")) ? 3 : 1;
    xir_ints kernel;
    if (!dims_of(at, 0, dims) || !dims_of(at, w, &kernel) || dims->n < 3 || kernel.n != dims->n) return false;
    dims->v[1] = kernel.v[0];
    for (size_t k = 0; k + 2 < dims->n; k++) {
        dims->v[k + 2] = places(at, k, dims->n - 2, dims->v[k + 2], window_size(at, k, &kernel));
    }
    return true;
}

bool onnx_shape_pool(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n < 3) return false;
    for (size_t k = 0; k + 2 < dims->n; k++) {
        dims->v[k + 2] = places(at, k, dims->n - 2, dims->v[k + 2], window_size(at, k, NULL));
    }
    return true;
}

/* The size that gives `whole` places, with the padding cut off. */
static int64_t spread(xir_node *at, size_t k, size_t n, int64_t whole, int64_t size) {
    const int64_t stride = item(at, "strides", k, 1);
    const int64_t pads = dim_sum(item(at, "pads", k, 0), item(at, "pads", k + n, 0));
    const int64_t all = dim_sum(dim_sum(dim_product(stride, whole - 1), extent(at, k, size)),
                                item(at, "output_padding", k, 0));
    return whole < 1 || pads < 0 || all < pads ? -1 : all - pads;
}

bool onnx_shape_transposed_convolution(xir_node *at, xir_ints *dims) {
    xir_ints kernel, shape;
    if (!dims_of(at, 0, dims) || !dims_of(at, 1, &kernel) || dims->n < 3 || kernel.n != dims->n) return false;
    const size_t n = dims->n - 2;
    const bool shaped = xir_node_items(at, "output_shape", &shape) && shape.n >= n;
    dims->v[1] = dim_product(kernel.v[1], xir_node_int(at, "group", 1));
    for (size_t k = 0; k < n; k++) {
        const int64_t whole = dims->v[k + 2];
        if (shaped) dims->v[k + 2] = dim_given(shape.v[shape.n - n + k]);
        else if (is_same(at)) dims->v[k + 2] = dim_product(whole, item(at, "strides", k, 1));
        else dims->v[k + 2] = spread(at, k, n, whole, window_size(at, k, &kernel));
    }
    return true;
}

bool onnx_shape_unpool(xir_node *at, xir_ints *dims) {
    xir_ints given;
    if (!dims_of(at, 0, dims) || dims->n < 3) return false;
    if (xir_node_has(at, 2) && items_of(at, NULL, 2, &given) && given.n == dims->n) {
        for (size_t k = 0; k < dims->n; k++) dims->v[k] = dim_given(given.v[k]);
        return true;
    }
    for (size_t k = 0; k + 2 < dims->n; k++) {
        dims->v[k + 2] = xir_node_has(at, 2) ? -1
            : spread(at, k, dims->n - 2, dims->v[k + 2], window_size(at, k, NULL));
    }
    return true;
}

bool onnx_shape_global_pool(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n < 2) return false;
    for (size_t k = 2; k < dims->n; k++) dims->v[k] = 1;
    return true;
}

/* The columns become an image: [N, C * block, L] to [N, C, image]. */
bool onnx_shape_col2im(xir_node *at, xir_ints *dims) {
    xir_ints x, image, block;
    if (!dims_of(at, 0, &x) || x.n != 3) return false;
    const bool known = items_of(at, NULL, 1, &image);
    const int64_t n = known ? (int64_t)image.n : length_of(at, 1);
    if (n < 0 || n > 64 || !open_dims(at, (size_t)n + 2, dims)) return false;
    dims->v[0] = x.v[0];
    const int64_t of = items_of(at, NULL, 2, &block) ? product_of(&block, 0, block.n) : -1;
    if (of > 0 && x.v[1] >= 0 && x.v[1] % of == 0) dims->v[1] = x.v[1] / of;
    for (size_t i = 0; known && i < image.n; i++) dims->v[i + 2] = dim_given(image.v[i]);
    return true;
}

/* Regions of feature maps: [regions, channels, height, width]. */
bool onnx_shape_regions(xir_node *at, xir_ints *dims) {
    xir_ints x, regions, size;
    if (!dims_of(at, 0, &x) || x.n != 4) return false;
    const bool listed = dims_of(at, 1, &regions) && regions.n == 2;
    const bool pooled = xir_node_items(at, "pooled_shape", &size) && size.n == 2;
    return dims_are(at, dims, DIMS(listed ? regions.v[0] : -1, x.v[1],
                                   dim_given(pooled ? size.v[0] : xir_node_int(at, "output_height", 1)),
                                   dim_given(pooled ? size.v[1] : xir_node_int(at, "output_width", 1))));
}

/* [N, C, H, W] to [N, H, W, 2], with depth to 3. */
bool onnx_shape_affine_grid(xir_node *at, xir_ints *dims) {
    xir_ints size;
    const bool known = items_of(at, NULL, 1, &size);
    const int64_t n = known ? (int64_t)size.n : length_of(at, 1);
    if (n < 4 || n > 5 || !open_dims(at, (size_t)n, dims)) return false;
    if (known) dims->v[0] = dim_given(size.v[0]);
    for (size_t i = 2; known && i < size.n; i++) dims->v[i - 1] = dim_given(size.v[i]);
    dims->v[n - 1] = n - 2;
    return true;
}

bool onnx_shape_grid_sample(xir_node *at, xir_ints *dims) {
    xir_ints grid;
    if (!dims_of(at, 0, dims) || !dims_of(at, 1, &grid) || grid.n != dims->n || dims->n < 3) return false;
    memcpy(dims->v + 2, grid.v + 1, (dims->n - 2) * sizeof *grid.v);
    return true;
}

bool onnx_shape_image(xir_node *at, xir_ints *dims) {
    return dims_are(at, dims, DIMS(-1, -1, xir_node_is(at, "pixel_format", "Grayscale") ? 1 : 3));
}

/* ---- products --------------------------------------------------------------------------------------------------- */

bool dims_of_product(xir_node *at, const xir_ints *a, const xir_ints *b, xir_ints *out) {
    if (a->n == 0 || b->n == 0) return false;
    const size_t row = a->n > 1, column = b->n > 1;
    const xir_ints outer_a = { a->v, row ? a->n - 2 : 0 }, outer_b = { b->v, column ? b->n - 2 : 0 };
    xir_ints outer;
    if (!dims_broadcast(at, &outer_a, &outer_b, &outer)) return false;
    int64_t ends[] = { a->v[a->n - 1 - row], b->v[b->n - 1] };
    const xir_ints last = { ends + !row, row + column };
    return dims_with(at, out, &outer, outer.n, outer.n, &last);
}

/* The second input of a product; the stored numbers of QLinearMatMul and QGemm come with a scale and a zero point. */
static size_t right_of(const xir_node *at) {
    return node_is_class(at, "QLinearMatMul") || node_is_class(at, "QGemm") ? 3 : 1;
}

bool onnx_shape_matmul(xir_node *at, xir_ints *dims) {
    xir_ints a, b;
    return dims_of(at, 0, &a) && dims_of(at, right_of(at), &b) && dims_of_product(at, &a, &b, dims);
}

bool onnx_shape_gemm(xir_node *at, xir_ints *dims) {
    xir_ints a, b;
    if (!dims_of(at, 0, &a) || !dims_of(at, right_of(at), &b) || a.n != 2 || b.n != 2) return false;
    return dims_are(at, dims, DIMS(a.v[xir_node_int(at, "transA", 0) ? 1 : 0],
                                   b.v[xir_node_int(at, "transB", 0) ? 0 : 1]));
}

bool onnx_shape_det(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n < 2) return false;
    dims->n -= 2;
    return true;
}

/* The letters of an equation, and the dims that the inputs give them. */
typedef struct letters {
    int64_t  dim[128];
    unsigned uses[128];
    xir_ints rest;      /* of "..." */
} letters;

/* Reads the letters of one operand, up to ',', '-' or the end. */
static bool read_operand(xir_node *at, letters *l, const char **p, const char *end, const xir_ints *x) {
    size_t own = 0, i = 0;
    for (const char *q = *p; q < end && *q != ',' && *q != '-'; q++) own += *q != ' ' && *q != '.';
    if (own > x->n) return false;
    for (; *p < end && **p != ',' && **p != '-'; (*p)++) {
        const unsigned char c = (unsigned char)**p;
        if (c == ' ') continue;
        if (c == '.') {
            if (end - *p < 3) return false;
            const xir_ints part = { x->v + i, x->n - own };
            if (i + part.n > x->n || !dims_broadcast(at, &l->rest, &part, &l->rest)) return false;
            i += part.n;
            *p += 2;
        } else {
            if (c >= 128 || i >= x->n) return false;
            if (!l->uses[c]++ || l->dim[c] < 2) l->dim[c] = x->v[i];
            i++;
        }
    }
    return i == x->n;
}

/* Writes the dims of the letters of the output; without "->" these are the ones that appear once, in order. */
static bool write_result(xir_node *at, const letters *l, const char *p, const char *end, xir_ints *dims) {
    char once[130] = "";
    size_t room;
    if (!p) {
        size_t n = 0;
        for (unsigned c = 0; c < 128; c++) if (l->uses[c] == 1) once[n++] = (char)c;
        p = once, end = once + n;
        room = l->rest.n + n;
        if (!open_dims(at, room, dims)) return false;
        memcpy(dims->v, l->rest.v, l->rest.n * sizeof *dims->v);
        dims->n = l->rest.n;
    } else {
        room = l->rest.n + (size_t)(end - p);
        if (!open_dims(at, room, dims)) return false;
        dims->n = 0;
    }
    for (; p < end; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == ' ') continue;
        if (c == '.') {
            if (end - p < 3 || dims->n + l->rest.n > room) return false;
            memcpy(dims->v + dims->n, l->rest.v, l->rest.n * sizeof *dims->v);
            dims->n += l->rest.n;
            p += 2;
        } else if (c >= 128 || !l->uses[c] || dims->n == room) {
            return false;
        } else {
            dims->v[dims->n++] = l->dim[c];
        }
    }
    return true;
}

bool onnx_shape_einsum(xir_node *at, xir_ints *dims) {
    const xir_str text = xir_node_text(at, "equation", "");
    const char *p = text.data, *end = text.data + text.size;
    letters l = { .uses = { 0 } };
    xir_ints x;
    size_t dots = 0;
    for (size_t i = 0; i < text.size; i++) dots += text.data[i] == '.';
    if (dots % 3 || dots / 3 > at->n_in + 1 || !open_dims(at, 0, &l.rest)) return false;
    for (size_t i = 0; i < at->n_in; i++) {
        if (i && (p == end || *p++ != ',')) return false;
        if (!dims_of(at, i, &x) || !read_operand(at, &l, &p, end, &x)) return false;
    }
    if (p == end) return write_result(at, &l, NULL, NULL, dims);
    return end - p >= 2 && p[1] == '>' && write_result(at, &l, p + 2, end, dims);
}

/* ---- attention and recurrent networks --------------------------------------------------------------------------- */

/* Queries, keys and values are [batch, heads, positions, size] or [batch, positions, heads * size]. */
bool onnx_shape_attention(xir_node *at, xir_ints *dims) {
    const int64_t heads = xir_node_int(at, "q_num_heads", -1), kv_heads = xir_node_int(at, "kv_num_heads", -1);
    xir_ints q, k, v, past;
    if (!dims_of(at, 0, &q) || !dims_of(at, 1, &k) || !dims_of(at, 2, &v)) return false;
    if (q.n != k.n || q.n != v.n || (q.n != 3 && q.n != 4)) return false;
    const bool flat = q.n == 3;
    const int64_t of = flat ? kv_heads : v.v[1];   /* heads of keys and values */
    const int64_t size = flat ? of > 0 && v.v[2] >= 0 ? v.v[2] / of : -1 : v.v[3];
    const int64_t key_size = flat ? of > 0 && k.v[2] >= 0 ? k.v[2] / of : -1 : k.v[3];
    const int64_t own = flat ? heads : q.v[1], tokens = q.v[flat ? 1 : 2];
    const bool has_past = xir_node_has(at, 4);
    int64_t positions = k.v[flat ? 1 : 2];
    if (has_past) positions = dims_of(at, 4, &past) && past.n == 4 ? dim_sum(past.v[2], positions) : -1;
    switch (at->asked) {
    case 0:  return dims_are(at, dims, flat ? DIMS(q.v[0], tokens, dim_product(heads, size))
                                            : DIMS(q.v[0], own, tokens, size));
    case 1:  return dims_are(at, dims, DIMS(q.v[0], of, positions, key_size));
    case 2:  return dims_are(at, dims, DIMS(q.v[0], of, positions, size));
    default: return dims_are(at, dims, DIMS(q.v[0], own, tokens, positions));
    }
}

/* Y [times, directions, batch, hidden], and states [directions, batch, hidden]; layout 1 has the batch first. */
bool onnx_shape_recurrent(xir_node *at, xir_ints *dims) {
    xir_ints x, r;
    if (!dims_of(at, 0, &x) || x.n != 3) return false;
    const bool batch_first = xir_node_int(at, "layout", 0);
    int64_t hidden = dim_given(xir_node_int(at, "hidden_size", -1));
    if (hidden < 0 && dims_of(at, 2, &r) && r.n == 3) hidden = r.v[2];
    const int64_t directions = xir_node_is(at, "direction", "bidirectional") ? 2 : 1;
    const int64_t times = x.v[batch_first ? 1 : 0], batch = x.v[batch_first ? 0 : 1];
    const xir_ints *const all[2][2] = {
        { DIMS(times, directions, batch, hidden), DIMS(directions, batch, hidden) },
        { DIMS(batch, times, directions, hidden), DIMS(batch, directions, hidden) },
    };
    return dims_are(at, dims, all[batch_first][at->asked > 0]);
}

/* ---- normalisations and losses ---------------------------------------------------------------------------------- */

bool onnx_shape_batch_normalization(xir_node *at, xir_ints *dims) {
    return dims_of(at, at->asked ? 1 : 0, dims);
}

/* Mean and deviation have dims of 1 from the axis on. */
bool onnx_shape_layer_normalization(xir_node *at, xir_ints *dims) {
    size_t axis;
    if (!dims_of(at, 0, dims)) return false;
    if (at->asked && !axis_in(xir_node_int(at, "axis", -1), dims->n, &axis)) return false;
    for (size_t i = at->asked ? axis : dims->n; i < dims->n; i++) dims->v[i] = 1;
    return true;
}

bool onnx_shape_dynamic_quantize(xir_node *at, xir_ints *dims) {
    return at->asked ? open_dims(at, 0, dims) : dims_of(at, 0, dims);
}

bool onnx_shape_cross_entropy(xir_node *at, xir_ints *dims) {
    if (at->asked) return dims_of(at, 0, dims);
    return xir_node_is(at, "reduction", "none") ? dims_of(at, 1, dims) : open_dims(at, 0, dims);
}

/* ---- signals and texts ------------------------------------------------------------------------------------------ */

/* The last dim is 2, for complex numbers, and 1 for the real ones that an inverse of half a spectrum gives. */
bool onnx_shape_dft(xir_node *at, xir_ints *dims) {
    const bool half = xir_node_int(at, "onesided", 0), inverse = xir_node_int(at, "inverse", 0);
    xir_ints list;
    size_t axis;
    if (!dims_of(at, 0, dims) || dims->n < 2) return false;
    int64_t which = xir_node_int(at, "axis", at->cls->version < 20 ? 1 : -2);
    const bool known = !xir_node_has(at, 2) || (items_of(at, NULL, 2, &list) && list.n == 1);
    if (xir_node_has(at, 2) && known) which = list.v[0];
    dims->v[dims->n - 1] = half && inverse ? 1 : 2;
    if (!known || !axis_in(which, dims->n, &axis)) return open_dims(at, dims->n, dims);
    if (xir_node_has(at, 1)) dims->v[axis] = number_of(at, 1);
    if (half && inverse && !xir_node_has(at, 1)) dims->v[axis] = dim_product(2, dims->v[axis] - 1);
    else if (half && !inverse && dims->v[axis] >= 0) dims->v[axis] = dims->v[axis] / 2 + 1;
    return true;
}

/* [batch, frames, bins, 2] */
bool onnx_shape_stft(xir_node *at, xir_ints *dims) {
    xir_ints x, window;
    if (!dims_of(at, 0, &x) || x.n < 2 || !open_dims(at, 4, dims)) return false;
    int64_t length = xir_node_has(at, 3) ? number_of(at, 3) : -1;
    if (!xir_node_has(at, 3) && dims_of(at, 2, &window) && window.n == 1) length = window.v[0];
    const int64_t step = number_of(at, 1);
    dims->v[0] = x.v[0];
    if (length > 0 && step > 0 && x.v[1] >= length) dims->v[1] = (x.v[1] - length) / step + 1;
    if (length > 0) dims->v[2] = xir_node_int(at, "onesided", 1) ? length / 2 + 1 : length;
    dims->v[3] = 2;
    return true;
}

bool onnx_shape_mel_weights(xir_node *at, xir_ints *dims) {
    if (!open_dims(at, 2, dims)) return false;
    const int64_t bins = number_of(at, 0), length = number_of(at, 1);
    if (length >= 0) dims->v[0] = length / 2 + 1;
    dims->v[1] = bins;
    return true;
}

bool onnx_shape_multinomial(xir_node *at, xir_ints *dims) {
    if (!dims_of(at, 0, dims) || dims->n != 2) return false;
    dims->v[1] = dim_given(xir_node_int(at, "sample_size", 1));
    return true;
}

/* One count for each n-gram, whose places the attribute lists. */
bool onnx_shape_ngrams(xir_node *at, xir_ints *dims) {
    xir_ints x, places_of;
    int64_t most = -1;
    if (!dims_of(at, 0, &x) || x.n < 1 || x.n > 2 || !open_dims(at, x.n, dims)) return false;
    const bool listed = xir_node_items(at, "ngram_indexes", &places_of);
    for (size_t i = 0; listed && i < places_of.n; i++) if (places_of.v[i] > most) most = places_of.v[i];
    if (x.n == 2) dims->v[0] = x.v[0];
    dims->v[x.n - 1] = most < 0 || most == INT64_MAX ? -1 : most + 1;
    return true;
}
