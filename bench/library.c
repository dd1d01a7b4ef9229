/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Each pass of the library twice: on a network in which it finds work everywhere, and on one of the same kind of ops
 * in which it finds none. A network is a unit of a few lines of text, repeated, each time after the last result of the
 * one before. Times are per op of the network before the pass. */
#include "bench.h"

#include <xir/pass.h>
#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In lines, $ is the number of the unit, and < is the last result of the unit before. The last result of a unit is
 * %y$. */
typedef struct library {
    const char *pass, *options;
    const char *type;     /* of the input */
    const char *lines[9];
    size_t      after;    /* ops that are left of a unit */
    const char *header;   /* entries of the text; NULL: none */
} library;

typedef struct state {
    const library *of;
    xir_context   *ctx;
    xir_network   *net;
    xir_diags     *why;
    size_t         units;
} state;

static size_t lines_of(const library *l)
{
    size_t n = 0;
    while (l->lines[n])
        n++;
    return n;
}

static char *put(char *out, const char *line, size_t unit)
{
    for (; *line; line++) {
        if (*line == '$')
            out += sprintf(out, "%zu", unit);
        else if (*line == '<')
            out += unit ? sprintf(out, "%%y%zu", unit - 1) : sprintf(out, "%%x");
        else
            *out++ = *line;
    }
    *out++ = '\n';
    return out;
}

static char *text_of(const library *l, size_t units, size_t *size)
{
    size_t room = 400;
    for (size_t i = 0; l->lines[i]; i++)
        room += (strlen(l->lines[i]) + 80) * units;
    char *text = malloc(room), *out = text;
    if (!text)
        return NULL;
    out += sprintf(out, "xir 1\n%s%s%%x = Input() : %s\n", l->header ? l->header : "", l->header ? "\n" : "", l->type);
    for (size_t k = 0; k < units; k++)
        for (size_t i = 0; l->lines[i]; i++)
            out = put(out, l->lines[i], k);
    out += sprintf(out, "Output(%%y%zu)\n", units - 1);
    *size = (size_t)(out - text);
    return text;
}

static void *make(const library *l, size_t ops)
{
    state *s = calloc(1, sizeof *s);
    size_t size;
    if (!s || !(s->ctx = xir_context_new(NULL)) || !(s->why = xir_diags_new(s->ctx)))
        return NULL;
    s->of = l;
    s->units = ops / lines_of(l) ? ops / lines_of(l) : 1;
    char *text = text_of(l, s->units, &size);
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "text");
    s->net = text ? xir_network_read(s->ctx, text, size, XIR_STR(""), &options, s->why) : NULL;
    free(text);
    if (s->net)
        return s;
    xir_diags_print(s->why, stderr);
    return NULL;
}

static bool run(void *at, bench_result *out)
{
    state *s = at;
    size_t changes;
    if (xir_pass_run(s->net, s->of->pass, s->of->options, &changes, s->why) != XIR_OK) {
        xir_diags_print(s->why, stderr);
        return false;
    }
    out->count = changes;
    return true;
}

static bool check(void *at)
{
    const state *s = at;
    const size_t expected = s->units * s->of->after + 2, found = xir_network_op_count(s->net);
    if (found != expected)
        fprintf(stderr, "xir-bench: %s: expected %zu ops, found %zu\n", s->of->pass, expected, found);
    return found == expected && xir_network_validate(s->net, s->why) == XIR_OK;
}

#define CASE(name, ...)                                            \
    static void *name##_setup(const bench_input *in)               \
    {                                                              \
        static const library l = { __VA_ARGS__ };                  \
        return make(&l, in->ops);                                  \
    }

#define ROW  "fp32 NC [1,4]"
#define MAP  "fp32 NHWC [1,4,4,4]"
#define CUBE "fp32 *** [2,3,20]"
#define OPEN "fp32 NC [batch,4]"

