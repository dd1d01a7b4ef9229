/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A call of a block and the block's head: what the call gives for each parameter, and the sizes of the dims that the
 * head names. What the network does not know of a tensor is not checked. */
#include <stdio.h>
#include "deepx/blocks.h"

static xir_status fault(deepx_binding *b, size_t slot, xir_status status, const char *sentence, ...)
    XIR_PRINTF(4, 5);
static xir_status fault(deepx_binding *b, size_t slot, xir_status status, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    vsnprintf(b->fault, sizeof b->fault, sentence, args);
    va_end(args);
    b->slot = slot;
    return status;
}

/* ---- the slots of the call -------------------------------------------------------------------------------------- */

/* The values from *next on that a slot of a call stands for; false if it has fewer. */
static bool take_values(const xir_op *op, bool ret, uint32_t n, uint32_t *next, deepx_actual *out, arena *scratch,
                        bool *memory) {
    if (n > (ret ? op->n_outputs : op->n_inputs) - *next) return false;
    out->n = n;
    out->values = arena_take(scratch, ((size_t)n + 1) * sizeof *out->values);
    if (!out->values) return *memory = true, false;
    for (uint32_t i = 0; i < n; i++, (*next)++)
        out->values[i] = ret ? &op_outputs(op)[*next] : op_inputs(op)[*next].value;
    return true;
}

static xir_status take_slots(const xir_op *op, const deepx_block *block, arena *scratch, deepx_binding *b) {
    const xir_any *text = op_more_of(op) ? xir_map_find(op_more_of(op)->extra, XIR_STR(DEEPX_TYPES)) : NULL;
    const xir_str types = text && text->kind == XIR_ANY_TEXT ? text->as.text : (xir_str){ "", 0 };
    const char *p = types.data, *end = p + types.size;
    xir_str type;
    uint32_t items, next = 0;
    bool memory = false;
    b->n_params = block->n_params;
    b->actuals = arena_take(scratch, (block->n_formals + 1) * sizeof *b->actuals);
    if (!b->actuals) return XIR_E_MEMORY;
    for (int ret = 0; ret < 2; ret++, p = deepx_skip_arrow(p, end), next = 0) {
        const size_t expected = ret ? block->n_formals - block->n_params : block->n_params;
        size_t i = 0;
        for (; deepx_next_type(&p, end, &type, &items); i++) {
            deepx_actual one = { .list = items != UINT32_MAX };
            if (i >= expected) continue;
            one.text = deepx_slot_text(op, ret, i);
            if (!one.text.data && !take_values(op, ret, one.list ? items : 1, &next, &one, scratch, &memory))
                return memory ? XIR_E_MEMORY : fault(b, SIZE_MAX, XIR_E_INVALID, "the call has too few tensors");
            b->actuals[b->n_actuals++] = one;
        }
        if (i != expected)
            return fault(b, SIZE_MAX, XIR_E_TYPE, "the block '%.*s' has %zu %s, the call %zu", CLIP(block->name),
                         expected, ret ? "return slots" : "parameters", i);
    }
    return XIR_OK;
}

/* ---- types of the head ------------------------------------------------------------------------------------------ */

static const struct { const char *word; size_t element; } words[] = {
    { "f64", 0 }, { "f32", 1 }, { "f16", 2 }, { "bf16", 3 }, { "bf8", 4 }, { "i64", 8 }, { "i32", 9 },
    { "i16", 10 }, { "i8", 11 }, { "bool", 13 },
};

size_t deepx_element_word(xir_str word) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (xir_str_equal(word, xir_str_of(words[i].word))) return words[i].element;
    return SIZE_MAX;
}

/* The next of the alternatives of a type, "tensor<?1x3xf32>|f32"; empty at the end. */
static xir_str next_alternative(xir_str *rest) {
    const char *p = rest->data, *end = p + rest->size;
    size_t depth = 0;
    for (; p < end && (depth || *p != '|'); p++) {
        if (*p == '<') depth++;
        else if (*p == '>' && depth) depth--;
    }
    const xir_str one = deepx_trim(rest->data, p);
    *rest = p < end ? (xir_str){ p + 1, (size_t)(end - p) - 1 } : (xir_str){ end, 0 };
    return one;
}

