// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// ONNX Runtime computes what the executor does for models with functions that calls have become, with and without its
// optimisations: node functions.mjs FOLDER XIR MODELS, where FOLDER is that of the package onnxruntime-node, XIR the
// program and MODELS examples/models. Works in the current folder.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [folder, xir, models] = process.argv.slice(2)
const ort = createRequire(import.meta.url)(folder)
const run = (...words) => execFileSync(xir, words, { stdio: ['ignore', 'pipe', 'pipe'] })

function floats(path) {
    const bytes = readFileSync(path), head = 10 + bytes.readUInt16LE(8)
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset + head, bytes.byteOffset + bytes.length))
}

const images = floats(`${models}/digits_inputs.npy`), pixels = 64, classes = 10
run('opt', `${models}/digits.onnx`, 'digits.fb')
run('calibrate', 'digits.fb', 'c.json', '--input', `${models}/digits_inputs.npy`, '--each')
run('opt', 'digits.fb', 'quantised.fb', '--passes', 'quantize{calibration=c.json,scheme=onnx}')
const ways = [
    ['digits.fb', 'partition{target=buyi,outline=true}'],
    ['digits.fb', 'partition{target=zhuge:330},outline,outline{by=group}'],
    ['quantised.fb', 'partition{target=buyi,outline=true}'],
]
let failed = false
for (const [from, passes] of ways) {
    run('opt', from, 'calls.fb', '--passes', passes)
    run('run', 'calls.fb', '--input', `${models}/digits_inputs.npy`, '--each', '--output', 'o')
    const expected = floats('o/logits.npy')
    run('opt', 'calls.fb', 'calls.onnx', '--passes', 'layout{to=nchw},xir-to-onnx')
    for (const level of ['disabled', 'all']) {
        const session = await ort.InferenceSession.create('calls.onnx', { graphOptimizationLevel: level })
        let largest = 0
        for (let i = 0; i < images.length / pixels; i++) {
            const image = new ort.Tensor('float32', images.slice(i * pixels, (i + 1) * pixels), [1, 1, 8, 8])
            const result = (await session.run({ [session.inputNames[0]]: image }))[session.outputNames[0]]
            for (let k = 0; k < classes; k++)
                largest = Math.max(largest, Math.abs(result.data[k] - expected[i * classes + k]))
        }
        console.log(`${from} ${passes} ${level}: largest difference ${largest}`)
        failed ||= !(largest < 1e-4)
    }
    run('opt', 'calls.onnx', 'again.fb', '--passes', 'to-xir{functions=keep}')
    run('run', 'again.fb', '--input', `${models}/digits_inputs.npy`, '--each', '--output', 'p')
    const again = floats('p/logits.npy')
    const kept = again.length === expected.length && again.every((v, i) => Math.abs(v - expected[i]) < 1e-4)
    console.log(`${from} ${passes} read again: ${kept ? 'the same' : 'different'}`)
    failed ||= !kept
}
process.exit(failed ? 1 : 0)
