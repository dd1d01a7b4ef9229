/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators as their rows say: the arguments in the order of the function, then keywords, and for a module its
 * construction in __init__. After an argument that is left out, the others are keywords too. */
#include "python/python.h"

/* ---- names in rows ----------------------------------------------------------------------------------------------- */

static xir_str next_name(const char **names) {
    const char *name = *names + strspn(*names, " ");
    const size_t n = strcspn(name, " ");
    *names = name + n;
    return (xir_str){ name, n };
}

typedef struct word {
    xir_str name;
    bool    optional, required, raw, unwritten;
} word;

static bool next_word(const char **names, word *out) {
    xir_str text = next_name(names);
    *out = (word){ .unwritten = text.size && *text.data == '-' };
    if (out->unwritten) text = (xir_str){ text.data + 1, text.size - 1 };
    for (; text.size && strchr("?!#", text.data[text.size - 1]); text.size--) {
        const char mark = text.data[text.size - 1];
        out->optional |= mark == '?';
        out->required |= mark == '!';
        out->raw |= mark == '#';
    }
    out->name = text;
    return text.size;
}

static bool is_among(const char *names, xir_str name) {
    word w;
    while (next_word(&names, &w))
        if (xir_str_equal(w.name, name)) return true;
    return false;
}

/* ---- parameters and inputs --------------------------------------------------------------------------------------- */

static const xir_any *param_of(const python_op *c, xir_str name) {
    const xir_any *v = xir_map_find(c->extra, name);
    return v && v->kind != XIR_ANY_NULL ? v : NULL;
}

const xir_any *python_param(const python_op *c, const char *name) { return param_of(c, xir_str_of(name)); }

xir_any *python_edit(python_op *c, const char *name) {
    const size_t n = c->extra ? c->extra->size : 0;
    size_t i = 0;
    while (i < n && !xir_str_equal(c->extra->entries[i].key, xir_str_of(name))) i++;
    if (i == n) return NULL;
    xir_map *map = arena_copy(&c->w->scratch, c->extra, sizeof *map);
    xir_entry *entries = arena_copy(&c->w->scratch, c->extra->entries, n * sizeof *entries);
    if (!map || !entries) return python_no_memory(c->w), NULL;
    map->entries = entries;
    c->extra = map;
    return &entries[i].value;
}

/* The file's name of an input; empty: it has none. */
static xir_str slot_of(const python_op *c, size_t i) {
    const xir_any *tag = op_more_of(c->op) ? source_tag_find(op_more_of(c->op)->tags, SOURCE_INPUTS) : NULL;
    const bool named = tag && tag->kind == XIR_ANY_LIST && i < tag->as.list.size &&
                       tag->as.list.items[i].kind == XIR_ANY_TEXT;
    return named ? tag->as.list.items[i].as.text : (xir_str){ NULL, 0 };
}

static size_t input_of(const python_op *c, xir_str name) {
    enum { MOST_ARGS = 8 };
    const char *names = c->row->args;
    size_t k = 0;
    word w;
    for (size_t i = 0; i < c->op->n_inputs && i < MOST_ARGS; i++)
        if (xir_str_equal(slot_of(c, i), name)) return i;
    while (next_word(&names, &w) && !xir_str_equal(w.name, name)) k++;
    return w.name.size && k < c->op->n_inputs && !is_among(c->row->args, slot_of(c, k)) ? k : SIZE_MAX;
}

size_t python_input(const python_op *c, const char *name) { return input_of(c, xir_str_of(name)); }

static uint64_t bit_of(size_t i) { return UINT64_C(1) << (i < 63 ? i : 63); }

void python_put_input(python_op *c, size_t i, bool as_tensor) {
    const python_value *v = python_value_of(c->w, op_inputs(c->op)[i].value);
    const bool wraps = as_tensor && (v->kind == PYTHON_NUMBER || v->kind == PYTHON_LIST);
    buffer *out = &c->w->forward;
    if (wraps) buffer_str(out, "as_tensor(");
    buffer_put(out, v->name.data, v->name.size);
    if (wraps) buffer_char(out, ')');
    c->w->uses_tensors |= wraps;
    c->used |= bit_of(i);
}

