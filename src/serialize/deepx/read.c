/* A text becomes a network: a call is an op, a tensor's content after each call that writes it is a value. Values of
 * one name follow each other: the return slot of a call is its former value, an input, and its next value, an output. A
 * name that no line makes is an input of the network; which ones these are is known only at the end, and then the text
 * is read a second time. */
#include <stdio.h>
#include "deepx/deepx.h"

typedef struct missing { xir_str name; size_t element; } missing;

/* What a function does to tensors besides writing them. */
typedef enum verb { VERB_NONE, VERB_NEW, VERB_LOAD, VERB_RENAME, VERB_RESHAPE } verb;

/* A slot as a number: its type, what it is, and how many tensors a list has. */
typedef uint64_t slot_code;
enum { CODE_TYPED = 24, CODE_KIND = 25, CODE_ITEMS = 32, MEMO_SLOTS = 8 };

/* Calls of a function usually have the same types, and often the same texts: both are kept once. */
typedef struct types_memo { slot_code codes[MEMO_SLOTS]; size_t n_args, n_rets; xir_any text; } types_memo;
typedef struct texts_memo { const xir_class *cls; const char *types; const xir_map *extra; } texts_memo;
enum { TYPE_MEMOS = 64, TEXTS_MEMOS = 256, VERSION_MEMOS = 64 };

typedef struct reader {
    dialect        d;
    deepx_place    w;
    xir_str        text;
    const char    *after;            /* the end of the last call                                 */
    dialect_list   missing;          /* names that were used before they were made               */
    dialect_list   defs;             /* xir_any: texts                                           */
    dialect_list   former;           /* xir_value *: of the outputs of the op                    */
    dialect_list   codes;            /* slot_code: of the slots of the line                      */
    verb           verb;             /* of the line                                              */
    bool           renames;          /* the call is renametensor as it is defined                */
    buffer         types;            /* of the op                                                */
    deepx_printer  printer;
    uint64_t       n_calls;
    uint64_t       sum;              /* of the definitions                                       */
    bool           has_spelling;
    size_t         fresh;            /* the element type that the file's newtensor gives, + 1    */
    xir_str        meta_key;         /* in the arena of the network; empty at first              */
    types_memo     type_memos[TYPE_MEMOS];
    texts_memo     texts_memos[TEXTS_MEMOS];
    const xir_map *versions[VERSION_MEMOS];
} reader;

static bool is(xir_str name, const char *word, size_t size) {
    return name.size == size && memcmp(name.data, word, size) == 0;
}

static verb verb_of(xir_str name) {
    if (is(name, "newtensor", 9)) return VERB_NEW;
    if (is(name, "load", 4)) return VERB_LOAD;
    if (is(name, "renametensor", 12)) return VERB_RENAME;
    return is(name, "reshape", 7) ? VERB_RESHAPE : VERB_NONE;
}

static deepx_slot_kind kind_in(slot_code code) { return (deepx_slot_kind)(code >> CODE_KIND & 3); }

/* ---- slots ----------------------------------------------------------------------------------------------------- */

/* A use of a tensor: the first one of a name that no line before makes is noted. */
static bool add_use(reader *r, dialect_ref ref, uint16_t precision) {
    if (!dialect_find(&r->d, ref)) {
        missing *m = dialect_add(&r->d, &r->missing, sizeof *m);
        if (!m) return false;
        *m = (missing){ ref.text, deepx_element_of(precision) };
        if (!dialect_use(&r->d, ref)) return false;
    }
    return dialect_node_in_ref(&r->d, ref);
}

static bool add_tensor(reader *r, bool ret, const deepx_slot *slot, xir_str name) {
    const dialect_ref ref = dialect_name(&r->d, name);
    return ret ? dialect_node_out_ref(&r->d, ref) : add_use(r, ref, slot->is.precision);
}

