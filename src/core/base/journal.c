/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Replacing two files together, and finishing what was left of that. See journal.h. A file or folder and what it
 * replaces exchange their names in one step, so that the first of the two can be taken back if the second cannot be
 * replaced. On a file system without this call the old one is renamed first. */
#define _FILE_OFFSET_BITS 64
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "context_base.h"
#include "journal.h"
#include "temp_files.h"

/* ---- one file or folder ----------------------------------------------------------------------------------------- */

journal_item journal_item_of_file(file_writer *w) {
    return (journal_item){ .temp = w->temp, .target = w->target, .named = w->path, .made = &w->exists,
                           .noted = &w->noted, .fd = &w->fd, .old = -1 };
}

journal_item journal_item_of_folder(folder_writer *f) {
    return (journal_item){ .temp = f->temp, .target = f->target, .named = f->target, .is_own = f->is_own,
                           .made = &f->made, .old = -1 };
}

/* The name that the old one gets where names cannot be exchanged: "….old" for "….tmp". */
static void name_old(const journal_item *it, char old[FILE_TEMP_ROOM]) {
    const size_t n = strlen(it->temp);
    snprintf(old, FILE_TEMP_ROOM, "%.*s.old", (int)(n - (sizeof ".tmp" - 1)), it->temp);
}

static bool exchange(const journal_item *it) {
    return renameat2(AT_FDCWD, it->temp, AT_FDCWD, it->target, RENAME_EXCHANGE) == 0;
}

static bool place_new(journal_item *it, journal_place place) {
    if (rename(it->temp, it->target) != 0) return false;
    it->place = place;
    return true;
}

/* Without exchanging names. JOURNAL_LOST: the old one could not get its name back. */
static bool set_aside_and_place(journal_item *it) {
    char old[FILE_TEMP_ROOM];
    name_old(it, old);
    if (rename(it->target, old) != 0) return errno == ENOENT && place_new(it, JOURNAL_FIRST);
    if (place_new(it, JOURNAL_SET_ASIDE)) return true;
    const int error = errno;
    if (rename(old, it->target) != 0) it->place = JOURNAL_LOST;
    errno = error;
    return false;
}

