/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NNB files that are read and written come back byte for byte, whatever their layout, through every other format too.
 * A network that was changed is written as the exporter lays it out. Each trap of docs/nnb.md has its test. */
#include <glob.h>
#include "support/load_net.h"
#include "support/nnb_make.h"
#include "support/skips.h"
#include "support/stored.h"
#include "graph.h"

#define HEAD "nnb 3 44\ninputs 0\noutputs 1\nbuffers 16 16\n"
/* One function between an input and an output. */
#define ONE(function) HEAD "v f 4 b0\nv f 4 b1\n" function "\n"

static const char *const files[] = {
    /* a network of several functions: parameters, lists, words, bytes */
    "nnb 3 44\ninputs 0\noutputs 5\nbuffers 64 64\n"
    "v f 1,4,2,2 b0\nv f 4,4,1,1 p64\nv f 4 p16\nv f 1,4,2,2 b1\nv f 1,4,2,2 b0\nv f 1,4,2,2 b1\n"
    "f 1 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\nf 14 3>4 B1\nf 123 4>5 [0,0,0,0,0,0] i1 f0.5\n",
    /* version 2, a function that came later than level 1, an implementation */
    "nnb 2 1\ninputs 0\noutputs 1\nbuffers 4 4\nv f 4 b0\nv f 4 b1\nf 265/100 0>1 i1 [0] [1] [1] i1 B1\n",
    /* a revision in place of an api level */
    "nnb 2 0x06428c7c\ninputs 0\noutputs 1\nbuffers 4 4\nv f 4 b0\nv f 4 b1\nf 15 0>1 f0.1\n",
    /* fixed point, signs, shorts */
    "nnb 3 44\ninputs 0\noutputs 3\nbuffers 4\nv i8:3 1,4 b0\nv i16:15 4,2 p16\nv sign 8,2 p2\nv i8:7 1,2 b0\nf 107 "
        "0,1,2>3 i1\n",
    /* several inputs and outputs, one of them twice; a function without inputs */
    "nnb 3 44\ninputs 0 1\noutputs 3 2 3\nbuffers 8 8 8\nv f 2 b0\nv f 2 b1\nv f 2 b2\nv f 2 b0\nf 31 0,1>2 B0\nf 67 "
        ">3 f1 [2]\n",
    /* numbers that JSON does not have */
    ONE("f 38 0>1 fx7fc00001"), ONE("f 38 0>1 fxff800000"), ONE("f 38 0>1 fx80000000"), ONE("f 38 0>1 fx00000001"),
    /* words beyond the known ones, bytes above 1 */
    ONE("f 123 0>1 [1,1] i7 f0"), ONE("f 14 0>1 B2"),
    /* scalars, empty lists */
    HEAD "v f - b0\nv f - b1\nf 5 0>1 [] [] B0 []\n",
    /* a number that nobody knows, and one whose arguments cannot be stored */
    ONE("f 400 0>1 i1 i2"), ONE("f 400 0>1"), ONE("f 295 0>1 i1"), ONE("f 359 0>1 i0"),
    /* variables and parameters that nothing refers to; a buffer that nothing has */
    "nnb 3 44\ninputs 0\noutputs 1\nbuffers 16 16 99\nv f 4 b0\nv f 4 b1\nv f 3 p12\nv i8:2 5 b0\nf 68 0>1\n",
    /* types and dims that are not right */
    HEAD "v 7:3 4 b0\nv f:5 -1,4 b1\nf 68 0>1\n", HEAD "v i8:9 4 b0\nv i16:1 -4 b1\nf 68 0>1\n",
    /* used before it is made, made twice, made by nothing, an output made by nothing, an input that is a parameter */
    "nnb 3 44\ninputs 0\noutputs 3\nbuffers 16\nv f 4 b0\nv f 4 b0\nv f 4 b0\nv f 4 b0\nf 31 0,2>1 B0\nf 68 1>2\n",
    "nnb 3 44\ninputs 0\noutputs 1 0\nbuffers 16\nv f 4 b0\nv f 4 b0\nf 68 0>1\nf 69 0>1\nf 69 1>0\n",
    "nnb 3 44\ninputs 0\noutputs 1\nbuffers 16\nv f 4 p16\nv f 4 p16\nf 68 0>1\n",
    /* nothing at all */
    "nnb 2 1\ninputs\noutputs\nbuffers\n",
};

