/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classes and their objects: what a class answers, what registration refuses, which objects are made and which are
 * refused. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xir/icraft.h>
#include "support/net.h"
#include "support/own.h"

/* ---- a context with classes of a program ------------------------------------------------------------------------ */

xir_status own_mix_infer(xir_infer *at);   /* support/own.c */
static xir_status infer_as_bool(xir_infer *at) { return xir_infer_result(at, xir_type_bool(xir_infer_context(at))); }

static xir_context *own;

static int own_begin(void **state) {
    (void)state;
    own = xir_context_new(NULL);
    if (!own) return -1;
    const xir_class_decl *const all[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(), xir_own_all_class(), xir_own_tap_class() };
    for (size_t i = 0; i < COUNT(all); i++) {
        if (xir_class_register(own, all[i], NULL) != XIR_OK) return -1;
    }
    return 0;
}

static int own_end(void **state) {
    (void)state;
    xir_context_free(own);
    own = NULL;
    return 0;
}

static const xir_class *class_named(xir_context *in, const char *key) {
    const xir_class *cls = xir_class_find(in, xir_str_of(key));
    if (!cls) fail_msg("%s is missing", key);
    return cls;
}

static size_t class_count(xir_context *in) {
    size_t n = 0;
    while (xir_context_class_at(in, n)) n++;
    return n;
}

static xir_own_box a_box(void) {
    static const int64_t marks[] = { 5 };
    xir_own_box box = xir_own_box_init();
    box.where = xir_mtype_host(own);
    box.year = 1984;
    box.load = 1.5;
    box.maker = XIR_STR("me");
    box.marks = (xir_i64s){ marks, 1 };
    return box;
}

static const xir_own_grain *a_grain(int64_t weight) {
    xir_own_grain grain = xir_own_grain_init();
    grain.weight = weight;
    const xir_own_grain *made = xir_own_grain_make(own, &grain, why);
    assert_non_null(made);
    return made;
}

/* ---- built-in classes ------------------------------------------------------------------------------------------- */

static const struct {
    const char           *id;
    const xir_class_decl *(*decl)(void);
} builtin[] = {
#include <xir/decl_blank.h>
#undef OP
#undef OBJ
#define OP(id, tag, key, traits, doc)   { #id, xir_##id##_class },
#define OBJ(id, key, base, traits, doc) { #id, xir_##id##_class },
#include <xir/types.def>
#include <xir/ops/all.def>
#include <xir/decl_off.h>
};

static void every_builtin_class_is_listed_once_in_order(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(builtin); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        assert_ptr_equal(cls, xir_class_find_decl(ctx, builtin[i].decl()));
        assert_string_equal(xir_class_id(cls).data, builtin[i].id);
        assert_ptr_equal(cls, xir_class_find(ctx, xir_class_key(cls)));
        assert_false(xir_class_is_opaque(cls));
    }
    assert_null(xir_context_class_at(ctx, COUNT(builtin)));
    assert_int_equal(xir_class_id(xir_class_opaque(ctx, XIR_STR("nobody::Op"))).size, 0);
    assert_null(xir_class_find(ctx, XIR_STR("icraft::xir::Conv")));
    assert_null(xir_class_find(ctx, XIR_STR("icraft::xir::Conv2dd")));
    assert_null(xir_class_find(ctx, XIR_STR("")));
}

static void everything_is_described(void **state) {
    (void)state;
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)); i++) {
        if (xir_class_doc(cls).size == 0) fail_msg("%s has no description", xir_class_key(cls).data);
        for (size_t k = 0; k < xir_class_field_count(cls); k++) {
            const xir_field *f = xir_class_field_at(cls, k);
            if (f->doc.size == 0) fail_msg("%s of %s has no description", f->name.data, xir_class_key(cls).data);
            assert_ptr_equal(xir_class_field(cls, f->name), f);
        }
        for (size_t k = 0; k < xir_class_input_count(cls); k++) assert_true(xir_class_input_at(cls, k)->doc.size > 0);
        for (size_t k = 0; k < xir_class_output_count(cls); k++) assert_true(xir_class_output_at(cls, k)->doc.size > 0);
        assert_null(xir_class_field_at(cls, xir_class_field_count(cls)));
        assert_null(xir_class_input_at(cls, xir_class_input_count(cls)));
        assert_null(xir_class_output_at(cls, xir_class_output_count(cls)));
    }
}

/* A line for each attribute: name, type, default, least, greatest. */
static void check_fields(const xir_class *cls, const char *const *lines, size_t n) {
    assert_int_equal(xir_class_field_count(cls), n);
    for (size_t i = 0; i < n; i++) {
        const xir_field *f = xir_class_field_at(cls, i);
        char type[80], text[200], preset[24] = "-", least[24] = "-", greatest[24] = "-";
        assert_true(xir_field_type_text(f, type, sizeof type) < sizeof type);
        bool real = f->kind == XIR_KIND_REAL;
        if (f->has_default && (unsigned)f->kind <= XIR_KIND_ENUM && f->kind != XIR_KIND_TEXT) {
            if (real) snprintf(preset, sizeof preset, "%g", f->default_value.r);
            else snprintf(preset, sizeof preset, "%lld", (long long)f->default_value.i);
        } else if (f->default_text.size) {
            snprintf(preset, sizeof preset, "%s", f->default_text.data);
        }
        if (f->has_min && real) snprintf(least, sizeof least, "%g", f->min.r);
        if (f->has_min && !real) snprintf(least, sizeof least, "%lld", (long long)f->min.i);
        if (f->has_max && real) snprintf(greatest, sizeof greatest, "%g", f->max.r);
        if (f->has_max && !real) snprintf(greatest, sizeof greatest, "%lld", (long long)f->max.i);
        snprintf(text, sizeof text, "%.*s %s %s %s %s", (int)f->name.size, f->name.data, type, preset, least, greatest);
        assert_string_equal(text, lines[i]);
    }
}

static void attributes_show_type_default_and_bounds(void **state) {
    (void)state;
    static const char *const conv2d[] = {
        "stride_width int64 1 1 -",
        "stride_height int64 1 1 -",
        "pad_top int64 0 - -",
        "pad_bottom int64 0 - -",
        "pad_left int64 0 - -",
        "pad_right int64 0 - -",
        "dilation_width int64 1 1 -",
        "dilation_height int64 1 1 -",
        "groups int64 1 1 -",
        "padding_mode enum ZEROS|REFLECT|REPLICATE|CIRCULAR 0 - -",
        "cut_scale ref<QuantizedScaleArray> @scales([axis=-1]) - -",
    };
    check_fields(class_named(ctx, "icraft::xir::Conv2d"), conv2d, COUNT(conv2d));
    static const char *const relu[] = { "alpha float 0 - -", "max_value float inf - -", "threshold float 0 - -" };
    check_fields(class_named(ctx, "icraft::xir::ReLU"), relu, COUNT(relu));
    static const char *const integer[] = { "sign bool 1 - -", "ibits int64 - 1 65536" };
    check_fields(class_named(ctx, "icraft::xir::IntegerType"), integer, COUNT(integer));
    static const char *const hard_op[] = {
        "instr list<params> - - -", "params list<params> - - -", "origin_ops_id list<int64> - - -", "device_info map - - -",
        "layer_count int64 0 - -", "sub_hard_ops list<op> - - -",
    };
    check_fields(class_named(ctx, "icraft::xir::HardOp"), hard_op, COUNT(hard_op));
    static const char *const box[] = {
        "open bool 1 - -",
        "sides int64 6 4 20",
        "volume uint64 8 1 4294967296",
        "tilt float 0.1 -1 1",
        "label string none - -",
        "mood enum CALM|ANGRY|ASLEEP 2 - -",
        "where ref<MemType> - - -",
        "lid ref<Thing>? - - -",
        "scale ref<QuantizedScaleArray> @scales([axis=2]) - -",
        "price list<ref<ScalarImm>> 2.5 - -",
        "inside list<ref<Thing>> - - -",
        "notes map - - -",
        "locks list<bool> - - -",
        "sizes list<int64> - - -",
        "angles list<float> - - -",
        "names list<string> - - -",
        "layers runs - - -",
        "year int64 - 1900 -",
        "load float - - 100",
        "maker string - - -",
        "marks list<int64> - - -",
    };
    check_fields(class_named(own, "test::Box"), box, COUNT(box));
    static const char *const mix[] = { "turns int64 2 1 10", "bowl ref<Box> - - -", "recipe params? - - -",
                                       "pages list<params> - - -" };
    check_fields(class_named(own, "test::Mix"), mix, COUNT(mix));
}

