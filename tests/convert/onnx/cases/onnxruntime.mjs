// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

/* What ONNX Runtime computes with the models of cases.txt, all optimisations off: writes recorded.txt. FOLDER is that
 * of the npm package (npm install --ignore-scripts onnxruntime-node@1.30.0).
 *
 *     node onnxruntime.mjs FOLDER [NAME]       with NAME prints the lines of that case, and writes nothing
 *     node onnxruntime.mjs FOLDER --check      compares with recorded.txt
 *     node onnxruntime.mjs FOLDER --again XIR [NAME]   the program XIR converts each model to XIR's ops and back, to several
 *                                              versions: ONNX Runtime must compute the same. Integers of sums of reals
 *                                              may differ by 1 (docs/onnx.md)
 *
 * The models and the numbers in them are those that cases.h makes. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [folder, only, xir, single_again] = process.argv.slice(2);
const ort = createRequire(import.meta.url)(resolve(folder));
const here = new URL('.', import.meta.url).pathname;

/* ---- protobuf ---------------------------------------------------------------------------------------------------- */

function varint(n) {
    const out = [];
    for (n = BigInt.asUintN(64, BigInt(n)); n > 127n; n >>= 7n) out.push(Number(n & 127n) | 128);
    return [...out, Number(n)];
}
const int = (field, n) => [...varint(field << 3), ...varint(n)];
const bytes = (field, data) => [...varint(field << 3 | 2), ...varint(data.length), ...data];
const text = (field, s) => bytes(field, [...Buffer.from(s)]);
const real = (field, x) => [...varint(field << 3 | 5), ...new Uint8Array(new Float32Array([x]).buffer)];

/* ---- values ------------------------------------------------------------------------------------------------------ */

const elements = {
    f32: [1, 'float32', Float32Array], f64: [11, 'float64', Float64Array], u8: [2, 'uint8', Uint8Array],
    i8: [3, 'int8', Int8Array], i32: [6, 'int32', Int32Array], i64: [7, 'int64', BigInt64Array],
    bool: [9, 'bool', Uint8Array], u32: [12, 'uint32', Uint32Array], u16: [4, 'uint16', Uint16Array],
    i16: [5, 'int16', Int16Array], u64: [13, 'uint64', BigUint64Array], u4: [21, 'uint4', Uint8Array],
    i4: [22, 'int4', Int8Array],
};

function value(word, seed) {
    const [, star, name, type, dims, given] = /^(\*?)([^=]+)=(\w+)\[([^\]]*)\](?:\{(.*)\})?$/.exec(word);
    const [code, kind, Data] = elements[type];
    const shape = dims ? dims.replaceAll('?', '').split(',').map(Number) : [];
    const n = shape.reduce((a, b) => a * b, 1), data = new Data(n), big = kind.endsWith('64') && kind !== 'float64';
    const list = given === undefined ? [] : given.split(',').map(Number);
    for (let i = 0; i < n; i++) {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        const r = seed >>> 16 & 1023;
        let x = kind.startsWith('float') ? r / 512 - 1 : kind === 'bool' ? Number(r < 256) : kind === 'uint8' ? r & 255
              : kind === 'int8' ? (r & 255) - 128 : kind === 'uint4' ? r & 15 : kind === 'int4' ? (r & 15) - 8 : r & 3;
        if (i < list.length) x = list[i];
        data[i] = big ? BigInt(x) : x;
    }
    return { name, constant: star === '*', code, kind, shape, data };
}

/* ---- models ------------------------------------------------------------------------------------------------------ */

const bodies = new Map();   /* graphs and functions, by name */
const words = s => s.split(/ +/).filter(w => w);
const opsetOf = s => s ? Number(s.slice(6)) : 17;
const set = (domain, version) => [...text(1, domain), ...int(2, version)];

function tensor(v) {
    const packed = data => data.reduce((to, x, i) => (to[i >> 1] |= (x & 15) << i % 2 * 4, to),
                                       Array((data.length + 1) >> 1).fill(0));
    const raw = v.kind.endsWith('int4') ? packed([...v.data]) : [...new Uint8Array(v.data.buffer)];
    return [...v.shape.flatMap(d => int(1, d)), ...int(2, v.code), ...text(8, v.name), ...bytes(9, raw)];
}

