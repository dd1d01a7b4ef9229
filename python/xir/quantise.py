# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calibration and quantisation: docs/quantize.md."""

import collections

from . import _xir
from .names import step
from .network import Pipeline
from .progress import watched
from .running import sample_of


def calibrate(net, samples, path, *, products=False, channels=False, threads=1, progress=None):
    """Runs a network on samples and writes to `path` which numbers its values take. A sample is an array, or, if the
    network has several inputs, a tuple of arrays or a dict by name. `samples` may be a generator: no sample is kept.
    With `products` only the values are counted that convolutions and matrix products read. With `channels` each element
    of the last dim has a range, too, for ratios by channel. `progress` is a function of (samples so far, their number
    or 0, "sample"), or True (xir.load). Ctrl-C ends it; then nothing is written. Returns the number of samples."""
    counts = _xir.calibration(products, channels)
    total = len(samples) if hasattr(samples, "__len__") else 0
    with watched(progress, "calibrating", "sample") as told:
        for done, sample in enumerate(samples, 1):
            _xir.calibration_add(counts, net, sample_of(net, sample), threads)
            if told:
                told(done, total)
    return _xir.calibration_save(counts, path)


class Mix(collections.namedtuple("Mix", "good cosine snr plain_cosine plain_snr raised stored ops")):
    """The ops that get more bits than the others.

    good                     the results of the network are good enough
    cosine, snr              of its results, the least ones; snr in dB
    plain_cosine, plain_snr  of its results with the fewest bits everywhere
    raised, stored           values that get more bits, of how many
    ops                      (op, bits or None for floats, its cosine by itself, whether it was chosen), the worst first
    """

    __slots__ = ()

    def __str__(self):
        chosen = sum(row[3] for row in self.ops)
        return (f"{chosen} of {len(self.ops)} ops, {self.raised} of {self.stored} values: {self.plain_snr:.1f} dB "
                f"become {self.snr:.1f}")


def mix(net, samples, path, *, below=0.97, least=0.0, budget=0.25, threads=1, **options):
    """Quantises a copy of a network by the pass `quantize`, whose options are keywords, and chooses the ops that need
    more bits: the worst ones by cosine get 16 bits, then stay in floats, until no result of the network has a cosine
    below `below` or fewer dB than `least`. At most the part `budget` of the stored values is raised. Writes the choice
    to `path`, a CSV for the option `precision`. Samples are as in `calibrate`, but all are kept; they should be others.
    Ctrl-C ends it. Returns a Mix."""
    whole = step("quantize", options)
    kept = tuple(sample_of(net, sample) for sample in samples)
    csv, good, *rest, ops = _xir.mix(net, kept, whole[len("quantize{"):-1], below, least, budget, threads)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(csv)
    return Mix(bool(good), *rest, [(op, bits, cosine, bool(chosen)) for op, bits, cosine, chosen in ops])


def quantize(net, *, verify=False, progress=None, **options):
    """Makes integers of values and constants, by the pass `quantize`, whose options are keywords: `scheme="onnx"`,
    `calibration="c.json"`, `method`, `bits`, `maps`, `per`, `ratios`, `precision="f.csv"`, `pow2`, `scope`, `keep`,
    `outputs`, `type` and others. `verify` checks the network; `progress` is as in Pipeline.run. Returns the Report."""
    return Pipeline(step("quantize", options)).run(net, verify=verify, progress=progress)