static void a_long_type_is_truncated(void **state) {
    (void)state;
    const xir_field *f = xir_class_field(class_named(ctx, "icraft::xir::Conv2d"), XIR_STR("padding_mode"));
    char text[8];
    assert_int_equal(xir_field_type_text(f, text, sizeof text), 37);
    assert_string_equal(text, "enum ZE");
    assert_int_equal(xir_field_type_text(f, NULL, 0), 37);
    assert_string_equal(xir_kind_name(XIR_KIND_I64S), "list<int64>");
    assert_string_equal(xir_kind_name((xir_kind)99), "?");
}

static void a_class_describes_itself(void **state) {
    (void)state;
    const xir_class *conv = class_named(ctx, "icraft::xir::Conv2d"), *relu = class_named(ctx, "icraft::xir::ReLU");
    assert_true(xir_class_is_op(conv));
    assert_int_equal(xir_class_tag(conv), 25);
    assert_null(xir_class_base(conv));
    assert_int_equal(xir_class_traits(relu), XIR_TRAIT_ACTIVATION);
    assert_int_equal(xir_class_traits(class_named(ctx, "icraft::xir::Input")), XIR_TRAIT_SOURCE);
    assert_int_equal(xir_class_traits(class_named(ctx, "icraft::xir::Output")), XIR_TRAIT_SINK);
    assert_int_equal(xir_class_traits(class_named(ctx, "icraft::xir::HardOp")), XIR_TRAIT_FREE | XIR_TRAIT_IMPURE);

    CHECK_STR(xir_class_input_at(conv, 1)->name, "weights");
    assert_int_equal(xir_class_input_at(conv, 1)->decl, XIR_DECL_IN);
    CHECK_STR(xir_class_input_at(conv, 2)->name, "bias");
    assert_int_equal(xir_class_input_at(conv, 2)->decl, XIR_DECL_OPT);
    assert_int_equal(xir_class_output_at(conv, 0)->decl, XIR_DECL_OUT);
    assert_int_equal(xir_class_input_at(class_named(ctx, "icraft::xir::Output"), 0)->decl, XIR_DECL_VAR);
    assert_int_equal(xir_class_output_at(class_named(ctx, "icraft::xir::Input"), 0)->decl, XIR_DECL_OUTS);

    const xir_class *target = class_named(ctx, "icraft::xir::CompileTarget"),
                     *buyi = class_named(ctx, "icraft::xir::BuyiTarget");
    assert_false(xir_class_is_op(buyi));
    assert_ptr_equal(xir_class_base(buyi), target);
    assert_true(xir_class_is_a(buyi, target));
    assert_true(xir_class_is_a(buyi, buyi));
    assert_false(xir_class_is_a(target, buyi));
    assert_false(xir_class_is_a(conv, target));
    assert_false(xir_class_is_a(NULL, NULL));
    const xir_class *exp = class_named(ctx, "icraft::xir::ExpQuantizedScaleArray");
    assert_true(xir_class_is_a(exp, class_named(ctx, "icraft::xir::QuantizedScaleArray")));
}

static void an_old_key_finds_the_class(void **state) {
    (void)state;
    assert_ptr_equal(class_named(ctx, "icraft::xir::Relu"), class_named(ctx, "icraft::xir::ReLU"));
    CHECK_STR(xir_class_key(class_named(ctx, "icraft::xir::Maxpool")), "icraft::xir::MaxPool2d");
    CHECK_STR(xir_class_key(class_named(own, "test::OldBox")), "test::Box");
    CHECK_STR(xir_class_key(class_named(own, "test::OlderBox")), "test::Box");
    CHECK_STR(xir_class_key(class_named(own, "test::Blend")), "test::Mix");
}

static void an_old_name_of_an_attribute_is_found(void **state) {
    (void)state;
    const xir_class *box = class_named(own, "test::Box");
    assert_ptr_equal(xir_class_field(box, XIR_STR("faces")), xir_class_field(box, XIR_STR("sides")));
    assert_null(xir_class_field(box, XIR_STR("_type_key")));
    assert_null(xir_class_field(class_named(own, "test::Mix"), XIR_STR("inputs")));
}

/* ---- registering ------------------------------------------------------------------------------------------------ */

static void registering_again_succeeds(void **state) {
    (void)state;
    size_t n = class_count(own);
    DOES(xir_class_register(own, xir_own_box_class(), why));
    DOES(xir_class_register(own, xir_conv2d_class(), why));
    assert_int_equal(class_count(own), n);
    assert_int_equal(xir_diags_count(why), 0);
}

static void a_class_belongs_to_its_context(void **state) {
    (void)state;
    assert_null(xir_class_find_decl(ctx, xir_own_box_class()));
    assert_null(xir_class_find(ctx, XIR_STR("test::Box")));
    assert_ptr_not_equal(class_named(ctx, "icraft::xir::ReLU"), class_named(own, "icraft::xir::ReLU"));
}

/* Rows made by hand, as a plug-in might have them. */
typedef struct bad_body {
    xir_object head;
    int64_t    i, j;
    uint64_t   u;
    double     r;
    bool       b;
    int        e;
    xir_refs   list;
    const void *ref;
} bad_body;
typedef struct bad_ports { xir_value *a; xir_values many; } bad_ports;

static const xir_class_decl *bad_thing_class(void);   /* never registered */

#define HEAD_OBJ        { .decl = XIR_DECL_OBJ, .name = "test::Bad", .doc = "bad", .offset = sizeof(bad_body) }
#define HEAD_OP \
    { .decl = XIR_DECL_OP, .name = "test::Bad", .doc = "bad", .offset = sizeof(bad_body), \
      .min = { .i = sizeof(bad_ports) } }
#define ROW(k, n, ...) \
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_##k, .name = #n, .doc = "", .offset = offsetof(bad_body, n), \
      __VA_ARGS__ }
#define ANY_NUMBER      .min = { .i = INT64_MIN }, .max = { .i = INT64_MAX }
#define LAST            { .decl = XIR_DECL_END }

typedef struct bad_class {
    const char *moral;
    xir_status  status;
    const char *part;
    xir_row     rows[6];
} bad_class;

static const bad_class bad_classes[] = {
    { "a default below its bound",   XIR_E_INVALID, "'i'",  { HEAD_OBJ, ROW(I64, i, .default_value = { .i = 0 }, .min = { .i = 1 }, .max = { .i = INT64_MAX }), LAST } },
    { "a default above its bound",   XIR_E_INVALID, "'i'",  { HEAD_OBJ, ROW(I64, i, .default_value = { .i = 9 }, .min = { .i = INT64_MIN }, .max = { .i = 8 }), LAST } },
    { "an unsigned default below",   XIR_E_INVALID, "'u'",  { HEAD_OBJ, ROW(U64, u, .default_value = { .i = 2 }, .min = { .i = 3 }, .max = { .i = INT64_MAX }), LAST } },
    { "a real default below",        XIR_E_INVALID, "'r'",  { HEAD_OBJ, ROW(REAL, r, .default_value = { .r = -2 }, .min = { .r = -1 }, .max = { .r = 1 }), LAST } },
    { "bounds that leave nothing",   XIR_E_INVALID, "'i'",  { HEAD_OBJ, ROW(I64, i, .min = { .i = 3 }, .max = { .i = 2 }, .flags = XIR_FIELD_REQUIRED), LAST } },
    { "two attributes of one name",  XIR_E_INVALID, "'i' twice", { HEAD_OBJ, ROW(I64, i, ANY_NUMBER), ROW(I64, i, ANY_NUMBER), LAST } },
    { "an old name of nothing",      XIR_E_INVALID, "'was'", { HEAD_OBJ, ROW(I64, i, ANY_NUMBER), { .decl = XIR_DECL_WAS, .name = "j", .doc = "was" }, LAST } },
    { "an old name that is a name",  XIR_E_INVALID, "'i' twice", { HEAD_OBJ, ROW(I64, i, ANY_NUMBER), ROW(I64, j, ANY_NUMBER), { .decl = XIR_DECL_WAS, .name = "j", .doc = "i" }, LAST } },
    { "a name that every op has",    XIR_E_INVALID, "'inputs' twice", { HEAD_OP, { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "inputs", .doc = "", .offset = offsetof(bad_body, i), ANY_NUMBER }, LAST } },
    { "a name that every object has", XIR_E_INVALID, "'_type_key' twice", { HEAD_OBJ, { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "_type_key", .doc = "", .offset = offsetof(bad_body, i), ANY_NUMBER }, LAST } },
    { "a row outside of the body",   XIR_E_INVALID, "'i'",  { HEAD_OBJ, { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "i", .doc = "", .offset = sizeof(bad_body), ANY_NUMBER }, LAST } },
    { "a row in the object's head",  XIR_E_INVALID, "'i'",  { HEAD_OBJ, { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "i", .doc = "", .offset = 0, ANY_NUMBER }, LAST } },
    { "a body smaller than a head",  XIR_E_INVALID, "test::Bad", { { .decl = XIR_DECL_OBJ, .name = "test::Bad", .doc = "bad", .offset = 8 }, LAST } },
    { "a kind that nobody knows",    XIR_E_INVALID, "'i'",  { HEAD_OBJ, { .decl = XIR_DECL_FIELD, .kind = (xir_kind)77, .name = "i", .doc = "", .offset = offsetof(bad_body, i) }, LAST } },
    { "a word of no enum",           XIR_E_INVALID, "'e'",  { HEAD_OBJ, ROW(ENUM, e, .default_value = { .i = 3 }, .members = xir_own_mood_enum), LAST } },
    { "an enum without words",       XIR_E_INVALID, "'e'",  { HEAD_OBJ, ROW(ENUM, e, .default_value = { .i = 0 }), LAST } },
    { "a default that is invalid",   XIR_E_INVALID, "@scales(", { HEAD_OBJ, ROW(REF, ref, .of = xir_scales_class, .default_text = "@scales("), LAST } },
    { "a default of another class",  XIR_E_INVALID, "'ref'", { HEAD_OBJ, ROW(REF, ref, .of = xir_scales_class, .default_text = "@hostm"), LAST } },
    { "an unknown class referred to", XIR_E_UNKNOWN, "test::Nothing", { HEAD_OBJ, ROW(REF, ref, .of = bad_thing_class, .flags = XIR_FIELD_OPTIONAL), LAST } },
    { "an unknown base",             XIR_E_UNKNOWN, "test::Nothing", { { .decl = XIR_DECL_OBJ, .name = "test::Bad", .doc = "bad", .offset = sizeof(bad_body), .of = bad_thing_class }, LAST } },
    { "an alias that is taken",      XIR_E_EXISTS,  "test::OldBox", { HEAD_OBJ, { .decl = XIR_DECL_ALIAS, .name = "test::OldBox" }, LAST } },
    { "an unknown target",           XIR_E_INVALID, "infers for no known target", { HEAD_OP, { .decl = XIR_DECL_INFER, .fn = own_mix_infer, .target = XIR_TARGET_COUNT }, LAST } },
    { "inputs after any number",     XIR_E_INVALID, "many", { HEAD_OP, { .decl = XIR_DECL_VAR, .name = "many", .offset = offsetof(bad_ports, many) }, { .decl = XIR_DECL_IN, .name = "a", .offset = offsetof(bad_ports, a) }, LAST } },
};

