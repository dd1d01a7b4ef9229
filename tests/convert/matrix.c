/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Whole networks go to every format and come back, as `xir opt NETWORK OUT` makes the file OUT. OUT is read again and
 * computes the same, or one sentence says what stands in the way. The networks are those of the tree and the exports in
 * XIR_CORPUS/onnx that are not detectors, each as its file, as PNNX and as TensorStack. matrix.txt has the results:
 * what is equal there must stay equal. XIR_MATRIX=print prints that table; with XIR_CORPUS, all of it. XIR_MATRIX=all
 * tries the other forms of large networks too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/convert.h>
#include <xir/prove.h>
#include <xir/serialize.h>
#include "passes/layout/unpacked.h"
#include "support/often.h"
#include "support/scratch.h"
#include "support/skips.h"

enum { MOST_FORMATS = 16, MOST_ROWS = 64, NAME = 64, SENTENCE = 240 };

typedef enum fate { EQUAL, DIFFERS, STAYS } fate;   /* ORDER FATE */
static const char *const words[] = { "equal", "differs", "stays" };

/* ---- formats ---------------------------------------------------------------------------------------------------- */

/* Those that are read and written. */
static xir_format_info formats[MOST_FORMATS];
static size_t          n_formats;

static void find_formats(void) {
    xir_format_info f = XIR_INIT(xir_format_info);
    for (size_t i = 0; xir_format_at(i, &f, NULL) == XIR_OK; i++) {
        if (!f.reads || !f.writes) continue;
        assert_true(n_formats < MOST_FORMATS);
        formats[n_formats++] = f;
    }
}

static size_t format_named(const char *name) {
    size_t f = 0;
    while (f < n_formats && strcmp(formats[f].name, name) != 0) f++;
    if (f == n_formats) fail_msg("no format is called %s", name);
    return f;
}

static const char *file_of(const char *stem, size_t f) {
    char name[80];
    snprintf(name, sizeof name, "%s.%.*s", stem, (int)strcspn(formats[f].suffixes, " "), formats[f].suffixes);
    return scratch(name);
}

/* ---- a network and a format ------------------------------------------------------------------------------------- */

typedef struct row {
    char name[NAME];
    fate fates[MOST_FORMATS];
    char sentences[MOST_FORMATS][SENTENCE];   /* why not: of what stays or differs */
} row;

static row    rows[MOST_ROWS];
static size_t n_rows;

static xir_status run(xir_network *net, const char *passes) {
    xir_diags_clear(why);
    xir_pipeline *p = xir_pipeline_parse(ctx, xir_str_of(passes), why);
    assert_non_null(p);
    const xir_status status = xir_pipeline_run(p, net, NULL, NULL, why);
    xir_pipeline_free(p);
    return status;
}

static xir_network *made_by(const char *passes, const xir_network *source, const char *name) {
    xir_network *net = xir_network_clone(source);
    assert_non_null(net);
    if (run(net, passes)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: %s fails", name, passes);
    }
    return net;
}

/* The passes after the default pipeline, before a network is written to a format: ",layout{to=nchw},xir-to-onnx". */
static const char *passes_to(size_t f) {
    static char text[1024];
    const size_t usual = strlen(xir_default_pipeline());
    assert_true(xir_pipeline_to(ctx, formats[f].name, text, sizeof text) < sizeof text);
    assert_memory_equal(text, xir_default_pipeline(), usual);
    return text[usual] ? text + usual + 1 : "";
}

/* "Roll: reason" of a finding "xir-to-nnb: icraft::xir::Roll 'r' (op 3): not converted, nor are …: reason"; false of
 * other findings. */
static bool cause_of(const xir_diag *d, char out[SENTENCE]) {
    char text[600];
    snprintf(text, sizeof text, "%.*s", (int)(d->message.size < 500 ? d->message.size : 500), d->message.data);
    char *type = strchr(text, ' '), *name = strstr(text, " '"), *stays = strstr(text, "): not converted");
    const char *reason = stays ? strstr(stays + 2, ": ") : NULL;
    if (!type || !name || !reason) return false;
    *name = '\0';
    for (char *p; (p = strstr(type, "::"));) type = p + 1;
    snprintf(out, SENTENCE, "%s: %.160s", type + 1, reason + 2);
    return true;
}

/* The sentence about the op that keeps the most ops, which is the first. The others are about other types of ops, or
 * other reasons; none is said twice. */
