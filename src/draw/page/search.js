// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// Search: words that are all in the name or the class, and words with a key. Marked are all ops found, listed are the
// first of them.

const SEARCH_HELP = [
    ['layer1 conv', 'ops whose name or class has all these words'],
    ['class:Conv2d', 'ops of a class; class:conv* for several'],
    ['attr:groups=2', 'ops with this attribute; attr:groups for any value'],
    ['shape:512', 'inputs or outputs with this dim; shape:1x3x224x224 for all dims'],
    ['type:int8', 'inputs or outputs of this type; fp32, fp16, uint8'],
    ['tag:key=text', 'ops with this tag'],
    ['id:17', 'the op with this number'],
    ['diff:added', 'with --diff: ops that were added, removed, moved, changed; diff:any'],
    ['-class:Relu', 'not this; "two words" are one'],
];
const LISTED = 100;
const search = { found: [], at: -1, lower: null };

const termsOf = (text) => (text.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|[^\s"]+)/gi) || []).map((word) => {
    const not = word.length > 1 && word[0] === '-';
    const [, key, rest] = /^(?:(class|name|attr|shape|type|tag|id|diff):)?(.*)$/is.exec(not ? word.slice(1) : word);
    return { not, key: (key || '').toLowerCase(), text: rest.replace(/"/g, '').toLowerCase() };
}).filter((term) => term.text !== '');

// Each makes a function of an op from the text of a term.
const matchers = {
    '': (text) => {
        const classes = net.classes.key.map((key) => key.toLowerCase().includes(text));
        return (op) => classes[net.ops.class[op]] || search.lower[net.ops.name[op]].includes(text);
    },
    name: (text) => (op) => search.lower[net.ops.name[op]].includes(text),
    class: (text) => {
        const [head, ...tail] = text.split('*'), exact = tail.length === 0;
        const classes = net.classes.key.map((key) => {
            const low = key.toLowerCase();
            return exact ? low === text : low.startsWith(head) && low.slice(head.length).includes(tail.join(''));
        });
        return (op) => classes[net.ops.class[op]];
    },
    id: (text) => (op) => String(net.ops.id[op]) === text.replace(/^#/, ''),
    diff: (text) => (op) => changeOf(op) !== 0 && (text === 'any' || changeWords(changeOf(op)).split(' ').includes(text)),
    attr: (text) => inSets(text, net.ops.attrs),
    tag: (text) => inSets(text, net.ops.tags),
    type: (text) => inTypes((type) => type.includes(text)),
    shape: (text) => {
        const wanted = text.split(/[x,×]/);
        return inTypes((type) => {
            const dims = type.slice(type.indexOf(' ') + 1).split('×');
            return wanted.length > 1 ? dims.join() === wanted.join() : dims.includes(wanted[0]);
        });
    },
};
// Sets of attributes are shared by many ops, and so are types: each is asked once.
const inSets = (text, of) => {
    const [key, ...rest] = text.split('='), value = rest.join('='), asked = new Map();
    return (op) => {
        const set = of[op];
        if (!asked.has(set)) {
            asked.set(set, setRows(set).some(([k, v]) => k.toLowerCase() === key && (!rest.length || v.toLowerCase() === value)));
        }
        return asked.get(set);
    };
};
const inTypes = (test) => {
    const asked = new Map();
    const has = (value) => {
        if (value < 0) return false;
        const type = net.values.type[value];
        if (!asked.has(type)) asked.set(type, test(search.lower[type]));
        return asked.get(type);
    };
    return (op) => {
        if (inputs(op).some(has)) return true;
        for (let v = net.ops.outStart[op]; v < net.ops.outStart[op + 1]; v++) if (has(v)) return true;
        return false;
    };
};

const find = (text) => {
    const terms = termsOf(text);
    search.lower = search.lower || net.strings.map((s) => s.toLowerCase());
    search.found = [];
    search.at = -1;
    state.hits = state.groupHits = null;
    if (!terms.length) return;
    const tests = terms.map(({ not, key, text: word }) => ({ not, test: matchers[key](word) }));
    state.hits = new Uint8Array(net.ops.n);
    state.groupHits = new Int32Array(net.groups.n);
    for (let op = 0; op < net.ops.n; op++) {
        if (!tests.every(({ not, test }) => test(op) !== not)) continue;
        search.found.push(op);
        state.hits[op] = 1;
        state.groupHits[net.vertices.group[net.ops.vertex[op]]]++;
    }
    for (let g = net.groups.n - 1; g > 0; g--) state.groupHits[net.groups.parent[g]] += state.groupHits[g];
};

const drawHits = () => {
    const { found, at } = search, list = $('hits'), query = $('query'), active = state.hits !== null;
    $('found').textContent = !active ? '' : at < 0 ? count(found.length, 'op') : `${at + 1} of ${found.length.toLocaleString('en')}`;
    const from = Math.max(0, Math.min(at - 5, found.length - LISTED));
    list.replaceChildren(...found.slice(from, from + LISTED).map((op, i) => element('li', { role: 'option', id: 'hit' + (from + i),
        'aria-selected': String(from + i === at), on: { mousedown: (event) => { event.preventDefault(); goHit(from + i); } } },
        dot(theme.families[opFamily(op)]), element('span', {}, shown(opKey(op), 60)),
        element('span', { class: 'name' }, bdi(opName(op) || '#' + net.ops.id[op], 120)))));
    list.hidden = !found.length || document.activeElement !== query;
    query.setAttribute('aria-expanded', String(!list.hidden));
    if (at >= 0 && !list.hidden) {
        query.setAttribute('aria-activedescendant', 'hit' + at);
        $('hit' + at).scrollIntoView({ block: 'nearest' });
    } else query.removeAttribute('aria-activedescendant');
};
const goHit = (at) => {
    const n = search.found.length;
    if (!n) return;
    search.at = (at + n) % n;
    go(search.found[search.at], -1);
    drawHits();
};
const startSearch = () => {
    const query = $('query');
    let waiting = 0;
    const run = () => {
        find(query.value);
        drawHits();
        redraw();
        if (state.hits) say(count(search.found.length, 'op') + ' found');
    };
    query.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(run, 60); });
    query.addEventListener('focus', drawHits);
    query.addEventListener('blur', drawHits);
    query.addEventListener('keydown', (event) => {
        if (event.key === 'ArrowDown' || (event.key === 'Enter' && !event.shiftKey)) goHit(search.at + 1);
        else if (event.key === 'ArrowUp' || event.key === 'Enter') goHit(search.at - 1);
        else if (event.key === 'Escape') {
            if (query.value) { query.value = ''; run(); } else $('graph').focus();
        } else return;
        event.preventDefault();
        event.stopPropagation();
    });
    $('find').addEventListener('submit', (event) => event.preventDefault());
};