/* "x", "x=f32" of any shape, "x=f32[2]" */
function info(word) {
    const [, name, type, dims] = /^([^=]+)(?:=(\w+)(\[.*\])?)?$/.exec(word);
    const shape = dims ? bytes(2, words(dims.slice(1, -1).replaceAll(',', ' ')).flatMap(d => bytes(1, int(1, d)))) : [];
    return [...text(1, name), ...(type ? bytes(2, bytes(1, [...int(1, elements[type][0]), ...shape])) : [])];
}

function graph([name, inputs, constants, nodes, outputs]) {
    return [...nodes.split(';').flatMap(n => bytes(1, node(n))), ...text(2, name.slice(1)),
            ...words(constants).flatMap(w => bytes(5, tensor(value(w, 1)))),
            ...words(inputs).flatMap(w => bytes(11, info(w))),
            ...words(outputs).flatMap(w => bytes(12, text(1, w)))];
}

function func([name, inputs, attributes, nodes, outputs, opset, overload]) {
    const dot = name.lastIndexOf('.'), domain = name.slice(1, dot);
    return [...text(1, name.slice(dot + 1)), ...words(inputs).flatMap(w => text(4, w)),
            ...words(outputs).flatMap(w => text(5, w)), ...nodes.split(';').flatMap(n => bytes(7, node(n))),
            ...bytes(9, set('', opsetOf(opset))), ...bytes(9, set(domain, 1)), ...text(10, domain),
            ...(overload ? text(13, overload) : []),
            ...words(attributes).flatMap(w => w.includes('=') ? bytes(11, attribute(w)) : text(6, w))];
}

function functionsOf(nodes) {
    return [...bodies.values()].filter(b => b[0].includes('.') &&
                                            nodes.includes(b[0].slice(1, b[0].lastIndexOf('.') + 1)));
}

function attribute(word) {
    const at = word.indexOf('='), name = word.slice(0, at), v = word.slice(at + 1), head = text(1, name);
    const items = v.slice(1, -1).split(',').filter(s => s);
    if (v[0] === '@') return [...head, ...bytes(6, graph(bodies.get(v.slice(1)))), ...int(20, 5)];
    if (v[0] === '$') {
        const [of, kind] = v.slice(1).split(':');
        return [...head, ...text(21, of), ...int(20, { f: 1, i: 2, s: 3, t: 4, g: 5, I: 7 }[kind])];
    }
    if (v[0] === '[') return [...head, ...items.flatMap(s => int(8, BigInt(s))), ...int(20, 7)];
    if (v[0] === '{') return [...head, ...items.flatMap(s => real(7, Number(s))), ...int(20, 6)];
    if (!/^[-0-9]/.test(v)) return [...head, ...text(4, v), ...int(20, 3)];
    if (/[.e]/.test(v)) return [...head, ...real(2, Number(v)), ...int(20, 1)];
    return [...head, ...int(3, BigInt(v)), ...int(20, 2)];
}

function node(words) {
    const [type, inputs, outputs, ...attributes] = words.trim().split(/ +/), dot = type.lastIndexOf('.');
    const names = inputs === '-' ? [] : inputs.split(',');
    return [...names.flatMap(s => text(1, s)), ...outputs.split(',').flatMap(s => text(2, s)), ...text(4, type.slice(dot + 1)),
            ...attributes.flatMap(a => bytes(5, attribute(a))),
            ...(dot < 0 ? [] : text(7, type.slice(0, dot)))];
}

function model(opset, values, nodes, outputs) {
    const shape = dims => bytes(2, dims.flatMap(d => bytes(1, int(1, d))));
    const main = [
        ...nodes.split(';').flatMap(n => bytes(1, node(n))), ...text(2, 'net'),
        ...values.filter(v => v.constant).flatMap(v => bytes(5, tensor(v))),
        ...values.filter(v => !v.constant).flatMap(v => bytes(11, [
            ...text(1, v.name), ...bytes(2, bytes(1, [...int(1, v.code), ...shape(v.shape)]))])),
        ...outputs.split(/ +/).flatMap(o => bytes(12, text(1, o))),
    ];
    const functions = functionsOf(nodes);
    const domains = new Set(functions.map(f => f[0].slice(1, f[0].lastIndexOf('.'))));
    return Uint8Array.from([
        ...int(1, 8), ...bytes(7, main), ...functions.flatMap(f => bytes(25, func(f))),
        ...[['', opset], ['com.microsoft', 1], ...[...domains].map(d => [d, 1])].flatMap(([d, n]) => bytes(8, set(d, n)))]);
}

