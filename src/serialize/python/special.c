/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators whose call differs from their parameters: what PNNX makes itself, modules with several inputs or results,
 * and parameters that PyTorch has in another form. */
#include <stdio.h>
#include "python/python.h"

static buffer *out_of(python_op *c) { return &c->w->forward; }
static void put(python_op *c, const char *text) { buffer_str(out_of(c), text); }

static bool is_module(const python_op *c) { return c->row->form == PYTHON_MODULE; }

/* ---- what PNNX makes itself -------------------------------------------------------------------------------------- */

/* The one tensor of the operator. */
bool python_attribute(python_op *c) {
    python_writer *w = c->w;
    const xir_map *extra = c->extra;
    const xir_str module = python_identifier(w, 'm', xir_op_name(c->op)), name = xir_op_name(c->op);
    if (!module.size) return python_no_memory(w);
    if (!extra || extra->size != 1 || !pnnx_is_weight(&extra->entries[0]))
        return python_refuse(c, XIR_E_MISSING, "expected one tensor");
    const xir_str key = { extra->entries[0].key.data + 1, extra->entries[0].key.size - 1 };
    char *member = arena_take(&w->scratch, name.size + key.size + 1);
    if (!member) return python_no_memory(w);
    memcpy(member, name.data, name.size);
    member[name.size] = '.';
    if (key.size) memcpy(member + name.size + 1, key.data, key.size);
    buffer_str(&w->init, w->indent);
    buffer_str(&w->init, "self.");
    buffer_put(&w->init, module.data, module.size);
    buffer_str(&w->init, " = weight(archive, ");
    if (!python_put_text(&w->init, (xir_str){ member, name.size + key.size + 1 }))
        return python_refuse(c, XIR_E_INVALID, "its name is not UTF-8");
    buffer_str(&w->init, ", ");
    if (!python_put_type(w, &w->init, extra->entries[0].value.as.params))
        return python_refuse(c, XIR_E_UNSUPPORTED, "its tensor has no type that PyTorch has");
    buffer_str(&w->init, ")\n");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    put(c, "self.");
    buffer_put(out_of(c), module.data, module.size);
    put(c, "\n");
    return true;
}

bool python_list(python_op *c) {
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_LIST)) return false;
    put(c, "[");
    python_put_inputs(c, false);
    put(c, "]\n");
    return true;
}

bool python_tuple(python_op *c) {
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_OTHER)) return false;
    put(c, "(");
    python_put_inputs(c, false);
    put(c, c->op->n_inputs == 1 ? ",)\n" : ")\n");
    return true;
}