CASE(canon_fits, "canon", NULL, ROW, {
    "%a$ = DivideScalar(<) {divisor=4} : " ROW,
    "%b$ = Hardtanh(%a$) {min_val=0, max_val=6} : " ROW,
    "%c$ = Div(%b$, @c$ : fp32 * [1] = [2]) : " ROW,
    "%y$ = Maximum(%c$, @d$ : fp32 * [1] = [-3]) : " ROW }, 4)

CASE(canon_nothing, "canon", NULL, ROW, {
    "%a$ = DivideScalar(<) {divisor=3} : " ROW,
    "%b$ = ReLU(%a$) : " ROW,
    "%c$ = Div(%b$, @c$ : fp32 * [1] = [3]) : " ROW,
    "%y$ = Maximum(%c$, <) : " ROW }, 4)

CASE(moves_fits, "moves", NULL, CUBE, {
    "%a$ = Transpose(<) {dims=[0,2,1], layout=***} : fp32 *** [2,20,3]",
    "%b$ = Reshape(%a$) {shape=[2,4,5,3], layout=****} : fp32 **** [2,4,5,3]",
    "%c$ = Transpose(%b$) {dims=[0,3,2,1], layout=****} : fp32 **** [2,3,5,4]",
    "%d$ = Softmax(%c$) {axis=-1} : fp32 **** [2,3,5,4]",
    "%e$ = Transpose(%d$) {dims=[0,3,2,1], layout=****} : fp32 **** [2,4,5,3]",
    "%f$ = Reshape(%e$) {shape=[2,20,3], layout=***} : fp32 *** [2,20,3]",
    "%g$ = Transpose(%f$) {dims=[0,2,1], layout=***} : " CUBE,
    "%y$ = Softmax(%g$) {axis=-1} : " CUBE }, 6)

CASE(moves_nothing, "moves", NULL, CUBE, {
    "%a$ = Transpose(<) {dims=[0,2,1], layout=***} : fp32 *** [2,20,3]",
    "%b$ = Softmax(%a$) {axis=-1} : fp32 *** [2,20,3]",
    "%c$ = Reshape(%b$) {shape=[2,3,20], layout=***} : " CUBE,
    "%y$ = Softmax(%c$) {axis=-1} : " CUBE }, 4)

CASE(products_fits, "fold-products", NULL, ROW, {
    "%a$ = Multiply(<, @s$ : fp32 * [4] = [1,2,3,4]) : " ROW,
    "%y$ = Matmul(%a$, @m$ : fp32 ** [4,4] = splat 2) : " ROW }, 1)

CASE(products_nothing, "fold-products", NULL, ROW, {
    "%a$ = Multiply(<, @s$ : fp32 * [4] = [1,2,3,4]) : " ROW,
    "%y$ = Softmax(%a$) {axis=-1} : " ROW }, 2)

CASE(dedup_fits, "dedup", NULL, ROW, {
    "%y$ = Add(<, @s$ : fp32 * [4] = [1,2,3,4]) : " ROW }, 1)

CASE(dedup_nothing, "dedup", NULL, ROW, {
    "%y$ = Add(<, @s$ : fp32 * [4] = [1,2,3,$]) : " ROW }, 1)

CASE(fold_fits, "fold", NULL, ROW, {
    "%a$ = Add(@p$ : " ROW " = [1,2,3,4], @q$ : " ROW " = [1,2,3,$]) : " ROW,
    "%b$ = Neg(%a$) : " ROW,
    "%c$ = Multiply(%b$, @p$) : " ROW,
    "%y$ = Add(<, %c$) : " ROW }, 1)

CASE(fold_nothing, "fold", NULL, ROW, {
    "%a$ = Add(<, @p$ : " ROW " = [1,2,3,4]) : " ROW,
    "%b$ = Neg(%a$) : " ROW,
    "%c$ = Multiply(%b$, @p$) : " ROW,
    "%y$ = Add(<, %c$) : " ROW }, 4)

