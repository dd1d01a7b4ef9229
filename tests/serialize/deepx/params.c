/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The folder next to a program with its tensors: what is found by the last part of a path is the tensor of the call,
 * read or mapped. A .shape that is malformed, lies, or does not fit is refused with its place; nothing outside of the
 * folder is opened. */
#include <fcntl.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include "support/load_net.h"

#define SHAPE(dtype, dim, shape, stride, size) \
    "dtype: " dtype "\ndim: " dim "\nshape: " shape "\nstride: " stride "\nsize: " size "\n"
#define GOOD SHAPE("float32", "2", "[2, 3]", "[3, 1]", "6")

static const float six[6] = { 1, 2, 3, 4, 5, 6 };

static void put(const char *name, const void *data, size_t size) {
    char path[200];
    snprintf(path, sizeof path, "p.data/%s", name);
    scratch_put(scratch(path), data, size);
}

static void put_text(const char *name, const char *text) { put(name, text, strlen(text)); }

/* The folder with a tensor `w` of 2 x 3, and no other file. */
static void make_folder(void) {
    const char *folder = scratch("p.data");
    char path[PATH_MAX + 300];
    DIR *d = opendir(folder);
    for (const struct dirent *e; d && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        assert_int_equal(remove(path), 0);
    }
    if (d) closedir(d);
    else assert_int_equal(mkdir(folder, 0777), 0);
    put_text("w.shape", GOOD);
    put("w.data", six, sizeof six);
}

static xir_network *load_program(const char *text, const xir_load_options *options) {
    const char *path = scratch("p.ir");
    xir_diags_clear(why);
    scratch_put(path, text, strlen(text));
    return xir_network_load(ctx, path, options, why);
}

static xir_network *must_load(const char *text, const xir_load_options *options) {
    xir_network *net = load_program(text, options);
    if (!net || xir_diags_count(why)) xir_diags_print(why, stderr);
    assert_non_null(net);
    assert_int_equal(xir_diags_count(why), 0);
    return net;
}

static xir_value *tensor_of(const xir_network *net, int64_t id) {
    const xir_any *data = xir_map_find(xir_op_extra(xir_network_op_by_id(net, id)), XIR_STR("data"));
    return data && data->kind == XIR_ANY_PARAMS ? data->as.params : NULL;
}

/* ---- what is found ---------------------------------------------------------------------------------------------- */

static void check_six(const xir_value *v, bool lazy) {
    uint64_t size;
    assert_non_null(v);
    const void *data = xir_params_data(v, &size);
    assert_int_equal(size, sizeof six);
    assert_memory_equal(data, six, sizeof six);
    assert_int_equal(xir_params_is_lazy(v), lazy);
}

static void load_takes_the_last_part_of_its_path(void **state) {
    static const char *const paths[] = { "w", "/a/b/w", "../w", "\"/a,b/w\"", "/a/../w" };
    (void)state;
    make_folder();
    for (size_t i = 0; i < COUNT(paths); i++) {
        char text[200];
        snprintf(text, sizeof text, "load(var<string>:%s)->()\nprint(tensor<float32>:w)->()\n", paths[i]);
        for (int lazy = 0; lazy < 2; lazy++) {
            xir_network *net = load_program(text, &XIR_INIT(xir_load_options, .lazy = lazy));
            assert_non_null(net);
            check_six(tensor_of(net, 1), lazy);
            const xir_type *type = xir_value_type(xir_op_output(xir_network_op_by_id(net, 1), 0));
            assert_int_equal(xir_type_rank(type), 2);
            assert_int_equal(xir_type_dim(type, 1, false), 3);
            xir_network_free(net);
        }
    }
}

