/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Exchanged names in random networks, in which every other op has the class, attributes and types of another one: how
 * many names look exchanged follows from the pairs whose names were exchanged, and from nothing else. */
#include <stdio.h>
#include "support/net.h"
#include "support/often.h"

enum { MOST = 40, KINDS = 20 };

typedef struct random_net {
    xir_network *net;
    size_t       n;
    xir_op      *ops[MOST];
    int          kinds[MOST];   /* equal for ops that differ only in name, id and inputs */
} random_net;

static xir_op *add_op(xir_network *net, int kind, xir_value *x, xir_value *y, xir_str name) {
    xir_relu_attrs relu = xir_relu_init();
    xir_elu_attrs elu = xir_elu_init();
    relu.alpha = elu.alpha = 0.125 * (kind / 4);
    switch (kind % 4) {
    case 0:  return xir_network_add(net, &(xir_op_desc)DESC(relu, .attrs = &relu, INPUTS(x), .name = name));
    case 1:  return xir_network_add(net, &(xir_op_desc)DESC(elu, .attrs = &elu, INPUTS(x), .name = name));
    case 2:  return xir_network_add(net, &(xir_op_desc)DESC(sigmoid, INPUTS(x), .name = name));
    default: return xir_network_add(net, &(xir_op_desc)DESC(add, INPUTS(x, y), .name = name));
    }
}

static random_net make(void) {
    random_net r = { .net = new_net(), .n = 2 + chance(MOST - 1) };
    xir_value *values[MOST + 1] = { xir_input(XIR_AT(r.net), "x", FP32("NC", 2, 3)) };
    for (size_t i = 0; i < r.n; i++) {
        char name[24];
        const int kind = (int)chance(KINDS);
        snprintf(name, sizeof name, "op%zu", i);
        r.kinds[i] = kind % 4 < 2 ? kind : kind % 4;
        r.ops[i] = add_op(r.net, kind, values[chance(i + 1)], values[chance(i + 1)], xir_str_of(name));
        assert_non_null(r.ops[i]);
        values[i + 1] = xir_op_output(r.ops[i], 0);
    }
    assert_non_null(xir_output(XIR_AT(r.net), XIR_VALUES(values[r.n])));
    return r;
}

static size_t find(const random_net *r, const xir_op *op) {
    size_t i = 0;
    while (i < r->n && r->ops[i] != op) i++;
    return i;
}

/* The op of the copy. */
static xir_op *copied(const random_net *r, const xir_network *copy, size_t i) {
    return xir_network_op_at(copy, xir_network_index_of(r->net, r->ops[i]));
}

static xir_diff_counts counts_of(const random_net *r, const xir_network *copy, uint64_t ignore, size_t *differences) {
    xir_diff_counts counts = XIR_INIT(xir_diff_counts);
    xir_diff *d = xir_diff_new(r->net, copy, &XIR_INIT(xir_diff_options, .ignore = ignore), why);
    assert_non_null(d);
    DOES(xir_diff_summary(d, &counts));
    *differences = xir_diff_count(d);
    xir_diff_free(d);
    return counts;
}

/* Exchanges the names of random pairs; returns how many ops have got the name of an op that is not equal. */
static size_t exchange(const random_net *r, xir_network *copy, size_t partner[MOST]) {
    size_t exchanged = 0;
    for (size_t i = 0; i < r->n; i++) partner[i] = i;
    for (size_t n = chance(r->n / 2 + 1); n > 0; n--) {
        const size_t i = chance(r->n), j = chance(r->n);
        if (i == j || partner[i] != i || partner[j] != j) continue;
        partner[i] = j;
        partner[j] = i;
        DOES(xir_op_set_name(copied(r, copy, i), xir_op_name(r->ops[j])));
        DOES(xir_op_set_name(copied(r, copy, j), xir_op_name(r->ops[i])));
        if (r->kinds[i] != r->kinds[j]) exchanged += 2;
    }
    return exchanged;
}

static void exchanged_names_are_counted(void **state) {
    (void)state;
    size_t seen = 0, equal = 0;
    for (int k = 0; k < OFTEN(400); k++) {
        random_net r = make();
        xir_network *copy = xir_network_clone(r.net);
        size_t partner[MOST], differences;
        const size_t expected = exchange(&r, copy, partner);
        const xir_diff_counts counts = counts_of(&r, copy, 0, &differences);
        assert_int_equal(counts.exchanged, expected);
        if (expected) {
            const size_t i = find(&r, counts.exchanged_a[0]), j = find(&r, counts.exchanged_a[1]);
            assert_true(i < r.n && j < r.n && r.kinds[i] != r.kinds[j]);
            assert_true(partner[i] != i && partner[j] != j);
            assert_int_equal(r.kinds[partner[i]], r.kinds[j]);   /* what has the name of i now is as j was */
            assert_int_equal(r.kinds[partner[j]], r.kinds[i]);
        }
        assert_true(!expected || differences);
        seen += expected;
        counts_of(&r, copy, XIR_DIFF_IGNORE_NAMES, &differences);
        assert_int_equal(differences, 0);
        for (size_t i = 0; i < r.n; i++) equal += partner[i] != i && r.kinds[partner[i]] == r.kinds[i];
        xir_network_free(r.net);
        xir_network_free(copy);
    }
    assert_true(seen > 100 && equal > 10);
}

/* New names and changed attributes are not an exchange. */
static void other_changes_do_not_count(void **state) {
    (void)state;
    for (int k = 0; k < OFTEN(200); k++) {
        random_net r = make();
        xir_network *copy = xir_network_clone(r.net);
        size_t differences;
        assert_int_equal(counts_of(&r, copy, 0, &differences).exchanged, 0);
        assert_int_equal(differences, 0);
        const size_t i = chance(r.n), j = chance(r.n);
        DOES(xir_op_set_name(copied(&r, copy, i), XIR_STR("other")));
        xir_op *changed = copied(&r, copy, j);
        if (r.kinds[j] % 4 == 0)
            DOES(xir_op_set(changed, XIR_STR("alpha"), &(xir_attr){ .kind = XIR_KIND_REAL, .as.real = 7 }));
        assert_int_equal(counts_of(&r, copy, 0, &differences).exchanged, 0);
        assert_true(differences > 0);
        xir_network_free(r.net);
        xir_network_free(copy);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanged_names_are_counted),
        cmocka_unit_test(other_changes_do_not_count),
    };
    return RUN_GROUP(tests);
}
