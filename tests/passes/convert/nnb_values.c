/* Runs recorded networks of NNB: each row of the corpus' folder nnb/values is converted by nnb-to-xir and computed; the
 * results must be those of NNabla's C runtime within the tolerance of the row, or, where the row is flagged as a
 * deviation, what NNabla documents (doc0, …), before and after the default pipeline. What differs is listed with the
 * reason in nnb_values.txt; a listed row that passes is an error, too. XIR_NNB_ONLY names a single row. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "elements.h"
#include "support/listed.h"
#include "support/net.h"
#include "support/skips.h"

enum { MOST_ARRAYS = 16, MOST_REASON = 400 };

typedef struct arrays { xir_array *in[MOST_ARRAYS], *out[MOST_ARRAYS], *doc[MOST_ARRAYS]; size_t n_in, n_out; } arrays;

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

/* The members of a stored archive: in0.npy, out0.npy, doc0.npy and so on. */
static void read_arrays(const char *path, arrays *set) {
    size_t size = 0;
    unsigned char *bytes = read_whole(path, &size);
    memset((void *)set, 0, sizeof *set);
    for (size_t at = 0; at + 30 <= size && memcmp(bytes + at, "PK\3\4", 4) == 0;) {
        const size_t n = number32(bytes + at + 22), name = number16(bytes + at + 26), extra = number16(bytes + at + 28);
        const char *text = (const char *)bytes + at + 30;
        const bool is_in = memcmp(text, "in", 2) == 0;
        const size_t i = (size_t)atoi(text + (is_in ? 2 : 3));
        assert_true(i < MOST_ARRAYS);
        xir_array *a = xir_array_read_npy(ctx, bytes + at + 30 + name + extra, n, (xir_str){ text, name }, why);
        assert_non_null(a);
        xir_array **to = is_in ? set->in : *text == 'o' ? set->out : set->doc;
        to[i] = a;
        if (is_in) set->n_in = set->n_in > i + 1 ? set->n_in : i + 1;
        else if (*text == 'o') set->n_out = set->n_out > i + 1 ? set->n_out : i + 1;
        at += 30 + name + extra + n;
    }
    free(bytes);
    assert_true(set->n_in && set->n_out);
}

static void free_arrays(arrays *set) {
    for (size_t i = 0; i < MOST_ARRAYS; i++)
        xir_array_free(set->in[i]), xir_array_free(set->out[i]), xir_array_free(set->doc[i]);
}

/* "exact", "rel:T": T times the greater of 1 and the expected number, or "abs:T". */
static bool is_near(double found, double expected, const char *tolerance) {
    if (isnan(expected) || isinf(expected)) return isnan(expected) ? isnan(found) : found == expected;
    const double t = *tolerance == 'e' ? 0 : strtod(tolerance + 4, NULL) * 1.00001;   /* it has 6 digits */
    return fabs(found - expected) <= (*tolerance == 'r' ? t * fmax(1, fabs(expected)) : t);
}

static bool agree(const xir_array *found, const xir_array *expected, size_t output, const char *tolerance,
                  char reason[MOST_REASON]) {
    const xir_type *a = xir_array_type(found), *b = xir_array_type(expected);
    bool same = xir_type_rank(a) == xir_type_rank(b);
    for (size_t i = 0; same && i < xir_type_rank(a); i++)
        same = xir_type_dim(a, (int64_t)i, false) == xir_type_dim(b, (int64_t)i, false);
    if (!same) return snprintf(reason, MOST_REASON, "output %zu has another shape", output), false;
    for (size_t i = 0; i < xir_array_count(found); i++) {
        const double x = xir_array_real(found, i), y = xir_array_real(expected, i);
        if (is_near(x, y, tolerance)) continue;
        snprintf(reason, MOST_REASON, "element %zu of output %zu is %.9g, expected %.9g", i, output, x, y);
        return false;
    }
    return true;
}

static bool first_error(const char *what, char reason[MOST_REASON]) {
    const xir_diag *d = NULL;
    for (size_t i = 0; i < xir_diags_count(why) && !(d && d->severity == XIR_ERROR); i++) d = xir_diags_at(why, i);
    snprintf(reason, MOST_REASON, "%s%s%.*s", what, d ? ": " : "",
             d ? (int)(d->message.size < 300 ? d->message.size : 300) : 0, d ? d->message.data : "");
    return false;
}

