/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Modules of PyTorch from hostile networks: names and texts stay names and texts; what Python or PyTorch would not
 * understand is refused, with the operator; and a refused module leaves the old files. */
#include "support/python_net.h"
#include "zip/zip.h"

#define U XIR_E_UNSUPPORTED
#define M XIR_E_MISSING
#define I XIR_E_INVALID
#define S XIR_E_SYNTAX

/* ---- names ------------------------------------------------------------------------------------------------------- */

#define LINEAR "nn.Linear f 1 1 a h in_features=1 out_features=1 @weight=(1,1)f32"

/* Names of an operator with a weight and of its output. */
static const struct { const char *name; size_t size; const char *init, *forward; } names[] = {
#define ROW(name, id, literal) { name, sizeof(name) - 1,                                                               \
    "self.m_" id " = nn.Linear(in_features=1, out_features=1, bias=False)\n"                                           \
    "fill(self.m_" id ", archive, " literal ", (('weight', (1, 1), torch.float32),))",                                 \
    "v_" id " = self.m_" id "(v_a)\nv_y = F.gelu(v_" id ", approximate=" literal ")" }
    ROW("layer1.0.conv",          "layer1_0_conv",         "'layer1.0.conv'"),
    ROW("class",                  "class",                 "'class'"),
    ROW("0",                      "0",                     "'0'"),
    ROW("forward",                "forward",               "'forward'"),
    ROW("__class__",              "__class__",             "'__class__'"),
    ROW("it's",                   "it_s",                  "'it\\'s'"),
    ROW("\"\"\"",                 "___",                   "'\"\"\"'"),
    ROW("\\'",                    "__",                    "'\\\\\\''"),
    ROW("x\nimport os\n",         "x_import_os_",          "'x\\x0aimport os\\x0a'"),
    ROW("x\rimport os",           "x_import_os",           "'x\\x0dimport os'"),
    ROW("x; import os # ",        "x__import_os___",       "'x; import os # '"),
    ROW("');import os;('",        "___import_os___",       "'\\');import os;(\\''"),
    ROW("{os} %s \t",             "_os___s__",             "'{os} %s \\x09'"),
    ROW("\xC3\xA9\xE2\x80\xA8z",  "__z",                   "'\\u00e9\\u2028z'"),
    ROW("\xF0\x9F\x98\x80",       "_",                     "'\\U0001f600'"),
    ROW("\xE2\x80\xAE" "evil",    "_evil",                 "'\\u202eevil'"),
    ROW("\x7F\x1B[2J",            "___2J",                 "'\\x7f\\x1b[2J'"),
#undef ROW
};

static void names_are_identifiers_and_literals(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        const xir_str name = { names[i].name, names[i].size };
        xir_network *net = python_read(NET(LINEAR "\nF.gelu g 1 1 h y approximate=none"));
        xir_op *op = xir_network_op_by_name(net, XIR_STR("f")), *gelu = xir_network_op_by_name(net, XIR_STR("g"));
        const xir_any text = xir_any_text(name);
        DOES(xir_value_set_name(xir_op_output(op, 0), name));
        DOES(xir_op_set_name(op, name));
        DOES(xir_op_set_extra(gelu, XIR_STR("approximate"), &text));
        buffer out = python_of(net);
        python_check_init(out.data, names[i].init, names[i].name);
        python_check_forward(out.data, names[i].forward, names[i].name);
        buffer_free(&out);
    }
}

/* Different names that become one identifier, in any order. */
static void identifiers_differ(void **state) {
    (void)state;
    buffer out = python_of(python_read(NET("F.relu r.x 1 1 a h.x\nF.relu r_x 1 1 h.x h_x\nF.relu r-x 1 1 h_x h_x_0\n"
                                           "nn.ReLU q.x 1 1 h_x_0 h,x\nnn.ReLU q_x 1 1 h,x y")));
    python_check_init(out.data, "self.m_q_x = nn.ReLU()\nself.m_q_x_3 = nn.ReLU()", "modules");
    python_check_forward(out.data, "v_h_x = F.relu(v_a)\nv_h_x_0 = F.relu(v_h_x)\nv_h_x_0_1 = F.relu(v_h_x_0)\n"
                                   "v_h_x_2 = self.m_q_x(v_h_x_0_1)\nv_y = self.m_q_x_3(v_h_x_2)", "values");
    buffer_free(&out);
}

