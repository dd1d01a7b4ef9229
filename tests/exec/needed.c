/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* NEEDS rows against brute force: an element of an input is changed, the op is computed again, and the elements of the
 * outputs that differ are those that depend on it. What a part of an output needs must have all elements on which one
 * of the part depends, and no smaller box may, if the answer is exact. Ops come from patterns, whose attributes and
 * dims are random:
 *
 *     <2..4>   a number from 2 to 4        <h=2..4>   the same, which is then called h     <h>   that number again
 *     <a|b>    one of these words          <h*w> <h+w> <h/w>                               of two such numbers
 *
 * Patterns that inference refuses for some numbers are tried again. Every class with a row must have a pattern. */
#include <inttypes.h>
#include <stdio.h>
#include <xir/exec.h>
#include "support/op_case.h"
#include "graph.h"

static const char *const patterns[] = {
    "Add(fp32 - <a=1..3>x<b=2..3>, fp32 - <1|2|3>) alpha=[2]",
    "Add(fp32 NC <1..3>x<c=2..3>, fp32 NC 1x<c>)",
    "Multiply(fp32 - <a=2..3>x1x<b=1..2>, fp32 - <2..3>x<b>)",
    "Div(fp32 - <a=2..4>x<b=2..3>, fp32 - <a>x1)",
    "DivideScalar(fp32 - <2..4>x<1..3>) divisor=2",
    "Maximum(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1)", "Minimum(fp32 - <a=2..4>x<1..3>, fp32 - 1x1)",
    "Mod(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1) fmod=true",
    "Pow(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1)", "PReLU(fp32 NC <2..3>x2) alpha=param(fp32 - 2 = 0.5 0.25)",
    "Cast(fp32 NC <a=2..3>x<b=1..3>) target_dtype=(fp64 NC <a>x<b>)",
    "Cast(fp32 NC <a=2..3>x<b=1..3>) target_dtype=(fp32 <NC|CN> <a>x<b>)",
    "Quantize(fp32 - <a=2..3>x<b=2..3>) target_dtype=(q8{@scales([axis=-1]<b>*2)} - <a>x<b>)",
    "BitCast(fp32 - <a=2..3>x<b=2..3>) target_dtype=(i32 - <a>x<b>)",
    "Equal(bool - <a=2..4>x<1..3>, bool - <a>x1)", "NotEqual(bool - <a=2..4>x<1..3>, bool - <a>x1)",
    "Greater(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1)", "GreaterEqual(fp32 - <a=2..4>x<1..3>, fp32 - 1)",
    "Less(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1)", "LessEqual(fp32 - <a=2..4>x<1..3>, fp32 - <a>x1)",
    "Not(bool - <2..4>x<1..3>)", "And(bool - <a=2..4>x<1..3>, bool - <a>x1)", "Or(bool - <a=2..4>x<1..3>, bool - 1)",
    "Xor(bool - <a=2..4>x<1..3>, bool - <a>x1)",
    "Where(fp32 - <a=2..4>x<b=1..3>, fp32 - <a>x1, bool - <b>)",
    /* windows */
    "Conv2d(fp32 <NHWC|NCHW> <1..2>x<2..6>x<2..6>x<2..6>, fp32 HWIO <1..3>x<1..3>x<1..3>x<1..3>, fp32 - <1..3>) "
        "stride_height=<1..3> stride_width=<1..2> pad_top=<-1..3> pad_left=<0..3> pad_bottom=<0..2> "
        "dilation_height=<1..3> dilation_width=<1..2>",
    "Conv2d(fp32 NHWC 1x<4..6>x<4..6>x2, fp32 HWIO <1..3>x<1..3>x2x<1..3>) pad_top=<0..3> pad_bottom=<0..3> "
        "pad_left=<0..2> pad_right=<0..3> padding_mode=<REFLECT|REPLICATE|CIRCULAR> stride_height=<1..3> "
        "dilation_width=<1..2>",
    "Conv2d(fp32 NHWC 1x3x<2..4>x<g=2..3>, fp32 HWIO 2x2x1x<g*2>) groups=<g> pad_top=<0..1> pad_left=<0..2>",
    "Conv2d(fp32 NHWC 1x3x3x4, fp32 HWIO 2x1x2x<2|4>) groups=2 pad_top=<0..4> stride_height=<1..4>",
    "Conv1d(fp32 <NLC|NCL> <1..2>x<3..9>x<3..9>, fp32 LIO <1..4>x<1..9>x<1..3>, fp32 - <1..3>) stride_width=<1..5> "
        "pad_left=<-1..6> pad_right=<0..6> dilation_width=<1..4>",
    "Conv1d(fp32 NLC 1x<2..9>x2, fp32 LIO <1..4>x2x1) stride_width=<1..5> pad_left=<0..6> pad_right=<0..6> "
        "dilation_width=<1..4>",
    "Conv3d(fp32 NDHWC 1x<2..3>x<2..3>x<2..3>x1, fp32 DHWIO <1..2>x<1..2>x2x1x2) pad_front=<0..1> pad_left=<0..1> "
        "stride_depth=<1..2>",
    "ConvTranspose1d(fp32 NLC <1..2>x<2..5>x<c=1..2>, fp32 LOI <1..3>x<1..2>x<c>) stride_width=<1..4> "
        "pad_left=<-1..3> pad_right=<-1..2> dilation_width=<1..3>",
    "ConvTranspose2d(fp32 <NHWC|NCHW> 1x<2..3>x<2..3>x<2..3>, fp32 HWOI <1..3>x<1..3>x2x<2..3>, fp32 - 2) "
        "stride_height=<1..3> stride_width=<1..2> pad_top=<0..2> pad_left=<0..1> output_pad_height=<0..1> "
        "dilation_height=<1..2>",
    "ConvTranspose2d(fp32 NHWC 1x2x2x4, fp32 HWOI 2x2x<1..2>x4) groups=2 stride_width=<1..2>",
    "ConvTranspose3d(fp32 NDHWC 1x2x<1..2>x2x1, fp32 DHWOI <1..2>x<1..2>x2x2x1) stride_depth=<1..2> pad_top=<0..1>",
    "AvgPool1d(fp32 NLC <1..2>x<3..9>x<1..2>) pool_width=<1..4> stride_width=<1..5> pad_left=<0..5> pad_right=<0..5> "
        "count_include_pad=<true|false>",
    "AvgPool2d(fp32 <NHWC|NCHW> 1x<3..6>x<3..6>x<2..6>) pool_width=<1..3> pool_height=<1..3> stride_width=<1..3> "
        "stride_height=<1..4> pad_top=<0..3> pad_right=<0..2>",
    "AvgPool3d(fp32 NDHWC 1x<2..4>x<2..3>x<2..3>x1) pool_depth=<1..2> pool_width=<1..2> pool_height=<1..2> "
        "stride_depth=<1..2> pad_front=<0..2>",
    "MaxPool1d(fp32 NLC <1..2>x<3..9>x<1..2>) pool_width=<1..4> stride_width=<1..5> pad_left=<0..5> pad_right=<0..5> "
        "dilation_width=<1..3>",
    "MaxPool2d(fp32 <NHWC|NCHW> 1x<3..6>x<3..6>x<2..6>) pool_width=<1..3> pool_height=<1..3> stride_width=<1..3> "
        "stride_height=<1..4> pad_top=<0..3> pad_right=<0..2> dilation_height=<1..3>",
    "MaxPool3d(fp32 NDHWC 1x<2..4>x<2..3>x<2..3>x1) pool_depth=<1..2> pool_width=<1..2> pool_height=<1..2> "
        "stride_depth=<1..2> pad_front=<0..2>",
    "Unfold(fp32 <NHWC|NCHW> 1x<2..4>x<2..4>x<1..4>) kernel_width=<1..2> kernel_height=<1..2> stride_width=<1..2> "
        "pad_left=<0..1> pad_top=<0..1> dilation_height=<1..2>",
    "Resize(fp32 NLC <1..2>x<1..7>x2) dsize=[<1..14>] interpolation=<INTER_NEAREST|INTER_LINEAR>",
    "Resize(fp32 <NHWC|NCHW> 1x<2..5>x<2..5>x<2..5>) dsize=[<1..9>,<1..9>] interpolation=<INTER_NEAREST|INTER_LINEAR>",
    "Resize(fp32 NDHWC 1x2x<2..3>x2x1) dsize=[<1..5>,<1..4>,<1..4>] interpolation=INTER_LINEAR",
    "Upsample(fp32 <NHWC|NCHW> 1x<2..6>x<2..6>x<2..6>) height=<1..12> width=<1..7> "
        "interpolation=<NEAREST|BILINEAR|BICUBIC> align_corners=<true|false>",
    "GridSample(fp32 NHWC <n=1..2>x<2..4>x<2..4>x2, fp32 NHWC <n>x2x<1..3>x2) padding_mode=<ZEROS|BORDER>",
    /* norms */
    "BatchNorm1d(fp32 NLC <1..2>x2x2) variance=param(fp32 - 2 = 2 3) mean=param(fp32 - 2 = 1 4)",
    "BatchNorm2d(fp32 NHWC <1..2>x2x2x2) variance=param(fp32 - 2 = 2 3) mean=param(fp32 - 2 = 1 4)",
    "BatchNorm3d(fp32 NDHWC <1..2>x2x1x2x2) variance=param(fp32 - 2 = 2 3) mean=param(fp32 - 2 = 1 4)",
    "InstanceNorm1d(fp32 <NLC|NCL> <1..3>x<3..4>x3)", "InstanceNorm2d(fp32 <NHWC|NCHW> <1..2>x<2..3>x3x2)",
    "InstanceNorm3d(fp32 NDHWC <1..2>x2x1x2x2)",
    "LayerNorm(fp32 - <2..3>x<2..3>x<2..3>) axis=[<0..2>,<-3..-1>]", "LayerNorm(fp32 - <2..3>x<2..3>) axis=[<-2..1>]",
    "RMSNorm(fp32 - <2..3>x<2..3>x<2..3>) axis=[<0..2>,<-3..-1>]",
    "Normalize(fp32 - <2..3>x<2..3>x<2..3>) axis=[<0..2>,<-3..-1>] p=<1..3>", "Normalize(fp32 - <2..3>x<2..3>) axis=[]",
    "Softmax(fp32 - <2..3>x<2..3>x<2..3>) axis=<-1..2>", "LogSoftmax(fp32 - <2..3>x<2..3>x<2..3>) axis=<-3..2>",
    "GroupNorm(fp32 <NHWC|NCHW> <1..2>x<2|4>x<2|4>x<2|4>) groups=<1|2>",
    "GroupNorm(fp32 NLC <1..2>x<2..3>x6) groups=<1|2|3>",
    /* reductions */
    "Argmax(fp32 - <2..3>x<2..3>x<2..3>) dim=<-3..2> keepdim=<true|false>", "Argmax(fp32 - <2..3>x<2..3>)",
    "Argmin(fp32 - <2..3>x<2..3>x<2..3>) dim=<-3..2> keepdim=<true|false>", "Argmin(fp32 - <2..3>x<2..3>) keepdim=true",
    "Max(fp32 - <2..3>x<2..3>x<2..3>) dim=<-3..2> keepdim=<true|false>", "Max(fp32 - <2..3>x<2..3>)",
    "Min(fp32 - <2..3>x<2..3>x<2..3>) dim=<-3..2> keepdim=<true|false>", "Min(fp32 - <2..3>x<2..3>) keepdim=true",
    "Mean(fp32 - <2..3>x<2..3>x<2..3>) dim=[<0..2>,<-3..-1>] keepdim=<true|false>", "Mean(fp32 - <2..3>x2) dim=[]",
    "Sum(fp32 - <2..3>x<2..3>x<2..3>) dim=[<0..2>,<-3..-1>] keepdim=<true|false>", "Sum(fp32 - <2..3>x2) dim=[<-2..1>]",
    "Prod(fp32 - <2..3>x<2..3>x<2..3>) dim=[<0..2>,<-3..-1>] keepdim=<true|false>", "Prod(fp32 - <2..3>x2) dim=[<0..1>]",
    "CumSum(fp32 - <2..4>x<2..5>) axis=<-2..1> exclusive=<true|false> reverse=<true|false>",
    "TopK(fp32 - <3..4>x<3..5>, param i64 - 1 = <1..3>) axis=<-2..1> largest=<true|false>",
    /* products */
    "Matmul(fp32 - <n=1..3>x<m=2..3>, fp32 - <m>x<1..3>, fp32 - 1)",
    "Matmul(fp32 - <2..3>x1x<n=1..3>x<m=2..3>, fp32 - <1..3>x<m>x<p=1..3>, fp32 - <n>x<p>)",
    "Matmul(fp32 - <m=2..3>, fp32 - <2..3>x<m>x<1..3>)", "Matmul(fp32 - <2..3>x<2..3>x<m=2..3>, fp32 - <m>)",
    "Matmul(fp32 - <m=1..3>, fp32 - <m>)",
    "Einsum(fp32 - <b=1..3>x<i=2..3>x<j=2..3>, fp32 - <b>x<j>x<2..3>) equation=\"bij,bjk-><bik|kbi|bk|>\"",
    "Einsum(fp32 - <i=2..3>x<i>x<2..3>) equation=\"iij-><ij|ji|i>\"",
    "Einsum(fp32 - 2x<i=2..3>x<j=2..3>, fp32 - <j>x1x2) equation=\"...ij,j...-><i...|...i>\"",
    /* reshapes */
    "Reshape(fp32 - <a=1..3>x<b=2..3>x<c=2..4>) shape=[<a*b>,<c>] layout=@layout(**)",
    "Reshape(fp32 - <a=1..3>x<b=2..3>x<c=2..4>) shape=[<a>,<b*c>] layout=@layout(**)",
    "Reshape(fp32 - <a=2..3>x<b=2..3>x4) shape=[<a>,2,<b>,2] layout=@layout(****)",
    "Reshape(fp32 - <a=1..3>x1x<b=2..3>) shape=[<b>,<a>,1] layout=@layout(***)",
    "Transpose(fp32 - <2..3>x<2..3>x<2..3>) dims=[<0|1|2>,<0|1|2>,<-3..-1>] layout=@layout(***)",
    "Squeeze(fp32 - 1x<2..3>x1x<2..3>) axis=[<0|2|-2>]", "Squeeze(fp32 - 1x<2..3>x1x<2..3>) axis=[]",
    "Expand(fp32 - 1x<2..3>x1) sizes=[<2..3>,<1..3>,-1,<1..3>]",
    "Tile(fp32 - <2..3>x<1..3>) dims=[<1..2>,<1..3>,<1..3>]",
    "ChannelShuffle(fp32 <NC|CN|**> <2|4|6>x<2|4|6>) groups=<1..3>",
    "PixelShuffle(fp32 <NHWC|NCHW> 1x<2|4>x<2|4>x<2|4|8>) upscale_factor=<1..2>",
    "PixelShuffle(fp32 NHWC 1x1x2x9) upscale_factor=3",
    "Copy(fp32 - <2..3>x<2..3>)",
    /* parts */
    "Slice(fp32 - <3..6>x<3..6>) begin=[<-6..4>,<-6..4>] end=[<-7..7>,<-7..7>] stride=[<-3..3>,<1..3>]",
    "Split(fp32 - <a=2..5>x<b=2..3>) sections=[1,<b>,<1..2>] axis=<-2..1>",
    "Split(fp32 - 5x3) sections=[<1..4>,<1..4>] axis=0", "Unstack(fp32 - <2..3>x<2..3>x<1..3>) dim=<-3..2>",
    "Concat(fp32 - <a=2..3>x<b=1..3>, fp32 - <a>x<1..3>, fp32 - <a>x<b>) axis=<-1|1>",
    "Concat(fp32 - <1..3>x<b=1..3>, fp32 - <1..3>x<b>) axis=0",
    "Stack(fp32 - <a=2..3>x<b=1..3>, fp32 - <a>x<b>, fp32 - <a>x<b>) dim=<-3..2>",
    "Pad(fp32 - <2..5>x<2..5>) padding=[<-1..3>,<-1..3>,<0..3>,<0..3>] mode=<CONSTANT|REFLECTION|REPLICATION|SYMMETRIC>",
    "Roll(fp32 - <2..5>x<2..5>) shifts=[<-3..6>,<-3..6>] dims=[0,<0|1>]", "Roll(fp32 - <2..3>x<2..3>) shifts=[<1..3>]",
    "SwapOrder(fp32 - <2..3>x4) order=[<0|3>,2,<0|3>,1] axis=<-1|1>",
    "Shape(fp32 - <2..3>x<2..3>)",
    "Gather(fp32 - <3..4>x<3..4>x2, i64 - 2x2 = 0 2 1 <0..2>) axis=<-3|-2|0|1>",
    "GatherElements(fp32 - 3x4, i64 - 2x3 = 0 2 1 <0..2> <0..2> 0) axis=<0..1>",
    "GatherND(fp32 - 3x2x3, i64 - 3x2 = 0 1 2 1 1 <0..1>) batch_dims=0",
    "GatherND(fp32 - 2x3x2, i64 - 2x1 = 0 <0..2>) batch_dims=1",
    "ScatterND(fp32 - 3x2x2, i64 - 2x1 = 0 <1..2>, fp32 - 2x2x2) reduction=<NONE|ADD>",
    /* sequences */
    "Attention(fp32 - <n=1..2>x2x3x2, fp32 - <n>x<1..2>x2x2, fp32 - <n>x1x2x2) is_causal=<true|false>",
    "Attention(fp32 - <n=1..2>x2x4, fp32 - <n>x3x4, fp32 - <n>x3x2) q_num_heads=2 kv_num_heads=2",
    "LSTM(fp32 - 2x<2..3>x2, fp32 - 1x8x2, fp32 - 1x8x2) hidden_size=2",
    "LSTM(fp32 - <n=1..2>x2x2, fp32 - 1x8x2, fp32 - 1x8x2, -, -, fp32 - <n>x1x2) hidden_size=2 layout=1",
    "GRU(fp32 - 2x<n=1..2>x2, fp32 - 2x6x2, fp32 - 2x6x2, -, -, fp32 - 2x<n>x2) hidden_size=2 direction=BIDIRECTIONAL",
    "RNN(fp32 - <2..3>x2x2, fp32 - 1x2x2, fp32 - 1x2x2) hidden_size=2 direction=<FORWARD|REVERSE> layout=<0..1>",
};

