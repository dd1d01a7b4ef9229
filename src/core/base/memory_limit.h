/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A limit of the memory that a task holds: what its thread obtains through memory.h, from whatever allocator, counts
 * until the thread frees it. What exceeds the limit is refused as if memory had run out; diag_memory says why. So no
 * reader has to count what it makes, and every reader is limited, that of a plug-in too. */
#ifndef CORE_MEMORY_LIMIT_H
#define CORE_MEMORY_LIMIT_H

#include <stdint.h>
#include <xir/base.h>

typedef struct memory_limit {
    struct memory_limit *outer;
    uint64_t once, times;    /* so many bytes, and so many for each byte of the file           */
    int64_t  most, held;
    bool     exceeded, said;
} memory_limit;

/* Begins a limit on this thread, within the one before. The file, of `size` bytes, is in memory or mapped. */
void memory_limit_begin(memory_limit *l, uint64_t once, uint64_t times, uint64_t size);
void memory_limit_end(memory_limit *l);
/* Sets the limit of this thread, NULL for none, and returns the one before. */
memory_limit *memory_limit_exchange(memory_limit *l);
/* The task opens another file, of `size` bytes: the limit grows by twice as many. */
void memory_limit_add(uint64_t size);

/* Counts a block of memory that gets another size. Returns false if the limit refuses that. */
bool memory_limit_take(size_t old_size, size_t size);
/* Returns the bytes that may still be taken, or SIZE_MAX if there is no limit. */
size_t memory_limit_left(void);
/* Returns true if the limit has refused a block. */
bool memory_limit_exceeded(void);
/* Writes a sentence about the refusal. Returns false if nothing was refused, or if the sentence was written before. */
enum { MEMORY_LIMIT_ROOM = 160 };
bool memory_limit_say(char out[MEMORY_LIMIT_ROOM]);

#endif
