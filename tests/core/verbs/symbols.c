/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Symbolic dims in networks: declaring, types, copies, files, binding. And random graphs: what inference says of their
 * dims holds for every binding. */
#include <stdio.h>
#include "support/net.h"
#include "support/often.h"
#include "graph.h"
#include "symbol.h"

static const char *dims_of(const xir_type *type) {
    static char out[4][300];
    static int next;
    char *text = out[next++ % 4];
    size_t at = 0;
    text[0] = '\0';
    for (size_t k = 0; k < xir_type_rank(type); k++) {
        at += (size_t)snprintf(text + at, 300 - at, k ? ", " : "");
        at += xir_type_dim_text(type, (int64_t)k, text + at, 300 - at);
    }
    return text;
}

/* Returns true if a finding has the text; messages are terminated. */
static bool said(size_t i, const char *part) { return strstr(xir_diags_at(why, i)->message.data, part) != NULL; }

static const xir_type *typed(xir_network *net, const char *layout, size_t rank, const char *const *texts) {
    static const int64_t zeros[8] = { 0 };
    xir_str dims[8];
    for (size_t i = 0; i < rank; i++) dims[i] = xir_str_of(texts[i]);
    const xir_type *like = xir_type_tensor_text(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), layout, zeros, rank);
    xir_diags_clear(why);
    return xir_network_type_with_dims(net, like, dims, rank, why);
}
#define TYPED(net, layout, ...) \
    typed(net, layout, COUNT(((const char *const[]){ __VA_ARGS__ })), (const char *const[]){ __VA_ARGS__ })

/* x[batch, height, 2*width, 3] -> conv 3x3, stride 2 -> reshape [-1, 4] -> out */
static xir_network *open_net(void) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", TYPED(net, "NHWC", "batch", "height", "2*width", "3"));
    xir_value *w = xir_params_new(net, XIR_STR("w"), FP32("HWIO", 3, 3, 3, 4));
    xir_conv2d_attrs conv = xir_conv2d_init();
    conv.stride_height = conv.stride_width = 2;
    conv.pad_top = conv.pad_left = conv.pad_right = conv.pad_bottom = 1;
    xir_reshape_attrs reshape = xir_reshape_init();
    reshape.shape = (xir_i64s){ (const int64_t[]){ -1, 4 }, 2 };
    reshape.layout = xir_layout_parse(ctx, XIR_STR("**"), NULL);
    xir_op *c = xir_network_add(net, &(xir_op_desc)DESC(conv2d, .attrs = &conv, INPUTS(x, w), .name = XIR_STR("c")));
    xir_op *r = xir_network_add(net, &(xir_op_desc)DESC(reshape, .attrs = &reshape, INPUTS(xir_op_output(c, 0)),
                                                        .name = XIR_STR("r")));
    assert_non_null(xir_output(at, XIR_VALUES(xir_op_output(r, 0))));
    assert_int_equal(xir_network_status(net), XIR_OK);
    return net;
}

static const xir_type *output_of(const xir_network *net, int64_t i) {
    return xir_value_type(xir_op_output(xir_network_op_at(net, i), 0));
}

static void expressions_follow_the_ops(void **state) {
    (void)state;
    xir_network *net = open_net();
    const xir_type *x = output_of(net, 0);
    assert_string_equal(dims_of(x), "batch, height, 2*width, 3");
    assert_true(xir_type_is_symbolic(x) && xir_type_dim(x, 0, false) == XIR_UNKNOWN_DIM);
    assert_true(xir_type_axis_dim(x, 'H', false) == XIR_UNKNOWN_DIM && xir_type_dim(x, 3, false) == 3);
    assert_string_equal(dims_of(output_of(net, 1)), "batch, floor((height + 1)/2), width, 4");
    assert_string_equal(dims_of(output_of(net, 2)), "batch*width*floor((height + 1)/2), 4");
    xir_symbol s[4];
    assert_int_equal(xir_network_symbols(net, s, 4), 3);
    CHECK_STR(s[0].name, "batch");
    CHECK_STR(s[2].name, "width");
    assert_true(s[0].least == 0 && s[0].most == XIR_SYMBOL_MOST);
    DOES(xir_network_validate(net, why));
    xir_network_free(net);
}

/* The names that the pass bind takes: symbols, then names that a file gives to dims. */
static void names_of_dims_are_listed_once(void **state) {
    (void)state;
    xir_network *net = open_net();
    const xir_any items[] = { xir_any_text(XIR_STR("n")), xir_any_text(XIR_STR("batch")), xir_any_null() };
    const xir_any list = xir_any_list(items, 3);
    DOES(xir_network_declare_symbol(net, XIR_STR("unused"), 1, 2, why));
    xir_op *tap = xir_network_add(net, &(xir_op_desc)DESC(hard_op, INPUTS(xir_op_output(xir_network_op_at(net, 2), 0)),
                                                           TYPES(FP32("***", -1, -1, 3))));
    DOES(xir_value_set_tag(xir_op_output(tap, 0), XIR_STR("source.dims"), &list));
    xir_str names[8];
    assert_int_equal(xir_network_dim_names(net, NULL, 0), 5);
    assert_int_equal(xir_network_dim_names(net, names, 8), 5);
    static const char *const expected[] = { "batch", "height", "width", "unused", "n" };
    for (size_t i = 0; i < 5; i++) CHECK_STR(names[i], expected[i]);
    assert_int_equal(xir_network_dim_names(NULL, names, 8), 0);
    xir_network_free(net);
}