/* ---- patterns --------------------------------------------------------------------------------------------------- */

static uint64_t state;

static int64_t below(int64_t n) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((state >> 33) % (uint64_t)n);
}
static int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }

/* The number called by a letter. */
static int64_t named[128];

static int64_t number_of(const char *hole) {
    const size_t size = strlen(hole);
    char *end;
    if (size == 1 && *hole >= 'a') return named[(unsigned char)*hole];
    if (size == 3 && *hole >= 'a' && strchr("*+/", hole[1])) {
        const int64_t a = named[(unsigned char)*hole];
        const int64_t b = hole[2] >= 'a' ? named[(unsigned char)hole[2]] : hole[2] - '0';
        return hole[1] == '*' ? a * b : hole[1] == '+' ? a + b : b ? a / b : 0;
    }
    const char *range = hole + (hole[1] == '=' ? 2 : 0);
    const int64_t low = strtoll(range, &end, 10);
    if (end == range || strncmp(end, "..", 2) != 0) fail_msg("<%s> is not a hole", hole);
    const int64_t n = between(low, strtoll(end + 2, NULL, 10));
    if (range != hole) named[(unsigned char)*hole] = n;
    return n;
}

static size_t put_word(const char *hole, char *out) {
    size_t n = 1, k;
    for (const char *p = hole; *p; p++) n += *p == '|';
    for (k = (size_t)below((int64_t)n); k > 0; k--) hole = strchr(hole, '|') + 1;
    k = strcspn(hole, "|");
    memcpy(out, hole, k);
    return k;
}

