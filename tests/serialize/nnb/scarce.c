/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of reading and of writing NNB: see support/scarce_file.h. */
#include "support/nnb_make.h"
#include "support/scarce_file.h"

static const char text[] =
    "nnb 3 44\ninputs 0\noutputs 4\nbuffers 64 64\n"
    "v f 1,2,2,2 b0\nv i8:3 2,2,1,1 p4\nv sign 8 p1\nv f 1,2,2,2 b1\nv 9 1,-2 b0\nv f 4 b1\nv f 3 p12\n"
    "f 1 0,1,2>3 i1 [0,0] [1,1] [1,1] i1\nf 15 3>4 fx7f800000\nf 400/7 3>5 i1\nf 68 5>4\n";

static scarce_file usual(nnb_made *f) {
    nnb_make(f, text);
    return (scarce_file){ "nnb", f->bytes, f->size, false, NULL };
}

/* A file that no exporter writes. */
static scarce_file odd(nnb_made *f) {
    nnb_make(f, text);
    f->bytes[f->size++] = 1;
    return (scarce_file){ "nnb", f->bytes, f->size, false, NULL };
}

/* The layout is made, not kept. */
static scarce_file fresh(nnb_made *f) {
    nnb_make(f, "nnb 3 44\ninputs 0\noutputs 2\nbuffers 4\nv f 1 b0\nv f 1 p4\nv f 1 b0\nf 31 0,1>2 B0\n");
    return (scarce_file){ "nnb", f->bytes, f->size, false, "nnb.file" };
}

static void with_file(want *w, scarce_file (*make)(nnb_made *), void (*scenario)(want *, const scarce_file *)) {
    nnb_made made;
    const scarce_file f = make(&made);
    scenario(w, &f);
}

static void reading(want *w) { with_file(w, usual, scarce_read); }
static void reading_an_unusual_file(want *w) { with_file(w, odd, scarce_read); }
static void writing(want *w) { with_file(w, usual, scarce_write); }
static void writing_an_unusual_file(want *w) { with_file(w, odd, scarce_write); }
static void writing_without_tag(want *w) { with_file(w, fresh, scarce_write); }

SCARCE_TEST(reading)
SCARCE_TEST(reading_an_unusual_file)
SCARCE_TEST(writing)
SCARCE_TEST(writing_an_unusual_file)
SCARCE_TEST(writing_without_tag)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading), cmocka_unit_test(test_reading_an_unusual_file), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_writing_an_unusual_file), cmocka_unit_test(test_writing_without_tag),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
