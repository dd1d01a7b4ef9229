/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Declares the functions that CHECK, INFER, WORK, TAKES and NEEDS rows name, generated from the lists. A new op needs a
 * row and a function, no prototype. */
#ifndef OPS_RULES_H
#define OPS_RULES_H

#include <xir/infer.h>
#include <xir/ops.h>

#include <xir/decl_blank.h>
#undef CHECK
#undef INFER
#undef INFER_ON
#undef INFER_ALONE
#undef INFER_ALONE_ON
#undef INFER_FOR
#undef INFER_TILED
#undef INFER_ALONE_TILED
#undef WORK
#undef TAKES
#undef NEEDS
#undef NEEDS_WITHIN
#define CHECK(fn)            xir_status fn(xir_infer *at);
#define INFER(fn)            xir_status fn(xir_infer *at);
#define INFER_ON(target, fn) xir_status fn(xir_infer *at);
#define INFER_ALONE(fn)            xir_status fn(xir_infer *at);
#define INFER_ALONE_ON(target, fn) xir_status fn(xir_infer *at);
#define INFER_FOR(key, fn)         xir_status fn(xir_infer *at);
#define INFER_TILED(fn)            xir_status fn(xir_infer *at);
#define INFER_ALONE_TILED(fn)      xir_status fn(xir_infer *at);
#define WORK(fn)                   xir_status fn(xir_infer *at);
#define TAKES(fn)                  xir_status fn(xir_infer *at);
#define NEEDS(fn)                  xir_status fn(xir_infer *at);
#define NEEDS_WITHIN(fn)           xir_status fn(xir_infer *at);
#include <xir/ops/all.def>
#include <xir/decl_off.h>

/* The WORK function of the library's ops without a row. (work.c) */
xir_status outputs_work(xir_infer *at);

#endif
