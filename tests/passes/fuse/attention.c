/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Attention from its parts: what exporters write, in all the orders in which they write it, and what only looks like
 * it. Stories are as in story.h, with two short words: T0213 is a Transpose in that order, R2,-1,4 a Reshape to those
 * dims. In expectations % is a value without a name. */
#include "support/scarce.h"
#include "support/story.h"
#include <xir/exec.h>
#include <xir/pass.h>

static size_t changes;

/* ---- short words ------------------------------------------------------------------------------------------------- */

/* Writes a story with the short words in full. */
static void spell(const char *text, char *out, size_t room) {
    size_t n = 0;
    while (*text) {
        size_t word = strcspn(text, " ;\n");
        const bool moves = text[0] == 'T' && word > 1 && strspn(text + 1, "0123456789") == word - 1;
        const bool shapes = text[0] == 'R' && word > 1 && strspn(text + 1, "0123456789,-") == word - 1;
        if (!moves && !shapes) {
            word += text[word] != '\0';
            if (n + word >= room) fail_msg("the story is too long");
            memcpy(out + n, text, word);
            n += word;
            text += word;
            continue;
        }
        char list[80] = "", stars[12] = "", operands[80];
        size_t m = 0;
        for (size_t i = 1; i < word; i++) {
            if (moves && i > 1) list[m++] = ',';
            list[m++] = text[i];
        }
        list[m] = '\0';
        for (size_t i = 0; i < m; i++) if (i == 0 || list[i] == ',') strcat(stars, "*");
        text += word;
        const size_t rest = strcspn(text, ";");
        snprintf(operands, sizeof operands, "%.*s", (int)rest, text);
        text += rest;
        n += (size_t)snprintf(out + n, room - n, "%s%s [%s=%s layout=@layout(%s)]", moves ? "Transpose" : "Reshape",
                              operands, moves ? "dims" : "shape", list, stars);
        if (n >= room) fail_msg("the story is too long");
    }
    out[n] = '\0';
}

static xir_network *net_of(const char *text) {
    char full[6000];
    spell(text, full, sizeof full);
    return story_net(full);
}

/* The text of a network, without the ids of values that have no name. Free it. */
static char *text_of(const xir_network *net) {
    char *text = story_text(net), *to = text;
    for (const char *from = text; *from; from++) {
        *to++ = *from;
        while (*from == '%' && from[1] >= '0' && from[1] <= '9')
            memmove((char *)(uintptr_t)from + 1, from + 2, strlen(from + 1));
    }
    *to = '\0';
    return text;
}

static void fuse(xir_network *net) {
    xir_diags_clear(why);
    if (xir_pass_run(net, "fuse", NULL, &changes, why) != XIR_OK) {
        xir_diags_print(why, stderr);
        fail();
    }
    assert_int_equal(xir_diags_count(why), 0);
    CHECK_SOUND(net);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
}

/* Without a list of results, it is y. */
static void expect(const xir_network *net, const char *wanted, int line) {
    char full[6000], *text = text_of(net);
    spell(wanted, full, sizeof full - 8);
    if (!strstr(full, "out ")) strcat(full, "; out y");
    if (strcmp(text, full)) fail_msg("line %d\nfound:    %s\nexpected: %s", line, text, full);
    free(text);
}

static void becomes(const char *before, const char *after, int line) {
    xir_network *net = net_of(before), *old = net_of(before);
    fuse(net);
    if (!changes) fail_msg("line %d: no changes", line);
    expect(net, after, line);
    check_same_numbers(old, net, __FILE__, line);
    fuse(net);
    if (changes) fail_msg("line %d: a second run makes %zu changes", line, changes);
    xir_network_free(old);
    xir_network_free(net);
}
#define BECOMES(before, after) becomes(before, after, __LINE__)

static void stays(const char *before, int line) {
    xir_network *net = net_of(before);
    char *text = text_of(net);
    fuse(net);
    if (changes) fail_msg("line %d: %s\nbecomes %s", line, text, text_of(net));
    expect(net, text, line);
    free(text);
    xir_network_free(net);
}
#define STAYS(before) stays(before, __LINE__)

/* Three inputs with heads of their own; 1/sqrt(16) is a quarter. */
#define QKV "q: 2 3 4 16; k: 2 3 5 16; v: 2 3 5 6; quarter: 0.25; four: 4; half: 0.5; two: 2; "
#define PRODUCT "t = T0132 k; s = Matmul q t; "
#define END "w = Softmax z; y = Matmul w v; out y"

/* ---- scales ------------------------------------------------------------------------------------------------------ */

