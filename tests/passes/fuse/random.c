/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks of ops that `fuse` and `fold-batchnorm` look for: whatever they match, the numbers stay the same. */
#include <math.h>
#include <string.h>
#include "support/often.h"
#include "support/path_rule.h"
#include "support/story.h"
#include <xir/exec.h>
#include <xir/pass.h>

/* Lines of a story: # is an earlier value, @ the name of the new value, $ one of a few constants. */
static const char *const lines[] = {
    "@ = Sigmoid #", "@ = Hardsigmoid #", "@ = Erf #", "@ = ReLU #", "@ = ReLU # [max_value=6]", "@ = ClampScalar # [min=0 max=6]",
    "@ = Multiply # #", "@ = Multiply # #", "@ = Multiply # #", "@ = Add # #", "@ = Add # # [beta=-1]", "@ = Add # $", "@ = Add $ #",
    "@ = Multiply # $", "@ = Multiply $ #", "@ = Div # $", "@ = DivideScalar # [divisor=6]", "@ = DivideScalar # [divisor=2]",
    "@ = Matmul # w", "@ = Matmul # u", "@ = Matmul # w b", "@ = BatchNorm1d # [variance=v mean=b]", "@ = LayerNorm # [axis=-1]",
    "@ = RMSNorm # [axis=-1]", "@ = GroupNorm # [groups=2]", "@ = Softplus #", "@ = Tanh #", "@ = Roll # [shifts=1 dims=1]",
};
/* Sequences that one of the passes matches; < is the value of the line before. */
static const char *const runs[] = {
    "@ = Sigmoid #; @ = Multiply < #", "@ = Add # three; @ = ReLU < [max_value=6]; @ = Div < six; @ = Multiply < #",
    "@ = Div # root; @ = Erf <; @ = Add < one; @ = Multiply < #; @ = Multiply < half",
    "@ = Matmul # w; @ = Add < b; @ = BatchNorm1d < [variance=v mean=b]", "@ = BatchNorm1d # [variance=v mean=b]; @ = Matmul < u",
    "@ = LayerNorm # [axis=-1]; @ = Multiply < v; @ = Add < b",
    ("@ = Mean # [dim=-1 keepdim=true]; @ = Add ^ < [beta=-1]; @ = Multiply < <; @ = Mean < [dim=-1 keepdim=true]; @ "
     "= Add < eps; @ = Sqrt <; @ = Div ~ <"),
    "@ = Softplus #; @ = Tanh <; @ = Multiply < #", "@ = GroupNorm # [groups=2]; @ = Multiply < v; @ = Add b <",
    "@ = RMSNorm # [axis=-1]; @ = Multiply v <", "@ = Roll # [shifts=1 dims=-1]; @ = Roll < [shifts=-2,1 dims=0,1]",
};
static const char *const constants[] = { "half", "two", "three", "six", "one", "root", "b", "v" };

typedef struct tale { char text[4000]; size_t size, made; bool narrow[100]; } tale;   /* narrow: one column */

static void tell(tale *t, const char *word) {
    size_t n = strlen(word);
    if (t->size + n + 1 > sizeof t->text) fail_msg("the tale is too long");
    memcpy(t->text + t->size, word, n + 1);
    t->size += n;
}

static void tell_value(tale *t, size_t i) {
    char name[8];
    snprintf(name, sizeof name, i ? "n%zu" : "x", i);
    tell(t, name);
}

/* A value of the full shape, usually a recent one. */
static size_t some_value(const tale *t) {
    size_t i = chance(2) ? t->made - chance(t->made < 3 ? t->made + 1 : 3) : chance(t->made + 1);
    while (t->narrow[i]) i--;
    return i;
}

/* Within a sequence # and ^ are the value that the sequence began with, and ~ is the value of its second line. */
static void tell_lines(tale *t, const char *line, bool is_run) {
    size_t start = some_value(t), first = t->made;
    for (const char *c = line; *c; c++) {
        char one[2] = { *c, '\0' };
        if (*c == '@') tell_value(t, t->made + 1);
        else if (*c == '#' && is_run) tell_value(t, chance(20) ? start : some_value(t));
        else if (*c == '#') tell_value(t, some_value(t));
        else if (*c == '<') tell_value(t, t->made);
        else if (*c == '^') tell_value(t, start);
        else if (*c == '~') tell_value(t, first + 2);
        else if (*c == '$') tell(t, constants[chance(COUNT(constants))]);
        else tell(t, one);
        if (*c == ';') t->made++;
    }
    tell(t, "; ");
    t->made++;
    if (strncmp(line, "@ = Mean", 8) == 0)
        t->narrow[first + 1] = t->narrow[first + 4] = t->narrow[first + 5] = t->narrow[first + 6] = true;
}

