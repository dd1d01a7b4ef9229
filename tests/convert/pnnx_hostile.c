/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of PNNX whose parameters or dims are as large or as small as a file can say: they are not converted, with a
 * finding; nothing overflows, and the work ends. Tuples that contain themselves or nothing are kept or disappear. */
#include "convert/pnnx_text.h"

/* The network is read and the pass ends; something in it is not converted. */
static void check_stays(const char *inputs, const char *lines, const char *outputs, int line) {
    xir_network *net = pnnx_net(inputs, lines, outputs);
    const xir_status status = xir_pass_run(net, "pnnx-to-xir", NULL, NULL, why);
    if (status == XIR_OK && !xir_network_first_unrunnable(net)) fail_msg("line %d: it is converted", line);
    if (xir_diags_count(why) == 0) fail_msg("line %d: no finding", line);
    xir_network_free(net);
}
#define STAYS(inputs, lines) check_stays(inputs, lines, "y", __LINE__)

static void large_counts(void **state) {
    (void)state;
    STAYS("a=(2147483647)f32", "torch.repeat_interleave r 1 1 a y dim=0 repeats=0\n");
    STAYS("a=(4)f32", "torch.repeat_interleave r 1 1 a y dim=0 repeats=2147483647\n");
    STAYS("a=(1,1,1048575)f32", "nn.AdaptiveMaxPool1d p 1 1 a y output_size=2\n");
    STAYS("a=(4)f32", "torch.diag d 1 1 a y diagonal=-2147483648\n");
    STAYS("a=(4)f32", "torch.diag d 1 1 a y diagonal=2147483647\n");
    STAYS("a=(1,4,3)f32", "nn.Fold f 1 1 a y kernel_size=(2,2) output_size=(-2147483648,3)\n");
    STAYS("a=(1,65536,16711681)f32",
          "nn.Fold f 1 1 a y kernel_size=(65536,1) output_size=(16777216,1) dilation=(1,1) padding=(0,0)\n");
    STAYS("a=(1,4,3,3)f32", "F.interpolate f 1 1 a y mode=nearest scale_factor=1e30\n");
    STAYS("a=(1,4,3,3)f32", "F.interpolate f 1 1 a y mode=nearest scale_factor=(nan,nan)\n");
    STAYS("a=(1)f32", "torch.full f 0 1 y dtype=torch.long fill_value=1e30 size=(2)\n");
    STAYS("a=(2,3)i64", "F.pad f 1 1 a y mode=constant pad=(1,1) value=1e30\n");
}

/* From element 0 on in steps of 2^31 - 1: one element. */
static void a_step_beyond_the_end(void **state) {
    (void)state;
    xir_network *net = pnnx_net("a=(4)f32 b=(1)f32", "Tensor.slice_copy s 2 1 a b y dims=(0) starts=(0) "
                                "ends=(4) steps=(2147483647)\n", "y");
    pnnx_converted(net, "a step beyond the end");
    xir_array *in[2], *out[1];
    pnnx_arrays(net, in);
    pnnx_run(net, out);
    for (size_t i = 0; i < 4; i++)
        assert_true(xir_array_real(out[0], i) == xir_array_real(in[i == 0], i));
    for (size_t i = 0; i < 2; i++) xir_array_free(in[i]);
    xir_array_free(out[0]);
    xir_network_free(net);
}

static void tuples_that_contain_themselves(void **state) {
    (void)state;
    STAYS("a=(4)f32", "prim::TupleConstruct s 2 1 t a y\nprim::TupleConstruct t 1 1 y t\n");
    STAYS("a=(4)f32", "prim::TupleConstruct s 2 1 y a y\n");
}

/* 2^40 times nothing, and 2^40 times the same. */
static void tuples_of_tuples(void **state) {
    (void)state;
    for (int full = 0; full < 2; full++) {
        char lines[4000];
        size_t n = (size_t)snprintf(lines, sizeof lines, "prim::TupleConstruct t0 %d 1 %st0\n", full, full ? "a " : "");
        for (int i = 1; i <= 40; i++)
            n += (size_t)snprintf(lines + n, sizeof lines - n, "prim::TupleConstruct t%d 2 1 t%d t%d t%d\n", i, i - 1,
                                  i - 1, i);
        check_stays("a=(4)f32", lines, "t40", __LINE__);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_counts),
        cmocka_unit_test(a_step_beyond_the_end),
        cmocka_unit_test(tuples_that_contain_themselves),
        cmocka_unit_test(tuples_of_tuples),
    };
    return RUN_GROUP(tests);
}
