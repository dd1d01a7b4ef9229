/* Random networks of ops that `fuse` and `fold-batchnorm` look for: whatever they match, the numbers stay the same. */
#include <math.h>
#include <string.h>
#include "support/story.h"
#include <xir/exec.h>
#include <xir/pass.h>

/* Lines of a story: # is an earlier value, @ the name of the new value, $ one of a few constants. */
static const char *const lines[] = {
    "@ = Sigmoid #", "@ = Hardsigmoid #", "@ = Erf #", "@ = ReLU #", "@ = ReLU # [max_value=6]", "@ = ClampScalar # [min=0 max=6]",
    "@ = Multiply # #", "@ = Multiply # #", "@ = Multiply # #", "@ = Add # #", "@ = Add # # [beta=-1]", "@ = Add # $", "@ = Add $ #",
    "@ = Multiply # $", "@ = Multiply $ #", "@ = Div # $", "@ = DivideScalar # [divisor=6]", "@ = DivideScalar # [divisor=2]",
    "@ = Matmul # w", "@ = Matmul # u", "@ = Matmul # w b", "@ = BatchNorm1d # [variance=v mean=b]", "@ = LayerNorm # [axis=-1]",
};
/* Sequences that one of the passes matches; < is the value of the line before. */
static const char *const runs[] = {
    "@ = Sigmoid #; @ = Multiply < #", "@ = Add # three; @ = ReLU < [max_value=6]; @ = Div < six; @ = Multiply < #",
    "@ = Div # root; @ = Erf <; @ = Add < one; @ = Multiply < #; @ = Multiply < half",
    "@ = Matmul # w; @ = Add < b; @ = BatchNorm1d < [variance=v mean=b]", "@ = BatchNorm1d # [variance=v mean=b]; @ = Matmul < u",
    "@ = LayerNorm # [axis=-1]; @ = Multiply < v; @ = Add < b",
    ("@ = Mean # [dim=-1 keepdim=true]; @ = Add ^ < [beta=-1]; @ = Multiply < <; @ = Mean < [dim=-1 keepdim=true]; @ "
     "= Add < eps; @ = Sqrt <; @ = Div ~ <"),
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

static void the_numbers_stay_the_same(void **state) {
    (void)state;
    size_t changes[2] = { 0 };
    for (int i = 0; i < 3000; i++) {
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
        bool turned = chance(2);
        for (int k = 0; k < 2; k++) {
            size_t n;
            DOES(xir_pass_run(net, k == turned ? "fuse" : "fold-batchnorm", NULL, &n, why));
            changes[k == turned] += n;
        }
        CHECK_SOUND(net);
        compute(net, after, outputs);
        for (size_t k = 0; k < outputs; k++) {
            compare(&t, before[k], after[k]);
            xir_array_free(before[k]);
            xir_array_free(after[k]);
        }
        xir_network_free(net);
    }
    if (changes[0] < 1000 || changes[1] < 1000)
        fail_msg("%zu and %zu changes: too few for a conclusion", changes[0], changes[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_stay_the_same),
    };
    return RUN_GROUP(tests);
}