static xir_network *read_bytes(const void *bytes, size_t size) {
    xir_network *net = stored_must_read("nnb", bytes, size);
    xir_diags_clear(why);
    return net;
}

static void files_come_back(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        nnb_made f;
        nnb_make(&f, files[i]);
        xir_network *net = read_bytes(f.bytes, f.size);
        assert_true(xir_str_equal(xir_network_text_of(net, XIR_TEXT_FRAMEWORK), XIR_STR("NNABLA")));
        stored_must_be(net, "nnb", f.bytes, f.size, files[i]);
        xir_network_free(net);
    }
}

/* A shape without dims has no bytes, so that the entry of the next block leads to the same place. */
static void files_that_differ_in_a_word_come_back(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4 4\nv f - b0\nv f - p4\nv f - b1\nf 31 0,1>2 B0\n");
    for (size_t at = 0; at + 4 <= f.size; at += 4) {
        for (int i = 0; i < 2; i++) {
            nnb_made other = f;
            nnb_set_word(&other, at, nnb_word(&f, at) + (i ? 1u : UINT32_MAX));
            xir_network *net = xir_network_read(ctx, other.bytes, other.size, XIR_STR("x.nnb"),
                                                &XIR_INIT(xir_load_options, .format = "nnb"), why);
            xir_diags_clear(why);
            char what[40];
            snprintf(what, sizeof what, "with another word at %zu", at);
            if (net) stored_must_be(net, "nnb", other.bytes, other.size, what);
            xir_network_free(net);
        }
    }
}

/* A clone too. */
static void files_come_back_through_other_formats(void **state) {
    xir_format_info other;
    (void)state;
    for (size_t k = 0; written_format_at(k, &other); k++) {
        for (size_t i = 0; i < COUNT(files); i++) {
            const char *between = load_path("between", &other);
            nnb_made f;
            nnb_make(&f, files[i]);
            xir_network *net = read_bytes(f.bytes, f.size);
            load_save(net, between, &other);
            xir_network *again = xir_network_load(ctx, between, &XIR_INIT(xir_load_options, .lazy = true), why);
            if (!again) xir_diags_print(why, stderr);
            assert_non_null(again);
            xir_network *copy = xir_network_clone(again);
            stored_must_be(copy, "nnb", f.bytes, f.size, files[i]);
            xir_network_free(net);
            xir_network_free(again);
            xir_network_free(copy);
            xir_diags_clear(why);
            remove(between);
            remove(scratch("between.raw"));
        }
    }
}

/* Blocks in reverse order, with gaps between them, which nobody's exporter does. */
static size_t turn_around(const nnb_made *f, uint8_t *out) {
    size_t at = f->data;
    memcpy(out, f->bytes, f->data);
    for (uint32_t k = f->n_index; k-- > 0;) {
        const size_t from = nnb_block_at(f, k), to = k + 1 < f->n_index ? nnb_block_at(f, k + 1) : f->size;
        const uint32_t offset = (uint32_t)(at - f->data);
        memcpy(out + 56 + 4 * (size_t)k, &offset, 4);
        memcpy(out + at, f->bytes + from, to - from);
        at += to - from;
        memset(out + at, 0xEE, 8);
        at += 8;
    }
    const uint32_t size = (uint32_t)(at - f->data);
    memcpy(out + 52, &size, 4);
    memset(out + at, 0xDD, 5);   /* after the end */
    return at + 5;
}

static void other_layouts_come_back(void **state) {
    static uint8_t turned[2 * NNB_MADE_SIZE];
    (void)state;
    for (size_t i = 0; i < COUNT(files); i++) {
        nnb_made f;
        nnb_make(&f, files[i]);
        const size_t size = turn_around(&f, turned);
        xir_network *net = read_bytes(turned, size), *copy = xir_network_clone(net);
        stored_must_be(net, "nnb", turned, size, files[i]);
        stored_must_be(copy, "nnb", turned, size, files[i]);
        xir_network_free(net);
        xir_network_free(copy);
    }
}

