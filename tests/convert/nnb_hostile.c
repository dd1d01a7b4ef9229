/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of NNB with arguments and dims as large or as small as a file can say: a check and the conversion end,
 * nothing overflows, and what is not converted has a finding. All numbers of the table are tried with all extremes. */
#include <xir/convert.h>
#include <xir/nnb.h>
#include "convert/nnb_text.h"
#include "support/often.h"

/* Returns true if all is converted. */
static bool try(const char *variables, const char *functions) {
    static char text[8000];
    char inputs[1000], outputs[1000];
    const nnb_words words = nnb_text(text, variables, functions, inputs, outputs);
    static nnb_made file;
    (void)words;
    nnb_make(&file, text);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.nnb"),
                                        &XIR_INIT(xir_load_options, .format = "nnb"), why);
    if (!net) return false;   /* a shape without a meaning */
    xir_diags_clear(why);
    const xir_status checked = xir_dialect_check(net, why);
    assert_true((checked != XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) > 0));
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "nnb-to-xir", NULL, NULL, why);
    const bool whole = !status && !xir_network_first_unrunnable(net);
    if (!whole && !xir_diags_count(why)) fail_msg("%s: %s: no finding", variables, functions);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
    return whole;
}

#define STAYS(variables, functions) \
    if (try(variables, functions)) fail_msg("line %d: it is converted", __LINE__)

static void arguments_out_of_range(void **state) {
    (void)state;
    STAYS("i2,3 o2,3", "16 0>1 i2");
    STAYS("i2,3 o2,3", "16 0>1 i-3");
    STAYS("i2,3 o2", "24 0>1 [2147483647] B0");
    STAYS("i2,3,4 p4,5 o2,3,5", "0 0,1>2 i4");
    STAYS("i2,3,4 p5,5 o2,3,5", "0 0,1>2 i2");
    STAYS("i- p1,5 o5", "0 0,1>2 i1");
    STAYS("i2,3,6,6 o2,3,3,3", "5 0>1 [2147483647,2] [2,2] B1 [0,0]");
    STAYS("i2,3,6,6 o2,3,3,3", "5 0>1 [2,2] [0,2] B1 [0,0]");
    STAYS("i2,3,6,6 o2,3,3,3", "5 0>1 [2,2] [2,2] B1 [-1,0]");
    STAYS("i2,3,6,6 o2,3,3,3", "5 0>1 [2,2] [2] B1 [0,0]");
    STAYS("i2,3,6,6 o2,3,3,3", "5 0>1 [] [] B1 []");
    STAYS("i2,3,6,6 p4,3,3,3 o2,4,4,4", "1 0,1>2 i1 [0,0] [1,1] [1,1] i0");
    STAYS("i2,3,6,6 p4,3,3,3 o2,4,4,4", "1 0,1>2 i1 [0,0] [1,1] [1,1] i2");
    STAYS("i2,3,6,6 p4,3,3,3 o2,4,4,4", "1 0,1>2 i0 [0,0] [1,1] [1,1] i1");
    STAYS("i2,3,6,6 p4,3,3,3 o2,4,4,4", "1 0,1>2 i1 [0,0] [1,1] [2147483647,1] i1");
    STAYS("i2,3,6,6 p6,3,3 o2,6,4,4", "2 0,1>2 i1 [0,0] [1,1] [1,1] i2147483647");
    STAYS("i2,3 o2,3", "77 0>1 [0,0] [2,3] [1,0]");
    STAYS("i2,3 o2,3", "123 0>1 [0,-1,0,0] i0 f0");
    STAYS("i2,3 o2,3", "123 0>1 [0,0,0] i0 f0");
    STAYS("i2,3 o3,2", "78 0>1 [0,0]");
    STAYS("i2,3 o3,2", "78 0>1 [1]");
    STAYS("i2,3 o6", "83 0>1 [-2]");
    STAYS("i2,3 o6", "83 0>1 [-1,-1]");
    STAYS("o2", "67 >0 f0 [2147483647,2147483647]");
    STAYS("o2", "131 >0 f0 f1e30 f1e-30");
    STAYS("o2", "343 >0 f0 f1 i2147483647");
    STAYS("i2,3 o2,1", "87 0>1 i0 B0 B1 i1");
    STAYS("k2,3 o2,3", "80 0>1 [2147483647,2147483647,2147483647]");
    STAYS("i2,3 o2,3", "113 0>1 B1 i64 f1 B0");
    STAYS("i- o-", "85 0>1");
    STAYS("i2,3 o2", "85 0>1");
}

static void what_nnabla_takes_is_converted(void **state) {
    (void)state;
    assert_true(try("i7 o3", "77 0>1 [-1] [-7] [-2]"));
    assert_true(xir_diags_count_of(why, XIR_WARNING) == 1);   /* its C runtime does not */
    assert_true(try("i2,3 o2,3", "86 0>1 f0.5 i-1"));
    assert_true(xir_diags_count_of(why, XIR_WARNING) == 1);
    assert_true(try("i2,3 o2,6", "123 0>1 [1,2] i2 f0"));
    assert_true(xir_diags_count_of(why, XIR_WARNING) == 1);
    assert_true(try("i3 o12", "123 0>1 [5,4] i1 f0"));       /* reflected again and again */
    assert_int_equal(xir_diags_count(why), 0);
    assert_true(try("i2,3 o2,3", "81 0>1 []"));
    assert_true(try("i2,3 o2,3", "82 0>1 [] i0"));
    assert_true(try("i- o-", "68 0>1"));
}

