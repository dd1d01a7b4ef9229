/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Tiles of regions: they fit the budget, they are parts of the outputs, and joined they compute what the region does,
 * to the bit. The bytes that are said to be alive, read and made are counted again in the networks of tiles. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xir/exec.h>
#include "support/scarce.h"
#include "support/story.h"

#define PAD1 "[pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]"

/* A network, whose region is all of it between Input and Output; the letters; budgets; whether a stage is needed. */
static const struct { const char *net, *letters; uint64_t budgets[4]; bool staged; } stories[] = {
    /* residual blocks */
    { "x: NHWC 1 14 12 4; w: params 3 3 4 4; v: params 3 3 4 4; c = Conv2d x w " PAD1 "; r = ReLU c; d = Conv2d r v "
      PAD1 "; a = Add d x; y = ReLU a; out y", "HW", { 1200, 2000, 4000, 1 << 20 }, false },
    { "x: NCHW 1 4 14 12; w: params 3 3 4 4; v: params 3 3 4 4; c = Conv2d x w " PAD1 "; r = ReLU c; d = Conv2d r v "
      PAD1 "; a = Add d x; y = ReLU a; out y", "H", { 4000, 6000 }, false },
    /* with a stride, and a second branch */
    { "x: NHWC 1 13 11 3; w: params 3 3 3 4; v: params 3 3 4 4; u: params 1 1 3 4; c = Conv2d x w [pad_top=1 "
      "pad_bottom=1 pad_left=1 pad_right=1 stride_height=2 stride_width=2]; r = ReLU c; d = Conv2d r v " PAD1 "; s = "
      "Conv2d x u [stride_height=2 stride_width=2]; a = Add d s; y = ReLU a; out y", "HW", { 900, 1500 }, false },
    /* an inverted residual: its channels are cut in a stage */
    { "x: NHWC 1 7 7 4; w: params 1 1 4 24; v: params 3 3 1 24; u: params 1 1 24 4; e = Conv2d x w; f = ClampScalar e "
      "[min=0 max=6]; d = Conv2d f v [groups=24 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]; g = ClampScalar d "
      "[min=0 max=6]; p = Conv2d g u; y = Add p x; out y", "HW", { 2500, 6000 }, true },
    /* windows of other kinds */
    { "x: NHWC 1 15 9 2; m = MaxPool2d x [pool_width=3 pool_height=3 stride_width=2 stride_height=2 pad_top=1 "
      "pad_left=1 pad_bottom=1 pad_right=1]; a = AvgPool2d m [pool_width=3 pool_height=2 pad_left=1 pad_right=1 "
      "pad_top=1]; w: params 2 2 5 2; t = ConvTranspose2d a w [stride_width=2 stride_height=2 pad_left=1]; "
      "z = Upsample t [height=32 width=18 interpolation=NEAREST]; out z", "HW", { 1000, 3000 }, false },
    { "x: NHWC 1 9 8 2; w: params 3 2 2 3; c = Conv2d x w [padding_mode=REFLECT pad_top=2 pad_bottom=1 pad_left=1 "
      "dilation_width=2 stride_height=2]; r = Resize c [dsize=10,14 interpolation=INTER_LINEAR]; p = Pad r "
      "[padding=0,0,1,2,3,0,0,0]; out p", "HW", { 900, 2500 }, false },
    { "x: NHWC 1 8 8 3; u = Upsample x [height=16 width=16 interpolation=BILINEAR]; v = Upsample u [height=48 width=32 "
      "interpolation=BICUBIC]; out v", "WH", { 9000, 60000 }, false },
    /* a level of a U: two maps side by side */
    { "x: NHWC 1 6 6 8; k: NHWC 1 12 12 4; w: params 2 2 4 8; v: params 3 3 8 4; t = ConvTranspose2d x w "
      "[stride_width=2 stride_height=2]; c = Concat t k [axis=3]; d = Conv2d c v " PAD1 "; s = Sigmoid d; y = Multiply "
      "d s; out y", "HW", { 2500, 4000 }, false },
    /* ops that mix axes are computed whole; others keep some whole */
    { "x: NHWC 1 6 6 4; t = Transpose x [dims=0,3,1,2 layout=@layout(NCHW)]; u = Transpose t [dims=0,2,3,1 "
      "layout=@layout(NHWC)]; s = Softmax u; m = Mean x [dim=1,2 keepdim=true]; y = Multiply s m; out y", "HW",
      { 1160, 2000 }, false },
    { "x: NHWC 1 8 8 4; v: params 1 = 1.5; m: params 1 = -0.25; q = PixelShuffle x [upscale_factor=2]; b = BatchNorm2d "
      "q [variance=v mean=m]; out b", "HW", { 300, 2000 }, false },
    /* norms along an axis that is cut make all of it */
    { "x: NHWC 1 12 6 4; s = Softmax x [axis=1]; y = Concat s s s [axis=3]; out y", "H", { 3000 }, false },
    { "x: NHWC 1 12 6 4; i = InstanceNorm2d x; g = GroupNorm i [groups=2]; n = LayerNorm g [axis=2,3]; y = Concat n n n "
      "[axis=3]; out y", "HW", { 3000 }, false },
    /* channels, batches */
    { "x: NHWC 2 6 5 6; w: params 3 3 1 6; d = Conv2d x w [groups=6 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]; "
      "y = ReLU d; out y", "NHC", { 400, 800 }, false },
    /* several outputs, of which one is used inside, too */
    { "x: NHWC 1 12 12 2; w: params 3 3 2 4; c = Conv2d x w " PAD1 "; r = ReLU c; m = MaxPool2d r [pool_width=2 "
      "pool_height=2 stride_width=2 stride_height=2]; out r m", "HW", { 1500, 6000 }, false },
    { "x: NHWC 1 9 7 3; a, b = Split x [sections=1,2 axis=3]; c = Neg a; d = Concat c b [axis=3]; e = "
      "Upsample d [height=18 width=14]; out e", "HW", { 2000 }, false },
};

