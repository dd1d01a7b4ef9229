/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Targets, memory types, scalar and tensor types: the samples of the original, texts, the questions that tensors
 * answer, the rules of validation, and every spelling in the files of the corpus. */
#include <stdio.h>
#include <xir/icraft.h>
#include "graph.h"
#include "support/forms.h"
#include "support/skips.h"

/* ---- the original's samples --------------------------------------------------------------------------------- */

static void original_memory_types(void **state) {
    (void)state;
    CHECK_SPELLED(xir_mtype_host(ctx), "@hostm");
    CHECK_SPELLED(xir_mtype_onchip(ctx, 1234), "@ocm(1234)");
    CHECK_SPELLED(xir_mtype_external(ctx, 5678), "@etm(5678)");
    CHECK_SPELLED(xir_mtype_chunk(ctx, 1234, 100), "@chunk(1234@100)");
}

static void original_types(void **state) {
    (void)state;
    CHECK_SPELLED(xir_type_sint(ctx, 8), "@sint(8)");
    CHECK_SPELLED(xir_type_sint(ctx, 64), "@sint(64)");
    CHECK_SPELLED(xir_type_uint(ctx, 12), "@uint(12)");
    CHECK_SPELLED(xir_type_float(ctx, XIR_FLOAT_FP32), "@fp(32)");
    CHECK_SPELLED(xir_type_float(ctx, XIR_FLOAT_BF16), "@bf(16)");

    /* four axes on one dim: it is made, and is a finding of validation */
    const xir_type *t = XIR_TENSOR(ctx, xir_type_sint(ctx, 64), "NHWC", 1024);
    CHECK_SPELLED(xir_type_element(t), "@sint(64)");
    CHECK_SPELLED(xir_type_layout(t), "@layout(NHWC)");
    assert_int_equal(xir_type_as_tensor(t)->merged_distrs.size, 0);
    assert_int_equal(xir_type_rank(t), 1);
    assert_int_equal(xir_type_dim(t, 0, false), 1024);
}

/* The distribution belongs to the type that it is added to, and a change gives a new type; otherwise as in the
 * original. */
static void original_distributions(void **state) {
    (void)state;
    static const int64_t a_1_4[] = { 1, 4 }, a_2_3[] = { 2, 3 };
    const xir_type *t = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 2, 416, 416, 32);
    assert_int_equal(xir_type_as_tensor(t)->merged_distrs.size, 0);
    assert_null(xir_type_distr(t, a_1_4, 2));
    t = xir_type_add_distr(ctx, t, a_1_4, 2, why);
    assert_int_equal(xir_distr_total(xir_type_distr(t, a_1_4, 2)), 64);
    assert_true(xir_distr_is_valid(xir_type_distr(t, a_1_4, 2), 31));
    t = xir_type_mark_distr(ctx, t, a_1_4, 2, 2, 3, false, why);
    assert_false(xir_distr_is_valid(xir_type_distr(t, a_1_4, 2), 2));
    assert_null(xir_type_distr(t, a_2_3, 2));
    t = xir_type_mark_distr(ctx, t, a_1_4, 2, 0, 32, false, why);
    assert_false(xir_distr_is_valid(xir_type_distr(t, a_1_4, 2), 31));
    t = xir_type_add_distr(ctx, t, a_2_3, 2, why);
    assert_int_equal(xir_type_as_tensor(t)->merged_distrs.size, 2);
    CHECK_SPELLED(xir_type_as_tensor(t)->merged_distrs.data[0],
                  "@merged_distr([1, 4]^ZERO:{u:[0, 32), v:[32, 64)})");
    CHECK_SPELLED(xir_type_as_tensor(t)->merged_distrs.data[1], "@merged_distr([2, 3]^ZERO:{v:[0, 173056)})");

    assert_null(xir_type_add_distr(ctx, t, a_2_3, 2, why));
    check_finding(XIR_E_EXISTS, "expected dims without a distribution, found one over [2, 3]");
    assert_null(xir_type_mark_distr(ctx, t, (const int64_t[]){ 4, 1, -7 }, 3, 0, 1, true, why));
    check_finding(XIR_E_MISSING, "expected a distribution over [4, 1, -7], found none");
    int64_t many[100] = { 0 };
    assert_null(xir_type_remove_distr(ctx, t, many, 100, why));
    check_finding(XIR_E_MISSING, "a distribution over [0, 0, 0");
}

/* ---- targets and memory types -------------------------------------------------------------------------------- */

static void targets(void **state) {
    (void)state;
    static const char *const text[XIR_TARGET_COUNT] = {
        "@hostt", "@fpgat", "@customt", "@buyit", "@zhuget(330)", "@wolongt",
    };
    for (int kind = 0; kind < XIR_TARGET_COUNT; kind++) {
        const xir_target *t = xir_target_of_kind(ctx, (xir_target_kind)kind, "330");
        CHECK_SPELLED(t, text[kind]);
        assert_ptr_equal(read_text(text[kind]), t);
        assert_int_equal(xir_target_kind_of(t), kind);
        assert_int_equal(xir_target_core(t).size, kind == XIR_TARGET_ZHUGE ? 3 : 0);
        assert_non_null(xir_class_find_decl(ctx, xir_target_class()));
        assert_non_null(xir_object_body((const xir_object *)t, xir_target_class()));
        assert_null(xir_object_body((const xir_object *)t, xir_mtype_class()));
    }
    CHECK_ROUND("@zhuget(340)");
    CHECK_ROUND("@zhuget(30S)");
    CHECK_ROUND("@zhuget()");
    CHECK_ROUND("@zhuget(any text, even this) \"(\\)");
    assert_null(xir_target_of_kind(ctx, XIR_TARGET_COUNT, "330"));
    assert_null(xir_target_of_kind(ctx, (xir_target_kind)-1, "330"));
    assert_null(xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, NULL));
    assert_non_null(xir_target_of_kind(ctx, XIR_TARGET_HOST, NULL));
    assert_int_equal(xir_target_kind_of(NULL), XIR_TARGET_HOST);
    assert_int_equal(xir_target_core(NULL).size, 0);
    const xir_object foreign = { .cls = class_opaque(ctx, XIR_STR("vendor::Target"), false) };
    assert_int_equal(xir_target_kind_of((const xir_target *)&foreign), XIR_TARGET_CUSTOM);
    assert_int_equal(xir_target_core((const xir_target *)&foreign).size, 0);
}

