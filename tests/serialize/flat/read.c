/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Reading FlatBuffers: the meaning of files made by hand, as the JSON that the network prints. */
#include <stdio.h>
#include "support/flat_make.h"

static void check_json(const char *fb, const char *expected, int line) {
    flat_made m = flat_make(ctx, fb);
    xir_diags_clear(why);
    xir_network *net = flat_read_bytes(ctx, m.data, m.size, why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: it was not read", line);
    }
    xir_text_buffer text;
    assert_int_equal(xir_json_print(net, 0, &text), XIR_OK);
    char *wanted = malloc(strlen(expected) + 1), *o = wanted;
    for (const char *p = expected; *p; p++) {
        if (*p == '\'') *o++ = '"';
        else *o++ = *p;
    }
    if (text.size != (size_t)(o - wanted) || memcmp(text.data, wanted, text.size) != 0) {
        fail_msg("line %d:\n found    %.*s\n expected %.*s", line, (int)text.size, text.data,
                 (int)(o - wanted), wanted);
    }
    free(wanted);
    xir_text_free(&text);
    xir_network_free(net);
    flat_made_free(&m);
}
#define CHECK_JSON(fb, expected) check_json(fb, expected, __LINE__)

/* The printed JSON of a network of these ops, which has no Params. */
#define HEAD   "{'_type_key':'icraft::xir::Network','ops':["
#define END    "],'params_bytes':0,'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}"
#define OP_END "'inputs':[],'name':'','op_id':0,'outputs':[],'tags':{}"
#define CHECK_OP(type, fields, members) \
    CHECK_JSON("{'ops_type':['" type "'],'ops':[{" fields "}]}", \
               HEAD "{'_type_key':'icraft::xir::" type "'," members "}" END)
/* A value of a type. */
#define CHECK_TYPE(type, fields, text) \
    CHECK_JSON("{'ops_type':['Input'],'ops':[{'outputs_type':['Value'],'outputs':[{'dtype_type':'" type "','dtype':{" fields "}}]}]}", \
               HEAD "{'_type_key':'icraft::xir::Input','compile_target':'@hostt','inputs':[],'name':'','op_id':0,'outputs':["  \
               "{'_type_key':'icraft::xir::Value','dtype':" text ",'mtype':'@hostm','name':'','tags':{},'v_id':0}],'tags':{}}" END)

static void a_network_has_what_its_table_has(void **state) {
    (void)state;
    CHECK_JSON("{}", HEAD END);
    CHECK_JSON("{'name':'','framework_kind':'ONNX','framework_version':'1.9','icraft_xir_version':'3.33.1.0','icraft_version':'v3.33.1',"
               "'params_bytes':0,'params_md5':'','tags':'{\\'b\\':[1,2.5,null],\\'a\\':{}}','ai_target_type':'ZhugeTarget','ai_target':{'core':'340'}}",
               "{'_type_key':'icraft::xir::Network','ai_target':'@zhuget(340)','framework_kind':'ONNX','framework_version':'1.9',"
               "'icraft_version':'v3.33.1','icraft_xir_version':'3.33.1.0','name':'','ops':[],'params_bytes':0,"
               "'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{'a':{},'b':[1,2.5,null]}}");
    CHECK_JSON("{'extra':'{\\'params_bytes\\':null,\\'zeta\\':1,\\'alpha\\':\\'x\\'}'}",
               "{'_type_key':'icraft::xir::Network','alpha':'x','ops':[],'tags':{},'zeta':1}");
    CHECK_JSON("{'extra':'{\\'ai_target\\':{\\'_type_key\\':\\'someone::Target\\',\\'x\\':1}}'}",
               "{'_type_key':'icraft::xir::Network','ai_target':{'_type_key':'someone::Target','x':1},'ops':[],'params_bytes':0,"
               "'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}");
    CHECK_JSON("{'extra':'{\\'ai_target\\':null}','tags':'null'}",
               "{'_type_key':'icraft::xir::Network','ai_target':null,'ops':[],'params_bytes':0,'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}");
    /* before 3.31 there was no ai_target, but this file has one */
    CHECK_JSON("{'icraft_xir_version':'3.6.2.82','ai_target_type':'BuyiTarget','ai_target':{}}",
               "{'_type_key':'icraft::xir::Network','ai_target':'@buyit','icraft_xir_version':'3.6.2.82','ops':[],'params_bytes':0,"
               "'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}");
    CHECK_JSON("{'icraft_xir_version':'3.6.2.82'}",
               "{'_type_key':'icraft::xir::Network','icraft_xir_version':'3.6.2.82','ops':[],'params_bytes':0,"
               "'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}");
}

