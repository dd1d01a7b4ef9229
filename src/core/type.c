/* Types answer without failing, so every question here takes NULL, a type of a foreign class, and a body
 * with holes as a broken file leaves them. A new type is a copy of a body with one field changed, interned
 * in the context. */
#include <stdarg.h>
#include <stdio.h>
#include "types.h"

/* ---- failing ----------------------------------------------------------------------------------------------- */

const void *refuse(xir_diags *why, xir_status code, const char *where, const char *format, ...) {
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    diag_fail(why, code, xir_str_of(where), "%s", sentence);
    return NULL;
}

const void *out_of_memory(xir_diags *why) {
    diag_memory(why);
    return NULL;
}

/* ---- making ------------------------------------------------------------------------------------------------ */

const xir_type *type_bool(home *h) {
    return (const xir_type *)home_intern(h, &(xir_object){ .cls = h->ctx->types[CLASS_bool_type] });
}

const xir_type *type_integer(home *h, bool sign, int64_t bits) {
    if (bits < 1 || bits > TYPE_BITS_MOST) return NULL;
    xir_integer_type type = { { .cls = h->ctx->types[CLASS_integer_type] }, sign, bits };
    return (const xir_type *)home_intern(h, &type.head);
}

const xir_type *type_float(home *h, xir_float_format format) {
    if ((unsigned)format > XIR_FLOAT_FPE6M9) return NULL;
    xir_float_type type = { { .cls = h->ctx->types[CLASS_float_type] }, format };
    return (const xir_type *)home_intern(h, &type.head);
}

const xir_type *type_tensor(home *h, const xir_type *element, const xir_layout *layout, xir_i64s shape,
                            xir_refs distrs) {
    if (!layout) layout = layout_default(h, shape.size);
    if (!layout) return NULL;
    xir_tensor_type type = { { .cls = h->ctx->types[CLASS_tensor_type] }, element, shape, layout, distrs };
    return (const xir_type *)home_intern(h, &type.head);
}

const xir_type *xir_bool_type_get(xir_context *ctx)        { return type_bool(context_home(ctx)); }
const xir_type *xir_sint(xir_context *ctx,
                         int64_t bits)   { return type_integer(context_home(ctx), true, bits); }
const xir_type *xir_uint(xir_context *ctx,
                         int64_t bits)   { return type_integer(context_home(ctx), false, bits); }
const xir_type *xir_float(xir_context *ctx, xir_float_format format) {
    return type_float(context_home(ctx), format);
}

const xir_type *xir_tensor(xir_context *ctx, const xir_type *element, const xir_layout *layout,
                           const int64_t *dims, size_t rank) {
    if (!element || xir_type_tensor(element)) return NULL;
    return type_tensor(context_home(ctx), element, layout, (xir_i64s){ dims, rank }, (xir_refs){ 0 });
}

const xir_type *xir_tensor_named(xir_context *ctx, const xir_type *element, const char *layout,
                                 const int64_t *dims, size_t rank) {
    const xir_layout *parsed = layout ? xir_layout_parse(ctx, xir_str_of(layout), NULL) : NULL;
    if (layout && !parsed) return NULL;
    return xir_tensor(ctx, element, parsed, dims, rank);
}

/* ---- asking any type --------------------------------------------------------------------------------------- */

xir_type_kind xir_type_kind_of(const xir_type *type) {
    int what = object_what(type);
    return what ? (xir_type_kind)(what - 1) : XIR_TYPE_OTHER;
}

bool xir_type_equal(const xir_type *a, const xir_type *b) {
    return xir_object_equal((const xir_object *)a, (const xir_object *)b);
}

bool xir_type_is_scalar(const xir_type *type) {
    if (!type) return false;
    const xir_class *cls = ((const xir_object *)type)->cls;
    return xir_class_under(cls, cls->ctx->types[CLASS_scalar_type]);
}

