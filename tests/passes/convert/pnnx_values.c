/* Runs recorded networks of PNNX: each file of the corpus' folder pnnx/values is converted by pnnx-to-xir and computed;
 * the results must be those that PyTorch gave, before and after the default pipeline, and after the way to files of
 * PNNX and back. Inputs and outputs are arrays in an archive NAME.npz, and NAME.2.npz for a second run with other dims.
 * What does not convert, or not whole, is listed with the reason in pnnx_values.txt; a listed file that passes is an
 * error, too. XIR_PNNX_ONLY names a single file. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xir/exec.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/listed.h"
#include "support/net.h"
#include "support/scratch.h"
#include "support/skips.h"

enum { MOST_ARRAYS = 256, MOST_REASON = 400 };

typedef struct arrays { xir_array *in[MOST_ARRAYS], *out[MOST_ARRAYS]; size_t n_in, n_out; bool complex; } arrays;

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

/* The members of a stored archive, "in0.npy" and so on, in their order. */
static bool read_arrays(const char *path, arrays *set) {
    size_t size = 0;
    unsigned char *bytes = read_whole(path, &size);
    memset((void *)set, 0, sizeof *set);
    for (size_t at = 0; bytes && at + 30 <= size && memcmp(bytes + at, "PK\3\4", 4) == 0;) {
        const size_t n = number32(bytes + at + 22), name = number16(bytes + at + 26), extra = number16(bytes + at + 28);
        const char *text = (const char *)bytes + at + 30;
        const unsigned char *data = bytes + at + 30 + name + extra;
        const bool is_in = name > 2 && memcmp(text, "in", 2) == 0;
        const size_t i = (size_t)atoi(text + (is_in ? 2 : 3));
        assert_true(i < MOST_ARRAYS);
        xir_array *a = xir_array_read_npy(ctx, data, n, (xir_str){ text, name }, why);
        if (!a) set->complex = true;   /* what XIR has no elements for */
        if (is_in) set->in[i] = a, set->n_in = set->n_in > i + 1 ? set->n_in : i + 1;
        else set->out[i] = a, set->n_out = set->n_out > i + 1 ? set->n_out : i + 1;
        at += 30 + name + extra + n;
    }
    free(bytes);
    return set->n_out > 0;
}

static void free_arrays(arrays *set) {
    for (size_t i = 0; i < MOST_ARRAYS; i++) xir_array_free(set->in[i]), xir_array_free(set->out[i]);
}

/* |found - recorded| <= tolerance (1 + |recorded|) */
static bool agree(const xir_array *found, const xir_array *recorded, size_t i, double tolerance,
                  char reason[MOST_REASON]) {
    xir_difference d;
    if (!xir_type_equal(xir_type_element(xir_array_type(found)), xir_type_element(xir_array_type(recorded))))
        return snprintf(reason, MOST_REASON, "output %zu has other elements", i), false;
    if (xir_array_compare(found, recorded, tolerance, tolerance, &d) != XIR_OK || !d.same_shape)
        return snprintf(reason, MOST_REASON, "output %zu has another shape", i), false;
    if (!d.count) return true;
    snprintf(reason, MOST_REASON, "%zu elements of output %zu of %zu differ, the first is %zu: %.9g, recorded is %.9g",
             d.count, i, xir_array_count(found), d.first, d.a, d.b);
    return false;
}

static void first_error(const char *what, char reason[MOST_REASON]) {
    const xir_diag *d = NULL;
    for (size_t i = 0; i < xir_diags_count(why) && !(d && d->severity == XIR_ERROR); i++) d = xir_diags_at(why, i);
    snprintf(reason, MOST_REASON, "%s%s%.*s", what, d ? ": " : "",
             d ? (int)(d->message.size < 300 ? d->message.size : 300) : 0, d ? d->message.data : "");
}

/* Why a file does not pass: nothing, some op is not converted, or something else. */
typedef enum verdict { PASSES, STAYS, DIFFERS } verdict;

/* Writes PNNX's files, and reads them again. */
static xir_status through_files(xir_network **net) {
    char path[600];
    snprintf(path, sizeof path, "%s", scratch("back.pnnx.param"));
    xir_status status = xir_network_save(*net, path, NULL, why);
    xir_network_free(*net);
    *net = status ? NULL : xir_network_load(ctx, path, NULL, why);
    return *net ? xir_pass_run(*net, "pnnx-to-xir", NULL, NULL, why) : status ? status : XIR_E_IO;
}

