/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Scores the answers of a classifier: counts the right ones, and compares them with those of another program.
 *
 *     score ANSWERS.npy LABELS.npy [OTHERS.npy]
 *
 * Answers have one row of numbers for each image; the position of the greatest is the class. Labels have one integer
 * for each image. */
#include <stdio.h>
#include <xir/xir.h>

/* The class of image `i`: the position of the greatest of its numbers. */
static int64_t class_of(const xir_array *answers, size_t i, size_t classes) {
    size_t best = 0;
    for (size_t c = 1; c < classes; c++)
        if (xir_array_real(answers, i * classes + c) > xir_array_real(answers, i * classes + best)) best = c;
    return (int64_t)best;
}

static size_t right_of(const xir_array *answers, const xir_array *labels) {
    size_t images = xir_array_count(labels), classes = xir_array_count(answers) / images, right = 0;
    for (size_t i = 0; i < images; i++) {
        int64_t label;
        if (xir_array_i64s(labels, i, 1, &label) == XIR_OK) right += class_of(answers, i, classes) == label;
    }
    return right;
}

static int report(const xir_array *answers, const xir_array *labels, const xir_array *others) {
    size_t images = xir_array_count(labels);
    if (images == 0 || xir_array_count(answers) % images != 0) {
        fprintf(stderr, "score: %zu answers do not belong to %zu labels\n", xir_array_count(answers), images);
        return 1;
    }
    printf("%zu of %zu right\n", right_of(answers, labels), images);
    if (!others) return 0;
    xir_difference d;
    if (xir_array_compare(answers, others, 1e-4, 0, &d) != XIR_OK || !d.same_shape) {
        fprintf(stderr, "score: the two have different shapes\n");
        return 1;
    }
    printf("%zu of %zu right by the other program; the largest difference of a number is %.2g\n",
           right_of(others, labels), images, d.largest);
    return d.count == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: score ANSWERS.npy LABELS.npy [OTHERS.npy]\n");
        return 2;
    }
    xir_context *ctx = xir_context_new(NULL);
    xir_diags *why = ctx ? xir_diags_new(ctx) : NULL;
    xir_array *files[3] = { NULL };
    int code = why ? 0 : 3;
    for (int i = 1; i < argc && !code; i++) {
        files[i - 1] = xir_array_load_npy(ctx, argv[i], why);
        if (!files[i - 1]) code = 3;
    }
    if (code && why) xir_diags_print(why, stderr);
    if (!code) code = report(files[0], files[1], files[2]);
    for (int i = 0; i < 3; i++) xir_array_free(files[i]);
    xir_diags_free(why);
    xir_context_free(ctx);
    return code;
}
