/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* ONNX's own operator tests as a reference for inference. onnx-to-xir converts each model, and inference must give the
 * element types and dims of the recorded outputs. If a dim depends on the elements of an input, it may be unknown. The
 * network must validate, and a second inference must give the same.
 *
 * Then the dims of the inputs become unknown, one by one and all at once. Inference must not contradict the recorded
 * types, and an output dim that does not depend on the unknown dims must be known.
 *
 * Differences and models that XIR's operations cannot express are listed with their reasons in ops/onnx_unlike.txt; a
 * listed test that agrees fails too. Debian's package libonnx-testdata has the tests; XIR_ONNX_TESTS names another
 * folder. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xir/convert.h>
#include <xir/ops.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/forms.h"
#include "support/listed.h"
#include "support/onnx_data.h"
#include "support/skips.h"

#ifndef XIR_ONNX_TESTS
#define XIR_ONNX_TESTS "/usr/share/libonnx-testdata/data"
#endif

enum { LEAST_TYPES = 60, LEAST_TESTS = 600, MOST_FILES = 32 };

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* The open files, each in a block of exactly its size, so that reads past the end are detected. */
static unsigned char *held[1 + 2 * MOST_FILES];
static size_t         n_held;

static void release_to(size_t n) {
    while (n_held > n) free(held[--n_held]);
}

/* The bytes of a file; `data` is NULL if it does not exist. */
static pb_bytes read_file(const char *path) {
    pb_bytes none = { NULL, 0 };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return none;
    unsigned char *data = fstat(fd, &st) == 0 ? malloc(st.st_size ? (size_t)st.st_size : 1) : NULL;
    size_t size = 0;
    for (ssize_t n = 1; data && n > 0 && size < (size_t)st.st_size; size += n > 0 ? (size_t)n : 0) {
        n = read(fd, data + size, (size_t)st.st_size - size);
    }
    close(fd);
    if (!data || size != (size_t)st.st_size) fail_msg("%s cannot be read", path);
    held[n_held++] = data;
    return (pb_bytes){ data, size };
}

static size_t read_files(const char *folder, const char *what, pb_bytes out[MOST_FILES]) {
    char path[600];
    size_t n = 0;
    for (; n < MOST_FILES; n++) {
        snprintf(path, sizeof path, "%s/%s_%zu.pb", folder, what, n);
        if (!(out[n] = read_file(path)).data) break;
    }
    return n;
}

/* Calls `each` with the names in a folder, in order. */
static int visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }
static size_t each_name(const char *folder, void (*each)(const char *path, const char *name)) {
    struct dirent **names;
    int n = scandir(folder, &names, visible, alphasort);
    for (int i = 0; i < n; i++) {
        char path[500];
        int size = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        assert_in_range(size, 1, sizeof path - 1);
        each(path, names[i]->d_name);
        free(names[i]);
    }
    if (n >= 0) free(names);
    return n > 0 ? (size_t)n : 0;
}

/* ---- one test --------------------------------------------------------------------------------------------------- */

static struct {
    size_t tests, sets, equal, by_type, by_test, unknown, unsaid, compared, nodes, ops, damaged, wrong;
    size_t n_types;
    char   types[MOST_LISTED][48];   /* op types of tests that agree */
} total;

static void wrong(const char *test, const char *what, const char *sentence) {
    print_error("%s: %s%s\n", test, what, sentence);
    total.wrong++;
}

/* The treatment of the dims of graph inputs whose bit in `which` is set: they stay, become unknown, or are tripled.
 * Constant inputs are unchanged. */
typedef enum dims_how { AS_RECORDED, UNKNOWN, TRIPLED } dims_how;

/* The graph inputs that become constants: none, all small ones except the first, all small ones. Some of ONNX's
 * run-time inputs are attributes in XIR. */
typedef enum frozen { NONE_FROZEN, OTHERS_FROZEN, ALL_FROZEN, FROZEN_COUNT } frozen;

