/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Memory runs out at every allocation of reading and of writing PNNX: see support/scarce_file.h. */
#include "support/scarce_file.h"
#include "zip/zip.h"

static const char text[] =
    "7767517\n9 5\n"
    "pnnx.Input               in0                      0 1 0 #0=(1,?)f32\n"
    "pnnx.Attribute           a                        0 1 1 @data=(2)cp64 #1=(2)c64\n"
    "nn.Linear                fc                       1 1 0 2 bias=True e=1.000000e-05 l=(1,2) name=x @bias=(2) @weight=(2,4)f32 #0=(1,?)f32 #2=(1,2)f32\n"
    "torch.add                b                        3 1 2 2 1 3 $y=1 $other=2 $input=2 #2=(1,2)f32 #1=(2,2)null\n"
    "pnnx.Expression          e                        1 1 later 4 expr=[1,size(@0,2)] k=1 k=2 #4=(%n)i64 #9=(1)f32\n"
    "torch.t                  e                        1 1 4 later\n"
    "pnnx.Output              pnnx_output_0            1 0 4 #4=(%n)i64\n";

static const scarce_file file = { "pnnx", text, sizeof text - 1, true, NULL };

static void reading(want *w) { scarce_read(w, &file); }
static void writing(want *w) { scarce_write(w, &file); }

/* The type of one weight follows from its bytes. */
static void weights(want *w) {
    static const xir_load_options from = { .size = sizeof from, .format = "pnnx" };
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "pnnx");
    char bytes[32] = { 1 };
    buffer bin, out;
    zip_writer z;
    xir_network *net;
    buffer_init(&bin, &memory_default);
    buffer_init(&out, &memory_default);
    zip_begin(&z, &memory_default, false, keep, &bin);
    zip_add(&z, XIR_STR("a.data"), bytes, 16);
    zip_add(&z, XIR_STR("fc.bias"), bytes, 16);
    zip_add(&z, XIR_STR("fc.weight"), bytes, 32);
    assert_int_equal(zip_end(&z), XIR_OK);
    IN_PLENTY(w, net = scarce_read_once(w, &file));
    TRY_LOOSELY(w, xir_network_read_params(net, bin.data, bin.size, XIR_STR("x.bin"), &from, w->why));
    TRY(w, xir_network_write_params(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&bin);
    buffer_free(&out);
}

/* A module of PyTorch: operators of each form. */
static void module(want *w) {
    static const char lines[] =
        "7767517\n1 1\npnnx.Input i 0 1 a #a=(2,?)f32\npnnx.Attribute p 0 1 p @data=(2)c64\n"
        "nn.Linear f 1 1 a h in_features=4 out_features=2 @bias=(2)f32 @weight=(2,4)f32\n"
        "pnnx.Expression e 2 1 a h l expr=[size(@0,0),int(sqrt(add(@1,1)))]\n"
        "Tensor.reshape r 2 1 h l v\nF.adaptive_avg_pool1d q 1 1 v x output_size=(0)\n"
        "torch.squeeze s 1 1 x y dim=(0)\npnnx.Output o 1 0 y\n";
    static const scarce_file of = { "pnnx", lines, sizeof lines - 1, true, NULL };
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "py", .unchecked = true);
    buffer out;
    xir_network *net;
    buffer_init(&out, &memory_default);
    IN_PLENTY(w, net = scarce_read_once(w, &of));
    TRY(w, xir_network_write(net, keep, &out, &options, w->why));
    IN_PLENTY(w, xir_network_free(net));
    buffer_free(&out);
}

SCARCE_TEST(reading)
SCARCE_TEST(writing)
SCARCE_TEST(weights)
SCARCE_TEST(module)

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_module),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
