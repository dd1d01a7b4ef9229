# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: XIR contributors

import numpy as np, xir
from xir import F                                       # ops as functions

net = xir.load("model.onnx", lazy=True)
print(net.summary())                                    # the table of `xir info`; a notebook shows HTML
for op in net.ops("onnx::Conv"):                        # edits while iterating are fine
    op["strides"], op.inputs[1].numpy().std()           # a view of the mapped file, read-only
xir.optimize(net, bind={"batch": 1}, prove=True)        # the default pipeline
conv = net["/layer1/0/conv1/Conv"]                      # by name; net.op(17) by id
conv.stride_height = 2                                  # checked: xir.BoundsError says what it may be
with conv.weights.edit() as w: w *= 0.5                 # a port by name; bytes of its own, written in place
with net.at(after=conv): conv.output.insert(lambda x: F.ReLU(x, name="extra"))   # all users but the new op
net.cleanup(); net.infer(); net.check()                 # a list of findings
out = net.run(image=np.zeros((1, 3, 8, 8), "f4"))["logits"]
net.save("model.fb")
for c in xir.diff("a.json", "b.json", params=True): print(c)
net = xir.Network("tiny"); x = net.input("image", "fp32 NHWC [1,416,416,3]")
with net.scope("stem"): x = F.MaxPool2d(F.ReLU(F.Conv2d(x, np.zeros((3, 3, 3, 16), "f4"))), k=3, stride=2)
net.output(x)

@xir.pass_("drop-copies", level="exact", options={"limit": 0})
def drop_copies(net, o):                                # returns the number of changes
    return net.rewrite(xir.P.op("Copy", xir.P.any("x")), lambda m: m["x"])
xir.Pipeline("infer,fix(drop-copies,dce)").run(net, verify=True, prove=True).table()
