/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Incremental MD5, by libcrypto. It protects against accidents, not against attackers. */
#ifndef SERIALIZE_MD5_H
#define SERIALIZE_MD5_H

#include <xir/diag.h>

enum { MD5_DIGITS = 32 };

/* The MD5 of no bytes: params_md5 of a network without parameters. */
#define MD5_OF_NOTHING "d41d8cd98f00b204e9800998ecf8427e"

typedef struct md5 {
    void *context;
    bool  failed;
} md5;

/* XIR_E_UNSUPPORTED with a finding if libcrypto refuses MD5 (FIPS); XIR_E_MEMORY. After success call md5_end. */
xir_status md5_begin(md5 *m, xir_diags *why);
void       md5_add(md5 *m, const void *data, size_t size);
/* Writes 32 lower-case digits and a zero byte unless `hex` is NULL. XIR_E_MEMORY if libcrypto failed on the way. */
xir_status md5_end(md5 *m, char hex[MD5_DIGITS + 1], xir_diags *why);

#endif
