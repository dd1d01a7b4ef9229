/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

#include <string.h>
#include "support/malformed.h"

static const xir_diag *first_finding(bool error) {
    for (size_t k = 0; k < xir_diags_count(why); k++)
        if ((xir_diags_at(why, k)->severity == XIR_ERROR) == error) return xir_diags_at(why, k);
    return NULL;
}

void malformed_try(const malformed_text *rows, size_t n, xir_network *(*read)(const char *text, size_t size)) {
    size_t wrong = 0;
    for (const malformed_text *row = rows; row < rows + n; row++) {
        xir_network *net = read(row->text, strlen(row->text));
        const xir_diag *d = first_finding(row->status != XIR_OK);
        if (!d || (net != NULL) != (row->status == XIR_OK) || d->code != row->status || d->line != row->line ||
            d->column != row->column || strncmp(d->message.data, row->sentence, strlen(row->sentence)) != 0) {
            print_error("row %zu: %s\n%s at %u:%u: %s\n expected: %u:%u: %s\n", (size_t)(row - rows), row->text,
                        d ? xir_status_name(d->code) : "read", d ? d->line : 0, d ? d->column : 0,
                        d ? d->message.data : "", row->line, row->column, row->sentence);
            wrong++;
        }
        xir_network_free(net);
        xir_diags_clear(why);
    }
    assert_int_equal(wrong, 0);
}
