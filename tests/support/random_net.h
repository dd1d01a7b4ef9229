/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks that contain everything a file may have, made from the class tables of a context: ops, objects and
 * rows of every class and kind with any value that a reader accepts, valid or not; unknown classes; undeclared
 * attributes with Params in them; sub ops; old versions and their spellings; ids, names and texts of any kind; Params
 * with bytes whose order in a raw file is neither that of its table nor that of a walk. The same seed always gives the
 * same network.
 *
 * The text is canonical: a network that is read prints the same bytes, unless it is `loose`. */
#ifndef SUPPORT_RANDOM_NET_H
#define SUPPORT_RANDOM_NET_H

#include <xir/xir.h>

enum { RANDOM_MOST_CLASSES = 1024, RANDOM_MINORS = 34 };

/* Counts of what has occurred: random tests check that all of it did. */
typedef struct random_counts {
    size_t networks, loose, payloads, empty, wide_ids, shuffled;
    size_t minors[RANDOM_MINORS];                  /* versions 3.0 to 3.33; others and none: */
    size_t odd_versions, no_version;
    size_t ops[RANDOM_MOST_CLASSES];               /* by class, as the context lists them      */
    size_t objects[RANDOM_MOST_CLASSES];
    size_t unknown_ops, unknown_objects, sub_ops, deep_ops;
    size_t kinds[XIR_KIND_COUNT], nulls[XIR_KIND_COUNT], absent[XIR_KIND_COUNT];
    size_t absent_object_rows, absent_network_keys, singles, old_names;
    size_t values, params, orphans, repeated, null_inputs, no_type, may_lack, without_entry, no_size;
    size_t any[XIR_ANY_PARAMS + 1];
    size_t network_extra, op_extra, value_extra, object_extra, tags;
    size_t doubles, specials, zero_bytes, long_texts, huge_runs, deep, own_keys;
} random_counts;

typedef struct random_net random_net;
random_net *random_net_make(xir_context *ctx, uint64_t seed, random_counts *counts);
void        random_net_free(random_net *r);

bool   random_net_is_loose(const random_net *r);
bool   random_net_has_payloads(const random_net *r);
/* Something is too long for a file that has it item by item, nested too deeply for some formats, or has a name that
 * a format needs: such formats may refuse it. */
bool   random_net_may_be_refused(const random_net *r);
/* Something claims to be Params, and only code that knows the op can see that it is not. */
bool   random_net_is_ambiguous(const random_net *r);
size_t random_net_op_count(const random_net *r);

/* Its JSON without the ops whose `dropped` is set (NULL: all ops), with these two fields if it is a network with
 * payloads. Terminated; free it. */
char *random_net_text(const random_net *r, const bool *dropped, uint64_t params_bytes, const char *params_md5,
                      size_t *size);

/* Returns true if ids are too large for a raw file; a network with payloads then gets the bytes of its Params from this
 * function. */
bool random_net_has_wide_ids(const random_net *r);
void random_net_fill(const random_net *r, xir_network *net);

/* A raw file for a network that was read from the text: random bytes for all Params, with different orders of the
 * payloads and of the table. Free it. */
uint8_t *random_net_raw(const random_net *r, xir_network *net, size_t *size);

#endif