static void what_is_not_in_the_folder_stays_an_input(void **state) {
    static const char *const paths[] = { "v", "w.data", "..", ".", "/", "", "p.data/" };
    (void)state;
    make_folder();
    scratch_put(scratch("v.data"), six, sizeof six);   /* next to the program, not in its folder */
    for (size_t i = 0; i < COUNT(paths); i++) {
        char text[200];
        snprintf(text, sizeof text, "newtensor([2 3])->(tensor<float32>:v)\nloadtensordata(var<string>:\"%s\")->"
                 "(tensor<float32>:v)\n", paths[i]);
        xir_network *net = load_program(text, NULL);
        assert_non_null(net);
        assert_null(tensor_of(net, 2));
        xir_network_free(net);
    }
    xir_network *net = must_load("load(var<string>:/w)->()\n", &XIR_INIT(xir_load_options, .no_params = true));
    assert_null(tensor_of(net, 1));
    xir_network_free(net);
}

/* A file of the folder's name is not a folder: it is a tensor of a program in its own folder. */
static void a_file_of_that_name_is_not_opened(void **state) {
    (void)state;
    scratch_put(scratch("q.data"), six, sizeof six);
    scratch_put(scratch("q.ir"), "load(var<string>:/q)->()\n", 25);
    xir_network *net = load_must(scratch("q.ir"), NULL);
    assert_null(tensor_of(net, 1));
    xir_network_free(net);
    const char *there = scratch("q.data");
    FAILS_TO_LOAD(xir_network_load(ctx, scratch("q.ir"), &XIR_INIT(xir_load_options, .params = there), why), XIR_E_IO,
                  "Not a directory");
}

static void another_folder_can_be_named(void **state) {
    (void)state;
    make_folder();
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", scratch("p.data"));
    scratch_put(scratch("r.ir"), "load(var<string>:/w)->()\n", 25);
    xir_network *net = load_must(scratch("r.ir"), &XIR_INIT(xir_load_options, .params = folder));
    check_six(tensor_of(net, 1), false);
    xir_network_free(net);
    net = xir_network_load(ctx, scratch("r.ir"), NULL, why);
    assert_null(tensor_of(net, 1));
    const xir_load_options named = XIR_INIT(xir_load_options, .format = "deepx");
    assert_int_equal(xir_network_load_params(net, folder, &named, why), XIR_OK);
    check_six(tensor_of(net, 1), false);
    assert_int_equal(xir_network_read_params(net, six, sizeof six, XIR_STR("x"), &named, why), XIR_E_UNSUPPORTED);
    load_check_finding(XIR_E_UNSUPPORTED, "they cannot come from one file", __LINE__);
    xir_network_free(net);
}

static void loadtensordata_needs_no_shape(void **state) {
    (void)state;
    make_folder();
    put("v.data", six, sizeof six);
    xir_network *net = must_load("newtensor([3 2])->(tensor<float32>:v)\nloadtensordata(var<string>:/v)->"
                                 "(tensor<float32>:v)\n", NULL);
    check_six(tensor_of(net, 2), false);
    assert_int_equal(xir_type_dim(xir_value_type(tensor_of(net, 2)), 0, false), 3);
    xir_network_free(net);
}

static void a_program_computes_with_its_tensors(void **state) {
    (void)state;
    make_folder();
    xir_network *net = must_load("load(var<string>:/w)->()\nnewtensor([2 3])->(tensor<float32>:v)\n"
                                 "loadtensordata(var<string>:/w)->(tensor<float32>:v)\n"
                                 "mul(tensor<float32>:v, tensor<float32>:w)->(tensor<float32>:w)\n", NULL);
    assert_int_equal(xir_pass_run(net, "deepx-to-xir", NULL, NULL, why), XIR_OK);
    assert_int_equal(xir_op_output_count(xir_network_input_op(net)), 0);
    xir_array *out[8] = { NULL };
    const size_t n = xir_op_input_count(xir_network_output_op(net));
    assert_true(n <= COUNT(out));
    DOES(xir_network_run(net, NULL, 0, out, n, NULL, why));
    bool found = false;
    for (size_t k = 0; k < n; k++) {
        const xir_str name = xir_value_name(xir_op_input(xir_network_output_op(net), (int64_t)k));
        found |= xir_str_equal(name, XIR_STR("w"));
        for (size_t i = 0; i < 6 && xir_str_equal(name, XIR_STR("w")); i++)
            assert_float_equal(xir_array_real(out[k], i), (double)six[i] * six[i], 0);
        xir_array_free(out[k]);
    }
    assert_true(found);
    xir_network_free(net);
}

