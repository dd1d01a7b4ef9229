// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The panel: everything about what is selected, or about the network.

const opLink = (op) => element('a', { href: opHash(op) }, bdi((signOf(changeOf(op)) + ' ' + opText(op)).trim(), 120));
const groupLink = (g) => element('a', { href: '#group=' + g }, bdi(groupText(g), 120));
const searchLink = (text, query) => element('a', { href: '#find', on: { click: (event) => {
    event.preventDefault();
    $('query').value = query;
    $('query').dispatchEvent(new Event('input'));
    $('query').focus();
} } }, shown(text, 120));
const terms = (rows) => element('dl', {}, ...rows.flatMap(([key, ...what]) =>
    [element('dt', {}, typeof key === 'string' ? bdi(key, 80) : key), element('dd', {}, ...what)]));
const part = (title, ...children) => children.some((child) => child) ? [element('h3', {}, title), ...children] : [];
const long = (text) => {
    if (text.length <= 400) return bdi(text, 400);
    const box = bdi(text, 400);
    return element('span', {}, box, ' ', element('button', { type: 'button', on: { click: (event) => {
        box.textContent = shown(text, 20000);
        event.target.remove();
    } } }, count(text.length, 'character')));
};

// 32 bars for the numbers of a parameter.
const histogram = ({ bins, min, max }) => {
    const space = 'http://www.w3.org/2000/svg', top = Math.max(...bins, 1), picture = document.createElementNS(space, 'svg');
    picture.setAttribute('viewBox', '0 0 320 44');
    picture.setAttribute('preserveAspectRatio', 'none');
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', `Histogram from ${digits(min)} to ${digits(max)}, at most ${top} in a bar`);
    bins.forEach((n, i) => {
        const bar = document.createElementNS(space, 'rect'), high = n ? Math.max(1, 42 * n / top) : 0;
        for (const [key, v] of [['x', i * 10 + 0.5], ['y', 44 - high], ['width', 9], ['height', high]]) bar.setAttribute(key, v);
        picture.append(bar);
    });
    return picture;
};
const statistics = (value) => {
    const stats = net.values.params[value] > 0 && net.stats[net.values.params[value] - 1];
    if (!stats) return [];
    const odd = [['zeros', stats.zeros], ['NaN', stats.nans], ['infinite', stats.infs]].filter(([, n]) => n)
        .map(([word, n]) => `${n.toLocaleString('en')} ${word}`);
    const line = (text) => element('div', { class: 'stats' }, text);
    if (stats.min === null) return [line(odd.join(' · '))];
    return [histogram(stats), line(`${digits(stats.min)} … ${digits(stats.max)}`),
        line(`mean ${digits(stats.mean)} · deviation ${digits(stats.dev)}` + (odd.length ? ' · ' + odd.join(' · ') : ''))];
};

const valueRow = (name, value, people) => element('div', { class: 'value', on: {
    mouseenter: () => { state.lit = value; redraw(); }, mouseleave: () => { state.lit = -1; redraw(); } } },
    element('span', {}, name ? shown(name, 60) + ' ' : '', element('code', {}, bdi(valueName(value), 200))),
    element('span', { class: 'type mono' }, bdi(valueType(value) || 'no type', 300)),
    ...people, ...statistics(value), ...tagRows(net.values.tags[value]));
const tagRows = (set) => setRows(set).length ? [terms(setRows(set).map(([key, text]) => [key, long(text)]))] : [];
const MOST_LINKS = 30, MOST_ROWS = 60;
const more = (n, most) => n > most ? element('div', {}, `and ${(n - most).toLocaleString('en')} more`) : null;
const links = (ops) => [...ops.slice(0, MOST_LINKS).map((op) => element('span', { class: 'users' }, '→ ', opLink(op))),
    more(ops.length, MOST_LINKS)];
const portName = (names, i) => names.length ? names[Math.min(i, names.length - 1)] : '';

