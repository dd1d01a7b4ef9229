/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed PNNX: each text, and each archive that does not fit its text, is refused with its status, its line and its
 * message. Every text truncated at every byte, and with every byte changed, is refused or is a network that comes back.
 * Broken graphs are not malformed: they are read, and a check finds the faults in all their lines. */
#include "support/malformed.h"
#include "support/kept.h"
#include "support/load_net.h"
#include "zip/zip.h"

#define IN  "7767517\n3 2\npnnx.Input i 0 1 0\n"
#define OUT "\npnnx.Output o 1 0 1\n"
/* The items of an operator, on line 4. */
#define OP(items) IN "torch.t t 1 1 0 1 " items OUT

#define S XIR_E_SYNTAX
#define B XIR_E_BOUNDS
#define L XIR_E_LIMIT
#define U XIR_E_UNSUPPORTED
#define X XIR_E_EXISTS

static const malformed_text table[] = {
    /* the first lines */
    { "", S, 1, 1, "expected the number 7767517, found ''" },
    { "\n\n", S, 1, 1, "expected the number 7767517, found ''" },
    { "hello\n", S, 1, 1, "expected the number 7767517, found 'hello'" },
    { "77675170\n1 1\n", S, 1, 1, "expected the number 7767517, found '77675170'" },
    { "7767517", S, 1, 8, "expected a line with the numbers of operators and operands" },
    { "7767517\n", S, 2, 1, "expected a line with the numbers of operators and operands" },
    { "7767517\n3\n", S, 2, 2, "expected the number of operands, found the end of the line" },
    { "7767517\nx 1\n", S, 2, 1, "expected the number of operators, found 'x'" },
    { "7767517\n1 1x\n", S, 2, 3, "expected the number of operands, found '1x'" },
    { "7767517\n-1 1\n", B, 2, 1, "the number of operators is -1" },
    { "7767517\n1 99999999999\n", B, 2, 3, "the number of operands, '99999999999', does not fit into 32 bits" },
    { "7767517\n1.0 1\n", S, 2, 1, "expected the number of operators, found '1.0'" },

    /* the beginning of a line */
    { "7767517\n1 1\npnnx.Input\n", S, 3, 11, "expected the name of the operator, found the end of the line" },
    { "7767517\n1 1\npnnx.Input a\n", S, 3, 13, "expected the number of inputs, found the end of the line" },
    { "7767517\n1 1\npnnx.Input a 0\n", S, 3, 15, "expected the number of outputs, found the end of the line" },
    { "7767517\n1 1\npnnx.Input a 0 x 0\n", S, 3, 16, "expected the number of outputs, found 'x'" },
    { "7767517\n1 1\npnnx.Input a -1 1 0\n", B, 3, 14, "the number of inputs is -1" },
    { "7767517\n1 1\ntorch.t a 1 -2 0\n", B, 3, 13, "the number of outputs is -2" },
    { "7767517\n1 1\ntorch.t a 2147483648 0\n", B, 3, 11, "the number of inputs, '2147483648', does not fit into 32 bits" },
    { "7767517\n1 1\ntorch.t a 2147483647 0 x\n", S, 3, 25, "'a' has 2147483647 inputs, but the line ends after 1" },
    { "7767517\n1 1\ntorch.t a 0 2147483647 x\n", S, 3, 25, "'a' has 2147483647 outputs, but the line ends after 1" },
    { "7767517\n1 1\npnnx.Input a 0 1\n", S, 3, 17, "'a' has 1 outputs, but the line ends after 0" },
    { "7767517\n1 1\npnnx.Output a 1 0\n", S, 3, 18, "'a' has 1 inputs, but the line ends after 0" },
    { "7767517\n1 1\ntorch.t a 2 1 0 1 k=5\n", S, 3, 19, "'a' has 1 outputs, but 'k=5' is not an operand" },
    { "7767517\n1 1\ntorch.t a 1 1 0 #0=(1)f32\n", S, 3, 17, "'a' has 1 outputs, but '#0=(1)f32' is not an operand" },
    { "7767517\n1 1\ntorch.t a 1 1 @w 1\n", S, 3, 15, "'a' has 1 inputs, but '@w' is not an operand" },
    { "7767517\n1 1\ntorch.t a 1 1 $x 1\n", S, 3, 15, "'a' has 1 inputs, but '$x' is not an operand" },

    /* numbers, which PNNX cannot read either */
    { OP("k=2147483648"), B, 4, 21, "the number '2147483648' does not fit into 32 bits" },
    { OP("k=-2147483649"), B, 4, 21, "the number '-2147483649' does not fit into 32 bits" },
    { OP("k=1e39"), B, 4, 21, "the number '1e39' does not fit into 32 bits" },
    { OP("k=-1e999999999"), B, 4, 21, "the number '-1e999999999' does not fit into 32 bits" },
    { OP("k=(4294967296,1)"), B, 4, 22, "the number '4294967296' does not fit into 32 bits" },
    { OP("k=(1.0,1e39)"), B, 4, 26, "the number '1e39' does not fit into 32 bits" },
    { OP("k=[@0,99999999999]"), B, 4, 25, "the number '99999999999' does not fit into 32 bits" },
    { OP("k=0x1.0p999"), B, 4, 21, "the number '0x1.0p999' does not fit into 32 bits" },

    /* shapes of operands */
    { OP("#0"), S, 4, 21, "expected a shape, '(1,3,224,224)f32', found ''" },
    { OP("#0="), S, 4, 22, "expected a shape, '(1,3,224,224)f32', found ''" },
    { OP("#0=1,2f32"), S, 4, 22, "expected a shape, '(1,3,224,224)f32', found '1,2f32'" },
    { OP("#0=(1,2"), S, 4, 22, "expected a shape, '(1,3,224,224)f32', found '(1,2'" },
    { OP("#0=1,2)f32"), S, 4, 22, "expected a shape, '(1,3,224,224)f32', found '1,2)f32'" },
    { OP("#0=()f32"), S, 4, 22, "the shape is empty: a scalar has the shape (1)" },
    { OP("#0=()null"), S, 4, 22, "the shape is empty: a scalar has the shape (1)" },
    { OP("#0=(,)f32"), S, 4, 23, "expected a dim, found ''" },
    { OP("#0=(1,)f32"), S, 4, 25, "expected a dim, found ''" },
    { OP("#0=(1,x)f32"), S, 4, 25, "expected a dim, found 'x'" },
    { OP("#0=(1.0)f32"), S, 4, 23, "expected a dim, found '1.0'" },
    { OP("#0=(3x)f32"), S, 4, 23, "expected a dim, found '3x'" },
    { OP("#0=(%)f32"), S, 4, 23, "expected a dim, found '%'" },
    { OP("#0=(2147483648)f32"), B, 4, 23, "the dim '2147483648' does not fit into 32 bits" },
    { OP("#0=(-2)f32"), B, 4, 23, "a dim is -2: expected ? or at least 0" },
    { IN "pnnx.Output o 1 0 0 #0=(x)f32\n", S, 4, 25, "expected a dim, found 'x'" },
    { "7767517\n1 1\npnnx.Input i 0 1 0 #0=()f32\n", S, 3, 23, "the shape is empty" },

    /* shapes of weights */
    { OP("@w"), S, 4, 21, "expected a shape, '(1,3,224,224)f32', found ''" },
    { OP("@w=2"), S, 4, 22, "expected a shape, '(1,3,224,224)f32', found '2'" },
    { OP("@w=()f32"), S, 4, 22, "the shape is empty: a scalar has the shape (1)" },
    { OP("@w=(?)f32"), B, 4, 23, "a dim of a weight is unknown: '?'" },
    { OP("@w=(%n)f32"), B, 4, 23, "a dim of a weight is unknown: '%n'" },
    { OP("@w=(2,-1)f32"), B, 4, 25, "a dim of a weight is -1" },
    { OP("@w=(99999999999)f32"), B, 4, 23, "the dim '99999999999' does not fit into 32 bits" },
    { OP("@w=(2147483647,2147483647,2147483647)f32"), L, 4, 22, "the shape '(2147483647,2147483647,2147483647)f32' has too many elements" },
    { OP("@w=(2147483647,2147483647,4)f64"), L, 4, 22, "the shape '(2147483647,2147483647,4)f64' has too many elements" },
    { OP("@w=(1)f32 a=1 @w=(2)f32"), X, 4, 19, "the weight '@w' appears twice" },

    /* what is not a text */
    { IN "torch.t \xFF 1 1 0 1" OUT, S, 4, 9, "the text is not UTF-8" },
    { IN "torch.t \xC3 1 1 0 1" OUT, S, 4, 9, "the text is not UTF-8" },
    { IN "torch.t \xED\xA0\x80 1 1 0 1" OUT, S, 4, 9, "the text is not UTF-8" },
    { OP("k=\xC0\x80"), S, 4, 21, "the text is not UTF-8" },

    /* networks of ncnn */
    { "7767517\n3 3\nInput data 0 1 data\nConvolution c 1 1 data out 0=64 1=3\n", U, 4, 28, "this is a network of ncnn, not of PNNX: '0=64'" },
    { "7767517\n2 2\nInput data 0 1 data\nReLU r 1 1 data out\n", U, 1, 1, "this is a network of ncnn, not of PNNX" },
    { "7767517\n2 2\nInput data 0 1 data\nReshape r 1 1 data out -23309=2,3,4\n", U, 4, 24, "this is a network of ncnn, not of PNNX: '-23309=2,3,4'" },
};

