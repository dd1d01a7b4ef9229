/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Random networks for tests in C++. */
#include "support/json_net.h"

char *random_json(uint64_t most, size_t *size);

char *random_json(uint64_t most, size_t *size) {
    paper p = random_network(most);
    *size = p.size;
    return p.data;
}
