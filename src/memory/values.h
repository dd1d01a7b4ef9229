/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The buffers of a network's values. */
#ifndef MEMORY_VALUES_H
#define MEMORY_VALUES_H

#include <xir/memory.h>
#include "hash.h"

struct xir_memory_buffers {
    const xir_network   *net;
    const xir_allocator *alloc;
    const xir_op       **ops;         /* by moment                                              */
    size_t               n_ops;
    xir_buffer          *data;
    const xir_value    **first;       /* by buffer: its first value; NULL: of a call's body     */
    size_t               n, room, first_room;
    const xir_value    **values;      /* of all buffers, in the order in which they are made    */
    uint32_t            *buffer_of;   /* by value                                               */
    uint64_t            *offset_of;   /* by value: in its buffer                                */
    size_t               n_values, value_room, buffer_room, offset_room;
    pointer_table        numbers;     /* from a value to its place in the list                  */
    pointer_table        bases;       /* from the oldest value in the same bytes to the buffer  */
};

#endif