static void bad_targets_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "",              XIR_E_SYNTAX,  0 },
        { "@",             XIR_E_UNKNOWN, 1 },
        { "@(",            XIR_E_UNKNOWN, 1 },
        { "@()",           XIR_E_UNKNOWN, 1 },
        { "@@hostt",       XIR_E_UNKNOWN, 1 },
        { " @hostt",       XIR_E_SYNTAX,  0 },
        { "hostt",         XIR_E_SYNTAX,  0 },
        { "@host",         XIR_E_UNKNOWN, 1 },
        { "@hosttt",       XIR_E_UNKNOWN, 1 },
        { "@Hostt",        XIR_E_UNKNOWN, 1 },
        { "@hostt ",       XIR_E_UNKNOWN, 1 },
        { "@hostt()",      XIR_E_SYNTAX,  6 },
        { "@hostt(",       XIR_E_SYNTAX,  6 },
        { "@fpgat(1)",     XIR_E_SYNTAX,  6 },
        { "@customt()",    XIR_E_SYNTAX,  8 },
        { "@buyit(330)",   XIR_E_SYNTAX,  6 },
        { "@wolongt()",    XIR_E_SYNTAX,  8 },
        { "@wolong",       XIR_E_UNKNOWN, 1 },
        { "@zhuget",       XIR_E_SYNTAX,  7 },
        { "@zhuget(",      XIR_E_SYNTAX,  8 },
        { "@zhuget(330",   XIR_E_SYNTAX, 11 },
        { "@zhuget(330) ", XIR_E_SYNTAX, 13 },
        { "@zhuge(330)",   XIR_E_UNKNOWN, 1 },
        { "@hostt|fpgat",  XIR_E_UNKNOWN, 1 },
        { "@sint|uint",    XIR_E_UNKNOWN, 1 },
        { "@sint|uint(8)", XIR_E_UNKNOWN, 1 },
        { "@a_name_that_is_longer_than_any_name_we_have(1)", XIR_E_UNKNOWN, 1 },
    };
    CHECK_BAD(rows);
}

static void memory_types(void **state) {
    (void)state;
    const xir_mtype *chunk = xir_mtype_chunk(ctx, 3, UINT64_MAX);
    assert_int_equal(xir_mtype_kind_of(chunk), XIR_MTYPE_CHUNK);
    assert_int_equal(xir_mtype_addr(chunk), 3);
    assert_true(xir_mtype_offset(chunk) == UINT64_MAX);
    assert_int_equal(xir_mtype_kind_of(xir_mtype_onchip(ctx, 9)), XIR_MTYPE_ONCHIP);
    assert_int_equal(xir_mtype_addr(xir_mtype_onchip(ctx, 9)), 9);
    assert_int_equal(xir_mtype_offset(xir_mtype_onchip(ctx, 9)), 0);
    assert_int_equal(xir_mtype_kind_of(xir_mtype_external(ctx, 9)), XIR_MTYPE_EXTERNAL);
    assert_int_equal(xir_mtype_addr(xir_mtype_external(ctx, 9)), 9);
    assert_int_equal(xir_mtype_kind_of(xir_mtype_host(ctx)), XIR_MTYPE_HOST);
    assert_int_equal(xir_mtype_addr(xir_mtype_host(ctx)), 0);
    assert_int_equal(xir_mtype_storage_bits(chunk, 13), 13);
    assert_int_equal(xir_mtype_kind_of(NULL), XIR_MTYPE_HOST);
    assert_int_equal(xir_mtype_addr(NULL), 0);
    assert_ptr_equal(read_text("@hostm"), xir_mtype_host(ctx));
    assert_ptr_equal(read_text("@chunk(3@18446744073709551615)"), chunk);
    CHECK_ROUND("@ocm(0)");
    CHECK_ROUND("@ocm(18446744073709551615)");
    CHECK_ROUND("@etm(4294972444)");
    CHECK_ROUND("@chunk(0@0)");

    static const bad_text rows[] = {
        { "@hostm()",                       XIR_E_SYNTAX,  6 },
        { "@hostm(1)",                      XIR_E_SYNTAX,  6 },
        { "@ocm",                           XIR_E_SYNTAX,  4 },
        { "@ocm(",                          XIR_E_SYNTAX,  5 },
        { "@ocm()",                         XIR_E_SYNTAX,  5 },
        { "@ocm(1",                         XIR_E_SYNTAX,  6 },
        { "@ocm(1))",                       XIR_E_SYNTAX,  7 },
        { "@ocm(-1)",                       XIR_E_SYNTAX,  5 },
        { "@ocm(+1)",                       XIR_E_SYNTAX,  5 },
        { "@ocm( 1)",                       XIR_E_SYNTAX,  5 },
        { "@ocm(1 )",                       XIR_E_SYNTAX,  6 },
        { "@ocm(01)",                       XIR_E_SYNTAX,  5 },
        { "@ocm(0x10)",                     XIR_E_SYNTAX,  6 },
        { "@ocm(1.5)",                      XIR_E_SYNTAX,  6 },
        { "@ocm(1@2)",                      XIR_E_SYNTAX,  6 },
        { "@ocm(a)",                        XIR_E_SYNTAX,  5 },
        { "@ocm(18446744073709551616)",     XIR_E_BOUNDS,  5 },
        { "@etm(99999999999999999999999)",  XIR_E_BOUNDS,  5 },
        { "@etm[5]",                        XIR_E_UNKNOWN, 1 },
        { "@etm(5",                         XIR_E_SYNTAX,  6 },
        { "@chunk",                         XIR_E_SYNTAX,  6 },
        { "@chunk()",                       XIR_E_SYNTAX,  7 },
        { "@chunk(1)",                      XIR_E_SYNTAX,  8 },
        { "@chunk(1@)",                     XIR_E_SYNTAX,  9 },
        { "@chunk(@1)",                     XIR_E_SYNTAX,  7 },
        { "@chunk(1@2",                     XIR_E_SYNTAX, 10 },
        { "@chunk(1@-2)",                   XIR_E_SYNTAX,  9 },
        { "@chunk(1@02)",                   XIR_E_SYNTAX,  9 },
        { "@chunk(1, 2)",                   XIR_E_SYNTAX,  8 },
        { "@chunk(1@2@3)",                  XIR_E_SYNTAX, 10 },
        { "@chunk(1@18446744073709551616)", XIR_E_BOUNDS,  9 },
        { "@chunk(18446744073709551616@1)", XIR_E_BOUNDS,  7 },
        { "@chunks(1@2)",                   XIR_E_UNKNOWN, 1 },
    };
    CHECK_BAD(rows);
}

/* ---- scalar types -------------------------------------------------------------------------------------------- */

