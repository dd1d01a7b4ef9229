/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing ONNX: models whose fields are in the order of the writer come back byte for byte, other files as the same
 * network; and what ONNX cannot hold is refused. */
#include <sys/mman.h>
#include "support/net.h"
#include "graph.h"
#include "support/load_net.h"
#include "support/onnx_text.h"
#include "support/round.h"
#include "support/scratch.h"

static xir_network *read_bytes(const void *data, size_t size) {
    xir_network *net = xir_network_read(ctx, data, size, XIR_STR("m"), &XIR_INIT(xir_load_options, .format = "onnx"),
                                        why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

static xir_network *model_of(const char *text) {
    size_t mark;
    om_bytes bytes = onnx_bytes_of(text, &mark);
    xir_network *net = read_bytes(bytes.data, bytes.size);
    om_bytes_free(&bytes);
    return net;
}

/* The network is written as these bytes. */
static void must_be(xir_network *net, const void *data, size_t size, const char *what) {
    round_memory file = { 0 };
    DOES(xir_network_write(net, round_keep, &file,
                           &XIR_INIT(xir_save_options, .format = "onnx", .unchecked = true), why));
    if (file.size != size || memcmp(file.data, data, size) != 0) {
        for (size_t i = 0; i < file.size; i++) fprintf(stderr, "%02x", (unsigned char)file.data[i]);
        fail_msg("%s: %zu bytes are written, not the expected %zu", what, file.size, size);
    }
    free(file.data);
}

static void must_be_text(xir_network *net, const char *text) {
    size_t mark;
    om_bytes bytes = onnx_bytes_of(text, &mark);
    must_be(net, bytes.data, bytes.size, text);
    om_bytes_free(&bytes);
}

/* ---- models ---------------------------------------------------------------------------------------------------- */

#define FLOAT_X "11{1'x' 2{1{1:1 2{}}}}"
#define FLOAT_Y "12{1'y' 2{1{1:1 2{}}}}"
#define MODEL(graph) "1:8 7{" graph "} 8{2:17}"
#define NODE(attributes) MODEL("1{1'x' 2'y' 4'Op' " attributes "} 2'g' " FLOAT_X " " FLOAT_Y)

static void models_come_back_byte_for_byte(void **state) {
    static const char *const texts[] = {
        /* the model */
        "1:8 2'p' 3'1.0' 4'd' 5:3 6'doc' 7{2'g'} 8{2:17} 8{1'ai.onnx.ml' 2:3} 14{1'a' 2''} 14{1'b' 2'c'} 20{1'x'} "
        "25{1'f'} 26{1'c'}",
        "7{}",
        /* nodes */
        MODEL("1{1'x' 1'' 1'x' 2'' 2'y' 3'n' 4'Op' 6'doc' 7'com.example' 8'o' 9{1'k' 2'v'} 10{1'd'}} 2'g' 10'doc' " FLOAT_X
              " " FLOAT_Y " 16{1'k' 2'v'}"),
        MODEL("1{1'x' 2'y' 4'a.b' 7'com.c'} 1{1'x' 2'z' 4'a.b'} " FLOAT_X " " FLOAT_Y),
        /* an input that nothing defines, a name that two nodes define, nodes in another order */
        MODEL("1{1'undefined' 2'y' 4'Op'} 1{1'x' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y),
        MODEL("1{1'z' 2'y' 4'Op'} 1{1'x' 2'z' 4'Op'} " FLOAT_X " " FLOAT_Y),
        /* attributes */
        NODE("5{1'a' 2=0.5 13'doc' 20:1} 5{1'b' 3:-1 20:2} 5{1'c' 4'' 20:3} 5{1'd' 7=1 7=-2 20:6} 5{1'e' 8:0 8:300 20:7} "
             "5{1'f' 9'a' 9'' 20:8}"),
        NODE("5{1'a' 20:6} 5{1'b' 20:7} 5{1'c' 20:8} 5{1'd' 20:9} 5{1'e' 20:10} 5{1'f' 20:12} 5{1'g' 20:14}"),
        NODE("5{1'nan' 2=nan 20:1} 5{1'reals' 7=1 7=-inf 20:6} 5{1'tensor' 5{2:1 9#0000c07f} 20:4}"),
        NODE("5{1'bytes' 4#ff 20:3} 5{1'some' 9'a' 9#ff00 20:8} 5{1'sole' 9#ff 20:8} 5{1't' 5{1:1 2:2 8't' 9#ff} 20:4}"),
        NODE("5{1'name' 3:1 20:2} 5{1'onnx.x' 3:1 20:2} 5{1'op_id' 3:1 20:2}"),
        NODE("5{1'nothing'} 5{1'ref' 13'doc' 20:7 21'of'} 5{1'ref2' 21'of'}"),
        NODE("5{1'tensors' 10{1:2 1:1 2:7 8'n' 9#01000000000000000200000000000000 12'doc' 16{1'k' 2'v'}} 10{2:1 9#0000803f} "
             "20:9}"),
        NODE("5{1's' 22{1{1:1 2:1 9#0000803f} 2{1:1 2:7 9#0300000000000000} 3:2 3:3} 20:11}"),
        NODE("5{1's' 14{1{1:8 2{1{1:2} 1{2'N'} 1{}}}} 20:13} 5{1't' 15{4{1{1{1:1}}}} 15{9{1{5{1:7 2{1{1:1 2{}}}}}}} 15{8{1:1}} "
             "15{7{1'd' 2'n'}} 20:14}"),
        NODE("5{1's' 14{1{1:8 2{1{2'a,b'} 1{2'?'} 1{2'-5'} 1{2'N' 3'D'}}}} 20:13} 5{1't' 15{4{1{}}} 15{7{1'd,' 2'n)'}} "
             "15{4{1{1{1:1} 6'I'}}} 20:14}"),
        MODEL("1{1'x' 2'y' 4'Op'} 11{1'x' 2{1{1:8 2{1{2'a]b'}}} 6'I'}} 12{1'y' 2{1{1:99 2{1{2'7'}}}}}"),
        /* graphs, captures, and the order of attributes, which the order of the captures follows */
        MODEL("1{1'x' 2'y' 4'If' 5{1'then_branch' 6{1{1'w' 2'r' 4'Op'} 12{1'r'}} 20:5} "
              "5{1'else_branch' 6{1{1'x' 2'r' 4'Op'} 12{1'r'}} 20:5}} 5{2:1 8'w' 9#0000803f} " FLOAT_X " " FLOAT_Y),
        NODE("5{1'gs' 11{2'a'} 11{2'b'} 20:10}"),
        /* constants: declared as inputs, texts, elements that XIR does not have, unused ones, sparse ones */
        MODEL("1{1'v' 1'w' 2'y' 4'Op'} 5{1:2 2:1 8'w' 9#0000803f00000040 12'doc'} 5{1:2 2:8 6'a' 6'' 8'v'} "
              "11{1'w' 2{1{1:1 2{1{1:2}}}}} " FLOAT_X " 11{1'v' 2{1{1:8 2{1{1:2}}}}} " FLOAT_Y),
        MODEL("1{1'a' 1'b' 1'c' 2'y' 4'Op'} 5{1:1 2:17 8'a' 9#05} 5{1:1 2:14 8'b' 9#0000000000000000} "
              "5{1:0 2:1 8'c'} 5{2:1 8'unused' 9#0000803f} 11{1'unused' 2{1{1:1 2{}}}} " FLOAT_X " " FLOAT_Y),
        MODEL("1{1's' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y
              " 15{1{1:2 2:1 8's' 9#0000803f00000040} 2{1:2 2:7 9#01000000000000000400000000000000} 3:2 3:3}"),
        /* an unused initializer whose name a node or another one defines, too */
        MODEL("1{1'x' 2'u' 4'Op'} 5{2:1 8'u' 9#0000803f} " FLOAT_X " 12{1'x' 2{1{1:1 2{}}}}"),
        MODEL("1{1'w' 2'y' 4'Op'} 5{2:1 8'w' 9#0000803f} 5{2:1 8'w' 9#00000040} " FLOAT_X " " FLOAT_Y),
        /* values */
        MODEL("1{1'x' 2'u' 4'Op'} 1{1'u' 2'y' 4'Op'} 11{1'x' 2{1{1:1 2{1{2'N'} 1{1:3 3'C'} 1{} 1{2'N + 1'}}} 6'IMAGE'} 3'doc' "
              "4{1'k' 2'v'}} 12{1'y' 2{4{1{1{1:1}}}}} 13{1'u' 2{1{1:10 2{1{2'M'} 1{} 1{1:-5}}}} 3'doc'} "
              "13{1'who' 2{1{1:1}}} 14{1'u' 2{1'SCALE_TENSOR' 2's'}} 14{1'who' 2{1'SCALE_TENSOR' 2's'}}"),
        MODEL("11{1'x' 2{1{1:1 2{1{} 1{2'batch-size'} 1{}}}}} 12{1'x' 2{1{1:1 2{1{} 1{2'batch-size'} 1{}}}}}"),
        /* symbols with intervals, and dims of other values that are expressions */
        "1:8 7{1{1'x' 2'y' 4'Op'} 11{1'x' 2{1{1:1 2{1{2'n'} 1{2'm'}}}}} 12{1'y' 2{1{1:1 2{1{2'n + 2*m'}}}}}} 8{2:17} "
        "14{1'a' 2'b'} 14{1'xir.symbols' 2'1..8 n\n0..2147483647 m'}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        xir_network *net = model_of(texts[i]);
        must_be_text(net, texts[i]);
        round_memory file = { 0 };
        DOES(xir_network_write(net, round_keep, &file, &XIR_INIT(xir_save_options, .format = "onnx", .unchecked = true),
                               why));
        xir_network *again = read_bytes(file.data, file.size);
        if (!xir_network_equal(net, again, true)) fail_msg("%s: it does not come back", texts[i]);
        free(file.data);
        xir_network_free(again);
        round_all(net, texts[i]);
        xir_network_free(net);
    }
}

/* ---- other files ----------------------------------------------------------------------------------------------- */

/* The file of a model that says the same in another form. */
static void other_forms(void **state) {
    static const struct { const char *text, *written; } rows[] = {
        /* elements that are not raw, texts that are empty, packed numbers */
        { MODEL("1{1'w' 2'y' 4'Op' 3'' 5{1'a' 8#0102 20:7}} 5{1#02 2:7 7:1 7:2 8'w'} " FLOAT_X " " FLOAT_Y),
          MODEL("1{1'w' 2'y' 4'Op' 5{1'a' 8:1 8:2 20:7}} 5{1:2 2:7 8'w' 9#01000000000000000200000000000000} " FLOAT_X " "
                FLOAT_Y) },
        /* attributes without a type, and not in the order of their names */
        { NODE("5{1'b' 3:1} 5{1'a' 2=1}"), NODE("5{1'a' 2=1 20:1} 5{1'b' 3:1 20:2}") },
        /* the other name of the default domain; absent inputs at the end; unknown fields */
        { "1:8 7{1{1'x' 1'' 2'y' 4'Op' 7'ai.onnx' 100:1} " FLOAT_X " " FLOAT_Y "} 8{1'ai.onnx' 2:17}",
          MODEL("1{1'x' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y) },
        /* entries of the same key, and two versions of a domain: the last ones count */
        { "1:8 7{1{1'x' 2'y' 4'Op' 9{1'k' 2'1'} 9{1'k' 2'2'}} 2'g' " FLOAT_X " " FLOAT_Y " 14{1'y' 2{1'S' 2'a'} 2{1'S' 2'b'}}} "
          "8{2:16} 8{2:17} 14{1'k' 2'1'} 14{1'a' 2'2'} 14{1'k' 2'3'}",
          "1:8 7{1{1'x' 2'y' 4'Op' 9{1'k' 2'2'}} 2'g' " FLOAT_X " " FLOAT_Y " 14{1'y' 2{1'S' 2'b'}}} "
          "8{2:17} 14{1'a' 2'2'} 14{1'k' 2'3'}" },
        /* indices of each dim, and zeros among the elements */
        { MODEL("1{1's' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y
                " 15{1{1:2 2:2 8's' 9#0500} 2{1:2 1:2 2:7 7:1 7:1 7:0 7:2} 3:2 3:3}"),
          MODEL("1{1's' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y
                " 15{1{1:1 2:2 8's' 9#05} 2{1:1 2:7 9#0400000000000000} 3:2 3:3}") },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = model_of(rows[i].text);
        must_be_text(net, rows[i].written);
        xir_network_free(net);
    }
}

static void one_of_everything(void **state) {
    om_bytes all = onnx_everything();
    (void)state;
    xir_network *net = read_bytes(all.data, all.size);
    round_one(net, "onnx", "everything");
    xir_network_free(net);
    om_bytes_free(&all);
}

/* ---- networks of other origin ---------------------------------------------------------------------------------- */

/* Names that are missing or taken are made; a value that an expression gives dims is declared with them. */
static void names_are_made(void **state) {
    (void)state;
    xir_network *net = model_of(MODEL("1{1'x' 2'u' 4'Op'} 1{1'u' 2'v' 4'Op'} 1{1'v' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y));
    DOES(xir_value_set_name(xir_op_output(xir_network_op_at(net, 1), 0), XIR_STR("")));
    DOES(xir_value_set_name(xir_op_output(xir_network_op_at(net, 2), 0), XIR_STR("x")));
    must_be_text(net, MODEL("1{1'x' 2'xir_0' 4'Op'} 1{1'xir_0' 2'xir_1' 4'Op'} 1{1'xir_1' 2'y' 4'Op'} " FLOAT_X " "
                            FLOAT_Y));
    xir_network_free(net);
}

/* "ai.onnx" is another name of the default domain, which comes first. */
static void the_default_domain_has_one_name(void **state) {
    (void)state;
    xir_network *net = model_of(MODEL("1{1'x' 2'y' 4'Op'} " FLOAT_X " " FLOAT_Y));
    const xir_entry sets[] = { { XIR_STR("a"), xir_any_int(1) }, { XIR_STR("ai.onnx"), xir_any_int(13) } };
    const xir_any opset = xir_any_map(sets, 2);
    const xir_type *type = FP32("", 1);
    xir_value *x = xir_op_output(xir_network_op_at(net, 0), 0);
    DOES(xir_network_set_tag(net, XIR_STR("onnx.opset"), &opset));
    const xir_class *cls = xir_class_opaque(ctx, XIR_STR("onnx::ai.onnx.Abs"));
    const xir_op_desc abs = XIR_INIT(xir_op_desc, .cls = cls, .inputs = &x, .n_inputs = 1, .types = &type,
                                     .n_types = 0, .id = XIR_NO_ID, .before = xir_network_last(net));
    assert_non_null(xir_network_add(net, &abs));
    must_be_text(net, "1:8 7{1{1'x' 2'y' 4'Op'} 1{1'x' 4'Abs'} " FLOAT_X " " FLOAT_Y "} 8{2:13} 8{1'a' 2:1}");
    xir_network_free(net);
}

static void versions_without_tags(void **state) {
    static const struct { const char *version, *written; } rows[] = {
        { "opset13", "1:7 7{} 8{2:13}" }, { "opset21", "1:10 7{} 8{2:21}" }, { "opset8", "1:3 7{} 8{2:8}" },
        { "", "7{}" }, { "1.12", "7{}" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = model_of("7{}");
        DOES(xir_network_set_text(net, XIR_TEXT_FRAMEWORK_VERSION, xir_str_of(rows[i].version)));
        must_be_text(net, rows[i].written);
        xir_network_free(net);
    }
}

/* ---- what ONNX cannot hold ------------------------------------------------------------------------------------- */

static xir_op *node_of(xir_network *net) { return xir_network_op_at(net, 1); }
static xir_value *x_of(xir_network *net) { return xir_op_output(xir_network_op_at(net, 0), 0); }
static xir_value *y_of(xir_network *net) { return xir_op_output(node_of(net), 0); }

static xir_status name_value(xir_network *net) { return xir_value_set_name(y_of(net), (xir_str){ "a\0b", 3 }); }
static xir_status name_op(xir_network *net)    { return xir_op_set_name(node_of(net), (xir_str){ "a\0b", 3 }); }
static xir_status name_net(xir_network *net) {
    return xir_network_set_text(net, XIR_TEXT_NAME, (xir_str){ "\0b", 2 });
}
static xir_status name_no_text(xir_network *net) { return xir_value_set_name(y_of(net), XIR_STR("a\xff")); }
static xir_status untype_input(xir_network *net) {
    x_of(net)->type = NULL;
    return XIR_OK;
}
static xir_status untype_output(xir_network *net) {
    y_of(net)->type = NULL;
    return XIR_OK;
}
static xir_status type_output(xir_network *net) {
    return xir_value_set_type(y_of(net), XIR_TENSOR(ctx, xir_type_sint(ctx, 3), "*", 2));
}
static xir_status tile_output(xir_network *net) { return xir_value_set_type(y_of(net), FP32("Cc4", 2, 4)); }
static xir_status make_cycle(xir_network *net) {
    use_unlink(&op_inputs(node_of(net))[0]);
    use_link(&op_inputs(node_of(net))[0], node_of(net), y_of(net));
    return XIR_OK;
}
static xir_status set(xir_network *net, xir_any value) {
    return xir_op_set_extra(node_of(net), XIR_STR("a"), &value);
}
static xir_status large_real(xir_network *net) { return set(net, xir_any_real(1e300)); }
static xir_status large_integer(xir_network *net) {
    return set(net, (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX });
}
static xir_status mixed_list(xir_network *net) {
    const xir_any items[] = { xir_any_int(1), xir_any_text(XIR_STR("a")) };
    return set(net, xir_any_list(items, 2));
}
static xir_status no_bytes(xir_network *net) {
    xir_value *w = xir_params_new(net, XIR_STR("w"), FP32("*", 2));
    return set(net, (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = w });
}
static xir_status wrong_kind(xir_network *net) {
    const xir_entry entry = { XIR_STR("a"), xir_any_int(1) };
    const xir_any kinds = xir_any_map(&entry, 1);
    xir_value *w = xir_params_new_untyped(net, XIR_STR("w"));
    const xir_status status = set(net, (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = w });
    return status ? status : xir_op_set_tag(node_of(net), XIR_STR("onnx.attribute_kinds"), &kinds);
}
static xir_status wrong_tag(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("seq(tensor(float)"));
    untype_output(net);
    return xir_value_set_tag(y_of(net), XIR_STR("onnx.type"), &text);
}
static xir_status wrong_base64(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("abc=d")), list = xir_any_list(&text, 1);
    return xir_network_set_tag(net, XIR_STR("onnx.functions"), &list);
}
static xir_status rename_captured(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("w")), list = xir_any_list(&text, 1);
    return xir_op_set_tag(node_of(net), XIR_STR("source.captures"), &list);
}

static xir_status tag_op_type(xir_network *net, const char *text) {
    const xir_any tag = xir_any_text(xir_str_of(text));
    return xir_op_set_tag(node_of(net), XIR_STR("onnx.op_type"), &tag);
}
static xir_status reference_to(xir_network *net, xir_str name) {
    const xir_entry to = { XIR_STR("onnx.ref"), xir_any_text(name) };
    return set(net, xir_any_map(&to, 1));
}
static xir_status no_reference(xir_network *net)   { return reference_to(net, XIR_STR("")); }
static xir_status odd_reference(xir_network *net)  { return reference_to(net, XIR_STR("\xff")); }
static xir_status same_attribute(xir_network *net) {
    const xir_any other = xir_any_int(2);
    const xir_status status = set(net, xir_any_int(1));
    return status ? status : xir_op_set_extra(node_of(net), XIR_STR("onnx.a"), &other);
}
static xir_status odd_attribute(xir_network *net) {
    const xir_any any = xir_any_int(1);
    return xir_op_set_extra(node_of(net), XIR_STR("a\xff"), &any);
}
static xir_status odd_tensor(xir_network *net) {
    const float one = 1;
    xir_value *w = xir_params_copy(net, XIR_STR("w\xff"), FP32("*", 1), &one, sizeof one);
    return set(net, (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = w });
}
static xir_status odd_doc(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("\xff"));
    return xir_op_set_tag(node_of(net), XIR_STR("onnx.doc_string"), &text);
}
static xir_status odd_entry(xir_network *net) {
    const xir_entry entry = { XIR_STR("k"), xir_any_text(XIR_STR("\xff")) };
    const xir_any map = xir_any_map(&entry, 1);
    return xir_network_set_tag(net, XIR_STR("onnx.metadata"), &map);
}

/* Messages in base64 that end within a field: the byte 0x0a. */
static xir_status half_graph(xir_network *net) {
    xir_value *bytes = xir_params_copy(net, XIR_STR(""), XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", 1), "\x0a", 1);
    const xir_entry graph = { XIR_STR("onnx.graph"), { .kind = XIR_ANY_PARAMS, .as.params = bytes } };
    return set(net, xir_any_map(&graph, 1));
}
static xir_status half_unused(xir_network *net) {
    const xir_entry tensor = { XIR_STR("tensor"), xir_any_text(XIR_STR("Cg==")) };
    const xir_any map = xir_any_map(&tensor, 1), list = xir_any_list(&map, 1);
    return xir_network_set_tag(net, XIR_STR("onnx.unused"), &list);
}
static xir_status half_info(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("Cg==")), list = xir_any_list(&text, 1);
    return xir_network_set_tag(net, XIR_STR("onnx.value_info"), &list);
}
static xir_status half_annotation(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("Cg==")), list = xir_any_list(&text, 1);
    return xir_network_set_tag(net, XIR_STR("onnx.quantization_annotation"), &list);
}
static xir_status half_type(xir_network *net) {
    const xir_any text = xir_any_text(XIR_STR("Cg==")), type = xir_any_text(XIR_STR("seq(tensor(float))"));
    untype_output(net);
    const xir_status status = xir_value_set_tag(y_of(net), XIR_STR("onnx.type"), &type);
    return status ? status : xir_value_set_tag(y_of(net), XIR_STR("onnx.type_proto"), &text);
}
static xir_status half_op_type(xir_network *net)  { return tag_op_type(net, "p"); }
static xir_status other_op_type(xir_network *net) { return tag_op_type(net, "Oq"); }
static xir_status long_op_type(xir_network *net)  { return tag_op_type(net, "a.Op"); }

static void networks_that_onnx_cannot_hold(void **state) {
    static const struct { xir_status (*change)(xir_network *net); xir_status status; const char *sentence; } rows[] = {
        { name_value,    XIR_E_INVALID,     "op 1 'n': the name 'a' of a value has a zero byte" },
        { name_op,       XIR_E_INVALID,     "the name 'a' of the op has a zero byte" },
        { name_net,      XIR_E_INVALID,     "the name '' of the network has a zero byte" },
        { name_no_text,  XIR_E_INVALID,     "op 1 'n': the name of a value is not UTF-8" },
        { untype_input,  XIR_E_TYPE,        "op 0 '': the input 'x' has no type, and ONNX needs one: set it" },
        { untype_output, XIR_E_TYPE,        "op 2 '': the output 'y' has no type, and ONNX needs one: set it, or convert" },
        { type_output,   XIR_E_UNSUPPORTED, "the output 'y' has a type that ONNX does not have" },
        { tile_output,   XIR_E_UNSUPPORTED, "the output 'y' has a type that ONNX does not have" },
        { make_cycle,    XIR_E_INVALID,     "op 1 'n': it needs its own results, or an op that does" },
        { large_real,    XIR_E_UNSUPPORTED, "op 1 'n': its attribute a is too large for a float" },
        { large_integer, XIR_E_UNSUPPORTED, "op 1 'n': its attribute a is of a kind that ONNX does not have" },
        { mixed_list,    XIR_E_UNSUPPORTED, "op 1 'n': its attribute a is of a kind that ONNX does not have" },
        { wrong_kind,    XIR_E_UNSUPPORTED, "op 1 'n': its attribute a is kept as Params of another type" },
        { no_bytes,      XIR_E_MISSING,     "op 1 'n': the constant 'w' has no bytes, and ONNX has them inside" },
        { wrong_tag,     XIR_E_SYNTAX,      "the tag onnx.type says 'seq(tensor(float)', which is not a type of ONNX" },
        { wrong_base64,  XIR_E_SYNTAX,      "item 0 of the tag onnx.functions is not in base64" },
        { half_op_type,  XIR_E_INVALID,     "op 1 'n': the tag onnx.op_type says 'p', but its class is 'onnx::Op'" },
        { other_op_type, XIR_E_INVALID,     "the tag onnx.op_type says 'Oq', but its class is 'onnx::Op'" },
        { long_op_type,  XIR_E_INVALID,     "the tag onnx.op_type says 'a.Op', but its class is 'onnx::Op'" },
        { no_reference,   XIR_E_UNSUPPORTED, "op 1 'n': its attribute a is a reference without a name" },
        { odd_reference,  XIR_E_INVALID,     "op 1 'n': the name of a reference is not UTF-8" },
        { same_attribute, XIR_E_UNSUPPORTED, "op 1 'n': its attribute onnx.a has the name of another one" },
        { odd_attribute,  XIR_E_INVALID,     "op 1 'n': the name of an attribute is not UTF-8" },
        { odd_tensor,     XIR_E_INVALID,     "op 1 'n': the name of a tensor in an attribute is not UTF-8" },
        { odd_doc,        XIR_E_INVALID,     "op 1 'n': the tag onnx.doc_string is not UTF-8" },
        { odd_entry,      XIR_E_INVALID,     "a text of the tag onnx.metadata is not UTF-8" },
        { half_graph,      XIR_E_SYNTAX,      "op 1 'n': a graph in an attribute is not a message of its kind" },
        { half_unused,     XIR_E_SYNTAX,      "an item of the tag onnx.unused is not a message of its kind" },
        { half_info,       XIR_E_SYNTAX,      "item 0 of the tag onnx.value_info is not a message of its kind" },
        { half_annotation, XIR_E_SYNTAX,      "item 0 of the tag onnx.quantization_annotation is not a message of" },
        { half_type,       XIR_E_SYNTAX,      "the tag onnx.type_proto is not a message of its kind" },
        { rename_captured, XIR_E_UNSUPPORTED, "input 0 has the name 'x', but the graph that takes it calls it 'w'" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_network *net = model_of(MODEL("1{1'x' 2'y' 3'n' 4'Op'} " FLOAT_X " " FLOAT_Y));
        scratch_put(scratch("no.onnx"), "old", 3);
        DOES(rows[i].change(net));
        FAILS_TO_SAVE(xir_network_save(net, scratch("no.onnx"), &XIR_INIT(xir_save_options, .unchecked = true), why),
                      rows[i].status, rows[i].sentence);
        size_t size;
        uint8_t *old = scratch_get(scratch("no.onnx"), &size);
        assert_int_equal(size, 3);
        assert_memory_equal(old, "old", 3);
        free(old);
        xir_network_free(net);
    }
}

static void ops_of_other_dialects(void **state) {
    (void)state;
    xir_network *net = small_net();
    FAILS_TO_SAVE(xir_network_save(net, scratch("other.onnx"), NULL, why), XIR_E_UNSUPPORTED,
                  "xir opt converts those that it can, with to-xir and xir-to-onnx");
    assert_int_equal(access(scratch("other.onnx"), F_OK), -1);
    xir_network_free(net);
}

/* ---- elements in a file of their own --------------------------------------------------------------------------- */

static xir_network *large_net(void) {
    om m = om_begin("large");
    static float weights[2000];
    for (size_t i = 0; i < COUNT(weights); i++) weights[i] = (float)i;
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2));
    om_floats(&m, "a", OM_DIMS(2000), weights, 2000);
    om_floats(&m, "few", OM_DIMS(2), weights, 2);
    om_floats(&m, "b", OM_DIMS(256), weights + 7, 256);
    om_node(&m, "Op", "n", "x,a,few,b", "y");
    om_bytes part = om_tensor("t", ONNX_FLOAT, OM_DIMS(1000), weights, 4000);
    om_tensor_attr(&m, "value", &part);
    om_output(&m, "y", ONNX_FLOAT, OM_DIMS(2));
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = read_bytes(bytes, size);
    om_free(&m);
    return net;
}

static size_t size_of(const char *path) {
    size_t size;
    free(scratch_get(path, &size));
    return size;
}

static void large_constants_have_a_file(void **state) {
    (void)state;
    xir_network *net = large_net();
    DOES(xir_network_save(net, scratch("l.onnx"), &XIR_INIT(xir_save_options, .flags = XIR_SAVE_EXTERNAL), why));
    assert_int_equal(size_of(scratch("l.onnx.data")), 8192 + 256 * 4);   /* each begins at a multiple of 4096 */
    assert_true(size_of(scratch("l.onnx")) < 4000 + 600);                /* the attribute is inside           */
    for (int lazy = 0; lazy < 2; lazy++) {
        xir_network *again = xir_network_load(ctx, scratch("l.onnx"), &XIR_INIT(xir_load_options, .lazy = lazy), why);
        assert_non_null(again);
        assert_true(xir_network_equal(net, again, true));
        /* Onto itself, while it is mapped too. */
        DOES(xir_network_save(again, scratch("l.onnx"), &XIR_INIT(xir_save_options, .flags = XIR_SAVE_EXTERNAL), why));
        assert_int_equal(size_of(scratch("l.onnx.data")), 8192 + 256 * 4);
        round_one(again, "onnx", "inside, where there is one file");
        xir_network_free(again);
    }
    xir_network_free(net);
}

static void names_of_that_file(void **state) {
    (void)state;
    xir_network *net = large_net();
    DOES(xir_network_save(net, scratch("m.onnx"), &XIR_INIT(xir_save_options, .params = scratch("w.bin")), why));
    xir_network *again = xir_network_load(ctx, scratch("m.onnx"), NULL, why);
    assert_non_null(again);
    xir_network_free(again);
    FAILS_TO_SAVE(xir_network_save(net, scratch("m.onnx"), &XIR_INIT(xir_save_options, .params = "/tmp/xir-elsewhere"),
                                   why), XIR_E_INVALID, "is not in the folder of the model");
    assert_int_equal(access("/tmp/xir-elsewhere", F_OK), -1);
    round_memory file = { 0 };
    FAILS_TO_SAVE(xir_network_write(net, round_keep, &file, &XIR_INIT(xir_save_options, .format = "onnx",
                                                                      .flags = XIR_SAVE_EXTERNAL), why),
                  XIR_E_INVALID, "a file of parameters is requested");
    FAILS_TO_SAVE(xir_network_save(net, scratch("m.fb"), &XIR_INIT(xir_save_options, .flags = XIR_SAVE_EXTERNAL), why),
                  XIR_E_INVALID, "cannot have its parameters in a file that it names");
    xir_network_free(net);
}

/* ---- 2 GiB ----------------------------------------------------------------------------------------------------- */

static bool count_bytes(void *user, const void *data, size_t size) {
    (void)data;
    *(uint64_t *)user += size;
    return true;
}

/* Borrowed bytes that nobody touches: only a mapping of zeros. */
static void above_2_gib(void **state) {
    const size_t size = (size_t)3 << 30;
    (void)state;
    void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return;
    xir_network *net = large_net();
    const xir_type *type = XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", (int64_t)size);
    xir_value *w = xir_params_borrow(net, XIR_STR("huge"), type, zeros, size, NULL, NULL);
    DOES(xir_op_set_input(node_of(net), 1, w));
    uint64_t n = 0;
    FAILS_TO_SAVE(xir_network_write(net, count_bytes, &n, &XIR_INIT(xir_save_options, .format = "onnx"), why),
                  XIR_E_LIMIT, "and a message of ONNX less than 2^31: its constants need a file next to it");
    assert_int_equal(n, 0);
    xir_network_free(net);
    munmap(zeros, size);
}

/* Graphs cannot be in a file of their own. */
static void graphs_of_2_gib(void **state) {
    const size_t size = (size_t)3 << 30;
    (void)state;
    void *zeros = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return;
    xir_network *net = large_net();
    const xir_type *type = XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", (int64_t)size);
    xir_value *bytes = xir_params_borrow(net, XIR_STR(""), type, zeros, size, NULL, NULL);
    const xir_entry entry = { XIR_STR("onnx.graph"), { .kind = XIR_ANY_PARAMS, .as.params = bytes } };
    DOES(set(net, xir_any_map(&entry, 1)));
    scratch_put(scratch("huge.onnx"), "old", 3);
    FAILS_TO_SAVE(xir_network_save(net, scratch("huge.onnx"), NULL, why), XIR_E_LIMIT,
                  "and a message of ONNX less than 2^31");
    assert_int_equal(size_of(scratch("huge.onnx")), 3);
    assert_int_equal(access(scratch("huge.onnx.data"), F_OK), -1);
    xir_network_free(net);
    munmap(zeros, size);
}

/* ---- writers that stop ----------------------------------------------------------------------------------------- */

static bool stop_later(void *user, const void *data, size_t size) {
    (void)data;
    (void)size;
    return (*(size_t *)user)-- > 0;
}

/* Large elements are passed on by themselves, so that there are several calls. */
static void a_writer_that_stops(void **state) {
    static const uint8_t zeros[300000];
    (void)state;
    xir_network *net = large_net();
    xir_value *w = xir_params_borrow(net, XIR_STR("huge"), XIR_TENSOR(ctx, xir_type_uint(ctx, 8), "*", sizeof zeros),
                                     zeros, sizeof zeros, NULL, NULL);
    DOES(xir_op_set_input(node_of(net), 1, w));
    xir_status status = XIR_E_IO;
    size_t calls = 0;
    for (; status; calls++) {
        size_t left = calls;
        status = xir_network_write(net, stop_later, &left, &XIR_INIT(xir_save_options, .format = "onnx"), why);
        assert_true(status == XIR_OK || status == XIR_E_IO);
        assert_int_equal(xir_diags_count(why), status != XIR_OK);
        xir_diags_clear(why);
    }
    assert_int_equal(calls, 4);   /* what precedes the elements, the elements, what follows them */
    xir_network_free(net);
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_come_back_byte_for_byte),
        cmocka_unit_test(other_forms),
        cmocka_unit_test(one_of_everything),
        cmocka_unit_test(names_are_made),
        cmocka_unit_test(the_default_domain_has_one_name),
        cmocka_unit_test(versions_without_tags),
        cmocka_unit_test(networks_that_onnx_cannot_hold),
        cmocka_unit_test(ops_of_other_dialects),
        cmocka_unit_test(large_constants_have_a_file),
        cmocka_unit_test(names_of_that_file),
        cmocka_unit_test(above_2_gib),
        cmocka_unit_test(graphs_of_2_gib),
        cmocka_unit_test(a_writer_that_stops),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
