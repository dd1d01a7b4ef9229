/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* File names: suffixes, which may have two parts ("pnnx.param"), and the parameter file next to a structure file. */
#include <errno.h>
#include <sys/stat.h>
#include "codec/codec.h"
#include "formats.h"

/* ---- suffixes ------------------------------------------------------------------------------------------------ */

/* The next of the suffixes, which blanks separate; empty at the end. */
static xir_str next_suffix(const char **suffixes) {
    const char *suffix = *suffixes + strspn(*suffixes, " ");
    size_t n = strcspn(suffix, " ");
    *suffixes = suffix + n;
    return (xir_str){ suffix, n };
}

/* True if a path ends with a dot and the suffix, and the name before them is not empty. */
static bool ends_with(xir_str path, xir_str suffix) {
    if (path.size < suffix.size + 2) return false;
    const char *dot = path.data + path.size - suffix.size - 1;
    return *dot == '.' && dot[-1] != '/' && memcmp(dot + 1, suffix.data, suffix.size) == 0;
}

size_t suffix_length(const char *suffixes, xir_str path, size_t *which) {
    size_t longest = 0, i = 0;
    *which = 0;
    for (xir_str suffix = next_suffix(&suffixes); suffix.size; suffix = next_suffix(&suffixes), i++) {
        if (suffix.size <= longest || !ends_with(path, suffix)) continue;
        longest = suffix.size;
        *which = i;
    }
    return longest;
}

/* The length of the text after the last dot of the last name. */
static size_t any_suffix_length(xir_str path) {
    for (size_t i = path.size; i > 1 && path.data[i - 1] != '/'; i--)
        if (path.data[i - 1] == '.') return path.data[i - 2] == '/' ? 0 : path.size - i;
    return 0;
}

/* ---- names of companions --------------------------------------------------------------------------------------- */

/* The length of a path without its suffix: the format's, or any. *which is the position of the format's suffix,
 * SIZE_MAX if it is another. */
static size_t stem_size(const format *f, const char *path, size_t *which) {
    xir_str whole = xir_str_of(path);
    size_t n = suffix_length(f->suffixes, whole, which);
    if (!n) {
        *which = SIZE_MAX;
        n = any_suffix_length(whole);
    }
    return n ? whole.size - n - 1 : whole.size;
}

static char *join(const xir_allocator *alloc, const char *path, size_t stem, xir_str suffix, size_t *room) {
    *room = stem + suffix.size + 2;
    char *name = mem_new(alloc, *room);
    if (!name) return NULL;
    memcpy(name, path, stem);
    name[stem] = '.';
    memcpy(name + stem + 1, suffix.data, suffix.size);
    name[stem + 1 + suffix.size] = '\0';
    return name;
}

char *companion_name(const xir_allocator *alloc, const format *f, const char *path, size_t *room) {
    size_t which, stem = stem_size(f, path, &which);
    const char *suffixes = f->params_written;
    xir_str suffix = next_suffix(&suffixes), next;
    for (size_t i = 0; i < which && (next = next_suffix(&suffixes)).size; i++) suffix = next;
    return join(alloc, path, stem, suffix, room);
}

/* Returns true if the name exists, even if it cannot be examined: then opening it will report why. */
static bool path_exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG);
}

char *companion_find(const xir_allocator *alloc, const format *f, const char *path, size_t *room, xir_status *status) {
    size_t which, stem = stem_size(f, path, &which);
    const char *suffixes = f->params_found;
    for (xir_str suffix = next_suffix(&suffixes); suffix.size; suffix = next_suffix(&suffixes)) {
        char *name = join(alloc, path, stem, suffix, room);
        if (!name) {
            *status = XIR_E_MEMORY;
            return NULL;
        }
        if (strcmp(name, path) != 0 && path_exists(name)) return name;
        mem_free(alloc, name, *room);
    }
    return NULL;
}

typedef struct lacking { bool needed, any; } lacking;

/* Returns false at the first that needs bytes: nothing more can follow from the others. */
static bool note_lack(void *user, xir_value *v) {
    lacking *l = user;
    l->any |= !xir_params_has_data(v);
    l->needed |= !xir_params_has_data(v) && !xir_params_allow_no_data(v);
    return !l->needed;
}

xir_status companion_is_needed(const format *f, const xir_network *net, bool *lacks, bool *needs_file, xir_diags *why) {
    const bool stated = !(net->absent >> NETWORK_PARAMS_BYTES & 1);
    lacking l = { false, false };
    if (!net_walk_params(net, note_lack, &l) && !l.needed) return diag_memory(why);
    *lacks = l.needed;
    *needs_file = f->makes_params || net->params_bytes || l.needed || (l.any && !stated);
    return XIR_OK;
}

/* ---- for programs -------------------------------------------------------------------------------------------- */

/* Copies a name to the caller, whose buffer may be too small, and frees it. */
static void return_name(const xir_allocator *alloc, char *name, size_t taken, char *out, size_t room, size_t *size) {
    if (!name) return;
    *size = strlen(name);
    if (*size < room) memcpy(out, name, *size + 1);
    mem_free(alloc, name, taken);
}

static xir_status find_file(xir_context *ctx, const char *format_name, const char *path, char *out, size_t room,
                            size_t *size, xir_diags *why) {
    format f;
    size_t taken = 0;
    xir_status status = XIR_OK;
    *size = 0;
    if (!format_named(ctx, format_name, &f, why)) return XIR_E_UNKNOWN;
    char *name = f.params_found ? companion_find(&ctx->alloc, &f, path, &taken, &status) : NULL;
    return_name(&ctx->alloc, name, taken, out, room, size);
    return status ? diag_memory(why) : XIR_OK;
}

xir_status xir_params_file_find(xir_context *ctx, const char *format_name, const char *path, char *out, size_t room,
                                size_t *size, xir_diags *why) {
    return find_file(formats_of(ctx), format_name, path, out, room, size, why);
}

xir_status xir_network_params_file(const xir_network *net, const char *format_name, const char *path, char *out,
                                   size_t room, size_t *size, xir_diags *why) {
    format f;
    bool lacks, needs_file = false;
    *size = 0;
    if (!net) return diag_null(why, "network");
    if (!format_named(net->ctx, format_name, &f, why)) return XIR_E_UNKNOWN;
    if (companion_is_needed(&f, net, &lacks, &needs_file, why)) return XIR_E_MEMORY;
    return needs_file ? find_file(net->ctx, format_name, path, out, room, size, why) : XIR_OK;
}

xir_status xir_params_file_name(xir_context *ctx, const char *format_name, const char *path, char *out, size_t room,
                                size_t *size, xir_diags *why) {
    format f;
    size_t taken = 0;
    *size = 0;
    ctx = formats_of(ctx);
    if (!format_named(ctx, format_name, &f, why)) return XIR_E_UNKNOWN;
    if (!f.params_written || f.splits) return XIR_OK;
    char *name = companion_name(&ctx->alloc, &f, path, &taken);
    return_name(&ctx->alloc, name, taken, out, room, size);
    return name ? XIR_OK : diag_memory(why);
}
