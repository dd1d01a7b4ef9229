/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Element types of foreign formats, by their codes there: their names, their widths, and the element types of XIR that
 * stand for them. A format has one table, which its reader and its conversion use. */
#ifndef CORE_ELEMENT_CODES_H
#define CORE_ELEMENT_CODES_H

#include "elements.h"

typedef struct element_code {
    const char *name;      /* in the format                                           */
    uint16_t    bits;      /* of one element; 0: texts, or unknown                    */
    uint8_t     kind;      /* element_kind; ELEMENT_NONE: no element type stands for it  */
    uint8_t     format;    /* xir_float_format, of floats                             */
    uint8_t     numbers;   /* per element: 2 for complex ones                         */
} element_code;

typedef struct element_codes { const element_code *rows; size_t n; } element_codes;

extern const element_codes element_codes_onnx;   /* by TensorProto.DataType        */
extern const element_codes element_codes_pnnx;   /* by the numbers of PNNX's types */
extern const element_codes element_codes_tsm;    /* by TensorStack's DTYPE         */

/* Returns NULL if the format has no such code. */
static inline const element_code *element_code_at(const element_codes *codes, uint64_t code) {
    return code < codes->n ? &codes->rows[code] : NULL;
}
/* The element type that stands for a code; NULL if there is none (or `e` is NULL), or if memory runs out. */
const xir_type *element_code_type(xir_context *ctx, const element_code *e);

#endif
