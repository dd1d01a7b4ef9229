/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Malformed MessagePack: refused with the status, the byte and the path of the fault, without memory beyond the file's
 * size, wherever it is truncated or changed. The same code as for JSON refuses wrong attributes. */
#include "support/msgpack_net.h"
#include "support/msgpack_text.h"

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

/* ---- by hand ----------------------------------------------------------------------------------------------- */

#define NET(n)     "{" n " '_type_key' 'icraft::xir::Network' "
#define NET1       NET("2") "'ops' [1 "                                        /* of one op     */
#define RELU(n)    "{" n " '_type_key' 'icraft::xir::ReLU' 'op_id' 1 "
#define ALPHA      NET1 RELU("3") "'alpha' "
#define TAGS       NET("3") "'ops' [0 'tags' {1 'a' "
#define BYTES(n) \
    "{4 '_type_key' 'icraft::xir::TensorType' 'element_dtype' '@sint(8)' 'layout' '@layout(*)' 'shape' [1 " n " "
#define SOME_PARAMS(id, n) "{3 '_type_key' 'icraft::xir::Params' 'dtype' " BYTES(n) "'v_id' " id " "
/* Two Params, of 3 and 0 bytes, and a value. */
#define OPS2       "'ops' [1 {4 '_type_key' 'someone::Op' 'inputs' [2 " SOME_PARAMS("7", "3") SOME_PARAMS(             \
    "300", "0") "'op_id' 1 'outputs' [1 "                                                                              \
                   "{3 '_type_key' 'icraft::xir::Value' 'dtype' nil 'v_id' 9 "
#define NET2       NET("2") OPS2
#define NET3       NET("3") OPS2
#define GOOD       "'params' [2 [2 7 <3 [2 300 <0 "
#define TEN(x)     x x x x x x x x x x
#define DEEP       TEN("[1 ") TEN("[1 ") "[1 [1 [1 [1 [1 [1 [1 "               /* 27 levels, which fit the tag "a" */

typedef struct bad { const char *text; xir_status status; const char *path, *sentence; } bad;

