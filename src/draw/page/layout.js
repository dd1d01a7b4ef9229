// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Coordinates of what is open: the algorithm that src/draw/picture.h specifies, in integers. place.c has it too, and a
// test compares both. `across` is the direction of a rank, `along` that in which ranks follow each other.

const PAD = 14, TITLE = 20, SWEEPS = 8;
const GAP_BOX = 28, GAP_MIXED = 18, GAP_LINE = 12, GAP_RANK = 28, GAP_PORT = 12, GAP_MOST = 960;

// Where everything is, relative to the interior of its group. c: centre across; top: beginning along; w, h: sizes
// across and along. begin, end: of segments, see findEnds. rankTop, thick: of all ranks. across, along: the interior of
// a group.
const scene = { sideways: false };

const makeScene = () => {
    const { ops, groups, vertices } = net, n = vertices.kind.length;
    let widest = 0;
    for (let r = 0; r + 1 < groups.row.length; r++) widest = Math.max(widest, groups.row[r + 1] - groups.row[r]);
    Object.assign(scene, {
        c: new Int32Array(n), top: new Int32Array(n), w: new Int32Array(n), h: new Int32Array(n),
        begin: new Int32Array(net.segments.from.length), end: new Int32Array(net.segments.from.length),
        rankTop: new Int32Array(groups.row.length), thick: new Int32Array(groups.row.length),
        across: new Int32Array(groups.n), along: new Int32Array(groups.n),
        open: new Uint8Array(groups.n), stale: new Uint8Array(groups.n).fill(1), standing: null,
        offset: new Int32Array(widest + 1), block: [0, 1, 2, 3, 4].map(() => new Float64Array(widest + 1)),
        depth: groups.depth.reduce((a, b) => Math.max(a, b), 0),
    });
    scene.open[0] = 1;
    sizeOps();
};
const sizeOps = () => {
    const { ops } = net, [w, h] = scene.sideways ? [ops.height, ops.width] : [ops.width, ops.height];
    for (let op = 0; op < ops.n; op++) {
        scene.w[ops.vertex[op]] = w[op];
        scene.h[ops.vertex[op]] = h[op];
    }
};

const isBox = (v) => net.vertices.kind[v] <= GROUP;
const distance = (a, b) => (scene.w[a] + scene.w[b]) / 2 +
    (isBox(a) ? (isBox(b) ? GAP_BOX : GAP_MIXED) : isBox(b) ? GAP_MIXED : GAP_LINE);

// Where segments begin and end in open groups: at the place of their value, from the centre of the group's box.
const findEnds = (g) => {
    const { groups, segments } = net, { begin, end } = scene;
    for (let i = groups.segment[g]; i < groups.segment[g + 1]; i++) {
        begin[i] = portOf(segments.from[i], EXIT, segments.value[i]);
        end[i] = portOf(segments.to[i], ENTRY, segments.value[i]);
    }
};
const portOf = (v, kind, value) => {
    const g = net.vertices.ref[v];
    if (net.vertices.kind[v] !== GROUP || !scene.open[g]) return 0;
    const port = net.groups.port.get(portKey(g, kind, value));
    return port === undefined ? 0 : insideAcross(g) + scene.c[port] - scene.w[v] / 2;
};

// A box that nothing leads to, or from.
const isEnd = (v) => {
    const { out, into } = net.segments;
    return isBox(v) && (out[v] === out[v + 1] || into.start[v] === into.start[v + 1]);
};
// The wish of a vertex and its class, from its neighbours in the rank before (down) or after. Only those of the highest
// class count.
const wish = { at: 0, rank: 0 };
const wishOf = (v, down) => {
    const { segments, vertices: { kind } } = net, { c, begin, end } = scene, line = kind[v] === LINE, last = isEnd(v);
    const list = down ? segments.into.start : segments.out;
    let sum = 0, n = 0, best = 0;
    for (let i = list[v]; i < list[v + 1]; i++) {
        const s = down ? segments.into.item[i] : i, u = down ? segments.from[s] : segments.to[s];
        const rank = line !== (kind[u] === LINE) ? 1 : line || last || isEnd(u) ? 2 : 3;
        if (rank < best) continue;
        if (rank > best) { best = rank; sum = n = 0; }
        sum += c[u] + (down ? begin[s] - end[s] : end[s] - begin[s]);
        n++;
    }
    wish.at = n ? Math.floor(sum / n) : c[v];
    wish.rank = last ? 0 : best;
};