static void fill(const char *pattern, char *out) {
    for (; *pattern; pattern++) {
        char hole[200];
        const size_t size = strcspn(pattern, ">");
        if (*pattern != '<') {
            *out++ = *pattern;
            continue;
        }
        snprintf(hole, sizeof hole, "%.*s", (int)size - 1, pattern + 1);
        if (strchr(hole, '|')) out += put_word(hole, out);
        else out += sprintf(out, "%" PRId64, number_of(hole));
        pattern += size;
    }
    strcpy(out, " ->");
}

/* ---- brute force ------------------------------------------------------------------------------------------------ */

enum { MOST_ELEMENTS = 1024, KINDS = 4, PROBES = 3, BOXES = 12 };

/* Dependences: bit e of depends[input][element] stands for element e of the output. */
typedef struct relation {
    const xir_op *op;
    size_t        output, n_out;
    uint64_t    (*depends[MOST_INPUTS])[MOST_ELEMENTS / 64];
    size_t        n_in[MOST_INPUTS];
} relation;

static bool is_of(const xir_array *a, xir_type_kind kind) {
    return xir_type_kind_of(xir_type_element(xir_array_type(a))) == kind;
}

/* Sets an element of an array of fp32, integers or booleans. */
static void set_element(xir_array *a, size_t i, double v) {
    uint8_t *at = xir_array_edit(a);
    const size_t bytes = (size_t)xir_type_storage_bits(xir_array_type(a)) / 8;
    const float real = (float)v;
    const int64_t whole = (int64_t)v;
    if (is_of(a, XIR_TYPE_FLOAT)) memcpy(at + 4 * i, &real, sizeof real);
    else memcpy(at + bytes * i, &whole, bytes);
}

