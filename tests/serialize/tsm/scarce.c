/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of reading and of writing modules of TensorStack: see support/scarce_file.h. */
#include "support/scarce_file.h"
#include "support/tsm_make.h"

static const char usual[] =
    "inputs 0\noutputs 3\nn <param> x - #dtype=5::10 #shape=5:2:1,4\nn <const> w - value=10:4,2:1,2\n"
    "n relu r 0\nn inner_prod p 2,1 format='NCHW list=5:3:1,2,3 transpose=21::1\n";
/* Tags of every kind, Params of attributes, several tensors. */
static const char odd[] =
    "inputs 5\noutputs 0,4\nn add y 1,2\nn * * 5 #op='exp wide=11:2,2:1,2.5 #name='y nan=10::nan u=17:2:1,2\n"
    "n <const> c - device='cpu more=22:2: value=10::1\nn <const> free - value=15:3:\n"
    "n <const> p - value=10:1:1+5:2:3,4\nn <param> x - #shape=7:1:4 extra=10::nan\nn many ' 4,0 a=5::1 b=5::1 c=5::1 "
    "d=5::1 e=5::1 f=5::1 g=5::1 h=5::1 i=5::1 j=5::1 k=5::1 l=5::1 m=5::1 n=5::1 o=5::1 p=5::1 q=5::1 r=5::1 "
    "d=10:2:1,2 d=10:1:1+5:1:2 d=\nn <const> e - value=5::1 value=5::2\n";

static void with_file(want *w, const char *text, void (*scenario)(want *, const scarce_file *)) {
    tsm_made f;
    tsm_make(&f, text);
    f.bytes[0] = 1;
    scenario(w, &(scarce_file){ "tsm", f.bytes, f.size, false, NULL });
}

static void reading(want *w) { with_file(w, usual, scarce_read); }
static void reading_an_unusual_file(want *w) { with_file(w, odd, scarce_read); }
static void writing(want *w) { with_file(w, usual, scarce_write); }
static void writing_an_unusual_file(want *w) { with_file(w, odd, scarce_write); }

SCARCE_TEST(reading)
SCARCE_TEST(reading_an_unusual_file)
SCARCE_TEST(writing)
SCARCE_TEST(writing_an_unusual_file)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading), cmocka_unit_test(test_reading_an_unusual_file), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_writing_an_unusual_file),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
