/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX files that decode: where their parts are in the network. Everything goes through every other format and comes
 * back the same. For refused files see bad.c, for files next to the model external.c. */
#include <dirent.h>
#include <stdio.h>
#include "graph.h"
#include "support/net.h"
#include "support/round.h"
#include "support/onnx_text.h"

static xir_network *read_model(const void *data, size_t size) {
    xir_network *net = xir_network_read(ctx, data, size, XIR_STR("m.onnx"),
                                        &XIR_INIT(xir_load_options, .format = "onnx", .lazy = true), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    const char *broken = broken_invariant(net, ASK_ALL);
    if (broken) fail_msg("%s", broken);
    return net;
}

/* ---- a table: parts of the file, parts of the network ----------------------------------------------------------- */

#define GRAPH(fields)  "1:8 7{2'g' " fields "}"
#define NODE(fields)   GRAPH("11{1'x' 2{1{1:1 2{}}}} 1{1'x' 2'y' 4'Op' " fields "} 12{1'y'}")
#define ATTR(fields)   NODE("5{1'a' " fields "}")
#define USED(fields)   GRAPH("5{8'w' " fields "} 1{1'w' 2'y' 4'Op'} 12{1'y'}")
#define TYPE(fields)   GRAPH("11{1'x' 2{" fields "}} 12{1'x'}")

static const struct { const char *file, *parts[4]; } table[] = {
    /* the network */
    { "1:8 7{}",                       { "\"framework_kind\":\"ONNX\"", "\"onnx.ir_version\":8", "icraft::xir::Input", "icraft::xir::Output" } },
    { GRAPH(""),                       { "\"name\":\"g\"" } },
    { "1:8 2'pytorch' 3'2.1' 4'd' 5:7 6'doc' 7{10'gdoc'}",
      { "\"onnx.producer_name\":\"pytorch\",\"onnx.producer_version\":\"2.1\"", "\"onnx.domain\":\"d\"", "\"onnx.model_version\":7", "\"onnx.doc_string\":\"doc\"" } },
    { "1:8 7{10'gdoc'}",               { "\"onnx.graph_doc_string\":\"gdoc\"" } },
    { "8{1'ai.onnx' 2:17} 8{1'com.example' 2:1} 7{}", { "\"onnx.opset\":{\"\":17,\"com.example\":1}" } },
    { "8{2:11} 8{2:12} 7{}",           { "\"onnx.opset\":{\"\":12}", "\"framework_version\":\"opset12\"" } },
    { "2'pytorch' 8{1'x' 2:3} 8{1'ai.onnx' 2:17} 7{}", { "\"framework_version\":\"opset17\"", "\"onnx.producer_name\":\"pytorch\"" } },
    { "8{1'x' 2:3} 8{2:-1} 7{}",       { "\"framework_version\":\"\"" } },
    { "14{1'b' 2'2'} 14{1'a' 2'1'} 14{1'b' 2'3'} 7{16{1'k' 2'v'}}", { "\"onnx.metadata\":{\"a\":\"1\",\"b\":\"3\"}", "\"onnx.graph_metadata\":{\"k\":\"v\"}" } },
    { "25#0102 25#00 20#ffffff 7{}",   { "\"onnx.functions\":[\"AQI=\",\"AA==\"]", "\"onnx.training_info\":[\"////\"]" } },
    { "2'first' 7{2'a'} 2'second' 7{2'b' 1{4'Op' 2'y'}}", { "\"name\":\"b\"", "second", "\"onnx::Op\"" } },   /* the last counts; graphs are merged */
    { "99'unknown' 7{98:5 97{} 1{4'Op' 96=1 #9906#0000000000000000}}", { "\"onnx::Op\"" } },

    /* nodes */
    { NODE(""),                        { "\"_type_key\":\"onnx::Op\"", "\"op_id\":1", "\"op_id\":2" } },
    { NODE("3'n' 7'ai.onnx' 6'doc' 8'o' 9{1'k' 2'v'}"), { "\"_type_key\":\"onnx::Op\"", "\"name\":\"n\"", "\"tags\":{\"onnx.doc_string\":\"doc\",\"onnx.metadata\":{\"k\":\"v\"},\"onnx.overload\":\"o\"}" } },
    { NODE("7'com.microsoft'"),        { "\"_type_key\":\"onnx::com.microsoft.Op\"" } },
    { GRAPH("1{4'Constant' 2'c'} 12{1'c'}"), { "\"_type_key\":\"onnx::Constant\",\"compile_target\":\"@hostt\",\"inputs\":[],\"name\":\"\"" } },
    { GRAPH("11{1'x'} 1{1'x' 1'' 1'x' 1'' 2'y' 2'' 2'z' 4'Op'}"), { "\"name\":\"x\",\"tags\":{},\"v_id\":0},null,{", "\"v_id\":0}],\"name\":\"\"", "\"name\":\"\",\"tags\":{},\"v_id\":2}", "\"name\":\"z\",\"tags\":{},\"v_id\":3}" } },

    /* attributes */
    { ATTR("20:2 3:-5"),               { "\"a\":-5" } },
    { ATTR("20:2"),                    { "\"a\":0" } },
    { ATTR("20:1 2=1.5"),              { "\"a\":1.5" } },
    { ATTR("20:1 2=2"),                { "\"a\":2.0" } },
    { ATTR("20:3 4'text'"),            { "\"a\":\"text\"" } },
    { ATTR("20:3"),                    { "\"a\":\"\"" } },
    { ATTR("20:3 4#ff00"),             { "\"a\":{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\"", "@uint(8)", "\"shape\":[2]" } },
    { ATTR("20:1 2=inf"),              { "\"a\":{\"_allow_no_data\":false", "@fp(32)", "\"shape\":[]" } },
    { ATTR("20:6 7=1 7=nan"),          { "\"a\":{\"_allow_no_data\":false", "@fp(32)", "\"shape\":[2]" } },
    { ATTR("20:7 8:1 8#0203 8:-1"),    { "\"a\":[1,2,3,-1]" } },
    { ATTR("20:7"),                    { "\"a\":[]" } },
    { ATTR("20:6 7=0.5 7#0000003f00000040"), { "\"a\":[0.5,0.5,2.0]" } },
    { ATTR("20:8 9'a' 9#80 9''"),      { "\"a\":[\"a\",{\"_allow_no_data\"", ",\"\"]" } },
    { ATTR("20:4 5{1:1 2:7 7:9 8't' 12'd'}"), { "\"a\":{\"_allow_no_data\"", "@sint(64)", "\"name\":\"t\",\"tags\":{\"onnx.doc_string\":\"d\"}" } },
    { ATTR("20:9 10{2:1 9#00000000} 10{2:9 5:1}"), { "\"a\":[{\"_allow_no_data\"", "@fp(32)", "@bool" } },
    { ATTR("20:13 14{4{1{1{1:1 2{1{1:2} 1{2'N'} 1{}}}}}}"), { "\"a\":{\"onnx.type\":\"seq(tensor(float)[2,N,?])\"}" } },
    { ATTR("20:14 15{5{1:7 2{1{1:8}}}} 15{9{1{8{1:1}}}} 15{7{1'd' 2'n'}} 15{}"), { "[{\"onnx.type\":\"map(int64,tensor(string))\"},{\"onnx.type\":\"optional(sparse_tensor(float))\"},{\"onnx.type\":\"opaque(d,n)\"},{\"onnx.type\":\"\"}]" } },
    { ATTR("20:11 22{1{1:1 2:1 4=7} 2{1:1 2:7 7:3} 3:9}"), { "\"a\":{\"onnx.sparse_tensor\":{\"dims\":[9],\"indices\":{", "\"values\":{" } },
    { ATTR("20:5 6{2'inner'}"),        { "\"a\":{\"onnx.graph\":{\"_allow_no_data\"" } },
    { ATTR("3:4"),                     { "\"a\":4" } },                            /* files from before types existed */
    { ATTR("8:4"),                     { "\"a\":[4]" } },
    { ATTR(""),                        { "\"a\":null" } },
    { ATTR("20:2 21'outer'"),          { "\"a\":{\"onnx.ref\":\"outer\"}" } },
    { ATTR("20:2 13'what it is'"),     { "\"onnx.attribute_docs\":{\"a\":\"what it is\"}" } },
    { NODE("5{1'b' 3:1} 5{1'a' 3:2}"), { "\"a\":2,\"b\":1" } },
    /* keys that every op has */
    { NODE("5{1'name' 3:1} 5{1'inputs' 3:2} 5{1'_type_key' 3:3} 5{1'onnx.x' 3:4}"), { "\"onnx._type_key\":3", "\"onnx.inputs\":2,\"onnx.name\":1,\"onnx.onnx.x\":4" } },

    /* types of values */
    { TYPE("1{1:1 2{1{1:2} 1{1:3}}}"), { "\"layout\":\"@layout(**)\"", "\"shape\":[2,3]" } },
    { TYPE("1{1:10 2{}}"),             { "@fp(16)", "\"layout\":\"@layout()\"", "\"shape\":[]" } },
    { TYPE("1{1:22 2{1{1:5}}}"),       { "@sint(4)" } },
    { TYPE("1{1:1 2{1{2'batch'} 1{1:3} 1{} 1{1:-7}}}"), { "\"shape\":[-1,3,-1,-1]", "\"source.dims\":[\"batch\",3,null,-7]" } },
    { TYPE("1{1:1 2{1{} 1{1:3}}}"),    { "\"shape\":[-1,3]", "\"name\":\"x\",\"tags\":{}" } },
    { TYPE("1{1:1 2{1{1:4 3'C'} 1{1:4}}} 6'IMAGE'"), { "\"onnx.denotation\":\"IMAGE\",\"onnx.dim_denotations\":[\"C\",\"\"]" } },
    { TYPE("1{1:1}"),                  { "\"dtype\":null", "\"onnx.type\":\"tensor(float)\"" } },       /* no rank */
    { TYPE("1{1:8 2{1{1:2}}}"),        { "\"dtype\":null", "\"onnx.type\":\"tensor(string)[2]\"" } },
    { TYPE("1{1:99 2{}}"),             { "\"dtype\":null", "\"onnx.type\":\"tensor(99)[]\"" } },
    { TYPE("1{1:17 2{}} 4{1{1{1:1}}}"), { "\"onnx.type\":\"seq(tensor(float))\"" } },                   /* of several kinds the last counts */
    { GRAPH("11{1'x' 3'doc' 4{1'k' 2'v'}} 12{1'x'}"), { "\"dtype\":null", "\"tags\":{\"onnx.doc_string\":\"doc\",\"onnx.metadata\":{\"k\":\"v\"}}" } },
    { GRAPH("1{4'Op' 2'y'} 13{1'y' 2{1{1:1 2{1{1:4}}}}} 13{1'nobody'}"), { "\"shape\":[4]" } },
    { GRAPH("1{4'Op' 2'y'} 12{1'y' 2{1{1:1 2{1{1:5}}}}} 13{1'y' 2{1{1:1 2{1{1:4}}}}}"), { "\"shape\":[5]" } },   /* the output's own type comes first */
    { GRAPH("1{4'Op' 2'y'} 14{1'y' 2{1'SCALE_TENSOR' 2's'}}"), { "\"onnx.quantization\":{\"SCALE_TENSOR\":\"s\"}" } },

    /* constants */
    { USED("2:1 9#0000803f"),          { "\"_type_key\":\"icraft::xir::Params\"", "\"name\":\"w\"" } },
    { USED("1:3 2:8 6'a' 6'' 6'b'"),   { "\"dtype\":null", "\"onnx.type\":\"tensor(string)[3]\"" } },
    { USED("1:1 2:14 4=1 4=2"),        { "\"dtype\":null", "\"onnx.type\":\"tensor(complex64)[1]\"" } },
    { USED("1:2 2:17 9#0102"),         { "\"onnx.type\":\"tensor(float8e4m3fn)[2]\"" } },
    { USED("1:2 2:77 9#010203"),       { "\"onnx.type\":\"tensor(77)[2]\"" } },
    { USED("1:0 2:8"),                 { "\"onnx.type\":\"tensor(string)[0]\"" } },
    { USED("1:2 2:77"),                { "\"onnx.type\":\"tensor(77)[2]\"" } },
    { USED("1:2 2:77"
           "} 5{8'v' 2:1 4=1} 1{1'v' 4'Op'"), { "\"onnx.type\":\"tensor(77)[2]\"" } },
    { USED("1:0 2:1"),                 { "\"shape\":[0]" } },
    { GRAPH("15{1{1:1 2:1 8'w' 4=7} 2{1:1 2:7 7:3} 3:2 3:3} 1{1'w' 4'Op'}"), { "\"shape\":[2,3]", "\"onnx.sparse\":true" } },
    { GRAPH("5{8'w' 2:1 4=1} 11{1'x'} 11{1'w'} 1{1'w' 4'Op'}"), { "\"tags\":{\"onnx.input\":1}" } },        /* an input with a default */
    { GRAPH("5{8'w' 2:1 4=1} 5{8'v' 2:1 4=1} 5{8'u' 2:1 4=1} 1{1'v' 4'Op'}"), { "\"onnx.unused_initializers\":[\"w\",\"u\"]" } },
    { GRAPH("5{8'w' 2:1 4=1} 12{1'w'}"), { "\"name\":\"w\"" } },                    /* straight to an output */

    /* broken graphs */
    { GRAPH("1{1'nobody' 4'Op'}"),     { "\"dtype\":null", "\"name\":\"nobody\"" } },
    { GRAPH("1{1'y' 4'B' 2'z'} 1{4'A' 2'y'}"), { "onnx::B", "onnx::A" } },
    { GRAPH("1{1'y' 4'A' 2'y'}"),      { "\"name\":\"y\"" } },
    { GRAPH("1{4'A' 2'y'} 1{4'B' 2'y'} 1{1'y' 4'C'}"), { "\"source.duplicate\":true" } },
    { GRAPH("11{1'x'} 1{4'B' 2'x'}"),  { "\"source.duplicate\":true" } },
    { GRAPH("5{8'w' 2:1 4=1} 5{8'w' 2:1 4=2} 1{1'w' 4'A'}"), { "\"source.duplicate\":true" } },
    { GRAPH("12{1'nobody'} 12{}"),     { "\"name\":\"nobody\"" } },

    /* subgraphs: their captures */
    { GRAPH("11{1'x'} 1{4'If' 1'x' 5{1'then' 20:5 6{1{4'Add' 1'x' 1'h' 2'r'} 12{1'r'} 12{1'out'}}}}"),
      { "\"source.captures\":[\"x\",\"h\",\"out\"]", "\"name\":\"out\"" } },
    { GRAPH("11{1'x'} 1{4'Loop' 1'' 5{1'b' 20:10 11{11{1'i'} 5{8'c'} 15{1{8's'}} 1{4'Op' 1'i' 1'c' 1's' 1'q' 1'' "
            "2'p'} 1{4'Op' 1'p' 2'q'}} 11{1{4'Op' 1'p'}}}}"),
      { "\"source.captures\":[\"p\"]", "\"inputs\":[null,{" } },
    { GRAPH("1{4'If' 5{1'a' 20:5 6{1{4'X' 2'mine'} 1{4'If' 5{1'b' 20:5 6{1{4'Op' 1'mine' 1'outer'} 1{4'Op' "
            "1'outer'}}}}}}}"),
      { "\"source.captures\":[\"outer\"]" } },
};

static void parts_of_the_file_and_of_the_network(void **state) {
    (void)state;
    size_t failed = 0;
    for (size_t i = 0; i < COUNT(table); i++) {
        size_t mark;
        om_bytes bytes = onnx_bytes_of(table[i].file, &mark);
        xir_network *net = read_model(bytes.data, bytes.size);
        xir_text_buffer json;
        assert_int_equal(xir_json_print(net, 0, &json), XIR_OK);
        const char *at = json.data;
        for (size_t j = 0; j < COUNT(table[i].parts) && table[i].parts[j]; j++) {
            if (memmem(at, json.size, table[i].parts[j], strlen(table[i].parts[j]))) continue;
            failed++;
            print_error("%s\n    has no %s in\n    %.*s\n", table[i].file, table[i].parts[j],
                        (int)json.size, json.data);
        }
        xir_text_free(&json);
        round_all(net, table[i].file);
        xir_network *copy = xir_network_clone(net);
        assert_true(xir_network_equal(net, copy, true));
        xir_network_free(copy);
        xir_network_free(net);
        om_bytes_free(&bytes);
    }
    assert_int_equal(failed, 0);
}

/* ---- elements in every representation --------------------------------------------------------------------------- */

static const struct { const char *tensor, *bytes; bool in_place; } elements[] = {
    { "1:2 2:1 9#0000803f00000040",            "#0000803f00000040", true  },
    { "1:2 2:1 4#0000803f00000040",            "#0000803f00000040", true  },   /* packed: as in memory   */
    { "1:2 2:1 4=1 4=2",                       "#0000803f00000040", false },
    { "1:2 2:1 4=1 4#00000040",                "#0000803f00000040", false },
    { "1:1 2:1 9'' 4=1",                       "#0000803f",         false },
    { "1:1 2:11 10#0102030405060708",          "#0102030405060708", true  },
    { "1:2 2:7 7:1 7:-1",                      "#0100000000000000ffffffffffffffff", false },
    { "1:2 2:7 7#01ac02",                      "#01000000000000002c01000000000000", false },
    { "1:3 2:3 5:1 5:-1 5:127",                "#01ff7f",           false },
    { "1:2 2:2 5:255 5#00",                    "#ff00",             false },
    { "1:2 2:5 5:-2 5:3",                      "#feff0300",         false },
    { "1:1 2:4 5:65535",                       "#ffff",             false },
    { "1:1 2:6 5:-2",                          "#feffffff",         false },
    { "1:1 2:12 11:4294967295",                "#ffffffff",         false },
    { "1:1 2:13 11:18446744073709551615",      "#ffffffffffffffff", false },
    { "1:3 2:9 5:0 5:1 5:7",                   "#000101",           false },
    { "1:2 2:10 5:15360 5:-1",                 "#003cffff",         false },   /* halves as their bits   */
    { "1:1 2:16 5:16256",                      "#803f",             false },
    { "1:3 2:22 5:33 5:3",                     "#2103",             false },   /* two to the byte        */
    { "1:3 2:22 9#2103",                       "#2103",             true  },
    { "1:1 2:14 4=1 4=2",                      "#0000803f00000040", false },
    { "1:2 2:8 6'ab' 6'c'",                    "#0261620163",       false },   /* after their lengths   */
    { "1:2 2:18 5:1 5:255",                    "#01ff",             false },
    { "2:7 7:3",                               "#0300000000000000", false },   /* no dims: one element   */
    { "1#0202 2:2 9#01020304",                 "#01020304",         true  },
};

static void elements_are_read_wherever_they_are(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(elements); i++) {
        char text[200];
        size_t mark;
        snprintf(text, sizeof text, "1:8 7{5{8'w' %s} 1{1'w' 4'Op'}}", elements[i].tensor);
        om_bytes bytes = onnx_bytes_of(text, &mark), expected = onnx_bytes_of(elements[i].bytes, &mark);
        xir_network *net = read_model(bytes.data, bytes.size);
        xir_value *w = xir_op_input(xir_op_next(xir_network_first(net)), 0);
        uint64_t size;
        const unsigned char *data = xir_params_data(w, &size);
        bool inside = data >= bytes.data && data < bytes.data + bytes.size;
        if (size != expected.size || memcmp(data, expected.data, size) != 0)
            fail_msg("%s: other bytes", elements[i].tensor);
        if (inside != elements[i].in_place) fail_msg("%s: %s", elements[i].tensor, inside ? "in place" : "copied");
        round_all(net, elements[i].tensor);
        xir_network_free(net);
        om_bytes_free(&bytes);
        om_bytes_free(&expected);
    }
}

