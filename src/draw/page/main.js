// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The page begins here.

const AT_FIRST = 300;       // so many boxes are shown at first, if nothing else is said

const firstDepth = () => {
    if (net.depth > 0) return net.depth;
    const { groups } = net, shows = new Int32Array(scene.depth + 2);
    for (let g = 0; g < groups.n; g++) shows[groups.depth[g] + 1] += groups.children[g];
    let depth = 1;
    for (let sum = shows[1]; depth <= scene.depth && (sum += shows[depth + 1]) <= AT_FIRST; depth++);
    return depth;
};
const option = (value, text) => element('option', { value }, text);
const fillDepths = (depth) => {
    const deepest = scene.depth + 1;
    const levels = Array.from({ length: Math.min(9, deepest) }, (_, i) => option(i + 1, i ? 'To depth ' + (i + 1) : 'All collapsed'));
    $('depth').replaceChildren(...(deepest > 1 ? [...levels, option(deepest, 'All expanded')] : [option(1, 'No groups')]));
    $('depth').disabled = deepest === 1;
    $('depth').value = Math.min(depth, deepest);
};
const fillColours = () => {
    $('colour').replaceChildren(...(net.diff ? [option('diff', 'Colour: differences')] : []), option('', 'Colour: kind'), ...net.heats.map(({ title }, i) => option(i, 'Colour: ' + shown(title, 40))));
    $('colour').addEventListener('change', ({ target }) => {
        heat.diff = target.value === 'diff';
        setHeat(heat.diff || target.value === '' ? null : Number(target.value));
        drawLegend();
        redraw();
    });
};
const drawSubtitle = () => {
    $('subtitle').textContent = net.diff ? `${net.diff.ops[0].toLocaleString('en')} → ${count(net.diff.ops[1], 'op')}, ${
        count(differing(0, net.ops.n), 'difference')}` : count(net.ops.n, 'op');
};
const begin = () => {
    net = readNet($('data').textContent);
    $('data').remove();
    readData();
    const title = (net.name || 'Network') + (net.diff && net.other !== net.name ? ' → ' + net.other : '');
    $('title').textContent = shown(title, 120);
    document.title = shown(title, 120) + ' – XIR';
    drawSubtitle();
    startConstants();
    heat.diff = net.diff !== null;
    setTheme(darkWanted.matches);
    setRamp();
    makeScene();
    if (net.sideways) turn(true);
    const depth = firstDepth();
    openTo(depth);
    settle();
    stage.context = $('graph').getContext('2d', { alpha: false });
    fillDepths(depth);
    $('depth').addEventListener('change', (event) => openDepth(Number(event.target.value)));
    fillColours();
    drawLegend();
    resize();
    home();
    startSearch();
    startTree();
    startPointer();
    const [op, g] = readHash();
    if (op >= 0 || g > 0) visit(op, g, true); else { drawPanel(); treeChanged(); }
    const clicks = { back: () => history.back(), forward: () => history.forward(), fit: fitAll, save: saveView, theme: setDark,
        constants: turnConstants, keys: showHelp, closer: pageKeys['+'], farther: pageKeys['-'] };
    for (const [id, f] of Object.entries(clicks)) $(id).addEventListener('click', f);
    document.addEventListener('keydown', onKey);
    addEventListener('popstate', comeBack);
    darkWanted.addEventListener('change', (event) => { if (event.matches !== theme.dark) setDark(); });
    new ResizeObserver(() => { resize(); drawTree(); }).observe($('stage'));
};
begin();