/* A tensor without elements may have any other dims. */
static void strides_beyond_64_bits_are_refused(void **state) {
    (void)state;
    const int64_t dims[] = { 0, INT64_C(1) << 62, 4 };
    make_folder();
    xir_network *net = must_load("load(var<string>:/w)->()\n", NULL);
    for (size_t rank = 2; rank <= COUNT(dims); rank++) {
        const xir_type *type = xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, dims, rank);
        const xir_any data = { .kind = XIR_ANY_PARAMS, .as.params = xir_params_new(net, XIR_STR("w"), type) };
        const xir_save_options options = XIR_INIT(xir_save_options, .unchecked = true);
        assert_non_null(data.as.params);
        DOES(xir_op_set_extra(xir_network_op_at(net, 1), XIR_STR("data"), &data));
        if (rank == 2) DOES(xir_network_save(net, scratch("strides.ir"), &options, why));
        else FAILS_TO_SAVE(xir_network_save(net, scratch("strides.ir"), &options, why), XIR_E_LIMIT,
                           "the strides of its tensor do not fit into 64 bits");
    }
    xir_network_free(net);
}

/* ---- shapes ----------------------------------------------------------------------------------------------------- */

static void shapes_that_are_read(void **state) {
    static const char *const texts[] = {
        GOOD, SHAPE("'float32'", "2", "[2,3]", "[ 3 , 1 ]", "6"), SHAPE("\"float32\"", "1", "[6]", "[1]", "6"),
        SHAPE("int32", "2", "\n  - 2\n  - 3", "\n- 3\n- 1", "6"), SHAPE("float64", "1", "[3]", "[1]", "3"),
        "# by hand\r\n\r\nsize: 24   # elements\r\nstride: [1]\r\nshape:\r\n    - 24\r\ndim: 1\r\ndtype: int8\r\n",
        SHAPE("bool", "3", "[1, 24, 1]", "[24, 1, 1]", "24"), SHAPE("bfloat16", "1", "[12]", "[1]", "12"),
        "dtype: float32\ndim: 1\nshape: [6]\nstride: [1]\nsize: 6", SHAPE("int64", "2", "[3, 1]", "[1, 1]", "3"),
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        make_folder();
        put_text("w.shape", texts[i]);
        xir_network *net = must_load("load(var<string>:/w)->()\n", NULL);
        assert_non_null(tensor_of(net, 1));
        xir_network_free(net);
    }
    make_folder();
    put_text("w.shape", SHAPE("float32", "2", "[0, 5]", "[5, 1]", "0"));
    put("w.data", "", 0);
    xir_network *net = must_load("load(var<string>:/w)->()\n", NULL);
    assert_non_null(tensor_of(net, 1));
    xir_network_free(net);
}

