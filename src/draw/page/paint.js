// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Paints what the camera sees. Only ranks in sight are visited, found by bisection. Where a box is smaller than a few
// pixels, ranks and boxes closer than that are left out, so that a frame takes about the same time at every zoom.

const FONT = 12, SMALL = 11, LETTERS = 28, BOX = 30;
const FACE = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';
const LINES_A_FRAME = 2500;

const state = {
    selected: -1, group: -1,       // an op, or a group
    over: -1, lit: -1,             // the vertex under the pointer; the value whose lines are lit
    near: new Set(),               // the values of the selected op
    hits: null, groupHits: null,   // the ops found, one byte each, and how many a group holds
};

const boxFill = (kind, ref) => heatColour(kind, ref) || (heat.diff ? diffFill(kind, ref, theme.differs, theme.box) : '') ||
    (kind === NODE ? theme.tints[opFamily(ref)] : theme.folded);
const dustFill = (kind, ref) => heatColour(kind, ref) ||
    (heat.diff ? diffFill(kind, ref, CHANGES.map((row) => theme[row[1]]), theme.stack) : '') ||
    (kind === NODE ? theme.families[opFamily(ref)] : theme.stack);
const changeOfBox = (kind, ref) => kind === NODE ? changeOf(ref) : groupDiffers(ref) ? 8 : 0;
const diffFill = (kind, ref, colours, same) => {
    const bits = changeOfBox(kind, ref);
    return bits ? colours[changeIndex(bits)] : kind === NODE ? same : '';
};
const isSelected = (kind, ref) => kind === NODE ? ref === state.selected : ref === state.group;
const isFound = (kind, ref) => state.hits !== null &&
    (kind === NODE ? state.hits[ref] === 1 : !scene.open[ref] && state.groupHits[ref] > 0);
const cut = (text) => shown(text, LETTERS);
const opLines = (op) => {
    const value = net.ops.outStart[op], n = net.ops.outs[op], name = shortName(op);
    const type = n && valueType(value) ? valueType(value) + (n > 1 ? ` +${n - 1}` : '') : '';
    return [(signOf(changeOf(op)) + ' ' + opKey(op)).trim(), ending(name, LETTERS), type].map(cut);
};
const groupLines = (g) => [cutTitle(groupText(g)), '', count(groupOps(g), 'op') + groupDiffs(g)];
const cutTitle = (text) => shown(text, 80);      // C has cut it
const groupDiffers = (g) => differing(net.groups.begin[g], net.groups.end[g]);
const groupDiffs = (g) => groupDiffers(g) ? `, ${groupDiffers(g)} differ${groupDiffers(g) === 1 ? 's' : ''}` : '';

// `to` is a 2D context, or what export.js has in its place.
const paint = (to, width, height, view) => {
    const { groups, vertices } = net, { k } = view, { sideways } = scene;
    const [su, sv] = flip([view.x, view.y]), [wide, high] = flip([width / k, height / k]);
    const job = { to, k, dust: k * BOX < 5, texts: k >= 0.4, gap: 2 / k, left: LINES_A_FRAME, lit: [], notes: [], titles: [] };
    to.fillStyle = theme.back;
    to.fillRect(0, 0, width, height);
    const marks = [], stack = [[0, -su, -sv]];
    while (stack.length) {
        const [g, ou, ov] = stack.pop(), end = groups.rank[g + 1];
        const low = -ou, far = wide - ou, margin = PAD + TITLE;
        const from = first(groups.rank[g], end, (r) => scene.rankTop[r] + scene.thick[r] > -ov - margin);
        const until = first(from, end, (r) => scene.rankTop[r] > high - ov + margin);
        paintLines(job, g, Math.max(groups.rank[g], from - 1), until, ou, ov, low, far);
        for (let r = from; r < until;) {
            const last = groups.row[r + 1];
            let i = first(groups.row[r], last, (j) => scene.c[j] + scene.w[j] / 2 > low);
            while (i < last && startOf(i) <= far) {
                const kind = vertices.kind[i], ref = vertices.ref[i];
                if (kind <= GROUP) {
                    const u = (startOf(i) + ou) * k, v = (scene.top[i] + ov) * k, du = scene.w[i] * k, dv = scene.h[i] * k;
                    const box = sideways ? [v, u, dv, du] : [u, v, du, dv];
                    if (kind === GROUP && scene.open[ref]) {
                        paintFrame(job, ref, i, box);
                        stack.push([ref, ou + startOf(i) + insideAcross(ref), ov + scene.top[i] + insideAlong(ref)]);
                    } else if (job.dust) {
                        to.fillStyle = dustFill(kind, ref);
                        to.fillRect(box[0], box[1], Math.max(box[2], 1), Math.max(box[3], 1));
                    } else {
                        paintBox(job, kind, ref, i, box);
                        if (job.texts) paintNotes(job, i, box);
                    }
                    if (isSelected(kind, ref) || isFound(kind, ref)) marks.push([kind, ref, box]);
                }
                const next = scene.c[i] + scene.w[i] / 2 + job.gap;
                i = job.dust ? first(i + 1, last, (j) => scene.c[j] + scene.w[j] / 2 >= next) : i + 1;
            }
            const next = scene.rankTop[r] + scene.thick[r] + job.gap;
            r = job.dust ? first(r + 1, until, (s) => scene.rankTop[s] + scene.thick[s] >= next) : r + 1;
        }
    }
    paintLit(job);
    to.lineJoin = 'round';
    for (const [title, x, y, most] of job.titles) {      // a line may run behind a title
        const text = fitted(to, title, 600, FONT * k, most, false);
        to.font = `600 ${FONT * k}px ${FACE}`;
        to.strokeStyle = theme.back;
        to.lineWidth = 4 * k;
        to.strokeText(text, x, y);
        to.fillStyle = theme.dim;
        to.fillText(text, x, y);
    }
    for (const mark of marks) paintMark(job, mark);
    return job.notes;
};

