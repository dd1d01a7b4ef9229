/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* All formats hold the same: random networks (support/random_net.h) go from JSON into each format and back, and from
 * there into each other one, and come back byte for byte, with their parameters; a file that a format has written is
 * written again identically.
 *
 * XIR_DIFFERENTIAL=100000 in the environment tries so many networks, XIR_DIFFERENTIAL_SEED=7 the one with that seed,
 * and both together so many from that seed on. A failure is reported with its seed, and with as few ops as still
 * fail. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <xir/icraft.h>
#include "graph.h"
#include "raw/md5.h"
#include "raw/list.h"
#include "support/own.h"
#include "support/formats.h"

#include "support/net.h"
#include "support/often.h"
#include "support/random_parts.h"

enum { USUAL = 500, MOST_FORMATS = 16 };

static xir_context *stranger;   /* without the classes that only the test has */

static xir_format_info formats[MOST_FORMATS];   /* that read and write */
static size_t n_formats;

/* ---- one network ------------------------------------------------------------------------------------------------ */

/* Bytes that grow. */
typedef struct bytes { uint8_t *data; size_t size, room; } bytes;

static bool append(void *user, const void *data, size_t size) {
    bytes *b = user;
    if (b->size + size > b->room) {
        b->room = (b->size + size) * 2;
        b->data = realloc(b->data, b->room);
        if (!b->data) abort();
    }
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
    return true;
}

static uint64_t seed_now;

/* A file's statement about parameters that no raw file can hold is unchanged. */
#define OTHER_MD5 "0123456789abcdef0123456789abcdef"
enum { OTHER_BYTES = 77 };

/* The first failure. */
typedef struct verdict {
    char   text[1500];
    bool   ambiguous;     /* its meaning depends on the known classes */
    bool   edited;        /* edits are done       */
    bool   changed;       /* and one was not refused */
    bool   chance;        /* the network is not the generated one: a fault of the JSON reader, or of the test */
    size_t undetected;        /* times that only the name identified the format: undeclared keys come first */
    size_t refused;       /* times that a writer refused more than its format holds */
} verdict;

static bool wrong(verdict *v, const char *format, ...) XIR_PRINTF(2, 3);
static bool wrong(verdict *v, const char *format, ...) {
    if (*v->text) return false;
    va_list args;
    va_start(args, format);
    vsnprintf(v->text, sizeof v->text, format, args);
    va_end(args);
    return false;
}

static bool same(verdict *v, const char *what, const char *of, const void *a, size_t n, const void *b, size_t m) {
    size_t i = 0;
    while (i < n && i < m && ((const char *)a)[i] == ((const char *)b)[i]) i++;
    if (i == n && i == m) return true;
    size_t from = i > 80 ? i - 80 : 0;
    int left = (int)(n - from < 240 ? n - from : 240), right = (int)(m - from < 240 ? m - from : 240);
    return wrong(v, "%s of %s differs from byte %zu of %zu and %zu on:\n  %.*s\n  %.*s", what, of, i, n, m, left,
                 (const char *)a + from, right, (const char *)b + from);
}

static bool report(verdict *v, const char *what, const char *of, xir_status status, const xir_diags *found) {
    const xir_diag *d = xir_diags_count(found) ? xir_diags_at(found, 0) : NULL;
    return wrong(v, "%s %s: %s: %.*s: %.*s", what, of, xir_status_name(status), d ? (int)d->path.size : 0,
                 d && d->path.size ? d->path.data : "", d ? (int)d->message.size : 0, d ? d->message.data : "");
}

/* Everything that can be compared of a network. */
typedef struct image {
    xir_text_buffer json;
    bytes           raw;      /* the raw file */
    bytes           params;   /* if ids are too large for one: id and bytes of each Params */
} image;

static void image_free(image *i) {
    xir_text_free(&i->json);
    free(i->raw.data);
    free(i->params.data);
}

/* The bytes that the generator gives to Params: nothing, a raw file, or bytes one by one. */
typedef enum has { HAS_NONE, HAS_RAW, HAS_BYTES } has;
static has has_of(const random_net *r) {
    return !random_net_has_payloads(r) ? HAS_NONE : random_net_has_wide_ids(r) ? HAS_BYTES : HAS_RAW;
}

