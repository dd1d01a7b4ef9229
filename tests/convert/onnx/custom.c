/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Ops as nodes in the domain icraft.xir: every case of the executor's tables, and ops of every class with default and
 * random attributes, go to a file of ONNX and come back as the same ops. Then files in which such nodes are wrong. */
#include <math.h>
#include <xir/convert.h>
#include <xir/symbols.h>
#include "convert/way_back.h"
#include "support/forms.h"
#include "support/onnx_nodes.h"
#include "support/story.h"

static bool runs(xir_network *net, const char *pass, const char *options) {
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, pass, options, NULL, why);
    xir_network_clear_status(net);
    return !status;
}

static xir_network *through_file(xir_network *net) { return way_through_file(net, "onnx", NULL); }

/* ---- equal ops -------------------------------------------------------------------------------------------------- */

static bool same_params(const xir_value *a, const xir_value *b) {
    return xir_params_equal(a, b) && xir_type_equal(xir_value_type(a), xir_value_type(b));
}

static bool same_attribute(const xir_field *f, const xir_attr *a, const xir_attr *b) {
    if (a->is_null || b->is_null) return a->is_null == b->is_null;
    if (f->kind == XIR_KIND_PARAMS) return same_params(a->as.params, b->as.params);
    if (f->kind != XIR_KIND_PARAMSS) return true;
    bool same = a->as.values.size == b->as.values.size;
    for (size_t i = 0; same && i < a->as.values.size; i++)
        same = same_params(a->as.values.data[i], b->as.values.data[i]);
    return same;
}

/* The first difference, as a word; NULL: there is none. */
static const char *difference(const xir_op *a, const xir_op *b) {
    static char text[400];
    const xir_class *cls = xir_op_class(a);
    if (cls != xir_op_class(b)) return "class";
    for (size_t i = 0; i < xir_class_field_count(cls); i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        xir_text_buffer x = { 0 }, y = { 0 };
        xir_attr p, q;
        assert_int_equal(xir_op_get(a, f->name, &p), XIR_OK);
        assert_int_equal(xir_op_get(b, f->name, &q), XIR_OK);
        bool same = same_attribute(f, &p, &q);
        if (f->kind != XIR_KIND_PARAMS && f->kind != XIR_KIND_PARAMSS) {
            assert_int_equal(xir_op_attr_print(a, f->name, 0, &x), XIR_OK);
            assert_int_equal(xir_op_attr_print(b, f->name, 0, &y), XIR_OK);
            same = same && x.size == y.size && memcmp(x.data, y.data, x.size) == 0;
        }
        const int n = (int)(x.size < 150 ? x.size : 150), m = (int)(y.size < 150 ? y.size : 150);
        snprintf(text, sizeof text, "%.*s: %.*s, %.*s", (int)f->name.size, f->name.data, n, x.data ? x.data : "", m,
                 y.data ? y.data : "");
        xir_text_free(&x);
        xir_text_free(&y);
        if (!same) return text;
    }
    if (xir_op_output_count(a) != xir_op_output_count(b)) return "outputs";
    for (size_t i = 0; i < xir_op_output_count(a); i++)
        if (!xir_type_equal(xir_value_type(xir_op_output(a, (int64_t)i)), xir_value_type(xir_op_output(b, (int64_t)i))))
            return "types of outputs";
    if (xir_op_input_count(a) != xir_op_input_count(b)) return "inputs";
    for (size_t i = 0; i < xir_op_input_count(a); i++) {
        const xir_value *x = xir_op_input(a, (int64_t)i), *y = xir_op_input(b, (int64_t)i);
        if (!x != !y) return "absent inputs";
        if (x && xir_value_is_params(x) != xir_value_is_params(y)) return "constant inputs";
        if (x && xir_value_is_params(x) && !same_params(x, y)) return "constants";
        if (x && !xir_type_equal(xir_value_type(x), xir_value_type(y))) return "types of inputs";
    }
    if (!xir_object_equal((const xir_object *)xir_op_target(a), (const xir_object *)xir_op_target(b))) return "targets";
    return NULL;
}