#define MAP_OF(...)     { { .decl = XIR_DECL_OP, .name = "test::Bad", .doc = "bad", .offset = sizeof(bad_map),         \
                            .min = { .i = sizeof(bad_ports) } },                                                       \
                          { .decl = XIR_DECL_IN, .name = "a", .offset = offsetof(bad_ports, a) },              \
                          { .decl = XIR_DECL_OUT, .name = "y" }, __VA_ARGS__, LAST }
#define MAP_ROW(k, n, ...) \
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_##k, .name = #n, .doc = "", .offset = offsetof(bad_map, n), \
      __VA_ARGS__ }
#define AXIS            MAP_ROW(I64, axis, ANY_NUMBER)
#define AXES            MAP_ROW(I64S, axes, .flags = 0)
#define LAYOUT_OF(text) { .decl = XIR_DECL_LAYOUT, .doc = text }

typedef struct bad_map {
    int64_t    axis;
    xir_i64s   axes;
    bool       keep;
    const void *ref;
} bad_map;

typedef struct bad_layout {
    const char *part;
    xir_row     rows[8];
} bad_layout;

/* LAYOUT rows that contradict their class or themselves. */
static const bad_layout bad_layouts[] = {
    { "expected a kind such as SAME, found ''",                   MAP_OF(LAYOUT_OF("")) },
    { "expected a kind such as SAME, found 'SIDEWAYS'",           MAP_OF(LAYOUT_OF("SIDEWAYS, AXIS, axis")) },
    { "expected a flag or a form such as AXIS, found 'axis'", MAP_OF(AXIS, LAYOUT_OF("SAME, axis")) },
    { "the class has no attribute 'axes'",                        MAP_OF(AXIS, LAYOUT_OF("SAME, AXIS, axes")) },
    { "the class has no attribute 'CHANNELS'",                    MAP_OF(AXIS, LAYOUT_OF("SAME, AXIS, CHANNELS")) },
    { "AXIS needs 1 attributes, found 0",                         MAP_OF(AXIS, LAYOUT_OF("SAME, AXIS")) },
    { "'axis' is one attribute too many for AXIS",                MAP_OF(AXIS, LAYOUT_OF("SAME, AXIS, axis, axis")) },
    { "'keep' is one attribute too many for AXIS",                MAP_OF(AXIS, MAP_ROW(BOOL, keep, .flags = 0), LAYOUT_OF("SAME, AXIS, axis, keep")) },
    { "attribute 'axes' is of kind list<int64>, expected int64 for AXIS", MAP_OF(AXES, LAYOUT_OF("SAME, AXIS, axes")) },
    { "attribute 'axis' is of kind int64, expected list<int64> for AXES", MAP_OF(AXIS, LAYOUT_OF("LOSE, AXES, axis")) },
    { "attribute 'axis' is of kind int64, expected params for FACTORS",   MAP_OF(AXIS, LAYOUT_OF("EACH, FACTORS, axis")) },
    { "attribute 'ref' refers to icraft::xir::Layout, expected icraft::xir::TensorType for TYPE",
      MAP_OF(MAP_ROW(REF, ref, .of = xir_layout_class, .flags = XIR_FIELD_REQUIRED), LAYOUT_OF("SAME, TYPE, ref")) },
    { "attribute 'ref' refers to any class, expected icraft::xir::IntImm for AXIS_REF",
      MAP_OF(MAP_ROW(REF, ref, .flags = XIR_FIELD_OPTIONAL), LAYOUT_OF("LOSE, AXIS_REF, ref")) },
    { "attribute 'ref' may be null, which TYPE does not allow",
      MAP_OF(MAP_ROW(REF, ref, .of = xir_tensor_type_class, .flags = XIR_FIELD_OPTIONAL),
             LAYOUT_OF("SAME, TYPE, ref")) },
    { "EACH does not go with AXIS",                               MAP_OF(AXIS, LAYOUT_OF("EACH, AXIS, axis")) },
    { "ANCHOR does not go with CHANNELS",                         MAP_OF(LAYOUT_OF("ANCHOR, CHANNELS")) },
    { "GATHER needs an attribute that names axes",                MAP_OF(AXIS, LAYOUT_OF("GATHER")) },
    { "GATHER needs 2 inputs and an output",                      MAP_OF(AXIS, LAYOUT_OF("GATHER, AXIS, axis")) },
    { "BATCH needs CHANNELS",                                     MAP_OF(LAYOUT_OF("SAME, BATCH")) },
    { "IN_TURN needs a list of axes",                             MAP_OF(AXIS, LAYOUT_OF("SAME, IN_TURN, AXIS, axis")) },
    { "the class has two of these rows",                          MAP_OF(LAYOUT_OF("EACH"), LAYOUT_OF("EACH")) },
    { "RESHAPE needs a single output",
      MAP_OF(AXES, MAP_ROW(REF, ref, .of = xir_layout_class, .flags = XIR_FIELD_REQUIRED),
             { .decl = XIR_DECL_OUT, .name = "z" }, LAYOUT_OF("RESHAPE, DIMS, axes, ref")) },
    { "the class is not an operation",                            { HEAD_OBJ, LAYOUT_OF("EACH"), LAST } },
};

#define NORMALISED_OF(text) { .decl = XIR_DECL_NORMALISED, .doc = text }
#define SCALES(n)           MAP_ROW(REF, n, .of = xir_scales_class, .flags = XIR_FIELD_OPTIONAL)

/* NORMALISED rows that contradict their class or themselves. */
static const bad_layout bad_normalised[] = {
    { "expected a kind such as REAL, found ''",                  MAP_OF(NORMALISED_OF("")) },
    { "expected a kind such as REAL, found 'HALF'",              MAP_OF(NORMALISED_OF("HALF, a")) },
    { "the class has no input or attribute 'b'",                 MAP_OF(NORMALISED_OF("REAL, b")) },
    { "the class has no input or attribute 'y'",                 MAP_OF(NORMALISED_OF("REAL, y")) },
    { "attribute 'axis' of kind int64 holds no real numbers",    MAP_OF(AXIS, NORMALISED_OF("EVEN, axis")) },
    { "PRODUCT needs 2 inputs and an output",                    MAP_OF(NORMALISED_OF("PRODUCT, a")) },
    { "'ref' is of scales, which EVEN does not apply",           MAP_OF(SCALES(ref), NORMALISED_OF("EVEN, ref")) },
    { "'ref' and 'ref' are both scales",                         MAP_OF(SCALES(ref), NORMALISED_OF("SCALED, ref, ref")) },
    { "the class has two of these rows",                         MAP_OF(NORMALISED_OF("REAL"), NORMALISED_OF("REAL")) },
    { "the class is not an operation",                           { HEAD_OBJ, NORMALISED_OF("REAL"), LAST } },
};