static bool list_params(void *user, xir_value *v) { return append(user, &v, sizeof v); }

static int by_id(const void *a, const void *b) {
    int64_t x = xir_value_id(*(xir_value *const *)a), y = xir_value_id(*(xir_value *const *)b);
    return (x > y) - (x < y);
}

/* Id, size and bytes of all Params; the order of a walk depends on the known classes. */
static void take_params(xir_network *net, bytes *out) {
    bytes list = { 0 };
    if (!net_walk_params(net, list_params, &list)) abort();
    xir_value **values = (xir_value **)(void *)list.data;
    size_t n = list.size / sizeof *values;
    if (n) qsort(values, n, sizeof *values, by_id);
    for (size_t i = 0; i < n; i++) {
        uint64_t size;
        int64_t id = xir_value_id(values[i]);
        const void *data = xir_params_data(values[i], &size);
        append(out, &id, sizeof id);
        append(out, &size, sizeof size);
        append(out, data, size);
    }
    free(list.data);
}

/* The raw file first: writing it sets the keys of the network. */
static bool take_image(verdict *v, const char *of, xir_network *net, has what, image *out) {
    *out = (image){ 0 };
    xir_diags_clear(why);
    xir_status status = what == HAS_RAW ? xir_raw_write(net, append, &out->raw, why) : XIR_OK;
    if (status) return report(v, "the parameters cannot be written of", of, status, why);
    if (what == HAS_BYTES) take_params(net, &out->params);
    status = xir_json_print(net, 0, &out->json);
    return !status || wrong(v, "the network of %s cannot be printed: %s", of, xir_status_name(status));
}

static bool same_image(verdict *v, const char *of, xir_network *net, const image *expected) {
    image i;
    has what = expected->raw.size ? HAS_RAW : expected->params.size ? HAS_BYTES : HAS_NONE;
    bool good = take_image(v, of, net, what, &i) &&
                same(v, "JSON", of, expected->json.data, expected->json.size, i.json.data, i.json.size) &&
                same(v, "the raw file", of, expected->raw.data, expected->raw.size, i.raw.data, i.raw.size) &&
                same(v, "the bytes", of, expected->params.data, expected->params.size, i.params.data, i.params.size);
    image_free(&i);
    return good;
}

/* A text has the bytes of its Params inside of it for two seeds of three. */
static bool is_text(const char *word) { return strcmp(word, "text") == 0; }
static bool is_inline(const char *word) { return is_text(word) && seed_now % 3 > 0; }

/* Writes; false on a failure, or if the format cannot hold it. */
static bool write_as(verdict *v, const char *of, xir_network *net, const char *word, bool structure, bool refusable,
                     bytes *out) {
    const xir_save_options options = XIR_INIT(xir_save_options, .format = word, .unchecked = true,
                                              .no_params = structure, .align = UINT32_C(1) << (seed_now % 13),
                                              .flags = is_inline(word) ? XIR_SAVE_INLINE : is_text(word) ?
                                                  XIR_SAVE_RAW : 0);
    xir_diags_clear(why);
    xir_status status = xir_network_write(net, append, out, &options, why);
    if (refusable && (status == XIR_E_LIMIT || status == XIR_E_UNSUPPORTED)) v->refused++;
    else if (status) report(v, "cannot be written:", of, status, why);
    return status == XIR_OK;
}

/* Reads in a context; of a pair with its parameter file. */
static xir_network *read_as(verdict *v, const char *of, xir_context *with, const bytes *file, const xir_format_info *f,
                            const image *expected, bool lazy) {
    const char *word = xir_format_of(file->data, file->size);
    if (word && strcmp(word, f->name) != 0) return wrong(v, "%s looks like %s", of, word), NULL;
    if (!word) v->undetected++;
    const xir_load_options options = XIR_INIT(xir_load_options, .format = word ? NULL : f->name, .lazy = lazy,
                                              .verify = XIR_VERIFY_FULL);
    xir_diags_clear(why);
    xir_network *net = xir_network_read(with, file->data, file->size, XIR_STR(""), &options, why);
    xir_status status = XIR_E_INVALID;
    if (net && f->pair && !is_inline(f->name) &&
        expected->raw.size > RAW_HEADER) {   /* without payloads there is no file */
        status = xir_raw_read(net, expected->raw.data, expected->raw.size,
                              lazy ? XIR_LOAD_LAZY | XIR_LOAD_MD5 : 0, why);
        if (status) xir_network_free(net), net = NULL;
    }
    if (!net) report(v, "cannot be read:", of, status, why);
    return net;
}