static size_t region_of(const xir_network *net, xir_op **ops, size_t room) {
    size_t n = 0;
    XIR_EACH_OP(op, net) {
        if (op == xir_network_input_op(net) || op == xir_network_output_op(net)) continue;
        assert_true(n < room);
        ops[n++] = op;
    }
    return n;
}

static void run(const xir_network *net, xir_array **out, size_t n_out) {
    xir_value *inputs[8];
    xir_array *in[8];
    const size_t n = xir_network_inputs(net, inputs, COUNT(inputs));
    for (size_t i = 0; i < n; i++) in[i] = xir_array_random(ctx, xir_value_type(inputs[i]), 7 + i, why);
    xir_diags_clear(why);
    if (xir_network_run(net, (const xir_array *const *)in, n, out, n_out, NULL, why)) {
        xir_diags_print(why, stderr);
        fail_msg("a network does not run");
    }
    for (size_t i = 0; i < n; i++) xir_array_free(in[i]);
}

static void check_same_bits(const xir_array *a, const xir_array *b, const char *what) {
    size_t n, m;
    const void *x = xir_array_data(a, &n), *y = xir_array_data(b, &m);
    if (n != m || memcmp(x, y, n) != 0) fail_msg("%s: other bits", what);
}

/* Compares elements of a whole with those of a part of it. */
static void check_part(const xir_array *whole, const xir_array *part, const xir_box *box) {
    const size_t n = xir_array_count(part);
    assert_int_equal(n, xir_box_elements(box));
    for (size_t i = 0; i < n; i++) {
        size_t left = i, place = 0, step = 1;
        for (size_t k = box->rank; k-- > 0;) {
            const size_t extent = (size_t)(box->end[k] - box->begin[k]);
            place += ((size_t)box->begin[k] + left % extent) * step;
            left /= extent;
            step *= (size_t)xir_type_dim(xir_array_type(whole), (int64_t)k, false);
        }
        const double a = xir_array_real(whole, place), b = xir_array_real(part, i);
        if (memcmp(&a, &b, sizeof a) != 0) fail_msg("element %zu of a part: expected %.9g, found %.9g", i, a, b);
    }
}

static uint64_t bytes_of(const xir_value *v) {
    uint64_t n = 0;
    DOES(xir_type_bytes(xir_value_type(v), &n));
    return n;
}

/* The bytes that copies of the ops of the region make, and those that are read of its inputs: cuts of them, or all of
 * it. Other cuts, and joins, have no names and are not counted. */
static void count_bytes(const xir_network *tile, uint64_t *read, uint64_t *made) {
    const xir_op *input = xir_network_input_op(tile);
    XIR_EACH_OP(op, tile)
        for (size_t i = 0; i < xir_op_output_count(op) && xir_op_name(op).size && op != input; i++)
            *made += bytes_of(xir_op_output(op, (int64_t)i));
    for (size_t i = 0; i < xir_op_output_count(input); i++) {
        const xir_value *v = xir_op_output(input, (int64_t)i);
        uint64_t cuts = 0;
        bool whole = false;
        for (const xir_use *u = xir_value_uses(v); u; u = xir_use_next(u)) {
            const xir_op *user = xir_use_op(u);
            whole |= xir_op_name(user).size > 0;
            if (!xir_op_name(user).size && xir_op_output_count(user)) cuts += bytes_of(xir_op_output(user, 0));
        }
        *read += whole ? bytes_of(v) : cuts;
    }
}

