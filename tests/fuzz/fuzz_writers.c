/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Networks that no reader makes: the bytes choose operators of one dialect, and for ops, values and the network tags
 * and undeclared attributes of the names that the writers look for, with values of any kind, size and depth; and Params
 * of sizes that no memory has, or 4 GiB of zeros. Every writer refuses such a network with a finding or writes it, and
 * its reader accepts what it has written; formats that hold every network give back an equal one. Only tags of DeepX
 * have whole lines, which it writes as they are: its reader may refuse them. */
#include <stdio.h>
#include <sys/mman.h>
#include "bytes_net.h"
#include "network.h"

/* Says what is broken; a debugger or the input tells the rest. */
#define PROMISE(what) \
    do { \
        if (!(what)) { \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, f->name, #what); \
            xir_diags_print(why, stderr); \
            abort(); \
        } \
    } while (0)

enum { ANYS = 64, WORDS = 24, LARGEST_FILE = 1 << 20 };
#define HUGE_SIZE ((UINT64_C(1) << 32) + 65536)

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* The words that the reader and the writer of one format know, up to NULL. */
typedef struct vocabulary {
    const char *operators[WORDS], *attributes[WORDS], *of_op[WORDS], *of_value[WORDS], *of_network[WORDS];
    const char *keys[WORDS], *texts[WORDS];
} vocabulary;

