/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* fuse: an Einsum of one or two operands becomes sums, transpositions and a matrix product, which compute the same. */
#include <string.h>
#include <xir/pass.h>
#include "support/often.h"
#include "support/story.h"

static void becomes(const char *story, const char *expected) {
    xir_network *net = story_net(story), *was = xir_network_clone(net);
    DOES(xir_pass_run(net, "fuse", NULL, NULL, why));
    CHECK_SOUND(net);
    CHECK_STORY(net, expected);
    CHECK_SAME_NUMBERS(was, net);
    xir_network_free(net);
    xir_network_free(was);
}

static void an_einsum_becomes_a_product(void **state) {
    (void)state;
    static const struct { const char *story, *expected; } cases[] = {
        { "a: 2 3; b: 3 4; y = Einsum a b [equation=ij,jk->ik]; out y", "y = Matmul a b; out y" },
        { "a: 2 3; b: 3 4; y = Einsum a b [equation=ij,jk]; out y", "y = Matmul a b; out y" },
        { "a: 2 3; b: params 3 4; y = Einsum a b [equation=ij,jk->ik]; out y", "y = Matmul a b; out y" },
        { "a: 2 3 5 4; b: 2 3 6 4; y = Einsum a b [equation=bhid,bhjd->bhij]; out y",
          "%3 = Transpose b [dims=0,1,3,2 layout=@layout(****)]; y = Matmul a %3; out y" },
        { "a: 5 2 3; b: 3 4; y = Einsum a b [equation=...j,jk->...k]; out y",
          "y = Matmul a b; out y" },
        { "a: 2 3 4; y = Einsum a [equation=abc->ca]; out y",
          "%2 = Sum a [dim=1]; y = Transpose %2 [dims=1,0 layout=@layout(**)]; out y" },
        { "a: 2 3; y = Einsum a [equation=ba]; out y", "y = Transpose a [dims=1,0 layout=@layout(**)]; out y" },
        { "a: 2 3 7; b: 3 4; y = Einsum a b [equation=ijx,jk->ik]; out y",
          "%3 = Sum a [dim=2]; y = Matmul %3 b; out y" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) becomes(cases[i].story, cases[i].expected);
}

static void others_stay(void **state) {
    (void)state;
    static const char *const stories[] = {
        "a: 3 3; y = Einsum a [equation=ii->i]; out y",                                  /* a diagonal       */
        "a: fp32 2; b: fp32 3; y = Einsum a b [equation=i,j->ij]; out y",                          /* nothing is summed */
        "a: 2 3; b: 3 4; c: 4 5; y = Einsum a b c [equation=ab,bc,cd->ad]; out y",
        "a: 2 3; y = Einsum a [equation=ij->ij]; out y",
        "a: sint32 2 3; b: sint32 3 4; y = Einsum a b [equation=ij,jk->ik]; out y",
        "a: params 2 3; b: params 3 4; y = Einsum a b [equation=ij,jk->ik]; out y",      /* fold computes it */
    };
    for (size_t i = 0; i < COUNT(stories); i++) {
        xir_network *net = story_net(stories[i]);
        size_t changes = 1;
        DOES(xir_pass_run(net, "fuse", NULL, &changes, why));
        assert_int_equal(changes, 0);
        xir_network_free(net);
    }
}

/* ---- random equations ------------------------------------------------------------------------------------------- */

/* Writes some of the letters of `from` in random order. */
static void shuffled(const char *from, char *out) {
    size_t n = strlen(from);
    memcpy(out, from, n + 1);
    for (size_t i = n; i > 1; i--) {
        const size_t k = chance(i);
        const char c = out[i - 1];
        out[i - 1] = out[k];
        out[k] = c;
    }
}

static size_t tell(char *text, const char *name, const char *letters, const int *dims, bool thin) {
    size_t n = (size_t)sprintf(text, "%s: fp32", name);
    for (; *letters; letters++)
        n += (size_t)sprintf(text + n, " %d", thin && chance(5) == 0 ? 1 : dims[*letters - 'a']);
    return n + (size_t)sprintf(text + n, "; ");
}

/* Each letter is in one operand or in both, and in the result or not. Some dims are 1 where the other operand's is
 * not. */
static void random_equations_compute_the_same(void **state) {
    (void)state;
    size_t changed = 0;
    for (int i = 0; i < OFTEN(3000); i++) {
        char of[3][8] = { "", "", "" }, in_order[3][8], text[300];
        int dims[7];
        for (char c = 'a'; c < 'a' + 7; c++) {
            const uint64_t where = 1 + chance(3);
            dims[c - 'a'] = 1 + (int)chance(4);
            if (where & 1) strncat(of[0], &c, 1);
            if (where & 2) strncat(of[1], &c, 1);
            if (chance(2)) strncat(of[2], &c, 1);
        }
        if (!*of[0] || !*of[1]) continue;
        for (int k = 0; k < 3; k++) shuffled(of[k], in_order[k]);
        size_t n = tell(text, "x", in_order[0], dims, false);
        n += tell(text + n, "y", in_order[1], dims, true);
        sprintf(text + n, "z = Einsum x y [equation=%s,%s->%s]; out z", in_order[0], in_order[1], in_order[2]);
        xir_network *net = story_net(text), *was = xir_network_clone(net);
        size_t changes;
        DOES(xir_pass_run(net, "fuse", NULL, &changes, why));
        changed += changes > 0;
        CHECK_SOUND(net);
        CHECK_SAME_NUMBERS(was, net);
        xir_network_free(net);
        xir_network_free(was);
    }
    if (changed < OFTEN(1000)) fail_msg("%zu changes: too few for a conclusion", changed);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_einsum_becomes_a_product),
        cmocka_unit_test(others_stay),
        cmocka_unit_test(random_equations_compute_the_same),
    };
    return RUN_GROUP(tests);
}
