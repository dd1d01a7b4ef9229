/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Plug-ins: opens a shared object, checks its description, and adds its parts to the context, all or none. Whatever can
 * fail comes first; on failure the shared object is closed again, and nothing in the context points into it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xir/plugin.h>
#include "context.h"
#include "elf.h"
#include "sized.h"
#include "types.h"

#define ENTRY "xir_plugin_entry"

/* Adds a finding about the file at `path`. */
static XIR_PRINTF(4, 5) xir_status fail(xir_diags *why, const char *path, xir_status code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    diag_failv(why, &(xir_diag){ .severity = XIR_ERROR, .code = code, .file = xir_str_of(path), .byte = XIR_NO_BYTE },
               format, list);
    va_end(list);
    return code;
}

/* ---- the shared object ------------------------------------------------------------------------------------- */

/* The system's loader reports little about a missing file, would wait for a pipe, and crashes on a truncated file. */
static xir_status check_file(const char *path, xir_diags *why) {
    struct stat s;
    if (stat(path, &s) != 0) return fail(why, path, XIR_E_IO, "cannot be loaded: %s", strerror(errno));
    if (!S_ISREG(s.st_mode)) return fail(why, path, XIR_E_IO, "cannot be loaded: it is not a regular file");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(why, path, XIR_E_IO, "cannot be loaded: %s", strerror(errno));
    const uint64_t size = (uint64_t)s.st_size, needs = elf_needs(fd, size);
    close(fd);
    if (needs <= size) return XIR_OK;
    return fail(why, path, XIR_E_CORRUPT,
                "the file is cut off: it has %" PRIu64 " bytes, its headers speak of %" PRIu64, size, needs);
}

/* The loader's message begins with the path, which the finding already has. */
static const char *loader_words(const char *path) {
    const char *words = dlerror();
    if (!words) return "no reason is given";
    size_t n = strlen(path);
    return strncmp(words, path, n) == 0 && words[n] == ':' && words[n + 1] == ' ' ? words + n + 2 : words;
}

/* Makes the symbols of the object that contains this library visible to other objects. A program that opens the library
 * with RTLD_LOCAL, as Python does, hides them, and a plug-in is linked with nothing. */
static void show_library(void) {
    static const char here = 0;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname) return;
    void *self = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (self) dlclose(self);
}

static xir_status open_object(const xir_allocator *alloc, const char *path, void **handle, xir_diags *why) {
    xir_status status = check_file(path, why);
    if (status) return status;
    /* A name without '/' would be searched in the system's folders. */
    size_t room = strlen(path) + sizeof "./";
    char *plain = mem_new(alloc, room);
    if (!plain) return diag_memory(why);
    snprintf(plain, room, "%s%s", strchr(path, '/') ? "" : "./", path);
    *handle = dlopen(plain, RTLD_NOW | RTLD_LOCAL);
    if (!*handle) {
        show_library();
        errno = 0;
        *handle = dlopen(plain, RTLD_NOW | RTLD_LOCAL);
    }
    if (!*handle && errno == ENOMEM) status = diag_memory(why);
    else if (!*handle)
        status = fail(why, path, XIR_E_UNSUPPORTED, "the system cannot load it: %s", loader_words(plain));
    mem_free(alloc, plain, room);
    return status;
}

/* ---- its description ---------------------------------------------------------------------------------------- */

/* The members that every plug-in has at least. */
enum {
    LEAST_SIZE   = SIZE_TO(xir_plugin, n_conversions),
    LEAST_INFER  = SIZE_TO(xir_plugin_infer, infer),
    LEAST_KERNEL = SIZE_TO(xir_plugin_kernel, run)
};

static xir_status ask_plugin(void *handle, const char *path, const xir_plugin **said, xir_diags *why) {
    union { void *object; const xir_plugin *(*call)(void); } entry = { dlsym(handle, ENTRY) };   /* as POSIX wants it */
    if (!entry.object) return fail(why, path, XIR_E_MISSING, "there is no " ENTRY " in it: it is not a plug-in");
    *said = entry.call();
    return *said ? XIR_OK : fail(why, path, XIR_E_INVALID, ENTRY " gives NULL");
}