/* Into a format and back. Returns the network, with the file in *file, whose parts it may keep. */
static xir_network *through(verdict *v, const char *of, xir_network *net, const xir_format_info *f,
                            const image *expected, bool lazy, bool refusable, bytes *file) {
    *file = (bytes){ 0 };
    xir_network *out = write_as(v, of, net, f->name, false, refusable, file)
        ? read_as(v, of, ctx, file, f, expected, lazy) : NULL;
    if (out && same_image(v, of, out, expected)) return out;
    xir_network_free(out);
    return NULL;
}

typedef struct need { bool any, bytes; } need;
static bool see_need(void *user, xir_value *v) {
    need *n = user;
    uint64_t size;
    n->any = true;
    if (!xir_params_allow_no_data(v) && (xir_type_bytes(xir_value_type(v), &size) != XIR_OK || size)) n->bytes = true;
    return true;
}

/* Without its parameters a file has the same keys about them. */
static void check_structure(verdict *v, xir_network *net, const xir_format_info *f, const image *expected,
                            const bytes *file, bool refusable) {
    need n = { false, false };
    if (*v->text || !net_walk_params(net, see_need, &n) || !n.bytes) return;
    char of[64];
    snprintf(of, sizeof of, "%s, the structure alone", f->name);
    bytes alone = { 0 };
    if (write_as(v, of, net, f->name, true, refusable, &alone)) {
        const bytes *const files[] = { &alone, file };
        const xir_load_options options = XIR_INIT(xir_load_options, .format = f->name, .no_params = true);
        for (size_t i = 0; i < COUNT(files) && !*v->text; i++) {
            xir_diags_clear(why);
            xir_network *out = xir_network_read(ctx, files[i]->data, files[i]->size, XIR_STR(""), &options, why);
            if (!out) report(v, "cannot be read:", of, XIR_E_INVALID, why);
            else same_image(v, of, out, &(image){ .json = expected->json });
            xir_network_free(out);
        }
    }
    free(alone.data);
}

static bool can_hold(const xir_format_info *f, const image *i) {
    return !f->pair || is_inline(f->name) || !i->params.size;
}

static void check_format(verdict *v, xir_network *net, const xir_format_info *f, const image *expected, bool lazy,
                         bool refusable) {
    bytes file, again = { 0 };
    char of[64];
    if (!can_hold(f, expected)) return;
    snprintf(of, sizeof of, "%s%s", f->name, lazy ? ", lazily" : "");
    xir_network *out = through(v, of, net, f, expected, lazy, refusable, &file);
    /* a context with fewer classes reads the same; but a text leaves out what its classes declare as defaults */
    if (out && !v->ambiguous && !is_text(f->name)) {
        snprintf(of, sizeof of, "%s for a stranger", f->name);
        xir_network *strange = read_as(v, of, stranger, &file, f, expected, lazy);
        if (strange) same_image(v, of, strange, expected);
        xir_network_free(strange);
    }
    if (out) check_structure(v, out, f, expected, &file, refusable);
    if (out && write_as(v, of, out, f->name, false, refusable, &again))
        same(v, "the file", of, file.data, file.size, again.data, again.size);
    for (size_t i = 0; out && !*v->text && i < n_formats; i++) {
        if (strcmp(formats[i].name, f->name) == 0 || !can_hold(&formats[i], expected)) continue;
        bytes other;
        snprintf(of, sizeof of, "%s%s, then %s", f->name, lazy ? ", lazily" : "", formats[i].name);
        xir_network_free(through(v, of, out, &formats[i], expected, !lazy, refusable, &other));
        free(other.data);
    }
    xir_network_free(out);
    free(file.data);
    free(again.data);
}

static void digest(const uint8_t *data, size_t size, char hex[MD5_DIGITS + 1]) {
    md5 m;
    if (md5_begin(&m, NULL) != XIR_OK) abort();
    md5_add(&m, data, size);
    if (md5_end(&m, hex, NULL) != XIR_OK) abort();
}

