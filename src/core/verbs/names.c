#include "names.h"
#include <stdio.h>
#include "graph.h"
#include "hash.h"
#include "utf8.h"

/* A set of names, and for each stem the next number to try. Numbers never decrease, so a number that is taken is tried
 * only once. */
typedef struct scope {
    text_table taken, next;
} scope;

typedef struct naming {
    network_names    *names;
    const name_rules *rules;
    scope             scopes[2];    /* of ops, of values */
    buffer            text;
    bool              finish;       /* the second walk: items without a name get one */
    size_t            at;           /* position of the second walk */
    xir_status        status;
} naming;

/* ---- spelling --------------------------------------------------------------------------------------------------- */

/* The first character of a text and its length; 0 and 1 byte if it is not UTF-8. */
static size_t read_char(xir_str s, uint32_t *c) {
    unsigned char first = (unsigned char)s.data[0];
    if (first < 0x80) {
        *c = first;
        return 1;
    }
    size_t size = utf8_length(s.data, s.data + s.size);
    *c = size ? first & (0xFFu >> (size + 1)) : 0;
    for (size_t i = 1; i < size; i++) *c = *c << 6 | ((unsigned char)s.data[i] & 0x3F);
    return size ? size : 1;
}

static bool may_stand(const name_rules *rules, xir_str at, size_t size, uint32_t c, bool first) {
    if (size == 1 && (unsigned char)at.data[0] >= 0x80) return false;   /* not UTF-8 */
    return !rules->allows || rules->allows(c, first);
}

static size_t most_of(const name_rules *rules) { return rules->most ? rules->most : SIZE_MAX; }

static bool can_be_spelled(const name_rules *rules, xir_str name) {
    uint32_t c;
    if (!name.size || name.size > most_of(rules)) return false;
    for (size_t i = 0, size; i < name.size; i += size) {
        xir_str rest = { name.data + i, name.size - i };
        size = read_char(rest, &c);
        if (!may_stand(rules, rest, size, c, i == 0)) return false;
    }
    return true;
}

/* Spells a name: '_' replaces characters that are not allowed, and is put before one that must not be the first. The
 * result is cut to the allowed length. */
static void spell(naming *n, xir_str name) {
    const name_rules *rules = n->rules;
    size_t most = most_of(rules);
    uint32_t c;
    n->text.size = 0;
    for (size_t i = 0, size; i < name.size; i += size) {
        xir_str rest = { name.data + i, name.size - i };
        size = read_char(rest, &c);
        bool later = may_stand(rules, rest, size, c, false);
        if (i == 0 && later && !may_stand(rules, rest, size, c, true)) buffer_char(&n->text, '_');
        if (n->text.size + (later ? size : 1) > most) break;
        buffer_put(&n->text, later ? rest.data : "_", later ? size : 1);
    }
}

/* The beginning of a text, at most `most` bytes, without a part of a character. */
static xir_str cut(xir_str text, size_t most) {
    if (text.size <= most) return text;
    while (most > 0 && ((unsigned char)text.data[most] & 0xC0) == 0x80) most--;
    return (xir_str){ text.data, most };
}

/* ---- making names ----------------------------------------------------------------------------------------------- */

static bool fail(naming *n, xir_status status) {
    n->status = status;
    return false;
}

static bool claim(naming *n, scope *s, xir_str name, xir_str *out) {
    if (!text_table_add(&s->taken, name, 0)) return fail(n, XIR_E_MEMORY);
    *out = name;
    return true;
}

/* The counter of a stem. */
static uint32_t *next_number(naming *n, scope *s, xir_str stem) {
    uint32_t *next = text_table_find(&s->next, stem);
    xir_str kept;
    if (next) return next;
    next = arena_text(&n->names->texts, stem, &kept) ? text_table_add(&s->next, kept, 1) : NULL;
    if (!next) n->status = XIR_E_MEMORY;
    return next;
}

/* Finds the first free name of stem_1, stem_2, …. If a longer number leaves less room, the stem is cut, and the shorter
 * stem has its own counter. So each pair of stem and number is tried once, whatever it was cut from. */
static bool number(naming *n, scope *s, xir_str whole, xir_str *out) {
    size_t most = most_of(n->rules);
    xir_str stem = whole;
    for (;;) {
        uint32_t *next = next_number(n, s, stem);
        char digits[16];
        if (!next) return false;
        size_t size = (size_t)snprintf(digits, sizeof digits, "_%u", (unsigned)*next);
        if (size > most || stem.size > most - size) {
            if (!stem.size) return fail(n, XIR_E_BOUNDS);
            size_t room = size < most ? most - size : 0;
            stem = cut(stem, room < stem.size ? room : stem.size - 1);
            continue;
        }
        ++*next;
        char *text = arena_take(&n->names->texts, stem.size + size);
        if (!text) return fail(n, XIR_E_MEMORY);
        if (stem.size) memcpy(text, stem.data, stem.size);
        memcpy(text + stem.size, digits, size);
        xir_str name = { text, stem.size + size };
        if (!text_table_find(&s->taken, name)) return claim(n, s, name, out);
    }
}

