/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks whose ops and values are partly alike: a reader that recognises a repetition must be right. */
#ifndef TESTS_JSON_REPEATS_H
#define TESTS_JSON_REPEATS_H

#include "json_net.h"

/* Maps that are partly alike, with a few orders of their keys: a reader must not take a new value for a repeated
 * one. */
enum { MOST_KEYS = 10, ORDERS = 3 };
typedef struct orders { size_t of[ORDERS][MOST_KEYS]; } orders;

static inline orders some_orders(size_t n) {
    orders o;
    for (int k = 0; k < ORDERS; k++) {
        for (size_t i = 0; i < n; i++) o.of[k][i] = i;
        for (size_t i = k ? n : 0; i > 1; i--) {
            size_t j = chance(i), swap = o.of[k][i - 1];
            o.of[k][i - 1] = o.of[k][j];
            o.of[k][j] = swap;
        }
    }
    return o;
}

/* A key and its value, NULL if it is absent; `silent` is the value that an absent key means. */
typedef struct member { const char *key, *value, *silent; } member;

/* The map as XIR writes it, and in one of the orders without some silent members. */
static inline void put_map(paper *written, paper *other, const member *m, size_t n, const orders *o,
                           const member *other_m) {
    const size_t *order = o->of[chance(ORDERS)];
    static const char *const blanks[] = { "", "", " ", "\n  " };
    const char *blank = blanks[chance(4)];
    bool first = true;
    put(written, "{");
    for (size_t i = 0; i < n; i++) {
        if (!m[i].value) continue;
        put(written, "%s\"%s\":", first ? "" : ",", m[i].key);
        put_bytes(written, m[i].value, strlen(m[i].value));
        first = false;
    }
    put(written, "}");
    first = true;
    put(other, "{");
    for (size_t k = 0; k < n; k++) {
        const member *it = &other_m[order[k]];
        if (!it->value || (it->silent && strcmp(it->value, it->silent) == 0 && now_and_then(2))) continue;
        put(other, "%s\"%s\":%s", first ? "" : ",", it->key, blank);
        put_bytes(other, it->value, strlen(it->value));
        first = false;
    }
    put(other, "}");
}

#define ONE_OF(list) (list)[chance(sizeof(list) / sizeof *(list))]

/* A network as XIR writes it, and with other orders and blanks, and without some silent members. */
static inline void random_repeats(paper *written, paper *other) {
    static const char *const reals[] = { "0.5", "0.50390625", "1.0", "\"inf\"", NULL };
    static const char *const targets[] = { "\"@hostt\"", "\"@buyit\"" }, *const names[] = { "\"\"", "\"n\"" };
    static const char *const tags[] = { "{}", "{}", "{\"a\":1}" }, *const types[] = { "null", "\"@bool\"" };
    static const char *const places[] = { "\"@hostm\"", "\"@ocm(1)\"" }, *const extra[] = { NULL, NULL, "1", "[2]" };
    put(written, "{\"_type_key\":\"icraft::xir::Network\",\"ops\":[");
    put(other, "%s", written->data);
    orders of_ops = some_orders(10), of_values = some_orders(8);
    for (int64_t id = 0; id < 12; id++) {
        char op_id[24], v_id[24];
        paper values[2][2] = { { { 0 } } };
        for (int v = 0; v < 2; v++) {
            snprintf(v_id, sizeof v_id, "%" PRId64, 2 * id + v);
            member m[] = { { "_allow_no_data", v ? NULL : now_and_then(2) ? "true" : "false", "false" },
                           { "_type_key", v ? "\"icraft::xir::Value\"" : "\"icraft::xir::Params\"", NULL },
                           { "dtype", ONE_OF(types), NULL }, { "e", ONE_OF(extra), NULL }, { "mtype", ONE_OF(places), "\"@hostm\"" },
                           { "name", ONE_OF(names), "\"\"" }, { "tags", ONE_OF(tags), "{}" }, { "v_id", v_id, NULL } };
            put(&values[v][0], "[");
            put(&values[v][1], "[");
            put_map(&values[v][0], &values[v][1], m, 8, &of_values, m);
            put(&values[v][0], "]");
            put(&values[v][1], "]");
        }
        snprintf(op_id, sizeof op_id, "%" PRId64, id);
        member m[] = { { "_type_key", "\"icraft::xir::ReLU\"", NULL }, { "alpha", ONE_OF(reals), NULL },
                       { "compile_target", ONE_OF(targets), "\"@hostt\"" }, { "inputs", values[0][0].data, NULL },
                       { "max_value", ONE_OF(reals), NULL }, { "name", ONE_OF(names), "\"\"" }, { "op_id", op_id, NULL },
                       { "outputs", values[1][0].data, NULL }, { "tags", ONE_OF(tags), "{}" },
                       { "threshold", ONE_OF(reals), NULL } };
        member n[10];
        memcpy(n, m, sizeof n);
        n[3].value = values[0][1].data;
        n[7].value = values[1][1].data;
        if (id) put(written, ","), put(other, ",");
        put_map(written, other, m, 10, &of_ops, n);
        for (int v = 0; v < 4; v++) free(values[v / 2][v % 2].data);
    }
    put(written, "],\"tags\":{}}");
    put(other, "],\"tags\":{}}");
}

#endif
