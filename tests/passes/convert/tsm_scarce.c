/* Memory runs out at every allocation of a conversion of TSM, and of a check: see scarce_dialect.h. */
#include "passes/convert/scarce_dialect.h"
#include "support/tsm_make.h"

/* A network with everything that allocates in its own way: an input without elements, fields of packed tensors, a
 * border of another value, computed pads, lists, constants, tables of cells, and what is not converted. */
static const char text[] =
    "inputs 0\noutputs 5,9,10,12,15,16,18\n"
    "n <param> x - #shape=5:4:1,2,6,6\nn _cast x1 0 dtype=5::10\nn <const> w - value=10:3,2,3,3:\n"
    "n conv2d c 1,2 format='NCHW padding=5:4,2:0,0,0,0,1,1,1,1 stride=5:4:1,1,1,1 padding_value=10::1\n"
    "n chunk k 3 chunks=5::2 dim=5::1\nn _field f 4 offset=5::1\n"
    "n <const> size - value=5:4:1,1,2,2\nn <const> step - value=5:4:1,1,2,2\nn _onnx_pooling2d_padding p 1,6,7\n"
    "n pooling2d_v2 y 1,8,6,7 format='NCHW type=5::1\nn quantize q 1 quantize_scale=10:1:2\n"
    "n <const> to - value=5:4:1,2,5,7\nn _resize2d r 1,11 type=5::0\n"
    "n <const> two - value=10:2:1,2+10:2:3,4\nn _field t 13 offset=5::1\nn prelu s 1,14 dim=5::1\n"
    "n detection_output d 1,1,1\nn flatten g 1\nn norm_image h 17\n";

static const char *pass_name(void) { return "tsm-to-xir"; }

static void prepare(want *w) {
    static tsm_made file;
    tsm_make(&file, text);
    w->net = xir_network_read(w->ctx, file.bytes, file.size, XIR_STR("x.tsm"),
                              &XIR_INIT(xir_load_options, .format = "tsm"), w->why);
    xir_diags_clear(w->why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