/* Another save may remove a file that has a temporary name and is not locked. */
static void hold_old(journal_item *it) {
    if (it->is_own || it->old >= 0) return;
    it->old = open(it->target, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (it->old >= 0) (void)file_lock(it->old);
}

/* Unlocks the new file too. */
static void release(journal_item *it) {
    if (it->old >= 0) (void)close(it->old);
    if (it->fd && *it->fd >= 0) (void)close(*it->fd);
    if (it->fd) *it->fd = -1;
    it->old = -1;
}

static bool exchange_and_place(journal_item *it) {
    hold_old(it);
    if (exchange(it)) {
        it->place = JOURNAL_EXCHANGED;
        return true;
    }
    if (errno == ENOENT) return place_new(it, JOURNAL_FIRST);
    const bool supported = errno != EINVAL && errno != ENOSYS && errno != ENOTSUP && errno != EPERM;
    return !supported && set_aside_and_place(it);
}

/* False with errno: nothing is changed, unless the place is JOURNAL_LOST. */
static bool put_in_place(journal_item *it) {
    if (!exchange_and_place(it)) return false;
    if (it->made) *it->made = false;
    return true;
}

static bool take_back(journal_item *it) {
    char old[FILE_TEMP_ROOM];
    name_old(it, old);
    if (it->place == JOURNAL_TEMP) return true;
    if (it->place == JOURNAL_EXCHANGED ? !exchange(it) : rename(it->target, it->temp) != 0) return false;
    if (it->place == JOURNAL_SET_ASIDE && rename(old, it->target) != 0) return false;
    it->place = JOURNAL_TEMP;
    if (it->made) *it->made = true;
    return true;
}

static void remove_old(const journal_item *it, const char *path) {
    if (it->is_own) folder_remove(path, it->is_own);
    else (void)unlink(path);
}

/* Removes what it has replaced. */
static void remove_replaced(const journal_item *it) {
    char old[FILE_TEMP_ROOM];
    name_old(it, old);
    if (it->place == JOURNAL_EXCHANGED) remove_old(it, it->temp);
    if (it->place == JOURNAL_SET_ASIDE) remove_old(it, old);
}

/* The same for a process that was killed: it may have left that under either name. */
static void remove_left(const journal_item *it) {
    char old[FILE_TEMP_ROOM];
    name_old(it, old);
    if (it->is_own) folder_remove(it->temp, it->is_own);
    else file_remove_left(it->temp);
    remove_old(it, old);
}

/* Makes a new name durable. */
static xir_status flush_name(const journal_item *it, xir_diags *why) {
    if (file_sync_folder(it->target)) return XIR_OK;
    return file_fail(why, XIR_E_IO, it->named, XIR_NO_BYTE, "replaced, but a crash may still bring the old file "
                     "back: cannot flush its directory: %s", strerror(errno));
}

static bool is_in_folder_of(const char *path, const char *other) {
    const size_t n = file_folder_size(path);
    return n == file_folder_size(other) && memcmp(path, other, n) == 0;
}

static xir_status flush_names(const journal_item items[JOURNAL_ITEMS], xir_diags *why) {
    const xir_status first = is_in_folder_of(items[0].target, items[1].target) ? XIR_OK : flush_name(&items[0], why);
    return first ? first : flush_name(&items[1], why);
}

/* ---- while saving ----------------------------------------------------------------------------------------------- */

static xir_status fail(const journal *j, const char *path, const char *what) {
    return file_fail(j->why, XIR_E_IO, path, XIR_NO_BYTE, "cannot %s: %s", what, strerror(errno));
}

/* Notes size and time of the new file, and makes its temporary name durable if it is in another folder than the
 * journal. */
static xir_status describe(const journal *j, journal_item *it) {
    struct stat st;
    if (lstat(it->temp, &st) != 0) return fail(j, it->named, "examine the new file");
    it->size = (uint64_t)st.st_size;
    it->changed = st.st_mtim.tv_sec;
    it->changed_ns = st.st_mtim.tv_nsec;
    const bool durable = is_in_folder_of(it->temp, j->path) || file_sync_folder(it->temp);
    return durable ? XIR_OK : fail(j, it->named, "flush its directory");
}

/* From now on a signal does not remove the two temporary files. */
static void begin(journal *j) {
    temp_files_journal_begins();
    j->counted = true;
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) {
        if (!j->items[i].noted) continue;
        temp_file_forget(*j->items[i].noted);
        *j->items[i].noted = -1;
    }
}

static void end(journal *j, bool stays) {
    if (j->file.placed && !stays) (void)unlink(j->path);
    file_abort(&j->file);
    if (j->counted) temp_files_journal_ends();
}

/* Another process may be replacing the files: then its journal exists, and this one waits. */
static xir_status place_journal(journal *j) {
    enum { TRIES = 100 };
    journal_found other;
    for (int i = 0; i < TRIES; i++) {
        xir_status status = file_place_new(&j->file);
        if (status != XIR_E_EXISTS) return status;
        status = journal_find(&other, j->items[1].target, j->why);
        const bool left = !status && other.fd >= 0;
        journal_leave(&other);
        if (status) return status;
        if (left) break;
    }
    return file_fail(j->why, XIR_E_IO, j->items[1].named, XIR_NO_BYTE, "another process was saving it at the same "
                     "time, and has not finished: save it again");
}

static xir_status write_journal(journal *j) {
    const char *params = j->items[0].target, *name = params + file_folder_size(params);
    if (strcmp(name, j->path + file_folder_size(j->path)) == 0)
        return file_fail(j->why, XIR_E_INVALID, params, XIR_NO_BYTE, "the name is that of the record of a save: the "
                         "parameters need another one");
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) {
        const xir_status status = describe(j, &j->items[i]);
        if (status) return status;
    }
    if (file_open(&j->file, j->ctx, j->path, j->why) != XIR_OK) return j->file.status;
    j->file.stays_open = true;
    if (!journal_print(j->items, &j->file) || file_ready(&j->file) != XIR_OK) return j->file.status;
    begin(j);
    const xir_status status = place_journal(j);
    if (status || file_sync_folder(j->path)) return status;
    return fail(j, j->path, "flush its directory");
}