bool xir_type_is_quantized(const xir_type *type) {
    if (!type) return false;
    const xir_class *cls = ((const xir_object *)type)->cls;
    return xir_class_under(cls, cls->ctx->types[CLASS_quant_type]);
}

const xir_tensor_type *xir_type_tensor(const xir_type *type) {
    return xir_type_kind_of(type) == XIR_TYPE_TENSOR ? (const xir_tensor_type *)type : NULL;
}

static const xir_type *element_of(const xir_type *type) {
    return xir_type_tensor(type) ? xir_type_tensor(type)->element_dtype : type;
}

const xir_type *xir_type_storage(const xir_type *type) {
    type = element_of(type);
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_CALIBRATED:           return ((const xir_calibrated_type *)type)->storage_dtype;
    case XIR_TYPE_NORMALIZED:           return ((const xir_normalized_type *)type)->storage_dtype;
    case XIR_TYPE_QUANTIZED:            return ((const xir_quantized_type *)type)->storage_dtype;
    case XIR_TYPE_NORMALIZED_QUANTIZED: return ((const xir_normalized_quantized_type *)type)->storage_dtype;
    default:                            return type;
    }
}

const xir_type *xir_type_expressed(const xir_type *type) {
    type = element_of(type);
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_CALIBRATED:           return ((const xir_calibrated_type *)type)->expressed_dtype;
    case XIR_TYPE_NORMALIZED:           return ((const xir_normalized_type *)type)->expressed_dtype;
    case XIR_TYPE_QUANTIZED:            return ((const xir_quantized_type *)type)->expressed_dtype;
    case XIR_TYPE_NORMALIZED_QUANTIZED: return ((const xir_normalized_quantized_type *)type)->expressed_dtype;
    default:                            return type;
    }
}

/* ORDER FLOAT */
static const uint8_t float_bits[] = { 16, 32, 64, 16, 32, 16, 16 };

/* Files may put quantised types into quantised types; objects never contain themselves, so this ends. */
uint64_t xir_type_storage_bits(const xir_type *type) {
    for (const xir_type *inner;; type = inner) {
        inner = xir_type_storage(type);
        if (inner == type) break;
    }
    switch (xir_type_kind_of(type)) {
    case XIR_TYPE_BOOL:    return 8;
    case XIR_TYPE_INTEGER: {
        int64_t bits = ((const xir_integer_type *)type)->ibits;
        return bits < 1 || bits > TYPE_BITS_MOST ? 0 : (uint64_t)bits;
    }
    case XIR_TYPE_FLOAT: {
        unsigned format = ((const xir_float_type *)type)->format;
        return format < sizeof float_bits ? float_bits[format] : 0;
    }
    default: return 0;
    }
}

/* ---- asking tensors ---------------------------------------------------------------------------------------- */

const xir_type *xir_type_element(const xir_type *type) {
    return xir_type_tensor(type) ? xir_type_tensor(type)->element_dtype : NULL;
}

const xir_layout *xir_type_layout(const xir_type *type) {
    return xir_type_tensor(type) ? xir_type_tensor(type)->layout : NULL;
}

static xir_i64s shape_of(const xir_type *type) {
    return xir_type_tensor(type) ? xir_type_tensor(type)->shape : (xir_i64s){ 0 };
}

size_t xir_type_rank(const xir_type *type) { return shape_of(type).size; }

/* The dim of a tiled axis times its unit; unknown if either is, or if there is no such number. */
static int64_t combined(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || !mul_i64(a, b, &product) ? -1 : product;
}

static char other_case(char axis) { return axis == '*' ? axis : (char)(axis ^ 0x20); }

/* The dim of an axis letter's first place; false if the layout has none or the shape is too short for it. */
static bool letter_dim(const xir_type *type, char axis, int64_t *dim) {
    int64_t at = xir_layout_index(xir_type_layout(type), axis);
    xir_i64s shape = shape_of(type);
    if (at < 0 || (uint64_t)at >= shape.size) return false;
    *dim = shape.data[at];
    return true;
}