typedef enum fate { CONVERTED, NO_ROW, NO_FORM, REFUSED } fate;

/* The converted graph of a test. */
typedef struct trial {
    xir_network    *net;
    fate            fate;
    char            op_type[64];     /* of the node that remains */
    char            sentence[400];
    size_t          n_outputs, n_nodes;
    const xir_type *outputs[MOST_FILES];
    bool            changed;         /* some dim of an input is not as recorded */
    bool            by_data;         /* the graph has an op type whose dims depend on data */
    bool            by_bounds;       /* or on dims, but not everywhere */
} trial;

static bool is_one_of(xir_str type, const char *const *words) {
    while (*words && !xir_str_equal(type, xir_str_of(*words))) words++;
    return *words;
}

static xir_str type_of_node(const xir_op *op) {
    xir_str key = xir_class_key(xir_op_class(op));
    return (xir_str){ key.data + 6, key.size > 6 ? key.size - 6 : 0 };
}

/* Gives a graph input the recorded type, or makes it a constant. */
static bool bind_input(trial *t, xir_op *inputs, size_t i, pb_bytes bytes, frozen how_many, dims_how how,
                       uint32_t which) {
    char why_not[200];
    int64_t dims[16];
    xir_value *v = xir_op_output(inputs, (int64_t)i);
    xir_array *array = onnx_array(ctx, bytes, xir_value_type(v), why_not);
    if (!array) return false;
    const xir_type *type = xir_array_type(array);
    size_t rank = xir_type_rank(type);
    if (rank <= 1 && how_many >= (i ? OTHERS_FROZEN : ALL_FROZEN)) {
        xir_value *params = xir_params_from_array(t->net, xir_value_name(v), array);
        if (!params || xir_value_replace(v, params)) fail_msg("no memory");
    } else {
        for (size_t k = 0; k < rank && k < 16; k++) {
            dims[k] = xir_type_dim(type, (int64_t)k, false);
            if (how == AS_RECORDED || !(which >> k & 1)) continue;
            dims[k] = how == UNKNOWN ? -1 : dims[k] * 3;
            t->changed = true;
        }
        if (xir_value_set_type(v, xir_type_tensor(ctx, xir_type_element(type), NULL, dims, rank)))
            fail_msg("no memory");
    }
    xir_array_free(array);
    return true;
}

static void stays(trial *t, fate why_not, const xir_op *op) {
    xir_str type = type_of_node(op);
    t->fate = why_not;
    snprintf(t->op_type, sizeof t->op_type, "%.*s", (int)type.size, type.data);
    for (size_t i = 0; i < xir_diags_count(why) && why_not == NO_FORM; i++) {
        xir_str message = xir_diags_at(why, i)->message;
        snprintf(t->sentence, sizeof t->sentence, "%.*s", (int)(message.size < 380 ? message.size : 380), message.data);
        break;
    }
}

/* Returns true if an op takes the numbers of a list from an input: then its dims depend on data. */
static bool reads_a_list(const xir_op *op) {
    return xir_op_input_count(op) == 2 &&
           (xir_op_is(op, xir_reshape_class()) || xir_op_is(op, xir_expand_class()) ||
            xir_op_is(op, xir_tile_class()) || xir_op_is(op, xir_slice_class()) || xir_op_is(op, xir_pad_class()) ||
            xir_op_is(op, xir_resize_class()));
}

