/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The inside of a context: allocator, class registry, pool of shared objects. The registry is a list that only
 * grows. One lock covers it and everything else, even walks over the list. The hot paths take no lock, because a
 * class that was found stays valid. */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include <pthread.h>
#include <stdatomic.h>
#include <xir/array.h>
#include <xir/class.h>
#include <xir/place.h>
#include <xir/type.h>
#include "budget.h"
#include "context_base.h"
#include "hash.h"
#include "object.h"
#include "registry.h"

/* The classes of types.def by number, so that making a type looks up none. */
#include <xir/decl_blank.h>
#undef OBJ
#define OBJ(id, key, base, traits, doc) CLASS_##id,
typedef enum class_number {
#include <xir/types.def>
    CLASS_COUNT
} class_number;
#include <xir/decl_off.h>

/* A shared object that is open for the context's life, or a description that is linked into the program. */
typedef struct plugin {
    void       *handle;   /* NULL: linked in                                       */
    const void *said;     /* the description; NULL: of a shared object             */
    xir_str name, path;
} plugin;

/* Why a type was not made: the sentence for the finding of the call that gets NULL in its place. Of one thread, so that
 * others do not read it. */
typedef struct type_refusal {
    bool      is_there;
    pthread_t by;
    char      words[240];
} type_refusal;

/* Keeps a sentence, or takes it: false if the thread has left none since. */
void context_refuse(xir_context *ctx, const char *format, ...) XIR_PRINTF(2, 3);
bool context_take_refusal(xir_context *ctx, char out[sizeof ((type_refusal *)0)->words]);

/* The function by which passes compute a constant: the executor puts it there. As xir_op_run, but with Params alone,
 * and within the budget. */
typedef xir_status run_op_fn(const xir_op *op, xir_array **outputs, size_t n_outputs, budget *within, xir_diags *why);

/* The rules for short lists of integers (items.h): the ops put them there. */
struct item_list;
typedef bool input_items_fn(void *user, const xir_value *v, struct item_list *out);
typedef bool op_items_fn(object_pool *pool, const xir_op *op, input_items_fn *of, void *user, struct item_list *out);

/* The functions that follow from a composition (compose.h), for classes that do not have their own. */
typedef struct composed_functions {
    xir_infer_fn  *infer, *check, *work, *takes, *needs;
    xir_kernel_fn *kernel;
} composed_functions;

/* The formats of formats.def. */
enum {
#define FORMAT(id, page, fuzz)  FORMAT_##id,
#define DIALECT FORMAT
#include "formats.def"
#undef DIALECT
#undef FORMAT
    FORMAT_COUNT
};

enum { TRAITS = 32 };   /* that programs and plug-ins may define: the high half of xir_trait */

struct xir_context {
    union {                         /* two names for the same members: base knows no more of a context */
        context_base base;
        struct {
            xir_allocator alloc;
            xir_limits    limits;
        };
    };
    atomic_size_t    references;
    pthread_mutex_t  lock;
    pthread_mutex_t  registering;   /* taken before `lock` when a class is registered             */
    type_refusal     refused;       /* with `lock`                                               */
    arena            arena;         /* classes                                                   */
    object_pool             pool;
    _Atomic(const xir_class *) first_class;
    const xir_class *last_class;
    text_table        keys;         /* keys and aliases, to indexes in `by_key`                   */
    const xir_class **by_key;
    size_t            by_key_room;
    const xir_class **forms;        /* classes with one-string spellings                         */
    size_t            n_forms, form_room;
    const xir_class *types[CLASS_COUNT];
    const xir_target *host;
    const xir_mtype  *host_mem;
    const xir_scales *no_scales;    /* the default of attributes like cut_scale                   */
    const xir_type   *fp32, *truth; /* the latter is bool                                          */
    const xir_class  *tensor_class;
    const xir_class  *input_class, *output_class;   /* of the ops that a view adds at its ends        */
    bool            (*is_params)(const xir_value *value);   /* set by the graph; objects only hold pointers to values */
    _Atomic uint32_t  infer_epoch;  /* incremented when an inference function is registered        */
    const xir_target_row *targets[XIR_TARGET_MAX];    /* by kind; staged ones follow                  */
    _Atomic uint32_t  n_targets;       /* incremented after their rows are stored                   */
    _Atomic uint32_t  tiled_targets;   /* bit of a kind: it accepts tiled layouts,                  */
    _Atomic uint32_t  choosy_targets;  /* but not of every size                                     */
    /* Traits with names, by their bits; those of a stage follow. The second changes when a class is given one. */
    xir_str           traits[TRAITS];
    uint32_t          n_traits;
    _Atomic uint32_t  trait_epoch;
    uint32_t          n_classes;       /* registered ones                                          */
    plugin           *plugins;      /* closed after everything that may point into them           */
    size_t            n_plugins, plugin_room;
    registry          lists[REGISTRY_COUNT];
    const struct format *formats[FORMAT_COUNT];   /* of the library, in the order of formats.def        */
    size_t            n_formats;
    struct pass_scope *scopes;      /* settings of runs that are current in some thread, newest first; with `lock` */
    run_op_fn        *run_op;       /* set by the executor; NULL until then                        */
    op_items_fn      *op_items;     /* set by the ops                                              */
    struct rooms_left *left;        /* memory of a run that the executor keeps for the next one; with `lock` */
    void            (*free_left)(xir_context *ctx);   /* set with it                                      */
    composed_functions composed;    /* of classes with a COMPOSED row: set by the graph and the executor */
    bool              as_calls;     /* texts of DeepX have no definitions but blocks                */
};

