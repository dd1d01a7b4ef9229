/* Element types of foreign formats, by their codes there: how they are called, how wide they are, and which
 * element type stands for them. A format has one table; its reader and its conversion both ask it. */
#ifndef CORE_ELEMENT_CODES_H
#define CORE_ELEMENT_CODES_H

#include "elements.h"

typedef struct element_code {
    const char *name;      /* as the format calls it                                  */
    uint16_t    bits;      /* of one element; 0: texts, or not known                  */
    uint8_t     kind;      /* element_kind; ELEMENT_NONE: no element type stands for it  */
    uint8_t     format;    /* xir_float_format, of floats                             */
    uint8_t     numbers;   /* that make up one element: 2 of complex ones             */
} element_code;

typedef struct element_codes { const element_code *rows; size_t n; } element_codes;

extern const element_codes element_codes_onnx;   /* by TensorProto.DataType */

/* NULL if the format has no such code. */
static inline const element_code *element_code_at(const element_codes *codes, uint64_t code) {
    return code < codes->n ? &codes->rows[code] : NULL;
}
/* The element type that stands for a code; NULL if none does (`e` NULL too), or without memory. */
const xir_type *element_code_type(xir_context *ctx, const element_code *e);

#endif
