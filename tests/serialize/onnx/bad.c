/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed ONNX files: refused with the status, the byte and the path of the fault, and without a network, wherever
 * they are truncated or changed. Files that decode are read, even if they are broken: see read.c. */
#include "support/net.h"
#include "support/often.h"
#include "support/onnx_text.h"

#define GRAPH(fields)   "1:8 7{" fields "}"
#define NODE(fields)    GRAPH("1{1'x' 2'y' 4'Op' " fields "}")
#define ATTR(fields)    NODE("5{1'a' " fields "}")
#define INIT(fields)    GRAPH("5{8'w' " fields "}")
#define INPUT(fields)   GRAPH("11{1'x' 2{" fields "}}")
#define SPARSE(fields)  GRAPH("15{" fields "}")
#define VALUES2         "1{1:2 2:1 8's' 9#0000000000000000}"                                /* two floats   */
#define TEN(x)          x x x x x x x x x x

typedef struct bad { const char *text; xir_status status; const char *path, *sentence; } bad;

static const bad table[] = {
    /* the wire */
    { "1:8 `#ff",                              XIR_E_SYNTAX, "", "ends within a field" },
    { "1:8 #3a`",                              XIR_E_SYNTAX, "", "ends within a field" },
    { "1:8 #3a `#050102",                      XIR_E_SYNTAX, "", "a length of 5 bytes reaches beyond" },
    { "1:8 #3a `#ffffffffffffffffff01",        XIR_E_SYNTAX, "", "a length of 18446744073709551615 bytes" },
    { "#08 `#80808080808080808002",            XIR_E_SYNTAX, "", "more than 64 bits" },
    { "#08 `#8080808080808080808001",          XIR_E_SYNTAX, "", "more than 64 bits" },
    { "1:8 `#00 #00",                          XIR_E_SYNTAX, "", "a field number must be" },
    { "1:8 `#8080808010 #00",                  XIR_E_SYNTAX, "", "a field number must be" },
    { "1:8 `#7b #7c",                          XIR_E_SYNTAX, "", "a group" },
    { "1:8 `#7c",                              XIR_E_SYNTAX, "", "a group" },
    { "1:8 `#7e",                              XIR_E_SYNTAX, "", "an unknown wire type" },
    { "1:8 `#7f",                              XIR_E_SYNTAX, "", "an unknown wire type" },
    { "1:8 #0d `#000000",                      XIR_E_SYNTAX, "", "ends within a field" },
    { "1:8 #79 `#00000000000000",              XIR_E_SYNTAX, "", "ends within a field" },
    { GRAPH("`1:1"),                           XIR_E_TYPE,   "/graph/node", "bytes (wire type 2), found wire type 0" },
    { GRAPH("#0a `#05"),                        XIR_E_SYNTAX, "/graph", NULL },
    { NODE("#1a`"),                            XIR_E_SYNTAX, "/graph/node/0", "ends within" },

    /* the model */
    { "`1'8'",                                 XIR_E_TYPE,    "/ir_version", "must be a number (wire type 0), found wire type 2" },
    { "1:8`",                                  XIR_E_MISSING, "", "the model has no graph" },
    { "1:8 `2:7 7{}",                          XIR_E_TYPE,    "/producer_name", "must be bytes" },
    { "1:8 `2#ff 7{}",                         XIR_E_SYNTAX,  "", "producer_name is not UTF-8" },
    { "1:8 `7:1",                              XIR_E_TYPE,    "/graph", "must be bytes" },
    { "1:8 8{`2'x'} 7{}",                      XIR_E_TYPE,    "/opset_import/0/version", "must be a number" },
    { "1:8 8{} 8{`1:7} 7{}",                   XIR_E_TYPE,    "/opset_import/1/domain", "must be bytes" },
    { "1:8 14{`1:1} 7{}",                      XIR_E_TYPE,    "/metadata_props/0/key", "must be bytes" },
    { "1:8 14{1'a'} 14{`2#c3} 7{}",            XIR_E_SYNTAX,  "/metadata_props/1", "value is not UTF-8" },
    { "1:8 `25:1 7{}",                         XIR_E_TYPE,    "/functions", "must be bytes" },
    { "1:8 `20=1 7{}",                         XIR_E_TYPE,    "/training_info", "must be bytes" },

    /* the graph, values */
    { GRAPH("`2:1"),                           XIR_E_TYPE,    "/graph/name", "must be bytes" },
    { GRAPH("`2#ff"),                          XIR_E_SYNTAX,  "/graph", "name is not UTF-8" },
    { GRAPH("11{`1:1}"),                       XIR_E_TYPE,    "/graph/input/0/name", "must be bytes" },
    { GRAPH("11{1'x'} 11{`1#80}"),             XIR_E_SYNTAX,  "/graph/input/1", "name is not UTF-8" },
    { GRAPH("12{2{} `2{}}"),                   XIR_E_EXISTS,  "/graph/output/0", "type appears twice" },
    { INPUT("1{`1'x'}"),                       XIR_E_TYPE,    "/graph/input/0/type/tensor_type/elem_type", "must be a number" },
    { INPUT("1{1:1 2{} `2{}}"),                XIR_E_EXISTS,  "/graph/input/0/type/tensor_type", "shape appears twice" },
    { INPUT("1{} `1{}"),                       XIR_E_EXISTS,  "/graph/input/0/type", "tensor_type appears twice" },
    { INPUT("1{1:1 2{`1:7}}"),                 XIR_E_TYPE,    "/graph/input/0/type/tensor_type/shape/dim", "must be bytes" },
    { INPUT("1{1:1 2{1{} 1{`1'x'}}}"),         XIR_E_TYPE,    "/graph/input/0/type/tensor_type/shape/dim/1/dim_value", "a number" },
    { INPUT("1{1:1 2{1{`2#ff}}}"),             XIR_E_SYNTAX,  "/graph/input/0/type/tensor_type/shape/dim/0", "dim_param is not UTF-8" },
    { INPUT("4{1{`1:1}}"),                     XIR_E_TYPE,    "/graph/input/0/type/sequence_type/elem_type/tensor_type", "" },
    { INPUT("5{`1'x'}"),                       XIR_E_TYPE,    "/graph/input/0/type/map_type/key_type", "must be a number" },
    { GRAPH("13{`3:1}"),                       XIR_E_TYPE,    "/graph/value_info/0/doc_string", "must be bytes" },
    { GRAPH("14{2{`2:1}}"),                    XIR_E_TYPE,    "/graph/quantization_annotation/0/quant_parameter_tensor_names/0/value", "" },
    { GRAPH("16{1'a'} 16{`1:1}"),              XIR_E_TYPE,    "/graph/metadata_props/1/key", "must be bytes" },

    /* nodes */
    { GRAPH("1{4'A'} 1{`}"),                   XIR_E_MISSING, "/graph/node/1", "the node has no op_type" },
    { GRAPH("1{`1:3 4'A'}"),                   XIR_E_TYPE,    "/graph/node/0/input", "must be bytes" },
    { GRAPH("1{4'A' `1#ff}"),                  XIR_E_SYNTAX,  "/graph/node/0", "input is not UTF-8" },
    { GRAPH("1{4'A' `2#ff}"),                  XIR_E_SYNTAX,  "/graph/node/0", "output is not UTF-8" },
    { GRAPH("1{4'A'} 1{4'A' `3#ff}"),          XIR_E_SYNTAX,  "/graph/node/1", "name is not UTF-8" },
    { GRAPH("1{`4#ff}"),                       XIR_E_SYNTAX,  "/graph/node/0", "op_type is not UTF-8" },
    { NODE("`7:1"),                            XIR_E_TYPE,    "/graph/node/0/domain", "must be bytes" },
    { NODE("`5:1"),                            XIR_E_TYPE,    "/graph/node/0/attribute", "must be bytes" },
    { NODE("9{`1:1}"),                         XIR_E_TYPE,    "/graph/node/0/metadata_props/0/key", "must be bytes" },

    /* attributes */
    { ATTR("`1:7"),                            XIR_E_TYPE,    "/graph/node/0/attribute/0/name", "must be bytes" },
    { ATTR("`20:99"),                          XIR_E_UNKNOWN, "/graph/node/0/attribute/0/type", "there is no attribute type 99" },
    { ATTR("20:2 `3'x'"),                      XIR_E_TYPE,    "/graph/node/0/attribute/0/i", "must be a number" },
    { ATTR("`2:1"),                            XIR_E_TYPE,    "/graph/node/0/attribute/0/f", "must be 4 bytes (wire type 5), found wire type 0" },
    { ATTR("`4:1"),                            XIR_E_TYPE,    "/graph/node/0/attribute/0/s", "must be bytes" },
    { ATTR("20:4"),                            XIR_E_MISSING, "/graph/node/0/attribute/0", "an attribute of type 4 needs t" },
    { ATTR("20:5"),                            XIR_E_MISSING, "/graph/node/0/attribute/0", "an attribute of type 5 needs g" },
    { ATTR("20:11"),                           XIR_E_MISSING, "/graph/node/0/attribute/0", "needs sparse_tensor" },
    { ATTR("20:13"),                           XIR_E_MISSING, "/graph/node/0/attribute/0", "needs tp" },
    { ATTR("20:4 5{} `5{}"),                   XIR_E_EXISTS,  "/graph/node/0/attribute/0", "t appears twice" },
    { ATTR("20:5 6{} `6{}"),                   XIR_E_EXISTS,  "/graph/node/0/attribute/0", "g appears twice" },
    { NODE("5{1'b' 3:1} 5{1'a' 3:1} 5{1'a'}"), XIR_E_EXISTS,  "/graph/node/0/attribute", "the attribute \"a\" appears twice" },
    { NODE("5{1'name'} 5{1'onnx.name'}5{1'name'}"), XIR_E_EXISTS, "/graph/node/0/attribute", "\"onnx.name\" appears twice" },
    { ATTR("20:7 `8=1"),                       XIR_E_TYPE,    "/graph/node/0/attribute/0/ints", "must be a number" },
    { ATTR("20:7 8{#01 `#80}"),                XIR_E_SYNTAX,  "/graph/node/0/attribute/0", "ends within" },
    { ATTR("20:6 7{#00000000 `#0000}"),        XIR_E_SYNTAX,  "/graph/node/0/attribute/0", "ends within" },
    { ATTR("20:8 9'x' `9:1"),                  XIR_E_TYPE,    "/graph/node/0/attribute/0/strings", "must be bytes" },
    { ATTR("20:4 5{1:2 `2'x'}"),               XIR_E_TYPE,    "/graph/node/0/attribute/0/t/data_type", "must be a number" },
    { ATTR("20:4 5{1'x' `1=2}"),               XIR_E_TYPE,    "/graph/node/0/attribute/0/t/dims", NULL },
    { ATTR("20:9 10{2:1 9#00000000} 10{`2=1}"), XIR_E_TYPE,   "/graph/node/0/attribute/0/tensors/1/data_type", "" },
    { ATTR("20:5 6{1{4'A' `1#ff}}"),           XIR_E_SYNTAX,  "/graph/node/0/attribute/0/g", "name is not UTF-8" },
    { ATTR("20:5 6{1{4'A' #0a `#7f}}"),         XIR_E_SYNTAX,  "/graph/node/0/attribute/0/g", NULL },
    { ATTR("20:10 11{} 11{`#0b}"),             XIR_E_SYNTAX,  "/graph/node/0/attribute/0/graphs/1", "a group" },
    { ATTR("20:13 14{1{`1'x'}}"),              XIR_E_TYPE,    "/graph/node/0/attribute/0/tp/tensor_type/elem_type", "a number" },

    /* tensors */
    { INIT("`2'x'"),                           XIR_E_TYPE,    "/graph/initializer/0/data_type", "must be a number" },
    { INIT("`1=3"),                            XIR_E_TYPE,    "/graph/initializer/0/dims", "must be a number" },
    { INIT("1:-1 2:1 9#00000000"),             XIR_E_BOUNDS,  "/graph/initializer/0/dims", "tensor 'w' has a negative dim: -1 of float" },
    { INIT("1:4294967296 1:4294967296 2:1"),   XIR_E_LIMIT,   "/graph/initializer/0/dims", "too large" },
    { INIT("1:2 2:1 #4a07 `#00000000000000"),       XIR_E_CORRUPT, "/graph/initializer/0/raw_data", NULL },
    { INIT("1:3 2:7 9#0000"),                  XIR_E_CORRUPT, "/graph/initializer/0/raw_data", "has 2 bytes in raw_data, but 3 of int64 takes 24" },
    { INIT("1:0 2:1 9#00"),                    XIR_E_CORRUPT, "/graph/initializer/0/raw_data", "has 1 bytes in raw_data, but 0 of float takes 0" },
    { INIT("2:7 9#00"),                        XIR_E_CORRUPT, "/graph/initializer/0/raw_data", "one int64 takes 8" },
    { INIT("1:2 2:1"),                         XIR_E_MISSING, "/graph/initializer/0", "tensor 'w' has no elements, but 2 of float takes 2" },
    { INIT("1:2 2:1 4=1 `5:1"),                XIR_E_EXISTS,  "/graph/initializer/0", "elements in float_data and in int32_data" },
    { INIT("1:1 2:1 4=1 9#00000000"),          XIR_E_EXISTS,  "/graph/initializer/0", "elements in raw_data and in float_data" },
    { INIT("1:1 2:7 5:1"),                     XIR_E_TYPE,    "/graph/initializer/0", "in int32_data, but elements of int64 belong in int64_data" },
    { INIT("1:2 2:1 4=1"),                     XIR_E_CORRUPT, "/graph/initializer/0", "1 numbers in float_data, but 2 of float takes 2" },
    { INIT("1:2 2:7 7#010203"),                XIR_E_CORRUPT, "/graph/initializer/0", "3 numbers in int64_data, but 2 of int64 takes 2" },
    { INIT("1:1 2:7 7{`#80}"),                 XIR_E_SYNTAX,  "/graph/initializer/0", "ends within" },
    { INIT("1:1 2:3 5:300"),                   XIR_E_BOUNDS,  "/graph/initializer/0", "300 does not fit 8 bits" },
    { INIT("1:1 2:10 5:65536"),                XIR_E_BOUNDS,  "/graph/initializer/0", "65536 does not fit 16 bits" },
    { INIT("1:1 2:14 4=1"),                    XIR_E_CORRUPT, "/graph/initializer/0", "1 numbers in float_data, but 1 of complex64 takes 2" },
    { INIT("1:1 2:8 #4a01 `#00"),                   XIR_E_TYPE,    "/graph/initializer/0", NULL },
    { INIT("1:2 2:8 6'a'"),                    XIR_E_CORRUPT, "/graph/initializer/0", "1 numbers in string_data, but 2 of string takes 2" },
    { INIT("1:1 2:99 5:1"),                    XIR_E_TYPE,    "/graph/initializer/0", "elements of an unknown type belong in raw_data" },
    { INIT("1:1 2:1 `3{}"),                    XIR_E_UNSUPPORTED, "/graph/initializer/0", "segments" },
    { INIT("`14:2"),                           XIR_E_UNKNOWN, "/graph/initializer/0", "there is no data_location 2" },
    { INIT("1:1 2:1 #2203 `#616263"),                 XIR_E_SYNTAX,  "/graph/initializer/0", NULL },
    { INIT("1:1 2:1 14:1 `13{1'location' 2'w.bin'}"), XIR_E_MISSING, "/graph/initializer/0/external_data", "did not come from a file" },
    { INIT("1:1 2:1 14:1"),                    XIR_E_MISSING, "/graph/initializer/0", "has no location" },
    { INIT("1:1 2:1 14:1 13{1'offset' 2'0'}"), XIR_E_MISSING, "/graph/initializer/0", "has no location" },

    /* sparse tensors */
    { SPARSE("`"),                             XIR_E_MISSING, "/graph/sparse_initializer/0", "needs values" },
    { SPARSE("`" VALUES2),                     XIR_E_MISSING, "/graph/sparse_initializer/0", "needs indices" },
    { SPARSE(VALUES2 "2{1:2 2:1 9#0000000000000000} 3:4"), XIR_E_INVALID, "/graph/sparse_initializer/0", "and int64 indices" },
    { SPARSE(VALUES2 "2{1:1 2:7 7:0} 3:4"),    XIR_E_INVALID, "/graph/sparse_initializer/0", "[n] or [n,rank]" },
    { SPARSE(VALUES2 "2{1:2 2:7 7:0 7:4} 3:4"), XIR_E_BOUNDS, "/graph/sparse_initializer/0", "value 1 is at 4, but the tensor has 4 elements" },
    { SPARSE(VALUES2 "2{1:2 2:7 7:0 7:-1} 3:4"), XIR_E_BOUNDS, "/graph/sparse_initializer/0", "value 1 is at -1" },
    { SPARSE(VALUES2 "2{1:2 1:2 2:7 7:0 7:0 7:0 7:2} 3:2 3:2"), XIR_E_BOUNDS, "/graph/sparse_initializer/0", "index 1 of value 1 is 2, expected 0 to 1" },
    { SPARSE(VALUES2 "2{1:2 2:7 7:0 7:1} 3:1000000000000"), XIR_E_LIMIT, "/graph/sparse_initializer/0", "would take 4000000000000" },
    { SPARSE(VALUES2 "2{1:2 2:7 7:0 7:1} 3:-4"), XIR_E_BOUNDS, "/graph/sparse_initializer/0", "negative" },

    /* depth */
    { INPUT("1{}") " 7{11{1'y' 2{" TEN(TEN("4{1{")) TEN("4{1{") TEN("4{1{") TEN("4{1{")
            TEN(TEN("}}")) TEN("}}") TEN("}}") TEN("}}") "}}}",
      XIR_E_LIMIT, NULL, "types are nested deeper than 128" },
    { GRAPH(TEN(TEN("1{4'If' 5{1'b' 20:5 6{")) TEN("1{4'If' 5{1'b' 20:5 6{") TEN("1{4'If' 5{1'b' 20:5 6{") TEN("1{4'If' 5{1'b' 20:5 6{")
            TEN(TEN("}}}")) TEN("}}}") TEN("}}}") TEN("}}}")), XIR_E_LIMIT, "/graph/node/0/attribute/0/g", "graphs are nested deeper than 128" },
};

