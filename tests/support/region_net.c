/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdio.h>
#include "support/op_list.h"
#include "support/region_net.h"

static uint64_t any(uint64_t n) { return chance(n); }

static void shuffle_ids(xir_network *net) {
    int64_t next = xir_network_next_op_id(net) + 100;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        if (any(3)) continue;
        DOES(xir_op_set_id(op, next + (int64_t)any(1000) * 1000 + (int64_t)xir_op_slot(op)));
        next = xir_network_next_op_id(net) - (int64_t)any(2);
    }
}

static void decorate(xir_op *op) {
    static const char *const names[] = { "a", "b", "b_2", "in0", "out0", "" };
    const xir_any tag = xir_any_int((int64_t)any(100));
    DOES(xir_op_set_name(op, xir_str_of(names[any(COUNT(names))])));
    if (!any(4)) DOES(xir_op_set_tag(op, XIR_STR("t"), &tag));
    for (size_t i = 0; i < xir_op_output_count(op); i++) {
        DOES(xir_value_set_name(xir_op_output(op, (int64_t)i), xir_str_of(names[any(COUNT(names))])));
        if (!any(4)) DOES(xir_value_set_tag(xir_op_output(op, (int64_t)i), XIR_STR("v"), &tag));
    }
}

xir_network *region_net(size_t most_ops) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *v[REGION_MOST_OPS + 2], *numbers[2];
    const xir_type *type = FP32("*", 4);
    size_t n = 2;
    const size_t ops = 4 + any(most_ops - 5), near = 1 + any(8);
    xir_op *input = xir_network_add(net, &(xir_op_desc)DESC(input, TYPES(type, type)));
    v[0] = xir_op_output(input, 0);
    v[1] = xir_op_output(input, 1);
    numbers[0] = xir_params_copy(net, XIR_STR("numbers"), type, "0123456789abcde", 16);
    numbers[1] = xir_params_copy(net, XIR_STR("more"), type, "edcba9876543210", 16);
    while (xir_network_op_count(net) + 2 < ops) {
        xir_value *a = v[any(2) && n > near ? n - 1 - any(near) : any(n)], *b = v[any(n)];
        switch (any(6)) {
        case 0:
        case 1:  v[n++] = xir_build_relu(at, a, "r"); break;
        case 2:  v[n++] = xir_build_add(at, a, numbers[any(2)], 1, 1, "p"); break;
        case 3: {
            xir_split_attrs attrs = xir_split_init();
            attrs.sections = (xir_i64s){ (const int64_t[]){ 2, 2 }, 2 };
            xir_op *split = xir_network_add(net, &(xir_op_desc)DESC(split, INPUTS(a), .attrs = &attrs));
            assert_non_null(split);
            xir_value *x = xir_op_output(split, 0), *y = xir_op_output(split, 1);
            v[n++] = concat(net, any(3) ? XIR_VALUES(y, x) : XIR_VALUES(x, x), 0, "c");
            break;
        }
        default: v[n++] = xir_build_add(at, a, b, 1, 1, "a"); break;
        }
        assert_non_null(v[n - 1]);
    }
    assert_non_null(xir_output(at, XIR_VALUES(v[n - 1], v[any(n)], v[any(n)])));
    for (xir_op *op = xir_op_next(input); op; op = xir_op_next(op)) decorate(op);
    shuffle_ids(net);
    return net;
}

size_t reach_place(const reach *r, const xir_op *op) {
    for (size_t i = 0; i < r->n; i++)
        if (r->ops[i] == op) return i;
    fail_msg("the op is not in the order");
    return 0;
}

void reach_of(const xir_network *net, reach *r) {
    memset(r, 0, sizeof *r);
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        assert_true(r->n < REGION_MOST_OPS);
        r->ops[r->n] = op;
        for (size_t i = 0; i < xir_op_input_count(op); i++) {
            const xir_value *v = xir_op_input(op, (int64_t)i);
            if (v && xir_value_op(v)) r->to[reach_place(r, xir_value_op(v))][r->n] = true;
        }
        r->n++;
    }
    for (size_t k = 0; k < r->n; k++)
        for (size_t i = 0; i < r->n; i++)
            for (size_t j = 0; r->to[i][k] && j < r->n; j++) r->to[i][j] |= r->to[k][j];
}

static void closure(const reach *r, bool *in) {
    for (size_t k = 0; k < r->n; k++) {
        bool from = false, to = false;
        for (size_t i = 0; i < r->n; i++) {
            from |= in[i] && r->to[i][k];
            to |= in[i] && r->to[k][i];
        }
        in[k] |= from && to;
    }
}

bool reach_is_convex(const reach *r, xir_op *const *ops, size_t n) {
    bool in[REGION_MOST_OPS] = { false }, closed[REGION_MOST_OPS];
    for (size_t i = 0; i < n; i++) in[reach_place(r, ops[i])] = true;
    memcpy(closed, in, sizeof closed);
    closure(r, closed);
    return memcmp(in, closed, sizeof in) == 0;
}

size_t random_convex(const reach *r, xir_op **out) {
    bool in[REGION_MOST_OPS] = { false };
    size_t n = 0, seeds = 1 + any(4), near = 2 + any(10);
    const size_t first = 1 + any(r->n - 2);
    for (size_t i = 0; i < seeds; i++) {
        const size_t at = first + any(near);
        in[i && at < r->n - 1 ? at : first] = true;
    }
    closure(r, in);
    for (size_t i = 0; i < r->n; i++)
        if (in[i]) out[n++] = r->ops[i];
    for (size_t i = n; i > 1 && any(2); i--) {
        const size_t k = any(i);
        xir_op *op = out[i - 1];
        out[i - 1] = out[k];
        out[k] = op;
    }
    return n;
}

xir_network *ladder_net(void) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    xir_value *a = xir_build_relu(at, x, "a"), *b = xir_build_relu(at, a, "b"), *c = xir_build_relu(at, b, "c");
    xir_value *f = xir_build_relu(at, x, "f"), *e = xir_build_relu(at, b, "e");
    xir_value *d = xir_build_add(at, c, e, 1, 1, "d");
    assert_non_null(xir_output(at, XIR_VALUES(d, f)));
    return net;
}

xir_op *named_op(const xir_network *net, const char *name) {
    xir_op *op = xir_network_op_by_name(net, xir_str_of(name));
    if (!op) fail_msg("no op '%s'", name);
    return op;
}

xir_network *region_through(xir_network *net, const char *word, const char *begin) {
    xir_save_options how = XIR_INIT(xir_save_options, .format = word);
    static int files;
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s%d.any", begin, files++);   /* some have no file of parameters */
    assert_true(n > 0 && (size_t)n < sizeof path);
    const xir_status status = xir_network_save(net, path, &how, why);
    if (status == XIR_E_LIMIT && strcmp(word, "imodel") == 0) {   /* readers of MessagePack accept a depth of 32 */
        xir_diags_clear(why);
        return NULL;
    }
    if (status) {
        xir_diags_print(why, stderr);
        fail_msg("%s: %s", word, xir_status_name(status));
    }
    xir_load_options load = XIR_INIT(xir_load_options, .format = word);
    xir_network *again = xir_network_load(ctx, path, &load, why);
    if (!again) {
        xir_diags_print(why, stderr);
        fail_msg("%s cannot be read", word);
    }
    return again;
}
