/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The ops that are the same for a proof: ops with a body, ops that read values inside of their sub ops, ops with lists
 * of Params, and ops whose outputs have declared types. Whatever may compute something else is computed again. */
#include <stdio.h>
#include <xir/region.h>
#include <xir/xir.h>

#define XIR_DEFS "support/whole.def"
#include <xir/declare.h>
#define XIR_DEFS "support/whole.def"
#include <xir/define.h>

#include "support/proof.h"
#include "support/scarce.h"
#include "support/story.h"

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

enum { MOST = 12 };

/* A network whose ops with these names, separated by blanks, become the body of one op. Several groups are separated by
 * ';' and become bodies in turn, so that a body can be within another. */
static xir_network *outlined(xir_context *with, const char *story, const char *groups) {
    xir_network *net = story_net_in(with, story);
    xir_op *ops[MOST];
    size_t n = 0, ends[MOST], n_groups = 0;
    char name[20];
    int size;
    for (const char *at = groups; sscanf(at, " %19[^ ;]%n", name, &size) == 1; at += *at == ';') {
        ops[n++] = story_op(net, name);
        at += size;
        if (*at != ' ') ends[n_groups++] = n;
    }
    for (size_t g = 0, i = 0; g < n_groups; g++) {
        xir_op *group[MOST];
        size_t of_group = 0;
        for (; i < ends[g]; i++) {
            xir_op *op = xir_op_parent(ops[i]) ? xir_op_parent(ops[i]) : ops[i];
            if (!of_group || group[of_group - 1] != op) group[of_group++] = op;
        }
        assert_non_null(xir_outline(net, group, of_group, NULL));
    }
    return net;
}

#define X "x: fp32 4; y: fp32 4; w: params 4 = 1 -2 3 -4; "
#define Z "; z = Neg e; out z"
static const char body[] = X "a = Sigmoid x; b = Multiply a w; c = Add b y; d = ReLU c; e = Add d b" Z;
static const char two[] = X "a = Neg x; b = Neg y; c = Add a b [alpha=2]; z = Neg c; v = Neg b; out z v";

/* `computed`: of the ops of the second network, those that the proof computes. A body is one op. */
static const struct {
    const char *first, *groups, *next, *next_groups;
    xir_status  status;
    size_t      computed;
} rows[] = {
    { body, "b c d", body, "b c d", XIR_OK, 0 },
    { body, "a b c d e", body, "a b c d e", XIR_OK, 0 },
    { body, "b c d;a b c d e", body, "b c d;a b c d e", XIR_OK, 0 },
    { two, "a b c", two, "a b c", XIR_OK, 0 },
    /* other names inside and outside */
    { body, "b c d", X "a = Sigmoid x; b = Multiply a w; q = Add b y; d = ReLU q; e = Add d b" Z, "b q d", XIR_OK, 0 },
    /* not in the same places: what follows has the same numbers */
    { body, "b c d", body, "b c", XIR_OK, 2 },
    { body, "b c d", body, "c d", XIR_OK, 2 },
    { body, "b c d;a b c d e", body, "a b c d e", XIR_OK, 1 },
    /* Params that a body reads */
    { body, "b c d", "x: fp32 4; y: fp32 4; w: params 4 = 1 -2 3 4; a = Sigmoid x; b = Multiply a w; c = Add b y;"
      "d = ReLU c; e = Add d b" Z, "b c d", XIR_E_INVALID, 3 },
    { body, "b c d;a b c d e", "x: fp32 4; y: fp32 4; w: params 4 = 1 -2 3 4; a = Sigmoid x; b = Multiply a w;"
      "c = Add b y; d = ReLU c; e = Add d b" Z, "b c d;a b c d e", XIR_E_INVALID, 2 },
    /* the class of an op inside, and an attribute */
    { body, "b c d", X "a = Sigmoid x; b = Multiply a w; c = Add b y; d = Neg c; e = Add d b" Z, "b c d",
      XIR_E_INVALID, 3 },
    { body, "b c d", X "a = Sigmoid x; b = Multiply a w; c = Add b y [beta=2]; d = ReLU c; e = Add d b" Z, "b c d",
      XIR_E_INVALID, 3 },
    { body, "b c d;a b c d e", X "a = Sigmoid x; b = Multiply a w; c = Add b y [beta=2]; d = ReLU c; e = Add d b" Z,
      "b c d;a b c d e", XIR_E_INVALID, 2 },
    /* which value inside an op reads, and which of them is a result */
    { body, "a b c d e", X "a = Sigmoid x; b = Multiply a w; c = Add b y; d = ReLU c; e = Add d c" Z, "a b c d e",
      XIR_E_INVALID, 2 },
    { two, "a b c", X "a = Neg x; b = Neg y; c = Add b a [alpha=2]; z = Neg c; v = Neg b; out z v", "a b c",
      XIR_E_INVALID, 2 },
    { two, "a b c", X "a = Neg x; b = Neg y; c = Add a b [alpha=2]; z = Neg c; v = Neg a; out z v", "a b c",
      XIR_E_INVALID, 2 },
    /* what the body is given */
    { body, "b c d", X "a = Sigmoid y; b = Multiply a w; c = Add b y; d = ReLU c; e = Add d b" Z, "b c d",
      XIR_E_INVALID, 4 },
    /* one op less, one op more */
    { body, "b c d", X "a = Sigmoid x; b = Multiply a w; d = Add b y; e = Add d b" Z, "b d", XIR_E_INVALID, 3 },
    { body, "b c d", X "a = Sigmoid x; b = Multiply a w; c = Add b y; q = ReLU c; d = ReLU q; e = Add d b" Z, "b c q d",
      XIR_OK, 1 },
};

