/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Lines as they are written. A spelling is how a line is put together; the texts of values are kept. */
#include <stdio.h>
#include "deepx/folder.h"
#include "deepx/order.h"

const char *const deepx_spelling_words[DEEPX_SPELLINGS] = { "live", "seed" };

#define S(text) { text, sizeof (text) - 1 }
typedef struct spelling_form { xir_str open, comma, arrow, close; bool types; } spelling_form;
static const spelling_form forms[DEEPX_SPELLINGS] = {
    [DEEPX_LIVE] = { S("("), S(", "), S(")->("), S(")"), true  },
    [DEEPX_SEED] = { S(" "), S(","),  S(" -> "), S(""),  false },
};
#undef S

static void put(buffer *out, xir_str text) { buffer_put(out, text.data, text.size); }

deepx_spelling deepx_spelling_of(const xir_network *net) {
    const xir_any *tag = xir_map_find(net->tags, XIR_STR(DEEPX_TAG_SPELLING));
    for (size_t i = 0; tag && tag->kind == XIR_ANY_TEXT && i < DEEPX_SPELLINGS; i++)
        if (xir_str_equal(tag->as.text, xir_str_of(deepx_spelling_words[i]))) return (deepx_spelling)i;
    return DEEPX_LIVE;
}

bool deepx_is_op(const xir_op *op) {
    const xir_str key = op->cls->key;
    return key.size > 7 && memcmp(key.data, "deepx::", 7) == 0;
}

static bool refuse(deepx_printer *p, const char *sentence, ...) XIR_PRINTF(2, 3);
static bool refuse(deepx_printer *p, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    if (!p->status) vsnprintf(p->fault, sizeof p->fault, sentence, args);
    va_end(args);
    if (!p->status) p->status = XIR_E_UNSUPPORTED;
    return false;
}

/* ---- the parts of an op ---------------------------------------------------------------------------------------- */

typedef struct parts {
    deepx_printer *p;
    const xir_op  *op;
    const xir_map *extra;
    size_t         at;          /* of the attributes: those before are of slots that were printed */
    const char    *types, *end;
    uint32_t       in, out;     /* how many were printed                                          */
} parts;

xir_str deepx_types_of(const xir_op *op) {
    const xir_str key = XIR_STR(DEEPX_TYPES);
    const xir_map *extra = xir_op_extra(op);
    const xir_entry *last = extra && extra->size ? &extra->entries[extra->size - 1] : NULL;   /* it usually is */
    const xir_any *any = last && xir_str_equal(last->key, key) ? &last->value : xir_map_find(extra, key);
    return any && any->kind == XIR_ANY_TEXT ? any->as.text : (xir_str){ NULL, 0 };
}

bool deepx_next_type(const char **types, const char *end, xir_str *type, uint32_t *items) {
    const char *start = *types, *p = start, *star = NULL;
    *items = 0;
    if (p == end || *p == '-') return false;
    for (; p < end && *p != ',' && *p != ' '; p++) {
        if (*p == '*') star = p;
        while (p + 1 < end && p[1] > ',') p++;   /* most are letters: no star, comma or blank */
    }
    for (const char *d = star ? star + 1 : p; d < p && is_digit(*d) && *items < UINT32_MAX / 10; d++)
        *items = 10 * *items + (uint32_t)(*d - '0');
    *type = (xir_str){ start, (size_t)((star ? star : p) - start) };
    if (!star) *items = UINT32_MAX;
    if (p < end && *p == ',') p++;
    if (p < end && *p == ' ') p++;
    *types = p;
    return true;
}

xir_str deepx_slot_text(const xir_op *op, bool ret, size_t i) {
    char key[DEEPX_KEY_ROOM];
    const xir_any *any = op_more_of(op) ? xir_map_find(op_more_of(op)->extra, deepx_slot_key(key, ret, i)) : NULL;
    return any && any->kind == XIR_ANY_TEXT ? any->as.text : (xir_str){ NULL, 0 };
}

/* The same for slots one after the other: keys with one digit have the order of the slots. */
static xir_str next_text(parts *s, bool ret, size_t i) {
    char room[DEEPX_KEY_ROOM];
    if (i >= 10 || !s->extra) return deepx_slot_text(s->op, ret, i);
    const xir_str key = deepx_slot_key(room, ret, i);
    const xir_entry *e = s->extra->entries;
    while (s->at < s->extra->size && str_order(e[s->at].key, key) < 0) s->at++;
    const bool has = s->at < s->extra->size && xir_str_equal(e[s->at].key, key);
    return has && e[s->at].value.kind == XIR_ANY_TEXT ? e[s->at].value.as.text : (xir_str){ NULL, 0 };
}