static bool begins(xir_str text, const char *word) {
    const size_t n = strlen(word);
    return text.size >= n && memcmp(text.data, word, n) == 0;
}

/* Returns the text between '<' and '>'; empty if there is none. */
static xir_str in_angles(xir_str text) {
    const char *open = memchr(text.data, '<', text.size), *end = text.data + text.size;
    return open && end > open + 1 ? deepx_trim(open + 1, end - 1) : (xir_str){ end, 0 };
}

/* The next part of "?1x3xf32": a dim, or at the end the element, which is the last one. */
static bool next_part(xir_str *rest, xir_str *part) {
    const char *p = rest->data, *end = p + rest->size;
    if (!rest->size) return false;
    const bool dim = *p == '?' || is_digit(*p);
    const char *stop = dim ? memchr(p, 'x', rest->size) : NULL;
    *part = (xir_str){ p, (size_t)((stop ? stop : end) - p) };
    *rest = stop ? (xir_str){ stop + 1, (size_t)(end - stop) - 1 } : (xir_str){ end, 0 };
    return true;
}

bool deepx_dim_size(const deepx_binding *b, xir_str dim, int64_t *out) {
    *out = 0;
    if (dim.size && *dim.data == '?') {
        const xir_str name = { dim.data + 1, dim.size - 1 };
        for (size_t i = 0; i < b->n_dims && name.size; i++) {
            if (!xir_str_equal(b->dims[i], name)) continue;
            *out = b->sizes[i];
            return true;
        }
        return false;
    }
    for (size_t i = 0; i < dim.size; i++) {
        if (!is_digit(dim.data[i]) || *out > INT32_MAX) return false;
        *out = 10 * *out + (dim.data[i] - '0');
    }
    return dim.size > 0 && *out <= INT32_MAX;
}

const xir_type *deepx_tensor_type(xir_network *net, const xir_type *element, const int64_t *dims, size_t rank) {
    char stars[DEEPX_MOST_DIMS];
    if (!element || !rank || rank > sizeof stars) return NULL;
    memset(stars, '*', sizeof stars);
    const xir_layout *layout = xir_layout_parse(net->ctx, (xir_str){ stars, rank }, NULL);
    const xir_type *type = layout ? xir_type_tensor(net->ctx, element, layout, dims, rank) : NULL;
    return type ? net_type(net, type) : NULL;
}

const xir_type *deepx_formal_type(xir_network *net, const deepx_binding *b, xir_str type) {
    int64_t dims[DEEPX_MOST_DIMS];
    size_t rank = 0;
    xir_str rest = type, part = { NULL, 0 };
    const xir_str only = next_alternative(&rest);
    if (rest.size || !begins(only, "tensor")) return NULL;
    for (rest = in_angles(only); next_part(&rest, &part);) {
        if (*part.data != '?' && !is_digit(*part.data)) break;
        if (rank == DEEPX_MOST_DIMS || !deepx_dim_size(b, part, &dims[rank++])) return NULL;
    }
    const element_code *code = part.data ? element_code_at(&deepx_elements, deepx_element_word(part)) : NULL;
    return deepx_tensor_type(net, element_code_type(net->ctx, code), dims, rank);
}

/* ---- a tensor and its formal ------------------------------------------------------------------------------------ */

static xir_status bind_dim(deepx_binding *b, size_t slot, size_t at, xir_str dim, int64_t size) {
    int64_t known;
    if (deepx_dim_size(b, dim, &known)) {
        if (known == size) return XIR_OK;
        return fault(b, slot, XIR_E_TYPE, "dim %zu, %.*s, is %" PRId64 ": found %" PRId64, at, CLIP_TO(dim, 20), known,
                     size);
    }
    if (dim.size < 2) return XIR_OK;
    if (b->n_dims == DEEPX_MOST_NAMED_DIMS)
        return fault(b, slot, XIR_E_LIMIT, "the head names more than %d dims", DEEPX_MOST_NAMED_DIMS);
    b->dims[b->n_dims] = (xir_str){ dim.data + 1, dim.size - 1 };
    b->sizes[b->n_dims++] = size;
    return XIR_OK;
}

