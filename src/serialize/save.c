/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Saving in any format. The options are checked and the network is validated before a file is created, so a refused
 * network leaves none. The format writes into a temporary file, which then takes the final name atomically. Parameters
 * with a separate file are written first; both files are complete and flushed under temporary names before either is
 * renamed, and a journal says that they belong together (journal.h). A save that was killed between the two renames is
 * finished before the next one. A file that the network is mapped from can be saved over: the mapping keeps the old
 * file. */
#include "codec/given.h"
#include "file.h"
#include "formats.h"
#include "journal.h"
#include "raw/raw.h"
#include "spelled.h"
#include "sized.h"
#include "task.h"

enum { USUAL_ALIGN = 4096, SMALL_ALIGN = 64, MOST_ALIGN = 1 << 30 };
enum { OF_TEXT = XIR_SAVE_INLINE | XIR_SAVE_RAW | XIR_SAVE_NO_IDS };

typedef struct saving {
    xir_network      *net;
    xir_save_options  o;
    xir_diags        *why;
    const char       *path;      /* NULL: a write callback */
    uint32_t          small_align; /* of payloads below FORMAT_SMALL bytes */
    format            format;
    task              task;
    bool             *too_large; /* of format_writing      */
} saving;

static bool refuse(const saving *s, xir_status *status, xir_status code, const char *sentence, ...) XIR_PRINTF(4, 5);
static bool refuse(const saving *s, xir_status *status, xir_status code, const char *sentence, ...) {
    va_list args;
    va_start(args, sentence);
    *status = file_failv(s->why, code, s->path ? s->path : "", XIR_NO_BYTE, sentence, args);
    va_end(args);
    return false;
}

static bool has_bytes(void *user, xir_value *v) {
    if (!value_params(v)->data) return true;
    *(bool *)user = true;
    return false;
}

static bool choose(saving *s, xir_status *status) {
    xir_context *ctx = s->net->ctx;
    if (s->o.format) {
        if (format_named(ctx, s->o.format, &s->format, s->why)) return true;
        *status = XIR_E_UNKNOWN;
        return false;
    }
    if (!s->path)
        return refuse(s, status, XIR_E_INVALID, "writing to a callback needs a format, expected one of %s",
                      format_names(ctx, true).text);
    return format_detect(ctx, NULL, 0, 0, xir_str_of(s->path), &s->format) ||
           refuse(s, status, XIR_E_UNKNOWN, "the name does not identify the format, expected one of %s",
                  format_names(ctx, true).text);
}

static bool take_options(saving *s, const xir_save_options *options, xir_status *status) {
    const uint64_t known = XIR_SAVE_UNCHECKED | XIR_SAVE_INDENT | XIR_SAVE_NO_MD5 | XIR_SAVE_EXTERNAL | OF_TEXT;
    *status = sized_take(SIZED(xir_save_options, flags), &s->o, options, s->why);
    if (*status) return false;
    if (s->o.flags & ~known)
        return refuse(s, status, XIR_E_INVALID, "unknown flags of saving: 0x%llx",
                      (unsigned long long)(s->o.flags & ~known));
    s->o.unchecked |= (s->o.flags & XIR_SAVE_UNCHECKED) != 0;
    s->o.indent |= (s->o.flags & XIR_SAVE_INDENT) != 0;
    return true;
}

static bool begin(saving *s, xir_status *status) {
    if (!choose(s, status)) return false;
    if (!s->format.write)
        return refuse(s, status, XIR_E_UNSUPPORTED, "files of format %s cannot be written", s->format.name);
    if (s->o.params && !s->format.params_written)
        return refuse(s, status, XIR_E_INVALID, "a file of format %s contains its parameters: no parameter file can be "
                      "named", s->format.name);
    if (s->o.flags & XIR_SAVE_EXTERNAL && !s->format.splits)
        return refuse(s, status, XIR_E_INVALID,
                      "a file of format %s cannot have its parameters in a file that it names",
                      s->format.name);
    if (s->o.flags & XIR_SAVE_EXTERNAL && (!s->path || s->o.no_params))
        return refuse(s, status, XIR_E_INVALID, "a file of parameters is requested, but only the structure is written");
    if (s->o.flags & OF_TEXT && !s->format.has_inside)
        return refuse(s, status, XIR_E_INVALID, "a file of format %s always has ids, and its parameters in one place",
                      s->format.name);
    if (s->o.flags & XIR_SAVE_INLINE && (s->o.flags & XIR_SAVE_RAW || s->o.params))
        return refuse(s, status, XIR_E_INVALID, "the parameters are requested in the text and in a file of their own");
    if (s->o.params && !s->path)
        return refuse(s, status, XIR_E_INVALID,
                      "a callback receives only the structure: xir_network_save_params writes the parameters");
    if (s->o.params && s->o.no_params)
        return refuse(s, status, XIR_E_INVALID, "a parameter file is named, but only the structure is requested");
    s->small_align = s->o.align ? s->o.align : SMALL_ALIGN;
    if (!s->o.align) s->o.align = USUAL_ALIGN;
    if (s->o.align & (s->o.align - 1) || s->o.align > MOST_ALIGN)
        return refuse(s, status, XIR_E_INVALID, "the alignment of parameters is %u, expected a power of two up to 2^30",
                      s->o.align);
    *status = s->o.no_params ? XIR_OK : format_check_sizes(&s->format, s->net, false, s->path ? s->path : "", s->why);
    if (!*status && !s->o.unchecked) *status = xir_network_validate(s->net, s->why);
    return *status == XIR_OK;
}

