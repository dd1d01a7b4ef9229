/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Places: compile targets of operations and memory types of values. Both are immutable objects of the context, and
 * files write each as one string. */
#ifndef XIR_PLACE_H
#define XIR_PLACE_H

#include <xir/op.h>

XIR_BEGIN

/* The kinds of targets: those of the library (targets.def), then, from XIR_TARGET_COUNT on, those registered with a
 * context, in the order of registration. A kind identifies a target in one context; files do not contain it. */
typedef enum xir_target_kind {
#define TARGET(id, KIND, ...)      XIR_TARGET_##KIND,
#define CORE_TARGET(id, KIND, ...) XIR_TARGET_##KIND,
#include <xir/targets.def>
#undef TARGET
#undef CORE_TARGET
    XIR_TARGET_COUNT,
    XIR_TARGET_MAX = 32    /* a context has no more */
} xir_target_kind;

/* Returns the target of a kind. `core` is the name of its core ("330"); targets without cores ignore it. NULL if memory
 * runs out, if the context does not have the kind, or if a target with cores (Zhuge) is given no core. */
XIR_API const xir_target *xir_target_of_kind(xir_context *ctx, xir_target_kind kind, const char *core);
/* Returns the kind of a target. NULL is the host. A class that this library does not know is XIR_TARGET_CUSTOM. */
XIR_API xir_target_kind   xir_target_kind_of(const xir_target *target);
/* Returns the core of a target that has one (Zhuge), empty for others. */
XIR_API xir_str           xir_target_core(const xir_target *target);

/* ---- rows of targets ---------------------------------------------------------------------------------------- */

/* A rule about the ops that a target runs. If a rule of a target names classes, the target runs no others than those
 * that its rules name. xir_op_try and xir_network_try (legal.h) ask the rules, and xir_network_validate asks them about
 * ops that have the target; building and inference ask none. Members that are zero say nothing. */
typedef struct xir_target_rule {
    xir_class_fn *cls;                   /* the class that it is about; NULL: see `key` and `traits`             */
    /* Returns true if an op keeps the rule. It sees attributes and types of inputs, and the types of the outputs, and
     * asks with the functions of infer.h. It is asked after check and inference have accepted the op: inputs that the
     * class needs have types, and dims may be unknown. If the op breaks the rule, the function may report the number
     * or text that breaks it (xir_rule_found), and reports nothing else. NULL: every op keeps the rule. */
    bool        (*holds)(xir_infer *at);
    const char   *needs;                 /* what must hold: "kernels of at most 7 x 7"; with `holds`             */
    const char   *mend;                  /* what would mend it: "split the kernel"; may be NULL. If its first word
                                            is the name of a pass, this pass does it                             */
    const char   *name;                  /* for programs: "conv-kernel", unique in the target; may be NULL       */
    const char   *source;                /* who says so: "code generation, Conv2d"; may be NULL                  */
    const char   *key;                   /* the class by its key, which need not be registered                   */
    uint64_t      traits;                /* classes that have these traits                                       */
    uint64_t      flags;                 /* XIR_RULE_...                                                         */
} xir_target_rule;

enum {
    XIR_RULE_NOTE     = 1,  /* a source hints at it, or sources disagree: breaking it is a note, and the op is legal  */
    XIR_RULE_TYPES    = 2,  /* about element types: see legal.h for when it is asked                                 */
    XIR_RULE_EXCLUDES = 4,  /* the target does not run the class, also if another rule names it; without `holds`      */
    XIR_RULE_COMPILED = 8   /* ops of the class are compiled already: no rule is asked about them; without `holds`    */
};

/* The description of a target. A context copies the row; its texts and lists must live as long as the context. The
 * struct may grow at its end. */
typedef struct xir_target_row {
    uint32_t       abi, size;     /* XIR_ABI, sizeof(xir_target_row)                                           */
    const char    *key;           /* of its class: letters, digits and "_:.-": "acme::NpuTarget"               */
    const char    *name;          /* in commands and messages: "npu". Lower case, digits and '-', up to 31 bytes */
    const char    *doc;           /* one line                                                                  */
    bool           accelerator;   /* its ops belong only in networks for it (xir_network_ai_target)            */
    const int64_t *tiles;         /* the tile sizes that its inference accepts (32 of NCHWc32), ended by 0;
                                     XIR_ANY_TILE: every size; NULL: no tiled layouts                          */
    const char    *cores;         /* the names of its cores, separated by blanks ("v1 v2"); NULL: it has no cores.
                                     Files may name other cores, which are kept                                */
    const xir_target_rule *rules; /* which ops it runs; NULL: every op that its inference accepts              */
    size_t         n_rules;
    size_t         rule_size;     /* sizeof(xir_target_rule), so that rules may grow; see XIR_TARGET_RULES     */
    uint64_t       flags;         /* XIR_TARGET_ADVISES, or 0                                                  */
} xir_target_row;