#define SHARES_OF(text) { .decl = XIR_DECL_SHARES, .doc = text }

/* SHARES rows that contradict their class or themselves. */
static const bad_layout bad_shares[] = {
    { "expected a kind such as VIEW, found ''",                  MAP_OF(SHARES_OF("")) },
    { "expected a kind such as VIEW, found 'UNDER'",             MAP_OF(SHARES_OF("UNDER, a")) },
    { "the class has no input 'b'",                              MAP_OF(SHARES_OF("OVER, a, b")) },
    { "the class has no input 'axis'",                           MAP_OF(AXIS, SHARES_OF("VIEW, axis")) },
    { "VIEW needs the name of one input, found 0",               MAP_OF(SHARES_OF("VIEW")) },
    { "VIEW needs the name of one input, found 2",               MAP_OF(SHARES_OF("VIEW, a, a")) },
    { "OVER needs names of inputs, found 0",                     MAP_OF(SHARES_OF("OVER")) },
    { "DIVIDES needs 1 attribute, found 0",                      MAP_OF(SHARES_OF("DIVIDES, a")) },
    { "DIVIDES needs 1 attribute, found 2",                      MAP_OF(AXIS, SHARES_OF("DIVIDES, a, axis, axis")) },
    { "the class has no attribute 'b'",                          MAP_OF(AXIS, SHARES_OF("JOINS, a, b")) },
    { "JOINS needs the name of one input, found 0",              MAP_OF(SHARES_OF("JOINS")) },
    { "attribute 'axis' is of kind int64, expected list<int64>", MAP_OF(AXIS, SHARES_OF("PICKS, a, axis, axis")) },
    { "the class has two of these rows",                         MAP_OF(SHARES_OF("VIEW, a"), SHARES_OF("OVER, a")) },
    { "the class is not an operation",                           { HEAD_OBJ, SHARES_OF("VIEW, a"), LAST } },
};

static const xir_class_decl *bad_thing_class(void) {
    static const xir_row rows[] =
        { { .decl = XIR_DECL_OBJ, .name = "test::Nothing", .doc = "", .offset = sizeof(xir_object) }, LAST };
    static const xir_class_decl decl = { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), rows };
    return &decl;
}

static void check_not_registered(const xir_class_decl *decl, const char *moral, xir_status status, const char *part) {
    size_t n = class_count(own);
    xir_diags_clear(why);
    xir_status found = xir_class_register(own, decl, why);
    if (found != status)
        fail_msg("%s: expected %s, found %s", moral, xir_status_name(status), xir_status_name(found));
    check_finding(status, part);
    assert_int_equal(xir_class_register(own, decl, NULL), status);
    assert_int_equal(class_count(own), n);
    assert_null(xir_class_find_decl(own, decl));
}

static void layouts_that_do_not_fit_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_layouts); i++) {
        const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), bad_layouts[i].rows };
        check_not_registered(&decl, bad_layouts[i].part, XIR_E_INVALID, bad_layouts[i].part);
    }
}

static void rows_of_normalised_numbers_that_do_not_fit_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_normalised); i++) {
        const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), bad_normalised[i].rows };
        check_not_registered(&decl, bad_normalised[i].part, XIR_E_INVALID, bad_normalised[i].part);
    }
    for (size_t i = 0; i < COUNT(bad_shares); i++) {
        const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), bad_shares[i].rows };
        check_not_registered(&decl, bad_shares[i].part, XIR_E_INVALID, bad_shares[i].part);
    }
}

static void rows_that_contradict_themselves_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad_classes); i++) {
        const bad_class *bad = &bad_classes[i];
        const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), bad->rows };
        check_not_registered(&decl, bad->moral, bad->status, bad->part);
        assert_null(xir_class_find(own, XIR_STR("test::Bad")));
    }
    /* The key is free for a valid class. */
    static const xir_row rows[] = { HEAD_OBJ, ROW(REF, ref, .of = bad_thing_class, .flags = XIR_FIELD_OPTIONAL),
                                    ROW(I64, i, ANY_NUMBER), LAST };
    static const xir_class_decl better = { XIR_ABI, sizeof better, sizeof(xir_row), rows };
    DOES(xir_class_register(own, bad_thing_class(), why));
    DOES(xir_class_register(own, &better, why));
}

static void a_taken_key_stays_its_owner_s(void **state) {
    (void)state;
    const xir_class *box = class_named(own, "test::Box");
    static const char *const taken[] = { "test::Box", "test::OldBox", "icraft::xir::Conv2d", "icraft::xir::Relu" };
    for (size_t i = 0; i < COUNT(taken); i++) {
        const xir_row rows[] =
            { { .decl = XIR_DECL_OBJ, .name = taken[i], .doc = "", .offset = sizeof(bad_body) }, LAST };
        const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
        check_not_registered(&decl, taken[i], XIR_E_EXISTS, taken[i]);
    }
    assert_ptr_equal(class_named(own, "test::OldBox"), box);
}

static void another_abi_is_refused(void **state) {
    (void)state;
    static const xir_row rows[] = { HEAD_OBJ, LAST };
    const struct { xir_class_decl decl; const char *part; } refused[] = {
        { { XIR_ABI + 1, sizeof(xir_class_decl), sizeof(xir_row), rows },     "expected a class declaration of version 3, found 4" },
        { { XIR_ABI - 1, sizeof(xir_class_decl), sizeof(xir_row), rows },     "expected a class declaration of version 3, found 2" },
        { { XIR_ABI, sizeof(xir_class_decl) - 1, sizeof(xir_row), rows },     "has 23 bytes and rows of" },
        { { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row) - 1, rows },     "at least 24 and" },
        { { XIR_ABI, sizeof(xir_class_decl), 0, rows },                       "has 24 bytes and rows of 0: at least" },
        { { XIR_ABI, sizeof(xir_class_decl), sizeof(xir_row), NULL },         "and no rows of" },
    };
    for (size_t i = 0; i < COUNT(refused); i++) {
        assert_int_equal(xir_class_register(own, &refused[i].decl, why), XIR_E_ABI);
        check_finding(XIR_E_ABI, refused[i].part);
    }
    assert_int_equal(xir_class_register(own, NULL, why), XIR_E_ABI);
    check_finding(XIR_E_ABI, "expected a class declaration of version 3, found 0");
}

/* A class may refer to itself, as lists do. */
static const xir_class_decl *chain_class(void) {
    typedef struct link { xir_object head; const struct link *next; } link;
    static const xir_row rows[] = {
        { .decl = XIR_DECL_OBJ, .name = "test::Link", .doc = "", .offset = sizeof(link) },
        { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_REF, .name = "next", .doc = "", .offset = offsetof(link, next),
          .flags = XIR_FIELD_OPTIONAL, .of = chain_class },
        LAST
    };
    static const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    return &decl;
}

static void a_class_may_refer_to_itself(void **state) {
    (void)state;
    struct { xir_object head; const xir_object *next; } link = { .next = NULL };
    DOES(xir_class_register(own, chain_class(), why));
    const xir_object *end = xir_object_make(own, chain_class(), &link, why);
    link.next = end;
    assert_non_null(xir_object_make(own, chain_class(), &link, why));
    link.next = &a_grain(1)->head;
    assert_null(xir_object_make(own, chain_class(), &link, why));
    check_finding(XIR_E_TYPE, "expected a test::Link, found a test::Grain");
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

static void a_body_begins_with_its_defaults(void **state) {
    (void)state;
    xir_own_box box = xir_own_box_init();
    assert_true(box.open);
    assert_int_equal(box.sides, 6);
    assert_int_equal(box.volume, 8);
    assert_true(box.tilt == (double)0.1f);
    CHECK_STR(box.label, "none");
    assert_int_equal(box.mood, XIR_OWN_MOOD_ASLEEP);
    assert_null(box.where);
    assert_null(box.scale);
    assert_int_equal(box.price.size, 0);
    assert_int_equal(box.marks.size, 0);
}

static void objects_are_made_once(void **state) {
    (void)state;
    xir_own_box box = a_box();
    const xir_own_box *made = xir_own_box_make(own, &box, why);
    assert_non_null(made);
    assert_ptr_equal(xir_own_box_make(own, &box, why), made);
    box.sides = 8;
    const xir_own_box *other = xir_own_box_make(own, &box, why);
    assert_ptr_not_equal(other, made);
    assert_false(xir_object_equal(&other->head, &made->head));
    assert_true(xir_object_equal(&made->head, &made->head));
    assert_true(xir_object_equal(NULL, NULL));
    assert_false(xir_object_equal(NULL, &made->head));
    assert_int_equal(xir_object_hash(NULL), 0);
    assert_true(xir_object_hash(&other->head) != xir_object_hash(&made->head));
}

static void equal_objects_of_two_pools_are_equal(void **state) {
    (void)state;
    const xir_type *type = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "NHWC", 1, 2, 3, 4);
    xir_network *net = xir_network_new(ctx, "n", XIR_FRAMEWORK_ONNX, "1");
    const xir_type *copy = xir_value_type(xir_input(xir_at_end(net), "x", type));
    assert_ptr_not_equal(type, copy);
    assert_true(xir_type_equal(type, copy));
    assert_int_equal(xir_object_hash((const xir_object *)type), xir_object_hash((const xir_object *)copy));
    xir_network_free(net);
}

