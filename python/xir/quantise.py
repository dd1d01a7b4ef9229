# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Calibration and quantisation: docs/quantisation.md."""

from . import _xir
from .names import step
from .network import Pipeline, _array
from .progress import watched


def calibrate(net, samples, path, *, products=False, channels=False, threads=1, progress=None):
    """Runs a network on samples and writes to `path` which numbers its values take. A sample is an array, or a tuple of
    arrays if the network has several inputs. `samples` may be a generator: no sample is kept. With `products` only the
    values are counted that convolutions and matrix products read. With `channels` each element of the last dim has a
    range, too, for ratios by channel. `progress` is a function of (samples so far, their number or 0, "sample"), or
    True (xir.load). Ctrl-C ends it; then nothing is written. Returns the number of samples."""
    counts = _xir.calibration(products, channels)
    total = len(samples) if hasattr(samples, "__len__") else 0
    with watched(progress, "calibrating", "sample") as told:
        for done, sample in enumerate(samples, 1):
            arrays = sample if isinstance(sample, tuple) else (sample,)
            _xir.calibration_add(counts, net, tuple(_array(a) for a in arrays), threads)
            if told:
                told(done, total)
    return _xir.calibration_save(counts, path)


def quantize(net, *, verify=False, progress=None, **options):
    """Makes integers of values and constants, by the pass `quantize`, whose options are keywords: `scheme="onnx"`,
    `calibration="c.json"`, `method`, `bits`, `maps`, `per`, `ratios`, `precision="f.csv"`, `pow2`, `scope`, `keep`,
    `outputs`, `type` and others. `verify` checks the network; `progress` is as in Pipeline.run. Returns the Report."""
    return Pipeline(step("quantize", options)).run(net, verify=verify, progress=progress)