static void scalar_types(void **state) {
    (void)state;
    static const struct { const char *text; xir_float_format format; uint64_t bits; } floats[] = {
        { "@fp(16)", XIR_FLOAT_FP16,   16 }, { "@fp(32)", XIR_FLOAT_FP32,   32 },
        { "@fp(64)", XIR_FLOAT_FP64,   64 }, { "@bf(16)", XIR_FLOAT_BF16,   16 },
        { "@tf(32)", XIR_FLOAT_TF32,   32 }, { "@fpe7m8", XIR_FLOAT_FPE7M8, 16 },
        { "@fpe6m9", XIR_FLOAT_FPE6M9, 16 },
    };
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        const xir_type *t = xir_type_float(ctx, floats[i].format);
        CHECK_SPELLED(t, floats[i].text);
        assert_ptr_equal(read_text(floats[i].text), t);
        assert_int_equal(xir_type_storage_bits(t), floats[i].bits);
        assert_int_equal(xir_type_kind_of(t), XIR_TYPE_FLOAT);
        assert_true(xir_type_is_scalar(t) && !xir_type_is_quantized(t));
        assert_ptr_equal(xir_type_storage(t), t);
        assert_ptr_equal(xir_type_expressed(t), t);
    }
    static const int64_t widths[] = { 1, 2, 7, 8, 12, 64, 128, 65535, 65536 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char text[40];
        for (int sign = 0; sign < 2; sign++) {
            snprintf(text, sizeof text, "@%cint(%lld)", sign ? 's' : 'u', (long long)widths[i]);
            const xir_type *t = sign ? xir_type_sint(ctx, widths[i]) : xir_type_uint(ctx, widths[i]);
            CHECK_SPELLED(t, text);
            assert_ptr_equal(read_text(text), t);
            assert_int_equal(xir_type_storage_bits(t), widths[i]);
            assert_int_equal(xir_type_kind_of(t), XIR_TYPE_INTEGER);
        }
    }
    assert_ptr_equal(read_text("@bool"), xir_type_bool(ctx));
    CHECK_ROUND("@bool");
    assert_int_equal(xir_type_storage_bits(xir_type_bool(ctx)), 8);
    assert_int_equal(xir_type_kind_of(xir_type_bool(ctx)), XIR_TYPE_BOOL);
    assert_null(xir_type_sint(ctx, 0));
    assert_null(xir_type_uint(ctx, -8));
    assert_null(xir_type_sint(ctx, 65537));
    assert_null(xir_type_float(ctx, (xir_float_format)7));
    assert_null(xir_type_float(ctx, (xir_float_format)-1));
}

static void bad_scalar_types_say_where(void **state) {
    (void)state;
    static const bad_text rows[] = {
        { "@bool()",           XIR_E_SYNTAX,  5 },
        { "@bool(8)",          XIR_E_SYNTAX,  5 },
        { "@boolean",          XIR_E_UNKNOWN, 1 },
        { "@int(8)",           XIR_E_UNKNOWN, 1 },
        { "@sint",             XIR_E_SYNTAX,  5 },
        { "@uint(",            XIR_E_SYNTAX,  6 },
        { "@sint()",           XIR_E_SYNTAX,  6 },
        { "@sint(8",           XIR_E_SYNTAX,  7 },
        { "@sint(8))",         XIR_E_SYNTAX,  8 },
        { "@sint(8) ",         XIR_E_SYNTAX,  8 },
        { "@sint(0)",          XIR_E_BOUNDS,  6 },
        { "@sint(-8)",         XIR_E_BOUNDS,  6 },
        { "@uint(65537)",      XIR_E_BOUNDS,  6 },
        { "@uint(9223372036854775808)", XIR_E_BOUNDS, 6 },
        { "@sint(08)",         XIR_E_SYNTAX,  6 },
        { "@sint(+8)",         XIR_E_SYNTAX,  6 },
        { "@sint(8.0)",        XIR_E_SYNTAX,  7 },
        { "@sint(8,)",         XIR_E_SYNTAX,  7 },
        { "@sint8",            XIR_E_UNKNOWN, 1 },
        { "@fp",               XIR_E_SYNTAX,  3 },
        { "@fp()",             XIR_E_SYNTAX,  4 },
        { "@fp(8)",            XIR_E_BOUNDS,  4 },
        { "@fp(0)",            XIR_E_BOUNDS,  4 },
        { "@fp(128)",          XIR_E_BOUNDS,  4 },
        { "@fp(032)",          XIR_E_SYNTAX,  4 },
        { "@fp(32",            XIR_E_SYNTAX,  6 },
        { "@fp(32)x",          XIR_E_SYNTAX,  7 },
        { "@fp32",             XIR_E_UNKNOWN, 1 },
        { "@bf(32)",           XIR_E_BOUNDS,  4 },
        { "@tf(16)",           XIR_E_BOUNDS,  4 },
        { "@tf(19)",           XIR_E_BOUNDS,  4 },
        { "@fpe7m8()",         XIR_E_SYNTAX,  7 },
        { "@fpe6m9(16)",       XIR_E_SYNTAX,  7 },
        { "@fpe6m8",           XIR_E_UNKNOWN, 1 },
        { "@fpe",              XIR_E_UNKNOWN, 1 },
        { "fp(32)",            XIR_E_SYNTAX,  0 },   /* the older spelling of the original */
    };
    CHECK_BAD(rows);
    form_error e = { 0 };
    assert_null(try_text("@fp(8)", 6, &e));
    assert_string_equal(e.message, "expected 16, 32 or 64 bits, found 8");
    assert_null(try_text("@int(8)", 7, &e));
    assert_string_equal(e.message, "expected the name of an object (fp, layout, hostm, ...), found 'int'");
    assert_null(try_text("@sint(0)", 8, &e));
    assert_string_equal(e.message, "expected a width from 1 to 65536 bits, found 0");
}

static void damaged_ones(void **state) {
    (void)state;
    static const char *const texts[] = {
        "@hostt", "@zhuget(330)", "@hostm", "@ocm(1234)", "@etm(18446744073709551615)", "@chunk(1234@100)", "@bool",
        "@sint(8)", "@uint(65536)", "@fp(16)", "@bf(16)", "@tf(32)", "@fpe7m8", "@fpe6m9",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) check_damaged(texts[i]);
}

/* Every class that is written as one string accepts only its own name, and refuses the text of any other class. */
static void forms_do_not_mix(void **state) {
    (void)state;
    static const char *const texts[] = {
        "@hostt", "@zhuget(330)", "@hostm", "@ocm(1)", "@etm(1)", "@chunk(1@2)", "@layout(N)", "@bool", "@sint(8)",
        "@fp(32)", "@fpe7m8", "@merged_distr([1]^ZERO:{})", "@scales([axis=-1])", "@exp_scales([axis=-1])",
        "@norm_ratios([axis=-1])", "",
    };
    size_t n = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < n; i++) {
        xir_str text = xir_str_of(texts[i]);
        const xir_object *only = form_parse(context_pool(ctx), text, NULL);
        for (size_t j = 0; j < ctx->n_forms; j++) {
            const xir_class *cls = ctx->forms[j];
            const xir_object *object = cls->more->form->parse(context_pool(ctx), cls, text, NULL);
            assert_true((object != NULL) == (only && only->cls == cls));
        }
    }
}

