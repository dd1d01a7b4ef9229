/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The network that every text bench reads or writes, made without the library: one printing function per kind of
 * object, keys in byte order, nothing between tokens, every value in full at each use, as the original writes it. About
 * 810 bytes an operation.
 *
 * Values are numbered as they are placed: the input is 0, and an operation's new parameters come before its outputs. */
#include "bench.h"

#include <openssl/evp.h>
#include <string.h>

#define TENSOR(layout, shape)                                                                      \
    "\"dtype\":{\"_type_key\":\"icraft::xir::TensorType\",\"element_dtype\":\"@fp(32)\","          \
    "\"layout\":\"@layout(" layout ")\",\"merged_distrs\":[],\"shape\":[" shape "]},"
#define PLACE "\"mtype\":\"@hostm\",\"name\":\"\",\"tags\":{},\"v_id\":"

enum {
    MOST_PER_OP = 1024,        /* bytes of text: a Conv2d with ids of nine digits has 1017 */
    PARAM_BYTES = 16 * 16 * 4, /* of a parameter: a 1x1 kernel of fp32 */
    RAW_HEAD    = 16,
    RAW_ENTRY   = 12,
};

typedef struct pen {
    char   *at;
    int64_t v_id, op_id; /* the next of each */
} pen;

static void put(pen *p, const char *s, size_t n)
{
    memcpy(p->at, s, n);
    p->at += n;
}

#define PUT(p, literal) put(p, literal, sizeof literal - 1)

static void put_number(pen *p, int64_t n)
{
    char digits[20], *d = digits + sizeof digits;
    do
        *--d = (char)('0' + n % 10);
    while (n /= 10);
    put(p, d, (size_t)(digits + sizeof digits - d));
}

static void put_value(pen *p, int64_t v_id)
{
    PUT(p, "{\"_type_key\":\"icraft::xir::Value\"," TENSOR("NHWC", "1,56,56,16") PLACE);
    put_number(p, v_id);
    PUT(p, "}");
}

static void put_param(pen *p, int64_t v_id, bool own)
{
    PUT(p, "{\"_allow_no_data\":false,\"_type_key\":\"icraft::xir::Params\",");
    if (own)
        PUT(p, TENSOR("HWIO", "1,1,16,16") PLACE);
    else
        PUT(p, TENSOR("HWIO", "3,3,16,16") PLACE);
    put_number(p, v_id);
    PUT(p, "}");
}

/* Name and number, up to the outputs. */
static void put_ids(pen *p)
{
    PUT(p, ",\"name\":\"\",\"op_id\":");
    put_number(p, p->op_id++);
    PUT(p, ",\"outputs\":[");
}

static void put_conv2d(pen *p, int64_t input, int64_t param, bool own)
{
    PUT(p, ",{\"_type_key\":\"icraft::xir::Conv2d\",\"compile_target\":\"@hostt\","
           "\"cut_scale\":\"@scales([axis=-1])\",\"dilation_height\":1,\"dilation_width\":1,"
           "\"groups\":1,\"inputs\":[");
    put_value(p, input);
    PUT(p, ",");
    put_param(p, param, own);
    PUT(p, "]");
    put_ids(p);
    put_value(p, p->v_id++);
    if (own)
        PUT(p, "],\"pad_bottom\":0,\"pad_left\":0,\"pad_right\":0,\"pad_top\":0");
    else
        PUT(p, "],\"pad_bottom\":1,\"pad_left\":1,\"pad_right\":1,\"pad_top\":1");
    PUT(p, ",\"padding_mode\":\"ZEROS\",\"stride_height\":1,\"stride_width\":1,\"tags\":{}}");
}

static void put_relu(pen *p, int64_t input)
{
    PUT(p, ",{\"_type_key\":\"icraft::xir::ReLU\",\"alpha\":0.0,\"compile_target\":\"@hostt\","
           "\"inputs\":[");
    put_value(p, input);
    PUT(p, "],\"max_value\":\"inf\"");
    put_ids(p);
    put_value(p, p->v_id++);
    PUT(p, "],\"tags\":{},\"threshold\":0.0}");
}