int64_t xir_type_dim(const xir_type *type, int64_t i, bool combine) {
    xir_i64s shape = shape_of(type);
    if (i < 0) i += (int64_t)shape.size;
    if (i < 0 || (uint64_t)i >= shape.size) return 0;
    char axis = combine ? xir_layout_axis(xir_type_layout(type), (size_t)i) : '*';
    int64_t partner;
    if (axis == '\0' || axis == '*' || !letter_dim(type, other_case(axis), &partner)) return shape.data[i];
    return combined(shape.data[i], partner);
}

int64_t xir_type_axis_dim(const xir_type *type, char axis, bool combine) {
    int64_t dim, partner;
    bool has = letter_dim(type, axis, &dim);
    if (!combine || axis == '*') return has ? dim : 0;
    bool has_partner = letter_dim(type, other_case(axis), &partner);
    if (has && has_partner) return combined(dim, partner);
    return has ? dim : has_partner ? partner : 0;
}

int64_t xir_type_channels(const xir_type *type) {
    const xir_layout *layout = xir_type_layout(type);
    for (const char *axis = "COI"; *axis; axis++) {
        if (xir_layout_has(layout, *axis) || xir_layout_has(layout, other_case(*axis))) {
            return xir_type_axis_dim(type, *axis, true);
        }
    }
    return 0;
}

bool xir_type_is_layouted(const xir_type *type) { return xir_layout_is_layouted(xir_type_layout(type)); }

bool xir_type_has_unknown_dim(const xir_type *type) {
    xir_i64s shape = shape_of(type);
    for (size_t i = 0; i < shape.size; i++) {
        if (shape.data[i] < 0) return true;
    }
    return false;
}

/* A dim of 0 makes the product 0, however large the others are. */
static xir_status product_of(xir_i64s dims, int64_t *out) {
    bool unknown = false, zero = false, over = false;
    int64_t product = 1;
    for (size_t i = 0; i < dims.size; i++) {
        unknown |= dims.data[i] < 0;
        zero |= dims.data[i] == 0;
        over |= !mul_i64(product, dims.data[i], &product);
    }
    *out = 0;
    if (unknown) return XIR_E_BOUNDS;
    if (over && !zero) return XIR_E_LIMIT;
    *out = zero ? 0 : product;
    return XIR_OK;
}

xir_status xir_type_elements(const xir_type *type, int64_t *out) {
    *out = 0;
    if (xir_type_tensor(type)) return product_of(shape_of(type), out);
    if (!xir_type_is_scalar(type)) return XIR_E_UNKNOWN;
    *out = 1;
    return XIR_OK;
}

xir_status xir_type_bytes(const xir_type *type, uint64_t *out) {
    int64_t elements;
    *out = 0;
    xir_status status = xir_type_elements(type, &elements);
    if (status) return status;
    uint64_t bits = xir_type_storage_bits(type), n = (uint64_t)elements, whole, bytes;
    if (bits == 0) return XIR_E_UNKNOWN;
    /* Eight elements take `bits` bytes: the number of bits need not fit. */
    if (!mul_u64(n / 8, bits, &whole) || !add_u64(whole, (n % 8 * bits + 7) / 8, &bytes)) return XIR_E_LIMIT;
    *out = bytes;
    return XIR_OK;
}

static bool same_axes(const xir_distr *distr, const int64_t *axes, size_t n) {
    return distr->merged_axis.size == n &&
            (n == 0 || memcmp(distr->merged_axis.data, axes, n * sizeof *axes) == 0);
}

/* Where the distribution over these dims is; as many as there are if there is none. */
static size_t find_distr(const xir_tensor_type *tensor, const int64_t *axes, size_t n) {
    size_t i = 0;
    for (; i < tensor->merged_distrs.size; i++) {
        const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[i];
        if (distr && same_axes(distr, axes, n)) break;
    }
    return i;
}