static void compute(const xir_network *net, xir_array **out, size_t n) {
    xir_value *x;
    xir_network_inputs(net, &x, 1);
    xir_array *in = xir_array_random(ctx, xir_value_type(x), 7, why);
    if (xir_network_run(net, (const xir_array *const *)&in, 1, out, n, NULL, why)) {
        xir_diags_print(why, stderr);
        fail();
    }
    xir_array_free(in);
}

/* Every pass rounds in other places: differences are compared relative to the largest number. */
static void compare(const tale *t, const xir_array *a, const xir_array *b) {
    xir_difference d = { 0 };
    double most = 1;
    for (size_t i = 0; i < xir_array_count(a); i++) {
        double x = fabs(xir_array_real(a, i));
        if (isfinite(x) && x > most) most = x;
    }
    DOES(xir_array_compare(b, a, 1e-4 * most, 0, &d));
    if (!d.same_shape || d.count)
        fail_msg("%s\n%zu elements differ, the first is %g, was %g", t->text, d.count, d.a, d.b);
}

/* Each op names the ops that it was made of, which lie between its inputs and outputs. */
static void check_paths(const xir_provenance *p, const xir_network *was, const char *text) {
    path_counts n = { 0 };
    const char *broken = broken_path(p, was, &n);
    if (broken) fail_msg("%s\n%s", text, broken);
    assert_int_equal(n.named, n.ops);
}

static void the_numbers_stay_the_same(void **state) {
    (void)state;
    size_t changes[2] = { 0 };
    for (int i = 0; i < OFTEN(5000); i++) {
        tale t = { 0 };
        tell(&t, "x: NC 3 4; w: params 4 4; u: params 4 4; b: params 4; v: params 4; half: 0.5; two: 2; three: 3; "
             "six: 6; one: 1; "
                 "root: 1.4142135; eps: 1e-3; ");
        for (uint64_t n = 1 + chance(5); n; n--) {
            if (chance(2)) tell_lines(&t, runs[chance(COUNT(runs))], true);
            else tell_lines(&t, lines[chance(COUNT(lines))], false);
        }
        size_t outputs = 1;
        tell(&t, "out ");
        tell_value(&t, t.made);
        if (chance(3) == 0) {
            tell(&t, " ");
            tell_value(&t, 1 + chance(t.made));
            outputs++;
        }
        xir_array *before[2], *after[2];
        xir_network *net = story_net(t.text);
        compute(net, before, outputs);
        xir_network *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, why);
        bool turned = chance(2);
        for (int k = 0; k < 2; k++) {
            size_t n;
            DOES(xir_pass_run(net, k == turned ? "fuse" : "fold-batchnorm", NULL, &n, why));
            changes[k == turned] += n;
            check_paths(p, was, t.text);
        }
        xir_provenance_free(p);
        xir_network_free(was);
        CHECK_SOUND(net);
        compute(net, after, outputs);
        for (size_t k = 0; k < outputs; k++) {
            compare(&t, before[k], after[k]);
            xir_array_free(before[k]);
            xir_array_free(after[k]);
        }
        xir_network_free(net);
    }
    if (changes[0] < OFTEN(1000) || changes[1] < OFTEN(1000))
        fail_msg("%zu and %zu changes: too few for a conclusion", changes[0], changes[1]);
}

/* ---- ops that move elements ------------------------------------------------------------------------------------- */

