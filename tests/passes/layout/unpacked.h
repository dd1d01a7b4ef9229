/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Models of XIR_CORPUS/onnx, which are packed by xz. */
#ifndef TEST_LAYOUT_UNPACKED_H
#define TEST_LAYOUT_UNPACKED_H

#include <stdio.h>
#include <xir/serialize.h>
#include "support/net.h"

static inline size_t read_pipe(void *user, void *out, size_t room) { return fread(out, 1, room, user); }

/* NULL if the file does not exist, or xz is missing. */
static inline xir_network *unpacked(const char *corpus, const char *name) {
    char command[1200];
    snprintf(command, sizeof command, "xz -dc '%s/onnx/%s.onnx.xz' 2>/dev/null", corpus, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    xir_network *net = xir_network_read_stream(ctx, read_pipe, pipe, xir_str_of(name), NULL, why);
    if (pclose(pipe) != 0) {
        xir_network_free(net);
        return NULL;
    }
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    return net;
}

#endif
