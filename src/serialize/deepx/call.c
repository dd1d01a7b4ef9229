/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* A call becomes an op. What its tensors held before are inputs after its own, and what it writes are outputs. */
#include "deepx/reader.h"

static bool is(xir_str name, const char *word, size_t size) {
    return name.size == size && memcmp(name.data, word, size) == 0;
}

deepx_verb deepx_verb_of(xir_str name) {
    if (is(name, "newtensor", 9)) return VERB_NEW;
    if (is(name, "load", 4)) return VERB_LOAD;
    if (is(name, "renametensor", 12)) return VERB_RENAME;
    return is(name, "reshape", 7) ? VERB_RESHAPE : VERB_NONE;
}

/* ---- slots ----------------------------------------------------------------------------------------------------- */

/* A use of a tensor: the first one of a name that no line before makes is noted. */
static bool add_use(deepx_reader *r, dialect_ref ref, uint16_t precision) {
    ref.value = dialect_find(&r->d, ref);
    if (!ref.value) {
        deepx_missing *m = dialect_add(&r->d, &r->missing, sizeof *m);
        if (!m) return false;
        *m = (deepx_missing){ ref.text, deepx_element_of(precision) };
        if (!(ref.value = dialect_use(&r->d, ref))) return false;
    }
    return dialect_node_in_ref(&r->d, ref);
}

static bool add_tensor(deepx_reader *r, bool ret, const deepx_slot *slot, xir_str name) {
    const dialect_ref ref = dialect_name(&r->d, name);
    return ret ? dialect_node_out_ref(&r->d, ref) : add_use(r, ref, slot->is.precision);
}

static slot_code code_of(const deepx_line *line, const deepx_slot *slot) {
    return slot->is.category | (slot_code)slot->is.precision << 8 | (slot_code)(slot->type.size > 0) << CODE_TYPED |
           (slot_code)deepx_kind_of(line, slot) << CODE_KIND;
}

/* Adds the tensors of a slot, and to its code how many a list has. */
static bool add_tensors(deepx_reader *r, const deepx_slot *slot, bool ret, slot_code *code) {
    const deepx_slot_kind kind = deepx_kind_in(*code);
    if (kind == DEEPX_SLOT_TEXT) return true;
    if (kind == DEEPX_SLOT_TENSOR) return add_tensor(r, ret, slot, slot->value);
    uint64_t n = 0;
    for (xir_str items = deepx_inner(slot->value), item; deepx_next_item(&items, &item); n++)
        if (!add_tensor(r, ret, slot, item)) return false;
    *code |= n << CODE_ITEMS;
    return true;
}

static bool add_slots(deepx_reader *r, const deepx_line *line, const call_plan *plan) {
    r->codes.size = 0;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) {
        slot_code *code = dialect_add(&r->d, &r->codes, sizeof *code);
        if (!code) return false;
        *code = plan->known ? plan->codes[i] : code_of(line, &line->slots[i]);
        if (!add_tensors(r, &line->slots[i], i >= line->n_args, code)) return false;
    }
    return true;
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
static bool add_unnamed(deepx_reader *r, const deepx_line *line, deepx_verb verb) {
    dialect_node *n = &r->d.node;
    const bool loads = verb == VERB_LOAD && line->n_args == 1 && !line->n_rets;
    const bool renames = verb == VERB_RENAME && line->n_args == 1 && n->out.size == 1;
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
static bool add_former(deepx_reader *r, const deepx_line *line, deepx_verb verb) {
    dialect_node *n = &r->d.node;
    const bool makes = verb == VERB_NEW || verb == VERB_LOAD || r->renames;
    r->former.size = 0;
    for (size_t i = 0; i < n->out.size; i++) {
        dialect_ref ref = ((dialect_ref *)n->out.data)[i];
        xir_value *known = ref.value = dialect_find(&r->d, ref);
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
            if (!is_digit(item.data[i]) || v > INT32_MAX) return false;
            v = 10 * v + (item.data[i] - '0');
        }
        if (*rank == DEEPX_MOST_DIMS || v > INT32_MAX) return false;
        dims[(*rank)++] = v;
    }
    return *rank > 0;
}

/* A value has the type of the one before, but newtensor gives a type, and reshape a shape. The elements of a newtensor
 * without types are those that a definition of the file gives. */