/* Copies as much of the description as there is. It must not use members that only a newer library knows. */
static xir_status read_plugin(const xir_plugin *said, const char *path, xir_plugin *out, xir_diags *why) {
    if (said->abi != XIR_ABI) {
        return fail(why, path, XIR_E_ABI,
                    "the plug-in was built for version %u of the binary interface, this library has %u",
                    said->abi, XIR_ABI);
    }
    if (said->size < LEAST_SIZE) {
        return fail(why, path, XIR_E_ABI, "the plug-in's description has %u bytes, at least %d were expected",
                    said->size, (int)LEAST_SIZE);
    }
    size_t strange = sized_beyond(said, sizeof *out, said->size);
    if (strange < said->size) {
        return fail(why, path, XIR_E_UNSUPPORTED,
                    "the plug-in sets a member that this version does not know: byte %zu of its description is set, "
                    "its size here is %zu", strange, sizeof *out);
    }
    *out = (xir_plugin){ 0 };
    memcpy(out, said, said->size < sizeof *out ? said->size : sizeof *out);
    return XIR_OK;
}

/* The items that it brings for a list of the context, as an array of pointers. */
typedef struct listed { const void *const *items; size_t n; } listed;

static const struct { registry_kind kind; const char *noun, *nouns; size_t items, n; } lists[] = {
    { REGISTRY_PASS,       "pass",       "passes",      offsetof(xir_plugin, passes),      offsetof(xir_plugin, n_passes)      },
    { REGISTRY_CONVERSION, "conversion", "conversions", offsetof(xir_plugin, conversions), offsetof(xir_plugin, n_conversions) },
    { REGISTRY_DIALECT,    "dialect",    "dialects",    offsetof(xir_plugin, dialects),    offsetof(xir_plugin, n_dialects)    },
    { REGISTRY_FORMAT,     "format",     "formats",     offsetof(xir_plugin, formats),     offsetof(xir_plugin, n_formats)     },
    { REGISTRY_SCHEME,     "scheme",     "schemes",     offsetof(xir_plugin, schemes),     offsetof(xir_plugin, n_schemes)     },
};
enum { LISTS = sizeof lists / sizeof *lists };

static listed list_of(const xir_plugin *p, size_t l) {
    listed list;
    memcpy((void *)&list.items, (const char *)p + lists[l].items, sizeof list.items);
    memcpy(&list.n, (const char *)p + lists[l].n, sizeof list.n);
    return list;
}

/* Item `i` of a list of the plug-in, as this library knows it. False if it sets members that this library does not
 * know. */
static bool take_item(const void *items, size_t i, size_t size, size_t known, void *out) {
    const char *item = (const char *)items + i * size;
    memset(out, 0, known);
    memcpy(out, item, size < known ? size : known);
    return sized_beyond(item, known, size) == size;
}

static bool infer_at(const xir_plugin *p, size_t i, xir_plugin_infer *out) {
    return take_item(p->infers, i, p->infer_size, sizeof *out, out);
}

static bool kernel_at(const xir_plugin *p, size_t i, xir_plugin_kernel *out) {
    return take_item(p->kernels, i, p->kernel_size, sizeof *out, out);
}

static xir_status check_infer(const xir_plugin *p, size_t i, const char *path, xir_diags *why) {
    xir_plugin_infer infer;
    if (!infer_at(p, i, &infer)) {
        return fail(why, path, XIR_E_UNSUPPORTED, "inference %zu of the plug-in sets a member that this version does not know", i);
    }
    if (!infer.cls || !infer.cls() || !infer.infer) {
        return fail(why, path, XIR_E_INVALID, "inference %zu of the plug-in is NULL", i);
    }
    if (!infer.target_key && (infer.target < 0 || infer.target >= XIR_TARGET_COUNT)) {
        return fail(why, path, XIR_E_INVALID, "inference %zu of the plug-in is for no known target", i);
    }
    return XIR_OK;
}

static xir_status check_kernel(const xir_plugin *p, size_t i, const char *path, xir_diags *why) {
    xir_plugin_kernel kernel;
    if (!kernel_at(p, i, &kernel)) {
        return fail(why, path, XIR_E_UNSUPPORTED, "kernel %zu of the plug-in sets a member that this version does not know", i);
    }
    if (kernel.cls && kernel.cls() && kernel.run) return XIR_OK;
    return fail(why, path, XIR_E_INVALID, "kernel %zu of the plug-in is NULL", i);
}