/* Numbers of a kind: positive, of both signs, all the same. */
static double base_number(const xir_array *a, int kind) {
    if (is_of(a, XIR_TYPE_BOOL)) return kind == 2 || (kind != 3 && below(2));
    if (is_of(a, XIR_TYPE_INTEGER)) return (double)below(3);
    const double random = (double)below(1000) / 1000;
    return kind == 0 ? 0.25 + random : kind == 1 ? 4 * random - 2 : kind == 2 ? 1 : 0.75 + random / 8;
}

static double probe_number(const xir_array *a, int probe, double now) {
    static const double reals[PROBES] = { 1000, -1000, 0.3 };
    if (is_of(a, XIR_TYPE_BOOL)) return now == 0;
    if (is_of(a, XIR_TYPE_INTEGER)) return probe;
    return reals[probe];
}

static void note_changes(relation *r, size_t input, size_t element, xir_array *const *before, xir_array *const *now) {
    size_t n, m;
    const uint8_t *a = xir_array_data(before[r->output], &n), *b = xir_array_data(now[r->output], &m);
    const size_t bytes = r->n_out ? n / r->n_out : 0;
    for (size_t e = 0; e < r->n_out; e++)
        if (n != m || memcmp(a + e * bytes, b + e * bytes, bytes) != 0)
            r->depends[input][element][e / 64] |= UINT64_C(1) << (e % 64);
}