static void an_absent_slot_is_zero_or_nothing(void **state) {
    (void)state;
    CHECK_OP("ReLU", "", "'alpha':0.0,'compile_target':'@hostt','inputs':[],'max_value':0.0,'name':'','op_id':0,'outputs':[],'tags':{},'threshold':0.0");
    CHECK_OP("Resize", "'tags':''", "'compile_target':'@hostt','dsize':[],'inputs':[],'interpolation':'INTER_LINEAR','name':'','op_id':0,'outputs':[],'tags':{}");
    CHECK_OP("Argmax", "'keepdim':true", "'compile_target':'@hostt','dim':null,'inputs':[],'keepdim':true,'name':'','op_id':0,'outputs':[],'tags':{}");
    CHECK_OP("Roll", "", "'compile_target':'@hostt','dims':null," "'inputs':[],'name':'','op_id':0,'outputs':[],'shifts':[],'tags':{}");
    CHECK_OP("Roll", "'dims':[],'shifts':[1,-2]", "'compile_target':'@hostt','dims':[]," "'inputs':[],'name':'','op_id':0,'outputs':[],'shifts':[1,-2],'tags':{}");
}

static void rows_have_their_slots(void **state) {
    (void)state;
    CHECK_OP("Conv2d", "'stride_width':1,'stride_height':2,'pad_top':3,'pad_bottom':4,'pad_left':5,'pad_right':-6,'dilation_width':7,'dilation_height':8,"
             "'groups':9223372036854775807,'padding_mode':'REFLECT','cut_scale_type':'QuantizedScaleArray','cut_scale':{'axis':-1,'origin_scale':[0.5,0.5,0.1]},"
             "'op_id':3,'name':'c','compile_target_type':'BuyiTarget','compile_target':{},'tags':'{\\'t\\':true}'",
             "'compile_target':'@buyit','cut_scale':'@scales([axis=-1]2*0.5,0.1)','dilation_height':8,'dilation_width':7,'groups':9223372036854775807,"
             "'inputs':[],'name':'c','op_id':3,'outputs':[],'pad_bottom':4,'pad_left':5,'pad_right':-6,'pad_top':3,'padding_mode':'REFLECT','stride_height':2,'stride_width':1,'tags':{'t':true}");
    CHECK_OP("Add", "'alpha_type':['FloatImm','IntImm','Bool'],'alpha':[{'value':0.1},{'value':-7},{'value':true}],'beta_type':[],'beta':[],"
             "'cut_scale_type':'ExpQuantizedScaleArray','cut_scale':{'m':[3,3],'exp':[3,3],'origin_scale':[0.375,0.375],'axis':1}",
             "'alpha':[0.10000000149011612,-7,true],'beta':[],'compile_target':'@hostt','cut_scale':'@exp_scales([axis=1]2*3/3/0.375)'," OP_END);
    CHECK_OP("Argmax", "'dim':{'value':-1,'dtype_type':'IntegerType','dtype':{'sign':true,'ibits':8}}",
             "'compile_target':'@hostt','dim':-1,'inputs':[],'keepdim':false,'name':'','op_id':0,'outputs':[],'tags':{}");
    CHECK_OP("AlignAxis", "'aligned_units':[{'index':[1,2],'unit':[32]},{}]",
             "'aligned_units':[{'_type_key':'icraft::xir::AlignedUnit','index':[1,2],'unit':[32]},{'_type_key':'icraft::xir::AlignedUnit','index':[],'unit':[]}],"
             "'compile_target':'@hostt'," OP_END);
    CHECK_OP("Einsum", "'equation':'ij,jk->ik'", "'compile_target':'@hostt','equation':'ij,jk->ik'," OP_END);
    CHECK_OP("Reshape", "'shape':[1,-1],'layout':{'axis_names_type':['AxisName','AxisName','AxisUnit'],'axis_names':[{'name':'N'},{'name':'*'},{'unit':32,'name':'c'}]}",
             "'compile_target':'@hostt','inputs':[],'layout':'@layout(N*c32)','name':'','op_id':0,'outputs':[],'shape':[1,-1],'tags':{}");
    CHECK_OP("Unknown", "'msg_info':'m','json_info':'{'", "'compile_target':'@hostt','inputs':[],'json_info':'{','msg_info':'m','name':'','op_id':0,'outputs':[],'tags':{}");
    CHECK_OP("HardOp", "'device_info':'{\\'a\\':4294972444}','layer_count':2,'origin_ops_id':[7],'sub_hard_ops':[{'op_id':1,'name':'s'}]",
             "'compile_target':'@hostt','device_info':{'a':4294972444},'inputs':[],'instr':[],'layer_count':2,'name':'','op_id':0,'origin_ops_id':[7],'outputs':[],'params':[],"
             "'sub_hard_ops':[{'_type_key':'icraft::xir::HardOp','compile_target':'@hostt','device_info':{},'inputs':[],'instr':[],'layer_count':0,'name':'s','op_id':1,"
             "'origin_ops_id':[],'outputs':[],'params':[],'sub_hard_ops':[],'tags':{}}],'tags':{}");
}

