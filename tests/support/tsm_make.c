/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/tsm_make.h"
#include <stdlib.h>
#include <string.h>
#include "support/story.h"

static const uint8_t widths[256] = { 0, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 0, 1, 2, 4, 1, 2, 4, 8, 16, 1, 4, 8, 16,
                                     1, 1, 1, 1, 1, 1, 1, 1 };

static void put(tsm_made *out, const void *bytes, size_t n) {
    assert_true(out->size + n <= TSM_MADE_SIZE);
    memcpy(out->bytes + out->size, bytes, n);
    out->size += n;
}

static void put_word(tsm_made *out, uint32_t v) {
    out->size += 4;
    assert_true(out->size <= TSM_MADE_SIZE);
    tsm_set_word(out, out->size - 4, v);
}

static size_t word_size(const char *p) { return strcspn(p, " \n"); }
static const char *after(const char *p) { return p + strspn(p, " "); }

static uint32_t put_list(tsm_made *out, const char *p) {
    uint32_t n = 0;
    const size_t at = out->size;
    put_word(out, 0);
    while (*p >= '0' && *p <= '9') {
        char *end;
        put_word(out, (uint32_t)strtoul(p, &end, 10));
        p = *end == ',' ? end + 1 : end;
        n++;
    }
    tsm_set_word(out, at, n);
    return n;
}

static void put_number(tsm_made *out, unsigned dtype, double v) {
    const float single = (float)v;
    const bool real = dtype == 10 || dtype == 11;
    const uint64_t whole = real ? 0 : v < 0 ? (uint64_t)(int64_t)v : v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
    if (dtype == 10) put(out, &single, 4);
    else if (dtype == 11) put(out, &v, 8);
    else for (size_t i = 0; i < widths[dtype]; i++)
        put(out, &(uint8_t){ (uint8_t)(i < 8 ? whole >> 8 * i : 0) }, 1);
}

/* "5:2,1:3,4", up to the next '+' or blank */
static const char *put_tensor(tsm_made *out, const char *p) {
    char *end;
    const unsigned long dtype = strtoul(p, &end, 10);
    uint64_t n = 1;
    p = end;
    assert_true(*p == ':');
    p++;
    put(out, &(uint8_t){ (uint8_t)dtype }, 1);
    const size_t at = out->size;
    uint32_t rank = 0;
    put_word(out, 0);
    for (; *p != ':'; rank++) {
        const long dim = strtol(p, &end, 10);
        assert_true(end != p);
        put_word(out, (uint32_t)dim);
        n *= (uint64_t)dim;
        p = *end == ',' ? end + 1 : end;
    }
    tsm_set_word(out, at, rank);
    p++;
    for (uint64_t i = 0; widths[dtype & 255] && i < n; i++) {
        const double v = strtod(p, &end);
        put_number(out, (unsigned)dtype, v);
        p = *end == ',' ? end + 1 : end;
    }
    return p;
}

static void put_text_tensor(tsm_made *out, const char *text, size_t n) {
    put_word(out, 1);
    put(out, &(uint8_t){ 13 }, 1);
    put_word(out, 1);
    put_word(out, (uint32_t)n);
    put(out, text, n);
}

static void put_name(tsm_made *out, uint32_t node, uint32_t param, const char *name, size_t n) {
    assert_true(param < TSM_MADE_ITEMS);
    out->params[node][param] = (uint32_t)out->size;
    put_word(out, (uint32_t)n);
    put(out, name, n);
    out->fields[node][param] = (uint32_t)out->size;
}

static void put_param(tsm_made *out, uint32_t node, uint32_t param, const char *p) {
    const size_t n = strcspn(p, "="), all = word_size(p);
    assert_true(n < all);
    put_name(out, node, param, p, n);
    const char *value = p + n + 1;
    if (*value == '\'') {
        put_text_tensor(out, value + 1, all - n - 2);
        return;
    }
    const size_t at = out->size;
    uint32_t fields = 0;
    put_word(out, 0);
    while (value < p + all) {
        value = put_tensor(out, value);
        fields++;
        if (*value == '+') value++;
    }
    tsm_set_word(out, at, fields);
}

static void put_node(tsm_made *out, const char *p) {
    const uint32_t i = out->n_nodes++;
    uint32_t param = 0;
    assert_true(i < TSM_MADE_ITEMS);
    const char *op = p, *name = after(op + word_size(op)), *inputs = after(name + word_size(name));
    p = after(inputs + word_size(inputs));
    out->nodes[i] = (uint32_t)out->size;
    put_word(out, 0);
    if (*op != '*') {
        put_name(out, i, param++, "#name", 5);
        put_text_tensor(out, name, *name == '\'' ? 0 : word_size(name));
        put_name(out, i, param++, "#op", 3);
        put_text_tensor(out, op, word_size(op));
    }
    while (*p && *p != '\n') {
        put_param(out, i, param++, p);
        p = after(p + word_size(p));
    }
    tsm_set_word(out, out->nodes[i], param);
    out->ends[i] = (uint32_t)out->size;
    put_list(out, inputs);
}

void tsm_make(tsm_made *out, const char *text) {
    memset(out, 0, sizeof *out);
    put_word(out, 0);
    put_word(out, 0x19910929);
    out->size = 128;
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        assert_non_null(strchr(line, '\n'));
        if (strncmp(line, "inputs ", 7) == 0) {
            out->inputs = (uint32_t)out->size;
            put_list(out, line + 7);
        } else if (strncmp(line, "outputs ", 8) == 0) {
            out->outputs = (uint32_t)out->size;
            put_list(out, line + 8);
            out->graph = (uint32_t)out->size;
            put_word(out, 0);
        } else {
            assert_true(strncmp(line, "n ", 2) == 0);
            put_node(out, line + 2);
        }
    }
    assert_true(out->graph != 0);
    tsm_set_word(out, out->graph, out->n_nodes);
}