/* The mark is the place of the finding; without a mark it is the end. */
static const bad table[] = {
    /* bytes that are not an item, items that end too early */
    { "",                                     XIR_E_SYNTAX, "", "found no bytes" },
    { "`#c1",                                 XIR_E_SYNTAX, "", "found byte 0xc1" },
    { "{1 'ops' `#c1",                        XIR_E_SYNTAX, "/ops", "byte 0xc1" },
    { "[3 1 2 `#c1",                          XIR_E_SYNTAX, "/2", "byte 0xc1" },
    { "{1 `#c1 1",                            XIR_E_SYNTAX, "", "byte 0xc1" },
    { "{2 'a' 1 `#c1 1",                      XIR_E_SYNTAX, "", "byte 0xc1" },
    { "{1 {1 'k' [1 `#c1 1",                  XIR_E_SYNTAX, "/k/0", "byte 0xc1" },
    { "{1 'a' [2 {2 'b' 1 'c/~' `#c1 1",      XIR_E_SYNTAX, "/a/0/c~1~0", "byte 0xc1" },
    { "{1 'a' [2 [0 `#c1",                    XIR_E_SYNTAX, "/a/1", "byte 0xc1" },
    { "{1 'a' `#c7000a",                      XIR_E_TYPE,   "/a", "found an extension (byte 0xc7)" },
    { "{1 'a' `#c800000a",                    XIR_E_TYPE,   "/a", "found an extension (byte 0xc8)" },
    { "{1 'a' `#c9000000000a",                XIR_E_TYPE,   "/a", "found an extension (byte 0xc9)" },
    { "{1 'a' `#d40a00",                      XIR_E_TYPE,   "/a", "found an extension (byte 0xd4)" },
    { "{1 'a' `#d6ff00000000",                XIR_E_TYPE,   "/a", "found an extension (byte 0xd6)" },
    { "{1 'a' `#d8",                          XIR_E_TYPE,   "/a", "found an extension (byte 0xd8)" },
    { "`{1",                                  XIR_E_SYNTAX, "", "a map of 1 members, but only 0 more bytes" },
    { "{1 `'a'",                              XIR_E_SYNTAX, "", "expected 1 more items after this one, found only 0 more bytes" },
    { "{1 'a' `#a262",                        XIR_E_SYNTAX, "/a", "found a text of 2 bytes, but only 1 more bytes" },
    { "{1 'a' `#d9",                          XIR_E_SYNTAX, "/a", "expected 2 bytes from byte 0xd9 on, found 1" },
    { "{1 'a' `#d90362",                      XIR_E_SYNTAX, "/a", "a text of 3 bytes, but only 1 more" },
    { "{1 'a' `#da0003",                      XIR_E_SYNTAX, "/a", "a text of 3 bytes, but only 0 more" },
    { "{1 'a' `#dbffffffff00",                XIR_E_SYNTAX, "/a", "a text of 4294967295 bytes, but only 1 more" },
    { "{1 'a' `#c401",                        XIR_E_SYNTAX, "/a", "a byte string of 1 bytes" },
    { "{1 'a' `#c5ffff",                      XIR_E_SYNTAX, "/a", "65535" },
    { "{1 'a' `#c6ffffffff",                  XIR_E_SYNTAX, "/a", "4294967295" },
    { "{1 'a' `#ca000000",                    XIR_E_SYNTAX, "/a", "expected 5 bytes from byte 0xca on, found 4" },
    { "{1 'a' `#cb00000000000000",            XIR_E_SYNTAX, "/a", "expected 9 bytes" },
    { "{1 'a' `#cc",                          XIR_E_SYNTAX, "/a", "expected 2 bytes" },
    { "{1 'a' `#cd00",                        XIR_E_SYNTAX, "/a", "expected 3 bytes" },
    { "{1 'a' `#ce000000",                    XIR_E_SYNTAX, "/a", "expected 5 bytes" },
    { "{1 'a' `#cf00000000000000",            XIR_E_SYNTAX, "/a", "expected 9 bytes" },
    { "{1 'a' `#d0",                          XIR_E_SYNTAX, "/a", "expected 2 bytes" },
    { "{1 'a' `#d3",                          XIR_E_SYNTAX, "/a", "expected 9 bytes" },
    { "{1 'a' `#dc00",                        XIR_E_SYNTAX, "/a", "expected 3 bytes" },
    { "{1 'a' `#dd0000000",                   XIR_E_SYNTAX, "/a", "" },
    { "{1 'a' `#de00",                        XIR_E_SYNTAX, "/a", "expected 3 bytes" },

    /* counts that the file has no bytes for */
    { "`#dfffffffff",                         XIR_E_SYNTAX, "", "a map of 4294967295 members, but only 0 more bytes" },
    { "`#dd03000000",                         XIR_E_SYNTAX, "", "a list of 50331648 members" },
    { "{1 'a' `#ddffffffff0000",              XIR_E_SYNTAX, "/a", "a list of 4294967295 members, but only 2 more bytes" },
    { "{1 'a' `#dc0003 1 2",                  XIR_E_SYNTAX, "/a", "a list of 3 members, but only 2 more bytes" },
    { "{1 'a' `#de0002 'b' 1",                XIR_E_SYNTAX, "/a", "a map of 2 members, but only 3 more bytes" },
    { "{1 'a' [3 1 `[3 1 2 3",                XIR_E_SYNTAX, "/a/1", "expected 4 more items after this one, found only 3 more bytes" },
    { "{1 'a' [3 `'text' 1",                  XIR_E_SYNTAX, "/a/0", "expected 2 more items after this one, found only 1 more bytes" },
    { NET("3") "'ops' [0 `'tags'",            XIR_E_SYNTAX, "", "1 more items after this one" },

    /* depth: the network is 1 */
    { TAGS DEEP "[1 [1 [1 `[0",               XIR_E_LIMIT,  NULL, "values are nested deeper than 32" },
    { TAGS DEEP "[1 [1 [1 `{0",               XIR_E_LIMIT,  NULL, "values are nested deeper than 32" },
    { TAGS DEEP "[1 [1 [1 `{1 'a' [1 [1 5",   XIR_E_LIMIT,  NULL, "values are nested deeper than 32" },
    { TEN("[1 ") TEN("[1 ") TEN("[1 ") "[1 [1 `[1 [1 5", XIR_E_LIMIT, NULL, "values are nested deeper than 32" },

    /* bytes after the end */
    { NET("2") "'ops' [0 `nil",               XIR_E_SYNTAX, "", "expected the end, found 1 more bytes" },
    { NET("2") "'ops' [0 `#c1c1c1",           XIR_E_SYNTAX, "", "found 3 more bytes" },
    { NET("2") "'ops' [0 `" NET("2") "'ops' [0", XIR_E_SYNTAX, "", "more bytes" },

    /* maps that are not a network */
    { "`nil",                                 XIR_E_TYPE,    "", "expected icraft::xir::Network, found null" },
    { "`[0",                                  XIR_E_TYPE,    "", "expected icraft::xir::Network, found a list" },
    { "`7",                                   XIR_E_TYPE,    "", "found a number" },
    { "`<3",                                  XIR_E_TYPE,    "", "found bytes" },
    { "`{0",                                  XIR_E_MISSING, "", "a network needs _type_key" },
    { "`" NET("1"),                           XIR_E_MISSING, "", "a network needs ops" },
    { "{2 '_type_key' `'icraft::xir::Value' 'ops' [0", XIR_E_TYPE, "/_type_key", "expected icraft::xir::Network" },
    { NET("2") "'ops' `{0",                   XIR_E_TYPE,    "/ops", "expected a list, found a map" },
    { NET("2") "'ops' `<3",                   XIR_E_TYPE,    "/ops", "expected a list, found bytes" },
    { NET("3") "'ops' [0 '_type_key' `'icraft::xir::Network'", XIR_E_EXISTS, "/_type_key", "the key \"_type_key\" appears twice" },
    { NET("4") "'x' 1 'ops' [0 'x' `2",       XIR_E_EXISTS,  "", "the key \"x\" appears twice" },
    { NET("3") "'ops' [0 'params_bytes' `-1", XIR_E_BOUNDS,  "/params_bytes", "" },
    { NET("3") "'ops' [0 'params_bytes' `1.5", XIR_E_TYPE,   "/params_bytes", "" },

    /* keys and texts */
    { NET("3") "'ops' [0 `7 8",               XIR_E_TYPE,    "", "expected a key, found a number" },
    { NET("3") "'ops' [0 `nil 8",             XIR_E_TYPE,    "", "expected a key, found null" },
    { NET("3") "'ops' [0 `#c403616263 8",     XIR_E_TYPE,    "", "expected a key, found bytes" },
    { NET1 RELU("3") "`[0 1",                 XIR_E_TYPE,    "/ops/0", "expected a key, found a list" },
    { TAGS "{1 `<1 2",                        XIR_E_TYPE,    "/tags/a", "expected a key, found bytes" },
    { NET("3") "'ops' [0 'name' #a5616263 `#ff64", XIR_E_SYNTAX, "/name", "byte 0xff is not UTF-8 here" },
    { NET("3") "'ops' [0 'name' #a2 `#c3c3",  XIR_E_SYNTAX,  "/name", "byte 0xc3 is not UTF-8 here" },
    { NET("3") "'ops' [0 'name' #a3 `#eda080", XIR_E_SYNTAX, "/name", "byte 0xed is not UTF-8 here" },
    { NET("3") "'ops' [0 'name' #b4303132333435363738396162636465666768 `#c080", XIR_E_SYNTAX, "/name", "byte 0xc0 is not UTF-8 here" },
    { NET("3") "'ops' [0 #a2 `#8080 1",       XIR_E_SYNTAX,  "", "byte 0x80 is not UTF-8 here" },
    { TAGS "#a1 `#80",                        XIR_E_SYNTAX,  "/tags/a", "byte 0x80 is not UTF-8 here" },
    { NET1 "{2 'op_id' 1 '_type_key' #a4784142 `#fe", XIR_E_SYNTAX, "/ops/0/_type_key", "byte 0xfe is not UTF-8 here" },

    /* items of the wrong kind */
    { ALPHA "`'x'",                           XIR_E_TYPE,    "/ops/0/alpha", "found \"x\"" },
    { ALPHA "`nil",                           XIR_E_TYPE,    "/ops/0/alpha", "expected a number, found null" },
    { ALPHA "`<4",                            XIR_E_TYPE,    "/ops/0/alpha", "expected a number, found bytes" },
    { ALPHA "`1.0e300d",                       XIR_E_BOUNDS,  "/ops/0/alpha", "1e+300 is more than a float32 can hold" },
    { NET1 "{2 '_type_key' 'icraft::xir::ReLU' 'op_id' `1.0", XIR_E_TYPE, "/ops/0/op_id", "expected an integer, found 1" },
    { NET1 "{2 '_type_key' 'icraft::xir::ReLU' 'op_id' `-1", XIR_E_BOUNDS, "/ops/0/op_id", "op_id -1 is outside" },
    { NET1 "{2 '_type_key' 'icraft::xir::ReLU' 'op_id' `#cf8000000000000000", XIR_E_BOUNDS, "/ops/0/op_id", "9223372036854775808 does not fit 64 bits" },
    { NET1 "{2 '_type_key' 'icraft::xir::ReLU' 'op_id' `true", XIR_E_TYPE, "/ops/0/op_id", "expected a number, found true or false" },
    { NET1 "`{1 'op_id' 1",                   XIR_E_MISSING, "/ops/0", "an op needs _type_key" },
    { NET1 "`{2 'op_id' 1 '_type_key' 7",     XIR_E_MISSING, "/ops/0", "an op needs _type_key" },
    { NET1 RELU("3") "'op_id' `2",            XIR_E_EXISTS,  "/ops/0/op_id", "appears twice" },
    { NET1 RELU("4") "'alpha' 1.0 'alpha' `1.0", XIR_E_EXISTS, "/ops/0/alpha", "appears twice" },
    { NET1 RELU("3") "'inputs' [1 {4 '_type_key' 'icraft::xir::Value' 'dtype' nil 'v_id' 1 'v_id' `1", XIR_E_EXISTS, "/ops/0/inputs/0/v_id", "appears twice" },
    { NET1 RELU("3") "'zeta' `<3",            XIR_E_TYPE,    "/ops/0/zeta", "expected a value that is not bytes" },
    { TAGS "[2 1 `<3",                        XIR_E_TYPE,    "/tags/a/1", "expected a value that is not bytes" },
    { NET("2") "'ops' [2 " RELU("2") RELU("2") "", XIR_E_EXISTS, NULL, "op_id 1 is already used by another op" },
    { NET("2") "'ops' [2 " RELU("3") "'alpha' 1.0 " "{3 '_type_key' 'icraft::xir::ReLU' 'op_id' 2 'alpha' `'y'", XIR_E_TYPE, "/ops/1/alpha", "found \"y\"" },
    { NET1 "{3 '_type_key' 'icraft::xir::Conv2d' 'op_id' 1 'padding_mode' `'ODD'", XIR_E_UNKNOWN, "/ops/0/padding_mode", "\"ODD\" is not one of" },
    { NET1 RELU("3") "'outputs' [1 {3 '_type_key' 'icraft::xir::Value' 'v_id' 1 'dtype' #a7 #40667028 `#333129", XIR_E_BOUNDS, "/ops/0/outputs/0/dtype", "" },

    /* params */
    { NET3 "'params_table' `[2 7 300",        XIR_E_MISSING, "", "expected params next to params_table" },
    { NET3 "'params' `{0",                    XIR_E_TYPE,    "/params", "expected a list, found a map" },
    { NET3 "'params' `nil",                   XIR_E_TYPE,    "/params", "expected a list, found null" },
    { NET3 "'params' [2 [2 7 <3 `7",          XIR_E_TYPE,    "/params/1", "expected a list of a v_id and its bytes" },
    { NET3 "'params' [1 `[1 7",               XIR_E_TYPE,    "/params/0", "expected a list of a v_id and its bytes" },
    { NET3 "'params' [1 `[3 7 <3 1",          XIR_E_TYPE,    "/params/0", "expected a list of a v_id and its bytes" },
    { NET3 "'params' [1 [2 `'7' <3",          XIR_E_TYPE,    "/params/0", "expected a number, found a text" },
    { NET3 "'params' [1 [2 `7.0 <3",          XIR_E_TYPE,    "/params/0", "expected an integer, found 7" },
    { NET3 "'params' [1 [2 7 `'abc'",         XIR_E_TYPE,    "/params/0", "expected bytes, found a text" },
    { NET3 "'params' [1 [2 7 `[3 1 2 3",      XIR_E_TYPE,    "/params/0", "expected bytes, found a list" },
    { NET3 "'params' [2 [2 7 <3 [2 `8 <0",    XIR_E_CORRUPT, "/params/1", "found bytes for v_id 8, but the network has no Params with this id" },
    { NET3 "'params' [1 [2 `9 <0",            XIR_E_CORRUPT, "/params/0", "found bytes for v_id 9" },
    { NET3 "'params' [1 [2 `-7 <0",           XIR_E_CORRUPT, "/params/0", "found bytes for v_id -7" },
    { NET3 "'params' [3 [2 7 <3 [2 300 <0 `[2 7 <3", XIR_E_EXISTS, "/params/2", "v_id 7 has bytes twice" },
    { NET3 "'params' [2 [2 7 #c402 `#0001 [2 300 <0", XIR_E_CORRUPT, "", "v_id 7 has 2 bytes, but its type takes 3" },
    { NET3 "'params' [2 [2 7 <3 [2 300 #c401 `#00", XIR_E_CORRUPT, "", "v_id 300 has 1 bytes, but its type takes 0" },
    { NET3 "'params' [1 [2 300 <0",           XIR_E_CORRUPT, NULL, "v_id 7 has no bytes in the file, but other Params have" },
    { NET("4") OPS2 GOOD "'params' `[0",      XIR_E_EXISTS,  "/params", "the key \"params\" appears twice" },
    { NET("5") OPS2 GOOD "'tags' {0 'tags' `{0", XIR_E_EXISTS, "/tags", "the key \"tags\" appears twice" },
    { NET("4") "'params' [1 [2 7 <3 'a' {1 'x' 1 'a' `2", XIR_E_EXISTS, "", "the key \"a\" appears twice" },
    { NET("3") GOOD "'ops' [2 {3 '_type_key' 'someone::Op' 'op_id' 1 'inputs' [1 " SOME_PARAMS("7", "3") "{3 '_type_key' 'someone::Op' 'op_id' 2 "
      "'inputs' [1 `" SOME_PARAMS("7", "4"), XIR_E_CORRUPT, "/ops/1/inputs/0", "differs from the one at /ops/0/inputs/0" },
    { NET("4") OPS2 GOOD "'params_table' `7", XIR_E_TYPE,    "/params_table", "expected a list, found a number" },
    { NET("4") OPS2 GOOD "'params_table' `[1 7", XIR_E_CORRUPT, "", "params has 2 entries, params_table 1" },
    { NET("4") OPS2 GOOD "'params_table' [2 7 `7", XIR_E_CORRUPT, "/params_table/1", "v_id 7 has no entry in params, or appears here twice" },
    { NET("4") OPS2 GOOD "'params_table' [2 7 `8", XIR_E_CORRUPT, "/params_table/1", "the network has no Params with this id" },
    { NET("4") OPS2 GOOD "'params_table' [3 7 300 `300", XIR_E_CORRUPT, "/params_table/2", "or appears here twice" },
    { NET("4") OPS2 GOOD "'params_table' [2 7 `'x'", XIR_E_TYPE, "/params_table/1", "expected a number" },
    { NET("5") OPS2 GOOD "'params_table' [2 7 300 'params_table' `[2 7 300", XIR_E_EXISTS, "/params_table", "appears twice" },
    { NET("4") OPS2 GOOD "'params_md5' '00000000000000000000000000000000'", XIR_E_CORRUPT, NULL, "the MD5 of the parameters is" },
};