static const xir_type *find_type(deepx_reader *r, const deepx_line *line, deepx_verb verb, const xir_value *former) {
    int64_t dims[DEEPX_MOST_DIMS];
    size_t rank;
    const bool fresh = verb == VERB_NEW, reshapes = verb == VERB_RESHAPE;
    const deepx_slot *ret = line->n_rets ? &line->slots[line->n_args] : NULL;
    const xir_type *type = former && !fresh ? former->type : NULL;
    if (verb == VERB_RENAME) {
        const xir_op *op = r->d.net->last;
        return op && op->n_inputs ? op_inputs(op)[0].value->type : NULL;
    }
    if (verb == VERB_LOAD) return NULL;
    if (!(fresh && line->n_args == 1) && !(reshapes && line->n_args == 2)) return type;
    size_t element = ret ? deepx_element_of(ret->is.precision) : SIZE_MAX;
    if (element == SIZE_MAX && ret && !ret->type.size) element = r->fresh - 1;
    const xir_type *item = type ? xir_type_element(type) : element == SIZE_MAX ? NULL : dialect_element(&r->d, element);
    if (!item || !read_dims(line->slots[line->n_args - 1].value, dims, &rank)) return NULL;
    return dialect_tensor(&r->d, item, dims, rank);
}

/* A newtensor with types makes what an earlier one with the same types and texts made. */
static const xir_type *type_of(deepx_reader *r, const deepx_line *line, const call_plan *plan,
                               const xir_value *former) {
    texts_memo *memo = plan->texts;
    const slot_code *codes = r->codes.data;
    const bool stated = memo && plan->verb == VERB_NEW && line->n_args == 1 && line->n_rets &&
                        deepx_kind_in(codes[0]) == DEEPX_SLOT_TEXT && line->slots[1].type.size;
    if (stated && memo->made) return memo->made;
    const xir_type *type = find_type(r, line, plan->verb, former);
    if (stated) memo->made = type;
    return type;
}

/* ---- tags ------------------------------------------------------------------------------------------------------- */

/* A map with one entry. */
typedef struct lone_tag { xir_map map; xir_entry entry; } lone_tag;

/* Makes such tags, with room for so many bytes after them. The key is copied once. NULL with a failure. */
static lone_tag *make_tag(deepx_reader *r, xir_str *key, const char *word, size_t room) {
    arena *to = &r->d.net->arena;
    lone_tag *tag = key->size || arena_text(to, xir_str_of(word), key) ? arena_take(to, sizeof *tag + room) : NULL;
    if (!tag) {
        trace_memory(&r->d.trace);
        return NULL;
    }
    tag->entry.key = *key;
    tag->map = (xir_map){ &tag->entry, 1 };
    return tag;
}

static int64_t version_after(const deepx_reader *r, const xir_value *former) {
    const xir_map *tags = xir_value_tags(former);
    const bool alone = tags && tags->size == 1 && tags->entries->key.data == r->version_key.data;
    const xir_any *tag = alone ? &tags->entries->value : xir_map_find(tags, XIR_STR(DEEPX_TAG_VERSION));
    return tag && tag->kind == XIR_ANY_INT ? tag->as.integer + 1 : 1;
}

/* Values of the same version share their tags. Versions count from 1, and none is left out. */
static bool tag_version(deepx_reader *r, xir_value *v, int64_t version) {
    const xir_map *const *known = r->versions.data;
    if ((size_t)version <= r->versions.size) return dialect_value_tags(&r->d, v, known[version - 1]);
    const xir_map **place = dialect_add(&r->d, &r->versions, sizeof *place);
    lone_tag *tag = place ? make_tag(r, &r->version_key, DEEPX_TAG_VERSION, 0) : NULL;
    if (!tag) return false;
    tag->entry.value = xir_any_int(version);
    *place = &tag->map;
    return dialect_value_tags(&r->d, v, *place);
}

static bool describe_outputs(deepx_reader *r, const deepx_line *line, const call_plan *plan, xir_op *op) {
    xir_value *const *former = r->former.data;
    for (uint32_t i = 0; i < op->n_outputs; i++) {
        op_outputs(op)[i].type = type_of(r, line, plan, former[i]);
        if (former[i] && !tag_version(r, &op_outputs(op)[i], version_after(r, former[i]))) return false;
    }
    return !dialect_failed(&r->d);
}