CASE(batchnorm_fits, "fold-batchnorm", NULL, MAP, {
    "%a$ = Conv2d(<, @w$ : fp32 HWIO [1,1,4,4] = splat 2) : " MAP,
    "%y$ = BatchNorm2d(%a$) {variance=@v$ : fp32 * [4] = [1,2,3,4], mean=@m$ : fp32 * [4] = [1,2,3,4]} : " MAP }, 1)

CASE(batchnorm_nothing, "fold-batchnorm", NULL, MAP, {
    "%a$ = Conv2d(<, @w$ : fp32 HWIO [1,1,4,4] = splat 2) : " MAP,
    "%y$ = ReLU(%a$) : " MAP }, 2)

CASE(identity_fits, "identity", NULL, ROW, {
    "%a$ = Copy(<) : " ROW,
    "%b$ = Reshape(%a$) {shape=[1,4], layout=NC} : " ROW,
    "%c$ = DivideScalar(%b$) {divisor=1} : " ROW,
    "%y$ = Tanh(%c$) : " ROW }, 1)

CASE(identity_nothing, "identity", NULL, ROW, {
    "%a$ = Tanh(<) : " ROW,
    "%b$ = Reshape(%a$) {shape=[4,1], layout=NC} : fp32 NC [4,1]",
    "%c$ = DivideScalar(%b$) {divisor=2} : fp32 NC [4,1]",
    "%y$ = Reshape(%c$) {shape=[1,4], layout=NC} : " ROW }, 4)

CASE(sort_fits, "sort", NULL, ROW, {
    "%y$ = Sigmoid(%a$) : " ROW,
    "%a$ = Tanh(<) : " ROW }, 2)

CASE(sort_nothing, "sort", NULL, ROW, {
    "%a$ = Tanh(<) : " ROW,
    "%y$ = Sigmoid(%a$) : " ROW }, 2)

CASE(infer_fits, "infer", NULL, ROW, {
    "%a$ = Tanh(<) : fp32 NC [?,?]",
    "%y$ = Reshape(%a$) {shape=[1,4], layout=NC} : fp32 NC [?,?]" }, 2)

CASE(infer_nothing, "infer", NULL, ROW, {
    "%a$ = Tanh(<) : " ROW,
    "%y$ = Reshape(%a$) {shape=[1,4], layout=NC} : " ROW }, 2)

CASE(bind_fits, "bind", "dims=\"batch=4\"", OPEN, {
    "%a$ = Tanh(<) : " OPEN,
    "%y$ = Add(%a$, <) : " OPEN }, 2, ".symbols {batch}")

CASE(bind_nothing, "bind", NULL, OPEN, {
    "%a$ = Tanh(<) : " OPEN,
    "%y$ = Add(%a$, <) : " OPEN }, 2, ".symbols {batch}")

#define TWICE(name, setup, fits, nothing)                                                \
    { name, NULL, 0, setup##_fits_setup, run, check, "the pass " fits },                  \
    { name "-nothing", NULL, 0, setup##_nothing_setup, run, check, "the same where " nothing }

const bench_case library_cases[] = {
    TWICE("pass-canon", canon, "canon: each op has another form", "ops have their form"),
    TWICE("pass-moves", moves, "moves: runs of three moves are two", "no two moves meet"),
    TWICE("pass-fold-products", products, "fold-products: half of the ops are factors before a product",
          "no product follows"),
    TWICE("pass-dedup", dedup, "dedup: all Params are equal", "no two are equal"),
    TWICE("pass-fold", fold, "fold: three of four ops are of constants", "none is"),
    TWICE("pass-fold-batchnorm", batchnorm, "fold-batchnorm: each convolution has its BatchNorm", "it has a ReLU"),
    TWICE("pass-identity", identity, "identity: three of four ops do nothing", "each does something"),
    TWICE("pass-sort", sort, "sort: neighbours are in the wrong order", "all are in order"),
    TWICE("pass-infer", infer, "infer: no dim is known", "all are"),
    TWICE("pass-bind", bind, "bind: each value has the dim that gets a number", "no symbol gets one"),
    { 0 },
};
