/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Every public function that takes an op, a value, a type or a network accepts NULL for it: questions return NULL, 0
 * or false, edits and makers return a failure, and nothing ends the program. nulls.awk makes the calls from the
 * headers. Each runs in a process of its own, on a network of its own, so that one that crashes does not hide the
 * next. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xir/icraft.h>
#include "support/net.h"

/* The places in which a call can be made: functions for hooks take objects that exist only while the hook runs. */
typedef enum place { ANYWHERE, IN_CONVERSION, IN_INFERENCE, IN_REWRITING, IN_KERNEL, IN_READER } place;

typedef struct fixture {
    bool                 (*call)(struct fixture *f);
    bool                   was_called, good;
    xir_node              *node;
    xir_infer             *infer;
    xir_rewriter          *rewriter;
    xir_kernel            *kernel;
    const xir_match       *found;
    const xir_format_reading *reading;
    xir_ints               numbers;
    xir_context           *ctx;
    xir_diags             *why;
    xir_network           *net;
    xir_op                *op, *ops[8];
    xir_value             *value, *values[8];
    const xir_type        *type;
    const xir_target      *target;
    const xir_layout      *layout;
    const xir_scales      *scales;
    const xir_norm_ratios *ratios;
    const xir_distr       *distr;
    const xir_mtype       *mtype;
    const xir_array       *array, *arrays[8];
    xir_array             *results[8];
    xir_diff              *diff;
    xir_liveness          *liveness;
    xir_memory_buffers    *buffers;
    xir_memory_plan       *plan;
    xir_groups            *groups;
    xir_levels            *levels;
    xir_dominance         *dominance;
    xir_life               life;
    xir_walker             walker;
    xir_view              *view;
    xir_provenance        *provenance;
    xir_mapping           *mapping;
    xir_mapping_rules      mapping_rules;
    xir_pipeline          *pipeline;
    xir_calibration       *calibration;
    xir_pattern           *pattern;
    xir_proof             *proof;
    const xir_rule        *rules;
    xir_match              match;
    xir_op_desc            desc;
    xir_any                any;
    xir_attr               attr;
    xir_text_buffer        text;
    xir_elements_diff      elements;
    xir_work               work;
    xir_cost               cost;
    xir_numbers            within;
    size_t                 size;
    bool                   flag;
    uint64_t               bytes;
    int64_t                ints[8];
    double                 reals[8];
    xir_named_attr         named;
    _Alignas(16) char      room[4096];
} fixture;

static bool  swallow(void *user, const void *data, size_t size)  { (void)user, (void)data, (void)size; return true; }
static bool  see_cost(void *u, const xir_op *op, const xir_cost *c) { (void)u, (void)op, (void)c; return true; }
static void  see_part(void *u, const xir_value *v, const xir_box *b) { (void)u, (void)v, (void)b; }
static bool  pick_none(const xir_op *op, void *user)             { (void)op, (void)user; return false; }
static int   kind_none(const xir_op *op, void *user)             { (void)op, (void)user; return -1; }
static void  fill_item(void *user, size_t i, void *out)          { (void)user, (void)i, (void)out; }
static float fill_float(size_t i)                                { (void)i; return 0; }

#include "nulls.inc"

/* in -> relu -> out, and other arguments of calls. The process ends without freeing it. */
static void make(fixture *f) {
    static const xir_pattern_row rows[] = { { XIR_ROW_OP(xir_relu_class) } };
    static const xir_pattern_decl pattern = { XIR_PATTERN_HEAD("relu", rows) };
    static const double ratio = 1;
    *f = (fixture){ .ctx = ctx, .work = XIR_INIT(xir_work), .cost = XIR_INIT(xir_cost), .within = XIR_INIT(xir_numbers),
                     .life = XIR_INIT(xir_life), .walker = XIR_INIT(xir_walker),
                     .mapping_rules = XIR_INIT(xir_mapping_rules) };
    f->why = xir_diags_new(ctx);
    f->net = small_net();
    f->op = op_of(f->net, 1);
    f->value = value_of(f->net, 2);
    f->type = xir_value_type(f->value);
    f->target = xir_op_target(f->op);
    f->layout = xir_type_layout(f->type);
    f->scales = xir_scales_from(ctx, &ratio, 1, -1);
    f->ratios = xir_norm_ratios_from(ctx, &ratio, 1, -1);
    f->mtype = xir_mtype_host(ctx);
    f->array = f->arrays[0] = xir_array_new(ctx, f->type, NULL);
    f->diff = xir_diff_new(f->net, f->net, NULL, NULL);
    f->liveness = xir_liveness_new(f->net, NULL, NULL);
    f->buffers = xir_memory_buffers_new(f->liveness, NULL, NULL);
    f->plan = xir_memory_buffers_plan(f->buffers, NULL, NULL);
    f->groups = xir_groups_new(f->net, kind_none, NULL, NULL);
    f->levels = xir_levels_new(f->net, NULL);
    f->dominance = xir_dominance_new(f->net, NULL);
    f->view = xir_view_range(f->net, 1, 3);
    f->provenance = xir_provenance_new(f->net, NULL);
    f->mapping = xir_mapping_new(f->net, f->net);
    f->pipeline = xir_pipeline_parse(ctx, XIR_STR("dce"), NULL);
    f->pattern = xir_pattern_new(ctx, &pattern, NULL);
    f->proof = xir_proof_new(ctx, NULL, NULL);
    f->calibration = xir_calibration_new(ctx, NULL, NULL);
    f->match.pattern = f->pattern;
    f->match.root = f->op;
    f->desc = (xir_op_desc)DESC(relu, INPUTS(f->value));
    f->any = xir_any_int(1);
    f->attr = (xir_attr){ .kind = XIR_KIND_I64, .as.i64 = 1 };
}