static void every_type_has_its_form(void **state) {
    (void)state;
    CHECK_TYPE("BoolType", "", "'@bool'");
    CHECK_TYPE("IntegerType", "'sign':true,'ibits':8", "'@sint(8)'");
    CHECK_TYPE("IntegerType", "'ibits':65536", "'@uint(65536)'");
    CHECK_TYPE("FloatType", "'emax':127,'emin':-126,'precision':24,'fbits':32", "'@fp(32)'");
    CHECK_TYPE("FloatType", "'emax':127,'emin':-126,'precision':8,'fbits':16", "'@bf(16)'");
    CHECK_TYPE("CalibratedType", "'min':[-0.0,-1e40],'max':[0.1],'storage_dtype_type':'BoolType','storage_dtype':{},'expressed_dtype_type':'BoolType','expressed_dtype':{}",
               "{'_type_key':'icraft::xir::CalibratedType','expressed_dtype':'@bool','max':[0.10000000149011612],'min':[-0.0,'-inf'],'sat':[],'storage_dtype':'@bool'}");
    CHECK_TYPE("NormalizedQuantizedType", "'normratio':{'axis':2,'data':[1.5]},'scale_type':'ExpQuantizedScaleArray','scale':{},'zero_points':[3],"
               "'storage_dtype_type':'BoolType','storage_dtype':{},'expressed_dtype_type':'IntegerType','expressed_dtype':{'ibits':4}",
               "{'_type_key':'icraft::xir::NormalizedQuantizedType','expressed_dtype':'@uint(4)','normratio':'@norm_ratios([axis=2]1.5)','scale':'@exp_scales([axis=0])',"
               "'storage_dtype':'@bool','zero_points':[3]}");
    CHECK_TYPE("TensorType", "'element_dtype_type':'BoolType','element_dtype':{},'shape':[1,2],'layout':{'axis_names_type':[],'axis_names':[]},"
               "'merged_distrs':[{'merged_axis':[1,4],'valid_mask':[1,1,0,7],'uvalue':'ZERO'},{'valid_mask':[0]},{'uvalue':'NONE'}]",
               "{'_type_key':'icraft::xir::TensorType','element_dtype':'@bool','layout':'@layout()','merged_distrs':['@merged_distr([1, 4]^ZERO:{v:[0, 2), u:[2, 3), v:[3, 4)})',"
               "'@merged_distr([]:{u:[0, 1)})','@merged_distr([]^NONE:{})'],'shape':[1,2]}");
}

