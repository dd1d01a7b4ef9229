/* Sealing turns a declaration into a class: its rows sorted into attributes, ports and keys, its default body made, its
 * contradictions refused. Sealed classes stand on a stage, where only each other's rows find them, until all that are registered
 * together are good; then they enter the registry together. A sealed class never changes, but for the inference functions that
 * back ends add. The registry only grows; looking a key up takes the context's lock. */
#include <math.h>
#include "context.h"
#include "number.h"
#include "sized.h"

/* ---- kinds ------------------------------------------------------------------------------------------------- */

/* ORDER KIND */
static const struct { const char *name; uint8_t size; bool plain; } kinds[XIR_KIND_COUNT] = {
    [XIR_KIND_BOOL]    = { "bool",         sizeof(bool),         true  },
    [XIR_KIND_I64]     = { "int64",        sizeof(int64_t),      true  },
    [XIR_KIND_U64]     = { "uint64",       sizeof(uint64_t),     true  },
    [XIR_KIND_REAL]    = { "float",        sizeof(double),       true  },
    [XIR_KIND_TEXT]    = { "string",       sizeof(xir_str),      false },
    [XIR_KIND_ENUM]    = { "enum",         sizeof(int),          true  },
    [XIR_KIND_REF]     = { "ref",          sizeof(void *),       true  },
    [XIR_KIND_PARAMS]  = { "params",       sizeof(void *),       false },
    [XIR_KIND_MAP]     = { "map",          sizeof(xir_map),      false },
    [XIR_KIND_BOOLS]   = { "list<bool>",   sizeof(xir_bools),    false },
    [XIR_KIND_I64S]    = { "list<int64>",  sizeof(xir_i64s),     false },
    [XIR_KIND_REALS]   = { "list<float>",  sizeof(xir_reals),    false },
    [XIR_KIND_TEXTS]   = { "list<string>", sizeof(xir_texts),    false },
    [XIR_KIND_REFS]    = { "list<ref>",    sizeof(xir_refs),     false },
    [XIR_KIND_RUNS]    = { "runs",         sizeof(xir_runs),     false },
    [XIR_KIND_PARAMSS] = { "list<params>", sizeof(xir_values),   false },
    [XIR_KIND_OPS]     = { "list<op>",     sizeof(xir_ops),      false },
};

const char *xir_kind_name(xir_kind kind) {
    return (unsigned)kind < XIR_KIND_COUNT ? kinds[kind].name : "?";
}

/* ---- the registry ------------------------------------------------------------------------------------------ */

static bool reserve_keys(xir_context *ctx, size_t more) {
    size_t n = ctx->keys.n + more;
    return text_table_reserve(&ctx->keys, n) &&
           mem_reserve(&ctx->alloc, (void **)&ctx->by_key, &ctx->by_key_room, n, sizeof *ctx->by_key);
}

/* Room has been reserved. A key that is taken by a real class stays its; an opaque one gives way. */
static void put_key(xir_context *ctx, xir_str key, const xir_class *cls) {
    uint32_t n = (uint32_t)ctx->keys.n, at = *text_table_add(&ctx->keys, key, n);
    if (at == n || ctx->by_key[at]->opaque) ctx->by_key[at] = cls;
}

static const xir_class *get_key(xir_context *ctx, xir_str key) {
    const uint32_t *at = text_table_find(&ctx->keys, key);
    return at ? ctx->by_key[*at] : NULL;
}

const xir_class *xir_class_find(xir_context *ctx, xir_str key) {
    pthread_mutex_lock(&ctx->lock);
    const xir_class *cls = get_key(ctx, key);
    pthread_mutex_unlock(&ctx->lock);
    return cls && !cls->opaque ? cls : NULL;
}

const xir_class *xir_class_of(xir_context *ctx, const xir_class_decl *decl) {
    const xir_class *cls = xir_class_find(ctx, xir_str_of(decl->rows->name));
    return cls && cls->decl == decl ? cls : NULL;
}

