/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <stdlib.h>
#include <string.h>
#include "support/kept.h"
#include "support/stored.h"

xir_network *stored_read(const char *format, const void *bytes, size_t size) {
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    if (size) memcpy(exact, bytes, size);
    xir_network *net = xir_network_read(ctx, exact, size, XIR_STR("x"), &XIR_INIT(xir_load_options, .format = format),
                                        why);
    assert_true((xir_diags_count_of(why, XIR_ERROR) == 0) == (net != NULL));
    free(exact);
    return net;
}

xir_network *stored_must_read(const char *format, const void *bytes, size_t size) {
    xir_network *net = stored_read(format, bytes, size);
    if (!net) xir_diags_print(why, stderr);
    assert_non_null(net);
    const char *broken = broken_invariant(net, ASK_ALL);
    if (broken) fail_msg("a network that was read: %s", broken);
    return net;
}

buffer stored_as(xir_network *net, const char *format) {
    buffer out;
    buffer_init(&out, &memory_default);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = format, .unchecked = true);
    const xir_status status = xir_network_write(net, keep, &out, &options, why);
    if (status) xir_diags_print(why, stderr);
    assert_int_equal(status, XIR_OK);
    return out;
}

void stored_must_be(xir_network *net, const char *format, const void *bytes, size_t size, const char *what) {
    buffer out = stored_as(net, format);
    size_t i = 0;
    while (i < size && i < out.size && out.data[i] == ((const char *)bytes)[i]) i++;
    if (out.size != size || i < size)
        fail_msg("%s: %zu bytes came back as %zu, the first that differs is %zu", what, size, out.size, i);
    buffer_free(&out);
}

void stored_comes_back(const char *format, const void *bytes, size_t size) {
    xir_network *net = stored_read(format, bytes, size);
    xir_diags_clear(why);
    if (!net) return;
    stored_must_be(net, format, bytes, size, "a damaged file");
    xir_network_free(net);
}

void stored_changed_anywhere(const char *format, const void *bytes, size_t size) {
    static const uint8_t others[] = { 0, 1, 2, 3, 7, 0x7f, 0x80, 0xff };
    uint8_t *copy = malloc(size);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    for (size_t i = 0; i < size; i++) {
        const uint8_t old = copy[i];
        for (size_t k = 0; k < COUNT(others) + 8; k++) {
            copy[i] = k < COUNT(others) ? others[k] : (uint8_t)(old ^ 1 << (k - COUNT(others)));
            stored_comes_back(format, copy, size);
        }
        copy[i] = old;
    }
    free(copy);
}
