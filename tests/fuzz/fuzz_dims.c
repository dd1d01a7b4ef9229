/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Expressions for dims: any bytes give an error that names a place in them, or an expression whose text is read as the
 * same expression again, in another pool too. */
#include "context.h"
#include "fuzz.h"
#include "symbol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    object_pool pool, other;
    pool_init(&pool, ctx, NULL);
    pool_init(&other, ctx, NULL);
    form_error e = { 0 };
    expr first, again;
    bool ok = expr_parse(&pool, (xir_str){ (const char *)data, size }, &first, &e);
    must(ok == (e.status == XIR_OK) && e.at <= size && e.status != XIR_E_MEMORY);
    if (ok && first != EXPR_UNKNOWN) {
        buffer text;
        buffer_init(&text, context_alloc(ctx));
        expr_print(&pool, first, &text);
        must(!text.failed);
        must(expr_parse(&other, (xir_str){ text.data, text.size }, &again, NULL) && again == first);
        must(expr_translate(&other, &pool, first) == first);
        buffer_free(&text);
    }
    pool_free(&pool);
    pool_free(&other);
    return 0;
}
