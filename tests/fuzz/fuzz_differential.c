/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All formats hold the same: any JSON that is read is written in every format and read again as the same JSON with
 * the same parameters. Params get bytes if they need few. A format may refuse what is too large for it, or a name
 * that it reserves, and nothing else. */
#include <stdlib.h>
#include <string.h>
#include <xir/xir.h>
#include <xir/icraft.h>
#include "fuzz.h"
#include "graph.h"
#include "support/formats.h"

enum { MOST_BYTES = 1 << 20 };

#define DEMAND(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #what); \
            abort(); \
        } \
    } while (0)

typedef struct bytes { uint8_t *data; size_t size, room; } bytes;

static bool append(void *user, const void *data, size_t size) {
    bytes *b = user;
    if (b->size + size > b->room) {
        b->room = (b->size + size) * 2;
        b->data = realloc(b->data, b->room);
        DEMAND(b->data);
    }
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

/* The number of bytes that all Params need; MOST_BYTES or more if it is unknown. */
static bool add_need(void *user, xir_value *v) {
    uint64_t *sum = user, size;
    bool known = xir_type_bytes(xir_value_type(v), &size) == XIR_OK && size < MOST_BYTES;
    *sum += known ? size : MOST_BYTES;
    return *sum < MOST_BYTES;
}

static bool fill(void *user, xir_value *v) {
    static uint8_t some[MOST_BYTES];
    uint64_t size;
    (void)user;
    if (xir_params_allow_no_data(v) && xir_value_id(v) % 2) return true;
    DEMAND(xir_type_bytes(xir_value_type(v), &size) == XIR_OK);
    memset(some, (int)(xir_value_id(v) * 7 + 1), size);
    DEMAND(xir_params_set_copy(v, some, size) == XIR_OK);
    return true;
}

static bool take_raw(xir_network *net, bytes *raw) {
    xir_status status = xir_raw_write(net, append, raw, NULL);
    DEMAND(status == XIR_OK || status == XIR_E_LIMIT || status == XIR_E_BOUNDS);   /* ids of more than 32 bits */
    return status == XIR_OK;
}

/* An undeclared key of the network that the format uses for something else. */
static bool takes_a_name(const xir_network *net) {
    const xir_map *extra = xir_network_extra(net);
    return extra && (xir_map_find(extra, XIR_STR("params")) || xir_map_find(extra, XIR_STR("params_table")));
}

static void check_format(xir_context *ctx, xir_network *net, const char *word, bool lazy, const xir_text_buffer *json,
                         const bytes *raw, xir_diags *why) {
    bytes file = { 0 }, again = { 0 };
    xir_status status = xir_network_write(net, append, &file, &XIR_INIT(xir_save_options, .format = word,
                                                                        .unchecked = true, .align = 64), why);
    DEMAND(status == XIR_OK || status == XIR_E_LIMIT || (status == XIR_E_UNSUPPORTED && takes_a_name(net)));
    DEMAND((status == XIR_OK) == (xir_diags_count(why) == 0));
    if (status == XIR_OK) {
        const xir_load_options options = XIR_INIT(xir_load_options, .format = word, .lazy = lazy,
                                                  .verify = XIR_VERIFY_FULL);
        xir_network *back = xir_network_read(ctx, file.data, file.size, XIR_STR("back"), &options, why);
        if (!back) xir_diags_print(why, stderr);
        DEMAND(back);
        if (raw->size) {   /* the file contains the parameters */
            bytes other = { 0 };
            DEMAND(take_raw(back, &other));
            DEMAND(other.size == raw->size && memcmp(other.data, raw->data, raw->size) == 0);
            free(other.data);
        }
        xir_text_buffer text;
        DEMAND(xir_json_print(back, 0, &text) == XIR_OK);
        DEMAND(text.size == json->size && memcmp(text.data, json->data, text.size) == 0);
        xir_text_free(&text);
        DEMAND(xir_network_write(back, append, &again, &XIR_INIT(xir_save_options, .format = word, .unchecked = true,
                                                                 .align = 64), why) == XIR_OK);
        DEMAND(again.size == file.size && memcmp(again.data, file.data, file.size) == 0);
        xir_network_free(back);
    }
    xir_diags_clear(why);
    free(file.data);
    free(again.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    xir_diags *why = xir_diags_new(ctx);
    DEMAND(why);
    xir_network *net = xir_json_read(ctx, (xir_str){ (const char *)data, size }, XIR_STR("fuzz"), NULL);
    uint64_t need = 0;
    bytes raw = { 0 };
    xir_text_buffer json;
    if (net) {
        bool filled = net_walk_params(net, add_need, &need) && need && net_walk_params(net, fill, NULL);
        bool has_raw = filled && take_raw(net, &raw);
        if (!has_raw) raw.size = 0;
        DEMAND(xir_json_print(net, 0, &json) == XIR_OK);
        xir_format_info f;
        for (size_t i = 0; written_format_at(i, &f); i++) {
            if (!f.reads || !f.writes || (f.pair && filled)) continue;
            check_format(ctx, net, f.name, size % 2, &json, &raw, why);
        }
        xir_text_free(&json);
    }
    free(raw.data);
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
