/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A format of a plug-in (tests/plugin/lines.c): a text of a foreign format is read, checked, converted, run and
 * written by the same calls as any other, and XIR's ops are converted to its dialect. docs/writing-a-format.md explains
 * the plug-in. */
#include <math.h>
#include <xir/convert.h>
#include <xir/xir.h>
#include "support/net.h"
#include "support/scratch.h"

static const char model[] = "lines 1\n"
                            "input x 1,2,2,1\n"
                            "scale y x by=0.5\n"
                            "relu z y\n"
                            "add w z x\n"
                            "output w\n";

/* Each operator of the dialect, and each kind of attribute. */
static const char every[] = "lines 1\n"
                            "input x 1,2,4,4\n"
                            "params k 2,2,3,3 0.5 -0.25 1 0 0.125 -1 2 -0.5 0.75 0.5 -0.25 1 0 0.125 -1 2 -0.5 0.75 "
                            "0.25 1 -0.5 0 0.5 -1 1 -2 0.75 -0.25 1 0 0.125 -1 2 -0.5 0.75 0.5\n"
                            "params b 2 0.100000001 -3\n"
                            "conv c x k b dilation=[1,1] groups=1 pad=[1,1,1,1] stride=[1,1]\n"
                            "relu r c\n"
                            "maxpool m r pad=[0,0,0,0] size=[2,2] stride=[1,1]\n"
                            "avgpool a r pad=[0,0,0,0] size=[2,2] stride=[1,1]\n"
                            "add s m a\n"
                            "sigmoid g s\n"
                            "scale h g by=2.5\n"
                            "resize z h mode=linear size=[5,7]\n"
                            "pad p z by=[0,0,0,0,1,0,0,2]\n"
                            "norm n p axes=[-1] eps=1.0000000000000001e-05\n"
                            "concat j n p axis=1\n"
                            "transpose t j order=[0,2,3,1]\n"
                            "output t\n";

static xir_context *with;

static int load_plugin(void **state) {
    (void)state;
    with = xir_context_new(NULL);
    return !with || xir_plugin_load(with, XIR_TEST_PLUGINS "/lines.so", NULL);
}

static int drop_plugin(void **state) {
    (void)state;
    xir_context_free(with);
    return 0;
}

static xir_network *read_model(const char *text, xir_diags *found) {
    return xir_network_read(with, text, strlen(text), XIR_STR("model.lines"), NULL, found);
}

typedef struct written { char text[4096]; size_t size; } written;

static bool keep(void *user, const void *data, size_t size) {
    written *w = user;
    if (size > sizeof w->text - 1 - w->size) return false;
    memcpy(w->text + w->size, data, size);
    w->text[w->size += size] = '\0';
    return true;
}

static void a_text_comes_back_unchanged(void **state) {
    (void)state;
    written out = { .size = 0 };
    xir_network *net = read_model(model, NULL);
    assert_non_null(net);
    assert_int_equal(xir_network_op_count(net), 5);
    assert_true(xir_network_is_dialect(net));
    assert_int_equal(xir_network_write(net, keep, &out, &XIR_INIT(xir_save_options, .format = "lines"), NULL), XIR_OK);
    assert_string_equal(out.text, model);
    xir_network_free(net);
}

static bool says(xir_str text, const char *part) { return memmem(text.data, text.size, part, strlen(part)) != NULL; }

static xir_network *read_whole(const char *text) {
    xir_diags *found = xir_diags_new(with);
    xir_network *net = read_model(text, found);
    if (!net) xir_diags_print(found, stderr);
    assert_non_null(net);
    xir_diags_free(found);
    return net;
}

static void write_whole(xir_network *net, written *out) {
    xir_diags *found = xir_diags_new(with);
    *out = (written){ .size = 0 };
    if (xir_network_write(net, keep, out, &XIR_INIT(xir_save_options, .format = "lines"), found)) {
        xir_diags_print(found, stderr);
        fail_msg("it is not written");
    }
    xir_diags_free(found);
}

