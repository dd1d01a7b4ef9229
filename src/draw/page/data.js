// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The document that html.c writes: strings, and columns of numbers that name them. Every column of integers holds the
// differences between neighbours, which are short. Here they become typed arrays, and what follows from them is
// computed: who uses a value, where an op stands.

const NODE = 0, GROUP = 1, ENTRY = 2, EXIT = 3, LINE = 4;       // kinds of vertices: src/draw/picture.h
let net = null;

const column = (differences) => {
    const out = new Int32Array(differences.length);
    for (let i = 0, at = 0; i < out.length; i++) {
        out[i] = at += differences[i];
        if (out[i] !== at) return Float64Array.from(differences, (d, k) => (at = k ? at + d : d));     // large ids
    }
    return out;
};
// Starts of runs from their sizes: run i is [start[i], start[i + 1]).
const starts = (sizes) => {
    const out = new Int32Array(sizes.length + 1);
    for (let i = 0; i < sizes.length; i++) out[i + 1] = out[i] + sizes[i];
    return out;
};
// Lists by key: the positions i with keys[i] == k, in order, are item[start[k]] … item[start[k + 1] - 1].
const byKey = (keys, n) => {
    const sizes = new Int32Array(n);
    for (const key of keys) if (key >= 0) sizes[key]++;
    const start = starts(sizes), at = start.slice(), item = new Int32Array(start[n]);
    for (let i = 0; i < keys.length; i++) if (keys[i] >= 0) item[at[keys[i]]++] = i;
    return { start, item };
};
const columns = (table) => {
    const out = {};
    for (const key in table) out[key] = column(table[key]);
    return out;
};

const readNet = (text) => readDocument(JSON.parse(text));
const readDocument = (doc) => {
    const made = { ...doc };
    for (const key of ['ops', 'values', 'sets', 'groups', 'vertices', 'segments']) made[key] = columns(doc[key]);
    const { ops, values, sets, groups } = made;
    ops.n = ops.id.length;
    values.n = values.id.length;
    groups.n = groups.parent.length;
    ops.inStart = starts(ops.ins);
    ops.outStart = starts(ops.outs);         // outputs of ops are the first values, in order
    sets.start = starts(sets.size);
    for (let i = 0; i < ops.in.length; i++) ops.in[i] -= 1;      // -1: absent
    values.maker = new Int32Array(values.n).fill(-1);
    ops.of = new Int32Array(ops.in.length);  // the op that has an input
    for (let op = 0; op < ops.n; op++) {
        values.maker.fill(op, ops.outStart[op], ops.outStart[op + 1]);
        ops.of.fill(op, ops.inStart[op], ops.inStart[op + 1]);
    }
    values.uses = byKey(ops.in, values.n);
    placeNames(made);
    findStubs(made);
    made.diff = doc.diff ? readDiff(columns(doc.diff), ops) : null;
    return made;
};

// With --diff: the ops of two networks are in one graph. change: bits of CHANGES. was: the number of an op in the first
// network. lost: how many inputs, the last ones, only the op of that one has. line: 1 for a segment of the first network
// alone, 2 for the second one. rows: of fields that differ; those of the networks come last. upTo: how many ops before
// an op differ.
const CHANGES = [[1, 'removed', '−'], [2, 'added', '+'], [4, 'moved', '>'], [8, 'changed', '~']];
const readDiff = (diff, ops) => {
    diff.start = starts(diff.rows);
    diff.upTo = starts(diff.change.map((bits) => Number(bits !== 0)));
    diff.counts = CHANGES.map(([bit]) => diff.change.reduce((n, bits) => n + Number((bits & bit) !== 0), 0));
    diff.ops = [ops.n - diff.counts[1], ops.n - diff.counts[0]];
    return diff;
};
const changeOf = (op) => net.diff ? net.diff.change[op] : 0;
const isGone = (op) => (changeOf(op) & 1) === 1;
const signOf = (bits) => CHANGES.filter(([bit]) => bits & bit).map((row) => row[2]).join('');
const changeWords = (bits) => CHANGES.filter(([bit]) => bits & bit).map((row) => row[1]).join(' and ');
const differing = (begin, end) => net.diff ? net.diff.upTo[end] - net.diff.upTo[begin] : 0;

// Uses that are too far away for a line have a note at both ends. A closed group has those of its ops that lead out.
// stubs.up and stubs.down: by vertex, the ops at the other end.
const findStubs = (made) => {
    const { ops, values, groups } = made, up = new Map(), down = new Map();
    const note = (map, vertex, op) => map.has(vertex) ? map.get(vertex).push(op) : map.set(vertex, [op]);
    const holds = (g, op) => groups.begin[g] <= op && op < groups.end[g];
    const noteAll = (map, op, other) => {
        note(map, ops.vertex[op], other);
        let g = made.vertices.group[ops.vertex[op]];
        for (; g > 0 && !holds(g, other); g = groups.parent[g]) note(map, groups.vertex[g], other);
    };
    for (const i of column(made.stubs)) {
        const from = values.maker[ops.in[i]], to = ops.of[i];
        noteAll(down, from, to);
        noteAll(up, to, from);
    }
    made.stubs = { up, down };
};

