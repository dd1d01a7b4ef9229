/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Texts that are refused: every fault of a text is found, at its place, and with what was perhaps meant. A grave accent
 * marks each place; it is not part of the text. */
#include "support/forms.h"
#include "support/load_net.h"

enum { MOST = 4 };
typedef struct bad { const char *text; xir_status code; const char *sentences[MOST]; } bad;

#define X "%x = Input() : fp32 * [2]\n"

static const bad table[] = {
    /* the whole */
    { "`", XIR_E_SYNTAX, { "expected 'xir 1', found the end of the text" } },
    { "`x 1", XIR_E_SYNTAX, { "expected 'xir 1', found 'x'" } },
    { "xir `2\n", XIR_E_UNSUPPORTED, { "version 2 of the text is not known" } },
    { "\xEF\xBB\xBF`x 1", XIR_E_SYNTAX, { "expected 'xir 1', found 'x'" } },
    { "`\xEF\xBB", XIR_E_SYNTAX, { "expected 'xir 1', found byte 0xef" } },
    { "`\xFF\xFEx", XIR_E_SYNTAX, { "expected 'xir 1' in UTF-8, found a byte order mark of UTF-16" } },
    { "`\xFE\xFF", XIR_E_SYNTAX, { "expected 'xir 1' in UTF-8, found a byte order mark of UTF-16" } },
    { "xir 1 `x\n", XIR_E_SYNTAX, { "expected the end of the line, found 'x'" } },
    { "xir 1\n`)", XIR_E_SYNTAX, { "expected the class of an op, found ')'" } },

    /* the header */
    { "xir 1\n`.nme \"x\"", XIR_E_UNKNOWN, { "there is no entry .nme: perhaps .name is meant" } },
    { "xir 1\n.name \"x\" `.name \"y\"", XIR_E_EXISTS, { ".name is given twice" } },
    { "xir 1\n.name `7", XIR_E_TYPE, { "expected a text, found a number" } },
    { "xir 1\n.params `-1 \"\"", XIR_E_BOUNDS, { "expected a number of bytes" } },
    { "xir 1\n.absent (`nobody)", XIR_E_UNKNOWN, { "'nobody' is not a key that may be absent" } },
    { "xir 1\nOutput()\n.xir_version` \"3.1\"", XIR_E_INVALID, { "it stands before objects and ops" } },
    { "xir 1\n.symbols {`a=9..1}", XIR_E_BOUNDS, { "the symbol 'a' cannot be from 9 to 1" } },
    { "xir 1\n.symbols {a=`b..9}", XIR_E_SYNTAX, { "expected an integer" } },
    { "xir 1\n.ai_target @`nobodyt", XIR_E_UNKNOWN, { "" } },
    { "xir 1\n.ai_target @buyit (`usual)", XIR_E_SYNTAX, { "expected 'default)', found 'usual'" } },
    { "xir 1\n.ai_target @buyit (default`\n", XIR_E_SYNTAX, { "expected ')', found the end of the line" } },
    { "xir 1\n.tags {a=`@w : fp32 * [1]}", XIR_E_TYPE, { "expected plain data, found Params" } },

    /* aliases */
    { "xir 1\n!a = `!a", XIR_E_UNKNOWN, { "nothing is called !a yet" } },
    { "xir 1\n!long = fp32 [1]\n!b = `!lonk", XIR_E_UNKNOWN, { "perhaps !long is meant" } },
    { "xir 1\n!a = fp32\n`!a = fp32", XIR_E_EXISTS, { "!a is defined already" } },

    /* lines: all faults of a text */
    { "xir 1\n" X "%y = `Covn2d(%x) : fp32 * [2]\n%z = ReLU(`%w) : fp32 * [2]\nReLU(%y) {`alfa=1}\n`?\n", XIR_E_UNKNOWN,
      { "there is no class icraft::xir::Covn2d: perhaps Conv2d is meant", "ReLU has no attribute 'alfa'",
        "expected the class of an op, found '?'" } },
    { "xir 1\n" X "%y = `relu(%x) : fp32 * [2]\n%z = `caLL(%x) : fp32 * [2]\n", XIR_E_UNKNOWN,
      { "perhaps ReLU is meant", "perhaps xir::Call is meant" } },
    { "xir 1\n" X "`y = ReLU(%x) : fp32 * [2]\n", XIR_E_SYNTAX, { "a result begins with '%': perhaps %y is meant" } },
    { "xir 1\n" X "`end\n", XIR_E_SYNTAX, { "'end' without 'do'" } },
    { "xir 1\n" X "%y = Add(%x,\n%z `= ReLU(%x) : fp32 * [2]\nOutput(%z, `%w)\n", XIR_E_SYNTAX,
      { "expected ',' or ')', found '='", "no op makes %w" } },
    { "xir 1\n" X "%y = Add(%x,\n%x `%x) : fp32 * [2]\nOutput(`%z)\n", XIR_E_SYNTAX,
      { "expected ',' or ')'", "no op makes %z" } },
    { "xir 1\n" X "Output(`%y)\n", XIR_E_MISSING, { "no op makes %y" } },
    { "xir 1\n%image = Input() : fp32 * [2]\nOutput(`%imge)\n", XIR_E_MISSING,
     { "no op makes %imge: perhaps %image is meant" } },
    { "xir 1\n" X "`%x = Input() : fp32 * [2]\n", XIR_E_EXISTS, { "x is made in line 2 already" } },
    { "xir 1\n%x in`: fp32\n", XIR_E_SYNTAX, { "expected icraft::xir::MemType, found ':'" } },
    { "xir 1\n`%y = ReLU(%x#0 : fp32 * [2]) : fp32 * [2]\nOutput(%y)\n", XIR_E_CORRUPT,
     { "this copy of v_id 0 differs from the one at byte" } },
    { "xir 1\n" X "ReLU(%x) `#0\n", XIR_E_EXISTS, { "" } },
    { "xir 1\n" X "Output(%x) `~\n", XIR_E_INVALID, { "~ is the name of the first result, which has none" } },
    { "xir 1\n" X "%1 = ReLU(%x) `~ : fp32 * [2]\n", XIR_E_INVALID, { "which has none" } },
    { "xir 1\n" X "%y = ReLU(%x) ~`~ : fp32 * [2]\n", XIR_E_SYNTAX, { "expected ':' and the type of the result" } },
    { "xir 1\n`%9223372036854775807 = Input() : none\n", XIR_E_BOUNDS, { "" } },
    { "xir 1\n%x = Input() `\n", XIR_E_SYNTAX,
     { "expected ':' and the type of the result, found the end of the line" } },
    { "xir 1\n%x = Input() `: fp32, fp32\n", XIR_E_INVALID, { "2 types for 1 results" } },
    { "xir 1\nOutput(`3)\n", XIR_E_SYNTAX, { "expected an input" } },
    { "xir 1\n" X "Output(%x\n`Output(%x)\n", XIR_E_SYNTAX, { "expected ',' or ')', found 'Output'" } },
    { "xir 1\n" X "ReLU(%x) {`a=1\n", XIR_E_UNKNOWN, { "one that is not declared needs quotes" } },
    { "xir 1\n`Layout()\n", XIR_E_TYPE, { "expected an op, found icraft::xir::Layout" } },
    { "xir 1\n" X "acme::F(%x) {`a=1}\n", XIR_E_UNKNOWN, { "nobody has declared acme::F, so 'a' needs quotes" } },
    { "xir 1\n" X "Softmax(%x) {axis=1, `axis=2}\n", XIR_E_EXISTS, { "'axis' is given twice" } },
    { "xir 1\n" X "Softmax(%x) {axis=`x}\n", XIR_E_TYPE, { "expected a number, found a text" } },
    { "xir 1\n" X "Softmax(%x) absent(`axsi)\n", XIR_E_UNKNOWN, { "perhaps 'axis' is meant" } },

    /* types */
    { "xir 1\n%x = Input() : `fp31 * [2]\n", XIR_E_UNKNOWN,
     { "expected a type (fp32, int8, bool, ...), found 'fp31'" } },
    { "xir 1\n%x = Input() : fp32 N`X [2]\n", XIR_E_SYNTAX, { "an axis letter" } },
    { "xir 1\n%x = Input() : fp32 * [`-2]\n", XIR_E_BOUNDS, { "a dim is below 0" } },
    { "xir 1\n%x = Input() : fp32 * [max(1`]\n", XIR_E_SYNTAX, { "" } },
    { "xir 1\n%x = Input() : fp32 * [2\n`", XIR_E_SYNTAX, { "expected ']', found the end of the text" } },

    /* payloads */
    { "xir 1\nF::f(@w : fp32 * [2] = `[1])\n", XIR_E_MISSING, { "1 numbers, but the type has 2 elements" } },
    { "xir 1\nF::f(@w : fp32 * [1] = [1,`2])\n", XIR_E_BOUNDS, { "more numbers than the 1 elements" } },
    { "xir 1\nF::f(@w : fp32 * [99999999] = `[1])\n", XIR_E_MISSING, { "more than the text has bytes" } },
    { "xir 1\nF::f(@w : int8 * [1] = [`128])\n", XIR_E_BOUNDS, { "128 is outside -128 to 127" } },
    { "xir 1\nF::f(@w : uint8 * [1] = [`-1])\n", XIR_E_BOUNDS, { "-1 is outside 0 to 255" } },
    { "xir 1\nF::f(@w : int8 * [1] = [`1.5])\n", XIR_E_TYPE, { "expected an integer, found 1.5" } },
    { "xir 1\nF::f(@w : fp16 * [1] = [`1e9])\n", XIR_E_BOUNDS, { "more than an element of 16 bits holds" } },
    { "xir 1\nF::f(@w : fp32 * [1] = [`nan(0x00000001)])\n", XIR_E_BOUNDS, { "these bits are not a NaN" } },
    { "xir 1\nF::f(@w : int4 * [2] = x \"2`g\")\n", XIR_E_SYNTAX, { "expected a hexadecimal digit, found 'g'" } },
    { "xir 1\nF::f(@w : int4 * [2] = x `\"2103\")\n", XIR_E_BOUNDS, { "2 bytes, but the type takes 1" } },
    { "xir 1\nF::f(@w : int4 * [2] = `[1,2])\n", XIR_E_TYPE, { "numbers cannot stand for these elements" } },
    { "xir 1\nF::f(@w : fp32 * [1] = [1], @v : fp32 * [1] = `raw)\n", XIR_E_INVALID, { "expected one place for all" } },
    { "xir 1\nF::f(@w : fp32 * [1] = `some)\n", XIR_E_SYNTAX,
     { "expected numbers in brackets, splat, x, raw or none" } },
    { "xir 1\nF::f(@w`)\n", XIR_E_SYNTAX, { "expected ':', found ')'" } },
};

