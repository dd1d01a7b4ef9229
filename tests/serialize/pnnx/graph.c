/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Everything that PNNX's own classes can do, done with XIR: a test for each member that the table in docs/pnnx.md names
 * a counterpart of. tests/tree/docs.sh compares the two tables. */
#include "support/load_net.h"
#include <xir/icraft.h>
#include "source_tags.h"

/* The text that PNNX writes for the network of these tests: fc = Linear(x), y = relu(fc). */
static const char text[] =
    "7767517\n"
    "4 3\n"
    "pnnx.Input               pnnx_input_0             0 1 x #x=(1,4)f32\n"
    "nn.Linear                fc                       1 1 x h bias=True out_features=2 @bias=(2)f32 @weight=(2,4)f32 #x=(1,4)f32 #h=(1,2)f32\n"
    "F.relu                   relu                     1 1 h y $input=h #h=(1,2)f32 #y=(1,2)f32\n"
    "pnnx.Output              pnnx_output_0            1 0 y #y=(1,2)f32\n";
enum { BIAS = 8, WEIGHT = 32 };

static xir_network *net;
static xir_op      *fc, *relu;
static xir_value   *h;

static xir_value *weight_of(const xir_op *op, const char *key) {
    const xir_any *any = xir_map_find(xir_op_extra(op), xir_str_of(key));
    assert_non_null(any);
    assert_int_equal(any->kind, XIR_ANY_PARAMS);
    return any->as.params;
}

static xir_network *parse(const char *of) {
    xir_network *made = xir_network_read(ctx, of, strlen(of), XIR_STR("net.pnnx.param"),
                                         &XIR_INIT(xir_load_options, .no_params = true), why);
    if (!made) xir_diags_print(why, stderr);
    assert_non_null(made);
    return made;
}

static void look_up(void) {
    fc = xir_network_op_by_name(net, XIR_STR("fc"));
    relu = xir_network_op_by_name(net, XIR_STR("relu"));
    h = xir_op_output(fc, 0);
}

static void begin(void) {
    const float bias[2] = { 1, 2 }, weight[8] = { 3 };
    net = parse(text);
    look_up();
    DOES(xir_params_set_copy(weight_of(fc, "@bias"), bias, sizeof bias));
    DOES(xir_params_set_copy(weight_of(fc, "@weight"), weight, sizeof weight));
}

static void end(void) {
    xir_network_free(net);
    net = NULL;
}

static bool keep(void *user, const void *data, size_t size) {
    char *out = user;
    strncat(out, data, size);
    return true;
}

/* The text of a network, without the first two lines. */
static void check_text(xir_network *of, const char *lines) {
    char out[4096] = "";
    DOES(xir_network_write(of, keep, out, &XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true), why));
    const char *rest = strchr(strchr(out, '\n') + 1, '\n') + 1;
    assert_string_equal(rest, lines);
}

static const char *order(void) {
    static char out[200];
    *out = '\0';
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str name = xir_op_name(op);
        strncat(out, name.size ? name.data : "-", name.size ? name.size : 1);
        strcat(out, " ");
    }
    return out;
}

/* ---- Graph ------------------------------------------------------------------------------------------------------ */

static void new_and_free(void) {
    xir_network *empty = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "");
    assert_int_equal(xir_network_op_count(empty), 0);
    xir_network_free(empty);
}

static void save_and_load(void) {
    char path[300];
    snprintf(path, sizeof path, "%s", scratch("graph.pnnx.param"));
    DOES(xir_network_save(net, path, &XIR_INIT(xir_save_options, .unchecked = true), why));
    xir_network *again = xir_network_load(ctx, path, NULL, why);
    assert_non_null(again);
    xir_diff *diff = xir_diff_new(net, again, &XIR_INIT(xir_diff_options, .params = true), why);
    assert_non_null(diff);
    assert_int_equal(xir_diff_count(diff), 0);
    xir_diff_free(diff);
    xir_network_free(again);
}