static const struct { const char *text; xir_status code; unsigned line, column; const char *words; } bad[] = {
    { "", XIR_E_MISSING, 1, 1, "the key 'dtype' is missing" },
    { "dtype: float32\n", XIR_E_MISSING, 1, 1, "the key 'dim' is missing" },
    { "dtype: float32\ndim: 2\nshape: [2, 3]\nstride: [3, 1]\n", XIR_E_MISSING, 4, 1, "the key 'size' is missing" },
    { GOOD "size: 6\n", XIR_E_EXISTS, 6, 1, "the key 'size' appears twice" },
    { GOOD "name: w\n", XIR_E_UNKNOWN, 6, 1, "'name' is not a key: expected dtype, dim, shape, stride or size" },
    { "dtype float32\n", XIR_E_SYNTAX, 1, 1, "expected 'key: value', found 'dtype float32'" },
    { "dtype:float32\n", XIR_E_SYNTAX, 1, 1, "expected 'key: value'" },
    { " dtype: float32\n", XIR_E_SYNTAX, 1, 2, "a key does not begin its line" },
    { "dtype: float32\n\tdim: 2\n", XIR_E_SYNTAX, 2, 2, "a key does not begin its line" },
    { "---\n" GOOD, XIR_E_SYNTAX, 1, 1, "expected 'key: value', found '---'" },
    { "{dtype: float32}", XIR_E_UNKNOWN, 1, 1, "'{dtype' is not a key" },
    { "dtype: float31\n", XIR_E_UNKNOWN, 1, 8, "'float31' is not the precision of a tensor" },
    { "dtype: fp8\n", XIR_E_UNKNOWN, 1, 8, "'fp8' is not the precision of a tensor" },
    { "dtype: any\n", XIR_E_UNKNOWN, 1, 8, "'any' is not the precision of a tensor" },
    { "dtype:\n", XIR_E_UNKNOWN, 1, 7, "'' is not the precision of a tensor" },
    { "dtype: string\n", XIR_E_UNSUPPORTED, 1, 8, "tensors of string are not read" },
    { "dtype: int4\n", XIR_E_UNSUPPORTED, 1, 8, "tensors of int4 are not read" },
    { "dtype: float8e5m2\n", XIR_E_UNSUPPORTED, 1, 8, "tensors of float8e5m2 are not read" },
    { "dim: two\n", XIR_E_SYNTAX, 1, 6, "expected digits, found 'two'" },
    { "dim: -2\n", XIR_E_SYNTAX, 1, 6, "expected digits, found '-2'" },
    { "dim: 0x2\n", XIR_E_SYNTAX, 1, 6, "expected digits, found '0x2'" },
    { "dim:\n", XIR_E_SYNTAX, 1, 5, "expected digits, found the end of the value" },
    { "size: 2147483648\n", XIR_E_BOUNDS, 1, 7, "expected at most 2147483647, found 2147483648" },
    { "size: 99999999999999999999999999\n", XIR_E_BOUNDS, 1, 7, "expected at most 2147483647" },
    { "shape: 3\n", XIR_E_SYNTAX, 1, 8, "expected a list of integers, found '3'" },
    { "shape: [2, 3\n", XIR_E_SYNTAX, 1, 8, "expected a list of integers, found '[2, 3'" },
    { "shape: [2,,3]\n", XIR_E_SYNTAX, 1, 11, "expected digits, found the end of the value" },
    { "shape: [2, 3,]\n", XIR_E_SYNTAX, 1, 14, "expected digits" },
    { "shape: [[2]]\n", XIR_E_SYNTAX, 1, 9, "expected digits, found '[2]'" },
    { "shape: [2.0]\n", XIR_E_SYNTAX, 1, 9, "expected digits, found '2.0'" },
    { "shape:\nstride: [1]\n", XIR_E_SYNTAX, 1, 7, "expected a list of integers, found nothing" },
    { "shape:\n  - 2\n  - x\n", XIR_E_SYNTAX, 3, 5, "expected digits, found 'x'" },
    { "shape:\n  -2\n", XIR_E_SYNTAX, 1, 7, "expected a list of integers, found nothing" },
    { "- 2\n", XIR_E_SYNTAX, 1, 1, "expected 'key: value', found '- 2'" },
    { SHAPE("float32", "3", "[2, 3]", "[3, 1]", "6"), XIR_E_CORRUPT, 2, 6,
      "dim does not fit the shape: expected 2, found 3" },
    { SHAPE("float32", "2", "[2, 3]", "[3]", "6"), XIR_E_CORRUPT, 4, 9, "expected 2 strides, found 1" },
    { SHAPE("float32", "2", "[2, 3]", "[1, 3]", "6"), XIR_E_CORRUPT, 4, 9,
      "stride does not fit the shape: expected 1, found 3" },
    { SHAPE("float32", "2", "[2, 3]", "[4, 1]", "6"), XIR_E_CORRUPT, 4, 9,
      "stride does not fit the shape: expected 3, found 4" },
    { SHAPE("float32", "2", "[2, 3]", "[3, 1]", "5"), XIR_E_CORRUPT, 5, 7,
      "size does not fit the shape: expected 6, found 5" },
    { SHAPE("float32", "2", "[2, 2]", "[2, 1]", "4"), XIR_E_CORRUPT, 0, 0, "expected 16 bytes, as its type takes, "
      "found 24" },
    { SHAPE("float64", "2", "[2, 3]", "[3, 1]", "6"), XIR_E_CORRUPT, 0, 0, "expected 48 bytes" },
    { "dtype: float32\ndim: 3\nshape: [2147483647, 2147483647, 2147483647]\nstride: [1, 1, 1]\nsize: 1\n",
      XIR_E_LIMIT, 3, 8, "the tensor would be too large" },
};

