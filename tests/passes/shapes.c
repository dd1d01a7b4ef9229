/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shapes: if the inputs of an ONNX network have static shapes, every value has one after onnx-to-xir,infer,fold,infer,
 * except where data decide. Tested are the idioms by which exporters compute shapes; and, with XIR_CORPUS set, whole
 * exported models (unpacked by xz). */
#include <dirent.h>
#include <stdio.h>
#include "support/onnx_make.h"
#include "support/op_list.h"
#include "support/skips.h"
#include "graph.h"

/* ---- completeness ----------------------------------------------------------------------------------------------- */

static bool is_open(const xir_value *v) {
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    for (size_t i = 0; tensor && i < tensor->shape.size; i++) {
        if (tensor->shape.data[i] < 0) return true;
    }
    return !tensor;
}

/* Ops whose output shapes depend on data, and ops that choose what runs. */
static bool asks_for_data(const xir_op *op) {
    static const char *const keys[] = { "xir::NonZero", "xir::NonMaxSuppression", "onnx::If", "onnx::Loop",
                                        "onnx::NonZero", "onnx::NonMaxSuppression" };
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (xir_str_equal(op->cls->key, xir_str_of(keys[i]))) return true;
    }
    return false;
}

typedef struct counts { size_t values, open, excused; } counts;

/* Counts open values, and those of them that ops on data explain; prints the first one without an explanation. */
static counts look(const xir_network *net, const char *name) {
    counts n = { 0 };
    bool *data = calloc(net->n_slots + 1, sizeof *data), reported = false;
    assert_non_null(data);
    for (const xir_op *op = net->first; op; op = op->next) {
        data[op->slot] = asks_for_data(op);
        for (uint32_t i = 0; i < op->n_inputs; i++) {
            const xir_value *v = op_inputs(op)[i].value;
            if (v && value_op(v)) data[op->slot] |= data[value_op(v)->slot];
        }
        for (uint32_t i = 0; i < op->n_outputs; i++) {
            const xir_value *v = &op_outputs(op)[i];
            if (value_more_of(v) && !value_more_of(v)->name->size && !v->type) continue;   /* an omitted output */
            n.values++;
            if (!is_open(v)) continue;
            n.open++;
            n.excused += data[op->slot];
            if (data[op->slot] || reported) continue;
            print_error("%s: output %u of %.*s '%s' is open\n", name, i, (int)op->cls->key.size, op->cls->key.data,
                        op_label(op)->bytes);
            reported = true;
        }
    }
    free(data);
    return n;
}

static void run_passes(xir_network *net, const char *text) {
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    xir_pass_settings settings = XIR_INIT(xir_pass_settings, .verify = true);
    xir_status status = pipeline ? xir_pipeline_run(pipeline, net, &settings, NULL, why) : XIR_E_SYNTAX;
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_pipeline_free(pipeline);
    xir_diags_clear(why);
}

static const char shapes_only[] = "onnx-to-xir,infer,fold,infer";

/* Converts a model; all shapes of the resulting network must be complete. */
static xir_network *complete(om *m, const char *passes) {
    size_t size;
    const void *bytes = om_done(m, &size);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    run_passes(net, passes);
    counts n = look(net, "model");
    if (n.open) print_error("%s", op_list_typed(net));
    assert_int_equal(n.open, 0);
    om_free(m);
    return net;
}

/* Checks the dims of result `i`. */
static void check_dims(const xir_network *net, size_t i, const int64_t *dims, size_t rank, int line) {
    const xir_value *v = xir_op_input(xir_network_last(net), (int64_t)i);
    const xir_tensor_type *tensor = xir_type_as_tensor(v->type);
    bool same = tensor && tensor->shape.size == rank;
    for (size_t k = 0; same && k < rank; k++) same = tensor->shape.data[k] == dims[k];
    if (!same) fail_msg("line %d: result %zu is %s", line, i, spelled(v->type));
}
#define DIMS(net, i, ...) \
    check_dims(net, i, (const int64_t[]){ __VA_ARGS__ }, COUNT(((const int64_t[]){ __VA_ARGS__ })), __LINE__)