/* The arguments may be freed: all of them are copied. */
static void an_object_owns_all_it_points_to(void **state) {
    (void)state;
    char tag[] = "label", first[] = "first", key[] = "key", word[] = "word";
    bool locks[] = { true, false, true };
    int64_t sizes[] = { 3, -4 };
    double angles[] = { 0.5, 0.25 };
    xir_str names[] = { { first, 5 }, { tag, 5 } };
    xir_run layers[] = { { .end = 4, .m = 1, .exp = 2, .value = 0.5f } };
    const xir_object *inside[] = { &a_grain(3)->head, &a_grain(4)->head };
    xir_any words[] = { xir_any_text((xir_str){ word, 4 }) };
    xir_entry notes[] = { { { key, 3 }, xir_any_list(words, 1) } };

    xir_own_box box = a_box();
    box.label = (xir_str){ tag, 5 };
    box.locks = (xir_bools){ locks, 3 };
    box.sizes = (xir_i64s){ sizes, 2 };
    box.angles = (xir_reals){ angles, 2 };
    box.names = (xir_texts){ names, 2 };
    box.layers = (xir_runs){ layers, 1 };
    box.inside = (xir_refs){ inside, 2 };
    box.notes = (xir_map){ notes, 1 };
    box.lid = (const xir_own_thing *)a_grain(9);
    const xir_own_box *made = xir_own_box_make(own, &box, why);
    assert_non_null(made);
    char *before = picture_of_object(&made->head);

    memset(tag, 'x', 5), memset(first, 'x', 5), memset(key, 'x', 3), memset(word, 'x', 4), memset(locks, 0,
                                                                                                  sizeof locks);
    memset(sizes, 0, sizeof sizes), memset(angles, 0, sizeof angles), memset(names, 0, sizeof names);
    memset(layers, 0, sizeof layers), memset(inside, 0, sizeof inside), memset(words,
                                                                               0, sizeof words),
                                                                               memset(notes, 0, sizeof notes);
    char *after = picture_of_object(&made->head);
    assert_string_equal(before, after);
    assert_non_null(strstr(after, "label='label';"));
    assert_non_null(strstr(after, "names='first''label';"));
    assert_non_null(strstr(after, "notes={'key':['word' ] };"));
    assert_non_null(strstr(after, "sizes=3 -4 ;"));
    free(before);
    free(after);
}

/* Makes a box that differs from a good one in one thing. */
#define REFUSES_BOX(change, code, part)                         \
    do {                                                        \
        xir_own_box box = a_box();                              \
        change;                                                 \
        assert_null(xir_own_box_make(own, &box, why));          \
        check_finding(code, part);                              \
        assert_null(xir_own_box_make(own, &box, NULL));         \
    } while (0)

static void objects_that_a_row_forbids_are_refused(void **state) {
    (void)state;
    const xir_object *not_a_thing = (const xir_object *)xir_mtype_host(own), *nothing = NULL;
    REFUSES_BOX(box.sides = 3, XIR_E_BOUNDS, "3 is below 4, the least sides of test::Box");
    REFUSES_BOX(box.sides = 21, XIR_E_BOUNDS, "21 is above 20, the greatest sides of test::Box");
    REFUSES_BOX(box.volume = 0, XIR_E_BOUNDS, "0 is below 1, the least volume of test::Box");
    REFUSES_BOX(box.volume = UINT64_MAX, XIR_E_BOUNDS, "18446744073709551615 is above 4294967296, the greatest volume of test::Box");
    REFUSES_BOX(box.tilt = -1.5, XIR_E_BOUNDS, "-1.5 is below -1, the least tilt of test::Box");
    REFUSES_BOX(box.tilt = (double)NAN, XIR_E_BOUNDS, "nan");
    REFUSES_BOX(box.load = 100.5, XIR_E_BOUNDS, "100.5 is above 100, the greatest load of test::Box");
    REFUSES_BOX(box.year = 1899, XIR_E_BOUNDS, "1899 is below 1900, the least year of test::Box");
    REFUSES_BOX(box.mood = (xir_own_mood)3, XIR_E_BOUNDS, "3 is not a word of own_mood, which has 3");
    REFUSES_BOX(box.mood = (xir_own_mood)-1, XIR_E_BOUNDS, "-1 is not a word of own_mood");
    REFUSES_BOX(box.where = NULL, XIR_E_MISSING, "attribute where of test::Box is null");
    REFUSES_BOX(box.lid = (const xir_own_thing *)not_a_thing, XIR_E_TYPE, "expected a test::Thing, found a icraft::xir::HostMem");
    REFUSES_BOX(box.inside = ((xir_refs){ &not_a_thing, 1 }), XIR_E_TYPE, "expected a test::Thing");
    REFUSES_BOX(box.inside = ((xir_refs){ &nothing, 1 }), XIR_E_MISSING, "attribute inside of test::Box is null");
    REFUSES_BOX(box.sides = 7, XIR_E_INVALID, "test::Box: an even number of sides was expected, 7 were found");
}

static void every_fault_is_reported(void **state) {
    (void)state;
    xir_own_box box = a_box();
    box.sides = 1;
    box.load = 1000;
    box.where = NULL;
    assert_null(xir_own_box_make(own, &box, why));
    assert_int_equal(xir_diags_count(why), 3);
    CHECK_STR(xir_diags_at(why, 0)->path, "/sides");
    CHECK_STR(xir_diags_at(why, 1)->path, "/where");
    CHECK_STR(xir_diags_at(why, 2)->path, "/load");
    xir_diags_clear(why);
}

static void families_and_unknown_classes_make_no_objects(void **state) {
    (void)state;
    xir_own_thing thing = xir_own_thing_init();
    assert_null(xir_own_thing_make(own, &thing, why));
    check_finding(XIR_E_UNKNOWN, "test::Thing is not a registered class of objects");
    xir_own_grain grain = xir_own_grain_init();
    assert_null(xir_own_grain_make(ctx, &grain, why));
    check_finding(XIR_E_UNKNOWN, "test::Grain is not a registered class of objects");
    xir_relu_attrs relu = xir_relu_init();
    assert_null(xir_object_make(own, xir_relu_class(), &relu, why));
    check_finding(XIR_E_UNKNOWN, "icraft::xir::ReLU is not a registered class of objects");
}

static void references_left_out_get_their_default(void **state) {
    (void)state;
    xir_own_box box = a_box();
    const xir_own_box *made = xir_own_box_make(own, &box, why);
    assert_non_null(made);
    assert_int_equal(xir_scales_axis(made->scale), 2);
    assert_int_equal(made->price.size, 1);
    assert_true(xir_scalar_as_real((const xir_scalar *)made->price.data[0]) == 2.5);
}

static void reals_are_rounded_to_float32(void **state) {
    (void)state;
    xir_own_box box = a_box();
    box.tilt = 0.3;
    assert_true(xir_own_box_make(own, &box, why)->tilt == (double)0.3f);
}

static void an_object_is_read_by_name(void **state) {
    (void)state;
    xir_own_box box = a_box();
    const xir_object *made = &xir_own_box_make(own, &box, why)->head;
    xir_attr a;
    DOES(xir_object_get(made, XIR_STR("year"), &a));
    assert_true(a.kind == XIR_KIND_I64 && a.as.i64 == 1984 && !a.is_null);
    DOES(xir_object_get(made, XIR_STR("faces"), &a));
    assert_int_equal(a.as.i64, 6);
    DOES(xir_object_get(made, XIR_STR("lid"), &a));
    assert_true(a.kind == XIR_KIND_REF && a.is_null);
    DOES(xir_object_get(made, XIR_STR("mood"), &a));
    assert_true(a.kind == XIR_KIND_ENUM && a.as.enumerator == XIR_OWN_MOOD_ASLEEP);
    DOES(xir_object_get(made, XIR_STR("maker"), &a));
    CHECK_STR(a.as.text, "me");
    assert_int_equal(xir_object_get(made, XIR_STR("makers"), &a), XIR_E_UNKNOWN);
}

