/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* DeepX IR: a check of its texts, for programs that make or examine them. docs/deepx.md describes the files. */
#ifndef XIR_DEEPX_H
#define XIR_DEEPX_H

#include <xir/diag.h>
#include <xir/network.h>

XIR_BEGIN

/* Checks a network of DeepX's calls as the executor would take them, and adds all findings, each with the call's path
 * ("/ops/3", "/ops/3/input/1"; "/defs/2" for a definition). Each call needs a definition of its name and author whose
 * parameters have the same number, and categories and precisions that include the call's. The definitions are those of
 * the network's tag "deepx.defs"; if that has none but blocks, the 64 of the executor. Then tensors: used before a line
 * makes them or after one deletes them, made twice, never used; and numbers that do not fit into their precision.
 * Definitions are checked against each other. Returns the status of the first error; XIR_OK for other networks;
 * XIR_E_MEMORY. The network is only read. */
XIR_API xir_status xir_deepx_check(const xir_network *net, xir_diags *why);

/* From now on, in texts of DeepX that the context reads, every line is a call, whatever it looks like; only blocks are
 * definitions. False, as at first: what fits a definition is one. Findings are placed in a text as it was read, so they
 * are to be placed before this is changed. Not while another thread uses the context. */
XIR_API void xir_deepx_as_calls(xir_context *ctx, bool as_calls);

/* Puts the functions with a body that the network's tag "deepx.defs" has in the place of their calls, those in their
 * bodies too. A call stays that does not fit the head of its block, or whose block calls itself, writes its parameters
 * or does not write its return slots; all stay if more calls would come of them than the context's max_ops, or 2^22.
 * xir_deepx_check says why. *replaced: a call was. XIR_OK, XIR_E_MEMORY, or
 * XIR_E_MISSING without a network. */
XIR_API xir_status xir_deepx_inline(xir_network *net, bool *replaced);

XIR_END

#endif