async function record(line) {
    const [name, opset, list, nodes, outputs] = line.split('|').map(s => s.trim());
    const values = words(list).map((w, i) => value(w, i + 1));
    const session = await ort.InferenceSession.create(
        model(opsetOf(opset), values, nodes, outputs),
        { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 });
    const feeds = {};
    for (const v of values) if (!v.constant) feeds[v.name] = new ort.Tensor(v.kind, v.data, v.shape);
    const results = await session.run(feeds);
    if (only === '--again') await again(name, model(opsetOf(opset), values, nodes, outputs), feeds, results);
    return outputs.split(/ +/).map(o => {
        const { dims, data, type } = results[o];
        const numbers = Array.from(data, x => String(type.startsWith('float') ? Number(x.toPrecision(7)) : x));
        return `${name} ${o} ${dims.join('x') || '1'}: ${numbers.join(' ')}\n`;
    }).join('');
}

/* ---- there and back ---------------------------------------------------------------------------------------------- */

const counts = { same: 0, near: 0, stays: 0, differ: 0, refused: 0 };
const temporary = only === '--again' ? mkdtempSync(join(tmpdir(), 'xir-again-')) : '';

function compare(name, a, b) {
    if (a.type !== b.type || a.data.length !== b.data.length) return 'differ';
    let worst = 'same';
    for (let i = 0; i < a.data.length; i++) {
        const x = Number(a.data[i]), y = Number(b.data[i]);
        if (x === y || (Number.isNaN(x) && Number.isNaN(y))) continue;
        const near = a.type.startsWith('float') ? Math.abs(x - y) <= 1e-5 + 1e-5 * Math.abs(x) : Math.abs(x - y) <= 1;
        if (!near) return console.error(`${name}[${i}]: ${x}, then ${y}`), 'differ';
        if (!a.type.startsWith('float')) worst = 'near';
    }
    return worst;
}

async function again(name, bytes, feeds, results) {
    const from = join(temporary, 'a.onnx'), to = join(temporary, 'b.onnx');
    writeFileSync(from, bytes);
    for (const version of [11, 13, 17, 21, 23]) {
        rmSync(to, { force: true });
        const run = spawnSync(xir, ['opt', from, to, '--set', `xir-to-onnx.opset=${version}`], { encoding: 'utf8' });
        if (run.status || !existsSync(to)) {
            counts.stays++;
            if (single_again) console.error(`${name}, version ${version}: ${run.stderr}`);
            continue;
        }
        let now;
        try {
            const session = await ort.InferenceSession.create(to, { graphOptimizationLevel: 'disabled', logSeverityLevel: 3 });
            now = await session.run(feeds);
        } catch (e) {
            counts.refused++;
            console.error(`${name}, version ${version}: ${e.message}`);
            continue;
        }
        let worst = 'same';
        for (const o of Object.keys(results)) {
            const found = now[o] ? compare(`${name}, version ${version}: ${o}`, results[o], now[o]) : 'differ';
            if (found !== 'same' && worst !== 'differ') worst = found;
        }
        counts[worst]++;
        if (worst !== 'same') console.error(`${name}, version ${version}: ${worst}`);
    }
}

const version = ort.env.versions.node;
let out = `# What onnxruntime-node ${version} computes with the models of cases.txt (onnxruntime.mjs).\n` +
          '# case output shape: numbers\n', failed = 0;
const single = single_again ?? (only && !only.startsWith('--') ? only : undefined);
for (const line of readFileSync(join(here, 'cases.txt'), 'utf8').split('\n')) {
    if (line[0] === '@') {
        const parts = line.split('|').map(s => s.trim());
        bodies.set(parts[0].slice(1), parts);
    }
    if (!line || '#@'.includes(line[0]) || (single && line.split('|')[0].trim() !== single)) continue;
    try {
        out += await record(line);
    } catch (e) {
        failed++;
        console.error(`${line.split('|')[0]}: ${e.message}`);
    }
}
if (only === '--again') {
    rmSync(temporary, { recursive: true });
    console.log(Object.entries(counts).map(([k, n]) => `${k} ${n}`).join(', '));
    failed = counts.differ;
} else if (single) process.stdout.write(out);
else if (only === '--check') failed += out !== readFileSync(join(here, 'recorded.txt'), 'utf8');
else writeFileSync(join(here, 'recorded.txt'), out);
process.exitCode = failed ? 1 : 0;