static bool is_external(const saving *s) { return s->o.params || s->o.flags & XIR_SAVE_EXTERNAL; }

static format_writing writing_of(const saving *s, xir_write_fn *write, xir_write_fn *write_lasting, void *user) {
    return (format_writing){
        .format = &s->format, .path = s->path ? s->path : "",
        .flags = (s->o.indent ? XIR_SAVE_INDENT : 0) | (unsigned)(s->o.flags & OF_TEXT),
        .align = s->o.align, .small_align = s->small_align, .plain = s->o.plain, .external = is_external(s),
        .too_large = s->too_large, .no_params = s->o.no_params,
        .write = write, .write_lasting = write_lasting, .user = user, .why = s->why };
}

/* The mapped file that a piece of the output comes from. */
static const char *source_of(void *user, const void *data) {
    const xir_network *net = user;
    for (const xir_value *v = net->all_params; v; v = value_params(v)->next) {
        const blob *b = value_params(v)->data;
        const uintptr_t at = (uintptr_t)data;
        if (b && b->mapped && at >= (uintptr_t)b->bytes && at - (uintptr_t)b->bytes < b->size) return blob_path(b);
    }
    return NULL;
}

/* `pair`: one of two files. Its temporary file stays locked until both are replaced, so no other save removes it. */
static xir_status open_output(const saving *s, file_writer *w, const char *path, bool pair) {
    xir_status status = file_open(w, s->net->ctx, path, s->why);
    w->stays_open = pair;
    w->source = source_of;
    w->source_user = s->net;
    return status;
}

/* The mapped files that the bytes came from are unchanged, and what was to be compared with their MD5 was. */
static xir_status check_bytes(const saving *s) {
    const struct file_watch *last = NULL;
    xir_status status = XIR_OK;
    for (const xir_value *v = s->net->all_params; v && !status; v = value_params(v)->next) {
        const blob *b = value_params(v)->data;
        if (!b || !b->watch || b->watch == last) continue;
        last = b->watch;
        status = params_check(v, s->why);
    }
    return status ? status : xir_network_verified(s->net, s->why);
}

/* Before files get their names. */
static xir_status settle(const saving *s) {
    const xir_status status = s->o.no_params ? XIR_OK : check_bytes(s);
    return status ? status : task_final(s->why);
}

/* ---- one file -------------------------------------------------------------------------------------------------- */

typedef xir_status part_write_fn(xir_network *net, const format_writing *how);

typedef struct one_file { file_writer w; const saving *s; bool open; } one_file;

static bool open_one(one_file *f) {
    if (!f->open) (void)open_output(f->s, &f->w, f->s->path, false);
    f->open = true;
    return f->w.status == XIR_OK;
}

static bool write_one(void *user, const void *data, size_t size) {
    one_file *f = user;
    return open_one(f) && file_write(&f->w, data, size);
}

static bool write_one_lasting(void *user, const void *data, size_t size) {
    one_file *f = user;
    return open_one(f) && file_write_lasting(&f->w, data, size);
}

static bool patch_one(void *user, uint64_t at, const void *data, size_t size) {
    one_file *f = user;
    return file_patch(&f->w, at, data, size);
}

/* `late`: opens the file with the first byte, after the format has had its chance to refuse. */
static xir_status save_one(const saving *s, part_write_fn *part, bool late) {
    one_file f = { .s = s };
    format_writing how = writing_of(s, write_one, write_one_lasting, &f);
    const bool ready = late || open_one(&f);
    if (f.open && f.w.exists) how.patch = patch_one;
    xir_status status = ready ? part(s->net, &how) : f.w.status;
    if (s->too_large && *s->too_large) return status;
    if (status == XIR_OK && open_one(&f) && file_ready(&f.w) == XIR_OK) status = settle(s);
    if (status == XIR_OK && f.w.status == XIR_OK) return file_commit(&f.w);
    if (f.open && f.w.status) status = f.w.status;   /* the reason it stopped */
    if (f.open) file_abort(&f.w);
    return status;
}