/* There are Params, and none needs bytes: the digest is computed, whatever the file has. */
static bool needs_no_bytes(xir_network *net) {
    need n = { false, false };
    return net_walk_params(net, see_need, &n) && n.any && !n.bytes;
}

/* The network is the generated one: its parameters, and its text unless that is loose. */
static bool check_start(verdict *v, const random_net *r, const bool *dropped, xir_network *net, const bytes *raw,
                        const image *first) {
    char hex[MD5_DIGITS + 1] = MD5_OF_NOTHING;
    bool any = raw->size > 16;
    if (any) digest(raw->data, raw->size, hex);
    v->chance = true;
    if (has_of(r) == HAS_RAW &&
        !same(v, "the raw file", "chance", raw->data, raw->size, first->raw.data, first->raw.size)) return false;
    if (random_net_is_loose(r) || dropped || has_of(r) == HAS_BYTES || (has_of(r) == HAS_NONE && needs_no_bytes(net))) {
        v->chance = false;
        return true;
    }
    size_t size;
    char *text = random_net_text(r, dropped, any ? raw->size : 0, hex, &size);
    bool good = same(v, "JSON", "chance", text, size, first->json.data, first->json.size);
    free(text);
    if (good) v->chance = false;
    return good;
}

/* ---- edits ------------------------------------------------------------------------------------------------------ */

/* Content that no JSON reader makes: NaNs and infinities, new Params among old ones, ops and values that were added
 * and removed. */
typedef struct editor {
    rnd         chance;
    xir_network *net;
    bool         with_bytes;
} editor;

static xir_op *some_op(editor *e) {
    return xir_network_op_at(e->net, (int64_t)rnd_below(&e->chance, xir_network_op_count(e->net)));
}

static xir_value *some_output(editor *e) {
    xir_op *op = some_op(e);
    size_t n = xir_op_output_count(op);
    return n ? xir_op_output(op, (int64_t)rnd_below(&e->chance, n)) : NULL;
}

static xir_value *new_params(editor *e) {
    uint8_t some[6];
    memset(some, (int)rnd_below(&e->chance, 256), sizeof some);
    xir_value *v = xir_params_new(e->net, XIR_STR("n\xC3\xA9w"), XIR_TENSOR(ctx, xir_type_sint(ctx, 8), "*", 6));
    if (v && e->with_bytes && xir_params_set_copy(v, some, sizeof some)) abort();
    return v;
}

/* A value in one of two places of `room`, which it may refer to. */
static xir_any some_any(editor *e, xir_any *room, bool with_params) {
    static const double odd[] = { HUGE_VAL, -HUGE_VAL, 0.0, -0.0, 1e-310 };
    switch (rnd_below(&e->chance, 5)) {
    case 0:  return xir_any_real(odd[rnd_below(&e->chance, 5)]);
    case 1:  return xir_any_real((double)NAN);
    case 2:  return (xir_any){ .kind = XIR_ANY_UINT, .as.uinteger = UINT64_MAX };
    case 3: {
        xir_value *v = with_params ? new_params(e) : NULL;
        return v ? (xir_any){ .kind = XIR_ANY_PARAMS, .as.params = v } : xir_any_null();
    }
    default:
        room[0] = xir_any_real(odd[rnd_below(&e->chance, 5)]);
        room[1] = xir_any_text(XIR_STR("inf"));
        return xir_any_list(room, 2);
    }
}

static void edit_words(editor *e) {
    xir_any room[2], any = some_any(e, room, false);
    xir_value *v = some_output(e);
    xir_op_set_name(some_op(e), XIR_STR("\xE4\xB8\xAD"));
    xir_op_set_tag(some_op(e), XIR_STR("edited"), &any);
    xir_network_set_tag(e->net, XIR_STR("edited"), &any);
    xir_network_set_extra(e->net, XIR_STR("edited"), rnd_once_in(&e->chance, 3) ? NULL : &any);
    if (v) xir_value_set_name(v, XIR_STR("v"));
    if (v) xir_value_set_tag(v, XIR_STR("edited"), &any);
}

