/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A format of a plug-in (tests/plugin/lines.c): a text of a foreign format is read, checked, converted, run and
 * written by the same calls as any other. docs/writing-a-format.md explains the plug-in. */
#include <xir/xir.h>
#include "support/net.h"
#include "support/scratch.h"

static const char model[] = "lines 1\n"
                            "input x 1,2,2,1\n"
                            "scale y x by=0.5\n"
                            "relu z y\n"
                            "add w z x\n"
                            "output w\n";

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

static bool says(xir_str text, const char *part) { return memmem(text.data, text.size, part, strlen(part)) != NULL; }

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
        { "lines 1\nrelu y x\n",                             XIR_E_SYNTAX,  2, 1,  "expected the input, found 'relu'" },
        { "lines 1\ninput x 1,,2\n",                         XIR_E_SYNTAX,  2, 11, "dims"                                 },
        { "lines 1\ninput x 1,2\ninput y 1\n",               XIR_E_SYNTAX,  3, 1,  "there is one input"                   },
        { "lines 1\ninput x 1\nrelu y z\n",                  XIR_E_UNKNOWN, 3, 8,  "no earlier line makes 'z'"             },
        { "lines 1\ninput x 1\nrelu x x\n",                  XIR_E_EXISTS,  3, 6,  "there is already a value 'x'"         },
        { "lines 1\ninput x 1\noutput x\nrelu y x\n",        XIR_E_SYNTAX,  4, 1,  "a line follows the outputs"           },
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

/* Every truncated file and every changed byte gives a network, or a refusal with a finding. */
static void a_damaged_text_is_read_or_refused(void **state) {
    (void)state;
    char text[sizeof model];
    for (size_t at = 0; at + 1 < sizeof model; at++) {
        for (int change = 0; change < 9; change++) {
            memcpy(text, model, sizeof model);
            if (change < 8) text[at] ^= (char)(1 << change);
            else text[at] = '\0';
            xir_diags *found = xir_diags_new(with);
            xir_network *net = xir_network_read(with, text, change < 8 ? sizeof model - 1 : at, XIR_STR("model.lines"),
                                                &XIR_INIT(xir_load_options, .format = "lines"), found);
            if (!net) assert_int_not_equal(xir_diags_count_of(found, XIR_ERROR), 0);
            xir_network_free(net);
            xir_diags_free(found);
        }
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_comes_back_unchanged),
        cmocka_unit_test(every_other_format_keeps_it),
        cmocka_unit_test(it_is_converted_and_run),
        cmocka_unit_test(a_network_from_it_can_be_checked),
        cmocka_unit_test(a_bad_text_is_refused_with_its_line),
        cmocka_unit_test(a_damaged_text_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, load_plugin, drop_plugin);
}
