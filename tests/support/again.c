/* Tests that run again on a path of the executor, if the processor has it. */
#include <stdlib.h>
#include <string.h>
#include "gemm_paths.h"
#include "support/again.h"

const char *missing_path(void) {
    const char *word = getenv("XIR_TEST_AGAIN") ? getenv("XIR_EXEC_PATH") : NULL;
    const gemm_path *path;
    for (size_t i = 0; word && (path = gemm_path_at(i)); i++)
        if (strcmp(path->name, word) == 0) return NULL;
    return word;
}