const xir_class *xir_context_class_at(xir_context *ctx, size_t i) {
    const xir_class *cls = atomic_load_explicit(&ctx->first_class, memory_order_acquire);
    pthread_mutex_lock(&ctx->lock);
    while (cls && i--) cls = cls->next;
    pthread_mutex_unlock(&ctx->lock);
    return cls;
}

/* ---- sealing ----------------------------------------------------------------------------------------------- */

/* ORDER KEY_: what every op has. */
static const struct { const char *name; int field; } base_keys[] = {
    { "_type_key",      KEY_TYPE    },
    { "compile_target", KEY_TARGET  },
    { "inputs",         KEY_INPUTS  },
    { "name",           KEY_NAME    },
    { "op_id",          KEY_ID      },
    { "outputs",        KEY_OUTPUTS },
    { "tags",           KEY_TAGS    },
};
enum { BASE_KEYS = sizeof base_keys / sizeof base_keys[0] };

/* Classes have few keys: an insertion sort is short and allocates nothing. */
static void sort_keys(class_key *keys, uint32_t n) {
    for (uint32_t i = 1; i < n; i++) {
        class_key key = keys[i];
        uint32_t at = i;
        for (; at > 0 && str_order(keys[at - 1].name, key.name) > 0; at--) keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

static bool has_alias(const xir_class_decl *decl, xir_str key) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word == XIR_WORD_ALIAS && xir_str_equal(xir_str_of(row->name), key)) return true;
    }
    return false;
}

/* The real class of a key or alias: one of the stage, or a registered one. */
static const xir_class *taken_by(const class_stage *stage, xir_str key) {
    for (size_t i = 0; i < stage->n; i++) {
        const xir_class *cls = stage->classes[i];
        if (xir_str_equal(cls->key, key) || has_alias(cls->decl, key)) return cls;
    }
    const xir_class *cls = get_key(stage->ctx, key);
    return cls && !cls->opaque ? cls : NULL;
}

/* The class that a row refers to: registered before, on the stage, or the one being sealed. */
static const xir_class *referred(const class_stage *stage, const xir_class *self, const xir_class_decl *(*of)(void)) {
    if (!of) return NULL;
    const xir_class_decl *decl = of();
    if (self && decl == self->decl) return self;
    const xir_class *cls = taken_by(stage, xir_str_of(decl->rows->name));
    return cls && cls->decl == decl ? cls : NULL;
}

static void fill_field(const class_stage *stage, const xir_class *self, xir_field *f, const xir_row *row) {
    *f = (xir_field){ .name = xir_str_of(row->name), .describe = xir_str_of(row->describe), .kind = row->kind,
                      .flags = row->flags, .preset = row->preset, .least = row->least, .greatest = row->greatest,
                      .preset_text = xir_str_of(row->preset_text), .offset = row->offset };
    if (row->kind == XIR_KIND_REAL) {
        f->has_least = row->least.r > -(double)INFINITY;
        f->has_greatest = row->greatest.r < (double)INFINITY;
    } else if (row->kind == XIR_KIND_I64 || row->kind == XIR_KIND_U64) {
        f->has_least = row->least.i != INT64_MIN;
        f->has_greatest = row->greatest.i != INT64_MAX;
    }
    f->has_default = !(row->flags & (XIR_FIELD_REQUIRED | XIR_FIELD_OPTIONAL));
    f->members = row->members ? row->members() : NULL;
    f->of = referred(stage, self, row->of);
}

/* Stretches of a plain body without padding. */
static void make_spans(xir_class *cls) {
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        class_span *last = cls->n_spans ? &cls->spans[cls->n_spans - 1] : NULL;
        if (last && last->start + last->size == f->offset) last->size += kinds[f->kind].size;
        else cls->spans[cls->n_spans++] = (class_span){ f->offset, kinds[f->kind].size };
    }
}