const curve = (to, k, ou, ov) => {
    const a = (path.a + ou) * k, b = (path.b + ou) * k;
    const p = (path.p + ov) * k, q = (path.q + ov) * k, r = (path.r + ov) * k, s = (path.s + ov) * k, m = (q + r) / 2;
    if (scene.sideways) {
        to.moveTo(p, a);
        if (path.a === path.b) return to.lineTo(s, b);
        if (q > p) to.lineTo(q, a);
        to.bezierCurveTo(m, a, m, b, r, b);
        if (s > r) to.lineTo(s, b);
    } else {
        to.moveTo(a, p);
        if (path.a === path.b) return to.lineTo(b, s);
        if (q > p) to.lineTo(a, q);
        to.bezierCurveTo(a, m, b, m, b, r);
        if (s > r) to.lineTo(b, s);
    }
};
const straight = (to, k, u, v, end) => {
    to.moveTo(...flip([u * k, v * k]));
    to.lineTo(...flip([u * k, end * k]));
};
const paintLines = (job, g, from, until, ou, ov, low, far) => {
    const { to, k } = job, { groups, segments, vertices } = net;
    const begin = segments.out[groups.row[from]], stop = segments.out[groups.row[until]], heads = [], changed = [[], [], []], ports = [[], [], []];
    const stride = Math.max(1, Math.ceil((stop - begin) / Math.max(job.left, 100)));
    to.strokeStyle = theme.edge;
    to.lineWidth = Math.max(0.5, Math.min(1.4, k * 1.3));
    to.beginPath();
    for (let i = begin; i < stop; i += stride) {
        const a = scene.c[segments.from[i]], b = scene.c[segments.to[i]], slack = 4000;
        if ((a < low - slack && b < low - slack) || (a > far + slack && b > far + slack)) continue;
        pathOf(i);
        if (Math.max(path.a, path.b) < low || Math.min(path.a, path.b) > far) continue;
        if (isLit(segments.value[i])) job.lit.push([i, -1, ou, ov]);
        job.left--;
        if (net.diff && net.diff.line[i]) { changed[net.diff.line[i]].push(i); continue; }
        curve(to, k, ou, ov);
        if (path.head && k >= 0.2) heads.push((path.b + ou) * k, (path.s + ov) * k);
    }
    // lines of values that enter and leave go on to the edge of the box
    for (const [kind, r] of g ? [[ENTRY, groups.rank[g]], [EXIT, groups.rank[g + 1] - 1]] : []) {
        if (r < from || r >= until || vertices.kind[groups.row[r]] !== kind) continue;
        for (let i = groups.row[r]; i < groups.row[r + 1]; i++) {
            if (isLit(vertices.ref[i])) job.lit.push([-1, i, ou, ov]);
            const change = net.diff ? net.diff.line[kind === ENTRY ? segments.out[i] : segments.into.item[segments.into.start[i]]] : 0;
            if (change) { ports[change].push(i); continue; }
            straight(to, k, scene.c[i] + ou, ...portEnds(i).map((v) => v + ov));
        }
    }
    to.stroke();
    paintHeads(to, heads, k, theme.edge);
    for (const change of [1, 2]) if (changed[change].length || ports[change].length) paintChanged(job, change, changed[change], ports[change], ou, ov);
};
// Lines that only one of two networks has.
const paintChanged = ({ to, k }, change, lines, ports, ou, ov) => {
    const heads = [], colour = theme[CHANGES[change - 1][1]];
    to.strokeStyle = colour;
    to.lineWidth = Math.max(1, Math.min(2, k * 1.8));
    to.setLineDash(change === 1 ? [6 * k, 4 * k] : []);
    to.beginPath();
    for (const i of lines) {
        pathOf(i);
        curve(to, k, ou, ov);
        if (path.head && k >= 0.2) heads.push((path.b + ou) * k, (path.s + ov) * k);
    }
    for (const i of ports) straight(to, k, scene.c[i] + ou, ...portEnds(i).map((v) => v + ov));
    to.stroke();
    to.setLineDash([]);
    paintHeads(to, heads, k, colour);
};
const portEnds = (port) => {
    const g = net.vertices.group[port], inside = insideAlong(g);
    return net.vertices.kind[port] === ENTRY ? [-inside, 0]
        : [scene.along[g], scene.h[net.groups.vertex[g]] - inside];
};
const paintHeads = (to, heads, k, colour) => {
    const s = Math.max(2, 3.6 * k), t = 1.8 * s;
    to.fillStyle = colour;
    to.beginPath();
    for (let i = 0; i < heads.length; i += 2) {
        const u = heads[i], v = heads[i + 1];
        to.moveTo(...flip([u, v]));
        to.lineTo(...flip([u - s, v - t]));
        to.lineTo(...flip([u + s, v - t]));
    }
    to.fill();
};
const isLit = (value) => value === state.lit || state.near.has(value);
const paintLit = ({ to, k, lit }) => {
    const heads = [];
    to.strokeStyle = theme.accent;
    to.lineWidth = Math.max(1.2, Math.min(2.4, 2 * k));
    to.beginPath();
    for (const [segment, port, ou, ov] of lit) {
        if (segment < 0) {
            straight(to, k, scene.c[port] + ou, ...portEnds(port).map((v) => v + ov));
            continue;
        }
        pathOf(segment);
        curve(to, k, ou, ov);
        if (path.head && k >= 0.2) heads.push((path.b + ou) * k, (path.s + ov) * k);
    }
    to.stroke();
    paintHeads(to, heads, k, theme.accent);
};