static void a_cast_checks_the_class(void **state) {
    (void)state;
    const xir_object *grain = &a_grain(1)->head;
    assert_ptr_equal(xir_own_grain_of(grain), grain);
    assert_ptr_equal(xir_own_thing_of(grain), grain);
    assert_null(xir_own_box_of(grain));
    assert_null(xir_own_box_of(NULL));
    assert_ptr_equal(xir_object_class(grain), class_named(own, "test::Grain"));
}

/* ---- ops of a program ------------------------------------------------------------------------------------------- */

static xir_network *own_net(xir_value **x) {
    xir_network *net = xir_network_new(own, "own", XIR_FRAMEWORK_PYTORCH, "v1.9");
    assert_non_null(net);
    *x = xir_input(xir_at_end(net), "x", XIR_TENSOR(own, xir_type_float(own, XIR_FLOAT_FP32), "NHWC", 1, 2, 2, 3));
    assert_non_null(*x);
    return net;
}

static xir_own_mix_attrs a_mix(void) {
    xir_own_box box = a_box();
    xir_own_mix_attrs mix = xir_own_mix_init();
    mix.bowl = xir_own_box_make(own, &box, why);
    assert_non_null(mix.bowl);
    return mix;
}

static void an_op_of_a_program_is_like_a_builtin_one(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    xir_own_mix_attrs attrs = a_mix();
    xir_op *op = xir_add_own_mix(xir_at_end(net), (xir_own_mix_in){ .base = x, .rest = XIR_VALUES(x, x) }, &attrs);
    assert_non_null(op);
    CHECK_INPUTS(op, "0 - 0 0");
    assert_true(xir_op_is_activation(op));
    assert_int_equal(xir_own_mix_of(op)->turns, 2);
    assert_null(xir_relu_of(op));
    assert_true(xir_op_is(op, xir_own_mix_class()));
    assert_ptr_equal(xir_value_type(xir_op_output(op, 0)), xir_value_type(x));
    assert_ptr_equal(xir_op_input_named(op, XIR_STR("base")), x);
    assert_null(xir_op_input_named(op, XIR_STR("spice")));
    attrs.turns = 5;
    DOES(xir_own_mix_set(op, &attrs));
    assert_int_equal(xir_own_mix_of(op)->turns, 5);
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void its_rows_and_rules_are_kept(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    xir_own_mix_attrs attrs = a_mix();
    const xir_own_mix_in in = { .base = x };
    xir_at at = { .net = net, .name = XIR_STR("m") };
    REFUSES_NULL(net, xir_add_own_mix(at, in, NULL), XIR_E_MISSING, "attribute bowl of test::Mix 'm' has no default");
    attrs.turns = 0;
    REFUSES_NULL(net, xir_add_own_mix(at, in, &attrs), XIR_E_BOUNDS, "0 is below 1, the least turns of test::Mix 'm'");
    attrs.turns = 7;
    REFUSES_NULL(net, xir_add_own_mix(at, in, &attrs), XIR_E_INVALID, "test::Mix 'm': 7 turns bring bad luck");
    attrs.turns = 2;
    attrs.recipe = x;
    REFUSES_NULL(net, xir_add_own_mix(at, in, &attrs), XIR_E_TYPE, "expected Params, found an op's value");
    attrs.recipe = NULL;
    attrs.pages = XIR_VALUES(x);
    REFUSES_NULL(net, xir_add_own_mix(at, in, &attrs), XIR_E_TYPE, "expected Params, found an op's value");
    xir_network_free(net);
}

static xir_status infer_mutely(xir_infer *at) {
    (void)at;
    return XIR_E_LIMIT;
}

static void a_rule_that_fails_silently_is_reported(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    xir_own_mix_attrs attrs = a_mix();
    const xir_own_mix_in in = { .base = x };
    xir_at at = { .net = net, .name = XIR_STR("m"), .target = xir_target_of_kind(own, XIR_TARGET_ZHUGE, "330") };
    DOES(xir_infer_register(own, xir_own_mix_class(), XIR_TARGET_ZHUGE, infer_mutely));
    REFUSES_NULL(net, xir_add_own_mix(at, in, &attrs), XIR_E_LIMIT, "test::Mix 'm': its rule fails (limit) and does not say why");
    xir_network_free(net);
}

static void each_target_has_its_own_inference(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    xir_own_mix_attrs attrs = a_mix();
    const xir_own_mix_in in = { .base = x };
    xir_at at = { .net = net, .target = xir_target_of_kind(own, XIR_TARGET_BUYI, NULL) };
    xir_op *buyi = xir_add_own_mix(at, in, &attrs);
    assert_true(xir_type_equal(xir_value_type(xir_op_output(buyi, 0)), xir_type_sint(own, 8)));
    at.target = xir_target_of_kind(own, XIR_TARGET_FPGA, NULL);   /* it uses the host's function */
    xir_op *fpga = xir_add_own_mix(at, in, &attrs);
    assert_ptr_equal(xir_value_type(xir_op_output(fpga, 0)), xir_value_type(x));

    DOES(xir_infer_register(own, xir_own_mix_class(), XIR_TARGET_WOLONG, infer_as_bool));
    at.target = xir_target_of_kind(own, XIR_TARGET_WOLONG, NULL);
    xir_op *wolong = xir_add_own_mix(at, in, &attrs);
    assert_int_equal(xir_type_kind_of(xir_value_type(xir_op_output(wolong, 0))), XIR_TYPE_BOOL);
    assert_int_equal(xir_infer_register(own, xir_own_mix_class(), XIR_TARGET_COUNT, infer_as_bool), XIR_E_BOUNDS);
    assert_int_equal(xir_infer_register(own, xir_own_mix_class(), -1, infer_as_bool), XIR_E_BOUNDS);
    assert_int_equal(xir_infer_register(ctx, xir_own_mix_class(), XIR_TARGET_HOST, infer_as_bool), XIR_E_UNKNOWN);
    xir_network_free(net);
}

static void a_class_of_another_context_is_unknown_here(void **state) {
    (void)state;
    xir_network *net = new_net();
    REFUSES_NULL(net, xir_add_own_tap(xir_at_end(net), (xir_own_tap_in){ 0 }, NULL), XIR_E_UNKNOWN, "test::Tap is not registered");
    xir_network_free(net);
}

/* ---- attributes of ops by name ---------------------------------------------------------------------------------- */

static void attributes_are_read_by_name(void **state) {
    (void)state;
    xir_network *net = small_net();
    const xir_op *conv = op_of(net, 1);
    xir_attr a;
    DOES(xir_op_get(conv, XIR_STR("pad_top"), &a));
    assert_true(a.kind == XIR_KIND_I64 && a.as.i64 == 1);
    DOES(xir_op_get(conv, XIR_STR("padding_mode"), &a));
    assert_true(a.kind == XIR_KIND_ENUM && a.as.enumerator == XIR_PADDING_ZEROS);
    DOES(xir_op_get(conv, XIR_STR("cut_scale"), &a));
    assert_true(a.kind == XIR_KIND_REF && !a.is_null && xir_scales_count((const xir_scales *)a.as.ref) == 0);
    DOES(xir_op_get(op_of(net, 2), XIR_STR("max_value"), &a));
    assert_true(a.kind == XIR_KIND_REAL && a.as.real == (double)INFINITY);
    assert_int_equal(xir_op_get(conv, XIR_STR("name"), &a), XIR_E_UNKNOWN);
    assert_true(xir_op_has(conv, XIR_STR("groups")));
    assert_false(xir_op_has(conv, XIR_STR("group")));
    xir_network_free(net);
}

static void attributes_are_set_by_name(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *conv = op_of(net, 1), *relu = op_of(net, 2), *other = xir_op_clone(conv);
    DOES(xir_op_set_i64(conv, "pad_top", 7));
    DOES(xir_op_set_text(conv, "padding_mode", "CIRCULAR"));
    assert_int_equal(xir_conv2d_of(conv)->pad_top, 7);
    assert_int_equal(xir_conv2d_of(conv)->pad_bottom, 1);
    assert_int_equal(xir_conv2d_of(conv)->padding_mode, XIR_PADDING_CIRCULAR);
    assert_int_equal(xir_conv2d_of(other)->pad_top, 1);   /* shared until then */
    DOES(xir_op_set_i64(conv, "padding_mode", XIR_PADDING_REFLECT));
    assert_int_equal(xir_conv2d_of(conv)->padding_mode, XIR_PADDING_REFLECT);

    DOES(xir_op_set_real(relu, "alpha", 0.1));
    assert_true(xir_relu_of(relu)->alpha == (double)0.1f);
    DOES(xir_op_set_i64(relu, "alpha", -2));   /* an integer is accepted for a real */
    assert_true(xir_relu_of(relu)->alpha == -2.0);

    DOES(xir_op_set(conv, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF, .as.ref =
         (const xir_object *)xir_scales_from(ctx, (const double[]){ 0.5 }, 1, 0) }));
    assert_true(xir_scales_at(xir_conv2d_of(conv)->cut_scale, 0) == 0.5);
    DOES(xir_op_set(conv, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF, .is_null = true }));
    assert_int_equal(xir_scales_count(xir_conv2d_of(conv)->cut_scale), 0);   /* back to the default */
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void lists_are_set_by_name(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, TYPES(FP32("*", 1))));
    int64_t origins[] = { 3, 4 };
    DOES(xir_op_set_i64s(hard, "origin_ops_id", origins, 2));
    origins[0] = 0;
    assert_int_equal(xir_hard_op_of(hard)->origin_ops_id.size, 2);
    assert_int_equal(xir_hard_op_of(hard)->origin_ops_id.data[0], 3);
    DOES(xir_op_set_i64s(hard, "origin_ops_id", NULL, 0));
    assert_int_equal(xir_hard_op_of(hard)->origin_ops_id.size, 0);
    const xir_entry entry = { XIR_STR("base"), { .kind = XIR_ANY_INT, .as.integer = 4294972444 } };
    DOES(xir_op_set(hard, XIR_STR("device_info"), &(xir_attr){ .kind = XIR_KIND_MAP, .as.map = { &entry, 1 } }));
    assert_true(xir_map_find(&xir_hard_op_of(hard)->device_info, XIR_STR("base"))->as.integer == 4294972444);
    xir_value *code = xir_params_new(net, XIR_STR("code"), FP32("*", 4));
    DOES(xir_op_set(hard, XIR_STR("instr"), &(xir_attr){ .kind = XIR_KIND_PARAMSS, .as.values = XIR_VALUES(code) }));
    assert_true(xir_value_id(code) >= 0);   /* it has a number because the op is placed */
    CHECK_SOUND(net);
    xir_network_free(net);
}