static void dims_below_minus_one_are_refused(void **state) {
    (void)state;
    xir_network *net = open_net();
    const xir_type *x = output_of(net, 0);
    const int64_t foreign[] = { xir_type_as_tensor(x)->shape.data[0], 3 }, low[] = { -2, 3 };
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32), *two = FP32("NC", 1, 3);
    assert_null(xir_type_tensor(ctx, fp32, NULL, foreign, 2));
    assert_null(xir_type_tensor(ctx, fp32, NULL, low, 2));
    xir_diags_clear(why);
    assert_null(xir_type_with_shape(ctx, two, foreign, 2, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_BOUNDS);
    assert_null(xir_type_with_shape(ctx, two, low, 2, why));
    xir_tensor_type body = *xir_type_as_tensor(two);
    body.shape = (xir_i64s){ low, 2 };
    assert_null(xir_object_make(ctx, xir_tensor_type_class(), &body, why));
    assert_int_equal(xir_diags_at(why, 2)->code, XIR_E_BOUNDS);
    /* A variant of a type of the network may have its dims. */
    const xir_type *turned = xir_type_with_shape(ctx,
                                                 xir_type_with_layout(ctx, x, xir_layout_parse(ctx, XIR_STR("****"),
                                                 NULL), why), foreign, 2, why);
    assert_string_equal(dims_of(turned), "batch, 3");
    xir_network_free(net);
}

static void wrong_texts_are_refused(void **state) {
    (void)state;
    xir_network *net = new_net();
    assert_null(TYPED(net, "NC", "n +", "3"));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_SYNTAX);
    assert_null(TYPED(net, "NC", "3", "2 - 5"));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_BOUNDS);
    assert_null(xir_network_type_with_dims(net, xir_type_bool(ctx), NULL, 0, why));
    assert_string_equal(dims_of(TYPED(net, "NC", "?", "7")), "?, 7");
    assert_int_equal(xir_network_declare_symbol(net, XIR_STR("n\x01"), 0, 1, NULL), XIR_E_SYNTAX);
    assert_int_equal(xir_network_declare_symbol(net, XIR_STR("n"), -1, 1, NULL), XIR_E_BOUNDS);
    assert_int_equal(xir_network_declare_symbol(NULL, XIR_STR("n"), 0, 1, NULL), XIR_E_MISSING);
    xir_network_free(net);
}

static void dims_that_are_never_equal_are_findings(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *a = xir_input(XIR_AT(net), "a", TYPED(net, "NC", "n + 2", "4"));
    xir_value *b = xir_params_new(net, XIR_STR("b"), TYPED(net, "NC", "n + 3", "4"));
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(add, INPUTS(a, b))), XIR_E_INVALID,
                 "is n + 2, that of rhs is n + 3: expected the same or 1");
    xir_value *c = xir_params_new(net, XIR_STR("c"), TYPED(net, "NC", "4", "n"));
    REFUSES_NULL(net, xir_network_add(net, &(xir_op_desc)DESC(matmul, INPUTS(c, a))), XIR_E_INVALID,
                 "k has n + 2 rows, x has n columns");
    xir_network_free(net);
}

/* The dims of a sum of two vectors, or of two matrices, wherever it is valid. */
static void dims_that_fit_where_they_are_equal(void **state) {
    static const struct { const char *a[2], *b[2], *sum; } rows[] = {
        { { "length", "4" },        { "min(length, 32)", "4" },                      "length, 4"        },
        { { "min(n, 32)", "4" },    { "n", "4" },                                    "n, 4"             },
        { { "n", "4" },             { "min(n, 1)", "4" },                            "n, 4"             },
        { { "n", "4" },             { "max(n - 1, 0)", "4" },                        "?, 4"             },   // 1 and 0 give 0
        { { "n", "4" },             { "m", "4" },                                    "?, 4"             },
        { { "n", "n + m" },         { "min(n + m, 32) - min(m, 32)", "min(n + m, 32)" }, "n, m + n"     },
        { { "min(n + m, 32) - min(m, 32)", "min(n + m, 32)" }, { "n", "n + m" },     "n, m + n"         },
        { { "n", "m" },             { "min(n + m, 32) - min(m, 32)", "m" },          "?, m"             },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = new_net();
        const xir_type *types[] = { typed(net, "**", 2, rows[i].a), typed(net, "**", 2, rows[i].b) };
        xir_op *in = xir_inputs(XIR_AT(net), "in", types, 2);
        xir_op *add = xir_network_add(net, &(xir_op_desc)DESC(add, INPUTS(xir_op_output(in, 0), xir_op_output(in, 1))));
        assert_non_null(add);
        assert_string_equal(dims_of(xir_value_type(xir_op_output(add, 0))), rows[i].sum);
        xir_network_free(net);
    }
}