static xir_status check_plugin(const xir_plugin *p, const char *path, xir_diags *why) {
    /* In another copy of the library the text has another address. */
    if (!p->library || p->library() != xir_version()) {
        return fail(why, path, XIR_E_ABI, "the plug-in uses another copy of the library (%s) than the program (%s)",
                    p->library ? p->library() : "none", xir_version());
    }
    if (!p->name || !*p->name) return fail(why, path, XIR_E_INVALID, "the plug-in has no name");
    if (p->n_classes && !p->classes)
        return fail(why, path, XIR_E_INVALID, "the list of classes of the plug-in is NULL, but its length is %zu", p->n_classes);
    if (p->n_infers && !p->infers)
        return fail(why, path, XIR_E_INVALID, "the list of inferences of the plug-in is NULL, but its length is %zu", p->n_infers);
    if (p->n_kernels && !p->kernels)
        return fail(why, path, XIR_E_INVALID, "the list of kernels of the plug-in is NULL, but its length is %zu", p->n_kernels);
    for (size_t l = 0; l < LISTS; l++) {
        listed list = list_of(p, l);
        if (list.n && !list.items) {
            return fail(why, path, XIR_E_INVALID, "the list of %s of the plug-in is NULL, but its length is %zu",
                        lists[l].nouns, list.n);
        }
    }
    if (p->n_targets && !p->targets) {
        return fail(why, path, XIR_E_INVALID, "the list of targets of the plug-in is NULL, but its length is %zu", p->n_targets);
    }
    for (size_t i = 0; i < p->n_classes; i++) {
        if (!p->classes[i] || !p->classes[i]())
            return fail(why, path, XIR_E_INVALID, "class %zu of the plug-in is NULL", i);
    }
    for (size_t i = 0; i < p->n_traits; i++) {
        if (!p->traits || !p->traits[i].cls || !p->traits[i].cls() || !p->traits[i].trait)
            return fail(why, path, XIR_E_INVALID, "trait %zu of the plug-in is NULL", i);
    }
    if ((p->n_infers && p->infer_size < LEAST_INFER) || (p->n_kernels && p->kernel_size < LEAST_KERNEL)) {
        return fail(why, path, XIR_E_ABI,
                    "the plug-in's inferences have %u bytes and its kernels %u, at least %d and %d were expected",
                    p->infer_size, p->kernel_size, (int)LEAST_INFER, (int)LEAST_KERNEL);
    }
    xir_status status = XIR_OK;
    for (size_t i = 0; i < p->n_infers && !status; i++) status = check_infer(p, i, path, why);
    for (size_t i = 0; i < p->n_kernels && !status; i++) status = check_kernel(p, i, path, why);
    return status;
}

/* ---- adding it ---------------------------------------------------------------------------------------------- */

/* Sealed classes that are not visible yet, functions for classes, and items for lists. */
typedef struct arrival {
    class_stage    stage;
    xir_class    **infers;    /* the class of each inference */
    xir_class    **kernels;   /* and of each kernel          */
    xir_class    **bearers;   /* and of each trait           */
    xir_trait     *traits;
    uintptr_t     *on;        /* the target of each inference */
    registry_item *items;     /* of all lists */
    size_t         n_items;
} arrival;

/* Findings about classes and passes do not name a file: repeats the first one with it. Returns `status`. */
static xir_status hand_on(xir_diags *found, const char *path, xir_status status, xir_diags *why) {
    const xir_diag *first = xir_diags_at(found, 0);
    if (first) fail(why, path, status, "%.*s", (int)first->message.size, first->message.data);
    else if (status) diag_memory(why);
    xir_diags_free(found);
    return status;
}

static xir_status stage_classes(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    for (size_t i = 0; i < p->n_classes; i++) {
        xir_diags *found = why ? xir_diags_new(a->stage.ctx) : NULL;
        xir_status status = hand_on(found, path, stage_class(&a->stage, p->classes[i](), found), why);
        if (status) return status;
    }
    return XIR_OK;
}

