/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Symbols for the open dims of inputs: which names are symbols, which are expressions, and what has no name. */
#include <stdio.h>
#include "support/net.h"
#include "name_dims.h"
#include "source_tags.h"

enum { MOST = 4 };

/* Declared names of the dims of two inputs: "" is a dim without a name, NULL the end. `says` has what they become. */
static const struct { const char *a[MOST], *b[MOST], *says; } rows[] = {
    { { "batch", "length" },          { "batch", "4" },              "batch, length; batch, ?0"                    },
    { { "", "" },                     { "" },                        "?0, ?1; ?2"                                  },
    { { "?0", "" },                   { "", "?1" },                  "?0, ?2; ?3, ?1"                              },
    { { "past + length", "length" },  { "past" },                    "length + past, length; past"                 },
    { { "2*n", "(n + 1) // 2" },      { "n", "ceil(n/4)" },          "2*n, floor((n + 1)/2); n, floor((n + 3)/4)"  },
    { { "batch-size" },               { "batch-size", "size" },      "'batch-size'; 'batch-size', size"            },
    { { "batch size" },               { "2*n", "n*n/" },             "'batch size'; '2*n', 'n*n/'"                 },
    { { "n - n", "n" },               { "max(3, 4)", "floor" },      "'n - n', n; 'max(3, 4)', 'floor'"            },
    { { "\n", "\x7f" },               { "a\xff" },                   "?0, ?1; ?2"                                  },
};

static xir_any names_of(const char *const names[MOST], xir_any items[MOST], size_t *n) {
    for (*n = 0; *n < MOST && names[*n]; ++*n) {
        const bool digit = names[*n][0] >= '0' && names[*n][0] <= '9' && !names[*n][1];
        items[*n] = digit ? xir_any_int(names[*n][0] - '0') : *names[*n] ? xir_any_text(xir_str_of(names[*n]))
                                                                         : xir_any_null();
    }
    return xir_any_list(items, *n);
}

static void dims_of(const xir_value *v, char *out) {
    for (size_t k = 0; k < xir_type_rank(xir_value_type(v)); k++) {
        out += sprintf(out, k ? ", " : "");
        out += xir_type_dim_text(xir_value_type(v), (int64_t)k, out, 100);
    }
}

static void names_become_symbols(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static const int64_t open[MOST] = { -1, -1, -1, -1 };
        xir_any items[2][MOST], names[2];
        const xir_type *types[2];
        xir_network *net = new_net();
        for (size_t k = 0; k < 2; k++) {
            size_t n;
            names[k] = names_of(k ? rows[i].b : rows[i].a, items[k], &n);
            types[k] = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, open, n);
        }
        xir_op *in = xir_inputs(XIR_AT(net), "in", types, 2);
        for (int64_t k = 0; k < 2; k++) {
            DOES(source_tag_set(xir_op_output(in, k), SOURCE_DIMS, &names[k]));
        }
        bool named = false;
        DOES(net_name_dims(net, &named));
        assert_true(named);
        char found[2000], both[2][900];
        for (int64_t k = 0; k < 2; k++) dims_of(xir_op_output(in, k), both[k]);
        snprintf(found, sizeof found, "%s; %s", both[0], both[1]);
        assert_string_equal(found, rows[i].says);
        DOES(net_name_dims(net, &named));
        assert_false(named);   // it is done
        xir_network_free(net);
    }
}

/* A name that is too long for a symbol does not join the dims that have it. */
static void long_names_are_no_symbols(void **state) {
    static char name[1 << 20];
    (void)state;
    memset(name, 'n', sizeof name);
    const xir_any items[] = { xir_any_text((xir_str){ name, sizeof name }),
                              xir_any_text((xir_str){ name, sizeof name }) };
    const xir_any names = xir_any_list(items, 2);
    xir_network *net = new_net();
    xir_value *x = xir_input(XIR_AT(net), "x", FP32("NC", -1, -1));
    DOES(source_tag_set(x, SOURCE_DIMS, &names));
    bool named;
    char found[200];
    DOES(net_name_dims(net, &named));
    dims_of(x, found);
    assert_string_equal(found, "?0, ?1");
    xir_network_free(net);
}

/* Names of the dims of a value that is not an input declare nothing. */
static void other_names_are_looked_up(void **state) {
    static const struct { const char *name, *says; } texts[] = {
        { "n", "n" }, { "n + 1", "n + 1" }, { "m", "?" }, { "n + m", "?" }, { "n +", "?" }, { "'n'", "n" },
    };
    (void)state;
    xir_network *net = new_net();
    DOES(xir_network_declare_symbol(net, XIR_STR("n"), 0, 9, why));
    for (size_t i = 0; i < COUNT(texts); i++) {
        expr e;
        char found[80];
        assert_true(expr_of_name(&net->pool, xir_str_of(texts[i].name), &e));
        dim_text(&net->pool, e, found, sizeof found);
        assert_string_equal(found, texts[i].says);
    }
    assert_null(symbol_at(&net->pool, 1));
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_symbols),
        cmocka_unit_test(long_names_are_no_symbols),
        cmocka_unit_test(other_names_are_looked_up),
    };
    return RUN_GROUP(tests);
}