const xir_distr *xir_type_distr(const xir_type *type, const int64_t *axes, size_t n) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    size_t i = tensor ? find_distr(tensor, axes, n) : 0;
    return tensor && i < tensor->merged_distrs.size ? (const xir_distr *)tensor->merged_distrs.data[i] : NULL;
}

const xir_object *xir_type_object(const xir_type *type) { return (const xir_object *)type; }

/* ---- rules ------------------------------------------------------------------------------------------------- */

void fault(fault_sink *sink, const char *where, const char *format, ...) {
    char sentence[256];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    sink->count++;
    sink->fault(sink->user, where, sentence);
}

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static void distr_faults(const xir_tensor_type *tensor, size_t index, fault_sink *sink) {
    const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[index];
    char where[48];
    snprintf(where, sizeof where, "merged_distrs/%zu", index);
    if (!distr) {
        fault(sink, where, "a distribution expected, found none");
        return;
    }
    /* Past the first 4096 dims, which only a file with bad intentions has, a repeated one shows in the
     * product alone. */
    enum { SEEN = 64 };
    uint64_t seen[SEEN] = { 0 };
    int64_t product = 1;
    bool known = true, over = false, zero = false;
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = distr->merged_axis.data[i];
        if (axis < 0 || (uint64_t)axis >= tensor->shape.size) {
            fault(sink, where, "the distribution merges dim %lld, a dim below %zu is expected",
                  (long long)axis, tensor->shape.size);
            return;
        }
        if (axis < 64 * SEEN) {
            uint64_t bit = (uint64_t)1 << (axis % 64), *word = &seen[axis / 64];
            if (*word & bit) {
                fault(sink, where, "the distribution merges dim %lld twice, once is expected",
                      (long long)axis);
                return;
            }
            *word |= bit;
        }
        int64_t dim = tensor->shape.data[axis];
        known &= dim >= 0;
        zero |= dim == 0;
        over |= !mul_i64(product, dim, &product);
    }
    int64_t total = xir_distr_total(distr);
    if (!known) return;
    if (zero) product = 0, over = false;
    if (over) {
        fault(sink, where, "the distribution has %lld elements, the dims that it merges have more than 2^63",
              (long long)total);
    } else if (total != product) {
        fault(sink, where, "the distribution has %lld elements, the dims that it merges have %lld",
              (long long)total,
              (long long)product);
    }
}

void tensor_faults(const xir_tensor_type *tensor, fault_sink *sink) {
    const xir_layout *layout = tensor->layout;
    size_t rank = tensor->shape.size, axes = xir_layout_rank(layout);
    xir_str text = xir_layout_text(layout);
    int shown = text.size < 80 ? (int)text.size : 80;
    if (!layout) {
        fault(sink, "layout", "a layout expected, found none");
    } else if (axes != rank) {
        fault(sink, "layout", "layout %.*s has %zu %s, a layout of %zu is expected for a shape of %zu dim%s",
              shown, text.data, axes,
              axes == 1 ? "axis" : "axes", rank, rank, plural(rank));
    }
    form_text t = layout_walk(layout);
    layout_axis a;
    for (size_t i = 0; layout_next(&t, &a) && i < rank; i++) {
        int64_t dim = tensor->shape.data[i];
        if (a.unit && dim >= 0 && a.unit != dim) {
            fault(sink, "layout",
                  "axis %zu of layout %.*s has the unit %lld, dim %zu is expected to be that and is %lld", i, shown,
                  text.data, (long long)a.unit, i, (long long)dim);
        }
    }
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) distr_faults(tensor, i, sink);
}

static void to_infer(void *user, const char *where, const char *sentence) {
    xir_infer_fail(user, XIR_E_INVALID, where, "%s", sentence);
}