static void say_why(char out[SENTENCE]) {
    char texts[40][SENTENCE];
    size_t n = 0;
    const xir_diag *d;
    for (size_t i = 0; (d = xir_diags_at(why, i)); i++) {
        if (n == COUNT(texts) || !cause_of(d, texts[n])) continue;
        for (size_t k = 0; k < n; k++) assert_string_not_equal(texts[k], texts[n]);
        n++;
    }
    if (n) snprintf(out, SENTENCE, "%s", texts[0]);
}

static void say_first(char out[SENTENCE]) {
    const xir_diag *d = xir_diags_at(why, 0);
    assert_non_null(d);
    snprintf(out, SENTENCE, "%.*s", (int)(d->message.size < SENTENCE - 1 ? d->message.size : SENTENCE - 1),
             d->message.data);
}

static xir_proof_state state_of(const xir_proof *proof) {
    xir_proof_state state = XIR_INIT(xir_proof_state);
    DOES(xir_proof_state_of(proof, &state, NULL));
    return state;
}

/* `net` is what the default pipeline made. Returns whether the file is written; if not, one error says why, and the
 * passes may have said more. */
static bool write_file(const xir_network *net, size_t f, const char *path, char sentence[SENTENCE]) {
    xir_network *copy = xir_network_clone(net);
    assert_non_null(copy);
    xir_status status = run(copy, passes_to(f));
    if (!status) {
        say_why(sentence);
        xir_diags_clear(why);
        status = xir_network_save(copy, path, NULL, why);
    }
    if (status) assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 1);
    if (status && !*sentence) say_first(sentence);
    xir_network_free(copy);
    return !status;
}

/* Gives types to the inputs of a file that has none, as --input-shape does: those of `net`. */
static void give_types(xir_network *again, const xir_network *net) {
    const xir_op *inputs = xir_network_input_op(again), *own = xir_network_input_op(net);
    char text[600] = "to-xir{strict,input-shape=\"";
    size_t n = strlen(text);
    for (size_t i = 0; i < xir_op_output_count(inputs); i++) {
        const xir_value *v = xir_op_output(inputs, (int64_t)i);
        if (xir_value_type(v) && xir_type_as_tensor(xir_value_type(v))) continue;
        const xir_type *type = xir_value_type(xir_op_output(own, (int64_t)i));
        const xir_type *real = xir_type_float(ctx, XIR_FLOAT_FP32), *whole = xir_type_sint(ctx, 64);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s=", i ? ";" : "", (int)xir_value_name(v).size,
                              xir_value_name(v).data);
        for (size_t k = 0; k < xir_type_rank(type); k++)
            n += (size_t)snprintf(text + n, sizeof text - n, k ? ",%lld" : "%lld",
                                  (long long)xir_type_dim(type, (int64_t)k, false));
        assert_true(xir_type_equal(xir_type_element(type), real) || xir_type_equal(xir_type_element(type), whole));
        n += (size_t)snprintf(text + n, sizeof text - n, "%s",
                              xir_type_equal(xir_type_element(type), real) ? ":fp32" : ":i64");
        assert_true(n + 4 < sizeof text);
    }
    if (text[n - 1] == '"') return;
    snprintf(text + n, sizeof text - n, "\"}");
    (void)run(again, text);
}

static fate fate_of(const xir_network *net, xir_proof *proof, size_t f, char sentence[SENTENCE]) {
    const char *path = file_of("out", f);
    *sentence = '\0';
    if (!write_file(net, f, path, sentence)) return STAYS;
    xir_diags_clear(why);
    xir_network *again = xir_network_load(ctx, path, &XIR_INIT(xir_load_options, .lazy = true), why);
    if (again && xir_network_equal(again, net, true)) {   // `net` computes the same, and so does its equal
        xir_network_free(again);
        return EQUAL;
    }
    if (again) give_types(again, net);
    const size_t before = state_of(proof).networks;
    const bool same = again && xir_proof_check(proof, again, why) == XIR_OK;
    if (same) assert_int_equal(state_of(proof).networks, before + 1);
    else say_first(sentence);
    xir_network_free(again);
    return same ? EQUAL : DIFFERS;
}

