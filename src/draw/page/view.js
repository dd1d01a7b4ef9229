// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The camera, and frames: something changes, one frame is asked for, and it paints everything once.

const camera = { x: 0, y: 0, k: 1 };       // the point of the picture in the upper left corner; pixels a unit
const stage = { width: 0, height: 0, asked: false, frames: [], notes: [] };

const redraw = () => {
    if (stage.asked) return;
    stage.asked = true;
    requestAnimationFrame(frame);
};
const frame = (now) => {
    stage.asked = false;
    const begin = performance.now();
    if (stage.glide) glideStep(now);
    const ratio = devicePixelRatio || 1, canvas = $('graph');
    if (canvas.width !== Math.round(stage.width * ratio) || canvas.height !== Math.round(stage.height * ratio)) {
        canvas.width = Math.round(stage.width * ratio);
        canvas.height = Math.round(stage.height * ratio);
    }
    const to = stage.context;
    to.setTransform(ratio, 0, 0, ratio, 0, 0);
    stage.notes = paint(to, stage.width, stage.height, camera);
    stage.last = performance.now() - begin;
    if (stage.frames.length < 5000) stage.frames.push(stage.last);
};
const resize = () => {
    const box = $('stage').getBoundingClientRect();
    stage.width = box.width;
    stage.height = box.height;
    redraw();
};

const smallest = () => Math.min(0.5, 0.5 * fitBox(wholeBox(), 1).k);
const zoomAt = (px, py, factor) => {
    const k = Math.max(smallest(), Math.min(4, camera.k * factor));
    camera.x += px / camera.k - px / k;
    camera.y += py / camera.k - py / k;
    camera.k = k;
    stage.glide = null;
    redraw();
};
const pan = (dx, dy) => {
    camera.x += dx / camera.k;
    camera.y += dy / camera.k;
    stage.glide = null;
    redraw();
};
// Moves the camera to a place, in a fifth of a second unless less motion is wanted.
const glideTo = (to) => {
    if (still.matches) {
        Object.assign(camera, to);
        stage.glide = null;
    } else stage.glide = { from: { ...camera }, to, begin: 0 };
    redraw();
};
const glideStep = (now) => {
    const { from, to } = stage.glide;
    stage.glide.begin = stage.glide.begin || now;
    const t = Math.min(1, (now - stage.glide.begin) / 200), s = t * t * (3 - 2 * t);
    camera.k = from.k * (to.k / from.k) ** s;
    const share = to.k === from.k ? s : (1 / from.k - 1 / camera.k) / (1 / from.k - 1 / to.k);
    camera.x = from.x + (to.x - from.x) * share;
    camera.y = from.y + (to.y - from.y) * share;
    if (t < 1) redraw(); else stage.glide = null;
};
// What is not under the legend.
const free = () => stage.height - ($('legend').hidden ? 0 : $('legend').offsetHeight + 12);
const fitBox = (box, closest) => {
    const k = Math.min(closest, (stage.width - 48) / box.w, (free() - 48) / box.h);
    return { k, x: box.x + box.w / 2 - stage.width / 2 / k, y: box.y + box.h / 2 - free() / 2 / k };
};
const fitAll = () => glideTo(fitBox(wholeBox(), 1.25));
// Where one begins to look: all of it if it can be read, otherwise its head.
const home = () => {
    const whole = wholeBox(), all = fitBox(whole, 1);
    if (all.k < 0.45) {
        const { x, y, w, h } = net.ops.n ? boxOf(standIn(net.ops.vertex[0])) : whole;
        Object.assign(all, scene.sideways ? { k: 0.8, x: x - 50, y: y + h / 2 - stage.height / 1.6 }
            : { k: 0.8, x: x + w / 2 - stage.width / 1.6, y: y - 50 });
    }
    Object.assign(camera, all);
    redraw();
};
// Brings a vertex into sight, with as little motion as that takes.
const show = (vertex) => {
    const { x, y, w, h } = boxOf(vertex), margin = 20, k = Math.max(camera.k, 0.6);
    const left = (x - camera.x) * camera.k, top = (y - camera.y) * camera.k;
    if (camera.k >= 0.35 && left > margin && top > margin && left + w * camera.k < stage.width - margin &&
        top + h * camera.k < free() - margin) return redraw();
    glideTo({ k, x: x + Math.min(w, stage.width / k - 40) / 2 - stage.width / 2 / k,
        y: y + Math.min(h, free() / k - 40) / 2 - free() / 2 / k });
};

// Changes what is open with `change`, and keeps the upper left corner of a vertex where it is on the screen.
const keeping = (vertex, change) => {
    let at = standIn(vertex);
    const before = boxOf(at);
    if (!change()) return;
    settle();
    at = standIn(vertex);
    const after = boxOf(at);
    stage.glide = null;
    camera.x += after.x - before.x;
    camera.y += after.y - before.y;
    treeChanged();
    redraw();
};
// The vertex that the eye is on: the selected one if it is in sight, otherwise one near the middle.
const watched = () => {
    const chosen = state.selected >= 0 ? net.ops.vertex[state.selected] : state.group > 0 ? net.groups.vertex[state.group] : -1;
    if (chosen >= 0) {
        const { x, y } = boxOf(standIn(chosen)), left = (x - camera.x) * camera.k, top = (y - camera.y) * camera.k;
        if (left > -50 && top > -50 && left < stage.width && top < stage.height) return chosen;
    }
    const { vertex, g, u, rank } = lookAt(camera.x + stage.width / 2 / camera.k, camera.y + stage.height / 2 / camera.k);
    if (vertex >= 0) return vertex;
    const { row } = net.groups, at = Math.min(rank, net.groups.rank[g + 1] - 1);
    let best = g ? net.groups.vertex[g] : net.ops.vertex[0], far = Infinity;
    for (let i = row[at]; i < row[at + 1]; i++) {
        const away = Math.abs(scene.c[i] - u);
        if (isBox(i) && away < far) { best = i; far = away; }
    }
    return best;
};
const toggle = (g) => {
    if (g <= 0) return;
    keeping(net.groups.vertex[g], () => setOpen(g, !scene.open[g]));
    say(groupText(g) + (scene.open[g] ? ' expanded' : ' collapsed'));
};
const openDepth = (depth) => {
    if (!net.ops.n) return;
    keeping(watched(), () => openTo(depth));
    say(depth === 1 ? 'all groups collapsed' : depth > scene.depth ? 'all groups expanded' : 'expanded to depth ' + depth);
    $('depth').value = Math.min(depth, scene.depth + 1);
};
