// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Keys of the canvas and of the whole page, and the list of them.

const KEYS = [
    ['↓ ↑', 'to the op that uses, or makes, a value (→ ← from left to right)'],
    ['← →', 'to the next box in the layer'],
    ['Enter', 'expand or collapse a group'],
    ['Home End', 'to the first or last op'],
    ['+ − 0', 'zoom; fit all'],
    ['Shift and arrows', 'move the view'],
    ['e c 1…9', 'expand all, collapse all, to a depth'],
    ['u', 'to the group around'],
    ['/', 'search; Enter and Shift+Enter go through the ops found'],
    ['n p', 'next and previous op found, or difference'],
    ['[ ]', 'back and forward'],
    ['t g', 'to the tree, to the graph'],
    ['r', 'from top to bottom, or from left to right'],
    ['k', 'show or hide ops that depend on constants alone'],
    ['d', 'light or dark'],
    ['s', 'save the view as SVG'],
    ['Esc', 'select nothing'],
    ['Wheel Ctrl+wheel', 'move and zoom; a double click opens a group'],
];

const keyed = (key) => element('dt', {}, ...key.split(' ').flatMap((k, i) => k === 'and' ? [' and '] : [i ? ' ' : '', element('kbd', {}, k)]));
const showHelp = () => {
    const row = ([key, text]) => [keyed(key), element('dd', {}, text)];
    const term = ([key, text]) => [element('dt', {}, element('code', {}, key)), element('dd', {}, text)];
    $('help-keys').replaceChildren(...KEYS.flatMap(row));
    $('help-search').replaceChildren(...SEARCH_HELP.flatMap(term));
    $('help').showModal();
};
const setDark = () => {
    setTheme(!theme.dark);
    setRamp();
    drawLegend();
    treeChanged();
    redraw();
    say(theme.dark ? 'dark' : 'light');
};
const turnOver = () => {
    const watch = net.ops.n ? watched() : -1;
    turn(!scene.sideways);
    settle();
    home();
    if (watch >= 0 && (state.selected >= 0 || state.group > 0)) show(standIn(watch));
    say(scene.sideways ? 'from left to right' : 'from top to bottom');
};
const current = () => state.group > 0 ? state.group : state.selected >= 0 ? net.vertices.group[net.ops.vertex[state.selected]] : 0;

// Everywhere but in fields.
const pageKeys = {
    '/': () => { $('query').focus(); $('query').select(); },
    '+': () => zoomAt(stage.width / 2, stage.height / 2, 1.25),
    '=': () => zoomAt(stage.width / 2, stage.height / 2, 1.25),
    '-': () => zoomAt(stage.width / 2, stage.height / 2, 0.8),
    0: fitAll,
    e: () => openDepth(scene.depth + 1),
    c: () => openDepth(1),
    u: () => {
        const g = current(), up = state.group > 0 ? net.groups.parent[g] : g;
        go(-1, up > 0 ? up : -1);
    },
    n: () => state.hits ? goHit(search.at + 1) : goDiff(1),
    p: () => state.hits ? goHit(search.at - 1) : goDiff(-1),
    '[': () => history.back(),
    ']': () => history.forward(),
    t: () => $('tree').focus(),
    g: () => $('graph').focus(),
    r: turnOver,
    k: turnConstants,
    d: setDark,
    s: saveView,
    '?': showHelp,
    Escape: () => go(-1, -1),
};
// On the canvas.
const canvasKeys = {
    ArrowDown: () => (scene.sideways ? aside : follow)(1),
    ArrowUp: () => (scene.sideways ? aside : follow)(-1),
    ArrowRight: () => (scene.sideways ? follow : aside)(1),
    ArrowLeft: () => (scene.sideways ? follow : aside)(-1),
    Enter: () => toggle(current()),
    ' ': () => toggle(current()),
    Home: () => choose(standIn(net.ops.vertex[0])),
    End: () => choose(standIn(net.ops.vertex[net.ops.n - 1])),
    PageDown: () => pan(0, stage.height * 0.8),
    PageUp: () => pan(0, -stage.height * 0.8),
};
const PANS = { ArrowDown: [0, 80], ArrowUp: [0, -80], ArrowRight: [80, 0], ArrowLeft: [-80, 0] };
const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || $('help').open) return;
    const field = event.target.closest && event.target.closest('input, select');
    if (field) return;
    let act = pageKeys[event.key];
    if (/^[1-9]$/.test(event.key)) act = () => openDepth(Number(event.key));
    if (event.target === $('graph')) {
        if (event.shiftKey && event.key in PANS) act = () => pan(...PANS[event.key]);
        else if (event.key in canvasKeys) act = net.ops.n ? canvasKeys[event.key] : () => {};
    }
    if (!act || !Object.hasOwn({ ...pageKeys, ...canvasKeys, ...PANS }, event.key) && !/^[1-9]$/.test(event.key)) return;
    event.preventDefault();
    act();
};