static void int64s(om *m, const char *name, om_dims values) {
    om_int64s(m, name, OM_DIMS((int64_t)values.size), values.data, values.size);
}
static void int64(om *m, const char *name, int64_t value)   { om_int64s(m, name, OM_SCALAR, &value, 1); }

/* ---- idioms of exporters ----------------------------------------------------------------------------------------- */

/* x.view(x.size(0), -1) */
static void flattening(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2, 3, 4, 5));
    int64(&m, "zero", 0);
    int64s(&m, "axes", OM_DIMS(0));
    int64s(&m, "rest", OM_DIMS(-1));
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "Gather", "", "s,zero", "n");
    om_node(&m, "Unsqueeze", "", "n,axes", "u");
    om_node(&m, "Concat", "", "u,rest", "shape");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "", "x,shape", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 2, 60);
    xir_network_free(net);
}

/* Interleaves the channels of two groups, as in shufflenet. */
static void shuffling_channels(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 8, 6, 7));
    static const char *const dims[] = { "n", "c", "h", "w" };
    om_node(&m, "Shape", "", "x", "s");
    for (int i = 0; i < 4; i++) {
        char index[16], inputs[24], flat[8], unsqueezed[24];
        snprintf(index, sizeof index, "i%d", i), snprintf(inputs, sizeof inputs, "s,%s",
                                                          index), snprintf(flat, sizeof flat, "u%s", dims[i]);
        snprintf(unsqueezed, sizeof unsqueezed, "%s,axes", dims[i]);
        int64(&m, index, i);
        om_node(&m, "Gather", "", inputs, dims[i]);
        om_node(&m, "Unsqueeze", "", unsqueezed, flat);
    }
    int64(&m, "groups", 2);
    int64s(&m, "axes", OM_DIMS(0));
    int64s(&m, "ugroups", OM_DIMS(2));
    om_node(&m, "Div", "", "c,groups", "per");
    om_node(&m, "Cast", "", "per", "cast");
    om_int(&m, "to", ONNX_INT64);
    om_node(&m, "Unsqueeze", "", "cast,axes", "uper");
    om_node(&m, "Concat", "", "un,ugroups,uper,uh,uw", "five");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "", "x,five", "a");
    om_node(&m, "Transpose", "", "a", "b");
    om_ints(&m, "perm", OM_DIMS(0, 2, 1, 3, 4));
    om_node(&m, "Concat", "", "un,uc,uh,uw", "four");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "", "b,four", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 1, 8, 6, 7);
    xir_network_free(net);
}

/* y.expand(n, -1): Where(shape == -1, ones, shape). */
static void expanding(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(3, 4));
    om_input(&m, "y", ONNX_FLOAT, OM_DIMS(1, 6));
    int64(&m, "zero", 0);
    int64(&m, "minus", -1);
    int64s(&m, "axes", OM_DIMS(0));
    int64s(&m, "keep", OM_DIMS(-1));
    int64s(&m, "two", OM_DIMS(2));
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "Gather", "", "s,zero", "n");
    om_node(&m, "Unsqueeze", "", "n,axes", "u");
    om_node(&m, "Concat", "", "u,keep", "wanted");
    om_int(&m, "axis", 0);
    om_node(&m, "ConstantOfShape", "", "two", "ones");
    om_bytes one = om_tensor(NULL, ONNX_INT64, OM_DIMS(1), (const int64_t[]){ 1 }, 8);
    om_tensor_attr(&m, "value", &one);
    om_node(&m, "Equal", "", "wanted,minus", "open");
    om_node(&m, "Where", "", "open,ones,wanted", "shape");
    om_node(&m, "Expand", "", "y,shape", "z");
    om_output(&m, "z", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 3, 6);
    xir_network_free(net);
}