static void load_a_structure_alone(void) { check_text(net, strchr(strchr(text, '\n') + 1, '\n') + 1); }

static void save_a_module(void) {
    const xir_any four = xir_any_int(4);
    size_t size;
    DOES(xir_op_set_extra(fc, XIR_STR("in_features"), &four));
    DOES(xir_network_save(net, scratch("net.py"), NULL, why));
    uint8_t *module = scratch_get(scratch("net.py"), &size);
    static const char body[] = "        v_h = self.m_fc(v_x)\n        v_y = F.relu(v_h)\n        return v_y\n";
    assert_non_null(memmem(module, size, body, sizeof body - 1));
    free(module);
    assert_int_equal(access(scratch("net.pnnx.bin"), R_OK), 0);
}

static xir_op *new_op(const char *type, const char *name, xir_value *input, xir_op *before) {
    return xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, xir_str_of(type)), .id = XIR_NO_ID,
                                          .name = xir_str_of(name), .before = before, INPUTS(input),
                                          TYPES(xir_value_type(input))));
}

/* A network made of nothing else. */
static void new_operator(void) {
    const xir_type *type = FP32("**", 1, 2);
    xir_network_free(net);
    net = xir_network_new(ctx, "net", XIR_FRAMEWORK_PYTORCH, "");
    xir_value *x = xir_input(xir_at_end(net), "in", type);
    DOES(xir_value_set_name(x, XIR_STR("0")));
    xir_op *op = new_op("pnnx::F.relu", "act", x, NULL);
    assert_non_null(op);
    DOES(xir_value_set_name(xir_op_output(op, 0), XIR_STR("1")));
    assert_non_null(xir_output(xir_at_end(net), XIR_VALUES(xir_op_output(op, 0))));
    check_text(net, "pnnx.Input               pnnx_input_0             0 1 0 #0=(1,2)f32\n"
                    "F.relu                   act                      1 1 0 1 #0=(1,2)f32 #1=(1,2)f32\n"
                    "pnnx.Output              pnnx_output_0            1 0 1 #1=(1,2)f32\n");
}

static void new_operator_before(void) {
    assert_non_null(new_op("pnnx::F.gelu", "gelu", h, relu));
    assert_string_equal(order(), "- fc gelu relu - ");
}

static void new_operator_after(void) {
    assert_non_null(new_op("pnnx::F.gelu", "gelu", h, xir_op_next(relu)));
    assert_string_equal(order(), "- fc relu gelu - ");
}

static void new_operand(void) {
    xir_op *op = new_op("pnnx::F.gelu", "gelu", h, relu);
    DOES(xir_value_set_name(xir_op_output(op, 0), XIR_STR("g")));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("g")), xir_op_output(op, 0));
}

static void get_operand(void) {
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("h")), h);
    assert_null(xir_network_value_by_name(net, XIR_STR("none")));
    xir_network *undefined = parse("7767517\n1 1\nF.relu r 1 1 u v\n");
    const xir_op *op = xir_network_op_by_name(undefined, XIR_STR("r"));
    assert_ptr_equal(xir_network_value_by_name(undefined, XIR_STR("u")), xir_op_input(op, 0));
    xir_network_free(undefined);
}

static void all_operators(void) { assert_string_equal(order(), "- fc relu - "); }

static void all_operands(void) {
    char names[20] = "";
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            strncat(names, xir_value_name(xir_op_output(op, (int64_t)i)).data, 1);
    }
    assert_string_equal(names, "xhy");
}

/* ---- Operator --------------------------------------------------------------------------------------------------- */

static void operator_inputs(void) {
    assert_int_equal(xir_op_input_count(relu), 1);
    assert_ptr_equal(xir_op_input(relu, 0), h);
    DOES(xir_op_set_input(relu, 0, xir_op_input(fc, 0)));
    assert_ptr_equal(xir_op_input(relu, 0), xir_network_value_by_name(net, XIR_STR("x")));
}