xir_status xir_tensor_type_check(xir_infer *at) {
    const xir_tensor_type *tensor = xir_infer_attrs(at);
    fault_sink sink = { to_infer, at, 0 };
    layout_faults(tensor->layout, &sink);
    tensor_faults(tensor, &sink);
    return sink.count ? XIR_E_INVALID : XIR_OK;
}

/* ---- variants ---------------------------------------------------------------------------------------------- */

/* A body to change; false with a finding if the type is no tensor. A variant is written in full, whatever
 * the file of the old type left out. */
static bool start(const xir_type *type, xir_tensor_type *out, xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_tensor(type);
    if (!tensor) {
        diag_fail(why, XIR_E_TYPE, XIR_STR(""), "a tensor type expected, found %s", type ? "another one"
                  : "none");
        return false;
    }
    *out = *tensor;
    out->head.hash = out->head.absent = 0;
    return true;
}

static const xir_type *finish(xir_context *ctx, const xir_tensor_type *tensor, xir_diags *why) {
    const xir_object *made = home_intern(context_home(ctx), &tensor->head);
    if (!made) diag_memory(why);
    return (const xir_type *)made;
}

static void to_diags(void *user, const char *where, const char *sentence) {
    diag_fail(user, XIR_E_INVALID, xir_str_of(where), "%s", sentence);
}

static bool fits(const xir_tensor_type *tensor, xir_diags *why) {
    fault_sink sink = { to_diags, why, 0 };
    tensor_faults(tensor, &sink);
    return sink.count == 0;
}

const xir_type *xir_type_with_element(xir_context *ctx, const xir_type *type, const xir_type *element,
                                      xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    if (!element || xir_type_tensor(element)) {
        return refuse(why, XIR_E_TYPE, "", "a scalar type expected as element, found %s", element ? "a tensor" : "none");
    }
    now.element_dtype = element;
    return finish(ctx, &now, why);
}

const xir_type *xir_type_with_layout(xir_context *ctx, const xir_type *type, const xir_layout *layout,
                                     xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    if (!layout && !(layout = xir_layout_default(ctx, now.shape.size))) {
        return out_of_memory(why);
    }
    now.layout = layout;
    return fits(&now, why) ? finish(ctx, &now, why) : NULL;
}

static bool only_stars(const xir_layout *layout) {
    xir_str text = xir_layout_text(layout);
    size_t i = 0;
    while (i < text.size && text.data[i] == '*') i++;
    return i == text.size;
}

const xir_type *xir_type_with_shape(xir_context *ctx, const xir_type *type, const int64_t *dims, size_t rank,
                                    xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    now.shape = (xir_i64s){ dims, rank };
    if (only_stars(now.layout) && !(now.layout = xir_layout_default(ctx, rank))) {
        return out_of_memory(why);
    }
    return fits(&now, why) ? finish(ctx, &now, why) : NULL;
}

/* The tensor with `distr` at place `at` of its distributions: behind them, instead of one, or, if it is
 * NULL, with that one left out. Whether the layout fits is not asked here. */
static const xir_type *with_distr(xir_context *ctx, xir_tensor_type *now, size_t at, const xir_distr *distr,
                                  xir_diags *why) {
    enum { FEW = 8 };
    const xir_object *few[FEW], **list = few;
    xir_refs old = now->merged_distrs;
    size_t room = old.size + 1, n = 0;
    const xir_allocator *alloc = context_alloc(ctx);
    if (room > FEW && !(list = mem_new(alloc, room * sizeof *list))) {
        return out_of_memory(why);
    }
    for (size_t i = 0; i <= old.size; i++) {
        const xir_object *item = i == at ? (const xir_object *)distr : i < old.size ? old.data[i] : NULL;
        if (item) list[n++] = item;
    }
    now->merged_distrs = (xir_refs){ list, n };
    fault_sink sink = { to_diags, why, 0 };
    if (distr) distr_faults(now, at, &sink);
    const xir_type *made = sink.count ? NULL : finish(ctx, now, why);
    if (list != few) mem_free(alloc, (void *)list, room * sizeof *list);
    return made;
}

