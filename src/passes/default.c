/* What `xir opt` runs if nobody says what; docs/passes.md says why in this order. */
#include <xir/pass.h>

const char *xir_default_pipeline(void) {
    return "onnx-to-xir,sort,infer,fold,infer,identity,merge,layout,fix(fold,fold-batchnorm,identity,merge,fuse,cse,dce),infer";
}