/* ---- two files ------------------------------------------------------------------------------------------------- */

/* Both files are opened with the first byte of the parameters. */
typedef struct file_pair {
    file_writer   params, structure;
    const saving *s;
    const char   *params_path;
    xir_status    status;
    bool          open;
} file_pair;

static xir_status open_pair(file_pair *p) {
    const saving *s = p->s;
    xir_context *ctx = s->net->ctx;
    if (p->open) return p->status;
    p->open = true;
    p->structure = (file_writer){ .ctx = ctx, .fd = -1, .noted = -1 };
    p->status = open_output(s, &p->params, p->params_path, true);
    if (!p->status) p->status = open_output(s, &p->structure, s->path, true);
    if (!p->status && p->params.exists && p->structure.exists && strcmp(p->params.target, p->structure.target) == 0) {
        p->status = file_fail(s->why, XIR_E_EXISTS, p->params_path, XIR_NO_BYTE,
                              "structure and parameters cannot be saved to one file");
    }
    return p->status;
}

static bool write_params(void *user, const void *data, size_t size) {
    file_pair *p = user;
    return open_pair(p) == XIR_OK && file_write(&p->params, data, size);
}

static bool write_params_lasting(void *user, const void *data, size_t size) {
    file_pair *p = user;
    return open_pair(p) == XIR_OK && file_write_lasting(&p->params, data, size);
}

static xir_status write_pair(file_pair *p) {
    const saving *s = p->s;
    format_writing how = writing_of(s, write_params, write_params_lasting, p);
    how.path = how.params_path = p->params_path;
    xir_status status = s->format.write_params(s->net, &how);
    if (p->open && p->status) return p->status;
    if (p->open && p->params.status) return p->params.status;
    if (status || (status = open_pair(p))) return status;
    how = writing_of(s, file_write, file_write_lasting, &p->structure);
    how.params_path = p->params_path;
    how.digest_set = true;
    status = s->format.write(s->net, &how);
    return p->structure.status ? p->structure.status : status;
}

/* Gives both their names, or neither. What is a device has been written already. */
static xir_status place_pair(file_pair *p, bool *placed) {
    const saving *s = p->s;
    journal j;
    if (p->params.exists && p->structure.exists) {
        const xir_status status = journal_replace(&j, s->net->ctx, journal_item_of_file(&p->params),
                                                  journal_item_of_file(&p->structure), s->why);
        *placed = !p->params.exists && !p->structure.exists;    /* even if flushing the folders failed */
        return status;
    }
    const xir_status first = file_commit(&p->params), last = file_commit(&p->structure);
    *placed = !first && !last;
    return first ? first : last;
}

/* If anything fails, params_bytes and params_md5 of the network are unchanged. */
static xir_status save_pair(const saving *s, const char *params_path) {
    xir_network *net = s->net;
    file_pair p = { .s = s, .params_path = params_path };
    uint64_t old_bytes = net->params_bytes;
    xir_str old_md5 = net->text[XIR_TEXT_PARAMS_MD5];
    bool placed = false;
    xir_status status = write_pair(&p);
    if (!status) status = file_ready(&p.params);
    if (!status) status = file_ready(&p.structure);
    if (!status) status = settle(s);
    if (!status) status = place_pair(&p, &placed);
    if (!placed) {
        net->params_bytes = old_bytes;
        net->text[XIR_TEXT_PARAMS_MD5] = old_md5;
    }
    if (p.open) {    /* closes both; what is placed has no temporary name any more */
        file_abort(&p.params);
        file_abort(&p.structure);
    }
    return status;
}

/* ---- a file and a folder --------------------------------------------------------------------------------------- */

/* The same for a folder. */
static xir_status place_with_folder(const saving *s, folder_writer *folder, file_writer *structure) {
    const journal_item new_folder = journal_item_of_folder(folder);
    journal j;
    if (!structure->exists) return journal_replace_one(new_folder, s->why);
    return journal_replace(&j, s->net->ctx, new_folder, journal_item_of_file(structure), s->why);
}

