/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* PNNX files that are read and written come back byte for byte, text and archive; older ones word by word. So do they
 * through every other format, lazily, and after a change only what changed is another. */
#include <glob.h>
#include "support/kept.h"
#include "support/load_net.h"
#include "support/skips.h"
#include "graph.h"
#include "zip/zip.h"

#define HEAD(ops, operands) "7767517\n" ops " " operands "\n"

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct weight { const char *member; size_t size; } weight;
typedef struct file {
    const char *text;
    weight      weights[5];
    bool        zip64, words;   /* words: compared word by word, since blanks are not kept */
} file;

static const file files[] = {
    /* as the converter writes */
    { HEAD("4", "3")
      "pnnx.Input               pnnx_input_0             0 1 0 #0=(1,4)f32\n"
      "nn.Linear                fc                       1 1 0 1 bias=True in_features=4 out_features=2 @bias=(2)f32 @weight=(2,4)f32 #0=(1,4)f32 #1=(1,2)f32\n"
      "torch.add                a_name_that_is_longer_than_its_column 2 1 1 1 2 $input=1 $other=1 #1=(1,2)f32 #1=(1,2)f32 #2=(1,2)f32\n"
      "pnnx.Output              pnnx_output_0            1 0 2 #2=(1,2)f32\n",
      { { "fc.bias", 8 }, { "fc.weight", 32 } }, true },
    /* values of all kinds */
    { HEAD("3", "2")
      "pnnx.Input               pnnx_input_0             0 1 x #x=(?,3)f16\n"
      "Tensor.slice             s                        1 1 x y a=None b=() c=(1,-2) d=(0.5,1.000000e-5) e=inf f=(a,b) g= h=12abc i=-1 j=45.0 k=[1,size(@0,2)] l=[[True,False],[1]] m=% n=9.999946e-41 #x=(?,3)f16 #y=(1)bool\n"
      "pnnx.Output              pnnx_output_0            1 0 y #y=(1)bool\n", { { NULL, 0 } }, true },
    /* files that differ from what XIR would write */
    { HEAD("3", "2")
      "pnnx.Input               pnnx_input_0             0 1 0\n"
      "pnnx.Expression          e                        1 1 0 1 expr=[2,2] eps=1.000000e-05 z=1 a=007 key bias=-0.0 list=(1.0,2.50) $x=0 #1=(1,-1)f32\n"
      "pnnx.Output              pnnx_output_0            1 0 1\n", { { NULL, 0 } }, true },
    /* types that XIR does not have, a weight without elements, and one without type */
    { HEAD("3", "2")
      "pnnx.Attribute           p                        0 1 0 @data=(2)c64 #0=(2)c64\n"
      "torch.t                  t                        1 1 0 1 @a=(0,4)f32 @b=()null @c=(3)bf16 @out_proj.weight=(1)u8 #0=(2)c64 #1=(2)null\n"
      "pnnx.Output              pnnx_output_0            1 0 1 #1=(2)null\n",
      { { "p.data", 16 }, { "t.a", 0 }, { "t.b", 0 }, { "t.c", 6 }, { "t.out_proj.weight", 1 } }, true },
    /* keys that every op of XIR has */
    { HEAD("3", "2")
      "pnnx.Input               pnnx_input_0             0 1 0\n"
      "aten::x                  aten::x_0                1 1 0 1 a=1 name=n pnnx.a=2 q=3 tags=t\n"
      "pnnx.Output              pnnx_output_0            1 0 1\n", { { NULL, 0 } }, true },
    /* operators of one type whose parameters begin alike; with all shapes, so that no tag keeps what is read wrong */
    { HEAD("10", "9")
      "pnnx.Input               pnnx_input_0             0 1 0 #0=(1)f32\n"
      "t.op                     a                        1 1 0 1 k=1 p=2 #0=(1)f32 #1=(1)f32\n"
      "t.op                     b                        1 1 1 2 k=1 p=2 #1=(1)f32 #2=(1)f32\n"
      "t.op                     c                        1 1 2 3 k=1 p=2 q=3 #2=(1)f32 #3=(1)f32\n"
      "t.op                     d                        1 1 3 4 k=1 p=2 @w=(1)f32 $input=3 #3=(1)f32 #4=(1)f32\n"
      "t.op                     e                        1 1 4 5 k=1 p=25 #4=(1)f32 #5=(1)f32\n"
      "t.op                     f                        1 1 5 6 k=1 p=25@w=(1)f32 #5=(1)f32 #6=(1)f32\n"
      "t.op                     g                        1 1 6 7 k=1 p=25@w=(1)f32 q=0 #6=(1)f32 #7=(1)f32\n"
      "t.op                     h                        1 1 7 8 k=1 p=2 @w=(1)f32 #7=(1)f32 #8=(1)f32\n"
      "pnnx.Output              pnnx_output_0            1 0 8 #8=(1)f32\n",
      { { "d.w", 4 }, { "h.w", 4 } }, true },
    /* inputs and outputs of other names, between operators */
    { HEAD("6", "3")
      "pnnx.Input               in0                      0 1 a #a=(1)i64\n"
      "torch.t                  t0                       1 1 a b\n"
      "pnnx.Output              out0                     1 0 b\n"
      "pnnx.Input               pnnx_input_1             0 1 c #c=(2)i32\n"
      "torch.t                  t1                       2 0 b c #c=(2)i32\n"
      "pnnx.Output              pnnx_output_1            1 0 a #a=(1)i64\n", { { NULL, 0 } }, true },
    /* wrong shapes and names: declared differently in each line, doubled, undefined, used before they are made */
    { HEAD("5", "4")
      "pnnx.Input               pnnx_input_0             0 1 a #a=(1)f32\n"
      "torch.t                  t                        3 1 a later none b #a=(2)f32 #later=(5)f32\n"
      "torch.t                  t                        1 1 b later #b=(3)f32\n"
      "torch.t                  t                        1 1 later b\n"
      "pnnx.Output              pnnx_output_0            1 0 b #b=(4)f32\n", { { NULL, 0 } }, true },
    /* before 2024: an archive of 32 bits */
    { HEAD("2", "1")
      "pnnx.Attribute           a                        0 1 0 @data=(1)i64 #0=(1)i64\n"
      "pnnx.Output              pnnx_output_0            1 0 0 #0=(1)i64\n", { { "a.data", 8 } }, false },
    /* 2021: columns, bare types, no element types, numbers for bools, other spellings of floats, wrong counts */
    { "7767517\n184 9\n"
      "Input                            input_0                          0 1 x.1\n"
      "Conv2d                           conv1                            1 1 x.1 input.2 bias=1 eps=1.000000e-05 padding=(0,0) @bias=(2) @weight=(2,3,1,1)\n"
      "__torch__.models.common.Focus    focus                            1 1 input.2 7 @w=(2)\n"
      "Output                           output_0                         1 0 7\n",
      { { "conv1.bias", 8 }, { "conv1.weight", 24 }, { "focus.w", 16 } }, false, true },
    /* names of types of 2022, and a text from Windows */
    { "7767517\r\n2 1\r\npnnx.Attribute\ta 0 1 0 @data=(1)cp64 #0=(1)cp64 \r\n\r\npnnx.Output b 1 0 0\r\n",
      { { "a.data", 8 } }, false, true },
    /* an item of a trailing blank, as PNNX saves it */
    { HEAD("2", "1") "pnnx.Input a 0 1 0 =\npnnx.Output b 1 0 0\n", { { NULL, 0 } }, true, true },
    /* of a repeated parameter the last counts */
    { HEAD("3", "2") "pnnx.Input a 0 1 0\ntorch.t t 1 1 0 1 k=1 a=x k=2\npnnx.Output b 1 0 1\n", { { NULL, 0 } }, true, true },
    /* items that name no operand */
    { HEAD("3", "2") "pnnx.Input a 0 1 0\ntorch.t t 1 1 0 1 $q=9 #9=(1)f32 $p=0\npnnx.Output b 1 0 1\n", { { NULL, 0 } }, true, true },
    /* an operand in two slots, named in both orders, and dims with names */
    { HEAD("4", "3") "pnnx.Input a 0 1 0 #0=(%n,3)f32\ntorch.eq e 2 1 0 0 1 $other=0 $input=0\n"
      "torch.where w 3 1 1 0 0 2 $other=0 $condition=1 $input=0\npnnx.Output b 1 0 2\n", { { NULL, 0 } }, true, true },
    /* nothing at all */
    { HEAD("0", "0"), { { NULL, 0 } }, true },
};

