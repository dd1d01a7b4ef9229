/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The outputs of xir run: their files, how far they are from those of another folder, and the lines or objects that say
 * so. The file of an output has its name, with `_` for `/`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "run.h"

/* ---- files ------------------------------------------------------------------------------------------ */

/* Writes the name of an output; it is output_N without one. */
static void add_name(text *t, const ports *out, size_t i) {
    xir_str name = xir_value_name(out->values[i]);
    text_add(t, name.data, name.size);
    if (!name.size) text_printf(t, "output_%zu", i);
}

/* The file of an output: its name, with `_` for `/`, and with _N at its end if an earlier output has that file. */
static char *file_name(const ports *out, char *const *earlier, size_t i) {
    text t = { 0 };
    add_name(&t, out, i);
    for (size_t k = 0; k < t.size; k++) t.data[k] = t.data[k] == '/' || t.data[k] == '\0' ? '_' : t.data[k];
    text_put(&t, ".npy");
    text_add(&t, "", 1);
    for (size_t k = 0; k < i; k++) {
        if (strcmp(earlier[k], t.data) != 0 || out->values[k] == out->values[i]) continue;
        t.size -= sizeof ".npy";
        text_printf(&t, "_%zu.npy", i);
        text_add(&t, "", 1);
        break;
    }
    return t.data;
}

static char *in_dir(const char *dir, const char *file) {
    char *with_slash = join(dir, "/"), *path = join(with_slash, file);
    free(with_slash);
    return path;
}

static int make_dir(const char *dir) {
    char *path = join(dir, "");
    int error = 0;
    for (char *at = path + 1; *path && !error; at++) {
        if (*at != '/' && *at) continue;
        char end = *at;
        *at = '\0';
        if (mkdir(path, 0777) != 0 && errno != EEXIST) error = errno;
        *at = end;
        if (!end) break;
    }
    free(path);
    struct stat s;
    if (!error && (stat(dir, &s) != 0 || !S_ISDIR(s.st_mode))) error = ENOTDIR;
    return error ? complain_of(REFUSED, dir, "cannot be made: %s", strerror(error)) : DONE;
}

static int save_outputs(const ports *out, char *const *files, xir_diags *why) {
    int code = make_dir(run_args.out_dir);
    for (size_t i = 0; !code && i < out->n; i++) {
        char *path = in_dir(run_args.out_dir, files[i]);
        code = exit_of(xir_array_save_npy(out->arrays[i], path, why));
        free(path);
    }
    return code;
}

/* ---- comparison ------------------------------------------------------------------------------------- */

/* The place of an element: an index a dim, of MOST_DIMS at most. Returns how many. */
enum { MOST_DIMS = 64 };
static size_t place_of(const xir_type *type, size_t at, int64_t index[MOST_DIMS]) {
    const size_t rank = xir_type_rank(type);
    for (size_t k = rank; k-- > 0;) {
        size_t dim = (size_t)xir_type_dim(type, (int64_t)k, false);
        if (k < MOST_DIMS) index[k] = (int64_t)(at % dim);
        at /= dim;
    }
    return rank < MOST_DIMS ? rank : MOST_DIMS;
}

static void print_index(text *t, const xir_type *type, size_t at) {
    int64_t index[MOST_DIMS];
    const size_t n = place_of(type, at, index);
    if (n) json_i64s(t, index, n);
    else text_put(t, "its only element");
}

/* Writes the result of a comparison with a file; `d` NULL: it could not be made. */
static void put_comparison(json_out *j, const char *path, const xir_array *array, const xir_difference *d) {
    int64_t index[MOST_DIMS];
    json_open(j, "compared", '{');
    json_str(j, "file", xir_str_of(path));
    if (d) json_bool(j, "same_shape", d->same_shape);
    if (d && d->same_shape) {
        json_uint(j, "differ", d->count);
        json_uint(j, "of", xir_array_count(array));
        json_member(j, "largest");
        json_real(&j->t, d->largest);
    }
    if (d && d->same_shape && d->count) {
        json_member(j, "at");
        json_i64s(&j->t, index, place_of(xir_array_type(array), d->first, index));
        json_member(j, "found");
        json_real(&j->t, d->a);
        json_member(j, "expected");
        json_real(&j->t, d->b);
    }
    json_close(j, '}');
}

/* The output as what the file holds: a file of floats has quantised numbers rounded, as --output writes them. NULL with
 * a finding. */