static void shapes_that_are_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        make_folder();
        put_text("w.shape", bad[i].text);
        assert_null(load_program("load(var<string>:/w)->()\n", NULL));
        const xir_diag *d = xir_diags_at(why, 0);
        if (!d || d->code != bad[i].code || d->line != bad[i].line || d->column != bad[i].column ||
            !strstr(d->message.data, bad[i].words)) {
            xir_diags_print(why, stderr);
            fail_msg("%s: expected %u:%u: %s", bad[i].text, bad[i].line, bad[i].column, bad[i].words);
        }
        const xir_str file = xir_str_of(bad[i].line ? "/p.data/w.shape" : "/p.data/w.data");
        assert_true(d->file.size > file.size);
        assert_memory_equal(d->file.data + d->file.size - file.size, file.data, file.size);
    }
}

static void lists_without_end_are_refused(void **state) {
    (void)state;
    static char text[1 << 17];
    make_folder();
    size_t n = (size_t)snprintf(text, sizeof text, "shape:\n");
    for (size_t i = 0; i < 65; i++) n += (size_t)snprintf(text + n, sizeof text - n, "- 1\n");
    put("w.shape", text, n);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_LIMIT, "more than 64 dims");
    memset(text, '#', sizeof text);
    put("w.shape", text, sizeof text);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_LIMIT, "65536");
}