static void malformed_files_are_refused_at_the_wrong_byte(void **state) {
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const bad *row = &table[i];
        paper p = { 0 };
        bool marked = strchr(row->text, '`') != NULL;
        uint64_t byte = 0;
        put(&p, "%s", "");
        pack_text(&p, row->text, &byte);
        xir_network *net = try_unpack(p.data, p.size);
        const xir_diag *d = xir_diags_at(why, 0);
        bool ok = !net && xir_diags_count(why) == 1 && d->code == row->status && d->severity == XIR_ERROR &&
            d->line == 0 &&
                  xir_str_equal(d->file, XIR_STR("test.imodel")) &&
                      memmem(d->message.data, d->message.size, row->sentence, strlen(row->sentence));
        if (ok && marked) ok = d->byte == byte;
        if (ok && row->path) ok = xir_str_equal(d->path, xir_str_of(row->path));
        if (!ok) {
            fprintf(stderr, "…%s\n  was expected: byte %" PRIu64 ", %s, %s, %s; was found",
                    row->text + (strlen(row->text) > 70 ? strlen(row->text) - 70 : 0), byte,
                    xir_status_name(row->status), row->path, row->sentence);
            if (d)
                fprintf(stderr, " byte %" PRIu64 ", %s, %.*s, ", d->byte, xir_status_name(d->code), (int)d->path.size,
                        d->path.data);
            show_findings();
            wrong++;
        }
        xir_diags_clear(why);
        xir_network_free(net);
        free(p.data);
    }
    assert_int_equal(wrong, 0);
    assert_true(COUNT_OF(table) > 100);
}

