// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The tree of groups and ops beside the canvas: what is on the canvas, for those who read or listen. Only the rows in
// sight are elements. A row of the list is an op, or ~g for a group.

const ROW = 24;
const tree = { rows: [], level: [], position: [], at: 0, dirty: true };

const treeChanged = () => { tree.dirty = true; drawTree(); };
const listTree = () => {
    const { groups, ops } = net, rows = [], level = [], position = [], counters = [0], inside = [];
    const put = (row) => {
        while (inside.length && groups.end[inside[inside.length - 1]] <= (row < 0 ? groups.begin[~row] : row)) inside.pop();
        const depth = inside.length;
        position.push(counters[depth] = (counters[depth] || 0) + 1);
        rows.push(row);
        level.push(depth);
    };
    for (let op = 0, g = 1; op < ops.n;) {
        if (g < groups.n && groups.begin[g] === op) {
            put(~g);
            if (scene.open[g]) {
                inside.push(g);
                counters[inside.length] = 0;
                g++;
            } else {
                op = groups.end[g];
                g = groups.next[g];
            }
        } else put(op++);
    }
    Object.assign(tree, { rows, level, position, dirty: false });
    tree.at = Math.min(tree.at, Math.max(0, rows.length - 1));
};
const rowIndex = () => tree.rows.indexOf(state.group > 0 ? ~state.group : state.selected);

const drawTree = () => {
    const place = $('tree'), rows = $('rows');
    if (tree.dirty) listTree();
    if (!place.clientHeight) return;
    const n = tree.rows.length, from = Math.max(0, Math.floor(place.scrollTop / ROW) - 4);
    const until = Math.min(n, Math.ceil((place.scrollTop + place.clientHeight) / ROW) + 4), made = [];
    rows.style.height = n * ROW + 'px';
    if (tree.at < from && n) made.push(treeRow(tree.at));     // what is active is always in the document
    for (let i = from; i < until; i++) made.push(treeRow(i));
    if (tree.at >= until && n) made.push(treeRow(tree.at));
    rows.replaceChildren(...made);
    if (n) place.setAttribute('aria-activedescendant', 'row' + tree.at);
};
const treeRow = (i) => {
    const row = tree.rows[i], g = row < 0 ? ~row : -1, level = tree.level[i], parent = g >= 0 ? net.groups.parent[g]
        : net.vertices.group[net.ops.vertex[row]];
    const chosen = g >= 0 ? state.group === g : state.selected === row;
    const made = element('div', { role: 'treeitem', id: 'row' + i, class: i === tree.at ? 'at' : false,
        'aria-level': level + 1, 'aria-posinset': tree.position[i], 'aria-setsize': net.groups.children[parent],
        'aria-selected': String(chosen), 'aria-expanded': g >= 0 ? String(scene.open[g] === 1) : false,
        on: { click: (event) => pickRow(i, event.target.className === 'twist') } },
        g >= 0 ? element('span', { class: 'twist', 'aria-hidden': 'true' }, scene.open[g] ? '▾' : '▸')
            : element('span', { class: 'twist', 'aria-hidden': 'true' }),
        g >= 0 ? null : changeOf(row) ? signMark(changeOf(row), signOf(changeOf(row))) : dot(theme.families[opFamily(row)]),
        element('span', { class: 'what' }, g >= 0 ? bdi(ending(groupText(g), Math.max(12, 22 - 2 * level - groupDiffs(g).length)), 100)
            : shown(opKey(row), 60)),
        element('span', { class: g >= 0 ? 'note of' : 'note' }, g >= 0 ? groupOps(g).toLocaleString('en') + groupDiffs(g)
            : bdi(shortName(row) || '#' + net.ops.id[row], 100)));
    made.style.top = i * ROW + 'px';
    made.style.paddingLeft = 4 + Math.min(level, 12) * 13 + 'px';
    return made;
};
const pickRow = (i, twist) => {
    const row = tree.rows[i];
    tree.at = i;
    if (row < 0 && twist) return toggle(~row);
    go(row < 0 ? -1 : row, row < 0 ? ~row : -1);
};
const seeRow = (i) => {
    const place = $('tree');
    tree.at = i;
    if (i * ROW < place.scrollTop) place.scrollTop = i * ROW;
    if ((i + 1) * ROW > place.scrollTop + place.clientHeight) place.scrollTop = (i + 1) * ROW - place.clientHeight;
    drawTree();
};
const treeKeys = (event) => {
    const row = tree.rows[tree.at], g = row < 0 ? ~row : -1, last = tree.rows.length - 1;
    const page = Math.max(1, Math.floor($('tree').clientHeight / ROW) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last };
    if (event.key in moves) seeRow(Math.max(0, Math.min(last, tree.at + moves[event.key])));
    else if (event.key === 'ArrowRight' && g >= 0) { if (scene.open[g]) seeRow(Math.min(last, tree.at + 1)); else toggle(g); }
    else if (event.key === 'ArrowLeft') {
        if (g >= 0 && scene.open[g]) toggle(g);
        else {
            const level = tree.level[tree.at];
            let i = tree.at;
            while (i > 0 && tree.level[i] >= level) i--;
            if (tree.level[i] < level) seeRow(i);
        }
    } else if (event.key === 'Enter' || event.key === ' ') {
        if (event.key === 'Enter' && g >= 0 && state.group === g) toggle(g); else pickRow(tree.at, false);
    } else return;
    event.preventDefault();
    event.stopPropagation();
};
const startTree = () => {
    $('tree').addEventListener('scroll', drawTree);
    $('tree').addEventListener('keydown', treeKeys);
};