static xir_status stage_targets(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    xir_diags *found = why ? xir_diags_new(a->stage.ctx) : NULL;
    return hand_on(found, path, targets_stage(&a->stage, p->targets, p->n_targets, found), why);
}

static xir_status check_lists(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    for (size_t l = 0; l < LISTS; l++) {
        listed list = list_of(p, l);
        size_t n = 0;
        for (size_t i = 0; i < list.n; i++)
            if (!list.items[i])
                return fail(why, path, XIR_E_INVALID, "%s %zu of the plug-in is NULL", lists[l].noun, i);
        xir_diags *found = why ? xir_diags_new(a->stage.ctx) : NULL;
        xir_status status = registry_check(a->stage.ctx, lists[l].kind, list.items, list.n, a->items + a->n_items, &n,
                                           found);
        if (hand_on(found, path, status, why)) return status;
        a->n_items += n;
    }
    return XIR_OK;
}

/* The target of a row or an inference. */
static int target_of(const class_stage *stage, const char *key, int target) {
    if (!key) return target;
    pthread_mutex_lock(&stage->ctx->lock);
    int kind = stage_target(stage, xir_str_of(key));
    pthread_mutex_unlock(&stage->ctx->lock);
    return kind;
}

/* Returns true if a class infers on a target by a function that its rows do not name. */
static bool is_taken(const class_stage *stage, const xir_class *cls, unsigned target) {
    xir_infer_fn *fn = NULL;
    row_walk w;
    for (const xir_row *row = row_first(&w, cls->decl); row->decl != XIR_DECL_END; row = row_next(&w)) {
        if (row->decl != XIR_DECL_INFER || row->flags & XIR_INFER_TILED) continue;
        if (target_of(stage, row->name, row->target) == (int)target) fn = row->fn;
    }
    return class_infer_of(cls, target) != fn;
}

static xir_class *class_of(const class_stage *stage, const xir_class_decl *decl) {
    for (size_t i = 0; i < stage->n; i++) {
        if (stage->classes[i]->decl == decl) return stage->classes[i];
    }
    return (xir_class *)(uintptr_t)xir_class_find_decl(stage->ctx, decl);
}

/* Returns true if an earlier inference of the plug-in is for the same class and target. */
static bool infers_twice(const arrival *a, size_t i) {
    for (size_t k = 0; k < i; k++) {
        if (a->infers[k] == a->infers[i] && a->on[k] == a->on[i]) return true;
    }
    return false;
}

static xir_status find_infers(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    for (size_t i = 0; i < p->n_infers; i++) {
        xir_plugin_infer infer;
        infer_at(p, i, &infer);
        xir_class *cls = a->infers[i] = class_of(&a->stage, infer.cls());
        const char *key = infer.cls()->rows ? infer.cls()->rows->name : "?";
        if (!cls || !cls->is_op) {
            return fail(why, path, XIR_E_UNKNOWN, "inference %zu is of %s, which is not a registered operation", i, key);
        }
        int target = target_of(&a->stage, infer.target_key, infer.target);
        if (target < 0) {
            return fail(why, path, XIR_E_UNKNOWN, "inference %zu is on %s, which is not a registered target", i,
                        infer.target_key);
        }
        a->on[i] = (uintptr_t)target;
        if (!is_taken(&a->stage, cls, (unsigned)target) && !infers_twice(a, i)) continue;
        return fail(why, path, XIR_E_EXISTS, "inference of %s on %s has been registered already", key,
                    a->stage.ctx->targets[target]->name);
    }
    return XIR_OK;
}

static xir_status find_kernels(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    for (size_t i = 0; i < p->n_kernels; i++) {
        xir_plugin_kernel kernel;
        kernel_at(p, i, &kernel);
        const xir_class_decl *decl = kernel.cls();
        xir_class *cls = a->kernels[i] = class_of(&a->stage, decl);
        const char *key = decl->rows ? decl->rows->name : "?";
        if (!cls || !cls->is_op) {
            return fail(why, path, XIR_E_UNKNOWN, "kernel %zu is of %s, which is not a registered operation", i, key);
        }
        for (size_t k = 0; k < i; k++) {
            if (a->kernels[k] == cls) return fail(why, path, XIR_E_EXISTS, "there are two kernels of %s", key);
        }
    }
    return XIR_OK;
}