static xir_status bind_tensor(deepx_binding *b, size_t slot, xir_str formal, const xir_type *type) {
    xir_str rest = in_angles(formal), part;
    size_t rank = 0;
    if (!rest.size || !xir_type_as_tensor(type)) return XIR_OK;
    while (next_part(&rest, &part)) {
        if (*part.data != '?' && !is_digit(*part.data)) {
            const element_code *code = element_code_at(&deepx_elements, deepx_element_word(part));
            const xir_type *element = xir_type_element(type);
            const bool same = code && code->kind != ELEMENT_NONE && xir_type_storage_bits(element) == code->bits &&
                (xir_type_kind_of(element) == XIR_TYPE_FLOAT) == (code->kind == ELEMENT_FLOAT) &&
                (xir_type_kind_of(element) == XIR_TYPE_BOOL) == (code->kind == ELEMENT_BOOL);
            if (!same) return fault(b, slot, XIR_E_TYPE, "expected elements of %.*s", CLIP_TO(part, 20));
            continue;
        }
        if (rank < xir_type_rank(type)) {
            const int64_t size = xir_type_dim(type, (int64_t)rank, false);
            const xir_status status = size >= 0 ? bind_dim(b, slot, rank, part, size) : XIR_OK;
            if (status) return status;
        }
        rank++;
    }
    if (rank == xir_type_rank(type)) return XIR_OK;
    return fault(b, slot, XIR_E_TYPE, "expected %zu dims, found %zu", rank, xir_type_rank(type));
}

/* A number, a flag, a list; a name may be that of a var. */
static bool text_is(xir_str formal, xir_str text) {
    const bool list = text.size && *text.data == '[';
    return list == begins(formal, "list");
}

static xir_status bind_one(deepx_binding *b, size_t slot, xir_str formal, const deepx_actual *actual) {
    const bool tensor = begins(formal, "tensor"), tensors = begins(formal, "list<") &&
                                                             begins(in_angles(formal), "tensor");
    xir_status status = XIR_OK;
    if (!actual->values && !tensor && !tensors && text_is(formal, actual->text)) return XIR_OK;
    if (!actual->values)
        return fault(b, slot, XIR_E_TYPE, "expected %.*s, found '%.*s'", CLIP_TO(formal, 60),
                     CLIP_TO(actual->text, 60));
    if (actual->list ? !tensors : !tensor)
        return fault(b, slot, XIR_E_TYPE, "expected %.*s, found %s", CLIP_TO(formal, 60),
                     actual->list ? "a list of tensors" : "a tensor");
    for (size_t i = 0; i < actual->n && !status; i++)
        if (actual->values[i])
            status = bind_tensor(b, slot, actual->list ? in_angles(formal) : formal, actual->values[i]->type);
    return status;
}

/* The first alternative that fits counts; otherwise the fault is that of the last one. */
static xir_status bind_slot(deepx_binding *b, size_t slot, xir_str formal, const deepx_actual *actual) {
    xir_status status = XIR_E_TYPE;
    const size_t had = b->n_dims;
    while (status && formal.size) {
        b->n_dims = had;
        status = bind_one(b, slot, next_alternative(&formal), actual);
    }
    return status;
}

xir_status deepx_bind(const xir_op *op, const deepx_block *block, arena *scratch, deepx_binding *out) {
    *out = (deepx_binding){ .slot = SIZE_MAX };
    xir_status status = take_slots(op, block, scratch, out);
    for (size_t i = 0; i < block->n_formals && !status; i++)
        status = bind_slot(out, i, block->formals[i].type, &out->actuals[i]);
    return status;
}