/* The building blocks of the rows above are valid. */
static void valid_files_are_read(void **state) {
    (void)state;
    static const char *const rows[] = {
        NET("2") "'ops' [0", NET2, NET3 GOOD, NET3 "'params' [2 [2 300 <0 [2 7 <3", NET3 "'params' [0",
        NET("4") OPS2 GOOD "'params_table' [2 300 7", ALPHA "1.5", NET1 "{2 '_type_key' 'icraft::xir::ReLU' 'op_id' #d30000000000000001",
        TAGS DEEP "[1 [1 [0", TAGS DEEP "[1 [1 {1 'a' 1", NET("3") "'ops' [0 'name' #a4f09f9880",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        paper p = { 0 };
        pack_text(&p, rows[i], NULL);
        xir_network *net = try_unpack(p.data, p.size);
        if (!net) fprintf(stderr, "%s:\n", rows[i]), show_findings();
        assert_non_null(net);
        xir_network_free(net);
        free(p.data);
    }
}

/* ---- damage ------------------------------------------------------------------------------------------------ */

/* A network that has one of everything. */
static const char rich[] = NETWORK_OF("3.6.2.82",
    "{\"_type_key\":\"icraft::xir::HardOp\",\"compile_target\":\"@zhuget(330)\",\"device_info\":{\"a\":4294972444},\"inputs\":["
    "{\"_allow_no_data\":true,\"_type_key\":\"icraft::xir::Params\",\"dtype\":" FP32("1,2") ",\"v_id\":0},null,{\"_type_key\":\"icraft::xir::Value\","
    "\"dtype\":null,\"v_id\":1}],\"layer_count\":0,\"name\":\"A\xC3\xA9\",\"op_id\":7,\"origin_ops_id\":[1,-2],\"outputs\":[" VALUE("3", "4")
    "],\"sub_hard_ops\":[{\"_type_key\":\"icraft::xir::HardOp\",\"inputs\":[],\"op_id\":9,\"outputs\":[" VALUE("4", "") "]}],"
    "\"tags\":{\"ReadState\":[0,21.5],\"io\":true}},{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":0.1,\"inputs\":[" VALUE("3", "4")
    "],\"op_id\":2,\"outputs\":[{\"_type_key\":\"icraft::xir::Value\",\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":"
    "{\"_type_key\":\"icraft::xir::QuantizedType\",\"expressed_dtype\":\"@fp(32)\",\"scale\":\"@scales([axis=-1]3*0.5)\","
    "\"storage_dtype\":\"@sint(8)\",\"zero_points\":[1]},\"layout\":\"@layout(NC)\",\"shape\":[1,-1]},\"mtype\":\"@chunk(1@2)\",\"v_id\":8}],"
    "\"threshold\":0.5}");