static xir_status find_traits(arrival *a, const xir_plugin *p, const char *path, xir_diags *why) {
    for (size_t i = 0; i < p->n_traits; i++) {
        const xir_class_decl *decl = p->traits[i].cls();
        a->bearers[i] = class_of(&a->stage, decl);
        if (!a->bearers[i]) {
            return fail(why, path, XIR_E_UNKNOWN, "trait %zu is of %s, which is not a registered class", i,
                        decl->rows ? decl->rows->name : "?");
        }
        xir_diags *found = why ? xir_diags_new(a->stage.ctx) : NULL;
        xir_status status = XIR_OK;
        pthread_mutex_lock(&a->stage.ctx->lock);
        a->traits[i] = stage_trait(&a->stage, xir_str_of(p->traits[i].trait), &status, found);
        pthread_mutex_unlock(&a->stage.ctx->lock);
        if (!status && !(a->traits[i] >> TRAITS))
            status = diag_fail(found, XIR_E_INVALID, XIR_STR(""), "trait %zu, %s, is the library's: expected another",
                               i, p->traits[i].trait);
        if (hand_on(found, path, status, why)) return status;
    }
    return XIR_OK;
}

/* For a caller that holds the lock. */
static xir_status stage_lists(const arrival *a, const char *path, xir_diags *why) {
    xir_diags *found = why ? xir_diags_new(a->stage.ctx) : NULL;
    return hand_on(found, path, registry_stage(a->stage.ctx, a->items, a->n_items, found), why);
}

/* The source of a plug-in: a shared object, or the program. */
typedef struct source { void *handle; const void *said; } source;

/* A copy of what the list of plug-ins holds. */
static bool describe(xir_context *ctx, const xir_plugin *p, const char *path, source from, plugin *out) {
    *out = (plugin){ .handle = from.handle, .said = from.said };
    return arena_text(&ctx->arena, xir_str_of(p->name), &out->name) &&
           arena_text(&ctx->arena, xir_str_of(path), &out->path);
}

/* For a caller that holds the lock. */
static void enter_functions(const arrival *a, const xir_plugin *p) {
    xir_plugin_infer infer;
    xir_plugin_kernel kernel;
    for (size_t i = 0; i < p->n_infers; i++) {
        infer_at(p, i, &infer);
        class_set_infer(a->infers[i], (unsigned)a->on[i], infer.infer);
    }
    for (size_t i = 0; i < p->n_kernels; i++) {
        kernel_at(p, i, &kernel);
        class_set_kernel(a->kernels[i], kernel.run);
    }
    for (size_t i = 0; i < p->n_traits; i++) class_give_traits(a->bearers[i], a->traits[i]);
    if (p->n_infers) a->stage.ctx->infer_epoch++;
    if (p->n_traits) a->stage.ctx->trait_epoch++;
}

/* The last that may fail; then it is in. */
static xir_status let_in(const arrival *a, const xir_plugin *p, const char *path, source from, xir_diags *why) {
    xir_context *ctx = a->stage.ctx;
    plugin record;
    pthread_mutex_lock(&ctx->lock);
    xir_status status = stage_reserve(&a->stage, why);
    for (size_t i = 0; i < p->n_infers && !status; i++) {
        if (!class_reserve_infer(a->infers[i], (unsigned)a->on[i])) status = diag_memory(why);
    }
    if (!status) status = stage_lists(a, path, why);
    if (!status &&
        (!mem_reserve(&ctx->alloc, (void **)&ctx->plugins, &ctx->plugin_room, ctx->n_plugins + 1, sizeof record) ||
         !describe(ctx, p, path, from, &record))) {
        status = diag_memory(why);
    }
    if (!status) {
        enter_functions(a, p);
        registry_enter(ctx, a->items, a->n_items);
        stage_enter(&a->stage);
        targets_enter(ctx, p->n_targets);
        ctx->plugins[ctx->n_plugins++] = record;
    }
    pthread_mutex_unlock(&ctx->lock);
    return status;
}

