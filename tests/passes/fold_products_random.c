/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks of ops that `fold-products` follows: whatever it folds, the numbers stay the same, a second run
 * changes nothing, and each op names the ops that it was made of. All values have one type, so that any of them can be
 * the input of any line. */
#include <math.h>
#include <string.h>
#include "support/often.h"
#include "support/path_rule.h"
#include "support/story.h"
#include <xir/exec.h>
#include <xir/pass.h>

#define CONSTANTS \
    "x: NHWC 1 4 4 4; w: params HWIO 3 3 4 4; d: params HWIO 3 3 1 4; k: params HWIO 1 1 4 4; " \
    "t: params HWOI 1 1 4 4; " \
    "b: params 4; v: params 4; m: params 4 4; g: params 4 4; half: 0.5; two: params 1 = 2; none: 0; " \
    "i: params sint64 4 = 3 -3 0 2; "
#define SAME "[pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]"
#define FLAT "[shape=1,16,4 layout=@layout(N*C)]"
#define FULL "[shape=1,4,4,4 layout=@layout(NHWC)]"

/* # is an earlier value, < the one of the line before, $ a constant, @ the name of a new value unless
 * it begins "@layout". */
static const char *const lines[] = {
    "@ = Multiply # $", "@ = Multiply $ #", "@ = Add # $", "@ = Add $ # [alpha=2 beta=-3]", "@ = Div # $",
    "@ = DivideScalar # [divisor=3]", "@ = BatchNorm2d # [variance=v mean=b]", "@ = Multiply # g", "@ = Add # g",
    "@ = Conv2d # w " SAME, "@ = Conv2d # k b", "@ = Conv2d # d b [groups=4 pad_top=2 pad_left=1 pad_right=1]",
    "@ = ConvTranspose2d # t", "@ = Conv2d # k [padding_mode=REFLECT]",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = Conv2d < w",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = Conv2d < k "
    "[pad_top=-1 pad_bottom=-1 pad_left=-1 pad_right=-1]",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = AvgPool2d < [pool_width=3 pool_height=3]",
    "@ = Pad # [padding=0,0,2,0,1,1,0,0 value=-inf]; @ = MaxPool2d < [pool_width=3 pool_height=3]",
    "@ = AvgPool2d # [pool_width=3 pool_height=3 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]",
    "@ = Mean # [dim=1,2 keepdim=true]; @ = Conv2d < k b; @ = Sigmoid <; @ = Multiply # <",
    "@ = Mean # [dim=1,2 keepdim=true]; @ = Multiply # <",
    "@ = Reshape # " FLAT "; @ = Matmul < m; @ = Reshape < " FULL,
    "@ = Reshape # " FLAT "; @ = LayerNorm < [axis=2 gamma=v beta=b]; @ = Matmul < m; @ = Reshape < " FULL,
    "@ = RMSNorm # [axis=3 gamma=v]; @ = Conv2d < k", "@ = LayerNorm # [axis=-1 gamma=b]",
    "@ = Transpose # [dims=0,3,1,2 layout=@layout(NCHW)]; @ = Multiply < half; "
    "@ = Transpose < [dims=0,2,3,1 layout=@layout(NHWC)]",
    "p@, q@ = Split # [sections=1,3 axis=3]; @ = Concat p< q< [axis=3]",
    "p@, q@ = Split # [sections=1,3 axis=3]; @ = Concat q< p< [axis=3]",
    "@ = Upsample # [height=8 width=8]; @ = MaxPool2d < [pool_width=2 pool_height=2 stride_width=2 stride_height=2]",
    "@ = SwapOrder # [order=2,0,3,1]", "@ = ChannelShuffle # [groups=2]; @ = Conv2d < k", "@ = Gather # i [axis=3]",
    "@ = ReLU #", "@ = Sigmoid #", "@ = Multiply # #", "@ = Add # #", "@ = Neg #", "@ = Roll # [shifts=1 dims=2]",
};
static const char *const constants[] = { "half", "two", "b", "v", "none" };

typedef struct tale { char text[6000]; size_t size, made; bool odd[100]; } tale;   /* odd: of another type */

