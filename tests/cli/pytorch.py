# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Modules that XIR writes for recorded networks of PNNX, computed by PyTorch: pytorch.py XIR FOLDER LIST.

Each network of FOLDER/index.tsv is written as a module, as it is and after the default pipeline. The module must give
what `xir run` gives, and what was recorded: |a - b| <= 1e-5 max(1, |b|), or what rounding of float32 alone costs, the
column f32_noise. LIST has the names of networks that XIR does not compute; one that is listed but agrees is an error.
Modules of these must give what was recorded, if they can be written."""
import fnmatch
import importlib.util
import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

warnings.simplefilter('ignore')

COMMANDS = 'convert', 'opt'
STAYS, LACKS, FOREIGN = 'stays', 'lacks', 'needs torchvision'
NEWER = 'scaled_dot_product_attention', 'RMSNorm', 'rms_norm'    # of PyTorch 2.0 and 2.4


def ends(path):
    """The names of inputs and outputs, in the order of the file."""
    names = {'pnnx.Input': [], 'pnnx.Output': []}
    tuples = {}
    with open(path, encoding='utf-8') as lines:
        for words in map(str.split, lines):
            if words[0] in names:
                names[words[0]].append(words[4])
            elif words[0] == 'prim::TupleConstruct':
                tuples[words[4 + int(words[2])]] = words[4:4 + int(words[2])]
    def flat(name):
        return [leaf for item in tuples[name] for leaf in flat(item)] if name in tuples else [name]
    return names['pnnx.Input'], [leaf for name in names['pnnx.Output'] for leaf in flat(name)]


def arrays(path, kind):
    with numpy.load(path) as members:
        return [members[kind + str(i)] for i in range(len(members.files)) if kind + str(i) in members.files]


def flat(result):
    return [leaf for item in result for leaf in flat(item)] if isinstance(result, (tuple, list)) else [result]


def compare(what, found, expected, noise):
    """The reason why two lists of arrays differ, or None."""
    if len(found) != len(expected):
        return '%s: %d outputs, expected %d' % (what, len(found), len(expected))
    for i, (a, b) in enumerate(zip(found, expected)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return '%s: output %d is %s of %s, expected %s of %s' % (what, i, a.dtype, a.shape, b.dtype, b.shape)
        kind = complex if numpy.iscomplexobj(b) else float
        a, b = a.astype(kind), b.astype(kind)
        same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
        apart = numpy.where(same, 0, numpy.abs(a - b))
        worst = (apart / numpy.maximum(1, numpy.abs(b))).max(initial=0)
        rounded = apart.max(initial=0) / max(1, numpy.abs(b).max(initial=0))
        if not (worst <= 1e-5 or rounded <= noise):
            return '%s: output %d differs by %g' % (what, i, worst)
    return None


def module_of(path):
    spec = importlib.util.spec_from_file_location('net', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compute(path, values):
    torch.manual_seed(0)
    with torch.no_grad():
        return [item.resolve_conj().numpy() for item in flat(module_of(path).Model()(*map(torch.from_numpy, values)))]


def xir_run(xir, path, names, values):
    with tempfile.TemporaryDirectory() as folder:
        words = [xir, 'run', path, '--output', folder]
        for i, (name, value) in enumerate(zip(names[0], values)):
            numpy.save(os.path.join(folder, 'in%d.npy' % i), value)
            words += ['--input', name + '=' + os.path.join(folder, 'in%d.npy' % i)]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            return None
        return [numpy.load(os.path.join(folder, name.replace('/', '_') + '.npy')) for name in names[1]]


def try_module(xir, command, source, values, recorded, computed, noise):
    with tempfile.TemporaryDirectory() as place:
        target = os.path.join(place, 'net.py')
        done = subprocess.run([xir, command, source, target], capture_output=True, text=True)
        if done.returncode:     # functions of torchvision are not PyTorch's
            return FOREIGN if 'torchvision.' in done.stderr else 'it is not written: ' + done.stderr.strip()
        try:
            found = compute(target, values)
        except AttributeError as error:
            return LACKS if any(name in str(error) for name in NEWER) else 'it is not computed: ' + str(error)
        except Exception as error:
            return 'it is not computed: %s: %s' % (type(error).__name__, str(error).splitlines()[0])
    return (compare('recorded', found, recorded, noise) or
            (compare('xir run', found, computed, noise) if computed else None))


def check(xir, folder, fields):
    """The verdict of each command: None if its module agrees, or the reason."""
    source = os.path.join(folder, fields[0] + '.pnnx.param')
    noise = float(fields[6]) if fields[6] != '-' else 0
    names = ends(source)
    verdicts = dict.fromkeys(COMMANDS)
    for run in ('', '.2'):
        record = os.path.join(folder, fields[0] + run + '.npz')
        if not os.path.exists(record):
            continue
        values = arrays(record, 'in')
        computed = xir_run(xir, source, names, values)
        if computed is None:
            found = try_module(xir, 'convert', source, values, arrays(record, 'out'), None, noise)
            wrong = found and not found.startswith('it is not written')
            return dict.fromkeys(COMMANDS, found if wrong else STAYS)
        for command in COMMANDS:
            verdicts[command] = verdicts[command] or try_module(xir, command, source, values, arrays(record, 'out'),
                                                                computed, noise)
    return verdicts


def main(xir, folder, listed):
    with open(listed, encoding='utf-8') as lines:
        known = [line.split()[1].rstrip(':') for line in lines if line.startswith('test ')]
    with open(os.path.join(folder, 'index.tsv'), encoding='utf-8') as lines:
        rows = [line.rstrip('\n').split('\t') for line in lines][1:]
    totals = {command: dict.fromkeys((None, STAYS, LACKS, FOREIGN, 'differs'), 0) for command in COMMANDS}
    wrong = 0
    for fields in rows:
        if os.environ.get('XIR_PNNX_ONLY', fields[0]) != fields[0]:
            continue
        for command, reason in check(xir, folder, fields).items():
            totals[command][reason if reason in totals[command] else 'differs'] += 1
            expected = STAYS if any(fnmatch.fnmatch(fields[0], name) for name in known) else None
            if reason not in (expected, LACKS, FOREIGN):
                print('xir %s, %s: %s' % (command, fields[0], reason or 'it agrees, but is listed'))
                wrong += 1
    for command, of in totals.items():
        print('xir %s, PyTorch %s: %d networks, %d stay in XIR, %d need a newer PyTorch, %d need torchvision, '
              '%d compared, %d agree' % (command, torch.__version__, sum(of.values()), of[STAYS], of[LACKS],
                                         of[FOREIGN], of[None] + of['differs'], of[None]))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
