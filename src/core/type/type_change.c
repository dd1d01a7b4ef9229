/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The rules of a tensor type, and variants with one part changed: a copy of the old body with one changed field,
 * interned in the context. */
#include <stdio.h>
#include <xir/icraft.h>
#include "symbol.h"
#include "types.h"

/* ---- failing ----------------------------------------------------------------------------------------------- */

const void *refuse(xir_diags *why, xir_status code, const char *where, const char *format, ...) {
    va_list args;
    va_start(args, format);
    diag_failv(why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .byte = XIR_NO_BYTE, .path = xir_str_of(where) },
               format, args);
    va_end(args);
    return NULL;
}

const void *out_of_memory(xir_diags *why) {
    diag_memory(why);
    return NULL;
}

/* ---- rules ------------------------------------------------------------------------------------------------- */

void fault(fault_sink *sink, const char *where, const char *format, ...) {
    char sentence[SENTENCE_ROOM];
    va_list args;
    va_start(args, format);
    text_vprint(sentence, sizeof sentence, format, args);
    va_end(args);
    sink->count++;
    sink->fault(sink->user, where, sentence);
}

static void distr_faults(const xir_tensor_type *tensor, size_t index, fault_sink *sink) {
    const xir_distr *distr = (const xir_distr *)tensor->merged_distrs.data[index];
    char where[48];
    snprintf(where, sizeof where, "merged_distrs/%zu", index);
    if (!distr) {
        fault(sink, where, "expected a distribution, found none");
        return;
    }
    /* Beyond the first 4096 dims, which only a hostile file has, a repeated dim is only detected by the product. */
    enum { SEEN = 64 };
    uint64_t seen[SEEN] = { 0 };
    int64_t product = 1;
    bool known = true, over = false, zero = false;
    for (size_t i = 0; i < distr->merged_axis.size; i++) {
        int64_t axis = distr->merged_axis.data[i];
        if (axis < 0 || (uint64_t)axis >= tensor->shape.size) {
            fault(sink, where, "the distribution merges dim %lld, expected a dim below %zu", (long long)axis,
                  tensor->shape.size);
            return;
        }
        if (axis < 64 * SEEN) {
            uint64_t bit = (uint64_t)1 << (axis % 64), *word = &seen[axis / 64];
            if (*word & bit) {
                fault(sink, where, "the distribution merges dim %lld twice, expected it once", (long long)axis);
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
              (long long)total, (long long)product);
    }
}

void tensor_faults(const xir_tensor_type *tensor, fault_sink *sink) {
    const xir_layout *layout = tensor->layout;
    size_t rank = tensor->shape.size, axes = xir_layout_rank(layout);
    xir_str text = xir_layout_text(layout);
    if (!layout) {
        fault(sink, "layout", "expected a layout, found none");
    } else if (axes != rank) {
        fault(sink, "layout", "layout %.*s has %zu %s, expected %zu for a shape of %zu dim%s",
              CLIP_TO(text, 80), axes, axes == 1 ? "axis" : "axes", rank, rank, rank == 1 ? "" : "s");
    }
    form_text t = layout_walk(layout);
    layout_axis a;
    for (size_t i = 0; layout_next(&t, &a) && i < rank; i++) {
        int64_t dim = tensor->shape.data[i];
        if (a.unit && dim >= 0 && a.unit != dim) {
            fault(sink, "layout", "axis %zu of layout %.*s has the unit %lld, expected dim %zu to be that, "
                  "found %lld", i, CLIP_TO(text, 80), (long long)a.unit, i, (long long)dim);
        }
    }
    for (size_t i = 0; i < tensor->merged_distrs.size; i++) distr_faults(tensor, i, sink);
}

/* A dim that neither is known nor says in the usual way that it is not. */
#define FOREIGN_DIM "expected dims from -1 on (-1: unknown), found %lld as dim %zu"

/* The first of the dims that is neither from -1 on nor an expression of the type's network; the rank if there is
 * none. */
static size_t foreign_dim(const xir_tensor_type *type, xir_i64s dims) {
    size_t i = 0;
    while (i < dims.size && dims.data[i] >= XIR_UNKNOWN_DIM) i++;
    if (i == dims.size) return i;   // most types have no expressions
    const object_pool *owner = tensor_pool(type);
    while (i < dims.size && (dims.data[i] >= XIR_UNKNOWN_DIM || (owner && expr_is_of(owner, dims.data[i])))) i++;
    return i;
}

static void to_infer(void *user, const char *where, const char *sentence) {
    xir_infer_fail(user, XIR_E_INVALID, where, "%s", sentence);
}

xir_status xir_tensor_type_check(xir_infer *at) {
    const xir_tensor_type *tensor = xir_infer_attrs(at);
    fault_sink sink = { to_infer, at, 0 };
    size_t foreign = foreign_dim(tensor, tensor->shape);
    if (foreign < tensor->shape.size) {
        return xir_infer_fail(at, XIR_E_BOUNDS, "shape", FOREIGN_DIM, (long long)tensor->shape.data[foreign], foreign);
    }
    layout_faults(tensor->layout, &sink);
    tensor_faults(tensor, &sink);
    return sink.count ? XIR_E_INVALID : XIR_OK;
}

/* ---- variants ---------------------------------------------------------------------------------------------- */

/* Prepares a body for a change; false with a finding if the type is not a tensor. A variant is written in full,
 * whatever the file of the old type left out. */
static bool start(const xir_type *type, xir_tensor_type *out, xir_diags *why) {
    const xir_tensor_type *tensor = xir_type_as_tensor(type);
    if (!tensor) {
        refuse(why, XIR_E_TYPE, "", "expected a tensor type, found %s", type ? "another one" : "none");
        return false;
    }
    *out = *tensor;
    out->head.hash = out->head.absent = 0;
    return true;
}

/* Returns the pool of a variant: a type with symbolic dims belongs to the network of `type`. */
static object_pool *pool_for(xir_context *ctx, const xir_type *type, const xir_tensor_type *variant) {
    return dims_symbolic(variant->shape) ? tensor_pool(xir_type_as_tensor(type)) : context_pool(ctx);
}

static const xir_type *finish(object_pool *pool, const xir_tensor_type *tensor, xir_diags *why) {
    const xir_object *made = pool_intern(pool, &tensor->head);
    return made ? (const xir_type *)made : out_of_memory(why);
}

static void to_diags(void *user, const char *where, const char *sentence) {
    refuse(user, XIR_E_INVALID, where, "%s", sentence);
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
    if (!element || xir_type_as_tensor(element)) {
        return refuse(why, XIR_E_TYPE, "", "expected a scalar type as element, found %s",
                      element ? "a tensor" : "none");
    }
    now.element_dtype = element;
    return finish(pool_for(ctx, type, &now), &now, why);
}

const xir_type *xir_type_with_layout(xir_context *ctx, const xir_type *type, const xir_layout *layout,
                                     xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    now.layout = layout ? layout : xir_layout_default(ctx, now.shape.size);
    if (!now.layout) return out_of_memory(why);
    return fits(&now, why) ? finish(pool_for(ctx, type, &now), &now, why) : NULL;
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
    size_t foreign = foreign_dim((const xir_tensor_type *)type, (xir_i64s){ dims, rank });
    if (foreign < rank) return refuse(why, XIR_E_BOUNDS, "shape", FOREIGN_DIM, (long long)dims[foreign], foreign);
    now.shape = (xir_i64s){ dims, rank };
    if (only_stars(now.layout)) now.layout = xir_layout_default(ctx, rank);
    if (!now.layout) return out_of_memory(why);
    return fits(&now, why) ? finish(pool_for(ctx, type, &now), &now, why) : NULL;
}

/* The tensor with `distr` at position `at` of its distributions: appended, or replacing one; if `distr` is NULL,
 * that one is removed. Does not check whether the layout fits. */
static const xir_type *with_distr(object_pool *pool, xir_tensor_type *now, size_t at, const xir_distr *distr,
                                  xir_diags *why) {
    enum { FEW = 8 };
    const xir_object *few[FEW], **list = few;
    xir_refs old = now->merged_distrs;
    size_t room = old.size + 1, n = 0;
    const xir_allocator *alloc = pool->arena.alloc;
    if (room > FEW) list = mem_new(alloc, room * sizeof *list);
    if (!list) return out_of_memory(why);
    for (size_t i = 0; i < old.size; i++) {
        if (i != at) list[n++] = old.data[i];
        else if (distr) list[n++] = (const xir_object *)distr;
    }
    if (at == old.size) list[n++] = (const xir_object *)distr;
    now->merged_distrs = (xir_refs){ list, n };
    fault_sink sink = { to_diags, why, 0 };
    if (distr) distr_faults(now, at, &sink);
    const xir_type *made = sink.count ? NULL : finish(pool, now, why);
    if (list != few) mem_free(alloc, (void *)list, room * sizeof *list);
    return made;
}

/* Dims for a sentence: "[1, 4]"; only the first few of many. */
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

/* Like tensor_find_distr, with a finding if there is none. */
static bool need_distr(const xir_tensor_type *tensor, const int64_t *axes, size_t n, size_t *at, xir_diags *why) {
    *at = tensor_find_distr(tensor, axes, n);
    if (*at < tensor->merged_distrs.size) return true;
    axes_text text;
    refuse(why, XIR_E_MISSING, "merged_distrs", "expected a distribution over [%s], found none",
           write_axes(&text, axes, n));
    return false;
}

const xir_type *xir_type_add_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                   xir_diags *why) {
    xir_tensor_type now;
    if (!start(type, &now, why)) return NULL;
    size_t at = tensor_find_distr(&now, axes, n);
    if (at < now.merged_distrs.size) {
        axes_text text;
        return refuse(why, XIR_E_EXISTS, "merged_distrs",
                      "expected dims without a distribution, found one over [%s]", write_axes(&text, axes, n));
    }
    int64_t total = 1;
    for (size_t i = 0; i < n; i++) {
        int64_t dim = axes[i] >= 0 && (uint64_t)axes[i] < now.shape.size ? now.shape.data[axes[i]] : -1;
        if (dim < 0) {
            return refuse(why, XIR_E_BOUNDS, "merged_distrs", "expected known dims below %zu, found %lld",
                          now.shape.size, (long long)axes[i]);
        }
        if (!mul_i64(total, dim, &total)) {
            return refuse(why, XIR_E_LIMIT, "merged_distrs",
                          "expected up to 2^63 - 1 elements, found dims that have more");
        }
    }
    xir_run valid = { .end = total, .m = 1 };
    xir_runs runs = { &valid, total > 0 };
    const xir_distr *distr = distr_make(context_pool(ctx), (xir_i64s){ axes, n }, runs, XIR_UVALUE_ZERO, false);
    return distr ? with_distr(pool_for(ctx, type, &now), &now, at, distr, why) : out_of_memory(why);
}

