/* Unique names that a format can spell: which names are kept, what the others become, and that many equal names cost
 * little. */
#include "names.h"
#include <stdio.h>
#include "support/net.h"

/* ---- formats ---------------------------------------------------------------------------------------------------- */

static bool in_identifier(uint32_t c, bool first) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static const char *const words[] = { "if", "op", NULL };

static const name_rules any       = { .op = "op", .value = "x" };
static const name_rules identifier = { .allows = in_identifier, .op = "op", .value = "x" };
static const name_rules with_words = { .allows = in_identifier, .op = "op", .value = "x", .reserved = words };
static const name_rules four      = { .most = 4, .op = "op", .value = "x" };
static const name_rules three     = { .most = 3, .op = "op", .value = "x" };
static const name_rules two       = { .most = 2, .op = "op", .value = "x" };
static const name_rules shared    = { .op = "op", .value = "x", .one_scope = true };

/* ---- networks --------------------------------------------------------------------------------------------------- */

/* A chain of ops with these names, separated by bars, whose outputs all have the name `value`; without an Output op. */
static xir_network *chain(xir_context *with, const char *names, const char *value) {
    xir_network *net = xir_network_new(with, "chain", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return NULL;
    xir_at at = XIR_AT(net);
    xir_value *v = xir_input(at, "in", XIR_TENSOR(with, xir_type_float(with, XIR_FLOAT_FP32), "*", 2));
    if (v) xir_value_set_name(v, XIR_STR("in"));
    for (const char *from = names, *end; v && *names; from = end + 1) {
        end = strchr(from, '|');
        if (!end) end = from + strlen(from);
        at.name = (xir_str){ from, (size_t)(end - from) };
        xir_op *op = xir_add_relu(at, (xir_relu_in){ v }, NULL);
        v = op ? xir_op_output(op, 0) : NULL;
        if (v && *value && xir_value_set_name(v, xir_str_of(value)) != XIR_OK) v = NULL;
        if (!*end) break;
    }
    if (xir_network_status(net) == XIR_OK) return net;
    xir_network_free(net);
    return NULL;
}

/* The names of all ops except the first, then of all values except the first. */
static const char *said(const network_names *names, bool values) {
    static char out[1000];
    int n = 0;
    out[0] = '\0';
    for (const xir_op *op = xir_op_next(xir_network_first(names->net)); op; op = xir_op_next(op)) {
        xir_str s = values ? network_names_value(names, xir_op_output(op, 0)) : network_names_op(names, op);
        n += snprintf(out + n, sizeof out - (size_t)n, "%s%.*s", n ? "|" : "", (int)s.size, s.data);
    }
    return out;
}

/* ---- what names become ------------------------------------------------------------------------------------------ */

static const struct { const name_rules *rules; const char *names, *expected; } cases[] = {
    { &any,        "a|b|c",             "a|b|c"             },
    { &any,        "a b|c.d|{}",        "a b|c.d|{}"        },
    { &any,        "a|a|a",             "a|a_1|a_2"         },
    { &any,        "a|a|a_1|a_1",       "a|a_2|a_1|a_1_1"   },   /* a valid name is kept wherever it is */
    { &any,        "in|in_1",           "in_2|in_1"         },   /* the Input op has the name first */
    { &any,        "||op||x",           "op_1|op_2|op|op_3|x" },
    { &any,        "\xC3\xA9|\xE6\x97\xA5\xE6\x9C\xAC", "\xC3\xA9|\xE6\x97\xA5\xE6\x9C\xAC" },
    { &any,        "\xFF|a\xC3|\xED\xA0\x80",           "_|a_|___" },   /* invalid UTF-8, byte by byte */
    { &identifier, "conv1|conv_2|_",    "conv1|conv_2|_"    },
    { &identifier, "1a|a b|a.b|a/b",    "_1a|a_b|a_b_1|a_b_2" },
    { &identifier, "\xC3\xA9|+|1|1",    "_|__1|_1|_1_1"     },
    { &with_words, "if|if|fi|",         "if_1|if_2|fi|op_1" },
    { &four,       "abcd|abcde|abcdf",  "abcd|ab_1|ab_2"    },
    { &four,       "abcde|abcd|ab_1",   "ab_2|abcd|ab_1"    },
    { &four,       "\xC3\xA9\xC3\xA9\xC3\xA9|\xC3\xA9\xC3\xA9\xC3\xA9", "\xC3\xA9\xC3\xA9|\xC3\xA9_1" },
    { &three,      "a\xC3\xA9\xC3\xA9|a\xC3\xA9z|b\xC3\xA9\xC3\xA9", "a\xC3\xA9|a_1|b\xC3\xA9" },
    { &three,      "\xE6\x97\xA5\xE6\x9C\xAC|\xE6\x97\xA5|\xE6\x97\xA5", "_1|\xE6\x97\xA5|_2" },   /* no part of a character is kept */
    { &two,        "\xE6\x97\xA5|a",    "_1|a"              },
    { &three,      "a|a|a|a|a|a|a|a|a|a|a", "a|a_1|a_2|a_3|a_4|a_5|a_6|a_7|a_8|a_9|_1" },   /* a_10 is too long, and is counted separately */
};

static void names_are_unique_and_can_be_spelled(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        network_names names;
        xir_network *net = chain(ctx, cases[i].names, ""), *copy = xir_network_clone(net);
        assert_non_null(copy);
        DOES(network_names_make(&names, net, cases[i].rules));
        assert_string_equal(said(&names, false), cases[i].expected);
        network_names_free(&names);
        DOES(network_names_make(&names, copy, cases[i].rules));   /* of an equal network, the same */
        assert_string_equal(said(&names, false), cases[i].expected);
        network_names_free(&names);
        xir_network_free(net);
        xir_network_free(copy);
    }
}