// Places a rank: every vertex as near to its wish as its neighbours allow. Vertices that push each other are a block.
const placeRank = (r, down) => {
    const { c, offset, block: [rank, sum, size, at, end] } = scene;
    const from = net.groups.row[r], to = net.groups.row[r + 1];
    let last = -1;
    for (let v = from; v < to; v++) {
        offset[v - from] = v === from ? 0 : offset[v - from - 1] + distance(v - 1, v);
        wishOf(v, down);
        last++;
        rank[last] = wish.rank;
        sum[last] = at[last] = wish.at - offset[v - from];
        size[last] = 1;
        end[last] = v + 1;
        while (last > 0 && at[last - 1] > at[last]) {
            const before = last - 1;
            if (rank[before] === rank[last]) {
                sum[before] += sum[last];
                size[before] += size[last];
            } else if (rank[before] < rank[last]) {
                rank[before] = rank[last];
                sum[before] = sum[last];
                size[before] = size[last];
            }
            at[before] = Math.floor(sum[before] / size[before]);
            end[before] = end[last];
            last = before;
        }
    }
    for (let b = 0, v = from; b <= last; b++) for (; v < end[b]; v++) c[v] = at[b] + offset[v - from];
};

const placeGroup = (g) => {
    const { groups, vertices, segments } = net, { c, w, h, top, rankTop, thick } = scene;
    const from = groups.first[g], to = groups.first[g + 1], low = groups.rank[g], high = groups.rank[g + 1];
    scene.across[g] = scene.along[g] = 0;
    if (from === to) return;
    findEnds(g);
    for (let r = low; r < high; r++) {
        for (let v = groups.row[r]; v < groups.row[r + 1]; v++) {
            c[v] = v === groups.row[r] ? w[v] / 2 : c[v - 1] + distance(v - 1, v);
        }
    }
    for (let sweep = 0; sweep < SWEEPS; sweep++) {
        if (sweep % 2 === 0) for (let r = low + 1; r < high; r++) placeRank(r, true);
        else for (let r = high - 2; r >= low; r--) placeRank(r, false);
    }
    let least = Infinity, most = -Infinity;
    for (let v = from; v < to; v++) {
        least = Math.min(least, c[v] - w[v] / 2);
        most = Math.max(most, c[v] + w[v] / 2);
    }
    for (let v = from; v < to; v++) c[v] -= least;
    scene.across[g] = most - least + (most - least) % 2;
    for (let r = low, y = 0; r < high; r++) {
        const begin = groups.row[r], end = groups.row[r + 1];
        let deep = 0, far = 0;
        for (let v = begin; v < end; v++) deep = Math.max(deep, h[v]);
        rankTop[r] = y;
        thick[r] = deep;
        for (let v = begin; v < end; v++) top[v] = y + (deep - h[v]) / 2;
        scene.along[g] = y += deep;
        if (r + 1 === high) break;
        for (let i = segments.out[begin]; i < segments.out[end]; i++) {
            far = Math.max(far, Math.abs(c[segments.from[i]] + scene.begin[i] - c[segments.to[i]] - scene.end[i]));
        }
        const ports = vertices.kind[begin] === ENTRY || vertices.kind[end] === EXIT;
        y += (ports ? GAP_PORT : GAP_RANK) + 2 * Math.floor(Math.min(far, GAP_MOST) / 16);
    }
};

// The size of a group's box, across and along, and where its interior begins in it.
const sizeGroup = (g) => {
    const { groups } = net, v = groups.vertex[g];
    if (v < 0) return;
    const [a, l] = scene.sideways ? [scene.along[g], scene.across[g]] : [scene.across[g], scene.along[g]];
    const width = scene.open[g] ? Math.max(a, groups.room[g]) + 2 * PAD : groups.width[g];
    const height = scene.open[g] ? l + 2 * PAD + TITLE : groups.height[g];
    [scene.w[v], scene.h[v]] = scene.sideways ? [height, width] : [width, height];
};
const insideAcross = (g) => g === 0 ? 0 : scene.sideways ? PAD + TITLE
    : PAD + (scene.w[net.groups.vertex[g]] - 2 * PAD - scene.across[g]) / 2;
const insideAlong = (g) => g === 0 ? 0 : scene.sideways ? PAD : PAD + TITLE;

// Computes every open group whose contents changed, the inner ones first.
const settle = () => {
    const { groups } = net, standing = scene.standing = new Uint8Array(groups.n);
    standing[0] = 1;
    for (let g = 1; g < groups.n; g++) standing[g] = standing[groups.parent[g]] & scene.open[groups.parent[g]];
    for (let g = groups.n - 1; g >= 0; g--) {
        if (!standing[g]) continue;
        if (scene.stale[g] && scene.open[g]) {
            placeGroup(g);
            scene.stale[g] = 0;
        }
        sizeGroup(g);
    }
};
const setOpen = (g, open) => {
    if (g === 0 || scene.open[g] === Number(open)) return false;
    scene.open[g] = Number(open);
    for (let at = g; at >= 0; at = net.groups.parent[at]) scene.stale[at] = 1;
    return true;
};
// Opens the groups above a depth, and closes the others.
const openTo = (depth) => {
    let changed = false;
    for (let g = 1; g < net.groups.n; g++) {
        const open = Number(net.groups.depth[g] < depth);
        if (scene.open[g] === open) continue;
        scene.open[g] = open;
        changed = true;
    }
    if (changed) scene.stale.fill(1);
    return changed;
};
const turn = (sideways) => {
    scene.sideways = sideways;
    sizeOps();
    scene.stale.fill(1);
};