static void begin(trial *t, pb_bytes model, const pb_bytes *inputs, size_t n, frozen how_many, dims_how how,
                  uint32_t which) {
    static const char *const data_types[] = { "NonZero", "Compress", "NonMaxSuppression", "Range", "TopK",
                                              "ConstantOfShape", NULL };
    static const char *const bound_types[] = { "Slice", "Dropout", NULL };
    *t = (trial){ .fate = REFUSED };
    xir_diags_clear(why);
    t->net = xir_network_read(ctx, model.data, model.size, XIR_STR("model.onnx"), NULL, why);
    if (!t->net) return;
    xir_op *first = xir_network_first(t->net), *last = xir_network_last(t->net);
    for (const xir_op *op = first; op; op = xir_op_next(op)) {
        if (!xir_class_is_dialect(xir_op_class(op))) continue;
        t->n_nodes++;
        t->by_data |= is_one_of(type_of_node(op), data_types);
        t->by_bounds |= is_one_of(type_of_node(op), bound_types);
        for (size_t i = 0; i < xir_op_output_count(op); i++)
            (void)xir_value_set_type(xir_op_output(op, (int64_t)i), NULL);
    }
    for (size_t i = 0; i < n && i < xir_op_output_count(first); i++)
        bind_input(t, first, i, inputs[i], how_many, how, which);
    xir_diags_clear(why);
    if (xir_pass_run(t->net, "onnx-to-xir", NULL, NULL, why)) {
        const xir_diag *d = xir_diags_at(why, 0);
        snprintf(t->sentence, sizeof t->sentence, "%.*s", d ? (int)(d->message.size < 380 ? d->message.size : 380) : 0,
                 d ? d->message.data : "");
        return;
    }
    t->fate = CONVERTED;
    for (const xir_op *op = first; op && t->fate == CONVERTED; op = xir_op_next(op)) {
        if (how == AS_RECORDED && reads_a_list(op)) t->fate = NO_FORM;   // tried again with constants
        if (!xir_class_is_dialect(xir_op_class(op))) continue;
        const xir_convert_row *row = xir_convert_find(ctx, xir_class_key(xir_op_class(op)));
        stays(t, row && row->cls ? NO_FORM : NO_ROW, op);
    }
    t->n_outputs = xir_op_input_count(last) < MOST_FILES ? xir_op_input_count(last) : MOST_FILES;
    for (size_t i = 0; i < t->n_outputs; i++) {
        const xir_value *v = xir_op_input(last, (int64_t)i);
        if (v) t->outputs[i] = xir_value_type(v);
    }
}

/* Compares the types with the recorded tensors; returns what differs. */
static bool agree(const trial *t, const pb_bytes *outputs, size_t n, bool loose, char why_not[200]) {
    if (n != t->n_outputs) return snprintf(why_not, 200, "%zu outputs, %zu are recorded", t->n_outputs, n), false;
    for (size_t i = 0; i < n; i++) {
        const xir_type *type = t->outputs[i];
        xir_array *array = onnx_array(ctx, outputs[i], type, why_not);
        if (!array) return false;
        const xir_type *recorded = xir_array_type(array);
        size_t rank = xir_type_rank(recorded);
        bool same = xir_type_equal(xir_type_element(recorded), xir_type_element(type)) && rank == xir_type_rank(type);
        if (!same) snprintf(why_not, 200, "output %zu is %s, recorded is %s", i, spelled(type), spelled(recorded));
        for (size_t d = 0; d < rank && same; d++) {
            int64_t dim = xir_type_dim(type, (int64_t)d, false), expected = xir_type_dim(recorded, (int64_t)d, false);
            same = dim == expected || ((loose || t->by_data) && dim < 0);
            if (!same)
                snprintf(why_not, 200, "dim %zu of output %zu is %lld, recorded is %lld", d, i, (long long)dim,
                         (long long)expected);
        }
        xir_array_free(array);
        if (!same) return false;
    }
    return true;
}

/* The network can be saved, and a second inference changes nothing. */
static void check_network(const char *test, trial *t) {
    const xir_op *last = xir_network_last(t->net);
    xir_diags_clear(why);
    if (xir_network_infer(t->net, why) != XIR_OK || xir_network_validate(t->net, why) != XIR_OK) {
        const xir_diag *d = xir_diags_at(why, 0);
        char sentence[300];
        snprintf(sentence, sizeof sentence, "%.*s", d ? (int)d->message.size : 0, d ? d->message.data : "");
        wrong(test, "the network: ", sentence);
    }
    for (size_t i = 0; i < t->n_outputs; i++) {
        const xir_type *now = xir_value_type(xir_op_input(last, (int64_t)i));
        if (!xir_type_equal(t->outputs[i], now)) wrong(test, "", "inferred again, an output is another");
    }
}

