"""Modules that XIR writes for recorded networks of PNNX, computed by PyTorch: pytorch.py XIR FOLDER LIST.

Each network of FOLDER/index.tsv that XIR converts whole is written as a module, which must give what `xir run` gives,
and what was recorded: |a - b| <= 1e-5 max(1, |b|), or what rounding of float32 alone costs, the column f32_noise. LIST
has the names of networks that are not compared, with the reason; one that is listed but passes is an error, too."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch

warnings.simplefilter('ignore')


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
        return [item.numpy() for item in flat(module_of(path).Model()(*map(torch.from_numpy, values)))]


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


def check(xir, folder, fields):
    """None if the module agrees; otherwise the reason, which begins with 'stays', 'lacks', or anything else."""
    source = os.path.join(folder, fields[0] + '.pnnx.param')
    noise = float(fields[6]) if fields[6] != '-' else 0
    names = ends(source)
    for run in ('', '.2'):
        record = os.path.join(folder, fields[0] + run + '.npz')
        if not os.path.exists(record):
            continue
        values = arrays(record, 'in')
        computed = xir_run(xir, source, names, values)
        if computed is None:
            return 'stays: XIR does not compute it'
        with tempfile.TemporaryDirectory() as place:
            target = os.path.join(place, 'net.py')
            done = subprocess.run([xir, 'convert', source, target], capture_output=True, text=True)
            if done.returncode:
                return 'is not written: ' + done.stderr.strip()
            try:
                found = compute(target, values)
            except AttributeError as error:
                if re.search("module 'torch.*has no attribute", str(error)):
                    return 'lacks: ' + str(error)
                raise
            except Exception as error:
                return 'is not computed: %s: %s' % (type(error).__name__, str(error).splitlines()[0])
        reason = (compare('recorded', found, arrays(record, 'out'), noise) or
                  compare('xir run', found, computed, noise))
        if reason:
            return reason
    return None


def main(xir, folder, listed):
    with open(listed, encoding='utf-8') as lines:
        known = dict(line.split(None, 1) for line in lines if line.strip() and line[0] != '#')
    totals = {'all': 0, 'passed': 0, 'stays': 0, 'lacks': 0, 'differs': 0}
    wrong = 0
    with open(os.path.join(folder, 'index.tsv'), encoding='utf-8') as lines:
        rows = [line.rstrip('\n').split('\t') for line in lines][1:]
    for fields in rows:
        if os.environ.get('XIR_PNNX_ONLY', fields[0]) != fields[0]:
            continue
        reason = check(xir, folder, fields)
        verdict = 'passed' if reason is None else reason.split(':')[0]
        totals['all'] += 1
        totals[verdict if verdict in totals else 'differs'] += 1
        if (reason is not None) != (fields[0] in known):
            print(fields[0], reason or 'passes, but is listed')
            wrong += 1
    print('PyTorch %s: %d networks, %d stay in XIR, %d need a newer PyTorch, %d compared, %d agree' % (
        torch.__version__, totals['all'], totals['stays'], totals['lacks'], totals['passed'] + totals['differs'],
        totals['passed']))
    return 1 if wrong else 0


sys.exit(main(*sys.argv[1:]))
