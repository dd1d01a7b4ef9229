/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Basic blocks call this function (XIR_COUNT_WORK). It is linked to all programs but the test linear, which counts. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {}
