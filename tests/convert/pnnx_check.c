/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Checks of broken PNNX networks. Each has one fault or several; the findings are these faults and nothing else, each
 * with the operator's place, what was expected and what was found. Reading the text itself gives no finding. */
#include <xir/convert.h>
#include "convert/pnnx_text.h"

/* Compares all findings of a check, one a line. */
static void check_findings(const char *inputs, const char *lines, const char *outputs, const char *expected, int line) {
    static char text[4000];
    static const char *const words[] = { "", "warning: ", "note: " };
    xir_network *net = pnnx_net(inputs, lines, outputs);
    size_t n = 0, errors = 0;
    xir_status first = XIR_OK;
    xir_diags_clear(why);
    char *before = picture(net);
    const xir_status status = xir_dialect_check(net, why);
    char *after = picture(net);
    assert_string_equal(before, after);
    free(before);
    free(after);
    *text = '\0';
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s%.*s: %.*s", n ? "\n" : "", words[d->severity],
                              (int)d->path.size, d->path.size ? d->path.data : "", (int)d->message.size,
                              d->message.data);
        if (d->severity == XIR_ERROR && !errors++) first = d->code;
    }
    if (strcmp(text, expected) != 0) print_error("line %d:\nfound:    %s\nexpected: %s\n", line, text, expected);
    assert_string_equal(text, expected);
    assert_int_equal(status, first);
    xir_network_free(net);
}
#define FINDS(inputs, lines, outputs, expected) check_findings(inputs, lines, outputs, expected, __LINE__)

#define IMAGE "a=(1,3,8,8)f32"
/* A convolution with four 3 x 3 filters; the caller adds what it says about its steps. */
#define CONV(more) "nn.Conv2d conv1 1 1 a y bias=False groups=1 in_channels=3 kernel_size=(3,3) out_channels=4 " \
    "padding_mode=zeros @weight=(4,3,3,3)f32 " more "\n"
#define STEPS "dilation=(1,1) padding=(1,1) stride=(1,1)"

static void a_valid_network_has_no_findings(void **state) {
    (void)state;
    FINDS(IMAGE, CONV(STEPS " #y=(1,4,8,8)f32"), "y", "");
    FINDS("a=(?,3,8,8)f32", CONV(STEPS " #y=(?,4,8,8)f32"), "y", "");
}

static void faults_of_windows(void **state) {
    (void)state;
    FINDS(IMAGE, "nn.Conv2d conv1 1 1 a y stride=(1,1) @weight=(4,5,3,3)f32\n", "y",
          "/ops/1: nn.Conv2d 'conv1' (operator 1): icraft::xir::Conv2d 'conv1': input has 3 channels, the kernel takes 5 in each of 1 group: expected channels = I * groups");
    FINDS(IMAGE, CONV("strides=(1,1)"), "y",
          "warning: /ops/1/attribute/strides: nn.Conv2d 'conv1' (operator 1): unknown attribute 'strides'; did you mean 'stride'?");
    FINDS(IMAGE, CONV("stride=wide"), "y",
          "/ops/1/attribute/stride: nn.Conv2d 'conv1' (operator 1): stride: expected a list of integers or an integer, found a text");
    FINDS(IMAGE, CONV("stride=(1,1,1)"), "y",
          "/ops/1/attribute/stride: nn.Conv2d 'conv1' (operator 1): stride: expected 2 items, found 3");
    FINDS(IMAGE, CONV("stride=(0,1)"), "y",
          "/ops/1: nn.Conv2d 'conv1' (operator 1): 0 is below 1, the least stride_height of icraft::xir::Conv2d 'conv1'");
    FINDS(IMAGE, CONV("dilation=(1,-1)"), "y",
          "/ops/1: nn.Conv2d 'conv1' (operator 1): -1 is below 1, the least dilation_width of icraft::xir::Conv2d 'conv1'");
    FINDS("a=(1,3,2,8)f32", CONV(""), "y",
          "/ops/1: nn.Conv2d 'conv1' (operator 1): icraft::xir::Conv2d 'conv1': a kernel of 3 rows with dilation 1 does not fit into 2 rows with padding of 0");
    FINDS("a=(3,8)f32", CONV(""), "y",
          "/ops/1/input/0: nn.Conv2d 'conv1' (operator 1): expected 4 or 3 dims, found 2");
    FINDS(IMAGE, CONV(STEPS " #y=(1,4,7,8)f32"), "y",
          "/ops/1/output/0: nn.Conv2d 'conv1' (operator 1): output 0 'y' has a wrong declared type: expected @fp(32) [1, 4, 8, 8], found @fp(32) [1, 4, 7, 8]");
    FINDS(IMAGE, CONV(STEPS " #y=(1,4,8,8)i64"), "y",
          "/ops/1/output/0: nn.Conv2d 'conv1' (operator 1): output 0 'y' has a wrong declared type: expected @fp(32) [1, 4, 8, 8], found @sint(64) [1, 4, 8, 8]");
    FINDS(IMAGE, "nn.Conv2d conv1 1 1 a y\n", "y",
          "/ops/1: nn.Conv2d 'conv1' (operator 1): the attribute @weight is missing: expected a tensor");
    FINDS(IMAGE, "nn.MaxPool2d p 1 1 a y stride=(2,2)\n", "y",
          "/ops/1: nn.MaxPool2d 'p' (operator 1): the attribute kernel_size is missing");
    FINDS(IMAGE, "nn.MaxPool2d p 1 1 a y kernel_size=(2,2) padding=(2,0) stride=(2,2)\n", "y",
          "/ops/1/attribute/padding: nn.MaxPool2d 'p' (operator 1): padding[0]: expected at most 1, half a window, found 2");
    FINDS(IMAGE, "nn.BatchNorm2d b 1 1 a y eps=1e-5 @running_mean=(4)f32 @running_var=(3)f32\n", "y",
          "/ops/1: nn.BatchNorm2d 'b' (operator 1): expected 4 elements for each statistic, found 3");
}

