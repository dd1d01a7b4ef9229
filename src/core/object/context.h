/* The context's insides: allocator, class registry, home of shared objects. The registry is a list that only grows.
 * It and everything else is under one lock, walking the list too; the hot paths take no lock, since a class that was
 * found stays. */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include <stdatomic.h>
#include <xir/exec.h>
#include <xir/plugin.h>
#include "budget.h"
#include "context_base.h"
#include "hash.h"
#include "object.h"
#include "registry.h"

/* The classes of types.def by number, so that making a type looks none up. */
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

/* How passes compute a constant: the executor puts it there. As xir_op_run, but with Params alone, and within the
 * budget. */
typedef xir_status run_op_fn(const xir_op *op, xir_array **outputs, size_t n_outputs, budget *within, xir_diags *why);

struct xir_context {
    union {                         /* one thing under two names: base knows no more of a context  */
        context_base base;
        struct {
            xir_allocator alloc;
            xir_limits    limits;
        };
    };
    atomic_size_t    references;
    pthread_mutex_t  lock;
    pthread_mutex_t  registering;   /* taken before `lock` by who registers a class               */
    type_refusal     refused;       /* with `lock`                                               */
    arena            arena;         /* classes                                                   */
    object_pool             pool;
    _Atomic(const xir_class *) first_class;
    const xir_class *last_class;
    text_table        keys;         /* keys and aliases, to places in `by_key`                    */
    const xir_class **by_key;
    size_t            by_key_room;
    const xir_class **forms;        /* classes with one-string spellings                         */
    size_t            n_forms, form_room;
    const xir_class *types[CLASS_COUNT];
    const xir_target *host;
    const xir_mtype  *host_mem;
    const xir_scales *no_scales;    /* default of attributes like cut_scale                       */
    const xir_type   *fp32;
    const xir_class  *tensor_class;
    const xir_class  *input_class, *output_class;   /* of ops that a view puts at its ends            */
    bool            (*is_params)(const xir_value *value);   /* of the graph: objects hold values they know nothing of */
    _Atomic uint32_t  infer_epoch;  /* grows when an inference function is registered              */
    const xir_target_row *targets[XIR_TARGET_MAX];    /* by kind; those that are staged come after    */
    _Atomic uint32_t  n_targets;       /* grows when their rows are there                           */
    _Atomic uint32_t  tiled_targets;   /* bit of a kind: it takes tiled layouts,                    */
    _Atomic uint32_t  choosy_targets;  /* but not of every size                                     */
    plugin           *plugins;      /* closed after all that may point into them                  */
    size_t            n_plugins, plugin_room;
    registry          lists[REGISTRY_COUNT];
    run_op_fn        *run_op;       /* of the executor; NULL: there is none                        */
};

/* A context with nothing registered; NULL without memory. */
xir_context *context_make(const xir_allocator *allocator);

/* Classes that are registered together. Whoever has one holds `registering`. */
typedef struct class_stage {
    xir_context *ctx;
    xir_class  **classes;   /* sealed; the caller's, with room for all that will come */
    size_t       n;
} class_stage;
/* Seals one more, whose rows may refer to those before. On failure the stage is as before. */
xir_status stage_class(class_stage *stage, const xir_class_decl *decl, xir_diags *why);
/* The kind of target that has this key, on the stage or registered; -1: there is none such. With the lock. */
int        stage_target(const class_stage *stage, xir_str key);
/* For who holds the lock too: room in the registry for all of them; then all enter it, which cannot fail. */
xir_status stage_reserve(const class_stage *stage, xir_diags *why);
void       stage_enter(const class_stage *stage);

/* The kind of target that a class of objects is, -1 if it is none. */
static inline int class_target(const xir_context *ctx, const xir_class *cls) {
    return cls->what && xir_class_is_a(cls, ctx->types[CLASS_target]) ? cls->what - 1 : -1;
}

/* The function that infers a class on a kind of target with tiles for which it has none of its own; NULL: there is
 * none. */
static inline xir_infer_fn *class_infer_tiled(const xir_class *cls, unsigned kind) {
    return cls->ctx->tiled_targets >> kind & 1 ? cls->infer_tiled : NULL;
}

/* The function that infers a class on a kind of target that is not the host's own; NULL: the host's does. */
static inline xir_infer_fn *class_infer_on(const xir_class *cls, unsigned kind) {
    xir_infer_fn *own = class_infer_of(cls, kind);
    return own ? own : class_infer_tiled(cls, kind);
}

static inline bool class_can_infer(const xir_class *cls, unsigned kind) {
    return cls->infer[XIR_TARGET_HOST] || class_infer_on(cls, kind);
}

void context_retain(xir_context *ctx);

#endif
