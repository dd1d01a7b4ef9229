/* A shared object that is no plug-in. */
#include <xir/base.h>

XIR_API int another_entry(void);
int another_entry(void) { return 1; }