/* "2,3,4" */
static void tell_list(tale *t, const char *before, const int *list, size_t n, const char *after) {
    char text[200];
    size_t size = (size_t)snprintf(text, sizeof text, "%s", before);
    for (size_t i = 0; i < n; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%s%d", i ? "," : "", list[i]);
    snprintf(text + size, sizeof text - size, "%s", after);
    tell(t, text);
}

/* Some dims split in two, some of the parts exchanged, and neighbours merged until there are four again: now and then
 * this is a shuffle. */
static void tell_shuffle(tale *t, const int *dims) {
    int apart[8], order[8], back[8];
    size_t n = 0, left, last = 0;
    char letters[30];
    for (size_t i = 0; i < 4; i++) {
        bool split = dims[i] % 2 == 0 && n + 4 - i < 6 && chance(2);
        int part = dims[i] % 3 == 0 && chance(2) ? 3 : 2;
        if (split && dims[i] % 4 == 0 && n + 4 - i < 5 && chance(2)) {
            apart[n++] = dims[i] / 4;
            apart[n++] = 2;
            apart[n++] = 2;
        } else if (split) {
            last = n;
            apart[n++] = part;
            apart[n++] = dims[i] / part;
        } else {
            apart[n++] = dims[i];
        }
    }
    for (size_t i = 0; i < n; i++) order[i] = (int)i;
    const bool plain = last && chance(2);   /* the parts of one dim */
    for (uint64_t k = plain ? 1 : 1 + chance(2); k; k--) {
        size_t i = plain ? last : chance(n - 1), j = plain || chance(2) ? i + 1 : chance(n);
        int was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
    if (n == 6 && chance(3) == 0) memcpy(order, (const int[]){ 0, 1, 4, 2, 5, 3 }, 6 * sizeof *order);
    for (size_t i = 0; i < n; i++) back[i] = apart[order[i]];
    for (left = n; left > 4; left--) {
        size_t at = chance(left - 1);
        back[at] *= back[at + 1];
        memmove(back + at + 1, back + at + 2, (left - at - 2) * sizeof *back);
    }
    if (plain || chance(2)) memcpy(back, dims, 4 * sizeof *back);
    snprintf(letters, sizeof letters, " layout=@layout(%.*s)]; ", (int)n, "********");
    tell_list(t, "a = Reshape x [shape=", apart, n, letters);
    tell_list(t, "b = Transpose a [dims=", order, n, letters);
    tell_list(t, "y = Reshape b [shape=", back, 4, chance(2) ? " layout=@layout(NHWC)]; " : " layout=@layout(****)]; ");
}

static void tell_slices(tale *t, const int *dims) {
    int zero[4] = { 0 }, begin[4] = { 0 }, end[4], middle[4];
    const size_t axis = chance(4);
    memcpy(end, dims, sizeof end);
    memcpy(middle, dims, sizeof middle);
    begin[axis] = (int)chance((uint64_t)dims[axis]);
    middle[axis] = chance(10) ? begin[axis] : (int)chance((uint64_t)dims[axis]);
    if (chance(2) && begin[axis]) begin[axis] -= dims[axis];
    tell_list(t, "a = Slice x [begin=", begin, 4, "");
    tell_list(t, " end=", end, 4, " stride=1,1,1,1]; ");
    tell_list(t, "b = Slice x [begin=", zero, 4, "");
    tell_list(t, " end=", middle, 4, " stride=1,1,1,1]; ");
    tell_list(t, chance(10) ? "y = Concat a b [axis=" : "y = Concat b a [axis=", (const int[]){ (int)axis }, 1, "]; ");
}

static void elements_move_to_the_same_places(void **state) {
    (void)state;
    static const char *const letters[] = { "x: NHWC ", "x: NCHW ", "x: " };
    size_t changes = 0, shuffles = 0;
    for (int i = 0; i < OFTEN(3000); i++) {
        tale t = { 0 };
        int dims[4];
        char first[60];
        bool slices = chance(4) == 0;
        for (size_t k = 0; k < 4; k++) dims[k] = (const int[]){ 1, 2, 3, 4, 6, 8, 12 }[chance(7)];
        snprintf(first, sizeof first, "%s%d %d %d %d; ", letters[chance(3)], dims[0], dims[1], dims[2], dims[3]);
        tell(&t, first);
        if (slices) tell_slices(&t, dims);
        else tell_shuffle(&t, dims);
        tell(&t, "out y");
        xir_array *before, *after;
        xir_network *net = story_net(t.text);
        compute(net, &before, 1);
        xir_network *was = xir_network_clone(net);
        xir_provenance *p = xir_provenance_new(net, why);
        size_t n;
        DOES(xir_pass_run(net, "fuse", NULL, &n, why));
        check_paths(p, was, t.text);
        xir_provenance_free(p);
        xir_network_free(was);
        changes += n;
        shuffles += n && !slices;
        CHECK_SOUND(net);
        compute(net, &after, 1);
        xir_difference d = { 0 };
        DOES(xir_array_compare(after, before, 0, 0, &d));
        if (!d.same_shape || d.count) fail_msg("%s\n%zu elements are in other places", t.text, d.count);
        xir_array_free(before);
        xir_array_free(after);
        xir_network_free(net);
    }
    if (shuffles < OFTEN(100) || changes < OFTEN(500))
        fail_msg("%zu changes, %zu of shuffles: too few for a conclusion", changes, shuffles);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_stay_the_same),
        cmocka_unit_test(elements_move_to_the_same_places),
    };
    return RUN_GROUP(tests);
}
