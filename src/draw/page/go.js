// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// What is selected, and the way there: links like #op=17 and #group=3, back and forward.

const select = (op, g) => {
    state.selected = op;
    state.group = g;
    state.near = new Set();
    if (op >= 0) {
        for (const value of inputs(op)) if (value >= 0) state.near.add(value);
        for (let v = net.ops.outStart[op]; v < net.ops.outStart[op + 1]; v++) state.near.add(v);
    }
    drawPanel();
};
const vertexOf = (op, g) => op >= 0 ? net.ops.vertex[op] : g > 0 ? net.groups.vertex[g] : -1;
// Selects an op or group, opens what is around it, and brings it into sight.
const visit = (op, g, quiet) => {
    const vertex = vertexOf(op, g);
    select(op, g);
    if (vertex >= 0) {
        if (reveal(vertex)) settle();
        show(vertex);
    }
    tree.dirty = true;
    listTree();
    const row = rowIndex();
    if (row >= 0) seeRow(row); else drawTree();
    redraw();
    if (!quiet) announce();
};
const announce = () => {
    const { selected: op, group: g } = state;
    if (op >= 0) {
        const n = [...inputs(op)].filter((v) => v >= 0).length;
        const bits = changeOf(op), which = bits ? `${changeWords(bits)}, difference ${net.diff.upTo[op + 1]} of ${differing(0, net.ops.n)}, ` : '';
        say(`${shown(opText(op), 200)}, ${which}${count(n, 'input')}, ${count(net.ops.outs[op], 'output')}`);
    } else if (g > 0) say(`group ${shown(groupText(g), 200)}, ${count(groupOps(g), 'op')}${groupDiffs(g)}, ${scene.open[g] ? 'expanded' : 'collapsed'}`);
    else say('nothing selected');
};

// Where one is, for the history of the browser: the camera and the open groups, unless these are too many to keep.
const whereabouts = () => {
    const open = [];
    for (let g = 1; g < net.groups.n && open.length < 2000; g++) if (scene.open[g]) open.push(g);
    return { camera: { ...camera }, open: open.length < 2000 ? open : null, constants: net.constants };
};
const go = (op, g) => {
    const hash = op >= 0 ? opHash(op) : g > 0 ? '#group=' + g : '#';
    if (op !== state.selected || g !== state.group) {
        try {
            history.replaceState(whereabouts(), '');
            history.pushState(null, '', hash);
        } catch { /* a page in a frame may have no history */ }
    }
    visit(op, g);
};
const readHash = () => {
    const [, key, number] = /^#(op|was|group)=(-?\d+)$/.exec(location.hash) || [];
    const gone = key === 'was' && net.diff, id = gone ? net.diff.was : net.ops.id;       // removed ops have numbers of their own
    if (key === 'op' || gone) return [id.findIndex((n, op) => n === Number(number) && (gone ? changeOf(op) !== 2 : !isGone(op))), -1];
    if (key === 'group' && Number(number) > 0 && Number(number) < net.groups.n) return [-1, Number(number)];
    return [-1, -1];
};
const comeBack = (event) => {
    const was = event.state, [op, g] = readHash();
    if (!was || was.constants !== net.constants) return visit(op, g);     // the numbers of groups are those of a picture
    if (was.open) {
        const open = new Set(was.open);
        let changed = false;
        for (let i = 1; i < net.groups.n; i++) changed = setOpen(i, open.has(i)) || changed;
        if (changed) settle();
    }
    select(op, g);
    glideTo(was.camera);
    treeChanged();
    announce();
};

// Along the edges: `step` 1 goes to a user, -1 to a maker. What is closed is visited as its group.
const follow = (step) => {
    const { ops, values, groups } = net, { selected, group } = state;
    if (selected < 0 && group < 0) return choose(standIn(ops.vertex[0]));
    const begin = selected >= 0 ? selected : groups.begin[group], end = selected >= 0 ? selected + 1 : groups.end[group];
    const outside = (op) => op >= 0 && (op < begin || op >= end);
    for (let op = begin; op < end; op++) {
        if (step < 0) {
            for (const value of inputs(op)) {
                if (value >= 0 && outside(values.maker[value])) return choose(standIn(ops.vertex[values.maker[value]]));
            }
        } else {
            for (let v = ops.outStart[op]; v < ops.outStart[op + 1]; v++) {
                const user = usersOf(v).find(outside);
                if (user !== undefined) return choose(standIn(ops.vertex[user]));
            }
        }
    }
    say(step < 0 ? 'no maker' : 'no user');
};
const choose = (vertex) => {
    const { kind, ref } = net.vertices;
    go(kind[vertex] === NODE ? ref[vertex] : -1, kind[vertex] === GROUP ? ref[vertex] : -1);
};
// To the next op that differs, or the one before.
const goDiff = (step) => {
    const { selected, group } = state, n = net.ops.n, { begin, end } = net.groups;
    const from = selected >= 0 ? selected : group > 0 ? (step > 0 ? begin[group] - 1 : end[group]) : step > 0 ? -1 : n;
    for (let i = 1; i <= n; i++) {
        const op = (from + step * i + 2 * n) % n;
        if (changeOf(op)) return go(op, -1);
    }
    say(net.diff ? 'no differences' : 'nothing is found');
};
// To the next box in the rank, then in the ranks around, without leaving the group.
const aside = (step) => {
    const { vertices, groups } = net, chosen = vertexOf(state.selected, state.group);
    if (chosen < 0) return choose(standIn(net.ops.vertex[0]));
    const g = vertices.group[chosen];
    for (let i = chosen + step; i >= groups.first[g] && i < groups.first[g + 1]; i += step) {
        if (isBox(i)) return choose(i);
    }
    say('no more here');
};
