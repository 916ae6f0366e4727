/*
 * A program that does nothing at an interface's hook: what the hook takes by itself. (Apart from
 * bench_linux.c, for libpcap and the kernel give the same names to different structs.)
 */
#ifndef EASE_TESTS_BENCH_HOOK_H
#define EASE_TESTS_BENCH_HOOK_H

#include <stdbool.h>

/* The program's descriptor; negative: it cannot be loaded. */
int bench_hook_load(void);
/* Puts it where received frames pass: at tcx until the descriptor returned is closed, or at clsact (classic) until
 * bench_hook_detach is called. Negative: there is no such hook (tcx in kernels before 6.6). */
int bench_hook_attach(int program, unsigned kernel_index, bool classic);
void bench_hook_detach(int attached, unsigned kernel_index, bool classic);

#endif
