/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Everything is linear: if a network is twice as large, each call with a network of each shape costs at most 2.4 times
 * as much, in work and in memory (count.h). A cost of n log n is below that, a square is not. Memory grows in steps, so
 * it is compared over two doublings.
 *
 *     linear                      the test: every shape, every call, at N, 2 N and 4 N
 *     linear time N [SHAPE]       by hand: the seconds of each call at N and 2 N, where that is more than a tenth
 */
#include <unistd.h>
#include <xir/icraft.h>
#include "linear/shapes.h"
#include "support/ways.h"

enum { N = 320, STEPS = 3, TRIES = 5 };
static const double MOST = 2.4;

/* A cost below this at 4 N is not compared. An arena's next chunk may be one MiB; 4 N squared is more. */
enum { FEW_BLOCKS = 20000, FEW_BYTES = 3 << 19 };
_Static_assert(FEW_BYTES < 16 * N * N, "a square would pass");

/* ---- calls ------------------------------------------------------------------------------------------------------ */

static const struct { const char *name, *write, *read; } formats[] = {
    { "json", "write json", "read json" }, { "imodel", "write imodel", "read imodel" }, { "fb", "write fb", "read fb" },
    { "pnnx", "write pnnx", "read pnnx" }, { "py", "write py", NULL }, { "nnb", "write nnb", "read nnb" },
    { "deepx", "write deepx", "read deepx" }, { "tsm", "write tsm", "read tsm" },
    { "onnx", "write onnx", "read onnx" },
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool keep(void *user, const void *data, size_t size) {
    put(user, data, size);
    return true;
}

static void write_and_read(costs *c, xir_network *net) {
    xir_context *ctx = xir_network_context(net);
    for (size_t i = 0; i < FORMATS; i++) {
        bytes file = { 0 };
        file.data = malloc(file.room = (size_t)64 << 20);   /* so that growing it is not counted */
        const xir_save_options how = XIR_INIT(xir_save_options, .format = formats[i].name, .unchecked = true);
        const xir_load_options back = XIR_INIT(xir_load_options, .format = formats[i].name, .no_params = i == 0);
        xir_network *read = NULL;
        COST(c, formats[i].write, xir_network_write(net, keep, &file, &how, NULL));
        if (formats[i].read)
            COST(c, formats[i].read, read = xir_network_read(ctx, file.data, file.size, XIR_STR("shape"), &back, NULL));
        xir_network_free(read);
        free(file.data);
    }
}

static xir_walk_answer go_on(void *user, xir_value *value) {
    (void)user;
    (void)value;
    return XIR_WALK_ON;
}

static const xir_liveness_options shared = { .size = sizeof shared, .views = true, .in_place = true };
static const xir_walker everything = { .size = sizeof everything, .value = go_on, .params = go_on };

/* ---- regions and records ---------------------------------------------------------------------------------------- */

/* By positions, not by slots, which sub ops have, too: an op has one kind in networks of all sizes. */
static int kind_of(const xir_op *op, void *user) {
    (void)user;
    return (int)(xir_network_index_of(xir_op_network(op), op) % 3) - 1;
}

/* All ops between the ends are one region. */
static void move_regions(costs *c, const xir_network *net, xir_diags *why) {
    xir_network *copy = xir_network_clone(net);
    xir_op **ops = malloc((xir_network_op_count(net) + 1) * sizeof *ops), *call = NULL;
    size_t n = 0;
    for (xir_op *op = xir_network_first(copy); op; op = xir_op_next(op))
        if (!(xir_class_traits(xir_op_class(op)) & (XIR_TRAIT_SOURCE | XIR_TRAIT_SINK))) ops[n++] = op;
    COST(c, "region check", (void)!xir_region_check(copy, ops, n, why));
    COST(c, "groups", xir_groups_free(xir_groups_new(copy, kind_of, NULL, why)));
    COST(c, "outline", call = xir_outline(copy, ops, n, NULL));
    COST(c, "inline", if (call) (void)!xir_op_inline(call));
    COST(c, "extract", xir_network_free(xir_extract(net, NULL, 0, NULL, 0, why)));
    free(ops);
    xir_network_free(copy);
}

static bool add_parameters(void *user, const xir_op *op, const xir_cost *of_op) {
    (void)op;
    *(uint64_t *)user += of_op->parameters;
    return true;
}

/* The cost of a recorder on top of the passes. */
static void record_passes(costs *c, const xir_network *net, const xir_pipeline *all, xir_diags *why) {
    xir_network *copy = xir_network_clone(net);
    xir_provenance *p = NULL;
    COST(c, "recorder", p = xir_provenance_new(copy, why));
    COST(c, "recorded pipeline", (void)!xir_pipeline_run(all, copy, NULL, NULL, why));
    COST(c, "free the recorder", xir_provenance_free(p));
    xir_network_free(copy);
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

static bool drop(void *user, const void *data, size_t size) {
    (void)user, (void)data, (void)size;
    return true;
}

/* Pictures of a network, and of two as one. */
static void draw(costs *c, const xir_network *net, const xir_diff *diff) {
    const xir_draw_options closed = XIR_INIT(xir_draw_options, .depth = 1);
    const xir_draw_options both = XIR_INIT(xir_draw_options, .diff = diff);
    COST(c, "draw as SVG", xir_draw(net, XIR_DRAW_SVG, NULL, drop, NULL, NULL));
    COST(c, "draw closed groups", xir_draw(net, XIR_DRAW_SVG, &closed, drop, NULL, NULL));
    COST(c, "draw as DOT", xir_draw(net, XIR_DRAW_DOT, NULL, drop, NULL, NULL));
    COST(c, "draw as a page", xir_draw(net, XIR_DRAW_HTML, NULL, drop, NULL, NULL));
    COST(c, "draw a diff", xir_draw(net, XIR_DRAW_HTML, &both, drop, NULL, NULL));
}

/* ---- all calls -------------------------------------------------------------------------------------------------- */

static void look(costs *c, xir_network *net) {
    xir_context *ctx = xir_network_context(net);
    xir_diags *why = xir_diags_new(ctx);
    xir_network *copy = NULL;
    COST(c, "validate", xir_network_validate(net, why));
    COST(c, "dialect check", xir_dialect_check(net, why));
    COST(c, "nnb check", xir_nnb_check(net, why));
    COST(c, "deepx check", xir_deepx_check(net, why));
    COST(c, "clone", copy = xir_network_clone(net));
    COST(c, "equal", xir_network_equal(net, copy, true));
    xir_diff *diff = NULL;
    COST(c, "diff with a copy", diff = xir_diff_new(net, copy, NULL, NULL));
    if (diff) draw(c, net, diff);
    xir_diff_free(diff);
    xir_view *view = NULL;
    COST(c, "view", view = xir_view_range(net, 0, INT64_MAX));
    COST(c, "view to network", xir_network_free(view ? xir_view_to_network(view) : NULL));
    xir_view_free(view);
    xir_liveness *l = NULL;
    xir_memory_buffers *buffers = NULL;
    xir_memory_plan *plan = NULL;
    COST(c, "liveness", l = xir_liveness_new(net, &shared, why));
    COST(c, "buffers", buffers = xir_memory_buffers_new(l, &XIR_INIT(xir_memory_buffers_options, .upper = 8), why));
    COST(c, "plan of effort 0",
         plan = xir_memory_buffers_plan(buffers, &XIR_INIT(xir_memory_options, .effort = XIR_EFFORT_SWEEP), why));
    xir_memory_plan_free(plan);
    xir_memory_buffers_free(buffers);
    xir_liveness_free(l);
    COST(c, "levels", xir_levels_free(xir_levels_new(net, why)));
    COST(c, "dominance", xir_dominance_free(xir_dominance_new(net, why)));
    COST(c, "walk", xir_network_walk(net, &everything, why));
    uint64_t parameters = 0;
    COST(c, "costs", (void)!xir_network_costs(net, add_parameters, &parameters, why));
    xir_numbers takes;
    COST(c, "numbers of inputs", (void)!xir_network_input_numbers(net, &takes, 0, why));
    COST(c, "fill weights", (void)!xir_network_fill_weights(copy, 1, why));
    move_regions(c, net, why);
    COST(c, "infer", xir_network_infer(copy, why));
    COST(c, "free", xir_network_free(copy));
    xir_diags_free(why);
}

/* Every network that a pass makes is run and compared with the first one. */
static void prove_passes(costs *c, const xir_network *net, const xir_pipeline *all, xir_diags *why) {
    xir_network *copy = xir_network_clone(net);
    xir_proof *proof = xir_proof_new(xir_network_context(net), NULL, why);
    xir_pass_watch watch = XIR_INIT(xir_pass_watch);
    (void)!xir_proof_watch(proof, &watch, why);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .watches = &watch, .n_watches = 1);
    COST(c, "proven pipeline", (void)!xir_pipeline_run(all, copy, &settings, NULL, why));
    COST(c, "free the proof", xir_proof_free(proof));
    xir_network_free(copy);
}

/* The ways to the formats of other frameworks, from XIR's own ops. */
static void convert_back(costs *c, const xir_network *net) {
    xir_network *own = xir_network_clone(net);
    (void)!xir_pass_run(own, "to-xir", NULL, NULL, NULL);
    for (size_t i = 0; i < WAYS; i++) {
        xir_network *copy = xir_network_clone(own);
        COST(c, ways_back[i], (void)!xir_pass_run(copy, ways_back[i], NULL, NULL, NULL));
        xir_network_free(copy);
    }
    xir_network_free(own);
}

static xir_network *after_passes;   /* the result of the last pass of the default pipeline */

static void run_passes(costs *c, const xir_network *net) {
    static const char *const one_by_one[] = { "to-xir", "sort", "infer", "fold", "identity", "layout", "moves", "fuse",
                                              "fold-batchnorm", "fold-products", "cse", "dedup", "canon", "dce" };
    xir_network *copy = xir_network_clone(net);
    for (size_t i = 0; i < sizeof one_by_one / sizeof *one_by_one; i++) {
        xir_network *of_one = xir_network_clone(net);
        COST(c, one_by_one[i], xir_pass_run(of_one, one_by_one[i], NULL, NULL, NULL));
        xir_network_free(of_one);
    }
    xir_diags *why = xir_diags_new(xir_network_context(net));
    xir_pipeline *all = xir_pipeline_parse(xir_network_context(net), xir_str_of(xir_default_pipeline()), NULL);
    COST(c, "default pipeline", xir_pipeline_run(all, copy, NULL, NULL, why));
    xir_diff *diff = NULL;
    COST(c, "diff with what passes made", diff = xir_diff_new(net, copy, NULL, NULL));
    xir_diff_free(diff);
    record_passes(c, net, all, why);
    prove_passes(c, net, all, why);
    convert_back(c, net);
    xir_pipeline_free(all);
    xir_diags_free(why);
    after_passes = copy;
}

static void free_passed(costs *c) {
    COST(c, "free what passes made", xir_network_free(after_passes));
    after_passes = NULL;
}

static void all_calls(costs *c, xir_network *net) {
    if (!net) return;
    look(c, net);
    run_passes(c, net);
    free_passed(c);
    write_and_read(c, net);
    xir_network_free(net);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static size_t failures, measured, shapes;
static const char *only;
static int64_t time_at;

static void measure_net(costs *c, const void *what, int64_t n) {
    const net_shape *shape = what;
    xir_context *ctx = xir_context_new(&counting);
    xir_network *net = NULL;
    COST(c, "build", net = shape->make(ctx, n));
    if (!net || xir_network_status(net) != XIR_OK) {
        printf("%s cannot be built\n", shape->name);
        if (net) xir_diags_print(xir_network_diags(net), stdout);
        failures++;
    }
    all_calls(c, net);
    xir_context_free(ctx);
}

static void measure_file(costs *c, const file_shape *shape, const char *format, int64_t n) {
    xir_context *ctx = xir_context_new(&counting);
    xir_diags *why = xir_diags_new(ctx);
    bytes file = { 0 };
    xir_network *net = NULL;
    shape->make(&file, n);
    const xir_load_options how = XIR_INIT(xir_load_options, .format = format);
    COST(c, "read", net = xir_network_read(ctx, file.data, file.size, XIR_STR("shape"), &how, why));
    if (!net != shape->refused) {
        printf("%s is %s\n", shape->name, net ? "read" : "refused");
        xir_diags_print(why, stdout);
        failures++;
    }
    xir_diags_free(why);
    free(file.data);
    all_calls(c, net);
    xir_context_free(ctx);
}

/* Returns true if a cost has grown by at most the factor `most`. If not, and this is the last attempt, the test
 * fails. */
static bool grows_linearly(const char *shape, const char *call, const char *what, uint64_t before, uint64_t after,
                           uint64_t few, double most, bool last) {
    const double times = (double)after / (double)(before + 1);
    if (after <= few || times <= most) return true;
    if (!last) return false;
    failures++;
    printf("%s: %s costs %llu %s, of a smaller one %llu: %.2f times as much, at most %.2f were expected\n", shape, call,
           (unsigned long long)after, what, (unsigned long long)before, times, most);
    return false;
}

static bool compare(const char *shape, const costs *at, bool last) {
    bool good = true;
    for (size_t i = 0; i < at[STEPS - 1].n; i++) {
        for (size_t step = 1; step < STEPS; step++) {
            const cost *a = &at[step - 1].all[i], *b = &at[step].all[i];
            good &= grows_linearly(shape, b->call, "blocks", a->spent.blocks, b->spent.blocks, FEW_BLOCKS, MOST, last);
        }
        const cost *a = &at[0].all[i], *b = &at[STEPS - 1].all[i];
        good &= grows_linearly(shape, b->call, "bytes", a->spent.bytes, b->spent.bytes, FEW_BYTES, MOST * MOST, last);
    }
    if (good || last) measured += at[STEPS - 1].n;
    return good;
}

/* Addresses decide the places in hash tables, so costs differ from run to run: the lowest of several attempts
 * counts. */
static void take_least(costs *least, const costs *c) {
    if (!least->n) *least = *c;
    for (size_t i = 0; i < c->n; i++) {
        effort *e = &least->all[i].spent;
        if (c->all[i].spent.blocks < e->blocks) e->blocks = c->all[i].spent.blocks;
        if (c->all[i].spent.bytes < e->bytes) e->bytes = c->all[i].spent.bytes;
    }
}

/* Seconds depend on the machine and the moment; blocks show whether XIR is the cause. */
static void show_times(const char *shape, const costs *at) {
    for (size_t i = 0; i < at[1].n; i++) {
        const cost *a = &at[0].all[i], *b = &at[1].all[i];
        const double blocks = (double)b->spent.blocks / (double)(a->spent.blocks + 1);
        if (b->seconds < 0.1 && blocks <= MOST) continue;
        printf("%-32s %-28s %8.3f s %8.3f s  %12llu blocks  x %.2f%s\n", shape, b->call, a->seconds, b->seconds,
               (unsigned long long)b->spent.blocks, blocks, blocks > MOST ? "  !" : "");
    }
    fflush(stdout);
}

static void measure_table(costs *c, const void *what, int64_t n) {
    enum { LARGE = 32 };
    const table_shape *t = what;
    xir_context *ctx = xir_context_new(&counting);
    t->fill(c, ctx, LARGE * n);
    xir_context_free(ctx);
}

typedef void measure_fn(costs *c, const void *shape, int64_t n);

static void measure(const char *name, measure_fn *fn, const void *shape) {
    static costs least[STEPS], c;
    if (only && strcmp(only, name) != 0) return;
    shapes++;
    memset(least, 0, sizeof least);
    for (int try = 1; try <= TRIES; try++) {
        void *elsewhere = malloc((size_t)try * 100048);   /* so that the next attempt has other addresses */
        for (int step = 0; step < (time_at ? 2 : STEPS); step++) {
            c.n = 0;
            fn(&c, shape, (time_at ? time_at : N) << step);
            take_least(&least[step], &c);
        }
        const bool done = time_at || compare(name, least, try == TRIES);
        free(elsewhere);
        if (done) break;
    }
    if (time_at) show_times(name, least);
}

static void measure_json(costs *c, const void *shape, int64_t n)   { measure_file(c, shape, "json", n); }
static void measure_packed(costs *c, const void *shape, int64_t n) { measure_file(c, shape, "imodel", n); }
static void measure_onnx(costs *c, const void *shape, int64_t n)   { measure_file(c, shape, "onnx", n); }
static void measure_pnnx(costs *c, const void *shape, int64_t n)   { measure_file(c, shape, "pnnx", n); }
static void measure_nnb(costs *c, const void *shape, int64_t n)    { measure_file(c, shape, "nnb", n); }
static void measure_tsm(costs *c, const void *shape, int64_t n)    { measure_file(c, shape, "tsm", n); }
static void measure_deepx(costs *c, const void *shape, int64_t n)  { measure_file(c, shape, "deepx", n); }

/* Two alternating keys may share a slot of a memo because of their addresses, and only another process has other
 * addresses. A call that is not linear fails in every process. */
static void try_elsewhere(char **argv) {
    enum { PROCESSES = 4 };
    const char *word = getenv("XIR_LINEAR_PROCESS");
    const int tried = word ? atoi(word) : 1;
    char next[16];
    if (tried >= PROCESSES) return;
    snprintf(next, sizeof next, "%d", tried + 1);
    printf("once more, with other addresses\n");
    fflush(stdout);
    setenv("XIR_LINEAR_PROCESS", next, 1);
    execv("/proc/self/exe", argv);
}

#define EACH(list, fn) for (size_t i = 0; i < n_##list; i++) measure(list[i].name, fn, &list[i])

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "time") == 0) time_at = atoll(argv[2]);
    if (argc > 3) only = argv[3];
    EACH(table_shapes, measure_table);
    EACH(net_shapes, measure_net);
    EACH(json_shapes, measure_json);
    EACH(packed_shapes, measure_packed);
    EACH(onnx_shapes, measure_onnx);
    EACH(pnnx_shapes, measure_pnnx);
    EACH(nnb_shapes, measure_nnb);
    EACH(deepx_shapes, measure_deepx);
    EACH(tsm_shapes, measure_tsm);
    if (time_at) return 0;
    printf("%zu shapes, %zu comparisons, %zu failures\n", shapes, measured, failures);
    if (failures) try_elsewhere(argv);
    return failures || shapes < 60 || measured < 60 * 20;
}
