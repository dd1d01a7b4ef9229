/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators of TSM with parameters, inputs and dims as large or as small as a file can say: a check and the conversion
 * end, nothing overflows, and what is not converted has a finding. All rows are tried with all extremes. */
#include <xir/convert.h>
#include "convert/tsm_text.h"

/* Returns true if all is converted. */
static bool try(const char *inputs, const char *nodes) {
    static char text[8000];
    char in[1000], out[1000];
    tsm_text(text, inputs, nodes, in, out);
    xir_network *net = tsm_read(text);
    if (!net) return false;   /* a shape without a meaning */
    xir_diags_clear(why);
    const xir_status checked = xir_dialect_check(net, why);
    assert_true((checked != XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) > 0));
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "tsm-to-xir", NULL, NULL, why);
    const bool whole = !status && !xir_network_first_unrunnable(net);
    if (!whole && !xir_diags_count(why)) fail_msg("%s: %s: no finding", inputs, nodes);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
    return whole;
}

/* Not converted, with a finding that has these words. */
static void stays(int line, const char *inputs, const char *nodes, const char *words) {
    if (try(inputs, nodes)) fail_msg("line %d: it is converted", line);
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_str said = xir_diags_at(why, i)->message;
        if (memmem(said.data, said.size, words, strlen(words))) return;
    }
    xir_diags_print(why, stderr);
    fail_msg("line %d: no finding has '%s'", line, words);
}
#define STAYS(inputs, nodes, words) stays(__LINE__, inputs, nodes, words)

#define FORMAT " format='NCHW"
#define CONV "<const> w - value=10:4,3,3,3:;conv2d y 0,1" FORMAT
#define POOL "pooling2d y 0 type=5::0" FORMAT

