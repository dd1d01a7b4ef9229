/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The check of a program, as the executor takes it: each call chooses a definition by its name, author, counts and
 * types; then what calls do to tensors. Definitions are checked against each other. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <xir/deepx.h>
#include <xir/order.h>
#include "deepx/blocks.h"
#include "deepx/registry.h"
#include "number.h"
#include "text.h"

enum { CHOICES = 256, FUNCTIONS = 64, MOST_NEAR = 4 };   /* CHOICES: 8 bits of a hash */

/* A choice that was made: calls of one class and author with the same text of types choose the same definition. */
typedef struct choice {
    const xir_class *cls;
    const char      *types;
    xir_str          author;
    bool             fits;
    bool             has_vars;     /* some parameter is a number */
} choice;

/* The effect of a function on tensors besides writing them. */
typedef enum role { ROLE_OTHER, ROLE_NEW, ROLE_LOAD, ROLE_RENAME, ROLE_DELETE } role;

/* A class and what its name says. */
typedef struct function {
    const xir_class *cls;
    bool             is_call;
    role             role;
    uint8_t          wrong;        /* what the executor computes wrongly: a row + 1; 0: nothing */
} function;

typedef struct checking {
    const xir_network *net;
    xir_diags         *why;
    deepx_registry     registry;
    deepx_blocks       blocks;
    pointer_table      noted;      /* inputs of the network that have their note */
    choice             choices[CHOICES];
    function           functions[FUNCTIONS];
    xir_status         status;
} checking;

static void say(checking *c, xir_severity severity, xir_status code, const char *path, const char *sentence, ...)
    XIR_PRINTF(5, 6);