/* Two small files: one with params, one with everything else. */
static paper seed_file(int which) {
    paper p = { 0 };
    if (which) pack_text(&p, NET("4") OPS2 GOOD "'params_table' [2 300 7", NULL);
    else pack_json(&p, rich, strlen(rich), NULL);
    return p;
}

/* Refused with a finding, or a network that is written so that it is read back as the same. */
static bool check_survives(const void *data, size_t size) {
    xir_network *net = try_unpack(data, size);
    bool read = net != NULL;
    assert_int_equal(read, xir_diags_count(why) == 0);
    if (net) {
        paper once = pack_net(net);
        xir_network *again = unpack_net(once.data, once.size);
        assert_true(xir_network_equal(net, again, true));
        paper twice = pack_net(again);
        check_same(once.data, once.size, twice.data, twice.size);
        xir_network_free(again);
        free(once.data);
        free(twice.data);
    }
    xir_diags_clear(why);
    xir_network_free(net);
    return read;
}

static void files_cut_anywhere_are_refused(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        paper p = seed_file(which);
        assert_true(check_survives(p.data, p.size));
        for (size_t n = 0; n < p.size; n++) assert_false(check_survives(p.data, n));
        free(p.data);
    }
}

static void files_changed_in_any_bit_are_survived(void **state) {
    (void)state;
    for (int which = 0; which < 2; which++) {
        paper p = seed_file(which);
        size_t refused = 0, all = p.size * 8;
        for (size_t bit = 0; bit < all; bit++) {
            p.data[bit / 8] = (char)(p.data[bit / 8] ^ 1 << bit % 8);
            refused += !check_survives(p.data, p.size);
            p.data[bit / 8] = (char)(p.data[bit / 8] ^ 1 << bit % 8);
        }
        assert_true(refused > all / 3 && refused < all);
        free(p.data);
    }
}