static const vocabulary vocabularies[] = {
    { .operators = { "nnb::ReLU", "nnb::Affine", "nnb::Convolution", "nnb::AveragePooling", "nnb::Reshape",
                     "nnb::FusedConvolution", "nnb::function_7", "nnb::function_65535", "nnb::Slice", "nnb::Mish" },
      .attributes = { "arguments", "nnb.unused", "inplace", "base_axis", "pad", "stride", "dilation", "group", "kernel",
                      "shape", "ignore_border", "including_pad", "nnb.name", "start", "stop", "step" },
      .of_op = { "nnb.id", "nnb.impl" },
      .of_value = { "nnb.shape", "nnb.type", "nnb.fp_pos" },
      .of_network = { "nnb.version", "nnb.api_level", "nnb.file" },
      .keys = { "buffers", "bytes", "data", "for", "holes", "variables", "buffer", "fp_pos", "shape", "type" },
      .texts = { "v0", "v1", "v12", "00ff", "0", "0g", "nearest" } },
    { .operators = { "pnnx::nn.Linear", "pnnx::F.relu", "pnnx::pnnx.Expression", "pnnx::torch.cat", "pnnx::x",
                     "pnnx::" },
      .attributes = { "@weight", "@bias", "@", "expr", "dim", "bias", "in_features", "$input", "#x", "", "a=b" },
      .of_op = { "pnnx.items", "pnnx.lines", "source.inputs" },
      .of_value = { "pnnx.type", "pnnx.assumed", "source.dims", "source.duplicate" },
      .of_network = { "pnnx.counts", "pnnx.zip" },
      .keys = { "for", "text", "at", "name", "type" },
      .texts = { "zip32", "zip64", "(2,3)f32", "(2,3)c64", "(?,1)", "()", "(99999,99999,99999)c128", "None", "True",
                 "1e5", "%x", "add(@0,1)", "a b", "nn.Linear" } },
    { .operators = { "tsm::relu", "tsm::add", "tsm::conv2d", "tsm::_field", "tsm::_pack", "tsm::", "tsm::<const>",
                     "tsm::<param>", "tsm::<var>" },
      .attributes = { "padding", "crop", "dim", "#name", "#op", "#shape", "value", "tsm.name", "tsm.unused", "device" },
      .of_op = { "tsm.params" },
      .of_value = { "tsm.params", "tsm.type", "tsm.device" },
      .of_network = { "tsm.header", "tsm.nodes", "tsm.csta" },
      .keys = { "again", "data", "fake", "file", "more", "name", "order", "scrambled", "sum", "tree", "type", "types",
                "@binary", "@bool", "@dict", "@float", "@module", "@nil", "@text", "backbone", "tsm", "#name" },
      .texts = { "00ff", "0000803f", "@file@x", "net.tsm", "value" } },
    { .operators = { "deepx::matmul", "deepx::newtensor", "deepx::renametensor", "deepx::load", "deepx::sum",
                     "deepx::reshape", "deepx::" },
      .attributes = { "types", "arg0", "arg1", "arg10", "ret0", "data", "deepx.name" },
      .of_op = { "deepx.meta", "deepx.line", "deepx.before" },
      .of_value = { "deepx.version" },
      .of_network = { "deepx.spelling", "deepx.defs", "deepx.file" },
      .keys = { "calls", "for", "open", "tail", "text" },
      .texts = { "live", "front", "seed", "tensor<float32> -> tensor<any>",
                 "tensor<float32>, _, listtensor<any>*2 -> tensor<any>", "listtensor<any>*4000000000", "_ -> _", "[3 4]",
                 "a/b", "..", "sum(a)->(b)", "deepxir f(tensor<any> a)->(tensor<any> b) { sum(a)->(b) }" } },
    { .operators = { "onnx::Relu", "onnx::com.microsoft.Gelu", "onnx::If", "onnx::a.", "onnx::" },
      .attributes = { "axis", "onnx.name", "name", "alpha", "onnx.", "then_branch", "value" },
      .of_op = { "onnx.doc_string", "onnx.op_type", "onnx.metadata", "onnx.attribute_kinds", "onnx.overload",
                 "onnx.attribute_order", "source.captures", "onnx.attribute_docs", "onnx.device_configurations" },
      .of_value = { "onnx.type", "onnx.type_proto", "onnx.denotation", "onnx.dim_denotations", "onnx.doc_string",
                    "onnx.metadata", "onnx.quantization", "source.dims", "source.duplicate", "onnx.input",
                    "onnx.sparse" },
      .of_network = { "onnx.unused", "onnx.value_info", "onnx.quantization_annotation", "onnx.opset", "onnx.functions",
                      "onnx.metadata", "onnx.graph_metadata", "onnx.domain", "onnx.training_info", "onnx.ir_version",
                      "onnx.producer_name", "onnx.model_version", "onnx.configuration" },
      .keys = { "", "dims", "indices", "onnx.graph", "onnx.ref", "onnx.sparse_tensor", "onnx.type", "sparse_tensor",
                "tensor", "values", "ai.onnx", "alpha" },
      .texts = { "CAE=", "CgF4", "====", "A", "tensor(float)", "tensor(string)[2,N,?]", "seq(tensor(float))",
                 "tensor(9999999999999999999)[1]", "map(int64,tensor(float))", "opaque(a,b)", "x" } },
    { .operators = { "other::Op", "Op", "x", "icraft::xir::Odd" },
      .attributes = { "params", "xir.class", "xir.absent", "a", "\xFF", "\xC3\xA4" },
      .of_op = { "xir.dims", "source.repeated", "source.version", "a" },
      .of_value = { "xir.dims", "a" },
      .of_network = { "xir.symbols", "params", "params_table", "params_bytes", "a" },
      .keys = { "_type_key", "a", "b", "v_id", "\xFF", "" },
      .texts = { "@layout(**)", "@fp(32)", "{", "\"", "\\", "\x7F", "\xED\xA0\x80", "\xF4\x90\x80\x80", "n" } },
};
enum { VOCABULARIES = sizeof vocabularies / sizeof *vocabularies };

typedef struct maker {
    bytes_net         b;
    const vocabulary *says;
    xir_any           anys[ANYS];       /* of one attribute or tag */
    xir_entry         entries[ANYS];
    size_t            n_anys, n_entries;
    bool              huge;             /* some Params have 4 GiB  */
    bool              odd;              /* there is an infinity or a NaN without a class, which JSON has as a text */
} maker;

static xir_str word(maker *m, const char *const *words) {
    size_t n = 0;
    while (n < WORDS && words[n]) n++;
    return n ? xir_str_of(words[bytes_below(&m->b, n)]) : XIR_STR("x");
}

/* A word, the next bytes themselves, or a long text. */
static xir_str text(maker *m) {
    static char letters[70000];
    const uint8_t how = bytes_next(&m->b);
    if (how < 128) return word(m, how < 100 ? m->says->texts : m->says->keys);
    if (how < 160) return bytes_text(&m->b);
    if (how >= 250) {
        if (!letters[0]) memset(letters, 'n', sizeof letters);
        return (xir_str){ letters, how == 255 ? sizeof letters : how == 254 ? 65535 : (size_t)(how - 230) * 8 };
    }
    size_t n = how % 32;
    if (n > (size_t)(m->b.end - m->b.at)) n = (size_t)(m->b.end - m->b.at);
    const xir_str out = { (const char *)m->b.at, n };
    m->b.at += n;
    return out;
}

