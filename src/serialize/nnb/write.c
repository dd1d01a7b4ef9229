/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing: an unchanged network as its file was, others as today's exporter of NNabla lays them out (image.c). */
#include "nnb/nnb.h"

/* Returns true if the network is what was read: then it has the buffers, and perhaps the layout, of its file. */
static bool make_as_read(nnb_model *m, nnb_image *image) {
    const xir_any *variables = nnb_kept(m->net, "variables", XIR_ANY_LIST);
    const xir_any *buffers = nnb_kept(m->net, "buffers", XIR_ANY_LIST), *sum = nnb_kept(m->net, "for", XIR_ANY_INT);
    if (!variables || !buffers || !sum) return false;
    if (!nnb_model_as_read(m, &variables->as.list, &buffers->as.list) || !nnb_image_make(m, image)) return false;
    if (nnb_sum(image->bytes.data, image->bytes.size) != sum->as.integer) return false;
    const bool kept = nnb_kept(m->net, "bytes", XIR_ANY_TEXT) && nnb_kept_image(m, image);
    return kept || (!m->status && !(m->opaque && nnb_kept(m->net, "bytes", XIR_ANY_TEXT)));
}

/* Before the first byte is written. */
static bool check_data(nnb_model *m, const nnb_image *image, xir_diags *why, xir_status *found) {
    const nnb_hole *holes = image->holes.data;
    for (size_t i = 0; i < image->holes.size; i++) {
        const xir_value *v = holes[i].params;
        if (holes[i].size && !value_params(v)->data)
            return nnb_refuse(m, XIR_E_MISSING, "the parameter '%.*s' has no bytes, and NNB has its parameters inside",
                              CLIP(xir_value_name(v)));
        if (value_params(v)->data && (*found = params_check(v, why)) != XIR_OK) return false;
    }
    return true;
}

static bool put_piece(void *user, uint64_t at, const void *data, size_t size, const nnb_hole *hole) {
    const format_writing *how = user;
    (void)at;
    (void)hole;
    return how->write(how->user, data, size);
}

static xir_status report(const nnb_model *m, const format_writing *how) {
    if (m->status == XIR_E_MEMORY) return diag_memory(how->why);
    if (!m->at) return file_fail(how->why, m->status, how->path, XIR_NO_BYTE, "%s", m->fault);
    return file_fail(how->why, m->status, how->path, XIR_NO_BYTE, "op %" PRId64 " '%.*s': %s", m->at->id,
                     CLIP(xir_op_name(m->at)), m->fault);
}

nnb_model *nnb_prepare(xir_network *net, const format_writing *how, nnb_image *image, xir_status *status) {
    nnb_model *m = nnb_model_new(net);
    *image = (nnb_image){ .size = 0 };
    *status = XIR_OK;
    if (!m) {
        *status = diag_memory(how->why);
        return NULL;
    }
    bool ok = make_as_read(m, image);
    if (!ok && !m->status) {
        nnb_image_free(m, image);
        ok = nnb_model_fresh(m) && nnb_image_make(m, image);
    }
    if (ok && check_data(m, image, how->why, status)) return m;
    if (m->status) *status = report(m, how);
    nnb_image_free(m, image);
    nnb_model_free(m);
    return NULL;
}

xir_status nnb_write(xir_network *net, const format_writing *how) {
    nnb_image image;
    xir_status status;
    nnb_model *m = nnb_prepare(net, how, &image, &status);
    if (!m) return status;
    if (!nnb_image_each(&image, put_piece, (void *)(uintptr_t)how)) status = XIR_E_IO;
    nnb_image_free(m, &image);
    nnb_model_free(m);
    return status;
}
