/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types of composed ops of floats follow without asking each part. They are those that the parts have as ops. */
#include <math.h>
#include "compose_walk.h"
#include "support/net.h"

typedef struct body { double slope; } body;

/* A class with three inputs. */
static const xir_class *class_of(xir_context *in, const char *text) {
    const xir_row rows[] = {
        { .decl = XIR_DECL_OP, .name = "test::It", .doc = "", .offset = sizeof(body) },
        { .decl = XIR_DECL_IN, .name = "a", .doc = "" },
        { .decl = XIR_DECL_IN, .name = "b", .doc = "", .offset = 8 },
        { .decl = XIR_DECL_IN, .name = "c", .doc = "", .offset = 16 },
        { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_REAL, .name = "slope", .doc = "", .offset = offsetof(body, slope),
          .min = { .r = -INFINITY }, .max = { .r = INFINITY } },
        { .decl = XIR_DECL_OUT, .name = "y", .doc = "" },
        { .decl = XIR_DECL_COMPOSED, .doc = text },
        { .decl = XIR_DECL_END },
    };
    const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    DOES(xir_class_register(in, &decl, why));
    return xir_class_find(in, XIR_STR("test::It"));
}

static const char *const texts[] = {
    "%s = Add(%a, %b){beta=2}; %m = Maximum(%s, %c); %g = Greater(%m, %s); %y = Where(%m, %m, %g)",
    "%d = DivideScalar(%a){divisor=slope}; %e = Exp(%d); %m = Multiply(%e, %b); %n = Multiply(%m, 0.5);"
    "%q = Sqrt(%n); %y = Div(%q, %c)",
    "%p = Greater(%a, slope); %w = Where(%a, %b, %p); %r = ReLU(%w){alpha=slope}; %y = Minimum(%r, %c)",
    "%m = Mean(%a){dim=[-1], keepdim=true}; %d = Add(%a, %m){beta=-1}; %q = Multiply(%d, %d);"
    "%v = Mean(%q){dim=[-1], keepdim=true}; %s = Multiply(%q, %b); %n = Div(%s, %v); %y = Add(%n, %c)",
    "%s = Add(%a, %b){alpha=[1, 2]}; %n = Neg(%s); %l = Less(%n, %c); %o = Abs(%c); %y = Where(%o, %n, %l)",
    "%f = Softplus(%a){beta=slope}; %k = ClampScalar(%f){min=0, max=1}; %x = Equal(%k, %b); %y = And(%x, %c)",
};

/* ---- random types ----------------------------------------------------------------------------------------------- */

static const xir_type *random_element(void) {
    switch (chance(12)) {
    case 0:  return xir_type_sint(ctx, 8);
    case 1:  return xir_type_bool(ctx);
    case 2:  return xir_type_float(ctx, XIR_FLOAT_FP16);
    case 3:  return xir_type_float(ctx, XIR_FLOAT_BF16);
    default: return xir_type_float(ctx, XIR_FLOAT_FP32);
    }
}

/* Types that often broadcast to the first one. */
static void random_types(const xir_type **types) {
    static const char *const named[] = { "", "C", "NC", "NLC", "NHWC" };
    const xir_type *element = random_element();
    int64_t dims[5];
    const size_t rank = chance(6);
    for (size_t k = 0; k < rank; k++)
        dims[k] = chance(10) ? 1 + (int64_t)chance(4) : chance(2) ? XIR_UNKNOWN_DIM : 0;
    for (size_t i = 0; i < 3; i++) {
        int64_t own[5];
        const size_t skip = i && rank && rank < 5 && !chance(4) ? 1 + chance(rank) : 0;
        for (size_t k = 0; k < rank; k++)
            own[k] = !i || chance(4) ? dims[k] : chance(12) ? 1 : 1 + (int64_t)chance(4);
        const char *letters = chance(2) ? "*****" : rank == 5 ? "NHWCc4" : named[rank - skip];
        const bool plain = !*letters || *letters == '*';
        const xir_layout *layout = plain ? NULL : xir_layout_parse(ctx, xir_str_of(letters), why);
        if (rank == 5 && layout) own[4] = 4;
        types[i] = xir_type_tensor(ctx, chance(25) ? element : random_element(), layout, own + skip, rank - skip);
        if (i && chance(3) == 0) types[i] = types[0];
        assert_non_null(types[i]);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------ */

typedef struct answer { xir_status status; const xir_type *type; } answer;

static xir_network *with_inputs(const xir_type *const *types, xir_value **x) {
    xir_network *net = new_net();
    xir_op *input = xir_inputs(xir_at_end(net), "", types, 3);
    for (int64_t i = 0; i < 3; i++) x[i] = xir_op_output(input, i);
    return net;
}

static answer of_whole(xir_network *net, const xir_class *cls, const body *b, xir_value **x) {
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .attrs = b, .inputs = x, .n_inputs = 3,
                                                .id = XIR_NO_ID));
    return (answer){ xir_network_status(net), op ? xir_value_type(xir_op_output(op, 0)) : NULL };
}

