/* The check of a program, as the executor takes it: each call chooses a definition by its name, author, counts and
 * types; then what calls do to tensors. Definitions are checked against each other. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <xir/deepx.h>
#include "deepx/blocks.h"
#include "deepx/registry.h"
#include "number.h"
#include "text.h"

enum { CHOICES = 256, MOST_NEAR = 4 };   /* 8 bits of a hash */

/* A choice that was made: calls of one class and author with the same text of types choose the same definition. */
typedef struct choice {
    const xir_class *cls;
    const char      *types;
    xir_str          author;
    bool             fits;
} choice;

typedef struct checking {
    const xir_network *net;
    xir_diags         *why;
    deepx_registry     registry;
    deepx_blocks       blocks;
    pointer_table      noted;      /* inputs of the network that have their note */
    choice             choices[CHOICES];
    xir_status         status;
} checking;

static void say(checking *c, xir_severity severity, xir_status code, const char *path, const char *sentence, ...)
    XIR_PRINTF(5, 6);
static void say(checking *c, xir_severity severity, xir_status code, const char *path, const char *sentence, ...) {
    char text[SENTENCE_ROOM];
    va_list args;
    va_start(args, sentence);
    text_vprint(text, sizeof text, sentence, args);
    va_end(args);
    if (severity == XIR_ERROR && !c->status) c->status = code;
    xir_diags_add(c->why, severity, code, xir_str_of(path), "%s", text);
}

static bool memory(checking *c) {
    if (c->status != XIR_E_MEMORY) diag_memory(c->why);
    c->status = XIR_E_MEMORY;
    return false;
}

static xir_str function_of(const xir_op *op) {
    const xir_str key = op->cls->key;
    return (xir_str){ key.data + 7, key.size - 7 };
}
static bool calls(const xir_op *op, const char *name) {
    return deepx_is_op(op) && xir_str_equal(function_of(op), xir_str_of(name));
}

static xir_str attribute_of(const xir_op *op, const char *key) {
    const xir_any *any = op->more ? xir_map_find(op->more->extra, xir_str_of(key)) : NULL;
    return any && any->kind == XIR_ANY_TEXT ? any->as.text : (xir_str){ "", 0 };
}

static xir_str author_of(const xir_op *op) {
    const xir_any *meta = op->more ? xir_map_find(op->more->tags, XIR_STR(DEEPX_TAG_META)) : NULL;
    return meta && meta->kind == XIR_ANY_TEXT ? deepx_meta_value(meta->as.text, "author") : (xir_str){ NULL, 0 };
}

/* ---- a call and a definition ------------------------------------------------------------------------------------ */

/* Why a definition does not fit a call: the counts, or a slot. */
typedef struct misfit { size_t slot, found_args, found_rets; deepx_type found; bool counts; } misfit;

static bool read_type(xir_str text, deepx_type *out) {
    deepx_type_fault fault;
    *out = (deepx_type){ .precision = DEEPX_ANY };
    return xir_str_equal(text, XIR_STR("_")) || deepx_type_read(text, out, &fault);
}

/* A slot without a type fits any: the executor decides by what the name stands for when it runs. */
static bool type_fits(deepx_type call, deepx_type def) {
    const bool typed = call.category != 0;
    return !typed || (!(call.category & ~def.category) && !(call.precision & ~def.precision));
}

static bool fits(xir_str types, const deepx_definition *def, misfit *why) {
    const char *p = types.data, *end = p + types.size;
    const deepx_type *slot = def->slots;
    xir_str text;
    uint32_t items;
    bool same = true;
    *why = (misfit){ .slot = SIZE_MAX };
    for (size_t i = 0; deepx_next_type(&p, end, &text, &items); i++, why->found_args++) {
        deepx_type type;
        if (!read_type(text, &type) || i >= def->n_args) continue;
        if (same && !type_fits(type, slot[i])) same = false, why->slot = i, why->found = type;
    }
    p = deepx_skip_arrow(p, end);
    for (size_t i = 0; deepx_next_type(&p, end, &text, &items); i++, why->found_rets++) {
        deepx_type type;
        if (!read_type(text, &type) || i >= def->n_rets) continue;
        const size_t k = def->n_args + i;
        if (same && !type_fits(type, slot[k])) same = false, why->slot = k, why->found = type;
    }
    why->counts = why->found_args != def->n_args || why->found_rets != def->n_rets;
    return same && !why->counts;
}

static void put_type(checking *c, deepx_type type, char out[120]) {
    buffer text;
    buffer_init(&text, c->registry.alloc);
    deepx_type_print(&text, type);
    snprintf(out, 120, "%.*s", text.failed || text.size > 110 ? 1 : (int)text.size, text.failed ? "?" : text.data);
    if (text.failed) (void)memory(c);
    buffer_free(&text);
}