static void operator_outputs(void) {
    assert_int_equal(xir_op_output_count(fc), 1);
    DOES(xir_op_set_outputs(relu, (const xir_type *const[]){ FP32("**", 1, 2), FP32("**", 1, 2) }, 2));
    assert_int_equal(xir_op_output_count(relu), 2);
}

static void operator_type(void) { CHECK_STR(xir_class_key(xir_op_class(fc)), "pnnx::nn.Linear"); }

static void operator_name(void) {
    CHECK_STR(xir_op_name(fc), "fc");
    DOES(xir_op_set_name(fc, XIR_STR("head")));
    CHECK_STR(xir_op_name(fc), "head");
}

static const xir_any *names_of(const xir_op *op) { return source_tag_find(xir_op_tags(op), SOURCE_INPUTS); }

static void operator_inputnames(void) {
    assert_null(names_of(fc));
    CHECK_STR(names_of(relu)->as.list.items[0].as.text, "input");
    const xir_any name = xir_any_text(XIR_STR("self")), list = xir_any_list(&name, 1);
    DOES(xir_op_set_tag(relu, XIR_STR("source.inputs"), &list));
    check_text(net, "pnnx.Input               pnnx_input_0             0 1 x #x=(1,4)f32\n"
               "nn.Linear                fc                       1 1 x h bias=True out_features=2 @bias=(2)f32 @weight=(2,4)f32 #x=(1,4)f32 #h=(1,2)f32\n"
               "F.relu                   relu                     1 1 h y $self=h #h=(1,2)f32 #y=(1,2)f32\n"
               "pnnx.Output              pnnx_output_0            1 0 y #y=(1,2)f32\n");
}

static void operator_params(void) {
    const xir_any *bias = xir_map_find(xir_op_extra(fc), XIR_STR("bias"));
    assert_true(bias && bias->kind == XIR_ANY_BOOL && bias->as.boolean);
    const xir_any eight = xir_any_int(8);
    DOES(xir_op_set_extra(fc, XIR_STR("out_features"), &eight));
    DOES(xir_op_set_extra(fc, XIR_STR("bias"), NULL));
    assert_null(xir_map_find(xir_op_extra(fc), XIR_STR("bias")));
    assert_int_equal(xir_map_find(xir_op_extra(fc), XIR_STR("out_features"))->as.integer, 8);
}

static void operator_attrs(void) {
    CHECK_STR(xir_value_name(weight_of(fc, "@weight")), "fc.weight");
    const float three[3] = { 1, 2, 3 };
    const xir_any made = { .kind = XIR_ANY_PARAMS, .as.params =
        xir_params_copy(net, XIR_STR("relu.slope"), FP32("*", 3), three, sizeof three) };
    DOES(xir_op_set_extra(relu, XIR_STR("@slope"), &made));
    assert_true(xir_params_equal(weight_of(relu, "@slope"), made.as.params));
    save_and_load();
}

/* ---- Operand ---------------------------------------------------------------------------------------------------- */

static void remove_consumer(void) {
    DOES(xir_op_remove_input(relu, 0));
    assert_int_equal(xir_value_use_count(h), 0);
}

static void operand_producer(void) { assert_ptr_equal(xir_value_op(h), fc); }

static void operand_consumers(void) {
    const xir_use *use = xir_value_uses(h);
    assert_ptr_equal(xir_use_op(use), relu);
    assert_null(xir_use_next(use));
}

static void operand_type_and_shape(void) {
    assert_true(xir_type_equal(xir_value_type(h), FP32("**", 1, 2)));
    assert_int_equal(xir_type_dim(xir_value_type(h), 1, false), 2);
    DOES(xir_value_set_type(h, FP32("**", XIR_UNKNOWN_DIM, 2)));
    assert_true(xir_type_dim(xir_value_type(h), 0, false) < 0);
}

static void operand_name(void) {
    CHECK_STR(xir_value_name(h), "h");
    DOES(xir_value_set_name(h, XIR_STR("hidden")));
    assert_ptr_equal(xir_network_value_by_name(net, XIR_STR("hidden")), h);
}

