/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The scenarios of a conversion and of a check while memory is short. Each time the call reports it, nothing leaks, and
 * the network stays valid. With memory again, the conversion continues to the same result. */
#ifndef TEST_CONVERT_SCARCE_DIALECT_H
#define TEST_CONVERT_SCARCE_DIALECT_H

#include <xir/convert.h>
#include <xir/pass.h>
#include "support/op_list.h"
#include "support/scarce.h"

/* The parts of a test: a function that makes w->net, and the pass that converts it. */
static void        prepare(want *w);
static const char *pass_name(void);

/* The ops without the numbers of unnamed values: an attempt that failed may have used some. */
static char *result_of(const xir_network *net) {
    char *list = op_list_typed(net), *to = list;
    for (const char *p = list; *p;) {
        *to++ = *p;
        if (*p == '#' || *p == '%') p += 1 + strspn(p + 1, "0123456789");
        else p++;
    }
    *to = '\0';
    return list;
}

/* The classes of all ops in their order: names of what is in between depend on how often a conversion began. */
static inline char *classes_of(const xir_network *net) {
    char *list = NULL;
    size_t size;
    FILE *out = open_memstream(&list, &size);
    assert_non_null(out);
    for (const xir_op *op = xir_network_first(net); op; op = xir_op_next(op)) {
        const xir_str key = xir_class_key(xir_op_class(op));
        fprintf(out, "%.*s\n", (int)key.size, key.data);
    }
    fclose(out);
    return list;
}

/* A conversion that goes on has what it made before, and makes it again. */
static inline void tidy(want *w) {
    assert_int_equal(xir_pass_run(w->net, "cse", NULL, NULL, w->why), XIR_OK);
    assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK);
}

static void converting(want *w) {
    IN_PLENTY(w, prepare(w));
    assert_non_null(w->net);
    TRY_LOOSELY(w, xir_pass_run(w->net, pass_name(), NULL, NULL, w->why));
    IN_PLENTY(w, w->result = result_of(w->net));
}

static void checking(want *w) {
    IN_PLENTY(w, prepare(w));
    assert_non_null(w->net);
    TRY(w, xir_dialect_check(w->net, w->why));
    IN_PLENTY(w, w->result = result_of(w->net));
}

SCARCE_TEST(converting)
SCARCE_TEST(checking)

#endif