/* ---- tensors ------------------------------------------------------------------------------------------------- */

static const xir_type *fp32(void) { return xir_type_float(ctx, XIR_FLOAT_FP32); }

static void making_tensors(void **state) {
    (void)state;
    const xir_type *t = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 416, 416, 3);
    assert_ptr_equal(XIR_TENSOR(ctx, fp32(), "NHWC", 1, 416, 416, 3), t);
    assert_ptr_not_equal(XIR_TENSOR(ctx, fp32(), "NCHW", 1, 416, 416, 3), t);
    assert_ptr_not_equal(XIR_TENSOR(ctx, fp32(), "NHWC", 1, 416, 416, 4), t);
    assert_int_equal(xir_type_kind_of(t), XIR_TYPE_TENSOR);
    assert_false(xir_type_is_scalar(t));
    assert_ptr_equal(xir_type_object(t), (const xir_object *)t);
    assert_true(xir_type_equal(t, t) && xir_type_equal(NULL, NULL) && !xir_type_equal(t, NULL) &&
                !xir_type_equal(t, fp32()));
    CHECK_SPELLED(xir_type_layout(XIR_TENSOR(ctx, fp32(), NULL, 1, 2, 3)), "@layout(***)");
    const xir_type *scalar = xir_type_tensor(ctx, fp32(), NULL, NULL, 0);
    CHECK_SPELLED(xir_type_layout(scalar), "@layout()");
    assert_int_equal(xir_type_rank(scalar), 0);
    assert_null(xir_type_tensor(ctx, NULL, NULL, NULL, 0));
    assert_null(xir_type_tensor(ctx, t, NULL, NULL, 0));
    assert_null(XIR_TENSOR(ctx, fp32(), "NHWX", 1, 2, 3, 4));
}

static void dims(void **state) {
    (void)state;
    const xir_type *t = XIR_TENSOR(ctx, fp32(), "NCHWc32", 1, 4, 9, 8, 32);
    static const struct { int64_t i, dim, combined; } by_index[] = {
        { 0,  1,  1 },   { 1,  4, 128 }, { 2,  9, 9 }, { 3,  8, 8 }, { 4,         32, 128 }, { 5,         0, 0 },
        { -1, 32, 128 }, { -4, 4, 128 }, { -5, 1, 1 }, { -6, 0, 0 }, { INT64_MAX, 0,  0 },   { INT64_MIN, 0, 0 },
    };
    for (size_t i = 0; i < sizeof by_index / sizeof *by_index; i++) {
        assert_int_equal(xir_type_dim(t, by_index[i].i, false), by_index[i].dim);
        assert_int_equal(xir_type_dim(t, by_index[i].i, true), by_index[i].combined);
    }
    static const struct { char axis; int64_t dim, combined; } by_axis[] = {
        { 'N', 1, 1 }, { 'C', 4, 128 }, { 'c', 32, 128 }, { 'H',  9, 9 }, { 'h', 0, 9 },
        { 'D', 0, 0 }, { '*', 0, 0 },   { '3', 0,  0 },   { '\0', 0, 0 },
    };
    for (size_t i = 0; i < sizeof by_axis / sizeof *by_axis; i++) {
        assert_int_equal(xir_type_axis_dim(t, by_axis[i].axis, false), by_axis[i].dim);
        assert_int_equal(xir_type_axis_dim(t, by_axis[i].axis, true), by_axis[i].combined);
    }
    assert_int_equal(xir_type_axis_dim(XIR_TENSOR(ctx, fp32(), "N**", 5, 6, 7), '*', true), 6);
    assert_true(xir_type_is_layouted(t));

    static const struct { const char *layout; int64_t channels; } channels[] = {
        { "NHWC", 5 }, { "NCHW",  3 },  { "HWIO", 5 }, { "HWOI", 4 }, { "HWI*", 4 },
        { "****", 0 }, { "NCHc5", 15 }, { "*COI", 3 },
    };
    for (size_t i = 0; i < sizeof channels / sizeof *channels; i++) {
        const xir_type *c = XIR_TENSOR(ctx, fp32(), channels[i].layout, 2, 3, 4, 5);
        assert_int_equal(xir_type_channels(c), channels[i].channels);
    }

    /* what is unknown is still unknown, and so is what is too large */
    const xir_type *unknown = XIR_TENSOR(ctx, fp32(), "NCHWc32", 1, -1, 9, 8, 32);
    assert_true(xir_type_dim(unknown, 1, true) < 0 && xir_type_dim(unknown, 4, true) < 0);
    assert_int_equal(xir_type_dim(unknown, 4, false), 32);
    assert_true(xir_type_channels(unknown) < 0);
    assert_true(xir_type_has_unknown_dim(unknown) && !xir_type_has_unknown_dim(t));
    assert_true(xir_type_dim(XIR_TENSOR(ctx, fp32(), "Cc2", INT64_MAX, 2), 0, true) < 0);

    unknown = XIR_TENSOR(ctx, fp32(), "N", -1);
    assert_true(xir_type_has_unknown_dim(unknown));
    assert_int_equal(xir_type_dim(XIR_TENSOR(ctx, fp32(), "Cc2", 0, 2), 0, true), 0);
    assert_int_equal(xir_type_dim(XIR_TENSOR(ctx, fp32(), "Cc2", 0, 2), 1, true), 0);

    /* a layout longer or shorter than the shape */
    const xir_type *two = XIR_TENSOR(ctx, fp32(), "NCHWc32", 1, 4);
    assert_int_equal(xir_type_dim(two, 1, true), 4);
    assert_int_equal(xir_type_axis_dim(two, 'c', false), 0);
    assert_int_equal(xir_type_axis_dim(two, 'c', true), 4);
    assert_int_equal(xir_type_dim(XIR_TENSOR(ctx, fp32(), "C", 1, 4), 1, true), 4);

    /* a type that is not a tensor has no dims */
    const xir_type *others[] = { NULL, fp32() };
    for (size_t i = 0; i < 2; i++) {
        assert_null(xir_type_as_tensor(others[i]));
        assert_null(xir_type_element(others[i]));
        assert_null(xir_type_layout(others[i]));
        assert_int_equal(xir_type_rank(others[i]), 0);
        assert_int_equal(xir_type_dim(others[i], 0, true), 0);
        assert_int_equal(xir_type_axis_dim(others[i], 'C', true), 0);
        assert_int_equal(xir_type_channels(others[i]), 0);
        assert_false(xir_type_is_layouted(others[i]));
        assert_false(xir_type_has_unknown_dim(others[i]));
        assert_null(xir_type_distr(others[i], NULL, 0));
    }
}

