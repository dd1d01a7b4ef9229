/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A signal handler may interrupt anything. So the names are in memory that is never moved or freed, and their states
 * are atomic. A slot is filled before it is marked as full. */
#include "temp_files.h"
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <xir/serialize.h>

enum { SLOTS = 8, NAME_ROOM = 4200 };
typedef enum slot_state { SLOT_FREE, SLOT_TAKEN, SLOT_FULL } slot_state;

static struct {
    _Atomic(slot_state) state;
    char                path[NAME_ROOM];
} slots[SLOTS];

int temp_file_note(const char *path) {
    const size_t size = strlen(path) + 1;
    for (int i = 0; size <= NAME_ROOM && i < SLOTS; i++) {
        slot_state expected = SLOT_FREE;
        if (!atomic_compare_exchange_strong(&slots[i].state, &expected, SLOT_TAKEN)) continue;
        memcpy(slots[i].path, path, size);
        atomic_store(&slots[i].state, SLOT_FULL);
        return i;
    }
    return -1;
}

void temp_file_forget(int slot) {
    if (slot >= 0) atomic_store(&slots[slot].state, SLOT_FREE);
}

static atomic_int journals;

void temp_files_journal_begins(void) { atomic_fetch_add(&journals, 1); }
void temp_files_journal_ends(void)   { atomic_fetch_sub(&journals, 1); }

bool xir_abandon_saves(void) {
    for (int i = 0; i < SLOTS; i++) {
        if (atomic_load(&slots[i].state) == SLOT_FULL) (void)unlink(slots[i].path);
    }
    return atomic_load(&journals) > 0;
}
