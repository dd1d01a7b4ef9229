/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A folder of files that is written as a whole, under a temporary name next to its own. journal.h gives it its name,
 * together with that of the file that it belongs to. It replaces a folder of the same name only if that has no other
 * files than such a writer makes. */
#ifndef CORE_FOLDER_H
#define CORE_FOLDER_H

#include "file.h"

/* Returns true if a file of an old folder may be replaced. */
typedef bool folder_own_fn(xir_str name);

typedef struct folder_writer {
    xir_context   *ctx;
    xir_diags     *why;
    char          *target, *temp;      /* the path; the new folder, next to it                     */
    size_t         room;               /* of each of these                                         */
    folder_own_fn *is_own;
    bool           made;               /* the temporary folder exists                              */
    xir_status     status;
} folder_writer;

/* Makes the temporary folder; a '/' at the end of the path does not count. XIR_E_EXISTS if the path is not a folder, or
 * one with files of others. After a failure of any of these, `status` stays set and only folder_close may follow. */
xir_status folder_open(folder_writer *f, xir_context *ctx, const char *path, folder_own_fn *is_own, xir_diags *why);
/* Writes a file into it, in one piece. */
xir_status folder_write(folder_writer *f, xir_str name, const void *data, size_t size);
/* The folder is complete. Checks again that the old one may be replaced. */
xir_status folder_ready(folder_writer *f);
/* Removes the temporary folder, if it still has that name. */
void       folder_close(folder_writer *f);

/* Returns true if the path is free, or a folder that may be replaced. Otherwise *status and a finding say why. */
bool folder_may_replace(const char *path, folder_own_fn *is_own, xir_status *status, xir_diags *why);
/* Removes a folder whose files all belong to its writer; links are not followed. Whatever else is in it stays. */
void folder_remove(const char *path, folder_own_fn *is_own);
/* Returns true if a temporary folder of this name belongs to a target of that name. */
bool folder_is_temp_of(xir_str temp, xir_str name);

#endif
