/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The original's functions for one format: each calls the general function with the format named, or does the same for
 * the structure of a JSON file alone. */
#include <xir/icraft.h>
#include "file.h"
#include "formats.h"

/* ---- one file -------------------------------------------------------------------------------------------------- */

static xir_network *load_as(xir_context *ctx, const char *format_name, const char *path, unsigned flags,
                            xir_diags *why) {
    xir_load_options options = XIR_INIT(xir_load_options, .format = format_name, .lazy = flags & XIR_LOAD_LAZY);
    if (flags & XIR_LOAD_NO_MD5) options.verify = XIR_VERIFY_HEADER;
    if (flags & XIR_LOAD_MD5) options.verify = XIR_VERIFY_FULL;
    return xir_network_load(ctx, path, &options, why);
}

xir_network *xir_msg_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why) {
    return load_as(ctx, "imodel", path, flags, why);
}

xir_network *xir_flat_load(xir_context *ctx, const char *path, unsigned flags, xir_diags *why) {
    return load_as(ctx, "fb", path, flags, why);
}

static xir_status save_as(xir_network *net, const char *format_name, const char *path, unsigned flags, xir_diags *why) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = format_name,
                                              .flags = flags & (XIR_SAVE_UNCHECKED | XIR_SAVE_NO_MD5));
    return xir_network_save(net, path, &options, why);
}

xir_status xir_msg_save(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    return save_as(net, "imodel", path, flags, why);
}

xir_status xir_flat_save(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    return save_as(net, "fb", path, flags, why);
}

/* ---- JSON and raw ---------------------------------------------------------------------------------------------- */

/* The structure alone. */
xir_network *xir_json_load(xir_context *ctx, const char *path, xir_diags *why) {
    blob *file = xir_save_check(ctx, path, why) ? NULL : file_read(ctx, path, why);
    if (!file) return NULL;
    xir_network *net = xir_json_read(ctx, (xir_str){ (const char *)file->bytes, (size_t)file->size },
                                     xir_str_of(path), why);
    blob_release(file);
    return net;
}

xir_status xir_json_save(xir_network *net, const char *path, unsigned flags, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    bool finished;
    xir_status status = flags & XIR_SAVE_UNCHECKED ? XIR_OK : xir_network_validate(net, why);
    if (!status) status = unfinished_end(net->ctx, path, NULL, &finished, why);
    if (status) return status;
    file_writer w;
    status = file_open(&w, net->ctx, path, why);
    if (status) return status;
    net->no_md5 = flags & XIR_SAVE_NO_MD5;
    status = xir_json_write(net, flags & XIR_SAVE_INDENT ? 4 : 0, file_write, &w, why);
    net->no_md5 = false;
    if (status) {
        file_abort(&w);
        return w.status ? w.status : status;
    }
    return file_commit(&w);
}

xir_status xir_raw_find(const char *json_path, char *out, size_t room, size_t *size, xir_diags *why) {
    return xir_params_file_find(NULL, "json", json_path, out, room, size, why);
}

/* `X.json` gives `X.raw`, another name has ".raw" appended. */
static char *raw_name(const xir_allocator *alloc, const char *json_path, size_t *room) {
    size_t n = strlen(json_path);
    *room = n + sizeof ".raw";
    char *path = mem_new(alloc, *room);
    if (!path) return NULL;
    memcpy(path, json_path, n);
    if (n > 5 && memcmp(path + n - 5, ".json", 5) == 0 && path[n - 6] != '/') n -= 5;
    memcpy(path + n, ".raw", sizeof ".raw");
    return path;
}

xir_status xir_json_raw_save(xir_network *net, const char *json_path, const char *raw_path, unsigned flags,
                             xir_diags *why) {
    if (!net) return diag_null(why, "network");
    const xir_allocator *alloc = &net->ctx->alloc;
    size_t room = 0;
    char *name = raw_path ? NULL : raw_name(alloc, json_path, &room);
    if (!raw_path && !name) return diag_memory(why);
    const xir_save_options options = XIR_INIT(xir_save_options, .format = "json",
                                              .params = name ? name : raw_path, .flags = flags);
    xir_status status = xir_network_save(net, json_path, &options, why);
    mem_free(alloc, name, room);
    return status;
}