static size_t n_runs;

static void free_all(xir_array **list, size_t n) {
    for (size_t i = 0; i < n; i++) {
        xir_array_free(list[i]);
        list[i] = NULL;
    }
}

/* Changes each element of each input of one base, for all outputs. */
static void try_base(relation *r, size_t n_outputs, const op_case *c, int kind) {
    xir_array *in[MOST_INPUTS] = { NULL }, *before[MOST_OUTPUTS] = { NULL }, *now[MOST_OUTPUTS] = { NULL };
    const size_t n = xir_op_input_count(r->op);
    for (size_t i = 0, arg = 0; i < n; i++) {
        const xir_value *v = xir_op_input(r->op, (int64_t)i);
        if (!v || !c->is_arg[i]) continue;   /* constants are not changed */
        const xir_value *given = c->given[arg++];
        in[i] = xir_array_new(ctx, xir_value_type(v), why);
        xir_array *fixed = given ? xir_array_from_params(given, why) : NULL;
        for (size_t e = 0; e < xir_array_count(in[i]); e++)
            set_element(in[i], e, fixed ? xir_array_real(fixed, e) : base_number(in[i], kind));
        xir_array_free(fixed);
    }
    const bool runs = xir_op_run(r->op, (const xir_array *const *)in, n, before, n_outputs, NULL, why) == XIR_OK;
    n_runs += runs;
    for (size_t i = 0; i < n && runs; i++)
        for (size_t e = 0; in[i] && e < r[0].n_in[i]; e++) {
            const double old = xir_array_real(in[i], e);
            xir_array *kept = in[i];   /* results may share its bytes */
            for (int probe = 0; probe < PROBES; probe++) {
                size_t size;
                const void *data = xir_array_data(kept, &size);
                in[i] = xir_array_copy(ctx, xir_array_type(kept), data, size, why);
                set_element(in[i], e, probe_number(kept, probe, old));
                if (xir_op_run(r->op, (const xir_array *const *)in, n, now, n_outputs, NULL, why) == XIR_OK)
                    for (size_t o = 0; o < n_outputs; o++) note_changes(&r[o], i, e, before, now);
                free_all(now, n_outputs);
                xir_array_free(in[i]);
            }
            in[i] = kept;
        }
    free_all(in, n);
    free_all(before, n_outputs);
}

