/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Counts as a short text: each is 7 bits a byte, the lowest first, with the high bit set in all but the last byte; a
 * run of zeros is a zero byte and its length likewise. Zeros at the end are left out. Three bytes are four letters of
 * Base64, without padding. */
#ifndef QUANT_PACKED_H
#define QUANT_PACKED_H

#include <xir/base.h>

enum { PACKED_ROOM = 4096 * 9 * 4 / 3 + 8 };   /* letters for BINS counts of up to 62 bits */

/* Writes the text of n counts, at most BINS, and returns its length. */
size_t packed_write(const uint64_t *counts, size_t n, char *out);
/* Reads n counts, and their sum. NULL counts: the text is only checked. False for anything that packed_write does not
 * write, and for a sum of 2^63 and more; extra zeros are taken. */
bool   packed_read(xir_str text, uint64_t *counts, size_t n, uint64_t *total);

#endif