static void run_pass(xir_network *net, const char *pass, const char *options) {
    xir_diags *found = xir_diags_new(with);
    if (xir_pass_run(net, pass, options, NULL, found) || xir_network_validate(net, found)) {
        xir_diags_print(found, stderr);
        fail_msg("%s fails", pass);
    }
    xir_diags_free(found);
}

static xir_array *run_whole(xir_network *net) {
    xir_value *input;
    xir_array *out = NULL;
    assert_int_equal(xir_network_inputs(net, &input, 1), 1);
    xir_array *in = xir_array_random(with, xir_value_type(input), 1, NULL);
    DOES(xir_network_run(net, (const xir_array *const[]){ in }, 1, &out, 1, NULL, NULL));
    xir_array_free(in);
    return out;
}

/* All operators in both directions. What is written is read and written again, byte for byte. */
static void every_operator_goes_both_ways(void **state) {
    (void)state;
    written once, twice;
    xir_network *net = read_whole(every);
    write_whole(net, &once);
    assert_string_equal(once.text, every);
    DOES(xir_dialect_check(net, NULL));
    run_pass(net, "to-xir", "strict=true");
    xir_array *expected = run_whole(net);
    run_pass(net, "layout", "to=nchw");
    run_pass(net, "xir-to-lines", "strict=true");
    write_whole(net, &once);
    xir_network_free(net);
    net = read_whole(once.text);
    write_whole(net, &twice);
    assert_string_equal(twice.text, once.text);
    run_pass(net, "to-xir", "strict=true");
    xir_array *found = run_whole(net);
    assert_int_equal(xir_array_count(found), xir_array_count(expected));
    for (size_t i = 0; i < xir_array_count(found); i++)
        if (fabs(xir_array_real(found, i) - xir_array_real(expected, i)) > 1e-5)
            fail_msg("element %zu is %g, not %g", i, xir_array_real(found, i), xir_array_real(expected, i));
    xir_array_free(expected);
    xir_array_free(found);
    xir_network_free(net);
}

static void what_a_line_cannot_hold_is_refused(void **state) {
    (void)state;
    static const struct { const char *text, *name, *says; } rows[] = {
        { "lines 1\ninput x 1,2\nrelu y x\noutput y\n", "",    "no unique name" },
        { "lines 1\ninput x 1,2\nrelu y x\noutput y\n", "a b", "no unique name" },
        { "lines 1\ninput x 1,2\nrelu y x\noutput y\n", "x",   "no unique name" },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        written out = { .size = 0 };
        xir_diags *found = xir_diags_new(with);
        xir_network *net = read_whole(rows[i].text);
        DOES(xir_value_set_name(xir_op_output(xir_op_next(xir_network_first(net)), 0), xir_str_of(rows[i].name)));
        assert_int_equal(xir_network_write(net, keep, &out, &XIR_INIT(xir_save_options, .format = "lines"), found),
                         XIR_E_UNSUPPORTED);
        assert_true(says(xir_diags_at(found, 0)->message, rows[i].says));
        xir_diags_free(found);
        xir_network_free(net);
    }
}

static void every_other_format_keeps_it(void **state) {
    (void)state;
    static const char *const formats[] = { "json", "imodel", "fb" };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        written there = { .size = 0 }, back = { .size = 0 };
        xir_network *net = read_model(model, NULL);
        DOES(xir_network_write(net, keep, &there, &XIR_INIT(xir_save_options, .format = formats[i]), NULL));
        xir_network_free(net);
        net = xir_network_read(with, there.text, there.size, XIR_STR(""), NULL, NULL);
        assert_non_null(net);
        DOES(xir_network_write(net, keep, &back, &XIR_INIT(xir_save_options, .format = "lines"), NULL));
        assert_string_equal(back.text, model);
        xir_network_free(net);
    }
}