static bool has_weights(const file *f) { return f->weights[0].member; }

static void put_files(const file *f, const char *text, const char *bin) {
    zip_writer z;
    buffer out;
    char bytes[64];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)(i + 1);
    scratch_put(text, f->text, strlen(f->text));
    if (!has_weights(f)) return;
    buffer_init(&out, &memory_default);
    zip_begin(&z, &memory_default, f->zip64, keep, &out);
    for (size_t i = 0; i < COUNT(f->weights) && f->weights[i].member; i++)
        zip_add(&z, xir_str_of(f->weights[i].member), bytes, f->weights[i].size);
    assert_int_equal(zip_end(&z), XIR_OK);
    scratch_put(bin, out.data, out.size);
    buffer_free(&out);
}

static xir_network *load(const char *path, bool lazy) {
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = lazy), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 0);
    xir_diags_clear(why);
    return net;
}

static void save(xir_network *net, const char *path) {
    xir_status status = xir_network_save(net, path, &XIR_INIT(xir_save_options, .unchecked = true), why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
}

static void assert_same_bytes(const char *a, const char *b, size_t row) {
    size_t n, m;
    uint8_t *x = scratch_get(a, &n), *y = scratch_get(b, &m);
    if (!x || !y || n != m || memcmp(x, y, n) != 0)
        fail_msg("file %zu differs:\n%s\n--- came back as\n%s", row, x ? (char *)x : "", y ? (char *)y : "");
    free(x);
    free(y);
}

static void assert_same_words(const char *a, const char *b, size_t row) {
    size_t n, m;
    char *x = (char *)scratch_get(a, &n), *y = (char *)scratch_get(b, &m), *save_x, *save_y;
    const char *blanks = " \t\r\n", *p = strtok_r(x, blanks, &save_x), *q = strtok_r(y, blanks, &save_y);
    for (; p && q && strcmp(p, q) == 0; p = strtok_r(NULL, blanks, &save_x), q = strtok_r(NULL, blanks, &save_y)) {}
    if (p || q) fail_msg("file %zu: '%s' came back as '%s'", row, p ? p : "", q ? q : "");
    free(x);
    free(y);
}

static void assert_same_files(const file *f, const char *text, const char *bin, const char *text2, const char *bin2) {
    const size_t row = (size_t)(f - files);
    if (f->words) assert_same_words(text, text2, row);
    else assert_same_bytes(text, text2, row);
    if (has_weights(f)) assert_same_bytes(bin, bin2, row);
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void files_come_back(void **state) {
    (void)state;
    for (size_t i = 0; i < 2 * COUNT(files); i++) {
        const file *f = &files[i / 2];
        put_files(f, scratch("x.pnnx.param"), scratch("x.pnnx.bin"));
        xir_network *net = load(scratch("x.pnnx.param"), i % 2);
        save(net, scratch("y.param"));
        assert_same_files(f, scratch("x.pnnx.param"), scratch("x.pnnx.bin"), scratch("y.param"), scratch("y.bin"));
        xir_network_free(net);
        remove(scratch("x.pnnx.bin"));
        remove(scratch("y.bin"));
    }
}

/* A clone too. */
static void files_come_back_through_other_formats(void **state) {
    xir_format_info other;
    (void)state;
    for (size_t k = 0; written_format_at(k, &other); k++) {
        for (size_t i = 0; i < COUNT(files); i++) {
            const char *between = load_path("between", &other);
            put_files(&files[i], scratch("x.pnnx.param"), scratch("x.pnnx.bin"));
            xir_network *net = load(scratch("x.pnnx.param"), false), *again, *copy;
            load_save(net, between, &other);
            again = load(between, true);
            copy = xir_network_clone(again);
            save(copy, scratch("y.pnnx.param"));
            assert_same_files(&files[i], scratch("x.pnnx.param"), scratch("x.pnnx.bin"), scratch("y.pnnx.param"),
                              scratch("y.pnnx.bin"));
            xir_network_free(net);
            xir_network_free(again);
            xir_network_free(copy);
            remove(between);
            remove(scratch("between.raw"));
            remove(scratch("x.pnnx.bin"));
            remove(scratch("y.pnnx.bin"));
        }
    }
}

/* The structure alone: weights without bytes. */
static void texts_come_back_alone(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        put_files(&files[i], scratch("alone.param"), scratch("x.pnnx.bin"));
        xir_network *net = load(scratch("alone.param"), false);
        save(net, scratch("y.param"));
        assert_same_files(&(file){ .text = files[i].text, .words = files[i].words }, scratch("alone.param"), NULL,
                          scratch("y.param"), NULL);
        xir_network_free(net);
        remove(scratch("x.pnnx.bin"));
    }
}

static bool gather(void *user, const void *data, size_t size) {
    buffer_put(user, data, size);
    return true;
}

/* PNNX reads no text without an archive, so there is always one: empty, with the records that PNNX itself writes. */
static void an_archive_without_weights(void **state) {
    static const char text[] = "7767517\n2 1\n"
                               "pnnx.Input               pnnx_input_0             0 1 0 #0=(1)f32\n"
                               "pnnx.Output              pnnx_output_0            1 0 0 #0=(1)f32\n";
    static const struct { const char *form; size_t size; } forms[] = { { NULL, 98 }, { "zip64", 98 }, { "zip32", 22 } };
    const xir_save_options alone = XIR_INIT(xir_save_options, .no_params = true, .unchecked = true);
    const xir_save_options named = XIR_INIT(xir_save_options, .format = "pnnx");
    size_t size;
    (void)state;
    scratch_put(scratch("e.param"), text, sizeof text - 1);
    xir_network *net = load(scratch("e.param"), false);    /* reading needs no archive */
    for (size_t i = 0; i < COUNT(forms); i++) {
        buffer out;
        buffer_init(&out, &memory_default);
        const xir_any form = xir_any_text(xir_str_of(forms[i].form ? forms[i].form : ""));
        if (forms[i].form) DOES(xir_network_set_tag(net, XIR_STR("pnnx.zip"), &form));
        save(net, scratch("f.param"));
        uint8_t *bin = scratch_get(scratch("f.bin"), &size);
        assert_non_null(bin);
        assert_int_equal(size, forms[i].size);
        assert_memory_equal(bin + size - 22, "PK\5\6", 4);
        xir_network *again = load_must(scratch("f.param"), &XIR_INIT(xir_load_options, .params = scratch("f.bin")));
        xir_network_free(again);
        DOES(xir_network_write_params(net, gather, &out, &named, why));
        assert_int_equal(out.size, size);
        assert_memory_equal(out.data, bin, size);
        DOES(xir_network_save_params(net, scratch("g.bin"), &named, why));
        assert_same_bytes(scratch("g.bin"), scratch("f.bin"), i);
        buffer_free(&out);
        free(bin);
        remove(scratch("f.bin"));
        DOES(xir_network_save(net, scratch("f.param"), &alone, why));
        assert_int_equal(access(scratch("f.bin"), F_OK), -1);
    }
    xir_network_free(net);
}

/* A tag of kept items no longer counts when the op has changed. */
static void what_changed_is_written(void **state) {
    static const char text[] =
        "7767517\n4 3\n"
        "pnnx.Input               pnnx_input_0             0 1 0 #0=(1)f32\n"
        "nn.ELU                   a                        1 1 0 1 alpha=1.00 inplace=True\n"
        "nn.ELU                   b                        1 1 1 2 alpha=1.00 inplace=True\n"
        "pnnx.Output              pnnx_output_0            1 0 2\n";
    static const char expected[] =
        "7767517\n4 3\n"
        "pnnx.Input               pnnx_input_0             0 1 0 #0=(1)f32\n"
        "nn.ELU                   a                        1 1 0 1 alpha=0.5 inplace=True #0=(1)f32\n"
        "nn.ELU                   b                        1 1 1 2 alpha=1.00 inplace=True\n"
        "pnnx.Output              pnnx_output_0            1 0 2\n";
    size_t size;
    (void)state;
    scratch_put(scratch("c.param"), text, strlen(text));
    xir_network *net = load(scratch("c.param"), false);
    const xir_any half = xir_any_real(0.5);
    DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("alpha"), &half));
    save(net, scratch("d.param"));
    char *got = (char *)scratch_get(scratch("d.param"), &size);
    assert_string_equal(got, expected);
    free(got);
    xir_network_free(net);
}