static void operand_params(void) {
    const xir_any note = xir_any_int(3);
    DOES(xir_value_set_tag(h, XIR_STR("my.note"), &note));
    assert_int_equal(xir_map_find(xir_value_tags(h), XIR_STR("my.note"))->as.integer, 3);
}

/* ---- Parameter -------------------------------------------------------------------------------------------------- */

static void set_k(xir_any v) { DOES(xir_op_set_extra(relu, XIR_STR("k"), &v)); }
static const xir_any *k(void) { return xir_map_find(xir_op_extra(relu), XIR_STR("k")); }

static void check_k(const char *expected) {
    char line[300];
    char out[4096] = "";
    DOES(xir_network_write(net, keep, out, &XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true), why));
    snprintf(line, sizeof line, " h y k=%s $input=h ", expected);
    if (!strstr(out, line)) fail_msg("expected '%s' in\n%s", line, out);
}

static void parameter_of_each_kind(void) {
    const xir_any ints[2] = { xir_any_int(1), xir_any_int(-2) }, reals[2] = { xir_any_real(0.5), xir_any_real(1e-5) };
    const xir_any texts[2] = { xir_any_text(XIR_STR("a")), xir_any_text(XIR_STR("b")) };
    const struct { xir_any value; const char *text; } rows[] = {
        { xir_any_null(), "None" }, { xir_any_bool(true), "True" }, { xir_any_int(7), "7" },
        { xir_any_real(2), "2.0" }, { texts[0], "a" }, { xir_any_list(ints, 2), "(1,-2)" },
        { xir_any_list(reals, 2), "(0.5,1.000000e-5)" }, { xir_any_list(texts, 2), "(a,b)" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_k(rows[i].value);
        assert_int_equal(k()->kind, rows[i].value.kind);
        assert_true(xir_any_equal(k(), &rows[i].value));
        check_k(rows[i].text);
    }
}

static void parse_from_string(void) {
    xir_pnnx_kind kind;
    xir_any items[2];
    size_t n;
    DOES(xir_pnnx_value_parse(XIR_STR("(1,2.5,3)"), &kind, items, 2, &n, why));
    assert_true(kind == XIR_PNNX_INTS && n == 2 && items[1].as.integer == 3);
    DOES(xir_pnnx_value_parse(XIR_STR("1e-5"), &kind, items, 2, &n, why));
    assert_true(kind == XIR_PNNX_FLOAT && n == 1 && (float)items[0].as.real == 1e-5f);
}

static void encode_to_string(void) {
    const xir_any reals[2] = { xir_any_real(0.1f), xir_any_real(1e6) };
    char out[64];
    DOES(xir_pnnx_value_print(XIR_PNNX_FLOATS, reals, 2, out, sizeof out, NULL, why));
    assert_string_equal(out, "(0.1,1.000000e6)");
}

static void parameters_are_equal(void) {
    const xir_any one = xir_any_int(1), two = xir_any_int(2), real = xir_any_real(1);
    assert_true(xir_any_equal(&one, &one));
    assert_false(xir_any_equal(&one, &two) || xir_any_equal(&one, &real));
}

/* ---- Attribute -------------------------------------------------------------------------------------------------- */

static xir_value *numbers(const xir_type *type, size_t n) {
    float all[64];
    for (size_t i = 0; i < n; i++) all[i] = (float)i;
    return xir_params_copy(net, XIR_STR("w"), type, all, n * sizeof *all);
}

static void new_attribute(void) {
    xir_value *w = numbers(FP32("**", 2, 3), 6);
    assert_int_equal(xir_type_dim(xir_value_type(w), 0, false), 2);
    assert_true(((const float *)xir_params_typed(w, sizeof(float)))[5] == 5);
}

static void attribute_type_and_shape(void) {
    assert_true(xir_type_equal(xir_value_type(weight_of(fc, "@weight")), FP32("**", 2, 4)));
}

static void attribute_data(void) {
    uint64_t size;
    assert_non_null(xir_params_data(weight_of(fc, "@weight"), &size));
    assert_int_equal(size, WEIGHT);
    ((float *)xir_params_edit(weight_of(fc, "@bias")))[1] = 9;
    assert_true(((const float *)xir_params_data(weight_of(fc, "@bias"), NULL))[1] == 9);
}

static void attributes_are_equal(void) {
    const xir_value *a = numbers(FP32("*", 4), 4), *b = numbers(FP32("*", 4), 4), *c = numbers(FP32("**", 2, 2), 4);
    assert_true(xir_type_equal(xir_value_type(a), xir_value_type(b)) && xir_params_equal(a, b));
    assert_false(xir_type_equal(xir_value_type(a), xir_value_type(c)));
}

static xir_value *join(xir_value *a, xir_value *b) {
    return xir_params_concat(net, XIR_STR("joined"), (xir_value *const[]){ a, b }, 2);
}

static void attributes_are_joined(void) {
    xir_value *a = numbers(FP32("**", 2, 4), 8), *b = numbers(FP32("**", 3, 4), 12);
    xir_value *joined = join(a, b);
    assert_non_null(joined);
    assert_true(xir_type_equal(xir_value_type(joined), FP32("**", 5, 4)));
    const float *all = xir_params_typed(joined, sizeof *all);
    for (size_t i = 0; i < 20; i++) assert_true(all[i] == (float)(i < 8 ? i : i - 8));
    CHECK_STR(xir_value_name(joined), "joined");
    assert_true(xir_params_equal(xir_params_concat(net, XIR_STR(""), &a, 1), a));
    xir_value *none = numbers(FP32("**", 0, 4), 0);
    assert_true(xir_params_equal(join(none, a), a) && xir_params_equal(join(a, none), a));
}

static void attributes_are_not_joined(void) {
    xir_value *a = numbers(FP32("**", 2, 4), 8), *row = numbers(FP32("*", 4), 4);
    xir_value *wide = numbers(FP32("**", 1, 5), 5);
    xir_value *ints = xir_params_new(net, XIR_STR("i"), XIR_TENSOR(ctx, xir_type_sint(ctx, 32), "**", 1, 4));
    xir_value *empty = xir_params_new(net, XIR_STR("e"), FP32("**", 1, 4));
    const int8_t half = 1;
    const xir_type *nibble = XIR_TENSOR(ctx, xir_type_sint(ctx, 4), "*", 1);
    xir_value *bits = xir_params_copy(net, XIR_STR("b"), nibble, &half, 1);
    xir_network *other = xir_network_new(ctx, "other", XIR_FRAMEWORK_PYTORCH, "");
    xir_value *foreign = xir_params_new(other, XIR_STR("f"), FP32("**", 1, 4));
    REFUSES_NULL(net, join(a, h), XIR_E_TYPE, "part 1 is not Params of this network");
    REFUSES_NULL(net, join(a, foreign), XIR_E_TYPE, "part 1 is not Params of this network");
    REFUSES_NULL(net, join(a, NULL), XIR_E_TYPE, "part 1 is not Params of this network");
    REFUSES_NULL(net, join(a, row), XIR_E_TYPE, "part 1 differs from the first one");
    REFUSES_NULL(net, join(a, wide), XIR_E_TYPE, "part 1 differs from the first one");
    REFUSES_NULL(net, join(a, ints), XIR_E_TYPE, "part 1 differs from the first one");
    REFUSES_NULL(net, join(a, empty), XIR_E_MISSING, "part 1 has no bytes");
    REFUSES_NULL(net, join(bits, bits), XIR_E_UNSUPPORTED, "elements that do not fill whole bytes");
    REFUSES_NULL(net, xir_params_concat(net, XIR_STR("x"), NULL, 0), XIR_E_INVALID, "there are no Params to join");
    xir_network_free(other);
}

/* ---- StoreZipReader, StoreZipWriter ----------------------------------------------------------------------------- */

/* The archive of the weights, read into a network that has none. */
static void archive(void) {
    char path[300];
    uint64_t size;
    float bias[2] = { 0 };
    snprintf(path, sizeof path, "%s", scratch("archive.pnnx.bin"));
    DOES(xir_network_save_params(net, path, &XIR_INIT(xir_save_options, .format = "pnnx"), why));
    end();
    net = parse(text);
    look_up();
    assert_false(xir_params_has_data(weight_of(fc, "@bias")));
    DOES(xir_network_load_params(net, path, &XIR_INIT(xir_load_options, .format = "pnnx", .lazy = true), why));
    xir_value *v = weight_of(fc, "@bias");
    assert_true(xir_params_is_lazy(v));
    xir_params_data(v, &size);
    assert_int_equal(size, BIAS);
    DOES(xir_params_read(v, 0, bias, sizeof bias));
    assert_true(bias[0] == 1 && bias[1] == 2);
    xir_params_clear(v);
    assert_false(xir_params_has_data(v));
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct { const char *member; void (*test)(void); } members[] = {
    { "Graph::Graph", new_and_free },
    { "Graph::load", save_and_load },
    { "Graph::save", save_and_load },
    { "Graph::parse", load_a_structure_alone },
    { "Graph::python", save_a_module },
    { "Graph::new_operator", new_operator },
    { "Graph::new_operator_before", new_operator_before },
    { "Graph::new_operator_after", new_operator_after },
    { "Graph::new_operand", new_operand },
    { "Graph::get_operand", get_operand },
    { "Graph::ops", all_operators },
    { "Graph::operands", all_operands },
    { "Operator::inputs", operator_inputs },
    { "Operator::outputs", operator_outputs },
    { "Operator::type", operator_type },
    { "Operator::name", operator_name },
    { "Operator::inputnames", operator_inputnames },
    { "Operator::params", operator_params },
    { "Operator::attrs", operator_attrs },
    { "Operand::remove_consumer", remove_consumer },
    { "Operand::producer", operand_producer },
    { "Operand::consumers", operand_consumers },
    { "Operand::type", operand_type_and_shape },
    { "Operand::shape", operand_type_and_shape },
    { "Operand::name", operand_name },
    { "Operand::params", operand_params },
    { "Parameter::Parameter", parameter_of_each_kind },
    { "Parameter::type", parameter_of_each_kind },
    { "Parameter::b", parameter_of_each_kind },
    { "Parameter::i", parameter_of_each_kind },
    { "Parameter::f", parameter_of_each_kind },
    { "Parameter::s", parameter_of_each_kind },
    { "Parameter::ai", parameter_of_each_kind },
    { "Parameter::af", parameter_of_each_kind },
    { "Parameter::as", parameter_of_each_kind },
    { "Parameter::parse_from_string", parse_from_string },
    { "Parameter::encode_to_string", encode_to_string },
    { "Parameter::operator==", parameters_are_equal },
    { "Attribute::Attribute", new_attribute },
    { "Attribute::type", attribute_type_and_shape },
    { "Attribute::shape", attribute_type_and_shape },
    { "Attribute::data", attribute_data },
    { "Attribute::operator==", attributes_are_equal },
    { "Attribute::operator+", attributes_are_joined },
    { "Attribute::operator+", attributes_are_not_joined },
    { "StoreZipReader::open", archive },
    { "StoreZipReader::get_file_size", archive },
    { "StoreZipReader::read_file", archive },
    { "StoreZipReader::close", archive },
    { "StoreZipWriter::open", archive },
    { "StoreZipWriter::write_file", archive },
    { "StoreZipWriter::close", archive },
};

static void members_have_counterparts(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(members); i++) {
        print_message("%s\n", members[i].member);
        begin();
        members[i].test();
        end();
        xir_diags_clear(why);
    }
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(members_have_counterparts) };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
