/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Files of PNNX's own converter, the corpus' folder pnnx/converter: a check finds nothing wrong in any of them, and
 * after pnnx-to-xir and infer every inferred type agrees with the one that the file declares. XIR_PNNX_ONLY names a
 * file. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"
#include "support/skips.h"

enum { MOST_VALUES = 1 << 14 };

typedef struct declared { char name[120]; const xir_type *type; } declared;

static int by_name(const void *a, const void *b) {
    return strcmp(((const declared *)a)->name, ((const declared *)b)->name);
}

/* The types of the operators' outputs by name, sorted; a name that appears twice counts once. */
static size_t read_declared(const xir_network *net, declared *out) {
    size_t n = 0;
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            const xir_str name = xir_value_name(v);
            if (!xir_type_as_tensor(xir_value_type(v)) || !name.size || name.size >= sizeof out->name) continue;
            assert_true(n < MOST_VALUES);
            snprintf(out[n].name, sizeof out->name, "%.*s", (int)name.size, name.data);
            out[n++].type = xir_value_type(v);
        }
    }
    qsort(out, n, sizeof *out, by_name);
    return n;
}

static bool agree(const xir_type *a, const xir_type *b) {
    if (!xir_type_equal(xir_type_element(a), xir_type_element(b)) || xir_type_rank(a) != xir_type_rank(b)) return false;
    for (size_t i = 0; i < xir_type_rank(a); i++) {
        const int64_t x = xir_type_dim(a, (int64_t)i, false), y = xir_type_dim(b, (int64_t)i, false);
        if (x >= 0 && y >= 0 && x != y) return false;
    }
    return true;
}

static struct { size_t files, whole, types, wrong; } total;

static void complain(const char *path, const char *what) {
    print_error("%s: %s\n", strrchr(path, '/') + 1, what);
    for (size_t i = 0; i < xir_diags_count(why) && i < 3; i++)
        print_error("    %.*s\n", (int)xir_diags_at(why, i)->message.size, xir_diags_at(why, i)->message.data);
    total.wrong++;
}

static void check_types(const char *path, const xir_network *net, const declared *known, size_t n) {
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        for (size_t i = 0; i < xir_op_output_count(op); i++) {
            const xir_value *v = xir_op_output(op, (int64_t)i);
            const xir_str name = xir_value_name(v);
            declared key;
            if (!xir_type_as_tensor(xir_value_type(v)) || name.size >= sizeof key.name) continue;
            snprintf(key.name, sizeof key.name, "%.*s", (int)name.size, name.size ? name.data : "");
            const declared *d = bsearch(&key, known, n, sizeof *known, by_name);
            if (!d) continue;
            total.types++;
            if (agree(xir_value_type(v), d->type)) continue;
            xir_diags_clear(why);
            complain(path, key.name);
        }
    }
}

static void try_file(const char *path) {
    static declared known[MOST_VALUES];
    xir_diags_clear(why);
    total.files++;
    xir_network *net = xir_network_load(ctx, path, NULL, why);
    assert_non_null(net);
    xir_diags_clear(why);   /* the archives of large networks are left out of the corpus, which is a warning */
    const bool opens = xir_dialect_check(net, why) == XIR_OK && !xir_diags_count_of(why, XIR_WARNING);
    if (!opens) complain(path, "a check finds something");
    const size_t n = read_declared(net, known);
    xir_network *model = xir_network_clone(net);   /* keeps the declared types */
    xir_diags_clear(why);
    if (xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why) || xir_diags_count_of(why, XIR_WARNING) ||
        xir_diags_count_of(why, XIR_ERROR)) complain(path, "it is not converted without warnings");
    total.whole += !xir_network_first_unrunnable(net);
    xir_diags_clear(why);
    if (xir_pass_run(net, "infer", NULL, NULL, why)) complain(path, "it is not inferred");
    check_types(path, net, known, n);
    xir_network_free(net);
    xir_network_free(model);
}

static void converted_files_have_the_types_that_they_declare(void **state) {
    (void)state;
    char pattern[500];
    glob_t found;
    const char *only = getenv("XIR_PNNX_ONLY");
    snprintf(pattern, sizeof pattern, "%s/pnnx/converter/%s.pnnx.param", CORPUS_OR_SKIP(), only ? only : "*");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) try_file(found.gl_pathv[i]);
    globfree(&found);
    print_message("PNNX: %zu files, %zu convert whole; %zu inferred types agree with declared ones\n", total.files,
                  total.whole, total.types);
    assert_int_equal(total.wrong, 0);
}

GROUP {
    const struct CMUnitTest tests[] = { cmocka_unit_test(converted_files_have_the_types_that_they_declare) };
    return RUN_GROUP(tests);
}