static xir_network *read_pnnx(const char *text, size_t size) {
    char *exact = malloc(size ? size : 1);   /* with nothing after it */
    if (size) memcpy(exact, text, size);
    xir_network *net = xir_network_read(ctx, exact, size, XIR_STR("x.param"),
                                        &XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true), why);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), net ? 0 : 1);
    free(exact);
    return net;
}

static void texts_that_are_refused(void **state) {
    (void)state;
    malformed_try(table, COUNT(table), read_pnnx);
}

/* Comments and a byte order mark do not count, and are not written again. */
static void comments_are_passed_over(void **state) {
    (void)state;
    static const char plain[] = "7767517\n3 2\npnnx.Input i 0 1 0 #0=(1)f32\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n";
    static const char *const texts[] = {
        "7767517\n3 2#three operators, two operands\npnnx.Input i 0 1 0 #0=(1)f32\ntorch.t t 1 1 0 1\n"
        "pnnx.Output o 1 0 1\n",
        "\xEF\xBB\xBF" "7767517\n3 2\npnnx.Input i 0 1 0 #0=(1)f32\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n",
        "7767517\n3 2\n# an input\npnnx.Input i 0 1 0 #0=(1)f32\n  #\ntorch.t t 1 1 0 1\npnnx.Output o 1 0 1\n",
    };
    xir_network *expected = read_pnnx(plain, sizeof plain - 1);
    assert_int_equal(xir_diags_count(why), 0);
    for (size_t i = 0; i < COUNT(texts); i++) {
        xir_network *net = read_pnnx(texts[i], strlen(texts[i]));
        assert_non_null(net);
        check_finding(XIR_OK, "comments and a byte order mark are not written again");
        assert_true(xir_network_equal(net, expected, true));
        xir_network_free(net);
    }
    xir_network_free(expected);
}