static bool keep_before(deepx_reader *r, xir_str whole) {
    const xir_str before = { r->after, (size_t)(whole.data - r->after) };
    const char *end = r->text.data + r->text.size, *stop = whole.data + whole.size;
    r->after = stop < end ? stop + 1 : stop;
    return dialect_tag_text(&r->d, &r->d.node.tags, DEEPX_TAG_BEFORE, before);
}

/* The text after "//". Nearly all calls have this tag alone. */
static bool keep_meta(deepx_reader *r, xir_str meta) {
    dialect *d = &r->d;
    if (!meta.data) return true;
    if (d->node.tags) return dialect_tag(d, &d->node.tags, DEEPX_TAG_META, xir_any_text(meta));
    lone_tag *tag = make_tag(r, &r->meta_key, DEEPX_TAG_META, meta.size);
    if (!tag) return false;
    char *text = (char *)(tag + 1);
    if (meta.size) memcpy(text, meta.data, meta.size);
    tag->entry.value = xir_any_text((xir_str){ text, meta.size });
    d->node.tags = &tag->map;
    return true;
}

/* ---- lines ----------------------------------------------------------------------------------------------------- */

static deepx_spelling spelling_of(const deepx_line *line) {
    bool typed = line->parens;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) typed |= line->slots[i].type.size != 0;
    return typed ? DEEPX_LIVE : DEEPX_SEED;
}

/* A line that is not printed as it is: its text, and a sum of what is printed. */
static bool keep_line(deepx_reader *r, xir_op *op, xir_str whole) {
    deepx_printer *p = &r->printer;
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

/* ---- the call --------------------------------------------------------------------------------------------------- */

/* The plan of the pattern that the line has, an empty one if it is the first; NULL if out of memory. */
static call_plan *plan_of(deepx_reader *r, const deepx_line *line) {
    while (r->plans.size < line->pattern) {
        call_plan *plan = dialect_add(&r->d, &r->plans, sizeof *plan);
        if (!plan) return NULL;
        *plan = (call_plan){ .known = false };
    }
    if (line->pattern) return &((call_plan *)r->plans.data)[line->pattern - 1];
    r->plan = (call_plan){ .known = false };
    return &r->plan;
}

static bool begin_call(deepx_reader *r, const deepx_line *line, call_plan *plan) {
    dialect_node_begin(&r->d);
    if (plan->known) return dialect_node_type_again(&r->d, plan->type);
    plan->verb = deepx_verb_of(line->name);
    if (!dialect_node_type(&r->d, XIR_STR(""), line->name)) return false;
    plan->type = dialect_node_type_number(&r->d);
    return true;
}

/* Completes the plan, so that the next call of the pattern need not find it out. */
static void complete_plan(const deepx_reader *r, const xir_op *op, call_plan *plan, bool printed) {
    const slot_code *codes = r->codes.data;
    bool lists = false;
    for (size_t i = 0; i < r->codes.size; i++) {
        plan->codes[i] = codes[i] & (((slot_code)1 << CODE_ITEMS) - 1);
        lists |= deepx_kind_in(codes[i]) == DEEPX_SLOT_TENSORS;
    }
    if (!lists) plan->types = xir_any_text(deepx_types_of(op));
    plan->printed = printed && !lists;
    plan->known = true;
}

bool deepx_read_call(deepx_reader *r, xir_str whole, const deepx_line *line) {
    if (!r->has_spelling) r->printer.spelling = spelling_of(line);
    r->has_spelling = true;
    call_plan *plan = plan_of(r, line);
    const bool ok = plan && begin_call(r, line, plan) && add_slots(r, line, plan) &&
                    deepx_add_attributes(r, line, plan) && add_unnamed(r, line, plan->verb) &&
                    add_former(r, line, plan->verb) && keep_before(r, whole) && keep_meta(r, line->meta);
    xir_op *op = ok ? dialect_node_end(&r->d, XIR_STR("")) : NULL;
    if (!op) return false;
    if (plan->texts) plan->texts->extra = op_more_of(op)->extra;
    if (!describe_outputs(r, line, plan, op)) return false;
    r->n_calls++;
    const bool ends_so = whole.data[whole.size - 1] != '\r';
    const bool printed = (plan->printed && ends_so) || deepx_is_printed_so(r->printer.spelling, whole, line);
    if (line->pattern && !plan->known) complete_plan(r, op, plan, printed);
    return printed || keep_line(r, op, whole);
}