static void edit_attribute(editor *e) {
    xir_op *op = some_op(e);
    size_t n = xir_class_field_count(xir_op_class(op));
    const xir_field *f = n ? xir_class_field_at(xir_op_class(op), rnd_below(&e->chance, n)) : NULL;
    if (!f) return;
    switch (f->kind) {
    case XIR_KIND_BOOL: xir_op_set_bool(op, f->name.data, rnd_once_in(&e->chance, 2)); break;
    case XIR_KIND_I64:  xir_op_set_i64(op, f->name.data,
                                       rnd_once_in(&e->chance, 2) ? f->default_value.i : rnd_i64(&e->chance)); break;
    case XIR_KIND_REAL: xir_op_set_real(op, f->name.data, rnd_double(&e->chance)); break;
    case XIR_KIND_I64S: xir_op_set_i64s(op, f->name.data, (const int64_t[]){ 1, -1, INT64_MIN },
                                        rnd_below(&e->chance, 4)); break;
    default: break;
    }
}

static void edit_links(editor *e) {
    xir_op *op = some_op(e);
    size_t n = xir_op_input_count(op);
    xir_value *v = rnd_once_in(&e->chance, 3) ? new_params(e) : rnd_once_in(&e->chance, 3) ? NULL : some_output(e);
    if (n) xir_op_set_input(op, rnd_below(&e->chance, n), v);
    if (rnd_once_in(&e->chance, 2)) xir_op_move(some_op(e), some_op(e));
    if (rnd_once_in(&e->chance, 4)) xir_op_set_id(some_op(e), (int64_t)rnd_below(&e->chance, 1000000));
    if (rnd_once_in(&e->chance, 6) && xir_network_op_count(e->net) > 1) xir_network_remove(e->net, some_op(e));
}

static void edit_values(editor *e) {
    xir_value *v = some_output(e);
    if (!v) return;
    if (rnd_once_in(&e->chance, 2))
        xir_value_set_type(v, rnd_once_in(&e->chance, 3) ? NULL : FP32("NHWC", 1, -1, 3, 4));
    else xir_value_set_mtype(v, xir_mtype_chunk(ctx, rnd_u64(&e->chance), 5));
}

static bool set_bytes(void *user, xir_value *v) {
    editor *e = user;
    uint8_t some[64];
    uint64_t size;
    if (!rnd_once_in(&e->chance, 3) || xir_type_bytes(xir_value_type(v), &size) || size > sizeof some) return true;
    memset(some, (int)rnd_below(&e->chance, 256), sizeof some);
    if (xir_params_set_copy(v, some, size)) abort();
    return true;
}

/* The resulting network; the old one may be freed. */
static xir_network *edit(xir_network *net, uint64_t seed, bool with_bytes) {
    editor e = { .chance = { .state = ~seed }, .net = net, .with_bytes = with_bytes };
    random_counts ignored;
    e.chance.counts = &ignored;
    e.chance.state = rnd_bits(&e.chance);
    for (uint64_t n = xir_network_op_count(net) ? 1 + rnd_below(&e.chance, 8) : 0; n > 0; n--) {
        xir_any room[2], any;
        switch (rnd_below(&e.chance, 7)) {
        case 0:  edit_words(&e); break;
        case 1:  edit_attribute(&e); break;
        case 2:  edit_links(&e); break;
        case 3:  edit_values(&e); break;
        case 4:  if (with_bytes) net_walk_params(e.net, set_bytes, &e); break;
        case 5: {
            xir_network *copy = xir_network_clone(e.net);
            if (!copy) abort();
            xir_network_free(e.net);
            e.net = copy;
            break;
        }
        default:
            any = some_any(&e, room, true);
            xir_op_set_extra(some_op(&e), XIR_STR("edited"), rnd_once_in(&e.chance, 4) ? NULL : &any);
        }
        xir_network_clear_status(e.net);   /* refusals are fine */
    }
    return e.net;
}

/* ---- one network, whole ----------------------------------------------------------------------------------------- */

static void check_formats(verdict *v, const random_net *r, xir_network *net, const image *first) {
    for (size_t i = 0; i < n_formats && !*v->text; i++) {
        check_format(v, net, &formats[i], first, false, random_net_may_be_refused(r));
        if (!*v->text) check_format(v, net, &formats[i], first, true, random_net_may_be_refused(r));
    }
    if (!*v->text) same_image(v, "what was written", net, first);   /* writing changes nothing */
}

