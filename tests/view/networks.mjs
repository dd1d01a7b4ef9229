// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: XIR contributors

// The networks whose pages run.mjs opens, as files that xir reads.
import fs from 'node:fs';

// Blocks in layers, each with a connection that skips it, as PNNX.
export const blocks = (layers, count, types = true) => {
    const type = (value) => (types ? ` #${value}=(1,64,56,56)f32` : ''), rows = ['pnnx.Input pnnx_input_0 0 1 0' + type(0)];
    let last = 0, next = 1;
    const row = (words, ins) => {
        rows.push(`${words} ${ins.length} 1 ${ins.join(' ')} ${next}${type(next)}`);
        return next++;
    };
    for (let l = 0; l < layers; l++) {
        for (let b = 0; b < count; b++) {
            const name = `layer${l}.block${b}`;
            let x = row(`nn.ReLU ${name}.relu1`, [row(`nn.Conv2d ${name}.conv1`, [last])]);
            x = row(`nn.Conv2d ${name}.conv2`, [x]);
            last = row(`nn.ReLU ${name}.relu2`, [row(`torch.add ${name}.add`, [x, last])]);
        }
    }
    rows.push(`pnnx.Output pnnx_output_0 1 0 ${last}`);
    return `7767517\n${rows.length} ${next}\n${rows.join('\n')}\n`;
};

export const HOSTILE = ['</script><script>hurt()</script>', '<img src="http://127.0.0.1:9/x" onerror="hurt()">', '\u202egnp.exe',
    'a\u0000\u0001\u001b[31m', '', '" onmouseover="hurt()', '<!--<script>', ']]>', '\u2028\u2029', 'javascript:hurt()',
    '__proto__', 'x'.repeat(1 << 20)];

// A network of the tree whose names, of ops, values and itself, are hostile.
export const hostile = (file) => {
    const network = JSON.parse(fs.readFileSync(file, 'utf8'));
    let n = 0;
    const rename = (item) => {       // copies of a value have one name
        if (Array.isArray(item)) item.forEach(rename);
        else if (item && typeof item === 'object') {
            if ('name' in item) item.name = HOSTILE[('v_id' in item ? item.v_id : n++) % HOSTILE.length];
            for (const key in item) rename(item[key]);
        }
    };
    rename(network);
    return JSON.stringify(network);
};

// The same network, broken in every way in which it can be read: see run.mjs.
export const broken = (file) => {
    const network = JSON.parse(fs.readFileSync(file, 'utf8')), { ops } = network;
    for (const op of ops) op.name = 's/'.repeat(1000) + 'same';
    ops[2].inputs[0].v_id = 99;                          // without a maker
    ops[3]._type_key = 'my::Unknown';
    ops[3].inputs.unshift(null);                        // absent
    ops[3].outputs[0].dtype.shape[1] = -1;               // open
    ops[4].inputs[0].dtype.shape[1] = -1;
    ops[1].outputs[0].dtype = null;                      // without a type
    ops.reverse();
    return JSON.stringify(network);
};

// As PNNX: a value that n ops use, an op with n outputs, and one that has all of them as inputs.
export const fans = (n) => {
    const all = (from) => Array.from({ length: n }, (_, i) => from + i).join(' ');
    const rows = ['pnnx.Input in 0 1 0', `my.Split split 1 ${n} 0 ${all(1)}`];
    for (let i = 0; i < n; i++) rows.push(`nn.ReLU r${i} 1 1 0 ${n + 1 + i}`);
    rows.push(`my.Join join ${2 * n} 1 ${all(1)} ${all(n + 1)} ${2 * n + 1}`, `pnnx.Output out 1 0 ${2 * n + 1}`);
    return `7767517\n${rows.length} ${2 * n + 2}\n${rows.join('\n')}\n`;
};