/* An argument list with extremes: `variant` picks them. */
static size_t arguments_of(const xir_nnb_function *f, unsigned variant, char *out, size_t room) {
    static const char *const ints[] = { "-2147483648", "-1", "0", "1", "2", "2147483647" };
    static const char *const reals[] = { "0", "-1", "1e38", "0.5", "nan", "inf" };
    size_t n = 0;
    *out = '\0';
    for (const char *c = f->code; *c; c++, variant += 5) {
        const char *number = ints[variant % COUNT(ints)];
        const unsigned items = variant / 7 % 4;
        if (*c == 'F' || *c == 'C' || (*c == 'f' && c[1] == 'F')) return SIZE_MAX;
        if (*c == 'f') n += (size_t)snprintf(out + n, room - n, " f%s", reals[variant % COUNT(reals)]);
        else if (*c == 'B') n += (size_t)snprintf(out + n, room - n, " B%u", variant % 3 == 2 ? 255 : variant % 3);
        else if (c[1] != 'I') n += (size_t)snprintf(out + n, room - n, " i%s", number);
        else {
            n += (size_t)snprintf(out + n, room - n, " [");
            for (unsigned i = 0; i < items; i++)
                n += (size_t)snprintf(out + n, room - n, "%s%s", i ? "," : "", ints[(variant + i) % COUNT(ints)]);
            n += (size_t)snprintf(out + n, room - n, "]");
            c++;
        }
    }
    return n;
}

static size_t count_words(const char *names) {
    size_t n = 0;
    for (const char *p = names; *p; p += strcspn(p, " "), p += strspn(p, " ")) n++;
    return n;
}

static void all_functions_with_extremes(void **state) {
    (void)state;
    static const char *const shapes[] = { "-", "0", "3", "2,3,4", "1,4,5,6", "2,2,3,4,5", "2147483647,1", "65536,32767" };
    enum { VARIANTS = IS_SANITIZED ? 6 : 24 };
    size_t tried = 0, converted = 0;
    for (size_t i = 0; xir_nnb_function_at(i); i++) {
        const xir_nnb_function *f = xir_nnb_function_at(i);
        for (unsigned variant = 0; variant < VARIANTS * COUNT(shapes); variant++) {
            char variables[400], function[600], arguments[400];
            const char *shape = shapes[variant % COUNT(shapes)], *last = shapes[variant / 3 % 6];
            const size_t n = count_words(f->inputs), outs = count_words(f->outputs);
            if (arguments_of(f, variant / COUNT(shapes) * 11 + variant, arguments, sizeof arguments) == SIZE_MAX) break;
            size_t v = 0, t = (size_t)snprintf(function, sizeof function, "%u ", f->id);
            for (size_t k = 0; k < n; k++) {
                const bool weight = k > 0 && variant % 2;
                v += (size_t)snprintf(variables + v, sizeof variables - v, "%s%s ", weight ? "p" : k ? "k" : "i",
                                      k ? last : shape);
                t += (size_t)snprintf(function + t, sizeof function - t, "%s%zu", k ? "," : "", k);
            }
            t += (size_t)snprintf(function + t, sizeof function - t, ">");
            for (size_t k = 0; k < outs; k++) {
                v += (size_t)snprintf(variables + v, sizeof variables - v, "o%s ", shape);
                t += (size_t)snprintf(function + t, sizeof function - t, "%s%zu", k ? "," : "", n + k);
            }
            snprintf(function + t, sizeof function - t, "%s", arguments);
            converted += try(variables, function);
            tried++;
        }
    }
    print_message("NNB: %zu functions with extremes, %zu converted\n", tried, converted);
    assert_true(tried > OFTEN(40000) && converted > OFTEN(500));
}

/* The Casts of fixed point have the stored dims. A function that computes others stays, with its reason; the network is
 * valid, and what follows is converted. */
static void stored_shapes_that_contradict(void **state) {
    static const char *const texts[] = {
        "nnb 3 44\ninputs 0\noutputs 1\nbuffers 2 8\nv i8:4 2 b0\nv i8:0 2,4 b1\nf 38 0>1 f100 B0\n",
        "nnb 3 44\ninputs 0\noutputs 1\nbuffers 2 8\nv i8:4 2 b0\nv i8:0 3 b1\nf 11 0>1\n",
        ("nnb 3 44\ninputs 0\noutputs 2\nbuffers 2 8 32\nv i8:4 2 b0\nv i8:4 2,4 b1\nv f 2,4 b2\nf 14 0>1 B0\n"
         "f 11 1>2\n"),
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        static nnb_made file;
        nnb_make(&file, texts[i]);
        xir_diags_clear(why);
        xir_network *net = xir_network_read(ctx, file.bytes, file.size, XIR_STR("x.nnb"), NULL, why);
        assert_non_null(net);
        xir_diags_clear(why);
        assert_int_equal(xir_pass_run(net, "nnb-to-xir", NULL, NULL, why), XIR_OK);
        if (xir_network_validate(net, why)) fail_msg("network %zu is invalid", i);
        const xir_op *stays = xir_network_first_unrunnable(net);
        assert_non_null(stays);
        bool said = false;
        for (size_t k = 0; k < xir_diags_count(why); k++) {
            char message[400];
            const xir_str m = xir_diags_at(why, k)->message;
            snprintf(message, sizeof message, "%.*s", (int)m.size, m.data);
            said |= strstr(message, "not converted: output 0 has a wrong declared type, which ops of XIR") != NULL;
        }
        assert_true(said);
        xir_network_free(net);
    }
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_out_of_range),
        cmocka_unit_test(what_nnabla_takes_is_converted),
        cmocka_unit_test(stored_shapes_that_contradict),
        cmocka_unit_test(all_functions_with_extremes),
    };
    return RUN_GROUP(tests);
}
