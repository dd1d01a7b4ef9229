/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Axes by their letters: where the axes of an order are in a value of XIR, and a value whose axes are in that order. */
#include <string.h>
#include "node/node.h"
#include "types.h"

/* The letter that axis i of a value without letters has: feature maps have channels last, and a kernel has the first
 * letters of `order` last, in reverse. An order that ends in channels is XIR's own. */
static char usual_letter(xir_str order, size_t i) {
    const size_t rank = order.size;
    if (rank >= 3 && strchr("CIO", order.data[rank - 1])) return order.data[i];
    if (rank >= 3 && order.data[0] == 'N' && order.data[1] == 'C')
        return i == 0 ? 'N' : i + 1 == rank ? 'C' : order.data[i + 1];
    return i + 2 < rank ? order.data[i + 2] : order.data[rank - 1 - i];
}

static char plain_letter(char c, size_t rank) { return c == 'L' && rank == 3 ? 'W' : c; }

/* The letters of a value with a layout, or NULL: those of XIR's usual order are in place of missing ones. */
static bool letters_of(const xir_layout *layout, xir_str order, char out[8]) {
    const size_t rank = order.size;
    char has[8];
    bool used[8] = { false };
    if (rank > 7 || rank < 2) return false;
    const bool named = layout && layout_letters(layout, has, sizeof has) == rank;
    for (size_t i = 0; i < rank; i++) {
        const char own = named ? plain_letter(has[i], rank) : '*';
        out[i] = own == '*' ? usual_letter(order, i) : own;
    }
    for (size_t i = 0; i < rank; i++) {   /* each letter of the order once */
        size_t k = 0;
        while (k < rank && (used[k] || order.data[k] != out[i])) k++;
        if (k == rank) return false;
        used[k] = true;
    }
    return true;
}

static known_axes find_axes(const xir_layout *layout, xir_str order) {
    known_axes found = { .same = true };
    char letters[8];
    found.found = letters_of(layout, order, letters);
    for (size_t i = 0; found.found && i < order.size; i++) {
        uint8_t k = 0;
        while (letters[k] != order.data[i]) k++;
        found.axes[i] = k;
        found.same &= k == i;
    }
    return found;
}

/* The axes are found once for each pair of texts that differs from the latest ones. */
static known_axes axes_of(conversion *c, const xir_layout *layout, xir_str order) {
    const xir_str text = layout ? xir_layout_text(layout) : (xir_str){ NULL, 0 };
    uint64_t has = 0, wants = 0;
    if (text.size > sizeof has || order.size > sizeof wants) return find_axes(layout, order);
    if (text.size) memcpy(&has, text.data, text.size);
    memcpy(&wants, order.data, order.size);
    known_axes *known = &c->axes[hash_mix(has, wants) % (sizeof c->axes / sizeof *c->axes)];
    if (known->wants != wants || known->has != has) {
        *known = find_axes(layout, order);
        known->has = has;
        known->wants = wants;
    }
    return *known;
}

bool node_axes_in(xir_node *at, const xir_value *v, xir_str order, int64_t axes[8], bool *same) {
    *same = true;
    if (v && xir_type_rank(xir_value_type(v)) != order.size)
        return xir_node_unsupported(at, "a tensor of %zu dims", xir_type_rank(xir_value_type(v)));
    const known_axes known = v ? axes_of(at->c, xir_type_layout(xir_value_type(v)), order) : (known_axes){ .wants = 0 };
    if (!known.found) return xir_node_unsupported(at, "axes with other letters");
    for (size_t i = 0; i < order.size; i++) axes[i] = known.axes[i];
    *same = known.same;
    return true;
}

xir_value *node_in_order(xir_node *at, xir_value *v, xir_str order) {
    int64_t axes[8];
    char letters[9] = "";
    bool same;
    if (xir_node_failed(at) || !v || !order.size) return v;
    if (!node_axes_in(at, v, order, axes, &same)) return NULL;
    memcpy(letters, order.data, order.size);
    return same ? v : xir_node_transposed(at, v, axes, order.size, order.size > 2 ? letters : NULL);
}

/* Returns true if each axis of v has a letter of its own. */
static bool names_all(const xir_layout *layout, size_t rank) {
    if (!layout || xir_layout_rank(layout) != rank) return false;
    for (size_t k = 0; k < rank; k++) {
        const char letter = xir_layout_axis(layout, k);
        if (letter == '*' || xir_layout_index(layout, letter) != (int64_t)k) return false;
    }
    return true;
}

bool node_cast_axes(const xir_value *x, const xir_value *y, int64_t axes[8]) {
    const xir_layout *from = xir_type_layout(xir_value_type(x)), *to = xir_type_layout(xir_value_type(y));
    const size_t rank = xir_type_rank(xir_value_type(x));
    if (rank > 8 || xir_type_rank(xir_value_type(y)) != rank) return false;
    bool named = names_all(from, rank) && names_all(to, rank);
    for (size_t k = 0; named && k < rank; k++) named = xir_layout_has(from, xir_layout_axis(to, k));
    for (size_t k = 0; k < rank; k++) axes[k] = named ? xir_layout_index(from, xir_layout_axis(to, k)) : (int64_t)k;
    return true;
}

bool node_casts_in_place(xir_node *at, const xir_value *x, const xir_value *y) {
    int64_t axes[8];
    const size_t rank = xir_type_rank(xir_value_type(x));
    bool same = node_cast_axes(x, y, axes);
    for (size_t k = 0; same && k < rank; k++) {
        const int64_t was = xir_type_dim(xir_value_type(x), (int64_t)k, false),
                      now = xir_type_dim(xir_value_type(y), (int64_t)k, false);
        same = axes[k] == (int64_t)k && (was == now || was < 0 || now < 0);
    }
    return same || xir_node_unsupported(at, "a cast that moves elements");
}
