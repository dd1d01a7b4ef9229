/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Short names for what hooks call most, and queries about values. The common sequences of ops are public: see
 * xir/convert.h. */
#ifndef CONVERT_HELPERS_H
#define CONVERT_HELPERS_H

#include "node/node.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define INS(...)      XIR_VALUES(__VA_ARGS__)
#define SETS(...)     XIR_SETS(__VA_ARGS__)
#define NO_SETS       XIR_NO_SETS
#define INT(name, v)  XIR_SETI(name, v)
#define REAL(name, v) XIR_SETR(name, v)
#define WORD(name, v) XIR_SETE(name, v)
#define LIST(name, v) XIR_SETL(name, v)
#define OBJ(name, v)  XIR_SETO(name, v)

/* Picks one of three texts by the number of spatial dims, 1 to 3. */
#define BY_RANK(n, one, two, three) ((n) == 1 ? (one) : (n) == 2 ? (two) : (three))

static inline size_t          v_rank(const xir_value *v) { return xir_type_rank(xir_value_type(v)); }
/* Negative: the dim is unknown. */
static inline int64_t         v_dim(const xir_value *v, size_t i) {
    return xir_type_dim(xir_value_type(v), (int64_t)i, false);
}
static inline const xir_type *v_element(const xir_value *v) { return xir_type_element(xir_value_type(v)); }
static inline bool            v_is_integer(const xir_value *v) {
    return xir_type_kind_of(v_element(v)) == XIR_TYPE_INTEGER;
}
static inline bool            v_is_real(const xir_value *v) { return xir_type_kind_of(v_element(v)) == XIR_TYPE_FLOAT; }
static inline bool            v_is_bool(const xir_value *v) { return xir_type_kind_of(v_element(v)) == XIR_TYPE_BOOL; }
static inline bool            v_is_open(const xir_value *v) { return xir_type_has_unknown_dim(xir_value_type(v)); }

static inline bool node_is_class(const xir_node *at, const char *name) {
    return xir_str_equal(xir_node_type(at), xir_str_of(name));
}

static inline xir_value *make_reshaped(xir_node *at, xir_value *x, const xir_ints *dims) {
    return xir_node_reshaped(at, x, dims, NULL);
}

/* Dims of 1, and n along the axis: what broadcasts over the other axes. */
xir_ints node_line(xir_node *at, size_t rank, size_t axis, int64_t n);
/* A list as a line along an axis. */
static inline xir_value *make_line(xir_node *at, xir_value *v, size_t rank, size_t axis) {
    const xir_ints dims = node_line(at, rank, axis, v ? v_dim(v, 0) : 0);
    return make_reshaped(at, v, &dims);
}
/* Adds dims of 1 before and after those of x: its first dim becomes dim `from`. */
xir_value *make_widened(xir_node *at, xir_value *x, size_t rank, size_t from);

/* The last two dims exchanged; x if it has less. */
xir_value *make_swapped(xir_node *at, xir_value *x);

/* Returns true if the dims are the same; unknown ones are. */
bool type_same_dims(const xir_type *a, const xir_type *b);
bool type_has_dims(const xir_type *type, const int64_t *dims, size_t n);
static inline bool v_same_dims(const xir_value *a, const xir_value *b) {
    return type_same_dims(xir_value_type(a), xir_value_type(b));
}

/* The element type of a value in words of tensor formats, "float" or "int64". */
const char *element_words(const xir_value *v, char out[40]);

/* The place of one of the first ten inputs, for a finding: "input/3". */
typedef struct input_place { char text[16]; } input_place;
static inline input_place place_of_input(size_t i) {
    return (input_place){ { 'i', 'n', 'p', 'u', 't', '/', (char)('0' + i), 0 } };
}

/* The axis in an attribute, counted from the start; false after a failure, with a finding if it is out of bounds. */
bool node_axis(xir_node *at, const char *name, int64_t otherwise, size_t rank, int64_t *out);
/* Checks the number of dims of v, input i. */
bool node_has_rank(xir_node *at, size_t i, const xir_value *v, size_t rank);

/* A length that the conversion writes out is at most `most`. If not, the node stays, and the reason has what it is the
 * length of, printed with its arguments, and both numbers: "dim 2 is 5000000: a conversion takes at most 1048576". */
bool node_at_most(xir_node *at, int64_t found, int64_t most, const char *what, ...) XIR_PRINTF(4, 5);
/* The same for the number of elements of known dims: "the mask has 4096*4096 elements: …". */
bool node_elements_at_most(xir_node *at, const xir_ints *dims, int64_t most, const char *what);

/* `n` reals in memory of the conversion; NULL after a failure. */
double *node_reals(xir_node *at, int64_t n);

/* The two factors of an Add; if there is one for each channel, the node is kept. */
bool node_factors(xir_node *at, double *alpha, double *beta);
/* Returns true if input i of two is one number of a constant that does not add dims to the other input. */
bool node_is_number(xir_node *at, size_t i, double *out);

/* The least positive number of reals; 0 for other elements. A norm above 0 is not less. */
double node_least_real(const xir_type *element);

/* data[i, indices[i, j], j] = updates[i, j]: the index replaces the coordinate along the axis. `reduction` combines
 * updates and elements: none, add, mul, max or min. */
xir_value *make_scattered(xir_node *at, xir_value *data, xir_value *indices, xir_value *updates, size_t axis,
                          xir_str reduction);

/* The product of items [from, to); -1 if one of them is unknown, or on overflow. */
int64_t product_of(const xir_ints *list, size_t from, size_t to);

#endif
