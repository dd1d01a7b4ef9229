/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A network as a file describes it: variables and functions by number. The numbers are those of the file that the
 * network came from, as long as its values still have the names that say them (v12); otherwise they are given again, in
 * the order in which functions refer to values. */
#include <stdarg.h>
#include "dialect/others.h"
#include "nnb/nnb.h"
#include "task.h"

/* ---- the model ------------------------------------------------------------------------------------------------- */

nnb_model *nnb_model_new(xir_network *net) {
    const xir_allocator *alloc = &net->ctx->alloc;
    nnb_model *m = mem_new(alloc, sizeof *m);
    if (!m) return NULL;
    memset(m, 0, sizeof *m);
    m->net = net;
    m->alloc = alloc;
    arena_init(&m->scratch, alloc);
    m->signatures.scratch = &m->scratch;
    buffer_init(&m->bytes, alloc);
    pointer_table_init(&m->numbers, alloc);
    pointer_table_init(&m->families, alloc);
    return m;
}

static void list_free(const nnb_model *m, dialect_list *l, size_t item) { mem_free(m->alloc, l->data, l->room * item); }

void nnb_model_free(nnb_model *m) {
    list_free(m, &m->variables, sizeof(nnb_variable));
    list_free(m, &m->records, sizeof(nnb_record));
    list_free(m, &m->buffers, sizeof(uint32_t));
    list_free(m, &m->ints, sizeof(int32_t));
    list_free(m, &m->lists, sizeof(nnb_args_list));
    list_free(m, &m->family, sizeof(nnb_family *));
    buffer_free(&m->bytes);
    pointer_table_free(&m->numbers);
    pointer_table_free(&m->families);
    arena_free(&m->scratch);
    mem_free(m->alloc, m, sizeof *m);
}

bool nnb_refuse(nnb_model *m, xir_status status, const char *sentence, ...) {
    va_list args;
    if (m->status) return false;
    m->status = status;
    va_start(args, sentence);
    text_vprint(m->fault, sizeof m->fault, sentence, args);
    va_end(args);
    return false;
}

bool nnb_model_memory(nnb_model *m) {
    if (!m->status) m->status = XIR_E_MEMORY;
    return false;
}

void *nnb_more(nnb_model *m, dialect_list *list, size_t n, size_t item) {
    if (list->size > INT32_MAX || n > INT32_MAX - list->size) {
        nnb_refuse(m, XIR_E_LIMIT, "the file would have 2^31 numbers of one kind or more");
        return NULL;
    }
    if (!mem_reserve(m->alloc, &list->data, &list->room, list->size + n + 1, item)) {
        nnb_model_memory(m);
        return NULL;
    }
    void *out = (char *)list->data + item * list->size;
    list->size += n;
    return out;
}

nnb_family *nnb_model_family(nnb_model *m, const xir_class *cls, xir_str name) {
    const uint32_t *known = pointer_table_find(&m->families, cls);
    if (known) return ((nnb_family **)m->family.data)[*known];
    nnb_family **out = nnb_more(m, &m->family, 1, sizeof *out), *made = out ? nnb_family_of(&m->signatures, name)
        : NULL;
    if (!made || !pointer_table_add(&m->families, cls, (uint32_t)m->family.size - 1)) {
        nnb_model_memory(m);
        return NULL;
    }
    return *out = made;
}

static nnb_variable *variable(nnb_model *m, size_t i) { return (nnb_variable *)m->variables.data + i; }

/* ---- the head -------------------------------------------------------------------------------------------------- */

static const xir_any *head_tag(const nnb_model *m,
                               const char *key) { return xir_map_find(m->net->tags, xir_str_of(key)); }