/* True if nothing failed. */
static bool examine(const random_net *r, const bool *dropped, verdict *v) {
    *v = (verdict){ .chance = true, .ambiguous = random_net_is_ambiguous(r) };
    size_t size;
    char *text = has_of(r) == HAS_BYTES ? random_net_text(r, dropped, OTHER_BYTES, OTHER_MD5, &size)
                                        : random_net_text(r, dropped, 0, MD5_OF_NOTHING, &size);
    xir_diags_clear(why);
    xir_network *net = xir_json_read(ctx, (xir_str){ text, size }, XIR_STR(""), why);
    free(text);
    if (!net) return report(v, "JSON cannot be read", "", XIR_E_INVALID, why);
    bytes raw = { 0 };
    if (has_of(r) == HAS_BYTES) random_net_fill(r, net);
    if (has_of(r) == HAS_RAW) {
        raw.data = random_net_raw(r, net, &raw.size);
        xir_status status = xir_raw_read(net, raw.data, raw.size, XIR_LOAD_NO_MD5, why);
        if (status) report(v, "the parameters cannot be read", "", status, why);
    }
    image first = { 0 };
    if (!*v->text && take_image(v, "chance", net, has_of(r), &first) && check_start(v, r, dropped, net, &raw, &first)) {
        check_formats(v, r, net, &first);
    }
    if (!*v->text && seed_now % 2) {
        image changed;
        net = edit(net, seed_now, random_net_has_payloads(r));
        if (take_image(v, "an edited network", net, has_of(r), &changed)) check_formats(v, r, net, &changed);
        v->edited = true;
        v->changed = changed.json.size != first.json.size ||
            memcmp(changed.json.data, first.json.data, first.json.size) != 0;
        image_free(&changed);
    }
    image_free(&first);
    xir_network_free(net);
    free(raw.data);
    return !*v->text;
}

/* ---- reporting -------------------------------------------------------------------------------------------------- */

static void tell_seed(void) {
    char text[80];
    int n = snprintf(text, sizeof text, "\nthe network of seed %" PRIu64 " did it\n", seed_now);
    ssize_t ignored = write(2, text, (size_t)n);
    (void)ignored;
}

static void on_death(int signal_number) {
    tell_seed();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

/* Drops one op after the other as long as it still fails. */
static void shrink(const random_net *r, const verdict *first) {
    size_t n = first->chance ? 0 : random_net_op_count(r), left = n;
    bool *dropped = calloc(n + 1, sizeof *dropped);
    verdict v, last = *first;
    assert_non_null(dropped);
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < n; i++) {
            if (dropped[i]) continue;
            dropped[i] = true;
            if (!examine(r, dropped, &v) && v.chance == first->chance && v.edited == first->edited) {
                last = v;
                left--;
                again = true;
            } else {
                dropped[i] = false;
            }
        }
    }
    size_t size;
    char *text = random_net_text(r, dropped, 0, MD5_OF_NOTHING, &size);
    fprintf(stderr, "seed %" PRIu64 ", %zu ops of %zu are left: %s%s\n%s\n", seed_now, left, n, last.edited ? "edited: "
            : "", last.text, size < 6000 ? text : "(a long text)");
    free(text);
    free(dropped);
}

/* ---- the tests -------------------------------------------------------------------------------------------------- */

static void they_come_back_from_every_format(void **state) {
    (void)state;
    static const int deadly[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < COUNT(deadly); i++) signal(deadly[i], on_death);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(tell_seed);
    const char *times = getenv("XIR_DIFFERENTIAL"), *one = getenv("XIR_DIFFERENTIAL_SEED");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1, n = times ? strtoull(times, NULL, 10) : one ? 1 : OFTEN(USUAL);
    size_t failed = 0, refused = 0, changed = 0, undetected = 0;
    for (seed_now = first; seed_now < first + n && failed < 5; seed_now++) {
        random_net *r = random_net_make(ctx, seed_now, NULL);
        verdict v;
        if (!examine(r, NULL, &v)) {
            failed++;
            shrink(r, &v);
        }
        refused += v.refused > 0;
        changed += v.changed;
        undetected += v.undetected > 0;
        random_net_free(r);
    }
    printf("%" PRIu64 " networks", n);
    for (size_t i = 0; i < n_formats; i++) printf("%s %s", i ? "," : " as", formats[i].name);
    printf("; %zu of them hold more than some format, %zu were edited, %zu are detected only by name\n",
           refused, changed, undetected);
    if (failed) fail_msg("%zu networks do not come back", failed);
    assert_true(one || (refused * 5 < n && changed * 5 > n && undetected * 20 < n));
}