static void put_little(char *to, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (char)(n >> 8 * i);
}

/* The raw file of `n` parameters whose ids are 1, 4, 7, …, as in the chain. */
static char *make_raw(size_t n, size_t *size)
{
    size_t head = RAW_HEAD + RAW_ENTRY * n;
    *size = head + PARAM_BYTES * n;
    char *raw = pages_take(*size);
    if (!raw)
        return NULL;
    memcpy(raw, "\xA5" "ICRAFT_RAW" "\xA5", 12);
    put_little(raw + 12, n, 4);
    for (size_t i = 0; i < n; i++) {
        char *entry = raw + RAW_HEAD + RAW_ENTRY * i, *payload = raw + head + PARAM_BYTES * i;
        put_little(entry, 3 * i + 1, 4);
        put_little(entry + 4, (uint64_t)(payload - raw), 8);
        memset(payload, (int)(i & 63), PARAM_BYTES);
    }
    return raw;
}

static void put_md5(pen *p, const char *bytes, size_t size)
{
    unsigned char md5[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    if (EVP_Digest(bytes, size, md5, &n, EVP_md5(), NULL) != 1)
        return;
    for (unsigned i = 0; i < n; i++) {
        put(p, &"0123456789abcdef"[md5[i] >> 4], 1);
        put(p, &"0123456789abcdef"[md5[i] & 15], 1);
    }
}

char *text_make(size_t ops, size_t *size, char **raw, size_t *raw_size)
{
    char *text = pages_take((ops + 8) * MOST_PER_OP + BENCH_PADDING);
    if (!text)
        return NULL;
    if (raw && !(*raw = make_raw((ops + 1) / 2, raw_size)))
        return NULL;

    pen p = { .at = text };
    PUT(&p, "{\"_type_key\":\"icraft::xir::Network\",\"ai_target\":\"@buyit\","
            "\"framework_kind\":\"PYTORCH\",\"framework_version\":\"1.9\","
            "\"icraft_version\":\"v3.33.1\",\"icraft_xir_version\":\"3.33.1.0\","
            "\"name\":\"bench\",\"ops\":["
            "{\"_type_key\":\"icraft::xir::Input\",\"compile_target\":\"@hostt\",\"inputs\":[]");
    put_ids(&p);
    put_value(&p, p.v_id++);
    PUT(&p, "],\"tags\":{}}");

    int64_t last = 0, param = raw ? 0 : p.v_id++;
    for (size_t i = 0; i < ops; i++) {
        if (i % 2)
            put_relu(&p, last);
        else
            put_conv2d(&p, last, raw ? p.v_id++ : param, raw != NULL);
        last = p.v_id - 1;
    }

    PUT(&p, ",{\"_type_key\":\"icraft::xir::Output\",\"compile_target\":\"@hostt\",\"inputs\":[");
    put_value(&p, last);
    PUT(&p, "]");
    put_ids(&p);
    PUT(&p, "],\"tags\":{}}],\"params_bytes\":");
    if (raw) {
        put_number(&p, (int64_t)*raw_size);
        PUT(&p, ",\"params_md5\":\"");
        put_md5(&p, *raw, *raw_size);
    } else { /* no raw file belongs to it; these two keep the values that were read */
        PUT(&p, "0,\"params_md5\":\"d41d8cd98f00b204e9800998ecf8427e");
    }
    PUT(&p, "\",\"tags\":{}}");
    *size = (size_t)(p.at - text);
    return text;
}

size_t text_ops(const char *text, size_t size)
{
    static const char key[] = "\"op_id\"";
    size_t n = 0;
    const char *end = text + size;
    while ((text = memmem(text, (size_t)(end - text), key, sizeof key - 1))) {
        text += sizeof key - 1;
        n++;
    }
    return n;
}