/* Finds a difference between the op and the one of its class that is like it. */
static const char *difference_to_any(const xir_op *op, const xir_network *net) {
    const char *found = "no op of the class";
    for (const xir_op *k = xir_network_first(net); k && found; k = xir_op_next(k))
        if (xir_op_class(k) == xir_op_class(op)) found = difference(op, k);
    return found;
}

/* A network with one op becomes a file and a network again; the reason why it does not. */
static const char *there_and_back(const xir_network *net, const xir_op *op, const char *pass, const char *options,
                                  bool file, xir_network **back) {
    *back = NULL;
    xir_network *made = xir_network_clone(net), *read = NULL;
    assert_non_null(made);
    const char *fault = NULL;
    if (!runs(made, pass, options)) fault = "the pass failed";
    else if (!way_is_whole(made, true)) fault = "it stays";
    if (!fault) xir_diags_clear(why);   /* the note about element types that change */
    if (!fault && file && !(read = through_file(made))) fault = "no file";
    else if (!fault && xir_dialect_check(read ? read : made, why)) fault = "faults";
    else if (!fault && !runs(read ? read : made, "to-xir", "strict")) fault = "it cannot be read";
    else if (!fault && !way_is_whole(read ? read : made, false)) fault = "nodes stay";
    *back = read ? read : made;
    if (read) xir_network_free(made);
    return fault ? fault : difference_to_any(op, *back);
}

/* ---- the executor's tables -------------------------------------------------------------------------------------- */

/* Returns true if a type is one that the ends of a file of ONNX cannot have: open dims get names there, and nothing
 * says tiles and padding. */
static bool is_special(const xir_value *v) {
    const xir_tensor_type *type = v ? xir_type_as_tensor(xir_value_type(v)) : NULL;
    return v && (!type || type->merged_distrs.size || xir_type_has_unknown_dim(xir_value_type(v)) ||
                 xir_type_is_layouted(xir_value_type(v)));
}

static bool has_ratios(const xir_value *v) {
    return xir_type_is_quantized(xir_type_element(xir_value_type(v))) &&
           xir_type_kind_of(xir_type_element(xir_value_type(v))) != XIR_TYPE_QUANTIZED;
}

static bool has_special_ends(const xir_op *op) {
    bool special = false;
    for (size_t i = 0; i < xir_op_output_count(op); i++) special |= has_ratios(xir_op_output(op, (int64_t)i));
    for (size_t i = 0; i < xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, (int64_t)i);
        special |= v && !xir_value_is_params(v) && is_special(v);
    }
    return special;
}

/* Returns true if a file is refused because of a type at the ends of the network that no tensor of ONNX has. */
static bool is_of_type(const char *message) { return strstr(message, "a type that ONNX does not have") != NULL; }

static void each(const char *text, const char *file, int line, op_counts *counts) {
    for (int constants = 0; constants < 2; constants++) {
        way_case w;
        way_case_begin(&w, text, file, line, counts, constants);
        /* a table may have fewer ratios than indices, which validation refuses */
        const bool valid = w.op && !(xir_op_is(w.op, xir_cast_class()) && has_ratios(xir_op_output(w.op, 0)));
        for (int files = 0; valid && files < 2 - (int)has_special_ends(w.op); files++) {
            xir_network *back;
            const char *fault = there_and_back(w.c.net, w.op, ONNX_NODES, "opset=17", files, &back);
            if (fault && strcmp(fault, "no file") == 0 && is_of_type(way_first_message())) counts->bad++;
            else if (fault) op_case_fail(&w.c, "the same op", "%s: %s%s", fault, way_first_message(), w.how);
            else way_compute(&w.c, NULL, back, w.in, way_input_stored, way_stored, w.how);
            xir_network_free(back);
        }
        counts->good += w.op != NULL;
        way_case_end(&w);
    }
}

static void tables_go_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    way_each("convert/onnx/back.txt", each, &counts);
    printf("%zu cases\n", counts.good);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
}

/* ---- every class ------------------------------------------------------------------------------------------------ */

static xir_value *some_params(xir_network *net) {
    static const float numbers[] = { 0.5f, -1, 3 };
    const int64_t n = 3;
    return xir_params_copy(net, XIR_STR("p"), xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, &n, 1),
                           numbers, sizeof numbers);
}