static void a_cast_keeps_open_dims(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", TYPED(net, "**", "n", "n + 1"));
    xir_cast_attrs a = xir_cast_init();
    static const int64_t open[] = { -1, -1 };
    a.target_dtype = xir_type_as_tensor(xir_type_tensor_text(ctx, xir_type_sint(ctx, 64), "**", open, 2));
    xir_op *cast = xir_network_add(net, &(xir_op_desc)DESC(cast, .attrs = &a, INPUTS(x)));
    assert_non_null(cast);
    assert_string_equal(dims_of(xir_value_type(xir_op_output(cast, 0))), "n, n + 1");
    xir_network_free(net);
}

static void copies_have_their_own_expressions(void **state) {
    (void)state;
    xir_network *net = open_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("batch"), 1, 64, why));
    xir_network *copy = xir_network_clone(net);
    assert_true(xir_type_equal(output_of(net, 2), output_of(copy, 2)));
    assert_true(xir_network_equal(net, copy, true));
    /* Fewer values of a symbol make another network. */
    DOES(xir_network_declare_symbol(net, XIR_STR("batch"), 1, 63, why));
    assert_false(xir_network_equal(net, copy, true));
    assert_false(xir_network_equal(copy, net, true));
    xir_network_free(net);
    assert_string_equal(dims_of(output_of(copy, 2)), "batch*width*floor((height + 1)/2), 4");
    /* A type of one network in another: a symbol there with more values is another one. */
    xir_network *other = new_net();
    DOES(xir_network_declare_symbol(other, XIR_STR("height"), 0, INT64_C(1) << 40, why));
    xir_value *v = xir_input(XIR_AT(other), "v", output_of(copy, 1));
    assert_string_equal(dims_of(xir_value_type(v)), "batch, ?, width, 4");
    xir_symbol s[4];
    assert_int_equal(xir_network_symbols(other, s, 4), 2);
    assert_true(s[0].most == 64);
    xir_network_free(other);
    xir_network_free(copy);
}

static void a_number_can_be_had_for_every_dim(void **state) {
    (void)state;
    xir_network *net = new_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("n"), 3, 9, why));
    const xir_type *type = TYPED(net, "****", "n", "2*n + m", "?", "5");
    assert_string_equal(dims_of(xir_type_with_known_dims(ctx, type, 1, why)), "3, 7, 1, 5");
    assert_string_equal(dims_of(xir_type_with_known_dims(ctx, type, 20, why)), "9, 38, 20, 5");
    assert_null(xir_type_with_known_dims(ctx, TYPED(net, "NC", "m - 2", "1"), 1, why));
    assert_int_equal(xir_diags_at(why, 0)->code, XIR_E_BOUNDS);
    xir_network_free(net);
}

/* ---- binding ---------------------------------------------------------------------------------------------------- */

static void binding_replaces_symbols(void **state) {
    (void)state;
    xir_network *net = open_net();
    const xir_symbol some[] = { { XIR_STR("batch"), 4, 4 }, { XIR_STR("height"), 7, 8 } };
    DOES(xir_network_bind(net, some, 2, why));
    assert_string_equal(dims_of(output_of(net, 0)), "4, height, 2*width, 3");
    assert_string_equal(dims_of(output_of(net, 1)), "4, 4, width, 4");   // both heights give 4
    const xir_symbol rest[] = { { XIR_STR("width"), 5, 5 }, { XIR_STR("height"), 8, 8 } };
    DOES(xir_network_bind(net, rest, 2, why));
    assert_string_equal(dims_of(output_of(net, 2)), "80, 4");
    assert_int_equal(xir_network_symbols(net, NULL, 0), 0);
    DOES(xir_network_infer(net, why));
    assert_string_equal(dims_of(output_of(net, 2)), "80, 4");
    xir_network_free(net);
}

/* Params with a symbol, used by an op in its place and then by one that has none yet. */
static void an_op_without_a_place_hides_no_symbol(void **state) {
    (void)state;
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("*", 4));
    xir_value *w = xir_params_new(net, XIR_STR("w"), TYPED(net, "*", "rows"));
    const xir_op_desc both = { .size = sizeof both, .cls = xir_class_opaque(ctx, XIR_STR("t::Op")), .id = XIR_NO_ID,
                               INPUTS(x, w), TYPES(FP32("*", 4)) };
    xir_op *placed = xir_network_add(net, &both), *loose = xir_op_new(net, &both);
    xir_symbol rows;
    assert_true(placed && loose);
    assert_int_equal(xir_network_symbols(net, &rows, 1), 1);
    rows.least = rows.most = 3;
    DOES(xir_network_bind(net, &rows, 1, why));
    assert_string_equal(dims_of(xir_value_type(w)), "3");
    xir_network_free(net);
}

