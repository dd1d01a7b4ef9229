/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xir/exec.h>
#include "zip/zip.h"
#include "support/listed.h"
#include "support/recorded.h"
#include "support/skips.h"

/* ---- archives --------------------------------------------------------------------------------------------------- */

static blob *read_whole(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("%s cannot be opened", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const size_t size = (size_t)ftell(f);
    rewind(f);
    blob *bytes = blob_new(&memory_default, size);
    assert_non_null(bytes);
    assert_int_equal(fread((void *)(uintptr_t)bytes->bytes, 1, size, f), size);
    fclose(f);
    return bytes;
}

static void add_array(recorded *set, xir_str member, const unsigned char *data, size_t size) {
    set->arrays = realloc(set->arrays, (set->n + 1) * sizeof *set->arrays);
    assert_non_null(set->arrays);
    recorded_array *a = &set->arrays[set->n++];
    assert_true(member.size > 4 && member.size - 4 < sizeof a->name);
    snprintf(a->name, sizeof a->name, "%.*s", (int)(member.size - 4), member.data);
    a->array = xir_array_read_npy(ctx, data, size, member, why);
}

void recorded_read(recorded *set, const char *path) {
    enum { MOST_BYTES = 1 << 28 };
    blob *bytes = read_whole(path);
    zip_archive z;
    *set = (recorded){ 0 };
    DOES(zip_open(&z, &memory_default, bytes, xir_str_of(path), MOST_BYTES, why));
    for (size_t i = 0; i < z.n; i++) {
        blob *data = zip_take(&z, &z.members[i], true);
        assert_non_null(data);
        add_array(set, z.members[i].name, data->bytes, data->size);
        blob_release(data);
    }
    zip_close(&z);
    blob_release(bytes);
    if (!set->n) fail_msg("%s has no arrays", path);
}

void recorded_free(recorded *set) {
    for (size_t i = 0; i < set->n; i++) xir_array_free(set->arrays[i].array);
    free(set->arrays);
    *set = (recorded){ 0 };
}

static bool is_kind(const recorded_array *a, const char *kind, size_t *number) {
    const size_t n = strlen(kind);
    if (strncmp(a->name, kind, n) != 0 || a->name[n] < '0' || a->name[n] > '9') return false;
    *number = strtoul(a->name + n, NULL, 10);
    return true;
}

xir_array *recorded_at(const recorded *set, const char *kind, size_t i) {
    size_t number;
    for (size_t k = 0; k < set->n; k++)
        if (is_kind(&set->arrays[k], kind, &number) && number == i) return set->arrays[k].array;
    return NULL;
}

size_t recorded_count(const recorded *set, const char *kind) {
    size_t count = 0, number;
    for (size_t k = 0; k < set->n; k++)
        if (is_kind(&set->arrays[k], kind, &number) && number >= count) count = number + 1;
    return count;
}

/* ---- reasons ---------------------------------------------------------------------------------------------------- */

void recorded_error(char reason[RECORDED_REASON], const char *what) {
    const xir_diag *d = NULL;
    for (size_t i = 0; i < xir_diags_count(why) && !(d && d->severity == XIR_ERROR); i++) d = xir_diags_at(why, i);
    snprintf(reason, RECORDED_REASON, "%s%s%.*s", what, d ? ": " : "",
             d ? (int)(d->message.size < 300 ? d->message.size : 300) : 0, d ? d->message.data : "");
}

bool recorded_same_shape(const xir_array *found, const xir_array *expected, size_t output,
                         char reason[RECORDED_REASON]) {
    const xir_type *a = xir_array_type(found), *b = xir_array_type(expected);
    bool same = xir_type_rank(a) == xir_type_rank(b);
    for (size_t i = 0; same && i < xir_type_rank(a); i++)
        same = xir_type_dim(a, (int64_t)i, false) == xir_type_dim(b, (int64_t)i, false);
    if (!same) snprintf(reason, RECORDED_REASON, "output %zu has another shape", output);
    return same;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

static size_t split_fields(char *line, char *fields[RECORDED_FIELDS]) {
    size_t n = 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *p = line; p && n < RECORDED_FIELDS; n++) {
        fields[n] = p;
        p = strchr(p, '\t');
        if (p) *p++ = '\0';
    }
    return n;
}

static bool is_as_listed(const char *name, recorded_verdict verdict, const char *reason) {
    listed *entry = find_listed(false, name);
    if (entry) entry->seen++;
    if ((verdict == RECORDED_PASSES) == !entry) return true;
    print_error("%s: %s\n", name, entry ? "is listed but passes" : reason);
    return false;
}

recorded_total recorded_run_all(const recorded_run *run) {
    static char line[20000];
    char folder[500], path[600];
    char *fields[RECORDED_FIELDS];
    const char *only = getenv(run->only);
    recorded_total total = { 0 };
    size_t wrong = 0;
    snprintf(folder, sizeof folder, "%s/%s", corpus_or_skip(run->test), run->folder);
    snprintf(path, sizeof path, "%s/index.tsv", folder);
    if (run->list) read_list(run->list);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s cannot be opened", path);
    for (bool heading = true; fgets(line, sizeof line, f); heading = false) {
        char reason[RECORDED_REASON] = "";
        if (heading || split_fields(line, fields) < run->n_fields || (only && strcmp(only, fields[0]) != 0)) continue;
        xir_diags_clear(why);
        const recorded_verdict verdict = run->row(folder, fields, reason);
        total.rows++;
        total.passed += verdict == RECORDED_PASSES;
        total.stay += verdict == RECORDED_STAYS;
        wrong += !is_as_listed(fields[0], verdict, reason);
    }
    fclose(f);
    for (size_t i = 0; i < n_listed && !only; i++) {
        if (list[i].seen) continue;
        print_error("%s is listed but not among the rows\n", list[i].name);
        wrong++;
    }
    assert_int_equal(wrong, 0);
    return total;
}
