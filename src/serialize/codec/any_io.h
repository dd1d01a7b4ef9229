/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Classless values as a format: a source that reads one. The attributes of an op of an unknown class are kept as such a
 * value, and are read from it once the class is registered (resolve.c). */
#ifndef SERIALIZE_ANY_IO_H
#define SERIALIZE_ANY_IO_H

#include "codec/codec.h"

typedef struct any_level { const xir_any *in; size_t next; } any_level;
typedef struct any_levels { any_level of[CODEC_DEEPEST + 1]; } any_levels;

extern const source_ops any_source;

/* Points a source at a value. `levels` is the source's memory. */
void any_source_init(decoder *d, source *s, const xir_any *any, any_levels *levels);

#endif