static void a_refused_attribute_changes_nothing(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *conv = op_of(net, 1), *relu = op_of(net, 2), *add = op_of(net, 4);
    REFUSES(net, xir_op_set_i64(conv, "strid_width", 2), XIR_E_UNKNOWN, "icraft::xir::Conv2d has no attribute 'strid_width'; did you mean 'stride_width'?");
    REFUSES(net, xir_op_set_i64(conv, "stride_with", 2), XIR_E_UNKNOWN, "did you mean 'stride_width'?");
    REFUSES(net, xir_op_set_i64(conv, "PAD_TOP", 2), XIR_E_UNKNOWN, "icraft::xir::Conv2d has no attribute 'PAD_TOP'");
    REFUSES(net, xir_op_set_i64(conv, "", 2), XIR_E_UNKNOWN, "icraft::xir::Conv2d has no attribute ''");
    REFUSES(net, xir_op_set_i64(conv, "inputs", 2), XIR_E_UNKNOWN, "no attribute 'inputs'");
    REFUSES(net, xir_op_set_bool(conv, "pad_top", true), XIR_E_TYPE, "expected a value of kind int64, found bool");
    REFUSES(net, xir_op_set_real(conv, "pad_top", 1), XIR_E_TYPE, "expected a value of kind int64, found float");
    REFUSES(net, xir_op_set(conv, XIR_STR("pad_top"), &(xir_attr){ .kind = XIR_KIND_I64, .is_null = true }), XIR_E_TYPE,
            "expected a value of kind int64, found none");
    REFUSES(net, xir_op_set_text(relu, "alpha", "x"), XIR_E_TYPE, "expected a value of kind float, found string");
    REFUSES(net, xir_op_set_i64s(conv, "pad_top", NULL, 0), XIR_E_TYPE, "found list<int64>");
    REFUSES(net, xir_op_set_i64(conv, "stride_width", 0), XIR_E_BOUNDS, "0 is below 1, the least stride_width of icraft::xir::Conv2d 'conv'");
    REFUSES(net, xir_op_set_text(conv, "padding_mode", "ZERO"), XIR_E_UNKNOWN, "expected enum ZEROS|REFLECT|REPLICATE|CIRCULAR, found 'ZERO'");
    REFUSES(net, xir_op_set_i64(conv, "padding_mode", 4), XIR_E_BOUNDS, "4 is not a word of padding, which has 4");
    REFUSES(net, xir_op_set_i64(conv, "padding_mode", INT64_MAX), XIR_E_BOUNDS, "is not a word of padding");
    const xir_object *type = (const xir_object *)FP32("NHWC", 1, 2, 3, 4);
    REFUSES(net, xir_op_set(conv, XIR_STR("cut_scale"), &(xir_attr){ .kind = XIR_KIND_REF, .as.ref = type }),
            XIR_E_TYPE, "expected a icraft::xir::QuantizedScaleArray, found a icraft::xir::TensorType");
    REFUSES(net, xir_op_set(add, XIR_STR("alpha"), &(xir_attr){ .kind = XIR_KIND_REFS, .as.refs = { &type, 1 } }),
            XIR_E_TYPE, "expected a icraft::xir::ScalarImm");
    REFUSES(net, xir_relu_set(conv, NULL), XIR_E_TYPE, "attributes of icraft::xir::ReLU were given for a icraft::xir::Conv2d");
    xir_network_free(net);
}

static void every_kind_is_set_and_read_by_name(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    const xir_type *type = XIR_TENSOR(own, xir_type_sint(own, 8), "*", 4);
    xir_value *p = xir_params_new(net, XIR_STR("p"), type), *q = xir_params_new(net, XIR_STR("q"), type);
    xir_op *op = xir_add_own_all(xir_at_end(net), (xir_own_all_in){ .inputs = XIR_VALUES(x) }, NULL);
    xir_op *part = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(own, xir_own_all_class()),
                                             .id = XIR_NO_ID));
    bool flags[] = { true, false };
    double reals[] = { 0.1, 2 };
    char word[] = "word";
    xir_str texts[] = { { word, 4 } };
    xir_run layers[] = { { .end = 3, .value = 0.5f } };
    const xir_object *things[] = { &a_grain(3)->head };
    const xir_entry notes[] = { { XIR_STR("k"), xir_any_int(1) } };
    const struct { const char *name; xir_attr attr; } rows[] = {
        { "flag",   { .kind = XIR_KIND_BOOL,    .as.boolean = true } },
        { "count",  { .kind = XIR_KIND_U64,     .as.u64 = 9 } },
        { "label",  { .kind = XIR_KIND_TEXT,    .as.text = { word, 4 } } },
        { "table",  { .kind = XIR_KIND_PARAMS,  .as.params = p } },
        { "tables", { .kind = XIR_KIND_PARAMSS, .as.values = XIR_VALUES(q, p) } },
        { "flags",  { .kind = XIR_KIND_BOOLS,   .as.bools = { flags, 2 } } },
        { "reals",  { .kind = XIR_KIND_REALS,   .as.reals = { reals, 2 } } },
        { "texts",  { .kind = XIR_KIND_TEXTS,   .as.texts = { texts, 1 } } },
        { "layers", { .kind = XIR_KIND_RUNS,    .as.runs = { layers, 1 } } },
        { "things", { .kind = XIR_KIND_REFS,    .as.refs = { things, 1 } } },
        { "notes",  { .kind = XIR_KIND_MAP,     .as.map = { notes, 1 } } },
        { "parts",  { .kind = XIR_KIND_OPS,     .as.ops = { &part, 1 } } },
    };
    assert_non_null(part);
    for (size_t i = 0; i < COUNT(rows); i++) DOES(xir_op_set(op, xir_str_of(rows[i].name), &rows[i].attr));
    memset(word, 'x', 4), memset(flags, 0, sizeof flags), memset(reals, 0, sizeof reals), memset(layers, 0,
                                                                                                 sizeof layers);
    const xir_own_all_attrs *all = xir_own_all_of(op);
    assert_true(all->flag && all->count == 9 && all->table == p && all->tables.size == 2 && all->tables.data[1] == p);
    CHECK_STR(all->label, "word");
    CHECK_STR(all->texts.data[0], "word");
    assert_true(all->flags.data[0] && !all->flags.data[1] && all->reals.data[0] == (double)0.1f &&
                all->layers.data[0].end == 3);
    assert_ptr_equal(xir_op_parent(part), op);
    xir_attr a;
    for (size_t i = 0; i < COUNT(rows); i++) {
        DOES(xir_op_get(op, xir_str_of(rows[i].name), &a));
        assert_int_equal(a.kind, rows[i].attr.kind);
        /* Every other kind is refused; integers are accepted for unsigned ones and reals, and words and numbers for
         * enums. */
        for (int kind = 0; kind < XIR_KIND_COUNT; kind++) {
            if (kind == (int)a.kind || (a.kind == XIR_KIND_U64 && kind == XIR_KIND_I64)) continue;
            REFUSES(net, xir_op_set(op, xir_str_of(rows[i].name), &(xir_attr){ .kind = (xir_kind)kind }), XIR_E_TYPE, "a value of kind");
        }
    }
    DOES(xir_op_set_i64(op, "count", 3));
    REFUSES(net, xir_op_set_i64(op, "count", -1), XIR_E_BOUNDS, "-1 is below 0");
    REFUSES(net, xir_op_set_i64(op, "count", 0), XIR_E_BOUNDS, "0 is below 1, the least count");
    REFUSES(net, xir_op_set(op, XIR_STR("tables"), &(xir_attr){ .kind = XIR_KIND_PARAMSS, .as.values = XIR_VALUES(NULL) }), XIR_E_MISSING, "is null");
    DOES(xir_op_set(op, XIR_STR("table"), &(xir_attr){ .kind = XIR_KIND_PARAMS, .is_null = true }));
    DOES(xir_op_get(op, XIR_STR("table"), &a));
    assert_true(a.is_null);
    CHECK_SOUND(net);

    xir_op *copy = xir_op_clone(op);
    assert_false(xir_op_structural_equal(op, copy));   /* sub ops of its own */
    DOES(xir_op_set(copy, XIR_STR("parts"), &(xir_attr){ .kind = XIR_KIND_OPS }));
    DOES(xir_op_set(op, XIR_STR("parts"), &(xir_attr){ .kind = XIR_KIND_OPS }));
    assert_true(xir_op_structural_equal(op, copy));
    assert_int_equal(xir_op_structural_hash(op), xir_op_structural_hash(copy));
    xir_network *clone = xir_network_clone(net);
    assert_true(xir_network_equal(net, clone, true));
    xir_network_free(net);
    CHECK_SOUND(clone);
    xir_network_free(clone);
}

