/* Where things are: compile targets of operations and memory types of values. Immutable objects of the context;
 * each is written as one string. */
#ifndef XIR_PLACE_H
#define XIR_PLACE_H

#include <xir/op.h>

XIR_BEGIN

/* The kinds of targets: the library's, by targets.def, and from XIR_TARGET_COUNT on those that a context was given, in
 * the order of their coming. A kind is the number of a target in one context and stands in no file. */
typedef enum xir_target_kind {
#define TARGET(id, KIND, ...)      XIR_TARGET_##KIND,
#define CORE_TARGET(id, KIND, ...) XIR_TARGET_##KIND,
#include <xir/targets.def>
#undef TARGET
#undef CORE_TARGET
    XIR_TARGET_COUNT,
    XIR_TARGET_MAX = 32    /* a context has no more */
} xir_target_kind;

/* Returns the target of a kind; `core` is the name of its core ("330"), ignored where it has none. NULL without memory,
 * for a kind that the context does not have, or for a Zhuge (or another target with cores) without a core. */
XIR_API const xir_target *xir_target_of_kind(xir_context *ctx, xir_target_kind kind, const char *core);
/* NULL is the host; a class that this library does not know is XIR_TARGET_CUSTOM. */
XIR_API xir_target_kind   xir_target_kind_of(const xir_target *target);
/* The core of a target that has one (Zhuge), empty for the others. */
XIR_API xir_str           xir_target_core(const xir_target *target);

/* ---- rows of targets ---------------------------------------------------------------------------------------- */

/* What is known about a target. A context copies the row; texts and lists stay as long as the context. Grows at its
 * end. */
typedef struct xir_target_row {
    uint32_t       abi, size;     /* XIR_ABI, sizeof(xir_target_row)                                           */
    const char    *key;           /* of its class, of letters, digits and "_:.-": "acme::NpuTarget"            */
    const char    *name;          /* in commands and sentences: "npu". Lower case, digits and '-', up to 31     */
    const char    *doc;           /* one line                                                                  */
    bool           accelerator;   /* its ops belong in networks for it only (xir_network_ai_target)            */
    const int64_t *tiles;         /* sizes of the tiles that its inference takes (32 of NCHWc32), 0 at the end;
                                     XIR_ANY_TILE: every size; NULL: no tiled layouts                          */
    const char    *cores;         /* names of its cores, with blanks between ("v1 v2"); NULL: it has no cores.
                                     Files may name other cores, which are kept                                */
} xir_target_row;

enum { XIR_ANY_TILE = -1 };

/* The members that are the same everywhere:
 *     = { XIR_TARGET_HEAD("acme::NpuTarget", "npu", "the NPU"), .accelerator = true } */
#define XIR_TARGET_HEAD(key_, name_, doc_)      \
    .abi = XIR_ABI, .size = sizeof(xir_target_row), .key = (key_), .name = (name_), .doc = (doc_)

/* Gives the context targets, all or none. Each is then a class (an object's, under icraft::xir::CompileTarget) and has
 * a kind, so that functions can be registered for it. In JSON and MessagePack it is the map
 * {"_type_key":"acme::NpuTarget"}, in which one with cores has "core"; in FlatBuffers a CustomTarget with the same in
 * `extra`. Where no row is known, a file's target is kept as it is, and its kind is XIR_TARGET_CUSTOM;
 * xir_network_resolve makes it real later.
 *
 *   XIR_E_ABI          a row was built for another XIR_ABI
 *   XIR_E_UNSUPPORTED  a row asks for what only a newer library has
 *   XIR_E_INVALID      a row is NULL, or has a key, name or list that is not one
 *   XIR_E_EXISTS       a key or name that the context has, or two rows have
 *   XIR_E_LIMIT        there would be more than XIR_TARGET_MAX kinds
 *
 * Other threads may use this context meanwhile. */
XIR_API xir_status xir_target_register(xir_context *ctx, const xir_target_row *const *rows, size_t n, xir_diags *why);

/* Returns the row of a kind, NULL past the last one. It lives as long as the context. */
XIR_API const xir_target_row *xir_target_row_at(xir_context *ctx, size_t kind);
/* Returns the row of a target: NULL is the host, a class without a row is XIR_TARGET_CUSTOM. Never NULL. */
XIR_API const xir_target_row *xir_target_row_of(const xir_target *target);
/* Returns the kind with this key ("acme::NpuTarget") or name ("npu"), -1 if there is none. */
XIR_API int                   xir_target_find(xir_context *ctx, xir_str word);

/* ORDER MTYPE: src/core/type/place.c */
typedef enum xir_mtype_kind { XIR_MTYPE_HOST, XIR_MTYPE_ONCHIP, XIR_MTYPE_EXTERNAL, XIR_MTYPE_CHUNK } xir_mtype_kind;

/* Memory types. NULL without memory. */
XIR_API const xir_mtype *xir_mtype_host(xir_context *ctx);
XIR_API const xir_mtype *xir_mtype_onchip(xir_context *ctx, uint64_t addr);
XIR_API const xir_mtype *xir_mtype_external(xir_context *ctx, uint64_t addr);
XIR_API const xir_mtype *xir_mtype_chunk(xir_context *ctx, uint64_t chunk_id, uint64_t offset);

/* Which kind of memory; NULL is the host's. */
XIR_API xir_mtype_kind xir_mtype_kind_of(const xir_mtype *mtype);
/* The address of on-chip and external memory, the chunk's number of a chunk, 0 for the host. */
XIR_API uint64_t       xir_mtype_addr(const xir_mtype *mtype);
/* The offset in a chunk, 0 elsewhere. */
XIR_API uint64_t       xir_mtype_offset(const xir_mtype *mtype);

/* Storage bits that `bits` of one element take in this memory: the same everywhere so far. */
XIR_API uint64_t xir_mtype_storage_bits(const xir_mtype *mtype, uint64_t bits);

XIR_END

#endif