static void wrong_bindings_change_nothing(void **state) {
    (void)state;
    static const struct { xir_symbol to[2]; size_t n; xir_status status; const char *part; } rows[] = {
        { { { { "depth", 5 }, 1, 1 } },                   1, XIR_E_UNKNOWN, "found 'depth'"            },
        { { { { "n", 1 }, -1, -1 } },                     1, XIR_E_BOUNDS,  "within 0..100, found -1"  },
        { { { { "n", 1 }, 101, 101 } },                   1, XIR_E_BOUNDS,  "within 0..100, found 101" },
        { { { { "n", 1 }, 8, 7 } },                       1, XIR_E_BOUNDS,  "found 8..7"               },
        { { { { "n", 1 }, 2, 2 } },                       1, XIR_E_BOUNDS,  "is n - 3: expected at least 0, found -1" },
        { { { { "n", 1 }, 4, 9 }, { { "n", 1 }, 7, 7 } }, 2, XIR_E_EXISTS,  "one binding for the symbol 'n'" },
    };
    xir_network *net = new_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("n"), 0, 100, why));
    xir_value *v = xir_input(XIR_AT(net), "v", TYPED(net, "NC", "n", "n - 3"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_diags_clear(why);
        assert_int_equal(xir_network_bind(net, rows[i].to, rows[i].n, why), rows[i].status);
        assert_true(said(0, rows[i].part));
        assert_string_equal(dims_of(xir_value_type(v)), "n, n - 3");
    }
    xir_symbol s;
    assert_true(xir_network_symbols(net, &s, 1) == 1 && s.least == 0 && s.most == 100);
    xir_network_free(net);
}

static void the_pass_binds(void **state) {
    (void)state;
    xir_network *net = open_net();
    size_t changes = 0;
    DOES(xir_pass_run(net, "bind", "dims=\"batch=4;height=8..512;\"", &changes, why));
    assert_int_equal(changes, 1);
    assert_string_equal(dims_of(output_of(net, 0)), "4, height, 2*width, 3");
    xir_symbol s[2];
    assert_true(xir_network_symbols(net, s, 2) == 2 && s[0].least == 8 && s[0].most == 512);
    static const struct { const char *dims; xir_status status; const char *part; } wrong[] = {
        { "batch",                      XIR_E_SYNTAX,  "bind: dims, 'batch', character 1: expected NAME=N or NAME=A..B" },
        { "=4",                         XIR_E_SYNTAX,  "'=4', character 2: expected NAME=N"                      },
        { "width=",                     XIR_E_SYNTAX,  "'width=', character 7: expected a number, found the end" },
        { "width=4..",                  XIR_E_SYNTAX,  "character 10: expected a number"                         },
        { "width=4..5x",                XIR_E_SYNTAX,  "character 11: expected the end, found 'x'"               },
        { "width=99999999999999999999", XIR_E_BOUNDS,  "character 7"                                             },
        { "width=4611686018427387904",  XIR_E_BOUNDS,  "within 0..2147483647, found 4611686018427387904"         },
        { "width=-1",                   XIR_E_BOUNDS,  "bind: dims: expected values of 'width' within 0..2147483647, "
                                                       "found -1"                                                },
        { "width=2..1",                 XIR_E_BOUNDS,  "found 2..1"                                              },
        { "height=7..8",                XIR_E_BOUNDS,  "within 8..512, found 7..8"                               },
        { "width=3;height=9;width=4",   XIR_E_EXISTS,  "dims, 'width=4': the name 'width' appears twice"         },
        { "widht=3",                    XIR_E_UNKNOWN, "no open dim has the name 'widht'; did you mean 'width'?" },
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char options[100];
        snprintf(options, sizeof options, "dims=\"%s\"", wrong[i].dims);
        xir_diags_clear(why);
        const xir_status status = xir_pass_run(net, "bind", options, &changes, why);
        if (status != wrong[i].status || !said(0, wrong[i].part))
            fail_msg("%s: %s, %s", wrong[i].dims, xir_status_name(status), xir_diags_at(why, 0)->message.data);
        assert_string_equal(dims_of(output_of(net, 0)), "4, height, 2*width, 3");
    }
    /* The same interval once more changes nothing. */
    DOES(xir_pass_run(net, "bind", "dims=\"height=8..512\"", &changes, why));
    assert_int_equal(changes, 0);
    DOES(xir_pass_run(net, "bind", NULL, &changes, why));
    assert_int_equal(changes, 0);
    xir_network_free(net);
}