static void box_of_element(const xir_box *whole, size_t e, int64_t at[XIR_BOX_DIMS]) {
    for (size_t k = whole->rank; k-- > 0; e /= (size_t)whole->end[k]) at[k] = (int64_t)(e % (size_t)whole->end[k]);
}

static bool is_in(const xir_box *box, const int64_t at[XIR_BOX_DIMS]) {
    for (size_t k = 0; k < box->rank; k++)
        if (at[k] < box->begin[k] || at[k] >= box->end[k]) return false;
    return !box->none;
}

/* The smallest box around the elements of an input on which an element of the part depends. */
static xir_box found_box(const relation *r, size_t input, const xir_box *part) {
    xir_box whole = XIR_INIT(xir_box), of_in = XIR_INIT(xir_box), box = XIR_INIT(xir_box, .none = 1);
    uint64_t mask[MOST_ELEMENTS / 64] = { 0 };
    int64_t at[XIR_BOX_DIMS];
    DOES(xir_box_whole(xir_value_type(xir_op_output(r->op, (int64_t)r->output)), &whole, why));
    DOES(xir_box_whole(xir_value_type(xir_op_input(r->op, (int64_t)input)), &of_in, why));
    for (size_t e = 0; e < r->n_out; e++) {
        box_of_element(&whole, e, at);
        if (is_in(part, at)) mask[e / 64] |= UINT64_C(1) << (e % 64);
    }
    box.rank = of_in.rank;
    for (size_t e = 0; e < r->n_in[input]; e++) {
        uint64_t any = 0;
        for (size_t w = 0; w < MOST_ELEMENTS / 64; w++) any |= mask[w] & r->depends[input][e][w];
        if (!any) continue;
        box_of_element(&of_in, e, at);
        for (size_t k = 0; k < box.rank; k++) {
            if (box.none || at[k] < box.begin[k]) box.begin[k] = at[k];
            if (box.none || at[k] + 1 > box.end[k]) box.end[k] = at[k] + 1;
        }
        box.none = 0;
    }
    return box;
}