static xir_status save_with_folder(const saving *s, const char *folder_path) {
    folder_writer folder;
    file_writer structure = { .ctx = s->net->ctx, .fd = -1, .noted = -1 };
    xir_status status = folder_open(&folder, s->net->ctx, folder_path, s->format.is_own_file, s->why);
    format_writing how = writing_of(s, file_write, file_write_lasting, &structure);
    how.params_path = folder_path;
    if (!status) status = open_output(s, &structure, s->path, true);
    if (!status) status = s->format.write(s->net, &how);    /* first: it may refuse the network */
    if (structure.status) status = structure.status;
    if (!status) status = s->format.write_folder(s->net, &how, &folder);
    if (!status) status = file_ready(&structure);
    if (!status) status = folder_ready(&folder);
    if (!status) status = settle(s);
    if (!status) status = place_with_folder(s, &folder, &structure);
    folder_close(&folder);
    if (structure.block) file_abort(&structure);
    return status;
}

static xir_status save_in_folder(const saving *s) {
    const xir_allocator *alloc = &s->net->ctx->alloc;
    size_t room = 0;
    if (s->o.no_params || (!s->o.params && !s->format.has_files(s->net))) return save_one(s, s->format.write, true);
    char *name = s->o.params ? NULL : companion_name(alloc, &s->format, s->path, &room);
    const char *path = name ? name : s->o.params;
    if (!path) return diag_memory(s->why);
    const xir_status status = save_with_folder(s, path);
    mem_free(alloc, name, room);
    return status;
}

/* ---- either ------------------------------------------------------------------------------------------------------ */

/* *out: the parameters get a file of their own. */
static xir_status needs_pair(const saving *s, bool *out) {
    const format_writing how = writing_of(s, NULL, NULL, NULL);
    bool lacks = true, needs_file;
    *out = s->o.params;
    if (s->o.no_params) return XIR_OK;
    if (s->format.splits) return s->format.splits(s->net, &how, out);
    if (s->format.has_inside && s->format.has_inside(s->net, &how)) return XIR_OK;
    if (!*out && !net_walk_params(s->net, has_bytes, out) && !*out) return diag_memory(s->why);
    if (*out || !s->format.params_always) return XIR_OK;
    const xir_status status = companion_is_needed(&s->format, s->net, &lacks, &needs_file, s->why);
    *out = !lacks;
    return status;
}

/* The structure, and the parameters if there are any. A format that rarely splits finds out while it writes. */
static xir_status save_both(const saving *s) {
    bool any, too_large = false;
    if (s->format.write_folder) return save_in_folder(s);
    if (s->format.splits && !s->o.no_params && !is_external(s)) {
        saving whole = *s;
        whole.too_large = &too_large;
        const xir_status status = save_one(&whole, s->format.write, true);
        if (!too_large) return status;
    }
    const xir_status needs = needs_pair(s, &any);
    if (needs) return needs;
    if (!any) return save_one(s, s->format.write, s->format.splits);
    const xir_allocator *alloc = &s->net->ctx->alloc;
    size_t room = 0;
    char *name = s->o.params ? NULL : companion_name(alloc, &s->format, s->path, &room);
    const char *path = name ? name : s->o.params;
    if (!path) return diag_memory(s->why);
    xir_status status = save_pair(s, path);
    mem_free(alloc, name, room);
    return status;
}

/* ---- tasks ----------------------------------------------------------------------------------------------------- */

static void begin_task(saving *s) { task_begin(&s->task, s->o.cancel, s->o.progress, s->o.user); }

/* The parameters are compared and written, or one of these; the structure of an op takes some hundred bytes. */
static void expect_bytes(const saving *s, bool with_params) {
    enum { AN_OP = 300 };
    const bool digests = !(s->o.flags & XIR_SAVE_NO_MD5) && (s->format.compare_claims ||
                                                             s->format.write_params == raw_write_params);
    uint64_t bytes = 0;
    if (!s->o.progress) return;
    for (const xir_value *v = s->net->all_params; v; v = value_params(v)->next)
        if (value_params(v)->data) bytes += value_params(v)->data->size;
    const uint64_t written = with_params && !s->o.no_params ? bytes : 0;
    task_expect(written + (digests ? bytes : 0) + AN_OP * (uint64_t)s->net->n_ops);
}

/* ---- for programs ---------------------------------------------------------------------------------------------- */

static xir_status save(saving *s) {
    xir_network *net = s->net;
    xir_status status = XIR_OK;
    if (!begin(s, &status)) return status;
    bool finished;
    status = unfinished_end(net->ctx, s->path, s->o.params, &finished, s->why);
    if (status) return status;
    spelling dims = { 0 };
    if (!s->format.spells_dims) status = spelling_begin(&dims, net, s->why);
    net->no_md5 = s->o.flags & XIR_SAVE_NO_MD5;
    expect_bytes(s, true);
    if (!status) status = s->format.params_written ? save_both(s) : save_one(s, s->format.write, false);
    net->no_md5 = false;
    spelling_end(&dims);
    return status;
}