/* A name that the file gives to an open dim, but that is not a symbol. */
static void the_pass_binds_names_of_the_file(void **state) {
    (void)state;
    static const struct { const char *dims; xir_status status; const char *part; } rows[] = {
        { "dims=\"rows=2..3\"",   XIR_E_UNSUPPORTED, "'rows=2..3': expected a number, found an interval" },
        { "dims=\"rows=-1\"",     XIR_E_BOUNDS,      "'rows=-1': expected values within 0..46116860184273879" },
        { "dims=\"rows=3..2\"",   XIR_E_BOUNDS,      "'rows=3..2': expected values within 0.."              },
        { "dims=\"rows=2;rows=2\"", XIR_E_EXISTS,    "the name 'rows' appears twice"                        },
        { "dims=\"row=2\"",       XIR_E_UNKNOWN,     "no open dim has the name 'row'"                       },
        { "dims=\"rows=2\"",      XIR_OK,            NULL                                                   },
    };
    const xir_any names[] = { xir_any_text(XIR_STR("rows")), xir_any_null(), xir_any_text(XIR_STR("columns")) };
    xir_network *net = new_net();
    xir_value *v = xir_input(XIR_AT(net), "v", TYPED(net, "***", "?", "?", "n"));
    DOES(xir_value_set_tag(v, XIR_STR("source.dims"), &(xir_any){ .kind = XIR_ANY_LIST, .as.list = { names, 3 } }));
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t changes = 0;
        xir_diags_clear(why);
        const xir_status status = xir_pass_run(net, "bind", rows[i].dims, &changes, why);
        if (status != rows[i].status || (rows[i].part && !said(0, rows[i].part)))
            fail_msg("%s: %s, %s", rows[i].dims, xir_status_name(status), xir_diags_at(why, 0)->message.data);
        assert_string_equal(dims_of(xir_value_type(v)), status ? "?, ?, n" : "2, ?, n");
        assert_int_equal(changes, !status);
    }
    assert_non_null(xir_map_find(xir_value_tags(v), XIR_STR("source.dims")));   /* a dim is still open */
    xir_network_free(net);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

typedef struct bytes { char data[1 << 16]; size_t size; } bytes;
static bool keep(void *user, const void *data, size_t size) {
    bytes *b = user;
    if (size > sizeof b->data - b->size) return false;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

static void every_format_keeps_them(void **state) {
    (void)state;
    static const char *const formats[] = { "json", "imodel", "fb" };
    static bytes first, again;
    xir_network *net = open_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("batch"), 1, 64, why));
    for (size_t i = 0; i < COUNT(formats); i++) {
        const xir_save_options save = XIR_INIT(xir_save_options, .format = formats[i], .no_params = true);
        const xir_load_options load = XIR_INIT(xir_load_options, .format = formats[i], .no_params = true);
        first.size = again.size = 0;
        xir_diags_clear(why);
        DOES(xir_network_write(net, keep, &first, &save, why));
        xir_network *read = xir_network_read(ctx, first.data, first.size, XIR_STR("net"), &load, why);
        if (!read) fail_msg("%s: %s", formats[i], xir_diags_at(why, 0)->message.data);
        for (int64_t k = 0; k < 3; k++) assert_true(xir_type_equal(output_of(net, k), output_of(read, k)));
        xir_symbol s[3];
        assert_true(xir_network_symbols(read, s, 3) == 3 && s[0].least == 1 && s[0].most == 64);
        assert_true(!xir_network_extra(read) || !xir_map_find(xir_network_extra(read), XIR_STR("xir.symbols")));
        DOES(xir_network_write(read, keep, &again, &save, why));
        assert_true(first.size == again.size && memcmp(first.data, again.data, first.size) == 0);
        xir_network_free(read);
    }
    first.size = 0;
    DOES(xir_network_write(net, keep, &first, &XIR_INIT(xir_save_options, .format = "json", .no_params = true), why));
    first.data[first.size] = '\0';
    assert_non_null(strstr(first.data, "\"shape\":[-1,-1,-1,3]"));
    assert_non_null(strstr(first.data, "\"xir.dims\":[\"batch\",\"height\",\"2*width\",\"\"]"));
    assert_non_null(strstr(first.data, "\"xir.symbols\":{\"batch\":\"1..64\",\"height\":\"0..2147483647\","));
    assert_null(strstr(first.data, "-4611"));
    assert_null(xir_network_extra(net));   // the keys exist only in files
    xir_network_free(net);
}

/* Replaces `from` everywhere in the JSON of the network, which must then be refused: a value is written at each use. */
static void expect_refused(const bytes *json, const char *from, const char *to, xir_status status, const char *part) {
    static bytes changed;
    if (!strstr(json->data, from)) fail_msg("no %s in the file", from);
    changed.size = 0;
    for (const char *at = json->data, *next; *at; at = next + (*next ? strlen(from) : 0)) {
        next = strstr(at, from);
        if (!next) next = json->data + json->size;
        keep(&changed, at, (size_t)(next - at));
        if (*next) keep(&changed, to, strlen(to));
    }
    xir_diags_clear(why);
    const xir_load_options load = XIR_INIT(xir_load_options, .format = "json", .no_params = true);
    xir_network *net = xir_network_read(ctx, changed.data, changed.size, XIR_STR("net"), &load, why);
    if (net) fail_msg("%s was accepted", to);
    const xir_diag *d = xir_diags_at(why, 0);
    if (d->code != status || !said(0, part)) {
        fail_msg("%s: expected %s '%s', found %s '%s'", to, xir_status_name(status), part, xir_status_name(d->code),
                 d->message.data);
    }
}