static void say(checking *c, xir_severity severity, xir_status code, const char *path, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    if (severity == XIR_ERROR && !c->status) c->status = code;
    diag_failv(c->why, &(xir_diag){ .severity = severity, .code = code, .byte = XIR_NO_BYTE,
                                    .path = xir_str_of(path) }, sentence, args);
    va_end(args);
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

static xir_str author_of(const xir_op *op) {
    const xir_any *meta = op_more_of(op) ? DEEPX_TAG_OF(op_more_of(op)->tags, DEEPX_TAG_META) : NULL;
    return meta && meta->kind == XIR_ANY_TEXT ? deepx_meta_value(meta->as.text, "author") : (xir_str){ NULL, 0 };
}

/* ---- functions ------------------------------------------------------------------------------------------------- */

/* Those that the executor has and computes wrongly. */
static const struct { const char *function, *author, *sentence; } wrong[] = {
    { "matmul",         "miaobyte", "the executor's matmul by 'miaobyte' adds where it should multiply: expected the "
                                    "author 'cblas' or 'cublas'" },
    { "rsubscalar",     NULL,       "the executor's rsubscalar gives -A" },
    { "minscalar",      NULL,       "the executor crashes in minscalar" },
    { "powscalar",      NULL,       "the executor crashes in powscalar" },
    { "loadtensordata", NULL,       "the executor crashes in loadtensordata" },
};

static role role_of(xir_str name) {
    static const struct { const char *name; role role; } roles[] = {
        { "newtensor", ROLE_NEW }, { "load", ROLE_LOAD }, { "renametensor", ROLE_RENAME }, { "deltensor", ROLE_DELETE },
    };
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (xir_str_equal(name, xir_str_of(roles[i].name))) return roles[i].role;
    return ROLE_OTHER;
}

static const function *function_at(checking *c, const xir_op *op) {
    function *f = &c->functions[hash_pointer(op->cls) % FUNCTIONS];
    if (f->cls == op->cls) return f;
    *f = (function){ .cls = op->cls, .is_call = deepx_is_op(op) };
    const xir_str name = f->is_call ? function_of(op) : XIR_STR("");
    f->role = role_of(name);
    for (uint8_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (xir_str_equal(name, xir_str_of(wrong[i].function))) f->wrong = (uint8_t)(i + 1);
    return f;
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

enum { PATH_ROOM = 80 };

/* "/ops/3" */
static const char *op_path(char out[PATH_ROOM], const xir_op *op) {
    snprintf(out, PATH_ROOM, "/ops/%" PRId64, op->id);
    return out;
}
/* "/ops/3/attribute/arg1": a parameter, or after them a return slot. */
static const char *slot_path(char out[PATH_ROOM], const xir_op *op, size_t slot, size_t n_args) {
    const bool ret = slot >= n_args;
    snprintf(out, PATH_ROOM, "/ops/%" PRId64 "/attribute/%s%zu", op->id, ret ? "ret" : "arg",
             ret ? slot - n_args : slot);
    return out;
}
/* "/ops/3/input/1" */
static const char *input_path(char out[PATH_ROOM], const xir_op *op, uint32_t i) {
    snprintf(out, PATH_ROOM, "/ops/%" PRId64 "/input/%" PRIu32, op->id, i);
    return out;
}

/* A note that says where a definition does not fit. */
static void say_near(checking *c, const xir_op *op, const deepx_definition *def, const misfit *why) {
    char expected[120], found[120], path[PATH_ROOM];
    if (why->counts) {
        say(c, XIR_NOTE, XIR_OK, op_path(path, op), "'%.*s': expected %" PRIu32 " parameters and %" PRIu32 " return "
            "slots, found %zu and %zu", CLIP_TO(def->text, 160), def->n_args, def->n_rets, why->found_args,
            why->found_rets);
        return;
    }
    put_type(c, def->slots[why->slot], expected);
    put_type(c, why->found, found);
    const bool ret = why->slot >= def->n_args;
    slot_path(path, op, why->slot, def->n_args);
    say(c, XIR_NOTE, XIR_OK, path, "'%.*s': %s %zu: expected %s, found %s", CLIP_TO(def->text, 160),
        ret ? "return slot" : "parameter", ret ? why->slot - def->n_args : why->slot, expected, found);
}

/* ---- the choice of a definition ---------------------------------------------------------------------------------- */

/* The executor's list gives no author for some definitions; they are called with any. */
static bool by_author(const checking *c, const deepx_definition *d, xir_str author) {
    return xir_str_equal(d->author, author) || (!d->author.size && !c->registry.is_own);
}

static void say_none(checking *c, const xir_op *op, xir_str name, xir_str author, xir_str types) {
    char path[PATH_ROOM];
    size_t n = 0;
    bool known = false;
    misfit why;
    const deepx_definition *first = deepx_registry_find(&c->registry, name);
    op_path(path, op);
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
        if (!fits(types, d, &why)) say_near(c, op, d, &why);
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

static void say_wrong(checking *c, const xir_op *op, const function *f, xir_str author) {
    char path[PATH_ROOM];
    if (!f->wrong || c->registry.is_own) return;
    const char *only = wrong[f->wrong - 1].author;
    if (!only || xir_str_equal(author, xir_str_of(only)))
        say(c, XIR_WARNING, XIR_OK, op_path(path, op), "%s", wrong[f->wrong - 1].sentence);
}

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

/* The fault of a block is found at the block. */
static void check_block_call(checking *c, const xir_op *op, const deepx_block *block) {
    char path[PATH_ROOM];
    deepx_binding binding;
    arena scratch;
    if (block->status) return;
    arena_init(&scratch, c->registry.alloc);
    const xir_status status = deepx_bind(op, block, &scratch, &binding);
    arena_free(&scratch);
    if (status == XIR_E_MEMORY) {
        (void)memory(c);
    } else if (status && binding.slot == SIZE_MAX) {
        say(c, XIR_ERROR, status, op_path(path, op), "%s", binding.fault);
    } else if (status) {
        slot_path(path, op, binding.slot, block->n_params);
        say(c, XIR_ERROR, status, path, "'%.*s' of the block '%.*s': %s", CLIP(block->formals[binding.slot].name),
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
    if (!c->blocks.n) return;
    const uint64_t n = deepx_blocks_size(&c->blocks, c->net), most = deepx_blocks_most(c->net);
    if (n > most)
        say(c, XIR_ERROR, XIR_E_LIMIT, "/defs/0", "the blocks become %s%" PRIu64 " calls: the limit is %" PRIu64,
            n == UINT64_MAX ? "more than " : "", n, most);
}

static bool has_vars(xir_str types) {
    const char *p = types.data, *end = p + types.size;
    xir_str text;
    for (uint32_t items; deepx_next_type(&p, end, &text, &items);)
        if (text.size && *text.data == 'v') return true;
    return false;
}

/* As the executor: without an author the first one counts. Whether some parameter may be a number. */
static bool check_call(checking *c, const xir_op *op, xir_str given) {
    const xir_str name = function_of(op), text = deepx_types_of(op), types = text.data ? text : XIR_STR("");
    const uint64_t mixed = ((uintptr_t)op->cls * UINT64_C(0x9E3779B97F4A7C15)) ^ (uintptr_t)types.data;
    choice *made = &c->choices[(mixed * UINT64_C(0xD6E8FEB86659FD93) + given.size) >> 56];
    char path[PATH_ROOM];
    if (made->cls == op->cls && made->types == types.data && made->fits && xir_str_equal(made->author, given))
        return made->has_vars;
    const deepx_definition *first = deepx_registry_find(&c->registry, name);
    if (!first) {
        const deepx_block *block = deepx_block_of(&c->blocks, op);
        if (block) check_block_call(c, op, block);
        else say(c, XIR_ERROR, XIR_E_UNKNOWN, op_path(path, op), "no definition is called '%.*s'", CLIP(name));
        return true;
    }
    const xir_str author = given.data ? given : first->author;
    const bool fits = find_definition(c, name, given.data, author, types);
    *made = (choice){ op->cls, types.data, given, fits, has_vars(types) };
    if (!made->fits) say_none(c, op, name, author, types);
    return made->has_vars;
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
static void check_numbers(checking *c, const xir_op *op) {
    const xir_str types = deepx_types_of(op);
    const char *p = types.data, *end = p + types.size;
    char path[PATH_ROOM];
    xir_str text;
    uint32_t items;
    for (size_t i = 0; deepx_next_type(&p, end, &text, &items); i++) {
        deepx_type type;
        unsigned bits;
        if (!text.size || *text.data != 'v' || !read_type(text, &type) || type.category != DEEPX_VAR) continue;
        const xir_str value = deepx_slot_text(op, false, i);
        if (beyond(value, type.precision, &bits))
            say(c, XIR_WARNING, XIR_OK, slot_path(path, op, i, SIZE_MAX), "%.*s does not fit into int%u: the executor "
                "reads it as a float", CLIP(value), bits);
    }
}

/* ---- tensors ---------------------------------------------------------------------------------------------------- */

/* A tensor that no line makes has one note. */
static void note_input(checking *c, const xir_op *op, uint32_t i) {
    const xir_value *v = op_inputs(op)[i].value;
    char path[PATH_ROOM];
    if (pointer_table_find(&c->noted, v)) return;
    if (!pointer_table_reserve(&c->noted, c->noted.n + 1) || !pointer_table_add(&c->noted, v, 0)) {
        (void)memory(c);
        return;
    }
    say(c, XIR_NOTE, XIR_OK, input_path(path, op, i), "no line makes '%.*s': it is an input%s", CLIP(xir_value_name(v)),
        v->type ? "" : ", whose type --input-shape gives");
}

static void check_input(checking *c, const xir_op *op, const function *f, uint32_t i) {
    const xir_value *v = op_inputs(op)[i].value;
    char path[PATH_ROOM];
    if (!v || value_is_params(v)) return;
    const xir_op *maker = value_op(v);
    if (!xir_value_precedes(v, op)) {
        say(c, XIR_ERROR, XIR_E_MISSING, input_path(path, op, i), "'%.*s' is used before a line makes it",
            CLIP(xir_value_name(v)));
        return;
    }
    const function *made = function_at(c, maker);
    const bool deleted = made->role == ROLE_DELETE;
    if (!made->is_call) {
        note_input(c, op, i);
    } else if (deleted && !(f->role == ROLE_NEW || f->role == ROLE_LOAD || (f->role == ROLE_RENAME && i > 0))) {
        say(c, XIR_ERROR, XIR_E_MISSING, input_path(path, op, i), "'%.*s' was deleted by call %" PRId64,
            CLIP(xir_value_name(v)), maker->id);
    } else if (f->role == ROLE_NEW && !deleted) {
        say(c, XIR_WARNING, XIR_OK, input_path(path, op, i), "'%.*s' exists already: call %" PRId64 " has made its "
            "elements", CLIP(xir_value_name(v)), maker->id);
    }
}

static void check_unused(checking *c, const xir_op *op) {
    char path[PATH_ROOM];
    if (op->n_outputs != 1) return;
    for (const xir_use *use = op_outputs(op)[0].uses; use; use = use->next) {
        const function *f = function_at(c, use->user);
        if (f->is_call && f->role != ROLE_DELETE && f->role != ROLE_NEW) return;
    }
    say(c, XIR_NOTE, XIR_OK, op_path(path, op), "'%.*s' is never used", CLIP(xir_value_name(&op_outputs(op)[0])));
}

static void check_op(checking *c, const xir_op *op) {
    const function f = *function_at(c, op);      /* the place of another function may be the same */
    const xir_str author = author_of(op);
    if (!f.is_call) return;
    if (check_call(c, op, author)) check_numbers(c, op);
    say_wrong(c, op, &f, author);
    for (uint32_t i = 0; i < op->n_inputs && c->status != XIR_E_MEMORY; i++) check_input(c, op, &f, i);
    if (f.role == ROLE_NEW) check_unused(c, op);
}

/* ---- definitions ------------------------------------------------------------------------------------------------ */

/* A definition is unreachable if an earlier one accepts every call that it would. Only the first of a name are
 * compared. */
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
            same ? "'%.*s' is defined twice with the same types" : "this definition of '%.*s' is unreachable: an earlier "
            "one accepts every call that it would", CLIP(def->name));
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
        check_op(c, op);
    const xir_status status = c->status;
    deepx_registry_end(&c->registry);
    deepx_blocks_end(&c->blocks);
    pointer_table_free(&c->noted);
    mem_free(context_alloc(net->ctx), c, sizeof *c);
    return status;
}