static xir_array *as_in_file(xir_array *found, const xir_array *expected, xir_diags *why) {
    const xir_type *to = xir_type_element(xir_array_type(expected));
    const bool rounded = xir_type_is_quantized(xir_type_element(xir_array_type(found))) &&
                         xir_float_type_of(xir_type_object(to));
    return rounded ? xir_array_cast(found, to, why) : xir_array_retain(found);
}

/* Adds what a comparison found to a line of the summary, and with --json to an object. */
static int compare_one(const ports *out, size_t i, const char *file, double tolerance, text *line, json_out *j,
                       xir_diags *why) {
    char *path = in_dir(run_args.compare_dir, file);
    int code;
    xir_array *expected = read_array(path, &code, why), *found = NULL;
    if (expected) code = take_stored(&expected, xir_array_type(out->arrays[i]), why);
    if (expected && !code && !(found = as_in_file(out->arrays[i], expected, why))) code = exit_of(XIR_E_MEMORY);
    if (!found) {
        xir_array_free(expected);
        if (j) put_comparison(j, path, NULL, NULL);
        free(path);
        return code;
    }
    xir_difference d;
    xir_status status = xir_array_compare(found, expected, tolerance, tolerance, &d);
    if (j) put_comparison(j, path, found, status ? NULL : &d);
    text name = { 0 };
    add_name(&name, out, i);
    if (status) {
        code = exit_of(status);
        xir_diags_append(why, &(xir_diag){
            .severity = XIR_ERROR, .code = status, .file = xir_str_of(path), .byte = XIR_NO_BYTE,
            .message = XIR_STR("its elements cannot be compared") });
    } else if (!d.same_shape) {
        text has = { 0 };
        type_words(&has, xir_array_type(expected));
        text_put(line, "  another shape");
        text_add(&has, "", 1);
        code = complain_of(FAULTY, path, "'%.*s' has another shape than this file, which has %s", (int)name.size,
                           name.data, has.data);
        text_free(&has);
    } else {
        text_printf(line, "  largest difference %.3g", d.largest);
        if (d.count) {
            text where = { 0 };
            print_index(&where, xir_array_type(out->arrays[i]), d.first);
            text_add(&where, "", 1);
            code = complain_of(FAULTY, path, "'%.*s' differs at %s: expected %.9g, found %.9g; %zu of %zu elements "
                               "differ, by up to %.3g", (int)name.size, name.data, where.data, d.b, d.a, d.count,
                               xir_array_count(out->arrays[i]), d.largest);
            text_free(&where);
        }
    }
    xir_array_free(found);
    xir_array_free(expected);
    text_free(&name);
    free(path);
    return code;
}

/* ---- report ----------------------------------------------------------------------------------------- */

/* An output as JSON: the members up to its comparison. */
static void open_output(json_out *j, const ports *out, size_t i, const char *file) {
    text name = { 0 };
    char *path = run_args.out_dir ? in_dir(run_args.out_dir, file) : NULL;
    add_name(&name, out, i);
    json_open(j, NULL, '{');
    json_str(j, "name", text_of(&name));
    json_type(j, xir_array_type(out->arrays[i]));
    if (path) json_str(j, "file", xir_str_of(path));
    else json_null(j, "file");
    if (!run_args.compare_dir) json_null(j, "compared");
    free(path);
    text_free(&name);
}

/* Prints a line for each output, or an object with --json: its name, its type, its distance to what is expected. */
static int report_each(const ports *out, char *const *files, double tolerance, json_out *j, xir_diags *why) {
    int worst = DONE;
    for (size_t i = 0; i < out->n; i++) {
        text line = { 0 };
        if (j) open_output(j, out, i, files[i]);
        add_name(&line, out, i);
        text_put(&line, "  ");
        type_words(&line, xir_array_type(out->arrays[i]));
        int code = run_args.compare_dir ? compare_one(out, i, files[i], tolerance, &line, j, why) : DONE;
        if (code > worst) worst = code;
        if (j) json_close(j, '}');
        else print_text(stdout, text_of(&line));
        if (!j) putchar('\n');
        text_free(&line);
    }
    return worst;
}

int outputs_report(const ports *out, double tolerance, json_out *j, xir_diags *why) {
    char **files = take(out->n + 1, sizeof *files);
    for (size_t i = 0; i < out->n; i++) files[i] = file_name(out, files, i);
    int code = run_args.out_dir ? save_outputs(out, files, why) : DONE;
    if (!code) code = report_each(out, files, tolerance, j, why);
    for (size_t i = 0; i < out->n; i++) free(files[i]);
    free(files);
    return code;
}
