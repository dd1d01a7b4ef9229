/* A folder of files that is written as a whole: under a temporary name next to it, which takes its place at the end. It
 * replaces a folder of the same name only if that has no other files than such a writer makes. */
#ifndef CORE_FOLDER_H
#define CORE_FOLDER_H

#include "file.h"

typedef struct folder_writer {
    xir_context *ctx;
    xir_diags   *why;
    char        *target, *temp, *old;   /* the path; the new folder and the replaced one, next to it */
    size_t       room;                  /* of each of these                                          */
    bool       (*is_own)(xir_str name); /* whether a file of the old folder may be replaced          */
    bool         made, replaced, placed;
    xir_status   status;
} folder_writer;

/* Makes the temporary folder; a '/' at the end of the path does not count. XIR_E_EXISTS if the path is not a folder, or
 * one with files of others. After a failure of any of these, `status` stays set and only folder_abort may follow. */
xir_status folder_open(folder_writer *f, xir_context *ctx, const char *path, bool (*is_own)(xir_str name),
                       xir_diags *why);
/* Writes a file into it, in one piece. */
xir_status folder_write(folder_writer *f, xir_str name, const void *data, size_t size);
/* Gives the folder its name. Until it is committed, folder_abort brings the old one back. */
xir_status folder_place(folder_writer *f);
void       folder_commit(folder_writer *f);
void       folder_abort(folder_writer *f);

#endif
