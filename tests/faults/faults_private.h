/*
 * What faults.c, which has the plan, tells those that have the calls: faults_wrap.c, faults_ebpf.c, and
 * a test that plays the other side.
 */
#ifndef EASE_TESTS_FAULTS_PRIVATE_H
#define EASE_TESTS_FAULTS_PRIVATE_H

#include "tests/faults/faults.h"

/* Is this call, of that name, to fail? It counts. */
bool faults_hit(enum fault_class class, const char *name);
/* Which of n ways to fail: drawn, or by the call's own number. */
unsigned faults_way(unsigned n);
/* Does this fault come again at each call? */
bool faults_go_on(void);
/* Is there a plan? */
bool faults_planned(void);

#endif
