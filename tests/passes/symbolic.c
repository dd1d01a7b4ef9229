/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inferred types of networks with symbolic inputs hold for every binding. Networks of the tests (and of the
 * corpus, if XIR_SYMBOL_GRAPHS asks for the full campaign) get symbols for the first dim of each input, then for all
 * dims; each binding is compared with inference of the network whose inputs have those numbers. */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include "support/net.h"
#include "support/often.h"

enum { MOST_FILES = 2000, MOST_SYMBOLS = 64, MOST_DIMS = 16, MOST_INPUTS = 64 };

static char  *files[MOST_FILES];
static size_t n_files;

static bool ends(const char *path, const char *end) {
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

static int note(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)ftw;
    bool network = ends(path, ".onnx") || ends(path, ".onnx.xz") || ends(path, ".json") || ends(path, ".fb") ||
                   ends(path, ".imodel");
    if (flag == FTW_F && network && n_files < MOST_FILES) files[n_files++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* NULL for files that are not networks. */
static xir_network *load(const char *path) {
    char unpacked[] = "symbolic.tmp.onnx", command[1200];
    bool packed = ends(path, ".xz");
    snprintf(command, sizeof command, "xz -dc '%s' >%s", path, unpacked);
    if (packed && system(command) != 0) return NULL;
    xir_network *net = xir_network_load(ctx, packed ? unpacked : path, NULL, why);
    if (net && (strstr(path, ".onnx") != NULL)) (void)xir_pass_run(net, "to-xir", NULL, NULL, why);
    if (packed) remove(unpacked);
    xir_diags_clear(why);
    return net;
}

/* ---- inference, op by op ---------------------------------------------------------------------------------------- */

static bool needs_bad(const xir_network *net, const xir_op *op, const bool *bad) {
    for (int64_t i = 0; i < (int64_t)xir_op_input_count(op); i++) {
        const xir_value *v = xir_op_input(op, i);
        const xir_op *from = v ? xir_value_op(v) : NULL;
        int64_t at = from ? xir_network_index_of(net, from) : -1;
        if (at >= 0 && bad[at]) return true;
    }
    return false;
}

/* Infers each op again; those that are refused, and all that need them, become bad. Returns how many are good. */
static size_t infer_each(xir_network *net, bool *bad) {
    size_t i = 0, good = 0;
    for (xir_op *op = xir_network_first(net); op; op = xir_op_next(op), i++) {
        if (xir_op_input_count(op) == 0 || xir_op_output_count(op) == 0) continue;
        bad[i] = bad[i] || needs_bad(net, op, bad) || xir_op_infer(op, true) != XIR_OK;
        good += !bad[i];
    }
    xir_network_clear_status(net);
    return good;
}

/* ---- symbols ---------------------------------------------------------------------------------------------------- */

/* Names the dims of the inputs by their numbers, so that equal ones stay equal: "d224". */
static bool make_symbolic(xir_network *net, bool all) {
    xir_op *in = xir_network_input_op(net);
    bool any = false;
    for (int64_t i = 0; in && i < (int64_t)xir_op_output_count(in); i++) {
        xir_value *v = xir_op_output(in, i);
        const xir_type *type = xir_value_type(v);
        char text[MOST_DIMS][40];
        xir_str dims[MOST_DIMS];
        size_t rank = xir_type_rank(type);
        if (!xir_type_as_tensor(type) || xir_type_is_layouted(type) || rank > MOST_DIMS ||
            xir_type_as_tensor(type)->merged_distrs.size) continue;
        for (size_t k = 0; k < rank; k++) {
            int64_t dim = xir_type_dim(type, (int64_t)k, false);
            if (dim < 0) xir_type_dim_text(type, (int64_t)k, text[k], sizeof text[k]);
            else snprintf(text[k], sizeof text[k], all || k == 0 ? "d%lld" : "%lld", (long long)dim);
            dims[k] = xir_str_of(text[k]);
        }
        const xir_type *made = xir_network_type_with_dims(net, type, dims, rank, why);
        if (made && xir_value_set_type(v, made) == XIR_OK) any |= xir_type_is_symbolic(made);
    }
    return any;
}

/* The number of a name like d224, otherwise a small one. */
static int64_t own_value(const xir_symbol *s) {
    int64_t v = 0;
    for (size_t i = 1; i < s->name.size; i++) {
        if (s->name.data[0] != 'd' || s->name.data[i] < '0' || s->name.data[i] > '9') return 3;
        v = v * 10 + (s->name.data[i] - '0');
    }
    return v;
}

static void choose(xir_symbol *s, size_t n, int round) {
    for (size_t i = 0; i < n; i++) {
        int64_t v = round == 0 ? own_value(&s[i]) : round < 3 ? round - 1 : (int64_t)chance(round < 10 ? 8 : 64);
        v = v < s[i].least ? s[i].least : v > s[i].most ? s[i].most : v;
        s[i].least = s[i].most = v;
    }
}

/* ---- one network ------------------------------------------------------------------------------------------------ */

typedef struct counts { size_t networks, bindings, dims; } counts;

static void compare(const char *path, const xir_op *says, const xir_op *is, counts *n) {
    for (int64_t i = 0; i < (int64_t)xir_op_output_count(is); i++) {
        const xir_type *a = xir_value_type(xir_op_output(says, i)), *b = xir_value_type(xir_op_output(is, i));
        if (!xir_type_as_tensor(b)) continue;
        assert_int_equal(xir_type_rank(a), xir_type_rank(b));
        for (int64_t k = 0; k < (int64_t)xir_type_rank(b); k++) {
            int64_t dim = xir_type_dim(a, k, false), expected = xir_type_dim(b, k, false);
            n->dims++;
            if (dim < 0 || dim == expected) continue;
            fail_msg("%s: dim %d of %.*s: the expression gives %lld, inference %lld", path, (int)k,
                     (int)xir_value_name(xir_op_output(is, i)).size, xir_value_name(xir_op_output(is, i)).data,
                     (long long)dim, (long long)expected);
        }
    }
}

static void check_binding(const char *path, const xir_network *open, const bool *bad, size_t n_ops,
                          const xir_symbol *to, size_t n_symbols, counts *n) {
    xir_network *bound = xir_network_clone(open), *inferred = xir_network_clone(open);
    bool *refused = malloc(n_ops + 1);
    memcpy(refused, bad, n_ops + 1);
    if (xir_network_bind(bound, to, n_symbols, why) == XIR_OK) {
        xir_op *from = xir_network_input_op(bound), *in = xir_network_input_op(inferred);
        for (int64_t i = 0; i < (int64_t)xir_op_output_count(in); i++)
            DOES(xir_value_set_type(xir_op_output(in, i), xir_value_type(xir_op_output(from, i))));
        infer_each(inferred, refused);
        n->bindings++;
        const xir_op *a = xir_network_first(bound), *b = xir_network_first(inferred);
        for (size_t i = 0; b; a = xir_op_next(a), b = xir_op_next(b), i++) if (!refused[i]) compare(path, a, b, n);
    }
    free(refused);
    xir_network_free(bound);
    xir_network_free(inferred);
    xir_diags_clear(why);
}

static void check_network(const char *path, const xir_network *net, bool all, int bindings, counts *n) {
    xir_network *open = xir_network_clone(net);
    size_t n_ops = xir_network_op_count(net);
    bool *bad = calloc(n_ops + 1, 1);
    if (make_symbolic(open, all) && infer_each(open, bad)) {
        n->networks++;
        for (int round = 0; round < bindings; round++) {
            xir_symbol s[MOST_SYMBOLS];
            size_t m = xir_network_symbols(open, s, MOST_SYMBOLS);
            if (m > MOST_SYMBOLS) break;
            choose(s, m, round);
            check_binding(path, open, bad, n_ops, s, m, n);
        }
    }
    free(bad);
    xir_network_free(open);
    xir_diags_clear(why);
}

static void networks_agree_with_every_binding(void **state) {
    (void)state;
    bool full = getenv("XIR_SYMBOL_GRAPHS") != NULL;
    const char *corpus = full ? getenv("XIR_CORPUS") : NULL;
    counts n = { 0 };
    nftw(XIR_TEST_DATA, note, 16, FTW_PHYS);
    if (corpus) nftw(corpus, note, 16, FTW_PHYS);
    qsort(files, n_files, sizeof *files, by_name);
    for (size_t i = 0; i < n_files; i++) {
        xir_network *net = load(files[i]);
        for (int all = 0; net && all < 2; all++) check_network(files[i], net, all, full ? 20 : OFTEN(5), &n);
        xir_network_free(net);
        free(files[i]);
    }
    print_message("%zu networks with symbols from %zu files, %zu bindings, %zu dims compared\n", n.networks, n_files,
                  n.bindings, n.dims);
    assert_true(n.networks >= 14 && n.dims > 1000);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(networks_agree_with_every_binding) };
    return RUN_GROUP(tests);
}
