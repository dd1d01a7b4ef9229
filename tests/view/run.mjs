// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// node run.mjs PLAYWRIGHT XIR SRC: makes pages of networks with xir view, opens them in chromium, and uses them as a
// reader does. No page may send a request or report an error. Pages look like docs/pictures/page_*.png; with
// XIR_VIEW_WRITE=1 these pictures are written. Times of frames are printed, and not checked.
import fs from 'node:fs';
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { blocks, broken, fans, hostile, HOSTILE } from './networks.mjs';

const [, , playwright, xir, src] = process.argv;
const { chromium } = createRequire(path.resolve(playwright, 'package.json'))(path.resolve(playwright));
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
let checks = 0, failures = 0, story = '';
const check = (true_, what) => {
    checks++;
    if (true_) return;
    failures++;
    console.error(`FAILED: ${story}: ${what}`);
};
const equal = (found, wanted, what) => check(found === wanted, `${what}: ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);

const view = (name, text, ...how) => {
    fs.writeFileSync(name, text);
    execFileSync(xir, ['view', ...how, name, `${name}.html`], { stdio: ['ignore', 'ignore', 'pipe'] });
    return `${name}.html`;
};
// Opens a page, tells its story, and checks that nothing was sent and nothing went wrong.
const tell = async (title, file, tale, options = {}) => {
    story = title;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
    const page = await context.newPage(), wrong = [];
    const url = 'file://' + path.resolve(file);
    page.on('console', (message) => wrong.push(message.text()));
    page.on('pageerror', (error) => wrong.push(error.stack));
    page.on('dialog', (dialog) => { wrong.push('a dialog'); dialog.dismiss(); });
    page.on('request', (request) => { if (request.url().split('#')[0] !== url && !request.url().startsWith('blob:')) wrong.push('a request: ' + request.url()); });
    page.setDefaultTimeout(10000);
    try {
        await page.goto(url + (options.hash || ''));
        await settled(page);
        await tale(page);
    } catch (error) {
        wrong.push(error.stack);
    }
    equal(wrong.join('\n'), '', 'requests and errors');
    await context.close();
};
// The page looks as in a picture, apart from half a percent of its pixels. What is found is left in the folder of the test.
const looks = async (page, name) => {
    await page.evaluate('document.activeElement.blur()');
    const shot = await page.screenshot(), file = path.join(src, 'docs/pictures', name + '.png');
    if (process.env.XIR_VIEW_WRITE) return fs.writeFileSync(file, shot);
    fs.writeFileSync(name + '.png', shot);
    const other = await browser.newPage(), pictures = [shot, fs.readFileSync(file)].map((bytes) => bytes.toString('base64'));
    const share = await other.evaluate(async (texts) => {
        const [a, b] = await Promise.all(texts.map(async (text) => {
            const image = await createImageBitmap(await (await fetch('data:image/png;base64,' + text)).blob());
            const to = new OffscreenCanvas(image.width, image.height).getContext('2d');
            to.drawImage(image, 0, 0);
            return to.getImageData(0, 0, image.width, image.height);
        }));
        if (a.width !== b.width || a.height !== b.height) return 1;
        let n = 0;
        for (let i = 0; i < a.data.length; i += 4) n += [0, 1, 2].some((k) => Math.abs(a.data[i + k] - b.data[i + k]) > 24);
        return n / (a.width * a.height);
    }, pictures);
    await other.close();
    check(share <= 0.005, `${(100 * share).toFixed(2)} % of the pixels are not those of docs/pictures/${name}.png`);
};
const settled = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const said = (page) => page.textContent('#said');
const press = async (page, ...keys) => {
    for (const key of keys) await page.keyboard.press(key);
    await settled(page);
};
const type = async (page, text) => {
    await page.fill('#query', text);
    await page.waitForTimeout(120);
};

// What assistive technology meets: every control has a name, ids are unique, roles are complete, texts have contrast.
const audit = async (page) => {
    const faults = await page.evaluate(() => {
        const out = [], name = (e) => e.getAttribute('aria-label') || (e.labels && e.labels[0] && e.labels[0].textContent) || e.textContent.trim();
        for (const e of document.querySelectorAll('button, select, input, a[href], canvas, [role=tree], [role=treeitem], [role=option]')) {
            if (!name(e)) out.push('no name: ' + e.outerHTML.slice(0, 80));
        }
        const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
        if (new Set(ids).size !== ids.length) out.push('an id twice');
        for (const e of document.querySelectorAll('[aria-activedescendant], [aria-controls], [aria-labelledby]')) {
            for (const key of ['aria-activedescendant', 'aria-controls', 'aria-labelledby']) {
                if (e.hasAttribute(key) && !document.getElementById(e.getAttribute(key))) out.push(`${key} of ${e.id} names nothing`);
            }
        }
        for (const e of document.querySelectorAll('[role=treeitem]')) {
            for (const key of ['aria-level', 'aria-posinset', 'aria-setsize', 'aria-selected']) if (!e.hasAttribute(key)) out.push('no ' + key);
            if (Number(e.getAttribute('aria-posinset')) > Number(e.getAttribute('aria-setsize'))) out.push('position after the last');
        }
        const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
        const light = (colour) => {
            const [r, g, b] = numbers(colour).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (e) => {
            for (; e; e = e.parentElement) {
                const c = numbers(getComputedStyle(e).backgroundColor);
                if (c.length === 3 || c[3] > 0.99) return getComputedStyle(e).backgroundColor;
            }
            return 'rgb(255,255,255)';
        };
        const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        for (const e of document.querySelectorAll('body *')) {
            if (!e.offsetParent || e.closest('[disabled], .hidden') || ![...e.childNodes].some((c) => c.nodeType === 3 && c.data.trim())) continue;
            const c = contrast(light(getComputedStyle(e).color), light(ground(e)));
            if (c < 4.5) out.push(`contrast ${c.toFixed(2)}: ${e.tagName} ${e.textContent.slice(0, 30)}`);
        }
        // what the canvas writes, on what it writes it
        const hex = (c) => 'rgb(' + parts(c).join() + ')', pair = (ink, paper) => {
            const c = contrast(light(hex(ink)), light(hex(paper)));
            if (c < 4.5) out.push(`contrast ${c.toFixed(2)} on the canvas: ${ink} on ${paper}`);
        };
        for (const paper of [...theme.tints, ...theme.differs, theme.folded]) { pair(theme.text, paper); pair(theme.dim, paper); }
        pair(theme.dim, theme.back);
        pair(theme.link, theme.back);
        for (const paper of [...heat.ramp, theme.mark]) pair(inkOn(paper), paper);
        return out;
    });
    equal([...new Set(faults)].slice(0, 8).join('\n'), '', 'accessibility');
};

const xirRun = (...words) => execFileSync(xir, words, { stdio: ['ignore', 'ignore', 'pipe'] });
const digits = path.join(src, 'examples/models/digits.onnx');
xirRun('opt', digits, 'before.fb', '--passes', 'to-xir');
xirRun('opt', digits, 'after.fb');

const net = view('blocks.param', blocks(3, 3), '--from', 'pnnx');

await tell('a reader looks at groups', net, async (page) => {
    equal(await page.textContent('#subtitle'), '47 ops', 'the count');
    check((await page.title()).endsWith('XIR'), 'the title');
    const lit = await page.evaluate(() => {
        const c = $('graph').getContext('2d'), { data } = c.getImageData(0, 0, $('graph').width, $('graph').height);
        const seen = new Set();
        for (let i = 0; i < data.length; i += 4) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
        return seen.size;
    });
    check(lit > 10, 'the canvas has a picture');
    await audit(page);
    await page.focus('#graph');
    await press(page, 'c');
    equal(await page.evaluate('tree.rows.length'), 5, 'all collapsed: an input, three layers, an output');
    equal(await said(page), 'all groups collapsed', 'what is said');
    await press(page, '2');
    equal(await page.evaluate('tree.rows.length'), 14, 'to depth 2');
    await press(page, 'e');
    equal(await page.evaluate('tree.rows.length'), 59, 'all expanded');
    check(await page.evaluate('document.querySelectorAll("[role=treeitem]").length') > 10, 'rows of the tree');
    await press(page, '2', 'Home', '0');
    await looks(page, 'page_groups');
});

const deep = 'model.model.backbone.bottleneck.';
await tell('long names of groups', view('long.param', blocks(2, 2).replaceAll('layer', deep + 'layer'), '--from', 'pnnx'), async (page) => {
    const rows = await page.evaluate('[...document.querySelectorAll("[role=treeitem] .what")].map((e) => e.textContent)');
    check(rows.includes('…l.backbone.bottleneck'), 'the end is seen: ' + rows.join(' | '));
    check(await page.evaluate('[...document.querySelectorAll(".note.of")].every((e) => e.scrollWidth <= e.clientWidth)'), 'how many ops are in it, too');
});

xirRun('view', 'after.fb', 'after.html');
await tell('an op of a trained network', 'after.html', async (page) => {
    await type(page, 'class:Conv2d attr:groups=1');
    equal(await page.textContent('#found'), '3 ops', 'convolutions with one group; the fourth is depthwise');
    await press(page, 'Escape');
    await page.evaluate('go(net.ops.name.findIndex((n) => net.strings[n] === "/c2/Conv"), -1)');
    await settled(page);
    const panel = await page.textContent('#panel');
    for (const part of ['convolution', 'weights', 'mean', 'deviation', 'defaults', 'fp32 3×3×16×32', 'Multiply-adds']) check(panel.includes(part), part);
    equal(await page.evaluate('document.querySelectorAll("#panel svg")[0].children.length'), 32, 'bars of the histogram');
    await looks(page, 'page_op');
    await page.selectOption('#colour', '0');
    await page.focus('#graph');
    await press(page, 'd', 'Escape');
    await looks(page, 'page_heat');
});

xirRun('view', 'before.fb', 'changes.html', '--diff', 'after.fb');
await tell('differences of two networks', 'changes.html', async (page) => {
    equal(await page.textContent('#subtitle'), '31 → 15 ops, 28 differences', 'how many');
    equal(await page.inputValue('#colour'), 'diff', 'the colours');
    check(/− ?removed ?16.*\+ ?added ?0.*> ?moved ?0.*~ ?changed ?12/.test(await page.textContent('#legend')), 'the legend');
    await audit(page);
    await page.focus('#graph');
    await press(page, 'n');
    equal(await page.evaluate('opName(state.selected)'), '/c1/Conv', 'the first difference');
    check((await said(page)).includes('changed, difference 1 of 28'), 'it is said: ' + await said(page));
    const rows = await page.evaluate('[...document.querySelectorAll("#panel .field")].map((e) => e.textContent)');
    check(rows.some((row) => row.includes('outputs/0/name') && row.includes('− /c1/Conv_output_0.Conv2d') &&
        row.includes('+ /b1/BatchNormalization_output_0')), 'both sides: ' + rows.join(' | '));
    check(rows.some((row) => /inputs\/1.*of 144 elements differ/.test(row)), 'the weights: ' + rows.join(' | '));
    await looks(page, 'page_diff');
    await press(page, 'n');
    equal(await page.evaluate('[opName(state.selected), isGone(state.selected)].join()'), '/c1/Conv.Transpose.2,true', 'the second one');
    check((await said(page)).includes('removed, difference 2 of 28'), 'it is said, too');
    check(page.url().endsWith('#was=19'), 'the link: ' + page.url());
    await press(page, 'p', 'p');
    check((await said(page)).includes('difference 28 of 28'), 'before the first one is the last one: ' + await said(page));
    await page.click('#legend button[aria-label^=Next]');
    check((await said(page)).includes('difference 1 of 28'), 'by button');
    await type(page, 'diff:removed');
    equal(await page.textContent('#found'), '16 ops', 'what was removed');
    await type(page, 'diff:any class:relu');
    equal(await page.textContent('#found'), '3 ops', 'any difference');
    await press(page, 'Escape');
    await page.focus('#graph');
    await press(page, 'c');
    check(await page.evaluate('groupLines(1)[2]') === '3 ops, 2 differ', 'a closed group counts them');
    check((await page.evaluate('viewAsSvg()')).includes('stroke-dasharray'), 'the view as SVG has dashes');
    await press(page, 'd');
    await audit(page);
    await page.goto(page.url().split('#')[0] + '#was=20');
    await page.reload();
    equal(await page.evaluate('[opName(state.selected), changeOf(state.selected)].join()'), '/b1/BatchNormalization.Transpose,1', 'the op of the link');
    await page.selectOption('#colour', '');
    check((await page.textContent('#legend')).includes('Linear'), 'colours by kind');
    await page.selectOption('#colour', '0');
    check((await page.textContent('#legend')).includes('Multiply-adds'), 'colours by cost');
});

// Two constants of an op, one of them of another scope.
const constants = view('constants.param', `7767517
6 5
pnnx.Input in 0 1 0
torch.ones w 0 1 1 size=(2,2)
torch.ones other/weights 0 1 2 size=(2,2)
torch.add block/first/addition_one 2 1 0 1 3
torch.mul block/first/product 2 1 3 2 4
pnnx.Output out 1 0 4
`, '--from', 'pnnx');
await tell('constants', constants, async (page) => {
    equal(await page.textContent('#subtitle'), '4 ops', 'they are hidden at first');
    await page.click('#constants');
    equal(await page.textContent('#subtitle'), '6 ops', 'shown, by button');
    equal(await page.getAttribute('#constants', 'aria-pressed'), 'true', 'the button is pressed');
    await audit(page);
    await type(page, 'torch.ones');
    equal(await page.textContent('#found'), '2 ops', 'they are found');
    await page.focus('#graph');
    await press(page, 'k');
    equal(await page.textContent('#subtitle'), '4 ops', 'hidden, by key');
    equal(await page.textContent('#found'), '0 ops', 'they are not found any more');
    await audit(page);
});
await tell('no constants', net, async (page) => {
    equal(await page.isVisible('#constants'), false, 'there is no button');
    await page.focus('#graph');
    await press(page, 'k');
    equal(await said(page), 'no op depends on constants alone', 'the key says why');
});

await tell('what one looks at stays where it is', net, async (page) => {
    const where = () => page.evaluate(() => {
        const box = boxOf(net.groups.vertex[5]);
        return [(box.x - camera.x) * camera.k, (box.y - camera.y) * camera.k].map(Math.round).join();
    });
    await page.evaluate('go(-1, 5)');
    await settled(page);
    const before = await where();
    await page.focus('#graph');
    await press(page, 'Enter');
    equal(await page.evaluate('scene.open[5]'), 0, 'collapsed');
    equal(await where(), before, 'its corner');
    await press(page, 'Enter');
    equal(await where(), before, 'its corner, expanded again');
});

await tell('keys follow edges', net, async (page) => {
    await page.focus('#graph');
    await press(page, 'Home');
    check((await said(page)).startsWith('Input'), 'the first op is announced');
    await press(page, 'ArrowDown', 'ArrowDown');
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.relu1', 'two users below');
    check(page.url().endsWith('#op=2'), 'the link: ' + page.url());
    check((await said(page)).includes('1 input, 1 output'), 'the op is announced');
    await press(page, 'ArrowUp');
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.conv1', 'its maker');
    check((await page.textContent('#panel')).includes('layer0.block0.conv1'), 'the panel');
    await press(page, 'u');
    equal(await page.evaluate('groupText(state.group)'), 'block0', 'the group around');
    await press(page, '[');
    await page.waitForTimeout(100);
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.conv1', 'back');
    await press(page, ']');
    await page.waitForTimeout(100);
    equal(await page.evaluate('state.group > 0'), true, 'forward');
    await press(page, 'Escape');
    equal(await page.evaluate('[state.selected, state.group].join()'), '-1,-1', 'nothing selected');
    const k = await page.evaluate('camera.k');
    await press(page, '+');
    check(await page.evaluate('camera.k') > k, 'closer');
    await press(page, '0');
    check(await page.evaluate('(scene.along[0] - camera.y) * camera.k < stage.height'), 'all of it fits');
    await press(page, 'r');
    equal(await page.evaluate('scene.sideways'), true, 'from left to right');
    await press(page, 'Home', 'ArrowRight');
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.conv1', 'to the right along an edge');
});

await tell('motion', net, async (page) => {
    await page.evaluate('go(40, -1); go(2, -1)');
    check(await page.evaluate('stage.glide !== null'), 'the camera glides');
    await page.waitForTimeout(600);
    equal(await page.evaluate('stage.glide'), null, 'it arrives');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.evaluate('go(40, -1)');
    equal(await page.evaluate('stage.glide'), null, 'it jumps if less motion is wanted');
}, { reducedMotion: 'no-preference' });

await tell('the tree is used without the canvas', net, async (page) => {
    await page.focus('#tree');
    await press(page, 'Home', 'ArrowDown');
    equal(await page.evaluate('document.getElementById($("tree").getAttribute("aria-activedescendant")).getAttribute("aria-expanded")'), 'true', 'a group');
    await press(page, 'ArrowLeft');
    equal(await page.evaluate('scene.open[1]'), 0, 'collapsed');
    await press(page, 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'Enter');
    check((await page.textContent('#panel h2')).length > 0, 'the panel');
    check(await page.evaluate('state.selected >= 0 || state.group > 0'), 'something is selected');
    await audit(page);
});

await tell('a reader searches', net, async (page) => {
    const found = async (text) => { await type(page, text); return page.textContent('#found'); };
    await page.keyboard.press('/');
    equal(await page.evaluate('document.activeElement.id'), 'query', 'the key');
    equal(await found('relu'), '18 ops', 'a word');
    equal(await found('layer1 relu'), '6 ops', 'two words');
    equal(await found('class:nn.Conv2d'), '18 ops', 'a class');
    equal(await found('class:nn.*'), '36 ops', 'classes');
    equal(await found('class:nn.conv2d layer2.block1'), '2 ops', 'a class and a name');
    equal(await found('-relu -conv'), '11 ops', 'without words');
    equal(await found('shape:56'), '47 ops', 'a dim');
    equal(await found('shape:1x64x56x56'), '47 ops', 'a shape');
    equal(await found('shape:57'), '0 ops', 'no dim');
    equal(await found('type:fp32 id:3'), '1 op', 'a type and a number');
    equal(await found('attr:groups=2'), '0 ops', 'an attribute');
    equal(await found('name:conv1'), '9 ops', 'a name');
    equal(await page.evaluate('$("hits").children.length'), 9, 'the list');
    await audit(page);
    await page.focus('#query');
    await press(page, 'Enter', 'Enter');
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block1.conv1', 'the second hit');
    equal(await page.textContent('#found'), '2 of 9', 'where one is');
    await press(page, 'Escape');
    equal(await page.inputValue('#query'), '', 'Escape clears');
});

await tell('colours', net, async (page) => {
    await page.selectOption('#colour', '1');
    check((await page.textContent('#legend')).includes('Bytes'), 'the legend');
    await page.fill('#legend input[aria-label=To]', '1000');
    await page.keyboard.press('Tab');
    equal(await page.evaluate('heat.high'), 1000, 'the range');
    await page.check('#legend input[type=checkbox]');
    equal(await page.evaluate('heat.log'), true, 'the logarithm');
    await audit(page);
    equal(await page.evaluate('theme.dark'), false, 'light');
    await page.focus('#graph');
    await press(page, 'd');
    equal(await page.evaluate('theme.dark'), true, 'dark, by key');
    await audit(page);
    await page.selectOption('#colour', '');
    await audit(page);
    await page.click('#theme');
    equal(await page.evaluate('theme.dark'), false, 'light, by button');
});

await tell('dark by preference, and a link', net, async (page) => {
    equal(await page.evaluate('theme.dark'), true, 'dark');
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.add', 'the op of the link');
    await audit(page);
    const links = page.locator('#panel a', { hasText: 'layer0.block0.relu2' });
    await links.first().click();
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.relu2', 'a user in the panel');
    await page.goBack();
    equal(await page.evaluate('opName(state.selected)'), 'layer0.block0.add', 'back');
}, { colorScheme: 'dark', hash: '#op=4' });

await tell('the pointer', net, async (page) => {
    await page.evaluate('visit(3, -1)');
    await settled(page);
    const at = (vertex) => page.evaluate((v) => {
        const b = boxOf(v), s = $('stage').getBoundingClientRect();
        return { x: s.left + (b.x + b.w / 2 - camera.x) * camera.k, y: s.top + (b.y + b.h / 2 - camera.y) * camera.k };
    }, vertex);
    const box = await at(await page.evaluate('net.ops.vertex[2]'));
    await page.mouse.move(box.x, box.y);
    equal(await page.isVisible('#tip'), true, 'the tip');
    await page.mouse.click(box.x, box.y);
    equal(await page.evaluate('state.selected'), 2, 'a click selects');
    const [x, y] = await page.evaluate(() => {
        const i = net.segments.out[net.ops.vertex[2]], s = $('stage').getBoundingClientRect(), [u, v] = originOf(net.vertices.group[net.ops.vertex[2]]);
        pathOf(i);
        return [s.left + (u + path.a - camera.x) * camera.k, s.top + (v + (path.p + path.s) / 2 - camera.y) * camera.k];
    });
    await page.mouse.move(x, y);
    equal(await page.evaluate('state.lit'), 2, 'the value under the pointer');
    const was = await page.evaluate('camera.y');
    await page.mouse.wheel(0, 200);
    await page.waitForTimeout(50);
    check(await page.evaluate('camera.y') > was, 'the wheel moves');
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save')]);
    const svg = fs.readFileSync(await download.path(), 'utf8');
    check(svg.startsWith('<svg ') && svg.includes('>conv1</text>'), 'the view as SVG');
    await page.click('#keys');
    equal(await page.isVisible('#help'), true, 'the list of keys');
    await audit(page);
    await press(page, 'Escape');
    equal(await page.isVisible('#help'), false, 'closed');
});

await tell('hostile names', view('hostile.json', hostile(path.join(src, 'tests/golden/json/seed.json'))), async (page) => {
    await page.evaluate('window.hurt = () => { window.hurted = true; }');
    for (let op = 0; op < await page.evaluate('net.ops.n'); op++) await page.evaluate(`go(${op}, -1)`);
    await page.focus('#graph');
    await press(page, 'e');
    for (const name of HOSTILE.slice(0, 8)) await type(page, name);
    await page.mouse.move(640, 300);
    equal(await page.evaluate('window.hurted'), undefined, 'no script runs');
    equal(await page.evaluate('document.querySelectorAll("img, iframe, object, body script:not([type])").length'), 1, 'only the script of the page');
    const unseen = await page.evaluate(() => /[\u0000-\u0008\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent.replace(/document[^]*$/, '')));
    equal(unseen, false, 'nothing that turns or hides text');
    const svg = await page.evaluate('viewAsSvg()');
    check(!/<script|<img|onerror="/.test(svg), 'the view as SVG is harmless');
});

await tell('an empty network', view('empty.param', '7767517\n0 0\n', '--from', 'pnnx'), async (page) => {
    await audit(page);
    await page.focus('#graph');
    await press(page, 'ArrowDown', 'Home', 'e', 'c', '2', 'u', 'n', '0', '+', 'r', 'd', 'Enter', 'Escape');
    await page.focus('#tree');
    await press(page, 'ArrowDown', 'ArrowRight', 'Enter');
});

// What is broken can be read: an op before its maker, an absent input, a value without a maker, one without a type, an
// unknown class, open dims. Ops have equal names, and a scope is a thousand levels deep.
await tell('a broken network', view('broken.json', broken(path.join(src, 'tests/golden/json/seed.json'))), async (page) => {
    for (let op = 0; op < await page.evaluate('net.ops.n'); op++) await page.evaluate(`go(${op}, -1)`);
    check(await page.evaluate('net.stubs.up.size') > 0, 'an arrow that would lead back is a note');
    check((await page.evaluate('net.notes.join()')).includes('missing'), 'Params without bytes are in a note');
    check((await page.evaluate('[...Array(net.ops.n).keys()].some((op) => [...inputs(op)].includes(-1))')), 'an input is absent');
    await page.focus('#graph');
    await press(page, 'Home', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'End', 'ArrowUp', 'ArrowLeft', 'e', 'c', 'r');
    equal(await page.evaluate('document.getElementById("panel").scrollWidth <= document.getElementById("panel").clientWidth'), true, 'long names are wrapped');
    await audit(page);
});

// A value with 10^5 uses, an op with 10^5 outputs, one with as many inputs.
await tell('fans', view('fans.param', fans(100000), '--from', 'pnnx'), async (page) => {
    await page.evaluate('go(0, -1)');
    check((await page.textContent('#panel')).includes('and 99,'), 'the panel has some of the users, and says how many more there are');
    await page.evaluate('go(1, -1)');
    check((await page.textContent('#panel')).includes('more'), 'some of the outputs');
    equal(await page.evaluate('opLines(1).join()'), 'my.Split,split,', 'the lines of a box: outputs without a type have an empty one');
    await page.focus('#graph');
    await press(page, 'ArrowDown', 'ArrowUp', '0', 'End', 'ArrowUp');
    check(await page.evaluate('state.selected >= 0'), 'an op is selected');
});

await tell('one op, from left to right', view('one.param', '7767517\n1 1\npnnx.Input a 0 1 0 #0=(1,3)f32\n', '--from', 'pnnx', '--left-to-right'), async (page) => {
    equal(await page.evaluate('scene.sideways'), true, 'as the command says');
    await page.focus('#graph');
    await press(page, 'End', 'ArrowRight', 'ArrowLeft', 'ArrowUp', 'ArrowDown');
    check(await page.evaluate('state.selected') >= 0, 'an op is selected');
});

fs.writeFileSync('time.json', '{"title": "Time <b>", "unit": "ms", "values": {"layer0.block0.conv1": 1.5, "#4": 22, "#3": NaN, "nobody": 3}}');
fs.writeFileSync('wrong.json', 'no');
await tell('files of numbers', view('data.param', blocks(1, 1), '--from', 'pnnx', '--data', 'time.json', '--data', 'wrong.json'), async (page) => {
    const panel = await page.textContent('#panel');
    for (const note of ['1 name that no op has', '1 value without a finite number', 'data 2 is not a JSON file']) check(panel.includes(note), note);
    await page.selectOption('#colour', '3');
    check((await page.textContent('#legend')).includes('Time <b> in ms'), 'the legend');
    equal(await page.evaluate('[heat.low, heat.high, heat.ops[1], heat.groups[1]].join()'), '1.5,22,1.5,22', 'the range; a group has the greatest');
    await page.evaluate('go(4, -1)');
    check((await page.textContent('#panel')).includes('22\u00a0ms'), 'the number in the panel');
});

// 100 000 ops: figures for people, and that it works at all. A layer has 2000 ops.
const large = view('large.param', blocks(50, 400, false), '--from', 'pnnx', '--no-values');
await tell('100 000 ops', large, async (page) => {
    equal(await page.textContent('#subtitle'), '100,002 ops', 'the count');
    const begin = Date.now();
    await page.reload();
    await settled(page);
    const opened = Date.now() - begin;
    await page.focus('#graph');
    await page.evaluate('stage.frames = []');
    for (let i = 0; i < 40; i++) await press(page, i % 2 ? '+' : 'Shift+ArrowDown');
    await press(page, 'e');
    for (let i = 0; i < 60; i++) await press(page, i % 3 ? '-' : 'Shift+ArrowDown');
    const frames = (await page.evaluate('stage.frames')).sort((a, b) => a - b);
    const heap = await page.evaluate('performance.memory ? performance.memory.usedJSHeapSize : 0');
    const opening = await page.evaluate(() => {
        openTo(3);
        setOpen(1, false);
        settle();
        const from = performance.now();
        toggle(1);
        return performance.now() - from;
    });
    await type(page, 'layer49 add');
    equal(await page.textContent('#found'), '400 ops', 'a search');
    console.log(`100 000 ops: ${(fs.statSync(large).size / 1e6).toFixed(1)} MB, first picture ${opened} ms, ${frames.length} frames, ` +
        `median ${frames[frames.length >> 1].toFixed(1)} ms, p99 ${frames[Math.floor(frames.length * 0.99)].toFixed(1)} ms, ` +
        `a group of 2000 ops opens in ${opening.toFixed(0)} ms, heap ${(heap / 1e6).toFixed(0)} MB`);
});

await browser.close();
console.log(`${checks} checks`);
process.exit(failures ? 1 : 0);
