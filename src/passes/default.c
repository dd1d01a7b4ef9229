/* What `xir opt` runs if nobody says what; docs/passes.md says why in this order. Fusing comes before what folds
 * constants into weights: a GELU whose last factor has gone into the next product is none any more. */
#include <xir/pass.h>

const char *xir_default_pipeline(void) {
    return "to-xir,sort,infer,fold,infer,identity,layout,fix(fold,identity,merge,fuse,fold-batchnorm,cse,dce),infer";
}