static void sizes(void **state) {
    (void)state;
    static const struct {
        int64_t    dims[3];
        size_t     rank;
        int        bits;
        xir_status status;
        int64_t    elements;
        uint64_t   bytes;
    } rows[] = {
        { { 0 },                                0,     32, XIR_OK,       1,                   4 },
        { { 2, 3, 4 },                          3,     32, XIR_OK,       24,                  96 },
        { { 3 },                                1,     1,  XIR_OK,       3,                   1 },
        { { 9 },                                1,     1,  XIR_OK,       9,                   2 },
        { { 3 },                                1,     12, XIR_OK,       3,                   5 },
        { { 5, 3 },                             2,     4,  XIR_OK,       15,                  8 },
        { { 0, 7, 9 },                          3,     8,  XIR_OK,       0,                   0 },
        { { INT64_MAX, INT64_MAX, 0 },          3,     8,  XIR_OK,       0,                   0 },
        { { INT64_MAX },                        1,     8,  XIR_OK,       INT64_MAX,           INT64_MAX },
        { { INT64_MAX },                        1,     16, XIR_OK,       INT64_MAX,           UINT64_MAX - 1 },
        { { (int64_t)1 << 40 },                 1,     65536, XIR_OK,    (int64_t)1 << 40,    (uint64_t)1 << 53 },
        { { INT64_MAX },                        1,     17, XIR_E_LIMIT,  INT64_MAX,           0 },
        { { (int64_t)1 << 32, (int64_t)1 << 31 }, 2,   8,  XIR_E_LIMIT,  0,                   0 },
        { { INT64_MAX, 2 },                     2,     8,  XIR_E_LIMIT,  0,                   0 },
        { { 4, -1 },                            2,     8,  XIR_E_BOUNDS, 0,                   0 },
        { { -1, -1, 0 },                        3,     8,  XIR_E_BOUNDS, 0,                   0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const xir_type *t = xir_type_tensor(ctx, xir_type_sint(ctx, rows[i].bits), NULL, rows[i].dims, rows[i].rank);
        int64_t elements = -1;
        uint64_t bytes = 99;
        xir_status status = xir_type_elements(t, &elements);
        assert_int_equal(status, rows[i].elements || rows[i].status == XIR_OK ? XIR_OK : rows[i].status);
        assert_int_equal(elements, rows[i].elements);
        assert_int_equal(xir_type_bytes(t, &bytes), rows[i].status);
        assert_true(bytes == rows[i].bytes);
    }
    int64_t elements;
    uint64_t bytes;
    assert_int_equal(xir_type_elements(fp32(), &elements), XIR_OK);
    assert_int_equal(elements, 1);
    assert_int_equal(xir_type_bytes(xir_type_uint(ctx, 9), &bytes), XIR_OK);
    assert_int_equal(bytes, 2);
    assert_int_equal(xir_type_elements(NULL, &elements), XIR_E_UNKNOWN);
    assert_int_equal(xir_type_bytes(NULL, &bytes), XIR_E_UNKNOWN);
    assert_int_equal(xir_type_storage_bits(NULL), 0);
}

/* A type of an unregistered class is kept, and answers no question. */
static void foreign_types(void **state) {
    (void)state;
    const xir_object opaque = { .cls = class_opaque(ctx, XIR_STR("vendor::Posit"), false) };
    const xir_type *t = (const xir_type *)pool_intern(context_pool(ctx), &opaque);
    assert_int_equal(xir_type_kind_of(t), XIR_TYPE_OTHER);
    assert_false(xir_type_is_scalar(t));
    assert_false(xir_type_is_quantized(t));
    assert_ptr_equal(xir_type_storage(t), t);
    assert_int_equal(xir_type_storage_bits(t), 0);
    int64_t elements;
    uint64_t bytes;
    const xir_type *tensor = XIR_TENSOR(ctx, t, "N", 4);
    assert_int_equal(xir_type_storage_bits(tensor), 0);
    assert_int_equal(xir_type_elements(tensor, &elements), XIR_OK);
    assert_int_equal(xir_type_bytes(tensor, &bytes), XIR_E_UNKNOWN);
    assert_int_equal(xir_type_elements(t, &elements), XIR_E_UNKNOWN);
}

/* A body with holes, as a reader without checks leaves it. */
static void broken_types(void **state) {
    (void)state;
    const xir_object *distrs[] = { NULL, read_text("@merged_distr([1]^ZERO:{v:[0, 3)})"), NULL };
    const int64_t axes[] = { 1 }, other[] = { 0 }, shape[] = { 2, 3 };
    const xir_tensor_type body = {
        .head.cls = ctx->types[CLASS_tensor_type], .shape = { shape, 2 }, .merged_distrs = { distrs, 3 },
    };
    const xir_type *t = (const xir_type *)pool_intern(context_pool(ctx), &body.head);
    assert_null(xir_type_element(t));
    assert_null(xir_type_storage(t));
    assert_null(xir_type_expressed(t));
    assert_int_equal(xir_type_storage_bits(t), 0);
    assert_null(xir_type_layout(t));
    assert_int_equal(xir_type_dim(t, 1, true), 3);
    assert_int_equal(xir_type_axis_dim(t, 'C', true), 0);
    assert_int_equal(xir_type_channels(t), 0);
    assert_false(xir_type_is_layouted(t));
    uint64_t bytes;
    assert_int_equal(xir_type_bytes(t, &bytes), XIR_E_UNKNOWN);
    assert_ptr_equal(xir_type_distr(t, axes, 1), distrs[1]);
    assert_null(xir_type_distr(t, other, 1));
    assert_null(xir_type_scale(t));
    assert_null(xir_type_with_scale(ctx, t, NULL, NULL));

    /* its rules name missing fields; a change of one thing keeps the others */
    xir_infer view = { .ctx = ctx, .cls = body.head.cls, .attrs = t, .why = why };
    assert_int_equal(xir_tensor_type_check(&view), XIR_E_INVALID);
    assert_int_equal(xir_diags_count(why), 3);
    check_finding(XIR_E_INVALID, "expected a distribution, found none");
    assert_null(xir_type_with_layout(ctx, t, read_text("@layout(NC)"), why));
    check_finding(XIR_E_INVALID, "expected a distribution, found none");
    const xir_type *now = xir_type_mark_distr(ctx, t, axes, 1, 0, 1, false, why);
    assert_int_equal(xir_type_as_tensor(now)->merged_distrs.size, 3);
    assert_null(xir_type_as_tensor(now)->merged_distrs.data[2]);
    CHECK_SPELLED(xir_type_as_tensor(now)->merged_distrs.data[1],
                  "@merged_distr([1]^ZERO:{u:[0, 1), v:[1, 3)})");
    assert_int_equal(xir_type_as_tensor(xir_type_remove_distr(ctx, t, axes, 1, why))->merged_distrs.size, 2);
    assert_int_equal(xir_type_as_tensor(xir_type_add_distr(ctx, t, other, 1, why))->merged_distrs.size, 4);

    const xir_quantized_type holes = { .head.cls = ctx->types[CLASS_quantized_type] };
    const xir_type *q = (const xir_type *)pool_intern(context_pool(ctx), &holes.head);
    assert_null(xir_type_storage(q));
    assert_null(xir_type_expressed(q));
    assert_null(xir_type_scale(q));
    assert_int_equal(xir_type_storage_bits(q), 0);
    const xir_integer_type wide = { .head.cls = ctx->types[CLASS_integer_type], .ibits = -8 };
    assert_int_equal(xir_type_storage_bits((const xir_type *)pool_intern(context_pool(ctx), &wide.head)), 0);
    const xir_float_type strange = { { .cls = ctx->types[CLASS_float_type] }, (xir_float_format)7 };
    const xir_type *f = (const xir_type *)pool_intern(context_pool(ctx), &strange.head);
    assert_int_equal(xir_type_storage_bits(f), 0);
    CHECK_SPELLED(f, "@fp(32)");
}

static void tensor_variants(void **state) {
    (void)state;
    const xir_type *t = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 2, 3, 4);
    assert_ptr_equal(xir_type_with_element(ctx, t, xir_type_sint(ctx, 8), why),
                     XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "NHWC", 1, 2, 3, 4));
    assert_null(xir_type_with_element(ctx, t, t, why));
    check_finding(XIR_E_TYPE, "expected a scalar type as element, found a tensor");
    assert_null(xir_type_with_element(ctx, t, NULL, why));
    check_finding(XIR_E_TYPE, "found none");
    assert_null(xir_type_with_element(ctx, fp32(), fp32(), why));
    check_finding(XIR_E_TYPE, "expected a tensor type, found another one");
    assert_null(xir_type_with_shape(ctx, NULL, NULL, 0, why));
    check_finding(XIR_E_TYPE, "expected a tensor type, found none");

    assert_ptr_equal(xir_type_with_layout(ctx, t, read_text("@layout(NCHW)"), why),
                     XIR_TENSOR(ctx, fp32(), "NCHW", 1, 2, 3, 4));
    assert_ptr_equal(xir_type_with_layout(ctx, t, NULL, why), XIR_TENSOR(ctx, fp32(), NULL, 1, 2, 3, 4));
    assert_null(xir_type_with_layout(ctx, t, read_text("@layout(NC)"), why));
    check_finding(XIR_E_INVALID, "layout NC has 2 axes, expected 4 for a shape of 4 dims");
    assert_null(xir_type_with_layout(ctx, t, read_text("@layout(NHCc5)"), why));
    check_finding(XIR_E_INVALID,
                  "axis 3 of layout NHCc5 has the unit 5, expected dim 3 to be that, found 4");
    assert_non_null(xir_type_with_layout(ctx, XIR_TENSOR(ctx, fp32(), "NHWC", 1, 2, 3, -1),
                                         read_text("@layout(NHCc5)"), why));

    const int64_t dims[] = { 7, 2, 3, 4, 5 };
    assert_ptr_equal(xir_type_with_shape(ctx, t, dims, 4, why), XIR_TENSOR(ctx, fp32(), "NHWC", 7, 2, 3, 4));
    assert_null(xir_type_with_shape(ctx, t, dims, 5, why));
    check_finding(XIR_E_INVALID, "layout NHWC has 4 axes, expected 5 for a shape of 5 dims");
    const xir_type *stars = XIR_TENSOR(ctx, fp32(), NULL, 1, 2);
    assert_ptr_equal(xir_type_with_shape(ctx, stars, dims, 5, why),
                     XIR_TENSOR(ctx, fp32(), NULL, 7, 2, 3, 4, 5));
    assert_ptr_equal(xir_type_with_shape(ctx, stars, NULL, 0, why), xir_type_tensor(ctx, fp32(), NULL, NULL, 0));

    /* a type that did not fit can be changed to fit */
    assert_non_null(xir_type_with_shape(ctx, XIR_TENSOR(ctx, fp32(), "NHWC", 9), dims, 4, why));
}

