/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed texts of a format, each with the finding that it gives. */
#ifndef SUPPORT_MALFORMED_H
#define SUPPORT_MALFORMED_H

#include "support/net.h"

typedef struct malformed_text {
    const char *text;
    xir_status  status;      /* of the first error; XIR_OK: the text is read, and the finding is a warning */
    unsigned    line, column;
    const char *sentence;    /* the beginning of the message */
} malformed_text;

/* Reads each text, and compares the first error, or warning. */
void malformed_try(const malformed_text *rows, size_t n, xir_network *(*read)(const char *text, size_t size));

#endif
