// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Colours by a number of every op: a cost, or the values of a data file. A closed group has the sum of its ops, or for
// data files the greatest, since a sum of errors means nothing.

const heat = { at: null, diff: false, low: 0, high: 1, log: false, ops: null, groups: null, ramp: [] };
const STEPS = 48;

// Data files: {"title", "unit", "values": {NAME or "#ID": number}}. What no op has is counted in a note, and so is what is
// not a number; Python writes NaN and Infinity into JSON.
const readData = () => {
    const { ops } = net, at = new Map();
    for (let op = ops.n - 1; op >= 0; op--) {
        if (opName(op)) at.set(opName(op), op);
    }
    for (let op = ops.n - 1; op >= 0; op--) at.set('#' + ops.id[op], op);
    net.data.forEach((text, i) => {
        const title = `data ${i + 1}`;
        try {
            const file = JSON.parse(text.replace(/"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g, (word) => word[0] === '"' ? word : 'null'));
            const values = new Array(ops.n).fill(null), word = (v, other) => typeof v === 'string' && v ? v : other;
            let lost = 0, odd = 0;
            for (const [name, v] of Object.entries(file.values)) {
                const op = at.get(name);
                if (op === undefined) lost++;
                else if (typeof v !== 'number' || !Number.isFinite(v)) odd++;
                else values[op] = v;
            }
            net.heats.push({ title: word(file.title, title), unit: word(file.unit, ''), sum: 0, values });
            if (lost) net.notes.push(`${word(file.title, title)}: ${count(lost, 'name')} that no op has`);
            if (odd) net.notes.push(`${word(file.title, title)}: ${count(odd, 'value')} without a finite number`);
        } catch {
            net.notes.push(`${title} is not a JSON file of values`);
        }
    });
};

const setHeat = (at) => {
    heat.at = at === null || !net.heats[at] ? null : at;
    if (heat.at === null) return;
    const { values, sum } = net.heats[heat.at], { ops, groups, vertices } = net;
    heat.ops = Float64Array.from(values, (v) => (v === null ? NaN : v));
    heat.groups = new Float64Array(groups.n).fill(NaN);
    const put = (g, v) => {
        if (!Number.isNaN(v)) heat.groups[g] = Number.isNaN(heat.groups[g]) ? v : sum ? heat.groups[g] + v : Math.max(heat.groups[g], v);
    };
    for (let op = 0; op < ops.n; op++) if (!isGone(op)) put(vertices.group[ops.vertex[op]], heat.ops[op]);
    for (let g = groups.n - 1; g > 0; g--) put(groups.parent[g], heat.groups[g]);
    let low = Infinity, high = -Infinity;
    for (const v of heat.ops) if (Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); }
    heat.low = low <= high ? low : 0;
    heat.high = low <= high ? high : 1;
    heat.log = low >= 0 && high > 1000 * (low + 1);
};
const setRamp = () => {
    heat.ramp = Array.from({ length: STEPS + 1 }, (_, i) => {
        const at = i / STEPS * (theme.heat.length - 1), part = Math.min(theme.heat.length - 2, Math.floor(at));
        return mix(theme.heat[part], theme.heat[part + 1], at - part);
    });
};
// Where a number is between the ends, from 0 to 1. Logarithms count from the least of a millionth of the high end.
const share = (v) => {
    const { low, high, log } = heat;
    if (!(high > low)) return v > high ? 1 : 0;
    if (!log) return Math.min(1, Math.max(0, (v - low) / (high - low)));
    const least = Math.max(low, high * 1e-6);
    return v <= least ? 0 : Math.min(1, Math.log(v / least) / Math.log(high / least));
};
const heatOf = (kind, ref) => kind === NODE ? heat.ops[ref] : heat.groups[ref];
const heatColour = (kind, ref) => {
    if (heat.at === null) return null;
    const v = heatOf(kind, ref);
    return Number.isNaN(v) ? theme.box : heat.ramp[Math.round(share(v) * STEPS)];
};

const dot = (colour) => {
    const made = element('span', { class: 'dot' });
    made.style.background = colour;
    return made;
};
const drawDiffLegend = (place) => {
    const item = ([bit, word, sign], i) => element('li', {}, signMark(bit, sign), searchLink(word, 'diff:' + word), net.diff.counts[i].toLocaleString('en'));
    const step = (text, label, by) => element('button', { type: 'button', title: label, 'aria-label': label, on: { click: () => goDiff(by) } }, text);
    place.replaceChildren(element('ul', {}, ...CHANGES.map(item), element('li', {}, step('‹', 'Previous difference  p', -1), step('›', 'Next difference  n', 1))));
    place.hidden = false;
};
const signMark = (bits, sign) => element('span', { class: 'sign ' + CHANGES[changeIndex(bits)][1] }, sign);
const drawLegend = () => {
    const place = $('legend');
    if (heat.diff) return drawDiffLegend(place);
    if (heat.at === null) {
        const used = new Map();
        for (let op = 0; op < net.ops.n; op++) used.set(opFamily(op), (used.get(opFamily(op)) || 0) + 1);
        place.replaceChildren(element('ul', {}, ...[...used].sort((a, b) => b[1] - a[1]).map(([family, n]) =>
            element('li', {}, dot(theme.families[family]), `${FAMILIES[family]} ${n.toLocaleString('en')}`))));
        place.hidden = !net.ops.n;
        return;
    }
    const { title, unit } = net.heats[heat.at], bar = element('div', { class: 'bar' });
    bar.style.background = `linear-gradient(90deg, ${theme.heat.join(',')})`;
    const end = (which, label) => element('input', { type: 'text', value: digits(heat[which]), 'aria-label': label,
        inputmode: 'decimal', on: { change: (event) => {
            const v = Number(event.target.value);
            if (Number.isFinite(v)) heat[which] = v;
            event.target.value = digits(heat[which]);
            redraw();
        } } });
    const log = element('input', { type: 'checkbox', on: { change: (event) => { heat.log = event.target.checked; redraw(); } } });
    log.checked = heat.log;
    place.replaceChildren(element('div', {}, shown(title, 60) + (unit ? ' in ' + shown(unit, 20) : '')), bar,
        element('div', { class: 'ends' }, end('low', 'From'), element('label', {}, log, 'logarithm'), end('high', 'To')));
    place.hidden = false;
};
