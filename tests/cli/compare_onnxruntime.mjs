// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

/* Dumps all values that ONNX Runtime computes in a model, without its optimisations, as a device would: a .npy file for
 * each, in FOLDER, the inputs too.
 *
 *     node compare_onnxruntime.mjs PACKAGE XIR MODEL.onnx FOLDER [DIM=N]...
 *
 * xir extract makes every value an output. Elements that are no numbers of 1, 4 or 8 bytes are left out. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [npm, xir, model, folder, ...words] = process.argv.slice(2);
const ort = createRequire(import.meta.url)(resolve(npm));
const dims = Object.fromEntries(words.map(w => w.split('=')).map(([name, n]) => [name, Number(n)]));
const arrays = { float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array, bool: Uint8Array };
const codes = { float32: '<f4', float64: '<f8', int8: '|i1', uint8: '|u1', int32: '<i4', int64: '<i8',
                bool: '|b1' };

function npy(name, type, shape, data) {
    const comma = shape.length === 1 ? ',' : '';
    const text = `{'descr': '${codes[type]}', 'fortran_order': False, 'shape': (${shape.join(', ')}${comma}), }`;
    const header = Buffer.from('\x93NUMPY\x01\x00\x76\x00' + text.padEnd(117) + '\n', 'latin1');
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    writeFileSync(join(folder, name.replaceAll('/', '_') + '.npy'), Buffer.concat([header, bytes]));
}

/* Floats in [-1, 1), integers 0 and 1, true for one of 4. */
function input(meta, seed) {
    const shape = meta.shape.map(d => typeof d === 'number' ? d : dims[d] ?? 1);
    const data = new arrays[meta.type](shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) {
        seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
        const bits = seed >>> 8;
        data[i] = meta.type === 'int64' ? BigInt(bits & 1) : meta.type === 'bool' ? bits % 4 === 0
                : meta.type === 'int32' ? bits & 1 : bits / (1 << 23) - 1;
    }
    return new ort.Tensor(meta.type, data, shape);
}

const net = JSON.parse(execFileSync(xir, ['show', model, '--compact', '--no-params'], { maxBuffer: 1 << 28 }));
const made = net.ops.slice(1, -1).flatMap(op => op.outputs.map(v => v.name)).filter(name => name);
mkdirSync(folder, { recursive: true });
const all = join(folder, '..', 'all.onnx');
let ends = made;
for (;;) {   /* without those whose type nothing tells */
    const { status, stderr } = spawnSync(xir, ['extract', model, all, ...ends.flatMap(name => ['--end', name])],
                                         { encoding: 'utf8' });
    const untyped = /the output '([^']*)' has no type/.exec(stderr);
    if (!status) break;
    if (!untyped) throw new Error(stderr);
    ends = ends.filter(name => name !== untyped[1]);
}
const session = await ort.InferenceSession.create(all, { graphOptimizationLevel: 'disabled', logSeverityLevel: 4 });
const feeds = Object.fromEntries(session.inputMetadata.map((meta, i) => [meta.name, input(meta, 7 + i)]));
for (const [name, t] of Object.entries(feeds)) npy(name, t.type, t.dims, t.data);
for (const [name, t] of Object.entries(await session.run(feeds)))
    if (codes[t.type]) npy(name, t.type, t.dims, t.data);
