/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The maps that are on the chip: those that ops read and write most bytes of, as many as have room together. */
#ifndef PASSES_ONCHIP_H
#define PASSES_ONCHIP_H

#include "parts.h"

/* Chooses among buffers for the bytes of the chip from an address on, and sets `onchip` and `address` of the parts of
 * their values. Where at most 24 of them meet, directly or through others, no better choice has room by its sums;
 * otherwise those come first that are read and written most often. `said` gets findings. */
xir_status onchip_choose(const parts *p, const plan_options *how, uint64_t from, const xir_memory_buffers *maps,
                         const xir_liveness *lives, xir_diags *said);

#endif