static void a_sparse_constant_is_dense(void **state) {
    (void)state;
    static const char *const files[] = {
        "7{15{1{1:2 2:6 8'w' 5:7 5:9} 2{1:2 2:7 7:1 7:5} 3:2 3:3} 1{1'w' 4'Op'}}",
        "7{15{1{1:2 2:6 8'w' 5:7 5:9} 2{1:2 1:2 2:7 7:0 7:1 7:1 7:2} 3:2 3:3} 1{1'w' 4'Op'}}",
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        size_t mark;
        om_bytes bytes = onnx_bytes_of(files[i], &mark);
        xir_network *net = read_model(bytes.data, bytes.size);
        uint64_t size;
        const void *data = xir_params_data(xir_op_input(xir_op_next(xir_network_first(net)), 0), &size);
        assert_int_equal(size, 24);
        assert_memory_equal(data, ((const int32_t[]){ 0, 7, 0, 0, 0, 9 }), 24);
        assert_int_equal(xir_network_op_count(net), 3);
        xir_network_free(net);
        om_bytes_free(&bytes);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static void a_name_is_one_value(void **state) {
    (void)state;
    om m = om_begin("edges");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    om_floats(&m, "w", OM_DIMS(2), (const float[]){ 1, 2 }, 2);
    om_node(&m, "Late", "", "later,x", "z");
    om_node(&m, "Add", "", "x,w", "a");
    om_node(&m, "Mul", "", "a,w", "later,");
    om_node(&m, "Twice", "", "x", "a");
    om_node(&m, "After", "", "a", "");
    om_output(&m, "later", ONNX_FLOAT, OM_DIMS(2));
    om_output(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = read_model(bytes, size);
    xir_op *late = xir_op_next(xir_network_first(net)), *add = xir_op_next(late), *mul = xir_op_next(add);
    assert_ptr_equal(xir_op_input(late, 0), xir_op_output(mul, 0));            /* used before it is made */
    assert_ptr_equal(xir_op_input(add, 1), xir_op_input(mul, 1));              /* a weight for two       */
    assert_ptr_equal(xir_op_input(xir_op_next(xir_op_next(mul)), 0), xir_op_output(add, 0));   /* the first of two */
    assert_ptr_equal(xir_op_input(xir_network_last(net), 0), xir_op_output(mul, 0));
    assert_ptr_equal(xir_op_input(xir_network_last(net), 1), xir_op_output(xir_network_first(net), 0));
    assert_int_equal(xir_type_dim(xir_value_type(xir_op_output(mul, 0)), 0, false), 2);   /* declared as an output */
    assert_int_equal(xir_op_id(late), 1);
    assert_int_equal(xir_op_id(xir_network_last(net)), 6);
    assert_int_equal(xir_network_validate(net, why), XIR_E_INVALID);           /* and only the order is wrong */
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 1);
    const xir_diag *d = xir_diags_at(why, 0);
    assert_non_null(memmem(d->message.data, d->message.size, "'later' is used before", 22));
    xir_diags_clear(why);
    round_all(net, "edges");
    xir_network_free(net);
    om_free(&m);
}

/* A dialect's network may have things that XIR's own may not. */
static void a_valid_model_has_no_fault(void **state) {
    (void)state;
    om m = om_begin("good");
    om_node(&m, "Constant", "", "", "c");
    om_int(&m, "value_int", 3);
    om_node(&m, "Resize", "", "c,,c", "y");
    om_node(&m, "com.example.Source", "", "", "s,,t");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = read_model(bytes, size);
    if (xir_network_validate(net, why)) xir_diags_print(why, stderr);
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 0);
    xir_network_free(net);
    om_free(&m);
}

/* Attributes with the same bytes are one map; tensors in them are not shared. */
static void equal_attributes_are_shared(void **state) {
    (void)state;
    om m = om_begin("attrs");
    for (int i = 0; i < 4; i++) {
        om_node(&m, "Op", "", "x", i == 0 ? "a" : i == 1 ? "b" : i == 2 ? "c" : "d");
        om_ints(&m, "pads", OM_DIMS(1, i == 2 ? 3 : 2));
        if (i != 3) continue;
        om_bytes t = om_tensor("t", ONNX_UINT8, OM_DIMS(1), "\7", 1);
        om_tensor_attr(&m, "value", &t);
    }
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = read_model(bytes, size);
    const xir_op *a = xir_op_next(xir_network_first(net)), *b = xir_op_next(a), *c = xir_op_next(b);
    assert_ptr_equal(xir_op_extra(a), xir_op_extra(b));
    assert_false(xir_map_equal(xir_op_extra(a), xir_op_extra(c)));
    assert_non_null(xir_map_find(xir_op_extra(xir_op_next(c)), XIR_STR("value")));
    xir_network_free(net);
    om_free(&m);
}

/* Attributes are sorted by name, however many there are, in whatever order the file has them. */
static void attributes_are_sorted(void **state) {
    (void)state;
    static const size_t counts[] = { 2, 16, 17, 300 };
    for (size_t i = 0; i < COUNT(counts); i++) {
        for (int backwards = 0; backwards < 3; backwards++) {
            om m = om_begin("sorted");
            om_node(&m, "Op", "", "x", "y");
            for (size_t j = 0; j < counts[i]; j++) {
                size_t k = backwards == 2 ? j * 7919 % counts[i] : backwards ? counts[i] - 1 - j : j;
                char name[32];
                snprintf(name, sizeof name, "a%04zu", k);
                om_int(&m, name, (int64_t)k);
            }
            size_t size;
            const void *bytes = om_done(&m, &size);
            xir_network *net = read_model(bytes, size);
            const xir_map *extra = xir_op_extra(xir_op_next(xir_network_first(net)));
            assert_int_equal(extra->size, counts[i]);
            for (size_t j = 0; j < counts[i]; j++) assert_int_equal(extra->entries[j].value.as.integer, j);
            xir_network_free(net);
            om_free(&m);
        }
    }
}

/* ---- options ---------------------------------------------------------------------------------------------------- */

static void the_structure_alone(void **state) {
    (void)state;
    om m = om_begin("alone");
    om_floats(&m, "w", OM_DIMS(2), (const float[]){ 1, 2 }, 2);
    om_external(&m, "v", ONNX_FLOAT, OM_DIMS(2), "nowhere.bin", NULL, NULL);
    om_node(&m, "Op", "", "w,v", "y");
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("m"), &XIR_INIT(xir_load_options, .no_params = true),
                                        why);
    assert_non_null(net);
    const xir_op *op = xir_op_next(xir_network_first(net));
    for (int i = 0; i < 2; i++) {
        assert_false(xir_params_has_data(xir_op_input(op, i)));
        assert_int_equal(xir_type_dim(xir_value_type(xir_op_input(op, i)), 0, false), 2);
    }
    xir_network_free(net);
    om_free(&m);
    /* Then no Params has bytes, whatever it was in the file. */
    om_bytes all = onnx_everything();
    net = xir_network_read(ctx, all.data, all.size, XIR_STR("m"), &XIR_INIT(xir_load_options, .no_params = true), why);
    assert_non_null(net);
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) assert_null(value_params(v)->data);
    xir_network_free(net);
    om_bytes_free(&all);
}

