/* Memory runs out at every allocation of a conversion of NNB, and of a check: see scarce_dialect.h. */
#include "passes/convert/scarce_dialect.h"
#include "support/nnb_make.h"

/* A network with everything that allocates in its own way: fixed-point values and parameters, signs, feature maps, a
 * window with padding that counts, lists, constants, and what is not converted. */
static const char text[] =
    "nnb 3 45\ninputs 0 1\noutputs 5 8 11 14 18 19\nbuffers 600 600 600 600 600 600 600 600 600 600 600 700\n"
    "v f 1,2,6,6 b0\nv i8:5 1,8 b1\nv f 3,2,3,3 p216\nv f 3 p12\nv f 1,3,6,6 b2\nv f 1,3,4,4 b3\n"
    "v i8:6 8,4 p32\nv i8:7 4 p4\nv i8:3 1,4 b4\nv f 8,4 p128\nv sign 8,4 p4\nv i8:3 1,4 b5\n"
    "v f 1,2,1,1 p8\nv f 1,2,6,6 b6\nv f 1,2,6,9 b7\nv f 2 p8\nv f 1,2,6,6 b8\nv f 1,2,6,6 b9\nv f 1,2,6,6 b10\n"
    "v f 1,2,9,9 b11\n"
    "f 265 0,2,3>4 i1 [1,1] [1,1] [1,1] i1 B0\n"
    "f 267 4>5 [3,3] [2,2] B0 [2,2] B0 B1\n"
    "f 0 1,6,7>8 i1\n"
    "f 235 1,9,10>11 i1 f1\n"
    "f 22 0,12,12,12,12>13 [1] f0.9 f0.1 B0\n"
    "f 123 13>14 [1,2] i1 f0\n"
    "f 21 0,15>16 i1\n"
    "f 158 16>17 i2 B0\n"
    "f 73 17>18\n"
    "f 291 0>19 [9,9] i1 B0 B0 B0 B0\n";

static const char *pass_name(void) { return "nnb-to-xir"; }

static void prepare(want *w) {
    static nnb_made file;
    nnb_make(&file, text);
    w->net = xir_network_read(w->ctx, file.bytes, file.size, XIR_STR("x.nnb"),
                              &XIR_INIT(xir_load_options, .format = "nnb"), w->why);
    xir_diags_clear(w->why);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converting),
        cmocka_unit_test(test_checking),
    };
    return RUN_GROUP(tests);
}
