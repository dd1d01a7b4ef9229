/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Writing a model: ModelProto, from the tags of the network and its graph. */
#include "diagnose.h"
#include "onnx/write.h"

enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_PRODUCER_VERSION = 3, MODEL_DOMAIN = 4, MODEL_VERSION = 5, MODEL_DOC = 6,
       MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_METADATA = 14, MODEL_TRAINING = 20, MODEL_FUNCTIONS = 25,
       MODEL_CONFIGURATION = 26, OPSET_DOMAIN = 1, OPSET_VERSION = 2 };

/* ---- versions -------------------------------------------------------------------------------------------------- */

/* The version of the default domain's operators that a network states without the tag: "opset13"; 0: none. */
static int64_t stated_opset(const xir_network *net) {
    const xir_str text = net->text[XIR_TEXT_FRAMEWORK_VERSION];
    int64_t v = 0;
    if (text.size < 6 || text.size > 9 || memcmp(text.data, "opset", 5) != 0) return 0;
    for (size_t i = 5; i < text.size; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') return 0;
        v = 10 * v + (text.data[i] - '0');
    }
    return v;
}

/* The version of the format that came with a version of the operators. */
static int64_t format_of_opset(int64_t opset) {
    static const uint8_t formats[] = { [8] = 3, 4, 5, 6, 7, 7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12 };
    enum { FIRST = 8, LAST = sizeof formats - 1 };
    return formats[opset < FIRST ? FIRST : opset > LAST ? LAST : opset];
}

static void put_opset(proto_writer *w, uint32_t field, xir_str domain, int64_t version) {
    const proto_message m = proto_open(w, field);
    proto_put_some(w, OPSET_DOMAIN, domain);
    proto_put_number(w, OPSET_VERSION, (uint64_t)version);
    proto_close(w, m);
}

/* The default domain comes first, as its name is "" in a file. */
void proto_put_opsets(proto_writer *w, uint32_t field) {
    const xir_any *map = proto_tag(w->net->tags, "onnx.opset", XIR_ANY_MAP);
    for (int others = 0; map && others < 2; others++) {
        bool put = false;
        for (size_t i = 0; i < map->as.map.size; i++) {
            const xir_entry *e = &map->as.map.entries[i];
            const xir_str domain = proto_domain(e->key);
            if (!domain.size != !others || (!others && put)) continue;
            if (e->value.kind == XIR_ANY_INT) put_opset(w, field, domain, e->value.as.integer);
            else proto_refuse(w, XIR_E_TYPE, "the tag onnx.opset does not have integers");
            put = true;
        }
    }
    if (!map && stated_opset(w->net)) put_opset(w, field, XIR_STR(""), stated_opset(w->net));
}

/* ---- the model ------------------------------------------------------------------------------------------------- */

/* Returns the number, 0 if there is none. */
static int64_t put_integer(proto_writer *w, uint32_t field, const char *key, int64_t usual) {
    const xir_any *tag = proto_tag(w->net->tags, key, XIR_ANY_INT);
    if (tag || usual) proto_put_number(w, field, (uint64_t)(tag ? tag->as.integer : usual));
    return tag ? tag->as.integer : usual;
}

static void put_model(proto_writer *w) {
    const xir_map *tags = w->net->tags;
    const int64_t opset = proto_tag(tags, "onnx.opset", XIR_ANY_MAP) ? 0 : stated_opset(w->net);
    const int64_t version = put_integer(w, MODEL_IR, "onnx.ir_version", opset ? format_of_opset(opset) : 0);
    w->has_defaults = version >= ONNX_DEFAULTS_SINCE;
    proto_put_said(w, MODEL_PRODUCER, tags, "onnx.producer_name");
    proto_put_said(w, MODEL_PRODUCER_VERSION, tags, "onnx.producer_version");
    proto_put_said(w, MODEL_DOMAIN, tags, "onnx.domain");
    put_integer(w, MODEL_VERSION, "onnx.model_version", 0);
    proto_put_said(w, MODEL_DOC, tags, "onnx.doc_string");
    proto_put_graph(w, MODEL_GRAPH);
    proto_put_opsets(w, MODEL_OPSET);
    proto_put_entries(w, MODEL_METADATA, tags, "onnx.metadata");
    proto_put_symbols(w, MODEL_METADATA);
    proto_put_kept(w, MODEL_TRAINING, tags, "onnx.training_info");
    proto_put_kept(w, MODEL_FUNCTIONS, tags, "onnx.functions");
    proto_put_kept(w, MODEL_CONFIGURATION, tags, "onnx.configuration");
}

/* ---- the file -------------------------------------------------------------------------------------------------- */

static void walk(proto_writer *w) {
    w->count = w->n_sizes = 0;
    w->data_size = 0;
    for (size_t i = 0; i < PROTO_BLOCKS; i++) w->blocks[i].of = NULL;
    put_model(w);
    proto_flush(w);
}