static void parameters_out_of_range(void **state) {
    (void)state;
    STAYS("a=2,3", "softmax y 0 dim=5::2", "expected an axis from -2 to 1");
    STAYS("a=2,3", "max y 0 dim=5::-3", "found -3");
    STAYS("a=2,3", "_cast y 0 dtype=5::33", "dtype is out of range: found 33");
    STAYS("a=2,3", "_cast y 0 dtype=5::22", "elements of the type 22");
    STAYS("a=2,3", "reduce_sum y 0 dims=5:2:1,-1", "dim 1 appears twice");
    STAYS("a=2,3", "reduce_sum y 0 dims=5:0:", "no dims");
    STAYS("a=2,3", "topkv2 t 0 number=5::0;_field y 1 offset=5::0", "expected at least 1, found 0");
    STAYS("a=2,3", "<const> w - value=10:4:;add_bias y 0,1 dim=5::1", "expected 3 numbers");
    STAYS("a=2,3", "<const> w - value=10:3:;add_bias y 0,1 dim=5::-1", "expected at least 0, found -1");
    STAYS("a=2,3", "<const> w - value=10:3:;add_bias y 0,1", "dim or format is missing");
    STAYS("a=2,3", "quantize y 0 quantize_scale=10:3:1,2,3", "expected 2 numbers");
    STAYS("a=2,3 b=4,5", "matmul y 0,1", "expected 3 rows");
    STAYS("a=2,3 b=3", "gemm y 0,1", "expected 2 dims, found 1");
    STAYS("a=2,3,6,6", CONV " padding=5:4,2: stride=5:4:1,1,0,1", "stride[2]: expected at least 1, found 0");
    STAYS("a=2,3,6,6", CONV " padding=5:4,2: stride=5:4:1,2,1,1", "stride[1]: expected 1, found 2");
    STAYS("a=2,3,6,6", CONV " padding=5:4,2:1 stride=5:4:1,1,1,1", "padding[0]: expected 0, found 1");
    STAYS("a=2,3,6,6", CONV " padding=5:4:0 stride=5:4:1,1,1,1", "padding: expected 8 numbers, found 4");
    STAYS("a=2,4,6,6", CONV " padding=5:4,2: stride=5:4:1,1,1,1", "the kernel: expected 4 channels");
    STAYS("a=2,3,6", CONV " padding=5:4,2: stride=5:4:1,1,1,1", "expected 4 dims, found 3");
    STAYS("a=2,3,6,6", "<const> w - value=10:2,3,3,3:;depthwise_conv2d y 0,1" FORMAT " padding=5:4,2: stride=5:4:1,1,1,1",
          "expected a first dim of 1");
    STAYS("a=2,3,6,6", "<const> w - value=10:3,4,3,3:;transpose_conv2d y 0,1" FORMAT " padding=5:4,2: stride=5:4:1,1,1,1 "
          "output_shape=5:4:2,4,8,8", "output_shape");
    STAYS("a=2,3,6,6", CONV " padding=5:4,2: stride=5:4:1,1,1,1 kernel_packed=21::1", "a kernel in packed order");
    STAYS("a=2,3", "<const> w - value=10:3,4:;inner_prod y 0,1 kernel_packed=2::1", "a weight in packed order");
#define DEFORMED(format, more) "<const> w - value=10:4,4,1,1:;<const> b - value=10:4:;dcn_v2_forward y 0,3,4,1,2 " \
        "format='" format " padding=5:4,2: stride=5:4:1,1,1,1 dilation=5:4:1,1,1,1 deformable_groups=5::" more
    STAYS("a=2,4,3,3 b=2,4,3,3 c=2,2,3,3", DEFORMED("NHWC", "2"), "NHWC, which TenniS does not compute");
    STAYS("a=2,4,3,3 b=2,4,3,3 c=2,2,3,3", DEFORMED("NCHW", "3"), "expected a divisor of 4, found 3");
    STAYS("a=2,4,3,3 b=2,4,3,3 c=2,2,3,3", DEFORMED("NCHW", "1"), "input 3: expected 2 as dim 1, found 4");
    STAYS("a=2,4,3,3 b=2,4,3,3 c=2,2,3,2", DEFORMED("NCHW", "2"), "input 4: expected 3 as dim 3, found 2");
    STAYS("a=2,4,0,3 b=2,4,3,3 c=2,2,3,2", DEFORMED("NCHW", "2"), "without cells");
    STAYS("a=2,3,6,6", POOL " padding=5:4,2: ksize=5:4:1,1,9,2 stride=5:4:1,1,1,1", "expected at most 6");
    STAYS("a=2,3,6,6", POOL " padding=5:4,2: ksize=5:4:1,1,0,2 stride=5:4:1,1,1,1", "ksize[2]: expected at least 1");
    STAYS("a=2,3,6,6", POOL " padding_type=5::1 padding=5:4,2: ksize=5:4:1,1,2,2 stride=5:4:1,1,1,1",
          "padding_type 1, which TenniS does not compute");
    STAYS("a=2,3,6,6", POOL " padding_type=5::4 padding=5:4,2: ksize=5:4:1,1,2,2 stride=5:4:1,1,1,1",
          "expected a number from 0 to 3, found 4");
    STAYS("a=2,3", "_reshape y 0 shape=5:2:-2,3", "shape is out of range: found -2");
    STAYS("a=2,3", "_reshape y 0 shape=5:3:6,1,0", "shape[2] is 0");
    STAYS("a=2,3", "_transpose y 0 permute=5:2:0,0", "expected each dim once, found 0 twice");
    STAYS("a=2,3", "_transpose y 0 permute=5:1:0", "expected from 2 to 32 numbers");
    STAYS("a=2,3", "squeeze y 0 axes=5:1:1", "expected a dim of 1");
    STAYS("a=2,3", "<const> i - value=5::1;_expand y 0,1", "expected from 2 to 32 dims, found 1");
    STAYS("a=2,3", "<const> i - value=5::9;_expand y 0,1 front=5::1 end=5::1", "expected at least 7");
    STAYS("a=2,3", "_dimshuffle y 0 dim=5::1 shuffle=5:1:3", "shuffle is out of range: found 3");
    STAYS("a=2,3", "slice y 0 begin=5:2:0,2 size=5:2:1,2", "size is out of range: found 2");
    STAYS("a=2,3", "strided_slice y 0 begin=5:2:0,0 end=5:2:2,1 shrink_axis_mask=5::1", "found 2");
    STAYS("a=2,3", "strided_slice y 0 begin=5:1:0 end=5:1:1 stride=5:1:0", "stride is out of range");
    STAYS("a=2,3", "chunk c 0 chunks=5::4 dim=5::1;_field y 1 offset=5::0", "expected at most 3, found 4");
    STAYS("a=2,5", "chunk c 0 chunks=5::4 dim=5::1;_field y 1 offset=5::3", "it has 3 fields");
    STAYS("a=2,3", "chunk c 0 chunks=5::2 dim=5::0;_field y 1 offset=5::2", "not known to be packed");
    STAYS("a=2,3", "_field y 0 offset=5::2147483647", "not known to be packed");
    STAYS("a=2,3,4,4", "<const> i - value=5:4:2,4,8,8;_resize2d y 0,1", "two neighbouring dims");
    STAYS("a=2,3,3,3", "<const> i - value=5:4:2,3,8,8;_resize2d y 0,1 type=5::1", "less than 4 cells");
    STAYS("a=2,3,4,4", "<const> i - value=5:4:2,3,2147483647,8;_resize2d y 0,1 type=5::3", "more than 2^22 rows or columns");
    STAYS("a=2,3,4,4", "sample2d y 0 scale=10::0", "expected at least 1e-5");
    STAYS("a=4,3,2,2", "batch_to_space4d y 0 crop=5:2,2: block_shape=5:2:3,1", "expected a divisor");
    STAYS("a=1,3,3,3", "space_to_batch4d y 0 padding=5:2,2: block_shape=5:2:2,1", "expected divisors");
    STAYS("a=2,2", "force_color y 0", "expected a last dim of 1 or 3");
}

