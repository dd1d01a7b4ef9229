/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed raw files: each is refused with its status, its byte and its message, however it is loaded, and the network
 * keeps the bytes that it had. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <xir/icraft.h>
#include "graph.h"
#include "support/raw_net.h"
#include "support/scratch.h"
#include "support/skips.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])
#define U64(v) UINT64_C(v)

/* ---- networks ----------------------------------------------------------------------------------------------- */

enum { PLAIN, WIDE_ID, UNKNOWN_DIM, TOO_MANY, HUGE_PAIR, NOTHING, ALLOWED, NETS };

static const raw_param plain[] = { { 3, 4 }, { 7, 0 }, { 5, 6 } };
static const raw_param wide[] = { { U64(5000000000), 4 } };
static const raw_param one[] = { { 3, 4 } };
static const raw_param huge_pair[] = { { 3, INT64_MAX - 7 }, { 5, INT64_MAX - 7 } };

static xir_network *network(xir_context *ctx, int which, xir_value **values, size_t *n) {
    switch (which) {
    case WIDE_ID:   *n = 1; return raw_network(ctx, wide, 1, 1, values);
    case NOTHING:   *n = 0; return raw_network(ctx, NULL, 0, 0, values);
    case HUGE_PAIR: *n = 0; return raw_network(ctx, huge_pair, 2, 1, values);
    case UNKNOWN_DIM:
    case TOO_MANY: {
        int64_t dims[] = { INT64_MAX, which == UNKNOWN_DIM ? -1 : 3 };
        xir_network *net = raw_network(ctx, one, 1, 1, values);
        assert_int_equal(xir_value_set_type(values[0], xir_type_tensor_text(ctx, xir_type_sint(ctx, 8), "**", dims, 2)),
                         XIR_OK);
        *n = 0;
        return net;
    }
    default: {
        xir_network *net = raw_network(ctx, plain, 3, 2, values);
        *n = 3;
        if (which == ALLOWED) xir_params_set_allow_no_data(values[0], true);
        return net;
    }
    }
}

/* ---- files -------------------------------------------------------------------------------------------------- */

typedef struct entry { int32_t id; uint64_t offset; } entry;

typedef struct bad {
    int         net;
    uint32_t    n;           /* the count in the header                               */
    size_t      size;        /* of the file: filled with 0xEE, or truncated           */
    entry       entries[5];  /* the entries; id 0 ends                                */
    int         at, value;   /* a byte to change at the end; value 0: none            */
    xir_status  status;
    uint64_t    byte;
    const char *sentence;    /* the beginning of the message                          */
} bad;

/* The valid file of the plain network is   3, 62, { { 3, 52 }, { 7, 56 }, { 5, 56 } }. */
#define RIGHT { { 3, 52 }, { 7, 56 }, { 5, 56 } }
#define C XIR_E_CORRUPT
#define M XIR_E_MISSING
#define X XIR_E_EXISTS
#define NO XIR_NO_BYTE