static size_t ops_of(const xir_network *net) { return xir_network_op_count(net) - 2; }

static void a_body_is_computed_again_if_it_is_another(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *first = outlined(ctx, rows[i].first, rows[i].groups),
                    *next = outlined(ctx, rows[i].next, rows[i].next_groups);
        DOES(xir_proof_check(p, first, why));
        assert_int_equal(state_of(p).computed, ops_of(first));
        const xir_status status = xir_proof_check(p, next, why);
        const size_t computed = state_of(p).computed - ops_of(first), reused = state_of(p).reused;
        if (status != rows[i].status || computed != rows[i].computed || computed + reused != ops_of(next))
            fail_msg("row %zu: %s, %zu computed, %zu reused: %s", i, xir_status_name(status), computed, reused,
                     findings());
        xir_diags_clear(why);
        xir_network_free(first);
        xir_network_free(next);
        xir_proof_free(p);
    }
}

/* ---- lists of Params, and sub ops that read outside -------------------------------------------------------------- */

xir_status whole_infer(xir_infer *at) { return xir_infer_result(at, xir_infer_input(at, 0)); }

/* Sub ops are not run: they only must not be taken for others. */
static xir_status compute_whole(xir_kernel *at) {
    const xir_whole_attrs *a = xir_kernel_attrs(at);
    const double *x = xir_kernel_reals(at, 0);
    double *y = x ? xir_kernel_real_out(at, 0) : NULL;
    if (!y) return XIR_E_MEMORY;
    for (size_t k = 0; k < 4; k++) y[k] = x[k];
    for (size_t i = 0; i < a->tables.size; i++) {
        const double *t = xir_kernel_param_reals(at, a->tables.data[i]);
        if (!t) return XIR_E_MEMORY;
        for (size_t k = 0; k < 4; k++) y[k] += (double)(i + 1) * t[k];
    }
    return XIR_OK;
}

static xir_value *table(xir_network *net, float first, bool wide) {
    const float numbers[] = { first, 2, 3, 4 };
    return xir_params_copy(net, XIR_STR(""), wide ? FP32("**", 1, 4) : FP32("*", 4), numbers, 16);
}

