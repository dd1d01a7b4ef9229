/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A folder of arrays, as a device or another program has dumped them: which value of the network a file is for, by its
 * name. The folder is listed once; files are read when their value is compared. */
#include "comparison.h"
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static xir_status fail_io(const char *path, const char *what, xir_diags *why) {
    char sentence[200];
    snprintf(sentence, sizeof sentence, "%s: %s", what, strerror(errno));
    return xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_IO, .file = xir_str_of(path),
                                              .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static char *copy_of(const xir_allocator *alloc, const char *text) {
    char *copy = compare_new(alloc, strlen(text), 1);
    if (copy) memcpy(copy, text, strlen(text));
    return copy;
}

static void drop_text(const xir_allocator *alloc, char *text) {
    if (text) compare_drop(alloc, text, strlen(text), 1);
}

static bool add_file(const xir_compare *c, compare_folder *f, const char *name) {
    if (f->n == f->room) {
        const size_t room = 2 * f->room + 16;
        char **files = c->alloc->resize(c->alloc->user, (void *)f->files, f->room * sizeof *files,
                                        room * sizeof *files);
        if (!files) return false;
        f->files = files;
        f->room = room;
    }
    f->files[f->n] = copy_of(c->alloc, name);
    return f->files[f->n] && ++f->n;
}

static int by_text(const void *x, const void *y) { return strcmp(*(char *const *)x, *(char *const *)y); }

static xir_status list_files(const xir_compare *c, compare_folder *f, xir_diags *why) {
    DIR *dir = opendir(f->path);
    if (!dir) return fail_io(f->path, "cannot be opened as a folder", why);
    bool room = true;
    const struct dirent *entry;
    while (errno = 0, room && (entry = readdir(dir)))
        if (entry->d_name[0] != '.') room = add_file(c, f, entry->d_name);
    const int error = errno;
    closedir(dir);
    errno = error;
    if (!room) return no_memory(why);
    if (error) return fail_io(f->path, "cannot be listed", why);
    if (f->n) qsort((void *)f->files, f->n, sizeof *f->files, by_text);
    return XIR_OK;
}

/* The index of the file STEM.SUFFIX; NO_NUMBER: there is none, or another value has it. */
static uint32_t find_file(const compare_folder *f, const char *stem, const char *suffix, char *room, size_t size) {
    snprintf(room, size, "%s.%s", stem, suffix);
    char *const *found = f->n ? bsearch(&(const char *){ room }, f->files, f->n, sizeof *f->files, by_text) : NULL;
    const size_t i = found ? (size_t)(found - f->files) : 0;
    return found && !f->taken[i] ? (uint32_t)i : NO_NUMBER;
}

enum { MOST_NAME = 4096 };   /* no file has a longer name */

static uint32_t file_for(const compare_folder *f, const xir_value *v) {
    const xir_str own = xir_value_name(v), name = own.size || xir_value_index(v) ? own : xir_op_name(xir_value_op(v));
    char stem[MOST_NAME] = "", id[24], path[MOST_NAME + 8];
    snprintf(id, sizeof id, "%" PRId64, xir_value_id(v));
    for (size_t i = 0; i < name.size && name.size < sizeof stem; i++) {
        stem[i] = name.data[i] == '/' || name.data[i] == '\0' ? '_' : name.data[i];
        stem[i + 1] = '\0';
    }
    static const char *const suffixes[] = { "npy", "bin" };
    for (size_t i = 0; i < 2; i++) {
        uint32_t k = *stem ? find_file(f, stem, suffixes[i], path, sizeof path) : NO_NUMBER;
        if (k == NO_NUMBER) k = find_file(f, id, suffixes[i], path, sizeof path);
        if (k != NO_NUMBER) return k;
    }
    return NO_NUMBER;
}

static void take_file(xir_compare *c, uint32_t value, uint32_t file) {
    c->folder.file_of[value] = file;
    if (file != NO_NUMBER) c->folder.taken[file] = true;
}

/* Outputs of the network without a name are called by their position. */
static void find_outputs(xir_compare *c) {
    const xir_op *out = xir_network_output_op(c->a.net);
    for (size_t i = 0; out && i < xir_op_input_count(out); i++) {
        const xir_value *v = xir_op_input(out, (int64_t)i);
        const uint32_t k = v && !xir_value_name(v).size ? compare_number(&c->a, v) : NO_NUMBER;
        char stem[40], path[48];
        snprintf(stem, sizeof stem, "output_%zu", i);
        if (k != NO_NUMBER && c->folder.file_of[k] == NO_NUMBER)
            take_file(c, k, find_file(&c->folder, stem, "npy", path, sizeof path));
    }
}

xir_status compare_open_folder(xir_compare *c, xir_diags *why) {
    compare_folder *f = &c->folder;
    f->path = copy_of(c->alloc, c->how.folder);
    f->file_of = compare_new(c->alloc, c->a.n, sizeof *f->file_of);
    if (!f->path || !f->file_of) return no_memory(why);
    c->how.folder = f->path;
    const xir_status status = list_files(c, f, why);
    if (status) return status;
    f->taken = compare_new(c->alloc, f->n, sizeof *f->taken);
    if (!f->taken) return no_memory(why);
    for (uint32_t i = 0; i < c->a.n; i++) take_file(c, i, file_for(f, c->a.values[i]));
    find_outputs(c);
    return XIR_OK;
}

void compare_close_folder(xir_compare *c) {
    compare_folder *f = &c->folder;
    for (size_t i = 0; i < f->n; i++) drop_text(c->alloc, f->files[i]);
    if (f->files) c->alloc->resize(c->alloc->user, (void *)f->files, f->room * sizeof *f->files, 0);
    compare_drop(c->alloc, f->taken, f->n, sizeof *f->taken);
    compare_drop(c->alloc, f->file_of, c->a.n, sizeof *f->file_of);
    drop_text(c->alloc, f->path);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static xir_status fail_size(const char *path, uint64_t expected, uint64_t found, xir_diags *why) {
    char sentence[160];
    snprintf(sentence, sizeof sentence, "expected the %" PRIu64 " bytes of the value, found %" PRIu64, expected, found);
    return xir_diags_append(why, &(xir_diag){ .severity = XIR_ERROR, .code = XIR_E_BOUNDS, .file = xir_str_of(path),
                                              .byte = XIR_NO_BYTE, .message = xir_str_of(sentence) });
}

/* The bytes of a value's type, no more and no less: the size is known before memory is taken. */
static xir_status read_bytes(const xir_compare *c, const char *path, const xir_type *type, xir_array **out,
                             xir_diags *why) {
    struct stat s;
    uint64_t bytes;
    if (xir_type_bytes(type, &bytes))
        return xir_diags_add(why, XIR_ERROR, XIR_E_BOUNDS, XIR_STR(""), "%s: the network leaves dims of the value "
                             "open, so bytes alone do not tell its shape: expected a .npy file", path);
    FILE *file = fopen(path, "rb");
    if (!file) return fail_io(path, "cannot be opened", why);
    xir_status status = fstat(fileno(file), &s) ? fail_io(path, "cannot be read", why) : XIR_OK;
    if (!status && (!S_ISREG(s.st_mode) || (uint64_t)s.st_size != bytes))
        status = fail_size(path, bytes, (uint64_t)s.st_size, why);
    xir_array *array = status ? NULL : xir_array_new(c->ctx, type, why);
    if (!status && !array) status = XIR_E_MEMORY;
    const size_t got = array && bytes ? fread(xir_array_edit(array), 1, (size_t)bytes, file) : 0;
    if (array && got != bytes)
        status = ferror(file) ? fail_io(path, "cannot be read", why) : fail_size(path, bytes, got, why);
    fclose(file);
    if (status) xir_array_free(array);
    else *out = array;
    return status;
}

/* A device may dump quantised elements as the integers that are stored: they are elements of the value's type. */
static xir_status take_stored(const xir_compare *c, const xir_type *type, xir_array **array, xir_diags *why) {
    const xir_type *element = xir_type_element(type), *dumped = xir_array_type(*array);
    if (!xir_type_is_quantized(element) || !xir_type_equal(xir_type_storage(element), xir_type_element(dumped)))
        return XIR_OK;
    if (compare_places_of_file(dumped, type) != PLACES_SAME) return XIR_OK;
    size_t size;
    const void *bytes = xir_array_data(*array, &size);
    uint64_t expected;
    if (xir_type_bytes(type, &expected) || expected != size) return XIR_OK;
    xir_array *real = xir_array_copy(c->ctx, type, bytes, size, why);
    if (!real) return XIR_E_MEMORY;
    xir_array_free(*array);
    *array = real;
    return XIR_OK;
}

static xir_status read_npy(const xir_compare *c, const char *path, const xir_type *type, xir_array **out,
                           xir_diags *why) {
    const size_t before = xir_diags_count(why);
    xir_array *array = xir_array_load_npy(c->ctx, path, why);
    if (!array) {
        const xir_diag *d = xir_diags_at(why, before);
        return d ? d->code : XIR_E_INVALID;
    }
    const xir_status status = take_stored(c, type, &array, why);
    if (status) xir_array_free(array);
    else *out = array;
    return status;
}

xir_status compare_read_file(const xir_compare *c, size_t i, xir_array **out, xir_diags *why) {
    const char *name = c->folder.files[c->folder.file_of[i]];
    const size_t size = strlen(c->folder.path) + strlen(name) + 2, stem = strlen(name) - strlen(".npy");
    const xir_type *type = xir_value_type(c->a.values[i]);
    char *path = compare_new(c->alloc, size, 1);
    *out = NULL;
    if (!path) return no_memory(why);
    snprintf(path, size, "%s/%s", c->folder.path, name);
    const xir_status status = strcmp(name + stem, ".npy") == 0 ? read_npy(c, path, type, out, why)
                                                               : read_bytes(c, path, type, out, why);
    compare_drop(c->alloc, path, size, 1);
    return status;
}
