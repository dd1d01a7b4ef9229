// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// node constants.mjs PAGE: the button of a page hides and shows ops that depend on constants alone. The script of the page
// runs in a document that only remembers: no browser is needed. PAGE is that of constants.pnnx.param in view_layout.sh.
import fs from 'node:fs';

const page = fs.readFileSync(process.argv[2], 'utf8');
const between = (from, to) => page.slice(page.indexOf(from) + from.length, page.indexOf(to, page.indexOf(from)));
const elements = new Map();
const made = (id) => {
    const on = {}, attributes = {};
    const it = {
        id, style: { setProperty() {} }, classList: { toggle() {}, add() {}, remove() {} }, value: '', textContent: '', hidden: false,
        clientHeight: 200, offsetWidth: 10, offsetHeight: 10, scrollTop: 0, children: [], open: false,
        setAttribute(key, value) { attributes[key] = value; }, getAttribute: (key) => attributes[key], removeAttribute(key) { delete attributes[key]; },
        addEventListener(name, f) { on[name] = f; }, click() { on.click({ target: it }); },
        append(...more) { it.children.push(...more); }, replaceChildren(...more) { it.children = more; }, remove() {},
        getBoundingClientRect: () => ({ left: 0, top: 0, width: 800, height: 600 }), closest: () => null, focus() {}, scrollIntoView() {},
        getContext: () => new Proxy({}, { get: (of, key) => of[key] ?? (() => ({ width: 10 })), set: (of, key, v) => { of[key] = v; return true; } }),
    };
    return it;
};
const element = (id) => elements.get(id) || elements.set(id, made(id)).get(id);
element('data').textContent = between('id="data">', '</script>');
const keys = {};
const world = {
    document: { getElementById: element, createElement: made, createElementNS: made, documentElement: made('html'), activeElement: null, title: '',
        addEventListener(name, f) { keys[name] = f; } },
    addEventListener() {}, matchMedia: () => ({ matches: false, addEventListener() {} }), requestAnimationFrame() {}, devicePixelRatio: 1,
    ResizeObserver: class { observe() {} }, location: { hash: '' }, history: { replaceState() {}, pushState() {}, back() {} },
    performance: { now: () => 0 }, Event: class {},
};
const script = between('<script>\'use strict\';', '</script>');
const story = new Function(...Object.keys(world), `'use strict';${script}; return { net: () => net, state, scene, camera, boxOf, visit, heat, setHeat, tree };`);
const { net, state, scene, camera, boxOf, visit, heat, setHeat } = story(...Object.values(world));

let checks = 0, failures = 0;
const equal = (found, wanted, what) => {
    checks++;
    if (found === wanted) return;
    failures++;
    console.error(`${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
};
const press = (key) => keys.keydown({ key, target: element('graph'), preventDefault() {} });
const names = () => Array.from(net().ops.name, (i) => net().strings[i]).join();
const opNamed = (name) => Array.from(net().ops.name).findIndex((i) => net().strings[i] === name);
const where = (op) => {
    const { x, y } = boxOf(net().ops.vertex[op]);
    return [x - camera.x, y - camera.y].join();
};
const FEW = ',block/first/addition_one,block/first/product,', ALL = ',w,block/first/addition_one,other/weights,block/first/product,';
const shown = net().constants === 1, button = element('constants');

equal(button.hidden, false, 'the button is there');
equal(button.getAttribute('aria-pressed'), String(shown), 'what it says');
equal(names(), shown ? ALL : FEW, 'the ops of the page');
if (shown) button.click();
visit(opNamed('block/first/product'), -1);
setHeat(0);
heat.high = 7;
const before = where(state.selected);
button.click();
equal(names(), ALL, 'constants are shown');
equal(button.getAttribute('aria-pressed'), 'true', 'the button says so');
equal(element('said').textContent, 'constants are shown', 'what is said');
equal(element('subtitle').textContent, '6 ops', 'the count');
equal(state.selected, opNamed('block/first/product'), 'the op is selected still');
equal(where(state.selected), before, 'it stays where it is');
equal([heat.at, heat.high, heat.ops.length].join(), '0,7,6', 'colours and their range');
press('k');
equal(names(), FEW, 'constants are hidden, by key');
equal(state.selected, opNamed('block/first/product'), 'the op is selected, again');
equal(where(state.selected), before, 'and has its place');
scene.open[1] = 0;
press('k');
equal(scene.open[1], 0, 'a closed group stays closed');
press('k');
equal(scene.open[1], 0, 'there and back');
press('k');
visit(opNamed('w'), -1);
press('k');
equal(state.selected, -1, 'a constant that is hidden is not selected');
console.log(`${checks} checks`);
process.exit(failures ? 1 : 0);
