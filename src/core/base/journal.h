/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Two files that belong together, a structure and its parameters, get their names one after the other. Between the two
 * a record of them is on disk, the journal: "X.xir-save" next to the structure X. So whatever ends the process, X is
 * the old pair, the new pair, or known to be unfinished, and the new pair is still there to be put in place.
 *
 *     both are complete and flushed under temporary names | the journal | the two renames | no journal
 *
 * The process that holds the lock of a journal is replacing the files. A journal without a lock was left by a process
 * that was killed, or by a system that stopped.
 *
 * A journal may come from a stranger. It names files without folders: the folders are those of the structure and of the
 * parameter file, which the caller knows. A temporary name must be one that a save of its target makes. The caller
 * decides which targets are possible. */
#ifndef CORE_JOURNAL_H
#define CORE_JOURNAL_H

#include "folder.h"

#define JOURNAL_SUFFIX ".xir-save"
enum { JOURNAL_ITEMS = 2, JOURNAL_PATH_ROOM = FILE_PATH_ROOM + sizeof JOURNAL_SUFFIX };

/* The place of the new file or folder. */
typedef enum journal_place {
    JOURNAL_TEMP,        /* under its temporary name                                                 */
    JOURNAL_FIRST,       /* under its own name; there was nothing before                             */
    JOURNAL_EXCHANGED,   /* under its own name, and the old one under the temporary name             */
    JOURNAL_SET_ASIDE,   /* under its own name, and the old one under a third name, "….old"          */
    JOURNAL_LOST         /* neither the temporary name nor its own has what was saved                */
} journal_place;

/* A file or folder that gets its name. */
typedef struct journal_item {
    const char    *temp, *target;
    const char    *named;              /* the target as the caller named it, for people              */
    folder_own_fn *is_own;             /* of a folder; NULL: a file                                  */
    uint64_t       size;               /* of the new one, and the time of its last change            */
    int64_t        changed, changed_ns;
    journal_place  place;
    bool          *made;               /* set to false when `temp` has got its name; or NULL         */
    int           *noted;              /* its slot in temp_files.h; or NULL                          */
    int           *fd;                 /* of its writer, which locks the new file; or NULL           */
    int            old;                /* locks the old file while it has a temporary name; -1: none */
} journal_item;

journal_item journal_item_of_file(file_writer *w);
journal_item journal_item_of_folder(folder_writer *f);

/* ---- while saving ----------------------------------------------------------------------------------------------- */

typedef struct journal {
    xir_context *ctx;
    xir_diags   *why;
    char         path[JOURNAL_PATH_ROOM];
    file_writer  file;                 /* the journal, locked while it exists                        */
    journal_item items[JOURNAL_ITEMS]; /* the parameters, then the structure                         */
    bool         counted;              /* by temp_files.h                                            */
} journal;

/* Replaces both, or neither. The writers are ready: both files are complete and flushed. After a failure the temporary
 * ones exist again, and the old ones have their names; if even that fails, the journal stays, and the finding says
 * so. The names are flushed at the end. If that alone fails, the result is XIR_E_IO, but both files are new. */
xir_status journal_replace(journal *j, xir_context *ctx, journal_item params, journal_item structure, xir_diags *why);
/* The same for one that has no partner among files, since that is a device. */
xir_status journal_replace_one(journal_item item, xir_diags *why);

/* ---- what was left ---------------------------------------------------------------------------------------------- */

enum { JOURNAL_MOST = 16 << 10 };      /* bytes of a journal */

typedef struct journal_entry {
    bool     folder;
    uint64_t size;
    int64_t  changed, changed_ns;
    xir_str  temp, name, named;        /* the first two without folders */
} journal_entry;

typedef struct journal_found {
    int           fd;                  /* open and locked; -1: there is no journal */
    char          target[FILE_PATH_ROOM], path[JOURNAL_PATH_ROOM];   /* of the structure, of the journal */
    journal_entry entries[JOURNAL_ITEMS];
    size_t        size;
    char          text[JOURNAL_MOST];
} journal_found;

/* Looks for the journal of a structure, and waits a few seconds while another process replaces the files. XIR_OK if
 * there is none, or one that can be read. XIR_E_IO; XIR_E_CORRUPT for something else of that name. The end of the
 * search releases the lock. */
xir_status journal_find(journal_found *f, const char *path, xir_diags *why);
void       journal_leave(journal_found *f);

/* The file of an entry, if its target is `target`, in the caller's room for the temporary name (FILE_TEMP_ROOM). False:
 * the target, or the temporary name, is another one. */
bool journal_match(const journal_entry *e, const char *target, folder_own_fn *is_own, char *temp, journal_item *out);
/* Sets where the new file is: JOURNAL_TEMP, JOURNAL_FIRST or JOURNAL_LOST. */
void journal_look(journal_item *item);
/* Puts in place what is not, removes what it replaces, and the journal. Nothing is changed if an item is lost, or its
 * target is neither what was saved nor something that a save replaces. The lock stays. */
xir_status journal_finish(journal_found *f, journal_item items[JOURNAL_ITEMS], xir_diags *why);

/* ---- the text of a journal, journal_text.c ---------------------------------------------------------------------- */

bool journal_print(const journal_item items[JOURNAL_ITEMS], file_writer *to);
/* False: it is not such a text. */
bool journal_parse(journal_found *f);

#endif