static bool add_slot(reader *r, const deepx_line *line, const deepx_slot *slot) {
    const bool ret = (size_t)(slot - line->slots) >= line->n_args;
    const deepx_slot_kind kind = deepx_kind_of(line, slot);
    slot_code *code = dialect_add(&r->d, &r->codes, sizeof *code);
    if (!code) return false;
    *code = slot->is.category | (slot_code)slot->is.precision << 8 | (slot_code)(slot->type.size > 0) << CODE_TYPED |
            (slot_code)kind << CODE_KIND;
    if (kind == DEEPX_SLOT_TEXT) return true;
    if (kind == DEEPX_SLOT_TENSOR) return add_tensor(r, ret, slot, slot->value);
    uint64_t n = 0;
    for (xir_str items = deepx_inner(slot->value), item; deepx_next_item(&items, &item); n++)
        if (!add_tensor(r, ret, slot, item)) return false;
    *code |= n << CODE_ITEMS;
    return true;
}

static bool add_slots(reader *r, const deepx_line *line) {
    r->codes.size = 0;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++)
        if (!add_slot(r, line, &line->slots[i])) return false;
    return true;
}

/* ---- attributes ------------------------------------------------------------------------------------------------ */

static bool print_types(reader *r, const deepx_line *line) {
    const slot_code *codes = r->codes.data;
    buffer *out = &r->types;
    char digits[NUMBER_ROOM];
    out->size = 0;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) {
        if (i == line->n_args) buffer_str(out, i ? " -> " : "-> ");
        else if (i) buffer_str(out, ", ");
        if (line->slots[i].type.size) deepx_type_print(out, line->slots[i].is);
        else buffer_char(out, '_');
        if (kind_in(codes[i]) != DEEPX_SLOT_TENSORS) continue;
        buffer_char(out, '*');
        buffer_put(out, digits, number_put_u64(digits, codes[i] >> CODE_ITEMS));
    }
    if (!line->n_rets) buffer_str(out, line->n_args ? " ->" : "->");
    return !out->failed || trace_memory(&r->d.trace);
}

/* The memo where these slots belong; NULL if they are too many. */
static types_memo *types_memo_of(reader *r, const deepx_line *line) {
    const slot_code *codes = r->codes.data;
    uint64_t hash = line->n_args;
    if (r->codes.size > MEMO_SLOTS) return NULL;
    for (size_t i = 0; i < r->codes.size; i++) hash = hash_mix(hash ^ codes[i], UINT64_C(0x9E3779B97F4A7C15));
    return &r->type_memos[hash % TYPE_MEMOS];
}

static bool find_types(reader *r, const deepx_line *line, xir_any *out) {
    types_memo *memo = types_memo_of(r, line);
    const size_t size = r->codes.size * sizeof(slot_code);
    const bool known = memo && memo->text.kind == XIR_ANY_TEXT && memo->n_args == line->n_args &&
                       memo->n_rets == line->n_rets && (!size || memcmp(memo->codes, r->codes.data, size) == 0);
    if (!known) {
        char *copy = print_types(r, line) ? arena_copy(&r->d.net->arena, r->types.data, r->types.size) : NULL;
        if (!copy) return trace_memory(&r->d.trace);
        *out = xir_any_text((xir_str){ copy, r->types.size });
        if (!memo) return true;
        *memo = (types_memo){ .n_args = line->n_args, .n_rets = line->n_rets, .text = *out };
        if (size) memcpy(memo->codes, r->codes.data, size);
    }
    if (known) *out = memo->text;
    return true;
}

/* Whether a call with these types has the same texts. The same text of types is that of the same slots. */
static bool has_texts(const reader *r, const deepx_line *line, const xir_map *extra) {
    const slot_code *codes = r->codes.data;
    const xir_entry *e = extra->entries;
    for (size_t i = 0; i < r->codes.size; i++) {
        const bool text = kind_in(codes[i]) == DEEPX_SLOT_TEXT;
        if (text && !xir_str_equal(e->value.as.text, line->slots[i].value)) return false;
        e += text;
    }
    return true;
}

