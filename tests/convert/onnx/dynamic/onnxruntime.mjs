// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

/* What ONNX Runtime makes of the models of this folder, and what it computes with them: an implementation that is not
 * XIR's. FOLDER is that of the npm package (npm install --ignore-scripts onnxruntime-node@1.30.0).
 *
 *     node onnxruntime.mjs FOLDER record       writes optimised/MODEL.onnx and extended/MODEL.onnx, the model after its
 *                                              basic and its extended optimisations, and recorded.txt, the outputs
 *                                              of the model without any
 *     node onnxruntime.mjs FOLDER check XIR    runs the models with other dims and inputs in both, and compares
 *
 * The inputs are the numbers of make_input in dynamic.c, so the files hold outputs only. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const [folder, verb, xir] = process.argv.slice(2);
const ort = createRequire(import.meta.url)(resolve(folder));
const here = new URL('.', import.meta.url).pathname;

const recorded = {
    mlp:     [{ batch: 1 }, { batch: 3 }],
    vit:     [{ batch: 1 }, { batch: 2 }],
    yolo:    [{ batch: 1, height: 16, width: 16 }, { batch: 2, height: 8, width: 24 }],
    tagger:  [{ batch: 1, length: 1 }, { batch: 2, length: 5 }],
    bert:    [{ batch: 1, length: 1 }, { batch: 2, length: 6 }],
    gpt:     [{ batch: 1, length: 1, past: 0 }, { batch: 2, length: 3, past: 4 }],
    encoder: [{ s0: 1, s1: 1 }, { s0: 2, s1: 6 }],
    efficientnet: [{ batch: 1 }, { batch: 2 }],
    convnext: [{ batch: 1 }, { batch: 2 }],
    swin:    [{ batch: 1 }, { batch: 2 }],
    unet:    [{ batch: 1 }, { batch: 2 }],
    distilbert: [{ batch: 1 }, { batch: 2 }],
};
const checked = {
    mlp:     [{ batch: 2 }, { batch: 11 }],
    vit:     [{ batch: 3 }, { batch: 7 }],
    yolo:    [{ batch: 2, height: 40, width: 8 }, { batch: 1, height: 64, width: 32 }],
    tagger:  [{ batch: 3, length: 9 }, { batch: 1, length: 17 }],
    bert:    [{ batch: 1, length: 32 }, { batch: 4, length: 7 }],
    gpt:     [{ batch: 1, length: 8, past: 0 }, { batch: 3, length: 1, past: 20 }],
    encoder: [{ s0: 1, s1: 8 }, { s0: 4, s1: 3 }],
    efficientnet: [{ batch: 3 }, { batch: 7 }],
    convnext: [{ batch: 3 }, { batch: 7 }],
    swin:    [{ batch: 3 }, { batch: 7 }],
    unet:    [{ batch: 3 }, { batch: 7 }],
    distilbert: [{ batch: 3 }, { batch: 7 }],
};

/* ---- inputs: floats in [-1, 1), integers 0 and 1, true for one of 4 ------------------------------------------------ */

const arrays = { float32: Float32Array, int64: BigInt64Array, bool: Uint8Array };
const codes = { float32: '<f4', int64: '<i8', bool: '|b1' };

function input(meta, dims, seed) {
    const shape = meta.shape.map(d => typeof d === 'number' ? d : dims[d]);
    const data = new arrays[meta.type](shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) {
        seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
        const r = seed >>> 16 & 1023;
        data[i] = meta.type === 'float32' ? r / 512 - 1 : meta.type === 'bool' ? r < 256 : BigInt(r & 1);
    }
    return new ort.Tensor(meta.type, data, shape);
}

async function run(model, dims, seed) {
    const options = { graphOptimizationLevel: 'disabled' };
    const session = await ort.InferenceSession.create(join(here, model + '.onnx'), options);
    const inputs = {};
    session.inputMetadata.forEach((meta, i) => { inputs[meta.name] = input(meta, dims, seed + i); });
    return { inputs, outputs: await session.run(inputs) };
}

const bind = dims => Object.entries(dims).map(([name, n]) => `${name}=${n}`).join(',');

/* ---- the two verbs --------------------------------------------------------------------------------------------------- */

async function record() {
    let text = `# What onnxruntime-node ${ort.env.versions.node} computes without optimisations (onnxruntime.mjs).\n` +
               '# model dims output shape: numbers\n';
    for (const model in recorded) {
        for (const [level, to] of [['basic', 'optimised'], ['extended', 'extended']]) {
            await ort.InferenceSession.create(join(here, model + '.onnx'), {
                graphOptimizationLevel: level, optimizedModelFilePath: join(here, to, model + '.onnx') });
        }
        for (const dims of recorded[model]) {
            const { outputs } = await run(model, dims, 1);
            for (const name in outputs) {
                const { dims: shape, data } = outputs[name];
                const numbers = Array.from(data, n => String(Number(Number(n).toPrecision(7))));
                text += `${model} ${bind(dims)} ${name} ${shape.join('x')}: ${numbers.join(' ')}\n`;
            }
        }
    }
    writeFileSync(join(here, 'recorded.txt'), text);
}

function npy(tensor) {
    const shape = tensor.dims.map(d => d + ',').join('');
    let head = `{'descr': '${codes[tensor.type]}', 'fortran_order': False, 'shape': (${shape}), }`;
    head += ' '.repeat(63 - (10 + head.length) % 64) + '\n';
    const size = Buffer.alloc(2);
    size.writeUInt16LE(head.length);
    const { buffer, byteOffset, byteLength } = tensor.data;
    return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), size, Buffer.from(head),
                          Buffer.from(buffer, byteOffset, byteLength)]);
}

async function check() {
    const scratch = mkdtempSync(join(tmpdir(), 'xir-ort-'));
    try {
        for (const model in checked) {
            for (const [k, dims] of checked[model].entries()) {
                const { inputs, outputs } = await run(model, dims, 100 + k);
                const expected = join(scratch, 'expected');
                mkdirSync(expected, { recursive: true });
                const args = ['run', '--compare', expected];
                for (const name in inputs) {
                    const file = join(scratch, `${name}.npy`);
                    writeFileSync(file, npy(inputs[name]));
                    args.push('--input', `${name}=${file}`);
                }
                for (const name in outputs) writeFileSync(join(expected, `${name}.npy`), npy(outputs[name]));
                for (const file of [`${model}.onnx`, `optimised/${model}.onnx`, `extended/${model}.onnx`]) {
                    process.stdout.write(`${file} ${bind(dims)}\n`);
                    execFileSync(xir, [...args, join(here, file)], { stdio: 'inherit' });
                }
                rmSync(expected, { recursive: true });
            }
        }
    } finally {
        rmSync(scratch, { recursive: true });
    }
}

if (verb === 'record') await record();
else if (verb === 'check' && xir) await check();
else throw new Error('usage: node onnxruntime.mjs FOLDER record | check XIR');