const xir_type *xir_type_set_distr(xir_context *ctx, const xir_type *type, const xir_distr *distr,
                                   xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why)) return NULL;
    if (!distr) return refuse(why, XIR_E_MISSING, "merged_distrs", "expected a distribution, found none");
    if (!need_distr(&now, distr->merged_axis.data, distr->merged_axis.size, &at, why)) return NULL;
    return with_distr(pool_for(ctx, type, &now), &now, at, distr, why);
}

const xir_type *xir_type_mark_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                    int64_t from, int64_t to, bool valid, xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why) || !need_distr(&now, axes, n, &at, why)) return NULL;
    const xir_distr *old = (const xir_distr *)now.merged_distrs.data[at], *distr = NULL;
    xir_distr_builder *b = xir_distr_edit(ctx, old);
    xir_status status = valid ? xir_distr_set_valid(b, from, to) : xir_distr_set_invalid(b, from, to);
    if (status == XIR_E_BOUNDS) {
        refuse(why, status, "merged_distrs", "expected a part of %lld elements, found [%lld, %lld)",
               (long long)xir_distr_total(old), (long long)from, (long long)to);
    } else if (status) {
        diag_memory(why);
    } else {
        distr = xir_distr_build(b, why);
    }
    xir_distr_free(b);
    return distr ? with_distr(pool_for(ctx, type, &now), &now, at, distr, why) : NULL;
}

const xir_type *xir_type_remove_distr(xir_context *ctx, const xir_type *type, const int64_t *axes, size_t n,
                                      xir_diags *why) {
    xir_tensor_type now;
    size_t at;
    if (!start(type, &now, why) || !need_distr(&now, axes, n, &at, why)) return NULL;
    return with_distr(pool_for(ctx, type, &now), &now, at, NULL, why);
}