static texts_memo *texts_memo_of(reader *r, const deepx_line *line, const char *types) {
    const slot_code *codes = r->codes.data;
    uint64_t hash = hash_pointer(types) ^ hash_pointer(r->d.node.type->cls);
    for (size_t i = 0; i < r->codes.size; i++)
        if (kind_in(codes[i]) == DEEPX_SLOT_TEXT)
            hash = hash_text(hash, line->slots[i].value.data, line->slots[i].value.size);
    return &r->texts_memos[hash % TEXTS_MEMOS];
}

static bool add_attributes(reader *r, const deepx_line *line, texts_memo **out) {
    const slot_code *codes = r->codes.data;
    xir_any types;
    if (!find_types(r, line, &types)) return false;
    texts_memo *memo = *out = r->codes.size > MEMO_SLOTS ? NULL : texts_memo_of(r, line, types.as.text.data);
    const xir_class *cls = r->d.node.type->cls;
    if (memo && memo->extra && memo->cls == cls && memo->types == types.as.text.data &&
        has_texts(r, line, memo->extra))
        return dialect_node_attrs_shared(&r->d, memo->extra);
    if (memo) *memo = (texts_memo){ cls, types.as.text.data, NULL };
    for (size_t i = 0; i < r->codes.size; i++) {
        if (kind_in(codes[i]) != DEEPX_SLOT_TEXT) continue;
        char key[DEEPX_KEY_ROOM];
        const xir_any text = xir_any_text(line->slots[i].value);
        const bool ret = i >= line->n_args;
        if (!dialect_node_attr(&r->d, deepx_slot_key(key, ret, ret ? i - line->n_args : i), &text)) return false;
    }
    return dialect_node_attr_kept(&r->d, XIR_STR(DEEPX_TYPES), types);
}

/* ---- what a call writes ---------------------------------------------------------------------------------------- */

/* The name that a path gives the tensor that is loaded from it: its last part without its suffix. */
static xir_str stem_of(xir_str path) {
    path = deepx_unquoted(path);
    const char *p = path.data, *end = p + path.size, *start = p, *dot = NULL;
    for (; p < end; p++)
        if (*p == '/') start = p + 1;
    for (p = start; p < end; p++)
        if (*p == '.' && p > start) dot = p;
    return (xir_str){ start, (size_t)((dot ? dot : end) - start) };
}

/* load makes a tensor without a slot, renametensor one of another name. */
static bool add_unnamed(reader *r, const deepx_line *line) {
    dialect_node *n = &r->d.node;
    const bool loads = r->verb == VERB_LOAD && line->n_args == 1 && !line->n_rets;
    const bool renames = r->verb == VERB_RENAME && line->n_args == 1 && n->out.size == 1;
    r->renames = renames;
    if (!loads && !renames) return true;
    const xir_str name = loads ? stem_of(line->slots[0].value) : deepx_unquoted(line->slots[0].value);
    if (renames) {
        const dialect_ref old = *(dialect_ref *)n->out.data;
        if (!add_use(r, old, line->slots[1].is.precision)) return false;
        n->out.size = 0;
    }
    return !deepx_is_tensor_name(name) || dialect_node_out(&r->d, name);
}

/* The former values of the outputs are inputs after the call's own. newtensor and load need none. */
static bool add_former(reader *r, const deepx_line *line) {
    dialect_node *n = &r->d.node;
    const bool makes = r->verb == VERB_NEW || r->verb == VERB_LOAD || r->renames;
    r->former.size = 0;
    for (size_t i = 0; i < n->out.size; i++) {
        const dialect_ref ref = ((dialect_ref *)n->out.data)[i];
        xir_value *known = dialect_find(&r->d, ref);
        const uint16_t precision = line->n_rets ? line->slots[line->n_args].is.precision : DEEPX_ANY;
        if ((known || !makes) && !add_use(r, ref, precision)) return false;
        xir_value **place = dialect_add(&r->d, &r->former, sizeof *place);
        if (!place) return false;
        *place = known ? known : dialect_find(&r->d, ref);
    }
    return !dialect_failed(&r->d);
}