static double some_real(void) {
    static const double reals[] = { 0, -0.0, 0.5, 0.1f, -3, 1e30f, 0x1p-140, INFINITY, -INFINITY };
    return reals[chance(COUNT(reals))];
}

/* Gives an attribute of an op a random value, which the library may refuse. */
static void set_some(xir_op *op, const xir_field *f) {
    static const bool bools[] = { true, false, true };
    const xir_str texts[] = { XIR_STR("Tanh"), XIR_STR(""), XIR_STR("\xC3\xA4") };
    int64_t list[3];
    double reals[3];
    xir_attr a = { .kind = f->kind };
    for (size_t i = 0; i < 3; i++) list[i] = some_number(), reals[i] = some_real();
    switch (f->kind) {
    case XIR_KIND_BOOL:  a.as.boolean = chance(2); break;
    case XIR_KIND_I64:   a.as.i64 = chance(2) ? some_number() : (int64_t)chance(4); break;
    case XIR_KIND_U64:   a.as.u64 = chance(2) ? UINT64_MAX - chance(9) : chance(9); break;
    case XIR_KIND_REAL:  a.as.real = some_real(); break;
    case XIR_KIND_TEXT:  a.as.text = texts[chance(3)]; break;
    case XIR_KIND_ENUM:  a.as.enumerator = (int)chance(f->members->size); break;
    case XIR_KIND_BOOLS: a.as.bools = (xir_bools){ bools, chance(4) }; break;
    case XIR_KIND_I64S:  a.as.i64s = (xir_i64s){ list, chance(4) }; break;
    case XIR_KIND_REALS: a.as.reals = (xir_reals){ reals, chance(4) }; break;
    case XIR_KIND_TEXTS: a.as.texts = (xir_texts){ texts, chance(4) }; break;
    case XIR_KIND_PARAMS: a.as.params = some_params(xir_op_network(op)); break;
    default: return;
    }
    if ((f->flags & XIR_FIELD_OPTIONAL) && !chance(3)) a.is_null = true;
    xir_attr before;
    const bool had = xir_op_get(op, f->name, &before) == XIR_OK;
    const bool fits = xir_op_set(op, f->name, &a) == XIR_OK && xir_op_infer(op, true) == XIR_OK &&
                      xir_op_validate(op, why) == XIR_OK;
    if (!fits && had) (void)xir_op_set(op, f->name, &before);
    if (!fits) (void)xir_op_infer(op, true);
    xir_network_clear_status(xir_op_network(op));
}

enum { MOST_SEEN = 400 };
static const xir_class *seen[MOST_SEEN];
static size_t n_seen, n_ops;

static void note_class(const xir_class *cls) {
    size_t i = 0;
    while (i < n_seen && seen[i] != cls) i++;
    assert_true(i < MOST_SEEN);
    if (i == n_seen) seen[n_seen++] = cls;
}

/* Returns true if its constants have bytes, as a file must have them. */
static bool has_bytes(const xir_network *net) {
    xir_value *constants[64];
    const size_t n = xir_network_params(net, constants, COUNT(constants));
    bool all = n <= COUNT(constants);
    for (size_t i = 0; all && i < n; i++) all = xir_params_has_data(constants[i]);
    return all;
}

/* Each good case of the tables of operations, with its attributes, then with random ones that the class accepts. */
static void each_with_random(const char *text, const char *file, int line, op_counts *counts) {
    enum { ROUNDS = 4 };
    op_case c;
    const bool good = op_case_begin(&c, text, file, line, counts) && !c.bad;
    xir_op *op = good ? op_case_add(&c) : NULL;
    const bool ends = op && xir_class_traits(c.cls) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK);
    if (op && (ends || has_special_ends(op))) op = NULL;
    if (op && xir_op_output_count(op)) {
        xir_value *outputs[MOST_OUTPUTS];
        for (size_t i = 0; i < xir_op_output_count(op); i++) outputs[i] = xir_op_output(op, (int64_t)i);
        assert_non_null(xir_output(xir_at_end(c.net), (xir_values){ outputs, xir_op_output_count(op) }));
    }
    for (int round = 0; op && round < ROUNDS; round++) {
        xir_network *back;
        for (size_t i = 0; round && i < xir_class_field_count(c.cls); i++)
            if (!chance(3)) set_some(op, xir_class_field_at(c.cls, i));
        xir_diags_clear(why);
        if (xir_op_validate(op, why)) break;
        const char *fault = there_and_back(c.net, op, ONNX_NODES, "", has_bytes(c.net), &back);
        const bool has_none = fault && strcmp(fault, "no file") == 0 && is_of_type(way_first_message());
        if (!fault) note_class(c.cls), n_ops++;
        else if (!has_none) op_case_fail(&c, "the same op", "%s: %s, round %d", fault, way_first_message(), round);
        xir_network_free(back);
    }
    op_case_end(&c);
}