/* Two parameters with one block, and two that overlap. */
static void shared_blocks_come_back(void **state) {
    nnb_made f;
    (void)state;
    for (uint32_t shift = 0; shift <= 4; shift += 4) {
        nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 3\nbuffers 8 8\nv f 2 b0\nv f 2 p8\nv f 2 p12\nv f 2 b1\nf 240 "
                 "0,1,2>3\n");
        const uint32_t first = nnb_word(&f, f.variables[1] + 16), second = nnb_word(&f, f.variables[2] + 16);
        nnb_set_word(&f, 56 + 4 * (size_t)second, nnb_word(&f, 56 + 4 * (size_t)first) + shift);
        xir_network *net = read_bytes(f.bytes, f.size);
        stored_must_be(net, "nnb", f.bytes, f.size, "shared blocks");
        xir_network_free(net);
    }
}

/* ---- changed networks -------------------------------------------------------------------------------------------- */

static void changed_networks_are_laid_out(void **state) {
    nnb_made f, expected;
    (void)state;
    nnb_make(&f, "nnb 2 44\ninputs 0\noutputs 2\nbuffers 9 9 9\nv f 4 b0\nv f 4 b1\nv f 4 b2\nf 15 0>1 f0.5\nf 68 "
             "1>2\n");
    nnb_make(&expected, "nnb 2 44\ninputs 0\noutputs 2\nbuffers 4 4\nv f 4 b0\nv f 4 b1\nv f 4 b0\nf 15 0>1 f0.25\nf "
             "68 1>2\n");
    xir_network *net = read_bytes(f.bytes, f.size);
    const xir_any quarter = xir_any_real(0.25);
    DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("alpha"), &quarter));
    stored_must_be(net, "nnb", expected.bytes, expected.size, "a changed network");
    xir_network_free(net);
}

/* Without the tag of the file everything is made again: for files of the exporter, the same. */
static void networks_are_written_as_the_exporter_does(void **state) {
    static const char *const made[] = {
        "nnb 3 44\ninputs 0\noutputs 5\nbuffers 64 64\n"
        "v f 1,4,2,2 b0\nv f 4,4,1,1 p64\nv f 4 p16\nv f 1,4,2,2 b1\nv f 1,4,2,2 b0\nv f 1,4,2,2 b1\n"
        "f 265 0,1,2>3 i1 [0,0] [1,1] [1,1] i1 B0\nf 14 3>4 B1\nf 123 4>5 [0,0,0,0,0,0] i1 f0.5\n",
        "nnb 2 1\ninputs 0\noutputs 2\nbuffers 2 8\nv i8:2 2 b0\nv i8:2 8 b1\nv i8:2 1 b0\nf 68 0>1\nf 68 1>2\n",
        "nnb 3 1\ninputs 0\noutputs 2\nbuffers 2 8\nv i8:2 2 b0\nv i8:2 8 b1\nv i8:2 1 b0\nf 68 0>1\nf 68 1>2\n",
        /* an input is needed from the beginning, an output to the end */
        "nnb 3 1\ninputs 0 1\noutputs 2 3\nbuffers 4 4 4\nv f 1 b0\nv f 1 b1\nv f 1 b2\nv f 1 b0\nf 68 0>2\nf 68 1>3\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(made); i++) {
        nnb_made f;
        nnb_make(&f, made[i]);
        xir_network *net = read_bytes(f.bytes, f.size);
        DOES(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL));
        stored_must_be(net, "nnb", f.bytes, f.size, made[i]);
        xir_network_free(net);
    }
}