/* The dims of a list of integers; false if it is something else. */
static bool read_dims(xir_str list, int64_t *dims, size_t *rank) {
    xir_str items = deepx_inner(deepx_unquoted(list)), item;
    *rank = 0;
    while (deepx_next_item(&items, &item)) {
        int64_t v = 0;
        for (size_t i = 0; i < item.size; i++) {
            if (!deepx_is_digit(item.data[i]) || v > INT32_MAX) return false;
            v = 10 * v + (item.data[i] - '0');
        }
        if (*rank == DEEPX_MOST_DIMS || v > INT32_MAX) return false;
        dims[(*rank)++] = v;
    }
    return *rank > 0;
}

/* A value has the type of the one before, but newtensor gives a type, and reshape a shape. The elements of a newtensor
 * without types are those that a definition of the file gives. */
static const xir_type *type_of(reader *r, const deepx_line *line, const xir_value *former) {
    int64_t dims[DEEPX_MOST_DIMS];
    size_t rank;
    const bool fresh = r->verb == VERB_NEW, reshapes = r->verb == VERB_RESHAPE;
    const deepx_slot *ret = line->n_rets ? &line->slots[line->n_args] : NULL;
    const xir_type *type = former && !fresh ? former->type : NULL;
    if (r->verb == VERB_RENAME) {
        const xir_op *op = r->d.net->last;
        return op && op->n_inputs ? op->inputs[0].value->type : NULL;
    }
    if (r->verb == VERB_LOAD) return NULL;
    if (!(fresh && line->n_args == 1) && !(reshapes && line->n_args == 2)) return type;
    size_t element = ret ? deepx_element_of(ret->is.precision) : SIZE_MAX;
    if (element == SIZE_MAX && ret && !ret->type.size) element = r->fresh - 1;
    const xir_type *item = type ? xir_type_element(type) : element == SIZE_MAX ? NULL : dialect_element(&r->d, element);
    if (!item || !read_dims(line->slots[line->n_args - 1].value, dims, &rank)) return NULL;
    return dialect_tensor(&r->d, item, dims, rank);
}

static int64_t version_after(const xir_value *former) {
    const xir_any *tag = former->more ? xir_map_find(former->more->tags, XIR_STR(DEEPX_TAG_VERSION)) : NULL;
    return tag && tag->kind == XIR_ANY_INT ? tag->as.integer + 1 : 1;
}

static bool tag_version(reader *r, xir_value *v, int64_t version) {
    const xir_map *own = NULL, **tags = version < VERSION_MEMOS ? &r->versions[version] : &own;
    if (!*tags && !dialect_tag(&r->d, tags, DEEPX_TAG_VERSION, xir_any_int(version))) return false;
    return dialect_value_tags(&r->d, v, *tags);
}

static bool describe_outputs(reader *r, const deepx_line *line, xir_op *op) {
    xir_value *const *former = r->former.data;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        op->outputs[i].type = type_of(r, line, former[i]);
        if (former[i] && !tag_version(r, &op->outputs[i], version_after(former[i]))) return false;
    }
    return !dialect_failed(&r->d);
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static deepx_spelling spelling_of(xir_str whole, const deepx_line *line) {
    bool typed = false;
    const char *p = line->name.data + line->name.size;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) typed |= line->slots[i].type.size != 0;
    if (!typed) return line->parens ? DEEPX_SIMPLIFIED : DEEPX_SEED;
    return p < whole.data + whole.size && *p == ' ' && line->parens ? DEEPX_FRONT : DEEPX_LIVE;
}