/* Unknown dims that do not affect the outputs leave the output dims known. */
static void check_precise(const char *test, const trial *known, const trial *unknown, const trial *other) {
    char what[200];
    if (other->n_outputs != unknown->n_outputs || known->by_bounds) return;
    for (size_t i = 0; i < known->n_outputs; i++) {
        const xir_type *now = known->outputs[i], *vague = unknown->outputs[i], *changed = other->outputs[i];
        if (xir_type_rank(changed) != xir_type_rank(now)) continue;
        for (size_t d = 0; d < xir_type_rank(now); d++) {
            int64_t dim = xir_type_dim(now, (int64_t)d, false);
            bool same = xir_type_dim(changed, (int64_t)d, false) == dim,
                 open = xir_type_dim(vague, (int64_t)d, false) < 0;
            if (same != open || (dim == 0 && open)) continue;   // three times 0 is 0
            snprintf(what, sizeof what, "dim %zu of output %zu is %s", d, i,
                     same ? "unknown but cannot change" : "known but may change");
            if (dim >= 0) wrong(test, "with unknown dims: ", what);
        }
        total.compared++;
    }
}

/* With unknown dims, inference may know less, but not less than it must. */
static void check_unknown(const char *test, pb_bytes model, const pb_bytes *inputs, size_t n_in,
                          const pb_bytes *outputs, size_t n_out, frozen how_many, const trial *known) {
    static const uint32_t which[] = { 1, 2, 4, 8, UINT32_MAX };
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        static trial vague, other;
        char why_not[200];
        begin(&vague, model, inputs, n_in, how_many, UNKNOWN, which[i]);
        total.unknown += vague.changed;
        if (!vague.changed) {
            /* no input has so many dims */
        } else if (vague.fate == NO_FORM) {
            total.unsaid++;
        } else if (vague.fate != CONVERTED) {
            wrong(test, "with unknown dims: ", vague.sentence);
        } else if (!agree(&vague, outputs, n_out, true, why_not)) {
            wrong(test, "with unknown dims: ", why_not);
        } else {
            begin(&other, model, inputs, n_in, how_many, TRIPLED, which[i]);
            if (other.fate == CONVERTED) check_precise(test, known, &vague, &other);
            xir_network_free(other.net);
        }
        xir_network_free(vague.net);
    }
}

static char       test_name[200];
static pb_bytes   test_model;
static bool       test_differs, test_no_row;

/* Collects the op types of a graph that agrees. */
static void note_types(void) {
    xir_network *net = xir_network_read(ctx, test_model.data, test_model.size, XIR_STR("model.onnx"), NULL, why);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        xir_str type = type_of_node(op);
        size_t i = 0;
        if (!xir_class_is_dialect(xir_op_class(op)) || type.size >= sizeof total.types[0]) continue;
        while (i < total.n_types && !xir_str_equal(type, xir_str_of(total.types[i]))) i++;
        if (i == total.n_types)
            snprintf(total.types[total.n_types++], sizeof total.types[0], "%.*s", (int)type.size, type.data);
    }
    xir_network_free(net);
}

/* ONNX's own models are valid: there are no findings. */
static void check_model(void) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, test_model.data, test_model.size, XIR_STR("model.onnx"), NULL, why);
    if (!net) wrong(test_name, "cannot be read", "");
    else if (xir_dialect_check(net, why)) wrong(test_name, "has a finding: ", xir_diags_at(why, 0)->message.data);
    xir_network_free(net);
}

