/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The tensors of a program that are in the folder next to it. The files of all calls are read before the first call
 * gets its tensor. */
#include <stdio.h>
#include "deepx/folder.h"

typedef struct given { xir_op *op; const xir_type *type; blob *data; } given;

typedef struct loading {
    xir_network          *net;
    const format_reading *how;
    named_files           shapes, contents;
    arena                 names;          /* of files                      */
    given                *list;
    size_t                n, room;
    xir_status            status;
} loading;

static bool memory(loading *l) {
    if (l->status != XIR_E_MEMORY) diag_memory(l->how->why);
    l->status = XIR_E_MEMORY;
    return false;
}

static bool fail(loading *l, xir_status code, xir_str file, const char *sentence, ...) XIR_PRINTF(4, 5);
static bool fail(loading *l, xir_status code, xir_str file, const char *sentence, ...) {
    va_list args;
    const xir_diag at = { .severity = XIR_ERROR, .code = code, .file = file, .byte = XIR_NO_BYTE };
    va_start(args, sentence);
    diag_failv(l->how->why, &at, sentence, args);
    va_end(args);
    l->status = code;
    return false;
}

/* ---- one file --------------------------------------------------------------------------------------------------- */

/* "X.data/w.shape", as findings name it. */
static xir_str path_of(loading *l, xir_str name) {
    const xir_str folder = xir_str_of(l->shapes.path);
    char *text = arena_take(&l->names, folder.size + name.size + 1);
    if (!text) return name;
    memcpy(text, folder.data, folder.size);
    memcpy(text + folder.size, name.data, name.size);
    return (xir_str){ text, folder.size + name.size };
}

static xir_str name_with(loading *l, xir_str stem, const char *suffix) {
    const size_t n = strlen(suffix);
    char *text = arena_take(&l->names, stem.size + n + 1);
    if (!text) return (xir_str){ NULL, 0 };
    memcpy(text, stem.data, stem.size);
    memcpy(text + stem.size, suffix, n + 1);
    return (xir_str){ text, stem.size + n };
}

/* The file, NULL if the folder does not have it, or after a failure. */
static blob *find_file(loading *l, named_files *files, xir_str name) {
    named_fault fault = { .status = XIR_OK };
    if (!name.size) {
        (void)memory(l);
        return NULL;
    }
    const int64_t i = named_files_find(files, name, &fault);
    if (i >= 0) return files->files[i].whole;
    if (fault.absent) return NULL;
    if (fault.status == XIR_E_MEMORY) memory(l);
    else if (fault.what[0])
        fail(l, fault.status, fault.folder ? xir_str_of(l->how->path) : path_of(l, name), "%s", fault.what);
    else l->status = fault.status;   /* the finding exists */
    return NULL;
}

static bool read_shape(loading *l, xir_str name, const blob *file, deepx_shape *out) {
    deepx_place w = { .why = l->how->why, .file = path_of(l, name) };
    const bool ok = deepx_shape_read(&w, (xir_str){ file->size ? (const char *)file->bytes : "", (size_t)file->size },
                                     out);
    if (!ok) l->status = w.status;
    return ok;
}

/* ---- one call --------------------------------------------------------------------------------------------------- */

static const xir_type *type_of(loading *l, const deepx_shape *said) {
    xir_context *ctx = l->net->ctx;
    const xir_type *element = element_code_type(ctx, &deepx_elements.rows[said->element]);
    char stars[DEEPX_MOST_DIMS];
    memset(stars, '*', sizeof stars);
    const xir_layout *layout = element ? xir_layout_parse(ctx, (xir_str){ stars, said->rank }, NULL) : NULL;
    const xir_type *type = layout ? xir_type_tensor(ctx, element, layout, said->dims, said->rank) : NULL;
    type = type ? net_type(l->net, type) : NULL;
    if (!type) (void)memory(l);
    return type;
}

/* The executor fills the tensor with the bytes as they are: only their elements must be the same. */
static bool check_target(loading *l, const xir_op *op, xir_str name, const deepx_shape *said, const xir_type *stated) {
    const xir_type *target = op_outputs(op)[0].type;
    int64_t elements = 0;
    if (!xir_type_equal(xir_type_element(target), xir_type_element(stated)))
        return fail(l, XIR_E_TYPE, path_of(l, name), "its elements are %s: those of '%.*s', which op %" PRId64
                    " fills, are others", deepx_elements.rows[said->element].name,
                    CLIP(xir_value_name(&op_outputs(op)[0])), op->id);
    if (xir_type_elements(target, &elements) || (uint64_t)elements != said->elements)
        return fail(l, XIR_E_TYPE, path_of(l, name), "expected %" PRId64 " elements, as '%.*s' has, which op %" PRId64
                    " fills, found %" PRIu64, elements, CLIP(xir_value_name(op_outputs(op))), op->id, said->elements);
    return true;
}