/* A line that is not printed as it is: its text, and a sum of what is printed. */
static bool keep_line(reader *r, xir_op *op, xir_str whole, const deepx_line *line) {
    deepx_printer *p = &r->printer;
    if (deepx_is_printed_so(p->spelling, whole, line)) return true;
    p->out.size = 0;
    if (!deepx_print_op(p, op)) {
        if (p->out.failed) return trace_memory(&r->d.trace);
        p->status = XIR_OK;
    }
    const xir_str printed = { p->out.data ? p->out.data : "", p->out.size };
    if (xir_str_equal(printed, whole)) return true;
    xir_entry entries[2] = { { XIR_STR("for"), deepx_sum(printed) }, { XIR_STR("text"), xir_any_text(whole) } };
    op_more *more = op_need_more(op);
    return more ? dialect_tag(&r->d, &more->tags, DEEPX_TAG_LINE, xir_any_map(entries, 2)) : trace_memory(&r->d.trace);
}

static bool keep_before(reader *r, xir_str whole) {
    const xir_str before = { r->after, (size_t)(whole.data - r->after) };
    const char *end = r->text.data + r->text.size, *stop = whole.data + whole.size;
    r->after = stop < end ? stop + 1 : stop;
    return dialect_tag_text(&r->d, &r->d.node.tags, DEEPX_TAG_BEFORE, before);
}

/* The text after "//". Nearly all calls have this tag alone. */
static bool keep_meta(reader *r, xir_str meta) {
    typedef struct lone_tag { xir_map map; xir_entry entry; } lone_tag;
    dialect *d = &r->d;
    arena *to = &d->net->arena;
    if (!meta.data) return true;
    if (d->node.tags) return dialect_tag(d, &d->node.tags, DEEPX_TAG_META, xir_any_text(meta));
    if (!r->meta_key.size && !arena_text(to, XIR_STR(DEEPX_TAG_META), &r->meta_key)) return trace_memory(&d->trace);
    lone_tag *tag = arena_take(to, sizeof *tag + meta.size);
    if (!tag) return trace_memory(&d->trace);
    char *text = (char *)(tag + 1);
    if (meta.size) memcpy(text, meta.data, meta.size);
    tag->entry = (xir_entry){ r->meta_key, xir_any_text((xir_str){ text, meta.size }) };
    tag->map = (xir_map){ &tag->entry, 1 };
    d->node.tags = &tag->map;
    return true;
}

static bool read_call(reader *r, xir_str whole, const deepx_line *line) {
    dialect *d = &r->d;
    texts_memo *memo = NULL;
    if (!r->has_spelling) r->printer.spelling = spelling_of(whole, line);
    r->has_spelling = true;
    r->verb = verb_of(line->name);
    dialect_node_begin(d);
    bool ok = dialect_node_type(d, XIR_STR(""), line->name) && add_slots(r, line) && add_attributes(r, line, &memo) &&
              add_unnamed(r, line) && add_former(r, line) && keep_before(r, whole) && keep_meta(r, line->meta);
    xir_op *op = ok ? dialect_node_end(d, XIR_STR("")) : NULL;
    if (!op || !describe_outputs(r, line, op)) return false;
    if (memo) memo->extra = op->more->extra;
    r->n_calls++;
    return keep_line(r, op, whole, line);
}

static bool read_definition(reader *r, deepx_kind kind, xir_str whole, const deepx_line *line) {
    buffer text;
    xir_any *out = dialect_add(&r->d, &r->defs, sizeof *out);
    if (!out) return false;
    if (kind == DEEPX_DEFINITION && verb_of(line->name) == VERB_NEW && line->n_rets == 1)
        r->fresh = deepx_element_of(line->slots[line->n_args].is.precision) + 1;
    buffer_init(&text, r->d.alloc);
    if (kind == DEEPX_DEFINITION) deepx_print_line(&text, DEEPX_LIVE, line);
    else buffer_put(&text, whole.data, whole.size);
    char *copy = text.failed ? NULL : arena_copy(&r->d.scratch, text.data, text.size);
    *out = xir_any_text((xir_str){ copy, text.size });
    if (copy) r->sum = hash_bytes(r->sum, copy, text.size);
    buffer_free(&text);
    return copy || trace_memory(&r->d.trace);
}