/* The text without its marks, and their places. */
static size_t unmarked(const char *text, char *out, size_t places[MOST + 4]) {
    size_t n = 0, size = 0;
    for (; *text; text++) {
        if (*text == '`') places[n++] = size;
        else out[size++] = *text;
    }
    out[size] = '\0';
    places[n] = SIZE_MAX;
    return size;
}

static bool is_found(const char *sentence) {
    for (size_t i = 0; i < xir_diags_count(why); i++)
        if (strstr(xir_diags_at(why, i)->message.data, sentence)) return true;
    return false;
}

static bool has_place(size_t byte) {
    for (size_t i = 0; i < xir_diags_count(why); i++) if (xir_diags_at(why, i)->byte == byte) return true;
    return false;
}

static void lines_are_counted(const char *text) {
    for (size_t i = 0; i < xir_diags_count(why); i++) {
        const xir_diag *d = xir_diags_at(why, i);
        uint32_t line = 1, column = 1;
        for (size_t k = 0; k < d->byte; k++) {
            column = text[k] == '\n' ? 1 : column + 1;
            line += text[k] == '\n';
        }
        assert_int_equal(d->line, line);
        assert_int_equal(d->column, column);
    }
}

static void each_is_refused(void **state) {
    size_t failed = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(table); i++) {
        const bad *b = &table[i];
        char text[600];
        size_t places[MOST + 4];
        const size_t size = unmarked(b->text, text, places);
        char *exact = malloc(size + !size);
        memcpy(exact, text, size);
        const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
        xir_diags_clear(why);
        xir_network *net = xir_network_read(ctx, exact, size, XIR_STR("bad"), &from, why);
        free(exact);
        if (net || !xir_diags_count(why)) fail_msg("row %zu is read: %s", i, text);
        bool good = xir_diags_at(why, 0)->code == b->code;
        for (size_t k = 0; k < MOST && b->sentences[k]; k++) good &= is_found(b->sentences[k]);
        for (size_t k = 0; places[k] != SIZE_MAX; k++) good &= has_place(places[k]);
        if (!good) {
            xir_diags_print(why, stderr);
            fprintf(stderr, "row %zu: %s\n%s: %s\n", i, b->text, xir_status_name(b->code), b->sentences[0]);
            failed++;
        }
        lines_are_counted(text);
    }
    assert_int_equal(failed, 0);
}

