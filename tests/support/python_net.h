/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Shared by the tests of modules of PyTorch: networks of PNNX in few lines, and the module of each, whose form is
 * checked. */
#ifndef SUPPORT_PYTHON_NET_H
#define SUPPORT_PYTHON_NET_H

#include "support/kept.h"
#include "support/load_net.h"
#include "support/python_text.h"

/* A network of these lines between inputs a, b, c and d and the output y. */
#define NET(lines) "7767517\n1 1\npnnx.Input i 0 1 a #a=(2,?)f32\npnnx.Input j 0 1 b #b=(3)i64\npnnx.Input k 0 1 c\n" \
                   "pnnx.Input l 0 1 d\n" lines "\npnnx.Output o 1 0 y\n"

static inline xir_network *python_read(const char *text) {
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("x.pnnx.param"),
                                        &XIR_INIT(xir_load_options, .format = "pnnx", .no_params = true), why);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    xir_diags_clear(why);   /* the counts are wrong */
    return net;
}

static inline xir_status python_write(xir_network *net, buffer *out) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "py", .unchecked = true);
    buffer_init(out, &memory_default);
    return xir_network_write(net, keep, out, &options, why);
}

/* The module of a network, with a zero at its end. Frees the network. */
static inline buffer python_of(xir_network *net) {
    buffer out;
    if (python_write(net, &out)) {
        xir_diags_print(why, stderr);
        fail();
    }
    const char *bad = python_bad_line(out.data, out.size);
    if (bad) fail_msg("a line of another form: %.*s", (int)strcspn(bad, "\n"), bad);
    buffer_char(&out, '\0');
    xir_network_free(net);
    return out;
}

/* The statements of a method, without blanks before them and without the line that opens an archive: those after the
 * line that contains `before`, up to the line that contains `after`. */
static inline void python_check_lines(const char *text, const char *before, const char *after, const char *expected,
                                      const char *what) {
    buffer found;
    const char *p = strstr(text, before), *end = p ? strstr(p, after) : NULL;
    buffer_init(&found, &memory_default);
    assert_non_null(end);
    for (p = strchr(p, '\n') + 1; p < end; p = strchr(p, '\n') + 1) {
        const char *line = p + strspn(p, " ");
        if (line >= end || strncmp(line, "with zipfile", 12) == 0) continue;
        if (found.size) buffer_char(&found, '\n');
        buffer_put(&found, line, strcspn(line, "\n"));
    }
    buffer_char(&found, '\0');
    if (strcmp(found.data, expected) != 0) fail_msg("%s: expected\n%s\nfound\n%s", what, expected, found.data);
    buffer_free(&found);
}

static inline void python_check_init(const char *text, const char *expected, const char *what) {
    python_check_lines(text, "super().__init__()", "self.eval()", expected, what);
}

static inline void python_check_forward(const char *text, const char *expected, const char *what) {
    python_check_lines(text, "    def forward(self", "        return ", expected, what);
}

#endif