/* An item cannot be put in place, and the other one cannot be taken back: what was saved is kept, for the process that
 * finishes the save. */
static xir_status leave(journal *j, const journal_item *failed, int error) {
    for (size_t i = 0; i < JOURNAL_ITEMS; i++)
        if (j->items[i].made) *j->items[i].made = false;
    return file_fail(j->why, XIR_E_IO, failed->named, XIR_NO_BYTE, "cannot put the new file in place: %s. Nor can the "
                     "old files get their names back: xir check --repair %s finishes the save", strerror(error),
                     j->items[1].named);
}

/* The first is taken back if the second cannot be put in place. */
static xir_status place_both(journal *j, bool *stays) {
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) {
        journal_item *it = &j->items[i];
        if (put_in_place(it)) continue;
        const int error = errno;
        *stays = it->place == JOURNAL_LOST || (i > 0 && !take_back(&j->items[0]));
        if (*stays) return leave(j, it, error);
        errno = error;
        return fail(j, it->named, "put the new file in place");
    }
    return XIR_OK;
}

xir_status journal_replace(journal *j, xir_context *ctx, journal_item params, journal_item structure, xir_diags *why) {
    bool stays = false;
    *j = (journal){ .ctx = ctx, .why = why, .file = { .ctx = ctx, .fd = -1, .noted = -1 },
                    .items = { params, structure } };
    snprintf(j->path, sizeof j->path, "%s" JOURNAL_SUFFIX, structure.target);
    xir_status status = write_journal(j);
    if (!status) status = place_both(j, &stays);
    if (!status) {
        status = flush_names(j->items, why);
        for (size_t i = 0; i < JOURNAL_ITEMS; i++) remove_replaced(&j->items[i]);
    }
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) release(&j->items[i]);
    end(j, stays);
    return status;
}

xir_status journal_replace_one(journal_item item, xir_diags *why) {
    if (!put_in_place(&item))
        return file_fail(why, XIR_E_IO, item.named, XIR_NO_BYTE, "cannot put the new one in place: %s",
                         strerror(errno));
    const xir_status status = flush_name(&item, why);
    remove_replaced(&item);
    release(&item);
    return status;
}

/* ---- what was left ---------------------------------------------------------------------------------------------- */

static xir_status cannot(const char *path, const char *what, xir_diags *why) {
    return file_fail(why, XIR_E_IO, path, XIR_NO_BYTE, "cannot %s: %s", what, strerror(errno));
}

static xir_status read_text(journal_found *f, xir_diags *why) {
    ssize_t n = 0;
    f->size = 0;
    do {
        n = read(f->fd, f->text + f->size, sizeof f->text - f->size);
        if (n > 0) f->size += (size_t)n;
    } while ((n > 0 && f->size < sizeof f->text) || (n < 0 && errno == EINTR));
    if (n < 0) return cannot(f->path, "read", why);
    if (journal_parse(f)) return XIR_OK;
    return file_fail(why, XIR_E_CORRUPT, f->path, XIR_NO_BYTE, "it is not the record of a save of %s, although it has "
                     "the name of one: remove it if %s and its parameters belong together", f->target, f->target);
}

/* Opens and locks the journal. *again: it is locked by another process, or was removed since. */
static xir_status open_journal(journal_found *f, bool *again, xir_diags *why) {
    struct stat st;
    *again = false;
    do f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    while (f->fd < 0 && errno == EINTR);
    if (f->fd < 0) {
        const bool none = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
        return none ? XIR_OK : cannot(f->path, "open the record of a save", why);
    }
    if (fstat(f->fd, &st) != 0) return cannot(f->path, "examine the record of a save", why);
    *again = !file_lock(f->fd) || !file_is_at(&st, f->path);
    return XIR_OK;
}