static void values_without_names(void **state) {
    (void)state;
    xir_network *net = python_read(NET("F.relu r 1 1 a h\nF.relu s 1 1 h y"));
    DOES(xir_value_set_name(xir_op_output(xir_network_op_by_name(net, XIR_STR("r")), 0), XIR_STR("")));
    buffer out = python_of(net);
    python_check_forward(out.data, "v_0 = F.relu(v_a)\nv_y = F.relu(v_0)", "values");
    buffer_free(&out);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static const struct { const char *lines; xir_status status; const char *part; } refused[] = {
    /* types */
    { NET("os.system f 1 1 a y"), U, "op 1 'f' (os.system): it cannot be written as a call of PyTorch" },
    { NET("torch.load f 1 1 a y"), U, "op 1 'f' (torch.load): it cannot be" },
    { NET("nn.Linear() f 1 1 a y"), U, "op 1 'f' (nn.Linear()): it cannot be" },
    { NET("Conv2d f 1 1 a y"), U, "op 1 'f' (Conv2d): it cannot be" },
    { NET("aten::relu f 1 1 a y"), U, "op 1 'f' (aten::relu): it cannot be" },
    /* parameters, arguments, results */
    { NET("F.relu f 1 1 a y out=1"), U, "op 1 'f' (F.relu): PyTorch's function has no parameter 'out'" },
    { NET("torch.cat f 1 1 a y *=1"), U, "no parameter '*'" },
    { NET("torch.matmul f 1 1 a y"), M, "op 1 'f' (torch.matmul): 'other' is missing" },
    { NET("torch.topk f 1 1 a y dim=1"), M, "the parameter 'k' is missing" },
    { NET("torch.eq f 1 1 a y other=None"), M, "'other' is missing" },
    { NET("F.relu f 2 1 a b y"), I, "op 1 'f' (F.relu): PyTorch's function has no input 1" },
    { NET("torch.matmul f 2 1 a b y $other=a $self=b"), M, "'input' is missing" },
    { NET("F.relu f 1 0 a\nF.relu g 1 1 a y"), I, "it has 0 outputs, expected 1" },
    { NET("F.relu f 1 2 a y z"), I, "it has 2 outputs, expected 1" },
    { NET("torch.topk f 1 3 a y z w k=1"), I, "it has 3 outputs, expected 1 or 2" },
    { NET("torch.einsum f 1 1 a y"), M, "the parameter 'equation' is missing" },
    { NET("F.dropout f 0 1 y"), M, "'input' is missing" },
    { NET("prim::TupleUnpack f 2 1 a b y"), I, "expected one input" },
    { NET("torch.sum f 1 1 a y keepdim=True"), U, "PyTorch has keepdim only with a dim" },
    { NET("torch.prod f 1 1 a y keepdim=True"), U, "PyTorch has keepdim only with a dim" },
    { NET("torch.squeeze f 1 1 a y dim=(0,x)"), U, "its dims are not 1 to 64 integers" },
    { NET("torch.squeeze f 1 1 a y dim=()"), U, "its dims are not 1 to 64 integers" },
    { NET("torch.squeeze f 0 1 y"), M, "'input' is missing" },
    { NET("Tensor.permute f 0 1 y dims=(0)"), M, "'input' is missing" },
    { NET("Tensor.reshape f 1 1 a y"), M, "'shape' is missing" },
    { NET("Tensor.reshape f 1 1 a y shape=(1,x)"), U, "the parameter 'shape' is a text, '(1,x)'" },
    { NET("Tensor.reshape f 1 1 a y shape=(1.5,2.5)"), U, "its shape is not integers" },
    { NET("torch.cat f 1 1 a y dim=os"), U, "the parameter 'dim' is a text, 'os'" },
    { NET("torch.roll f 1 1 a y shifts=(a,b)"), U, "the parameter 'shifts' is a text, 'a'" },
    /* weights */
    { NET("nn.Linear f 1 1 a y in_features=1 out_features=1"), M, "op 1 'f' (nn.Linear): the weight 'weight' is missing" },
    { NET("nn.Linear f 1 1 a y out_features=1 @weight=(1)f32"), M, "the parameter 'in_features' is missing" },
    { NET("nn.ReLU f 1 1 a y @weight=(1)f32"), U, "PyTorch's module has no weight 'weight'" },
    { NET("nn.Linear f 1 1 a y in_features=1 out_features=1 @weight=(1)f32 @w=(1)f32"), U, "has no weight 'w'" },
    { NET("nn.GroupNorm f 1 1 a y num_groups=1 num_channels=1 @bias=(1)f32"), M, "not all of the weights of 'affine'" },
    { NET("nn.PReLU f 1 1 a y @weight=()null"), U, "the weight 'weight' has no type that PyTorch has" },
    { NET("pnnx.Attribute f 0 1 y"), M, "expected one tensor" },
    { NET("pnnx.Attribute f 0 1 y @a=(1)f32 @b=(1)f32"), M, "expected one tensor" },
    { NET("pnnx.Attribute f 0 1 y @data=()null"), U, "its tensor has no type that PyTorch has" },
    { NET("nn.GRU f 1 1 a y input_size=1 hidden_size=1 num_layers=2147483647 bias=False @weight_hh_l0=(3,1)f32 @weight_ih_l0=(3,1)f32"),
      M, "the weight 'weight_ih_l1' is missing" },
    { NET("nn.GRU f 1 1 a y input_size=1 hidden_size=1 bias=False @w=(1)f32 @weight_hh_l0=(3,1)f32 @weight_ih_l0=(3,1)f32"),
      U, "it has 3 weights, expected 2" },
    { NET("nn.LSTM f 2 1 a b y input_size=1 hidden_size=1 bias=False @weight_hh_l0=(4,1)f32 @weight_ih_l0=(4,1)f32"),
      I, "it has 2 inputs and 1 outputs, expected 1 or 3" },
    { NET("nn.GRU f 2 1 a b y input_size=1 hidden_size=1 bias=False @weight_hh_l0=(3,1)f32 @weight_ih_l0=(3,1)f32 $hx=a"),
      M, "an input is missing" },
    { NET("nn.MultiheadAttention f 0 1 y embed_dim=1 num_heads=1 @out_proj.weight=(1,1)f32"), M, "'query' is missing" },
    /* slices and indices */
    { NET("Tensor.slice f 0 1 y"), M, "'input' is missing" },
    { NET("Tensor.slice f 1 1 a y dim=64"), XIR_E_BOUNDS, "its dims are not different ones of a tensor" },
    { NET("Tensor.slice f 1 1 a y dim=-65"), XIR_E_BOUNDS, "its dims are not different ones of a tensor" },
    { NET("Tensor.slice f 1 1 a y dims=(1,1)"), XIR_E_BOUNDS, "its dims are not different ones of a tensor" },
    { NET("Tensor.slice f 1 1 a y dims=(1,x)"), XIR_E_BOUNDS, "its dims are not different ones of a tensor" },
    { NET("Tensor.slice f 1 1 a y dims=(0,1) starts=(1)"), I, "'starts' are not 2 integers" },
    { NET("Tensor.slice f 1 1 a y dim=0 start=x"), I, "'start' are not integers" },
    { NET("Tensor.slice f 1 1 a y dims=(0) ends=(x)"), I, "'ends' are not integers" },
    { NET("Tensor.slice_copy f 1 1 a y dim=0"), M, "an input is missing" },
    { NET("Tensor.index f 0 1 y expr=[[1]]"), M, "'input' is missing" },
    { NET("Tensor.index f 1 1 a y"), S, "its index is not a list of lists of integers or truths" },
    { NET("Tensor.index f 1 1 a y expr=[]"), S, "its index is not a list" },
    { NET("Tensor.index f 1 1 a y expr=[[1,os.name]]"), S, "its index is not a list" },
    { NET("Tensor.index f 1 1 a y expr=[[1]"), S, "its index is not a list" },
    { NET("Tensor.index f 1 1 a y expr=[[1]])"), S, "its index is not a list" },
    { NET("Tensor.index f 1 1 a y expr=[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]"), S, "its index is not a list" },
    { NET("Tensor.index_put f 2 1 a b y $input=a $indices=b"), M, "'values' are missing" },
    { NET("Tensor.index_put f 1 1 a y values=1"), M, "an input is missing" },
    /* expressions */
    { NET("pnnx.Expression f 1 1 a y"), U, "expected an operand, found None" },
    { NET("pnnx.Expression f 1 1 a y expr=None"), U, "expected an operand, found None" },
    { NET("pnnx.Expression f 1 1 a y expr="), S, "the expression: it is empty" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0"), S, "the expression: expected ) at ''" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,1))"), S, "the expression: expected the end at ')'" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,1,2,3)"), S, "the expression: too many operands at '3)'" },
    { NET("pnnx.Expression f 1 1 a y expr=eval(@0)"), U, "the expression: 'eval' with 1 operand" },
    { NET("pnnx.Expression f 1 1 a y expr=abs(@0,@0)"), U, "the expression: 'abs' with 2 operands" },
    { NET("pnnx.Expression f 1 1 a y expr=os"), S, "the expression: an unknown word at ''" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,'')"), S, "the expression: expected an operand at ''')'" },
    { NET("pnnx.Expression f 1 1 a y expr=@"), S, "the expression: expected the number of an input at ''" },
    { NET("pnnx.Expression f 1 1 a y expr=@1"), S, "the expression: an input that the operator does not have" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,01)"), S, "the expression: not a number at '01)'" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,-x)"), S, "the expression: not a number at '-x)'" },
    { NET("pnnx.Expression f 1 1 a y expr=add(@0,1.0+2.0)"), S, "the expression: not a number at '1.0+2.0)'" },
    { NET("pnnx.Expression f 1 1 a y expr=[@0,1"), S, "the expression: expected , or the end of the list at ''" },
    { NET("pnnx.Expression f 1 1 a y expr=[@0,[1]]"), S, "the expression: expected an operand at '[1]]'" },
    { NET("pnnx.Expression f 1 1 a y expr=size(1,0)"), S, "the expression: a size of what is not an input" },
    { NET("pnnx.Expression f 1 1 a y expr=size(@0,@0)"), S, "the expression: a size of a dim that is not a number" },
    { NET("pnnx.Expression f 1 1 a y expr=add(size(@0),1)"), S, "the expression: an operand that is a list or a tuple" },
    { NET("pnnx.SliceIndexes f 1 1 a y indexes=@0"), S, "its indexes are not a list" },
    /* values */
    { NET("F.relu f 1 1 later h\nF.relu g 1 1 h later\nF.relu h 1 1 h y"), M,
      "op 1 'f' (F.relu): input 0, 'later', is not made by an operator before it" },
    { NET("F.relu f 1 1 a h"), M, "(icraft::xir::Output): input 0, 'y', is not made by an operator before it" },
};

static void what_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        xir_network *net = python_read(refused[i].lines);
        buffer out;
        const xir_status status = python_write(net, &out);
        const xir_diag *d = xir_diags_at(why, 0);
        const bool same = d && status == refused[i].status && xir_diags_count(why) == 1 && out.size == 0 &&
                          memmem(d->message.data, d->message.size, refused[i].part, strlen(refused[i].part));
        if (!same) {
            xir_diags_print(why, stderr);
            fail_msg("row %zu: expected %s: %s, found %s", i, xir_status_name(refused[i].status), refused[i].part,
                     xir_status_name(status));
        }
        xir_diags_clear(why);
        buffer_free(&out);
        xir_network_free(net);
    }
}

/* Networks that no file contains: names and texts that are not UTF-8, a name that no member of an archive can have,
 * lists of lists, maps, and operators of XIR. */
static void what_a_program_makes(void **state) {
    static const struct { const char *name; size_t size; xir_status status; const char *part; } bad[] = {
        { "\xFF", 1, I, "its name is not UTF-8" }, { "a\0b", 3, U, "its name cannot be that of a member" },
        { "", 0, U, "its name cannot be that of a member" },
    };
    const xir_any one = xir_any_int(1), inner = xir_any_list(&one, 1), list = xir_any_list(&inner, 1),
                  text = xir_any_text((xir_str){ "\x80", 1 });
    const struct { const xir_any *value; xir_status status; const char *part; } values[] = {
        { &list, U, "the parameter 'approximate' is a list of lists" }, { &text, I, "the parameter 'approximate' is not UTF-8" },
    };
    buffer out;
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        xir_network *net = python_read(NET(LINEAR "\nF.relu g 1 1 h y"));
        DOES(xir_op_set_name(xir_network_op_by_name(net, XIR_STR("f")), (xir_str){ bad[i].name, bad[i].size }));
        FAILS_TO_SAVE(python_write(net, &out), bad[i].status, bad[i].part);
        buffer_free(&out);
        xir_network_free(net);
    }
    for (size_t i = 0; i < COUNT(values); i++) {
        xir_network *net = python_read(NET("F.gelu g 1 1 a y"));
        DOES(xir_op_set_extra(xir_network_op_by_name(net, XIR_STR("g")), XIR_STR("approximate"), values[i].value));
        FAILS_TO_SAVE(python_write(net, &out), values[i].status, values[i].part);
        buffer_free(&out);
        xir_network_free(net);
    }
    xir_network *net = python_read(NET("F.relu f 1 1 a h\nF.relu g 1 1 h y"));
    xir_op *relu = xir_network_op_by_name(net, XIR_STR("f"));
    DOES(xir_op_set_input(relu, 0, xir_params_copy(net, XIR_STR("p"), FP32("", 1), &(float){ 1 }, sizeof(float))));
    FAILS_TO_SAVE(python_write(net, &out), U, "op 1 'f' (F.relu): input 0 is Params");
    buffer_free(&out);
    DOES(xir_op_set_input(relu, 0, NULL));
    FAILS_TO_SAVE(python_write(net, &out), U, "op 1 'f' (F.relu): input 0 is absent");
    buffer_free(&out);
    xir_network_free(net);
    net = python_read(NET("F.relu g 1 1 a y"));
    xir_value *y = xir_op_output(xir_network_op_by_name(net, XIR_STR("g")), 0);
    assert_non_null(xir_network_add(net, &(xir_op_desc)DESC(output, INPUTS(y))));
    FAILS_TO_SAVE(python_write(net, &out), U, "is a second Output");
    buffer_free(&out);
    xir_network_free(net);
    net = small_net();
    FAILS_TO_SAVE(python_write(net, &out), U, "PNNX has no operator for 4 ops");
    buffer_free(&out);
    xir_network_free(net);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static xir_network *with_weight(void) {
    const float one = 1;
    xir_network *net = python_read(NET(LINEAR "\nF.relu g 1 1 h y"));
    const xir_any *weight = xir_map_find(xir_op_extra(xir_network_op_by_name(net, XIR_STR("f"))), XIR_STR("@weight"));
    DOES(xir_params_set_copy(weight->as.params, &one, sizeof one));
    return net;
}

static char *file_of(const char *path) {
    size_t size;
    uint8_t *bytes = scratch_get(path, &size);
    char *text = malloc(size + 1);
    assert_non_null(text);
    memcpy(text, bytes, size);
    text[size] = '\0';
    free(bytes);
    return text;
}

static void check_place(xir_network *net, const char *path, const char *params, const char *expected) {
    xir_save_options options = XIR_INIT(xir_save_options, .params = params, .unchecked = true);
    DOES(xir_network_save(net, path, &options, why));
    char *text = file_of(path);
    if (!strstr(text, expected)) fail_msg("expected %s in %s", expected, text);
    free(text);
}

/* The module finds the archive that is written with it. */
static void the_archive_is_next_to_it(void **state) {
    char expected[PATH_MAX + 20];
    (void)state;
    xir_network *net = with_weight();
    check_place(net, scratch("net.py"), NULL,
                "WEIGHTS = os.path.splitext(os.path.abspath(__file__))[0] + '.pnnx.bin'\n");
    xir_network *again = python_read(NET(LINEAR "\nF.relu g 1 1 h y"));
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "py");
    DOES(xir_network_load_params(again, scratch("net.pnnx.bin"), &options, why));
    assert_true(xir_network_equal(net, again, true));
    check_place(net, scratch("net.py"), scratch("it's.zip"),
                "WEIGHTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'it\\'s.zip')\n");
    assert_int_equal(mkdir(scratch("folder"), 0777), 0);
    snprintf(expected, sizeof expected, "WEIGHTS = '%s'\n", scratch("folder/w.bin"));
    char *elsewhere = strdup(scratch("folder/w.bin"));
    check_place(net, scratch("net.py"), elsewhere, expected);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("net.py"), NULL, why), U, "files of format py cannot be read");
    free(elsewhere);
    xir_network_free(again);
    xir_network_free(net);
}

static void a_refused_module_leaves_both_files(void **state) {
    (void)state;
    xir_network *net = with_weight();
    scratch_put(scratch("old.py"), "old", 3);
    scratch_put(scratch("old.pnnx.bin"), "bin", 3);
    const xir_any one = xir_any_int(1);
    DOES(xir_op_set_extra(xir_network_op_by_name(net, XIR_STR("g")), XIR_STR("k"), &one));
    FAILS_TO_SAVE(xir_network_save(net, scratch("old.py"), NULL, why), U, "no parameter 'k'");
    char *text = file_of(scratch("old.py")), *bin = file_of(scratch("old.pnnx.bin"));
    assert_string_equal(text, "old");
    assert_string_equal(bin, "bin");
    free(text);
    free(bin);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_identifiers_and_literals), cmocka_unit_test(identifiers_differ),
        cmocka_unit_test(values_without_names),               cmocka_unit_test(what_is_refused),
        cmocka_unit_test(what_a_program_makes),               cmocka_unit_test(the_archive_is_next_to_it),
        cmocka_unit_test(a_refused_module_leaves_both_files),
    };
    scratch_make();
    return RUN_GROUP(tests);
}