static void a_zero_byte_is_refused(void **state) {
    char text[] = OP("k=?");
    (void)state;
    *strchr(text, '?') = '\0';
    assert_null(read_pnnx(text, sizeof text - 1));
    check_finding(S, "the text has a byte 0");
}

/* ---- archives that do not fit ------------------------------------------------------------------------------------ */

static void archives_that_do_not_fit(void **state) {
    static const struct { const char *items, *member; size_t size; xir_status status; const char *sentence; } rows[] = {
        { "@w=(2)f32", "t.v", 8, XIR_E_MISSING, "the archive has no member 't.w'" },
        { "@w=(2)f32", "w", 8, XIR_E_MISSING, "the archive has no member 't.w'" },
        { "@w=(0)f32", "w", 8, XIR_E_MISSING, "the archive has no member 't.w'" },
        { "@w=(2)f32", "t.w", 9, XIR_E_CORRUPT, "the member 't.w' has 9 bytes, but its type takes 8" },
        { "@w=(2)f32", "t.w", 7, XIR_E_CORRUPT, "the member 't.w' has 7 bytes, but its type takes 8" },
        { "@w=(2)f32", "t.w", 0, XIR_E_CORRUPT, "the member 't.w' has 0 bytes, but its type takes 8" },
        { "@w=(0,9)i64", "t.w", 1, XIR_E_CORRUPT, "the member 't.w' has 1 bytes, but its type takes 0" },
        { "@w=(3)bool", "t.w", 4, XIR_E_CORRUPT, "the member 't.w' has 4 bytes, but its type takes 3" },
        { "@w=(2)c64", "t.w", 8, XIR_E_CORRUPT, "the member 't.w' has 8 bytes, but its type takes 16" },
        { "@w=(2)", "t.w", 6, XIR_E_CORRUPT, "the member 't.w' has 6 bytes, but its type takes 8" },
        { "@w=(2)", "t.w", 2, XIR_E_CORRUPT, "the member 't.w' has 2 bytes, but its type takes 8" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[200], bytes[16] = { 1 };
        buffer bin;
        zip_writer z;
        snprintf(text, sizeof text, IN "torch.t t 1 1 0 1 %s" OUT, rows[i].items);
        buffer_init(&bin, &memory_default);
        zip_begin(&z, &memory_default, true, keep, &bin);
        zip_add(&z, xir_str_of(rows[i].member), bytes, rows[i].size);
        assert_int_equal(zip_end(&z), XIR_OK);
        xir_network *net = read_pnnx(text, strlen(text));
        assert_non_null(net);
        assert_int_equal(xir_network_read_params(net, bin.data, bin.size, XIR_STR("x.bin"),
                                                 &XIR_INIT(xir_load_options, .format = "pnnx"), why), rows[i].status);
        load_check_finding(rows[i].status, rows[i].sentence, (int)i);
        assert_int_equal(xir_network_read_params(net, "PK", 2, XIR_STR("x.bin"),
                                                 &XIR_INIT(xir_load_options, .format = "pnnx"), why), XIR_E_CORRUPT);
        load_check_finding(XIR_E_CORRUPT, "the file is not an archive", (int)i);
        xir_network_free(net);
        buffer_free(&bin);
    }
}

/* A checksum is compared where all bytes are read anyway. */
static void a_wrong_checksum(void **state) {
    static const char text[] = OP("@w=(2)f32");
    buffer bin;
    zip_writer z;
    (void)state;
    buffer_init(&bin, &memory_default);
    zip_begin(&z, &memory_default, true, keep, &bin);
    zip_add(&z, XIR_STR("t.w"), "12345678", 8);
    assert_int_equal(zip_end(&z), XIR_OK);
    ((char *)memmem(bin.data, bin.size, "12345678", 8))[3] = 'x';
    scratch_put(scratch("sum.pnnx.param"), text, sizeof text - 1);
    scratch_put(scratch("sum.pnnx.bin"), bin.data, bin.size);
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("sum.pnnx.param"), NULL, why), XIR_E_CORRUPT,
                  "the checksum of 't.w'");
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("sum.pnnx.param"),
                                   &XIR_INIT(xir_load_options, .lazy = true, .verify = XIR_VERIFY_FULL), why),
                  XIR_E_CORRUPT, "the checksum of 't.w'");
    xir_network_free(load_must(scratch("sum.pnnx.param"), &XIR_INIT(xir_load_options, .lazy = true)));
    xir_network_free(load_must(scratch("sum.pnnx.param"), &XIR_INIT(xir_load_options, .verify = XIR_VERIFY_NEVER)));
    buffer_free(&bin);
}

