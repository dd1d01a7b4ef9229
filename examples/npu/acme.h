/* The operation of acme.def, and the description of the back end. */
#ifndef ACME_H
#define ACME_H

#include <xir/plugin.h>

#define XIR_DEFS "acme.def"
#include <xir/declare.h>

/* Returns the target, or NULL if the context does not have it. */
const xir_target *acme_npu(xir_context *ctx);

#endif