static void undeclared_keys_and_rows_are_in_extra(void **state) {
    (void)state;
    CHECK_OP("ReLU", "'alpha':7,'threshold':3,'extra':'{\\'zeta\\':[1],\\'alpha\\':0.1,\\'threshold\\':null,\\'a\\':{}}'",
             "'a':{},'alpha':0.10000000149011612,'compile_target':'@hostt','inputs':[],'max_value':0.0,'name':'','op_id':0,'outputs':[],'tags':{},'zeta':[1]");
    CHECK_OP("Conv2d", "'extra':'{\\'cut_scale\\':\\'@scales([axis=-1]1000000000000*0.5)\\',\\'padding_mode\\':null,\\'compile_target\\':{\\'_type_key\\':\\'someone::Target\\'}}'",
             "'compile_target':{'_type_key':'someone::Target'},'cut_scale':'@scales([axis=-1]1000000000000*0.5)','dilation_height':0,'dilation_width':0,'groups':0,'inputs':[],"
             "'name':'','op_id':0,'outputs':[],'pad_bottom':0,'pad_left':0,'pad_right':0,'pad_top':0,'stride_height':0,'stride_width':0,'tags':{}");
    CHECK_TYPE("TensorType", "'element_dtype_type':'BoolType','element_dtype':{},'layout':{'axis_names_type':[],'axis_names':[]},'shape':[1],'extra':'{\\'merged_distrs\\':null,\\'more\\':1}'",
               "{'_type_key':'icraft::xir::TensorType','element_dtype':'@bool','layout':'@layout()','more':1,'shape':[1]}");
    CHECK_JSON("{'ops_type':['Input'],'ops':[{'outputs_type':['Value'],'outputs':[{'v_id':5,'name':'x','tags':'{}','mtype_type':'OnChipMem','mtype':{'addr':18446744073709551615},"
               "'extra':'{\\'dtype\\':{\\'_type_key\\':\\'someone::Type\\'},\\'zz\\':1.5}'}]}]}",
               HEAD "{'_type_key':'icraft::xir::Input','compile_target':'@hostt','inputs':[],'name':'','op_id':0,'outputs':[{'_type_key':'icraft::xir::Value',"
               "'dtype':{'_type_key':'someone::Type'},'mtype':'@ocm(18446744073709551615)','name':'x','tags':{},'v_id':5,'zz':1.5}],'tags':{}}" END);
    /* old files have doubles */
    CHECK_JSON("{'icraft_xir_version':'3.6.2.82','ops_type':['ReLU'],'ops':[{'extra':'{\\'alpha\\':0.1}','max_value':0.1}]}",
               "{'_type_key':'icraft::xir::Network','icraft_xir_version':'3.6.2.82','ops':[{'_type_key':'icraft::xir::ReLU','alpha':0.1,'compile_target':'@hostt','inputs':[],"
               "'max_value':0.10000000149011612,'name':'','op_id':0,'outputs':[],'tags':{},'threshold':0.0}],'params_bytes':0,'params_md5':'d41d8cd98f00b204e9800998ecf8427e','tags':{}}");
}

static void ops_of_unknown_classes_are_in_extra(void **state) {
    (void)state;
    CHECK_JSON("{'ops_type':['Unknown'],'ops':[{'name':'n','op_id':4,'extra':'{\\'_type_key\\':\\'someone::Op\\',\\'list\\':[1,null],\\'compile_target\\':{\\'_type_key\\':\\'someone::Target\\'}}'}]}",
               HEAD "{'_type_key':'someone::Op','compile_target':{'_type_key':'someone::Target'},'inputs':[],'list':[1,null],'name':'n','op_id':4,'outputs':[],'tags':{}}" END);
    /* a known class has its rows there; missing rows are absent */
    CHECK_JSON("{'ops_type':['Unknown'],'ops':[{'extra':'{\\'_type_key\\':\\'icraft::xir::Argmax\\',\\'dim\\':null,\\'x\\':2}'}]}",
               HEAD "{'_type_key':'icraft::xir::Argmax','compile_target':'@hostt','dim':null,'inputs':[],'name':'','op_id':0,'outputs':[],'tags':{},'x':2}" END);
}

#define VALUE(id) \
    "{'_type_key':'icraft::xir::Value','dtype':'@bool','mtype':'@hostm','name':'','tags':{},'v_id':" #id "}"
#define BARE(key, id, in, out) \
    "{'_type_key':'icraft::xir::" key "','compile_target':'@hostt','inputs':[" in "],'name':'','op_id':" #id ",'outputs':[" out "],'tags':{}}"

#define VALUE(id) \
    "{'_type_key':'icraft::xir::Value','dtype':'@bool','mtype':'@hostm','name':'','tags':{},'v_id':" #id "}"
#define PARAMS(id, allow) \
    "{'_allow_no_data':" allow ",'_type_key':'icraft::xir::Params','dtype':'@bool','mtype':'@hostm','name':'p','tags':{},'v_id':" #id "}"
#define BARE(key, id, in, out) \
    "{'_type_key':'icraft::xir::" key "','compile_target':'@hostt','inputs':[" in "],'name':'','op_id':" #id ",'outputs':[" out "],'tags':{}}"
#define BOOL_TYPE "'dtype_type':'BoolType','dtype':{}"