/* A lower level leaves the last arguments out, or is refused. */
static void older_levels(void **state) {
    nnb_made f, expected;
    const xir_any one = xir_any_int(1);
    (void)state;
    nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 128 0>1 f0.5 B0\n");
    nnb_make(&expected, "nnb 3 1\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 15 0>1 f0.5\n");
    xir_network *net = read_bytes(f.bytes, f.size);
    DOES(xir_network_set_tag(net, XIR_STR("nnb.api_level"), &one));
    stored_must_be(net, "nnb", expected.bytes, expected.size, "level 1");
    xir_network_free(net);
    nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 1\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nf 349 0>1\n");
    net = read_bytes(f.bytes, f.size);
    DOES(xir_network_set_tag(net, XIR_STR("nnb.api_level"), &one));
    FAILS_TO_SAVE(xir_network_save(net, scratch("no.nnb"), &XIR_INIT(xir_save_options, .unchecked = true), why),
                  XIR_E_UNSUPPORTED, "op 1 'Erf_0': Erf cannot be written: it needs api level 42, the network has 1");
    xir_network_free(net);
}

static void networks_that_nnb_cannot_hold(void **state) {
    const int64_t open[] = { -1 }, dims[] = { 4 }, large[] = { INT64_C(1) << 40 };
    const struct {
        const char *key; xir_any value; const xir_type *type; xir_status status; const char *sentence;
    } rows[] = {
        { "alpha", xir_any_text(XIR_STR("x")), NULL, XIR_E_UNSUPPORTED,
         "no number of the function has exactly these arguments" },
        { "alpha", xir_any_real(1e300), NULL, XIR_E_TYPE, "a real of 32 bits" },
        { "beta", xir_any_real(1), NULL, XIR_E_UNSUPPORTED, "no number of the function has exactly these arguments" },
        { NULL, { 0 }, xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", open, 1),
         XIR_E_UNSUPPORTED, "dim 0 of 'v1' is open" },
        { NULL, { 0 }, xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "*", dims, 1),
         XIR_E_UNSUPPORTED, "NNB does not have the element type of 'v1'" },
        { NULL, { 0 }, xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), "*", large, 1), XIR_E_LIMIT,
         "does not fit into 32 bits" },
    };
    const xir_save_options options = XIR_INIT(xir_save_options, .unchecked = true);
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        nnb_made f;
        nnb_make(&f, ONE("f 15 0>1 f0.5"));
        xir_network *net = read_bytes(f.bytes, f.size);
        xir_op *op = xir_network_op_at(net, 1);
        if (rows[i].key) DOES(xir_op_set_extra(op, xir_str_of(rows[i].key), &rows[i].value));
        if (rows[i].type) DOES(xir_value_set_type(xir_op_output(op, 0), rows[i].type));
        FAILS_TO_SAVE(xir_network_save(net, scratch("no.nnb"), &options, why), rows[i].status, rows[i].sentence);
        assert_int_equal(access(scratch("no.nnb"), F_OK), -1);
        xir_network_free(net);
    }
    xir_network *net = small_net();
    FAILS_TO_SAVE(xir_network_save(net, scratch("no.nnb"), &options, why), XIR_E_UNSUPPORTED,
                  "convert the network to them first");
    xir_network_free(net);
    /* bytes that may have pointers into the old file */
    nnb_made f;
    nnb_make(&f, ONE("f 400 0>1 i1"));
    net = read_bytes(f.bytes, f.size);
    DOES(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL));
    FAILS_TO_SAVE(xir_network_save(net, scratch("no.nnb"), &options, why), XIR_E_UNSUPPORTED,
                  "a function that is not in the table");
    xir_network_free(net);
}

/* ---- traps ------------------------------------------------------------------------------------------------------- */

static const xir_map *extra_of(xir_network *net, size_t i) { return xir_op_extra(xir_network_op_at(net, i)); }

static xir_network *read_made(const char *text) {
    nnb_made f;
    nnb_make(&f, text);
    return read_bytes(f.bytes, f.size);
}

/* 1 and 2 are in every file here: 56 bytes of header, bare sizes of buffers. 3: the units of buffers. */
static void buffers_have_units(void **state) {
    (void)state;
    for (int version = 2; version <= 3; version++) {
        char text[200];
        nnb_made f;
        snprintf(text, sizeof text, "nnb %d 1\ninputs 0\noutputs 1\nbuffers %d %d\nv f 8 b0\nv f 8 b1\nf 68 0>1\n",
                 version,
                 version == 2 ? 8 : 32, version == 2 ? 8 : 32);
        nnb_make(&f, text);
        xir_network *net = read_bytes(f.bytes, f.size);
        DOES(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL));
        stored_must_be(net, "nnb", f.bytes, f.size, text);
        xir_network_free(net);
    }
}

