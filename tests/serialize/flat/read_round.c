/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network written as FlatBuffers and read again is unchanged: its JSON and its raw file are the same bytes. A file
 * that is truncated or changed anywhere is refused with one finding, or is a network for which the same holds. */
#include "support/probe.h"
#include <xir/icraft.h>
#include "support/alike_net.h"
#include "support/flat_make.h"
#include "support/invariants.h"
#include "support/json_net.h"
#include "support/often.h"

static bool write_paper(void *user, const void *data, size_t size) {
    put_bytes(user, data, size);
    return true;
}

static paper write_flat(xir_network *net) {
    paper p = { 0 };
    xir_diags_clear(why);
    xir_status status =
        format_flat.write(net, &(format_writing){ .path = "", .write = write_paper, .user = &p, .why = why });
    if (status) show_findings();
    assert_int_equal(status, XIR_OK);
    return p;
}

/* Reads the bytes, prints JSON and raw, and writes them again. */
static void check_again(xir_network *net) {
    paper file = write_flat(net), raw = { 0 }, again = { 0 };
    xir_text_buffer before, after;
    assert_int_equal(xir_flat_verify(ctx, file.data, file.size, XIR_STR("again.fb"), why), XIR_OK);
    assert_int_equal(probe_head(&format_flat, file.data, file.size), XIR_PROBE_LIKELY);
    xir_network *read = flat_read_bytes(ctx, file.data, file.size, why);
    if (!read) show_findings();
    assert_non_null(read);
    const char *broken = broken_invariant(read, ASK_ALL);
    if (broken) fail_msg("%s", broken);
    paper twice = write_flat(read);
    check_same(twice.data, twice.size, file.data, file.size);
    assert_int_equal(xir_json_print(net, 0, &before), XIR_OK);
    assert_int_equal(xir_json_print(read, 0, &after), XIR_OK);
    check_same(after.data, after.size, before.data, before.size);
    if (xir_raw_write(net, write_paper, &raw, NULL) == XIR_OK) {
        assert_int_equal(xir_raw_write(read, write_paper, &again, why), XIR_OK);
        check_same(again.data, again.size, raw.data, raw.size);
    }
    free(file.data);
    free(raw.data);
    free(again.data);
    free(twice.data);
    xir_text_free(&before);
    xir_text_free(&after);
    xir_network_free(read);
}

static bool has_size(void *user, xir_value *v) {
    uint64_t size;
    (void)user;
    return params_size(v, &size) == XIR_OK && size < 100000;
}

/* Gives Params the bytes that their types take; those that may lack bytes sometimes get none. */
static bool give_bytes(void *user, xir_value *v) {
    uint64_t size;
    (void)user;
    if (params_size(v, &size) != XIR_OK || (value_params(v)->allow_no_data && chance(2))) return true;
    uint8_t *bytes = malloc(size ? size : 1);
    for (uint64_t i = 0; i < size; i++) bytes[i] = (uint8_t)chance(256);
    assert_int_equal(xir_params_set_copy(v, bytes, size), XIR_OK);
    free(bytes);
    return true;
}

static void random_networks_come_back(void **state) {
    (void)state;
    int with_bytes = 0;
    for (int i = 0; i < OFTEN(400); i++) {
        paper p = random_network(12);
        xir_network *net = must_read(p.data, p.size);
        check_again(net);
        if (net_walk_params(net, has_size, NULL)) {
            with_bytes++;
            net_walk_params(net, give_bytes, NULL);
            check_again(net);
        }
        xir_network_free(net);
        free(p.data);
    }
    assert_true(with_bytes > OFTEN(400) / 20);
}

/* A table that is like an earlier one is written as a copy of it. */
static void ops_like_earlier_ones_come_back(void **state) {
    (void)state;
    xir_network *net = alike_net(2000);
    check_again(net);
    xir_network_free(net);
}

static void check_survives(const void *data, size_t size) {
    xir_diags_clear(why);
    xir_status status = xir_flat_verify(ctx, data, size, XIR_STR("x.fb"), why);
    size_t found = xir_diags_count(why);
    assert_int_equal(found, status != XIR_OK);
    xir_network *net = flat_read_bytes(ctx, data, size, why);
    assert_true(!status || !net);
    assert_int_equal(xir_diags_count(why), status ? 2 : !net);
    xir_diags_clear(why);
    if (!net) return;
    xir_text_buffer text;
    status = xir_json_print(net, 0, &text);
    xir_text_free(&text);
    static unsigned turn;
    if (status == XIR_OK && turn++ % 4 == 0) check_again(net);   /* all would take minutes */
    xir_network_free(net);
}