void python_put_inputs(python_op *c, bool as_tensors) {
    for (uint32_t i = 0; i < c->op->n_inputs; i++) {
        if (i) buffer_str(&c->w->forward, ", ");
        python_put_input(c, i, as_tensors);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

bool python_is_unpacked(const python_op *c) {
    for (const xir_use *use = c->op->n_outputs == 1 ? op_outputs(c->op)[0].uses : NULL; use; use = use->next) {
        const xir_str key = use->user->cls->key;
        if (xir_str_equal(key, XIR_STR("pnnx::prim::TupleUnpack")) ||
            xir_str_equal(key, XIR_STR("pnnx::prim::ListUnpack"))) return true;
    }
    return false;
}

/* Returns true if a module or function that may give the places of its maxima gives them. */
static bool gives_indices(const python_op *c) {
    return c->row->results == PYTHON_INDICES && (c->op->n_outputs == 2 || python_is_unpacked(c));
}

bool python_put_targets(python_op *c, python_results results, python_kind kind) {
    const xir_op *op = c->op;
    buffer *out = &c->w->forward;
    bool several = results != PYTHON_ONE;
    if (results == PYTHON_BY_DIM) several = python_param(c, "dim");
    if (results == PYTHON_INDICES) several = gives_indices(c);
    const bool whole = several && python_is_unpacked(c);
    const uint32_t most = !several ? 1 : results == PYTHON_ALL ? UINT32_MAX : 2;
    if (!op->n_outputs || op->n_outputs > most)
        return python_refuse(c, XIR_E_INVALID, "it has %u outputs, expected %s", (unsigned)op->n_outputs,
                             most == 1 ? "1" : most == 2 ? "1 or 2" : "at least 1");
    buffer_str(out, "        ");
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        if (!python_define(c->w, &op_outputs(op)[i], whole ? PYTHON_OTHER : kind)) return false;
        const xir_str name = python_value_of(c->w, &op_outputs(op)[i])->name;
        if (i) buffer_str(out, ", ");
        buffer_put(out, name.data, name.size);
    }
    if (several && !whole && op->n_outputs == 1) buffer_str(out, results == PYTHON_ALL ? "," : ", _");
    buffer_str(out, " = ");
    return true;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void put_name(buffer *out, xir_str name) {
    buffer_put(out, name.data, name.size);
    buffer_char(out, '=');
}

/* Writes inputs and parameters, without the first `skipped`. Clears *first if it writes any. */
static bool put_args(python_op *c, size_t skipped, bool *first) {
    const char *names = c->row->args;
    buffer *out = &c->w->forward;
    bool gap = false;
    word w;
    for (size_t k = 0; next_word(&names, &w); k++) {
        const size_t i = input_of(c, w.name);
        const xir_any *param = i == SIZE_MAX ? param_of(c, w.name) : NULL;
        const bool missing = i == SIZE_MAX && !param;
        if (missing && !w.optional && !w.unwritten)
            return python_refuse(c, XIR_E_MISSING, "'%.*s' is missing", CLIP(w.name));
        if (w.unwritten && i != SIZE_MAX) c->used |= bit_of(i);
        gap |= missing || w.unwritten;
        if (missing || w.unwritten || k < skipped) continue;
        if (!*first) buffer_str(out, ", ");
        if (gap) put_name(out, w.name);
        if (param && !python_put_any(c, out, w.name, param)) return false;
        if (!param) python_put_input(c, i, !w.raw);
        *first = false;
    }
    return true;
}

/* *is_flag: the parameter says whether the module has some weights; *has: the operator has them. It must have all of
 * them, or none. */
static bool read_flag(python_op *c, xir_str param, bool *is_flag, bool *has) {
    const char *names = c->row->weights;
    char key[64] = "@";
    *is_flag = false;
    for (xir_str w = next_name(&names); w.size; w = next_name(&names)) {
        const char *equals = memchr(w.data, '=', w.size);
        const size_t n = equals ? (size_t)(equals - w.data) : 0;
        if (!equals || !xir_str_equal((xir_str){ equals + 1, w.size - n - 1 }, param)) continue;
        memcpy(key + 1, w.data, n);
        const bool found = param_of(c, (xir_str){ key, n + 1 });
        if (*is_flag && found != *has)
            return python_refuse(c, XIR_E_MISSING, "it has some, but not all of the weights of '%.*s'", CLIP(param));
        *is_flag = true;
        *has = found;
    }
    return true;
}

bool python_put_keys(python_op *c, buffer *out, bool first) {
    const char *keys = c->row->keys;
    word w;
    while (next_word(&keys, &w)) {
        bool is_flag, has = false;
        const xir_any *param = param_of(c, w.name);
        if (!read_flag(c, w.name, &is_flag, &has)) return false;
        if (w.unwritten || (!param && !is_flag)) {
            if (!w.required) continue;
            return python_refuse(c, XIR_E_MISSING, "the parameter '%.*s' is missing", CLIP(w.name));
        }
        if (!first) buffer_str(out, ", ");
        put_name(out, w.name);
        if (is_flag) buffer_str(out, has ? "True" : "False");
        else if (!python_put_any(c, out, w.name, param)) return false;
        first = false;
    }
    return true;
}

/* The name of a weight is in the row, and its value is Params. */
static bool check_weight(python_op *c, const xir_entry *e) {
    const char *names = c->row->weights;
    const xir_str key = { e->key.data + 1, e->key.size - 1 };
    bool known = *names == '*';
    for (xir_str w = next_name(&names); w.size && !known; w = next_name(&names)) {
        size_t n = 0;
        while (n < w.size && w.data[n] != '=' && w.data[n] != '?') n++;
        known = xir_str_equal((xir_str){ w.data, n }, key);
    }
    if (!known || e->value.kind != XIR_ANY_PARAMS)
        return python_refuse(c, XIR_E_UNSUPPORTED, "PyTorch's module has no weight '%.*s'", CLIP(key));
    if (xir_op_name(c->op).size && !memchr(xir_op_name(c->op).data, 0, xir_op_name(c->op).size)) return true;
    return python_refuse(c, XIR_E_UNSUPPORTED, "it has weights, but its name cannot be that of a member of an archive");
}

/* Refuses parameters and weights that the row does not have. */
static bool check_params(python_op *c) {
    for (size_t i = 0; c->extra && i < c->extra->size; i++) {
        const xir_entry *e = &c->extra->entries[i];
        if (pnnx_is_weight(e)) {
            if (!check_weight(c, e)) return false;
        } else if (e->value.kind != XIR_ANY_NULL && !is_among(c->row->args, e->key) &&
                   !is_among(c->row->keys, e->key)) {
            return python_refuse(c, XIR_E_UNSUPPORTED, "PyTorch's function has no parameter '%.*s'", CLIP(e->key));
        }
    }
    return true;
}

static bool check_inputs(python_op *c) {
    for (uint32_t i = 0; i < c->op->n_inputs; i++)
        if (!(c->used & bit_of(i)))
            return python_refuse(c, XIR_E_INVALID, "PyTorch's function has no input %u", (unsigned)i);
    return true;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* "('weight', (2, 4), torch.float32)" */
static bool put_weight(python_op *c, const xir_entry *e) {
    buffer *out = &c->w->init;
    const xir_str key = { e->key.data + 1, e->key.size - 1 };
    buffer_char(out, '(');
    python_put_text(out, key);
    buffer_str(out, ", ");
    if (!python_put_type(c->w, out, e->value.as.params))
        return python_refuse(c, XIR_E_UNSUPPORTED, "the weight '%.*s' has no type that PyTorch has", CLIP(key));
    buffer_char(out, ')');
    return true;
}

static bool is_float(const xir_value *v, uint32_t bits) {
    const xir_tensor_type *t = v->type ? xir_type_as_tensor(v->type) : NULL;
    return t && xir_type_kind_of(t->element_dtype) == XIR_TYPE_FLOAT && xir_type_storage_bits(t->element_dtype) == bits;
}

/* Returns true if weights are stored with half of the bits of the map that they meet. */
static bool widens(const python_op *c) {
    bool half = false;
    for (size_t i = 0; i < c->extra->size; i++)
        half |= pnnx_is_weight(&c->extra->entries[i]) && is_float(c->extra->entries[i].value.as.params, 16);
    return half && c->op->n_inputs && is_float(op_inputs(c->op)[0].value, 32);
}

/* The weights of a module as a list: keys, shapes and elements. They have been checked. */
static bool put_fill(python_op *c, xir_str module) {
    python_writer *w = c->w;
    bool any = false;
    for (size_t i = 0; c->extra && i < c->extra->size; i++) {
        if (!pnnx_is_weight(&c->extra->entries[i])) continue;
        if (!any) {
            buffer_str(&w->init, w->indent);
            buffer_str(&w->init, "fill(self.");
            buffer_put(&w->init, module.data, module.size);
            buffer_str(&w->init, ", archive, ");
            if (!python_put_text(&w->init, xir_op_name(c->op)))
                return python_refuse(c, XIR_E_INVALID, "its name is not UTF-8");
        }
        buffer_str(&w->init, any ? ", " : ", (");
        if (!put_weight(c, &c->extra->entries[i])) return false;
        any = true;
    }
    if (any) buffer_str(&w->init, widens(c) ? ",), torch.float32)\n" : ",))\n");
    w->fills |= any;
    return true;
}

/* No weight that the module must have is missing. */
static bool check_required(python_op *c) {
    const char *names = c->row->weights;
    char key[64] = "@";
    for (xir_str w = next_name(&names); w.size; w = next_name(&names)) {
        if (memchr(w.data, '=', w.size) || w.data[w.size - 1] == '?' || *w.data == '*') continue;
        memcpy(key + 1, w.data, w.size);
        if (!param_of(c, (xir_str){ key, w.size + 1 }))
            return python_refuse(c, XIR_E_MISSING, "the weight '%.*s' is missing", CLIP(w));
    }
    return true;
}

bool python_make_module(python_op *c, xir_str *module) {
    python_writer *w = c->w;
    const bool indices = gives_indices(c);
    *module = python_identifier(w, 'm', xir_op_name(c->op));
    if (!module->size) return python_no_memory(w);
    if (!check_required(c)) return false;
    buffer_str(&w->init, w->indent);
    buffer_str(&w->init, "self.");
    buffer_put(&w->init, module->data, module->size);
    buffer_str(&w->init, " = ");
    buffer_str(&w->init, c->row->type);
    buffer_char(&w->init, '(');
    if (indices) buffer_str(&w->init, "return_indices=True");
    if (!python_put_keys(c, &w->init, !indices)) return false;
    buffer_str(&w->init, ")\n");
    return put_fill(c, *module);
}

void python_put_module(python_op *c, xir_str module) {
    buffer_str(&c->w->forward, "self.");
    buffer_put(&c->w->forward, module.data, module.size);
    buffer_char(&c->w->forward, '(');
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool write_module(python_op *c) {
    xir_str module;
    bool first = true;
    if (!python_make_module(c, &module)) return false;
    if (!python_put_targets(c, c->row->results, PYTHON_TENSOR)) return false;
    python_put_module(c, module);
    return put_args(c, 0, &first);
}

static bool write_call(python_op *c) {
    const python_row *row = c->row;
    bool first = true;
    if (!python_put_targets(c, row->results, PYTHON_TENSOR)) return false;
    buffer_str(&c->w->forward, row->as ? row->as : row->type);
    buffer_char(&c->w->forward, '(');
    if (!put_args(c, 0, &first)) return false;
    if (gives_indices(c)) buffer_str(&c->w->forward, ", return_indices=True");
    return python_put_keys(c, &c->w->forward, first);
}

/* The first argument stands before the dot. */
static bool write_method(python_op *c) {
    const python_row *row = c->row;
    const char *names = row->args;
    const xir_str receiver = next_name(&names);
    const size_t i = input_of(c, receiver);
    bool first = true;
    if (i == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'%.*s' is missing", CLIP(receiver));
    if (!python_put_targets(c, row->results, PYTHON_TENSOR)) return false;
    python_put_input(c, i, true);
    buffer_str(&c->w->forward, row->type + strlen("Tensor"));
    buffer_char(&c->w->forward, '(');
    return put_args(c, 1, &first) && python_put_keys(c, &c->w->forward, first);
}

/* All inputs as a list; those of an einsum follow its equation. */
static bool write_pack(python_op *c) {
    const xir_any *equation = python_param(c, "equation");
    buffer *out = &c->w->forward;
    if (!python_put_targets(c, c->row->results, PYTHON_TENSOR)) return false;
    buffer_str(out, c->row->type);
    buffer_char(out, '(');
    if (xir_str_equal(c->type, XIR_STR("torch.einsum"))) {
        if (!equation || equation->kind != XIR_ANY_TEXT || !python_put_text(out, equation->as.text))
            return python_refuse(c, XIR_E_MISSING, "the parameter 'equation' is missing");
        buffer_str(out, ", ");
        python_put_inputs(c, true);
        return true;
    }
    buffer_char(out, '[');
    python_put_inputs(c, true);
    buffer_char(out, ']');
    return python_put_keys(c, out, false);
}

static bool write_row(python_op *c) {
    switch (c->row->form) {
    case PYTHON_CALL:   return write_call(c);
    case PYTHON_METHOD: return write_method(c);
    case PYTHON_PACK:   return write_pack(c);
    case PYTHON_MODULE: return write_module(c);
    case PYTHON_HOOK:   break;
    }
    return true;
}

bool python_write_op(python_op *c) {
    c->row = python_row_of(c->w, c->type);
    if (!c->row) return python_refuse(c, XIR_E_UNSUPPORTED, "it cannot be written as a call of PyTorch");
    if (!check_params(c) || (c->row->hook && !c->row->hook(c))) return false;
    if (c->row->form != PYTHON_HOOK) {
        if (!write_row(c)) return false;
        buffer_str(&c->w->forward, ")\n");
    }
    return check_inputs(c);
}
