/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts that reduce, reshape and transpose floats are inferred without a question to their rules. Here the same op is
 * inferred in two contexts: in one of them the rules have been registered again, so that each part is asked. The types
 * are the same, and so is each finding with its place. */
#include <stdio.h>
#include <xir/symbols.h>
#include "compose.h"
#include "support/net.h"

typedef struct body {
    double     slope;
    int64_t    n;
    xir_i64s   axes, shape;
    xir_value *gamma;
    uint32_t   made;
} body;

static const xir_row fields[] = {
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_REAL, .name = "slope", .doc = "", .offset = offsetof(body, slope),
      .min = { .r = -1e300 }, .max = { .r = 1e300 } },
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64, .name = "n", .doc = "", .offset = offsetof(body, n),
      .min = { .i = INT64_MIN }, .max = { .i = INT64_MAX } },
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64S, .name = "axes", .doc = "", .offset = offsetof(body, axes) },
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_I64S, .name = "shape", .doc = "", .offset = offsetof(body, shape) },
    { .decl = XIR_DECL_FIELD, .kind = XIR_KIND_PARAMS, .name = "gamma", .doc = "", .flags = XIR_FIELD_OPTIONAL,
      .offset = offsetof(body, gamma) },
};

/* Compositions, and how many of a thousand ops are valid at least. */
static const struct { const char *text; int valid; } texts[] = {
    { "%m = Mean(%a){dim=axes, keepdim=true}; %d = Add(%a, %m){beta=-1}; %s = Sum(%d){dim=axes, keepdim=true};"
      "%p = Prod(%s){keepdim=true}; %x = Max(%p){keepdim=true}; %q = Div(%d, %x); %y = Add(%q, %b)", 100 },
    { "%m = Max(%a){dim=-1, keepdim=true}; %n = Min(%m){dim=0, keepdim=true}; %k = Maximum(%m, %n);"
      "%g = Multiply(%k, gamma)?; %r = Reshape(%g){shape=[-1], layout=@layout(*)}; %y = Add(%r, %b)", 50 },
    { "%m = Mean(%a){dim=axes}; %e = Exp(%m); %s = Sum(%a){dim=axes}; %q = Add(%e, %s); %y = Add(%q, %b)", 50 },
    { "%i = Reshape(%a){shape=[%a.N, %a.H, %a.W, n, %a.C / n], layout=@layout(*****)};"
      "%m = Mean(%i){dim=[1, 2, 4], keepdim=true}; %d = Add(%i, %m); %t = Transpose(%d){dims=[0, 1, 2, 4, 3],"
      "layout=@layout(*****)}; %r = Reshape(%t){shape=[%a.N, %a.H, %a.W, %a.C], layout=layout(%a)};"
      "%g = Multiply(%r, gamma)?; %y = Add(%g, %b)", 50 },
    { "%r = Reshape(%a){layout=layout(%b), shape=shape}; %s = Sqrt(%r); %t = Add(%s, %b); %y = Add(%t, slope)", 20 },
    { "%r = Reshape(%a){layout=layout(%a), shape=[%a[0], n, %a[-1] * n - n, 2]}; %y = Add(%r, %b)", 5 },
    { "%t = Transpose(%a){dims=axes, layout=layout(%a)}; %u = Transpose(%t){dims=axes, layout=layout(%b)}; %y = Maximum(%u, %b)", 20 },
    /* more loose types than there is room for */
    { "%g = Greater(%a, slope); %w = Where(%a, %a, %g); %g1 = Less(%w, 1); %w1 = Where(%w, %a, %g1);"
      "%g2 = Greater(%w1, 2); %w2 = Where(%w1, %w, %g2); %g3 = Less(%w2, 3); %w3 = Where(%w2, %w, %g3);"
      "%g4 = Greater(%w3, 2); %w4 = Where(%w3, %w, %g4); %g5 = Less(%w4, 3); %w5 = Where(%w4, %w, %g5);"
      "%g6 = Greater(%w5, 2); %w6 = Where(%w5, %w, %g6); %g7 = Less(%w6, 3); %w7 = Where(%w6, %w, %g7);"
      "%m = Mean(%w7){dim=[-1], keepdim=true}; %g8 = Greater(%m, 0); %w8 = Where(%m, %m, %g8); %y = Add(%b, %w8)", 50 },
    /* parts that are asked see types of the pool */
    { "%m = Mean(%a){dim=[-1], keepdim=true}; %z = Softmax(%m){axis=-1}; %o = Cast(%z){target_dtype=type(%m)};"
      "%k = Concat(%o, %m){axis=0}; %y = Add(%k, %b)", 20 },
    { "%g = Greater(%a, %b); %n = Not(%g); %y = Or(%n, %g)", 50 },
    { "%l = Hardtanh(%a){min_val=slope, max_val=0}; %s = Softplus(%l){beta=slope}; %f = Softplus(%s){beta=0.5};"
      "%y = Add(%f, %b)", 50 },
};