bool python_unpacked(python_op *c) {
    if (c->op->n_inputs != 1) return python_refuse(c, XIR_E_INVALID, "expected one input");
    if (!python_put_targets(c, PYTHON_ALL, PYTHON_TENSOR)) return false;
    python_put_input(c, 0, false);
    put(c, "\n");
    return true;
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

/* Two inputs are what attends and a mask, or the keys, too; three the same with a mask, or the values. */
bool python_attention(python_op *c) {
    const size_t query = python_input(c, "query"), mask = python_input(c, "attn_mask");
    size_t key = python_input(c, "key"), value = python_input(c, "value");
    xir_str module;
    if (query == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'query' is missing");
    if (key == SIZE_MAX) key = query;
    if (value == SIZE_MAX) value = key;
    if (!python_make_module(c, &module) || !python_put_targets(c, PYTHON_PAIR, PYTHON_TENSOR)) return false;
    python_put_module(c, module);
    python_put_input(c, query, true);
    put(c, ", ");
    python_put_input(c, key, true);
    put(c, ", ");
    python_put_input(c, value, true);
    put(c, c->op->n_outputs == 2 ? ", need_weights=True" : ", need_weights=False");
    if (mask != SIZE_MAX) {
        put(c, ", attn_mask=");
        python_put_input(c, mask, true);
    }
    put(c, ")\n");
    return true;
}

static int64_t integer_of(const python_op *c, const char *key, int64_t otherwise) {
    const xir_any *v = python_param(c, key);
    return v && v->kind == XIR_ANY_INT ? v->as.integer : otherwise;
}

static bool truth_of(const python_op *c, const char *key, bool otherwise) {
    const xir_any *v = python_param(c, key);
    if (v && v->kind == XIR_ANY_INT) return v->as.integer != 0;
    return v && v->kind == XIR_ANY_BOOL ? v->as.boolean : otherwise;
}

/* All weights of all layers, and no others. */
static bool check_cells(python_op *c) {
    static const char *const stems[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr" };
    const int64_t layers = integer_of(c, "num_layers", 1), ways = truth_of(c, "bidirectional", false) ? 2 : 1;
    const bool bias = truth_of(c, "bias", true), projected = integer_of(c, "proj_size", 0) > 0;
    size_t has = 0, expected = 0;
    for (size_t i = 0; c->extra && i < c->extra->size; i++) has += pnnx_is_weight(&c->extra->entries[i]);
    for (int64_t layer = 0; layer < layers; layer++) {
        for (int64_t k = 0; k < ways * 5; k++) {
            char key[64];
            const bool left_out = (!bias && (k % 5 == 2 || k % 5 == 3)) || (!projected && k % 5 == 4);
            if (left_out) continue;
            snprintf(key, sizeof key, "@%s_l%" PRId64 "%s", stems[k % 5], layer, k < 5 ? "" : "_reverse");
            if (!python_param(c, key)) return python_refuse(c, XIR_E_MISSING, "the weight '%s' is missing", key + 1);
            expected++;
        }
    }
    return has == expected || python_refuse(c, XIR_E_UNSUPPORTED, "it has %zu weights, expected %zu", has, expected);
}

/* An LSTM has two states, others one. */
bool python_recurrent(python_op *c) {
    const bool lstm = xir_str_equal(c->type, XIR_STR("nn.LSTM"));
    const uint32_t n_in = c->op->n_inputs, n_out = c->op->n_outputs, all = lstm ? 3 : 2;
    xir_str module;
    if (!check_cells(c)) return false;
    if ((n_in != 1 && n_in != all) || (n_out != 1 && n_out != all) || python_is_unpacked(c))
        return python_refuse(c, XIR_E_INVALID, "it has %u inputs and %u outputs, expected 1 or %u", (unsigned)n_in,
                             (unsigned)n_out, (unsigned)all);
    const size_t x = python_input(c, "input"), h = python_input(c, "hx"), m = lstm ? python_input(c, "cx") : h;
    if (x == SIZE_MAX || (n_in > 1 && (h == SIZE_MAX || m == SIZE_MAX)))
        return python_refuse(c, XIR_E_MISSING, "an input is missing");
    if (!python_make_module(c, &module)) return false;
    put(c, "        ");
    for (uint32_t i = 0; i < n_out; i++) {
        if (!python_define(c->w, &op_outputs(c->op)[i], PYTHON_TENSOR)) return false;
        const xir_str name = python_value_of(c->w, &op_outputs(c->op)[i])->name;
        put(c, !i ? "" : i == 1 && lstm ? ", (" : ", ");
        buffer_put(out_of(c), name.data, name.size);
    }
    put(c, n_out == 1 ? ", _ = " : lstm ? ") = " : " = ");
    python_put_module(c, module);
    python_put_input(c, x, true);
    if (n_in > 1) {
        put(c, lstm ? ", (" : ", ");
        python_put_input(c, h, true);
        if (lstm) put(c, ", ");
        if (lstm) python_put_input(c, m, true);
        put(c, lstm ? ")" : "");
    }
    put(c, ")\n");
    return true;
}

/* Drops nothing unless the module is trained. */
bool python_dropout(python_op *c) {
    const size_t x = python_input(c, "input");
    if (x == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'input' is missing");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    put(c, "F.dropout(");
    python_put_input(c, x, true);
    if (!python_put_keys(c, out_of(c), false)) return false;
    put(c, ", training=self.training)\n");
    return true;
}

/* ---- parameters in another form ---------------------------------------------------------------------------------- */

static void forget(python_op *c, const char *key) {
    xir_any *v = python_edit(c, key);
    if (v) *v = xir_any_null();
}

/* A list of one item is that item. */
static void flatten(python_op *c, const char *key) {
    const xir_any *v = python_param(c, key);
    if (!v || v->kind != XIR_ANY_LIST || v->as.list.size != 1) return;
    const xir_any item = v->as.list.items[0];
    xir_any *edited = python_edit(c, key);
    if (edited) *edited = item;
}

/* A dim of 0 is kept: PyTorch says None. */
bool python_pool_to(python_op *c) {
    const xir_any *size = python_param(c, "output_size");
    if (!size || size->kind != XIR_ANY_LIST) return true;
    const size_t n = size->as.list.size;
    xir_any *edited = python_edit(c, "output_size"), *items = arena_copy(&c->w->scratch, size->as.list.items,
                                                                         n * sizeof *items);
    if (!edited || !items) return python_no_memory(c->w);
    for (size_t i = 0; i < n; i++)
        if (items[i].kind == XIR_ANY_INT && items[i].as.integer == 0) items[i] = xir_any_null();
    *edited = xir_any_list(items, n);
    return true;
}

/* A module has no computed size: then the function is called. PyTorch refuses align_corners where nothing is
 * interpolated, and a factor that is computed again next to a size. */
bool python_resize(python_op *c) {
    static const char *const modes[] = { "linear", "bilinear", "bicubic", "trilinear" };
    if (c->op->n_inputs == 2 && xir_str_equal(c->type, XIR_STR("nn.Upsample")))
        c->row = python_row_of(c->w, XIR_STR("F.interpolate"));
    const xir_any *mode = python_param(c, "mode");
    bool interpolates = false;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        interpolates |= mode && mode->kind == XIR_ANY_TEXT && xir_str_equal(mode->as.text, xir_str_of(modes[i]));
    if (!interpolates) forget(c, "align_corners");
    if (python_param(c, "size") || (!is_module(c) && python_input(c, "size") != SIZE_MAX))
        forget(c, "recompute_scale_factor");
    return !c->w->status;
}

/* Over all dims there is no keepdim. */
bool python_reduce(python_op *c) {
    if (!python_param(c, "dim")) {
        if (truth_of(c, "keepdim", false))
            return python_refuse(c, XIR_E_UNSUPPORTED, "PyTorch has keepdim only with a dim");
        forget(c, "keepdim");
    }
    return !c->w->status;
}

bool python_unsqueeze(python_op *c) {
    flatten(c, "dim");
    return !c->w->status;
}

/* Dims are removed one by one, so that the positions of the others hold: from the last to the first, or if they count
 * from the end from the first to the last. */
static bool next_dim(const xir_list *dims, int64_t *last, bool first) {
    int64_t best = 0;
    bool found = false;
    for (size_t i = 0; i < dims->size; i++) {
        const int64_t v = dims->items[i].as.integer;
        const bool later = first || (v >= 0 ? *last < 0 || v < *last : *last < 0 && v > *last);
        const bool better = !found || (v < 0 && (best >= 0 || v < best)) || (v >= 0 && best >= 0 && v > best);
        if (!later || !better) continue;
        best = v;
        found = true;
    }
    *last = best;
    return found;
}

/* The function "torch.squeeze" as the method of what was written. */
static bool put_method(python_op *c) {
    put(c, c->row->type + strlen("torch"));
    put(c, "(");
    if (!python_put_keys(c, out_of(c), true)) return false;
    put(c, ")");
    return true;
}

/* Functions of one dim, for each dim of a list: v.squeeze(dim=2).squeeze(dim=0). To reduce no dims is to reduce all. */
bool python_each_dim(python_op *c) {
    const xir_any *listed = python_param(c, "dim");
    const bool all = listed && listed->kind == XIR_ANY_LIST && !listed->as.list.size;
    if (all && !xir_str_equal(c->type, XIR_STR("torch.squeeze"))) forget(c, "dim");
    const xir_any *dim = python_param(c, "dim");
    const xir_list dims = dim && dim->kind == XIR_ANY_LIST ? dim->as.list : (xir_list){ dim, dim != NULL };
    const size_t x = python_input(c, "input");
    int64_t last = 0;
    if (x == SIZE_MAX) return python_refuse(c, XIR_E_MISSING, "'input' is missing");
    bool known = !dim || (dims.size && dims.size <= 64);
    for (size_t i = 0; known && i < dims.size; i++) known = dims.items[i].kind == XIR_ANY_INT;
    if (!known) return python_refuse(c, XIR_E_UNSUPPORTED, "its dims are not 1 to 64 integers");
    if (!python_reduce(c) || !python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    if (!dim && !put_method(c)) return false;
    for (bool first = true; next_dim(&dims, &last, first); first = false) {
        xir_any *one = python_edit(c, "dim");
        if (!one) return false;
        *one = xir_any_int(last);
        if (!put_method(c)) return false;
    }
    put(c, "\n");
    return true;
}

/* A dim of 0 is that of the input: the converter writes it so. */
bool python_reshape(python_op *c) {
    const size_t x = python_input(c, "input"), computed = python_input(c, "shape");
    const xir_any *dims = python_param(c, "shape");
    if (x == SIZE_MAX || (computed == SIZE_MAX && !dims)) return python_refuse(c, XIR_E_MISSING, "'shape' is missing");
    if (!python_put_targets(c, PYTHON_ONE, PYTHON_TENSOR)) return false;
    python_put_input(c, x, true);
    put(c, ".reshape(");
    if (computed != SIZE_MAX) python_put_input(c, computed, false);
    else if (dims->kind != XIR_ANY_LIST) {
        if (!python_put_any(c, out_of(c), XIR_STR("shape"), dims)) return false;
    } else {
        char text[64];
        put(c, "(");
        for (size_t i = 0; i < dims->as.list.size; i++) {
            const xir_any *item = &dims->as.list.items[i];
            if (item->kind != XIR_ANY_INT) return python_refuse(c, XIR_E_UNSUPPORTED, "its shape is not integers");
            if (i) put(c, ", ");
            if (!item->as.integer) python_put_input(c, x, true);
            snprintf(text, sizeof text, item->as.integer ? "%" PRId64 : ".size(%" PRId64 ")",
                     item->as.integer ? item->as.integer : (int64_t)i);
            put(c, text);
        }
        put(c, dims->as.list.size == 1 ? ",)" : ")");
    }
    put(c, ")\n");
    return true;
}