static void init_field(void *body, const xir_row *row) {
    void *at = (char *)body + row->offset;
    switch (row->kind) {
    case XIR_KIND_BOOL: *(bool *)at = row->preset.i != 0; break;
    case XIR_KIND_I64:
    case XIR_KIND_U64:  *(int64_t *)at = row->preset.i; break;
    case XIR_KIND_REAL: *(double *)at = number_to_f32(row->preset.r); break;
    case XIR_KIND_TEXT: *(xir_str *)at = xir_str_of(row->preset_text); break;
    case XIR_KIND_ENUM: *(int *)at = (int)row->preset.i; break;
    default: break;   /* null or empty */
    }
}

void xir_body_init(const xir_class_decl *decl, void *body) {
    memset(body, 0, decl->rows->offset);
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word == XIR_WORD_FIELD) init_field(body, row);
    }
}

/* The default of a reference, which the row spells as files do: a one-string form or a number. */
static const xir_object *preset_object(xir_context *ctx, const char *text, xir_status *status, xir_diags *why) {
    form_error e = { 0 };
    const xir_object *object;
    if (text[0] == '@') {
        object = form_parse(&ctx->home, xir_str_of(text), &e);
    } else {
        /* Defaults are short: an integer, or a real with few digits, which this reads exactly. */
        int64_t whole = 0, scale = 1;
        bool minus = *text == '-', real = false;
        for (const char *p = text + minus; *p; p++) {
            if (*p == '.') { real = true; continue; }
            whole = whole * 10 + (*p - '0');
            if (real) scale *= 10;
        }
        if (minus) whole = -whole;
        object = (const xir_object *)(real ? xir_scalar_real(ctx, (double)whole / (double)scale) : xir_scalar_int(ctx, whole));
    }
    if (object) return object;
    *status = e.status && e.status != XIR_E_MEMORY ? diag_fail(why, XIR_E_INVALID, XIR_STR(""), "the default %s: %s", text, e.message)
                                                   : diag_memory(why);
    return NULL;
}

/* Makes the default body. Defaults may be objects, which take the lock themselves. */
static xir_status make_defaults(xir_context *ctx, xir_class *cls, const xir_class_decl *decl, xir_diags *why) {
    xir_status status = XIR_OK;
    xir_body_init(decl, cls->defaults);
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word != XIR_WORD_FIELD || !row->preset_text || row->kind == XIR_KIND_TEXT) continue;
        const xir_object *object = preset_object(ctx, row->preset_text, &status, why);
        if (!object) return status;
        const xir_field *f = xir_class_field(cls, xir_str_of(row->name));
        if (f->of && !xir_class_under(object->cls, f->of)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the default of '%s' is a %s, a %s was expected", cls->key.data,
                             row->name, object->cls->key.data, f->of->key.data);
        }
        void *at = (char *)cls->defaults + row->offset;
        if (row->kind == XIR_KIND_REF) {
            *(const xir_object **)at = object;
        } else {
            pthread_mutex_lock(&ctx->lock);
            const xir_object **item = arena_copy(&ctx->arena, &object, sizeof object);
            pthread_mutex_unlock(&ctx->lock);
            if (!item) return diag_memory(why);
            *(xir_refs *)at = (xir_refs){ item, 1 };
        }
    }
    cls->defaults_good = body_check(cls, cls->defaults, XIR_STR(""), XIR_STR(""), NULL) == XIR_OK;
    return XIR_OK;
}

typedef struct row_counts { uint32_t fields, inputs, outputs, aliases, was; } row_counts;

static row_counts count_rows(const xir_class_decl *decl) {
    row_counts n = { 0 };
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        switch (row->word) {
        case XIR_WORD_FIELD: n.fields++; break;
        case XIR_WORD_IN:
        case XIR_WORD_OPT:
        case XIR_WORD_VAR:   n.inputs++; break;
        case XIR_WORD_OUT:
        case XIR_WORD_OUTS:  n.outputs++; break;
        case XIR_WORD_ALIAS: n.aliases++; break;
        case XIR_WORD_WAS:   n.was++; break;
        default: break;
        }
    }
    return n;
}