static void try_set(const char *path, const char *name) {
    pb_bytes inputs[MOST_FILES], outputs[MOST_FILES];
    static trial t;
    char why_not[200];
    if (strncmp(name, "test_data_set_", 14) != 0) return;
    size_t n_in = read_files(path, "input", inputs), n_out = read_files(path, "output", outputs);
    total.sets++;
    frozen how_many = NONE_FROZEN;
    begin(&t, test_model, inputs, n_in, how_many, AS_RECORDED, 0);
    while (t.fate == NO_FORM && how_many + 1 < FROZEN_COUNT) {
        xir_network_free(t.net);
        begin(&t, test_model, inputs, n_in, ++how_many, AS_RECORDED, 0);
    }
    listed *entry = find_listed(false, test_name), *type = t.fate == NO_ROW ? find_listed(true, t.op_type) : NULL;
    if (type) {
        type->seen++, test_no_row = true;
    } else if (t.fate != CONVERTED) {
        test_differs = true;
        if (!entry) wrong(test_name, t.op_type, (snprintf(why_not, sizeof why_not, ": %.190s", t.sentence), why_not));
    } else if (!agree(&t, outputs, n_out, false, why_not)) {
        test_differs = true;
        if (!entry) wrong(test_name, "", why_not);
    } else {
        note_types();
        check_network(test_name, &t);
        total.nodes += t.n_nodes;
        total.ops += xir_network_op_count(t.net);
        if (!entry) check_unknown(test_name, test_model, inputs, n_in, outputs, n_out, how_many, &t);
    }
    xir_network_free(t.net);
    release_to(1);
}

static void try_test(const char *path, const char *name) {
    char model[600];
    const char *group = strrchr(path, '/');
    while (group > path && group[-1] != '/') group--;
    snprintf(model, sizeof model, "%s/model.onnx", path);
    snprintf(test_name, sizeof test_name, "%s", group);
    (void)name;
    test_model = read_file(model);
    if (!test_model.data) return;   // models that must be fetched
    test_differs = test_no_row = false;
    total.tests++;
    check_model();
    each_name(path, try_set);
    listed *entry = find_listed(false, test_name);
    if (test_no_row) total.by_type++;
    else if (test_differs) total.by_test++;
    else total.equal++;
    if (entry && !test_differs) wrong(test_name, "is listed but agrees", "");
    if (entry) entry->seen++;
    release_to(0);
}

static void try_group(const char *path, const char *name) {
    (void)name;
    each_name(path, try_test);
}

static const char *tests_folder(void) {
    const char *folder = getenv("XIR_ONNX_TESTS");
    return folder && *folder ? folder : XIR_ONNX_TESTS;
}

static void onnx_infers_the_same(void **state) {
    (void)state;
    const char *folder = tests_folder();
    read_list("ops/onnx_unlike.txt");
    if (each_name(folder, try_group) == 0 || total.tests == 0) {
        SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", folder);
    }
    for (size_t i = 0; i < n_listed; i++) {
        char key[120];
        snprintf(key, sizeof key, "onnx::%s", list[i].name);
        const xir_convert_row *row = xir_convert_find(ctx, xir_str_of(key));
        if (list[i].is_op && row && row->cls) wrong(list[i].name, "is listed without counterpart but has a row", "");
    }
    for (size_t i = 0; i < n_listed; i++) {
        if (list[i].seen) continue;
        if (getenv("XIR_ONNX_TESTS")) print_message("%s is listed but not among these tests\n", list[i].name);
        else wrong(list[i].name, "is listed but not among the tests", "");
    }
    print_message("ONNX: %zu tests; %zu equal, of %zu op types, %zu nodes as %zu ops; ", total.tests, total.equal,
                  total.n_types, total.nodes, total.ops);
    print_message("%zu listed, %zu of op types without counterpart\n", total.by_test, total.by_type);
    print_message("      with unknown dims: %zu, of which %zu cannot be inferred, %zu outputs compared with other dims\n",
                  total.unknown, total.unsaid, total.compared);
    assert_int_equal(total.wrong, 0);
    assert_true(total.n_types >= LEAST_TYPES);
    assert_true(total.equal + total.by_test >= LEAST_TESTS);
}