/* "/ops/3/attribute/arg1": a parameter, or after them a return slot. */
static void slot_path(char *out, size_t room, const char *path, size_t slot, size_t n_args) {
    const bool ret = slot >= n_args;
    snprintf(out, room, "%s/attribute/%s%zu", path, ret ? "ret" : "arg", ret ? slot - n_args : slot);
}

/* A note that says where a definition does not fit. */
static void say_near(checking *c, const char *path, const deepx_definition *def, const misfit *why) {
    char expected[120], found[120];
    if (why->counts) {
        say(c, XIR_NOTE, XIR_OK, path, "'%.*s': expected %" PRIu32 " parameters and %" PRIu32 " return slots, "
            "found %zu and %zu", CLIP_TO(def->text, 160), def->n_args, def->n_rets, why->found_args, why->found_rets);
        return;
    }
    put_type(c, def->slots[why->slot], expected);
    put_type(c, why->found, found);
    const bool ret = why->slot >= def->n_args;
    char where[80];
    slot_path(where, sizeof where, path, why->slot, def->n_args);
    say(c, XIR_NOTE, XIR_OK, where, "'%.*s': %s %zu: expected %s, found %s", CLIP_TO(def->text, 160),
        ret ? "return slot" : "parameter", ret ? why->slot - def->n_args : why->slot, expected, found);
}

/* ---- the choice of a definition ---------------------------------------------------------------------------------- */

/* The executor's list gives no author for some definitions; they are called with any. */
static bool by_author(const checking *c, const deepx_definition *d, xir_str author) {
    return xir_str_equal(d->author, author) || (!d->author.size && !c->registry.is_own);
}

static void say_none(checking *c, const char *path, xir_str name, xir_str author, xir_str types) {
    size_t n = 0;
    bool known = false;
    misfit why;
    const deepx_definition *first = deepx_registry_find(&c->registry, name);
    for (const deepx_definition *d = first; d && !known; d = deepx_registry_next(&c->registry, d))
        known = by_author(c, d, author);
    if (!known)
        say(c, XIR_ERROR, XIR_E_UNKNOWN, path, "'%.*s' has no definition by the author '%.*s'", CLIP(name),
            CLIP(author));
    else
        say(c, XIR_ERROR, XIR_E_TYPE, path, "no definition of '%.*s'%s%.*s%s fits the call", CLIP(name),
            author.size ? " by '" : "", CLIP(author), author.size ? "'" : "");
    for (const deepx_definition *d = first; d && n < MOST_NEAR; d = deepx_registry_next(&c->registry, d)) {
        if (known && !by_author(c, d, author)) continue;
        n++;
        if (!fits(types, d, &why)) say_near(c, path, d, &why);
        else say(c, XIR_NOTE, XIR_OK, path, "'%.*s' by '%.*s' fits", CLIP_TO(d->text, 160), CLIP(d->author));
    }
}

/* Calls without any type may be of any author. */
static bool has_types(xir_str types) {
    for (size_t i = 0; i < types.size; i++) if (types.data[i] == '<') return true;
    return false;
}

static bool find_definition(checking *c, xir_str name, bool has_author, xir_str author, xir_str types) {
    const deepx_definition *first = deepx_registry_find(&c->registry, name);
    const bool any = !has_author && !has_types(types);
    misfit why;
    for (const deepx_definition *d = first; d; d = deepx_registry_next(&c->registry, d))
        if ((any || by_author(c, d, author)) && fits(types, d, &why)) return true;
    return false;
}