static void add_port(xir_class *cls, const xir_row *row) {
    xir_port port = { xir_str_of(row->name), xir_str_of(row->describe), row->word };
    if (row->word == XIR_WORD_OUT || row->word == XIR_WORD_OUTS) {
        cls->outputs[cls->n_outputs++] = port;
        cls->many_outputs |= row->word == XIR_WORD_OUTS;
        return;
    }
    cls->input_offsets[cls->n_inputs] = row->offset;
    cls->inputs[cls->n_inputs++] = port;
    cls->many_inputs |= row->word == XIR_WORD_VAR;
    if (row->word == XIR_WORD_IN) cls->least_inputs = cls->n_inputs;
}

static uint32_t field_index(const xir_class *cls, xir_str name) {
    uint32_t i = 0;
    while (i < cls->n_fields && !xir_str_equal(cls->fields[i].name, name)) i++;
    return i;
}

int stage_target(const class_stage *stage, xir_str key) {
    const xir_class *cls = taken_by(stage, key);
    return cls ? class_target(stage->ctx, cls) : -1;
}

/* The kind of target that an INFER row is for; -1: there is none such. */
static int infer_target(const class_stage *stage, const xir_row *row) {
    if (row->name) return stage_target(stage, xir_str_of(row->name));
    return (unsigned)row->target < XIR_TARGET_COUNT ? row->target : -1;
}

static void add_infer(const class_stage *stage, xir_class *cls, const xir_row *row) {
    bool alone = row->flags & XIR_INFER_ALONE;
    if (row->flags & XIR_INFER_TILED) {
        cls->infer_tiled = row->fn;
        cls->alone_tiled = alone;
        return;
    }
    int target = infer_target(stage, row);
    if (target < 0) return;
    class_set_infer(cls, (unsigned)target, row->fn);
    if (alone) cls->alone |= UINT32_C(1) << target;
}

static bool reserve_infers(const class_stage *stage, xir_class *cls, const xir_class_decl *decl) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        int target = row->word == XIR_WORD_INFER ? infer_target(stage, row) : -1;
        if (target >= 0 && !class_reserve_infer(cls, (unsigned)target)) return false;
    }
    return true;
}

static void add_rows(const class_stage *stage, xir_class *cls, const xir_class_decl *decl) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        switch (row->word) {
        case XIR_WORD_FIELD:
            fill_field(stage, cls, &cls->fields[cls->n_fields], row);
            cls->plain &= kinds[row->kind].plain;
            cls->has_params |= row->kind == XIR_KIND_PARAMS || row->kind == XIR_KIND_PARAMSS;
            if (row->kind == XIR_KIND_REF)  cls->refs[cls->n_refs++] = cls->n_fields;
            if (row->kind == XIR_KIND_REAL) cls->reals[cls->n_reals++] = cls->n_fields;
            cls->n_fields++;
            break;
        case XIR_WORD_IN: case XIR_WORD_OPT: case XIR_WORD_VAR: case XIR_WORD_OUT: case XIR_WORD_OUTS:
            add_port(cls, row);
            break;
        case XIR_WORD_CHECK: cls->check = row->fn; break;
        case XIR_WORD_INFER: add_infer(stage, cls, row); break;
        case XIR_WORD_WORK:  cls->work = row->fn; break;
        case XIR_WORD_FORM:  cls->form = row->form; break;
        default: break;
        }
    }
    if (cls->is_op) {
        for (uint32_t i = 0; i < BASE_KEYS; i++) {
            cls->keys[cls->n_keys++] = (class_key){ xir_str_of(base_keys[i].name), base_keys[i].field, false };
        }
    } else {
        cls->keys[cls->n_keys++] = (class_key){ XIR_STR("_type_key"), KEY_TYPE, false };
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        cls->keys[cls->n_keys++] = (class_key){ cls->fields[i].name, (int)i, false };
    }
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word != XIR_WORD_WAS) continue;
        cls->keys[cls->n_keys++] = (class_key){ xir_str_of(row->describe), (int)field_index(cls, xir_str_of(row->name)), true };
    }
    sort_keys(cls->keys, cls->n_keys);
}

