// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// node labels.mjs FOLDER PAGE SVG: the labels of boxes on the page are those of the SVG picture; and where a font is too
// wide for a box, a label is shortened until it fits, and never squeezed. FOLDER is src/draw/page.
import fs from 'node:fs';

const [, , folder, page, svg] = process.argv;
const script = ['data', 'text', 'theme', 'layout', 'scene', 'heat', 'paint']
    .map((name) => fs.readFileSync(`${folder}/${name}.js`, 'utf8')).join('\n');
const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(fs.readFileSync(page, 'utf8'))[1];
let wrong = 0;
const fault = (what) => { if (wrong++ < 10) console.error(what); };

// A browser of which the scripts need little.
const style = { setProperty() {} }, thing = { style, setAttribute() {}, append() {}, addEventListener() {} };
const document = { documentElement: { style }, getElementById: () => thing, createElement: () => thing };
const matchMedia = () => ({ matches: false });
// Letters of `wide` hundredths of the font's size.
const painter = (wide) => ({
    drawn: [], font: '', size() { return Number(/ ([\d.]+)px/.exec(this.font)[1]); },
    measureText(words) { return { width: [...words].length * wide * this.size() / 100 }; },
    fillText(...args) { this.drawn.push([this.size(), ...args]); },
    strokeText(...args) { if (args.length > 3) fault('a title is squeezed'); },
    setLineDash() {}, beginPath() {}, moveTo() {}, lineTo() {}, bezierCurveTo() {}, roundRect() {}, fill() {},
    stroke() {}, fillRect() {},
});
const run = new Function('text', 'document', 'matchMedia', 'painter', `${script}
    net = readNet(text);
    setTheme(false);
    makeScene();
    if (net.sideways) turn(true);
    openTo(scene.depth + 1);
    settle();
    const lines = {};
    for (let op = 0; op < net.ops.n; op++) lines['n' + net.ops.id[op]] = opLines(op).filter((line) => line);
    const whole = wholeBox(), seen = [];
    for (const [wide, k] of [[50, 1], [90, 1], [90, 2], [150, 0.5]]) {
        const to = painter(wide);
        if (typeof fits !== 'undefined') fits.clear();
        paint(to, whole.w * k, whole.h * k, { x: 0, y: 0, k });
        for (const [size, words, x, y, most] of to.drawn) {
            const { vertex } = lookAt(x / k, y / k - 3);
            if (vertex >= 0) seen.push([wide, words, x + [...words].length * wide * size / 100, boxOf(vertex), k, most]);
        }
    }
    return { lines, seen };`);
const { lines, seen } = run(text, document, matchMedia, painter);
let cut = 0;
for (const [wide, words, end, box, k, most] of seen) {
    if (most !== undefined) fault(`'${words}' is squeezed`);
    if (end > (box.x + box.w) * k && words !== '…')
        fault(`'${words}' of letters of ${wide} ends at ${end}, its box at ${(box.x + box.w) * k}`);
    cut += Number(words.includes('…'));
}
if (!seen.length || !cut) fault(`${seen.length} labels, ${cut} of them shortened`);
const plain = (words) => words.replace(/&#?\w+;/g, (c) => ({ '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"' }[c] || c));
for (const [, id, inside] of fs.readFileSync(svg, 'utf8').matchAll(/<g id="(n-?\d+)"><title>[^<]*<\/title>(.*?)<\/g>/gs)) {
    const theirs = [...inside.matchAll(/<text class="[kmy]"[^>]*>([^<]*)<\/text>/g)].map((m) => plain(m[1]));
    if (lines[id] && theirs.join('|') !== lines[id].join('|'))
        fault(`${id}: ${lines[id].join('|')} on the page, ${theirs.join('|')} in the SVG`);
}
console.log(`${seen.length} labels, ${cut} shortened`);
process.exit(wrong ? 1 : 0);