// What stands where: ranks of groups, vertices of ops and groups, segments at a vertex. A group comes after the one that
// holds it, so loops over numbers replace recursion.
const placeNames = ({ ops, groups, vertices, segments, ranks }) => {
    const n = vertices.kind.length;
    groups.first = starts(groups.vertices);
    groups.rank = starts(groups.ranks);
    groups.segment = starts(groups.segments);
    groups.depth = new Int32Array(groups.n);
    groups.next = new Int32Array(groups.n).fill(groups.n);   // the first group behind it that is not in it
    groups.children = new Int32Array(groups.n);
    vertices.group = new Int32Array(n);
    ops.vertex = new Int32Array(ops.n).fill(-1);
    groups.vertex = new Int32Array(groups.n).fill(-1);
    groups.port = new Map();
    for (let g = 0; g < groups.n; g++) {
        const parent = groups.parent[g], base = groups.first[g];
        groups.depth[g] = g ? groups.depth[parent] + 1 : 0;
        for (let i = base; i < groups.first[g + 1]; i++) {
            const kind = vertices.kind[i], ref = vertices.ref[i];
            vertices.group[i] = g;
            if (kind <= GROUP) groups.children[g]++;
            if (kind === NODE) ops.vertex[ref] = i;
            if (kind === GROUP) groups.vertex[ref] = i;
            if (kind === ENTRY || kind === EXIT) groups.port.set(portKey(g, kind, ref), i);
        }
        for (let i = groups.segment[g]; i < groups.segment[g + 1]; i++) {
            segments.from[i] += base;
            segments.to[i] += base;
        }
    }
    for (let g = groups.n - 1, open = []; g >= 0; g--) {
        while (open.length && groups.depth[open[open.length - 1]] > groups.depth[g]) open.pop();
        if (open.length) groups.next[g] = open[open.length - 1];
        open.push(g);
    }
    const sizes = column(ranks);
    vertices.rank = new Int32Array(n);
    groups.row = starts(sizes);              // rank r of all groups: vertices row[r] … row[r + 1] - 1
    for (let r = 0; r < sizes.length; r++) vertices.rank.fill(r, groups.row[r], groups.row[r + 1]);
    segments.out = byKey(segments.from, n).start;            // segments are sorted by `from`
    segments.into = byKey(segments.to, n);
};
const portKey = (g, kind, value) => (g * 2 + (kind === EXIT ? 1 : 0)) * 0x80000000 + value;

const string = (i) => net.strings[i];
const opName = (op) => net.strings[net.ops.name[op]];
const opKey = (op) => net.classes.key[net.ops.class[op]];
const opFamily = (op) => net.classes.family[net.ops.class[op]];
const valueType = (value) => net.strings[net.values.type[value]];
const valueName = (value) => net.strings[net.values.name[value]] || '%' + net.values.id[value];
const inputs = (op) => net.ops.in.subarray(net.ops.inStart[op], net.ops.inStart[op + 1]);
const usersOf = (value) => {
    const { start, item } = net.values.uses, found = new Set();
    for (let i = start[value]; i < start[value + 1]; i++) found.add(net.ops.of[item[i]]);
    return [...found];
};
// What one says of an op: its class and its name, or its number.
const opText = (op) => opKey(op) + ' ' + (opName(op) || '#' + net.ops.id[op]);
// The name of an op without what the titles of its groups say.
const shortName = (op) => {
    const name = opName(op), g = net.vertices.group[net.ops.vertex[op]], prefix = net.groups.prefix[g];
    const said = prefix > 0 && name.length > prefix && name.startsWith(opName(net.groups.named[g]).slice(0, prefix));
    return said ? name.slice(prefix) : name;
};
const groupText = (g) => string(net.groups.title[g]) || 'group';
const opHash = (op) => isGone(op) ? '#was=' + net.ops.id[op] : '#op=' + net.ops.id[op];
const groupOps = (g) => net.groups.end[g] - net.groups.begin[g];
// The rows of a set of attributes or tags: key, text, whether it is the default.
const setRows = (set) => {
    const rows = [];
    for (let i = net.sets.start[set]; i < net.sets.start[set + 1]; i++) {
        rows.push([string(net.sets.key[i]), string(net.sets.text[i]), net.sets.default[i] === 1]);
    }
    return rows;
};