static void wrong_files_are_refused(void **state) {
    (void)state;
    static bytes json;
    xir_network *net = open_net();
    json.size = 0;
    DOES(xir_network_write(net, keep, &json, &XIR_INIT(xir_save_options, .format = "json", .no_params = true), why));
    json.data[json.size] = '\0';
    const char *all = "\"xir.symbols\":{\"batch\":\"0..2147483647\"";
    expect_refused(&json, all, "\"xir.symbols\":{\"batch\":\"5..4\"", XIR_E_BOUNDS, "found 5..4");
    expect_refused(&json, all, "\"xir.symbols\":{\"batch\":\"-1..4\"", XIR_E_BOUNDS, "found -1..4");
    expect_refused(&json, all, "\"xir.symbols\":{\"batch\":7", XIR_E_SYNTAX, "expected the interval");
    expect_refused(&json, all, "\"xir.symbols\":{\"ba\\u0001tch\":\"0..7\"", XIR_E_SYNTAX,
                   "without control characters");
    expect_refused(&json, all, "\"xir.symbols\":{\"b\":\"0..7\"", XIR_E_UNKNOWN, "does not have 'batch'");
    const char *conv = "\"xir.dims\":[\"batch*width*floor((height + 1)/2)\",\"\"]";
    expect_refused(&json, conv, "\"xir.dims\":[\"batch*\",\"\"]", XIR_E_SYNTAX, "character 7");
    expect_refused(&json, conv, "\"xir.dims\":[\"99999999999999999999*batch\",\"\"]", XIR_E_BOUNDS, "character 1");
    expect_refused(&json, conv, "\"xir.dims\":[\"batch\"]", XIR_E_TYPE, "a list of 2 texts");
    expect_refused(&json, conv, "\"xir.dims\":[\"batch\",\"width\"]", XIR_E_INVALID, "expected -1 for dim 1");
    expect_refused(&json, conv, "\"xir.dims\":[7,\"\"]", XIR_E_TYPE, "expected a text for dim 0");
    expect_refused(&json, "\"shape\":[-1,-1,-1,3]", "\"shape\":[-5,-1,-1,3]", XIR_E_BOUNDS, "found -5");
    char deep[4000] = "\"xir.dims\":[\"";
    memset(deep + strlen(deep), '(', 3000);
    strcat(deep, "\",\"\"]");
    expect_refused(&json, conv, deep, XIR_E_LIMIT, "levels of parentheses");
    xir_network_free(net);
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static xir_array *filled(int64_t n, int64_t c) { return xir_array_new(ctx, FP32("NC", n, c), why); }

static void arrays_must_fit_the_symbols(void **state) {
    (void)state;
    xir_network *net = new_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("n"), 1, 8, why));
    const xir_type *types[] = { TYPED(net, "NC", "n", "4"), TYPED(net, "NC", "2*n", "n") };
    xir_op *in = xir_inputs(XIR_AT(net), "in", types, 2);
    xir_op *a = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(xir_op_output(in, 0))));
    xir_op *b = xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(xir_op_output(in, 1))));
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(xir_op_output(a, 0), xir_op_output(b, 0))));
    static const struct { int64_t n, m, k; xir_status status; const char *part; } rows[] = {
        { 3, 6, 3, XIR_OK,        NULL },
        { 9, 18, 9, XIR_E_BOUNDS, "input 0 '' of the network: dim 0 is n: expected 1..8, found 9" },
        { 3, 6, 4, XIR_E_INVALID, "dim 1 is n: expected 3, as in the other dims, found 4" },
        { 3, 7, 3, XIR_E_INVALID, "dim 0 is 2*n: expected 6, as in the other dims, found 7" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_array *out[2], *given[2] = { filled(rows[i].n, 4), filled(rows[i].m, rows[i].k) };
        xir_diags_clear(why);
        xir_status status = xir_network_run(net, (const xir_array *const *)given, 2, out, 2, NULL, why);
        assert_int_equal(status, rows[i].status);
        if (rows[i].part && !said(0, rows[i].part)) {
            fail_msg("%s", xir_diags_at(why, 0)->message.data);
        }
        for (size_t k = 0; k < 2; k++) {
            xir_array_free(given[k]);
            if (!status) xir_array_free(out[k]);
        }
    }
    xir_network_free(net);
}

/* ---- random graphs ---------------------------------------------------------------------------------------------- */

enum { OPS = 12, SYMBOLS = 3, BINDINGS = 20 };

static int64_t upto(uint64_t n) { return (int64_t)chance(n); }