/* Cut anywhere, a text is refused or is a shorter one; changed anywhere, it is refused or read. */
static void cut_and_changed(void **state) {
    static const char text[] =
        "xir 1\n.name \"n\" .tags {a=[1,2.0,\"\\u0041\"]}\n.symbols {b=1..4}\n!t = fp32 NHWC [b,2,2,1] {}\n"
        "%x#3 in @etm(5) {k=1} more {\"m\"=null} = Input() #7 : !t\n"
        "%y = Conv2d(%x, @w as \"v\" : fp32 HWIO [1,1,1,1] = [nan(0x7fc00001)]) {stride_width=2, \"u\"=inf} \"c\" : fp32 NHWC [b,1,2,1] absent(pad_top) tags {t=true}\n"
        "%h = HardOp(%y, _) : none do\n  %s = ReLU(%y) : none\nend // a comment\nOutput(%h)\n";
    (void)state;
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    size_t read = 0;
    for (size_t n = 0; n <= sizeof text - 1; n++) {
        char *exact = malloc(n + !n);
        memcpy(exact, text, n);
        xir_diags_clear(why);
        xir_network *net = xir_network_read(ctx, exact, n, XIR_STR(""), &from, why);
        assert_true((net != NULL) == (xir_diags_count_of(why, XIR_ERROR) == 0));
        read += net != NULL;
        xir_network_free(net);
        free(exact);
    }
    assert_true(read > 3 && read < 20);
    static const char others[] = "\0\n\"#%(){}[]=,:@!_1a-\x80\xff";
    for (size_t n = 0; n < sizeof text - 1; n++) {
        for (size_t k = 0; k < sizeof others - 1; k++) {
            char changed[sizeof text];
            memcpy(changed, text, sizeof text);
            changed[n] = others[k];
            xir_diags_clear(why);
            xir_network *net = xir_network_read(ctx, changed, sizeof text - 1, XIR_STR(""), &from, why);
            assert_true((net != NULL) == (xir_diags_count_of(why, XIR_ERROR) == 0));
            xir_network_free(net);
        }
    }
}

