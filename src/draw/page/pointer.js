// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Mouse, pen and fingers on the canvas.

const pointer = { down: new Map(), moved: false, x: 0, y: 0 };

const pointAt = (event) => {
    const box = $('graph').getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
};
const looked = (x, y) => lookAt(camera.x + x / camera.k, camera.y + y / camera.k);
const hover = (x, y) => {
    const at = looked(x, y), box = at.vertex >= 0;
    const value = box || camera.k < 0.15 ? -1 : valueAt(at, 6 / camera.k), { kind, ref } = net.vertices;
    if (at.vertex !== state.over || value !== state.lit) {
        state.over = at.vertex;
        state.lit = value;
        redraw();
    }
    const tip = $('tip'), text = box ? (kind[at.vertex] === NODE ? opText(ref[at.vertex]) : groupText(ref[at.vertex]))
        : value >= 0 ? valueName(value) + '  ' + valueType(value) : '';
    $('graph').classList.toggle('over', box || value >= 0 || noteAt(x, y) !== undefined);
    tip.hidden = text === '';
    if (!text) return;
    tip.replaceChildren(bdi(text, 200));
    tip.style.left = Math.min(x + 14, Math.max(0, stage.width - tip.offsetWidth - 8)) + 'px';
    tip.style.top = (y + 18 + tip.offsetHeight > stage.height ? y - tip.offsetHeight - 8 : y + 18) + 'px';
};
const leave = () => {
    $('tip').hidden = true;
    if (state.over >= 0 || state.lit >= 0) redraw();
    state.over = state.lit = -1;
};
const onDown = (event) => {
    const [x, y] = pointAt(event);
    $('graph').setPointerCapture(event.pointerId);
    pointer.down.set(event.pointerId, [x, y]);
    pointer.moved = pointer.down.size > 1;
};
const onMove = (event) => {
    const [x, y] = pointAt(event), was = pointer.down.get(event.pointerId);
    if (!was) return event.pointerType === 'mouse' ? hover(x, y) : undefined;
    if (!pointer.moved && Math.hypot(x - was[0], y - was[1]) < 4) return;
    pointer.moved = true;
    $('graph').classList.add('drag');
    leave();
    const other = [...pointer.down].find(([id]) => id !== event.pointerId);
    if (other) {
        const [ox, oy] = other[1], before = Math.hypot(was[0] - ox, was[1] - oy), after = Math.hypot(x - ox, y - oy);
        zoomAt((x + ox) / 2, (y + oy) / 2, after / Math.max(before, 1));
        pan((was[0] - x) / 2, (was[1] - y) / 2);
    } else pan(was[0] - x, was[1] - y);
    pointer.down.set(event.pointerId, [x, y]);
};
const onUp = (event) => {
    if (!pointer.down.delete(event.pointerId)) return;
    $('graph').classList.remove('drag');
    if (pointer.moved || event.type === 'pointercancel') return;
    const [x, y] = pointAt(event), { vertex } = looked(x, y), { kind, ref } = net.vertices, note = noteAt(x, y);
    if (note) return go(note[4], -1);
    if (vertex >= 0 && kind[vertex] === GROUP && scene.open[ref[vertex]] && onTwist(vertex, x)) return toggle(ref[vertex]);
    if (vertex >= 0) choose(vertex); else if (state.selected >= 0 || state.group > 0) go(-1, -1);
};
const noteAt = (x, y) => stage.notes.find(([left, top, w, h]) => x >= left && x < left + w && y >= top && y < top + h);
const onTwist = (vertex, x) => (camera.x + x / camera.k) - boxOf(vertex).x < 26;
const onDouble = (event) => {
    const { vertex } = looked(...pointAt(event));
    if (vertex >= 0 && net.vertices.kind[vertex] === GROUP) toggle(net.vertices.ref[vertex]);
};
const onWheel = (event) => {
    event.preventDefault();
    const unit = [1, 16, stage.height][event.deltaMode], [x, y] = pointAt(event);
    leave();
    if (event.ctrlKey || event.metaKey) zoomAt(x, y, Math.exp(-event.deltaY * unit * 0.008));
    else if (event.shiftKey && !event.deltaX) pan(event.deltaY * unit, 0);
    else pan(event.deltaX * unit, event.deltaY * unit);
};
const startPointer = () => {
    const canvas = $('graph');
    for (const [name, f] of Object.entries({ pointerdown: onDown, pointermove: onMove, pointerup: onUp, pointercancel: onUp,
        pointerleave: leave, dblclick: onDouble })) canvas.addEventListener(name, f);
    canvas.addEventListener('wheel', onWheel, { passive: false });
};
