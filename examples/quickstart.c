/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The first program: a small network is built, printed, saved, and loaded again.
 *
 *     cc quickstart.c $(pkg-config --cflags --libs xir) -o quickstart && ./quickstart
 *
 * It writes whatever.json with whatever.raw, whatever.imodel and whatever.fb into the current folder. */
#include <stdio.h>
#include <string.h>
#include <xir/xir.h>

static float index_as_float(size_t i) { return (float)i; }

/* One convolution, one activation, one pooling. Each call gives the value that the new operation makes; its type is
 * inferred. Nothing has to be checked on the way: after a failure the calls do nothing, and the network's status
 * reports it at the end. */
static xir_network *build(xir_context *ctx) {
    xir_network *net = xir_network_new(ctx, "whatever", XIR_FRAMEWORK_PYTORCH, "v1.9");
    if (!net) return NULL;
    const xir_type *fp32 = xir_type_float(ctx, XIR_FLOAT_FP32);
    xir_at at = XIR_AT(net);

    xir_value *x = xir_input(at, "", XIR_TENSOR(ctx, fp32, "NHWC", 1, 416, 416, 3));
    xir_value *weights = xir_params_new(net, XIR_STR(""), XIR_TENSOR(ctx, fp32, "HWIO", 3, 3, 3, 16));
    x = XIR_CONV2D(at, .input = x, .weights = weights, .pad = 1);
    x = XIR_RELU(at, x);
    x = XIR_MAX_POOL2D(at, .input = x, .k = 3, .stride = 2, .pad = 1);
    xir_output(at, XIR_VALUES(x));

    /* A new network is written in the newest form. This one is written in the form of version 3.6. */
    xir_network_set_text(net, XIR_TEXT_ICRAFT_VERSION, XIR_STR("v0.0.0"));
    xir_network_set_text(net, XIR_TEXT_XIR_VERSION, XIR_STR("3.6.2.82"));
    return net;
}

static bool print(xir_network *net) {
    xir_text_buffer text = { 0 };
    bool printed = xir_json_print(net, 4, &text) == XIR_OK;
    if (printed) {
        fwrite(text.data, 1, text.size, stdout);
        putchar('\n');
    }
    xir_text_free(&text);
    return printed;
}

/* The weights of the convolution: operations are found by id, their inputs by name. */
static xir_value *weights_of(const xir_network *net) {
    const xir_op *conv = xir_network_op_by_id(net, 1);
    return conv ? xir_op_input_named(conv, XIR_STR("weights")) : NULL;
}

static bool same_weights(const xir_network *a, const xir_network *b) {
    const xir_value *x = weights_of(a), *y = weights_of(b);
    uint64_t x_size = 0, y_size = 0;
    const void *x_data = x ? xir_params_data(x, &x_size) : NULL, *y_data = y ? xir_params_data(y, &y_size) : NULL;
    return x_data && y_data && x_size == y_size && memcmp(x_data, y_data, x_size) == 0;
}

/* Loads the structure, then the parameters, and compares the weights with those in memory. */
static bool load_and_compare(xir_context *ctx, const xir_network *saved, unsigned how, xir_diags *why) {
    const xir_load_options structure = XIR_INIT(xir_load_options, .no_params = true);
    xir_network *net = xir_network_load(ctx, "whatever.json", &structure, why);
    bool loaded = net && xir_raw_load(net, "whatever.raw", how, why) == XIR_OK;
    bool same = loaded && same_weights(saved, net);
    if (loaded) printf("weights loaded validate %s\n", same ? "pass" : "error");
    xir_network_free(net);
    return same;
}

/* The same from one file that has both; the format is detected from the content. */
static bool load_file_and_compare(xir_context *ctx, const xir_network *saved, const char *path, bool lazy,
                                  xir_diags *why) {
    xir_network *net = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = lazy), why);
    bool same = net && same_weights(saved, net);
    if (net) printf("weights of %s loaded validate %s\n", path, same ? "pass" : "error");
    xir_network_free(net);
    return same;
}

int main(void) {
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = ctx ? xir_diags_new(ctx) : NULL;
    xir_network *net = why ? build(ctx) : NULL;
    bool done = net && xir_network_status(net) == XIR_OK && print(net);

    if (done) {
        done = xir_params_fill_f32(weights_of(net), index_as_float) == XIR_OK &&
               xir_network_save(net, "whatever.json", NULL, why) == XIR_OK &&   /* and whatever.raw         */
               load_and_compare(ctx, net, 0, why) &&              /* every byte copied into memory      */
               load_and_compare(ctx, net, XIR_LOAD_LAZY, why) &&  /* the file mapped, nothing copied    */
               xir_network_save(net, "whatever.imodel", NULL, why) == XIR_OK &&
               xir_network_save(net, "whatever.fb", NULL, why) == XIR_OK &&
               load_file_and_compare(ctx, net, "whatever.imodel", false, why) &&
               load_file_and_compare(ctx, net, "whatever.fb", true, why);
    }
    if (net) xir_diags_print(xir_network_diags(net), stderr);
    xir_diags_print(why, stderr);
    xir_network_free(net);
    xir_diags_free(why);
    xir_context_free(ctx);
    return done ? 0 : 1;
}
