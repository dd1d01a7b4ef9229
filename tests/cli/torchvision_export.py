# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

"""Networks of torchvision as ONNX files, with what PyTorch computes: torchvision_export.py NAME…

NAME.onnx has one image as its input x and one output y; its weights are random, the same ones at each run. NAME/y.npy
is the output for the image x.npy. Statistics of batches are random too, so that no normalisation is without effect."""
import os
import sys
import warnings

import numpy
import torch
import torchvision

warnings.simplefilter('ignore')
SIZE = {'inception_v3': 299}
WITHOUT = {name: {'aux_logits': False, 'init_weights': False} for name in ('googlenet', 'inception_v3')}

for name in sys.argv[1:]:
    torch.manual_seed(0)
    model = getattr(torchvision.models, name)(weights=None, **WITHOUT.get(name, {})).eval()
    for part in model.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            part.running_mean.uniform_(-0.1, 0.1)
            part.running_var.uniform_(0.5, 1.5)
    size = SIZE.get(name, 224)
    x = torch.randn(1, 3, size, size)
    with torch.no_grad():
        y = model(x)
    torch.onnx.export(model, x, name + '.onnx', opset_version=13, input_names=['x'], output_names=['y'])
    os.makedirs(name)
    numpy.save(name + '/x.npy', x.numpy())
    numpy.save(name + '/y.npy', y.numpy())
