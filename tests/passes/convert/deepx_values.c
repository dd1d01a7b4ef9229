/* Runs recorded programs of DeepX: each row of the corpus' folder deepx/values is converted by deepx-to-xir and
 * computed; the tensors that exist at its end must be those of the executor, or, where it crashes or is wrong, those of
 * the formula, within the tolerance of the row, before and after the default pipeline. XIR_DEEPX_ONLY names a single
 * row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/inflate.h"
#include "support/net.h"
#include "support/skips.h"

enum { MOST_ARRAYS = 256 };

typedef struct tensors { xir_array *arrays[MOST_ARRAYS]; char names[MOST_ARRAYS][80]; size_t n; } tensors;

static size_t number16(const unsigned char *p) { return p[0] | (size_t)p[1] << 8; }
static size_t number32(const unsigned char *p) { return number16(p) | number16(p + 2) << 16; }

static unsigned char *read_whole(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *size = (size_t)ftell(f);
    rewind(f);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

/* The members NAME.npy of an archive, packed or not. */
static void read_tensors(const char *path, tensors *set) {
    size_t size = 0;
    unsigned char *bytes = read_whole(path, &size);
    set->n = 0;
    for (size_t at = 0; at + 30 <= size && memcmp(bytes + at, "PK\3\4", 4) == 0; set->n++) {
        const size_t packed = number32(bytes + at + 18), n = number32(bytes + at + 22);
        const size_t name = number16(bytes + at + 26);
        const unsigned char *data = bytes + at + 30 + name + number16(bytes + at + 28);
        unsigned char *whole = malloc(n + 1);
        assert_true(whole && set->n < MOST_ARRAYS && name > 4 && name < 80);
        if (number16(bytes + at + 8)) inflate_bytes(data, packed, whole, n);
        else memcpy(whole, data, n);
        snprintf(set->names[set->n], 80, "%.*s", (int)name - 4, (const char *)bytes + at + 30);
        set->arrays[set->n] = xir_array_read_npy(ctx, whole, n, xir_str_of(set->names[set->n]), why);
        assert_non_null(set->arrays[set->n]);
        free(whole);
        at = (size_t)(data - bytes) + packed;
    }
    free(bytes);
    assert_true(set->n > 0);
}

static bool agrees(const xir_array *found, const xir_array *expected, double relative, double absolute, char *reason) {
    const xir_type *a = xir_array_type(found), *b = xir_array_type(expected);
    bool same = xir_type_rank(a) == xir_type_rank(b) && xir_type_equal(xir_type_element(a), xir_type_element(b));
    for (size_t i = 0; same && i < xir_type_rank(a); i++)
        same = xir_type_dim(a, (int64_t)i, false) == xir_type_dim(b, (int64_t)i, false);
    if (!same) return snprintf(reason, 200, "it has another type"), false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= absolute + relative * fabs(y)) continue;
        snprintf(reason, 200, "element %zu is %.17g, expected %.17g", i, x, y);
        return false;
    }
    return true;
}

static size_t result_named(const xir_network *net, const char *name) {
    const xir_op *output = xir_network_output_op(net);
    for (size_t i = 0; i < xir_op_input_count(output); i++)
        if (xir_str_equal(xir_value_name(xir_op_input(output, (int64_t)i)), xir_str_of(name))) return i;
    fail_msg("no result is '%s'", name);
    return 0;
}

static size_t wrong;

static void try_pipeline(const char *row, const xir_network *model, const char *text, const tensors *set,
                         double relative, double absolute) {
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    xir_network *net = xir_network_clone(model);
    xir_array *out[MOST_ARRAYS] = { NULL };
    char reason[200];
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    const xir_status status = xir_pipeline_run(pipeline, net, &settings, NULL, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    xir_pipeline_free(pipeline);
    const size_t n = xir_op_input_count(xir_network_output_op(net));
    assert_true(n <= MOST_ARRAYS && !xir_network_first_unrunnable(net));
    assert_int_equal(xir_op_output_count(xir_network_input_op(net)), 0);
    DOES(xir_network_run(net, NULL, 0, out, n, NULL, why));
    for (size_t i = 0; i < set->n; i++) {
        if (agrees(out[result_named(net, set->names[i])], set->arrays[i], relative, absolute, reason)) continue;
        print_error("%s: %s: %s: %s\n", row, text, set->names[i], reason);
        wrong++;
    }
    for (size_t i = 0; i < n; i++) xir_array_free(out[i]);
    xir_network_free(net);
}

/* A line of index.tsv: name, file, functions, tensors, relative and absolute tolerance, and notes. */
static void recorded_programs_give_their_tensors(void **state) {
    (void)state;
    static tensors set;
    static char line[20000];
    char folder[500], path[700];
    size_t rows = 0;
    snprintf(folder, sizeof folder, "%s/deepx", CORPUS_OR_SKIP());
    snprintf(path, sizeof path, "%s/values/index.tsv", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const char *only = getenv("XIR_DEEPX_ONLY");
    while (fgets(line, sizeof line, f)) {
        char *fields[6] = { NULL }, *p = line;
        for (size_t i = 0; i < 6 && p; i++) {
            fields[i] = p;
            p = strchr(p, '\t');
            if (p) *p++ = '\0';
        }
        if (*line == '#' || !fields[5] || (only && strcmp(only, fields[0]) != 0)) continue;
        const char *slash = strrchr(fields[1], '/');
        const bool trace = strncmp(fields[0], "corpus__", 8) == 0;
        snprintf(path, sizeof path, "%s/%s%s", folder, trace ? "" : "values/", slash ? slash + 1 : fields[1]);
        xir_network *model = xir_network_load(ctx, path, NULL, why);
        assert_non_null(model);
        snprintf(path, sizeof path, "%s/values/%s.npz", folder, fields[0]);
        read_tensors(path, &set);
        try_pipeline(fields[0], model, "deepx-to-xir", &set, atof(fields[4]), atof(fields[5]));
        try_pipeline(fields[0], model, xir_default_pipeline(), &set, atof(fields[4]), atof(fields[5]));
        for (size_t i = 0; i < set.n; i++) xir_array_free(set.arrays[i]);
        xir_network_free(model);
        rows++;
    }
    fclose(f);
    print_message("DeepX: %zu programs, %zu tensors differ\n", rows, wrong);
    assert_true(rows > 0);
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_programs_give_their_tensors) };
    return RUN_GROUP(tests);
}
