/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Parts of DeepX's texts. The first byte chooses: a type, which comes back as it is printed; a line, which has a place
 * for each of its faults; or blocks, whose lines take the places of
 * calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/deepx.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "deepx/deepx.h"
#include "fuzz.h"

static void try_type(const char *text, size_t size, xir_context *ctx) {
    deepx_type type, again;
    deepx_type_fault fault;
    buffer out;
    buffer_init(&out, context_alloc(ctx));
    if (deepx_type_read((xir_str){ text, size }, &type, &fault)) {
        deepx_type_print(&out, type);
        must(deepx_type_read((xir_str){ out.data, out.size }, &again, &fault));
        must(again.category == type.category && again.precision == type.precision);
    } else {
        must(fault.what && fault.word.data >= text && fault.word.data <= text + size);
    }
    buffer_free(&out);
}

static void try_line(const char *text, size_t size, xir_context *ctx) {
    xir_diags *why = xir_diags_new(ctx);
    deepx_place w = { .why = why, .text = text, .line = text, .number = 1 };
    deepx_slots slots = { .alloc = context_alloc(ctx) };
    deepx_line line;
    must(why != NULL);
    const bool ok = !memchr(text, '\n', size) && deepx_read_line(&w, &slots, (xir_str){ text, size }, &line);
    for (size_t i = 0; ok && i < line.n_args + line.n_rets; i++) (void)deepx_kind_of(&line, &line.slots[i]);
    for (size_t i = 0; i < xir_diags_count(why); i++) must(xir_diags_at(why, i)->byte <= size);
    deepx_slots_free(&slots);
    xir_diags_free(why);
}

/* The blocks of the text, and calls of the first one. */
static void try_blocks(const char *text, size_t size, xir_context *ctx) {
    static const char tail[] = "\nnewtensor([2 3])->(tensor<float32>:a)\nnewtensor([2])->(tensor<float32>:r)\n"
                               "f(a)->(r)\nf(a, [1])->(r)\nf(a, a, 3)->(r)\nf([a r])->(r, a)\nf(r, 2)->(a)\n";
    char *all = malloc(size + sizeof tail);
    xir_diags *why = xir_diags_new(ctx);
    bool replaced;
    must(all && why);
    memcpy(all, text, size);
    memcpy(all + size, tail, sizeof tail);
    const xir_load_options options = XIR_INIT(xir_load_options, .format = "deepx");
    xir_network *net = xir_network_read(ctx, all, size + sizeof tail - 1, XIR_STR("x"), &options, why);
    if (net) {
        /* A tensor that is used before a line makes it is a value without an op: such a network is not valid. */
        const bool valid = xir_network_validate(net, why) == XIR_OK;
        (void)xir_deepx_check(net, why);
        xir_diags_clear(why);
        must(xir_deepx_inline(net, &replaced) == XIR_OK);
        must(!valid || xir_network_validate(net, why) == XIR_OK);
        (void)xir_pass_run(net, "deepx-to-xir", NULL, NULL, why);
        xir_diags_clear(why);
        must(!valid || xir_network_validate(net, why) == XIR_OK);
        xir_network_free(net);
    }
    free(all);
    xir_diags_free(why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static size_t runs;
    static xir_context *ctx;
    if (runs++ % 1000 == 0) {
        const xir_limits few = XIR_INIT(xir_limits, .max_ops = 1000);   /* blocks become many calls */
        xir_context_free(ctx);
        ctx = xir_context_new(NULL);
        must(ctx && xir_context_set_limits(ctx, &few, NULL) == XIR_OK);
    }
    if (!size) return 0;
    char *exact = malloc(size);
    must(exact != NULL);
    memcpy(exact, data + 1, size - 1);
    if (data[0] % 3 == 0) try_type(exact, size - 1, ctx);
    else if (data[0] % 3 == 1) try_line(exact, size - 1, ctx);
    else try_blocks(exact, size - 1, ctx);
    free(exact);
    return 0;
}