static void weights_of_one_member(void **state) {
    static const char text[] = IN "torch.t t 1 1 0 1 @a.b=(1)u8\ntorch.t t.a 0 0 @b=(1)u8" OUT;
    buffer bin;
    zip_writer z;
    (void)state;
    buffer_init(&bin, &memory_default);
    zip_begin(&z, &memory_default, true, keep, &bin);
    zip_add(&z, XIR_STR("t.a.b"), "1", 1);
    assert_int_equal(zip_end(&z), XIR_OK);
    xir_network *net = read_pnnx(text, sizeof text - 1);
    xir_diags_clear(why);
    DOES(xir_network_read_params(net, bin.data, bin.size, XIR_STR("x.bin"),
                                 &XIR_INIT(xir_load_options, .format = "pnnx"), why));
    FAILS_TO_SAVE(xir_network_save(net, scratch("twice.param"), NULL, why), XIR_E_EXISTS,
                  "two weights would be the member 't.a.b' of the archive");
    xir_network_free(net);
    buffer_free(&bin);
}

/* ---- damaged texts ----------------------------------------------------------------------------------------------- */

static const char sound[] =
    "7767517\n6 5\n"
    "pnnx.Input               pnnx_input_0             0 1 0 #0=(1,?)f32\n"
    "pnnx.Attribute           a                        0 1 1 @data=(2,2)cp64 #1=(2,2)c64\n"
    "nn.Linear                fc                       1 1 0 2 bias=True e=1.000000e-05 l=(1,2) @bias=(2)f32 @weight=(2,4)f32 #0=(1,?)f32 #2=(1,2)f32\n"
    "torch.add                b                        3 1 2 2 1 3 $input=2 $other=2 #2=(1,2)f32 #2=(1,2)f32 #1=(2,2)c64\n"
    "pnnx.Expression          e                        1 1 3 4 expr=[1,size(@0,2)] #4=(%n)i64\n"
    "pnnx.Output              pnnx_output_0            1 0 4 #4=(%n)i64\n";

