/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing the folder of a program: a .shape and a .data of each tensor that a call reads. All tensors are checked
 * before the first file is written. */
#include "deepx/folder.h"
#include "number.h"

static const xir_value *params_of(const xir_op *op) {
    xir_str path;
    const xir_map *extra = deepx_reads_files(op, &path) ? op_more_of(op)->extra : NULL;
    const xir_any *data = xir_map_find(extra, XIR_STR(DEEPX_DATA));
    return data && data->kind == XIR_ANY_PARAMS ? data->as.params : NULL;
}

bool deepx_has_files(const xir_network *net) {
    for (const xir_op *op = net->first; op; op = op->next) if (params_of(op)) return true;
    return false;
}

bool deepx_is_own_file(xir_str name) {
    static const char *const ends[] = { DEEPX_SHAPE_SUFFIX, DEEPX_DATA_SUFFIX };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (name.size > n && memcmp(name.data + name.size - n, ends[i], n) == 0) return true;
    }
    return false;
}

static xir_status refuse(const format_writing *how, xir_status code, const xir_op *op, const char *what) {
    return file_fail(how->why, code, how->path, XIR_NO_BYTE, "op %" PRId64 " (%.*s): %s", op->id, CLIP(op->cls->key),
                     what);
}

static const char *word_of(const xir_network *net, const xir_type *element) {
    for (size_t i = 0; i < deepx_elements.n; i++) {
        const xir_type *own = element_code_type(net->ctx, &deepx_elements.rows[i]);
        if (own && xir_type_equal(own, element)) return deepx_elements.rows[i].name;
    }
    return NULL;
}

/* False: a stride does not fit into 64 bits, as those of a tensor without elements may. */
static bool put_list(buffer *out, const char *key, const xir_type *type, bool strides) {
    char text[NUMBER_ROOM];
    bool fits = true;
    buffer_str(out, key);
    buffer_str(out, ":\n");
    for (size_t i = 0; i < xir_type_rank(type); i++) {
        int64_t v = strides ? 1 : xir_type_dim(type, (int64_t)i, false);
        for (size_t k = i + 1; strides && k < xir_type_rank(type); k++)
            fits &= !__builtin_mul_overflow(v, xir_type_dim(type, (int64_t)k, false), &v);
        buffer_str(out, "  - ");
        buffer_put(out, text, number_put_i64(text, v));
        buffer_str(out, "\n");
    }
    return fits;
}

static void put_line(buffer *out, size_t key, xir_str value) {
    buffer_str(out, deepx_shape_keys[key]);
    buffer_str(out, ": ");
    buffer_put(out, value.data, value.size);
    buffer_str(out, "\n");
}

static void put_count(buffer *out, size_t key, int64_t n) {
    char text[NUMBER_ROOM];
    put_line(out, key, (xir_str){ text, number_put_i64(text, n) });
}

/* As the executor's own library prints it. */
static bool put_shape(buffer *out, const char *element, const xir_type *type, int64_t elements) {
    put_line(out, DEEPX_SHAPE_DTYPE, xir_str_of(element));
    put_count(out, DEEPX_SHAPE_DIM, (int64_t)xir_type_rank(type));
    (void)put_list(out, deepx_shape_keys[DEEPX_SHAPE_SHAPE], type, false);
    const bool fits = put_list(out, deepx_shape_keys[DEEPX_SHAPE_STRIDE], type, true);
    put_count(out, DEEPX_SHAPE_SIZE, elements);
    return fits;
}

/* A tensor, and the stem of its files. */
typedef struct tensor { const xir_op *op; const xir_value *value; xir_str stem; } tensor;

typedef struct putting {
    const format_writing *how;
    folder_writer        *to;
    text_table            files;      /* stem -> index in `tensors` */
    tensor               *tensors;
    size_t                n, room;
    buffer                name, text;
} putting;

static bool note_tensor(putting *p, const xir_allocator *alloc, const tensor *t) {
    if (!mem_reserve(alloc, (void **)&p->tensors, &p->room, p->n + 1, sizeof *p->tensors) ||
        !text_table_add(&p->files, t->stem, (uint32_t)p->n)) return false;
    p->tensors[p->n++] = *t;
    return true;
}

