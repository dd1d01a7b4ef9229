/* What basic blocks call (XIR_COUNT_WORK), where nobody counts. */
void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void) {}
