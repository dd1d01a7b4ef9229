/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* One-string spellings: any bytes give an error that names a place in them, or an object whose text is read as the
 * same object again. */
#include "context.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx) ctx = xir_context_new(NULL);
    must(ctx != NULL);
    object_pool h;
    pool_init(&h, ctx, NULL);
    form_error e = { 0 };
    const xir_object *object = form_parse(&h, (xir_str){ (const char *)data, size }, &e);
    must((object == NULL) == (e.status != XIR_OK));
    must(e.at <= size && e.status != XIR_E_MEMORY);
    if (object) {
        buffer text;
        buffer_init(&text, context_alloc(ctx));
        object->cls->more->form->print(object, &text);
        must(!text.failed);
        must(form_parse(&h, (xir_str){ text.data, text.size }, NULL) == object);
        buffer_free(&text);
    }
    pool_free(&h);
    return 0;
}