#define OCCURS(what) \
    do { \
        if (!(what)) fail_msg("never in %zu networks: %s", c.networks, #what); \
    } while (0)

/* The generator makes everything that exists. */
static void everything_occurs(void **state) {
    (void)state;
    static random_counts c;
    for (uint64_t seed = 1; seed <= 2 * USUAL; seed++) random_net_free(random_net_make(ctx, seed, &c));
    const xir_class *cls;
    for (size_t i = 0; (cls = xir_context_class_at(ctx, i)) != NULL; i++) {
        bool made = xir_class_is_op(cls) ? c.ops[i] : c.objects[i];
        if (made == ((xir_class_traits(cls) & XIR_TRAIT_ABSTRACT) != 0))
            fail_msg("%s occurs %s", xir_class_key(cls).data, made ? "" : "never");
    }
    for (int k = 0; k < XIR_KIND_COUNT; k++) {
        if (!c.kinds[k]) fail_msg("no row of kind %s", xir_kind_name((xir_kind)k));
        if (!c.absent[k]) fail_msg("no absent row of kind %s", xir_kind_name((xir_kind)k));
    }
    OCCURS(c.nulls[XIR_KIND_REF] && c.nulls[XIR_KIND_PARAMS] && c.nulls[XIR_KIND_I64S]);
    for (int k = 0; k <= XIR_ANY_PARAMS; k++) OCCURS(c.any[k]);
    for (int k = 0; k < RANDOM_MINORS; k++) OCCURS(c.minors[k]);
    OCCURS(c.odd_versions && c.no_version);
    OCCURS(c.loose && c.payloads && c.payloads < c.networks && c.empty && c.wide_ids && c.shuffled);
    OCCURS(c.unknown_ops && c.unknown_objects && c.sub_ops && c.deep_ops);
    OCCURS(c.absent_object_rows && c.absent_network_keys && c.singles && c.old_names);
    OCCURS(c.values && c.params && c.orphans && c.repeated && c.null_inputs && c.no_type && c.may_lack);
    OCCURS(c.network_extra && c.op_extra && c.value_extra && c.object_extra && c.tags);
    OCCURS(c.doubles && c.specials && c.zero_bytes && c.long_texts && c.huge_runs && c.deep && c.own_keys);
}

static void a_seed_is_a_network(void **state) {
    (void)state;
    size_t n, m;
    random_net *a = random_net_make(ctx, 42, NULL), *b = random_net_make(ctx, 42, NULL);
    char *x = random_net_text(a, NULL, 0, "", &n), *y = random_net_text(b, NULL, 0, "", &m);
    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
    free(x);
    free(y);
    random_net_free(a);
    random_net_free(b);
}

static int begin(void **state) {
    if (group_begin(state)) return 1;
    const xir_class_decl *const own[] = { xir_own_thing_class(), xir_own_grain_class(), xir_own_box_class(),
                                          xir_own_mix_class(),
                                          xir_own_all_class(), xir_own_tap_class(), xir_wide_class() };
    for (size_t i = 0; i < COUNT(own); i++) {
        if (xir_class_register(ctx, own[i], why) != XIR_OK) return 1;
    }
    stranger = xir_context_new(NULL);
    xir_format_info f;
    for (size_t i = 0; written_format_at(i, &f); i++) {
        if (f.reads && f.writes) formats[n_formats++] = f;
    }
    return !stranger || n_formats == 0;
}

static int end(void **state) {
    xir_context_free(stranger);
    return group_end(state);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_is_a_network),
        cmocka_unit_test(everything_occurs),
        cmocka_unit_test(they_come_back_from_every_format),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