static void tell(tale *t, const char *word, size_t n) {
    if (t->size + n + 1 > sizeof t->text) fail_msg("the tale is too long");
    memcpy(t->text + t->size, word, n);
    t->text[t->size += n] = '\0';
}

static void tell_value(tale *t, size_t i) {
    char name[12];
    const int n = snprintf(name, sizeof name, i ? "n%zu" : "x", i);
    tell(t, name, (size_t)n);
}

static size_t some_value(const tale *t, size_t most) {
    size_t i = chance(4) ? most - chance(most < 2 ? most + 1 : 2) : chance(most + 1);
    while (t->odd[i]) i--;
    return i;
}

static void tell_constant(tale *t) {
    const char *name = constants[chance(COUNT(constants))];
    tell(t, name, strlen(name));
}

/* Between its lines a run has values of other types. */
static void tell_lines(tale *t, const char *line) {
    const size_t first = t->made;
    for (const char *c = line; *c; c++) {
        if (*c == '@' && c[1] != 'l') tell_value(t, t->made + 1);
        else if (*c == '#') tell_value(t, some_value(t, first));
        else if (*c == '<') tell_value(t, t->made);
        else if (*c == '$') tell_constant(t);
        else tell(t, c, 1);
        if (*c == ';' && c[1]) t->odd[++t->made] = true;
    }
    tell(t, "; ", 2);
    t->made++;
}

static void compute(const xir_network *net, xir_array **out, size_t n) {
    xir_value *x;
    xir_network_inputs(net, &x, 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 7, why);
    DOES(xir_network_run(net, (const xir_array *const *)&in, 1, out, n, NULL, why));
    xir_array_free(in);
}

/* Other roundings: differences are compared relative to the largest number. */
static void compare(const tale *t, const xir_array *a, const xir_array *b) {
    xir_difference d = { 0 };
    double most = 1;
    for (size_t i = 0; i < xir_array_count(a); i++) {
        const double x = fabs(xir_array_real(a, i));
        if (isfinite(x) && x > most) most = x;
    }
    DOES(xir_array_compare(b, a, 1e-4 * most, 0, &d));
    if (!d.same_shape || d.count)
        fail_msg("%s\n%zu elements differ, the first is %g, was %g", t->text, d.count, d.a, d.b);
}

static void check_paths(const xir_provenance *p, const xir_network *was, const char *text) {
    path_counts n = { 0 };
    const char *broken = broken_path(p, was, &n);
    if (broken) fail_msg("%s\n%s", text, broken);
    assert_int_equal(n.named, n.ops);
}

static void the_numbers_stay_the_same(void **state) {
    (void)state;
    size_t all = 0;
    for (long i = 0, graphs = often_graphs(1000); i < graphs; i++) {
        tale t = { 0 };
        tell(&t, CONSTANTS, sizeof CONSTANTS - 1);
        for (uint64_t n = 2 + chance(6); n; n--) tell_lines(&t, lines[chance(COUNT(lines))]);
        tell(&t, "out ", 4);
        tell_value(&t, t.made);
        const size_t other = chance(3) ? 0 : some_value(&t, t.made - 1), outputs = other ? 2 : 1;
        if (outputs == 2) {
            tell(&t, " ", 1);
            tell_value(&t, other);
        }
        xir_array *before[2], *after[2];
        xir_network *net = story_net(t.text), *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, why);
        size_t changes, again;
        compute(net, before, outputs);
        DOES(xir_pass_run(net, "fold-products", NULL, &changes, why));
        check_paths(p, was, t.text);
        xir_provenance_free(p);
        xir_network_free(was);
        CHECK_SOUND(net);
        if (xir_network_validate(net, why)) fail_msg("%s\nis not valid any more", t.text);
        compute(net, after, outputs);
        for (size_t k = 0; k < outputs; k++) {
            compare(&t, before[k], after[k]);
            xir_array_free(before[k]);
            xir_array_free(after[k]);
        }
        DOES(xir_pass_run(net, "fold-products", NULL, &again, why));
        if (again) fail_msg("%s\na second run makes %zu changes", t.text, again);
        all += changes;
        xir_network_free(net);
    }
    if (all < (size_t)often_graphs(1000) / 3) fail_msg("%zu changes: too few for a conclusion", all);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_numbers_stay_the_same) };
    return RUN_GROUP(tests);
}
