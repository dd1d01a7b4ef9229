/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Trees that are balanced by weight: a subtree has at most three times as many members as its sibling. */
#include "node/members.h"

struct member_tree {
    const member_tree *left, *right;
    xir_value     *v;
    size_t         n;
};

size_t members_count(const member_tree *m) { return m ? m->n : 0; }

xir_value *members_at(const member_tree *m, size_t i) {
    while (m) {
        const size_t before = members_count(m->left);
        if (i == before) return m->v;
        m = i < before ? m->left : m->right;
        if (i > before) i -= before + 1;
    }
    return NULL;
}

static const member_tree *make(conversion *c, const member_tree *left, xir_value *v, const member_tree *right) {
    member_tree *m = arena_take(&c->scratch, sizeof *m);
    c->no_memory |= !m;
    if (m) *m = (member_tree){ left, right, v, members_count(left) + 1 + members_count(right) };
    return m;
}

/* The same if one side may have one member too many or too few. */
static const member_tree *balanced(conversion *c, const member_tree *left, xir_value *v, const member_tree *right) {
    enum { WIDER = 3, TURNED = 2 };
    const size_t a = members_count(left), b = members_count(right);
    if (a + b > 1 && b > WIDER * a) {
        const member_tree *inner = right->left;
        if (members_count(inner) < TURNED * members_count(right->right))
            return make(c, make(c, left, v, inner), right->v, right->right);
        return make(c, make(c, left, v, inner->left), inner->v, make(c, inner->right, right->v, right->right));
    }
    if (a + b > 1 && a > WIDER * b) {
        const member_tree *inner = left->right;
        if (members_count(inner) < TURNED * members_count(left->left))
            return make(c, left->left, left->v, make(c, inner, v, right));
        return make(c, make(c, left->left, left->v, inner->left), inner->v, make(c, inner->right, v, right));
    }
    return make(c, left, v, right);
}

const member_tree *members_of(conversion *c, xir_value *const *v, size_t n) {
    if (!n) return NULL;
    const size_t middle = n / 2;
    const member_tree *left = members_of(c, v, middle), *right = members_of(c, v + middle + 1, n - middle - 1);
    return make(c, left, v[middle], right);
}

const member_tree *members_insert(conversion *c, const member_tree *m, size_t i, xir_value *v) {
    if (!m) return make(c, NULL, v, NULL);
    const size_t before = members_count(m->left);
    if (i <= before) return balanced(c, members_insert(c, m->left, i, v), m->v, m->right);
    return balanced(c, m->left, m->v, members_insert(c, m->right, i - before - 1, v));
}

const member_tree *members_erase(conversion *c, const member_tree *m, size_t i) {
    if (!m) return NULL;
    const size_t before = members_count(m->left);
    if (i < before) return balanced(c, members_erase(c, m->left, i), m->v, m->right);
    if (i > before) return balanced(c, m->left, m->v, members_erase(c, m->right, i - before - 1));
    if (!m->left || !m->right) return m->left ? m->left : m->right;
    return balanced(c, m->left, members_at(m->right, 0), members_erase(c, m->right, 0));
}

static xir_value **put(const member_tree *m, xir_value **to) {
    if (!m) return to;
    to = put(m->left, to);
    *to++ = m->v;
    return put(m->right, to);
}

xir_value **members_all(xir_node *at, const member_tree *m) {
    xir_value **all = node_take(at, (members_count(m) + 1) * sizeof *all);
    if (all) put(m, all);
    return all;
}