static void scales_stand_anywhere(void **state) {
    (void)state;
    static const char *const forms[] = {
        "t = T0132 k; s = Matmul q t; z = Multiply s quarter",
        "t = T0132 k; s = Matmul q t; z = Multiply quarter s",
        "t = T0132 k; s = Matmul q t; z = Div s four",
        "t = T0132 k; s = Matmul q t; z = DivideScalar s [divisor=4]",
        "t = T0132 k; p = Multiply q quarter; z = Matmul p t",
        "t = T0132 k; p = Div q four; z = Matmul p t",
        "t = T0132 k; r = Multiply t quarter; z = Matmul q r",
        "r = Multiply k quarter; t = T0132 r; z = Matmul q t",
        "p = Multiply q half; t = T0132 k; r = Multiply t half; z = Matmul p r",
        "p = Multiply q half; r = Div k two; t = T0132 r; z = Matmul p t",
        "p = Multiply q half; t = T0132 k; s = Matmul p t; z = Div s two",
    };
    for (size_t i = 0; i < COUNT(forms); i++) {
        char text[600];
        snprintf(text, sizeof text, QKV "%s; " END, forms[i]);
        BECOMES(text, "y = Attention q k v");   /* the default scale */
    }
    BECOMES(QKV "t = T0132 k; z = Matmul q t; " END, "y = Attention q k v [scale=1]");
    BECOMES(QKV PRODUCT "z = Multiply s two; " END, "y = Attention q k v [scale=2]");
    BECOMES(QKV PRODUCT "c = DivideScalar s [divisor=30]; u = Tanh c; z = Multiply u four; " END,
            "y = Attention q k v [scale=0.133333 softcap=4]");
    BECOMES(QKV PRODUCT "z = Tanh s; " END, "y = Attention q k v [scale=1 softcap=1]");
}

static void transpositions_of_keys(void **state) {
    (void)state;
    BECOMES(QKV "x: 2 5 3 16; t = T0231 x; z = Matmul q t; " END, "% = T0213 x; y = Attention q % v [scale=1]");
    BECOMES(QKV "x: 2 5 3 16; a = T0213 x; t = T0132 a; z = Matmul q t; " END, "% = T0213 x; y = Attention q % v [scale=1]");
    BECOMES(QKV "x: 2 5 3 16; a = T0213 x; t = T0132 a; z = Matmul q t; b = ReLU a; w = Softmax z; y = Matmul w v; out y b",
            "a = T0213 x; b = ReLU a; y = Attention q a v [scale=1]; out y b");
    BECOMES("q: 6 4 16; k: 6 5 16; v: 6 5 7; t = T021 k; z = Matmul q t; w = Softmax z [axis=2]; y = Matmul w v; out y",
            "y = Attention q k v [scale=1 q_num_heads=1 kv_num_heads=1]; out y");
}

