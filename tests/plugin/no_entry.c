/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A shared object that is not a plug-in. */
#include <xir/base.h>

XIR_API int another_entry(void);
int another_entry(void) { return 1; }