xir_status xir_network_save(xir_network *net, const char *path, const xir_save_options *options, xir_diags *why) {
    if (!net) return diag_null(why, "network");
    saving s = { .net = net, .why = why, .path = path };
    xir_status status = XIR_OK;
    if (!take_options(&s, options, &status)) return status;
    begin_task(&s);
    return task_end(&s.task, save(&s), why);
}

bool xir_save_keeps_inside(const xir_network *net, const xir_save_options *options) {
    saving s = { .net = (xir_network *)(uintptr_t)net };
    xir_status status = XIR_OK;
    if (!net || !take_options(&s, options, &status) || !s.o.format ||
        !format_named(net->ctx, s.o.format, &s.format, NULL))
        return false;
    const format_writing how = writing_of(&s, NULL, NULL, NULL);
    return !s.format.params_written || (s.format.has_inside && s.format.has_inside(net, &how));
}

static xir_status write_to(saving *s, xir_write_fn *write, void *user) {
    xir_network *net = s->net;
    xir_status status = XIR_OK;
    if (!begin(s, &status)) return status;
    spelling dims = { 0 };
    if (!s->format.spells_dims) status = spelling_begin(&dims, net, s->why);
    net->no_md5 = s->o.flags & XIR_SAVE_NO_MD5;
    expect_bytes(s, !s->format.params_written);
    if (!status) {
        given_writer g = given_begin(write, user, s->why);
        const format_writing how = writing_of(s, given_write, NULL, &g);
        status = given_end(&g, s->format.write(net, &how));
        if (!status && (!s->format.params_written || (s->format.has_inside && s->format.has_inside(net, &how))))
            status = settle(s);
    }
    net->no_md5 = false;
    spelling_end(&dims);
    return status;
}

xir_status xir_network_write(xir_network *net, xir_write_fn *write, void *user, const xir_save_options *options,
                             xir_diags *why) {
    if (!net) return diag_null(why, "network");
    saving s = { .net = net, .why = why };
    xir_status status = XIR_OK;
    if (!take_options(&s, options, &status)) return status;
    begin_task(&s);
    return task_end(&s.task, write_to(&s, write, user), why);
}

/* ---- parameters alone ------------------------------------------------------------------------------------------ */

/* The format must be named, and have a separate parameter file. */
static bool begin_params(saving *s, const xir_save_options *options, xir_status *status) {
    if (!take_options(s, options, status)) return false;
    if (!s->o.format) return refuse(s, status, XIR_E_INVALID, "the format must be named");
    if (!choose(s, status)) return false;
    if (s->format.write_folder)
        return refuse(s, status, XIR_E_UNSUPPORTED,
                      "the parameters of format %s are a folder, which is written with the "
                      "structure", s->format.name);
    if (s->format.splits)
        return refuse(s, status, XIR_E_UNSUPPORTED, "a file of format %s names the file of its parameters: both are "
                      "written together", s->format.name);
    return s->format.params_written || refuse(s, status, XIR_E_INVALID,
                                              "a file of format %s contains its parameters: no parameter file "
                                              "can be named", s->format.name);
}

xir_status xir_network_save_params(xir_network *net, const char *path, const xir_save_options *options,
                                   xir_diags *why) {
    saving s = { .net = net, .why = why, .path = path };
    xir_status status = XIR_OK;
    if (!begin_params(&s, options, &status)) return status;
    begin_task(&s);
    expect_bytes(&s, true);
    net->no_md5 = s.o.flags & XIR_SAVE_NO_MD5;
    status = save_one(&s, s.format.write_params, true);
    net->no_md5 = false;
    return task_end(&s.task, status, why);
}

xir_status xir_network_write_params(xir_network *net, xir_write_fn *write, void *user, const xir_save_options *options,
                                    xir_diags *why) {
    saving s = { .net = net, .why = why };
    given_writer g = given_begin(write, user, why);
    xir_status status = XIR_OK;
    if (!begin_params(&s, options, &status)) return status;
    begin_task(&s);
    expect_bytes(&s, true);
    net->no_md5 = s.o.flags & XIR_SAVE_NO_MD5;
    const format_writing how = writing_of(&s, given_write, NULL, &g);
    status = given_end(&g, s.format.write_params(net, &how));
    if (!status) status = settle(&s);
    net->no_md5 = false;
    return task_end(&s.task, status, why);
}
