// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// ONNX Runtime computes what the executor does for networks that the pass quantize has made, with and without its
// optimisations, which make one operator of each product of the scheme onnx. Of Buyi's networks a number next to a tie
// may be stored as the next one: node onnxruntime.mjs FOLDER XIR MODELS, where FOLDER is that of the package
// onnxruntime-node, XIR the program and MODELS examples/models. Works in the current folder.
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

const options = [['scheme=onnx', 1e-4], ['per=tensor', 1e-4], ['maps=sint', 1e-4], ['pow2', 1e-4],
    ['scope=products', 1e-4], ['scheme=zhuge', 1e-4], ['scheme=buyi', 0.05], ['scheme=buyi,bits=16', 1e-3],
    ['scheme=buyi,ratios=channel', 0.05]]
const images = floats(`${models}/digits_inputs.npy`), pixels = 64, classes = 10
run('opt', `${models}/digits.onnx`, 'digits.fb')
run('calibrate', 'digits.fb', 'c.json', '--input', `${models}/digits_inputs.npy`, '--each', '--channels')
let failed = false
for (const [option, most] of options) {
    run('opt', 'digits.fb', 'q.fb', '--passes', `quantize{calibration=c.json,${option}}`)
    run('opt', 'q.fb', 'q.onnx')
    run('run', 'q.fb', '--input', `${models}/digits_inputs.npy`, '--each', '--output', 'o')
    const expected = floats('o/logits.npy')
    for (const level of ['disabled', 'all']) {
        const session = await ort.InferenceSession.create('q.onnx', { graphOptimizationLevel: level })
        let largest = 0
        for (let i = 0; i < images.length / pixels; i++) {
            const image = new ort.Tensor('float32', images.slice(i * pixels, (i + 1) * pixels), [1, 1, 8, 8])
            const result = (await session.run({ [session.inputNames[0]]: image }))[session.outputNames[0]]
            if (result.type !== 'float32') throw new Error(`results are ${result.type}`)
            for (let k = 0; k < classes; k++)
                largest = Math.max(largest, Math.abs(result.data[k] - expected[i * classes + k]))
        }
        console.log(`quantize{${option}} ${level}: largest difference ${largest}`)
        failed ||= !(largest < most)
    }
    if (option !== 'scheme=onnx') continue
    await ort.InferenceSession.create('q.onnx', { graphOptimizationLevel: 'all', optimizedModelFilePath: 'o.onnx',
                                                  logSeverityLevel: 3 })
    const ops = String(run('info', 'o.onnx')).split('ops\n')[1]
    console.log(`${option}: ${/[0-9]+ +onnx::com.microsoft.QLinearConv/.exec(ops)}`)
    failed ||= /onnx::(Conv|Gemm|MatMul)\b/.test(ops) || !/QGemm/.test(ops)
}
process.exit(failed ? 1 : 0)