static bool take_head(nnb_model *m) {
    const xir_any *version = head_tag(m, NNB_TAG_VERSION), *api = head_tag(m, NNB_TAG_API);
    m->version = NNB_NEWEST;
    m->api = NNB_API_NEWEST;
    m->has_api = api != NULL;
    if (version && (version->kind != XIR_ANY_INT || version->as.integer < NNB_OLDEST ||
                    version->as.integer > NNB_NEWEST))
        return nnb_refuse(m, XIR_E_UNSUPPORTED, "the tag " NNB_TAG_VERSION ": expected %d or %d", NNB_OLDEST,
                          NNB_NEWEST);
    if (api && (api->kind != XIR_ANY_INT || api->as.integer < 0 || api->as.integer > UINT32_MAX))
        return nnb_refuse(m, XIR_E_INVALID, "the tag " NNB_TAG_API ": expected a number of 32 bits");
    if (version) m->version = (uint32_t)version->as.integer;
    if (api) m->api = (uint32_t)api->as.integer;
    return true;
}

static bool check_classes(nnb_model *m) {
    char sentence[DIALECT_OTHERS];
    return dialect_has_all(m->net, XIR_STR("nnb::"), "NNabla", "function", "convert the network to them first",
                           sentence) || nnb_refuse(m, XIR_E_UNSUPPORTED, "%s", sentence);
}

/* ---- values ---------------------------------------------------------------------------------------------------- */

static bool describe(nnb_model *m, xir_value *v, nnb_variable *out) {
    bool plain = v->type && !value_is_params(v) && !xir_value_tags(v);
    nnb_type_memo *memo = &m->types[hash_pointer(v->type) % NNB_MEMOS];
    if (plain && memo->type == v->type) {
        *out = memo->v;
        return true;
    }
    if (!nnb_describe_value(m, v, out)) return false;
    if (plain) *memo = (nnb_type_memo){ v->type, *out };
    return true;
}

/* The number that a name says: v12. */
static bool number_of(const xir_value *v, size_t n, uint32_t *out) {
    const xir_str name = xir_value_name(v);
    uint64_t said = 0;
    if (name.size < 2 || name.size > 11 || name.data[0] != 'v' || (name.data[1] == '0' && name.size > 2)) return false;
    for (size_t i = 1; i < name.size; i++) {
        if (name.data[i] < '0' || name.data[i] > '9') return false;
        said = 10 * said + (uint64_t)(name.data[i] - '0');
    }
    *out = (uint32_t)said;
    return said < n;
}

/* The number of a value, described once. A parameter that is also made by a function was described before. */
static bool number_as_read(nnb_model *m, xir_value *v, uint32_t *out) {
    if (!number_of(v, m->variables.size, out)) return false;
    nnb_variable *known = variable(m, *out);
    if (known->known) return !value_is_params(v) || known->params == v;
    if (!describe(m, v, known)) return false;
    known->known = true;
    return true;
}

static bool number_fresh(nnb_model *m, xir_value *v, uint32_t *out) {
    const uint32_t *known = pointer_table_find(&m->numbers, v);
    if (known) {
        *out = *known;
        return true;
    }
    *out = (uint32_t)m->variables.size;
    nnb_variable *made = nnb_more(m, &m->variables, 1, sizeof *made);
    if (!made || !pointer_table_add(&m->numbers, v, *out)) return nnb_model_memory(m);
    return describe(m, v, made);
}

typedef bool number_fn(nnb_model *m, xir_value *v, uint32_t *out);