/* Each format, of a network as its file has it. */
static void try_formats(const xir_network *source, const char *name) {
    assert_true(n_rows < MOST_ROWS);
    row *r = &rows[n_rows++];
    snprintf(r->name, sizeof r->name, "%s", name);
    xir_network *net = made_by("to-xir{strict}", source, name);
    xir_proof *proof = xir_proof_new(ctx, &XIR_INIT(xir_proof_options, .seed = 1), why);
    assert_non_null(proof);
    if (xir_proof_check(proof, net, why) || !state_of(proof).networks) {
        xir_diags_print(why, stderr);
        if (xir_proof_obstacle(proof)) xir_diags_print(xir_proof_obstacle(proof), stderr);
        fail_msg("%s: it cannot be run", name);
    }
    xir_network_free(net);
    net = made_by(xir_default_pipeline(), source, name);
    if (xir_proof_check(proof, net, why)) {
        xir_diags_print(why, stderr);
        fail_msg("%s: the default pipeline changes what it computes", name);
    }
    for (size_t f = 0; f < n_formats; f++) r->fates[f] = fate_of(net, proof, f, r->sentences[f]);
    xir_proof_free(proof);
    xir_network_free(net);
}

/* A network, and what it is as PNNX and as TensorStack, unless it is of that format. */
static void try_forms(const xir_network *source, const char *name) {
    static const char *const forms[] = { "pnnx", "tsm" };
    try_formats(source, name);
    const row *own = &rows[n_rows - 1];
    for (size_t i = 0; i < COUNT(forms); i++) {
        const size_t f = format_named(forms[i]), size = strlen(name), suffix = strlen(forms[i]);
        char form[NAME], sentence[SENTENCE];
        if (own->fates[f] != EQUAL || strcmp(name + size - suffix, forms[i]) == 0) continue;
        xir_network *net = made_by(xir_default_pipeline(), source, name);
        const char *path = file_of("form", f);
        assert_true(write_file(net, f, path, sentence));
        xir_network_free(net);
        net = xir_network_load(ctx, path, NULL, why);
        assert_non_null(net);
        snprintf(form, sizeof form, "%s>%s", name, forms[i]);
        try_formats(net, form);
        xir_network_free(net);
    }
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static void print_table(size_t from) {
    printf("# %-28s", "network");
    for (size_t f = 0; f < n_formats; f++) printf(" %-7s", formats[f].name);
    printf("\n");
    for (const row *r = rows + from; r < rows + n_rows; r++) {
        printf("%-30s", r->name);
        for (size_t f = 0; f < n_formats; f++) printf(" %-7s", words[r->fates[f]]);
        printf("\n");
        for (size_t f = 0; f < n_formats; f++)
            if (r->fates[f] != EQUAL) printf("    %s: %s\n", formats[f].name, r->sentences[f]);
    }
}

static const row *row_named(const char *name, size_t from) {
    for (const row *r = rows + from; r < rows + n_rows; r++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}

static fate fate_named(const char *word) {
    size_t i = 0;
    while (i < COUNT(words) && strcmp(words[i], word) != 0) i++;
    if (i == COUNT(words)) fail_msg("the table has '%s'", word);
    return (fate)i;
}

/* Compares a line of the table, "NETWORK FATE FATE …", with its row; returns how many fates are worse. */
static size_t compare_fates(const row *r, char *line, const size_t *columns, size_t n_columns) {
    size_t n = 0, worse = 0;
    strtok(line, " \n");
    for (char *word; (word = strtok(NULL, " \n")); n++) {
        assert_true(n < n_columns);
        const size_t f = columns[n];
        if (r->fates[f] <= fate_named(word)) continue;
        print_error("%s to %s: expected '%s', found '%s': %s\n", r->name, formats[f].name, word, words[r->fates[f]],
                    r->sentences[f]);
        worse++;
    }
    assert_int_equal(n, n_columns);
    return worse;
}

/* "    FORMAT: SENTENCE" */
static size_t compare_sentence(const row *r, char *line) {
    char *name = line + strspn(line, " "), *text = strstr(name, ": ");
    assert_non_null(text);
    *text = '\0';
    text[strcspn(text + 2, "\n") + 2] = '\0';
    const size_t f = format_named(name);
    if (r->fates[f] != STAYS || strcmp(r->sentences[f], text + 2) == 0) return 0;
    print_error("%s to %s: expected '%s', found '%s'\n", r->name, name, text + 2, r->sentences[f]);
    return 1;
}

/* The rows from `from` on must be in the table, and no worse there. */
static void compare_with_table(size_t from) {
    char line[400];
    bool found[MOST_ROWS] = { false };
    size_t columns[MOST_FORMATS], n_columns = 0, wrong = 0;
    const row *r = NULL;
    FILE *in = fopen(XIR_TEST_DATA "/convert/matrix.txt", "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char name[NAME];
        if (strncmp(line, "# network ", 10) == 0) {
            n_columns = 0;
            strtok(line, " \n");
            strtok(NULL, " \n");
            for (char *word; (word = strtok(NULL, " \n"));) columns[n_columns++] = format_named(word);
        } else if (*line == ' ') {
            if (r) wrong += compare_sentence(r, line);
        } else if (*line != '#' && sscanf(line, "%63s", name) == 1) {
            r = row_named(name, from);
            if (r) found[r - rows] = true;
            if (r) wrong += compare_fates(r, line, columns, n_columns);
        }
    }
    fclose(in);
    assert_int_equal(n_columns, n_formats);
    for (size_t i = from; i < n_rows; i++) {
        if (found[i]) continue;
        print_error("%s is not in the table\n", rows[i].name);
        wrong++;
    }
    if (wrong) fail_msg("%zu differ from matrix.txt", wrong);
}

/* Compares the rows from `from` on, or prints them. */
static void conclude(size_t from) {
    const char *how = getenv("XIR_MATRIX");
    size_t counts[COUNT(words)] = { 0 };
    for (const row *r = rows + from; r < rows + n_rows; r++)
        for (size_t f = 0; f < n_formats; f++) counts[r->fates[f]]++;
    const size_t all = (n_rows - from) * n_formats;
    if (how && strcmp(how, "print") == 0) print_table(from);
    printf("%zu networks, %zu formats: %zu of %zu pairs come back equal (%.1f %%), %zu differ, %zu stay\n", n_rows - from,
           n_formats, counts[EQUAL], all, 100 * (double)counts[EQUAL] / (double)all, counts[DIFFERS], counts[STAYS]);
    if (!how || strcmp(how, "print") != 0) compare_with_table(from);
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

static void networks_of_the_tree(void **state) {
    (void)state;
    static const struct { const char *name, *path; } models[] = {
        { "digits.onnx", "../examples/models/digits.onnx" },
        { "digits.pnnx", "../examples/models/digits.pnnx.param" },
        { "mlp.onnx", "convert/onnx/dynamic/mlp.onnx" },
        { "bert.onnx", "convert/onnx/dynamic/bert.onnx" },
        { "convnext.onnx", "convert/onnx/dynamic/convnext.onnx" },
        { "distilbert.onnx", "convert/onnx/dynamic/distilbert.onnx" },
        { "efficientnet.onnx", "convert/onnx/dynamic/efficientnet.onnx" },
        { "encoder.onnx", "convert/onnx/dynamic/encoder.onnx" },
        { "gpt.onnx", "convert/onnx/dynamic/gpt.onnx" },
        { "swin.onnx", "convert/onnx/dynamic/swin.onnx" },
        { "tagger.onnx", "convert/onnx/dynamic/tagger.onnx" },
        { "unet.onnx", "convert/onnx/dynamic/unet.onnx" },
        { "vit.onnx", "convert/onnx/dynamic/vit.onnx" },
    };
    const size_t from = n_rows;
    for (size_t i = 0; i < COUNT(models); i++) {
        char path[400];
        snprintf(path, sizeof path, XIR_TEST_DATA "/%s", models[i].path);
        xir_network *net = xir_network_load(ctx, path, NULL, why);
        if (!net) fail_msg("%s cannot be read", path);
        try_forms(net, models[i].name);
        xir_network_free(net);
    }
    conclude(from);
}

/* Their weights were removed: they are random. Under a sanitizer only the first is tried. */
static void networks_of_the_corpus(void **state) {
    (void)state;
    static const struct { const char *name; bool large; } models[] = {
        { "lstm_2layer_bidir", false },
        { "unet_small",        false },
        { "densenet121",       true  },
        { "mobilenet_v2",      false },
        { "mobilenet_v2_dyn",  false },
        { "resnet18",          true  },
        { "swin_t",            true  },
    };
    const char *corpus = CORPUS_OR_SKIP();
    const size_t from = n_rows;
    for (size_t i = 0; i < (IS_SANITIZED ? 1 : COUNT(models)); i++) {
        char name[NAME];
        xir_network *net = unpacked(corpus, models[i].name);
        if (!net) SKIP("XIR_CORPUS has no such models, or xz is missing");
        DOES(xir_network_fill_weights(net, 1, why));
        snprintf(name, sizeof name, "%s.onnx", models[i].name);
        if (models[i].large && !getenv("XIR_MATRIX")) try_formats(net, name);
        else try_forms(net, name);
        xir_network_free(net);
    }
    conclude(from);
}

static int begin(void **state) {
    const int result = group_begin(state);
    find_formats();
    return result;
}

GROUP {
    scratch_make();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_of_the_tree),
        cmocka_unit_test(networks_of_the_corpus),
    };
    return cmocka_run_group_tests(tests, begin, group_end);
}
