// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The view as SVG: paint() draws on what records the calls of a 2D context instead of doing them.

const markup = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const recorder = () => {
    const out = [], near = (x) => Number(x.toFixed(2));
    let path = '';
    return {
        out, fillStyle: '', strokeStyle: '', lineWidth: 1, font: '', dash: '',
        setLineDash(lengths) { this.dash = lengths.length ? ` stroke-dasharray="${lengths.map(near).join(' ')}"` : ''; },
        beginPath() { path = ''; },
        moveTo(x, y) { path += `M${near(x)} ${near(y)}`; },
        lineTo(x, y) { path += `L${near(x)} ${near(y)}`; },
        bezierCurveTo(...at) { path += 'C' + at.map(near).join(' '); },
        roundRect(x, y, w, h, r) {
            const [X, Y, W, H, R] = [x, y, w - 2 * r, h - 2 * r, r].map(near), arc = (u, v) => `a${R} ${R} 0 0 1 ${u * R} ${v * R}`;
            path += `M${near(X + R)} ${Y}h${W}${arc(1, 1)}v${H}${arc(-1, 1)}h${-W}${arc(-1, -1)}v${-H}${arc(1, -1)}z`;
        },
        fill() { if (path) out.push(`<path d="${path}" fill="${this.fillStyle}"/>`); },
        stroke() { if (path) out.push(`<path d="${path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${near(this.lineWidth)}"${this.dash}/>`); },
        fillRect(x, y, w, h) {
            out.push(`<rect x="${near(x)}" y="${near(y)}" width="${near(w)}" height="${near(h)}" fill="${this.fillStyle}"/>`);
        },
        strokeText() {},
        measureText(text) {
            stage.context.font = this.font;
            return stage.context.measureText(text);
        },
        fillText(text, x, y) {
            const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(this.font);
            out.push(`<text x="${near(x)}" y="${near(y)}" font-weight="${weight}" font-size="${near(Number(size))}" ` +
                `fill="${this.fillStyle}">${markup(text)}</text>`);
        },
    };
};
const viewAsSvg = () => {
    const to = recorder(), { width, height } = stage;
    paint(to, width, height, camera);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
        `font-family="${markup(FACE)}"><title>${markup(shown(net.name, 200))}</title>${out(to)}</svg>\n`;
};
const out = (to) => to.out.join('\n');
const saveView = () => {
    const link = element('a', { download: (net.name.replace(/[^\w.-]+/g, '_').slice(0, 80) || 'network') + '.svg' });
    link.href = URL.createObjectURL(new Blob([viewAsSvg()], { type: 'image/svg+xml' }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    say('saved');
};