static bool visit(void *user, deepx_kind kind, xir_str whole, const deepx_line *line) {
    reader *r = user;
    if (r->w.status) return r->w.status != XIR_E_MEMORY;   /* further errors are looked for, but nothing is built */
    return kind == DEEPX_CALL ? read_call(r, whole, line) : read_definition(r, kind, whole, line);
}

/* ---- the network ----------------------------------------------------------------------------------------------- */

static bool same_label(const xir_value *a, const xir_value *b) {
    return xir_str_equal(xir_value_name(a), xir_value_name(b));
}

/* Whether a value is what its name means at the end, and the tensor still exists: a call that writes a tensor of that
 * name uses the one before. */
static bool is_alive(const xir_op *op, const xir_value *v) {
    if (is(op->cls->key, "deepx::deltensor", 16)) return false;
    for (uint32_t i = (uint32_t)(v - op->outputs) + 1; i < op->n_outputs; i++)
        if (same_label(&op->outputs[i], v)) return false;
    for (const xir_use *use = v->uses; use; use = use->next) {
        if (is(use->user->cls->key, "deepx::renametensor", 19)) return false;
        for (uint32_t i = 0; i < use->user->n_outputs; i++)
            if (same_label(&use->user->outputs[i], v)) return false;
    }
    return true;
}

static bool make_outputs(reader *r) {
    for (const xir_op *op = r->d.net->first; op; op = op->next) {
        for (uint32_t i = 0; i < op->n_outputs && deepx_is_op(op); i++) {
            const xir_value *v = &op->outputs[i];
            if (!is_alive(op, v)) continue;
            if (!dialect_output(&r->d, dialect_name(&r->d, xir_value_name(v)), NULL)) return false;
        }
    }
    return true;
}

/* What the file has besides its calls, and for which definitions and number of calls that holds. */
static bool keep_file(reader *r) {
    const char *end = r->text.data + r->text.size;
    const xir_str tail = { r->after, (size_t)(end - r->after) };
    xir_entry e[4];
    size_t n = 0;
    const bool open = r->text.size && end[-1] != '\n';
    e[n++] = (xir_entry){ XIR_STR("calls"), xir_any_int((int64_t)r->n_calls) };
    e[n++] = (xir_entry){ XIR_STR("for"), xir_any_int((int64_t)(r->sum >> 2)) };
    if (open) e[n++] = (xir_entry){ XIR_STR("open"), xir_any_bool(true) };
    if (tail.size) e[n++] = (xir_entry){ XIR_STR("tail"), xir_any_text(tail) };
    const xir_any word = xir_any_text(xir_str_of(deepx_spelling_words[r->printer.spelling]));
    const xir_any defs = xir_any_list(r->defs.data, r->defs.size);
    return dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_SPELLING, word) &&
           (!r->defs.size || dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_DEFS, defs)) &&
           dialect_tag(&r->d, &r->d.net->tags, DEEPX_TAG_FILE, xir_any_map(e, n));
}

/* Marks the names that a line makes: new tensors, loaded ones, and new names. */
static void mark_made(reader *r, text_table *names) {
    static const char *const makers[] = { "deepx::newtensor", "deepx::load", "deepx::renametensor" };
    for (const xir_op *op = r->d.net->first; op; op = op->next) {
        bool makes = false;
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
            makes |= xir_str_equal(op->cls->key, xir_str_of(makers[i]));
        for (uint32_t i = 0; makes && i < op->n_outputs; i++) {
            uint32_t *made = text_table_find(names, xir_value_name(&op->outputs[i]));
            if (made) *made = 1;
        }
    }
}

