/* The scenarios of a conversion and of a check while memory is short. Each time the call reports it, nothing leaks, and
 * the network stays valid. With memory again, the conversion continues to the same result. */
#ifndef TEST_CONVERT_SCARCE_DIALECT_H
#define TEST_CONVERT_SCARCE_DIALECT_H

#include <xir/convert.h>
#include <xir/pass.h>
#include "support/op_list.h"
#include "support/scarce.h"

/* What a test gives: a function that makes w->net, and the pass that converts it. */
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