/* Positions: torch.arange(x.size(1)) as indices of a table. */
static void positions(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(2, 5, 4));
    int64(&m, "zero", 0);
    int64(&m, "one", 1);
    static const float table[10 * 4];
    om_floats(&m, "table", OM_DIMS(10, 4), table, 40);
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "Gather", "", "s,one", "n");
    om_node(&m, "Range", "", "zero,n,one", "at");
    om_node(&m, "Gather", "", "table,at", "rows");
    om_node(&m, "Add", "", "x,rows", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 2, 5, 4);
    xir_network_free(net);
}

/* Upsampling to the size of another feature map. */
static void resizing(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 3, 4, 5));
    om_input(&m, "like", ONNX_FLOAT, OM_DIMS(1, 7, 8, 10));
    int64s(&m, "from", OM_DIMS(2));
    int64s(&m, "to", OM_DIMS(4));
    int64s(&m, "axis", OM_DIMS(0));
    int64s(&m, "first", OM_DIMS(0));
    int64s(&m, "second", OM_DIMS(2));
    om_node(&m, "Shape", "", "like", "s");
    om_node(&m, "Slice", "", "s,from,to,axis", "size");
    om_node(&m, "Shape", "", "x", "t");
    om_node(&m, "Slice", "", "t,first,second,axis", "kept");
    om_node(&m, "Concat", "", "kept,size", "sizes");
    om_int(&m, "axis", 0);
    om_node(&m, "Resize", "", "x,,,sizes", "y");
    om_text(&m, "mode", "nearest");
    om_text(&m, "coordinate_transformation_mode", "asymmetric");
    om_text(&m, "nearest_mode", "floor");
    om_node(&m, "Concat", "", "y,like", "z");
    om_int(&m, "axis", 1);
    om_output(&m, "z", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 1, 10, 8, 10);
    xir_network_free(net);
}

/* Padding to a multiple of the window, and removing it again, as in a window transformer. */
static void windows(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(1, 10, 12, 4));
    int64(&m, "one", 1);
    int64(&m, "seven", 7);
    int64(&m, "zero", 0);
    int64s(&m, "axes", OM_DIMS(0));
    int64s(&m, "none", OM_DIMS(0, 0, 0, 0, 0));
    int64s(&m, "after", OM_DIMS(0, 0));
    int64s(&m, "begin", OM_DIMS(0));
    int64s(&m, "axis1", OM_DIMS(1));
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "Gather", "", "s,one", "h");
    om_node(&m, "Mod", "", "h,seven", "left");
    om_node(&m, "Sub", "", "seven,left", "missing");
    om_node(&m, "Mod", "", "missing,seven", "pad");
    om_node(&m, "Unsqueeze", "", "pad,axes", "upad");
    om_node(&m, "Concat", "", "none,upad,after", "pads");
    om_int(&m, "axis", 0);
    om_node(&m, "Pad", "", "x,pads", "padded");
    om_node(&m, "Shape", "", "padded", "t");
    om_node(&m, "Gather", "", "t,one", "hp");
    om_node(&m, "Div", "", "hp,seven", "rows");
    om_node(&m, "Unsqueeze", "", "rows,axes", "urows");
    int64s(&m, "useven", OM_DIMS(7));
    int64s(&m, "tail", OM_DIMS(12, 4));
    om_node(&m, "Concat", "", "urows,useven,tail", "shape");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "", "padded,shape", "parts");
    om_node(&m, "ReduceMean", "", "parts", "mean");
    om_ints(&m, "axes", OM_DIMS(1));
    om_node(&m, "Unsqueeze", "", "h,axes", "uh");
    om_node(&m, "Slice", "", "padded,begin,uh,axis1", "cut");
    om_output(&m, "mean", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "cut", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, shapes_only);
    DIMS(net, 0, 2, 1, 12, 4);
    DIMS(net, 1, 1, 10, 12, 4);
    xir_network_free(net);
}