static verdict try_pipeline(const xir_network *model, const char *text, bool written, const char *npz,
                            double tolerance, char reason[MOST_REASON]) {
    arrays set;
    xir_array *out[MOST_ARRAYS] = { NULL };
    xir_network *net = xir_network_clone(model);
    const xir_pass_settings settings = XIR_INIT(xir_pass_settings, .level = XIR_LEVEL_MAX, .verify = true);
    verdict v = DIFFERS;
    xir_diags_clear(why);
    xir_pipeline *pipeline = xir_pipeline_parse(ctx, xir_str_of(text), why);
    assert_non_null(pipeline);
    xir_status status = xir_pipeline_run(pipeline, net, &settings, NULL, why);
    xir_pipeline_free(pipeline);
    if (!status && written) status = through_files(&net);
    const xir_op *stays = status ? NULL : xir_network_first_unrunnable(net);
    assert_true(read_arrays(npz, &set));
    const size_t n_out = status ? 0 : xir_op_input_count(xir_network_output_op(net));
    if (status) {
        first_error("it is not converted", reason);
    } else if (stays) {
        xir_str key = xir_class_key(xir_op_class(stays));
        char what[200];
        snprintf(what, sizeof what, "%.*s", (int)key.size, key.data);
        first_error(what, reason);
        v = STAYS;
    } else if (set.complex) {
        snprintf(reason, MOST_REASON, "complex elements");
        v = STAYS;
    } else if (n_out != set.n_out) {
        snprintf(reason, MOST_REASON, "%zu outputs, recorded are %zu", n_out, set.n_out);
    } else {
        xir_diags_clear(why);
        if (xir_network_run(net, (const xir_array *const *)set.in, set.n_in, out, n_out, NULL, why)) {
            first_error("it cannot be run", reason);
        } else {
            v = PASSES;
            for (size_t i = 0; i < n_out && v == PASSES; i++)
                if (!agree(out[i], set.out[i], i, tolerance, reason)) v = DIFFERS;
        }
        for (size_t i = 0; i < n_out; i++) xir_array_free(out[i]);
    }
    free_arrays(&set);
    xir_network_free(net);
    return v;
}

static struct { size_t files, whole, passed, wrong; } total;

static void try_file(const char *folder, const char *name, double tolerance) {
    char path[600], npz[600], reason[MOST_REASON] = "";
    snprintf(path, sizeof path, "%s/%s.pnnx.param", folder, name);
    xir_diags_clear(why);
    total.files++;
    xir_network *model = xir_network_load(ctx, path, NULL, why);
    assert_non_null(model);
    char back[1200];
    xir_pipeline_to(ctx, "pnnx", back, sizeof back);
    const char *const pipelines[] = { "pnnx-to-xir", xir_default_pipeline(), back };
    verdict v = PASSES;
    for (size_t run = 0; run < 2; run++) {
        snprintf(npz, sizeof npz, "%s/%s%s.npz", folder, name, run ? ".2" : "");
        for (size_t i = 0; i < COUNT(pipelines) && v == PASSES && access(npz, R_OK) == 0; i++) {
            v = try_pipeline(model, pipelines[i], i == 2, npz, tolerance, reason);
            if (v == DIFFERS && i) total.wrong++;
        }
    }
    xir_network_free(model);
    total.whole += v != STAYS;
    total.passed += v == PASSES;
    listed *entry = find_listed(false, name);
    if (entry) entry->seen++;
    if ((v == PASSES) == !entry) return;
    print_error("%s: %s\n", name, entry ? "is listed but passes" : reason);
    total.wrong++;
}

/* A line of index.tsv: the name, the script, two counts, the tolerance, a difference, and the noise of float32. */
static void recorded_networks_compute_what_pytorch_computed(void **state) {
    (void)state;
    char folder[500], path[600], line[8000];
    snprintf(folder, sizeof folder, "%s/pnnx/values", CORPUS_OR_SKIP());
    snprintf(path, sizeof path, "%s/index.tsv", folder);
    read_list("passes/convert/pnnx_values.txt");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    const char *only = getenv("XIR_PNNX_ONLY");
    for (bool first = true; fgets(line, sizeof line, f); first = false) {
        char *fields[8] = { NULL }, *p = line;
        for (size_t i = 0; i < 8 && p; i++) {
            fields[i] = p;
            p = strchr(p, '\t');
            if (p) *p++ = '\0';
        }
        if (first || !fields[7] || (only && strcmp(only, fields[0]) != 0)) continue;
        const bool loose = atof(fields[4]) >= 1e-3 || atof(fields[6]) > 2e-5;
        try_file(folder, fields[0], loose ? 1e-3 : 1e-4);
    }
    fclose(f);
    print_message("PNNX: %zu files; %zu convert whole, %zu of them give what was recorded\n", total.files, total.whole,
                  total.passed);
    for (size_t i = 0; i < n_listed && !only; i++) {
        if (list[i].seen) continue;
        print_error("%s is listed but not among the files\n", list[i].name);
        total.wrong++;
    }
    assert_int_equal(total.wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(recorded_networks_compute_what_pytorch_computed) };
    return RUN_GROUP(tests);
}