/* Rows that cannot even be read: what follows relies on this. */
static xir_status check_shape(const class_stage *stage, const xir_class_decl *decl, xir_diags *why) {
    const xir_row *head = decl->rows;
    const char *many = NULL;
    bool is_op = head->word == XIR_WORD_OP;
    size_t least = is_op ? 0 : sizeof(xir_object);
    if ((!is_op && head->word != XIR_WORD_OBJ) || !head->name || !*head->name || head->offset < least) {
        return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the first row must name the class and the size of its body",
                         head->name ? head->name : "?");
    }
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if ((unsigned)row->word >= XIR_WORD_COUNT) {
            return diag_fail(why, XIR_E_ABI, XIR_STR(""), "class %s has a row of the word %d, which this library does not know",
                             head->name, (int)row->word);
        }
        if (row->of && row->of() != decl && !referred(stage, NULL, row->of)) {
            return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""), "class %s refers to %s, which is not registered", head->name,
                             row->of()->rows->name);
        }
        if (row->word == XIR_WORD_FIELD) {
            if (!row->name || (unsigned)row->kind >= XIR_KIND_COUNT || row->offset < least ||
                (size_t)row->offset + kinds[row->kind].size > head->offset) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: '%s' is of no known kind, or outside of the body",
                                 head->name, row->name ? row->name : "?");
            }
        } else if (row->word == XIR_WORD_ALIAS) {
            const xir_class *cls = taken_by(stage, xir_str_of(row->name));
            if (cls) {
                return diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "class %s: the key %s is taken by %s", head->name, row->name,
                                 cls->key.data);
            }
        } else if (row->word == XIR_WORD_INFER) {
            if (row->name && infer_target(stage, row) < 0) {
                return diag_fail(why, XIR_E_UNKNOWN, XIR_STR(""),
                                 "class %s infers on %s, which is not a registered target", head->name, row->name);
            }
            if (infer_target(stage, row) < 0 || !row->fn) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s infers for no known target", head->name);
            }
        } else if (row->word == XIR_WORD_IN || row->word == XIR_WORD_OPT || row->word == XIR_WORD_VAR) {
            if (many) {
                return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: inputs '%s' are any number and not the last", head->name,
                                 many);
            }
            if (row->word == XIR_WORD_VAR) many = row->name;
        }
    }
    return XIR_OK;
}

static bool outside(const xir_field *f, xir_number v) {
    switch (f->kind) {
    case XIR_KIND_REAL: return (f->has_least && v.r < f->least.r) || (f->has_greatest && v.r > f->greatest.r);
    case XIR_KIND_U64:
        return (f->has_least && (uint64_t)v.i < (uint64_t)f->least.i) || (f->has_greatest && (uint64_t)v.i > (uint64_t)f->greatest.i);
    case XIR_KIND_I64:  return (f->has_least && v.i < f->least.i) || (f->has_greatest && v.i > f->greatest.i);
    case XIR_KIND_ENUM: return !f->members || v.i < 0 || (uint64_t)v.i >= f->members->size;
    default:            return false;
    }
}

/* Rows that contradict themselves. */
static xir_status check_rows(const xir_class *cls, xir_diags *why) {
    for (uint32_t i = 0; i < cls->n_keys; i++) {
        const class_key *k = &cls->keys[i];
        if (i > 0 && xir_str_equal(cls->keys[i - 1].name, k->name)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s declares '%.*s' twice", cls->key.data,
                             (int)k->name.size, k->name.data);
        }
        if (k->old && k->field >= (int)cls->n_fields) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: '%.*s' is an old name of no attribute", cls->key.data,
                             (int)k->name.size, k->name.data);
        }
    }
    for (uint32_t i = 0; i < cls->n_fields; i++) {
        const xir_field *f = &cls->fields[i];
        if (f->has_default && outside(f, f->preset)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the default of '%s' is outside its bounds",
                             cls->key.data, f->name.data);
        }
        if (f->has_least && f->has_greatest && outside(f, f->least)) {
            return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "class %s: the bounds of '%s' leave nothing", cls->key.data,
                             f->name.data);
        }
    }
    return XIR_OK;
}

