// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// ONNX Runtime computes q.onnx on b.npy as the executor does, whose logits are in found: node trained.mjs FOLDER XIR,
// where FOLDER is that of the package onnxruntime-node. It adds up in fp32, so a number next to a tie may be stored as
// the next one, and more follow: most words have the same logits, and all have the same direction. With its
// optimisations each product is one operator on integers, whose multiplier is rounded; then directions alone are
// compared.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [folder, xir] = process.argv.slice(2)
const ort = createRequire(import.meta.url)(folder)

function floats(path) {
    const bytes = readFileSync(path), head = 10 + bytes.readUInt16LE(8)
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset + head, bytes.byteOffset + bytes.length))
}

const words = floats('b.npy'), expected = floats('found/p2o.Add.87.npy'), size = 3 * 48 * 192
let failed = false
for (const level of ['disabled', 'all']) {
    const session = await ort.InferenceSession.create('q.onnx', { graphOptimizationLevel: level, logSeverityLevel: 3,
                                                                  optimizedModelFilePath: `${level}.onnx` })
    const gaps = []
    let other = 0
    for (let i = 0; i < words.length / size; i++) {
        const word = new ort.Tensor('float32', words.slice(i * size, (i + 1) * size), [1, 3, 48, 192])
        const result = (await session.run({ [session.inputNames[0]]: word }))[session.outputNames[0]]
        other += (result.data[0] > result.data[1]) !== (expected[i * 2] > expected[i * 2 + 1])
        gaps.push(Math.max(...result.data.map((x, k) => Math.abs(x - expected[i * 2 + k]))))
    }
    gaps.sort((a, b) => a - b)
    const same = gaps.filter((g) => g < 1e-4).length
    console.log(`${level}: ${same} of ${gaps.length} words within 1e-4, largest difference ${gaps.at(-1)}, ` +
                `${other} in another direction`)
    failed ||= other > 0 || (level === 'disabled' && (same < gaps.length / 2 || !(gaps.at(-1) < 1)))
}
const ops = String(execFileSync(xir, ['info', 'all.onnx'], { stdio: ['ignore', 'pipe', 'pipe'] })).split('ops\n')[1]
const fused = /([0-9]+) +onnx::com.microsoft.QLinearConv/.exec(ops)
console.log(`${fused[1]} convolutions are QLinearConv`)
process.exit(failed || fused[1] !== '53' || /onnx::Conv\b/.test(ops) ? 1 : 0)
