/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Comparing the MD5 of mapped parameters with the structure's by a thread of its own, while the network is used. The
 * network keeps the comparison (net_check): a save awaits it before a file gets its name. */
#ifndef SERIALIZE_RAW_CHECK_MEANWHILE_H
#define SERIALIZE_RAW_CHECK_MEANWHILE_H

#include "raw/list.h"

/* Returns true if the bytes can be compared so: they are those of a mapped file that is watched, from whose descriptor
 * the thread reads, so that a file that shrinks is an error and no signal. */
bool check_meanwhile_can(const blob *whole);
/* Compares all bytes of a raw file with the network's params_md5. If the system makes no thread, they are compared when
 * that is awaited. */
xir_status check_meanwhile_file(xir_network *net, blob *whole, xir_diags *why);
/* Compares the raw file that the attached parts of `whole` make, with the same orders. `keeper` is their origin. */
xir_status check_meanwhile_parts(xir_network *net, blob *whole, blob *keeper, xir_diags *why);

#endif