typedef struct wanted {
    float tables[3];
    bool  wide;          /* the second table has other dims     */
    int   reads;         /* what the part reads: 0 a, 1 b; 2 x  */
    bool  neg;           /* the part is a Neg, not a Sigmoid    */
    bool  parts;
    bool  half;          /* the part's result is fp16               */
} wanted;

/* x -> a, b -> Whole(a) with tables, and a part that reads one of the values outside of it. */
static xir_network *whole_net(wanted w) {
    xir_network *net = new_net();
    xir_at at = XIR_AT(net);
    xir_value *x = xir_input(at, "x", FP32("*", 4));
    xir_value *a = XIR_OP(at, sigmoid, .input = x), *b = XIR_OP(at, sigmoid, .input = a), *tables[3];
    size_t n = 0;
    for (; n < 3 && w.tables[n] != 0; n++) tables[n] = table(net, w.tables[n], w.wide && n == 1);
    xir_whole_attrs attrs = xir_whole_init();
    attrs.tables = (xir_values){ tables, n };
    xir_value *of[] = { a, b, x };
    xir_op *part = NULL;
    if (w.parts) {
        part = xir_op_new(net, &XIR_INIT(xir_op_desc, .cls = xir_class_find_decl(ctx, w.neg ? xir_neg_class()
                                                                                         : xir_sigmoid_class()),
                                         .inputs = &of[w.reads], .n_inputs = 1, .id = XIR_NO_ID));
        assert_non_null(part);
        const xir_type *half = XIR_TENSOR(ctx, xir_type_float(ctx, XIR_FLOAT_FP16), "*", 4);
        if (w.half) DOES(xir_value_set_type(xir_op_output(part, 0), half));
        attrs.parts = (xir_ops){ &part, 1 };
    }
    xir_value *out = XIR_OP(at, whole, .inputs = XIR_VALUES(a), .attrs = &attrs);
    assert_non_null(out);
    xir_output(at, XIR_VALUES(out, b));
    return net;
}

static const struct { wanted first, next; xir_status status; size_t computed; } lists[] = {
    { { { 1, 2 } }, { { 1, 2 } }, XIR_OK, 0 },
    { { { 1, 2 } }, { { 2, 1 } }, XIR_E_INVALID, 1 },
    { { { 1, 2 } }, { { 1, 3 } }, XIR_E_INVALID, 1 },
    { { { 1, 2 } }, { { 1 } }, XIR_E_INVALID, 1 },
    { { { 1, 2 } }, { { 1, 2, 3 } }, XIR_E_INVALID, 1 },
    { { { 1, 2 } }, { { 1, 2 }, .wide = true }, XIR_OK, 1 },
    { { .parts = true }, { .parts = true }, XIR_OK, 0 },
    { { .parts = true }, { .parts = false }, XIR_OK, 1 },
    { { .parts = true }, { .parts = true, .neg = true }, XIR_OK, 1 },
    { { .parts = true }, { .parts = true, .half = true }, XIR_OK, 1 },
    { { .parts = true }, { .parts = true, .reads = 1 }, XIR_OK, 1 },
    { { .parts = true }, { .parts = true, .reads = 2 }, XIR_OK, 1 },
    { { .parts = true, .reads = 2 }, { .parts = true, .reads = 2 }, XIR_OK, 0 },
};

static void lists_and_what_sub_ops_read_count(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *first = whole_net(lists[i].first), *next = whole_net(lists[i].next);
        DOES(xir_proof_check(p, first, why));
        assert_int_equal(state_of(p).computed, 3);
        const xir_status status = xir_proof_check(p, next, why);
        const size_t computed = state_of(p).computed - 3, reused = state_of(p).reused;
        if (status != lists[i].status || computed != lists[i].computed || reused != 3 - computed)
            fail_msg("row %zu: %s, %zu computed, %zu reused: %s", i, xir_status_name(status), computed, reused,
                     findings());
        xir_diags_clear(why);
        xir_network_free(first);
        xir_network_free(next);
        xir_proof_free(p);
    }
}

