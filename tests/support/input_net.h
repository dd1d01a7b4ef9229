/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network for tests that add ops: it has one input, x. */
#ifndef SUPPORT_INPUT_NET_H
#define SUPPORT_INPUT_NET_H

#include "support/net.h"

static xir_network *net;
static xir_value   *x;

static inline int begin_with_input(void **state) {
    (void)state;
    net = new_net();
    x = net ? xir_input(XIR_AT(net), "x", FP32("NHWC", 1, 8, 8, 4)) : NULL;
    return x ? 0 : -1;
}

static inline int end_net(void **state) {
    (void)state;
    xir_network_free(net);
    return 0;
}

#endif