/* Whatever the bytes are: a tensor, or a finding. */
static void shapes_truncated_and_changed(void **state) {
    static const char whole[] = "dtype: float32\ndim: 2\nshape:\n  - 2\n  - 3\nstride: [3, 1]\nsize: 6 # all\n";
    static const char other[] = " \n\r\0-:[],#9x";
    char text[sizeof whole];
    (void)state;
    make_folder();
    for (size_t n = 0; n < sizeof whole; n++) {
        put("w.shape", whole, n);
        xir_network *net = load_program("load(var<string>:/w)->()\n", NULL);
        assert_true((net != NULL) == (xir_diags_count(why) == 0));
        xir_network_free(net);
    }
    for (size_t i = 0; i + 1 < sizeof whole; i++) {
        memcpy(text, whole, sizeof whole);
        for (size_t k = 0; k + 1 < sizeof other; k++) {
            text[i] = other[k];
            put("w.shape", text, sizeof whole - 1);
            xir_network *net = load_program("load(var<string>:/w)->()\n", NULL);
            assert_true((net != NULL) == (xir_diags_count(why) == 0));
            xir_network_free(net);
        }
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static void links_are_not_followed(void **state) {
    (void)state;
    make_folder();
    scratch_put(scratch("secret"), six, sizeof six);
    assert_int_equal(remove(scratch("p.data/w.data")), 0);
    assert_int_equal(symlink(scratch("secret"), scratch("p.data/w.data")), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_INVALID,
                  "a part of the path is a symbolic link");
    assert_int_equal(remove(scratch("p.data/w.data")), 0);
    assert_int_equal(link(scratch("secret"), scratch("p.data/w.data")), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_INVALID, "other names (hard links)");
    assert_int_equal(remove(scratch("p.data/w.data")), 0);
    assert_int_equal(mkfifo(scratch("p.data/w.data"), 0600), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_INVALID, "it is not a regular file");
    make_folder();
    assert_int_equal(remove(scratch("p.data/w.shape")), 0);
    assert_int_equal(symlink(scratch("secret"), scratch("p.data/w.shape")), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_INVALID, "symbolic link");
}

static void one_file_of_two_is_not_enough(void **state) {
    (void)state;
    make_folder();
    assert_int_equal(remove(scratch("p.data/w.shape")), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_MISSING,
                  "there is no such file: the type of the tensor is unknown");
    make_folder();
    assert_int_equal(remove(scratch("p.data/w.data")), 0);
    FAILS_TO_LOAD(load_program("load(var<string>:/w)->()\n", NULL), XIR_E_MISSING,
                  "there is no such file next to its .shape");
}

static void a_shape_must_be_that_of_the_tensor_it_fills(void **state) {
    (void)state;
    make_folder();
    FAILS_TO_LOAD(load_program("newtensor([2 3])->(tensor<int32>:v)\n"
                               "loadtensordata(var<string>:/w)->(tensor<int32>:v)\n", NULL), XIR_E_TYPE,
                  "its elements are float32: those of 'v', which op 2 fills, are others");
    FAILS_TO_LOAD(load_program("newtensor([2 4])->(tensor<float32>:v)\n"
                               "loadtensordata(var<string>:/w)->(tensor<float32>:v)\n", NULL), XIR_E_TYPE,
                  "expected 8 elements, as 'v' has, which op 2 fills, found 6");
}

/* All or none. */
static void a_fault_leaves_the_network_as_it_was(void **state) {
    (void)state;
    make_folder();
    put_text("v.shape", "dtype: float31\n");
    put("v.data", six, sizeof six);
    scratch_put(scratch("s.ir"), "load(var<string>:/w)->()\nload(var<string>:/v)->()\n", 50);
    xir_network *net = load_must(scratch("s.ir"), NULL);
    const xir_load_options named = XIR_INIT(xir_load_options, .format = "deepx");
    assert_int_equal(xir_network_load_params(net, scratch("p.data"), &named, why), XIR_E_UNKNOWN);
    xir_diags_clear(why);
    assert_null(tensor_of(net, 1));
    assert_null(tensor_of(net, 2));
    xir_network_free(net);
}

static int begin(void **state) {
    scratch_make();
    return group_begin(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(load_takes_the_last_part_of_its_path),
        cmocka_unit_test(what_is_not_in_the_folder_stays_an_input),
        cmocka_unit_test(a_file_of_that_name_is_not_opened),
        cmocka_unit_test(another_folder_can_be_named),
        cmocka_unit_test(loadtensordata_needs_no_shape),
        cmocka_unit_test(a_program_computes_with_its_tensors),
        cmocka_unit_test(strides_beyond_64_bits_are_refused),
        cmocka_unit_test(shapes_that_are_read),
        cmocka_unit_test(shapes_that_are_refused),
        cmocka_unit_test(lists_without_end_are_refused),
        cmocka_unit_test(shapes_truncated_and_changed),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(one_file_of_two_is_not_enough),
        cmocka_unit_test(a_shape_must_be_that_of_the_tensor_it_fills),
        cmocka_unit_test(a_fault_leaves_the_network_as_it_was),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