/* The type of the tensor: of the .shape for `load`, which makes it; otherwise of the tensor that the call fills. */
static bool choose_type(loading *l, const xir_op *op, xir_str name, const blob *shape_file, const xir_type **out) {
    deepx_shape said;
    const xir_type *target = op->n_outputs ? op_outputs(op)[0].type : NULL, *stated = NULL;
    const bool makes = xir_str_equal(op->cls->key, XIR_STR("deepx::load"));
    const bool fills = !makes && xir_type_as_tensor(target) && !xir_type_has_unknown_dim(target);
    if (shape_file && !(read_shape(l, name, shape_file, &said) && (stated = type_of(l, &said)))) return false;
    if (shape_file && fills && !check_target(l, op, name, &said, stated)) return false;
    *out = fills ? target : stated;
    return *out || fail(l, XIR_E_MISSING, path_of(l, name), "there is no such file: the type of the tensor is unknown");
}

static bool check_size(loading *l, xir_str name, const blob *data, const xir_type *type) {
    uint64_t size = 0;
    int64_t elements = 0;
    if (xir_type_elements(type, &elements) || xir_type_bytes(type, &size) ||
        (uint64_t)elements > l->net->ctx->limits.max_elements)
        return fail(l, XIR_E_LIMIT, path_of(l, name), "the tensor has more elements than the limit of %" PRIu64,
                    l->net->ctx->limits.max_elements);
    return data->size == size || fail(l, XIR_E_CORRUPT, path_of(l, name), "expected %" PRIu64 " bytes, as its type "
                                      "takes, found %" PRIu64, size, data->size);
}

static bool take_call(loading *l, xir_op *op) {
    xir_str path;
    if (!deepx_reads_files(op, &path) || op->n_outputs != 1) return true;
    const xir_str stem = deepx_file_name(path);
    if (!stem.size || named_file_refuses(stem)) return true;
    const xir_str shape_name = name_with(l, stem, DEEPX_SHAPE_SUFFIX);
    const xir_str data_name = name_with(l, stem, DEEPX_DATA_SUFFIX);
    blob *type = find_file(l, &l->shapes, shape_name);
    blob *data = l->status ? NULL : find_file(l, &l->contents, data_name);
    if (l->status) return false;
    if (!data)
        return !type || fail(l, XIR_E_MISSING, path_of(l, data_name), "there is no such file next to its .shape");
    given one = { .op = op, .data = data };
    if (!choose_type(l, op, shape_name, type, &one.type) || !check_size(l, data_name, data, one.type)) return false;
    if (!mem_reserve(&l->net->ctx->alloc, (void **)&l->list, &l->room, l->n + 1, sizeof *l->list)) return memory(l);
    l->list[l->n++] = one;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

static bool give(loading *l, const given *g) {
    const xir_op *op = g->op;
    xir_value *v = xir_params_new(l->net, xir_value_name(&op_outputs(op)[0]), g->type);
    if (!v) return memory(l);
    value_params(v)->data = g->data;
    blob_retain(g->data);
    const xir_any any = { .kind = XIR_ANY_PARAMS, .as.params = v };
    if (xir_op_set_extra(g->op, XIR_STR(DEEPX_DATA), &any)) return memory(l);
    if (!op_outputs(op)[0].type) op_outputs(g->op)[0].type = g->type;
    return true;
}

static bool give_all(loading *l) {
    size_t n = 0;
    while (n < l->n && give(l, &l->list[n])) n++;
    for (size_t i = 0; n < l->n && i < n; i++) (void)xir_op_set_extra(l->list[i].op, XIR_STR(DEEPX_DATA), NULL);
    return n == l->n;
}

/* Returns the folder of the files, with a '/' at its end. */
static const char *folder_of(loading *l, const char *path) {
    const size_t n = strlen(path);
    if (n && path[n - 1] == '/') return path;
    return name_with(l, (xir_str){ path, n }, "/").data;
}

xir_status deepx_load_params(xir_network *net, const format_reading *how) {
    loading l = { .net = net, .how = how };
    const xir_allocator *alloc = &net->ctx->alloc;
    arena_init(&l.names, alloc);
    const char *folder = folder_of(&l, how->path);
    l.shapes = (named_files){ .ctx = net->ctx, .alloc = alloc, .path = folder, .most = DEEPX_MOST_SHAPE,
                              .why = how->why };
    l.contents = (named_files){ .ctx = net->ctx, .alloc = alloc, .path = folder, .lazy = how->lazy,
                                .watch = how->watch, .most = net->ctx->limits.max_bytes, .why = how->why };
    named_files_begin(&l.shapes);
    named_files_begin(&l.contents);
    bool ok = folder || memory(&l);
    for (xir_op *op = net->first; op && ok; op = op->next) ok = take_call(&l, op);
    if (ok) give_all(&l);
    named_files_end(&l.shapes);
    named_files_end(&l.contents);
    mem_free(alloc, l.list, l.room * sizeof *l.list);
    arena_free(&l.names);
    return l.status;
}

xir_status deepx_read_params(xir_network *net, const format_reading *how, const void *data, size_t size) {
    (void)net;
    (void)data;
    (void)size;
    return file_fail(how->why, XIR_E_UNSUPPORTED, "", XIR_NO_BYTE,
                     "the tensors of a DeepX program are in a folder: they cannot come from one file");
}