static void check_tiles(const xir_network *net, const xir_tiles *tiles, const char *story, bool count_reads) {
    xir_array *whole[4] = { NULL }, *joined[4] = { NULL };
    xir_value *outputs[4];
    const size_t n = xir_network_outputs(net, outputs, COUNT(outputs));
    uint64_t read = 0, made = 0;
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    DOES(xir_tiles_cost_of(tiles, &cost, why));
    run(net, whole, n);
    xir_network *all = xir_tiles_network(tiles, why);
    if (!all) xir_diags_print(why, stderr);
    assert_non_null(all);
    DOES(xir_network_validate(all, why));
    CHECK_SOUND(all);
    run(all, joined, n);
    for (size_t i = 0; i < n; i++) check_same_bits(whole[i], joined[i], story);
    xir_network_free(all);
    for (size_t i = 0; i < xir_tiles_count(tiles); i++) {
        xir_array *parts[4] = { NULL };
        xir_network *tile = xir_region_tile(tiles, i, why);
        assert_non_null(tile);
        size_t found = 0;
        run(tile, parts, xir_network_outputs(tile, NULL, 0));
        for (size_t k = 0; k < n; k++) {
            xir_box box = XIR_INIT(xir_box);
            assert_true(xir_tiles_part(tiles, i, outputs[k], &box));
            if (!box.none) check_part(whole[k], parts[found++], &box);
        }
        assert_int_equal(found, xir_network_outputs(tile, NULL, 0));
        for (size_t k = 0; k < found; k++) xir_array_free(parts[k]);
        count_bytes(tile, &read, &made);
        xir_network_free(tile);
    }
    if (made != cost.made) fail_msg("%s: %" PRIu64 " bytes are made, not %" PRIu64, story, made, cost.made);
    if (count_reads && read != cost.read)
        fail_msg("%s: %" PRIu64 " bytes are read, not %" PRIu64, story, read, cost.read);
    for (size_t i = 0; i < n; i++) {
        xir_array_free(whole[i]);
        xir_array_free(joined[i]);
    }
}

static void tiles_compute_what_the_region_does(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = story_net(stories[i].net);
        xir_op *ops[32];
        const size_t n = region_of(net, ops, COUNT(ops));
        bool staged = false;
        for (size_t k = 0; k < COUNT(stories[i].budgets) && stories[i].budgets[k]; k++) {
            const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = stories[i].budgets[k],
                                                   .letters = stories[i].letters);
            xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
            xir_diags_clear(why);
            xir_tiles *tiles = xir_region_tiles(net, ops, n, &how, why);
            if (!tiles) {
                xir_diags_print(why, stderr);
                fail_msg("%s: no tiles within %" PRIu64, stories[i].net, how.budget);
            }
            DOES(xir_tiles_cost_of(tiles, &cost, why));
            assert_true(cost.peak <= how.budget && cost.op && cost.made >= cost.made_once);
            staged |= cost.staged;
            if (getenv("XIR_SHOW"))
                printf("%zu %" PRIu64 ": %zu tiles%s, peak %" PRIu64 ", made %.2f, read %.2f\n", i, how.budget,
                       xir_tiles_count(tiles), cost.staged ? " with a stage" : "", cost.peak,
                       (double)cost.made / (double)cost.made_once, (double)cost.read / (double)cost.read_once);
            check_tiles(net, tiles, stories[i].net, !cost.staged);
            xir_tiles_free(tiles);
        }
        if (stories[i].staged && !staged) fail_msg("%s: no stage", stories[i].net);
        xir_network_free(net);
    }
}

/* ---- what is refused -------------------------------------------------------------------------------------------- */