/* Small networks that have one of everything, in a file that shares nothing and in one that does. */
static paper whole_file(int which) {
    static const char *const made[] = {
        "{'name':'n','icraft_xir_version':'3.33.1.0','tags':'{\\'a\\':1}','ai_target_type':'ZhugeTarget','ai_target':{'core':'330'},"
        "'ops_type':['Input','Conv2d','Unknown'],'ops':[{'outputs_type':['Value'],'outputs':[{'v_id':5,'dtype_type':'TensorType','dtype':{"
        "'element_dtype_type':'QuantizedType','element_dtype':{'scale_type':'ExpQuantizedScaleArray','scale':{'m':[3],'exp':[3],'origin_scale':[0.375],'axis':-1},"
        "'zero_points':[0],'storage_dtype_type':'IntegerType','storage_dtype':{'sign':true,'ibits':8},'expressed_dtype_type':'FloatType',"
        "'expressed_dtype':{'emax':127,'emin':-126,'precision':24,'fbits':32}},'shape':[1,2],'layout':{'axis_names_type':['AxisName','AxisUnit'],"
        "'axis_names':[{'name':'N'},{'unit':32,'name':'c'}]},'merged_distrs':[{'merged_axis':[1],'valid_mask':[1,0],'uvalue':'ZERO'}]},'mtype_type':'ChunkMem','mtype':{'chunk_id':1}}]},"
        "{'op_id':1,'name':'conv','padding_mode':'ZEROS','inputs_type':['Value','NONE','Params'],'inputs':['*v',null,{'v_id':7,'dtype_type':'IntegerType',"
        "'dtype':{'ibits':8},'_data':[255]}],'extra':'{\\'groups\\':null,\\'x\\':[]}'},"
        "{'op_id':2,'extra':'{\\'_type_key\\':\\'a::B\\',\\'p\\':{\\'_allow_no_data\\':true,\\'_type_key\\':\\'icraft::xir::Params\\',\\'dtype\\':\\'@bool\\',\\'v_id\\':9}}',"
        "'extra_params':[{'v_id':9,'_allow_no_data':true,'dtype_type':'BoolType','dtype':{}}]}],'params_table':[7],"
        "'&':{'v':{'=':'Value','v_id':5,'dtype_type':'TensorType','dtype':{'element_dtype_type':'QuantizedType','element_dtype':{'scale_type':'ExpQuantizedScaleArray',"
        "'scale':{'m':[3],'exp':[3],'origin_scale':[0.375],'axis':-1},'zero_points':[0],'storage_dtype_type':'IntegerType','storage_dtype':{'sign':true,'ibits':8},"
        "'expressed_dtype_type':'FloatType','expressed_dtype':{'emax':127,'emin':-126,'precision':24,'fbits':32}},'shape':[1,2],'layout':{'axis_names_type':['AxisName','AxisUnit'],"
        "'axis_names':[{'name':'N'},{'unit':32,'name':'c'}]},'merged_distrs':[{'merged_axis':[1],'valid_mask':[1,0],'uvalue':'ZERO'}]},'mtype_type':'ChunkMem','mtype':{'chunk_id':1}}}}",
        "{'icraft_xir_version':'3.30.0.0','ops_type':['HardOp','Add'],'ops':[{'instr':[{'v_id':1,'_data':[1],'dtype_type':'BoolType','dtype':{}}],'params':[],'origin_ops_id':[4],"
        "'device_info':'{\\'k\\':18446744073709551615}','sub_hard_ops':[{'op_id':2,'outputs_type':['Value'],'outputs':[{'v_id':3}]}]},"
        "{'op_id':5,'alpha_type':['FloatImm','IntImm','Bool'],'alpha':[{'value':1.5},{'value':2},{'value':true}],'inputs_type':['Value','Value'],"
        "'inputs':[{'v_id':3},{'v_id':3}]}]}",
    };
    flat_made m = flat_make(ctx, made[which % 2]);
    paper p = { 0 };
    put_bytes(&p, (const char *)m.data, m.size);
    flat_made_free(&m);
    xir_network *net = flat_read_bytes(ctx, p.data, p.size, why);
    if (!net) show_findings();
    assert_non_null(net);
    if (which >= 2) {
        free(p.data);
        p = write_flat(net);
    }
    check_again(net);
    xir_network_free(net);
    return p;
}
enum { WHOLE = 4 };

static void files_cut_anywhere_are_survived(void **state) {
    (void)state;
    for (int which = 0; which < WHOLE; which++) {
        paper p = whole_file(which);
        for (size_t n = 0; n < p.size; n += IS_SANITIZED ? 3 : 1) check_survives(p.data, n);
        free(p.data);
    }
}

static void files_changed_in_any_bit_are_survived(void **state) {
    (void)state;
    for (int which = 0; which < WHOLE; which++) {
        paper p = whole_file(which);
        /* In turn bits 0, 3, 6, 1, 4 …; under a sanitizer one bit of every fourth or fifth byte. */
        for (size_t bit = 0; bit < 8 * (p.size < 4000 ? p.size : 4000); bit += IS_SANITIZED ? 37 : 3) {
            p.data[bit / 8] = (char)(p.data[bit / 8] ^ 1 << bit % 8);
            check_survives(p.data, p.size);
            p.data[bit / 8] = (char)(p.data[bit / 8] ^ 1 << bit % 8);
        }
        free(p.data);
    }
}

/* Words become sizes, ids and offsets to other places; pieces move elsewhere. */
static void files_torn_anywhere_are_survived(void **state) {
    (void)state;
    for (int i = 0; i < OFTEN(4000); i++) {
        paper p = whole_file(i % WHOLE);
        for (uint64_t k = chance(3) + 1; k; k--) {
            size_t at = (size_t)chance(p.size / 4) * 4, from = (size_t)chance(p.size);
            uint32_t word = chance(2) ? (uint32_t)chance(p.size) & ~3u : (uint32_t)some_number();
            size_t n = (size_t)chance(40);
            if (n > p.size - from) n = p.size - from;
            if (n > p.size - at) n = p.size - at;
            if (chance(3)) memcpy(p.data + at, &word, 4);
            else memmove(p.data + at, p.data + from, n);
        }
        check_survives(p.data, p.size);
        free(p.data);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_networks_come_back),
        cmocka_unit_test(ops_like_earlier_ones_come_back),
        cmocka_unit_test(files_cut_anywhere_are_survived),
        cmocka_unit_test(files_changed_in_any_bit_are_survived),
        cmocka_unit_test(files_torn_anywhere_are_survived),
    };
    return RUN_GROUP(tests);
}