static void distr_variants(void **state) {
    (void)state;
    static const int64_t a_1[] = { 1 }, a_1_2[] = { 1, 2 }, a_9[] = { 9 }, a_neg[] = { -1 }, a_twice[] = { 1, 1 };
    const xir_type *t = XIR_TENSOR(ctx, fp32(), "NHWC", 1, 2, 3, 4);
    const xir_type *one = xir_type_add_distr(ctx, t, a_1_2, 2, why);
    const xir_type *two = xir_type_add_distr(ctx, one, a_1, 1, why);
    assert_ptr_equal(xir_type_remove_distr(ctx, one, a_1_2, 2, why), t);
    assert_int_equal(xir_type_as_tensor(xir_type_remove_distr(ctx, two, a_1_2, 2, why))->merged_distrs.size, 1);
    assert_ptr_equal(xir_type_remove_distr(ctx, two, a_1, 1, why), one);
    assert_null(xir_type_remove_distr(ctx, one, a_1, 1, why));
    check_finding(XIR_E_MISSING, "expected a distribution over [1], found none");

    const xir_type *marked = xir_type_mark_distr(ctx, two, a_1_2, 2, 1, 4, false, why);
    CHECK_SPELLED(xir_type_distr(marked, a_1_2, 2),
                  "@merged_distr([1, 2]^ZERO:{v:[0, 1), u:[1, 4), v:[4, 6)})");
    CHECK_SPELLED(xir_type_distr(marked, a_1, 1), "@merged_distr([1]^ZERO:{v:[0, 2)})");
    assert_ptr_equal(xir_type_mark_distr(ctx, marked, a_1_2, 2, 1, 4, true, why), two);
    assert_null(xir_type_mark_distr(ctx, two, a_1_2, 2, 1, 7, false, why));
    check_finding(XIR_E_BOUNDS, "expected a part of 6 elements, found [1, 7)");

    const xir_distr *d = read_text("@merged_distr([1]^NONE:{u:[0, 2)})");
    assert_ptr_equal(xir_type_distr(xir_type_set_distr(ctx, two, d, why), a_1, 1), d);
    assert_null(xir_type_set_distr(ctx, t, d, why));
    check_finding(XIR_E_MISSING, "expected a distribution over [1], found none");
    assert_null(xir_type_set_distr(ctx, two, read_text("@merged_distr([1]^NONE:{u:[0, 3)})"), why));
    check_finding(XIR_E_INVALID, "the distribution has 3 elements, the dims that it merges have 2");
    assert_null(xir_type_set_distr(ctx, fp32(), d, why));
    check_finding(XIR_E_TYPE, "expected a tensor type, found another one");
    assert_null(xir_type_set_distr(ctx, two, NULL, why));
    check_finding(XIR_E_MISSING, "expected a distribution, found none");

    assert_null(xir_type_add_distr(ctx, t, a_9, 1, why));
    check_finding(XIR_E_BOUNDS, "expected known dims below 4, found 9");
    assert_null(xir_type_add_distr(ctx, t, a_neg, 1, why));
    check_finding(XIR_E_BOUNDS, "expected known dims below 4, found -1");
    assert_null(xir_type_add_distr(ctx, XIR_TENSOR(ctx, fp32(), "NC", 4, -1), a_1, 1, why));
    check_finding(XIR_E_BOUNDS, "expected known dims below 2, found 1");
    assert_null(xir_type_add_distr(ctx, t, a_twice, 2, why));
    check_finding(XIR_E_INVALID, "the distribution merges dim 1 twice, expected it once");
    assert_null(xir_type_add_distr(ctx, XIR_TENSOR(ctx, fp32(), NULL, 1, INT64_MAX, 2), a_1_2, 2, why));
    check_finding(XIR_E_LIMIT, "found dims that have more");
    const xir_type *empty = xir_type_add_distr(ctx, XIR_TENSOR(ctx, fp32(), NULL, 1, 0, 2), a_1_2, 2, why);
    CHECK_SPELLED(xir_type_distr(empty, a_1_2, 2), "@merged_distr([1, 2]^ZERO:{})");

    /* a shape that the distributions do not fit is refused */
    assert_null(xir_type_with_shape(ctx, one, (const int64_t[]){ 1, 2, 5, 4 }, 4, why));
    check_finding(XIR_E_INVALID, "the distribution has 6 elements, the dims that it merges have 10");
    assert_non_null(xir_type_with_shape(ctx, one, (const int64_t[]){ 1, 3, 2, 4 }, 4, why));

    /* more of them than fit a small array */
    const xir_type *many = XIR_TENSOR(ctx, fp32(), NULL, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    for (int64_t i = 0; i < 12; i++) many = xir_type_add_distr(ctx, many, &i, 1, why);
    for (int64_t i = 0; i < 12; i++) assert_int_equal(xir_distr_total(xir_type_distr(many, &i, 1)), i + 1);
    for (int64_t i = 0; i < 12; i++) many = xir_type_remove_distr(ctx, many, &i, 1, why);
    assert_int_equal(xir_type_as_tensor(many)->merged_distrs.size, 0);
}

/* ---- rules of validate --------------------------------------------------------------------------------------- */

static xir_status checked(const char *layout, const int64_t *dims, size_t rank, const char *distr) {
    const xir_object *list[1] = { distr ? read_text(distr) : NULL };
    xir_tensor_type t = xir_tensor_type_init();
    t.element_dtype = xir_type_float(ctx, XIR_FLOAT_FP32);
    t.layout = read_text(layout);
    t.shape = (xir_i64s){ dims, rank };
    t.merged_distrs = (xir_refs){ list, distr != NULL };
    const xir_tensor_type *made = xir_tensor_type_make(ctx, &t, why);
    assert_true((made == NULL) == (xir_diags_count(why) > 0));
    return made ? XIR_OK : XIR_E_INVALID;
}

static void check_fault(const char *path, const char *sentence) {
    const xir_diag *d = xir_diags_at(why, xir_diags_count(why) - 1);
    size_t size = strlen(sentence);
    assert_true(d->message.size > size);
    assert_memory_equal(d->message.data + d->message.size - size, sentence, size);
    assert_int_equal(d->path.size, strlen(path));
    assert_memory_equal(d->path.data, path, d->path.size);
    check_finding(XIR_E_INVALID, sentence);
}

static void rules(void **state) {
    (void)state;
    static const int64_t dims[] = { 1, 4, 9, 8, 32 };
    assert_int_equal(checked("@layout(NCHWc32)", dims, 5, NULL), XIR_OK);
    assert_int_equal(checked("@layout(*****)", dims, 5,
                             "@merged_distr([1, 4]^ZERO:{v:[0, 100), u:[100, 128)})"), XIR_OK);
    assert_int_equal(checked("@layout()", dims, 0, "@merged_distr([]^ZERO:{v:[0, 1)})"), XIR_OK);
    assert_int_equal(checked("@layout(NCHWc32)", (const int64_t[]){ -1, -1, -1, -1, -1 }, 5,
                             "@merged_distr([1, 4]^ZERO:{v:[0, 7)})"), XIR_OK);
    static const int64_t none_valid[] = { 5, 0 };
    assert_int_equal(checked("@layout(NC)", none_valid, 2, "@merged_distr([0, 1]^ZERO:{})"), XIR_OK);

    assert_int_equal(checked("@layout(NHWC)", dims, 1, NULL), XIR_E_INVALID);
    check_fault("/layout", "layout NHWC has 4 axes, expected 1 for a shape of 1 dim");
    assert_int_equal(checked("@layout(N)", dims, 5, NULL), XIR_E_INVALID);
    check_fault("/layout", "layout N has 1 axis, expected 5 for a shape of 5 dims");
    assert_int_equal(checked("@layout(NCHWc16)", dims, 5, NULL), XIR_E_INVALID);
    check_fault("/layout",
                "axis 4 of layout NCHWc16 has the unit 16, expected dim 4 to be that, found 32");
    assert_int_equal(checked("@layout(NOHWc32)", dims, 5, NULL), XIR_E_INVALID);
    check_fault("/layout", "axis 4 is the unit c32, expected an axis C with it, found none");
    assert_int_equal(checked("@layout(NCHHW)", dims, 5, NULL), XIR_E_INVALID);
    check_fault("/layout", "axes 2 and 3 are both H, expected each letter once");
    assert_int_equal(checked("@layout(*****)", dims, 5, "@merged_distr([1, 5]^ZERO:{v:[0, 4)})"),
                     XIR_E_INVALID);
    check_fault("/merged_distrs/0", "the distribution merges dim 5, expected a dim below 5");
    assert_int_equal(checked("@layout(*****)", dims, 5, "@merged_distr([-1]^ZERO:{v:[0, 32)})"),
                     XIR_E_INVALID);
    check_fault("/merged_distrs/0", "the distribution merges dim -1, expected a dim below 5");
    assert_int_equal(checked("@layout(*****)", dims, 5, "@merged_distr([1, 4, 1]^ZERO:{v:[0, 512)})"),
                     XIR_E_INVALID);
    check_fault("/merged_distrs/0", "the distribution merges dim 1 twice, expected it once");
    assert_int_equal(checked("@layout(*****)", dims, 5, "@merged_distr([1, 4]^ZERO:{v:[0, 127)})"),
                     XIR_E_INVALID);
    check_fault("/merged_distrs/0", "the distribution has 127 elements, the dims that it merges have 128");
    assert_int_equal(checked("@layout(**)", (const int64_t[]){ 5, 0 }, 2,
                             "@merged_distr([0, 1]^ZERO:{v:[0, 5)})"), XIR_E_INVALID);
    check_fault("/merged_distrs/0", "the distribution has 5 elements, the dims that it merges have 0");
    assert_int_equal(checked("@layout(**)", (const int64_t[]){ INT64_MAX, 2 }, 2,
                             "@merged_distr([0, 1]^ZERO:{v:[0, 127)})"), XIR_E_INVALID);
    check_fault("/merged_distrs/0",
                "the distribution has 127 elements, the dims that it merges have more than 2^63");

    /* every fault, not only the first */
    checked("@layout(Nc16o8)", dims, 5, "@merged_distr([7]^ZERO:{})");
    assert_int_equal(xir_diags_count(why), 6);
    xir_diags_clear(why);
}

/* ---- contexts ------------------------------------------------------------------------------------------------ */

/* Objects that every context has; an object of another context is taken in when it becomes part of an object. */
static void contexts(void **state) {
    (void)state;
    assert_ptr_equal(ctx->host, xir_target_of_kind(ctx, XIR_TARGET_HOST, NULL));
    assert_ptr_equal(ctx->fp32, fp32());
    CHECK_SPELLED(ctx->no_scales, "@scales([axis=-1])");
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        assert_non_null(ctx->types[i]);
        assert_ptr_equal(xir_class_find(ctx, ctx->types[i]->key), ctx->types[i]);
    }
    assert_ptr_equal(xir_class_base(ctx->types[CLASS_exp_scales]), ctx->types[CLASS_scales]);
    object_pool pool;
    pool_init(&pool, ctx, NULL);
    const xir_type *own = type_tensor(&pool, fp32(), NULL, (xir_i64s){ 0 }, (xir_refs){ 0 });
    assert_ptr_not_equal(own, xir_type_tensor(ctx, fp32(), NULL, NULL, 0));
    assert_true(xir_type_equal(own, xir_type_tensor(ctx, fp32(), NULL, NULL, 0)));
    assert_ptr_not_equal(xir_type_element(own), fp32());
    assert_ptr_equal(xir_type_element(own), type_float(&pool, XIR_FLOAT_FP32));
    pool_free(&pool);
}

