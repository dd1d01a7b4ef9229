/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The executor's count of what exists against liveness: two programs that know nothing of each other. */
#ifndef SUPPORT_ALIVE_H
#define SUPPORT_ALIVE_H

#include "support/net.h"

/* Runs a network as xir_network_run does. The bytes that exist after each op, and those that are held, must be those
 * that liveness computes without and with views; otherwise `fault` says where they differ. Values whose bytes liveness
 * cannot know only make the executor's numbers larger, and so does not Cast: to its own type it is a view for the
 * executor alone. */
enum { ALIVE_FAULT = 200 };
xir_status run_alive(const xir_network *net, const xir_array *const *inputs, size_t n, xir_array **outputs,
                     size_t n_out, char fault[ALIVE_FAULT]);

/* Runs a network of the group's context on random inputs, with 64 for open dims, but 1 for the first of a type; a fault
 * or a run that fails is a failed test. Returns the peak. */
uint64_t check_alive(const xir_network *net, uint64_t seed, const char *file, int line);
#define CHECK_ALIVE(net, seed) check_alive(net, seed, __FILE__, __LINE__)

#endif