/* Once all attributes and ports are known. */
static xir_status add_layout(xir_class *cls, const xir_class_decl *decl, xir_diags *why) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word != XIR_WORD_LAYOUT) continue;
        class_layout *layout = arena_take(&cls->ctx->arena, sizeof *layout);
        if (!layout) return diag_memory(why);
        xir_status status = class_read_layout(cls, row, layout, why);
        if (status) return status;
        cls->layout = layout;
    }
    return XIR_OK;
}

static xir_status add_normalised(xir_class *cls, const xir_class_decl *decl, xir_diags *why) {
    row_walk w;
    for (const xir_row *row = row_first(&w, decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word != XIR_WORD_NORMALISED) continue;
        class_normalised *normalised = arena_take(&cls->ctx->arena, sizeof *normalised);
        if (!normalised) return diag_memory(why);
        xir_status status = class_read_normalised(cls, row, normalised, why);
        if (status) return status;
        cls->normalised = normalised;
    }
    return XIR_OK;
}

/* Makes the class in the context's arena; NULL with status and finding. Holds the lock. */
static xir_class *seal(const class_stage *stage, const xir_class_decl *decl, xir_status *status, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    *status = check_shape(stage, decl, why);
    if (*status) return NULL;
    const xir_row *head = decl->rows;
    row_counts n = count_rows(decl);
    arena *a = &ctx->arena;
    xir_class *cls = arena_take(a, sizeof *cls);
    if (!cls) goto memory;
    *cls = (xir_class){ .ctx = ctx, .decl = decl, .key = xir_str_of(head->name), .describe = xir_str_of(head->describe),
                        .base = referred(stage, NULL, head->of),
                        .tag = (uint32_t)head->preset.i, .traits = head->flags, .is_op = head->word == XIR_WORD_OP,
                        .plain = true, .body_size = head->offset, .ports_size = (uint32_t)head->least.i };
    cls->fields = arena_take(a, n.fields * sizeof *cls->fields);
    cls->inputs = arena_take(a, n.inputs * sizeof *cls->inputs);
    cls->input_offsets = arena_take(a, n.inputs * sizeof *cls->input_offsets);
    cls->outputs = arena_take(a, n.outputs * sizeof *cls->outputs);
    cls->keys = arena_take(a, (n.fields + n.was + BASE_KEYS) * sizeof *cls->keys);
    cls->spans = arena_take(a, n.fields * sizeof *cls->spans);
    cls->refs = arena_take(a, n.fields * sizeof *cls->refs);
    cls->reals = arena_take(a, n.fields * sizeof *cls->reals);
    cls->defaults = arena_take(a, cls->body_size ? cls->body_size : 1);
    if (!cls->fields || !cls->inputs || !cls->input_offsets || !cls->outputs || !cls->keys || !cls->spans || !cls->refs ||
        !cls->reals || !cls->defaults || !reserve_infers(stage, cls, decl)) goto memory;
    add_rows(stage, cls, decl);
    if (cls->plain) make_spans(cls);
    *status = check_rows(cls, why);
    if (!*status) *status = add_layout(cls, decl, why);
    if (!*status) *status = add_normalised(cls, decl, why);
    return *status ? NULL : cls;
memory:
    *status = diag_memory(why);
    return NULL;
}

/* ---- registering ------------------------------------------------------------------------------------------- */

static bool is_readable(const xir_class_decl *decl) {
    return decl && decl->abi == XIR_ABI && decl->size >= SIZE_TO(xir_class_decl, rows) &&
           decl->row_size >= SIZE_TO(xir_row, form) && decl->rows;
}

/* Refuses a declaration or a row that asks for what only a newer library has. An unknown word ends the walk: it is
 * refused later. */
static xir_status check_beyond(const xir_class_decl *decl, xir_diags *why) {
    row_walk w;
    bool strange = sized_beyond(decl, sizeof *decl, decl->size) < decl->size;
    for (const xir_row *row = row_first(&w, decl); !strange && row->word != XIR_WORD_END; row = row_next(&w)) {
        if ((unsigned)row->word >= XIR_WORD_COUNT) break;
        strange = sized_beyond(w.at, sizeof *row, w.size) < w.size;
    }
    if (!strange) return XIR_OK;
    return diag_fail(why, XIR_E_UNSUPPORTED, XIR_STR(""), "class %s asks for what a newer library has",
                     decl->rows->name ? decl->rows->name : "?");
}