static bool work(xir_context *with) {
    xir_diags *findings = xir_diags_new(with);
    form_error e = { 0 };
    object_pool *pool = context_pool(with);
    bool done = findings != NULL;
    static const char *const texts[] = {
        "@fpgat", "@zhuget(340)", "@ocm(5)", "@chunk(1@2)", "@bool", "@sint(9)", "@bf(16)", "@fpe7m8",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const xir_object *object = form_parse(pool, xir_str_of(texts[i]), &e);
        assert_true(object || e.status == XIR_E_MEMORY);
        done &= object != NULL;
    }
    done &= xir_target_of_kind(with, XIR_TARGET_BUYI, NULL) && xir_mtype_external(with, 5) &&
            xir_type_uint(with, 3);
    static const int64_t a_0[] = { 0 }, a_1[] = { 1 };
    const xir_type *t = xir_type_float(with, XIR_FLOAT_FP16);
    t = t ? XIR_TENSOR(with, t, "NC", 5, 6) : NULL;
    if (!t) done = false;
    for (int64_t i = 0; t && i < 2; i++) {
        t = xir_type_add_distr(with, t, i ? a_1 : a_0, 1, findings);
        if (t) t = xir_type_mark_distr(with, t, i ? a_1 : a_0, 1, 1, 2, false, findings);
        done &= t != NULL;
    }
    const xir_type *stars = xir_type_bool(with);
    stars = stars ? XIR_TENSOR(with, stars, NULL, 4, 5) : NULL;
    done &= stars && xir_type_with_shape(with, stars, (const int64_t[]){ 1, 2, 3, 4, 5 }, 5, findings);
    stars = stars ? XIR_TENSOR(with, xir_type_element(stars), NULL, 1, 2, 3, 4, 5, 6, 7, 8, 9) : NULL;
    for (int64_t i = 0; stars && i < 9; i++) stars = xir_type_add_distr(with, stars, &i, 1, findings);
    done &= stars != NULL;
    if (t) {
        done &= xir_type_with_layout(with, t, NULL, findings) != NULL;
        done &= xir_type_with_shape(with, t, (const int64_t[]){ 5, 6 }, 2, findings) != NULL;
        done &= xir_type_remove_distr(with, t, a_0, 1, findings) != NULL;
        const xir_type *bits = xir_type_sint(with, 2);
        done &= bits && xir_type_with_element(with, t, bits, findings);
    }
    for (size_t i = 0; i < xir_diags_count(findings); i++) {
        assert_int_equal(xir_diags_at(findings, i)->code, XIR_E_MEMORY);
    }
    xir_diags_free(findings);
    return done;
}