static void faults_of_the_graph(void **state) {
    (void)state;
    FINDS(IMAGE, "torch.bmm m 2 1 a ghost y\n", "y",
          "/ops/1/input/1: torch.bmm 'm' (operator 1): input 1 'ghost' is undefined: expected operator output, or that of a pnnx.Input");
    FINDS(IMAGE, "F.relu r 1 1 a y\n", "y ghost",
          "/outputs/1: output 'ghost' is undefined: expected operator output, or that of a pnnx.Input");
    FINDS(IMAGE, "F.rellu r 1 1 a y\n", "y",
          "/ops/1: F.rellu 'r' (operator 1): the set of operators of PNNX has no F.rellu; did you mean 'F.relu'?");
    FINDS(IMAGE, "aten::rellu r 1 1 a y\n", "y",
          "note: /ops/1: aten::rellu 'r' (operator 1): aten::rellu is unknown: it was not checked");
    FINDS(IMAGE, "torch.eq e 2 1 a q p\nF.relu f 1 1 p q\nF.relu g 1 1 q y\n", "y",
          "/ops/1: the graph has a cycle: 'e' (operator 1) needs 'f' (operator 2) needs 'e' (operator 1)");
    FINDS(IMAGE, "F.relu f 1 1 a y\nF.tanh g 1 1 a y\n", "y",
          "/ops/2/output/0: F.tanh 'g' (operator 2): output 0: duplicate name 'y'; expected a unique name");
    FINDS(IMAGE, "F.relu f 1 1 p y\nF.tanh g 1 1 a p\n", "y",
          "/ops/1/input/0: F.relu 'f' (operator 1): input 0 'p' is used before it is made: expected 'g' (operator 2) earlier");
    FINDS(IMAGE, "F.relu f 1 1 a p\nF.tanh f 1 1 p y\n", "y",
          "warning: /ops/2/name: F.tanh 'f' (operator 2): duplicate name; expected a unique one, found that of operator 1");
    FINDS(IMAGE, "F.relu f 2 1 a a y\n", "y",
          "/ops/1: F.relu 'f' (operator 1): expected 1 input, found 2");
    FINDS(IMAGE, "F.relu f 1 2 a y z\n", "y",
          "/ops/1: F.relu 'f' (operator 1): expected 1 output, found 2");
    FINDS(IMAGE, "torch.bmm m 2 1 a a y $input=a $mat3=a\n", "y",
          "/ops/1/input/1: torch.bmm 'm' (operator 1): there is no input 'mat3'");
    FINDS(IMAGE, "torch.bmm m 1 1 a y\n", "y",
          "/ops/1: torch.bmm 'm' (operator 1): expected 2 inputs, found 1");
}