/* ---- the hooks -------------------------------------------------------------------------------------------------- */

static fixture *now;   /* for hooks that do not get a pointer from the caller */

static void call_in_hook(void) {
    if (now->was_called) return;
    now->was_called = true;
    now->good = now->call(now);
}

static bool convert(xir_node *at) {
    now->node = at;
    now->value = xir_node_input(at, 0);
    now->type = xir_value_type(now->value);
    now->numbers = xir_node_make_ints(at, 1, 1);
    call_in_hook();
    return xir_node_unsupported(at, "it is a test");
}

/* Converts a network with one op of a dialect. */
static void call_in_conversion(fixture *f) {
    static const xir_convert_row row = { XIR_CONVERT_HEAD, .name = "onnx::Probe", .inputs = "1", .outputs = "1",
                                         .attributes = "", .cls = "icraft::xir::Copy", .hook = convert };
    xir_network *net = new_net();
    xir_value *x = xir_input(xir_at_end(net), "x", f->type);
    xir_op *op = xir_network_add(net,
                                 &XIR_INIT(xir_op_desc, .cls = xir_class_opaque(ctx, XIR_STR("onnx::Probe")), INPUTS(x),
                                           TYPES(f->type), .id = XIR_NO_ID));
    xir_output(xir_at_end(net), XIR_VALUES(xir_op_output(op, 0)));
    DOES(xir_convert_register(ctx, &row, 1, f->why));
    xir_pass_run(net, "to-xir", NULL, NULL, f->why);
}

static xir_status infer(xir_infer *at) {
    now->infer = at;
    call_in_hook();
    return xir_infer_result(at, xir_infer_input(at, 0));
}

static void call_in_inference(fixture *f) {
    DOES(xir_infer_register(ctx, xir_relu_class(), XIR_TARGET_HOST, infer));
    xir_network_infer(f->net, f->why);
}

static xir_verdict rewrite(xir_rewriter *at, const xir_match *match, const void *user) {
    (void)user;
    now->rewriter = at;
    now->found = match;
    now->op = match->root;
    now->value = xir_op_output(match->root, 0);
    call_in_hook();
    return XIR_REWRITE_LEFT;
}

static void call_in_rewriting(fixture *f) {
    const xir_rule rule = { .pattern = f->pattern, .rewrite = rewrite };
    xir_network_rewrite(f->net, &rule, 1, sizeof rule, 1, NULL, f->why);
}

static xir_status compute(xir_kernel *at) {
    now->kernel = at;
    call_in_hook();
    return xir_kernel_fail(at, XIR_E_UNSUPPORTED, NULL, "it is a test");
}

static void call_in_kernel(fixture *f) {
    xir_array *input = xir_array_new(ctx, f->type, NULL), *result = NULL;
    DOES(xir_kernel_register(ctx, xir_relu_class(), compute));
    xir_op_run(op_of(f->net, 2), (const xir_array *const[]){ input }, 1, &result, 1, NULL, f->why);
}

static xir_network *read_file(const xir_format_reading *how) {
    now->reading = how;
    call_in_hook();
    return NULL;
}

static void call_in_reader(fixture *f) {
    static const xir_format_decl format = { XIR_FORMAT_HEAD("probe", "a format of this test"), .suffixes = "probe",
                                            .read = read_file };
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "probe");
    DOES(xir_format_register(ctx, &format, f->why));
    xir_network_read(ctx, "probe", 5, XIR_STR("x.probe"), &options, f->why);
}

static bool call(size_t i, fixture *f) {
    static void (*const in_hook[])(fixture *f) = { [IN_CONVERSION] = call_in_conversion,
                                                   [IN_INFERENCE] = call_in_inference,
                                                   [IN_REWRITING] = call_in_rewriting, [IN_KERNEL] = call_in_kernel,
                                                   [IN_READER] = call_in_reader };
    if (calls[i].where == ANYWHERE) return calls[i].run(f);
    now = f;
    f->call = calls[i].run;
    in_hook[calls[i].where](f);
    if (!f->was_called) _exit(2);
    return f->good;
}

/* Returns the end of the call: 0 as expected, 1 with a result other than NULL, 0 or false, 2 if its hook did not run,
 * otherwise by a signal. */
static int run(size_t i) {
    pid_t child = fork();
    if (!child) {
        fixture f;
        signal(SIGSEGV, SIG_DFL);   // otherwise cmocka would continue in the child
        signal(SIGABRT, SIG_DFL);
        make(&f);
        _exit(!call(i, &f));
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

static void test_null_is_accepted_wherever_an_object_is(void **state) {
    (void)state;
    size_t failures = 0;
    assert_true(COUNT(calls) > 250);
    for (size_t i = 0; i < COUNT(calls); i++) {
        int how = run(i);
        if (how)
            print_error("%s: %s (%d)\n", calls[i].call, how == 1 ? "an answer that is not NULL, 0 or false"
                        : "ended the program", how);
        failures += how != 0;
    }
    assert_int_equal(failures, 0);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_null_is_accepted_wherever_an_object_is) };
    return RUN_GROUP(tests);
}