static void values_are_shared_or_embedded(void **state) {
    (void)state;
    const char *chain = HEAD BARE("Input", 0, "", VALUE(5)) "," BARE("Abs", 1, VALUE(5), VALUE(6)) END;
    CHECK_JSON("{'ops_type':['Input','Abs'],'ops':[{'outputs_type':['Value'],'outputs':['*v']},{'op_id':1,'inputs_type':['Value'],'inputs':['*v'],"
               "'outputs_type':['Value'],'outputs':['*w']}],'&':{'v':{'=':'Value','v_id':5,'dtype_type':'BoolType','dtype':'*z'},"
               "'w':{'=':'Value','v_id':6,'dtype_type':'BoolType','dtype':'*z'},'z':{'=':'BoolType'}}}", chain);
    CHECK_JSON("{'ops_type':['Input','Abs'],'ops':[{'outputs_type':['Value'],'outputs':[{'v_id':5," BOOL_TYPE "}]},{'op_id':1,'inputs_type':['Value'],"
               "'inputs':[{'v_id':5," BOOL_TYPE "}],'outputs_type':['Value'],'outputs':[{'v_id':6," BOOL_TYPE "}]}]}", chain);
    /* used before it is made, by copies */
    CHECK_JSON("{'ops_type':['Abs','Abs','Input','Abs'],'ops':[{'op_id':1,'inputs_type':['Value'],'inputs':['*v']},{'op_id':2,'inputs_type':['Value'],'inputs':['*w']},"
               "{'outputs_type':['Value'],'outputs':['*w']},{'op_id':3,'inputs_type':['Value'],'inputs':['*v']}],"
               "'&':{'v':{'=':'Value','v_id':5," BOOL_TYPE "},'w':{'=':'Value','v_id':5," BOOL_TYPE "}}}",
               HEAD BARE("Abs", 1, VALUE(5), "") "," BARE("Abs", 2, VALUE(5),
                                                          "") "," BARE("Input", 0, "",
                                                                       VALUE(5)) "," BARE("Abs", 3, VALUE(5), "") END);
    /* absent before a present one; trailing ones do not count */
    CHECK_JSON("{'ops_type':['Where'],'ops':[{'inputs_type':['NONE','Value','NONE'],'inputs':[null,{'v_id':5," BOOL_TYPE "},null]}]}",
               HEAD BARE("Where", 0, "null," VALUE(5), "") END);
}

#define NO_BYTES "],'params_bytes':9,'params_md5':'abc','tags':{}}"
#define NO_BYTES_FB "'params_bytes':9,'params_md5':'abc'"

static void params_are_inputs_attributes_or_in_extra(void **state) {
    (void)state;
    CHECK_JSON("{" NO_BYTES_FB ",'ops_type':['PReLU'],'ops':[{'inputs_type':['Params'],'inputs':['*p'],'alpha':'*q'}],'&':{'p':{'=':'Params','v_id':1,'name':'p'," BOOL_TYPE "},"
               "'q':{'=':'Params','v_id':2,'_allow_no_data':true,'name':'p'," BOOL_TYPE "}}}",
               HEAD "{'_type_key':'icraft::xir::PReLU','alpha':" PARAMS(2, "true") ",'compile_target':'@hostt','inputs':[" PARAMS(1, "false") "],'name':'','op_id':0,'outputs':[],'tags':{}}" NO_BYTES);
    CHECK_JSON("{" NO_BYTES_FB ",'ops_type':['Unknown'],'ops':[{'extra':'{\\'_type_key\\':\\'someone::Op\\',\\'x\\':[{\\'_allow_no_data\\':false,\\'_type_key\\':\\'icraft::xir::Params\\',\\'dtype\\':\\'@bool\\',"
               "\\'mtype\\':\\'@hostm\\',\\'name\\':\\'p\\',\\'tags\\':{},\\'v_id\\':3}]}','extra_params':[{'v_id':3,'name':'p'," BOOL_TYPE "}]}]}",
               HEAD "{'_type_key':'someone::Op','compile_target':'@hostt','inputs':[],'name':'','op_id':0,'outputs':[],'tags':{},'x':[" PARAMS(3, "false") "]}" NO_BYTES);
    CHECK_JSON("{" NO_BYTES_FB ",'ops_type':['HardOp'],'ops':[{'instr':['*p','*p'],'params':[]}],'&':{'p':{'=':'Params','v_id':1,'name':'p'," BOOL_TYPE "}}}",
               HEAD "{'_type_key':'icraft::xir::HardOp','compile_target':'@hostt','device_info':{},'inputs':[],'instr':[" PARAMS(1, "false") "," PARAMS(1, "false") "],'layer_count':0,"
               "'name':'','op_id':0,'origin_ops_id':[],'outputs':[],'params':[],'sub_hard_ops':[],'tags':{}}" NO_BYTES);
}