/* A text of one line. */
static bool is_one_line(xir_str text) {
    return !text.size || !(memchr(text.data, '\n', text.size) || memchr(text.data, '\r', text.size) ||
                           memchr(text.data, '\0', text.size));
}

static bool put_name(parts *s, const xir_value *v) {
    const xir_str name = v ? value_text(v) : (xir_str){ NULL, 0 };
    if (!name.size) return refuse(s->p, "a tensor has no name");
    if (!deepx_is_tensor_name(name))
        return refuse(s->p, "'%.*s' cannot be the name of a tensor in DeepX", CLIP(name));
    put(&s->p->out, name);
    return true;
}

/* A tensor of the op: an input, or an output; the slot of renametensor has the old name, which is an input. */
static bool put_tensor(parts *s, bool ret) {
    const xir_op *op = s->op;
    const bool renames = ret && xir_str_equal(op->cls->key, XIR_STR("deepx::renametensor"));
    if (ret && !renames)
        return s->out < op->n_outputs ? put_name(s, &op_outputs(op)[s->out++])
                                      : refuse(s->p, "its types name more tensors than it has outputs");
    return s->in < op->n_inputs ? put_name(s, op_inputs(op)[s->in++].value)
                                : refuse(s->p, "its types name more tensors than it has inputs");
}

/* The path of files in the folder of the program. */
static bool put_path(parts *s, xir_str text) {
    const xir_str name = deepx_file_name(text), folder = s->p->folder;
    const size_t begin = s->p->out.size;
    put(&s->p->out, folder);
    if (folder.data[folder.size - 1] != '/') buffer_char(&s->p->out, '/');
    put(&s->p->out, name);
    const xir_str path = { s->p->out.data + begin, s->p->out.size - begin };
    if (s->p->out.failed || deepx_is_value(path)) return true;
    return refuse(s->p, "'%.*s' cannot be a value in DeepX", CLIP(path));
}

/* Calls share their texts. Texts that are not empty have different places. */
static bool is_value(deepx_printer *p, xir_str text) {
    const char **known = &p->values[hash_pointer(text.data) % DEEPX_VALUE_MEMOS];
    if (text.size && *known == text.data) return true;
    if (!deepx_is_value(text)) return false;
    *known = text.data;
    return true;
}

static bool put_slot(parts *s, bool ret, size_t i, xir_str type, uint32_t items) {
    buffer *out = &s->p->out;
    const xir_str text = next_text(s, ret, i);
    if (forms[s->p->spelling].types && !(type.size == 1 && *type.data == '_')) {
        put(out, type);
        buffer_char(out, ':');
    }
    if (text.data && s->p->folder.size && !ret && xir_map_find(s->extra, XIR_STR(DEEPX_DATA))) return put_path(s, text);
    if (text.data) {
        if (!is_value(s->p, text)) return refuse(s->p, "'%.*s' cannot be a value in DeepX", CLIP(text));
        put(out, text);
        return true;
    }
    if (items == UINT32_MAX) return put_tensor(s, ret);
    buffer_char(out, '[');
    for (uint32_t k = 0; k < items; k++) {
        if (k) buffer_char(out, ' ');
        if (!put_tensor(s, ret)) return false;
    }
    buffer_char(out, ']');
    return true;
}

static bool put_slots(parts *s, bool ret) {
    xir_str type;
    uint32_t items;
    for (size_t i = 0; deepx_next_type(&s->types, s->end, &type, &items); i++) {
        if (i) put(&s->p->out, forms[s->p->spelling].comma);
        if (!put_slot(s, ret, i, type, items)) return false;
    }
    return true;
}

