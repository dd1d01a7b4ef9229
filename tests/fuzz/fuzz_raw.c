/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Raw files against a reference of a few lines that does no sorting: both must agree, what is loaded must be what the
 * file has at its place, and what is saved again must be the same file.
 *
 * The first byte of the input is the number of Params of the network, two bytes each describe them, and the rest is
 * the file. */
#include <stdint.h>
#include <xir/xir.h>
#include <xir/icraft.h>
#include "fuzz.h"
#include "support/raw_net.h"

enum { MOST = 15 };

typedef struct wanted {
    raw_param  params[MOST];
    bool       may_lack[MOST];
    xir_value *values[MOST];
    int64_t    at[MOST];     /* where the reference found them, -1: nowhere */
    size_t     n;
} wanted;

/* Returns true if the file is valid; compares every byte for every entry. */
static bool is_valid(wanted *w, const uint8_t *file, size_t size) {
    uint8_t *covered = calloc(size + 1, 1);
    bool right = false;
    for (size_t i = 0; i < w->n; i++) w->at[i] = -1;
    if (size == 0) goto absent;
    if (size < RAW_HEADER || memcmp(file, "\xA5ICRAFT_RAW\xA5", 12) != 0) goto out;
    uint64_t n = raw_get_le(file + 12, 4);
    if (RAW_HEADER + RAW_ENTRY * n > size) goto out;
    size_t begin = (size_t)(RAW_HEADER + RAW_ENTRY * n);
    for (uint64_t e = 0; e < n; e++) {
        int32_t id = (int32_t)raw_get_le(file + RAW_HEADER + RAW_ENTRY * e, 4);
        uint64_t at = raw_get_le(file + RAW_HEADER + RAW_ENTRY * e + 4, 8);
        size_t i = 0;
        while (i < w->n && w->params[i].id != id) i++;
        if (i == w->n || w->at[i] >= 0) goto out;
        if (at < begin || at > size || (uint64_t)w->params[i].size > size - at) goto out;
        w->at[i] = (int64_t)at;
        for (int64_t k = 0; k < w->params[i].size; k++)
            if (covered[at + (uint64_t)k]++) goto out;
    }
    for (size_t at = begin; at < size; at++)
        if (!covered[at]) goto out;
    for (size_t z = 0; z < w->n; z++)   /* Params without bytes are not inside others */
        for (size_t i = 0; w->params[z].size == 0 && w->at[z] >= 0 && i < w->n; i++)
            if (w->at[i] >= 0 && w->at[z] > w->at[i] && w->at[z] < w->at[i] + w->params[i].size) goto out;
absent:
    right = true;
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i] < 0 && !w->may_lack[i]) right = false;
out:
    free(covered);
    return right;
}

#define DEMAND(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            abort(); \
        } \
    } while (0)

static void check_loaded(const wanted *w, xir_network *net, const uint8_t *file, size_t size) {
    for (size_t i = 0; i < w->n; i++) {
        uint64_t got;
        const void *bytes = xir_params_data(w->values[i], &got);
        if (w->at[i] < 0 || w->params[i].size == 0) {
            DEMAND(got == 0 && !bytes);
            continue;
        }
        DEMAND(got == (uint64_t)w->params[i].size);
        DEMAND(memcmp(bytes, file + w->at[i], (size_t)got) == 0);
    }
    raw_memory m = { 0 };
    xir_status written = xir_raw_write(net, raw_memory_write, &m, NULL);
    if (size > 0) {
        DEMAND(written == XIR_OK);
        DEMAND(m.size == size && memcmp(m.data, file, size) == 0);
    }
    free(m.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx && !(ctx = xir_context_new(NULL))) abort();
    wanted w = { .n = 0 };
    if (size == 0) return 0;
    size_t n = *data++ % (MOST + 1);
    size--;
    for (; n > 0 && size >= 2; n--, data += 2, size -= 2) {
        int64_t id = data[0] == 0xFF ? 5000000000 : 10 + data[0];
        bool twice = false;
        for (size_t i = 0; i < w.n; i++) twice |= w.params[i].id == id;
        if (twice) continue;
        w.params[w.n] = (raw_param){ id, data[1] & 0x3F };
        w.may_lack[w.n++] = data[1] >> 7;
    }
    uint8_t *file = malloc(size ? size : 1);   /* with nothing after it */
    if (!file) abort();
    memcpy(file, data, size);
    bool right = is_valid(&w, file, size);
    for (unsigned lazy = 0; lazy <= XIR_LOAD_LAZY; lazy += XIR_LOAD_LAZY) {
        xir_network *net = raw_network(ctx, w.params, w.n, w.n / 2, w.values);
        xir_diags *why = xir_diags_new(ctx);
        for (size_t i = 0; i < w.n; i++) xir_params_set_allow_no_data(w.values[i], w.may_lack[i]);
        xir_status status = xir_raw_read(net, file, size, lazy, why);
        DEMAND((status == XIR_OK) == right);
        if (right) check_loaded(&w, net, file, size);
        else DEMAND(xir_diags_count(why) == 1 && (xir_diags_at(why, 0)->byte <= size));
        xir_network_free(net);
        xir_diags_free(why);
    }
    free(file);
    return 0;
}
