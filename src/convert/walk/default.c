/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* The pipeline of `xir opt` without -p; docs/passes.md gives the reasons for the order. Fusing comes before the passes
 * that fold constants into weights: a GELU whose last factor has been folded into the next product is not
 * recognisable any more. */
#include <xir/pass.h>

const char *xir_default_pipeline(void) {
    return "bind,to-xir,sort,infer,fold,infer,identity,fuse,canon,layout,"
           "fix(fold,identity,moves,fuse,canon,fold-batchnorm,fold-products,cse,dce,layout),infer";
}
