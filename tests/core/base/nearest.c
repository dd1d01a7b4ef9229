/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* xir_str_is_nearer: which of several names a misspelled one may mean. */
#include "support/net.h"

static const char *const names[] = { "a", "b", "pad_left", "pad_right", "stride_height", "stride_width", "group",
                                     "groups", "mode", "info", "convert", "/c1/Conv" };

/* The name that a word is taken for; "" for none. */
static xir_str meant(xir_str word) {
    xir_str best = XIR_STR("");
    size_t distance = SIZE_MAX;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (xir_str_is_nearer(word, xir_str_of(names[i]), &distance)) best = xir_str_of(names[i]);
    }
    return best;
}

static void words_are_taken_for_the_nearest_name(void **state) {
    (void)state;
    static const struct { const char *word, *name; } rows[] = {
        { "mode",          "mode"          },   /* same letters            */
        { "mde",           "mode"          },   /* one missing             */
        { "moode",         "mode"          },   /* one added               */
        { "node",          "mode"          },   /* one changed             */
        { "mdoe",          "mode"          },   /* two exchanged           */
        { "gruops",        "groups"        },
        { "groupss",       "groups"        },
        { "grou",          "group"         },
        { "grooups",       "groups"        },
        { "strid_hight",   "stride_height" },   /* three of many           */
        { "pad_rgt",       "pad_right"     },
        { "pad_lxft",      "pad_left"      },
        { "strd_hght",     ""              },   /* four                    */
        { "dede",          ""              },   /* two of four             */
        { "conv",          "convert"       },   /* a beginning             */
        { "pad",           "pad_left"      },   /* … of the shortest       */
        { "Height",        "stride_height" },   /* a part, in any case     */
        { "eight",         ""              },   /* within a part           */
        { "c1",            "/c1/Conv"      },
        { "in",            ""              },   /* a beginning of two      */
        { "mo",            ""              },
        { "c",             ""              },   /* all letters of one      */
        { "",              ""              },
        { "dilation",      ""              },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        xir_str found = meant(xir_str_of(rows[i].word));
        if (!xir_str_equal(found, xir_str_of(rows[i].name)))
            fail_msg("'%s': found '%.*s'", rows[i].word, (int)found.size, found.data);
    }
}

static void long_texts_are_far_from_everything(void **state) {
    (void)state;
    char text[300];
    memset(text, 'x', sizeof text);
    size_t distance = SIZE_MAX;
    assert_true(xir_str_is_nearer((xir_str){ text, 48 }, (xir_str){ text, 47 }, &distance));
    assert_int_equal(distance, 1);
    assert_true(xir_str_is_nearer((xir_str){ text, 48 }, (xir_str){ text, 48 }, &distance));
    assert_int_equal(distance, 0);
    distance = SIZE_MAX;
    assert_false(xir_str_is_nearer((xir_str){ text, 49 }, (xir_str){ text, 48 }, &distance));
    assert_false(xir_str_is_nearer((xir_str){ text, 48 }, (xir_str){ text, 257 }, &distance));
    assert_true(xir_str_is_nearer((xir_str){ text, 48 }, (xir_str){ text, 256 }, &distance));
    distance = SIZE_MAX;
    assert_false(xir_str_is_nearer((xir_str){ NULL, 0 }, (xir_str){ NULL, 0 }, &distance));
    assert_int_equal(distance, SIZE_MAX);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_taken_for_the_nearest_name), cmocka_unit_test(long_texts_are_far_from_everything),
    };
    return RUN_GROUP(tests);
}