xir_status journal_find(journal_found *f, const char *path, xir_diags *why) {
    enum { TRIES = 500 };
    static const struct timespec pause = { 0, 10000000 };
    f->fd = -1;
    if (!file_follow(path, f->target)) {
        const bool none = errno == ENAMETOOLONG || errno == ELOOP || errno == ENOTDIR || errno == EACCES;
        return none ? XIR_OK : cannot(path, "follow the link", why);    /* none: the file cannot be opened either */
    }
    if (!f->target[file_folder_size(f->target)]) return XIR_OK;
    snprintf(f->path, sizeof f->path, "%s" JOURNAL_SUFFIX, f->target);
    for (int i = 0; i < TRIES; i++) {
        bool again;
        const xir_status status = open_journal(f, &again, why);
        if (status || (f->fd >= 0 && !again)) return status ? status : read_text(f, why);
        if (f->fd < 0) return XIR_OK;
        journal_leave(f);
        (void)nanosleep(&pause, NULL);
    }
    return file_fail(why, XIR_E_IO, path, XIR_NO_BYTE, "another process is saving it");
}

void journal_leave(journal_found *f) {
    if (f->fd >= 0) (void)close(f->fd);
    f->fd = -1;
}

bool journal_match(const journal_entry *e, const char *target, folder_own_fn *is_own, char *temp, journal_item *out) {
    const size_t n = file_folder_size(target);
    const xir_str name = xir_str_of(target + n);
    if (!xir_str_equal(e->name, name) || e->folder != (is_own != NULL)) return false;
    if (e->folder ? !folder_is_temp_of(e->temp, name) : !file_is_temp_of(e->temp, name)) return false;
    if (n + e->temp.size >= FILE_TEMP_ROOM) return false;
    memcpy(temp, target, n);
    memcpy(temp + n, e->temp.data, e->temp.size);
    temp[n + e->temp.size] = '\0';
    *out = (journal_item){ .temp = temp, .target = target, .named = target, .is_own = is_own, .size = e->size,
                           .changed = e->changed, .changed_ns = e->changed_ns, .old = -1 };
    return true;
}

/* Returns true if the path has what was saved. Some file systems keep whole seconds only. */
static bool is_saved(const journal_item *it, const char *path) {
    struct stat st;
    if (lstat(path, &st) != 0 || !(it->is_own ? S_ISDIR(st.st_mode) : S_ISREG(st.st_mode))) return false;
    return (uint64_t)st.st_size == it->size && st.st_mtim.tv_sec == it->changed &&
           (st.st_mtim.tv_nsec == it->changed_ns || st.st_mtim.tv_nsec == 0);
}

void journal_look(journal_item *it) {
    it->place = is_saved(it, it->target) ? JOURNAL_FIRST : is_saved(it, it->temp) ? JOURNAL_TEMP : JOURNAL_LOST;
}

/* Returns true if the target is what was saved, or what a save may replace. */
static bool may_finish(const journal_found *f, journal_item *it, xir_status *status, xir_diags *why) {
    struct stat st;
    *status = XIR_OK;
    journal_look(it);
    if (it->place == JOURNAL_LOST) {
        *status = file_fail(why, XIR_E_CORRUPT, it->target, XIR_NO_BYTE, "the save cannot be finished: neither this "
                            "nor %s is what was saved. Save both files again, after removing %s", it->temp, f->path);
    } else if (it->place == JOURNAL_TEMP && it->is_own) {
        (void)folder_may_replace(it->target, it->is_own, status, why);
    } else if (it->place == JOURNAL_TEMP && lstat(it->target, &st) == 0 && !S_ISREG(st.st_mode)) {
        *status = file_fail(why, XIR_E_EXISTS, it->target, XIR_NO_BYTE, "it exists and is not a file");
    }
    return !*status;
}

xir_status journal_finish(journal_found *f, journal_item items[JOURNAL_ITEMS], xir_diags *why) {
    xir_status status;
    for (size_t i = 0; i < JOURNAL_ITEMS; i++)
        if (!may_finish(f, &items[i], &status, why)) return status;
    for (size_t i = 0; i < JOURNAL_ITEMS && !status; i++)
        if (items[i].place == JOURNAL_TEMP && !put_in_place(&items[i]))
            status = cannot(items[i].target, "put the saved file in place", why);
    if (!status) status = flush_names(items, why);
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) release(&items[i]);
    if (status) return status;
    for (size_t i = 0; i < JOURNAL_ITEMS; i++) remove_left(&items[i]);
    return unlink(f->path) == 0 ? XIR_OK : cannot(f->path, "remove the record of the finished save", why);
}
