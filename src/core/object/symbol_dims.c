/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types with symbolic dims. The dims of such a type are followed in memory by the pool that its symbols belong to;
 * other types are as large as ever. Interning such a type in another pool makes its expressions again there; what
 * the other pool cannot have becomes unknown. */
#include "symbol_table.h"

/* A dim, or the pool, which follows the last dim. */
typedef union pool_word { int64_t dim; object_pool *pool; } pool_word;

object_pool *tensor_pool(const xir_tensor_type *type) {
    if (!type->head.hash || !dims_symbolic(type->shape)) return NULL;
    return ((const pool_word *)(const void *)type->shape.data)[type->shape.size].pool;
}

bool tensor_set_pool(object_pool *pool, xir_tensor_type *copy) {
    if (!dims_symbolic(copy->shape)) return true;
    pool_word *words = arena_take(&pool->arena, (copy->shape.size + 1) * sizeof *words);
    if (!words) return false;
    for (size_t i = 0; i < copy->shape.size; i++) words[i].dim = copy->shape.data[i];
    words[copy->shape.size].pool = pool;
    copy->shape.data = &words[0].dim;
    return true;
}

/* A body of a program or rule (without a hash) has handles of the pool for which it is made. */
static int64_t moved_dim(object_pool *pool, const object_pool *owner, int64_t dim) {
    if (!dim_is_symbolic(dim)) return dim;
    if (pool->lock) return XIR_UNKNOWN_DIM;   // a context has no symbols
    if (owner) return dim_of_expr(expr_translate(pool, owner, dim));
    return expr_is_of(pool, dim) ? dim : XIR_UNKNOWN_DIM;
}

const xir_object *tensor_intern_moved(object_pool *pool, const xir_tensor_type *type) {
    enum { FEW = 8 };
    xir_tensor_type moved = *type;
    int64_t few[FEW], *dims = few;
    const object_pool *owner = tensor_pool(type);
    const size_t rank = type->shape.size;
    const xir_allocator *alloc = pool->arena.alloc;
    if (rank > FEW) dims = mem_new(alloc, rank * sizeof *dims);
    if (!dims) return NULL;
    for (size_t i = 0; i < rank; i++) dims[i] = moved_dim(pool, owner, type->shape.data[i]);
    moved.head.hash = 0;
    moved.shape.data = dims;
    const xir_object *made = pool->symbols && expr_no_memory(pool) ? NULL : pool_intern_settled(pool, &moved.head);
    if (dims != few) mem_free(alloc, dims, rank * sizeof *dims);
    return made;
}
