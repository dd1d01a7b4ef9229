// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Texts that come from files are hostile: they only ever become text nodes, and what would be invisible or would turn
// the line around is shown as its code.

const $ = (id) => document.getElementById(id);

// An element with text and children. `attributes` never take texts from the file, except as aria-label and title.
const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes || {})) {
        if (value === false || value === undefined) continue;
        if (key === 'on') for (const [event, f] of Object.entries(value)) made.addEventListener(event, f);
        else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
    return made;
};

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
const code = (c) => '\\u{' + c.charCodeAt(0).toString(16) + '}';

// At most `most` characters of a text, all of them visible. A name may be longer than a megabyte.
const shown = (text, most = 400) => {
    const cut = text.length > most ? text.slice(0, most - 1) + '…' : text;
    return cut.replace(UNSEEN, code).replace(LONE, '\ufffd');
};
// The end of a long name says more than its beginning.
const ending = (text, most) => text.length > most ? '…' + text.slice(1 - most) : text;
const bdi = (text, most) => element('bdi', {}, shown(text, most));

// A number that people read: 4 digits and a prefix. JSON has null for a number that is not finite.
const PREFIXES = [[1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
const digits = (x) => (x === null ? '–' : String(Number.isInteger(x) ? x : Number(x.toPrecision(4))));
const amount = (x, unit) => {
    if (x === null) return '–';
    if (!Number.isFinite(x)) return String(x);
    const prefix = PREFIXES.find(([size]) => Math.abs(x) >= size);
    const tail = (prefix ? prefix[1] : '') + (unit || '');
    return digits(prefix ? Number((x / prefix[0]).toPrecision(4)) : x) + (tail ? '\u00a0' + tail : '');
};
const count = (n, one, many) => n.toLocaleString('en') + ' ' + (n === 1 ? one : many || one + 's');

// Says a sentence to those who listen instead of looking.
const say = (text) => { $('said').textContent = text; };
