/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Incremental MD5. It protects against accidents, not against attackers. */
#ifndef SERIALIZE_MD5_H
#define SERIALIZE_MD5_H

#include <xir/diag.h>

enum { MD5_DIGITS = 32, MD5_BLOCK = 64 };

/* The MD5 of no bytes: params_md5 of a network without parameters. */
#define MD5_OF_NOTHING "d41d8cd98f00b204e9800998ecf8427e"

typedef struct md5 {
    uint32_t state[4];
    uint64_t size;               /* bytes so far                                     */
    uint8_t  rest[MD5_BLOCK];    /* size % MD5_BLOCK of them, which fill no block yet */
    bool     cancelled;          /* the task was, so bytes are missing               */
} md5;

void       md5_begin(md5 *m);
/* Reports the bytes to the task of this thread (task_did). */
void       md5_add(md5 *m, const void *data, size_t size);
/* Writes 32 lower-case digits and a zero byte. XIR_E_CANCELLED with a finding if the task was cancelled meanwhile. */
xir_status md5_end(md5 *m, char hex[MD5_DIGITS + 1], xir_diags *why);

#endif
