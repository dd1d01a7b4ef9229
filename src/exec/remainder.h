/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The remainder of a division of reals, as C's fmod defines it: exact, with the sign of x. */
#ifndef EXEC_REMAINDER_H
#define EXEC_REMAINDER_H

double real_mod(double x, double y);

#endif