const opPanel = (op) => {
    const { ops, values, classes } = net, c = ops.class[op], rows = setRows(ops.attrs[op]);
    const own = rows.filter((row) => !row[2]), usual = rows.filter((row) => row[2]);
    const g = net.vertices.group[ops.vertex[op]], first = ops.outStart[op];
    const attributes = (list) => terms(list.map(([key, text]) => [key, long(text)]));
    return [
        element('h2', {}, shown(opKey(op), 200)),
        element('p', {}, long(opName(op) || 'without a name')),
        classes.doc[c] ? element('p', { class: 'doc' }, shown(classes.doc[c], 2000)) : null,
        ...classes.formula[c].map((text) => element('div', { class: 'formula mono' }, shown(text, 2000))),
        ...diffPart(op, op + 1),
        ...part('Op', terms([['number', '#' + ops.id[op] + (net.diff && net.diff.was[op] !== ops.id[op] && changeOf(op) !== 2
            ? ', before #' + net.diff.was[op] : '')], ...(g ? [['group', groupLink(g)]] : []), ...costRows(NODE, op)])),
        ...part('Attributes', ...(own.length ? [attributes(own)] : [])),
        usual.length ? element('details', {}, element('summary', {}, count(usual.length, 'default')), attributes(usual)) : null,
        ...part('Inputs', ...[...inputs(op).subarray(0, MOST_ROWS)].map((value, i) => {
            const lost = net.diff && i >= ops.ins[op] - net.diff.lost[op], name = lost ? '− before' : portName(classes.ins[c], i);
            if (value < 0) return element('div', { class: 'value' }, name + ' absent');
            const maker = values.maker[value], from = maker < 0 ? [] : [element('span', { class: 'users' }, '← ', opLink(maker))];
            return valueRow(name, value, from);
        }), more(ops.ins[op], MOST_ROWS)),
        ...part('Outputs', ...Array.from({ length: Math.min(MOST_ROWS, ops.outs[op]) }, (_, i) =>
            valueRow(portName(classes.outs[c], i), first + i, links(usersOf(first + i)))), more(ops.outs[op], MOST_ROWS)),
        ...part('Tags', ...tagRows(ops.tags[op])),
    ];
};
// What differs: an op's own change, then field by field what both networks have.
const diffPart = (begin, end) => {
    const { diff } = net;
    if (!diff) return [];
    const bits = begin < net.ops.n ? diff.change[begin] : 0, rows = [];
    const side = (tag, bit, sign, text) => element(tag, {}, signMark(bit, sign), long(string(text)));
    for (let i = diff.start[begin]; i < Math.min(diff.start[end], diff.start[begin] + MOST_ROWS); i++) {
        rows.push(element('div', { class: 'field' }, bdi(string(diff.key[i]), 200),
            side('del', 1, '− ', diff.before[i]), side('ins', 2, '+ ', diff.after[i])));
    }
    if (bits) rows.unshift(element('p', {}, signMark(bits, signOf(bits)), ' ' + changeWords(bits)));
    return part('Difference', ...rows, more(diff.start[end] - diff.start[begin], MOST_ROWS));
};
const costRows = (kind, ref) => net.heats.map(({ title, unit, sum, values }, i) => {
    const v = costOf(i, kind, ref);
    const open = sum && kind !== NODE && values.slice(net.groups.begin[ref], net.groups.end[ref]).includes(null);
    return v === null ? null : [shown(title, 60), amount(v, unit ? shown(unit, 20) : '') + (open ? '\u00a0+\u00a0?' : '')];
}).filter(Boolean);
// A cost of an op, or of a group: of what it holds.
const costOf = (i, kind, ref) => {
    const { values, sum } = net.heats[i];
    if (kind === NODE) return values[ref];
    let total = null;
    for (let op = net.groups.begin[ref]; op < net.groups.end[ref]; op++) {
        if (values[op] !== null && !isGone(op)) total = total === null ? values[op] : sum ? total + values[op] : Math.max(total, values[op]);
    }
    return total;
};
const classRows = (begin, end) => {
    const n = new Int32Array(net.classes.key.length);
    for (let op = begin; op < end; op++) n[net.ops.class[op]]++;
    return [...n.keys()].filter((c) => n[c]).sort((a, b) => n[b] - n[a]).slice(0, 40)
        .map((c) => [searchLink(net.classes.key[c], 'class:' + quoted(net.classes.key[c])), n[c].toLocaleString('en')]);
};
const quoted = (text) => /\s/.test(text) ? `"${text}"` : text;
const groupPanel = (g) => [
    element('h2', {}, bdi(groupText(g), 400)),
    element('p', { class: 'doc' }, count(groupOps(g), 'op') + groupDiffs(g)),
    element('div', { class: 'acts' }, element('button', { type: 'button', on: { click: () => { toggle(g); drawPanel(); } } },
        scene.open[g] ? 'Collapse' : 'Expand')),
    ...part('Group', terms([...(net.groups.parent[g] > 0 ? [['in', groupLink(net.groups.parent[g])]] : []), ...costRows(GROUP, g)])),
    ...part('Classes', terms(classRows(net.groups.begin[g], net.groups.end[g]))),
];
const netPanel = () => [
    element('h2', {}, bdi(net.name || 'Network', 400)),
    element('p', { class: 'doc' }, `${count(net.ops.n, 'op')}, ${count(net.groups.n - 1, 'group')}`),
    ...part('Network', terms([...net.about.map(([key, text]) => [key, long(text)]), ...(net.ops.n ? costRows(GROUP, 0) : [])])),
    ...diffPart(net.ops.n, net.ops.n + 1),
    ...(net.notes.length ? part('Notes', ...net.notes.map((note) => element('p', {}, shown(note, 1000)))) : []),
    ...(net.ops.n ? part('Classes', terms(classRows(0, net.ops.n))) : []),
];
const drawPanel = () => {
    const panel = $('panel');
    panel.replaceChildren(...(state.selected >= 0 ? opPanel(state.selected) : state.group > 0 ? groupPanel(state.group)
        : netPanel()).filter((child) => child !== null));
    panel.scrollTop = 0;
};