/* Adds an op over earlier values; it may be refused. */
static xir_op *add_op(xir_network *net, xir_value *const *values, size_t n) {
    xir_value *x = values[chance(n)], *y = values[chance(n)];
    size_t rank = xir_type_rank(xir_value_type(x));
    int64_t list[16] = { 0 }, other[16] = { 0 }, ones[16] = { 0 };
    xir_layout const *stars = xir_layout_default(ctx, rank);
    switch (chance(13)) {
    case 0: return xir_network_add(net, &(xir_op_desc)DESC(relu, INPUTS(x)));
    case 1: return xir_network_add(net, &(xir_op_desc)DESC(add, INPUTS(x, y)));
    case 2: return xir_network_add(net, &(xir_op_desc)DESC(matmul, INPUTS(x, y)));
    case 3: {
        xir_concat_attrs a = xir_concat_init();
        a.axis = upto(rank);
        return xir_network_add(net, &(xir_op_desc)DESC(concat, .attrs = &a, INPUTS(x, y)));
    }
    case 4: {
        xir_slice_attrs a = xir_slice_init();
        for (size_t i = 0; i < rank; i++) {
            list[i] = upto(7) - 3;
            other[i] = chance(3) ? INT64_MAX : upto(9) - 4;
            ones[i] = chance(3) ? 1 : chance(2) ? 2 : -1;
        }
        a.begin = (xir_i64s){ list, rank };
        a.end = (xir_i64s){ other, rank };
        a.stride = (xir_i64s){ ones, rank };
        return xir_network_add(net, &(xir_op_desc)DESC(slice, .attrs = &a, INPUTS(x)));
    }
    case 5: {
        xir_pad_attrs a = xir_pad_init();
        for (size_t i = 0; i < 2 * rank; i++) list[i] = upto(5) - 1;
        a.padding = (xir_i64s){ list, 2 * rank };
        return xir_network_add(net, &(xir_op_desc)DESC(pad, .attrs = &a, INPUTS(x)));
    }
    case 6: {
        xir_reshape_attrs a = xir_reshape_init();
        list[0] = 1 + upto(4);
        list[1] = chance(2) ? -1 : 1;
        list[2] = list[1] < 0 ? 1 + upto(3) : -1;
        a.shape = (xir_i64s){ list, 3 };
        a.layout = xir_layout_default(ctx, 3);
        return xir_network_add(net, &(xir_op_desc)DESC(reshape, .attrs = &a, INPUTS(x)));
    }
    case 7: {
        xir_transpose_attrs a = xir_transpose_init();
        for (size_t i = 0; i < rank; i++) list[i] = (int64_t)(rank - 1 - i);
        a.dims = (xir_i64s){ list, rank };
        a.layout = stars;
        return xir_network_add(net, &(xir_op_desc)DESC(transpose, .attrs = &a, INPUTS(x)));
    }
    case 8: {
        xir_tile_attrs a = xir_tile_init();
        for (size_t i = 0; i < rank; i++) list[i] = upto(4);
        a.dims = (xir_i64s){ list, rank };
        return xir_network_add(net, &(xir_op_desc)DESC(tile, .attrs = &a, INPUTS(x)));
    }
    case 9: {
        xir_max_pool1d_attrs a = xir_max_pool1d_init();
        a.pool_width = 1 + upto(3);
        a.stride_width = 1 + upto(3);
        a.pad_left = upto(2);
        return xir_network_add(net, &(xir_op_desc)DESC(max_pool1d, .attrs = &a, INPUTS(x)));
    }
    case 10: {
        xir_mean_attrs a = xir_mean_init();
        list[0] = upto(rank);
        a.dim = (xir_i64s){ list, 1 };
        a.keepdim = chance(2);
        return xir_network_add(net, &(xir_op_desc)DESC(mean, .attrs = &a, INPUTS(x)));
    }
    case 11: {
        xir_softmax_attrs a = xir_softmax_init();
        a.axis = -1;
        return xir_network_add(net, &(xir_op_desc)DESC(softmax, .attrs = &a, INPUTS(x)));
    }
    default: {
        xir_expand_attrs a = xir_expand_init();
        list[0] = 1 + upto(3);
        for (size_t i = 1; i <= rank; i++) list[i] = -1;
        a.sizes = (xir_i64s){ list, rank + 1 };
        return rank > 3 ? NULL : xir_network_add(net, &(xir_op_desc)DESC(expand, .attrs = &a, INPUTS(x)));
    }
    }
}

static xir_network *random_graph(void) {
    static const char *const dims[] = { "a", "b", "c", "2*a", "b + 1", "a*b", "max(b - 2, 1)", "1", "3", "4",
                                        "min(a, 5)", "max(a - 1, 0)" };
    xir_network *net = new_net();
    const xir_type *types[3];
    xir_value *values[OPS + 3];
    size_t n = 0;
    DOES(xir_network_declare_symbol(net, XIR_STR("a"), 0, XIR_SYMBOL_MOST, why));
    DOES(xir_network_declare_symbol(net, XIR_STR("b"), 1, 64, why));
    for (size_t i = 0; i < 3; i++) {
        const char *const texts[] = { dims[chance(COUNT(dims))], dims[chance(COUNT(dims))], dims[chance(COUNT(dims))] };
        types[i] = typed(net, "***", 3, texts);
    }
    xir_op *in = xir_inputs(XIR_AT(net), "in", types, 3);
    for (; n < 3; n++) values[n] = xir_op_output(in, (int64_t)n);
    for (size_t i = 0; i < OPS; i++) {
        xir_op *op = add_op(net, values, n);
        if (op) values[n++] = xir_op_output(op, 0);
        xir_network_clear_status(net);
    }
    assert_non_null(xir_output(XIR_AT(net), XIR_VALUES(values[n - 1])));
    return net;
}