/* Values without names, or with one that another has, get numbers; operators without names get PNNX's. */
static void names_that_are_missing(void **state) {
    static const char text[] = "7767517\n3 2\npnnx.Input i 0 1 0\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n";
    size_t size;
    (void)state;
    scratch_put(scratch("c.param"), text, strlen(text));
    xir_network *net = load(scratch("c.param"), false);
    xir_op *op = xir_network_op_at(net, 1);
    DOES(xir_value_set_name(xir_op_output(op, 0), XIR_STR("0")));
    DOES(xir_op_set_name(op, XIR_STR("")));
    save(net, scratch("d.param"));
    char *got = (char *)scratch_get(scratch("d.param"), &size);
    assert_non_null(strstr(got, "torch.t                  pnnx_unique_0            1 1 0 1\n"));
    free(got);
    xir_network_free(net);
}

/* A change of the op or its output, and the message. */
typedef struct cannot {
    const char *key;         /* an attribute of this name and value */
    xir_any     value;
    const char *op_name, *output_name;
    const xir_type *type;    /* of the output */
    xir_status  status;
    const char *sentence;
} cannot;

static void networks_that_pnnx_cannot_hold(void **state) {
    static const char text[] = "7767517\n3 2\npnnx.Input i 0 1 0 #0=(1)f32\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n";
    const int64_t dims[] = { 3 }, large[] = { INT64_C(1) << 40 };
    const xir_any blank = xir_any_text(XIR_STR("a b"));
    const cannot rows[] = {
        { "k", xir_any_int(INT64_C(1) << 40), .status = XIR_E_BOUNDS, .sentence = "op 1 't': the parameter 'k' is 1099511627776" },
        { "k", xir_any_real(1e300), .status = XIR_E_BOUNDS, .sentence = "the parameter 'k' is 1e+300, which is too large for a float" },
        { "k", blank, .sentence = "is a text with a blank" },
        { "k", xir_any_text(XIR_STR("\xFF")), .sentence = "is a text with a blank, or not UTF-8" },
        { .op_name = "\xFF", .sentence = "cannot be the name of an operator" },
        { "k", xir_any_map(NULL, 0), .sentence = "is neither a number, a text nor a list" },
        { "a=b", blank, .sentence = "has a name that PNNX does not allow" },
        { .output_name = "#1", .sentence = "'#1' cannot be the name of an output" },
        { .op_name = "a b", .sentence = "'a b' cannot be the name of an operator" },
        { .type = xir_type_tensor_text(ctx, xir_type_uint(ctx, 16), "*", dims, 1), .sentence = "'1' has a type that PNNX does not have" },
        { .type = xir_type_tensor_text(ctx, xir_type_uint(ctx, 8), "*", large, 1), .status = XIR_E_BOUNDS, .sentence = "a dim of '1' is 1099511627776" },
    };
    const xir_save_options options = XIR_INIT(xir_save_options, .unchecked = true, .no_params = true);
    (void)state;
    scratch_put(scratch("c.param"), text, strlen(text));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const cannot *row = &rows[i];
        xir_network *net = load(scratch("c.param"), false);
        xir_op *op = xir_network_op_at(net, 1);
        if (row->key) DOES(xir_op_set_extra(op, xir_str_of(row->key), &row->value));
        if (row->op_name) DOES(xir_op_set_name(op, xir_str_of(row->op_name)));
        if (row->output_name) DOES(xir_value_set_name(xir_op_output(op, 0), xir_str_of(row->output_name)));
        if (row->type) DOES(xir_value_set_type(xir_op_output(op, 0), row->type));
        FAILS_TO_SAVE(xir_network_save(net, scratch("no.param"), &options, why),
                      row->status ? row->status : XIR_E_UNSUPPORTED, row->sentence);
        assert_int_equal(access(scratch("no.param"), F_OK), -1);
        xir_network_free(net);
    }
    xir_network *net = small_net();
    FAILS_TO_SAVE(xir_network_save(net, scratch("no.param"), &options, why), XIR_E_UNSUPPORTED,
                  "PNNX has no operator for ");
    xir_network_free(net);
}