static const char *box_text(const xir_box *box) {
    static char texts[3][300];
    static int turn;
    char *out = texts[turn = (turn + 1) % 3];
    int n = sprintf(out, box->none ? "nothing" : "");
    for (size_t k = 0; k < box->rank && !box->none; k++)
        n += sprintf(out + n, "[%" PRId64 ", %" PRId64 ")", box->begin[k], box->end[k]);
    return out;
}

static bool contains(const xir_box *box, const xir_box *other) {
    for (size_t k = 0; k < box->rank && !other->none; k++)
        if (other->begin[k] < box->begin[k] || other->end[k] > box->end[k]) return false;
    return other->none || !box->none;
}

static size_t n_boxes, n_exact, n_wrong;

static void check_part(const relation *r, const op_case *c, const xir_box *part) {
    xir_box needed[MOST_INPUTS];
    const size_t n = xir_op_input_count(r->op);
    for (size_t i = 0; i < n; i++) needed[i] = XIR_INIT(xir_box);
    DOES(xir_op_needed(r->op, r->output, part, needed, n, why));
    for (size_t i = 0; i < n; i++) {
        if (!c->is_arg[i]) continue;
        const xir_box found = found_box(r, i, part);
        n_boxes++;
        n_exact += needed[i].exact;
        const bool must = xir_class_needs(c->cls) == XIR_NEEDS_EXACT;
        if (contains(&needed[i], &found) && (!needed[i].exact || contains(&found, &needed[i])) &&
            (!must || needed[i].exact)) continue;
        n_wrong++;
        fprintf(stderr, "%s\n    part %s of output %zu needs %s of input %zu: expected %s%s\n", c->text,
                box_text(part), r->output, box_text(&needed[i]), i, needed[i].exact ? "" : "at least ",
                box_text(&found));
    }
}

/* Tries an op. False if inference refuses it, or nothing of it can be computed. */
static bool try_op(const char *text) {
    static uint64_t room[MOST_OUTPUTS][8][MOST_ELEMENTS][MOST_ELEMENTS / 64];
    static relation r[MOST_OUTPUTS];
    op_counts counts = { .out = stderr };
    op_case c;
    const bool read = op_case_begin(&c, text, "needed.c", __LINE__, &counts);
    if (!read) fprintf(stderr, "%s: %s\n", text, c.t.fault);
    n_wrong += !read;
    const xir_op *op = read ? op_case_add(&c) : NULL;
    const size_t n_outputs = op ? xir_op_output_count(op) : 0, n = op ? xir_op_input_count(op) : 0;
    bool done = op && n_outputs <= 3 && n <= 8;
    for (size_t o = 0; o < n_outputs && done; o++) {
        int64_t elements;
        r[o] = (relation){ .op = op, .output = o };
        done = xir_type_elements(xir_value_type(xir_op_output(op, (int64_t)o)), &elements) == XIR_OK &&
               elements >= 1 && elements <= MOST_ELEMENTS;
        r[o].n_out = done ? (size_t)elements : 0;
        for (size_t i = 0; i < n && done; i++) {
            if (!xir_op_input(op, (int64_t)i)) continue;
            DOES(xir_type_elements(xir_value_type(xir_op_input(op, (int64_t)i)), &elements));
            r[o].n_in[i] = (size_t)elements;
            r[o].depends[i] = room[o][i];
            done = elements <= MOST_ELEMENTS;
            if (done) memset(room[o][i], 0, (size_t)elements * sizeof *room[o][i]);
        }
    }
    n_runs = 0;
    for (int kind = 0; kind < KINDS && done; kind++) try_base(r, n_outputs, &c, kind);
    if (done && !n_runs) {
        xir_diags_print(why, stderr);
        fprintf(stderr, "%s does not run\n", text);
        n_wrong++;
        done = false;
    }
    for (size_t o = 0; o < n_outputs && done; o++)
        for (size_t box = 0; box < BOXES; box++) {
            xir_box part = XIR_INIT(xir_box);
            DOES(xir_box_whole(xir_value_type(xir_op_output(op, (int64_t)o)), &part, why));
            for (size_t k = 0; k < part.rank && box; k++) {
                part.begin[k] = below(part.end[k]);
                part.end[k] = between(part.begin[k] + 1, box == 1 ? part.begin[k] + 1 : part.end[k]);
            }
            check_part(&r[o], &c, &part);
        }
    op_case_end(&c);
    return done;
}