static bool put_number(nnb_model *m, number_fn *numbering, xir_value *v, int32_t *out) {
    uint32_t n;
    if (!v) return nnb_refuse(m, XIR_E_UNSUPPORTED, "an input is absent, but another follows it: NNB cannot say this");
    if (!numbering(m, v, &n)) return false;
    *out = (int32_t)n;
    return true;
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

static bool describe_arguments(nnb_model *m, const xir_op *op, nnb_record *out) {
    const xir_map *extra = xir_op_extra(op);
    const bool plain = !op_more_of(op) || !op_more_of(op)->tags;
    nnb_args_memo *memo = &m->args[(hash_pointer(extra) ^ hash_pointer(op->cls)) % NNB_MEMOS];
    if (plain && memo->cls == op->cls && memo->extra == extra) {
        *out = memo->f;
        return true;
    }
    if (!nnb_describe_arguments(m, op, out)) return false;
    if (plain) *memo = (nnb_args_memo){ op->cls, extra, *out };
    return true;
}

/* Numbering a value adds its dims to `ints`, so the list of an op's values is taken together, afterwards. */
static bool put_values(nnb_model *m, number_fn *numbering, const xir_op *op, bool inputs, nnb_list *out) {
    const uint32_t n = inputs ? op->n_inputs : op->n_outputs;
    int32_t few[16], *numbers = n <= 16 ? few : arena_take(&m->scratch, n * sizeof *numbers);
    if (!numbers) return nnb_model_memory(m);
    for (uint32_t i = 0; i < n; i++) {
        xir_value *v = inputs ? op_inputs(op)[i].value : &op_outputs(op)[i];
        if (!put_number(m, numbering, v, &numbers[i])) return false;
    }
    int32_t *items = nnb_more(m, &m->ints, n, sizeof *items);
    if (!items) return false;
    memcpy(items, numbers, n * sizeof *items);
    *out = (nnb_list){ (uint32_t)(m->ints.size - n), n };
    return true;
}

static bool put_function(nnb_model *m, number_fn *numbering, const xir_op *op) {
    nnb_record f;
    if (!describe_arguments(m, op, &f)) return false;
    f.op = op;
    if (!put_values(m, numbering, op, true, &f.in) || !put_values(m, numbering, op, false, &f.out)) return false;
    nnb_record *out = nnb_more(m, &m->records, 1, sizeof *out);
    if (out) *out = f;
    return out;
}

/* Room for an ordinary network: a value in and out of each function, and shapes that repeat. */
static bool reserve(nnb_model *m) {
    const size_t n = m->net->n_ops;
    return (mem_reserve(m->alloc, &m->records.data, &m->records.room, n + 1, sizeof(nnb_record)) &&
            mem_reserve(m->alloc, &m->ints.data, &m->ints.room, 3 * n + 64, sizeof(int32_t))) || nnb_model_memory(m);
}

/* The first Input and Output count; a network has one of each. */
static bool put_network(nnb_model *m, number_fn *numbering) {
    const xir_op *input = NULL, *output = NULL;
    for (const xir_op *op = m->net->first; op; op = op->next) {
        const xir_op **end = nnb_is_input(op) ? &input : nnb_is_output(op) ? &output : NULL;
        if (end && *end)
            return nnb_refuse(m, XIR_E_UNSUPPORTED, "there are two ops of class %.*s", CLIP(op->cls->key));
        if (end) *end = op;
    }
    m->inputs = m->outputs = (nnb_list){ 0, 0 };
    if (!reserve(m)) return false;
    if (input && !put_values(m, numbering, input, false, &m->inputs)) return false;
    for (const xir_op *op = m->net->first; op; op = op->next) {
        m->at = op;
        if (!task_worked(TASK_PER_OBJECT)) return nnb_model_memory(m);
        if (op != input && op != output && !put_function(m, numbering, op)) return false;
    }
    m->at = output;
    if (output && !put_values(m, numbering, output, true, &m->outputs)) return false;
    m->at = NULL;
    return true;
}

static bool put_unused(nnb_model *m, number_fn *numbering) {
    const xir_list unused = nnb_unused(m->net);
    int32_t n;
    for (size_t i = 0; i < unused.size; i++)
        if (unused.items[i].kind == XIR_ANY_PARAMS &&
            !put_number(m, numbering, unused.items[i].as.params, &n)) return false;
    return true;
}

/* ---- as read --------------------------------------------------------------------------------------------------- */

static int64_t int_in(const xir_map *map, const char *key) {
    const xir_any *found = xir_map_find(map, xir_str_of(key));
    return found && found->kind == XIR_ANY_INT ? found->as.integer : -1;
}

/* A variable that nothing refers to: the tag has all of it. */
static bool put_idle(nnb_model *m, const xir_map *kept, nnb_variable *out) {
    const xir_any *found = xir_map_find(kept, XIR_STR("shape"));
    const xir_list *dims_kept = found && found->kind == XIR_ANY_LIST ? &found->as.list : NULL;
    const int64_t type = int_in(kept, "type"), fp_pos = int_in(kept, "fp_pos");
    int32_t *dims = dims_kept ? nnb_more(m, &m->ints, dims_kept->size, sizeof *dims) : NULL;
    if (!dims) return false;
    *out = (nnb_variable){ .known = true, .shape = (uint32_t)(m->ints.size - dims_kept->size),
                          .rank = (uint32_t)dims_kept->size,
                           .type = (uint8_t)(type & 15), .fp_pos = (uint8_t)(fp_pos < 0 ? 0 : fp_pos & 15) };
    for (size_t i = 0; i < dims_kept->size; i++) {
        const xir_any *dim = &dims_kept->items[i];
        if (dim->kind != XIR_ANY_INT || dim->as.integer < INT32_MIN || dim->as.integer > INT32_MAX) return false;
        dims[i] = (int32_t)dim->as.integer;
    }
    if (nnb_size(dims, out->rank, out->type, &out->elements, &out->bytes)) out->elements = out->bytes = UINT64_MAX;
    return true;
}

static bool put_kept(nnb_model *m, const xir_list *variables, const xir_list *buffers) {
    for (size_t i = 0; i < variables->size; i++) {
        const xir_any *item = &variables->items[i];
        nnb_variable *v = variable(m, i);
        const int64_t which = item->kind == XIR_ANY_MAP ? int_in(&item->as.map, "buffer")
                            : item->kind == XIR_ANY_INT ? item->as.integer : -1;
        if (item->kind == XIR_ANY_MAP && (v->known || !put_idle(m, &item->as.map, v))) return false;
        if (!v->known || v->stored != (item->kind == XIR_ANY_NULL)) return false;
        if (!v->stored && (which < 0 || which > INT32_MAX)) return false;
        v->buffer = (int32_t)which;
    }
    uint32_t *sizes = nnb_more(m, &m->buffers, buffers->size, sizeof *sizes);
    for (size_t i = 0; sizes && i < buffers->size; i++) {
        const xir_any *size = &buffers->items[i];
        if (size->kind != XIR_ANY_INT || size->as.integer < 0 || size->as.integer > UINT32_MAX) return false;
        sizes[i] = (uint32_t)size->as.integer;
    }
    return sizes;
}

bool nnb_model_as_read(nnb_model *m, const xir_list *variables, const xir_list *buffers) {
    if (!take_head(m) || !check_classes(m)) return false;
    nnb_variable *v = nnb_more(m, &m->variables, variables->size, sizeof *v);
    if (!v) return false;
    memset(v, 0, variables->size * sizeof *v);
    return put_unused(m, number_as_read) && put_network(m, number_as_read) && put_kept(m, variables, buffers);
}

/* ---- fresh ----------------------------------------------------------------------------------------------------- */

static void forget(nnb_model *m) {
    m->variables.size = m->records.size = m->buffers.size = m->ints.size = m->lists.size = 0;
    m->bytes.size = 0;
    m->opaque = false;
    memset(m->types, 0, sizeof m->types);
    memset(m->args, 0, sizeof m->args);
}

/* The level of the newest function. */
static void choose_level(nnb_model *m) {
    const nnb_record *f = m->records.data;
    m->api = 1;
    for (size_t i = 0; i < m->records.size; i++) {
        const xir_nnb_function *row = xir_nnb_function_find(f[i].id);
        if (row && row->api_level > m->api) m->api = row->api_level;
    }
}

bool nnb_model_fresh(nnb_model *m) {
    forget(m);
    if (!take_head(m) || !check_classes(m) || !put_network(m, number_fresh) ||
        !put_unused(m, number_fresh)) return false;
    if (!m->has_api) choose_level(m);
    if (m->opaque)
        return nnb_refuse(m, XIR_E_UNSUPPORTED, "the network was changed, and it has a function that is not in the "
                          "table: the bytes of its arguments may refer to blocks of the file, which move");
    return nnb_pack(m);
}