/* Types that XIR does not have are a tag. */
static void a_tag_that_is_not_a_shape(void **state) {
    static const char text[] = "7767517\n3 2\npnnx.Input i 0 1 0 #0=(1)f32\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n";
    static const struct { const char *tag; bool good; } rows[] = {
        { "(2,3)c64", true }, { "()null", true }, { "zip32", false }, { "(2,?)c64", false }, { "(2,x)c64", false },
        { "(2", false }, { "()c64", false }, { "(-1)c64", false }, { "(99999999999)c64", false }, { "", false },
    };
    const xir_save_options options = XIR_INIT(xir_save_options, .unchecked = true, .no_params = true);
    (void)state;
    scratch_put(scratch("c.param"), text, strlen(text));
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = load(scratch("c.param"), false);
        xir_value *w = xir_params_new_untyped(net, XIR_STR("w"));
        const xir_any tag = xir_any_text(xir_str_of(rows[i].tag));
        const xir_any params_of_w = { .kind = XIR_ANY_PARAMS, .as.params = w };
        DOES(xir_value_set_tag(w, XIR_STR("pnnx.type"), &tag));
        DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("@w"), &params_of_w));
        if (rows[i].good) DOES(xir_network_save(net, scratch("yes.param"), &options, why));
        else FAILS_TO_SAVE(xir_network_save(net, scratch("no.param"), &options, why), XIR_E_UNSUPPORTED,
                           "the attribute '@w' is not a weight with a name and a type");
        xir_network_free(net);
    }
}