static void faults_of_dims(void **state) {
    (void)state;
    FINDS("a=(1,3,8,8)f32 b=(1,4,1,1)f32", "pnnx.Expression e 2 1 a b y expr=add(@0,@1)\n", "y",
          "/ops/1: pnnx.Expression 'e' (operator 1): icraft::xir::Add 'e': dim -3 of lhs is 3, that of rhs is 4: expected the same or 1");
    FINDS(IMAGE, "Tensor.reshape r 1 1 a y shape=(1,190)\n", "y",
          "/ops/1: Tensor.reshape 'r' (operator 1): icraft::xir::Reshape 'r': input has 192 elements: expected 190, the product of 'shape'");
    FINDS(IMAGE, "Tensor.reshape r 1 1 a y shape=(-1,-1)\n", "y",
          "/ops/1: Tensor.reshape 'r' (operator 1): icraft::xir::Reshape 'r': dims 0 and 1 are both -1: expected at most one");
    FINDS(IMAGE, "torch.cat c 2 1 a a y dim=4\n", "y",
          "/ops/1/attribute/dim: torch.cat 'c' (operator 1): expected an axis from -4 to 3 of a tensor with 4 dims, found 4");
    FINDS("a=(1,3,8,8)f32 b=(1,3,7,8)f32", "torch.cat c 2 1 a b y dim=1\n", "y",
          "/ops/1: torch.cat 'c' (operator 1): icraft::xir::Concat 'c': dim 2 of input 1 is 7: expected 8, as in the inputs before it");
    FINDS("a=(2,5)f32", "nn.Linear l 1 1 a y bias=False in_features=4 out_features=3 @weight=(3,4)f32\n", "y",
          "/ops/1: nn.Linear 'l' (operator 1): icraft::xir::Matmul 'l': k has 4 rows, x has 5 columns: expected the same");
    FINDS("a=(2,5)f32 b=(4,3)f32", "torch.mm l 2 1 a b y $input=a $mat2=b\n", "y",
          "/ops/1: torch.mm 'l' (operator 1): icraft::xir::Matmul 'l': k has 4 rows, x has 5 columns: expected the same");
    FINDS("a=(2,5)f32 b=(5,3)i64", "torch.mm l 2 1 a b y $input=a $mat2=b\n", "y",
          "/ops/1/input/1: torch.mm 'l' (operator 1): input 1 (mat2): expected float, like input 0 (input), found int64");
    FINDS(IMAGE, "Tensor.permute p 1 1 a y dims=(0,1,1,2)\n", "y",
          "/ops/1/attribute/dims: Tensor.permute 'p' (operator 1): dims: expected each dim once, found 1 twice");
    FINDS(IMAGE, "Tensor.permute p 1 1 a y dims=(0,1,2)\n", "y",
          "/ops/1/attribute/dims: Tensor.permute 'p' (operator 1): dims: expected 4 items, found 3");
    FINDS(IMAGE, "torch.unsqueeze p 1 1 a y dim=7\n", "y",
          "/ops/1/attribute/dim: torch.unsqueeze 'p' (operator 1): expected an axis from -5 to 4 of a tensor with 5 dims, found 7");
    FINDS(IMAGE, "torch.mean p 1 1 a y dim=(1,4) keepdim=True\n", "y",
          "/ops/1: torch.mean 'p' (operator 1): icraft::xir::Mean 'p': dim 4 is outside the 4 dims of input");
    FINDS(IMAGE, "F.softmax p 1 1 a y dim=-5\n", "y",
          "/ops/1/attribute/dim: F.softmax 'p' (operator 1): expected an axis from -4 to 3 of a tensor with 4 dims, found -5");
    FINDS(IMAGE, "torch.chunk p 1 3 a y z w chunks=2 dim=1\n", "y",
          "/ops/1: torch.chunk 'p' (operator 1): expected at most 2 outputs, found 3");
    FINDS(IMAGE, "torch.split p 1 2 a y z split_size_or_sections=(1,1) dim=1\n", "y",
          "/ops/1: torch.split 'p' (operator 1): icraft::xir::Split 'p': the sum of the sections is 2, but dim 1 of input is 3");
    FINDS(IMAGE, "nn.PixelShuffle p 1 1 a y upscale_factor=2\n", "y",
          "/ops/1/input/0: nn.PixelShuffle 'p' (operator 1): expected a multiple of 4 channels, found 3");
    FINDS(IMAGE, "F.interpolate p 1 1 a y mode=lanczos size=(2,2)\n", "y",
          "/ops/1/attribute/mode: F.interpolate 'p' (operator 1): mode: expected one of nearest|nearest-exact|linear|bilinear|trilinear|bicubic|area, found 'lanczos'");
    FINDS(IMAGE, "F.pad p 1 1 a y mode=reflect pad=(9,0) value=None\n", "y",
          "/ops/1: F.pad 'p' (operator 1): icraft::xir::Pad 'p': padding of 9 and 0 around dim 3: REFLECTION of 8 gives at most 7");
    FINDS(IMAGE, "F.pad p 1 1 a y mode=constant pad=(1,0,1) value=None\n", "y",
          "/ops/1/attribute/pad: F.pad 'p' (operator 1): expected an even number of at most 8 items, found 3");
    FINDS(IMAGE, "nn.GLU g 1 1 a y dim=1\n", "y",
          "/ops/1/input/0: nn.GLU 'g' (operator 1): dim 1: expected an even number of elements, found 3");
    FINDS(IMAGE, "torch.topk t 1 2 a y z dim=1 k=5 largest=True sorted=True\n", "y",
          "/ops/1: torch.topk 't' (operator 1): icraft::xir::TopK 't': k is 5, but axis 1 has 3 elements");
    FINDS("a=(5)f32", "nn.Embedding e 1 1 a y embedding_dim=4 num_embeddings=3 @weight=(3,4)f32\n", "y",
          "/ops/1/input/0: nn.Embedding 'e' (operator 1): input 0 (input): expected integers, found float");
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_valid_network_has_no_findings),
        cmocka_unit_test(faults_of_windows),
        cmocka_unit_test(faults_of_the_graph),
        cmocka_unit_test(faults_of_dims),
    };
    return RUN_GROUP(tests);
}
