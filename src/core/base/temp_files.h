/* Names of the temporary files that saves of this process write, for xir_abandon_saves. */
#ifndef CORE_TEMP_FILES_H
#define CORE_TEMP_FILES_H

#include <stdbool.h>

/* Notes a file until it is forgotten by the slot that is returned; -1: it could not be noted, and is not removed
 * when the program is ended by a signal. */
int  temp_file_note(const char *path);
void temp_file_forget(int slot);   /* accepts -1 */

#endif