/* The missing names that no line makes. */
static bool find_inputs(reader *r, dialect_list *out) {
    const missing *m = r->missing.data;
    text_table names;
    bool ok = true;
    if (!r->missing.size) return true;
    text_table_init(&names, r->d.alloc);
    for (size_t i = 0; i < r->missing.size && ok; i++) ok = text_table_add(&names, m[i].name, 0);
    if (ok) mark_made(r, &names);
    for (size_t i = 0; i < r->missing.size && ok; i++) {
        uint32_t *made = text_table_find(&names, m[i].name);
        if (*made) continue;
        missing *copy = dialect_add(&r->d, out, sizeof *copy);
        if (!copy) break;
        *copy = m[i];
        *made = 1;
    }
    text_table_free(&names);
    return (ok || trace_memory(&r->d.trace)) && !dialect_failed(&r->d);
}

static const dialect_about about = { "deepx", XIR_FRAMEWORK_COUNT, &deepx_elements, true };

static bool declare_inputs(reader *r, const dialect_list *inputs) {
    const missing *m = inputs->data;
    for (size_t i = 0; i < inputs->size; i++) {
        dialect_declared declared = { NULL, NULL };
        const element_code *e = element_code_at(&deepx_elements, m[i].element);
        if (e && !dialect_tag_text(&r->d, &declared.tags, "deepx.type", xir_str_of(e->name))) return false;
        if (!dialect_input(&r->d, dialect_name(&r->d, m[i].name), &declared)) return false;
    }
    return true;
}

/* Reads the text once; `inputs` are those of the network, and `found` those that it should have. */
static xir_network *read_once(reader *r, const format_reading *how, blob *whole, const dialect_list *inputs,
                              dialect_list *found, bool quiet) {
    dialect *d = &r->d;
    if (!dialect_begin(d, &about, how, whole)) return NULL;
    d->trace.text = r->text;
    r->w = (deepx_place){ .why = how->why, .file = how->name, .quiet = quiet };
    r->after = r->text.data;
    buffer_init(&r->types, d->alloc);
    buffer_init(&r->printer.out, d->alloc);
    bool ok = !xir_network_set_text(d->net, XIR_TEXT_FRAMEWORK, XIR_STR("DEEPX")) || trace_memory(&d->trace);
    ok = ok && declare_inputs(r, inputs) && dialect_make_inputs(d) &&
         deepx_walk(&r->w, d->alloc, r->text, how->ctx->as_calls, visit, r) && !r->w.status;
    ok = ok && (found ? find_inputs(r, found) : true) && make_outputs(r) && keep_file(r);
    dialect_list_free(d, &r->missing, sizeof(missing));
    dialect_list_free(d, &r->defs, sizeof(xir_any));
    dialect_list_free(d, &r->former, sizeof(xir_value *));
    dialect_list_free(d, &r->codes, sizeof(slot_code));
    buffer_free(&r->types);
    buffer_free(&r->printer.out);
    return dialect_finish(d, ok);
}

xir_network *deepx_read(const format_reading *how, blob *whole) {
    const xir_allocator *alloc = context_alloc(how->ctx);
    const xir_str text = { whole->size ? (const char *)whole->bytes : "", (size_t)whole->size };
    dialect_list none = { 0 }, inputs = { 0 };
    reader *r = mem_new(alloc, sizeof *r);
    if (!r) {
        diag_memory(how->why);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->text = text;
    xir_network *net = read_once(r, how, whole, &none, &inputs, false);
    if (net && inputs.size) {
        xir_network_free(net);
        memset(r, 0, sizeof *r);
        r->text = text;
        net = read_once(r, how, whole, &inputs, NULL, true);
    }
    mem_free(alloc, inputs.data, inputs.room * sizeof(missing));
    mem_free(alloc, r, sizeof *r);
    return net;
}
