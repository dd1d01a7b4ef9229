/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include "support/random_tale.h"
#include <stdio.h>
#include <string.h>
#include "support/net.h"

#define CONSTANTS \
    "x: NHWC 1 4 4 4; w: params HWIO 3 3 4 4; d: params HWIO 3 3 1 4; k: params HWIO 1 1 4 4; " \
    "t: params HWOI 1 1 4 4; " \
    "b: params 4; v: params 4; m: params 4 4; g: params 4 4; half: 0.5; two: params 1 = 2; none: 0; " \
    "i: params sint64 4 = 3 -3 0 2; "
#define SAME "[pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]"
#define FLAT "[shape=1,16,4 layout=@layout(N*C)]"
#define FULL "[shape=1,4,4,4 layout=@layout(NHWC)]"

/* # is an earlier value, < the one of the line before, $ a constant, @ the name of a new value unless
 * it begins "@layout". */
static const char *const lines[] = {
    "@ = Multiply # $", "@ = Multiply $ #", "@ = Add # $", "@ = Add $ # [alpha=2 beta=-3]", "@ = Div # $",
    "@ = DivideScalar # [divisor=3]", "@ = BatchNorm2d # [variance=v mean=b]", "@ = Multiply # g", "@ = Add # g",
    "@ = Conv2d # w " SAME, "@ = Conv2d # k b", "@ = Conv2d # d b [groups=4 pad_top=2 pad_left=1 pad_right=1]",
    "@ = ConvTranspose2d # t", "@ = Conv2d # k [padding_mode=REFLECT]",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = Conv2d < w",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = Conv2d < k "
    "[pad_top=-1 pad_bottom=-1 pad_left=-1 pad_right=-1]",
    "@ = Pad # [padding=0,0,1,1,1,1,0,0]; @ = AvgPool2d < [pool_width=3 pool_height=3]",
    "@ = Pad # [padding=0,0,2,0,1,1,0,0 value=-inf]; @ = MaxPool2d < [pool_width=3 pool_height=3]",
    "@ = AvgPool2d # [pool_width=3 pool_height=3 pad_top=1 pad_bottom=1 pad_left=1 pad_right=1]",
    "@ = Mean # [dim=1,2 keepdim=true]; @ = Conv2d < k b; @ = Sigmoid <; @ = Multiply # <",
    "@ = Mean # [dim=1,2 keepdim=true]; @ = Multiply # <",
    "@ = AvgPool2d # [pool_width=4 pool_height=4]; @ = Conv2d < k; @ = Multiply # <",
    "@ = AvgPool2d # [pool_width=4 pool_height=4]; @ = Upsample < [height=4 width=4 interpolation=BILINEAR]",
    "@ = Reshape # " FLAT "; @ = Matmul < m; @ = Reshape < " FULL,
    "@ = Reshape # " FLAT "; @ = LayerNorm < [axis=2 gamma=v beta=b]; @ = Matmul < m; @ = Reshape < " FULL,
    "@ = RMSNorm # [axis=3 gamma=v]; @ = Conv2d < k", "@ = LayerNorm # [axis=-1 gamma=b]",
    "@ = Transpose # [dims=0,3,1,2 layout=@layout(NCHW)]; @ = Multiply < half; "
    "@ = Transpose < [dims=0,2,3,1 layout=@layout(NHWC)]",
    "p@, q@ = Split # [sections=1,3 axis=3]; @ = Concat p< q< [axis=3]",
    "p@, q@ = Split # [sections=1,3 axis=3]; @ = Concat q< p< [axis=3]",
    "@ = Upsample # [height=8 width=8]; @ = MaxPool2d < [pool_width=2 pool_height=2 stride_width=2 stride_height=2]",
    "@ = SwapOrder # [order=2,0,3,1]", "@ = ChannelShuffle # [groups=2]; @ = Conv2d < k", "@ = Gather # i [axis=3]",
    "@ = ReLU #", "@ = Sigmoid #", "@ = Multiply # #", "@ = Add # #", "@ = Neg #", "@ = Roll # [shifts=1 dims=2]",
};
static const char *const constants[] = { "half", "two", "b", "v", "none" };

static void tell(random_tale *t, const char *word, size_t n) {
    if (t->size + n + 1 > sizeof t->text) fail_msg("the tale is too long");
    memcpy(t->text + t->size, word, n);
    t->text[t->size += n] = '\0';
}

static void tell_value(random_tale *t, size_t i) {
    char name[12];
    const int n = snprintf(name, sizeof name, i ? "n%zu" : "x", i);
    tell(t, name, (size_t)n);
}

static size_t some_value(const random_tale *t, size_t most) {
    size_t i = chance(4) ? most - chance(most < 2 ? most + 1 : 2) : chance(most + 1);
    while (t->odd[i]) i--;
    return i;
}

static void tell_constant(random_tale *t) {
    const char *name = constants[chance(COUNT(constants))];
    tell(t, name, strlen(name));
}

/* Between its lines a run has values of other types. */
static void tell_lines(random_tale *t, const char *line) {
    const size_t first = t->made;
    for (const char *c = line; *c; c++) {
        if (*c == '@' && c[1] != 'l') tell_value(t, t->made + 1);
        else if (*c == '#') tell_value(t, some_value(t, first));
        else if (*c == '<') tell_value(t, t->made);
        else if (*c == '$') tell_constant(t);
        else tell(t, c, 1);
        if (*c == ';' && c[1]) t->odd[++t->made] = true;
    }
    tell(t, "; ", 2);
    t->made++;
}

void random_tale_make(random_tale *t, uint64_t seed) {
    *t = (random_tale){ .outputs = 1 };
    chance_begin(seed);
    tell(t, CONSTANTS, sizeof CONSTANTS - 1);
    for (uint64_t n = 2 + chance(6); n; n--) tell_lines(t, lines[chance(COUNT(lines))]);
    tell(t, "out ", 4);
    tell_value(t, t->made);
    const size_t other = chance(3) ? 0 : some_value(t, t->made - 1);
    if (!other) return;
    t->outputs = 2;
    tell(t, " ", 1);
    tell_value(t, other);
}
