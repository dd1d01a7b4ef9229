/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of inputs and results. A text has none of its own: inputs come as calls use them, and all tensors that
 * exist at the end are results, as calls make them. Where the network is another one, two words in the metadata of the
 * first call say it, "xir.inputs=x,z" and "xir.outputs=y,a": other inputs follow these, other tensors are not results.
 * DeepX ignores such words. Names that do not fit are passed over, and so are words if none fits: words about another
 * network do no harm. */
#include <stdlib.h>
#include "deepx/order.h"

#define INPUTS  "xir.inputs"
#define OUTPUTS "xir.outputs"

static const xir_str keys[] = { { INPUTS "=", sizeof INPUTS }, { OUTPUTS "=", sizeof OUTPUTS } };

static xir_str next_name(xir_str *rest) {
    const char *comma = rest->size ? memchr(rest->data, ',', rest->size) : NULL;
    const size_t n = comma ? (size_t)(comma - rest->data) : rest->size;
    const xir_str name = { rest->data, n };
    *rest = (xir_str){ rest->data + n + (comma != NULL), rest->size - n - (comma != NULL) };
    return name;
}

bool deepx_stays(const xir_value *v) {
    const xir_op *op = value_op(v);
    if (!deepx_is_op(op) || op_is_of(op, "deepx::", "deltensor")) return false;
    for (const xir_use *use = v->uses; use; use = use->next)
        if (op_is_of(use->user, "deepx::", "renametensor")) return false;
    return true;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static xir_str words_of(const xir_network *net, const char *key) {
    const xir_op *op = net->first;
    while (op && !deepx_is_op(op)) op = op->next;
    const xir_any *meta = op && op_more_of(op) ? DEEPX_TAG_OF(op_more_of(op)->tags, DEEPX_TAG_META) : NULL;
    return meta && meta->kind == XIR_ANY_TEXT ? deepx_meta_value(meta->as.text, key) : (xir_str){ NULL, 0 };
}

xir_status deepx_order_names(const xir_network *net, bool inputs, void *items, size_t *count, size_t size,
                             deepx_name_of *name_of) {
    const xir_allocator *alloc = &net->alloc;
    const size_t n = *count;
    xir_str words = words_of(net, inputs ? INPUTS : OUTPUTS);
    text_table places;
    char *from = items;
    size_t taken = 0;
    if (!words.size || n < 2) return XIR_OK;
    text_table_init(&places, alloc);
    char *to = mem_new(alloc, n * size);
    bool ok = to;
    for (size_t i = 0; i < n && ok; i++) ok = text_table_add(&places, name_of(from + i * size), (uint32_t)i);
    while (words.size && ok) {
        uint32_t *place = text_table_find(&places, next_name(&words));
        if (!place || *place == UINT32_MAX) continue;
        memcpy(to + taken++ * size, from + *place * size, size);
        *place = UINT32_MAX;
    }
    const bool others = inputs || !taken;
    for (size_t i = 0; i < n && others && ok; i++) {
        const uint32_t *place = text_table_find(&places, name_of(from + i * size));
        if (*place == i) memcpy(to + taken++ * size, from + i * size, size);
    }
    if (ok) memcpy(items, to, taken * size);
    if (ok) *count = taken;
    mem_free(alloc, to, n * size);
    text_table_free(&places);
    return ok ? XIR_OK : XIR_E_MEMORY;
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

/* The values of an end in the order in which a text gives them, each once. */
typedef struct end_values { xir_value **v; size_t n; } end_values;

static bool take_new(pointer_table *left, end_values *to, xir_value *v) {
    uint32_t *waits = v ? pointer_table_find(left, v) : NULL;
    if (!waits || !*waits) return false;
    *waits = 0;
    to->v[to->n++] = v;
    return true;
}

/* Appends names if their order is not that of the text, or if the text has others. Inputs that no call uses are not in
 * the text. */
static bool put_names(buffer *out, const end_values *own, const end_values *text, bool others, pointer_table *left) {
    size_t used = 0;
    bool same = true;
    for (size_t i = 0; i < own->n; i++) {
        const uint32_t *waits = pointer_table_find(left, own->v[i]);
        if (!waits || *waits) continue;
        same = same && used < text->n && text->v[used] == own->v[i];
        used++;
    }
    if (same && used == text->n && !others) return false;
    for (size_t i = 0, n = 0; i < own->n; i++) {
        const uint32_t *waits = pointer_table_find(left, own->v[i]);
        const xir_str name = xir_value_name(own->v[i]);
        if (!waits || *waits) continue;
        if (n++) buffer_char(out, ',');
        buffer_put(out, name.data, name.size);
    }
    return true;
}

static bool is_used_by(const xir_value *v, const xir_op *op) {
    const xir_use *use = v->uses;
    while (use && use->user != op) use = use->next;
    return use;
}

/* Gathers the values of one end in the order of the text: inputs as calls use them, results as calls make them. */
static void take_all(const xir_network *net, bool inputs, pointer_table *left, end_values *text) {
    const xir_op *from = xir_network_input_op(net), *to = xir_network_output_op(net);
    for (const xir_op *op = net->first; op; op = op->next) {
        if (op == from || op == to) continue;
        for (uint32_t i = 0; inputs && i < op->n_inputs; i++) {
            xir_value *v = op_inputs(op)[i].value;
            if (v && value_op(v) == from) take_new(left, text, v);
        }
        for (uint32_t i = 0; !inputs && i < op->n_outputs; i++)
            if (is_used_by(&op_outputs(op)[i], to)) take_new(left, text, &op_outputs(op)[i]);
    }
}

/* Returns true if a tensor that exists at the end is not a result. */
static bool has_others(const deepx_last *last, const pointer_table *results) {
    for (size_t i = 0; i < last->n; i++)
        if (deepx_stays(last->of[i]) && !pointer_table_find(results, last->of[i])) return true;
    return false;
}

/* Appends the names of one end; *differs if the text has another order. XIR_E_MEMORY. */
static xir_status put_end(const xir_network *net, bool inputs, const deepx_last *last, buffer *out, bool *differs) {
    const xir_allocator *alloc = &net->alloc;
    const size_t n = inputs ? xir_network_inputs(net, NULL, 0) : xir_network_outputs(net, NULL, 0);
    end_values own = { mem_new(alloc, (n + 1) * sizeof *own.v), n };
    end_values text = { mem_new(alloc, (n + 1) * sizeof *text.v), 0 };
    pointer_table left;
    pointer_table_init(&left, alloc);
    bool ok = own.v && text.v;
    *differs = false;
    if (ok && inputs) xir_network_inputs(net, own.v, n);
    else if (ok) xir_network_outputs(net, own.v, n);
    for (size_t i = 0; i < n && ok; i++) ok = !own.v[i] || pointer_table_add(&left, own.v[i], 1);
    if (ok && n) take_all(net, inputs, &left, &text);
    if (ok) *differs = put_names(out, &own, &text, !inputs && has_others(last, &left), &left);
    pointer_table_free(&left);
    mem_free(alloc, (void *)own.v, (n + 1) * sizeof *own.v);
    mem_free(alloc, (void *)text.v, (n + 1) * sizeof *text.v);
    return ok && !out->failed ? XIR_OK : XIR_E_MEMORY;
}

xir_status deepx_put_order(const xir_network *net, const deepx_last *last, buffer *out, bool *differs) {
    *differs = false;
    for (size_t k = 0; k < 2; k++) {
        const size_t before = out->size;
        bool other;
        if (before) buffer_char(out, ' ');
        buffer_put(out, keys[k].data, keys[k].size);
        if (put_end(net, k == 0, last, out, &other)) return XIR_E_MEMORY;
        if (!other) out->size = before;
        *differs |= other;
    }
    return out->failed ? XIR_E_MEMORY : XIR_OK;
}

/* Returns true if metadata has exactly these words about the order, in any places. */
static bool says(xir_str meta, xir_str order) {
    return xir_str_equal(deepx_meta_value(meta, INPUTS), deepx_meta_value(order, INPUTS)) &&
           xir_str_equal(deepx_meta_value(meta, OUTPUTS), deepx_meta_value(order, OUTPUTS));
}

static bool is_order(xir_str word) {
    for (size_t k = 0; k < 2; k++)
        if (word.size >= keys[k].size && memcmp(word.data, keys[k].data, keys[k].size) == 0) return true;
    return false;
}

void deepx_put_ordered_meta(buffer *out, const xir_str *meta, xir_str order) {
    const char *p = meta ? meta->data : NULL, *end = meta ? p + meta->size : NULL;
    if (!meta && !order.size) return;
    buffer_str(out, " //");
    if (meta && says(*meta, order)) {
        buffer_put(out, p, meta->size);
        return;
    }
    while (p < end) {   /* the blanks before a word go with it */
        const char *from = p;
        while (p < end && deepx_is_space(*p)) p++;
        const char *word = p;
        while (p < end && !deepx_is_space(*p)) p++;
        if (!is_order((xir_str){ word, (size_t)(p - word) })) buffer_put(out, from, (size_t)(p - from));
    }
    if (order.size && meta && meta->size) buffer_char(out, ' ');
    buffer_put(out, order.data, order.size);
}
