/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The order of inputs and results: where the network's is not that of the calls, words in the metadata of the first
 * call say it, and are read again. */
#include "support/kept.h"
#include "support/load_net.h"
#include "support/stored.h"
#include "graph.h"

static const char made[] =
    "newtensor(vector<int32>:[2])->(tensor<float32>:t)\n"
    "mulscalar(tensor<float32>:z, var<float32>:2)->(tensor<float32>:t) // author=miaobyte\n"
    "newtensor(vector<int32>:[2])->(tensor<float32>:y)\n"
    "sub(tensor<float32>:x, tensor<float32>:t)->(tensor<float32>:y) // author=miaobyte\n";

static xir_network *network_of(const char *text) {
    xir_network *net = stored_must_read("deepx", text, strlen(text));
    xir_diags_clear(why);
    return net;
}

/* Names of the inputs, or of the results, with a blank after each. */
static const char *names_of(const xir_network *net, bool inputs) {
    static char texts[2][200];
    xir_value *v[8];
    char *out = texts[inputs];
    const size_t n = inputs ? xir_network_inputs(net, v, 8) : xir_network_outputs(net, v, 8);
    *out = '\0';
    for (size_t i = 0; i < n; i++) {
        strncat(out, xir_value_name(v[i]).data, xir_value_name(v[i]).size);
        strcat(out, " ");
    }
    return out;
}

static void must_be(const xir_network *net, const char *inputs, const char *results) {
    assert_string_equal(names_of(net, true), inputs);
    assert_string_equal(names_of(net, false), results);
}

/* The text with metadata for its first line. */
static const char *with_words(const char *words) {
    static char text[800];
    const char *end = strchr(made, '\n');
    snprintf(text, sizeof text, "%.*s%s%s", (int)(end - made), made, words, end);
    return text;
}

static void words_of_the_first_call_say_the_order(void **state) {
    (void)state;
    static const struct { const char *words, *inputs, *results; } rows[] = {
        { "", "z x ", "t y " },
        { " //xir.inputs=x,z", "x z ", "t y " },
        { " // id=3 xir.inputs=x,z author=a xir.outputs=y,t", "x z ", "y t " },
        { " //xir.inputs=x", "x z ", "t y " },                  /* the others follow */
        { " //xir.inputs=q,x,x,,z,y xir.outputs=", "x z ", "t y " },
        { " //xir.outputs=y", "z x ", "y " },                   /* others are not results */
        { " //xir.outputs=q,x", "z x ", "t y " },               /* the words are about another network */
        { " //notxir.inputs=x,z", "z x ", "t y " },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = network_of(with_words(rows[i].words));
        must_be(net, rows[i].inputs, rows[i].results);
        xir_network_free(net);
    }
}

static void the_words_are_those_of_the_network(void **state) {
    (void)state;
    xir_network *net = network_of(with_words(" // id=3"));
    xir_op *output = xir_network_output_op(net);
    xir_value *results[2];
    const char *same = with_words(" // id=3");
    stored_must_be(net, "deepx", same, strlen(same), "the text");
    assert_int_equal(xir_diags_count(why), 0);
    xir_network_outputs(net, results, 2);
    DOES(xir_op_set_inputs(output, (xir_value *[]){ results[1], results[0] }, 2));
    const char *other = with_words(" // id=3 xir.outputs=y,t");
    stored_must_be(net, "deepx", other, strlen(other), "the words");
    assert_true(xir_diags_count(why) > 0);   /* a note says it */
    xir_network *again = network_of(other);
    must_be(again, "z x ", "y t ");
    other = with_words(" // id=3 xir.outputs=y,t");
    stored_must_be(again, "deepx", other, strlen(other), "the same words");
    /* back in the order of the calls, there is nothing to say */
    output = xir_network_output_op(again);
    xir_network_outputs(again, results, 2);
    DOES(xir_op_set_inputs(output, (xir_value *[]){ results[1], results[0] }, 2));
    same = with_words(" // id=3");
    stored_must_be(again, "deepx", same, strlen(same), "no words");
    xir_network_free(again);
    xir_network_free(net);
    xir_diags_clear(why);
}

static void other_tensors_are_not_results(void **state) {
    (void)state;
    xir_network *net = network_of(made);
    xir_value *results[2];
    xir_network_outputs(net, results, 2);
    DOES(xir_op_set_inputs(xir_network_output_op(net), &results[1], 1));
    const char *other = with_words(" //xir.outputs=y");
    stored_must_be(net, "deepx", other, strlen(other), "another tensor");
    xir_network *again = network_of(other);
    must_be(again, "z x ", "y ");
    stored_must_be(again, "deepx", other, strlen(other), "the same words");
    xir_network_free(again);
    xir_network_free(net);
    xir_diags_clear(why);
}

static void inputs_that_no_call_uses_are_noted(void **state) {
    (void)state;
    xir_network *net = network_of(made);
    xir_value *inputs[2];
    xir_network_inputs(net, inputs, 2);
    xir_op *sub = xir_network_op_at(net, 4);
    DOES(xir_op_set_input(sub, 0, xir_op_input(sub, 1)));   /* t - t */
    buffer out = stored_as(net, "deepx");
    check_finding(XIR_OK, "1 input that no call uses is not in the text, the first is 'x'");
    buffer_free(&out);
    xir_network_free(net);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_first_call_say_the_order),
        cmocka_unit_test(the_words_are_those_of_the_network),
        cmocka_unit_test(other_tensors_are_not_results),
        cmocka_unit_test(inputs_that_no_call_uses_are_noted),
    };
    return RUN_GROUP(tests);
}