static void every_class_goes_there_and_back(void **state) {
    (void)state;
    op_counts counts = { .out = stderr };
    char **names = op_tables("ops");
    size_t classes = 0;
    for (char **name = names; *name; free(*name++))
        op_cases_each(op_table_path("ops", *name), each_with_random, &counts);
    free(names);
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        const uint32_t others = XIR_TRAIT_ABSTRACT | XIR_TRAIT_SOURCE | XIR_TRAIT_SINK;
        if (!xir_class_is_op(cls) || xir_class_traits(cls) & others) continue;
        size_t k = 0;
        while (k < n_seen && seen[k] != cls) k++;
        classes++;
        if (k == n_seen) printf("none of %.*s\n", (int)xir_class_key(cls).size, xir_class_key(cls).data);
    }
    printf("%zu of %zu classes, %zu ops\n", n_seen, classes, n_ops);
    if (counts.failed) fail_msg("%zu cases fail", counts.failed);
    /* PruneAxis takes padding, which no input of a file has: see the next test. The tables have no calls. */
    assert_true(n_seen + 2 >= classes);
}

/* Padding of elements is in the types that nodes say, which no value of the file does. */
static void types_between_nodes_stay(void **state) {
    (void)state;
    op_case c;
    op_counts counts = { .out = stderr };
    assert_true(op_case_begin(&c, "AlignAxis(fp32 ** 1x3 = 1 2 3) aligned_units=[{[1],[4]}] -> fp32 ** 1x4 "
                              "@merged_distr([1]^ZERO:{v:[0, 3), u:[3, 4)})", "custom.c", __LINE__, &counts));
    xir_op *align = op_case_add(&c);
    assert_non_null(align);
    xir_value *x = xir_op_output(align, 0), *y = XIR_OP(xir_at_end(c.net), prune_axis, .input = x,
                                                        .attrs = XIR_ATTRS(prune_axis, (index, XIR_I64S(0))));
    assert_non_null(y);
    assert_non_null(xir_output(xir_at_end(c.net), XIR_VALUES(y)));
    xir_network *back;
    const char *fault = there_and_back(c.net, xir_value_op(y), "xir-to-onnx", "custom", true, &back);
    if (fault) fail_msg("%s: %s", fault, way_first_message());
    assert_null(difference_to_any(align, back));
    xir_network_free(back);
    op_case_end(&c);
}

/* An op whose class infers nothing, and that has no outputs. */
static void ops_without_outputs_come_back(void **state) {
    (void)state;
    xir_network *net = story_net("x: 2 3; y = ReLU x; out y"), *back;
    xir_value *x = xir_op_output(xir_network_op_at(net, 0), 0);
    const xir_type *type = xir_value_type(x);
    const xir_class *cls = xir_class_find(ctx, XIR_STR("icraft::xir::Unknown"));
    const xir_op_desc desc = XIR_INIT(xir_op_desc, .cls = cls, .inputs = &x, .n_inputs = 1, .types = &type,
                                      .n_types = 0, .id = XIR_NO_ID, .before = xir_network_last(net));
    xir_op *op = xir_network_add(net, &desc);
    assert_non_null(op);
    const char *fault = there_and_back(net, op, ONNX_NODES, "", true, &back);
    if (fault) fail_msg("%s: %s", fault, way_first_message());
    xir_network_free(back);
    xir_network_free(net);
}

/* ---- nodes that are wrong --------------------------------------------------------------------------------------- */

