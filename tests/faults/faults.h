/*
 * Faults on purpose, in what our rooms ask of the system: memory, descriptors, disk, sockets,
 * netlink, eBPF and threads. A test that is linked with $(WRAP_CALLS) has these calls of its rooms go
 * through here (the linker's --wrap), and SQLite's and Jansson's memory too; what libraries ask for
 * themselves is not touched. Without a plan every call is the system's.
 *
 * Two plans. The n-th call of the classes fails, so that a test that repeats what it does for every
 * n has seen each single call fail (faults_exhaust). Or one call in so many fails, drawn from a
 * seed: each thread has its own stream of draws, so that a run repeats exactly if its threads take
 * turns.
 */
#ifndef EASE_TESTS_FAULTS_H
#define EASE_TESTS_FAULTS_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_class {
	FAULT_MEMORY,  /* malloc, calloc, strdup, mmap, …, SQLite's and Jansson's: ENOMEM */
	FAULT_OPENING, /* open, fopen, socket, eventfd, timerfd, pipe, …: EMFILE, ENFILE */
	FAULT_DISK,    /* write, fsync, rename, fclose, …: ENOSPC, EIO; short writes */
	FAULT_READING, /* read, pread, fread, fgets: EIO, EINTR; short reads */
	FAULT_SOCKET,  /* send, recv, recvmmsg, setsockopt, …: ENOBUFS, EAGAIN, EINTR; cut off */
	FAULT_NETLINK, /* libmnl's: overflow (ENOBUFS), EINTR; cut off */
	FAULT_THREAD,  /* pthread_create: EAGAIN */
	FAULT_EBPF,    /* libbpf's that taps call, and bpf(2): ENOMEM, EPERM, EMFILE, … */
	FAULT_N_CLASSES,
};
#define FAULT_BIT(class) (1u << (class))
#define FAULT_ALL	 (FAULT_BIT(FAULT_N_CLASSES) - 1)

/* SQLite and Jansson get their memory here. Before either is used. */
void faults_install(void);

/* From now on the n-th call of the classes fails (1: the first), or with `from` every one from the
 * n-th on; 0: none, they are counted only. */
void faults_fail(unsigned classes, uint64_t n, bool from);

/* From now on one call of this thread in one_in[class] fails, 0: none, and of other threads one in
 * others[class]. This thread's rates may change in between, and its draws begin anew from a seed:
 * what calls how often is not always the same (SQLite's pages), and must not move all that
 * follows. */
void faults_draw(uint64_t seed, const unsigned one_in[FAULT_N_CLASSES],
    const unsigned others[FAULT_N_CLASSES]);
void faults_rate(const unsigned one_in[FAULT_N_CLASSES]);
void faults_reseed(uint64_t seed);

/* Every call is the system's again. */
void faults_stop(void);

/* This thread's calls are the system's, or as planned again: for what the test itself does. */
void faults_spare(bool spare);

/* Since the plan was made: calls of its classes, how many failed, and the name of the last one. */
uint64_t faults_calls(void);
uint64_t faults_failed(void);
const char *faults_last(void);

/* What this process holds: descriptors, octets of memory (with a sanitizer exact; else what malloc
 * has given out and keeps for the next call). */
size_t faults_descriptors(void);
size_t faults_octets(void);

/* What is done under every single fault: 0, or -errno where it could not be done. It leaves nothing
 * behind in either case. */
typedef int faults_scenario(void *arg);

enum { FAULTS_EVERY = 0 };
#define FAULTS_ONCE (1u << 31) /* among the classes: what fails for ever would rightly not end */
/* Runs it under each single fault of the classes (FAULTS_EVERY: all; else at most half of `most`,
 * with EASE_LONG four times `most`, drawn from a seed that is printed, or EASE_SEED's), and with
 * all calls failing from some on. Every time it must come back, leave no descriptor and, as far as
 * a sanitizer sees, no memory, and work at once when the fault is over. Fails the test
 * otherwise. */
void faults_exhaust(const char *name, unsigned classes, unsigned most, faults_scenario *run,
    void *arg);

/* As ck_assert_msg, for use while faults are planned: check's own memory is not to fail. */
#define faults_assert(good, ...)                                                                \
	do {                                                                                    \
		if (!(good)) {                                                                  \
			faults_stop();                                                          \
			ck_abort_msg(__VA_ARGS__);                                              \
		}                                                                               \
	} while (0)

/* Fails the test at the first difference of an answer, and says where it is. When the faults are over. */
void faults_expect_same(const char *text, const char *right);

/* The seed of this run: EASE_SEED, or the time; printed. */
uint64_t faults_seed(const char *name);

#endif