/* Returns the number of an expression for these values of a, b and c; -1 if it is unknown. */
static int64_t number_for(const xir_network *net, int64_t dim, const int64_t values[SYMBOLS]) {
    int64_t v = dim;
    if (dim_is_symbolic(dim)) assert_true(expr_evaluate(&net->pool, dim, values, SYMBOLS, &v));
    return v;
}

/* Returns true if an op, or one that it needs, was refused for these values. */
static bool is_refused(xir_op *op, xir_op *const *refused, size_t n) {
    for (int64_t i = 0; i < (int64_t)xir_op_input_count(op); i++) {
        const xir_op *from = xir_value_op(xir_op_input(op, i));
        for (size_t k = 0; k < n; k++) if (refused[k] == from) return true;
    }
    return xir_op_infer(op, true) != XIR_OK;
}

static void compare(const xir_network *net, const xir_op *open, const xir_op *op, const int64_t values[SYMBOLS]) {
    const xir_type *says = xir_value_type(xir_op_output(open, 0)), *is = xir_value_type(xir_op_output(op, 0));
    assert_int_equal(xir_type_rank(says), xir_type_rank(is));
    for (int64_t k = 0; k < (int64_t)xir_type_rank(is); k++) {
        int64_t dim = number_for(net, xir_type_as_tensor(says)->shape.data[k], values);
        if (xir_type_as_tensor(says)->shape.data[k] == XIR_UNKNOWN_DIM || dim == xir_type_dim(is, k, false)) continue;
        fail_msg("%.*s: dim %d of [%s] is %lld, expected [%s] for %lld, %lld, %lld",
                 (int)xir_class_key(xir_op_class(op)).size, xir_class_key(xir_op_class(op)).data, (int)k, dims_of(says),
                 (long long)dim, dims_of(is), (long long)values[0], (long long)values[1], (long long)values[2]);
    }
}

/* Infers a copy whose inputs have numbers. Returns how many ops take them; all others may say anything. */
static size_t check_values(const xir_network *net, const int64_t values[SYMBOLS]) {
    xir_network *copy = xir_network_clone(net);
    xir_op *refused[OPS], *in = xir_network_input_op(copy);
    size_t n_refused = 0, good = 0;
    for (int64_t i = 0; i < 3; i++) {
        int64_t dims[3];
        const xir_type *type = xir_value_type(xir_op_output(in, i));
        for (size_t k = 0; k < 3; k++) dims[k] = number_for(net, xir_type_as_tensor(type)->shape.data[k], values);
        DOES(xir_value_set_type(xir_op_output(in, i), xir_type_with_shape(ctx, type, dims, 3, why)));
    }
    const xir_op *open = xir_network_first(net);
    for (xir_op *op = xir_network_first(copy); op; op = xir_op_next(op), open = xir_op_next(open)) {
        if (op == in || xir_op_output_count(op) == 0) continue;
        if (is_refused(op, refused, n_refused)) {
            refused[n_refused++] = op;
            continue;
        }
        good++;
        compare(net, open, op, values);
    }
    xir_network_free(copy);
    return good;
}

static void random_graphs_agree_with_every_binding(void **state) {
    (void)state;
    const char *more = getenv("XIR_SYMBOL_GRAPHS");
    size_t graphs = more ? (size_t)atol(more) : OFTEN(150), good = 0, all = 0;
    for (size_t g = 0; g < graphs; g++) {
        xir_network *net = random_graph();
        DOES(xir_network_declare_symbol(net, XIR_STR("c"), 0, XIR_SYMBOL_MOST, why));
        for (int i = 0; i < BINDINGS; i++) {
            int64_t values[SYMBOLS];
            for (size_t k = 0; k < SYMBOLS; k++) values[k] = i < 2 ? i : upto(i < 12 ? 8 : 40);
            if (values[1] < 1) values[1] = 1;
            good += check_values(net, values);
            all += xir_network_op_count(net) - 2;
        }
        xir_network_free(net);
        xir_diags_clear(why);
    }
    print_message("%zu graphs, %zu bindings; %zu of %zu ops take the values\n", graphs, graphs * BINDINGS, good, all);
    assert_true(good > all / 2);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_follow_the_ops),
        cmocka_unit_test(names_of_dims_are_listed_once),
        cmocka_unit_test(dims_below_minus_one_are_refused),
        cmocka_unit_test(wrong_texts_are_refused),
        cmocka_unit_test(dims_that_are_never_equal_are_findings),
        cmocka_unit_test(dims_that_fit_where_they_are_equal),
        cmocka_unit_test(a_cast_keeps_open_dims),
        cmocka_unit_test(copies_have_their_own_expressions),
        cmocka_unit_test(a_number_can_be_had_for_every_dim),
        cmocka_unit_test(binding_replaces_symbols),
        cmocka_unit_test(an_op_without_a_place_hides_no_symbol),
        cmocka_unit_test(wrong_bindings_change_nothing),
        cmocka_unit_test(the_pass_binds),
        cmocka_unit_test(the_pass_binds_names_of_the_file),
        cmocka_unit_test(every_format_keeps_them),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(arrays_must_fit_the_symbols),
        cmocka_unit_test(random_graphs_agree_with_every_binding),
    };
    return RUN_GROUP(tests);
}