/* The rules are asked by legal.h alone: ops of the target that break them are valid. Files and passes may have such
 * ops, for instance because the rules are those of a later stage. */
enum { XIR_TARGET_ADVISES = 1 };

/* The members for an array of rules: = { XIR_TARGET_HEAD(…), XIR_TARGET_RULES(rules) } */
#define XIR_TARGET_RULES(array) \
    .rules = (array), .n_rules = sizeof(array) / sizeof *(array), .rule_size = sizeof *(array)

enum { XIR_ANY_TILE = -1 };

/* Sets the members that every row needs:
 *     = { XIR_TARGET_HEAD("acme::NpuTarget", "npu", "the NPU"), .accelerator = true } */
#define XIR_TARGET_HEAD(key_, name_, doc_)      \
    .abi = XIR_ABI, .size = sizeof(xir_target_row), .key = (key_), .name = (name_), .doc = (doc_)

/* Registers targets with the context, all or none. Each becomes a class (of objects, under icraft::xir::CompileTarget)
 * and gets a kind, so that functions can be registered for it. JSON and MessagePack write it as the map
 * {"_type_key":"acme::NpuTarget"}, with "core" if it has cores. FlatBuffers writes a CustomTarget with the same in
 * `extra`. A file's target without a registered row is kept unchanged and has the kind XIR_TARGET_CUSTOM;
 * xir_network_resolve turns it into a real one later.
 *
 *   XIR_E_ABI          a row was built for another XIR_ABI
 *   XIR_E_UNSUPPORTED  a row sets a member that this library does not know
 *   XIR_E_INVALID      a row is NULL or has a malformed key, name, list or rule
 *   XIR_E_EXISTS       a key or name is taken in the context, or appears in two rows
 *   XIR_E_LIMIT        there would be more than XIR_TARGET_MAX kinds
 *
 * Other threads may use the context at the same time. */
XIR_API xir_status xir_target_register(xir_context *ctx, const xir_target_row *const *rows, size_t n, xir_diags *why);

/* Replaces the rules of a target of the context by those of `from`, of which only the members about rules are read.
 * They must live as long as the context. XIR_E_BOUNDS if the context has no such kind; XIR_E_INVALID, XIR_E_ABI and
 * XIR_E_UNSUPPORTED as above; XIR_E_MEMORY. No other thread may ask the rules of this target meanwhile. */
XIR_API xir_status xir_target_set_rules(xir_context *ctx, int kind, const xir_target_row *from, xir_diags *why);

/* Returns the row of a kind, NULL past the last one. It lives as long as the context. */
XIR_API const xir_target_row *xir_target_row_at(xir_context *ctx, size_t kind);
/* Returns the row of a target, never NULL: for NULL that of the host, for a class without a row that of
 * XIR_TARGET_CUSTOM. */
XIR_API const xir_target_row *xir_target_row_of(const xir_target *target);
/* Returns the kind with this key ("acme::NpuTarget") or name ("npu"), -1 if there is none. */
XIR_API int                   xir_target_find(xir_context *ctx, xir_str word);
/* Returns the target with this key or name, without a core. NULL if there is none, if it has cores (xir_target_of_kind
 * takes the core), or if memory runs out. */
XIR_API const xir_target     *xir_target_named(xir_context *ctx, xir_str word);
/* Returns the target that a text names as people write it: a name or key, and the core after a colon or in brackets:
 * "buyi", "zhuge:330", "zhuge(330)". Without a core it is the first one of the row. NULL with a finding: XIR_E_UNKNOWN,
 * with a suggestion, also for a core of a target without cores; XIR_E_MEMORY. */
XIR_API const xir_target     *xir_target_parse(xir_context *ctx, xir_str text, xir_diags *why);

/* ORDER MTYPE: src/core/type/place.c */
typedef enum xir_mtype_kind { XIR_MTYPE_HOST, XIR_MTYPE_ONCHIP, XIR_MTYPE_EXTERNAL, XIR_MTYPE_CHUNK } xir_mtype_kind;

/* Make memory types. They return NULL if memory runs out. */
XIR_API const xir_mtype *xir_mtype_host(xir_context *ctx);
XIR_API const xir_mtype *xir_mtype_onchip(xir_context *ctx, uint64_t addr);
XIR_API const xir_mtype *xir_mtype_external(xir_context *ctx, uint64_t addr);
XIR_API const xir_mtype *xir_mtype_chunk(xir_context *ctx, uint64_t chunk_id, uint64_t offset);

/* The kind of memory; NULL is host memory. */
XIR_API xir_mtype_kind xir_mtype_kind_of(const xir_mtype *mtype);
/* The address in on-chip or external memory, the id of a chunk, 0 for the host. */
XIR_API uint64_t       xir_mtype_addr(const xir_mtype *mtype);
/* The offset in a chunk, 0 for other memory. */
XIR_API uint64_t       xir_mtype_offset(const xir_mtype *mtype);

XIR_END

#endif