static void an_inference_may_read_bytes_and_give_many(void **state) {
    (void)state;
    xir_value *x;
    xir_network *net = own_net(&x);
    xir_value *p = xir_params_copy(net, XIR_STR("p"), XIR_TENSOR(own, xir_type_sint(own, 8), "*", 1), "\5", 1);
    xir_own_all_attrs attrs = xir_own_all_init();
    attrs.count = 9;
    xir_op *a = xir_add_own_all(xir_at_end(net), (xir_own_all_in){ .inputs = XIR_VALUES(p) }, &attrs);
    assert_int_equal(xir_op_output_count(a), 9);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(a, -1)), 0, false), 5);
    attrs.count = 1;
    a = xir_add_own_all(xir_at_end(net), (xir_own_all_in){ .inputs = XIR_VALUES(p) }, &attrs);
    *(uint8_t *)xir_params_edit(p) = 6;   /* the same question has another answer */
    xir_op *b = xir_add_own_all(xir_at_end(net), (xir_own_all_in){ .inputs = XIR_VALUES(p) }, &attrs);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(a, 0)), 0, false), 5);
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(b, 0)), 0, false), 6);
    DOES(xir_op_infer(a, true));
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(a, 0)), 0, false), 6);
    CHECK_SOUND(net);
    xir_network_free(net);
}

/* ---- undeclared attributes -------------------------------------------------------------------------------------- */

static void undeclared_attributes_have_names_of_their_own(void **state) {
    (void)state;
    xir_network *net = small_net();
    xir_op *conv = op_of(net, 1);
    const xir_any five = xir_any_int(5), words = xir_any_text(XIR_STR("w"));
    DOES(xir_op_set_extra(conv, XIR_STR("my_key"), &five));
    DOES(xir_op_set_extra(conv, XIR_STR("a_key"), &words));
    assert_true(xir_op_has(conv, XIR_STR("my_key")));
    assert_int_equal(xir_op_extra(conv)->size, 2);
    assert_true(xir_any_equal(xir_map_find(xir_op_extra(conv), XIR_STR("my_key")), &five));
    xir_attr a;
    assert_int_equal(xir_op_get(conv, XIR_STR("my_key"), &a), XIR_E_UNKNOWN);
    DOES(xir_op_set_extra(conv, XIR_STR("my_key"), NULL));
    DOES(xir_op_set_extra(conv, XIR_STR("never_there"), NULL));
    assert_false(xir_op_has(conv, XIR_STR("my_key")));
    REFUSES(net, xir_op_set_extra(conv, XIR_STR("groups"), &five), XIR_E_EXISTS, "icraft::xir::Conv2d declares 'groups'");
    REFUSES(net, xir_op_set_extra(conv, XIR_STR("inputs"), &five), XIR_E_EXISTS, "declares 'inputs'");
    REFUSES(net, xir_network_set_extra(net, XIR_STR("ops"), &five), XIR_E_EXISTS, "every network has 'ops'");
    DOES(xir_network_set_extra(net, XIR_STR("swap_mode"), &five));
    assert_int_equal(xir_network_extra(net)->size, 1);
    xir_network_free(net);
}

static void undeclared_params_are_params(void **state) {
    (void)state;
    xir_network *net = small_net(), *other = small_net();
    xir_op *conv = op_of(net, 1);
    xir_value *table = xir_params_new(net, XIR_STR("table"), FP32("*", 4)),
               *deep = xir_params_new(net, XIR_STR("deep"), FP32("*", 4));
    const xir_any item = { .kind = XIR_ANY_PARAMS, .as.params = deep };
    const xir_any one = { .kind = XIR_ANY_PARAMS, .as.params = table }, list = xir_any_list(&item, 1);
    DOES(xir_op_set_extra(conv, XIR_STR("table"), &one));
    DOES(xir_op_set_extra(conv, XIR_STR("tables"), &list));
    assert_int_equal(xir_value_id(table), 6);   /* the op is placed */
    assert_int_equal(xir_value_id(deep), 7);
    assert_int_equal(xir_op_params_attrs(conv, NULL, 0), 2);
    assert_int_equal(xir_network_params(net, NULL, 0), 3);
    const xir_any strange = { .kind = XIR_ANY_PARAMS, .as.params = value_of(other, 1) },
                  made = { .kind = XIR_ANY_PARAMS, .as.params = value_of(net, 2) };
    REFUSES(net, xir_op_set_extra(conv, XIR_STR("k"), &strange), XIR_E_INVALID, "another network");
    REFUSES(net, xir_op_set_extra(conv, XIR_STR("k"), &made), XIR_E_TYPE, "expected Params");
    CHECK_SOUND(net);
    xir_network_free(net);
    xir_network_free(other);
}

#define STORY(f) cmocka_unit_test(f)
#define OWN(f)   cmocka_unit_test_setup_teardown(f, own_begin, own_end)

GROUP {
    const struct CMUnitTest tests[] = {
        STORY(every_builtin_class_is_listed_once_in_order),
        STORY(everything_is_described),
        OWN(attributes_show_type_default_and_bounds),
        STORY(a_long_type_is_truncated),
        STORY(a_class_describes_itself),
        OWN(an_old_key_finds_the_class),
        OWN(an_old_name_of_an_attribute_is_found),
        OWN(registering_again_succeeds),
        OWN(a_class_belongs_to_its_context),
        OWN(rows_that_contradict_themselves_are_refused),
        OWN(layouts_that_do_not_fit_are_refused),
        OWN(rows_of_normalised_numbers_that_do_not_fit_are_refused),
        OWN(a_taken_key_stays_its_owner_s),
        OWN(another_abi_is_refused),
        OWN(a_class_may_refer_to_itself),
        STORY(a_body_begins_with_its_defaults),
        OWN(objects_are_made_once),
        STORY(equal_objects_of_two_pools_are_equal),
        OWN(an_object_owns_all_it_points_to),
        OWN(objects_that_a_row_forbids_are_refused),
        OWN(every_fault_is_reported),
        OWN(families_and_unknown_classes_make_no_objects),
        OWN(references_left_out_get_their_default),
        OWN(reals_are_rounded_to_float32),
        OWN(an_object_is_read_by_name),
        OWN(a_cast_checks_the_class),
        OWN(an_op_of_a_program_is_like_a_builtin_one),
        OWN(its_rows_and_rules_are_kept),
        OWN(a_rule_that_fails_silently_is_reported),
        OWN(each_target_has_its_own_inference),
        OWN(a_class_of_another_context_is_unknown_here),
        STORY(attributes_are_read_by_name),
        STORY(attributes_are_set_by_name),
        STORY(lists_are_set_by_name),
        STORY(a_refused_attribute_changes_nothing),
        OWN(every_kind_is_set_and_read_by_name),
        OWN(an_inference_may_read_bytes_and_give_many),
        STORY(undeclared_attributes_have_names_of_their_own),
        STORY(undeclared_params_are_params),
    };
    return RUN_GROUP(tests);
}
