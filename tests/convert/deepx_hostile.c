/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Functions of DeepX with parameters and dims as large or as small as a line can say: a check and the conversion end,
 * nothing overflows, and what is not converted has a finding. All rows are tried with all extremes. */
#include <xir/convert.h>
#include <xir/pass.h>
#include <xir/serialize.h>
#include "support/net.h"
#include "support/often.h"

static const char *const shapes[] = { "[2 3]", "[1]", "[4 1 2]", "[2147483647 2]", "[65536 65536 65536]", "[0 3]", "[]" };
static const char *const precisions[] = { "float32", "int8", "bool", "float64", "int64" };
static const char *const texts[] = {
    "0", "-1", "1", "2147483648", "-9223372036854775808", "1e39", "nan", "-inf", "0.5", "true", "x", "[]", "[0]", "[-1]",
    "[1 0]", "[0 0]", "[2 3]", "[6]", "[-1 -1]", "[3 2 1]", "[-2147483648]", "[2147483647 2147483647]",
    "[65536 65536 65536 65536]", "[1 1 1 1 1 1 1 1 1 1]",
};

/* Returns true if all is converted. */
static bool try(const char *text) {
    xir_diags_clear(why);
    xir_network *net = xir_network_read(ctx, text, strlen(text), XIR_STR("x.ir"),
                                        &XIR_INIT(xir_load_options, .format = "deepx"), why);
    if (!net) return false;   /* a line without a meaning */
    xir_diags_clear(why);
    const xir_status checked = xir_dialect_check(net, why);
    assert_true((checked != XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) > 0));
    xir_diags_clear(why);
    const xir_status status = xir_pass_run(net, "deepx-to-xir", NULL, NULL, why);
    const bool whole = !status && !xir_network_first_unrunnable(net);
    if (!whole && !xir_diags_count(why)) fail_msg("%s: no finding", text);
    assert_int_equal(xir_network_validate(net, why), XIR_OK);
    xir_network_free(net);
    return whole;
}

/* A call of the row: parameters that it reads as texts get extremes, the others are tensors. */
static size_t call_of(const xir_convert_row *row, unsigned variant, char *out, size_t room) {
    size_t n = 0, tensors = (size_t)atoi(row->inputs), slot = 0;
    const char *to = shapes[variant / 3 % COUNT(shapes)], *from = shapes[variant % COUNT(shapes)];
    const char *precision = precisions[variant / 2 % COUNT(precisions)];
    n += (size_t)snprintf(out, room, "newtensor(vector<int32>:%s)->(tensor<%s>:a)\nnewtensor(vector<int32>:%s)->"
                          "(tensor<%s>:c)\nconstant(var<int32>:1)->(tensor<any>:a)\n%s(", from, precision, to,
                          precisions[variant % COUNT(precisions)], row->name + 7);
    for (bool more = true; more; slot++) {
        char key[8];
        snprintf(key, sizeof key, "arg%zu", slot);
        const bool is_text = strstr(row->attributes, key);
        more = is_text || tensors > 0;
        if (!more) break;
        if (slot) n += (size_t)snprintf(out + n, room - n, ", ");
        const char *text = texts[(variant + 5 * slot) % COUNT(texts)];
        if (is_text)
            n += (size_t)snprintf(out + n, room - n, "%s:%s", *text == '[' ? "vector<int32>" : "var<float32>", text);
        else
            n += (size_t)snprintf(out + n, room - n, "tensor<%s>:a", precision), tensors--;
    }
    return n + (size_t)snprintf(out + n, room - n, ")->(tensor<any>:c)\n");
}

static void all_functions_with_extremes(void **state) {
    enum { VARIANTS = OFTEN(7 * 24 * 5) };
    const xir_convert_row *row;
    size_t tried = 0, converted = 0;
    (void)state;
    for (size_t i = 0; (row = xir_convert_at(ctx, i)); i++) {
        if (strncmp(row->name, "deepx::", 7) != 0 || !row->cls) continue;
        for (unsigned variant = 0; variant < VARIANTS; variant++) {
            char text[1000];
            assert_true(call_of(row, variant, text, sizeof text) < sizeof text);
            converted += try(text);
            tried++;
        }
    }
    print_message("DeepX: %zu calls with extremes, %zu converted\n", tried, converted);
    assert_true(tried > OFTEN(40000) && converted > OFTEN(5000));
}

/* Constants that would be very large are not made, and drawn numbers neither. */
static void large_tensors_stay(void **state) {
    (void)state;
    assert_false(try("newtensor([65536 65536])->(tensor<float32>:a)\nuniform(0, 1, 7)->(tensor<float32>:a)\n"));
    assert_false(try("newtensor([65536 65536])->(tensor<float32>:a)\narange(0, 1)->(tensor<float32>:a)\n"));
    assert_false(try("newtensor([65536 65536])->(tensor<float32>:a)\nrepeat(a, [2147483647 2147483647])->(a)\n"));
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_functions_with_extremes),
        cmocka_unit_test(large_tensors_stay),
    };
    return RUN_GROUP(tests);
}