/* Parts of files are removed, doubled, moved; heads are put anywhere. */
static void files_torn_anywhere_are_survived(void **state) {
    (void)state;
    static const uint8_t heads[] = { 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC4, 0xC6, 0xCA, 0xCB, 0xCF, 0xD3, 0xD9,
                                     0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xE0 };
    for (int which = 0; which < 2; which++) {
        paper p = seed_file(which), torn = { 0 };
        for (int i = 0; i < 3000; i++) {
            size_t from = chance(p.size), n = chance(p.size - from < 40 ? p.size - from : 40), to = chance(p.size);
            torn.size = 0;
            put_bytes(&torn, p.data, to);
            if (i % 3 == 0) put_bytes(&torn, &(char){ (char)heads[chance(COUNT_OF(heads))] }, 1);
            else put_bytes(&torn, p.data + from, n);
            size_t rest = to + (i % 3 == 1 ? 0 : i % 3 == 0 ? 1 : n);
            if (rest < p.size) put_bytes(&torn, p.data + rest, p.size - rest);
            check_survives(torn.data, torn.size);
        }
        free(torn.data);
        free(p.data);
    }
}

/* ---- limits ------------------------------------------------------------------------------------------------ */

typedef struct meter { size_t now, most; } meter;

static void *metered(void *user, void *block, size_t old_size, size_t size) {
    meter *m = user;
    if (!size) {
        free(block);
        m->now -= old_size;
        return NULL;
    }
    void *bigger = realloc(block, size);
    if (!bigger) return NULL;
    m->now += size - (block ? old_size : 0);
    if (m->now > m->most) m->most = m->now;
    return bigger;
}