static void limits_apply(void **state) {
    (void)state;
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    xir_limits limits = XIR_INIT(xir_limits);
    enum { DEEP = 4000 };
    char *text = malloc(3 * DEEP + 64);
    strcpy(text, "xir 1\n.tags {a=");
    memset(text + strlen(text) + 0, '[', DEEP);
    text[15 + DEEP] = '\0';
    FAILS_TO_LOAD(xir_network_read(ctx, text, strlen(text), XIR_STR(""), &from, why), XIR_E_LIMIT,
                  "nested deeper than");
    strcpy(text, "xir 1\n");
    for (int i = 0; i < 600; i++) strcat(text, "F() do\n");
    assert_null(xir_network_read(ctx, text, strlen(text), XIR_STR(""), &from, why));
    assert_int_equal(xir_context_limits(ctx, &limits, why), XIR_OK);
    xir_limits few = limits;
    few.max_ops = 1;
    assert_int_equal(xir_context_set_limits(ctx, &few, why), XIR_OK);
    FAILS_TO_LOAD(xir_network_read(ctx, "xir 1\nOutput()\nOutput()\n", 24, XIR_STR(""), &from, why), XIR_E_LIMIT,
                  "more ops than");
    assert_int_equal(xir_context_set_limits(ctx, &limits, why), XIR_OK);
    free(text);
}

/* One fault for each of a great many lines: findings end at a thousand. */
static void faults_end(void **state) {
    (void)state;
    enum { LINES = 20000 };
    const xir_load_options from = XIR_INIT(xir_load_options, .format = "text");
    char *text = malloc(8 + 2 * LINES);
    strcpy(text, "xir 1\n");
    for (size_t i = 0; i < LINES; i++) memcpy(text + 6 + 2 * i, "?\n", 2);
    xir_diags_clear(why);
    assert_null(xir_network_read(ctx, text, 6 + 2 * LINES, XIR_STR(""), &from, why));
    assert_int_equal(xir_diags_count_of(why, XIR_ERROR), 1000);
    assert_int_equal(xir_diags_at(why, 9)->line, 11);
    xir_diags_clear(why);
    free(text);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused),
        cmocka_unit_test(cut_and_changed),
        cmocka_unit_test(faults_end),
        cmocka_unit_test(limits_apply),
    };
    return RUN_GROUP(tests);
}