bool deepx_print_op(deepx_printer *p, const xir_op *op) {
    parts s = { .p = p, .op = op, .extra = xir_op_extra(op) };
    const xir_str types = deepx_types_of(op), key = op->cls->key;
    const xir_any *meta = op_more_of(op) ? DEEPX_TAG_OF(op_more_of(op)->tags, DEEPX_TAG_META) : NULL;
    if (!types.data) return refuse(p, "its attribute \"types\" is not a text");
    s.types = types.data;
    s.end = s.types + types.size;
    buffer_put(&p->out, key.data + 7, key.size - 7);
    const size_t begin = p->out.size;
    put(&p->out, forms[p->spelling].open);
    if (!put_slots(&s, false)) return false;
    s.types = deepx_skip_arrow(s.types, s.end);
    const size_t arrow = p->out.size;
    put(&p->out, forms[p->spelling].arrow);
    if (!put_slots(&s, true)) return false;
    put(&p->out, forms[p->spelling].close);
    if (p->spelling == DEEPX_SEED && p->out.size > begin && p->out.data[p->out.size - 1] == ' ') p->out.size--;
    if (p->spelling == DEEPX_SEED && arrow == begin + 1 && !p->out.failed)   /* without parameters one blank too many */
        memmove(p->out.data + begin, p->out.data + begin + 1, --p->out.size - begin);
    const xir_str *words = meta && meta->kind == XIR_ANY_TEXT ? &meta->as.text : NULL;
    if (words && !is_one_line(*words)) return refuse(p, "its metadata has a line end");
    if (op == p->first) {
        deepx_put_ordered_meta(&p->out, words, p->order);
    } else if (words) {
        buffer_str(&p->out, " //");
        put(&p->out, *words);
    }
    if (p->out.failed) p->status = XIR_E_MEMORY;
    return !p->out.failed;
}

/* ---- a line that is printed as it stands ------------------------------------------------------------------------ */

/* Returns true if a text is at p; then p is after it. */
static bool take(const char **p, const char *end, xir_str text) {
    if ((size_t)(end - *p) < text.size || memcmp(*p, text.data, text.size) != 0) return false;
    *p += text.size;
    return true;
}

/* A list "[a b]" has one blank between its items. */
static bool is_plain_list(xir_str list) {
    xir_str items = deepx_inner(list), item;
    const char *p = items.data, *end = p + items.size;
    while (deepx_next_item(&items, &item)) {
        if (item.data != p) return false;
        p = item.data + item.size;
        if (p < end && *p++ != ' ') return false;
    }
    return p == end && (end == list.data + 1 || end[-1] != ' ');
}

static bool is_plain_slot(const char **p, const deepx_line *line, const deepx_slot *slot) {
    if (slot->whole.data != *p || slot->named) return false;
    if (slot->type.size && !(slot->is.printed && slot->type.data == *p &&
                             slot->value.data == *p + slot->type.size + 1)) return false;
    *p = slot->value.data + slot->value.size;
    return *slot->value.data != '[' || deepx_kind_of(line, slot) == DEEPX_SLOT_TEXT || is_plain_list(slot->value);
}

bool deepx_is_printed_so(deepx_spelling spelling, xir_str whole, const deepx_line *line) {
    const char *p = whole.data, *end = p + whole.size;
    if (spelling == DEEPX_SEED || line->name.data != p) return false;
    p += line->name.size;
    if (!take(&p, end, forms[spelling].open)) return false;
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) {
        if (i == line->n_args ? !take(&p, end, forms[spelling].arrow) : i && !take(&p, end, forms[spelling].comma))
            return false;
        if (!is_plain_slot(&p, line, &line->slots[i])) return false;
    }
    if (!line->n_rets && !take(&p, end, forms[spelling].arrow)) return false;
    if (!take(&p, end, forms[spelling].close)) return false;
    if (line->meta.data) return take(&p, end, XIR_STR(" //")) && p == line->meta.data && p + line->meta.size == end;
    return p == end;
}

/* ---- definitions ----------------------------------------------------------------------------------------------- */

void deepx_print_definition(buffer *out, const deepx_line *line) {
    const spelling_form *form = &forms[DEEPX_LIVE];
    buffer_put(out, line->name.data, line->name.size);
    put(out, form->open);
    for (size_t i = 0; i < line->n_args + line->n_rets; i++) {
        const deepx_slot *slot = &line->slots[i];
        if (i == line->n_args) put(out, form->arrow);
        else if (i) put(out, form->comma);
        if (slot->type.size) {
            deepx_type_print(out, slot->is);
            buffer_char(out, ':');
        }
        buffer_put(out, slot->value.data, slot->value.size);
    }
    if (!line->n_rets) put(out, form->arrow);
    put(out, form->close);
    if (!line->meta.data) return;
    buffer_str(out, " //");
    buffer_put(out, line->meta.data, line->meta.size);
}