static void without_memory(void **state) {
    (void)state;
    check_memory(work);
}

/* ---- real files ---------------------------------------------------------------------------------------------- */

/* Every "@…" of a file is read and printed unchanged. Returns how many there are. */
static size_t check_file(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    text[size] = '\0';
    fclose(f);
    size_t n = 0;
    for (char *at = text; (at = strstr(at, "\"@")) != NULL; n++) {
        char *end = strchr(++at, '"');
        assert_non_null(end);
        *end = '\0';
        CHECK_ROUND(at);
        at = end + 1;
    }
    free(text);
    return n;
}

static void real_files(void **state) {
    (void)state;
    static const char *const names[] = { "superpoint_test_softmax_BY", "yolov5s_plin_352x640_ZG" };
    const char *corpus = CORPUS_OR_SKIP();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[600];
        snprintf(path, sizeof path, "%s/icraft/%s.json", corpus, names[i]);
        assert_true(check_file(path) > 100);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(original_memory_types),
        cmocka_unit_test(original_types),
        cmocka_unit_test(original_distributions),
        cmocka_unit_test(targets),
        cmocka_unit_test(bad_targets_say_where),
        cmocka_unit_test(memory_types),
        cmocka_unit_test(scalar_types),
        cmocka_unit_test(bad_scalar_types_say_where),
        cmocka_unit_test(damaged_ones),
        cmocka_unit_test(forms_do_not_mix),
        cmocka_unit_test(making_tensors),
        cmocka_unit_test(dims),
        cmocka_unit_test(sizes),
        cmocka_unit_test(foreign_types),
        cmocka_unit_test(broken_types),
        cmocka_unit_test(tensor_variants),
        cmocka_unit_test(distr_variants),
        cmocka_unit_test(rules),
        cmocka_unit_test(contexts),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(real_files),
    };
    return RUN_GROUP(tests);
}
