#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Writes what PyTorch and torchvision compute into pnnx_pytorch.txt, next to this file. On Debian 12 they are
python3-torch and python3-torchvision."""
import pathlib

import torch
import torch.nn.functional as F
from torchvision import ops

ELEMENTS = {'f32': torch.float32, 'i64': torch.int64}
WORDS = {torch.float32: 'f32', torch.float64: 'f64', torch.int64: 'i64'}


def number(name, i):
    """number_of of onnx_text.h."""
    mask = (1 << 64) - 1
    bits = (1469598103934665603 + i * 0x9E3779B97F4A7C15) & mask
    for c in name.encode():
        bits = ((bits ^ c) * 1099511628211) & mask
    bits ^= bits >> 29
    bits = bits * 0xBF58476D1CE4E5B9 & mask
    bits ^= bits >> 32
    return bits % 2001 / 1000 - 1


def weight(name, *dims):
    count = torch.Size(dims).numel()
    return torch.tensor([number(name, i) for i in range(count)]).reshape(dims)


def inputs(text):
    """Reals are twice the number, integers 0, 1 or 2, as pnnx_text.h has them."""
    arrays = {}
    for word in text.split():
        name, rest = word.split('=')
        dims, element = rest[1:].split(')')
        dims = tuple(map(int, dims.split(',')))
        numbers = [number(name, i) for i in range(torch.Size(dims).numel())]
        numbers = [2 * x for x in numbers] if element == 'f32' else [int(1.5 + x) for x in numbers]
        arrays[name] = torch.tensor(numbers, dtype=ELEMENTS[element]).reshape(dims)
    return arrays


def record(tensor):
    form = '{:d}' if tensor.dtype == torch.int64 else '{:.12g}' if tensor.dtype == torch.float64 else '{:.8g}'
    dims = 'x'.join(map(str, tensor.shape))
    return ' '.join([WORDS[tensor.dtype], dims + ':'] + [form.format(x) for x in tensor.flatten().tolist()])


path = pathlib.Path(__file__).with_suffix('.txt')
lines, results = [], []
for line in path.read_text().splitlines():
    kind, _, rest = line.partition(' ')
    if kind == 'in':
        arrays = inputs(rest)
    elif kind == 'torch':
        result = eval(rest, {'torch': torch, 'F': F, 'ops': ops, 'w': weight, **arrays})
        results = list(result) if isinstance(result, tuple) else [result]
    elif kind == 'out':
        line = f'out {rest.split()[0]} {record(results.pop(0))}'
    lines.append(line)
path.write_text('\n'.join(lines) + '\n')
