/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the families of `canon`. Row 0 of each pattern is the input of what remains. */
#ifndef PASSES_CANON_H
#define PASSES_CANON_H

#include <xir/ops.h>
#include "fuse/fuse.h"

extern const pass_rule canon_clips[], canon_images[], canon_pairs[], canon_parts[], canon_products[],
                       canon_slices[], canon_windows[];

/* Checks of matches. The first: every op runs on the host, has no undeclared attributes, does not work on feature maps
 * in normalised numbers, and does not read its own result, which would replace itself forever. The second: also, the
 * result has the type of row 0, which is neither quantised nor tiled. The third: also, elements are floats. */
bool canon_check_ops(const xir_match *m);
bool canon_check(const xir_match *m, void *user);
bool canon_check_floats(const xir_match *m, void *user);

/* Makes a constant of one number of the elements of row 0, which broadcasts to it; NULL without memory. */
xir_value *canon_number(const xir_match *m, double number);

/* Lets a value of the match stand for the root's: names that users of the network know stay (upkeep.h), and ops of the
 * match that nothing uses any more are erased. */
xir_verdict canon_keep(const xir_match *m, xir_value *kept);

#endif