/* 4: the shape of an affine weight is (in, out), its bytes are [out][in]; both stay. */
static void affine_weights_stay(void **state) {
    (void)state;
    xir_network *net = read_made("nnb 3 44\ninputs 0\noutputs 2\nbuffers 8 12\nv f 1,2 b0\nv f 2,3 p24\nv f 1,3 "
                                 "b1\nf 0 0,1>2 i1\n");
    const xir_value *w = xir_op_input(xir_network_op_at(net, 1), 1);
    assert_int_equal(xir_type_as_tensor(xir_value_type(w))->shape.data[0], 2);
    assert_int_equal(((const uint8_t *)value_params(w)->data->bytes)[5], 6);
    xir_network_free(net);
}

/* 5: one element of a weight that is not computed with; all of it if it is all there. */
static void binary_weights_of_one_element(void **state) {
    static const struct { const char *bytes; int64_t rank, elements; } rows[] = { { "p4", 1, 1 }, { "p16", 4, 4 } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[400];
        snprintf(text, sizeof text, "nnb 3 44\ninputs 0\noutputs 3\nbuffers 8 8\nv f 1,2,1,1 b0\nv f 2,2,1,1 %s\nv "
                 "sign 2,2,2,1 p1\n"
                 "v f 1,2,1,1 b1\nf 108 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\n", rows[i].bytes);
        xir_network *net = read_made(text);
        const xir_value *w = xir_op_input(xir_network_op_at(net, 1), 1);
        assert_int_equal(xir_type_rank(xir_value_type(w)), rows[i].rank);
        assert_int_equal(value_params(w)->data->size, 4 * rows[i].elements);
        const xir_any *shape = xir_value_tags(w) ? xir_map_find(xir_value_tags(w), XIR_STR("nnb.shape")) : NULL;
        assert_int_equal(shape != NULL, rows[i].rank == 1);
        if (shape) assert_int_equal(shape->as.list.size, 4);
        xir_network_free(net);
    }
}

/* A file's words about a value without a type are not about the Params that take its place. */
static void tags_of_an_unknown_type_end_with_a_type(void **state) {
    (void)state;
    xir_network *net = read_made("nnb 3 44\ninputs 0\noutputs 2\nbuffers 8 8\nv f 2,3 b0\nv f 2,3 p24\nv f 2,3 b1\n"
                                 "f 136 0,1>2 i0\n");
    xir_value *k = xir_op_input(xir_network_op_at(net, 1), 1);
    const xir_any dims[] = { xir_any_int(1), xir_any_int(-196606) };
    const xir_any shape = xir_any_list(dims, 2), type = xir_any_int(9);
    DOES(xir_value_set_tag(k, XIR_STR("nnb.shape"), &shape));
    DOES(xir_value_set_tag(k, XIR_STR("nnb.type"), &type));
    DOES(xir_network_save(net, scratch("typed.nnb"), NULL, why));
    xir_network *again = xir_network_load(ctx, scratch("typed.nnb"), NULL, why);
    assert_non_null(again);
    assert_true(xir_type_equal(xir_value_type(xir_op_input(xir_network_op_at(again, 1), 1)), xir_value_type(k)));
    xir_network_free(again);
    xir_network_free(net);
}

/* 6: a record without its last argument. */
static void short_records(void **state) {
    (void)state;
    xir_network *net = read_made(ONE("f 336 0>1 f0.5 i-1"));
    assert_int_equal(extra_of(net, 1)->size, 2);
    assert_int_equal(xir_map_find(xir_op_tags(xir_network_op_at(net, 1)), XIR_STR("nnb.id"))->as.integer, 336);
    xir_network_free(net);
}