/* Returns true if a row is the dims of a tensor type: its second one. */
static inline bool field_is_shape(const xir_context *ctx, const xir_field *f) {
    return f == &ctx->tensor_class->fields[1];
}

/* Makes a context with nothing registered; NULL without memory. */
xir_context *context_make(const xir_allocator *allocator);

/* Classes that are registered together. A thread that has a stage holds `registering`. */
typedef struct class_stage {
    xir_context *ctx;
    xir_class  **classes;   /* sealed; the caller's array, with room for all of them */
    size_t       n;
    uint32_t     n_traits;  /* new ones, which follow the context's                  */
} class_stage;
/* Seals one more class, whose rows may refer to those before. On failure the stage is unchanged. */
xir_status stage_class(class_stage *stage, const xir_class_decl *decl, xir_diags *why);
/* The kind of the target with this key, on the stage or registered; -1 if there is none. Requires the lock. */
int        stage_target(const class_stage *stage, xir_str key);
/* The trait of this name, on the stage or registered; it gets on the stage if it is new. The name must live as long as
 * the context. 0 with a finding. Requires the lock. */
xir_trait  stage_trait(class_stage *stage, xir_str name, xir_status *status, xir_diags *why);
/* These require the lock too: makes room in the registry for all of them; then all enter it, which cannot fail. */
xir_status stage_reserve(const class_stage *stage, xir_diags *why);
void       stage_enter(const class_stage *stage);

/* The kind of target that a class of objects stands for, -1 if it is not a target. */
static inline int class_target(const xir_context *ctx, const xir_class *cls) {
    return cls->what && xir_class_is_a(cls, ctx->types[CLASS_target]) ? cls->what - 1 : -1;
}

/* The function that infers a class on a kind of tiled target for which it has no function of its own; NULL if there is
 * none. */
static inline xir_infer_fn *class_infer_tiled(const xir_class *cls, unsigned kind) {
    return cls->ctx->tiled_targets >> kind & 1 ? cls->more->infer_tiled : NULL;
}

/* The function that infers a class on a kind of target, other than the host's; NULL: the host's is used. */
static inline xir_infer_fn *class_infer_on(const xir_class *cls, unsigned kind) {
    xir_infer_fn *own = class_infer_of(cls, kind);
    return own ? own : class_infer_tiled(cls, kind);
}

static inline bool class_can_infer(const xir_class *cls, unsigned kind) {
    return cls->more->infer[XIR_TARGET_HOST] || class_infer_on(cls, kind);
}

/* Gives a class traits that have names. */
static inline void class_give_traits(xir_class *cls, xir_trait traits) {
    atomic_fetch_or_explicit(&cls->more->given_traits, (uint32_t)(traits >> TRAITS), memory_order_relaxed);
}

void context_retain(xir_context *ctx);

#endif
