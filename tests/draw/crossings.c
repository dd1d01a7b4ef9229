/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The number of lines that cross, on twenty networks of up to 500 ops in the shapes that networks have: at most one
 * and a quarter more than in the layout of Graphviz's dot 2.43, whose counts the table has (dot -v prints them), and
 * fewer in all. XIR_DOT_FOLDER names a folder in which the networks are written as N.dot, to count again. */
#include "draw/graph.h"

typedef struct text { char words[1 << 16]; size_t size; } text;

static void add(text *t, const char *format, ...) XIR_PRINTF(2, 3);
static void add(text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    t->size += (size_t)vsnprintf(t->words + t->size, sizeof t->words - t->size, format, arguments);
    va_end(arguments);
    assert_true(t->size < sizeof t->words);
}

static unsigned below(unsigned *seed, unsigned n) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % n;
}

/* A chain of n ops; every fourth one also uses an op from up to 12 before. */
static void chain(text *t, unsigned n) {
    unsigned seed = n;
    add(t, "o0");
    for (unsigned i = 1; i < n; i++) {
        add(t, "; o%u o%u", i, i - 1);
        if (i % 4 == 0) add(t, " o%u", i - 2 - below(&seed, i < 14 ? i - 1 : 12));
    }
}

/* n blocks of three ops and a sum, some with an op on the way of the skip. */
static void residual(text *t, unsigned n) {
    add(t, "s0");
    for (unsigned i = 0; i < n; i++) {
        add(t, "; a%u s%u; b%u a%u; c%u b%u", i, i, i, i, i, i);
        if (i % 3 == 0) add(t, "; d%u s%u; s%u c%u d%u", i, i, i + 1, i, i);
        else add(t, "; s%u c%u s%u", i + 1, i, i);
    }
}

/* n blocks of four branches of different lengths. */
static void inception(text *t, unsigned n) {
    add(t, "s0");
    for (unsigned i = 0; i < n; i++) {
        add(t, "; a%u s%u; b%u s%u; c%u b%u; d%u s%u; e%u d%u; f%u e%u", i, i, i, i, i, i, i, i, i, i, i, i);
        add(t, "; g%u s%u; h%u g%u; p%u f%u; q%u f%u", i, i, i, i, i, i, i, i);
        add(t, "; s%u a%u c%u p%u q%u h%u", i + 1, i, i, i, i, i);
    }
}

/* n levels down and up again, each with two ops, and a line across from each. */
static void unet(text *t, unsigned n) {
    add(t, "u0");
    for (unsigned i = 0; i < n; i++) add(t, "; a%u u%u; b%u a%u; u%u b%u", i, i, i, i, i + 1, i);
    add(t, "; v%u u%u", n, n);
    for (unsigned i = n; i-- > 0;) add(t, "; x%u v%u; y%u x%u b%u; z%u y%u; v%u z%u", i, i + 1, i, i, i, i, i, i, i);
}

/* n layers of attention with a mask for all, two heads, and two skips. */
static void attention(text *t, unsigned n) {
    add(t, "x0; m x0; m1 m");
    for (unsigned i = 0; i < n; i++) {
        add(t, "; n%u x%u", i, i);
        for (int h = 0; h < 2; h++)
            add(t, "; q%u_%d n%u; k%u_%d n%u; v%u_%d n%u; t%u_%d k%u_%d; w%u_%d q%u_%d t%u_%d m1; o%u_%d w%u_%d v%u_%d",
                i, h, i, i, h, i, i, h, i, i, h, i, h, i, h, i, h, i, h, i, h, i, h, i, h);
        add(t, "; c%u o%u_0 o%u_1; r%u c%u x%u; f%u r%u; g%u f%u", i, i, i, i, i, i, i, i, i, i);
        add(t, "; x%u g%u r%u", i + 1, i, i);
    }
}

typedef struct row {
    const char *name;
    void      (*make)(text *t, unsigned n);
    unsigned    n, by_dot;
} row;

static const row rows[] = {
    { "chain",     chain,      20, 1 }, { "chain",     chain,      60, 4 },
    { "chain",     chain,     150, 3 }, { "chain",     chain,     480, 18 },
    { "residual",  residual,    4, 0 }, { "residual",  residual,   16, 0 },
    { "residual",  residual,   50, 0 }, { "residual",  residual,  100, 0 },
    { "inception", inception,   2, 0 }, { "inception", inception,   6, 0 },
    { "inception", inception,  12, 0 }, { "inception", inception,  40, 0 },
    { "U-Net",     unet,        3, 0 }, { "U-Net",     unet,        5, 0 },
    { "U-Net",     unet,        8, 0 }, { "U-Net",     unet,       30, 0 },
    { "attention", attention,   1, 3 }, { "attention", attention,   3, 10 },
    { "attention", attention,   6, 17 }, { "attention", attention,  24, 67 },
};

static size_t count(const picture *p) {
    size_t n = 0;
    for (size_t i = 0; i < p->n_segments; i++) {
        const draw_segment *a = &p->segments[i];
        for (size_t k = i; k-- > 0;) {   /* sorted by `from`, so by rank */
            const draw_segment *b = &p->segments[k];
            if (p->vertices[b->from].rank != p->vertices[a->from].rank) break;
            n += b->from != a->from && b->to > a->to;
        }
    }
    return n;
}

static bool put(void *file, const void *data, size_t size) { return fwrite(data, 1, size, file) == size; }

static void write_dot(const graph *g, const char *folder, size_t number) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%zu.dot", folder, number);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    DOES(xir_draw(g->net, XIR_DRAW_DOT, &XIR_INIT(xir_draw_options, .group = XIR_DRAW_NONE), put, file, why));
    fclose(file);
}

static void few_lines_cross(void **state) {
    size_t all = 0, all_by_dot = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        static text t;
        t.size = 0;
        rows[i].make(&t, rows[i].n);
        graph g = graph_of(t.words);
        assert_true(g.n <= 500);
        picture p = draw_of(g.net, (xir_draw_options){ .group = XIR_DRAW_NONE });
        const size_t found = count(&p);
        all += found;
        all_by_dot += rows[i].by_dot;
        if (getenv("XIR_DOT_FOLDER")) {
            write_dot(&g, getenv("XIR_DOT_FOLDER"), i);
            print_message("%zu: %s %u, %zu ops: %zu crossings\n", i, rows[i].name, rows[i].n, g.n, found);
        } else if (4 * found > 5 * (size_t)rows[i].by_dot + 4) {
            fail_msg("%s %u: %zu crossings, %u by dot", rows[i].name, rows[i].n, found, rows[i].by_dot);
        }
        picture_free(&p);
        xir_network_free(g.net);
    }
    assert_true(all <= all_by_dot);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(few_lines_cross) };
    return RUN_GROUP(tests);
}
