/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Saves of two files that ended before both had their names. The record that they leave (journal.h) may come from a
 * stranger, so it does not decide which files are touched: the structure is the one that the caller names, and the
 * parameters are a file that some format writes next to it, or one that the caller names too. */
#include "formats.h"
#include "journal.h"

typedef struct unfinished {
    journal_found found;
    journal_item  items[JOURNAL_ITEMS];
    bool          known[JOURNAL_ITEMS];    /* the file of the item is one of those */
    char          target[FILE_PATH_ROOM], temps[JOURNAL_ITEMS][FILE_TEMP_ROOM];
} unfinished;

/* ---- the files that a record is about --------------------------------------------------------------------------- */

/* Returns true if the parameters are those of the path. A folder's own name counts, without a '/' at its end; links to
 * a file are followed, as when it is saved. */
static bool is_params(unfinished *u, const char *path, folder_own_fn *is_own) {
    const journal_entry *e = &u->found.entries[0];
    size_t n = strlen(path);
    if (e->folder != (is_own != NULL)) return false;
    if (!e->folder) return file_follow(path, u->target) && journal_match(e, u->target, NULL, u->temps[0], &u->items[0]);
    while (n > 1 && path[n - 1] == '/') n--;
    if (n >= sizeof u->target) return false;
    memcpy(u->target, path, n);
    u->target[n] = '\0';
    return journal_match(e, u->target, is_own, u->temps[0], &u->items[0]);
}

/* Tries the file that the caller names and those that the formats name. */
static xir_status find_params(unfinished *u, xir_context *ctx, const char *path, const char *params_path,
                              xir_diags *why) {
    const xir_allocator *alloc = &ctx->alloc;
    format f;
    for (size_t i = 0; !u->known[0] && format_at(ctx, i, &f); i++) {
        size_t room = 0;
        if (!f.params_written) continue;
        if (params_path && is_params(u, params_path, f.is_own_file)) u->known[0] = true;
        char *name = u->known[0] ? NULL : companion_name(alloc, &f, path, &room);
        if (!u->known[0] && !name) return diag_memory(why);
        if (name && is_params(u, name, f.is_own_file)) u->known[0] = true;
        mem_free(alloc, name, room);
    }
    return XIR_OK;
}

/* Looks for a record. The lock of one that is found is the caller's. */
static xir_status find(unfinished *u, xir_context *ctx, const char *path, const char *params_path, xir_diags *why) {
    u->known[0] = u->known[1] = false;
    xir_status status = journal_find(&u->found, path, why);
    if (status || u->found.fd < 0) return status;
    u->known[1] = journal_match(&u->found.entries[1], u->found.target, NULL, u->temps[1], &u->items[1]);
    return find_params(u, ctx, path, params_path, why);
}

static bool is_done(unfinished *u) {
    bool done = true;
    for (size_t i = 0; i < JOURNAL_ITEMS && done; i++) {
        if (u->known[i]) journal_look(&u->items[i]);
        done = u->known[i] && u->items[i].place == JOURNAL_FIRST;
    }
    return done;
}

/* ---- findings --------------------------------------------------------------------------------------------------- */

enum { SHOWN = 200 };
#define SHOW(text) (int)((text).size < SHOWN ? (text).size : SHOWN), (text).data

static xir_status refuse(const unfinished *u, const char *path, xir_diags *why) {
    const xir_str named = u->found.entries[0].named;
    if (u->known[0])
        return file_fail(why, XIR_E_CORRUPT, path, XIR_NO_BYTE, "a save of this file and of %s was interrupted: "
                         "xir check --repair %s finishes it", u->items[0].named, path);
    return file_fail(why, XIR_E_CORRUPT, path, XIR_NO_BYTE, "a save of this file and of %.*s was interrupted: xir check "
                     "--repair %s --params %.*s finishes it", SHOW(named), path, SHOW(named));
}

static xir_status refuse_to_end(const unfinished *u, const char *path, xir_diags *why) {
    const xir_str named = u->found.entries[0].named, name = u->found.entries[1].name;
    if (!u->known[1])
        return file_fail(why, XIR_E_CORRUPT, u->found.path, XIR_NO_BYTE, "it is the record of a save of '%.*s', not of "
                         "%s: remove it if %s and its parameters belong together", SHOW(name), path, path);
    return file_fail(why, XIR_E_MISSING, path, XIR_NO_BYTE, "a save of this file and of %.*s was interrupted, and that "
                     "is not a name which parameters next to it have: name the file, xir check --repair %s --params "
                     "%.*s", SHOW(named), path, SHOW(named));
}

/* ---- for loading, saving and programs --------------------------------------------------------------------------- */

xir_status unfinished_check(xir_context *ctx, const char *path, xir_diags *why) {
    unfinished u;
    if (!path) return diag_null(why, "path");
    xir_status status = find(&u, ctx, path, NULL, why);
    if (!status && u.found.fd >= 0 && !is_done(&u)) status = refuse(&u, path, why);
    journal_leave(&u.found);
    return status;
}

xir_status xir_save_check(xir_context *ctx, const char *path, xir_diags *why) {
    return unfinished_check(formats_of(ctx), path, why);
}

xir_status unfinished_end(xir_context *ctx, const char *path, const char *params_path, bool *finished, xir_diags *why) {
    unfinished u;
    *finished = false;
    if (!path) return XIR_OK;    /* opening the file says so */
    xir_status status = find(&u, ctx, path, params_path, why);
    if (!status && u.found.fd >= 0) {
        const bool known = u.known[0] && u.known[1], done = known && is_done(&u);
        status = known ? journal_finish(&u.found, u.items, why) : refuse_to_end(&u, path, why);
        *finished = !status && !done;
    }
    journal_leave(&u.found);
    return status;
}

xir_status xir_save_finish(xir_context *ctx, const char *path, const char *params_path, bool *finished,
                           xir_diags *why) {
    bool any;
    if (!path) return diag_null(why, "path");
    return unfinished_end(formats_of(ctx), path, params_path, finished ? finished : &any, why);
}