static void detected_by_content(void **state) {
    (void)state;
    om m = om_begin("a graph with a name");
    for (int i = 0; i < 40; i++) om_node(&m, "Op", "", "some_input", "some_output");
    size_t size;
    const void *bytes = om_done(&m, &size);
    for (size_t n = 10; n < size; n += 7) assert_string_equal(xir_format_of(bytes, n), "onnx");
    om_free(&m);
    static const char *const others[] = { "", "#08", "#0808", "#080808", "#08081208", "#0800120161", "#088012",
                                          "#0a01610807", "#7b22",
                                          "#0808ff", "#080808081b", "#08083a01", "#08081506", "#82a1", "#10000000000000000000" };
    for (size_t i = 0; i < COUNT(others); i++) {
        size_t mark;
        om_bytes b = onnx_bytes_of(others[i], &mark);
        const char *word = xir_format_of(b.data, b.size);
        bool may = i == 2 || i == 3 || i == 4 || i == 11;   /* their first bytes fit */
        if (word && strcmp(word, "onnx") == 0 && !may) fail_msg("%s is taken for ONNX", others[i]);
        om_bytes_free(&b);
    }
}

/* Files that the fuzzers of other formats have found are not taken for ONNX. */
static void other_files_are_not_taken_for_it(void **state) {
    (void)state;
    static const char *const folders[] = { "flat", "json", "msgpack", "raw", "differential", "form" };
    size_t n = 0;
    for (size_t i = 0; i < COUNT(folders); i++) {
        char folder[300], path[600];
        snprintf(folder, sizeof folder, "%s/fuzz/corpus/%s", XIR_TEST_DATA, folders[i]);
        DIR *dir = opendir(folder);
        for (struct dirent *e; dir && (e = readdir(dir));) {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "rb");
            unsigned char head[256];
            size_t size = f ? fread(head, 1, sizeof head, f) : 0;
            if (f) fclose(f);
            const char *word = xir_format_of(head, size);
            if (word && strcmp(word, "onnx") == 0) fail_msg("%s is taken for ONNX", path);
            n += size > 0;
        }
        if (dir) closedir(dir);
    }
    assert_true(n > 50);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_the_file_and_of_the_network),
        cmocka_unit_test(elements_are_read_wherever_they_are),
        cmocka_unit_test(a_sparse_constant_is_dense),
        cmocka_unit_test(a_name_is_one_value),
        cmocka_unit_test(a_valid_model_has_no_fault),
        cmocka_unit_test(equal_attributes_are_shared),
        cmocka_unit_test(attributes_are_sorted),
        cmocka_unit_test(the_structure_alone),
        cmocka_unit_test(detected_by_content),
        cmocka_unit_test(other_files_are_not_taken_for_it),
    };
    return RUN_GROUP(tests);
}