static xir_network *nodes_of(const char *text) {
    xir_network *net = story_net(text);
    assert_true(runs(net, ONNX_NODES, ""));
    assert_true(way_is_whole(net, true));
    return net;
}

static xir_op *node_named(const xir_network *net, const char *key) {
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op))
        if (xir_str_equal(xir_class_key(xir_op_class(op)), xir_str_of(key))) return op;
    fail_msg("there is no %s", key);
    return NULL;
}

static const char some_net[] = "x: NHWC 1 4 4 2; w: params HWIO 1 1 2 3; c = Conv2d x w [stride_height=2];"
                               "r = Reshape c [shape=1,2,4,3 layout=@layout(****)]; s = ReLU r [alpha=0.5]; out s";

static void wrong_attributes_have_findings(void **state) {
    (void)state;
    const xir_any two[] = { xir_any_int(1), xir_any_text(XIR_STR("x")) };
    const struct { const char *node, *name; xir_any any; const char *part; } cases[] = {
        { "Conv2d",  "stride_height", xir_any_text(XIR_STR("2")),       "stride_height: expected an integer" },
        { "Conv2d",  "stride_height", xir_any_int(0),                   "stride_height" },
        { "Conv2d",  "padding_mode",  xir_any_text(XIR_STR("SIDEWAYS")), "padding_mode: expected one of the words" },
        { "Conv2d",  "stride",        xir_any_int(0),                   "the class has no such attribute" },
        { "Conv2d",  "xir.class",     xir_any_int(0),                   "expected a text" },
        { "Conv2d",  "xir.class",     xir_any_null(),                   "it is missing" },
        { "Conv2d",  "xir.class",     xir_any_text(XIR_STR("acme::Conv")), "no class has the key 'acme::Conv'" },
        { "Conv2d",  "xir.class",     xir_any_text(XIR_STR("icraft::xir::Input")), "a class of operations" },
        { "Conv2d",  "xir.class",     xir_any_text(XIR_STR("icraft::xir::Layout")), "a class of operations" },
        { "Conv2d",  "xir.class",     xir_any_text(XIR_STR("onnx::Conv")), "no class has the key" },
        { "Conv2d",  "xir.class",     xir_any_text(XIR_STR("icraft::xir::ReLU")), "the class has no such attribute" },
        { "Conv2d",  "xir.inputs",    xir_any_list(two, 2),             "expected the text of a type" },
        { "Conv2d",  "xir.outputs",   xir_any_list(two, 2),             "one for each input or output" },
        { "Conv2d",  "xir.outputs",   xir_any_list(two + 1, 1),         "xir.outputs" },
        { "Conv2d",  "xir.target",    xir_any_text(XIR_STR("\"@layout(NC)\"")), "expected a target" },
        { "Conv2d",  "xir.extra",     xir_any_text(XIR_STR("[1]")),     "expected a map" },
        { "Conv2d",  "xir.extra",     xir_any_text(XIR_STR("{}, \"b\": 1")), "expected the end of the text" },
        { "Reshape", "shape",         xir_any_list(two, 2),             "an item of the list is of another kind" },
        { "Reshape", "shape",         xir_any_null(),                   "shape" },
        { "Reshape", "layout",        xir_any_text(XIR_STR("\"@fp(32)\"")), "an object of another class" },
        { "Reshape", "layout",        xir_any_text(XIR_STR("{")),       "layout" },
        { "ReLU",    "alpha",         xir_any_list(two, 1),             "expected" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char key[80];
        snprintf(key, sizeof key, "onnx::icraft.xir.%s", cases[i].node);
        xir_network *net = nodes_of(some_net);
        const bool none = cases[i].any.kind == XIR_ANY_NULL;
        DOES(xir_op_set_extra(node_named(net, key), xir_str_of(cases[i].name), none ? NULL : &cases[i].any));
        (void)runs(net, "to-xir", "");
        bool found = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            char text[600];
            const xir_str m = xir_diags_at(why, k)->message;
            snprintf(text, sizeof text, "%.*s", (int)(m.size < 599 ? m.size : 599), m.data);
            found |= strstr(text, cases[i].part) != NULL;
        }
        if (!found) fail_msg("%s of %s: expected '%s', found '%s'", cases[i].name, cases[i].node, cases[i].part,
                             way_first_message());
        if (way_is_whole(net, false)) fail_msg("%s of %s is converted", cases[i].name, cases[i].node);
        CHECK_SOUND(net);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* Other elements of the same width, which another program has put into the file, are not taken for those that the op
 * had: neither in an input nor in a constant. */
static void elements_are_not_mistaken(void **state) {
    (void)state;
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32), *bf16 = xir_type_float(ctx, XIR_FLOAT_BF16),
                   *i32 = xir_type_sint(ctx, 32), *i8 = xir_type_sint(ctx, 8), *u8 = xir_type_uint(ctx, 8);
    const struct { const char *text; const xir_type *now; bool good; } cases[] = {
        { "ReLU(fp32 * 2) -> fp32 * 2",                                                   fp32,   true  },
        { "ReLU(fp32 * 2) -> fp32 * 2",                                                   i32,    false },
        { "ReLU(fp16 * 2) -> fp16 * 2",                                                   bf16,   false },
        { "ReLU(i8 * 2) -> i8 * 2",                                                       u8,     false },
        { "ReLU(q8{@scales([axis=-1]0.5)} * 2) -> q8{@scales([axis=-1]0.5)} * 2",         i8,     true  },
        { "ReLU(q8{@scales([axis=-1]0.5)} * 2) -> q8{@scales([axis=-1]0.5)} * 2",         u8,     false },
        { "ReLU(param fp32 * 2 = 1 2) -> fp32 * 2",                                       i32,    false },
        { "ReLU(param fp32 * 2 = 1 2) -> fp32 * 2",                                       fp32,   true  },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        op_counts counts = { .out = stderr };
        op_case c;
        assert_true(op_case_begin(&c, cases[i].text, "custom.c", __LINE__, &counts));
        xir_op *op = op_case_add(&c);
        assert_non_null(op);
        assert_non_null(xir_output(xir_at_end(c.net), XIR_VALUES(xir_op_output(op, 0))));
        assert_true(runs(c.net, ONNX_NODES, ""));
        xir_value *x = xir_op_input(node_named(c.net, "onnx::icraft.xir.ReLU"), 0);
        const xir_type *type = xir_type_with_element(ctx, xir_value_type(x), cases[i].now, why);
        assert_non_null(type);
        DOES(xir_value_set_type(x, type));
        (void)runs(c.net, "to-xir", "");
        const bool whole = way_is_whole(c.net, false);
        if (whole != cases[i].good) fail_msg("case %zu, %s: %s", i, cases[i].text, way_first_message());
        const bool told = strstr(way_first_message(), "other elements") != NULL;
        if (!whole && !told) fail_msg("case %zu, %s: %s", i, cases[i].text, way_first_message());
        op_case_end(&c);
    }
    xir_diags_clear(why);
}

/* A node's types of outputs are not believed against what follows from its inputs. */
static void declared_types_are_checked(void **state) {
    (void)state;
    const int64_t dims[] = { 1, 2, 4, 3 }, more[] = { 1, 2, 4, 4 }, open[] = { -1, 2, 4, 3 };
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32), *i32 = xir_type_sint(ctx, 32);
    const struct { const xir_type *element; const int64_t *dims; size_t rank; const char *names, *part; } cases[] = {
        { fp32, dims, 4, NULL,        NULL             },
        { fp32, open, 4, NULL,        NULL             },   /* the dim is what follows */
        { fp32, open, 4, "n;2;4;3",   NULL             },
        { fp32, dims, 4, "n;2;4;3",   "xir.dims"       },
        { fp32, dims, 4, "1;2;4",     "xir.dims"       },
        { fp32, more, 4, NULL,        "other dims"     },
        { fp32, dims, 3, NULL,        "other dims"     },
        { i32,  dims, 4, NULL,        "other elements" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        xir_network *net = nodes_of(some_net);
        xir_op *node = node_named(net, "onnx::icraft.xir.ReLU");
        const xir_type *type = xir_type_tensor(ctx, cases[i].element, NULL, cases[i].dims, cases[i].rank);
        assert_non_null(type);
        xir_text_buffer text = { 0 };
        DOES(xir_object_print(ctx, xir_type_object(type), 0, &text));
        const xir_any said = xir_any_text((xir_str){ text.data, text.size }), list = xir_any_list(&said, 1);
        DOES(xir_op_set_extra(node, XIR_STR("xir.outputs"), &list));
        const xir_any name = xir_any_text(xir_str_of(cases[i].names ? cases[i].names : "")),
                      names = xir_any_list(&name, 1);
        if (cases[i].names) DOES(xir_op_set_extra(node, XIR_STR("xir.dims"), &names));
        xir_text_free(&text);
        (void)runs(net, "to-xir", "");
        const char *part = cases[i].part;
        if (way_is_whole(net, false) != !part || (part && !strstr(way_first_message(), part)))
            fail_msg("case %zu: %s", i, way_first_message());
        const xir_value *y = xir_op_input(xir_network_output_op(net), 0);
        if (!part) assert_int_equal(xir_type_dim(xir_value_type(y), 0, false), 1);
        CHECK_SOUND(net);
        xir_network_free(net);
    }
    xir_diags_clear(why);
}

/* Any value in any attribute of any node: a finding, or an op. */
static void no_attribute_does_harm(void **state) {
    (void)state;
    enum { ROUNDS = 400 };
    xir_network *net = nodes_of(some_net);
    const xir_any nothing = xir_any_int(INT64_MIN), whole = xir_any_int(3), real = xir_any_real(NAN),
                  text = xir_any_text(XIR_STR("\"@fp(16)\"")), empty = xir_any_text(XIR_STR(""));
    const xir_any items[] = { nothing, whole, real, text, empty };
    for (int round = 0; round < ROUNDS; round++) {
        xir_network *copy = xir_network_clone(net);
        for (xir_op *op = xir_network_first(copy); op; op = xir_op_next(op)) {
            const xir_map *given = xir_op_extra(op);
            if (!given || !given->size || chance(3)) continue;
            const xir_str name = given->entries[chance(given->size)].key;
            const xir_any list = xir_any_list(items + chance(4), chance(3)),
                          tensor = { .kind = XIR_ANY_PARAMS, .as.params = some_params(copy) };
            const xir_any *all[] = { &nothing, &whole, &real, &text, &empty, &list, &tensor, NULL };
            DOES(xir_op_set_extra(op, name, all[chance(COUNT(all))]));
        }
        (void)xir_dialect_check(copy, why);
        (void)runs(copy, "to-xir", "");
        CHECK_SOUND(copy);
        xir_network_free(copy);
    }
    xir_network_free(net);
    xir_diags_clear(why);
}

/* An option that the pass had: a pipeline and a configuration that set it say what does it now. */
static void what_replaces_the_option_is_said(void **state) {
    (void)state;
    assert_null(xir_pipeline_parse(ctx, XIR_STR("xir-to-onnx{all-custom}"), why));
    check_finding(XIR_E_UNKNOWN, "xir-to-onnx has no option 'all-custom', which has been removed: 'custom' makes nodes");
    const xir_entry entry = { XIR_STR("xir-to-onnx.all-custom"), xir_any_bool(true) };
    const xir_map config = { (xir_entry *)(uintptr_t)&entry, 1 };
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .config = &config);
    assert_int_equal(xir_pass_settings_check(ctx, &settings, why), XIR_E_UNKNOWN);
    check_finding(XIR_E_UNKNOWN, "the pass xir-to-onnx has no option 'all-custom', which has been removed: 'custom'");
}

static int begin(void **state) {
    if (group_begin(state)) return -1;
    return xir_pass_register(ctx, onnx_nodes_pass(), why) ? -1 : 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_replaces_the_option_is_said),
        cmocka_unit_test(tables_go_there_and_back),
        cmocka_unit_test(every_class_goes_there_and_back),
        cmocka_unit_test(types_between_nodes_stay),
        cmocka_unit_test(ops_without_outputs_come_back),
        cmocka_unit_test(wrong_attributes_have_findings),
        cmocka_unit_test(elements_are_not_mistaken),
        cmocka_unit_test(declared_types_are_checked),
        cmocka_unit_test(no_attribute_does_harm),
    };
    return _cmocka_run_group_tests("onnx_custom", tests, COUNT(tests), begin, group_end);
}