static void ops_and_values_have_scopes(void **state) {
    (void)state;
    network_names names;
    xir_network *net = chain(ctx, "a|b|c", "a");
    DOES(network_names_make(&names, net, &any));
    assert_string_equal(said(&names, false), "a|b|c");
    assert_string_equal(said(&names, true), "a|a_1|a_2");
    network_names_free(&names);
    DOES(network_names_make(&names, net, &shared));
    assert_string_equal(said(&names, false), "a|b|c");
    assert_string_equal(said(&names, true), "a_1|a_2|a_3");
    network_names_free(&names);
    xir_network_free(net);
    net = chain(ctx, "a|b", "");
    DOES(network_names_make(&names, net, &any));
    assert_string_equal(said(&names, true), "x|x_1");
    network_names_free(&names);
    xir_network_free(net);
}

static void params_and_sub_ops_have_names(void **state) {
    (void)state;
    network_names names;
    xir_network *net = small_net();
    const xir_type *type = FP32("*", 4);
    xir_hard_op_attrs a = xir_hard_op_init();
    xir_value *inner = xir_params_new(net, XIR_STR("w"), type), *other = xir_params_new(net, XIR_STR("w"), type);
    a.instr = (xir_values){ &inner, 1 };
    xir_op *child = xir_op_new(net, &(xir_op_desc)DESC(hard_op, .attrs = &a, .types = &type, .n_types = 1,
                                                       .name = XIR_STR("part")));
    a = xir_hard_op_init();
    a.instr = (xir_values){ &other, 1 };
    a.sub_hard_ops = (xir_ops){ &child, 1 };
    xir_op *loose =
        xir_op_new(net, &(xir_op_desc)DESC(hard_op, .types = &type, .n_types = 1, .name = XIR_STR("loose")));
    xir_op *hard = xir_network_add(net, &(xir_op_desc)DESC(hard_op, .attrs = &a, .types = &type, .n_types = 1,
                                                           .name = XIR_STR("part"), .before = xir_network_last(net)));
    assert_non_null(hard);
    DOES(network_names_make(&names, net, &any));
    CHECK_STR(network_names_op(&names, hard), "part");
    CHECK_STR(network_names_op(&names, child), "part_1");
    assert_int_not_equal(network_names_value(&names, xir_op_output(child, 0)).size, 0);
    CHECK_STR(network_names_op(&names, loose), "");
    xir_str x = network_names_value(&names, inner), y = network_names_value(&names, other);
    assert_true(x.size && y.size && !xir_str_equal(x, y));
    network_names_free(&names);
    xir_network_free(net);
}

static void too_short_names_run_out(void **state) {
    (void)state;
    network_names names;
    xir_network *net = chain(ctx, "a|a|a|a|a|a|a|a|a", "x");
    DOES(network_names_make(&names, net, &two));   /* a, _1 to _8 */
    network_names_free(&names);
    xir_network_free(net);
    net = chain(ctx, "a|a|a|a|a|a|a|a|a|a|a", "x");
    assert_int_equal(network_names_make(&names, net, &two), XIR_E_BOUNDS);
    xir_network_free(net);
}

/* ---- many ------------------------------------------------------------------------------------------------------- */

/* Ops that all have the same name, or names that are equal once they are cut. If the search for a free number began
 * at 1 each time, this would not end. */
static void many_equal_names_are_linear(void **state) {
    (void)state;
    enum { MANY = 1000000 };
    static const name_rules cut = { .most = 12, .op = "op", .value = "x" };
    for (int distinct = 0; distinct < 2; distinct++) {
        xir_network *net = xir_network_new(ctx, "many", XIR_FRAMEWORK_PYTORCH, "v1.9");
        xir_at at = XIR_AT(net);
        char text[40];
        xir_value *v = xir_input(at, "in", FP32("*", 2));
        for (int i = 0; i < MANY; i++) {
            snprintf(text, sizeof text, distinct ? "a long name %d" : "same", i);
            v = xir_build_relu(at, v, text);
        }
        assert_non_null(v);
        network_names names;
        DOES(network_names_make(&names, net, &cut));
        /* Each stem is counted separately: "a long nam" to 9, "a long na" to 99, and so on. */
        CHECK_STR(network_names_op(&names, xir_network_last(net)), distinct ? "a lon_888894" : "same_999999");
        network_names_free(&names);
        xir_network_free(net);
    }
}

static bool make_names(xir_context *with) {
    network_names names;
    xir_network *net = chain(with, "a|a|b c|", "v");
    if (!net) return false;
    xir_status status = network_names_make(&names, net, &with_words);
    if (status) assert_int_equal(status, XIR_E_MEMORY);
    else network_names_free(&names);
    xir_network_free(net);
    return !status;
}

static void failing_allocations_lose_nothing(void **state) {
    (void)state;
    check_memory(make_names);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_unique_and_can_be_spelled),
        cmocka_unit_test(ops_and_values_have_scopes),
        cmocka_unit_test(params_and_sub_ops_have_names),
        cmocka_unit_test(too_short_names_run_out),
        cmocka_unit_test(many_equal_names_are_linear),
        cmocka_unit_test(failing_allocations_lose_nothing),
    };
    return RUN_GROUP(tests);
}
