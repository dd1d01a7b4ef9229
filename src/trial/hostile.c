/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops as a hostile file may have them: absent and surplus inputs, inputs of odd types, attributes that the rows forbid.
 * No answer is expected, but there must be one: a function that reads a NULL crashes here. */
#include <stdio.h>
#include <string.h>
#include "trying.h"

/* Asks all that may be asked about an op that nobody has checked. */
static void probe(trying *t, const xir_op *op) {
    xir_box whole = XIR_INIT(xir_box), needed[MOST_INPUTS];
    xir_diags *found = xir_diags_new(t->ctx);
    xir_work work = XIR_INIT(xir_work);
    (void)xir_op_validate(op, found);
    if (found) xir_diags_clear(found);
    (void)xir_op_try(op, NULL, found);
    (void)xir_op_work(op, &work, NULL);
    for (size_t i = 0; i < MOST_INPUTS; i++) needed[i] = XIR_INIT(xir_box);
    if (xir_op_output_count(op) && xir_box_whole(xir_value_type(xir_op_output(op, 0)), &whole, NULL) == XIR_OK)
        (void)xir_op_needed(op, 0, &whole, needed, MOST_INPUTS, NULL);
    xir_diags_free(found);
}

/* Values of odd types; NULL is an absent input. */
enum { ODD = 7 };

static void odd_values(trying *t, xir_network *net, xir_value *out[ODD]) {
    static const int64_t open[] = { -1, -1, -1, -1, -1, -1 }, huge[] = { 1, INT64_C(1) << 40, 1, 3 };
    const xir_type *fp32 = xir_type_float(t->ctx, XIR_FLOAT_FP32);
    const int64_t dims[] = { 1, 1, 4, 4, 32 };
    const xir_type *types[ODD] = {
        NULL, xir_type_bool(t->ctx), xir_type_tensor(t->ctx, fp32, NULL, NULL, 0),
        xir_type_tensor(t->ctx, fp32, NULL, open, 6), xir_type_tensor(t->ctx, fp32, NULL, huge, 4),
        xir_type_tensor(t->ctx, xir_type_bool(t->ctx), NULL, dims, 3),
        xir_type_tensor(t->ctx, fp32, xir_layout_parse(t->ctx, XIR_STR("NCHWc32"), NULL), dims, 5),
    };
    for (size_t i = 0; i < ODD; i++) out[i] = types[i] ? xir_value_new(net, XIR_STR(""), types[i], NULL) : NULL;
}

static void odd_inputs(trying *t, const made *m) {
    xir_value *odd[ODD];
    odd_values(t, m->net, odd);
    const size_t n = xir_op_input_count(m->op);
    for (size_t i = 0; i < n; i++) {
        xir_value *own = xir_op_input(m->op, (int64_t)i);
        for (size_t k = 0; k < ODD; k++)
            if (xir_op_set_input(m->op, i, odd[k]) == XIR_OK) probe(t, m->op);
        (void)xir_op_set_input(m->op, i, own);
    }
    for (size_t i = 0; i < n; i++) (void)xir_op_set_input(m->op, i, odd[3]);
    probe(t, m->op);
    for (size_t i = 1; i < 4; i++)
        if (xir_op_add_input(m->op, odd[i]) == XIR_OK) probe(t, m->op);
    xir_op_clear_inputs(m->op);
    probe(t, m->op);
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

/* Values of a kind as a file may have them; NULL ends the list. */
static const char *const *hostile_words(xir_kind kind) {
    static const char *const integers[] = { "0", "-1", "-9223372036854775808", "9223372036854775807", "1000000000", NULL };
    static const char *const reals[] = { "0.0", "-1.0", "1e30", "-1e30", NULL };
    static const char *const lists[] = { "[]", "[-9223372036854775808]", "[9223372036854775807,9223372036854775807]",
                                         "[0,0,0,0,0,0,0,0,0,0,0,0]", "[-1,-1,-1]", NULL };
    static const char *const real_lists[] = { "[]", "[0.0]", "[1e30,1e30,1e30,1e30,1e30,1e30,1e30,1e30,1e30]", NULL };
    static const char *const none[] = { "null", NULL };
    static const char *const texts[] = { "\"\"", "\"%s%n\"", NULL };
    switch (kind) {
    case XIR_KIND_I64:   return integers;
    case XIR_KIND_REAL:  return reals;
    case XIR_KIND_I64S:  return lists;
    case XIR_KIND_REALS: return real_lists;
    case XIR_KIND_TEXT:  return texts;
    default:             return none;
    }
}

/* The op as a file would have it, with another value of one attribute. NULL data if that cannot be spelled. */
static xir_str exchanged(xir_str json, xir_str name, xir_str value, const char *word, char *room, size_t size) {
    char member[120];
    const int n = snprintf(member, sizeof member, "\"%.*s\":%.*s", xir_str_shown_(name.size), name.data,
                           xir_str_shown_(value.size), value.data);
    const char *at = n > 0 && (size_t)n < sizeof member ? strstr(json.data, member) : NULL;
    if (!at) return (xir_str){ NULL, 0 };
    const int all = snprintf(room, size, "%.*s\"%.*s\":%s%s", (int)(at - json.data), json.data,
                             xir_str_shown_(name.size), name.data, word, at + n);
    return all > 0 && (size_t)all < size ? (xir_str){ room, (size_t)all } : (xir_str){ NULL, 0 };
}

static void probe_attribute(trying *t, const made *m, xir_str json, const xir_field *f) {
    char room[8192];
    xir_text_buffer value = { 0 };
    if (xir_op_attr_print(m->op, f->name, 0, &value) == XIR_OK) {
        const xir_str now = { value.data, value.size };
        for (const char *const *word = hostile_words(f->kind); *word; word++) {
            const xir_str text = exchanged(json, f->name, now, *word, room, sizeof room);
            /* In a network of its own: the ids of the op are taken in this one. */
            xir_network *net = text.data ? xir_network_new(t->ctx, "hostile", XIR_FRAMEWORK_PYTORCH, "") : NULL;
            const xir_op *op = net ? xir_op_parse(net, text, NULL) : NULL;
            if (op) probe(t, op);
            xir_network_free(net);
        }
    }
    xir_text_free(&value);
}

static void odd_attributes(trying *t, const made *m) {
    xir_text_buffer json = { 0 };
    char text[8192];                  /* terminated, as the buffer is not */
    if (xir_op_print(m->op, 0, &json) == XIR_OK && json.size < sizeof text) {
        memcpy(text, json.data, json.size);
        text[json.size] = '\0';
        for (size_t i = 0; i < xir_class_field_count(t->cls); i++)
            probe_attribute(t, m, (xir_str){ text, json.size }, xir_class_field_at(t->cls, i));
    }
    xir_text_free(&json);
}

void trial_hostile(trying *t, const made *m) {
    trial_step(t, "CHECK, INFER, WORK or NEEDS, with attributes of a hostile file");
    odd_attributes(t, m);
    trial_step(t, "CHECK, INFER, WORK or NEEDS, with inputs that are absent or of odd types");
    odd_inputs(t, m);
}