/* 7: the last byte of AveragePooling 6 is including_pad in files with a revision, and channel_last in others. */
static void average_pooling_6(void **state) {
    static const struct { const char *level, *name, *other; } rows[] = {
        { "1", "channel_last", "including_pad" }, { "0x06428c7c", "including_pad", "channel_last" } };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[300];
        nnb_made f;
        snprintf(text, sizeof text, "nnb 2 %s\ninputs 0\noutputs 1\nbuffers 4 1\nv f 1,1,2,2 b0\nv f 1,1,1,1 b1\n"
                 "f 6 0>1 [2,2] [2,2] B1 [0,0] B1\n", rows[i].level);
        nnb_make(&f, text);
        xir_network *net = read_bytes(f.bytes, f.size);
        assert_true(xir_map_find(extra_of(net, 1), xir_str_of(rows[i].name))->as.boolean);
        assert_null(xir_map_find(extra_of(net, 1), xir_str_of(rows[i].other)));
        stored_must_be(net, "nnb", f.bytes, f.size, text);
        xir_network_free(net);
    }
}

/* 8: argument codes that no exporter has any more. */
static void codes_that_are_gone(void **state) {
    (void)state;
    xir_network *net = read_made("nnb 3 3\ninputs 0\noutputs 4\nbuffers 4 4\nv f 1 b0\nv f 1 b1\nv f 1 b0\nv f 1 "
                                 "b1\nv f 1 b0\n"
                                 "f 250 0>1 i1 i2\nf 260 1>2 f1 f2\nf 259 2>3 f1 f2\nf 252 3>4 i1 i2\n");
    assert_int_equal(xir_map_find(extra_of(net, 1), XIR_STR("arg1"))->as.integer, 2);
    assert_int_equal(xir_map_find(extra_of(net, 2), XIR_STR("arg1"))->kind, XIR_ANY_REAL);
    assert_int_equal(extra_of(net, 4)->size, 2);
    xir_network_free(net);
}

/* 9: arguments that cannot be stored; 11: functions are one op each; 10: nothing has a name, so all get one. */
static void names_and_bytes(void **state) {
    (void)state;
    xir_network *net = read_made(ONE("f 295 0>1 i1"));
    const xir_op *op = xir_network_op_at(net, 1);
    assert_true(xir_str_equal(op->cls->key, XIR_STR("nnb::FusedConvolution")));
    assert_int_equal(xir_map_find(xir_op_extra(op), XIR_STR("arguments"))->kind, XIR_ANY_PARAMS);
    assert_memory_equal(xir_op_name(op).data, "FusedConvolution_0", 18);
    assert_memory_equal(xir_value_name(xir_op_output(op, 0)).data, "v1", 2);
    xir_network_free(net);
}