/* Makes the text of the .shape. */
static xir_status make_shape(putting *p, const xir_op *op, const xir_type *type) {
    int64_t elements = 0;
    const char *element = word_of(op->net, xir_type_element(type));
    if (!element || !xir_type_rank(type) || xir_type_elements(type, &elements))
        return refuse(p->how, XIR_E_UNSUPPORTED, op, "its tensor has a type that a .shape does not say");
    p->text.size = 0;
    const bool fits = put_shape(&p->text, element, type, elements);
    if (p->text.failed) return diag_memory(p->how->why);
    return fits ? XIR_OK : refuse(p->how, XIR_E_LIMIT, op, "the strides of its tensor do not fit into 64 bits");
}

/* Lists a tensor. A file that an earlier call reads too must have the same one. */
static xir_status check_tensor(putting *p, const xir_op *op, const xir_value *v) {
    const format_writing *how = p->how;
    const xir_type *type = xir_value_type(v);
    xir_str path;
    int64_t elements = 0;
    (void)deepx_reads_files(op, &path);
    const tensor t = { op, v, deepx_file_name(path) };
    if (!t.stem.size || named_file_refuses(t.stem))
        return refuse(how, XIR_E_UNSUPPORTED, op, "its path has no file name");
    const xir_status status = make_shape(p, op, type);
    if (status) return status;
    if (!xir_params_has_data(v) && !xir_type_elements(type, &elements) && elements)
        return refuse(how, XIR_E_MISSING, op, "its tensor has no bytes");
    const uint32_t *known = text_table_find(&p->files, t.stem);
    const xir_value *other = known ? p->tensors[*known].value : NULL;
    if (other && xir_type_equal(xir_value_type(other), type) && xir_params_equal(other, v)) return XIR_OK;
    if (known) return refuse(how, XIR_E_EXISTS, op, "another call reads another tensor from a file of its name");
    return note_tensor(p, &op->net->ctx->alloc, &t) ? XIR_OK : diag_memory(how->why);
}

static xir_status put_file(putting *p, xir_str stem, const char *suffix, const void *data, size_t size) {
    p->name.size = 0;
    buffer_put(&p->name, stem.data, stem.size);
    buffer_str(&p->name, suffix);
    if (p->name.failed) return diag_memory(p->how->why);
    return folder_write(p->to, (xir_str){ p->name.data, p->name.size }, data, size);
}

static xir_status put_tensor(putting *p, const tensor *t) {
    uint64_t size = 0;
    const void *data = xir_params_data(t->value, &size);
    int64_t elements = 0;
    xir_status status = make_shape(p, t->op, xir_value_type(t->value));
    if (!status && !data && !xir_type_elements(xir_value_type(t->value), &elements) && elements)    /* lost since */
        status = refuse(p->how, XIR_E_MISSING, t->op, "its tensor has no bytes");
    if (!status) status = put_file(p, t->stem, DEEPX_SHAPE_SUFFIX, p->text.data, p->text.size);
    return status ? status : put_file(p, t->stem, DEEPX_DATA_SUFFIX, data, (size_t)size);
}

xir_status deepx_write_folder(xir_network *net, const format_writing *how, folder_writer *to) {
    putting p = { .how = how, .to = to };
    xir_status status = XIR_OK;
    text_table_init(&p.files, &net->ctx->alloc);
    buffer_init(&p.name, &net->ctx->alloc);
    buffer_init(&p.text, &net->ctx->alloc);
    for (const xir_op *op = net->first; op && !status; op = op->next) {
        const xir_value *v = params_of(op);
        if (v) status = check_tensor(&p, op, v);
    }
    for (size_t i = 0; i < p.n && !status; i++) status = put_tensor(&p, &p.tensors[i]);
    text_table_free(&p.files);
    mem_free(&net->ctx->alloc, p.tensors, p.room * sizeof *p.tensors);
    buffer_free(&p.name);
    buffer_free(&p.text);
    return status;
}
