/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The values of the network that a proof has run, for the next one. */
#ifndef MANAGER_REUSE_H
#define MANAGER_REUSE_H

#include <xir/exec.h>

typedef struct reuse reuse;

/* Of one sample of inputs. The arrays that are kept take `room` bytes at most. NULL without memory. */
reuse *reuse_new(xir_context *ctx, uint64_t room);
void   reuse_free(reuse *k);   /* accepts NULL */

/* The bytes that the arrays take which are kept at present; 0 for NULL. */
uint64_t reuse_bytes(const reuse *k);

/* Begins a run of a network on these inputs. It and what follows cannot fail: if memory runs out, nothing is known. */
void reuse_begin(reuse *k, const xir_network *net, const xir_array *const *inputs, size_t n);
/* `known` and `watch` of xir_run_options. */
const xir_array *reuse_find(reuse *k, const xir_value *value);
void             reuse_note(reuse *k, const xir_value *value, const xir_array *array);
/* Ends the run. If `keep`, its network takes the place of the last one, and must exist until the next one does. */
void reuse_end(reuse *k, bool keep);

#endif