/* ---- Params ------------------------------------------------------------------------------------------------------ */

/* 4 GiB of zeros that take no memory; NULL if the system refuses. */
static const void *zeros(void) {
    static void *at;
    if (!at) at = mmap(NULL, HUGE_SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Params of any shape without bytes, of 4 GiB, without a type, or ordinary ones. NULL is possible. */
static xir_value *any_params(maker *m) {
    bytes_net *b = &m->b;
    const uint8_t how = bytes_next(b);
    int64_t dims[4];
    if (how < 192) return bytes_params(b);
    const xir_type *element = bytes_element(b);
    const xir_str name = bytes_text(b);
    if (how < 200) return xir_params_new_untyped(b->net, name);
    if (how == 255 && zeros()) {
        m->huge = true;
        const xir_type *type = xir_type_tensor(b->ctx, xir_type_uint(b->ctx, 8), NULL,
                                               &(int64_t){ (int64_t)HUGE_SIZE }, 1);
        return type ? xir_params_borrow(b->net, name, type, zeros(), (size_t)HUGE_SIZE, NULL, NULL) : NULL;
    }
    const size_t rank = bytes_below(b, 5);
    for (size_t i = 0; i < rank; i++) dims[i] = bytes_integer(b) & (how % 2 ? INT64_MAX : INT32_MAX);
    const xir_type *type = element ? xir_type_tensor(b->ctx, element, NULL, dims, rank) : NULL;
    xir_value *v = type ? xir_params_new(b->net, name, type) : NULL;
    if (v && how % 3 == 0) xir_params_set_allow_no_data(v, true);
    return v;
}

/* ---- values without a class -------------------------------------------------------------------------------------- */

static int by_key(const void *x, const void *y) {
    const xir_str a = ((const xir_entry *)x)->key, b = ((const xir_entry *)y)->key;
    const int order = memcmp(a.data, b.data, a.size < b.size ? a.size : b.size);
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

static xir_any any(maker *m, int depth);

static xir_any any_map(maker *m, size_t n, int depth) {
    xir_entry *entries = m->entries + m->n_entries;
    size_t k = 0;
    if (n > ANYS - m->n_entries) n = ANYS - m->n_entries;
    m->n_entries += n;
    for (size_t i = 0; i < n; i++) {
        entries[i].key = bytes_below(&m->b, 8) ? word(m, m->says->keys) : text(m);
        entries[i].value = any(m, depth + 1);
    }
    if (n) qsort(entries, n, sizeof *entries, by_key);
    for (size_t i = 0; i < n; i++)
        if (!k || by_key(&entries[k - 1], &entries[i])) entries[k++] = entries[i];
    return xir_any_map(entries, k);
}

/* A list of one item inside the other, deeper than most formats allow. */
static xir_any deep(maker *m) {
    xir_any v = xir_any_int(1);
    while (m->n_anys < ANYS) {
        m->anys[m->n_anys] = v;
        v = xir_any_list(&m->anys[m->n_anys++], 1);
    }
    return v;
}

static xir_any any(maker *m, int depth) {
    bytes_net *b = &m->b;
    const uint8_t how = bytes_next(b);
    const size_t n = how / 16 % 6, room = ANYS - m->n_anys;
    switch (depth > 8 ? how % 8 : how % 16) {
    case 0: return how > 128 ? xir_any_null() : (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX - n };
    case 1: return xir_any_bool(n % 2);
    case 2: return xir_any_int(bytes_integer(b));
    case 3: return xir_any_int(n == 5 ? UINT16_MAX : bytes_integer(b));
    case 4: {
        const double real = bytes_real(b);
        m->odd |= !isfinite(real);
        return xir_any_real(real);
    }
    case 5: case 6: return xir_any_text(text(m));
    case 7: case 8: {
        xir_value *v = any_params(m);
        return v ? (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v } : xir_any_null();
    }
    case 9: case 10: case 11: {
        xir_any *items = m->anys + m->n_anys;
        const size_t size = n < room ? n : room;
        m->n_anys += size;
        for (size_t i = 0; i < size; i++) items[i] = how % 16 == 9 ? xir_any_int(bytes_integer(b))
                                                                   : any(m, depth + 1);
        return xir_any_list(items, size);
    }
    case 12: return n == 5 ? deep(m) : xir_any_list(NULL, 0);
    default: return any_map(m, n, depth);
    }
}

static xir_any fresh_any(maker *m) {
    m->n_anys = m->n_entries = 0;
    return any(m, 0);
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

static void mark_op(maker *m, xir_op *op) {
    for (size_t n = bytes_below(&m->b, 5); n; n--) {
        const xir_any v = fresh_any(m);
        const bool other = bytes_below(&m->b, 16) == 15;
        (void)xir_op_set_extra(op, other ? text(m) : word(m, m->says->attributes), &v);
    }
    for (size_t n = bytes_below(&m->b, 3); n; n--) {
        const xir_any v = fresh_any(m);
        (void)xir_op_set_tag(op, word(m, m->says->of_op), &v);
    }
}

static void mark_value(maker *m, xir_value *v) {
    if (bytes_below(&m->b, 4)) return;
    const xir_any tag = fresh_any(m);
    (void)xir_value_set_tag(v, word(m, m->says->of_value), &tag);
}

static void put_op(maker *m) {
    bytes_net *b = &m->b;
    const vocabulary *own = m->says, *from = bytes_next(b) < 250 ? own : &vocabularies[bytes_below(b, VOCABULARIES)];
    const xir_type *types[2] = { NULL, NULL };
    xir_value *inputs[3];
    const xir_class *cls = xir_class_opaque(b->ctx, word(m, from->operators));
    const size_t n = bytes_below(b, 4), n_types = 1 + (bytes_next(b) > 240);
    for (size_t i = 0; i < n; i++) {
        const uint8_t how = bytes_next(b);
        inputs[i] = how == 255 ? NULL : how < 160 && b->n_values ? b->values[how % b->n_values] : any_params(m);
        if (inputs[i] && xir_value_is_params(inputs[i])) mark_value(m, inputs[i]);
    }
    for (size_t i = 0; i < n_types; i++) types[i] = bytes_below(b, 4) ? bytes_type(b, true) : NULL;
    const bool ordinary = b->n_classes && bytes_below(b, 2);
    xir_op *op = ordinary ? bytes_operation(b)
                          : xir_network_add(b->net, &XIR_INIT(xir_op_desc, .cls = cls, .id = XIR_NO_ID,
                                                              .inputs = inputs, .n_inputs = n, .types = types,
                                                              .n_types = n_types, .name = text(m)));
    xir_network_clear_status(b->net);
    if (!op) return;
    mark_op(m, op);
    for (size_t i = 0; i < xir_op_output_count(op) && b->n_values < BYTES_VALUES; i++) {
        xir_value *v = xir_op_output(op, (int64_t)i);
        (void)xir_value_set_name(v, text(m));
        mark_value(m, v);
        b->values[b->n_values++] = v;
    }
}

static xir_network *make(maker *m, xir_context *ctx, const uint8_t *data, size_t size) {
    bytes_net *b = &m->b;
    *m = (maker){ .b = { .at = data, .end = data + size, .ctx = ctx } };
    m->says = &vocabularies[bytes_below(b, VOCABULARIES)];
    if (m->says == &vocabularies[VOCABULARIES - 1]) bytes_list_classes(b);   /* half of the ops are XIR's */
    b->net = xir_network_new(ctx, "any", XIR_FRAMEWORK_ONNX, "v1");
    must(b->net != NULL);
    const xir_type *types[2];
    for (size_t i = 0; i < 2; i++) must((types[i] = bytes_type(b, i == 0)) != NULL);
    xir_op *in = bytes_next(b) < 240 ? xir_inputs(xir_at_end(b->net), "in", types, 1 + bytes_below(b, 2)) : NULL;
    for (size_t i = 0; in && i < xir_op_output_count(in); i++) {
        b->values[b->n_values++] = xir_op_output(in, (int64_t)i);
        mark_value(m, xir_op_output(in, (int64_t)i));
    }
    if (in) mark_op(m, in);
    for (size_t i = 0; i < BYTES_OPS && b->at < b->end; i++) put_op(m);
    for (size_t n = bytes_below(b, 4); n; n--) {
        const xir_any tag = fresh_any(m);
        (void)xir_network_set_tag(b->net, word(m, m->says->of_network), &tag);
    }
    if (b->n_values) bytes_end(b);
    xir_network_clear_status(b->net);
    return b->net;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

typedef struct file { buffer bytes; bool full; } file;

static bool keep_some(void *user, const void *data, size_t size) {
    file *to = user;
    to->full |= size > LARGEST_FILE - to->bytes.size;
    if (!to->full) buffer_put(&to->bytes, data, size);
    return !to->full;
}

static bool wrote(xir_status status, const file *to, const xir_format_info *f, xir_diags *why) {
    PROMISE((status == XIR_OK) == (xir_diags_count_of(why, XIR_ERROR) == 0));
    PROMISE(status != XIR_E_MEMORY && (status != XIR_E_IO || to->full));
    xir_diags_clear(why);
    return !status && !to->full;
}

static bool holds_all(const xir_format_info *f) { return !f->dialect && f->reads; }

/* Reads a file, and the file of its parameters if there is one. */
static xir_network *read_back(const xir_network *net, const file *structure, const file *weights,
                              const xir_format_info *f, xir_diags *why) {
    const xir_load_options how = XIR_INIT(xir_load_options, .format = f->name);
    xir_network *again = xir_network_read(net->ctx, structure->bytes.data, structure->bytes.size, XIR_STR("fuzz"), &how,
                                          why);
    PROMISE(again || xir_diags_count_of(why, XIR_ERROR));
    if (again && weights)
        PROMISE(!xir_network_read_params(again, weights->bytes.data, weights->bytes.size, XIR_STR("fuzz"), &how, why));
    return again;
}

static void check_file(const maker *m, const file *structure, const file *weights, const xir_format_info *f,
                       xir_diags *why) {
    xir_network *net = m->b.net;
    xir_network *again = read_back(net, structure, weights, f, why);
    const bool lines = strcmp(f->name, "deepx") == 0, binary = strcmp(f->name, "imodel") == 0;
    PROMISE(again || lines);
    if (again && holds_all(f) && !(m->odd && !binary)) PROMISE(xir_network_equal(net, again, weights || !f->pair));
    if (again) (void)xir_network_validate(again, NULL);
    xir_diags_clear(why);
    xir_network_free(again);
}

/* The bytes of 4 GiB are hashed, compared and packed for minutes where a writer gets so far. */
static bool is_too_slow(const xir_format_info *f) { return f->pair || holds_all(f); }

static void check_format(const maker *m, const xir_format_info *f, unsigned how, xir_diags *why) {
    xir_network *net = m->b.net;
    const bool huge = m->huge;
    file structure = { .full = false }, weights = { .full = false };
    buffer_init(&structure.bytes, context_alloc(net->ctx));
    buffer_init(&weights.bytes, context_alloc(net->ctx));
    const xir_save_options options = XIR_INIT(xir_save_options, .format = f->name, .unchecked = true,
                                              .no_params = huge && is_too_slow(f),
                                              .align = f->aligns ? 4u << how % 8 : 0, .plain = f->plains && how % 2,
                                              .flags = huge ? XIR_SAVE_NO_MD5 : 0);
    bool written = wrote(xir_network_write(net, keep_some, &structure, &options, why), &structure, f, why);
    bool has_params = written && f->pair && strcmp(f->name, "deepx") != 0 && !huge;
    if (has_params)
        has_params = wrote(xir_network_write_params(net, keep_some, &weights, &options, why), &weights, f, why);
    if (written && f->reads && !huge) check_file(m, &structure, has_params ? &weights : NULL, f, why);
    buffer_free(&structure.bytes);
    buffer_free(&weights.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static maker m;
    xir_format_info f = XIR_INIT(xir_format_info);
    xir_context *ctx = fuzz_context();
    xir_diags *why = xir_diags_new(ctx);
    must(ctx != NULL && why != NULL);
    xir_network *net = make(&m, ctx, data, size);
    for (size_t i = 0; xir_format_at(i, &f, NULL) == XIR_OK; i++)
        if (f.writes) check_format(&m, &f, (unsigned)size, why);
    xir_network_free(net);
    xir_diags_free(why);
    return 0;
}