static void products_that_are_no_attention(void **state) {
    (void)state;
    STAYS(QKV "x: 2 3 16 5; z = Matmul q x; " END);                                      /* a Transpose more       */
    STAYS(QKV "x: 2 5 16 3; t = T0321 x; a = T0132 t; z = Matmul q t; w = Softmax z; y = Matmul w v; out y a");
    STAYS(QKV PRODUCT "z = Multiply s quarter; w = Softmax z [axis=2]; y = Matmul w v; out y");
    STAYS(QKV PRODUCT "z = Multiply s quarter; w = Softmax z; y = Matmul w v; out y w");
    STAYS(QKV PRODUCT "z = Multiply s quarter; w = Softmax z; y = Matmul w v; out y z");
    STAYS(QKV PRODUCT "z = Multiply s quarter; w = Softmax z; y = Matmul w v; out y s");
    STAYS(QKV PRODUCT "z = Multiply s quarter; w = Softmax z; y = Matmul w v; out y t");
    STAYS(QKV "p = Multiply q quarter; t = T0132 k; z = Matmul p t; w = Softmax z; a = ReLU w; y = Matmul w v; out y a");
    STAYS(QKV PRODUCT "z = Div four s; " END);
    STAYS(QKV PRODUCT "z = Div s four [rounding_mode=FLOOR]; " END);
    STAYS(QKV "b: params 6; " PRODUCT "w = Softmax s; y = Matmul w v b; out y");         /* a sum after the values */
    STAYS("q: 4 16; k: 5 16; v: 5 6; t = T10 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS("q: 1 2 2 3 4 16; k: 1 2 2 3 5 16; v: 1 2 2 3 5 6; t = T012354 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS("q: 1 3 4 16; k: 2 3 5 16; v: 2 3 5 6; t = T0132 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS("q: 2 3 4 16; k: 2 3 5 16; v: 2 1 5 6; t = T0132 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS(QKV PRODUCT "l = LogSoftmax s; y = Matmul l v; out y");
    STAYS("q: 2 3 4 16; k: 2 3 5 16; v: fp16 2 3 5 6; t = T0132 k; z = Matmul q t; w = Softmax z; "
          "h = Cast w [target_dtype=fp16,2,3,4,5]; y = Matmul h v; out y");
    STAYS("q: fp16 2 3 4 16; k: fp16 2 3 5 16; v: fp16 2 3 5 6; t = T0132 k; s = Matmul q t; "
          "z = Cast s [target_dtype=fp32,2,3,4,5]; w = Softmax z; h = Cast w [target_dtype=fp16,2,3,4,5]; y = Matmul h v; out y");
}

/* ---- masks ------------------------------------------------------------------------------------------------------- */

static void masks_are_added(void **state) {
    (void)state;
    static const char *const dims[] = { "5", "1 5", "4 5", "1 4 5", "3 4 5", "1 1 1 5", "2 1 1 5", "2 3 4 5", "1 3 1 1" };
    for (size_t i = 0; i < COUNT(dims); i++) {
        for (int constant = 0; constant < 2; constant++) {
            char text[600];
            snprintf(text, sizeof text, QKV "m: %s%s; " PRODUCT "d = Div s four; z = Add %s; " END,
                     constant ? "params " : "fp32 ", dims[i], i % 2 ? "m d" : "d m");
            BECOMES(text, "y = Attention q k v m");
        }
    }
    BECOMES(QKV "m: fp32 5; n: params 3 1 1; " PRODUCT "a = Add s m; z = Add n a; " END, "% = Add m n; y = Attention q k v % [scale=1]");
    BECOMES(QKV "m: params 4 5; p = Multiply q quarter; t = T0132 k; z = Matmul p t m; " END, "y = Attention q k v m");
    BECOMES(QKV "m: params 4 5; " PRODUCT "z = Add s m; " END, "y = Attention q k v m [scale=1]");
    BECOMES(QKV "m: 2 3 4 5; n: 2 3 4 5; " PRODUCT "a = Add m n; z = Add a s; " END, "a = Add m n; y = Attention q k v a [scale=1]");
    BECOMES("q: 6 4 16; k: 6 5 16; v: 6 5 7; m: 6 4 5; t = T021 k; s = Matmul q t; z = Add s m; w = Softmax z; y = Matmul w v; out y",
            "% = R6,1,4,5 m; y = Attention q k v % [scale=1 q_num_heads=1 kv_num_heads=1]; out y");
    BECOMES("q: 6 4 16; k: 6 5 16; v: 6 5 7; m: 1 4 5; t = T021 k; s = Matmul q t; z = Add s m; w = Softmax z; y = Matmul w v; out y",
            "y = Attention q k v m [scale=1 q_num_heads=1 kv_num_heads=1]; out y");
}

static void masks_that_are_not_added_alone(void **state) {
    (void)state;
    STAYS(QKV "m: 4 5; " PRODUCT "a = Add s m; z = Multiply a quarter; " END);          /* the mask is scaled      */
    STAYS(QKV "m: params 4 5; t = T0132 k; a = Matmul q t m; z = Multiply a quarter; " END);
    STAYS(QKV "m: 4 5; " PRODUCT "a = Add s m; z = Tanh a; " END);
    STAYS(QKV "m: 4 5; " PRODUCT "z = Add s m [beta=2]; " END);
    STAYS(QKV "m: 4 5; " PRODUCT "z = Add m s [beta=-1]; " END);
    STAYS(QKV "m: 4 5; " PRODUCT "z = Multiply s m; " END);
    STAYS(QKV "m: 4 5; " PRODUCT "z = Add s m; w = Softmax z; y = Matmul w v; out y z");
    STAYS("q: 2 3 1 16; k: 2 3 5 16; v: 2 3 5 6; m: 4 5; t = T0132 k; s = Matmul q t; z = Add s m; " END);   /* it adds queries */
    STAYS("q: 2 1 4 16; k: 2 1 5 16; v: 2 1 5 6; m: 3 4 5; t = T0132 k; s = Matmul q t; z = Add s m; w = Softmax z; y = Matmul w v; out y");
}

static void masks_are_chosen(void **state) {
    (void)state;
    static const char *const keep[] = { "4 5 = 1 0 0 0 0 1 1 0 0 0 1 1 1 0 0 1 1 1 1 0", "1 5 = 0 1 1 0 1" };
    for (size_t i = 0; i < COUNT(keep); i++) {
        static const char *const numbers[] = { "-inf", "-1e9", "-1e4" };
        for (size_t j = 0; j < COUNT(numbers); j++) {
            char text[600];
            snprintf(text, sizeof text, QKV "c: params bool %s; low: params 1 = %s; " PRODUCT "z = Where s low c; " END,
                     keep[i], numbers[j]);
            BECOMES(text, "y = Attention q k v c [scale=1]");
        }
    }
    BECOMES(QKV "c: params bool 5 = 1 0 0 1 0; low: params 1 = -inf; " PRODUCT "z = Where low s c; " END,
            "% = Where low % c; y = Attention q k v % [scale=1]");
    BECOMES(QKV "x: fp32 5; c = Greater x half; low: params 1 = -inf; " PRODUCT "z = Where s low c; " END,
            "c = Greater x half; y = Attention q k v c [scale=1]");
    BECOMES(QKV "x: fp32 5; low: params 1 = -3.4028235e38; " PRODUCT "c = Greater x half; z = Where s low c; " END,
            "c = Greater x half; % = Where % low c; y = Attention q k v % [scale=1]");
    BECOMES(QKV "x: fp32 5; low: params 1 = -3.4028235e38; " PRODUCT "c = Greater x half; z = Where low s c; " END,
            "c = Greater x half; % = Where low % c; y = Attention q k v % [scale=1]");
    BECOMES(QKV "c: params bool 4 5 = 1 0 0 0 0 1 1 0 0 0 1 1 1 0 0 1 1 1 1 0; m: 2 1 1 5; low: params 1 = -3.4028235e38; "
            PRODUCT "d = Div s four; a = Where d low c; z = Add a m; " END,
            "% = Where % low c; % = Add % m; y = Attention q k v %");
    BECOMES(QKV "c: params bool 4 5 = 1 0 0 0 0 1 1 0 0 0 1 1 1 0 0 1 1 1 1 0; m: 2 1 1 5; low: params 1 = -inf; "
            PRODUCT "a = Add s m; z = Where a low c; " END,
            "% = Where % low c; % = Add m %; y = Attention q k v % [scale=1]");
}

static void choices_that_exclude_nothing(void **state) {
    (void)state;
    static const char *const stay[] = {
        "low: params 1 = -100; c: params bool 5 = 1 0 0 1 0; z = Where s low c",                /* not a large number   */
        "low: params 1 = 1e9; c: params bool 5 = 1 0 0 1 0; z = Where s low c",
        "low: params 1 = -1e9; x: fp32 5; c = Greater x half; z = Where s low c",                    /* perhaps no key at all */
        "low: params 1 = -1e9; c: params bool 2 1 1 5 = 1 0 0 1 0 0 0 0 0 0; z = Where s low c",   /* a query without key */
        "low: params 1 = -1e9; c: params bool 4 1 = 1 0 1 1; z = Where s low c",
        "low: params 1 = -1e9; m: fp32 5; c: params bool 5 = 1 0 0 1 0; a = Where s low c; z = Add a m",
        "low: params 1 = -3e38; m: fp32 5; x: fp32 5; c = Greater x half; a = Add s m; z = Where a low c",   /* also of the sum */
        "low: params 5 = -1e9 -1e9 -1e9 -1e9 -1e9; c: params bool 5 = 1 0 0 1 0; z = Where s low c",
        "low: params 1 = -inf; x: 2 3 4 5; c = Greater x s; z = Where s low c",                 /* of the scores        */
    };
    for (size_t i = 0; i < COUNT(stay); i++) {
        char text[700];
        /* inputs stand before the first op */
        const char *ops = strstr(stay[i], "z = ");
        const char *first = strstr(stay[i], "c = "), *sum = strstr(stay[i], "a = ");
        if (first && first < ops) ops = first;
        if (sum && sum < ops) ops = sum;
        snprintf(text, sizeof text, QKV "%.*s" PRODUCT "%s; " END, (int)(ops - stay[i]), stay[i], ops);
        stays(text, __LINE__);
    }
}

/* Swin adds a mask of windows to scores that have a dim for windows meanwhile. */
#define WINDOWS "k: 8 3 5 16; q: 8 3 5 16; v: 8 3 5 6; four: 4; b: params 1 3 5 5; "
#define SWIN(batch) "t = T0132 k; s = Matmul q t b; a = R" batch ",3,5,5 s; c = Add a m; z = R8,3,5,5 c; "

static void masks_of_windows(void **state) {
    (void)state;
    BECOMES(WINDOWS "m: params 1 8 1 5 5; " SWIN("1,8") END, "% = R8,1,5,5 m; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: 8 1 5 5; " SWIN("1,8") END, "% = R8,1,5,5 m; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: params 1 4 1 5 5; " SWIN("2,4") END,
            "% = Expand m [sizes=2,4,1,5,5]; % = R8,1,5,5 %; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: params 4 1 5 5; " SWIN("2,4") END,
            "% = R1,4,1,5,5 m; % = Expand % [sizes=2,4,1,5,5]; % = R8,1,5,5 %; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: params 2 4 1 5 5; " SWIN("2,4") END, "% = R8,1,5,5 m; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: params 1 1 3 5 5; " SWIN("2,4") END, "% = R1,3,5,5 m; % = Add b %; y = Attention q k v % [scale=1]");
    BECOMES(WINDOWS "m: params 2 1 3 5 5; " SWIN("2,4") END,
            "% = Expand m [sizes=2,4,3,5,5]; % = R8,3,5,5 %; % = Add b %; y = Attention q k v % [scale=1]");
}

static void other_dims_between_are_no_windows(void **state) {
    (void)state;
    STAYS(WINDOWS "m: params 8 5 5; t = T0132 k; s = Matmul q t b; a = R1,24,5,5 s; d = R3,8,5,5 a; c = Add d m; z = R8,3,5,5 c; " END);
    STAYS(WINDOWS "m: params 1 3 1 5 5; t = T0132 k; s = Matmul q t b; a = R1,3,8,5,5 s; c = Add a m; z = R8,3,5,5 c; " END);
    STAYS(WINDOWS "m: params 1 8 1 5 5; t = T0132 k; s = Matmul q t b; a = R1,8,3,5,5 s; c = Add a m; z = R8,3,5,5 c; "
          "w = Softmax z; y = Matmul w v; out y c");
    STAYS(WINDOWS "m: params 1 8 1 5 5; t = T0132 k; s = Matmul q t b; a = R1,8,3,5,5 s; c = Multiply a m; z = R8,3,5,5 c; " END);
    STAYS(WINDOWS "m: params 1 8 1 5 5; t = T0132 k; s = Matmul q t b; a = R1,8,3,5,5 s; c = Add a m [beta=2]; z = R8,3,5,5 c; " END);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

#define GROUPS "q: 2 6 4 16; k: 2 2 5 16; v: 2 2 5 7; "
#define REPEAT(of, to, size) to "1 = R2,2,1,5," size " " of "; " to "2 = Expand " to "1 [sizes=2,2,3,5," size "]; "  \
                             to "3 = R2,6,5," size " " to "2; "

static void repeated_heads_are_groups(void **state) {
    (void)state;
    BECOMES(GROUPS REPEAT("k", "a", "16") REPEAT("v", "b", "7") "t = T0132 a3; z = Matmul q t; w = Softmax z; y = Matmul w b3; out y",
            "y = Attention q k v [scale=1]; out y");
    BECOMES(GROUPS "m: 4 5; a1 = R2,2,1,5,16 k; a2 = Tile a1 [dims=1,1,3,1,1]; a3 = R2,6,5,16 a2; " REPEAT("v", "b", "7")
            "t = T0132 a3; s = Matmul q t; z = Add s m; w = Softmax z; y = Matmul w b3; out y", "y = Attention q k v m [scale=1]; out y");
    BECOMES("q: 2 6 4 16; k: 2 1 5 16; v: 2 1 5 7; t = T0132 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y",
            "y = Attention q k v [scale=1]; out y");   /* the product broadcasts a head */
}

static void other_repetitions_stay(void **state) {
    (void)state;
    /* they are values that something computes: the rest is an attention nevertheless */
    BECOMES(GROUPS "a1 = R2,1,2,5,16 k; a2 = Expand a1 [sizes=2,3,2,5,16]; a3 = R2,6,5,16 a2; " REPEAT("v", "b", "7")
            "t = T0132 a3; z = Matmul q t; w = Softmax z; y = Matmul w b3; out y",
            "a1 = R2,1,2,5,16 k; a2 = Expand a1 [sizes=2,3,2,5,16]; a3 = R2,6,5,16 a2; b1 = R2,2,1,5,7 v; "
            "b2 = Expand b1 [sizes=2,2,3,5,7]; b3 = R2,6,5,7 b2; y = Attention q a3 b3 [scale=1]; out y");
    BECOMES("q: 2 6 4 16; k: 2 2 5 16; v: 2 6 5 7; " REPEAT("k", "a", "16") "t = T0132 a3; z = Matmul q t; w = Softmax z; y = Matmul w v; out y",
            "a1 = R2,2,1,5,16 k; a2 = Expand a1 [sizes=2,2,3,5,16]; a3 = R2,6,5,16 a2; y = Attention q a3 v [scale=1]; out y");
    STAYS("q: 2 6 4 16; k: 2 1 5 16; v: 2 6 5 7; t = T0132 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS("q: 2 1 4 16; k: 2 6 5 16; v: 2 6 5 7; t = T0132 k; z = Matmul q t; w = Softmax z; y = Matmul w v; out y");
    STAYS(GROUPS REPEAT("k", "a", "16") REPEAT("v", "b", "7") "t = T0132 a3; z = Matmul q t; w = Softmax z; y = Matmul w b3; out y t");
}

/* ---- heads ------------------------------------------------------------------------------------------------------- */

#define SIDES "q: 2 4 48; k: 2 5 48; v: 2 5 18; "
#define APART "q1 = R2,4,3,16 q; q2 = T0213 q1; k1 = R2,5,3,16 k; v1 = R2,5,3,6 v; v2 = T0213 v1; "
#define CORE  "t = T0231 k1; z = Matmul q2 t; w = Softmax z; h = Matmul w v2; i = T0213 h; "

static void heads_side_by_side(void **state) {
    (void)state;
    BECOMES(SIDES APART CORE "y = R2,4,18 i; out y", "y = Attention q k v [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    BECOMES(SIDES APART CORE "y = R2,4,-1 i; out y", "y = Attention q k v [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    BECOMES(SIDES APART CORE "y = R8,18 i; out y",
            "% = Attention q k v [scale=1 q_num_heads=3 kv_num_heads=3]; y = R8,18 %; out y");
    BECOMES("q: 8 48; k: 10 48; v: 10 18; " APART CORE "y = R8,18 i; out y",
            "% = R2,4,48 q; % = R2,5,48 k; % = R2,5,18 v; % = Attention % % % [scale=1 q_num_heads=3 kv_num_heads=3]; y = R8,18 %; out y");
    BECOMES("q: 8 48; k: 2 5 48; v: 2 5 18; q1 = R-1,4,3,16 q; q2 = T0213 q1; k1 = R2,5,3,16 k; v1 = R2,5,3,6 v; v2 = T0213 v1; "
            CORE "y = R2,4,18 i; out y",
            "% = R-1,4,48 q; y = Attention % k v [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    BECOMES("q: 2 4 48; k: 2 5 16; v: 2 5 6; m: 1 1 5; q1 = R2,4,3,16 q; q2 = T0213 q1; k1 = R2,5,1,16 k; k2 = T0213 k1; v1 = R2,5,1,6 v; v2 = T0213 v1; "
            "h = Attention q2 k2 v2 m; i = T0213 h; y = R2,4,18 i; out y",
            "y = Attention q k v m [q_num_heads=3 kv_num_heads=1]; out y");
    BECOMES(SIDES APART CORE "y = R2,4,18 i; out y q2",
            "q1 = R2,4,3,16 q; q2 = T0213 q1; y = Attention q k v [scale=1 q_num_heads=3 kv_num_heads=3]; out y q2");
}

#define PACKED "x: 2 4 144; r = R2,4,3,3,16 x; p = T20314 r; "
#define PARTS  "t = T0132 k; z = Matmul q t; w = Softmax z; h = Matmul w v; i = T0213 h; y = R2,4,48 i; out y"

static void heads_of_one_tensor(void **state) {
    (void)state;
    static const char *const picks[] = {
        "zero: params sint64 = 0; one: params sint64 = 1; two: params sint64 = -1; " PACKED "q = Gather p zero; k = Gather p one; v = Gather p two; ",
        PACKED "q, k, v = Unstack p; ",
        PACKED "a, b, c = Split p [sections=1,1,1 axis=0]; q = Squeeze a [axis=0]; k = Squeeze b [axis=0]; v = R2,3,4,16 c; ",
        PACKED "a = Slice p [begin=0,0,0,0,0 end=1,9,9,99,99 stride=1,1,1,1,1]; q = Squeeze a [axis=0]; "
               "b = Slice p [begin=1,0,0,0,0 end=2,9,9,99,99 stride=1,1,1,1,1]; k = Squeeze b [axis=0]; "
               "c = Slice p [begin=-1,0,0,0,0 end=9,9,9,99,99 stride=2,1,1,1,1]; v = Squeeze c [axis=0]; ",
        "x: 2 4 144; r = R2,4,3,3,16 x; a, b, c = Unstack r [dim=2]; q = T0213 a; k = T0213 b; v = T0213 c; ",
    };
    for (size_t i = 0; i < COUNT(picks); i++) {
        char text[900];
        snprintf(text, sizeof text, "%s" PARTS, picks[i]);
        BECOMES(text, "%, %, % = Split x [sections=48,48,48 axis=2]; y = Attention % % % [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    }
    BECOMES("x: 8 144; r = R2,4,3,3,16 x; p = T20314 r; q, k, v = Unstack p; " PARTS,
            "% = R2,4,144 x; %, %, % = Split % [sections=48,48,48 axis=2]; y = Attention % % % [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
}

static void heads_in_other_places(void **state) {
    (void)state;
    /* In all of these there already is an Attention, whose heads keep their dim. */
    STAYS("q: 2 3 4 16; k: 2 3 5 16; v: 2 3 5 6; h = Attention q k v; i = T0213 h; y = R2,4,18 i; out y");   /* made so */
    STAYS(SIDES APART "k2 = T0213 k1; h = Attention q2 k2 v2; i = T0213 h; y = R2,4,18 i; out y i");
    STAYS(SIDES APART "k2 = T0213 k1; h = Attention q2 k2 v2; i = T0213 h; y = R2,4,18 i; out y h");
    STAYS(SIDES APART "k2 = T0213 k1; h = Attention q2 k2 v2; i = T0231 h; y = R2,4,18 i; out y");
    STAYS("q: 2 4 48; k: 2 5 48; v: 2 5 18; q1 = R2,3,4,16 q; k1 = R2,3,5,16 k; v1 = R2,3,5,6 v; h = Attention q1 k1 v1; "
          "i = T0213 h; y = R2,4,18 i; out y");
    STAYS("q: 2 4 48; k: 2 5 48; v: 2 5 18; q1 = R2,4,16,3 q; q2 = T0312 q1; k1 = R2,5,16,3 k; k2 = T0312 k1; v1 = R2,5,6,3 v; v2 = T0312 v1; "
          "h = Attention q2 k2 v2; i = T0213 h; y = R2,4,18 i; out y");
    STAYS("x: 2 4 144; r = R2,4,3,48 x; p = T0213 r; q, k, v = Split p [sections=16,16,16 axis=3]; h = Attention q k v; "
          "i = T0213 h; y = R2,4,48 i; out y");   /* the parts of each head */
    STAYS("x: 2 4 144; r = R2,4,3,3,16 x; p = T30214 r; q, k, v = Unstack p; h = Attention q k v; i = T0213 h; y = R2,4,48 i; out y");
}

/* Heads in the batch: [batch * heads, length, size]. */
#define BATCHED "q0: 2 4 48; k0: 2 5 48; v0: 2 5 48; q1 = R2,4,3,16 q0; q2 = T0213 q1; q = R6,4,16 q2; " \
                "k1 = R2,5,3,16 k0; k2 = T0213 k1; k = R6,5,16 k2; v1 = R2,5,3,16 v0; v2 = T0213 v1; v = R6,5,16 v2; "
#define UNBATCHED "w = Softmax z; o = Matmul w v; o1 = R2,3,4,16 o; o2 = T0213 o1; y = R2,4,48 o2; out y"

static void heads_in_the_batch(void **state) {
    (void)state;
    BECOMES(BATCHED "t = T021 k; z = Matmul q t; " UNBATCHED,
            "y = Attention q0 k0 v0 [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    BECOMES("m: 2 1 4 5; " BATCHED "t = T021 k; s = Matmul q t; a = R2,3,4,5 s; c = Add a m; z = R6,4,5 c; " UNBATCHED,
            "y = Attention q0 k0 v0 m [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    BECOMES("m: 3 4 5; n: 4 5; " BATCHED "t = T021 k; s = Matmul q t; d = Add s n; a = R2,3,4,5 d; c = Add m a; z = R6,4,5 c; " UNBATCHED,
            "% = Add n m; y = Attention q0 k0 v0 % [scale=1 q_num_heads=3 kv_num_heads=3]; out y");
    /* a mask for each of them keeps them there */
    BECOMES("q: 6 4 16; k: 6 5 16; v: 2 3 5 16; m: 6 4 5; u = R6,5,16 v; t = T021 k; s = Matmul q t; z = Add s m; "
            "w = Softmax z; y = Matmul w u; out y",
            "u = R6,5,16 v; % = R6,1,4,5 m; y = Attention q k u % [scale=1 q_num_heads=1 kv_num_heads=1]; out y");
    BECOMES("q2: 2 3 4 16; k2: 2 3 5 16; v2: 2 3 5 16; q = R6,4,16 q2; k = R6,5,16 k2; v = R6,5,16 v2; t = T021 k; z = Matmul q t; "
            "w = Softmax z; y = Matmul w v; out y",
            "% = Attention q2 k2 v2 [scale=1]; y = R6,4,16 %; out y");
}

static void heads_that_differ_in_the_batch(void **state) {
    (void)state;
    BECOMES("q2: 2 3 4 16; k2: 3 2 5 16; v2: 2 3 5 16; q = R6,4,16 q2; k = R6,5,16 k2; v = R6,5,16 v2; t = T021 k; z = Matmul q t; "
            "w = Softmax z; y = Matmul w v; out y",
            "q = R6,4,16 q2; k = R6,5,16 k2; v = R6,5,16 v2; y = Attention q k v [scale=1 q_num_heads=1 kv_num_heads=1]; out y");
    STAYS("m: 3 1 4 5; " BATCHED "t = T021 k; s = Matmul q t; a = R3,2,4,5 s; c = Add a m; z = R6,4,5 c; " UNBATCHED);
    STAYS("m: 2 1 4 5; " BATCHED "t = T021 k; s = Matmul q t; a = R2,3,4,5 s; c = Multiply a m; z = R6,4,5 c; " UNBATCHED);
    STAYS("m: 2 1 5 4; " BATCHED "t = T021 k; s = Matmul q t; a = R2,3,5,4 s; c = Add a m; z = R6,4,5 c; " UNBATCHED);
    STAYS("m: 2 1 4 5; q: 6 4 16; k: 6 5 16; v: 6 5 16; t = T021 k; s = Matmul q t; a = R2,3,4,5 s; c = Add a m; z = R6,4,5 c; "
          "w = Softmax z; y = Matmul w v; out y");   /* where the heads are, nothing says */
    STAYS("m: 2 1 4 5; " BATCHED "t = T021 k; s = Matmul q t; a = R2,3,4,5 s; c = Add a m; z = R6,4,5 c; w = Softmax z; "
          "o = Matmul w v; o1 = R2,3,4,16 o; o2 = T0213 o1; y = R2,4,48 o2; out y c");
}

/* ---- every order, at random -------------------------------------------------------------------------------------- */

typedef struct tale { char text[3000]; size_t n; } tale;

__attribute__((format(printf, 2, 3))) static void tell(tale *t, const char *form, ...) {
    va_list list;
    va_start(list, form);
    t->n += (size_t)vsnprintf(t->text + t->n, sizeof t->text - t->n, form, list);
    va_end(list);
    if (t->n >= sizeof t->text) fail_msg("the tale is too long");
}

/* An attention of random sizes, in a random form, which is one or nearly one. Returns the number of Transposes. */
static void tell_attention(tale *t) {
    const int b = 1 + (int)chance(3), h = 1 + (int)chance(3), n = 1 + (int)chance(4), k = 1 + (int)chance(4),
              d = 1 + (int)chance(4), e = 1 + (int)chance(4);
    const bool sides = chance(2), wrong = chance(4) == 0;
    if (sides) tell(t, "q0: %d %d %d; k0: %d %d %d; v0: %d %d %d; ", b, n, h * d, b, k, h * d, b, k, h * e);
    else tell(t, "q: %d %d %d %d; k: %d %d %d %d; v: %d %d %d %d; ", b, h, n, d, b, h, k, d, b, h, k, e);
    tell(t, "c: params bool %d %d =", n, k);
    for (int i = 0; i < n * k; i++) tell(t, " %d", chance(3) || i % k == 0);
    tell(t, "; m: %d 1 1 %d; p: params %d %d %d; f: 0.3; low: params 1 = %s; ", b, k, h, n, k, chance(2) ? "-1e9" : "-inf");
    if (sides) tell(t, "q1 = R%d,%d,%d,%d q0; q = T0213 q1; k1 = R%d,%d,%d,%d k0; k = T0213 k1; v1 = R%d,%d,%d,%d v0; v = T0213 v1; ",
                    b, n, h, d, b, k, h, d, b, k, h, e);
    tell(t, chance(2) ? "qs = Multiply q f; " : "qs = Copy q; ");
    if (chance(2)) tell(t, "t = T0132 k; ks = Multiply t f; ");
    else tell(t, "ks = T0132 k; ");
    tell(t, "s0 = Matmul qs ks; ");
    int s = 0;
    for (uint64_t steps = chance(4); steps; steps--, s++) {
        switch (chance(wrong ? 6 : 4)) {
        case 0: tell(t, "s%d = Add s%d m; ", s + 1, s); break;
        case 1: tell(t, "s%d = Add p s%d; ", s + 1, s); break;
        case 2: tell(t, "s%d = Where s%d low c; ", s + 1, s); break;
        case 3: tell(t, "s%d = Div s%d f; ", s + 1, s); break;
        case 4: tell(t, "s%d = Multiply s%d p; ", s + 1, s); break;
        default: tell(t, "s%d = Add s%d p [beta=-1]; ", s + 1, s); break;
        }
    }
    tell(t, "w = Softmax s%d%s; o = Matmul w v; ", s, wrong && chance(2) ? " [axis=2]" : "");
    if (sides) tell(t, "o1 = T0213 o; y = R%d,%d,%d o1; out y", b, n, h * e);
    else tell(t, "out o");
    if (chance(8) == 0) tell(t, " s%d", s);
}

static size_t count_class(xir_network *net, const xir_class_decl *decl) {
    size_t n = 0;
    for (xir_op *op = NULL; (op = xir_network_next_of_class(net, op, decl));) n++;
    return n;
}

static void random_forms_compute_the_same(void **state) {
    (void)state;
    size_t fused = 0;
    for (int i = 0; i < 1500; i++) {
        tale t = { .n = 0 };
        tell_attention(&t);
        xir_network *net = net_of(t.text), *old = net_of(t.text);
        const size_t before = count_class(net, xir_transpose_class());
        if (i % 2) DOES(xir_pass_run(net, "identity", NULL, NULL, why));
        if (i % 3) DOES(xir_pass_run(net, "merge", NULL, NULL, why));
        fuse(net);
        fused += count_class(net, xir_attention_class());
        if (count_class(net, xir_transpose_class()) > before) fail_msg("more transpositions: %s", t.text);
        check_same_numbers(old, net, t.text, i);
        xir_network_free(old);
        xir_network_free(net);
    }
    if (fused < 500 || fused > 1400) fail_msg("%zu of 1500 are fused: too few or too many for a conclusion", fused);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void scarcely(want *w) {
    static char full[6000];
    spell("x: 8 5 144; b: params 1 3 5 5; m: params 1 4 1 5 5; c: params bool 5 = 1 1 0 1 1; low: params 1 = -inf; f: 0.25; "
          "r = R8,5,3,3,16 x; p = T20314 r; q, k, v = Unstack p; t = T0132 k; n = Multiply q f; s = Matmul n t b; a = R2,4,3,5,5 s; "
          "d = Add a m; z = R8,3,5,5 d; e = Where z low c; w = Softmax e; h = Matmul w v; i = T0213 h; y = R40,48 i; out y", full, sizeof full);
    IN_PLENTY(w, w->net = story_net_in(w->ctx, full));
    TRY_LOOSELY(w, xir_pass_run(w->net, "fuse", NULL, NULL, w->why));
    IN_PLENTY(w, assert_int_equal(xir_pass_run(w->net, "dce", NULL, NULL, w->why), XIR_OK));
    w->result = text_of(w->net);
}

static void failing_allocations_leak_nothing(void **state) {
    (void)state;
    run_scarcely("fuse", scarcely, false);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_stand_anywhere),
        cmocka_unit_test(transpositions_of_keys),
        cmocka_unit_test(products_that_are_no_attention),
        cmocka_unit_test(masks_are_added),
        cmocka_unit_test(masks_that_are_not_added_alone),
        cmocka_unit_test(masks_are_chosen),
        cmocka_unit_test(choices_that_exclude_nothing),
        cmocka_unit_test(masks_of_windows),
        cmocka_unit_test(other_dims_between_are_no_windows),
        cmocka_unit_test(repeated_heads_are_groups),
        cmocka_unit_test(other_repetitions_stay),
        cmocka_unit_test(heads_side_by_side),
        cmocka_unit_test(heads_of_one_tensor),
        cmocka_unit_test(heads_in_other_places),
        cmocka_unit_test(heads_in_the_batch),
        cmocka_unit_test(heads_that_differ_in_the_batch),
        cmocka_unit_test(random_forms_compute_the_same),
        cmocka_unit_test(failing_allocations_leak_nothing),
    };
    return RUN_GROUP(tests);
}
