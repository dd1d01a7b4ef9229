// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Questions about what stands where. A place is (u, v), across and along; on the screen that is (x, y), or (y, x) if the
// network is drawn from left to right.

const flip = ([u, v]) => scene.sideways ? [v, u] : [u, v];

// The origin of a group's interior, across and along.
const originOf = (g) => {
    let u = 0, v = 0;
    for (; g > 0; g = net.groups.parent[g]) {
        const vertex = net.groups.vertex[g];
        u += startOf(vertex) + insideAcross(g);
        v += scene.top[vertex] + insideAlong(g);
    }
    return [u, v];
};
const startOf = (vertex) => scene.c[vertex] - scene.w[vertex] / 2;
// The box of a vertex on the whole picture.
const boxOf = (vertex) => {
    const [u, v] = originOf(net.vertices.group[vertex]);
    const [x, y] = flip([u + startOf(vertex), v + scene.top[vertex]]);
    const [w, h] = flip([scene.w[vertex], scene.h[vertex]]);
    return { x, y, w, h };
};
const wholeBox = () => {
    const [w, h] = flip([scene.across[0], scene.along[0]]);
    return { x: 0, y: 0, w: Math.max(w, 1), h: Math.max(h, 1) };
};
// The vertex that shows another one: itself, or the outermost closed group around it.
const standIn = (vertex) => {
    for (let g = net.vertices.group[vertex]; g > 0; g = net.groups.parent[g]) {
        if (!scene.open[g]) vertex = net.groups.vertex[g];
    }
    return vertex;
};
// Opens what is around a vertex.
const reveal = (vertex) => {
    let changed = false;
    for (let g = net.vertices.group[vertex]; g > 0; g = net.groups.parent[g]) changed = setOpen(g, true) || changed;
    return changed;
};

// The first i in [from, to) with test(i), or `to`. The test must be false, then true.
const first = (from, to, test) => {
    while (from < to) {
        const middle = (from + to) >> 1;
        if (test(middle)) to = middle; else from = middle + 1;
    }
    return from;
};

// What is at a point of the picture: the innermost vertex, and the innermost open group around it with the point
// in that group's own coordinates. vertex -1: the ground.
const lookAt = (x, y) => {
    let [u, v] = flip([x, y]), g = 0;
    for (;;) {
        const end = net.groups.rank[g + 1];
        const rank = first(net.groups.rank[g], end, (r) => scene.rankTop[r] + scene.thick[r] > v);
        if (rank === end || scene.rankTop[rank] > v) return { vertex: -1, g, u, v, rank };
        const last = net.groups.row[rank + 1];
        const i = first(net.groups.row[rank], last, (j) => scene.c[j] + scene.w[j] / 2 > u);
        if (i === last || !isBox(i) || u < startOf(i) || v < scene.top[i] || v >= scene.top[i] + scene.h[i]) {
            return { vertex: -1, g, u, v, rank };
        }
        const inner = net.vertices.ref[i];
        if (net.vertices.kind[i] === NODE || !scene.open[inner]) return { vertex: i, g, u, v, rank };
        u -= startOf(i) + insideAcross(inner);
        v -= scene.top[i] + insideAlong(inner);
        g = inner;
        if (scene.sideways ? u < 0 : v < 0) return { vertex: i, g, u, v, rank: net.groups.rank[g] };     // its title
    }
};

// A segment in the coordinates of its group: from (a, p) straight to q, a curve to (b, r), and straight to s.
const path = { a: 0, p: 0, q: 0, b: 0, r: 0, s: 0, head: false };
const pathOf = (i) => {
    const { segments, vertices } = net, from = segments.from[i], to = segments.to[i];
    const above = vertices.rank[from], below = vertices.rank[to];
    path.a = scene.c[from] + scene.begin[i];
    path.b = scene.c[to] + scene.end[i];
    path.q = scene.rankTop[above] + scene.thick[above];
    path.p = isBox(from) ? scene.top[from] + scene.h[from] : scene.rankTop[above];
    path.r = scene.rankTop[below];
    path.s = isBox(to) ? scene.top[to] : path.r;
    path.head = vertices.kind[to] === NODE || (vertices.kind[to] === GROUP && !scene.open[vertices.ref[to]]);
};
// The value of the line near a point, -1 if there is none within `reach`.
const valueAt = ({ g, u, v, rank }, reach) => {
    const { groups, segments } = net, low = Math.max(groups.rank[g], rank - 1);
    let best = -1, near = reach;
    for (let i = segments.out[groups.row[low]]; i < segments.out[groups.row[Math.min(rank + 1, groups.rank[g + 1])]]; i++) {
        pathOf(i);
        if (v < path.p || v > path.s) continue;
        const away = Math.abs(acrossAt(v) - u);
        if (away < near) { near = away; best = segments.value[i]; }
    }
    return best;
};
// How far across the path is at a place along it. Its curve has the same form in both: three parts of a cube.
const acrossAt = (v) => {
    if (v <= path.q) return path.a;
    if (v >= path.r) return path.b;
    const goal = (v - path.q) / (path.r - path.q);
    let low = 0, high = 1;
    for (let step = 0; step < 12; step++) {
        const t = (low + high) / 2, o = 1 - t;
        if (1.5 * o * t + t ** 3 < goal) low = t; else high = t;
    }
    return path.a + (path.b - path.a) * (3 * low * low - 2 * low ** 3);
};