static void it_is_converted_and_run(void **state) {
    (void)state;
    static const float x[] = { -2, -1, 1, 4 }, expected[] = { -2, -1, 1.5f, 6 };
    xir_network *net = read_model(model, NULL);
    assert_int_equal(xir_pass_run(net, "to-xir", "strict=true", NULL, NULL), XIR_OK);
    assert_false(xir_network_is_dialect(net));
    assert_int_equal(xir_network_validate(net, NULL), XIR_OK);
    xir_value *input;
    assert_int_equal(xir_network_inputs(net, &input, 1), 1);
    xir_array *in = xir_array_new(with, xir_value_type(input), NULL), *out = NULL;
    memcpy(xir_array_edit(in), x, sizeof x);
    const xir_array *const arrays[] = { in };
    assert_int_equal(xir_network_run(net, arrays, 1, &out, 1, NULL, NULL), XIR_OK);
    assert_memory_equal(xir_array_data(out, NULL), expected, sizeof expected);
    xir_array_free(in);
    xir_array_free(out);
    xir_network_free(net);
}

static void a_network_from_it_can_be_checked(void **state) {
    (void)state;
    static const struct { const char *line, *path, *says; } rows[] = {
        { "scale y x\n",         "/ops/0/attribute/by", "by"      },
        { "scale y x by=much\n", "/ops/0/attribute/by", "by"      },
        { "relu y x x\n",        "/ops/0",              "input"   },
        { "swish y x\n",         "/ops/0",              "swish"   },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[200];
        snprintf(text, sizeof text, "lines 1\ninput x 1,2,2,1\n%soutput y\n", rows[i].line);
        xir_network *net = read_model(text, NULL);
        xir_diags *found = xir_diags_new(with);
        assert_non_null(net);
        assert_int_not_equal(xir_dialect_check(net, found), XIR_OK);
        assert_int_equal(xir_diags_count_of(found, XIR_ERROR), 1);
        const xir_diag *first = xir_diags_at(found, 0);
        if (!says(first->message, rows[i].says) || !says(first->path, rows[i].path)) {
            xir_diags_print(found, stderr);
            fail_msg("expected '%s' at %s", rows[i].says, rows[i].path);
        }
        xir_diags_free(found);
        xir_network_free(net);
    }
}

static void a_bad_text_is_refused_with_its_line(void **state) {
    (void)state;
    static const struct { const char *text; xir_status status; unsigned line, column; const char *says; } rows[] = {
        { "lines 1\n",                                       XIR_E_SYNTAX,  2, 1,  "the line of the outputs is missing"   },
        { "lines 1\nrelu y x\n",                             XIR_E_SYNTAX,  2, 1,  "expected the input, found 'relu'"     },
        { "lines 1\ninput x 1,,2\n",                         XIR_E_SYNTAX,  2, 9,  "dims"                                 },
        { "lines 1\ninput x 1,02\n",                         XIR_E_SYNTAX,  2, 9,  "dims"                                 },
        { "lines 1\ninput x 1,-2\n",                         XIR_E_SYNTAX,  2, 9,  "dims"                                 },
        { "lines 1\ninput x 1,10000000\n",                   XIR_E_SYNTAX,  2, 9,  "dims"                                 },
        { "lines 1\ninput x 1,2\ninput y 1\n",               XIR_E_SYNTAX,  3, 1,  "there is one input"                   },
        { "lines 1\ninput x 1\nrelu y z\n",                  XIR_E_UNKNOWN, 3, 8,  "no earlier line makes 'z'"            },
        { "lines 1\ninput x 1\nrelu x x\n",                  XIR_E_EXISTS,  3, 6,  "there is already a value 'x'"         },
        { "lines 1\ninput x 1\noutput x\nrelu y x\n",        XIR_E_SYNTAX,  4, 1,  "a line follows the outputs"           },
        { "lines 1\ninput x 1\nrelu y x =1\n",               XIR_E_SYNTAX,  3, 10, "expected an attribute, found '=1'"    },
        { "lines 1\ninput x 1\nparams w 3 1 2\n",            XIR_E_SYNTAX,  3, 10, "fewer numbers than the dims"          },
        { "lines 1\ninput x 1\nparams w 2 1 2 3\n",          XIR_E_SYNTAX,  3, 16, "more numbers than the dims say"       },
        { "lines 1\ninput x 1\nparams w 2 1 b\n",            XIR_E_SYNTAX,  3, 14, "expected a number, found 'b'"         },
        { "lines 1\ninput x 1\nparams w 9999999,9999999 1\n", XIR_E_SYNTAX, 3, 10, "fewer numbers than the dims"          },
        { "lines 1\ninput x 1\nadd a b c d e f g h i j k l m n o p\n", XIR_E_LIMIT, 3, 35, "more than 16 words"           },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        xir_diags *found = xir_diags_new(with);
        assert_null(read_model(rows[i].text, found));
        assert_int_equal(xir_diags_count(found), 1);
        const xir_diag *first = xir_diags_at(found, 0);
        if (first->code != rows[i].status || first->line != rows[i].line || first->column != rows[i].column ||
            !says(first->message, rows[i].says)) {
            xir_diags_print(found, stderr);
            fail_msg("%u:%u: expected '%s'", rows[i].line, rows[i].column, rows[i].says);
        }
        xir_diags_free(found);
    }
}