static const struct refused {
    const char *net, *letters;
    uint64_t    budget;
    xir_status  code;
    const char *path, *words;
} refused[] = {
    { "x: NHWC 1 8 8 4; y = ReLU x; out y", "HW", 15, XIR_E_LIMIT, "/ops/1",
      "ReLU 'y': 16 bytes are alive while it runs, in tiles of one element along HW: the budget is 15 bytes" },
    { "x: NHWC 1 8 8 4; s = Sigmoid x; m = Mean s [dim=1,2 keepdim=true]; y = Multiply s m; out y", "HW", 900, XIR_E_LIMIT,
      "/ops/3", "Multiply 'y': 1056 bytes are alive" },
    { "x: NHWC 1 -1 8 4; y = ReLU x; out y", "HW", 1000, XIR_E_BOUNDS, "/ops/1", "a dim that is not known" },
    { "x: NHWC 1 0 8 4; y = ReLU x; out y", "HW", 1000, XIR_E_INVALID, "/ops/1", "has no elements" },
    { "x: NHWC 1 8 8 4; y = ReLU x; out y", "HD", 1000, XIR_E_INVALID, "/ops/1", "no axis D in its layout, NHWC" },
    { "x: NHWC 1 8 8 4; y = ReLU x; out y", "HH", 1000, XIR_E_INVALID, "letters", "letter 1 is given twice" },
    { "x: NHWC 1 8 8 4; y = ReLU x; out y", "NHWC", 1000, XIR_E_INVALID, "letters", "4 letters are given" },
    { "x: NHWC 1 8 8 4; y = ReLU x; out y", "", 1000, XIR_E_MISSING, "", "letters" },
    { "x: NHWC 1 8 8 4; y = other::Thing x; out y", "HW", 1000, XIR_E_LIMIT, "/ops/1", "other::Thing" },
};

static void finding_is(const char *net, xir_status code, const char *path, const char *words) {
    const xir_diag *d = xir_diags_at(why, 0);
    if (d && d->code == code && memmem(d->message.data, d->message.size, words, strlen(words)) &&
        xir_str_equal(d->path, xir_str_of(path))) return;
    xir_diags_print(why, stderr);
    fail_msg("%s: expected %s at '%s' with '%s'", net, xir_status_name(code), path, words);
}

static void what_is_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        xir_network *net = story_net(refused[i].net);
        xir_op *ops[8];
        const size_t n = region_of(net, ops, COUNT(ops));
        const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = refused[i].budget,
                                               .letters = refused[i].letters);
        xir_diags_clear(why);
        assert_null(xir_region_tiles(net, ops, n, &how, why));
        finding_is(refused[i].net, refused[i].code, refused[i].path, refused[i].words);
        assert_null(xir_region_tiles(net, ops, n, &how, NULL));
        xir_network_free(net);
    }
}

static void sets_of_ops_that_are_no_region(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 8 8 4; a = ReLU x; b = Sigmoid a; c = Add a b; out c");
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = 1000, .letters = "HW");
    xir_tiles_options unsized = how;
    xir_op *ops[4], *ends[2] = { story_op(net, "c"), xir_network_output_op(net) };
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    (void)region_of(net, ops, COUNT(ops));
    xir_op *hole[2] = { ops[0], ops[2] };
    unsized.size = 0;
    xir_diags_clear(why);
    assert_null(xir_region_tiles(net, hole, 2, &how, why));
    finding_is("a hole", XIR_E_INVALID, "", "path");
    xir_diags_clear(why);
    assert_null(xir_region_tiles(net, ends, 2, &how, why));
    finding_is("an Output", XIR_E_INVALID, "/ops/4", "an end of the network");
    xir_diags_clear(why);
    assert_null(xir_region_tiles(net, ops, 0, &how, why));
    finding_is("no ops", XIR_E_MISSING, "", "ops");
    assert_null(xir_region_tiles(NULL, ops, 3, &how, NULL));
    assert_null(xir_region_tiles(net, ops, 3, NULL, NULL));
    xir_diags_clear(why);
    assert_null(xir_region_tiles(net, ops, 3, &unsized, why));
    finding_is("no size", XIR_E_ABI, "", "no size");
    xir_diags_clear(why);
    xir_tiles *tiles = xir_region_tiles(net, ops, 3, &how, why);
    assert_non_null(tiles);
    assert_null(xir_region_tile(tiles, xir_tiles_count(tiles), why));
    finding_is("past the end", XIR_E_BOUNDS, "tile", "there are");
    xir_box part = XIR_INIT(xir_box);
    assert_false(xir_tiles_part(tiles, xir_tiles_count(tiles), story_value(net, "c"), &part));
    assert_false(xir_tiles_part(tiles, 0, story_value(net, "b"), &part));
    assert_null(xir_region_tile(NULL, 0, NULL));
    assert_null(xir_tiles_network(NULL, NULL));
    assert_int_equal(xir_tiles_cost_of(NULL, &cost, NULL), XIR_E_MISSING);
    assert_int_equal(xir_tiles_count(NULL), 0);
    xir_tiles_free(tiles);
    xir_tiles_free(NULL);
    xir_network_free(net);
}

