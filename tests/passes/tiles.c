/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tiles of the blocks of real networks, along H and W: the residual blocks of ResNet-18, the inverted residuals of
 * MobileNetV2 and the levels of a small U-Net, with 64 KiB, 256 KiB and 1 MiB for their maps. All fit, compute little
 * twice, and compute what the block does, to the bit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <xir/exec.h>
#include "support/net.h"
#include "support/often.h"
#include "support/skips.h"

enum { MOST_BLOCK = 40 };

typedef struct block { char name[60]; xir_op *ops[MOST_BLOCK]; size_t n; } block;

static size_t from_pipe(void *user, void *out, size_t room) { return fread(out, 1, room, user); }

static xir_network *load(const char *corpus, const char *name) {
    char command[1400];
    snprintf(command, sizeof command, "xz -dc '%s/onnx/%s.onnx.xz'", corpus, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    xir_network *net = xir_network_read_stream(ctx, from_pipe, pipe, xir_str_of(name), NULL, why);
    pclose(pipe);
    if (!net) SKIP("%s: there is no such model, or xz is missing", name);
    DOES(xir_network_fill_weights(net, 1, why));   /* the files have zeros */
    DOES(xir_optimise(net, NULL, NULL, why));      /* channels last */
    return net;
}

/* Returns true if a name is that of a scope: "/layer1/layer1.0" followed by '/', or ends there. */
static bool is_in(xir_str name, const char *scope) {
    const size_t n = strlen(scope);
    return name.size >= n && memcmp(name.data, scope, n) == 0 && (name.size == n || name.data[n] == '/');
}

/* The ops whose names are in one of the scopes, which '|' divides; what a conversion adds to an op has its name. */
static void gather(const xir_network *net, const char *name, const char *scopes, block *b) {
    char text[400], *rest = text;
    *b = (block){ .n = 0 };
    snprintf(b->name, sizeof b->name, "%s", name);
    XIR_EACH_OP(op, net) {
        bool inside = false;
        snprintf(text, sizeof text, "%s", scopes);
        rest = text;
        for (char *scope; (scope = strsep(&rest, "|"));) inside |= is_in(xir_op_name(op), scope);
        if (!inside || xir_op_is(op, xir_output_class())) continue;
        assert_true(b->n < MOST_BLOCK);
        b->ops[b->n++] = op;
    }
    if (!b->n) fail_msg("%s has no ops", name);
}

/* The inputs of a block, and what it computes of them; `plain`: tiles without a stage have computed the same. */
typedef struct oracle {
    xir_array *in[16], *out[4];
    size_t     n_in, n_out;
    bool       plain;
} oracle;

static void run(const xir_network *net, const oracle *o, xir_array **out) {
    xir_diags_clear(why);
    if (xir_network_run(net, (const xir_array *const *)o->in, o->n_in, out, o->n_out, NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("a network does not run");
    }
}

static void oracle_open(oracle *o, const xir_network *part) {
    xir_value *inputs[COUNT(o->in)];
    *o = (oracle){ .n_in = xir_network_inputs(part, inputs, COUNT(inputs)) };
    o->n_out = xir_network_outputs(part, NULL, 0);
    assert_true(o->n_in <= COUNT(o->in) && o->n_out <= COUNT(o->out));
    for (size_t i = 0; i < o->n_in; i++) o->in[i] = xir_array_random(ctx, xir_value_type(inputs[i]), 3 + i, why);
    run(part, o, o->out);
}

static void oracle_close(oracle *o) {
    for (size_t i = 0; i < o->n_in; i++) xir_array_free(o->in[i]);
    for (size_t i = 0; i < o->n_out; i++) xir_array_free(o->out[i]);
}

static void check_same(const oracle *o, const xir_network *all, const char *name) {
    xir_array *found[COUNT(o->out)] = { NULL };
    run(all, o, found);
    for (size_t i = 0; i < o->n_out; i++) {
        size_t x, y;
        const void *p = xir_array_data(o->out[i], &x), *q = xir_array_data(found[i], &y);
        if (x != y || memcmp(p, q, x) != 0) fail_msg("%s: output %zu has other bits", name, i);
        xir_array_free(found[i]);
    }
}

/* The bytes, and how many may be made for each one that the whole makes. */
static const struct { uint64_t bytes; double most; } budgets[] = {
    { 64 << 10, 2.0 }, { 256 << 10, 1.3 }, { 1 << 20, 1.3 },
};

static size_t n_failed;

/* For each budget, the cost and the number of the tiles of the block before. */
static struct { xir_tiles_cost cost; size_t n; } previous[COUNT(budgets)];

/* Under a sanitizer, where a product takes fifteen times as long, tiles are not computed if they are those of the block
 * before, which has equal dims, if there is only one, or if smaller ones without a stage are. */
static bool is_computed(const oracle *o, size_t row, const xir_tiles_cost *cost, size_t n) {
    const xir_tiles_cost before = previous[row].cost;
    const bool same = previous[row].n == n && before.peak == cost->peak && before.read == cost->read &&
                      before.made == cost->made && before.made_once == cost->made_once;
    previous[row].cost = *cost;
    previous[row].n = n;
    return !IS_SANITIZED || (!same && n > 1 && !o->plain);
}

static void try_budget(const xir_network *net, const xir_network *part, const block *b, size_t row, oracle *o) {
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = budgets[row].bytes, .letters = "HW");
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    struct timespec from, to;
    xir_diags_clear(why);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    xir_tiles *tiles = xir_region_tiles(net, b->ops, b->n, &how, why);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    if (!tiles) {
        xir_diags_print(why, stderr);
        printf("%-28s %8" PRIu64 ": nothing fits\n", b->name, how.budget);
        n_failed++;
        return;
    }
    DOES(xir_tiles_cost_of(tiles, &cost, why));
    const double made = (double)cost.made / (double)cost.made_once;
    printf("%-28s %8" PRIu64 ": %4zu tiles%s, peak %7" PRIu64 ", made %.3f, read %5.2f, %.2f ms\n", b->name,
           how.budget, xir_tiles_count(tiles), cost.staged ? " in stages" : "          ", cost.peak, made,
           (double)cost.read / (double)cost.read_once,
           1e3 * (double)(to.tv_sec - from.tv_sec) + 1e-6 * (double)(to.tv_nsec - from.tv_nsec));
    if (made > budgets[row].most || cost.peak > how.budget) n_failed++;
    xir_network *all = xir_tiles_network(tiles, why);
    if (!all) xir_diags_print(why, stderr);
    assert_non_null(all);
    DOES(xir_network_validate(all, why));
    if (is_computed(o, row, &cost, xir_tiles_count(tiles)) && !getenv("XIR_TILES_FAST")) {
        if (!o->n_out) oracle_open(o, part);
        check_same(o, all, b->name);
        o->plain |= !cost.staged;
    }
    xir_network_free(all);
    xir_tiles_free(tiles);
}

static void try_block(xir_network *net, const block *b) {
    oracle o = { .n_out = 0 };
    xir_network *part = xir_outline_network(net, b->ops, b->n);
    assert_non_null(part);
    for (size_t i = 0; i < COUNT(budgets); i++) try_budget(net, part, b, i, &o);
    oracle_close(&o);
    xir_network_free(part);
}

static void residual_blocks(void **state) {
    (void)state;
    xir_network *net = load(CORPUS_OR_SKIP(), "resnet18");
    n_failed = 0;
    for (int layer = 1; layer <= 4; layer++)
        for (int i = 0; i < 2; i++) {
            char scope[60];
            block b;
            snprintf(scope, sizeof scope, "/layer%d/layer%d.%d", layer, layer, i);
            gather(net, scope, scope, &b);
            try_block(net, &b);
        }
    xir_network_free(net);
    assert_int_equal(n_failed, 0);
}

static void inverted_residuals(void **state) {
    (void)state;
    xir_network *net = load(CORPUS_OR_SKIP(), "mobilenet_v2");
    n_failed = 0;
    for (int i = 1; i <= 17; i++) {
        char scope[60];
        block b;
        snprintf(scope, sizeof scope, "/features/features.%d", i);
        gather(net, scope, scope, &b);
        try_block(net, &b);
    }
    xir_network_free(net);
    assert_int_equal(n_failed, 0);
}

static void levels_of_a_unet(void **state) {
    (void)state;
    static const struct { const char *name, *scopes; } levels[] = {
        { "encoder 1", "/e1" }, { "encoder 2", "/MaxPool|/e2" }, { "bottom", "/AveragePool|/b" },
        { "decoder 2", "/u2|/Concat|/d2" }, { "decoder 1", "/Resize|/Concat_1|/d1|/o|/Sigmoid" },
    };
    xir_network *net = load(CORPUS_OR_SKIP(), "unet_small");
    n_failed = 0;
    for (size_t i = 0; i < COUNT(levels); i++) {
        block b;
        gather(net, levels[i].name, levels[i].scopes, &b);
        try_block(net, &b);
    }
    xir_network_free(net);
    assert_int_equal(n_failed, 0);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_blocks),
        cmocka_unit_test(inverted_residuals),
        cmocka_unit_test(levels_of_a_unet),
    };
    return RUN_GROUP(tests);
}