/* A batch size that the export left open is bound; then all shapes are known. */
static void a_bound_batch(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(-1, 3, 4, 4));
    int64(&m, "zero", 0);
    int64s(&m, "axes", OM_DIMS(0));
    int64s(&m, "rest", OM_DIMS(48));
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "Gather", "", "s,zero", "n");
    om_node(&m, "Unsqueeze", "", "n,axes", "u");
    om_node(&m, "Concat", "", "u,rest", "shape");
    om_int(&m, "axis", 0);
    om_node(&m, "Reshape", "", "x,shape", "y");
    om_output(&m, "y", ONNX_FLOAT, OM_NO_RANK);
    xir_network *net = complete(&m, "onnx-to-xir{bind=\"N0=5\"},infer,fold,infer");
    DIMS(net, 0, 5, 48);
    xir_network_free(net);
}

/* Dims that depend on data stay open, and no others. */
static void dims_that_depend_on_data_stay_open(void **state) {
    (void)state;
    om m = om_begin("net");
    om_input(&m, "x", ONNX_FLOAT, OM_DIMS(4, 6));
    om_node(&m, "NonZero", "", "x", "at");
    om_node(&m, "Transpose", "", "at", "places");
    om_ints(&m, "perm", OM_DIMS(1, 0));
    om_node(&m, "GatherND", "", "x,places", "picked");
    om_node(&m, "Shape", "", "x", "s");
    om_node(&m, "ConstantOfShape", "", "s", "zeros");
    om_output(&m, "picked", ONNX_FLOAT, OM_NO_RANK);
    om_output(&m, "zeros", ONNX_FLOAT, OM_NO_RANK);
    size_t size;
    const void *bytes = om_done(&m, &size);
    xir_network *net = xir_network_read(ctx, bytes, size, XIR_STR("model.onnx"), NULL, why);
    assert_non_null(net);
    run_passes(net, shapes_only);
    counts n = look(net, "model");
    assert_int_equal(n.open, 3);
    assert_int_equal(n.excused, 3);
    DIMS(net, 1, 4, 6);
    om_free(&m);
    xir_network_free(net);
}

/* ---- whole exports ----------------------------------------------------------------------------------------------- */

static size_t from_pipe(void *user, void *out, size_t room) { return fread(out, 1, room, user); }

static void check_file(const char *folder, const char *name) {
    char command[1400], passes[200];
    snprintf(command, sizeof command, "xz -dc '%s/%s'", folder, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    xir_network *net = xir_network_read_stream(ctx, from_pipe, pipe, xir_str_of(name), NULL, why);
    pclose(pipe);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    snprintf(passes, sizeof passes, "onnx-to-xir%s,infer,fold,infer", strstr(name, "_dyn") ? "{bind=\"batch=1\"}" : "");
    run_passes(net, passes);
    counts n = look(net, name);
    print_message("%s: %zu values, %zu open, %zu of them by what depends on data\n", name, n.values, n.open, n.excused);
    assert_int_equal(n.open, n.excused);
    if (!strstr(name, "ssd")) assert_int_equal(n.open, 0);
    run_passes(net, "fix(fold,identity,merge,cse,dce),infer");
    n = look(net, name);
    assert_int_equal(n.open, n.excused);
    xir_network_free(net);
}

static void the_shapes_of_whole_exports(void **state) {
    (void)state;
    const char *corpus = CORPUS_OR_SKIP();
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/onnx", corpus);
    DIR *dir = opendir(folder);
    if (!dir) SKIP("%s does not exist", folder);
    for (struct dirent *e; (e = readdir(dir));) {
        size_t n = strlen(e->d_name);
        if (n > 8 && strcmp(e->d_name + n - 8, ".onnx.xz") == 0) check_file(folder, e->d_name);
    }
    closedir(dir);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flattening),
        cmocka_unit_test(shuffling_channels),
        cmocka_unit_test(expanding),
        cmocka_unit_test(positions),
        cmocka_unit_test(resizing),
        cmocka_unit_test(windows),
        cmocka_unit_test(a_bound_batch),
        cmocka_unit_test(dims_that_depend_on_data_stay_open),
        cmocka_unit_test(the_shapes_of_whole_exports),
    };
    return RUN_GROUP(tests);
}