/* 13: the bits of a sign lie from the lowest one up, eight in a byte; a parameter is a part of the file. */
static void signs_are_bits(void **state) {
    nnb_made f;
    (void)state;
    nnb_make(&f, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4 4\nv f 1,1 b0\nv sign 8,2 p2\nv f 1,1 b1\nf 0 0,1>2 i1\n");
    xir_network *net = read_bytes(f.bytes, f.size);
    const xir_value *w = xir_op_input(xir_network_op_at(net, 1), 1);
    assert_int_equal(xir_type_storage_bits(xir_type_element(xir_value_type(w))), 1);
    assert_int_equal(value_params(w)->data->size, 2);
    xir_network_free(net);
}

/* ---- packing ----------------------------------------------------------------------------------------------------- */

/* A hundred values that are needed at once: a sum of all of them. */
static void many_values_at_once(void **state) {
    char text[4096];
    nnb_made f;
    size_t at = (size_t)snprintf(text, sizeof text, "nnb 3 44\ninputs 0\noutputs 63\nbuffers 4\n");
    (void)state;
    for (int i = 0; i < 64; i++) at += (size_t)snprintf(text + at, sizeof text - at, "v f %d b0\n", 1 + i % 3);
    for (int i = 1; i < 63; i++) at += (size_t)snprintf(text + at, sizeof text - at, "f 68 0>%d\n", i);
    at += (size_t)snprintf(text + at, sizeof text - at, "f 281 ");
    for (int i = 0; i < 63; i++) at += (size_t)snprintf(text + at, sizeof text - at, "%s%d", i ? "," : "", i);
    snprintf(text + at, sizeof text - at, ">63\n");
    nnb_make(&f, text);
    xir_network *net = read_bytes(f.bytes, f.size);
    DOES(xir_network_set_tag(net, XIR_STR("nnb.file"), NULL));
    buffer out = stored_as(net, "nnb");
    nnb_made again = { .size = out.size, .data = 0 };
    memcpy(again.bytes, out.data, out.size);
    assert_int_equal(nnb_word(&again, 8), 64);   /* all are needed at the end */
    buffer_free(&out);
    xir_network_free(net);
}

/* ---- real files -------------------------------------------------------------------------------------------------- */

static size_t real(const char *pattern) {
    char all[PATH_MAX];
    glob_t found = { 0 };
    size_t n = 0;
    snprintf(all, sizeof all, "%s/nnb/%s", getenv("XIR_CORPUS"), pattern);
    (void)glob(all, 0, NULL, &found);
    for (; n < found.gl_pathc; n++) {
        const char *path = found.gl_pathv[n];
        size_t size, kept = 0;
        uint8_t *bytes = scratch_get(path, &size);
        xir_network *net = load_must(path, &XIR_INIT(xir_load_options, .lazy = n % 2));
        stored_must_be(net, "nnb", bytes, size, path);
        xir_network *copy = xir_network_clone(net);
        const xir_any *file = xir_map_find(xir_network_tags(net), XIR_STR("nnb.file"));
        assert_null(xir_map_find(&file->as.map, XIR_STR("bytes")));   /* all are laid out as usual */
        const xir_list old = xir_map_find(&file->as.map, XIR_STR("buffers"))->as.list;
        for (size_t i = 0; i < old.size; i++) kept += (size_t)old.items[i].as.integer;
        DOES(xir_network_set_tag(copy, XIR_STR("nnb.file"), NULL));
        buffer out = stored_as(copy, "nnb");
        const uint8_t *p = (const uint8_t *)out.data;
        uint32_t words[14];
        memcpy(words, p, sizeof words);
        const uint8_t *list = p + 56 + 4 * words[12];
        uint32_t at;
        memcpy(&at, p + 56 + 4 * words[3], 4);
        for (uint32_t i = 0; i < words[2]; i++) {
            uint32_t buffer_size;
            memcpy(&buffer_size, list + at + 4 * i, 4);
            if (kept < buffer_size) fail_msg("%s: buffers are larger than those of the exporter", path);
            kept -= buffer_size;
        }
        buffer_free(&out);
        free(bytes);
        xir_network_free(net);
        xir_network_free(copy);
    }
    globfree(&found);
    return n;
}

static void real_files(void **state) {
    (void)state;
    (void)CORPUS_OR_SKIP();
    assert_true(real("*.nnb") >= 8);
    assert_true(real("values/*.nnb") > 200);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(files_that_differ_in_a_word_come_back),
        cmocka_unit_test(files_come_back_through_other_formats),
        cmocka_unit_test(other_layouts_come_back),
        cmocka_unit_test(shared_blocks_come_back),
        cmocka_unit_test(changed_networks_are_laid_out),
        cmocka_unit_test(networks_are_written_as_the_exporter_does),
        cmocka_unit_test(older_levels),
        cmocka_unit_test(networks_that_nnb_cannot_hold),
        cmocka_unit_test(buffers_have_units),
        cmocka_unit_test(affine_weights_stay),
        cmocka_unit_test(binary_weights_of_one_element),
        cmocka_unit_test(tags_of_an_unknown_type_end_with_a_type),
        cmocka_unit_test(short_records),
        cmocka_unit_test(average_pooling_6),
        cmocka_unit_test(codes_that_are_gone),
        cmocka_unit_test(names_and_bytes),
        cmocka_unit_test(signs_are_bits),
        cmocka_unit_test(many_values_at_once),
        cmocka_unit_test(real_files),
    };
    scratch_make();
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
