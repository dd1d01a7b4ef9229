/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A journal of a save: any bytes are refused, or they name two temporary files, in the folder of the target alone. */
#include <stdlib.h>
#include <string.h>
#include "fuzz.h"
#include "journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char target[] = "folder/net.json";
    char temp[FILE_TEMP_ROOM];
    journal_found *f = malloc(sizeof *f);
    must(f != NULL);
    if (size > sizeof f->text) size = sizeof f->text;
    f->size = size;
    if (size) memcpy(f->text, data, size);
    if (journal_parse(f)) {
        for (size_t i = 0; i < JOURNAL_ITEMS; i++) {
            const journal_entry *e = &f->entries[i];
            journal_item item;
            must(e->temp.size && !memchr(e->temp.data, '/', e->temp.size) && !memchr(e->temp.data, 0, e->temp.size));
            must(e->name.size && !memchr(e->name.data, '/', e->name.size) && !memchr(e->name.data, 0, e->name.size));
            if (!journal_match(e, target, NULL, temp, &item)) continue;
            must(strncmp(item.temp, "folder/.", 8) == 0 && !strchr(item.temp + 8, '/'));
            must(strcmp(item.target, target) == 0 && !e->folder);
        }
    }
    free(f);
    return 0;
}