/* ---- the wire --------------------------------------------------------------------------------------------------- */

#define ROW(text, fields) { { (const unsigned char *)(text), sizeof(text) - 1 }, fields }
#define BYTES(text) ((pb_bytes){ (const unsigned char *)(text), sizeof(text) - 1 })

/* "2:v150 3:b(testing)": the fields of a message, and a "!" where it breaks off. */
static const char *fields_of(pb_bytes bytes) {
    static char out[256];
    size_t at = 0;
    pb_field f;
    pb_walk walk = pb_begin(bytes);
    *out = 0;
    while (pb_next(&walk, &f) && at < sizeof out - 80) {
        const char *gap = at ? " " : "";
        if (f.wire == PB_BYTES) {
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%u:b(%.*s)", gap, f.number, (int)f.bytes.size,
                                   (const char *)f.bytes.data);
        } else {
            at += (size_t)snprintf(out + at, sizeof out - at, "%s%u:%c%llu", gap, f.number, "vl---i"[f.wire],
                                   (unsigned long long)f.value);
        }
    }
    if (walk.broken) snprintf(out + at, sizeof out - at, "!");
    return out;
}

static void fields_are_walked(void **state) {
    (void)state;
    static const struct { pb_bytes bytes; const char *fields; } rows[] = {
        ROW("",                                                ""),
        ROW("\x08\x96\x01",                                    "1:v150"),
        ROW("\x12\x07testing",                                 "2:b(testing)"),
        ROW("\x12\x00\x18\x05",                                "2:b() 3:v5"),
        ROW("\x0d\x01\x02\x00\x00",                            "1:i513"),
        ROW("\x09\x01\x00\x00\x00\x00\x00\x00\x01",            "1:l72057594037927937"),
        /* the highest number of a field, the greatest value */
        ROW("\xf8\xff\xff\xff\x0f\x01",                        "536870911:v1"),
        ROW("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",    "1:v18446744073709551615"),
        /* longer than needed is fine, longer than 64 bits is not */
        ROW("\x08\x81\x80\x00",                                "1:v1"),
        ROW("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",    "!"),
        ROW("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "!"),
        /* no field 0, none beyond 2^29 - 1 */
        ROW("\x00\x01",                                        "!"),
        ROW("\x80\x80\x80\x80\x10\x01",                        "!"),
        /* truncation at each position */
        ROW("\x88",                                            "!"),
        ROW("\x08",                                            "!"),
        ROW("\x08\x96",                                        "!"),
        ROW("\x12",                                            "!"),
        ROW("\x12\x03" "ab",                                      "!"),
        ROW("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",    "!"),
        ROW("\x0d\x01\x02\x03",                                "!"),
        ROW("\x09\x01\x02\x03\x04\x05\x06\x07",                "!"),
        ROW("\x08\x01\x12\x05",                                "1:v1!"),
        /* groups, and invalid wire types */
        ROW("\x0b\x0c",                                        "!"),
        ROW("\x0e",                                            "!"),
        ROW("\x0f",                                            "!"),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(fields_of(rows[i].bytes), rows[i].fields);
}

static void numbers_are_packed_or_not(void **state) {
    (void)state;
    /* field 7: 1, then [2, 300] packed, another field, an empty pack, 4 */
    pb_bytes mixed = BYTES("\x38\x01\x3a\x03\x02\xac\x02\x08\x63\x3a\x00\x38\x04");
    static const uint64_t expected[] = { 1, 2, 300, 4 };
    uint64_t value;
    size_t n = 0;
    pb_numbers numbers = pb_numbers_of(mixed, 7, PB_VARINT);
    for (; pb_numbers_next(&numbers, &value); n++) assert_int_equal(value, expected[n]);
    assert_int_equal(n, 4);
    assert_false(numbers.fields.broken);
    assert_int_equal(pb_count(mixed, 7), 4);

    pb_bytes floats = BYTES("\x22\x08\x00\x00\x80\x3f\x00\x00\x00\xc0");
    numbers = pb_numbers_of(floats, 4, PB_FIXED32);
    assert_true(pb_numbers_next(&numbers, &value) && pb_float(value) == 1.0f);
    assert_true(pb_numbers_next(&numbers, &value) && pb_float(value) == -2.0f);
    assert_false(pb_numbers_next(&numbers, &value));

    /* a pack that ends in a number, and a number of another wire type */
    numbers = pb_numbers_of(BYTES("\x3a\x02\x01\x80"), 7, PB_VARINT);
    assert_true(pb_numbers_next(&numbers, &value));
    assert_false(pb_numbers_next(&numbers, &value));
    assert_true(numbers.fields.broken);
    numbers = pb_numbers_of(BYTES("\x3d\x01\x00\x00\x00"), 7, PB_VARINT);
    assert_false(pb_numbers_next(&numbers, &value));
    assert_true(numbers.fields.broken);
}

/* The elements of a TensorProto as text. */
static const char *elements_of(pb_bytes bytes) {
    static char out[200];
    onnx_tensor tensor;
    onnx_number number;
    size_t at = 0;
    *out = 0;
    assert_true(onnx_read_tensor(bytes, &tensor));
    for (onnx_elements e = onnx_elements_of(&tensor); onnx_elements_next(&e, &number);) {
        at += (size_t)(number.real ? snprintf(out + at, sizeof out - at, "%s%g", at ? " " : "", number.f)
                                   : snprintf(out + at, sizeof out - at, "%s%lld", at ? " " : "", (long long)number.i));
    }
    return out;
}

static void elements_are_read(void **state) {
    (void)state;
    /* data_type 2, dims 1; raw_data 9, int32_data 5, int64_data 7, float_data 4, uint64_data 11 */
    assert_string_equal(elements_of(BYTES("\x10\x07\x4a\x10\x01\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff")),
                        "1 -1");
    assert_string_equal(elements_of(BYTES("\x10\x03\x4a\x03\x7f\x80\xff")), "127 -128 -1");
    assert_string_equal(elements_of(BYTES("\x10\x02\x4a\x03\x7f\x80\xff")), "127 128 255");
    assert_string_equal(elements_of(BYTES("\x10\x09\x4a\x03\x00\x01\x02")), "0 1 1");
    assert_string_equal(elements_of(BYTES("\x10\x01\x4a\x08\x00\x00\x80\x3f\x00\x00\x80\x7f")), "1 inf");
    assert_string_equal(elements_of(BYTES("\x10\x0a\x4a\x0a\x00\x3c\x00\xc0\x01\x00\x00\x7c\xff\x7b")),
                        "1 -2 5.96046e-08 inf 65504");
    assert_string_equal(elements_of(BYTES("\x10\x10\x4a\x04\x80\x3f\x00\xc0")), "1 -2");
    assert_string_equal(elements_of(BYTES("\x10\x03\x2a\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x05")), "-1 5");
    assert_string_equal(elements_of(BYTES("\x10\x07\x3a\x02\x03\x04")), "3 4");
    assert_string_equal(elements_of(BYTES("\x10\x0d\x5a\x02\x03\x04")), "3 4");
    /* nothing for: incomplete elements, texts, complex numbers, unknown types, external files */
    assert_string_equal(elements_of(BYTES("\x10\x06\x4a\x06\x01\0\0\0\x02\0")), "1");
    assert_string_equal(elements_of(BYTES("\x10\x08\x32\x02xy")), "");
    assert_string_equal(elements_of(BYTES("\x10\x0e\x4a\x08\0\0\0\0\0\0\0\0")), "");
    assert_string_equal(elements_of(BYTES("\x10\x63\x4a\x08\0\0\0\0\0\0\0\0")), "");
    assert_string_equal(elements_of(BYTES("\x10\x07\x4a\x08\x01\0\0\0\0\0\0\0\x70\x01")), "");
    /* fields of another wire type than the message has */
    onnx_tensor tensor;
    assert_false(onnx_read_tensor(BYTES("\x12\x01\x07"), &tensor));
    assert_false(onnx_read_tensor(BYTES("\x10\x07\x48\x01"), &tensor));
    assert_false(onnx_read_tensor(BYTES("\x10\x07\x4a\x08\x01"), &tensor));
}

/* Damaged models: each is converted or refused with a message, and nothing out of bounds is read (the sanitizers
 * check that). For some models every prefix and every single-byte change is tried; for all, a few random changes,
 * most of which are still models that ask the operations for unusual things. */
static void try_damaged(const pb_bytes *model, size_t size, const size_t *places, size_t n, const pb_bytes *inputs,
                        size_t n_in) {
    static trial t;
    unsigned char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    if (size) memcpy(copy, model->data, size);
    for (size_t i = 0; i < n; i++) copy[places[i]] ^= (unsigned char)(1 + chance(255));
    begin(&t, (pb_bytes){ copy, size }, inputs, n_in, chance(FROZEN_COUNT), AS_RECORDED, 0);
    total.damaged += t.fate == CONVERTED;
    xir_network_free(t.net);
    free(copy);
}

static bool in_full(const char *path) {
    static const char *const names[] = {
        "/test_conv_with_strides_padding", "/test_slice", "/test_reshape_reordered_all_dims", "/test_gemm_all_attributes",
        "/test_constant", "/test_softmax_axis_0_expanded", "/test_lstm_defaults", "/test_loop11", "/test_pow",
        "/test_constantofshape_float_ones", "/test_PReLU_1d_multiparam", "/test_operator_repeat",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t size = strlen(path), tail = strlen(names[i]);
        if (size > tail && strcmp(path + size - tail, names[i]) == 0) return true;
    }
    return false;
}

static void damage(const char *path, const char *name) {
    enum { BY_CHANCE = 6 };
    char file[500];
    pb_bytes inputs[MOST_FILES];
    (void)name;
    snprintf(file, sizeof file, "%.400s/model.onnx", path);
    pb_bytes model = read_file(file);
    if (model.size == 0) return;   // a model that must be fetched
    snprintf(file, sizeof file, "%.400s/test_data_set_0", path);
    size_t n_in = read_files(file, "input", inputs);
    for (int i = 0; i < BY_CHANCE; i++) {
        const size_t places[] = { chance(model.size), chance(model.size) };
        try_damaged(&model, model.size, places, 1 + chance(2), inputs, n_in);
    }
    for (size_t i = 0; i < model.size && in_full(path); i++) {
        try_damaged(&model, i, NULL, 0, inputs, n_in);
        try_damaged(&model, model.size, &i, 1, inputs, n_in);
    }
    for (size_t i = 0; n_in && i < inputs[0].size && i < 40 && in_full(path); i++) {
        pb_bytes whole = inputs[0];
        inputs[0].size = i;
        try_damaged(&model, model.size, NULL, 0, inputs, n_in);
        inputs[0] = whole;
    }
    release_to(0);
}

static void damage_group(const char *path, const char *name) {
    (void)name;
    each_name(path, damage);
}

static void damaged_models_are_reported(void **state) {
    (void)state;
    if (each_name(tests_folder(), damage_group) == 0)
        SKIP("no ONNX operator tests in %s (Debian: libonnx-testdata)", tests_folder());
    print_message("ONNX: %zu damaged models are models\n", total.damaged);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_walked),
        cmocka_unit_test(numbers_are_packed_or_not),
        cmocka_unit_test(elements_are_read),
        cmocka_unit_test(onnx_infers_the_same),
        cmocka_unit_test(damaged_models_are_reported),
    };
    return RUN_GROUP(tests);
}