static xir_network *read_bad(const bad *b, size_t *mark) {
    om_bytes bytes = onnx_bytes_of(b->text, mark);
    xir_network *net = xir_network_read(ctx, bytes.data, bytes.size, XIR_STR("bad.onnx"),
                                        &XIR_INIT(xir_load_options, .format = "onnx"), why);
    om_bytes_free(&bytes);
    return net;
}

static void by_hand(void **state) {
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < COUNT(table); i++) {
        const bad *b = &table[i];
        size_t mark;
        xir_diags_clear(why);
        xir_network *net = read_bad(b, &mark);
        const xir_diag *d = xir_diags_at(why, 0);
        bool good = !net && d && xir_diags_count(why) == 1 && d->code == b->status && d->severity == XIR_ERROR;
        good = good && (!b->path || xir_str_equal(d->path, xir_str_of(b->path)));
        good = good && (!b->sentence || memmem(d->message.data, d->message.size, b->sentence, strlen(b->sentence)));
        good = good && (mark == SIZE_MAX || d->byte == mark) && xir_str_equal(d->file, XIR_STR("bad.onnx"));
        xir_network_free(net);
        if (good) continue;
        failed++;
        print_error("%zu: %s\n    expected %s at byte %zd, %s: %s\n", i, b->text, xir_status_name(b->status),
                    (ssize_t)mark, b->path, b->sentence);
        xir_diags_print(why, stderr);
    }
    assert_int_equal(failed, 0);
    assert_true(COUNT(table) >= 60);
}