const rounded = (to, x, y, w, h, r) => {
    to.beginPath();
    to.roundRect(x, y, w, h, Math.min(r, w / 2, h / 2));
};
// A text as it is shown in `most` pixels: without its end, or with `keepEnd` without its beginning, if it does not fit.
// Texts and boxes grow alike with the zoom, so an answer holds for all of them. Widths are those of large letters: of
// small ones browsers round each.
const fits = new Map(), MEASURED = 100;
const fitted = (to, text, weight, size, most, keepEnd) => {
    const room = most * MEASURED / size, key = `${weight} ${Math.floor(room / 6)} ${+!!keepEnd} ${text}`;
    const known = fits.get(key);
    if (known !== undefined) return known;
    to.font = `${weight} ${MEASURED}px ${FACE}`;
    const letters = [...text];
    const less = (n) => keepEnd ? '…' + letters.slice(letters.length - n).join('') : letters.slice(0, n).join('') + '…';
    const wide = (words) => to.measureText(words).width > room;
    const n = wide(text) ? first(1, letters.length, (i) => wide(less(i))) - 1 : -1;
    if (fits.size > 20000) fits.clear();
    fits.set(key, n < 0 ? text : less(n));
    return fits.get(key);
};
const write = (to, text, x, y, weight, size, colour) => {
    to.font = `${weight} ${size}px ${FACE}`;
    to.fillStyle = colour;
    to.fillText(text, x, y);
};
const paintFrame = ({ to, k, texts, titles }, g, vertex, [x, y, w, h]) => {
    rounded(to, x, y, w, h, 10 * k);
    to.fillStyle = theme.group;
    to.fill();
    to.strokeStyle = state.over === vertex ? theme.dim : theme.groupRim;
    to.lineWidth = 1;
    to.stroke();
    if (texts && w > 40) titles.push(['▾ ' + cutTitle(groupText(g)), x + 10 * k, y + 17 * k, w - 20 * k]);
};
const paintBox = ({ to, k, texts, notes }, kind, ref, vertex, [x, y, w, h]) => {
    const fill = boxFill(kind, ref), small = h < 10 && !texts;
    if (!small) {
        if (kind === GROUP) {         // a closed group looks like a pile
            rounded(to, x + 3.5 * k, y + 3.5 * k, w, h, 7 * k);
            to.fillStyle = theme.back;
            to.fill();
            to.strokeStyle = theme.rim;
            to.lineWidth = 1;
            to.stroke();
        }
        rounded(to, x, y, w, h, 7 * k);
        to.fillStyle = fill;
        to.fill();
        const bits = changeOfBox(kind, ref);
        to.strokeStyle = bits ? changeColour(bits) : state.over === vertex ? theme.dim : theme.rim;
        to.lineWidth = bits ? Math.max(1, 1.6 * k) : 1;
        if (bits & 1) to.setLineDash([5 * k, 3 * k]);
        to.stroke();
        if (bits & 1) to.setLineDash([]);
    } else {
        to.fillStyle = dustFill(kind, ref);
        to.fillRect(x, y, w, h);
    }
    if (kind === NODE && !small) {
        to.fillStyle = theme.families[opFamily(ref)];
        rounded(to, x + 5 * k, y + 6 * k, Math.max(3 * k, 1), h - 12 * k, 1.5 * k);
        to.fill();
    }
    if (!texts) return;
    const lines = kind === NODE ? opLines(ref) : groupLines(ref), n = lines.filter((line) => line !== '').length;
    const hot = heat.at !== null, ink = hot ? inkOn(fill) : theme.text, pitch = Math.min(15 * k, (h - 6 * k) / n);
    let base = y + (h - pitch * n) / 2 + pitch / 2 + 4.2 * k;
    for (let i = 0; i < lines.length; i++) {
        const strong = i === 0, weight = strong ? 600 : 400, size = (strong ? FONT : SMALL) * k;
        if (lines[i] === '') continue;
        write(to, fitted(to, lines[i], weight, size, w - 22 * k, i === 1), x + 14 * k, base, weight, size,
            strong || hot ? ink : theme.dim);
        base += pitch;
    }
};
// "→ conv1 +3": the ops at the other end of edges that are not lines.
const paintNotes = ({ to, k, notes }, vertex, [x, y, w, h]) => {
    const paintNote = (ops, arrow, baseline) => {
        if (!ops) return;
        const text = `${arrow} ${cut(shortName(ops[0]) || opKey(ops[0]))}` + (ops.length > 1 ? ` +${ops.length - 1}` : '');
        write(to, text, x + w / 2 + 9 * k, baseline, 400, 10 * k, theme.link);
        notes.push([x + w / 2, baseline - 10 * k, (text.length + 2) * 6 * k, 13 * k, ops[0]]);
    };
    paintNote(net.stubs.up.get(vertex), '←', y - 4 * k);
    paintNote(net.stubs.down.get(vertex), '→', y + h + 11 * k);
};
const paintMark = ({ to, k }, [kind, ref, [x, y, w, h]]) => {
    const grow = Math.max(2, 4 - Math.min(w, h) / 2);
    rounded(to, x - grow, y - grow, w + 2 * grow, h + 2 * grow, 8 * k + 2);
    to.lineWidth = 2.4;
    to.strokeStyle = isSelected(kind, ref) ? theme.accent : theme.mark;
    to.stroke();
    if (kind !== GROUP || !isFound(kind, ref) || k < 0.4) return;
    const text = amount(state.groupHits[ref]);
    rounded(to, x + w - 16 - 7 * text.length, y - 9, 14 + 7 * text.length, 17, 8.5);
    to.fillStyle = theme.mark;
    to.fill();
    write(to, text, x + w - 9 - 7 * text.length, y + 4, 600, 11, inkOn(theme.mark));
};
