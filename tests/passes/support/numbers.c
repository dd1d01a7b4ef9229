/* Constants as numbers: read and written by definition, rounded once and to nearest even. */
#include <math.h>
#include "support/numbers.h"
#include "support/story.h"

typedef struct half { number_form form; int digits, least, greatest; } half;   /* bits of mantissa; exponents of the last bit */
static const half halves[] = { { NUMBER_FP16, 11, -24, 5 }, { NUMBER_BF16, 8, -133, 120 } };

static void all_of_16_bits_are_kept(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(halves); k++) {
        for (uint32_t bits = 0; bits < 65536; bits++) {
            uint16_t in = (uint16_t)bits, out;
            double x = number_read(halves[k].form, &in, 0);
            number_write(halves[k].form, &out, 0, x);
            if (isnan(x)) assert_true(isnan(number_read(halves[k].form, &out, 0)));
            else if (in != out) fail_msg("form %zu: %04x becomes %04x", k, in, out);
        }
    }
    const uint16_t known[] = { 0x3C00, 0xC000, 0x7BFF, 0x0001, 0x7C00, 0x3555 };
    const double values[] = { 1, -2, 65504, 5.9604644775390625e-8, (double)INFINITY, 0.333251953125 };
    for (size_t i = 0; i < COUNT(known); i++) assert_true(number_read(NUMBER_FP16, known, i) == values[i]);
    const uint16_t brain[] = { 0x3F80, 0xC000, 0x7F7F, 0x0001, 0x3EAB };
    const double brains[] = { 1, -2, 3.3895313892515355e38, 9.183549615799121e-41, 0.333984375 };
    for (size_t i = 0; i < COUNT(brain); i++) assert_true(number_read(NUMBER_BF16, brain, i) == brains[i]);
}

/* A number is written as the multiple of the last bit's value that is nearest, the even one of two; beyond the greatest as infinity. */
static void numbers_are_rounded_to_nearest_even(void **state) {
    (void)state;
    for (size_t k = 0; k < COUNT(halves); k++) {
        const half *h = &halves[k];
        for (int i = 0; i < 300000; i++) {
            double x = ldexp((double)chance(UINT64_MAX) + 1, (int)chance(300) - 214);
            if (chance(3) == 0) x = ldexp((double)(2 * chance(5000) + 1), (int)chance(160) - 140);   /* halfway, often */
            if (chance(2)) x = -x;
            uint16_t out;
            number_write(h->form, &out, 0, x);
            int exponent;
            frexp(x, &exponent);
            int step = exponent - h->digits < h->least ? h->least : exponent - h->digits;
            double units = fabs(x) / ldexp(1, step), low = floor(units), rest = units - low;
            double wanted = (rest > 0.5 || (rest == 0.5 && fmod(low, 2) == 1) ? low + 1 : low) * ldexp(1, step);
            if (wanted >= ldexp(1, h->greatest + h->digits)) wanted = (double)INFINITY;
            double found = number_read(h->form, &out, 0);
            if (fabs(found) != wanted || signbit(found) != signbit(x)) fail_msg("form %zu: %a becomes %a, %a was expected", k, x, found, wanted);
        }
    }
}

static void integers_and_floats_are_read(void **state) {
    (void)state;
    const int64_t i64[] = { INT64_MIN, -3 };
    const uint64_t u64[] = { UINT64_MAX };
    const uint8_t odd[] = { 0, 0xFE, 0xFF, 0xFF, 0xFF };   /* not aligned */
    assert_true(number_read(NUMBER_I64, i64, 1) == -3 && number_read(NUMBER_I64, i64, 0) == -ldexp(1, 63));
    assert_true(number_read(NUMBER_U64, u64, 0) == ldexp(1, 64));
    assert_true(number_read(NUMBER_I8, odd + 1, 0) == -2 && number_read(NUMBER_U8, odd + 1, 0) == 254);
    assert_true(number_read(NUMBER_I16, odd + 1, 0) == -2 && number_read(NUMBER_U16, odd + 1, 1) == 65535);
    assert_true(number_read(NUMBER_I32, odd + 1, 0) == -2 && number_read(NUMBER_U32, odd + 1, 0) == 4294967294.0);
    float f[2];
    double d[2];
    number_write(NUMBER_FP32, f, 1, 0.1);
    number_write(NUMBER_FP64, d, 1, 0.1);
    assert_true(f[1] == 0.1f && d[1] == 0.1 && number_read(NUMBER_FP32, f, 1) == (double)0.1f && number_read(NUMBER_FP64, d, 1) == 0.1);
    assert_true(isnan(number_read(NUMBER_NONE, d, 0)));
}

static void forms_are_those_of_types(void **state) {
    (void)state;
    assert_int_equal(number_form_of(xir_float(ctx, XIR_FLOAT_BF16)), NUMBER_BF16);
    assert_int_equal(number_form_of(FP32("*", 4)), NUMBER_FP32);
    assert_int_equal(number_form_of(xir_sint(ctx, 16)), NUMBER_I16);
    assert_int_equal(number_form_of(xir_uint(ctx, 64)), NUMBER_U64);
    assert_int_equal(number_form_of(xir_sint(ctx, 4)), NUMBER_NONE);
    assert_int_equal(number_form_of(xir_bool_type_get(ctx)), NUMBER_NONE);
    assert_int_equal(number_form_of(xir_float(ctx, XIR_FLOAT_TF32)), NUMBER_NONE);
    assert_int_equal(number_form_of(NULL), NUMBER_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_16_bits_are_kept),
        cmocka_unit_test(numbers_are_rounded_to_nearest_even),
        cmocka_unit_test(integers_and_floats_are_read),
        cmocka_unit_test(forms_are_those_of_types),
    };
    return RUN_GROUP(tests);
}
