/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The MD5 of bytes that are written, by a thread of its own while write(2) runs: MD5 is serial, and takes about as long
 * as the disk. At most MEANWHILE_MOST bytes wait for it. If the system makes no thread, or there are few bytes, they
 * are hashed by the thread that adds them. */
#ifndef SERIALIZE_RAW_MEANWHILE_H
#define SERIALIZE_RAW_MEANWHILE_H

#include <pthread.h>
#include "memory.h"
#include "raw/md5.h"

enum { MEANWHILE_MOST = 4 << 20, MEANWHILE_AT_ONCE = 1 << 20 };

typedef struct md5_meanwhile {
    md5                   sum;
    const xir_allocator  *alloc;
    struct meanwhile_thread *thread;   /* NULL: bytes are hashed as they are added */
    bool                  asks;     /* for a thread, with the first bytes that last */
    bool                  stopped;  /* meanwhile_add has returned false             */
} md5_meanwhile;

/* Begins the MD5 of about `bytes` bytes. Errors are those of md5_begin. After success call meanwhile_end. */
xir_status meanwhile_begin(md5_meanwhile *b, const xir_allocator *alloc, uint64_t bytes, xir_diags *why);
/* Adds bytes that may change afterwards; only before meanwhile_add. */
void       meanwhile_begin_with(md5_meanwhile *b, const void *data, size_t size);
/* Adds at most MEANWHILE_AT_ONCE bytes that stay as they are until meanwhile_end. Returns false if the task is
 * cancelled, or MD5 fails, which meanwhile_end reports. */
bool       meanwhile_add(md5_meanwhile *b, const void *data, size_t size);
/* Ends it as md5_end does. If `hex` is NULL, bytes that wait are not hashed any more. */
xir_status meanwhile_end(md5_meanwhile *b, char hex[MD5_DIGITS + 1], xir_diags *why);

/* Makes a thread that no signal but those of its own faults interrupts. Returns false if the system refuses it. */
bool meanwhile_make_thread(pthread_t *thread, void *(*work)(void *user), void *user);

/* Tests make threads for fewer bytes, and refuse threads. */
extern uint64_t meanwhile_least;
extern bool     meanwhile_refused;

#endif
