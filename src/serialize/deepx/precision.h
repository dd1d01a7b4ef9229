/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Types of DeepX: the values that a slot may hold, and their elements, both as sets. "tensor<float64|float32>" */
#ifndef SERIALIZE_DEEPX_PRECISION_H
#define SERIALIZE_DEEPX_PRECISION_H

#include "element_codes.h"
#include "memory.h"

enum { DEEPX_VAR = 1, DEEPX_VECTOR = 2, DEEPX_TENSOR = 4, DEEPX_LISTTENSOR = 8 };
enum {
    DEEPX_FLOATS = 0x007F, DEEPX_FLOAT8S = 0x0030, DEEPX_INTS = 0x1F00, DEEPX_BOOL = 0x2000, DEEPX_STRING = 0x8000,
    DEEPX_ANY = 0xFFFF
};

typedef struct deepx_type {
    uint8_t  category;       /* the bits above; 0: the file gives none                      */
    uint16_t precision;      /* the bits of the executor; DEEPX_ANY                         */
    bool     set;            /* written as a group, as any, or with alternatives            */
    bool     alternatives;   /* a group or alternatives                                     */
    bool     capital;        /* some letter of the category is a capital                    */
    bool     seed;           /* fp8 or fp4, which only the first description has            */
    bool     printed;        /* the text is what is printed                                 */
} deepx_type;

typedef struct deepx_type_fault { const char *what; xir_str word; } deepx_type_fault;

/* Reads a type; false with the fault. */
bool deepx_type_read(xir_str text, deepx_type *out, deepx_type_fault *fault);
/* Appends it as the executor prints it: in one order, groups as their members. */
void deepx_type_print(buffer *out, deepx_type type);
/* Element types by the number of their bit. */
extern const element_codes deepx_elements;
/* The number of the only bit of a precision; SIZE_MAX if it has several. */
static inline size_t deepx_element_of(uint16_t precision) {
    size_t n = 0;
    while (n < 16 && precision != 1u << n) n++;
    return n < 16 ? n : SIZE_MAX;
}

#endif