/* Dims for a sentence: "[1, 4]", the first few of many. */
typedef struct axes_text { char text[80]; } axes_text;
static const char *write_axes(axes_text *out, const int64_t *axes, size_t n) {
    size_t at = 0, size = sizeof out->text;
    out->text[0] = '\0';
    for (size_t i = 0; i < n && at + 24 < size; i++) {
        int put = snprintf(out->text + at, size - at, i ? ", %lld" : "%lld", (long long)axes[i]);
        at += put > 0 ? (size_t)put : 0;
    }
    return out->text;
}

/* As find_distr; a finding if there is none. */
static bool need_distr(const xir_tensor_type *tensor, const int64_t *axes, size_t n, size_t *at,
                       xir_diags *why) {
    *at = find_distr(tensor, axes, n);
    if (*at < tensor->merged_distrs.size) return true;
    axes_text text;
    diag_fail(why, XIR_E_MISSING, XIR_STR("merged_distrs"), "a distribution over [%s] expected, found none",
              write_axes(&text, axes, n));
    return false;
}

const xir_type *xir_type_add_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                   xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    size_t at = find_distr(&now, axes, n);
    if (at < now.merged_distrs.size) {
        axes_text text;
        return refuse(why, XIR_E_EXISTS, "merged_distrs", "dims without a distribution expected, found one over [%s]", write_axes(&text, axes, n));
    }
    int64_t total = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t dim = axes[i] >= 0 && (uint64_t)axes[i] < now.shape.size ? now.shape.data[axes[i]] : -1;
        if (dim < 0) {
            return refuse(why, XIR_E_BOUNDS, "merged_distrs", "known dims below %zu expected, found %lld", now.shape.size, (long long)axes[i]);
        }
        if (!mul_i64(total, dim, &total)) {
            return refuse(why, XIR_E_LIMIT, "merged_distrs", "up to 2^63 - 1 elements expected, these dims have more");
        }
    }
    xir_run valid = { .end = total, .m = 1 };
    const xir_distr *distr =
            distr_make(context_home(ctx), (xir_i64s){ axes, n }, (xir_runs){ &valid, total > 0 },
                                        XIR_UVALUE_ZERO, false);
    if (!distr) {
        return out_of_memory(why);
    }
    return with_distr(ctx, &now, at, distr, why);
}

const xir_type *xir_type_set_distr(xir_context *ctx, const xir_type *type, const xir_distr *distr,
                                   xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why)) return NULL;
    if (!distr) {
        return refuse(why, XIR_E_MISSING, "merged_distrs", "a distribution expected, found none");
    }
    if (!need_distr(&now, distr->merged_axis.data, distr->merged_axis.size, &at, why)) return NULL;
    return with_distr(ctx, &now, at, distr, why);
}

const xir_type *xir_type_mark_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                    int64_t from,
                                    int64_t to, bool valid, xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why) || !need_distr(&now, axes, n, &at, why)) return NULL;
    const xir_distr *old = (const xir_distr *)now.merged_distrs.data[at], *distr = NULL;
    xir_distr_builder *b = xir_distr_edit(ctx, old);
    xir_status status = valid ? xir_distr_set_valid(b, from, to) : xir_distr_set_unvalid(b, from, to);
    if (status == XIR_E_BOUNDS) {
        diag_fail(why, status, XIR_STR("merged_distrs"),
                  "a part of %lld elements expected, found [%lld, %lld)",
                  (long long)xir_distr_total(old), (long long)from, (long long)to);
    } else if (status) {
        diag_memory(why);
    } else {
        distr = xir_distr_build(b, why);
    }
    xir_distr_free(b);
    return distr ? with_distr(ctx, &now, at, distr, why) : NULL;
}

const xir_type *xir_type_remove_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                      xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why) || !need_distr(&now, axes, n, &at, why)) return NULL;
    return with_distr(ctx, &now, at, NULL, why);
}