/* Functions that the executor has and computes wrongly. */
static void say_wrong(checking *c, const xir_op *op, xir_str author, const char *path) {
    static const struct { const char *function, *author, *sentence; } wrong[] = {
        { "matmul",         "miaobyte", "the executor's matmul by 'miaobyte' adds where it should multiply: expected "
                                        "the author 'cblas' or 'cublas'" },
        { "rsubscalar",     NULL,       "the executor's rsubscalar gives -A" },
        { "minscalar",      NULL,       "the executor crashes in minscalar" },
        { "powscalar",      NULL,       "the executor crashes in powscalar" },
        { "loadtensordata", NULL,       "the executor crashes in loadtensordata" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong && !c->registry.is_own; i++) {
        if (!calls(op, wrong[i].function)) continue;
        if (!wrong[i].author || xir_str_equal(author, xir_str_of(wrong[i].author)))
            say(c, XIR_WARNING, XIR_OK, path, "%s", wrong[i].sentence);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The fault of a block is found at the block. */
static void check_block_call(checking *c, const xir_op *op, const deepx_block *block, const char *path) {
    deepx_binding binding;
    arena scratch;
    if (block->status) return;
    arena_init(&scratch, c->registry.alloc);
    const xir_status status = deepx_bind(op, block, &scratch, &binding);
    arena_free(&scratch);
    if (status == XIR_E_MEMORY) {
        (void)memory(c);
    } else if (status && binding.slot == SIZE_MAX) {
        say(c, XIR_ERROR, status, path, "%s", binding.fault);
    } else if (status) {
        char where[80];
        slot_path(where, sizeof where, path, binding.slot, block->n_params);
        say(c, XIR_ERROR, status, where, "'%.*s' of the block '%.*s': %s", CLIP(block->formals[binding.slot].name),
            CLIP(block->name), binding.fault);
    }
}

static void check_blocks(checking *c) {
    for (size_t i = 0; i < c->blocks.n; i++) {
        const deepx_block *b = &c->blocks.list[i];
        char path[40];
        snprintf(path, sizeof path, "/defs/%" PRIu32, b->number);
        if (b->again) say(c, XIR_ERROR, XIR_E_EXISTS, path, "the block '%.*s' is defined twice", CLIP(b->name));
        else if (b->status) say(c, XIR_ERROR, b->status, path, "'%.*s': %s", CLIP(b->name), b->fault);
    }
    const uint64_t n = deepx_blocks_size(&c->blocks, c->net), most = deepx_blocks_most(c->net);
    if (c->blocks.n && n > most)
        say(c, XIR_ERROR, XIR_E_LIMIT, "/defs/0", "the blocks become %s%" PRIu64 " calls: the limit is %" PRIu64,
            n == UINT64_MAX ? "more than " : "", n, most);
}

/* As the executor: without an author the first one counts. */
static void check_call(checking *c, const xir_op *op, const char *path) {
    const xir_str name = function_of(op), types = attribute_of(op, DEEPX_TYPES);
    const xir_str given = author_of(op);
    const uint64_t mixed = ((uintptr_t)op->cls * UINT64_C(0x9E3779B97F4A7C15)) ^ (uintptr_t)types.data;
    choice *made = &c->choices[(mixed * UINT64_C(0xD6E8FEB86659FD93) + given.size) >> 56];
    if (made->cls == op->cls && made->types == types.data && made->fits && xir_str_equal(made->author, given)) return;
    const deepx_definition *first = deepx_registry_find(&c->registry, name);
    if (!first) {
        const deepx_block *block = deepx_block_of(&c->blocks, op);
        if (block) check_block_call(c, op, block, path);
        else say(c, XIR_ERROR, XIR_E_UNKNOWN, path, "no definition is called '%.*s'", CLIP(name));
        return;
    }
    const xir_str author = given.data ? given : first->author;
    *made = (choice){ op->cls, types.data, given, find_definition(c, name, given.data, author, types) };
    if (!made->fits) say_none(c, path, name, author, types);
}

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static bool beyond(xir_str text, uint16_t precision, unsigned *bits) {
    number n;
    const size_t element = deepx_element_of(precision);
    *bits = element == 9 ? 32 : element == 10 ? 16 : element == 11 ? 8 : element == 12 ? 4 : 0;
    if (!*bits || !text.size || number_parse(text.data, text.size, &n) != text.size) return false;
    const double v = n.kind == NUMBER_I64 ? (double)n.i64 : n.kind == NUMBER_U64 ? (double)n.u64 : n.real;
    const double half = (double)(UINT64_C(1) << (*bits - 1));
    return v < -half || v >= half;
}

/* Front ends send seeds that their precision does not hold. */
static void check_numbers(checking *c, const xir_op *op, const char *path) {
    const xir_str types = attribute_of(op, DEEPX_TYPES);
    const char *p = types.data, *end = p + types.size;
    xir_str text;
    uint32_t items;
    for (size_t i = 0; deepx_next_type(&p, end, &text, &items); i++) {
        deepx_type type;
        unsigned bits;
        if (!text.size || *text.data != 'v' || !read_type(text, &type) || type.category != DEEPX_VAR) continue;
        const xir_str value = deepx_slot_text(op, false, i);
        char where[80];
        slot_path(where, sizeof where, path, i, SIZE_MAX);
        if (beyond(value, type.precision, &bits))
            say(c, XIR_WARNING, XIR_OK, where, "%.*s does not fit into int%u: the executor reads it as a float",
                CLIP(value), bits);
    }
}

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

static void check_input(checking *c, const xir_op *op, uint32_t i, const char *path) {
    const xir_value *v = op->inputs[i].value;
    const bool makes = calls(op, "newtensor") || calls(op, "load") || (calls(op, "renametensor") && i > 0);
    char where[64];
    snprintf(where, sizeof where, "%s/input/%" PRIu32, path, i);
    if (!v || value_is_params(v)) return;
    const xir_op *maker = v->producer;
    if (!maker || (maker->flags & OP_PLACED && maker->position >= op->position)) {
        say(c, XIR_ERROR, XIR_E_MISSING, where, "'%.*s' is used before a line makes it", CLIP(xir_value_name(v)));
    } else if (!deepx_is_op(maker)) {
        if (pointer_table_find(&c->noted, v)) return;
        if (!pointer_table_reserve(&c->noted, c->noted.n + 1) || !pointer_table_add(&c->noted, v, 0)) {
            (void)memory(c);
            return;
        }
        say(c, XIR_NOTE, XIR_OK, where, "no line makes '%.*s': it is an input%s", CLIP(xir_value_name(v)),
            v->type ? "" : ", whose type --input-shape gives");
    } else if (calls(maker, "deltensor") && !makes) {
        say(c, XIR_ERROR, XIR_E_MISSING, where, "'%.*s' was deleted by call %" PRId64, CLIP(xir_value_name(v)),
            maker->id);
    } else if (calls(op, "newtensor") && !calls(maker, "deltensor")) {
        say(c, XIR_WARNING, XIR_OK, where, "'%.*s' exists already: call %" PRId64 " has made its elements",
            CLIP(xir_value_name(v)), maker->id);
    }
}

static void check_unused(checking *c, const xir_op *op, const char *path) {
    if (!calls(op, "newtensor") || op->n_outputs != 1) return;
    for (const xir_use *use = op->outputs[0].uses; use; use = use->next)
        if (deepx_is_op(use->user) && !calls(use->user, "deltensor") && !calls(use->user, "newtensor")) return;
    say(c, XIR_NOTE, XIR_OK, path, "'%.*s' is never used", CLIP(xir_value_name(&op->outputs[0])));
}

static void check_op(checking *c, const xir_op *op) {
    char path[40];
    snprintf(path, sizeof path, "/ops/%" PRId64, op->id);
    check_call(c, op, path);
    check_numbers(c, op, path);
    say_wrong(c, op, author_of(op), path);
    for (uint32_t i = 0; i < op->n_inputs && c->status != XIR_E_MEMORY; i++) check_input(c, op, i, path);
    check_unused(c, op, path);
}

/* ---- definitions ------------------------------------------------------------------------------------------------ */

/* A definition that an earlier one always precedes is never chosen. Only the first of a name are compared. */
static bool includes(const deepx_definition *a, const deepx_definition *b) {
    bool all = a->n_args == b->n_args && a->n_rets == b->n_rets && xir_str_equal(a->author, b->author);
    for (size_t i = 0; all && i < a->n_args + a->n_rets; i++) all = type_fits(b->slots[i], a->slots[i]);
    return all;
}

static void check_definition(checking *c, const deepx_definition *def) {
    enum { MOST_COMPARED = 64 };
    size_t n = 0;
    char path[40];
    const deepx_definition *d = deepx_registry_find(&c->registry, def->name);
    for (; d && d != def && n < MOST_COMPARED; d = deepx_registry_next(&c->registry, d), n++) {
        if (!includes(d, def)) continue;
        snprintf(path, sizeof path, "/defs/%" PRIu32, def->number);
        const bool same = includes(def, d);
        say(c, same ? XIR_ERROR : XIR_WARNING, same ? XIR_E_EXISTS : XIR_OK, path,
            same ? "'%.*s' is defined twice with the same types" : "this definition of '%.*s' is never chosen: the one "
            "before accepts all that it accepts", CLIP(def->name));
        return;
    }
}

xir_status xir_deepx_check(const xir_network *net, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    checking *c = mem_new(context_alloc(net->ctx), sizeof *c);
    if (!c) return diag_memory(why);
    memset(c, 0, sizeof *c);
    c->net = net;
    c->why = why;
    pointer_table_init(&c->noted, context_alloc(net->ctx));
    const bool defined = deepx_registry_begin(&c->registry, net), has_blocks = deepx_blocks_begin(&c->blocks, net);
    if (!defined || !has_blocks) (void)memory(c);
    if (c->status != XIR_E_MEMORY) check_blocks(c);
    const bool own = xir_map_find(net->tags, XIR_STR(DEEPX_TAG_DEFS)) != NULL;
    for (size_t i = 0; own && i < c->registry.n && c->status != XIR_E_MEMORY; i++)
        check_definition(c, &c->registry.list[i]);
    for (const xir_op *op = net->first; op && c->status != XIR_E_MEMORY; op = op->next)
        if (deepx_is_op(op)) check_op(c, op);
    const xir_status status = c->status;
    deepx_registry_end(&c->registry);
    deepx_blocks_end(&c->blocks);
    pointer_table_free(&c->noted);
    mem_free(context_alloc(net->ctx), c, sizeof *c);
    return status;
}