static bool count(proto_writer *w, proto_split split) {
    w->counting = true;
    w->split = (int)split;
    walk(w);
    return !proto_failed(w);
}

/* Puts elements into the other file, if there may be one, until the model is small enough. */
static bool prepare(proto_writer *w, bool may_split) {
    const bool all = may_split && w->how->external;
    if (!proto_list_elements(w) || !proto_list(w) || !proto_list_symbols(w)) return false;
    if (!count(w, all ? SPLIT_CONSTANTS : SPLIT_NONE)) return false;
    if (may_split && w->count > PROTO_MOST && !all && !count(w, SPLIT_CONSTANTS)) return false;
    if (may_split && w->count > PROTO_MOST && !count(w, SPLIT_ALL)) return false;
    w->at = NULL;
    if (w->how->too_large && !may_split) {
        *w->how->too_large = w->count > PROTO_MOST;
        return !*w->how->too_large;
    }
    return w->count <= PROTO_MOST ||
           proto_refuse(w, XIR_E_LIMIT, "the model takes %llu bytes, and a message of ONNX less than 2^31%s",
                        (unsigned long long)w->count, may_split ? "" : ": its constants need a file next to it");
}

static void put_out(proto_writer *w) {
    w->counting = false;
    walk(w);
}

xir_status proto_written(const proto_writer *w) {
    const xir_op *at = w->refused;
    if (!w->status) return w->stopped ? XIR_E_IO : XIR_OK;
    if (w->reported) return w->status;
    if (w->status == XIR_E_MEMORY) return diag_memory(w->how->why);
    if (!at) return file_fail(w->how->why, w->status, w->how->path, XIR_NO_BYTE, "%s", w->fault);
    return file_fail(w->how->why, w->status, w->how->path, XIR_NO_BYTE, "op %lld '%.*s': %s", (long long)at->id,
                     CLIP(xir_op_name(at)), w->fault);
}

/* The model names the file of the elements without a folder: it is in the model's own. */
static xir_str location_of(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return xir_str_of(slash ? slash + 1 : path ? path : "");
}

bool proto_begin_writing(proto_writer *w) {
    w->location = location_of(w->how->params_path);
    arena_init(&w->scratch, w->alloc);
    text_table_init(&w->names, w->alloc);
    made_names_init(&w->made, w->alloc);
    pointer_table_init(&w->open, w->alloc);
    buffer_init(&w->out, w->alloc);
    w->blocks = arena_take(&w->scratch, PROTO_BLOCKS * sizeof *w->blocks);
    return (w->blocks && buffer_reserve(&w->out, PROTO_BLOCK)) || proto_no_memory(w);
}

void proto_end_writing(proto_writer *w) {
    mem_free(w->alloc, (void *)w->declared, w->declared_room * sizeof *w->declared);
    mem_free(w->alloc, w->open_values, w->open_room * sizeof *w->open_values);
    mem_free(w->alloc, w->sizes, w->size_room * sizeof *w->sizes);
    buffer_free(&w->out);
    pointer_table_free(&w->open);
    made_names_free(&w->made);
    text_table_free(&w->names);
    arena_free(&w->scratch);
}

static bool check_location(proto_writer *w) {
    const char *model = w->how->path, *data = w->how->params_path, *slash = strrchr(model, '/');
    const size_t folder = slash ? (size_t)(slash - model) + 1 : 0;
    return !data || (w->location.data == data + folder && strncmp(data, model, folder) == 0) ||
           proto_refuse(w, XIR_E_INVALID, "\"%s\" is not in the folder of the model, and its elements must be there",
                        data);
}

xir_status proto_write(xir_network *net, const format_writing *how) {
    proto_writer w = { .net = net, .how = how, .alloc = &net->ctx->alloc };
    if (proto_begin_writing(&w) && check_location(&w) && prepare(&w, how->params_path)) put_out(&w);
    const xir_status status = proto_written(&w);
    proto_end_writing(&w);
    return status;
}

xir_status proto_write_params(xir_network *net, const format_writing *how) {
    proto_writer w = { .net = net, .how = how, .alloc = &net->ctx->alloc };
    if (proto_begin_writing(&w) && prepare(&w, true)) {
        w.only_data = true;
        put_out(&w);
    }
    const xir_status status = proto_written(&w);
    proto_end_writing(&w);
    return status;
}

xir_status proto_splits(xir_network *net, const format_writing *how, bool *out) {
    proto_writer w = { .net = net, .how = how, .alloc = &net->ctx->alloc };
    *out = proto_begin_writing(&w) && prepare(&w, true) && w.data_size;
    const xir_status status = proto_written(&w);
    proto_end_writing(&w);
    return status;
}
