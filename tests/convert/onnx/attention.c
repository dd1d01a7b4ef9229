/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention and RMSNorm on the way to ONNX: from version 23 on they are one operator each, if it means the same.
 * Otherwise, and before, they are several operators that compute the same. Read again, they compute the same, and an
 * operator is the same class. */
#include <xir/convert.h>
#include <xir/pass.h>
#include "support/story.h"

#define QKV "q: 2 4 3 8; k: 2 2 5 8; v: 2 2 5 6; "

/* The operators of a network, "Expand Attention". */
static void operators_of(const xir_network *net, char out[400]) {
    size_t n = 0;
    *out = '\0';
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        if (key.size > 6 && !memcmp(key.data, "onnx::", 6))
            n += (size_t)snprintf(out + n, 400 - n, "%s%.*s", n ? " " : "", (int)key.size - 6, key.data + 6);
    }
}

static bool has_class(const xir_network *net, const char *name) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        const size_t n = strlen(name);
        if (key.size > n && key.data[key.size - n - 1] == ':' && !memcmp(key.data + key.size - n, name, n)) return true;
    }
    return false;
}

/* `operators` NULL: a formula without the operator `cls`. */
typedef struct form { const char *text, *operators, *cls; } form;

static void check_form(const form *f, const char *version, bool computes) {
    char found[400], options[40];
    xir_network *net = story_net(f->text), *again = xir_network_clone(net);
    snprintf(options, sizeof options, "strict,opset=%s", version);
    xir_diags_clear(why);
    if (xir_pass_run(again, "xir-to-onnx", options, NULL, why))
        fail_msg("%s: %.*s", f->text, CLIP(xir_diags_at(why, 0)->message));
    DOES(xir_dialect_check(again, why));
    operators_of(again, found);
    if (f->operators && strcmp(found, f->operators) != 0) fail_msg("%s: %s", f->text, found);
    if (!f->operators && strstr(found, f->cls)) fail_msg("%s: %s", f->text, found);
    DOES(xir_pass_run(again, "onnx-to-xir", "strict", NULL, why));
    if (f->operators && !has_class(again, f->cls)) fail_msg("%s: comes back without %s", f->text, f->cls);
    if (computes) CHECK_SAME_NUMBERS(net, again);
    xir_network_free(net);
    xir_network_free(again);
}

static const form attentions[] = {
    { QKV "y = Attention q k v; out y",                                         "Attention" },
    { QKV "y = Attention q k v [scale=0.25 softcap=1.5 is_causal=true]; out y", "Attention" },
    { QKV "m: bool 3 5; y = Attention q k v m; out y",                          "Attention" },
    { QKV "m: 2 1 3 5; y = Attention q k v m [softcap=2 is_causal=true]; out y", "Attention" },
    { "q: 2 3 32; k: 2 5 16; v: 2 5 12; y = Attention q k v [q_num_heads=4 kv_num_heads=2]; out y", "Attention" },
    { "q: fp64 1 1 2 4; k: fp64 1 1 3 4; v: fp64 1 1 3 4; y = Attention q k v; out y", "Attention" },
    { "q: bf16 1 1 2 4; k: bf16 1 1 3 4; v: bf16 1 1 3 4; y = Attention q k v; out y", "Cast Cast Cast Attention Cast" },
    /* the operator takes masks of 2 to 4 dims, and hides keys that a mask does not have */
    { QKV "m: 4 3 5; y = Attention q k v m; out y",                             "Unsqueeze Attention" },
    { QKV "m: fp32 5; y = Attention q k v m; out y",                                 "Unsqueeze Expand Attention" },
    { QKV "m: 2 1 1 5; y = Attention q k v m; out y",                           "Expand Attention" },
    { QKV "m: 3 1; y = Attention q k v m; out y",                               "Expand Attention" },
    /* its scale is a float, of which it takes the root */
    { QKV "y = Attention q k v [scale=-0.25]; out y",                           NULL },
    { QKV "y = Attention q k v [scale=0]; out y",                               NULL },
};

static const form norms[] = {
    { "x: 2 3 4; y = RMSNorm x [axis=2]; out y",                             "RMSNormalization" },
    { "x: 2 3 4; g: params 3 4; y = RMSNorm x [axis=1,-1 eps=0.25 gamma=g]; out y", "RMSNormalization" },
    { "x: fp64 2 3 4; y = RMSNorm x [axis=2]; out y",                        "RMSNormalization" },
    { "x: bf16 2 3 4; y = RMSNorm x [axis=2]; out y",                        "Cast RMSNormalization Cast" },
    { "x: 2 3 4; y = RMSNorm x [axis=1]; out y",                             NULL },
    { "x: 2 3 4; y = RMSNorm x [axis=0,2]; out y",                           NULL },
};

static void they_are_operators_of_version_23(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(attentions); i++)
        check_form(&(form){ attentions[i].text, attentions[i].operators, "Attention" }, "23", true);
    for (size_t i = 0; i < COUNT(norms); i++)
        check_form(&(form){ norms[i].text, norms[i].operators, norms[i].operators ? "RMSNorm" : "RMSNormalization" },
                   "23", true);
}

static void before_they_are_formulas(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(attentions); i++)   /* the parts of a formula are rounded to the elements */
        check_form(&(form){ attentions[i].text, NULL, "Attention" }, "22", !strstr(attentions[i].text, "bf16"));
    for (size_t i = 0; i < COUNT(norms); i++)
        check_form(&(form){ norms[i].text, NULL, "RMSNormalization" }, "22", !strstr(norms[i].text, "bf16"));
}

/* The operator needs no known lengths, except those of a mask. */
static void open_lengths_are_operators(void **state) {
    (void)state;
    check_form(&(form){ "q: -1 4 -1 8; k: -1 2 -1 8; v: -1 2 -1 6; y = Attention q k v [is_causal=true]; out y", "Attention",
                        "Attention" }, "23", false);
    check_form(&(form){ "q: 1 4 3 8; k: 1 2 -1 8; v: 1 2 -1 6; m: 3 -1; y = Attention q k v m; out y", NULL,
                        "Attention" }, "23", false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_operators_of_version_23),
        cmocka_unit_test(before_they_are_formulas),
        cmocka_unit_test(open_lengths_are_operators),
    };
    return RUN_GROUP(tests);
}
