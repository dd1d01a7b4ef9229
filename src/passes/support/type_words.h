/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A type in a sentence, as people read it. */
#ifndef XIR_SUPPORT_TYPE_WORDS_H
#define XIR_SUPPORT_TYPE_WORDS_H

#include <xir/type.h>

enum { TYPE_WORDS = 160 };

/* Writes "@fp(32) NHWC [1,8,8,3]" (a tensor), "@sint(8)" or "none", cut to TYPE_WORDS bytes. Returns `out`. */
const char *type_words(xir_context *ctx, const xir_type *type, char out[TYPE_WORDS]);

#endif