static void must_come_back(const char *text, size_t size) {
    buffer first, again;
    xir_network *net = read_pnnx(text, size);
    xir_diags_clear(why);
    if (!net) return;
    buffer_init(&first, &memory_default);
    buffer_init(&again, &memory_default);
    const xir_save_options as_pnnx = XIR_INIT(xir_save_options, .format = "pnnx", .unchecked = true);
    DOES(xir_network_write(net, keep, &first, &as_pnnx, why));
    xir_network *copy = read_pnnx(first.data, first.size);
    xir_diags_clear(why);
    assert_non_null(copy);
    DOES(xir_network_write(copy, keep, &again, &as_pnnx, why));
    assert_int_equal(first.size, again.size);
    assert_memory_equal(first.data, again.data, first.size);
    xir_network_free(net);
    xir_network_free(copy);
    buffer_free(&first);
    buffer_free(&again);
}

static void truncated_at_every_byte(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof sound; size++) must_come_back(sound, size);
}

static void changed_at_every_byte(void **state) {
    static const char other[] = { '\0', ' ', '\n', '=', '#', '9', '(', '\x80' };
    char text[sizeof sound];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof sound; i++) {
        for (size_t k = 0; k < sizeof other; k++) {
            memcpy(text, sound, sizeof sound);
            text[i] = other[k];
            must_come_back(text, sizeof sound - 1);
        }
    }
}

/* ---- broken graphs ----------------------------------------------------------------------------------------------- */

static void faults_have_lines(void **state) {
    static const char text[] =
        "7767517\n5 4\n"
        "pnnx.Input i 0 1 0\n"
        "torch.t a 1 1 none 1\n"
        "torch.t b 1 1 later 2\n"
        "torch.t c 1 1 1 later\n"
        "torch.t d 1 1 2 2\n"
        "pnnx.Output o 1 0 nothing\n";
    static const unsigned lines[] = { 4, 5, 8 };
    (void)state;
    xir_network *net = read_pnnx(text, sizeof text - 1);
    xir_diags *placed = xir_diags_new(ctx);
    assert_non_null(net);
    xir_diags_clear(why);   /* the count of operators is wrong */
    assert_int_equal(xir_network_validate(net, why) != XIR_OK, 1);
    DOES(xir_format_place_findings(ctx, "pnnx", xir_str_of(text), XIR_STR("x.param"), why, placed));
    for (size_t k = 0; k < COUNT(lines); k++) {
        bool found = false;
        for (size_t i = 0; i < xir_diags_count(placed); i++) found |= xir_diags_at(placed, i)->line == lines[k];
        if (!found) xir_diags_print(placed, stderr);
        assert_true(found);
    }
    xir_diags_clear(why);
    xir_diags_free(placed);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_that_are_refused), cmocka_unit_test(comments_are_passed_over),
        cmocka_unit_test(a_zero_byte_is_refused),
        cmocka_unit_test(archives_that_do_not_fit), cmocka_unit_test(a_wrong_checksum),
        cmocka_unit_test(weights_of_one_member),  cmocka_unit_test(truncated_at_every_byte),
        cmocka_unit_test(changed_at_every_byte),  cmocka_unit_test(faults_have_lines),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