/* A network from damaged bytes is written or refused; what is written is read and written the same. It can be checked,
 * converted, and converted back. */
static void survives(xir_network *net) {
    written once = { .size = 0 }, twice = { .size = 0 };
    const xir_save_options how = XIR_INIT(xir_save_options, .format = "lines", .unchecked = true);
    if (xir_network_write(net, keep, &once, &how, NULL) == XIR_OK) {
        xir_network *again = read_whole(once.text);
        DOES(xir_network_write(again, keep, &twice, &how, NULL));
        assert_string_equal(twice.text, once.text);
        xir_network_free(again);
    }
    xir_network *copy = xir_network_clone(net);
    assert_non_null(copy);
    (void)xir_dialect_check(copy, NULL);
    if (xir_pass_run(copy, "to-xir", NULL, NULL, NULL) == XIR_OK && xir_network_validate(copy, NULL) == XIR_OK &&
        xir_pass_run(copy, "xir-to-lines", NULL, NULL, NULL) == XIR_OK)
        DOES(xir_network_validate(copy, NULL));
    xir_network_free(copy);
}

/* Every truncated file and every changed byte gives such a network, or a refusal with a finding. */
static void a_damaged_text_is_read_or_refused(void **state) {
    (void)state;
    char text[sizeof every];
    size_t n_read = 0;
    for (size_t at = 0; at + 1 < sizeof every; at++) {
        for (int change = 0; change < 9; change++) {
            memcpy(text, every, sizeof every);
            if (change < 8) text[at] ^= (char)(1 << change);
            xir_diags *found = xir_diags_new(with);
            xir_network *net = xir_network_read(with, text, change < 8 ? sizeof every - 1 : at, XIR_STR("model.lines"),
                                                &XIR_INIT(xir_load_options, .format = "lines"), found);
            if (!net) assert_int_not_equal(xir_diags_count_of(found, XIR_ERROR), 0);
            else survives(net), n_read++;
            xir_network_free(net);
            xir_diags_free(found);
        }
    }
    assert_true(n_read > sizeof every);   /* many damages make another valid text */
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_comes_back_unchanged),
        cmocka_unit_test(every_operator_goes_both_ways),
        cmocka_unit_test(what_a_line_cannot_hold_is_refused),
        cmocka_unit_test(every_other_format_keeps_it),
        cmocka_unit_test(it_is_converted_and_run),
        cmocka_unit_test(a_network_from_it_can_be_checked),
        cmocka_unit_test(a_bad_text_is_refused_with_its_line),
        cmocka_unit_test(a_damaged_text_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, load_plugin, drop_plugin);
}