/* Returns the additional memory that reading a file takes at most. */
static size_t memory_for(const paper *p, xir_status expected) {
    meter m = { 0, 0 };
    xir_allocator alloc = { .resize = metered, .user = &m };
    xir_context *with = xir_context_new(&alloc);
    xir_diags *list = xir_diags_new(with);
    format_reading how = { .ctx = with, .name = XIR_STR("x"), .compare = true, .why = list };
    size_t before = m.now;
    m.most = before;
    xir_network *net = unpack_how(p->data, p->size, &how);
    if (expected) assert_int_equal(xir_diags_at(list, 0)->code, expected);
    else assert_non_null(net);
    size_t taken = m.most - before;
    xir_network_free(net);
    xir_diags_free(list);
    xir_context_free(with);
    assert_int_equal(m.now, 0);
    return taken;
}

static void announced_items_take_no_memory(void **state) {
    (void)state;
    enum { BASE = 100000 };   /* an empty network */
    /* Lists in lists, each with as many members as bytes could be left. */
    paper p = { 0 };
    pack_text(&p, NET("3") "'ops' [0 'tags' {1 'a' ", NULL);
    for (int i = 0; i < 24000; i++) put_bytes(&p, "\xDC\xFF\xFF", 3);
    assert_true(memory_for(&p, XIR_E_SYNTAX) < BASE);
    free(p.data);
    /* A count that fits, but whose members are missing. */
    p = (paper){ 0 };
    pack_text(&p, NET("3") "'ops' [0 'tags' {1 'a' #dd00100000", NULL);
    for (int i = 0; i < 0x100000 - 1; i++) put_bytes(&p, "\xA1x", 1 + (i > 0x80000));
    assert_true(memory_for(&p, XIR_E_SYNTAX) < BASE);
    free(p.data);
    /* As many ops as bytes, all empty. */
    p = (paper){ 0 };
    pack_text(&p, NET("2") "'ops' #dd00100000", NULL);
    for (int i = 0; i < 0x100000; i++) put_bytes(&p, "\x80", 1);
    assert_true(memory_for(&p, XIR_E_MISSING) < BASE);
    free(p.data);
    /* As many payloads, of Params that do not exist. */
    p = (paper){ 0 };
    pack_text(&p, NET("3") "'ops' [0 'params' #dd00100000", NULL);
    for (int i = 0; i < 0x100000; i++) put_bytes(&p, "\x90", 1);
    assert_true(memory_for(&p, XIR_E_TYPE) < BASE);
    free(p.data);
    /* Items that exist do take memory: this much for a value of one byte, and no more. */
    p = (paper){ 0 };
    pack_text(&p, NET("3") "'ops' [0 'tags' {1 'a' #dd00100000", NULL);
    for (int i = 0; i < 0x100000; i++) put_bytes(&p, "\xC0", 1);
    assert_true(memory_for(&p, XIR_OK) < BASE + p.size * 6 * sizeof(xir_any));
    free(p.data);
}