/* The bytes of Params by v_id, in payload order: "1:05 2:0706 3:", and the raw file's table: " | 2 1". */
static void check_bytes(const char *fb, const char *expected, int line) {
    flat_made m = flat_make(ctx, fb);
    xir_network *net = flat_read_bytes(ctx, m.data, m.size, why);
    if (!net) {
        xir_diags_print(why, stderr);
        fail_msg("line %d: it was not read", line);
    }
    char found[400] = "", table[400] = " |";
    for (uint32_t i = 0; i < net->n_params; i++) {
        for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
            const params *p = value_params(v);
            if (p->table_index == i) sprintf(table + strlen(table), " %d", (int)v->id);
            if (p->raw_index != i || !p->data) continue;
            sprintf(found + strlen(found), "%s%d:", *found ? " " : "", (int)v->id);
            for (uint64_t k = 0; k < p->data->size; k++) sprintf(found + strlen(found), "%02x", p->data->bytes[k]);
        }
    }
    if (strcmp(strcat(found, table), expected) != 0) fail_msg("line %d: found %s, expected %s", line, found, expected);
    xir_network_free(net);
    flat_made_free(&m);
}
#define CHECK_BYTES(inputs, more, expected) \
    check_bytes( \
        "{'ops_type':['Concat'],'ops':[{'inputs_type':['Params','Params','Params'],'inputs':[" inputs "]}]" more "}", \
        expected, __LINE__)
#define NO_LAYOUT "'layout':{'axis_names_type':['AxisName'],'axis_names':[{'name':'*'}]}"
#define VECTOR(n) \
    "'dtype_type':'TensorType','dtype':{'element_dtype_type':'BoolType','element_dtype':{},'shape':[" #n "]," NO_LAYOUT "}"

static void params_have_their_bytes(void **state) {
    (void)state;
    /* in the order of their places, which is neither that of the ops nor that of the ids */
    CHECK_BYTES("'*c','*a','*b'", ",'&':{'a':{'=':'Params','v_id':7," VECTOR(2) ",'_data':[1,2]},'b':{'=':'Params','v_id':3," VECTOR(1) ",'_data':[9]},"
                "'c':{'=':'Params','v_id':5," VECTOR(0) ",'_data':[]}}", "7:0102 3:09 5: | 7 3 5");
    CHECK_BYTES("'*c','*a','*b'", ",'params_table':[5,7,3],'&':{'a':{'=':'Params','v_id':7," VECTOR(2) ",'_data':[1,2]},'b':{'=':'Params','v_id':3," VECTOR(1) ",'_data':[9]},"
                "'c':{'=':'Params','v_id':5," VECTOR(0) ",'_data':[]}}", "7:0102 3:09 5: | 5 7 3");
    /* embedded where they are used, with their bytes or without */
    CHECK_BYTES("{'v_id':1," VECTOR(2) ",'_data':[1,2]},{'v_id':1," VECTOR(2) ",'_data':[1,2]},{'v_id':2," VECTOR(2) ",'_data':[3,4]}", "", "1:0102 2:0304 | 1 2");
    CHECK_BYTES("{'v_id':1," VECTOR(2) "},{'v_id':1," VECTOR(2) ",'_data':[1,2]},{'v_id':2,'_allow_no_data':true," VECTOR(2) "}", "", "1:0102 | 1");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_network_has_what_its_table_has),
        cmocka_unit_test(an_absent_slot_is_zero_or_nothing),
        cmocka_unit_test(rows_have_their_slots),
        cmocka_unit_test(every_type_has_its_form),
        cmocka_unit_test(undeclared_keys_and_rows_are_in_extra),
        cmocka_unit_test(ops_of_unknown_classes_are_in_extra),
        cmocka_unit_test(values_are_shared_or_embedded),
        cmocka_unit_test(params_are_inputs_attributes_or_in_extra),
        cmocka_unit_test(params_have_their_bytes),
    };
    return RUN_GROUP(tests);
}