static answer of_parts(xir_network *net, const xir_class *cls, const body *b, xir_value **x) {
    xir_value *y = NULL;
    const xir_status status = compose_write(net, cls, b, x, 3, NULL, XIR_STR("it"), NULL, &y);
    return (answer){ status, status ? NULL : xir_value_type(y) };
}

static void types_are_those_of_the_parts(void **state) {
    (void)state;
    const char *many = getenv("XIR_MANY");
    const int tries = many ? atoi(many) : 400;
    for (size_t i = 0; i < COUNT(texts); i++) {
        xir_context *shared = ctx;
        int inferred = 0;
        ctx = xir_context_new(NULL);
        const xir_class *cls = class_of(ctx, texts[i]);
        for (int k = 0; k < tries; k++) {
            const body b = { chance(5) ? 0.5 : 0 };
            const xir_type *types[3];
            xir_value *x[3];
            random_types(types);
            xir_network *net = with_inputs(types, x);
            const answer whole = of_whole(net, cls, &b, x);
            xir_value *x2[3];
            xir_network *net2 = with_inputs(types, x2);
            const answer parts = of_parts(net2, cls, &b, x2);
            inferred += whole.type != NULL;
            if (whole.status != parts.status || !whole.type != !parts.type ||
                (whole.type && !xir_type_equal(whole.type, parts.type))) {
                xir_diags_print(xir_network_diags(net), stderr);
                xir_diags_print(xir_network_diags(net2), stderr);
                fail_msg("%s: %s, its parts: %s", texts[i], xir_status_name(whole.status),
                         xir_status_name(parts.status));
            }
            xir_network_free(net);
            xir_network_free(net2);
        }
        if (i + 1 < COUNT(texts) && inferred < tries / 20) fail_msg("%s: only %d were inferred", texts[i], inferred);
        xir_context_free(ctx);
        ctx = shared;
    }
}

/* ---- another rule ----------------------------------------------------------------------------------------------- */

static xir_status gives_half(xir_infer *at) {
    const xir_tensor_type *t = xir_type_as_tensor(xir_infer_input(at, 0));
    return xir_infer_result(at, xir_type_tensor(xir_infer_context(at), xir_type_float(ctx, XIR_FLOAT_FP16), t->layout,
                                                t->shape.data, t->shape.size));
}

static void a_program_may_replace_the_rule_of_a_part(void **state) {
    (void)state;
    xir_context *shared = ctx;
    ctx = xir_context_new(NULL);
    const xir_class *cls = class_of(ctx, "%s = Add(%a, %b); %t = Add(%s, %c); %y = Sqrt(%t)");
    const xir_type *x32 = FP32("NC", 2, 3), *types[] = { x32, x32, x32 };
    xir_value *x[3];
    xir_network *net = with_inputs(types, x);
    const body b = { 1 };
    assert_ptr_equal(of_whole(net, cls, &b, x).type, xir_value_type(x[0]));
    DOES(xir_infer_register(ctx, xir_sqrt_class(), XIR_TARGET_HOST, gives_half));
    const answer now = of_whole(net, cls, &b, x);
    DOES(now.status);
    assert_true(xir_type_equal(xir_type_element(now.type), xir_type_float(ctx, XIR_FLOAT_FP16)));
    xir_network_free(net);
    xir_context_free(ctx);
    ctx = shared;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_those_of_the_parts),
        cmocka_unit_test(a_program_may_replace_the_rule_of_a_part),
    };
    return RUN_GROUP(tests);
}
