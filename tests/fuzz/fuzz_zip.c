/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Archives: any bytes are refused with one finding, or every member lies in the archive, shares no byte with another,
 * and is found by its name; and the members written again are the same members. */
#include "zip/zip.h"
#include "support/kept.h"
#include "fuzz.h"

enum { MOST = 1 << 20 };   /* bytes that members inflate to, in addition to 16 times the archive */

static void check_places(const zip_archive *z) {
    for (size_t i = 0; i < z->n; i++) {
        const zip_member *m = &z->members[i];
        must(m->header < m->at && m->at <= z->whole->size && m->packed <= z->whole->size - m->at);
        must(zip_find(z, m->name) == m);
        for (size_t k = 0; k < i; k++) {
            const zip_member *o = &z->members[k];
            must(o->at + o->packed <= m->header || m->at + m->packed <= o->header);
        }
    }
}

/* Writes the members that can be read, and reads them again. */
static void comes_back(zip_archive *z, bool zip64) {
    buffer file;
    zip_writer w;
    buffer_init(&file, z->alloc);
    zip_begin(&w, z->alloc, zip64, keep, &file);
    for (size_t i = 0; i < z->n; i++) {
        blob *content = zip_take(z, &z->members[i], true);
        if (content) zip_add(&w, z->members[i].name, content->bytes, content->size);
        blob_release(content);
        z->status = XIR_OK;
    }
    must(zip_end(&w) == XIR_OK);
    blob *whole = blob_borrow(z->alloc, file.data, file.size, false, NULL, NULL);
    zip_archive again;
    must(zip_open(&again, z->alloc, whole, XIR_STR(""), MOST, NULL) == XIR_OK && again.n == w.n);
    for (size_t i = 0; i < again.n; i++) {
        const zip_member *was = zip_find(z, again.members[i].name);
        blob *content = zip_take(&again, &again.members[i], true);
        must(was && content && content->size == was->size && again.members[i].crc == was->crc);
        blob_release(content);
    }
    zip_close(&again);
    blob_release(whole);
    buffer_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static xir_context *ctx;
    if (!ctx && !(ctx = xir_context_new(NULL))) abort();
    xir_diags *why = xir_diags_new(ctx);
    blob *whole = blob_borrow(&memory_default, data, size, false, NULL, NULL);
    zip_archive z;
    must(why && whole);
    xir_status status = zip_open(&z, &memory_default, whole, XIR_STR("fuzz"), MOST, why);
    must(xir_diags_count(why) == (status ? 1 : 0));
    if (!status) {
        check_places(&z);
        comes_back(&z, false);
        comes_back(&z, true);
    }
    zip_close(&z);
    blob_release(whole);
    xir_diags_free(why);
    return 0;
}