/* The bytes of the largest tile are those of a walk by hand: conv over 3 x 3 of a row of 4 pixels of 4 bytes. */
static void the_bytes_that_are_alive(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 8 4 1; w: params 3 3 1 1; c = Conv2d x w " PAD1 "; y = ReLU c; out y");
    xir_op *ops[4];
    const size_t n = region_of(net, ops, COUNT(ops));
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = 100, .letters = "H");
    xir_tiles *tiles = xir_region_tiles(net, ops, n, &how, why);
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    assert_non_null(tiles);
    DOES(xir_tiles_cost_of(tiles, &cost, why));
    assert_int_equal(xir_tiles_count(tiles), 4);          /* of 2 rows: 4 rows are read for them */
    assert_int_equal(cost.peak, (4 + 2) * 4 * 4);
    assert_int_equal(cost.read, (3 + 4 + 4 + 3) * 16);
    assert_int_equal(cost.read_once, 8 * 16);
    assert_int_equal(cost.made, 2 * 8 * 16);
    assert_int_equal(cost.made_once, 2 * 8 * 16);
    CHECK_STR(xir_op_name(cost.op), "c");
    xir_tiles_free(tiles);
    xir_network_free(net);
}

/* A scaled map is made in pairs of elements. With windows that reach two elements further, tiles that begin at an even
 * one make one more on each side: of 18 rows each they would make 4864 bytes. */
static void a_first_tile_of_its_own_size(void **state) {
    (void)state;
    xir_network *net = story_net("x: NHWC 1 32 4 1; u = Upsample x [height=64 width=8 interpolation=BILINEAR]; w: params "
                                 "5 5 1 1; y = Conv2d u w [pad_top=2 pad_bottom=2 pad_left=2 pad_right=2]; out y");
    xir_op *ops[4];
    const size_t n = region_of(net, ops, COUNT(ops));
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = 1400, .letters = "H");
    xir_tiles *tiles = xir_region_tiles(net, ops, n, &how, why);
    xir_tiles_cost cost = XIR_INIT(xir_tiles_cost);
    assert_non_null(tiles);
    DOES(xir_tiles_cost_of(tiles, &cost, why));
    int64_t at = 0;
    for (size_t i = 0; i < xir_tiles_count(tiles); i++) {
        xir_box part = XIR_INIT(xir_box);
        assert_true(xir_tiles_part(tiles, i, story_value(net, "y"), &part));
        assert_int_equal(part.begin[1], at);
        assert_true(i == 0 || at % 2 == 1);
        at = part.end[1];
    }
    assert_int_equal(at, 64);
    assert_int_equal(xir_tiles_count(tiles), 4);
    assert_int_equal(cost.made, 4672);
    assert_int_equal(cost.made_once, 2 * 64 * 8 * 4);
    check_tiles(net, tiles, "a first tile", true);
    xir_tiles_free(tiles);
    xir_network_free(net);
}

/* ---- without memory --------------------------------------------------------------------------------------------- */

static void tiling(want *w, const char *story, uint64_t bytes) {
    xir_op *ops[10];
    size_t n;
    xir_tiles *tiles;
    xir_network *tile, *all;
    const xir_tiles_options how = XIR_INIT(xir_tiles_options, .budget = bytes, .letters = "HW");
    IN_PLENTY(w, w->net = story_net_in(w->ctx, story));
    IN_PLENTY(w, n = region_of(w->net, ops, COUNT(ops)));
    TRY_MAKE(w, tiles, xir_region_tiles(w->net, ops, n, &how, w->why));
    TRY_MAKE(w, tile, xir_region_tile(tiles, 0, w->why));
    TRY_MAKE(w, all, xir_tiles_network(tiles, w->why));
    IN_PLENTY(w, w->result = picture(all));
    xir_network_free(tile);
    xir_network_free(all);
    xir_tiles_free(tiles);
}

static void plain(want *w)  { tiling(w, "x: NHWC 1 6 6 2; w: params 3 3 2 2; c = Conv2d x w " PAD1 "; y = ReLU c; out y", 400); }
static void staged(want *w) {
    tiling(w, "x: NHWC 1 3 3 2; w: params 1 1 2 8; v: params 3 3 1 8; u: params 1 1 8 2; e = Conv2d x w; d = Conv2d e v "
              "[groups=8 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]; y = Conv2d d u; out y", 300);
}

static void without_memory(void **state) {
    (void)state;
    run_scarcely("tiles", plain, false);
    run_scarcely("staged tiles", staged, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_compute_what_the_region_does), cmocka_unit_test(what_is_refused),
        cmocka_unit_test(sets_of_ops_that_are_no_region),     cmocka_unit_test(the_bytes_that_are_alive),
        cmocka_unit_test(a_first_tile_of_its_own_size),       cmocka_unit_test(without_memory),
    };
    return RUN_GROUP(tests);
}