/* ---- real files -------------------------------------------------------------------------------------------------- */

static size_t come_back(const char *pattern, bool words) {
    char all[PATH_MAX], bin[PATH_MAX];
    glob_t found = { 0 };
    size_t n = 0;
    snprintf(all, sizeof all, "%s/pnnx/%s", getenv("XIR_CORPUS"), pattern);
    (void)glob(all, 0, NULL, &found);
    for (; n < found.gl_pathc; n++) {
        const char *text = found.gl_pathv[n];
        snprintf(bin, sizeof bin, "%.*s.bin", (int)(strlen(text) - strlen(".param")), text);
        xir_network *net = load(text, n % 2);
        save(net, scratch("y.pnnx.param"));
        xir_network_free(net);
        if (words) assert_same_words(text, scratch("y.pnnx.param"), n);
        else assert_same_bytes(text, scratch("y.pnnx.param"), n);
        if (access(bin, F_OK) == 0) assert_same_bytes(bin, scratch("y.pnnx.bin"), n);
        remove(scratch("y.pnnx.bin"));
    }
    globfree(&found);
    return n;
}

static void real_files(void **state) {
    (void)state;
    (void)CORPUS_OR_SKIP();
    assert_true(come_back("converter/*.pnnx.param", false) > 200);
    assert_true(come_back("values/*.pnnx.param", false) > 100);
    assert_true(come_back("public/*.pnnx.param", true) > 30);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(files_come_back_through_other_formats),
        cmocka_unit_test(texts_come_back_alone),
        cmocka_unit_test(an_archive_without_weights),
        cmocka_unit_test(what_changed_is_written),
        cmocka_unit_test(names_that_are_missing),
        cmocka_unit_test(networks_that_pnnx_cannot_hold),
        cmocka_unit_test(a_tag_that_is_not_a_shape),
        cmocka_unit_test(real_files),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
