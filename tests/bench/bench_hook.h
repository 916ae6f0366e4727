/*
 * A program that does nothing at an interface's tcx hook: what the hook takes by itself. (Apart from
 * bench_linux.c, for libpcap and the kernel give the same names to different structs.)
 */
#ifndef EASE_TESTS_BENCH_HOOK_H
#define EASE_TESTS_BENCH_HOOK_H

/* The program's descriptor; negative: it cannot be loaded. */
int bench_hook_load(void);
/* Puts it where received frames pass, until the descriptor returned is closed; negative: there is no
 * such hook (kernels before 6.6). */
int bench_hook_attach(int program, unsigned kernel_index);

#endif
