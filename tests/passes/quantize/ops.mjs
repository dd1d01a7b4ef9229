// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// A small network for each op that a scheme computes on stored numbers, quantised, computed by the executor and,
// written as ONNX, by ONNX Runtime without and with its optimisations: node ops.mjs FOLDER XIR, where FOLDER is that of
// the package onnxruntime-node. Works in the current folder. Numbers are from a seed; inputs have both signs or one, so
// zero points are also at both ends of their type.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const [folder, xir] = process.argv.slice(2)
const ort = createRequire(import.meta.url)(folder)
const run = (...words) => execFileSync(xir, words, { stdio: ['ignore', 'pipe', 'pipe'] })
const SAMPLES = 4

let state = 1
const random = () => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) / 2 ** 23 - 1 }
const size = (dims) => dims.reduce((a, b) => a * b, 1)

// A constant of a network in text.
function params(name, layout, dims) {
    const numbers = Array.from({ length: size(dims) }, () => random().toFixed(4))
    return `@${name} : fp32 ${layout} [${dims}] = [${numbers}]`
}

function writeNpy(path, dims, numbers) {
    const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${dims.join(', ')}), }`
    const padded = head + ' '.repeat(63 - (10 + head.length) % 64) + '\n'
    const length = Buffer.alloc(2)
    length.writeUInt16LE(padded.length)
    writeFileSync(path, Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length, Buffer.from(padded),
                                       Buffer.from(new Float32Array(numbers).buffer)]))
}

function floats(path) {
    const bytes = readFileSync(path), head = 10 + bytes.readUInt16LE(8)
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset + head, bytes.byteOffset + bytes.length))
}

// By name: layout and dims of the input, ops from %x to %y, the sign of the input. Types follow by inference.
const maps = { 1: ['NLC', [1, 7, 4]], 2: ['NHWC', [1, 6, 5, 4]], 3: ['NDHWC', [1, 3, 4, 5, 4]] }
const conv = (rank, kernel, attrs, out = 6, groups = 1, sign = 0) => [...maps[rank],
    `%y = Conv${rank}d(%x, ${params('w', ['LIO', 'HWIO', 'DHWIO'][rank - 1], [...kernel, 4 / groups, out])}, ` +
    `${params('b', '*', [out])}) {${[attrs, groups > 1 ? `groups=${groups}` : ''].filter(Boolean)}}`, sign]
const transposed = (rank, kernel, attrs, groups = 1) => [...maps[rank],
    `%y = ConvTranspose${rank}d(%x, ${params('w', ['LOI', 'HWOI', 'DHWOI'][rank - 1], [...kernel, 6 / groups, 4])}, ` +
    `${params('b', '*', [6])}) {${[attrs, groups > 1 ? `groups=${groups}` : ''].filter(Boolean)}}`]
const move = (rank, text) => [...maps[rank], `%t = ${text}\n%y = Tanh(%t)`]
const cases = {
    Conv1d: conv(1, [3], 'pad_left=2'), Conv2d: conv(2, [3, 3], 'pad_top=1, pad_left=2, pad_right=1, stride_width=2'),
    Conv3d: conv(3, [2, 3, 3], 'pad_front=1, pad_top=1, pad_right=2'), groups: conv(2, [2, 2], 'pad_bottom=1', 6, 2),
    depthwise: conv(2, [3, 3], 'pad_top=1, pad_bottom=1', 4, 4), dilated: conv(2, [2, 2], 'dilation_width=2'),
    positive: conv(2, [3, 3], 'pad_top=1, pad_left=2', 6, 1, 1),
    negative: conv(2, [3, 3], 'pad_top=1, pad_left=2', 6, 1, -1),
    ConvTranspose1d: transposed(1, [3], 'stride_width=2'),
    ConvTranspose2d: transposed(2, [3, 2], 'stride_height=2, pad_top=1, output_pad_height=1'),
    ConvTranspose3d: transposed(3, [2, 2, 2], 'stride_depth=2'), transposed_groups: transposed(2, [2, 2], '', 2),
    Matmul: ['**', [1, 9], `%y = Matmul(%x, ${params('w', '**', [9, 5])}, ${params('b', '*', [5])})`],
    maps: ['**', [1, 9], '%t = Tanh(%x)\n%u = Reshape(%t) {shape=[9,1], layout=**}\n%y = Matmul(%x, %u)'],
    clip: ['**', [1, 9], `%t = Matmul(%x, ${params('w', '**', [9, 5])})\n%r = ReLU(%t)\n` +
           `%y = Matmul(%r, ${params('v', '**', [5, 3])})`],
    Copy: move(2, 'Copy(%x)'), Reshape: move(2, 'Reshape(%x) {shape=[1,30,4], layout=***}'),
    Squeeze: move(2, 'Squeeze(%x) {axis=[0]}'),
    Expand: ['***', [1, 1, 4], '%t = Expand(%x) {sizes=[1,3,4]}\n%y = Tanh(%t)'],
    Tile: move(2, 'Tile(%x) {dims=[1,2,1,1]}'), Transpose: move(2, 'Transpose(%x) {dims=[0,2,1,3], layout=****}'),
    ChannelShuffle: move(2, 'ChannelShuffle(%x) {groups=2}'),
    PixelShuffle: move(2, 'PixelShuffle(%x) {upscale_factor=2}'),
    Slice: move(2, 'Slice(%x) {begin=[0,1,0,1], end=[1,6,5,4], stride=[1,2,1,1]}'),
    Roll: move(2, 'Roll(%x) {shifts=[2], dims=[1]}'), SwapOrder: move(2, 'SwapOrder(%x) {order=[2,0,3,1]}'),
    MaxPool1d: move(1, 'MaxPool1d(%x) {pool_width=3, pad_left=1}'),
    MaxPool2d: move(2, 'MaxPool2d(%x) {pool_width=2, pool_height=3, pad_top=1, stride_height=2}'),
    MaxPool3d: move(3, 'MaxPool3d(%x) {pool_depth=2, pool_width=2, pool_height=2}'),
    Split: [...maps[2], '%a, %t = Split(%x) {sections=[1,3], axis=3}\n%y = Tanh(%t)\n%z = Tanh(%a)'],
    Unstack: ['***', [1, 2, 4], '%a, %t = Unstack(%x) {dim=1}\n%y = Tanh(%t)\n%z = Tanh(%a)'],
}
const schemes = [['scheme=onnx', 1e-4], ['scheme=onnx,maps=sint', 1e-4], ['scheme=onnx,per=tensor', 1e-4],
                 ['scheme=zhuge', 1e-4], ['scheme=buyi', 0.03]]

// What quantising costs, as the executor computes it.
function decibels(real, found) {
    const power = (numbers) => numbers.reduce((sum, x) => sum + x * x, 0)
    return 10 * Math.log10(power(real) / power(real.map((x, i) => x - found[i])))
}

// The largest difference between the logits of ONNX Runtime and of the executor, as a part of the largest one.
async function compare(level, dims, inputs, expected) {
    const session = await ort.InferenceSession.create('q.onnx', { graphOptimizationLevel: level, logSeverityLevel: 3 })
    const each = expected.length / SAMPLES
    let largest = 0
    for (let i = 0; i < SAMPLES; i++) {
        const x = new ort.Tensor('float32', Float32Array.from(inputs.slice(i * size(dims), (i + 1) * size(dims))), dims)
        const result = (await session.run({ [session.inputNames[0]]: x })).y
        for (let k = 0; k < each; k++) largest = Math.max(largest, Math.abs(result.data[k] - expected[i * each + k]))
    }
    return largest / Math.max(1e-9, ...expected.map(Math.abs))
}

let failed = 0, compared = 0
for (const [name, [layout, dims, ops, sign = 0]] of Object.entries(cases)) {
    const outputs = ops.includes('%z =') ? '%y, %z' : '%y'
    const any = 'fp32 * [1]'
    const typed = ops.replace(/^(%[a-z], )?(%.*)$/gm, (line, more) => `${line} : ${more ? `${any}, ` : ''}${any}`)
    writeFileSync('net.xir', `xir 1\n%x = Input() : fp32 ${layout} [${dims}]\n${typed}\nOutput(${outputs})\n`)
    const inputs = Array.from({ length: SAMPLES * size(dims) }, () => sign ? sign * Math.abs(random()) : random())
    writeNpy('x.npy', [SAMPLES, ...dims.slice(1)], inputs)
    try {
        run('opt', 'net.xir', 'net.fb', '--passes', 'infer')
        run('calibrate', 'net.fb', 'c.json', '--input', 'x.npy', '--each')
        run('run', 'net.fb', '--input', 'x.npy', '--each', '--output', 'real')
    } catch (e) { console.log(`${name}: ${e.stderr}`); failed++; continue }
    for (const [scheme, most] of schemes) {
        try {
            run('opt', 'net.fb', 'q.fb', '--passes', `quantize{calibration=c.json,${scheme}}`, '--verify')
            run('opt', 'q.fb', 'q.onnx')
            run('run', 'q.fb', '--input', 'x.npy', '--each', '--output', 'o')
            const lost = decibels(floats('real/y.npy'), floats('o/y.npy'))
            if (lost < 25) { console.log(`${name} ${scheme}: ${lost} dB`); failed++ }
            for (const level of ['disabled', 'all']) {
                const part = await compare(level, dims, inputs, floats('o/y.npy'))
                compared++
                if (part < most) continue
                console.log(`${name} ${scheme} ${level}: ${part}`)
                failed++
            }
        } catch (e) { console.log(`${name} ${scheme}: ${e.stderr ?? e}`); failed++ }
    }
}
console.log(`${Object.keys(cases).length} networks, ${compared} comparisons, ${failed} failed`)
process.exit(failed ? 1 : 0)