/* ---- random changes --------------------------------------------------------------------------------------------- */

/* A sound network, or none and one finding. */
static bool survives(const void *data, size_t size) {
    xir_diags_clear(why);
    void *exact = malloc(size ? size : 1);   /* nothing after it */
    memcpy(exact, data, size);
    xir_network *net = xir_network_read(ctx, exact, size, XIR_STR("x"), &XIR_INIT(xir_load_options, .format = "onnx",
                                                                                  .lazy = true), why);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), net ? 0 : 1);
    const char *broken = net ? broken_invariant(net, ASK_ALL) : NULL;
    if (broken) fail_msg("%s", broken);
    xir_network_free(net);
    free(exact);
    return net != NULL;
}

static void files_cut_anywhere(void **state) {
    (void)state;
    om_bytes all = onnx_everything();
    size_t good = 0;
    assert_true(survives(all.data, all.size));
    for (size_t i = 0; i < all.size; i++) good += survives(all.data, i);
    assert_true(good < 4);   /* the graph is the last field: a file may end before it, and then has none */
    om_bytes_free(&all);
}

static void bytes_changed_anywhere(void **state) {
    (void)state;
    om_bytes all = onnx_everything();
    static const unsigned char others[] = { 0x00, 0x01, 0x7f, 0x80, 0xff, 0x0b, 0x0a };
    size_t good = 0, tried = 0;
    for (size_t i = 0; i < all.size; i++) {
        unsigned char was = all.data[i];
        for (unsigned bit = 0; bit < 8; bit++, tried++) {
            all.data[i] = was ^ (unsigned char)(1u << bit);
            good += survives(all.data, all.size);
        }
        for (size_t j = 0; j < COUNT(others); j++, tried++) {
            all.data[i] = others[j];
            good += survives(all.data, all.size);
        }
        all.data[i] = was;
    }
    assert_true(good > 0 && good < tried);
    om_bytes_free(&all);
}

/* Two random bytes at once, and pieces that are missing or appear twice. */
static void files_torn_anywhere(void **state) {
    (void)state;
    om_bytes all = onnx_everything(), torn = { 0 };
    for (size_t i = 0; i < OFTEN(20000); i++) {
        size_t from = chance(all.size), n = chance(40), to = chance(all.size);
        if (n > all.size - from) n = all.size - from;
        torn.size = 0;
        om_put_raw(&torn, all.data, to);
        if (i % 2) om_put_raw(&torn, all.data + from, n);
        size_t rest = i % 3 ? to : to + n < all.size ? to + n : all.size;
        om_put_raw(&torn, all.data + rest, all.size - rest);
        if (torn.size) torn.data[chance(torn.size)] ^= (unsigned char)(1u << chance(8));
        survives(torn.data, torn.size);
    }
    om_bytes_free(&torn);
    om_bytes_free(&all);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(files_cut_anywhere),
        cmocka_unit_test(bytes_changed_anywhere),
        cmocka_unit_test(files_torn_anywhere),
    };
    return RUN_GROUP(tests);
}