/* A class with two inputs, all of whose parts are asked or not. */
static const xir_class *class_of(xir_context *in, const char *text, bool asked) {
    static const xir_class_decl *(*const parts[])(void) = {
        xir_mean_class, xir_sum_class, xir_prod_class, xir_max_class, xir_min_class, xir_reshape_class,
        xir_transpose_class, xir_add_class, xir_div_class, xir_multiply_class, xir_maximum_class, xir_exp_class,
        xir_sqrt_class, xir_greater_class, xir_less_class, xir_where_class, xir_hardtanh_class, xir_softplus_class,
    };
    xir_row rows[16] = {
        { .decl = XIR_DECL_OP, .name = "test::It", .doc = "", .offset = sizeof(body) },
        { .decl = XIR_DECL_IN, .name = "a", .doc = "" },
        { .decl = XIR_DECL_IN, .name = "b", .doc = "", .offset = 8 },
    };
    size_t n = 3;
    for (size_t i = 0; i < COUNT(fields); i++) rows[n++] = fields[i];
    rows[n++] = (xir_row){ .decl = XIR_DECL_OUT, .name = "y", .doc = "" };
    rows[n++] = (xir_row){ .decl = XIR_DECL_COMPOSED, .doc = text };
    rows[n++] = (xir_row){ .decl = XIR_DECL_END };
    const xir_class_decl decl = { XIR_ABI, sizeof decl, sizeof(xir_row), rows };
    if (xir_class_register(in, &decl, why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s", text);
    }
    for (size_t i = 0; i < COUNT(parts) && asked; i++) {
        const xir_class *cls = xir_class_find_decl(in, parts[i]());
        DOES(xir_infer_register(in, parts[i](), XIR_TARGET_HOST, cls->more->infer[XIR_TARGET_HOST]));
    }
    return xir_class_find(in, XIR_STR("test::It"));
}

/* ---- random ops -------------------------------------------------------------------------------------------------- */

static const xir_type *random_element(void) {
    static const double scale = 0.5;
    switch (chance(30)) {
    case 0:  return xir_type_sint(ctx, 8);
    case 1:  return xir_type_bool(ctx);
    case 2:  return xir_type_float(ctx, XIR_FLOAT_BF16);
    case 3:  return xir_type_quantized(ctx, xir_scales_from(ctx, &scale, 1, -1), NULL, 0, xir_type_sint(ctx, 8), NULL);
    default: return xir_type_float(ctx, XIR_FLOAT_FP32);
    }
}

static int64_t random_dim(void) {
    static const int64_t large[] = { 0, XIR_UNKNOWN_DIM, INT64_C(1) << 31, INT64_C(1) << 62 };
    return chance(25) ? 1 + (int64_t)chance(4) : large[chance(4)];
}

/* A type that often is NHWC; sometimes with symbols, or with dims of another one. */
static const xir_type *random_type(xir_network *net, const xir_type *like) {
    static const char *const layouts[] = { "", "*", "NC", "NLC", "NCHW", "NDHWC", "NHWCc4", "**HWC**", "********", "" };
    int64_t dims[9];
    size_t rank = chance(3) ? 4 : chance(10);
    for (size_t i = 0; i < rank; i++) dims[i] = random_dim();
    if (like && chance(6)) {
        const size_t all = xir_type_rank(like), skip = chance(3) ? 0 : chance(all + 1);
        rank = all - skip;
        for (size_t i = 0; i < rank; i++)
            dims[i] = chance(6) ? xir_type_dim(like, (int64_t)(i + skip), false) : chance(4) ? 1 : random_dim();
    }
    const char *axes = rank == 4 && chance(3) ? "NHWC" : layouts[rank];
    const xir_layout *layout = *axes && chance(4) ? xir_layout_parse(ctx, xir_str_of(axes), why) : NULL;
    const xir_type *type = xir_type_tensor(ctx, random_element(), layout, dims, rank);
    if (rank && chance(8) == 0) {
        static const char *const words[] = { "batch", "rows", "2*batch", "?", "3", "batch + 1" };
        xir_str of[9];
        for (size_t i = 0; i < rank; i++) of[i] = xir_str_of(words[chance(COUNT(words))]);
        type = xir_network_type_with_dims(net, type, of, rank, why);
    }
    assert_non_null(type);
    return type;
}

static xir_i64s random_list(int64_t *items, size_t rank, bool dims) {
    xir_i64s list = { items, chance(4) ? rank : chance(rank + 1) };
    if (list.size > 9) list.size = 9;
    for (size_t i = 0; i < list.size; i++) {
        const int64_t last = rank ? (int64_t)rank : 1;
        items[i] = dims ? (chance(5) ? 1 + (int64_t)chance(4) : (int64_t)chance(3) - 1)
                 : chance(12) ? (int64_t)((i + (uint64_t)chance(2)) % (uint64_t)last) - (chance(3) ? 0 : last)
                 : (int64_t)chance(12) - 6;
    }
    /* an order */
    for (size_t i = 0; !dims && chance(2) && i < list.size; i++) items[i] = (int64_t)(list.size - 1 - i);
    return list;
}

typedef struct answer { xir_status status; char text[1000]; bool made; } answer;

/* The element, the layout and the dims of a type. */
static void describe(const xir_type *type, char *out, size_t room) {
    const xir_str layout = xir_layout_text(xir_type_layout(type));
    size_t n = (size_t)snprintf(out, room, "%s %.*s", spelled(xir_type_element(type)), (int)layout.size, layout.data);
    for (size_t i = 0; i < xir_type_rank(type) && n < room - 300; i++) {
        out[n++] = ' ';
        n += xir_type_dim_text(type, (int64_t)i, out + n, 280);
    }
    out[n] = '\0';
}

/* Adds a random op to a network of its own. */
static void add_random(const xir_class *cls, answer *out) {
    int64_t axes[9], shape[9];
    xir_network *net = new_net();
    const xir_type *a = random_type(net, NULL), *b = random_type(net, a), *types[] = { a, b };
    xir_op *input = xir_inputs(xir_at_end(net), "", types, 2);
    xir_value *x[] = { xir_op_output(input, 0), xir_op_output(input, 1) };
    body of = { .slope = 0.5 * (double)chance(5) - 1, .n = (int64_t)chance(6) - chance(2), .made = XIR_MADE_ };
    of.axes = random_list(axes, xir_type_rank(a), false);
    of.shape = random_list(shape, chance(2) ? xir_type_rank(b) : xir_type_rank(a), true);
    const int64_t channels = xir_type_rank(a) ? xir_type_dim(a, -1, false) : 1;
    if (chance(2)) of.gamma = xir_params_new(net, XIR_STR("g"), xir_type_tensor(ctx, xir_type_element(a), NULL,
                                             &channels, 1));
    const xir_target *target = chance(4) ? NULL : xir_target_of_kind(ctx, XIR_TARGET_ZHUGE, "");
    xir_op *op = xir_network_add(net, &XIR_INIT(xir_op_desc, .cls = cls, .attrs = &of, .inputs = x, .n_inputs = 2,
                                                .target = target, .name = XIR_STR("it"), .id = XIR_NO_ID));
    const xir_diag *d = xir_diags_at(xir_network_diags(net), 0);
    out->status = xir_network_status(net);
    out->made = op != NULL;
    if (op) {
        describe(xir_value_type(xir_op_output(op, 0)), out->text, sizeof out->text);
        DOES(xir_op_infer(op, true));   /* from the type that it has */
        char again[1000];
        describe(xir_value_type(xir_op_output(op, 0)), again, sizeof again);
        assert_string_equal(again, out->text);
    } else {
        snprintf(out->text, sizeof out->text, "%.*s: %.*s", d ? (int)d->path.size : 0, d ? d->path.data : "",
                 d ? (int)d->message.size : 0, d ? d->message.data : "");
    }
    xir_network_free(net);
}

static void answers_are_those_of_the_questions(void **state) {
    (void)state;
    const char *many = getenv("XIR_MANY");
    const int tries = many ? atoi(many) : 1000;
    for (size_t i = 0; i < COUNT(texts); i++) {
        xir_context *shared = ctx, *in[2] = { xir_context_new(NULL), xir_context_new(NULL) };
        const xir_class *cls[2];
        int valid = 0;
        for (size_t k = 0; k < 2; k++) cls[k] = class_of(in[k], texts[i].text, k);
        for (int t = 0; t < tries; t++) {
            answer found[2];
            for (size_t k = 0; k < 2; k++) {
                ctx = in[k];
                chance_begin((uint64_t)t * COUNT(texts) + i);
                add_random(cls[k], &found[k]);
            }
            valid += found[0].made;
            if (found[0].status != found[1].status || strcmp(found[0].text, found[1].text) != 0)
                fail_msg("%s, %d: %s\n%s\nasked: %s", texts[i].text, t, xir_status_name(found[0].status), found[0].text,
                         found[1].text);
        }
        if (valid < tries * (texts[i].valid / 1000.0)) fail_msg("%s: only %d ops are valid", texts[i].text, valid);
        ctx = shared;
        for (size_t k = 0; k < 2; k++) xir_context_free(in[k]);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_those_of_the_questions),
    };
    return RUN_GROUP(tests);
}
