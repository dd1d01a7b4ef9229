/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks from a text, for the tests of pictures. "in; a/x in; a/y:2 a/x in; b ? a/y.1": the first word is the name of
 * the Input, then each op has a name, perhaps with the number of its outputs, and its inputs: a name, perhaps with the
 * number of an output, or ? for an absent one. A name without the first letter `=` is of an op of the class t::Op, one
 * with it of t::Eq; a name of - is empty. An input that comes later in the text is a value that is made by it. */
#ifndef TESTS_DRAW_GRAPH_H
#define TESTS_DRAW_GRAPH_H

#include <stdio.h>
#include <stdlib.h>
#define picture picture_of_network   /* a function of net.h; here it is a type */
#include "support/net.h"
#undef picture
#include "make.h"

enum { GRAPH_MOST = 512 };

typedef struct graph {
    xir_network *net;
    xir_op      *ops[GRAPH_MOST];
    char         names[GRAPH_MOST][64];
    size_t       n;
} graph;

static inline xir_value *graph_value(graph *g, const char *word) {
    char name[64];
    const char *dot = strrchr(word, ':');
    snprintf(name, sizeof name, "%.*s", dot ? (int)(dot - word) : (int)strlen(word), word);
    for (size_t i = g->n; i-- > 0;)
        if (strcmp(g->names[i], name) == 0) return xir_op_output(g->ops[i], dot ? atoi(dot + 1) : 0);
    if (strcmp(name, "?") != 0) fail_msg("the text has no op '%s' before it is used", name);
    return NULL;
}

static inline void graph_op(graph *g, char *line) {
    xir_value *inputs[64];
    const xir_type *types[16], *type = FP32("*", 4);
    size_t n = 0, outputs = 1;
    char *rest = NULL, *word = strtok_r(line, " \n", &rest);
    if (!word) return;
    char *colon = strrchr(word, ':');
    if (colon) outputs = (size_t)atoi(colon + 1), *colon = '\0';
    snprintf(g->names[g->n], sizeof g->names[0], "%s", word);
    for (char *in; (in = strtok_r(NULL, " \n", &rest)) != NULL;) inputs[n++] = graph_value(g, in);
    for (size_t i = 0; i < outputs; i++) types[i] = type;
    const bool other = word[0] == '=';
    const char *name = other ? word + 1 : word;
    g->ops[g->n] = xir_network_add(g->net, &XIR_INIT(xir_op_desc, .id = XIR_NO_ID, .inputs = inputs, .n_inputs = n,
        .cls = xir_class_opaque(ctx, other ? XIR_STR("t::Eq") : XIR_STR("t::Op")), .types = types, .n_types = outputs,
        .name = strcmp(name, "-") == 0 ? XIR_STR("") : xir_str_of(name)));
    assert_non_null(g->ops[g->n]);
    g->n++;
}

static inline graph graph_of(const char *text) {
    graph g = { .net = new_net() };
    char *copy = strdup(text), *rest = NULL, *line = strtok_r(copy, ";", &rest);
    xir_value *in = xir_input(xir_at_end(g.net), line, FP32("*", 4));
    g.ops[0] = xir_value_op(in);
    snprintf(g.names[g.n++], sizeof g.names[0], "%s", line);
    while ((line = strtok_r(NULL, ";", &rest)) != NULL) graph_op(&g, line);
    free(copy);
    return g;
}

/* The picture of a network, which the caller frees. */
static inline picture draw_of(const xir_network *net, xir_draw_options how) {
    picture p;
    how.size = sizeof how;
    DOES(picture_make(&p, net, &how, why));
    return p;
}

#endif