static void the_limit_of_the_context_holds_too(void **state) {
    (void)state;
    paper p = { 0 };
    pack_text(&p, TAGS "[1 [1 [1 [0", NULL);
    xir_limits limits = XIR_INIT(xir_limits), less;
    assert_int_equal(xir_context_limits(ctx, &limits, why), XIR_OK);
    less = limits;
    for (uint32_t most = 4; most < 8; most++) {
        less.max_depth = most;
        xir_context_set_limits(ctx, &less, why);
        xir_network *net = try_unpack(p.data, p.size);
        assert_int_equal(net != NULL, most >= 6);
        if (!net) check_finding(XIR_E_LIMIT, "values are nested deeper than");
        xir_network_free(net);
    }
    xir_context_set_limits(ctx, &limits, why);
    free(p.data);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_files_are_refused_at_the_wrong_byte),
        cmocka_unit_test(valid_files_are_read),
        cmocka_unit_test(files_cut_anywhere_are_refused),
        cmocka_unit_test(files_changed_in_any_bit_are_survived),
        cmocka_unit_test(files_torn_anywhere_are_survived),
        cmocka_unit_test(announced_items_take_no_memory),
        cmocka_unit_test(the_limit_of_the_context_holds_too),
    };
    return RUN_GROUP(tests);
}
