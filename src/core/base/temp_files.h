/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Names of the temporary files that saves of this process write, for xir_abandon_saves. */
#ifndef CORE_TEMP_FILES_H
#define CORE_TEMP_FILES_H

#include <stdbool.h>

/* Notes a file until temp_file_forget is called with the returned slot. -1: it could not be noted, and is not
 * removed if a signal ends the program. */
int  temp_file_note(const char *path);
void temp_file_forget(int slot);   /* accepts -1 */

/* While a journal is on disk, its two files are not noted, and xir_abandon_saves returns true. Calls of both are
 * counted. */
void temp_files_journal_begins(void);
void temp_files_journal_ends(void);

#endif
