/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Corrections for misspelled names: one rule for attributes, operators, passes, options and commands. */
#include <string.h>
#include <strings.h>
#include <xir/base.h>

enum { LONGEST = 48, LONGEST_WHOLE = 256, FARTHEST = 3 };

/* The number of letters that are changed, inserted, left out or swapped with their neighbour, for texts of at most
 * LONGEST letters. */
static size_t distance(xir_str a, xir_str b) {
    uint8_t rows[3][LONGEST + 1];
    uint8_t *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b.size; j++) last[j] = (uint8_t)j;
    for (size_t i = 1; i <= a.size; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b.size; j++) {
            unsigned d = (unsigned)last[j - 1] + (a.data[i - 1] != b.data[j - 1]);
            if (last[j] + 1u < d) d = last[j] + 1u;
            if (row[j - 1] + 1u < d) d = row[j - 1] + 1u;
            bool exchanged = i > 1 && j > 1 && a.data[i - 1] == b.data[j - 2] && a.data[i - 2] == b.data[j - 1];
            if (exchanged && before[j - 2] + 1u < d) d = before[j - 2] + 1u;
            row[j] = (uint8_t)d;
        }
        uint8_t *oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[b.size];
}

static bool is_of_words(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* "c1" of "/c1/Conv", and as a beginning of three letters or more "conv" of "Conv2d". */
static bool has_part(xir_str word, xir_str whole) {
    for (size_t i = 0; i + word.size <= whole.size; i++) {
        if (i && is_of_words(whole.data[i - 1])) continue;
        const size_t after = i + word.size;
        if (word.size < 3 && after < whole.size && is_of_words(whole.data[after])) continue;
        if (strncasecmp(whole.data + i, word.data, word.size) == 0) return true;
    }
    return false;
}

/* SIZE_MAX: no likely correction. Fewer typing errors are likelier than a part, and of parts the shortest whole is. */
static size_t distance_of(xir_str word, xir_str candidate) {
    if (word.size <= LONGEST && candidate.size <= LONGEST) {
        size_t most = word.size / 3;
        if (most < 1) most = 1;
        if (most > FARTHEST) most = FARTHEST;
        const size_t d = distance(word, candidate);
        if (d <= most && d < word.size) return d;
    }
    if (word.size < 2 || candidate.size > LONGEST_WHOLE || !has_part(word, candidate)) return SIZE_MAX;
    return FARTHEST + 1 + candidate.size - word.size;
}

bool xir_str_is_nearer(xir_str word, xir_str candidate, size_t *distance_so_far) {
    const size_t d = distance_of(word, candidate);
    if (d >= *distance_so_far) return false;
    *distance_so_far = d;
    return true;
}