/* ---- declared types ---------------------------------------------------------------------------------------------- */

/* x and -w, which a Cast brings back to fp32 if its declared elements are others. `dim`: of the type that -w declares,
 * -1 is open. */
static xir_network *declared_net(xir_float_format format, const char *layout, int64_t dim) {
    xir_network *net = story_net("x: fp32 4; w: params 4 = 1 -2 3 -4; n = Neg w; c = Cast n [target_dtype=fp32,4];"
                                 "y = Add x c; out y");
    DOES(xir_value_set_type(story_value(net, "n"), XIR_TENSOR(ctx, xir_type_float(ctx, format), layout, dim)));
    return net;
}

/* The first network declares fp32, "*" and 4 elements. */
static const struct {
    xir_float_format format;
    const char      *layout;
    int64_t          dim;
    xir_status       status;
    size_t           computed, reused;
    const char      *finding;
} declared[] = {
    { XIR_FLOAT_FP32, "*", 4,  XIR_OK, 0, 3, "" },
    /* all numbers are the same in fp16: the Add reads what it read before */
    { XIR_FLOAT_FP16, "*", 4,  XIR_OK, 2, 1, "" },
    { XIR_FLOAT_FP32, "C", 4,  XIR_OK, 2, 1, "" },
    { XIR_FLOAT_FP32, "*", -1, XIR_OK, 2, 1, "" },
    { XIR_FLOAT_FP32, "*", 5,  XIR_E_INVALID, 0, 0,
      "icraft::xir::Neg 'n': the network declares @fp(32) [5], inference gives @fp(32) [4]" },
};

/* Inference does not see the declared type of an output, but a run stores the output in it. */
static void declared_types_count(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(declared); i++) {
        xir_proof *p = xir_proof_new(ctx, NULL, why);
        xir_network *first = declared_net(XIR_FLOAT_FP32, "*", 4),
                    *next = declared_net(declared[i].format, declared[i].layout, declared[i].dim);
        DOES(xir_proof_check(p, first, why));
        assert_int_equal(state_of(p).computed, 3);
        const xir_status status = xir_proof_check(p, next, why);
        const size_t computed = state_of(p).computed - 3, reused = state_of(p).reused;
        const char *found = findings();
        if (status != declared[i].status || computed != declared[i].computed || reused != declared[i].reused ||
            strcmp(found, declared[i].finding))
            fail_msg("row %zu: %s, %zu computed, %zu reused: %s", i, xir_status_name(status), computed, reused, found);
        xir_network_free(first);
        xir_network_free(next);
        xir_proof_free(p);
    }
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void scarce_bodies(want *w) {
    xir_network *a, *b;
    IN_PLENTY(w, a = outlined(w->ctx, body, "b c d;a b c d e"); b = outlined(w->ctx, body, "b c d;a b c d e"));
    xir_proof *p;
    TRY_MAKE(w, p, xir_proof_new(w->ctx, NULL, w->why));
    TRY(w, xir_proof_check(p, a, w->why));
    TRY(w, xir_proof_check(p, b, w->why));
    assert_true(state_of(p).networks >= 2 && state_of(p).largest == 0);
    IN_PLENTY(w, xir_network_free(a); xir_network_free(b); xir_proof_free(p));
}

static void every_allocation(void **state) {
    (void)state;
    run_scarcely("checking networks with bodies", scarce_bodies, false);
}

static int begin(void **state) {
    const int result = group_begin(state);
    if (result) return result;
    DOES(xir_class_register(ctx, xir_whole_class(), why));
    DOES(xir_kernel_register(ctx, xir_whole_class(), compute_whole));
    return 0;
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_body_is_computed_again_if_it_is_another),
        cmocka_unit_test(lists_and_what_sub_ops_read_count),
        cmocka_unit_test(declared_types_count),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
