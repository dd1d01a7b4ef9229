/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdio.h>
#include <string.h>
#include "support/listed.h"
#include "support/net.h"

listed list[MOST_LISTED];
size_t n_listed;

void read_list(const char *file) {
    char path[1024], line[512], kind[8];
    snprintf(path, sizeof path, XIR_TEST_DATA "/%s", file);
    FILE *f = fopen(path, "r");
    if (!f) fail_msg("%s cannot be opened", file);
    for (int number = 1; fgets(line, sizeof line, f); number++) {
        int reason = 0;
        listed *entry = &list[n_listed];
        if (*line == '#' || *line == '\n') continue;
        if (n_listed == MOST_LISTED || sscanf(line, "%7s %95[^: \n]:%n", kind, entry->name, &reason) != 2 || !reason ||
            strlen(line + reason) < 10 || (strcmp(kind, "op") != 0 && strcmp(kind, "test") != 0)) {
            fail_msg("%s:%d: expected \"op TYPE: reason\" or \"test NAME: reason\"", file, number);
        }
        entry->is_op = strcmp(kind, "op") == 0;
        n_listed++;
    }
    fclose(f);
}

listed *find_listed(bool is_op, const char *name) {
    for (size_t i = 0; i < n_listed; i++) {
        size_t size = strlen(list[i].name);
        bool open = list[i].name[size - 1] == '*';
        if (list[i].is_op != is_op) continue;
        if (open ? strncmp(list[i].name, name, size - 1) == 0 : strcmp(list[i].name, name) == 0) return &list[i];
    }
    return NULL;
}