static const xir_class *class_of(const char *pattern) {
    static const char *const before[] = { "icraft::xir::", "xir::" };
    const size_t size = strcspn(pattern, "(");
    char key[100];
    for (size_t i = 0; i < COUNT(before); i++) {
        snprintf(key, sizeof key, "%s%.*s", before[i], (int)size, pattern);
        if (xir_class_find(ctx, xir_str_of(key))) return xir_class_find(ctx, xir_str_of(key));
    }
    fail_msg("%s: there is no such class", pattern);
    return NULL;
}

/* Tries a pattern several times, with other numbers. */
static void try_pattern(const char *pattern) {
    char text[600];
    int done = 0;
    const int most = 6;
    state = xir_str_of(pattern).size * 977 + (uint64_t)(unsigned char)*pattern;
    for (int i = 0; i < 200 && done < most; i++) {
        fill(pattern, text);
        done += try_op(text);
    }
    if (done) return;
    fprintf(stderr, "%s: no numbers are accepted\n", pattern);
    n_wrong++;
}

static bool tried[1000];

static void each_pattern_needs_what_depends(void **st) {
    (void)st;
    n_boxes = n_exact = n_wrong = 0;
    for (size_t i = 0; i < COUNT(patterns); i++) {
        tried[xir_class_number(class_of(patterns[i]))] = true;
        try_pattern(patterns[i]);
    }
    printf("%zu boxes, %zu of them exact\n", n_boxes, n_exact);
    assert_int_equal(n_wrong, 0);
    assert_true(n_boxes > 5000 && n_exact > n_boxes / 2);
}

/* Functions of one number need no pattern of their own. */
static void each_function_needs_its_element(void **st) {
    (void)st;
    n_wrong = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        char text[200];
        if (!xir_class_is_op(cls) || xir_class_needs(cls) == XIR_NEEDS_ALL) continue;
        if (tried[xir_class_number(cls)]) continue;
        if (xir_str_equal(xir_class_key(cls), XIR_STR("xir::Call"))) continue;   /* tests/core/verbs/needed.c */
        snprintf(text, sizeof text, "%s(fp32 - <2..4>x<1..3>)", xir_class_key(cls).data);
        assert_int_equal(xir_class_input_count(cls), 1);
        char filled[200];
        fill(text, filled);
        if (!try_op(filled)) fail_msg("%s has a NEEDS row, but no pattern", xir_class_key(cls).data);
    }
    assert_int_equal(n_wrong, 0);
}

/* ---- the table of classes --------------------------------------------------------------------------------------- */

static void check_word(xir_needs needs, const char *expected) {
    size_t n = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &n);
    for (size_t i = 0; xir_context_class_at(ctx, i); i++) {
        const xir_class *cls = xir_context_class_at(ctx, i);
        if (!xir_class_is_op(cls) || xir_class_is_opaque(cls) || xir_class_needs(cls) != needs) continue;
        const char *colon = strrchr(xir_class_key(cls).data, ':');
        fprintf(out, "%s ", colon ? colon + 1 : xir_class_key(cls).data);
    }
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void the_classes_that_are_not_exact(void **st) {
    (void)st;
    size_t exact = 0;
    for (size_t i = 0; xir_context_class_at(ctx, i); i++)
        exact += xir_class_needs(xir_context_class_at(ctx, i)) == XIR_NEEDS_EXACT;
    check_word(XIR_NEEDS_SUPERSET, "Call Unfold Cast Quantize BitCast Einsum Attention LSTM GRU RNN Reshape Roll GridSample "
                                   "Gather GatherElements ScatterND GatherND ");
    check_word(XIR_NEEDS_ALL, "Input Output Unknown Unsupport AlignAxis PruneAxis NonZero NonMaxSuppression Range "
                              "ConstantOfShape HardOp Region Reorg Route Yolo MultiYolo SSDOutput InnerProduct ");
    assert_int_equal(exact, 110);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pattern_needs_what_depends),
        cmocka_unit_test(each_function_needs_its_element),
        cmocka_unit_test(the_classes_that_are_not_exact),
    };
    return RUN_GROUP(tests);
}