xir_status stage_class(class_stage *stage, const xir_class_decl *decl, xir_diags *why) {
    if (!decl || decl->abi != XIR_ABI) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""), "a class declaration of version %u was expected, %u was found", XIR_ABI,
                         decl ? decl->abi : 0);
    }
    if (!is_readable(decl)) {
        return diag_fail(why, XIR_E_ABI, XIR_STR(""),
                         "a class declaration has %u bytes and %s of %u: at least %zu and %zu were expected", decl->size,
                         decl->rows ? "rows" : "no rows", decl->row_size, SIZE_TO(xir_class_decl, rows),
                         SIZE_TO(xir_row, form));
    }
    xir_context *ctx = stage->ctx;
    xir_str key = xir_str_of(decl->rows->name);
    xir_status status = check_beyond(decl, why);
    if (status) return status;
    xir_class *cls = NULL;
    pthread_mutex_lock(&ctx->lock);
    const xir_class *old = taken_by(stage, key);
    if (!old) cls = seal(stage, decl, &status, why);
    else if (!xir_str_equal(old->key, key)) {
        status = diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "class %s: the key is an old one of %s", key.data, old->key.data);
    } else {
        status = diag_fail(why, XIR_E_EXISTS, XIR_STR(""), "the class %s is registered already", key.data);
    }
    pthread_mutex_unlock(&ctx->lock);
    if (cls) status = make_defaults(ctx, cls, decl, why);
    if (!status) stage->classes[stage->n++] = cls;
    return status;
}

xir_status stage_reserve(const class_stage *stage, xir_diags *why) {
    xir_context *ctx = stage->ctx;
    size_t keys = 0;
    for (size_t i = 0; i < stage->n; i++) keys += 1 + count_rows(stage->classes[i]->decl).aliases;
    return reserve_keys(ctx, keys) && mem_reserve(&ctx->alloc, (void **)&ctx->forms, &ctx->form_room, ctx->n_forms + stage->n,
                                                  sizeof *ctx->forms) ? XIR_OK : diag_memory(why);
}

/* A class that is complete becomes one that is found. */
static void enter(xir_context *ctx, xir_class *cls) {
    put_key(ctx, cls->key, cls);
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->word != XIR_WORD_END; row = row_next(&w)) {
        if (row->word == XIR_WORD_ALIAS) put_key(ctx, xir_str_of(row->name), cls);
    }
    if (cls->form) ctx->forms[ctx->n_forms++] = cls;
    xir_class *last = (xir_class *)(uintptr_t)ctx->last_class;
    ctx->last_class = cls;
    if (last) last->next = cls;
    else atomic_store_explicit(&ctx->first_class, cls, memory_order_release);
}

void stage_enter(const class_stage *stage) {
    for (size_t i = 0; i < stage->n; i++) enter(stage->ctx, stage->classes[i]);
}

xir_status xir_register(xir_context *ctx, const xir_class_decl *decl, xir_diags *why) {
    xir_class *one = NULL;
    class_stage stage = { .ctx = ctx, .classes = &one };
    pthread_mutex_lock(&ctx->registering);
    bool again = is_readable(decl) && xir_class_of(ctx, decl);
    xir_status status = again ? XIR_OK : stage_class(&stage, decl, why);
    if (!status) {
        pthread_mutex_lock(&ctx->lock);
        status = stage_reserve(&stage, why);
        if (!status) stage_enter(&stage);
        pthread_mutex_unlock(&ctx->lock);
    }
    pthread_mutex_unlock(&ctx->registering);
    return status;
}