static bool finish(naming *n, scope *s, xir_str name, const char *otherwise, xir_str *out) {
    spell(n, name.size ? name : xir_str_of(otherwise));
    if (n->text.failed) return fail(n, XIR_E_MEMORY);
    xir_str stem = { n->text.data, n->text.size }, kept;
    if (!stem.size || text_table_find(&s->taken, stem)) return number(n, s, stem, out);
    return arena_text(&n->names->texts, stem, &kept) ? claim(n, s, kept, out) : fail(n, XIR_E_MEMORY);
}

/* ---- walking ---------------------------------------------------------------------------------------------------- */

/* The first walk lists all items and keeps the names that can be kept. The second, in the same order, makes the
 * others. */
static bool name_item(naming *n, bool is_op, xir_str name) {
    network_names *names = n->names;
    scope *s = &n->scopes[!is_op && !n->rules->one_scope];
    if (n->finish) {
        xir_str *item = &names->items[n->at++];
        return item->data || finish(n, s, name, is_op ? n->rules->op : n->rules->value, item);
    }
    if (names->n >= UINT32_MAX - 1) return fail(n, XIR_E_LIMIT);
    if (!mem_reserve(names->alloc, (void **)&names->items, &names->room, names->n + 1, sizeof *names->items)) {
        return fail(n, XIR_E_MEMORY);
    }
    xir_str *item = &names->items[names->n++];
    *item = (xir_str){ NULL, 0 };
    return !can_be_spelled(n->rules, name) || text_table_find(&s->taken, name) || claim(n, s, name, item);
}

static bool name_op(void *user, xir_op *op) {
    naming *n = user;
    if (!n->finish) n->names->first[op->slot] = (uint32_t)n->names->n + 1;
    bool done = name_item(n, true, xir_op_name(op));
    for (uint32_t i = 0; i < op->n_outputs && done; i++) done = name_item(n, false, xir_value_name(&op_outputs(op)[i]));
    return done && op_each_child(op, name_op, n);
}

static bool name_params(void *user, xir_value *v) {
    naming *n = user;
    if (!n->finish) n->names->params[value_params(v)->number] = (uint32_t)n->names->n + 1;
    return name_item(n, false, xir_value_name(v));
}

static bool walk(naming *n) {
    const xir_network *net = n->names->net;
    for (xir_op *op = net->first; op; op = op->next) {
        if (!name_op(n, op)) return false;
    }
    return net_walk_params(net, name_params, n);
}

static bool reserve_words(naming *n) {
    for (const char *const *word = n->rules->reserved; word && *word; word++) {
        for (size_t i = 0; i < 2; i++) {
            if (!text_table_add(&n->scopes[i].taken, xir_str_of(*word), 0)) return fail(n, XIR_E_MEMORY);
        }
    }
    return true;
}

xir_status network_names_make(network_names *out, const xir_network *net, const name_rules *rules) {
    *out = (network_names){ .net = net, .alloc = &net->alloc };
    naming n = { .names = out, .rules = rules };
    arena_init(&out->texts, out->alloc);
    buffer_init(&n.text, out->alloc);
    for (size_t i = 0; i < 2; i++) {
        text_table_init(&n.scopes[i].taken, out->alloc);
        text_table_init(&n.scopes[i].next, out->alloc);
    }
    out->first = mem_new(out->alloc, ((size_t)net->n_slots + 1) * sizeof *out->first);
    out->params = mem_new(out->alloc, ((size_t)net->n_params + 1) * sizeof *out->params);
    if (out->first) memset(out->first, 0, ((size_t)net->n_slots + 1) * sizeof *out->first);
    if (out->params) memset(out->params, 0, ((size_t)net->n_params + 1) * sizeof *out->params);
    bool done = (out->first && out->params) || fail(&n, XIR_E_MEMORY);
    done = done && reserve_words(&n) && walk(&n);
    n.finish = true;
    done = done && walk(&n);
    buffer_free(&n.text);
    for (size_t i = 0; i < 2; i++) {
        text_table_free(&n.scopes[i].taken);
        text_table_free(&n.scopes[i].next);
    }
    if (!done) network_names_free(out);
    return n.status;
}

void network_names_free(network_names *names) {
    mem_free(names->alloc, names->items, names->room * sizeof *names->items);
    mem_free(names->alloc, names->first, ((size_t)names->net->n_slots + 1) * sizeof *names->first);
    mem_free(names->alloc, names->params, ((size_t)names->net->n_params + 1) * sizeof *names->params);
    arena_free(&names->texts);
    *names = (network_names){ .net = names->net, .alloc = names->alloc };
    arena_init(&names->texts, names->alloc);
}

xir_str network_names_op(const network_names *names, const xir_op *op) {
    uint32_t item = names->first[op->slot];
    return item ? names->items[item - 1] : XIR_STR("");
}

xir_str network_names_value(const network_names *names, const xir_value *v) {
    uint32_t item = 0, after = 0;
    if (value_is_params(v)) item = names->params[value_params(v)->number];
    else if (value_op(v) && (item = names->first[value_op(v)->slot])) after = 1 + (uint32_t)xir_value_index(v);
    return item ? names->items[item + after - 1] : XIR_STR("");
}
