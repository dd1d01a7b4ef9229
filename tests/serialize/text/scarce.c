/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of reading and of writing a text: see support/scarce_file.h. */
#include "support/scarce_file.h"

static const char text[] =
    "xir 1\n.name \"n\" .tags {a=[1,2.0,\"\\u0041\"]} .symbols {b=1..4}\n"
    "!t = QuantizedType{scale=@scales([axis=-1]0.5), storage_dtype=int8, expressed_dtype=fp32} NHWC [b,2,2,1]\n"
    "%x#3 in @etm(5) {k=1} more {\"m\"=null} = Input() #7 : !t\n"
    "%y = ReLU(%x) : !t\n"
    "%z = Conv2d(%y, @w as \"v\" : fp32 HWIO [1,1,1,1] = [1.5], @\"\\u0061\" : int4 * [3] = x \"2103\") {stride_width=2, \"u\"=inf} "
    "\"c\" on @buyit : fp32 NHWC [b,1,2,1] absent(pad_top) tags {t=true}\n"
    "%h = HardOp(%z, %late) : none do\n  %s = ReLU(%y) : !t\nend\n%late = ReLU(%x) : !t\nOutput(%h)\n";

static const char twins[] =
    "xir 1\n%1 as \"x\", %2 as \"x\", %3, %4, %5, %6, %7, %8, %9 = Input() : none, none, none, none, none, none, none, none, none\n"
    "Output(%1, %2)\n";

static const char wrong[] = "xir 1\n.nme \"x\"\n%x = Covn2d(%y) : none\nOutput(%z)\n";

static const scarce_file file = { "text", text, sizeof text - 1, false, NULL };
static const scarce_file alone = { "text", text, sizeof text - 1, true, NULL };
static const scarce_file two = { "text", twins, sizeof twins - 1, false, NULL };

static void reading(want *w) { scarce_read(w, &file); }
static void reading_the_structure(want *w) { scarce_read(w, &alone); }
static void writing(want *w) { scarce_write(w, &file); }
static void writing_twins(want *w) { scarce_write(w, &two); }

static void writing_without_ids(want *w) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "text", .unchecked = true, .flags =
                                              XIR_SAVE_NO_IDS);
    buffer out;
    xir_network *net;
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = scarce_read_once(w, &two));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

static void reading_a_part(want *w) {
    xir_op *op;
    IN_PLENTY(w, w->net = scarce_read_once(w, &two));
    static const char part[] = "%77 = Add(%1 as \"x\" : none, @w#78 : fp32 * [1]) \"a\" : none";
    TRY_MAKE(w, op, xir_op_read(w->net, part, sizeof part - 1, "text", w->why));
    assert_int_equal(xir_op_input_count(op), 2);
    IN_PLENTY(w, xir_network_free(w->net); w->net = NULL);
}

/* A text that is wrong stays wrong, whether or not there is memory for its findings. */
static void finding(want *w) {
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    assert_null(xir_network_read(w->ctx, wrong, sizeof wrong - 1, XIR_STR("x"), &from, w->why));
    assert_true(xir_diags_count_of(w->why, XIR_ERROR) > 0);
    IN_PLENTY(w, xir_diags_clear(w->why));
}

SCARCE_TEST(reading)
SCARCE_TEST(reading_the_structure)
SCARCE_TEST(writing)
SCARCE_TEST(writing_twins)
SCARCE_TEST(writing_without_ids)
SCARCE_TEST(reading_a_part)
SCARCE_TEST(finding)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_reading_the_structure),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_writing_twins),
        cmocka_unit_test(test_writing_without_ids),
        cmocka_unit_test(test_reading_a_part),
        cmocka_unit_test(test_finding),
    };
    return RUN_GROUP(tests);
}
