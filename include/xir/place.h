/* Where things are: compile targets of operations and memory types of values. Immutable objects of the context;
 * each is written as one string. */
#ifndef XIR_PLACE_H
#define XIR_PLACE_H

#include <xir/op.h>

XIR_BEGIN

/* ORDER TARGET: src/core/type/place.c */
typedef enum xir_target_kind {
    XIR_TARGET_HOST,
    XIR_TARGET_FPGA,
    XIR_TARGET_CUSTOM,
    XIR_TARGET_BUYI,
    XIR_TARGET_ZHUGE,
    XIR_TARGET_WOLONG,
    XIR_TARGET_COUNT
} xir_target_kind;

/* Returns the target of a kind; `core` is Zhuge's ("330") and ignored elsewhere. NULL without memory, or for a Zhuge without
 * a core. */
XIR_API const xir_target *xir_target_of_kind(xir_context *ctx, xir_target_kind kind, const char *core);
/* NULL is the host; a class that this library does not know is XIR_TARGET_CUSTOM. */
XIR_API xir_target_kind   xir_target_kind_of(const xir_target *target);
/* The core of a Zhuge target, empty for the others. */
XIR_API xir_str           xir_target_core(const xir_target *target);

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
