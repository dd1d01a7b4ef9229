// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Ops that depend on constants alone are left out, or drawn. The page of a network with such ops has both pictures, `net`
// and its twin. Their ops have the same ids; groups and all other numbers are of one picture.

const startConstants = () => {
    $('constants').hidden = !net.twin;
    $('constants').setAttribute('aria-pressed', String(net.constants === 1));
};
// The other picture. Its document is read when it is first wanted.
const twinOf = (was) => {
    if (was.twin.twin) return was.twin;
    const { name, depth, sideways, about, data } = was;
    return { ...readDocument(was.twin), name, depth, sideways, about, data, constants: 1 - was.constants, twin: was };
};
// What a group is in both pictures: its title, and its last op, which is no constant.
const groupKey = (g) => [net.groups.depth[g], groupText(g), net.ops.id[net.groups.end[g] - 1]].join();
const groupKeys = () => new Map(Array.from({ length: net.groups.n - 1 }, (_, i) => [groupKey(i + 1), i + 1]));
// An op near the eye, which both pictures have.
const opInSight = () => {
    const vertex = watched(), { kind, ref } = net.vertices;
    let op = kind[vertex] === NODE ? ref[vertex] : net.groups.end[ref[vertex]] - 1;
    while (op + 1 < net.ops.n && isFolded(op)) op++;     // a constant comes before its first user
    return op;
};
const isFolded = (op) => !net.twin.ids.has(net.ops.id[op]);
const withIds = (made) => Object.assign(made, { ids: made.ids || new Map(Array.from(made.ops.id, (id, op) => [id, op])) });

const turnConstants = () => {
    if (!net.twin) return say('no op depends on constants alone');
    const was = withIds(net), first = !was.twin.twin;
    was.twin = withIds(twinOf(was));
    const seen = opInSight(), id = was.ops.id[seen], before = boxOf(standIn(was.ops.vertex[seen]));
    const op = state.selected >= 0 ? was.ops.id[state.selected] : null, group = state.group > 0 ? groupKey(state.group) : null;
    const open = new Map([...groupKeys()].map(([key, g]) => [key, scene.open[g]])), depth = Number($('depth').value);
    net = was.twin;
    if (first) readData();
    makeScene();
    for (let g = 1; g < net.groups.n; g++) scene.open[g] = open.get(groupKey(g)) ?? Number(net.groups.depth[g] < depth);
    settle();
    state.over = state.lit = -1;
    search.lower = null;
    find($('query').value);
    drawHits();
    const { at, low, high, log } = heat;
    setHeat(at);
    Object.assign(heat, { low, high, log });
    startConstants();
    drawSubtitle();
    fillDepths(depth);
    drawLegend();
    select(net.ids.get(op) ?? -1, group === null ? -1 : groupKeys().get(group) ?? -1);
    const after = boxOf(standIn(net.ops.vertex[net.ids.get(id)]));
    stage.glide = null;
    camera.x += after.x - before.x;
    camera.y += after.y - before.y;
    treeChanged();
    if (rowIndex() >= 0) seeRow(rowIndex());
    redraw();
    say(net.constants ? 'constants are shown' : 'constants are hidden');
};
