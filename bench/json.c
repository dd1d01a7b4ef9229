/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The text of a network, in memory, written and read. The written text must be that of text.c, byte for byte, and a
 * network that was read must print the text that it was read from. */
#include "bench.h"

#include <xir/xir.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct json {
    const bench_input *in;
    xir_context       *ctx;
    xir_diags         *why;
    xir_network       *net;
    xir_text_buffer    text;
} json;

static void *read_setup(const bench_input *in)
{
    json *j = calloc(1, sizeof *j);
    if (!j || !(j->ctx = xir_context_new(NULL)) || !(j->why = xir_diags_new(j->ctx)))
        return NULL;
    j->in = in;
    return j;
}

static xir_network *read_network(json *j)
{
    xir_str text = { j->in->text, j->in->size };
    xir_network *net = xir_json_read(j->ctx, text, XIR_STR("bench.json"), j->why);
    if (!net)
        xir_diags_print(j->why, stderr);
    return net;
}

static void *write_setup(const bench_input *in)
{
    json *j = read_setup(in);
    if (!j)
        return NULL;
    j->net = in->path ? read_network(j) : graph_make(j->ctx, in->ops);
    return j->net ? j : NULL;
}

static bool write_run(void *state, bench_result *out)
{
    json *j = state;
    if (xir_json_print(j->net, 0, &j->text) != XIR_OK)
        return false;
    out->bytes = j->text.size;
    out->count = xir_network_op_count(j->net);
    return true;
}

static bool write_indented_run(void *state, bench_result *out)
{
    json *j = state;
    if (xir_json_print(j->net, 4, &j->text) != XIR_OK)
        return false;
    out->bytes = j->text.size;
    out->count = xir_network_op_count(j->net);
    return true;
}

static bool same_text(const bench_input *in, const xir_text_buffer *text)
{
    size_t n = text->size < in->size ? text->size : in->size, i = 0;
    while (i < n && text->data[i] == in->text[i])
        i++;
    if (i == n && text->size == in->size)
        return true;
    fprintf(stderr, "xir-bench: the text differs from byte %zu on: \"%.*s\", expected \"%.*s\"\n", i,
            (int)(text->size - i < 60 ? text->size - i : 60), text->data + i,
            (int)(in->size - i < 60 ? in->size - i : 60), in->text + i);
    return false;
}

/* An indented file is not written back with the same bytes. */
static bool is_compact(const bench_input *in)
{
    return !memchr(in->text, '\n', in->size);
}

bool json_same(xir_network *net, const bench_input *in)
{
    xir_text_buffer text = { 0 };
    return !is_compact(in) || (xir_json_print(net, 0, &text) == XIR_OK && same_text(in, &text));
}

static bool read_run(void *state, bench_result *out)
{
    json *j = state;
    j->net = read_network(j);
    if (!j->net)
        return false;
    out->bytes = j->in->size;
    out->count = xir_network_op_count(j->net);
    return true;
}

static bool write_check(void *state)
{
    const json *j = state;
    return !is_compact(j->in) || same_text(j->in, &j->text);
}

static bool read_check(void *state)
{
    const json *j = state;
    return json_same(j->net, j->in);
}

const bench_case json_cases[] = {
    { "json-write", NULL, BENCH_TEXT, write_setup, write_run, write_check,
      "xir_json_print, compact, into fresh memory" },
    { "json-write-indented", NULL, BENCH_TEXT, write_setup, write_indented_run, NULL,
      "xir_json_print, indented by 4, into fresh memory" },
    { "json-read", NULL, BENCH_TEXT, read_setup, read_run, read_check,
      "xir_json_read of compact text in memory: a live network with types, edges and uses" },
    { 0 },
};