static const bad table[] = {
    /* the fixed beginning */
    { PLAIN, 3,  0, RIGHT, 0, 0, C,  0, "the file is empty, but the network has 3 Params" },
    { PLAIN, 3,  1, RIGHT, 0, 0, C,  1, "the file ends within its header, which takes 16 bytes" },
    { PLAIN, 3, 11, RIGHT, 0, 0, C, 11, "the file ends within its header" },
    { PLAIN, 3, 12, RIGHT, 0, 0, C, 12, "the file ends within its header" },
    { PLAIN, 3, 15, RIGHT, 0, 0, C, 15, "the file ends within its header" },
    { PLAIN, 3, 62, RIGHT, 0, 'P', C, 0, "not a raw file: found byte 0x50, expected 0xA5 (raw files of the IR before XIR have no magic)" },
    { PLAIN, 3,  1, RIGHT, 0, 'P', C, 0, "not a raw file: found byte 0x50" },
    { PLAIN, 3, 62, RIGHT, 1, 'i', C, 1, "not a raw file: found byte 0x69, expected 0x49" },
    { PLAIN, 3, 62, RIGHT, 7, ' ', C, 7, "not a raw file: found byte 0x20, expected 0x5F" },
    { PLAIN, 3, 62, RIGHT, 11, 0x5A, C, 11, "not a raw file: found byte 0x5A, expected 0xA5" },
    { PLAIN, 3,  5, RIGHT, 4, 'x', C, 4, "not a raw file" },

    /* the number of entries */
    { PLAIN, 3, 16, RIGHT, 0, 0, C, 12, "a table of 3 entries reaches to byte 52, but the file ends at 16" },
    { PLAIN, 3, 17, RIGHT, 0, 0, C, 12, "a table of 3 entries reaches to byte 52, but the file ends at 17" },
    { PLAIN, 3, 51, RIGHT, 0, 0, C, 12, "a table of 3 entries reaches to byte 52, but the file ends at 51" },
    { PLAIN, 4, 62, RIGHT, 0, 0, C, 12, "a table of 4 entries reaches to byte 64" },
    { PLAIN, 0x03000000, 62, RIGHT, 0, 0, C, 12, "a table of 50331648 entries" },
    { PLAIN, UINT32_MAX, 62, RIGHT, 0, 0, C, 12, "a table of 4294967295 entries reaches to byte 51539607556" },
    { PLAIN, 0, 16, { { 0 } }, 0, 0, M, 12, "v_id 3 'p0' and 2 more Params of the network have no entry" },
    { PLAIN, 0, 62, RIGHT, 0, 0, M, 12, "v_id 3 'p0' and 2 more Params" },

    /* ids */
    { PLAIN, 2, 44, { { 3, 40 }, { 7, 44 } }, 0, 0, M, 12, "v_id 5 'p2' of the network has no entry" },
    { PLAIN, 2, 50, { { 3, 40 }, { 5, 44 } }, 0, 0, M, 12, "v_id 7 'p1' of the network has no entry" },
    { PLAIN, 4, 74, { { 3, 64 }, { 7, 68 }, { 5, 68 }, { 9, 74 } }, 0, 0, C, 52, "entry 3 has v_id 9, but the network has no Params with this id" },
    { PLAIN, 4, 74, { { 9, 64 }, { 3, 64 }, { 7, 68 }, { 5, 68 } }, 0, 0, C, 16, "entry 0 has v_id 9, but" },
    { PLAIN, 3, 62, { { 3, 52 }, { 3, 56 }, { 5, 56 } }, 0, 0, X, 28, "entry 1 has v_id 3 'p0', which entry 0 already has" },
    { PLAIN, 4, 74, { { 7, 64 }, { 3, 64 }, { 5, 68 }, { 7, 74 } }, 0, 0, X, 52, "entry 3 has v_id 7 'p1', which entry 0 already has" },
    { PLAIN, 5, 88, { { 3, 76 }, { 7, 80 }, { 5, 80 }, { 5, 80 }, { 3, 76 } }, 0, 0, X, 52, "entry 3 has v_id 5" },
    { PLAIN, 3, 62, { { -3, 52 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 16, "entry 0 has v_id -3, but" },
    { PLAIN, 3, 62, { { 3, 52 }, { INT32_MIN, 56 }, { 5, 56 } }, 0, 0, C, 28, "entry 1 has v_id -2147483648, but" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 56 }, { 0x05000000, 56 } }, 0, 0, C, 40, "entry 2 has v_id 83886080, but" },
    { PLAIN, 3, 62, { { 1, 52 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 16, "entry 0 has v_id 1, but" },

    /* offsets that are wrong by themselves */
    { PLAIN, 3, 62, { { 3, 0 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 0, inside the table, which ends at 52" },
    { PLAIN, 3, 62, { { 3, 51 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 51, inside the table" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 56 }, { 5, 16 } }, 0, 0, C, 44, "the payload of v_id 5 'p2' begins at byte 16, inside the table" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 51 }, { 5, 56 } }, 0, 0, C, 32, "the payload of v_id 7 'p1' begins at byte 51, inside the table" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 0 }, { 5, 56 } }, 0, 0, C, 32, "the payload of v_id 7 'p1' begins at byte 0, inside the table" },
    { PLAIN, 3, 62, { { 3, 62 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' takes 4 bytes from 62 on, but the file ends at 62" },
    { PLAIN, 3, 62, { { 3, 63 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 63, after the end of the file at 62" },
    { PLAIN, 3, 62, { { 3, 59 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' takes 4 bytes from 59 on" },
    { PLAIN, 3, 62, { { 3, UINT64_MAX }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 18446744073709551615, after" },
    { PLAIN, 3, 62, { { 3, UINT64_MAX - 3 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 18446744073709551612, after" },
    { PLAIN, 3, 62, { { 3, U64(1) << 63 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 9223372036854775808, after" },
    { PLAIN, 3, 62, { { 3, (U64(1) << 32) + 52 }, { 7, 56 }, { 5, 56 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' begins at byte 4294967348, after" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 63 }, { 5, 56 } }, 0, 0, C, 32, "the payload of v_id 7 'p1' begins at byte 63, after" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, UINT64_MAX }, { 5, 56 } }, 0, 0, C, 32, "the payload of v_id 7 'p1' begins at byte 18446744073709551615, after" },

    /* payloads that do not tile */
    { PLAIN, 3, 63, { { 3, 53 }, { 7, 57 }, { 5, 57 } }, 0, 0, C, 52, "1 bytes from here on belong to no payload: the table ends here, v_id 3 'p0' begins at byte 53" },
    { PLAIN, 3, 63, { { 3, 52 }, { 7, 56 }, { 5, 57 } }, 0, 0, C, 56, "1 bytes from here on belong to no payload: v_id 7 'p1' ends here, v_id 5 'p2' begins at byte 57" },
    { PLAIN, 3, 72, { { 5, 52 }, { 3, 68 }, { 7, 58 } }, 0, 0, C, 58, "10 bytes from here on belong to no payload: v_id 7 'p1' ends here, v_id 3 'p0' begins at byte 68" },
    { PLAIN, 3, 63, { { 5, 52 }, { 7, 59 }, { 3, 59 } }, 0, 0, C, 58, "1 bytes from here on belong to no payload: v_id 5 'p2' ends here, v_id 7 'p1' begins at byte 59" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 56 }, { 5, 55 } }, 0, 0, C, 55, "the payload of v_id 5 'p2' begins here, but that of v_id 3 'p0' (4 bytes) reaches to 56" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 56 }, { 5, 52 } }, 0, 0, C, 52, "the payload of v_id 5 'p2' begins here, but that of v_id 3 'p0' (4 bytes) reaches to 56" },
    { PLAIN, 3, 62, { { 5, 52 }, { 7, 58 }, { 3, 52 } }, 0, 0, C, 52, "the payload of v_id 3 'p0' begins here, but that of v_id 5 'p2' (6 bytes) reaches to 58" },
    { PLAIN, 3, 62, { { 5, 52 }, { 7, 58 }, { 3, 57 } }, 0, 0, C, 57, "the payload of v_id 3 'p0' begins here, but that of v_id 5 'p2' (6 bytes) reaches to 58" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 54 }, { 5, 56 } }, 0, 0, C, 54, "the payload of v_id 7 'p1' begins here, but that of v_id 3 'p0' (4 bytes) reaches to 56" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 57 }, { 5, 56 } }, 0, 0, C, 57, "the payload of v_id 7 'p1' begins here, but that of v_id 5 'p2' (6 bytes) reaches to 62" },
    { PLAIN, 3, 63, RIGHT, 0, 0, C, 62, "1 bytes from here to the end of the file belong to no payload" },
    { PLAIN, 3, 1062, RIGHT, 0, 0, C, 62, "1000 bytes from here to the end of the file belong to no payload" },

    /* payloads of another size than their type takes */
    { PLAIN, 3, 61, RIGHT, 0, 0, C, 44, "the payload of v_id 5 'p2' takes 6 bytes from 56 on, but the file ends at 61" },
    { PLAIN, 3, 52, RIGHT, 0, 0, C, 20, "the payload of v_id 3 'p0' takes 4 bytes from 52 on, but the file ends at 52" },
    { PLAIN, 3, 62, { { 3, 52 }, { 7, 58 }, { 5, 58 } }, 0, 0, C, 44, "the payload of v_id 5 'p2' takes 6 bytes from 58 on, but the file ends at 62" },

    /* faults of the network */
    { WIDE_ID, 0, 16, { { 0 } }, 0, 0, M, 12, "v_id 5000000000 'p0' of the network has no entry" },
    { WIDE_ID, 1, 32, { { 705032704, 28 } }, 0, 0, C, 16, "entry 0 has v_id 705032704, but" },
    { UNKNOWN_DIM, 1, 32, { { 3, 28 } }, 0, 0, XIR_E_BOUNDS, NO, "v_id 3 'p0' has an unknown dim: its size in a raw file is unknown" },
    { TOO_MANY, 1, 32, { { 3, 28 } }, 0, 0, XIR_E_LIMIT, NO, "v_id 3 'p0' takes more bytes than a file can have" },
    { HUGE_PAIR, 2, 48, { { 3, 40 }, { 5, 44 } }, 0, 0, C, 20, "the payload of v_id 3 'p0' takes 9223372036854775800 bytes from 40 on" },
    { NOTHING, 1, 28, { { 3, 28 } }, 0, 0, C, 16, "entry 0 has v_id 3, but the network has no Params" },
    { NOTHING, 0, 17, { { 0 } }, 0, 0, C, 16, "1 bytes from here to the end" },
    { NOTHING, 0, 15, { { 0 } }, 0, 0, C, 15, "the file ends within its header" },
    { ALLOWED, 1, 28, { { 7, 28 } }, 0, 0, M, 12, "v_id 5 'p2' of the network has no entry" },
    { ALLOWED, 0, 0, { { 0 } }, 0, 0, C, 0, "the file is empty" },
};

static size_t make(const bad *b, uint8_t *file, size_t room) {
    memset(file, 0xEE, room);
    raw_put_header(file, b->n);
    for (size_t i = 0; i < COUNT(b->entries) && b->entries[i].id; i++)
        raw_put_entry(file, i, b->entries[i].id, b->entries[i].offset);
    if (b->value) file[b->at] = (uint8_t)b->value;
    return b->size;
}

/* ---- the four ways to load ---------------------------------------------------------------------------------- */

enum { READ, READ_LAZY, LOAD, LOAD_LAZY, WAYS };
static const char *const way_names[WAYS] = { "read", "read lazily", "loaded", "loaded lazily" };

static xir_status load(xir_network *net, int way, const uint8_t *file, size_t size, const char *path, xir_diags *why) {
    switch (way) {
    case READ:      return xir_raw_read(net, file, size, 0, why);
    case READ_LAZY: return xir_raw_read(net, file, size, XIR_LOAD_LAZY, why);
    case LOAD:      return xir_raw_load(net, path, 0, why);
    default:        return xir_raw_load(net, path, XIR_LOAD_LAZY, why);
    }
}

static void every_bad_file_is_refused_at_its_byte(void **state) {
    xir_context *ctx = *state;
    for (size_t i = 0; i < COUNT(table); i++) {
        const bad *b = &table[i];
        uint8_t scrap[2048];
        size_t size = make(b, scrap, sizeof scrap), n;
        uint8_t *file = malloc(size ? size : 1);   /* of exactly its size, so that a sanitizer sees reads beyond it */
        memcpy(file, scrap, size);
        const char *path = scratch("bad.raw");
        scratch_put(path, file, size);
        for (int way = 0; way < WAYS; way++) {
            xir_value *values[4];
            const void *had[4];
            xir_diags *why = xir_diags_new(ctx);
            xir_network *net = network(ctx, b->net, values, &n);
            for (size_t k = 0; k < n; k++) {
                raw_fill(values[k]);
                had[k] = xir_params_data(values[k], NULL);
            }
            xir_status status = load(net, way, file, size, path, why);
            const xir_diag *said = xir_diags_at(why, 0);
            if (status != b->status || xir_diags_count(why) != 1 || said->code != status || said->byte != b->byte ||
                said->message.size < strlen(b->sentence) ||
                memcmp(said->message.data, b->sentence, strlen(b->sentence)) != 0) {
                xir_diags_print(why, stderr);
                fail_msg("row %zu, %s: got %s, expected %s at %lld: %s", i, way_names[way], xir_status_name(status),
                         xir_status_name(b->status), (long long)b->byte, b->sentence);
            }
            assert_true(xir_str_equal(said->file, way < LOAD ? (xir_str){ "", 0 } : xir_str_of(path)));
            for (size_t k = 0; k < n; k++) {
                assert_ptr_equal(xir_params_data(values[k], NULL), had[k]);
                assert_true(raw_is_filled(values[k]));
            }
            assert_int_equal(xir_network_status(net), XIR_OK);
            xir_network_free(net);
            xir_diags_free(why);
        }
        free(file);
    }
}

/* A finding about a byte is printed with it. */
static void a_finding_prints_its_byte(void **state) {
    xir_context *ctx = *state;
    uint8_t file[64] = { 0 };
    size_t size;
    raw_put_header(file, 9);
    scratch_put(scratch("nine.raw"), file, 16);
    xir_diags *why = xir_diags_new(ctx);
    xir_network *net = raw_network(ctx, plain, 3, 2, NULL);
    assert_int_equal(xir_raw_load(net, scratch("nine.raw"), 0, why), XIR_E_CORRUPT);
    FILE *f = fopen(scratch("printed"), "wb");
    xir_diags_print(why, f);
    fclose(f);
    char *text = (char *)scratch_get(scratch("printed"), &size), expected[PATH_MAX + 256];
    snprintf(expected, sizeof expected, "%s@0xc: a table of 9 entries reaches to byte 124, but the file ends at 16\n",
             scratch("nine.raw"));
    assert_string_equal(text, expected);
    free(text);
    xir_network_free(net);
    xir_diags_free(why);
}

/* ---- sweeps ------------------------------------------------------------------------------------------------- */

/* A valid file, whose network has its MD5. */
static xir_network *right(xir_context *ctx, xir_value **values, uint8_t **file, size_t *size) {
    static const raw_param wanted[] = { { 3, 4 }, { 7, 0 }, { 5, 6 }, { 1000, 1 }, { 12, 0 }, { 2, 16 } };
    xir_network *net = raw_network(ctx, wanted, COUNT(wanted), 3, values);
    for (size_t i = 0; i < COUNT(wanted); i++) raw_fill(values[i]);
    raw_memory m = { 0 };
    assert_int_equal(xir_raw_write(net, raw_memory_write, &m, NULL), XIR_OK);
    assert_int_equal(m.size, 16 + 6 * 12 + 27);
    *file = m.data;
    *size = m.size;
    for (size_t i = 0; i < COUNT(wanted); i++) xir_params_clear(values[i]);
    return net;
}

static void truncation_anywhere_is_noticed(void **state) {
    xir_context *ctx = *state;
    xir_value *values[6];
    uint8_t *file;
    size_t size;
    xir_network *net = right(ctx, values, &file, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, file, cut);
        scratch_put(scratch("cut.raw"), part, cut);
        for (int way = 0; way < WAYS; way++) {
            xir_diags *why = xir_diags_new(ctx);
            assert_int_equal(load(net, way, part, cut, scratch("cut.raw"), why), XIR_E_CORRUPT);
            assert_int_equal(xir_diags_count(why), 1);
            assert_true(xir_diags_at(why, 0)->byte <= cut);
            xir_diags_free(why);
        }
        free(part);
    }
    for (size_t i = 0; i < 6; i++) assert_null(xir_params_data(values[i], NULL));
    for (int way = 0; way < WAYS; way++) {
        scratch_put(scratch("cut.raw"), file, size);
        assert_int_equal(load(net, way, file, size, scratch("cut.raw"), NULL), XIR_OK);
        for (size_t i = 0; i < 6; i++) assert_true(raw_is_filled(values[i]));
    }
    xir_network_free(net);
    free(file);
}

/* Returns true if byte `at` belongs to the offset of Params without bytes: entries 1 and 4. */
static bool of_empty_offset(size_t at) {
    return (at >= 16 + 12 * 1 + 4 && at < 16 + 12 * 2) || (at >= 16 + 12 * 4 + 4 && at < 16 + 12 * 5);
}

static void a_flipped_bit_is_noticed_where_it_can_be(void **state) {
    xir_context *ctx = *state;
    xir_value *values[6];
    uint8_t *file;
    size_t size, table_end = 16 + 6 * 12, harmless = 0;
    xir_network *net = right(ctx, values, &file, &size);
    for (size_t at = 0; at < size; at++) {
        for (int bit = 0; bit < 8; bit++) {
            file[at] ^= (uint8_t)(1 << bit);
            for (size_t i = 0; i < 6; i++) xir_params_clear(values[i]);
            /* The MD5 covers all bytes. */
            assert_int_not_equal(xir_raw_read(net, file, size, 0, NULL), XIR_OK);
            assert_int_not_equal(xir_raw_read(net, file, size, XIR_LOAD_LAZY | XIR_LOAD_MD5, NULL), XIR_OK);
            for (size_t i = 0; i < 6; i++) assert_null(xir_params_data(values[i], NULL));
            /* Without it payloads are not checked, but the table is: only Params without bytes may move to another
             * place where one ends. */
            xir_status status = xir_raw_read(net, file, size, XIR_LOAD_LAZY, NULL);
            if (at >= table_end) {
                assert_int_equal(status, XIR_OK);
            } else if (of_empty_offset(at) && status == XIR_OK) {
                for (size_t i = 0; i < 6; i++) assert_true(raw_is_filled(values[i]));
                harmless++;
            } else {
                assert_true(status == XIR_E_CORRUPT || status == XIR_E_MISSING || status == XIR_E_EXISTS);
                if (at < 12) assert_int_equal(status, XIR_E_CORRUPT);
            }
            file[at] ^= (uint8_t)(1 << bit);
        }
    }
    assert_true(harmless <= 4);
    for (size_t i = 0; i < 6; i++) xir_params_clear(values[i]);   /* they are parts of the file */
    xir_network_free(net);
    free(file);
}

/* Every number of the header takes every awkward value. */
static void awkward_numbers_are_survived(void **state) {
    static const uint64_t odd[] = { 0, 1, 2, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF,
                                    U64(0x100000000),
        U64(0x100000001), INT64_MAX, U64(1) << 63, (U64(1) << 63) + 1, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 15 };
    xir_context *ctx = *state;
    xir_value *values[6];
    uint8_t *file;
    size_t size;
    xir_network *net = right(ctx, values, &file, &size);
    for (size_t at = 12; at + 8 <= size; at++) {
        uint8_t was[8];
        memcpy(was, file + at, 8);
        for (size_t k = 0; k < COUNT(odd); k++) {
            for (int width = 4; width <= 8; width += 4) {
                raw_put_le(file + at, width, odd[k]);
                bool same = memcmp(file + at, was, 8) == 0;
                xir_status status = xir_raw_read(net, file, size, 0, NULL);
                assert_true(same ? status == XIR_OK : status != XIR_OK);
                xir_raw_read(net, file, size, XIR_LOAD_LAZY, NULL);
                memcpy(file + at, was, 8);
            }
        }
    }
    for (size_t i = 0; i < 6; i++) xir_params_clear(values[i]);
    xir_network_free(net);
    free(file);
}

/* A table of four thousand million entries in a sparse file costs neither memory nor time. */
static void a_hostile_count_costs_nothing(void **state) {
    xir_context *ctx = *state;
    const char *path = scratch("hostile.raw");
    uint8_t head[16 + 36];
    raw_put_header(head, UINT32_MAX);
    for (size_t i = 0; i < 3; i++) raw_put_entry(head, i, plain[i].id, U64(1) << 38);
    scratch_put(path, head, sizeof head);
    if (truncate(path, (off_t)1 << 40) != 0) {
        int error = errno;
        unlink(path);
        SKIP("no sparse files of 1 TiB: %s", strerror(error));
    }
    for (unsigned flags = 0; flags <= XIR_LOAD_LAZY; flags++) {
        xir_network *net = raw_network(ctx, plain, 3, 2, NULL);
        xir_diags *why = xir_diags_new(ctx);
        assert_int_equal(xir_raw_load(net, path, flags, why), XIR_E_CORRUPT);   /* entry 3 has v_id 0 */
        assert_int_equal(xir_diags_at(why, 0)->byte, 16 + 36);
        xir_diags_free(why);
        xir_network_free(net);
    }
    unlink(path);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bad_file_is_refused_at_its_byte),
        cmocka_unit_test(a_finding_prints_its_byte),
        cmocka_unit_test(truncation_anywhere_is_noticed),
        cmocka_unit_test(a_flipped_bit_is_noticed_where_it_can_be),
        cmocka_unit_test(awkward_numbers_are_survived),
        cmocka_unit_test(a_hostile_count_costs_nothing),
    };
    return cmocka_run_group_tests_name("raw_bad", tests, scratch_begin, scratch_end);
}