/* A value of a kind: an extreme. */
static int extreme_of(char kind, unsigned variant, char *out, size_t room) {
    static const char *const ints[] = { "-2147483648", "-1", "0", "1", "2", "2147483647" };
    static const char *const lists[] = { "0:", "1:1", "2:1,1", "2:-1,2", "4:1,1,2,2", "4:0,0,0,0", "4,2:0,0,0,0,1,1,1,1",
                                         "4,2:0,0,0,0,-1,2147483647", "8:1,1,2147483647,2,1,1,1,1", "3:2,1,0",
                                         "2,2:0,1,1,0", "1:-2147483648" };
    static const char *const reals[] = { "0", "-1", "1e38", "0.5", "nan", "inf" };
    static const char *const words[] = { "NCHW", "NHWC", "SAME", "VALID", "SAME_LOWER", "forward", "xywh", "" };
    switch (kind) {
    case 'i': return snprintf(out, room, "5::%s", ints[variant % COUNT(ints)]);
    case 'f': return snprintf(out, room, "10::%s", reals[variant % COUNT(reals)]);
    case 'b': return snprintf(out, room, "21::%u", variant % 2);
    case 's': return snprintf(out, room, "'%s", words[variant % COUNT(words)]);
    case 'F': return snprintf(out, room, "10:%s", lists[variant % COUNT(lists)]);
    default:  return snprintf(out, room, "5:%s", lists[variant % COUNT(lists)]);
    }
}

/* Parameters of a row, without those of all nodes. Of any name: some that such operators read. */
static void parameters_of(const char *attributes, unsigned variant, char *out, size_t room) {
    static const char *const others = "min_size:F max_size:F aspect_ratio:F step:i classes:i mask:I anchors:F origin:I "
                                      "origin_patch:I img_size:i";
    size_t n = 0;
    *out = '\0';
    for (const char *p = attributes; *p; p += strcspn(p, " "), p += strspn(p, " "), variant += 7) {
        if (*p == '*') p = others;
        if (*p == '#') continue;
        const char *kinds = p + strcspn(p, ":") + 1;
        const size_t n_kinds = strspn(kinds, "bifsIF");
        const bool needed = kinds[n_kinds] == '!';
        char value[80];
        if (!n_kinds || (!needed && variant % 3 == 0)) continue;
        extreme_of(kinds[variant % n_kinds], variant / 2, value, sizeof value);
        n += (size_t)snprintf(out + n, room - n, " %.*s=%s", (int)strcspn(p, ":"), p, value);
    }
}

static void all_operators_with_extremes(void **state) {
    (void)state;
    static const char *const shapes[] = { "2,3,4", "1,4,5,6", "2,3", "1", "0", "2147483647,1", "1,3,65536,32767" };
    static const char *const constants[] = { "5::1", "5:4:1,1,2,2", "5:2:1,3", "5:3:0,-1,2", "10:3:1,2,3", "10:4,4,3,3:",
                                             "5:4,2:0,0,0,0,1,1,1,1", "7:2:-2147483648,2147483647", "10:1,4,3,3:",
                                             "10:6,5:", "10:3,3:1,0,0,0,1,0,0,0,1" };
    enum { VARIANTS = 90 };
    const xir_convert_row *row;
    size_t tried = 0, converted = 0;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, "tsm::", 5) != 0 || !row->cls) continue;
        for (unsigned variant = 0; variant < VARIANTS; variant++) {
            char inputs[200], nodes[1000], parameters[600], ends[200] = "0";
            const size_t n = (size_t)atoi(row->inputs) + (variant % 4 == 3 && strchr(row->inputs, '-') ? 1 : 0);
            parameters_of(row->attributes, variant * 5 + variant / 9, parameters, sizeof parameters);
            snprintf(inputs, sizeof inputs, "%s=%s", variant % 11 == 10 ? "k" : "a", shapes[variant % COUNT(shapes)]);
            size_t at = 0;
            for (size_t k = 1; k < n; k++) {
                const char *value = constants[(variant / 2 + 3 * k) % COUNT(constants)];
                at += (size_t)snprintf(nodes + at, sizeof nodes - at, "<const> c%zu - value=%s;", k, value);
                snprintf(ends + strlen(ends), 24, ",%zu", k);
            }
            snprintf(nodes + at, sizeof nodes - at, "%s y %s%s", row->name + 5, ends, parameters);
            converted += try(inputs, nodes);
            tried++;
        }
    }
    print_message("TSM: %zu operators with extremes, %zu converted\n", tried, converted);
    assert_true(tried > 10000 && converted > 300);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_out_of_range),
        cmocka_unit_test(all_operators_with_extremes),
    };
    return RUN_GROUP(tests);
}
