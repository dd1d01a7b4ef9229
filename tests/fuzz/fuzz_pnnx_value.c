/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Values of PNNX: any text is a value that is printed, and what is printed is the same value again; or a number in it
 * does not fit. Infinities and empty lists are strings and nothing when they are read, as in PNNX. */
#include <string.h>
#include <xir/xir.h>
#include "fuzz.h"

enum { ROOM = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static char first[1 << 20], second[1 << 20];
    char *exact = malloc(size ? size : 1);
    xir_any items[ROOM];
    xir_pnnx_kind kind, again;
    size_t n, n_first, n_second;
    must(exact != NULL);
    if (size) memcpy(exact, data, size);
    xir_status status = xir_pnnx_value_parse((xir_str){ exact, size }, &kind, items, ROOM, &n, NULL);
    must(status == XIR_OK || status == XIR_E_BOUNDS);
    if (!status && n <= ROOM && size < sizeof first / 64) {
        must(xir_pnnx_value_print(kind, items, n, first, sizeof first, &n_first, NULL) == XIR_OK);
        must(n_first < sizeof first);
        must(xir_pnnx_value_parse((xir_str){ first, n_first }, &again, items, ROOM, &n, NULL) == XIR_OK);
        must(again == kind || kind == XIR_PNNX_STRINGS);   /* "()" is nothing, "(%)" one string */
        if (again == kind) {
            must(xir_pnnx_value_print(again, items, n, second, sizeof second, &n_second, NULL) == XIR_OK);
            must(n_first == n_second && memcmp(first, second, n_first) == 0);
        }
    }
    free(exact);
    return 0;
}