/* Ops and objects of one unknown key are two classes; the objects' is registered with a byte in front that no text has. */
static const xir_class *make_opaque(xir_context *ctx, xir_str registered, bool is_op) {
    xir_class *cls = arena_take(&ctx->arena, sizeof *cls);
    class_key *keys = arena_take(&ctx->arena, BASE_KEYS * sizeof *keys);
    xir_object *body = arena_take(&ctx->arena, sizeof *body);
    xir_str text;
    if (!cls || !keys || !body || !arena_text(&ctx->arena, registered, &text)) return NULL;
    *body = (xir_object){ .cls = cls };
    *cls = (xir_class){ .ctx = ctx, .is_op = is_op, .opaque = true, .plain = true, .many_inputs = true, .many_outputs = true,
                        .traits = XIR_TRAIT_FREE | XIR_TRAIT_IMPURE, .body_size = is_op ? 0 : sizeof(xir_object),
                        .keys = keys, .defaults = body };
    cls->key = is_op ? text : (xir_str){ text.data + 1, text.size - 1 };
    for (uint32_t i = 0; i < (is_op ? BASE_KEYS : 1); i++) {
        keys[cls->n_keys++] = (class_key){ xir_str_of(base_keys[i].name), base_keys[i].field, false };
    }
    put_key(ctx, text, cls);
    return cls;
}

const xir_class *class_opaque(xir_context *ctx, xir_str key, bool is_op) {
    buffer text;
    buffer_init(&text, &ctx->alloc);
    if (!is_op) buffer_char(&text, '\xFF');
    buffer_put(&text, key.data, key.size);
    const xir_class *cls = NULL;
    pthread_mutex_lock(&ctx->lock);
    if (!text.failed && reserve_keys(ctx, 1)) {
        xir_str registered = { text.data, text.size };
        cls = get_key(ctx, registered);
        if (!cls || cls->is_op != is_op) cls = make_opaque(ctx, registered, is_op);
    }
    pthread_mutex_unlock(&ctx->lock);
    buffer_free(&text);
    return cls;
}

const xir_class *xir_class_opaque(xir_context *ctx, xir_str key) {
    return key.size ? class_opaque(ctx, key, true) : NULL;
}

/* Few classes infer on targets that are not the library's: those have room for all that may come. */
bool class_reserve_infer(xir_class *cls, unsigned target) {
    if (target < XIR_TARGET_COUNT || cls->infer_more) return true;
    infer_slot *more = arena_take(&cls->ctx->arena, XIR_TARGET_MOST * sizeof *more);
    for (unsigned i = 0; more && i < XIR_TARGET_MOST; i++) atomic_init(&more[i], NULL);
    if (more) cls->infer_more = more;
    return more != NULL;
}

/* Others may infer meanwhile: who sees the function sees, too, that it needs the check before it. */
void class_set_infer(xir_class *cls, unsigned target, xir_infer_fn *fn) {
    cls->alone &= ~(UINT32_C(1) << target);
    if (target < XIR_TARGET_COUNT) cls->infer[target] = fn;
    else cls->infer_more[target] = fn;
}

xir_status xir_infer_register(xir_context *ctx, const xir_class_decl *decl, int target, xir_infer_fn *fn) {
    const xir_class *cls = xir_class_of(ctx, decl);
    if (!cls) return XIR_E_UNKNOWN;
    xir_class *writable = (xir_class *)(uintptr_t)cls;
    xir_status status = XIR_E_BOUNDS;
    pthread_mutex_lock(&ctx->lock);
    if (target >= 0 && (unsigned)target < ctx->n_targets) {
        status = class_reserve_infer(writable, (unsigned)target) ? XIR_OK : XIR_E_MEMORY;
    }
    if (!status) {
        class_set_infer(writable, (unsigned)target, fn);
        ctx->infer_epoch++;
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

void class_set_kernel(xir_class *cls, xir_kernel_fn *fn) { cls->kernel = fn; }

xir_status xir_kernel_register(xir_context *ctx, const xir_class_decl *decl, xir_kernel_fn *fn) {
    const xir_class *cls = xir_class_of(ctx, decl);
    if (!cls) return XIR_E_UNKNOWN;
    pthread_mutex_lock(&ctx->lock);
    class_set_kernel((xir_class *)(uintptr_t)cls, fn);
    pthread_mutex_unlock(&ctx->lock);
    return XIR_OK;
}
