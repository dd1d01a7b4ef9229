/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* XIR: an intermediate representation for neural networks. A complete program is examples/quickstart.c. */
#ifndef XIR_XIR_H
#define XIR_XIR_H

#include <xir/base.h>
#include <xir/diag.h>
#include <xir/context.h>
#include <xir/any.h>
#include <xir/class.h>
#include <xir/op.h>
#include <xir/functor.h>
#include <xir/place.h>
#include <xir/layout.h>
#include <xir/distr.h>
#include <xir/type.h>
#include <xir/quant.h>
#include <xir/params.h>
#include <xir/network.h>
#include <xir/symbols.h>
#include <xir/view.h>
#include <xir/mapping.h>
#include <xir/region.h>
#include <xir/provenance.h>
#include <xir/equal.h>
#include <xir/legal.h>
#include <xir/diff.h>
#include <xir/division.h>
#include <xir/infer.h>
#include <xir/work.h>
#include <xir/cost.h>
#include <xir/takes.h>
#include <xir/needed.h>
#include <xir/tiles.h>
#include <xir/walk.h>
#include <xir/each.h>
#include <xir/order.h>
#include <xir/liveness.h>
#include <xir/memory.h>
#include <xir/plugin.h>
#include <xir/ops.h>
#include <xir/sugar.h>
#include <xir/serialize.h>
#include <xir/format.h>
#include <xir/scheme.h>
#include <xir/nnb.h>
#include <xir/deepx.h>
#include <xir/onnx.h>
#include <xir/pnnx.h>
#include <xir/array.h>
#include <xir/tsm.h>
#include <xir/exec.h>
#include <xir/calibrate.h>
#include <xir/pass.h>
#include <xir/pattern.h>
#include <xir/pattern_build.h>
#include <xir/convert.h>
#include <xir/prove.h>
#include <xir/optimise.h>
#include <xir/draw.h>
#include <xir/compare.h>
#include <xir/mix.h>
#include <xir/reduce.h>
#include <xir/trial.h>

#endif