/* The numbers in elements of another type. */
static xir_array *stored_as(const xir_array *a, const xir_type *type) {
    tensor_elements e;
    xir_array *made = xir_array_new(ctx, type, why);
    assert_non_null(made);
    assert_int_equal(xir_array_count(made), xir_array_count(a));
    DOES(elements_open(&e, &memory_default, type, why));
    for (size_t i = 0; i < xir_array_count(a); i++)
        elements_write_reals(&e, xir_array_edit(made), i, 1, (double[]){ xir_array_real(a, i) });
    elements_close(&e);
    return made;
}

static bool try_pipeline(const xir_network *model, const char *text, const arrays *set, const char *tolerance,
                         char reason[MOST_REASON]) {
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    xir_network *net = xir_network_clone(model);
    xir_array *in[MOST_ARRAYS] = { NULL }, *out[MOST_ARRAYS] = { NULL };
    bool passes = true;
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    if (xir_pipeline_run(pipeline, net, &settings, NULL, why)) passes = first_error("it is not converted", reason);
    xir_pipeline_free(pipeline);
    const xir_op *stays = passes ? xir_network_first_unrunnable(net) : NULL;
    if (stays) passes = first_error("a function is not converted", reason);
    const xir_op *first = xir_network_input_op(net);
    assert_int_equal(xir_op_output_count(first), set->n_in);
    assert_int_equal(xir_op_input_count(xir_network_output_op(net)), set->n_out);
    for (size_t i = 0; i < set->n_in && passes; i++) {   /* fixed-point inputs take the numbers that are stored */
        in[i] = stored_as(set->in[i], xir_value_type(xir_op_output(first, (int64_t)i)));
    }
    if (passes && xir_network_run(net, (const xir_array *const *)in, set->n_in, out, set->n_out, NULL, why))
        passes = first_error("it cannot be run", reason);
    for (size_t i = 0; i < set->n_out && passes; i++)
        passes = agree(out[i], set->doc[i] ? set->doc[i] : set->out[i], i, tolerance, reason);
    for (size_t i = 0; i < MOST_ARRAYS; i++) xir_array_free(in[i]), xir_array_free(out[i]);
    xir_network_free(net);
    return passes;
}

static struct { size_t rows, passed, wrong; } total;

/* `arguments`: of a whole network it begins with file=. */
static void try_row(const char *folder, const char *name, const char *arguments, const char *tolerance) {
    char path[600], reason[MOST_REASON] = "";
    arrays set;
    if (strncmp(arguments, "file=", 5) == 0)
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)strcspn(arguments + 5, " "), arguments + 5);
    else
        snprintf(path, sizeof path, "%s/%s.nnb", folder, name);
    xir_diags_clear(why);
    total.rows++;
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    assert_non_null(model);
    snprintf(path, sizeof path, "%s/%s.npz", folder, name);
    read_arrays(path, &set);
    const bool passes = try_pipeline(model, "nnb-to-xir", &set, tolerance, reason) &&
        try_pipeline(model, xir_default_pipeline(), &set, tolerance, reason);
    free_arrays(&set);
    xir_network_free(model);
    total.passed += passes;
    listed *entry = find_listed(false, name);
    if (entry) entry->seen++;
    if (passes == !entry) return;
    print_error("%s: %s\n", name, entry ? "is listed but passes" : reason);
    total.wrong++;
}

/* A line of index.tsv: name, function, arguments, inputs, outputs, tolerance, flags. */
static void recorded_networks_compute_what_the_runtime_computed(void **state) {
    (void)state;
    char folder[500], path[600], line[4000];
    snprintf(folder, sizeof folder, "%s/nnb/values", CORPUS_OR_SKIP());
    snprintf(path, sizeof path, "%s/index.tsv", folder);
    read_list("passes/convert/nnb_values.txt");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const char *only = getenv("XIR_NNB_ONLY");
    for (bool first = true; fgets(line, sizeof line, f); first = false) {
        char *fields[7] = { NULL }, *p = line;
        for (size_t i = 0; i < 7 && p; i++) {
            fields[i] = p;
            p = strchr(p, '\t');
            if (p) *p++ = '\0';
        }
        if (first || !fields[6] || (only && strcmp(only, fields[0]) != 0)) continue;
        try_row(folder, fields[0], fields[2], fields[5]);
    }
    fclose(f);
    print_message("NNB: %zu rows, %zu give what was recorded\n", total.rows, total.passed);
    for (size_t i = 0; i < n_listed && !only; i++) {
        if (list[i].seen) continue;
        print_error("%s is listed but not among the rows\n", list[i].name);
        total.wrong++;
    }
    assert_int_equal(total.wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_networks_compute_what_the_runtime_computed) };
    return RUN_GROUP(tests);
}