/* The number of bytes for the lists of an arrival; 0 if they exceed the limit. */
static size_t room_for(xir_context *ctx, const xir_plugin *p) {
    enum { MOST = 1 << 24 };
    size_t items = 0;
    for (size_t l = 0; l < LISTS; l++) {
        const listed list = list_of(p, l);
        const size_t n = list.n > MOST ? list.n : registry_count(ctx, lists[l].kind, list.items, list.n);
        if (n > MOST) return 0;
        items += n;
    }
    if (p->n_targets > MOST || p->n_classes > MOST || p->n_infers > MOST || p->n_kernels > MOST ||
        p->n_traits > MOST) return 0;
    size_t pointers = p->n_targets + p->n_classes + 2 * p->n_infers + p->n_kernels + p->n_traits + 1;
    return pointers * sizeof(void *) + p->n_traits * sizeof(xir_trait) + items * sizeof(registry_item);
}

static xir_status arrive(xir_context *ctx, const xir_plugin *p, const char *path, source from, xir_diags *why) {
    size_t room = room_for(ctx, p);
    arrival a = { .stage = { .ctx = ctx } };
    void *block = room ? mem_new(&ctx->alloc, room) : NULL;
    if (!block) return diag_memory(why);
    a.traits = block;
    a.stage.classes = (xir_class **)(void *)(a.traits + p->n_traits);
    a.infers = a.stage.classes + p->n_targets + p->n_classes;
    a.kernels = a.infers + p->n_infers;
    a.bearers = a.kernels + p->n_kernels;
    a.on = (uintptr_t *)(void *)(a.bearers + p->n_traits);
    a.items = (registry_item *)(void *)(a.on + p->n_infers);
    xir_status status = stage_targets(&a, p, path, why);
    if (!status) status = stage_classes(&a, p, path, why);
    if (!status) status = find_infers(&a, p, path, why);
    if (!status) status = find_kernels(&a, p, path, why);
    if (!status) status = find_traits(&a, p, path, why);
    if (!status) status = check_lists(&a, p, path, why);
    if (!status) status = let_in(&a, p, path, from, why);
    mem_free(&ctx->alloc, block, room);
    return status;
}

static bool is_loaded(xir_context *ctx, source from) {
    bool loaded = false;
    pthread_mutex_lock(&ctx->lock);
    for (size_t i = 0; i < ctx->n_plugins; i++) {
        loaded |= ctx->plugins[i].handle == from.handle && ctx->plugins[i].said == from.said;
    }
    pthread_mutex_unlock(&ctx->lock);
    return loaded;
}

static xir_status let_in_checked(xir_context *ctx, const xir_plugin *said, const char *path, source from,
                                 xir_diags *why) {
    xir_plugin p;
    xir_status status = read_plugin(said, path, &p, why);
    if (!status) status = check_plugin(&p, path, why);
    return status ? status : arrive(ctx, &p, path, from, why);
}

/* ---- for programs ------------------------------------------------------------------------------------------ */

xir_status xir_plugin_load(xir_context *ctx, const char *path, xir_diags *why) {
    source from = { 0 };
    const xir_plugin *said = NULL;
    xir_status status = open_object(&ctx->alloc, path, &from.handle, why);
    if (status) return status;
    pthread_mutex_lock(&ctx->registering);
    bool again = is_loaded(ctx, from);
    if (!again) {
        status = ask_plugin(from.handle, path, &said, why);
        if (!status) status = let_in_checked(ctx, said, path, from, why);
    }
    pthread_mutex_unlock(&ctx->registering);
    if (again || status) dlclose(from.handle);
    return status;
}

/* The name of a description; it is read before anything is known of it but its version and size. */
static const char *name_of(const xir_plugin *said) {
    bool has_name = said->abi == XIR_ABI && said->size >= LEAST_SIZE && said->name;
    return has_name && *said->name ? said->name : "a plug-in of the program";
}

xir_status xir_plugin_add(xir_context *ctx, const xir_plugin *said, xir_diags *why) {
    if (!said) return diag_fail(why, XIR_E_INVALID, XIR_STR(""), "expected the description of a plug-in, found NULL");
    source from = { .said = said };
    pthread_mutex_lock(&ctx->registering);
    xir_status status = is_loaded(ctx, from) ? XIR_OK : let_in_checked(ctx, said, name_of(said), from, why);
    pthread_mutex_unlock(&ctx->registering);
    return status;
}
