// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// node layout.mjs FOLDER PAGE SVG [twin]: the coordinates that the page computes are those of the SVG picture, box by box.
// Both pictures show the same groups. FOLDER is src/draw/page. `twin`: the other picture of the page, with constants.
import fs from 'node:fs';

const [, , folder, page, svg, twin] = process.argv;
const script = ['data', 'layout', 'scene'].map((name) => fs.readFileSync(`${folder}/${name}.js`, 'utf8')).join('\n');
const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(fs.readFileSync(page, 'utf8'))[1];
const run = new Function('text', 'twin', `${script}
    net = readNet(text);
    if (twin) net = { ...net, ...readDocument(net.twin) };
    makeScene();
    if (net.sideways) turn(true);
    openTo(net.depth || scene.depth + 1);
    settle();
    const boxes = {}, { kind, ref } = net.vertices;
    for (let v = 0; v < kind.length; v++) {
        if (kind[v] <= GROUP && standIn(v) === v) boxes[kind[v] === NODE ? (isGone(ref[v]) ? 'r' : 'n') + net.ops.id[ref[v]] : 'g' + ref[v]] = boxOf(v);
    }
    return boxes;`);
const mine = run(text, twin), theirs = {};
// The last of a pile of boxes is the one in front.
const shape = /<g id="([ngr]-?\d+)">(?:<title>[^<]*<\/title>)?(?:<rect [^>]*>)*<rect [^>]*?x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"/g;
for (const [, id, x, y, w, h] of fs.readFileSync(svg, 'utf8').matchAll(shape)) {
    theirs[id] = { x: Number(x), y: Number(y), w: Number(w), h: Number(h) };
}
const ids = Object.keys(theirs), first = ids.find((id) => mine[id]);
let wrong = 0;
const fault = (what) => { if (wrong++ < 10) console.error(what); };
if (!ids.length || !first) fault('no boxes');
if (Object.keys(mine).length !== ids.length) fault(`${Object.keys(mine).length} boxes in the page, ${ids.length} in the SVG`);
for (const id of wrong ? [] : ids) {
    const a = mine[id], b = theirs[id];
    if (!a) { fault(`${id} is not in the page`); continue; }
    const far = [a.x - mine[first].x, a.y - mine[first].y, a.w, a.h], near = [b.x - theirs[first].x, b.y - theirs[first].y, b.w, b.h];
    if (far.join() !== near.join()) fault(`${id}: ${far.join(' ')} in the page, ${near.join(' ')} in the SVG`);
}
console.log(`${ids.length} boxes`);
process.exit(wrong ? 1 : 0);
